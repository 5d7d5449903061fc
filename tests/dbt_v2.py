"""What dbt v2 does with a consumer of this package: `python tests/dbt_v2.py`, without a server.

Installs the newest wheel into .spark_cdc/matrix, makes a project with an entity of each load type
by `spark-cdc new`, parses it, and compiles its models with dbt v1 and v2. Fails if parsing gives an
error or a warning, or if the SQL of a model differs. tests/test_dbt_v2_loads.py loads by it.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass, field
from pathlib import Path

import yaml

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
# dbt v2 takes a driver that is in its cache, and else loads one from its own site. That of the
# wheel speaks Spark Connect, in other words than dbt: dbt_v2_driver.c translates.
DRIVER_WHEEL = "adbc-driver-spark==0.3.0"
DRIVER_NAME = (
    f"com.getdbt/adbc/{platform.machine()}-manylinux_2_17-linux-gnu"
    "/libadbc_driver_spark-0.21.0.dev+dbt0.1.2.so"
)
DRIVER_GIVEN = "SPARK_CDC_ADBC_DRIVER"
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
    return readable(run.stdout + run.stderr)


def readable(printed: str) -> str:
    """Return what a dbt prints without the addresses of its code."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed).splitlines()
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


def install() -> None:
    """Install dbt v2, if it is not there."""
    if not DBT_V2.exists():
        venv.create(PLACE, with_pip=True, clear=True)
        _pip(WHEEL)


def _pip(wheel: str) -> None:
    pip = [str(PLACE / "bin" / "python"), "-m", "pip", "install", "-q", "--no-deps", wheel]
    subprocess.run(pip, check=True)


def driver() -> Path:
    """Return the Spark driver for dbt v2: the one that is given, else one that is built here."""
    given = os.environ.get(DRIVER_GIVEN)
    built = PLACE / "libadbc_driver_spark_for_dbt.so"
    source = Path(__file__).with_suffix(".c").with_stem("dbt_v2_driver")
    if given or (built.exists() and built.stat().st_mtime > source.stat().st_mtime):
        return Path(given or built)
    try:
        _pip(DRIVER_WHEEL)
        [library] = PLACE.glob("lib/python*/site-packages/adbc_driver_spark/*.so")
        cc = ["cc", "-O1", "-Wall", "-shared", "-fPIC", f'-DLIBRARY="{library}"', str(source)]
        subprocess.run([*cc, "-o", str(built), "-ldl"], check=True)
    except (subprocess.CalledProcessError, ValueError, OSError) as error:
        raise SystemExit(
            f"dbt v2 has no Spark driver to load with: {error}. It is made of the wheel"
            f" {DRIVER_WHEEL} (Linux with glibc 2.34 or later) by a C compiler (cc): install both."
            f" Or set {DRIVER_GIVEN} to a driver that is there: dbt v2 that reaches the internet"
            f" leaves one in ~/.cache/{DRIVER_NAME}; `go build -tags driverlib -buildmode=c-shared"
            " ./pkg` in the folder go of github.com/adbc-drivers/spark makes one."
        ) from error
    return built


@dataclass
class Dbt:
    """dbt v2 on a project and its server."""

    folder: Path
    statements: list[str] = field(default_factory=list)  # of the last command
    seconds: float = 0  # of the last command: CPU of the client

    def __post_init__(self) -> None:
        install()
        place = self.folder / "v2" / "cache" / DRIVER_NAME
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(driver())
        # v2 would ask the hub for packages that are there already
        (self.folder / "packages.yml").unlink(missing_ok=True)

    def profile(self, port: int, connect_port: int) -> None:
        """Write the profile of dbt v2 beside that of v1. A driver that is given speaks Thrift."""
        profiles = yaml.safe_load((self.folder / "profiles.yml").read_text("utf-8"))
        thrift = {"method": "thrift", "port": port}
        connect = {"method": "spark-connect", "port": connect_port}
        for profile in profiles.values():
            for target in profile["outputs"].values():
                target.update(thrift if os.environ.get(DRIVER_GIVEN) else connect, user="shop")
        (self.folder / "v2" / "profiles.yml").write_text(yaml.safe_dump(profiles), "utf-8")

    def run(self, *words: str, **variables: str) -> tuple[bool, str]:
        """Run a command: whether it succeeded, and what it printed."""
        log = self.folder / "v2" / "statements"
        log.unlink(missing_ok=True)
        environment = {
            "XDG_CACHE_HOME": str(self.folder / "v2" / "cache"),
            "DBT_ALLOW_EXPERIMENTAL_ADAPTERS": "true",
            "SPARK_CDC_ADBC_LOG": str(log),
        }
        places = ("--profiles-dir", str(self.folder / "v2"), "--target-path", "v2/target")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(
            [str(DBT_V2), *words, *places],
            cwd=self.folder,
            env={**os.environ, **environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        with contextlib.suppress(FileNotFoundError):
            self.statements = log.read_text("utf-8").split("\0")[:-1]
        return run.returncode == 0, readable(run.stdout + run.stderr)


def main() -> int:
    install()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        consumer(folder)
        parsed = said(folder, DBT_V2, "parse", "--show-all-deprecations")
        print(parsed, said(folder, DBT_V2, "compile"), sep="\n\n")
        without_hooks(folder)
        _, by_v1 = compiled(folder, DBT_V1, "--no-populate-cache")
        printed, by_v2 = compiled(folder, DBT_V2)
    found = differences(by_v1, by_v2)
    print(f"\nWithout hooks:\n{printed}", *found, sep="\n")
    print(f"\n{len(by_v1)} models by dbt v1, {len(by_v2)} by v2; {len(found)} differ")
    is_parsed = "Finished 'parse' successfully" in parsed
    return 0 if is_parsed and by_v2 and not found else 1


if __name__ == "__main__":
    sys.exit(main())
