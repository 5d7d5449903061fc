"""`spark-cdc run`: loads pending dates, several entities side by side.

The dates of an entity are loaded in order. A round is one dbt run of the next date of each entity
that has one; dbt's threads load the entities side by side. One process, parsed once.
"""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import functools
import json
import re
import shlex
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from spark_cdc import chain, console, load, notify, parsing, pending, project, state
from spark_cdc.errors import SparkCdcError, UnreachableError, UsageError
from spark_cdc.exit_codes import ExitCode
from spark_cdc.state import EntityReport

VARIABLE = "SPARK_CDC_BUSINESS_DATE"
SHOWN = 31  # dates of an entity that a dry run names
HOOKS = "(hooks)"  # what the summary calls them
PAUSE = 5.0  # seconds before the first time that a load is tried again; then twice as long
# Words of Spark, Thrift and metastores for what may be gone by the next attempt, as is a commit of
# another run, and a server that does not answer. All else is in the data, the settings or the code.
PASSING = re.compile(
    r"FailedToConnect|TTransportException|Connection (?:refused|reset)|Broken pipe|timed out"
    r"|Invalid SessionHandle|EOFError|TSocket read 0 bytes|Could not connect|Lock wait|deadlock"
    r"|lock could not be obtained",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Options(notify.Options):
    """Options of the command."""

    select: list[str]
    exclude: list[str]
    file: str | None
    first: str | None
    last: str | None
    parallel: int | None
    retries: int
    expected_every: str | None
    skip_missing: bool
    every: int | None
    output: str
    skip_guards: list[str]


@dataclass
class Work:
    """An entity's part of a run.

    waiting: dates to load, in order.
    blocked: what is not loaded and why, if a person has to see to it.
    failed: message of the load that failed; nothing later was begun.
    attempts: how often the first of the dates that wait was tried in vain.
    """

    entity: str
    models: list[str]
    waiting: deque[str] = field(default_factory=deque)
    done: list[str] = field(default_factory=list)
    rows: int = 0
    seconds: float = 0
    notes: list[str] = field(default_factory=list)
    blocked: str = ""
    failed: str = ""
    attempts: int = 0
    not_before: float = 0

    @property
    def state(self) -> str:
        """Return what became of it, in a word."""
        if self.failed:
            return "failed"
        if self.blocked:
            return "waits"
        return "loaded" if self.done else "nothing to do"

    def told(self) -> EntityReport:
        """Return what became of it, as the summary in JSON and reports have it."""
        return {
            "entity": self.entity,
            "state": self.state,
            "loaded": self.done,
            "left": list(self.waiting),
            "rows": self.rows,
            "seconds": round(self.seconds, 3),
            "failed": self.failed or None,
            "waits": self.blocked or None,
            "notes": self.notes,
        }


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `run` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "run",
        "load all pending dates, several entities side by side",
        "Finds the dates in the landing or the source table that are not committed, and loads them:"
        " the dates of an entity in order, several entities side by side. An entity that fails"
        " stops its own later dates only (docs/run.md).",
        "spark-cdc run --select orders customers --to 2024-03-31",
    )
    chain.add_selection(parser)
    parser.add_argument(
        "--file",
        metavar="CSV",
        help="the entities of a list: column entity, optional column expected_every",
    )
    parser.add_argument("--from", dest="first", metavar="DATE", help="skip earlier dates")
    parser.add_argument("--to", dest="last", metavar="DATE", help="skip later dates")
    parser.add_argument(
        "--parallel",
        type=int,
        metavar="N",
        help="entities at once (default: the profile's threads)",
    )
    parser.add_argument(
        "--retries",
        type=int,
        default=2,
        metavar="N",
        help="retries of a load after a transient error: a lost connection, a race (default: 2)",
    )
    parser.add_argument(
        "--expected-every",
        metavar="STEP",
        help="report missing loads: daily, hourly, weekly, 15m, … (default: as in its YAML)",
    )
    parser.add_argument(
        "--skip-missing",
        action="store_true",
        help="load deltas and events after an expected date that is missing",
    )
    parser.add_argument(
        "--every",
        type=functools.partial(load.parse_time, "--every", least=1),
        metavar="TIME",
        help="run until stopped, and look for pending dates this often: 5s, 15m, 1h",
    )
    parsing.add_output(parser)
    chain.add_arguments(parser, "skip-guards", "target", "branch", "dry-run")
    notify.add_arguments(parser)
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Load what is pending."""
    for date in (arguments.first, arguments.last):
        if date:
            load.parse_business_date(date)
    if arguments.expected_every:
        pending.parse_expectation(arguments.expected_every)
    if arguments.every and (arguments.dry_run or arguments.output == "json"):
        raise UsageError(
            "--every goes with neither --dry-run nor --output json. Leave it out, or ask beside"
            " the run.",
            "spark-cdc run --dry-run",
        )
    dbt = chain.Dbt(arguments.target, parses_once=True)
    if arguments.every:
        return _forever(arguments, dbt, arguments.every)
    return _once(arguments, dbt)


def _forever(arguments: Options, dbt: chain.Dbt, every: int) -> int:
    """Load what is outstanding again and again; what fails is said, and tried the next time."""
    known = _files()
    with dbt.ends_at_once(lambda: "ended between two loads"):
        while True:
            began = time.monotonic()
            try:
                _once(arguments, dbt)
            except SparkCdcError as error:
                print(error.text, flush=True)
            found = _files()
            dbt = dbt.again() if found == known else chain.Dbt(arguments.target, parses_once=True)
            known = found
            time.sleep(max(0.0, every - (time.monotonic() - began)))


def _files() -> dict[Path, int]:
    """Return when each file was changed that dbt parses."""
    root = project.root()
    found = [
        root / "dbt_project.yml",
        *project.models_folder().rglob("*.*"),
        *(root / "macros").rglob("*.sql"),
    ]
    return {path: path.stat().st_mtime_ns for path in found if path.is_file()}


def _once(arguments: Options, dbt: chain.Dbt) -> int:
    listed = read_list(Path(arguments.file)) if arguments.file else None
    teller = notify.Teller("run", arguments)
    out = sys.stderr if arguments.output == "json" else sys.stdout
    with contextlib.redirect_stdout(out):  # what is said on the way is no part of the JSON
        try:
            works = _work(arguments, dbt, listed, out)
        except SparkCdcError as error:
            notify.say(teller.tell(dbt, error.exit_code, error=error.message))
            raise
        code = code_of(works, arguments.dry_run)
        told = [work.told() for work in works if work.entity != HOOKS]
        of_hooks = "\n".join(f"{HOOKS}: {work.failed}" for work in works if work.entity == HOOKS)
        if arguments.every and code == ExitCode.NOTHING:
            return code
        lacking = [] if arguments.dry_run else teller.tell(dbt, code, told, of_hooks)
    return _finish(works, arguments, code, lacking)


def _work(
    arguments: Options, dbt: chain.Dbt, listed: dict[str, dict[str, str]] | None, out: TextIO
) -> list[Work]:
    """Load what is outstanding, unless it is a dry run; return what became of each entity."""
    models = load.selected_models(dbt, arguments.select, arguments.exclude)
    found = _read(dbt, arguments.retries, out)
    chosen = [one for one in found if one.entity in models and (not listed or one.entity in listed)]
    unknown = sorted(set(listed or ()) - {one.entity for one in chosen})
    if unknown:
        raise UsageError(
            f"{arguments.file} names {', '.join(map(repr, unknown))}, which is not an entity or not"
            " selected.",
            load.NO_ENTITY,
        )
    if not chosen:
        given = chain.options(arguments, "select", "exclude", "file").strip()
        raise UsageError(f"No entity is selected by {given or 'the project'}.", load.NO_ENTITY)
    works = [
        plan(one, models[one.entity], arguments, (listed or {}).get(one.entity, {}))
        for one in chosen
    ]
    if not arguments.dry_run:
        Controller(dbt, works, arguments, out).work()
    return works


def read_list(path: Path) -> dict[str, dict[str, str]]:
    """Return the entities of a CSV file, with what it says of them.

    Raises SparkCdcError with what is wrong in it.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            names = reader.fieldnames or []
            rows = list(reader)
    except OSError as error:
        raise UsageError(
            f"--file {str(path)!r} can't be read: {error.strerror}. Accepted is a CSV file.",
            "spark-cdc run --file nightly.csv",
        ) from error
    if "entity" not in names:
        raise UsageError(
            f"{path}, line 1: the column entity is missing; the columns are"
            f" {', '.join(names) or '(none)'}. Accepted are entity and expected_every.",
            "Name the columns in the first line: entity,expected_every",
        )
    listed = {}
    for row in rows:
        name = (row["entity"] or "").strip()
        if row.get("expected_every"):
            pending.parse_expectation(row["expected_every"].strip())
        if name:
            listed[name] = {key: (value or "").strip() for key, value in row.items() if key}
    return listed


