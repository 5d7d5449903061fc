"""vacuum, compact and verify, end to end: each load type loaded, squashed, damaged."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlparse

import pytest

from project import Project
from spark_cdc import chain, cli
from spark_cdc.errors import SparkCdcError

ENTITIES = ("full", "delta", "moves")
COLUMNS: dict[str, Any] = {
    "id": {"data_type": "int", "role": "key"},
    "name": "string",
    "seen": {"data_type": "string", "role": "ignore"},
}
EVENTS = {"format": "flagged_rows", "operation": "op", "order": ["seq"], "archive": True}
SETTINGS: dict[str, dict[str, Any]] = {
    "full": {"load_type": "full"},
    "delta": {"load_type": "delta", "deleted_when": "op = 'D'"},
    "moves": {"load_type": "events", "events": EVENTS},
}
VIEWS = ("current", "history", "versions", "event_versions")
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
    model = project.folder / "models/moves/moves_event_versions.sql"
    model.write_text("{{ spark_cdc.event_versions() }}\n", encoding="utf-8")


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """The entities after four loads."""
    describe(project)
    for day, date in enumerate(DAYS[:4]):
        for name in ENTITIES:
            land(project, name, day, STORY)
        project.load(date, *ENTITIES)
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
    text = project.query(f"show create table {{s}}.{name}_committed")[0][0]
    return re.findall(r"'(\d{8}-[a-z]+-[0-9a-f]{8})',?\n", text)


def kinds(project: Project, name: str) -> list[str]:
    """Day and kind of the loads that count."""
    return [load[6:].rpartition("-")[0] for load in manifest(project, name)]


def test_compact_changes_no_view(shop: Project) -> None:
    before = {name: views(shop, name) for name in ENTITIES}
    assert kinds(shop, "full") == ["01-fc", "02-f", "03-f", "04-f"]

    dry = shop.operate("compact", entities=list(ENTITIES), older_than_days=0)
    assert dry.success, dry.output
    assert "full: would squash 3 loads, 20240301-fc-" in dry.output
    assert "writes 9 rows of history and 5 of the state" in dry.output
    assert "Nothing was written" in dry.output
    assert kinds(shop, "full") == ["01-fc", "02-f", "03-f", "04-f"]
    assert not [row for row in shop.query("show partitions {s}.full_ledger") if "-h" in row[0]]

    # Young loads are kept, and so is the last one.
    young = shop.operate("compact", entities="full", older_than_days=2, execute=True)
    assert young.success and "full: nothing to squash in 4 loads" in young.output

    # What a crash left out of cdc_loads is added while the manifest still names it.
    lost = manifest(shop, "full")[1]
    shop.lose_record("full", lost)
    done = shop.operate("compact", older_than_days=0, execute=True)
    assert done.success, done.output
    assert f"full: added load {lost} to cdc_loads" in done.output
    for name in ENTITIES:
        assert kinds(shop, name)[:2] == ["03-h", "03-hc"]
        assert len(kinds(shop, name)) == 3
        assert views(shop, name) == before[name]


def test_loads_go_on_after_compact(shop: Project) -> None:
    """The last load again, with other data, and one more."""
    story = [*STORY[:3], STORY[3] | {9: ("i", "x")}, STORY[4]]
    for day in (3, 4):
        for name in ENTITIES:
            land(shop, name, day, story)
        shop.load(DAYS[day], *ENTITIES)
        follows(shop, story[: day + 1])

    # What was squashed before can be squashed once more: histories are kept, or merged.
    before = {name: views(shop, name) for name in ENTITIES}
    done = shop.operate(
        "compact", entities=["full", "moves"], older_than_days=0, histories=True, execute=True
    )
    assert done.success, done.output
    for name in ("full", "moves"):
        assert kinds(shop, name)[:2] == ["04-h", "04-hc"]
        assert len(kinds(shop, name)) == 3
        assert views(shop, name) == before[name]
    tested = shop.dbt("test")
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
    [squashed] = folders(shop, "delta_ledger", "20240302")
    for folder in (crashed, squashed):
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
    # The archive keeps the events of squashed loads, but not those of the load that was replaced.
    assert len(load_ids(shop, "moves_events")) == len(there["moves_events"]) - 1
    assert {name: views(shop, name) for name in ENTITIES} == before
    shop.query("drop view {s}.delta_replay")


def test_verify_finds_nothing_wrong(shop: Project) -> None:
    done = shop.operate("verify")
    assert done.success, done.output
    assert "verify: nothing is wrong" in done.output
    assert re.search(
        r"moves: 3 loads, \d+ rows, views current, history, versions, event_versions:", done.output
    )


class Damage:
    """Writes past the project into an entity's ledger."""

    def __init__(self, project: Project, name: str) -> None:
        self.project, self.name, self.ledger = project, name, f"{{s}}.{name}_ledger"
        self.loads = {
            load.split("-", 1)[0][6:] + load.split("-")[1]: load for load in manifest(project, name)
        }
        rows = project.query(f"describe {{s}}.{name}_ledger")
        names = [row[0] for row in rows]
        self.columns = names[: names.index("operation") + 1]

    def add(self, load: str, operation: str, key: int, **changed: str) -> None:
        """Adds a row: the newest one of a key, with the load and operation given, and changes."""
        given = {"load_id": f"'{self.loads[load]}'", "operation": f"'{operation}'"}
        given["business_date"] = f"date'2024-03-{load[:2]}'"
        given |= changed
        chosen = ", ".join(f"{given.get(c, c)} as {c}" for c in self.columns)
        newest = f"select * from {self.ledger} where id = {key} order by load_id desc limit 1"
        self.project.query(
            f"create table {{s}}.extra using parquet as select {chosen} from ({newest})"
        )
        self._write("into")

    def rewrite(self, load: str, operation: str, condition: str = "true", **changed: str) -> None:
        """Writes a partition anew: the rows that fulfil a condition, with changes."""
        chosen = ", ".join(f"{changed.get(c, c)} as {c}" for c in self.columns)
        self.project.query(
            f"create table {{s}}.extra using parquet as select {chosen} from {self.ledger}"
            f" where load_id = '{self.loads[load]}' and operation = '{operation}' and {condition}"
        )
        self._write("overwrite")

    def _write(self, how: str) -> None:
        self.project.query("set spark.sql.sources.partitionOverwriteMode = dynamic")
        self.project.query(f"insert {how} table {self.ledger} select * from {{s}}.extra")
        self.project.query("drop table {s}.extra")

    def folder(self, load: str, operation: str) -> Path:
        [folder] = location(self.project, f"{self.name}_ledger").glob(
            f"business_date=*/load_id={self.loads[load]}/operation={operation}"
        )
        return folder


