"""`spark-cdc new --many`: each type of a database becomes one of Spark's that holds its values.

The cases are the types that the databases document, as their catalogs or their DDL write them.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from event_warehouse import column
from spark_cdc import cli as command_line
from spark_cdc.macro_rules import rules
from spark_cdc.scaffold import source_types
from test_file_values import Files
from warehouse import GUARDS

pytestmark = pytest.mark.proves("new entities")

# By database and Spark's type: types as a list has them. Behind a bar stand other columns of the
# list. Types that a reader of the YAML has to know something of are in NOTED.
TYPES = {
    "postgresql": {
        "smallint": "smallint, int2, smallserial",
        "int": "integer, int4, serial",
        "bigint": "bigint, int8, bigserial, oid",
        "decimal(20,0)": "xid8",
        "decimal(12,2)": "numeric(12,2), numeric|numeric_precision=12|numeric_scale=2",
        "decimal(7,0)": "numeric(5,-2), numeric|numeric_precision=5|numeric_scale=-2",
        "decimal(5,5)": "numeric(3,5)",
        "decimal(38,10)": "numeric(38,10)",
        "float": "real, float4",
        "double": "double precision, float8",
        "boolean": "boolean, bool, bit|character_maximum_length=1, bit(1), bit",
        "date": "date",
        "timestamp_ntz": "timestamp without time zone, timestamp(3) without time zone, timestamp",
        "timestamp": "timestamp with time zone, timestamptz, timestamp(0) with time zone",
        "binary": "bytea",
        "string": "character varying, character varying(20), character, char(3), text, bpchar,"
        " uuid, time without time zone, time with time zone, time(3) without time zone, interval,"
        " interval year to month, inet, cidr, macaddr, macaddr8, json, jsonb, xml, tsvector,"
        " tsquery, point, line, lseg, box, path, polygon, circle, int4range, tstzrange, pg_lsn,"
        ' bit varying, bit varying(8), name, "char", hstore, USER-DEFINED|udt_name=citext',
    },
    "mysql": {
        "tinyint": "tinyint, tinyint(1), tinyint|column_type=tinyint(4)",
        "smallint": "smallint, smallint(6), tinyint unsigned, year, year(4),"
        " tinyint|column_type=tinyint(3) unsigned",
        "int": "int, int(11), integer, mediumint, smallint unsigned, mediumint unsigned,"
        " mediumint(8) unsigned zerofill",
        "bigint": "bigint, bigint(20), int unsigned, int(10) unsigned, int(10) unsigned zerofill,"
        " int|column_type=int unsigned, bigint|numeric_precision=19",
        "decimal(20,0)": "bigint unsigned, bigint(20) unsigned, serial,"
        " bigint|numeric_precision=20, bigint|column_type=bigint(20) unsigned",
        "decimal(10,2)": "decimal(10,2), decimal(10,2) unsigned, numeric(10,2),"
        " decimal|numeric_precision=10|numeric_scale=2",
        "decimal(10,0)": "decimal, decimal(10)",
        "double": "double, double(10,2), float, float(7,4), real, double unsigned",
        "boolean": "bit(1), bit|numeric_precision=1, bool, boolean",
        "date": "date",
        "timestamp_ntz": "datetime, datetime(6)",
        "timestamp": "timestamp, timestamp(6)",
        "binary": "binary(16), varbinary(255), tinyblob, blob, mediumblob, longblob",
        "string": "char(3), varchar(20), tinytext, text, mediumtext, longtext, enum('a(1)','b'),"
        " set('x','unsigned'), enum|column_type=enum('a','b'), time, time(6), json, geometry,"
        " point, linestring, polygon, uuid, inet4, inet6",
    },
    "sqlserver": {
        "smallint": "tinyint, smallint",
        "int": "int, int identity",
        "bigint": "bigint",
        "decimal(18,2)": "decimal(18,2), numeric|numeric_precision=18|numeric_scale=2",
        "decimal(18,0)": "decimal, numeric",
        "decimal(19,4)": "money",
        "decimal(10,4)": "smallmoney",
        "float": "real",
        "double": "float, float(53)",
        "boolean": "bit",
        "date": "date",
        "timestamp_ntz": "datetime, datetime2(3), smalldatetime, datetime2|datetime_precision=6",
        "timestamp": "datetimeoffset(6)",
        "binary": "binary(8), varbinary(max), image, timestamp, rowversion",
        "string": "char(3), varchar(max), nchar(3), nvarchar(20), text, ntext, xml, time(7),"
        " uniqueidentifier, sysname, geography, geometry",
    },
    "oracle": {
        "decimal(10,2)": "NUMBER(10,2), NUMBER|numeric_precision=10|numeric_scale=2",
        "decimal(38,0)": "INTEGER, NUMBER(38), NUMBER(*,0), NUMBER|numeric_scale=0",
        "decimal(38,2)": "NUMBER(*,2)",
        "decimal(7,0)": "NUMBER(5,-2), NUMBER|numeric_precision=5|numeric_scale=-2",
        "decimal(7,7)": "NUMBER(4,7)",
        "float": "BINARY_FLOAT",
        "double": "BINARY_DOUBLE, FLOAT(24), FLOAT|numeric_precision=53",
        "timestamp_ntz": "DATE, TIMESTAMP(6), TIMESTAMP",
        "timestamp": "TIMESTAMP(6) WITH TIME ZONE, TIMESTAMP(6) WITH LOCAL TIME ZONE,"
        " TIMESTAMP WITH LOCAL TIME ZONE",
        "binary": "RAW, RAW(16), LONG RAW, BLOB",
        "boolean": "BOOLEAN",
        "string": "CHAR, NCHAR, VARCHAR2(20), NVARCHAR2, LONG, CLOB, NCLOB, ROWID, UROWID,"
        " UROWID(40), INTERVAL YEAR(2) TO MONTH, INTERVAL DAY(2) TO SECOND(6), XMLTYPE, JSON",
    },
    "db2": {
        "smallint": "SMALLINT",
        "int": "INTEGER",
        "bigint": "BIGINT",
        "decimal(15,2)": "DECIMAL(15,2), DECIMAL|numeric_precision=15|numeric_scale=2",
        "decimal(5,0)": "DECIMAL",
        "float": "REAL",
        "double": "DOUBLE, DOUBLE PRECISION, FLOAT",
        "boolean": "BOOLEAN",
        "date": "DATE",
        "timestamp_ntz": "TIMESTAMP, TIMESTAMP(6)",
        "timestamp": "TIMESTAMP(6) WITH TIME ZONE",
        "binary": "BINARY(8), VARBINARY(20), BLOB, BINARY LARGE OBJECT, CHAR(8) FOR BIT DATA,"
        " VARCHAR () FOR BIT DATA, CHARACTER|codepage=0",
        "string": "CHARACTER|codepage=1208, VARCHAR(20), CLOB, LONG VARCHAR, GRAPHIC(4),"
        " VARGRAPHIC, DBCLOB, XML, TIME, CHARACTER VARYING, CHARACTER LARGE OBJECT",
    },
    "snowflake": {
        "decimal(38,0)": "NUMBER|numeric_precision=38|numeric_scale=0, INTEGER, BIGINT, NUMBER",
        "decimal(12,2)": "NUMBER(12,2)",
        "double": "FLOAT, DOUBLE, REAL, FLOAT8",
        "boolean": "BOOLEAN",
        "date": "DATE",
        "timestamp_ntz": "TIMESTAMP_NTZ(6), DATETIME, TIMESTAMP_NTZ|datetime_precision=3",
        "timestamp": "TIMESTAMP_LTZ(3), TIMESTAMP_TZ(0)",
        "binary": "BINARY, VARBINARY",
        "string": "TEXT, VARCHAR(20), STRING, TIME, VARIANT, OBJECT, GEOGRAPHY, GEOMETRY, UUID",
    },
}  # fmt: skip
NOTED = {
    "postgresql": {
        "decimal(38,18)": "numeric",
        "string": "ARRAY|udt_name=_int4, integer[], _int4, bit(8), bit|character_maximum_length=8,"
        " money, numeric(50,10), USER-DEFINED|udt_name=mood, USER-DEFINED, no_such_type",
    },
    "mysql": {
        "string": "decimal(65,30), decimal|numeric_precision=65|numeric_scale=30, bit(8),"
        " bit|numeric_precision=8, bit|column_type=bit(64)",
    },
    "sqlserver": {
        "timestamp_ntz": "datetime2, datetime2(7), datetime2|datetime_precision=7",
        "timestamp": "datetimeoffset",
        "string": "sql_variant, hierarchyid",
    },
    "oracle": {
        "decimal(38,18)": "NUMBER, FLOAT(126), FLOAT|numeric_precision=126",
        "timestamp_ntz": "TIMESTAMP(9)",
        "timestamp": "TIMESTAMP(9) WITH TIME ZONE",
        "string": "SDO_GEOMETRY, BFILE",
    },
    "db2": {"string": "DECFLOAT(34)", "timestamp_ntz": "TIMESTAMP(12)"},
    "snowflake": {
        "timestamp_ntz": "TIMESTAMP_NTZ, TIMESTAMP_NTZ|datetime_precision=9, TIMESTAMP",
        "string": "ARRAY, DECFLOAT",
    },
}  # fmt: skip


def split(text: str) -> list[str]:
    """The types of a text, at the commas outside of parentheses."""
    parts = [""]
    for word in text.split(", "):
        inside = parts[-1].count("(") > parts[-1].count(")")
        parts = [*parts[:-1], f"{parts[-1]}, {word}"] if inside else [*parts, word]
    return parts[1:]


def listed(text: str) -> dict[str, str]:
    """A line of a list, of a type and other columns behind bars."""
    data_type, *more = text.split("|")
    return {"data_type": data_type, **dict(one.split("=", 1) for one in more)}


def cases(types: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str, str]]:
    return [
        (dialect, text, expected)
        for dialect, groups in types.items()
        for expected, texts in groups.items()
        for text in split(texts)
    ]


@pytest.mark.parametrize(("dialect", "text", "expected"), cases(TYPES))
def test_types_that_need_no_word(dialect: str, text: str, expected: str) -> None:
    assert source_types.spark_type(listed(text), dialect) == (expected, None)


@pytest.mark.parametrize(("dialect", "text", "expected"), cases(NOTED))
def test_types_of_which_a_reader_has_to_know_something(
    dialect: str, text: str, expected: str
) -> None:
    found = source_types.spark_type(listed(text), dialect)
    assert found.data_type == expected and found.note
    assert source_types.spark_type(listed(text.lower()), dialect).data_type == expected


def test_spark_has_each_type() -> None:
    named = {kind for types in source_types.DIALECTS.values() for kind in types.values()}
    for data_type in {*named, *source_types.COMMON.values()}:
        if not data_type.startswith("("):
            assert not rules()[0]._hash_type(data_type)["problem"], data_type


@pytest.mark.parametrize(
    ("text", "expected", "is_noted"),
    [
        ("tinyint", "smallint", False),  # 0 to 255, or -128 to 127
        ("float", "double", False),
        ("real", "double", False),
        ("bit(8)", "string", True),
        ("timestamp", "timestamp", True),
        ("money", "decimal(19,4)", True),
        ("array<int>", "array<int>", False),
        ("struct<a:int,b:string>", "struct<a:int,b:string>", False),
        ("timestamp_ntz", "timestamp_ntz", False),
        ("array<integre>", "string", True),
        ("{{ x }}\n", "string", True),
    ],
)
def test_types_of_a_database_that_nobody_knows(text: str, expected: str, is_noted: bool) -> None:
    """A name that several databases have becomes a type that holds the values of all."""
    found = source_types.spark_type(listed(text), None)
    assert (found.data_type, bool(found.note)) == (expected, is_noted)
    assert not found.note or not {"{", "}", "\n"} & set(found.note)


@pytest.mark.parametrize(
    "text", ["tinyint", "timestamp", "float", "map<string,int>", "decimal(5,2)"]
)
def test_types_that_spark_lists_stay(text: str) -> None:
    assert source_types.spark_type(listed(text), "spark") == (text, None)


@pytest.mark.parametrize(
    ("types", "headings", "schemas", "expected"),
    [
        (["integer", "character varying", "ARRAY"], [], [], "postgresql"),
        (["int", "nvarchar", "uniqueidentifier", "timestamp"], [], [], "sqlserver"),
        (["NUMBER", "VARCHAR2", "DATE"], [], [], "oracle"),
        (["int unsigned", "varchar"], [], [], "mysql"),
        (["int", "year"], ["column_key"], [], "mysql"),
        (["int", "tinyint"], ["column_type"], [], "mysql"),
        (["NUMBER", "DATE"], ["data_precision"], [], "oracle"),
        (["INTEGER"], ["typename"], [], "db2"),
        (["int", "tinyint", "timestamp"], [], ["dbo"], "sqlserver"),
        (["NUMBER", "TIMESTAMP_TZ", "TEXT"], [], ["PUBLIC"], "snowflake"),
        (["int", "tinyint", "timestamp"], [], ["sales"], None),
        (["jsonb", "nvarchar2"], [], [], None),
        ([], [], [], None),
    ],
)
def test_a_list_tells_its_database(
    types: list[str], headings: list[str], schemas: list[str], expected: str | None
) -> None:
    assert source_types.tells(types, headings, schemas) == expected


# --- the command --------------------------------------------------------------


def write(folder: Path, rows: list[dict[str, str]], *words: str) -> tuple[int, Path]:
    path = folder / "columns.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    models = folder / "models"
    return command_line.main(
        ["new", "--many", str(path), "--directory", str(models), *words]
    ), models


def test_an_unknown_type_is_a_string_with_a_comment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list goes on, and the YAML and the output say which columns it is."""
    rows = [
        {"table_name": table, "column_name": name, "data_type": kind, "is_key": key}
        for table, name, kind, key in [
            ("places", "id", "integer", "yes"),
            ("places", "label", "character varying", ""),
            ("places", "Shape", "no_{{such}}_type", ""),
            ("places", "tags", "ARRAY", ""),
            ("places", "more_tags", "ARRAY", ""),
            ("flags", "id", "integer", "yes"),
            ("flags", "bits", "bit(8)", ""),
        ]
    ]
    code, models = write(tmp_path, rows)
    said = capsys.readouterr().out
    assert code == 0, said
    assert "Types are read as those of PostgreSQL" in said
    assert "places: shape as string: 'no_ such _type' is not a known type: its values" in said
    assert "places: tags, more_tags as string: ARRAY is kept as text" in said
    assert "flags: bits as string: bit(8) has 8 bits" in said
    assert "Wrote 2 entities" in said
    text = (models / "places" / "places.yml").read_text()
    lines = text.splitlines()
    (at,) = [number for number, line in enumerate(lines) if "name: shape" in line]
    assert lines[at - 1].strip().startswith("# 'no_ such _type' is not a known type")
    columns = yaml.safe_load(text)["models"][0]["columns"]
    assert [one["data_type"] for one in columns] == ["int", "string", "string", "string", "string"]


