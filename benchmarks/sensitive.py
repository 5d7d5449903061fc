"""What sensitive columns cost: the same full loads and reads with and without them, in turns.

    .venv/bin/python -m benchmarks.sensitive --rows 1000000 --repeat 3

Prints the rows of a table.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
from dataclasses import replace

from benchmarks.harness import Measure, Project, Server, measure
from benchmarks.scenarios import DAYS, full_entity, make_full

from spark_cdc import packages, project
from spark_cdc.errors import SparkCdcError

SENSITIVE = {"key5": "last_4", "value1": None, "value2": None}

# of each view, by columns that everybody may see
READS = {
    "current": "select count(*), sum(value3), sum(value4) from {}",
    "history": f"select count(*), sum(value3) from {{}} where business_date = '{DAYS[-1]}'",
    "versions": "select count(*), sum(value3), max(eff_end_date) from {}",
}


def shown(projects: dict[str, Project], kind: str) -> list[str]:
    """Return a view without sensitive columns, with their masks, and with their values."""
    apart = f"bench_apart_sensitive.item_{kind}_sensitive"
    return [projects["plain"].table(kind), projects["apart"].table(kind), apart]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3, help="runs that count, after a first one")
    parser.add_argument("--memory", default="4g", help="heap of the server")
    args = parser.parse_args()
    root = project.root()
    bench = root / ".spark_cdc" / "bench"
    packages.install(if_needed=True)
    landing = make_full(bench / "landing", args.rows)
    plain = replace(full_entity(str(landing)), extra=["versions"])
    apart = replace(
        plain,
        columns=[
            replace(one, sensitive=True, mask=SENSITIVE[one.name]) if one.name in SENSITIVE else one
            for one in plain.columns
        ],
    )
    on = Server(bench / "server", args.memory)
    try:
        projects = {
            name: Project(bench / f"sensitive_{name}", entity, on, f"bench_{name}")
            for name, entity in (("plain", plain), ("apart", apart))
        }
        on.execute("drop database if exists bench_apart_sensitive cascade")
        projects["apart"].command("secrets", "init")
        results = {(day, name): Measure(f"{day} {name}") for day in DAYS for name in projects}
        for day in DAYS:  # the last load can be repeated, none before it
            for number in range(-1, args.repeat):  # the first round warms up
                for name, one in projects.items():
                    into = results[day, name] if number >= 0 else Measure("")
                    measure(into, on, one.load, day)
        for day in DAYS:
            of_day = {name: results[day, name] for name in projects}
            seconds = {name: one.part("all") for name, one in of_day.items()}
            cpu = {name: statistics.median(one.cpu) for name, one in of_day.items()}
            cells = [f"{values['plain']:.1f} | {values['apart']:.1f}" for values in (seconds, cpu)]
            print(f"| day {DAYS.index(day) + 1} | {' | '.join(cells)} |")
        for name, query in READS.items():
            found = [Measure(view) for view in shown(projects, name)]
            for number in range(-1, args.repeat * 3):
                for one in found:
                    into = one if number >= 0 else Measure("")
                    measure(into, on, on.timed, query.format(one.name))
            told = [f"{one.median:.2f} ({statistics.median(one.cpu):.1f})" for one in found]
            print(f"| `{name}` | {' | '.join(told)} |")
        for view in shown(projects, "current")[1:]:
            plan = on.execute(f"explain select sum(value3) from {view}")[0][0]
            print(f"{view} lists partitions: {re.findall(r'FileIndex.([0-9]+) paths', plan)}")
        for database in sorted(on.warehouse.glob("bench_*.db")):
            for table in sorted(database.glob("item_ledger*")):
                size = sum(file.stat().st_size for file in table.rglob("*.parquet"))
                print(f"{database.name}/{table.name}: {size / 2**20:.0f} MiB")
    finally:
        on.stop()
        shutil.rmtree(bench / "server" / "warehouse", ignore_errors=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SparkCdcError as error:
        sys.exit(f"{error.message}\n{error.next_step}".strip())
