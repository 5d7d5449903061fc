"""A metastore in PostgreSQL.

The tables are made by Hive itself (DataNucleus) when the first Thrift server connects.
"""

from __future__ import annotations

import os
from pathlib import Path

from postgres import DATABASE, USER, Postgres
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import ports

DRIVER = Path("/usr/share/java/postgresql.jar")  # of Debian's package libpostgresql-jdbc-java
INSTALL = "apt-get install postgresql libpostgresql-jdbc-java"


def driver() -> Path:
    """The JDBC driver; SparkCdcError if it is not there."""
    path = Path(os.environ.get("SPARK_CDC_CLUSTER_JDBC") or DRIVER)
    if not path.is_file():
        raise SparkCdcError(
            f"the cluster's metastore needs PostgreSQL's JDBC driver: there is no {path}. Install"
            f" both, in Debian and Ubuntu with: {INSTALL}",
            "Another driver than the package's: SPARK_CDC_CLUSTER_JDBC=…/postgresql-42.7.4.jar",
        )
    return path


class Metastore(Postgres):
    """PostgreSQL with what Hive keeps of tables."""

    def __init__(self) -> None:
        self.driver = driver()
        super().__init__({"max_connections": "200", "log_lock_waits": "on"})

    @property
    def conf(self) -> dict[str, str]:
        """Spark's settings for it."""
        jdo = "spark.hadoop.javax.jdo.option"
        return {
            "spark.sql.catalogImplementation": "hive",
            "spark.driver.extraClassPath": str(self.driver),
            f"{jdo}.ConnectionURL": f"jdbc:postgresql://{ports.HOST}:{self.port}/{DATABASE}",
            f"{jdo}.ConnectionDriverName": "org.postgresql.Driver",
            f"{jdo}.ConnectionUserName": USER,
            f"{jdo}.ConnectionPassword": self.password,
            # The tables are made at the first connection; a real metastore has them by schematool.
            "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
            "spark.hadoop.hive.metastore.schema.verification": "false",
        }