def test_types_that_are_wider_than_their_names(tmp_path: Path) -> None:
    """--dialect says whose types they are, where nothing in the list does."""
    rows = [
        {"table_name": "sizes", "column_name": name, "data_type": kind, "is_key": key}
        for name, kind, key in [
            ("id", "int", "1"),
            ("level", "tinyint", ""),
            ("ver", "timestamp", ""),
        ]
    ]
    for dialect, expected in (
        ("sqlserver", ["int", "smallint", "binary"]),
        ("mysql", ["int", "tinyint", "timestamp"]),
        ("oracle", ["decimal(38,0)", "smallint", "timestamp_ntz"]),
    ):
        folder = tmp_path / dialect
        folder.mkdir()
        code, models = write(folder, rows, "--dialect", dialect)
        assert code == 0
        written = yaml.safe_load((models / "sizes" / "sizes.yml").read_text())
        assert [one["data_type"] for one in written["models"][0]["columns"]] == expected


@pytest.mark.parametrize(
    "headings",
    [
        "owner,table_name,column_name,data_type,data_precision,data_scale,nullable,column_id,is_key",
        "tabschema,tabname,colname,typename,length,scale,nulls,colno,keyseq",
    ],
)
def test_lists_of_other_catalogs(headings: str, tmp_path: Path) -> None:
    """Oracle's all_tab_columns, and Db2's syscat.columns."""
    names = headings.split(",")
    lines = [
        ("S", "BILLS", "TOTAL", "DECIMAL", "12", "2", "Y", "1", ""),
        ("S", "BILLS", "BILL_ID", "DECIMAL", "9", "0", "N", "0", "1"),
        ("S", "BILLS", "Größe, netto", "INTEGER", "", "0", "N", "2", ""),
    ]
    code, models = write(tmp_path, [dict(zip(names, line, strict=True)) for line in lines])
    assert code == 0
    written = yaml.safe_load((models / "bills" / "bills.yml").read_text())
    columns = {one["name"]: one for one in written["models"][0]["columns"]}
    whole = "int" if "tabname" in headings else "decimal(38,0)"
    assert {name: one["data_type"] for name, one in columns.items()} == {
        "bill_id": "decimal(9,0)", "total": "decimal(12,2)", "groesse_netto": whole,
    }  # fmt: skip
    assert next(iter(columns)) == "bill_id"
    assert columns["bill_id"]["config"]["meta"] == {"role": "key"}
    assert columns["groesse_netto"]["config"]["meta"] == {
        "nullable": False, "from": "Größe, netto",
    }  # fmt: skip


