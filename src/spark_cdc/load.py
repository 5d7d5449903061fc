"""`spark-cdc load`: dbt run for one business date after the other."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
from typing import Any

from spark_cdc import project
from spark_cdc.errors import SparkCdcError

EXAMPLE = "spark-cdc load 2019-06-19, or for a time of day: spark-cdc load '2019-06-19 10:15:00'"


def parse_business_date(text: str) -> tuple[dt.datetime, str]:
    """Return a business date or timestamp, and its text as dbt gets it.

    Raises SparkCdcError if it is neither YYYY-MM-DD nor YYYY-MM-DD HH:MM[:SS] of the calendar.
    """
    shape = r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2})?)?"
    try:
        if not re.fullmatch(shape, text):
            raise ValueError("it must look like 2019-06-19 or 2019-06-19 10:15:00")
        value = dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise SparkCdcError(f"{text!r} is not a business date: {error}", EXAMPLE) from error
    return value, text if len(text) == 10 else value.isoformat(sep=" ")


def add_parser(subparsers: Any) -> None:
    """Add `load` to the command line."""
    parser = subparsers.add_parser(
        "load", help="dbt run for business dates, in order; stops at the first that fails"
    )
    parser.add_argument("dates", nargs="+", metavar="DATE", help=EXAMPLE)
    parser.add_argument("--select", nargs="+", default=[], help="as for dbt run")
    parser.add_argument("--exclude", nargs="+", default=[], help="as for dbt run")
    parser.add_argument("--target", help="target of profiles.yml (local)")
    parser.add_argument(
        "--lift",
        nargs="+",
        default=[],
        metavar="GUARD",
        help="guards to do without, such as orders.deleted_share (docs/configuration.md#guards)",
    )
    parser.set_defaults(run=run)


def run(arguments: Any) -> int:
    """Load the dates, earliest first."""
    wrong, parsed = [], []
    for text in arguments.dates:
        try:
            parsed.append(parse_business_date(text))
        except SparkCdcError as error:
            wrong.append(error.message)
    if wrong:
        raise SparkCdcError("\n".join(wrong), EXAMPLE)
    dates = [text for _, text in sorted(set(parsed))]
    options = []
    for name in ("select", "exclude"):
        if getattr(arguments, name):
            options += [f"--{name}", *getattr(arguments, name)]
    if arguments.target:
        options += ["--target", arguments.target]
    environment = project.dbt_environment(target=arguments.target)
    for at, date in enumerate(dates):
        if len(dates) > 1:
            print(f"== {date} ({at + 1} of {len(dates)})", flush=True)
        lifted = {"spark_cdc_lift": arguments.lift} if arguments.lift else {}
        values = project.variables({"business_date": date, **lifted})
        command = project.dbt_command("run", "--vars", values, *options)
        code = subprocess.run(command, env=environment, cwd=project.root()).returncode
        if code:
            rest = ", ".join(dates[at + 1 :])
            raise SparkCdcError(
                f"the load of {date} failed" + (f"; not started: {rest}" if rest else ""),
                "dbt's messages are above and in logs/dbt.log. When the cause is gone:"
                f" spark-cdc load {' '.join(repr(d) if ' ' in d else d for d in dates[at:])}",
            )
    return 0
