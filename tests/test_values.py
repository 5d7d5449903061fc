"""A value is taken as it is, or its row is rejected: docs/values.md, against a Python reference.

The reference reads a text by the grammar of the docs, with Python's own arithmetic. Random and
nasty texts of each type go through casts and rejects of staging, in ANSI mode and without it, in
two time zones of the session.
"""

from __future__ import annotations

import datetime
import itertools
import math
import random
import re
import struct
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pyhive.exc import OperationalError

from spark_cdc.jinja_bridge import load_macros

pytestmark = pytest.mark.proves("values")

MACROS = load_macros()
SEED = 2024
REJECTED = "rejected"
EPOCH = datetime.datetime(1970, 1, 1)

SESSIONS = list(itertools.product(["true", "false"], ["America/St_Johns", "Asia/Tokyo"]))


@pytest.fixture(params=SESSIONS, ids=[" ".join(("ansi", a, z)) for a, z in SESSIONS])
def session(cursor, request):
    """A cursor in an ANSI mode and a time zone, set as loads do where a column has a pattern."""
    for name, value in zip(("ansi.enabled", "session.timeZone"), request.param, strict=True):
        cursor.execute(f"set spark.sql.{name} = {value}")
    cursor.execute("set spark.sql.legacy.timeParserPolicy = corrected")
    return cursor


# The reference: what a text is in a type, or REJECTED. None is null.

NUMBER = re.compile(r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?")
DAY = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
SECOND = r":(?P<second>[0-9]{1,2})([.](?P<fraction>[0-9]*))?"
TIME = r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2})"
REGION = r"[A-Za-z_]+(/[A-Za-z0-9_+-]+)+"
ZONE = rf"(?P<zone>Z|(UTC|GMT|UT)?[+-][0-9]{{1,2}}(:?[0-9]{{2}})?|UTC|GMT|UT|{REGION})"


def number(text: str) -> Fraction | None:
    """A number by its digits; none if the text is no number."""
    if not NUMBER.fullmatch(text):
        return None
    mantissa, _, exponent = text.lower().partition("e")
    power = max(-500, min(500, int(exponent or 0)))  # beyond that no type has room for it
    return Fraction(Decimal(mantissa)) * Fraction(10) ** power


def as_boolean(text: str) -> Any:
    """By Spark's words for it."""
    word = text.lower()
    return word in TRUE if word in TRUE + FALSE else REJECTED


TRUE, FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")


def as_integer(bits: int) -> Callable[[str], Any]:
    """A whole number of so many bits."""

    def read(text: str) -> Any:
        if not re.fullmatch(r"[+-]?[0-9]+", text):
            return REJECTED
        value = int(text)
        return value if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else REJECTED

    return read


def as_decimal(precision: int, scale: int) -> Callable[[str], Any]:
    """A number of which no digit is lost; digits may be of any script."""

    def read(text: str) -> Any:
        value = number(re.sub(r"\d", lambda digit: str(int(digit[0])), text))
        if value is None:
            return REJECTED
        unscaled = value * 10**scale
        if unscaled.denominator != 1 or abs(unscaled) >= 10**precision:
            return REJECTED
        return Decimal(int(unscaled)).scaleb(-scale, Context(prec=60))

    return read


def as_floating(code: str) -> Callable[[str], Any]:
    """The nearest number of the type; whole numbers below 2^63 have to be just it."""

    def read(text: str) -> Any:
        special = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}.get(
            text.lower().lstrip("+-")
        )
        if special is not None:
            if text[:2] in ("++", "--", "+-", "-+") or text.lower() == "-nan":
                return REJECTED
            return -special if text.startswith("-") else special
        value = number(text)
        if value is None:
            return REJECTED
        nearest = nearest_of(code, text)
        if math.isinf(nearest) or (nearest == 0 and value != 0):
            return REJECTED
        is_written_out = re.fullmatch(r"[+-]?[0-9]+([.]0*)?", text)
        if is_written_out and abs(value) < 2**63 and Fraction(nearest) != value:
            return REJECTED
        return nearest

    return read


SPECIAL = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}


