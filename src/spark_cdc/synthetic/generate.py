"""`spark-cdc generate`: synthetic sources, of rows or of change events."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from spark_cdc import business_date, console, parsing, parts, project
from spark_cdc.synthetic import settings
from spark_cdc.synthetic.events import EventOptions, LoadCounts, generate_events
from spark_cdc.synthetic.options import is_date
from spark_cdc.synthetic.rows import Day, RowOptions, generate_rows


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    preset: str
    settings: Path | None
    out: Path | None
    days: list[str] | None
    rows: int | None
    seed: int | None


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `generate` to the command line."""
    presets = ", ".join(f"{name} ({one.text})" for name, one in settings.PRESETS.items())
    parser = parsing.add_command(
        subparsers,
        "generate",
        "write synthetic source files",
        f"Presets: {presets}. A file changes their settings (docs/generate_events.md). The same"
        " options give the same bytes.",
        "spark-cdc generate --preset deltas --rows 1000 --days 2024-03-01..2024-03-07",
    )
    add = parser.add_argument
    add("--preset", choices=[*settings.PRESETS], default="full", help="default %(default)s")
    add("--settings", type=Path, metavar="FILE", help="YAML, such as delta: 50")
    add("--out", type=Path, metavar="DIR", help="default: below .spark_cdc/landing of the project")
    add(
        "--days",
        nargs="+",
        metavar="DATE",
        help="dates, or a range such as 2024-01-01..2024-01-31 (default: from 2019-06-18)",
    )
    add("--rows", type=_whole, metavar="N", help="rows of the first date")
    add("--seed", type=int, metavar="N", help="default 42")
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Write rows or events."""
    parts.require("synthetic", "spark-cdc generate")
    given: dict[str, object] = {
        name: value
        for name, value in (("rows", arguments.rows), ("seed", arguments.seed))
        if value is not None
    }
    if arguments.days is not None:
        given["days"] = _expand_days(arguments.days)
    if arguments.out is not None:
        given["out"] = arguments.out
    options = settings.options(arguments.preset, settings.read(arguments.settings), **given)
    if arguments.out is None:
        options = replace(options, out=project.root_or_here() / options.out)
    if isinstance(options, RowOptions):
        generate_rows(options, progress=_step)
        return 0
    assert isinstance(options, EventOptions)
    for count in generate_events(options, progress=console.Step):
        print(f"  {_shown(count)}")
    return 0


def _whole(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))


_whole.__name__ = "whole number"


def _expand_days(texts: Sequence[str]) -> list[str]:
    """Single dates, lists with commas and ranges; what is no date is left for the check to name."""
    days = []
    for text in ",".join(texts).split(","):
        first, dots, last = text.strip().partition("..")
        if dots and is_date(first) and is_date(last) and first <= last:
            days += business_date.expand(first, last)
        elif text.strip():
            days.append(text.strip())
    return days


def _step(day: Day) -> AbstractContextManager[object]:
    changes = ", ".join(
        f"{count:,} {name}"
        for name in ("unchanged", "updated", "deleted", "new")
        if (count := getattr(day, name))
    )
    path = day.path
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return console.Step(f"{path}: {day.rows:,} rows ({changes})")


def _shown(counts: LoadCounts) -> str:
    day, *numbers = asdict(counts).items()
    texts = [f"{value:,} {name.replace('_', ' ')}" for name, value in numbers if value]
    return f"{day[1]}: {', '.join(texts)}"
