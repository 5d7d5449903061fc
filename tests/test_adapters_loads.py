"""Loads in the formats of change events: what has to hold from the landed files to the tables.

Each test loads a few events through the project's own SQL, statement by statement, without dbt.
"""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import EventWarehouse, column
from spark_cdc.jinja_bridge import CompilerError

pytestmark = [pytest.mark.proves("event formats"), pytest.mark.integration]

ID = column("id", "bigint", role="key")
NAME = column("name", "string")
REMARK = column("remark", "string")
MARK = "__debezium_unavailable_value"
FLAGGED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
SEQ = column("seq", "bigint", role="control")
DAY, NEXT_DAY = "2024-05-01", "2024-05-02"

Warehouse = Callable[..., EventWarehouse]


@pytest.fixture
def warehouse(cursor: Any, schema: str, tmp_path: Path) -> Warehouse:
    """Makes a warehouse of a format and some columns."""

    def make(events: dict[str, Any], *columns: dict[str, Any], **source: Any) -> EventWarehouse:
        return EventWarehouse(
            cursor, schema, tmp_path, [ID, *columns], events=events, source=source
        )

    return make


def arrays(op: str, at: int, old: int | None = None, **values: Any) -> dict[str, Any]:
    """A message of the format change_arrays."""
    told: dict[str, Any] = {"changeType": op, "timestamp": at}
    if values:
        told |= {"columnNames": list(values), "columnValues": list(values.values())}
    if old is not None:
        told |= {"oldKeyNames": ["id"], "oldKeyValues": [old]}
    return told


def envelope(op: str, lsn: int, before: Any, after: Any) -> dict[str, Any]:
    """A message of Debezium for PostgreSQL."""
    source = {"connector": "postgresql", "lsn": lsn, "txId": lsn, "sequence": f'["{lsn}","{lsn}"]'}
    return {"before": before, "after": after, "source": source, "op": op, "ts_ms": 1}


def flagged(op: str, seq: int, **values: Any) -> dict[str, Any]:
    """A JSON line of the format flagged_rows."""
    return {"op": op, "seq": seq, **values}


# --- columns that are not there, and others that are ----------------------------------------------

TOLD = [({"format": "change_arrays"}, [], arrays), (FLAGGED, [SEQ], flagged)]
BOTH = pytest.mark.parametrize(("events", "more", "told"), TOLD, ids=["messages", "rows"])


@BOTH
def test_a_column_that_no_event_has_stops_the_load(warehouse, events, more, told):
    people = warehouse(events, *more, NAME, REMARK, on_unexpected_column="ignore")
    people.land(DAY, [told("INSERT", 1, id=1, nmae="Alice", remark="a")])
    with pytest.raises(CompilerError) as error:
        people.load(DAY)
    for part in [
        "no event of json files of ",
        " has name.",
        "declared: id, name, remark",
        "not declared, but there: nmae",
        "source.on_missing_column: null skips the check. Nothing was written.",
    ]:
        assert part in str(error.value)


@BOTH
def test_unless_the_entity_says_so(warehouse, events, more, told):
    people = warehouse(
        events, *more, NAME, REMARK, on_missing_column="null", on_unexpected_column="ignore"
    )
    people.land(DAY, [told("INSERT", 1, id=1, nmae="Alice", remark="a")])
    people.load(DAY)
    assert list(people.rows("current", "id, name, remark")) == [(1, None, "a")]
    assert people.summary["unexpected"] == 1


@BOTH
def test_events_without_a_column_are_no_reason_to_stop(warehouse, events, more, told):
    people = warehouse(events, *more, NAME, REMARK)
    late = 1100  # beyond the lines that are looked at first
    people.land(
        DAY,
        [
            *(told("INSERT", i, id=i, name="x") for i in range(1, late)),
            told("INSERT", late, id=late, remark="a"),
        ],
    )
    people.load(DAY)
    assert people.rows("current", "count(*), count(name), count(remark)") == {
        (late, late - 1, 1): 1
    }
    # updates and deletes alone need not have any column
    people.land(NEXT_DAY, [told("UPDATE", 2000, id=late, remark="b"), told("DELETE", 2001, id=1)])
    people.load(NEXT_DAY)
    assert people.rows("current", "count(*), count(name), max(remark)") == {
        (late - 1, late - 2, "b"): 1
    }
    people.land("2024-05-03", [told("DELETE", 2002, id=2)])
    people.load("2024-05-03")
    assert people.rows("current", "count(*)") == {(late - 2,): 1}


