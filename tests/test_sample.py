"""`spark-cdc new --from-file`: what is read in a sample, and that a load takes what it wrote."""

from __future__ import annotations

import argparse
import base64
import datetime
import gzip
import json
import random
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from project import Project
from spark_cdc import cli as command_line
from spark_cdc.errors import SparkCdcError
from spark_cdc.macro_rules import rules
from spark_cdc.scaffold import files, new, sample
from spark_cdc.scaffold.entity import Column, Entity
from spark_cdc.scaffold.inference import Number, numbers_of_texts, type_of_json, type_of_texts
from test_file_values import Files

pytestmark = pytest.mark.proves("new entities")

NASTY = [
    *("0", "-0", "7", "007", "-007", "+7", " 7", "7 ", "1e5", "1E-5", ".5", "5.", "0x1p3", "1d"),
    *("1.50", "1e400", "1e-400", "NaN", "Infinity", "9223372036854775807", "9223372036854775808"),
    *(
        "123456789012345678901",
        "0.30000000000000004",
        "1.00000000000000000001",
        "9" * 39,
        "1" * 5000,
    ),
    *("1.7976931348623157e308", "2.5e-320", "12345678901234567890.5e3", "-.5", "0001-01-01"),
    *("true", "FALSE", "t", "f", "T", "yes", "no", "y", "n", "1", "null", "NULL", "\\N", "-", "--"),
    *("2024-02-29", "2023-02-29", "2024-2-9", "0000-01-01", "9999-12-31", "10000-01-01", "2024"),
    *("2024-02-03 24:00", "24:00", "12:30:00", "2024-02-03T12:30", "2024-02-03 12:30:00.123456"),
    *("2024-02-03 12:30:00.1234567", "2024-02-03 12:30:00+02:00"),
    *("2024-02-03 12:30:00+02", "2024-02-03T12:30:00.5000000Z", "9999-12-31 23:00:00-05:00"),
    *("2024-02-03 12:30+25:00", "10.12.1815", "1.2.2024", "31.04.2024", "01/02/2024", "13/02/2024"),
    *("02/13/2024", "2024/02/03", "3.2.2024 9:05", "20240203", "١٢", "é", "  ", "a,b", "x;y", "\t"),
    *('"', '""', 'say "x"', "\\", "C:\\", "a\nb", "a\r\nb", "{{ x }}", "{% y %}", "'", "NULL\n"),
]
NAMES = [
    *("id", "Order No", "Größe", "select", "true", "null", "yes", "note", "key_hash"),
    "operation",
    *(
        "stg_things",
        "cdc_x",
        "x__cdc",
        "1a",
        "名前",
        "a.b",
        "a`b",
        'a"b',
        "a'b",
        "a\nb",
        " a",
        "#",
    ),
    *("event_time", "event_op", "x" * 200, "{{ x }}", "{% y %}", "- x: [y]", "_a", "order_no"),
]

# Parquet as pandas writes a frame of which rows were taken: times in nanoseconds, and its index.
PANDAS = base64.b64decode(
    "UEFSMRUAFTwVPCwVBhUAFQYVBhwAAAACAAAABgEBAAAAAAAAAAMAAAAAAAAABAAAAAAAAAAVABUsFSwsFQYVABUGFQYc"
    "AAAAAgAAAAMDADKWPjaIuRcAAHTmzwO6FxUAFTwVPCwVBhUAFQYVBhwAAAACAAAABgEAaDo3Noi5FwBoOjc2iLkXAGg6"
    "NzaIuRcVABUsFSwsFQYVABUGFQYcAAAAAgAAAAMFAAAAAAAA9D8AAAAAAAAcQBUAFSwVLCwVBhUAFQYVBhwAAAACAAAA"
    "BgECAAAAw4QBAAAAYwEAAABkFQAVDBUMLBUGFQAVBhUGHAAAAAIAAAAGABUAFTwVPCwVBhUAFQYVBhwAAAACAAAABgEA"
    "AAAAAAAAAAIAAAAAAAAAAwAAAAAAAAAVBBmMNQAYBnNjaGVtYRUOABUEJQIYAmlkABUEJQIYAmF0bIwSHDwAAAAAABUE"
    "JQIYBHNlZW5sjBEcPAAAAAAAFQolAhgGYW1vdW50ABUMJQIYBG5hbWUlAEwcAAAAFQIlAhgHbm90aGluZ2y8AAAAFQQl"
    "AhgRX19pbmRleF9sZXZlbF8wX18AFgYZHBl8JgAcFQQZJQYAGRgCaWQVABYGFmIWYiYISRwVABUAFQIAPCkGGSYABgAA"
    "ACYAHBUEGSUGABkYAmF0FQAWBhZSFlImakkcFQAVABUCADwpBhkmAgQAAAAmABwVBBklBgAZGARzZWVuFQAWBhZiFmIm"
    "vAFJHBUAFQAVAgA8KQYZJgAGAAAAJgAcFQoZJQYAGRgGYW1vdW50FQAWBhZSFlImngJJHBUAFQAVAgA8KQYZJgIEAAAA"
    "JgAcFQwZJQYAGRgEbmFtZRUAFgYWUhZSJvACSRwVABUAFQIAPBYIGQYZJgAGAAAAJgAcFQIZJQYAGRgHbm90aGluZxUA"
    "FgYWMhYyJsIDSRwVABUAFQIAPCkGGSYGAAAAACYAHBUEGSUGABkYEV9faW5kZXhfbGV2ZWxfMF9fFQAWBhZiFmIm9ANJ"
    "HBUAFQAVAgA8KQYZJgAGAAAAFs4EFgYmCBbOBAAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGXwcAAAc"
    "AAAcAAAcAAAcAAAcAAAcAAAAIwIAAFBBUjE="
)


