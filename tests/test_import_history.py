"""A history that another tool has kept becomes the loads that would have left it."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from oracle import Load, Row, expected
from spark_cdc.jinja_bridge import CompilerError, Node
from test_histories import COLUMNS, DATES, NUMBERS, POLICIES, TEXTS, WANTED, flat, node, write_csv
from warehouse import Warehouse, described

pytestmark = pytest.mark.proves("import")

# A key's intervals: begin, end (none: open), the values of text, number and seen.
Interval = tuple[dt.datetime, dt.datetime | None, tuple[Any, ...]]
LAST = 14  # the day of January on which the last of them may begin or end
VALUES = "history int, k string, text string, number decimal(3), seen string"
# How the same history is kept: the columns beside those of the entity, whether intervals begin at
# any hour, the format and its options.
SHAPES: dict[str, tuple[str, bool, str, dict[str, Any]]] = {
    "scd2": (
        "valid_from timestamp_ntz, valid_to timestamp_ntz, active boolean",
        True,
        "scd2",
        {"is_current": "active"},
    ),
    "open end": (
        "valid_from string, valid_to string",
        True,
        "scd2",
        {"open_end": "9999-12-31"},
    ),
    "inclusive": ("starts date, ends date", False, "scd2", {"inclusive_end": True}),
    "dbt": (
        "dbt_valid_from timestamp, dbt_valid_to timestamp, dbt_scd_id string,"
        " dbt_updated_at timestamp, dbt_is_deleted string",
        True,
        "dbt_snapshot",
        {},
    ),
    "satellite": (
        "load_datetime timestamp, hashdiff string, is_deleted boolean, record_source string",
        True,
        "satellite",
        {"deleted_when": "is_deleted"},
    ),
}
SHORT = ("scd2", "dbt")


def random_intervals(chance: random.Random, hours: bool) -> list[Interval]:
    """The intervals of one key, in order: with gaps, returns, and values that come again."""

    def later(time: dt.datetime) -> dt.datetime:
        if hours:
            return time + dt.timedelta(hours=chance.choice((1, 5, 12, 24, 50, 90)))
        return time + dt.timedelta(days=chance.choice((1, 1, 2, 4)))

    intervals: list[Interval] = []
    time = dt.datetime(2024, 1, chance.randint(1, 4), chance.randint(0, 23) if hours else 0)
    while time.day < LAST:
        end = later(time)
        is_open = end.day >= LAST or chance.random() < 0.15
        values = (chance.choice(TEXTS), chance.choice(NUMBERS), chance.choice((None, "x", "y")))
        intervals.append((time, None if is_open else end, values))
        if is_open or chance.random() < 0.1:
            break
        time = later(end) if chance.random() < 0.4 else end
    return intervals


def kept_rows(shape: str, key: tuple[Any, ...], intervals: list[Interval]) -> Iterator[Any]:
    """The rows that such a history has of a key."""
    for place, (start, end, values) in enumerate(intervals):
        following = intervals[place + 1][0] if place + 1 < len(intervals) else None
        row = (*key, *values)
        is_gap = end is not None and end != following
        match shape:
            case "scd2":
                # an end that says nothing
                yield *row, f"{start}", f"{end or dt.datetime(2099, 1, 1)}", end is None
            case "open end":
                yield *row, f"{start}", f"{end or '9999-12-31'}"
            case "inclusive":
                last = end and end.date() - dt.timedelta(days=1)
                yield *row, f"{start.date()}", last and f"{last}"
            case "dbt":
                yield *row, f"{start}", end and f"{end}", "a", f"{start}", "False"
                if is_gap:
                    yield *row, f"{end}", following and f"{following}", "b", f"{end}", "True"
            case "satellite":
                yield *row, f"{start}", "h", False, "source"
                if is_gap:
                    yield *row, f"{end}", "g", True, "source"


def loads_of(histories: dict[tuple[Any, ...], list[Interval]]) -> list[Load]:
    """The deltas of each day: what begins on it and is there at its end, and what is gone."""
    loads = []
    there: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for day in range(1, LAST + 1):
        end_of_day = dt.datetime(2024, 1, day) + dt.timedelta(days=1, microseconds=-1)
        rows = []
        for key, intervals in histories.items():
            found = [
                (start, values)
                for start, end, values in intervals
                if start <= end_of_day and (end is None or end > end_of_day)
            ]
            for start, values in found:
                if start.day == day:
                    rows.append(Row(key, values[:2], values[2:]))
                there[key] = values
            if not found and key in there:
                values = there.pop(key)
                rows.append(Row(key, values[:2], values[2:], deleted=True))
        if rows:
            loads.append(Load(f"2024-01-{day:02}", "delta", tuple(rows)))
    return loads


def do_import(warehouse: Warehouse, source: str, format: str, **options: Any) -> None:
    """Run the macro, without dbt."""
    warehouse.attempts += 1
    warehouse._look()
    warehouse.macros.import_history(warehouse.name, source, format, **options)


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(name, marks=pytest.mark.integration if name in SHORT else pytest.mark.full)
        for name in SHAPES
    ],
)
@pytest.mark.parametrize("load_type", ["full", "delta"])
def test_random_histories_are_what_loads_would_have_left(
    cursor: Any, schema: str, tmp_path: Path, shape: str, load_type: str
) -> None:
    if shape in SHORT and load_type != ("delta" if shape == "dbt" else "full"):
        pytest.skip("one load type of each is enough")
    more, hours, format, options = SHAPES[shape]
    chance = random.Random(f"{shape} {load_type}")
    histories = {
        (number, k): random_intervals(chance, hours) for number in range(60) for k in "abc"
    }
    yaml = node(tmp_path, POLICIES["the default"])
    if load_type == "full":
        yaml["config"]["meta"]["spark_cdc"] |= {"load_type": "full", "deleted_when": None}
    warehouse = Importing(cursor, schema, tmp_path, yaml)
    rows = [row for key, one in histories.items() for row in kept_rows(shape, key, one)]
    warehouse.told("past", f"{VALUES}, {more}", chance.sample(rows, len(rows)))
    if shape == "inclusive":
        options = options | {"valid_from": "starts", "valid_to": "ends"}
    do_import(warehouse, "past", format, **options)

    loads = loads_of(histories)
    compare(warehouse, loads)
    # the next load builds on it
    state = expected(loads).current
    kept = [key for key in state if chance.random() < 0.8]
    rows = tuple(Row(key, state[key].compared, state[key].ignored) for key in kept)
    changed = tuple(
        Row(row.key, ("new", 1), row.ignored, deleted=load_type == "delta" and i % 7 == 0)
        if i % 3 == 0
        else row
        for i, row in enumerate(rows)
    )
    write_csv(tmp_path / "2024-02-01", changed, chance)
    warehouse.load("2024-02-01")
    compare(warehouse, [*loads, Load("2024-02-01", load_type, changed)])


class Importing(Warehouse):
    """A warehouse whose macros find the entity in the graph, as operations do."""

    def __init__(self, cursor: Any, schema: str, folder: Path, node: dict[str, Any]) -> None:
        super().__init__(cursor, schema, folder, node)
        self.graph["nodes"]["model.spark_cdc.cdc_loads"]["resource_type"] = "model"
        for kind in (f"stg_{self.name}", f"{self.name}_ledger"):
            known = {"name": kind, "alias": kind, "unique_id": f"model.shop.{kind}"}
            more = node if kind.startswith("stg_") else {"config": {}}
            self.graph["nodes"][f"model.shop.{kind}"] = Node(
                schema=schema, resource_type="model", package_name="shop", **known | more
            )

    def _context(self) -> dict[str, Any]:
        target = SimpleNamespace(name="t", type="spark", schema=self.schema, database=None)
        return super()._context() | {"target": target}


def compare(warehouse: Warehouse, loads: list[Load]) -> None:
    tables = expected(loads)
    for view in DATES:
        columns = COLUMNS + DATES[view]
        wrong = warehouse.differing(view, columns, WANTED, flat(tables, view))
        assert not wrong, (view, wrong[:10])
    warehouse.cursor.execute(
        "select business_time, rows_inserted, rows_updated, rows_deleted, rows_unchanged,"
        f" rows_not_supplied from {warehouse.schema}.cdc_loads where status = 'committed'"
        " order by business_time"
    )
    found = {
        row[0]: dict(zip("IUDNX", row[1:], strict=True)) for row in warehouse.cursor.fetchall()
    }
    wanted = {load.date: counts for load, counts in zip(loads, tables.counts, strict=True)}
    assert found == wanted


# Histories of other projects' tests and docs: columns, format, options, rows, and the
# intervals that these stand for.
DLT = {"valid_from": "_dlt_valid_from", "valid_to": "_dlt_valid_to"}
DLT_TYPES = "id int, value string, _dlt_valid_from timestamp, _dlt_valid_to timestamp"
CLOSED = "end_date <> date'9999-12-31'"
EFFECTIVITY = (
    "id int, value string, load_datetime timestamp, start_date date, end_date date,"
    " effective_from date, hashdiff string, record_source string"
)
KNOWN: dict[str, tuple[str, str, dict[str, Any], list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    "dlt: insert, update, delete, insert": (
        DLT_TYPES,
        "scd2",
        DLT,
        [
            (2, "bar", "2024-01-01", "2024-01-03"),
            (3, "baz", "2024-01-04", None),
            (1, "foo", "2024-01-01", "2024-01-02"),
            (1, "foo_updated", "2024-01-02", None),
        ],
        [
            (1, "foo", "2024-01-01", "2024-01-02"),
            (1, "foo_updated", "2024-01-02", None),
            (2, "bar", "2024-01-01", "2024-01-03"),
            (3, "baz", "2024-01-04", None),
        ],
    ),
    "dlt: an active record timestamp": (
        DLT_TYPES,
        "scd2",
        DLT | {"open_end": "2099-12-31 22:02:59"},
        [
            (1, "foo", "2024-01-01", "2024-01-02"),
            (1, "foo_updated", "2024-01-02", "2099-12-31 22:02:59"),
        ],
        [(1, "foo", "2024-01-01", "2024-01-02"), (1, "foo_updated", "2024-01-02", None)],
    ),
    "dlt: another value in a child table, and a record that is inserted again": (
        DLT_TYPES,
        "scd2",
        DLT,
        [
            (1, "foo", "2024-01-01", "2024-01-02"),
            (1, "foo_updated", "2024-01-02", "2024-01-03"),
            (1, "foo_updated", "2024-01-03", None),
            (2, "bar", "2024-01-01", "2024-01-02"),
            (2, "bar", "2024-01-03", None),
        ],
        [
            (1, "foo", "2024-01-01", "2024-01-02"),
            (1, "foo_updated", "2024-01-02", None),
            (2, "bar", "2024-01-01", "2024-01-02"),
            (2, "bar", "2024-01-03", None),
        ],
    ),
    "automate_dv: an effectivity satellite": (
        EFFECTIVITY,
        "satellite",
        {"deleted_when": CLOSED, "ignore": ["start_date", "end_date", "effective_from"]},
        [
            (1, "c1", "2018-06-01", "2018-06-01", "9999-12-31", "2018-06-01", "a", "orders"),
            # the order goes to another customer, and back
            (1, "c1", "2018-06-02", "2018-06-01", "2018-06-02", "2018-06-02", "b", "orders"),
            (2, "c2", "2018-06-02", "2018-06-02", "9999-12-31", "2018-06-02", "c", "orders"),
            (2, "c2", "2018-06-05", "2018-06-02", "2018-06-05", "2018-06-05", "d", "orders"),
            (1, "c1", "2018-06-05", "2018-06-05", "9999-12-31", "2018-06-05", "e", "orders"),
        ],
        [
            (1, "c1", "2018-06-01", "2018-06-02"),
            (1, "c1", "2018-06-05", None),
            (2, "c2", "2018-06-02", "2018-06-05"),
        ],
    ),
    "ends within the date, a type that is narrower, and a timestamp of another zone": (
        "id tinyint, value string, valid_from timestamp, valid_to timestamp",
        "scd2",
        {},
        [
            (1, "a", "2024-01-01 08:00:00 UTC", "2024-01-01 09:00:00 UTC"),
            (1, "b", "2024-01-01 09:00:00 UTC", "2024-01-02 23:30:00-01:00"),
            (1, "c", "2024-01-03 00:30:00 UTC", "2024-01-03 00:30:00 UTC"),
        ],
        [(1, "b", "2024-01-01", "2024-01-03")],
    ),
}


def small(cursor: Any, schema: str, folder: Path, **settings: Any) -> Importing:
    columns = {"id": {"data_type": "int", "role": "key"}, "value": "string"}
    source = {"path": f"{folder}/{{business_date}}"} | settings.pop("source", {})
    return Importing(cursor, schema, folder, described("past", columns, source=source, **settings))


@pytest.mark.integration
def test_histories_of_others(cursor: Any, schema: str, tmp_path: Path) -> None:
    for name, (types, format, options, rows, intervals) in KNOWN.items():
        past = small(cursor, schema, tmp_path)
        past.told("kept", types, rows)
        do_import(past, "kept", format, **options)
        found = past.view_sql("versions")
        cursor.execute(
            "select id, value, string(eff_start_date), string(eff_end_date)"
            f" from ({found}) order by id, eff_start_date"
        )
        assert cursor.fetchall() == intervals, name


TIMES = "id int, value string, valid_from timestamp, valid_to timestamp"
FAULTS: list[tuple[list[tuple[Any, ...]], dict[str, Any], list[str]]] = [
    (
        [(1, "a", "2024-01-01", "2024-01-03"), (1, "b", "2024-01-02", None), (2, "c", None, None)],
        {},
        [
            "past: kept is no history that can be imported",
            "1 row with a start before the end of the one before, of the same key:"
            " id = 1 (2024-01-02 00:00:00 to open)",
            "1 row with no start (valid_from is null or no date): id = 2 (null to open)",
            "Nothing was written. Correct the table, or import a view that leaves these rows out:",
            "  spark-cdc import past --from kept --format scd2",
        ],
    ),
    (
        [
            (1, "a", "2024-01-01", None),
            (1, "b", "2024-01-01", "2024-01-05"),
            (None, "c", "2024-01-01", None),
            (3, "d", "2024-01-05", "2024-01-04"),
            (4, "e", "2024-01-01", "9999-12-31"),
        ],
        {},
        [
            "1 row with the same key and start (valid_from) as another one: id = 1 (2024-01-01",
            "1 row with no key (id is null): id = None",
            "1 row with an end before the start (valid_to before valid_from): id = 3 (2024-01-05",
            "1 row with a start or an end after the present day. If it means an open end, name it"
            " with --open-end 9999-12-31: id = 4",
        ],
    ),
    (
        [(1, "a", "2024-01-01", None)],
        {"valid_to": "ended"},
        ["kept has no column 'ended' (--valid-to names another one); found: id, value, valid_from"],
    ),
    (
        [(1, "a", "2024-01-01", None)],
        {"deleted_when": "value"},
        ["'value' of kept is string; accepted for --deleted-when are a boolean column and a"],
    ),
    (
        [(1, "a", "2024-01-01", None)],
        {"deleted_when": "valu = 'a'"},
        ["the history can't be read: ", "valu", "Correct --deleted-when"],
    ),
    ([(1, "a", "2024-01-01", None)], {"open_end": "never"}, ["open_end is 'never'; accepted"]),
    ([], {}, ["kept has no rows. There is nothing to import."]),
]


@pytest.mark.integration
def test_what_is_no_history_is_refused(cursor: Any, schema: str, tmp_path: Path) -> None:
    past = small(cursor, schema, tmp_path)
    for rows, options, words in FAULTS:
        past.told("kept", TIMES, rows)
        with pytest.raises(CompilerError) as error:
            do_import(past, "kept", "scd2", **options)
        for one in words:
            assert one in str(error.value), str(error.value)
    for source, format, options, words in [
        ("nothing", "scd2", {}, "the table nothing can't be read ("),
        ("kept", "scd3", {}, "format is 'scd3'; accepted are dbt_snapshot, scd2, satellite, time"),
        ("a b", "scd2", {}, "source is 'a b'; accepted is the name of a table or view, such as"),
        ("kept", "time_travel", {}, "kept keeps no versions: "),
        ("kept", "time_travel", {"open_end": "2024-01-01"}, "so that open_end can not be given"),
        ("kept", "dbt_snapshot", {}, "kept has no column 'dbt_valid_from'"),
        ("kept", "scd2", {"valid_to": "id"}, "the column 'id' of kept is int; accepted for --va"),
    ]:
        with pytest.raises(CompilerError) as error:
            do_import(past, source, format, **options)
        assert words in str(error.value), str(error.value)
    assert not past._found(past.macros._context_of_model()["committed"])

    past.told("kept", f"{TIMES}, more int", [(1, "a", "2024-01-01", None, 1)])
    with pytest.raises(CompilerError) as error:
        do_import(past, "kept", "scd2")
    assert "the columns of the history kept are not the declared ones" in str(error.value)
    assert "unexpected: more" in str(error.value) and "--ignore COLUMN" in str(error.value)
    do_import(past, "kept", "scd2", ignore="more")
    with pytest.raises(CompilerError) as error:
        do_import(past, "kept", "scd2", ignore=["more"])
    assert "past has 1 load already, up to 2024-01-01" in str(error.value)
    assert "spark-cdc load past" in str(error.value)


@pytest.mark.integration
def test_values_and_flags_are_those_of_loads(cursor: Any, schema: str, tmp_path: Path) -> None:
    """Of text as it landed values are cast; a value that is none stops all, a flag is a delete."""
    rows = [("1", "a", "2024-01-01", "2024-01-03"), ("2", "b", "2024-01-02", None)]
    types = "id string, value string, valid_from string, valid_to string"
    past = small(cursor, schema, tmp_path, load_type="delta", deleted_when="value = 'gone'")
    past.told("kept", types, [*rows, ("x", "c", "2024-01-02", None)])
    with pytest.raises(CompilerError, match="1 row with no key"):
        do_import(past, "kept", "scd2")
    past.told("kept", types, [*rows, ("1", "gone", "2024-01-03", "2024-01-05")])
    do_import(past, "kept", "scd2")
    cursor.execute(
        "select id, value, operation, string(business_date)"
        f" from ({past.view_sql('history')}) order by business_date, id"
    )
    assert cursor.fetchall() == [
        (1, "a", "I", "2024-01-01"),
        (2, "b", "I", "2024-01-02"),
        (1, "a", "D", "2024-01-03"),
    ]
    cursor.execute(
        "select load_id like '%-dc-%', rows_in, rows_inserted, rows_deleted, rows_current,"
        f" business_time from {schema}.cdc_loads where status = 'committed' order by business_time"
    )
    assert cursor.fetchall() == [
        (True, 1, 1, 0, 1, "2024-01-01"),
        (False, 1, 1, 0, 2, "2024-01-02"),
        (True, 1, 0, 1, 1, "2024-01-03"),
    ]
