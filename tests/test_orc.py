"""Ledgers in ORC: values that Spark's ORC writer would change are not accepted, others are kept."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from event_warehouse import column
from spark_cdc.jinja_bridge import CompilerError, load_macros
from warehouse import Warehouse

pytestmark = pytest.mark.proves("file formats")

MACROS = load_macros()
DAY = "2024-03-01"
# by type: values that ORC changes, and their neighbours, which it keeps
BENT = {
    "date": ["1582-10-05", "1582-10-09", "1582-10-14"],
    "timestamp": [
        "1582-10-06 00:00:00",
        "1969-12-31 23:59:59.001",
        "1969-12-31 23:59:59.5",
        "1969-12-31 23:59:59.999999",
    ],
    "array<date>": ["['1582-10-06']", "['2024-01-01', null, '1582-10-06']"],
    "map<string,timestamp>": ["{'a': '1969-12-31T23:59:59.5Z'}"],
    "struct<day:date,at:array<struct<t:timestamp>>>": [
        "{'day': '1582-10-06', 'at': []}",
        "{'day': null, 'at': [{'t': '1969-12-31T23:59:59.5Z'}]}",
    ],
}
KEPT = {
    "date": ["0001-01-01", "1582-10-04", "1582-10-15", "1969-12-31"],
    "timestamp": [
        "0001-01-01 00:00:00",
        "1582-10-04 00:00:00",
        "1582-10-16 00:00:00.000001",
        "1969-12-31 23:59:58.999999",
        "1969-12-31 23:59:59",
        "1969-12-31 23:59:59.000999",
        "1970-01-01 00:00:00",
    ],
    "timestamp_ntz": ["1582-10-06 00:00:00", "1969-12-31 23:59:59.5"],
    "array<date>": ["['1582-10-04', null]"],
    "map<string,timestamp>": ["{'a': '1969-12-31T23:59:59Z'}"],
    "struct<day:date,at:array<struct<t:timestamp>>>": [
        "{'day': '1582-10-04', 'at': [{'t': null}]}"
    ],
}


def literal(type: str, text: str) -> str:
    if "<" not in type:
        return f"cast('{text}' as {type})"
    return "from_json('" + text.replace("'", '"') + f"', '{type}')"


@pytest.mark.parametrize("type", KEPT)
def test_the_condition_is_true_of_what_orc_changes_and_of_nothing_else(
    cursor: Any, schema: str, type: str
) -> None:
    cursor.execute("set time zone 'UTC'")
    cursor.execute(f"drop table if exists {schema}.bent")
    values = BENT.get(type, []) + KEPT[type]
    rows = ", ".join(f"({at}, {literal(type, text)})" for at, text in enumerate(values))
    given = f"select * from values {rows} as given (id, v)"
    cursor.execute(f"create table {schema}.bent using orc as {given}")
    condition = MACROS._orc_misfit(MACROS._hash_type(type), "given.v") or "false"
    kind = MACROS._hash_value
    text = kind("given.v", MACROS._hash_type(type), 0, "", "'~'")
    stored = kind("bent.v", MACROS._hash_type(type), 0, "", "'~'")
    cursor.execute(
        f"select id, coalesce({condition}, false), {text} <> {stored}"
        f" from ({given}) as given join {schema}.bent using (id) order by id"
    )
    wanted = [
        (at, text in BENT.get(type, []), text in BENT.get(type, []))
        for at, text in enumerate(values)
    ]
    assert [tuple(row) for row in cursor.fetchall()] == wanted
    cursor.execute(f"drop table {schema}.bent")


def warehouse(cursor: Any, schema: str, folder: Path, **settings: Any) -> Warehouse:
    node = {
        "name": "stg_days",
        "config": {
            "meta": {
                "spark_cdc": {
                    "load_type": "full",
                    "file_format": "orc",
                    "source": {"path": f"{folder}/{{business_date}}"},
                    **settings,
                }
            }
        },
        "columns": [
            column("id", "int", role="key"),
            column("d", "date"),
            column("t", "timestamp"),
        ],
    }
    (folder / DAY).mkdir()
    return Warehouse(cursor, schema, folder, node)


def test_a_load_into_orc_refuses_them(cursor: Any, schema: str, tmp_path: Path) -> None:
    days = warehouse(cursor, schema, tmp_path)
    file = tmp_path / DAY / "a.csv"
    file.write_text("id,d,t\n1,1582-10-06,\n2,,1969-12-31 23:59:59.5\n3,x,1969-12-31 23:59:59\n")
    with pytest.raises(CompilerError) as caught:
        days.load(DAY)
    message = str(caught.value)
    orc = "in an ORC ledger, which keeps no date of 1582-10-05 to 1582-10-14 and no fraction"
    assert f"d: '1582-10-06' is not accepted as date {orc}" in message
    assert f"t: '1969-12-31 23:59:59.5' is not accepted as timestamp {orc}" in message
    assert "d: 'x' is not accepted as date\n" in message.replace(" in {", "\n")
    assert "file_format: parquet" in message
    file.write_text("id,d,t\n1,1582-10-15,\n2,,1969-12-31 23:59:58.5\n")
    days.load(DAY)
    cursor.execute(
        f"select id, cast(d as string), unix_micros(t) from {days.committed} where operation = 'I'"
    )
    assert sorted(map(tuple, cursor.fetchall())) == [(1, "1582-10-15", None), (2, None, -1500000)]


def test_parquet_keeps_them(cursor: Any, schema: str, tmp_path: Path) -> None:
    days = warehouse(cursor, schema, tmp_path, file_format="parquet")
    (tmp_path / DAY / "a.csv").write_text("id,d,t\n1,1582-10-06,1969-12-31 23:59:59.5\n")
    days.load(DAY)
    cursor.execute(
        f"select cast(d as string), unix_micros(t) from {days.committed} where operation = 'I'"
    )
    assert list(map(tuple, cursor.fetchall())) == [("1582-10-06", -500000)]


def test_typed_events_that_need_no_cast_are_judged(
    cursor: Any, schema: str, tmp_path: Path
) -> None:
    """Such events are read again from their files, where the columns have the declared types."""
    days = warehouse(
        cursor,
        schema,
        tmp_path,
        load_type="events",
        source={"format": "parquet", "path": f"{tmp_path}/{{business_date}}"},
        events={"format": "flagged_rows", "operation": "op", "order": ["seq"]},
    )
    days.node["columns"] += [
        column("op", "string", role="control"),
        column("seq", "bigint", role="control"),
    ]
    cursor.execute(
        f"insert overwrite directory '{tmp_path}/{DAY}' using parquet"
        " select 1 as id, date'1582-10-06' as d, timestamp'1970-01-02 00:00:00' as t,"
        " 'I' as op, 1L as seq"
    )
    with pytest.raises(CompilerError, match="d: '1582-10-06' is not accepted as date in an ORC"):
        days.load(DAY)


def test_stored_text_that_becomes_a_date_is_judged() -> None:
    """A column that gets another type (docs/schema_change.md)."""
    entity = {"timezone": "UTC", "source": {"on_unexpected_column": "error", "text": True}}
    for type, former in (
        ("date", "string"),
        ("timestamp", "timestamp_ntz"),
        ("date", "timestamp_ntz"),
    ):
        now = MACROS._described_columns({"columns": [column("d", type)]})[0] | {"in_orc": True}
        assert (
            "1582-10-14" in MACROS._conversion(entity, now, former)["misfit"]
            or ("-999000L" in MACROS._conversion(entity, now, former)["misfit"])
            or "1582-10-14" in MACROS._conversion(entity, now, former)["sql"]
        )


def test_an_orc_ledger_has_to_be_known_as_one() -> None:
    """What it does not keep is looked for by the setting, and an older ledger keeps its format."""
    table = SimpleNamespace(information="Provider: orc\n")
    plain = {"name": "x", "file_format": "parquet", "stored": [{"name": "n", "data_type": "int"}]}
    MACROS._note_file_format(plain, table)
    dated = {**plain, "stored": [{"name": "d", "data_type": "array<date>"}]}
    with pytest.raises(CompilerError, match=r"x: .* is an ORC table, but file_format is 'parquet'"):
        MACROS._note_file_format(dated, table)
    MACROS._note_file_format({**dated, "file_format": "orc"}, table)
