"""Streams of change events together with the true state after each load.

A source table lives in this process as a dictionary and is changed row by row, transaction by
transaction, as a database would. Each change is written as an event at the moment it is made; after
each load the table itself is written out. So the truth comes from the table, never from the events,
and knows nothing of how events are ranked, filled or resolved.

Load 1 is a snapshot of the table. Each further load holds `events` changes of it, in any order:
inserts (also of keys deleted before), updates, deletes, key changes (onto new and onto deleted
keys, a -> b -> c, back to a), swaps of two keys and `id = id + 1` over several rows (each in one
transaction, with its events contiguous), rows deleted and inserted again in one transaction, rows
that live within a load only, truncates. Then what delivery adds: duplicates, a piece of the batch
before once more, a part of the snapshot once more (rows that have changed since their first event),
and late events.

*Late events.* An event that comes in a later load and is older than what was applied to its key
changes nothing; that is the contract. By default (`late="superseded"`) only such events are
delayed: whole updates, inserts and deletes that a later whole event of the same key, a delete or a
truncate, delivered in time, has made irrelevant. So the truth is simply the source's table, and the
share is reached only as far as keys have several events in a load. With `late="any"` the last
event of a key is delayed as well: the truth of this load shows that key as it was before the event,
and the event counts in the next load. Never delayed: events of swaps and other transactions that
touch a key twice, partial rows, key changes, and events followed by one of those; an event lost
from under a partial row would leave a state that no source ever had.

*Partial rows.* What "not sent" looks like depends on the format: `debezium` leaves text out as
`__debezium_unavailable_value` and other columns by their absence, `flagged_rows` has the same text
in text columns, `change_arrays` leaves any column out.

*Size.* Events are streamed to files and shuffled file by file; memory grows with the keys that the
events touch (about a gigabyte for a million), not with the number of events or rows. A value
follows by arithmetic from the number of the event that set it, so a row is held as those numbers.

How to load all three: docs/generate_events.md, and the YAML that is written beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, fields
from datetime import date, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING

from spark_cdc import console
from spark_cdc.errors import SparkCdcError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_OUT = Path(".spark_cdc/landing")
DEFAULT_ENTITY = "stream"
DEFAULT_START = "2019-06-18"
FORMATS = ("flagged_rows", "debezium", "change_arrays")
FILE_FORMATS = ("csv", "parquet")  # of flagged_rows; the others are JSON lines
TRUTHS = ("both", "full", "delta", "none")
LATE = ("superseded", "any")
UNAVAILABLE = "__debezium_unavailable_value"
LINES_PER_FILE = 250_000
BUFFERED_LINES = 500_000
MAX_SHARED = 0.9

_KINDS = {
    "text": "string",
    "amount": "decimal(12,2)",
    "number": "bigint",
    "day": "date",
    "flag": "boolean",
}
_TECHNICAL = {
    "op": "string",
    "tx": "bigint",
    "commit_seq": "bigint",
    "event_seq": "bigint",
    "changed_at": "timestamp",
    "old_id": "bigint",
}
_DAYS = [date(1970, 1, 1) + timedelta(days=number) for number in range(20_000)]
_DAY_TEXTS = [str(day) for day in _DAYS]
_64_BITS = 2**64 - 1

Key = int
Row = tuple[int, ...]  # for each column, the number of the event that set its value


@dataclass(frozen=True)
class EventShares:
    """Shares of the changes made in a load (the first five; `update` is the rest) and of delivery.

    swap: swaps of two keys and `id = id + 1` over several rows. partial: of updates and key
    changes. duplicate, late, repeat: of the messages. snapshot: of the rows changed so far that
    are read again at the start of a load.
    """

    insert: float = 0.15
    delete: float = 0.15
    key_change: float = 0.05
    swap: float = 0.01
    partial: float = 0.3
    duplicate: float = 0.01
    late: float = 0.02
    repeat: float = 0.02
    snapshot: float = 0.01

    @property
    def update(self) -> float:
        return 1 - self.insert - self.delete - self.key_change - self.swap


@dataclass
class LoadCounts:
    """What one load holds: changes by kind, then messages by what delivery did to them.

    `late` and `repeated` messages are those delivered in this load; so are all others. `rows` is
    the number of rows of the truth after the load; `net_*` those of the net delta.
    """

    business_date: str
    messages: int = 0
    reads: int = 0
    inserts: int = 0
    updates: int = 0
    partial: int = 0
    deletes: int = 0
    key_changes: int = 0
    swaps: int = 0
    shifts: int = 0
    truncates: int = 0
    controls: int = 0
    duplicates: int = 0
    late: int = 0
    repeated: int = 0
    rows: int = 0
    net_inserts: int = 0
    net_updates: int = 0
    net_deletes: int = 0


@dataclass(frozen=True)
class EventOptions:
    """What to make; see `spark-cdc generate --help`."""

    out: Path = DEFAULT_OUT
    entity: str = DEFAULT_ENTITY
    events: int = 10_000
    keys: int = 1_000
    rows: int | None = None
    columns: int = 5
    days: tuple[str, ...] = ()
    seed: int = 42
    shares: EventShares = field(default_factory=EventShares)
    truncates: tuple[int, ...] = ()
    late: str = "superseded"
    events_format: str = "flagged_rows"
    file_format: str = "csv"
    truth: str = "both"
    memory: str = "1g"

    @property
    def all_rows(self) -> int:
        return self.keys if self.rows is None else self.rows


Progress = Callable[[str], AbstractContextManager]


def generate_events(
    options: EventOptions, spark: SparkSession | None = None, progress: Progress = nullcontext
) -> list[LoadCounts]:
    """Write events, truth and net delta of each load, and what the loads hold.

    Folders are `<out>/<entity>/<day>`, `<out>/<entity>_truth/<day>` and `<out>/<entity>_net/<day>`;
    the counts go to `<out>/<entity>_loads.json`, YAML that loads all three to
    `<out>/<entity>_entities.yml`. The same options give the same rows in the same files.

    Args:
        spark: session that turns flagged rows into Parquet; without it the active or a new one.
        progress: called with a text; the work is done within the context that it returns.

    Raises:
        SparkCdcError: an option is not accepted; the message names all that are not.
    """
    _check(options)
    columns = make_columns(options.columns, options.seed)
    source = _Source(options, columns)
    counts = []
    carried = options.out / f".{options.entity}.carried-{os.getpid()}"
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        for number, day in enumerate(options.days, start=1):
            with progress(f"{options.out / options.entity / day}"):
                with _events_folder(options, columns, day, spark) as folder:
                    source.load(number, folder, carried)
                source.write_truth(day)
            counts.append(source.counts)
    finally:
        for file in options.out.glob(f"{carried.name}*"):
            file.unlink()
    _replace_text(
        options.out / f"{options.entity}_loads.json",
        "".join(json.dumps(asdict(count)) + "\n" for count in counts),
    )
    _replace_text(options.out / f"{options.entity}_entities.yml", entities_yaml(options))
    return counts


# --- values -------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A column beside the key `id`: its kind gives the type, its multiplier the values."""

    name: str
    kind: str
    multiplier: int

    @property
    def data_type(self) -> str:
        return _KINDS[self.kind]


