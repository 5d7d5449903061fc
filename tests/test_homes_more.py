"""Ledgers of ORC, Delta and Iceberg: tables without a key, inputs that are kept, and imports.

All else that loads and operations do on them: test_homes.py. All of it with `make test-all`.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from own_servers import shop_in
from project import Project

pytestmark = [pytest.mark.proves("file formats"), pytest.mark.full]

DAYS = tuple(f"2024-03-0{day}" for day in range(1, 5))
KEY = {"data_type": "int", "role": "key"}
UNGUARDED = {"deleted_share": None}


@pytest.fixture(scope="module", params=["delta", "iceberg", "orc"])
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """A project whose ledgers are of the format, on a server that has it."""
    with shop_in(request.param, tmp_path_factory.mktemp(request.param)) as project:
        yield project


def test_rows_without_a_key(shop: Project) -> None:
    """Random multisets, each date as often as in its file; a replay, compact and undo of them."""
    chance, truth = random.Random(57), {}
    shop.entity("bag", {"value": "string", "size": "int"}, keyless=True, guards=UNGUARDED)
    for date in DAYS:
        lines = chance.choices([f"{value},{size}" for value in "abc" for size in "12"], k=9)
        truth[date] = Counter(lines)
        shop.land("bag", date, "value,size", *lines)
        shop.load(date, "bag")
    assert bags(shop) == truth
    for date in DAYS[2:]:
        shop.load(date, "bag", spark_cdc_replay={"from": DAYS[2]})
    for macro, words in (
        ("publish_replay", {}),
        ("compact", {"older_than_days": 0, "execute": True}),
        ("vacuum", {"retention_hours": 0, "force": True, "execute": True}),
    ):
        done = shop.operate(macro, entities="bag", **words)
        assert done.success, done.output
        assert bags(shop) == truth
    undone = shop.operate("undo", entities="bag", to=DAYS[2])
    assert undone.success, undone.output
    assert bags(shop, DAYS[2], "2024-04-01") == {
        DAYS[2]: truth[DAYS[2]],
        "2024-04-01": truth[DAYS[2]],
    }
    tested = shop.dbt("test", "--select", "path:models/bag")
    assert tested.success, tested.output


def bags(shop: Project, *dates: str) -> dict[str, Counter[str]]:
    """How often each row is there on some dates."""
    shown = "select concat(value, ',', size) from {s}.bag_versions where eff_start_date <= '%s'"
    until = " and coalesce(eff_end_date > '%s', true)"
    return {
        date: Counter(row[0] for row in shop.query(shown % date + until % date))
        for date in dates or DAYS
    }


def test_inputs_that_are_kept(shop: Project) -> None:
    """Of a table whose columns change their types, replayed when it is gone."""
    kept = {"source": {"format": "table"}, "archive_input": True}
    wide = {"data_type": "bigint", "role": "key"}
    shop.entity("held", {"id": wide, "size": "int", "note": "string"}, **kept)
    rows = {
        DAYS[0]: "cast(1 as smallint) as id, cast(5 as tinyint) as size, 'a' as note",
        DAYS[1]: "1 as id, cast(6 as smallint) as size, cast('b' as varchar(3)) as note",
        DAYS[2]: "bigint(1) as id, 7 as size, cast('c' as char(3)) as note",
    }
    for day, row in rows.items():
        shop.query("drop table if exists {s}.held")
        # Iceberg's session catalog leaves the folder of a dropped table
        place = shop.folder / f"held_{day}"
        shop.query(f"create table {{s}}.held using parquet location '{place}' as select {row}")
        shop.load(day, "held")
        shop.query("refresh table {s}.held_ledger")
    shop.query("drop table {s}.held")
    shown = "id, size, note, string(eff_start_date)"
    known = shop.rows("held_history", shown)
    assert [(row[1], row[2].strip()) for row in known] == [(5, "a"), (6, "b"), (7, "c")]
    for day in rows:
        shop.load(day, "held", spark_cdc_replay={"from": DAYS[0]})
    published = shop.operate("publish_replay", entities="held")
    assert published.success, published.output
    assert shop.rows("held_history", shown) == known
    done = shop.operate("vacuum", entities="held", retention_hours=0, force=True, execute=True)
    assert done.success, done.output
    shop.query("refresh table {s}.held_kept_input")
    assert shop.query("select count(distinct load_id) from {s}.held_kept_input") == [(3,)]


def test_imports(shop: Project) -> None:
    """Intervals, and versions of a table of the same format, become such a ledger."""
    using, day = shop.file_format, "2024-05-0{}"
    intervals = [(1, "a", 1, 3), (1, "b", 3, None), (2, "x", 2, 4), (3, "y", 2, None)]
    values = ", ".join(
        f"({key}, '{value}', date'{day.format(start)}',"
        f" {f'date{day.format(end)!r}' if end else 'cast(null as date)'})"
        for key, value, start, end in intervals
    )
    shop.query(f"create table {{s}}.kept_before using {using} as select * from values {values}"
               " as t (id, value, valid_from, valid_to)")  # fmt: skip
    shop.entity("taken", {"id": KEY, "value": "string"}, guards=UNGUARDED)
    source = {"entity": "taken", "source": f"{shop.schema}.kept_before", "format": "scd2"}
    done = shop.operate("import_history", **source)
    assert done.success, done.output
    built = shop.dbt("run", "--select", "path:models/taken,config.materialized:cdc_view")
    assert built.success, built.output
    shown = "id, value, int(day(eff_start_date)), int(day(eff_end_date))"
    assert shop.rows("taken_versions", shown) == intervals
    shop.land("taken", day.format(6), "id,value", "1,c", "3,y")
    shop.load(day.format(6), "taken")
    later = [(1, "a", 1, 3), (1, "b", 3, 6), (1, "c", 6, None), *intervals[2:]]
    assert shop.rows("taken_versions", shown) == later
    undone = shop.operate("undo", entities="taken")
    assert undone.success, undone.output
    assert shop.rows("taken_versions", shown) == intervals
    if using == "orc":
        return
    states: list[list[tuple[int, str]]] = []
    shop.query(f"create table {{s}}.merged (id int, value string) using {using}")
    for number in range(4):
        shop.query(
            f"merge into {{s}}.merged as target using (select explode(array({number}, 9)) as id)"
            f" as source on target.id = source.id when matched then update set value = 'v{number}'"
            f" when not matched then insert (id, value) values (source.id, 'new {number}')"
        )
        states.append(shop.rows("merged", "id, value"))
        time.sleep(1.1)
    shop.entity("versioned", {"id": KEY, "value": "string"}, business_date_type="timestamp")
    source = {"entity": "versioned", "source": f"{shop.schema}.merged", "format": "time_travel"}
    done = shop.operate("import_history", **source)
    assert done.success, done.output
    built = shop.dbt("run", "--select", "path:models/versioned,config.materialized:cdc_view")
    assert built.success, built.output
    moments = shop.query("select distinct eff_start_date from {s}.versioned_history order by 1")
    assert len(moments) == len(states)
    for (moment,), state in zip(moments, states, strict=True):
        at = f"eff_start_date <= '{moment}' and coalesce(eff_end_date > '{moment}', true)"
        found = shop.query(f"select id, value from {{s}}.versioned_versions where {at} order by 1")
        assert found == state
    for name in ("taken", "versioned"):
        told = {row[0]: row[1] for row in shop.query(f"describe extended {{s}}.{name}_ledger")}
        assert told["Provider"] == using
