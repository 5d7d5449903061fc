"""`spark-cdc load --dry-run`: what it says is what the load then does, and it writes nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from project import Project
from spark_cdc import cli as command_line
from spark_cdc import dbt_runner, plan

pytestmark = pytest.mark.proves("branches")

KEYED = {"id": {"data_type": "int", "role": "key"}, "value": "int"}
CONTROL = {"data_type": "string", "role": "control"}
DATES = ("2024-03-01", "2024-03-02")
FLAGGED = KEYED | {"op": CONTROL, "seq": {"data_type": "bigint", "role": "control"}}
FEED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
# what is loaded on each date, by entity
INPUT = {
    "whole": [["1,1", "2,2", "3,3"], ["1,1", "2,5", "4,4"]],
    # a row without a key: what is missing may be that row's, and is held
    "sifted": [["1,1", "2,2", "3,3"], ["1,x", "2,3", "x,1"]],
    "part": [["1,1,I", "2,2,I"], ["1,5,U", "2,2,D", "9,9,D"]],
    # the last one comes late
    "feed": [["1,1,I,1", "2,2,I,2"], ["1,3,U,3", "1,4,U,4", "2,2,D,5", "3,3,I,6", "1,0,U,0"]],
    "facts": [["1,1,I,1"], ["2,2,I,2"]],
}
ENTITIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "whole": (KEYED, {}),
    "sifted": (KEYED, {"on_reject": "quarantine"}),
    "part": (KEYED | {"op": CONTROL}, {"load_type": "delta", "deleted_when": "op = 'D'"}),
    "feed": (FLAGGED, {"load_type": "events", "events": FEED}),
    "facts": (FLAGGED, {"load_type": "events", "events": dict(FEED, insert_only=True)}),
}
Call = Callable[..., tuple[int, list[dict[str, Any]]]]


@pytest.fixture
def call(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """Call `spark-cdc load --dry-run` of some entities; gives the exit code and the plans."""
    project.serve_commands(monkeypatch)

    def called(date: str, *names: str, words: tuple[str, ...] = ()) -> Any:
        before = stored(project)
        code = command_line.main(
            ["load", date, "--dry-run", "--select", *names, "--output", "json", *words]
        )
        said = capsys.readouterr()
        assert stored(project) == before
        assert said.out.startswith("["), said.out + said.err
        return code, json.loads(said.out)

    return called


def stored(project: Project) -> tuple[Any, ...]:
    """All that a load could change: files, tables and views with their texts, rows of cdc_loads."""
    found: list[Any] = []
    for schema in (project.schema, f"{project.schema}_commits"):
        if not project.query(f"show schemas like '{schema}'"):
            continue
        files = sorted(project.folder_of(schema).rglob("*"))
        found += [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in files]
        found += [row[3] for row in project.query(f"show table extended in {schema} like '*'")]
    return tuple(found)


def written(project: Project, date: str, names: Sequence[str]) -> list[str]:
    """What a load of all sends that writes into ledgers and events, or commits."""
    sent: list[str] = []

    def watch(event: Any) -> None:
        if event.info.name == "SQLQuery":
            sent.append(" ".join(re.sub(r"/\*.*?\*/", "", event.data.sql, count=1).split()))

    select = ("--select", *(f"path:models/{name}" for name in names), "cdc_loads")
    variables = {"SPARK_CDC_BUSINESS_DATE": date}
    done = dbt_runner.Dbt().run("run", *select, variables=variables, watch=watch)
    assert done.ok, done.output
    tables = (
        r"(create table if not exists|insert overwrite table|alter table|delete from)"
        r" \S+_(ledger|events)"
    )
    views = r"(create view if not exists|alter view) \S+_(commit_\d+|committed)"
    return [sql for sql in sent if re.match(rf"({tables}|{views})\b", sql)]


def landed(project: Project, names: tuple[str, ...] = tuple(ENTITIES)) -> None:
    for name in names:
        columns, settings = ENTITIES[name]
        project.entity(name, columns, **settings)
        for date, lines in zip(DATES, INPUT[name], strict=True):
            project.land(name, date, ",".join(columns), *lines)


@pytest.mark.full
def test_a_load_does_what_the_plan_says(project: Project, call: Call) -> None:
    """Of each load type: the first load, the second, and that again."""
    landed(project)
    for at, date in enumerate((*DATES, DATES[-1])):
        names = ("feed",) if at == 2 else tuple(ENTITIES)
        code, plans = call(date, *names)
        assert code == 0, plans
        sent = written(project, date, names)
        rows = project.query(
            "select entity, business_time, load_type, is_checkpoint, parent_load_id, rows_in,"
            " rows_inserted, rows_updated, rows_deleted, rows_unchanged, rows_not_supplied,"
            " rows_rejected, rows_prior, rows_current, input, input_files, input_bytes,"
            " events_late, replaced_load_ids, load_id from {s}.cdc_loads"
            f" where business_time = '{date}' order by started_at"
        )
        last = {row[0]: row[1:19] for row in rows}
        for one in plans:
            counts = [one["counts"][operation] for operation in "IUDNXR"]
            files = [one["files"]["files"], one["files"]["bytes"]]
            planned = (
                *(one["business_time"], one["load_type"], one["is_checkpoint"], one["parent"]),
                *(one["rows_in"], *counts, one["rows_prior"], one["rows_current"]),
                *(one["input"], *files, one["events"] and one["events"]["late"]),
                ", ".join(one["replaces"]) or None,
            )
            assert planned == last[one["entity"]], one
            assert one["refused"] is None
            of_entity = [sql for sql in sent if f".{one['entity']}_" in sql]
            own = [sql for sql in one["statements"] if not sql.endswith("cdc_loads")]
            assert [sql[: len(start)] for sql, start in zip(of_entity, own, strict=True)] == own
            assert bool(one["replaces"]) == (at == 2)
    held = [row[0] for row in project.query("select count(*) from {s}.sifted_rejects")]
    assert held == [2]


@pytest.mark.integration
def test_what_would_be_refused(project: Project, call: Call) -> None:
    """Guards with their counts, rejects, keys that come twice, dates in the past, no files."""
    project.entity("kept", KEYED, guards={"min_rows": 1})
    project.entity("never", KEYED)
    project.land("kept", DATES[0], "id,value", "1,1", "2,2", "3,3")
    code, [one] = call(DATES[0], "never")
    assert (code, one["refused"]["guard"]) == (1, "no_files")
    project.load(DATES[0], "kept")
    loads = project.query("select count(*) from {s}.cdc_loads")
    project.land("kept", DATES[1], "id,value", "1,1")
    code, [one] = call(DATES[1], "kept")
    assert (code, one["refused"]["guard"]) == (1, "deleted_share")
    assert "2 of 3 rows would be deleted" in one["refused"]["message"]
    assert (one["counts"]["D"], one["counts"]["N"], one["rows_current"]) == (2, 1, 1)
    code, [one] = call(DATES[1], "kept", words=("--skip-guards", "kept.deleted_share"))
    assert (code, one["refused"], one["counts"]["D"]) == (0, None, 2)
    for lines, guard in (
        (("1,x", "2,2", "3,3"), "failed_casts"),
        (("1,1", "1,2"), "duplicate_keys"),
    ):
        project.land("kept", DATES[1], "id,value", *lines)
        code, [one] = call(DATES[1], "kept")
        assert (code, one["refused"]["guard"]) == (1, guard), one
    project.land("kept", "2024-02-01", "id,value", "1,1")
    code, [one, other] = call("2024-02-01", "kept", "never")
    assert code == 1
    assert "2024-02-01 is before the last load, 2024-03-01" in one["refused"]["message"]
    assert other["refused"]["guard"] == "no_files"
    code, [one] = call(f"{DATES[1]} 10:00:00", "kept")
    assert "by date" in one["refused"]["message"], one
    assert project.query("select count(*) from {s}.cdc_loads") == loads


@pytest.mark.integration
def test_rejected_rows_of_many_columns_are_shown(project: Project, call: Call) -> None:
    """In time: put in one another, the expressions behind a row's note were too much for Spark."""
    types = ("string", "string", "int", "decimal(10,2)", "date", "string", "timestamp")
    columns = FLAGGED | {f"column{at}": kind for at, kind in enumerate(types)}
    project.entity("wide", columns, load_type="delta", deleted_when="op = 'D'")
    whole = "1,1,I,1,a,b,1,1.00,2024-03-01,c,2024-03-01 10:00:00"
    project.land("wide", DATES[0], ",".join(columns), whole)
    project.load(DATES[0], "wide")
    project.land("wide", DATES[1], ",".join(columns), whole.replace("1.00", "1.005"))
    code, [one] = call(DATES[1], "wide")
    assert (code, one["refused"]["guard"]) == (1, "failed_casts")
    assert "'1.005' is not accepted as decimal(10,2)" in one["refused"]["message"]


