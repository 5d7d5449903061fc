"""Sensitive columns: who may not read their schema finds no value of theirs anywhere.

Each entity is loaded, corrected, squashed and changed as any other; after each step everything
that is not in the schema apart is searched for the values that came in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from project import Project

Command = Callable[..., tuple[int, str]]
PERSON: dict[str, Any] = {
    "id": {"data_type": "int", "role": "key"},
    "mail": {"data_type": "string", "sensitive": True, "mask": "mail_domain"},
    "phone": {"data_type": "string", "sensitive": True, "mask": "last_4"},
    "born": {"data_type": "date", "sensitive": True, "mask": "year"},
    "remark": {"data_type": "string", "sensitive": True, "role": "ignore"},
    "city": "string",
}
NAMES = ["mail", "phone", "born", "remark"]
POLICY = {"changed_share": 100, "loads": 2}
SETTINGS: dict[str, dict[str, Any]] = {
    "people": {"load_type": "full", "on_reject": "quarantine"},
    "visits": {"load_type": "delta", "deleted_when": "op = 'D'"},
    "moves": {
        "load_type": "events",
        "events": {"format": "flagged_rows", "operation": "op", "order": ["seq"], "archive": True},
    },
}
DAYS = tuple(f"2024-03-0{day}" for day in range(1, 8))
# By key: how the values of a person begin (each is told by its marker), and the city.
STORY = [
    {1: ("aa", "Bern"), 2: ("bb", "Rom"), 3: ("cc", "Oslo")},
    {1: ("aa", "Bonn"), 2: ("bx", "Rom"), 4: ("dd", "Wien")},
    {1: ("ay", "Bonn"), 2: ("bx", "Rom"), 3: ("cz", "Oslo"), 4: ("dd", "Wien")},
]
SECRET = re.compile(r"hush|19[0-9]{2}-0[2-9]-|\+41 79")


def values(marker: str) -> tuple[str, str, str, str]:
    """What came in of a person: mail, phone, day of birth, remark."""
    number = int.from_bytes(marker.encode()) % 10000
    return (
        f"hush.{marker}@mail{marker[0]}.example",
        f"+41 79 111 {number:04d}",
        f"19{number % 90 + 10}-0{number % 7 + 2}-17",
        f"hush {marker}",
    )


def masked(marker: str) -> tuple[str, str, str, None]:
    mail, phone, born, _ = values(marker)
    return mail.split("@")[1], phone[-4:], f"{born[:4]}-01-01", None


def land(project: Project, name: str, day: int, story: list[dict[int, Any]] = STORY) -> None:
    now, before = story[day], story[day - 1] if day else {}
    header, line = "id,mail,phone,born,remark,city", "{0},{1[0]},{1[1]},{1[2]},{1[3]},{2}"
    rows = {key: line.format(key, values(what[0]), what[1]) for key, what in now.items()}
    if name == "people":
        project.land(name, DAYS[day], header, *rows.values())
        return
    lines = [f"U,{row}" for key, row in rows.items() if before.get(key) != now[key]]
    lines += [f"D,{key},,,,," for key in before if key not in now]
    if name == "moves":
        lines = [f"{day + 1}{at:03d},{line}" for at, line in enumerate(lines)]
    project.land(name, DAYS[day], f"{'seq,' if name == 'moves' else ''}op,{header}", *lines)


def describe(project: Project, name: str, columns: dict[str, Any] = PERSON, **more: Any) -> None:
    control: dict[str, Any] = {}
    if name != "people":
        control["op"] = {"data_type": "string", "role": "control"}
    if name == "moves":
        control["seq"] = {"data_type": "bigint", "role": "control"}
    project.entity(name, columns | control, checkpoint=POLICY, **(SETTINGS[name] | more))
    if name == "moves":
        path = project.folder / f"models/{name}/{name}_event_versions_sensitive.sql"
        path.write_text("{{ spark_cdc.event_versions() }}\n", encoding="utf-8")


def told(project: Project) -> list[str]:
    """What everybody may read, as text: tables and views with their rows and their own texts."""
    found = []
    for schema in (project.schema, f"{project.schema}_commits"):
        for row in project.query(f"show tables in {schema}"):
            name = f"{schema}.{row[1]}"
            found += [f"{name} {one}" for one in project.query(f"select * from {name}")]
            found += [f"{name} {project.query(f'show create table {name}')}"]
    return found


def assert_nothing_is_told(project: Project, *outputs: str) -> None:
    leaks = [text for text in [*told(project), *outputs] if SECRET.search(text)]
    assert leaks == []
    log = project.folder / "logs" / "dbt.log"
    assert not log.exists() or not SECRET.search(log.read_text())
    for path in (project.folder / "target").rglob("*.sql"):
        assert not SECRET.search(path.read_text()), path


def assert_shown(project: Project, name: str, state: dict[int, Any], *also: str) -> None:
    """Both sides show a state, each in its own way."""
    columns = "id, cast(mail as string), phone, cast(born as string), remark, city"
    wanted = [(key, *values(marker), city) for key, (marker, city) in state.items()]
    apart = f"{project.schema}_sensitive.{name}_current_sensitive"
    assert sorted(project.query(f"select {columns} from {apart}")) == sorted(wanted)
    wanted = [(key, *masked(marker), city) for key, (marker, city) in state.items()]
    assert sorted(project.query(f"select {columns} from {{s}}.{name}_current")) == sorted(wanted)
    for view in ("history", "versions", *also):
        hashes = "key_hash, nonkey_hash, operation, eff_start_date"
        shown = project.rows(f"{name}_{view}", hashes)
        rows = f"select {hashes} from {project.schema}_sensitive.{name}_{view}_sensitive"
        assert sorted(project.query(rows), key=repr) == shown


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """The three load types after three loads."""
    for name in SETTINGS:
        describe(project, name)
    outcome = project.operate("secrets", action="init")
    assert outcome.success, outcome.output
    for day in range(3):
        for name in SETTINGS:
            land(project, name, day)
        outcome = project.load(DAYS[day], *SETTINGS)
        assert_nothing_is_told(project, outcome.output)
    return project


def test_both_sides_show_the_same_rows(shop: Project) -> None:
    for name in SETTINGS:
        assert_shown(shop, name, STORY[2])
    count = shop.query(
        f"select count(*) from {shop.schema}_sensitive.moves_event_versions_sensitive"
    )
    assert count[0][0] >= 6
    assert [row for row in shop.query("show tables in {s}") if row[1] == "moves_events"] == []


def test_the_data_tests_pass_and_find_a_value_that_is_shown(shop: Project) -> None:
    outcome = shop.dbt("test")
    assert outcome.success, outcome.output
    assert_nothing_is_told(shop, outcome.output)
