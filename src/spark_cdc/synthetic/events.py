"""Streams of change events together with the true state after each load.

Load 1 is a snapshot of a table. Each further load holds `events` changes of it, in any order:
inserts (also of keys deleted before), updates, deletes, key changes (onto new and onto deleted
keys, a -> b -> c, back to a), keys that rows take from each other and `id = id + 1` over several
rows (each in one transaction, with its events contiguous), rows deleted and inserted again in one
transaction, rows that live within a load only, truncates. Then what delivery adds: duplicates, a
piece of the batch before once more, a part of the snapshot once more (rows that have changed since
their first event), and late events.

The table is that of `simulator`, its values are made in `values`, messages in `formats`; `delivery`
decides what comes when, and `truth` writes the table. Events are streamed to files and shuffled
file by file: memory grows with the keys that they touch, not with the number of events or rows.

How to load all that is written: docs/generate_events.md, and the YAML that is written beside it.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from spark_cdc.server.session import open_session
from spark_cdc.synthetic.delivery import LATE, Delivery, EventShares
from spark_cdc.synthetic.files import Shuffled, replace_text, replaced_folder
from spark_cdc.synthetic.formats import FLAGS, FORMATS, Moment
from spark_cdc.synthetic.options import MAX_ROWS, choice_problems, day_problems, refuse
from spark_cdc.synthetic.simulator import Change, Key, Row, Simulator
from spark_cdc.synthetic.truth import Truth, rows_of
from spark_cdc.synthetic.values import Column, make_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE_FORMATS = ("csv", "parquet")  # of flagged_rows; the others are JSON lines
TRUTHS = ("both", "full", "delta", "none")
MAX_SHARED = 0.9
TEMPLATE = Path(__file__).parent / "templates" / "generated_entities.yml.jinja"


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

    out: Path = Path(".spark_cdc/landing")
    entity: str = "stream"
    events: int = 10_000
    keys: int = 1_000
    rows: int | None = None
    columns: int = 5
    days: Sequence[str] = ()
    seed: int = 42
    shares: EventShares = field(default_factory=EventShares)
    truncates: Sequence[int] = ()
    late: str = "superseded"
    events_format: str = "flagged_rows"
    file_format: str = "csv"
    truth: str = "both"
    memory: str = "1g"

    @property
    def all_rows(self) -> int:
        return self.keys if self.rows is None else self.rows


Progress = Callable[[str], AbstractContextManager[object]]


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
    refuse(_problems(options))
    options.out.mkdir(parents=True, exist_ok=True)
    carried = options.out / f".{options.entity}.carried-{os.getpid()}"
    stream = _Stream(options, carried)
    counts = []
    try:
        for day in options.days:
            with progress(f"{options.out / options.entity / day}"):
                with _events_folder(options, stream.columns, day, spark) as folder:
                    stream.write_load(day, folder)
                counts.append(stream.write_truth(day))
    finally:
        for file in options.out.glob(f"{carried.name}*"):
            file.unlink()
    lines = [json.dumps(asdict(count)) + "\n" for count in counts]
    replace_text(options.out / f"{options.entity}_loads.json", "".join(lines))
    replace_text(options.out / f"{options.entity}_entities.yml", entities_yaml(options))
    return counts


class _Stream:
    """The source and its reader, load by load.

    Rows are numbered; the first `keys` of them are in the simulator's table. The others (`rows` may
    be more) are touched by nothing but a truncate.
    """

    def __init__(self, options: EventOptions, carried: Path) -> None:
        self.options = options
        self.columns = make_columns(options.columns, options.seed)
        self.format = FORMATS[options.events_format](self.columns, options.seed)
        self.source = Simulator(
            random.Random(f"{options.seed}|source"),
            options.shares,
            len(self.columns),
            self.format.optional,
            least=options.keys // 4 + 1,
        )
        self.source.fill(options.keys, options.all_rows)
        self.others = range(options.keys, options.all_rows)
        self.delivery = Delivery(self.format, options.shares, options.late, options.seed, carried)
        self.truth = Truth(self.columns, options.seed)
        self.messages = self.transactions = self.loads = 0

    def write_load(self, day: str, folder: Path) -> None:
        """Make the changes of a load and write its events."""
        options, is_first = self.options, not self.loads
        self.loads += 1
        self.source.counts.clear()
        expected = options.all_rows if is_first else options.events
        output = Shuffled(
            folder, expected, self.format.header, self.format.suffix, f"{options.seed}|{day}"
        )
        self.delivery.begin(output)
        if is_first:
            self._read(
                day, chain(self.source.table.items(), rows_of(self.others, len(self.columns)))
            )
        else:
            self._read(day, self._rows_read_again())
            self._change(day)
        self.truth.follow(self.source.table, self.delivery.end(), self.others)
        output.close()
        self.messages = output.count

    def _read(self, day: str, rows: Iterable[tuple[Key, Row]]) -> None:
        at = self._next_moment(day, 0)
        for key, row in rows:
            self.delivery.tell(Change("read", key=key, row=row), at)

    def _rows_read_again(self) -> Iterator[tuple[Key, Row]]:
        """Rows that have changed since their first event: to the reader, this is old news."""
        table, share = self.source.table, self.options.shares.snapshot
        if share and table:
            count = int(share * len(table)) or 1
            for key in self.delivery.chance.choices(list(table), k=count):
                is_known = key not in self.delivery.touched  # by the load before
                if is_known and max(table[key]) >= self.options.all_rows:
                    yield key, table[key]

    def _change(self, day: str) -> None:
        events, source = self.options.events, self.source
        truncate_at = events  # none
        if self.loads in self.options.truncates:
            truncate_at = events // 3 + int(source.chance.random() * (events // 3 + 1))
        made = 0
        while made < events or truncate_at < events:
            if truncate_at < events and made >= truncate_at:
                truncate_at = events
                made += 1
                self.delivery.touched.update(source.table, self.truth.rows)
                self.others = range(0)
                self.delivery.tell(source.truncate(), self._next_moment(day, made / events))
            changes = source.transaction()
            made += len(changes)
            self.delivery.send(changes, self._next_moment(day, made / events))
            if self.delivery.chance.random() < 0.001:
                self.delivery.tell(Change("control"), self._next_moment(day, made / events))

    def _next_moment(self, day: str, share: float) -> Moment:
        self.transactions += 1
        return Moment.of(
            self.transactions, dt.datetime.fromisoformat(f"{day}T00:00:00+00:00"), min(share, 1)
        )

    def write_truth(self, day: str) -> LoadCounts:
        """Write the state after the load and the net delta of it; return what the load holds."""
        options, net = self.options, Counter[str]()
        if options.truth in ("both", "full"):
            with replaced_folder(options.out / f"{options.entity}_truth" / day) as folder:
                self.truth.write(folder)
        if options.truth in ("both", "delta"):
            with replaced_folder(options.out / f"{options.entity}_net" / day) as folder:
                net = self.truth.write_net(folder, self.delivery.touched)
        return LoadCounts(
            day,
            messages=self.messages,
            rows=self.truth.count,
            net_inserts=net["I"],
            net_updates=net["U"],
            net_deletes=net["D"],
            **self.source.counts,
            **self.delivery.counts,
        )


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
    text = target.with_name(f".{day}.csv")
    try:
        with replaced_folder(text) as folder:
            yield folder
        with replaced_folder(target) as folder, open_session(spark, options.memory) as session:
            types = FLAGS | {"id": "bigint"} | {one.name: one.data_type for one in columns}
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
    finally:
        shutil.rmtree(text, ignore_errors=True)


def entities_yaml(options: EventOptions) -> str:
    """YAML of the staging models that load the events, the truth as `full` and the net `delta`."""
    template = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    return template.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        options=options,
        columns=make_columns(options.columns, options.seed),
        flags=FLAGS if options.events_format == "flagged_rows" else {},
    )


def _problems(options: EventOptions) -> list[str]:
    problems = day_problems(options.days)
    for name, count, least, most in (
        ("events", options.events, 1, 1_000_000_000),
        ("keys", options.keys, 1, 100_000_000),
        ("rows", options.all_rows, options.keys, MAX_ROWS),
        ("columns", options.columns, 1, 500),
    ):
        if not least <= count <= most:
            problems.append(f"{name} is {count}; accepted are {least:,} to {most:,}: correct it")
    problems += choice_problems("events_format", options.events_format, FORMATS)
    problems += choice_problems("file_format", options.file_format, FILE_FORMATS)
    problems += choice_problems("truth", options.truth, TRUTHS)
    problems += choice_problems("late", options.late, LATE)
    if options.events_format != "flagged_rows" and options.file_format == "parquet":
        problems.append(
            f"file_format is 'parquet', but {options.events_format} is written as JSON lines:"
            " leave out file_format, or give events_format: flagged_rows"
        )
    if not options.entity.isidentifier() or options.entity != options.entity.lower():
        problems.append(
            f"entity is '{options.entity}'; accepted are lower-case names such as stream: "
            "correct it"
        )
    shares = options.shares
    wrong = {name: share for name, share in asdict(shares).items() if not 0 <= share <= 1}
    if wrong:
        shown = ", ".join(f"{name} {share:g}" for name, share in wrong.items())
        problems.append(f"the shares {shown} are not accepted; give numbers from 0 to 1")
    elif shares.update < -1e-9:
        problems.append(
            "the shares of inserts, deletes, key changes and swaps add up to "
            f"{1 - shares.update:g}; accepted is at most 1, updates are the rest: give less"
        )
    elif shares.repeat > MAX_SHARED or shares.duplicate > MAX_SHARED:
        problems.append(f"duplicate and repeat are shares up to {MAX_SHARED}: give less")
    loads = len(options.days)
    outside = [number for number in options.truncates if not 2 <= number <= loads]
    if outside:
        problems.append(
            f"truncates in the loads {', '.join(map(str, outside))} are not possible; accepted are "
            f"2 to {loads}, load 1 being the snapshot: correct them"
        )
    return problems
