"""Columns in the names of folders, column=value: read in the declared type, as text is."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import column
from spark_cdc.jinja_bridge import CompilerError
from warehouse import Warehouse

pytestmark = pytest.mark.proves("input")

DAY = "2024-03-01"
SHOWN = "id, store, cast(t as string), n, cast(d as string)"


@pytest.fixture
def sales(cursor: Any, schema: str, tmp_path: Path) -> Any:
    """Makes an entity whose files lie in folders, in a session with another zone."""

    def make(format: str = "parquet", root: str = "in/{business_date}", **source: Any) -> Warehouse:
        settings = {
            "load_type": "full",
            "timezone": "Europe/Berlin",
            "on_reject": "quarantine",
            "source": {"format": format, "path": f"{tmp_path}/{root}", **source},
        }
        node = {
            "name": "stg_sales",
            "config": {"meta": {"spark_cdc": settings}},
            "columns": [
                column("id", "int", role="key"),
                column("store", "string", role="key"),
                column("t", "timestamp"),
                column("n", "int"),
                column("d", "date", format="dd.MM.yyyy"),
            ],
        }
        warehouse = Warehouse(cursor, schema, tmp_path, node)
        warehouse.variables["spark_cdc_guards"] |= {"rejected_share": None}
        return warehouse

    cursor.execute("set time zone 'America/New_York'")
    cursor.execute("set spark.sql.sources.partitionColumnTypeInference.enabled = true")
    yield make
    cursor.execute("set time zone 'UTC'")


def land(sales: Warehouse, path: str, query: str, format: str = "parquet") -> None:
    written = sales.folder / "written"
    options = " options (header 'true')" if format == "csv" else ""
    sales.cursor.execute(
        f"insert overwrite directory '{written}' using {format}{options}"
        f" select /*+ coalesce(1) */ * from ({query})"
    )
    (part,) = written.glob("part-*")
    target = sales.folder / "in" / path
    target.mkdir(parents=True, exist_ok=True)
    shutil.move(part, target / f"{part.stem.split('.')[0]}.{format}")


def rows(sales: Warehouse) -> list[tuple[Any, ...]]:
    sales.cursor.execute("set time zone 'UTC'")
    sales.cursor.execute(f"select {SHOWN} from {sales.committed} where operation = 'I' order by id")
    return [tuple(row) for row in sales.cursor.fetchall()]


@pytest.mark.parametrize("format", ["parquet", "orc", "csv"])
def test_they_are_read_as_declared(sales: Any, format: str) -> None:
    """Leading zeros stay in text; a time is in the entity's zone, not in the session's."""
    given = sales(format)
    for id, store, t, n in (
        (1, "007", "2024-03-01 10%3A00%3A00", "007"),
        (2, "1e3", "2024-07-01 10%3A00%3A00", "-1"),
    ):
        land(given, f"{DAY}/store={store}/t={t}/n={n}/d=03.02.2024", f"select {id} as id", format)
    given.load(DAY)
    assert rows(given) == [
        (1, "007", "2024-03-01 09:00:00", 7, "2024-02-03"),
        (2, "1e3", "2024-07-01 08:00:00", -1, "2024-02-03"),
    ]


def test_what_is_not_accepted_is_set_aside_with_the_folders_name(sales: Any) -> None:
    given = sales()
    for id, n in ((1, "7"), (2, "1.5"), (3, "__HIVE_DEFAULT_PARTITION__")):
        land(given, f"{DAY}/store=a/t=2024-03-01/n={n}/d=03.02.2024", f"select {id} as id")
    land(given, f"{DAY}/store=a/t=2024-03-01/n=8/d=2024-02-03", "select 4 as id")
    given.load(DAY)
    assert [(row[0], row[3]) for row in rows(given)] == [(1, 7), (3, None)]
    given.cursor.execute(f"select cdc__note from {given.ledger} where operation = 'R' order by id")
    notes = [row[0] for row in given.cursor.fetchall()]
    assert "n: '1.5', which the folder is named for, is not accepted as int" in notes[0]
    assert "d: '2024-02-03', which the folder is named for, is not accepted as date" in notes[1]


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_a_folder_that_contradicts_its_files(sales: Any, format: str) -> None:
    given = sales(format)
    rest = "t=2024-03-01/d=03.02.2024"
    land(given, f"{DAY}/store=a/n=7/{rest}", "select 1 as id, 7 as n, 'a' as store", format)
    land(given, f"{DAY}/store=b/n=08/{rest}", "select 2 as id, 8 as n, 'b' as store", format)
    given.load(DAY)  # they say the same
    assert [(row[0], row[1], row[3]) for row in rows(given)] == [(1, "a", 7), (2, "b", 8)]
    land(given, f"{DAY}/store=c/n=8/{rest}", "select 3 as id, 9 as n, 'c' as store", format)
    with pytest.raises(CompilerError, match=r"n in .* contradicts itself: it is the name of"):
        given.load(DAY)


@pytest.mark.parametrize(
    "folders, found",
    [
        (
            ["store=a", "store=b/n=1"],
            ["store, as of {}/store=a/", "store, n, as of {}/store=b/n=1/"],
        ),
        pytest.param(
            ["store=a", "shop=b"],
            ["shop, as of {}/shop=b/", "store, as of {}/store=a/"],
            marks=pytest.mark.integration,
        ),
        pytest.param(
            ["store=a", "store="],
            ["store= without a value, as of {}/store=/", "store, as of {}/store=a/"],
            marks=pytest.mark.integration,
        ),
        pytest.param(
            ["store=a/n=1", "n=1/store=b"],
            ["n, store, as of {}/n=1/store=b/", "store, n, as of {}/store=a/n=1/"],
            marks=pytest.mark.integration,
        ),
    ],
    ids=lambda folders: " ".join(folders),
)
def test_folders_of_two_kinds_are_refused(sales: Any, folders: list[str], found: list[str]) -> None:
    """With the folders of each kind, and a row in cdc_loads: Spark itself names neither."""
    given = sales("csv")
    for number, folder in enumerate(folders):
        path = given.folder / "in" / DAY / folder
        path.mkdir(parents=True)
        (path / "x.csv").write_text(f"id,t,d\n{number},2024-03-01,01.03.2024\n")
    with pytest.raises(CompilerError) as error:
        given.load(DAY)
    message = str(error.value)
    for text in found:
        assert "\n  " + text.format(f"file:{given.folder}/in/{DAY}") + "x.csv\n" in message
    assert "Move the files, or land those of each kind" in message
    given.cursor.execute(f"select guard, status from {given.schema}.cdc_loads")
    assert [tuple(row) for row in given.cursor.fetchall()] == [("unread_files", "refused")]


@pytest.mark.integration
def test_dates_whose_folders_differ_are_found(sales: Any) -> None:
    """A column that came later, or one bad date, hides no date."""
    given = sales("csv")
    for day, folder in (("2024-03-01", "store=a"), ("2024-03-02", "store=a/n=1")):
        path = given.folder / "in" / day / folder
        path.mkdir(parents=True)
        (path / "x.csv").write_text("id,t,d\n1,2024-03-01,01.03.2024\n")
    given._look()
    ctx = given.macros._context_of_model() | {"timeline": {}}
    landed = given.macros._landed_times([ctx], {"sales": None})["sales"]
    assert [time.strftime("%F") for time in landed["times"]] == ["2024-03-01", "2024-03-02"]


@pytest.mark.integration
def test_a_folder_with_an_underscore(sales: Any) -> None:
    """Spark skips names that begin with one, but for columns; with each file read on its own."""
    given = sales("csv", options={"multiLine": True})
    given.node["columns"][1] = column("store", "string", role="key", **{"from": "_store"})
    for number, end in enumerate(("\n", "\r\n"), 1):
        path = given.folder / "in" / DAY / f"_store=00{number}"
        path.mkdir(parents=True)
        text = f"id,t,n,d\n{number},2024-03-01,{number},01.03.2024\n".replace("\n", end)
        (path / "x.csv").write_bytes(text.encode())
    given.load(DAY)
    assert [row[:2] for row in rows(given)] == [(1, "001"), (2, "002")]


@pytest.mark.integration
def test_a_file_beside_folders_is_not_left_out(sales: Any) -> None:
    given = sales("csv")
    (given.folder / "in" / DAY / "store=a").mkdir(parents=True)
    for name in ("store=a/x.csv", "y.csv"):
        (given.folder / "in" / DAY / name).write_text("id,t,n,d\n1,2024-03-01,1,01.03.2024\n")
    with pytest.raises(CompilerError, match=r"y\.csv\. Each is .* or lies beside folders named"):
        given.load(DAY)


def test_a_folder_named_as_a_column_of_csv(sales: Any) -> None:
    given = sales("csv")
    rest = "store=c/t=2024-03-01/n=7/d=03.02.2024"
    land(given, f"{DAY}/{rest}", "select 1 as id, 7 as n", "csv")
    with pytest.raises(CompilerError, match=r"n in csv files .* of the files, as in the header"):
        given.load(DAY)


def test_folders_above_the_path_are_no_columns(sales: Any) -> None:
    given = sales(root="in/store=x/day={business_date}/*")
    rest = (
        "select {} as id, '007' as store, timestamp'2024-03-01 10:00:00 UTC' as t,"
        " date'2024-01-01' as d"
    )
    land(given, f"store=x/day={DAY}/part/n=1", rest.format(1))
    land(given, f"store=x/day={DAY}/part/n=2", rest.format(2))
    given.load(DAY)
    assert [row[:2] for row in rows(given)] == [(1, "007"), (2, "007")]


def test_many_dates_at_once_read_them_alike(sales: Any) -> None:
    given = sales()
    land(given, f"{DAY}/store=007/t=2024-03-01/n=1/d=03.02.2024", "select 1 as id")
    macros, entity = given.macros, given.entity
    time = datetime.datetime(2024, 3, 1)
    files = macros._land_load(entity, None, time)
    names = macros._folder_columns(entity, time, files)
    found = macros._folder_columns_found(entity, macros._found_columns(entity), names)
    days = [{"time": time, "day": 2, "files": files, "found": found}]
    landed = macros._landed_dates_sql(entity, None, days)
    given.cursor.execute("set time zone 'UTC'")
    given.cursor.execute(f"select {SHOWN}, cdc__days from {landed['sql']} as t")
    assert [tuple(row) for row in given.cursor.fetchall()] == [
        (1, "007", "2024-02-29 23:00:00", 1, "2024-02-03", 2)
    ]
