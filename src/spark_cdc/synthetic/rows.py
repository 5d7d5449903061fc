"""Synthetic sources: full snapshots of several days, or a full set followed by deltas.

Nothing is drawn at random and nothing is remembered from day to day: every row follows by
arithmetic from the seed, so a day is one pass over `spark.range`, without shuffle, sort or collect.

The population has as many slots as rows; a slot is always occupied.

*Full*: on each day after the first, a bijective permutation of the slots,
another one each day, gives every slot a position. The lowest positions are deleted and their slots
taken by new rows, the next ones are updated, the rest stays. The shares are therefore exact, and
spread over the set. A slot's `generation` counts how often it was taken by a new row, its `version`
how often it was taken or updated.

*Deltas* (`delta` rows a day): one permutation for all days. Each delta takes the next window of
positions, so that no row is touched twice, and its new rows get slots beyond the first day's. A
delta costs what its own rows cost, however large the population is.

Keys are hashed from (seed, slot, generation), values from (seed, slot, version). The last digit of
a value has the parity of `version`, so that an update changes every value with certainty.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from spark_cdc.server.session import open_session
from spark_cdc.synthetic.files import replaced_folder
from spark_cdc.synthetic.options import MAX_ROWS, choice_problems, day_problems, refuse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_PER_FILE = 250_000

# The first of each is the default.
COMPRESSIONS = {
    "csv": ("none", "gzip", "bzip2"),
    "json": ("none", "gzip", "bzip2"),
    "parquet": ("snappy", "none", "gzip", "zstd"),
    "orc": ("snappy", "none", "zlib", "zstd"),
}
_SUFFIXES = {"gzip": ".gz", "bzip2": ".bz2"}

# A value is a whole number below 10^15 over 10^9: at most 15 digits, so that its text and its
# double stand for each other in every JVM (the digits of Double.toString changed in Java 19).
_VALUE_RANGE = 10**15
_VALUE_SCALE = 10**9


@dataclass(frozen=True)
class Shares:
    """Shares of the day before (full), or of the delta's rows (delta)."""

    unchanged: float = 0.4
    updated: float = 0.4
    deleted: float = 0.2
    new: float = 0.2


FULL_SHARES = Shares()
DELTA_SHARES = Shares(unchanged=0.25, updated=0.5, deleted=0.0, new=0.25)


@dataclass(frozen=True)
class RowOptions:
    """What to make.

    rows: of the first day; in full sets as many of every day. delta: rows of each following day;
    without it each day is a full set. days: business dates, ascending. since: write this day and
    the later ones only, such as deltas beside a set written before. keys, values: number of uuid
    columns key1, … and of double columns value1, …. memory: of a session that is started here.
    """

    out: Path = Path(".spark_cdc/landing/synthetic")
    rows: int = 10_000
    delta: int | None = None
    days: Sequence[str] = ("2019-06-18", "2019-06-19")
    since: str | None = None
    seed: int = 42
    shares: Shares | None = None
    keys: int = 5
    values: int = 10
    file_format: str = "csv"
    compression: str | None = None
    delimiter: str = ","
    memory: str = "1g"

    @property
    def op(self) -> list[str]:
        """The column that tells inserts, updates and deletes apart, if there are deletes."""
        return ["op"] if self.delta is not None and self.used_shares.deleted > 0 else []

    @property
    def used_shares(self) -> Shares:
        """The shares that are given, or the default."""
        return self.shares or (FULL_SHARES if self.delta is None else DELTA_SHARES)


@dataclass(frozen=True)
class Day:
    """What was written for one business date; a full set's `rows` are unchanged + updated + new."""

    business_date: str
    path: Path
    rows: int
    unchanged: int
    updated: int
    deleted: int
    new: int


Progress = Callable[[Day], AbstractContextManager[object]]


def generate_rows(
    options: RowOptions, spark: SparkSession | None = None, progress: Progress = nullcontext
) -> list[Day]:
    """Write a full snapshot per day, or one and then deltas, to `<out>/<day>/`.

    The same options give the same bytes. A day that was there is replaced as a whole. If a delta
    deletes rows, every file has a column `op` with I, U or D; an unchanged row is sent as U, and a
    deleted one with its last values. But for `op`, the first day is the same with deltas.

    Args:
        spark: session to use; without it the active one, or one that ends with the call.
        progress: called with each day; the day is written within the context that it returns.

    Raises:
        SparkCdcError: an option is not accepted; the message names all that are not.
    """
    compression = options.compression or COMPRESSIONS.get(options.file_format, ("none",))[0]
    options = replace(options, compression=compression)
    refuse(_problems(options))
    written = []
    with open_session(spark, options.memory) as session:
        for step, date in enumerate(options.days):
            if options.since is not None and date < options.since:
                continue
            day = _day(options, step)
            with progress(day), replaced_folder(day.path) as folder:
                is_delta = options.delta is not None and step > 0
                slots = (_delta_slots if is_delta else _full_slots)(session, options, step)
                _write(_columns(slots, options), options, folder)
                _name_files(folder, options)
            written.append(day)
    return written


