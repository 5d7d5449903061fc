"""Tests on each version of Spark and dbt: `make test-matrix`, or `python tests/matrix.py`.

Each version of requirements/spark.txt and of DBT gets a virtual environment in .spark_cdc/matrix,
with all else as it is pinned, and one run of pytest there, with a server, one after the other. dbt
v2 has no Python in it: its tests run in this environment, and call it beside dbt v1. So do those of
dbt-databricks, which is put in a folder of its own: what it requires does not fit the lock.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
import venv
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import dbt_v2
from spark_cdc import console
from spark_cdc.errors import SparkCdcError

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements"
PLACE = ROOT / ".spark_cdc" / "matrix"
PINS = ("build.txt", "run.txt", "constraints.txt")
TOOLS = ("pytest", "prometheus_client")  # of dev.txt
# What says which rows come out, not how the project is run: values and hashes, comparison, events,
# views, sources, and a load through dbt.
FILES = (
    "test_hashing",
    "test_values",
    "test_resolver_cases",
    "test_histories",
    "test_event_histories",
    "test_bitemporal",
    "test_adapters_messages",
    "test_adapters_columns",
    "test_adapters_debezium",
    "test_event_stories",
    "test_formats",
    "test_input",
    "test_loads",
    "test_snapshots",
    "test_changes",
    "test_schema_change",
    "test_replay",
)


# What shows that dbt does with the package what it should: the statements of a story of loads, a
# load of each type, views, data tests, configurations, and dbt's other commands.
FILES_OF_DBT = (
    "test_golden",
    "test_loads",
    "test_first_loads",
    "test_snapshots",
    "test_changes",
    "test_bitemporal",
    "test_schema_change",
    "test_formats",
    "test_data_tests",
    "test_build_checks",
    "test_dbt_configs",
    "test_commands",
    "test_printed_commands",
)
# The same of dbt v2: what it compiles, and what it loads.
FILES_OF_DBT_V2 = ("test_dbt_v2", "test_dbt_v2_loads")
# dbt-databricks and what its import takes, without what they require
DATABRICKS = (
    "dbt-databricks==1.12.8",
    "databricks-sdk==0.117.0",
    "databricks-sql-connector==4.4.0",
    "google-auth==2.63.0",
    "pyasn1==0.6.5",
    "pyasn1-modules==0.4.2",
    "lz4==4.4.5",
    "oauthlib==4.0.1",
    "pyjwt==2.15.1",
    "pybreaker==1.4.1",
)
# Versions of dbt, each with what differs from the lock (docs/dbt_versions.md).
DBT = {
    "1.11.16": (),
    "1.12.0": ("dbt-core-experimental-parser==2.0.0a4", "sqlparse==0.5.5"),
}


@dataclass(frozen=True)
class Column:
    """A version of Spark or dbt: the pins that differ from the lock, and the tests' files."""

    of: str
    version: str
    pins: tuple[str, ...]
    files: tuple[str, ...]
    suite: str = "integration"
    beside: tuple[str, ...] = ()  # packages in a folder of their own, without what they require

    @property
    def name(self) -> str:
        return f"{self.of}-{self.version}"

    def is_meant(self, asked: Sequence[str]) -> bool:
        words = [word.removeprefix("v") for word in asked]
        return any(self.version == word or self.version.startswith(f"{word}.") for word in words)


def columns() -> list[Column]:
    """All that is tried."""
    lines = (REQUIREMENTS / "spark.txt").read_text().splitlines()
    sparks = [line.removeprefix("pyspark==") for line in lines if line.startswith("pyspark==")]
    return [
        *(Column("spark", one, (f"pyspark=={one}",), FILES) for one in sparks),
        *(
            Column("dbt", one, (f"dbt-core=={one}", *more), FILES_OF_DBT)
            for one, more in DBT.items()
        ),
        Column("dbt", dbt_v2.WHEEL.partition("==")[2], (), FILES_OF_DBT_V2, suite="all"),
        Column("dbt", "databricks", (), ("test_dbt_databricks",), suite="all", beside=DATABRICKS),
    ]


