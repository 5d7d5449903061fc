"""Debezium's messages from Avro: typed structs in Parquet, as `spark-cdc stream` and others land.

The same events are loaded from JSON and typed; all that is stored has to be equal, with its hashes.
Here Spark makes the typed files from types written down in avro_events.py. That from_avro gives
these for schemas as Debezium registers them is a test of its own, in `make test-all`.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from avro_events import (
    KEY,
    KINDS,
    Message,
    avro_schema,
    columns,
    envelope_type,
    framed,
    meant,
    row,
    rows_sql,
    story,
)
from event_warehouse import EventWarehouse, column
from spark_cdc.hashing import row_hash
from spark_cdc.jinja_bridge import CompilerError, load_macros_of
from test_adapters_loads import NAME

pytestmark = pytest.mark.proves("event formats")

DAY, NEXT_DAY = "2024-05-01", "2024-05-02"
PARQUET = {"format": "parquet"}
Warehouse = Callable[..., EventWarehouse]


@pytest.fixture
def warehouse(cursor: Any, schema: str, tmp_path: Path) -> Warehouse:
    """Makes a warehouse of envelopes; in a session whose zone is none of the data's."""
    cursor.execute("set spark.sql.session.timeZone = America/St_Johns")

    def make(columns: list[dict[str, Any]], name: str = "things", **source: Any) -> EventWarehouse:
        return EventWarehouse(
            cursor,
            schema,
            tmp_path / name,
            columns,
            events={"format": "debezium"},
            source=source,
            name=name,
        )

    return make


def land_typed(
    people: EventWarehouse, place: str, rows: list[dict[str, Any]], **types: str
) -> None:
    """Writes typed rows as a Parquet file; types: of their columns, by name."""
    into = f"insert overwrite directory '{people.folder}/{place}' using parquet"
    people.cursor.execute(f"{into} {rows_sql(rows, types)}")


def topic(told: list[Message], at: int = 0) -> list[dict[str, Any]]:
    """Messages as a topic's rows, typed."""
    return [
        {"key": message.key, "value": message.told(1), "offset": offset, "topic": "t"}
        for offset, message in enumerate(told, at)
    ]


TOPIC = {"key": "struct<id:bigint>", "offset": "bigint", "partition": "int", "topic": "string"}


def stored(people: EventWarehouse) -> list[dict[str, Any]]:
    """All rows that the views show, with their hashes."""
    rows = []
    for view in ("current", "history", "versions"):
        found = people.rows(view, people.macros._typed_json("struct(*)"))
        rows += [
            {"view": view} | json.loads(text, parse_float=str)
            for (text,) in sorted(found.elements())
        ]
    return rows


