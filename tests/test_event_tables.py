"""Of which table a change event is: the setting events.table, and loads of several tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import EventWarehouse, column
from spark_cdc.jinja_bridge import CompilerError, load_macros
from test_adapters_columns import described as described_flat
from test_adapters_columns import typed_sql
from test_adapters_messages import COLUMNS, FIXTURES, ROW, described

pytestmark = pytest.mark.proves("change events")
MACROS = load_macros()
LOWER = ("x_orders", "orders")
DAY, NEXT_DAY = "2024-05-01", "2024-05-02"


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "others"),
    [
        (None, []),
        ("orders", ["shop.public.orders_2", "other.people", "x_orders", "ORDERS"]),
        ("public.orders", ["shop.public.orders_2", "other.people", "x_orders", "orders", "ORDERS"]),
        ("orders_*", ["shop.public.orders", "other.people", "x_orders", "orders", "ORDERS"]),
        (
            ["people", "ORDERS"],
            ["shop.public.orders", "shop.public.orders_2", "x_orders", "orders"],
        ),
    ],
)
def test_a_name_matches_with_what_qualifies_it(cursor: Any, wanted: Any, others: list[str]) -> None:
    names = ["shop.public.orders", "shop.public.orders_2", "other.people", "x_orders", "orders"]
    rows = ", ".join(f"({MACROS._literal(name)})" for name in [*names, "ORDERS"])
    other = MACROS._is_other_table({"events": {"table": wanted}}, ["name"])
    cursor.execute(f"select name from values {rows}, (null), ('') as t (name) where {other}")
    assert sorted(row[0] for row in cursor.fetchall()) == sorted(others)


ENVELOPE = {"before": None, "after": {"id": 1}, "op": "c"}
POSTGRESQL = {"connector": "postgresql", "db": "shop", "schema": "public", "lsn": 1}
TABLES = {
    "canal": ["shop.people", "shop.orders"],
    "change_arrays": ["shop.people", "shop.orders"],
    "debezium": ["shop.public.people", "shop.public.orders", "shop.people"],
    "dms_stream": ["shop.people", "shop.orders"],
    "goldengate": ["SHOP.PEOPLE", "SHOP.ORDERS"],
    "maxwell": ["shop.people", "shop.orders", "other.people"],
    "wal2json": ["public.people", "public.orders", "archive.people"],
}


def messages(name: str) -> list[str]:
    """Messages of a format that are of several tables."""
    if name != "debezium":
        return (FIXTURES / name / "other_tables.json").read_text("utf-8").split("\n")[:-1]
    places = [POSTGRESQL | {"table": table} for table in ("people", "orders")]
    places.append({"connector": "mysql", "db": "shop", "table": "people", "file": "b.1", "pos": 9})
    return [json.dumps(ENVELOPE | {"source": place}) for place in places]


def origins(cursor: Any, name: str, **more: Any) -> list[tuple[Any, ...]]:
    """What happened, to which table, by which log, of each message."""
    settings = {"load_type": "events", "source": {"format": "json"}}
    macros, entity = described(settings | {"events": {"format": name, **more}}, COLUMNS)
    rows = ", ".join(f"({macros._literal(m)}, cast(null as string))" for m in messages(name))
    landed = f"(select *, {ROW} from values {rows} as landed (message, message_key))"
    query = macros[f"_events_{name}"](entity, landed)
    cursor.execute(
        "select event_op, event_origin.source_table, event_origin.source_log"
        f" from ({query}) as events"
    )
    return [tuple(row) for row in cursor.fetchall()]


@pytest.mark.parametrize("name", TABLES)
def test_messages_name_their_table(cursor: Any, name: str) -> None:
    found = origins(cursor, name)
    assert {table for _, table, _ in found if table} == set(TABLES[name])
    table = TABLES[name][0]
    chosen = origins(cursor, name, table=table.rpartition(".")[2])
    assert {t for _, t, _ in chosen if t} == {
        t for t in TABLES[name] if t.endswith(table.rpartition(".")[2])
    }
    qualified = origins(cursor, name, table=[table])
    assert {t for _, t, _ in qualified if t} == {table}
    assert [op for op, t, _ in qualified if not t] == ["control"] * sum(
        t != table for _, t, _ in found
    )


def test_names_of_binlogs(cursor: Any) -> None:
    assert origins(cursor, "debezium")[-1] == ("insert", "shop.people", "b")
    assert {log for *_, log in origins(cursor, "maxwell")} == {"binlog"}
    assert {log for *_, log in origins(cursor, "maxwell", order_fields=["ts"])} == {None}


def test_flattened_rows_name_their_table(cursor: Any) -> None:
    def found(*names: str, **more: Any) -> list[tuple[Any, ...]]:
        macros, entity = described_flat({"format": "debezium_flat", **more}, COLUMNS[:1])
        rows = ", ".join(f"(1, 'c', 5, {MACROS._literal(name)})" for name in names)
        given = {"id": "id", "__op": "op", "__lsn": "lsn", "__source_table": "name"}
        values = ", ".join(
            f"{given.get(c['from'], 'cast(null as string)')} as `{c['from']}`"
            for c in entity["columns"]
        )
        landed = f"(select {values} from values {rows} as rows (id, op, lsn, name))"
        cursor.execute(
            f"{typed_sql(macros, entity, landed)}, events as (\n"
            f"{macros._events_debezium_flat(entity, 'typed')}\n)\n"
            "select event_op, event_origin.source_table, event_problem from events"
        )
        return [tuple(row) for row in cursor.fetchall()]

    assert found("people", "orders") == [("insert", "people", None), ("insert", "orders", None)]
    chosen = found("people", "orders", table="people")
    assert chosen == [("insert", "people", None), ("control", None, None)]


# --- loads --------------------------------------------------------------------------------------


def envelope(op: str, at: int, table: str, **after: Any) -> dict[str, Any]:
    """A message of Debezium for PostgreSQL."""
    source = POSTGRESQL | {"lsn": at, "sequence": f'["{at}","{at}"]', "table": table}
    return {"before": None, "after": after or None, "source": source, "op": op}


@pytest.fixture
def warehouse(cursor: Any, schema: str, tmp_path: Path) -> Any:
    """Makes a warehouse of rows with an id and a name."""

    def make(**events: Any) -> EventWarehouse:
        columns = [column("id", "bigint", role="key"), column("name", "string")]
        events = {"format": "debezium", **events}
        return EventWarehouse(cursor, schema, tmp_path, columns, events=events)

    return make


@pytest.mark.integration
def test_a_load_of_several_tables_is_refused(warehouse: Any) -> None:
    people = warehouse()
    people.land(DAY, [envelope("c", 1, "people", id=1, name="a"), envelope("t", 2, "orders")])
    with pytest.raises(CompilerError) as error:
        people.load(DAY)
    for part in [
        "moves: the events of 2024-05-01 are of 2 tables: shop.public.orders (1 event), "
        "shop.public.people (1 event). Nothing was committed",
        "Set events.table in the YAML of stg_moves to the table of the entity",
    ]:
        assert part in str(error.value)
    people.land(DAY, [envelope("c", 1, "people", id=1, name="a")])
    people.load(DAY)
    # also where another table comes by itself, later
    people.land(NEXT_DAY, [envelope("t", 2, "orders")])
    with pytest.raises(CompilerError) as error:
        people.load(NEXT_DAY)
    assert "are of 1 table: shop.public.orders (1 event); those of the loads before are of " in str(
        error.value
    )
    assert "shop.public.people" in str(error.value)
    assert list(people.rows("current", "id, name")) == [(1, "a")]


def test_changes_of_other_tables_are_control_messages(warehouse: Any) -> None:
    people = warehouse(table="people")
    people.land(DAY, [envelope("c", 1, "people", id=1, name="a"), envelope("t", 2, "orders")])
    people.load(DAY)
    assert list(people.rows("current", "id, name")) == [(1, "a")]
    assert people.summary["controls"] == 1


@pytest.mark.integration
def test_a_truncate_of_one_of_several_tables_is_refused(warehouse: Any) -> None:
    people = warehouse(table="people_*")
    rows = [envelope("c", at, f"people_{at}", id=at, name="a") for at in (1, 2)]
    people.land(DAY, [*rows, envelope("c", 3, "orders", id=9, name="b")])
    people.load(DAY)
    assert sorted(people.rows("current", "id, name")) == [(1, "a"), (2, "a")]
    people.land(NEXT_DAY, [envelope("t", 4, "people_1")])
    with pytest.raises(CompilerError) as error:
        people.load(NEXT_DAY)
    assert "A truncate of one of them would delete the rows of all." in str(error.value)
    assert "spark_cdc_skip_guards: [moves.tables]" in str(error.value)
