"""A backfill leaves what loads of its dates, one by one, would have left."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oracle import Load, expected
from project import Project
from test_histories import (
    COLUMNS,
    DATES,
    POLICIES,
    WANTED,
    Step,
    explain,
    flat,
    node,
    random_rows,
    write_csv,
)
from warehouse import Warehouse

pytestmark = pytest.mark.proves("backfill")

# Loads by themselves and, between brackets, backfills; then the number of dates per statement.
PLANS = {
    "a new entity": ("full", "[1 2 3 4 5] 6", 60, "the default"),
    "onto loads": ("full", "1 2 [3 4 5 6 7 8] 9 9", 2, "the default"),
    "no checkpoint": ("full", "1 [2 3 4 5 6] [7 8] 9", 60, "the first only"),
    "checkpoints": ("full", "1 [2 3 4 5 6] 7", 3, "every load"),
    "new deltas": ("delta", "[1 2 3 4 5] 6", 60, "the default"),
    "deltas onto loads": ("delta", "1 2 [3 4 5 6 7 8] 9 9", 2, "the default"),
    "deltas without checkpoint": ("delta", "1 [2 3 4 5 6] [7 8] 9", 60, "the first only"),
    "deltas with checkpoints": ("delta", "1 [2 3 4 5 6] 7", 3, "every load"),
}
SHORT = ("a new entity",)
FIGURES = "IUDNX"


def backfill(warehouse: Warehouse, dates: list[str], per_statement: int) -> None:
    """Run the backfill's own steps, without dbt."""
    macros = warehouse.macros
    warehouse.attempts += 1
    warehouse._look()
    ctx = macros._context_of_model()
    times = macros._backfill_times(dates)
    macros._backfill_entity(ctx, times, False, per_statement)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.integration if name in SHORT else pytest.mark.full)
        for name in PLANS
    ],
)
def test_views_are_those_of_loads_one_by_one(
    cursor: Any, schema: str, tmp_path: Path, name: str
) -> None:
    load_type, plan, per_statement, policy = PLANS[name]
    chance = random.Random(name)
    yaml = node(tmp_path, POLICIES[policy])
    if load_type == "full":
        yaml["config"]["meta"]["spark_cdc"] |= {"load_type": "full", "deleted_when": None}
    warehouse = Warehouse(cursor, schema, tmp_path, yaml)
    loads: list[Load] = []
    pending: list[str] | None = None
    for number, word in enumerate(plan.split()):
        day = int(word.strip("[]"))
        date = f"2024-01-{day:02}"
        rows = random_rows(chance, number, load_type)
        if load_type == "full":
            rows = tuple(replace(row, deleted=False) for row in rows)
        write_csv(tmp_path / date, rows, chance)
        loads.append(Load(date, load_type, rows))
        if word.startswith("["):
            pending = []
        if pending is None:
            warehouse.load(date)
        else:
            pending.append(date)
        if word.endswith("]"):
            assert pending
            backfill(warehouse, pending, per_statement)
            pending = None
        if pending is not None:
            continue

        tables = expected(loads)
        for view in DATES:
            columns = COLUMNS + DATES[view]
            wrong = warehouse.differing(view, columns, WANTED, flat(tables, view))
            assert not wrong, explain(view, number, Step(day, load_type), wrong)
        named = warehouse.macros._read_manifest(warehouse.macros._context_of_model()["committed"])
        cursor.execute(
            "select load_id, rows_inserted, rows_updated, rows_deleted, rows_unchanged,"
            f" rows_not_supplied from {schema}.cdc_loads where status = 'committed'"
        )
        figures = {row[0]: dict(zip(FIGURES, row[1:], strict=True)) for row in cursor.fetchall()}
        assert [figures[load_id] for load_id in named["loads"]] == tables.counts


COLUMNS_OF = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
HEADER = "id,name"


@pytest.fixture
def land(project: Project) -> Any:
    """Lands dates of January: land("stock", {1: ["1,a"], 2: [...]})."""

    def land_all(entity: str, days: dict[int, list[str]]) -> None:
        for day, rows in days.items():
            project.land(entity, f"2024-01-{day:02}", HEADER, *rows)

    return land_all


def committed(project: Project, entity: str) -> list[tuple[Any, ...]]:
    columns = "business_time, rows_in, rows_inserted, rows_updated, rows_deleted, rows_current"
    return project.query(
        f"select {columns} from {{s}}.cdc_loads where entity = '{entity}'"
        " and status = 'committed' order by business_time"
    )


