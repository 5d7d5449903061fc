"""Before the first load counts: what a refused one left behind binds nobody."""

from __future__ import annotations

from typing import Any

import pytest

from project import Project

pytestmark = [pytest.mark.proves("first loads"), pytest.mark.integration]

KEY = {"data_type": "int", "role": "key"}
FLAGGED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
# By entity: settings, columns and file of the first attempt, and columns with which it succeeds.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str], dict[str, Any]]] = {
    # another type, and a column that is declared no more
    "full": (
        {"load_type": "full"},
        {"id": KEY, "price": "decimal(10,2)", "memo": "string"},
        ["id,price,memo", "1,12.505,x"],
        {"id": KEY, "price": "decimal(12,3)"},
    ),
    # the key's type, and a name
    "delta": (
        {"load_type": "delta", "deleted_when": "op = 'D'"},
        {"id": KEY, "price": "int", "op": {"data_type": "string", "role": "control"}},
        ["id,price,op", "a1,12.505,I"],
        {
            "id": {"data_type": "string", "role": "key"},
            "cost": {"data_type": "double", "from": "price"},
            "op": {"data_type": "string", "role": "control"},
        },
    ),
    "moves": (
        {"load_type": "events", "events": {**FLAGGED, "archive": True}},
        {
            "id": KEY,
            "price": "int",
            "op": {"data_type": "string", "role": "control"},
            "seq": {"data_type": "bigint", "role": "control"},
        },
        ["id,price,op,seq", "1,12.505,I,1"],
        {
            "id": KEY,
            "price": "decimal(12,3)",
            "op": {"data_type": "string", "role": "control"},
            "seq": {"data_type": "bigint", "role": "control"},
        },
    ),
    # the masked ledger follows, too
    "people": (
        {"load_type": "full"},
        {"id": KEY, "price": {"data_type": "int", "sensitive": True}},
        ["id,price", "1,12.505"],
        {"id": KEY, "price": {"data_type": "decimal(12,3)", "sensitive": True}},
    ),
}
DATE = "2024-01-01"


def test_the_ledger_follows_the_yaml_while_no_load_counts(project: Project) -> None:
    assert project.operate("secrets", action="init").success
    for name, (settings, columns, lines, _) in CASES.items():
        project.entity(name, columns, **settings, source={"on_unexpected_column": "ignore"})
        project.land(name, DATE, *lines)
    refused = project.run(DATE, *CASES)
    assert {name for name, status in refused.status.items() if status == "error"} == {
        f"{name}_committed" for name in CASES
    }, refused.output
    for name, (settings, _, lines, columns) in CASES.items():
        more = {"file_format": "orc"} if name == "full" else {}
        project.entity(name, columns, **settings, **more, source={"on_unexpected_column": "ignore"})
    loaded = project.run(DATE, *CASES)
    assert loaded.success, loaded.output
    for table in ("full_ledger", "delta_ledger", "moves_ledger", "moves_events", "people_ledger"):
        assert f"{table} was made for other columns, no load of it counts," in loaded.output
    for name, (*_, columns) in CASES.items():
        view = f"{name}_current" if name != "people" else "people_ledger_sensitive"
        schema = "_sensitive" if name == "people" else ""
        sql = f"select distinct cast({list(columns)[1]} as string) from {{s}}{schema}.{view}"
        if name == "people":
            sql += " where operation = 'I'"
        assert project.query(sql) == [("12.505",)], name
    assert "memo" not in [row[0] for row in project.query("describe {s}.full_ledger")]
    described = project.query("describe extended {s}.full_ledger")
    assert {row[0]: row[1] for row in described}["Provider"].lower() == "orc"

    # once a load counts, or could by redo, its columns bind
    project.entity("full", {"id": KEY, "price": "date"}, source={"on_unexpected_column": "ignore"})
    project.land("full", "2024-01-02", "id,price", "1,2024-01-01")
    for count in (0, 1):
        refused = project.run("2024-01-02", "full")
        assert not refused.success
        assert "its columns are not those of the loads before" in refused.output, count
        undone = project.operate("undo", entities=["full"])
        assert undone.success == (count == 0)
