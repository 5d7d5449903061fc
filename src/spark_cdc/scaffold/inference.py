"""The type of a sample's column: one that takes each of its values as it is, else string."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import NamedTuple

_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
# Leading zeros and a plus are part of a text: a post code, a telephone number.
_NUMBER = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_MONEY = re.compile(r"-?[0-9]{0,16}\.[0-9]{2}")
_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[ T]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]{1,6}0{0,3})?"
    r"(Z|[+-](?:0[0-9]|1[0-4])(?::?[0-9]{2})?)?)?"
)
# Patterns of Spark that may be proposed, and the same in Python.
_DAYS = (
    *("dd.MM.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "dd-MM-yyyy", "MM-dd-yyyy", "yyyy/MM/dd"),
    "yyyy-MM-dd",
)
_FORMATS = [day + time for day in _DAYS for time in ("", " HH:mm", " HH:mm:ss")]
_LETTERS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
# How people write numbers, the simplest first: decimal sign and grouping. What else stands for one.
_STYLES = ((".", ""), (",", ""), (".", ","), (",", "."), (",", " "), (".", "'"), (",", "'"))
_ALIKE = {" ": "\u00a0\u202f", "'": "\u2019"}


class Number(str):
    """A number of JSON as it is written, so that no digit is lost."""


def type_of_texts(texts: Collection[str]) -> tuple[str, str | None]:
    """Return the type of a column that holds text, as in CSV, and its format if it needs one.

    Args:
        texts: its values, without nulls and empty texts.
    """
    words = {text.lower() for text in texts}
    if (words and words <= {"true", "false"}) or words == {"t", "f"}:
        return "boolean", None
    number = _number_type(texts) if texts else None
    return (number, None) if number else _time_type(texts)


class Numbers(NamedTuple):
    """How numbers are written: settings of a column, where they are not plain."""

    decimal: str | None = None
    grouping: str | None = None
    trailing_sign: bool = False


def numbers_of_texts(texts: Collection[str]) -> list[tuple[str, Numbers]]:
    """Return how texts may be read as numbers that are not plain: types, with the settings.

    There may be several: `1,234` is 1.234 or 1234.

    Args:
        texts: values of a column, without nulls and empty texts.
    """
    found: dict[tuple[Decimal, ...], tuple[str, Numbers]] = {}
    for decimal, grouping in _STYLES if texts else ():
        for has_sign in (False, True):
            plain = _plain_numbers(texts, decimal, grouping, has_sign)
            data_type = _number_type(plain) if plain else None
            if plain and data_type:
                numbers = Numbers(decimal if decimal != "." else None, grouping or None, has_sign)
                found.setdefault(tuple(map(Decimal, plain)), (data_type, numbers))
    return list(found.values())


def _plain_numbers(
    texts: Collection[str], decimal: str, grouping: str, has_sign: bool
) -> list[str] | None:
    """The texts as plain numbers; none if one is written otherwise, or nothing in them is odd."""
    group = f"[{re.escape(grouping)}{_ALIKE.get(grouping, '')}]" if grouping else ""
    if not any(
        (decimal != "." and decimal in text)
        or (grouping and re.search(group, text))
        or (has_sign and text.endswith("-"))
        for text in texts
    ) or (has_sign and not any(text.endswith("-") for text in texts)):
        return None
    if grouping in _ALIKE and not any(decimal in text for text in texts):
        return None  # 12 345 is a telephone number as well
    whole = f"[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+|" if grouping else ""
    number = f"((?:{whole}0|[1-9][0-9]*)(?:{re.escape(decimal)}[0-9]+)?)"
    pattern = re.compile(f"(-?){number}(-?)" if has_sign else f"(-?){number}()")
    plain = []
    for text in texts:
        match = pattern.fullmatch(text.rstrip() if has_sign else text)
        if not match or (match[1] and match[3]):
            return None
        digits = re.sub(group, "", match[2]) if grouping else match[2]
        plain.append((match[1] or match[3]) + digits.replace(decimal, "."))
    return plain


def type_of_json(values: Iterable[object]) -> tuple[str, str | None]:
    """Return the type of a column of JSON, and its format if it needs one.

    Args:
        values: as json reads them, numbers as Number.
    """
    present = [value for value in values if value is not None]
    if {type(value) for value in present} == {str}:
        return _time_type({str(value) for value in present})
    return _nested_type(present), None


def _nested_type(present: Sequence[object]) -> str:
    """The type of what is no text, or lies in a list or an object, where there are no formats."""
    kinds = {type(value) for value in present}
    if kinds == {bool}:
        return "boolean"
    if kinds == {Number}:
        return _number_type({str(value) for value in present}) or "string"
    if kinds == {list}:
        items = [item for value in present for item in _items(value) if item is not None]
        return f"array<{_nested_type(items)}>"
    if kinds == {dict}:
        objects = [value for value in present if isinstance(value, Mapping)]
        members: dict[str, tuple[str, list[object]]] = {}  # names meet in any case
        for name, member in (item for value in objects for item in value.items()):
            _, items = members.setdefault(name.lower(), (name, []))
            items.extend([] if member is None else [member])
        is_clear = all(len({name.lower() for name in value}) == len(value) for value in objects)
        if members and is_clear:
            parts = [f"{quoted(name)}:{_nested_type(items)}" for name, items in members.values()]
            return f"struct<{','.join(parts)}>"
    return "string"


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def quoted(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    return name if plain else "`" + name.replace("`", "``") + "`"


def _number_type(texts: Collection[str]) -> str | None:
    """bigint or double where they keep every digit, else a decimal that has enough of them.

    Numbers that all have two decimals are money, which no double should add up.
    """
    if not all(_NUMBER.fullmatch(text) for text in texts):
        return None
    if texts and all(_MONEY.fullmatch(text) for text in texts):
        return "decimal(18,2)"
    numbers = [Decimal(text) for text in texts]
    if all(_WHOLE.fullmatch(text) for text in texts):
        if all(-(2**63) <= number < 2**63 for number in numbers):
            return "bigint"
    elif all(Decimal(repr(float(number))) == number for number in numbers):
        return "double"
    parts = [number.as_tuple() for number in numbers]
    scale = max(max(-int(part.exponent), 0) for part in parts)
    whole = max(max(len(part.digits) + int(part.exponent), 0) for part in parts)
    return f"decimal(38,{scale})" if whole + scale <= 38 else None


def _time_type(texts: Collection[str]) -> tuple[str, str | None]:
    """date or timestamp where all texts are one, with the format if they need one; or string."""
    if not texts:
        return "string", None
    if all(_is_date(text) for text in texts):
        return "date", None
    if all(_is_timestamp(text) for text in texts):
        return "timestamp", None
    fitting = [one for one in _FORMATS if all(_fits(text, one) for text in texts)]
    if not fitting:
        padded = {re.sub(r"(?<![0-9:])[0-9](?![0-9])", r"0\g<0>", text) for text in texts}
        found = [one for one in _FORMATS if all(_fits(text, one) for text in padded)]
        fitting = [re.sub("(?<![a-zA-Z])(d|M|H)\\1", r"\1", one) for one in found]
    if len(fitting) != 1:  # 01/02/2024 may be January or February
        return "string", None
    return "timestamp" if "H" in fitting[0] else "date", fitting[0]


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    with suppress(ValueError):
        return bool(match and date(*map(int, match.groups())))
    return False


def _is_timestamp(text: str) -> bool:
    match = _TIMESTAMP.fullmatch(text)
    if not match:
        return False
    day, time, zone = match.groups()
    minutes = (zone or "")[3:].replace(":", "") or "00"
    offset = f"{zone[:3]}:{minutes}" if zone and zone != "Z" else "+00:00"
    with suppress(ValueError, OverflowError):
        instant = datetime.fromisoformat(f"{day}T{time or '00:00'}{offset}")
        return bool(instant.astimezone(timezone.utc))
    return False


def _fits(text: str, pattern: str) -> bool:
    for letters, directive in _LETTERS.items():
        pattern = pattern.replace(letters, directive)
    with suppress(ValueError):
        return datetime.strptime(text, pattern).strftime(pattern) == text
    return False
