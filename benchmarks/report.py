"""The results page: tables from the measurements, and which targets they meet."""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.event_scenarios import Stream
from benchmarks.harness import Measure, machine
from benchmarks.scenarios import DELTA_ROWS, FORMAT_STEPS, MERGES, TINY
from benchmarks.summary import Line, line, named

# What stands between these lines is measured; all else in the page is written by hand and kept.
BEGIN = "<!-- measured: {} -->"
END = "<!-- end of {} -->"
Results = Mapping[str, Measure]


@dataclass(frozen=True)
class Setting:
    """What was measured, with what."""

    rows: int
    sizes: Sequence[int]
    streams: Sequence[Stream]
    repeat: int
    memory: str
    command: str
    load_average: tuple[float, float]
    spark: str
    java: str
    delta: str | None
    notes: Sequence[str]
    parse: float  # of harness.Server.parse()


CPU_AND_MEMORY = ("CPU s", "peak GiB")


def _table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return [f"| {' | '.join(str(cell) for cell in line)} |" for line in lines] + [""]


def _verdict(what: str, value: float, most: float, unit: str = "") -> str:
    if value <= most:
        return f"- {what}: **{value:.2f}{unit}**, target at most {most:g}{unit}: met."
    over = f"{(value / most - 1) * 100:.0f}%"
    return f"- {what}: **{value:.2f}{unit}**, target at most {most:g}{unit}: missed by {over}."


def _resources(measure: Measure) -> list[str]:
    """Return the cells of CPU_AND_MEMORY."""
    return [f"{statistics.median(measure.cpu):.1f}", f"{measure.memory / 2**30:.1f}"]


def _row(name: str, m: Measure, floor: float | None, fixed: Measure | None) -> list[str]:
    net = m.median - fixed.median if fixed else m.median
    parts = [f"{m.part(p):.2f}" for p in ("ledger", "audit", "commit")] if m.runs else [""] * 3
    ratio = f"{net / floor:.2f}" if floor else ""
    return [
        name,
        f"{m.median:.1f} ({m.spread})",
        f"{net:.1f}" if fixed else "",
        ratio,
        *parts,
        *_resources(m),
    ]


def _full(results: Results, setting: Setting) -> list[str]:
    fixed = results["fixed"]
    rows = [_row(f"dbt run of {TINY} rows: the fixed cost", fixed, None, None)]
    for day in (1, 2):
        floor = results[f"floor {day}"].median
        rows.append(_row(f"day {day}: floor", results[f"floor {day}"], floor, None))
        rows.append(_row(f"day {day}: (a) dbt run", results[f"dbt {day}"], floor, fixed))
        rows.append(
            _row(f"day {day}: (b) textbook, SQL alone", results[f"book {day}"], floor, None)
        )
    day, floor = results["dbt 2"], results["floor 2"].median
    net = day.median - fixed.median
    guards = 100 * day.part("audit") / day.part("all")
    return [
        f"## Full loads of {setting.rows:,} rows: floor, (a), (b)",
        "",
        "The floor reads CSV, casts, hashes and writes Parquet, with the SQL that the project"
        " compiles for staging. Day 2 keeps 40% of the rows, updates 40%, deletes 20% and adds as"
        " many. Every dbt run parses the project anew, as a run for a new business date does."
        " The textbook way is a full outer join on the hashes, once for the current table and once"
        " for the history.",
        "",
        *_table(
            ["", "seconds (range)", "less fixed cost", "× floor", "ledger", "audit", "commit",
             *CPU_AND_MEMORY],
            rows,
        ),
        "Ledger, audit and commit are the seconds of those statements, medians.",
        "",
        _verdict("Day 2 by `dbt run`, less the fixed cost, over the floor", net / floor, 2, " ×"),
        f"- The fixed cost of a dbt run: **{fixed.median:.1f} s**, of which"
        f" {fixed.part('all'):.1f} s are its {len(fixed.runs[-1].statements)} statements, the"
        " rest dbt's start, parse and end.",
        _verdict("The audit as a share of the load's statements", guards, 15, "%"),
        "",
    ]  # fmt: skip


