"""Tables by business date: every row belongs to one load, whatever type its date column has."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import column
from spark_cdc.jinja_bridge import CompilerError
from warehouse import Warehouse

pytestmark = pytest.mark.proves("input")

DAY = "2024-03-02"
# type of the column: the moments of five rows; the 2nd to 4th are of 2 March in Berlin
MOMENTS = {
    "date": ["2024-03-01", DAY, DAY, DAY, "2024-03-03"],
    "timestamp_ntz": [
        "2024-03-01 23:59:59.999999",
        f"{DAY} 00:00:00",
        f"{DAY} 06:00:00",
        f"{DAY} 23:59:59.5",
        "2024-03-03 00:00:00",
    ],
    "timestamp": [
        "2024-03-01 22:59:59 UTC",
        "2024-03-01 23:00:00 UTC",
        f"{DAY} 06:00:00 UTC",
        f"{DAY} 22:59:59 UTC",
        f"{DAY} 23:00:00 UTC",
    ],
    "string": ["2024-03-01", DAY, "2024-3-2", f"{DAY}T23:59:59.5", "2024-03-03 00:00"],
}


@pytest.fixture
def table(cursor: Any, schema: str, tmp_path: Path) -> Any:
    """Makes the entity over a table of (id, value, Day), with Day of a type."""
    made: list[str] = []

    def make(type: str, moments: list[str | None], **settings: Any) -> Warehouse:
        node = {
            "name": "stg_rows",
            "config": {
                "meta": {
                    "spark_cdc": {
                        "load_type": "full",
                        "timezone": "Europe/Berlin",
                        "source": {"format": "table", "date_column": "day"},
                        **settings,
                    }
                }
            },
            "columns": [column("id", "int", role="key"), column("value", "int")],
        }
        warehouse = Warehouse(cursor, schema, tmp_path, node)
        name = f"{schema}.landed_rows_by_day"
        cursor.execute(f"drop table if exists {name}")
        rows = ", ".join(
            f"({number}, {number}, cast({f'{moment!r}' if moment else 'null'} as {type}))"
            for number, moment in enumerate(moments, 1)
        )
        cursor.execute(
            f"create table {name} using parquet as"
            f" select * from values {rows} as t (id, value, Day)"
        )
        made.append(name)
        warehouse.replace("_landing_source", lambda macro, entity: name)
        return warehouse

    yield make
    for name in made:
        cursor.execute(f"drop table if exists {name}")


def ids(warehouse: Warehouse) -> list[int]:
    warehouse.cursor.execute(
        f"select id from {warehouse.committed} where operation in ('I', 'U', 'N')"
    )
    return sorted(row[0] for row in warehouse.cursor.fetchall())


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/St_Johns"])
@pytest.mark.parametrize("type", MOMENTS)
def test_a_row_is_of_the_date_that_its_column_shows(table: Any, type: str, zone: str) -> None:
    """Also in loads of many dates, and in pending dates; whatever the session's zone."""
    warehouse = table(type, MOMENTS[type])
    warehouse.cursor.execute(f"set time zone '{zone}'")
    macros, ctx = warehouse.macros, warehouse.macros._context_of_model()
    try:
        landed = macros._landed_times([ctx], {"rows": None})["rows"]
        assert [str(time.date()) for time in landed["times"]] == ["2024-03-01", DAY, "2024-03-03"]
        since = datetime.datetime(2024, 3, 1)
        landed = macros._landed_times([ctx], {"rows": since})["rows"]
        assert [str(time.date()) for time in landed["times"]] == [DAY, "2024-03-03"]
        days = [datetime.datetime(2024, 3, day) for day in (1, 2, 4)]
        assert macros._backfill_landed(warehouse.entity, days, True) == days[:2]
        warehouse.load(DAY)
        assert ids(warehouse) == [2, 3, 4]
        looked = [
            {
                "time": day,
                "day": 2**at,
                "files": None,
                "found": macros._found_columns(warehouse.entity),
            }
            for at, day in enumerate(days[:2], 1)
        ]
        landed_dates = macros._landed_dates_sql(
            warehouse.entity, macros._landing_source({}), looked
        )
        warehouse.cursor.execute(f"select id, cdc__days from {landed_dates['sql']} as t")
        assert sorted(warehouse.cursor.fetchall()) == [(1, 2), (2, 4), (3, 4), (4, 4)]
    finally:
        warehouse.cursor.execute("set time zone 'UTC'")


@pytest.mark.parametrize("type", MOMENTS)
def test_a_row_is_of_the_second_that_its_column_shows(table: Any, type: str) -> None:
    moments = {
        "date": ["2024-03-01", DAY],
        "timestamp_ntz": [f"{DAY} 00:00:01", f"{DAY} 00:00:00.9"],
        "timestamp": [f"{DAY} 00:00:00 UTC", "2024-03-01 23:00:00.5 UTC"],
        "string": [f"{DAY} 00:00:01", DAY],
    }[type]
    warehouse = table(type, moments, business_date_type="timestamp")
    warehouse.load(f"{DAY} 00:00:00")
    assert ids(warehouse) == [2]
    ctx = warehouse.macros._context_of_model()
    landed = warehouse.macros._landed_times([ctx], {"rows": None})["rows"]
    assert datetime.datetime(2024, 3, 2) in landed["times"]


@pytest.mark.parametrize(
    ("type", "moments", "parts"),
    [
        (
            "string",
            [DAY, "02.03.2024", "x"],
            ["2 rows of it would never be loaded", "'02.03.2024'"],
        ),
        ("string", [DAY, f"{DAY}T23:30:00Z"], ["1 row of it", f"day is '{DAY}T23:30:00Z'"]),
        ("date", [DAY, None], ["1 row of it would never be loaded: Day is null"]),
        ("timestamp", [DAY, None], ["Day is null"]),
        ("int", ["20240302"], ["its column 'Day'", "is int; accepted are date, timestamp"]),
    ],
)
def test_what_no_load_would_read_is_refused(
    table: Any, type: str, moments: list[str | None], parts: list[str]
) -> None:
    warehouse = table(type, moments)
    with pytest.raises(CompilerError) as caught:
        warehouse.load(DAY)
    for part in parts:
        assert part.lower() in str(caught.value).lower()
    assert "read a view that shows the business date" in str(caught.value)


def test_a_date_column_that_is_declared_is_a_column_as_others_are(table: Any) -> None:
    rows = table("date", MOMENTS["date"])
    name = rows.node["config"]["meta"]["spark_cdc"]["source"]["date_column"]
    rows.node["columns"].append(column("sold_on", "date", role="untracked", **{"from": name}))
    rows.load(DAY)
    rows.cursor.execute(f"select id, cast(sold_on as string) from ({rows.view_sql('current')})")
    assert sorted(tuple(row) for row in rows.cursor.fetchall()) == [(2, DAY), (3, DAY), (4, DAY)]


def test_a_date_column_that_is_not_there(table: Any) -> None:
    warehouse = table("date", [DAY], source={"format": "table", "date_column": "load_day"})
    with pytest.raises(CompilerError, match="it has no column 'load_day', which source"):
        warehouse.load(DAY)
    ctx = warehouse.macros._context_of_model()
    problem = warehouse.macros._landed_times([ctx], {"rows": None})["rows"]["problem"]
    assert "can not be read: it has no column 'load_day'" in problem
