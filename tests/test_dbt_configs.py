"""What dbt's own configurations and commands do on our models: docs/dbt_commands.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from project import Project

pytestmark = pytest.mark.proves("settings")

COLUMNS: dict[str, Any] = {"id": {"data_type": "int", "role": "key"}, "name": "string"}


def configure(project: Project, **models: Any) -> None:
    """Configures the models of the project in its dbt_project.yml."""
    path = project.folder / "dbt_project.yml"
    settings = yaml.safe_load(path.read_text("utf-8"))
    path.write_text(yaml.safe_dump(settings | {"models": {"shop": models}}), "utf-8")


@pytest.mark.integration
def test_tags_meta_groups_access_and_enabled_are_those_of_dbt(tmp_path: Path) -> None:
    project = Project(tmp_path / "shop", 1, "cdc", None)
    project.entity("bills", COLUMNS)
    project._write("models/groups.yml", {"groups": [{"name": "finance", "owner": {"name": "x"}}]})
    configure(
        project,
        bills={
            "+tags": ["nightly"],
            "+meta": {"owner": "finance"},
            "+group": "finance",
            "bills_ledger": {"+access": "private"},
            "bills_current": {"+access": "public"},
            "bills_versions": {"+enabled": False},
        },
    )
    manifest = project.manifest()
    assert manifest
    nodes = {node.name: node for node in manifest.nodes.values() if "bills" in node.name}
    models = {name: node for name, node in nodes.items() if node.resource_type == "model"}
    assert set(models) == {
        *("stg_bills", "bills_ledger", "bills_committed", "bills_current", "bills_history"),
    }
    for node in models.values():
        assert set(node.tags) == {"nightly", "spark_cdc.bills"}, node.name
        assert (node.config.meta["owner"], node.group) == ("finance", "finance")
    assert models["stg_bills"].config.meta["spark_cdc"]["load_type"] == "full"
    assert models["bills_current"].access == "public"
    assert models["bills_ledger"].access == "private"


@pytest.mark.integration
def test_descriptions_and_freshness_arrive_at_the_server(project: Project) -> None:
    project.entity("bills", COLUMNS)
    configure(project, **{"+persist_docs": {"relation": True, "columns": True}})
    path = project.folder / "models/bills/bills.yml"
    settings = yaml.safe_load(path.read_text("utf-8"))
    models = {model["name"]: model for model in settings["models"]}
    for name in ("bills_current", "bills_committed", "bills_ledger"):
        models[name] = models.get(name, {"name": name}) | {"description": f"It's {name}; $1"}
    column = {"name": "name", "description": "Who pays"}
    models["bills_ledger"]["columns"] = [column]
    landing = settings["sources"][0]
    landing["tables"] = [
        {
            "name": name,
            "config": {
                "loaded_at_query": f"{{{{ spark_cdc.last_load('{name}') }}}}",
                "freshness": {"error_after": {"count": 1, "period": "hour"}},
            },
        }
        for name in ("bills", "never")
    ]
    settings["models"] = list(models.values())
    path.write_text(yaml.safe_dump(settings), "utf-8")

    def described(relation: str) -> dict[str, tuple[str, str]]:
        rows = project.query(f"describe extended {{s}}.{relation}")
        return {name: (kind, comment) for name, kind, comment in rows}

    project.land("bills", "2024-01-01", "id,name", "1,a")
    loaded = project.load("2024-01-01", "bills")
    assert loaded.output.count("persist_docs.columns of") == 1
    project.land("bills", "2024-01-02", "id,name", "1,b")
    project.load("2024-01-02", "bills")
    for name in ("bills_current", "bills_ledger"):
        assert described(name)["Comment"][0] == f"It's {name}; $1"
    assert described("bills_ledger")["name"][1] == "Who pays"
    # of this view the text is the commit, which no other statement may write
    assert "Comment" not in described("bills_committed")
    assert project.rows("bills_current", "id, name") == [(1, "b")]

    fresh = project.dbt("source", "freshness", "--select", "source:landing.bills")
    assert fresh.success, fresh.output
    stale = project.dbt("source", "freshness", "--select", "source:landing.never")
    assert not stale.success
    assert "ERROR STALE" in stale.output
