"""Change events that each step of a load reads from their source: typed files without an archive.

Nothing is written into <entity>_events there, unless an event is rejected or a column is cast. What
comes out must be what comes out of events that are written down, so the same histories are loaded.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from event_histories import Knobs, histories, mapped
from event_oracle import Event
from event_warehouse import EventWarehouse, column
from scale import HISTORIES
from spark_cdc.jinja_bridge import CompilerError
from test_event_histories import ALWAYS, COLUMNS, MARK, NEVER, OPS, PLAIN, differences, merged

pytestmark = pytest.mark.proves("change events")

CONTROLS = {"op": "string", "seq": "bigint", "unit": "string", "old_k": "string"}
TYPES = "history int, k string, v1 string, v2 int, v3 string, " + ", ".join(
    f"{name} {data_type}" for name, data_type in CONTROLS.items()
)
TYPED = [*COLUMNS, *(column(name, type_, role="control") for name, type_ in CONTROLS.items())]
EVENTS = {
    "format": "flagged_rows",
    "operation": "op",
    "order": ["seq"],
    "codes": {code: operation for operation, code in OPS.items()},
    "transaction": "unit",
    "old_key": {"k": "old_k"},
    "unavailable": MARK,
    "archive": False,
}
NO_ARCHIVE: tuple[bool, ...] = (False,)


class TypedWarehouse(EventWarehouse):
    """Takes the histories' messages and lands them as Parquet."""

    def __init__(
        self,
        cursor: Any,
        schema: str,
        folder: Path,
        *,
        places: Iterable[tuple[int, ...]] = (),
        archives: tuple[bool, ...] = NO_ARCHIVE,
        checkpoint: dict[str, Any] | None = None,
        columns: list[dict[str, Any]] = TYPED,
    ) -> None:
        source = {"format": "parquet"}
        super().__init__(
            cursor, schema, folder, columns, events=EVENTS, source=source, checkpoint=checkpoint
        )
        self.numbers = {place: number for number, place in enumerate(sorted(set(places)))}
        self.archives = archives  # of one load after the other
        self.paths: list[str] = []
        self.replace("_is_short_stream", lambda macro, count: False)

    def land(self, date: str, messages: Iterable[Any]) -> None:
        rows = [message if "op" in message else self._row(message) for message in messages]
        self.write(date, rows)

    def write(self, date: str, rows: list[dict[str, Any]], types: str = TYPES) -> None:
        lines = self.folder / "rows.json"
        lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        self.cursor.execute(
            f"create or replace temporary view rows ({types}) using json options (path '{lines}')"
        )
        self.cursor.execute(
            f"insert overwrite directory '{self.folder}/{date}' using parquet select * from rows"
        )

    def load(self, date: str) -> dict[str, Any]:
        settings = self.node["config"]["meta"]["spark_cdc"]["events"]
        settings["archive"] = self.archives[self.attempts % len(self.archives)]
        audit = super().load(date)
        kind = "last" if self.summary.get("by_last") else "view"
        self.paths.append(kind if self.record().get("read_again") else "table")
        return audit

    def _row(self, message: dict[str, Any]) -> dict[str, Any]:
        new, old = message.get("new"), message.get("old")
        row = dict(new or old or {}) | {"op": message["what"], "unit": message["unit"]}
        row["seq"] = self.numbers.get(tuple(message["at"]))
        if new and old:
            row["old_k"] = old["k"]
        return row

    def written_events(self) -> int:
        self.cursor.execute(f"select count(*) from {self.events}")
        return int(self.cursor.fetchone()[0])


