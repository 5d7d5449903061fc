"""`archive_input`: loads of a table as it is now keep their input, so that they can be replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from project import Project
from spark_cdc.jinja_bridge import CompilerError, Node, load_macros
from warehouse import Telling, Warehouse, described

pytestmark = [pytest.mark.proves("replay")]

COLUMNS = {"id": {"data_type": "int", "role": "key"}, "value": "string"}
DAYS = ("2024-03-01", "2024-03-02", "2024-03-03")


Shop = Callable[..., Telling]


@pytest.fixture
def shop(cursor: Any, schema: str, tmp_path: Any) -> Shop:
    """Makes the entity `rows` over the table `<schema>.rows_now`, which `fill` replaces."""
    cursor.execute(f"drop table if exists {schema}.rows_kept_input purge")
    cursor.execute(f"drop view if exists {schema}.rows_replay")

    def make(columns: dict[str, Any] = COLUMNS, **settings: Any) -> Telling:
        node = described("rows", columns, **whole(**settings))
        warehouse = Telling(cursor, schema, tmp_path, node)
        warehouse.replace("_landing_source", lambda macro, entity: f"{schema}.rows_now")
        # by a hash, which differs from attempt to attempt here
        warehouse.replace("_draft_origin", lambda macro, loads: [len(loads), ",".join(loads)])
        return warehouse

    return make


def whole(**settings: Any) -> dict[str, Any]:
    return {"source": {"format": "table"}, "archive_input": True, **settings}


def fill(warehouse: Warehouse, query: str) -> None:
    warehouse.cursor.execute(f"drop table if exists {warehouse.schema}.rows_now")
    warehouse.cursor.execute(f"create table {warehouse.schema}.rows_now using parquet as {query}")


def define(warehouse: Warehouse, columns: dict[str, Any], **settings: Any) -> None:
    """Changes the YAML for the loads that follow."""
    warehouse.node.clear()
    warehouse.node.update(described("rows", columns, **whole(**settings)))


def replayed(warehouse: Warehouse, *days: str) -> None:
    warehouse.variables["spark_cdc_replay"] = {"from": days[0]}
    try:
        for day in days:
            warehouse.load(day)
    finally:
        del warehouse.variables["spark_cdc_replay"]


def rows(warehouse: Warehouse, relation: str, columns: str = "*") -> list[tuple[Any, ...]]:
    """The history in a manifest: `committed`, or `replay` of a draft."""
    warehouse._begin()
    relation = f"{warehouse.schema}.rows_{relation}"
    sql = warehouse.macros._history_sql(warehouse.macros._entity("rows"), relation)
    warehouse.cursor.execute(f"select {columns} from ({sql}) order by all")
    return [tuple(row) for row in warehouse.cursor.fetchall()]


TYPES = {
    "id": {"data_type": "int", "role": "key"},
    "amount": "decimal(18,2)",
    "at": "timestamp",
    "day": "date",
    "bytes": "binary",
    "tags": "array<string>",
    "sizes": "struct<a:int,b:string>",
    "rate": "double",
    "code": "string",
    "nothing": "string",
    "seen": {"data_type": "int", "role": "untracked"},
}


def typed(key: int, change: int = 0) -> str:
    return (
        f"select {key} as id, cast({key + change}.25 as decimal(18,2)) as amount,"
        f" timestamp'2024-03-01 10:00:00.123456' as at, date'1900-02-0{key}' as day,"
        f" X'00FF0{key}' as bytes, array('a', null, '') as tags,"
        f" named_struct('a', {change}, 'b', ' x ') as sizes, double('NaN') as rate,"
        f" cast('c{key}' as char(5)) as code, cast(null as string) as nothing, {change} as seen"
    )


def test_a_replay_reads_what_was_kept(shop: Shop) -> None:
    """All dates give the same ledger, whatever the table has by now, and the draft keeps it too."""
    warehouse = shop(TYPES)
    days = {
        DAYS[0]: f"{typed(1)} union all {typed(2)}",
        DAYS[1]: f"{typed(1, 3)} union all {typed(3)}",
        DAYS[2]: typed(3, 1),
    }
    for day, query in days.items():
        fill(warehouse, query)
        warehouse.load(day)
    known = list(map(str, rows(warehouse, "committed")))
    assert len(known) == 7
    warehouse.cursor.execute(f"drop table {warehouse.schema}.rows_now")
    for _ in range(2):
        replayed(warehouse, *DAYS)
        assert list(map(str, rows(warehouse, "replay"))) == known
    warehouse.cursor.execute(
        f"select business_date, count(distinct load_id), count(kept), count(*) - count(kept)"
        f" from {warehouse.schema}.rows_kept_input group by all order by all"
    )
    assert [tuple(map(str, row)) for row in warehouse.cursor.fetchall()] == [
        (DAYS[0], "3", "3", "6"),
        (DAYS[1], "3", "3", "6"),
        (DAYS[2], "3", "3", "3"),
    ]


def test_columns_that_change(shop: Shop) -> None:
    """A type, a name and a column of the source; the past is read under today's definition."""
    ignored = {"source": {"format": "table", "on_unexpected_column": "ignore"}}
    key = {"data_type": "bigint", "role": "key"}
    warehouse = shop({"id": key, "value": "bigint"}, **ignored)
    fill(warehouse, "select 1 as id, smallint(7) as value, 'x' as note")
    warehouse.load(DAYS[0])
    fill(warehouse, "select bigint(1) as id, 8 as VALUE, 'y' as note")
    warehouse.load(DAYS[1])
    amount = {"data_type": "bigint", "renamed_from": "value"}
    missing = {"source": {"format": "table", "on_missing_column": "null"}}
    define(warehouse, {"id": key, "amount": amount, "note": "string"}, **missing)
    fill(warehouse, "select bigint(1) as id, bigint(9) as amount, 'z' as note")
    warehouse.load(DAYS[2])
    replayed(warehouse, *DAYS)
    shown = rows(warehouse, "replay", "eff_start_date, operation, amount, note")
    assert [(str(day), *more) for day, *more in shown] == [
        (DAYS[0], "I", 7, None),  # what was not declared was not kept
        (DAYS[1], "U", 8, None),
        (DAYS[2], "U", 9, "z"),
    ]
    warehouse.cursor.execute(f"describe {warehouse.schema}.rows_kept_input")
    names = {row[0] for row in warehouse.cursor.fetchall()}
    kept = {"value__smallint", "value__int", "amount__bigint", "id__int", "id__bigint"}
    assert kept | {"note__string", "kept", "business_date", "load_id"} <= names
    assert not {"note__int", "value", "amount"} & names


