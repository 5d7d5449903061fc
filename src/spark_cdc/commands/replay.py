"""`spark-cdc replay`: reloads the past in a draft, and publishes it in one commit."""

from __future__ import annotations

import datetime as dt
import functools
import shlex
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from spark_cdc import business_date, console, dbt_runner, notices, parsing, project, schedule, state
from spark_cdc.errors import SparkCdcError, UsageError
from spark_cdc.exit_codes import ExitCode

COMPARED = "I before  after   U before  after   D before  after   rows that differ"
EXAMPLE = "spark-cdc replay orders --from 2019-06-19"

COMMITTED = "List the committed dates.\nspark-cdc status"


@dataclass(frozen=True)
class Plan:
    """What a replay of an entity loads: all its dates, and those that its draft still lacks."""

    state: state.State
    first: dt.datetime
    source: str
    dates: list[dt.datetime]
    todo: list[dt.datetime]
    outdated: str = ""

    @property
    def models(self) -> list[str]:
        """Return the models that a load consists of, without the views."""
        kinds = ("events", "ledger", "committed")
        names = kinds if self.state.load_type == "events" else kinds[1:]
        return [f"{self.state.entity}_{name}" for name in names]


@dataclass(frozen=True)
class Options(notices.Options):
    """Options of the command."""

    first: str | None
    dates: list[str]
    select: list[str]
    skip_guards: list[str]
    branch: str | None
    source: str
    fill: str | None
    publish: bool
    discard: bool
    rebuild: bool


def command(plans: Sequence[Plan]) -> str:
    """Return the command line that begins or continues the replays of some entities."""
    one = plans[0]
    source = "" if one.source == "landing" else f" --source {one.source}"
    named = [one.state.text(date) for date in one.dates if date not in one.state.times]
    more = f" --dates {business_date.quoted(named)}" if named else ""
    date = business_date.quoted([one.state.text(one.first)])
    return f"spark-cdc replay {_names(plans)} --from {date}{more}{source}"


def _names(plans: Sequence[Plan]) -> str:
    return " ".join(one.state.entity for one in plans)


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `replay` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "replay",
        "reload the past from a date on, and publish it atomically",
        "Loads all business dates from a date on, in order, into a draft that readers don't see,"
        " and prints how it differs. --publish makes it visible in one commit. The same command"
        " goes on where it stopped.",
        EXAMPLE,
    )
    parser.add_argument("--from", dest="first", metavar="DATE", help="first date to reload")
    parser.add_argument(
        "--dates", nargs="+", default=[], metavar="DATE", help="also insert dates never loaded"
    )
    dbt_runner.add_arguments(parser, "select", "skip-guards", "target", "branch", "dry-run")
    parser.add_argument(
        "--source",
        choices=("landing", "archive"),
        default="landing",
        help="read the landing (default), or the archive of change events",
    )
    parser.add_argument(
        "--fill",
        metavar="COLUMN",
        help="take the values of this column alone, for dates before it was added",
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--publish", action="store_true", help="publish the draft; without --from all drafts"
    )
    choice.add_argument("--discard", action="store_true", help="drop the draft")
    choice.add_argument(
        "--rebuild", action="store_true", help="also load the dates that the draft has"
    )
    notices.add_arguments(parser)
    act = functools.partial(notices.after, "replay", act=run)
    parsing.set_run(parser, Options, act)


def plan(
    one: state.State,
    first: dt.datetime,
    extra: Sequence[dt.datetime] = (),
    source: str = "landing",
    rebuild: bool = False,
) -> Plan:
    """Return what a replay of an entity has to load."""
    wanted = {time for time in one.times if time >= first} | set(extra)
    draft = one.draft
    if draft is None or rebuild or draft.first != first or draft.source != source:
        return Plan(one, first, source, sorted(wanted), sorted(wanted))
    dates = sorted(wanted | set(draft.times))  # also those that --dates named when it was begun
    if draft.outdated:
        return Plan(one, first, source, dates, dates, draft.outdated)
    # what the draft has in the same order is done; a date that is missing before others of it
    # takes them with it, since they build on what was before it
    done = 0
    while done < min(len(dates), len(draft.times)) and dates[done] == draft.times[done]:
        done += 1
    return Plan(one, first, source, dates, dates[done:])


