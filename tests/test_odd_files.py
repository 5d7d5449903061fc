"""Files as other programs write them: what is read, and messages that lead on where it is not."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import column
from spark_cdc.jinja_bridge import CompilerError, load_macros
from warehouse import Warehouse, is_spark_3

pytestmark = pytest.mark.proves("input")

DAYS = ("2024-03-01", "2024-03-02", "2024-03-03")
# Parquet as pandas writes it, by pyarrow. `id int, at and seen (in UTC) in nanoseconds`: two rows.
NANOS = base64.b64decode(
    "UEFSMRUAFRwVHCwVBBUAFQYVBhwAAAACAAAABAEBAAAAAgAAABUAFSwVLCwVBBUAFQYVBhwAAAACAAAABAEAyoU9"
    "/pyXFxj8////////FQAVHBUcLBUEFQAVBhUGHAAAAAIAAAADAQHKhT3+nJcXFQQZTDUAGAZzY2hlbWEVBgAVAiUC"
    "GAJpZAAVBCUCGAJhdGyMEhw8AAAAAAAVBCUCGARzZWVubIwRHDwAAAAAABYEGRwZPCYAHBUCGSUGABkYAmlkFQAW"
    "BBZCFkImCEkcFQAVABUCADwpBhkmAAQAAAAmABwVBBklBgAZGAJhdBUAFgQWUhZSJkpJHBUAFQAVAgA8KQYZJgAE"
    "AAAAJgAcFQQZJQYAGRgEc2VlbhUAFgQWQhZCJpwBSRwVABUAFQIAPCkGGSYCAgAAABbWARYEJggW1gEAKCBwYXJx"
    "dWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRk8HAAAHAAAHAAAAAMBAABQQVIx"
)
# `id int, memo`: two rows, memo of no type, since it is null in both.
NULLS = base64.b64decode(
    "UEFSMRUAFRwVHCwVBBUAFQYVBhwAAAACAAAABAEBAAAAAgAAABUAFQwVDCwVBBUAFQYVBhwAAAACAAAABAAVBBk8"
    "NQAYBnNjaGVtYRUEABUCJQIYAmlkABUCJQIYBG1lbW9svAAAABYEGRwZLCYAHBUCGSUGABkYAmlkFQAWBBZCFkIm"
    "CEkcFQAVABUCADwpBhkmAAQAAAAmABwVAhklBgAZGARtZW1vFQAWBBYyFjImSkkcFQAVABUCADwpBhkmBAAAAAAW"
    "dBYEJggWdAAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGSwcAAAcAAAAuwAAAFBBUjE="
)
# `id int, memo string`: 3, x.
SOME = base64.b64decode(
    "UEFSMRUAFRQVFCwVAhUAFQYVBhwAAAACAAAAAgEDAAAAFQAVFhUWLBUCFQAVBhUGHAAAAAIAAAACAQEAAAB4FQQZ"
    "PDUAGAZzY2hlbWEVBAAVAiUCGAJpZAAVDCUCGARtZW1vJQBMHAAAABYCGRwZLCYAHBUCGSUGABkYAmlkFQAWAhY6"
    "FjomCEkcFQAVABUCADwpBhkmAAIAAAAmABwVDBklBgAZGARtZW1vFQAWAhY8FjwmQkkcFQAVABUCADwWAhkGGSYA"
    "AgAAABZ2FgImCBZ2ACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZLBwAABwAAAC/AAAAUEFSMQ=="
)


@pytest.fixture
def things(cursor: Any, schema: str, tmp_path: Path) -> Any:
    """Makes an entity of some columns, id first."""

    def make(*columns: dict[str, Any], **source: Any) -> Warehouse:
        node = {
            "name": "stg_things",
            "config": {
                "meta": {
                    "spark_cdc": {
                        "load_type": "full",
                        "source": {"path": f"{tmp_path}/{{business_date}}", **source},
                    }
                }
            },
            "columns": [column("id", "int", role="key"), *columns],
        }
        for day in DAYS:
            (tmp_path / day).mkdir(exist_ok=True)
        return Warehouse(cursor, schema, tmp_path, node)

    return make


def rows(things: Warehouse, *columns: str) -> list[tuple[Any, ...]]:
    things.cursor.execute("set time zone 'UTC'")
    sql = f"select id, {', '.join(columns)} from ({things.view_sql('current')}) order by id"
    things.cursor.execute(sql)
    return [tuple(row) for row in things.cursor.fetchall()]


def refused(things: Warehouse, day: str = DAYS[0]) -> str:
    with pytest.raises(CompilerError) as caught:
        things.load(day)
    return str(caught.value)


# --- Parquet -------------------------------------------------------------------------------------


def test_nanoseconds_are_read_as_an_encoding(things: Any, tmp_path: Path) -> None:
    at = column("at", "timestamp_ntz", encoding="nanos")
    seen = column("seen", "bigint")
    given = things(at, seen, format="parquet")
    (tmp_path / DAYS[0] / "a.parquet").write_bytes(NANOS)
    given.load(DAYS[0])
    assert rows(given, "cast(at as string)", "seen") == [
        (1, "2023-11-14 22:13:20.123456", 1700000000123456001),
        (2, "1969-12-31 23:59:59.999999", None),
    ]


def test_nanoseconds_that_a_timestamp_can_not_hold_are_not_accepted(
    things: Any, tmp_path: Path
) -> None:
    seen = column("seen", "timestamp", encoding="nanos")
    given = things(column("at", "bigint"), seen, format="parquet")
    (tmp_path / DAYS[0] / "a.parquet").write_bytes(NANOS)
    assert "seen: '1700000000123456001' is not accepted as timestamp" in refused(given)
    given.node["columns"][2] = column("seen", "timestamp")
    message = refused(given)
    assert "seen is bigint, declared timestamp" in message
    assert "are read with encoding: nanos" in message


def test_a_column_without_any_value_is_null(things: Any, tmp_path: Path) -> None:
    """Whatever type its files say; one with values has to be of a type that fits."""
    given = things(column("memo", "string"), format="parquet")
    (tmp_path / DAYS[0] / "a.parquet").write_bytes(NULLS)
    (tmp_path / DAYS[1] / "a.parquet").write_bytes(SOME)
    given.cursor.execute(
        f"insert overwrite directory '{tmp_path}/{DAYS[2]}' using parquet select 1 as id, 7 as memo"
    )
    given.load(DAYS[0])
    assert rows(given, "memo") == [(1, None), (2, None)]
    given.load(DAYS[1])
    assert rows(given, "memo") == [(3, "x")]
    assert "memo is int, declared string" in refused(given, DAYS[2])


def test_many_dates_at_once_look_at_each_that_has_no_value(things: Any, tmp_path: Path) -> None:
    """The files of one date without values have the columns of another one with values."""
    given = things(column("memo", "string"), format="parquet")
    (tmp_path / DAYS[0] / "a.parquet").write_bytes(NULLS)
    given.cursor.execute(
        f"insert overwrite directory '{tmp_path}/{DAYS[1]}' using parquet select 1 as id, 7 as memo"
    )
    macros, ctx = given.macros, given.macros._context_of_model()
    times = [macros._business_time(day) for day in DAYS[:2]]
    given._look()
    run = ctx | {"manifest": macros._empty_manifest(), "backfill": "both"}
    with pytest.raises(CompilerError, match="memo is int, declared string"):
        macros._backfill_dates(run, times, [])


def test_a_column_of_a_table_without_a_type_is_null(things: Any, schema: str) -> None:
    given = things(column("memo", "struct<a:int>"), format="table", date_column="day")
    given.replace("_landing_source", lambda macro, entity: "untyped")
    given.cursor.execute(
        "create or replace temporary view untyped as"
        f" select 1 as id, null as memo, date'{DAYS[0]}' as day"
    )
    given.load(DAYS[0])
    assert rows(given, "memo") == [(1, None)]


# --- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["windows-1252", "cp1252", "latin1", "utf8"])
def test_encodings_that_spark_4_does_not_list(things: Any, tmp_path: Path, encoding: str) -> None:
    text = "é" if encoding in ("latin1", "utf8") else "€ é"
    options = {"encoding": encoding, "multiLine": True}  # which has the rows counted by a view
    given = things(column("memo", "string"), options=options)
    (tmp_path / DAYS[0] / "a.csv").write_bytes(f"id,memo\n1,{text}\n".encode(encoding))
    given.cursor.execute("set spark.sql.legacy.javaCharsets = false")
    given.load(DAYS[0])
    assert rows(given, "memo") == [(1, text)]


def test_lines_that_end_otherwise(things: Any, tmp_path: Path) -> None:
    if is_spark_3(things().cursor):
        pytest.skip("an option of queries, which Spark 3.5 does not know")
    given = things(column("memo", "string"), options={"lineSep": "\\r"})
    (tmp_path / DAYS[0] / "a.csv").write_bytes(b"id,memo\r1,a\r2,b\r")
    given.load(DAYS[0])
    assert rows(given, "memo") == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("format", ["csv", "parquet", "json"])
def test_a_column_of_the_source_with_a_name_of_ours(
    things: Any, tmp_path: Path, format: str
) -> None:
    given = things(
        {"name": "problem", "data_type": "string", "meta": {"from": "Cdc__Unparsed"}},
        format=format,
    )
    given.cursor.execute(
        f"insert overwrite directory '{tmp_path}/{DAYS[0]}' using {format}"
        + (" options (header 'true')" if format == "csv" else "")
        + " select 1 as id, 'a' as Cdc__Unparsed"
    )
    assert "cdc__unparsed'. names that begin with cdc__ are those" in refused(given).lower()


def test_names_that_differ_by_what_nobody_sees(things: Any, tmp_path: Path) -> None:
    given = things(column("memo", "string"), column("Größe", "int"))
    (tmp_path / DAYS[0] / "a.csv").write_text("id ,memo\u00a0,Größe,\ufeffx\n1,a,2,3\n", "utf-8")
    message = refused(given)
    assert 'unexpected: "id ", "memo\\u00a0", "\\ufeffx"' in message
    assert 'found: "id ", "memo\\u00a0", Größe, "\\ufeffx"' in message
    assert "missing: id, memo\n" in message


def test_names_for_messages() -> None:
    names = ["a b", "a  b", " a", "a\t", "a\r", "\u200ba", "é", 'a"b']
    shown = 'a b, "a  b", " a", "a\\t", "a\\r", "\\u200ba", é, a"b'
    assert load_macros()._names_shown(names) == shown