def make_columns(count: int, seed: int) -> list[Column]:
    kinds = list(_KINDS)
    chance = random.Random(f"{seed}|columns")
    return [
        Column(f"{kind}{number + 1}", kind, chance.getrandbits(64) | 1)
        for number in range(count)
        for kind in [kinds[number % len(kinds)]]
    ]


def _mixed(serial: int) -> int:
    mixed = serial * 0x9E3779B97F4A7C15 & _64_BITS
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
    return mixed ^ mixed >> 27


# From 51 random bits to the value's text, or None; no quote and no backslash is in it.


def _text(bits: int) -> str | None:
    special = bits & 31
    if special == 0:
        return None
    if special == 1:
        return ""
    if special == 2:
        return f" Zoë, {bits:x}; d'Arc | 東京 "
    return f"{bits:x}"


def _amount(bits: int) -> str | None:
    if not bits & 31:
        return None
    sign = "-" if bits & 32 else ""
    bits = (bits >> 6) % 10**10
    return f"{sign}{bits // 100}.{bits % 100:02d}"


def _number(bits: int) -> str | None:
    return str(bits >> 6) if bits & 31 else None


def _day(bits: int) -> str | None:
    return _DAY_TEXTS[(bits >> 5) % 20_000] if bits & 31 else None


def _day_number(bits: int) -> str | None:
    return str((bits >> 5) % 20_000) if bits & 31 else None


def _flag(bits: int) -> str | None:
    return ("true" if bits & 32 else "false") if bits & 31 else None


_VALUES = {"text": _text, "amount": _amount, "number": _number, "day": _day, "flag": _flag}

Render = Callable[[int], str]


def _rendered(value: Callable[[int], str | None], quoted: bool, null: str) -> Render:
    def quote(bits: int) -> str:
        text = value(bits)
        return null if text is None else f'"{text}"'

    def plain(bits: int) -> str:
        text = value(bits)
        return null if text is None else text

    return quote if quoted else plain


class _Values:
    """Texts of a row's values, as a format wants them."""

    def __init__(self, columns: Sequence[Column], renders: Sequence[Render], seed: int) -> None:
        self._columns = [
            (column.multiplier, render) for column, render in zip(columns, renders, strict=True)
        ]
        self._shift = random.Random(f"{seed}|values").getrandbits(60)

    def __call__(self, row: Row) -> list[str]:
        texts = []
        last = -1
        mixed = 0
        for serial, (multiplier, render) in zip(row, self._columns, strict=True):
            if serial != last:
                last = serial
                mixed = _mixed(serial + self._shift)
            texts.append(render((mixed * multiplier & _64_BITS) >> 13))
        return texts


def csv_values(columns: Sequence[Column], seed: int) -> _Values:
    return _Values(
        columns,
        [_rendered(_VALUES[column.kind], column.kind == "text", "") for column in columns],
        seed,
    )


# --- formats ------------------------------------------------------------------


@dataclass
class _Clock:
    """Where and when the next event happens."""

    transaction: int = 500
    commit: int = 10_000_000
    lsn: int = 0
    sequence: int = 0
    time: str = ""
    millis: int = 0


class _Flagged:
    """CSV: op, transaction, two sequence columns, a time, the old key where it changes, the row."""

    suffix = "csv"

    def __init__(self, columns: Sequence[Column], seed: int, clock: _Clock) -> None:
        self._clock = clock
        self._values = csv_values(columns, seed)
        self._empty = "," * len(columns)
        self.header = ",".join([*_TECHNICAL, "id", *(column.name for column in columns)])
        self.partial_mask = self.change_mask = _mask(columns, "text")

    def _line(
        self, op: str, key: Key, row: Row | None, missing: int = 0, old: Key | str = ""
    ) -> str:
        at = self._clock
        head = f"{op},{at.transaction},{at.commit},{at.sequence},{at.time},{old},{key}"
        if row is None:
            return head + self._empty
        texts = self._values(row)
        if missing:
            texts = [
                UNAVAILABLE if missing >> place & 1 else text for place, text in enumerate(texts)
            ]
        return f"{head},{','.join(texts)}"

    def read(self, key: Key, row: Row) -> str:
        at = self._clock
        return f"R,{at.transaction},0,{at.commit},{at.time},,{key},{','.join(self._values(row))}"

    def insert(self, key: Key, row: Row) -> list[str]:
        return [self._line("I", key, row)]

    def update(self, key: Key, row: Row, missing: int) -> list[str]:
        return [self._line("U", key, row, missing)]

    def change(self, old: Key, key: Key, row: Row, missing: int) -> list[str]:
        return [self._line("U", key, row, missing, old)]

    def delete(self, key: Key) -> list[str]:
        return [self._line("D", key, None)]

    def truncate(self) -> list[str]:
        at = self._clock
        return [f"T,{at.transaction},{at.commit},{at.sequence},{at.time},,{self._empty}"]

    def control(self) -> list[str]:
        return []


