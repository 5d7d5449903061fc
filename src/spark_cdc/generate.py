"""Synthetic sources: full snapshots of several days, or a full set followed by deltas.

Nothing is drawn at random and nothing is remembered from day to day: every row follows by
arithmetic from the seed, so a day is one pass over `spark.range`, without shuffle, sort or collect.

The population has as many slots as rows; a slot is always occupied.

*Full* (`generate_synthetic`): on each day after the first, a bijective permutation of the slots,
another one each day, gives every slot a position. The lowest positions are deleted and their slots
taken by new rows, the next ones are updated, the rest stays. The shares are therefore exact, and
spread over the set. A slot's `generation` counts how often it was taken by a new row, its `version`
how often it was taken or updated.

*Deltas* (`generate_delta`): one permutation for all days. Each delta takes the next window of
positions, so that no row is touched twice, and its new rows get slots beyond the first day's. A
delta costs what its own rows cost, however large the population is.

Keys are hashed from (seed, slot, generation), values from (seed, slot, version). The last digit of
a value has the parity of `version`, so that an update changes every value with certainty.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from spark_cdc import console, generate_events, project
from spark_cdc.errors import SparkCdcError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DEFAULT_OUT = Path(".spark_cdc/landing/synthetic")
DEFAULT_DAYS = ("2019-06-18", "2019-06-19")
ROWS_PER_FILE = 250_000
MAX_ROWS = 10_000_000_000

# The first of each is the default.
COMPRESSIONS = {
    "csv": ("none", "gzip", "bzip2"),
    "json": ("none", "gzip", "bzip2"),
    "parquet": ("snappy", "none", "gzip", "zstd"),
    "orc": ("snappy", "none", "zlib", "zstd"),
}
_SUFFIXES = {"gzip": ".gz", "bzip2": ".bz2"}

# Parquet lists encodings in the order of a hash set of objects that have no hash of their own,
# which differs from run to run; with one hash for all, the set keeps the order of insertion.
_SAME_ORDER = "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockExperimentalVMOptions -XX:hashCode=2"

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
class Day:
    """What was written for one business date; a full set's `rows` are unchanged + updated + new."""

    business_date: str
    path: Path
    rows: int
    unchanged: int
    updated: int
    deleted: int
    new: int


Progress = Callable[[Day], AbstractContextManager]


@dataclass(frozen=True)
class Shape:
    """Columns and files of a set."""

    seed: int
    keys: int
    values: int
    fmt: str
    compression: str
    delimiter: str


def generate_synthetic(
    out: Path = DEFAULT_OUT,
    rows: int = 10_000,
    days: Sequence[str] = DEFAULT_DAYS,
    seed: int = 42,
    fmt: str = "csv",
    *,
    shares: Shares = FULL_SHARES,
    keys: int = 5,
    values: int = 10,
    compression: str | None = None,
    delimiter: str = ",",
    since: str | None = None,
    spark: SparkSession | None = None,
    memory: str = "1g",
    progress: Progress = nullcontext,
) -> list[Day]:
    """Write a full snapshot per day to `<out>/<day>/`.

    The same arguments give the same bytes. A day that was there is replaced as a whole.

    Args:
        rows: rows of every day (as many are new as are deleted).
        days: business dates (YYYY-MM-DD), ascending.
        seed: another seed gives other keys, values and roles.
        fmt: csv, json, parquet or orc.
        shares: what becomes of the rows of the day before; `new` equals `deleted`.
        keys: number of uuid columns key1, key2, ...
        values: number of double columns value1, value2, ...
        since: write this day and the later ones only.
        spark: session to use; without it the active one, or one that ends with the call.
        memory: of a session that is started here.
        progress: called with each day; the day is written within the context that it returns.

    Raises:
        SparkCdcError: an argument is not accepted; the message names all that are not.
    """
    shape = _shape(seed, keys, values, fmt, compression, delimiter)
    refuse(
        _shape_problems(shape)
        + _rows_problems("rows", rows)
        + day_problems(days, since)
        + _full_share_problems(shares)
    )
    deleted, updated, unchanged = _counts(rows, shares.deleted, shares.updated, shares.unchanged)

    def writers() -> Iterator[tuple[Day, Callable[[SparkSession], DataFrame]]]:
        for index, day in enumerate(days):
            counts = (0, 0, 0, rows) if index == 0 else (unchanged, updated, deleted, deleted)
            steps = range(1, index + 1)
            yield (
                Day(day, out / day, rows, *counts),
                lambda session, steps=steps: _full_rows(
                    session, shape, rows, steps, deleted, updated
                ),
            )

    return _write_days(writers(), shape, out, since, spark, memory, progress)


