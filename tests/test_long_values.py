"""Values at the limits of what Spark's JSON parser, and Thrift, take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import EventWarehouse, column
from spark_cdc.jinja_bridge import CompilerError, load_macros
from warehouse import Warehouse, described, land_lines

pytestmark = pytest.mark.proves("input")
DAY = "2024-05-01"
LONG = 20_000_001  # one letter more than the parser takes by itself
MACROS = load_macros()


def parsed(cursor: Any, letter: str, before: str, after: str, length: int) -> tuple[Any, ...]:
    """What becomes of a message with a long value: of the columns v and w, and of its problem."""
    message = f"concat('{{\"v\":{before}', repeat('{letter}', {length}), '{after},\"w\":\"x\"}}')"
    landed = f"(select {message} as message, 1 as landed_row)"
    entity = {"columns": []}
    fields = [["v", "string", "v"], ["w", "string", "w"]]
    cursor.execute(
        f"select length(v), w, unparsable is null, {MACROS._is_misread('message')}"
        f" from ({MACROS._parsed_messages(entity, landed, fields)}) as parsed"
    )
    return tuple(cursor.fetchall()[0])


def test_a_long_number_is_one_value(cursor: Any) -> None:
    assert parsed(cursor, "1", "", "", 1100) == (1100, "x", True, False)
    assert parsed(cursor, "1", "", "", 900) == (900, "x", True, False)


def test_a_long_text_is_one_value(cursor: Any) -> None:
    assert parsed(cursor, "y", '"', '"', LONG) == (LONG, "x", True, False)


@pytest.fixture
def people(cursor: Any, schema: str, tmp_path: Path) -> EventWarehouse:
    """A warehouse of Debezium's messages."""
    columns = [column("id", "bigint", role="key"), column("name", "string"), column("n", "int")]
    return EventWarehouse(cursor, schema, tmp_path, columns, events={"format": "debezium"})


def envelope(at: int, **after: Any) -> dict[str, Any]:
    """A message of Debezium."""
    source = {"connector": "postgresql", "lsn": at, "sequence": f'["{at}","{at}"]'}
    return {"before": None, "after": after, "source": source, "op": "c"}


@pytest.mark.integration
@pytest.mark.parametrize("length", [17_000_000, LONG], ids=["cut", "left out"])
def test_a_long_row_is_cut_where_it_is_shown(people: EventWarehouse, length: int) -> None:
    people.land(DAY, [envelope(1, id=1, name="y" * length, n="x")])
    with pytest.raises(CompilerError) as error:
        people.load(DAY)
    message = str(error.value)
    assert "1 row of 2024-05-01 can't be accepted" in message
    assert "n: 'x' is not accepted as int" in message
    assert ("in a row that is too long to be shown" in message) is (length == LONG)
    assert len(message) < 5000


def test_messages_with_long_numbers_are_loaded(people: EventWarehouse) -> None:
    line = json.dumps(envelope(1, id=1, name="@", n=5)).replace('"@"', "1" * 1100)
    people.land(DAY, [line])
    people.load(DAY)
    assert list(people.rows("current", "id, length(name), n")) == [(1, 1100, 5)]


@pytest.mark.integration
@pytest.mark.parametrize("format", ["csv", "json"])
def test_keys_of_10_000_characters(cursor: Any, schema: str, tmp_path: Path, format: str) -> None:
    """Equal but for the last one; a message on keys that come twice shows them, cut."""
    node = described(
        "notes",
        {"id": {"data_type": "string", "role": "key"}, "v": "int"},
        source={"format": format, "path": f"{tmp_path}/{{business_date}}"},
    )
    notes = Warehouse(cursor, schema, tmp_path, node)
    key = "k" * 9_999
    days = [[("a", 1), ("b", 2)], [("a", 1), ("b", 3), ("c", 4)], [("a", 1), ("a", 2)]]
    for day, values in enumerate(days, 1):
        lines = [f'{{"id":"{key}{last}","v":{v}}}' for last, v in values]
        if format == "csv":
            lines = ["id,v", *(f"{key}{last},{v}" for last, v in values)]
        land_lines(tmp_path / f"2024-05-0{day}", *lines, file=f"data.{format}")
    notes.load("2024-05-01")
    counts = notes.load("2024-05-02")["counts"]
    assert (counts["I"], counts["U"], counts["D"]) == (1, 1, 0)
    cursor.execute(f"select right(id, 1), length(id), v from ({notes.view_sql('current')})")
    wanted = [("a", 10_000, 1), ("b", 10_000, 3), ("c", 10_000, 4)]
    assert sorted(tuple(row) for row in cursor.fetchall()) == wanted
    with pytest.raises(CompilerError) as error:
        notes.load("2024-05-03")
    assert "key comes more than once" in str(error.value) or "keys come" in str(error.value)
    assert len(str(error.value)) < 30_000