class _Debezium:
    """JSON lines as Debezium writes them for PostgreSQL with default replica identity.

    The converter has no schemas, decimals are text (`decimal.handling.mode=string`). A key change
    is d and c at one position; the image of a delete has invented values beside the key.
    """

    suffix = "json"
    header = None

    def __init__(self, columns: Sequence[Column], seed: int, clock: _Clock) -> None:
        self._clock = clock
        values = _VALUES | {"day": _day_number}
        self._values = _Values(
            columns,
            [
                _rendered(values[column.kind], column.kind in ("text", "amount"), "null")
                for column in columns
            ],
            seed,
        )
        self._names = [f'"{column.name}":' for column in columns]
        self._is_text = [column.kind == "text" for column in columns]
        self.partial_mask = (1 << len(columns)) - 1
        self.change_mask = _mask(columns, "text")
        invented = {"text": '""', "amount": '"0.00"', "number": "0", "day": "0", "flag": "false"}
        self._invented = "".join(f',"{column.name}":{invented[column.kind]}' for column in columns)

    def _message(
        self, op: str, before: str, after: str, lsn: int, first: str, snapshot: str = "false"
    ) -> str:
        at = self._clock
        return (
            f'{{"before":{before},"after":{after},"source":{{"version":"3.7.0.Final",'
            f'"connector":"postgresql","name":"generated","ts_ms":{at.millis},'
            f'"snapshot":"{snapshot}","db":"shop","sequence":"[{first},\\"{lsn}\\"]",'
            f'"schema":"public","table":"stream","txId":{at.transaction},"lsn":{lsn},'
            f'"xmin":null}},"transaction":null,"op":"{op}","ts_ms":{at.millis + 250}}}'
        )

    def _event(self, op: str, before: str, after: str) -> str:
        at = self._clock
        return self._message(op, before, after, at.lsn + 8 * at.sequence, f'\\"{at.commit}\\"')

    def _image(self, key: Key, row: Row, missing: int) -> str:
        members = [f'{{"id":{key}']
        for place, (name, text) in enumerate(zip(self._names, self._values(row), strict=True)):
            if not missing >> place & 1:
                members.append(name + text)
            elif self._is_text[place]:
                members.append(f'{name}"{UNAVAILABLE}"')
        return ",".join(members) + "}"

    def read(self, key: Key, row: Row) -> str:
        return self._message(
            "r", "null", self._image(key, row, 0), self._clock.commit, "null", "true"
        )

    def insert(self, key: Key, row: Row) -> list[str]:
        return [self._event("c", "null", self._image(key, row, 0))]

    def update(self, key: Key, row: Row, missing: int) -> list[str]:
        return [self._event("u", "null", self._image(key, row, missing))]

    def change(self, old: Key, key: Key, row: Row, missing: int) -> list[str]:
        return [*self.delete(old), self._event("c", "null", self._image(key, row, missing))]

    def delete(self, key: Key) -> list[str]:
        return [self._event("d", f'{{"id":{key}{self._invented}}}', "null")]

    def truncate(self) -> list[str]:
        return [self._event("t", "null", "null")]

    def control(self) -> list[str]:
        return [self._event("m", "null", "null")]


class _Arrays:
    """JSON lines with arrays of names and values, and of old keys."""

    suffix = "json"
    header = None

    def __init__(self, columns: Sequence[Column], seed: int, clock: _Clock) -> None:
        self._clock = clock
        self._values = _Values(
            columns,
            [
                _rendered(_VALUES[column.kind], column.kind in ("text", "day"), "null")
                for column in columns
            ],
            seed,
        )
        self._names = [f'"{column.name}"' for column in columns]
        self._all_names = ",".join(['"id"', *self._names])
        self.partial_mask = self.change_mask = (1 << len(columns)) - 1

    def _message(self, change: str, image: str = "", old: Key | None = None) -> str:
        at = self._clock
        keys = "" if old is None else f',"oldKeyNames":["id"],"oldKeyValues":[{old}]'
        return (
            f'{{"changeType":"{change}","timestamp":"{at.time}","xid":{at.transaction},'
            f'"commit":{at.commit},"sequence":{at.sequence}{image}{keys}}}'
        )

    def _image(self, key: Key, row: Row, missing: int = 0) -> str:
        texts = self._values(row)
        names = self._all_names
        if missing:
            texts = [text for place, text in enumerate(texts) if not missing >> place & 1]
            left = [name for place, name in enumerate(self._names) if not missing >> place & 1]
            names = ",".join(['"id"', *left])
        return f',"columnNames":[{names}],"columnValues":[{",".join([str(key), *texts])}]'

    def insert(self, key: Key, row: Row) -> list[str]:
        return [self._message("insert", self._image(key, row))]

    def read(self, key: Key, row: Row) -> str:
        return self._message("read", self._image(key, row))

    def update(self, key: Key, row: Row, missing: int) -> list[str]:
        return [self._message("update", self._image(key, row, missing), key)]

    def change(self, old: Key, key: Key, row: Row, missing: int) -> list[str]:
        return [self._message("update", self._image(key, row, missing), old)]

    def delete(self, key: Key) -> list[str]:
        return [self._message("delete", "", key)]

    def truncate(self) -> list[str]:
        return [self._message("truncate")]

    def control(self) -> list[str]:
        return []


_FORMATS = {"flagged_rows": _Flagged, "debezium": _Debezium, "change_arrays": _Arrays}


def _mask(columns: Sequence[Column], kind: str) -> int:
    return sum(1 << place for place, column in enumerate(columns) if column.kind == kind)


# --- the source ---------------------------------------------------------------


