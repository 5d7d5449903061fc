"""`validity`: what the columns of versions are called, and how they tell that a version ended."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from spark_cdc.jinja_bridge import Node, load_macros
from warehouse import Warehouse, described, land_lines

pytestmark = pytest.mark.proves("views")

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = {"id": {"data_type": "int", "role": "key"}, "value": "string"}
DBT = {"start": "dbt_valid_from", "end": "dbt_valid_to", "current": "is_active"}
OPEN = "9999-12-31"


@pytest.mark.parametrize(
    ("validity", "kind", "ends"),
    [
        ({}, "date", ("2024-03-02", None)),
        (DBT, "date", ("2024-03-02", None)),
        (DBT | {"open_end": OPEN}, "date", ("2024-03-02", OPEN)),
        (DBT | {"end_is": "inclusive"}, "date", ("2024-03-01", None)),
        ({"end": "end", "end_is": "inclusive", "open_end": OPEN}, "date", ("2024-03-01", OPEN)),
        (
            DBT | {"end_is": "inclusive", "open_end": OPEN},
            "timestamp",
            ("2024-03-01 23:59:59", f"{OPEN} 00:00:00"),
        ),
    ],
)
def test_versions_are_shown_as_told(
    cursor: Any, schema: str, tmp_path: Path, validity: dict[str, Any], kind: str, ends: Any
) -> None:
    """Each date is in one version, whatever it is called: as_of() and the data test agree."""
    path = f"{tmp_path}/landing/{{business_date:%Y-%m-%d}}"
    node = described(
        "rows", COLUMNS, validity=validity, business_date_type=kind, source={"path": path}
    )
    test = (ROOT / "tests/generic/intervals_valid.sql").read_text("utf-8")
    macro = tmp_path / "test.sql"
    macro.write_text(re.sub(r"(?<=\{%- )test ", "macro test_", test).replace("endtest", "endmacro"))
    warehouse = Warehouse(cursor, schema, tmp_path, node, macro)
    warehouse.graph.nodes["model.shop.stg_rows"] = Node(
        node, resource_type="model", unique_id="model.shop.stg_rows"
    )
    warehouse.graph.nodes["model.shop.rows_ledger"] = Node(
        name="rows_ledger", resource_type="model", config={"materialized": "cdc_ledger"}
    )
    for one in warehouse.graph.nodes.values():
        one.setdefault("resource_type", "model")
    for day, lines in {"2024-03-01": ("1,a", "2,b"), "2024-03-02": ("1,A", "2,b")}.items():
        land_lines(tmp_path / "landing" / day, "id,value", *lines)
        warehouse.load(day)
    end, current = validity.get("end", "eff_end_date"), validity.get("current", "is_current")
    cursor.execute(
        f"create or replace view {schema}.rows_versions as {warehouse.view_sql('versions')}"
    )
    shown = f"value, string(`{end}`), {current}"
    cursor.execute(f"select {shown} from {schema}.rows_versions order by value")
    assert cursor.fetchall() == [("A", ends[1], True), ("a", ends[0], False), ("b", ends[1], True)]
    relation = warehouse.macros._relation_in(schema, "rows_versions")
    for date, value in (("2024-03-01", "a"), ("2024-03-02", "A"), ("2024-05-01", "A")):
        cursor.execute(f"select value from ({warehouse.macros.as_of(relation, date)}) where id = 1")
        assert cursor.fetchall() == [(value,)]
    cursor.execute(warehouse.macros["test_intervals_valid"](relation))
    assert cursor.fetchall() == []


@pytest.mark.parametrize(
    ("validity", "told"),
    [
        ({"start": "Value"}, "validity names value, which is a column already"),
        ({"end": "key_hash"}, "validity names key_hash, which is a column already"),
        ({"start": "x", "end": "X"}, "validity names its columns x, x, is_current"),
        ({"open_end": "never"}, "validity.open_end is 'never'; accepted are null and a date such"),
        ({"open_end": "2024-02-30"}, "validity.open_end is '2024-02-30'"),
        ({"start": "valid from"}, "validity.start is 'valid from'; accepted are a plain name"),
        ({"ends": "x"}, "validity has the unknown key 'ends'"),
        ("x", "validity is not a mapping"),
    ],
)
def test_names_that_are_wrong(validity: Any, told: str) -> None:
    macros = load_macros(var={}, graph=Node(nodes={}, sources={}))
    source = {"path": "/landing/{business_date}"}
    problems = macros._entity_problems(
        "rows", described("rows", COLUMNS, validity=validity, source=source)
    )
    assert any(told in problem for problem in problems), problems
    assert macros._entity_problems("rows", described("rows", COLUMNS, source=source)) == []
