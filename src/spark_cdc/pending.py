"""`spark-cdc load` without dates: loads pending dates, several entities side by side.

Each entity is a lane with its dates in order. A round is one dbt run of the next date of each
entity that has one; dbt's threads load the entities side by side. One process, parsed once.
"""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from spark_cdc import (
    business_date,
    console,
    dbt_runner,
    notices,
    project,
    schedule,
    selection,
    state,
)
from spark_cdc.errors import SparkCdcError, UnreachableError, UsageError, advice
from spark_cdc.exit_codes import ExitCode
from spark_cdc.state import EntityReport

SHOWN = 31  # dates of an entity that a dry run names
HOOKS = "(hooks)"  # what the summary calls them
RETRIES = 2


@dataclass(frozen=True)
class Options(notices.Options):
    """Options that concern pending dates."""

    select: list[str]
    exclude: list[str]
    file: str | None
    first: str | None
    last: str | None
    parallel: int | None
    retries: int | None
    expected_every: str | None
    skip_missing: bool
    every: int | None
    output: str
    skip_guards: list[str]


@dataclass
class Work(schedule.Lane):
    """An entity's part of a command.

    blocked: what is not loaded and why, if a person has to see to it.
    is_misdeclared: whether it is its settings that failed, so that nothing of it was begun.
    """

    models: list[str] = field(default_factory=list)
    rows: int = 0
    seconds: float = 0
    notes: list[str] = field(default_factory=list)
    blocked: str = ""
    is_misdeclared: bool = False

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
            "entity": self.name,
            "state": self.state,
            "loaded": self.done,
            "left": list(self.waiting),
            "rows": self.rows,
            "seconds": round(self.seconds, 3),
            "failed": self.failed or None,
            "waits": self.blocked or None,
            "notes": self.notes,
        }


def run(arguments: Options) -> int:
    """Load what is pending."""
    for date in (arguments.first, arguments.last):
        if date:
            business_date.parse(date)
    if arguments.expected_every:
        business_date.parse_expectation(arguments.expected_every)
    if arguments.every and (arguments.dry_run or arguments.output == "json"):
        raise UsageError(
            "--every goes with neither --dry-run nor --output json. Leave it out, or ask beside"
            " the load.",
            "spark-cdc load --dry-run",
        )
    dbt = dbt_runner.Dbt(arguments.target, parses_once=True)
    if arguments.every:
        return _forever(arguments, dbt, arguments.every)
    return _once(arguments, dbt)


def _forever(arguments: Options, dbt: dbt_runner.Dbt, every: int) -> int:
    """Load what is pending again and again; what fails is said, and tried the next time."""
    known = _files()
    with dbt.ends_at_once(lambda: "ended between two loads"):
        while True:
            began = time.monotonic()
            try:
                _once(arguments, dbt)
            except SparkCdcError as error:
                print(error.text, flush=True)
            found = _files()
            dbt = (
                dbt.again()
                if found == known
                else dbt_runner.Dbt(arguments.target, parses_once=True)
            )
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


def _once(arguments: Options, dbt: dbt_runner.Dbt) -> int:
    listed = read_list(Path(arguments.file)) if arguments.file else None
    teller = notices.teller_of("load", arguments)
    out = sys.stderr if arguments.output == "json" else sys.stdout
    with contextlib.redirect_stdout(out):  # what is said on the way is no part of the JSON
        try:
            works = _work(arguments, dbt, listed, out)
        except SparkCdcError as error:
            notices.say(teller.tell(dbt, error.exit_code, error=error.message))
            raise
        code = code_of(works, arguments.dry_run)
        told = [work.told() for work in works if work.name != HOOKS]
        of_hooks = "\n".join(f"{HOOKS}: {work.failed}" for work in works if work.name == HOOKS)
        if arguments.every and code == ExitCode.NOTHING:
            return code
        lacking = [] if arguments.dry_run else teller.tell(dbt, code, told, of_hooks)
    return _finish(works, arguments, code, lacking)


def _work(
    arguments: Options, dbt: dbt_runner.Dbt, listed: dict[str, dict[str, str]] | None, out: TextIO
) -> list[Work]:
    """Load what is pending, unless it is a dry run; return what became of each entity."""
    models = selection.models(dbt, arguments.select, arguments.exclude)
    retries = RETRIES if arguments.retries is None else arguments.retries
    found = _read(dbt, retries, out)
    chosen = [one for one in found if one.entity in models and (not listed or one.entity in listed)]
    unknown = sorted(set(listed or ()) - {one.entity for one in chosen})
    if unknown:
        raise UsageError(
            f"{arguments.file} names {', '.join(map(repr, unknown))}, which is not an entity or not"
            " selected.",
            selection.NO_ENTITY,
        )
    if not chosen:
        raise selection.nothing(arguments, "select", "exclude", "file")
    works = [
        plan(one, models[one.entity], arguments, (listed or {}).get(one.entity, {}))
        for one in chosen
    ]
    if not arguments.dry_run:
        rounds = Rounds(dbt, works, arguments)
        schedule.work(dbt, works, rounds.load, arguments.line, retries, rounds.refresh, out)
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
            "spark-cdc load --file nightly.csv",
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
            business_date.parse_expectation(row["expected_every"].strip())
        if name:
            listed[name] = {key: (value or "").strip() for key, value in row.items() if key}
    return listed


