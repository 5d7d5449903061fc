"""What is outstanding: dates that lie in the landing or the source and are not committed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

from spark_cdc import chain, load

WORDS = {"hourly": "1h", "daily": "1d", "weekly": "1w"}


@dataclass(frozen=True)
class Outstanding:
    """An entity: its dates in order, as dbt gets them.

    last: the last committed one.
    dates: those that landed behind it.
    gaps: those that landed before it and are not committed; they take a replay.
    undone: those that undo took back.
    expect: how often loads come, of the entity's YAML.
    problem: why it can't be told what has landed.
    absent: why nothing has landed, if the entity is not just idle.
    reads_feed: whether the source is the change feed of a table, which has no dates of its own.
    broken: what is wrong with the entity's configuration; then the rest is empty.
    """

    entity: str
    load_type: str = ""
    per: str = "date"
    priority: float = 0
    expect: str | None = None
    last: str | None = None
    landed: int = 0
    dates: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    problem: str | None = None
    absent: str | None = None
    reads_feed: bool = False
    broken: str | None = None


def read(dbt: chain.Dbt, entities: Sequence[str] = ()) -> list[Outstanding]:
    """Return what is outstanding of some entities, or of all; one dbt command."""
    found = chain.data(dbt.operate("outstanding", entities), "outstanding")
    return [Outstanding(**(one | {"dates": one.pop("outstanding", [])})) for one in found]


def parse_expectation(text: str) -> dt.timedelta:
    """Return the time between two loads, of daily, hourly, weekly, or such as 15m.

    Raises SparkCdcError if it is none.
    """
    return load.parse_step(WORDS.get(text, text), "--expect")


def missing(one: Outstanding, step: dt.timedelta, until: dt.datetime) -> list[str]:
    """Return the dates that should have landed and did not.

    Expected is one each step, from the last committed date on, or from the first that landed. A
    date is due when the next one begins: that of a day on the day after.

    until: the present, in UTC.
    """
    known = [*([one.last] if one.last else []), *one.dates]
    if not known:
        return []
    times = [dt.datetime.fromisoformat(text) for text in known]
    found: list[str] = []
    for time, following in zip(times, [*times[1:], None], strict=True):
        due = time + step
        while due < following if following else due + step <= until:
            found.append(due.strftime("%Y-%m-%d" if one.per == "date" else "%Y-%m-%d %H:%M:%S"))
            due += step
            if len(found) >= load.LIMIT:
                return found
    return found