def nearest_of(code: str, text: str) -> float:
    """A text as float or double."""
    if code == "d":
        return float(text)
    try:
        return float(struct.unpack("f", struct.pack("f", float(text)))[0])
    except OverflowError:
        return math.inf


def as_time(data_type: str, zone: str) -> Callable[[str], Any]:
    """A day, or a time to the microsecond; of an instant its microseconds since 1970."""
    time = {
        "date": r"(?P<midnight>00:00(:00([.]0+)?)?[zZ]?)?",
        "timestamp": rf"{TIME}{SECOND}( *{ZONE})?",
        "timestamp_ntz": rf"{TIME}({SECOND})?",
    }[data_type]
    pattern = re.compile(rf"{DAY}([ T]{time})?")

    def read(text: str) -> Any:
        found = pattern.fullmatch(text)
        if not found:
            return REJECTED
        parts = found.groupdict()
        fraction = parts.get("fraction") or ""
        if fraction[6:].strip("0"):
            return REJECTED
        names = ("year", "month", "day", "hour", "minute", "second")
        try:
            clock = datetime.datetime(
                *(int(parts.get(name) or 0) for name in names), int(fraction[:6].ljust(6, "0"))
            )
        except ValueError:
            return REJECTED
        if data_type == "date":
            return clock.date().isoformat()
        if data_type == "timestamp_ntz":
            return micros(clock)
        return instant(clock, parts["zone"] or zone)

    return read


def micros(clock: datetime.datetime) -> int:
    """Microseconds since 1970."""
    return (clock - EPOCH) // MICROSECOND


MICROSECOND = datetime.timedelta(microseconds=1)


def instant(clock: datetime.datetime, zone: str) -> Any:
    """A wall clock's time in a zone; rejected if the zone skips it."""
    offset = re.fullmatch(r"(?:UTC|GMT|UT)?([+-])([0-9]{1,2}):?([0-9]{2})?", zone)
    if offset:
        sign, hours, minutes = offset.groups()
        if int(hours) * 60 + int(minutes or 0) > 18 * 60 or int(minutes or 0) > 59:
            return REJECTED
        shift = datetime.timedelta(hours=int(hours), minutes=int(minutes or 0)) // MICROSECOND
        return micros(clock) - shift if sign == "+" else micros(clock) + shift
    if "/" not in zone:
        return micros(clock)
    try:
        region = ZoneInfo(zone)
    except (KeyError, ValueError):
        return REJECTED
    years = {1: 400, 9999: -400}.get(clock.year, 0)  # where Python ends; calendar and rules repeat
    there = clock.replace(year=clock.year + years, tzinfo=region)
    back = there.astimezone(datetime.UTC).astimezone(region)
    if back.replace(tzinfo=None) != there.replace(tzinfo=None):
        return REJECTED
    there = there.astimezone(datetime.UTC)
    return micros(there.replace(tzinfo=None)) - years // 400 * 146097 * 86400 * 10**6


# Texts: nasty ones of all types, and random ones that are nearly right.

