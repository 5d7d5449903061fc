"""`spark-cdc load`: pending dates, given dates in order, or many dates in one commit."""

from __future__ import annotations

import argparse
import datetime as dt
import functools
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from spark_cdc import (
    bulk,
    business_date,
    console,
    dbt_runner,
    notices,
    parsing,
    pending,
    plan,
    project,
    schedule,
    selection,
    state,
)
from spark_cdc.errors import UsageError
from spark_cdc.exit_codes import ExitCode

# The three forms of the command, as messages name them.
PENDING = "spark-cdc load"
DATES = "spark-cdc load DATE …"
BULK = "spark-cdc load FIRST..LAST --bulk"
# Options that not every form takes.
TAKEN_BY = {
    "from": (PENDING,),
    "to": (PENDING,),
    "file": (PENDING,),
    "retries": (PENDING,),
    "expected-every": (PENDING,),
    "every": (PENDING,),
    "parallel": (PENDING, DATES),
    "output": (PENDING, DATES),
    "skip-missing": (PENDING, BULK),
    "step": (DATES, BULK),
    "again": (DATES,),
    "load-type": (DATES,),
    "position": (DATES,),
    "dates-per-statement": (BULK,),
    "bulk": (BULK,),
}
HINTS = {
    "from": " Write a range of dates as FIRST..LAST.",
    "to": " Write a range of dates as FIRST..LAST.",
    "every": " The time between two loads of a range is --step.",
    "step": " --every repeats the command.",
}


@dataclass(frozen=True)
class Options(pending.Options, bulk.Options):
    """Options of the command."""

    dates: list[str]
    step: str | None
    bulk: bool
    again: bool
    load_type: str | None
    position: str | None
    branch: str | None


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `load` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "load",
        "load pending dates, given dates in order, or many at once",
        "Without dates: finds the dates in the landing or the source table that are not committed,"
        " and loads them, several entities side by side. An entity that fails stops its own later"
        " dates only (docs/run.md). With dates: loads them in order, and stops at the first that"
        " fails. A single date is loaded again if it is committed; of several dates the committed"
        " ones are skipped, so the same command goes on where it stopped. --dry-run compares and"
        " audits one date as the load would (docs/plan.md). With --bulk: loads full snapshots or"
        " deltas of many dates in a few statements, with one commit (docs/backfill.md).",
        business_date.EXAMPLE,
    )
    parsing.add_dates(
        parser,
        "dates such as 2024-03-01, '2024-03-01 10:15' or FIRST..LAST, and names of entities"
        " (default: all)",
    )
    dbt_runner.add_selection(parser)
    dbt_runner.add_arguments(parser, "skip-guards", "target", "branch", "dry-run")
    parsing.add_output(parser, "with pending dates, or with --dry-run: ")
    parser.add_argument(
        "--parallel",
        type=int,
        metavar="N",
        help="entities at once (default: the profile's threads); not with --bulk",
    )
    parser.add_argument(
        "--skip-missing",
        action="store_true",
        help="go on without dates of which nothing has landed: pending deltas and events after an"
        " expected date, or --bulk",
    )
    _add_pending(parser.add_argument_group("pending dates", f"({PENDING})"))
    group = parser.add_argument_group("given dates", f"({DATES})")
    group.add_argument(
        "--step", metavar="STEP", help="time between two loads of a range: 15m, 6h (default: 1d)"
    )
    group.add_argument(
        "--again",
        action="store_true",
        help="also load dates that are committed; only the last one can be, see replay",
    )
    group.add_argument(
        "--load-type",
        choices=("full", "delta"),
        help="load these dates with another load type than the entity's own:"
        " a full snapshot among deltas or events, deltas between full loads (docs/snapshots.md)",
    )
    group.add_argument(
        "--position",
        help="the position, or the time of their order, of a full snapshot among events",
    )
    group = parser.add_argument_group("many dates in one commit", f"({BULK})")
    group.add_argument(
        "--bulk", action="store_true", help="load the dates in a few statements, with one commit"
    )
    group.add_argument(
        "--dates-per-statement",
        type=int,
        metavar="N",
        help=f"dates to compare together, 1 to {bulk.MOST} (default: {bulk.MOST}); fewer take less"
        " memory",
    )
    notices.add_arguments(parser)
    parsing.set_run(parser, Options, run)


