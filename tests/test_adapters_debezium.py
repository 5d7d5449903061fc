"""Debezium's envelopes and flattened rows as events, and the encodings of its columns.

Each file of messages in event_formats/debezium goes through the adapter on a server; expected.yml
has the events. Encodings are held against Python's own arithmetic.
"""

from __future__ import annotations

import base64
import datetime
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from spark_cdc.jinja_bridge import load_macros, load_macros_of
from test_adapters_columns import described as described_flat
from test_adapters_columns import events_of
from test_adapters_messages import COLUMNS, ROW, described, events, expected

pytestmark = pytest.mark.proves("event formats")

FIXTURES = Path(__file__).parent / "event_formats"
MACROS = load_macros()
CASES = list(expected("debezium"))


@pytest.fixture(params=["true", "false"], ids=["ansi", "not ansi"])
def cursor(cursor, request):
    """A cursor with Spark's ANSI mode on, and one with it off, in a zone with daylight saving."""
    cursor.execute(f"set spark.sql.ansi.enabled = {request.param}")
    cursor.execute("set spark.sql.session.timeZone = America/St_Johns")
    return cursor


def lines(path: str) -> list[str]:
    """The messages of a file."""
    return (FIXTURES / path).read_text(encoding="utf-8").split("\n")[:-1]


def settings(**more: str) -> dict[str, Any]:
    """Settings of an entity of envelopes."""
    return {
        "load_type": "events",
        "events": {"format": "debezium", **more},
        "source": {"format": "json"},
    }


# --- envelopes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_messages_become_events(cursor: Any, case: str) -> None:
    wanted = expected("debezium")[case]
    found = events(
        cursor,
        settings(**wanted.get("events", {})),
        wanted.get("columns", COLUMNS),
        lines(f"debezium/{case}.json"),
    )
    assert found == wanted["expected"]


def test_every_file_has_a_case() -> None:
    assert {path.stem for path in (FIXTURES / "debezium").glob("*.json")} == set(CASES)


def wrapped(form: str, key: Any, value: Any) -> str:
    """A message as a topic dump writes it in one of several forms."""
    if form == "texts":
        return json.dumps({"key": json.dumps(key), "value": value and json.dumps(value)})
    if form == "kcat":
        text = value and json.dumps(value)
        return json.dumps({"topic": "t", "offset": 1, "key": json.dumps(key), "payload": text})
    schema = {"type": "struct", "fields": []}
    return json.dumps(
        {
            "key": {"schema": schema, "payload": key},
            "value": value and {"schema": schema, "payload": value},
        }
    )


@pytest.mark.parametrize("form", ["texts", "kcat", "schemas"])
def test_all_forms_of_a_topic_mean_the_same(cursor: Any, form: str) -> None:
    documents = [json.loads(line) for line in lines("debezium/postgresql.json")]
    dumped = [document for document in documents if "value" in document]
    assert len(dumped) > 10
    assert events(
        cursor, settings(), COLUMNS, [wrapped(form, d["key"], d["value"]) for d in dumped]
    ) == events(cursor, settings(), COLUMNS, [json.dumps(document) for document in dumped])


def test_the_key_may_lie_in_a_column_of_its_own(cursor: Any) -> None:
    macros, entity = described(settings(), COLUMNS)
    envelope = json.dumps({"op": "d", "before": None, "source": {"lsn": 1}})
    keys = ['{"id": 1}', '{"schema": {"type": "struct"}, "payload": {"id": 2}}', "null", "1"]
    values = ", ".join(f"({macros._literal(envelope)}, {macros._literal(key)})" for key in keys)
    landed = f"(select *, {ROW} from values {values}, (null, '1') as landed (message, message_key))"
    cursor.execute(
        "select event_op, to_json(event_before), event_problem is null"
        f" from ({macros._events_debezium(entity, landed)})"
    )
    assert cursor.fetchall() == [
        ("delete", '{"id":"1"}', True),
        ("delete", '{"id":"2"}', True),
        ("delete", None, False),
        ("delete", None, False),
        ("control", None, True),
    ]


def test_a_message_is_parsed_once(cursor: Any) -> None:
    macros, entity = described(settings(), COLUMNS)
    rows = "(select string(id) as message, string(id) as message_key from range(9))"
    landed = f"(select *, {ROW} from {rows})"
    cursor.execute(f"explain {macros._events_debezium(entity, landed)}")
    plan = "\n".join(row[0] for row in cursor.fetchall())
    # the message as an array of one, and by itself; what a dump wraps, each key and its payload for
    # deletes and updates, the check whether there are two documents: all but the first only where
    # they are needed
    assert plan.count("from_json(") == 8


