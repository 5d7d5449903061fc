"""Business dates, ranges and times of a command line; which dates are expected and missing."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

from spark_cdc.errors import SparkCdcError, TypoError, UsageError

EXAMPLE = "spark-cdc load 2024-03-01 orders"
KNOWN = "List the pending dates, or the committed ones.\nspark-cdc load --dry-run\nspark-cdc status"
ACCEPTED = "Accepted are dates such as 2024-03-01, and times such as '2024-03-01 10:15:00'."
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
STEPS = {"hourly": "1h", "daily": "1d", "weekly": "1w"}
LIMIT = 100_000  # dates of one command


def parse(text: str) -> tuple[dt.datetime, str]:
    """Return a business date or timestamp, and its text as dbt gets it.

    Raises UsageError if it is neither YYYY-MM-DD nor YYYY-MM-DD HH:MM[:SS] of the calendar.
    """
    value = _read(text)
    if value is None:
        said = f"{text!r} is not a business date. {ACCEPTED}"
        if meant := _meant(text):
            raise TypoError(said, text, meant)
        raise UsageError(said, KNOWN)
    return value, text if len(text) == 10 else value.isoformat(sep=" ")


def _read(text: str) -> dt.datetime | None:
    shape = r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2})?)?"
    try:
        return dt.datetime.fromisoformat(text) if re.fullmatch(shape, text, re.ASCII) else None
    except ValueError:
        return None


def _meant(text: str) -> str | None:
    """Return the date of a text that has year, month and day in this order, in another form."""
    match = re.fullmatch(r"(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})", text, re.ASCII)
    meant = f"{match[1]}-{match[3]:0>2}-{match[4]:0>2}" if match else ""
    return meant if _read(meant) else None


def parse_step(text: str, option: str = "--step") -> dt.timedelta:
    """Return the time between two loads: a number of minutes, hours, days or weeks, as in 15m.

    option: what gave it, for the message.

    Raises UsageError if it is none.
    """
    match = re.fullmatch(r"([1-9]\d{0,5})([mhdw])", text, re.ASCII)
    if not match:
        accepted = "15m, 6h, 1d and 1w" + ("" if option == "--step" else ", daily and hourly")
        raise UsageError(
            f"{option} {text!r} is not a time between two loads. Accepted are {accepted}.",
            f"Give a time, such as {option} {'15m' if option == '--step' else 'daily'}.",
        )
    return dt.timedelta(**{UNITS[match[2]]: int(match[1])})


def parse_expectation(text: str) -> dt.timedelta:
    """Return the time between two loads, of daily, hourly, weekly, or such as 15m.

    Raises UsageError if it is none.
    """
    return parse_step(STEPS.get(text, text), "--expected-every")


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
    start, _ = parse(first)
    end, _ = parse(last)
    has_times = len(first) > 10 or len(last) > 10
    if every is None and has_times:
        raise UsageError(
            f"The range {first}..{last} has times of day, and no time between two loads.",
            "Add that time, such as --step 15m.",
        )
    step = parse_step(every or "1d")
    if len(last) == 10:
        end += dt.timedelta(days=1) - dt.timedelta(microseconds=1)
    if end < start:
        raise TypoError(
            f"The range {first}..{last} ends before it begins. The first date comes first.",
            f"{first}..{last}",
            f"{last}..{first}",
        )
    count = (end - start) // step + 1
    if count > LIMIT:
        raise UsageError(
            f"The range {first}..{last} has {count} dates. A command takes up to {LIMIT}.",
            "Give a shorter range, or a longer --step.",
        )
    fine = has_times or step % dt.timedelta(days=1)
    pattern = "%Y-%m-%d %H:%M:%S" if fine else "%Y-%m-%d"
    return [(start + at * step).strftime(pattern) for at in range(count)]


def requested(
    texts: Sequence[str], every: str | None = None
) -> tuple[list[tuple[dt.datetime, str]], set[dt.datetime]]:
    """Return dates and ranges of a command line in order, and which come from ranges only.

    Raises UsageError with all that is wrong.
    """
    ranges = [text for text in texts if ".." in text]
    if every and not ranges:
        raise UsageError(
            "--step needs a range of dates. The command names single dates only.",
            "Give a range FIRST..LAST, or leave --step out.",
        )
    wrong: list[SparkCdcError] = []
    named: dict[dt.datetime, str] = {}
    ranged: dict[dt.datetime, str] = {}
    for text in texts:
        try:
            if text not in ranges:
                named.update([parse(text)])
                continue
            first, *last = text.split("..")
            if len(last) != 1:
                raise UsageError(f"{text!r} is not a range. Accepted is FIRST..LAST.", KNOWN)
            ranged.update(parse(date) for date in expand(first, last[0], every))
        except SparkCdcError as error:
            wrong.append(error)
    if wrong[1:]:
        raise UsageError("\n".join(error.message for error in wrong), KNOWN)
    if wrong:
        raise wrong[0]
    return sorted((ranged | named).items()), set(ranged) - set(named)


def quoted(dates: Sequence[str]) -> str:
    """Return dates as words of a command line."""
    return " ".join(repr(date) if " " in date else date for date in dates)


def few(dates: Sequence[str]) -> str:
    """Return dates, of many the first and the last."""
    if len(dates) <= 3:
        return ", ".join(dates)
    return f"{len(dates)} dates from {dates[0]} to {dates[-1]}"


def span(dates: Sequence[str]) -> str:
    """Return the first and the last date."""
    return f"{dates[0]} to {dates[-1]}" if len(dates) > 1 else "".join(dates)


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
            if len(found) >= LIMIT:
                return found
    return found
