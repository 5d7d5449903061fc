"""What the report says of an entity, worked out of its rows in cdc_loads and its manifest.

Nothing is read here: data in, data out, in the form in which the page holds them.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import statistics
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from spark_cdc import outstanding

KINDS = ("committed", "squashed", "superseded", "undone", "refused", "acknowledged")
COUNTED = ("committed", "squashed")  # which a load has to be for its rows to be there
MOVES = ("compact", "undo", "redo", "vacuum")  # rows of cdc_loads that are no loads
NEAR = 0.8  # of what a guard accepts
RECENT = 10  # loads in which a guard that was near is told first
SHARES = {
    "deleted_share": "rows_deleted",
    "updated_share": "rows_updated",
    "inserted_share": "rows_inserted",
}
# Columns of the page, by those of cdc_loads.
COLUMNS = {
    "time": "business_time",
    "load": "load_id",
    "type": "load_type",
    "rows_in": "rows_in",
    "I": "rows_inserted",
    "U": "rows_updated",
    "D": "rows_deleted",
    "N": "rows_unchanged",
    "X": "rows_not_supplied",
    "rejected": "rows_rejected",
    "late": "events_late",
    "current": "rows_current",
    "seconds": "duration_seconds",
    "files": "input_files",
    "bytes": "input_bytes",
    "arrived": "committed_at",
    "guard": "guard",
    "message": "message",
    "change": "definition_change",
}

Row = dict[str, Any]


@dataclass(frozen=True)
class Attention:
    """What somebody should look at: `urgent` if data do not come in because of it."""

    kind: str
    time: str
    text: str
    urgent: bool = False


@dataclass
class Entity:
    """An entity as the page holds it: lists by column, so that names are there once.

    loads: COLUMNS, and `kind`, an index of KINDS.
    guards: how much of what a guard accepts each load used, from the first that used any.
    rules: by name the action, and the rows that each load judged and that broke it.
    """

    name: str
    load_type: str = ""
    per: str = "date"
    expect: str | None = None
    rows: int = 0
    checkpoint: str | None = None
    log_loads: int = 0
    log_rows: int = 0
    committed_loads: int = 0
    broken: str | None = None
    known: bool = True
    loads: dict[str, list[Any]] = field(default_factory=dict)
    guards: dict[str, list[float | None]] = field(default_factory=dict)
    rules: dict[str, Row] = field(default_factory=dict)
    moves: list[Row] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    attention: list[Attention] = field(default_factory=list)
    details: Row | None = None

    @property
    def counted(self) -> list[int]:
        """Return the places of the loads whose rows are there, oldest first."""
        kinds = self.loads.get("kind", [])
        return [place for place, kind in enumerate(kinds) if KINDS[kind] in COUNTED]

    @property
    def refused(self) -> int:
        """Return the number of loads that were refused."""
        return self.loads.get("kind", []).count(KINDS.index("refused"))

    def total(self, column: str) -> int:
        """Return the sum of a column over these loads."""
        values = self.loads.get(column, [])
        return sum(values[place] or 0 for place in self.counted)

    def as_data(self) -> Row:
        """Return what the page gets, without columns that are empty."""
        data = asdict(self)
        data["loads"] = {
            name: values
            for name, values in self.loads.items()
            if any(value is not None for value in values)
        }
        return {name: value for name, value in data.items() if value not in (None, [], {}, "")}


def entity(found: Mapping[str, Any], now: dt.datetime, details: Row | None = None) -> Entity:
    """Return what there is to say of an entity.

    found: a line of the macro _print_report.
    now: the present, in UTC, without a zone; or the end of the last date that the report holds,
        behind which nothing is expected.
    details: a line of the macro _print_details.

    Raises SparkCdcError if `expect` is none.
    """
    made = Entity(found["entity"], broken=found["broken"], details=details)
    rows = _rows(found["log"])
    if "loads" in found:
        for name in ("load_type", "per", "expect", "rows", "checkpoint", "log_loads", "log_rows"):
            setattr(made, name, found[name])
        made.committed_loads = len(found["loads"])
    else:
        made.known = bool(made.broken)
    _set_loads(made, rows, found)
    made.guards = _used_guards(made, rows, found.get("guards") or {})
    made.rules = _judged_rules(rows)
    counted = [made.loads["time"][place] for place in made.counted]
    latest = max(counted, default=None)
    newest = _last_time(found.get("loads") or [], made.per) or latest
    last = newest if newest and dt.datetime.fromisoformat(newest) < now else latest
    made.missing = _missing(made, counted, last, now)
    made.attention = [
        *_broken(made, last),
        *_refused(made, newest),
        *_late(made, last),
        *_undone(made, found.get("undone") or []),
        *_rejected(made),
        *_broken_rules(made),
        *_near(made),
    ]
    return made


def _rows(log: str | None) -> list[Row]:
    """Return rows of columns that are a text of JSON."""
    columns = json.loads(log) if log else {}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _set_loads(made: Entity, rows: list[Row], found: Mapping[str, Any]) -> None:
    """Set the entity's loads and moves, and take from `rows` what is no load."""
    kinds = _kinds(rows, found)
    made.moves = [
        {
            "time": row["business_time"],
            "what": row["load_type"],
            "at": row["committed_at"],
            "message": row["message"] or f"squashed {row['replaced_load_ids'] or 'nothing'}",
        }
        for row in rows
        # compact has two rows, of the history and of the checkpoint behind it
        if row["load_type"] in MOVES and "-hc-" not in row["load_id"]
    ]
    rows[:] = [row for row in rows if row["load_type"] not in MOVES]
    made.loads = {name: [row[column] for row in rows] for name, column in COLUMNS.items()}
    made.loads["kind"] = [KINDS.index(kinds[row["load_id"]]) for row in rows]