def _day(options: RowOptions, step: int) -> Day:
    """What a day holds; the first one new rows only."""
    date = options.days[step]
    rows = options.rows if options.delta is None or not step else options.delta
    parts = ["deleted", "updated", "unchanged", *([] if options.delta is None else ["new"])]
    counts = _counts(rows, *(getattr(options.used_shares, part) for part in parts))
    found = dict(zip(parts, counts, strict=True))
    if not step:
        found = {"deleted": 0, "updated": 0, "unchanged": 0, "new": rows}
    return Day(date, options.out / date, rows, **{"new": found["deleted"], **found})


# --- rows ---------------------------------------------------------------------


def _full_slots(session: SparkSession, options: RowOptions, step: int) -> DataFrame:
    """The set after so many steps, in the order of its slots."""
    rows, steps = options.rows, 0 if options.delta is not None else step
    day = _day(options, steps)
    positions = [
        _Permutation.of(rows, f"{options.seed}|roles|{one}").expression("id")
        for one in range(1, steps + 1)
    ]
    return session.range(0, rows, 1, _files(rows)).selectExpr(
        "id as slot",
        _count_below(positions, day.deleted) + " as generation",
        _count_below(positions, day.deleted + day.updated) + " as version",
        "'I' as op",
    )


def _delta_slots(session: SparkSession, options: RowOptions, step: int) -> DataFrame:
    """The rows of the delta of a step (from 1), its operations mixed."""
    day = _day(options, step)
    touched = day.rows - day.new
    mixed = _Permutation.of(day.rows, f"{options.seed}|order|{step}").expression("id")
    slot_of = _Permutation.of(options.rows, f"{options.seed}|touched")
    first = (step - 1) * touched
    return (
        session.range(0, day.rows, 1, _files(day.rows))
        .selectExpr(f"{mixed} as place")
        .selectExpr(
            f"case when place < {touched} then {slot_of.expression(f'(place + {first}L)')} "
            f"else place + {options.rows - touched + (step - 1) * day.new}L end as slot",
            "0L as generation",
            f"if(place >= {day.deleted} and place < {day.deleted + day.updated}, 1L, 0L)"
            " as version",
            f"case when place < {day.deleted} then 'D' when place < {touched} then 'U' "
            "else 'I' end as op",
        )
    )


def _columns(slots: DataFrame, options: RowOptions) -> DataFrame:
    """Keys and values of (slot, generation, version, op), as the format wants them written."""
    keys = [f"key{i}" for i in range(1, options.keys + 1)]
    numbers = [f"value{i}" for i in range(1, options.values + 1)]

    hashed = slots.selectExpr(
        *(f"md5(concat('{options.seed}|{key}|', slot, '|', generation)) as {key}" for key in keys),
        *(f"{_number(options.seed, number)} as {number}" for number in numbers),
        *options.op,
    )
    columns = {key: _uuid(key) for key in keys}
    if options.file_format in ("parquet", "orc"):
        columns |= {number: f"{number} / {_VALUE_SCALE}d" for number in numbers}
    else:
        columns |= {number: _decimal_text(number) for number in numbers}
    columns |= {name: name for name in options.op}
    typed = hashed.selectExpr(*(f"{sql} as {name}" for name, sql in columns.items()))
    if options.file_format != "json":
        return typed

    members = [
        f"""'"{name}":', {name}""" if name in numbers else f"""'"{name}":"', {name}, '"'"""
        for name in columns
    ]
    return typed.selectExpr("concat('{', " + ", ',', ".join(members) + ", '}') as line")


def _uuid(digest: str) -> str:
    """SQL of a version 4 uuid from the 32 hexadecimal digits of md5, of which it keeps 122 bits."""
    variant = f"translate(substr({digest}, 17, 1), '0123456789abcdef', '89ab89ab89ab89ab')"
    return (
        f"concat(substr({digest}, 1, 8), '-', substr({digest}, 9, 4), '-4', "
        f"substr({digest}, 14, 3), '-', {variant}, substr({digest}, 18, 3), '-', "
        f"substr({digest}, 21, 12))"
    )


def _number(seed: int, column: str) -> str:
    """SQL of a whole number in [0, 10^15) of (slot, version), odd for odd versions."""
    hashed = f"xxhash64('{seed}|{column}', slot, version)"
    return f"2L * pmod({hashed}, {_VALUE_RANGE // 2}L) + version % 2"


def _decimal_text(number: str) -> str:
    digits = len(str(_VALUE_SCALE)) - 1
    return (
        f"concat({number} div {_VALUE_SCALE}, '.', lpad({number} % {_VALUE_SCALE}, {digits}, '0'))"
    )


def _count_below(positions: Sequence[str], limit: int) -> str:
    if not positions or limit == 0:
        return "0L"
    return "(" + " + ".join(f"if({position} < {limit}L, 1L, 0L)" for position in positions) + ")"


