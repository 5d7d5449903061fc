"""vacuum and compact, end to end: each load type loaded, compacted, vacuumed, verified."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest

from project import Project
from spark_cdc import cli, dbt_runner
from spark_cdc.errors import SparkCdcError
from spark_cdc.jinja_bridge import load_macros

pytestmark = pytest.mark.proves("maintenance")

ENTITIES = ("full", "delta", "moves")
COLUMNS: dict[str, Any] = {
    "id": {"data_type": "int", "role": "key"},
    "name": "string",
    "seen": {"data_type": "string", "role": "untracked"},
}
EVENTS = {"format": "flagged_rows", "operation": "op", "order": ["seq"], "archive": True}
SETTINGS: dict[str, dict[str, Any]] = {
    "full": {"load_type": "full"},
    "delta": {"load_type": "delta", "deleted_when": "op = 'D'"},
    "moves": {"load_type": "events", "events": EVENTS},
}
VIEWS = ("current", "history", "versions", "event_versions", "bitemporal")
DAYS = tuple(f"2024-03-0{day}" for day in range(1, 6))
# Key 1 stays, 2 changes each day, 3 comes and goes, 4 comes later, 5 changes in an ignored column.
STORY: list[dict[int, tuple[str, str]]] = [
    {1: ("a", "x"), 2: ("b", "x"), 3: ("c", "x"), 5: ("e", "x")},
    {1: ("a", "x"), 2: ("b2", "x"), 5: ("e", "x2")},
    {1: ("a", "x"), 2: ("b3", "x"), 3: ("c3", "x"), 4: ("d", "x"), 5: ("e", "x2")},
    {1: ("a", "x"), 2: ("b4", "x"), 4: ("d", "x"), 5: ("e", "x2")},
    {1: ("a", "x"), 2: ("b5", "x"), 3: ("c5", "x"), 4: ("d5", "x"), 5: ("e", "x2")},
]


def changes(story: list[dict[int, tuple[str, str]]]) -> list[tuple[str, str, int, str]]:
    """What has to be in the history: day, operation, key, name."""
    found = []
    before: dict[int, tuple[str, str]] = {}
    for day, now in zip(DAYS, story, strict=False):
        for key in before.keys() | now.keys():
            old, new = before.get(key), now.get(key)
            if old is None or new is None:
                operation, row = ("I", new) if new else ("D", old)
                found.append((day, operation, key, row[0]))
            elif old[0] != new[0]:
                found.append((day, "U", key, new[0]))
        before = now
    return sorted(found)


def land(project: Project, name: str, day: int, story: list[dict[int, tuple[str, str]]]) -> None:
    """Lands what a day brings, as the entity's load type has it."""
    now, before = story[day], story[day - 1] if day else {}
    if name == "full":
        lines = [f"{key},{a},{b}" for key, (a, b) in now.items()]
        project.land(name, DAYS[day], "id,name,seen", *lines)
        return
    changed = {key: row for key, row in now.items() if before.get(key) != row or key == 1}
    lines = [f"U,{key},{a},{b}" for key, (a, b) in changed.items()]
    lines += [f"D,{key},," for key in before if key not in now]
    if name == "moves":
        lines = [f"{day + 1}{at:03d},{line}" for at, line in enumerate(lines)]
    project.land(name, DAYS[day], ("seq," if name == "moves" else "") + "op,id,name,seen", *lines)


def describe(project: Project) -> None:
    """The three entities, with a policy under which not nearly each load is a checkpoint."""
    for name in ENTITIES:
        columns = dict(COLUMNS)
        if name != "full":
            columns["op"] = {"data_type": "string", "role": "control"}
        if name == "moves":
            columns["seq"] = {"data_type": "bigint", "role": "control"}
        policy = {"changed_share": 5, "loads": 3}
        project.entity(name, columns, checkpoint=policy, **SETTINGS[name])
    for view in VIEWS[3:]:
        model = project.folder / f"models/moves/moves_{view}.sql"
        model.write_text(f"{{{{ spark_cdc.{view}() }}}}\n", encoding="utf-8")


def load_four_days(project: Project) -> None:
    """Describe the entities, and load what they have on the first four days."""
    describe(project)
    for day, date in enumerate(DAYS[:4]):
        for name in ENTITIES:
            land(project, name, day, STORY)
        project.load(date, *ENTITIES)


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """The entities after four loads."""
    load_four_days(project)
    return project


