"""`python -m benchmarks.backfill`: a year of snapshots in one pass, and one by one.

    python -m benchmarks.backfill --dates 365 --rows 100000 --changed 0.01 --single 10

Both ways begin with an entity of which nothing is loaded. The loads one by one are `spark-cdc load`
of a range, which starts and parses once; of the whole year they are extrapolated. Servers, schemas
and data are the benchmark's own, in .spark_cdc/bench.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import random
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness import Project, Server

from spark_cdc import project
from spark_cdc.scaffold import new

FIRST = dt.date(2024, 1, 1)
COLUMNS = [
    new.Column("order_no", "bigint", role="key"),
    new.Column("customer", "string"),
    new.Column("status", "string"),
    new.Column("amount", "decimal(12,2)"),
    new.Column("ordered_at", "timestamp"),
]


def _row(chance: random.Random, number: int) -> str:
    second = chance.randrange(86_400)
    at = (
        f"2023-{number % 12 + 1:02}-{number % 28 + 1:02} {second // 3600:02}:{second // 60 % 60:02}"
    )
    status = chance.choice(("open", "paid", "sent", "returned"))
    amount = f"{chance.randrange(10**7) / 100:.2f}"
    return f"{number},customer {chance.randrange(10**5)},{status},{amount},{at}:{second % 60:02}\n"


def generate(folder: Path, dates: Sequence[str], rows: int, changed: float) -> None:
    """Write a snapshot for each date; 8 of 10 changes are updates, the others come and go."""
    chance = random.Random(1)
    state = [_row(chance, number) for number in range(rows)]
    numbers = rows
    for at, date in enumerate(dates):
        for _ in range(round(rows * changed) if at else 0):
            place = chance.randrange(len(state))
            if chance.random() < 0.8:
                state[place] = _row(chance, int(state[place].split(",", 1)[0]))
            else:
                state[place] = _row(chance, numbers)
                numbers += 1
        (folder / date).mkdir(parents=True)
        header = ",".join(column.name for column in COLUMNS)
        (folder / date / "data.csv").write_text(f"{header}\n" + "".join(state))


def timed(here: Project, *words: str) -> float:
    """Run spark-cdc on a project and return its seconds."""
    begun = time.monotonic()
    here.command(*words, is_shown=True)
    return time.monotonic() - begun


def main() -> int:
    """Measure both, and print what docs/benchmarks/many_loads.md says."""
    parser = argparse.ArgumentParser(prog="benchmarks.backfill")
    parser.add_argument("--dates", type=int, default=365)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--changed", type=float, default=0.01, help="share of rows per date")
    parser.add_argument("--single", type=int, default=10, help="dates loaded one by one, after one")
    parser.add_argument("--per-statement", type=int, default=60)
    parser.add_argument("--memory", default="4g")
    args = parser.parse_args()
    bench = project.root() / ".spark_cdc" / "bench" / "backfill"
    landing = bench / "landing"
    shutil.rmtree(landing, ignore_errors=True)
    dates = [str(FIRST + dt.timedelta(days=at)) for at in range(args.dates)]
    print(f"Generate {args.dates} snapshots of {args.rows:,} rows …", flush=True)
    generate(landing, dates, args.rows, args.changed)
    on = Server(bench / "server", args.memory)
    entity = new.Entity("orders", COLUMNS, path=f"{landing}/{{business_date}}")
    try:
        alone = Project(bench / "alone", entity, on, "alone")
        timed(alone, "load", dates[0])
        last = min(args.single, args.dates - 1)
        single = timed(alone, "load", f"{dates[1]}..{dates[last]}") / last
        on.reset_peak()
        before = on.peak
        together = Project(bench / "together", entity, on, "together")
        words = ("--dates-per-statement", str(args.per_statement), "--select", "orders")
        seconds = timed(together, "load", f"{dates[0]}..{dates[-1]}", "--bulk", *words)
        peak = on.peak
        same = [
            "select 'alone', count(*), sum(amount), count(distinct eff_start_date)"
            " from alone.orders_history union all select 'together', count(*), sum(amount),"
            " count(distinct eff_start_date) from together.orders_history"
            f" where business_date <= date'{dates[last]}'"
        ]
        for sql in same:
            print(on.execute(sql))
    finally:
        on.stop()
    print(
        f"{args.dates} dates of {args.rows:,} rows, {args.changed:.1%} changed, load average"
        f" {os.getloadavg()[0]:.1f}:\n"
        f"  one by one: {single:.2f} s a date ({last} dates), {single * args.dates:.0f} s for all\n"
        f"  backfill: {seconds:.0f} s, {seconds / args.dates:.2f} s a date,"
        f" {single * args.dates / seconds:.1f} times as fast\n"
        f"  memory of the server: {before / 2**30:.1f} GiB before, {peak / 2**30:.1f} at most"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
