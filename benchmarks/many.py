"""Many entities by one command: `python -m benchmarks.many`.

    python -m benchmarks.many --entities 65 --rows 100000 --changes 1000

Day 1 is a first load of all rows, day 2 a delta of changes, each by one `spark-cdc load`. Server,
schema and data are its own, in .spark_cdc/bench/many.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import time

import psutil
from benchmarks import harness

from spark_cdc import console, new, packages, project
from spark_cdc.entity import Column, Entity

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


def _cpu(pid: int) -> float:
    used = psutil.Process(pid).cpu_times()
    return float(used.user + used.system)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
        made = harness.Project(bench / "project", entities[0], server, "many")
        for entity in entities[1:]:
            new.write(entity, made.folder / "models")
        for entity in entities:
            inputs = (_rows(0, args.rows, 1), _rows(0, args.changes, 2))
            for day, rows in zip(DAYS, inputs, strict=True):
                place = f"{landing}/{entity.name}/{day}"
                server.execute(f"insert overwrite directory '{place}' using parquet {rows}")
        found = [_timed(made, day, args.parallel) for day in DAYS]
    finally:
        server.stop()
        shutil.rmtree(bench / "server" / "warehouse", ignore_errors=True)
    headings = ["day", "rows in each", "seconds", "CPU s Spark", "CPU s dbt", "Spark's share"]
    sizes = (args.rows, args.changes)
    rows = [
        (day, size, *(round(value, 1) for value in one), f"{one[1] / (one[1] + one[2]):.0%}")
        for day, size, one in zip(DAYS, sizes, found, strict=True)
    ]
    print(f"{args.entities} entities, --parallel {args.parallel}, {os.cpu_count()} cores;", end=" ")
    print(f"load average {os.getloadavg()[0]:.1f}\n\n{console.table(headings, rows, 60)}\n")
    if args.entities == 65:
        print(f"Day 2: target {TARGET:.0f} s, {'met' if found[1][0] <= TARGET else 'missed'}.")
    return 0


def _timed(made: harness.Project, day: str, parallel: int) -> tuple[float, ...]:
    """Run the command for a day; return its seconds, and the CPU seconds of Spark and of dbt."""
    server = made.on.status.pid
    before, own, begun = _cpu(server), _children(), time.monotonic()
    made.command("load", "--to", day, "--parallel", str(parallel), is_shown=True)
    seconds = time.monotonic() - begun
    return seconds, _cpu(server) - before, _children() - own


if __name__ == "__main__":
    sys.exit(main())
