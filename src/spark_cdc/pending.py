"""Which dates are expected of an entity, and are missing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from spark_cdc import load

STEPS = {"hourly": "1h", "daily": "1d", "weekly": "1w"}


def parse_expectation(text: str) -> dt.timedelta:
    """Return the time between two loads, of daily, hourly, weekly, or such as 15m.

    Raises SparkCdcError if it is none.
    """
    return load.parse_step(STEPS.get(text, text), "--expected-every")


def missing(known: Sequence[str], per: str, step: dt.timedelta, until: dt.datetime) -> list[str]:
    """Return the dates that should have landed and did not.

    Expected is one each step, from the first known date on. A date is due when the next one begins:
    that of a day on the day after.

    known: in order, the last committed date, or the first that landed, and those after it.
    until: the present, in UTC.
    """
    if not known:
        return []
    times = [dt.datetime.fromisoformat(text) for text in known]
    found: list[str] = []
    for time, following in zip(times, [*times[1:], None], strict=True):
        due = time + step
        while due < following if following else due + step <= until:
            found.append(due.strftime("%Y-%m-%d" if per == "date" else "%Y-%m-%d %H:%M:%S"))
            due += step
            if len(found) >= load.LIMIT:
                return found
    return found
