"""What is measured: change events, (e) of the results page.

The data follow by arithmetic from numbers, so that a stream is one pass over `range`. Of the keys
that the events name, nine in ten are in the table; the events of a key are spread over the stream.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.harness import Measure, Project, Run, Server, measure

from spark_cdc.scaffold import new

DAYS = ("2019-06-17", "2019-06-19")
# Between them, of JSON: so many events of so many keys say what the rows are already. A load after
# one of several plain events per key stages only the last message of each key.
CALM, CALM_EVENTS, CALM_KEYS = "2019-06-18", 120_000, 10_000
TINY = 100
MARK = "__debezium_unavailable_value"  # stands for a large value that was not sent

KEY = new.Column("id", "bigint", role="key")
VALUES = [
    new.Column("customer", "string"),
    new.Column("email", "string"),
    new.Column("city", "string"),
    new.Column("status", "string"),
    new.Column("quantity", "int"),
    new.Column("amount", "decimal(12,2)"),
    new.Column("weight", "double"),
    new.Column("is_active", "boolean"),
    new.Column("changed_at", "timestamp"),
    new.Column("remarks", "string"),
]
ALL = (KEY, *VALUES)
NAMES = [column.name for column in ALL]
KINDS = {"typed": "parquet", "archived": "parquet", "json": "text"}
LOST = "remarks"  # the column that partial rows lack


@dataclass(frozen=True)
class Stream:
    """Events of one load, over so many keys, into a table of so many rows."""

    events: int
    keys: int
    prior: int
    partial: bool

    @property
    def per_key(self) -> int:
        return self.events // self.keys

    @property
    def name(self) -> str:
        return f"{self.events}_{self.keys}_{self.prior}_{'partial' if self.partial else 'whole'}"

    @property
    def title(self) -> str:
        return f"{self.per_key} per key, {'partial' if self.partial else 'whole'} rows"


# ---------------------------------------------------------------- data


def values_sql(row: str, version: str) -> str:
    """The columns of a row in one of its versions."""
    seed = f"xxhash64({row}, {version})"
    return f"""
        concat('customer ', pmod({row}, 100000)) as customer,
        concat('user', {row}, '@example.org') as email,
        array('Bern', 'Basel', 'Genf', 'Zug', 'Chur')[cast(pmod({row}, 5) as int)] as city,
        array('new', 'paid', 'sent', 'done')[cast(pmod({version}, 4) as int)] as status,
        cast(pmod({seed}, 1000) as int) as quantity,
        cast(cast(pmod({seed}, 10000000) as decimal(12, 0)) / 100 as decimal(12, 2)) as amount,
        pmod({seed}, 100000) / 8D as weight,
        pmod({seed}, 3) = 0 as is_active,
        timestamp_micros(1560000000000000 + {row} * 1000 + {version} * 3600000001) as changed_at,
        concat(md5(cast({seed} as string)), md5(cast({row} as string))) as remarks"""


def snapshot_sql(rows: int) -> str:
    """The table before the load."""
    return f"""
    select 'r' as op, id as seq, id, {values_sql("id", "0L")}
    from range(0, {rows}, 1, 8)"""


def calm_sql(prior: int) -> str:
    """Updates that change nothing, as events."""
    keys = min(prior, CALM_KEYS)
    return f"""
    select 'u' as op, {prior} + number as seq, id, {values_sql("id", "0L")}
    from (
        select id as number, pmod(id, {keys}) * {prior // keys}L as id
        from range(0, {CALM_EVENTS}, 1, 8)
    ) as numbered"""


def numbered_sql(events: int, keys: int) -> str:
    """Numbers of events: their order, and which key's turn it is, in another order each time."""
    return f"""
                select
                    id as seq,
                    id div {keys} as turn,
                    pmod((id + id div {keys} * 13) * 7919, {keys}) as which
                from range(0, {events}, 1, 8)"""


def stream_sql(stream: Stream) -> str:
    """The events in their order. One key in 20 is deleted last, one in 50 in between."""
    known = stream.keys * 9 // 10
    lost = (
        f"if(op = 'u' and pmod(which + turn, 2) = 0, '{MARK}', {LOST})" if stream.partial else LOST
    )
    columns = ", ".join(f"{lost} as {n}" if n == LOST else n for n in NAMES)
    last = stream.per_key - 1
    step = max(1, stream.prior // known)
    return f"""
    select op, {stream.prior + CALM_EVENTS} + seq as seq, {columns}
    from (
        select *, {values_sql("id", "turn + 1")}
        from (
            select
                *,
                if(which < {known}, which * {step}L, {stream.prior} + which) as id,
                case
                    when turn = 0 and which >= {known} then 'c'
                    when turn = {last} and pmod(which, 20) = 0 then 'd'
                    when turn = 4 and pmod(which, 50) = 1 then 'd'
                    when turn = 5 and pmod(which, 50) = 1 then 'c'
                    else 'u'
                end as op
            from (
                {numbered_sql(stream.events, stream.keys)}
            ) as numbered
        ) as named
    ) as filled"""


def flags_sql(rows: str, columns: Sequence[new.Column] = ALL) -> str:
    """Rows with a flag, as Parquet holds them."""
    flag = "map('r', 'R', 'c', 'I', 'u', 'U', 'd', 'D')[op]"
    return f"select {flag} as op, seq, {', '.join(c.name for c in columns)} from ({rows}) as events"


def messages_sql(rows: str, columns: Sequence[new.Column] = ALL) -> str:
    """The same as Debezium sends them from PostgreSQL: default identity, decimals as text."""
    fields = []
    for name in (column.name for column in columns):
        text = f"cast({name} as string)" if name == "amount" else name
        fields.append(f"'{name}', {text}")
    image = f"named_struct({', '.join(fields)})"
    # a deleted row's image has its key only
    key = ", ".join(f"'{c.name}', {'id' if c is KEY else 'cast(null as string)'}" for c in columns)
    with_nulls = "map('ignoreNullFields', 'false')"
    times = """map('timestampFormat', "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX")"""
    micros = "1560000000000000 + seq * 1000"
    # transactions of ten events; the last one committed before, and the event's own place
    commit = "if(op = 'r', null, cast(seq div 10 * 560 as string))"
    envelope = f"""named_struct(
        'before', if(op = 'd', to_json(named_struct({key}), {with_nulls}), null),
        'after', if(op = 'd', null, to_json({image}, {times})),
        'source', to_json(named_struct(
            'version', '3.7.0.Final', 'connector', 'postgresql', 'name', 'shop',
            'ts_ms', ({micros}) div 1000, 'snapshot', if(op = 'r', 'true', 'false'), 'db', 'shop',
            'sequence', to_json(array({commit}, cast(seq * 56 as string)), {with_nulls}),
            'ts_us', {micros}, 'ts_ns', ({micros}) * 1000, 'schema', 'public', 'table', 'item',
            'txId', seq div 10, 'lsn', seq * 56, 'xmin', cast(null as bigint)
        ), {with_nulls})
    )"""
    return f"""
    select concat(
        '{{"before":', coalesce(e.before, 'null'), ',"after":', coalesce(e.after, 'null'),
        ',"source":', e.source, ',"transaction":null,"op":"', op, '","ts_ms":', ({micros}) div 1000,
        ',"ts_us":', {micros}, ',"ts_ns":', ({micros}) * 1000, '}}'
    ) as value
    from (select *, {envelope} as e from ({rows}) as events) as wrapped"""


def make_data(on: Server, landing: Path, streams: Sequence[Stream], with_json: bool) -> None:
    """Write what is missing of the days before and of the streams, as Parquet and as JSON lines."""
    prior = {s.prior for s in streams}
    wanted = {f"events_{size}/{DAYS[0]}": snapshot_sql(size) for size in prior}
    wanted |= {f"events_{size}/{CALM}": calm_sql(size) for size in prior}
    wanted |= {f"events_{s.name}/{DAYS[1]}": stream_sql(s) for s in streams}
    for name, rows in wanted.items():
        for kind, sql in (("parquet", flags_sql(rows)), ("text", messages_sql(rows))):
            folder = landing / f"{kind}_{name}"
            if (folder / "_SUCCESS").exists() or (kind == "text" and not with_json):
                continue
            print(f"Generate {folder.name} of {folder.parent.name} …", flush=True)
            folder.mkdir(parents=True, exist_ok=True)
            on.execute(f"insert overwrite directory '{folder}' using {kind} {sql}")


# ---------------------------------------------------------------- ours


def typed_entity(
    path: str, archive: bool = False, name: str = "item", columns: Sequence[new.Column] = ALL
) -> new.Entity:
    events = {
        "format": "flagged_rows",
        "operation": "op",
        "order": ["seq"],
        "codes": {"R": "read", "I": "insert", "U": "update", "D": "delete"},
        "unavailable": MARK,
        "archive": archive,
    }
    described = [*columns, new.Column("seq", "bigint", role="control")]
    return new.Entity(name, described, "events", format="parquet", path=path, events=events)


def json_entity(path: str, name: str = "item", columns: Sequence[new.Column] = ALL) -> new.Entity:
    events = {"format": "debezium"}
    return new.Entity(name, list(columns), "events", format="json", path=path, events=events)


class Load:
    """The project's own load of one stream after another, each onto the same state."""

    def __init__(self, on: Server, bench: Path, base: str, name: str, schema: str) -> None:
        self.base, self.kind = base, KINDS[name]
        self.entity: Callable[[str], new.Entity] = json_entity
        if self.kind == "parquet":
            self.entity = partial(typed_entity, archive=name == "archived")
        self.landing = bench / "landing"
        self.project = Project(bench / schema, self.entity("{business_date}"), on, schema)

    def _read(self, name: str) -> None:
        path = f"{self.base}/{self.kind}_events_{name}/{{business_date}}"
        self.project.describe(self.entity(path))

    def begin(self, prior: int) -> Run:
        self._read(str(prior))
        run = self.project.load(DAYS[0])
        if self.kind == "text":
            self.project.load(CALM)
        return run

    def load(self, stream: Stream) -> Run:
        self._read(stream.name)
        return self.project.load(DAYS[1])


# ---------------------------------------------------------------- by hand

STATE = ", ".join(NAMES)
LOOP_LIMIT = 30


def _events(landing: Path, stream: Stream) -> str:
    return f"parquet.`{landing}/parquet_events_{stream.name}/{DAYS[1]}`"


def prior_table_sql(table: str, rows: str, names: Sequence[str] = NAMES) -> str:
    """A table that window and loop rewrite, of rows in Parquet."""
    return f"create table {table} using parquet as select {', '.join(names)} from parquet.`{rows}`"


def make_prior(on: Server, landing: Path, prior: int) -> None:
    """The table that window and loop rewrite."""
    on.execute("drop table if exists book_prior")
    rows = f"{landing}/parquet_events_{prior}/{DAYS[0]}"
    on.execute(prior_table_sql("book_prior", rows))


def rewrite_sql(
    table: str,
    latest: str,
    partial: bool,
    prior: str = "book_prior",
    names: Sequence[str] = NAMES,
) -> str:
    """The table with the last event of each key, written anew as a whole."""
    lines = []
    for name in names:
        value = f"coalesce(e.{name}, p.{name})" if partial and name == LOST else f"e.{name}"
        lines.append(f"if(e.id is null, p.{name}, {value}) as {name}")
    columns = ",\n    ".join(lines)
    return f"""
    create table {table} using parquet as
    select
        {columns}
    from {prior} as p
    full outer join ({latest}) as e on p.id = e.id
    where e.op is null or e.op <> 'D'"""


def latest_sql(events: str, names: Sequence[str] = NAMES, partial: bool = False) -> str:
    """The last event of each key, by `row_number` over all events."""
    known = f"""first_value(nullif({LOST}, '{MARK}'), true) over (
            partition by id order by seq desc rows between current row and unbounded following
        )"""
    columns = ", ".join(f"known as {n}" if n == LOST and partial else n for n in names)
    return f"""
        select op, {columns} from (
            select
                *,
                {known if partial else "null"} as known,
                row_number() over (partition by id order by seq desc) as rank
            from {events}
        ) as ranked where rank = 1"""


def window(on: Server, landing: Path, stream: Stream) -> float:
    """row_number over all events, then a rewrite."""
    on.execute("drop table if exists book_window")
    latest = latest_sql(_events(landing, stream), partial=stream.partial)
    return on.timed(rewrite_sql("book_window", latest, stream.partial))


def merge(on: Server, delta: Server, landing: Path, stream: Stream) -> float:
    """`row_number` over all events, then MERGE into a Delta table of the state before, which has
    deletion vectors and a change feed. Making that table anew is not timed."""
    delta.execute("drop table if exists book_merge")
    delta.execute(delta_table_sql("book_merge", f"{on.warehouse}/book_prior"))
    return delta.timed(merge_sql("book_merge", latest_sql(_events(landing, stream))))


def delta_table_sql(table: str, rows: str, names: Sequence[str] = NAMES) -> str:
    """A Delta table of rows in Parquet, with deletion vectors and a change feed."""
    return (
        f"create table {table} using delta tblproperties ("
        "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')"
        f" as select {', '.join(names)} from parquet.`{rows}`"
    )


def merge_sql(table: str, latest: str, names: Sequence[str] = NAMES) -> str:
    """The last event of each key, merged into a Delta table."""
    return f"""
        merge into {table} as p
        using ({latest}) as e
        on p.id = e.id
        when matched and e.op = 'D' then delete
        when matched then update set *
        when not matched and e.op <> 'D' then insert ({", ".join(names)})
        values ({", ".join(f"e.{name}" for name in names)})"""


def loop(on: Server, landing: Path, stream: Stream) -> float:
    """Ranking until the count stands still, each second event taking in the one before it; then a
    rewrite."""
    for number in range(LOOP_LIMIT):
        on.execute(f"drop table if exists book_round_{number}")
    on.execute("drop table if exists book_loop")
    begun = time.monotonic()
    source, count, number = _events(landing, stream), -1, 0
    note = f"if(rank % 2 = 0 and {LOST} = '{MARK}', before, {LOST}) as {LOST}"
    columns = ", ".join(note if n == LOST else n for n in NAMES)
    while True:
        on.execute(f"""
            create table book_round_{number} using parquet as
            select op, seq, {columns} from (
                select
                    *,
                    row_number() over (partition by id order by seq) as rank,
                    lag({LOST}) over (partition by id order by seq) as before,
                    lead(seq) over (partition by id order by seq) is null as is_last
                from {source}
            ) as ranked where rank % 2 = 0 or is_last""")
        source = f"book_round_{number}"
        [(left,)] = on.execute(f"select count(*) from {source}")
        if left == count:
            break
        count, number = left, number + 1
    lost = f"nullif({LOST}, '{MARK}') as {LOST}" if stream.partial else LOST
    latest = f"select op, {', '.join(lost if n == LOST else n for n in NAMES)} from {source}"
    on.execute(rewrite_sql("book_loop", latest, stream.partial))
    return time.monotonic() - begun


def _image_type() -> str:
    """The type of a row in a message: times and decimals are text there."""
    as_text = {"decimal(12,2)", "timestamp"}
    return ", ".join(
        f"{c.name}: {'string' if c.data_type in as_text else c.data_type}" for c in ALL
    )


def parse_sql(landing: Path, stream: Stream) -> str:
    """Each message parsed once, by a type that has everything; times and decimals cast."""
    image = _image_type()
    columns = []
    for column in ALL:
        value = f"e.after.{column.name}"
        if column is KEY:
            value = "coalesce(e.after.id, e.before.id)"
        elif column.data_type in ("decimal(12,2)", "timestamp"):
            value = f"try_cast({value} as {column.data_type})"
        columns.append(f"{value} as {column.name}")
    return f"""
    select
        e.op, e.source.sequence as sequence, e.source.lsn as lsn, e.source.txId as txid,
        e.source.ts_us as ts_us, {", ".join(columns)}
    from (
        select from_json(
            value,
            'op string, before struct<id: bigint>, after struct<{image}>,
            source struct<sequence: string, lsn: bigint, txId: bigint, ts_us: bigint>'
        ) as e
        from text.`{landing}/text_events_{stream.name}/{DAYS[1]}`
    ) as parsed"""


def parse(on: Server, landing: Path, stream: Stream) -> float:
    """The floor, nothing kept but a hash over all columns."""
    return on.timed(f"select bit_xor(xxhash64(*)) from ({parse_sql(landing, stream)}) as parsed")


def parse_and_write(on: Server, landing: Path, stream: Stream) -> float:
    """The floor, written as Parquet."""
    on.execute("drop table if exists book_parsed")
    return on.timed(f"create table book_parsed using parquet as {parse_sql(landing, stream)}")


# ---------------------------------------------------------------- turns

STATE_FIGURES = (
    f"select count(*), bit_xor(xxhash64({STATE})), sum(amount), count_if({LOST} = '{MARK}') from "
)


def _check(stream: Stream, tables: Sequence[tuple[Server, str]]) -> None:
    """The states must be the same, whoever made them."""
    states = [on.execute(STATE_FIGURES + table) for on, table in tables]
    if any(state != states[0] for state in states):
        names = [table for _, table in tables]
        raise SystemExit(f"the states after {stream.title} differ: {names} {states}")


def _turn(
    on: Server, landing: Path, loads: Mapping[str, Load], stream: Stream, with_loop: bool
) -> dict[str, Callable[[], float | Run]]:
    """What is measured of one stream on this server, in this order."""
    by_hand = {"window": window}
    if "json" in loads:
        by_hand |= {"parse": parse, "write": parse_and_write}
    if with_loop and stream.per_key > 1:
        by_hand["loop"] = loop
    turn: dict[str, Callable[[], float | Run]] = {
        name: partial(action, on, landing, stream) for name, action in by_hand.items()
    }
    return turn | {name: partial(load.load, stream) for name, load in loads.items()}


def streams(events: int, keys: int, prior: int, images: Sequence[str]) -> list[Stream]:
    """Many events per key and one, whole and partial rows."""
    return [
        Stream(count, keys, prior, image == "partial")
        for count in dict.fromkeys((events, keys))
        for image in images
    ]


def event_loads(
    on: Server,
    delta: Server | None,
    bench: Path,
    base: str,
    streams: Sequence[Stream],
    inputs: Sequence[str],
    repeat: int,
    with_loop: bool,
) -> dict[str, Measure]:
    """Streams as typed columns and as Debezium JSON, in turns with what they are compared with:
    SQL by hand on the same server and, of whole rows, Delta's MERGE on another."""
    landing, prior = bench / "landing", streams[0].prior
    tiny = Stream(TINY, TINY, TINY, False)
    make_data(on, landing, [*streams, tiny], "json" in inputs)
    make_prior(on, landing, prior)
    results: dict[str, Measure] = {}

    def into(what: str, stream: Stream | None = None, counts: bool = True) -> Measure:
        name = f"{what} {stream.title}" if stream else what
        return results.setdefault(name, Measure(name)) if counts else Measure(name)

    loads = {}
    for name in inputs:
        loads[name] = Load(on, bench, base, name, f"bench_events_{name}")
        first = measure(into(f"base {name}"), on, loads[name].begin, prior)
        print(f"{prior:,} rows loaded as {name} in {first.seconds:.1f} s", flush=True)
    fixed = Load(on, bench, base, "typed", "bench_events_tiny")
    fixed.begin(tiny.prior)
    for number in range(-1, repeat):
        counts = number >= 0  # the first round warms up
        for stream in streams if counts else streams[-1:]:
            names = _turn(on, landing, loads, stream, with_loop and number == 0)
            taken = [into(name, stream, counts) for name in names]
            for one, action in zip(taken, names.values(), strict=True):
                measure(one, on, action)
            tables = [(on, f"book_{name}") for name in ("window", "loop") if name in names]
            tables += [(on, load.project.table("current")) for load in loads.values()]
            if delta is not None and not stream.partial:
                taken.append(into("merge", stream, counts))
                measure(taken[-1], delta, merge, on, delta, landing, stream)
                tables.append((delta, "book_merge"))
            shown = ", ".join(f"{m.name.split()[0]} {m.seconds[-1]:.2f}" for m in taken)
            print(f"round {number + 1}, {stream.title}: {shown}", flush=True)
            _check(stream, tables)
        measure(into("fixed", None, counts), on, fixed.load, tiny)
    return results