def views(project: Project, name: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all views."""
    wanted = VIEWS if name == "moves" else VIEWS[:3]
    return {view: project.rows(f"{name}_{view}", "*") for view in wanted}


def follows(project: Project, story: list[dict[int, tuple[str, str]]]) -> None:
    """Current state and history are those of the story."""
    for name in ENTITIES:
        state = sorted((key, a, b) for key, (a, b) in story[-1].items())
        assert project.rows(f"{name}_current", "id, name, seen") == state
        found = project.rows(
            f"{name}_history", "cast(business_date as string), operation, id, name"
        )
        assert found == changes(story)


def manifest(project: Project, name: str) -> list[str]:
    """The loads that count."""
    found: list[str] = project.timeline(name)["loads"]
    return found


def kinds(project: Project, name: str) -> list[str]:
    """Day and kind of the loads that count."""
    return [load[6:].rpartition("-")[0] for load in manifest(project, name)]


@pytest.mark.integration
def test_compact_changes_no_view(shop: Project) -> None:
    before = {name: views(shop, name) for name in ENTITIES}
    assert kinds(shop, "full") == ["01-fc", "02-f", "03-f", "04-f"]

    dry = shop.operate("compact", entities=list(ENTITIES), older_than_days=0)
    assert dry.success, dry.output
    assert "full: would compact 3 loads, 20240301-fc-" in dry.output
    assert "writes 9 rows of history and 5 of the state" in dry.output
    assert "Nothing was written" in dry.output
    assert kinds(shop, "full") == ["01-fc", "02-f", "03-f", "04-f"]
    assert not [row for row in shop.query("show partitions {s}.full_ledger") if "-h" in row[0]]

    # Young loads are kept, and so is the last one.
    young = shop.operate("compact", entities="full", older_than_days=2, execute=True)
    assert young.success and "full: nothing to compact in 4 loads: it takes 3" in young.output

    done = shop.operate("compact", older_than_days=0, execute=True)
    assert done.success, done.output
    for name in ENTITIES:
        assert kinds(shop, name)[:2] == ["03-h", "03-hc"]
        assert len(kinds(shop, name)) == 3
        assert views(shop, name) == before[name]


@pytest.mark.full
def test_loads_go_on_after_compact(shop: Project) -> None:
    """The last load again, with other data, and one more."""
    story = [*STORY[:3], STORY[3] | {9: ("i", "x")}, STORY[4]]
    for day in (3, 4):
        for name in ENTITIES:
            land(shop, name, day, story)
        shop.load(DAYS[day], *ENTITIES)
        follows(shop, story[: day + 1])

    # What was compacted before can be compacted once more: histories are kept, or merged.
    before = {name: views(shop, name) for name in ENTITIES}
    done = shop.operate(
        "compact", entities=["full", "moves"], older_than_days=0, histories=True, execute=True
    )
    assert done.success, done.output
    for name in ("full", "moves"):
        assert kinds(shop, name)[:2] == ["04-h", "04-hc"]
        assert len(kinds(shop, name)) == 3
        assert views(shop, name) == before[name]
    tested = shop.dbt("test", "--exclude", "tag:spark_cdc_verify")
    assert tested.success, tested.output


def location(project: Project, table: str) -> Path:
    """Folder of a table."""
    rows = project.query(f"describe extended {{s}}.{table}")
    return Path(urlparse(next(row[1] for row in rows if row[0] == "Location")).path)


def folders(project: Project, table: str, load: str) -> list[Path]:
    """Folders of a load's partitions; `load` may be the beginning of its name."""
    return sorted(location(project, table).glob(f"business_date=*/load_id={load}*"))


def load_ids(project: Project, table: str) -> set[str]:
    """Loads that have partitions."""
    partitions = (row[0] for row in project.query(f"show partitions {{s}}.{table}"))
    return {re.search(r"load_id=([^/]+)", partition)[1] for partition in partitions}  # type: ignore[index]


@pytest.mark.full
def test_vacuum_drops_what_nobody_names_any_more(shop: Project) -> None:
    before = {name: views(shop, name) for name in ENTITIES}
    tables = [*(f"{name}_ledger" for name in ENTITIES), "moves_events"]
    there = {table: load_ids(shop, table) for table in tables}
    counted = {name: set(manifest(shop, name)) for name in ENTITIES}
    old = time.time() - 30 * 86400

    # A load that a crash left, without partitions; one that was superseded just now, with old
    # files; one that a replay is building; a ledger that was set aside.
    [first] = folders(shop, "delta_ledger", "20240305")
    crashed = first.parent / "load_id=20240305-d-deadbeef"
    shutil.copytree(first, crashed)
    [compacted] = folders(shop, "delta_ledger", "20240302")
    for folder in (crashed, compacted):
        for file in folder.rglob("*"):
            os.utime(file, (old, old))
    [draft] = folders(shop, "delta_ledger", "20240301")
    name = draft.name.partition("=")[2]
    shop.query(f"create view {{s}}.delta_replay as select '{name}' as load_id")
    shop.query("create table {s}.delta_ledger_before_0123abcd using parquet as select 1 as a")

    refused = shop.operate("vacuum", retention_hours=1)
    assert not refused.success and "accepted are numbers from 24" in refused.output

    dry = shop.operate("vacuum", entities="delta")
    assert dry.success, dry.output
    assert "delta_ledger: would drop 1 load;" in dry.output
    assert re.search(
        r"20240305-d-deadbeef: 0 partitions, \d files, .* never committed 7\d\d h", dry.output
    )
    assert "delta_ledger_before_0123abcd was set aside" in dry.output and crashed.exists()

    done = shop.operate("vacuum", execute=True)
    assert done.success, done.output
    assert "vacuum: dropped 1 load with" in done.output
    assert not list(crashed.rglob("*.parquet"))
    assert {table: load_ids(shop, table) for table in tables} == there

    done = shop.operate("vacuum", retention_hours=0, force=True, execute=True)
    assert done.success, done.output
    assert load_ids(shop, "full_ledger") == counted["full"]
    assert load_ids(shop, "delta_ledger") == counted["delta"] | {name}
    assert load_ids(shop, "moves_ledger") == counted["moves"]
    # The archive keeps the events of compacted loads, but not those of the load that was replaced.
    assert len(load_ids(shop, "moves_events")) == len(there["moves_events"]) - 1
    assert {name: views(shop, name) for name in ENTITIES} == before
    shop.query("drop view {s}.delta_replay")


@pytest.mark.full
def test_verify_finds_nothing_wrong(shop: Project) -> None:
    tested = shop.dbt("test", "--select", "tag:spark_cdc_verify")
    assert tested.success, tested.output
    assert list(tested.status.values()).count("pass") == 5 * len(ENTITIES)


@pytest.mark.parametrize(
    ("words", "macro", "wanted"),
    [
        ("maintain", "maintain", {"execute": True}),
        (
            "maintain --select orders --dry-run",
            "maintain",
            {"entities": ["orders"], "execute": False},
        ),
        ("vacuum --dry-run", "vacuum", {"retention_hours": 168, "force": False, "execute": False}),
        (
            "vacuum --select orders customers --retention 0.5 --force",
            "vacuum",
            {
                "entities": ["orders", "customers"],
                "retention_hours": 0.5,
                "force": True,
                "execute": True,
            },
        ),
        (
            "compact --older-than 7 --dry-run",
            "compact",
            {"older_than_days": 7, "histories": False, "execute": False},
        ),
    ],
)
def test_commands_call_the_macros(
    monkeypatch: pytest.MonkeyPatch, words: str, macro: str, wanted: dict[str, Any]
) -> None:
    called: list[list[str]] = []

    def invoke(self: dbt_runner.Dbt, words: list[str], *_: Any) -> tuple[dbt_runner.Done, None]:
        called.append(list(words))
        return dbt_runner.Done(len(called) == 1, ""), None

    monkeypatch.setattr(dbt_runner.Dbt, "_invoke", invoke)
    monkeypatch.setattr(dbt_runner.connectivity, "problem", lambda *_: None)
    arguments = cli.parser().parse_args([*words.split(), "--target", "cluster"])
    assert arguments.run(arguments) == 0
    at = called[0].index("run-operation")
    assert called[0][at + 1] == f"spark_cdc.{macro}"
    assert json.loads(called[0][called[0].index("--args") + 1]) == wanted
    assert "cluster" in called[0]
    with pytest.raises(SparkCdcError, match=macro):
        arguments.run(arguments)


FINDING = {
    "entity": "orders",
    "problem": "the key comes more than once in the load",
    "load_id": "20240102-d-0a0a0a0a",
    "business_time": "2024-01-02",
    "row_count": 2,
    "examples": "id = 1; id = 3",
    "repair": "spark-cdc replay --from 2024-01-02 --select orders",
}
TOLD = """
- orders: a view is missing
  repair: dbt run

- orders: 2 rows: the key comes more than once in the load
  began in: load 20240102-d-0a0a0a0a (2024-01-02)
  examples: id = 1; id = 3
  repair: spark-cdc replay --from 2024-01-02 --select orders
"""


@pytest.mark.parametrize(
    ("failures", "ok", "lacking", "wanted"),
    [
        (None, True, [], None),
        (2, False, [], "verify found 2 problems\\. Nothing was changed"),
        (2, True, [], "verify found 2 problems\\. Nothing was changed"),  # severity: warn
        (None, False, [], "verify failed"),  # an error of Spark
        (None, True, ["views_match_ledger"], "verify found 1 problem\\. Nothing was changed"),
        ("not written", True, [], "their results are unknown"),
    ],
)
def test_verify_prints_what_the_tests_found(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    failures: int | str | None,
    ok: bool,
    lacking: list[str],
    wanted: str | None,
) -> None:
    ran: list[tuple[str, ...]] = []
    tests = {"test.shop.a.1": "ledger_rows_consistent", "test.shop.b.2": "views_match_ledger"}
    plan = {"model": "orders_committed", "tests": tests, "lacking": lacking}
    other = dict.fromkeys(FINDING) | {"entity": "orders", "problem": "a view is missing"}
    rows = [FINDING, other | {"repair": "dbt run"}]

    def run(_: dbt_runner.Dbt, *words: str, **_more: Any) -> dbt_runner.Done:
        ran.append(words)
        if words[0] == "test" and failures == "not written":
            return dbt_runner.Done(ok, "")
        if words[0] == "test":
            results = [{"unique_id": "test.shop.b.2", "failures": failures}]
            written.write_text(json.dumps({"results": results}), encoding="utf-8")
            return dbt_runner.Done(ok, "")
        [part] = json.loads(words[3])["parts"]
        one = {"entity": "orders", part: {"tests": plan, "findings": rows}[part]}
        return dbt_runner.Done(True, f"12:00:00  spark_cdc: {json.dumps({'entities': [one]})}")

    (tmp_path / "dbt_project.yml").write_text("name: shop\n", encoding="utf-8")
    written = tmp_path / "target" / "run_results.json"
    written.parent.mkdir()
    written.write_text('{"results": []}', encoding="utf-8")  # of an earlier run
    monkeypatch.setenv("SPARK_CDC_PROJECT_DIR", str(tmp_path))
    monkeypatch.setattr(dbt_runner.Dbt, "run", run)
    arguments = cli.parser().parse_args(["verify", "--select", "orders"])
    if wanted is None:
        assert arguments.run(arguments) == 0
    else:
        with pytest.raises(SparkCdcError, match=wanted):
            arguments.run(arguments)
    printed = capsys.readouterr().out
    assert ran[1][-2:] == ("--select", "orders_committed,tag:spark_cdc_verify")
    assert len(ran) == (3 if failures == 2 else 2)
    assert failures != 2 or json.loads(ran[2][-1])["parts"] == {
        "findings": {"tests": {"orders": ["views_match_ledger"]}}
    }
    assert (TOLD in printed) == (failures == 2)
    assert ("- spark_cdc.views_match_ledger" in printed) == bool(lacking)


@pytest.mark.parametrize(
    ("loads", "days", "histories", "why", "command"),
    [
        ([], 30, False, ": no load is committed", None),
        (
            ["01-fc", "02-f", "03-f"],
            0,
            False,
            ": it takes 3 loads before the last one; there are 2",
            None,
        ),
        (["01-fc"], 0, False, ": it takes 3 loads before the last one; there is none", None),
        (
            ["01-fc", "02-f", "03-f", "04-f"],
            3,
            False,
            ": it takes 3 loads before the last one and at least 3 days older; there is 1. To"
            " compact younger ones:",
            "--older-than 0",
        ),
        (
            ["01-fc", "02-f", "04-f"],
            3,
            False,
            ": it takes 3 loads before the last one and at least 3 days older; there is 1",
            None,
        ),
        (
            ["01-h", "01-hc", "02-f", "03-f"],
            1,
            False,
            ": it takes 3 loads before the last one and at least 1 day older, without those that"
            " were compacted or have other columns; there are 2. To merge what was compacted:",
            "--older-than 1 --histories",
        ),
    ],
)
def test_compact_says_why_there_is_nothing_to_do(
    loads: list[str], days: int, histories: bool, why: str, command: str | None
) -> None:
    """With the command that does more, where there is one."""
    macros = load_macros(invocation_id="1", local_md5=lambda text: "0123abcd" * 4)
    names = [f"202403{load}-0123abcd" for load in loads]
    plan = macros._plan_compaction(names, days, histories)
    assert plan["compacted"] == []
    found = macros._why_not_compacted({"name": "full"}, names, plan, days, histories, 1)
    assert found == why + (f"\n  spark-cdc compact --select full {command}" if command else "")
    if command:
        more = "--histories" in command
        assert macros._plan_compaction(names, int(command.split()[1]), more)["compacted"]
