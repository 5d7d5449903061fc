"""What change events must do to a table, in plain Python: the contract, applied event by event.

Written from the contract alone. It ranks nothing and knows no hashes, windows, joins, checkpoints:
it goes through a load's events in the order of their positions and changes a dictionary of rows.

Where the contract leaves room, this is what holds here:

- A snapshot row (`read`) without a place in the log, or with place 0, has phase 0, every other
  event phase 1; the phase stands before the position. So such a row is older than any change, and
  newer than an older snapshot; the guard `late_share`, which the oracle does not know, refuses a
  load in which that may be wrong. A snapshot row with a place takes it.
- Whether an event is late is asked of each key that it names, against the key's last applied
  position before the load and against the highest truncate: an event at or below one of them does
  nothing to that key. Of a key change, one half may be late and the other not. A row that comes
  from a key whose half is late brings no values.
- Two different events conflict if both give up the same key by a key change at one position, or
  both do something else to it there. Giving up comes first, so `id = id + 1` in one statement may
  have one position for all rows. Late events conflict with nothing.
- Within a transaction rows queue under a key: an arrival joins the queue, a delete or a leave takes
  the oldest, an update changes the newest. When the transaction ends the newest stays. An event
  without a transaction is one of its own, with all others at its position. Of a key, a transaction
  ends with the first step of another one: its name may come again.
- An insert joins the queue as an arrival if another key is deleted at its position and transaction.
  Else it joins only if its transaction deletes another key that it did not insert before, if no
  insert of the key came last (before a delete or leave), and if it is not the row that was there
  before the load. Otherwise it takes the place of the newest.
- An arrival is sent again, and changes the newest, if it brings a whole row and equals the last one
  of the key and transaction, with no delete, leave or insert in between; or if no row is left under
  its old key: that one was given up, in this load or before, and nothing came there in the load.
  A leave of a whole row right behind an equal one takes nothing.
- An insert begins a row, so an absent column is null. No database inserts a row of which a value
  is unavailable: if exactly one other key is deleted at the same position and transaction, such an
  insert is the second half of a key change; otherwise it counts as an upsert.
- A truncate deletes the rows whose last applied position is not above its own. Of a key that came
  in the same load and not before, nothing is known then, not even that it is dead.
- A dead key's position is forgotten when its last event was applied in a load more than
  `tombstone_days` before the load at hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

Key = tuple[Any, ...]
Position = tuple[int, ...]
Values = tuple[Any, ...]
# keys that are deleted, by place and transaction, and by transaction: see _deleted_keys()
Deleted = tuple[dict[Any, set[Any]], dict[Any, set[Any]]]


class Event(NamedTuple):
    """One change event.

    op: insert, update, upsert, delete, truncate, read or control.
    old_key: the key before; of a delete the deleted one; None if it did not change.
    key: the key after; None for delete, truncate and control.
    values: (column, value) of the columns that are present, in any order; others are absent...
    unavailable: ... or, if named here, were not sent although they may have changed before.
    """

    op: str
    position: Position = ()
    transaction: str | None = None
    old_key: Key | None = None
    key: Key | None = None
    values: tuple[tuple[str, Any], ...] = ()
    unavailable: tuple[str, ...] = ()

    @property
    def place(self) -> Position:
        """The position with the phase before it."""
        is_first = self.op == "read" and not (self.position and self.position[0] > 0)
        return (0 if is_first else 1, *self.position)


class Load(NamedTuple):
    """The events that arrive for one business date, in any order."""

    date: str
    events: tuple[Event, ...]


class ConflictError(Exception):
    """Different events of one key at one position."""

    def __init__(self, conflicts: Iterable[tuple[Key, Position]]) -> None:
        self.conflicts = sorted(set(conflicts))
        super().__init__(f"different events of one key at one position: {self.conflicts}")


@dataclass(frozen=True)
class CurrentRow:
    values: Values
    operation: str
    eff_start_date: str


@dataclass
class Result:
    """What a load did.

    tags: I, U, D, N or X by key. history: (business date, key, values, I, U or D), D with the
    values before the load. counts: rows by tag, and messages: `events` (all), `control`, `late`
    (not newer than what was applied before the load to the new key, or of a delete to its key),
    `repeated` (equal to another one of the load).
    """

    tags: dict[Key, str]
    history: list[tuple[str, Key, Values, str]]
    counts: Counter[str]
    current: dict[Key, CurrentRow]


class Row:
    """A row and its known values; columns that nobody sent are null."""

    __slots__ = ("values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values


@dataclass
class State:
    """A table after some loads.

    columns: names beside the key. ignored: those whose change is no update.
    rows: by key. positions: last applied by key, also of dead ones; touched_on: in which load.
    truncated: the highest truncate.
    """

    columns: Sequence[str]
    ignored: Sequence[str] = ()
    tombstone_days: int = 10**6
    rows: dict[Key, Row] = field(default_factory=dict)
    positions: dict[Key, Position] = field(default_factory=dict)
    touched_on: dict[Key, str] = field(default_factory=dict)
    truncated: Position = ()
    current: dict[Key, CurrentRow] = field(default_factory=dict)

    def copy(self) -> State:
        return State(
            self.columns,
            self.ignored,
            self.tombstone_days,
            {key: Row(dict(row.values)) for key, row in self.rows.items()},
            dict(self.positions),
            dict(self.touched_on),
            self.truncated,
            dict(self.current),
        )

    def apply_load(
        self, events: Iterable[Event], business_date: str, until: Position | None = None
    ) -> Result:
        """Apply the events of a load; nothing is changed if they conflict.

        Up to a place, if one is given: a transaction that goes on behind it is known as a whole.

        Raises:
            ConflictError: different events of one key have the same position.
        """
        received = list(events)
        self._forget(business_date)
        counts = Counter({"events": len(received)})
        counts["control"] = sum(event.op == "control" for event in received)
        distinct = dict.fromkeys(received)
        counts["repeated"] = len(received) - len(distinct)
        counts["late"] = sum(self._is_late(event) for event in received)

        ordered = [event for event in distinct if event.op != "control"]
        reached = [event for event in ordered if until is None or event.place <= until]
        self._check_conflicts(reached)
        before = {key: dict(row.values) for key, row in self.rows.items()}
        touched = self._apply(reached, business_date, _deleted_keys(ordered))
        return self._tagged(before, touched, business_date, counts)

    # Before

    def _forget(self, business_date: str) -> None:
        if self.tombstone_days >= 10**6:
            return
        today = date.fromisoformat(business_date[:10])
        for key in [key for key in self.positions if key not in self.rows]:
            age = today - date.fromisoformat(self.touched_on[key][:10])
            if age.days > self.tombstone_days:
                del self.positions[key], self.touched_on[key]

    def _applied(self, key: Key) -> Position:
        """The position at or below which nothing counts any more for a key."""
        return max(self.positions.get(key, ()), self.truncated)

    def _is_late(self, event: Event) -> bool:
        if event.op == "control":
            return False
        if event.op == "truncate":
            return event.place <= self.truncated
        key = event.key if event.op != "delete" else event.old_key
        return event.place <= self._applied(key)

    def _check_conflicts(self, ordered: list[Event]) -> None:
        truncated = max([event.place for event in ordered if event.op == "truncate"], default=())
        seen: dict[tuple[Key, Position, int], Event] = {}
        conflicts = []
        for event in ordered:
            for half, key in _halves(event):
                if event.place <= max(self._applied(key), truncated):
                    continue
                if seen.setdefault((key, event.place, half), event) is not event:
                    conflicts.append((key, event.position))
        if conflicts:
            raise ConflictError(conflicts)

    # The events

    def _apply(self, ordered: list[Event], business_date: str, deleted: Deleted) -> set[Key]:
        """Go through the events; return the keys to which something was applied."""
        applied = {key: self._applied(key) for event in ordered for _, key in _halves(event)}
        table = {key: [row] for key, row in self.rows.items()}
        before = {key: (self.positions[key], row.values.copy()) for key, row in self.rows.items()}
        known = dict(self.positions)
        touched: set[Key] = set()
        crowded: set[Key] = set()  # keys with more than one row, until the transaction ends
        transactions: dict[Key, Any] = {}  # of the last step
        last: dict[Key, tuple[Any, Any]] = {}  # transaction, and what arrived, insert or end
        begun: set[Key] = set()  # by a step of this load
        filled: set[Key] = set()  # by one that is no end
        behind: dict[Key, Any] = {}  # the last step, if a whole row left
        from_nothing: set[Event] = set()
        pairs, departed = deleted
        place: Position = ()
        given_up: dict[Key, Row | None] = {}  # by the deletes and key changes at this position

        def touch(key: Key, at: Position) -> None:
            touched.add(key)
            self.positions[key] = at
            self.touched_on[key] = business_date

        for event, half, key in _steps(ordered):
            if event.place != place:
                place = event.place
                given_up = {}
            if event.op == "truncate":
                if place <= self.truncated:
                    continue
                self.truncated = place
                _settle(table, crowded)
                transactions.clear()
                last.clear()
                begun.clear()
                filled.clear()
                behind.clear()
                for other in [key for key in table if self.positions[key] <= place]:
                    was_there = bool(table.pop(other))
                    if other not in known:  # as if it had never come
                        touched.discard(other)
                        del self.positions[other], self.touched_on[other]
                    elif was_there:
                        touch(other, place)
                continue
            if place <= max(applied[key], self.truncated):
                continue  # late
            touch(key, place)
            own = place if event.transaction is None else event.transaction
            living = table.setdefault(key, [])
            if transactions.setdefault(key, own) != own:
                _settle(table, crowded & {key})
                crowded.discard(key)
                transactions[key] = own
            was_there = key in before and before[key][0] > self.truncated
            is_end = half == 0 or event.op == "delete"
            if not is_end:
                behind[key] = None
            if is_end:
                was_dead = key in known and not was_there
                if half == 0 and key not in filled and (key in begun or was_dead):
                    from_nothing.add(event)
                begun.add(key)
                leave = (own, _sent(event)) if half == 0 and self._is_whole(event) else None
                if leave and behind.get(key) == leave:
                    continue
                behind[key] = leave
                given_up[key] = living.pop(0) if living else None
                last[key] = (own, "end")
                continue
            begun.add(key)
            filled.add(key)
            former = _former_key(event, ordered)
            may_queue = bool(departed.get(event.transaction, set()) - {key})
            is_whole_insert = event.op == "insert" and not event.unavailable and not _moves(event)
            others = pairs.get((place, event.transaction), set()) if is_whole_insert else set()
            arrives = former is not None or bool(others - {key})
            if arrives:
                source = former or (next(iter(others)) if len(others) == 1 else None)
                arrival = (own, (_sent(event), source))
                is_again = self._is_whole(event) and source is not None and last.get(key) == arrival
                last[key] = arrival
                if not (is_again or event in from_nothing):
                    living.append(self._row(event, given_up.get(former)))
                elif living:
                    living[-1].values.update(event.values)
                else:
                    living.append(self._row(event, None))
            elif is_whole_insert or (event.op == "read" and not event.unavailable):
                row = self._row(event, None)
                if (
                    event.op == "read"
                    or last.get(key) == (own, "insert")
                    or not may_queue
                    or (was_there and self._looks_alike(before[key][1], row.values))
                ):
                    del living[-1:]
                living.append(row)
                if event.op == "insert":
                    last[key] = (own, "insert")
            elif living:
                living[-1].values.update(event.values)
            else:
                living.append(self._row(event, None))
            if len(living) > 1:
                crowded.add(key)
        _settle(table, crowded)
        self.rows = {key: living[-1] for key, living in table.items() if living}
        return touched

    def _row(self, event: Event, source: Row | None) -> Row:
        """A new row with what the event sends; all else comes from the source."""
        values = dict.fromkeys(self.columns) if source is None else dict(source.values)
        values.update(event.values)
        return Row(values)

    def _is_whole(self, event: Event) -> bool:
        return {name for name, _ in event.values} >= set(self.columns)

    def _looks_alike(self, one: dict[str, Any], other: dict[str, Any]) -> bool:
        compared = (name for name in self.columns if name not in self.ignored)
        return all(_same(one[name], other[name]) for name in compared)

    # After

    def _tagged(
        self,
        before: dict[Key, dict[str, Any]],
        touched: set[Key],
        business_date: str,
        counts: Counter[str],
    ) -> Result:
        tags: dict[Key, str] = {}
        history = []
        current: dict[Key, CurrentRow] = {}
        columns = self.columns
        for key in before.keys() | self.rows.keys():
            prior = before.get(key)
            row = self.rows.get(key)
            if row is None:
                tag = "D"
                values = tuple([prior[name] for name in columns])
            else:
                values = tuple([row.values[name] for name in columns])
                if prior is None:
                    tag = "I"
                elif key not in touched:
                    tag = "X"
                elif self._looks_alike(prior, row.values):
                    tag = "N"
                else:
                    tag = "U"
                start = business_date if tag in "IU" else self.current[key].eff_start_date
                current[key] = CurrentRow(values, tag, start)
            tags[key] = tag
            counts[tag] += 1
            if tag in "IUD":
                history.append((business_date, key, values, tag))
        self.current = current
        return Result(tags, history, counts, current)


@dataclass
class Tables:
    """The views after some loads; a version ends at a date, or None where it still holds.

    versions: (key, values, operation, eff_start_date, eff_end_date).
    """

    current: dict[Key, CurrentRow] = field(default_factory=dict)
    history: list[tuple[str, Key, Values, str]] = field(default_factory=list)
    versions: list[tuple[Key, Values, str, str, str | None]] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


def expected(
    loads: Iterable[Load],
    columns: Sequence[str],
    ignored: Sequence[str] = (),
    tombstone_days: int = 10**6,
) -> Tables:
    """The views after the loads; a load of the same date as the last one takes its place."""
    kept: list[Load] = []
    for load in loads:
        if kept and kept[-1].date == load.date:
            kept.pop()
        kept.append(load)
    state = State(columns, ignored, tombstone_days)
    tables = Tables()
    open_versions: dict[Key, tuple[Key, Values, str, str]] = {}
    for load in kept:
        result = state.apply_load(load.events, load.date)
        tables.results.append(result)
        tables.history += result.history
        for business_date, key, values, tag in result.history:
            if tag != "I":
                tables.versions.append((*open_versions.pop(key), business_date))
            if tag != "D":
                open_versions[key] = (key, values, tag, business_date)
    tables.current = state.current
    tables.versions += [(*version, None) for version in open_versions.values()]
    return tables


def beliefs(
    loads: Sequence[Load], columns: Sequence[str]
) -> Iterator[tuple[str, Position, dict[Key, Values]]]:
    """What each load made people believe: its date, a place, and the rows as of that place.

    The places are those of all events, also of such as no load has brought yet.

    Raises:
        ConflictError: different events of one key have the same position, in one load or in two.
    """
    events = [event for load in loads for event in load.events if event.op != "control"]
    places = sorted({event.place for event in events})
    known: list[Event] = []
    for load in loads:
        known += load.events
        for place in places:
            state = State(columns)
            state.apply_load(known, load.date, until=place)
            rows = {key: tuple(map(row.values.get, columns)) for key, row in state.rows.items()}
            yield load.date, place, rows


def _moves(event: Event) -> bool:
    """Whether the event changes its row's key."""
    return event.op != "delete" and event.old_key is not None and event.old_key != event.key


