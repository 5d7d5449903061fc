"""What was believed, and when: a story told in several loads. Random ones: test_event_histories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import EventWarehouse, column
from project import Project
from spark_cdc.jinja_bridge import Node, load_macros
from test_event_histories import MARK

pytestmark = pytest.mark.proves("views")

COLUMNS = [
    column("id", "int", role="key"),
    column("code", "string"),
    column("price", "int"),
    column("step", "int", role="untracked"),
]
SOURCE = {"on_missing_column": "null"}
Command = Callable[..., tuple[int, str]]
DAYS = ("2024-05-01", "2024-05-02", "2024-05-03", "2024-05-04")


def told(what: str, hour: int, day: int, **row: Any) -> dict[str, Any]:
    """An event at an hour of a day in May."""
    at = f"2024-05-0{day}T{hour:02d}:00:00Z"
    return {"what": what, "at": [100 * day + hour], "when": at, "new": {"id": 1, **row}}


def believed(warehouse: EventWarehouse, values: str = "price") -> list[tuple[Any, ...]]:
    """The beliefs about a price, with days and hours of May as `1.10`."""
    if not warehouse.takes_bitemporal():
        pytest.skip("Spark 3.5 does not take the view")
    hours = [f"date_format({name}, 'd.H')" for name in ("valid_from", "valid_to")]
    days = [f"day({name})" for name in ("known_from", "known_to")]
    columns = ", ".join([values, *hours, *days, "is_current"])
    return sorted(warehouse.rows("bitemporal", columns).elements(), key=str)


@pytest.mark.full
def test_late_events_change_what_is_believed_of_the_past(
    cursor: Any, schema: str, tmp_path: Path
) -> None:
    """Also in a column that a later event lacks; a rerun leaves nothing of what it replaced."""
    cursor.execute("set time zone 'UTC'")
    warehouse = EventWarehouse(cursor, schema, tmp_path, COLUMNS, source=SOURCE)
    for day, *events in (
        (DAYS[0], told("ins", 10, 1, price=10, step=1)),
        (DAYS[1], told("upd", 9, 2, step=2), told("ins", 10, 1, price=10, step=1)),
        (DAYS[2], told("upd", 15, 1, price=99, step=3)),
        (DAYS[2], told("upd", 15, 1, price=11, step=3), told("upd", 8, 3, price=12, step=4)),
        (DAYS[3], told("del", 7, 4) | {"old": {"id": 1}}),
    ):
        warehouse.land(day, events)
        warehouse.load(day)
    assert believed(warehouse, "step, price") == [
        (1, 10, "1.10", "1.15", 3, None, False),
        (1, 10, "1.10", "2.9", 2, 3, False),
        (1, 10, "1.10", None, 1, 2, False),
        (2, 10, "2.9", None, 2, 3, False),
        (2, 11, "2.9", "3.8", 3, None, False),
        (3, 11, "1.15", "2.9", 3, None, False),
        (4, 12, "3.8", "4.7", 4, None, False),
        (4, 12, "3.8", None, 3, 4, False),
    ]


@pytest.mark.full
@pytest.mark.parametrize("unit", ["t", None])
def test_no_row_is_followed_through_a_truncate(
    cursor: Any, schema: str, tmp_path: Path, unit: str | None
) -> None:
    """In the midst of a transaction that moves a row, as its own event or as another's."""
    cursor.execute("set time zone 'UTC'")
    events = {"unavailable": MARK}
    warehouse = EventWarehouse(cursor, schema, tmp_path, COLUMNS, events=events, source=SOURCE)
    moved = {"price": MARK, "code": MARK}
    told_events = [
        told("ins", 10, 1, price=10),
        told("upd", 11, 1, id=2, **moved) | {"old": {"id": 1}, "unit": "t"},
        told("all", 12, 1) | {"new": None, "unit": unit},
        told("upd", 13, 1, id=3, **moved) | {"old": {"id": 2}, "unit": "t"},
    ]
    warehouse.land(DAYS[0], told_events)
    warehouse.load(DAYS[0])
    assert believed(warehouse, "id, price") == [
        (1, 10, "1.10", "1.11", 1, None, False),
        (2, 10, "1.11", "1.12", 1, None, False),
        (3, None, "1.13", None, 1, None, True),
    ]
    versions = warehouse.rows("event_versions", "id, price, is_current")
    assert sorted(versions.elements()) == [(1, 10, False), (2, 10, False), (3, None, True)]