def parsed(path: Path, *words: str, name: str = "things") -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    new.add_parser(parser.add_subparsers())
    return parser.parse_args(["new", name, "--from-file", str(path), *words])


def made(path: Path, *words: str) -> Entity:
    return new.entity_of(parsed(path, *words))


def written(folder: Path, text: str, name: str = "sample.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def found(path: Path, *words: str) -> dict[str, str]:
    """The types of the columns, with formats."""
    key = ["--key", "id", *words]
    return {
        column.name: f"{column.data_type} {column.format or ''}".strip()
        for column in made(path, *key).columns
    }


def refused(path: Path, *words: str) -> str:
    with pytest.raises(SparkCdcError) as error:
        made(path, *words)
    assert "--help" in error.value.next_step
    return error.value.message


def judged_as_dbt_reads_it(entity: Entity) -> list[str]:
    """What a run says of the YAML."""
    model = yaml.safe_load(files.render_yaml(entity))["models"][0]
    node = {"name": model["name"], "meta": model["config"]["meta"]}
    node["columns"] = [
        {"name": one["name"], "data_type": one["data_type"], **one.get("config", {})}
        for one in model["columns"]
    ]
    return rules()[0]._description_problems(entity.name, node)


# --- types --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ("", "string"),
        ("1 -2 0", "bigint"),
        ("01234 98765", "string"),
        ("+49 50", "string"),
        ("9223372036854775807", "bigint"),
        ("9223372036854775808 1", "decimal(38,0)"),
        ("123456789012345678901 1.5", "decimal(38,1)"),
        ("1" * 39, "string"),
        ("1.5 2 .5 1e5", "double"),
        ("1250.00 -89.90 .05", "decimal(18,2)"),  # money
        ("1250.00 89.9", "double"),
        ("1250.00 89", "double"),
        ("9999999999999999.99", "decimal(18,2)"),
        ("12345678901234567.89", "decimal(38,2)"),
        ("0.30000000000000004", "double"),
        ("1.00000000000000000001 22", "decimal(38,20)"),
        ("1e400 1", "string"),
        ("1e-400", "string"),
        ("NaN 1.5", "string"),
        ("0x1p3", "string"),
        ("1d", "string"),
        ("1,5", "string"),
        ("true FALSE", "boolean"),
        ("true", "boolean"),
        ("t f", "boolean"),
        ("f", "string"),  # as well a letter
        ("t f true", "string"),
        ("y n", "string"),
        ("2024-02-29 2024-3-1", "date"),
        ("0000-01-01", "string"),
        ("2023-02-29", "string"),
        ("10000-01-01", "string"),
        ("2024-02-03 2024-02-03T10:00:00", "timestamp"),
        ("2024-02-03T10:00:00.123456Z 2024-02-03T10:00:00+02:00", "timestamp"),
        ("2024-02-03T10:00:00.1234567", "string"),
        ("2024-02-03T24:00", "string"),
        ("2024-02-03T10:00.5", "string"),
        ("9999-12-31T23:00:00-05:00", "string"),
        ("12:30:00", "string"),
        ("10.12.1815", "date dd.MM.yyyy"),
        ("10.12.1815 1.2.2024", "date d.M.yyyy"),
        ("31.04.2024", "string"),
        ("01/02/2024", "string"),  # January or February
        ("01/02/2024 13/02/2024", "date dd/MM/yyyy"),
        ("1/2/2024 2/13/2024", "date M/d/yyyy"),
        ("2024/02/03", "date yyyy/MM/dd"),
    ],
)
def test_types_of_texts(texts, expected):
    data_type, pattern = type_of_texts(texts.split(" ") if texts else [])
    assert f"{data_type} {pattern or ''}".strip() == expected


def test_times_that_need_a_format():
    assert type_of_texts(["10.12.1815 23:59"]) == ("timestamp", "dd.MM.yyyy HH:mm")
    assert type_of_texts(["3.2.2024 9:05:00"]) == ("timestamp", "d.M.yyyy H:mm:ss")
    assert type_of_texts(["3.2.2024 9:5"]) == ("string", None)
    assert type_of_texts(["2024-02-03 10:00"]) == ("timestamp", "yyyy-MM-dd HH:mm")
    assert type_of_texts(["2024-02-03 10:00:00"]) == ("timestamp", None)


@pytest.mark.parametrize(
    ("texts", "readings"),
    [
        ("1.234,56 2,5", [("double", (",", ".", False))]),
        ("1,234.56 7", [("double", (None, ",", False))]),
        ("12.50- 3.00", [("decimal(18,2)", (None, None, True))]),
        ("1.250,00 89,90", [("decimal(18,2)", (",", ".", False))]),
        ("12,50- 3", [("double", (",", None, True))]),
        ("1.234.567 1", [("bigint", (",", ".", False))]),
        ("1'234.50 0.5", [("double", (None, "'", False))]),
        ("1\u202f234,56", [("decimal(18,2)", (",", " ", False))]),
        ("123456789.123456789,5 1", []),
        ("1.234.567.890.123.456.789,05", [("decimal(38,2)", (",", ".", False))]),
        ("1,234", [("double", (",", None, False)), ("bigint", (None, ",", False))]),
        ("1.234", [("bigint", (",", ".", False))]),  # as well a plain number
        ("1.5 1,5", []),
        ("01,5", []),
        ("1.23,4", []),
        ("-1,5-", []),
        ("030\u00a0123", []),
        ("1.5 2", []),
        ("", []),
    ],
)
def test_numbers_as_people_write_them(texts, readings):
    assert numbers_of_texts(texts.split(" ") if texts else []) == readings


