"""Rows of a snapshot that a tool takes again: they take their place, or the load is refused.

A load that keeps half of the keys as the first snapshot and the changes left them, and gives the
others the values of the second one, would be a state that the source never had.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import EventWarehouse, column
from shop import INTERPRETED
from spark_cdc.jinja_bridge import CompilerError
from test_adapters_loads import FLAGGED, SEQ, envelope
from test_config import changed, macros
from test_late_events import guarded

pytestmark = pytest.mark.proves("guards")
DAYS = tuple(f"2024-05-0{day}" for day in range(1, 8))
INTEGRATION = pytest.mark.integration
ID, NAME = column("id", "bigint", role="key"), column("name", "string")


# --- without a server -----------------------------------------------------------------------------


def test_one_row_in_doubt_trips_the_guard() -> None:
    found = guarded({"doubtful_reads": 1, "known": 1, "late": 1})
    for part in [
        "late_share: 1 row of a snapshot differs from what is known of its key, and nothing tells"
        " whether the snapshot or a change is newer;",
        "spark-cdc load 2024-05-01 --select orders --load-type full --position POSITION",
        "docs/snapshots.md",
    ]:
        assert part in found
    assert "3 rows of a snapshot differ from what is known of their keys" in guarded(
        {"doubtful_reads": 3}
    )
    assert "changes of 2 keys are of a transaction that may" in guarded({"overtaken": 2})
    skipped = {"spark_cdc_skip_guards": "orders.late_share"}
    assert guarded({"doubtful_reads": 1}, var=skipped) == ""
    assert guarded({"doubtful_reads": 0, "overtaken": 0}) == ""


def test_which_rows_of_a_snapshot_come_before_all_changes() -> None:
    """Those whose number is a time, and those of formats that say so."""
    first = {}
    for data_type in ("bigint", "timestamp", "date"):
        order = {"name": "seq", "data_type": data_type, "config": {"meta": {"role": "control"}}}
        given = macros(
            changed(load_type="events", events={**FLAGGED}, columns=[order], source__format="json")
        )
        first[data_type] = given._reads_come_first(given._entity("orders"))
    assert first == {"bigint": False, "timestamp": True, "date": True}
    for name in ("debezium", "debezium_flat", "change_arrays"):
        given = macros(changed(load_type="events", events={"format": name}, source__format="json"))
        assert given._reads_come_first(given._entity("orders")), name
    for name in ("maxwell", "canal", "dms_stream"):
        given = macros(changed(load_type="events", events={"format": name}, source__format="json"))
        assert not given._reads_come_first(given._entity("orders")), name


# --- loads ----------------------------------------------------------------------------------------

Message = dict[str, Any]
Told = Callable[[str, int, int, str], Message]


def postgres(what: str, at: int, id: int, name: str) -> Message:
    """A message of Debezium; `read` is a row of a first snapshot, which names no commit."""
    told = envelope("r" if what == "read" else "u", at, None, {"id": id, "name": name})
    committed = "null" if what in ("read", "first") else f'"{at - 5}"'
    told["source"]["sequence"] = f'[{committed},"{at}"]'
    return told


def mysql(what: str, at: int, id: int, name: str) -> Message:
    source = {"connector": "mysql", "file": "bin.000001", "pos": at, "row": 0}
    op = {"read": "r", "update": "u"}[what]
    return {"op": op, "before": None, "after": {"id": id, "name": name}, "source": source}


def maxwell(what: str, at: int, id: int, name: str) -> Message:
    kind = {"read": "bootstrap-insert", "update": "update"}[what]
    told = {"type": kind, "table": "people", "data": {"id": id, "name": name}}
    return told | ({"position": f"bin.000001:{at}"} if at else {})


def canal(what: str, at: int, id: int, name: str) -> Message:
    rows = {"data": [{"id": str(id), "name": name}], "old": [{}] if what == "update" else None}
    return {"type": {"read": "INIT", "update": "UPDATE"}[what], "id": at, "isDdl": False, **rows}


def dms_stream(what: str, at: int, id: int, name: str) -> Message:
    about = {"operation": {"read": "load", "update": "update"}[what], "record-type": "data"}
    told = {"data": {"id": id, "name": name}, "metadata": about}
    return told | ({"offset": at} if at else {})


def dms(what: str, at: int, id: int, name: str) -> Message:
    op = {"read": {}, "update": {"Op": "U"}}[what]
    return {**op, "at": f"2024-05-01 10:00:00.{at:06}", "id": id, "name": name}


def arrays(what: str, at: int, id: int, name: str) -> Message:
    kind = {"read": "READ", "update": "UPDATE"}[what]
    told = {"columnNames": ["id", "name"], "columnValues": [str(id), name]}
    return {"changeType": kind, "timestamp": at or None, **told}


def flagged(what: str, at: int, id: int, name: str) -> Message:
    return {"op": {"read": "S", "update": "U"}[what], "seq": at or None, "id": id, "name": name}


def timed(what: str, at: int, id: int, name: str) -> Message:
    told = flagged(what, at, id, name)
    return told | {"seq": f"2024-05-01 10:00:00.{at:06}" if at else None}


CODES = {"U": "update", "S": "read"}
AT = column("at", "string", role="control")
TIME = column("seq", "timestamp_ntz", role="control")
OP = column("op", "string", role="control")
FORMATS: dict[str, tuple[Told, dict[str, Any], list[dict[str, Any]]]] = {
    "debezium": (postgres, {"format": "debezium"}, []),
    "mysql": (mysql, {"format": "debezium"}, []),
    "maxwell": (maxwell, {"format": "maxwell"}, []),
    "canal": (canal, {"format": "canal"}, []),
    "dms_stream": (dms_stream, {"format": "dms_stream", "nulls": "sent"}, []),
    "dms": (dms, {"format": "dms", "timestamp_column": "at"}, [AT]),
    "change_arrays": (arrays, {"format": "change_arrays"}, []),
    "flagged_rows": (flagged, {**FLAGGED, "codes": CODES}, [SEQ, OP]),
    "times": (timed, {**FLAGGED, "codes": CODES}, [TIME, OP]),
}


@pytest.fixture
def make(cursor: Any, schema: str, tmp_path: Path) -> Callable[..., EventWarehouse]:
    """A warehouse of a format, guarded as entities are that say nothing of guards."""
    for setting, value in INTERPRETED.items():
        cursor.execute(f"set {setting} = {value}")

    def made(name: str, **source: Any) -> EventWarehouse:
        _, events, columns = FORMATS[name]
        people = EventWarehouse(
            cursor,
            schema,
            tmp_path,
            [ID, NAME, *columns],
            events={"archive": False, **events},
            source={"on_unexpected_column": "ignore", **source},
        )
        people.node["config"]["meta"]["spark_cdc"]["guards"] |= {"late_share": 0.2}
        return people

    return made


def load(people: EventWarehouse, day: str, *messages: Message) -> dict[str, int]:
    people.land(day, messages)
    counts: dict[str, int] = people.load(day)["counts"]
    return counts


def refused(people: EventWarehouse, day: str, *messages: Message) -> str:
    with pytest.raises(CompilerError, match="late_share") as error:
        load(people, day, *messages)
    return str(error.value)


def rows(people: EventWarehouse) -> dict[int, str]:
    return dict(list(people.rows("current", "id, name")))


PLACED = ["debezium", "mysql", "maxwell", "canal", "dms_stream", "flagged_rows"]
SHORT = ("debezium", "dms")


def some(names: list[str]) -> list[Any]:
    return [pytest.param(n, marks=[] if n in SHORT else pytest.mark.full) for n in names]


@pytest.mark.parametrize("name", some(PLACED))
def test_a_snapshot_with_a_place_takes_it(make: Any, name: str) -> None:
    told, people = FORMATS[name][0], make(name)
    first = [told("read", 1000, key, "a") for key in range(1, 5)]
    load(people, DAYS[0], *first)
    changes = [told("update", 2000, 1, "b"), told("update", 2001, 2, "c")]
    load(people, DAYS[1], *changes)
    # the snapshot again, with what was streamed before it, in one load
    load(
        people,
        DAYS[2],
        told("update", 3000, 3, "c"),
        told("update", 5000, 4, "after"),
        *(told("read", 4000, key, "new") for key in range(1, 6)),
    )
    wanted = {1: "new", 2: "new", 3: "new", 4: "after", 5: "new"}
    assert rows(people) == wanted
    # and all of it once more, late
    counts = load(people, DAYS[3], *first, *changes)
    assert (rows(people), counts["U"], counts["I"]) == (wanted, 0, 0)


UNPLACED = ["dms", "maxwell", "canal", "dms_stream", "change_arrays", "flagged_rows", "times"]


@pytest.mark.parametrize("name", some(UNPLACED))
def test_a_snapshot_without_a_place_must_not_differ(make: Any, name: str) -> None:
    told, people = FORMATS[name][0], make(name, on_missing_column="null")
    first = [told("read", 0, key, "a") for key in range(1, 4)]
    # a first load may hold the changes after its snapshot
    load(people, DAYS[0], *first, told("update", 2000, 1, "b"))
    assert rows(people) == {1: "b", 2: "a", 3: "a"}
    load(people, DAYS[1], told("update", 2001, 2, "c"))
    known = {1: "b", 2: "c", 3: "a"}
    # what equals the rows that are there changes nothing, and new keys come
    again = [told("read", 0, key, value) for key, value in known.items()]
    counts = load(people, DAYS[2], *again, told("read", 0, 4, "d"))
    known |= {4: "d"}
    assert (rows(people), counts["U"], counts["I"]) == (known, 0, 1)
    # one row that differs is enough, whether its key has changed since the first snapshot or not
    for key in (1, 3):
        message = refused(people, DAYS[3], *again[1:2], told("read", 0, key, "new"))
        assert "1 row of a snapshot differs from what is known of its key" in message
        assert "--load-type full --position" in message
    # unless a change of the load says the same
    both = [told("update", 3000, 3, "x"), told("read", 0, 3, "x"), told("update", 3001, 3, "y")]
    load(people, DAYS[3], *both)
    assert rows(people) == known | {3: "y"}


@INTEGRATION
@pytest.mark.parametrize("name", ["change_arrays", pytest.param("times", marks=pytest.mark.full)])
def test_the_time_at_which_a_row_was_read_is_no_place(make: Any, name: str) -> None:
    told, people = FORMATS[name][0], make(name)
    # a change after the snapshot began, before the row was read
    load(people, DAYS[0], told("read", 2000, 1, "a"), told("update", 1000, 1, "b"))
    assert rows(people) == {1: "b"}
    assert "1 row of a snapshot" in refused(people, DAYS[1], told("read", 3000, 1, "c"))
    # a row that was read before the change is older
    load(people, DAYS[1], told("read", 900, 1, "a"))
    assert rows(people) == {1: "b"}
    # of two snapshots the later one counts, as long as no change is between them
    load(people, DAYS[2], told("read", 2000, 2, "a"))
    load(people, DAYS[3], told("read", 3000, 2, "b"))
    assert rows(people) == {1: "b", 2: "b"}
    refused(people, DAYS[4], told("read", 4000, 2, "c"), told("update", 3500, 2, "d"))


@INTEGRATION
def test_what_was_deleted_or_truncated_stays_so_or_is_refused(make: Any) -> None:
    people = make("change_arrays")
    first = [arrays("read", 0, 1, "a"), arrays("read", 0, 2, "a")]
    gone = {"changeType": "DELETE", "timestamp": 5, "oldKeyNames": ["id"], "oldKeyValues": [1]}
    load(people, DAYS[0], *first)
    load(people, DAYS[1], gone)
    refused(people, DAYS[2], first[0])
    load(people, DAYS[2], {"changeType": "TRUNCATE", "timestamp": 6})
    assert rows(people) == {}
    message = refused(people, DAYS[3], arrays("read", 0, 7, "a key that was never there"))
    assert "1 row of a snapshot differs" in message


# --- PostgreSQL -----------------------------------------------------------------------------------


@INTEGRATION
def test_a_first_snapshot_of_postgresql_comes_before_open_transactions(make: Any) -> None:
    """The first one to commit names no commit, and may have begun before the snapshot."""
    people = make("debezium")
    load(people, DAYS[0], *(postgres("read", 1000, key, "a") for key in (1, 2)))
    load(people, DAYS[1], postgres("first", 990, 1, "open"), postgres("update", 1200, 2, "b"))
    assert rows(people) == {1: "open", 2: "b"}
    # a connector that begins its first snapshot anew
    people = make("debezium")
    load(people, DAYS[0], postgres("read", 1000, 1, "a"), postgres("read", 1100, 1, "b"))
    assert rows(people) == {1: "b"}


@INTEGRATION
@pytest.mark.parametrize("before", [False, True], ids=["first load", "later load"])
def test_two_snapshots_of_postgresql_in_one_load(make: Any, before: bool) -> None:
    people = make("debezium")
    first = [postgres("read", 1000, key, "a") for key in (1, 2)]
    if before:
        load(people, DAYS[0], *first)
    changes = [postgres("first", 1100, 1, "b"), postgres("update", 1200, 2, "b")]
    for key in (1, 2):
        again = [postgres("read", 2000, one, "c" if one == key else "b") for one in (1, 2)]
        message = refused(people, DAYS[1], *first, *changes, *again)
        assert "1 row of a snapshot differs" in message
    load(people, DAYS[1], *first, *changes, *(postgres("read", 2000, key, "b") for key in (1, 2)))
    assert rows(people) == {1: "b", 2: "b"}


@INTEGRATION
def test_a_transaction_that_was_open_while_the_snapshot_was_taken_again(make: Any) -> None:
    people = make("debezium")
    load(people, DAYS[0], postgres("read", 1000, 1, "a"), postgres("read", 1000, 2, "a"))
    load(people, DAYS[1], postgres("update", 1200, 1, "b"), postgres("update", 1201, 2, "b"))
    again = [postgres("read", 2000, 1, "b"), postgres("read", 2000, 2, "b")]
    spanning = postgres("first", 1900, 1, "open")
    assert "1 row of a snapshot differs" in refused(people, DAYS[2], *again, spanning)
    load(people, DAYS[2], *again)
    assert "changes of 1 key are of a transaction" in refused(people, DAYS[3], spanning)
    load(people, DAYS[3], postgres("first", 2100, 1, "c"))
    assert rows(people) == {1: "c", 2: "b"}


@INTEGRATION
@pytest.mark.full
def test_a_snapshot_that_takes_several_loads(make: Any) -> None:
    people = make("debezium")
    load(people, DAYS[0], *(postgres("read", 1000, key, "a") for key in (1, 2)))
    load(people, DAYS[1], postgres("update", 1200, 1, "b"), postgres("update", 1201, 2, "b"))
    load(people, DAYS[2], postgres("read", 2000, 1, "new"))
    load(people, DAYS[3], postgres("read", 2000, 2, "new"), postgres("read", 1000, 1, "a"))
    assert rows(people) == {1: "new", 2: "new"}
    # rows that come after the changes behind them are known by their keys' last change
    load(people, DAYS[4], postgres("update", 3000, 1, "c"))
    load(people, DAYS[5], postgres("read", 2000, 1, "new"))
    assert "1 row of a snapshot differs" in refused(
        people, DAYS[6], postgres("read", 2900, 2, "newer")
    )
    assert rows(people) == {1: "c", 2: "new"}
