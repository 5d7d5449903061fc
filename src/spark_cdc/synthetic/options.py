"""Checks of what is asked for; all that is wrong is named at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from spark_cdc.errors import SparkCdcError

MAX_ROWS = 10_000_000_000


def refuse(problems: Sequence[str]) -> None:
    """Raise SparkCdcError if there are problems."""
    if problems:
        raise SparkCdcError(
            "Nothing was generated:\n" + "\n".join(f"  - {problem}" for problem in problems),
            "Correct the options; `spark-cdc generate --help` lists them.",
        )


def choice_problems(name: str, value: str, accepted: Iterable[str]) -> list[str]:
    """Return what is wrong with a choice."""
    names = list(accepted)
    if value in names:
        return []
    return [f"{name} is '{value}'; accepted are {', '.join(names)}: choose one of them"]


def is_date(text: str) -> bool:
    """Say whether a text is a date such as 2019-06-18."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def day_problems(days: Sequence[str], since: str | None = None) -> list[str]:
    """Return what is wrong with business dates, and with the first that is written."""
    problems = [
        f"'{day}' is not a date; accepted are dates such as 2019-06-18: correct it"
        for day in (*days, *([since] if since is not None else []))
        if not is_date(day)
    ]
    if not days:
        problems.append("days is empty; give at least one date, such as 2019-06-18")
    if problems:
        return problems
    if list(days) != sorted(set(days)):
        problems.append(
            f"the days {', '.join(days)} do not ascend; each follows from the one before: "
            "sort them and give each once"
        )
    if since is not None and since > max(days):
        problems.append(
            f"since is {since}, after the last day {max(days)}, so that nothing would be written: "
            "give one of the days"
        )
    return problems