def test_the_columns_of_a_file_tell_how_its_numbers_are_written(tmp_path, capsys):
    path = written(
        tmp_path,
        "id;price;count;debit;share;zip\n1;1.234,56;1.234;12,5-;0,5;01,5\n2;;2.000;1,0 ;1,25;\n",
    )
    columns = {column.name: column for column in made(path, "--key", "id").columns}
    assert {name: (one.data_type, one.meta) for name, one in columns.items()} == {
        "id": ("bigint", {"role": "key"}),
        "price": ("decimal(18,2)", {"decimal": ",", "grouping": "."}),
        "count": ("bigint", {"decimal": ",", "grouping": "."}),
        "debit": ("double", {"decimal": ",", "trailing_sign": True}),
        "share": ("double", {"decimal": ","}),
        "zip": ("string", {}),
    }
    said = capsys.readouterr().err
    assert "price: '1.234,56' is read with decimal: ',', grouping: '.'." in said
    assert judged_as_dbt_reads_it(made(path, "--key", "id")) == []


def test_a_number_that_may_be_two_is_a_string_and_that_is_said(tmp_path, capsys):
    path = written(tmp_path, "id;n\n1;1,234\n")
    assert found(path) == {"id": "bigint", "n": "string"}
    assert "n: '1,234' may be read in two ways and stays a string" in capsys.readouterr().err
    path = written(tmp_path, "id;n;rate\n1;1,234;0.5\n")
    assert made(path, "--key", "id").columns[1].meta == {"grouping": ","}
    assert found(path)["n"] == "bigint"


def test_json_names_meet_in_any_case(tmp_path):
    path = written(tmp_path, '{"id":1,"s":{"aB":1}}\n{"ID":2,"S":{"Ab":1.5}}\n', "x.json")
    assert found(path) == {"id": "bigint", "s": "struct<aB:double>"}
    path = written(tmp_path, '{"id":1,"Id":2}\n', "x.json")
    assert "line 1 of" in refused(path) and "case apart: ['id', 'Id']" in refused(path)


def test_types_of_json():
    whole, long, point = Number("1"), Number("123456789012345678901"), Number("1.5")
    for values, expected in [
        ([None], "string"),
        ([True, None], "boolean"),
        ([True, whole], "string"),
        ([whole, "1"], "string"),
        (["1", "2"], "string"),
        (["2024-02-03", None], "date"),
        ([whole, point], "double"),
        ([Number("1250.00"), Number("89.90"), None], "decimal(18,2)"),
        ([long], "decimal(38,0)"),
        ([[], [whole], [None, point]], "array<double>"),
        ([[]], "array<string>"),
        ([{}], "string"),
        ([{"a": None}, {"b c": [long]}], "struct<a:string,`b c`:array<decimal(38,0)>>"),
        ([{"a": whole, "A": whole}], "string"),
        ([{"d": "2024-02-03"}], "struct<d:string>"),
        ([{"a": whole}, "x"], "string"),
    ]:
        assert type_of_json(values)[0] == expected, values


# --- CSV ----------------------------------------------------------------------


def test_csv_sample(tmp_path):
    folder = tmp_path / "2024-03-01"
    folder.mkdir()
    text = 'Order No;lineNo;"Who; what";Amount;day;load_id;Zip\n'
    path = written(folder, text + "1;1;Ada;1.5;2024-03-01;x;01234\n2;1;;2;;;98765\n")
    entity = made(path, "--key", "Order No,line_no")
    assert entity.format == "csv"
    assert entity.options == {"escape": '"', "sep": ";"}
    assert (entity.path or "").endswith("/{business_date}")
    assert list(entity.columns) == [
        Column("order_no", "bigint", "key", source="Order No"),
        Column("line_no", "bigint", "key", source="lineNo"),
        Column("who_what", "string", source="Who; what"),
        Column("amount", "double", source="Amount"),
        Column("day", "date"),
        Column("source_load_id", "string", source="load_id"),
        Column("zip", "string", source="Zip"),
    ]


def test_options_take_either_name_of_a_column_that_has_another_name_here(tmp_path, capsys):
    """What is renamed is said; texts, fields, functions and other columns keep their words."""
    text = "id,orderNo,is_current,name,Größe\n1,5,0,a,2\n2,6,1,b,3\n"
    path = written(tmp_path, text)
    delta = ("--key", "id", "--load-type", "delta", "--control")
    for word in ("is_current", "source_is_current", "IS_CURRENT", "`is_current`"):
        control = word.strip("`").lower()
        entity = made(path, *delta, control, "--deleted-when", f"{word} = 1")
        assert entity.deleted_when == "source_is_current = 1"
        assert next(one for one in entity.columns if one.role == "control") == Column(
            "source_is_current", "bigint", "control", source="is_current"
        )
    condition = "orderNo > 0 and name <> 'is_current' and x.orderNo > Größe and is_current(1) = id"
    entity = made(
        path, *delta, "is_current", "--deleted-when", condition, "--rule", "p=`Größe` > 1"
    )
    assert entity.deleted_when == (
        "order_no > 0 and name <> 'is_current' and x.orderNo > groesse and is_current(1) = id"
    )
    assert entity.rules == {"p": {"condition": "groesse > 1"}}

    codes = "codes={0: upsert, 1: delete}"
    events = ("--load-type", "events", "--events-format", "flagged_rows", "--event-setting", codes)
    named = ("--operation", "is_current", "--order", "orderNo,id", "--event-setting")
    entity = made(path, "--key", "id", *events, *named, "old_key={id: Größe}")
    assert entity.events == {
        "format": "flagged_rows",
        "operation": "source_is_current",
        "order": ["order_no", "id"],
        "codes": {0: "upsert", 1: "delete"},
        "old_key": {"id": "groesse"},
    }

    words = ["new", "orders", "--from-file", str(path), "--key", "id", "--dry-run"]
    assert command_line.main(words) == 0
    said = capsys.readouterr().out.splitlines()[:2]
    assert said == [
        "# Columns with another name here: 'orderNo' is order_no, 'is_current' is"
        " source_is_current, 'Größe' is groesse; options take either name.",
        "# spark_cdc has columns of its own called is_current.",
    ]
    assert command_line.main([*words, "--load-type", "delta", "--deleted-when", "gone = 1"]) == 2
    assert "'is_current' is source_is_current" in capsys.readouterr().err


