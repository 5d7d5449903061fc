"""`spark-cdc load`: dbt run for one business date after the other."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from spark_cdc import chain, console, notify, parsing, plan, project, state
from spark_cdc.errors import SparkCdcError, UsageError
from spark_cdc.exit_codes import ExitCode

EXAMPLE = "spark-cdc load 2024-03-01 --select orders"
RANGE_EXAMPLE = "spark-cdc load 2024-03-01..2024-03-31 --select orders"
TIMES_EXAMPLE = "spark-cdc load 2024-03-01..2024-03-31 --every 15m --select orders"
DATES = "Accepted are dates such as 2024-03-01, and times such as '2024-03-01 10:15:00'."
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
READ = (
    "{}_committed",
    "{}_current",
    "{}_history",
    "{}_versions",
    "{}_changes",
    "{}_event_versions",
    "{}_bitemporal",
    "{}_rejects",
    "{}_quality",
)
# What dbt selects as the models of all entities, without models that build on them.
OF_ENTITIES = tuple(
    f"config.materialized:cdc_{kind}" for kind in ("events", "ledger", "committed", "view")
)
AFFIXES = ("stg_{}", "{}_events", "{}_ledger", *READ, *(f"{affix}_sensitive" for affix in READ))
LIMIT = 100_000  # dates of one command
NO_ENTITY = "List the entities, whose names --select takes.\nspark-cdc status"


@dataclass(frozen=True)
class Range:
    """Options that name dates."""

    dates: list[str]
    first: str | None
    last: str | None
    every: str | None


@dataclass(frozen=True)
class Options(Range, notify.Options):
    """Options of the command."""

    again: bool
    load_type: str | None
    position: str | None
    select: list[str]
    exclude: list[str]
    skip_guards: list[str]
    branch: str | None
    output: str


def parse_business_date(text: str) -> tuple[dt.datetime, str]:
    """Return a business date or timestamp, and its text as dbt gets it.

    Raises UsageError if it is neither YYYY-MM-DD nor YYYY-MM-DD HH:MM[:SS] of the calendar.
    """
    shape = r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2})?)?"
    try:
        if not re.fullmatch(shape, text, re.ASCII):
            raise ValueError("another form")
        value = dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a business date. {DATES}", EXAMPLE) from error
    return value, text if len(text) == 10 else value.isoformat(sep=" ")


def parse_step(text: str, option: str = "--every") -> dt.timedelta:
    """Return the time between two loads: a number of minutes, hours, days or weeks, as in 15m.

    option: what gave it, for the message.

    Raises UsageError if it is none.
    """
    match = re.fullmatch(r"([1-9]\d{0,5})([mhdw])", text, re.ASCII)
    if not match:
        accepted = "15m, 6h, 1d and 1w" + ("" if option == "--every" else ", daily and hourly")
        raise UsageError(
            f"{option} {text!r} is not a time between two loads. Accepted are {accepted}.",
            TIMES_EXAMPLE if option == "--every" else f"spark-cdc run {option} daily",
        )
    return dt.timedelta(**{UNITS[match[2]]: int(match[1])})


def parse_time(option: str, text: str, least: int = 0) -> int:
    """Return the seconds of a time to wait or to keep, such as 5s, 15m, 1h, 1d.

    option: what gave it, for the message. least: seconds that it has to have.

    Raises UsageError if it is none.
    """
    match = re.fullmatch(r"(\d{1,6})([smhd])", text, re.ASCII)
    found = dt.timedelta(**{UNITS[match[2]]: int(match[1])}) if match else dt.timedelta(-1)
    seconds = int(found.total_seconds())
    if seconds < least:
        raise UsageError(
            f"{option} {text!r} is not a time. Accepted are numbers of seconds, minutes, hours or"
            f" days such as 5s, 15m, 1h, 1d, from {least}s.",
            f"Give a time, such as {option} 15m.",
        )
    return seconds


def expand(first: str, last: str, every: str | None = None) -> list[str]:
    """Return the dates of a range, both ends included, as dbt gets them.

    A last date without a time of day means all of that day. Without `every` it is a day.
    Raises UsageError if an end is no date, if they are in the wrong order, or if there are times
    of day without `every`.
    """
    start, _ = parse_business_date(first)
    end, _ = parse_business_date(last)
    has_times = len(first) > 10 or len(last) > 10
    if every is None and has_times:
        raise UsageError(
            f"The range {first}..{last} has times of day. Add --every with the time between two"
            " loads.",
            TIMES_EXAMPLE,
        )
    step = parse_step(every or "1d")
    if len(last) == 10:
        end += dt.timedelta(days=1) - dt.timedelta(microseconds=1)
    if end < start:
        raise UsageError(
            f"The range {first}..{last} ends before it begins. The first date comes first.",
            RANGE_EXAMPLE,
        )
    count = (end - start) // step + 1
    if count > LIMIT:
        raise UsageError(
            f"The range {first}..{last} has {count} dates. A command takes up to {LIMIT}.",
            RANGE_EXAMPLE,
        )
    fine = has_times or step % dt.timedelta(days=1)
    pattern = "%Y-%m-%d %H:%M:%S" if fine else "%Y-%m-%d"
    return [(start + at * step).strftime(pattern) for at in range(count)]


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `load` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "load",
        "load given business dates, in order",
        "Stops at the first date that fails. A single date is loaded again if it is committed"
        " already; of several dates those that are committed are skipped, so the same command goes"
        " on where it stopped. --dry-run compares and audits one date as the load would, behind"
        " temporary views (docs/plan.md).",
        EXAMPLE,
    )
    parser.add_argument(
        "dates", nargs="*", metavar="DATE", help="2024-03-01, '2024-03-01 10:15', or FIRST..LAST"
    )
    parser.add_argument("--from", dest="first", metavar="DATE", help="first date of a range")
    parser.add_argument("--to", dest="last", metavar="DATE", help="last date of that range")
    parser.add_argument(
        "--every", metavar="STEP", help="time between two loads of a range: 15m, 6h (default: 1d)"
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="also load dates that are committed; only the last one can be, see replay",
    )
    parser.add_argument(
        "--load-type",
        choices=("full", "delta"),
        help="load these dates with another load type than the entity's own:"
        " a full snapshot among deltas or events, deltas between full loads (docs/snapshots.md)",
    )
    parser.add_argument(
        "--position",
        help="the position, or the time of their order, of a full snapshot among events",
    )
    chain.add_selection(parser)
    chain.add_arguments(parser, "skip-guards", "target", "branch", "dry-run")
    parsing.add_output(parser, "with --dry-run: ")
    notify.add_arguments(parser)
    notify.set_run(parser, "load", Options, run)


def requested(arguments: Range) -> tuple[list[tuple[dt.datetime, str]], set[dt.datetime]]:
    """Return the dates of a command line in order, and which of them come from ranges only.

    Raises UsageError with all that is wrong.
    """
    ranges = [tuple(text.split("..")) for text in arguments.dates if ".." in text]
    single = [text for text in arguments.dates if ".." not in text]
    if arguments.first or arguments.last:
        if not (arguments.first and arguments.last):
            raise UsageError(
                "--from and --to name a range together. One of them is missing.",
                "spark-cdc load --from 2024-03-01 --to 2024-03-31 --select orders",
            )
        ranges.append((arguments.first, arguments.last))
    if not (ranges or single):
        raise UsageError(f"The business date is missing. {DATES}", EXAMPLE)
    if arguments.every and not ranges:
        raise UsageError(
            "--every needs a range of dates. The command names single dates only.", TIMES_EXAMPLE
        )
    wrong: list[str] = []
    named: dict[dt.datetime, str] = {}
    ranged: dict[dt.datetime, str] = {}
    for text in single:
        try:
            named.update([parse_business_date(text)])
        except SparkCdcError as error:
            wrong.append(error.message)
    for ends in ranges:
        try:
            if len(ends) != 2:
                raise UsageError(f"{'..'.join(ends)!r} is not a range. Accepted is FIRST..LAST.")
            found = expand(ends[0], ends[1], arguments.every)
            ranged.update(parse_business_date(text) for text in found)
        except SparkCdcError as error:
            wrong.append(error.message)
    if wrong:
        raise UsageError("\n".join(wrong), RANGE_EXAMPLE if ranges else EXAMPLE)
    return sorted((ranged | named).items()), set(ranged) - set(named)


def _options(name: str, words: Sequence[str], models: Sequence[str] = ()) -> list[str]:
    """Return an option with what dbt selects: of a plain name what dbt finds, and the entity."""
    named = [chain.selector(word) for word in words if re.fullmatch("[a-z][a-z0-9_]*", word)]
    given = [*words, *named, *models]
    return [f"--{name}", *given] if given else []


def selected_models(
    dbt: chain.Dbt, select: Sequence[str] = (), exclude: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the models of what may be entities: names whose ledger is selected, as for dbt ls."""
    done = dbt.run(
        *("ls", "--resource-type", "model", "--output", "name", "--quiet"),
        *_options("select", select),
        *_options("exclude", exclude),
    )
    if not done.ok:
        print(done.output, flush=True)
        raise SparkCdcError("dbt could not list the selected models.", chain.LOG)
    names = {line.strip() for line in done.lines}
    entities = [name.removesuffix("_ledger") for name in sorted(names) if name.endswith("_ledger")]
    return {
        entity: [model for affix in AFFIXES if (model := affix.format(entity)) in names]
        for entity in entities
    }