def damage_full(project: Project) -> list[str]:
    """An update that is none, a row that a checkpoint lacks, a foreign row, other views."""
    damage = Damage(project, "full")
    damage.add("05f", "U", 5)
    damage.rewrite("04hc", "X", "id <> 1")
    project.query("set spark.sql.sources.partitionOverwriteMode = dynamic")
    columns = [row[0] for row in project.query("describe {s}.cdc_loads")]
    columns = columns[: columns.index("load_id")]
    project.query(
        f"insert into {{s}}.cdc_loads select {', '.join(columns)}, '20240306-f-00000000' as load_id"
        f" from {{s}}.cdc_loads where load_id = '{damage.loads['05f']}' and entity = 'full'"
    )
    project.query("alter view {s}.full_history as select * from {s}.full_committed")
    project.query("drop view {s}.full_versions")
    text = project.query("show create table {s}.full_committed")[0][0]
    text = "select " + text[text.index("/* spark_cdc manifest:") :]
    project.query(f"alter view {{s}}.full_committed as {text} and true")
    hc, last = damage.loads["04hc"], damage.loads["05f"]
    return [
        rf"1 row: U \(updated\) though nothing .*\n.*began in: load {last} .*\n.*examples: id = 5\n"
        rf".*repair: spark-cdc replay --from 2024-03-05 --select full",
        rf"1 row: the key was there before the checkpoint, .*\n.*load {hc} .*\n.*: id = 1\n",
        rf"the counts do not reconcile: .* leave 5 rows X; written are 4\n.*load {hc}",
        rf"different figures: rows_updated is 2, in the ledger 3; .*\n.*load {last}",
        r"a row of a load that does not count and that none replaced\n.*20240306-f-00000000",
        r"the text of the view \S+full_history is not .*\n.*repair: dbt run --select full_history",
        r"the view \S+full_versions is missing\n.*repair: dbt run --select full_versions",
        r"the text of the view \S+full_committed is not what its manifest makes",
        r"the view full_current shows 4 rows, the ledger gives 5",
    ]


