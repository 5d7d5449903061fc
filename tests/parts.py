"""Parts of a long suite, each of which fits into an hour, and when each passed last.

`make test-all PART=2/4` runs the second of four. Files of tests stay whole.
"""

from __future__ import annotations

import datetime
import itertools
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "testing.md"
HEAD = "| Part | Passed at | On | Minutes |\n|---|---|---|---|\n"


def numbers(part: str) -> tuple[int, int]:
    """Which part, of how many.

    Raises:
        ValueError: it is none.
    """
    found = re.fullmatch(r"([1-9]\d?)/([1-9]\d?)", part)
    if not found or int(found[1]) > int(found[2]):
        raise ValueError(f"PART={part!r}: a number and how many there are, such as 2/4")
    return int(found[1]), int(found[2])


def files_of(part: str, files: Sequence[str]) -> set[str]:
    """The files of a part; those that take long come first in files, and are dealt out in turns."""
    number, count = numbers(part)
    turns = [files[at : at + count] for at in range(0, len(files), count)]
    dealt = [turn if at % 2 == 0 else [*turn][::-1] for at, turn in enumerate(turns)]
    return {turn[number - 1] for turn in dealt if len(turn) >= number}


def record(suite: str, part: str, seconds: float, page: Path = PAGE) -> None:
    """Write into the page of the tests that a part of a suite has passed on this commit."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=8"]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    target = "test" if suite == "test" else f"test-{suite}"
    name = f"`make {target} PART={part}`"
    row = f"| {name} | {commit} | {datetime.date.today()} | {seconds / 60:.0f} |"
    text = page.read_text("utf-8")
    before, _, rest = text.partition(HEAD)
    lines = rest.splitlines(keepends=True)
    rows = [*itertools.takewhile(lambda line: line.startswith("|"), lines)]
    kept = [one for one in rows if not one.startswith(f"| {name} |")]
    page.write_text("".join([before, HEAD, *sorted([*kept, f"{row}\n"]), *lines[len(rows) :]]))