def differences(found: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> list[Any]:
    """Where rows differ: what was found and what was wanted, by column."""
    assert len(found) == len(wanted)
    return [
        {name: (row.get(name), other[name]) for name in other if row.get(name) != other[name]}
        for row, other in zip(found, wanted, strict=True)
        if row != other
    ]


# --- the same events as JSON and typed ------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("layout", [pytest.param("topic", marks=pytest.mark.full), "rows"])
def test_typed_messages_are_those_of_json(warehouse: Warehouse, layout: str) -> None:
    loads = dict(zip((DAY, NEXT_DAY), story(KINDS), strict=True))
    told = warehouse(columns(KINDS, "json_meta"))
    wanted = {}
    for date, messages in loads.items():
        told.land(date, [{"key": m.key, "value": m.told(0)} for m in messages])
        told.load(date)
        wanted[date] = stored(told)
    assert len([told_row for told_row in wanted[NEXT_DAY] if told_row["view"] == "current"]) == 8
    # the snapshot's rows are those that the oracle of hashes knows
    types = {name: kind.data_type for name, kind in KINDS.items()}
    assert {
        shown["id"]: shown["nonkey_hash"] for shown in wanted[DAY] if shown["view"] == "current"
    } == {
        id: row_hash(
            types,
            {
                name: meant(KINDS[name], value[1])
                for name, value in row(KINDS, id).items()
                if name in KINDS
            },
        ).hex()
        for id in range(8)
    }

    typed = warehouse(columns(KINDS, "typed_meta"), format="parquet")
    for date, messages in loads.items():
        if layout == "topic":
            land_typed(typed, date, topic(messages), value=envelope_type(KINDS), **TOPIC)
        else:
            rows = [{"key": m.key} | m.told(1) for m in messages if m.op]
            fields = typed.macros._typed_fields(envelope_type(KINDS))
            types = {field["col_name"]: field["data_type"] for field in fields}
            land_typed(typed, date, rows, key=TOPIC["key"], **types)
        typed.load(date)
        assert differences(stored(typed), wanted[date]) == []
    assert typed.summary["controls"] == (2 if layout == "topic" else 0)


# --- files of several schemas ---------------------------------------------------------------------

WAS = {"name": KINDS["text"], "amount": KINDS["amount"]}
NOW = {"name": KINDS["text"], "remark": KINDS["text"], "amount": KINDS["wide"]}


def land_schemas(people: EventWarehouse) -> None:
    """A topic whose table got a column, and wider amounts, as `spark-cdc stream` lands it."""

    def message(op: str, lsn: int, before: Any, **after: Any) -> Message:
        row = {name: (value, value) for name, value in after.items()}
        return Message({"id": after["id"]}, op, lsn, before, row)

    was = [
        message("c", 1, None, id=1, name="Alice", amount=1.5),
        message("c", 2, None, id=2, name="Bob", amount=2),
        message("c", 3, None, id=3, name="Carla", amount=3),
    ]
    now = [
        message("u", 4, None, id=1, name="Alice", remark="a", amount=1.25),
        # sent before the table was changed, and by the former schema
        message("c", 6, None, id=4, name="Dan", remark=None, amount=4),
    ]
    still = [message("u", 5, None, id=1, name="Alicia", amount=1.5)]
    gone = [
        Message(
            {"id": 3}, "d", 7, {"id": (3, 3), "name": (None, None), "amount": (None, None)}, None
        )
    ]
    day = f"{DAY}/batch=1"
    land_typed(people, f"{day}/schema=1-2", topic(was), value=envelope_type(WAS), **TOPIC)
    land_typed(people, f"{day}/schema=1-3", topic(now), value=envelope_type(NOW), **TOPIC)
    land_typed(
        people, f"{DAY}/batch=2/schema=1-2", topic(still + gone), value=envelope_type(WAS), **TOPIC
    )
    land_typed(people, f"{DAY}/batch=2/schema=1-0", [{"key": {"id": 3}, "topic": "t"}], **TOPIC)


ID = column("id", "bigint", role="key")
AMOUNT = column("amount", "decimal(38,18)")
REMARK = column("remark", "string")


def test_a_column_that_came_later_is_no_null_before(warehouse: Warehouse) -> None:
    people = warehouse([ID, NAME, REMARK, AMOUNT], format="parquet")
    land_schemas(people)
    people.load(DAY)
    assert people.rows("current", "id, name, remark, cast(amount as string)") == {
        (1, "Alicia", "a", "1.500000000000000000"): 1,
        (2, "Bob", None, "2.000000000000000000"): 1,
        (4, "Dan", None, "4.000000000000000000"): 1,
    }
    assert people.summary["controls"] == 1


@pytest.mark.parametrize("policy", ["error", pytest.param("ignore", marks=pytest.mark.integration)])
def test_a_column_that_is_not_declared_follows_the_policy(
    warehouse: Warehouse, policy: str
) -> None:
    people = warehouse([ID, NAME, AMOUNT], format="parquet", on_unexpected_column=policy)
    land_schemas(people)
    if policy == "error":
        with pytest.raises(CompilerError, match=r"(?s)unexpected.*remark"):
            people.load(DAY)
        return
    people.load(DAY)
    assert people.rows("current", "id, name") == {(1, "Alicia"): 1, (2, "Bob"): 1, (4, "Dan"): 1}
    assert people.summary["unexpected"] == 2


@pytest.mark.integration
def test_structs_of_many_columns_are_told_apart(warehouse: Warehouse) -> None:
    """Spark's `describe` leaves out what comes behind 25 fields, unless it is told not to."""
    many = {f"c{i:02}": KINDS["long"] for i in range(30)}
    more = many | {"c30": KINDS["long"]}
    people = warehouse([ID, *(column(name, "bigint") for name in more)], format="parquet")
    for number, kinds in enumerate((many, more)):
        values = dict.fromkeys(kinds, (number, number))
        message = Message({"id": 1}, "cu"[number], 1 + number, None, {"id": (1, 1)} | values)
        land_typed(
            people, f"{DAY}/schema={number}", topic([message]), value=envelope_type(kinds), **TOPIC
        )
    people.load(DAY)
    assert people.rows("current", "c00, c29, c30") == {(1, 1, 1): 1}


def test_a_load_of_tombstones_is_none_of_rows(warehouse: Warehouse) -> None:
    people = warehouse([ID, NAME], format="parquet")
    land_typed(people, f"{DAY}/batch=1/schema=1-0", [{"key": {"id": 3}, "topic": "t"}], **TOPIC)
    people.load(DAY)
    assert people.summary["controls"] == 1
    assert people.rows("current", "id") == {}


# --- real Avro ------------------------------------------------------------------------------------


@pytest.mark.full
def test_from_avro_gives_what_is_written_down_here(avro_cursor: Any, warehouse: Warehouse) -> None:
    """Schemas as Debezium registers them, written by fastavro, read by Spark: types and values."""
    schema = avro_schema(KINDS)
    typed = warehouse(columns(KINDS, "typed_meta"), format="parquet")
    for date, messages in zip((DAY, NEXT_DAY), story(KINDS), strict=True):
        literal = typed.macros._literal
        rows = [
            f"(X'{framed(schema, m.told(1), 7).hex()}', named_struct('id', {m.key['id']}L))"
            if m.op
            else f"(cast(null as binary), named_struct('id', {m.key['id']}L))"
            for m in messages
        ]
        sql = (
            f"select from_avro(substring(body, 6), {literal(json.dumps(schema))},"
            f" map('mode', 'FAILFAST')) as value, key from values {', '.join(rows)} as t(body, key)"
        )
        avro_cursor.execute("set spark.sql.session.timeZone = America/St_Johns")
        avro_cursor.execute("set spark.sql.debug.maxToStringFields = 1000")
        avro_cursor.execute(f"describe query {sql}")
        assert avro_cursor.fetchall()[0][1] == envelope_type(KINDS)
        avro_cursor.execute(
            f"insert overwrite directory '{typed.folder}/{date}' using parquet {sql}"
        )
        typed.load(date)
    found = stored(typed)
    told = warehouse(columns(KINDS, "json_meta"), name="told")
    for date, messages in zip((DAY, NEXT_DAY), story(KINDS), strict=True):
        told.land(date, [{"key": m.key, "value": m.told(0)} for m in messages])
        told.load(date)
    assert differences(found, stored(told)) == []


# --- what does not go together, before anything is read -------------------------------------------


def described(data_type: str, **meta: Any) -> tuple[Any, dict[str, Any]]:
    """The macros, and an entity with a column `x`."""
    settings = {
        "load_type": "events",
        "events": {"format": "debezium"},
        "source": {"format": "parquet", "path": "/landing/{business_date}"},
    }
    macros, _ = load_macros_of("people", settings, [ID, column("x", data_type, **meta)])
    return macros, macros._entity("people")


@pytest.mark.parametrize(
    ("found", "data_type", "meta", "reason"),
    [
        ("bigint", "timestamp_ntz", {}, "say by encoding: what the number counts"),
        ("int", "date", {}, "say by encoding: what the number counts"),
        ("date", "date", {"encoding": "days"}, "which is for whole numbers: leave it out"),
        ("timestamp", "timestamp", {"encoding": "micros"}, "which is for whole numbers"),
        ("date", "date", {"format": "yyyy"}, "which is for text: leave it out"),
        ("binary", "binary", {"format": "hex"}, "which is for text: leave it out"),
        ("binary", "decimal(10,2)", {}, "say encoding: base64"),
        ("decimal(10,2)", "decimal(10,2)", {"encoding": "base64"}, "which is for bytes"),
        ("timestamp", "bigint", {}, "declare the type found, or string"),
        ("time(6)", "bigint", {}, "declare the type found, or string"),
        ("time(6)", "timestamp", {}, "declare it string"),
    ],
)
@pytest.mark.parametrize("layout", ["topic", "rows", "key"])
def test_what_does_not_go_together_is_refused(found, data_type, meta, reason, layout) -> None:
    macros, entity = described(data_type, **meta)
    row = f"struct<id:bigint,x:{found}>"
    fields = {"before": row, "after": row, "op": "string"}
    if layout == "topic":
        joined = ",".join(f"{name}:{type_}" for name, type_ in fields.items())
        fields = {"key": "struct<id:bigint>", "value": f"struct<{joined}>"}
    elif layout == "key":
        fields = {"key": row, "value": "string"}
    told = [{"col_name": name, "data_type": type_} for name, type_ in fields.items()]
    [problem] = macros._typed_message_problems(entity, told)
    assert problem.startswith(f"x is {found}, declared {data_type}")
    assert reason in problem


def test_a_name_that_spark_would_replace_is_refused() -> None:
    macros, entity = described("string")
    for told in (
        [{"col_name": "after", "data_type": "struct<id:bigint,${spark.master}:int>"}],
        [{"col_name": "${spark.master}", "data_type": "int"}],
    ):
        [problem] = macros._typed_message_problems(entity, told)
        assert problem.startswith("${spark.master} has ${ in its name")


@pytest.mark.parametrize("name", KINDS)
def test_what_goes_together_is_not(name: str) -> None:
    kind = KINDS[name]
    macros, entity = described(kind.data_type, **kind.typed_meta)
    told = [{"col_name": "after", "data_type": f"struct<id:{KEY.typed},x:{kind.typed}>"}]
    assert macros._typed_message_problems(entity, told) == []


def test_a_refusal_names_the_file(warehouse: Warehouse) -> None:
    wrong = column("amount", "decimal(38,18)", encoding="base64")
    people = warehouse([ID, NAME, REMARK, wrong], format="parquet")
    land_schemas(people)
    with pytest.raises(CompilerError) as error:
        people.load(DAY)
    for part in (
        "things: types in parquet files of ",
        "amount is decimal(10,2), declared",
        "schema=1-2/",
        "Nothing was written.",
    ):
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("paths", "pattern"),
    [
        (["file:/l/a.parquet"], "file:/l/{a.parquet}"),
        (["file:/l/a.parquet", "file:/l/b{1}.parquet"], "file:/l/{a.parquet,b\\{1\\}.parquet}"),
        (["file:/l/x/a.parquet", "file:/l/xy/b.parquet"], "file:/l/{x/a.parquet,xy/b.parquet}"),
        (["s3a://b/l/s=1/a,1", "s3a://b/l/s=2/a*"], "s3a://b/l/{s=1/a\\,1,s=2/a\\*}"),
    ],
)
def test_some_files_are_named_by_a_pattern(paths: list[str], pattern: str) -> None:
    macros, entity = described("string")
    options = macros._path_options(entity, [datetime.datetime(2024, 5, 1)], paths)
    assert options["path"] == pattern
    assert options.get("basePath") == ("/landing/2024-05-01" if "=" in pattern else None)