NASTY = """
0|-0|+1|1.|.5|.|1e3|1E-2|1e400|-1e400|1e-400|1.999e-400|1e39|1e-46|0x1p3|1d|1f|1D|16777217
16777216|-16777217.0|16777217.5|9007199254740993|9007199254740992|9223372036854775808
100000000000000000000000|0.1|3.14159265358979323846|12345678901234567890.123|1500e-2|1505e-2
15.00e1|1.005e1|0e-99|1e99999999999|1e-99999999999|127|128|-129|32768|2147483648|12.0|12.5|1_000
1,5|٣|--1|+-1|NaN|nan|-nan|+NaN|NaNd|inf|Inf|-Infinity|+inf|INFINITY|infinit|true|T|tr|Yes|n|FALSE
on|2|null|NULL|\\N|2024|2024-02|2024-02-03|2024-2-3|2024-02-30|2023-02-29|2024-02-29|0000-01-01
0001-01-01|9999-12-31|10000-01-01|+10000-01-01|-0001-01-01|+2024-01-01|02024-01-01|20240203
2024/02/03|03.02.2024|2024-02-03T|2024-02-03Tgarbage 15h30|2024-02-03 foo|2024-02-03T1530
2024-2-3 x|2024-2-3T|2024-02-3T|2024-02-03 00:00:00|2024-02-03T00:00Z|2024-02-03 00:00:00.000
2024-02-03 00:00:01|2024-02-03 24:00:00|2024-02-03 12:30|2024-02-03T12:30:15
2024-02-03 12:30:15.123456|2024-02-03 12:30:15.1234567|2024-02-03 12:30:15.123456000
2024-02-03 12:30:15.1234560001|2024-02-03 12:30:15.|2024-02-03 12:30:60|2024-02-03  12:30:15
2024-02-03 12:30:15Z|2024-02-03T12:30:15.5Z|2024-02-03 12:30:15+01:00|2024-02-03 12:30:15 +0130
2024-02-03 12:30:15-5|2024-02-03 12:30:15 UTC|2024-02-03 12:30:15 GMT+2
2024-02-03 12:30:15 Europe/Berlin|2024-02-03 12:30:15Europe/Berlin
2024-02-03 12:30:15 America/Port-au-Prince|2024-02-03 12:30:15 Etc/GMT+5
2024-02-03 12:30:15 Nowhere/City|2024-02-03 12:30:15 CET|2024-02-03 12:30:15+01:00:30
2024-02-03 12:30:15+19:00|2024-02-03 12:30:15+01:60|12:30:00|T12:30:00|12:30|2024-03-31 02:30:00
2024-03-31 02:30:00+01:00|2024-03-31 01:59:59.999999|2024-03-31 03:00:00|2024-10-27 02:30:00
2024-03-31 02:00 Europe/Berlin|2024-03-31 03:30:00 America/New_York
2024-03-10 02:30:00 America/New_York|1850-01-01 00:00:00|1893-03-31 23:59:59|1916-04-30 23:30:00
1945-05-24 02:30:00|2011-12-30 12:00:00 Pacific/Apia|2024-09-08 00:00:00 America/Santiago
2024-04-01 00:00:00|yesterday|now|today|QUI=|QUI|Q===|Q|ABC|abcd|0x41|4g|caf\u00e9|\u00e9|a b|-|+
e|E5|1e|1e+|:|::|2024-|-2024-01-01|2024--01-01|1970-01-01T00:00:00+
""".replace("\n", "|").split("|")

PIECES = [*"0192-:.TZeE+xf ", "2024", "00", "59", "24", "60", "000000", ""]
SHAPES = """{y}-{m}-{d}
{y}-{m}-{d} {h}:{i}:{s}|{y}-{m}-{d}T{h}:{i}:{s}.{f}{z}|{y}-{m}-{d} {h}:{i}{z}
{n}.{f}|-{n}e{e}|{n}.{f}e-{e}|{n}""".replace("\n", "|").split("|")


def texts(count: int) -> list[str]:
    """The nasty texts, some with spaces around, and random ones.

    These have a right shape, or one from which something was taken, or into which it was put.
    """
    chosen = random.Random(SEED)
    found = [text for text in NASTY if text]
    found += [f" {text}\t" for text in NASTY[::3] if text]
    while len(found) < count:
        text = chosen.choice(SHAPES).format(
            y=chosen.choice([1, 999, 1582, 1900, 2024, 9999, 12024]),
            m=chosen.choice(["1", "02", "12", "13", "03"]),
            d=chosen.choice(["1", "29", "30", "31", "32", "00"]),
            h=chosen.choice(["0", "02", "23", "24"]),
            i=chosen.choice(["0", "30", "59", "60"]),
            s=chosen.choice(["0", "07", "59", "61"]),
            f="".join(chosen.choices("0019", k=chosen.randint(1, 10))),
            z=chosen.choice(["", "Z", "+02:00", " Europe/Berlin", "-18:00", "+0"]),
            n="".join(chosen.choices("0123456789", k=chosen.randint(1, 22))),
            e=chosen.randint(0, 60),
        )
        if chosen.random() < 0.4:
            place = chosen.randint(0, len(text))
            text = text[:place] + chosen.choice(PIECES) + text[place:][chosen.randint(0, 2) :]
        found.append(text)
    return sorted({text for text in found if text.strip()})


