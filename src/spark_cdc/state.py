"""What is known of entities: committed loads, drafts of replays, dates that are not loaded yet."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from spark_cdc import dbt_runner
from spark_cdc.errors import UsageError

DraftData = TypedDict(
    "DraftData",
    {"from": str, "source": str, "times": list[str], "outdated": str, "missing": list[str]},
)


class LoadRow(TypedDict, total=False):
    """A row of cdc_loads, without what is null."""

    entity: str
    load_id: str
    load_type: str
    business_time: str
    status: str
    message: str
    invocation_id: str
    started_at: str
    committed_at: str
    ended_at: str
    duration_seconds: float
    spark_version: str
    rows_in: int
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    rows_unchanged: int
    rows_not_supplied: int
    rows_rejected: int
    rows_current: int
    input_files: int
    input_bytes: int


def count(load: LoadRow, column: str) -> int | None:
    """Return a count of a load by the name of its column; None where it is not known."""
    value = load.get(column)
    return value if isinstance(value, int) else None


class Place(TypedDict, total=False):
    """Where the input of a load lies: one of both."""

    table: str
    path: str


class Runs(TypedDict, total=False):
    """The part runs: rows are LoadRow as JSON; last is a business time."""

    last: str | None
    rows: list[str]
    places: dict[str, Place | None]


class Comparison(TypedDict):
    """The part compare: rows by date, and of current, before and after a replay."""

    dates: dict[str, dict[str, int]]
    current: dict[str, int]
    problem: str | None


class ColumnDifference(TypedDict, total=False):
    column_name: str
    value_before: str
    value_after: str


class RowDifference(TypedDict, total=False):
    """A row that differs between two states."""

    row_difference: str
    keys: dict[str, str]
    column_differences: list[ColumnDifference] | None


class Difference(TypedDict):
    """The part diff."""

    before: str
    after: str
    counts: dict[str, int]
    rows: list[RowDifference]


class File(TypedDict):
    """A file of a ledger; its path is a URI."""

    path: str
    load_id: str
    operation: str
    rows: int
    bytes: int


class Files(TypedDict):
    """The part files; columns: their names in the files by those that the YAML declares."""

    view: str
    format: str
    commit: int
    loads: list[str]
    columns: dict[str, str]
    files: list[File]


class Finding(TypedDict):
    """What a data test that verifies an entity found."""

    entity: str
    problem: str
    row_count: int | None
    load_id: str | None
    business_time: str | None
    examples: str | None
    repair: str


class Tests(TypedDict):
    """The part tests: names by the ids of dbt, and what the YAML lacks."""

    model: str
    tests: dict[str, str]
    lacking: list[str]


class Secret(TypedDict):
    """A secret of sensitive columns, of which only a proof is known."""

    id: str
    table: str
    is_current: bool
    entities: list[str]
    proof: str


class UsedSecret(TypedDict):
    """The secret that loads of an entity were hashed with."""

    entity: str
    id: str
    proof: str


class Secrets(TypedDict):
    """The part secrets."""

    secrets: list[Secret]
    used: list[UsedSecret]


class Added(TypedDict):
    """The part added: columns that loads have added, names to types; the YAML file."""

    columns: dict[str, str]
    file: str


class EntityData(TypedDict, total=False):
    """What the macro state tells of an entity, and the parts that were asked for."""

    entity: str
    load_type: str
    per: str
    has_archive: bool
    times: list[str]
    rows: int
    last_load: str | None
    draft: DraftData | None
    undone: list[str]
    load_types: list[str | None]
    reads_feed: bool
    reads_whole_table: bool
    archives_input: bool
    broken: list[str]
    pending: PendingData
    runs: Runs
    compare: Comparison
    diff: Difference
    added: Added
    files: Files
    findings: list[Finding]
    tests: Tests
    stream: StreamData
    settings: dict[str, Any]
    log: dict[str, Any]
    details: dict[str, Any]
    tags: list[dict[str, Any]]
    branches: list[dict[str, Any]]


class PendingData(TypedDict, total=False):
    """The part pending, see Pending."""

    dates: list[str]
    gaps: list[str]
    incomplete: list[str]
    expected_every: str | None
    landed: int
    problems: list[str]
    problem: str | None
    absent: str | None


class StreamSource(TypedDict):
    """source.stream of an entity's YAML."""

    topic: str | list[str] | None
    pattern: str | None
    files: str | None
    encoding: str
    key_encoding: str | None


