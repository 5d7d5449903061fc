"""Which row gets which operation, and what the views make of it: docs/operations.md, case by case.

Each case is one query over a few rows with the hashes 01, aa and so on. Change events have cases of
their own (tests/resolver_cases.yml); one example of each load type is a unit test of dbt.
"""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from event_warehouse import column
from rendered_sql import manifest_of
from spark_cdc.jinja_bridge import Macros, load_macros_of
from warehouse import query_runner

pytestmark = pytest.mark.proves("views")

FIRST, SECOND, LOST = "20240301-{}c-00000000", "20240302-{}-00000000", "20240302-{}-deadbeef"
QUARANTINE = {"on_reject": "quarantine", "on_duplicate_key": "quarantine"}
RULED = {"rules": {"small": {"condition": "amount < 6"}}}
ORDERS = [column("id", "int", role="key"), column("amount", "int")]
ORDERS.append(column("seen", "string", role="untracked"))
OP = column("op", "string", role="control")
STAGED = "id, amount, seen, key_hash, nonkey_hash, untracked_hash"
LEDGER = f"{STAGED}, eff_start_date, cdc__note, business_date, load_id, operation"
Row = tuple[Any, ...]
# rows of staging: id, amount, seen, hash of the values, hash of what is ignored
ONE, TWO, THREE = (1, 5, "x", "aa", "f1"), (2, 6, "x", "bb", "f1"), (3, 7, "x", "cc", "f1")
DELETED: Row = (None, None, "00", "00")


def described(load_type: str, **settings: Any) -> tuple[Macros, dict[str, Any]]:
    """The macros, and the entity `orders` as they see it."""
    columns = ORDERS
    if load_type == "delta":
        columns, settings = [*ORDERS, OP], {"deleted_when": "op = 'D'"} | settings
    settings |= {"load_type": load_type, "source": {"path": "p"}}
    context: dict[str, Any] = {"invocation_id": "none", "local_md5": str}
    macros, _ = load_macros_of("orders", settings, columns, **context)
    return macros, macros._entity("orders")


def literal(value: Any) -> str:
    """A value as SQL; what is of two hexadecimal digits is a hash."""
    if value is None:
        return "null"
    if isinstance(value, str) and len(value) == 2:
        return f"unhex('{value}')"
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def relation(rows: list[Row], names: str, types: dict[str, str]) -> str:
    """Rows as a relation with columns of these names, and of these types where all are null."""
    listed = names.split(", ")
    values = ", ".join("(" + ", ".join(map(literal, row)) + ")" for row in rows)
    empty = "(" + ", ".join("null" for _ in listed) + ")"
    shown = ", ".join(f"cast({n} as {types[n]}) as {n}" for n in listed)
    where = "" if rows else " where false"
    return f"(select {shown} from values {values or empty} as given ({names}){where})"


TYPES = {
    **{
        "id": "int",
        "amount": "int",
        "seen": "string",
        "cdc__note": "string",
        "operation": "string",
    },
    **dict.fromkeys(("key_hash", "nonkey_hash", "untracked_hash"), "binary"),
    **dict.fromkeys(("eff_start_date", "business_date"), "date"),
    **{"load_id": "string", "cdc__deleted": "boolean", "cdc__warned": "string"},
}


def key_of(row: Row) -> Row:
    """A row of staging with the hash of its key."""
    at, amount, seen, *hashes = row
    return (at, amount, seen, None if at is None else f"0{at}", *hashes)


