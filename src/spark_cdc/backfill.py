"""`spark-cdc backfill`: many dates of an entity in a few statements and one commit."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

from spark_cdc import chain, load, notify, project
from spark_cdc.errors import SparkCdcError

EXAMPLE = "spark-cdc backfill 2024-01-01..2024-12-31 --select orders"
MOST = 60  # dates per statement: each is a bit of a bigint


def add_parser(subparsers: Any) -> None:
    """Add `backfill` to the command line."""
    parser = subparsers.add_parser(
        "backfill",
        help="load many dates at once: compared in a few statements, committed together",
        description="Loads full snapshots or deltas of many dates in a few statements. Each date is"
        " a load of its own, checked as ever; readers see all of them at once, or none. Dates that"
        " are committed already are left out, so that the same command may run again.",
    )
    parser.add_argument(
        "dates", nargs="+", metavar="DATE", help=f"a date, or a range FIRST..LAST; {EXAMPLE}"
    )
    parser.add_argument(
        "--every", metavar="STEP", help="time between two loads of a range: 15m, 6h, 1d (default)"
    )
    parser.add_argument(
        "--skip-missing", action="store_true", help="leave out dates of which nothing has landed"
    )
    parser.add_argument(
        "--dates-per-statement",
        type=int,
        default=MOST,
        metavar="N",
        help=f"dates that are compared together, 1 to {MOST} (default {MOST}): fewer take less"
        " memory",
    )
    chain.add_arguments(parser, "select", "lift", "target", "branch")
    notify.add_arguments(parser)
    act = functools.partial(notify.after, "backfill", act=run)
    parser.set_defaults(run=act, first=None, last=None)


def run(arguments: Any, dbt: chain.Dbt) -> int:
    """Backfill each entity, then bring its views up to date."""
    dates = [text for _, text in load.requested(arguments)[0]]
    if not arguments.select:
        raise SparkCdcError("--select is missing: the entities to backfill", EXAMPLE)
    if not 1 <= arguments.dates_per_statement <= MOST:
        raise SparkCdcError(f"--dates-per-statement takes 1 to {MOST}", EXAMPLE)
    lifted = {"spark_cdc_lift": arguments.lift} if arguments.lift else {}
    for at, entity in enumerate(arguments.select):
        values = {
            "entities": [entity],
            "dates": dates,
            "skip_missing": arguments.skip_missing,
            "dates_per_statement": arguments.dates_per_statement,
        }
        words = ("run-operation", "spark_cdc.backfill", "--args", json.dumps(values))
        rest = arguments.select[at:]
        done = dbt.run(
            *words,
            *("--vars", project.variables(lifted)),
            shown=True,
            interrupted=lambda rest=rest: _interrupted(rest),  # type: ignore[misc]
        )
        if not done.ok:
            raise SparkCdcError(
                f"the backfill of {entity} failed: nothing of it is committed",
                f"{chain.LOG} When the cause is gone, the same command again.",
            )
        views = chain.views_of([entity])
        if not dbt.run("run", "--select", *views).ok:
            raise SparkCdcError(
                f"the backfill of {entity} is committed, but its views could not be made",
                f"{chain.LOG} Run dbt run --select {' '.join(views)}.",
            )
    return 0


def _interrupted(rest: Sequence[str]) -> str:
    return (
        f"interrupted: of {rest[0]} all dates are committed or none; spark-cdc status says which\n"
        "next: run the same command again"
    )
