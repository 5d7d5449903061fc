"""`dbt run` and `dbt build` without a business date: other models are built, nothing is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from project import ROOT, Outcome, Project

pytestmark = [pytest.mark.proves("command line"), pytest.mark.integration]

KEY = {"data_type": "int", "role": "key"}
CONTROL = {"data_type": "string", "role": "control"}
KEYED: dict[str, Any] = {"id": KEY, "value": "int"}
FLAGGED = KEYED | {"op": CONTROL, "seq": {"data_type": "bigint", "role": "control"}}
FEED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
DATE = "2024-01-01"
NOTE = "spark_cdc: no business date is given, so that nothing is loaded"


def own_models(project: Project, **models: str) -> None:
    for name, sql in models.items():
        path = project.folder / f"models/own/{name}.sql"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(f"{sql}\n", encoding="utf-8")


def build(project: Project, *words: str, **variables: Any) -> Outcome:
    given = ("--vars", yaml.safe_dump(variables)) if variables else ()
    return project.dbt("build", *given, *words)


def changed_columns(project: Project, name: str, column: dict[str, Any] | None) -> None:
    """Adds a column to the YAML of an entity, or takes the last one away."""
    path = project.folder / f"models/{name}/{name}.yml"
    described = yaml.safe_load(path.read_text("utf-8"))
    columns = described["models"][0]["columns"]
    columns.append(column) if column else columns.pop()
    path.write_text(yaml.safe_dump(described, sort_keys=False), "utf-8")


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    project.entity("bills", KEYED)
    project.entity("prices", FLAGGED, load_type="events", events=FEED, on_reject="quarantine")
    project.entity(
        "people", KEYED | {"mail": {"data_type": "string", "sensitive": True}}, load_type="full"
    )
    path = project.folder / "models/bills/bills_published.sql"
    path.write_text("{{ spark_cdc.publish('bills', format='parquet') }}\n", encoding="utf-8")
    changes = project.folder / "models/bills/bills_changes.sql"
    changes.write_text("{{ spark_cdc.changes() }}\n", encoding="utf-8")
    own_models(
        project,
        numbers="{{ config(materialized='table') }} select 1 as id",
        totals="select count(*) as bills from {{ ref('bills_current') }}",
        copies="select * from {{ ref('bills_published') }}",
    )
    project.land("bills", DATE, "id,value", "1,1", "2,2")
    project.land("prices", DATE, "id,value,op,seq", "1,1,I,1")
    return project


def test_a_first_build_makes_empty_tables_and_loads_nothing(shop: Project) -> None:
    for schema in ("undated", "undated_commits", "undated_sensitive"):
        shop.query(f"drop schema if exists {schema} cascade")
    shop.profile(schema="undated")
    try:
        for _ in range(2):
            built = build(shop)
            assert built.success, built.output
            assert built.output.count(NOTE) == 1
            assert "(bills, people, prices)" in built.output
            assert shop.query("select * from undated.totals") == [(0,)]
            shop.query("refresh table undated.numbers")
            assert shop.query("select id from undated.numbers") == [(1,)]
            for view in ("bills_current", "bills_published", "prices_rejects", "people_versions"):
                assert not shop.query(f"select * from undated.{view}")
            assert not shop.query("select * from undated.cdc_loads")
        # the YAML goes on before the first load
        changed_columns(shop, "bills", {"name": "note", "data_type": "string"})
        again = build(shop, "--select", "path:models/bills", "path:models/own")
        assert again.success, again.output
        shop.query("refresh table undated.bills_ledger")  # of a session that has read it
        assert not shop.query("select id, value, note from undated.bills_current")
        changed_columns(shop, "bills", None)
        again = build(shop, "--select", "path:models/bills", "path:models/own")
        assert again.success, again.output
        loaded = build(shop, "--select", "path:models/bills", "copies", business_date=DATE)
        assert loaded.success, loaded.output
        assert NOTE not in loaded.output
        shop.query("refresh table undated.bills_ledger")
        for view in ("bills_current", "copies"):
            rows = shop.query(f"select id, value from undated.{view} order by id")
            assert rows == [(1, 1), (2, 2)], view
    finally:
        shop.profile()


def test_a_build_after_loads_changes_nothing_of_them(shop: Project) -> None:
    names = ("bills", "prices")
    shop.load(DATE, *names)
    shop.land("bills", "2024-01-02", "id,value", "1,5")
    before = shop.query_of("bills_committed"), shop.rows("cdc_loads", "load_id, status")
    built = build(shop, "--exclude", "path:models/people")
    assert built.success, built.output
    assert NOTE in built.output
    assert (shop.query_of("bills_committed"), shop.rows("cdc_loads", "load_id, status")) == before
    assert shop.rows("totals", "bills") == [(2,)]
    # a date for one of them
    mixed = build(
        shop, *("--select", *(f"path:models/{n}" for n in names)), business_date={"bills": DATE}
    )
    assert mixed.success, mixed.output
    assert NOTE in mixed.output and "(prices)" in mixed.output
    assert shop.rows("bills_current", "id, value") == [(1, 1), (2, 2)]


def test_columns_that_no_load_has_brought_yet(shop: Project) -> None:
    """The views stay as they are until the load; what is not there yet can't be made."""
    changed_columns(shop, "bills", {"name": "note", "data_type": "string"})
    try:
        built = build(shop, "--select", "path:models/bills", "totals", "copies")
        assert built.success, built.output
        assert "the columns of stg_bills are not those of the last load" in built.output
        assert "so its views stay as they are until a load" in built.output
        assert shop.rows("totals", "bills") == [(2,)]
        assert shop.rows("bills_current", "id, value") == [(1, 1), (2, 2)]
        shop.query("drop view {s}.bills_versions")
        lacking = shop.dbt("run", "--select", "bills_versions")
        assert not lacking.success
        assert "can't be made with them yet" in lacking.output
    finally:
        changed_columns(shop, "bills", None)
    assert shop.dbt("run", "--select", "bills_versions").success


