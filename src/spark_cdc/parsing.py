"""How commands are described: a line in the list, a description, options, one example."""

from __future__ import annotations

import argparse
import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

Options = TypeVar("Options", bound="DataclassInstance")
EXAMPLE = "example:\n  "


class Formatter(argparse.HelpFormatter):
    """Wraps descriptions, and leaves examples and tables as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith(EXAMPLE) or "\n  " in text:
            return text
        return super()._fill_text(text, width, indent)


def add_common(parser: argparse.ArgumentParser, default: bool | str = argparse.SUPPRESS) -> None:
    """Add the options of all commands, which may stand before or after a command."""
    parser.add_argument("--quiet", action="store_true", default=default, help="print no progress")
    parser.add_argument("--debug", action="store_true", default=default, help="show tracebacks")


def add_command(
    subparsers: Subparsers, name: str, summary: str, details: str, example: str
) -> argparse.ArgumentParser:
    """Add a command with its help.

    summary: a line that begins with a verb, for the list of commands.
    details: sentences that follow it in the command's own help.
    example: a command line that the parser takes.
    """
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {details}".strip(),
        epilog=EXAMPLE + example,
        formatter_class=Formatter,
    )
    add_common(parser)
    return parser


def add_group(
    subparsers: Subparsers, name: str, summary: str, details: str, example: str
) -> tuple[argparse.ArgumentParser, Subparsers]:
    """Add a command with commands of its own; return it and what these are added to."""
    parser = add_command(subparsers, name, summary, details, example)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    return parser, actions


def set_run(
    parser: argparse.ArgumentParser, kind: type[Options], run: Callable[[Options], int]
) -> None:
    """Let a command call a function with its options.

    kind: a dataclass with the options that the function needs.
    """
    parser.set_defaults(run=functools.partial(_run, kind, run))


def _run(kind: type[Options], run: Callable[[Options], int], arguments: argparse.Namespace) -> int:
    return run(options(kind, arguments))


def options(kind: type[Options], arguments: argparse.Namespace) -> Options:
    """Return the options of a command line as a type of their own."""
    names = {one.name for one in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in vars(arguments).items() if name in names})


def add_dry_run(parser: argparse._ActionsContainer) -> None:
    """Add --dry-run, which is the same for all commands that have it."""
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be done; change nothing"
    )


def add_output(parser: argparse._ActionsContainer, of: str = "") -> None:
    """Add --output; of: what it is for, where that is not the whole output."""
    parser.add_argument(
        "--output",
        choices=("table", "json"),
        default="table",
        help=f"{of}a table for people (default), or JSON",
    )


def commands(parser: argparse.ArgumentParser) -> Sequence[tuple[str, argparse.ArgumentParser]]:
    """Return all commands below a parser with their names, such as `server start`."""
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                found.append((name, inner))
                found += [(f"{name} {more}", one) for more, one in commands(inner)]
    return found