def quoted(dates: Sequence[str]) -> str:
    """Return dates as words of a command line."""
    return " ".join(repr(date) if " " in date else date for date in dates)


def _run(arguments: Options, date: str) -> list[str]:
    given = {
        "spark_cdc_skip_guards": arguments.skip_guards,
        "spark_cdc_load_type": arguments.load_type,
        "spark_cdc_position": arguments.position,
    }
    more = {name: value for name, value in given.items() if value}
    values = project.variables({"business_date": date, **more})
    return ["run", "--vars", values, *_options("select", arguments.select or OF_ENTITIES)]


def run(arguments: Options, dbt: chain.Dbt) -> int:
    """Load the dates, earliest first, or print what would be loaded."""
    dates, ranged = requested(arguments)
    is_one = len(dates) == 1 and not ranged
    if is_one and arguments.dry_run:
        return _plan(arguments, dbt, dates[0][1])
    if is_one:
        if arguments.branch:
            state.ask(dbt)  # says that it is there, before dbt makes a schema of its name
        return _load(arguments, dbt, [(dates[0][1], [])])

    models = selected_models(dbt, arguments.select, arguments.exclude)
    known = [one for one in state.read(dbt) if one.entity in models]
    if not known:
        raise UsageError(f"No entity is selected by {_selection(arguments)}.", NO_ENTITY)
    steps = _steps(arguments, dates, ranged, known)
    if arguments.dry_run:
        names = [one.entity for one in known]
        return _print_steps(
            [(date, [n for n in names if n not in done]) for date, done in steps], arguments
        )
    without = [(date, [m for name in done for m in models[name]]) for date, done in steps]
    if not without:
        print("Nothing is left to load.")
        return ExitCode.DONE
    return _load(arguments, dbt, without)


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
                text = quoted([one.text(time)])
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