@pytest.mark.parametrize(
    ("knobs", "count", "checkpoint", "truncates", "archives", "paths"),
    [
        pytest.param(
            *({**PLAIN, "snapshots": False}, 10, NEVER, 0, NO_ARCHIVE, {"last"}),
            marks=pytest.mark.integration,
        ),
        pytest.param(
            *({**PLAIN, "snapshots": False}, 5, ALWAYS, 0, (False, True), {"last", "table"}),
            marks=pytest.mark.full,
        ),
        pytest.param(
            *({"partial": False, "splits": False}, 5, NEVER, 0),
            *((False, False, True), {"view", "table"}),
            marks=pytest.mark.full,
        ),
        pytest.param(
            *({"partial": False, "splits": False}, 5, ALWAYS, 3, NO_ARCHIVE, {"view"}),
            marks=pytest.mark.full,
        ),
    ],
    ids=["plain", "plain, archive on and off", "moves, late, repeated", "truncates"],
)
def test_views_are_what_the_oracle_says(
    cursor: Any,
    schema: str,
    tmp_path: Path,
    knobs: dict[str, Any],
    count: int,
    checkpoint: dict[str, Any],
    truncates: int,
    archives: tuple[bool, ...],
    paths: set[str],
) -> None:
    chance = random.Random(str(sorted(knobs.items())) + str(truncates))
    wanted = HISTORIES * count // 100
    stories = list(histories(chance.randrange(10**6), wanted, Knobs(truncates=False, **knobs)))
    if "last" in paths:  # a key that a transaction takes and gives up takes another way
        stories = [mapped(story, without_transaction) for story in stories]
    run = merged(stories, truncates, chance)
    places = [event.position for load in run.loads for event in load.events if event.position]
    warehouse = TypedWarehouse(
        cursor, schema, tmp_path, places=places, archives=archives, checkpoint=checkpoint
    )
    wrong = differences(warehouse, run)
    assert not wrong, {view: rows[:5] for view, rows in wrong.items()}
    assert paths <= set(warehouse.paths)


def without_transaction(event: Event) -> Event:
    return event._replace(transaction=None)


# --- one case each ------------------------------------------------------------------------------


def event(op: str, seq: int | None, k: str | None = "a", v1: str | None = None) -> dict[str, Any]:
    return {"history": 1, "k": k, "v1": v1, "op": OPS.get(op, op), "seq": seq}


def people(cursor: Any, schema: str, folder: Path, **more: Any) -> TypedWarehouse:
    return TypedWarehouse(cursor, schema, folder, **more)


@pytest.mark.integration
def test_nothing_is_written_down(cursor: Any, schema: str, tmp_path: Path) -> None:
    warehouse = people(cursor, schema, tmp_path)
    warehouse.write("2024-05-01", [event("insert", 1, "a", "x"), event("insert", 2, "b", "y")])
    warehouse.load("2024-05-01")
    warehouse.write("2024-05-02", [event("update", 3, "a", "z"), event("delete", 4, "b")])
    audit = warehouse.load("2024-05-02")
    assert warehouse.paths == ["last", "last"]
    assert warehouse.written_events() == 0
    assert warehouse.rows("current", "k, v1") == {("a", "z"): 1}
    assert (audit["counts"]["U"], audit["counts"]["D"], audit["files"]["files"]) == (1, 1, 1)


def test_an_event_that_comes_twice_counts_once(cursor: Any, schema: str, tmp_path: Path) -> None:
    warehouse = people(cursor, schema, tmp_path)
    twice = [event("insert", 1, "a", "x"), event("update", 2, "a", "y")]
    warehouse.write("2024-05-01", [*twice, *twice])
    warehouse.load("2024-05-01")
    assert warehouse.paths == ["view"]
    assert warehouse.rows("current", "k, v1") == {("a", "y"): 1}


def test_a_mark_keeps_the_value(cursor: Any, schema: str, tmp_path: Path) -> None:
    """Of an earlier event of the load, and of the state before."""
    warehouse = people(cursor, schema, tmp_path)
    warehouse.write("2024-05-01", [event("insert", 1, "a", "x"), event("insert", 2, "b", "y")])
    warehouse.load("2024-05-01")
    rows = [event("update", 3, "a", "z"), event("update", 4, "a", MARK)]
    warehouse.write("2024-05-02", [*rows, event("update", 5, "b", MARK) | {"v2": 7}])
    warehouse.load("2024-05-02")
    assert warehouse.paths == ["last", "view"]
    assert warehouse.rows("current", "k, v1, v2") == {("a", "z", None): 1, ("b", "y", 7): 1}


