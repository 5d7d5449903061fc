"""Full loads that write what is gone by a statement of their own, against those that do not."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from spark_cdc.jinja_bridge import CompilerError, load_macros
from warehouse import Warehouse

pytestmark = pytest.mark.proves("load types")

DAY = "2024-05-0{}"
MANY = 10**6  # rows before a load, as many as let it write what is gone apart
LENIENT = {"on_reject": "quarantine", "on_duplicate_key": "quarantine"}
VIEWS = {
    "current": "id, value, seen, operation, eff_start_date, key_hash, nonkey_hash",
    "history": "id, value, seen, operation, business_date, key_hash, nonkey_hash",
    "versions": "id, value, seen, eff_start_date, eff_end_date",
}


def warehouse(
    cursor: Any, schema: str, folder: Path, name: str = "apart", **settings: Any
) -> Warehouse:
    """An entity whose full loads write what is gone apart, unless it is called `together`."""
    source = {"format": settings.pop("format", "csv"), "path": f"{folder}/{{business_date}}"}
    roles = {"id": "key", "value": None, "seen": "untracked"}
    node = {
        "name": f"stg_{name}",
        "config": {"meta": {"spark_cdc": {"load_type": "full", "source": source, **settings}}},
        "columns": [
            {
                "name": column,
                "data_type": "int",
                "config": {"meta": {"role": role} if role else {}},
            }
            for column, role in roles.items()
        ],
    }
    made = Warehouse(cursor, schema, folder, node)
    rows_before = 0 if name == "together" else MANY
    made.replace(
        "_deletes_separately",
        lambda macro, entity, load: macro(entity, {**load, "prior_rows": rows_before}),
    )
    return made


def land(folder: Path, day: int, *lines: str) -> str:
    date = DAY.format(day)
    (folder / date).mkdir(parents=True, exist_ok=True)
    (folder / date / "rows.csv").write_text("\n".join(["id,value,seen", *lines]) + "\n")
    return date


def rows(warehouse: Warehouse, view: str) -> list[tuple[Any, ...]]:
    warehouse.cursor.execute(f"select {VIEWS[view]} from ({warehouse.view_sql(view)}) order by all")
    return warehouse.cursor.fetchall()


def written(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    """What the ledger holds of the last load, which need not be committed, by operation."""
    load_id = warehouse.macros._load_of_comment(warehouse.sql)["load_id"]
    warehouse.cursor.execute(
        f"select operation, count(*) from {warehouse.ledger}"
        f" where load_id = '{load_id}' group by all order by all"
    )
    return warehouse.cursor.fetchall()


@pytest.mark.full
def test_nothing_differs_from_one_statement(cursor: Any, schema: str, tmp_path: Path) -> None:
    """Random rows: rejected, repeated, without a key, alike but for an ignored value, gone."""
    chance = random.Random(18)
    settings = {**LENIENT, "checkpoint": {"loads": 2, "changed_share": 1e9}}
    both = [warehouse(cursor, schema, tmp_path, name, **settings) for name in ("apart", "together")]
    kinds = set()
    for day in range(1, 7):
        # every other day more keys came in than may be broadcast, of which few are gone
        few = 20 if day % 2 else MANY
        both[0].replace("_is_few", lambda macro, entity, count, few=few: count <= few)
        lines = [
            f"{key},{chance.choice(['1', '2', ''])},{chance.choice('78')}"
            for key in range(60)
            if chance.random() < 0.8
        ]
        lines += ["3,5,", "3,5,", "7,x,7", "7,1,7", "8,y,"][: 5 * (day % 3 == 2)]
        lines += [",1,7"] * (day == 4)  # might be the row of any key that is gone
        date = land(tmp_path, day, *chance.sample(lines, len(lines)))
        audits = [one.load(date) for one in both]
        assert audits[0]["counts"] == audits[1]["counts"], date
        assert audits[0]["rows_in"] == audits[1]["rows_in"] == len(lines), date
        assert written(both[0]) == written(both[1]), date
        kinds |= {operation for operation, count in audits[0]["counts"].items() if count}
        for view in VIEWS:
            assert rows(both[0], view) == rows(both[1], view), f"{view} after {date}"
    assert kinds == set("IUDNXR")
    assert "unchanged" in both[0].audit["record"] and "unchanged" not in both[1].audit["record"]


@pytest.mark.parametrize(
    "again",
    [
        pytest.param("1,1,7", id="twice unchanged"),
        pytest.param("2,3,7", id="twice updated", marks=pytest.mark.integration),
        pytest.param("4,1,7", id="twice new", marks=pytest.mark.integration),
    ],
)
def test_a_key_that_comes_twice_is_caught(
    cursor: Any, schema: str, tmp_path: Path, again: str
) -> None:
    made = warehouse(cursor, schema, tmp_path)
    made.load(land(tmp_path, 1, "1,1,7", "2,2,7", "3,3,7"))
    before = rows(made, "current")
    date = land(tmp_path, 2, "1,1,7", again, again)
    with pytest.raises(CompilerError, match=rf"id = {again[0]} \([23] rows\)"):
        made.load(date)
    assert rows(made, "current") == before


def broken_off(*words: Any, **more: Any) -> None:
    raise ConnectionError


@pytest.mark.parametrize(
    ("macro", "left"),
    [
        pytest.param("_deleted_sql", "ISU", id="before the second write"),
        pytest.param(
            "_drop_partitions_sql", "DILSU", id="behind it", marks=pytest.mark.integration
        ),
    ],
)
def test_a_load_that_broke_off_between_its_writes_counts_for_nothing(
    cursor: Any, schema: str, tmp_path: Path, macro: str, left: str
) -> None:
    made = warehouse(cursor, schema, tmp_path)
    made.load(land(tmp_path, 1, "1,1,7", "2,2,7", "3,3,7"))
    before = {view: rows(made, view) for view in VIEWS}
    date = land(tmp_path, 2, "1,1,7", "2,5,7", "4,4,7")
    whole = made.macros[macro]
    made.replace(macro, broken_off)
    with pytest.raises(ConnectionError):
        made.load(date)
    assert "".join(operation for operation, _ in written(made)) == left
    if "L" not in left:  # it is not whole, and the audit sees that
        with pytest.raises(CompilerError, match="the ledger holds no whole load"):
            made.macros._commit_load(
                made.macros._planned_run(made.macros._context_of_model(), is_planned=True)
            )
    assert {view: rows(made, view) for view in VIEWS} == before

    made.replace(macro, lambda _, *words, **more: whole(*words, **more))
    counts = made.load(date)["counts"]
    assert {operation: counts[operation] for operation in "IUDN"} == dict.fromkeys("IUDN", 1)
    assert [operation for operation, _ in written(made)] == ["D", "I", "L", "U"]
    # an attempt that is not named is not read, its marks neither
    assert [row[0] for row in rows(made, "current")] == [1, 2, 4]


def test_typed_input_is_read_once(cursor: Any, schema: str, tmp_path: Path) -> None:
    made = warehouse(cursor, schema, tmp_path, format="parquet")
    made.replace("_count_input", broken_off)
    for day, others in ((1, "(2, 2, 7), (3, 3, 7)"), (2, "(2, 2, 8), (4, 4, 7)")):
        date = DAY.format(day)
        cursor.execute(
            f"insert overwrite directory '{tmp_path}/{date}' using parquet"
            f" select * from values (1, 1, 7), {others} as rows (id, value, seen)"
        )
        made.load(date)
    assert made.sql.count("landed_apart") == 1
    assert made.audit["rows_in"] == 3
    assert made.audit["record"]["unchanged"] == 1  # 2 is written, as N
    assert [made.audit["counts"][operation] for operation in "IUDN"] == [1, 0, 1, 2]
    assert written(made) == [(operation, 1) for operation in "DILN"]


def test_a_plan_has_one_statement(cursor: Any, schema: str, tmp_path: Path) -> None:
    """It writes nothing that a second could read."""
    made = warehouse(cursor, schema, tmp_path)
    made.load(land(tmp_path, 1, "1,1,7"))
    made.variables["business_date"] = DAY.format(2)
    for is_plan in (False, True):
        made.replace("_mode", lambda macro, mode="plan" if is_plan else "load": mode)
        made._look()
        run = made.macros._planned_run(made.macros._context_of_model())
        sql = made.macros._ledger_query(run, "landed")
        assert ("deletes_separately" in sql, "left anti join" in sql) == (not is_plan, is_plan)


@pytest.mark.parametrize(
    ("of_load", "apart"),
    [
        ({}, True),
        ({"prior_rows": 199_999}, False),
        ({"load_type": "delta"}, False),
        ({"base": None}, False),
        ({"redefines": True}, False),
    ],
)
def test_which_loads_it_is(of_load: dict[str, Any], apart: bool) -> None:
    load = {"load_type": "full", "base": "a", "redefines": False, "prior_rows": 200_000, **of_load}
    macros, entity = load_macros(), {"events": None, "source": {"format": "csv"}}
    assert macros._deletes_separately(entity, load) == apart
    # a table that may be another one by then is not read again, however small it is
    whole = {"events": None, "source": {"format": "table"}}
    always = apart or "prior_rows" in of_load
    assert macros._deletes_separately(whole, load) == always
