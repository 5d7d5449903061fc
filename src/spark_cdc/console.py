"""Output for people: progress on stderr, results on stdout, small tables.

Progress is a live line on a terminal, and a line a minute elsewhere; `--quiet` leaves it out.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from spark_cdc.errors import SparkCdcError

if TYPE_CHECKING:
    from tqdm import tqdm

MINUTE = 60.0  # seconds between two lines of progress where stderr is no terminal
PATIENCE = 3.0  # seconds until a wait is shown

_shown = {"progress": True, "live": 0}
_lock = threading.RLock()
_lines = {"last": time.monotonic()}  # when progress was last a line where there is no terminal


@contextmanager
def progress(shown: bool) -> Iterator[None]:
    """Show progress in a block, or leave it out; what was before holds again after it."""
    before, _shown["progress"] = _shown["progress"], shown
    try:
        yield
    finally:
        _shown["progress"] = before


def printer() -> Callable[[str], None]:
    """Return what prints lines of results on stdout as it is now; a live line makes room."""
    out = sys.stdout

    def say(text: str) -> None:
        with _lock:
            if _shown["live"] and sys.stderr.isatty():
                print("\r\033[K", end="", flush=True, file=sys.stderr)
            print(text, file=out, flush=True)

    return say


def print_json(data: object) -> None:
    """Print data as JSON, letters as they are unless stdout can't take them."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data, indent=2)
    print(text)


def dry_run(result: str = "") -> None:
    """Say that a command with --dry-run has ended; on stderr, so that stdout is the result."""
    print(f"Dry run: nothing was changed. {result}".rstrip(), file=sys.stderr, flush=True)


class Step:
    """A line of progress on stderr: a name while it runs, its seconds when it is done.

    patience: seconds until it is shown; one that ends sooner leaves nothing.
    """

    def __init__(self, name: str, patience: float = 0.0) -> None:
        self.name = name
        self.detail = ""
        self.started = time.monotonic()
        self._out = sys.stderr  # also while a caller catches what others print
        self._terminal = self._out.isatty()
        self._patience = patience
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)
        self._is_shown = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def _tick(self) -> None:
        if self._stop.wait(self._patience):
            return
        self._is_shown = self._terminal
        while True:
            text = f"{self.name} … {self.seconds:.0f} s  {self.detail}".rstrip()
            with _lock:
                due = _lines["last"] + MINUTE - time.monotonic()
                if self._terminal:
                    width = shutil.get_terminal_size().columns - 1
                    print(f"\r\033[K{text[:width]}", end="", flush=True, file=self._out)
                elif due <= 0:
                    print(f"  {text[:110]}", flush=True, file=self._out)
                    _lines["last"] = time.monotonic()
                    due = MINUTE
            if self._stop.wait(0.5 if self._terminal else due):
                return

    def __enter__(self) -> Step:
        if _shown["progress"] and not (self._patience and _shown["live"]):
            self._thread.start()
        _shown["live"] += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        _shown["live"] -= 1
        self._stop.set()
        if not self._thread.ident:
            return
        self._thread.join()
        start = "\r\033[K" if self._terminal else ""
        if self._patience:
            print(start if self._is_shown else "", end="", flush=True, file=self._out)
            return
        result = "failed after" if kind else ""
        text = " ".join(part for part in (self.name, result, f"{self.seconds:.1f} s") if part)
        note = f"  ({self.detail})" if self.detail and not kind else ""
        print(f"{start}{text}{note}", flush=True, file=self._out)


class Screen:
    """Lines of results on stdout as they come; on a terminal a bar below them, on stderr.

    total, unit: what the bar counts.
    """

    def __init__(self, total: int, unit: str, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._bar: tqdm | None = None
        if _shown["progress"] and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(
                total=total, unit=unit, file=sys.stderr, dynamic_ncols=True, leave=False
            )
            _shown["live"] += 1

    def line(self, text: str, count: int = 0) -> None:
        """Print a line; so many units have ended with it."""
        with _lock:
            if self._bar is None:
                print(text, file=self._out, flush=True)
            else:
                self._bar.write(text, file=self._out)
                self._bar.update(count)

    def advance(self, name: str, count: int = 0) -> None:
        """Name what is under way; so many units have ended."""
        if self._bar is not None:
            with _lock:
                self._bar.set_description(name)
                self._bar.update(count)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
            _shown["live"] -= 1


def run(
    name: str,
    command: Sequence[str],
    *,
    log: Path,
    next_step: str = "",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    tail: int = 30,
) -> str:
    """Run a command as one step, its output folded into `log`; return the output.

    Raises SparkCdcError with the end of the output when the command fails or takes longer than
    `timeout` seconds.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    lines: deque[str] = deque()
    expired = threading.Event()
    with Step(name) as step, log.open("a", encoding="utf-8") as out:
        out.write(f"$ {' '.join(command)}\n")
        process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env=dict(env) if env is not None else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )

        def give_up() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(timeout, give_up) if timeout else None
        if timer:
            timer.daemon = True
            timer.start()
        assert process.stdout is not None
        try:
            for line in process.stdout:
                out.write(line)
                out.flush()
                lines.append(line.rstrip("\n"))
                if line.strip() and not line.startswith("WARNING: "):
                    step.detail = line.strip()
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            if timer:
                timer.cancel()
        step.detail = ""
        if code or expired.is_set():
            reason = (
                f"took longer than {timeout:.0f} s" if expired.is_set() else f"exit code {code}"
            )
            shown = "\n".join(f"  | {line}" for line in list(lines)[-tail:])
            raise SparkCdcError(
                f"{name}: {reason}\n{shown}".rstrip(),
                "\n".join(part for part in (next_step, f"The whole output is in {log}.") if part),
            )
    return "\n".join(lines)


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], width: int = 24) -> str:
    """Lay rows out as a table in Markdown, numbers to the right; longer cells are cut."""
    import agate  # here, because the bootstrap has no packages yet

    class Number(agate.DataType):  # type: ignore[misc]  # agate has no types
        """To the right, with the digits that it has."""

        def cast(self, value: str) -> str:
            return value

    def text(value: object) -> str:
        if value is None:
            return "null"
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    columns = list(zip(*rows, strict=True)) or [()] * len(headings)
    types = [
        Number()
        if column and all(isinstance(cell, int | float | None) for cell in column)
        else agate.Text(cast_nulls=False)
        for column in columns
    ]
    cells = agate.Table([[text(cell) for cell in row] for row in rows], headings, types)
    lines = io.StringIO()
    cells.print_table(None, None, lines, width)
    return lines.getvalue().rstrip()