@pytest.mark.full
def test_many_columns_and_keys_that_change(cursor: Any, schema: str, tmp_path: Path) -> None:
    """Each expression over all columns that has a name costs Spark's optimizer: see test_wide."""
    names = [f"c{number:02}" for number in range(30)]
    columns = [*TYPED, *(column(name, "string") for name in names)]
    types = f"{TYPES}, {', '.join(f'{name} string' for name in names)}"
    warehouse = TypedWarehouse(cursor, schema, tmp_path, columns=columns)
    values = dict.fromkeys(names, "x")
    rows = [event("insert", 1, "a", "x") | values, event("insert", 2, "b", "y") | values]
    warehouse.write("2024-05-01", rows, types)
    warehouse.load("2024-05-01")
    moved = event("update", 3, "c", "x") | values | {"old_k": "b"}
    kept = event("update", 4, "a", MARK) | values | {"c00": MARK}
    warehouse.write("2024-05-02", [moved, kept], types)
    warehouse.load("2024-05-02")
    assert warehouse.paths == ["last", "view"]
    assert warehouse.rows("current", "k, v1, c00, c29") == {(k, "x", "x", "x"): 1 for k in "ac"}


@pytest.mark.integration
def test_different_events_at_one_place_are_shown(cursor: Any, schema: str, tmp_path: Path) -> None:
    warehouse = people(cursor, schema, tmp_path)
    warehouse.write("2024-05-01", [event("insert", 1, "a", "x"), event("insert", 1, "a", "y")])
    with pytest.raises(CompilerError) as error:
        warehouse.load("2024-05-01")
    assert "different events of one key have the position [1, 1]: name a tie_breaker" in str(
        error.value
    )
    assert '"v1":"x"' in str(error.value) and '"v1":"y"' in str(error.value)
    assert warehouse.written_events() == 0


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param(event("insert", 2, None), "null", marks=pytest.mark.integration),
        (event("insert", None, "b"), "the position in the order of events is missing: seq"),
        (event("?", 2, "b"), "unknown operation '?' in op"),
    ],
)
def test_a_rejected_event_is_told_as_ever(
    cursor: Any, schema: str, tmp_path: Path, bad: dict[str, Any], reason: str
) -> None:
    """Then the events are written down; a later event of the same key does not hide it."""
    warehouse = people(cursor, schema, tmp_path)
    warehouse.write("2024-05-01", [event("insert", 1, "a"), bad, event("insert", 3, "b")])
    with pytest.raises(CompilerError) as error:
        warehouse.load("2024-05-01")
    assert reason in str(error.value)
    assert warehouse.written_events() == 3


def test_a_staging_model_of_the_users_own_is_not_passed_by(
    cursor: Any, schema: str, tmp_path: Path
) -> None:
    warehouse = people(cursor, schema, tmp_path)
    warehouse.node["raw_code"] = "select * from ({{ spark_cdc.stage() }}) where k <> 'b'"
    warehouse.write("2024-05-01", [event("insert", 1, "a", "x")])
    warehouse.load("2024-05-01")
    assert warehouse.paths == ["table"]
    assert warehouse.written_events() == 1


def test_what_has_to_be_cast_is_written_down(cursor: Any, schema: str, tmp_path: Path) -> None:
    warehouse = people(cursor, schema, tmp_path)
    rows = [event("insert", 1, "a", "x")]
    warehouse.write("2024-05-01", rows, TYPES.replace("seq bigint", "seq int"))
    warehouse.load("2024-05-01")
    assert warehouse.paths == ["table"]
    assert warehouse.rows("current", "k, v1") == {("a", "x"): 1}


def test_files_that_change_meanwhile_are_noticed(cursor: Any, schema: str, tmp_path: Path) -> None:
    warehouse = people(cursor, schema, tmp_path)
    warehouse.write("2024-05-01", [event("insert", 1, "a", "x")])
    ledger = warehouse.macros["_load_ledger"]

    def changed(ctx: Any, sql: str) -> Any:
        written = ledger(ctx, sql)
        warehouse.write("2024-05-01", [event("insert", 1, "a", "other"), event("insert", 2, "b")])
        return written

    warehouse.macros._functions["_load_ledger"] = changed
    with pytest.raises(CompilerError, match="changed while they were read"):
        warehouse.load("2024-05-01")


@pytest.mark.integration
def test_no_events_are_no_changes(cursor: Any, schema: str, tmp_path: Path) -> None:
    warehouse = people(cursor, schema, tmp_path)
    warehouse.write("2024-05-01", [event("insert", 1, "a", "x")])
    warehouse.load("2024-05-01")
    warehouse.write("2024-05-02", [])
    audit = warehouse.load("2024-05-02")
    assert audit["rows_in"] == 0
    assert warehouse.rows("current", "k, v1") == {("a", "x"): 1}