def tagged(
    cursor: Any,
    load_type: str,
    rows: list[Row],
    names: str,
    *,
    prior: tuple[tuple[Row, str, str], ...] = ((ONE, FIRST, "I"), (TWO, FIRST, "I")),
    at_checkpoint: bool = False,
    **settings: Any,
) -> list[dict[str, Any]]:
    """What a load writes of rows of staging; prior: rows of the ledger, their load and operation.

    names: the columns of a row behind the hashes, such as note.
    """
    macros, entity = described(load_type, **settings)
    kind = load_type[0]
    ledger = [
        (*key_of(row), date, None, date, load.format(kind), operation)
        for row, load, operation in prior
        for date in [f"{load[:4]}-{load[4:6]}-{load[6:8]}"]
    ]
    loads = sorted({load.format(kind) for _, load, _ in prior if load != LOST})
    manifest = manifest_of(macros, loads, rows=3)
    if at_checkpoint:
        entity = entity | {"checkpoint": entity["checkpoint"] | {"loads": 0}}
    day = 1 if not prior else 2 if len(loads) == 1 else 3
    load = macros._plan_load(entity, manifest, datetime.datetime(2024, 3, day))
    run = {
        "entity": entity,
        "load": load,
        "prior": relation(ledger, LEDGER, TYPES),
        "broadcast": True,
    }
    incoming = relation([(*key_of(row[:5]), *row[5:]) for row in rows], f"{STAGED}, {names}", TYPES)
    sql = macros._classify_rows_sql(run, incoming)
    found: list[dict[str, Any]] = query_runner(cursor)(f"select * from ({sql}) as written").rows
    return found


def shown(rows: list[dict[str, Any]], names: str) -> list[tuple[Any, ...]]:
    listed = [tuple(row[name] for name in names.split(", ")) for row in rows]
    return sorted(listed, key=str)


DAY_1, DAY_2, DAY_3 = "2024-03-01", "2024-03-02", "2024-03-03"


def good(*rows: Row) -> list[Row]:
    """Rows of a full load that nothing is wrong with."""
    return [(*row, None) for row in rows]


@pytest.mark.parametrize(
    ("rows", "at_checkpoint", "written"),
    [
        pytest.param(
            good(ONE, TWO, THREE), False, [(3, 7, "x", "I", DAY_2)], id="an unknown key inserts"
        ),
        pytest.param(
            good((1, 9, "x", "a2", "f1"), TWO), False, [(1, 9, "x", "U", DAY_2)], id="others update"
        ),
        pytest.param(good(ONE), False, [(2, 6, "x", "D", DAY_2)], id="a missing key is deleted"),
        pytest.param(
            good(),
            False,
            [(1, 5, "x", "D", DAY_2), (2, 6, "x", "D", DAY_2)],
            id="an empty load deletes all",
        ),
        pytest.param(good(ONE, TWO), False, [], id="what stays is not written"),
        pytest.param(
            good(ONE, TWO),
            True,
            [(1, 5, "x", "N", DAY_1), (2, 6, "x", "N", DAY_1)],
            id="but at a checkpoint",
        ),
        # so that current shows the ignored column as it came in last
        pytest.param(
            good((1, 5, "y", "aa", "f2"), TWO),
            False,
            [(1, 5, "y", "N", DAY_1)],
            id="and where an ignored value is another",
        ),
    ],
)
def test_full_loads(cursor: Any, rows: list[Row], at_checkpoint: bool, written: list[Row]) -> None:
    found = tagged(cursor, "full", rows, "cdc__note", at_checkpoint=at_checkpoint)
    assert shown(found, "id, amount, seen, operation, eff_start_date") == written


def test_an_unchanged_row_that_breaks_a_rule_leaves_a_mark(cursor: Any) -> None:
    """So that the load can tell how many rows a rule warns of; of others its name is the note."""
    rows = [(*ONE, None, None), (*TWO, None, "small"), (*THREE, None, "small")]
    found = tagged(cursor, "full", rows, "cdc__note, cdc__warned", **RULED)
    assert shown(found, "id, amount, operation, cdc__note") == [
        (3, 7, "I", "small"),
        (None, None, "W", "small"),
    ]


def test_the_first_load_is_all_inserts(cursor: Any) -> None:
    """A delete of a key that never was shows nowhere."""
    rows = [(*ONE, False, None), (9, *DELETED, True, None)]
    found = tagged(cursor, "delta", rows, "cdc__deleted, cdc__note", prior=())
    assert shown(found, "id, amount, operation, eff_start_date") == [
        (1, 5, "I", DAY_1),
        (9, None, "T", DAY_1),
    ]


