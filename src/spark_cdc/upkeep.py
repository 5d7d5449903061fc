"""`spark-cdc vacuum`, `compact` and `verify`: the public macros of these names, run by dbt."""

from __future__ import annotations

import json
from typing import Any

from spark_cdc import chain
from spark_cdc.errors import SparkCdcError


def add_parser(subparsers: Any) -> None:
    """Add the three commands to the command line."""
    vacuum = subparsers.add_parser(
        "vacuum", help="drop old partitions that no manifest names; says what unless --execute"
    )
    _common(vacuum, "vacuum", execute="drop them")
    vacuum.add_argument(
        "--retention",
        type=float,
        default=168,
        metavar="HOURS",
        help="keep what was superseded, or written and never committed, later than this (168)",
    )
    vacuum.add_argument(
        "--force", action="store_true", help="accept a retention below 24 hours: nothing may run"
    )

    compact = subparsers.add_parser(
        "compact",
        help="squash older loads without changing any view; says what unless --execute",
    )
    _common(compact, "compact", execute="write and commit")
    compact.add_argument(
        "--older-than",
        type=int,
        default=30,
        metavar="DAYS",
        help="loads this many days before the last one, and older (30); 0: all before the last",
    )
    compact.add_argument(
        "--histories", action="store_true", help="merge what was squashed before into the new load"
    )

    verify = subparsers.add_parser(
        "verify", help="check the whole ledger; says what is wrong and how to repair it"
    )
    _common(verify, "verify")


def _common(parser: Any, macro: str, execute: str | None = None) -> None:
    parser.add_argument(
        "--select", nargs="+", default=[], metavar="ENTITY", help="these entities only"
    )
    parser.add_argument("--target", help="target of profiles.yml (local)")
    if execute:
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--execute", action="store_true", help=execute)
        choice.add_argument("--dry-run", action="store_true", help="only say what (the default)")
    parser.set_defaults(run=run, macro=macro)


def macro_arguments(arguments: Any) -> dict[str, Any]:
    """Return the arguments of the macro that a command line asks for."""
    values: dict[str, Any] = {}
    if arguments.select:
        values["entities"] = list(arguments.select)
    if arguments.macro == "vacuum":
        hours = arguments.retention
        values["retention_hours"] = int(hours) if hours == int(hours) else hours
        values["force"] = arguments.force
    elif arguments.macro == "compact":
        values["older_than_days"] = arguments.older_than
        values["histories"] = arguments.histories
    if arguments.macro != "verify":
        values["execute"] = arguments.execute
    return values


def run(arguments: Any) -> int:
    """Run the macro; dbt's output is what the user sees."""
    values = json.dumps(macro_arguments(arguments))
    words = ["run-operation", f"spark_cdc.{arguments.macro}", "--args", values]
    if not chain.Dbt(arguments.target).run(*words, shown=True).ok:
        raise SparkCdcError(
            f"{arguments.macro} found a problem"
            if arguments.macro == "verify"
            else f"{arguments.macro} failed",
            chain.LOG,
        )
    return 0
