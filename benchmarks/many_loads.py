"""What loads and reads cost after 10, 100, 400 loads of one entity, every 15 minutes.

    python -m benchmarks.many_loads --loads 400 --rows 100000 --changes 1000
    python -m benchmarks.many_loads --upkeep '{compact_loads: null}'      # without upkeep

Loads are those of `spark-cdc load FIRST..LAST --every 15m`, as users run it, with the seconds that
it prints. Reads are whole columns of current, one date of history, versions as of the middle; the
median of five. Prints a table and the plots (Mermaid) of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import datetime as dt
import random
import re
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from benchmarks.harness import Project, Server

from spark_cdc import new, project

FIRST = dt.datetime(2024, 1, 1)
STEP = dt.timedelta(minutes=15)
COLUMNS = [
    new.Column("id", "bigint", role="key"),
    new.Column("name", "string"),
    *(new.Column(f"value{i}", "double") for i in range(1, 6)),
]
HEADINGS = ("loads", "s per load", "statements", "in the manifest", "characters of it",
            "files", "files of current", "current s", "history s", "versions s")  # fmt: skip


def _line(rng: random.Random, key: int) -> str:
    return ",".join([str(key), f"name {key}", *(f"{rng.uniform(0, 1000):.3f}" for _ in range(5))])


def land(folder: Path, loads: int, rows: int, changes: int) -> None:
    """Land all rows first, then changes of random keys, some of them new."""
    rng = random.Random(17)
    for number in range(loads):
        place = folder / f"{FIRST + number * STEP:%Y-%m-%dT%H%M%S}"
        keys = rng.sample(range(rows + number * 10), changes) if number else range(rows)
        place.mkdir(parents=True)
        lines = ["id,name,value1,value2,value3,value4,value5", *(_line(rng, key) for key in keys)]
        (place / "part.csv").write_text("\n".join(lines) + "\n")


class Loads:
    """An entity in a project of its own, on a server of its own."""

    def __init__(self, bench: Path, on: Server, upkeep: object) -> None:
        landing = bench / "landing" / "{business_date}"
        entity = new.Entity(
            "meter", COLUMNS, "delta", path=str(landing), business_date_type="timestamp"
        )
        self.on = on
        self.project = Project(bench / "project", entity, on, "many_loads")
        if upkeep:
            self.project.set(upkeep=upkeep)
        self.log = bench / "project/logs/dbt.log"

    def load(self, first: int, last: int) -> list[float]:
        """Load a range of numbers; return the seconds of each."""
        ends = [f"{FIRST + at * STEP:%Y-%m-%d %H:%M:%S}" for at in (first, last)]
        self.log.unlink(missing_ok=True)
        words = ["load", "..".join(ends), "--every", "15m", "--select", "models/meter"]
        printed = self.project.command(*words)
        return [float(s) for s in re.findall(r" of \d+ {2}([\d.]+) s {2}", printed)]

    @property
    def statements(self) -> int:
        """How many statements the models sent since the log began."""
        sent = re.findall(r"On model\.\S+?: (?!Close|ROLLBACK)", self.log.read_text())
        return len(sent)

    def read(self, sql: str) -> float:
        return statistics.median(self.on.timed(sql) for _ in range(5))

    def state(self, last: int) -> list[object]:
        """Return what is there, and what reads take."""
        current, history, versions, committed, ledger = (
            self.project.table(kind)
            for kind in ("current", "history", "versions", "committed", "ledger")
        )
        text = self.on.execute(f"show create table {committed}")[0][0]
        loads = re.findall(r"'\d{8}T\d{6}-[a-z]+-[0-9a-f]{8}',?\n", text)
        folder = Path(self.on.warehouse) / f"{self.project.schema}.db" / ledger.split(".")[1]
        files = sum(1 for _ in folder.rglob("*.parquet"))
        read = self.on.execute(
            f"select count(distinct _metadata.file_path) from {ledger} where load_id in (select"
            f" load_id from {committed} where in_base or in_log)"
        )[0][0]
        middle = f"timestamp_ntz'{FIRST + last // 2 * STEP}'"
        sums = "count(*), max(nonkey_hash), sum(value1), sum(value5)"
        return [
            len(set(loads)),
            len(text),
            files,
            read,
            self.read(f"select {sums} from {current}"),
            self.read(f"select {sums} from {history} where business_date = {middle}"),
            self.read(
                f"select {sums} from {versions} where eff_start_date <= {middle}"
                f" and (eff_end_date > {middle} or eff_end_date is null)"
            ),
        ]


def plot(title: str, unit: str, rows: Sequence[Sequence[object]], column: int) -> Iterator[str]:
    """Yield a plot over the number of loads as Mermaid has it."""
    values = [float(str(row[column])) for row in rows]
    yield "```mermaid"
    yield "xychart-beta"
    yield f'    title "{title}"'
    yield f'    x-axis "loads" [{", ".join(str(row[0]) for row in rows)}]'
    yield f'    y-axis "{unit}" 0 --> {max(values) * 1.2:.2g}'
    yield f"    line [{', '.join(f'{value:.3g}' for value in values)}]"
    yield "```"


def main() -> None:
    """Load, read, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loads", type=int, default=400)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--changes", type=int, default=1_000)
    parser.add_argument("--chunk", type=int, default=10, help="loads between two readings")
    parser.add_argument("--upkeep", type=yaml.safe_load, default=None, help="of the entity")
    parser.add_argument("--memory", default="3g")
    args = parser.parse_args()
    bench = project.root() / ".spark_cdc" / "bench" / "many_loads"
    subprocess.run(["rm", "-rf", str(bench)], check=True)
    land(bench / "landing", args.loads + 1, args.rows, args.changes)
    on = Server(bench / "server", args.memory)
    rows: list[list[object]] = []
    try:
        loads = Loads(bench, on, args.upkeep)
        loads.load(0, 0)
        for first in range(1, args.loads + 1, args.chunk):
            last = min(first + args.chunk - 1, args.loads)
            seconds = loads.load(first, last)
            row = [last, statistics.median(seconds), loads.statements / len(seconds)]
            rows.append([*row, *loads.state(last), max(seconds)])
            print(*(f"{x:.2f}" if isinstance(x, float) else x for x in rows[-1]), flush=True)
    finally:
        on.stop()
    print(f"| {' | '.join([*HEADINGS, 'slowest load s'])} |")
    for row in rows:
        print(f"| {' | '.join(f'{x:.2f}' if isinstance(x, float) else str(x) for x in row)} |")
    for title, unit, column in (
        ("Seconds per load", "s", 1), ("Seconds to read current", "s", 7),
        ("Seconds to read one date of history", "s", 8),
        ("Seconds to read versions as of a time", "s", 9), ("Files of the ledger", "files", 5),
    ):  # fmt: skip
        print("\n".join(plot(title, unit, rows, column)))


if __name__ == "__main__":
    main()
