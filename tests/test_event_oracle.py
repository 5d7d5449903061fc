"""The oracle of change events against the resolver's cases, cases of several loads, and a database.

What one load does to a row is in resolver_cases.yml, which the resolver's SQL and the oracle have
to agree with; here are the cases that need more loads, or what those do not have.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from event_histories import History, Knobs, histories, random_story, shown, shrink
from event_oracle import ConflictError, CurrentRow, Event, Load, State, expected
from test_resolver_cases import FIRST, LOADS, PATHS
from test_resolver_cases import Load as Path

pytestmark = [pytest.mark.proves("harness"), pytest.mark.integration]

DAY = "2024-05-01"
NEXT = "2024-05-02"


def values(v: Any = None, w: Any = None) -> tuple[tuple[str, Any], ...]:
    """Both columns; `...` leaves one out."""
    return tuple((name, value) for name, value in (("v", v), ("w", w)) if value is not ...)


def at(position: Any) -> tuple[int, ...]:
    return position if isinstance(position, tuple) else (position,)


def insert(position, key, *sent, tx=None, unavailable=()):
    return Event("insert", at(position), tx, None, (key,), values(*sent), unavailable)


def update(position, key, *sent, tx=None, unavailable=(), op="update"):
    return Event(op, at(position), tx, None, (key,), values(*sent), unavailable)


def move(position, old, key, *sent, tx=None, unavailable=()):
    return Event("update", at(position), tx, (old,), (key,), values(*sent), unavailable)


def delete(position, key, tx=None):
    return Event("delete", at(position), tx, (key,))


def read(position, key, *sent):
    return Event("read", at(position), None, None, (key,), values(*sent))


def truncate(position, tx=None):
    return Event("truncate", at(position), tx)


KEPT = (..., ...)


def after(*loads: list[Event], columns=("v", "w")) -> dict[Any, Any]:
    """Rows after the loads: the values of both columns by key."""
    state = State(columns)
    for number, events in enumerate(loads, start=1):
        # No order of arrival plays a part.
        mixed = random.Random(number).sample(events, len(events))
        state.apply_load(mixed, f"2024-05-{number:02}")
    return {key[0]: row.values for key, row in state.current.items()}


BASE = [insert(1, "a", 1, "x"), insert(2, "b", 2, "y")]

CASES = {
    "delete of an unknown key, then an older upsert": (
        [[delete(5, "a")], [update(3, "a", 1, 1)]],
        {},
    ),
    "late": ([BASE, [update(5, "a", 5, 5)], [update(4, "a", 4, 4)]], {"a": (5, 5), "b": (2, "y")}),
    "late after a delete": ([BASE, [delete(5, "a")], [update(4, "a", 4, 4)]], {"b": (2, "y")}),
    "again": ([BASE, [delete(5, "a")], BASE, BASE], {"b": (2, "y")}),
    # key changes
    "there and back over two loads": (
        [BASE, [move(3, "a", "c", *KEPT)], [move(4, "c", "a", *KEPT)]],
        {"a": (1, "x"), "b": (2, "y")},
    ),
    "onto a living key": ([BASE, [move(3, "a", "b", *KEPT)]], {"b": (1, "x")}),
    "old half late": (
        [BASE, [update(9, "a", 9, 9)], [move(5, "a", "c", 5, ...)]],
        {"a": (9, 9), "b": (2, "y"), "c": (5, None)},
    ),
    "new half late": ([BASE, [update(9, "b", 9, 9)], [move(5, "a", "b", 5, 5)]], {"b": (9, 9)}),
    # within a transaction
    "swap without a transaction: the last one wins": (
        [BASE, [move(3, "a", "b", *KEPT), move(4, "b", "a", *KEPT)]],
        {"a": (1, "x")},
    ),
    "swap as deletes and inserts": (
        [
            BASE,
            [
                delete(3, "a", "t"),
                insert(3, "b", 1, ..., tx="t", unavailable=("w",)),
                delete(4, "b", "t"),
                insert(4, "a", 2, ..., tx="t", unavailable=("w",)),
            ],
        ],
        {"a": (2, "y"), "b": (1, "x")},
    ),
    "ring of three": (
        [
            [*BASE, insert(3, "c", 3, "z")],
            [
                move(4, "a", "b", *KEPT, tx="t"),
                move(5, "b", "c", *KEPT, tx="t"),
                move(6, "c", "a", *KEPT, tx="t"),
            ],
        ],
        {"a": (3, "z"), "b": (1, "x"), "c": (2, "y")},
    ),
    "id + 1 at one position": (
        [
            [insert(n, n, n, str(n)) for n in range(1, 5)],
            [move(10, n, n + 1, *KEPT) for n in range(1, 5)],
        ],
        {n + 1: (n, str(n)) for n in range(1, 5)},
    ),
    "inserted again, then deleted": (
        [BASE, [insert(3, "a", 3, 3, tx="t"), delete(4, "a", "t")]],
        {"b": (2, "y")},
    ),
    "inserted before the old row is deleted": (
        [
            BASE,
            [
                insert(3, "b", 1, "x", tx="t"),
                delete(4, "a", "t"),
                delete(5, "b", "t"),
                insert(6, "a", 2, "y", tx="t"),
            ],
        ],
        {"a": (2, "y"), "b": (1, "x")},
    ),
    "sent again in a transaction": (
        [
            [
                insert(1, "a", 1, "x", tx="t"),
                insert(2, "a", 1, "x", tx="t"),
                delete(3, "a", "t"),
                insert(4, "b", 1, "x", tx="t"),
                move(5, "b", "c", 1, "x", tx="t"),
                move(6, "b", "c", 1, "x", tx="t"),
                delete(7, "c", "t"),
            ]
        ],
        {},
    ),
    "sent again in a later load": (
        [
            [
                insert(1, "a", 1, "x", tx="t"),
                insert(2, "b", 2, "y", tx="t"),
                move(3, "b", "c", 2, "y", tx="t"),
            ],
            [
                insert(4, "a", 1, "x", tx="t"),
                move(5, "b", "c", *KEPT, tx="t"),
                delete(6, "a", "t"),
                delete(7, "c", "t"),
            ],
        ],
        {},
    ),
    "a transaction's name comes again": (
        [
            [
                insert(1, "a", 1, "x", tx="t"),
                delete(2, "a", "u"),
                move(3, "z", "a", 2, "y", tx="t"),
                delete(4, "a", "t"),
            ]
        ],
        {},
    ),
    # second half of a key change
    "delete and insert at one position": (
        [BASE, [delete(3, "a", "t"), insert(3, "c", 9, ..., tx="t", unavailable=("w",))]],
        {"b": (2, "y"), "c": (9, "x")},
    ),
    "through a chain": (
        [
            BASE,
            [
                delete(3, "a"),
                insert(3, "c", 9, ..., unavailable=("w",)),
                delete(4, "c"),
                insert(4, "d", ..., ..., unavailable=("v", "w")),
            ],
        ],
        {"b": (2, "y"), "d": (9, "x")},
    ),
    "not of another transaction": (
        [BASE, [delete(3, "a", "t"), insert(3, "c", 9, ..., tx="u", unavailable=("w",))]],
        {"b": (2, "y"), "c": (9, None)},
    ),
    "a second half brings what is absent too": (
        [BASE, [delete(3, "a", "t"), insert(3, "c", ..., ..., tx="t", unavailable=("w",))]],
        {"b": (2, "y"), "c": (1, "x")},
    ),
    "an insert without a value is an upsert": (
        [BASE, [insert(3, "a", ..., "z", unavailable=("v",))]],
        {"a": (1, "z"), "b": (2, "y")},
    ),
    # truncates
    "older than a truncate": (
        [BASE, [truncate(5)], [insert(4, "c", 1, 1), update(5, "a", 1, 1)]],
        {},
    ),
    "a late truncate": ([BASE, [update(9, "a", 9, 9)], [truncate(5)]], {"a": (9, 9)}),
    "a truncate twice": (
        [BASE, [truncate(5)], [insert(6, "a", 6, 6)], [truncate(5)]],
        {"a": (6, 6)},
    ),
    # snapshots
    "snapshot again": (
        [[read(0, "a", 1, 1)], [update(1, "a", 2, 2)], [read(0, "a", 3, 3)]],
        {"a": (2, 2)},
    ),
    "snapshot of a deleted key": (
        [[read(0, "a", 1, 1)], [delete(1, "a")], [read(0, "a", 3, 3)]],
        {},
    ),
    "snapshot with a place": (
        [[update(1, "a", 2, 2), read(3, "a", 1, 1), update(2, "a", 3, 3)]],
        {"a": (1, 1)},
    ),
    "snapshot with a place, again": (
        [
            [read(1, "a", 1, 1), read(1, "b", 1, 1), delete(2, "b"), update(2, "a", 2, ...)],
            [read(9, "a", 3, 3), read(9, "b", 4, 4)],
            [update(8, "a", 5, 5), read(1, "b", 1, 1)],
        ],
        {"a": (3, 3), "b": (4, 4)},
    ),
}


# The oracle has no rejected events, other unique keys or rows without a key.
OF_THE_ORACLE = {
    path: cases
    for path, cases in PATHS.items()
    if LOADS[path].key == ("id",) and not LOADS[path].events and path != "rejected events"
}
NAMES = ("name", "city")
PEOPLE = ((1, "Alice", "Aachen"), (2, "Bob", "Bonn"), (3, "Carol", None), (4, "Dora", "Dresden"))


def people(path: Path) -> State:
    """The table before the cases of a path."""
    state = State(NAMES)
    if path.date == FIRST:
        return state
    came = [
        Event("insert", (10 * id if id < 4 else 39,), None, None, (id,), (("name", n), ("city", c)))
        for id, n, c in PEOPLE
    ]
    state.apply_load([*came, Event("delete", (40,), None, (4,))], "2024-03-01")
    if path.since:
        state.apply_load([Event("delete", (60,), None, (1,))], "2024-03-02")
    if path.summary.get("truncated") and not path.summary.get("truncates"):
        state.truncated = (1, 60)
    return state


def sent(event: dict[str, Any]) -> Event:
    """An event of resolver_cases.yml; a row of a snapshot has no place in the log."""
    op, at = event["op"], (0,) if event["op"] == "read" else (event["at"],)
    key, old = ((event[name],) if name in event else None for name in ("id", "old"))
    if op in ("delete", "truncate", "control"):
        return Event(op, at, event.get("tx"), key if op == "delete" else None)
    given = {name: event[name] for name in NAMES if name in event}
    unavailable = tuple(name for name, value in given.items() if value == "?")
    known = tuple(item for item in given.items() if item[0] not in unavailable)
    return Event(op, at, event.get("tx"), old, key, known, unavailable)


@pytest.mark.parametrize(
    ("path", "case"),
    [
        pytest.param(path, case, id=case["name"])
        for path, cases in OF_THE_ORACLE.items()
        for case in cases
        if not any(row["operation"] == "R" and "id" in row for row in case["rows"])
    ],
)
def test_the_oracle_says_what_the_resolver_has_to(path, case):
    load = LOADS[path]
    events = [sent(event) for event in case["events"] if "problem" not in event]
    result = people(load).apply_load(events, f"{load.date:%Y-%m-%d}")
    found = {
        key[0]: (tag, *result.current[key].values)
        for key, tag in result.tags.items()
        if tag in ("I", "U", "N")
    }
    found |= {key[0]: (tag, *row) for _, key, row, tag in result.history if tag == "D"}
    wanted = {row["id"]: row for row in case["rows"] if row["operation"] in ("I", "U", "D", "N")}
    assert found.keys() == wanted.keys()
    for id, row in wanted.items():
        values = dict(zip(("operation", *NAMES), found[id], strict=True))
        assert {name: values[name] for name in values if name in row} == {
            name: row[name] for name in values if name in row
        }


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    loads, rows = CASES[case]
    assert after(*loads) == rows


def test_composite_keys_change_in_one_part():
    state = State(("v",))
    state.apply_load([Event("insert", (1,), None, None, ("p", 1), (("v", 1),))], DAY)
    state.apply_load([Event("update", (2,), None, ("p", 1), ("q", 1))], NEXT)
    assert state.current == {("q", 1): CurrentRow((1,), "I", NEXT)}


def tags(*events: Event) -> dict[str, str]:
    state = State(("v", "w"))
    state.apply_load([*BASE, insert(3, "z", 0, 0)], DAY)
    result = state.apply_load(events, NEXT)
    return {key[0]: tag for key, tag in result.tags.items()}


def test_tags():
    untouched = {"b": "X", "z": "X"}
    assert tags() == {"a": "X"} | untouched
    assert tags(update(9, "a", 1, "x")) == {"a": "N"} | untouched
    assert tags(update(9, "a", "1", "x")) == {"a": "U"} | untouched
    assert tags(delete(9, "a")) == {"a": "D"} | untouched
    assert tags(delete(9, "a"), insert(10, "a", 1, "x")) == {"a": "N"} | untouched
    assert tags(delete(9, "a"), insert(10, "a", 2, "x")) == {"a": "U"} | untouched
    assert tags(insert(9, "n", 1, 1)) == {"a": "X", "n": "I"} | untouched
    assert tags(insert(9, "n", 1, 1), delete(10, "n")) == {"a": "X"} | untouched
    assert tags(move(9, "a", "n", *KEPT)) == {"a": "D", "n": "I"} | untouched
    assert tags(move(9, "a", "n", *KEPT), move(10, "n", "a", *KEPT)) == {"a": "N"} | untouched
    assert tags(truncate(9), insert(10, "a", 1, "x")) == {"a": "N", "b": "D", "z": "D"}
    assert tags(update(1, "a", 7, 7)) == {"a": "X"} | untouched


def test_ignored_columns_change_without_an_update():
    state = State(("v", "w"), ignored=("w",))
    state.apply_load(BASE, DAY)
    result = state.apply_load([update(5, "a", ..., "new")], NEXT)
    assert result.current["a",] == CurrentRow((1, "new"), "N", DAY)
    assert result.history == []


def test_counts():
    state = State(("v", "w"))
    state.apply_load(BASE, DAY)
    late = update(1, "a", 5, 5)
    result = state.apply_load([late, late, update(9, "a", 6, 6), Event("control")], NEXT)
    counts = {name: number for name, number in result.counts.items() if number}
    assert counts == {"events": 4, "control": 1, "repeated": 1, "late": 2, "U": 1, "X": 1}


def test_history_and_versions():
    loads = [
        Load(DAY, tuple(BASE)),
        Load(NEXT, (delete(3, "a"),)),
        Load("2024-05-03", (insert(4, "a", 4, ...), update(5, "b", 5, ...))),
        Load("2024-05-03", (insert(4, "a", 4, ...),)),  # takes the place of the one before
    ]
    tables = expected(loads, ("v", "w"))
    assert tables.history[2:] == [
        (NEXT, ("a",), (1, "x"), "D"),
        ("2024-05-03", ("a",), (4, None), "I"),
    ]
    assert sorted(tables.versions) == [
        (("a",), (1, "x"), "I", DAY, NEXT),
        (("a",), (4, None), "I", "2024-05-03", None),
        (("b",), (2, "y"), "I", DAY, None),
    ]
    assert tables.current["b",] == CurrentRow((2, "y"), "X", DAY)


@pytest.mark.parametrize(
    "events",
    [
        [update(5, "a", 1, 1), update(5, "a", 2, 2)],
        [update(5, "a", 1, 1), delete(5, "a")],
        [move(5, "a", "c", 1, 1), move(5, "b", "c", 2, 2)],
        [move(5, "a", "c", 1, 1), move(5, "a", "d", 1, 1)],
    ],
)
def test_conflicts(events):
    state = State(("v", "w"))
    state.apply_load(BASE, DAY)
    with pytest.raises(ConflictError) as error:
        state.apply_load(events, NEXT)
    assert len(error.value.conflicts) == 1
    # What is late or truncated anyway does no harm.
    state.apply_load([*events, truncate(6)], NEXT)
    state.apply_load(events, "2024-05-03")
    assert not state.current


def test_a_tombstone_is_forgotten_after_its_horizon():
    for day, rows in (
        ("2024-05-11", {}),
        ("2024-05-12", {("a",): CurrentRow((1, "x"), "I", "2024-05-12")}),
    ):
        state = State(("v", "w"), tombstone_days=10)
        state.apply_load([*BASE[:1], delete(2, "a")], DAY)
        state.apply_load(BASE[:1], day)
        assert state.current == rows


def test_the_oracle_agrees_with_the_database():
    """Where everything is delivered in its load, and transactions are known."""
    chance = random.Random(7)
    for parts in (1, 2):
        knobs = Knobs(
            late=False,
            odd=0,
            unknown_transactions=False,
            key_parts=parts,
            one_position=True,
            resent=False,
        )
        for _ in range(10_000):
            history, states = random_story(chance, knobs)
            state = State(history.columns)
            for load, rows in zip(history.loads, states, strict=True):
                state.apply_load(load.events, load.date)
                found = {key: row.values for key, row in state.rows.items()}
                assert found == rows, shown(history)


@pytest.mark.parametrize(("key_changes", "at_most"), [(False, 0), (True, 80)])
def test_what_is_sent_again_changes_nothing(key_changes, at_most):
    """Of whole rows; but the first half of a swap that comes again behind the second takes another
    row than it says, and a delete that comes again one that was queueing."""
    chance = random.Random(11)
    knobs = Knobs(
        late=False, odd=0, partial=False, unknown_transactions=False, key_changes=key_changes
    )
    wrong = []
    for _ in range(10_000):
        history, states = random_story(chance, knobs)
        state = State(history.columns)
        for load, rows in zip(history.loads, states, strict=True):
            state.apply_load(load.events, load.date)
            if {key: row.values for key, row in state.rows.items()} != rows:
                wrong.append(shown(history))
                break
    assert len(wrong) <= at_most, min(wrong, key=len)


def test_histories_hold_every_case():
    found: dict[str, int] = {}
    for history in histories(3, 3_000):
        result = expected(history.loads, history.columns)
        names = {name for load in result.results for name, number in load.counts.items() if number}
        events = [event for load in history.loads for event in load.events]
        names |= {event.op for event in events}
        names |= {"several loads"} if len(history.loads) > 1 else set()
        names |= {
            "key change" for event in events if event.key and event.old_key not in (None, event.key)
        }
        names |= {"unavailable" for event in events if event.unavailable}
        names |= {
            "absent"
            for event in events
            if event.op == "update" and len(event.values) + len(event.unavailable) < 3
        }
        sent = {event._replace(position=()) for event in events if event.op != "read"}
        names |= {"again"} if len(sent) < sum(event.op != "read" for event in events) else set()
        names |= {"second half" for event in events if event.op == "insert" and event.unavailable}
        for name in names:
            found[name] = found.get(name, 0) + 1
    wanted = "I U D N X late repeated control insert update upsert delete truncate read key change"
    for name in [
        *wanted.split()[:-2],
        "key change",
        "unavailable",
        "absent",
        "second half",
        "again",
    ]:
        assert found[name] > 50, name


def test_shrinking_finds_a_small_history():
    """A resolver that forgets that a swap needs both its rows."""

    def wrong(history: History) -> bool:
        blind = tuple(
            load._replace(events=tuple(event._replace(transaction=None) for event in load.events))
            for load in history.loads
        )
        return (
            expected(blind, history.columns).current
            != expected(history.loads, history.columns).current
        )

    failing = [history for history in histories(5, 500) if wrong(history)]
    assert failing
    for history in failing[:5]:
        small = shrink(history, wrong)
        assert wrong(small)
        assert sum(len(load.events) for load in small.loads) <= 4, shown(small)
        assert len(small.columns) == 1
        assert "load" in shown(small)
