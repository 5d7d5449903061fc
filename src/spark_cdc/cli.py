"""The command `spark-cdc`."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence

from spark_cdc import __version__, console, dbt_runner, parsing, parts, selection, tracebacks
from spark_cdc.errors import SparkCdcError, TypoError
from spark_cdc.exit_codes import MEANINGS, ExitCode

# By command: its module, with a function add_parser(subparsers) that sets the default `run`, a
# function from the parsed arguments to the exit code. A part is a folder beside `commands`.
COMMANDS: Mapping[str, str] = {
    "load": "commands.load",
    "stream": "stream.command",
    "undo": "commands.undo",
    "redo": "commands.undo",
    "replay": "commands.replay",
    "acknowledge": "commands.acknowledge",
    "status": "commands.status",
    "report": "report.command",
    "diff": "commands.diff",
    "files": "commands.files",
    "verify": "commands.maintenance",
    "tag": "commands.tag",
    "branch": "commands.branch",
    "maintain": "commands.maintenance",
    "vacuum": "commands.maintenance",
    "compact": "commands.maintenance",
    "erase": "commands.erase",
    "secrets": "commands.secrets",
    "demo": "synthetic.demo",
    "init": "scaffold.init",
    "new": "scaffold.new",
    "generate": "synthetic.generate",
    "server": "server.command",
    "deps": "commands.deps",
    "import": "commands.import_history",
}
# The commands as `spark-cdc --help` lists them.
GROUPS: Mapping[str, Sequence[str]] = {
    "Load": ("load", "stream", "import"),
    "Correct": ("undo", "redo", "replay", "acknowledge"),
    "Look": ("status", "report", "diff", "files", "verify"),
    "Maintain": ("maintain", "tag", "branch", "vacuum", "compact", "erase", "secrets"),
    "Set up": ("demo", "init", "new", "generate", "server", "deps"),
}


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the command line's parser.

    words: a command line; the parser has its command only, if it names one. So nothing else is
        imported, and a command of the core goes without the parts.
    """
    top = parsing.Parser(
        prog="spark-cdc",
        usage="spark-cdc [--quiet] [--debug] COMMAND …",
        formatter_class=parsing.Formatter,
    )
    top.set_defaults(line="spark-cdc")
    top.add_argument("--version", action="version", version=f"spark-cdc {__version__}")
    parsing.add_common(top, default=False)
    commands = top.add_subparsers(
        dest="command",
        prog="spark-cdc",
        required=True,
        metavar="COMMAND",
        help=argparse.SUPPRESS,
    )
    # options before the command may ask for the help of all
    named = next((word for word in words if word not in ("--quiet", "--debug")), "")
    modules = [COMMANDS[named]] if named in COMMANDS else [*dict.fromkeys(COMMANDS.values())]
    for module in modules:
        parts.load(module).add_parser(commands)
    if named not in COMMANDS:
        summaries = {one.dest: one.help or "" for one in commands._choices_actions}
        top.description = _described(summaries)
        top.epilog = _exit_codes()
    return top


def _described(summaries: Mapping[str, str]) -> str:
    """Return the list of commands, in groups."""
    lines = ["Change data capture with dbt on Spark."]
    for group, names in GROUPS.items():
        lines += ["", f"{group}:", *(f"  {name:<12} {summaries[name]}" for name in names)]
    return "\n".join([*lines, "", "`spark-cdc COMMAND --help` describes one, with an example."])


def _exit_codes() -> str:
    lines = [f"  {code:<4d} {meaning}" for code, meaning in MEANINGS.items()]
    return "\n".join(["exit codes:", *lines])


def run(*words: str) -> int:
    """Run one command inside another process, such as a notebook or a task of Airflow.

    words: as on the command line, such as "load", "2024-03-01". Returns the exit code. The signal
    handlers of the process stay; an interrupt raises KeyboardInterrupt.

    Raises SparkCdcError, whose text the command line would print.
    """
    try:
        arguments = parser(words).parse_args(words)
        arguments.line = shlex.join(["spark-cdc", *words])
        selection.check(arguments)
        branch = getattr(arguments, "branch", None)
        shown = tracebacks.whole(arguments.debug or _asks_for_stacks())
        with console.progress(not arguments.quiet), shown, _in_branch(branch):
            return int(arguments.run(arguments) or ExitCode.DONE)
    except TypoError as error:
        error.next_step = error.next_step or shlex.join(["spark-cdc", *_corrected(words, error)])
        raise


def _corrected(words: Sequence[str], error: TypoError) -> list[str]:
    """Return a command line with the word that was meant."""
    return [
        word.replace(error.typed, error.meant, 1)
        if word == error.typed or word.startswith(f"{error.typed}=")
        else word
        for word in words
    ]


def _asks_for_stacks() -> bool:
    return bool(os.environ.get("SPARK_CDC_DEBUG"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words or _asks_for_stacks()
    try:
        with _own_process():
            return run(*words)
    except SparkCdcError as error:
        if debug:
            raise
        sys.stdout.flush()
        print(error.text, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        if debug:
            raise
        print("interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader, `head` for example, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except Exception as error:
        if debug:
            raise
        found = _unexpected(error)
        print(found.text, file=sys.stderr)
        return found.exit_code


@contextlib.contextmanager
def _own_process() -> Iterator[None]:
    """Let commands meanwhile end the process, which is theirs alone."""
    before, dbt_runner.end_process = dbt_runner.end_process, _end
    # What cleans up behind a process that ends at once is not to say so.
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        yield
    finally:
        dbt_runner.end_process = before
        sys.warnoptions.remove("ignore:resource_tracker")


def _end(said: str) -> None:
    with contextlib.suppress(RuntimeError):  # the signal came while it was written to
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
    os.write(2, f"\n{said}\n".encode())
    os._exit(ExitCode.INTERRUPTED)


@contextlib.contextmanager
def _in_branch(name: str | None) -> Iterator[None]:
    """Let all commands meanwhile work in a branch: in its schema, if it is there; None: do not.

    dbt finds both variables where the macros and the profile look for them (docs/branches.md).
    """
    given = dict.fromkeys(("SPARK_CDC_SCHEMA", "SPARK_CDC_BRANCH"), name) if name else {}
    before = {variable: os.environ.get(variable) for variable in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for variable, value in before.items():
            os.environ.pop(variable, None)
            os.environ.update({} if value is None else {variable: value})


def _unexpected(error: Exception) -> SparkCdcError:
    """Return an error for one that no command expected."""
    if isinstance(error, OSError) and error.filename:
        return SparkCdcError(
            f"'{error.filename}': {error.strerror}. The command has to read or write it.",
            f"Check the path, its permissions and the free space.\nls -ld {error.filename}",
        )
    missing = error.name or "" if isinstance(error, ModuleNotFoundError) else ""
    if missing.partition(".")[0] in ("dbt", "dbt_common"):
        return parts.missing(
            "dbt",
            f"dbt is not installed beside spark-cdc: there is no module '{missing}'."
            " Accepted are dbt-core and dbt-spark from 1.11 on.",
        )
    return SparkCdcError(
        f"unexpected {type(error).__name__}: {error}",
        "Run the same command with --debug, and report what it prints.",
    )


if __name__ == "__main__":
    sys.exit(main())
