"""`spark-cdc backfill`: many dates of an entity in a few statements and one commit."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass

from spark_cdc import chain, console, load, notify, parsing, project, stacks
from spark_cdc.errors import SparkCdcError, UsageError

EXAMPLE = "spark-cdc backfill 2024-01-01..2024-12-31 --select orders"
MOST = 60  # dates per statement: each is a bit of a bigint


@dataclass(frozen=True)
class Options(load.Range, notify.Options):
    """Options of the command."""

    select: list[str]
    skip_guards: list[str]
    skip_missing: bool
    dates_per_statement: int


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `backfill` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "backfill",
        "load many dates in a few statements, with one commit",
        "Loads full snapshots or deltas. Each date is a load of its own, checked as any load;"
        " readers see all of them, or none. Committed dates are skipped, so the command can be"
        " repeated.",
        EXAMPLE,
    )
    parser.add_argument("dates", nargs="+", metavar="DATE", help="2024-03-01, or FIRST..LAST")
    parser.add_argument(
        "--every", metavar="STEP", help="time between two loads of a range: 15m, 6h (default: 1d)"
    )
    parser.add_argument(
        "--skip-missing", action="store_true", help="skip dates of which nothing has landed"
    )
    parser.add_argument(
        "--dates-per-statement",
        type=int,
        default=MOST,
        metavar="N",
        help=f"dates to compare together, 1 to {MOST} (default: {MOST}); fewer take less memory",
    )
    chain.add_arguments(parser, "select", "skip-guards", "target", "branch", "dry-run")
    notify.add_arguments(parser)
    parser.set_defaults(first=None, last=None)
    notify.set_run(parser, "backfill", Options, run)


def run(arguments: Options, dbt: chain.Dbt) -> int:
    """Backfill each entity, then bring its views up to date; or say what would be loaded."""
    dates = [text for _, text in load.requested(arguments)[0]]
    if not arguments.select:
        raise UsageError("--select is missing. Name the entities to backfill.", EXAMPLE)
    if not 1 <= arguments.dates_per_statement <= MOST:
        raise UsageError(
            f"--dates-per-statement is {arguments.dates_per_statement}. Accepted is 1 to {MOST}.",
            EXAMPLE,
        )
    skipped = {"spark_cdc_skip_guards": arguments.skip_guards} if arguments.skip_guards else {}
    failed = "would be refused" if arguments.dry_run else "failed"
    for at, entity in enumerate(arguments.select):
        values = {
            "entities": [entity],
            "dates": dates,
            "skip_missing": arguments.skip_missing,
            "dates_per_statement": arguments.dates_per_statement,
            "execute": not arguments.dry_run,
        }
        words = ("run-operation", "spark_cdc.backfill", "--args", json.dumps(values))
        rest = arguments.select[at:]
        done = dbt.run(
            *words,
            *("--vars", project.variables(skipped)),
            heard=console.printer(),
            interrupted=functools.partial(_interrupted, rest),
        )
        if not done.ok:
            raise SparkCdcError(
                f"The backfill of {entity} {failed}, and nothing of it is committed.\n"
                f"{chain.macro_message(done) or done.output}",
                f"When the cause is gone, run the same command again. All output: {stacks.LOG}.",
            )
        views = chain.views_of([entity])
        if not arguments.dry_run and not dbt.run("run", "--select", *views).ok:
            raise SparkCdcError(
                f"The backfill of {entity} is committed, but its views could not be created.",
                f"{chain.LOG} Create them:\ndbt run --select {' '.join(views)}",
            )
    if arguments.dry_run:
        console.dry_run()
    return 0


def _interrupted(rest: Sequence[str]) -> str:
    return (
        f"interrupted: all dates of {rest[0]} are committed, or none; see spark-cdc status\n"
        "next: run the same command again"
    )