THREE_ORDERS = ((ONE, FIRST, "I"), (TWO, FIRST, "I"), (THREE, FIRST, "I"))


@pytest.mark.parametrize(
    ("row", "at_checkpoint", "written"),
    [
        pytest.param(
            (4, 8, "x", "dd", "f2", False, None),
            False,
            [(4, 8, "x", "I", DAY_2, None)],
            id="an unknown key inserts",
        ),
        pytest.param(
            (1, 55, "y", "a2", "f2", False, None),
            False,
            [(1, 55, "y", "U", DAY_2, None)],
            id="others update",
        ),
        pytest.param(
            (2, 6, "y", "bb", "f2", False, None),
            False,
            [(2, 6, "y", "N", DAY_1, None)],
            id="an ignored value travels along",
        ),
        pytest.param(
            (3, *DELETED, True, None),
            False,
            [(3, 7, "x", "D", DAY_2, None)],
            id="a deleted row stays as it was",
        ),
        pytest.param(
            (9, *DELETED, True, None),
            False,
            [(9, None, None, "T", DAY_2, None)],
            id="of an unknown key it leaves a tombstone",
        ),
        pytest.param(
            (1, None, "x", "00", "f1", False, "wrong"),
            False,
            [(1, None, "x", "R", DAY_2, "wrong")],
            id="a row with a note is rejected, whatever its key",
        ),
        pytest.param(
            (1, 55, "y", "a2", "f2", False, None),
            True,
            [
                (1, 55, "y", "U", DAY_2, None),
                (2, 6, "x", "X", DAY_1, None),
                (3, 7, "x", "X", DAY_1, None),
            ],
            id="a checkpoint carries over what did not come",
        ),
    ],
)
def test_deltas(cursor: Any, row: Row, at_checkpoint: bool, written: list[Row]) -> None:
    found = tagged(
        cursor,
        "delta",
        [row],
        "cdc__deleted, cdc__note",
        prior=THREE_ORDERS,
        at_checkpoint=at_checkpoint,
    )
    assert shown(found, "id, amount, seen, operation, eff_start_date, cdc__note") == written


def test_a_deleted_key_that_returns_is_inserted(cursor: Any) -> None:
    """Also with the values that it had before."""
    prior = ((ONE, FIRST, "I"), (ONE, SECOND, "D"))
    found = tagged(cursor, "delta", [(*ONE, False, None)], "cdc__deleted, cdc__note", prior=prior)
    assert shown(found, "id, amount, operation, eff_start_date") == [(1, 5, "I", DAY_3)]


def test_rows_that_were_never_committed_count_for_nothing(cursor: Any) -> None:
    """What a crashed attempt left in the ledger is not part of the state before."""
    prior = ((ONE, FIRST, "I"), ((1, 6, "x", "ab", "f1"), LOST, "U"))
    found = tagged(cursor, "delta", [(*ONE, False, None)], "cdc__deleted, cdc__note", prior=prior)
    assert shown(found, "id, amount, operation, eff_start_date") == [(1, 5, "N", DAY_1)]


def test_rejected_rows_leave_their_keys_as_they_were(cursor: Any) -> None:
    """Set aside, neither a row nor a delete changes its key; a checkpoint carries both over."""
    rows: list[Row] = [
        (1, None, "x", "00", "f1", False, "wrong"),
        (2, *DELETED, True, "wrong"),
        (None, 8, "x", "dd", "f1", False, "no key"),
        (3, 70, "x", "c2", "f1", False, None),
    ]
    found = tagged(
        cursor,
        "delta",
        rows,
        "cdc__deleted, cdc__note",
        prior=THREE_ORDERS,
        at_checkpoint=True,
        **QUARANTINE,
    )
    assert shown(found, "id, amount, operation, cdc__note") == [
        (1, 5, "X", None),
        (1, None, "R", "wrong"),
        (2, 6, "X", None),
        (2, None, "R", "wrong"),
        (3, 70, "U", None),
        (None, 8, "R", "no key"),
    ]


# --- staging --------------------------------------------------------------------------------------


