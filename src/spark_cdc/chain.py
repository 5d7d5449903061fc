"""dbt commands one after the other, in this process, so that dbt is started only once."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_cdc import project
from spark_cdc.errors import SparkCdcError

LOG = "dbt's messages are above and in logs/dbt.log."


def add_arguments(parser: Any, *names: str) -> None:
    """Add the options of these names that several commands have, with one meaning."""
    options = {
        "select": {"nargs": "+", "metavar": "ENTITY", "help": "these entities only"},
        "lift": {
            "nargs": "+",
            "metavar": "GUARD",
            "help": "guards to do without, such as orders.deleted_share"
            " (docs/configuration.md#guards)",
        },
        "target": {"help": "target of profiles.yml (local)"},
    }
    for name in names:
        default = [] if "nargs" in options[name] else None
        parser.add_argument(f"--{name}", default=default, **options[name])


@dataclass(frozen=True)
class Done:
    """What a dbt command came to: whether it succeeded, and what it printed if that was held.

    models: how many it ran; None where dbt ran in a process of its own.
    """

    ok: bool
    output: str
    models: int | None = None

    @property
    def lines(self) -> list[str]:
        """Return the messages without dbt's clock."""
        return [re.sub(r"^\d\d:\d\d:\d\d {2}", "", line) for line in self.output.splitlines()]


class Dbt:
    """dbt for the project at hand and a target of its profiles.

    parses_once: for all commands; only where no var has a part in what is parsed.
    """

    def __init__(self, target: str | None = None, parses_once: bool = False) -> None:
        self.target = target
        self._environment = project.dbt_environment(target=target)
        self._parses_once = parses_once
        self._parsed: Any = None

    def run(self, *words: str, shown: bool = False) -> Done:
        """Run a dbt command. What it prints goes to the terminal if shown, else into the result."""
        words = (*words, *(["--target", self.target] if self.target else []))
        return self._in_process(words, shown) if self._is_safe() else self._apart(words, shown)

    def operate(self, macro: str, entities: Sequence[str] = ()) -> Done:
        """Run a macro of the package that takes `entities`; raise if it fails.

        Raises SparkCdcError with the macro's own message.
        """
        values = json.dumps({"entities": list(entities)} if entities else {})
        done = self.run("run-operation", f"spark_cdc.{macro}", "--args", values)
        if not done.ok:
            print(done.output, flush=True)
            raise SparkCdcError(f"{macro} failed", LOG)
        return done

    def _is_safe(self) -> bool:
        # Spark in dbt's own process is for one run
        return self.target != "session"

    def _apart(self, words: Sequence[str], shown: bool) -> Done:
        done = subprocess.run(
            project.dbt_command(*words),
            env=self._environment,
            cwd=project.root(),
            stdout=None if shown else subprocess.PIPE,
            stderr=None if shown else subprocess.STDOUT,
            text=True,
        )
        return Done(done.returncode == 0, done.stdout or "")

    def _in_process(self, words: Sequence[str], shown: bool) -> Done:
        from dbt.cli.main import dbtRunner

        arguments = project.dbt_arguments(*words)
        os.environ.update(self._environment)
        printed = io.StringIO()
        here = Path.cwd()
        os.chdir(project.root())
        try:
            with contextlib.nullcontext() if shown else contextlib.redirect_stdout(printed):
                known = {"manifest": self._manifest()} if self._parses_once else {}
                result = dbtRunner(**known).invoke(arguments)
        finally:
            os.chdir(here)
        if isinstance(result.exception, KeyboardInterrupt):
            raise result.exception
        output = re.sub(r"\x1b\[[0-9;]*m", "", printed.getvalue())
        error = str(result.exception or "").strip()
        if error and shown and type(result.exception).__name__ == "DbtUsageException":
            print(error, flush=True)  # the one kind of error that dbt leaves to its caller
        elif error and error not in output:
            output += f"\n{error}"
        ran = [getattr(one, "node", None) for one in getattr(result.result, "results", None) or []]
        models = sum(getattr(node, "resource_type", None) == "model" for node in ran)
        return Done(bool(result.success), output, models)

    def _manifest(self) -> Any:
        """Return the project as it was parsed, for one command: what it compiles stays in it."""
        from dbt.cli.main import dbtRunner

        if self._parsed is None:
            self._parsed = dbtRunner().invoke(project.dbt_arguments("parse")).result
            if self._parsed is None:
                return None  # the command says why
        copied = self._parsed.deepcopy()
        copied.build_flat_graph()
        return copied


def summary(done: Done) -> str:
    """Return what the loads of a dbt run did, from their own lines: each of a few, or the sum."""
    pattern = r"(\w+) \d{4}-\d\d-\d\d(?: [\d:]{8})?: (\d+) rows in, ([^;]*)"
    found = [match for match in (re.match(pattern, line) for line in done.lines) if match]
    if len(found) <= 3:
        return "; ".join(f"{one[1]}: {one[2]} rows in, {one[3]}" for one in found)
    sums: dict[str, int] = {}
    for one in found:
        for name, count in re.findall(r"\b([IUD]) (\d+)", one[3]):
            sums[name] = sums.get(name, 0) + int(count)
    rows = sum(int(one[2]) for one in found)
    counts = ", ".join(f"{name} {count}" for name, count in sums.items())
    return f"{len(found)} entities: {rows} rows in, {counts}"


class Progress:
    """A line for each of n dates: number, seconds, what was loaded, when the last will be done."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.at = 0
        self._seconds: list[float] = []

    def step(self, date: str, dbt: Dbt, *words: str) -> Done:
        """Run dbt for a date and print its line; what dbt printed only if it failed."""
        self.at += 1
        print(f"{date}  {self.at} of {self.count}", end="", flush=True)
        started = time.monotonic()
        done = dbt.run(*words)
        self._seconds.append(time.monotonic() - started)
        last = self._seconds[-10:]
        remaining = (self.count - self.at) * sum(last) / len(last)
        ends = time.strftime("%H:%M:%S", time.localtime(time.time() + remaining))
        text = summary(done) if done.ok else "failed"
        more = f"  (the last is done at about {ends})" if done.ok and self.at < self.count else ""
        print(f"  {last[-1]:.1f} s  {text}{more}", flush=True)
        if not done.ok:
            print(done.output, flush=True)
        return done


def parse_json(done: Done, marker: str) -> Any:
    """Return the JSON behind a marker in what dbt printed."""
    for line in done.lines:
        if marker in line:
            return json.loads(line.partition(marker)[2])
    raise SparkCdcError(f"dbt printed no line with {marker!r}:\n{done.output}", LOG)
