"""Random histories of change events, for comparing the resolver with the oracle, and a shrinker.

A small table is changed by the simulator of `spark-cdc generate`, with few keys and many
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

from event_oracle import ConflictError, Event, Key, Load
from spark_cdc.synthetic.simulator import Change, ChangeShares, Row, Simulator

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
    the position of their statement. resent: what a reader got last may come again, behind
    it. odd: share of histories that no database would write.
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
    resent: bool = True
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


class _Story(Simulator):
    """A small table, and how its changes are told in this history."""

    def __init__(self, chance: random.Random, knobs: Knobs) -> None:
        flag = chance.random
        moves = knobs.key_changes and flag() < 0.7
        shares = ChangeShares(0.22, 0.2, 0.22 * moves, 0.14 * moves, 0.8)
        super().__init__(chance, shares, knobs.columns, optional=2**knobs.columns - 1)
        self.knobs, self.names = knobs, tuple(VALUES)[: knobs.columns]
        self.moves = moves
        self.splits = knobs.splits and flag() < 0.35  # key changes as delete and insert
        self.absent = knobs.partial and flag() < 0.4
        self.unavailable = knobs.partial and flag() < 0.4
        self.share_missing = chance.choice((0.3, 0.6, 0.9))
        self.names_transactions = not (knobs.unknown_transactions and flag() < 0.2)
        self.one_position = knobs.one_position and not self.splits and flag() < 0.5
        self.upserts = flag() < 0.1
        self.odd = flag() < knobs.odd
        self.wide_positions = flag() < 0.7
        self.resent = knobs.resent and not self.one_position and not self.splits and flag() < 0.3
        self.places_snapshots = flag() < 0.5
        self.sent: list[Event] = []
        self.states: list[dict[Key, dict[str, Any]]] = []
        self.commit = chance.choice((1, 95, 998))
        self.number = 0
        self.is_odd = False  # the transaction

    def history(self) -> History:
        chance, knobs = self.chance, self.knobs
        loads = chance.randint(1, knobs.loads)
        wanted = chance.randint(1, knobs.transactions)
        cuts = sorted(chance.randint(0, wanted) for _ in range(loads - 1))
        batches: list[list[Event]] = []
        for start, end in zip([0, *cuts], [*cuts, wanted], strict=True):
            batch: list[Event] = []
            if knobs.snapshots and chance.random() < (0.15 if batches else 0.3):
                for key in () if batches else self._free():
                    if chance.random() < 0.6:
                        self.change("insert", None, key, self.new_row())
                at: tuple[int, ...] = (0, len(batches))  # no place in the log
                if self.places_snapshots:
                    self.commit += 1
                    at = self._at(0)
                batch += (
                    Event("read", at, None, None, key, tuple(row.items()))
                    for key, row in self._rows().items()
                )
            for _ in range(start, end):
                batch += self._told_transaction()
            batches.append(batch)
            self.states.append(self._rows())
        return History(self.names, tuple(self._delivered(batches)))

    # The table

    def _key(self, number: int) -> Key:
        return (number,) if self.knobs.key_parts == 1 else ("pq"[number % 2], number // 2)

    def _values(self, row: Row) -> dict[str, Any]:
        return {
            name: VALUES[name][hash((serial, at)) % len(VALUES[name])] if serial else None
            for at, (name, serial) in enumerate(zip(self.names, row, strict=True))
        }

    def _rows(self) -> dict[Key, dict[str, Any]]:
        return {self._key(number): self._values(row) for number, row in self.table.items()}

    def _free(self) -> list[int]:
        return [key for key in range(1, self.knobs.keys + 1) if key not in self.table]

    def free_key(self) -> int | None:
        free = self._free()
        return self.chance.choice(free) if free else None

    def new_row(self) -> Row:
        row = super().new_row()
        if self.absent and self.chance.random() < 0.2:  # a column that nobody knew of
            unknown = self.chance.randrange(self.columns)
            row = (*row[:unknown], 0, *row[unknown + 1 :])
        return row

    def change_something(self) -> None:
        if not self.is_odd:
            super().change_something()
            return
        # Anything to any key; the table follows as far as it can.
        key, other = (self.chance.randint(1, self.knobs.keys) for _ in range(2))
        ops = ("insert", "insert", "update", "update", "upsert", "delete", "move")
        op = self.chance.choice(ops)
        if op == "delete":
            self.change("delete", key, None, None)
        elif op == "insert":
            self.change("insert", None, key, self.new_row())
        else:
            row = self.table.get(key) or self.new_row()
            target = other if op == "move" and self.moves else key
            self.change("update" if op == "move" else op, key, target, row)

    # The log

    def _told_transaction(self) -> list[Event]:
        self.commit += self.chance.choice((1, 1, 2, 9))
        self.number = 0
        self.is_odd = self.odd and self.chance.random() < 0.4
        choice = self.chance.random()
        if choice < 0.03 and self.knobs.controls:
            changes = [Change("control")]
        elif choice < 0.07 and self.knobs.truncates:
            changes = [self.truncate()]
        else:
            changes = self.transaction()
        events = []
        for change in changes:
            for event in self._told(change):
                events.append(event)
                self.sent.append(event)
                if self.resent and self.chance.random() < 0.15:
                    events += self._sent_again()
        return events

    def _sent_again(self) -> Iterator[Event]:
        """The last events once more, as after a restart of what reads them."""
        for event in self.sent[-self.chance.randint(1, 5) :]:
            self.number += 1
            yield event._replace(position=self._at(self.number))

    def _at(self, number: int) -> tuple[int, ...]:
        return (self.commit, number) if self.wide_positions else (100 * self.commit + number,)

    def _told(self, change: Change) -> list[Event]:
        """The events of a change."""
        self.number += 1
        number = change.statement if self.one_position else self.number
        at = self._at(number)
        name = f"t{self.commit}" if self.names_transactions else None
        old, key = (None if k is None else self._key(k) for k in (change.old, change.key))
        if change.row is None:
            return [Event(change.op, at, name, old)]
        values, unavailable = self._values(change.row), []
        is_split = self.splits and change.moves
        absent = self.absent and not is_split
        if change.op == "insert" and self.absent:
            known = zip(self.names, change.row, strict=True)
            values = {column: values[column] for column, serial in known if serial}
        for place, column in enumerate(self.names if change.op != "insert" else ()):
            is_kept = change.before is None or change.before[place] == change.row[place]
            is_optional = is_kept and (absent or self.unavailable)
            if is_optional and self.chance.random() < self.share_missing:
                del values[column]
                if self.unavailable and not (absent and self.chance.random() < 0.5):
                    unavailable.append(column)
        if is_split:
            new = Event("insert", at, name, None, key, tuple(values.items()), tuple(unavailable))
            return [Event("delete", at, name, old), new]
        op = change.op
        if self.upserts and (op == "update" or len(values) == len(self.names)):
            op = "upsert"
        if not change.moves and self.chance.random() < 0.8:
            old = None
        return [Event(op, at, name, old, key, tuple(values.items()), tuple(unavailable))]

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
                if late and event.place[0] > 0 and chance.random() < late:
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


def mapped(history: History, change: Callable[[Event], Event]) -> History:
    """The history with each of its events changed."""
    loads = (load._replace(events=tuple(map(change, load.events))) for load in history.loads)
    return history._replace(loads=tuple(loads))


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

    rest = tuple(column for column in history.columns if column != name)
    return mapped(history, without)._replace(columns=rest)


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