def _load(arguments: Options, dbt: chain.Dbt, steps: Sequence[tuple[str, list[str]]]) -> int:
    """Load dates, each without some models; raise at the first that fails."""
    dates = [date for date, _ in steps]
    with chain.Progress(len(steps)) as progress:

        def interrupted() -> str:
            return _interrupted(arguments, dbt, dates, progress.done)

        with dbt.ends_at_once(interrupted):
            for at, (date, without) in enumerate(steps):
                words = [*_run(arguments, date), *_options("exclude", arguments.exclude, without)]
                done = progress.step(date, dbt, *words, interrupted=interrupted)
                if not done.ok:
                    raise _failed(arguments, date, dates[at:])
                if done.models == 0 and len(steps) == 1:
                    raise UsageError(
                        f"No model is selected by {_selection(arguments)}. Nothing was loaded.",
                        NO_ENTITY,
                    )
    return ExitCode.DONE


def _selection(arguments: Options) -> str:
    """Return the options that select, as they were given."""
    return chain.options(arguments, "select", "exclude").strip() or "the project"


def _plan(arguments: Options, dbt: chain.Dbt, date: str) -> int:
    """Print what the load of a date would do; it would be refused or not."""
    known = selected_models(dbt, arguments.select, arguments.exclude)
    if not known:
        raise UsageError(f"No entity is selected by {_selection(arguments)}.", NO_ENTITY)
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
    is_json = arguments.output == "json"
    print(json.dumps(plans, indent=2) if is_json else plan.describe(plans))
    console.dry_run()
    return ExitCode.FAILED if any(one["refused"] for one in plans) else ExitCode.DONE


def _print_steps(steps: Sequence[tuple[str, list[str]]], arguments: Options) -> int:
    """Print which dates of which entities would be loaded."""
    if arguments.output == "json":
        found = [{"business_time": date, "entities": names} for date, names in steps]
        print(json.dumps(found, indent=2))
    else:
        print("\n".join(f"{', '.join(names)}  {date}  would load" for date, names in steps))
    console.dry_run()
    return ExitCode.DONE


def _again(arguments: Options, rest: Sequence[str]) -> str:
    """Return the command that goes on with the dates that are left."""
    if len(rest) > 5 or arguments.first or any(".." in date for date in arguments.dates):
        return "Run the same command again: it goes on there."
    names = ("load-type", "position", "select", "exclude", "skip-guards", "target", "branch")
    return f"spark-cdc load {quoted(rest)}{chain.options(arguments, *names)}"


def _interrupted(arguments: Options, dbt: chain.Dbt, dates: Sequence[str], done: int = 0) -> str:
    """Return what is committed of these dates, the first so many of which are done."""
    if done == len(dates):
        return "interrupted when all was done"
    before = f"{done} of {len(dates)} dates are done, up to {dates[done - 1]}. " if done else ""
    committed = ", ".join(dbt.committed) or "no entity"
    return (
        f"interrupted: {before}Of {dates[done]}, {committed} has reported a commit. A load is"
        " atomic; spark-cdc status lists the committed ones.\n"
        f"next: {_again(arguments, dates[done:])}"
    )


def _failed(arguments: Options, date: str, rest: Sequence[str]) -> SparkCdcError:
    waiting = rest[1:]
    more = ", ".join(waiting) if len(waiting) <= 5 else f"{len(waiting)} dates up to {waiting[-1]}"
    return SparkCdcError(
        f"The load of {date} failed." + (f" Not started: {more}." if waiting else ""),
        f"{chain.LOG} When the cause is gone:\n{_again(arguments, rest)}",
    )