def test_a_list_of_columns_renames_what_has_a_name_of_our_own(tmp_path, capsys):
    listed = tmp_path / "columns.csv"
    listed.write_text(
        "table_name,column_name,data_type,is_key\nbills,id,int,yes\nbills,is_current,int,\n"
    )
    words = ["new", "--many", str(listed), "--directory", str(tmp_path / "models")]
    delta = ["--load-type", "delta", "--deleted-when", "is_current = 1", "--control", "is_current"]
    assert command_line.main([*words, *delta]) == 0
    assert "bills: Columns with another name here: 'is_current' is source_is_current" in (
        capsys.readouterr().out
    )
    text = (tmp_path / "models" / "bills" / "bills.yml").read_text()
    assert "deleted_when: source_is_current = 1" in text
    assert "{role: control, from: is_current}" in text


@pytest.mark.parametrize(
    ("text", "options"),
    [
        # whether the sample holds a doubled quote or not
        ("id,a\n1,x\n", {"escape": '"'}),
        ("id\n1\n", {"escape": '"'}),
        ("id\ta\n1\tx,y\n", {"escape": '"', "sep": "\t"}),
        ("id|a\n1|x\n", {"escape": '"', "sep": "|"}),
        ('id,a\r\n1,"x,\r\ny"\r\n', {"escape": '"', "multiLine": "true"}),
        ('id,a\n1,"say ""x"""\n', {"escape": '"'}),
        ('id,a\n1,"C:\\"\n2,"b"\n', {"escape": '"'}),
        ('id,a\n1,"say \\"x\\""\n', {}),
        ('id;a\n1;"say \\"x\\""\n', {"sep": ";"}),
        ('id,a\n1,"C:\\\\x"\n', {"escape": '"'}),
        ('"say ""x""";id\n1;2\n', {"sep": ";", "escape": '"'}),
        ('id,a\n1,5" wide\n', {"escape": '"'}),
        ('id;a\n1;"say ""x""\n and y"', {"sep": ";", "escape": '"', "multiLine": "true"}),
        ('id,"a\nb"\n1,2', {"escape": '"', "multiLine": "true"}),
    ],
)
def test_csv_names_the_options_that_it_needs(tmp_path, text, options):
    entity = made(written(tmp_path, text), "--key", "id")
    assert entity.options == options
    assert entity.columns[0].data_type == "bigint"


def test_csv_without_quotes_has_no_escape(tmp_path):
    path = written(tmp_path, 'id,a\n1,"x\n')
    assert made(path, "--key", "id", "--option", "quote=").options == {"quote": ""}
    quoted = made(written(tmp_path, "id,a\n1,'it''s'\n"), "--key", "id", "--option", "quote='")
    assert quoted.options == {"quote": "'", "escape": "'"}


def test_csv_as_the_reader_takes_it(tmp_path):
    text = "\ufeffid,n,at\r\n\r\n1,\\N,\r\n2,,10.12.1815"
    assert found(written(tmp_path, text)) == {
        "id": "bigint",
        "n": "string",
        "at": "date dd.MM.yyyy",
    }
    path = written(tmp_path, "#no\nid,a\n1,NULL\n2, 5\n#x,\n")
    words = ["--option", "comment=#", "--option", "nullValue=NULL"]
    assert found(path, *words) == {"id": "bigint", "a": "string"}
    assert found(path, *words, "--option", "ignoreLeadingWhiteSpace=true")["a"] == "bigint"
    path = written(tmp_path, "1,x\n2,y")
    assert found(path, "--option", "header=false", "--key", "column_1") == {
        "column_1": "bigint",
        "column_2": "string",
    }
    latin = tmp_path / "latin.csv"
    latin.write_bytes("id,Größe\n1,é".encode("latin-1"))
    assert found(latin, "--option", "encoding=ISO-8859-1") == {"id": "bigint", "groesse": "string"}
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(b"id\n1\n"))
    assert found(packed) == {"id": "bigint"}


def test_a_folder_is_a_sample_too(tmp_path):
    written(tmp_path, "id,a\n1,5\n", "1.csv")
    written(tmp_path, "id,a\n2,x\n", "2.csv")
    written(tmp_path, "", "_SUCCESS")
    assert found(tmp_path, "--format", "csv") == {"id": "bigint", "a": "string"}
    written(tmp_path, "a,id\n2,x\n", "2.csv")
    assert "has another header" in refused(tmp_path, "--format", "csv")


