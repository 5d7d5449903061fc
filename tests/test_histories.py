"""Thousands of random histories through the project's own SQL, compared with the oracle.

Histories share a table: each has keys of its own, so one load carries a step of all of them. Loads
run as the materializations run them (land, write, audit, commit), statement by statement, on the
test server; after each load the views must be, to the row, what the oracle says, whatever the
checkpoint policy.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from oracle import Load, Row, Tables, expected
from scale import HISTORIES
from warehouse import Warehouse

pytestmark = pytest.mark.proves("load types")

KEYS = 4
TEXTS = (None, "", "a", "b", "a,b", "N")
NUMBERS = (None, 0, 1, -1)

POLICIES = {
    "every load": {"loads": 0},
    "the first only": {"loads": 10**9, "changed_share": 1e9, "rows": 10**12},
    "the default": {},
}


@dataclass(frozen=True)
class Step:
    """A load of all histories: its day and type; the same day again is a rerun."""

    day: int
    load_type: str


# Reruns of a first, a middle and a last load; full and delta mixed; a day loaded three times.
SCHEDULES = {
    "full": "f1 f2 f3 f3 f4 f5",
    "delta": "d1 d2 d2 d3 d4 d5",
    "mixed": "f1 d2 f3 d4 d4 f5",
    "reruns": "d1 d1 f2 f2 f2 d3",
}
# What a session may have set and must not matter.
SESSIONS = (
    "set spark.sql.ansi.enabled = false",
    "set spark.sql.ansi.enabled = true",
    "set spark.sql.session.timeZone = Asia/Kathmandu",
    "set spark.sql.adaptive.enabled = false",
)
RUNS = [("mixed", policy) for policy in POLICIES] + [
    ("full", "the first only"),
    ("delta", "the first only"),
    ("reruns", "the default"),
]
SHORT = (("mixed", "the default"),)


OF_A_RUN = HISTORIES // len(RUNS) + 1


def steps(schedule: str) -> list[Step]:
    types = {"f": "full", "d": "delta"}
    return [Step(int(step[1:]), types[step[0]]) for step in SCHEDULES[schedule].split()]


def node(folder: Path, policy: dict[str, Any], *sensitive: str) -> dict[str, Any]:
    """The YAML of the entity, as its owner would write it; some columns may be sensitive."""
    described: dict[str, Any] = {
        "name": "stg_histories",
        "config": {
            "meta": {
                "spark_cdc": {
                    "load_type": "delta",
                    "deleted_when": "op = 'D'",
                    "source": {"format": "csv", "path": f"{folder}/{{business_date}}"},
                    "checkpoint": policy,
                }
            }
        },
        "columns": [
            {"name": "history", "data_type": "int", "config": {"meta": {"role": "key"}}},
            {"name": "k", "data_type": "string", "config": {"meta": {"role": "key"}}},
            {"name": "text", "data_type": "string"},
            {"name": "number", "data_type": "decimal(4,1)"},
            {"name": "seen", "data_type": "string", "config": {"meta": {"role": "untracked"}}},
            {"name": "op", "data_type": "string", "config": {"meta": {"role": "control"}}},
        ],
    }
    for column in described["columns"]:
        if column["name"] in sensitive:
            column.setdefault("config", {"meta": {}})["meta"]["sensitive"] = True
    return described


def random_rows(chance: random.Random, step: int, load_type: str) -> tuple[Row, ...]:
    """A step of all histories; in a few of them a step brings nothing at all."""
    rows = []
    for history in range(OF_A_RUN):
        if chance.random() < 0.05:
            continue
        for k in range(KEYS):
            if chance.random() < 0.35:
                continue
            rows.append(
                Row(
                    key=(history, str(k)),
                    compared=(chance.choice(TEXTS), chance.choice(NUMBERS)),
                    ignored=(str(step) if chance.random() < 0.5 else None,),
                    deleted=chance.random() < (0.25 if load_type == "delta" else 0.1),
                )
            )
    return tuple(rows)


def write_csv(path: Path, rows: tuple[Row, ...], chance: random.Random) -> None:
    """The rows as CSV with the columns in any order; null is nothing, empty text is quoted."""

    def field(value: Any) -> str:
        return "" if value is None else str(value) if isinstance(value, int) else f'"{value}"'

    names = ["history", "k", "text", "number", "seen", "op"]
    order = chance.sample(range(len(names)), len(names))
    lines = [",".join(names[i] for i in order)]
    for row in chance.sample(rows, len(rows)):
        fields = [*row.key, *row.compared, *row.ignored, "D" if row.deleted else "U"]
        lines.append(",".join(field(fields[i]) for i in order))
    path.mkdir(parents=True, exist_ok=True)
    (path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


COLUMNS = "history, k, text, cast(number as int), seen, "
DATES = {
    "current": "operation, cast(eff_start_date as string), null",
    "history": "operation, cast(business_date as string), null",
    "versions": "operation, cast(eff_start_date as string), cast(eff_end_date as string)",
    "changes": "_change_type, cast(eff_start_date as string), cast(business_date as string)",
}
IMAGES = {"I": "insert", "U": "update_postimage", "D": "delete"}
# what the oracle says a view holds, as Spark reads it
WANTED = (
    "history int, k string, text string, number int, seen string, operation string,"
    " start string, stop string"
)


def flat(tables: Tables, view: str) -> list[tuple[Any, ...]]:
    """The rows of one of the oracle's tables."""
    if view == "current":
        return [
            (*key, *row.compared, *row.ignored, row.operation, row.eff_start_date, None)
            for key, row in tables.current.items()
        ]
    if view == "history":
        return [
            (*key, *compared, *ignored, operation, date, None)
            for date, key, compared, ignored, operation in tables.history
        ]
    if view == "changes":
        images = []
        before: dict[Any, tuple[Any, ...]] = {}
        for date, key, compared, ignored, operation in sorted(tables.history, key=lambda r: r[0]):
            values = (*key, *compared, *ignored)
            if operation == "U":
                *old, start = before[key]
                images.append((*old, "update_preimage", start, date))
            images.append((*values, IMAGES[operation], date, date))
            before[key] = (*values, date)
        return images
    return [
        (*key, *compared, *ignored, operation, start, end)
        for key, compared, ignored, operation, start, end in tables.versions
    ]


