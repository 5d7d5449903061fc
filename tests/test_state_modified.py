"""`state:modified` selects an entity whose YAML has changed, as it selects other models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from project import Project

pytestmark = [pytest.mark.proves("command line"), pytest.mark.integration]

Change = Callable[[dict[str, Any]], object]
COLUMNS: dict[str, Any] = {
    "id": {"data_type": "int", "role": "key"},
    "name": "string",
    "price": "decimal(10,2)",
}


def listed(project: Project, selector: str, *words: str) -> set[str]:
    words = ("ls", "--resource-type", "model", "--output", "name", *words)
    outcome = project.dbt(*words, "--select", selector, "--state", "state")
    assert outcome.success, outcome.output
    return {line.strip() for line in outcome.output.splitlines() if line.startswith("stg_")}


def keep(project: Project, state: str) -> None:
    manifest = project.manifest()
    assert manifest
    manifest.writable_manifest().write(str(project.folder / state / "manifest.json"))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that has this one as a package, as it was when its state was kept."""
    project = Project(tmp_path_factory.mktemp("state") / "shop", 1, "cdc", None)
    project.entity("bills", COLUMNS)
    project.entity("sites", {"id": {"data_type": "int", "role": "key"}, "name": "string"})
    keep(project, "state")
    return project


def a_type(stage: dict[str, Any]) -> None:
    stage["columns"][2]["data_type"] = "decimal(12,2)"


def a_new_column(stage: dict[str, Any]) -> None:
    stage["columns"].append({"name": "note", "data_type": "string"})


def a_dropped_column(stage: dict[str, Any]) -> None:
    stage["columns"].pop()


def a_role(stage: dict[str, Any]) -> None:
    stage["columns"][1]["config"] = {"meta": {"role": "untracked"}}


def meta_beside_config(stage: dict[str, Any]) -> None:
    stage["columns"][1]["meta"] = {"from": "full_name"}


def the_order(stage: dict[str, Any]) -> None:
    stage["columns"].reverse()


def a_setting(stage: dict[str, Any]) -> None:
    stage["config"]["meta"]["spark_cdc"]["on_duplicate_key"] = "quarantine"


def descriptions(stage: dict[str, Any]) -> None:
    stage["description"] = "Bills of all shops"
    stage["columns"][1]["description"] = "Who pays"


def a_test(stage: dict[str, Any]) -> None:
    stage["columns"][1]["data_tests"] = ["not_null"]


@pytest.mark.parametrize(
    ("change", "is_selected"),
    [
        (a_type, True),
        (a_new_column, True),
        (a_dropped_column, True),
        (a_role, True),
        (meta_beside_config, True),
        (the_order, True),
        (a_setting, True),
        # as of other models, which persist none: nothing that is built differs
        (descriptions, False),
        (a_test, False),
        (lambda stage: stage, False),
    ],
)
def test_what_a_changed_yaml_selects(shop: Project, change: Change, is_selected: bool) -> None:
    path = shop.folder / "models/bills/bills.yml"
    before = path.read_text("utf-8")
    described = yaml.safe_load(before)
    change(described["models"][0])
    path.write_text(yaml.safe_dump(described, sort_keys=False), "utf-8")
    try:
        assert listed(shop, "state:modified") == ({"stg_bills"} if is_selected else set())
    finally:
        path.write_text(before, "utf-8")


def test_descriptions_count_where_they_are_persisted(shop: Project) -> None:
    """dbt's own rule: they are part of what is built."""
    path, settings = shop.folder / "models/bills/bills.yml", shop.folder / "dbt_project.yml"
    before, project = path.read_text("utf-8"), settings.read_text("utf-8")
    docs = {"models": {"+persist_docs": {"relation": True, "columns": True}}}
    settings.write_text(yaml.safe_dump(yaml.safe_load(project) | docs), "utf-8")
    try:
        keep(shop, "persisted")
        described = yaml.safe_load(before)
        descriptions(described["models"][0])
        path.write_text(yaml.safe_dump(described, sort_keys=False), "utf-8")
        words = ("ls", "--resource-type", "model", "--output", "name", "--select", "state:modified")
        outcome = shop.dbt(*words, "--state", "persisted")
        assert outcome.success, outcome.output
        assert {n for n in outcome.output.split() if n.startswith("stg_")} == {"stg_bills"}
    finally:
        path.write_text(before, "utf-8")
        settings.write_text(project, "utf-8")


def test_a_descendant_is_selected_by_plus(shop: Project) -> None:
    path = shop.folder / "models/bills/bills.yml"
    before = path.read_text("utf-8")
    described = yaml.safe_load(before)
    a_new_column(described["models"][0])
    path.write_text(yaml.safe_dump(described, sort_keys=False), "utf-8")
    words = ("ls", "--resource-type", "model", "--output", "name", "--state", "state")
    try:
        outcome = shop.dbt(*words, "--select", "state:modified+")
    finally:
        path.write_text(before, "utf-8")
    names = {name for name in outcome.output.split() if name.startswith(("stg_", "bills_"))}
    kinds = ("ledger", "committed", "current", "history", "versions")
    assert names == {"stg_bills", *(f"bills_{kind}" for kind in kinds)}
