"""vacuum, compact and verify, end to end: an entity of each load type, loaded, squashed and loaded on."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from project import Outcome, Project

ENTITIES = ("full", "delta", "moves")
COLUMNS: dict[str, Any] = {
    "id": {"data_type": "int", "role": "key"},
    "name": "string",
    "seen": {"data_type": "string", "role": "ignore"},
}
EVENTS = {"format": "flagged_rows", "operation": "op", "order": ["seq"], "archive": True}
SETTINGS: dict[str, dict[str, Any]] = {
    "full": {"load_type": "full"},
    "delta": {"load_type": "delta", "deleted_when": "op = 'D'"},
    "moves": {"load_type": "events", "events": EVENTS},
}
VIEWS = ("current", "history", "versions", "event_versions")
DAYS = tuple(f"2024-03-0{day}" for day in range(1, 6))
# Key 1 stays, 2 changes each day, 3 comes and goes, 4 comes later, 5 changes in an ignored column.
STORY: list[dict[int, tuple[str, str]]] = [
    {1: ("a", "x"), 2: ("b", "x"), 3: ("c", "x"), 5: ("e", "x")},
    {1: ("a", "x"), 2: ("b2", "x"), 5: ("e", "x2")},
    {1: ("a", "x"), 2: ("b3", "x"), 3: ("c3", "x"), 4: ("d", "x"), 5: ("e", "x2")},
    {1: ("a", "x"), 2: ("b4", "x"), 4: ("d", "x"), 5: ("e", "x2")},
    {1: ("a", "x"), 2: ("b5", "x"), 3: ("c5", "x"), 4: ("d5", "x"), 5: ("e", "x2")},
]


def changes(story: list[dict[int, tuple[str, str]]]) -> list[tuple[str, str, int, str]]:
    """What has to be in the history: day, operation, key, name."""
    found = []
    before: dict[int, tuple[str, str]] = {}
    for day, now in zip(DAYS, story, strict=False):
        for key in before.keys() | now.keys():
            old, new = before.get(key), now.get(key)
            if old is None or new is None:
                operation, row = ("I", new) if new else ("D", old)
                found.append((day, operation, key, row[0]))
            elif old[0] != new[0]:
                found.append((day, "U", key, new[0]))
        before = now
    return sorted(found)


def land(project: Project, name: str, day: int, story: list[dict[int, tuple[str, str]]]) -> None:
    """Lands what a day brings, as the entity's load type has it."""
    now, before = story[day], story[day - 1] if day else {}
    if name == "full":
        lines = [f"{key},{a},{b}" for key, (a, b) in now.items()]
        project.land(name, DAYS[day], "id,name,seen", *lines)
        return
    changed = {key: row for key, row in now.items() if before.get(key) != row or key == 1}
    lines = [f"U,{key},{a},{b}" for key, (a, b) in changed.items()]
    lines += [f"D,{key},," for key in before if key not in now]
    if name == "moves":
        lines = [f"{day + 1}{at:03d},{line}" for at, line in enumerate(lines)]
    project.land(name, DAYS[day], ("seq," if name == "moves" else "") + "op,id,name,seen", *lines)


def operate(project: Project, macro: str, **arguments: Any) -> Outcome:
    return project.dbt("run-operation", f"spark_cdc.{macro}", "--args", yaml.safe_dump(arguments))


def describe(project: Project) -> None:
    """The three entities, with a policy under which not nearly each load is a checkpoint."""
    for name in ENTITIES:
        columns = dict(COLUMNS)
        if name != "full":
            columns["op"] = {"data_type": "string", "role": "control"}
        if name == "moves":
            columns["seq"] = {"data_type": "bigint", "role": "control"}
        policy = {"changed_share": 5, "loads": 3}
        project.entity(name, columns, checkpoint=policy, **SETTINGS[name])
    model = project.folder / "models/moves/moves_event_versions.sql"
    model.write_text("{{ spark_cdc.event_versions() }}\n", encoding="utf-8")


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """The entities after four loads."""
    describe(project)
    for day, date in enumerate(DAYS[:4]):
        for name in ENTITIES:
            land(project, name, day, STORY)
        project.load(date, *ENTITIES)
    return project


def views(project: Project, name: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all views."""
    wanted = VIEWS if name == "moves" else VIEWS[:3]
    return {view: project.rows(f"{name}_{view}", "*") for view in wanted}


def follows(project: Project, story: list[dict[int, tuple[str, str]]]) -> None:
    """Current state and history are those of the story."""
    for name in ENTITIES:
        state = sorted((key, a, b) for key, (a, b) in story[-1].items())
        assert project.rows(f"{name}_current", "id, name, seen") == state
        found = project.rows(
            f"{name}_history", "cast(business_date as string), operation, id, name"
        )
        assert found == changes(story)


def kinds(project: Project, name: str) -> list[str]:
    """Day and kind of the loads that count."""
    text = project.query(f"show create table {{s}}.{name}_committed")[0][0]
    return re.findall(r"'\d{6}(\d\d-[a-z]+)-[0-9a-f]{8}',?\n", text)


def test_compact_changes_no_view(shop: Project) -> None:
    before = {name: views(shop, name) for name in ENTITIES}
    assert kinds(shop, "full") == ["01-fc", "02-f", "03-f", "04-f"]

    dry = operate(shop, "compact", entities=list(ENTITIES), older_than_days=0)
    assert dry.success, dry.output
    assert "full: would squash 3 loads, 20240301-fc-" in dry.output
    assert "writes 9 rows of history and 5 of the state" in dry.output
    assert "Nothing was written" in dry.output
    assert kinds(shop, "full") == ["01-fc", "02-f", "03-f", "04-f"]
    assert not [row for row in shop.query("show partitions {s}.full_ledger") if "-h" in row[0]]

    # Young loads are kept, and so is the last one.
    young = operate(shop, "compact", entities="full", older_than_days=2, execute=True)
    assert young.success and "full: nothing to squash in 4 loads" in young.output

    done = operate(shop, "compact", older_than_days=0, execute=True)
    assert done.success, done.output
    for name in ENTITIES:
        assert kinds(shop, name)[:2] == ["03-h", "03-hc"]
        assert len(kinds(shop, name)) == 3
        assert views(shop, name) == before[name]


def test_loads_go_on_after_compact(shop: Project) -> None:
    """The last load again, with other data, and one more."""
    story = [*STORY[:3], STORY[3] | {9: ("i", "x")}, STORY[4]]
    for day in (3, 4):
        for name in ENTITIES:
            land(shop, name, day, story)
        shop.load(DAYS[day], *ENTITIES)
        follows(shop, story[: day + 1])

    # What was squashed before can be squashed once more: histories are kept, or merged.
    before = {name: views(shop, name) for name in ENTITIES}
    done = operate(
        shop, "compact", entities=["full", "moves"], older_than_days=0, histories=True, execute=True
    )
    assert done.success, done.output
    for name in ("full", "moves"):
        assert kinds(shop, name)[:2] == ["04-h", "04-hc"]
        assert len(kinds(shop, name)) == 3
        assert views(shop, name) == before[name]
    tested = shop.dbt("test")
    assert tested.success, tested.output