def test_staging_renames_casts_and_rejects(cursor: Any) -> None:
    """Empty fields are null, except for text; of a deleted row only the key counts."""
    columns = [
        column("order_no", "int", role="key", **{"from": "Order No"}),
        column("price", "decimal(10,2)"),
        column("remark", "string"),
        OP,
    ]
    settings = {"load_type": "delta", "deleted_when": "op = 'D'", "source": {"path": "p"}}
    macros, _ = load_macros_of("orders", settings, columns)
    landed = """(
        select * from values
            ('1', '2.50', '', 'I', cast(null as string)),
            ('2', '', null, 'I', null),
            ('3', '2.505', 'x', 'I', null),
            ('4', 'two', 'x', 'D', null),
            ('five', '5', 'x', 'I', null),
            ('6', '6', 'x', 'I', '6,6,x,I,too,many')
        as landed(`Order No`, price, remark, op, cdc__unparsed)
    )"""
    sql = macros._stage_sql(macros._entity("orders"), landed)
    found = query_runner(cursor)(
        f"select order_no, string(price) as price, remark, cdc__deleted, cdc__note from ({sql})"
    ).rows
    by_remark = shown(
        [row for row in found if row["cdc__note"] is None], "order_no, price, remark, cdc__deleted"
    )
    assert by_remark == [(1, "2.50", "", False), (2, None, None, False), (4, None, "x", True)]
    rejected = {row["order_no"]: json.loads(row["cdc__note"]) for row in found if row["cdc__note"]}
    assert rejected == {
        3: {
            "kind": "failed_casts",
            "columns": ["price"],
            "reasons": ["price: '2.505' is not accepted as decimal(10,2)"],
            "row": {"Order No": "3", "price": "2.505", "remark": "x", "op": "I"},
        },
        None: {
            "kind": "null_keys",
            "columns": ["order_no"],
            "reasons": ["order_no: 'five' is not accepted as int not null"],
            "row": {"Order No": "five", "price": "5", "remark": "x", "op": "I"},
        },
        6: {
            "kind": "failed_casts",
            "columns": [],
            "reasons": ["the fields of the row do not match the header: 6,6,x,I,too,many"],
            "row": {"Order No": "6", "price": "6", "remark": "x", "op": "I"},
            "text": "6,6,x,I,too,many",
        },
    }


def test_staging_rejects_all_rows_of_keys_that_come_twice(cursor: Any) -> None:
    """By the key that they come to, however it is written."""
    macros, entity = described("delta", **QUARANTINE)
    landed = """(
        select * from values
            ('1', '5', 'x', 'I', cast(null as string)),
            ('01', '6', 'x', 'D', null),
            ('2', 'x', 'x', 'I', null),
            ('2', '7', 'x', 'I', null),
            ('3', '8', 'x', 'I', null)
        as landed(id, amount, seen, op, cdc__unparsed)
    )"""
    sql = macros._stage_sql(entity, landed)
    found = query_runner(cursor)(f"select id, amount, cdc__note from ({sql}) as staged").rows
    notes = {
        (row["id"], row["amount"]): row["cdc__note"] and json.loads(row["cdc__note"])
        for row in found
    }
    twice = "the key comes more than once in the load (2 rows)"
    kept = {key: note and (note["kind"], note["reasons"]) for key, note in notes.items()}
    assert kept == {
        (1, 5): ("duplicate_keys", [twice]),
        (1, 6): ("duplicate_keys", [twice]),
        (2, None): ("failed_casts", ["amount: 'x' is not accepted as int", twice]),
        (2, 7): ("duplicate_keys", [twice]),
        (3, 8): None,
    }
    assert notes[1, 6]["row"] == {"id": "01", "amount": "6", "seen": "x", "op": "D"}
    assert notes[2, None]["columns"] == ["amount"]


