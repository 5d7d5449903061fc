"""`spark-cdc undo` and `redo`: loads are taken back, and brought back."""

from __future__ import annotations

from dataclasses import dataclass

from spark_cdc import console, dbt_runner, parsing
from spark_cdc.errors import SparkCdcError


@dataclass(frozen=True)
class Options:
    """Options of both commands; redo has no `to`."""

    macro: str
    entities: list[str]
    target: str | None
    to: str | None = None
    dry_run: bool = False


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add both commands to the command line."""
    undo = parsing.add_command(
        subparsers,
        "undo",
        "take back the last load, or all loads after a date or load",
        "Readers see the state before at once; no data is rewritten. Several entities need --to."
        " redo restores the loads, until the next load or vacuum.",
        "spark-cdc undo orders --to 2024-03-01",
    )
    undo.add_argument(
        "--to",
        metavar="DATE|LOAD",
        help="go back to the state at its end (default: the state before the last load)",
    )
    redo = parsing.add_command(
        subparsers, "redo", "restore the loads of the last undo", "", "spark-cdc redo orders"
    )
    for parser in (undo, redo):
        parser.add_argument("entities", nargs="+", metavar="ENTITY")
        dbt_runner.add_arguments(parser, "target", "branch", "dry-run")
        parser.set_defaults(macro=parser.prog.split()[-1])
        parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Run the macro, and alter views whose text depends on the loads."""
    dbt = dbt_runner.Dbt(arguments.target)
    given: dict[str, object] = {} if arguments.to is None else {"to": arguments.to}
    given |= {"execute": False} if arguments.dry_run else {}
    done = dbt.show(arguments.macro, arguments.entities, **given)
    if arguments.dry_run:
        console.dry_run()
        return 0
    altered = dbt_runner.parts(done, "views_differ")
    views = dbt_runner.views_of([name for name, differ in altered.items() if differ])
    if views and not dbt.run("run", "--select", *views).ok:
        raise SparkCdcError(
            f"The {arguments.macro} is done, but its views could not be updated.",
            f"{dbt_runner.LOG} Update them:\ndbt run --select {' '.join(views)}",
        )
    return 0
