"""Delta Lake and Iceberg for the local server: their jars, and the Spark settings that they need.

Spark brings neither. `spark-cdc server start --with delta,iceberg` fetches the jars that are pinned
here (jars.py).
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from pathlib import Path

from spark_cdc.errors import SparkCdcError, UsageError
from spark_cdc.server import java, s3
from spark_cdc.server.jars import Jar


def _delta(version: str, artifact: str, sha256: str, storage_sha256: str) -> tuple[Jar, ...]:
    return (
        Jar("io.delta", artifact, version, sha256),
        Jar("io.delta", "delta-storage", version, storage_sha256),
    )


def _iceberg(version: str, artifact: str, sha256: str) -> tuple[Jar, ...]:
    return (Jar("org.apache.iceberg", artifact, version, sha256),)


_STORAGE_4_4 = "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc"

# By format and Spark's minor version: what that Spark needs on its class path. A build that does
# not exist is not here. PySpark 3.5 has Scala 2.12, later ones 2.13.
BUILDS: Mapping[str, Mapping[str, tuple[Jar, ...]]] = {
    "delta": {
        "3.5": _delta(
            "3.3.2",
            "delta-spark_2.12",
            "4e92085d5d794cf949c50bb665b91384857cad58680c2d0bfc9c7ad353e98e85",
            "c096975a2ca97ccc9b4005aa5cce16c9ac3903139d340da6665b66ace67d7c36",
        ),
        "4.0": _delta(
            "4.4.0",
            "delta-spark_4.0_2.13",
            "49e899667168b9412f83cbe894ce264107d7b896d6c5e12edca4e216845c1104",
            _STORAGE_4_4,
        ),
        "4.1": _delta(
            "4.4.0",
            "delta-spark_4.1_2.13",
            "75a9400986853c061f5109f012547de2545a5759e5e752e5ef633dabe16a4f10",
            _STORAGE_4_4,
        ),
        "4.2": _delta(
            "4.4.0",
            "delta-spark_4.2_2.13",
            "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
            _STORAGE_4_4,
        ),
    },
    "iceberg": {
        "3.5": _iceberg(
            "1.11.0",
            "iceberg-spark-runtime-3.5_2.12",
            "94b8e36fc329f0293d44ba9e01b784a56e9501affec1842d898144c51f6e486a",
        ),
        "4.0": _iceberg(
            "1.11.0",
            "iceberg-spark-runtime-4.0_2.13",
            "63c3b812549dc232c1920865ff42436df8604a9bbacd693930985c06bd97e6dc",
        ),
        "4.1": _iceberg(
            "1.11.0",
            "iceberg-spark-runtime-4.1_2.13",
            "d6ea6c5d099288daeb7d5a92061bd3d7d8f296492632b42378e5f2f0e3066242",
        ),
    },
}


def _builds() -> Mapping[str, Mapping[str, tuple[Jar, ...]]]:
    """Return all that `--with` accepts: table formats, and S3."""
    return {**BUILDS, s3.NAME: s3.BUILDS}


def spark_version() -> str:
    """Return the minor version of the PySpark that is installed, such as 4.1."""
    java.pyspark_home()
    return ".".join(importlib.metadata.version("pyspark").split(".")[:2])


def parse(texts: Sequence[str], spark: str | None = None) -> tuple[str, ...]:
    """Return the formats that texts such as `delta,iceberg` name, each once, in a fixed order.

    spark: minor version that they are for; default that of the installed PySpark.

    Raises SparkCdcError for a name that is not known, and where Spark has no build of one.
    """
    named = {name.strip().lower() for text in texts for name in text.split(",")} - {""}
    builds = _builds()
    unknown = sorted(named - builds.keys())
    if unknown:
        raise UsageError(
            f"--with {','.join(unknown)!r} (SPARK_CDC_WITH) is unknown. Accepted are"
            f" {', '.join(builds)}; Spark itself has Parquet and ORC, and --jars takes other jars.",
            "spark-cdc server start --with delta",
        )
    chosen = tuple(name for name in builds if name in named)
    for name in chosen:
        spark = spark or spark_version()
        if spark not in builds[name]:
            raise SparkCdcError(
                f"--with {name!r}: there is no build for Spark {spark}. It has builds for Spark"
                f" {', '.join(builds[name])}.",
                "Install a PySpark of one of them, or give jars by --jars and settings by --conf.",
            )
    return chosen


def jars(formats: Sequence[str], spark: str | None = None) -> list[Jar]:
    """Return the jars of formats for a Spark; default is the installed PySpark's."""
    return [jar for name in formats for jar in _builds()[name][spark or spark_version()]]


def paths(formats: Sequence[str]) -> list[Path]:
    """Return the files of the jars of formats, whether they are there or not."""
    return [jar.path for jar in jars(formats)]


def settings(formats: Sequence[str], catalog: str, warehouse: Path | str) -> dict[str, str]:
    """Return the Spark settings of formats.

    Delta has to be Spark's session catalog. So is Iceberg where it is alone, and then it does
    without its extension of Spark's SQL, under which views are Iceberg's, which `alter view … as`
    refuses. Beside Delta it gets a catalog of its own, `iceberg`, and the extension.

    catalog: where Spark keeps tables, spark.sql.catalogImplementation: hive or in-memory.
    """
    conf: dict[str, str] = {}
    extensions = []
    if "delta" in formats:
        extensions.append("io.delta.sql.DeltaSparkSessionExtension")
        conf["spark.sql.catalog.spark_catalog"] = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        # The default of 50 partitions for a table's metadata is meant for clusters.
        conf["spark.databricks.delta.snapshotPartitions"] = "2"
    if "iceberg" in formats:
        place, kind = "spark.sql.catalog.spark_catalog", "SparkSessionCatalog"
        if "delta" in formats:
            extensions.append("org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
            place, kind = "spark.sql.catalog.iceberg", "SparkCatalog"
        conf[place] = f"org.apache.iceberg.spark.{kind}"
        # Else a session goes on for half a minute with a table as it found it: readers would see
        # the manifest of a load whose rows they lack.
        conf[f"{place}.cache-enabled"] = "false"
        conf[f"{place}.type"] = "hive" if catalog == "hive" else "hadoop"
        if catalog != "hive":
            conf[f"{place}.warehouse"] = str(warehouse)
        # Derby has no locks that Hive's clients could take.
        conf["spark.hadoop.iceberg.engine.hive.lock-enabled"] = "false"
        # Else Hive refuses what Iceberg may do: a table made anew with a narrower type of a column.
        conf["spark.hadoop.hive.metastore.disallow.incompatible.col.type.changes"] = "false"
    if extensions:
        conf["spark.sql.extensions"] = ",".join(extensions)
    if conf:
        # Their clients of the metastore are others than Spark's, and look for tables of Hive's that
        # Spark's did not need.
        conf["spark.hadoop.datanucleus.schema.autoCreateAll"] = "true"
        conf["spark.hadoop.hive.metastore.schema.verification"] = "false"
    return conf
