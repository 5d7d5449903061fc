"""Errors that a user can do something about."""

from __future__ import annotations

import re

from spark_cdc.exit_codes import ExitCode

# A command of a message is a line of its own, indented.
_COMMAND = re.compile(r"[ \t]+(spark-cdc|dbt) \S")


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


class TypoError(UsageError):
    """A word of the command line is unknown, and another one is close to it.

    The command line prints the command with the other word as the next step.
    """

    def __init__(self, message: str, typed: str, meant: str, usage: str = "") -> None:
        said = f"{message} Did you mean {meant!r}?"
        super().__init__("\n".join(part for part in (said, usage) if part))
        self.typed = typed
        self.meant = meant


def advice(message: str) -> tuple[str, str]:
    """Return a message of a macro without its commands, and these as the next step.

    Each command is a line of its own, which is indented. It takes the sentence with it that ends
    in a colon before it.
    """
    told: list[str] = []
    steps: list[str] = []
    for line in message.rstrip().split("\n"):
        if not _COMMAND.match(line):
            told.append(line)
            continue
        if told and told[-1].rstrip().endswith(":"):
            before, sentence = _last_sentence(told.pop().rstrip())
            told += [before] if before else []
            steps.append(sentence.strip())
        steps.append(line.strip())
    return "\n".join(told).rstrip(), "\n".join(steps)


def _last_sentence(line: str) -> tuple[str, str]:
    """Return a line without its last sentence, and that sentence.

    A full stop ends a sentence where a capital follows; those within parentheses end none.
    """
    ends = [match.end() for match in re.finditer(r"\.(?= [A-Z])", line)]
    ends = [end for end in ends if line[end:].count(")") == line[end:].count("(")]
    return (line[: ends[-1]], line[ends[-1] :]) if ends else ("", line)
