"""Replays: the past is loaded anew out of readers' sight, and takes the old one's place at once."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from project import Project
from spark_cdc.jinja_bridge import load_macros
from spark_cdc.server import table_formats

pytestmark = pytest.mark.proves("replay")

FULL = {"id": {"data_type": "int", "role": "key"}, "value": "string"}
DELTA = FULL | {"op": {"data_type": "string", "role": "control"}}
EVENTS = FULL | {
    "op": {"data_type": "string", "role": "control"},
    "pos": {"data_type": "bigint", "role": "control"},
}
ROUTES = ("full", "delta", "events")
WRONG_NAMES = [f"{route}_wrong" for route in ROUTES]
DAYS = ("2024-01-01", "2024-01-02", "2024-01-03")

# what should have landed, per day
RIGHT = {
    "full": (["1,a", "2,b", "4,d"], ["1,a", "2,c", "3,x"], ["1,a", "3,y", "5,e"]),
    "delta": (
        ["1,a,I", "2,b,I", "4,d,I"],
        ["2,c,U", "3,x,I"],
        ["2,,D", "3,y,U", "4,,D", "5,e,I"],
    ),
    "events": (
        ["1,a,I,1", "2,b,I,2", "4,d,I,3"],
        ["2,c,U,11", "3,w,I,12", "3,x,U,13"],
        ["2,,D,21", "3,y,U,22", "3,late,U,12", "4,,D,32", "5,e,I,33"],
    ),
}
# what landed instead, and on which day; the full load of day 2 was left out, too
WRONG = {
    "full": (3, ["1,a", "2,WRONG"]),
    "delta": (2, ["2,WRONG,U", "1,,D"]),
    "events": (2, ["2,WRONG,U,11", "1,,D,40"]),
}


def land(project: Project, entity: str, day: int, rows: list[str]) -> None:
    header = {1: "id,value", 2: "id,value,op", 3: "id,value,op,pos"}[rows[0].count(",")]
    project.land(entity, DAYS[day - 1], header, *rows)


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """Three entities that were loaded wrong, and one that was right from the start."""
    for route in ROUTES:
        columns = {"full": FULL, "delta": DELTA, "events": EVENTS}[route]
        settings: dict[str, Any] = {"load_type": route}
        if route == "delta":
            settings["deleted_when"] = "op = 'D'"
        if route == "events":
            settings["events"] = {
                "format": "flagged_rows",
                "order": ["pos"],
                "operation": "op",
                "archive": True,
            }
        for name in (f"{route}_wrong", *(["full_right"] if route == "full" else [])):
            project.entity(name, columns, checkpoint={"loads": 1, "changed_share": 100}, **settings)
            for day, rows in enumerate(RIGHT[route], start=1):
                land(project, name, day, rows)
        land(project, f"{route}_wrong", *WRONG[route])
    for date in DAYS:
        names = ["full_right", *WRONG_NAMES]
        if date == DAYS[1]:
            names.remove("full_wrong")
        project.load(date, *names)
    return project


def state(project: Project, *entities: str) -> dict[str, Any]:
    """All that readers see of some entities, and the loads that cdc_loads calls committed."""
    seen = {
        f"{entity}_{view}": project.rows(f"{entity}_{view}", "*")
        for entity in entities
        for view in ("current", "history", "versions")
    }
    names = ", ".join(f"'{entity}'" for entity in entities)
    committed = f"cdc_loads where entity in ({names}) and status = 'committed'"
    seen["loads"] = project.rows(committed, "entity, load_id")
    return seen


def drafts(project: Project) -> list[str]:
    return [row[1] for row in project.query("show views in {s} like '*_replay'")]


def loads_in(project: Project, table: str) -> set[str]:
    """The loads that have partitions in a table, as its format tells them."""
    if project.file_format in table_formats.BUILDS:
        rows = project.query(f"select distinct load_id from {{s}}.{table}")
        return {row[0] for row in rows}
    rows = project.query(f"show partitions {{s}}.{table}")
    return {row[0].partition("load_id=")[2] for row in rows}


REPLAY = ("replay", "--from", DAYS[1], "--select", *WRONG_NAMES)


def test_a_replay_that_stops_shows_nothing_and_goes_on(
    shop: Project, command: Callable[..., tuple[int, str]]
) -> None:
    before = state(shop, *WRONG_NAMES)
    for route in ROUTES:
        day = WRONG[route][0]
        land(shop, f"{route}_wrong", day, RIGHT[route][day - 1])
    land(shop, "delta_wrong", 3, ["many,y,U"])
    code, said = command(*REPLAY, "--dates", DAYS[1])
    assert code == 1
    assert re.search(r"full_wrong  2024-01-02  [\d.]+ s  3 rows in, I 1, U 1, D 1, N 1", said), said
    assert "id: 'many' is not accepted as int" in said
    assert "The replay failed at 2024-01-03. Readers see the state from before it." in said
    assert state(shop, *WRONG_NAMES) == before

    land(shop, "delta_wrong", 3, RIGHT["delta"][2])
    code, said = command(*REPLAY)
    assert code == 0, said
    assert "full_wrong: 2 dates (2024-01-02 to 2024-01-03) from the landing, 2 of them in" in said
    assert "delta_wrong: 2 dates (2024-01-02 to 2024-01-03) from the landing, 1 of them in" in said
    assert not re.search(r"_wrong  2024-01-02  ", said), said
    compared = [" ".join(line.split()) for line in said.splitlines()]
    at = compared.index("full_wrong: replay from 2024-01-02, from the landing; 2 loads")
    assert compared[at + 2 : at + 5] == [  # before and after: I, U, D
        "2024-01-02 0 1 0 1 0 1 0 go, 3 come (new date)",
        "2024-01-03 0 1 1 1 1 1 2 go, 3 come",
        "current: 2 rows before, 3 after; 3 differ: 1 go, 2 come, 0 with other values,"
        " 0 with another eff_start_date only",
    ]
    assert "--publish" in said
    code, said = command("diff", "full_wrong", DAYS[2], "draft")
    assert "full_wrong from 2024-01-03 to draft: 2 added, 1 removed, 0 changed" in said
    assert state(shop, *WRONG_NAMES) == before
    assert sorted(drafts(shop)) == sorted(f"{name}_replay" for name in WRONG_NAMES)


def test_a_commit_that_came_meanwhile_is_not_undone(
    shop: Project, command: Callable[..., tuple[int, str]]
) -> None:
    """A leftover draft blocks no load; one that a load has outdated is refused and built anew."""
    shop.load(DAYS[2], "full_wrong")
    before = state(shop, *WRONG_NAMES)
    code, said = command("replay", "--publish", "--select", *WRONG_NAMES)
    assert code == 1
    assert "full_wrong: the draft of the replay from 2024-01-02 is out of date" in said
    assert "Nothing was published and readers see what they saw before" in said
    assert state(shop, *WRONG_NAMES) == before

    code, said = command(*REPLAY, "--publish")
    assert code == 1
    assert "full_wrong: the draft is out of date and is rebuilt: since it was made, another" in said
    assert "delta_wrong: 2 dates (2024-01-02 to 2024-01-03) from the landing, 2 of them in" in said
    assert "was rebuilt, but not published. Its figures are new." in said
    assert state(shop, *WRONG_NAMES) == before

    code, said = command(*REPLAY, "--publish")
    assert code == 0, said
    assert "full_wrong: published the replay from 2024-01-02: 2 loads up to 2024-01-03" in said
    assert " rows in, " not in said, "nothing is computed again"
    assert drafts(shop) == []


COUNTS = (
    "business_time, is_checkpoint, rows_in, rows_inserted, rows_updated, rows_deleted,"
    " rows_unchanged, rows_not_supplied, rows_prior, rows_current, events_late"
)


def committed_loads(project: Project, entity: str) -> list[tuple[Any, ...]]:
    """What cdc_loads says of the loads that count."""
    loads = f"select load_id from {project.schema}.{entity}_committed"
    return project.rows(f"cdc_loads where entity = '{entity}' and load_id in ({loads})", COUNTS)


def test_it_is_as_if_it_had_been_loaded_in_order(shop: Project) -> None:
    for view in ("current", "history", "versions"):
        found = shop.rows(f"full_wrong_{view}", "*")
        assert found == shop.rows(f"full_right_{view}", "*"), view
    assert len(found) == 7
    assert shop.figures("full_wrong") == shop.figures("full_right")
    assert committed_loads(shop, "full_wrong") == committed_loads(shop, "full_right")


@pytest.mark.parametrize(("route", "late"), [("delta", None), ("events", 1)])
def test_deltas_and_events_are_as_if_they_had_been_right(
    shop: Project, route: str, late: int | None
) -> None:
    name = f"{route}_wrong"
    assert shop.rows(f"{name}_current", "id, value, operation, eff_start_date") == [
        (1, "a", "X", DAYS[0]),
        (3, "y", "U", DAYS[2]),
        (5, "e", "I", DAYS[2]),
    ]
    assert shop.rows(f"{name}_history", "business_date, operation, id, value") == [
        (DAYS[0], "I", 1, "a"),
        (DAYS[0], "I", 2, "b"),
        (DAYS[0], "I", 4, "d"),
        (DAYS[1], "I", 3, "x"),
        (DAYS[1], "U", 2, "c"),
        (DAYS[2], "D", 2, "c"),
        (DAYS[2], "D", 4, "d"),
        (DAYS[2], "I", 5, "e"),
        (DAYS[2], "U", 3, "y"),
    ]
    assert len(shop.rows(f"{name}_versions", "*")) == 7
    none = None if late is None else 0
    rows_in = (3, 2, 4) if route == "delta" else (3, 3, 5)
    assert committed_loads(shop, name) == [
        (DAYS[0], True, rows_in[0], 3, 0, 0, 0, 0, 0, 3, none),
        (DAYS[1], False, rows_in[1], 1, 1, 0, 0, 2, 3, 4, none),
        (DAYS[2], True, rows_in[2], 1, 1, 2, 0, 1, 4, 3, late),
    ]
    said = [entry[:2] + entry[3:] for entry in shop.figures(name)]  # all but the definition
    applied = [{"highest": [1, at], "truncated": None} for at in (3, 13, 33)]
    assert said == [
        (rows, written, {}, {} if route == "delta" else at)
        for rows, written, at in zip((3, 4, 3), (3, 2, 5), applied, strict=True)
    ]


def test_cdc_loads_says_what_was_replaced(shop: Project) -> None:
    rows = shop.query(
        "select new.business_time, old.business_time, new.committed_at is not null,"
        " new.duration_seconds > 0 from {s}.cdc_loads as new left join {s}.cdc_loads as old"
        " on old.entity = new.entity and old.load_id = new.replaced_load_ids"
        " where new.entity = 'full_wrong' and new.load_id in"
        " (select load_id from {s}.full_wrong_committed) order by 1"
    )
    assert rows[1:] == [
        ("2024-01-02", None, True, True),
        ("2024-01-03", "2024-01-03", True, True),
    ]


@pytest.mark.integration
def test_an_archive_stands_in_for_the_landing(
    shop: Project, command: Callable[..., tuple[int, str]]
) -> None:
    before = state(shop, "events_wrong")
    shutil.rmtree(shop.landing / "events_wrong")
    words = ("replay", "--from", DAYS[2], "--source", "archive", "--select", "events_wrong")
    code, said = command(*words, "--publish")
    assert code == 0, said
    assert re.search(r"events_wrong  2024-\d\d-\d\d  [\d.]+ s  5 rows in, I 1, U 1, D 2", said), (
        said
    )
    assert said.count("   none") == 1
    after = state(shop, "events_wrong")
    old, new = set(before.pop("loads")), set(after.pop("loads"))
    assert [len(new - old), len(old - new)] == [1, 1], "the load that was replaced is none of them"
    assert after == before
    archived = "select count(distinct load_id) from {s}.events_wrong_events"
    assert shop.query(archived) == [(6,)]


@pytest.mark.integration
def test_from_before_the_first_load_with_dbt_alone(shop: Project) -> None:
    """Everything anew; and a draft that lacks a date is refused, then discarded."""
    asked = {"spark_cdc_replay": {"from": "2023-01-01"}}
    before = state(shop, "delta_wrong")
    for date in (DAYS[1], DAYS[0]):
        outcome = shop.load(date, "delta_wrong", **asked)
    assert "delta_wrong 2024-01-01: 3 rows in, I 3, U 0" in outcome.output
    outcome = shop.operate("publish_replay", entities=["delta_wrong"])
    assert not outcome.success
    assert (
        "delta_wrong: the draft of the replay from 2023-01-01 lacks 2 dates that it would take the"
        " place of: 2024-01-02, 2024-01-03" in " ".join(outcome.output.split())
    )
    assert state(shop, "delta_wrong") == before
    outcome = shop.operate("discard_replay")
    assert "delta_wrong: discarded the draft of the replay from 2023-01-01" in outcome.output
    assert drafts(shop) == []


@pytest.mark.full
def test_times_of_day_and_a_backfill_that_stops(
    shop: Project, command: Callable[..., tuple[int, str]]
) -> None:
    """Of events that are not archived; those of a run that is under way are left alone."""
    settings = {"format": "flagged_rows", "order": ["pos"], "operation": "op"}
    shop.entity(
        "ticks", EVENTS, load_type="events", events=settings, business_date_type="timestamp"
    )
    shop.land("ticks", "2024-01-01T000000", "id,value,op,pos", "1,a,I,1")
    shop.land("ticks", "2024-01-01T001500", "id,value,op,pos", "one,b,U,2")
    words = ("load", "2024-01-01 00:00..2024-01-01 00:15", "--step", "15m")
    words += ("--select", "path:models/ticks")
    code, said = command(*words)
    assert code == 1
    assert re.search(r"ticks  2024-01-01 00:00:00  [\d.]+ s  1 rows in, I 1, U 0", said), said
    assert "id: 'one' is not accepted as int" in said
    assert "The load of 2024-01-01 00:15:00 failed." in said
    shop.land("ticks", "2024-01-01T001500", "id,value,op,pos", "1,b,U,2")
    under_way = "20240101T003000-e-ffffffff"
    shop.query(
        "insert into {s}.ticks_events (id, business_date, load_id)"
        f" values (1, date'2024-01-01', '{under_way}')"
    )
    code, said = command(*words)
    assert code == 0, said
    partitions = loads_in(shop, "ticks_events")
    assert under_way in partitions
    assert not [load for load in partitions if "T000000" in load or load.startswith("20240101-")]
    assert "1 date is committed and skipped (2024-01-01 00:00:00)" in said
    assert re.search(r"ticks  2024-01-01 00:15:00  [\d.]+ s  ", said), said

    shop.land("ticks", "2024-01-01T001500", "id,value,op,pos", "1,c,U,2")
    shop.load("2024-01-01 00:15", "ticks", spark_cdc_replay={"from": "2024-01-01 00:15"})
    assert "b" in {row[0] for row in shop.rows("ticks_current", "value")}
    code, said = command("status", "--select", "ticks")
    assert re.search(
        r"ticks +events +2 +2024-01-01 00:00:00 +2024-01-01 00:15:00 +1 +20240101T001500-e\w*-\w+"
        r" +from 2024-01-01 00:15:00, 1 load, complete",
        said.replace(" |", ""),
    )
    outcome = shop.operate("publish_replay")
    assert outcome.success, outcome.output
    assert shop.rows("ticks_versions", "value, cast(eff_start_date as string)") == [
        ("a", "2024-01-01 00:00:00"),
        ("c", "2024-01-01 00:15:00"),
    ]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"from": "2024-01-03"}, "lies before the first of the replay, '2024-01-03'"),
        ({"form": "2024-01-02"}, "Accepted is {from: DATE}"),
        ("2024-01-02", "Accepted is {from: DATE}"),
        ({"from": "2024-01-02", "to": "2024-01-03"}, "has 'to', which is unknown"),
        ({"from": "2024-01-02", "source": "tape"}, "Accepted are landing and archive"),
        ({"from": "2024-01-02", "source": "archive"}, "delta: spark_cdc_replay.source is archive"),
        ({"from": "2024-01-01 10:00"}, "delta: spark_cdc_replay.from is '2024-01-01 10:00'"),
    ],
)
def test_what_is_asked_for_is_checked(asked: Any, message: str) -> None:
    problems = load_macros(var={"business_date": "2024-01-02"})._replay_problems
    settings = {"load_type": "delta"}
    assert len(found := problems(asked, [("delta", settings)])) == 1
    assert message in found[0]
    assert problems({"from": "2024-01-02"}, [("delta", settings)]) == []


@pytest.mark.integration
def test_the_way_out_of_a_refused_load_stays_in_the_replay() -> None:
    entity, load = {"name": "a", "events": None}, {"business_time": "2024-01-03"}
    asked = {"spark_cdc_replay": {"from": "2024-01-02 10:15", "source": "archive"}}
    command = load_macros(var=asked)._skip_command(entity, load, ["empty"])
    values = yaml.safe_load(command.partition("--vars ")[2].strip("'"))
    assert values.pop("spark_cdc_skip_guards") == ["a.empty"]
    assert load_macros(var=values)._replay() == load_macros(var=asked)._replay()
    assert "spark_cdc_replay" not in load_macros()._skip_command(entity, load, ["empty"])
