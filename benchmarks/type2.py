"""`python -m benchmarks.dbt_snapshots`: dbt's snapshots beside loads of ours.

    python -m benchmarks.dbt_snapshots --rows 1000000 --changes 1000 --format delta

A table of so many rows, in which so many change a day. dbt's snapshot reads all of it, with each of
its strategies; so does a full load of ours, and a delta gets the changed rows alone. All are whole
commands that parse the project anew, in turns; the first day warms up. CPU seconds are those of the
server.
"""

from __future__ import annotations

import argparse
import datetime as dt
import shutil
import statistics
import sys
from pathlib import Path

import psutil
import yaml
from benchmarks.harness import Project, Server

from spark_cdc import new, project

FIRST = dt.date(2024, 1, 1)
COLUMNS = [
    new.Column("id", "bigint", role="key"),
    *(new.Column(f"text{i}", "string") for i in range(1, 5)),
    *(new.Column(f"value{i}", "double") for i in range(1, 9)),
    new.Column("changed_on", "date"),
]
NAMES = [column.name for column in COLUMNS]
STRATEGIES = {
    "check": {"strategy": "check", "check_cols": NAMES[1:]},
    "timestamp": {"strategy": "timestamp", "updated_at": "changed_on"},
}


def state_sql(rows: int, changes: int, day: int) -> str:
    """The table on a day: a row has the day on which it changed last in its columns."""
    last = ", ".join(
        f"if(pmod(xxhash64(id, {one}), {rows // changes}) = 0, {one}, 0)"
        for one in range(1, day + 1)
    )
    texts = ", ".join(f"md5(concat(id, '-{i}')) as text{i}" for i in range(1, 5))
    values = ", ".join(f"id / {i} + last_day as value{i}" for i in range(1, 9))
    return f"""
        select id, {texts}, {values}, date_add(date'{FIRST}', last_day) as changed_on, last_day
        from (select id, {f"greatest(0, {last})" if last else 0} as last_day from range({rows}))"""


def land(on: Server, landing: Path, rows: int, changes: int, day: int) -> None:
    """Write the state of a day, and what has changed in it."""
    date = FIRST + dt.timedelta(days=day)
    on.execute(
        f"insert overwrite directory '{landing}/all/{date}' using parquet"
        f" select {', '.join(NAMES)} from ({state_sql(rows, changes, day)})"
    )
    on.execute(
        f"insert overwrite directory '{landing}/changed/{date}' using parquet"
        f" select {', '.join(NAMES)} from parquet.`{landing}/all/{date}`"
        f" where changed_on = date'{date}'"
    )
    text = f"view bench_items.source as select * from parquet.`{landing}/all/{date}`"
    on.execute(f"{'alter' if day else 'create'} {text}")


def snapshots(folder: Path, table_format: str) -> None:
    """Write dbt's snapshots of the table, one per strategy."""
    common = {"file_format": table_format, "unique_key": "id", "hard_deletes": "ignore"}
    source = {"name": "bench_items", "tables": [{"name": "source"}]}
    described = [
        {
            "name": f"items_{name}",
            "relation": "source('bench_items', 'source')",
            "config": common | more,
        }
        for name, more in STRATEGIES.items()
    ]
    (folder / "snapshots").mkdir(exist_ok=True)
    (folder / "snapshots" / "items.yml").write_text(yaml.safe_dump({"snapshots": described}))
    (folder / "models" / "source.yml").write_text(yaml.safe_dump({"sources": [source]}))


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.dbt_snapshots")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--changes", type=int, default=1_000)
    parser.add_argument("--format", default="delta", choices=["delta", "iceberg"])
    parser.add_argument("--days", type=int, default=3, help="that count, after the first two")
    parser.add_argument("--memory", default="4g")
    args = parser.parse_args()
    bench = project.root() / ".spark_cdc" / "bench_snapshots"
    landing = bench / "landing"
    on = Server(bench / "server", args.memory, [args.format])
    shutil.rmtree(landing, ignore_errors=True)
    process = psutil.Process(on.status.pid)
    took: dict[str, list[tuple[float, float]]] = {}
    try:
        on.execute("create database bench_items")
        ours = {}
        for name, load_type, folder in (
            ("delta", "delta", "changed"), ("full", "full", "all"),
        ):  # fmt: skip
            entity = new.Entity(
                f"items_{name}", COLUMNS, path=f"{landing}/{folder}/{{business_date}}",
                load_type=load_type, format="parquet", extra=["versions"],
            )  # fmt: skip
            ours[name] = Project(bench / name, entity, on, f"bench_{name}")
        snapshots(ours["delta"].folder, args.format)
        for day in range(args.days + 2):
            date = str(FIRST + dt.timedelta(days=day))
            land(on, landing, args.rows, args.changes, day)
            variables = ("--vars", project.variables({"business_date": date}))
            commands = {f"load, {name}": (one, "run", *variables) for name, one in ours.items()}
            for name in STRATEGIES:
                words = ("snapshot", "--select", f"items_{name}")
                commands[f"dbt snapshot, {name}"] = (ours["delta"], *words)
            for name, (one, *words) in commands.items():
                cpu = sum(process.cpu_times()[:2])
                seconds = one.dbt(*words).seconds
                used = (seconds, sum(process.cpu_times()[:2]) - cpu)
                print(f"{date} {name}: {used[0]:.1f} s, {used[1]:.1f} s of CPU", flush=True)
                if day > 1:
                    took.setdefault(name, []).append(used)
        tables = {f"bench_delta.items_{name}": "dbt_valid_to is null" for name in STRATEGIES}
        tables |= {one.table("versions"): "is_current" for one in ours.values()}
        counts = {
            table: on.execute(f"select count(*), count_if({is_open}) from {table}")[0]
            for table, is_open in tables.items()
        }
        if len(set(counts.values())) > 1:
            raise SystemExit(f"they have other versions: {counts}")
    finally:
        on.stop()
        shutil.rmtree(bench, ignore_errors=True)
    print("| | Seconds | CPU seconds of the server |\n|---|---|---|")
    for name, used in took.items():
        seconds, cpu = (statistics.median(column) for column in zip(*used, strict=True))
        print(f"| {name} | {seconds:.1f} | {cpu:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
