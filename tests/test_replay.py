"""Replays: the past is loaded anew out of readers' sight, and takes the old one's place at once."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from project import Outcome, Project

FULL = {"id": {"data_type": "int", "role": "key"}, "value": "string"}
DELTA = FULL | {"op": {"data_type": "string", "role": "control"}}
EVENTS = FULL | {
    "op": {"data_type": "string", "role": "control"},
    "pos": {"data_type": "bigint", "role": "control"},
}
EVENT_SETTINGS = {"format": "flagged_rows", "order": ["pos"], "op": "op"}


def smoke(project):
    pass


def replay(project: Project, date: str, first: str, *names: str, **more: Any) -> Outcome:
    return project.run(date, *names, spark_cdc_replay={"from": first} | more)


def operate(project: Project, macro: str, *names: str) -> Outcome:
    arguments = json.dumps({"entities": list(names)} if names else {})
    return project.dbt("run-operation", f"spark_cdc.{macro}", "--args", arguments)


def state(project: Project, entity: str) -> dict[str, list[tuple[Any, ...]]]:
    """All that readers see of an entity."""
    return {
        "current": project.rows(f"{entity}_current", "*"),
        "history": project.rows(f"{entity}_history", "*"),
        "versions": project.rows(f"{entity}_versions", "*"),
    }


def test_smoke(project: Project) -> None:
    project.entity("wrong", FULL)
    for day, rows in enumerate((["1,a", "2,b"], ["1,a", "3,WRONG"], ["1,c", "3,c"]), start=1):
        project.land("wrong", f"2024-01-0{day}", "id,value", *rows)
        project.load(f"2024-01-0{day}", "wrong")
    before = state(project, "wrong")
    project.land("wrong", "2024-01-02", "id,value", "1,a", "2,b", "3,c")
    for date in ("2024-01-02", "2024-01-03"):
        outcome = replay(project, date, "2024-01-02", "wrong")
        assert outcome.success, outcome.output
        print(outcome.output)
    assert state(project, "wrong") == before
    for macro in ("load_status", "compare_replay", "publish_replay"):
        outcome = operate(project, macro, "wrong")
        assert outcome.success, outcome.output
        print(outcome.output)
    print(state(project, "wrong"))
    for row in project.rows("cdc_loads", "*"):
        print(row)
