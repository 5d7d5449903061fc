"""Adapters of change-event formats that come as columns: what becomes of each kind of row.

Each adapter runs on a server over rows written here, or over the files of its story.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from spark_cdc.jinja_bridge import CompilerError, Macros, load_macros, load_macros_of
from test_config import changed
from test_config import macros as configured

pytestmark = pytest.mark.proves("event formats")

FIXTURES = Path(__file__).parent / "event_formats"
FORMATS = ["flagged_rows", "dms", "sqlserver_cdc", "delta_cdf", "iceberg_changelog"]
KEY = {"name": "id", "data_type": "bigint", "meta": {"role": "key"}}
NAME = {"name": "name", "data_type": "string"}
SEQ = {"name": "seq", "data_type": "bigint", "meta": {"role": "control"}}
FLAGGED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}


@pytest.fixture(params=["true", "false"], ids=["ansi", "not ansi"])
def cursor(cursor, request):
    """A cursor with Spark's ANSI mode on, and one with it off."""
    cursor.execute(f"set spark.sql.ansi.enabled={request.param}")
    return cursor


def described(
    events: dict[str, Any], columns: Iterable[dict[str, Any]], **settings: Any
) -> tuple[Macros, dict[str, Any]]:
    """The macros, and the entity `people` as they see it."""
    whole = {"load_type": "events", "source": {}, **settings, "events": events}
    macros, _ = load_macros_of("people", whole, list(columns))
    return macros, macros._entity("people")


def typed_sql(macros: Macros, entity: dict[str, Any], landed: str) -> str:
    """What an adapter gets: each column as it came in and as declared."""
    raw = [
        f"{macros._quote(column['from'])} as {macros._raw(column)}" for column in entity["columns"]
    ]
    is_text, timezone = entity["source"]["text"], entity["timezone"]
    cast = [
        f"{macros._cast(c, macros._raw(c), is_text, timezone)} as {c['sql']}"
        for c in entity["columns"]
    ]
    return (
        f"with landed as (select {', '.join(raw)} from {landed}),\n"
        f"typed as (select *, {', '.join(cast)} from landed)\n"
    )


def events_of(
    cursor: Any, macros: Macros, entity: dict[str, Any], landed: str, *more: str
) -> list[dict[str, Any]]:
    """Runs the adapter of an entity over what landed; `more` are further columns to look at."""
    adapter = macros[f"_events_{entity['events']['format']}"](entity, "typed")
    names = ["event_op", "event_transaction", "event_problem", *more]
    cursor.execute(
        f"{typed_sql(macros, entity, landed)}, events as (\n{adapter}\n)\n"
        f"select {', '.join(names)}, to_json(event_position) as event_position,"
        " cast(unix_micros(event_time) as string) as event_time,"
        " to_json(event_before) as event_before from events"
    )
    found = [column[0].rpartition(".")[2] for column in cursor.description]
    return [dict(zip(found, row, strict=True)) for row in cursor.fetchall()]


def positions(events: list[dict[str, Any]]) -> list[list[int | None] | None]:
    return [
        [None if part == "null" else int(part) for part in text[1:-1].split(",")] if text else None
        for text in (event["event_position"] for event in events)
    ]


def rows(names: str, *values: str) -> str:
    """An inline relation of rows."""
    return f"(select * from values {', '.join(f'({row})' for row in values)} as rows({names}))"


# --- the order ----------------------------------------------------------------

