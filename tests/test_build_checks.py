"""`dbt build` leaves tests of whole ledgers out, unless they are asked for, and says so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from project import Project
from spark_cdc.jinja_bridge import load_macros

pytestmark = pytest.mark.proves("maintenance")

VAR = {"spark_cdc_verify_in_build": True}


@pytest.mark.parametrize(
    ("command", "given", "selected", "is_left_out"),
    [
        ("build", {}, (), True),
        ("build", {"spark_cdc_verify_in_build": False}, ("orders_committed",), True),
        ("build", {"spark_cdc_verify_in_build": "yes"}, (), True),  # which is no boolean
        ("retry", {}, (), True),
        ("build", VAR, (), False),
        ("build", {}, ("orders", "tag:spark_cdc_verify"), False),
        ("test", {}, (), False),
        ("run-operation", {}, (), False),
    ],
)
def test_when_they_look_at_nothing(
    command: str, given: dict[str, Any], selected: tuple[str, ...], is_left_out: bool
) -> None:
    said: list[str] = []
    macros = load_macros(
        flags=SimpleNamespace(WHICH=command),
        var=given,
        invocation_args_dict={"select": selected},
        log=lambda text, info=False: said.append(text) or "",
        _contexts=lambda *_: pytest.fail("it has looked"),
    )
    assert macros._verify_is_left_out() == is_left_out
    if is_left_out:
        assert macros._verified(None) == {"loads": []}
    nodes = [["spark_cdc_verify"], ["spark_cdc_verify", "x"], ["spark_cdc.orders"], []]
    results = [SimpleNamespace(node=SimpleNamespace(tags=tags)) for tags in nodes]
    macros._verify_note(results)
    assert said == (said[:1] if is_left_out else [])
    assert not is_left_out or "2 tests of whole ledgers looked at nothing" in said[0]
    macros._verify_note(results[2:])
    assert len(said) == is_left_out


@pytest.mark.parametrize(
    ("given", "maintained"),
    [
        ({}, []),
        ({"spark_cdc_maintain_in_run": True}, [["orders"]]),
        ({"spark_cdc_maintain_in_run": True, "spark_cdc_replay": {"from": "2024-01-01"}}, []),
    ],
)
def test_a_run_ends_with_maintenance_only_if_told(
    given: dict[str, Any], maintained: list[list[str]]
) -> None:
    given = given | {"business_date": {"orders": "2024-01-01", "sites": "2024-01-01"}}
    found: list[Any] = []

    def result(name: str, status: str, materialized: str) -> SimpleNamespace:
        config = SimpleNamespace(materialized=materialized)
        node = SimpleNamespace(name=name, resource_type="model", config=config, tags=[])
        return SimpleNamespace(status=status, node=node)

    macros = load_macros(
        flags=SimpleNamespace(WHICH="run", EMPTY=False),
        var=given,
        invocation_args_dict={},
        results=[
            result("orders_committed", "success", "cdc_committed"),
            result("sites_committed", "error", "cdc_committed"),
            result("mine_committed", "success", "table"),
        ],
        maintain=lambda entities, execute: found.append(entities) if execute else None,
    )
    assert macros.end_run() == ""
    assert found == maintained


@pytest.mark.integration
def test_a_build_waits_for_them_only_if_told(project: Project) -> None:
    project.entity("built", {"id": {"data_type": "int", "role": "key"}, "value": "int"})
    project.land("built", "2024-01-01", "id,value", "1,1")
    project.load("2024-01-01", "built")
    project.query("drop view {s}.built_versions")

    def build(**more: Any) -> Any:
        variables = yaml.safe_dump({"business_date": "2024-01-01", **more})
        words = ("--select", "built_ledger", "built_committed", "cdc_loads")
        return project.dbt("build", "--vars", variables, *words)

    built = build()
    assert built.success, built.output
    assert "5 tests of whole ledgers looked at nothing, as in every dbt build" in built.output
    loud = build(**VAR)
    assert not loud.success and "looked at nothing" not in loud.output
    assert [name for name, status in loud.status.items() if status == "fail"] == [
        "spark_cdc_views_match_ledger_built_committed_"
    ]
    tested = project.dbt("test", "--select", "tag:spark_cdc_verify")
    assert not tested.success