TEXTS = texts(3000)

# type, how its value is shown, the reference; zone of the entity in the last
TYPES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "boolean": ("v", as_boolean),
    "tinyint": ("v", as_integer(8)),
    "smallint": ("v", as_integer(16)),
    "int": ("v", as_integer(32)),
    "bigint": ("v", as_integer(64)),
    "decimal(10,2)": ("v", as_decimal(10, 2)),
    "decimal(38,18)": ("v", as_decimal(38, 18)),
    "decimal(20,0)": ("v", as_decimal(20, 0)),
    "float": ("cast(v as double)", as_floating("f")),
    "double": ("v", as_floating("d")),
    "date": ("cast(v as string)", as_time("date", "UTC")),
    "timestamp": ("unix_micros(v)", as_time("timestamp", "UTC")),
    "timestamp of Europe/Berlin": ("unix_micros(v)", as_time("timestamp", "Europe/Berlin")),
    "timestamp of +05:30": ("unix_micros(v)", as_time("timestamp", "+05:30")),
    "timestamp_ntz": ("cast(v as string)", as_time("timestamp_ntz", "UTC")),
}


def staged(
    cursor: Any, data_type: str, zone: str, shown: str, raws: list[str], **meta: Any
) -> list[Any]:
    """Texts as staging takes them: their values, or REJECTED."""
    column = {"name": "v", "sql": "v", "data_type": data_type, "format": None, "encoding": None}
    column |= {"nullable": True, **meta}
    entity = {"timezone": zone, "source": {"on_unexpected_column": "error", "text": True}}
    value = MACROS._cast(column, "cdc__raw_v", True, zone)
    condition = MACROS._reject_condition(column, "cdc__raw_v", "v", True, entity)
    doubt = MACROS._reject_doubt(column, "cdc__raw_v", "v") or condition
    rows = ", ".join(f"({place}, {MACROS._literal(raw)})" for place, raw in enumerate(raws))
    cursor.execute(
        f"select {condition or 'false'}, {shown}, {doubt or 'false'} from (select *, {value} as v "
        f"from values {rows} as landed (place, cdc__raw_v)) order by place"
    )
    found = cursor.fetchall()
    undoubted = [text for text, row in zip(raws, found, strict=True) if row[0] and not row[2]]
    assert not undoubted, "rejected, though nothing casts a doubt on it"
    return [REJECTED if rejected else value for rejected, value, _ in found]


def is_same(one: Any, other: Any) -> bool:
    """Equal, NaN with NaN."""
    return one == other or (one != one and other != other)


@pytest.mark.parametrize("name", TYPES)
def test_a_text_is_taken_as_it_is_or_rejected(session: Any, name: str) -> None:
    shown, reference = TYPES[name]
    data_type, _, zone = name.partition(" of ")
    found = staged(session, data_type, zone or "UTC", shown, TEXTS)
    if data_type == "timestamp_ntz":
        found = [v if v == REJECTED else micros(datetime.datetime.fromisoformat(v)) for v in found]
    wrong = {
        text: (value, wanted)
        for text, value in zip(TEXTS, found, strict=True)
        if not is_same(value, wanted := reference(text.strip(" \t")))
    }
    assert wrong == {}
    assert sum(value != REJECTED for value in found) > 5


@pytest.mark.parametrize("name", TYPES)
def test_an_empty_field_is_null(cursor: Any, name: str) -> None:
    data_type, _, zone = name.partition(" of ")
    assert staged(cursor, data_type, zone or "UTC", "v is null", ["", " "]) == [True, REJECTED]


