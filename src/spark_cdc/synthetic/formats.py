"""Formats of change events: from a change to its messages."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import NamedTuple

from spark_cdc.synthetic.simulator import Change, Key, Row
from spark_cdc.synthetic.values import UNAVAILABLE, Column, Values, day_number, mask

# Columns of flagged rows in front of the key.
FLAGS = {
    "op": "string",
    "tx": "bigint",
    "commit_seq": "bigint",
    "event_seq": "bigint",
    "changed_at": "timestamp",
    "old_id": "bigint",
}


class Moment(NamedTuple):
    """When a transaction happened. Transactions overlap: their log begins before their commit."""

    transaction: int
    commit: int
    lsn: int
    time: str
    millis: int

    @classmethod
    def of(cls, number: int, midnight: dt.datetime, share: float) -> Moment:
        """Return the moment of a transaction, after this share of a day."""
        time = midnight + dt.timedelta(milliseconds=int(share * 86_399_999))
        commit = 10_000_000 + 1_000 * number
        return cls(
            500 + number,
            commit,
            commit - 200 - number * 7_919 % 5_000,
            time.isoformat(timespec="milliseconds")[:23] + "Z",
            int(time.timestamp() * 1_000),
        )


class Format:
    """What all formats have in common.

    optional, optional_in_moves: columns, as bits, that an event may leave out, also if it changes
    the key.
    """

    suffix = "json"
    header: str | None = None
    values: Values

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self.texts = mask(columns, ("text",))
        self.optional = self.optional_in_moves = mask(columns)

    def left_out(self, change: Change) -> int:
        """Return the columns, as bits, that the event of a change does not have."""
        return change.left_out & (self.optional_in_moves if change.moves else self.optional)

    def lines(self, change: Change, at: Moment, number: int) -> list[str]:
        """Return the messages of a change, the number-th of its transaction."""
        raise NotImplementedError


class FlaggedRows(Format):
    """CSV: op, transaction, two sequence columns, a time, the old key where it changes, the row.

    A text that is left out is told by a text; other columns are always there.
    """

    suffix = "csv"

    def __init__(self, columns: Sequence[Column], seed: int) -> None:
        super().__init__(columns)
        self.optional = self.optional_in_moves = self.texts
        self.values = Values(columns, seed)
        self.header = ",".join([*FLAGS, "id", *(column.name for column in columns)])

    def lines(self, change: Change, at: Moment, number: int) -> list[str]:
        code = {"insert": "I", "update": "U", "delete": "D", "truncate": "T", "read": "R"}
        if change.op == "control":
            return []
        order = f"0,{at.commit}" if change.op == "read" else f"{at.commit},{number}"
        old = change.old if change.moves else ""
        if change.row is None:
            key = change.old
            row = "," * (len(self.columns) - 1)
        else:
            key, row = change.key, ",".join(self._sent(change.row, self.left_out(change)))
        named = "" if key is None else key
        return [f"{code[change.op]},{at.transaction},{order},{at.time},{old},{named},{row}"]

    def _sent(self, row: Row, left_out: int) -> list[str]:
        values = self.values(row)
        if not left_out:
            return values
        return [UNAVAILABLE if left_out >> at & 1 else text for at, text in enumerate(values)]


class Debezium(Format):
    """JSON lines as Debezium writes them for PostgreSQL with default replica identity.

    The converter has no schemas, decimals are text (`decimal.handling.mode=string`). A key change
    is d and c at one position; the image of a delete has invented values beside the key. A text
    that is left out is told by a text, other columns by their absence, which in a c means null.
    """

    def __init__(self, columns: Sequence[Column], seed: int) -> None:
        super().__init__(columns)
        self.optional_in_moves = self.texts
        self.values = Values(columns, seed, ("text", "amount"), "null", day_number)
        invented = {"text": '""', "amount": '"0.00"', "number": "0", "day": "0", "flag": "false"}
        self._invented = "".join(f',"{column.name}":{invented[column.kind]}' for column in columns)

    def lines(self, change: Change, at: Moment, number: int) -> list[str]:
        lsn = at.lsn + 8 * number
        row = "null" if change.row is None else self._image(change, change.row)
        gone = f'{{"id":{change.old}{self._invented}}}'
        if change.op == "read":
            return [self._message("r", "null", row, at, at.commit, "null", "true")]
        commit = f'\\"{at.commit}\\"'
        if change.op == "delete":
            return [self._message("d", gone, "null", at, lsn, commit)]
        if change.moves:
            return [
                self._message("d", gone, "null", at, lsn, commit),
                self._message("c", "null", row, at, lsn, commit),
            ]
        code = {"insert": "c", "update": "u", "truncate": "t", "control": "m"}[change.op]
        return [self._message(code, "null", row, at, lsn, commit)]

    def _image(self, change: Change, row: Row) -> str:
        left_out = self.left_out(change)
        members = [f'{{"id":{change.key}']
        for place, text in enumerate(self.values(row)):
            name = self.columns[place].name
            if not left_out >> place & 1:
                members.append(f'"{name}":{text}')
            elif self.texts >> place & 1:
                members.append(f'"{name}":"{UNAVAILABLE}"')
        return ",".join(members) + "}"

    def _message(
        self,
        op: str,
        before: str,
        after: str,
        at: Moment,
        lsn: int,
        commit: str,
        snapshot: str = "false",
    ) -> str:
        return (
            f'{{"before":{before},"after":{after},"source":{{"version":"3.7.0.Final",'
            f'"connector":"postgresql","name":"generated","ts_ms":{at.millis},'
            f'"snapshot":"{snapshot}","db":"shop","sequence":"[{commit},\\"{lsn}\\"]",'
            f'"schema":"public","table":"stream","txId":{at.transaction},"lsn":{lsn},'
            f'"xmin":null}},"transaction":null,"op":"{op}","ts_ms":{at.millis + 250}}}'
        )


class ChangeArrays(Format):
    """JSON lines with arrays of names and values, and of old keys; any column may be left out."""

    def __init__(self, columns: Sequence[Column], seed: int) -> None:
        super().__init__(columns)
        self.values = Values(columns, seed, ("text", "day"), "null")

    def lines(self, change: Change, at: Moment, number: int) -> list[str]:
        if change.op == "control":
            return []
        image = "" if change.row is None else self._image(change.key, change.row, change.left_out)
        old = ""
        if change.old is not None:
            old = f',"oldKeyNames":["id"],"oldKeyValues":[{change.old}]'
        sequence = 0 if change.op == "read" else number
        return [
            f'{{"changeType":"{change.op}","timestamp":"{at.time}","xid":{at.transaction},'
            f'"commit":{at.commit},"sequence":{sequence}{image}{old}}}'
        ]

    def _image(self, key: Key | None, row: Row, left_out: int) -> str:
        sent = [
            (f'"{column.name}"', text)
            for at, (column, text) in enumerate(zip(self.columns, self.values(row), strict=True))
            if not left_out >> at & 1
        ]
        names = ",".join(['"id"', *(name for name, _ in sent)])
        texts = ",".join([str(key), *(text for _, text in sent)])
        return f',"columnNames":[{names}],"columnValues":[{texts}]'


FORMATS: dict[str, Callable[[Sequence[Column], int], Format]] = {
    "flagged_rows": FlaggedRows,
    "debezium": Debezium,
    "change_arrays": ChangeArrays,
}
