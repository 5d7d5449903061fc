"""`python -m benchmarks.summary`: the first table of docs/benchmarks.md, and its chart.

Both come from docs/benchmarks/summary.yml, a line per comparison. `make bench` and the other
benchmarks put what they measure in there, each under its name, and what they don't measure stays.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

import yaml
from benchmarks.harness import machine

from spark_cdc import project

DATA, PAGE, CHART = (
    f"docs/{name}"
    for name in ("benchmarks/summary.yml", "benchmarks.md", "pictures/benchmarks.svg")
)
BEGIN, END = "<!-- measured: summary -->", "<!-- end of summary -->"
HEADINGS = (
    *("What is loaded", "By", "Ours", "Theirs", "Theirs ÷ ours", "`from_json`, CPU s"),
    *("Command", "Date, machine"),
)


@dataclass(frozen=True)
class Line:
    """One comparison: what it took us, and what it took the rival, in the same unit."""

    what: str
    rival: str
    ours: float
    theirs: float
    unit: str  # "CPU s" of the server, or "s"
    command: str
    date: str
    machine: str
    parse: float | None = None  # of harness.Server.parse() on that machine; not of older lines

    @property
    def ratio(self) -> float:
        """Return how many times as much the rival takes; above 1 ours is better."""
        return self.theirs / self.ours


def line(
    what: str, rival: str, ours: float, theirs: float, unit: str, command: str, parse: float
) -> Line:
    """Return a comparison that was measured now, here. parse: of harness.Server.parse()."""
    here = machine()
    seen = f"{here['cores']} cores ({here['processor']}), {here['memory']}"
    return Line(
        *(what, rival, round(ours, 1), round(theirs, 1), unit, command),
        *(str(dt.date.today()), seen, round(parse, 1)),
    )


def named(count: int) -> str:
    """Return a number as the table says it: 10M, 200,000."""
    return f"{count // 1_000_000}M" if count % 1_000_000 == 0 else f"{count:,}"


def read(root: Path) -> dict[tuple[str, str], Line]:
    """Return all comparisons, by what is loaded and by what."""
    lines = [Line(**one) for one in yaml.safe_load((root / DATA).read_text("utf-8"))]
    return {(one.what, one.rival): one for one in lines}


def update(root: Path, *measured: Line) -> None:
    """Put comparisons in the place of older ones of the same name, and write table and chart."""
    lines = read(root) | {(one.what, one.rival): one for one in measured}
    text = yaml.safe_dump([asdict(one) for one in lines.values()], sort_keys=False, width=100)
    (root / DATA).write_text(text, encoding="utf-8")
    page = (root / PAGE).read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    page = f"{before}{BEGIN}\n{table(lines)}\n{END}{rest.partition(END)[2]}"
    (root / PAGE).write_text(page, encoding="utf-8")
    (root / CHART).write_text(chart(lines), encoding="utf-8")


def table(lines: Mapping[tuple[str, str], Line]) -> str:
    """Return the table as Markdown."""
    rows = [HEADINGS, ("---", "---", "---:", "---:", "---:", "---:", "---", "---")]
    for one in lines.values():
        cost = (f"{value:g} {one.unit}" for value in (one.ours, one.theirs))
        parse = f"{one.parse:g}" if one.parse else ""
        seen = f"{one.date}, {one.machine}"
        told = (f"**{one.ratio:.2g}**", parse, f"`{one.command}`", seen)
        rows.append((one.what, one.rival, *cost, *told))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


# Colours that keep their contrast on white and on black.
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#24292f}.small{font-size:11px;fill:#57606a}"
    ".better{fill:#2da44e}.worse{fill:#bc4c00}line{stroke:#57606a}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#8d96a0}}"
)
WIDTH, ROW, LEFT, RIGHT = 920, 40, 430, 60


def chart(lines: Mapping[tuple[str, str], Line]) -> str:
    """Return the ratios as bars on a logarithmic scale: to the right where ours is better."""
    logs = [math.log(one.ratio) for one in lines.values()]
    low, high = min(0.0, *logs), max(0.0, *logs)
    unit = (WIDTH - LEFT - RIGHT) / ((high - low) or 1)
    zero = LEFT - low * unit
    height = ROW * len(lines) + 46
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        " aria-labelledby='t d'>",
        "<title id='t'>How many times as much the others take</title>"
        "<desc id='d'>Bars on a logarithmic scale. To the right of the line, where the other way"
        " takes more than ours; to the left, where it takes less. The table beside the chart has"
        " the same figures.</desc>",
        f"<style>{STYLE}</style>",
        f'<text x="{zero:.0f}" y="16" text-anchor="middle" class="small">as much as ours</text>',
        f'<line x1="{zero:.0f}" x2="{zero:.0f}" y1="22" y2="{height - 24}"/>',
    ]
    for number, (one, log) in enumerate(zip(lines.values(), logs, strict=True)):
        y = 26 + ROW * number
        start, length = zero + min(0.0, log) * unit, max(1.0, abs(log) * unit)
        side, end = ("better", start + length) if log >= 0 else ("worse", zero)
        parts += [
            f'<text x="0" y="{y + 14}">{escape(one.what)}</text>',
            f'<text x="0" y="{y + 29}" class="small">{escape(one.rival)}</text>',
            f'<rect class="{side}" x="{start:.0f}" y="{y + 5}" width="{length:.0f}" height="22"/>',
            f'<text x="{end + 6:.0f}" y="{y + 21}">{one.ratio:.2g} ×</text>',
        ]
    parts.append(
        f'<text x="0" y="{height - 8}" class="small">CPU seconds of the Spark server, or seconds'
        " where the table says so; logarithmic</text>"
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    update(project.root())
