"""What the report says of an entity, worked out of its rows in cdc_loads and its manifest.

Nothing is read here: data in, data out, in the form in which the page holds them.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import shlex
import statistics
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from spark_cdc import business_date

# The levels of an entity's state, most pressing first.
LEVELS = ("urgent", "warning", "idle", "healthy")
NEVER = "never loaded"
IDLE = (NEVER, "removed")  # kinds of attention of which nothing has to be done
KINDS = ("active", "compacted", "replaced", "undone", "refused", "acknowledged")
COUNTED = ("active", "compacted")  # kinds of active loads, whose rows are there
MOVES = ("compact", "undo", "redo", "vacuum")  # rows of cdc_loads that are no loads
NEAR = 0.8  # of what a guard accepts
RECENT = 10  # loads in which a guard that was nearly reached needs attention
LISTED = 10  # dates at most that a command names
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
    "inserted": "rows_inserted",
    "updated": "rows_updated",
    "deleted": "rows_deleted",
    "unchanged": "rows_unchanged",
    "not supplied": "rows_not_supplied",
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

Row = dict[str, Any]  # of JSON, by columns of cdc_loads or names of figures


@dataclass(frozen=True)
class Attention:
    """A finding that somebody should look at.

    kind: the finding in one or two words.
    time: the business time that it concerns.
    steps: pairs of when to run a command, and the command.
    urgent: whether data are missing because of it.
    """

    kind: str
    time: str
    text: str
    steps: list[tuple[str, str]] = field(default_factory=list)
    urgent: bool = False


@dataclass
class Entity:
    """An entity as the page holds it: lists by column, so that names are there once.

    loads: COLUMNS, and `kind`, an index of KINDS.
    level, state: one of LEVELS, and the state in a word.
    age: the time since the last active load was committed, in words.
    maintenance: when runs compact and vacuum it.
    guards: how much of what a guard accepts each load used, from the first that used any.
    rules: by name the action, and the rows that each load judged and that broke it.
    options: options of the command line that commands need, too.
    """

    name: str
    level: str = "healthy"
    state: str = "healthy"
    age: str = ""
    load_type: str = ""
    per: str = "date"
    expected_every: str | None = None
    rows: int = 0
    checkpoint: str | None = None
    committed_loads: int = 0
    maintenance: Row = field(default_factory=dict)
    broken: str | None = None
    known: bool = True
    options: str = ""
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
    def last(self) -> Row:
        """Return the last active load by column; empty where there is none."""
        return {
            name: values[place]
            for place in self.counted[-1:]
            for name, values in self.loads.items()
        }

    def command(self, words: str) -> str:
        """Return a command of spark-cdc that selects this entity alone."""
        return f"spark-cdc {words.replace('ENTITY', shlex.quote(self.name))}{self.options}"

    def as_data(self) -> Row:
        """Return what the page gets, without columns that are empty."""
        data = asdict(self)
        data["loads"] = {
            name: values
            for name, values in self.loads.items()
            if any(value is not None for value in values)
        }
        return {name: value for name, value in data.items() if value not in (None, [], {}, "")}


def entity(found: Row, now: dt.datetime, details: Row | None = None, options: str = "") -> Entity:
    """Return what the page holds of an entity.

    found: what is known of it, of report.figures().
    now: the present, in UTC, without a zone; or the end of the last date that the report holds,
        after which nothing is expected.
    details: that part of the macro state.
    options: options that each command needs, such as ` --target cluster`.

    Raises SparkCdcError if `expected_every` is none.
    """
    made = Entity(found["entity"], broken=found["broken"], details=details, options=options)
    rows = _rows(found["log"])
    if "loads" in found:
        for name in ("load_type", "per", "expected_every", "rows", "checkpoint", "maintenance"):
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
    made.attention = sorted(
        [
            *_broken(made, last),
            *_refused(made, newest),
            *_late(made, last),
            *_undone(made, found.get("undone") or []),
            *_rejected(made),
            *_broken_rules(made),
            *_near(made),
        ],
        key=lambda one: not one.urgent,
    )
    if len(made.attention) > 1:  # a refused first load says enough
        made.attention = [one for one in made.attention if one.kind != NEVER]
    for one in made.attention[:1]:
        made.state = one.kind
        made.level = "urgent" if one.urgent else "idle" if one.kind in IDLE else "warning"
    if made.last.get("arrived"):
        made.age = age((now - dt.datetime(1970, 1, 1)).total_seconds() - made.last["arrived"])
    return made


def age(seconds: float) -> str:
    """Return a time span in words, in its largest unit."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= (2 * size if unit == "d" else size):
            return f"{int(seconds // size)} {unit}"
    return "under 1 min"


