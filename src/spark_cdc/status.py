"""`spark-cdc status`: what is committed of each entity, and drafts of replays."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from spark_cdc import chain, console, parsing
from spark_cdc.errors import UsageError


@dataclass(frozen=True)
class Draft:
    """The draft of a replay: where it begins, its dates, and what keeps it from being published."""

    first: dt.datetime
    source: str
    times: list[dt.datetime]
    outdated: str
    missing: list[dt.datetime]


@dataclass(frozen=True)
class Status:
    """An entity: its business times that are committed, oldest first, and its draft.

    undone: those that were taken back and that redo can bring back.
    load_types: of these loads, in their order; None where nothing tells.
    reads_feed: whether the source is the change feed of a table.
    problems: what is wrong with its settings, so that it can't be loaded.
    """

    entity: str
    load_type: str
    per: str
    has_archive: bool
    times: list[dt.datetime]
    rows: int
    last_load: str | None
    draft: Draft | None
    undone: list[dt.datetime] = field(default_factory=list)
    load_types: list[str | None] = field(default_factory=list)
    reads_feed: bool = False
    problems: list[str] = field(default_factory=list)

    def other_type(self, time: dt.datetime) -> str | None:
        """Return the load type of a date that was not loaded with the entity's own."""
        found = dict(zip(self.times, self.load_types, strict=False)).get(time)
        return found if found != self.load_type else None

    def up_to(self, at: str | None, option: str) -> list[dt.datetime]:
        """Return the business times up to the end of a date or load, or all.

        option: what gave it. Raises UsageError if it is neither.
        """
        if at is None:
            return self.times
        match = re.match(r"(\d{4}-?\d\d-?\d\d)(?:[T ]([\d:]{4,8}))?(-|$)", at)
        try:
            if not match:
                raise ValueError
            end = dt.datetime.fromisoformat(_isoformat(match[1], match[2]))
        except ValueError as error:
            raise UsageError(
                f"{option} {at!r} is neither a date nor a load. Accepted are a date such as"
                " 2024-03-01, and a load of spark-cdc status.",
                f"spark-cdc status --select {self.entity}",
            ) from error
        if not match[2]:
            end += dt.timedelta(days=1) - dt.timedelta(microseconds=1)
        return [time for time in self.times if time <= end]

    def text(self, time: dt.datetime) -> str:
        """Return a business time as the entity writes it."""
        return time.strftime("%Y-%m-%d" if self.per == "date" else "%Y-%m-%d %H:%M:%S")


def add_parser(subparsers: Any) -> None:
    """Add `status` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "status",
        "list the committed loads of each entity, and drafts of replays",
        "",
        "spark-cdc status --select orders",
    )
    parsing.add_output(parser)
    chain.add_arguments(parser, "select", "target", "branch")
    parser.set_defaults(run=run)


def _isoformat(date: str, time: str | None) -> str:
    """Return the time of a date or a load, whose digits come without signs between them."""
    day, digits = date.replace("-", ""), (time or "").replace(":", "").ljust(6, "0")
    clock = ":".join((digits[:2], digits[2:4], digits[4:6]))
    return f"{day[:4]}-{day[4:6]}-{day[6:8]}T{clock}"


def _times(texts: Sequence[str]) -> list[dt.datetime]:
    return [dt.datetime.fromisoformat(text) for text in texts]


def read(dbt: chain.Dbt, entities: Sequence[str] = ()) -> list[Status]:
    """Return the status of some entities, or of all; one dbt command."""
    found = chain.data(dbt.operate("load_status", entities), "status")
    statuses = []
    for one in found:
        draft = one.pop("draft")
        one.pop("commit")
        statuses.append(
            Status(
                **(one | {"times": _times(one["times"]), "undone": _times(one["undone"])}),
                draft=Draft(
                    first=dt.datetime.fromisoformat(draft["from"]),
                    source=draft["source"],
                    times=_times(draft["times"]),
                    outdated=draft["outdated"],
                    missing=_times(draft["missing"]),
                )
                if draft
                else None,
            )
        )
    return statuses


def describe(status: Status) -> str:
    """Return what there is of a draft, in words."""
    draft = status.draft
    if draft is None:
        return ""
    count = len(draft.times)
    what = f"from {status.text(draft.first)}, {count} {'load' if count == 1 else 'loads'}"
    if draft.outdated:
        return f"{what}, out of date"
    return f"{what}, {len(draft.missing)} missing" if draft.missing else f"{what}, complete"


def run(arguments: Any) -> int:
    """Print a line for each entity, or all that is known as JSON."""
    dbt = chain.Dbt(arguments.target)
    if arguments.output == "json":
        done = dbt.operate("load_status", arguments.select)
        print(json.dumps(chain.data(done, "status"), indent=2))
        return 0
    statuses = read(dbt, arguments.select)
    headings = [
        "entity",
        "load_type",
        "loads",
        "first",
        "last",
        "rows",
        "last load",
        "undone",
        "replay",
    ]
    rows = [
        (
            one.entity,
            one.load_type,
            len(one.times),
            one.text(one.times[0]) if one.times else "",
            one.text(one.times[-1]) if one.times else "",
            one.rows,
            one.last_load or "",
            ", ".join(one.text(time) for time in one.undone),
            describe(one),
        )
        for one in statuses
    ]
    print(console.table(headings, rows, 60))
    for problem in (problem for one in statuses for problem in one.problems):
        print(f"can't be loaded: {problem}")
    return 0