@pytest.mark.full
def test_a_truncate_ends_what_was_known_of_a_key(cursor: Any, schema: str, tmp_path: Path) -> None:
    """A row left it behind the truncate, which is sent again: nothing is left there to leave."""
    cursor.execute("set time zone 'UTC'")
    events = {"unavailable": MARK}
    warehouse = EventWarehouse(cursor, schema, tmp_path, COLUMNS, events=events, source=SOURCE)
    move = {"id": 4, "code": "b", "price": MARK}
    told_events = [
        told("ins", 8, 1, id=2, price=5),
        told("all", 9, 1) | {"new": None},
        told("ins", 10, 1, id=4, price=0),
        told("upd", 11, 1, **move) | {"old": {"id": 2}},
        told("upd", 12, 1, id=4, price=-1),
        told("upd", 13, 1, **move) | {"old": {"id": 2}},
    ]
    warehouse.land(DAYS[0], told_events)
    warehouse.load(DAYS[0])
    assert believed(warehouse, "id, price") == [
        (2, 5, "1.8", "1.9", 1, None, False),
        (4, -1, "1.12", "1.13", 1, None, False),
        (4, -1, "1.13", None, 1, None, True),
        (4, 0, "1.10", "1.11", 1, None, False),
        (4, None, "1.11", "1.12", 1, None, False),
    ]
    current = warehouse.rows("current", "id, price")
    assert sorted(current.elements()) == [(4, -1)]


@pytest.mark.full
def test_what_is_believed_alike_again_and_again_is_one_belief(
    cursor: Any, schema: str, tmp_path: Path
) -> None:
    cursor.execute("set time zone 'UTC'")
    warehouse = EventWarehouse(cursor, schema, tmp_path, COLUMNS, source=SOURCE)
    for day, *events in (
        (DAYS[0], told("ins", 10, 1, price=10), told("upd", 18, 1, price=11)),
        (DAYS[1], told("upd", 16, 1, price=13)),
        (DAYS[2], told("upd", 14, 1, price=12)),
    ):
        warehouse.land(day, events)
        warehouse.load(day)
    assert believed(warehouse) == [
        (10, "1.10", "1.14", 3, None, False),
        (10, "1.10", "1.16", 2, 3, False),
        (10, "1.10", "1.18", 1, 2, False),
        (11, "1.18", None, 1, None, True),
        (12, "1.14", "1.16", 3, None, False),
        (13, "1.16", "1.18", 2, None, False),
    ]


@pytest.mark.full
def test_rows_that_go_by_another_unique_key(cursor: Any, schema: str, tmp_path: Path) -> None:
    """Whom an event means depends on what is known: here who bears a code."""
    cursor.execute("set time zone 'UTC'")
    events = {"unique_keys": [["code"]]}
    warehouse = EventWarehouse(cursor, schema, tmp_path, COLUMNS, events=events, source=SOURCE)
    for day, *messages in (
        (DAYS[0], told("ins", 10, 1, code="a", price=1)),
        (DAYS[1], told("del", 12, 1) | {"old": {"code": "a"}, "new": None}),
        (DAYS[2], told("ins", 11, 1, id=2, code="a", price=2)),
    ):
        warehouse.land(day, messages)
        warehouse.load(day)
    assert believed(warehouse, "code, price") == [
        ("a", 1, "1.10", "1.12", 2, 3, False),
        ("a", 1, "1.10", None, 1, 2, False),
        ("a", 1, "1.10", None, 3, None, True),
        ("a", 2, "1.11", "1.12", 3, None, False),
    ]
    versions = warehouse.rows("event_versions", "id, hour(event_time), hour(event_end_time)")
    assert sorted(versions) == [(1, 10, None), (2, 11, 12)]