def _rows(log: str | None) -> list[Row]:
    """Return rows of columns that are a text of JSON."""
    columns = json.loads(log) if log else {}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _set_loads(made: Entity, rows: list[Row], found: Row) -> None:
    """Set the entity's loads and moves, and take from `rows` what is no load."""
    kinds = _kinds(rows, found)
    made.moves = [
        {
            "time": row["business_time"],
            "what": row["load_type"],
            "at": row["committed_at"],
            "message": row["message"] or f"compacted {row['replaced_load_ids'] or 'nothing'}",
        }
        for row in rows
        # compact has two rows, of the history and of the checkpoint after it
        if row["load_type"] in MOVES and "-hc-" not in row["load_id"]
    ]
    rows[:] = [row for row in rows if row["load_type"] not in MOVES]
    made.loads = {name: [row[column] for row in rows] for name, column in COLUMNS.items()}
    made.loads["kind"] = [KINDS.index(kinds[row["load_id"]]) for row in rows]


def _kinds(rows: Iterable[Row], found: Row) -> dict[str, str]:
    """Return what became of each load: one of KINDS."""
    rows = list(rows)
    named = set(found.get("loads") or [])
    undone = set(found.get("undone") or [])
    compacting = {
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
            return "active"
        if load_id in undone:
            return "undone"
        while load_id in compacting:
            load_id = compacting[load_id]
        return "compacted" if load_id in named else "undone" if load_id in undone else "replaced"

    return {row["load_id"]: kind(row) for row in rows}


def _last_time(loads: Sequence[str], per: str) -> str | None:
    """Return the business time of the last of some loads, from its name."""
    if not loads:
        return None
    stamp = loads[-1].split("-")[0]
    time = dt.datetime.strptime(stamp, "%Y%m%dT%H%M%S" if "T" in stamp else "%Y%m%d")
    return time.strftime("%Y-%m-%d" if per == "date" else "%Y-%m-%d %H:%M:%S")


def _used_guards(made: Entity, rows: Sequence[Row], limits: Row) -> dict[str, list[float | None]]:
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


def _used(row: Row, limits: Row, usual: Sequence[int]) -> dict[str, float]:
    """Return what a load used of each guard that looks at it."""
    found = {}
    least = limits.get("min_rows") or 0
    rejected, rows_in = row["rows_rejected"] or 0, row["rows_in"] or 0
    has_rows = row["rows_prior"] and row["rows_prior"] >= least
    many = limits.get("min_deleted") or float("inf")
    for name, column in SHARES.items():
        has_many = name == "deleted_share" and row["rows_prior"] and (row[column] or 0) >= many
        if limits.get(name) is not None and (has_rows or has_many):
            found[name] = _part((row[column] or 0) / row["rows_prior"], limits[name])
    if has_rows and limits.get("rows_band") and row["load_type"] == "full" and usual:
        median = statistics.median(usual)
        if median:
            found["rows_band"] = _part_of_band(rows_in / median, *limits["rows_band"])
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
    if not made.expected_every or not last:
        return []
    came = [
        time
        for time, kind in zip(made.loads["time"], made.loads["kind"], strict=True)
        if KINDS[kind] in ("refused", "undone") and time > min([*counted, last])
    ]
    times = sorted({*counted, *came, last})
    step = business_date.parse_expectation(made.expected_every)
    return business_date.missing(times, made.per, step, now)


def _broken(made: Entity, last: str | None) -> list[Attention]:
    if made.broken:
        steps = [
            ("Correct the YAML, then check it:", made.command("load --select ENTITY --dry-run"))
        ]
        return [Attention("misconfigured", "", made.broken, steps, urgent=True)]
    if not made.known:
        text = (
            "cdc_loads has loads of this entity, but the project does not have it."
            " Restore its models, or ignore its loads."
        )
        return [Attention("removed", last or "", text)]
    if not made.committed_loads:
        steps = [("Load the dates that have landed:", made.command("load --select ENTITY"))]
        return [Attention(NEVER, "", "No load is committed.", steps)]
    return []


def _refused(made: Entity, newest: str | None) -> list[Attention]:
    """Return the dates that were refused and not loaded since, each with its last message.

    newest: the last business time of active loads, which the report need not hold.
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
        # rows of one date are in the order of their loads
        since = [
            place
            for loaded, place in counted
            if (loaded == time and place > places[-1])
            or (loaded > time and loads["type"][place] == "full")
        ]
        later = newest is not None and newest > time
        if since or (later and str(newest) > held and made.load_type == "full"):
            continue
        notes = [f"{len(places)} attempts."] if len(places) > 1 else []
        notes += ["Later dates were loaded without it."] if later else []
        text = " ".join([*notes, loads["message"][places[-1]] or ""])
        steps = _steps_of_refused(made, places[-1], later)
        found.append(Attention("refused", time, text, steps, urgent=not later))
    return found


def _steps_of_refused(made: Entity, place: int, later: bool) -> list[tuple[str, str]]:
    """Return the commands for a refused load: to load it, or to pass over it."""
    date = _word(made.loads["time"][place])
    mend = (
        f"replay --from {date} --dates {date} --select ENTITY --publish"
        if later
        else f"load {date}{_type_option(made, place)} --select ENTITY"
    )
    return [
        ("Correct the data, then load it:", made.command(mend)),
        ("If the date will never come:", made.command(f"acknowledge {date} --select ENTITY")),
    ]


def _type_option(made: Entity, place: int) -> str:
    """Return the option for a load whose type is not the entity's own."""
    kind = made.loads["type"][place]
    return f" --load-type {kind}" if kind in ("full", "delta") and kind != made.load_type else ""


def _word(time: str) -> str:
    """Return a business time as a word of a command line."""
    return shlex.quote(time)


def _late(made: Entity, last: str | None) -> list[Attention]:
    """Return the dates that are expected and missing: after the last load the entity is stale."""
    after = [time for time in made.missing if last and time > last]
    between = [time for time in made.missing if last and time < last]
    found = []
    if after:
        text = f"Expected {made.expected_every}. The last load is {last}. Missing: {_few(after)}."
        steps = [("When the source has delivered:", made.command("load --select ENTITY"))]
        found.append(Attention("stale", after[0], text, steps, urgent=True))
    if between:
        text = f"Expected {made.expected_every}. Missing between loads: {_few(between)}."
        dates = " ".join(map(_word, between[:LISTED]))
        replay = f"replay --from {_word(between[0])} --dates {dates} --select ENTITY --publish"
        some = f" (of the first {LISTED})" if len(between) > LISTED else ""
        steps = [(f"When the source has delivered{some}:", made.command(replay))]
        found.append(Attention("missing dates", between[-1], text, steps))
    return found


def _few(times: Sequence[str]) -> str:
    """Return some dates in words."""
    if len(times) <= 3:
        return ", ".join(times)
    return f"{times[0]}, {times[1]} and {len(times) - 2} more, up to {times[-1]}"


def _undone(made: Entity, undone: Sequence[str]) -> list[Attention]:
    if not undone:
        return []
    first = str(_last_time(undone[:1], made.per))
    text = (
        f"{len(undone)} {'load' if len(undone) == 1 else 'loads'} from {first} on"
        f" {'was' if len(undone) == 1 else 'were'} undone. The next load drops what redo restores."
    )
    steps = [
        ("Restore:", made.command("redo ENTITY")),
        ("Or load corrected data:", made.command(f"load {_word(first)} --select ENTITY")),
    ]
    return [Attention("undone", first, text, steps)]


def _rejected(made: Entity) -> list[Attention]:
    places = [place for place in made.counted if made.loads["rejected"][place]]
    if not places:
        return []
    rows = sum(made.loads["rejected"][place] for place in places)
    text = (
        f"{rows:,} {'row was' if rows == 1 else 'rows were'} rejected in"
        f" {len(places):,} of {len(made.counted):,} loads. {made.name}_rejects holds"
        f" {'it' if rows == 1 else 'them'}."
    )
    return [Attention("rejected rows", made.loads["time"][places[-1]], text, _again(made, places))]


def _again(made: Entity, places: Sequence[int]) -> list[tuple[str, str]]:
    """Return the command that repeats loads from the first of some on.

    Compacted loads can only be replayed together, so that the first that is not counts.
    """
    loads = made.loads
    own = [place for place in places if KINDS[loads["kind"][place]] == "active"]
    if not own:
        return []
    date = _word(loads["time"][own[0]])
    is_last = own[0] == made.counted[-1]
    words = (
        f"load {date} --again{_type_option(made, own[0])}" if is_last else f"replay --from {date}"
    )
    publish = "" if is_last else " --publish"
    return [("Correct the data, then:", made.command(f"{words} --select ENTITY{publish}"))]


def _judged_rules(rows: Sequence[Row]) -> dict[str, Row]:
    """Return the results of rules, as lists by load; a rule's action is that of its last load."""
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
    found = []
    for name, rule in made.rules.items():
        for place in made.counted[-1:]:
            broken, judged = rule["broken"][place], rule["judged"][place]
            if broken:
                became = {"warn": "accepted and counted", "drop": "rejected"}.get(
                    rule["action"], "accepted by an override"
                )
                text = f"{broken:,} of {judged:,} rows of the last load broke {name} ({became})."
                steps = _again(made, [place])
                found.append(Attention("broken rule", made.loads["time"][place], text, steps))
    return found


def _near(made: Entity) -> list[Attention]:
    """Return the guards that a recent load nearly reached, or exceeded."""
    found = []
    for name, shares in made.guards.items():
        used = [(shares[place] or 0, place) for place in made.counted[-RECENT:]]
        share, place = max(used, default=(0.0, 0))
        if share >= NEAR:
            text = f"The load used {share:.0%} of what {name} accepts." + (
                " The guard was overridden, or accepted more then." if share > 1 else ""
            )
            time = made.loads["time"][place]
            found.append(Attention("near a guard", time, text, _compared(made, place)))
    return found


def _compared(made: Entity, place: int) -> list[tuple[str, str]]:
    """Return the commands that show what a load changed, and that undo it."""
    before = [one for one in made.counted if one < place][-1:]
    if not before:
        return []
    first, second = (_word(made.loads["load"][one]) for one in (*before, place))
    return [
        ("See what it changed:", made.command(f"diff ENTITY {first} {second}")),
        ("If it was wrong:", made.command(f"undo ENTITY --to {first}")),
    ]