@dataclass(frozen=True)
class _Permutation:
    """x -> (factor * x + shift) mod size: a bijection, because factor and size are coprime."""

    size: int
    factor: int
    shift: int

    @classmethod
    def of(cls, size: int, name: str) -> _Permutation:
        digest = hashlib.sha256(name.encode()).digest()
        # factor * x stays below 2^63, and far enough from 0 and size to spread neighbours.
        bound = min(size, (2**63 - 1) // size - 1)
        low = bound // 5
        factor = low + int.from_bytes(digest[:8], "big") % max(1, bound - 2 * low)
        factor = max(1, factor)
        while math.gcd(factor, size) != 1:
            factor += 1
        return cls(size, factor, int.from_bytes(digest[8:16], "big") % size)

    def expression(self, column: str) -> str:
        return f"pmod({self.factor}L * {column} + {self.shift}L, {self.size}L)"


# --- files --------------------------------------------------------------------


def _files(rows: int) -> int:
    """Number of files, whatever the number of cores."""
    return max(1, -(-rows // ROWS_PER_FILE))


def _write(rows: DataFrame, options: RowOptions, folder: Path) -> None:
    # An absolute path with its scheme: another default file system must not catch it.
    path = f"file://{folder.resolve()}"
    writer = rows.write.mode("overwrite").option("compression", options.compression)
    if options.file_format == "csv":
        writer.option("header", True).option("sep", options.delimiter).csv(path)
    elif options.file_format == "json":
        writer.text(path)
    else:
        writer.format(options.file_format).save(path)


def _name_files(folder: Path, options: RowOptions) -> None:
    """Names without Spark's random ids; its checksums and marker go."""
    is_text = options.file_format in ("csv", "json")
    packed = _SUFFIXES.get(options.compression or "", "") if is_text else ""
    suffix = f".{options.file_format}{packed}"
    for file in sorted(folder.iterdir()):
        if match := re.match(r"part-(\d+)-", file.name):
            file.rename(folder / f"part-{match[1]}{suffix}")
        else:
            file.unlink()


# --- options ------------------------------------------------------------------


def _problems(options: RowOptions) -> list[str]:
    file_format, shares = options.file_format, options.used_shares
    problems = []
    if not -(2**63) <= options.seed < 2**63:
        problems.append(
            f"seed is {options.seed}; accepted are whole numbers of 64 bits: give a smaller one"
        )
    for name, count in (("keys", options.keys), ("values", options.values)):
        if not 1 <= count <= 500:
            problems.append(f"{name} is {count}; accepted are 1 to 500 columns: correct it")
    problems += choice_problems("file_format", file_format, COMPRESSIONS)
    if file_format in COMPRESSIONS and options.compression not in COMPRESSIONS[file_format]:
        problems.append(
            f"compression is '{options.compression}'; accepted for {file_format} are "
            f"{', '.join(COMPRESSIONS[file_format])}: choose one of them"
        )
    if not re.fullmatch(r"[^A-Za-z0-9.\-\"\\\r\n]{1,5}", options.delimiter):
        problems.append(
            f"delimiter is {options.delimiter!r}; accepted are one to five characters that no value"
            " contains, such as ; | or a tab (no letters, digits, dots, hyphens, quotes, "
            "backslashes or line breaks): give another one"
        )
    for name, rows in (("rows", options.rows), ("delta", options.delta)):
        if rows is not None and not 1 <= rows <= MAX_ROWS:
            problems.append(
                f"{name} is {rows}; accepted are whole numbers from 1 to {MAX_ROWS:,}: correct it"
            )
    problems += day_problems(options.days, options.since)
    if options.delta is None and shares.new != shares.deleted:
        problems.append(
            f"the share of new rows is {shares.new:g}, that of deleted rows {shares.deleted:g}; "
            "a full set keeps its size: leave out the share of new rows"
        )
    problems += _share_problems(options)
    if not problems and options.delta is not None and len(options.days) > 1:
        touched, deltas = options.delta - _day(options, 1).new, len(options.days) - 1
        if touched * deltas > options.rows:
            problems.append(
                f"{deltas} deltas touch {touched:,} rows each, but there are {options.rows:,} rows "
                "and none is touched twice: give more rows, fewer days or a smaller delta"
            )
    return problems


def _share_problems(options: RowOptions) -> list[str]:
    given = asdict(options.used_shares)
    if options.delta is None:
        del given["new"]
    shown = ", ".join(f"{name} {share:g}" for name, share in given.items())
    if not all(0 <= share <= 1 for share in given.values()):
        return [f"the shares are {shown}; accepted are numbers from 0 to 1: correct them"]
    if abs(sum(given.values()) - 1) > 1e-9:
        return [
            f"the shares are {shown}, which add up to {sum(given.values()):g}; accepted are shares "
            "that add up to 1: correct them"
        ]
    return []


def _counts(rows: int, *shares: float) -> list[int]:
    """Whole numbers of rows in these shares that add up to `rows`, by rounding the running sums."""
    counts: list[int] = []
    share_so_far = Fraction(0)
    for share in shares:
        share_so_far += Fraction(str(share))
        rounded = min(rows, math.floor(rows * share_so_far + Fraction(1, 2)))
        counts.append(max(0, rounded - sum(counts)))
    return counts