@pytest.mark.integration
def test_changes_of_columns(project: Project, call: Call) -> None:
    """What the definition's change would be, and values that do not fit."""
    project.entity("grown", KEYED)
    project.land("grown", DATES[0], "id,value", "1,1000", "2,2")
    project.load(DATES[0], "grown")
    project.entity("grown", KEYED | {"region": "string"})
    project.land("grown", DATES[1], "id,value,region", "1,1000,", "2,2,north")
    code, [one] = call(DATES[1], "grown")
    assert (code, one["definition_change"]) == (0, "added region compared string")
    assert (one["is_checkpoint"], one["counts"]["U"], one["counts"]["N"]) == (True, 1, 1)
    project.entity("grown", {**KEYED, "value": "tinyint"})
    project.land("grown", DATES[1], "id,value", "1,1", "2,2")
    code, [one] = call(DATES[1], "grown")
    assert (code, one["refused"]["guard"]) == (1, "definition")
    assert "1 stored value does not fit, such as '1000'" in one["refused"]["message"]
    path = project.folder / "models/grown/stg_grown.sql"
    path.write_text("select * from ({{ spark_cdc.stage() }}) where id > 1", encoding="utf-8")
    code, [one] = call(DATES[1], "grown")
    assert "stg_grown is more than spark_cdc.stage()" in one["refused"]["message"]


