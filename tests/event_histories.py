"""Random histories of change events, for comparing the resolver with the oracle, and a shrinker.

A small table is changed transaction by transaction as a database would, with few keys and many
events; then its events are dealt to loads, some late, some twice, in any order. Each history has a
character of its own (whether keys change and how that is told, which columns are left out, whether
transactions are known), so that plain ones occur as well as those with everything at once. Some
histories are odd on purpose: no database could have written them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from event_oracle import ConflictError, Event, Key, Load, Position

VALUES: dict[str, tuple[Any, ...]] = {
    "v1": (None, "", "a", "b", "c"),
    "v2": (None, 0, 1, -1),
    "v3": (None, "x", "y"),
}


class History(NamedTuple):
    """Loads of one table; columns are those beside the key."""

    columns: tuple[str, ...]
    loads: tuple[Load, ...]


@dataclass(frozen=True)
class Knobs:
    """What histories may hold; a switch that is on (or a share above 0) does so in some of them.

    keys: number of keys. key_parts: 1 for (n,), 2 for (text, n), where a key change may concern one
    part. transactions, loads: at most. one_position: rows of a swap or `id = id + 1` may all have
    the position of their statement. odd: share of histories that no database would write.
    """

    keys: int = 5
    key_parts: int = 1
    transactions: int = 12
    loads: int = 4
    columns: int = 3
    key_changes: bool = True
    splits: bool = True
    partial: bool = True
    truncates: bool = True
    snapshots: bool = True
    controls: bool = True
    late: bool = True
    repeats: bool = True
    unknown_transactions: bool = True
    one_position: bool = False
    odd: float = 0.15
    first_day: str = "2024-05-01"


DEFAULT = Knobs()


def random_history(chance: random.Random, knobs: Knobs = DEFAULT) -> History:
    """One history, by chance; its loads never conflict."""
    return _Story(chance, knobs).history()


def random_story(
    chance: random.Random, knobs: Knobs = DEFAULT
) -> tuple[History, list[dict[Key, dict[str, Any]]]]:
    """A history and the table's rows when each load was cut off."""
    story = _Story(chance, knobs)
    return story.history(), story.states


def histories(seed: int, count: int, knobs: Knobs = DEFAULT) -> Iterator[History]:
    chance = random.Random(seed)
    for _ in range(count):
        yield random_history(chance, knobs)


