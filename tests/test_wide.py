"""Tables of many columns: what Spark's optimizer does for each set of columns would never end.

It knows of each expression that a name stands for it, and follows that knowledge through every
renaming, column by column and in all combinations: twenty columns filled a heap of 2 GB.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from project import INTERPRETED, INTERPRETED_SESSIONS, Project

pytestmark = [pytest.mark.proves("load types"), pytest.mark.full]

COUNT = 24  # a dry run needs two minutes for so many columns of messages
NAMES = [f"c{number:02}" for number in range(COUNT)]
KEYS = {name: {"data_type": "int", "role": "key"} for name in ("id", "line")}
DAYS = ["2024-01-01", "2024-01-02"]
SECONDS = 600  # of a statement at most
EVENT_VIEWS = ["event_versions", "bitemporal"]
ENTITIES: dict[str, dict[str, Any]] = {
    "wide_full": {},
    "wide_delta": {"load_type": "delta"},
    "wide_flagged": {
        "load_type": "events",
        "events": {
            "format": "flagged_rows", "order": ["seq"], "operation": "op", "archive": True,
        },
    },
    "wide_debezium": {
        "load_type": "events",
        "events": {"format": "debezium", "archive": True},
        "source": {"format": "json"},
    },
}  # fmt: skip


def rows(*keys: int, value: str = "x", more: str = "") -> list[str]:
    """Lines of a CSV file, each with its key in all columns."""
    return [f"{key},1,{','.join([f'{value}{key}'] * COUNT)}{more}" for key in keys]


def message(at: int, op: str, before: int | None, after: int | None, last: str) -> str:
    """A change event as Debezium writes it."""
    images = [
        key and {"id": key, "line": 1} | dict.fromkeys([*NAMES[:-1], last], f"v{key}")
        for key in (before, after)
    ]
    if op == "u":  # a large value that was not changed
        images[1] |= {NAMES[0]: "__debezium_unavailable_value"}
    source = {"connector": "postgresql", "sequence": json.dumps([None, str(at)]), "lsn": at}
    source |= {"txId": at, "ts_ms": at, "db": "shop", "schema": "public", "table": "wide"}
    payload = {"op": op, "before": images[0], "after": images[1], "source": source, "ts_ms": at}
    return json.dumps({"payload": payload})


def write(project: Project, name: str, last: str) -> None:
    """Write an entity, whose last column has a name of its own."""
    values: dict[str, Any] = dict.fromkeys(NAMES[:-1], "string")
    values[last] = {
        "data_type": "string",
        **({} if last == NAMES[-1] else {"renamed_from": NAMES[-1]}),
    }
    columns = {**KEYS, **values}
    if name == "wide_flagged":
        columns["seq"] = {"data_type": "bigint", "role": "control"}
    project.entity(name, columns, **ENTITIES[name])
    if "events" in ENTITIES[name]:
        for view in EVENT_VIEWS:
            path = project.folder / f"models/{name}/{name}_{view}.sql"
            path.write_text(f"{{{{ spark_cdc.{view}() }}}}\n", encoding="utf-8")


@pytest.fixture(scope="module")
def wide(project: Project) -> Project:
    """Two loads of each entity, between which a column got another name."""
    limit = {"set:hiveconf:spark.sql.thriftServer.queryTimeout": f"{SECONDS}s"}
    project.profile(server_side_parameters=INTERPRETED_SESSIONS | limit)
    for setting, value in INTERPRETED.items():
        project.cursor.execute(f"set {setting} = {value}")
    project.cursor.execute(f"set spark.sql.thriftServer.queryTimeout = {SECONDS}s")
    for number, (day, last) in enumerate(zip(DAYS, (NAMES[-1], "renamed"), strict=True)):
        head = ",".join(["id", "line", *NAMES[:-1], last])
        for name in ("wide_full", "wide_delta"):
            project.land(name, day, head, *rows(1, 2, value="xy"[number]), *rows(3 + number))
        lines = rows(1, 2, value="xy"[number], more=f",U,{number}")
        project.land("wide_flagged", day, f"{head},op,seq", *lines, *rows(9, more=f",D,{number}"))
        at = 1000 * number
        project.land(
            "wide_debezium", day,
            message(at, "c", None, 1 + number, last),
            message(at + 1, "u", 1 + number, 1 + number, last),
            message(at + 2, "u", 1 + number, 9 + number, last),
            file="events.json",
        )  # fmt: skip
        for name in ENTITIES:
            write(project, name, last)
        project.load(day, *ENTITIES)
    return project


@pytest.mark.parametrize("name", ENTITIES)
def test_each_view_is_planned(wide: Project, name: str) -> None:
    """After a change of the definition, by which the archive is laid out anew."""
    more = EVENT_VIEWS if "events" in ENTITIES[name] else []
    for view in ["current", "history", "versions", *more]:
        for where in ("", " where c01 > 'a' and c02 is not null"):
            [[plan]] = wide.query(f"explain select * from {{s}}.{name}_{view}{where}")
            assert plan.startswith("== Physical Plan ==")


def test_what_they_show(wide: Project) -> None:
    shown = wide.query("select id, c00, renamed from {s}.wide_debezium_event_versions")
    assert sorted(shown) == [
        (1, "v1", "v1"),
        (1, "v1", "v1"),
        (2, "v2", "v2"),
        (2, "v2", "v2"),
        (9, "v1", "v9"),
        (10, "v2", "v10"),
    ]


@pytest.mark.parametrize("name", ENTITIES)
def test_what_a_load_would_do_is_told(
    wide: Project, command: Callable[..., tuple[int, str]], name: str
) -> None:
    """Its queries read what came in through views, of which nothing is written down."""
    code, said = command("load", DAYS[1], "--dry-run", "--select", name)
    assert code == 0, said


def test_the_data_tests_pass(wide: Project) -> None:
    tested = wide.dbt("test")
    assert tested.success, tested.output
