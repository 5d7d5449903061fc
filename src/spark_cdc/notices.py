"""Notifications as a command that loads has them: its options, and who is told when it is done.

The part `notify` sends them. It is imported where a notification is asked for, and only there.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from spark_cdc import dbt_runner, parts, state
from spark_cdc.errors import SparkCdcError

OCCASIONS = ("always", "loads", "problems")
URL = "SPARK_CDC_NOTIFY_URL"
# Options, each with a variable SPARK_CDC_<NAME> of the same meaning.
NAMES = ("notify_command", "notify_file", "notify_on", "metrics_file", "openlineage")


@dataclass(frozen=True)
class Options:
    """Options that commands have in common whose loads are reported.

    line: the command line itself, which an error asks to repeat.
    """

    target: str | None
    dry_run: bool
    notify_command: str | None
    notify_file: str | None
    notify_on: str | None
    metrics_file: str | None
    openlineage: bool | None
    line: str


Given = TypeVar("Given", bound=Options)


class Teller:
    """Reports what one command has loaded, when it is done: this one to nobody."""

    def tell(
        self,
        dbt: dbt_runner.Dbt,
        exit_code: int,
        entities: Sequence[state.EntityReport] | None = None,
        error: str = "",
    ) -> list[str]:
        """Notify everybody who is named; return what failed, and why.

        entities: what became of them, where the command knows it beside `cdc_loads`.
        error: what ended the command.
        """
        return []


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options to a command that loads."""
    group = parser.add_argument_group(
        "notifications", f"(docs/notify.md); a URL comes from {URL} only"
    )
    group.add_argument(
        "--notify-command",
        metavar="COMMAND",
        help="sh runs it, with the report as JSON on stdin (SPARK_CDC_NOTIFY_COMMAND)",
    )
    group.add_argument(
        "--notify-file",
        metavar="PATH",
        help="append the report as a line of JSON (SPARK_CDC_NOTIFY_FILE)",
    )
    group.add_argument(
        "--notify-on",
        choices=OCCASIONS,
        help="when command and URL are called: always (default), after loads and problems, or after"
        " problems (SPARK_CDC_NOTIFY_ON)",
    )
    group.add_argument(
        "--metrics-file",
        metavar="PATH",
        help="write NAME.prom for node_exporter's textfile collector (SPARK_CDC_METRICS_FILE)",
    )
    group.add_argument(
        "--openlineage",
        action="store_true",
        default=None,
        help="send OpenLineage events (SPARK_CDC_OPENLINEAGE=true); where to: OPENLINEAGE_URL",
    )


def is_asked(arguments: Options, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether an option or a variable names somebody, or how to notify."""
    given = any(getattr(arguments, name, None) is not None for name in NAMES)
    variables = (URL, *(f"SPARK_CDC_{name.upper()}" for name in NAMES))
    return given or any(environment.get(name) for name in variables)


def teller_of(name: str, arguments: Options) -> Teller:
    """Return what reports the loads of a command.

    Raises UsageError with all that is wrong with its options.
    """
    if not is_asked(arguments):
        return Teller()
    made: Teller = parts.load("notify.teller").Teller(name, arguments)
    return made


def after(name: str, arguments: Given, act: Callable[[Given, dbt_runner.Dbt], int]) -> int:
    """Run a command that loads, tell what it did, and return its exit code."""
    dbt = dbt_runner.Dbt(arguments.target, parses_once=True)
    if arguments.dry_run:
        return act(arguments, dbt)
    teller = teller_of(name, arguments)
    try:
        code = act(arguments, dbt)
    except SparkCdcError as error:
        say(teller.tell(dbt, error.exit_code, error=error.message))
        raise
    say(teller.tell(dbt, code))
    return code


def say(lacking: Sequence[str]) -> None:
    """Print what could not be told."""
    for text in lacking:
        print(f"not notified: {text}", file=sys.stderr, flush=True)
