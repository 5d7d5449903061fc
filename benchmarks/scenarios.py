"""What is measured: the floor, (a) to (d) of the results page."""

from __future__ import annotations

import datetime as dt
import multiprocessing
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.harness import Measure, Project, Run, Server, measure

from spark_cdc.scaffold import new
from spark_cdc.server.session import open_session
from spark_cdc.synthetic.rows import RowOptions, Shares, generate_rows

DAYS = ("2019-06-18", "2019-06-19")
DELTA_ROWS = 1_000
SERIES = 10  # deltas without deletes, and as many with
TINY = 10
WITH_DELETES = Shares(unchanged=0.25, updated=0.35, deleted=0.2, new=0.2)

KEYS = [new.Column(f"key{i}", "string", role="key") for i in range(1, 6)]
VALUES = [new.Column(f"value{i}", "double") for i in range(1, 11)]
PAYLOAD = [column.name for column in KEYS + VALUES]


def _days_after(day: str, first: int, count: int) -> list[str]:
    start = dt.date.fromisoformat(day)
    return [str(start + dt.timedelta(days=first + number)) for number in range(count)]


def _full(out: Path, rows: int) -> None:
    generate_rows(RowOptions(out, rows, days=DAYS))


def _deltas(out: Path, rows: int, delta: int) -> None:
    """The whole set, deltas without deletes and then as many with deletes."""
    days = [DAYS[0], *_days_after(DAYS[0], 1, 2 * SERIES)]
    with open_session(None, "1g") as spark:
        if not (out / DAYS[0]).exists():
            generate_rows(RowOptions(out, rows, days=[DAYS[0]]), spark)
        plain = RowOptions(out, rows, delta, days[: SERIES + 1], since=days[1])
        generate_rows(plain, spark)
        later = days[SERIES + 1]
        generate_rows(replace(plain, days=days, since=later, shares=WITH_DELETES), spark)


def _generated(function: object, out: Path, *arguments: int) -> None:
    """Call a generator in a process of its own, whose memory is gone afterwards."""
    process = multiprocessing.get_context("spawn").Process(target=function, args=(out, *arguments))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"the data of {out} could not be generated")


def make_full(landing: Path, rows: int) -> Path:
    out = landing / f"full_{rows}"
    if not all((out / day).is_dir() for day in DAYS):
        print(f"Generate two days of {rows:,} rows …", flush=True)
        _generated(_full, out, rows)
    return out


def make_deltas(landing: Path, rows: int, delta: int) -> Path:
    out = landing / f"delta_{rows}_{delta}"
    if not (out / _days_after(DAYS[0], 2 * SERIES, 1)[0]).is_dir():
        print(f"Generate {rows:,} rows and deltas of {delta:,} …", flush=True)
        _generated(_deltas, out, rows, delta)
    return out


def full_entity(path: str) -> new.Entity:
    return new.Entity("item", KEYS + VALUES, path=path + "/{business_date}")


def delta_entity(path: str, deletes: bool = False) -> new.Entity:
    entity = replace(full_entity(path), load_type="delta")
    if not deletes:
        return entity
    op = new.Column("op", "string", role="control")
    return replace(entity, columns=[*entity.columns, op], deleted_when="op = 'D'")


# ---------------------------------------------------------------- by hand


def staging(project: Project, run: Run) -> tuple[list[str], str]:
    """Return what makes landed files readable, and the query that types and hashes them.

    Both as the dbt run sent or compiled them.
    """
    views = [
        s.sql
        for s in run.statements
        if s.node.endswith("_ledger") and s.sql.startswith("create or replace temporary view")
    ]
    return views, project.compiled(f"stg_{project.entity.name}")


HASHED = ", ".join([*PAYLOAD, "key_hash", "nonkey_hash"])


def floor(on: Server, views: Sequence[str], stage: str, options: str) -> float:
    """Read CSV, cast, hash, write Parquet."""
    on.execute("drop table if exists floor")
    for sql in views:
        on.execute(sql)
    return on.timed(
        f"create table floor using parquet {options} as select {HASHED} from (\n{stage}\n)"
    )