# With a pattern of the user's: type, pattern, zone, text, whether it is taken.
FORMATTED = [
    ("date", "dd.MM.yyyy", "UTC", "10.12.1815", True),
    ("date", "dd.MM.yyyy", "UTC", "10.12.1815 foo", False),
    ("date", "dd.MM.yyyy HH:mm", "UTC", "03.02.2024 00:00", True),
    ("date", "dd.MM.yyyy HH:mm", "UTC", "03.02.2024 00:01", False),
    ("timestamp", "dd.MM.yyyy HH:mm:ss", "Europe/Berlin", "31.03.2024 02:30:00", False),
    ("timestamp", "dd.MM.yyyy HH:mm:ss", "Europe/Berlin", "31.03.2024 03:30:00", True),
    ("timestamp", "dd.MM.yyyy HH:mm:ss", "UTC", "31.03.2024 02:30:00", True),
    ("timestamp", "yyyy/MM/dd HH:mm:ss.SSSSSSSSS", "UTC", "2024/01/01 00:00:00.123456000", True),
    ("timestamp", "yyyy/MM/dd HH:mm:ss.SSSSSSSSS", "UTC", "2024/01/01 00:00:00.123456001", False),
    ("timestamp_ntz", "yyyy/MM/dd HH:mm:ss.SSSSSSS", "UTC", "2024/01/01 00:00:00.1234567", False),
    ("timestamp_ntz", "yyyy/MM/dd HH:mm:ss.SSSSSSS", "UTC", "2024/01/01 00:00:00.1234560", True),
    ("binary", "hex", "UTC", "ABC", False),
    ("binary", "hex", "UTC", "0xABC", False),
    ("binary", "hex", "UTC", "0x00ff", True),
    ("binary", "hex", "UTC", "0X00FF", True),
    ("binary", "hex", "UTC", "\\x00ff", True),
    ("binary", "hex", "UTC", "x00ff", False),
    ("binary", "hex", "UTC", "0ABC", True),
    ("binary", "base64", "UTC", "QUI=", True),
    ("binary", "base64", "UTC", "QU_-", False),
]

# Years of two digits: type, pattern, first year, zone, text, its value as text in UTC.
CENTURIES = [
    ("date", "dd.MM.yy", 1950, "UTC", "01.02.68", "1968-02-01"),
    ("date", "dd.MM.yy", 1950, "UTC", "31.12.49", "2049-12-31"),
    ("date", "dd.MM.yy", 1950, "UTC", "01.01.50", "1950-01-01"),
    ("date", "yyMMdd", 1900, "UTC", "680201", "1968-02-01"),
    ("date", "yyMMdd", 1900, "UTC", "000228", "1900-02-28"),
    ("date", "yyMMdd", 1900, "UTC", "000229", REJECTED),  # 2000 had that day
    ("date", "yyMMdd", 1950, "UTC", "000229", "2000-02-29"),
    ("date", "yyMMdd", 2000, "UTC", "991231", "2099-12-31"),
    ("date", "dd.MM.yy", 1950, "UTC", "01.02.1968", REJECTED),
    ("date", "dd.MM.yy HH:mm", 1950, "UTC", "01.02.68 00:00", "1968-02-01"),
    ("date", "dd.MM.yy HH:mm", 1950, "UTC", "01.02.68 00:01", REJECTED),
    ("timestamp", "dd.MM.yy HH:mm", 1950, "Europe/Berlin", "01.07.68 12:00", "1968-07-01 11:00:00"),
    ("timestamp", "dd.MM.yy HH:mm", 1950, "Europe/Berlin", "31.03.24 02:30", REJECTED),
    ("timestamp", "dd.MM.yy HH:mm", 1950, "+05:30", "01.07.68 12:00", "1968-07-01 06:30:00"),
    (
        "timestamp_ntz",
        "dd.MM.yy HH:mm:ss.SSS",
        1970,
        "UTC",
        "01.01.69 01:02:03.500",
        "2069-01-01 01:02:03.5",
    ),
]