def test_dialect_without_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["new", "bills", "--columns", "id:int:key", "--dialect", "mysql"]) == 2
    assert "--dialect mysql belongs to --many" in capsys.readouterr().err


# --- values -------------------------------------------------------------------

# By database: a type, and its largest or oddest values, as exports and tools print them.
TEXTS = {
    "postgresql": [
        ("smallint", "-32768"), ("bigint", "9223372036854775807"), ("oid", "4294967295"),
        ("numeric(5,-2)", "9999900"), ("numeric(3,5)", "0.00999"), ("numeric", "0.1"),
        ("numeric(50,10)", "9" * 40 + ".5"), ("real", "3.4028235e+38"), ("double precision", "NaN"),
        ("boolean", "t"), ("bit(1)", "1"), ("bit(8)", "10110010"), ("bit varying", "101"),
        ("date", "2024-02-29"), ("time without time zone", "24:00:00"),
        ("interval", "1 mon -2 days"),
        ("timestamp without time zone", "2024-02-29 23:59:59.999999"),
        ("timestamp with time zone", "2024-02-29 23:59:59.5+05:30"), ("inet", "10.0.0.1/8"),
        ("money", "$1234.50"), ("ARRAY", "{1;2}"), ("USER-DEFINED", "sad"), ("bytea", "3q2+7w=="),
        ("xid8", "18446744073709551615"), ("int4range", "[1;5)"), ("uuid", "a0eebc99-9c0b-4ef8"),
    ],
    "mysql": [
        ("tinyint", "-128"), ("tinyint(1)", "2"), ("tinyint unsigned", "255"),
        ("smallint unsigned", "65535"), ("mediumint unsigned", "16777215"),
        ("int unsigned", "4294967295"), ("bigint unsigned", "18446744073709551615"),
        ("year", "2155"), ("year(4)", "0000"), ("decimal(65,30)", "1" * 35 + "." + "2" * 30),
        ("float", "3.40282e38"), ("double", "1.7976931348623157e308"), ("bit(1)", "1"),
        ("bit(8)", "178"), ("time", "-838:59:59"), ("datetime(6)", "9999-12-31 23:59:59.999999"),
        ("timestamp", "2038-01-19 03:14:07"), ("enum('a')", "a"), ("varbinary(3)", "3q2+"),
        ("set('a')", "a"),
    ],
    "sqlserver": [
        ("tinyint", "255"), ("smallint", "-32768"), ("bit", "1"), ("bit", "True"),
        ("money", "-922337203685477.5808"), ("smallmoney", "214748.3647"), ("real", "1.18e-38"),
        ("float", "1.79e308"), ("rowversion", "AAAAAAAAB9E="), ("timestamp", "AAAAAAAAB9E="),
        ("datetime", "2024-02-29 23:59:59.997"), ("datetime2", "2024-02-29 23:59:59.1234560"),
        ("datetimeoffset", "2024-02-29 23:59:59.1234560 +05:30"), ("time(7)", "23:59:59.1234567"),
        ("smalldatetime", "2079-06-06 23:59"), ("hierarchyid", "/1/"),
    ],
    "oracle": [
        ("NUMBER(5,-2)", "9999900"), ("NUMBER(4,7)", "0.0009999"), ("NUMBER", "12345.678"),
        ("NUMBER(*,0)", "9" * 38), ("FLOAT(126)", "0.123456789012345678"),
        ("BINARY_DOUBLE", "Inf"), ("BINARY_FLOAT", "Nan"), ("DATE", "2024-02-29 23:59:59"),
        ("TIMESTAMP(6)", "2024-02-29 23:59:59.123456"), ("RAW(16)", "3q2+7w=="),
        ("TIMESTAMP(6) WITH TIME ZONE", "2024-02-29 23:59:59.123456 Europe/Berlin"),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", "2024-02-29 23:59:59.123456"),
        ("ROWID", "AAAR3sAAEAAAACXAAA"), ("INTERVAL DAY(2) TO SECOND(6)", "+01 10:00:00.5"),
    ],
    "db2": [
        ("DECFLOAT(34)", "1E+6144"), ("DECIMAL", "99999"), ("REAL", "1.5E0"),
        ("TIMESTAMP(12)", "2024-02-29 23:59:59.123456000000"), ("TIME", "24:00:00"),
    ],
    "snowflake": [
        ("NUMBER", "9" * 38), ("BIGINT", "9" * 38),
        ("TIMESTAMP_NTZ", "2024-02-29 23:59:59.000000000"),
        ("TIMESTAMP_TZ", "2024-02-29 23:59:59.000 +0100"), ("VARIANT", "{'a': 1}"),
        ("FLOAT", "1.5e300"), ("TIME", "23:59:59.123456789"),
    ],
}  # fmt: skip
# What Debezium, Maxwell and Canal put into JSON for such types.
MESSAGES = [
    ("postgresql", "ARRAY", [1, None]), ("postgresql", "time without time zone", 86400000000),
    ("postgresql", "interval", 2592000000000), ("postgresql", "bit(8)", "sg=="),
    ("postgresql", "point", {"x": 1.5, "y": 2.5, "wkb": "AQ==", "srid": None}),
    ("postgresql", "money", "1234.50"), ("postgresql", "jsonb", '{"a": [1]}'),
    ("postgresql", "bit(1)", True), ("postgresql", "bytea", "3q2+7w=="),
    ("postgresql", "timestamp with time zone", "2024-02-29T23:59:59.123456Z"),
    ("mysql", "bigint unsigned", 18446744073709551615), ("mysql", "year", 2024),
    ("mysql", "tinyint(1)", 1), ("mysql", "bit(8)", 178), ("mysql", "set('a')", "a"),
    ("mysql", "decimal(65,30)", "1.000000000000000000000000000001"),
    ("mysql", "timestamp", "2024-02-29T23:59:59Z"), ("mysql", "time", "23:59:59"),
    ("sqlserver", "rowversion", "AAAAAAAAB9E="), ("sqlserver", "tinyint", 255),
    ("oracle", "ROWID", "AAAR3sAAEAAAACXAAA"), ("oracle", "NUMBER(5,-2)", "9999900"),
]  # fmt: skip


