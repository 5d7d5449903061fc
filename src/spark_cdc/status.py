"""`spark-cdc status`: what is committed of each entity, and drafts of replays."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from spark_cdc import chain, console

MARKER = "spark_cdc status: "


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

    def text(self, time: dt.datetime) -> str:
        """Return a business time as the entity writes it."""
        return time.strftime("%Y-%m-%d" if self.per == "date" else "%Y-%m-%d %H:%M:%S")


def add_parser(subparsers: Any) -> None:
    """Add `status` to the command line."""
    parser = subparsers.add_parser("status", help="what is committed, and drafts of replays")
    parser.add_argument("--output", choices=("table", "json"), default="table")
    chain.add_arguments(parser, "select", "target", "branch")
    parser.set_defaults(run=run)


def _times(texts: Sequence[str]) -> list[dt.datetime]:
    return [dt.datetime.fromisoformat(text) for text in texts]


def read(dbt: chain.Dbt, entities: Sequence[str] = ()) -> list[Status]:
    """Return the status of some entities, or of all; one dbt command."""
    found = chain.parse_json(dbt.operate("load_status", entities), MARKER)
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
        print(json.dumps(chain.parse_json(done, MARKER), indent=2))
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
