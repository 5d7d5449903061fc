"""Errors that a user can do something about."""

from __future__ import annotations


class SparkCdcError(Exception):
    """What went wrong, and the next step.

    The command line prints both without a traceback and exits with `exit_code`.
    """

    exit_code = 1

    def __init__(self, message: str, next_step: str = "", exit_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step
        if exit_code is not None:
            self.exit_code = exit_code


class UsageError(SparkCdcError):
    """The command line is wrong: nothing was begun, and the same command can't succeed."""

    exit_code = 2  # as argparse has it