class StreamData(TypedDict, total=False):
    """The part stream: problems and stream, and the rest of an entity that lands messages."""

    load_type: str
    per: str
    path: str
    stream: StreamSource | None
    problems: list[str]


class Answer(TypedDict, total=False):
    """What the macro state tells."""

    schema: str
    server: str
    entities: list[EntityData]
    secrets: Secrets
    columns: list[dict[str, str]]


class EntityReport(TypedDict):
    """What became of an entity; left: None where only pending dates would tell."""

    entity: str
    state: str
    loaded: list[str]
    left: list[str] | None
    rows: int
    seconds: float
    failed: str | None
    waits: str | None
    notes: list[str]


class ToldEntity(EntityReport):
    """The same with its loads."""

    loads: list[LoadRow]


class Untold(TypedDict):
    """What is told, but for its summary."""

    id: str
    command: str
    schema: str
    exit_code: int
    error: str | None
    started_at: str
    ended_at: str
    spark_cdc_version: str
    entities: list[ToldEntity]


class Report(Untold):
    """What is told."""

    summary: str


class Loads(TypedDict):
    """Loads of cdc_loads, see notify.read_loads."""

    schema: str
    server: str
    last: dict[str, str | None]
    loads: list[LoadRow]
    places: dict[str, Place | None]


@dataclass(frozen=True)
class Draft:
    """The draft of a replay: where it begins, its dates, and what keeps it from being published."""

    first: dt.datetime
    source: str
    times: list[dt.datetime]
    outdated: str
    missing: list[dt.datetime]


@dataclass(frozen=True)
class Pending:
    """Dates of an entity that are not committed, in order, as dbt gets them.

    dates: those that landed after the last committed one.
    gaps: those that landed before it; they take a replay.
    incomplete: those that landed without the marker of source.complete_when.
    expected_every: how often loads come, of the entity's YAML.
    problems: what is wrong with its settings, so that it can't be loaded; then the rest is empty.
    problem: why it can't be told what has landed.
    absent: why nothing has landed, if the entity is not just idle.
    """

    dates: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    expected_every: str | None = None
    landed: int = 0
    problems: list[str] = field(default_factory=list)
    problem: str | None = None
    absent: str | None = None


@dataclass(frozen=True)
class State:
    """An entity: its business times that are committed, oldest first, and its draft.

    undone: those that were taken back and that redo can bring back.
    load_types: of these loads, in their order; None where nothing tells.
    reads_feed: whether the source is the change feed of a table, which has no dates of its own.
    reads_whole_table: whether it is a table of which only the present rows are there.
    archives_input: whether loads keep what they read of it.
    broken: what is wrong with its names and columns; then nothing else is known.
    parts: all that the macro told of it; what else was asked for is there by its name.
    """

    entity: str
    load_type: str = ""
    per: str = "date"
    has_archive: bool = False
    times: list[dt.datetime] = field(default_factory=list)
    rows: int = 0
    last_load: str | None = None
    draft: Draft | None = None
    undone: list[dt.datetime] = field(default_factory=list)
    load_types: list[str | None] = field(default_factory=list)
    reads_feed: bool = False
    reads_whole_table: bool = False
    archives_input: bool = False
    broken: list[str] = field(default_factory=list)
    parts: EntityData = field(default_factory=lambda: EntityData())

    @property
    def pending(self) -> Pending:
        """Return the dates that are not committed, if they were asked for."""
        return Pending(**self.parts["pending"])

    def other_type(self, time: dt.datetime) -> str | None:
        """Return the load type of a date that was not loaded with the entity's own."""
        found = dict(zip(self.times, self.load_types, strict=False)).get(time)
        return found if found != self.load_type else None

    def up_to(self, at: str | None, option: str) -> list[dt.datetime]:
        """Return the business times up to the end of a date or load, or all.

        option: what gave it. Raises UsageError if it is neither.
        """
        if at is None:
            return self.times
        match = re.match(r"(\d{4}-?\d\d-?\d\d)(?:[T ]([\d:]{4,8}))?(-|$)", at)
        try:
            if not match:
                raise ValueError
            end = dt.datetime.fromisoformat(_isoformat(match[1], match[2]))
        except ValueError as error:
            raise UsageError(
                f"{option} {at!r} is neither a date nor a load. Accepted are a date such as"
                " 2024-03-01, and a load of spark-cdc status.",
                f"spark-cdc status {self.entity}",
            ) from error
        if not match[2]:
            end += dt.timedelta(days=1) - dt.timedelta(microseconds=1)
        return [time for time in self.times if time <= end]

    def text(self, time: dt.datetime) -> str:
        """Return a business time as the entity writes it."""
        return time.strftime("%Y-%m-%d" if self.per == "date" else "%Y-%m-%d %H:%M:%S")

    def texts(self, times: Sequence[dt.datetime]) -> list[str]:
        """Return business times as the entity writes them."""
        return [self.text(time) for time in times]


