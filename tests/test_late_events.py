"""Late events that differ from what was applied: the guard late_share, and positions anew."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from event_warehouse import EventWarehouse, column
from spark_cdc.jinja_bridge import CompilerError
from test_config import changed, macros

pytestmark = pytest.mark.proves("guards")
DAYS = tuple(f"2024-05-0{day}" for day in range(1, 7))


# --- without a server -----------------------------------------------------------------------------


def guarded(events: dict[str, Any], origin: dict[str, str] | None = None, **settings: Any) -> str:
    """The message with which guards stop a load of events, or an empty text."""
    given = macros(
        changed(load_type="events", events={"format": "maxwell"}, source__format="json"),
        run_query=lambda sql: SimpleNamespace(rows=[]),
        **settings,
    )
    audit = {
        "counts": dict.fromkeys("IUDNXRT", 0),
        "rows_in": 1,
        "rows_prior": 0,
        "recent": {},
        "ruled_out": 0,
        "record": {"events": events},
    }
    load = {
        "load_type": "events",
        "business_time": DAYS[0],
        "applied": {"origin": origin or {}, "highest": [1, 42, 7, 0]},
    }
    try:
        given._check_guards(given._entity("orders"), "l", load, audit)
    except CompilerError as error:
        return str(error)
    return ""


LATE = {"known": 150, "late": 150, "late_different": 31, "last": [1, 3, 9, 0]}


def test_a_share_of_late_events_trips_the_guard() -> None:
    message = guarded(LATE)
    for part in [
        "orders: a guard stops the load of 2024-05-01.",
        "late_share: 31 of 150 events of known keys are late and differ from what was applied:"
        " a share of 0.207; accepted is at most 0.2",
        "the last position is [1, 3, 9, 0], and [1, 42, 7, 0] was applied before",
        "spark-cdc load 2024-05-01 --select orders --load-type full --position POSITION"
        " --skip-guards orders.late_share",
    ]:
        assert part in message
    assert guarded(LATE | {"late_different": 30}) == ""
    assert guarded(LATE, var={"spark_cdc_skip_guards": "orders.late_share"}) == ""
    assert guarded({"late": 3}) == ""  # as loads before this guard have it


def test_another_log_trips_it_without_a_minimum() -> None:
    logs = {"known": 0, "late": 0, "late_different": 0, "origins": {"log": {"bin": 3}}}
    found = guarded(logs, {"log": "mysql-bin"})
    assert "positions count in the log 'bin', before in 'mysql-bin', and those of" in found
    assert "'bin', 'old'" in guarded(logs | {"origins": {"log": {"bin": 3, "old": 1}}})
    assert guarded(logs, var={"spark_cdc_skip_guards": "late_share"}) == ""


# --- loads ----------------------------------------------------------------------------------------


def maxwell(what: str, place: str, id: int, name: str, was: str = "") -> dict[str, Any]:
    """A message of Maxwell."""
    told = {"table": "people", "type": what, "position": place, "data": {"id": id, "name": name}}
    return told | ({"old": {"name": was}} if was else {})


@pytest.fixture
def people(cursor: Any, schema: str, tmp_path: Path) -> EventWarehouse:
    """A warehouse of Maxwell's messages, guarded where two events are of known keys."""
    found = EventWarehouse(
        cursor,
        schema,
        tmp_path / "events",
        [column("id", "bigint", role="key"), column("name", "string")],
        events={"format": "maxwell", "archive": False},
    )
    settings = found.node["config"]["meta"]["spark_cdc"]
    settings["guards"] |= {"late_share": 0.5, "min_rows": 2}
    full = {"path": f"{tmp_path}/full/{{business_date}}", "format": "csv"}
    settings["sources"] = {"full": full}
    return found


def load(people: EventWarehouse, day: str, *messages: dict[str, Any]) -> dict[str, Any]:
    people.land(day, messages)
    return people.load(day)


def refused(people: EventWarehouse, day: str, *messages: dict[str, Any]) -> str:
    with pytest.raises(CompilerError) as error:
        load(people, day, *messages)
    return str(error.value)


