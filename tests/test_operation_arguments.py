"""Arguments of operations have types, and an undo ends at the state that was asked for."""

from __future__ import annotations

import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from rendered_sql import manifest_of
from spark_cdc.jinja_bridge import CompilerError, load_macros
from test_config import macros

pytestmark = pytest.mark.proves("undo")

NAN, INF = float("nan"), float("inf")
TEXTS: list[Any] = ["false", "true", "no", 0, 1, None, [], "yes"]
NUMBERS: list[Any] = ["1", True, False, NAN, INF, -INF, -1, None, [1], "168h"]
NAMES: list[Any] = [{"a": 1}, 7, True, [1], [["orders"]], [None]]
STATES: list[Any] = [True, 20240302, 1.5, ["2024-03-02"], {}]
OF_ENTITIES: dict[str, dict[str, Any]] = {
    **{name: {"entities": "orders"} for name in ("undo", "redo", "publish_replay")},
    **{name: {"name": "march"} for name in ("tag", "branch")},
    "discard_replay": {},
    "acknowledge": {"dates": "2024-01-01"},
    "secrets": {"action": "init"},
}
CASES: list[tuple[str, str, dict[str, Any], list[Any]]] = [
    ("vacuum", "execute", {}, TEXTS),
    ("vacuum", "force", {}, TEXTS),
    ("vacuum", "retention_hours", {}, NUMBERS),
    ("vacuum", "entities", {}, NAMES),
    ("compact", "execute", {}, TEXTS),
    ("maintain", "execute", {}, TEXTS),
    *((name, "execute", given, TEXTS) for name, given in OF_ENTITIES.items()),
    ("compact", "histories", {}, TEXTS),
    ("compact", "older_than_days", {}, NUMBERS),
    ("backfill", "skip_missing", {"entities": "orders", "dates": "2024-01-01"}, TEXTS),
    ("backfill", "dates_per_statement", {"entities": "orders", "dates": "2024-01-01"}, NUMBERS),
    *(
        ("import_history", name, {"entity": "orders", "source": "a.b", "format": "scd2"}, wrong)
        for name, wrong in [
            ("execute", TEXTS),
            ("inclusive_end", TEXTS),
            ("ignore", NAMES),
            ("valid_to", [7, ["a"]]),
        ]
    ),
    ("fill_column", "execute", {"entity": "orders", "column": "a", "first": "2024-01-01"}, TEXTS),
    ("fill_column", "column", {"entity": "orders", "first": "2024-01-01"}, [7, None, ["a"]]),
    ("fill_column", "first", {"entity": "orders", "column": "a"}, STATES),
    ("branch", "drop", {"name": "pr_7"}, TEXTS),
    ("tag", "drop", {"name": "march"}, TEXTS),
    ("tag", "at", {"name": "march"}, STATES),
    ("tag", "name", {}, [7, ["march"], True]),
    ("undo", "to", {"entities": "orders"}, STATES),
    ("undo", "entities", {}, NAMES),
    ("redo", "entities", {}, NAMES),
    ("erase", "even_if_absent", {"entity": "orders", "source": "gone"}, TEXTS),
    ("erase", "entity", {"source": "gone"}, [["orders"], 7, None]),
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
    made = load_macros(
        target=SimpleNamespace(type="spark", schema="cdc", name="local"),
        run_query=lambda _: SimpleNamespace(rows=[{"catalog": "spark_catalog"}]),
    )
    for given in (
        {"execute": True, "force": False, "retention_hours": 0.5, "older_than_days": 0},
        {"entities": None, "to": datetime.date(2024, 3, 2), "at": "2024-03-02"},
        {"entities": ["orders", "sites"], "to": "20240302-d-90131623", "name": None},
        {"entities": "orders", "to": datetime.datetime(2024, 3, 2, 10, 15), "source": None},
    ):
        made._check_arguments("vacuum", given)


def test_a_dry_run_sends_only_what_ends_with_its_session() -> None:
    """Of all statements, so no operation has to ask."""
    session = ["set a = b", "reset a", "refresh table t", "call c.system.create_changelog_view()"]
    session.append("create or replace temporary view v as select 1")
    written = ["create view v as select 1", "alter view v as select 1", "drop view if exists v"]
    written += [
        "insert overwrite t select 1",
        "alter table t drop partition (a = 1)",
        "\ndrop table t",
    ]
    for given, expected in ((False, session), (True, session + written)):
        sent: list[str] = []

        def statement(*_: Any, caller: Any, sent: list[str] = sent, **__: Any) -> str:
            sent.append(caller())
            return ""

        made = macros(statement=statement)
        made._check_arguments("vacuum", {"execute": given})
        assert made._mode() == ("load" if given else "plan")
        for sql in session + written:
            made._send(sql)
        assert sent == expected


# --- undo


DATES = ("20240301", "20240302", "20240303", "20240304")
LOADS = [f"{date}-d-0000000{number}" for number, date in enumerate(DATES)]


def undo(to: Any, *counts: int) -> list[str]:
    """Which of some entities an undo takes loads back of: a has so many loads, b so many, …"""
    carried: list[str] = []
    counted = list(zip("abc", counts, strict=False))
    made = load_macros(
        _contexts=lambda *_: [
            {"entity": {"name": name, "eff_type": "date"}, "load_log": "x", "public": "x"}
            for name, _ in counted
        ],
        _ensure_load_log=lambda *_: None,
        _current_timeline=lambda ctx: heads[ctx["entity"]["name"]],
        _other_columns_problem=lambda *_: None,
        _seen_as_declared=lambda entity, timeline, made: made,
        _run_id8=lambda: "",
        _time_now=lambda *_: "",
        _undo_redo_entity=lambda _, one: carried.extend(
            [one["entity"]["name"]] if one["loads"] else []
        ),
    )
    heads = {name: manifest_of(made, LOADS[:count]) for name, count in counted}
    made._undo_redo_entities("undo", list(heads), to)
    return carried


def test_entities_that_are_there_keep_no_other_from_it() -> None:
    assert undo("2024-03-02", 3, 2) == ["a"]
    assert undo(LOADS[1], 2) == undo("2024-03-09", 3, 2) == []
    assert undo(None, 3) == ["a"]
    with pytest.raises(CompilerError, match="spark-cdc undo a b --to DATE"):
        undo(None, 3, 2)
    with pytest.raises(CompilerError, match="b: nothing is committed"):
        undo("2024-03-02", 3, 0)


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
        change = {"what": "undo of 1 load", "is_move": is_move}
        load_macros()._refuse_commit({"name": "orders"}, change, other)
    assert wanted in str(error.value) and unwanted not in str(error.value)


# --- erased keys


@pytest.mark.parametrize(("unread", "listed", "says"), [(2, "l", 1), (0, "l", 0), (2, None, 0)])
def test_rejected_rows_that_may_be_of_erased_keys_are_counted(
    unread: int, listed: str | None, says: int
) -> None:
    said: list[str] = []
    made = load_macros(
        _erased=lambda _: listed,
        run_query=lambda sql: SimpleNamespace(rows=[{"unread": unread}]),
        log=lambda text, info=False: said.append(text) or "",
    )
    made._note_unread_rejects({"entity": {"name": "members"}, "ledger": "s.l"}, LOADS[:1])
    assert len(said) == says
    assert not says or "2 rejected rows without a readable key" in said[0]
    made._note_unread_rejects({"entity": {"name": "members"}, "ledger": "s.l"}, [])
    assert len(said) == says


@pytest.mark.parametrize("ends", ["there is no such branch", "there is no such branch."])
def test_a_message_has_one_full_stop_at_its_end(ends: str) -> None:
    with pytest.raises(CompilerError) as error:
        macros()._stop("undo", ["orders", ends])
    assert str(error.value) == (
        "spark_cdc.undo: orders; there is no such branch. Nothing was changed."
    )


@pytest.mark.parametrize(("branch", "written"), [("pr", "ledger"), ("", "ledger_own")])
def test_nothing_is_erased_in_a_branch(branch: str, written: str) -> None:
    """Whether the command line names the branch, or the target's schema is one."""
    key = {"name": "id", "sensitive": False}
    entity = {"name": "orders", "sensitive": ["mail"], "key_columns": [key], "events": None}
    ctx = {"entity": entity, "public": "ledger", "write": {"public": written}}
    given = macros(
        _contexts=lambda operation, names: [ctx],
        env_var=lambda name, default="": branch,
        _secret_of=lambda columns: None,
        _has_sensitive_key=lambda entity: False,
    )
    with pytest.raises(CompilerError, match="orders: this is a branch: erase in production"):
        given.erase("orders", keys=[[4]])