def _read(dbt: chain.Dbt, retries: int, out: TextIO) -> list[state.State]:
    """Return what is pending; try again where no server answers."""
    for attempt in range(retries + 1):
        try:
            return state.read(dbt, (), "pending")
        except SparkCdcError as error:
            passes = isinstance(error, UnreachableError) or PASSING.search(error.message)
            if attempt == retries or not passes:
                raise
            pause = PAUSE * 2**attempt
            print(f"{error.message}; again in {pause:.0f} s", file=out, flush=True)
            time.sleep(pause)
    raise AssertionError("not reached")


def plan(
    one: state.State,
    models: list[str],
    arguments: Options,
    given: dict[str, str],
    now: dt.datetime | None = None,
) -> Work:
    """Return what is to be loaded of an entity, and what of it has to wait for a person."""
    found = state.Pending(problems=one.broken) if one.broken else one.pending
    work = Work(one.entity, models)
    if found.problems:
        work.failed = "; ".join(found.problems)
        return work
    if found.problem:
        work.blocked = (
            f"{found.problem}. Load it by date: spark-cdc load DATE --select {one.entity}"
        )
        return work
    if found.absent:
        work.blocked = found.absent
        return work
    first = load.parse_business_date(arguments.first)[0] if arguments.first else None
    last = load.parse_business_date(arguments.last)[0] if arguments.last else None
    if last and len(arguments.last or "") == 10:
        last += dt.timedelta(days=1) - dt.timedelta(microseconds=1)
    dates = [
        date
        for date in found.dates
        if (first is None or dt.datetime.fromisoformat(date) >= first)
        and (last is None or dt.datetime.fromisoformat(date) <= last)
    ]
    times = one.texts(one.times[-1:])
    if found.gaps:
        work.notes.append(
            f"{_few(found.gaps)} landed before {times[0]} and is missing; to insert:"
            f" spark-cdc replay --from {load.quoted(found.gaps[:1])}"
            f" --dates {load.quoted(found.gaps[:5])} --select {one.entity}"
        )
    if undone := one.texts(one.undone):
        work.blocked = (
            f"{_few(undone)} undone. Restore it: spark-cdc redo {one.entity}; or correct the"
            f" data and load it: spark-cdc load {load.quoted(undone[:1])}"
            f" --select {one.entity}"
        )
        return work
    expected_every = arguments.expected_every or given.get("expected_every") or found.expected_every
    if expected_every and not one.reads_feed:
        present = now or dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
        until = min(present, last + dt.timedelta(microseconds=1)) if last else present
        step = pending.parse_expectation(expected_every)
        lacking = pending.missing([*times, *found.dates], one.per, step, until)
        if lacking:
            work.blocked = f"{_few(lacking)} missing (expected {expected_every})"
            if one.load_type != "full" and not arguments.skip_missing:
                behind = [date for date in dates if date > lacking[0]]
                dates = [date for date in dates if date < lacking[0]]
                if behind:
                    work.blocked += f"; {_few(behind)} waits for it (or --skip-missing)"
    work.waiting.extend(dates)
    return work


