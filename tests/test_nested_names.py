"""Fields of structs whose names Spark writes between backticks, from files to the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import types

import scale
from event_warehouse import column
from spark_cdc.jinja_bridge import load_macros
from spark_cdc.scaffold import sample
from warehouse import Warehouse

pytestmark = pytest.mark.proves("input")

MACROS = load_macros()
TYPE = "struct<`a b`:int, list:array<struct<`c,d:e`:string>>, `f-g`:map<string,struct<`h i`:int>>>"


def test_a_type_is_compared_with_what_describe_says_of_it() -> None:
    shown = "struct<a b:int,list:array<struct<c,d:e:string>>,f-g:map<string,struct<h i:int>>>"
    assert MACROS._plain_type_shown(TYPE) == MACROS._plain_type_shown(shown)
    assert MACROS._is_lossless(shown, TYPE)
    assert MACROS._plain_type_shown("struct<`a``b`:int>") == "struct<a`b:int>"
    assert not MACROS._is_lossless("struct<ab:int>", "struct<`a b`:int>")
    assert not MACROS._is_lossless("struct<a b:bigint>", "struct<`a b`:int>")


@pytest.mark.skipif(scale.FORMAT in ("delta", "iceberg"), reason="a column that they do not take")
def test_such_fields_are_loaded_and_compared(cursor: Any, schema: str, tmp_path: Path) -> None:
    node = {
        "name": "stg_nested",
        "config": {
            "meta": {
                "spark_cdc": {
                    "load_type": "full",
                    "source": {"format": "parquet", "path": f"{tmp_path}/{{business_date}}"},
                }
            }
        },
        "columns": [column("id", "int", role="key"), column("s", TYPE)],
    }
    nested = Warehouse(cursor, schema, tmp_path, node)
    for day, value in (("2024-03-01", 7), ("2024-03-02", 8), ("2024-03-03", 8)):
        json = f'{{"a b": {value}, "list": [{{"c,d:e": "x"}}], "f-g": {{"k": {{"h i": 1}}}}}}'
        cursor.execute(
            f"insert overwrite directory '{tmp_path}/{day}' using parquet"
            f" select 1 as id, from_json('{json}', '{TYPE}') as s"
        )
        nested.load(day)
        assert {code: count for code, count in nested.audit["counts"].items() if count} == {
            {"2024-03-01": "I", "2024-03-02": "U", "2024-03-03": "N"}[day]: 1
        }
    cursor.execute(f"select s.`a b`, s.list[0].`c,d:e` from ({nested.view_sql('current')})")
    assert [tuple(row) for row in cursor.fetchall()] == [(8, "x")]


def test_a_sample_of_typed_files_declares_them() -> None:
    inner = types.StructType([types.StructField("h i", types.IntegerType())])
    outer = types.StructType(
        [
            types.StructField("a b", types.ArrayType(inner)),
            types.StructField("m", types.MapType(types.StringType(), types.DecimalType(5, 2))),
        ]
    )
    text = "struct<`a b`:array<struct<`h i`:int>>,m:map<string,decimal(5,2)>>"
    assert sample._type_text(outer) == text
    assert MACROS._hash_type(text)["problem"] is None
