"""The hash of rows, versions 1 and 2: the reference of ``docs/hash.md`` in pure Python.

The macro ``spark_cdc.hash`` is what loads use; this module says independently of Spark what it has
to return, and ``tests/test_hashing.py`` holds the two together. It is written to be read, not to be
fast.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

VERSION = 1
KEYED_VERSION = 2  # of rows with sensitive columns

_MASK = (1 << 64) - 1
_PRIME1 = 0x9E3779B185EBCA87
_PRIME2 = 0xC2B2AE3D27D4EB4F
_PRIME3 = 0x165667B19E3779F9
_PRIME4 = 0x85EBCA77C2B2AE63
_PRIME5 = 0x27D4EB2F165667C5

_KINDS = {
    "boolean": "boolean",
    "tinyint": "integer",
    "byte": "integer",
    "smallint": "integer",
    "short": "integer",
    "int": "integer",
    "integer": "integer",
    "bigint": "integer",
    "long": "integer",
    "float": "float",
    "real": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
}
_TOKENS = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^`'\"<>(),]+|.", re.S)
_DECIMAL = re.compile(r"(?:decimal|dec|numeric)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?", re.I)
_NESTED = re.compile(r"(array|map|struct)\s*<(.*)>", re.I | re.S)
_FIELD = re.compile(
    r"(`(?:[^`]|``)+`|\w+)(?:\s*:\s*|\s+)(\S.*?)(?:\s+not\s+null)?"
    r"(?:\s+comment\s+(?:'.*'|\".*\"))?",
    re.I | re.S,
)


@dataclass(frozen=True)
class DataType:
    """A type of Spark, as far as the encoding needs it.

    ``kind`` is boolean, integer, decimal, float, double, string, binary, date, timestamp,
    timestamp_ntz, array (one inner type), map (key and value) or struct (one for each name).
    """

    kind: str
    inner: tuple[DataType, ...] = ()
    names: tuple[str, ...] = ()


def parse_type(text: str) -> DataType:
    """Reads a data type as Spark SQL writes it, in any case and nested as deep as it may be.

    Args:
        text: for instance ``decimal(10,2)`` or ``array<struct<a: int, b: string>>``.

    Returns:
        The type.

    Raises:
        ValueError: the type can't be hashed or is malformed.
    """
    text = text.strip()
    if text.lower() in _KINDS:
        return DataType(_KINDS[text.lower()])
    if match := _DECIMAL.fullmatch(text):
        precision, scale = int(match[1] or 10), int(match[2] or 0)
        if 1 <= precision <= 38 and scale <= precision:
            return DataType("decimal")
    if match := _NESTED.fullmatch(text):
        kind, parts = match[1].lower(), _split(match[2])
        if kind == "struct":
            fields = [match for part in parts if (match := _FIELD.fullmatch(part))]
            if len(fields) == len(parts):
                names = tuple(_unquote(field[1]) for field in fields)
                if len({name.lower() for name in names}) == len(names):
                    return DataType(kind, tuple(parse_type(field[2]) for field in fields), names)
        elif len(parts) == {"array": 1, "map": 2}[kind]:
            return DataType(kind, tuple(parse_type(part) for part in parts))
    raise ValueError(f"the type {text!r} can't be hashed")


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for token in _TOKENS.findall(text):
        depth += (token in ("<", "(")) - (token in (">", ")"))
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts]


def _unquote(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def xxhash64_of_long(value: int, seed: int = 42) -> int:
    """XXH64 of one signed 64-bit integer, as Spark's ``xxhash64`` has it (seed 42).

    Every step (multiplication with an odd number, rotation, xor with a shift to the right) can be
    undone, so different integers have different results.

    Args:
        value: from -2**63 to 2**63 - 1.
        seed: of the hash.

    Returns:
        The 64 bits as a number that is not negative.

    Source: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
    """
    result = (seed + _PRIME5 + 8) & _MASK
    word = (value & _MASK) * _PRIME2 & _MASK
    result ^= _rotate(word, 31) * _PRIME1 & _MASK
    result = (_rotate(result, 27) * _PRIME1 + _PRIME4) & _MASK
    result ^= result >> 33
    result = result * _PRIME2 & _MASK
    result ^= result >> 29
    result = result * _PRIME3 & _MASK
    return result ^ (result >> 32)


def _rotate(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & _MASK


def _double_bits(value: float) -> int:
    """The bits of a double as a signed integer: 0.0 for -0.0, one NaN for all."""
    if value != value:
        return 0x7FF8000000000000
    bits: int = struct.unpack(">q", struct.pack(">d", 0.0 if value == 0 else value))[0]
    return bits


def _decimal_text(value: Decimal | int) -> str:
    """Plain digits, without an exponent, without zeros at the end of the fraction, without -0."""
    text = format(Decimal(value), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _micros(value: datetime.datetime | int) -> int:
    """Microseconds since 1970-01-01: of the instant, or of the wall clock if there is no zone."""
    if isinstance(value, int):
        return value
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc if value.tzinfo else None)
    return (value - epoch) // datetime.timedelta(microseconds=1)


def _days(value: datetime.date | int) -> int:
    return value if isinstance(value, int) else value.toordinal() - 719163


def encode(value: Any, data_type: DataType) -> bytes:
    """The encoding of one value.

    Args:
        value: not None. For timestamp an aware datetime or microseconds since 1970 in UTC, for
            timestamp_ntz a naive datetime or microseconds, for date a date or days since 1970, for
            string text or its bytes, for map a mapping or pairs, for struct a mapping by the names
            of the type or a sequence in their order.
        data_type: the type of the value.

    Returns:
        The bytes.
    """
    kind = data_type.kind
    if kind == "boolean":
        return b"btrue" if value else b"bfalse"
    if kind in ("integer", "decimal"):
        return b"n" + _decimal_text(value).encode()
    if kind == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    if kind in ("float", "double"):
        return b"f%X" % xxhash64_of_long(_double_bits(value))
    if kind == "string":
        data = value.encode() if isinstance(value, str) else bytes(value)
        return b"s%d:%s" % (len(data), data)
    if kind == "binary":
        return b"x" + bytes(value).hex().upper().encode()
    if kind == "date":
        return b"d%d" % _days(value)
    if kind == "timestamp":
        return b"t%d" % _micros(value)
    if kind == "timestamp_ntz":
        return b"w%X" % xxhash64_of_long(_micros(value))
    if kind == "array":
        return b"[" + b",".join(_element(item, data_type.inner[0]) for item in value) + b"]"
    if kind == "map":
        key_type, value_type = data_type.inner
        pairs = value.items() if isinstance(value, Mapping) else value
        entries = [encode(k, key_type) + b">" + _element(v, value_type) for k, v in pairs]
        return b"(" + b",".join(sorted(entries)) + b")"
    if kind == "struct":
        by_name = value if isinstance(value, Mapping) else dict(zip(data_type.names, value))  # noqa: B905
        fields = zip(data_type.names, data_type.inner, strict=True)
        return b"{" + _records((name, inner, by_name.get(name)) for name, inner in fields) + b"}"
    raise ValueError(f"unknown kind {kind!r}")


def _element(value: Any, data_type: DataType) -> bytes:
    return b"~" if value is None else encode(value, data_type)


def _records(fields: Iterable[tuple[str, DataType, Any]]) -> bytes:
    """Length, name and value of all that is not null, in the order of the names in lower case."""
    records = b""
    for name, data_type, value in sorted((n.lower(), t, v) for n, t, v in _known(fields)):
        data = name.encode()
        records += b",%d:%s=%s" % (len(data), data, encode(value, data_type))
    return records


def _known(fields: Iterable[tuple[str, DataType, Any]]) -> list[tuple[str, DataType, Any]]:
    return [field for field in fields if field[2] is not None]


def message(columns: Mapping[str, str | DataType], row: Mapping[str, Any]) -> bytes:
    """What md5 is taken of.

    Args:
        columns: the type of each column by name, as text or parsed.
        row: the values by the same names; a name that is missing counts as null.

    Returns:
        The bytes; none at all if every value is null.

    Raises:
        ValueError: a type can't be hashed, or two names differ by case only.
    """
    if len({name.lower() for name in columns}) < len(columns):
        raise ValueError(f"two of the columns {', '.join(columns)} differ by case only")
    types = {n: parse_type(t) if isinstance(t, str) else t for n, t in columns.items()}
    return _records((name, data_type, row.get(name)) for name, data_type in types.items())


def row_hash(
    columns: Mapping[str, str | DataType], row: Mapping[str, Any], key: bytes | None = None
) -> bytes:
    """The hash of a row, 16 bytes.

    Args:
        columns: as of :func:`message`.
        row: the same.
        key: the secret, 32 bytes, of a row with sensitive columns (version 2).

    Returns:
        md5 of :func:`message`, or with a key its HMAC-MD5 (RFC 2104).

    Raises:
        ValueError: as of :func:`message`.
    """
    text = message(columns, row)
    if key is not None:
        return hmac.digest(key, text, "md5")
    return hashlib.md5(text, usedforsecurity=False).digest()


def numbered_hash(row: bytes, number: int) -> bytes:
    """The key_hash of a row without a key: of its hash, and its number among equals, from 1."""
    text = f"{row.hex()}#{number}".encode()
    return hashlib.md5(text, usedforsecurity=False).digest()


def padded_keys(key: bytes) -> tuple[bytes, bytes]:
    """Return what a table of a secret holds: the key as RFC 2104 pads it, inside and outside."""
    block = key.ljust(64, b"\0")
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)