@pytest.mark.integration
def test_values_fit_their_types(cursor: Any, schema: str, tmp_path: Path) -> None:
    """Each value is read, as CSV and as a message: no row is refused, and none is null."""
    cases = [(dialect, *one) for dialect, values in TEXTS.items() for one in values]
    read = made(cursor, schema, tmp_path, cases)
    read.land("2024-01-01", a_csv=";".join(["id", *names(cases)]) + "\n"
              + ";".join(["1", *(f'"{text}"' for _, _, text in cases)]) + "\n")  # fmt: skip
    assert nulls(read, cases) == []


@pytest.mark.integration
def test_values_of_messages_fit_their_types(cursor: Any, schema: str, tmp_path: Path) -> None:
    events = {"load_type": "events", "events": {"format": "maxwell"}}
    read = made(cursor, schema, tmp_path, MESSAGES, **events)
    row = {"id": 1, **dict(zip(names(MESSAGES), (one for _, _, one in MESSAGES), strict=True))}
    message = {"database": "d", "table": "t", "type": "insert", "ts": 1714557600, "xid": 8}
    message |= {"commit": True, "position": "binlog.000009:1000", "data": row}
    read.land("2024-01-01", a_json=json.dumps(message) + "\n")
    assert nulls(read, MESSAGES) == []