def environment(column: Column) -> Path:
    """The Python of a virtual environment with those versions, made if it is not there."""
    if not column.pins:
        return Path(sys.executable)
    folder = PLACE / column.name
    python, stamp = folder / "bin" / "python", folder / "made.stamp"
    pins = [REQUIREMENTS / name for name in PINS]
    digest = hashlib.sha256(
        b"".join([*(path.read_bytes() for path in pins), repr(column.pins).encode()])
    ).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return python
    venv.create(folder, with_pip=True, clear=True)
    other = tuple(f"{pin.partition('==')[0]}==" for pin in column.pins)
    if column.of == "spark":
        other += ("py4j==",)  # each Spark brings its own
    for path in pins:
        kept = [line for line in path.read_text().splitlines() if not line.startswith(other)]
        (folder / path.name).write_text("\n".join(kept) + "\n")
    install = [str(python), "-m", "pip", "install", "--progress-bar", "off"]
    chosen = [*TOOLS, *column.pins]
    for name in ("build.txt", "run.txt"):
        chosen += ["-r", str(folder / name)]
    log = PLACE / f"{column.name}.log"
    log.unlink(missing_ok=True)
    told = f"Install {column.pins[0]}"
    console.run(told, [*install, "-c", str(folder / "constraints.txt"), *chosen], log=log, tail=8)
    itself = ["--no-deps", "--no-build-isolation", "-e", str(ROOT)]
    console.run("Install spark_cdc beside it", [*install, *itself], log=log, tail=8)
    stamp.write_text(digest)
    return python


def beside(column: Column) -> str:
    """The folder of the packages that a column has beside its environment, empty without any."""
    if not column.beside:
        return ""
    folder = PLACE / column.name
    install = [sys.executable, "-m", "pip", "install", "--progress-bar", "off", "--no-deps"]
    if not folder.exists():
        told, log = f"Install {column.beside[0]}", PLACE / f"{column.name}.log"
        PLACE.mkdir(parents=True, exist_ok=True)
        console.run(told, [*install, "--target", str(folder), *column.beside], log=log, tail=8)
    return str(folder)


def tried(column: Column, files: Sequence[str], words: list[str]) -> tuple[str, int, int, int, int]:
    """What came of the tests on a version: tests that passed, failed, were skipped; seconds."""
    python = environment(column)
    report = PLACE / f"{column.name}.xml"
    report.unlink(missing_ok=True)
    began = time.monotonic()
    print(f"\n{column.name}", flush=True)
    paths = [f"tests/{name.removesuffix('.py')}.py" for name in files or column.files]
    command = [str(python), "-m", "pytest", "-q", f"--junitxml={report}", *paths, *words]
    environment_of_run = {
        **os.environ,
        "PYTHONPATH": beside(column),
        "SPARK_CDC_TEST_SUITE": column.suite,
    }
    subprocess.run(command, cwd=ROOT, env=environment_of_run)
    seconds = round(time.monotonic() - began)
    if not report.exists():
        return column.name, 0, 1, 0, seconds
    counts = {"failures": 0, "errors": 0, "skipped": 0, "tests": 0}
    for suite in ET.parse(report).iter("testsuite"):
        counts = {name: count + int(suite.get(name, 0)) for name, count in counts.items()}
    wrong = counts["failures"] + counts["errors"]
    skipped = counts["skipped"]
    return column.name, counts["tests"] - wrong - skipped, wrong, skipped, seconds


def main() -> int:
    known = columns()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spark", nargs="+", default=[], help="versions, such as 3.5 or 4.2.1")
    parser.add_argument("--dbt", nargs="+", default=[], help="versions, such as 1.12 or v2")
    parser.add_argument("--files", nargs="+", default=[], help="names of test files")
    arguments, words = parser.parse_known_args()
    asked = {"spark": arguments.spark, "dbt": arguments.dbt}
    chosen = [one for one in known if one.is_meant(asked[one.of])] if any(asked.values()) else known
    if not chosen:
        names = ", ".join(one.name for one in known)
        parser.error(f"no version is meant by {asked}. Accepted are {names}")
    try:
        rows = [tried(one, arguments.files, words) for one in chosen]
    except SparkCdcError as error:
        print(f"error: {error.message}\nnext: {error.next_step}", file=sys.stderr)
        return error.exit_code
    print("\n" + console.table(["Version", "passed", "failed", "skipped", "seconds"], rows))
    return 1 if any(row[2] or not row[1] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
