"""`python -m benchmarks.import_versions`: history in one pass, and one load after the other.

    python -m benchmarks.import_versions --versions 100 --rows 1000000 --changed 0.01 --single 5
    python -m benchmarks.import_versions --of snapshot --versions 100 --rows 1000000 --changed 0.09

The history is that of a Delta table whose versions are made by a MERGE that touches some keys, or
of a table as `dbt snapshot` makes it, with an interval for each change. One by one, a version is a
full load of its rows as Parquet; of all versions it is extrapolated. Server, schemas and data are
the benchmark's own, in .spark_cdc/bench.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import shutil
from pathlib import Path

from benchmarks.backfill import COLUMNS, timed
from benchmarks.harness import Project, Server

from spark_cdc import project
from spark_cdc.scaffold import new

FIRST = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
ROW = (
    "id as order_no, concat('customer ', id % 100000) as customer, 'open' as status,"
    " cast({} as decimal(12,2)) as amount, timestamp'2023-01-01' as ordered_at"
)


def versions_of_table(on: Server, table: Path, versions: int, rows: int, step: int) -> str:
    """Make a Delta table of so many versions, a day apart; return what reads one of them."""
    first = f"select {ROW.format('id % 1000')} from range({rows})"
    # the versions are of other years, which Delta refuses to read beyond its retention
    names = ("logRetentionDuration", "deletedFileRetentionDuration")
    kept = ", ".join(f"'delta.{name}' = 'interval 3650 days'" for name in names)
    on.execute(
        f"create table lake.orders using delta location '{table}' tblproperties ({kept}) as {first}"
    )
    for version in range(1, versions):
        changes = f"select {ROW.format(version)} from range({version % step}, {rows}, {step})"
        on.execute(
            f"merge into lake.orders as target using ({changes}) as source"
            " on target.order_no = source.order_no when matched then update set *"
        )
    for version in range(versions):
        log = table / "_delta_log" / f"{version:020d}.json"
        moment = (FIRST + dt.timedelta(days=version)).timestamp()
        os.utime(log, (moment, moment))
    return "select * from lake.orders version as of {version}"


def snapshot(on: Server, table: Path, versions: int, rows: int, step: int) -> str:
    """Make the intervals of the same changes as a dbt snapshot; return what reads a date of it."""
    day = f"timestamp'{FIRST:%Y-%m-%d}' + make_interval(0, 0, 0, {{}})"
    later = f"sequence(first_change, {versions - 1}L, {step}L)"
    begins = f"concat(array(0L), if(first_change < {versions}, {later}, array()))"
    end = day.format("cast(get(begins, at + 1) as int)")
    on.execute(
        f"create table lake.orders using parquet location '{table}' as"
        f" select {ROW.format('begin')}, md5(concat(id, '|', begin)) as dbt_scd_id,"
        f" {day.format('cast(begin as int)')} as dbt_updated_at,"
        f" {day.format('cast(begin as int)')} as dbt_valid_from,"
        f" if(at + 1 < size(begins), {end}, null) as dbt_valid_to"
        " from (select id, begins, posexplode(begins) as (at, begin) from"
        f" (select id, {begins} as begins from"
        f" (select id, if(id % {step} = 0, {step}, id % {step}) as first_change"
        f" from range({rows}))))"
    )
    names = ", ".join(column.name for column in COLUMNS)
    return (
        f"select {names} from lake.orders where dbt_valid_from <= timestamp'{{date}}'"
        " and coalesce(dbt_valid_to > timestamp'{date}', true)"
    )


def main() -> int:
    """Measure both, and print what they take."""
    parser = argparse.ArgumentParser(prog="benchmarks.import_versions")
    parser.add_argument("--of", choices=["table", "snapshot"], default="table")
    parser.add_argument("--versions", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--changed", type=float, default=0.01, help="share of rows per version")
    parser.add_argument("--single", type=int, default=5, help="versions loaded one by one")
    parser.add_argument("--memory", default="4g")
    args = parser.parse_args()
    bench = project.root() / ".spark_cdc" / "bench" / "import_versions"
    shutil.rmtree(bench, ignore_errors=True)
    landing = bench / "landing"
    on = Server(bench / "server", args.memory, ["delta"])
    entity = new.Entity("orders", COLUMNS, path=f"{landing}/{{business_date}}", format="parquet")
    dates = [(FIRST + dt.timedelta(days=at)).strftime("%Y-%m-%d") for at in range(args.versions)]
    make, format_ = {
        "table": (versions_of_table, "time_travel"),
        "snapshot": (snapshot, "dbt_snapshot"),
    }[args.of]
    try:
        on.execute("create database lake")
        step = max(1, round(1 / args.changed))
        reads = make(on, bench / "table", args.versions, args.rows, step)
        for version, date in enumerate(dates[: args.single + 1]):
            on.execute(
                f"insert overwrite directory '{landing}/{date}' using parquet"
                f" {reads.format(version=version, date=date)}"
            )
        alone = Project(bench / "alone", entity, on, "alone")
        timed(alone, "load", dates[0])
        before = on.cpu
        single = timed(alone, "load", f"{dates[1]}..{dates[args.single]}") / args.single
        single_cpu = (on.cpu - before) / args.single
        together = Project(bench / "together", entity, on, "together")
        before = on.cpu
        seconds = timed(together, "import", "orders", "--from", "lake.orders", "--format", format_)
        cpu = on.cpu - before
        print(
            f"{args.versions} versions of {args.rows:,} rows, {args.changed:.1%} changed,"
            f" as {format_}:\n"
            f"  one by one: {single:.2f} s a version (CPU of the server {single_cpu:.1f}),"
            f" {single * args.versions:.0f} s for all\n"
            f"  import: {seconds:.0f} s (CPU {cpu:.0f}), {single * args.versions / seconds:.1f}"
            f" times as fast, {single_cpu * args.versions / cpu:.1f} times in CPU"
        )
    finally:
        on.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