ORDER_VALUES = {
    "tinyint": ["-5", "7"],
    "int": ["-2000000000", "9", "10"],
    "bigint": ["-9223372036854775808", "9", "10", "9223372036854775807"],
    "date": ["0001-01-01", "1969-12-31", "2024-05-01"],
    "timestamp": ["0001-01-01 00:00:00+00:00", "2024-10-27 01:30:00+00:00"],
    "timestamp_ntz": [
        "0001-01-01 00:00:00",
        "1969-12-31 23:59:59.999999",
        "2024-03-31 01:59:59",
        "2024-03-31 02:30:00.000001",  # not there in Berlin
        "2024-03-31 03:00:00",
        "9999-12-31 23:59:59.999999",
    ],
    "decimal(18,0)": ["-999999999999999999", "-1", "0", "999999999999999999"],
    "decimal(35,0)": [
        "-20240501080000000000000000000000001",
        "-1000000000000000000",
        "-999999999999999999",
        "-1",
        "1",
        "20240501080000010000000000000000009",
        "20240501080000010000000000000000010",
    ],
    "decimal(38,0)": [
        f"-{'9' * 38}",
        f"-1{'0' * 36}",
        "-1",
        "0",
        f"{'9' * 18}",
        f"1{'0' * 18}",
        f"1{'0' * 36}",
        f"1{'0' * 36}1",
        f"{'9' * 37}8",
        f"{'9' * 38}",
    ],
    "decimal(20,6)": ["-1.500000", "-1.000001", "-0.000001", "0", "0.000001", "1.5"],
    "decimal(38,18)": ["-1.5", "0.000000000000000001", "99999999999999999999.999999999999999999"],
    "decimal(18,18)": ["-0.5", "0.000000000000000001", "0.999999999999999999"],
}


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_numbers_sort_as_the_columns_do(cursor, zone):
    macros = load_macros()
    cursor.execute(f"set spark.sql.session.timeZone={zone}")
    queries = []
    for data_type, values in ORDER_VALUES.items():
        parts = macros._order_parts([{"name": "x", "sql": "x", "data_type": data_type}])
        literals = ", ".join(f"({i}, '{value}')" for i, value in enumerate(values))
        queries.append(
            f"select '{data_type}' as type, i, to_json(array({', '.join(parts)})) as position,"
            f" typeof(array({', '.join(parts)})) as part_type"
            f" from (select i, cast(text as {data_type}) as x"
            f" from values {literals}, (-1, null) as t(i, text))"
        )
    cursor.execute(" union all ".join(queries) + " order by 1, 2")
    found: dict[str, list[list[int]]] = {}
    for data_type, index, position, part_type in cursor.fetchall():
        assert part_type == "array<bigint>", data_type
        parts = position[1:-1].split(",")
        if index == -1:
            assert set(parts) == {"null"}, data_type
        else:
            found.setdefault(data_type, []).append([int(part) for part in parts])
    for data_type, values in ORDER_VALUES.items():
        assert len(found[data_type]) == len(values)
        assert found[data_type] == sorted(found[data_type]), data_type
        assert len({tuple(position) for position in found[data_type]}) == len(values), data_type
    assert found["timestamp_ntz"][3] == [1711852200000001]
    assert found["decimal(35,0)"][-1] == [20240501080000010, 10]
    assert found["decimal(20,6)"][0] == [-1, -500000]
    assert found["decimal(38,0)"][-1] == [99, 999999999999999999, 999999999999999999]


@pytest.mark.parametrize("data_type", ["string", "binary", "double", "boolean", "decimal(38,20)"])
def test_what_gives_no_order_is_refused(data_type):
    problems = load_macros()._order_type_problems(
        "events.order", [{"name": "x", "data_type": data_type}]
    )
    assert f"events.order names the column 'x', which is {data_type}; accepted are" in problems[0]


# --- flagged rows -------------------------------------------------------------


def test_flagged_rows(cursor):
    macros, entity = described(FLAGGED, [SEQ, KEY, NAME])
    landed = rows(
        "op, seq, id, name",
        *("'I', '9', '1', 'a'", "'u', '10', '1', 'b'", "'DELETE', '11', '1', null"),
        *("'insert', '12', '2', ''", "'X', '13', '2', 'x'", "null, '14', '2', 'x'"),
        "'U', null, '2', 'y'",
    )
    events = events_of(cursor, macros, entity, landed)
    assert [event["event_op"] for event in events] == [
        *("insert", "update", "delete", "insert", None, None, "update"),
    ]
    assert positions(events) == [[9], [10], [11], [12], [13], [14], [None]]
    problems = [event["event_problem"] for event in events]
    assert problems[:4] == [None] * 4
    assert problems[4] == (
        "unknown operation 'X' in op; accepted are I, INSERT, i, insert, U, UPDATE, u, update, "
        "D, DELETE, d, delete"
    )
    assert problems[5].startswith("unknown operation null in op; accepted are I, ")
    assert problems[6] is None
    assert {event["event_before"] for event in events} == {None}
    assert {event["event_time"] for event in events} == {None}


