"""`validity`: what the columns of versions are called, and how they tell that a version ended."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import EventWarehouse, column
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
    "view", ["event_versions", pytest.param("bitemporal", marks=pytest.mark.full)]
)
def test_views_of_events_are_shown_as_told(
    cursor: Any, schema: str, tmp_path: Path, view: str
) -> None:
    """Open ends get the date, and no others, also where an event has no time."""
    cursor.execute("set time zone 'UTC'")
    columns = [column("id", "int", role="key"), column("price", "int")]
    warehouse = EventWarehouse(cursor, schema, tmp_path, columns)
    settings = warehouse.node["config"]["meta"]["spark_cdc"]
    settings["validity"] = DBT | {"open_end": OPEN, "end_is": "inclusive"}
    days = {
        "2024-05-01": [("ins", 1, 10, 1, "2024-05-01T10:00:00Z"), ("ins", 2, 20, 2, None)],
        "2024-05-02": [("upd", 1, 11, 3, "2024-05-02T09:00:00Z"), ("upd", 2, 21, 4, None)],
    }
    for day, events in days.items():
        rows = [
            {"what": what, "at": [at], "new": {"id": key, "price": price}}
            | ({"when": when} if when else {})
            for what, key, price, at, when in events
        ]
        warehouse.land(day, rows)
        warehouse.load(day)
    open_end, first, second = f"{OPEN} 00:00:00", "2024-05-01 10:00:00", "2024-05-02 09:00:00"
    shown = "id, price, string(dbt_valid_from), string(dbt_valid_to), is_active"
    if view == "event_versions":
        assert sorted(warehouse.rows(view, shown), key=repr) == [
            (1, 10, first, second, False),
            (1, 11, second, open_end, True),
            (2, 20, None, None, False),
            (2, 21, None, open_end, True),
        ]
    elif warehouse.takes_bitemporal():
        known = f"{shown}, string(known_from), string(known_to)"
        since = list(days)
        assert sorted(row for row in warehouse.rows(view, known) if row[0] == 1) == [
            (1, 10, first, second, False, since[1], OPEN),
            (1, 10, first, open_end, False, *since),
            (1, 11, second, open_end, True, since[1], OPEN),
        ]


def test_a_published_table_has_the_name_of_the_start() -> None:
    macros = load_macros(var={}, graph=Node(nodes={}, sources={}))
    for validity, value in (({}, "eff_start_date"), (DBT, "eff_start_date as dbt_valid_from")):
        source = {"path": "/landing/{business_date}"}
        node = described("rows", COLUMNS, validity=validity, source=source)
        columns = macros._target_columns(macros._described_entity("rows", node))
        assert macros._target_values(columns) == ["id", "value", value]
        assert columns[-1]["name"] == validity.get("start", "eff_start_date")
        macros = load_macros(var={}, graph=Node(nodes={}, sources={}))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"start": "known_from"}, "validity names known_from, which is a column already"),
        ({"end": "event_time"}, "validity names event_time, which is a column already"),
        ({"start": "valid_from", "end": "valid_to"}, ""),
        ({"start": "event_time", "end": "event_end_time"}, ""),
    ],
)
def test_names_that_views_of_events_have(given: dict[str, str], told: str) -> None:
    macros = load_macros(var={}, graph=Node(nodes={}, sources={}))
    node = described("rows", COLUMNS, load_type="events", validity=given)
    settings = node["config"]["meta"]["spark_cdc"]
    problems = macros._validity_problems(node, settings)
    assert [told] == [problem.split(":")[0] for problem in problems] or (not told and not problems)


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