class _Source:
    """The table, the transactions that change it, and how their events are delivered.

    Rows are numbered; the first `keys` of them are in `table`, the others (`rows` may be more) are
    touched by nothing but a truncate and need no memory. `truth` is the table as the load's reader
    must see it: the same, but for keys whose last event is delayed.
    """

    def __init__(self, options: EventOptions, columns: Sequence[Column]) -> None:
        self.options = options
        self.columns = columns
        self.shares = options.shares
        self.clock = _Clock()
        self.format = _FORMATS[options.events_format](columns, options.seed, self.clock)
        self.csv = csv_values(columns, options.seed)
        # What happens in the source does not hang on how it is delivered.
        self.chance = random.Random(f"{options.seed}|source")
        self.post = random.Random(f"{options.seed}|delivery")
        self.table: dict[Key, Row] = {}
        self.truth: dict[Key, Row] = {}
        self.before: dict[Key, Row] = {}
        self.static = self.static_before = False  # whether the rows beyond `keys` exist
        self.pool: list[Key] = []  # keys to choose from; some of them are dead
        self.dead: list[Key] = []
        self.moved: list[tuple[Key, Key]] = []
        self.serial = options.all_rows
        self.next_row = options.all_rows
        self.held: dict[Key, tuple[list[str], Row | None]] = {}
        self.touched: set[Key] = set()
        self.overdue: set[Key] = set()
        self.in_transaction: set[Key] = set()
        self.counts = LoadCounts("")
        self.made = 0
        self.output: _Shuffled
        self.carry: IO[str]

    # A load

    def load(self, number: int, folder: Path, carried: Path) -> None:
        """Make the changes of a load and write its events."""
        options = self.options
        day = options.days[number - 1]
        self.counts = LoadCounts(day)
        self.made = 0
        self.before, self.static_before = self.truth, self.static
        self.touched, self.overdue = self.overdue, set()
        self.dead, self.moved = self.dead[-1000:], []
        expected = options.all_rows if number == 1 else options.events
        self.output = _Shuffled(
            folder, expected, self.format.header, self.format.suffix, f"{options.seed}|{day}"
        )
        next_carried = carried.with_name(f"{carried.name}.next")
        with next_carried.open("w", encoding="utf-8") as self.carry:
            if number == 1:
                self._snapshot()
            else:
                self._redeliver(carried)
                self._changes(number)
            overrides = self._settle()
        self.counts.messages = self.output.close()
        next_carried.replace(carried)
        self.truth = dict(self.table)
        for key, row in overrides.items():
            if row is None:
                self.truth.pop(key, None)
            else:
                self.truth[key] = row

    def _snapshot(self) -> None:
        options, columns = self.options, len(self.columns)
        self._begin()
        for row_number in range(options.all_rows):
            key, row = _key_of(row_number), (row_number,) * columns
            if row_number < options.keys:
                self.table[key] = row
            self._send([self.format.read(key, row)])
        self.counts.reads = options.all_rows
        self.static = options.all_rows > options.keys
        self.pool = list(self.table)

    def _redeliver(self, carried: Path) -> None:
        """What the load before left for this one."""
        with carried.open(encoding="utf-8") as lines:
            for line in lines:
                kind, message = line[0], line[1:].rstrip("\n")
                self.output.add(message)
                if kind == "L":
                    self.counts.late += 1
                else:
                    self.counts.repeated += 1

    def _changes(self, number: int) -> None:
        events, shares = self.options.events, self.shares
        truncate_at = -1
        if number in self.options.truncates:
            truncate_at = events // 3 + int(self.chance.random() * (events // 3 + 1))
        if shares.snapshot:
            self._snapshot_again()
        limits = [shares.swap]
        for share in (shares.key_change, shares.delete, shares.insert):
            limits.append(limits[-1] + share)
        swap, key_change, delete, insert = limits
        few = self.options.keys // 4 + 1  # where so few are left, deletes turn into inserts
        random_number = self.chance.random
        while self.made < events:
            if 0 <= truncate_at <= self.made:
                truncate_at = -1
                self._begin()
                self._truncate()
                self.made += 1
                continue
            self._begin()
            for _ in range(int(random_number() * 4) + 1):
                if self.made >= events:
                    break
                choice = random_number()
                if choice < swap:
                    self._begin()
                    self.made += self._swap() if random_number() < 0.5 else self._shift()
                    self._begin()
                elif choice < key_change:
                    self.made += self._change_key()
                elif choice < delete and len(self.table) >= few:
                    self.made += self._delete()
                elif choice < insert:
                    self.made += self._insert()
                else:
                    self.made += self._update()
            if self.post.random() < 0.001:
                self._begin()
                control = self.format.control()
                self.counts.controls += len(control)
                self._send(control)

    def _begin(self) -> None:
        """A new transaction. Transactions overlap: the log has its events before their commit."""
        clock = self.clock
        clock.transaction += 1
        clock.commit += 1_000
        clock.lsn = clock.commit - 200 - int(self.post.random() * 5_000)
        clock.sequence = 0
        millis = int(self.made / self.options.events * 86_399_999)
        seconds, rest = divmod(millis, 1_000)
        minutes, seconds = divmod(seconds, 60)
        hours, minutes = divmod(minutes, 60)
        clock.time = f"{self.counts.business_date}T{hours:02}:{minutes:02}:{seconds:02}.{rest:03}Z"
        clock.millis = _epoch_millis(self.counts.business_date) + millis
        self.in_transaction.clear()

    # Keys

    def _any_key(self) -> Key | None:
        """A living key that this transaction has not touched, or none after some tries."""
        table, pool = self.table, self.pool
        if len(pool) > 2 * len(table) + 20:
            self.pool = pool = list(table)
        if not pool:
            return None
        for _ in range(50):
            key = pool[int(self.chance.random() * len(pool))]
            if key in table and key not in self.in_transaction:
                return key
        return None

    def _dead_key(self) -> Key | None:
        """A key deleted not long ago."""
        for _ in range(min(3, len(self.dead))):
            key = self.dead[-1 - int(self.chance.random() * min(len(self.dead), 1_000))]
            if key not in self.table and key not in self.in_transaction:
                return key
        return None

    def _new_key(self) -> Key:
        while (key := _key_of(self.next_row)) in self.table or key in self.in_transaction:
            self.next_row += 1
        self.next_row += 1
        return key

    def _is_free(self, key: Key) -> bool:
        return key not in self.table and not self._is_static(key)

    def _is_static(self, key: Key) -> bool:
        row = key // 10 * 5 + key % 10
        return key % 10 < 5 and self.options.keys <= row < self.options.all_rows

    # Changes: each is made in the table and then told as an event

    def _fresh(self) -> Row:
        self.serial += 1
        return (self.serial,) * len(self.columns)

    def _insert(self) -> int:
        key = self._dead_key() if self.chance.random() < 0.4 else None
        key = self._new_key() if key is None else key
        row = self._fresh()
        self._plain(key, self.format.insert(key, row), None, whole=True)
        self._put(key, row)
        self.counts.inserts += 1
        if self.chance.random() < 0.05:  # it lives for a moment only
            self._begin()
            self._plain(key, self.format.delete(key), row, whole=True)
            self._drop(key)
            self.counts.deletes += 1
            return 2
        return 1

    def _update(self) -> int:
        key = self._any_key()
        if key is None:
            return self._retry()
        old = self.table[key]
        row, missing = self._changed(old, self.format.partial_mask)
        self._plain(key, self.format.update(key, row, missing), old, whole=not missing)
        self.table[key] = row
        self.in_transaction.add(key)
        self.counts.updates += 1
        return 1

    def _delete(self) -> int:
        key = self._any_key()
        if key is None:
            return self._update()
        row = self.table[key]
        if self.chance.random() < 0.05:  # deleted and inserted again in one transaction
            self._tell([key], self.format.delete(key))
            row = row if self.chance.random() < 0.4 else self._fresh()
            self._tell([key], self.format.insert(key, row))
            self._put(key, row)
            self.counts.deletes += 1
            self.counts.inserts += 1
            return 2
        self._plain(key, self.format.delete(key), row, whole=True)
        self._drop(key)
        self.counts.deletes += 1
        return 1

    def _change_key(self) -> int:
        """To a new key, onto a deleted one, further on (a -> b -> c), or back (a -> b -> a)."""
        choice = self.chance.random()
        if choice < 0.3 and self.moved:
            origin, key = self.moved[-1 - int(self.chance.random() * min(20, len(self.moved)))]
            if key in self.table and key not in self.in_transaction:
                back = choice < 0.1 and self._is_free(origin) and origin not in self.in_transaction
                self._move(key, origin if back else self._new_key())
                return 1
        key = self._any_key()
        if key is None:
            return self._update()
        target = self._dead_key() if choice > 0.8 else None
        target = self._new_key() if target is None else target
        if choice < 0.5 or key in self.in_transaction:
            self._move(key, target)
            return 1
        if choice < 0.6:  # several steps within one transaction, some of them in a circle
            self._begin()
            middle = self._new_key()
            self._move(key, middle)
            self._move(middle, key if choice < 0.55 else target)
            self._begin()
            return 2
        self._move(key, target)
        return 1

    def _move(self, key: Key, target: Key) -> None:
        row = self.table.pop(key)
        missing = self._missing(self.format.change_mask)
        if self.chance.random() < 0.3:
            row = self._mixed_row(row, missing)
        self._tell([key, target], self.format.change(key, target, row, missing))
        self._put(target, row)
        if key not in self.table:
            self._remember_dead(key)
        self.moved.append((key, target))
        self.in_transaction.add(key)
        self.counts.key_changes += 1
        self.counts.partial += missing > 0

    def _swap(self) -> int:
        """Two rows take each other's key, in one transaction."""
        first = self._any_key()
        if first is None:
            return self._update()
        self.in_transaction.add(first)
        second = self._any_key()
        if second is None:
            return self._retry() if len(self.table) > 1 else self._insert()
        self._rename([(first, second), (second, first)])
        self.counts.swaps += 1
        return 2

    def _shift(self) -> int:
        """`id = id + 1` over several rows, in one transaction and in the order of the keys."""
        first = self._any_key()
        if first is None:
            return self._update()
        last = first
        while last + 1 in self.table and last - first < 20:
            last += 1
        if last == first or not self._is_free(last + 1):
            return self._swap()
        self._rename([(key, key + 1) for key in range(first, last + 1)])
        self.counts.shifts += 1
        return last - first + 1

    def _rename(self, pairs: Sequence[tuple[Key, Key]]) -> None:
        rows = [self.table.pop(key) for key, _ in pairs]
        for (key, target), row in zip(pairs, rows, strict=True):
            missing = self._missing(self.format.change_mask)
            self._tell([key, target], self.format.change(key, target, row, missing))
            self.counts.partial += missing > 0
        for (_, target), row in zip(pairs, rows, strict=True):
            self._put(target, row)
        for key, _ in pairs:
            if key not in self.table:
                self._remember_dead(key)

    def _truncate(self) -> None:
        for lines, _ in self.held.values():
            self._delay(lines)
        self.held.clear()
        self.touched.update(self.table)
        self.touched.update(self.before)
        self._send(self.format.truncate())
        self.table.clear()
        self.pool.clear()
        self.static = False
        self.counts.truncates += 1

    def _snapshot_again(self) -> None:
        """Rows that have changed since their first event: to the reader, this is old news."""
        first_serial, overdue = self.options.all_rows, self.touched
        self._begin()
        for _ in range(int(self.shares.snapshot * len(self.table)) or 1):
            key = self.pool[int(self.post.random() * len(self.pool))] if self.pool else None
            row = self.table.get(key)
            if row is not None and key not in overdue and max(row) > first_serial:
                self._send([self.format.read(key, row)])
                self.counts.reads += 1

    def _retry(self) -> int:
        """No key was found: there is none, or this transaction has touched too many."""
        if not self.table:
            return self._insert()
        self._begin()
        return 0

    def _changed(self, row: Row, mask: int) -> tuple[Row, int]:
        """A changed row and the columns that its event leaves out."""
        missing = self._missing(mask)
        if missing:
            self.counts.partial += 1
            return self._mixed_row(row, missing), missing
        return self._fresh(), 0

    def _missing(self, mask: int) -> int:
        """The columns that an event leaves out, as bits: none, or at least one of the mask."""
        if self.chance.random() >= self.shares.partial:
            return 0
        return self.chance.getrandbits(len(self.columns)) & mask or mask

    def _mixed_row(self, row: Row, missing: int) -> Row:
        self.serial += 1
        serial = self.serial
        return tuple(old if missing >> place & 1 else serial for place, old in enumerate(row))

    def _put(self, key: Key, row: Row) -> None:
        self.table[key] = row
        self.pool.append(key)
        self.in_transaction.add(key)

    def _drop(self, key: Key) -> None:
        del self.table[key]
        self.in_transaction.add(key)
        self._remember_dead(key)

    def _remember_dead(self, key: Key) -> None:
        self.dead.append(key)
        if len(self.dead) > 20_000:
            del self.dead[:10_000]

    # Delivery

    def _plain(self, key: Key, lines: list[str], before: Row | None, *, whole: bool) -> None:
        """An event that may be delayed: of one key that its transaction touches but once."""
        self.clock.sequence += 1
        if key in self.held:
            if whole:
                self._delay(self.held.pop(key)[0])
                self._deliver(key, lines)
                return
            self._release(key)
        if whole and self.shares.late and self.post.random() < self.shares.late:
            self.held[key] = (lines, before)
        else:
            self._deliver(key, lines)

    def _tell(self, keys: Sequence[Key], lines: list[str]) -> None:
        """An event that is never delayed, nor is one that it builds on."""
        self.clock.sequence += 1
        for key in keys:
            if key in self.held:
                self._release(key)
            self.touched.add(key)
        self._send(lines)

    def _release(self, key: Key) -> None:
        self._deliver(key, self.held.pop(key)[0])

    def _deliver(self, key: Key, lines: list[str]) -> None:
        self.touched.add(key)
        self._send(lines)

    def _send(self, lines: list[str]) -> None:
        shares, post = self.shares, self.post
        for line in lines:
            self.output.add(line)
            if shares.duplicate and post.random() < shares.duplicate:
                self.output.add(line)
                self.counts.duplicates += 1
            if shares.repeat and post.random() < shares.repeat:
                self.carry.write(f"R{line}\n")

    def _delay(self, lines: list[str]) -> None:
        for line in lines:
            self.carry.write(f"L{line}\n")

    def _settle(self) -> dict[Key, Row | None]:
        """Deliver what is still held, or leave it to the next load.

        Returns the rows (None: no row) of keys whose last event is delayed.
        """
        held, self.held = self.held, {}
        if self.options.late == "superseded":
            for key, (lines, _) in held.items():
                self._deliver(key, lines)
            return {}
        for key, (lines, _) in held.items():
            self._delay(lines)
            self.overdue.add(key)
        return {key: before for key, (_, before) in held.items()}

    # Truth

    def write_truth(self, day: str) -> None:
        """Write the state after the load, and the net delta of it."""
        options = self.options
        names = ["id", *(column.name for column in self.columns)]
        self.counts.rows = len(self.truth) + self.static * (options.all_rows - options.keys)
        if options.truth in ("both", "full"):
            with replaced_folder(options.out / f"{options.entity}_truth" / day) as folder:
                _write_rows(folder, ",".join(names), self._full_lines())
        if options.truth in ("both", "delta"):
            with replaced_folder(options.out / f"{options.entity}_net" / day) as folder:
                _write_rows(folder, ",".join(["op", *names]), self._net_lines())

    def _full_lines(self) -> Iterator[str]:
        csv = self.csv
        for key, row in self.truth.items():
            yield f"{key},{','.join(csv(row))}"
        if self.static:
            yield from self._static_lines()

    def _static_lines(self) -> Iterator[str]:
        csv, columns = self.csv, len(self.columns)
        for number in range(self.options.keys, self.options.all_rows):
            yield f"{_key_of(number)},{','.join(csv((number,) * columns))}"

    def _net_lines(self) -> Iterator[str]:
        """Every key that an event touched: unchanged rows too, but none that never was."""
        csv, counts = self.csv, self.counts
        for key in sorted(self.touched) if self.before else self.truth:
            old, new = self.before.get(key), self.truth.get(key)
            if new is not None:
                op = "I" if old is None else "U"
                counts.net_inserts += old is None
                counts.net_updates += old is not None
                yield f"{op},{key},{','.join(csv(new))}"
            elif old is not None:
                counts.net_deletes += 1
                yield f"D,{key},{','.join(csv(old))}"
        if self.static != self.static_before:
            op = "I" if self.static else "D"
            static = self.options.all_rows - self.options.keys
            counts.net_inserts += static * self.static
            counts.net_deletes += static * self.static_before
            for line in self._static_lines():
                yield f"{op},{line}"


