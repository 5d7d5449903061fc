"""One story, told in every format of change events: all end in the same tables.

tests/event_formats/<format>/story*.yml describes an entity, the folder of the same name has what it
reads on two days. What a format tells in more or fewer messages than the others stands in its
story.yml as `counts`, by date.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

import scale
from avro_events import number_of, rows_sql

pytestmark = [pytest.mark.proves("change events"), pytest.mark.integration]

FIXTURES = Path(__file__).parent / "event_formats"
STORIES = {
    "_".join([path.parent.name, *path.stem.split("_")[1:]]): path
    for path in sorted(FIXTURES.glob("*/story*.yml"))
}
# All of them in `make test-all`.
LOADED = {
    name: path
    for name, path in STORIES.items()
    if scale.ALL or name in ("debezium", "maxwell", "dms", "sqlserver_cdc")
}
DATES = ["2024-05-01", "2024-05-02"]
ALICIA = (1, "Alicia", Decimal("10.00"), "a")
BOB = (2, "Bob", Decimal("20.50"), None)
RICHER_BOB = (2, "Bob", Decimal("21.00"), None)
CARLA = (3, "Carla", Decimal("0.10"), "c")
DAN = (4, "Dan", Decimal("5.00"), "")
MOVED_DAN = (5, "Dan", Decimal("5.00"), "")
FIRST, SECOND = DATES

VIEWS = {
    "current": {(*RICHER_BOB, "U", SECOND), (*CARLA, "I", SECOND), (*MOVED_DAN, "I", SECOND)},
    "history": {
        (*ALICIA, "I", FIRST),
        (*BOB, "I", FIRST),
        (*DAN, "I", FIRST),
        (*ALICIA, "D", SECOND),
        (*RICHER_BOB, "U", SECOND),
        (*CARLA, "I", SECOND),
        (*DAN, "D", SECOND),
        (*MOVED_DAN, "I", SECOND),
    },
    "versions": {
        (*ALICIA, "I", FIRST, SECOND, False),
        (*BOB, "I", FIRST, SECOND, False),
        (*DAN, "I", FIRST, SECOND, False),
        (*RICHER_BOB, "U", SECOND, None, True),
        (*CARLA, "I", SECOND, None, True),
        (*MOVED_DAN, "I", SECOND, None, True),
    },
}
COLUMNS = {
    "current": "operation, string(eff_start_date)",
    "history": "operation, string(business_date)",
    "versions": "operation, string(eff_start_date), string(eff_end_date), is_current",
}
# carla comes and goes on the first day, eve on the second; dan's insert is sent again then
COUNTS = {
    FIRST: {
        "rows_in": 6,
        "rows_inserted": 3,
        "rows_updated": 0,
        "rows_deleted": 0,
        "rows_unchanged": 0,
        "rows_not_supplied": 0,
        "rows_rejected": 0,
        "rows_prior": 0,
        "rows_current": 3,
        "events_late": 0,
        "events_control": 0,
        "events_unexpected": 0,
    },
    SECOND: {
        "rows_in": 7,
        "rows_inserted": 2,
        "rows_updated": 1,
        "rows_deleted": 2,
        "rows_unchanged": 0,
        "rows_not_supplied": 0,
        "rows_rejected": 0,
        "rows_prior": 3,
        "rows_current": 3,
        "events_late": 1,
        "events_control": 0,
        "events_unexpected": 0,
    },
}


def story(name: str) -> dict[str, Any]:
    """A story's settings, columns and counts."""
    return yaml.safe_load(STORIES[name].read_text(encoding="utf-8"))


def land_typed(project: Any, name: str, told: dict[str, Any]) -> None:
    """Writes what another story tells in JSON as typed Parquet, as it comes from Avro."""
    for day in sorted((STORIES[name].parent / told["told_from"]).iterdir()):
        rows = [json.loads(line) for line in (day / "story.json").read_text().splitlines()]
        for row in rows:
            for image in ("before", "after"):
                found = (row["value"] or {}).get(image) or {}
                if found.get("amount"):
                    found["amount"] = number_of(found["amount"], 2)
        place = project.landing / name / day.name
        project.query(
            f"insert overwrite directory '{place}' using parquet {rows_sql(rows, told['types'])}"
        )


@pytest.fixture(scope="module")
def told(project: Any) -> Any:
    """The project after both days, each loaded in one run of all entities."""
    for name, path in LOADED.items():
        told = story(name)
        columns = {
            column["name"]: {"data_type": column["data_type"], **column.get("meta", {})}
            for column in told["columns"]
        }
        settings = told["settings"]
        if "types" in told:
            land_typed(project, name, told)
        else:
            settings["source"]["path"] = f"{path.with_suffix('')}/{{business_date}}"
        project.entity(name, columns, **settings)
    views = [word for view in VIEWS for word in ("--exclude", f"*_{view}")]
    outcome = project.run(FIRST, words=views)
    assert outcome.success, outcome.output
    project.load(SECOND)
    return project


def test_every_format_has_a_story() -> None:
    files = Path(__file__).parents[1].glob("macros/formats/*.sql")
    formats = {path.stem for path in files} - {"documents", "rows"}  # what several formats share
    assert formats == {path.parent.name for path in STORIES.values()}
    for path in STORIES.values():
        folder = path.with_name(yaml.safe_load(path.read_text()).get("told_from", path.stem))
        assert sorted(day.name for day in folder.iterdir()) == DATES


@pytest.mark.parametrize("view", VIEWS)
def test_all_end_in_the_same_tables(told: Any, view: str) -> None:
    names = ", ".join(["id", "name", "amount", "remark", COLUMNS[view]])
    query = " union all ".join(
        f"select '{name}' as format, {names} from {{s}}.{name}_{view}" for name in LOADED
    )
    found: dict[str, list[tuple[Any, ...]]] = {name: [] for name in LOADED}
    for name, *row in told.query(query):
        found[name].append(tuple(row))
    wanted = sorted(VIEWS[view], key=repr)
    assert {name: rows for name, rows in found.items() if sorted(rows, key=repr) != wanted} == {}, (
        wanted
    )


def test_all_count_the_same(told: Any) -> None:
    names = list(COUNTS[FIRST])
    found = {
        (entity, date): dict(zip(names, counts, strict=True))
        for entity, date, *counts in told.query(
            f"select entity, business_time, {', '.join(names)} from {{s}}.cdc_loads"
        )
    }
    wanted = {
        (name, date): COUNTS[date] | story(name).get("counts", {}).get(date, {})
        for name in LOADED
        for date in DATES
    }
    differences = {
        load: {
            name: (found[load][name], counts[name])
            for name in names
            if found[load][name] != counts[name]
        }
        for load, counts in wanted.items()
        if found[load] != counts
    }
    assert differences == {}, "found, wanted"
    assert found.keys() == wanted.keys()


def test_the_projects_own_tests_pass(told: Any) -> None:
    outcome = told.dbt("test", *([] if scale.ALL else ["--exclude", "tag:spark_cdc_verify"]))
    assert outcome.success, outcome.output
    assert len(outcome.status) >= 8 * len(LOADED)