def damage_delta(project: Project) -> list[str]:
    """Rows that contradict the state, hashes, records, cdc_loads."""
    damage = Damage(project, "delta")
    hc, before, last = damage.loads["03hc"], damage.loads["04d"], damage.loads["05d"]
    other = "(select max(nonkey_hash) from {s}.delta_ledger where name = 'a')"
    damage.add("04d", "I", 5)
    damage.add("05d", "N", 5, name="'a'", nonkey_hash=other)
    damage.add("05d", "N", 2)
    damage.rewrite("04d", "I", "id <> 9")
    damage.rewrite("05d", "U", key_hash="if(id = 4, unhex(md5('x')), key_hash)")
    damage.rewrite("03hc", "X", name="if(id = 1, 'z', name)", seen="if(id = 2, 'z', seen)")
    damage.rewrite("05d", "L", note=f"replace(note, '{before}', '20240101-d-00000000')")
    one = "partition (entity = 'delta', load_id = '{}')"
    row = f"select * from {{s}}.cdc_loads where load_id = '{hc}'"
    project.query(f"create table {{s}}.extra using parquet as {row}")
    project.query("insert into {s}.cdc_loads select * from {s}.extra")
    project.query("drop table {s}.extra")
    project.query(f"alter table {{s}}.cdc_loads drop {one.format(before)}")
    text = project.query("show create table {s}.delta_current")[0][0]
    text = text[text.index("with\n/* spark_cdc view") :]
    project.query(f"alter view {{s}}.delta_current as {text} limit 1")
    return [
        rf"D, N or X with other values than the row before\n.*load {last} ",
        rf"1 row: the key comes more than once in the load\n.*load {last} .*\n.*: id = 2\n",
        rf"1 row: I \(inserted\) for a key that was there .*\n.*load {before} .*\n.*: id = 5\n",
        rf"1 row: U, D, N or X for a key that was not there\n.*load {last} .*\n.*: id = 9\n",
        rf"1 row: key_hash is not the hash of the key columns\n.*load {last} .*\n.*: id = 4\n",
        rf"1 row: nonkey_hash is not the hash of the stored .*\n.*load {hc} .*\n.*: id = 1\n",
        rf"1 row: ignored_hash is not the hash of the stored .*\n.*load {hc} .*\n.*: id = 2\n",
        rf"the load builds on 20240101-d-00000000, but .* before it is {before}\n.*load {last}",
        rf"cdc_loads has 2 rows of the load instead of one\n.*load {hc} .*\n.*repair: alter table",
        rf"cdc_loads has 0 rows of the load instead of one\n.*load {before} .*\n"
        r".*repair: dbt run --select delta_committed",
        r"the text of the view \S+delta_current is not .*\n.*repair: drop view \S+; then dbt run",
    ]


