"""A table that transactions change row by row, as in a database, and the log of what they did.

The simulator knows neither formats nor files nor delivery. Whoever drives it takes the changes that
each transaction returns; `table` is what is true after it. So the truth comes from the table, never
from the changes, and knows nothing of how events are ranked, filled or resolved.

A row is held as numbers: for each column that of the change that set its value. Which values those
numbers stand for is up to the caller. Memory grows with the living keys only.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from dataclasses import dataclass
from typing import NamedTuple

Key = int
Row = tuple[int, ...]


class Change(NamedTuple):
    """A line of the log.

    op: insert, update (also of the key), delete or truncate; read and control change nothing.
    old, key: the row's key before and after the change; None where there is no row.
    before, row: the row itself.
    left_out: columns, as bits, that did not change and that an event need not have.
    statement: number in its transaction. One statement may change several keys.
    """

    op: str
    old: Key | None = None
    key: Key | None = None
    before: Row | None = None
    row: Row | None = None
    left_out: int = 0
    statement: int = 0

    @property
    def moves(self) -> bool:
        """Whether the row got another key."""
        return self.op == "update" and self.old != self.key


@dataclass(frozen=True)
class ChangeShares:
    """Shares of the changes; updates are the rest.

    swap: rows that take each other's key, and `id = id + 1` over several rows. partial: of updates
    and key changes, those of which an event need not have all columns.
    """

    insert: float = 0.15
    delete: float = 0.15
    key_change: float = 0.05
    swap: float = 0.01
    partial: float = 0.3

    @property
    def update(self) -> float:
        return 1 - self.insert - self.delete - self.key_change - self.swap


class Simulator:
    """The table and what happens to it.

    Args:
        columns: number of columns beside the key.
        optional: columns, as bits, that an event may leave out.
        least: with fewer rows than these, inserts take the place of deletes.
    """

    def __init__(
        self,
        chance: random.Random,
        shares: ChangeShares,
        columns: int,
        optional: int,
        least: int = 0,
    ) -> None:
        self.chance, self.shares = chance, shares
        self.columns, self.optional, self.least = columns, optional, least
        self.table: dict[Key, Row] = {}
        self.counts: Counter[str] = Counter()  # of changes by kind
        self._keys: list[Key] = []  # to choose from; some of them are dead
        self._dead: deque[Key] = deque(maxlen=1_000)
        self._moved: deque[tuple[Key, Key]] = deque(maxlen=20)
        self._next_key = self._serial = self._statement = 0
        self._log: list[Change] = []

    def fill(self, keys: int, rows: int) -> None:
        """Begin with rows of the keys 0, 1, …; from `keys` to `rows` there are some elsewhere."""
        self.table = {key: (key,) * self.columns for key in range(keys)}
        self._keys = list(self.table)
        self._next_key = self._serial = rows

    def transaction(self) -> list[Change]:
        """Change one row or a few, and return how."""
        self._log, self._statement = [], 0
        for _ in range(1 + int(4 * self.chance.random() ** 2)):
            self.change_something()
        return self._log

    def truncate(self) -> Change:
        self.table.clear()
        self._keys.clear()
        return Change("truncate")

    # Keys and rows

    def any_key(self) -> Key:
        """A key of the table, which must have one."""
        if len(self._keys) > 2 * len(self.table) + 20:
            self._keys = list(self.table)
        while True:
            key = self._keys[int(self.chance.random() * len(self._keys))]
            if key in self.table:
                return key

    def free_key(self) -> Key | None:
        """A key that no row has, often one that was deleted not long ago; None: there is none."""
        if self._dead and self.chance.random() < 0.4:
            key = self._dead[int(self.chance.random() * len(self._dead))]
            if key not in self.table:
                return key
        self._next_key += 1
        return self._next_key - 1

    def new_row(self) -> Row:
        self._serial += 1
        return (self._serial,) * self.columns

    def _changed(self, row: Row) -> tuple[Row, int]:
        """A changed row, and which of the columns that it keeps its event may leave out."""
        left_out, new = self._left_out(), self.new_row()
        if left_out:
            new = tuple([row[at] if left_out >> at & 1 else new[at] for at in range(self.columns)])
        return new, left_out

    def _left_out(self) -> int:
        if self.chance.random() >= self.shares.partial:
            return 0
        return self.chance.getrandbits(self.columns) & self.optional or self.optional

    # Changes

    def change(
        self, op: str, old: Key | None, key: Key | None, row: Row | None, left_out: int = 0
    ) -> None:
        """Make a change of one row, write it to the log and count it."""
        self._statement += 1
        before = None if old is None else self.table.get(old)
        if old is not None and old != key and before is not None:
            del self.table[old]
            self._dead.append(old)
        if key is not None:
            assert row is not None
            if key not in self.table:
                self._keys.append(key)
            self.table[key] = row
        change = Change(op, old, key, before, row, left_out, self._statement)
        self.counts["key_changes" if change.moves else f"{op}s"] += 1
        self._log.append(change)

    def change_something(self) -> None:
        """Make a change by chance, in the transaction at hand."""
        shares, choice = self.shares, self.chance.random()
        if not self.table:
            self._insert()
        elif (choice := choice - shares.swap) < 0:
            self._rename()
        elif (choice := choice - shares.key_change) < 0:
            self._change_key()
        elif (choice := choice - shares.delete) < 0 and len(self.table) >= self.least:
            self._delete(self.any_key())
        elif choice - shares.insert < 0:
            self._insert()
        else:
            self._update()

    def _insert(self) -> None:
        key = self.free_key()
        if key is None:
            self._update()
            return
        self.change("insert", None, key, self.new_row())
        if self.chance.random() < 0.05:  # it lives for a moment only
            self._delete(key)

    def _update(self) -> None:
        key = self.any_key()
        self.change("update", key, key, *self._changed(self.table[key]))

    def _delete(self, key: Key) -> None:
        row = self.table[key]
        self.change("delete", key, None, None)
        if self.chance.random() < 0.05:  # and comes back at once, as it was or not
            self.change("insert", None, key, row if self.chance.random() < 0.4 else self.new_row())

    def _change_key(self) -> None:
        """To a free key, further on (a -> b -> c) or back (a -> b -> a)."""
        key, target = self.any_key(), self.free_key()
        if self._moved and self.chance.random() < 0.3:
            origin, moved = self._moved[int(self.chance.random() * len(self._moved))]
            key = moved if moved in self.table else key
            if origin not in self.table and self.chance.random() < 0.3:
                target = origin
        if target is None:
            self._update()
            return
        self._move(key, target)
        if self.chance.random() < 0.1:  # and once more in the same transaction
            further = key if self.chance.random() < 0.5 else self.free_key()
            self._move(target, key if further is None else further)

    def _move(self, key: Key, target: Key) -> None:
        row, left_out = self.table[key], self._left_out()
        if self.chance.random() < 0.3:
            row, left_out = self._changed(row)
        self._moved.append((key, target))
        self.change("update", key, target, row, left_out)

    def _rename(self) -> None:
        """Several keys change in one statement, most of them onto keys that are not free yet."""
        keys = self._keys_below(self.free_key()) if self.chance.random() < 0.5 else []
        targets, kind = [key + 1 for key in keys], "shifts"
        if len(keys) < 2:
            keys = list(dict.fromkeys(self.any_key() for _ in range(6)))
            keys = keys[: 2 if self.chance.random() < 0.7 else 3]
            targets, kind = [*keys[1:], keys[0]], "swaps"
        if len(keys) < 2:
            self._update()
            return
        self.counts[kind] += 1
        if self.chance.random() < 0.2:  # in the order in which keys are free in time
            keys, targets = keys[::-1], targets[::-1]
        rows = [self.table.pop(key) for key in keys]
        self.table.update(zip(targets, rows, strict=True))
        self._dead.extend(keys)
        self._keys.extend(targets)
        self._statement += 1
        self._log += [
            Change("update", key, target, row, row, self._left_out(), self._statement)
            for key, target, row in zip(keys, targets, rows, strict=True)
        ]

    def _keys_below(self, free: Key | None) -> list[Key]:
        """The keys of the table right below a free one, in their order; not too many."""
        if free is None:
            return []
        first = free
        while first - 1 in self.table and free - first < 20:
            first -= 1
        return list(range(first, free))