def _kinds(rows: Iterable[Row], found: Mapping[str, Any]) -> dict[str, str]:
    """Return what became of each load: one of KINDS."""
    rows = list(rows)
    named = set(found.get("loads") or [])
    undone = set(found.get("undone") or [])
    squashing = {
        load_id: row["load_id"]
        for row in rows
        if row["load_type"] == "compact"
        for load_id in (row["replaced_load_ids"] or "").split(", ")
    }

    def kind(row: Row) -> str:
        load_id = row["load_id"]
        if row["status"] in ("refused", "acknowledged"):
            return str(row["status"])
        if load_id in named or "loads" not in found:
            return "committed"
        if load_id in undone:
            return "undone"
        while load_id in squashing:
            load_id = squashing[load_id]
        return "squashed" if load_id in named else "undone" if load_id in undone else "superseded"

    return {row["load_id"]: kind(row) for row in rows}


def _last_time(loads: Sequence[str], per: str) -> str | None:
    """Return the business time of the last of some loads, from its name."""
    if not loads:
        return None
    stamp = loads[-1].split("-")[0]
    time = dt.datetime.strptime(stamp, "%Y%m%dT%H%M%S" if "T" in stamp else "%Y%m%d")
    return time.strftime("%Y-%m-%d" if per == "date" else "%Y-%m-%d %H:%M:%S")


def _used_guards(
    made: Entity, rows: Sequence[Row], limits: Mapping[str, Any]
) -> dict[str, list[float | None]]:
    """Return by guard which part of what it accepts each load used: above 1 it would trip.

    The rules are those of the macro _check_guards.
    """
    used: dict[str, list[float | None]] = {
        name: [None] * len(rows) for name, limit in limits.items() if limit is not None
    }
    usual: deque[int] = deque(maxlen=5)
    for place in made.counted:
        row = rows[place]
        for name, share in _used(row, limits, usual).items():
            used[name][place] = round(share, 3)
        # the kind in the name tells a full load, or a snapshot among events
        if row["load_id"].split("-")[1][:1] in ("f", "s") and row["rows_in"] is not None:
            usual.append(row["rows_in"])
    return {name: shares for name, shares in used.items() if any(shares)}


def _used(row: Row, limits: Mapping[str, Any], usual: Sequence[int]) -> dict[str, float]:
    """Return what a load used of each guard that looks at it."""
    found = {}
    least = limits.get("min_rows") or 0
    rejected, rows_in = row["rows_rejected"] or 0, row["rows_in"] or 0
    if row["rows_prior"] and row["rows_prior"] >= least:
        for name, column in SHARES.items():
            if limits.get(name) is not None:
                found[name] = _part((row[column] or 0) / row["rows_prior"], limits[name])
        if limits.get("rows_band") and row["load_type"] == "full" and usual:
            median = statistics.median(usual)
            if median:
                found["rows_band"] = _part_of_band(rows_in / median, *limits["rows_band"])
    if limits.get("rejects") is not None:
        found["rejects"] = _part(rejected, limits["rejects"])
    if limits.get("rejected_share") is not None and rows_in and rows_in >= least:
        found["rejected_share"] = _part(rejected / rows_in, limits["rejected_share"])
    return found


def _part(value: float, limit: float) -> float:
    """Return a value as a part of what is accepted, at most 10."""
    if not limit:
        return 10.0 if value else 0.0
    return min(value / limit, 10.0)


def _part_of_band(times: float, low: float, high: float) -> float:
    """Return how far from the usual number of rows a load was: 0 in the middle, 1 at an end."""
    if times <= 0:
        return 10.0 if low else 0.0
    limit = high if times >= 1 else low
    if limit <= 0 or limit == 1:
        return 0.0 if times == 1 or limit <= 0 else 10.0
    return max(0.0, min(math.log(times) / math.log(limit), 10.0))


def _missing(made: Entity, counted: Sequence[str], last: str | None, now: dt.datetime) -> list[str]:
    """Return the dates that are expected and did not come up to now; some came and do not count."""
    if not made.expect or not last:
        return []
    came = [
        time
        for time, kind in zip(made.loads["time"], made.loads["kind"], strict=True)
        if KINDS[kind] in ("refused", "undone") and time > min([*counted, last])
    ]
    times = sorted({*counted, *came, last})
    one = outstanding.Outstanding(made.name, per=made.per, last=times[0], dates=times[1:])
    return outstanding.missing(one, outstanding.parse_expectation(made.expect), now)