def test_staging_hashes_keys_and_values(cursor: Any) -> None:
    """As docs/hash.md; null and a value differ, an ignored column is in neither hash."""
    macros, entity = described("delta")
    landed = """(
        select * from values
            ('1', '5', '18:00', 'I', cast(null as string)),
            ('1', '', '19:00', 'I', null)
        as landed(id, amount, seen, op, cdc__unparsed)
    )"""
    sql = macros._stage_sql(entity, landed)
    same = [
        "key_hash = unhex(md5(',2:id=n1'))",
        "nonkey_hash = unhex(md5(if(amount is null, '', ',6:amount=n5')))",
        "untracked_hash = unhex(md5(concat(',4:seen=s5:', seen)))",
        "cdc__note is null and not cdc__deleted",
    ]
    cursor.execute(f"select {', '.join(same)} from ({sql}) as staged")
    assert cursor.fetchall() == [(True, True, True, True)] * 2


def staged_events(
    cursor: Any, name: str, events: dict[str, Any], columns: list[dict[str, Any]], landed: str
) -> list[dict[str, Any]]:
    """What staging makes of landed change events."""
    source = {"format": "json" if events["format"] == "debezium" else "csv", "path": "p"}
    settings = {"load_type": "events", "events": events, "source": source}
    macros, _ = load_macros_of(name, settings, columns)
    sql = macros._stage_events_sql(macros._entity(name), landed)
    found: list[dict[str, Any]] = query_runner(cursor)(
        f"select *, unix_seconds(event_time) as at from ({sql}) as staged"
    ).rows
    return found


def test_events_are_staged_from_flagged_rows(cursor: Any) -> None:
    """The flag says what happened, a time when and in which order; a delete needs the key only."""
    columns = [
        column("id", "bigint", role="key"),
        column("price", "decimal(10,2)", nullable=False),
        column("flag", "string", role="control"),
        column("changed_at", "timestamp", role="untracked"),
    ]
    events = {
        **{"format": "flagged_rows", "operation": "flag"},
        **{"order": ["changed_at"], "time": "changed_at"},
    }
    landed = """(
        select * from values
            ('1', '39.90', 'I', '2024-03-02 16:02:00', cast(null as string)),
            ('1', '37.50', 'U', '2024-03-02 16:02:01', null),
            ('3', null, 'D', '2024-03-02 16:02:03', null),
            ('4', '1.00', 'M', '2024-03-02 16:02:04', null),
            ('5', '1.00', 'I', null, null)
        as landed(id, price, flag, changed_at, cdc__unparsed)
    )"""
    found = staged_events(cursor, "prices", events, columns, landed)
    start = 1709395320
    rows = [
        {**row, "at": row["at"] and row["at"] - start, "price": str(row["price"])} for row in found
    ]
    assert shown(rows, "id, event_op, at, price") == [
        (1, "insert", 0, "39.90"),
        (1, "update", 1, "37.50"),
        (3, "delete", 3, "None"),
        (4, None, 4, "1.00"),
        (5, "insert", None, "1.00"),
    ]
    notes = {row["id"]: json.loads(row["cdc__note"]) for row in found if row["cdc__note"]}
    codes = "I, INSERT, i, insert, U, UPDATE, u, update, D, DELETE, d, delete"
    assert notes == {
        4: {
            "kind": "failed_casts",
            "columns": [],
            "reasons": [f"unknown operation 'M' in flag; accepted are {codes}"],
            "row": {
                **{"id": "4", "price": "1.00", "flag": "M"},
                "changed_at": "2024-03-02 16:02:04",
            },
        },
        5: {
            "kind": "failed_casts",
            "columns": [],
            "reasons": ["the position in the order of events is missing: changed_at"],
            "row": {"id": "5", "price": "1.00", "flag": "I"},
        },
    }


