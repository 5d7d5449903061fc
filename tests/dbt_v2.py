"""What dbt v2 does with a consumer of this package: `python tests/dbt_v2.py`, without a server.

Installs the newest wheel into .spark_cdc/matrix, makes a project with an entity of each load type
by `spark-cdc new`, parses it and compiles its models. Fails if parsing gives an error or a warning.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WHEEL = "dbt==2.0.0rc196"
PLACE = ROOT / ".spark_cdc" / "matrix" / WHEEL.replace("==", "-")
PROJECT = "name: shop\nversion: 1.0.0\nconfig-version: 2\nprofile: shop\n"
PROFILE = (
    "shop: {target: dev, outputs: {dev: {type: spark, method: thrift, host: 127.0.0.1,"
    " port: 10019, user: shop, schema: shop}}}\n"
)
ENTITIES = (
    ("orders", "--columns", "id:bigint:key, price:decimal(10,2)", "--with", "versions", "changes"),
    (
        *("members", "--load-type", "delta", "--deleted-when", "gone"),
        *("--columns", "id:bigint:key, name:string, gone:boolean:control"),
    ),
    (
        *("prices", "--load-type", "events", "--events-format", "flagged_rows", "--archive"),
        *("--operation", "op", "--order", "line_no", "--columns"),
        "id:bigint:key, amount:decimal(10,2), op:string:control, line_no:bigint:control",
    ),
)


def consumer(folder: Path) -> None:
    """Write a project that has this one as a package; dbt v2 would ask the hub for packages.yml."""
    (folder / "dbt_project.yml").write_text(PROJECT)
    (folder / "profiles.yml").write_text(PROFILE)
    (folder / "dbt_packages").mkdir()
    (folder / "dbt_packages" / "spark_cdc").symlink_to(ROOT)
    (folder / "dbt_packages" / "dbt_utils").symlink_to(ROOT / "packages" / "dbt_utils")
    command = str(Path(sys.executable).with_name("spark-cdc"))
    for words in ENTITIES:
        subprocess.run([command, "new", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def said(folder: Path, *words: str) -> str:
    """Return what dbt v2 prints of a command, without the addresses of its code."""
    environment = {**os.environ, "DBT_ALLOW_EXPERIMENTAL_ADAPTERS": "true"}
    command = [str(PLACE / "bin" / "dbt"), *words, "--profiles-dir", str(folder)]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    lines = (run.stdout + run.stderr).splitlines()
    return "\n".join(line for line in lines if line and not re.match(r" +(\d+: |at )", line))


def main() -> int:
    if not (PLACE / "bin" / "dbt").exists():
        venv.create(PLACE, with_pip=True, clear=True)
        pip = [str(PLACE / "bin" / "python"), "-m", "pip", "install", "-q", "--no-deps", WHEEL]
        subprocess.run(pip, check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        consumer(folder)
        parsed = said(folder, "parse", "--show-all-deprecations")
        print(parsed, said(folder, "compile"), sep="\n\n")
    return 0 if "Finished 'parse' successfully" in parsed else 1


if __name__ == "__main__":
    sys.exit(main())
