"""Iceberg's catalogues for tests: JDBC on PostgreSQL, and REST by the server of Iceberg's tests.

The REST server keeps its names in PostgreSQL, too. PostgreSQL has to be installed; the driver and
the server's jars come from Maven Central (catalogues.txt).
"""

from __future__ import annotations

import os
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from e2e import downloads
from postgres import DATABASE, USER, Postgres
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import java, ports
from spark_cdc.server import local as local_server

LIST = Path(__file__).with_name("catalogues.txt")
KINDS = ("jdbc", "rest")
NAME = "lake"
PLACE = f"spark.sql.catalog.{NAME}"
SERVER = "org.apache.iceberg.rest.RESTCatalogServer"
CATALOG = "org.apache.iceberg.spark.SparkCatalog"
EMPTY = "org.apache.iceberg.inmemory.InMemoryCatalog"
# of which queries name files: text.`/path`
READERS = ("text", "binaryFile", "csv", "json", "xml", "parquet", "orc", "avro")
SQL = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


class Catalogue:
    """A catalogue from `start` to `stop`; what it holds goes with it.

    kind: jdbc or rest. folder: where its tables are, and its log.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        self.postgres = Postgres({"max_connections": "200"})
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def warehouse(self) -> Path:
        return self.folder / "tables"

    @property
    def driver(self) -> Path:
        """Return PostgreSQL's driver for Java."""
        [path] = (downloads.folder() / "jdbc").glob("postgresql-*.jar")
        return path

    @property
    def uri(self) -> str:
        return f"jdbc:postgresql://{ports.HOST}:{self.postgres.port}/{DATABASE}"

    @property
    def conf(self) -> dict[str, str]:
        """Spark's settings for a server whose default catalogue this is."""
        of_kind = {
            "jdbc": {
                f"{PLACE}.type": "jdbc",
                f"{PLACE}.uri": self.uri,
                f"{PLACE}.jdbc.user": USER,
                f"{PLACE}.jdbc.password": self.postgres.password,
                # views need it
                f"{PLACE}.jdbc.schema-version": "V1",
                f"{PLACE}.warehouse": str(self.warehouse),
            },
            "rest": {
                f"{PLACE}.type": "rest",
                f"{PLACE}.uri": f"http://{ports.HOST}:{self.port}",
                # else the server is asked for tables with the names of paths, which it refuses
                **{f"spark.sql.catalog.{reader}": CATALOG for reader in READERS},
                **{f"spark.sql.catalog.{reader}.catalog-impl": EMPTY for reader in READERS},
            },
        }
        return {
            PLACE: CATALOG,
            f"{PLACE}.cache-enabled": "false",
            "spark.sql.defaultCatalog": NAME,
            "spark.sql.extensions": SQL,
            "spark.sql.catalogImplementation": "in-memory",
            "spark.driver.extraClassPath": str(self.driver),
            **of_kind[self.kind],
        }

    def start(self) -> None:
        """Return when it answers.

        Raises SparkCdcError if PostgreSQL or a jar is not to be had, or the server does not start.
        """
        downloads.ensure(LIST)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.postgres.start()
        if self.kind == "rest":
            self.port = ports.choose(0)
            self._serve()

    def _serve(self) -> None:
        found = java.ensure()
        jars = [*sorted((downloads.folder() / "rest").glob("*.jar")), self.driver]
        # Hadoop, Jackson and Avro are among Spark's jars
        places = [*map(str, jars), str(java.pyspark_home() / "jars" / "*")]
        environment = {
            **os.environ,
            "CATALOG_URI": self.uri,
            "CATALOG_JDBC_USER": USER,
            "CATALOG_JDBC_PASSWORD": self.postgres.password,
            "CATALOG_WAREHOUSE": self.warehouse.as_uri(),
            "CATALOG_REST_PORT": str(self.port),
        }
        log = self.folder / "rest.log"
        words = [found.executable, "-Xmx384m", "-XX:+UseSerialGC", "-cp", os.pathsep.join(places)]
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [*words, SERVER],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        deadline = time.monotonic() + 120
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SparkCdcError("Iceberg's REST server does not start", f"Its log: {log}")
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{ports.HOST}:{self.port}/v1/config", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def kill(self) -> None:
        """End the REST server at once, as if its machine had crashed; what it holds stays."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(30)

    def restart(self) -> None:
        """Start the REST server again, on its port."""
        self._serve()

    def stop(self) -> None:
        self.kill()
        self.postgres.stop()

    @staticmethod
    def prepare(port: int) -> None:
        """Make the schema in which PyHive begins each session of a new Spark server."""
        first = local_server.connect(port, schema="spark_catalog")
        first.cursor().execute(f"create schema if not exists {NAME}.default")
        first.close()
