"""Which type of Spark holds each value of a column of a database: tables of types, as data.

The names are those of information_schema.columns, of Oracle's all_tab_columns and Db2's
syscat.columns, and of a table's DDL. A type that no table lists becomes a string, with a note.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from spark_cdc.macro_rules import rules

# Types whose Spark type depends on more than the name.
DECIMAL, BITS, BINARY_DIGITS = "(decimal)", "(bits)", "(float of so many bits)"
DIGITS = 38  # of a decimal in Spark
FRACTION = 18  # of these, after the point, where the source names no scale
MICROSECONDS = 6
DIGITS_OF_UNSIGNED = "20"  # numeric_precision of bigint unsigned in MySQL; of bigint it is 19
BITS_OF_DOUBLE = 53
USER_DEFINED = "user-defined"


class Found(NamedTuple):
    """The type of a column in Spark.

    note: what a reader of the YAML has to know of it.
    """

    data_type: str
    note: str | None = None


def _all(data_type: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, data_type)


# Names that several databases have. A type that differs between them is one that holds all.
COMMON = {
    **_all("string", "character", "char", "varchar", "text", "nchar", "nvarchar", "string"),
    **_all("string", "national character", "national character varying", "national char"),
    **_all("string", "national varchar", "char varying", "nchar varying", "long varchar"),
    **_all("string", "clob", "nclob", "character large object", "json", "xml", "uuid", "vector"),
    **_all("string", "time", "time without time zone", "time with time zone", "interval"),
    **_all("int", "integer", "int"),
    **_all("smallint", "smallint", "tinyint"),  # 0 to 255 in SQL Server
    **_all("bigint", "bigint"),
    **_all(DECIMAL, "decimal", "numeric", "dec", "number"),
    **_all("double", "double precision", "double", "float", "real", "float4", "float8"),
    **_all("boolean", "boolean", "bool"),
    **_all(BITS, "bit"),
    **_all("date", "date"),
    **_all("timestamp", "timestamp", "timestamp with time zone"),
    **_all("timestamp", "timestamp_ltz"),
    **_all("timestamp_ntz", "datetime", "timestamp without time zone", "timestamp_ntz"),
    **_all("binary", "blob", "binary", "varbinary", "binary varying", "binary large object"),
    **_all("decimal(19,4)", "money"),
}
DIALECTS = {
    "postgresql": {
        **_all("string", "character varying", "bpchar", '"char"', "name", "citext", "refcursor"),
        **_all("string", "inet", "cidr", "macaddr", "macaddr8", "jsonb", "jsonpath", "hstore"),
        **_all("string", "ltree", "lquery", "tsvector", "tsquery", "timetz", "varbit"),
        **_all("string", "bit varying", "pg_lsn", "pg_snapshot", "txid_snapshot", "acl", "tid"),
        **_all("string", "point", "line", "lseg", "box", "path", "polygon", "circle", "geometry"),
        **_all("string", "geography", "int4range", "int8range", "numrange", "tsrange"),
        **_all("string", "tstzrange", "daterange", "int4multirange", "int8multirange"),
        **_all("string", "nummultirange", "tsmultirange", "tstzmultirange", "datemultirange"),
        **_all("string", "regclass", "regproc", "regprocedure", "regtype", "regrole", "regoper"),
        **_all("string", "regnamespace", "regconfig", "regdictionary", "regoperator", "money"),
        **_all("string", USER_DEFINED),
        **_all("smallint", "int2", "smallserial", "serial2"),
        **_all("int", "int4", "serial", "serial4"),
        **_all("bigint", "int8", "bigserial", "serial8", "oid", "xid", "cid"),
        **_all("decimal(20,0)", "xid8"),
        **_all("float", "real", "float4"),
        **_all("timestamp_ntz", "timestamp"),
        **_all("timestamp", "timestamptz"),
        **_all("binary", "bytea"),
    },
    "mysql": {
        **_all("string", "tinytext", "mediumtext", "longtext", "enum", "set", "inet4", "inet6"),
        **_all("string", "geometry", "point", "linestring", "polygon", "multipoint"),
        **_all("string", "multilinestring", "multipolygon", "geometrycollection", "geomcollection"),
        **_all("tinyint", "tinyint", "int1"),
        **_all("smallint", "year", "int2"),
        **_all("int", "mediumint", "int3", "middleint", "int4"),
        **_all("bigint", "int8"),
        **_all("decimal(20,0)", "serial"),  # bigint unsigned
        **_all(DECIMAL, "fixed"),
        **_all("binary", "tinyblob", "mediumblob", "longblob"),
    },
    "sqlserver": {
        **_all("string", "ntext", "uniqueidentifier", "sysname"),
        **_all("decimal(10,4)", "smallmoney"),
        **_all("float", "real"),
        **_all("timestamp_ntz", "datetime2", "smalldatetime"),
        **_all("timestamp", "datetimeoffset"),
        **_all("binary", "timestamp", "rowversion", "image"),
    },
    "oracle": {
        **_all("string", "varchar2", "nvarchar2", "long", "rowid", "urowid", "xmltype"),
        **_all("decimal(38,0)", "integer", "int", "smallint"),
        **_all(BINARY_DIGITS, "float", "double precision", "real"),
        **_all("float", "binary_float"),
        **_all("double", "binary_double"),
        **_all("timestamp_ntz", "date", "timestamp"),  # Oracle's date has a time of day
        **_all("timestamp", "timestamp with local time zone"),
        **_all("binary", "raw", "long raw"),
    },
    "db2": {
        **_all("string", "graphic", "vargraphic", "graphic varying", "long vargraphic", "dbclob"),
        **_all("string", "double-byte character large object", "decfloat", "rowid", "varg"),
        **_all("float", "real"),
        **_all("timestamp_ntz", "timestamp", "timestmp"),
    },
    "snowflake": {
        **_all("string", "variant", "object", "geography", "geometry", "decfloat", "file"),
        **_all("decimal(38,0)", "int", "integer", "bigint", "smallint", "tinyint", "byteint"),
        **_all("timestamp_ntz", "timestamp", "timestampntz"),
        **_all("timestamp", "timestampltz", "timestamp_tz", "timestamptz"),
    },
    "spark": {},
}
DIALECTS["mariadb"] = DIALECTS["mysql"]
LABELS = {
    "postgresql": "PostgreSQL",
    "mysql": "MySQL",
    "sqlserver": "SQL Server",
    "oracle": "Oracle",
    "db2": "Db2",
    "snowflake": "Snowflake",
}
# Columns of a list that one database's catalog alone has.
HEADINGS = {
    "column_type": "mysql",
    "udt_name": "postgresql",
    "data_precision": "oracle",
    "typename": "db2",
}
UNSIGNED = {
    **{"tinyint": "smallint", "smallint": "int", "mediumint": "int"},
    **{"int": "bigint", "integer": "bigint", "bigint": "decimal(20,0)"},
}
# Digits of a decimal, and of a second, of a type that names none.
DECIMALS = {"mysql": (10, 0), "mariadb": (10, 0), "sqlserver": (18, 0), "db2": (5, 0)}
DECIMALS["snowflake"] = (38, 0)
SECONDS = {("sqlserver", "datetime2"): 7, ("sqlserver", "datetimeoffset"): 7}
SECONDS |= {
    ("snowflake", f"timestamp{kind}"): 9 for kind in ("", "_ntz", "_ltz", "_tz", "ntz", "ltz", "tz")
}
# What a name that means several things is taken for, where nothing says whose type it is.
UNCLEAR = {
    "timestamp": "read as an instant; of SQL Server it is a row version of 8 bytes",
    "money": "read as a decimal; PostgreSQL writes it with a currency sign",
}


@functools.cache
def names() -> dict[str, str]:
    """Return Spark's types by what databases call them, without those that Spark has, too."""
    found: dict[str, str] = {}
    for types in (COMMON, *(DIALECTS[one] for one in LABELS)):
        found = {**types, **found}
    usual = {DECIMAL: "decimal(18,2)", BITS: "boolean", BINARY_DIGITS: "double"}
    plain = {name: usual.get(one, one) for name, one in found.items()} | {"bytes": "binary"}
    return {name: one for name, one in plain.items() if not _is_spark_type(name)}