def generate_delta(
    out: Path = DEFAULT_OUT,
    rows: int = 10_000,
    delta: int = 1_000,
    days: Sequence[str] = DEFAULT_DAYS,
    seed: int = 42,
    fmt: str = "csv",
    *,
    shares: Shares = DELTA_SHARES,
    keys: int = 5,
    values: int = 10,
    compression: str | None = None,
    delimiter: str = ",",
    since: str | None = None,
    spark: SparkSession | None = None,
    memory: str = "1g",
    progress: Progress = nullcontext,
) -> list[Day]:
    """Write the whole set on the first day and `delta` rows on each following one.

    If rows are deleted, every file has a column `op` with I, U or D; an unchanged row is sent as U,
    and a deleted one with its last values. The first day equals that of `generate_synthetic`, but
    for `op`.

    Args:
        rows: rows of the first day.
        delta: rows of each following day.
        shares: shares of a delta's rows.
        since: write this day and the later ones only, such as deltas beside a set written before.

    The others are those of `generate_synthetic`.

    Raises:
        SparkCdcError: an argument is not accepted; the message names all that are not.
    """
    shape = _shape(seed, keys, values, fmt, compression, delimiter)
    problems = (
        _shape_problems(shape)
        + _rows_problems("rows", rows)
        + _rows_problems("delta", delta)
        + day_problems(days, since)
        + _share_problems(shares, ("unchanged", "updated", "deleted", "new"))
    )
    refuse(problems)
    deleted, updated, unchanged, new = _counts(
        delta, shares.deleted, shares.updated, shares.unchanged, shares.new
    )
    touched = deleted + updated + unchanged
    if touched * (len(days) - 1) > rows:
        refuse(
            [
                f"{len(days) - 1} deltas touch {touched:,} rows each, but there are {rows:,} rows "
                "and none is touched twice: give more rows, fewer days or a smaller delta"
            ]
        )
    with_op = deleted > 0

    def writers() -> Iterator[tuple[Day, Callable[[SparkSession], DataFrame]]]:
        for index, day in enumerate(days):
            if index == 0:
                yield (
                    Day(day, out / day, rows, 0, 0, 0, rows),
                    lambda session: _full_rows(session, shape, rows, (), 0, 0, with_op),
                )
            else:
                yield (
                    Day(day, out / day, delta, unchanged, updated, deleted, new),
                    lambda session, step=index: _delta_rows(
                        session, shape, rows, step, deleted, updated, unchanged, new
                    ),
                )

    return _write_days(writers(), shape, out, since, spark, memory, progress)


# --- rows ---------------------------------------------------------------------


def _full_rows(
    session: SparkSession,
    shape: Shape,
    rows: int,
    steps: Sequence[int],
    deleted: int,
    updated: int,
    with_op: bool = False,
) -> DataFrame:
    """The set after `steps`, in the order of its slots."""
    positions = [
        _Permutation.of(rows, f"{shape.seed}|roles|{step}").expression("id") for step in steps
    ]
    slots = session.range(0, rows, 1, _files(rows)).selectExpr(
        "id as slot",
        _count_below(positions, deleted) + " as generation",
        _count_below(positions, deleted + updated) + " as version",
        *(["'I' as op"] if with_op else []),
    )
    return _columns(slots, shape, with_op)


