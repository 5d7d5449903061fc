"""`spark-cdc acknowledge`: marks refused loads as seen."""

from __future__ import annotations

from dataclasses import dataclass

from spark_cdc import business_date, console, dbt_runner, parsing


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    dates: list[str]
    select: list[str]
    target: str | None
    dry_run: bool


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `acknowledge` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "acknowledge",
        "mark refused loads as seen",
        "Report, metrics and alerts skip them, such as the load of a mistyped date. A load that is"
        " refused again is reported again. Nothing else changes.",
        "spark-cdc acknowledge 2062-03-01 orders",
    )
    parsing.add_dates(
        parser,
        "dates such as 2024-03-01 or '2024-03-01 10:15', and names of entities (default: all)",
        needed=True,
    )
    dbt_runner.add_arguments(parser, "select", "target", "branch", "dry-run")
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Run the macro, and print what it acknowledged."""
    dates = [business_date.parse(text)[1] for text in arguments.dates]
    more = {"execute": False} if arguments.dry_run else {}
    dbt_runner.Dbt(arguments.target).show("acknowledge", arguments.select, dates=dates, **more)
    if arguments.dry_run:
        console.dry_run()
    return 0
