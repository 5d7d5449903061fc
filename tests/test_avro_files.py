"""Avro files as others write them: two schemas in a day, names in other letters, a cut file.

Written by fastavro, read by a Spark server that has the jar.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyhive.exc import OperationalError

from spark_cdc.jinja_bridge import CompilerError
from warehouse import Warehouse, described

pytestmark = [pytest.mark.proves("input"), pytest.mark.integration]
DAYS = tuple(f"2024-03-0{day}" for day in range(4, 9))
PLACE: dict[str, Any] = {
    "type": "record",
    "name": "place",
    "fields": [{"name": "city", "type": "string"}, {"name": "zip", "type": ["null", "int"]}],
}
SHORT: dict[str, Any] = {"type": "record", "name": "place", "fields": PLACE["fields"][:1]}


def ware(cursor: Any, folder: Path, **source: Any) -> Warehouse:
    columns = {
        "id": {"data_type": "bigint", "role": "key"},
        "name": "string",
        "place": "struct<city:string,zip:int>",
    }
    cursor.execute("create database if not exists shop")
    source = {"format": "avro", "path": f"{folder}/{{business_date}}", **source}
    return Warehouse(cursor, "shop", folder, described("people", columns, source=source))


def land(ware: Warehouse, day: str, **files: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    """Writes a file for each name: its fields with their types, and its rows."""
    (ware.folder / day).mkdir(exist_ok=True)
    for name, (types, rows) in files.items():
        fields = [{"name": field, "type": type} for field, type in types.items()]
        schema = fastavro.parse_schema({"type": "record", "name": "person", "fields": fields})
        with (ware.folder / day / f"{name}.avro").open("wb") as file:
            fastavro.writer(file, schema, rows)


def rows(ware: Warehouse) -> list[tuple[Any, ...]]:
    sql = ware.view_sql("current")
    ware.cursor.execute(f"select id, name, place.city, place.zip from ({sql}) order by id")
    found: list[tuple[Any, ...]] = ware.cursor.fetchall()
    return found


WHOLE: dict[str, Any] = {"id": "long", "name": ["null", "string"], "place": ["null", PLACE]}
BERN = {"city": "Bern", "zip": 3000}


def test_two_schemas_in_one_day(avro_cursor: Any, tmp_path: Path) -> None:
    people = ware(avro_cursor, tmp_path)
    # the same columns in another order, and names in other letters
    other = {"place": PLACE, "NAME": "string", "ID": "long"}
    land(
        people,
        DAYS[0],
        a=(WHOLE, [{"id": 1, "name": "a", "place": BERN}, {"id": 2, "name": None, "place": None}]),
        b=(other, [{"ID": 3, "NAME": "c", "place": {"city": "Thun", "zip": None}}]),
    )
    people.load(DAYS[0])
    expected = [(1, "a", "Bern", 3000), (2, None, None, None), (3, "c", "Thun", None)]
    assert rows(people) == expected
    # a file without a column, and one whose struct lost a field
    lacking = {"id": "long", "place": SHORT}
    files = {
        "a": (WHOLE, [{"id": 1, "name": "a", "place": BERN}]),
        "b": (lacking, [{"id": 2, "place": {"city": "Biel"}}]),
    }
    land(people, DAYS[1], **files)
    with pytest.raises(CompilerError, match="on_missing_column: null"):
        people.load(DAYS[1])
    assert rows(people) == expected
    people.node["config"]["meta"]["spark_cdc"]["source"]["on_missing_column"] = "null"
    people.load(DAYS[1])
    assert rows(people) == [(1, "a", "Bern", 3000), (2, None, "Biel", None)]


def test_a_schema_that_is_given_reads_both(avro_cursor: Any, tmp_path: Path) -> None:
    schema = (
        '{"type": "record", "name": "person", "fields": [{"name": "id", "type": "long"},'
        ' {"name": "name", "type": ["null", "string"], "default": null},'
        ' {"name": "place", "type": ["null", {"type": "record", "name": "place", "fields": ['
        '{"name": "city", "type": "string"}, {"name": "zip", "type": ["null", "int"],'
        ' "default": null}]}], "default": null}]}'
    )
    people = ware(avro_cursor, tmp_path, options={"avroSchema": schema})
    land(
        people,
        DAYS[0],
        a=(WHOLE, [{"id": 1, "name": "a", "place": BERN}]),
        b=({"id": "int", "place": SHORT}, [{"id": 2, "place": {"city": "Biel"}}]),
    )
    people.load(DAYS[0])
    assert rows(people) == [(1, "a", "Bern", 3000), (2, None, "Biel", None)]


def test_a_file_that_is_cut_within_a_block_stops_the_load(avro_cursor: Any, tmp_path: Path) -> None:
    people = ware(avro_cursor, tmp_path)
    land(people, DAYS[0], a=(WHOLE, [{"id": 1, "name": "a", "place": BERN}]))
    people.load(DAYS[0])
    many = [{"id": n, "name": f"name {n}", "place": BERN} for n in range(2000)]
    land(people, DAYS[1], a=(WHOLE, many))
    file = people.folder / DAYS[1] / "a.avro"
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 3 // 5])
    with pytest.raises(OperationalError, match=r"(?i)avro"):
        people.load(DAYS[1])
    assert rows(people) == [(1, "a", "Bern", 3000)]
