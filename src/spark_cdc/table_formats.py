"""Delta Lake and Iceberg for the local server: their jars, and the Spark settings that they need.

Spark brings neither. `spark-cdc server start --with delta,iceberg` fetches pinned jars once, into
the project's `.spark_cdc/jars`, by the Ivy that is among Spark's own jars. Ivy knows Maven Central;
`--ivy-settings` (SPARK_CDC_IVY_SETTINGS) names an Ivy settings file with a mirror. Each jar has to
have the checksum that is written here, at each start.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from spark_cdc import java, project
from spark_cdc.console import Step
from spark_cdc.errors import SparkCdcError

FETCH_SECONDS = 600.0


@dataclasses.dataclass(frozen=True)
class Jar:
    """A jar by its Maven coordinates, with its checksum (SHA-256)."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


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


def spark_version() -> str:
    """Return the minor version of the PySpark that is installed, such as 4.1."""
    try:
        return ".".join(importlib.metadata.version("pyspark").split(".")[:2])
    except importlib.metadata.PackageNotFoundError as error:
        raise SparkCdcError("pyspark is not installed", "Run: make demo") from error


def parse(texts: Sequence[str], spark: str | None = None) -> tuple[str, ...]:
    """Return the formats that texts such as `delta,iceberg` name, each once, in a fixed order.

    spark: minor version that they are for; default that of the installed PySpark.

    Raises SparkCdcError for a name that is not known, and where Spark has no build of one.
    """
    named = {name.strip().lower() for text in texts for name in text.split(",")} - {""}
    unknown = sorted(named - BUILDS.keys())
    if unknown:
        raise SparkCdcError(
            f"table format {', '.join(map(repr, unknown))} is not known",
            f"Accepted by --with (SPARK_CDC_WITH) are: {', '.join(BUILDS)}. Parquet and ORC are"
            " part of Spark and need no mention; jars of your own go to --jars.",
        )
    chosen = tuple(name for name in BUILDS if name in named)
    for name in chosen:
        spark = spark or spark_version()
        if spark not in BUILDS[name]:
            raise SparkCdcError(
                f"there is no {name} for Spark {spark} yet",
                f"Install a PySpark of {', '.join(BUILDS[name])}, or start without {name}. A build"
                " of your own: --jars with its jars, and its settings by --conf.",
            )
    return chosen


def jars(formats: Sequence[str], spark: str | None = None) -> list[Jar]:
    """Return the jars of formats for a Spark; default is the installed PySpark's."""
    return [jar for name in formats for jar in BUILDS[name][spark or spark_version()]]


def folder() -> Path:
    """Return where jars are kept: one folder for all servers of a project."""
    return project.root() / ".spark_cdc" / "jars"


def paths(formats: Sequence[str]) -> list[Path]:
    """Return the files of the jars of formats, whether they are there or not."""
    return [folder() / jar.name for jar in jars(formats)]


def settings(formats: Sequence[str], catalog: str, warehouse: Path) -> dict[str, str]:
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
    if formats:
        # Their clients of the metastore are others than Spark's, and look for tables of Hive's that
        # Spark's did not need.
        conf["spark.hadoop.datanucleus.schema.autoCreateAll"] = "true"
        conf["spark.hadoop.hive.metastore.schema.verification"] = "false"
    return conf


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _fetch(jar: Jar, into: Path, executable: Path, ivy_settings: str) -> Path:
    """Fetch a jar into a folder by Ivy and return its path; nothing is left elsewhere."""
    command = [
        str(executable),
        f"-Divy.default.ivy.user.dir={into / 'ivy'}",
        *("-cp", f"{java.pyspark_home() / 'jars'}/*", "org.apache.ivy.Main", "-warn"),
        *(["-settings", ivy_settings] if ivy_settings else []),
        *("-dependency", jar.group, jar.artifact, jar.version, "-confs", "master"),
        *("-notransitive", "-cache", str(into / "cache")),
        *("-retrieve", str(into / "[artifact]-[revision].[ext]")),
    ]
    try:
        out = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=FETCH_SECONDS
        )
        said = out.stdout + out.stderr
    except subprocess.TimeoutExpired:
        said = f"no end after {FETCH_SECONDS:.0f} s"
    found = into / jar.name
    if not found.is_file():
        told = [line.strip() for line in said.splitlines() if re.search(r"[a-z]{3}", line)][:6]
        raise SparkCdcError(
            f"{jar.name} could not be fetched:" + "".join(f"\n  | {line[:200]}" for line in told),
            "Make Maven Central reachable (a proxy: JAVA_TOOL_OPTIONS=-Dhttps.proxyHost=…), or name"
            " a mirror in an Ivy settings file: --ivy-settings FILE (SPARK_CDC_IVY_SETTINGS)."
            f" Or copy the file to {folder() / jar.name}; its SHA-256 has to be {jar.sha256}.",
        )
    return found


def ensure(formats: Sequence[str], executable: Path, ivy_settings: str = "") -> list[Path]:
    """Return the jars of formats, each with the right checksum; fetch those that are not there.

    executable: java. ivy_settings: an Ivy settings file, for another place than Maven Central.

    Raises SparkCdcError if one can't be fetched, or is another one than was pinned.
    """
    kept = folder()
    for jar in jars(formats):
        path = kept / jar.name
        if path.is_file() and _sha256(path) == jar.sha256:
            continue
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            Step(f"Fetch {jar.name}"),
            tempfile.TemporaryDirectory(dir=kept, prefix=".fetch-") as place,
        ):
            came = _fetch(jar, Path(place), executable, ivy_settings)
            found = _sha256(came)
            if found != jar.sha256:
                raise SparkCdcError(
                    f"{jar.name} is not the one that was pinned: its SHA-256 is {found}, expected"
                    f" is {jar.sha256}; nothing of it was kept",
                    "Try again; if it stays so, look at what lies between here and Maven Central"
                    " (a mirror, a proxy), or put the right file at " + str(path),
                )
            came.replace(path)
    return paths(formats)
