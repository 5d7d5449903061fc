"""`python -m benchmarks.import_versions`: versions of a Delta table in one pass, and one by one.

    python -m benchmarks.import_versions --versions 100 --rows 1000000 --changed 0.01 --single 5

Each version is made by a MERGE that touches some keys. One by one, a version is a full load of its
rows as Parquet; of all versions it is extrapolated. Server, schemas and data are the benchmark's
own, in .spark_cdc/bench.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import shutil
import time

from benchmarks.backfill import COLUMNS, timed
from benchmarks.harness import Project, Server

from spark_cdc import project
from spark_cdc.scaffold import new

FIRST = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
ROW = (
    "id as order_no, concat('customer ', id % 100000) as customer, 'open' as status,"
    " cast({} as decimal(12,2)) as amount, timestamp'2023-01-01' as ordered_at"
)


def main() -> int:
    """Measure both, and print what they take."""
    parser = argparse.ArgumentParser(prog="benchmarks.import_versions")
    parser.add_argument("--versions", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--changed", type=float, default=0.01, help="share of rows per version")
    parser.add_argument("--single", type=int, default=5, help="versions loaded one by one")
    parser.add_argument("--memory", default="4g")
    args = parser.parse_args()
    bench = project.root() / ".spark_cdc" / "bench" / "import_versions"
    shutil.rmtree(bench, ignore_errors=True)
    table, landing = bench / "table", bench / "landing"
    on = Server(bench / "server", args.memory, ["delta"])
    entity = new.Entity("orders", COLUMNS, path=f"{landing}/{{business_date}}", format="parquet")
    dates = [(FIRST + dt.timedelta(days=at)).strftime("%Y-%m-%d") for at in range(args.versions)]
    try:
        on.execute("create database lake")
        first = f"select {ROW.format('id % 1000')} from range({args.rows})"
        # the versions are of other years, which Delta refuses to read beyond its retention
        names = ("logRetentionDuration", "deletedFileRetentionDuration")
        kept = ", ".join(f"'delta.{name}' = 'interval 3650 days'" for name in names)
        on.execute(
            f"create table lake.orders using delta location '{table}' tblproperties ({kept})"
            f" as {first}"
        )
        step = max(1, round(1 / args.changed))
        for version in range(1, args.versions):
            changes = (
                f"select {ROW.format(version)} from range({version % step}, {args.rows}, {step})"
            )
            on.execute(
                f"merge into lake.orders as target using ({changes}) as source"
                " on target.order_no = source.order_no when matched then update set *"
            )
        for version, date in enumerate(dates):
            log = table / "_delta_log" / f"{version:020d}.json"
            moment = (FIRST + dt.timedelta(days=version)).timestamp()
            os.utime(log, (moment, moment))
            if version <= args.single:
                on.execute(
                    f"insert overwrite directory '{landing}/{date}' using parquet"
                    f" select * from lake.orders version as of {version}"
                )
        alone = Project(bench / "alone", entity, on, "alone")
        timed(alone, "load", dates[0])
        single = timed(alone, "load", f"{dates[1]}..{dates[args.single]}") / args.single
        together = Project(bench / "together", entity, on, "together")
        begun = time.monotonic()
        words = ("--from", "lake.orders", "--format", "time_travel")
        together.command("import", "orders", *words, is_shown=True)
        seconds = time.monotonic() - begun
    finally:
        on.stop()
    print(
        f"{args.versions} versions of {args.rows:,} rows, {args.changed:.1%} changed:\n"
        f"  one by one: {single:.2f} s a version, {single * args.versions:.0f} s for all\n"
        f"  import: {seconds:.0f} s, {single * args.versions / seconds:.1f} times as fast"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
