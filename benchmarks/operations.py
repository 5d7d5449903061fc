"""Inserts, updates and deletes of several tables by one command: `python -m benchmarks.operations`.

    python -m benchmarks.operations
    python -m benchmarks.operations --tables 1 --operations 500000 --loads 5 --prior 7200000 \\
        --input typed --rivals

Without arguments, ten tables of 16 columns get 10M operations as Debezium's JSON: 2M inserts, 6M
updates and 2M deletes, over keys of which a third is new. One `spark-cdc load` reads them all. The
second command loads 25M operations in five loads into 72M rows on a tenth of the scale, beside the
last event of each key merged into a Delta table, and beside a rewrite of the table. The rows of all
ways are compared after each load. Bytes are those of the files that landed, and those of Spark's
tasks, by its event log; what is broadcast is not among them. Server, schema and data are its own,
in .spark_cdc/bench_operations.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks import event_scenarios as scenarios
from benchmarks import summary
from benchmarks.harness import Measure, Project, Server, measure

from spark_cdc import console, packages, project
from spark_cdc.scaffold import new

FIRST = dt.date(2024, 1, 1)
MORE = {
    "region": ("string", "concat('region ', pmod(id, 40))"),
    "batch": ("bigint", "version * 1000003 + id"),
    "score": ("double", "pmod(xxhash64(version, id), 1000000) / 64D"),
    "due_on": ("date", "date_add(date'2024-01-01', cast(pmod(id + version, 365) as int))"),
    "comment_text": ("string", "sha1(concat(id, '-', version))"),
}
COLUMNS = [*scenarios.ALL, *(new.Column(name, one[0]) for name, one in MORE.items())]
NAMES = [column.name for column in COLUMNS]
KINDS = 5  # of each five operations one is an insert, three are updates, one is a delete


def _rows(source: str) -> str:
    """All columns of rows that have op, seq, id and version."""
    more = ", ".join(f"{sql} as {name}" for name, (_, sql) in MORE.items())
    values = scenarios.values_sql("id", "version")
    return f"select op, seq, id, {values}, {more} from ({source}) as rows_of"


def prior_sql(rows: int) -> str:
    """A table before its first load of operations."""
    return _rows(f"select 'r' as op, id as seq, id, 0L as version from range(0, {rows}, 1, 8)")


def operations_sql(operations: int, prior: int, number: int, loads: int) -> str:
    """The operations of one load, in the order of `seq`.

    Rows are inserted and updated once; of the rows that were there before, even ones are updated
    and deleted, odd ones are updated. They lie as far apart as the table lets them.
    """
    each = operations // KINDS
    apart = prior // 2 // (each * loads)
    old = f"({number * each} + which) * {2 * apart}L"
    return _rows(f"""
        select
            array('c', 'u', 'u', 'u', 'd')[cast(turn as int)] as op,
            {prior + number * operations} + seq as seq,
            case when turn < 2 then {prior + number * each} + which
                when turn = 3 then {old} + 1 else {old} end as id,
            turn + {number} * 10L as version
        from (
            {scenarios.numbered_sql(operations, each)}
        ) as numbered""")


def land(on: Server, folder: Path, kind: str, rows: str) -> None:
    """Write the input of one load."""
    sql = scenarios.messages_sql(rows, COLUMNS)
    if kind == "typed":
        sql = scenarios.flags_sql(rows, COLUMNS)
    form = scenarios.KINDS[kind]
    on.execute(f"insert overwrite directory '{folder}' using {form} {sql}")


class ByHand:
    """A table that takes the last event of each key, by `MERGE` or by a rewrite."""

    def __init__(self, on: Server, prior: Path) -> None:
        self.on, self.number = on, 0
        on.execute(scenarios.delta_table_sql("merged", str(prior), NAMES))
        on.execute(scenarios.prior_table_sql("rewritten_0", str(prior), NAMES))

    def merge(self, folder: Path) -> float:
        latest = scenarios.latest_sql(f"parquet.`{folder}`", NAMES)
        return self.on.timed(scenarios.merge_sql("merged", latest, NAMES))

    def rewrite(self, folder: Path) -> float:
        before, self.number = f"rewritten_{self.number}", self.number + 1
        latest = scenarios.latest_sql(f"parquet.`{folder}`", NAMES)
        sql = scenarios.rewrite_sql(f"rewritten_{self.number}", latest, False, before, NAMES)
        return self.on.timed(sql, f"drop table {before}")


class Logged(Server):
    """A server that notes what its tasks shuffle and write; reads of Parquet Spark misses."""

    PARTS = (
        ("Shuffle Write Metrics", "Shuffle Bytes Written"),
        ("Output Metrics", "Bytes Written"),
    )

    def __init__(self, state: Path, memory: str, formats: Sequence[str] = ()) -> None:
        self._folder, self._seen = state.with_name(f"{state.name}_events"), 0
        self._folder.mkdir(parents=True)
        words = ("enabled=true", "rolling.enabled=false", "compress=false")
        given = [f"spark.eventLog.{one}" for one in (*words, f"dir={self._folder.as_uri()}")]
        super().__init__(state, memory, formats, given)

    def moved(self) -> list[int]:
        """Return the bytes that tasks have shuffled and written since the last call."""
        sums = [0] * len(self.PARTS)
        [log] = self._folder.glob("[!.]*")
        with log.open("rb") as lines:
            lines.seek(self._seen)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._seen += len(line)
                if b"TaskEnd" not in line[:60]:
                    continue
                metrics = json.loads(line).get("Task Metrics") or {}
                for which, (group, name) in enumerate(self.PARTS):
                    sums[which] += metrics.get(group, {}).get(name, 0)
        return sums


def main() -> int:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="benchmarks.operations")
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--operations", type=int, default=1_000_000, help="of a table and load")
    parser.add_argument("--loads", type=int, default=1)
    parser.add_argument("--prior", type=int, default=400_000, help="rows of a table before")
    parser.add_argument("--input", default="json", choices=["json", "typed"])
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--memory", default="6g")
    parser.add_argument("--rivals", action="store_true", help="of one table, typed")
    args = parser.parse_args()
    if args.rivals and (args.tables, args.input) != (1, "typed"):
        parser.error("--rivals needs --tables 1 --input typed")
    if args.prior // 2 < args.operations // KINDS * args.loads:
        parser.error("--prior has fewer rows than the operations name")
    bench = project.root() / ".spark_cdc" / "bench_operations"
    shutil.rmtree(bench, ignore_errors=True)
    packages.install(if_needed=True)
    days = [str(FIRST + dt.timedelta(days=day)) for day in range(args.loads + 1)]
    names = [f"table_{number:02d}" for number in range(1, args.tables + 1)]
    taken: dict[str, Measure] = {}
    moved: dict[str, list[tuple[int, ...]]] = {}
    on = Logged(bench / "server", args.memory)
    rival = Logged(bench / "rival", args.memory, ["delta"]) if args.rivals else None
    try:
        made = _project(bench, names, args.input, on)
        landing = bench / "landing"
        for name in names:
            land(on, landing / name / days[0], args.input, prior_sql(args.prior))
            for number, day in enumerate(days[1:]):
                rows = operations_sql(args.operations, args.prior, number, args.loads)
                land(on, landing / name / day, args.input, rows)
        hand = ByHand(rival, landing / names[0] / days[0]) if rival else None
        for number, day in enumerate(days):
            files = [file for name in names for file in (landing / name / day).iterdir()]
            landed = sum(file.stat().st_size for file in files)
            words = ("load", "--to", day, "--parallel", str(args.parallel))
            what = "operations" if number else "rows before"
            ways = [(f"{what}, ours", on, partial(made.timed, *words))]
            if number and hand and rival:
                folder = landing / names[0] / day
                ways += [
                    (f"{what}, MERGE", rival, partial(hand.merge, folder)),
                    (f"{what}, rewrite", rival, partial(hand.rewrite, folder)),
                ]
            for name, server, action in ways:
                into = taken.setdefault(name, Measure(name))
                server.moved()
                seconds = measure(into, server, action)
                moved.setdefault(name, []).append((landed, *server.moved()))
                print(f"{name}: {seconds:.1f} s, {into.cpu[-1]:.1f} CPU s", flush=True)
            _check(on, [f"operations.{name}_current" for name in names], args.prior, rival, hand)
    finally:
        for one in (on, rival):
            if one:
                one.stop()
        shutil.rmtree(bench, ignore_errors=True)
    total = args.tables * args.operations * args.loads
    print(
        f"\n{summary.named(total)} operations in {args.loads} loads of {args.tables} tables", end=""
    )
    print(f" of {summary.named(args.prior)} rows, {args.input}; {os.cpu_count()} cores\n")
    rows = []
    for name, into in taken.items():
        sums = (f"{sum(one):.1f}" for one in (into.seconds, into.cpu, into.started))
        gigabytes = (f"{sum(one) / 1e9:.2f}" for one in zip(*moved[name], strict=True))
        rows.append((name, len(into.seconds), *sums, *gigabytes))
    headings = ["what", "loads", "s", "CPU s Spark", "CPU s dbt"]
    headings += [f"GB {word}" for word in ("landed", "shuffled", "written")]
    print(console.table(headings, rows, 60))
    return 0


def _project(bench: Path, names: Sequence[str], kind: str, on: Server) -> Project:
    """A dbt project with an entity for each table."""
    make = scenarios.typed_entity if kind == "typed" else scenarios.json_entity
    entities = [
        make(f"{bench}/landing/{name}/{{business_date}}", name=name, columns=COLUMNS)
        for name in names
    ]
    return Project(bench / "project", entities[0], on, "operations", *entities[1:])


def _check(
    on: Server, tables: Sequence[str], rows: int, rival: Server | None, hand: ByHand | None
) -> None:
    """Every table has as many rows as before, and the rows of one are those of its rivals."""
    figures = f"select count(*), bit_xor(xxhash64({', '.join(NAMES)})), sum(amount) from "
    found = {table: on.execute(figures + table) for table in tables}
    if rival and hand:
        others = ("merged", f"rewritten_{hand.number}")
        found |= {table: rival.execute(figures + table) for table in others}
    if len(set(map(str, found.values()))) > 1 or {one[0][0] for one in found.values()} != {rows}:
        raise SystemExit(f"expected {rows} rows, the same everywhere: {found}")


if __name__ == "__main__":
    sys.exit(main())
