"""Published tables: they follow the entity whatever happens to it, and whatever kills their runs.

Parquet with the test server; Delta and Iceberg (`make test-all`) with servers of their own.
"""

from __future__ import annotations

import datetime
import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import SERVER
from faults.proxy import Proxy, Trap
from project import Project
from spark_cdc.jinja_bridge import load_macros
from spark_cdc.server import local as local_server
from test_changes import COLUMNS, DAYS, ENTITY, IMAGE, STORY, Consumer, Rows, current

pytestmark = pytest.mark.proves("publish")

SCHEMAS = ("shop", "shop_commits", "shop_sensitive")
TABLE = "orders_table"
MODEL = "{{{{ spark_cdc.publish('orders', '{}') }}}}\n"
REGIONS = {**COLUMNS, "region": {"data_type": "string", "default": "EU"}}
Command = Callable[..., tuple[int, str]]


def full(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.full)


@pytest.fixture(scope="module", params=["parquet", full("orc"), full("delta"), full("iceberg")])
def table_format(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def project(
    table_format: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """An entity with a published table, on a server with its format."""
    state = tmp_path_factory.mktemp(table_format)
    if table_format in ("delta", "iceberg"):
        conf = (SERVER[0], "spark.sql.shuffle.partitions=2")
        chosen = local_server.settings(
            state, port="0", memory="1500m", formats=[table_format], conf=conf
        )
        port = local_server.start(chosen).port
    else:
        port = request.getfixturevalue("server").port
    connection = local_server.connect(port)
    cursor = connection.cursor()
    for name in SCHEMAS:
        cursor.execute(f"drop database if exists {name} cascade")
    cursor.execute("create database shop")
    made = Project(tmp_path_factory.mktemp("shop"), port, "shop", cursor)
    made.profile(port="{{ env_var('PUBLISH_PORT', '" + str(port) + "') | as_number }}")
    describe(made, COLUMNS)
    (made.folder / "models" / "published").mkdir()
    model = made.folder / "models" / "published" / f"{TABLE}.sql"
    model.write_text(MODEL.format(table_format), "utf-8")
    try:
        yield made
    finally:
        for name in SCHEMAS:
            cursor.execute(f"drop database if exists {name} cascade")
        connection.close()
        local_server.stop(state)


def describe(project: Project, columns: dict[str, Any]) -> None:
    source = {"on_unexpected_column": "ignore"}
    project.entity(ENTITY, columns, checkpoint={"changed_share": 100, "loads": 3}, source=source)
    model = project.folder / "models" / ENTITY / f"{ENTITY}_changes.sql"
    model.write_text("{{ spark_cdc.changes() }}\n", "utf-8")


def add_table(project: Project, name: str, table_format: str) -> None:
    """Writes the models by which another entity is published, as <name>_table."""
    folder = project.folder / "models" / name
    (folder / f"{name}_changes.sql").write_text("{{ spark_cdc.changes() }}\n", "utf-8")
    model = MODEL.format(table_format).replace("orders", name)
    (folder / f"{name}_table.sql").write_text(model, "utf-8")


def publish(project: Project, *words: str) -> str:
    """Brings the table up to date; returns what became of it, and what dbt said."""
    outcome = project.dbt("run", "--select", "path:models/published", *words)
    assert outcome.success, outcome.output
    project.query(f"refresh table {{s}}.{ENTITY}_ledger")  # its columns may be others by now
    assert project.rows(TABLE, IMAGE) == current(project)
    found = re.search(rf"OK created .*{TABLE} \.* \[(\w+)", outcome.output)
    assert found, outcome.output
    return f"{found[1]}\n{outcome.output}"


def check_feed(project: Project) -> None:
    """Delta's own feed of the table tells each change once, and leads to what is there."""
    what = f"select _commit_version, 'any', _change_type, {IMAGE}"
    consumer = Consumer()
    changes = project.query(f"{what} from table_changes('{{s}}.{TABLE}', 0)")
    consumer.take(changes, -1, 10**6)
    assert sorted(consumer.rows.values(), key=repr) == current(project)


def load(project: Project, day: int, rows: Rows | None = None, *names: str) -> None:
    land_in(project, DAYS[day], STORY[day] if rows is None else rows)
    project.load(DAYS[day], ENTITY, *names)


def land_in(project: Project, day: str, rows: Rows) -> None:
    """Puts rows with a region where they land."""
    lines = [f"{key},{','.join(map(str, row))},EU" for key, row in rows.items()]
    project.land(ENTITY, day, ",".join(REGIONS), *lines)


def load_next(project: Project) -> None:
    """A load of the day after the last one, with rows that change, come and go; or a first one."""
    if not project.query(f"show tables in {{s}} like '{ENTITY}_ledger'"):
        load(project, 0)
        return
    project.query(f"refresh table {{s}}.{ENTITY}_ledger")
    last = project.query(f"select max(business_date) from {{s}}.{ENTITY}_committed")[0][0]
    day = str(datetime.date.fromisoformat(str(last)) + datetime.timedelta(days=1))
    number = int(day[-2:])
    rows: Rows = {1: ("ann", number, "10.00"), 20: ("bob", 2, "5.00"), number: ("x", 1, "1.00")}
    land_in(project, day, rows)
    project.load(day, ENTITY)


def test_the_table_follows_the_entity(
    project: Project, command: Command, table_format: str
) -> None:
    def operate(*words: str) -> None:
        code, said = command(*words)
        assert code == 0, said

    load(project, 0, None, "published")
    assert project.rows(TABLE, IMAGE) == current(project)
    load(project, 1, None, "published")
    assert project.rows(TABLE, IMAGE) == current(project)
    assert publish(project).startswith("UNCHANGED")

    operate("undo", ENTITY)
    assert publish(project).startswith("OK")
    load(project, 1, {1: ("ann", 1, "10.00"), 7: ("gus", 1, "4.00")})
    load(project, 2)
    said = publish(project)  # both at once
    assert said.startswith("OK")
    assert "compared with all rows" not in said

    # what came in between is told from what was kept of it, until that is gone
    operate("undo", ENTITY, "--to", DAYS[0])
    operate("vacuum", "--retention", "0", "--force")
    said = publish(project)
    assert "what changed since version 5 can't be told any more (commit 6 took loads" in said
    assert publish(project).startswith("UNCHANGED")

    # a column more: of all rows, with what the definition says of those before
    describe(project, REGIONS)
    load(project, 1)
    assert "has other columns than when it was written" in publish(project)
    assert {row[0] for row in project.rows(TABLE, "region")} == {"EU"}
    if table_format == "delta":
        check_feed(project)


KILLS = [
    pytest.param("insert overwrite|merge into", "during", marks=pytest.mark.integration),
    pytest.param("alter view|merge into", "after", marks=pytest.mark.full),
    pytest.param("alter view|merge into", "before", marks=pytest.mark.full),
    pytest.param(r"create table .*_v\d|set `", "after", marks=pytest.mark.full),
    pytest.param("insert overwrite|reset `", "after", marks=pytest.mark.full),
]


@pytest.mark.parametrize(("statement", "phase"), KILLS)
def test_a_run_is_killed(
    project: Project, monkeypatch: pytest.MonkeyPatch, table_format: str, statement: str, phase: str
) -> None:
    """The next run puts it right, also while the statement goes on; a feed tells nothing twice."""
    load_next(project)
    publish(project)
    load_next(project)
    trap = Trap(lambda one: re.search(statement, one.sql) is not None, phase)
    proxy = Proxy(project.port, [trap])
    ended = threading.Event()

    def cut() -> None:
        while not trap.reached.wait(0.1) and not ended.is_set():
            pass
        proxy.cut(keep_server=phase == "during")

    thread = threading.Thread(target=cut)
    thread.start()
    with monkeypatch.context() as environment:
        environment.setenv("PUBLISH_PORT", str(proxy.port))
        outcome = project.dbt("run", "--select", "path:models/published")
    ended.set()
    thread.join()
    proxy.close()
    assert trap.statement, outcome.output
    assert not outcome.success
    if phase == "during" and table_format in ("delta", "iceberg"):
        # the merge may still run: what would conflict with it is refused, and the next run goes on
        beside = project.dbt("run", "--select", "path:models/published")
        assert beside.success or re.search("(?i)conflict|concurrent", beside.output), beside.output
    said = publish(project)
    assert "compared with all rows" not in said
    if phase == "after" and "merge" in statement and table_format in ("delta", "iceberg"):
        assert said.startswith("UNCHANGED")
    load_next(project)
    publish(project)
    if table_format == "delta":
        check_feed(project)
    elif table_format != "iceberg":
        tables = project.query(f"show tables in {{s}} like '{TABLE}_v*'")
        assert len(tables) <= 3


@pytest.mark.full
def test_the_table_follows_operations(
    project: Project, command: Command, table_format: str
) -> None:
    """What takes longer: replay, compact, other types, an entity that is made anew."""

    def operate(*words: str) -> None:
        code, said = command(*words)
        assert code == 0, said

    describe(project, COLUMNS)
    start_anew(project)
    for day in (0, 1, 2):
        load(project, day)
        said = publish(project)
    assert "compared with all rows" not in said
    land_in(project, DAYS[1], {1: ("ann", 8, "10.00"), 3: ("cid", 1, "1.00")})
    operate("replay", "--from", DAYS[1], "--select", ENTITY, "--publish")
    assert "compared with all rows" not in publish(project)
    operate("undo", ENTITY)
    operate("redo", ENTITY)
    publish(project)
    operate("compact", "--older-than", "0")
    assert publish(project).startswith("UNCHANGED")
    load(project, 3)
    assert "compared with all rows" not in publish(project)
    operate("undo", ENTITY, "--to", DAYS[2])
    load(project, 3)
    assert "compared with all rows" not in publish(project)
    assert "compared with all rows: --full-refresh" in publish(project, "--full-refresh")

    # a type that is wider
    describe(project, COLUMNS | {"quantity": "bigint"})
    load(project, 4)
    said = publish(project)
    assert "has other columns than when it was written" in said
    assert ("quantity is bigint now, and int in" in said) == (table_format in ("delta", "iceberg"))
    types = {row[0]: row[1] for row in project.query(f"describe {{s}}.{TABLE}")}
    assert types["quantity"] == "bigint"
    describe(project, COLUMNS)
    start_anew(project)
    for day in (0, 1, 3):
        load(project, day)
    assert "the entity was made anew since" in publish(project)
    for day in (4, 5):  # as many commits as the table knows of the entity before, and more
        load(project, day, STORY[day % 5])
        assert "compared with all rows" not in publish(project)


def start_anew(project: Project) -> None:
    """Drops the entity, but not its published table."""
    for view in ("committed", "current", "history", "versions", "changes"):
        project.query(f"drop view if exists {{s}}.{ENTITY}_{view}")
    project.query(f"drop table if exists {{s}}.{ENTITY}_ledger purge")
    project.query("drop database if exists {s}_commits cascade")


@pytest.mark.full
def test_others_write_into_the_table(project: Project, table_format: str) -> None:
    if table_format not in ("delta", "iceberg"):
        pytest.skip("nobody writes into a view")
    load(project, 5, STORY[0])
    publish(project)
    project.query(f"alter table {{s}}.{TABLE} set tblproperties ('contact' = 'ann')")
    if table_format == "delta":
        project.query(f"optimize {{s}}.{TABLE}")
    load(project, 6, STORY[1])
    assert "compared with all rows" not in publish(project)
    project.query(f"delete from {{s}}.{TABLE} where id = 1")
    load(project, 7, STORY[2])
    assert "somebody else has written into it" in publish(project)
    load(project, 8, STORY[3])
    assert "compared with all rows" not in publish(project)


@pytest.mark.integration
def test_what_is_refused(project: Project, table_format: str) -> None:
    """Each with what was found and what to do, before anything is written."""
    lacking = "delta" if table_format != "delta" else "iceberg"
    refused = {
        "a_format": ("csv", "the format is 'csv'; accepted are parquet, orc, delta, iceberg"),
        "a_lack": (lacking, f"the server does not know {lacking}"),
        "a_table": (table_format, "was made by somebody else. Give the model another name"),
    }
    folder = project.folder / "models" / "refused"
    folder.mkdir()
    for name, (given, _) in refused.items():
        (folder / f"{name}.sql").write_text(MODEL.format(given), "utf-8")
    project.query("create table {s}.a_table using parquet as select 1 as id")
    outcome = project.dbt("run", "--select", "path:models/refused")
    assert {outcome.status[name] for name in refused} == {"error"}
    said = " ".join(outcome.output.split())
    for name, (_, message) in refused.items():
        assert f"spark_cdc.publish: orders as shop.{name}: " in said
        assert message in said
    assert project.query("select * from {s}.a_table") == [(1,)]
    tables = {row[1] for row in project.query("show tables in {s} like 'a_*'")}
    assert tables == {"a_table"}
    for name in refused:
        (folder / f"{name}.sql").unlink()


@pytest.mark.integration
def test_an_entity_that_is_not_loaded(project: Project, table_format: str) -> None:
    project.entity("late", COLUMNS)
    add_table(project, "late", table_format)
    outcome = project.dbt("run", "--select", "late_table")
    assert not outcome.success
    assert "Nothing was written. Load it first: dbt run --select tag:spark_cdc.late" in (
        " ".join(outcome.output.split())
    )


@pytest.mark.full
def test_the_start_of_versions_gets_another_name(project: Project, table_format: str) -> None:
    """`validity` names it in a table that is there, in all rows at once, and in later ones."""
    columns = {"id": {"data_type": "int", "role": "key"}, "value": "string"}

    def published(**settings: Any) -> None:
        project.entity("named", columns, **settings)
        add_table(project, "named", table_format)
        outcome = project.dbt("run", "--select", "named_table")
        assert outcome.success, outcome.output

    project.entity("named", columns)
    project.land("named", DAYS[0], "id,value", "1,a", "2,b")
    project.load(DAYS[0], "named")
    published()
    published(validity={"start": "valid_from"})
    shown = "id, value, string(valid_from)"
    assert project.rows("named_table", shown) == [(1, "a", DAYS[0]), (2, "b", DAYS[0])]
    project.land("named", DAYS[1], "id,value", "1,A", "2,b")
    project.load(DAYS[1], "named")
    published(validity={"start": "valid_from"})
    assert project.rows("named_table", shown) == [(1, "A", DAYS[1]), (2, "b", DAYS[0])]


@pytest.mark.full
def test_sensitive_columns(
    project: Project, command: Command, table_format: str, tmp_path: Path
) -> None:
    """The table has masks and tokens; erased keys and a new secret come with all rows."""

    def publish_guests(*words: str) -> list[tuple[Any, ...]]:
        outcome = project.dbt("run", "--select", "guests_table", *words)
        assert outcome.success, outcome.output
        table = sorted(project.rows("guests_table", shown), key=repr)
        assert table == sorted(project.rows("guests_current", shown), key=repr)
        return table

    shown = "mail, phone, city, cast(eff_start_date as string)"
    code, said = command("secrets", "init")
    assert code == 0, said
    mail = {"data_type": "string", "role": "key", "sensitive": True, "pseudonymize": True}
    phone = {"data_type": "string", "sensitive": True, "mask": "last_4"}
    for name, key in (("guests", mail), ("hosts", mail | {"pseudonymize": False})):
        project.entity(name, {"mail": key, "phone": phone, "city": "string"})
        add_table(project, name, table_format)
    people = {name: f"{name}@a.example,0441555{number}" for number, name in enumerate("abc")}
    for day, cities in enumerate(({"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 1}, {"a": 2, "b": 3})):
        lines = [f"{people[one]}{day % 2}1234,Bern {city}" for one, city in cities.items()]
        project.land("guests", DAYS[day], "mail,phone,city", *lines)
        loaded = project.run(DAYS[day], "guests", spark_cdc_skip_guards=["deleted_share"])
        assert loaded.success, loaded.output
        assert {row[1:3] for row in publish_guests()} == {
            ("1234", f"Bern {city}") for city in cities.values()
        }
    file = tmp_path / "keys.csv"
    file.write_text("mail\nb@a.example\n", "utf-8")
    before = publish_guests()
    code, said = command("erase", "guests", "--keys", str(file))
    assert code == 0 and "\n  dbt run --full-refresh --select guests_table\n" in said, said
    after = publish_guests("--full-refresh")
    assert [row for row in after if row[2] == "Bern 2"] == [
        row for row in before if row[2] == "Bern 2"
    ]
    [gone] = [row for row in after if row[2] == "Bern 3"]
    assert gone[1] is None and gone not in before
    if table_format in ("parquet", "orc"):  # no table with what was there before is left
        assert len(project.query("show tables in {s} like 'guests_table_v*'")) == 1

    for one in (
        ("secrets", "rotate", "--force"),
        ("replay", "--from", DAYS[0], "--select", "guests", "--publish"),
    ):
        code, said = command(*one)
        assert code == 0, said
    assert [row[1:] for row in publish_guests()] == sorted((row[1:] for row in after), key=repr)

    project.land("hosts", DAYS[0], "mail,phone,city", f"{people['a']}11234,Bern")
    loaded = project.run(DAYS[0], "hosts")
    message = "its key is sensitive (mail), and by masks"
    is_refused = message in " ".join(loaded.output.split())
    assert is_refused == (not loaded.success) == (table_format in ("delta", "iceberg")), (
        loaded.output
    )


RECORD = {"version": 3, "commit": "0a935ca6", "load_id": "20240301-f-00000003", "columns": "c"}
OURS = f"spark_cdc published: {json.dumps(RECORD)}"
DELTA = [  # operations and metadata of a table's commits, the newest first; whether ours counts
    ([("MERGE", OURS), ("MERGE", None)], True),
    ([("OPTIMIZE", None), ("SET TBLPROPERTIES", None), ("MERGE", OURS)], True),
    ([("DELETE", None), ("MERGE", OURS)], False),
    ([("RESTORE", None), ("MERGE", OURS)], False),
    ([("WRITE", "somebody's own")], False),
    ([], False),
]


@pytest.mark.parametrize(("commits", "counts"), DELTA)
def test_the_version_stands_in_the_newest_commit(
    commits: list[tuple[str, str | None]], counts: bool
) -> None:
    names = {"operation": "operation", "userMetadata": "userMetadata"}
    rows = [dict(zip(names, commit, strict=True)) for commit in commits]
    macros = load_macros(run_query=lambda sql: SimpleNamespace(rows=rows))
    assert macros._target_record("cdc.orders_table", "delta") == (RECORD if counts else None)
    snapshots = [
        {"operation": "replace" if what == "OPTIMIZE" else "overwrite", "record": record}
        for what, record in commits
        if what != "SET TBLPROPERTIES"
    ]
    macros = load_macros(run_query=lambda sql: SimpleNamespace(rows=snapshots))
    assert macros._target_record("cdc.orders_table", "iceberg") == (RECORD if counts else None)


LOADS = ["20240301-fc-00000001", "20240302-f-00000002", "20240303-f-00000003"]
HEAD = {
    "loads": LOADS,
    "sequence": 3,
    "definition": "d",
    "entries": [{"load_id": load, "commit": at} for at, load in enumerate(LOADS, start=1)],
    "rewritten": 0,
    "times": {},
}
TOLD = {"version": 2, "load_id": LOADS[1], "columns": "c"}
REASONS = [
    (HEAD, TOLD, {}, 2),
    (HEAD, None, {}, "somebody else has written into it"),
    (HEAD, TOLD | {"version": 4}, {}, "made anew"),
    (HEAD, TOLD | {"load_id": "20240302-f-0000000a"}, {}, "made anew"),
    (HEAD, TOLD | {"columns": "b"}, {}, "other columns than when it was written"),
    (HEAD | {"rewritten": 3}, TOLD, {}, "since version 2 can't be told"),
    (HEAD | {"rewritten": 3}, TOLD, {2: HEAD}, 2),
    (
        HEAD | {"rewritten": 3},
        TOLD,
        {2: HEAD | {"definition": "b"}},
        "replaced by some with other columns",
    ),
]


@pytest.mark.parametrize(("head", "record", "kept", "wanted"), REASONS)
def test_from_which_version(
    head: dict[str, Any], record: Any, kept: dict[int, Any], wanted: str | int
) -> None:
    """The changes since it, or a comparison with all rows, and why."""
    macros = load_macros(
        should_full_refresh=lambda: False,
        _retained_versions=lambda ctx: kept,
        _load_records=lambda ledger, loads: {
            load: {"version": loads.index(load) + 1} for load in loads
        },
    )
    target = {"ctx": {"ledger": "l"}, "entity": {"name": ENTITY}}
    since = macros._target_since(target, head, record, "c")
    if isinstance(wanted, int):
        assert since == {"version": wanted}
    else:
        assert since["version"] is None
        assert wanted in since["why"]