def _read(dbt: dbt_runner.Dbt, retries: int, out: TextIO) -> list[state.State]:
    """Return what is pending; try again where no server answers."""
    for attempt in range(retries + 1):
        try:
            return state.read(dbt, (), "pending")
        except SparkCdcError as error:
            passes = isinstance(error, UnreachableError) or schedule.TRANSIENT.search(error.message)
            if attempt == retries or not passes:
                raise
            pause = schedule.PAUSE * 2**attempt
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
    work = Work(one.entity, models=models)
    if found.problems:
        work.failed = work.problem = "; ".join(found.problems)
        work.is_misdeclared = True
        return work
    if found.problem:
        work.blocked = f"{found.problem}. Load it by date: spark-cdc load DATE {one.entity}"
        return work
    if found.absent:
        work.blocked = found.absent
        return work
    first = business_date.parse(arguments.first)[0] if arguments.first else None
    last = business_date.parse(arguments.last)[0] if arguments.last else None
    if last and len(arguments.last or "") == 10:
        last += dt.timedelta(days=1) - dt.timedelta(microseconds=1)
    dates = [
        date
        for date in found.dates
        if (first is None or dt.datetime.fromisoformat(date) >= first)
        and (last is None or dt.datetime.fromisoformat(date) <= last)
    ]
    times = one.texts(one.times[-1:])
    if found.incomplete:
        work.notes.append(
            f"{business_date.few(found.incomplete)} not complete: the marker of"
            " source.complete_when is not there yet"
        )
        behind = [date for date in dates if date > found.incomplete[0]]
        if behind and one.load_type != "full" and not arguments.skip_missing:
            dates = [date for date in dates if date < found.incomplete[0]]
            work.notes.append(f"{business_date.few(behind)} waits for it (or --skip-missing)")
    if found.gaps:
        work.notes.append(
            f"{business_date.few(found.gaps)} landed before {times[0]} and is missing; to insert:"
            f" spark-cdc replay {one.entity} --from {business_date.quoted(found.gaps[:1])}"
            f" --dates {business_date.quoted(found.gaps[:5])}"
        )
    if undone := one.texts(one.undone):
        first_undone = business_date.quoted(undone[:1])
        work.blocked = (
            f"{business_date.few(undone)} undone. Restore it: spark-cdc redo {one.entity}; or"
            f" correct the data and load it: spark-cdc load {first_undone} {one.entity}"
        )
        return work
    expected_every = arguments.expected_every or given.get("expected_every") or found.expected_every
    if expected_every and not (one.reads_feed or one.reads_whole_table):
        present = now or dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
        until = min(present, last + dt.timedelta(microseconds=1)) if last else present
        step = business_date.parse_expectation(expected_every)
        lacking = business_date.missing([*times, *found.dates], one.per, step, until)
        if lacking:
            work.blocked = f"{business_date.few(lacking)} missing (expected {expected_every})"
            if one.load_type != "full" and not arguments.skip_missing:
                behind = [date for date in dates if date > lacking[0]]
                dates = [date for date in dates if date < lacking[0]]
                if behind:
                    work.blocked += (
                        f"; {business_date.few(behind)} waits for it (or --skip-missing)"
                    )
    work.waiting.extend(dates)
    return work


def _named(dates: Sequence[str]) -> str:
    """Return dates, the first of many."""
    rest = f", … and {len(dates) - SHOWN} more up to {dates[-1]}" if len(dates) > SHOWN else ""
    return ", ".join(dates[:SHOWN]) + rest


