"""Columns of a generated table, and the values that a simulated row stands for, as text."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from spark_cdc.synthetic.simulator import Row

UNAVAILABLE = "__debezium_unavailable_value"

_64_BITS = 2**64 - 1
_DAYS = [str(date(1970, 1, 1) + timedelta(days=number)) for number in range(20_000)]


def _text(bits: int) -> str:
    special = bits & 31
    if special == 0:
        return ""
    return f" Zoë, {bits:x}; d'Arc | 東京 " if special == 1 else f"{bits:x}"


def _amount(bits: int) -> str:
    return f"{'-' if bits & 1 else ''}{bits // 100 % 10**8}.{bits % 100:02d}"


def day_number(bits: int) -> str:
    return str(bits % len(_DAYS))


# Kind of column: its type, and a value from 46 random bits; a text has no quote and no backslash.
_KINDS: dict[str, tuple[str, Callable[[int], str]]] = {
    "text": ("string", _text),
    "amount": ("decimal(12,2)", _amount),
    "number": ("bigint", str),
    "day": ("date", lambda bits: _DAYS[bits % len(_DAYS)]),
    "flag": ("boolean", lambda bits: "true" if bits & 1 else "false"),
}


@dataclass(frozen=True)
class Column:
    """A column beside the key `id`: its kind gives the type, its multiplier the values."""

    name: str
    kind: str
    multiplier: int

    @property
    def data_type(self) -> str:
        return _KINDS[self.kind][0]


def make_columns(count: int, seed: int) -> list[Column]:
    """Return so many columns, of each kind in turn."""
    kinds = list(_KINDS)
    chance = random.Random(f"{seed}|columns")
    return [
        Column(f"{kind}{number + 1}", kind, chance.getrandbits(64) | 1)
        for number in range(count)
        for kind in [kinds[number % len(kinds)]]
    ]


def mask(columns: Sequence[Column], kinds: Collection[str] = tuple(_KINDS)) -> int:
    """Return the columns of some kinds as bits."""
    return sum(1 << at for at, column in enumerate(columns) if column.kind in kinds)


class Values:
    """Texts of a row's values; each follows by arithmetic from the change that set it.

    Args:
        quoted: kinds of columns whose values stand in quotes. null: the text of null.
        days: how a date is written, from random bits.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        seed: int,
        quoted: Collection[str] = ("text",),
        null: str = "",
        days: Callable[[int], str] = _KINDS["day"][1],
    ) -> None:
        self._null = null
        self._shift = random.Random(f"{seed}|values").getrandbits(60)
        makers = {kind: make for kind, (_, make) in _KINDS.items()} | {"day": days}
        for kind in quoted:
            makers[kind] = _quoted(makers[kind])
        self._columns = [(column.multiplier, makers[column.kind]) for column in columns]

    def __call__(self, row: Row) -> list[str]:
        texts = []
        last, mixed = -1, 0
        for serial, (multiplier, make) in zip(row, self._columns, strict=True):
            if serial != last:
                last, mixed = serial, _mixed(serial + self._shift)
            bits = (mixed * multiplier & _64_BITS) >> 13
            texts.append(make(bits >> 5) if bits & 31 else self._null)
        return texts


def _quoted(make: Callable[[int], str]) -> Callable[[int], str]:
    return lambda bits: f'"{make(bits)}"'


def _mixed(serial: int) -> int:
    mixed = serial * 0x9E3779B97F4A7C15 & _64_BITS
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
    return mixed ^ mixed >> 27
