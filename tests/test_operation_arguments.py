"""Arguments of operations have types, and an undo ends at the state that was asked for."""

from __future__ import annotations

import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from spark_cdc.macros import CompilerError, load_macros
from test_config import macros

pytestmark = pytest.mark.proves("undo")

NAN, INF = float("nan"), float("inf")
TEXTS: list[Any] = ["false", "true", "no", 0, 1, None, [], "yes"]
NUMBERS: list[Any] = ["1", True, False, NAN, INF, -INF, -1, None, [1], "168h"]
NAMES: list[Any] = [{"a": 1}, 7, True, [1], [["orders"]], [None]]
STATES: list[Any] = [True, 20240302, 1.5, ["2024-03-02"], {}]
CASES: list[tuple[str, str, dict[str, Any], list[Any]]] = [
    ("vacuum", "execute", {}, TEXTS),
    ("vacuum", "force", {}, TEXTS),
    ("vacuum", "retention_hours", {}, NUMBERS),
    ("vacuum", "entities", {}, NAMES),
    ("compact", "execute", {}, TEXTS),
    ("compact", "histories", {}, TEXTS),
    ("compact", "older_than_days", {}, NUMBERS),
    ("backfill", "skip_missing", {"entities": "orders", "dates": "2024-01-01"}, TEXTS),
    ("backfill", "dates_per_statement", {"entities": "orders", "dates": "2024-01-01"}, NUMBERS),
    ("branch", "drop", {"name": "pr_7"}, TEXTS),
    ("tag", "drop", {"name": "march"}, TEXTS),
    ("tag", "at", {"name": "march"}, STATES),
    ("tag", "name", {}, [7, ["march"], True]),
    ("undo", "to", {"entities": "orders"}, STATES),
    ("undo", "entities", {}, NAMES),
    ("redo", "entities", {}, NAMES),
    ("forget", "even_if_absent", {"entity": "orders", "source": "gone"}, TEXTS),
    ("forget", "entity", {"source": "gone"}, [["orders"], 7, None]),
    ("secrets", "force", {"action": "rotate"}, TEXTS),
    ("state", "entities", {}, NAMES),
    ("publish_replay", "entities", {}, NAMES),
    ("discard_replay", "entities", {}, NAMES),
]


@pytest.mark.parametrize(("operation", "argument", "others", "wrong"), CASES)
def test_each_argument_has_a_type(
    operation: str, argument: str, others: dict[str, Any], wrong: list[Any]
) -> None:
    sent: list[str] = []
    made = macros(run_query=sent.append)
    for value in wrong:
        with pytest.raises(CompilerError) as error:
            getattr(made, operation)(**others, **{argument: value})
        assert f"spark_cdc.{operation}: {argument} is" in str(error.value), value
        assert "Nothing was changed" in str(error.value)
    assert sent == []


def test_state_has_parts() -> None:
    for parts in ("pendings", ["tags", "pendings"], {"pendings": {}}):
        with pytest.raises(CompilerError, match="there is no part 'pendings'"):
            macros().state(parts=parts)


def test_what_is_accepted() -> None:
    made = load_macros()
    for given in (
        {"execute": True, "force": False, "retention_hours": 0.5, "older_than_days": 0},
        {"entities": None, "to": datetime.date(2024, 3, 2), "at": "2024-03-02"},
        {"entities": ["orders", "sites"], "to": "20240302-d-90131623", "name": None},
        {"entities": "orders", "to": datetime.datetime(2024, 3, 2, 10, 15), "source": None},
    ):
        made._check_arguments("vacuum", given)


# --- undo


DATES = ("20240301", "20240302", "20240303", "20240304")
LOADS = [f"{date}-d-0000000{number}" for number, date in enumerate(DATES)]


def one(name: str, loads: int, moved: int = 0, **more: Any) -> dict[str, Any]:
    """An entity of which so many loads count, and an undo took some after them."""
    entity = {"name": name, "eff_type": "date"}
    move = {"loads": LOADS[loads : loads + moved]}
    head = {"loads": LOADS[:loads], "move": move if moved else None}
    return {"entity": entity, "name": name, "head": head, "masked": "x", **more}


