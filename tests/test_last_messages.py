"""Loads of Debezium's messages that stage only the last message of each key.

A load does so if the one before it had several events per key and was plain. What comes out must
be what comes out of all messages, so random histories are loaded that way and compared with the
oracle; a load in which more than the last message counts has to find that out.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from event_histories import Knobs, histories, mapped
from event_oracle import Event, Load
from event_warehouse import EventWarehouse, column
from scale import ALL, HISTORIES
from shop import INTERPRETED
from spark_cdc.jinja_bridge import CompilerError
from test_event_histories import ALWAYS, COLUMNS, MARK, NEVER, OPS, PLAIN, differences, merged

pytestmark = pytest.mark.proves("change events")
FULL = pytest.mark.full

CODES = {OPS["insert"]: "c", OPS["update"]: "u", OPS["delete"]: "d", OPS["control"]: "m"}


class DebeziumWarehouse(EventWarehouse):
    """Takes the histories' messages as Debezium's; each load but the first tries the short way."""

    archives = (False,)  # there is no bitemporal view

    def __init__(
        self,
        cursor: Any,
        schema: str,
        folder: Path,
        *,
        numbers: dict[tuple[int, ...], int] | None = None,
        checkpoint: dict[str, Any] | None = None,
        columns: list[dict[str, Any]] = COLUMNS,
        **events: Any,
    ) -> None:
        super().__init__(
            cursor,
            schema,
            folder,
            columns,
            events={"format": "debezium", "archive": False, "unavailable": MARK, **events},
            checkpoint=checkpoint,
        )
        self.numbers = numbers or {}
        self.ways: list[str] = []  # of one load after the other: all, last, or last and then all
        self.superseded = 0  # messages that were left out at first
        self.always = True
        self.replace("_repeats_keys", lambda macro, *words: self.always or macro(*words))
        self.replace("_land_load", self._remember_way)

    def _remember_way(self, land_load: Any, entity: dict[str, Any], *words: Any) -> Any:
        is_last = entity["landed_as"] is not None
        self.ways[-1] = "last" if is_last else "both" if self.ways[-1] else "all"
        return land_load(entity, *words)

    def load(self, date: str) -> dict[str, Any]:
        self.ways.append("")
        audit = super().load(date)
        memo = self.macros._memo()
        self.superseded += sum(count for name, count in memo.items() if "superseded" in name)
        return audit

    def land(self, date: str, messages: Iterable[Any]) -> None:
        super().land(date, map(self._told, messages))

    def _told(self, message: Any) -> Any:
        if isinstance(message, str) or "op" in message:
            return message
        number = self.numbers.get(tuple(message["at"]))
        return envelope(
            CODES[message["what"]],
            number,
            message.get("new"),
            message.get("old"),
            message["unit"],
        )

    def staged(self) -> int:
        """How many events the second load has written down."""
        self.cursor.execute(f"select count(*) from {self.events} where load_id like '20240502%'")
        return int(self.cursor.fetchone()[0])


def envelope(
    op: str,
    lsn: int | None,
    after: dict[str, Any] | None = None,
    before: dict[str, Any] | None = None,
    transaction: str | None = None,
    **source: Any,
) -> dict[str, Any]:
    """A message as Debezium writes it for PostgreSQL."""
    origin = {"connector": "postgresql", "db": "shop", "schema": "public", "table": "moves"}
    told = origin | {"snapshot": "false", "lsn": lsn, "txId": transaction} | source
    return {"op": op, "before": before, "after": after, "source": told}


def without_upsert(event: Event) -> Event:
    """Debezium has none."""
    return event._replace(op="update") if event.op == "upsert" else event


def numbered(loads: list[Load]) -> dict[tuple[int, ...], int]:
    """A number for each position, higher from load to load, as in the log of one database.

    The last part of a position is the number of its history. Late events keep their place.
    """
    first: dict[tuple[int, ...], str] = {}
    for load in loads:
        for event in load.events:
            first.setdefault(event.position, load.date)
    found: list[tuple[str, tuple[int, ...]]] = []
    earliest: dict[int, str] = {}  # of a history: when something that is not before was delivered
    for place in sorted((place for place in first if place), reverse=True):
        earliest[place[-1]] = min(first[place], earliest.get(place[-1], first[place]))
        found.append((earliest[place[-1]], place))
    return {place: number for number, (_, place) in enumerate(sorted(found), 1)}


NO_READS: dict[str, Any] = {"truncates": False, "snapshots": False}


@pytest.mark.parametrize(
    ("knobs", "checkpoint", "ways"),
    [
        pytest.param(PLAIN, NEVER, {"last"}, marks=pytest.mark.integration),
        pytest.param(PLAIN, ALWAYS, {"last"}, marks=FULL),
        pytest.param({"partial": False}, NEVER, {"both"}, marks=FULL),
        pytest.param({}, NEVER, {"both"}, marks=FULL),
    ],
    ids=["plain", "plain, each a checkpoint", "moves, late, repeated", "everything"],
)
def test_views_are_what_the_oracle_says(
    cursor: Any,
    schema: str,
    tmp_path: Path,
    knobs: dict[str, Any],
    checkpoint: dict[str, Any],
    ways: set[str],
) -> None:
    if not ALL:
        for name, value in INTERPRETED.items():
            cursor.execute(f"set {name} = {value}")
    chance = random.Random(str(sorted(knobs.items())))
    told = Knobs(**{**NO_READS, **knobs})
    stories = [
        mapped(history, without_upsert)
        for history in histories(chance.randrange(10**6), max(32, HISTORIES * 8 // 100), told)
    ]
    run = merged(stories, 0, chance)
    warehouse = DebeziumWarehouse(
        cursor, schema, tmp_path, numbers=numbered(run.loads), checkpoint=checkpoint
    )
    wrong = differences(warehouse, run)
    assert not wrong, {view: rows[:5] for view, rows in wrong.items()}
    assert warehouse.ways[0] == "all"
    assert ways <= set(warehouse.ways[1:])
    assert warehouse.superseded > 0


# --- one case each ------------------------------------------------------------------------------

PEOPLE = [column("id", "int", role="key"), column("name", "string"), column("age", "int")]


def row(id: int | None, name: str | None = None, age: Any = 1) -> dict[str, Any]:
    return {"id": id, "name": name, "age": age}


@pytest.fixture
def people(cursor: Any, schema: str, tmp_path: Path) -> DebeziumWarehouse:
    """Two people, of whom the next load stages the last messages."""
    warehouse = DebeziumWarehouse(cursor, schema, tmp_path, columns=PEOPLE)
    first = [envelope("c", 1, row(1, "a"), None, "t1"), envelope("c", 2, row(2, "b"), None, "t1")]
    warehouse.land("2024-05-01", first)
    warehouse.load("2024-05-01")
    return warehouse


# Plain changes: three of 1, of which one counts, and a new row.
CHANGES = [
    envelope("u", 11, row(1, "x"), None, "t2"),
    envelope("u", 12, row(1, "y"), None, "t3"),
    envelope("u", 13, row(1, "z"), None, "t4"),
    envelope("c", 14, row(3, "c"), None, "t5"),
]


def after(warehouse: DebeziumWarehouse, *more: Any) -> set[tuple[Any, ...]]:
    """The rows that a second load leaves."""
    warehouse.land("2024-05-02", [*CHANGES, *more])
    warehouse.load("2024-05-02")
    return set(warehouse.rows("current", "id, name"))


def test_only_the_last_message_of_a_key_is_staged(people: DebeziumWarehouse) -> None:
    deletes = [envelope("d", 21, None, row(2), "t6"), "null"]
    assert after(people, *deletes) == {(1, "z"), (3, "c")}
    assert people.ways == ["all", "last"]
    counts = {name: count for name, count in people.audit["counts"].items() if count}
    assert counts == {"I": 1, "U": 1, "D": 1}
    record = people.record()["events"]
    assert (record["event_count"], record["controls"], record["repeats"]) == (6, 1, True)
    assert people.audit["rows_in"] == 6


def test_a_message_with_its_schema_is_read_below_payload(people: DebeziumWarehouse) -> None:
    people.land("2024-05-02", [{"op": None, "payload": one} for one in CHANGES])
    people.load("2024-05-02")
    assert set(people.rows("current", "id, name")) == {(1, "z"), (2, "b"), (3, "c")}
    assert people.ways == ["all", "last"]
    assert people.record()["events"]["event_count"] == 4


def test_what_comes_twice_counts_once(people: DebeziumWarehouse) -> None:
    assert after(people, *CHANGES) == {(1, "z"), (2, "b"), (3, "c")}
    assert people.ways == ["all", "last"]
    assert people.record()["events"]["event_count"] == 8


@pytest.mark.parametrize(
    ("more", "rows"),
    [
        # the value of the message before it
        ([envelope("u", 21, {"id": 1, "name": MARK, "age": 2}, None, "t6")], {(1, "z"), (2, "b")}),
        ([envelope("u", 21, {"id": 1, "age": 2}, None, "t6")], {(1, "z"), (2, "b")}),
        # a key that changes
        ([envelope("u", 21, row(4, "z"), row(1), "t6")], {(4, "z"), (2, "b")}),
        # and one that is changed by a delete and an insert; 2 is what 1 was
        (
            [
                envelope("d", 21, None, row(1), "t6"),
                envelope("c", 22, row(2, "z"), None, "t6"),
                envelope("d", 23, None, row(2), "t6"),
                envelope("c", 24, row(1, "b"), None, "t6"),
            ],
            {(1, "b"), (2, "z")},
        ),
        # a row of a snapshot, and a truncate
        ([envelope("r", 21, row(2, "r"), None, "t6", snapshot="true")], {(1, "z"), (2, "r")}),
        ([envelope("t", 21, None, None, "t6")], set()),
        # an event that is late, and superseded
        ([envelope("u", 1, row(1, "old"), None, "t1")], {(1, "z"), (2, "b")}),
    ],
    ids=["mark", "absent", "moved", "swapped", "read", "truncate", "late"],
)
def test_where_more_counts_all_are_staged(
    people: DebeziumWarehouse, more: list[Any], rows: set[tuple[Any, ...]]
) -> None:
    found = after(people, *more)
    assert people.ways == ["all", "both"]
    assert found - {(3, "c")} == rows
    assert people.record()["events"]["event_count"] == people.staged() == 4 + len(more)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{", "not a JSON object"),
        (json.dumps(CHANGES[0]) * 2, "more than one JSON object in a message"),
        pytest.param(envelope("x", 21, row(1)), "unknown operation 'x'", marks=FULL),
        pytest.param(envelope("u", None, row(1)), "order of events is missing", marks=FULL),
        pytest.param(envelope("u", 21, row(None)), "as int not null", marks=FULL),
        (envelope("u", 21, row(1, "q", "much")), "age: 'much' is not accepted as int"),
        (envelope("u", 13, row(1, "other")), "different events of one key have the position"),
        (
            envelope("u", 21, row(1), None, "t6", table="others"),
            "are of 2 tables",
        ),
        (envelope("u", 9, row(1), None, "t6", table="others"), "are of 2 tables"),
    ],
)
def test_what_is_refused_is_refused_as_ever(
    people: DebeziumWarehouse, bad: Any, reason: str
) -> None:
    """All messages are staged then, so that the message counts what there is."""
    with pytest.raises(CompilerError) as error:
        after(people, bad)
    assert reason in str(error.value)
    assert people.ways == ["all", "both"]
    assert people.staged() == 5
    assert set(people.rows("current", "id, name")) == {(1, "a"), (2, "b")}


def test_a_bad_value_that_is_superseded_is_not_looked_at(people: DebeziumWarehouse) -> None:
    """It is checked by key, position and operation: docs/formats/debezium.md."""
    superseded = envelope("u", 10, row(1, "q", "much"), None, "t1")
    assert after(people, superseded) == {(1, "z"), (2, "b"), (3, "c")}
    assert people.ways == ["all", "last"]


def test_entities_that_are_loaded_together_are_told_apart(people: DebeziumWarehouse) -> None:
    """In one run of dbt their loads of a date have the same name."""
    ctx, load = people.macros._context_of_model(), {"load_id": "20240502-e-0a935ca6"}
    other = ctx | {"entity": ctx["entity"] | {"name": "other"}}
    note = people.macros._superseded_note
    assert len({note(ctx, load), note(other, load), note(ctx | {"schema": "dev"}, load)}) == 3


@pytest.mark.integration
def test_quarantined_messages_leave_the_one_before(people: DebeziumWarehouse) -> None:
    people.node["config"]["meta"]["spark_cdc"]["on_reject"] = "quarantine"
    assert after(people, envelope("u", 21, row(1, "q", "much"), None, "t6")) == {
        (1, "z"),
        (2, "b"),
        (3, "c"),
    }
    assert people.ways == ["all", "both"]
    assert people.audit["counts"]["R"] == 1


@FULL
@pytest.mark.parametrize(
    "events", [{"archive": True}, {"table": "moves"}, {"order_fields": ["ts_ms"]}], ids=str
)
def test_where_others_are_read_later_all_are_staged(
    cursor: Any, schema: str, tmp_path: Path, events: dict[str, Any]
) -> None:
    warehouse = DebeziumWarehouse(cursor, schema, tmp_path, columns=PEOPLE, **events)
    for number, date in enumerate(("2024-05-01", "2024-05-02")):
        told = [change | {"ts_ms": 10 * number + at} for at, change in enumerate(CHANGES)]
        warehouse.land(date, told)
        warehouse.load(date)
    assert warehouse.ways == ["all", "all"]


@pytest.mark.integration
def test_a_load_of_many_events_per_key_makes_the_next_one_short(
    cursor: Any, schema: str, tmp_path: Path
) -> None:
    """Three per key; one per key ends it, and so do few events (_is_short_stream())."""
    warehouse = DebeziumWarehouse(cursor, schema, tmp_path, columns=PEOPLE)
    warehouse.always = False
    warehouse.replace("_is_short_stream", lambda macro, count: count < 30)
    for day, (count, keys, expected, repeats) in enumerate(
        [
            (29, 9, "all", False),
            (30, 9, "all", True),
            (30, 10, "last", True),
            (31, 11, "last", False),
        ],
        1,
    ):
        date = f"2024-05-0{day}"
        warehouse.land(
            date,
            (
                envelope("u", 100 * day + at, row(at % keys, str(at)), None, f"t{at}")
                for at in range(count)
            ),
        )
        warehouse.load(date)
        assert warehouse.ways[-1] == expected, date
        assert warehouse.record()["events"].get("repeats", False) is repeats, date
    assert warehouse.rows("current", "count(*)") == {(11,): 1}