def tells(types: Iterable[str], headings: Iterable[str], schemas: Iterable[str]) -> str | None:
    """Return the database whose types a list has, or None where nothing tells, or two things.

    types: the texts of its types. headings: its columns. schemas: those of its tables.
    """
    names = {_parts(text)[0] for text in types}
    unsigned = {"mysql"} if any(_parts(text)[2] for text in types) else set()
    own = [
        dialect
        for name in names - set(COMMON)
        if len(homes := [one for one in LABELS if name in DIALECTS[one]]) == 1
        for dialect in homes
    ]
    found = {*own, *unsigned} or {HEADINGS[one] for one in headings if one in HEADINGS}
    if not found and {one.lower() for one in schemas} == {"dbo"}:
        found = {"sqlserver"}
    return found.pop() if len(found) == 1 else None


def spark_type(row: Mapping[str, str], dialect: str | None) -> Found:
    """Return the type of a column that a list describes.

    row: data_type, and if there column_type, udt_name, numeric_precision, numeric_scale,
        character_maximum_length, datetime_precision.
    dialect: of DIALECTS; None if it is not known.
    """
    text = row["data_type"].strip()
    full = row.get("column_type", "").strip()  # of MySQL: int unsigned, bit(8)
    name, arguments, is_unsigned = _parts(full if full.lower().startswith(text.lower()) else text)
    if dialect == "spark" or "<" in text:
        return Found(text) if _is_spark_type(text) else _of_name(name, text, None)
    if name == "array" or name.endswith("[]") or (dialect == "postgresql" and name[:1] == "_"):
        return Found("string", f"{_shown(row)} is kept as text; declare array<…> for lists of JSON")
    if name == USER_DEFINED and (udt := row.get("udt_name", "").lower()) in DIALECTS["postgresql"]:
        name = udt
    if is_unsigned and name in UNSIGNED:
        return Found(UNSIGNED[name])
    if name.endswith("for bit data") or ("char" in name and row.get("codepage") == "0"):  # of Db2
        return Found("binary")
    precision, scale = _digits(arguments, row)
    if name == "bigint" and row.get("numeric_precision") == DIGITS_OF_UNSIGNED:
        return Found(UNSIGNED[name])
    found = _of_name(name, _shown(row), dialect)
    if found.data_type == DECIMAL:
        return _decimal(_shown(row), precision, scale, DECIMALS.get(dialect or ""))
    if found.data_type == BINARY_DIGITS:
        is_double = precision is not None and precision <= BITS_OF_DOUBLE
        return Found("double") if is_double else _decimal(_shown(row), None, None, None)
    if found.data_type == BITS:
        bits = precision or _number(row.get("character_maximum_length")) or 1
        if bits == 1 or dialect == "sqlserver":
            return Found("boolean")
        return Found("string", f"{_shown(row)} has {bits} bits, which are kept as text")
    if found.data_type in ("timestamp", "timestamp_ntz") and not found.note:
        usual = SECONDS.get((dialect or "", name))
        digits = _number(arguments[0]) if arguments else _number(row.get("datetime_precision"))
        digits = usual if digits is None else digits
        if digits is not None and digits > MICROSECONDS:
            return Found(
                found.data_type,
                f"{_shown(row)} has {digits} digits of a second, Spark keeps {MICROSECONDS}: rows"
                " that need more are rejected; a string keeps them",
            )
    return found