def test_it_needs_the_archive_and_its_names() -> None:
    def node(name: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "schema": "s", "alias": name, **more}

    columns = {"id": {"name": "id"}, "Valid_From": {"name": "Valid_From"}}
    models = ("orders_ledger", "orders_committed", "orders_bitemporal")
    nodes = {f"model.shop.{name}": node(name) for name in models}
    nodes["model.shop.stg_orders"] = node("stg_orders", columns=columns)
    nodes["model.shop.orders_ledger"]["depends_on"] = {"nodes": ["model.shop.orders_events"]}
    macros = load_macros(graph=Node(nodes=nodes, sources={}))
    settings = {"load_type": "events", "events": {"format": "debezium"}}
    archive, names = macros._model_problems("orders", settings, "model.shop.orders_ledger")
    assert archive.startswith("orders: orders_bitemporal reads the events of all loads, but they")
    assert names.startswith("orders: the columns Valid_From would come twice in orders_bitemporal")
    del nodes["model.shop.orders_bitemporal"]
    assert macros._model_problems("orders", settings, "model.shop.orders_ledger") == []


QUARTERS = ("2024-05-01 10:00", "2024-05-01 10:15", "2024-05-01 10:30")
FLAGGED = {
    "id": {"data_type": "int", "role": "key"},
    "price": "int",
    "op": {"data_type": "string", "role": "control"},
    "pos": {"data_type": "bigint", "role": "control"},
    "at": {"data_type": "timestamp_ntz", "role": "control"},
}


@pytest.mark.full
def test_what_was_taken_back_was_never_believed(project: Project, command: Command) -> None:
    """Loads by the quarter hour, the last of which brings a late event: undo, redo, a replay."""

    def land(quarter: int, *rows: str) -> None:
        folder = QUARTERS[quarter].replace(" ", "T").replace(":", "") + "00"
        lines = (f"{row[:-5]}2024-05-01 {row[-5:]}:00" for row in rows)
        project.land("prices", folder, "id,price,op,pos,at", *lines)

    def believed() -> list[tuple[Any, ...]]:
        times = "valid_from", "valid_to", "known_from", "known_to"
        columns = ", ".join(f"date_format({name}, 'HH:mm')" for name in times)
        return project.rows("prices_bitemporal", f"price, {columns}")

    def operate(*words: str) -> None:
        code, said = command(*words)
        assert code == 0, said

    events = {"format": "flagged_rows", "operation": "op", "order": ["pos"], "time": "at"}
    settings = {"load_type": "events", "business_date_type": "timestamp", "timezone": "UTC"}
    project.entity("prices", FLAGGED, events=events | {"archive": True}, **settings)
    model = project.folder / "models/prices/prices_bitemporal.sql"
    model.write_text("{{ spark_cdc.bitemporal() }}\n", "utf-8")
    land(0, "1,10,I,1,09:00")
    land(1, "1,20,U,3,09:10")
    land(2, "1,15,U,2,09:05")
    for quarter in QUARTERS[:2]:
        project.load(quarter, "prices")
    in_order = [
        (10, "09:00", "09:10", "10:15", None),
        (10, "09:00", None, "10:00", "10:15"),
        (20, "09:10", None, "10:15", None),
    ]
    assert believed() == in_order
    project.load(QUARTERS[2], "prices")
    late = [
        (10, "09:00", "09:05", "10:30", None),
        (10, "09:00", "09:10", "10:15", "10:30"),
        (10, "09:00", None, "10:00", "10:15"),
        (15, "09:05", "09:10", "10:30", None),
        (20, "09:10", None, "10:15", None),
    ]
    assert believed() == late
    operate("undo", "prices")
    assert believed() == in_order
    operate("redo", "prices")
    assert believed() == late

    # it had not been late: what a draft says nobody believes before it is published
    land(1, "1,15,U,2,09:05", "1,20,U,3,09:10")
    land(2, "2,7,I,4,10:20")
    operate("replay", "--from", QUARTERS[1], "--select", "prices")
    assert believed() == late
    operate("replay", "--publish", "--select", "prices")
    assert believed() == [
        (10, "09:00", "09:05", "10:15", None),
        (10, "09:00", None, "10:00", "10:15"),
        (15, "09:05", "09:10", "10:15", None),
        (20, "09:10", None, "10:15", None),
        (7, "10:20", None, "10:30", None),
    ]
