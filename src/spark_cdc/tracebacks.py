"""What dbt prints, with the cause of an error first and without the stacks of server and dbt."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import TextIO

from spark_cdc import project

LOG = "logs/dbt.log"
CLOCK = re.compile(r"^(?:\x1b\[\d*m)?\d\d:\d\d:\d\d  ", re.M)  # each of dbt's messages begins so
FRAME = re.compile(r"\s*(at [\w.$/<>]+\(.*\)|\.\.\. \d+ more)\s*$")
BETWEEN = re.compile(r"\s*(Suppressed: .*OriginalTryStackTraceException.*|Driver stacktrace:)\s*$")
TRACEBACK = "Traceback (most recent call last):"
# Not \x1b, which begins a colour.
NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]+")
CAUSE = re.compile(r"\s*Caused by: ")
CUT_OFF = "An Avro file is cut off, or is none. Deliver it again, then run the same command again."
# What leads on from causes that people meet, of which Java says no more than where it met them.
ADVICE = {
    "CSV header does not conform": "The CSV files of one load have different headers. Deliver them"
    " alike, then run the same command again.",
    "Unexpected end of input stream": "A compressed file is cut off. Deliver it again, then run the"
    " same command again.",
    r"InvalidAvroMagicException|AvroRuntimeException: java.io.EOFException": CUT_OFF,
    r"(EOF|NullPointer)Exception.*while reading file \S*\.avro\b": CUT_OFF,
    r"EOFException.*Could not read file: \S*\.avro\b": CUT_OFF,
    "No space left on device": "A disk of the server is full. Nothing was committed: free space,"
    " then run the same command again; spark-cdc vacuum drops what failed attempts left behind.",
}


# How dbt begins and ends what a macro raised.
HEADING = re.compile(r"\s*(Runtime|Compilation) Error\b.*")
STACK = re.compile(r"\s*> (in|called by) ")
OF_MACRO = re.compile(r"\s*> in macro \w+ \((macros/[^)]*)\)")

_shown = {"whole": False}


@contextlib.contextmanager
def whole(shown: bool) -> Iterator[None]:
    """Show what macros raised as dbt does in a block, with the stack of macros."""
    before, _shown["whole"] = _shown["whole"], shown
    try:
        yield
    finally:
        _shown["whole"] = before


def shows_whole() -> bool:
    """Whether stacks of macros are shown."""
    return _shown["whole"]


def raised(text: str) -> str:
    """Return what a macro of this package raised, without dbt's heading and stack of macros.

    What dbt or a model of the user's raised keeps its heading, which names the model.
    """
    if shows_whole():
        return text.strip()
    lines = text.rstrip().splitlines()
    stack = [line for line in lines if STACK.match(line)]
    found = [match[1] for match in map(OF_MACRO.match, stack) if match]
    is_ours = any((project.package() / path).is_file() for path in found)
    told = [
        line
        for line in lines
        if line.strip() and not STACK.match(line) and not (is_ours and HEADING.fullmatch(line))
    ]
    return textwrap.dedent("\n".join(told)).strip()


def fold(text: str) -> str:
    """Return what dbt printed with its stacks folded, and a character for each run of no text."""
    text = NO_TEXT.sub("\ufffd", text)
    starts = [0, *(match.start() for match in CLOCK.finditer(text) if match.start()), len(text)]
    parts = [text[start:end] for start, end in itertools.pairwise(starts)]
    return "".join(map(fold_message, parts))


def fold_message(text: str) -> str:
    """Return one of dbt's messages with the stack that it may hold folded into a line.

    Of a server's error there remain what it says, and what its causes say: the first cause first,
    because the others only say where it was met.
    """
    lines = text.split("\n")
    if any(FRAME.match(line) for line in lines):
        return "\n".join(_folded(lines))
    return _without_traceback(text) if TRACEBACK in text else text


def _folded(lines: list[str]) -> list[str]:
    at = [number for number, line in enumerate(lines) if FRAME.match(line)]
    # The error's first line is the last one before the stack that names an exception.
    named = [n for n in range(at[0]) if re.match(r"\s*[\w.$]+(Exception|Error): ", lines[n])]
    first = named[-1] if named else at[0] - 1
    indent = lines[first][: -len(lines[first].lstrip()) or None]
    said: list[list[str]] = []
    for line in lines[first : at[-1]]:
        if FRAME.match(line) or BETWEEN.match(line):
            continue
        if not said or CAUSE.match(line):
            said.append([])
        said[-1].append(line.rstrip())
    outer, *causes = (CAUSE.sub("", "\n".join(part)).strip() for part in said)
    told: list[str] = []
    for part in [*reversed(causes), outer]:  # without what another one says as well
        message = part.partition(": ")[2] or part
        if not any(message in other for other in (told if part is outer else [*told, outer])):
            told.append(part)
    shown = f"\n{indent}which led to: ".join(told).split("\n")
    shown[0] = indent + shown[0]
    folded = at[-1] + 1 - first - len(shown)
    note = f"{indent}({folded} more lines, the stack of the server: {LOG})"
    text = "\n".join(shown)
    found = [advice for cause, advice in ADVICE.items() if re.search(cause, text, re.DOTALL)]
    advice = [f"{indent}{one}" for one in dict.fromkeys(found)]
    return [*lines[:first], *shown, *advice, note, *lines[at[-1] + 1 :]]


def _without_traceback(text: str) -> str:
    """Return a message without the frames of Python, which are indented."""
    before, _, after = text.partition(TRACEBACK)
    error = re.search(r"^\S.*", after, re.M | re.S)
    return f"{before}(the stack is in {LOG})\n{error[0] if error else ''}"


class Output(io.StringIO):
    """What dbt prints, folded: kept here, and shown as it comes where `shown` is given.

    dbt writes a message at a time.
    """

    def __init__(self, shown: TextIO | None = None) -> None:
        super().__init__()
        self._shown = shown

    def write(self, text: str) -> int:
        """Keep and show a message."""
        folded = fold(text)
        if self._shown:
            self._shown.write(folded)
        super().write(folded)
        return len(text)

    def flush(self) -> None:
        """Show what is held back."""
        if self._shown:
            self._shown.flush()