def _deltas(results: Results, setting: Setting, suffix: str) -> list[str]:
    fixed = results[f"delta {TINY}{suffix}"]
    rows = [_row(f"dbt run of {TINY} rows: the fixed cost", fixed, None, None)]
    verdicts = []
    names = {kind: f"(d) {kind}, SQL alone" for kind in MERGES}
    for size in setting.sizes:
        ours = results[f"delta {size}{suffix}"]
        rows.append(_row(f"{size:,}: (c) dbt run", ours, None, fixed))
        merges = {k: results.get(f"{k} {size}{suffix}") for k in MERGES}
        for kind, merge in merges.items():
            if merge:
                rows.append(_row(f"{size:,}: {names[kind]}", merge, None, None))
        rows.append(
            _row(f"{size:,}: read, current view", results[f"read {size}{suffix}"], None, None)
        )
        for kind, merge in merges.items():
            if merge:
                read = results[f"read {kind} {size}{suffix}"]
                rows.append(_row(f"{size:,}: read, {kind}", read, None, None))
        best = min((m.median for m in merges.values() if m), default=None)
        if best and size == setting.sizes[-1]:
            inside = ours.part("ledger") + ours.part("audit") + ours.part("commit")
            net = ours.median - fixed.median
            met = "met" if best >= 5 * ours.median else "missed"
            verdicts += [
                f"- {size:,}: the better MERGE took {best / ours.median:.1f} × as long as our whole"
                f" command, dbt included (target 5: {met});"
                f" the MERGE in a dbt run of the same fixed cost"
                f" {(best + fixed.median) / ours.median:.1f} × as long;"
                f" statement against statements (ledger, audit and commit) {best / inside:.1f} ×;"
                f" the time less the fixed cost is {net:.1f} s.",
            ]
    if len(setting.sizes) == 2:
        small, large = (results[f"delta {size}{suffix}"].median for size in setting.sizes)
        what = f"Into {setting.sizes[1]:,} over into {setting.sizes[0]:,} rows"
        verdicts.insert(0, _verdict(what, large / small, 2, " ×"))
    return [
        f"## A delta of {DELTA_ROWS:,} rows, {'20% deletes' if suffix else 'no deletes'}: (c), (d)",
        "",
        *_table(
            ["", "seconds (range)", "less fixed cost", "× floor", "ledger", "audit", "commit",
             *CPU_AND_MEMORY],
            rows,
        ),
        *verdicts,
        "",
    ]  # fmt: skip


PARTS = ("events", "summary", "ledger", "audit", "commit", "rest")


def _event_row(name: str, m: Measure, fixed: Measure | None) -> list[str]:
    parts = [f"{m.part(p):.1f}" for p in PARTS] if m.runs else [""] * len(PARTS)
    net = f"{m.median - fixed.median:.1f}" if fixed else ""
    return [name, f"{m.median:.1f} ({m.spread})", net, *parts, *_resources(m)]


def _at_least(what: str, seconds: float, ours: float, least: float) -> str:
    if ours <= 0:
        return f"- {what}: ours is within the fixed cost, too short to tell."
    value = seconds / ours
    met = "met" if value >= least else f"missed by {(1 - value / least) * 100:.0f}%"
    return f"- {what}: **{value:.2f} ×**, target at least {least:g} ×: {met}."