class _Story:
    """The table and its log."""

    def __init__(self, chance: random.Random, knobs: Knobs) -> None:
        self.chance, self.knobs = chance, knobs
        self.columns = tuple(VALUES)[: knobs.columns]
        flag = chance.random
        self.moves = knobs.key_changes and flag() < 0.7
        self.splits = knobs.splits and flag() < 0.35  # key changes as delete and insert
        self.absent = knobs.partial and flag() < 0.4
        self.unavailable = knobs.partial and flag() < 0.4
        self.share_missing = chance.choice((0.3, 0.6, 0.9))
        self.names_transactions = not (knobs.unknown_transactions and flag() < 0.2)
        self.one_position = knobs.one_position and not self.splits and flag() < 0.5
        self.upserts = flag() < 0.1
        self.odd = flag() < knobs.odd
        self.wide_positions = flag() < 0.7
        self.rows: dict[Key, dict[str, Any]] = {}
        self.states: list[dict[Key, dict[str, Any]]] = []
        self.number = 0
        self.commit = chance.choice((1, 95, 998))
        self.pool = [self._key(number) for number in range(1, knobs.keys + 1)]

    def history(self) -> History:
        chance, knobs = self.chance, self.knobs
        loads = chance.randint(1, knobs.loads)
        wanted = chance.randint(1, knobs.transactions)
        cuts = sorted(chance.randint(0, wanted) for _ in range(loads - 1))
        batches: list[list[Event]] = []
        for start, end in zip([0, *cuts], [*cuts, wanted], strict=True):
            batch = []
            snapshot = knobs.snapshots and chance.random() < (0.15 if batches else 0.3)
            if snapshot and not batches:
                self._fill()
            if snapshot:
                batch += self._snapshot(len(batches))
            for _ in range(start, end):
                batch += self._transaction()
            batches.append(batch)
            self.states.append(dict(self.rows))
        return History(self.columns, tuple(self._delivered(batches)))

    # The table

    def _key(self, number: int) -> Key:
        return (number,) if self.knobs.key_parts == 1 else ("pq"[number % 2], number // 2)

    def _value(self, name: str) -> Any:
        return self.chance.choice(VALUES[name])

    def _fresh(self) -> dict[str, Any]:
        return {name: self._value(name) for name in self.columns}

    def _fill(self) -> None:
        for key in self.pool:
            if self.chance.random() < 0.6:
                self.rows[key] = self._fresh()

    def _snapshot(self, number: int) -> list[Event]:
        return [
            Event("read", (number,), key=key, values=tuple(row.items()))
            for key, row in self.rows.items()
        ]

    def _free(self) -> Key | None:
        free = [key for key in self.pool if key not in self.rows]
        return self.chance.choice(free) if free else None

    def _living(self) -> Key | None:
        return self.chance.choice(list(self.rows)) if self.rows else None

    # Transactions

    def _transaction(self) -> list[Event]:
        chance = self.chance
        self.commit += chance.choice((1, 1, 2, 9))
        self.number = 0
        self.name = f"t{self.commit}" if self.names_transactions else None
        if self.odd and chance.random() < 0.4:
            return [self._odd() for _ in range(chance.randint(1, 2))]
        choice = chance.random()
        if choice < 0.03 and self.knobs.controls:
            return [Event("control", self._position(), self.name)]
        if choice < 0.07 and self.knobs.truncates:
            self.rows.clear()
            return [Event("truncate", self._position(), self.name)]
        if self.moves and choice < 0.25 and len(self.rows) > 1:
            return self._rename()
        events: list[Event] = []
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            events += self._change()
        return events

    def _position(self) -> Position:
        self.number += 1
        if self.wide_positions:
            return (self.commit, self.number)
        return (100 * self.commit + self.number,)

    def _change(self) -> list[Event]:
        choice = self.chance.random()
        key = self._living()
        if key is None or choice < 0.25:
            free = self._free()
            if free is not None:
                return [self._insert(free)]
            key = self._living()
        if choice < 0.45:
            return [self._delete(key)]
        if self.moves and choice < 0.7:
            free = self._free()
            if free is not None:
                row = self.rows.pop(key)
                return self._told_move(key, free, row, self._position())
        return [self._update(key)]

    def _insert(self, key: Key) -> Event:
        row = self._fresh()
        values = dict(row)
        if self.absent and self.chance.random() < 0.2:  # a column that nobody knew of
            name = self.chance.choice(self.columns)
            row[name] = None
            del values[name]
        self.rows[key] = row
        op = "upsert" if self.upserts and len(values) == len(row) else "insert"
        return self._event(op, key=key, values=values)

    def _delete(self, key: Key) -> Event:
        del self.rows[key]
        return self._event("delete", old_key=key)

    def _update(self, key: Key) -> Event:
        row = self.rows[key]
        changed = {name: self._value(name) for name in self.columns if self.chance.random() < 0.6}
        row = self.rows[key] = row | changed
        sent, unavailable = self._sent(row, changed)
        old_key = key if self.chance.random() < 0.2 else None
        op = "upsert" if self.upserts else "update"
        return self._event(op, old_key=old_key, key=key, values=sent, unavailable=unavailable)

    def _rename(self) -> list[Event]:
        """Several keys change in one transaction, some of them before they are free."""
        chance = self.chance
        keys = chance.sample(list(self.rows), chance.randint(2, min(4, len(self.rows))))
        free = self._free()
        kind = chance.random()
        if kind < 0.5 or free is None:  # a swap, or a ring
            targets = [*keys[1:], keys[0]]
        else:  # like id = id + 1: each takes the place of the next, the last one a free key
            targets = [*keys[1:], free]
            if chance.random() < 0.2:  # in the order in which no key is taken early
                keys.reverse()
                targets.reverse()
        rows = [self.rows.pop(key) for key in keys]
        shared = self._position() if self.one_position else None
        events: list[Event] = []
        for key, target, row in zip(keys, targets, rows, strict=True):
            events += self._told_move(key, target, row, shared or self._position(), pure=True)
        if chance.random() < 0.2:
            last = targets[chance.randrange(len(targets))]
            events.append(self._update(last) if chance.random() < 0.5 else self._delete(last))
        return events

    def _told_move(
        self, key: Key, target: Key, row: dict[str, Any], at: Position, pure: bool = False
    ) -> list[Event]:
        changed: dict[str, Any] = {}
        if not pure and self.chance.random() < 0.4:
            changed = {name: self._value(name) for name in self.columns[:1]}
        row = self.rows[target] = row | changed
        if not self.splits:
            sent, unavailable = self._sent(row, changed)
            op = "upsert" if self.upserts else "update"
            return [self._event(op, at, key, target, sent, unavailable)]
        sent, unavailable = self._sent(row, changed, may_be_absent=False)
        return [
            self._event("delete", at, key),
            self._event("insert", at, None, target, sent, unavailable),
        ]

    def _sent(
        self, row: dict[str, Any], changed: dict[str, Any], may_be_absent: bool = True
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The values that an event holds, and the columns that it says it does not."""
        absent = self.absent and may_be_absent
        if not (absent or self.unavailable):
            return dict(row), ()
        sent, unavailable = dict(row), []
        for name in row:
            if name not in changed and self.chance.random() < self.share_missing:
                del sent[name]
                if self.unavailable and not (absent and self.chance.random() < 0.5):
                    unavailable.append(name)
        return sent, tuple(unavailable)

    def _odd(self) -> Event:
        """Anything to any key; the table follows as far as it can."""
        chance = self.chance
        key, other = chance.choice(self.pool), chance.choice(self.pool)
        row = self.rows.get(key) or self._fresh()
        op = chance.choice(("insert", "insert", "update", "update", "upsert", "delete", "move"))
        if op == "delete":
            self.rows.pop(key, None)
            return self._event("delete", old_key=key)
        if op == "insert":
            row = self.rows[key] = self._fresh()
            return self._event("insert", key=key, values=row)
        sent, unavailable = self._sent(row, {})
        if op == "move" and self.moves and key != other:
            self.rows.pop(key, None)
            self.rows[other] = row
            return self._event("update", None, key, other, sent, unavailable)
        self.rows[key] = row
        op = "update" if op == "move" else op
        return self._event(op, key=key, values=sent, unavailable=unavailable)

    def _event(
        self,
        op: str,
        at: Position | None = None,
        old_key: Key | None = None,
        key: Key | None = None,
        values: dict[str, Any] | None = None,
        unavailable: tuple[str, ...] = (),
    ) -> Event:
        return Event(
            op,
            self._position() if at is None else at,
            self.name,
            old_key,
            key,
            tuple((values or {}).items()),
            unavailable,
        )

    # Delivery

    def _delivered(self, batches: list[list[Event]]) -> Iterator[Load]:
        chance, knobs = self.chance, self.knobs
        late = chance.choice((0.0, 0.05, 0.2)) if knobs.late else 0.0
        repeats = chance.choice((0.0, 0.1, 1.0)) if knobs.repeats else 0.0
        twice = chance.choice((0.0, 0.1)) if knobs.repeats else 0.0
        dealt: list[list[Event]] = [[] for _ in batches]
        for number, batch in enumerate(batches):
            for event in batch:
                place = number
                if late and event.op != "read" and chance.random() < late:
                    place = chance.randint(number, len(batches) - 1)
                dealt[place].append(event)
        day = date.fromisoformat(knobs.first_day)
        before: list[Event] = []
        for number, events in enumerate(dealt):
            delivered = list(events)
            if repeats and before and chance.random() < 0.5:
                delivered += [event for event in before if chance.random() < repeats]
            delivered += [event for event in events if twice and chance.random() < twice]
            chance.shuffle(delivered)
            yield Load(str(day + timedelta(days=number)), tuple(delivered))
            before = events


# --- shrinking ----------------------------------------------------------------


def shrink(history: History, fails: Callable[[History], bool], tries: int = 20_000) -> History:
    """The smallest history found by leaving things out that still fails.

    fails: tells whether a history fails; one whose events conflict does not.
    tries: how often `fails` is called at most. If it is dear, such as a Spark job, give few, or
        compare many candidates in one job (`smaller()`).
    """

    def still_fails(candidate: History) -> bool:
        nonlocal tries
        tries -= 1
        try:
            return fails(candidate)
        except ConflictError:
            return False

    while tries > 0:
        for candidate in smaller(history):
            if tries > 0 and still_fails(candidate):
                history = candidate
                break
        else:
            return history
    return history


def smaller(history: History) -> Iterator[History]:
    """Histories with one thing less, large things first."""
    columns, loads = history
    for number in range(len(loads)):
        yield History(columns, loads[:number] + loads[number + 1 :])
    for number in range(len(loads) - 1):
        merged = loads[number]._replace(events=loads[number].events + loads[number + 1].events)
        yield History(columns, (*loads[:number], merged, *loads[number + 2 :]))
    for number, load in enumerate(loads):
        size = len(load.events) // 2
        while size:
            for start in range(0, len(load.events), size):
                events = load.events[:start] + load.events[start + size :]
                yield _with_events(history, number, events)
            size //= 2
    for name in columns if len(columns) > 1 else ():
        yield _without_column(history, name)
    names = dict.fromkeys(event.transaction for load in loads for event in load.events)
    for name in names if len(names) > 1 else ():
        yield _without_transaction(history, name)
    for number, load in enumerate(loads):
        for place, event in enumerate(load.events):
            for simpler in _simpler(event):
                events = (*load.events[:place], simpler, *load.events[place + 1 :])
                yield _with_events(history, number, events)
        ordered = tuple(sorted(load.events, key=lambda event: event.place))
        if ordered != load.events:
            yield _with_events(history, number, ordered)


def _with_events(history: History, number: int, events: tuple[Event, ...]) -> History:
    loads = list(history.loads)
    loads[number] = loads[number]._replace(events=events)
    return History(history.columns, tuple(loads))


def _without_column(history: History, name: str) -> History:
    def without(event: Event) -> Event:
        return event._replace(
            values=tuple(value for value in event.values if value[0] != name),
            unavailable=tuple(other for other in event.unavailable if other != name),
        )

    return History(
        tuple(column for column in history.columns if column != name),
        tuple(
            load._replace(events=tuple(without(event) for event in load.events))
            for load in history.loads
        ),
    )


def _without_transaction(history: History, name: str | None) -> History:
    """The history without the events of a transaction, which stay together or go together."""
    loads = (
        load._replace(events=tuple(event for event in load.events if event.transaction != name))
        for load in history.loads
    )
    return history._replace(loads=tuple(loads))


def _simpler(event: Event) -> Iterator[Event]:
    if event.op in ("insert", "update", "upsert") and event.old_key is not None:
        yield event._replace(old_key=None)
    if event.op == "upsert":
        yield event._replace(op="update")
    for place in range(len(event.unavailable)):
        yield event._replace(unavailable=event.unavailable[:place] + event.unavailable[place + 1 :])
    for place, (name, value) in enumerate(event.values):
        simple = VALUES[name][1] if name in VALUES else None
        if value not in (None, simple) or (value is not None and type(value) is not type(simple)):
            values = (*event.values[:place], (name, simple), *event.values[place + 1 :])
            yield event._replace(values=values)


def shown(history: History) -> str:
    """The history as text, its events in the order of their positions."""
    lines = []
    for load in history.loads:
        lines.append(f"load {load.date}")
        for event in sorted(load.events, key=lambda event: event.place):
            position = ".".join(map(str, event.position)) or "-"
            keys = [".".join(map(str, key)) for key in (event.old_key, event.key) if key]
            parts = [f"  {position:>8}", f"{event.transaction or '-':>6}", f"{event.op:<8}"]
            parts.append(" -> ".join(keys))
            parts += [f"{name}={value!r}" for name, value in event.values]
            parts += [f"{name}=?" for name in event.unavailable]
            lines.append(" ".join(parts).rstrip())
    return "\n".join(lines)
