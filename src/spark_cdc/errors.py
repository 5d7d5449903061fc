"""Errors that a user can do something about."""

from __future__ import annotations

from spark_cdc.exit_codes import ExitCode


class SparkCdcError(Exception):
    """What went wrong, and the next step: advice, a command, or advice and below it a command.

    The command line prints both without a traceback and exits with `exit_code`.
    """

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step

    @property
    def text(self) -> str:
        """Return what the command line prints."""
        step = self.next_step.replace("\n", "\n  ")
        return "\n".join([f"error: {self.message}", *([f"next: {step}"] if step else [])])


class UnreachableError(SparkCdcError):
    """No server answers; it may by the next attempt."""


class UsageError(SparkCdcError):
    """The command line or a setting is wrong: nothing was begun, and it can't succeed."""

    exit_code = ExitCode.USAGE