def test_flagged_rows_with_codes_of_all_kinds(cursor):
    codes = {1: "delete", 2: "insert", 4: "upsert", "": "read", 9: "truncate", "it's": "control"}
    flag = {"name": "kind", "data_type": "string", "meta": {"role": "control", "from": "Kind"}}
    macros, entity = described(
        {**FLAGGED, "operation": "KIND", "codes": codes}, [flag, SEQ, KEY, NAME]
    )
    assert [column["name"] for column in entity["columns"]] == ["kind", "seq", "id", "name"]
    values = [f"{text}, '1', '1', 'a'" for text in ("'1'", "'2'", "'4'", "null", "''", "'9'")]
    landed = rows("`Kind`, seq, id, name", *values, "'it\\'s', '1', '1', 'a'", "'3', '1', '1', 'a'")
    events = events_of(cursor, macros, entity, landed)
    assert [event["event_op"] for event in events] == [
        *("delete", "insert", "upsert", "read", "read", "truncate", "control", None),
    ]
    assert events[-1]["event_problem"] == (
        "unknown operation '3' in KIND; accepted are 1, 2, 4, nothing, 9, it's"
    )


def test_flagged_rows_with_old_keys_in_text(cursor):
    columns = [
        SEQ,
        {"name": "day", "data_type": "date", "meta": {"role": "key", "format": "dd.MM.yyyy"}},
        {"name": "no", "data_type": "string", "meta": {"role": "key", "from": "No"}},
        {"name": "old_day", "data_type": "string", "meta": {"role": "control"}},
        {"name": "old_no", "data_type": "string", "meta": {"role": "control"}},
    ]
    macros, entity = described({**FLAGGED, "old_key": {"day": "old_day", "no": "OLD_NO"}}, columns)
    landed = rows(
        "op, seq, day, `No`, old_day, old_no",
        "'U', '1', '02.05.2024', 'b', '01.05.2024', 'a'",
        "'U', '2', '02.05.2024', 'b', '01.05.2024', null",
        "'U', '3', '02.05.2024', 'b', '', null",
        "'U', '4', '02.05.2024', 'b', null, ''",
    )
    assert [event["event_before"] for event in events_of(cursor, macros, entity, landed)] == [
        '{"day":"01.05.2024","No":"a"}',
        '{"day":"01.05.2024","No":"b"}',
        None,
        '{"day":"02.05.2024","No":""}',
    ]


def test_flagged_rows_of_typed_tables(cursor):
    def control(name: str, data_type: str) -> dict[str, Any]:
        return {"name": name, "data_type": data_type, "meta": {"role": "control"}}

    columns = [
        control("kind", "int"),
        control("scn", "decimal(38,0)"),
        control("changed", "timestamp_ntz"),
        {"name": "at", "data_type": "timestamp", "meta": {"role": "key"}},
        {"name": "code", "data_type": "binary", "meta": {"role": "key"}},
        control("old_at", "timestamp"),
        control("old_code", "binary"),
    ]
    macros, entity = described(
        {
            "format": "flagged_rows",
            "operation": "kind",
            "codes": {1: "insert", 2: "update"},
            "order": ["changed", "scn"],
            "old_key": {"at": "old_at", "code": "old_code"},
            "transaction": "scn",
            "time": "changed",
        },
        columns,
        timezone="Europe/Berlin",
        source={"format": "table", "date_column": "d"},
    )
    landed = (
        "(select 2 as kind, cast('12345678901234567890' as decimal(38,0)) as scn,"
        " timestamp_ntz'2024-05-01 10:00:00.5' as changed,"
        " timestamp'2024-10-27 00:30:00+00:00' as at, unhex('00FF') as code,"
        " timestamp'2024-10-27 01:30:00.000001+00:00' as old_at, unhex('00FE') as old_code)"
    )
    for zone in ("UTC", "Europe/Berlin"):
        cursor.execute(f"set spark.sql.session.timeZone={zone}")
        [event] = events_of(cursor, macros, entity, landed)
        assert event["event_op"] == "update"
        assert event["event_transaction"] == "12345678901234567890"
        assert event["event_position"] == "[1714557600500000,0,12,345678901234567890]"
        assert event["event_time"] == "1714550400500000"  # 08:00 UTC
        assert event["event_before"] == ('{"at":"2024-10-27 01:30:00.000001Z","code":"AP4="}'), zone


