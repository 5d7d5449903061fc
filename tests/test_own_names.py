"""Columns of a source may have any name but those that readers see and those with our prefix."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import column
from warehouse import Warehouse

pytestmark = pytest.mark.proves("input")

DAYS = ("2024-03-01", "2024-03-02")
# what columns within a statement were called before they had the prefix, and what a prefix names
NAMES = (
    *("note", "is_deleted", "landing_problem", "landing_names", "recency", "fault_bits"),
    *("rule_bits", "broken_rules", "final_position", "repeated_key_hash", "repeated_rows"),
    *("operation_now", "rejected", "columns", "reasons", "raw__note", "step__half", "old__id"),
    *("filled__note", "prior__id", "backfill__days", "raw_note", "prior_note", "filled_note"),
)


def values(number: int) -> dict[str, str]:
    return {name: f"{name} {number}" for name in NAMES}


def stored(given: Warehouse, view: str = "current") -> dict[int, dict[str, str]]:
    """The rows of a view by their ids, without spark_cdc's columns."""
    listed = ", ".join(f"`{name}`" for name in NAMES)
    given.cursor.execute(f"select id, {listed} from ({given.view_sql(view)}) as shown order by id")
    return {row[0]: dict(zip(NAMES, row[1:], strict=True)) for row in given.cursor.fetchall()}


def operations(given: Warehouse, view: str = "current") -> list[tuple[int, str]]:
    given.cursor.execute(
        f"select id, operation from ({given.view_sql(view)}) as shown order by all"
    )
    return given.cursor.fetchall()


def rejected(given: Warehouse) -> list[tuple[Any, ...]]:
    sql = given.macros._rejects_sql(given.entity, given.ledger, given.committed)
    given.cursor.execute(f"select rejected_columns, rejected_reason from ({sql}) as shown")
    return given.cursor.fetchall()


@pytest.mark.integration
@pytest.mark.parametrize("load_type", ["full", "delta"])
def test_rows_whose_columns_have_the_names_of_ours(
    cursor: Any, schema: str, tmp_path: Path, load_type: str
) -> None:
    """Inserted, updated, unchanged, deleted and rejected, with a rule and at a checkpoint."""
    settings = {
        "load_type": load_type,
        "source": {"path": f"{tmp_path}/{{business_date}}"},
        "deleted_when": "note = 'gone'",
        "on_reject": "quarantine",
        "checkpoint": {"loads": 1},
        "rules": {"filled": {"condition": "note is not null and recency <> 'x'"}},
    }
    columns = [column("id", "int", role="key"), column("n", "int")]
    columns += [column(name, "string") for name in NAMES]
    node = {"name": "stg_things", "config": {"meta": {"spark_cdc": settings}}, "columns": columns}
    given = Warehouse(cursor, schema, tmp_path, node)

    def land(day: str, *rows: dict[str, str]) -> None:
        (tmp_path / day).mkdir()
        with (tmp_path / day / "data.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, ["id", "n", *NAMES])
            writer.writeheader()
            writer.writerows(rows)

    def row(id: int, number: int, n: str = "1", **more: str) -> dict[str, str]:
        return {"id": str(id), "n": n, **values(number), **more}

    land(DAYS[0], row(1, 1), row(2, 2), row(3, 3))
    given.load(DAYS[0])
    assert stored(given) == {1: values(1), 2: values(2), 3: values(3)}
    land(DAYS[1], row(1, 4), row(2, 2), row(3, 3, note="gone"), row(5, 5, n="x"))
    given.load(DAYS[1])
    assert stored(given) == {1: values(4), 2: values(2)}
    assert operations(given) == [(1, "U"), (2, "N")]
    assert rejected(given) == [("n", "n: 'x' is not accepted as int")]
    assert stored(given, "versions")[2] == values(2)
    assert (1, "U") in operations(given, "history")