def _delta_rows(
    session: SparkSession,
    shape: Shape,
    rows: int,
    step: int,
    deleted: int,
    updated: int,
    unchanged: int,
    new: int,
) -> DataFrame:
    """The rows of the delta number `step` (from 1), its operations mixed."""
    total = deleted + updated + unchanged + new
    touched = total - new
    mixed = _Permutation.of(total, f"{shape.seed}|order|{step}").expression("id")
    slot_of = _Permutation.of(rows, f"{shape.seed}|touched")
    first = (step - 1) * touched
    slots = (
        session.range(0, total, 1, _files(total))
        .selectExpr(f"{mixed} as place")
        .selectExpr(
            f"case when place < {touched} then {slot_of.expression(f'(place + {first}L)')} "
            f"else place + {rows - touched + (step - 1) * new}L end as slot",
            "0L as generation",
            f"if(place >= {deleted} and place < {deleted + updated}, 1L, 0L) as version",
            f"case when place < {deleted} then 'D' when place < {touched} then 'U' "
            "else 'I' end as op",
        )
    )
    return _columns(slots, shape, with_op=deleted > 0)


def _columns(slots: DataFrame, shape: Shape, with_op: bool) -> DataFrame:
    """Keys and values of (slot, generation, version, op), as the format wants them written."""
    keys = [f"key{i}" for i in range(1, shape.keys + 1)]
    numbers = [f"value{i}" for i in range(1, shape.values + 1)]
    op = ["op"] if with_op else []

    hashed = slots.selectExpr(
        *(f"md5(concat('{shape.seed}|{key}|', slot, '|', generation)) as {key}" for key in keys),
        *(f"{_number(shape.seed, number)} as {number}" for number in numbers),
        *op,
    )
    columns = {key: _uuid(key) for key in keys}
    if shape.fmt in ("parquet", "orc"):
        columns |= {number: f"{number} / {_VALUE_SCALE}d" for number in numbers}
    else:
        columns |= {number: _decimal_text(number) for number in numbers}
    columns |= {name: name for name in op}
    typed = hashed.selectExpr(*(f"{sql} as {name}" for name, sql in columns.items()))
    if shape.fmt != "json":
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


def _write_days(
    writers: Iterator[tuple[Day, Callable[[SparkSession], DataFrame]]],
    shape: Shape,
    out: Path,
    since: str | None,
    spark: SparkSession | None,
    memory: str,
    progress: Progress,
) -> list[Day]:
    written = []
    with open_session(spark, memory) as session:
        for day, rows_of in writers:
            if since is not None and day.business_date < since:
                continue
            target = out / day.business_date
            with progress(day), generate_events.replaced_folder(target) as folder:
                _write(rows_of(session), shape, folder)
                _name_files(folder, shape)
            written.append(day)
    return written


def _write(rows: DataFrame, shape: Shape, folder: Path) -> None:
    # An absolute path with its scheme: another default file system must not catch it.
    path = f"file://{folder.resolve()}"
    writer = rows.write.mode("overwrite").option("compression", shape.compression)
    if shape.fmt == "csv":
        writer.option("header", True).option("sep", shape.delimiter).csv(path)
    elif shape.fmt == "json":
        writer.text(path)
    else:
        writer.format(shape.fmt).save(path)


def _name_files(folder: Path, shape: Shape) -> None:
    """Names without Spark's random ids; its checksums and marker go."""
    is_text = shape.fmt in ("csv", "json")
    suffix = f".{shape.fmt}" + (_SUFFIXES.get(shape.compression, "") if is_text else "")
    for file in sorted(folder.iterdir()):
        if match := re.match(r"part-(\d+)-", file.name):
            file.rename(folder / f"part-{match[1]}{suffix}")
        else:
            file.unlink()


@contextmanager
def open_session(spark: SparkSession | None, memory: str) -> Iterator[SparkSession]:
    """`spark`, the active session, or a new one that ends with the block."""
    from pyspark.sql import SparkSession

    existing = spark or SparkSession.getActiveSession()
    if existing is not None:
        yield existing
        return
    session = start_session(memory)
    try:
        yield session
    finally:
        session.stop()


