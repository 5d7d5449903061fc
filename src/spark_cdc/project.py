"""Where things are: the project's folder, its state folder, dbt's command line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from spark_cdc import local_server
from spark_cdc.errors import SparkCdcError

WHEEL = Path(__file__).with_name("dbt_package")


def package() -> Path:
    """Return the folder of the dbt package: beside this code in a wheel, else the repository."""
    return WHEEL if WHEEL.is_dir() else Path(__file__).resolve().parents[2]


def root() -> Path:
    """Return the dbt project's folder: SPARK_CDC_PROJECT_DIR, or the nearest one upwards."""
    given = os.environ.get("SPARK_CDC_PROJECT_DIR")
    start = Path(given).expanduser().resolve() if given else Path.cwd()
    for folder in [start] if given else [start, *start.parents]:
        if (folder / "dbt_project.yml").is_file():
            return folder
    raise SparkCdcError(
        f"There is no dbt_project.yml in '{start}'{'' if given else ' or above it'}. spark-cdc"
        " works in the folder of a dbt project, or in that of SPARK_CDC_PROJECT_DIR.",
        "Change to the project's folder.\ncd /path/to/project",
    )


def root_or_here() -> Path:
    """Return the dbt project's folder; outside of a project the current one."""
    try:
        return root()
    except SparkCdcError:
        return Path.cwd()


def state_dir(given: str | None = None) -> Path:
    """Return the folder of server, log and data: the option, SPARK_CDC_STATE_DIR or .spark_cdc."""
    choice = given or os.environ.get("SPARK_CDC_STATE_DIR") or ".spark_cdc"
    path = Path(choice).expanduser()
    return path if path.is_absolute() else root() / path


def is_here() -> bool:
    """Return whether there is a project."""
    try:
        root()
    except SparkCdcError:
        return False
    return True


def packages_folder(folder: Path) -> Path:
    """Return where dbt installs the packages of the project in a folder."""
    settings = yaml.safe_load((folder / "dbt_project.yml").read_text(encoding="utf-8")) or {}
    return folder / str(settings.get("packages-install-path", "dbt_packages"))


def models_folder() -> Path:
    """Return where the project's models lie: the first of `model-paths`, if it names some."""
    settings = yaml.safe_load((root() / "dbt_project.yml").read_text(encoding="utf-8")) or {}
    paths = settings.get("model-paths")
    return root() / (paths[0] if isinstance(paths, list) and paths else "models")


def schema() -> str:
    """Return the schema that the profiles use."""
    return os.environ.get("SPARK_CDC_SCHEMA", "cdc")


def dbt_arguments(*arguments: str) -> list[str]:
    """Return what follows `dbt` on its command line, for this project."""
    folder = root()
    words = [*arguments, "--project-dir", str(folder)]
    given = os.environ.get("DBT_PROFILES_DIR")
    places = [folder / given] if given else [folder / "profiles", folder]
    profiles = [place for place in places if given or (place / "profiles.yml").is_file()]
    if profiles:
        words += ["--profiles-dir", str(profiles[0])]
    if log := os.environ.get("DBT_LOG_PATH"):
        words += ["--log-path", str(folder / log)]
    return words


def dbt_command(*arguments: str) -> list[str]:
    """Return the command line of dbt in this Python's environment, for this project."""
    script = Path(sys.executable).with_name("dbt")
    module = [sys.executable, "-W", "ignore", "-m", "dbt.cli.main"]
    return [*([str(script)] if script.exists() else module), *dbt_arguments(*arguments)]


def dbt_environment(port: int | None = None, target: str | None = None) -> dict[str, str]:
    """Return the environment for dbt.

    port: of the server to use; without it SPARK_CDC_PORT counts, then the server that runs here.
    """
    environment: dict[str, str] = dict(os.environ)
    environment.setdefault("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
    if port is not None:
        environment["SPARK_CDC_PORT"] = str(port)
    elif "SPARK_CDC_PORT" not in environment and target in (None, "local"):
        running = local_server.port(state_dir())
        if running is not None:
            environment["SPARK_CDC_PORT"] = str(running)
    return environment


def variables(values: Mapping[str, object]) -> str:
    """Return dbt's --vars for texts and lists."""
    return json.dumps(dict(values))