def test_wrong_settings_of_flagged_rows_come_at_once():
    text = {"name": "no", "data_type": "string", "meta": {"role": "control"}}
    macros, entity = described(
        {
            "format": "flagged_rows",
            "order": ["no"],
            "codes": {"X": "erase"},
            "old_key": {"name": "old", "id": "old"},
            "time": "when",
        },
        [KEY, NAME, text],
    )
    with pytest.raises(CompilerError) as error:
        macros._refuse_events(entity)
    message = str(error.value)
    for part in [
        "people: the settings of events.format flagged_rows are not accepted.",
        "events.operation is missing: name the column that holds it",
        "events.time names 'when', which is no column; accepted are id, name, no",
        "events.order names the column 'no', which is string; accepted are whole numbers",
        "events.old_key has 'name', which is no key; accepted are id",
        "events.old_key names 'old', which is no column",
        "events.codes gives 'X' the operation 'erase'; accepted are insert, update, upsert, delete",
        "Correct the YAML of stg_people. Nothing was written.",
    ]:
        assert part in message
    macros, entity = described({"format": "flagged_rows", "operation": "op"}, [KEY])
    with pytest.raises(CompilerError, match=r"events\.order is missing or names no column"):
        macros._refuse_events(entity)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        (
            {"format": "flagged_rows", "order": ["id"]},
            "events.operation is missing: name the column",
        ),
        ({"format": "dms"}, "events.timestamp_column is missing: set TimestampColumnName"),
        (
            {"format": "sqlserver_cdc", "time": "when"},
            "events.time names 'when', which is no column; accepted are id, value",
        ),
        ({"format": "iceberg_changelog", "time": "value"}, ""),
        (
            {"format": "change_arrays", "fields": {"op": "x"}},
            "events.fields has the unknown key 'op'; accepted are change_type",
        ),
        ({"format": "change_arrays", "fields": "op"}, "events.fields is not a mapping"),
        (
            {"format": "debezium", "order": ["id"]},
            "events.order is given, but the format debezium has an order of its own: remove it, or "
            "name what is to be added to that order under events.order_fields",
        ),
        ({"format": "canal", "order": ["id"]}, "under events.order_fields"),
    ],
)
def test_the_settings_of_a_format_are_checked_before_anything_runs(events, message):
    node = changed(load_type="events", events=events, source__format="json")
    problems = configured(node)._entity_problems("orders", node)
    if message:
        assert [problem for problem in problems if message in problem]
        with pytest.raises(CompilerError) as error:
            configured(node).validate()
        assert message in str(error.value)
    else:
        assert problems == []


# --- AWS DMS ------------------------------------------------------------------

DMS = {"format": "dms", "timestamp_column": "committed_at"}