def test_events_are_staged_from_debezium_messages(cursor: Any) -> None:
    """A snapshot row, an update, a delete with a made-up name, and its tombstone, a control."""

    def message(op: str, time: int, lsn: int, before: Any, after: Any) -> str:
        source = {
            **{"connector": "postgresql", "ts_us": time * 10**6, "txId": lsn - 26_700_000},
            **{"sequence": f'[null,"{lsn}"]', "lsn": lsn},
            "snapshot": "first" if op == "r" else "false",
        }
        told = {"before": before, "after": after, "source": source, "op": op, "ts_ms": 1}
        return f"r'{json.dumps(told)}'"

    columns = [column("id", "bigint", role="key"), column("full_name", "string", nullable=False)]
    events = {"format": "debezium", "archive": True}
    messages = [
        message("r", 1709272800, 26_700_000, None, {"id": 1, "full_name": "Ada Byron"}),
        message("u", 1709366700, 26_701_040, None, {"id": 1, "full_name": "Ada Lovelace"}),
        message("d", 1709377200, 26_702_000, {"id": 3, "full_name": ""}, None),
        "null",
    ]
    values = ", ".join(f"({text}, '{{\"id\":1}}')" for text in messages)
    landed = f"(select * from values {values} as landed (message, message_key))"
    found = staged_events(cursor, "students", events, columns, landed)
    assert shown(found, "id, full_name, event_op, at, event_transaction, cdc__note") == [
        (1, "Ada Byron", "read", 1709272800, "0", None),
        (1, "Ada Lovelace", "update", 1709366700, "1040", None),
        (3, None, "delete", 1709377200, "2000", None),
        (None, None, "control", None, None, None),
    ]


# --- views ----------------------------------------------------------------------------------------

COMMITTED = """(
    select
        id, amount, seen, unhex(concat('0', id)) as key_hash, unhex(hash) as nonkey_hash,
        date(since) as eff_start_date, if(is_base, '{first}', '{second}') as load_id, operation,
        date(if(is_base, '2024-03-01', '2024-03-02')) as business_date,
        is_base as in_checkpoint, not is_base as since_checkpoint, not is_base as in_last_load,
        '{carried}' as default_operation,
        cast(null as string) as load_record, cast(null as array<string>) as compacted_load_ids
    from values
        (1, 5, '18:00', 'aa', '2024-03-01', true, 'I'),
        (2, 6, '18:00', 'bb', '2024-03-01', true, 'I'),
        (3, 7, '18:00', 'cc', '2024-03-01', true, 'I'),
        (1, 55, '19:00', 'a2', '2024-03-02', false, 'U'),
        (2, 6, '18:00', 'bb', '2024-03-02', false, 'D'),
        (9, null, null, '00', '2024-03-02', false, 'T')
    as rows (id, amount, seen, hash, since, is_base, operation)
)"""


def view(cursor: Any, load_type: str, name: str, columns: str) -> list[tuple[Any, ...]]:
    """What a view shows of a checkpoint and a load since."""
    macros, entity = described(load_type)
    kind = load_type[0]
    first, second = FIRST.format(kind), SECOND.format(kind)
    carried = "N" if load_type == "full" else "X"
    committed = COMMITTED.format(first=first, second=second, carried=carried)
    sql = macros[f"_{name}_sql"](entity, committed)
    found = query_runner(cursor)(f"select {columns} from ({sql}) as shown").rows
    return shown(found, columns)


def test_current_overlays_the_checkpoint(cursor: Any) -> None:
    """The newest row of each key, never a deleted one; what the last load left is X, or N."""
    columns = "id, amount, seen, operation, eff_start_date"
    for load_type, carried in (("delta", "X"), ("full", "N")):
        assert view(cursor, load_type, "current", columns) == [
            (1, 55, "19:00", "U", DAY_2),
            (3, 7, "18:00", carried, DAY_1),
        ]


def test_history_has_changes_only(cursor: Any) -> None:
    assert view(cursor, "delta", "history", "id, amount, operation, business_date") == [
        (1, 5, "I", DAY_1),
        (1, 55, "U", DAY_2),
        (2, 6, "D", DAY_2),
        (2, 6, "I", DAY_1),
        (3, 7, "I", DAY_1),
    ]


def test_versions_end_where_the_next_change_begins(cursor: Any) -> None:
    columns = "id, amount, eff_start_date, eff_end_date, is_current"
    assert view(cursor, "delta", "versions", columns) == [
        (1, 5, DAY_1, DAY_2, False),
        (1, 55, DAY_2, None, True),
        (2, 6, DAY_1, DAY_2, False),
        (3, 7, DAY_1, None, True),
    ]


