"""How commands are described and read: entities by position, options, mistakes with the usage."""

from __future__ import annotations

import argparse
import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from spark_cdc import declared
from spark_cdc.errors import TypoError, UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

Options = TypeVar("Options", bound="DataclassInstance")
EXAMPLE = "example:\n  "
WORDS = "words"  # dates and entities by position


class Formatter(argparse.HelpFormatter):
    """Wraps descriptions, and leaves examples and tables as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith(EXAMPLE) or "\n  " in text:
            return text
        return super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """Raises mistakes with the usage of the command that has them, and the word that was meant."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **options})

    def error(self, message: str) -> NoReturn:
        """Raise a mistake."""
        raise UsageError(f"{message}\n{self.format_usage().rstrip()}", f"{self.prog} --help")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Raise a mistake if a value is none of those that are accepted; argparse calls it."""
        accepted = list(action.choices or ())
        if not accepted or value in accepted:
            return
        is_command = isinstance(action, argparse._SubParsersAction)
        what = "command" if is_command else f"value of {'/'.join(action.option_strings)}"
        said = f"{value!r} is no {what} of {self.prog}. Accepted are {', '.join(accepted)}."
        self._raise(said, str(value), declared.close(str(value), accepted))

    def _raise(self, said: str, typed: str, meant: str | None) -> NoReturn:
        if meant is None:
            self.error(said)
        raise TypoError(said, typed, meant, self.format_usage().rstrip())

    def parse_known_args(  # type: ignore[override]  # argparse has overloads
        self, args: Iterable[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse words; none that is unknown is left to the parser above, which has another usage.

        Words behind an option belong to the command's last positional, if it takes many.
        """
        found, rest = super().parse_known_args(args, namespace)  # type: ignore[arg-type]
        for word in [one for one in rest if not one.startswith("-")]:
            for action in self._get_positional_actions():
                if action.nargs == "?" and getattr(found, action.dest) is None:
                    setattr(found, action.dest, word)
                elif action.nargs in ("*", "+"):
                    setattr(found, action.dest, [*getattr(found, action.dest), word])
                else:
                    continue
                rest.remove(word)
                break
        for word in rest:
            name = word.partition("=")[0]
            if not word.startswith("-"):
                self.error(f"{word!r} is one word too many.")
            known = [one for one in self._option_string_actions if one.startswith("--")]
            said = f"{name} is no option of {self.prog}."
            self._raise(said, name, declared.close(name, known))
        if self._subparsers:
            return found, rest  # the command's own parser has done it
        if hasattr(found, WORDS):
            _part(self, found)
        if getattr(found, "entities", None) and hasattr(found, "select"):
            found.select = [*found.entities, *found.select]
        return found, rest


def _part(parser: Parser, found: argparse.Namespace) -> None:
    """Part dates from entities: a date begins with a digit."""
    found.dates = [word for word in found.words if word[:1].isdigit()]
    found.entities = [word for word in found.words if not word[:1].isdigit()]
    if parser.get_default("needs_dates") and not found.dates:
        parser.error("The date is missing.")
    del found.words


def add_common(parser: argparse.ArgumentParser, default: bool | str = argparse.SUPPRESS) -> None:
    """Add the options of all commands, which may stand before or after a command."""
    parser.add_argument("--quiet", action="store_true", default=default, help="print no progress")
    parser.add_argument(
        "--debug", action="store_true", default=default, help="show tracebacks and dbt's stacks"
    )


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


def add_dates(parser: argparse.ArgumentParser, help: str, needed: bool = False) -> None:
    """Add dates and entities by position, in any order; the parsed arguments have them apart."""
    parser.add_argument(WORDS, nargs="*", default=[], metavar="DATE|ENTITY", help=help)
    parser.set_defaults(takes_dates=True, needs_dates=needed)


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