def test_dms(cursor):
    macros, entity = described(DMS, [KEY, NAME])
    assert [(c["name"], c["optional"]) for c in entity["events"]["technical"]] == [
        ("Op", True),
        ("committed_at", False),
    ]
    landed = rows(
        "Op, committed_at, id, name",
        "null, '2024-05-01 08:00:00.000009', '1', 'full load'",
        "'', null, '2', 'full load'",
        "'I', '2024-05-01 08:00:00.000009', '3', 'a'",
        "'U', '2024-05-01 08:00:00.000010', '3', 'b'",
        "'D', '2024-05-01 08:00:00.000010', '3', 'b'",
        "'i', '2024-05-01 08:00:00.000011', '4', 'c'",
        "'I', 'yesterday', '4', 'c'",
        "'I', null, '4', 'c'",
    )
    events = events_of(cursor, macros, entity, landed)
    assert [event["event_op"] for event in events] == [
        *("read", "read", "insert", "update", "delete", None, "insert", "insert"),
    ]
    # a tie of the third and fourth change: a tie-breaker has to tell them apart
    micros = 1714550400000000
    assert positions(events) == [
        *(None, None, [micros + 9], [micros + 10], [micros + 10], [micros + 11], [None], [None]),
    ]
    assert [event["event_time"] for event in events[:3]] == [str(micros + 9), None, str(micros + 9)]
    problems = [event["event_problem"] for event in events]
    assert problems[:5] == [None] * 5
    assert problems[5] == "unknown operation 'i' in Op; accepted are I, U, D, nothing"
    assert problems[6] == (
        "time 'yesterday' in committed_at; accepted is yyyy-MM-dd HH:mm:ss.SSSSSS"
    )
    assert problems[7] is None  # staging says that the position is missing


def test_dms_by_the_change_sequence(cursor):
    sequence = {"name": "change_seq", "data_type": "decimal(35,0)", "meta": {"role": "control"}}
    before = {"name": "BI_id", "data_type": "bigint", "meta": {"role": "control"}}
    macros, entity = described(
        {"format": "dms", "order": ["change_seq"], "old_key": {"id": "BI_id"}},
        [sequence, KEY, NAME, before],
    )
    landed = rows(
        "Op, change_seq, id, name, BI_id",
        "null, '', '1', 'a', null",
        "'U', '20240501080000010000000000000000009', '2', 'a', '1'",
        "'U', '20240501080000010000000000000000010', '2', 'b', '2'",
    )
    events = events_of(cursor, macros, entity, landed)
    assert positions(events) == [None, [20240501080000010, 9], [20240501080000010, 10]]
    assert [event["event_before"] for event in events] == [None, '{"id":"1"}', '{"id":"2"}']


def test_dms_in_parquet_with_a_declared_time(cursor):
    time = {"name": "committed_at", "data_type": "timestamp", "meta": {"role": "control"}}
    macros, entity = described(DMS, [time, KEY, NAME], source={"format": "parquet"})
    landed = (
        "(select 'I' as Op, timestamp'2024-05-01 08:00:00+00:00' as committed_at,"
        " 1L as id, 'a' as name)"
    )
    [event] = events_of(cursor, macros, entity, landed)
    assert event["event_position"] == "[1714550400000000]"


def test_dms_without_an_order_is_refused():
    macros, entity = described({"format": "dms"}, [KEY])
    with pytest.raises(CompilerError, match=r"events\.timestamp_column is missing: set Timestamp"):
        macros._refuse_events(entity)


# --- SQL Server ---------------------------------------------------------------

CDC = {"format": "sqlserver_cdc"}
CDC_NAMES = (
    "`__$start_lsn`, `__$end_lsn`, `__$seqval`, `__$operation`, `__$update_mask`, "
    "`__$command_id`, id, name"
)
LSN_FORMS = [
    "0x0000002B000003480003",
    "0x0000002b000003480003",
    "0000002B000003480003",
    "0000002b:00000348:0003",
    "AAAAKwAAA0gAAw==",
]


