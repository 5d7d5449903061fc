"""The dbt project of the run: an entity of change events per table, as `spark-cdc new` writes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from e2e.downloads import ROOT
from e2e.tables import Table
from project import FLAGS, INTERPRETED_SESSIONS, link_packages

NAME, SCHEMA, TOPIC = "shop", "shop", "shop.public."


class Shop:
    """A project's folder.

    encoding: json or avro, of the topics. landing: where they land, a folder or s3a://….
    maintenance: when loads are compacted, as in docs/maintenance.md.
    """

    def __init__(
        self,
        folder: Path,
        encoding: str,
        landing: str,
        maintenance: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder, self.encoding, self.landing = folder, encoding, landing
        link_packages(folder)
        # jars that were fetched once are there for each run
        (ROOT / ".spark_cdc" / "jars").mkdir(parents=True, exist_ok=True)
        (folder / ".spark_cdc").mkdir()
        (folder / ".spark_cdc" / "jars").symlink_to(ROOT / ".spark_cdc" / "jars")
        project = {"name": NAME, "version": "1.0.0", "profile": NAME, "flags": FLAGS}
        if maintenance:
            policy = {"spark_cdc_maintenance": dict(maintenance), "spark_cdc_maintain_in_run": True}
            project |= {"vars": policy}
        self._write("dbt_project.yml", project)
        target = {
            "type": "spark",
            "method": "thrift",
            "host": "127.0.0.1",
            "port": "{{ env_var('SPARK_CDC_PORT') | as_number }}",
            "schema": SCHEMA,
            "threads": 4,
            "poll_interval": 0,
            "query_retries": 0,
            "server_side_parameters": INTERPRETED_SESSIONS,
        }
        profiles = {NAME: {"target": "local", "outputs": {"local": target}}}
        self._write("profiles/profiles.yml", profiles)

    def _write(self, path: str, content: Any) -> None:
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), "utf-8")

    def environment(self, port: int) -> dict[str, str]:
        """Return the environment of commands for this project, on the server at a port."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {
            **os.environ,
            "PATH": path,
            "SPARK_CDC_PROJECT_DIR": str(self.folder),
            "SPARK_CDC_STATE_DIR": str(self.folder / ".spark_cdc"),
            "SPARK_CDC_PORT": str(port),
            "SPARK_CDC_SCHEMA": SCHEMA,
        }

    def command(self, *words: str, port: int = 0) -> subprocess.CompletedProcess[str]:
        """Run `spark-cdc` with these words for this project, on the server at a port."""
        return subprocess.run(
            [sys.executable, "-m", "spark_cdc.cli", *words],
            env=self.environment(port), capture_output=True, text=True,
        )  # fmt: skip

    def write(self, table: Table) -> None:
        """Write a table's entity as its columns are now."""
        words = [
            *("new", table.name, "--load-type", "events", "--events-format", "debezium"),
            *("--columns", ", ".join(self._column(column) for column in table.columns)),
            *("--format", "parquet", "--path", f"{self.landing}/{table.name}/{{business_date}}"),
            *("--business-date-type", "timestamp", "--with", "event_versions"),
        ]
        folder = self.folder / "models" / table.name
        shutil.rmtree(folder, ignore_errors=True)
        done = self.command(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        file = folder / f"{table.name}.yml"
        content = yaml.safe_load(file.read_text("utf-8"))
        settings = content["models"][0]["config"]["meta"]["spark_cdc"]
        settings["source"]["stream"] = {
            "topic": TOPIC + table.name,
            "encoding": self.encoding,
        }
        settings["guards"] = {"deleted_share": None}  # truncates are part of the work
        if table.dropped:
            settings["dropped_columns"] = table.dropped
        for column in table.columns:
            told = {"renamed_from": column.renamed_from, "default": column.default}
            self._meta(content, column.name).update({k: v for k, v in told.items() if v})
        self._write(f"models/{table.name}/{table.name}.yml", content)

    def _column(self, column: Any) -> str:
        parts = [column.name, column.kind.data_type]
        parts += ["key"] if column.key else []
        encoding = column.kind.encoding
        if encoding and (self.encoding, encoding) != ("avro", "base64"):  # Avro has decimals
            parts.append(f"encoding={encoding}")
        return ":".join(parts)

    @staticmethod
    def _meta(content: Mapping[str, Any], name: str) -> dict[str, Any]:
        columns = content["models"][0]["columns"]
        column = next(column for column in columns if column["name"] == name)
        meta: dict[str, Any] = column.setdefault("config", {}).setdefault("meta", {})
        return meta
