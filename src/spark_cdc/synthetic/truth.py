"""The true state of a generated table after each load, and the net delta of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from spark_cdc.synthetic.files import write_csv
from spark_cdc.synthetic.simulator import Key, Row
from spark_cdc.synthetic.values import Column, Values


def rows_of(others: range, columns: int) -> Iterator[tuple[Key, Row]]:
    """Rows that nobody has changed: the number of each one's last change is its key."""
    return ((key, (key,) * columns) for key in others)


class Truth:
    """The table as the reader of the loads must see it, and as it was a load before.

    rows: by key. others: keys of rows beyond, which only a truncate touches; they need no
    memory.
    """

    def __init__(self, columns: Sequence[Column], seed: int) -> None:
        self._values = Values(columns, seed)
        self._columns = len(columns)
        self._names = ["id", *(column.name for column in columns)]
        self.rows: dict[Key, Row] = {}
        self.before: dict[Key, Row] = {}
        self.others = self.others_before = range(0)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.rows) + len(self.others)

    def follow(
        self, table: Mapping[Key, Row], late: Mapping[Key, Row | None], others: range
    ) -> None:
        """Go on to the end of a load.

        late: rows (None: no row) of keys whose last event the reader does not know yet.
        """
        self.before, self.others_before = self.rows, self.others
        self.rows, self.others = dict(table), others
        for key, row in late.items():
            if row is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = row

    def write(self, folder: Path) -> None:
        """Write all rows."""
        rows = chain(self.rows.items(), rows_of(self.others, self._columns))
        lines = (f"{key},{','.join(self._values(row))}" for key, row in rows)
        write_csv(folder, ",".join(self._names), lines)

    def write_net(self, folder: Path, touched: Iterable[Key]) -> Counter[str]:
        """Write the rows that an event of the load was applied to; return how many of each op.

        A row that is touched and did not change is an update, a key that never had a row is none.
        """
        counts: Counter[str] = Counter()

        def lines() -> Iterator[str]:
            for op, key, row in self._net_rows(touched):
                counts[op] += 1
                yield f"{op},{key},{','.join(self._values(row))}"

        write_csv(folder, ",".join(["op", *self._names]), lines())
        return counts

    def _net_rows(self, touched: Iterable[Key]) -> Iterator[tuple[str, Key, Row]]:
        for key in sorted(touched) if self.before else self.rows:
            old, new = self.before.get(key), self.rows.get(key)
            if new is not None:
                yield "I" if old is None else "U", key, new
            elif old is not None:
                yield "D", key, old
        if self.others != self.others_before:
            for op, others in (("I", self.others), ("D", self.others_before)):
                yield from ((op, key, row) for key, row in rows_of(others, self._columns))