@BOTH
def test_unexpected_columns_follow_the_policy(warehouse, events, more, told):
    messages = [
        told("INSERT", 1, id=1, name="Alice"),
        told("INSERT", 2, id=2, name="Bob", age=7, shoe=42),
        told("UPDATE", 3, id=1, name="Alicia", age=8),
    ]
    people = warehouse(events, *more, NAME)
    people.land(DAY, messages)
    with pytest.raises(CompilerError, match=r"(?s)unexpected.*age"):
        people.load(DAY)
    people = warehouse(events, *more, NAME, on_unexpected_column="ignore")
    people.land(DAY, messages)
    people.load(DAY)
    assert people.rows("current", "id, name") == {(1, "Alicia"): 1, (2, "Bob"): 1}
    assert people.summary["unexpected"] == 2


def test_names_of_messages_may_differ_by_case_alone(warehouse):
    """Columns of rows and files may not."""
    other = column("other", "string", **{"from": "Name"})
    people = warehouse({"format": "maxwell"}, NAME, other)
    change = {"type": "insert", "position": "bin.1:1", "data": {"id": 1, "name": "a", "Name": "b"}}
    people.land(DAY, [change])
    people.load(DAY)
    assert people.rows("current", "id, name, other") == {(1, "a", "b"): 1}
    problems = {
        name: people.macros._column_problems(
            people.macros._columns_of(people.node),
            {"load_type": "events", "events": {"format": name}},
        )
        for name in ("maxwell", "flagged_rows")
    }
    assert problems["maxwell"] == []
    assert "both come from 'name' of the source" in problems["flagged_rows"][0]


FLAT = {"format": "debezium_flat"}
FLAT_ROW = {"id": 1, "__op": "c", "__lsn": 7, "__source_ts_ms": 1714557600000}


def test_columns_of_flattened_rows_may_differ_by_case_alone(warehouse):
    other = column("other", "string", **{"from": "Name"})
    people = warehouse(FLAT, NAME, other)
    people.land(DAY, [FLAT_ROW | {"name": "a", "Name": "b"}])
    people.load(DAY)
    assert people.rows("current", "id, name, other") == {(1, "a", "b"): 1}
    # one that is not declared is an unexpected column, as in envelopes
    people = warehouse(FLAT, NAME)
    people.land(DAY, [FLAT_ROW | {"name": "a", "Name": "b"}])
    with pytest.raises(CompilerError, match="unexpected columns: Name"):
        people.load(DAY)
    people = warehouse(FLAT, NAME, on_unexpected_column="ignore")
    people.load(DAY)
    assert people.rows("current", "id, name") == {(1, "a"): 1}


def test_a_control_column_may_come_from_a_field_that_the_format_reads(warehouse):
    at = column("at", "bigint", role="control", **{"from": "__source_ts_ms"})
    people = warehouse(FLAT | {"tie_breaker": ["at"]}, NAME, at)
    people.land(DAY, [FLAT_ROW | {"name": "a"}])
    people.load(DAY)
    assert people.rows("current", "id, name") == {(1, "a"): 1}
    people.land(NEXT_DAY, [FLAT_ROW | {"__lsn": 8, "name": "b", "extra": 1}])
    with pytest.raises(CompilerError, match=r"unexpected.*: extra"):
        people.load(NEXT_DAY)


# --- numbers --------------------------------------------------------------------------------------

NUMBERS = {
    "narrow": ("decimal(12,2)", ["96500000.00", "12345678.25", "0.10", "-9999999999.99", "7"]),
    "wide": (
        "decimal(38,18)",
        ["12345678901234567890.123456789012345678", "-0.000000000000000001", "0.1", "1E-3"],
    ),
}


@pytest.mark.parametrize("load_type", ["events", "full"])
@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_in_json_keep_all_digits(warehouse, cursor, tmp_path, load_type, case):
    data_type, numbers = NUMBERS[case]
    lines = [f'{{"op":"I","seq":{i},"id":{i},"n":{n}}}' for i, n in enumerate(numbers)]
    people = warehouse(FLAGGED, SEQ, column("n", data_type), on_unexpected_column="ignore")
    people.land(DAY, lines)
    wanted = [Decimal(number) for number in numbers]
    if load_type == "events":
        people.load(DAY)
        found = people.rows("current", "id, n")
        assert [n for _, n in sorted(found)] == wanted
        return
    settings = people.node["config"]["meta"]["spark_cdc"]
    settings |= {"load_type": "full", "events": None}
    people.macros._land_load(people.entity, None, datetime.datetime.fromisoformat(DAY))
    staged = people.macros._stage_sql(people.entity, "landed_moves")
    cursor.execute(f"select n, cdc__note from ({staged}) order by id")
    assert cursor.fetchall() == [(number, None) for number in wanted]