def test_an_entity_that_is_declared_wrong_stops_no_other_model(shop: Project) -> None:
    shop.entity("wrong", {"id": {"data_type": "int", "role": "king"}, "value": "int"})
    try:
        built = build(shop, "--select", "path:models/own", "path:models/wrong", "bills_current")
        assert built.status["totals"] == built.status["numbers"] == "success", built.output
        assert {built.status[f"wrong_{kind}"] for kind in ("ledger", "current")} <= {
            "error",
            "skipped",
        }
        assert "wrong can't be built as it is declared" in built.output
        assert "role is 'king'" in built.output
        dated = build(shop, "--select", "path:models/own", "path:models/wrong", business_date=DATE)
        assert not dated.status, dated.output
    finally:
        for path in (shop.folder / "models/wrong").iterdir():
            path.unlink()


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"spark_cdc_require_business_date": True}, "the business date is missing, and the var"),
        ({"business_date": None}, "the var business_date is empty"),
        ({"business_date": {"prices": DATE, "bills": None}}, "the var business_date is empty"),
        ({"business_date": {"bill": DATE}}, "is given for 'bill', which is no entity (bills"),
        ({"spark_cdc_replay": {"from": DATE}}, "the var spark_cdc_replay: that is for a load"),
        ({"spark_cdc_load_type": "delta"}, "the var spark_cdc_load_type: that is for a load"),
    ],
)
def test_what_is_refused_without_a_date(
    shop: Project, variables: dict[str, Any], message: str
) -> None:
    refused = build(shop, "--select", "path:models/bills", "numbers", **variables)
    assert not refused.success
    assert message in refused.output


def test_a_retry_of_a_load_needs_its_date(shop: Project) -> None:
    """The date was in the environment of the run before, which a retry does not keep."""
    shop.land("bills", "2024-01-03", "id,value", "1,none")
    words = ("--select", "path:models/bills", "--write-json")
    refused = shop.dbt("build", *words, "--vars", "{business_date: 2024-01-03}")
    assert not refused.success
    results = shop.folder / "target/run_results.json"
    results.write_text(results.read_text("utf-8").replace("2024-01-03", "none"), "utf-8")
    dbt = str(Path(sys.executable).parent / "dbt")
    places = ["--project-dir", str(shop.folder), "--profiles-dir", str(shop.folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [dbt, "retry", "--vars", "{}", *places],
        cwd=shop.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "bills: dbt retry has no business date" in done.stdout, done.stdout