def described(one: State) -> str:
    """Return what there is of the draft of a replay, in words."""
    draft = one.draft
    if draft is None:
        return ""
    count = len(draft.times)
    what = f"from {one.text(draft.first)}, {count} {'load' if count == 1 else 'loads'}"
    if draft.outdated:
        return f"{what}, out of date"
    return f"{what}, {len(draft.missing)} missing" if draft.missing else f"{what}, complete"


def _isoformat(date: str, time: str | None) -> str:
    """Return the time of a date or a load, whose digits come without signs between them."""
    day, digits = date.replace("-", ""), (time or "").replace(":", "").ljust(6, "0")
    clock = ":".join((digits[:2], digits[2:4], digits[4:6]))
    return f"{day[:4]}-{day[4:6]}-{day[6:8]}T{clock}"


def _times(texts: Sequence[str]) -> list[dt.datetime]:
    return [dt.datetime.fromisoformat(text) for text in texts]


def ask(
    dbt: dbt_runner.Dbt,
    entities: Sequence[str] = (),
    heard: Callable[[str], None] | None = None,
    /,
    **parts: Mapping[str, object],
) -> Answer:
    """Return the data of the macro state, of some entities or of all; one dbt command.

    heard: gets what it logs.
    parts: what to tell beside the committed loads, each with its arguments.

    Raises SparkCdcError if names or columns are wrong of an entity that is named, unless the parts
    tell what is wrong.
    """
    found: Answer = dbt_runner.data(dbt.operate("state", entities, heard, parts=parts))
    problems = [text for one in found["entities"] for text in one.get("broken", ())]
    if entities and problems and not {"settings", "pending"} & set(parts):
        raise UsageError("\n".join(problems), "Correct the YAML, then run the same command again.")
    return found


def read(dbt: dbt_runner.Dbt, entities: Sequence[str] = (), *parts: str) -> list[State]:
    """Return the state of some entities, or of all of which names and columns are right.

    parts: what else to ask for. With pending the others are told, too.
    """
    found = ask(dbt, entities, **{part: {} for part in parts})["entities"]
    return [one for one in map(state, found) if not one.broken or "pending" in parts]


def state(found: EntityData) -> State:
    """Return the state of an entity as the macro tells it."""
    draft = found.get("draft")
    return State(
        entity=found["entity"],
        load_type=found.get("load_type", ""),
        per=found.get("per", "date"),
        has_archive=found.get("has_archive", False),
        times=_times(found.get("times", ())),
        rows=found.get("rows", 0),
        last_load=found.get("last_load"),
        draft=_draft(draft) if draft else None,
        undone=_times(found.get("undone", ())),
        load_types=found.get("load_types", []),
        reads_feed=found.get("reads_feed", False),
        reads_whole_table=found.get("reads_whole_table", False),
        archives_input=found.get("archives_input", False),
        broken=found.get("broken", []),
        parts=found,
    )


def _draft(found: DraftData) -> Draft:
    return Draft(
        first=dt.datetime.fromisoformat(found["from"]),
        source=found["source"],
        times=_times(found["times"]),
        outdated=found["outdated"],
        missing=_times(found["missing"]),
    )