def _events(results: Results, setting: Setting) -> list[str]:
    fixed = results["fixed"]
    rows = [_event_row("dbt run of 100 events: the fixed cost", fixed, None)]
    verdicts = []
    for stream in setting.streams:
        names = {
            "typed": "**(e) typed columns, `dbt run`**",
            "archived": "**(e) typed columns with archive, `dbt run`**",
            "window": "window and rewrite, SQL alone",
            "loop": "loop and rewrite, SQL alone",
            "merge": "window and MERGE into Delta, SQL alone",
            "json": "**(e) Debezium JSON, `dbt run`**",
            "parse": "floor: JSON parsed",
            "write": "floor: JSON parsed, written as Parquet",
        }
        here = {what: results.get(f"{what} {stream.title}") for what in names}
        for what, name in names.items():
            m = here[what]
            if m:
                net = fixed if what in ("typed", "archived", "json") else None
                rows.append(_event_row(f"{stream.title}: {name}", m, net))
        book, cost = here["window"].median, fixed.median
        if here["typed"]:
            ours = here["typed"].median
            least = 0.7 if stream.partial and stream.per_key > 1 else 1.25
            what = f"{stream.title}: the window over typed events"
            verdicts.append(_at_least(f"{what}, less the fixed cost", book, ours - cost, least))
            verdicts.append(f"- {what}, dbt included: {book / ours:.2f} ×.")
            if here["loop"] and ours > cost:
                ratio = here["loop"].median / (ours - cost)
                verdicts.append(
                    f"- {stream.title}: the loop over typed events, less the fixed cost:"
                    f" {ratio:.2f} ×."
                )
            if here["merge"]:
                what = f"{stream.title}: window and MERGE over typed events, less the fixed cost"
                verdicts.append(_at_least(what, here["merge"].median, ours - cost, 1))
        if here["archived"]:
            what = f"{stream.title}: the window over archived events, less the fixed cost"
            verdicts.append(_at_least(what, book, here["archived"].median - cost, 0.7))
        if here["json"]:
            ratio = (here["json"].median - cost) / (here["parse"].median + book)
            what = f"{stream.title}: JSON, less the fixed cost, over parse, window and rewrite"
            verdicts.append(_verdict(what, ratio, 1.7, " ×"))
            if here["merge"]:
                what = f"{stream.title}: parse, window and MERGE over JSON, less the fixed cost"
                by_hand = here["parse"].median + here["merge"].median
                verdicts.append(_at_least(what, by_hand, here["json"].median - cost, 1))
    most = max(results.values(), key=lambda m: m.memory)
    first, last = setting.streams[0], setting.streams[-1]
    return [
        f"## Change events into {first.prior:,} rows: (e)",
        "",
        f"{first.events:,} events over {first.keys:,} keys, and {last.events:,} over as many; nine"
        " keys in ten are in the table before, one in 20 is deleted. Partial rows: every second"
        " update has Debezium's mark in place of its longest text. The same events as Parquet with"
        " a flag (`flagged_rows`) and as Debezium's JSON. *Window*: `row_number` over all events of"
        " the Parquet files, the last of each key joined with the table (full outer), the whole"
        " table written anew. *Loop*: events are ranked and each second one of a key takes in the"
        " one before it, until the count stands still; then the same rewrite. *MERGE*: the last of"
        " each key into a Delta table with deletion vectors and change feed, on a server of its"
        " own. *Floor*: `from_json` with a type that names every field, once; then a hash over all"
        " columns, or Parquet. All else runs in one server, in turns; the states that come out are"
        " compared after each turn. Every load replaces the one before, so it finds the same"
        " state.",
        "",
        *_table(
            ["", "seconds (range)", "less fixed cost", *PARTS, *CPU_AND_MEMORY],
            rows,
        ),
        "Events, summary, ledger, audit and commit are the seconds of those statements, medians;"
        " rest is plan, catalogue, views and log.",
        "",
        *verdicts,
        f"- Highest resident memory of the server: **{most.memory / 2**30:.1f} GiB**, with a heap"
        f" of {setting.memory}; no run failed for memory.",
        "",
    ]  # fmt: skip


def _formats(results: Results, setting: Setting) -> list[str]:
    names = [name.removeprefix("day 1 ") for name in results if name.startswith("day 1 ")]
    rows = []
    for name in names:
        cells = []
        for step in FORMAT_STEPS:
            here, first = results[f"{step} {name}"], results[f"{step} {names[0]}"]
            cpu = statistics.median(here.cpu)
            ratio = cpu / statistics.median(first.cpu)
            cells += [f"{here.median:.1f}", f"{cpu:.1f}", f"{ratio:.2f}"]
        rows.append([name, *cells])
    headings = [f"{step}: {what}" for step in FORMAT_STEPS for what in ("s", "CPU s", "×")]
    return [
        f"### Ledgers of {len(names)} formats",
        "",
        f"Full loads of {setting.rows:,} rows (day 2: 40% updated, 20% deleted, 20% new), a delta"
        f" of {DELTA_ROWS:,} into as many, and a read of the current view after it, by whole `dbt"
        " run`s into ledgers of each format. Delta and Iceberg have servers of their own; CPU"
        f" seconds are the server's, and × is their ratio to {names[0]}.",
        "",
        *_table(["", *headings], rows),
    ]


