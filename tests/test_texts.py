"""Macros that read texts: types, paths, plans and what dbt knows of a table, with odd ones."""

from __future__ import annotations

import datetime
import re
from types import SimpleNamespace
from typing import Any

import pytest

from spark_cdc.jinja_bridge import load_macros

pytestmark = pytest.mark.proves("input")

MACROS = load_macros()
NO_RELATION = """== Physical Plan ==
org.apache.spark.sql.catalyst.parser.ParseException: Error occurred during query planning:
 [TABLE_OR_VIEW_NOT_FOUND] The table `cdc`.`gone` cannot
be found. SQLSTATE: 42P01; line 1 pos 14;"""


def entity(path: str, kind: str = "date") -> dict[str, Any]:
    source = {"path": path, "read_path": path, "format": "csv", "options": {}}
    return {"name": "orders", "eff_type": kind, "source": source, "columns": []}


@pytest.mark.parametrize(
    ("text", "separators", "parts"),
    [
        ("a, b", ",", ["a", "b"]),
        ("", ",", [""]),
        ("a,", ",", ["a", ""]),
        ("map<string, int>, decimal(5, 2)", ",", ["map<string, int>", "decimal(5, 2)"]),
        ("`a,b``c,d`.e", ".,", ["`a,b``c,d`", "e"]),
        (r"a comment 'it\'s, <x', b comment 'a''b, c'", ",", [r"a comment 'it\'s, <x'"]),
        ("a \"x, ' y\", `it's`", ",", ['a "x, \' y"', "`it's`"]),
        ("`\\`, b", ",", ["`\\`", "b"]),
    ],
)
def test_a_text_is_split_outside_quotes_and_brackets(
    text: str, separators: str, parts: list[str]
) -> None:
    assert MACROS._split_outside(text, separators)[: len(parts)] == parts


@pytest.mark.parametrize(
    ("type", "plain"),
    [
        (" DECIMAL ( 10 , 2 ) ", "decimal(10,2)"),
        ("dec", "decimal(10,0)"),
        ("numeric(5)", "decimal(5,0)"),
        ("decimal(5,)", "decimal(5,)"),
        ("decimals(5,2)", "decimals(5,2)"),
        ("Array < Long >", "array<long>"),
        ("struct< a : int , `b c` : string >", "struct<a:int,`b c`:string>"),
        ("LONG", "bigint"),
    ],
)
def test_types_in_one_spelling(type: str, plain: str) -> None:
    assert MACROS._plain_type(type) == plain


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("`a:b` int", "a:b"),
        ("`a``b`: int", "a`b"),
        ("comment: int comment 'x'", "comment"),
        ("ä\tint\tNOT NULL", "ä"),
        ("a-b: int", None),
        ("`` int", None),
        ("a", None),
        ("", None),
    ],
)
def test_fields_of_structs(field: str, name: str | None) -> None:
    found = MACROS._hash_field(field)
    assert (found and found["name"], found and found["type"]["kind"]) == (name, name and "integer")


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("a_1", "a_1"), ("_a", "`_a`"), ("A", "`A`"), ("é", "`é`"), ("", "``"), ("a\n", "`a\n`")],
)
def test_names_that_sql_takes_as_they_are(name: str, quoted: str) -> None:
    assert MACROS._quote(name) == quoted


@pytest.mark.parametrize("name", ["abc", "Größe", "日本", "e😀", "100% a/b", "a+b~c"])
def test_names_are_hashed_with_their_length_in_bytes(name: str) -> None:
    hashed = MACROS._hash([{"name": name, "data_type": "int", "sql": "n"}])
    assert f",{len(name.lower().encode())}:{name.lower()}=n" in hashed


@pytest.mark.parametrize(
    ("path", "of_date"),
    [
        ("in/{business_date}", "in/2024-03-01"),
        ("in/{business_date:%Y/%m}/{business_date:%d}.csv", "in/2024/03/01.csv"),
        ("in/{business_date:}", "in/2024-03-01"),
        ("in/{business_dates}/{business_date}", "in/{business_dates}/2024-03-01"),
        ("in/{business_date", "in/{business_date"),
    ],
)
def test_paths_of_a_business_date(path: str, of_date: str) -> None:
    assert MACROS._landing_path(entity(path), [datetime.datetime(2024, 3, 1)]) == of_date


