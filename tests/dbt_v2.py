"""What dbt v2 does with a consumer of this package: `python tests/dbt_v2.py`, without a server.

Installs the newest wheel into .spark_cdc/matrix, makes a project with an entity of each load type
by `spark-cdc new`, parses it, and compiles its models with dbt v1 and v2. Fails if parsing gives an
error or a warning, if the SQL of a model differs, or if v2 would load.
"""

from __future__ import annotations

import difflib
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
DBT_V1 = Path(sys.executable).with_name("dbt")
DBT_V2 = PLACE / "bin" / "dbt"
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
# What on-run-start, for which dbt v2 would need its Spark driver, has to say of a load.
REFUSAL = (
    "select \"{{ spark_cdc._mode() ~ ': ' ~ spark_cdc._dbt_problems() | join }}\" as refusal\n"
)
# What each run has of its own, and what dbt v2 writes around the SQL of a model.
PER_RUN = (
    (r"`(\w+)`", r"\1"),
    (r"-[0-9a-f]{8}\b", "-invocation"),
    (r'"(dbt_version|invocation_id|started_at)": "[^"]*"', r'"\1": ""'),
    (r"--EPHEMERAL-SELECT-WRAPPER-START\s+select \* from \(", ""),
    (r"--EPHEMERAL-SELECT-WRAPPER-END\s*\)", ""),
    (r"\s+", " "),
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


def without_hooks(folder: Path) -> None:
    """Replace the package by one without hooks, for which dbt v2 would need its Spark driver."""
    package = folder / "dbt_packages" / "spark_cdc"
    package.unlink()
    package.mkdir()
    for part in ("macros", "models", "tests", "packages.yml"):
        (package / part).symlink_to(ROOT / part)
    lines = (ROOT / "dbt_project.yml").read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith("on-run-")]
    (package / "dbt_project.yml").write_text("".join(kept), "utf-8")


def said(folder: Path, dbt: Path, *words: str) -> str:
    """Return what a dbt prints of a command, without the addresses of its code."""
    environment = {**os.environ, "DBT_ALLOW_EXPERIMENTAL_ADAPTERS": "true"}
    command = [str(dbt), *words, "--profiles-dir", str(folder)]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    lines = (run.stdout + run.stderr).splitlines()
    return "\n".join(line for line in lines if line and not re.match(r" +(\d+: |at )", line))


def plain(sql: str) -> str:
    """Return SQL without what differs per run, on one line."""
    for pattern, text in PER_RUN:
        sql = re.sub(pattern, text, sql)
    return sql.strip()


def compiled(folder: Path, dbt: Path, *words: str) -> tuple[str, dict[str, str]]:
    """Return what `dbt compile` prints, and the SQL of each model without what differs per run."""
    target = folder / f"target_{len(words)}"
    chosen = ("--exclude", "resource_type:test", "--target-path", str(target))
    printed = said(folder, dbt, "compile", *chosen, *words)
    paths = sorted((target / "compiled").rglob("*.sql"))
    return printed, {path.stem: plain(path.read_text("utf-8")) for path in paths}


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the first difference of each model, or that one of them lacks it."""
    found = []
    for name in sorted({*one, *other}):
        pair = one.get(name), other.get(name)
        if None in pair:
            found.append(f"{name}: only one of both has it")
        elif pair[0] != pair[1]:
            before, after = (re.split(r"(?<=[,(]) ", text or "") for text in pair)
            shown = list(difflib.unified_diff(before, after, "dbt v1", "dbt v2", lineterm="", n=1))
            found.append("\n".join([f"{name}:", *shown[:12]]))
    return found


def main() -> int:
    if not DBT_V2.exists():
        venv.create(PLACE, with_pip=True, clear=True)
        pip = [str(PLACE / "bin" / "python"), "-m", "pip", "install", "-q", "--no-deps", WHEEL]
        subprocess.run(pip, check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        consumer(folder)
        parsed = said(folder, DBT_V2, "parse", "--show-all-deprecations")
        print(parsed, said(folder, DBT_V2, "compile"), sep="\n\n")
        without_hooks(folder)
        _, by_v1 = compiled(folder, DBT_V1, "--no-populate-cache")
        printed, by_v2 = compiled(folder, DBT_V2)
        (folder / "models" / "refusal.sql").write_text(REFUSAL)
        refusal = said(folder, DBT_V2, "compile", "--select", "refusal")
    found = differences(by_v1, by_v2)
    print(f"\nWithout hooks:\n{printed}", *found, sep="\n")
    print(f"\n{len(by_v1)} models by dbt v1, {len(by_v2)} by v2; {len(found)} differ")
    is_parsed = "Finished 'parse' successfully" in parsed
    is_refused = "look: dbt 2.0.0 can't load yet" in refusal
    print(f"Loads are {'refused' if is_refused else 'NOT refused'} by v2")
    return 0 if is_parsed and by_v2 and not found and is_refused else 1


if __name__ == "__main__":
    sys.exit(main())
