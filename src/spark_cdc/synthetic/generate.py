"""`spark-cdc generate`: synthetic sources, of rows or of change events."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, fields, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeVar

from spark_cdc import business_date, console, parsing, parts, project
from spark_cdc.synthetic.delivery import EventShares
from spark_cdc.synthetic.events import TRUTHS, EventOptions, LoadCounts, generate_events
from spark_cdc.synthetic.formats import FORMATS
from spark_cdc.synthetic.options import is_date, refuse
from spark_cdc.synthetic.rows import (
    COMPRESSIONS,
    DELTA_SHARES,
    FULL_SHARES,
    Day,
    RowOptions,
    Shares,
    generate_rows,
)

DEFAULT_LOADS = 4
SHARES = [one.name for one in fields(Shares)]
EVENT_SHARES = {
    "insert": "of the changes",
    "delete": "of the changes",
    "key_change": "of the changes",
    "swap": "of the changes: keys that rows take from each other, and id + 1 over several rows",
    "partial": "of updates and key changes: not all columns are sent",
    "duplicate": "of the messages: sent twice",
    "late": "of the messages: sent with the next load",
    "repeat": "of the messages: sent again with the next load",
    "snapshot": "of the rows: read again at the start of a load",
    "update": "must be what the other changes leave, as it is by default",
}
# Options that have a meaning with rows only, and with events only.
OF_ROWS = ("delta", "since", "compression", "values", *SHARES)
OF_EVENTS = (
    *("entity", "columns", "loads", "start", "events_format", "truncates", "late", "truth"),
    *(f"share_{name}" for name in EVENT_SHARES),
)


Kind = TypeVar("Kind", RowOptions, EventOptions)


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `generate` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "generate",
        "write synthetic source files",
        "A full set of rows per day (default), one full set and then deltas (--delta), or change"
        " events with the true state after each load (--events). The same options give the same"
        " bytes.",
        "spark-cdc generate --rows 1000 --days 2024-03-01..2024-03-07 --delta 50",
    )
    add = parser.add_argument
    days = " ".join(RowOptions.days)
    add("--out", type=Path, help=f"folder (default {RowOptions.out} in the project)")
    add(
        "--rows",
        type=_whole,
        help="rows of the first day (default 10000; with --events as many as keys)",
    )
    add(
        "--days",
        nargs="+",
        metavar="DATE",
        help=f"dates, or a range such as 2024-01-01..2024-01-31 (default {days})",
    )
    add("--since", metavar="DATE", help="write only this day and later ones")
    add("--seed", type=int, default=42, help="default 42")
    add("--format", dest="file_format", help=f"{', '.join(COMPRESSIONS)} (default csv)")
    add("--compression", help="none, gzip, ...; the default depends on the format")
    add("--delimiter", default=",", help="of CSV; \\t is a tab (default %(default)s)")
    add(
        "--keys",
        type=_whole,
        help="number of uuid columns (default 5); with --events the keys that they touch (1000)",
    )
    add("--values", type=int, help="number of double columns (default 10)")
    add(
        "--delta",
        type=_whole,
        metavar="N",
        help="after the first day, write only N rows a day; with a column op if some are deleted",
    )
    for name in SHARES:
        full, delta = getattr(FULL_SHARES, name), getattr(DELTA_SHARES, name)
        text = f"share of {name} rows (default {full:g}; of a delta's rows {delta:g})"
        add(f"--{name}", type=float, metavar="SHARE", help=text)
    add("--memory", default="1g", help="memory of Spark (default %(default)s)")
    _add_events(parser)
    parser.set_defaults(run=run)


def _add_events(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group(
        "change events",
        "With --events: a stream of change events with the true state after each load, see "
        "docs/generate_events.md. --out, --days, --seed, --rows, --keys, --format and --memory "
        "have the meaning given there.",
    ).add_argument
    start = RowOptions.days[0]
    add("--events", type=int, metavar="N", help="changes in each load after the first, a snapshot")
    add("--entity", help=f"folder below --out (default {EventOptions.entity})")
    add("--columns", type=int, help="columns beside id (default 5)")
    add("--loads", type=int, help=f"number of loads, instead of --days (default {DEFAULT_LOADS})")
    add("--start", metavar="DATE", help=f"of --loads (default {start})")
    formats = f"{', '.join(FORMATS)} (default {EventOptions.events_format})"
    add("--events-format", metavar="FORMAT", help=formats)
    for name, text in EVENT_SHARES.items():
        default = "" if name == "update" else f" (default {getattr(EventShares, name):g})"
        option = f"--share-{name.replace('_', '-')}"
        add(option, type=float, metavar="SHARE", help=text + default)
    add("--truncates", metavar="LOADS", help="numbers of the loads with a truncate, such as 3,5")
    add(
        "--late",
        help="superseded (default): a late event changes nothing; any: also last events of a key",
    )
    add("--truth", help=f"what to write beside the events: {', '.join(TRUTHS)} (default both)")


def run(args: argparse.Namespace) -> int:
    """Write rows or events."""
    parts.require("synthetic", "spark-cdc generate")
    given = {name: value for name, value in vars(args).items() if value is not None}
    given["delimiter"] = args.delimiter.replace("\\t", "\t")
    return _run_rows(given) if args.events is None else _run_events(given)


def _options(kind: type[Kind], given: Mapping[str, Any], **others: object) -> Kind:
    """The options of a kind: those given on the command line, then the others."""
    names = {one.name for one in fields(kind)}
    options = kind(**({name: given[name] for name in names & given.keys()} | others))
    out = options.out if "out" in given else project.root_or_here() / options.out
    return replace(options, out=out)


def _run_rows(given: Mapping[str, Any]) -> int:
    wrong = ", ".join(f"--{name.replace('_', '-')}" for name in OF_EVENTS if name in given)
    refuse([f"{wrong} without --events: give --events, or leave it out"] if wrong else [])
    others: dict[str, object] = {"days": _expand_days(given.get("days", RowOptions.days))}
    shares = {name: given[name] for name in SHARES if name in given}
    if "delta" in given:
        others["shares"] = replace(DELTA_SHARES, **shares)
    else:  # a full set keeps its size
        new = shares.get("deleted", FULL_SHARES.deleted)
        others["shares"] = replace(FULL_SHARES, **({"new": new} | shares))
    generate_rows(_options(RowOptions, given, **others), progress=_step)
    return 0


def _run_events(given: Mapping[str, Any]) -> int:
    problems = [
        f"--{name} is for rows, not for --events: leave it out" for name in OF_ROWS if name in given
    ]
    days = _expand_days(given.get("days", ()))
    if days and given.keys() & {"loads", "start"}:
        problems.append("--days and --loads, --start say the same: give one of them")
    names = [one.name for one in fields(EventShares) if f"share_{one.name}" in given]
    shares = EventShares(**{name: given[f"share_{name}"] for name in names})
    update = given.get("share_update", shares.update)
    if abs(update - shares.update) > 1e-9:
        problems.append(
            f"--share-update is {update:g}, but the other changes leave "
            f"{shares.update:g}: give shares that add up to 1, or leave it out"
        )
    refuse(problems)
    first, loads = given.get("start", RowOptions.days[0]), given.get("loads", DEFAULT_LOADS)
    options = _options(
        EventOptions,
        given,
        days=days or _days(first, loads),
        shares=shares,
        truncates=_numbers(given.get("truncates", "")),
    )
    for count in generate_events(options, progress=console.Step):
        print(f"  {_shown(count)}")
    return 0


def _whole(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))


_whole.__name__ = "whole number"


def _expand_days(texts: Sequence[str]) -> list[str]:
    """Single dates, lists with commas and ranges; what is no date is left for the check to name."""
    days = []
    for text in ",".join(texts).split(","):
        first, dots, last = text.strip().partition("..")
        if dots and is_date(first) and is_date(last) and first <= last:
            days += business_date.expand(first, last)
        elif text.strip():
            days.append(text.strip())
    return days


def _step(day: Day) -> AbstractContextManager[object]:
    changes = ", ".join(
        f"{count:,} {name}"
        for name in ("unchanged", "updated", "deleted", "new")
        if (count := getattr(day, name))
    )
    path = day.path
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return console.Step(f"{path}: {day.rows:,} rows ({changes})")


def _shown(counts: LoadCounts) -> str:
    day, *numbers = asdict(counts).items()
    texts = [f"{value:,} {name.replace('_', ' ')}" for name, value in numbers if value]
    return f"{day[1]}: {', '.join(texts)}"


def _days(start: str, loads: int) -> tuple[str, ...]:
    try:
        first = date.fromisoformat(start)
    except ValueError:
        return (start,)  # the check names it
    return tuple(str(first + timedelta(days=number)) for number in range(loads))


def _numbers(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    return tuple(int(word) if word.isdecimal() else 0 for word in words)