def test_the_head_of_a_large_sample_is_enough(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sample, "LIMIT", 30)
    path = written(tmp_path, 'id,a\n1,5\n2,"6\n7"\n3,"8\n9 and more of it"\n4,"x""y"')
    assert found(path) == {"id": "bigint", "a": "string"}
    assert "the first 30 characters are looked at" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has 0 bytes"),
        ("\n\n", "has no line but blank ones"),
        ("id,,a\n1,2,3", "has a column without a name"),
        ("id,a,a\n1,2,3", "names are the same, case apart: ['a', 'a']"),
        ("id,a,A\n1,2,3", "names are the same, case apart: ['a', 'A']"),
        ("id,a\n1,2\n3", "record 3 of"),
        ('id,a\n1,2\n3,"x', "line 3 of"),
        ('id,a\n1,"b"c', "a quote that is not closed, or within a quoted value"),
        ("id,${x}\n1,2", "has ${ in its name"),
    ],
)
def test_csv_that_a_load_would_refuse(tmp_path, text, message):
    assert message in refused(written(tmp_path, text), "--key", "id")


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "x.csv"
    for content, message in [
        (gzip.compress(b"id\n1", mtime=0), "is packed by gzip (.gz), no text"),
        (b"PK\x03\x04\xff", "is a ZIP archive or an Excel file, no text"),
        (b"PAR1\xff", "is Parquet, no text"),
        (b"id\n\0\xff", "has bytes that are 0"),
    ]:
        path.write_bytes(content)
        assert message in refused(path)
    path.write_bytes(b"id\n1\n")
    assert "the encoding 'nonsense' is unknown" in refused(path, "--option", "encoding=nonsense")
    path.write_bytes("é".encode("latin-1"))
    assert "is no text in UTF-16" in refused(path, "--option", "encoding=UTF-16")


@pytest.mark.parametrize(
    ("encoding", "named", "what"),
    [
        ("latin-1", "windows-1252", "line 2 has the byte 0xFC, 'ü' in windows-1252"),
        ("cp1252", "windows-1252", "line 2 has the byte 0xFC, 'ü' in windows-1252"),
        ("utf-16", "UTF-16", "begins with the mark of UTF-16"),
    ],
)
def test_text_in_another_encoding_names_the_option(tmp_path, encoding, named, what):
    """The command that the message ends with reads the sample."""
    path = tmp_path / "x.csv"
    path.write_bytes("id;name\n1;Müller\n".encode(encoding))
    with pytest.raises(SparkCdcError) as error:
        made(path, "--key", "id")
    assert what in error.value.message
    command = f"spark-cdc new NAME --from-file {path} --option encoding={named}"
    assert error.value.next_step.endswith(command)
    entity = made(path, "--key", "id", "--option", f"encoding={named}")
    assert entity.options["encoding"] == named
    assert [one.data_type for one in entity.columns] == ["bigint", "string"]


def test_json_in_another_encoding_becomes_utf_8(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes('{"id": 1, "name": "Müller"}\n'.encode("latin-1"))
    with pytest.raises(SparkCdcError) as error:
        made(path, "--key", "id")
    assert "JSON is read in UTF-8" in error.value.message
    assert f"iconv -f windows-1252 -t UTF-8 {path} >" in error.value.next_step


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("k.csv", "", "k.csv' has 0 bytes"),
        ("k.json", "", "k.json' has 0 bytes"),
        ("k.parquet", "", "k.parquet' has 0 bytes"),
        ("k.csv", "\n \n", "k.csv' has no line but blank ones"),
        ("k.csv", ",id\n0,7\n", "without a name, number 1, as pandas writes its index"),
        ("k.csv", "id,\n0,7\n", "without a name, number 2."),
    ],
)
def test_samples_of_nothing(tmp_path, name, text, message):
    """One cause, the one that it is."""
    assert message in refused(written(tmp_path, text, name))


