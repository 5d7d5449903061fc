"""The notes of rejected rows: what they say, and what the audit and `rejects` make of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from event_warehouse import column
from spark_cdc.jinja_bridge import Macros, load_macros, load_macros_of
from test_values import MACROS, texts
from warehouse import query_runner

pytestmark = pytest.mark.proves("quarantine")

ID = column("id", "int", role="key")
VALUE = column("value", "int")
NAME = column("name", "string")
OP = column("op", "string", role="control")
FLAGGED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
QUARANTINE = {"on_reject": "quarantine", "on_duplicate_key": "quarantine"}
CANT_TAKE = "'x' is not accepted as int"
# Values that casts take without a loss, and that a cheap condition has to look at twice.
GOOD = {
    "double": "'0.000'",
    "float": "'-1.5 '",
    "decimal(10,2)": "'12.5000'",
    "decimal(12,2)": "'1.5e1'",
    "date": "'2024-02-29 00:00:00'",
    "timestamp": "'2024-02-29T01:02:03Z'",
}


def described(*columns: dict[str, Any], **settings: Any) -> tuple[Macros, dict[str, Any]]:
    """The macros, and the entity `people` as they see it."""
    macros, _ = load_macros_of("people", {"source": {"path": "p"}, **settings}, list(columns))
    return macros, macros._entity("people")


def notes(cursor: Any, macros: Macros, entity: dict[str, Any], *rows: str) -> list[Any]:
    """The notes that staging makes of rows of text, in order."""
    names = ", ".join(c["sql"] for c in entity["columns"])
    landed = (
        f"(select *, cast(null as string) as cdc__unparsed"
        f" from values {', '.join(f'({row})' for row in rows)} as rows ({names}))"
    )
    stage_sql = macros._stage_events_sql if entity["events"] else macros._stage_sql
    cursor.execute(f"select cdc__note from ({stage_sql(entity, landed)})")
    return [note and json.loads(note) for (note,) in cursor.fetchall()]


def test_a_note_says_which_kind_and_which_columns(cursor: Any) -> None:
    macros, entity = described(ID, VALUE, NAME, load_type="full", **QUARANTINE)
    found = notes(
        cursor,
        macros,
        entity,
        *("'1', '1', 'a'", "'2', 'x', 'b'", "'y', 'x', 'c'", "'3', '3', 'd'", "'3', 'x', 'e'"),
    )
    by_name = {note["row"]["name"]: note for note in found if note}
    assert {name: (note["kind"], note["columns"]) for name, note in by_name.items()} == {
        "b": ("failed_casts", ["value"]),
        "c": ("null_keys", ["id", "value"]),
        "d": ("duplicate_keys", []),
        "e": ("failed_casts", ["value"]),
    }
    twice = "the key comes more than once in the load (2 rows)"
    assert by_name["d"]["reasons"] == [twice]
    assert by_name["e"]["reasons"] == [f"value: {CANT_TAKE}", twice]
    assert by_name["b"]["row"] == {"id": "2", "value": "x", "name": "b"}


def test_a_rejected_delete_lists_only_what_a_delete_is_judged_by(cursor: Any) -> None:
    needed = column("needed", "string", nullable=False)
    macros, entity = described(
        ID, VALUE, needed, OP, load_type="delta", deleted_when="op = 'D'", **QUARANTINE
    )
    rows = ("null, 'x', cast(null as string), 'D'", "'1', 'x', null, 'D'", "null, 'x', null, 'U'")
    deleted, accepted, updated = notes(cursor, macros, entity, *rows)
    assert (deleted["kind"], deleted["columns"]) == ("null_keys", ["id"])
    assert deleted["reasons"] == ["id: null is not accepted as int not null"]
    assert accepted is None
    assert updated["columns"] == ["id", "value", "needed"]


def test_a_rejected_event_says_so_of_old_keys_too(cursor: Any) -> None:
    more = [column(name, "int", role="control") for name in ("seq", "old_id")]
    macros, entity = described(
        *(ID, VALUE, NAME, OP, *more),
        load_type="events",
        events={**FLAGGED, "old_key": {"id": "old_id"}},
    )
    rows = (
        "'1', 'x', 'a', 'U', '1', 'y'",
        "null, '1', 'b', 'U', '2', null",
        "'1', '1', 'c', 'Q', '3', null",
        "'1', '1', 'd', 'U', '4', null",
    )
    by_name = {note["row"]["name"]: note for note in notes(cursor, macros, entity, *rows) if note}
    assert {name: (note["kind"], note["columns"]) for name, note in by_name.items()} == {
        "a": ("failed_casts", ["value", "old_id", "id"]),
        "b": ("null_keys", ["id"]),
        "c": ("failed_casts", []),
    }
    assert by_name["a"]["reasons"][-1] == "old id: 'y' is not accepted as int"


def test_each_fault_is_judged_once(cursor: Any) -> None:
    """Whether it is there, and what a note says of it, hang on one number."""
    columns = [column(f"c{n}", "int") for n in range(130)]  # 60 faults to a number
    macros, entity = described(ID, *columns, load_type="full", **QUARANTINE)
    sql = macros._stage_sql(entity, "landed")
    conditions = [fault["condition"] for fault in macros._reject_faults(entity)]
    assert len(conditions) == 132
    assert [sql.count(f"if({condition}, ") for condition in conditions] == [1] * 132
    wrong = [0, 57, 58, 59, 117, 118, 119, 129]
    row = ", ".join("'x'" if n in wrong else "'1'" for n in range(130))
    good = ", ".join("'1'" for n in range(130))
    first, second, third = notes(
        cursor, macros, entity, f"'1', {good}", f"'2', {row}", f"'y', {good}"
    )
    assert first is None
    assert second["columns"] == [f"c{n}" for n in wrong]
    assert second["reasons"] == [f"c{n}: {CANT_TAKE}" for n in wrong]
    assert (third["kind"], third["columns"]) == ("null_keys", ["id"])


def test_rows_judged_in_doubt_have_the_notes_that_all_rows_would_have(cursor: Any) -> None:
    """Columns of a type share a condition there; where duplicates are set aside, all are judged."""
    types = ("double", "double", "float", "decimal(10,2)", "decimal(12,2)", "date", "timestamp")
    columns = [column(f"c{n}", one, nullable=n != 1) for n, one in enumerate(types * 2)]
    given = texts(400)
    rows = [
        ", ".join(
            MACROS._literal(given[(at * 7 + n * 31) % len(given)]) for n in range(len(columns) + 1)
        )
        for at in range(len(given))
    ]
    rows += [
        ", ".join(["'1'", *("'10'" for _ in columns)]),
        ", ".join(["'2'", *("null" for _ in columns)]),
        ", ".join(["'3'", *(GOOD[one] for one in types * 2)]),
    ]
    found = []
    for settings in ({}, {"on_reject": "quarantine"}, QUARANTINE):
        macros, entity = described(
            column("id", "string", role="key"), *columns, load_type="full", **settings
        )
        assert ("judged as" in macros._stage_sql(entity, "landed")) == (settings is QUARANTINE)
        found.append(notes(cursor, macros, entity, *rows))
    assert found[0] == found[1] and len(found[0]) == len(rows)
    for in_doubt, judged in zip(found[0], found[2], strict=True):
        if judged and judged["kind"] == "failed_casts":  # of a key that is there twice
            judged["reasons"] = [one for one in judged["reasons"] if "more than once" not in one]
        assert in_doubt == (judged if judged and judged["kind"] != "duplicate_keys" else None)
    assert sum(note is None for note in found[0]) < len(rows) // 10  # odd as they are
    assert [note and note["columns"] for note in found[0][-3:]] == [
        ["c5", "c6", "c12", "c13"],
        ["c1"],
        None,
    ]


def test_each_fault_of_an_event_is_judged_once() -> None:
    seq = column("seq", "int", role="control")
    macros, entity = described(ID, VALUE, NAME, OP, seq, load_type="events", events=FLAGGED)
    sql = macros._stage_events_sql(entity, "landed")
    conditions = [fault["condition"] for fault in macros._event_faults(entity)]
    assert [sql.count(f"if({condition}, ") for condition in conditions] == [1] * len(conditions)
    assert sql.count("cdc__faults <> 0") == 1


def refused(
    cursor: Any, *found: dict[str, Any], quarantine: tuple[str, ...] = (), mode: str = "load"
) -> list[str]:
    """By which guards a load of change events with these notes is refused, and the message."""
    said: list[str] = []
    macros, _ = load_macros_of(
        "people",
        {"load_type": "events", "events": FLAGGED, "source": {"path": "p"}},
        [ID, column("seq", "int", role="control")],
        run_query=query_runner(cursor),
        _refuse_load=lambda entity, guard, message, load, known: said.extend([guard, message]),
        _tied_lines=lambda run, record: ["both events"],
        _mode=lambda: mode,
    )
    values = ", ".join(f"({macros._literal(json.dumps(note))})" for note in found)
    ledger = f"(select *, 'l' as load_id, 'R' as operation from values {values} as t (cdc__note))"
    entity = {**macros._entity("people"), "quarantine": list(quarantine)}
    load = {"load_id": "l", "business_time": "2024-05-01"}
    macros._check_rejects({"entity": entity, "ledger": ledger, "load": load}, {})
    return said


def test_a_load_is_refused_by_the_kinds_of_its_notes(cursor: Any) -> None:
    hint = "another, different event of the same key has the same position: name a tie_breaker"
    cast: dict[str, Any] = {"kind": "failed_casts", "reasons": [CANT_TAKE], "row": {"name": hint}}
    null = {"kind": "null_keys", "reasons": ["id: null is not accepted"], "row": {"id": None}}
    tied = {"kind": "tied_events", "reasons": [hint], "row": {"id": 1}}
    guard, message = refused(cursor, cast, cast, null)
    assert guard == "null_keys, failed_casts"  # whatever the rows say
    assert message.startswith("people: 3 rows of 2024-05-01 can't be accepted")
    assert "To reject them this once (always: on_reject: quarantine):\n  dbt run" in message
    where = "run the same command again. The rejected rows are in (select"
    assert where in message
    message = refused(cursor, cast, mode="plan")[1]  # its rows are gone when it is read
    assert "run the same command again. To reject them" in message
    guard, message = refused(cursor, cast, tied)
    assert guard == "tied_events"
    assert message.startswith("people: 1 row of") and "both events" in message
    assert "To reject them" not in message
    assert refused(cursor, cast, null, quarantine=("failed_casts", "null_keys")) == []
    assert refused(cursor, cast, tied, quarantine=("failed_casts", "null_keys"))[0] == "tied_events"


def test_letters_outside_ascii_are_shown_as_they_are(cursor: Any) -> None:
    """Those that can't be printed stay escaped, so that no terminal takes them for commands."""
    row = {"größe": "Straße 名前 😀\u2028\x9b", "n": None}
    cast = {"kind": "failed_casts", "reasons": ["größe: 'x' is not accepted as int"], "row": row}
    _, message = refused(cursor, cast)
    assert r"""in {"größe": "Straße 名前 😀\u2028\u009b", "n": null}""" in message
    assert json.loads(load_macros()._shown_json(row)) == row