def test_rejects_are_those_of_committed_loads(cursor: Any) -> None:
    """With the columns that their reasons name, and the row, or its text where it fell apart."""
    macros, entity = described("delta")
    of_amount = {
        "columns": ["amount", "op"],
        "reasons": ["amount: 'x' is not accepted as int", "op: null is not accepted as string"],
        "row": {"id": "1", "amount": "x"},
    }
    text = {
        "columns": [],
        "reasons": ["the fields do not match: a,b"],
        "row": {"id": "a"},
        "text": "a,b",
    }
    first, refused = FIRST.format("d"), SECOND.format("d")
    rows = [
        (1, "01", json.dumps(of_amount), DAY_1, first, "R"),
        (None, None, json.dumps(text), DAY_1, first, "R"),
        (2, "02", '{"reasons":["x"],"row":{}}', DAY_2, refused, "R"),
        (3, "03", None, DAY_1, first, "I"),
    ]
    values = ", ".join(
        f"({literal(key)}, {literal(hash)}, {macros._literal(note) if note else 'null'},"
        f" date'{day}', '{load}', '{operation}')"
        for key, hash, note, day, load, operation in rows
    )
    names = "id, key_hash, cdc__note, business_date, load_id, operation"
    ledger = f"(select * from values {values} as ledger ({names}))"
    committed = (
        f"(select '{first}' as load_id, 'L' as operation,"
        " cast(null as array<string>) as compacted_load_ids)"
    )
    sql = macros._rejects_sql(entity, ledger, committed)
    found = query_runner(cursor)(f"select * from ({sql}) as shown").rows
    columns = "id, key_hash, rejected_columns, rejected_reason, rejected_row, load_id"
    assert shown(found, columns) == [
        (1, "01", "amount, op", "; ".join(of_amount["reasons"]), '{"id":"1","amount":"x"}', first),
        (None, None, "", "the fields do not match: a,b", "a,b", first),
    ]


def test_versions_of_events_are_those_of_committed_loads(cursor: Any) -> None:
    """One for each event, in the source's own time, also of a row that lived within the load."""
    columns = [column("id", "bigint", role="key"), column("full_name", "string")]
    settings = {
        "load_type": "events",
        "events": {"format": "debezium", "archive": True},
        "source": {"format": "json", "path": "p"},
    }
    macros, _ = load_macros_of("students", settings, columns)
    events = """(
        select
            event_op, array(1L, lsn) as event_position, cast(lsn as string) as event_transaction,
            timestamp'2024-03-03 00:00:00Z' + make_dt_interval(0, 0, lsn, 0) as event_time,
            xxhash64(event_op, id, full_name) as event_hash, unhex(concat('0', id)) as key_hash,
            cast(null as binary) as old_key_hash, cast(null as bigint) as cdc__old_id,
            id, full_name,
            cast(null as array<string>) as event_absent,
            cast(null as array<string>) as event_unavailable,
            cast(null as array<string>) as event_unexpected, cast(null as string) as cdc__note,
            date'2024-03-03' as business_date, load_id
        from values
            ('delete', 3L, null, 1L, 'counts'),
            ('control', null, null, null, 'counts'),
            ('insert', 6L, 'Test Student', 2L, 'counts'),
            ('delete', 6L, null, 5L, 'counts'),
            ('update', 2L, 'Grace Hopper', 9L, 'counts'),
            ('update', 2L, 'Grace Murray', 10L, 'refused')
        as events (event_op, id, full_name, lsn, load_id)
    )"""
    committed = (
        "(select 'counts' as load_id, 'L' as operation,"
        " cast(null as array<string>) as compacted_load_ids)"
    )
    sql = macros._event_versions_sql(macros._entity("students"), events, committed)
    found = query_runner(cursor)(
        "select id, full_name, event_op, minute(event_time) as began,"
        f" minute(event_end_time) as ended, is_current from ({sql}) as shown"
    ).rows
    assert shown(found, "id, full_name, event_op, began, ended, is_current") == [
        (2, "Grace Hopper", "update", 9, None, True),
        (6, "Test Student", "insert", 2, 5, False),
    ]
