"""What loads and reads cost after 10, 100, 400 loads of one entity, every 15 minutes.

    python -m benchmarks.many_loads --loads 400 --rows 100000 --changes 1000
    python -m benchmarks.many_loads --maintenance '{compact_loads: null}'      # without maintenance

Loads are those of `spark-cdc load FIRST..LAST --step 15m`, as users run it, with the seconds that
it prints. Reads are sums over current, one date of history, versions as of a time; the median of
five. At some numbers of loads the entity is held against another that has the same data and has
been loaded ten times only, in turn, so that whatever else the machine does counts for both: what
is printed are ratios. Prints a table and plots (Mermaid) as docs/benchmarks/many_loads.md has them.
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

from spark_cdc import project
from spark_cdc.scaffold import new

FIRST = dt.datetime(2024, 1, 1)
STEP = dt.timedelta(minutes=15)
YOUNG = 10  # loads of the one that the other is held against
COLUMNS = [
    new.Column("id", "bigint", role="key"),
    new.Column("name", "string"),
    *(new.Column(f"value{i}", "double") for i in range(1, 6)),
]
READS = {  # ratios of these, and of loads
    "current": "{current}",
    "history": "{history} where business_date = date'{day}'",
    "versions": "{versions} where eff_start_date <= {time}"
    " and (eff_end_date > {time} or eff_end_date is null)",
}
HEADINGS = ("loads", "load", *READS, "statements", "in the manifest", "characters", "files",
            "files of current")  # fmt: skip


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
    """An entity in a project of its own."""

    def __init__(self, bench: Path, on: Server, name: str, maintenance: object) -> None:
        landing = bench / "landing" / "{business_date}"
        entity = new.Entity(
            name, COLUMNS, "delta", path=str(landing), business_date_type="timestamp",
            extra=["versions"],
        )  # fmt: skip
        self.on, self.count = on, 0
        self.project = Project(bench / name, entity, on, f"many_{name}")
        if maintenance:
            self.project.set(maintenance=maintenance)
        self.log = bench / name / "logs/dbt.log"

    def load(self, count: int) -> list[float]:
        """Load so many more; return the seconds of each."""
        ends = [self.count, self.count + count - 1]
        dates = "..".join(f"{FIRST + at * STEP:%Y-%m-%d %H:%M:%S}" for at in ends)
        self.log.unlink(missing_ok=True)
        self.count += count
        printed = self.project.command("load", dates, "--step", "15m", "--select",
                                       f"models/{self.project.entity.name}")  # fmt: skip
        return [float(s) for s in re.findall(r" of \d+ {2}([\d.]+) s {2}", printed)]

    @property
    def statements(self) -> int:
        """How many statements the models sent since the log began."""
        return len(re.findall(r"On model\.\S+?: (?!Close|ROLLBACK)", self.log.read_text()))

    def read(self, sql: str) -> float:
        names = {kind: self.project.table(kind) for kind in ("current", "history", "versions")}
        middle = FIRST + self.count // 2 * STEP
        text = sql.format(**names, day=middle.date(), time=f"timestamp_ntz'{middle}'")
        return self.on.timed(f"select count(*), max(nonkey_hash), sum(value1) from {text}")

    def state(self) -> list[object]:
        """Return what is there: loads and characters of the manifest, files, those of current."""
        committed, ledger = self.project.table("committed"), self.project.table("ledger")
        text = self.on.execute(f"show create table {committed}")[0][0]
        loads = re.findall(r"'\d{8}T\d{6}-[a-z]+-[0-9a-f]{8}',?\n", text)
        folder = Path(self.on.warehouse) / f"{self.project.schema}.db" / ledger.split(".")[1]
        files = sum(1 for _ in folder.rglob("*.parquet"))
        read = self.on.execute(
            f"select count(distinct _metadata.file_path) from {ledger} where load_id in (select"
            f" load_id from {committed} where in_checkpoint or since_checkpoint)"
        )[0][0]
        return [len(set(loads)), len(text), files, read]


def compared(old: Loads, young: Loads) -> list[float]:
    """Return how many times longer a load and each read takes of the one than of the other."""
    seconds = old.load(5), young.load(5)
    ratios = [statistics.median(seconds[0]) / statistics.median(seconds[1])]
    for sql in READS.values():
        pairs = [(old.read(sql), young.read(sql)) for _ in range(7)]
        ratios.append(
            statistics.median(one for one, _ in pairs) / statistics.median(two for _, two in pairs)
        )
    return ratios


def plot(title: str, rows: Sequence[Sequence[object]], column: int) -> Iterator[str]:
    """Yield a plot over the number of loads as Mermaid has it."""
    values = [float(str(row[column])) for row in rows]
    yield "```mermaid"
    yield "xychart-beta"
    yield f'    title "{title}"'
    yield f'    x-axis "loads" [{", ".join(str(row[0]) for row in rows)}]'
    yield f'    y-axis "" 0 --> {max(1.5, *values) * 1.1:.2g}'
    yield f"    line [{', '.join(f'{value:.3g}' for value in values)}]"
    yield "```"


def main() -> None:
    """Load, read, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loads", type=int, default=400)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--changes", type=int, default=1_000)
    parser.add_argument("--chunk", type=int, default=50, help="loads between two comparisons")
    parser.add_argument("--maintenance", type=yaml.safe_load, default=None, help="of the entity")
    parser.add_argument("--memory", default="3g")
    args = parser.parse_args()
    bench = project.root() / ".spark_cdc" / "bench" / "many_loads"
    subprocess.run(["rm", "-rf", str(bench)], check=True)
    land(bench / "landing", args.loads + 1, args.rows, args.changes)
    on = Server(bench / "server", args.memory)
    rows: list[list[object]] = []
    try:
        old = Loads(bench, on, "old", args.maintenance)
        old.load(1 + YOUNG)
        while True:
            name = f"young{len(rows)}"
            young = Loads(bench, on, name, {"compact_loads": None})
            young.load(1 + YOUNG)
            ratios = compared(old, young)
            rows.append([old.count - 1, *ratios, old.statements / 5, *old.state()])
            print(*(f"{x:.2f}" if isinstance(x, float) else x for x in rows[-1]), flush=True)
            left = args.loads + 1 - old.count
            if left < 5:  # a comparison takes five
                break
            if left > 5:
                old.load(min(args.chunk, left) - 5)
    finally:
        on.stop()
    print(f"| {' | '.join(HEADINGS)} |")
    for row in rows:
        print(f"| {' | '.join(f'{x:.2f}' if isinstance(x, float) else str(x) for x in row)} |")
    for column, title in enumerate(("A load", *(f"A read of {one}" for one in READS)), 1):
        text = f"{title}, times that of an entity with {YOUNG} loads"
        print("\n".join(plot(text, rows, column)))


if __name__ == "__main__":
    main()
