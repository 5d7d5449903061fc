"""How the log of a table reaches its reader: in time or late, once or more, in any order.

An event that comes in a later load and is older than what was applied to its key changes nothing;
that is the contract. So by default (`late="superseded"`) only such events are delayed: whole
updates, inserts and deletes that a later whole event of the same key, a delete or a truncate,
delivered in time, has made irrelevant. The truth is then simply the table. With `late="any"` the
last event of a key is delayed as well, and the truth of the load has that key as it was before.

Never delayed: events of transactions that name a key twice, partial rows, key changes, and events
followed by one of those; an event lost from under a partial row would leave a state that no source
ever had.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO

from spark_cdc.synthetic.files import Shuffled
from spark_cdc.synthetic.formats import Format, Moment
from spark_cdc.synthetic.simulator import Change, ChangeShares, Key, Row

LATE = ("superseded", "any")


@dataclass(frozen=True)
class EventShares(ChangeShares):
    """Shares of the changes made in a load, and of delivery.

    duplicate, late, repeat: of the messages. snapshot: of the rows changed so far that are read
    again at the start of a load.
    """

    duplicate: float = 0.01
    late: float = 0.02
    repeat: float = 0.02
    snapshot: float = 0.01


class Delivery:
    """Sends changes as messages.

    touched: the keys to which an event of the load was applied, or will be.
    overdue: those whose last event comes with the next load only.
    counts: what was done to the messages of the load.
    """

    def __init__(
        self, form: Format, shares: EventShares, late: str, seed: int, carried: Path
    ) -> None:
        # What happens in the source does not hang on how it is delivered.
        self.chance = random.Random(f"{seed}|delivery")
        self.touched: set[Key] = set()
        self.overdue: set[Key] = set()
        self.counts: Counter[str] = Counter()
        self._format, self._shares, self._late = form, shares, late
        self._held: dict[Key, tuple[list[str], Row | None]] = {}
        self._carried, self._next = carried, carried.with_name(f"{carried.name}.next")
        self._carry: IO[str]
        self._output: Shuffled

    def begin(self, output: Shuffled) -> None:
        """Begin a load with what the one before left for it."""
        self._output = output
        self.counts.clear()
        self.touched, self.overdue = self.overdue, set()
        if self._carried.exists():
            with self._carried.open(encoding="utf-8") as lines:
                for line in lines:
                    self.counts["late" if line[0] == "L" else "repeated"] += 1
                    output.add(line[1:].rstrip("\n"))
        self._carry = self._next.open("w", encoding="utf-8")

    def end(self) -> dict[Key, Row | None]:
        """Deliver what is held, or leave it to the next load.

        Returns the rows (None: no row) of keys whose last event is delayed.
        """
        late = self._held if self._late == "any" else {}
        for key, (lines, _) in self._held.items():
            if late:
                self._delay(lines)
                self.overdue.add(key)
            else:
                self.touched.add(key)
                self._post(lines)
        self._held = {}
        self._carry.close()
        self._next.replace(self._carried)
        return {key: before for key, (_, before) in late.items()}

    def tell(self, change: Change, at: Moment) -> None:
        """Send what concerns no single row, or changes none: a truncate, a read, a control."""
        if change.op == "truncate":
            for lines, _ in self._held.values():
                self._delay(lines)
            self._held.clear()
        lines = self._format.lines(change, at, 1)
        self.counts[f"{change.op}s"] += len(lines)
        self._post(lines)

    def send(self, changes: Sequence[Change], at: Moment) -> None:
        """Send a transaction; some of its events may be held back."""
        keys = [[key for key in {c.old: 0, c.key: 0} if key is not None] for c in changes]
        named = Counter(chain.from_iterable(keys))
        for number, change in enumerate(changes):
            lines = self._format.lines(change, at, number + 1)
            is_partial = self._format.left_out(change) > 0
            self.counts["partial"] += is_partial
            is_whole = not (is_partial or change.moves) and named[keys[number][0]] == 1
            self._send(lines, keys[number], change.before, is_whole)

    def _send(self, lines: list[str], keys: Iterable[Key], before: Row | None, whole: bool) -> None:
        """Send a change of rows, or hold it back.

        whole: nothing before it matters to the reader any more, nor does it to what follows.
        """
        held = [self._held.pop(key)[0] for key in keys if key in self._held]
        for others in held:
            if whole:
                self._delay(others)
            else:
                self._post(others)
        if whole and not held and self.chance.random() < self._shares.late:
            self._held.update((key, (lines, before)) for key in keys)
        else:
            self.touched.update(keys)
            self._post(lines)

    def _post(self, lines: Sequence[str]) -> None:
        shares, chance = self._shares, self.chance
        for line in lines:
            self._output.add(line)
            if shares.duplicate and chance.random() < shares.duplicate:
                self._output.add(line)
                self.counts["duplicates"] += 1
            if shares.repeat and chance.random() < shares.repeat:
                self._carry.write(f"R{line}\n")

    def _delay(self, lines: Sequence[str]) -> None:
        self._carry.writelines(f"L{line}\n" for line in lines)
