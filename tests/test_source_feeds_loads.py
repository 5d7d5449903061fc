"""Loads from the change feed of a Delta or Iceberg table: whatever is done to the source."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from own_servers import project_in_lake
from project import Project

pytestmark = [pytest.mark.proves("source feeds"), pytest.mark.full]
COLUMNS: dict[str, Any] = {
    "id": {"data_type": "bigint", "role": "key"},
    "name": "string",
    "amount": "decimal(10,2)",
}
NAMES = ", ".join(COLUMNS)
TYPES = "id bigint, name string, amount decimal(10,2)"
ON = "tblproperties (delta.enableChangeDataFeed = true)"
Command = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project on a server that knows both formats."""
    yield from project_in_lake(tmp_path_factory)


@dataclass
class Source:
    """A table of a format, and the entity that reads its feed."""

    project: Project
    format: str
    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=lambda: dict(COLUMNS))
    clock: Iterator[str] = field(
        default_factory=lambda: (
            f"2024-03-04 {n // 60:02d}:{n % 60:02d}:00" for n in itertools.count()
        )
    )
    last: str = ""

    def __post_init__(self) -> None:
        is_delta = self.format == "delta"
        self.table = f"source.{self.name}" if is_delta else f"iceberg.source.{self.name}"
        self.create()
        self.declare()

    def create(self, more: str = "") -> None:
        self.project.query(f"drop table if exists {self.table}")
        using = f"delta {ON}" if self.format == "delta" else f"iceberg {more}"
        self.project.query(f"create table {self.table} ({TYPES}) using {using}")

    def declare(self, **source: Any) -> None:
        events = {"format": "delta_cdf" if self.format == "delta" else "iceberg_changelog"}
        self.project.entity(
            self.name,
            self.columns,
            load_type="events",
            business_date_type="timestamp",
            **({"guards": dict.fromkeys(("deleted_share", "updated_share", "inserted_share"))}),
            events=events | self.settings.get("events", {}),
            source={"format": "change_feed", "table": self.table, "path": None} | source,
        )

    def run(self, *sql: str) -> None:
        for one in sql:
            self.project.query(one.replace("{t}", self.table))

    def compact(self) -> None:
        if self.format == "delta":
            self.run("optimize {t}")
        else:
            name = self.table.removeprefix("iceberg.")
            self.run(
                f"call iceberg.system.rewrite_data_files(table => '{name}',"
                " options => map('rewrite-all', 'true'))"
            )

    def load(self, time: str | None = None, **more: Any) -> dict[str, Any]:
        """Load a new time, or one again; the load's row of cdc_loads."""
        self.last = time or next(self.clock)
        outcome = self.project.load(self.last, self.name, **more)
        assert outcome.success
        return self.row()

    def refused(self, time: str | None = None, **more: Any) -> str:
        outcome = self.project.run(time or next(self.clock), self.name, **more)
        assert not outcome.success
        assert f"{self.name}: " in outcome.output
        return outcome.output

    def row(self) -> dict[str, Any]:
        names = "load_id, input, rows_in, rows_inserted, rows_updated, rows_deleted, rows_unchanged"
        [row] = self.project.query(
            f"select {names} from {{s}}.cdc_loads where entity = '{self.name}' and business_time ="
            f" '{self.last}' and status = 'committed' order by committed_at desc limit 1"
        )
        found = dict(zip(names.replace("rows_", "").split(", "), row, strict=True))
        return found | {"feed": self.record(found["load_id"]).get("feed")}

    def record(self, load_id: str) -> dict[str, Any]:
        [(note,)] = self.project.query(
            f"select cdc__note from {{s}}.{self.name}_ledger where load_id = '{load_id}'"
            " and operation = 'L'"
        )
        found: dict[str, Any] = json.loads(note)
        return found

    def check(self) -> None:
        """What is current is what the table holds."""
        names = ", ".join(self.columns)
        self.project.query(f"refresh table {{s}}.{self.name}_ledger")  # columns may have come
        assert self.project.rows(f"{self.name}_current", names) == sorted(
            self.project.query(f"select {names} from {self.table}"), key=repr
        )


@pytest.fixture(params=["delta", "iceberg"])
def source(project: Project, request: pytest.FixtureRequest) -> Source:
    return Source(project, request.param, f"{request.node.originalname[5:30]}_{request.param}")


def changes(row: dict[str, Any]) -> tuple[int, int, int]:
    return row["inserted"], row["updated"], row["deleted"]