def start_session(memory: str = "1g") -> SparkSession:
    """Start a quiet Spark in this process, on the loopback interface only; its clock is UTC."""
    refuse(
        []
        if re.fullmatch(r"[1-9][0-9]*[mgMG]", memory)
        else [f"memory is '{memory}'; accepted are megabytes or gigabytes, such as 2g: correct it"]
    )
    from spark_cdc import java

    os.environ.update(java.environment(_project_root() / ".spark_cdc"))
    from pyspark.sql import SparkSession

    log_settings = (Path(__file__).parent / "templates" / "log4j2-quiet.properties").as_uri()
    session = (
        SparkSession.builder.appName("spark-cdc generate")
        .master("local[*]")
        .config("spark.driver.memory", memory)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        .config(
            "spark.driver.extraJavaOptions",
            f"-Duser.timezone=UTC -Dlog4j2.configurationFile={log_settings} {_SAME_ORDER}",
        )
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


# --- arguments ----------------------------------------------------------------


def _shape(
    seed: int, keys: int, values: int, fmt: str, compression: str | None, delimiter: str
) -> Shape:
    default = COMPRESSIONS.get(fmt, ("none",))[0]
    return Shape(seed, keys, values, fmt, compression or default, delimiter)


def refuse(problems: Sequence[str]) -> None:
    if problems:
        raise SparkCdcError(
            "Nothing was generated:\n" + "\n".join(f"  - {problem}" for problem in problems),
            "Correct the options; `spark-cdc generate --help` lists them.",
        )


def _shape_problems(shape: Shape) -> list[str]:
    problems = []
    if not -(2**63) <= shape.seed < 2**63:
        problems.append(
            f"seed is {shape.seed}; accepted are whole numbers of 64 bits: give a smaller one"
        )
    for name, count, least in (("keys", shape.keys, 1), ("values", shape.values, 1)):
        if not least <= count <= 500:
            problems.append(f"{name} is {count}; accepted are {least} to 500 columns: correct it")
    if shape.fmt not in COMPRESSIONS:
        problems.append(
            f"format is '{shape.fmt}'; accepted are {', '.join(COMPRESSIONS)}: choose one of them"
        )
    elif shape.compression not in COMPRESSIONS[shape.fmt]:
        problems.append(
            f"compression is '{shape.compression}'; accepted for {shape.fmt} are "
            f"{', '.join(COMPRESSIONS[shape.fmt])}: choose one of them"
        )
    if not re.fullmatch(r"[^A-Za-z0-9.\-\"\\\r\n]{1,5}", shape.delimiter):
        problems.append(
            f"delimiter is {shape.delimiter!r}; accepted are one to five characters that no value "
            "contains, such as ; | or a tab (no letters, digits, dots, hyphens, quotes, "
            "backslashes or line breaks): give another one"
        )
    return problems


def _rows_problems(name: str, rows: int) -> list[str]:
    if 1 <= rows <= MAX_ROWS:
        return []
    return [f"{name} is {rows}; accepted are whole numbers from 1 to {MAX_ROWS:,}: correct it"]


def day_problems(days: Sequence[str], since: str | None) -> list[str]:
    problems = [
        f"'{day}' is not a date; accepted are dates such as 2019-06-18: correct it"
        for day in (*days, *([since] if since is not None else []))
        if not _is_date(day)
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


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _full_share_problems(shares: Shares) -> list[str]:
    problems = _share_problems(shares, ("unchanged", "updated", "deleted"))
    if shares.new != shares.deleted:
        problems.append(
            f"the share of new rows is {shares.new:g}, that of deleted rows {shares.deleted:g}; "
            "a full set keeps its size: leave out the share of new rows"
        )
    return problems


def _share_problems(shares: Shares, names: Sequence[str]) -> list[str]:
    given = {name: getattr(shares, name) for name in names}
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


# --- command ------------------------------------------------------------------


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "generate",
        help="write synthetic source files",
        description="Write a full set of rows per day (default), one full set and then deltas, or "
        "change events with the true state after each load (--events). The same options give the "
        "same bytes.",
    )
    parser.add_argument("--out", type=Path, help=f"folder (default {DEFAULT_OUT} in the project)")
    parser.add_argument(
        "--rows",
        type=_whole,
        help="rows of the first day (default 10000; with --events as many as keys)",
    )
    parser.add_argument(
        "--days",
        nargs="+",
        metavar="DATE",
        help=f"dates, or a range such as 2024-01-01..2024-01-31 (default {' '.join(DEFAULT_DAYS)})",
    )
    parser.add_argument("--since", metavar="DATE", help="write only this day and later ones")
    parser.add_argument("--seed", type=int, default=42, help="default 42")
    parser.add_argument("--format", dest="fmt", default="csv", help=", ".join(COMPRESSIONS))
    parser.add_argument("--compression", help="none, gzip, ...; the default depends on the format")
    parser.add_argument(
        "--delimiter", default=",", help="of CSV; \\t is a tab (default %(default)s)"
    )
    parser.add_argument(
        "--keys",
        type=_whole,
        help="number of uuid columns (default 5); with --events the keys that they touch (1000)",
    )
    parser.add_argument("--values", type=int, help="number of double columns (default 10)")
    parser.add_argument(
        "--delta",
        type=_whole,
        metavar="N",
        help="after the first day, write only N rows a day; with a column op if some are deleted",
    )
    for name in ("unchanged", "updated", "deleted", "new"):
        parser.add_argument(
            f"--{name}",
            type=float,
            metavar="SHARE",
            help=f"share of {name} rows (default {getattr(FULL_SHARES, name):g}; "
            f"of a delta's rows {getattr(DELTA_SHARES, name):g})",
        )
    parser.add_argument("--memory", default="1g", help="memory of Spark (default %(default)s)")
    generate_events.add_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.events is not None:
        out = args.out or _project_root() / generate_events.DEFAULT_OUT
        return generate_events.run(args, out, _expand_days(args.days or ()))
    generate_events.refuse_arguments(args)
    options = {
        "out": args.out or _project_root() / DEFAULT_OUT,
        "rows": 10_000 if args.rows is None else args.rows,
        "days": _expand_days(args.days or DEFAULT_DAYS),
        "seed": args.seed,
        "fmt": args.fmt,
        "shares": _shares(args),
        "keys": 5 if args.keys is None else args.keys,
        "values": 10 if args.values is None else args.values,
        "compression": args.compression,
        "delimiter": args.delimiter.replace("\\t", "\t"),
        "since": args.since,
        "memory": args.memory,
        "progress": _step,
    }
    if args.delta is None:
        generate_synthetic(**options)
    else:
        generate_delta(delta=args.delta, **options)
    return 0


def _whole(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))


