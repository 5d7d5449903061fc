"""Many entities by one command: `python -m benchmarks.many`.

    python -m benchmarks.many --entities 65 --rows 100000 --changes 1000

Day 1 is a first load of all rows, day 2 a delta of changes, each by one `spark-cdc load`. Server,
schema and data are its own, in .spark_cdc/bench/many.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from functools import partial

from benchmarks import harness

from spark_cdc import console, packages, project
from spark_cdc.scaffold.entity import Column, Entity

DAYS = ("2024-01-01", "2024-01-02")
COLUMNS = (
    Column("id", "bigint", role="key"),
    Column("name", "string"),
    Column("amount", "decimal(12,2)"),
    Column("changed_at", "timestamp_ntz"),
)
TARGET = 120.0  # seconds for day 2 of 65 entities on two idle cores


def _rows(first: int, last: int, day: int) -> str:
    return (
        f"select id, concat('name ', id, ' {day}') as name,"
        " cast((id % 1000) / 7 as decimal(12, 2)) as amount,"
        f" timestamp_ntz'2024-01-0{day} 00:00:00' + make_dt_interval(0, 0, 0, id) as changed_at"
        f" from range({first}, {last}, 1, 1)"
    )


def main() -> int:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entities", type=int, default=65)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--memory", default="3g")
    args = parser.parse_args()
    bench = project.root() / ".spark_cdc" / "bench" / "many"
    shutil.rmtree(bench, ignore_errors=True)
    packages.install(if_needed=True)
    landing = bench / "landing"
    entities = [
        Entity(
            f"many_{number:02d}",
            COLUMNS,
            load_type="delta",
            format="parquet",
            path=f"{landing}/many_{number:02d}/{{business_date}}",
        )
        for number in range(1, args.entities + 1)
    ]
    server = harness.Server(bench / "server", args.memory)
    try:
        made = harness.Project(bench / "project", entities[0], server, "many", *entities[1:])
        for entity in entities:
            inputs = (_rows(0, args.rows, 1), _rows(0, args.changes, 2))
            for day, rows in zip(DAYS, inputs, strict=True):
                place = f"{landing}/{entity.name}/{day}"
                server.execute(f"insert overwrite directory '{place}' using parquet {rows}")
        found = [harness.Measure(day) for day in DAYS]
        for into in found:
            words = ("load", "--to", into.name, "--parallel", str(args.parallel))
            harness.measure(into, server, partial(made.timed, *words, is_shown=True))
    finally:
        server.stop()
        shutil.rmtree(bench / "server" / "warehouse", ignore_errors=True)
    headings = ["day", "rows in each", "seconds", "CPU s Spark", "CPU s dbt", "Spark's share"]
    sizes = (args.rows, args.changes)
    rows = [
        (
            *(into.name, size, round(into.median, 1), round(into.cpu[0], 1)),
            *(round(into.started[0], 1), f"{into.cpu[0] / (into.cpu[0] + into.started[0]):.0%}"),
        )
        for into, size in zip(found, sizes, strict=True)
    ]
    print(f"{args.entities} entities, --parallel {args.parallel}, {os.cpu_count()} cores;", end=" ")
    print(f"load average {os.getloadavg()[0]:.1f}\n\n{console.table(headings, rows, 60)}\n")
    if args.entities == 65:
        print(f"Day 2: target {TARGET:.0f} s, {'met' if found[1].median <= TARGET else 'missed'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