def _has_snapshots(one: state.State, first: dt.datetime) -> bool:
    """Say whether dates hold full snapshots whose positions only their runs were told."""
    return (
        one.load_type == "events"
        and not one.reads_feed
        and any(one.other_type(time) for time in one.times if time >= first)
    )


def _plans(arguments: Options, given: str, states: Sequence[state.State]) -> list[Plan]:
    first, _ = business_date.parse(given)
    extra = [business_date.parse(text)[0] for text in arguments.dates]
    wrong = [
        f"--dates {date} is before --from {given}. Accepted are later dates."
        for date in extra
        if date < first
    ]
    if extra and not arguments.select:
        wrong.append("--dates needs entities. Name those that get these dates.")
    plans = []
    for one in states:
        per_date = one.per == "date" and [t for t in [first, *extra] if t.time() != dt.time()]
        if per_date:
            time = per_date[0].strftime("%H:%M:%S")
            wrong.append(f"{one.entity} is loaded per date, so {time} is too much. Give a date.")
        elif arguments.source == "archive" and not one.has_archive:
            if arguments.select:
                wrong.append(
                    f"--source archive: {one.entity} has no archive of events. Accepted are"
                    " entities with events.archive: true."
                )
        elif one.reads_whole_table and not one.archives_input:
            why = "source.date_column is not set, so its table has no rows of past dates to replay"
            if arguments.select:
                wrong.append(
                    f"{one.entity}: {why}. With archive_input: true later loads keep what they"
                    f" read. To take back its last loads: spark-cdc undo {one.entity}"
                )
            else:
                print(f"{one.entity}: {why}")
        elif arguments.source == "landing" and _has_snapshots(one, first):
            wrong.append(
                f"{one.entity} has full snapshots among its events from {given} on, and"
                " only their own runs knew their positions. Replay them with dbt run, or from the"
                " archive (docs/snapshots.md)."
            )
        elif not one.times:
            print(f"{one.entity}: nothing is committed yet, so there is nothing to replay")
        else:
            found = plan(one, first, extra, arguments.source, arguments.rebuild)
            if found.dates:
                plans.append(found)
            else:
                last = one.text(one.times[-1])
                print(f"{one.entity}: no load from {one.text(first)} on, the last is {last}")
    if wrong:
        raise UsageError("\n".join(wrong), COMMITTED)
    return plans


def build(
    dbt: dbt_runner.Dbt,
    plans: Sequence[Plan],
    line: str,
    skipped: Sequence[str] = (),
    given: str = "",
) -> None:
    """Load what the drafts lack, date by date, all entities of a date at once.

    line: the command line, for an interrupt.
    given: options of the command line, for the one that goes on.

    Raises SparkCdcError at the first date that fails.
    """
    steps = {}
    for date in sorted({date for one in plans for date in one.todo}):
        of_date = [one for one in plans if date in one.todo]
        steps[_text(plans, of_date, date)] = (of_date, date)
    lane = schedule.Lane("", deque(steps))

    def load(_: Sequence[schedule.Lane], screen: console.Screen) -> list[schedule.Outcome]:
        text = lane.waiting[0]
        words = _words(plans, text, *steps[text], skipped)
        done = dbt.run(*words, watch=dbt_runner.Watch(screen))
        return [schedule.Outcome(done.ok, "" if done.ok else dbt_runner.failure(done))]

    schedule.work(dbt, [lane], load, line)
    if lane.failed:
        what = f"The replay failed at {lane.waiting[0]}. Readers see the state from before it."
        error = schedule.error(what, lane, f"{command(plans)}{given}")
        drop = f"To drop the draft:\nspark-cdc replay {_names(plans)} --discard"
        raise SparkCdcError(error.message, f"{error.next_step}\n{drop}")


def _text(plans: Sequence[Plan], of_date: Sequence[Plan], date: dt.datetime) -> str:
    """Return a date, or the first one, as dbt gets it: with a time of day if an entity needs it."""
    text = max((one.state.text(date) for one in of_date), key=len)
    is_day = date.time() == dt.time() and plans[0].first.time() == dt.time()
    return text[:10] if is_day else text


