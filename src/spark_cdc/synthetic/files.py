"""Files of lines, and folders that are replaced as a whole."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path

from spark_cdc.errors import SparkCdcError

LINES_PER_FILE = 250_000
BUFFERED_LINES = 500_000


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """A hidden folder that takes the place of `target` when the block ends without an error.

    Half a day is never seen. Raises SparkCdcError if `target` is a file.
    """
    if target.exists() and not target.is_dir():
        raise SparkCdcError(
            f"{target} is a file, but the folder of a business date is to be written there.",
            "Remove the file or give another --out.",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.writing-{os.getpid()}")
    replaced = target.with_name(f".{target.name}.replaced-{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir()
        yield temporary
        if target.exists():
            target.rename(replaced)
        temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(replaced, ignore_errors=True)


def replace_text(path: Path, text: str) -> None:
    """Write a file as a whole."""
    temporary = path.with_name(f".{path.name}.writing-{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def write_csv(folder: Path, header: str, lines: Iterator[str]) -> None:
    """Write lines in their order, in as many files as they need; one at least."""
    for number in count():
        part = list(islice(lines, LINES_PER_FILE))
        if number and not part:
            break
        _write(folder / f"part-{number:05}.csv", header, part)


def _write(path: Path, header: str | None, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8") as out:
        if header is not None:
            out.write(f"{header}\n")
        out.writelines(f"{line}\n" for line in lines)


class Shuffled:
    """Lines in any order, in as many files as they need, with no more than some of them in memory.

    Each line goes to a file by chance; at the end each file is read again and shuffled.
    """

    def __init__(
        self, folder: Path, expected: int, header: str | None, suffix: str, seed: str
    ) -> None:
        self._chance = random.Random(f"{seed}|order")
        self._header = header
        self._lines: list[list[str]] = [[] for _ in range(max(1, -(-expected // LINES_PER_FILE)))]
        self._files = [folder / f"part-{number:05}.{suffix}" for number in range(len(self._lines))]
        self.count = 0

    def add(self, line: str) -> None:
        """Write a line, sooner or later."""
        files = len(self._lines)
        self._lines[int(self._chance.random() * files) if files > 1 else 0].append(line)
        self.count += 1
        if self.count % BUFFERED_LINES == 0 and files > 1:
            for file, lines in zip(self._files, self._lines, strict=True):
                with file.open("a", encoding="utf-8") as out:
                    out.writelines(f"{line}\n" for line in lines)
                lines.clear()

    def close(self) -> None:
        """Write the files."""
        for file, lines in zip(self._files, self._lines, strict=True):
            if file.exists():
                lines[:0] = file.read_text(encoding="utf-8").split("\n")[:-1]
            self._chance.shuffle(lines)
            _write(file, self._header, lines)
            lines.clear()
