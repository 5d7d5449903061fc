"""Change feeds, end to end: what consumers get after loads, reruns, undo, redo, replay, compact and vacuum."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from project import Project

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "docs" / "examples" / "order_amounts.sql"
ENTITY = "orders"
COLUMNS: dict[str, Any] = {
    "id": {"data_type": "int", "role": "key"},
    "customer": "string",
    "quantity": "int",
    "price": "decimal(10,2)",
}
DAYS = tuple(f"2024-03-{day:02d}" for day in range(1, 10))
# What lands on each day, as full snapshots: id to customer, quantity and price.
Rows = dict[int, tuple[str, int, str]]
STORY: list[Rows] = [
    {1: ("ann", 1, "10.00"), 2: ("bob", 2, "5.00"), 3: ("cid", 1, "1.00")},
    {1: ("ann", 2, "10.00"), 2: ("bob", 2, "5.00"), 4: ("dan", 1, "7.00")},
    {1: ("ann", 3, "10.00"), 3: ("cid", 4, "1.00"), 4: ("dan", 1, "7.00")},
    {1: ("bob", 3, "10.00"), 2: ("bob", 9, "5.00"), 4: ("dan", 2, "7.00"), 5: ("eve", 1, "2.00")},
    {1: ("bob", 3, "10.00"), 5: ("eve", 2, "2.00"), 6: ("fay", 1, "3.00")},
]
IMAGE = "id, customer, quantity, price, eff_start_date"
Command = Callable[..., tuple[int, str]]

# Prints the queries of several ranges: dbt need not start for each.
ASK = """
{% macro ask(ranges) %}
    {%- for range in ranges %}
        {%- do print('feed: ' ~ tojson(spark_cdc.changes('orders', range[0], range[1]))) -%}
    {%- endfor -%}
{% endmacro %}
"""




class Consumer:
    """Keeps a copy of the current rows from nothing but changes."""

    def __init__(self, rows: Iterable[tuple[Any, ...]] = ()) -> None:
        self.rows = {row[0]: row for row in rows}

    def take(self, changes: Iterable[tuple[Any, ...]], after: int, until: int) -> None:
        """Applies changes: a pre-image, and a deleted row, must be what is there."""
        gone = ("delete", "update_preimage")
        for version, _load, is_new, kind, *image in sorted(
            (version, load, kind not in gone, kind, *image)
            for version, load, kind, *image in changes
        ):
            assert after < version <= until
            if is_new:
                assert (kind == "update_postimage") == (image[0] in self.pending)
                self.pending.discard(image[0])
                assert image[0] not in self.rows
                self.rows[image[0]] = tuple(image)
                continue
            old = self.rows.pop(image[0])
            assert old[:4] == tuple(image[:4])
            if kind == "update_preimage":
                assert old == tuple(image)
                self.pending.add(image[0])
        assert not self.pending

    pending: set[int] = set()


def land(project: Project, day: int, rows: Rows) -> None:
    lines = [f"{key},{','.join(map(str, row))}" for key, row in rows.items()]
    project.land(ENTITY, DAYS[day], ",".join(COLUMNS), *lines)


def head(project: Project) -> int:
    text = project.query(f"show create table {{s}}.{ENTITY}_committed")[0][0]
    found = re.search(r"spark_cdc manifest: (\{.*\}) \*/", text)
    assert found
    return int(json.loads(found.group(1))["sequence"])


def current(project: Project) -> list[tuple[Any, ...]]:
    return project.rows(f"{ENTITY}_current", IMAGE)


def asked(project: Project, *ranges: tuple[Any, Any]) -> list[list[tuple[Any, ...]]]:
    """The rows of some ranges of versions: version, load, what changed, the row."""
    words = ("run-operation", "ask", "--args", json.dumps({"ranges": ranges}))
    outcome = project.dbt(*words)
    assert outcome.success, outcome.output
    queries = [json.loads(text) for text in re.findall(r"feed: (.*)", outcome.output)]
    assert len(queries) == len(ranges)
    what = f"_commit_version, load_id, _change_type, {IMAGE}"
    return [project.query(f"select {what} from (\n{sql}\n) as changes") for sql in queries]


def check(project: Project, states: dict[int, list[tuple[Any, ...]]]) -> None:
    """Any consumer, whatever it has taken, comes to what was there at any later version."""
    versions = sorted(states)
    pairs = [(old, versions[-1]) for old in versions] + list(zip(versions, versions[1:]))
    for (old, new), changes in zip(pairs, asked(project, *pairs)):
        consumer = Consumer(states[old])
        consumer.take(changes, old, new)
        assert sorted(consumer.rows.values()) == states[new], (old, new, changes)
    [start] = asked(project, (None, None))
    assert {row[:1] + row[2:3] for row in start} <= {(versions[-1], "insert")}
    assert sorted(row[3:] for row in start) == states[versions[-1]]


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    project.entity(ENTITY, COLUMNS, checkpoint={"changed_share": 100, "loads": 3})
    models = project.folder / "models"
    (models / ENTITY / f"{ENTITY}_changes.sql").write_text("{{ spark_cdc.changes() }}\n", "utf-8")
    (models / "sales").mkdir()
    (models / "sales" / EXAMPLE.name).write_text(EXAMPLE.read_text("utf-8"), "utf-8")
    (project.folder / "macros").mkdir()
    (project.folder / "macros" / "ask.sql").write_text(ASK, "utf-8")
    return project


@pytest.fixture(scope="module")
def states() -> dict[int, list[tuple[Any, ...]]]:
    """What was there at each version."""
    return {0: []}


def sums(project: Project) -> list[tuple[Any, ...]]:
    """What the example came to."""
    sql = "select customer, sum(amount) from {s}.order_amounts group by customer"
    return sorted(row for row in project.query(sql) if row[1])


def test_consumers_come_to_what_is_there(
    shop: Project, command: Command, states: dict[int, list[tuple[Any, ...]]]
) -> None:
    def step(*words: str) -> None:
        code, said = command(*words)
        assert code == 0, said
        seen()

    def load(day: int, rows: Rows | None = None) -> None:
        land(shop, day, STORY[day] if rows is None else rows)
        shop.load(DAYS[day], ENTITY, "sales")
        seen()

    def seen() -> None:
        states[head(shop)] = current(shop)

    for day in range(3):
        load(day)
    check(shop, states)
    plain = f"select _commit_version, load_id, _change_type, {IMAGE} from {{s}}.{ENTITY}_changes"
    assert sorted(shop.query(plain)) == sorted(asked(shop, (0, None))[0])

    load(2, {1: ("ann", 1, "10.00"), 7: ("gus", 1, "4.00")})  # the last load again
    load(2)
    check(shop, states)
    step("undo", ENTITY)
    step("redo", ENTITY)
    step("undo", ENTITY, "--to", DAYS[0])
    check(shop, states)
    for day in (1, 2, 3):
        load(day)
    land(shop, 1, {1: ("ann", 8, "10.00"), 3: ("cid", 1, "1.00")})
    step("replay", "--from", DAYS[1], "--select", ENTITY, "--publish")
    load(4)
    check(shop, states)
    expected = "customer, cast(sum(quantity * price) as decimal(38,2)) as amount"
    wanted = shop.rows(f"{ENTITY}_current group by customer", expected)
    assert [(c, float(a)) for c, a in sums(shop)] == [(c, float(a)) for c, a in wanted if a]
