"""`spark-cdc report`: the loads of all entities, and what needs attention, as one HTML file."""

from __future__ import annotations

import argparse
import datetime as dt
import webbrowser
from dataclasses import dataclass

from spark_cdc import business_date, dbt_runner, parsing, parts
from spark_cdc.errors import SparkCdcError, UsageError
from spark_cdc.report import writer


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    out: str | None
    open: bool
    first: str | None
    last: str | None
    loads: int
    details: bool | None
    rows: int
    select: list[str]
    target: str | None
    branch: str | None


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `report` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "report",
        "write loads, their figures and findings as one HTML file",
        "",
        "spark-cdc report orders --open",
    )
    parser.add_argument("--out", metavar="FILE", help="the file to write (target/report.html)")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    parser.add_argument("--from", dest="first", metavar="DATE", help="the first business date")
    parser.add_argument("--to", dest="last", metavar="DATE", help="the last business date")
    parser.add_argument(
        "--loads", type=int, default=400, metavar="N", help="at most of each entity (400)"
    )
    parser.add_argument(
        "--details",
        action=argparse.BooleanOptionalAction,
        help="changes of the last load, rejected rows, files and retention: this reads the"
        f" ledgers, and is the default for up to {writer.MANY} entities",
    )
    parser.add_argument(
        "--rows",
        type=int,
        default=5,
        metavar="N",
        help="changed rows of each kind to show (5); 0: no values of rows at all",
    )
    dbt_runner.add_arguments(parser, "select", "target", "branch")
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Write the report, and open it on request."""
    parts.require("report", "spark-cdc report")
    for name, value, least in (("loads", arguments.loads, 1), ("rows", arguments.rows, 0)):
        if value < least:
            raise UsageError(
                f"--{name} {value} is less than {least}: nothing was written",
                f"spark-cdc report --{name} {least + 1}",
            )
    first, last = (_date(text) for text in (arguments.first, arguments.last))
    if first and last and last < first:
        raise UsageError(
            f"--to {arguments.last} is before --from {arguments.first}: nothing was written",
            f"spark-cdc report --from {arguments.last} --to {arguments.first}",
        )
    scope = writer.Scope(
        arguments.select, first, last, arguments.loads, arguments.details, arguments.rows
    )
    dbt = dbt_runner.Dbt(arguments.target, parses_once=True)
    path = writer.write(
        dbt, scope, arguments.out, dbt_runner.options(arguments, "target", "branch")
    )
    print(path)
    if arguments.open and not webbrowser.open(path.as_uri()):
        raise SparkCdcError("no browser was found to open the report with", f"Open {path}")
    return 0


def _date(text: str | None) -> dt.datetime | None:
    """Return the day of a business date."""
    if text is None:
        return None
    return dt.datetime.combine(business_date.parse(text)[0].date(), dt.time())
