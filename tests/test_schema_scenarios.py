"""What others test of columns that come later, as loads of ours.

The scenarios are those of dbt's adapter tests for the backfill of snapshots (simple_snapshot/
test_snapshot_backfill.py of dbt-adapters), and of the schema changes that the composer of Flink CDC
is tested with (singleSplitSingleTable and its variant with a default). dbt fills older versions
with the values of now; a replay takes those of then, so the expected rows differ where the source
did.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from spark_cdc.jinja_bridge import CompilerError
from test_added_columns import Shop, land, people  # noqa: F401
from test_fill import IGNORE, declare, fill
from warehouse import land_lines

pytestmark = [pytest.mark.proves("schema change")]

DAYS = ("2024-03-01", "2024-03-02", "2024-03-03", "2024-03-04")
# The source by day: two people, one of whom has another name on the second day. All columns were
# there from the first day on, and nobody had declared them.
SOURCE: tuple[tuple[dict[str, Any], ...], ...] = (
    (
        {"id": 1, "name": "Ann", "full": "Ann Lee", "a": "a1", "b": "b1", "n": None},
        {"id": 2, "name": "Bob", "full": "Bob Ray", "a": "a2", "b": "b2", "n": None},
    ),
    (
        {"id": 1, "name": "Ann", "full": "Ann Lee", "a": "a1", "b": "b1", "n": None},
        {"id": 2, "name": "Rob", "full": "Rob Ray", "a": "A2", "b": "B2", "n": None},
    ),
)
# what each column is, by key and first day of a version
PAST: dict[str, list[tuple[Any, ...]]] = {
    "full": [(1, "Ann Lee"), (2, "Bob Ray"), (2, "Rob Ray")],
    "a": [(1, "a1"), (2, "a2"), (2, "A2")],
    "b": [(1, "b1"), (2, "b2"), (2, "B2")],
    "n": [(1, None), (2, None), (2, None)],
}


def loaded(people: Callable[..., Shop], columns: list[list[str]], **key: Any) -> Shop:  # noqa: F811
    """Two loads without further columns, then one for each list of columns that come with it."""
    shop = people(source=IGNORE)
    shop.node["columns"][1]["config"]["meta"] |= key
    for at, day in enumerate(DAYS[: 2 + len(columns)]):
        for name in columns[at - 2] if at > 1 else []:
            declare(shop, name, "string")
        land(shop, day, *SOURCE[min(at, 1)])
        shop.load(day)
    return shop


def past(shop: Shop, column: str) -> list[tuple[Any, ...]]:
    return [row[:2] for row in shop.rows(f"id, {column}, eff_start_date", "history_by_time")]


@pytest.fixture(autouse=True)
def by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of the history in the order of key and time."""

    def rows(self: Shop, columns: str, view: str = "current") -> list[tuple[Any, ...]]:
        self._begin()
        order = "id, eff_start_date, operation" if view == "history_by_time" else "all"
        sql = self.view_sql(view.removesuffix("_by_time"))
        self.cursor.execute(f"select {columns} from ({sql}) order by {order}")
        return [tuple(row) for row in self.cursor.fetchall()]

    monkeypatch.setattr(Shop, "rows", rows)


# name: the columns that come with each load after the second, what is filled, whether it is
# published, the role of the name
SCENARIOS: dict[str, tuple[list[list[str]], list[str], bool, dict[str, Any]]] = {
    "one column": ([["full"]], ["full"], True, {}),
    "several columns": ([["a", "b"]], ["a", "b"], True, {}),
    "one column after the other": ([["a"], ["b"]], ["a", "b"], True, {}),
    "nulls stay null": ([["n"]], ["n"], True, {}),
    "a key of two columns": ([["a"]], ["a"], True, {"role": "key"}),
    "not asked for": ([["a"]], [], True, {}),
    "not published": ([["a"]], ["a"], False, {}),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "one column after the other" else pytest.mark.full)
        for name in SCENARIOS
    ],
)
def test_the_past_of_a_column(people: Callable[..., Shop], name: str) -> None:  # noqa: F811
    columns, filled, is_published, key = SCENARIOS[name]
    shop = loaded(people, columns, **key)
    before = shop.rows("id, name, operation, eff_start_date", "history_by_time")
    for column in filled:
        fill(shop, column, DAYS[0], publish=is_published)
    for column in (name for names in columns for name in names):
        history = past(shop, column)
        if key:  # another name is another key
            assert history == [(1, "a1"), (2, "a2"), (2, "a2"), (2, "A2")]
        elif filled and is_published:
            assert history == PAST[column]
        else:
            assert history[:1] + history[2:4] == [(1, None), (2, None), (2, None)]
    after = shop.rows("id, name, operation, eff_start_date", "history_by_time")
    if not (filled and is_published):
        assert after == before
        return
    # what the loads were is left; what the new column alone had made a U is none
    assert after == [row for row in before if str(row[3]) < DAYS[2] or row[2] != "U"]
    shop.cursor.execute(
        f"select business_time, message, replaced_load_ids, status from {shop.schema}.cdc_loads"
        " where status = 'committed' order by 1"
    )
    audit = shop.cursor.fetchall()
    assert [row[0] for row in audit] == list(DAYS[: 2 + len(columns)])
    for _, message, replaced, _ in audit:
        assert message == f"a replay filled {filled[-1]}"
        assert replaced