def sections(results: Results, setting: Setting) -> dict[str, str]:
    """Return what was measured as Markdown, part by part of the page."""
    here = machine()
    measured = [
        f"Measured on {dt.date.today()} by `{setting.command}`: {here['cores']} cores"
        f" ({here['processor']}), {here['memory']}, Spark {setting.spark}, Java {setting.java}"
        + (f", Delta Lake {setting.delta}" if setting.delta else "")
        + f"; heap of each server {setting.memory}; local disk. "
        + (f"Medians of {setting.repeat} runs" if setting.repeat > 1 else "One run of each")
        + " after one that warms up, the compared ones in turn. Load average of the machine before"
        f" and after: {setting.load_average[0]:.1f} and {setting.load_average[1]:.1f}.",
        "",
        *[f"Note: {note}\n" for note in setting.notes],
    ]
    memory = [
        "CPU s are those of the server process, user's and system's, medians. Peak memory is its"
        " highest resident size during the measurement; a JVM keeps what it once took, so it says"
        " more about the heap's limit than about the need.",
        "",
    ]
    parts: dict[str, list[str]] = {}
    if "dbt 2" in results:
        parts["full"] = _full(results, setting)
    if f"delta {TINY}" in results:
        deltas = _deltas(results, setting, "") + _deltas(results, setting, " deletes")
        if any(name.startswith("MERGE") for name in results):
            deltas += [
                "(d) has change data feed on, and merges the same typed and hashed rows on"
                " `key_hash`, where `nonkey_hash` differs. Reads add up one column and count"
                " another of the whole state. After every delta the three states are compared.",
                "",
            ]
        parts["deltas"] = deltas
    if any(name.startswith("day 1 ") for name in results):
        parts["formats"] = _formats(results, setting)
    if any(name.startswith("window") for name in results):
        parts[f"events {setting.streams[0].events}"] = _events(results, setting)
    return {
        name: "\n".join([*lines[:2], *measured, *lines[2:], *memory])
        for name, lines in parts.items()
    }


def summary(results: Results, setting: Setting) -> list[Line]:
    """Return what stands in the first table: CPU seconds, the fixed cost of ours taken off."""

    def cpu(name: str) -> float:
        return statistics.median(results[name].cpu)

    def compare(what: str, rival: str, ours: str, *theirs: str) -> Line:
        total = sum(map(cpu, theirs))
        ours_alone = cpu(ours) - cpu("fixed")
        return line(what, rival, ours_alone, total, "CPU s", setting.command, setting.parse)

    lines = []
    if "dbt 2" in results:
        what = f"Full snapshot, {named(setting.rows)} rows, 40% changed"
        lines.append(compare(what, "full outer join and rewrite by hand", "dbt 2", "book 2"))
    for stream in setting.streams if any(name.startswith("window") for name in results) else ():
        if stream.partial:
            continue
        for kind, called, parse in (
            ("typed", "typed events", ""), ("json", "Debezium messages", "parse"),
        ):  # fmt: skip
            what = (
                f"{named(stream.events)} {called}, {stream.per_key} per key,"
                f" into {named(stream.prior)} rows"
            )
            for rival, way in (("merge", "MERGE into Delta"), ("window", "rewrite")):
                by = f"{parse and 'parse, '}window and {way}, no history"
                names = [f"{one} {stream.title}" for one in (kind, rival, parse) if one]
                if all(name in results for name in names):
                    lines.append(compare(what, by, *names))
    return lines


# parts by their first word: the page that has them
PAGES = {
    "full": "full_loads.md",
    "deltas": "deltas.md",
    "events": "events.md",
    "formats": "formats.md",
}


def write(folder: Path, parts: Mapping[str, str]) -> None:
    """Put what was measured into its page, in place of what was measured before."""
    for name, part in parts.items():
        page = folder / PAGES[name.split()[0]]
        text = page.read_text() if page.exists() else "# Benchmarks\n"
        begin, end = BEGIN.format(name), END.format(name)
        block = f"{begin}\n{part}{end}"
        if begin in text:
            before, _, after = text.partition(begin)
            text = before + block + after.partition(end)[2]
        else:
            text = f"{text.rstrip()}\n\n{block}\n"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