def textbook(on: Server, views: Sequence[str], stage: str, day: str, prior: str | None) -> float:
    """Full outer join with the table before; current and history are written one by one."""
    for sql in views:
        on.execute(sql)
    current = "textbook_day_2" if prior else "textbook_day_1"
    on.execute(f"drop table if exists {current}")
    on.execute("drop table if exists textbook_history")
    on.execute(
        "create table textbook_history using parquet partitioned by (business_date) as"
        f" select {HASHED}, 'I' as operation, date'{day}' as business_date from ({stage}) limit 0"
    )
    on.execute("set spark.sql.sources.partitionOverwriteMode = dynamic")
    start = f"date'{day}'"
    if prior is None:
        tagged = f"select {HASHED}, 'I' as operation, {start} as eff_start_date from ({stage})"
    else:
        either = ",\n".join(
            f"if(i.key_hash is null, p.{name}, i.{name}) as {name}"
            for name in [*PAYLOAD, "key_hash", "nonkey_hash"]
        )
        tagged = f"""
            select {either},
                case
                    when p.key_hash is null then 'I' when i.key_hash is null then 'D'
                    when i.nonkey_hash <> p.nonkey_hash then 'U' else 'N'
                end as operation,
                if(i.nonkey_hash = p.nonkey_hash, p.eff_start_date, {start}) as eff_start_date
            from ({stage}) as i full outer join {prior} as p on i.key_hash = p.key_hash"""
    return on.timed(
        f"create table {current} using parquet as select * from ({tagged}) where operation <> 'D'",
        "insert overwrite table textbook_history partition (business_date)"
        f" select {HASHED}, operation, {start} from ({tagged}) where operation <> 'N'",
    )


# ---------------------------------------------------------------- (a) and (b)


def full_loads(
    on: Server, bench: Path, base: str, rows: int, repeat: int, options: str
) -> dict[str, Measure]:
    """Day 1 and day 2 of full loads, beside the floor and the textbook way."""
    landing = bench / "landing"
    big = make_full(landing, rows)
    tiny = make_full(landing, TINY)
    project = Project(bench / "full", full_entity(f"{base}/{big.name}"), on, "bench_full")
    fixed = Project(bench / "full_tiny", full_entity(f"{base}/{tiny.name}"), on, "bench_full_tiny")
    results = {
        name: Measure(name)
        for name in ("floor 1", "dbt 1", "book 1", "fixed", "floor 2", "dbt 2", "book 2")
    }
    fixed.load(DAYS[0])
    for number in range(-1, repeat):  # the first round warms up
        into = {n: m if number >= 0 else Measure(n) for n, m in results.items()}
        run = measure(into["dbt 1"], on, project.load, DAYS[0])
        views, stage = staging(project, run)
        measure(into["floor 1"], on, floor, on, views, stage, options)
        if number <= 0:
            measure(into["book 1"], on, textbook, on, views, stage, DAYS[0], None)
        _print(f"day 1, round {number + 1}", into)
    for number in range(-1, repeat):
        into = {n: m if number >= 0 else Measure(n) for n, m in results.items()}
        run = measure(into["dbt 2"], on, project.load, DAYS[1])
        views, stage = staging(project, run)
        measure(into["floor 2"], on, floor, on, views, stage, options)
        measure(into["book 2"], on, textbook, on, views, stage, DAYS[1], "textbook_day_1")
        measure(into["fixed"], on, fixed.load, DAYS[1])
        _print(f"day 2, round {number + 1}", into)
    return results


# ---------------------------------------------------------------- (f)

FORMAT_STEPS = ("day 1", "day 2", "delta", "read")


def format_loads(
    servers: Mapping[str, Server], bench: Path, base: str, rows: int, repeat: int
) -> dict[str, Measure]:
    """The same loads into ledgers of each format, in turns, each on a server that has it."""
    landing = bench / "landing"
    full, deltas = make_full(landing, rows), make_deltas(landing, rows, DELTA_ROWS)
    projects: dict[tuple[str, str], Project] = {}
    for name, on in servers.items():
        for kind, entity in (
            ("full", full_entity(f"{base}/{full.name}")),
            ("delta", delta_entity(f"{base}/{deltas.name}")),
        ):
            schema = f"bench_{kind}_{name}"
            projects[name, kind] = Project(bench / schema, entity, on, schema)
            projects[name, kind].set(file_format=name)
        projects[name, "delta"].load(DAYS[0])
    results: dict[str, Measure] = {}
    for step in FORMAT_STEPS:
        for number, day in enumerate(_days_after(DAYS[0], 1, repeat + 1)):  # the first one warms up
            taken: dict[str, Measure] = {}
            for name, on in servers.items():
                known = f"{step} {name}"
                taken[known] = results.setdefault(known, Measure(known)) if number else Measure("")
                whole, part = projects[name, "full"], projects[name, "delta"]
                if step == "read":
                    query = f"select sum(value1), count(key5) from {part.table('current')}"
                    on.execute(query)  # what counts is the second read
                    measure(taken[known], on, on.timed, query)
                elif step == "delta":
                    measure(taken[known], on, part.load, day)
                else:
                    measure(taken[known], on, whole.load, DAYS[FORMAT_STEPS.index(step)])
            _print(f"{step}, round {number}", taken)
    return results