def _key_of(row: int) -> Key:
    """Keys come in groups of five with gaps of five, so that `id + 1` over a few rows is free."""
    return row // 5 * 10 + row % 5


_EPOCH = date(1970, 1, 1).toordinal()


def _epoch_millis(day: str) -> int:
    return (date.fromisoformat(day).toordinal() - _EPOCH) * 86_400_000


# --- files --------------------------------------------------------------------


class _Shuffled:
    """Lines in any order, in as many files as they need, with no more than some of them in memory.

    Each line goes to a file by chance; at the end each file is read again and shuffled.
    """

    def __init__(
        self, folder: Path, expected: int, header: str | None, suffix: str, seed: str
    ) -> None:
        self._chance = random.Random(f"{seed}|order")
        self._header = header
        self._lines: list[list[str]] = [[] for _ in range(max(1, -(-expected // LINES_PER_FILE)))]
        self._files = [folder / f"part-{number:05}.{suffix}" for number in range(len(self._lines))]
        self._buffered = self._flushed = 0

    def add(self, line: str) -> None:
        files = len(self._lines)
        self._lines[int(self._chance.random() * files) if files > 1 else 0].append(line)
        self._buffered += 1
        if self._buffered >= BUFFERED_LINES and files > 1:
            self._flush()

    def _flush(self) -> None:
        for file, lines in zip(self._files, self._lines, strict=True):
            with file.open("a", encoding="utf-8") as out:
                out.writelines(f"{line}\n" for line in lines)
            lines.clear()
        self._flushed += self._buffered
        self._buffered = 0

    def close(self) -> int:
        """Write the files; return the number of lines."""
        for file, lines in zip(self._files, self._lines, strict=True):
            if file.exists():
                lines[:0] = file.read_text(encoding="utf-8").split("\n")[:-1]
            self._chance.shuffle(lines)
            with file.open("w", encoding="utf-8") as out:
                if self._header is not None:
                    out.write(self._header + "\n")
                out.writelines(f"{line}\n" for line in lines)
            lines.clear()
        return self._flushed + self._buffered


def _write_rows(folder: Path, header: str, lines: Iterator[str]) -> None:
    number = 0
    line = next(lines, None)
    while line is not None or not number:
        with (folder / f"part-{number:05}.csv").open("w", encoding="utf-8") as out:
            out.write(header + "\n")
            written = 0
            while line is not None and written < LINES_PER_FILE:
                out.write(line + "\n")
                written += 1
                line = next(lines, None)
        number += 1


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """A hidden folder that takes the place of `target` when the block ends without an error.

    Half a day is never seen. Raises SparkCdcError if `target` is a file.
    """
    if target.exists() and not target.is_dir():
        raise SparkCdcError(
            f"{target} is a file, but the folder of a business date is to be written there.",
            "Remove the file or give another --out.",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.writing-{os.getpid()}")
    replaced = target.with_name(f".{target.name}.replaced-{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir()
        yield temporary
        if target.exists():
            target.rename(replaced)
        temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(replaced, ignore_errors=True)


def _replace_text(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.writing-{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


@contextmanager
def _events_folder(
    options: EventOptions, columns: Sequence[Column], day: str, spark: SparkSession | None
) -> Iterator[Path]:
    """Where a load's messages are to be written as text; Parquet is made of them afterwards."""
    target = options.out / options.entity / day
    if options.file_format != "parquet":
        with replaced_folder(target) as folder:
            yield folder
        return
    with replaced_folder(target.with_name(f".{day}.csv")) as text:
        yield text
    text = target.with_name(f".{day}.csv")
    try:
        with replaced_folder(target) as folder:
            _to_parquet(text, folder, options, columns, spark)
    finally:
        shutil.rmtree(text, ignore_errors=True)


def _to_parquet(
    text: Path,
    folder: Path,
    options: EventOptions,
    columns: Sequence[Column],
    spark: SparkSession | None,
) -> None:
    from spark_cdc import generate

    types = _TECHNICAL | {"id": "bigint"} | {column.name: column.data_type for column in columns}
    with generate.open_session(spark, options.memory) as session:
        rows = (
            session.read.schema(", ".join(f"{name} {kind}" for name, kind in types.items()))
            .options(header=True, nullValue="\\N", mode="FAILFAST")
            .csv(f"file://{text.resolve()}")
        )
        written = folder / "written"
        rows.write.parquet(f"file://{written.resolve()}")
    for number, file in enumerate(sorted(written.glob("part-*.parquet"))):
        file.rename(folder / f"part-{number:05}.parquet")
    shutil.rmtree(written)


# --- configuration ------------------------------------------------------------

_EVENT_SETTINGS = {
    "flagged_rows": """            format: flagged_rows
            operation: op
            codes: {I: insert, U: update, D: delete, T: truncate, R: read}
            order: [commit_seq, event_seq]
            old_key: {id: old_id}
            transaction: tx
            time: changed_at
            unavailable: __debezium_unavailable_value
""",
    "debezium": """            format: debezium
            database: postgresql
""",
    "change_arrays": """            format: change_arrays
            order_fields: [commit, sequence]
""",
}


def entities_yaml(options: EventOptions) -> str:
    """YAML of the staging models that load the events, the truth as `full` and the net `delta`."""
    columns = make_columns(options.columns, options.seed)
    technical = _TECHNICAL if options.events_format == "flagged_rows" else {}
    folder = options.out.as_posix()

    def model(suffix: str, settings: str, file_format: str, control: Sequence[str]) -> str:
        lines = [
            f"  - name: stg_{options.entity}{suffix}",
            "    config:",
            "      meta:",
            "        spark_cdc:",
            settings.rstrip("\n"),
            "          source:",
            f"            format: {file_format}",
            f"            path: {folder}/{options.entity}{suffix}/{{business_date}}",
            "    columns:",
        ]

        def column(name: str, kind: str, meta: str) -> None:
            lines.append(f"      - name: {name}\n        data_type: {kind}")
            if meta:
                lines.append(f"        config: {{meta: {{{meta}}}}}")

        for name in control:
            column(name, technical.get(name, "string"), "role: control")
        column("id", "bigint", "role: key")
        is_debezium = options.events_format == "debezium" and not suffix
        for one in columns:
            encoded = one.kind == "day" and is_debezium
            column(one.name, one.data_type, "encoding: days" if encoded else "")
        return "\n".join(lines) + "\n"

    events = "          load_type: events\n          events:\n"
    return "version: 2\n\nmodels:\n" + "\n".join(
        [
            model(
                "",
                events + _EVENT_SETTINGS[options.events_format],
                options.file_format if options.events_format == "flagged_rows" else "json",
                list(technical),
            ),
            model("_truth", "          load_type: full", "csv", []),
            model(
                "_net",
                "          load_type: delta\n          deleted_when: op = 'D'",
                "csv",
                ["op"],
            ),
        ]
    )


# --- arguments ----------------------------------------------------------------


def _check(options: EventOptions) -> None:
    from spark_cdc import generate

    problems = generate.day_problems(options.days, None)
    for name, count, least, most in (
        ("events", options.events, 1, 1_000_000_000),
        ("keys", options.keys, 1, 100_000_000),
        ("rows", options.all_rows, options.keys, generate.MAX_ROWS),
        ("columns", options.columns, 1, 500),
    ):
        if not least <= count <= most:
            problems.append(f"{name} is {count}; accepted are {least:,} to {most:,}: correct it")
    for name, value, accepted in (
        ("events-format", options.events_format, FORMATS),
        ("format", options.file_format, FILE_FORMATS),
        ("truth", options.truth, TRUTHS),
        ("late", options.late, LATE),
    ):
        if value not in accepted:
            problems.append(
                f"{name} is '{value}'; accepted are {', '.join(accepted)}: choose one of them"
            )
    if options.events_format != "flagged_rows" and options.file_format == "parquet":
        problems.append(
            f"format is 'parquet', but {options.events_format} is written as JSON lines: leave "
            "out --format, or give --events-format flagged_rows"
        )
    if not options.entity.isidentifier() or options.entity != options.entity.lower():
        problems.append(
            f"entity is '{options.entity}'; accepted are lower-case names such as stream: "
            "correct it"
        )
    given = {one.name: getattr(options.shares, one.name) for one in fields(options.shares)}
    wrong = {name: share for name, share in given.items() if not 0 <= share <= 1}
    if wrong:
        shown = ", ".join(f"{name} {share:g}" for name, share in wrong.items())
        problems.append(f"the shares {shown} are not accepted; give numbers from 0 to 1")
    elif options.shares.update < -1e-9:
        problems.append(
            "the shares of inserts, deletes, key changes and swaps add up to "
            f"{1 - options.shares.update:g}; accepted is at most 1, updates are the rest: give less"
        )
    elif options.shares.repeat > MAX_SHARED or options.shares.duplicate > MAX_SHARED:
        problems.append(f"duplicate and repeat are shares up to {MAX_SHARED}: give less")
    loads = len(options.days)
    outside = [number for number in options.truncates if not 2 <= number <= loads]
    if outside:
        problems.append(
            f"truncates in the loads {', '.join(map(str, outside))} are not possible; accepted are "
            f"2 to {loads}, load 1 being the snapshot: correct them"
        )
    generate.refuse(problems)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `spark-cdc generate --events`; others are shared with rows."""
    group = parser.add_argument_group(
        "change events",
        "With --events: a stream of change events with the true state after each load, see "
        "docs/generate_events.md. --out, --days, --seed, --rows, --keys, --format and --memory "
        "have the meaning given there.",
    )
    group.add_argument(
        "--events", type=int, metavar="N", help="changes in each load after the first, a snapshot"
    )
    group.add_argument("--entity", help=f"folder below --out (default {DEFAULT_ENTITY})")
    group.add_argument("--columns", type=int, help="columns beside id (default 5)")
    group.add_argument("--loads", type=int, help="number of loads, instead of --days (default 4)")
    group.add_argument("--start", metavar="DATE", help=f"of --loads (default {DEFAULT_START})")
    group.add_argument(
        "--events-format", help=f"{', '.join(FORMATS)} (default {FORMATS[0]})", metavar="FORMAT"
    )
    help_texts = {
        "insert": "of the changes",
        "delete": "of the changes",
        "key_change": "of the changes",
        "swap": "of the changes: swaps of two keys, and id + 1 over several rows",
        "partial": "of updates and key changes: not all columns are sent",
        "duplicate": "of the messages: sent twice",
        "late": "of the messages: sent with the next load",
        "repeat": "of the messages: sent again with the next load",
        "snapshot": "of the rows: read again at the start of a load",
    }
    for name, text in help_texts.items():
        group.add_argument(
            f"--share-{name.replace('_', '-')}",
            type=float,
            metavar="SHARE",
            help=f"{text} (default {getattr(EventShares, name):g})",
        )
    group.add_argument(
        "--share-update",
        type=float,
        metavar="SHARE",
        help="must be what the other changes leave, as it is by default",
    )
    group.add_argument(
        "--truncates", metavar="LOADS", help="numbers of the loads with a truncate, such as 3,5"
    )
    group.add_argument(
        "--late",
        help="superseded (default): a late event changes nothing; any: also last events of a key",
    )
    group.add_argument(
        "--truth", help=f"what to write beside the events: {', '.join(TRUTHS)} (default both)"
    )


def run(args: argparse.Namespace, out: Path, days: Sequence[str]) -> int:
    """Run `spark-cdc generate --events`.

    Args:
        out: the folder given, or the default one.
        days: the business dates of --days, if given.
    """
    shares = {
        one.name: value
        for one in fields(EventShares)
        if (value := getattr(args, f"share_{one.name}")) is not None
    }
    given = {
        "entity": args.entity,
        "columns": args.columns,
        "keys": args.keys,
        "rows": args.rows,
        "events_format": args.events_format,
        "late": args.late,
        "truth": args.truth,
    }
    options = EventOptions(
        out=out,
        events=args.events,
        days=tuple(days) or _days(args.start or DEFAULT_START, args.loads or 4),
        seed=args.seed,
        shares=EventShares(**shares),
        truncates=_numbers(args.truncates or ""),
        file_format=args.fmt,
        memory=args.memory,
        **{name: value for name, value in given.items() if value is not None},
    )
    _check_arguments(args, options, days)
    for count in generate_events(options, progress=console.Step):
        print(f"  {_shown(count)}")
    return 0


def refuse_arguments(args: argparse.Namespace) -> None:
    """Refuse what means something with --events only."""
    from spark_cdc import generate

    names = ["entity", "columns", "loads", "start", "events_format", "truncates", "late", "truth"]
    names += [f"share_{one.name}" for one in fields(EventShares)] + ["share_update"]
    given = [f"--{name.replace('_', '-')}" for name in names if getattr(args, name) is not None]
    generate.refuse(
        [f"{', '.join(given)} without --events: give --events, or leave it out"] if given else []
    )


def _shown(counts: LoadCounts) -> str:
    day, *numbers = asdict(counts).items()
    texts = [f"{value:,} {name.replace('_', ' ')}" for name, value in numbers if value]
    return f"{day[1]}: {', '.join(texts)}"


def _check_arguments(args: argparse.Namespace, options: EventOptions, days: Sequence[str]) -> None:
    from spark_cdc import generate

    problems = []
    others = ("delta", "since", "compression", "values", "unchanged", "updated", "deleted", "new")
    for name in others:
        if getattr(args, name) is not None:
            problems.append(f"--{name} is for rows, not for --events: leave it out")
    if days and (args.loads or args.start):
        problems.append("--days and --loads, --start say the same: give one of them")
    if args.share_update is not None and abs(args.share_update - options.shares.update) > 1e-9:
        problems.append(
            f"--share-update is {args.share_update:g}, but the other changes leave "
            f"{options.shares.update:g}: give shares that add up to 1, or leave it out"
        )
    generate.refuse(problems)


def _days(start: str, loads: int) -> tuple[str, ...]:
    try:
        first = date.fromisoformat(start)
    except ValueError:
        return (start,)  # the check names it
    return tuple(str(first + timedelta(days=number)) for number in range(loads))


def _numbers(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    return tuple(int(word) if word.isdecimal() else 0 for word in words)