def damage_moves(project: Project) -> list[str]:
    """Dates, tombstones, files, partitions, the archive."""
    damage = Damage(project, "moves")
    history, hc, last = damage.loads["04h"], damage.loads["04hc"], damage.loads["05e"]
    damage.rewrite("05e", "U", eff_start_date="date'2024-03-04'")
    damage.rewrite("05e", "N", eff_start_date="date'2024-03-05'")
    damage.add("05e", "T", 5)
    project.query(f"alter table {{s}}.moves_events drop partition (load_id = '{last}')")
    project.query(
        f"alter table {{s}}.moves_ledger drop partition (load_id = '{hc}', operation = 'L')"
    )
    for file in damage.folder("04hc", "X").iterdir():
        file.unlink()
    ledger = location(project, "moves_ledger")
    [*_, inserted] = sorted(ledger.glob(f"*/load_id={history}/operation=I"))
    [updated, *_] = sorted(ledger.glob(f"*/load_id={history}/operation=U"))
    [deleted, *_] = sorted(ledger.glob(f"*/load_id={history}/operation=D"))
    for folder in (updated, deleted):
        for file in folder.glob(".*.crc"):
            file.unlink()
        for file in folder.glob("*.parquet"):
            content = file.read_bytes()
            broken = b"\0" * len(content) if folder == updated else b"PAR1" + b"\xff" * 60
            file.write_bytes(broken + content[len(broken) :])
    aside = project.folder / "aside"
    shutil.copytree(inserted, aside)
    day = inserted.parent.parent.name.partition("=")[2]
    project.query(
        f"alter table {{s}}.moves_ledger drop partition (business_date = '{day}',"
        f" load_id = '{history}', operation = 'I')"
    )
    shutil.copytree(aside, inserted, dirs_exist_ok=True)
    return [
        rf"2 rows: eff_start_date is not the business date of the change\n.*load {last} ",
        rf"1 row: N or X with another eff_start_date than the row before\n.*load {last} ",
        rf"1 row: T \(tombstone\) for a key that was there\n.*load {last} .*\n.*: id = 5\n",
        rf"moves_events has 0 events of the load instead of \d+\n.*load {last} ",
        rf"the load has 0 records \(rows with operation L\) instead of one\n.*load {hc} ",
        rf"the partition business_date=\S+{hc}/operation=X has no files any more\n",
        rf"1 file of the partition business_date=\S+{history}/operation=U can't be read\n",
        rf"of \d+ rows D \d+ can be read: a file's content is damaged\n.*load {history} ",
        rf"the partition business_date={day}/\S+/operation=I is not registered.*\n.*{history}.*\n"
        r".*examples: business_date.*parquet\n.*repair: alter table \S+ recover partitions",
        r"the manifest says that 5 rows exist, the counts of the loads give \d+\n",
    ]


def damage_others(project: Project) -> dict[str, list[str]]:
    """Entities whose manifest or table is gone, or not what it was; they never were loaded."""
    others = ("forged", "replaced", "lost", "gone", "never")
    for name in others:
        columns = COLUMNS | {"op": {"data_type": "string", "role": "control"}}
        project.entity(name, columns, **SETTINGS["delta"])
        if name not in ("gone", "never"):
            project.query(f"create table {{s}}.{name}_ledger like {{s}}.delta_ledger")
    text = project.query("show create table {s}.delta_committed")[0][0]
    text = "select " + text[text.index("/* spark_cdc manifest:") :].replace("delta_", "forged_")
    loads = manifest(project, "delta")
    project.query(f"create view {{s}}_commits.forged_commit_{sequence(text):06d} as {text}")
    shorter = re.sub(rf"\s+'{loads[2]}',", "", text)
    project.query(f"create view {{s}}.forged_committed as {shorter}")
    for name in ("replaced", "gone"):
        project.query(f"create view {{s}}.{name}_committed as select 1 as one")
    project.query("set spark.sql.sources.partitionOverwriteMode = dynamic")
    project.query("insert into {s}.lost_ledger select * from {s}.delta_ledger")
    return {
        "forged": [rf"names other loads than its last commit: .* {loads[2]} missing"],
        "replaced": [r"replaced_committed is no manifest: .*\n.*repair: drop view"],
        "lost": [r"the view \S+lost_committed is missing, so that no load counts\n"],
        "gone": [r"the table \S+gone_ledger is missing, which \S+gone_committed reads\n"],
        "never": [],
    }


