"""`make bench`: what a load costs, and against what. Writes into docs/benchmarks.

    make bench BENCH_ARGS="--rows 1000000 --large 10000000 --repeat 3"

The benchmark has servers, schemas and data of its own, all in .spark_cdc/bench.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from benchmarks import event_scenarios, harness, report, scenarios, summary

from spark_cdc import packages, project
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import table_formats

# The ledger's own, so that the floor is no slower than it need be.
OPTIONS = (
    "options (`parquet.enable.dictionary#key_hash` 'false',"
    " `parquet.enable.dictionary#nonkey_hash` 'false')"
)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="default 1,000,000")
    parser.add_argument("--large", type=int, default=10_000_000, help="of (c), (d); 0: leave out")
    parser.add_argument("--events", type=int, default=10_000_000, help="of (e)")
    parser.add_argument("--keys", type=int, default=None, help="that they name; default a tenth")
    parser.add_argument("--prior", type=int, default=None, help="rows before; default as --events")
    parser.add_argument("--inputs", default="typed,archived,json", help="of (e)")
    parser.add_argument("--images", default="whole,partial", help="of (e)")
    parser.add_argument("--no-loop", dest="loop", action="store_false", help="leave out its loop")
    parser.add_argument("--repeat", type=int, default=3, help="runs that count, after a first one")
    parser.add_argument("--only", default="a,b,c,d,e,f", help="(b) comes with (a)")
    parser.add_argument("--format", default="parquet,orc,delta,iceberg", help="formats of (f)")
    parser.add_argument("--memory", default="4g", help="heap of each server")
    parser.add_argument(
        "--output",
        type=Path,
        default=None,
        help="a folder; default docs/benchmarks, and docs/benchmarks.md",
    )
    args = parser.parse_args()
    args.inputs, args.images = args.inputs.split(","), args.images.split(",")
    args.keys = args.keys or max(100, args.events // 10)
    args.prior = args.prior or args.events
    if args.events % args.keys:
        parser.error(f"--events {args.events} is no multiple of --keys {args.keys}")
    if not 1 <= args.repeat < scenarios.SERIES:
        parser.error(f"--repeat is {args.repeat}; accepted are 1 to {scenarios.SERIES - 1}")
    return args


def _asked(words: list[str]) -> list[str]:
    """What was measured, wherever the page was written."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--output")
    return parser.parse_known_args(words)[1]


def main() -> int:
    """Measure and report."""
    args = _arguments()
    root = project.root()
    bench = root / ".spark_cdc" / "bench"
    packages.install(if_needed=True)
    only = set(args.only.split(","))
    sizes = [size for size in (args.rows, args.large) if size]
    streams = event_scenarios.streams(args.events, args.keys, args.prior, args.images)
    load_before = os.getloadavg()[0]
    notes: list[str] = []
    results: dict[str, harness.Measure] = {}
    running: list[harness.Server] = []
    formats: dict[str, harness.Server] = {}
    merging: harness.Server | None = None
    base = str(bench / "landing")
    try:
        running.append(harness.Server(bench / "server", args.memory))
        parse = running[0].parse()
        if only & {"a", "b"}:
            results |= scenarios.full_loads(
                running[0], bench, base, args.rows, args.repeat, OPTIONS
            )
        if only & {"d", "e"}:
            try:
                merging = harness.Server(bench / "merge", args.memory, ["delta"])
                running.append(merging)
            except SparkCdcError as error:
                notes.append(f"Delta's MERGE is left out: {error.message}.")
        if "e" in only:
            results |= event_scenarios.event_loads(
                running[0], merging, bench, base, streams, args.inputs, args.repeat, args.loop
            )
        if "f" in only:
            for name in args.format.split(","):
                formats[name] = running[0]
                if name in table_formats.BUILDS:
                    formats[name] = harness.Server(bench / name, args.memory, [name])
                    running.append(formats[name])
            results |= scenarios.format_loads(formats, bench, base, args.rows, args.repeat)
        if only & {"c", "d"}:
            rival = merging if "d" in only else None
            results |= scenarios.delta_loads(running[0], rival, bench, base, sizes, args.repeat)
    finally:
        for one in running:
            one.stop()
        for name in ("server", "merge", *formats):  # tables, gigabytes; the landed files stay
            shutil.rmtree(bench / name / "warehouse", ignore_errors=True)
    setting = report.Setting(
        rows=args.rows,
        sizes=sizes,
        streams=streams,
        repeat=args.repeat,
        memory=args.memory,
        command=f'make bench BENCH_ARGS="{" ".join(_asked(sys.argv[1:]))}"',
        load_average=(load_before, os.getloadavg()[0]),
        spark=str(running[0].status.info["spark"]),
        java=str(running[0].status.info["java"]).split()[0],
        delta=table_formats.jars(["delta"])[0].version if merging or "delta" in formats else None,
        notes=notes,
        parse=parse,
    )
    parts = report.sections(results, setting)
    print(*parts.values(), sep="\n")
    report.write(args.output or root / "docs" / "benchmarks", parts)
    if not args.output:
        summary.update(root, *report.summary(results, setting))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SparkCdcError as error:
        sys.exit(f"{error.message}\n{error.next_step}".strip())