def names(cases: Sequence[tuple[str, str, object]]) -> list[str]:
    return [f"c{place}" for place, _ in enumerate(cases)]


def made(
    cursor: Any, schema: str, folder: Path, cases: Sequence[tuple[str, str, object]], **more: Any
) -> Files:
    """An entity with a column for each case, in the type that a list would give it."""
    columns = [column("id", "int", role="key")]
    for name, (dialect, text, _) in zip(names(cases), cases, strict=True):
        columns.append(column(name, source_types.spark_type(listed(text), dialect).data_type))
    source: dict[str, Any] = {"path": f"{folder}/in/{{business_date}}", "format": "json"}
    source |= {} if more else {"format": "csv", "options": {"sep": ";"}}
    settings = {"load_type": "full", "source": source, "guards": dict.fromkeys(GUARDS)} | more
    config = {"meta": {"spark_cdc": settings}}
    node = {"name": "stg_things", "config": config, "columns": columns}
    return Files(cursor, schema, folder, node)


def nulls(read: Files, cases: Sequence[tuple[str, str, object]]) -> list[tuple[str, str, object]]:
    """Load the date; return the cases of which no value came."""
    read.load("2024-01-01")
    (row,) = read.rows(", ".join(f"{name} is null" for name in names(cases)))
    return [case for case, is_null in zip(cases, row, strict=True) if is_null]