def test_folders_of_nothing(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    written(folder, "", "_SUCCESS")
    assert "has no files" in refused(folder, "--format", "csv")
    written(folder, "id\n1\n", "a.csv")
    assert found(folder, "--format", "csv") == {"id": "bigint"}
    written(folder, "", "b.csv")
    assert "b.csv' has 0 bytes" in refused(folder, "--format", "csv")


def test_german_csv(tmp_path, capsys):
    """Semicolons, decimal commas, days before months, CRLF, the mark of UTF-8."""
    text = (
        "\ufeffRechnungs-Nr;Kunde;Straße;Datum;Betrag;Menge;Bezahlt\r\n"
        "R-001;Müller & Söhne;Hauptstr. 5;04.03.2024;1.250,00;3,5;ja\r\n"
        "R-002;Größe GmbH;Ring 7;15.03.2024;89,90;1;nein\r\n"
    )
    entity = made(written(tmp_path, text), "--key", "Rechnungs-Nr")
    assert entity.options == {"escape": '"', "sep": ";"}
    assert [(one.name, one.data_type, one.format, one.decimal) for one in entity.columns] == [
        ("rechnungs_nr", "string", None, None),
        ("kunde", "string", None, None),
        ("strasse", "string", None, None),
        ("datum", "date", "dd.MM.yyyy", None),
        ("betrag", "decimal(18,2)", None, ","),
        ("menge", "double", None, ","),
        ("bezahlt", "string", None, None),
    ]
    assert judged_as_dbt_reads_it(entity) == []


# --- JSON ---------------------------------------------------------------------


def test_json_sample(tmp_path):
    lines = [
        '\ufeff{"id": 1, "big": 123456789012345678901, "born": "10.12.1815", "ok": true}',
        "",
        '{"id": 2, "price": 1.5, "item": {"a": [1, 2.5]}, "at": "2024-02-03T10:00:00Z"}',
    ]
    assert found(written(tmp_path, "\r\n".join(lines), "x.jsonl")) == {
        "id": "bigint",
        "big": "decimal(38,0)",
        "born": "date dd.MM.yyyy",
        "ok": "boolean",
        "price": "double",
        "item": "struct<a:array<double>>",
        "at": "timestamp",
    }


@pytest.mark.parametrize(
    "line", ['{"a": 1}{"a": 2}', '{"a": 1} x', '{"a": 1},', '[{"a": 1}]', "{", '{"a": 1, "a": 2}']
)
def test_json_that_a_load_would_refuse(tmp_path, line):
    path = written(tmp_path, '{"id": 1}\n' + line, "x.json")
    assert f"line 2 of {path} is not one JSON object" in refused(path, "--key", "id")


OVER_LINES = {
    "an array": '[{"id": 1, "note": "a, [b"},\n {"id": 2.5}]\n',
    "an array on one line": '[{"id":1,"note":"x"},{"id":2.5,"note":null}]',
    "a pretty array": '[\n  {\n    "id": 1\n  },\n  {\n    "id": 2.5,\n    "note": "y"\n  }\n]\n',
    "a pretty object": '{\n  "id": 1.5,\n  "note": "z"\n}\n',
    "pretty objects": '{\n  "id": 1.5\n}\n{\r\n  "id": 2,\n  "note": "z"\r\n}\r\n',
}


@pytest.mark.parametrize("name", OVER_LINES)
def test_json_over_several_lines(tmp_path, name):
    path = written(tmp_path, OVER_LINES[name], "x.json")
    entity = made(path, "--key", "id")
    assert entity.options == {"multiLine": "true"}
    assert found(path) == {"id": "double", "note": "string"}
    given = made(path, "--key", "id", "--option", "multiLine=true")
    assert (given.options, given.columns) == (entity.options, entity.columns)


def test_json_lines_take_no_option(tmp_path):
    path = written(tmp_path, '{"id": 1}\n{"id": 2}\n', "x.json")
    assert made(path, "--key", "id").options == {}
    assert found(path) == {"id": "bigint"}
    assert made(path, "--key", "id", "--option", "multiLine=true").columns == [
        Column("id", "bigint", role="key")
    ]


@pytest.mark.parametrize(
    "text, problem",
    [
        ('[{"id": 1}, 5]', "element 2 of {path} is not one JSON object: it is a list or a single"),
        ('[{"id": 1}, ]', "element 2 of {path} is not one JSON object"),
        ('[{"id": 1}', "element 1 of {path} is not one JSON object: neither a comma nor the end"),
        ('[{"id": 1} {"id": 2}]', "element 1 of {path} is not one JSON object: neither a comma"),
        ('[{"id": 1,', "element 1 of {path} is not one JSON object"),
        ('[{"id": 1, "id": 2}]', "element 1 of {path} is not one JSON object: it has a name twice"),
        ('[{"id": 1, "ID": 2}]', "element 1 of {path} has names that are the same, case apart"),
        ('[{"id": 1}] [{"id": 2}]', "{path} has text behind its array"),
        ("[]", "'{path}' has no object with a name"),
    ],
)
def test_json_arrays_that_a_load_would_refuse(tmp_path, text, problem):
    path = written(tmp_path, text, "x.json")
    assert problem.format(path=path) in refused(path, "--key", "id")


def test_a_json_array_that_is_longer_than_is_looked_at(tmp_path, monkeypatch):
    path = written(tmp_path, json.dumps([{"id": number} for number in range(9)]), "x.json")
    monkeypatch.setattr(sample, "LIMIT", 25)
    assert found(path) == {"id": "bigint"}


def test_a_json_array_that_is_said_to_be_lines(tmp_path):
    path = written(tmp_path, '[{"id": 1}]', "x.json")
    assert "Arrays take --option multiLine=true" in refused(
        path, "--key", "id", "--option", "multiLine=false"
    )


# --- all of it ----------------------------------------------------------------


def csv_text(rows: list[list[str]]) -> str:
    return "".join(
        ",".join('"' + value.replace('"', '""') + '"' for value in row) + "\n" for row in rows
    )


@pytest.mark.parametrize("seed", range(40))
def test_a_run_accepts_what_was_written(tmp_path, seed):
    """Whatever the names and values are: the rules of a run say nothing."""
    chance = random.Random(seed)
    names = ["id", *chance.sample(NAMES[1:], chance.randint(1, len(NAMES) - 1))]
    pools = [chance.sample(NASTY, chance.randint(1, 3)) for _ in names]
    rows = [[str(number), *(chance.choice(pool) for pool in pools[1:])] for number in range(1, 6)]
    events = ["--load-type", "events", "--events-format", "flagged_rows", "--operation", "id"]
    words = [*events, "--order", "id"] if seed % 2 else []
    texts = {
        "x.csv": csv_text([names, *rows]),
        "x.json": "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows),
    }
    for name, text in texts.items():
        path = written(tmp_path, text, name)
        if words:
            columns, _ = sample.read_sample(path, name[2:], {}, "things", True)
            entity = Entity("things", columns)
            assert not [p for p in new.problems_of(entity) if "role key" not in p]
            continue
        entity = made(path, "--key", "id")
        assert judged_as_dbt_reads_it(entity) == []
        assert [column.source or column.name for column in entity.columns] == names


@pytest.mark.parametrize(
    ("words", "folder"), [([], "sql/a"), (["--directory", "sql/cdc"], "sql/cdc/a")]
)
def test_new_says_how_to_go_on(tmp_path, monkeypatch, capsys, words, folder):
    (tmp_path / "dbt_project.yml").write_text("name: shop\nmodel-paths: [sql]\n")
    monkeypatch.chdir(tmp_path)
    args = parsed(written(tmp_path, "id\n1\n"), "--key", "id", *words, name="a")
    assert args.run(args) == 0
    assert (tmp_path / folder / "stg_a.sql").is_file()
    printed = capsys.readouterr().out
    today = datetime.date.today().isoformat()
    assert f"  install -D {tmp_path / 'sample.csv'} landing/a/{today}/sample.csv\n" in printed
    assert f"  spark-cdc load {today} --select a\n" in printed
    assert f"  dbt run --select tag:spark_cdc.a --vars '{{business_date: {today}}}'\n" in printed
    assert "starts in the project's folder" in printed


@pytest.mark.parametrize(
    ("name", "content", "is_open"),
    [
        ("a.csv", b"id,v\n1,a\n", False),
        ("a.csv", b"id,v\r\n1,a\r\n", False),
        ("a.csv", b"id,v\n1,a", True),
        ("a.csv.gz", gzip.compress(b"id,v\n1,a", mtime=0), True),
        ("a.csv.gz", gzip.compress(b"id,v\n1,a\n", mtime=0), False),
        ("a.json", b'{"id": 1, "v": "a"}\n{"id": 2, "v": "b"}', True),
        ("a.json", b'{"id": 1, "v": "a"}\n', False),
    ],
)
def test_a_sample_without_a_last_line_end(tmp_path, monkeypatch, capsys, name, content, is_open):
    """Loads would refuse files like it, so the guard is off, which `new` says."""
    (tmp_path / "dbt_project.yml").write_text("name: shop\n")
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    args = parsed(tmp_path / name, "--key", "id", name="things")
    assert args.run(args) == 0
    text = (tmp_path / "models/things/things.yml").read_text("utf-8")
    said = f"{tmp_path / name} ends without a line end, so the guard unfinished_file is off"
    assert (said in capsys.readouterr().out) is is_open
    assert ("unfinished_file" in text) is is_open
    if is_open:
        assert yaml.safe_load(text)["models"][0]["config"]["meta"]["spark_cdc"]["guards"] == {
            "unfinished_file": None
        }
        assert judged_as_dbt_reads_it(new.entity_of(args)) == []


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "latin-1"])
def test_the_last_line_end_in_other_encodings(tmp_path, encoding):
    for text, is_open in (("id\n1\n", False), ("id\n1", True), ("id\r\n1\r\n", False)):
        (tmp_path / "a.csv").write_bytes(text.encode(encoding))
        assert sample.has_open_end(tmp_path / "a.csv", {"encoding": encoding}) is is_open
    (tmp_path / "a.csv").write_bytes(b"id|1|")
    assert sample.has_open_end(tmp_path, {"lineSep": "|"}) is False
    assert sample.has_open_end(tmp_path, {}) is True