_whole.__name__ = "whole number"


def _shares(args: argparse.Namespace) -> Shares:
    """The shares given, completed with the defaults; in a full set `new` follows `deleted`."""
    given = {
        name: getattr(args, name)
        for name in ("unchanged", "updated", "deleted", "new")
        if getattr(args, name) is not None
    }
    defaults = dict(vars(FULL_SHARES if args.delta is None else DELTA_SHARES))
    if args.delta is None:
        defaults["new"] = given.get("deleted", defaults["deleted"])
    return Shares(**(defaults | given))


def _expand_days(texts: Sequence[str]) -> list[str]:
    """Single dates, lists with commas and ranges; what is no date is left for the check to name."""
    days = []
    for text in ",".join(texts).split(","):
        first, dots, last = text.strip().partition("..")
        if dots and _is_date(first) and _is_date(last) and first <= last:
            start = date.fromisoformat(first)
            length = (date.fromisoformat(last) - start).days + 1
            days += [(start + timedelta(days=offset)).isoformat() for offset in range(length)]
        elif text.strip():
            days.append(text.strip())
    return days


def _project_root() -> Path:
    """The project's folder; outside of a project the current one."""
    try:
        return project.root()
    except SparkCdcError:
        return Path.cwd()


def _step(day: Day) -> AbstractContextManager:
    changes = ", ".join(
        f"{count:,} {name}"
        for name in ("unchanged", "updated", "deleted", "new")
        if (count := getattr(day, name))
    )
    path = day.path
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return console.Step(f"{path}: {day.rows:,} rows ({changes})")