def test_the_command_loads_what_is_not_committed_yet(
    project: Project, command: Any, land: Any
) -> None:
    project.entity("stock", COLUMNS_OF)
    land("stock", {1: ["1,a", "2,b"], 2: ["1,a", "2,c"], 3: ["2,c"], 5: ["2,c", "3,d"]})
    # another order of columns, as any date may have
    project.land("stock", "2024-01-03", "name,id", "c,2")

    code, said = command("load", "2024-01-01..2024-01-05", "--bulk", "--select", "stock")
    assert code == 1
    assert "nothing has landed of 1 date of 5: 2024-01-04" in said
    assert "--skip-missing" in said

    words = ("load", "2024-01-01..2024-01-05", "--bulk", "--select", "stock", "--skip-missing")
    code, said = command(*words, "--dry-run")
    assert code == 0 and "4 dates would be committed, 7 rows in, I 3, U 1, D 1" in said, said
    assert "; 2 rows then. Nothing was changed (execute: false)" in said
    assert project.query("show tables in {s} like 'stock_*'") == []
    code, said = command(*words, "--dates-per-statement", "2", "--dry-run")
    assert code == 0 and "Compared and checked were the first 2 dates, up to 2024-01-02" in said
    code, said = command(*words, "--dates-per-statement", "2")
    assert code == 0, said
    assert "4 dates committed, 7 rows in, I 3, U 1, D 1" in said
    loads = [
        ("2024-01-01", 2, 2, 0, 0, 2),
        ("2024-01-02", 2, 0, 1, 0, 2),
        ("2024-01-03", 1, 0, 0, 1, 1),
        ("2024-01-05", 2, 1, 0, 0, 2),
    ]
    assert committed(project, "stock") == loads
    assert project.rows("stock_current", "id, name") == [(2, "c"), (3, "d")]

    land("stock", {4: ["9,z"], 6: ["3,d"]})
    code, said = command("load", "2024-01-01..2024-01-06", "--bulk", "--select", "stock")
    assert code == 1
    assert "2024-01-04 lie before the last load, 2024-01-05" in said
    assert "spark-cdc replay --from 2024-01-04 --dates 2024-01-04 --select stock" in said
    words = ("load", "2024-01-05..2024-01-06", "--bulk", "--select", "stock")
    code, said = command(*words, "--dry-run")
    assert code == 0 and "1 date would be committed, 1 rows in, I 0, U 0, D 1" in said, said
    assert committed(project, "stock") == loads
    code, said = command(*words)
    assert code == 0, said
    assert "stock: 1 date committed already and left out" in said
    assert committed(project, "stock") == [*loads, ("2024-01-06", 1, 0, 0, 1, 1)]
    code, said = command("load", "2024-01-05..2024-01-06", "--bulk", "--select", "stock")
    assert code == 0, said
    assert "stock: nothing is left to load" in said

    land("stock", {7: ["3,e", "4,f"]})
    project.load("2024-01-07", "stock")  # knows it for what loads one by one would have left
    assert committed(project, "stock")[-1] == ("2024-01-07", 2, 1, 1, 0, 2)
    tests = project.dbt("test", "--select", "path:models/stock")
    assert tests.success, tests.output


@pytest.mark.integration
@pytest.mark.parametrize("load_type", ["full", "delta"])
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["1,a", "2,b", "2,b"], "more than once in 2024-01-03"),
        (["1,a", "2,b", "2,c"], "more than once in 2024-01-03"),
        (["1,a", "x,b"], "1 row of 2024-01-03 can't be accepted"),
        (["1,a", '2,"b'], "1 line of 2024-01-03 has a quote that is not closed"),
        (["1,a", "2,b\udcff"], "1 line of 2024-01-03 has bytes that are not UTF-8"),
    ],
)
def test_a_date_that_is_refused_stops_all(
    project: Project, land: Any, load_type: str, rows: list[str], words: str
) -> None:
    name = f"{load_type}_{abs(hash(tuple(rows))) % 10**6}"
    project.entity(name, COLUMNS_OF, load_type=load_type)
    land(name, {1: ["1,a"], 2: ["1,a", "2,b"], 3: rows, 4: ["1,a", "2,b"], 5: ["1,b"]})
    outcome = project.operate("backfill", entities=name, dates="2024-01-01..2024-01-05")
    assert not outcome.success
    assert words in outcome.output
    assert "Nothing was committed" in outcome.output
    assert committed(project, name) == []
    refused = project.query(
        f"select business_time from {{s}}.cdc_loads where entity = '{name}' and status = 'refused'"
    )
    assert refused == [("2024-01-03",)]