def _add_pending(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--from", dest="first", metavar="DATE", help="skip earlier dates")
    group.add_argument("--to", dest="last", metavar="DATE", help="skip later dates")
    group.add_argument(
        "--file",
        metavar="CSV",
        help="the entities of a list: column entity, optional column expected_every",
    )
    group.add_argument(
        "--retries",
        type=int,
        metavar="N",
        help="retries of a load after a transient error: a lost connection, a race"
        f" (default: {pending.RETRIES})",
    )
    group.add_argument(
        "--expected-every",
        metavar="STEP",
        help="report missing loads: daily, hourly, weekly, 15m, … (default: as in its YAML)",
    )
    group.add_argument(
        "--every",
        type=functools.partial(business_date.parse_time, "--every", least=1),
        metavar="TIME",
        help="run until stopped, and look for pending dates this often: 5s, 15m, 1h",
    )


def run(arguments: Options) -> int:
    """Load what is pending, given dates, or many dates in one commit."""
    form = BULK if arguments.bulk else DATES if arguments.dates else PENDING
    _check(arguments, form)
    if form == PENDING:
        return pending.run(arguments)
    dates, ranged = business_date.requested(arguments.dates, arguments.step)
    if form == BULK:
        bulk.check(arguments)
        given = functools.partial(bulk.run, dates=dates)
    else:
        given = functools.partial(_given, dates=dates, ranged=ranged)
    return notices.after("load", arguments, given)


def _check(arguments: Options, form: str) -> None:
    """Raise UsageError if options belong to another form of the command."""
    if form == BULK and not arguments.dates:
        raise UsageError("--bulk needs dates.", f"Give a range FIRST..LAST.\n{bulk.EXAMPLE}")
    names = {"from": "first", "to": "last"}
    values = {
        option: getattr(arguments, names.get(option, option.replace("-", "_")))
        for option in TAKEN_BY
    }
    wrong = [
        f"--{option} belongs to {' and '.join(f'`{one}`' for one in forms)},"
        f" this is `{form}`.{HINTS.get(option, '')}"
        for option, forms in TAKEN_BY.items()
        if form not in forms
        and not (values[option] in (None, "table", []) or values[option] is False)
    ]
    if form == DATES and arguments.output == "json" and not arguments.dry_run:
        wrong.append("--output json of given dates needs --dry-run.")
    words = (*arguments.select, *arguments.exclude, *arguments.skip_guards)
    if misplaced := [word for word in words if re.match(r"\d{4}-\d\d-\d\d", word)]:
        wrong.append(f"{', '.join(misplaced)} follows an option, so it is not read as a date.")
    if wrong:
        raise UsageError(
            "\n".join(wrong), "Dates and entities come before options.\nspark-cdc load --help"
        )


def _words(arguments: Options, without: Sequence[str]) -> list[str]:
    """Return the dbt command that loads a date, without some models.

    The date is no var: those that change make dbt parse the whole project.
    """
    given = {
        "spark_cdc_skip_guards": arguments.skip_guards,
        "spark_cdc_load_type": arguments.load_type,
        "spark_cdc_position": arguments.position,
    }
    values = {name: value for name, value in given.items() if value}
    return [
        "run",
        *(["--vars", project.variables(values)] if values else []),
        *selection.options("select", arguments.select or selection.OF_ENTITIES),
        *selection.options("exclude", arguments.exclude, without),
        *(["--threads", str(arguments.parallel)] if arguments.parallel else []),
    ]


def _given(
    arguments: Options,
    dbt: dbt_runner.Dbt,
    dates: Sequence[tuple[dt.datetime, str]],
    ranged: set[dt.datetime],
) -> int:
    """Load given dates, earliest first, or print what would be loaded."""
    if len(dates) == 1 and not ranged:
        if arguments.dry_run:
            return _plan(arguments, dbt, dates[0][1])
        if arguments.branch:
            state.ask(dbt)  # says that it is there, before dbt makes a schema of its name
        return _load(arguments, dbt, {dates[0][1]: []})

    models = selection.models(dbt, arguments.select, arguments.exclude)
    known = [one for one in state.read(dbt) if one.entity in models]
    if not known:
        raise selection.nothing(arguments)
    steps = _steps(arguments, dates, ranged, known)
    if arguments.dry_run:
        names = [one.entity for one in known]
        return _print_steps(
            [(date, [n for n in names if n not in done]) for date, done in steps], arguments
        )
    if not steps:
        print("Nothing is left to load.")
        return ExitCode.DONE
    return _load(
        arguments, dbt, {date: [m for name in done for m in models[name]] for date, done in steps}
    )


def _steps(
    arguments: Options,
    dates: Sequence[tuple[dt.datetime, str]],
    ranged: set[dt.datetime],
    known: Sequence[state.State],
) -> list[tuple[str, list[str]]]:
    """Return the dates that have to be loaded, each with the entities that are left out."""
    steps: list[tuple[str, list[str]]] = []
    committed: list[str] = []
    for time, date in dates:
        done = [one for one in known if time in one.times and not arguments.again]
        if time in ranged:
            gaps = [one for one in known if one.times and one.times[-1] > time not in one.times]
            for one in gaps:
                text = business_date.quoted([one.text(time)])
                print(
                    f"{one.entity}  {date}  skipped: it has a later load. To insert the date:\n"
                    f"  spark-cdc replay --from {text} --dates {text} --select {one.entity}"
                )
            done += gaps
        if len(done) < len(known):
            steps.append((date, [one.entity for one in done]))
        elif any(time in one.times for one in known):
            committed.append(date)
    if committed:
        rest = f" to {committed[-1]}" if len(committed) > 1 else ""
        number = f"{len(committed)} dates are" if len(committed) > 1 else "1 date is"
        print(f"{number} committed and skipped ({committed[0]}{rest}); --again loads them.")
    return steps


def _load(arguments: Options, dbt: dbt_runner.Dbt, steps: dict[str, list[str]]) -> int:
    """Load dates, each without some models; raise at the first that fails."""
    lane = schedule.Lane("", deque(steps))

    def load(_: Sequence[schedule.Lane], screen: console.Screen) -> list[schedule.Outcome]:
        date = lane.waiting[0]
        words = _words(arguments, steps[date])
        done = dbt.run(
            *words,
            watch=dbt_runner.Watch(screen),
            variables={dbt_runner.DATES: date},
            alone=len(steps) == 1 and "--vars" not in words,
        )
        if problems := dbt_runner.wrong_settings(done):
            raise UsageError(problems, f"Correct them, then load again.\n{arguments.line}")
        if done.ok and done.models == 0 and len(steps) == 1:
            raise selection.nothing(arguments)
        return [schedule.Outcome(done.ok, "" if done.ok else dbt_runner.failure(done))]

    schedule.work(dbt, [lane], load, arguments.line)
    if lane.failed:
        failed, *later = lane.waiting
        more = f" Not started: {business_date.few(later)}." if later else ""
        rest = f"Then the other dates:\n{arguments.line}" if later else ""
        raise schedule.error(f"The load of {failed} failed.{more}", lane, arguments.line, rest)
    return ExitCode.DONE


def _plan(arguments: Options, dbt: dbt_runner.Dbt, date: str) -> int:
    """Print what the load of a date would do; it would be refused or not."""
    known = selection.models(dbt, arguments.select, arguments.exclude)
    if not known:
        raise selection.nothing(arguments)
    values = {
        "business_date": date,
        "spark_cdc_load_type": arguments.load_type,
        "spark_cdc_position": arguments.position,
    }
    plans = []
    for entity in known:
        skipped = [one for one in arguments.skip_guards if one.rpartition(".")[0] in ("", entity)]
        given = {
            n: value for n, value in (values | {"spark_cdc_skip_guards": skipped}).items() if value
        }
        plans.append(plan.plan(dbt, entity, given))
    apart = plan.without_files(plans, arguments.select)
    if arguments.output == "json":
        console.print_json(plans)
    else:
        print(plan.describe(plans, apart))
    console.dry_run(plan.summary(plans, apart))
    guards = {
        one["refused"]["guard"] for one in plans if one["refused"] and one["entity"] not in apart
    }
    if not guards:
        return ExitCode.DONE
    return ExitCode.USAGE if guards == {plan.SETTINGS} else ExitCode.FAILED


def _print_steps(steps: Sequence[tuple[str, list[str]]], arguments: Options) -> int:
    """Print which dates of which entities would be loaded."""
    if arguments.output == "json":
        found = [{"business_time": date, "entities": names} for date, names in steps]
        console.print_json(found)
    else:
        print("\n".join(f"{', '.join(names)}  {date}  would load" for date, names in steps))
    console.dry_run()
    return ExitCode.DONE
