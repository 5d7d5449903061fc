"""What `cluster_by` is worth to a query of a range, and what it costs a compaction.

    python -m benchmarks.layout --rows 10000000

Three entities with the same rows: as they come, by a timestamp, by timestamp and customer. Files
are those whose minimum and maximum don't rule them out, of all; seconds the median of seven.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.harness import Project, Server

from spark_cdc import project
from spark_cdc.scaffold import new

COLUMNS = [
    new.Column("id", "bigint", role="key"),
    new.Column("customer", "bigint"),
    new.Column("ordered_at", "timestamp"),
    new.Column("amount", "double"),
    new.Column("remark", "string"),
]
DAYS = [f"2024-01-0{day}" for day in range(1, 6)]
LAYOUTS = {"plain": [], "by_time": ["ordered_at"], "by_both": ["ordered_at", "customer"]}
RANGES = {
    "1% of the time": "ordered_at >= '2023-06-01' and ordered_at < '2023-06-05'",
    "1% of the customers": "customer between 400000 and 410000",
    "10% of both": "ordered_at >= '2023-06-01' and ordered_at < '2023-07-07'"
    " and customer between 400000 and 500000",
}


def land(on: Server, folder: Path, rows: int) -> None:
    """Land rows in a random order of everything, as Parquet."""
    on.execute(f"""
        insert overwrite directory '{folder}' using parquet
        select
            xxhash64(id) as id,
            pmod(xxhash64(id, 1), 1000000) as customer,
            timestamp'2023-01-01 00:00:00' + make_dt_interval(0, 0, 0,
                cast(pmod(xxhash64(id, 2), 31536000) as decimal(18, 6))) as ordered_at,
            pmod(xxhash64(id, 3), 100000) / 100 as amount,
            sha2(cast(id as string), 256) as remark
        from range(0, {rows}, 1, 8)
    """)


def main() -> None:
    """Load, compact, read, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    args = parser.parse_args()
    bench = project.root() / ".spark_cdc" / "bench" / "layout"
    subprocess.run(["rm", "-rf", str(bench)], check=True)
    on = Server(bench / "server", "4g")
    print("| Layout | Compaction s | Range | Files | of | Seconds |\n|---|---:|---|---:|---:|---:|")
    try:
        for at, day in enumerate(DAYS):
            land(on, bench / "landing" / day, 10 if at else args.rows)
        path = f"{bench}/landing/{{business_date}}"
        base = new.Entity("sale", COLUMNS, "delta", format="parquet", path=path)
        for name, columns in LAYOUTS.items():
            one = Project(bench / name, replace(base, name=f"sale_{name}"), on, "layout")
            one.command("load", f"{DAYS[0]}..{DAYS[-1]}")
            one.set(cluster_by=columns)
            begun = time.monotonic()
            one.command("compact", "--older-than", "0")
            took = time.monotonic() - begun
            for title, condition in RANGES.items():
                found = on.execute(f"""
                    select count(*), count_if({overlap(condition)}) from (
                        select _metadata.file_path, min(customer) as c1, max(customer) as c2,
                            min(ordered_at) as o1, max(ordered_at) as o2
                        from {one.table("ledger")}
                        where operation = 'X' and load_id like '%-hc-%'
                        group by all
                    )
                """)
                sql = f"select count(*), sum(amount) from {one.table('current')} where {condition}"
                seconds = statistics.median(on.timed(sql) for _ in range(7))
                cells = (name, f"{took:.0f}", title, found[0][1], found[0][0], f"{seconds:.2f}")
                print(f"| {' | '.join(map(str, cells))} |", flush=True)
    finally:
        on.stop()


def overlap(condition: str) -> str:
    """Return which files may hold rows of a range, by their minimum and maximum."""
    text = condition
    for column, short in (("ordered_at", "o"), ("customer", "c")):
        text = text.replace(f"{column} >= ", f"{short}2 >= ").replace(
            f"{column} < ", f"{short}1 < "
        )
    for low, high in (("400000", "410000"), ("400000", "500000")):
        text = text.replace(f"customer between {low} and {high}", f"c2 >= {low} and c1 <= {high}")
    return text


if __name__ == "__main__":
    main()