@pytest.mark.parametrize(
    ("schedule", "policy"),
    [pytest.param(*run, marks=[] if run in SHORT else pytest.mark.full) for run in RUNS],
)
def test_views_are_what_the_oracle_says(
    cursor: Any, schema: str, tmp_path: Path, schedule: str, policy: str
) -> None:
    follow(cursor, schema, tmp_path, schedule, policy)


@pytest.mark.full
@pytest.mark.parametrize("schedule", ["mixed", "reruns"])
def test_sensitive_columns_make_no_difference(
    cursor: Any, schema: str, tmp_path: Path, schedule: str
) -> None:
    """A key, a compared and an ignored column lie apart, and everybody sees the same rows."""
    sensitive = ("k", "text", "seen")
    warehouse = follow(cursor, schema, tmp_path, schedule, "the default", *sensitive)
    for view in ("current", "history", "versions"):
        cursor.execute(f"select * from ({warehouse.view_sql(view)}) as whole")
        names = [column[0].split(".")[-1] for column in cursor.description]
        whole = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        cursor.execute(f"select * from ({warehouse.plain_sql(view)}) as plain")
        plain = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        bare = [row | dict.fromkeys(sensitive) for row in whole]
        assert sorted(map(repr, plain)) == sorted(map(repr, bare))


def follow(
    cursor: Any, schema: str, tmp_path: Path, schedule: str, policy: str, *sensitive: str
) -> Warehouse:
    """Loads all histories, step by step, and compares what the views show."""
    chance = random.Random(f"{schedule} {policy}")
    cursor.execute(SESSIONS[RUNS.index((schedule, policy)) % len(SESSIONS)])
    described = node(tmp_path, POLICIES[policy], *sensitive)
    warehouse = Warehouse(cursor, schema, tmp_path, described)
    # every other full load writes what is gone apart, as those onto many rows do
    apart = itertools.cycle([10**6, 0])
    warehouse.replace(
        "_deletes_separately",
        lambda macro, entity, load: macro(entity, {**load, "prior_rows": next(apart)}),
    )
    loads: list[Load] = []
    plan = steps(schedule)
    for number, step in enumerate(plan):
        date = f"2024-01-{step.day:02}"
        rows = random_rows(chance, number, step.load_type)
        write_csv(tmp_path / date, rows, chance)
        loads.append(Load(date, step.load_type, rows))
        # the entity is one of deltas, and full snapshots come among them
        warehouse.variables["spark_cdc_load_type"] = step.load_type
        audit = warehouse.load(date)

        tables = expected(loads)
        counts = {operation: audit["counts"][operation] for operation in "IUDNX"}
        assert counts == tables.counts[-1], f"counts after load {number}"
        last = number == len(plan) - 1
        for view in DATES if last else ["current"]:
            columns = COLUMNS + DATES[view]
            wrong = warehouse.differing(view, columns, WANTED, flat(tables, view))
            assert not wrong, explain(view, number, step, wrong)
    return warehouse


def explain(view: str, number: int, step: Step, wrong: list[tuple[Any, ...]]) -> str:
    """The first history that came out wrong, and how."""
    history = min(row[1] for row in wrong)
    rows = "\n  ".join(str(row) for row in wrong if row[1] == history)
    return f"{view} after load {number} ({step}), history {history}:\n  {rows}"


def test_enough_histories() -> None:
    assert len(RUNS) * OF_A_RUN >= HISTORIES >= 150
    assert {policy for _, policy in RUNS} == set(POLICIES)