@pytest.mark.parametrize(
    ("settings", "page", "is_written"),
    [
        ("", None, True),
        ("model-paths: [sql]\n", None, True),
        ("", "models/notes.md", True),
        ("", "models/deep/own.md", False),
        ("docs-paths: [pages]\n", "pages/own.md", False),
        ("", "macros/own.md", False),
        ("docs-paths: \"{{ ['models'] }}\"\n", None, False),
    ],
)
def test_new_gives_dbt_docs_a_first_page(tmp_path, monkeypatch, capsys, settings, page, is_written):
    """Only where the project has none: one of two would be hidden."""
    (tmp_path / "dbt_project.yml").write_text(f"name: shop\n{settings}")
    if page:
        (tmp_path / page).parent.mkdir(parents=True)
        title = "__overview__" if page.endswith("own.md") else "other"
        (tmp_path / page).write_text(f"{{% docs {title} %}}\nMine\n{{% enddocs %}}\n")
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        args = parsed(written(tmp_path, "id\n1\n"), "--key", "id", name=name)
        assert args.run(args) == 0
    found = list(tmp_path.rglob("overview.md"))
    assert len(found) == is_written
    assert capsys.readouterr().out.count("the first page of dbt docs") == is_written
    if found:
        where = found[0].relative_to(tmp_path).as_posix()
        text = found[0].read_text()
        assert text.startswith("{% docs __overview__ %}\n") and f"`{where}`" in text


@pytest.mark.parametrize(
    ("words", "landed"),
    [
        ([], True),
        (["--path", "s3a://lake/{business_date}"], False),
        (["--path", "/x/{business_date:%Y}/{business_date:%d}"], False),
    ],
)
def test_what_new_says_of_a_sample_that_is_landed(tmp_path, monkeypatch, capsys, words, landed):
    """Its date is that of the folder; where it goes is no command if it is not one folder."""
    (tmp_path / "dbt_project.yml").write_text("name: shop\n")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ("landing/a/2024-03-02" if landed else "samples")
    folder.mkdir(parents=True)
    args = parsed(written(folder, "id\n1\n"), "--key", "id", *words, name="a")
    assert args.run(args) == 0
    printed = capsys.readouterr().out
    assert "install" not in printed
    assert (f"files of a business date go to {words[-1:] and words[-1]}" in printed) is not landed
    date = "2024-03-02" if landed else datetime.date.today().isoformat()
    assert f"spark-cdc load {date} --select a\n" in printed


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("id:int:key, email:string", "email looks personal"),
        ("id:int:key, Kunde:string:from=K", None),
        ("id:int:key, contact_e_mail:string, phone_no:string", "contact_e_mail, phone_no look"),
        ("id:int:key, email:string:sensitive", None),
        ("id:int:key, emails_sent:int, mailing:string", None),
        ("id:int:key, email_changed:string:control, op:string", None),
        ("iban:string:key, name:string", "iban looks personal"),
    ],
)
def test_new_mentions_sensitive_for_what_looks_personal(tmp_path, capsys, columns, said):
    listed = tmp_path / "tables.csv"
    listed.write_text(f'entity,columns\na,"{columns.lower()}"\n')
    for words in (["a", "--columns", columns.lower()], ["--many", str(listed)]):
        assert command_line.main(["new", *words, "--dry-run"]) == 0
        printed = capsys.readouterr().out
        assert (f"{said or 'personal'}" in printed) is bool(said), printed
        assert ("set sensitive: true" in printed) is bool(said)


