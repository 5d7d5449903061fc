"""`spark-cdc undo` and `redo`: loads are taken back, and brought back."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from spark_cdc import console, dbt_runner, parsing, state
from spark_cdc.errors import UsageError

MANY = 10  # loads of an entity that an undo takes back without being asked again


@dataclass(frozen=True)
class Options:
    """Options of both commands; redo has neither `to` nor `yes`."""

    macro: str
    entities: list[str]
    target: str | None
    line: str
    to: str | None = None
    yes: bool = False
    dry_run: bool = False


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add both commands to the command line."""
    undo = parsing.add_command(
        subparsers,
        "undo",
        "take back the last load, or all loads after a date or load",
        "Readers see the state before at once; no data is rewritten. Several entities need --to."
        f" More than {MANY} loads of an entity need --yes, or an answer on a terminal."
        " redo restores the loads, until the next load or vacuum.",
        "spark-cdc undo orders --to 2024-03-01",
    )
    undo.add_argument(
        "--to",
        metavar="DATE|LOAD",
        help="go back to the state at its end (default: the state before the last load)",
    )
    undo.add_argument("--yes", action="store_true", help="take back many loads without asking")
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
    if arguments.to and not arguments.dry_run and not arguments.yes:
        _ask(arguments, state.read(dbt, arguments.entities))
    given |= {"execute": False} if arguments.dry_run else {}
    done = dbt.show(arguments.macro, arguments.entities, **given)
    if arguments.dry_run:
        console.dry_run()
        return 0
    altered = dbt_runner.parts(done, "views_differ")
    views = dbt_runner.views_of([name for name, differ in altered.items() if differ])
    if views:
        what = f"The {arguments.macro} is done, but its views are not updated."
        dbt_runner.update_views(dbt, views, what)
    return 0


def _ask(arguments: Options, found: list[state.State]) -> None:
    """Ask before many loads are taken back; raise UsageError if nobody says yes."""
    many = []
    for one in found:
        taken = one.times[len(one.up_to(arguments.to, "--to")) :]
        if len(taken) > MANY:
            first, last = one.text(taken[0]), one.text(taken[-1])
            many.append(f"{one.entity}: {len(taken)} loads, {first} to {last}, would be taken back")
    if not many:
        return
    said = "\n".join(many)
    if sys.stdin.isatty() and sys.stderr.isatty():
        print(f"{said}. Go on? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
    raise UsageError(
        f"{said}.\nNothing was changed.", f"If that is meant, say so:\n{arguments.line} --yes"
    )