def test_rejects_shows_what_the_notes_say(cursor: Any) -> None:
    macros, entity = described(ID, VALUE, NAME, load_type="full")
    rows = {
        "cast": {"kind": "failed_casts", "columns": ["former"], "reasons": ["x", "y"], "row": {}},
        "twice": {"kind": "duplicate_keys", "columns": [], "reasons": ["value: so"], "row": {}},
        "text": {"kind": "failed_casts", "columns": [], "reasons": ["x"], "row": {}, "text": "1;2"},
    }
    values = ", ".join(
        f"(1, X'00', 'R', date'2024-05-01', '{load}', {macros._literal(json.dumps(note))})"
        for load, note in rows.items()
    )
    names = "id, key_hash, operation, business_date, load_id, cdc__note"
    ledger = f"(select * from values {values} as ledger ({names}))"
    loads = ", ".join(f"('{load}')" for load in rows)
    committed = (
        "(select load_id, 'L' as operation, cast(null as array<string>) as compacted_load_ids"
        f" from values {loads} as loads (load_id))"
    )
    cursor.execute(
        "select load_id, rejected_columns, rejected_reason, rejected_row"
        f" from ({macros._rejects_sql(entity, ledger, committed)})"
    )
    assert {row[0]: tuple(row[1:]) for row in cursor.fetchall()} == {
        "cast": ("former", "x; y", "{}"),
        "twice": ("", "value: so", "{}"),
        "text": ("", "x", "1;2"),
    }