# ---------------------------------------------------------------- (c) and (d)

MERGES = {
    "MERGE copy-on-write": "'delta.enableDeletionVectors' = 'false'",
    "MERGE deletion vectors": "'delta.enableDeletionVectors' = 'true'",
}


def _delta_table(size: int, kind: str) -> str:
    return f"{'cow' if 'copy' in kind else 'dv'}_{size}"


def _make_delta_tables(delta: Server, ledger: Path, size: int) -> None:
    """The base of a ledger as Delta tables."""
    [part] = sorted(ledger.glob("business_date=*/load_id=*/operation=I"))
    for kind, properties in MERGES.items():
        table = _delta_table(size, kind)
        delta.execute(
            f"create table {table} using delta tblproperties ("
            f"'delta.enableChangeDataFeed' = 'true', {properties}) as"
            f" select {HASHED}, eff_start_date from parquet.`{part}`"
        )


def _merge(
    delta: Server, table: str, views: Sequence[str], stage: str, day: str, deletes: bool
) -> float:
    for sql in views:
        delta.execute(sql)
    return delta.timed(f"""
        merge into {table} as t
        using (select *, date'{day}' as eff_start_date from ({stage})) as s
        on t.key_hash = s.key_hash
        {"when matched and s.is_deleted then delete" if deletes else ""}
        when matched and t.nonkey_hash <> s.nonkey_hash then update set *
        when not matched {"and not s.is_deleted" if deletes else ""} then insert *""")


def delta_loads(
    on: Server, delta: Server | None, bench: Path, base: str, sizes: Sequence[int], repeat: int
) -> dict[str, Measure]:
    """Small deltas into tables of several sizes, beside Delta Lake's MERGE; and reads."""
    landing = bench / "landing"
    count = repeat + 1  # the first of each series warms up
    results: dict[str, Measure] = {}
    projects: dict[int, Project] = {}
    folders = {TINY: make_deltas(landing, 100 * TINY, TINY)}
    folders |= {size: make_deltas(landing, size, DELTA_ROWS) for size in sizes}
    for size, folder in folders.items():
        projects[size] = Project(
            bench / f"delta_{size}", delta_entity(f"{base}/{folder.name}"), on, f"bench_{size}"
        )
        first = measure(
            results.setdefault(f"base {size}", Measure(f"base {size}")),
            on,
            projects[size].load,
            DAYS[0],
        )
        print(f"{size:,} rows loaded in {first.seconds:.1f} s", flush=True)
        if delta is not None and size != TINY:
            _make_delta_tables(delta, on.warehouse / f"bench_{size}.db" / "item_ledger", size)
    for deletes in (False, True):
        for size, project in projects.items():
            project.describe(delta_entity(f"{base}/{folders[size].name}", deletes))
        first_day = 1 + SERIES * deletes
        for number, day in enumerate(_days_after(DAYS[0], first_day, count)):
            for size, project in projects.items():
                _one_delta(on, delta, project, size, day, deletes, results, number > 0)
    return results


def _one_delta(
    on: Server,
    delta: Server | None,
    project: Project,
    size: int,
    day: str,
    deletes: bool,
    results: dict[str, Measure],
    counts: bool,
) -> None:
    taken: dict[str, Measure] = {}

    def into(what: str) -> Measure:
        name = f"{what} {size}{' deletes' if deletes else ''}"
        known = results.setdefault(name, Measure(name)) if counts else Measure(name)
        taken[name] = known
        return known

    run = measure(into("delta"), on, project.load, day)
    if size == TINY:
        return
    query = "select sum(value1), count(key5) from {}"
    on.execute(query.format(project.table("current")))  # what counts is the second read
    measure(into("read"), on, on.timed, query.format(project.table("current")))
    if delta is not None:
        views, stage = staging(project, run)
        for kind in MERGES:
            table = _delta_table(size, kind)
            measure(
                into(kind),
                delta,
                _merge,
                delta,
                table,
                views,
                stage,
                day,
                deletes,
            )
            delta.execute(query.format(table))
            measure(into(f"read {kind}"), delta, delta.timed, query.format(table))
        states = [
            on.execute(f"select count(*), round(sum(value1)) from {project.table('current')}")
        ]
        states += [
            delta.execute(f"select count(*), round(sum(value1)) from {_delta_table(size, kind)}")
            for kind in MERGES
        ]
        if any(state != states[0] for state in states):
            raise SystemExit(f"the states after {day} differ: {states}")
    _print(f"{day}", taken)


def _print(title: str, measures: dict[str, Measure]) -> None:
    done = [f"{name} {m.seconds[-1]:.2f}" for name, m in measures.items() if m.seconds]
    print(f"{title}: {', '.join(done)}", flush=True)