def _few(dates: Sequence[str]) -> str:
    if len(dates) <= 3:
        return ", ".join(dates)
    return f"{len(dates)} dates from {dates[0]} to {dates[-1]}"


def _span(dates: Sequence[str]) -> str:
    return f"{dates[0]} to {dates[-1]}" if len(dates) > 1 else "".join(dates)


def _named(dates: Sequence[str]) -> str:
    """Return dates, the first of many."""
    rest = f", … and {len(dates) - SHOWN} more up to {dates[-1]}" if len(dates) > SHOWN else ""
    return ", ".join(dates[:SHOWN]) + rest


class Controller:
    """Loads what waits, in rounds."""

    def __init__(self, dbt: chain.Dbt, works: list[Work], arguments: Options, out: TextIO) -> None:
        self._dbt = dbt
        self._works = works
        self._arguments = arguments
        self._screen = console.Screen(sum(len(work.waiting) for work in works), "load", out)
        self._round: dict[str, Work] = {}

    def work(self) -> None:
        """Load until nothing waits that can be loaded."""
        try:
            with self._dbt.ends_at_once(self._interrupted):
                while chosen := self._next():
                    self._load(chosen)
        finally:
            self._screen.close()

    def _next(self) -> list[Work]:
        """Return the entities of the next round; wait for a pause."""
        live = [work for work in self._works if work.waiting and not work.failed]
        if not live:
            return []
        wait = min(work.not_before for work in live) - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        ready = [work for work in live if work.not_before <= time.monotonic()]
        return self._still_waiting(ready)

    def _still_waiting(self, ready: list[Work]) -> list[Work]:
        """Leave out what another run has committed since an attempt that failed."""
        tried = [work.entity for work in ready if work.attempts]
        if not tried:
            return ready
        try:
            found = {one.entity: one for one in state.read(self._dbt, tried)}
        except SparkCdcError:
            return ready  # the load says what is wrong
        for work in ready:
            if one := found.get(work.entity):
                last = one.texts(one.times[-1:])
                while work.waiting and last and work.waiting[0] <= last[0]:
                    date = work.waiting.popleft()
                    work.attempts = 0
                    self._screen.line(f"{work.entity}  {date}  committed by another run", 1)
        left = [work for work in ready if work.waiting]
        return left or self._next()

    def _load(self, chosen: list[Work]) -> None:
        """Load the next date of each; note what came of it."""
        self._round = {work.entity: work for work in chosen}
        dates = {work.entity: work.waiting[0] for work in chosen}
        words = ["run", "--select", *(model for work in chosen for model in work.models)]
        if self._arguments.parallel:
            words += ["--threads", str(self._arguments.parallel)]
        skipped = [
            guard
            for guard in self._arguments.skip_guards
            if "." not in guard or guard.rsplit(".", 1)[0] in dates
        ]
        if skipped:
            words += ["--vars", project.variables({"spark_cdc_skip_guards": skipped})]
        try:
            done = self._dbt.run(
                *words,
                interrupted=self._interrupted,
                watch=chain.Watch(self._ended, self._screen),
                variables={VARIABLE: json.dumps(dates)},
            )
            passing = set(chain.parts(done, "raced"))
        except UnreachableError as error:
            done = chain.Done(False, f"{error.message}\n{error.next_step}")
            passing = {work.entity for work in chosen}
        for work in chosen:
            self._settle(work, done, work.entity in passing)
        self._settle_hooks(chosen, done)

    def _settle_hooks(self, chosen: Sequence[Work], done: chain.Done) -> None:
        """Note what failed beside the models, such as maintenance at the end of a round."""
        models = {model for work in chosen for model in work.models}
        errors = [node for node in done.nodes if node.name not in models and node.has_failed]
        if errors:
            self._works[:] = [work for work in self._works if work.entity != HOOKS]
            self._works.append(Work(HOOKS, [], failed=chain.messages(errors)))
            self._screen.line(f"{HOOKS}  failed: {_line(chain.messages(errors))}")

    def _settle(self, work: Work, done: chain.Done, passes: bool) -> None:
        """Note what came of the load of an entity in a round.

        passes: whether it is known that what failed may succeed by the next attempt.
        """
        date = work.waiting[0]
        nodes = {node.name: node for node in done.nodes if node.name in work.models}
        errors = [node for node in nodes.values() if node.has_failed]
        committed = nodes.get(f"{work.entity}_committed")
        if committed and committed.status == "success":
            work.waiting.popleft()
            work.done.append(date)
            work.attempts = 0
            if errors:
                work.failed = f"{date} is committed, but {chain.messages(errors)}"
            return
        message = chain.messages(errors) if errors else done.said.strip() or "dbt did not run it"
        passes = passes or bool(PASSING.search(message))
        if passes and work.attempts < self._arguments.retries:
            pause = PAUSE * 2**work.attempts
            work.attempts += 1
            work.not_before = time.monotonic() + pause
            said = f"{work.entity}  {date}  tried in vain; again in {pause:.0f} s: {_line(message)}"
            self._screen.line(said)
            return
        work.failed = f"{date}: {message}"
        self._screen.line(f"{work.entity}  {date}  failed: {_line(message)}", len(work.waiting))

    def _ended(self, load: chain.Load) -> None:
        """Print the line of a load; called in dbt's threads."""
        if work := self._round.get(load.entity):
            work.rows += load.rows
            work.seconds += load.seconds
        self._screen.line(str(load), 1)

    def _interrupted(self) -> str:
        loads = sum(len(work.done) for work in self._works)
        left = sum(len(work.waiting) for work in self._works)
        return (
            f"interrupted: {loads} loads are done, {left} are not known to be. A load is atomic;"
            f" spark-cdc status lists the committed ones.\nnext: {_command()}"
        )