# JSON of nested types, whether it is taken.
NESTED = [
    ("array<date>", '["2024-01-05", null]', True),
    ("array<date>", '["2024-01-05 foo"]', False),
    ("array<date>", '["2024"]', False),
    ("array<timestamp>", '["2024-01-05 12:30:00"]', True),
    ("array<timestamp>", '["12:30:00"]', False),
    ("array<timestamp>", "[1700000000]", False),
    ("array<int>", "[1, 2]", True),
    ("array<int>", "[1.5]", False),
    ("array<decimal(5,2)>", "[1.99, 1.990]", True),
    ("array<decimal(5,2)>", "[1.999]", False),
    ("array<float>", "[16777217]", False),
    ("array<double>", "[0.1, 1e10]", True),
    ("array<double>", "[1e400]", False),
    ("array<string>", '["a", 1, {"b": 2, "b": 3}]', True),
    ("array<array<decimal(5,2)>>", "[[1.5], [1.999]]", False),
    ("map<string, int>", '{"a": 1, "A": 2}', True),
    ("map<string, int>", '{"a": 1, "a": 2}', False),
    ("map<string, array<date>>", '{"a": ["2024-13-01"]}', False),
    ("struct<a: int, b: array<struct<c: date>>>", '{"a": 1, "b": [{"c": "2024-01-05"}]}', True),
    ("struct<a: int, b: array<struct<c: date>>>", '{"b": []}', True),
    ("struct<a: int, b: array<struct<c: date>>>", '{"a": 1, "b": [{"c": "2024-01"}]}', False),
    ("struct<a: int, b: array<struct<c: date>>>", '{"a": 1, "b": [{"d": 1}]}', False),
    ("struct<a: int>", '{"a": 1, "a": 1}', False),
    ("struct<a: int>", '{"a": 1, "b": 1}', False),
    ("struct<a: int>", '{"A": 1}', True),
    ("struct<a: int>", '{"a": 1, "A": 1}', False),
    ("struct<a: int>", '{"B": 1}', False),
    ("struct<a: int>", '"a"', False),
    ("struct<a: int>", "a", False),
    ("struct<a: int>", '[{"a": 1}]', False),
    ("struct<a: int>", '{"a": 1} x', False),
    ("struct<a: int>", '{"a": [1]}', False),
    ("struct<a: struct<b: int>>", '{"a": 1}', False),
    ("struct<a: struct<b: int>>", '{"a": null}', True),
    ("struct<lineId: int>", '{"lineId": "x"}', False),
    ("struct<lineId: int>", '{"LINEID": "x"}', False),
    ("array<int>", '{"a": 1}', False),
    ("array<int>", "[1", False),
    ("array<string>", "[1, 2] x", False),
    ("map<string, int>", "[1]", False),
]

# Type, JSON, and how to_json() writes the value: fields meet the declared ones in any case, keys of
# maps and texts that look like objects are left as they are.
ANY_CASE = [
    ("struct<orderId: int>", '{"orderId": 1}', '{"orderId":1}'),
    ("struct<orderId: int>", '{"ORDERid": 1}', '{"orderId":1}'),
    ("STRUCT<`order no`: int, B: string>", '{"Order No": 1, "b": "X"}', '{"order no":1,"B":"X"}'),
    (
        "array<struct<Id: bigint, tags: map<string, int>>>",
        '[{"id": 7, "TAGS": {"ID": 1, "id": 2}}, null, {"Id": 8}]',
        '[{"Id":7,"tags":{"ID":1,"id":2}},null,{"Id":8}]',
    ),
    (
        "struct<a: struct<b: array<struct<cD: decimal(5,2)>>>, text: string>",
        '{"A": {"B": [{"cd": 1.5}, {"CD": null}]}, "Text": {"A": 1}}',
        '{"a":{"b":[{"cD":1.50},{}]},"text":"{\\"A\\":1}"}',
    ),
    ("map<string, struct<x: date>>", '{"K": {"X": "2024-02-29"}}', '{"K":{"x":"2024-02-29"}}'),
]

# A message, and a part of the reason why it is not read; none where it is.
MESSAGES = [
    ('{"a": 1}', None),
    ('{"a": "\\ud83d\\ude00 \\uD83D\\uDE00"}', None),
    ('{"a": "\\\\ud800"}', None),
    ('{"a": "C:\\\\users\\\\udo"}', None),
    ('{"a": NaN}', None),
    ('{"a": "\\ud800"}', "surrogate"),
    ('{"a": "\\\\\\uD800 x"}', "surrogate"),
    ('{"a": "\\ude00\\ud83d"}', "surrogate"),
    ('{"\\udfff": 1}', "surrogate"),
    ('{"a": 1}{"a": 2}', "more than one"),
    ('{"a": 1} x', "more than one"),
    ('{"a": 1},', "more than one"),
]