def test_story(source: Source, command: Command) -> None:
    source.run("insert into {t} values (1, 'ann', 1), (2, 'bob', 2), (3, 'cid', 3)")
    source.run("insert into {t} values (4, 'dan', 4)")
    code, said = command(
        *("load", "2024-03-04T00:00", "--dry-run", "--select", source.name, "--output", "json")
    )
    assert code == 0, said
    planned, _ = json.JSONDecoder().raw_decode(said)  # before what is said beside it
    assert planned[0]["counts"]["I"] == 4
    first = source.load()
    assert changes(first) == (4, 0, 0)
    assert first["input"].startswith(f"all rows of {source.table} as of ")
    source.check()
    seen = ("show", "--select", f"stg_{source.name}", "--vars", "{business_date: 2024-03-04T00:00}")
    assert "| insert " in source.project.dbt(*seen).output
    # nothing new
    assert source.load()["in"] == 0
    source.check()
    # one load of several commits
    source.run(
        "merge into {t} using (values (1, 'ann', 9.5), (2, 'bob', 2), (5, 'eve', 5) as c(id, name,"
        " amount)) as c on {t}.id = c.id when matched then update set * when not matched then"
        " insert * when not matched by source and {t}.id = 4 then delete",
        "update {t} set name = 'Bob' where id = 2",
        "update {t} set id = id + 100 where id in (2, 3)",
        "delete from {t} where id = 5",
    )
    row = source.load()
    assert changes(row) == (2, 1, 3)
    assert row["input"].startswith(f"changes of {source.table} after ")
    source.check()
    again = source.row()
    # keys that are taken before their rows leave them
    source.run("update {t} set id = case id when 1 then 102 else 1 end where id in (1, 102)")
    assert changes(source.load()) == (0, 2, 0)
    source.check()
    # a rerun reads what it read, and the next load all that came since
    before = source.row()
    source.run("insert into {t} values (7, 'gus', 7)")
    rerun = source.load(source.last)
    assert rerun["feed"] == before["feed"]
    assert rerun["load_id"] != before["load_id"]
    assert changes(source.load()) == (1, 0, 0)
    source.check()
    # the same rows in other files
    source.compact()
    row = source.load()
    assert (row["in"], changes(row)) == (0, (0, 0, 0))
    assert row["input"].startswith("changes of ")
    source.check()
    # what is undone is read again
    source.run("update {t} set name = 'Gus' where id = 7")
    assert changes(source.load()) == (0, 1, 0)
    assert command("undo", source.name)[0] == 0
    assert changes(source.load()) == (0, 1, 0)
    source.check()
    current = source.project.rows(f"{source.name}_current", NAMES)
    # a replay reads the same, date by date
    versions = source.project.rows(f"{source.name}_versions", f"{NAMES}, eff_start_date")
    source.run("insert into {t} values (8, 'hal', 8)")
    code, said = command(
        "replay", "--from", "2024-03-04T00:00", "--select", source.name, "--publish"
    )
    assert code == 0, said
    assert source.project.rows(f"{source.name}_current", NAMES) == current
    columns = f"{NAMES}, eff_start_date"
    assert source.project.rows(f"{source.name}_versions", columns) == versions
    source.last = "2024-03-04 00:02:00"
    replayed = source.row()
    assert replayed["load_id"] != again["load_id"]
    assert replayed["feed"] == again["feed"]
    source.load()
    source.check()
    tested = source.project.dbt("test", "--select", f"path:models/{source.name}")
    assert tested.success, tested.output


def test_tables_that_go_back(source: Source) -> None:
    """RESTORE is a commit of Delta's; Iceberg takes its snapshots away."""
    source.run("insert into {t} values (1, 'ann', 1), (2, 'bob', 2)")
    source.load()
    source.run("update {t} set name = 'Ann' where id = 1", "insert into {t} values (3, 'cid', 3)")
    source.load()
    source.check()
    if source.format == "delta":
        source.run("restore table {t} to version as of 1")
        assert changes(source.load()) == (0, 1, 1)
    else:
        name = source.table.removeprefix("iceberg.")
        [*_, (first,)] = source.project.query(
            f"select snapshot_id from {source.table}.snapshots order by committed_at desc"
        )
        source.run(f"call iceberg.system.rollback_to_snapshot('{name}', {first})")
        said = source.refused()
        assert "the table was rolled back" in said
        assert f"spark_cdc_load_type: {{{source.name}: full}}" in said
        row = source.load(spark_cdc_load_type="full")
        assert changes(row) == (0, 1, 1)
        assert row["input"].startswith("all rows of ")
    source.check()
    source.run("update {t} set name = 'Bea' where id = 2", "delete from {t} where id = 1")
    assert changes(source.load()) == (0, 1, 1)
    source.check()