def rows(people: EventWarehouse) -> list[tuple[Any, ...]]:
    return sorted(people.rows("current", "id, name"))


def snapshot(people: EventWarehouse, day: str, position: str, lines: Iterable[str]) -> None:
    """Loads a full snapshot in which positions begin anew."""
    folder = people.folder.parent / "full" / day
    folder.mkdir(parents=True)
    (folder / "rows.csv").write_text("\n".join(["id,name", *lines]) + "\n", encoding="utf-8")
    people.variables |= {
        "spark_cdc_load_type": "full",
        "spark_cdc_position": position,
        "spark_cdc_skip_guards": "moves.late_share",
    }
    people.load(day)
    for name in ("spark_cdc_load_type", "spark_cdc_position", "spark_cdc_skip_guards"):
        people.variables.pop(name)


@pytest.mark.full
def test_a_numbering_that_begins_anew(people: EventWarehouse) -> None:
    first = [
        maxwell("insert", "bin.000042:1", 1, "a"),
        maxwell("insert", "bin.000042:2", 2, "b"),
        maxwell("insert", "bin.000042:3", 3, "c"),
        maxwell("update", "bin.000042:4", 2, "b2", was="b"),
        maxwell("delete", "bin.000042:5", 3, "c"),
    ]
    load(people, DAYS[0], *first)
    # what comes again does not differ; a row of a snapshot takes its place, and says what is so
    load(people, DAYS[1], *first, maxwell("bootstrap-insert", "bin.000042:4", 1, "a"))
    assert (people.summary["late"], people.summary["late_different"]) == (5, 0)
    assert rows(people) == [(1, "a"), (2, "b2")]

    anew = [
        maxwell("update", "bin.000001:1", 1, "z", was="a"),
        maxwell("delete", "bin.000001:2", 2, "b2"),
        maxwell("insert", "bin.000001:3", 3, "c3"),
    ]
    message = refused(people, DAYS[2], *anew)
    assert "late_share: 3 of 3 events of known keys are late" in message
    assert "the last position is [1, 1, 3, 0], and [1, 42, 5, 0] was applied" in message
    other = [maxwell("insert", "log.000042:9", 9, "new")]
    assert "in the log 'log', before in 'bin', and those" in refused(people, DAYS[2], *other)
    # a snapshot of a connector, which comes before all changes
    message = refused(people, DAYS[2], *(maxwell("bootstrap-insert", "", n, "y") for n in (1, 2)))
    assert "2 rows of a snapshot differ from what is known of their keys" in message
    assert rows(people) == [(1, "a"), (2, "b2")]

    # the way on: key 3 was deleted at a higher position than those to come, and 2 is gone
    snapshot(people, DAYS[2], "1,2", ["1,z"])
    assert rows(people) == [(1, "z")]
    load(
        people,
        DAYS[3],
        maxwell("insert", "log.000001:1", 2, "in the snapshot"),
        maxwell("insert", "log.000001:3", 3, "c3"),
        maxwell("update", "log.000001:4", 1, "z2", was="z"),
        maxwell("insert", "log.000001:5", 2, "b3"),
    )
    assert rows(people) == [(1, "z2"), (2, "b3"), (3, "c3")]


@pytest.mark.integration
def test_events_from_before_a_truncate(cursor: Any, schema: str, tmp_path: Path) -> None:
    people = EventWarehouse(
        cursor, schema, tmp_path, [column("id", "bigint", role="key"), column("name", "string")]
    )
    people.node["config"]["meta"]["spark_cdc"]["guards"] |= {"late_share": 0.5, "min_rows": 1}
    first = [
        {"what": "ins", "at": [10], "new": {"id": 1, "name": "a"}},
        {"what": "ins", "at": [11], "new": {"id": 2, "name": "b"}},
        {"what": "all", "at": [12]},
    ]
    load(people, DAYS[0], *first)
    load(people, DAYS[1], *first)
    assert (people.summary["late"], people.summary["late_different"]) == (3, 0)
    anew = {"what": "ins", "at": [1], "new": {"id": 7, "name": "a key that was never there"}}
    message = refused(people, DAYS[2], anew)
    assert "late_share: 1 of 1 events of known keys are late" in message