@pytest.mark.integration
def test_a_full_snapshot_among_events(project: Project, call: Call) -> None:
    whole = {"format": "csv", "path": f"{project.landing}/all/{{business_date}}"}
    settings = {"load_type": "events", "events": FEED, "sources": {"full": whole}}
    project.entity("stream", FLAGGED, **settings)
    project.land("stream", DATES[0], ",".join(FLAGGED), "1,1,I,1", "2,2,I,2")
    project.load(DATES[0], "stream")
    project.land("all", DATES[1], "id,value", "1,7", "5,5")
    words = ("--load-type", "full", "--position", "9")
    code, [one] = call(DATES[1], "stream", words=words)
    assert code == 0, one
    more = {"spark_cdc_load_type": "full", "spark_cdc_position": 9}
    outcome = project.load(DATES[1], "stream", **more)
    assert "stream 2024-03-02: 2 rows in, I 1, U 1, D 1" in outcome.output
    assert one["rows_in"] == 2
    assert {name: one["counts"][name] for name in "IUD"} == {"I": 1, "U": 1, "D": 1}


def test_plans_for_people() -> None:
    """A line for each entity, then what is to be said."""
    fine = {
        **{"entity": "a", "business_time": "2024-03-01", "load_type": "full", "rows_in": 3},
        **{"is_checkpoint": True, "rows_current": 2, "refused": None, "replaces": ["20240301-f-x"]},
        **{
            "counts": dict(zip("IUDNXR", range(6), strict=True)),
            "events": {"late": 2, "control": 0},
        },
        **{"definition_change": "dropped memo", "statements": ["x"]},
    }
    refused = {
        **{"entity": "b", "business_time": "2024-03-01"},
        "refused": {"guard": None, "message": "b: is before the last load"},
    }
    text = plan.describe([fine, refused])
    cells = ["a", "2024-03-01", "full", "checkpoint", *"301234521", "would", "load"]
    assert text.splitlines()[2].replace("|", " ").split() == cells
    assert "would load" in text and "refused" in text
    assert "a: replaces 20240301-f-x" in text
    assert "a: definition changes: dropped memo" in text
    assert "a: of the events 2 late\n" in text
    assert text.endswith("b: is before the last load")
    assert plan.summary([fine, refused]) == "1 would load; 1 would be refused: b."


def test_an_entity_of_which_nothing_landed_was_not_asked_for() -> None:
    """Unless it is named, or nothing has landed of any."""

    def made(entity: str, guard: str | None) -> plan.Plan:
        refused = plan.Refusal(guard=guard, message=f"{entity} says why") if guard else None
        return {"entity": entity, "business_time": "2024-03-01", "refused": refused}

    plans = [made("a", None), made("b", "no_files"), made("c", "deleted_share")]
    assert plan.without_files(plans, []) == {"b"}
    assert plan.without_files(plans, ["a", "b"]) == set()
    assert plan.without_files(plans[1:2], []) == set()
    assert plan.summary(plans, {"b"}) == (
        "1 would load; 1 would be refused: c; nothing of the date has landed for b."
    )
    text = plan.describe(plans, {"b"})
    assert "nothing landed" in text and "b says why" not in text and "c says why" in text


@pytest.mark.integration
def test_a_dry_run_ends_by_what_was_asked_for(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not by an entity that was not: one that is misconfigured, or of which nothing landed."""
    project.entity("fine", KEYED)
    project.entity("awry", KEYED, guards={"deleted_share": "some"})
    project.entity("bare", KEYED)
    project.land("fine", DATES[0], "id,value", "1,1")
    project.serve_commands(monkeypatch)

    def ended(*words: str) -> tuple[int, str]:
        code = command_line.main(["load", DATES[0], "--dry-run", *words])
        return code, capsys.readouterr().err.splitlines()[-1]

    done = "Dry run: nothing was changed."
    assert ended("--select", "fine") == (0, f"{done} 1 would load.")
    models = project.folder.glob("models/*/*_ledger.sql")
    others = {path.stem.removesuffix("_ledger") for path in models} - {"fine", "bare"}
    assert ended("--exclude", *others) == (
        0,
        f"{done} 1 would load; nothing of the date has landed for bare.",
    )
    assert ended("--select", "bare", "fine") == (
        1,
        f"{done} 1 would load; 1 would be refused: bare.",
    )