def test_a_value_in_a_pattern_is_taken_or_rejected(session: Any) -> None:
    for data_type, pattern, zone, text, is_taken in FORMATTED:
        found = staged(session, data_type, zone, "v is not null", [text], format=pattern)
        assert found == [True if is_taken else REJECTED], (data_type, pattern, text)


def test_a_year_of_two_digits_is_of_the_hundred_that_the_column_names(session: Any) -> None:
    shown = {"timestamp": "cast(to_utc_timestamp(v, current_timezone()) as string)"}
    for data_type, pattern, first, zone, text, wanted in CENTURIES:
        found = staged(
            session,
            data_type,
            zone,
            shown.get(data_type, "cast(v as string)"),
            [text],
            format=pattern,
            century=first,
        )
        assert found == [wanted], (data_type, pattern, text)


def test_parts_of_nested_values_are_taken_or_rejected(session: Any) -> None:
    for data_type, raws in itertools.groupby(NESTED, key=lambda case: case[0]):
        cases = list(raws)
        found = staged(session, data_type, "UTC", "v is not null", [raw for _, raw, _ in cases])
        assert found == [True if is_taken else REJECTED for *_, is_taken in cases], data_type


def test_fields_meet_in_any_case(session: Any) -> None:
    for data_type, raw, wanted in ANY_CASE:
        declared = MACROS._declared_type(data_type)
        assert staged(session, declared, "UTC", "to_json(v)", [raw]) == [wanted], data_type


def test_the_case_of_fields_is_kept_in_types() -> None:
    assert MACROS._declared_type("ARRAY<Struct<orderId : INTEGER, `a b`: Dec(5)>>") == (
        "array<struct<orderId:int,`a b`:decimal(5,0)>>"
    )
    assert MACROS._declared_type(" BIGINT ") == "bigint"


def test_times_in_nested_values_are_of_the_entitys_zone(session: Any) -> None:
    found = staged(
        session, "array<timestamp>", "Europe/Berlin", "unix_seconds(v[0])", ['["2024-01-01"]']
    )
    assert found == [1704063600]


def test_what_from_json_would_misread_is_found(session: Any) -> None:
    rows = ", ".join(
        f"({place}, {MACROS._literal(text)})" for place, (text, _) in enumerate(MESSAGES)
    )
    session.execute(
        f"select if({MACROS._is_misread('m')}, {MACROS._misread_text('m')}, null)"
        f" from values {rows} as messages (place, m) order by place"
    )
    for (message, part), (found,) in zip(MESSAGES, session.fetchall(), strict=True):
        assert (found is None) if part is None else (part in found), message


def test_a_pattern_is_accepted_where_spark_accepts_it(cursor: Any) -> None:
    """Of each letter in each number, and of signs; what Spark takes and can't read is refused."""
    letters = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") - set("gv")  # as of Java
    patterns = [letter * count for letter in sorted(letters) for count in (1, 2, 3, 5, 6, 9, 10)]
    patterns += ["yyyy-MM-ddTHH:mm", "yyyy-MM-dd'T'HH:mm", "yyyy'", "y]", "[y]", "{y}", "y#", "y''"]
    refused = set()
    cursor.execute("set spark.sql.legacy.timeParserPolicy = corrected")
    for pattern in patterns:
        quoted = pattern.replace("'", "\\'")
        try:
            cursor.execute(f"select to_timestamp(concat('x', id), '{quoted}') from range(1)")
        except OperationalError as error:
            if "CANNOT_PARSE_TIMESTAMP" not in str(error) and "parsed at index" not in str(error):
                refused.add(pattern)
    useless = {"m", "mm", "h", "hh", "K", "KK"}
    assert {one for one in patterns if MACROS._pattern_problem(one)} == refused | useless
    assert MACROS._pattern_problem("hh:mm a") is MACROS._pattern_problem("yyyy-DDD") is None
