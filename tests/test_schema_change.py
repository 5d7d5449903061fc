"""An entity's definition changes: only rows whose values differ under the new one become U."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from project import Outcome, Project

DAYS = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
KEY = {"data_type": "int", "role": "key"}

# full: added (with a default, and nullable), dropped, ignored that is now compared, wider
GOODS = {"id": KEY, "price": "decimal(6,2)", "note": "string", "seen": "ignored string"}
GOODS_NOW = {
    "id": {"data_type": "bigint", "role": "key"},
    "region": {"data_type": "string", "nullable": False, "default": "EU's"},
    "price": "decimal(12,4)",
    "seen": "string",
    "remark": "string",
}


def columns(described: dict[str, Any]) -> dict[str, Any]:
    """Columns as Project.entity() takes them; `ignored string` is a type with a role."""
    return {
        name: {"data_type": what.removeprefix("ignored "), "role": "ignore"}
        if isinstance(what, str) and what.startswith("ignored ")
        else what
        for name, what in described.items()
    }


def dates(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(str(value) if value is not None else None for value in row) for row in rows]


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """Two loads under the first definition, two under the second, the first of which twice."""
    project.entity("goods", columns(GOODS))
    project.land("goods", DAYS[0], "id,price,note,seen", "1,1.50,a,x", "2,2.00,b,x", "3,3,c,x")
    project.land("goods", DAYS[1], "id,price,note,seen", "1,1.50,a,y", "2,2.50,b,x", "4,4,d,x")
    project.load(DAYS[0])
    project.load(DAYS[1])

    project.entity("goods", columns(GOODS_NOW), dropped=["note"])
    header = "id,region,price,seen,remark"
    project.land("goods", DAYS[2], header, "1,EU's,1.5,y,", "2,US,2.5,x,", "4,EU's,4,z,", "5,US,5,x,")
    project.load(DAYS[2])
    return project


def test_full(shop: Project) -> None:
    shown = dates(shop.rows("goods_current", "id, region, price, seen, remark, operation, eff_start_date"))
    assert shown == []