def test_what_was_rejected_is_accepted_by_a_definition_that_is_right(shop: Shop) -> None:
    needed = COLUMNS | {"value": {"data_type": "string", "nullable": False}}
    warehouse = shop(needed, on_reject="quarantine", guards={"rejected_share": None})
    fill(warehouse, "select * from values (1, 'a'), (2, null), (3, 'c') as t (id, value)")
    warehouse.load(DAYS[0])
    assert warehouse.audit["counts"]["R"] == 1
    define(warehouse, COLUMNS)
    fill(warehouse, "select 4 as id, 'd' as value")
    replayed(warehouse, DAYS[0])
    assert rows(warehouse, "replay", "id, value") == [(1, "a"), (2, None), (3, "c")]


def test_a_date_again_reads_what_was_kept(shop: Shop) -> None:
    warehouse = shop({"value": "string"}, keyless=True)
    fill(warehouse, "select explode(array('a', 'a', 'b')) as value")
    first = warehouse.load(DAYS[0])
    fill(warehouse, "select 'c' as value")
    again = warehouse.load(DAYS[0])
    assert again["counts"] == first["counts"] and first["counts"]["I"] == 3
    assert rows(warehouse, "committed", "value") == [("a",), ("a",), ("b",)]
    assert warehouse.load(DAYS[1])["counts"]["D"] == 3
    told = [text for text in warehouse.said if "reads the input that was kept of it" in text]
    assert len(told) == 1


def test_an_empty_input_is_kept(shop: Shop) -> None:
    warehouse = shop(guards={"empty": None, "deleted_share": None})
    fill(warehouse, "select 1 as id, 'a' as value")
    warehouse.load(DAYS[0])
    fill(warehouse, "select 1 as id, 'a' as value where false")
    warehouse.load(DAYS[1])
    fill(warehouse, "select 1 as id, 'a' as value")
    replayed(warehouse, *DAYS[:2])
    assert rows(warehouse, "replay") == rows(warehouse, "committed")
    assert len(rows(warehouse, "replay")) == 2


def test_what_was_not_kept_is_not_replayed(shop: Shop) -> None:
    warehouse = shop(archive_input=False)
    fill(warehouse, "select 1 as id, 'a' as value")
    warehouse.load(DAYS[0])
    define(warehouse, COLUMNS)
    fill(warehouse, "select 1 as id, 'A' as value union all select 2, 'b'")
    warehouse.load(DAYS[1])
    with pytest.raises(
        CompilerError, match=r"no input of 2024-03-01 was kept.*Nothing was written"
    ):
        replayed(warehouse, *DAYS[:2])
    with pytest.raises(CompilerError, match="2024-03-03 was never loaded"):
        replayed(warehouse, DAYS[2])
    before = rows(warehouse, "committed")
    kept = f"{warehouse.schema}.rows_kept_input"
    warehouse.cursor.execute(f"insert into {kept} select * from {kept} where kept is null limit 1")
    with pytest.raises(CompilerError, match=r"has 3 rows of 20240302-f\w*-\w+, which read 2"):
        replayed(warehouse, DAYS[1])
    assert rows(warehouse, "committed") == before


