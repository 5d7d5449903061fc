"""Jinja fails in tests where that of dbt v2 would be wrong in silence.

To its tests and filters, to lists and to keys of dictionaries all datetimes are equal; operators
are right. So business times are compared as text (_time_stamp(), _times_sorted() and
_times_beside() in macros/utils/sql.sql).
There `get(name, default)` of a dictionary gives the default also where the value is null.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable
from typing import Any

from jinja2.filters import FILTERS
from jinja2.sandbox import SandboxedEnvironment
from jinja2.tests import TESTS

TESTS_OF_V2 = (
    *("eq", "equalto", "==", "ne", "!=", "in"),
    *("lt", "lessthan", "<", "le", "<=", "gt", "greaterthan", ">", "ge", ">="),
)
FILTERS_OF_V2 = ("min", "max", "sort", "unique")


def _has_datetime(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_datetime(one) for one in value)
    return isinstance(value, datetime.date)


def _guarded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def guarded(*values: Any, **more: Any) -> Any:
        if any(_has_datetime(value) for value in values):
            raise TypeError(f"{name} on a datetime, of which dbt v2 knows operators alone")
        return function(*values, **more)

    return guarded


def _hides_null(function: Any, values: tuple[Any, ...]) -> bool:
    """Whether `get` finds a null where dbt v2 would give the default, and they differ."""
    owner = getattr(function, "__self__", None)
    if not (isinstance(owner, dict) and function.__name__ == "get" and len(values) == 2):
        return False
    name, default = values
    return owner.get(name, default) is None and default is not None


def guard() -> None:
    """Let Jinja fail where dbt v2 would give something else."""
    plain = SandboxedEnvironment.call

    def call(self: Any, context: Any, function: Any, *values: Any, **more: Any) -> Any:
        if _hides_null(function, values):
            raise TypeError(f"get{values!r} finds null, for which dbt v2 gives the default")
        return plain(self, context, function, *values, **more)

    SandboxedEnvironment.call = call  # type: ignore[method-assign]
    for name in TESTS_OF_V2:
        TESTS[name] = _guarded(name, TESTS[name])
    for name in FILTERS_OF_V2:
        FILTERS[name] = _guarded(name, FILTERS[name])
