"""What is known of entities: committed loads, drafts of replays, dates that are not loaded yet."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from spark_cdc import chain
from spark_cdc.errors import SparkCdcError, UsageError


@dataclass(frozen=True)
class Draft:
    """The draft of a replay: where it begins, its dates, and what keeps it from being published."""

    first: dt.datetime
    source: str
    times: list[dt.datetime]
    outdated: str
    missing: list[dt.datetime]


@dataclass(frozen=True)
class Pending:
    """Dates of an entity that are not committed, in order, as dbt gets them.

    dates: those that landed after the last committed one.
    gaps: those that landed before it; they take a replay.
    expected_every: how often loads come, of the entity's YAML.
    problems: what is wrong with its settings, so that it can't be loaded; then the rest is empty.
    problem: why it can't be told what has landed.
    absent: why nothing has landed, if the entity is not just idle.
    """

    dates: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    priority: float = 0
    expected_every: str | None = None
    landed: int = 0
    problems: list[str] = field(default_factory=list)
    problem: str | None = None
    absent: str | None = None


@dataclass(frozen=True)
class State:
    """An entity: its business times that are committed, oldest first, and its draft.

    undone: those that were taken back and that redo can bring back.
    load_types: of these loads, in their order; None where nothing tells.
    reads_feed: whether the source is the change feed of a table, which has no dates of its own.
    broken: what is wrong with its names and columns; then nothing else is known.
    parts: all that the macro told of it; what else was asked for is there by its name.
    """

    entity: str
    load_type: str = ""
    per: str = "date"
    has_archive: bool = False
    times: list[dt.datetime] = field(default_factory=list)
    rows: int = 0
    last_load: str | None = None
    draft: Draft | None = None
    undone: list[dt.datetime] = field(default_factory=list)
    load_types: list[str | None] = field(default_factory=list)
    reads_feed: bool = False
    broken: list[str] = field(default_factory=list)
    parts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pending(self) -> Pending:
        """Return the dates that are not committed, if they were asked for."""
        return Pending(**self.parts["pending"])

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

    def texts(self, times: Sequence[dt.datetime]) -> list[str]:
        """Return business times as the entity writes them."""
        return [self.text(time) for time in times]


def _isoformat(date: str, time: str | None) -> str:
    """Return the time of a date or a load, whose digits come without signs between them."""
    day, digits = date.replace("-", ""), (time or "").replace(":", "").ljust(6, "0")
    clock = ":".join((digits[:2], digits[2:4], digits[4:6]))
    return f"{day[:4]}-{day[4:6]}-{day[6:8]}T{clock}"


def _times(texts: Sequence[str]) -> list[dt.datetime]:
    return [dt.datetime.fromisoformat(text) for text in texts]


def ask(
    dbt: chain.Dbt, entities: Sequence[str] = (), heard: Any = None, **parts: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the data of the macro state, of some entities or of all; one dbt command.

    heard: gets what it logs.
    parts: what to tell beside the committed loads, each with its arguments.

    Raises SparkCdcError if names or columns are wrong of an entity that is named, unless the parts
    tell what is wrong.
    """
    found: dict[str, Any] = chain.data(dbt.operate("state", entities, heard, parts=parts), "state")
    problems = [text for one in found["entities"] for text in one.get("broken", ())]
    if entities and problems and not {"settings", "pending"} & set(parts):
        raise SparkCdcError(
            "\n".join(problems), "Correct the YAML, then run the same command again."
        )
    return found


def read(dbt: chain.Dbt, entities: Sequence[str] = (), *parts: str) -> list[State]:
    """Return the state of some entities, or of all of which names and columns are right.

    parts: what else to ask for. With pending the others are told, too.
    """
    found = ask(dbt, entities, **{part: {} for part in parts})["entities"]
    return [one for one in map(state, found) if not one.broken or "pending" in parts]


def state(found: Mapping[str, Any]) -> State:
    """Return the state of an entity as the macro tells it."""
    names = {one.name for one in fields(State)}
    one = {name: value for name, value in found.items() if name in names}
    if draft := one.get("draft"):
        one["draft"] = Draft(
            first=dt.datetime.fromisoformat(draft["from"]),
            source=draft["source"],
            times=_times(draft["times"]),
            outdated=draft["outdated"],
            missing=_times(draft["missing"]),
        )
    for name in ("times", "undone"):
        one[name] = _times(one.get(name, ()))
    return State(**one, parts=found)
