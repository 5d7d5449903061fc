"""Exit codes of `spark-cdc`: each has one meaning, whatever the command."""

from __future__ import annotations

import enum
from collections.abc import Mapping


class ExitCode(enum.IntEnum):
    """What a command ends with."""

    DONE = 0
    FAILED = 1
    USAGE = 2  # as argparse has it
    NOTHING = 3
    ATTENTION = 4
    INTERRUPTED = 130  # as a shell has it after Ctrl-C


# For `spark-cdc --help` and docs/reference.md.
MEANINGS: Mapping[ExitCode, str] = {
    ExitCode.DONE: "done, and nothing is wrong; dates that were asked for are committed",
    ExitCode.FAILED: "something failed, was refused, or is wrong",
    ExitCode.USAGE: "the command line or a setting is wrong; nothing was begun",
    ExitCode.NOTHING: "no date was pending (`load`), or no server runs (`server status`)",
    ExitCode.ATTENTION: "something waits for a person (`load`), or the server does not answer",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C or SIGTERM; run the same command again",
}