def _broken(made: Entity, last: str | None) -> list[Attention]:
    if made.broken:
        return [Attention("configuration", "", made.broken, urgent=True)]
    if not made.known:
        text = "cdc_loads has loads of it, but the project has no such entity any more."
        return [Attention("not in the project", last or "", text)]
    if not made.committed_loads:
        return [Attention("never loaded", "", "No load of it is committed.")]
    return []


def _refused(made: Entity, newest: str | None) -> list[Attention]:
    """Return the dates that were refused and not loaded since; of each what it was last.

    newest: the last business time that counts, which the report need not hold.
    """
    loads, kinds = made.loads, made.loads["kind"]
    refused: dict[str, list[int]] = {}
    for place, time in enumerate(loads["time"]):
        if KINDS[kinds[place]] == "refused":
            refused.setdefault(time, []).append(place)
    counted = [(loads["time"][place], place) for place in made.counted]
    held = max(made.loads["time"], default="")
    found = []
    for time, places in refused.items():
        # rows of one date stand in the order in which they came
        since = [
            place
            for loaded, place in counted
            if (loaded == time and place > places[-1])
            or (loaded > time and loads["type"][place] == "full")
        ]
        later = newest is not None and newest > time
        if since or (later and str(newest) > held and made.load_type == "full"):
            continue
        notes = [f"{len(places)} times"] if len(places) > 1 else []
        notes += ["later dates were loaded without it"] if later else []
        text = ": ".join([*([", ".join(notes)] if notes else []), loads["message"][places[-1]]])
        found.append(Attention("refused", time, text, urgent=not later))
    return found


def _late(made: Entity, last: str | None) -> list[Attention]:
    """Return what is expected and missing: behind the last load the entity is stale."""
    behind = [time for time in made.missing if last and time > last]
    between = [time for time in made.missing if last and time < last]
    found = []
    if behind:
        text = f"Expected {made.expect}; the last is {last}; {_few(behind)} did not come."
        found.append(Attention("stale", behind[0], text, urgent=True))
    if between:
        text = f"Expected {made.expect}; {_few(between)} between the loads did not come."
        found.append(Attention("missing", between[-1], text))
    return found


def _few(times: Sequence[str]) -> str:
    """Return some dates in words."""
    if len(times) <= 3:
        return ", ".join(times)
    return f"{times[0]}, {times[1]} and {len(times) - 2} more, up to {times[-1]},"


def _undone(made: Entity, undone: Sequence[str]) -> list[Attention]:
    if not undone:
        return []
    text = (
        f"{len(undone)} {'load was' if len(undone) == 1 else 'loads were'} taken back, from"
        f" {_last_time(undone[:1], made.per)} on: spark-cdc redo {made.name} brings back, the next"
        " load drops."
    )
    return [Attention("undone", str(_last_time(undone[:1], made.per)), text)]


def _rejected(made: Entity) -> list[Attention]:
    places = [place for place in made.counted if made.loads["rejected"][place]]
    if not places:
        return []
    rows = sum(made.loads["rejected"][place] for place in places)
    text = (
        f"{rows:,} {'row was' if rows == 1 else 'rows were'} set aside by"
        f" {len(places):,} of {len(made.counted):,} loads: {made.name}_rejects."
    )
    return [Attention("rejects", made.loads["time"][places[-1]], text)]


def _judged_rules(rows: Sequence[Row]) -> dict[str, Row]:
    """Return what rules found, as lists by load; a rule's action is that of its last load."""
    found: dict[str, Row] = {}
    for place, row in enumerate(rows):
        for one in row.get("rules") or []:
            empty = {"judged": [None] * len(rows), "broken": [None] * len(rows)}
            rule = found.setdefault(one["rule"], empty)
            rule["action"] = one["action"]
            rule["judged"][place], rule["broken"][place] = one["judged"], one["broken"]
    return found


def _broken_rules(made: Entity) -> list[Attention]:
    """Return the rules that rows of the last load broke."""
    last = made.counted[-1:]
    found = []
    for name, rule in made.rules.items():
        for place in last:
            broken, judged = rule["broken"][place], rule["judged"][place]
            if broken:
                what = {"warn": "counted", "drop": "set aside"}.get(rule["action"], "lifted")
                text = f"{broken:,} of {judged:,} rows of the last load broke {name} ({what})."
                found.append(Attention("rules", made.loads["time"][place], text))
    return found


def _near(made: Entity) -> list[Attention]:
    """Return the guards that were near, or passed, in one of the last loads."""
    found = []
    for name, shares in made.guards.items():
        used = [(shares[place] or 0, place) for place in made.counted[-RECENT:]]
        share, place = max(used, default=(0.0, 0))
        if share >= NEAR:
            what = f"{share:.0%} of what {name} accepts" + (
                ": it was lifted, or accepted more then" if share > 1 else ""
            )
            found.append(Attention("guard", made.loads["time"][place], f"Used {what}."))
    return found