def sequence(text: str) -> int:
    return int(re.search(r'"sequence": (\d+)', text)[1])  # type: ignore[index]


def test_verify_finds_each_damage(shop: Project) -> None:
    wanted = damage_others(shop)
    wanted["full"] = damage_full(shop)
    wanted["delta"] = damage_delta(shop)
    wanted["moves"] = damage_moves(shop)
    # Where nobody knows which loads count, nothing is dropped.
    blind = shop.operate("vacuum", entities=["lost"], retention_hours=0, force=True, execute=True)
    assert not blind.success and "there is no manifest" in blind.output
    assert load_ids(shop, "lost_ledger")

    done = shop.operate("verify")
    assert not done.success
    text = re.sub(r"(?m)^ +", "", done.output)
    lacking = [
        (name, pattern)
        for name, patterns in wanted.items()
        for pattern in patterns
        if not re.search(rf"(?m)^- {name}: .*?{pattern}", text)
    ]
    assert not lacking, f"{lacking}\n{done.output}"
    findings = text.count("\n- ")
    assert f"spark_cdc.verify found {findings} problems" in text
    assert text.count("\nrepair: ") == findings
    assert "\n- never: " not in text and "never: nothing was loaded yet" in text

    # A ledger that is damaged is not squashed; what was written until then nobody sees.
    before = manifest(shop, "delta"), shop.rows("delta_history", "*")
    refused = shop.operate(
        "compact", entities="delta", older_than_days=0, histories=True, execute=True
    )
    assert not refused.success and "has 4 rows X instead of 5" in refused.output
    assert (manifest(shop, "delta"), shop.rows("delta_history", "*")) == before
    assert any("-hc-" in load for load in load_ids(shop, "delta_ledger") - set(before[0]))

    # Views and manifest are put right by the commands that the findings name.
    words = ["--select", "full_committed", "full_history", "full_versions"]
    assert shop.dbt("run", *words).success
    again = shop.operate("verify", entities="full")
    assert "counts do not reconcile" in again.output and "full_current shows" in again.output
    for view in ("full_history", "full_versions", "full_committed"):
        assert not re.search(rf"the view \S+{view}", again.output)


@pytest.mark.parametrize(
    ("words", "macro", "wanted"),
    [
        ("vacuum", "vacuum", {"retention_hours": 168, "force": False, "execute": False}),
        (
            "vacuum --select orders customers --retention 0.5 --force --execute",
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
        ("verify --select orders", "verify", {"entities": ["orders"]}),
    ],
)
def test_commands_call_the_macros(
    monkeypatch: pytest.MonkeyPatch, words: str, macro: str, wanted: dict[str, Any]
) -> None:
    called: list[list[str]] = []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        called.append(command)
        return SimpleNamespace(returncode=len(called) - 1, stdout=None)

    monkeypatch.setattr(chain.subprocess, "run", run)
    monkeypatch.setattr(chain.Dbt, "_is_safe", lambda self: False)
    arguments = cli.parser().parse_args([*words.split(), "--target", "cluster"])
    assert arguments.run(arguments) == 0
    at = called[0].index("run-operation")
    assert called[0][at + 1] == f"spark_cdc.{macro}"
    assert json.loads(called[0][called[0].index("--args") + 1]) == wanted
    assert "cluster" in called[0]
    with pytest.raises(SparkCdcError, match=macro):
        arguments.run(arguments)
