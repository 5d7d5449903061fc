"""Servers that a test starts for itself, with table formats that the shared one lacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import SERVER
from project import Project
from spark_cdc.server import local as local_server
from spark_cdc.server import table_formats


@contextmanager
def served(state: Path, **settings: Any) -> Iterator[tuple[int, Any]]:
    """A server on a free port: the port, and a connection; settings as of server.settings()."""
    chosen = local_server.settings(state, port="0", **settings)
    try:
        port = local_server.start(chosen).port
        connection = local_server.connect(port)
        yield port, connection
        connection.close()
    finally:
        local_server.stop(state)


@contextmanager
def shop_on_delta(folder: Path, **more: Any) -> Iterator[Project]:
    """A project with the schema `shop` on a server that knows Delta; more: of Project."""
    settings = {"memory": "1500m", "formats": ["delta"], "conf": SERVER[:2]}
    with served(folder / "server", **settings) as (port, connection):
        cursor = connection.cursor()
        cursor.execute("create database shop")
        yield Project(folder / "project", port, "shop", cursor, **more)


@contextmanager
def shop_in(file_format: str, folder: Path) -> Iterator[Project]:
    """A project whose ledgers are of a format, on a server that has it, with Hive's catalog."""
    formats = [file_format] if file_format in table_formats.BUILDS else []
    conf = [*SERVER[:2], "spark.sql.catalogImplementation=hive"]
    settings = {"memory": "2g", "conf": conf, "timeout": "600", "formats": formats}
    with served(folder / "state", **settings) as (port, connection):
        cursor = connection.cursor()
        cursor.execute("create database shop")
        yield Project(folder / "shop", port, "shop", cursor, file_format=file_format)


def project_in_lake(factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project on a server that knows Delta and Iceberg; source tables lie in schemas beside."""
    # VACUUM and RESTORE of Delta would list folders by 10,000 tasks
    conf = (*SERVER, "spark.sql.sources.parallelPartitionDiscovery.parallelism=2")
    settings = {"memory": "2g", "conf": conf, "timeout": "600", "formats": ["delta,iceberg"]}
    with served(factory.mktemp("formats"), **settings) as (port, connection):
        made = Project(factory.mktemp("lake"), port, "lake", connection.cursor())
        for schema in ("lake", "source", "iceberg.source"):
            made.query(f"create database if not exists {schema}")
        made.query("set spark.databricks.delta.retentionDurationCheck.enabled = false")
        yield made
