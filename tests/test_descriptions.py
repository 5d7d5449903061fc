"""What `dbt docs` shows of the project: lineage from source to views, every column described."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner

from project import ROOT

pytestmark = pytest.mark.proves("settings")

EXAMPLES = sorted(
    path.name for path in (ROOT / "models").iterdir() if (path / f"stg_{path.name}.sql").exists()
)


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> object:
    target = tmp_path_factory.mktemp("target")
    words = ["parse", "--project-dir", str(ROOT), "--profiles-dir", str(ROOT / "profiles")]
    words += ["--target-path", str(target), "--log-path", str(Path(target) / "logs")]
    result = dbtRunner().invoke(words)
    assert result.success, result.exception
    return result.result


@pytest.mark.parametrize("entity", EXAMPLES)
def test_lineage_leads_from_the_source_to_the_views(manifest: object, entity: str) -> None:
    node = "model.spark_cdc."
    incoming = f"{node}stg_{entity}"
    parents = {}
    if (ROOT / "models" / entity / f"{entity}_events.sql").exists():
        parents[f"{node}{entity}_events"] = incoming
        incoming = f"{node}{entity}_events"
    parents |= {
        f"{node}stg_{entity}": f"source.spark_cdc.landing.{entity}",
        f"{node}{entity}_ledger": incoming,
        f"{node}{entity}_committed": f"{node}{entity}_ledger",
        f"{node}{entity}_current": f"{node}{entity}_committed",
        f"{node}{entity}_history": f"{node}{entity}_committed",
        f"{node}{entity}_versions": f"{node}{entity}_committed",
    }
    for child, parent in parents.items():
        assert parent in manifest.nodes[child].depends_on.nodes  # type: ignore[attr-defined]
    committed = manifest.nodes[f"{node}{entity}_committed"]  # type: ignore[attr-defined]
    assert f"{node}cdc_loads" not in committed.depends_on.nodes


def test_everything_is_described(manifest: object) -> None:
    """The columns of an entity by its owner, whom a warning reminds; all else by spark_cdc."""
    models = [n for n in manifest.nodes.values() if n.resource_type in ("model", "seed")]  # type: ignore[attr-defined]
    assert len(models) >= 32
    owned = {name for model in models if model.name[:4] == "stg_" for name in model.columns}
    for model in models:
        assert model.description, model.name
        # the columns that spark_cdc adds, by a table for each kind of model
        assert model.columns or "| Column | Type | Meaning |" in model.description, model.name
        for column in model.columns.values():
            name = f"{model.name}.{column.name}"
            assert column.data_type or model.resource_type == "seed", name
            assert column.description or column.name in owned, name
        undescribed = [name for name, column in model.columns.items() if not column.description]
        if undescribed and model.name.startswith("stg_"):
            warnings.warn(f"{model.name}: no description of {', '.join(undescribed)}", stacklevel=1)


def test_public_macros_are_described_with_their_arguments(manifest: object) -> None:
    macros = [
        macro
        for macro in manifest.macros.values()  # type: ignore[attr-defined]
        if macro.package_name == "spark_cdc"
        and not macro.name.startswith(("_", "test_", "materialization_"))
    ]
    assert len(macros) >= 20
    for macro in macros:
        assert macro.description, macro.name
        for argument in macro.arguments:
            assert argument.type and argument.description, f"{macro.name}.{argument.name}"
