"""Random histories of change events through the project's own SQL, compared with the oracle.

The histories of a run share a table: each has keys of its own, so one load carries a load of all of
them. Truncates hit the whole table, so a run has them or not. If a run fails, the history that came
out wrong is shrunk, by loading smaller ones side by side, and printed.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from event_histories import History, Knobs, histories, mapped, shown, smaller
from event_oracle import ConflictError, Event, Load, Position, beliefs, expected
from event_warehouse import EventWarehouse, column
from scale import ALL, HISTORIES
from shop import INTERPRETED

pytestmark = pytest.mark.proves("change events")

COLUMNS = [
    column("history", "int", role="key"),
    column("k", "string", role="key"),
    column("v1", "string"),
    column("v2", "int"),
    column("v3", "string", role="untracked"),
]
NAMES = ("v1", "v2", "v3")
Row = tuple[Any, ...]
# what the oracle says a view holds, as Spark reads it
WANTED = "history int, k string, v1 string, v2 int, v3 string, op string, start string, stop string"
MARK = "__debezium_unavailable_value"
OPS = {
    "insert": "ins",
    "update": "upd",
    "upsert": "put",
    "delete": "del",
    "truncate": "all",
    "read": "img",
    "control": "ping",
}
PLAIN = {"key_changes": False, "splits": False, "partial": False, "late": False, "repeats": False}


@dataclass(frozen=True)
class Run:
    """Some histories that are loaded together."""

    name: str
    count: int
    knobs: dict[str, Any] = field(default_factory=dict)
    checkpoint: dict[str, Any] | None = None
    truncates: int = 0
    null_means: str = "value"
    sensitive: tuple[str, ...] = ()

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The entity's columns; sensitive ones lie apart, which makes no difference."""
        return [
            column(one["name"], one["data_type"], **one["config"]["meta"], sensitive=True)
            if one["name"] in self.sensitive
            else one
            for one in COLUMNS
        ]


