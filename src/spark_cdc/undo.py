"""`spark-cdc undo` and `redo`: loads are taken back, and brought back."""

from __future__ import annotations

from typing import Any

from spark_cdc import chain
from spark_cdc.errors import SparkCdcError


def add_parser(subparsers: Any) -> None:
    """Add both commands to the command line."""
    undo = subparsers.add_parser(
        "undo",
        help="take loads back: readers see the state before them",
        description="Takes the last load back, or all after a date or load: readers see the state"
        " before at once, nothing is written anew. Of several entities all, or none. redo brings"
        " the loads back, until the next load or vacuum.",
    )
    undo.add_argument(
        "--to",
        metavar="DATE|LOAD",
        help="go back to the state at its end (default: the state before the last load)",
    )
    redo = subparsers.add_parser("redo", help="bring back what the last undo took back")
    for parser in (undo, redo):
        parser.add_argument("entities", nargs="+", metavar="ENTITY")
        chain.add_arguments(parser, "target", "branch")
        parser.set_defaults(run=run, macro=parser.prog.split()[-1])


def run(arguments: Any) -> int:
    """Run the macro, and alter views whose text depends on the loads."""
    dbt = chain.Dbt(arguments.target)
    to = getattr(arguments, "to", None)
    done = dbt.operate(arguments.macro, arguments.entities, **({} if to is None else {"to": to}))
    moved = chain.parse_json(done, "spark_cdc moved: ")
    names = tuple(f"{entity}: " for entity in arguments.entities)
    print("\n".join(line for line in done.lines if line.startswith(names)), flush=True)
    views = chain.views_of([one["entity"] for one in moved if one["views"]])
    if views and not dbt.run("run", "--select", *views).ok:
        raise SparkCdcError(
            f"the {arguments.macro} is done, but its views could not be brought up to date",
            f"{chain.LOG} Run dbt run --select {' '.join(views)}.",
        )
    return 0