def _halves(event: Event) -> tuple[tuple[int, Key], ...]:
    """The keys that an event names: (0, given up by a key change), (1, all others)."""
    if event.op in ("truncate", "control"):
        return ()
    if event.op == "delete":
        return ((1, event.old_key),)
    if _moves(event):
        return ((0, event.old_key), (1, event.key))
    return ((1, event.key),)


def _steps(ordered: list[Event]) -> list[tuple[Event, int, Key | None]]:
    """What events do to keys, in order; at one position keys are given up before any is taken."""
    ranked = []
    for event in ordered:
        if event.op == "truncate":
            ranked.append((event.place, 0, (event, 1, None)))
        for half, key in _halves(event):
            is_end = half == 0 or event.op == "delete"
            ranked.append((event.place, 1 if is_end else 2, (event, half, key)))
    ranked.sort(key=lambda step: (*step[:2], step[2][1]))
    return [step for _, _, step in ranked]


def _settle(table: dict[Key, list[Row]], crowded: set[Key]) -> None:
    """End a transaction: of several rows under a key the newest stays."""
    for key in crowded:
        del table[key][:-1]
    crowded.clear()


def _former_key(event: Event, ordered: list[Event]) -> Key | None:
    """The key before, of a key change that is told as one event or as delete and insert."""
    if _moves(event):
        return event.old_key
    if event.op != "insert" or not event.unavailable:
        return None
    keys = {
        other.old_key
        for other in ordered
        if other.op == "delete"
        and other.place == event.place
        and other.transaction == event.transaction
    }
    return keys.pop() if len(keys) == 1 and event.key not in keys else None


def _sent(event: Event) -> Event:
    """What an event says, wherever it stands."""
    values = tuple(sorted(event.values, key=lambda value: value[0]))
    return event._replace(position=(), transaction=None, values=values)


def _deleted_keys(ordered: list[Event]) -> Deleted:
    """The keys deleted: by place and transaction; by transaction, unless inserted in it before."""
    pairs: dict[Any, set[Key | None]] = {}
    departed: dict[Any, set[Key | None]] = {}
    seen: set[Any] = set()
    for event in sorted(ordered, key=lambda event: event.place):
        key = event.old_key if event.op == "delete" else event.key
        if event.op == "delete":
            pairs.setdefault((event.place, event.transaction), set()).add(key)
        if event.op not in ("insert", "delete") or event.transaction is None:
            continue
        if event.op == "delete" and (event.transaction, key) not in seen:
            departed.setdefault(event.transaction, set()).add(key)
        seen.add((event.transaction, key))
    return pairs, departed


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other