def _words(
    plans: Sequence[Plan],
    text: str,
    of_date: Sequence[Plan],
    date: dt.datetime,
    skipped: Sequence[str],
) -> list[str]:
    """Return the dbt command that loads a date into the drafts that lack it."""
    first = max((one.state.text(one.first) for one in of_date), key=len)[: len(text)]
    asked = {"from": first, "source": of_date[0].source}
    more: dict[str, object] = {"spark_cdc_skip_guards": list(skipped)} if skipped else {}
    types = {
        one.state.entity: one.state.other_type(date) for one in of_date if one.source == "landing"
    }
    if any(types.values()):  # as they were loaded
        named = {name: load_type for name, load_type in types.items() if load_type}
        more["spark_cdc_load_type"] = named
    values = project.variables({"business_date": text, "spark_cdc_replay": asked, **more})
    return ["run", "--vars", values, "--select", *(name for one in of_date for name in one.models)]


def compare(dbt: dbt_runner.Dbt, entities: Sequence[str]) -> str:
    """Return how drafts differ from what readers see: rows of history by date, and of current."""
    found = state.ask(dbt, entities, console.printer(), compare={})["entities"]
    told = [state.state(one) for one in found if "compare" in one]
    return "\n".join(_comparison(one, one.parts["compare"]) for one in told)


def _comparison(one: state.State, found: state.Comparison) -> str:
    draft, dates = one.draft, found["dates"]
    assert draft is not None
    drafted, committed = one.texts(draft.times), one.texts(one.times)
    loads = f"{len(drafted)} {'load' if len(drafted) == 1 else 'loads'}"
    lines = [f"{one.entity}: replay from {one.text(draft.first)}, from the {draft.source}; {loads}"]
    width = max(13, len(one.text(draft.first)))
    lines.append(f"  {'business date':{width}}   " + COMPARED)
    for time in sorted({*drafted, *dates}):
        row = dates.get(time, {})
        counts = "".join(
            f"{row.get(f'{side}_{what}', 0):{size}}"
            for what in "iud"
            for side, size in (("old", 11), ("new", 7))
        )
        gone, come = row.get("gone", 0), row.get("come", 0)
        differ = f"{gone} go, {come} come" if gone or come else "none"
        lines.append(
            f"  {time:{width}}{counts}   {differ}"
            + ("" if time in drafted else "  (not in the draft yet)")
            + ("" if time in committed else "  (new date)")
        )
    now = found["current"]
    differing = sum(now[name] for name in ("gone", "come", "other_values", "other_dates"))
    lines.append(
        f"  current: {now['old_rows']} rows before, {now['new_rows']} after; {differing} differ:"
        f" {now['gone']} go, {now['come']} come, {now['other_values']} with other values,"
        f" {now['other_dates']} with another eff_start_date only"
    )
    return "\n".join([*lines, *([f"  {found['problem']}"] if found["problem"] else [])])


def publish(dbt: dbt_runner.Dbt, entities: Sequence[str]) -> None:
    """Make the drafts visible, and bring views up to date whose text depends on the loads."""
    dbt.show("publish_replay", entities)
    views = dbt_runner.views_of(entities)
    dbt_runner.update_views(dbt, views, "The replay is published, but its views are not updated.")


