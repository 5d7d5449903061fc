"""`dbt retry` of a load that was refused, or that stopped: it finishes the load or says why not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from project import ROOT, Outcome, Project

pytestmark = [pytest.mark.proves("commit and crash"), pytest.mark.integration]

KEY = {"data_type": "int", "role": "key"}
CONTROL = {"data_type": "string", "role": "control"}
KEYED = {"id": KEY, "value": "int"}
FLAGGED = KEYED | {"op": CONTROL, "seq": {"data_type": "bigint", "role": "control"}}
FEED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "whole": (KEYED, {}),
    "part": (KEYED | {"op": CONTROL}, {"load_type": "delta", "deleted_when": "op = 'D'"}),
    "feed": (FLAGGED, {"load_type": "events", "events": FEED}),
    "kept": (FLAGGED, {"load_type": "events", "events": {**FEED, "archive": True}}),
}
DATES = ("2024-01-01", "2024-01-02")
HEADERS = {"whole": "id,value", "part": "id,value,op"}
ENDS = {"whole": "", "part": ",U"}


def land(project: Project, date: str, value: str) -> None:
    for name in SETTINGS:
        end = ENDS.get(name, f",U,{date[-2:]}")
        header = HEADERS.get(name, "id,value,op,seq")
        project.land(name, date, header, f"1,{value}{end}", f"2,2{end}")


def run(project: Project, date: str, *names: str) -> Outcome:
    return project.run(date, *names, words=["--write-json"])


def fresh(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    """dbt in a process of its own, as a scheduler calls it."""
    places = ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    return subprocess.run(
        [str(Path(sys.executable).parent / "dbt"), *words, *places],
        cwd=project.folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


def is_loaded(project: Project, value: int) -> None:
    for name in SETTINGS:
        assert project.rows(f"{name}_current", "id, value") == [(1, value), (2, 2)], name
        held = project.query(f"select max(business_date) from {{s}}.{name}_committed")
        assert str(held[0][0]) == DATES[1]


def hook(project: Project, name: str, sql: str | None) -> None:
    """Lets the ledger of an entity run a statement first."""
    path = project.folder / f"models/{name}/{name}.yml"
    described = yaml.safe_load(path.read_text("utf-8"))
    described["models"] = [m for m in described["models"] if m["name"] != f"{name}_ledger"]
    if sql:
        described["models"].append({"name": f"{name}_ledger", "config": {"pre_hook": sql}})
    path.write_text(yaml.safe_dump(described, sort_keys=False), encoding="utf-8")


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    for name, (columns, settings) in SETTINGS.items():
        project.entity(name, columns, **settings)
    land(project, DATES[0], "1")
    project.load(DATES[0], *SETTINGS)
    return project


@pytest.mark.parametrize("is_fresh", [True, pytest.param(False, marks=pytest.mark.full)])
def test_a_refused_load_is_finished(shop: Project, is_fresh: bool) -> None:
    """In a process of its own dbt does not tell what it retries; else it tells the run before."""
    land(shop, DATES[1], "none")
    refused = run(shop, DATES[1], *SETTINGS)
    assert {n for n, status in refused.status.items() if status == "error"} == {
        f"{name}_committed" for name in SETTINGS
    }, refused.output
    value = 30 + is_fresh
    land(shop, DATES[1], str(value))
    if is_fresh:
        done = fresh(shop, "retry")
        assert done.returncode == 0, done.stdout
        assert "whole: loading 2024-01-02 again" in done.stdout
    else:
        retried = shop.dbt("retry")
        assert retried.success, retried.output
    is_loaded(shop, value)


@pytest.mark.parametrize("is_fresh", [True, pytest.param(False, marks=pytest.mark.full)])
@pytest.mark.full
def test_events_are_read_with_their_ledger(shop: Project, is_fresh: bool) -> None:
    """The ledger stopped and its events are taken for done: they would be none."""
    value = 40 + is_fresh
    land(shop, DATES[1], str(value))
    for name in ("feed", "kept"):
        hook(shop, name, "select raise_error('once')")
    stopped = run(shop, DATES[1], *SETTINGS)
    assert {n for n, status in stopped.status.items() if status == "error"} == {
        "feed_ledger",
        "kept_ledger",
    }, stopped.output
    for name in ("feed", "kept"):
        hook(shop, name, None)
    if is_fresh:
        done = fresh(shop, "retry")
        assert done.returncode == 0, done.stdout
    else:
        retried = shop.dbt("retry")
        assert retried.success, retried.output
    is_loaded(shop, value)


@pytest.mark.full
def test_what_can_not_be_staged_here_is_refused(shop: Project) -> None:
    shop.entity("own", KEYED)
    stage = shop.folder / "models/own/stg_own.sql"
    stage.write_text("select * from ({{ spark_cdc.stage() }}) as staged\n", encoding="utf-8")
    shop.land("own", DATES[0], "id,value", "1,none")
    assert not run(shop, DATES[0], "own").success
    shop.land("own", DATES[0], "id,value", "1,1")
    retried = shop.dbt("retry")
    assert not retried.success
    assert "stg_own is nothing but spark_cdc.stage()" in retried.output, retried.output
    assert "dbt run --select tag:spark_cdc.own --vars '{business_date: 2024-01-01}'" in (
        retried.output
    )
    shop.load(DATES[0], "own")
    assert shop.rows("own_current", "id, value") == [(1, 1)]