ALWAYS: dict[str, Any] = {"loads": 0}
NEVER: dict[str, Any] = {"loads": 10**9, "changed_share": 1e9, "rows": 10**12}
RUNS = [
    Run("everything", HISTORIES * 36 // 100, checkpoint=ALWAYS),
    Run("everything, one checkpoint", HISTORIES * 2 // 10, checkpoint=NEVER),
    Run("whole rows, keys that stay", HISTORIES * 8 // 100, {**PLAIN, "snapshots": False}),
    Run(
        "whole rows, late",
        HISTORIES * 8 // 100,
        {"key_changes": False, "splits": False, "partial": False},
    ),
    Run(
        "partial rows, keys that stay",
        HISTORIES * 8 // 100,
        {"key_changes": False, "splits": False},
    ),
    Run("moves of whole rows", HISTORIES * 8 // 100, {"partial": False}, checkpoint=NEVER),
    Run("nulls that say nothing", HISTORIES * 2 // 100, null_means="unchanged"),
    Run("sensitive columns", HISTORIES * 2 // 100, sensitive=("k", "v1", "v3")),
    Run("truncates", HISTORIES * 4 // 100, {"snapshots": False}, checkpoint=NEVER, truncates=3),
    Run(
        "many truncates", HISTORIES * 4 // 100, {"snapshots": False}, checkpoint=NEVER, truncates=60
    ),
]
FULL = pytest.mark.full


def message(history: int, event: Event) -> dict[str, Any]:
    """An event in the format of the tests."""

    def image(key: tuple[Any, ...] | None) -> dict[str, Any]:
        return {} if key is None else {"history": history, "k": str(key[0])}

    values: dict[str, Any] = dict(event.values) | dict.fromkeys(event.unavailable, MARK)
    told = {
        "what": OPS[event.op],
        "at": list(event.position),
        "unit": None if event.transaction is None else f"{history} {event.transaction}",
    }
    if event.old_key is not None:
        told["old"] = image(event.old_key)
    if event.key is not None:
        told["new"] = image(event.key) | values
    return told


@dataclass(frozen=True)
class Merged:
    """Histories that are loaded together; a truncate stands in each of them."""

    histories: list[History]
    loads: list[Load]


def merged(all_histories: list[History], truncates: int, chance: random.Random) -> Merged:
    """The histories as one: keys, positions and transactions bear a history's number."""

    def own(number: int, event: Event) -> Event:
        return event._replace(
            position=(*event.position, number) if event.position else (),
            key=None if event.key is None else (number, str(event.key[0])),
            old_key=None if event.old_key is None else (number, str(event.old_key[0])),
            transaction=None if event.transaction is None else f"{number} {event.transaction}",
        )

    by_date: dict[str, list[Event]] = {}
    for number, history in enumerate(all_histories):
        for load in history.loads:
            events = by_date.setdefault(load.date, [])
            events += (own(number, event) for event in load.events)
    dates = sorted(by_date)
    positions = [
        event.position for events in by_date.values() for event in events if event.position
    ]
    shared: dict[str, list[Event]] = {date: [] for date in dates}
    for _ in range(truncates):
        shared[chance.choice(dates)].append(Event("truncate", chance.choice(positions)))
    whole = []
    for number, history in enumerate(all_histories):
        of_date = {
            load.date: [
                event._replace(position=(*event.position, number) if event.position else ())
                for event in load.events
            ]
            for load in history.loads
        }
        told_loads = (Load(date, (*of_date.get(date, ()), *shared[date])) for date in dates)
        whole.append(history._replace(loads=tuple(told_loads)))
    return Merged(whole, [Load(date, (*by_date[date], *shared[date])) for date in dates])


def told(event: Event) -> dict[str, Any]:
    """A merged event: the history's number is in its key."""
    key = event.key or event.old_key
    number = key[0] if key else -1

    def bare(whole: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        return None if whole is None else whole[1:]

    text = message(number, event._replace(key=bare(event.key), old_key=bare(event.old_key)))
    return text | {"unit": event.transaction}


def without_nulls(event: Event) -> Event:
    """An event of a source that sends null for what did not change, as what it means."""
    if event.op not in ("update", "upsert"):
        return event
    return event._replace(values=tuple(one for one in event.values if one[1] is not None))


def wanted(all_histories: list[History]) -> tuple[dict[str, list[Row]], list[Counter[str]]]:
    """The rows of the views, with the history's number, and the counts by load."""
    views: dict[str, list[Row]] = {view: [] for view in DATES}
    counts: list[Counter[str]] = [Counter() for _ in all_histories[0].loads]
    for number, history in enumerate(all_histories):
        tables = expected(history.loads, NAMES, ignored=("v3",))
        views["current"] += (
            (number, str(key[0]), *row.values, row.operation, row.eff_start_date, None)
            for key, row in tables.current.items()
        )
        views["history"] += (
            (number, str(key[0]), *values, tag, date, None)
            for date, key, values, tag in tables.history
        )
        views["versions"] += (
            (number, str(key[0]), *values, *rest) for key, values, *rest in tables.versions
        )
        for count, result in zip(counts, tables.results, strict=True):
            count.update(result.counts)
    return views, counts


DATES = {
    "current": "cast(eff_start_date as string), null",
    "history": "cast(business_date as string), null",
    "versions": "cast(eff_start_date as string), cast(eff_end_date as string)",
}
VIEWS = (*DATES, "bitemporal")


def wanted_beliefs(all_histories: list[History]) -> tuple[list[Row], list[Row]]:
    """What was believed after each load of each place, and of what it is asked.

    Not of histories that conflict only across their loads: which event is believed then, is not
    said.
    """
    rows: list[Row] = []
    asked: list[Row] = []
    for number, history in enumerate(all_histories):
        try:
            told_beliefs = list(beliefs(history.loads, NAMES))
        except ConflictError:
            continue
        for date, place, table in told_beliefs:
            asked.append((number, date, place))
            at = ",".join(map(str, place))
            rows += ((number, str(key[0]), *row, date, at) for key, row in table.items())
    return rows, asked


def bitemporal_differences(warehouse: EventWarehouse, meant: list[History]) -> list[Row]:
    rows, asked = wanted_beliefs(meant)
    assert len({row[0] for row in asked}) > 0.9 * len(meant)
    warehouse.told("asked", "number int, known date, place array<bigint>", asked)
    return warehouse.differing(
        "bitemporal",
        "history, k, v1, v2, v3, string(known), concat_ws(',', place)",
        "history int, k string, v1 string, v2 int, v3 string, known string, place string",
        rows,
        """
        inner join asked
            on history = number
            and known_from <= known and (known < known_to or known_to is null)
            and event_position <= place
            and (place < event_end_position or event_end_position is null)
        """,
    )


def differences(warehouse: EventWarehouse, run: Merged) -> dict[str, list[Row]]:
    """Loads everything; by view, rows that are there and should not be, or the other way."""
    counts: list[dict[str, Any]] = []
    for load in run.loads:
        warehouse.land(load.date, map(told, load.events))
        audit = warehouse.load(load.date)
        counts.append({**audit["counts"], "late": warehouse.summary["late"]})
    meant = run.histories
    if warehouse.entity["events"]["null_means"] == "unchanged":
        meant = [mapped(history, without_nulls) for history in meant]
    views, results = wanted(meant)
    wrong = {}
    for view, rows in views.items():
        columns = f"history, k, v1, v2, v3, operation, {DATES[view]}"
        differing = warehouse.differing(view, columns, WANTED, rows)
        if differing:
            wrong[view] = differing
    # it reads the archive, which events that are read again do not have
    is_shown = not hasattr(warehouse, "archives") and warehouse.takes_bitemporal()
    if is_shown and (differing := bitemporal_differences(warehouse, meant)):
        wrong["bitemporal"] = differing
    truncated = any(event.op == "truncate" for load in run.loads for event in load.events)
    for number, result in enumerate(results):
        for name in "IUDNX" if truncated else [*"IUDNX", "late"]:
            if result[name] != counts[number][name]:
                told_counts = (number, name, result[name], counts[number][name])
                wrong.setdefault("counts", []).append(told_counts)
    return wrong


def of_history(wrong: dict[str, list[Row]], number: int) -> list[Row]:
    return [row for view in VIEWS for row in wrong.get(view, []) if row[1] == number]


def shrunk(build: Any, history: History, rounds: int = 12) -> History:
    """The smallest history found that still comes out wrong: smaller ones, many in one run."""
    for _ in range(rounds):
        candidates = []
        for candidate in smaller(history):
            try:
                expected(candidate.loads, NAMES, ignored=("v3",))
            except ConflictError:
                continue
            candidates.append(candidate)
        wrong = differences(build(), merged(candidates, 0, random.Random(0))) if candidates else {}
        failing = [c for n, c in enumerate(candidates) if of_history(wrong, n)]
        if not failing:
            break
        history = min(failing, key=lambda h: sum(len(load.events) for load in h.loads))
    return history


# Most of a run's time goes into planning and compiling its statements, so `make test` has one.
SHORT = ("everything",)


@pytest.mark.parametrize(
    "run",
    [pytest.param(run, id=run.name, marks=[] if run.name in SHORT else FULL) for run in RUNS],
)
def test_views_are_what_the_oracle_says(cursor: Any, schema: str, tmp_path: Path, run: Run) -> None:
    if not ALL:  # statements as wide as these take more time to compile than to run
        for name, value in INTERPRETED.items():
            cursor.execute(f"set {name} = {value}")
    chance = random.Random(run.name)
    knobs = Knobs(**{"truncates": False, **run.knobs})
    stories = list(histories(chance.randrange(10**6), run.count, knobs))

    def build(general: bool = False) -> EventWarehouse:
        return EventWarehouse(
            cursor,
            schema,
            tmp_path,
            run.columns,
            events={"unavailable": MARK, "null_means": run.null_means},
            # a history alone may lack a column
            source={"on_missing_column": "null"} if general else {},
            checkpoint=run.checkpoint,
            general=general,
        )

    wrong = differences(build(), merged(stories, run.truncates, chance))
    if not wrong:
        return
    numbers = sorted(row[1] for view in VIEWS for row in wrong.get(view, []))
    if not numbers or run.truncates:
        pytest.fail(f"{ {view: rows[:5] for view, rows in wrong.items()} }")
    smallest = shrunk(lambda: build(general=True), stories[numbers[0]])
    again = differences(build(general=True), merged([smallest], 0, chance))
    pytest.fail(
        f"{len(set(numbers))} of {run.count} histories are wrong; the smallest found:\n"
        f"{shown(smallest)}\n{again or wrong}"
    )


def test_enough_histories() -> None:
    assert sum(run.count for run in RUNS) == HISTORIES >= 150


def update(position: Position, old: str, new: str, transaction: str | None = None) -> Event:
    return Event("update", position, transaction, (old,), (new,))


# Loads whose second one is late, so that what is believed of keys falls into eras.
WERE_WRONG = {
    "a key change sent again, of a key to which a late row came": [
        [update((10, 2), "3", "1"), update((10, 3), "3", "1")],
        [Event("read", (2, 0), None, None, ("3",), (("v1", "a"), ("v2", 0), ("v3", "b")))],
    ],
    "an insert queues behind a row, since its transaction has deleted another key before": [
        [
            Event("insert", (2, 1), "t2", None, ("1",), (("v1", "c"),)),
            Event("delete", (3, 2), "t3", ("1",), None),
            Event("insert", (3, 3), "t3", None, ("5",), (("v1", "b"),)),
            update((3, 4), "5", "4", "t3"),
            update((4, 1), "4", "5", "t4"),
            Event("insert", (4, 2), "t3", None, ("5",), (("v1", "b"), ("v2", 1))),
            update((4, 3), "5", "4", "t3"),
            update((4, 4), "4", "5", "t4"),
        ],
        [update((1, 0), "7", "8")],
    ],
}


@pytest.mark.full
@pytest.mark.parametrize("loads", WERE_WRONG.values(), ids=WERE_WRONG)
def test_what_was_believed_wrong(
    cursor: Any, schema: str, tmp_path: Path, loads: list[list[Event]]
) -> None:
    for name, value in INTERPRETED.items():
        cursor.execute(f"set {name} = {value}")
    warehouse = EventWarehouse(
        cursor, schema, tmp_path, COLUMNS, events={"unavailable": MARK}, checkpoint=NEVER
    )
    warehouse.node["config"]["meta"]["spark_cdc"]["source"]["on_missing_column"] = "null"
    dated = zip(("2024-05-01", "2024-05-02"), map(tuple, loads), strict=True)
    history = History(NAMES, tuple(Load(date, events) for date, events in dated))
    assert differences(warehouse, merged([history], 0, random.Random(0))) == {}