def problems(columns: dict[str, Any], **settings: Any) -> list[str]:
    macros = load_macros(var={}, graph=Node(nodes={}, sources={}))
    found: list[str] = macros._entity_problems(
        "rows", described("rows", columns, archive_input=True, **settings)
    )
    return found


@pytest.mark.parametrize(
    ("columns", "settings", "told"),
    [
        (
            COLUMNS,
            {"source": {"format": "table", "date_column": "day"}},
            "dates stay in the source",
        ),
        (COLUMNS, {"source": {"path": "/in/{business_date}"}}, "remove it"),
        (
            COLUMNS | {"mail": {"data_type": "string", "sensitive": True}},
            {"source": {"format": "table"}},
            "beyond the reach of erase",
        ),
    ],
)
def test_where_nothing_is_kept(
    columns: dict[str, Any], settings: dict[str, Any], told: str
) -> None:
    assert any(
        "archive_input is true" in one and told in one for one in problems(columns, **settings)
    )
    assert problems(COLUMNS, source={"format": "table"}) == []


def test_what_a_replay_says_without_it() -> None:
    macros = load_macros(var={"business_date": "2024-01-02"})
    settings = {"load_type": "full", "source": {"format": "table"}}
    (found,) = macros._replay_problems({"from": "2024-01-01"}, [("rows", settings)])
    assert "With archive_input: true later loads keep what they read" in found
    kept = [("rows", settings | {"archive_input": True})]
    assert macros._replay_problems({"from": "2024-01-01"}, kept) == []


@pytest.mark.integration
def test_a_model_is_replayed_by_the_command_line(
    project: Project, command: Callable[..., tuple[int, str]]
) -> None:
    """Through dbt: a definition is corrected, the replay published, needless inputs are dropped."""
    project.entity("kept", COLUMNS | {"is_open": "int"}, **whole())
    folder = project.folder / "models"
    (folder / "kept/stg_kept.sql").write_text("{{ spark_cdc.stage(ref('feed')) }}\n", "utf-8")
    days = {DAYS[0]: "1, 'a', 5", DAYS[1]: "1, 'A', 6"}
    for day, row in days.items():
        (folder / "feed.sql").write_text(
            f"select * from values ({row}) as t (id, value, is_open)\n"
        )
        outcome = project.dbt("build", "--vars", f"{{business_date: {day}}}")
        assert outcome.success, outcome.output
    (folder / "feed.sql").write_text("select 9 as id, 'z' as value, 1 as is_open\n")
    outcome = project.dbt("run", "--select", "feed")
    assert outcome.success, outcome.output
    code, said = command("load", DAYS[1], "kept", "--dry-run")
    assert code == 0 and "rows_kept_input" not in said, said
    history = (
        "select id, value, is_open, operation, eff_start_date from {s}.kept_history order by 5"
    )
    known = project.query(history)
    code, said = command("replay", "kept", "--from", DAYS[0], "--publish")
    assert code == 0, said
    assert project.query(history) == known
    assert [row[:4] for row in known] == [(1, "a", 5, "I"), (1, "A", 6, "U")]
    inputs = "select count(distinct load_id) from {s}.kept_kept_input"
    assert project.query(inputs) == [(4,)]
    code, said = command("vacuum", "kept", "--retention", "0", "--force")
    assert code == 0, said
    project.query("refresh table {s}.kept_kept_input")
    assert project.query(inputs) == [(2,)]
    code, said = command("replay", "kept", "--from", DAYS[0])
    assert code == 0, said
    assert "0 differ" in said, said


@pytest.mark.full
def test_a_branch_replays_what_production_kept(
    project: Project, command: Callable[..., tuple[int, str]]
) -> None:
    """Goes on from the test before; what the branch keeps lies in its own table."""
    schema = project.schema
    project.profile(schema=f"{{{{ env_var('SPARK_CDC_SCHEMA', '{schema}') }}}}")
    inputs = "select count(distinct load_id) from {}.kept_kept_input"
    before = project.query(inputs.format(schema))[0][0]
    try:
        for words in (
            ("branch", "create", "kept_pr", "--select", "kept"),
            ("replay", "kept", "--from", DAYS[0], "--branch", "kept_pr", "--publish"),
        ):
            code, said = command(*words)
            assert code == 0, said
        history = "select id, value, is_open, operation from {}.kept_history order by all"
        shown = project.query(history.format("kept_pr"))
        assert shown == project.query(history.format(schema)) and len(shown) == 2
        assert project.query(inputs.format(schema)) == [(before,)]
        assert project.query(inputs.format("kept_pr")) == [(before + 2,)]
        own = "select count(distinct load_id) from kept_pr.kept_kept_input_own"
        assert project.query(own) == [(2,)]
    finally:
        command("branch", "drop", "kept_pr")
        project.profile()
