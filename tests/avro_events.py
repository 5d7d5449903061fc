"""A table with a column of each kind, and its events as Debezium writes them: as JSON and as Avro.

A kind says what Kafka Connect's Avro converters make of a column (`avro`), what Spark's from_avro
makes of that (`typed`), and what is to be declared of it, as it comes in JSON and typed. Its values
come in pairs: as the JSON converter writes them, and as the values of `typed`.
"""

from __future__ import annotations

import base64
import datetime
import io
import json
import struct
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

MARK = "__debezium_unavailable_value"
DAY, UTC = datetime.date, datetime.UTC if hasattr(datetime, "UTC") else datetime.timezone.utc


@dataclass(frozen=True)
class Kind:
    """A kind of columns; pairs of its values (in JSON, typed)."""

    avro: Any
    typed: str
    data_type: str
    pairs: list[tuple[Any, Any]]
    json_meta: dict[str, Any] = field(default_factory=dict)
    typed_meta: dict[str, Any] = field(default_factory=dict)
    mark: tuple[Any, Any] | None = None  # what stands for a value that was not sent


def _named(avro: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": avro, "connect.version": 1, "connect.name": name, **more}


def _decimal(precision: int, scale: int) -> dict[str, Any]:
    parameters = {"scale": str(scale), "connect.decimal.precision": str(precision)}
    return _named(
        "bytes",
        "org.apache.kafka.connect.data.Decimal",
        logicalType="decimal",
        precision=precision,
        scale=scale,
        **{"connect.parameters": parameters},
    )


def number_of(text: str, scale: int) -> Decimal:
    """The decimal that the JSON converter wrote."""
    return Decimal(int.from_bytes(base64.b64decode(text), "big", signed=True)).scaleb(-scale)


def _unscaled(number: str, scale: int) -> str:
    """A decimal as Kafka Connect's JSON converter writes it."""
    whole = int(Fraction(number) * Fraction(10) ** scale)
    return base64.b64encode(
        whole.to_bytes((whole.bit_length() // 8) + 1, "big", signed=True)
    ).decode()


def _at(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=UTC)


def _micros(text: str) -> int:
    return (_at(text) - _at("1970-01-01")) // datetime.timedelta(microseconds=1)


def _days(text: str) -> int:
    return (DAY.fromisoformat(text) - DAY(1970, 1, 1)).days


TIMES = ["2024-05-01 10:00:00.123456", "1899-12-31 23:59:59.999999", "0001-01-01 00:00:00"]
DAYS = ["2024-02-29", "1582-10-15", "9999-12-31"]
NUMBERS = ["12.34", "-0.01", "99999999.99"]
WIDE = ["12345678901234567890.123456789012345678", "-0.000000000000000001", "0"]
BYTES = [b"\x01\x02", b"", b"\xff" * 9]
ENCODED = {"encoding": "base64"}
LOOSE = {
    "type": "record",
    "name": "VariableScaleDecimal",
    "namespace": "io.debezium.data",
    "connect.name": "io.debezium.data.VariableScaleDecimal",
    "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
}


def _same(*values: Any) -> list[tuple[Any, Any]]:
    return [(value, value) for value in values]


KINDS: dict[str, Kind] = {
    # numbers: decimal.handling.mode precise, string and double
    "amount": Kind(
        _decimal(10, 2),
        "decimal(10,2)",
        "decimal(10,2)",
        [(_unscaled(number, 2), Decimal(number)) for number in NUMBERS],
        json_meta=ENCODED,
    ),
    "wide": Kind(
        _decimal(38, 18),
        "decimal(38,18)",
        "decimal(38,18)",
        [(_unscaled(number, 18), Decimal(number)) for number in WIDE],
        json_meta=ENCODED,
    ),
    # without logicalType, as for a precision that Avro's readers do not know
    "unscaled": Kind(
        _named("bytes", "org.apache.kafka.connect.data.Decimal"),
        "binary",
        "decimal(10,2)",
        [(_unscaled(number, 2), base64.b64decode(_unscaled(number, 2))) for number in NUMBERS],
        json_meta=ENCODED,
        typed_meta=ENCODED,
    ),
    "loose": Kind(
        LOOSE,
        "struct<scale:int,value:binary>",
        "decimal(20,4)",
        [
            (
                {"scale": scale, "value": _unscaled(number, scale)},
                {"scale": scale, "value": base64.b64decode(_unscaled(number, scale))},
            )
            for number, scale in (("0.57", 2), ("-1234", 0), ("1E+3", -3))
        ],
        json_meta=ENCODED,
        typed_meta=ENCODED,
    ),
    "told": Kind("string", "string", "decimal(10,2)", _same(*NUMBERS)),
    "double": Kind("double", "double", "double", _same(12.5, -1e-7, 1e300)),
    "rough": Kind("double", "double", "decimal(10,2)", _same(12.34, -0.01, 99999999.0)),
    "float": Kind("float", "float", "float", _same(0.5, -3.25, 1e10)),
    "long": Kind("long", "bigint", "bigint", _same(2**63 - 1, -(2**63), 0)),
    "short": Kind(
        {"type": "int", "connect.type": "int16"}, "int", "smallint", _same(7, -32768, 32767)
    ),
    "flag": Kind("boolean", "boolean", "boolean", _same(True, False, True)),
    # times: adaptive, and time.precision.mode connect
    "day": Kind(
        _named("int", "io.debezium.time.Date"),
        "int",
        "date",
        _same(*map(_days, DAYS)),
        json_meta={"encoding": "days"},
        typed_meta={"encoding": "days"},
    ),
    "connect_day": Kind(
        _named("int", "org.apache.kafka.connect.data.Date", logicalType="date"),
        "date",
        "date",
        [(_days(day), DAY.fromisoformat(day)) for day in DAYS],
        json_meta={"encoding": "days"},
    ),
    "micros": Kind(
        _named("long", "io.debezium.time.MicroTimestamp"),
        "bigint",
        "timestamp_ntz",
        _same(*map(_micros, TIMES)),
        json_meta={"encoding": "micros"},
        typed_meta={"encoding": "micros"},
    ),
    "nanos": Kind(
        _named("long", "io.debezium.time.NanoTimestamp"),
        "bigint",
        "timestamp_ntz",
        _same(*(1000 * _micros(time) for time in TIMES[:2])),
        json_meta={"encoding": "nanos"},
        typed_meta={"encoding": "nanos"},
    ),
    "connect_time": Kind(
        _named("long", "org.apache.kafka.connect.data.Timestamp", logicalType="timestamp-millis"),
        "timestamp",
        "timestamp_ntz",
        [(_micros(time) // 1000, _at(time)) for time in ("2024-05-01 10:00:00.123", TIMES[2])],
        json_meta={"encoding": "millis"},
    ),
    # what Apicurio's converter makes of io.debezium.time.MicroTimestamp, if it is told to
    "logical_time": Kind(
        _named("long", "io.debezium.time.MicroTimestamp", logicalType="timestamp-micros"),
        "timestamp",
        "timestamp_ntz",
        [(_micros(time), _at(time)) for time in TIMES],
        json_meta={"encoding": "micros"},
    ),
    "local_time": Kind(
        {"type": "long", "logicalType": "local-timestamp-micros"},
        "timestamp_ntz",
        "timestamp_ntz",
        [(_micros(time), _at(time).replace(tzinfo=None)) for time in TIMES],
        json_meta={"encoding": "micros"},
    ),
    "instant": Kind(
        {"type": "long", "logicalType": "timestamp-micros"},
        "timestamp",
        "timestamp",
        [(_micros(time), _at(time)) for time in TIMES],
        json_meta={"encoding": "micros"},
    ),
    "zoned": Kind(
        _named("string", "io.debezium.time.ZonedTimestamp"),
        "string",
        "timestamp",
        _same("2024-05-01T10:00:00.123456Z", "2024-05-01T12:00:00+02:00", "1970-01-01T00:00:00Z"),
    ),
    "time": Kind(_named("long", "io.debezium.time.MicroTime"), "bigint", "bigint", _same(1, 2)),
    "connect_clock": Kind(
        _named("int", "org.apache.kafka.connect.data.Time", logicalType="time-millis"),
        "int",
        "int",
        _same(36_000_000, 1),
    ),
    "span": Kind(
        _named("string", "io.debezium.time.Interval"),
        "string",
        "string",
        _same("P1Y2M3DT4H5M6.78S"),
    ),
    # text, bytes and what is nested
    "text": Kind("string", "string", "string", _same("ä☃𝄞", '"\\ud800"\n', "")),
    "big": Kind("string", "string", "string", _same("long", "longer"), mark=(MARK, MARK)),
    "document": Kind(
        _named("string", "io.debezium.data.Json"),
        "string",
        "string",
        _same('{"a": [1, 2.50]}', "null", '"x"'),
    ),
    "uuid": Kind(
        _named("string", "io.debezium.data.Uuid"),
        "string",
        "string",
        _same("6f1ed002-ab5c-4b9d-9d5b-1f5b5e5ec7a0"),
    ),
    "bytes": Kind(
        "bytes", "binary", "binary", [(base64.b64encode(raw).decode(), raw) for raw in BYTES]
    ),
    "big_bytes": Kind(
        "bytes",
        "binary",
        "binary",
        [("AQI=", b"\x01\x02")],
        mark=(base64.b64encode(MARK.encode()).decode(), MARK.encode()),
    ),
    "texts": Kind(
        {"type": "array", "items": ["null", "string"]},
        "array<string>",
        "array<string>",
        _same(["a", None, '"'], [], ["1"]),
        mark=([MARK], [MARK]),
    ),
    "numbers": Kind(
        {"type": "array", "items": ["null", "long"]},
        "array<bigint>",
        "array<bigint>",
        _same([1, None, -(2**63)], []),
        mark=(list(MARK.encode()), list(MARK.encode())),
    ),
    "pairs": Kind(
        {"type": "map", "values": ["null", "string"]},
        "map<string,string>",
        "map<string,string>",
        _same({"a": "b", "c": None}, {}),
        mark=({MARK: MARK}, {MARK: MARK}),
    ),
}
KEY = Kind("long", "bigint", "bigint", [], {"role": "key"}, {"role": "key"})
SOURCE = {
    "version": "string",
    "connector": "string",
    "name": "string",
    "ts_ms": "bigint",
    "snapshot": "string",
    "db": "string",
    "sequence": "string",
    "ts_us": "bigint",
    "schema": "string",
    "table": "string",
    "txId": "bigint",
    "lsn": "bigint",
    "xmin": "bigint",
}
TRANSACTION = {"id": "string", "total_order": "bigint", "data_collection_order": "bigint"}


@dataclass(frozen=True)
class Message:
    """A message, each value as it is in JSON and as it is typed; without op a tombstone."""

    key: dict[str, Any]
    op: str | None
    lsn: int
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    def told(self, pair: int) -> dict[str, Any] | None:
        """The envelope; pair: 0 for JSON, 1 typed."""
        if self.op is None:
            return None

        def image(row: dict[str, Any] | None) -> dict[str, Any] | None:
            return row and {name: value[pair] for name, value in row.items()}

        moment = 1714557600000 + self.lsn
        return {
            "before": image(self.before),
            "after": image(self.after),
            "source": {
                "version": "3.7.0.Final",
                "connector": "postgresql",
                "name": "shop",
                "ts_ms": moment,
                "snapshot": "first" if self.op == "r" else "false",
                "db": "shop",
                "sequence": f'["{self.lsn - 1}","{self.lsn}"]',
                "ts_us": 1000 * moment,
                "schema": "public",
                "table": "things",
                "txId": self.lsn,
                "lsn": self.lsn,
                "xmin": None,
            },
            "transaction": {"id": f"{self.lsn}", "total_order": 1, "data_collection_order": 1},
            "op": self.op,
            "ts_ms": moment + 1,
        }


def columns(kinds: dict[str, Kind], meta: str) -> list[dict[str, Any]]:
    """The declared columns; meta: json_meta or typed_meta."""
    return [
        {"name": name, "data_type": kind.data_type, "config": {"meta": getattr(kind, meta)}}
        for name, kind in ({"id": KEY} | kinds).items()
    ]


def struct_of(kinds: dict[str, Kind]) -> str:
    """The type of a table's row as from_avro gives it."""
    return "struct<id:bigint" + "".join(f",{n}:{k.typed}" for n, k in kinds.items()) + ">"


def envelope_type(kinds: dict[str, Kind]) -> str:
    """The type of an envelope as from_avro gives it."""

    def struct(fields: dict[str, str]) -> str:
        return f"struct<{','.join(f'{name}:{type_}' for name, type_ in fields.items())}>"

    row = struct_of(kinds)
    return struct(
        {
            "before": row,
            "after": row,
            "source": struct(SOURCE),
            "transaction": struct(TRANSACTION),
            "op": "string",
            "ts_ms": "bigint",
        }
    )


def avro_schema(kinds: dict[str, Kind]) -> dict[str, Any]:
    """The schema of an envelope as Debezium registers it: a name is told once, then referred to."""

    def optional(avro: Any, **more: Any) -> dict[str, Any]:
        return {"type": ["null", avro], "default": None, **more}

    plain = {"string": "string", "bigint": "long"}

    def record(name: str, fields: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "record",
            "name": name,
            "fields": [{"name": n, **optional(avro)} for n, avro in fields.items()],
        }

    row = record("Value", {name: kind.avro for name, kind in kinds.items()})
    row["fields"].insert(0, {"name": "id", "type": "long"})
    row["connect.name"] = "shop.public.things.Value"
    source = record("Source", {name: plain[type_] for name, type_ in SOURCE.items()})
    source["namespace"] = "io.debezium.connector.postgresql"
    block = record("block", {name: plain[type_] for name, type_ in TRANSACTION.items()})
    block["namespace"] = "event"
    return {
        "type": "record",
        "name": "Envelope",
        "namespace": "shop.public.things",
        "connect.version": 2,
        "connect.name": "shop.public.things.Envelope",
        "fields": [
            {"name": "before", **optional(row)},
            {"name": "after", **optional("Value")},
            {"name": "source", "type": source},
            {"name": "transaction", **optional(block)},
            {"name": "op", "type": "string"},
            {"name": "ts_ms", **optional("long")},
        ],
    }


def row(kinds: dict[str, Kind], id: int, turn: int = 0) -> dict[str, Any]:
    """A row: one of the values of each kind, or null behind the last of them, by id and turn."""
    chosen = {}
    for name, kind in kinds.items():
        values = [*kind.pairs, (None, None)]
        chosen[name] = values[(id + turn) % len(values)]
    return {"id": (id, id)} | chosen


def meant(kind: Kind, typed: Any) -> Any:
    """What a typed value means as one of the declared column."""
    if typed is None:
        return None
    encoding, epoch = kind.typed_meta.get("encoding"), datetime.datetime(1970, 1, 1)
    if encoding == "days":
        return DAY(1970, 1, 1) + datetime.timedelta(days=typed)
    if encoding in ("micros", "nanos"):
        micros = typed // 1000 if encoding == "nanos" else typed
        return epoch + datetime.timedelta(microseconds=micros)
    if encoding == "base64":
        raw, scale = (typed["value"], typed["scale"]) if isinstance(typed, dict) else (typed, 2)
        return Decimal(int.from_bytes(raw, "big", signed=True)).scaleb(-scale)
    if kind.data_type.startswith("decimal"):
        return Decimal(str(typed))
    if kind.data_type == "timestamp" and isinstance(typed, str):
        return datetime.datetime.fromisoformat(typed.replace("Z", "+00:00"))
    return typed.replace(tzinfo=None) if kind.data_type == "timestamp_ntz" else typed


def story(kinds: dict[str, Kind]) -> list[list[Message]]:
    """Two loads of messages: a snapshot, then all that can happen."""
    marks = {name: kind.mark for name, kind in kinds.items() if kind.mark}
    empty = dict.fromkeys(kinds, (None, None))

    def message(op: str, lsn: int, before: Any, after: Any) -> Message:
        return Message({"id": (after or before)["id"][0]}, op, lsn, before, after)

    def deleted(id: int, lsn: int) -> list[Message]:
        gone = message("d", lsn, {"id": (id, id)} | empty, None)
        return [gone, Message(gone.key, None, 0, None, None)]

    return [
        [message("r", 100, None, row(kinds, id)) for id in range(8)],
        [
            message("u", 201, None, row(kinds, 1, 1) | marks),
            message("u", 202, row(kinds, 2), row(kinds, 2, 1)),
            *deleted(3, 203),
            message("c", 204, None, row(kinds, 8)),
            # a key changes
            *deleted(4, 205),
            message("c", 205, None, row(kinds, 4) | {"id": (40, 40)} | marks),
            # sent again
            message("u", 201, None, row(kinds, 1, 1) | marks),
        ],
    ]


def typed_json(value: Any) -> str:
    """A typed value as Spark's from_json reads it."""

    def text(part: Any) -> Any:
        if isinstance(part, bytes):
            return base64.b64encode(part).decode()
        if isinstance(part, datetime.datetime):
            plain = part.replace(tzinfo=None).isoformat(timespec="microseconds")
            return plain + ("Z" if part.tzinfo else "")
        if isinstance(part, DAY):
            return part.isoformat()
        return format(part, "f")  # a decimal

    return json.dumps(value, default=text, ensure_ascii=False)


def rows_sql(rows: list[dict[str, Any]], types: dict[str, str]) -> str:
    """A query that gives typed rows, as one file's; types: of their columns, by name."""

    def literal(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    type_ = ", ".join(f"`{name}` {type_}" for name, type_ in types.items())
    lines = ", ".join(f"({literal(typed_json(row))})" for row in rows)
    return (
        f"select /*+ coalesce(1) */ told.* from (select from_json(line, {literal(type_)}) as told"
        f" from values {lines} as lines (line))"
    )


def framed(schema: dict[str, Any], value: dict[str, Any], schema_id: int) -> bytes:
    """A message in Confluent's wire format: a zero byte, four of the schema's id, then Avro."""
    import fastavro

    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return struct.pack(">bI", 0, schema_id) + out.getvalue()
