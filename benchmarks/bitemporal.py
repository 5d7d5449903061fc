"""What a query of `<entity>_bitemporal` costs, beside `<entity>_event_versions`.

    python -m benchmarks.bitemporal --events 1000000 --keys 100000 --loads 10

Two entities get the same events: in order, or with one of a hundred in the load behind its own.
Each query resolves the whole archive. CPU seconds are those of the server, × their ratio to
`<entity>_event_versions`.
"""

from __future__ import annotations

import argparse
import datetime as dt
import shutil
import statistics
from pathlib import Path

from benchmarks.harness import Measure, Project, Server, measure

from spark_cdc import new, project

FIRST = dt.date(2024, 1, 1)
COLUMNS = [
    new.Column("id", "bigint", role="key"),
    new.Column("price", "bigint"),
    new.Column("remark", "string"),
    new.Column("op", "string", role="control"),
    new.Column("pos", "bigint", role="control"),
    new.Column("happened_at", "timestamp", role="control"),
]
EVENTS = {
    "format": "flagged_rows", "operation": "op", "order": ["pos"], "time": "happened_at",
    "archive": True,
}  # fmt: skip
LATE = {"in_order": "false", "late": "pmod(xxhash64(pos, 1), 100) = 0"}


def land(on: Server, landing: Path, name: str, args: argparse.Namespace) -> list[str]:
    """Land the events of all loads as Parquet; returns the dates."""
    days = [str(FIRST + dt.timedelta(days=number)) for number in range(args.loads)]
    own = f"cast(pos * {args.loads} / {args.events} as int)"
    for number, day in enumerate(days):
        on.execute(f"""
            insert overwrite directory '{landing}/{name}/{day}' using parquet
            select
                pmod(xxhash64(pos), {args.keys}) as id,
                pos as price,
                md5(cast(pos as string)) as remark,
                'U' as op,
                pos,
                timestamp'{FIRST} 00:00:00' + make_dt_interval(0, 0, 0, pos) as happened_at
            from (select id as pos from range({args.events}))
            where least({own} + int({LATE[name]}), {args.loads - 1}) = {number}
        """)
    return days


def main() -> None:
    """Load, query, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--loads", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--memory", default="4g")
    args = parser.parse_args()
    bench = project.root() / ".spark_cdc" / "bench_bitemporal"
    on = Server(bench / "server", args.memory)
    found: dict[str, Measure] = {}
    try:
        for name in LATE:
            days = land(on, bench / "landing", name, args)
            entity = new.Entity(
                name, COLUMNS, "events", format="parquet", events=EVENTS,
                path=f"{bench}/landing/{name}/{{business_date}}",
                event_versions=True, bitemporal=True,
            )  # fmt: skip
            one = Project(bench / name, entity, on, "bench_bitemporal")
            one.command("load", f"{days[0]}..{days[-1]}")
            for _ in range(args.repeat + 1):  # the first one warms up
                for view in ("event_versions", "bitemporal"):
                    sql = f"select count(*), sum(price), max(remark) from {one.table(view)}"
                    measure(found.setdefault(f"{name} {view}", Measure("")), on, on.timed, sql)
    finally:
        on.stop()
        shutil.rmtree(bench, ignore_errors=True)
    print("| Events | View | Seconds | CPU seconds | × |\n|---|---|---:|---:|---:|")
    for known, took in found.items():
        name, view = known.split(" ")
        seconds, cpu = (statistics.median(all_[1:]) for all_ in (took.seconds, took.cpu))
        beside = statistics.median(found[f"{name} event_versions"].cpu[1:])
        print(f"| {name} | {view} | {seconds:.1f} | {cpu:.1f} | {cpu / beside:.1f} |")


if __name__ == "__main__":
    main()