@pytest.mark.parametrize("number", ["0.00012", "12345678.251", "1.5E-3", "1e11"])
def test_numbers_that_do_not_fit_are_rejected(warehouse, number):
    people = warehouse(FLAGGED, SEQ, column("n", "decimal(12,2)"))
    people.land(DAY, [f'{{"op":"I","seq":1,"id":1,"n":{number}}}'])
    with pytest.raises(CompilerError, match=r"is not accepted as decimal\(12,2\)"):
        people.load(DAY)


# --- values that were not sent --------------------------------------------------------------------


def test_unavailable_values_of_all_types_are_kept(warehouse):
    raw = MARK.encode()
    digits = [base64.b64encode(bytes([byte])).decode() for byte in raw]
    kinds: dict[str, tuple[dict[str, Any], Any, Any]] = {
        "text": ({"data_type": "string"}, "long", MARK),
        "bytes": ({"data_type": "binary"}, "AQI=", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="),
        "digits": ({"data_type": "binary", "format": "hex"}, "0102", raw.hex()),
        "texts": ({"data_type": "array<string>"}, ["a", None], [MARK]),
        "numbers": ({"data_type": "array<int>"}, [1, 2], list(raw)),
        "longs": ({"data_type": "array<bigint>"}, [1, 2], list(raw)),
        "doubles": ({"data_type": "array<double>"}, [1.5], [float(byte) for byte in raw]),
        "uuids": ({"data_type": "array<string>"}, ["x"], ["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]),
        "decimals": ({"data_type": "array<string>"}, ["AQ=="], digits),
        "scaled": (
            {"data_type": "array<struct<scale:int,value:string>>"},
            [{"scale": 1, "value": "AQ=="}],
            [{"scale": 0, "value": digit} for digit in digits],
        ),
        "pairs": (
            {"data_type": "map<string,string>"},
            '{"a":"b"}',
            json.dumps({MARK: MARK}).replace(" ", ""),
        ),
    }
    columns = [column(name, **meta) for name, (meta, *_) in kinds.items()]
    people = warehouse({"format": "debezium"}, *columns)
    first = {"id": 1} | {name: value for name, (_, value, _) in kinds.items()}
    unchanged = {"id": 1} | {name: mark for name, (_, _, mark) in kinds.items()}
    people.land(DAY, [envelope("c", 1, None, first)])
    people.load(DAY)
    shown = ", ".join(f"to_json(named_struct('x', {name}))" for name in kinds)
    before = people.rows("current", shown)
    people.land(NEXT_DAY, [envelope("u", 2, None, unchanged)])
    assert people.load(NEXT_DAY)["counts"]["N"] == 1
    assert people.rows("current", shown) == before


def test_values_that_nobody_knows_are_counted(warehouse):
    people = warehouse({"format": "debezium"}, NAME, REMARK)

    def row(id: int, remark: str = MARK) -> dict[str, Any]:
        return {"id": id, "name": "x", "remark": remark}

    people.land(
        DAY,
        [
            envelope("c", 1, None, row(1, "known")),
            envelope("u", 2, None, row(1)),
            envelope("u", 3, None, row(2)),
            envelope("u", 4, None, row(2, "sent later")),
            envelope("u", 5, None, row(3)),
        ],
    )
    people.load(DAY)
    assert people.summary["unfilled"] == 2
    people.land(
        NEXT_DAY,
        [
            envelope("u", 6, None, row(1)),
            # a key change: the new key has the values of the old one
            envelope("d", 7, {"id": 1}, None),
            envelope("c", 7, None, row(4)),
            envelope("u", 8, None, row(4)),
            envelope("u", 9, None, row(5)),
            envelope("d", 10, {"id": 2}, None),
            envelope("u", 11, None, row(2)),
        ],
    )
    people.load(NEXT_DAY)
    assert people.summary["unfilled"] == 2
    assert sorted(people.rows("current", "id, remark"), key=str) == [
        (2, None),
        (3, None),
        (4, "known"),
        (5, None),
    ]


def goldengate(op: str, at: int, old: int | None = None, **values: Any) -> dict[str, Any]:
    before = {"id": old or values["id"]} if op != "I" else None
    return {"op_type": op, "pos": f"{at:020}", "before": before, "after": values}


def wal2json(op: str, at: int, old: int | None = None, **values: Any) -> dict[str, Any]:
    types = {"id": "bigint", "name": "text", "remark": "text"}
    columns = [{"name": n, "type": types[n], "value": v} for n, v in values.items()]
    identity = [{"name": "id", "type": "bigint", "value": old or values["id"]}] if op == "U" else []
    told = {"action": op, "lsn": f"0/{at:X}", "schema": "public", "table": "people"}
    return told | {"columns": columns} | ({"identity": identity} if identity else {})


def maxwell(op: str, at: int, old: int | None = None, **values: Any) -> dict[str, Any]:
    told = {"type": {"I": "insert", "U": "update"}[op], "table": "people", "data": values}
    before = {"id": old} if old else {}
    return told | {"position": f"bin.000001:{at}"} | ({"old": before} if op == "U" else {})


def nulls(op: str, at: int, old: int | None = None, **values: Any) -> dict[str, Any]:
    """A row of flagged_rows with null_means: unchanged."""
    return {"op": op, "seq": at, "old_id": old, "name": None, "remark": None, **values}


OLD = column("old_id", "bigint", role="control")
NULLS = {**FLAGGED, "null_means": "unchanged", "old_key": {"id": "old_id"}}
PARTIAL = {
    "goldengate": (goldengate, {"format": "goldengate"}, []),
    "wal2json": (wal2json, {"format": "wal2json"}, []),
    "maxwell": (maxwell, {"format": "maxwell"}, []),
    "flagged_rows": (nulls, NULLS, [SEQ, OLD]),
}


@pytest.mark.full
@pytest.mark.parametrize("name", PARTIAL)
def test_values_of_updates_whose_insert_comes_late_are_counted(warehouse, name):
    told, events, more = PARTIAL[name]
    people = warehouse(events, NAME, REMARK, *more, on_missing_column="null")
    people.land(
        DAY,
        [
            told("I", 1, id=1, name="a", remark="r"),
            told("U", 2, id=1, name="b"),
            told("I", 3, id=2, name="a"),  # an insert has what is not null
            told("U", 5, id=3, name="c"),
            told("U", 6, id=3, name="d"),
            told("U", 8, 4, id=5, name="e"),  # a key change of a row that is not known
            told("U", 9, 1, id=6),
        ],
    )
    people.load(DAY)
    assert people.summary["unfilled"] == 2
    people.land(
        NEXT_DAY,
        [
            told("I", 4, id=3, name="c", remark="late"),
            told("U", 10, 6, id=7),
            told("U", 11, 8, id=9),
            told("U", 12, id=2, name="f"),
            told("U", 13, id=10, name="g", remark="whole"),
        ],
    )
    people.load(NEXT_DAY)
    assert people.summary["unfilled"] == 1
    assert sorted(people.rows("current", "id, name, remark")) == [
        (2, "f", None),
        (3, "d", None),
        (5, "e", None),
        (7, "b", "r"),
        (9, None, None),
        (10, "g", "whole"),
    ]


def test_one_column_becomes_null_although_null_means_unchanged(warehouse):
    """The end of a contract is always sent, all else only when it has changed."""
    end = column("ended", "string", null_means="value")
    people = warehouse({**FLAGGED, "null_means": "unchanged"}, NAME, end, SEQ)
    people.land(DAY, [{"op": "I", "seq": 1, "id": 1, "name": "a", "ended": "2024"}])
    people.load(DAY)
    people.land(NEXT_DAY, [{"op": "U", "seq": 2, "id": 1, "name": None, "ended": None}])
    people.load(NEXT_DAY)
    assert list(people.rows("current", "id, name, ended")) == [(1, "a", None)]


# --- columns landed beside the message ------------------------------------------------------------


def land_topic(people: EventWarehouse, date: str, rows: list[tuple[Any, Any, int]]) -> None:
    """Writes a topic as Parquet: key, value and offset."""
    literal = people.macros._literal

    def text(value: Any) -> str:
        return "cast(null as string)" if value is None else literal(json.dumps(value))

    values = ", ".join(f"({text(key)}, {text(value)}, {offset}L)" for key, value, offset in rows)
    people.cursor.execute(
        f"insert overwrite directory '{people.folder}/{date}' using parquet"
        f" select * from values {values} as topic (key, value, `offset`)"
    )


OFFSET = column("offset", "bigint", role="control")


def test_a_landed_column_orders_what_canal_does_not(warehouse):
    """Canal's id is that of a batch: here it holds two messages with two rows each."""
    people = warehouse(
        {"format": "canal", "order_fields": "id, offset"}, NAME, OFFSET, format="parquet"
    )

    def batch(*names: str) -> dict[str, Any]:
        rows = [{"id": str(i + 1), "name": name} for i, name in enumerate(names)]
        return {"id": 7, "type": "UPDATE", "data": rows, "old": [{"name": "x"}] * len(rows)}

    land_topic(people, DAY, [(None, batch("new", "newer"), 12), (None, batch("old", "older"), 11)])
    people.load(DAY)
    assert people.rows("current", "id, name") == {(1, "new"): 1, (2, "newer"): 1}


@pytest.mark.parametrize("name", ["maxwell", "dms_stream"])
def test_the_offset_of_a_topic_orders_messages_without_a_place(warehouse, name):
    people = warehouse({"format": name, "order_fields": ["offset"]}, NAME, OFFSET, format="parquet")

    def message(operation: str, **data: Any) -> dict[str, Any]:
        about = {"record-type": "data", "operation": operation, "table-name": "people"}
        more = {"type": operation} if name == "maxwell" else {"metadata": about}
        return {"table": "people", "data": data, **more}

    told = [
        (None, message("update", id=1, name="new"), 13),
        (None, message("insert", id=1, name="old"), 11),
        (None, message("delete", id=2, name="x"), 14),
        (None, message("insert", id=2, name="x"), 12),
    ]
    land_topic(people, DAY, told)
    people.load(DAY)
    assert people.rows("current", "id, name") == {(1, "new"): 1}
    assert people.summary["event_count"] == 4


def test_a_landed_column_breaks_ties(warehouse):
    events = {"format": "debezium"}
    told = [
        ({"id": 1}, envelope("c", 5, None, {"id": 1, "name": "first"}), 3),
        ({"id": 1}, envelope("u", 5, None, {"id": 1, "name": "second"}), 4),
        ({"id": 2}, envelope("c", 5, None, {"id": 2, "name": "gone"}), 5),
        ({"id": 2}, envelope("d", 5, None, None), 6),
        ({"id": 2}, None, 7),
    ]
    people = warehouse(events, NAME, format="parquet")
    land_topic(people, DAY, told)
    with pytest.raises(CompilerError, match="different events of one key have the position"):
        people.load(DAY)
    people = warehouse(events | {"tie_breaker": ["offset"]}, NAME, OFFSET, format="parquet")
    people.load(DAY)
    assert people.rows("current", "id, name") == {(1, "second"): 1}
    assert people.summary["controls"] == 1


# --- what comes again, or with a number that comes again ------------------------------------------

AGAIN: dict[str, dict[str, Any]] = {
    "canal": {"format": "canal", "order_fields": ["offset"]},
    "debezium": {"format": "debezium", "tie_breaker": ["offset"]},
    "dms_stream": {"format": "dms_stream", "order_fields": ["offset"]},
    "maxwell": {"format": "maxwell", "order_fields": ["offset"]},
}


def change_of(name: str, operation: str, transaction: int, /, **row: Any) -> dict[str, Any]:
    """A change of a row as a format sends it, with its transaction."""
    if name == "canal":
        rows = {"data": [row], "old": [{}] if operation == "update" else None}
        return {"type": operation.upper(), "id": 1, "gtid": str(transaction), **rows}
    if name == "debezium":
        deleted = operation == "delete"
        code = {"insert": "c", "update": "u", "delete": "d"}[operation]
        images = (row, None) if deleted else (None, row)
        return envelope(code, 6 if deleted else 5, *images) | {
            "source": {"lsn": 6 if deleted else 5, "txId": transaction}
        }
    if name == "dms_stream":
        about = {"operation": operation, "record-type": "data", "transaction-id": transaction}
        return {"data": row, "metadata": about}
    return {"type": operation, "xid": transaction, "data": row}


@pytest.mark.full
@pytest.mark.parametrize("loads", [1, 2])
@pytest.mark.parametrize("name", AGAIN)
def test_an_insert_that_comes_again_leaves_no_row(warehouse, name, loads):
    """At another offset, in the load of the first one or in the next; other rows stay."""
    people = warehouse(AGAIN[name], NAME, OFFSET, format="parquet")
    inserted = [change_of(name, "insert", 7, id=i, name=text) for i, text in enumerate("abc")]
    deleted = [change_of(name, "delete", 7, id=i, name=text) for i, text in enumerate("ab")]
    told = [(None, each, at) for at, each in enumerate(inserted + inserted + deleted)]
    if loads == 2:
        land_topic(people, DAY, told[:3])
        people.load(DAY)
        told = told[3:]
    land_topic(people, NEXT_DAY, told)
    people.load(NEXT_DAY)
    assert people.rows("current", "id, name") == {(2, "c"): 1}


def numbered_again(name: str) -> list[dict[str, Any]]:
    """Transaction 7 before a restart of the source, and 7 once more."""
    steps = [("insert", 7, 1, 1), ("delete", 9, 1, 2), ("insert", 7, 2, 1), ("delete", 7, 2, 2)]
    more = {"position": "x"} if name == "maxwell" else {}
    return [
        change_of(name, operation, transaction, id=1, name="a")
        | dict.fromkeys(more, f"bin.{file:06}:{place}")
        for operation, transaction, file, place in steps
    ]


@pytest.mark.parametrize(
    ("name", "events"),
    [("maxwell", {"format": "maxwell"}), *((name, AGAIN[name]) for name in AGAIN)],
    ids=["maxwell, by the binlog", *AGAIN],
)
def test_a_transaction_number_that_comes_again_is_another(warehouse, name, events):
    people = warehouse(events, NAME, OFFSET, format="parquet")
    told = numbered_again(name)
    if name == "debezium":  # whose place in the log grows
        told = [each | {"source": {"lsn": at, "txId": 7}} for at, each in enumerate(told, 1)]
    land_topic(people, DAY, [(None, each, at) for at, each in enumerate(told)])
    people.load(DAY)
    assert people.rows("current", "id, name") == {}
    assert people.rows("history", "id") == {}


# --- an order that can't be one -------------------------------------------------------------------


@pytest.mark.parametrize("place", ["bin.000001:-2147483600", "bin.-1:5"])
def test_a_negative_place_in_the_binlog_is_refused(warehouse, place):
    people = warehouse({"format": "maxwell"}, NAME)
    change = {"type": "insert", "xid": 7, "data": {"id": 1, "name": "a"}, "position": place}
    people.land(DAY, [change])
    with pytest.raises(CompilerError, match=f"no order: position is '{place}'; accepted is file"):
        people.load(DAY)


def binlog(place: int, name: str, **more: Any) -> dict[str, Any]:
    source = {"connector": "mysql", "file": "bin.000001", "pos": place, "row": 0, **more}
    return {"op": "u", "before": None, "after": {"id": 1, "name": name}, "source": source}


@pytest.mark.parametrize(
    ("more", "shown"), [({}, "source.pos is -5"), ({"row": -1}, "source.row is -1")]
)
def test_a_negative_place_of_debezium_is_refused(warehouse, more, shown):
    people = warehouse({"format": "debezium"}, NAME)
    people.land(DAY, [binlog(5 if more else -5, "a", **more)])
    with pytest.raises(CompilerError, match=f"no order: {shown}; accepted is a place in the log"):
        people.load(DAY)
    flat = {"id": 1, "name": "a", "__op": "u", "__source_file": "bin.000001"}
    people = warehouse({"format": "debezium_flat"}, NAME)
    people.land(DAY, [flat | {"__source_pos": 5 if more else -5, "__source_row": more.get("row")}])
    shown = shown.replace("source.", "__source_")
    with pytest.raises(CompilerError, match=f"no order: {shown}; accepted is a place in the log"):
        people.load(DAY)


def test_the_offset_orders_what_the_binlog_does_not(warehouse):
    """The place wrapped round; rows of a snapshot need no order."""
    events = {"format": "debezium", "order_fields": "offset"}
    people = warehouse(events, NAME, OFFSET, format="parquet")
    read = binlog(0, "zero") | {"op": "r"}
    messages = [binlog(4294967290, "old"), binlog(-5, "new"), binlog(3, "newer"), read]
    land_topic(people, DAY, [(None, each, at) for at, each in enumerate(messages)])
    people.load(DAY)
    assert people.rows("current", "id, name") == {(1, "newer"): 1}


def test_a_field_of_the_message_orders_debezium(warehouse):
    events = {"format": "debezium", "order_fields": ["source.ts_ms", "source.pos"]}
    people = warehouse(events, NAME)
    people.land(DAY, [binlog(3, "new", ts_ms=2), binlog(9, "old", ts_ms=1)])
    people.load(DAY)
    assert people.rows("current", "id, name") == {(1, "new"): 1}
    people.land(NEXT_DAY, [binlog(3, "none")])
    with pytest.raises(CompilerError, match=r"no order: source\.ts_ms is missing; accepted is a"):
        people.load(NEXT_DAY)


def test_a_tie_breaker_that_is_null_is_named(warehouse):
    people = warehouse({"format": "debezium", "tie_breaker": ["step"]}, NAME, column("step", "int"))
    people.land(DAY, [envelope("c", 5, None, {"id": 1, "name": "a", "step": None})])
    with pytest.raises(CompilerError) as error:
        people.load(DAY)
    assert "the tie_breaker step is null" in str(error.value)
    assert "source.lsn" not in str(error.value)


# --- deletes of one key at one place --------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "row", "place"),
    [
        (FLAGGED, {"op": "D"}, "seq"),
        ({"format": "dms", "order": ["seq"]}, {"Op": "D"}, "seq"),
        ({"format": "debezium_flat"}, {"__op": "d"}, "__lsn"),
        ({"format": "delta_cdf"}, {"_change_type": "delete"}, "_commit_version"),
    ],
    ids=["flagged_rows", "dms", "debezium_flat", "delta_cdf"],
)
def test_deletes_differ_by_key_and_place_alone(warehouse, events, row, place):
    more = [SEQ] if place == "seq" else []
    people = warehouse(events, *more, NAME, column("extra", "map<string,int>"))
    people.land(
        DAY,
        [
            row | {place: 5, "id": 1, "name": "Alice", "extra": {"a": 1}},
            row | {place: 5, "id": 1, "name": None, "extra": None},
            row | {place: 5, "id": 2, "name": "Bob", "extra": None},
        ],
    )
    people.load(DAY)
    assert people.rows("current", "id") == {}
    people.cursor.execute(f"select id, operation from {people.ledger} where operation = 'T'")
    assert sorted(people.cursor.fetchall()) == [(1, "T"), (2, "T")]


# --- what can't be accepted -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "line", "reason"),
    [
        (
            {"format": "change_arrays"},
            '{"changeType":"MERGE","timestamp":7,"columnNames":["id"],"columnValues":[1]}',
            "unknown changeType",
        ),
        ({"format": "maxwell"}, "no JSON at all", "not a JSON object of Maxwell"),
        (
            {"format": "debezium"},
            json.dumps(envelope("u", 1, "text", {"id": 1, "name": "a"})),
            "before is no JSON object; accepted is an object or null",
        ),
        (
            {"format": "debezium"},
            json.dumps(envelope("c", 1, None, {"id": "one", "name": "a"})),
            "id: 'one' is not accepted as bigint not null",
        ),
    ],
    ids=["operation", "text", "before", "type"],
)
def test_a_refused_message_is_shown(warehouse, events, line, reason):
    people = warehouse(events, NAME)
    people.land(DAY, [line])
    with pytest.raises(CompilerError) as error:
        people.load(DAY)
    assert reason in str(error.value)
    people.cursor.execute(f"select cdc__note from {people.events} where cdc__note is not null")
    [(note,)] = people.cursor.fetchall()
    assert json.loads(note)["row"]["message"] == line[:500]


# --- keys that change -----------------------------------------------------------------------------


def lsn(number: int) -> str:
    return f"0x0000002B{number:08X}0001"


def change(operation: int, place: int, command: int, id: int, name: str) -> dict[str, Any]:
    """A row of a change table of SQL Server, all in one transaction."""
    return {
        "__$start_lsn": lsn(1000),
        "__$seqval": lsn(place),
        "__$operation": operation,
        "__$command_id": command,
        "id": id,
        "name": name,
    }


TAKEN_FIRST = pytest.mark.xfail(
    reason="an image of 4 does not tell that its row comes from another key", strict=True
)


@pytest.mark.parametrize("alike", [False, True], ids=["", "rows that look alike"])
@pytest.mark.full
@pytest.mark.parametrize(
    ("pair", "down"),
    [
        pytest.param((1, 2), True, id="delete and insert, downwards", marks=pytest.mark.full),
        pytest.param((1, 2), False, id="delete and insert, upwards"),
        pytest.param((3, 4), True, id="old and new image, downwards", marks=pytest.mark.full),
        pytest.param((3, 4), False, id="old and new image, upwards", marks=TAKEN_FIRST),
    ],
)
def test_all_keys_of_sqlserver_move_on_by_one(warehouse, pair, down, alike):
    """`update people set id = id + 1`, row by row in either direction."""
    people = warehouse({"format": "sqlserver_cdc"}, NAME)
    count = 5

    def text(number: int) -> str:
        return "row" if alike else f"row {number}"

    rows = [change(2, i, i, i, text(i)) | {"__$start_lsn": lsn(500)} for i in range(1, count + 1)]
    people.land(DAY, rows)
    people.load(DAY)
    moves = []
    for place, i in enumerate(sorted(range(1, count + 1), reverse=down), 600):
        moves += [
            change(pair[0], place, 1, i, text(i)),
            change(pair[1], place, 1, i + 1, text(i)),
        ]
    people.land(NEXT_DAY, moves)
    people.load(NEXT_DAY)
    assert people.rows("current", "id, name") == {(i + 1, text(i)): 1 for i in range(1, count + 1)}


def test_all_keys_of_delta_move_on_by_one(warehouse):
    people = warehouse({"format": "delta_cdf"}, NAME)

    def row(kind: str, version: int, id: int, name: str) -> dict[str, Any]:
        return {"_change_type": kind, "_commit_version": version, "id": id, "name": name}

    people.land(DAY, [row("insert", 1, i, f"row {i}") for i in range(1, 6)])
    people.load(DAY)
    moves = []
    for i in range(1, 6):
        moves += [
            row("update_preimage", 2, i, f"row {i}"),
            row("update_postimage", 2, i + 1, f"row {i}"),
        ]
    people.land(NEXT_DAY, moves)
    people.load(NEXT_DAY)
    assert people.rows("current", "id, name") == {(i + 1, f"row {i}"): 1 for i in range(1, 6)}


# --- rows of a snapshot that Debezium reads while it streams --------------------------------------


def at_place(connector: str, at: int) -> dict[str, Any]:
    """Where in the log of its database a message of Debezium is from."""
    if connector == "postgresql":
        return {"lsn": at, "sequence": f'["{at}","{at}"]'}
    if connector == "sqlserver":
        return {f"{name}_lsn": f"0:{at:x}:1" for name in ("commit", "change")}
    return {"file": "bin.000001", "pos": at, "row": 0}


@pytest.mark.parametrize(
    ("form", "connector"),
    [
        ("debezium", "mysql"),
        pytest.param("debezium", "sqlserver", marks=pytest.mark.full),
        pytest.param("debezium_flat", "postgresql", marks=pytest.mark.full),
    ],
)
def test_rows_that_debezium_reads_while_it_streams_repair(warehouse, form, connector):
    def told(op: str, at: int, snapshot: str = "false", **after: Any) -> dict[str, Any]:
        place = at_place(connector, at) | {"snapshot": snapshot}
        if form == "debezium_flat":
            return {**after, "__op": op, **{f"__source_{name}": v for name, v in place.items()}}
        return {"after": after, "source": {"connector": connector, **place}, "op": op}

    people = warehouse({"format": form}, NAME)
    rows = [told("c", at, id=at // 100, name="old") for at in (100, 200, 300, 400)]
    people.land(DAY, [*rows, told("u", 900, id=4, name="late")])
    people.load(DAY)
    people.land(
        NEXT_DAY,
        [
            told("r", 500, "incremental", id=1, name="repaired"),
            told("r", 600, "incremental", id=2, name="read before"),
            # a row is read before the change whose place it has
            told("u", 600, id=2, name="changed"),
            told("u", 700, id=3, name="changed"),
            told("r", 800, "incremental", id=3, name="repaired"),
            told("r", 800, "incremental", id=4, name="repaired too early"),
            told("r", 800, "incremental", id=5, name="found"),
        ],
    )
    people.load(NEXT_DAY)
    assert sorted(people.rows("current", "id, name")) == [
        (1, "repaired"),
        (2, "changed"),
        (3, "repaired"),
        (4, "late"),
        (5, "found"),
    ]
