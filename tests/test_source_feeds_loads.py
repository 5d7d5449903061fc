"""Loads from the change feed of a Delta or Iceberg table: whatever is done to the source."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from conftest import SERVER
from project import Project
from spark_cdc import server as local_server

pytestmark = pytest.mark.full
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
    state = tmp_path_factory.mktemp("formats")
    chosen = local_server.settings(
        state, port="0", memory="2g", conf=SERVER, timeout="600", formats=["delta,iceberg"]
    )
    try:
        port = local_server.start(chosen).port
        connection = local_server.connect(port)
        made = Project(tmp_path_factory.mktemp("lake"), port, "lake", connection.cursor())
        for schema in ("lake", "source", "iceberg.source"):
            made.query(f"create database if not exists {schema}")
        made.query("set spark.databricks.delta.retentionDurationCheck.enabled = false")
        yield made
        connection.close()
    finally:
        local_server.stop(state)


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
            f"select note from {{s}}.{self.name}_ledger where load_id = '{load_id}'"
            " and operation = 'L'"
        )
        found: dict[str, Any] = json.loads(note)
        return found

    def check(self) -> None:
        """What is current is what the table holds."""
        names = ", ".join(self.columns)
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
    code, said = command("plan", "2024-03-04T00:00", "--select", source.name, "--output", "json")
    assert code == 0, said
    assert json.loads(said)[0]["counts"]["I"] == 4
    first = source.load()
    assert changes(first) == (4, 0, 0)
    assert first["input"].startswith(f"all rows of {source.table} as of ")
    source.check()
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
    # the same files otherwise
    source.compact()
    assert changes(source.load()) == (0, 0, 0)
    source.check()
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
    # rows that are not accepted stop the load; then it reads the same
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