def test_sqlserver_cdc(cursor):
    macros, entity = described(CDC, [KEY, NAME])
    lsn = "'0x0000002B000003480003', null, '0x0000002B000003480002'"
    landed = rows(
        CDC_NAMES,
        f"{lsn}, '2', '0x0F', '1', '1', 'a'",
        f"{lsn}, '3', '0x02', '2', '1', 'a'",
        f"{lsn}, '4', '0x02', '2', '1', 'b'",
        f"{lsn}, '1', '0x0F', '10', '1', 'b'",
        f"{lsn}, '5', '0x0F', '11', '2', 'c'",
        f"{lsn}, '6', '0x0F', '12', '2', 'c'",
        f"{lsn}, 'x', '0x0F', '12', '2', 'c'",
        "'0x2B', null, null, '2', null, null, '2', 'c'",
        "null, null, 'no', '2', null, null, '2', 'c'",
    )
    events = events_of(cursor, macros, entity, landed)
    assert [event["event_op"] for event in events] == [
        *("insert", "delete", "update", "delete", "upsert", None, None, "insert", "insert"),
    ]
    place = 0x348 * 65536
    assert positions(events)[:5] == [
        [0x2B, place + 3, command, 0x2B, place + 2, rank]
        for command, rank in [(1, 1), (2, 0), (2, 1), (10, 0), (11, 1)]
    ]
    assert {event["event_transaction"] for event in events[:5]} == {"0000002B000003480003"}
    problems = [event["event_problem"] for event in events]
    assert problems[:5] == [None] * 5
    assert problems[5] == "unknown operation '6' in __$operation; accepted are 1, 2, 3, 4, 5"
    assert problems[6] == "unknown operation 'x' in __$operation; accepted are 1, 2, 3, 4, 5"
    assert problems[7] == (
        "__$start_lsn is '0x2B'; accepted are 10 bytes: binary, 0x and 20 hexadecimal digits, "
        "or base64"
    )
    assert problems[8].startswith("__$seqval is 'no'; accepted are 10 bytes")
    assert positions(events)[8][:2] == [None, None]  # type: ignore[index]


def test_sqlserver_cdc_numbers_in_all_forms(cursor):
    macros, entity = described(CDC, [KEY, NAME])
    values = [f"'{form}', null, '{form}', '2', null, '1', '1', 'a'" for form in LSN_FORMS]
    events = events_of(cursor, macros, entity, rows(CDC_NAMES, *values))
    assert len({event["event_position"] for event in events}) == 1
    assert {event["event_transaction"] for event in events} == {"0000002B000003480003"}
    highest = rows(CDC_NAMES, f"'0x{'F' * 20}', null, null, '2', null, null, '1', 'a'")
    assert positions(events_of(cursor, macros, entity, highest)) == [
        [2**32 - 1, 2**48 - 1, 0, 0, 0, 1]
    ]


def test_sqlserver_cdc_of_typed_tables(cursor):
    time = {"name": "committed", "data_type": "timestamp_ntz", "meta": {"role": "control"}}
    macros, entity = described(
        {**CDC, "time": "committed"}, [KEY, NAME, time], source={"format": "parquet"}
    )
    types = {column["name"]: column["data_type"] for column in entity["events"]["technical"]}
    assert types["__$start_lsn"] == types["__$update_mask"] == "binary"
    lsn = "unhex('0000002B000003480003')"
    landed = (
        f"(select {lsn} as `__$start_lsn`, cast(null as binary) as `__$end_lsn`,"
        f" {lsn} as `__$seqval`, 4 as `__$operation`, unhex('0F') as `__$update_mask`,"
        " 7 as `__$command_id`, 1L as id, 'a' as name,"
        " timestamp_ntz'2024-05-01 08:00:00' as committed)"
    )
    [event] = events_of(cursor, macros, entity, landed)
    assert event["event_position"] == f"[43,{0x3480003},7,43,{0x3480003},1]"
    assert event["event_time"] == "1714550400000000"
    short = landed.replace(f"{lsn} as `__$start_lsn`", "unhex('2B') as `__$start_lsn`")
    [event] = events_of(cursor, macros, entity, short)
    assert event["event_problem"].startswith("__$start_lsn is '2B'; accepted are 10 bytes")


