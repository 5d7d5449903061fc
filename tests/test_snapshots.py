"""One run of another load type: full snapshots among deltas, deltas between full loads."""

from __future__ import annotations

from typing import Any

import pytest

from project import Project
from spark_cdc import cli as command_line

COLUMNS: dict[str, Any] = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
OP: dict[str, Any] = {"op": {"data_type": "string", "role": "control"}}
DAYS = tuple(f"2024-03-0{day}" for day in range(1, 7))
STATE = "id, name, cast(eff_start_date as string), operation"
TOLD = (
    "business_time, load_type, rows_in, rows_inserted, rows_updated, rows_deleted, rows_unchanged,"
    " rows_current, message"
)


def drifting(project: Project, name: str) -> None:
    """An entity of deltas after two of them."""
    project.entity(name, COLUMNS | OP, load_type="delta", deleted_when="op = 'D'")
    project.land(name, DAYS[0], "op,id,name", "U,1,a", "U,2,b", "U,3,c")
    project.land(name, DAYS[1], "op,id,name", "U,2,b2", "D,3,", "U,5,e")
    for day in DAYS[:2]:
        project.load(day, name)


def test_a_full_snapshot_among_deltas(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drifting(project, "drift")
    # a snapshot need not have what only deltas have
    project.land("drift", DAYS[2], "id,name", "1,a", "2,b3", "4,d")
    outcome = project.load(DAYS[2], "drift", spark_cdc_load_type="full")
    differed = (
        "the snapshot differed in 3 rows from what the loads of type delta had led to:"
        " 1 were missing, 1 had other values, 1 should not have been there"
    )
    assert differed in outcome.output
    expected = [(1, "a", DAYS[0], "N"), (2, "b3", DAYS[2], "U"), (4, "d", DAYS[2], "I")]
    assert project.rows("drift_current", STATE) == expected
    told = project.rows("cdc_loads where entity = 'drift' and load_id like '20240303-f%'", TOLD)
    assert told == [(DAYS[2], "full", 3, 1, 1, 1, 1, 3, differed)]

    # the same date again needs the word again
    refused = project.run(DAYS[2], "drift")
    assert not refused.success
    assert f"{DAYS[2]} was loaded with the load type full (20240303-f" in refused.output
    assert f"{{business_date: {DAYS[2]}, spark_cdc_load_type: full}}" in refused.output
    assert project.rows("drift_current", STATE) == expected
    # rows that it flags as deleted are as good as missing, as 2 and one that never was
    project.land("drift", DAYS[2], "op,id,name", "U,1,a", "D,2,", "U,4,d", "D,9,")
    project.load(DAYS[2], "drift", spark_cdc_load_type={"drift": "full"})
    expected = [(1, "a", DAYS[0], "N"), (4, "d", DAYS[2], "I")]
    assert project.rows("drift_current", STATE) == expected

    project.land("drift", DAYS[3], "op,id,name", "U,4,d2", "D,1,")
    project.load(DAYS[3], "drift")
    seen = {view: project.rows(f"drift_{view}", "*") for view in ("history", "versions")}
    assert project.rows("drift_current", STATE) == [(4, "d2", DAYS[3], "U")]
    tested = project.dbt("test", "--select", "path:models/drift")
    assert tested.success, tested.output

    # a replay takes each date as it was loaded
    project.serve_commands(monkeypatch)
    code = command_line.main(["replay", "--from", DAYS[1], "--select", "drift", "--publish"])
    assert code == 0, capsys.readouterr().out
    for view, rows in seen.items():
        assert project.rows(f"drift_{view}", "*") == rows
    told = project.rows("cdc_loads where entity = 'drift' and load_id like '20240303-f%'", "status")
    assert len(told) == 3
    assert project.rows("drift_current", STATE) == [(4, "d2", DAYS[3], "U")]

    # by command, and told by diff
    project.land("drift", DAYS[4], "id,name", "4,d2", "6,f")
    load = ["load", DAYS[4], "--select", "path:models/drift", "cdc_loads"]
    assert command_line.main([*load, "--load-type", "full"]) == 0
    capsys.readouterr()
    assert command_line.main(["diff", "drift", DAYS[3], DAYS[4]]) == 0
    assert "1 added, 0 removed, 0 changed" in capsys.readouterr().out


def test_deltas_between_full_loads(project: Project) -> None:
    project.entity("between", COLUMNS)
    project.land("between", DAYS[0], "id,name", "1,a", "2,b")
    project.load(DAYS[0], "between")
    project.land("between", DAYS[1], "id,name", "2,b2", "3,c")
    project.load(DAYS[1], "between", spark_cdc_load_type="delta")
    assert project.rows("between_current", STATE) == [
        (1, "a", DAYS[0], "X"),
        (2, "b2", DAYS[1], "U"),
        (3, "c", DAYS[1], "I"),
    ]
    project.land("between", DAYS[2], "id,name", "2,b2", "3,c")
    project.load(DAYS[2], "between")
    assert project.rows("between_current", "id, operation") == [(2, "N"), (3, "N")]
    types = project.rows("cdc_loads where entity = 'between'", "load_id, load_type, message")
    assert [(one[0][:10], *one[1:]) for one in types] == [
        ("20240301-f", "full", None),
        ("20240302-d", "delta", None),
        ("20240303-f", "full", None),
    ]
    tested = project.dbt("test", "--select", "path:models/between")
    assert tested.success, tested.output


def test_guards_are_those_of_full_loads(project: Project) -> None:
    drifting(project, "guarded")
    project.land("guarded", DAYS[2], "id,name")
    refused = project.run(DAYS[2], "guarded", spark_cdc_load_type="full")
    assert not refused.success
    assert "empty: the snapshot is empty, but 3 rows exist" in refused.output
    told = project.rows(
        "cdc_loads where entity = 'guarded' and status = 'refused'", "load_type, guard"
    )
    assert told == [("full", "empty")]