class Rounds:
    """Loads the next dates of several entities by one run of dbt."""

    def __init__(self, dbt: dbt_runner.Dbt, works: list[Work], arguments: Options) -> None:
        self._dbt = dbt
        self._works = works
        self._arguments = arguments

    def refresh(self, ready: Sequence[Work], screen: console.Screen) -> None:
        """Leave out what another run has committed since an attempt that failed."""
        tried = [work.name for work in ready if work.attempts]
        try:
            found = {one.entity: one for one in state.read(self._dbt, tried)}
        except SparkCdcError:
            return  # the load says what is wrong
        for work in ready:
            if one := found.get(work.name):
                last = one.texts(one.times[-1:])
                while work.waiting and last and work.waiting[0] <= last[0]:
                    date = work.waiting.popleft()
                    work.attempts = 0
                    screen.line(f"{work.name}  {date}  committed by another run", 1)

    def load(self, ready: Sequence[Work], screen: console.Screen) -> list[schedule.Outcome]:
        """Load the next date of each."""
        named = {work.name: work for work in ready}
        dates = {work.name: work.waiting[0] for work in ready}
        words = ["run", "--select", *(model for work in ready for model in work.models)]
        if self._arguments.parallel:
            words += ["--threads", str(self._arguments.parallel)]
        skipped = [
            guard
            for guard in self._arguments.skip_guards
            if "." not in guard or guard.rsplit(".", 1)[0] in dates
        ]
        if skipped:
            words += ["--vars", project.variables({"spark_cdc_skip_guards": skipped})]

        def ended(load: dbt_runner.Load) -> None:
            if work := named.get(load.entity):
                work.rows += load.rows
                work.seconds += load.seconds

        try:
            done = self._dbt.run(
                *words,
                watch=dbt_runner.Watch(screen, ended),
                variables={dbt_runner.DATES: json.dumps(dates)},
            )
            transient = set(dbt_runner.parts(done, "raced"))
        except UnreachableError as error:
            done = dbt_runner.Done(False, f"{error.message}\n{error.next_step}")
            transient = set(named)
        if problems := dbt_runner.wrong_settings(done):
            return self._without_misdeclared(ready, problems, screen)
        self._note_hooks(ready, done, screen)
        return [_outcome(work, done, work.name in transient) for work in ready]

    def _without_misdeclared(
        self, ready: Sequence[Work], problems: str, screen: console.Screen
    ) -> list[schedule.Outcome]:
        """Load those that have no part in the problems for which dbt has loaded nothing."""
        own = {work.name: named_problems(problems, work.name) for work in ready}
        if not any(own.values()):  # it is nobody's own, as of a var
            own = dict.fromkeys(own, problems)
        for work in ready:
            work.is_misdeclared = bool(own[work.name])
        sound = [work for work in ready if not work.is_misdeclared]
        loaded = iter(self.load(sound, screen) if sound else [])
        return [
            schedule.Outcome(False, own[work.name]) if work.is_misdeclared else next(loaded)
            for work in ready
        ]

    def _note_hooks(
        self, ready: Sequence[Work], done: dbt_runner.Done, screen: console.Screen
    ) -> None:
        """Note what failed beside the models, such as maintenance at the end of a round."""
        models = {model for work in ready for model in work.models}
        errors = [node for node in done.nodes if node.name not in models and node.has_failed]
        if errors:
            self._works[:] = [work for work in self._works if work.name != HOOKS]
            self._works.append(Work(HOOKS, failed=dbt_runner.messages(errors)))
            screen.line(f"{HOOKS}  failed: {schedule.brief(dbt_runner.messages(errors))}")


def named_problems(problems: str, entity: str) -> str:
    """Return of a list of problems those that name an entity; nothing where none does."""
    _, *listed = problems.split("\n  - ")
    return "\n".join(one for one in listed if one.startswith(f"{entity}: "))


def _outcome(work: Work, done: dbt_runner.Done, is_transient: bool) -> schedule.Outcome:
    """Return what came of the load of an entity in a round."""
    nodes = {node.name: node for node in done.nodes if node.name in work.models}
    errors = [node for node in nodes.values() if node.has_failed]
    committed = nodes.get(f"{work.name}_committed")
    if committed and committed.status == "success":
        return schedule.Outcome(True, dbt_runner.messages(errors))
    ended = dbt_runner.of_hook(done) or done.said.strip()
    message = dbt_runner.messages(errors) if errors else ended or "dbt did not run it"
    return schedule.Outcome(False, message, is_transient)


def code_of(works: Sequence[Work], dry_run: bool = False) -> int:
    """Return the exit code."""
    failed = [work for work in works if work.failed]
    if failed:
        is_begun = any(work.done for work in works) or not all(one.is_misdeclared for one in failed)
        return ExitCode.FAILED if is_begun else ExitCode.USAGE
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
        console.print_json(told | {"not_notified": list(lacking)})
        if arguments.dry_run:
            console.dry_run()
        return code
    rows = [
        (
            work.name,
            "pending" if arguments.dry_run and work.waiting else work.state,
            len(work.done),
            business_date.span(list(work.waiting) if arguments.dry_run else work.done),
            work.rows if work.done else "",
            round(work.seconds, 1) if work.done else "",
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
        said = [advice(work.failed)[0]] if work.failed else []
        if arguments.dry_run and work.waiting:
            said.append(f"would load {_named(list(work.waiting))}")
        for text in [*said, *([work.blocked] if work.blocked else []), *work.notes]:
            is_named = work.problem.startswith(f"{work.name}: ") and text is said[0]
            print(f"\n{text}" if is_named else f"\n{work.name}: {text}")
    sys.stdout.flush()
    if arguments.dry_run:
        console.dry_run()
    notices.say(lacking)
    failed = [work for work in works if work.failed]
    if failed:
        raise _error(failed, len(works), code, arguments.line)
    return code


def _error(failed: Sequence[Work], count: int, code: int, line: str) -> SparkCdcError:
    """Return the error of entities that failed, whose messages the summary has.

    The next steps are those of the messages; the command is repeated once all causes are gone.
    """
    left = sum(len(work.waiting) for work in failed)
    said = f"{len(failed)} of {count} entities failed. {left} of their dates are not loaded."
    steps = [step for work in failed if (step := advice(work.failed)[1])]
    again = "Then load the rest:" if len(steps) == len(failed) else "When the causes are gone:"
    step = "\n".join([*steps[:SHOWN], again, line])
    return (UsageError if code == ExitCode.USAGE else SparkCdcError)(said, step)
