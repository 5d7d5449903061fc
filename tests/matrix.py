"""The tests of data logic on every Spark in use: `make test-matrix`, or `python tests/matrix.py`.

Each version of requirements/spark.txt gets a virtual environment in .spark_cdc/matrix, with all
else as it is pinned, and one run of pytest there, on a server of that Spark, one after the other.
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
from pathlib import Path

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


def versions() -> list[str]:
    """The versions of PySpark that are tried."""
    lines = (REQUIREMENTS / "spark.txt").read_text().splitlines()
    return [line.removeprefix("pyspark==") for line in lines if line.startswith("pyspark==")]


def environment(version: str) -> Path:
    """The Python of a virtual environment with that PySpark, made if it is not there."""
    folder = PLACE / version
    python, stamp = folder / "bin" / "python", folder / "made.stamp"
    pins = [REQUIREMENTS / name for name in PINS]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in pins)).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return python
    venv.create(folder, with_pip=True, clear=True)
    other = ("pyspark==", "py4j==")
    for path in pins:  # all but the Spark, which brings a Py4J of its own
        kept = [line for line in path.read_text().splitlines() if not line.startswith(other)]
        (folder / path.name).write_text("\n".join(kept) + "\n")
    install = [str(python), "-m", "pip", "install", "--progress-bar", "off"]
    chosen = [*TOOLS, f"pyspark=={version}"]
    for name in ("build.txt", "run.txt"):
        chosen += ["-r", str(folder / name)]
    log = PLACE / f"{version}.log"
    log.unlink(missing_ok=True)
    told = f"Install PySpark {version}"
    console.run(told, [*install, "-c", str(folder / "constraints.txt"), *chosen], log=log, tail=8)
    itself = ["--no-deps", "--no-build-isolation", "-e", str(ROOT)]
    console.run("Install spark_cdc beside it", [*install, *itself], log=log, tail=8)
    stamp.write_text(digest)
    return python


def tried(version: str, files: list[str], words: list[str]) -> tuple[str, int, int, int, int]:
    """What came of the tests on a version: tests that passed, failed, were skipped; seconds."""
    python = environment(version)
    report = PLACE / f"{version}.xml"
    report.unlink(missing_ok=True)
    began = time.monotonic()
    print(f"\nSpark {version}", flush=True)
    command = [str(python), "-m", "pytest", "-q", f"--junitxml={report}", *files, *words]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": ""})
    seconds = round(time.monotonic() - began)
    if not report.exists():
        return version, 0, 1, 0, seconds
    counts = {"failures": 0, "errors": 0, "skipped": 0, "tests": 0}
    for suite in ET.parse(report).iter("testsuite"):
        counts = {name: count + int(suite.get(name, 0)) for name, count in counts.items()}
    wrong = counts["failures"] + counts["errors"]
    skipped = counts["skipped"]
    return version, counts["tests"] - wrong - skipped, wrong, skipped, seconds


def main() -> int:
    known = versions()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", help=f"such as 3.5 or 4.2.1; all: {known}")
    parser.add_argument("--files", nargs="+", default=FILES, help="names of test files")
    arguments, words = parser.parse_known_args()
    asked = arguments.versions or known
    chosen = [v for v in known if any(v == word or v.startswith(f"{word}.") for word in asked)]
    if not chosen:
        parser.error(f"none of {known} is meant by {asked}: see requirements/spark.txt")
    files = [f"tests/{name.removesuffix('.py')}.py" for name in arguments.files]
    try:
        rows = [tried(version, files, words) for version in chosen]
    except SparkCdcError as error:
        print(f"error: {error.message}\nnext: {error.next_step}", file=sys.stderr)
        return error.exit_code
    print("\n" + console.table(["Spark", "passed", "failed", "skipped", "seconds"], rows))
    return 1 if any(row[2] or not row[1] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