def test_what_was_taken_away(source: Source) -> None:
    source.run("insert into {t} values (1, 'ann', 1), (2, 'bob', 2)")
    source.load()
    source.run("delete from {t} where id = 1", "update {t} set name = 'Bob' where id = 2")
    if source.format == "delta":
        source.run("vacuum {t} retain 0 hours")
        wanted = "one is not there any more, as VACUUM of the table leaves it (file:"
    else:
        name = source.table.removeprefix("iceberg.")
        source.run(
            f"call iceberg.system.expire_snapshots(table => '{name}', retain_last => 1,"
            " older_than => timestamp'2100-01-01 00:00:00')"
        )
        wanted = "they were expired, or the table was rolled back, or dropped and made anew"
    before = source.project.rows(f"{source.name}_current", NAMES)
    said = source.refused("2024-03-04 01:00:00")
    assert wanted in said
    assert source.project.rows(f"{source.name}_current", NAMES) == before
    assert source.project.query(
        f"select guard, input from {{s}}.cdc_loads where entity = '{source.name}' and status ="
        " 'refused'"
    ) == [("change_feed", f"the change feed of {source.table}")]
    row = source.load("2024-03-04 01:00:00", spark_cdc_load_type="full")
    assert changes(row) == (0, 1, 1)
    source.check()
    # a rerun of it says so again, and reads the same version
    source.run("insert into {t} values (3, 'cid', 3)")
    again = source.load("2024-03-04 01:00:00", spark_cdc_load_type="full")
    assert again["feed"] == row["feed"]
    assert changes(source.load("2024-03-04 01:01:00")) == (1, 0, 0)
    source.check()


def test_a_table_that_is_made_anew(source: Source) -> None:
    source.run("insert into {t} values (1, 'ann', 1)", "insert into {t} values (2, 'bob', 2)")
    source.load()
    source.run("insert into {t} values (3, 'cid', 3)", "delete from {t} where id = 1")
    source.load()
    source.create()
    source.run("insert into {t} values (2, 'bob', 2), (4, 'dan', 4)")
    assert "dropped and made anew" in source.refused()
    row = source.load(spark_cdc_load_type="full")
    assert changes(row) == (1, 0, 1)
    source.check()
    # its versions come behind those of the former table
    source.run("update {t} set name = 'Dan' where id = 4", "delete from {t} where id = 2")
    assert changes(source.load()) == (0, 1, 1)
    source.check()


def test_columns_of_the_source_that_change(source: Source) -> None:
    source.run("insert into {t} values (1, 'ann', 1)")
    source.load()
    source.run(
        "alter table {t} add columns (town string)", "insert into {t} values (2, 'b', 2, 'Ulm')"
    )
    said = source.refused()
    assert "unexpected: town" in said
    source.columns["town"] = "string"
    source.declare()
    assert changes(source.load()) == (1, 0, 0)
    source.check()
    source.columns["amount"] = "decimal(4,2)"
    source.declare()
    source.run("insert into {t} values (3, 'c', 3, 'Ulm')")
    assert "amount is decimal(10,2), declared decimal(4,2)" in source.refused()


def test_archive_and_compaction(source: Source, command: Command) -> None:
    """A replay from the archive, and one of loads that compact has merged, know what was read."""
    source.settings["events"] = {"archive": True}
    source.declare()
    source.run("insert into {t} values (1, 'ann', 1)")
    source.load()
    for name in ("Anna", "Anne", "Ann"):
        source.run(f"update {{t}} set name = '{name}' where id = 1")
        source.load()
    before = source.row()
    versions = source.project.rows(f"{source.name}_versions", f"{NAMES}, eff_start_date")
    start = ("replay", "--from", "2024-03-04T00:01", "--select", source.name, "--publish")
    code, said = command(*start, "--source", "archive")
    assert code == 0, said
    assert source.row()["feed"] == before["feed"]
    assert source.project.rows(f"{source.name}_versions", f"{NAMES}, eff_start_date") == versions
    source.run("insert into {t} values (2, 'bob', 2)")
    assert changes(source.load()) == (1, 0, 0)
    source.load()
    what = {"entities": [source.name], "execute": True}
    for macro, more in [
        ("compact", {"older_than_days": 0}),
        ("vacuum", {"retention_hours": 0, "force": True}),
    ]:
        done = source.project.operate(macro, **what, **more)
        assert done.success, done.output
    assert source.project.query(
        f"select distinct input from {{s}}.cdc_loads where entity = '{source.name}' and load_id"
        " rlike '-hc?-'"
    ) == [(f"the change feed of {source.table}",)]
    code, said = command(
        "replay", "--from", "2024-03-04T00:00", "--select", source.name, "--publish"
    )
    assert code == 0, said
    assert (
        source.project.rows(f"{source.name}_versions", f"{NAMES}, eff_start_date")[:4] == versions
    )
    source.check()


