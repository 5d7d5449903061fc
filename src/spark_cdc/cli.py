"""The command `spark-cdc`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence

from spark_cdc import __version__, project
from spark_cdc.errors import SparkCdcError

# Modules with a function add_parser(subparsers) that sets the default `run`, a function from the
# parsed arguments to the exit code.
COMMANDS = (
    *("demo", "server", "stream", "run", "plan", "load", "backfill", "replay", "undo", "states"),
    *("branch", "secrets", "forget", "status", "acknowledge", "report", "upkeep", "generate"),
    *("new", "packages"),
)


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    top = argparse.ArgumentParser(
        prog="spark-cdc", description="Change data capture with dbt on Spark."
    )
    top.add_argument("--version", action="version", version=f"spark-cdc {__version__}")
    top.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        if importlib.util.find_spec(f"spark_cdc.{name}"):
            importlib.import_module(f"spark_cdc.{name}").add_parser(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words or bool(os.environ.get("SPARK_CDC_DEBUG"))
    try:
        arguments = parser().parse_args(words)
        with project.in_branch(getattr(arguments, "branch", None)):
            return int(arguments.run(arguments) or 0)
    except SparkCdcError as error:
        if debug:
            raise
        sys.stdout.flush()
        print(f"error: {error.message}", file=sys.stderr)
        if error.next_step:
            print(f"next: {error.next_step}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        if debug:
            raise
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, `head` for example, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            raise
        print(f"error: unexpected {type(error).__name__}: {error}", file=sys.stderr)
        print("next: run the same with --debug after spark-cdc, and report it", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