def _line(message: str) -> str:
    """Return what tells most of a message in one line: not dbt's own first one."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    told = [
        line for line in lines if not re.match(r"(\w+: )?(Runtime|Compilation|Database) Err", line)
    ]
    return (told or lines or [""])[0][:200]


def _command() -> str:
    return f"spark-cdc {shlex.join(sys.argv[1:])}"


def code_of(works: Sequence[Work], dry_run: bool = False) -> int:
    """Return the exit code."""
    if any(work.failed for work in works):
        return ExitCode.FAILED
    if any(work.blocked for work in works):
        return ExitCode.ATTENTION
    if any(work.done or (dry_run and work.waiting) for work in works):
        return ExitCode.DONE
    return ExitCode.NOTHING


def _finish(works: Sequence[Work], arguments: Options, code: int, lacking: Sequence[str]) -> int:
    """Print the summary, and return the exit code.

    lacking: what could not be told to whom it should have been.
    """
    if arguments.output == "json":
        told = {"exit_code": code, "entities": [work.told() for work in works]}
        print(json.dumps(told | {"not_notified": list(lacking)}, indent=2))
        if arguments.dry_run:
            console.dry_run()
        return code
    rows = [
        (
            work.entity,
            "pending" if arguments.dry_run and work.waiting else work.state,
            len(work.done),
            _span(list(work.waiting) if arguments.dry_run else work.done),
            work.rows,
            round(work.seconds, 1),
            len(work.waiting),
        )
        for work in works
        if work.done or work.waiting or work.failed or work.blocked
    ]
    if rows:
        print()
        headings = ["entity", "state", "loads", "dates", "rows in", "seconds", "left"]
        print(console.table(headings, rows, 60))
    idle = len(works) - len(rows)
    if idle:
        print(f"{idle} {'entity has' if idle == 1 else 'entities have'} nothing to load.")
    for work in works:
        said = [work.failed] if work.failed else []
        if arguments.dry_run and work.waiting:
            said.append(f"would load {_named(list(work.waiting))}")
        for text in [*said, *([work.blocked] if work.blocked else []), *work.notes]:
            print(f"\n{work.entity}: {text}")
    sys.stdout.flush()
    if arguments.dry_run:
        console.dry_run()
    notify.say(lacking)
    failed = [work for work in works if work.failed]
    if failed:
        left = sum(len(work.waiting) for work in failed)
        raise SparkCdcError(
            f"{len(failed)} of {len(works)} entities failed. {left} of their dates are not loaded.",
            f"{chain.LOG} When the cause is gone:\n{_command()}",
        )
    return code