def test_outstanding(source: Source, command: Command) -> None:
    """A date is due when the table has gone on."""
    words = ("load", "--select", f"path:models/{source.name}")
    source.run("insert into {t} values (1, 'ann', 1)")
    code, said = command(*words)
    assert code == 0, said
    source.check()
    code, said = command(*words)
    assert code == 3, said
    source.run("insert into {t} values (2, 'bob', 2)")
    code, said = command(*words)
    assert code == 0, said
    source.check()
    source.run("drop table {t}")
    code, said = command(*words)
    assert code == 4, said
    assert "TABLE_OR_VIEW_NOT_FOUND" in said


def test_delta_without_a_feed(project: Project) -> None:
    source = Source(project, "delta", "switched")
    source.run("alter table {t} set tblproperties (delta.enableChangeDataFeed = false)")
    source.run("insert into {t} values (1, 'ann', 1)")
    said = source.refused()
    assert "keeps no change feed. Switch it on: alter table source.switched set tblprop" in said
    source.run("alter table {t} set tblproperties (delta.enableChangeDataFeed = true)")
    assert changes(source.load()) == (1, 0, 0)
    # off for a while
    source.run("alter table {t} set tblproperties (delta.enableChangeDataFeed = false)")
    source.run("insert into {t} values (2, 'bob', 2)")
    source.run("alter table {t} set tblproperties (delta.enableChangeDataFeed = true)")
    said = source.refused()
    assert "[DELTA_MISSING_CHANGE_DATA]" in said
    assert "spark_cdc_load_type: {" in said
    assert changes(source.load(spark_cdc_load_type="full")) == (1, 0, 0)
    source.check()


def test_delta_is_read_again_or_written_down(project: Project) -> None:
    """Rows of the declared types are not written into <entity>_events; others are."""
    source = Source(project, "delta", "typed")
    source.run("insert into {t} values (1, 'ann', 1)")
    assert source.record(source.load()["load_id"])["read_again"]
    source.columns["id"] = {"data_type": "decimal(20,0)", "role": "key"}
    source.name = "cast"
    source.declare()
    source.run("insert into {t} values (2, 'bob', 2)")
    assert "read_again" not in source.record(source.load("2024-03-04 02:00:00")["load_id"])
    assert source.project.query("select count(*) from {s}.cast_events") == [(2,)]
    source.check()


def test_two_rows_of_one_key_in_a_commit(source: Source) -> None:
    source.run("insert into {t} values (1, 'ann', 1)")
    source.load()
    source.run("insert into {t} values (2, 'bob', 2), (2, 'bea', 2)")
    said = source.refused()
    assert "different events of one key have the position" in said
    assert '"name":"bea"' in said
    source.run("delete from {t} where name = 'bea'")
    source.load(spark_cdc_load_type="full")
    source.check()


def test_iceberg_row_level_deletes(project: Project) -> None:
    source = Source(project, "iceberg", "deleted")
    source.declare()
    source.run("insert into {t} values (1, 'ann', 1), (2, 'bob', 2)")
    source.load()
    source.run(
        "alter table {t} set tblproperties ('format-version' = '2',"
        " 'write.delete.mode' = 'merge-on-read')",
        "insert into {t} values (4, 'dan', 4), (5, 'eve', 5), (6, 'fay', 6), (7, 'gus', 7)",
        "delete from {t} where id = 4",
    )
    said = source.refused()
    assert "Delete files are currently not supported in changelog scans" in said
    source.load(spark_cdc_load_type="full")
    source.check()


def test_tables_of_another_format(project: Project) -> None:
    source = Source(project, "delta", "mistaken")
    source.run("insert into {t} values (1, 'ann', 1)")
    project.query("create or replace view source.seen as select * from source.mistaken")
    project.query(f"create table if not exists source.plain ({TYPES}) using parquet")
    for table, said in [
        ("source.plain", "is not a Delta table"),
        ("source.seen", "can not be read as a table of Delta"),
        ("source.gone", "the table source.gone is not there"),
        ("iceberg.source.gone", "the table iceberg.source.gone is not there"),
    ]:
        source.declare(table=table)
        assert said in source.refused(), table
    source.format = "iceberg"
    source.declare(table="source.plain")
    assert "source.plain can not be read as a table of Iceberg" in source.refused()