@pytest.mark.integration
def test_guards_and_missing_columns_are_those_of_each_date(
    project: Project, command: Any, land: Any
) -> None:
    project.entity("guarded", COLUMNS_OF, guards={"deleted_share": 0.5, "min_rows": 1})
    land("guarded", {1: ["1,a", "2,b", "3,c"], 2: ["1,a", "2,b", "3,c"], 3: ["1,a"], 4: ["1,a"]})
    words = ("load", "2024-01-01..2024-01-04", "--bulk", "--select", "guarded")
    code, said = command(*words)
    assert code == 1
    assert "a guard stops the load of 2024-01-03" in said
    assert "spark-cdc load 2024-01-01..2024-01-04 guarded --bulk --skip-guards" in said
    code, said = command(*words, "--skip-guards", "guarded.deleted_share")
    assert code == 0, said
    project.land("guarded", "2024-01-05", "id", "1")
    code, said = command("load", "2024-01-05", "--bulk", "--select", "guarded")
    assert code == 1
    assert "missing: name" in said


@pytest.mark.integration
def test_what_a_backfill_does_not_take_is_refused(project: Project, land: Any) -> None:
    project.entity("odd", COLUMNS_OF, on_reject="quarantine")
    land("odd", {1: ["1,a"], 2: ["x,b"], 3: ["1,a"]})
    for dates, words in [
        ("2024-02-31", "dates has 2024-02-31"),
        ("2024-01-03..2024-01-01", "dates has 2024-01-03..2024-01-01"),
        ("2024-01-01 10:15:00", "odd is loaded per date, but a time of day is given"),
        ("2024-01-01..2024-01-03", "1 row of 2024-01-02 would be set aside (quarantine)"),
    ]:
        outcome = project.operate("backfill", entities="odd", dates=dates)
        assert not outcome.success
        assert words in outcome.output
    outcome = project.operate("backfill", entities="odd", dates="2024-01-01", skip_missing=True)
    assert outcome.success, outcome.output
    outcome = project.operate(
        "backfill", entities="odd", dates="2024-01-03", dates_per_statement=61
    )
    assert "accepted are numbers from 1 to 60" in outcome.output
    stage = project.folder / "models/odd/stg_odd.sql"
    stage.write_text("select * from ({{ spark_cdc.stage() }}) where id > 0\n")
    outcome = project.operate("backfill", entities="odd", dates="2024-01-03")
    assert "stg_odd is more than spark_cdc.stage()" in outcome.output


@pytest.mark.integration
def test_tables_and_typed_files(project: Project) -> None:
    project.query("drop table if exists {s}.source_of_many")
    project.query(
        "create table {s}.source_of_many using parquet as select * from values"
        " (1, 'a', date'2024-01-01'), (1, 'a', date'2024-01-02'), (2, 'b', date'2024-01-02'),"
        " (2, 'c', date'2024-01-03') as t (id, name, day)"
    )
    source = {"format": "table", "date_column": "day"}
    project.entity("many", COLUMNS_OF, source=source)
    path = project.folder / "models/many"
    yaml = (path / "many.yml").read_text().replace("- name: many", "- name: source_of_many", 1)
    (path / "many.yml").write_text(yaml)
    (path / "stg_many.sql").write_text("{{ spark_cdc.stage(table_name='source_of_many') }}\n")
    project.entity("files", COLUMNS_OF, source={"format": "parquet"})
    for day in (1, 2, 3):
        project.query(
            f"insert overwrite directory '{project.landing}/files/2024-01-{day:02}' using parquet"
            f" select id, name from {{s}}.source_of_many where day = date'2024-01-{day:02}'"
        )
    for name in ("many", "files"):
        outcome = project.operate("backfill", entities=name, dates="2024-01-01..2024-01-03")
        assert outcome.success, outcome.output
        assert committed(project, name) == [
            ("2024-01-01", 1, 1, 0, 0, 1),
            ("2024-01-02", 2, 1, 0, 0, 2),
            ("2024-01-03", 1, 0, 1, 1, 1),
        ]
