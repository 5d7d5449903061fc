"""Files of one load with other schemas than each other: what is read, what is refused, and why."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from test_config import changed, macros

pytestmark = pytest.mark.proves("input")

ADDRESS = "struct<Street:string,zip:bigint,tags:array<struct<a:int,b:int>>>"
LACKING = "struct<street:string,zip:int,tags:array<struct<a:int>>>"


def given(data_type: str = ADDRESS, **source: Any) -> tuple[Any, dict[str, Any]]:
    """The macros, and an entity of Avro with a struct."""
    source = {"format": "avro", "path": "in/{business_date}", **source}
    made = macros(changed(columns=[{"name": "address", "data_type": data_type}], source=source))
    return made, made._entity("orders")


@pytest.mark.parametrize(
    ("found", "lacks"),
    [
        (LACKING, ["address.tags.b"]),
        ("struct<zip:bigint>", ["address.street", "address.tags"]),
        (ADDRESS.lower(), []),
        ("struct<street:string,other:int>", []),  # these differ otherwise
        ("struct<street:int,zip:int>", []),
        ("string", []),
    ],
)
def test_fields_that_a_struct_lacks(found: str, lacks: list[str]) -> None:
    made, entity = given()
    own = {"col_name": "ADDRESS", "data_type": found}
    assert made._fields_lacking(own, entity["columns"][-1], ADDRESS) == lacks


def test_a_struct_that_lost_a_field_names_it_and_the_setting() -> None:
    own = {"col_name": "address", "data_type": LACKING}
    made, entity = given()
    message = made._check_types(entity, "avro files of x", [own])["message"]
    assert "missing: address.tags.b" in message
    assert "set source.on_missing_column: null" in message
    assert "wider" not in message
    made, entity = given(on_missing_column="null")
    assert made._check_types(entity, "avro files of x", [own]) is None
    assert made._completed_column(entity, own) == (
        "cast(if(address is null, null, named_struct('street', address.street, 'zip', address.zip,"
        " 'tags', transform(address.tags, part_1 -> if(part_1 is null, null,"
        f" named_struct('a', part_1.a, 'b', null))))) as {ADDRESS})"
    )


def test_files_of_avro_are_read_by_their_own_schemas() -> None:
    made, entity = given("int", on_missing_column="null")
    schemas = [
        {"paths": ["file:/in/2024-03-04/a.avro"], "columns": []},
        {"paths": [f"file:/in/2024-03-04/{one}.avro" for one in "bc"], "columns": []},
    ]
    parts = made._schema_parts(entity, [datetime.datetime(2024, 3, 4)], schemas)
    assert [part["entity"]["source"]["read_path"] for part in parts] == [
        "file:/in/2024-03-04/{a.avro}",
        "file:/in/2024-03-04/{b.avro,c.avro}",
    ]
    sql = made._landed_parts_sql(entity, [part["entity"] for part in parts])
    assert "from landed_orders_schema_1\n\nunion all" in sql
    assert sql.count("address,\n    cdc__unparsed") == 2


def test_a_schema_that_the_entity_gives_reads_all_files() -> None:
    for options, reads in (
        ({}, False),
        ({"avroSchema": "{}"}, True),
        ({"AVROSCHEMAURL": "x"}, True),
    ):
        made, entity = given("int", options=options)
        assert made._has_reader_schema(entity) is reads
    made, entity = given("int", format="parquet", options={"avroSchema": "{}"})
    assert not made._has_reader_schema(entity)