def _of_name(name: str, shown: str, dialect: str | None) -> Found:
    """Return the type of a name; of an unknown database the name that several have means less."""
    if name.startswith("interval"):
        return Found("string")
    own = DIALECTS.get(dialect or "", {})
    others = [types[name] for types in DIALECTS.values() if name in types]
    if data_type := own.get(name) or COMMON.get(name) or next(iter(others), None):
        note = None
        if dialect is None and name in UNCLEAR:
            note = f"{name} is {UNCLEAR[name]}: say by --dialect whose type it is"
        elif name in ("decfloat", USER_DEFINED) or (dialect == "postgresql" and name == "money"):
            note = f"{shown} is kept as text"
        return Found(data_type, note)
    if _is_spark_type(name):
        return Found(name)
    return Found("string", f"{shown!r} is not a known type: its values are kept as text")


def _decimal(
    shown: str, precision: int | None, scale: int | None, usual: tuple[int, int] | None
) -> Found:
    """Return the decimal with all digits of the source's; those of NUMBER(5,-2) are seven."""
    if precision is None and scale is None and usual:
        precision, scale = usual
    if precision is None and scale is None:
        return Found(
            f"decimal({DIGITS},{FRACTION})",
            f"{shown} has no fixed number of digits: {DIGITS - FRACTION} are accepted before the"
            f" point and {FRACTION} after it",
        )
    scale = scale or 0
    precision = DIGITS if precision is None else max(precision, scale, precision - scale)
    scale = max(scale, 0)
    if precision > DIGITS:
        return Found("string", f"{shown} has more than {DIGITS} digits, so it is kept as text")
    return Found(f"decimal({precision},{scale})")


def _parts(text: str) -> tuple[str, list[str], bool]:
    """Return a type's name, what stands in its parentheses, and whether it has no sign."""
    low = " ".join(text.lower().split())
    if re.match(r"(enum|set)\s*\(", low):  # their values may hold anything
        return low.partition("(")[0].strip(), [], False
    inner = re.search(r"\(([^()]*)\)", low)
    arguments = [one.strip() for one in inner[1].split(",")] if inner and inner[1].strip() else []
    name = " ".join(re.sub(r"\([^()]*\)", " ", low).split())
    plain = re.sub(r" (unsigned|signed|zerofill|identity)\b", "", name)
    return plain, arguments, bool(re.search(r" (unsigned|zerofill)\b", name))


def _digits(arguments: list[str], row: Mapping[str, str]) -> tuple[int | None, int | None]:
    """Return precision and scale, of the type's text or else of the list's columns."""
    if arguments:
        scale = _number(arguments[1]) if len(arguments) > 1 else 0
        return _number(arguments[0]), scale
    return _number(row.get("numeric_precision")), _number(row.get("numeric_scale"))


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"-?[0-9]+(\.0)?", text) and "." not in text else None


def _shown(row: Mapping[str, str]) -> str:
    """Return the type as the list has it, for people; in a comment of YAML that dbt renders."""
    text = row.get("column_type") or row["data_type"]
    text = " ".join(re.sub("[{}]", " ", text).split())
    udt = row.get("udt_name")
    return f"{text} ({udt})" if udt and text.lower() in ("array", "user-defined") else text


def _is_spark_type(text: str) -> bool:
    return not rules()[0]._hash_type(text)["problem"]