# --- flattened rows -----------------------------------------------------------------------------


def flat_events(cursor: Any, found: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """What the adapter makes of flattened rows."""
    columns = more.pop("columns", COLUMNS[:1])
    macros, entity = described_flat({"format": "debezium_flat", **more}, columns)
    rows = []
    for row in found:
        values = [row.get(column["from"]) for column in entity["columns"]]
        rows.append(
            ", ".join(
                "cast(null as string)" if value is None else macros._literal(value)
                for value in values
            )
        )
    names = ", ".join(f"`{column['from']}`" for column in entity["columns"])
    landed = f"(select * from values {', '.join(f'({row})' for row in rows)} as rows ({names}))"
    return events_of(cursor, macros, entity, landed)


def brief(event: dict[str, Any]) -> tuple[Any, ...]:
    """An event of a row, without its problem's whole text."""
    position = event["event_position"] and json.loads(event["event_position"])
    problem = event["event_problem"] and event["event_problem"].partition(";")[0]
    time = event["event_time"] and int(event["event_time"])
    return event["event_op"], position, event["event_transaction"], time, problem


def test_flattened_rows_become_events(cursor: Any) -> None:
    found = flat_events(cursor, [json.loads(line) for line in lines("debezium_flat/rows.json")])
    log = [37, 3480, 162]
    none = "no position: accepted are __source_sequence or __lsn (PostgreSQL), "
    assert [brief(event)[:4] for event in found] == [
        ("insert", [100, 100], "7", 1714557600000000),
        ("update", [90, 101], "7", 1714557600123456),
        ("read", [80, 80], None, None),
        ("read", None, None, None),
        ("delete", [102, 102], None, None),
        ("upsert", [103, 103], None, None),
        ("upsert", [104, 104], None, None),
        ("delete", [105, 105], None, None),
        ("truncate", [106, 106], None, None),
        ("insert", [9, 4, 1], "g:1", None),
        ("update", [10, 4, 0], "t1", None),
        ("insert", [*log, 37, 3480, 153, 1], "00000025:00000d98:00a2", None),
        ("upsert", [*log, 0, 0, 0, -1], "00000025:00000d98:00a2", None),
        (None, [107, 107], None, None),
        (None, [108, 108], None, None),
        ("upsert", [109, 109], None, None),
        ("insert", None, None, None),
        ("update", None, None, 1714557600000000),
    ]
    problems = [event["event_problem"] for event in found]
    assert problems[:13] == [None] * 13
    assert problems[13:16] == [
        "unknown operation 'x' in __op; accepted are c, u, d, r, t",
        "unknown operation 'C' in __op; accepted are c, u, d, r, t",
        "unknown mark 'yes' in __deleted; accepted are true, false",
    ]
    assert all(problem.startswith(none) for problem in problems[16:])
    assert {event["event_before"] for event in found} == {None}


def test_a_declared_order_comes_before_the_log(cursor: Any) -> None:
    order = {"name": "changed", "data_type": "timestamp_ntz", "meta": {"role": "control"}}
    found = flat_events(
        cursor,
        [{"id": 1, "__lsn": 5, "changed": "1970-01-01 00:00:02"}, {"id": 2, "__lsn": 6}],
        order=["changed"],
        columns=[*COLUMNS[:1], order],
    )
    assert [brief(event)[1] for event in found] == [[2_000_000], None]
    assert found[1]["event_problem"] == (
        "no position: a column of events.order is null; accepted are rows with changed"
    )


def test_rows_of_a_snapshot_have_the_place_where_they_were_read(cursor: Any) -> None:
    mysql = {"__file": "binlog.000009", "__pos": 4, "__row": 2}
    found = flat_events(
        cursor,
        [
            {"id": 1, "__op": "r", "__snapshot": "incremental", **mysql},
            {"id": 1, "__op": "r", "__source_sequence": '["90","101"]'},
            {"id": 1, "__op": "r", "__source_snapshot": "incremental", "__lsn": 80},
            {"id": 1, "__op": "r", "__lsn": 80},
            {"id": 1, "__op": "r", "__source_snapshot": "incremental"},
        ],
    )
    none = "a row of an incremental snapshot without a place among the changes"
    assert [brief(event) for event in found] == [
        ("upsert", [9, 4, -1], None, None, None),
        ("upsert", [90, 100], None, None, None),
        ("upsert", [80, 79], None, None, None),
        ("read", [80, 80], None, None, None),
        ("read", None, None, None, none),
    ]
    rows = [
        {"id": 1, "__op": "r", "__snapshot": "incremental", "seq": "5"},
        {"id": 1, "__op": "r", "seq": "5"},
        {"id": 1, "__op": "r", "__snapshot": "incremental"},
    ]
    seq = {"name": "seq", "data_type": "bigint", "meta": {"role": "control"}}
    found = flat_events(cursor, rows, order=["seq"], columns=[*COLUMNS[:1], seq])
    assert [brief(event) for event in found] == [
        ("upsert", [5], None, None, None),
        ("read", [5], None, None, None),
        ("read", None, None, None, none),
    ]


def test_the_setting_database_leaves_out_the_columns_of_others() -> None:
    def names(**more: str) -> set[str]:
        whole = {"load_type": "events", "events": {"format": "debezium_flat", **more}, "source": {}}
        entity = load_macros_of("people", whole, COLUMNS)[0]._entity("people")
        return {column["name"] for column in entity["events"]["technical"]}

    assert names() > names(database="mysql") > {"__op", "__deleted", "__source_file", "__pos"}
    assert not names(database="mysql") & {"__lsn", "__source_commit_lsn"}


# --- encodings ----------------------------------------------------------------------------------


def encoded(number: int) -> str:
    """A whole number as Java's BigInteger.toByteArray, in base64."""
    return base64.b64encode(number.to_bytes(number_length(number), "big", signed=True)).decode()


def number_length(number: int) -> int:
    return (number if number >= 0 else ~number).bit_length() // 8 + 1


def cast(cursor: Any, data_type: str, encoding: str, texts: list[str | None]) -> list[Any]:
    """Texts as staging casts them; "rejected" where staging rejects the row."""
    column = {
        "name": "v",
        "sql": "v",
        "data_type": data_type,
        "encoding": encoding,
        "format": None,
        "nullable": True,
    }
    value = MACROS._cast(column, "cdc__raw_v", True, "Europe/Berlin")
    condition = MACROS._reject_condition(column, "cdc__raw_v", "v", True, {})
    rows = ", ".join(
        f"({place}, {'cast(null as string)' if text is None else MACROS._literal(text)})"
        for place, text in enumerate(texts)
    )
    shown = {
        "timestamp": "cast(unix_micros(v) as string)",
        "timestamp_ntz": "cast(v as string)",
        "date": "cast(v as string)",
    }.get(data_type, "try_cast(v as string)")
    cursor.execute(
        f"select if({condition}, 'rejected', {shown}) from ("
        f"select *, {value} as v"
        f" from values {rows} as landed (place, cdc__raw_v)) order by place"
    )
    return [row[0] for row in cursor.fetchall()]


def decimals() -> list[int]:
    """Whole numbers around each border, and random ones of each length."""
    borders = [0, 127, 128, 255, 256, 2**63 - 1, 2**63, 2**64, 10**38 - 1, 10**38, 2**127 - 1]
    numbers = [sign * (border + step) for border in borders for sign in (1, -1) for step in (0, 1)]
    chosen = random.Random(4)
    numbers += [chosen.choice([1, -1]) * chosen.randrange(10 ** (n % 38 + 1)) for n in range(200)]
    return [number for number in numbers if number_length(number) <= 16]


@pytest.mark.parametrize(
    ("precision", "scale"), [(38, 0), (38, 38), (38, 10), (10, 2), (18, 4), (10, 0)]
)
def test_decimals_in_base64(cursor: Any, precision: int, scale: int) -> None:
    numbers = decimals()
    found = cast(cursor, f"decimal({precision},{scale})", "base64", [encoded(n) for n in numbers])
    for number, value in zip(numbers, found, strict=True):
        if abs(number) >= 10**precision:
            assert value == "rejected", number
        else:
            assert Fraction(value) == Fraction(number, 10**scale), number


def test_decimals_with_their_scale_beside_them(cursor: Any) -> None:
    cases = {
        '{"scale":2,"value":"MDk="}': "123.45",
        '{"scale":3,"value":"MDQ="}': "12.34",
        '{"value":"+Q==","scale":-2}': "-700.00",
        '{"scale":0,"value":"AA=="}': "0.00",
        '{"scale":30,"value":"AA=="}': "0.00",
        json.dumps({"scale": 30, "value": encoded(5 * 10**28)}): "0.05",
        '{"scale":3,"value":"MDk="}': "rejected",
        json.dumps({"scale": 1, "value": encoded(10**9)}): "rejected",
        '{"scale":99999,"value":"AQ=="}': "rejected",
        '{"scale":null,"value":"AQ=="}': "rejected",
        '{"scale":"x","value":"AQ=="}': "rejected",
        '{"value":"AQ=="}': "rejected",
        '{"scale":1}': "rejected",
        "{": "rejected",
    }
    assert cast(cursor, "decimal(10,2)", "base64", list(cases)) == list(cases.values())


def test_what_is_no_decimal_in_base64_is_rejected(cursor: Any) -> None:
    texts = ["12.34", "-1", "NaN", "NAN", "Inf", "POSITIVE_INFINITY", "MDk", "1", "====", " "]
    texts.append(base64.b64encode(bytes(17)).decode())
    assert cast(cursor, "decimal(10,2)", "base64", texts) == ["rejected"] * len(texts)
    assert cast(cursor, "decimal(10,2)", "base64", [None, ""]) == [None, None]


EPOCH = datetime.datetime(1970, 1, 1)
TIMES = [
    "1970-01-01 00:00:00",
    "2024-03-10 02:30:00.123456",
    "1969-12-31 23:59:59.999999",
    "1600-02-29 12:00:00",
    "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.999999",
    "2024-02-29 00:00:00",
]
MICROS = {"days": 86_400_000_000, "seconds": 1_000_000, "millis": 1_000, "micros": 1}


@pytest.mark.parametrize("encoding", [*MICROS, "nanos"])
def test_times_since_1970(cursor: Any, encoding: str) -> None:
    texts, instants, walls, dates = [], [], [], []
    for text in TIMES:
        time = datetime.datetime.fromisoformat(text)
        micros = (time - EPOCH) // datetime.timedelta(microseconds=1)
        if encoding != "nanos":
            micros -= micros % MICROS[encoding]
            time = EPOCH + datetime.timedelta(microseconds=micros)
            texts.append(str(micros // MICROS[encoding]))
        elif abs(micros) < 2**63 // 1000:
            texts.append(str(micros * 1000))
        else:
            continue
        instants.append(str(micros))
        walls.append(time.isoformat(" ").rstrip("0") if time.microsecond else str(time))
        dates.append(str(time.date()) if time.time() == datetime.time() else "rejected")
    assert cast(cursor, "timestamp", encoding, texts) == instants
    assert cast(cursor, "timestamp_ntz", encoding, texts) == walls
    assert cast(cursor, "date", encoding, texts) == dates


@pytest.mark.parametrize("data_type", ["date", "timestamp", "timestamp_ntz"])
def test_what_is_no_time_since_1970_is_rejected(cursor: Any, data_type: str) -> None:
    infinite = {  # as PostgreSQL's infinity arrives, and the first numbers out of range
        "days": ["2146033979", "-2147483648", "2932897", "-719163", "99999999999"],
        "seconds": ["253402300800", "-62135596801"],
        "millis": ["253402300800000", "-62135596800001"],
        "micros": ["9223371331200000000", "-9223372036832400000", "253402300800000000"],
        "nanos": ["1", "999", "1714557600123456789"],
    }
    wrong = ["x", "1.5", "2024-01-01", "infinity", "NaN", "1e3", "9223372036854775808", " "]
    for encoding, texts in infinite.items():
        found = cast(cursor, data_type, encoding, texts + wrong)
        assert found == ["rejected"] * len(texts + wrong), encoding
        assert cast(cursor, data_type, encoding, [None, ""]) == [None, None]


@pytest.mark.parametrize(
    ("data_type", "encoding", "form", "problem"),
    [
        ("date", "days", None, None),
        ("timestamp", "micros", None, None),
        ("timestamp_ntz", "nanos", None, None),
        ("decimal(10,2)", "base64", None, None),
        ("decimal(10,2)", None, None, None),
        ("date", "base64", None, "c: encoding is 'base64'; accepted are days, seconds, millis"),
        ("decimal(10,2)", "days", None, "c: encoding is 'days'; accepted are base64"),
        ("string", "base64", None, "c has an encoding, but the type string: encodings are for"),
        ("date", "days", "yyyy", "c has a format and an encoding: a number since 1970 has no"),
    ],
)
def test_the_encoding_is_checked(
    data_type: str, encoding: str | None, form: str | None, problem: str | None
) -> None:
    meta = {"encoding": encoding, "format": form}
    rules = MACROS._known_settings()["column"]
    hashed = MACROS._hash_type(data_type)
    found = MACROS._column_type_problems("c", data_type, hashed, meta, rules, False, False)
    assert len(found) == (problem is not None)
    assert not found or found[0].startswith(problem)