@pytest.mark.parametrize(
    ("to", "wanted"),
    [
        ("2024-03-02", None),
        (LOADS[1], None),
        (datetime.date(2024, 3, 2), None),
        ("2024-03-01", "not to 2024-03-01. Finish it first: spark-cdc undo a. Then spark-cdc undo"),
        ("2024-03-03", "Then spark-cdc redo a and spark-cdc undo a --to 2024-03-03"),
        (LOADS[2], "Then spark-cdc redo a and spark-cdc undo a --to"),
        ("2024-03-04", "Then spark-cdc redo a and"),
        ("never", "is no load and no date that exists"),
    ],
)
def test_an_interrupted_undo_ends_where_it_is_asked_to(to: Any, wanted: str | None) -> None:
    found = load_macros()._interrupted_elsewhere_problems(one("a", 2, moved=2), to, {})
    assert len(found) == (wanted is not None)
    assert wanted is None or wanted in found[0]


def undo(*entities: dict[str, Any], to: Any) -> tuple[list[str], list[str]]:
    """Which entities of some an undo would take back, and what it says of the others."""
    said: list[str] = []
    carried: list[str] = []
    by_name = {one["name"]: one for one in entities}
    made = load_macros(
        log=lambda text, info=False: said.append(text) or "",
        _captures=lambda *_: [
            {"entity": one["entity"], "load_log": "x", "masked": "x"} for one in entities
        ],
        _ensure_load_log=lambda *_: None,
        _head=lambda capture: by_name[capture["entity"]["name"]]["head"],
        _undone_manifest=lambda capture, *_: {"problem": None, "manifest": {}, "loads": LOADS},
        _carry_out_moves=lambda command, moves, group: carried.extend(m["name"] for m in moves),
    )
    made._move_heads("undo", [one["name"] for one in entities], to)
    return carried, said


def test_entities_that_are_there_keep_no_other_from_it() -> None:
    def counting(name: str, loads: int) -> dict[str, Any]:
        found = one(name, loads)
        del found["head"]["move"]
        return found

    carried, said = undo(counting("a", 3), counting("b", 2), to="2024-03-02")
    assert carried == ["a"]
    assert said == [f"b: is at the state of 2024-03-02 already, after {LOADS[1]}"]
    with pytest.raises(CompilerError, match="a: there is nothing to undo"):
        undo(counting("a", 3), counting("b", 2), to="2024-03-09")


@pytest.mark.parametrize(
    ("is_move", "wanted", "unwanted"),
    [
        (True, f"spark-cdc undo orders --to {LOADS[2]}, or an earlier load", "Run the same"),
        (False, "Run the same command again.", "--to"),
    ],
)
def test_the_loser_of_two_undos_is_told_the_state(
    is_move: bool, wanted: str, unwanted: str
) -> None:
    other = {"sequence": 5, "loads": LOADS[:3]}
    with pytest.raises(CompilerError) as error:
        load_macros()._refuse_commit({"name": "orders"}, "undo of 1 load", other, is_move)
    assert wanted in str(error.value) and unwanted not in str(error.value)


# --- forgotten keys


@pytest.mark.parametrize(("unread", "listed", "says"), [(2, "l", 1), (0, "l", 0), (2, None, 0)])
def test_rejected_rows_that_may_be_of_forgotten_keys_are_counted(
    unread: int, listed: str | None, says: int
) -> None:
    said: list[str] = []
    made = load_macros(
        _forgotten=lambda _: listed,
        run_query=lambda sql: SimpleNamespace(rows=[{"unread": unread}]),
        log=lambda text, info=False: said.append(text) or "",
    )
    made._note_unread_rejects({"entity": {"name": "members"}, "ledger": "s.l"}, LOADS[:1])
    assert len(said) == says
    assert not says or "2 rejected rows without a readable key" in said[0]
    made._note_unread_rejects({"entity": {"name": "members"}, "ledger": "s.l"}, [])
    assert len(said) == says
