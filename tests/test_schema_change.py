"""An entity's definition changes: only rows whose values differ under the new one become U."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from project import Project

DAYS = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
KEY = {"data_type": "int", "role": "key"}
IGNORED = {"data_type": "string", "role": "ignore"}
EVENTS = {"format": "flagged_rows", "order": ["seq"], "operation": "op", "archive": True}

# What each entity looks like before the change and after it, with the settings of the latter.
ENTITIES: dict[str, dict[str, Any]] = {
    # full: added with a default, added nullable, dropped, wider, ignored that is compared now
    "goods": {
        "before": {"id": KEY, "price": "decimal(6,2)", "memo": "string", "seen": IGNORED},
        "after": {
            "id": {"data_type": "bigint", "role": "key"},
            "region": {"data_type": "string", "nullable": False, "default": "EU's"},
            "price": "decimal(12,4)",
            "seen": "string",
            "remark": "string",
        },
        "settings": {"dropped": ["memo"]},
    },
    # delta: a key of another name; another name and another type; compared that is ignored now
    "parts": {
        "both": {"load_type": "delta", "deleted_when": "op = 'D'"},
        "before": {
            "id": KEY,
            "amount": "string",
            "tag": "string",
            "op": {"data_type": "string", "role": "control"},
        },
        "after": {
            "part_no": {**KEY, "was": "id"},
            "qty": {"data_type": "int", "was": "amount"},
            "tag": IGNORED,
            "op": {"data_type": "string", "role": "control"},
        },
    },
    # full: another key
    "sites": {
        "before": {"id": KEY, "code": "string", "value": "string"},
        "after": {
            "code": {"data_type": "string", "role": "key"},
            "id": "int",
            "value": "string",
        },
    },
    # events: a key of another name, another type, dropped, added
    "moves": {
        "both": {"load_type": "events", "events": EVENTS},
        "before": {
            "id": KEY,
            "amount": "string",
            "extra": "string",
            "seq": {"data_type": "bigint", "role": "control"},
        },
        "after": {
            "no": {**KEY, "was": "id"},
            "amount": {"data_type": "decimal(8,2)"},
            "added": "string",
            "seq": {"data_type": "bigint", "role": "control"},
        },
        "settings": {"dropped": ["extra"]},
    },
}
LANDED = {
    "goods": [
        ["id,price,memo,seen", "1,1.50,a,x", "2,2.00,b,x", "3,3,c,x"],
        ["id,price,memo,seen", "1,1.50,a,y", "2,2.50,b,x", "4,4,d,x"],
        ["id,region,price,seen,remark", "1,EU's,1.5,y,", "2,US,2.5,x,", "4,EU's,4,z,", "5,US,5,x,"],
        ["id,region,price,seen,remark", "1,EU's,1.5,y,", "2,US,2.0001,x,", "4,EU's,4,z,r"],
    ],
    "parts": [
        ["id,amount,tag,op", "1,5,a,", "2,6,a,", "3,7,a,"],
        ["id,amount,tag,op", "2, 8,a,", "3,,,D"],
        ["part_no,qty,tag,op", "1,5,b,", "2,9,a,", "3,7,a,", "4,1,a,"],
        ["part_no,qty,tag,op", "2,,,D", "4,1,c,"],
    ],
    "sites": [
        ["id,code,value", "1,A,x", "2,B,y"],
        ["id,code,value", "1,A,z"],
        ["code,id,value", "A,1,z", "C,3,z"],
        ["code,id,value", "A,7,z", "B,2,z"],
    ],
    "moves": [
        ["id,amount,extra,op,seq", "1,5,e,I,1", "2,6,e,I,2", "3,7,e,I,3"],
        ["id,amount,extra,op,seq", "1,5.5,e,U,4", "3,,,D,5"],
        ["no,amount,added,op,seq", "1,5.50,,U,6", "2,6,x,U,7", "3,,,D,5", "4,1,,I,8"],
        ["no,amount,added,op,seq", "2,,,D,9", "4,2,,U,10"],
    ],
}
REKEY = {"spark_cdc_rekey": ["sites"]}


def write(project: Project, name: str, when: str) -> None:
    """Writes the YAML of an entity, as it is `before` or `after`."""
    entity = ENTITIES[name]
    settings = dict(entity.get("both", {}))
    if when == "after":
        settings |= entity.get("settings", {})
    project.entity(name, entity[when], **settings)
    if name == "moves":
        view = project.folder / "models/moves/moves_event_versions.sql"
        view.write_text("{{ spark_cdc.event_versions() }}\n", encoding="utf-8")


def texts(project: Project, relation: str, columns: str) -> list[str]:
    """Some columns of a relation as text, a row a line."""
    listed = ", ".join(
        f"coalesce(cast({column} as string), '-')" for column in columns.split(", ")
    )
    return sorted(
        row[0] for row in project.query(f"select concat_ws(' ', {listed}) from {{s}}.{relation}")
    )


def state(project: Project) -> dict[str, list[Any]]:
    """What all views show."""
    return {
        f"{name}_{view}": project.rows(f"{name}_{view}", "*")
        for name in ENTITIES
        for view in ("current", "history", "versions")
    }


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """Two loads under the first definition, and one under the second."""
    for name, days in LANDED.items():
        write(project, name, "before")
        for date, lines in zip(DAYS, days, strict=True):
            project.land(name, date, *lines)
    project.load(DAYS[0])
    project.load(DAYS[1])
    for name in LANDED:
        write(project, name, "after")
    project.load(DAYS[2], **REKEY)
    return project


def test_full(shop: Project) -> None:
    shown = "id, region, price, seen, remark, operation, eff_start_date"
    assert texts(shop, "goods_current", shown) == []
