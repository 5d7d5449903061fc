"""dbt-databricks parses and compiles a project that has spark_cdc as a package.

`make test-matrix` installs the adapter beside dbt; no server is asked. What is sent to one is held
against the documented rules by test_unity.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from project import Project

pytest.importorskip("dbt.adapters.databricks", reason="is installed by make test-matrix")
pytestmark = [pytest.mark.proves("house"), pytest.mark.full]

PROFILE = {
    "type": "databricks",
    "catalog": "main",
    "schema": "shop",
    "host": "dbc-a1b2.cloud.databricks.com",
    "http_path": "/sql/1.0/warehouses/0",
    "token": "none",
}


def test_a_project_parses_and_compiles(tmp_path: Path) -> None:
    project = Project(tmp_path / "shop", 0, "shop", None)
    outputs = {"t": PROFILE}
    profile = yaml.safe_dump({"shop": {"target": "t", "outputs": outputs}})
    (project.folder / "profiles.yml").write_text(profile, "utf-8")
    columns = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
    project.entity("orders", columns, source={"path": "s3://landing/orders/{business_date}"})
    models = sorted(path.stem for path in project.folder.glob("models/orders/*.sql"))
    words = ["compile", "--write-json", "--no-populate-cache", "--no-introspect"]
    words += ["--select", *models, "--indirect-selection", "empty"]
    places = ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    done = subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", *words, *places],
        cwd=project.folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    compiled = project.folder / "target" / "compiled" / "shop" / "models" / "orders"
    staged = (compiled / "stg_orders.sql").read_text("utf-8")
    assert "key_hash" in staged and "from landed_orders" in staged
    manifest = json.loads((project.folder / "target" / "manifest.json").read_text("utf-8"))
    ledger = manifest["nodes"]["model.shop.orders_ledger"]
    assert (ledger["database"], ledger["config"]["materialized"]) == ("main", "cdc_ledger")
    assert "from `main`.`shop`.`orders_committed`" in (compiled / "orders_current.sql").read_text(
        "utf-8"
    )