# --- with Spark ---------------------------------------------------------------


def test_pandas_parquet(tmp_path, monkeypatch, capsys):
    """Its times in nanoseconds need an encoding; its index follows the row's position."""
    path = tmp_path / "x.parquet"
    path.write_bytes(PANDAS)
    entity = made(path, "--key", "id")
    assert [(one.name, one.data_type, one.encoding, one.role) for one in entity.columns] == [
        ("id", "bigint", None, "key"),
        ("at", "timestamp_ntz", "nanos", None),
        ("seen", "timestamp", "nanos", None),
        ("amount", "double", None, None),
        ("name", "string", None, None),
        ("nothing", "string", None, None),
        ("index_level_0", "bigint", None, "untracked"),
    ]
    assert judged_as_dbt_reads_it(entity) == []
    assert "index=False" in capsys.readouterr().err
    assert made(path, "--key", "__index_level_0__").columns[-1].role == "key"
    path.write_bytes(PANDAS[:-9])
    assert "Spark can't read" in refused(path, "--key", "id")


GERMAN = (
    "Rechnungs-Nr;Straße;Datum;Betrag;Menge\r\nR-001;Hauptstr. 5;04.03.2024;1.250,00;3,5\r\n"
    "R-002;Größe 7;15.03.2024;89,90;1\r\n"
)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "data", "words", "expected"),
    [
        (
            "x.csv",
            GERMAN.encode("cp1252"),
            ["--key", "Rechnungs-Nr", "--option", "encoding=windows-1252"],
            [
                ("R-001", "Hauptstr. 5", "2024-03-04", "1250.00", "3.5"),
                ("R-002", "Größe 7", "2024-03-15", "89.90", "1.0"),
            ],
        ),
        (
            "x.parquet",
            PANDAS,
            ["--key", "id"],
            [
                (1, "2024-03-04 10:15:00.123456", "2024-03-04 10:15:00", "1.25", "Ä", None, 0),
                (3, "2024-03-06 00:00:00", "2024-03-04 10:15:00", None, "c", None, 2),
                (4, None, "2024-03-04 10:15:00", "7.0", "d", None, 3),
            ],
        ),
    ],
)
def test_a_load_takes_files_of_the_first_day(
    cursor, schema, tmp_path, name, data, words, expected
) -> None:
    """A German export of Excel, and what pandas writes, by what `new` proposes for them."""
    folder = tmp_path / "in" / "2024-01-01"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(data)
    entity = made(folder / name, *words)
    columns = [
        {"name": one.name, "data_type": one.data_type, "config": {"meta": one.meta}}
        for one in entity.columns
    ]
    config = {"meta": {"spark_cdc": entity.settings}}
    read = Files(
        cursor, schema, tmp_path, {"name": "stg_things", "config": config, "columns": columns}
    )
    read.load("2024-01-01")
    shown = [
        f"cast({one.name} as string)" if one.data_type not in ("string", "bigint") else one.name
        for one in entity.columns
    ]
    assert read.rows(", ".join(shown)) == expected


@pytest.mark.integration
def test_a_load_takes_what_was_proposed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text and each name, in CSV as in JSON: no row is rejected."""
    monkeypatch.chdir(project.folder)
    names = ["id", *NAMES[1:], *(f"c{at}" for at in range(len(NASTY) - len(NAMES) + 1))]
    rows = [["1", *NASTY], ["2", *("" for _ in NASTY)]]
    numbers = {"long": 123456789012345678901, "third": 0.30000000000000004, "list": [{"a b": 1.5}]}
    objects = [dict(zip(NAMES, row, strict=False)) | numbers for row in rows]
    mixed = [
        "id;flag;born;at;price;size",
        "1;t;1.2.1815;2024-02-03;1e5;123456789012345678901",
        "2;f;10.12.1815;2024-02-03T10:00:00+02:00;.5;1.5e-3",
    ]
    texts = {
        "nasty.csv": "\ufeff" + csv_text([names, *rows]).replace("\n", "\r\n"),
        "nasty.json": "\n".join(json.dumps(one) for one in objects),
        "mixed.csv": "\n".join(mixed),
    }
    for file, text in texts.items():
        name = file.replace(".", "_")
        folder = project.landing / name / "2024-01-01"
        folder.mkdir(parents=True)
        path = ["--path", f"{folder.parent}/{{business_date}}", "--directory", "models/mine"]
        args = parsed(written(folder, text, file), "--key", "id", *path, name=name)
        assert args.run(args) == 0
    words = ["--select", "path:models/mine", "--vars", "{business_date: 2024-01-01}"]
    outcome = project.dbt("run", *words)
    assert outcome.success, outcome.output
    columns = "id, flag, born, cast(at as string), price, size"
    assert project.rows("mixed_csv_current", columns) == [
        (1, True, "1815-02-01", "2024-02-03 00:00:00", 100000.0, Decimal("123456789012345678901")),
        (2, False, "1815-12-10", "2024-02-03 08:00:00", 0.5, Decimal("0.0015")),
    ]
    assert (
        project.rows("nasty_json_current", "long, third, list[0].`a b`")
        == [(Decimal("123456789012345678901"), 0.30000000000000004, 1.5)] * 2
    )
    assert len(project.rows("nasty_csv_current", "id")) == 2