def test_columns_of_flink(people: Callable[..., Shop]) -> None:  # noqa: F811
    """Added, renamed, dropped; one with a default, renamed at last; a type that can't be."""
    shop = people("json", load_type="events", events={"format": "debezium"}, source={})
    shop.node["columns"][1]["config"]["meta"]["from"] = "col2"
    shop.node["columns"][1]["name"] = "col2"
    place = iter(range(1, 100))

    def load(day: int, *changes: tuple[str, dict[str, Any] | None, dict[str, Any] | None]) -> None:
        lines = [
            json.dumps({"op": op, "before": old, "after": new, "source": {"lsn": next(place)}})
            for op, old, new in changes
        ]
        land_lines(shop.folder / f"2024-03-{day:02}", *lines, file="data.json")
        shop.load(f"2024-03-{day:02}")

    def column(name: str) -> dict[str, Any]:
        found = [one for one in shop.node["columns"] if one["name"] == name]
        return found[0]

    load(1, *(("c", None, {"id": n, "col2": str(n)}) for n in (1, 2, 3)))
    # the source adds col3 by itself
    load(2, ("u", None, {"id": 2, "col2": "2", "col3": ""}))
    assert shop.rows("id, col2, col3, operation") == [
        (1, "1", None, "X"),
        (2, "2", "", "U"),
        (3, "3", None, "X"),
    ]
    # both get other names
    declare(shop, "new3", "string", renamed_from="col3")
    column("col2").update(name="new2")
    column("new2")["config"]["meta"] = {"renamed_from": "col2"}
    load(3, ("u", None, {"id": 2, "new2": "2", "new3": ""}))
    assert shop.rows("id, new2, new3, operation") == [
        (1, "1", None, "X"),
        (2, "2", "", "N"),
        (3, "3", None, "X"),
    ]
    # one is dropped; then a delete, and an update of what is left
    shop.node["columns"].remove(column("new2"))
    shop.node["config"]["meta"]["spark_cdc"]["dropped_columns"] = ["new2"]
    load(4, ("d", {"id": 1}, None), ("u", None, {"id": 2, "new3": "x"}))
    assert shop.rows("id, new3, operation") == [(2, "x", "U"), (3, None, "X")]
    # one with a default, and that renamed
    declare(shop, "more", "string", default="flink")
    load(5, ("u", None, {"id": 2, "new3": "x", "more": "flink"}))
    assert shop.rows("id, new3, more, operation") == [
        (2, "x", "flink", "N"),
        (3, None, "flink", "X"),
    ]
    column("more").update(name="renamed", config={"meta": {"renamed_from": "more"}})
    load(6, ("u", None, {"id": 2, "new3": "x", "renamed": "y"}))
    assert shop.rows("id, new3, renamed, operation") == [
        (2, "x", "y", "U"),
        (3, None, "flink", "X"),
    ]
    # a type that stored values don't fit is refused, and changes nothing
    column("new3")["data_type"] = "int"
    with pytest.raises(CompilerError, match="column 'new3' was string and is int, but 3 stored"):
        load(7, ("u", None, {"id": 2, "new3": 7, "renamed": "y"}))
    column("new3")["data_type"] = "string"
    assert shop.rows("id, new3, renamed") == [(2, "x", "y"), (3, None, "flink")]