def test_sqlserver_cdc_with_a_wrong_type_is_refused():
    wrong = {"name": "__$operation", "data_type": "string", "meta": {"role": "control"}}
    macros, entity = described(CDC, [KEY, wrong])
    with pytest.raises(CompilerError, match=r"'__\$operation' is declared string; accepted are"):
        macros._refuse_events(entity)


# --- Delta and Iceberg --------------------------------------------------------


def test_delta_cdf(cursor):
    macros, entity = described({"format": "delta_cdf"}, [KEY, NAME], source={"format": "parquet"})
    at = "timestamp'2024-05-01 08:00:00+00:00'"
    landed = rows(
        "_change_type, _commit_version, _commit_timestamp, id, name",
        f"'insert', 9L, {at}, 1L, 'a'",
        f"'update_preimage', 10L, {at}, 1L, 'a'",
        f"'update_postimage', 10L, {at}, 2L, 'a'",
        f"'delete', 11L, {at}, 2L, 'a'",
        f"'insert', 11L, {at}, 2L, 'a'",
        f"'Insert', 12L, {at}, 2L, 'a'",
        f"null, null, {at}, 2L, 'a'",
    )
    events = events_of(cursor, macros, entity, landed)
    assert [event["event_op"] for event in events] == [
        *("insert", "delete", "update", "delete", "insert", None, None),
    ]
    assert positions(events)[:5] == [[9, 1], [10, 0], [10, 1], [11, 0], [11, 1]]
    assert positions(events)[6] == [None, 1]
    assert [event["event_transaction"] for event in events[:2]] == ["9", "10"]
    assert {event["event_time"] for event in events} == {"1714550400000000"}
    assert events[5]["event_problem"] == (
        "unknown operation 'Insert' in _change_type; accepted are insert, delete, "
        "update_preimage, update_postimage"
    )


def test_iceberg_changelog(cursor):
    columns = [KEY, NAME]
    macros, entity = described(
        {"format": "iceberg_changelog"}, columns, source={"format": "parquet"}
    )
    names = "_change_type, _change_ordinal, _commit_snapshot_id, id, name"
    landed = rows(
        names,
        "'INSERT', 0, 77L, 1L, 'a'",
        "'UPDATE_BEFORE', 1, 5L, 1L, 'a'",
        "'UPDATE_AFTER', 1, 5L, 1L, 'b'",
        "'DELETE', 2, 6L, 1L, 'b'",
        "'insert', 3, 7L, 1L, 'b'",
    )
    events = events_of(cursor, macros, entity, landed)
    assert [event["event_op"] for event in events] == [
        *("insert", "delete", "update", "delete", None),
    ]
    assert positions(events) == [[0, 1], [1, 0], [1, 1], [2, 0], [3, 1]]
    assert [event["event_transaction"] for event in events[:2]] == ["77", "5"]
    assert events[4]["event_problem"] == (
        "unknown operation 'insert' in _change_type; accepted are INSERT, DELETE, "
        "UPDATE_BEFORE, UPDATE_AFTER"
    )

    number = {"name": "sequence", "data_type": "bigint", "meta": {"role": "control"}}
    macros, entity = described(
        {"format": "iceberg_changelog", "order": ["sequence"]},
        [number, *columns],
        source={"format": "parquet"},
    )
    landed = rows(f"{names}, sequence", "'INSERT', 0, 77L, 1L, 'a', 12L")
    assert positions(events_of(cursor, macros, entity, landed)) == [[12, 0, 1]]


@pytest.mark.parametrize("name", FORMATS)
def test_formats_say_what_they_add(name):
    macros = load_macros()
    settings = macros._adapter_format(name)["settings"]
    assert isinstance(settings, dict)
    described = macros._adapter_format(name)
    assert described["shape"] == "rows"
    for column in described["columns"]:
        assert set(column) <= {
            *("name", "setting", "data_type", "required"),
            *("accepted", "gives_order"),
        }
        assert {"name", "setting"} & set(column)
