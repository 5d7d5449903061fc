"""`spark-cdc acknowledge`: refused loads that somebody has seen, and no alert repeats."""

from __future__ import annotations

from typing import Any

from spark_cdc import chain, load


def add_parser(subparsers: Any) -> None:
    """Add `acknowledge` to the command line."""
    parser = subparsers.add_parser(
        "acknowledge",
        help="let the report and alerts pass over loads that were refused",
        description="Marks the refused loads of business dates as seen, such as one of a mistyped"
        " date: report, metrics and alerts pass over them. What is refused again is reported again."
        " Nothing else changes.",
    )
    parser.add_argument("dates", nargs="+", metavar="DATE", help=load.EXAMPLE)
    chain.add_arguments(parser, "select", "target", "branch")
    parser.set_defaults(run=run)


def run(arguments: Any) -> int:
    """Run the macro, and print what it acknowledged."""
    dates = [load.parse_business_date(text)[1] for text in arguments.dates]
    done = chain.Dbt(arguments.target).operate("acknowledge", arguments.select, dates=dates)
    print("\n".join(line for line in done.lines if ": acknowledged " in line), flush=True)
    return 0
