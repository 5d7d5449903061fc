"""Change events whose rows name the columns that they bring (columns_sent of flagged_rows)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import EventWarehouse, column
from spark_cdc.jinja_bridge import CompilerError, load_macros_of

pytestmark = pytest.mark.proves("event formats")

DAYS = ("2024-05-01", "2024-05-02")
EVENTS = {"format": "flagged_rows", "operation": "op", "order": ["seq"], "columns_sent": "sent"}


def columns(data_type: str) -> list[dict[str, Any]]:
    return [
        column("op", "string", role="control"),
        column("seq", "bigint", role="control"),
        column("sent", data_type, role="control"),
        column("id", "int", role="key"),
        column("name", "string"),
        column("age", "int"),
    ]


@pytest.fixture
def people(cursor: Any, schema: str, tmp_path: Path, request: Any) -> EventWarehouse:
    """Two people, whose next rows say in `sent` which columns they bring."""
    data_type = getattr(request, "param", "string")
    warehouse = EventWarehouse(
        cursor, schema, tmp_path, columns(data_type), events={**EVENTS, "archive": False}
    )
    warehouse.land(DAYS[0], [told("I", 1, 1, "a", 10), told("I", 2, 2, "b", 20)])
    warehouse.load(DAYS[0])
    return warehouse


def told(op: str, seq: int, id: int, name: Any, age: Any, sent: Any = None) -> dict[str, Any]:
    return {"op": op, "seq": seq, "id": id, "name": name, "age": age, "sent": sent}


def after(people: EventWarehouse, *rows: dict[str, Any]) -> set[tuple[Any, ...]]:
    people.land(DAYS[1], rows)
    people.load(DAYS[1])
    return set(people.rows("current", "id, name, age"))


# The second column is sent, none, all, and both that are no key; by what each form says so.
SENT = {
    "string": ("name", "[]", None, '["NAME", "age", "id", "op"]'),
    "array<string>": (["Name"], [], None, ["name", "age"]),
    "tinyint": (2, 0, None, 6),
    "bigint": (3, 1, None, 7),
}


@pytest.mark.parametrize(
    ("people", "sent"),
    [
        pytest.param(*one, marks=[] if one[0] == "string" else pytest.mark.integration)
        for one in SENT.items()
    ],
    indirect=["people"],
    ids=SENT,
)
def test_what_is_not_sent_keeps_its_value(people: EventWarehouse, sent: tuple[Any, ...]) -> None:
    one, none, every, both = sent
    rows = [
        told("U", 11, 1, "x", 99, one),  # 99 is not meant
        told("U", 12, 1, "y", 98, none),
        told("U", 13, 2, None, 97, one),
        told("I", 14, 3, "c", 30, one),  # nobody ever said an age
        told("I", 15, 4, "d", 40, both),
        told("I", 16, 5, "e", 50, every),
        told("U", 17, 5, None, 51, both),
    ]
    assert after(people, *rows) == {
        (1, "x", 10),
        (2, None, 20),
        (3, "c", None),
        (4, "d", 40),
        (5, None, 51),
    }
    counts = {name: count for name, count in people.audit["counts"].items() if count}
    assert counts == {"U": 2, "I": 3}


def test_names_with_commas_between_them(people: EventWarehouse) -> None:
    rows = [told("U", 11, 1, "x", 11, "id, age"), told("U", 12, 2, "y", 21, " ")]
    assert after(people, *rows) == {(1, "a", 11), (2, "y", 21)}


@pytest.mark.parametrize(
    ("people", "sent", "reason"),
    [
        (
            "string",
            '["nmae", "age"]',
            "unknown columns in sent: nmae; accepted are op, seq, sent, id, name, age",
        ),
        pytest.param(
            *("string", "[name", "sent is no JSON array of names: '[name'"),
            marks=pytest.mark.integration,
        ),
        pytest.param(
            *("array<string>", ["name", None], "unknown columns in sent: null"),
            marks=pytest.mark.integration,
        ),
        pytest.param(
            *("int", 9, "sent has a bit for no column: 9; the lowest bit is id, the highest age"),
            marks=pytest.mark.integration,
        ),
        pytest.param(
            *("int", -1, "sent has a bit for no column: -1"), marks=pytest.mark.integration
        ),
    ],
    indirect=["people"],
)
def test_what_names_no_column_is_rejected(people: EventWarehouse, sent: Any, reason: str) -> None:
    with pytest.raises(CompilerError) as error:
        after(people, told("U", 11, 1, "x", 11, sent))
    assert reason in str(error.value)
    assert json.dumps("x") in str(error.value)


@pytest.mark.integration
def test_a_bad_value_that_is_not_sent_is_not_looked_at(people: EventWarehouse) -> None:
    assert after(people, told("U", 11, 1, "x", "much", "name")) == {(1, "x", 10), (2, "b", 20)}


@pytest.mark.parametrize(
    ("data_type", "count", "told"),
    [
        ("date", 3, "which is date; accepted are array<string>, string (names with commas"),
        ("bigint", 80, "a number of 63 bits, for 80 columns: take a list of names"),
    ],
)
def test_what_can_not_say_so_is_refused(data_type: str, count: int, told: str) -> None:
    more = [column(f"c{number}", "string") for number in range(count - 3)]
    settings = {"load_type": "events", "source": {"format": "json"}, "events": EVENTS}
    macros, node = load_macros_of("people", settings, [*columns(data_type), *more])
    problems = macros._entity_problems("people", node)
    assert any(told in problem for problem in problems), problems