@pytest.mark.parametrize(
    ("path", "listed", "found"),
    [
        ("in/{business_date}", "/srv/in/2024-03-01/a.csv", "2024-03-01"),
        ("s3a://b/in/{business_date:%y%j}/*", "/in/24061/x/a.csv", "2024-03-01"),
        ("./a//b/{business_date:%Y}/{business_date:%m%d}", "a/b/2024/0301", "2024-03-01"),
        ("{x,y}/day?[ab]_{business_date}", "y/day1a_2024-03-01/f", "2024-03-01"),
        ("in/{business_date}.{business_date:%Y}", "in/2024-03-01.2023", None),
        ("in/{business_date}", "in/2024-02-31", None),
    ],
)
def test_a_business_date_is_read_back_from_a_path(
    path: str, listed: str, found: str | None
) -> None:
    pattern = MACROS._landed_times_pattern(entity(path))
    match = re.search(pattern["regex"], listed)
    time = MACROS._landed_times_path(pattern["letters"], match.groups() if match else [""])
    assert time == (datetime.datetime.fromisoformat(found) if found else None)


def test_a_path_that_can_not_be_read_back() -> None:
    assert "has %b, %U," in MACROS._landed_times_pattern(entity("{business_date:%b-%U}"))["problem"]


@pytest.mark.parametrize(
    ("root", "path", "folders"),
    [
        ("in/2024", "file:/srv/in/2024/a=1/f.csv", ["a=1"]),
        ("/srv/in", "file:/srv/in/a=1/b=2/f.csv", ["a=1", "b=2"]),
        ("in/x=1/{p=1,q}/d*", "file:/in/x=1/p=1/d=2/n=1/f", ["n=1"]),
        ("in/[ab]?", "s3a://in/a1/n=1/f", ["n=1"]),
        ("in/*.csv", "file:/in/a=1.csv", []),
        ("in", "file:/k=1/in/f", []),
    ],
)
def test_folders_below_the_path(root: str, path: str, folders: list[str]) -> None:
    assert MACROS._folders_below(root, path) == folders


def test_what_a_plan_says() -> None:
    assert MACROS._plan_refusal(NO_RELATION) == (
        "[TABLE_OR_VIEW_NOT_FOUND] The table `cdc`.`gone` cannot be found"
    )
    assert MACROS._plan_refusal("== Physical Plan ==\nScan") is None
    missing = "[PATH_NOT_FOUND] Path does not exist: file:/in/a.b{,/*}. SQLSTATE: 42K03"
    assert MACROS._plan_missing_path(missing) == "file:/in/a.b{,/*}"
    assert MACROS._plan_missing_path("[PATH_NOT_FOUND] elsewhere") is None
    scan = "Location: InMemoryFileIndex({} paths){}\n"
    listed = "[file:/a, file:/b], PartitionFilters: [], PushedFilters: []"
    assert MACROS._plan_paths(scan.format(2, listed)) == {"count": 2, "paths": "file:/a, file:/b"}
    assert MACROS._plan_paths(scan.format(9, "[file:/a, ...")) == {"count": 9, "paths": ""}
    assert MACROS._plan_paths("Scan ExistingRDD") == {"count": 0, "paths": ""}


@pytest.mark.parametrize(
    ("information", "provider"),
    [
        (None, ""),
        ("Owner: x\n Provider: DELTA\nType: MANAGED", "delta"),
        ("Provider: hive\nTable Properties: [table_type=ICEBERG]", "iceberg"),
        ("Comment: my Provider: orc", ""),
    ],
)
def test_the_provider_of_a_table(information: str | None, provider: str) -> None:
    assert MACROS._provider_of(SimpleNamespace(information=information)) == provider


def test_columns_and_options_that_dbt_has_of_a_table() -> None:
    information = (
        "Storage Properties: [compression=zstd, serialization.format=1]\n"
        "Schema: root\n |-- id: integer (nullable = true)\n"
        " |-- a: b: decimal(5,2) (nullable = false)\n"
    )
    macros = load_macros(load_cached_relation=lambda _: SimpleNamespace(information=information))
    table = SimpleNamespace(schema="cdc", identifier="orders_ledger")
    assert macros._has_option(table, "compression=zstd")
    assert not macros._has_option(table, "compression=zst")
    columns = [{"at": "id", "data_type": "int"}, {"at": "A: b", "data_type": "dec(5, 2)"}]
    found = [("id", "integer"), ("a: b", "decimal(5,2)")]
    assert [tuple(one.values()) for one in macros._cached_columns(table, columns)] == found
    assert macros._cached_columns(table, columns[:1]) == []


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("3.5.1 abc", [3, 5]), ("4.1-preview", [4, 1]), ("13.3.x", [13, 3]), ("4", None), ("", None)],
)
def test_the_version_of_spark(version: str, numbers: list[int] | None) -> None:
    rows = [{"version": version}]
    macros = load_macros(run_query=lambda _: SimpleNamespace(rows=rows))
    assert macros._spark_version()[0] == numbers