def run(arguments: Options, dbt: dbt_runner.Dbt) -> int:
    """Build, compare, publish or discard drafts."""
    if not (arguments.first or arguments.publish or arguments.discard):
        raise UsageError("--from is missing. Give the first date to reload.", COMMITTED)
    for text in [*([arguments.first] if arguments.first else []), *arguments.dates]:
        business_date.parse(text)
    if arguments.fill is not None:
        return _fill(arguments, arguments.fill, dbt)
    if arguments.dry_run and not (arguments.first and not arguments.discard):
        return _dry_run_of_drafts(arguments, state.read(dbt, arguments.select))
    if arguments.discard:
        dbt.show("discard_replay", arguments.select)
        return 0
    if not arguments.first:
        drafted = [one.entity for one in state.read(dbt, arguments.select) if one.draft]
        publish(dbt, drafted or arguments.select)
        return 0

    plans = _plans(arguments, arguments.first, state.read(dbt, arguments.select))
    if not plans:
        print("Nothing to replay.")
        return ExitCode.DONE
    entities = [one.state.entity for one in plans]
    outdated = [one for one in plans if one.outdated]
    for one in plans:
        name, count = one.state.entity, len(one.dates)
        of_draft = count - len(one.todo)
        has = f", {of_draft} of them in the draft already" if of_draft else ""
        dates = "1 date" if count == 1 else f"{count} dates"
        span = one.state.text(one.dates[0])
        span += f" to {one.state.text(one.dates[-1])}" if count > 1 else ""
        print(f"{name}: {dates} ({span}) from the {one.source}{has}")
        if one.outdated:
            print(f"{name}: the draft is out of date and is rebuilt: {one.outdated}")
    if arguments.dry_run:
        console.dry_run()
        return ExitCode.DONE
    drafted = [one.state.entity for one in plans if one.state.draft]
    if arguments.rebuild and drafted:
        dbt.operate("discard_replay", drafted)
    given = dbt_runner.options(arguments, "target", "branch")
    skipped = dbt_runner.options(arguments, "skip-guards")
    build(dbt, plans, arguments.line, arguments.skip_guards, skipped + given)
    print(compare(dbt, entities))
    again = command(plans) + skipped + given
    if arguments.publish and not outdated:
        publish(dbt, entities)
        return 0
    if arguments.publish:
        raise SparkCdcError(
            "The draft was out of date and was rebuilt, but not published. Its figures are new.",
            f"Check them, then publish.\n{again} --publish",
        )
    print(
        "Readers see the state from before the replay.\n"
        f"  to publish: {again} --publish\n"
        f"  to rebuild the draft after another correction: {again} --rebuild\n"
        f"  to drop the draft: spark-cdc replay {_names(plans)} --discard{given}"
    )
    return ExitCode.DONE


def _fill(arguments: Options, column: str, dbt: dbt_runner.Dbt) -> int:
    """Fill a column that came later, in a draft that is compared and published as others are."""
    wrong = []
    if not arguments.first or arguments.discard:
        wrong.append("--fill needs --from, and takes no --discard.")
    if len(arguments.select) != 1:
        wrong.append("--fill takes one entity.")
    if arguments.dates or arguments.skip_guards or arguments.source != "landing":
        wrong.append("--fill takes no --dates, --skip-guards or --source: it adds no loads.")
    if wrong:
        example = "spark-cdc replay orders --fill discount --from 2024-01-31"
        raise UsageError("\n".join(wrong), f"Accepted is, for example:\n{example}")
    assert arguments.first
    one = state.read(dbt, arguments.select)[0]
    first, _ = business_date.parse(arguments.first)
    asked = {"entity": one.entity, "column": column, "first": one.text(first)}
    if arguments.dry_run:
        dbt.show("fill_column", **asked, execute=False)
        console.dry_run()
        return ExitCode.DONE
    draft = one.draft
    is_there = (
        draft is not None and draft.first == first and draft.source.endswith(f"({column} alone)")
    )
    if arguments.rebuild or draft is None or not is_there or draft.outdated or draft.missing:
        dbt.show("fill_column", **asked)
    print(compare(dbt, [one.entity]))
    if arguments.publish:
        publish(dbt, [one.entity])
        return ExitCode.DONE
    given = dbt_runner.options(arguments, "target", "branch")
    date = business_date.quoted([one.text(first)])
    words = f"{one.entity} --fill {shlex.quote(column)} --from {date}"
    print(
        "Readers see the state from before the replay.\n"
        f"  to publish: spark-cdc replay {words}{given} --publish\n"
        f"  to drop the draft: spark-cdc replay {one.entity} --discard{given}"
    )
    return ExitCode.DONE


def _dry_run_of_drafts(arguments: Options, found: Sequence[state.State]) -> int:
    """Print which drafts would be published or dropped."""
    drafted = [one for one in found if one.draft]
    what = "discard" if arguments.discard else "publish"
    for one in drafted:
        print(f"{one.entity}: would {what} the draft {state.described(one)}")
    if not drafted:
        print("There is no draft of a replay.")
    console.dry_run()
    return ExitCode.DONE
