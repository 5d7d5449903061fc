"""Install the packages of packages.yml, also where the hub can't be reached.

A project of `spark-cdc init` names LINK as a package: a link to the dbt package of this command
line, so that both have one version. The one package from the hub is dbt_utils. Where the hub does
not answer, a stand-in with just what this project uses is copied in its place; it gives way to the
real one as soon as the hub answers.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from pathlib import Path

import yaml

from spark_cdc import console, project
from spark_cdc.errors import SparkCdcError

HUB = "https://hub.getdbt.com/"
LINK = ".spark_cdc/package"
MARKER = ".spark_cdc_stand_in"
PROBE_SECONDS = 5
INSTALL_SECONDS = 180


def hub_answers(seconds: float = PROBE_SECONDS) -> bool:
    """Say whether the package hub knows dbt_utils, within so many seconds."""
    import requests

    url = os.environ.get("DBT_PACKAGE_HUB_URL", HUB).rstrip("/") + "/api/v1/dbt-labs/dbt_utils.json"
    answer: list[bool] = []

    def ask() -> None:
        with contextlib.suppress(Exception):
            answer.append(requests.get(url, timeout=seconds).ok)

    # In a thread, because the time limit of the library leaves out the look-up of the name.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    return bool(answer and answer[0])


def _requirements(root: Path) -> list[dict[str, str]]:
    for name in ("packages.yml", "dependencies.yml"):
        path = root / name
        if path.is_file():
            content = yaml.safe_load(path.read_text()) or {}
            return list(content.get("packages") or [])
    return []


def _stand_in(root: Path, folder: Path) -> Path:
    """Return the folder of the stand-in: in this project, or in spark_cdc as its dbt package."""
    for place in (root, folder / "spark_cdc", project.package()):
        if (place / "packages" / "dbt_utils" / "dbt_project.yml").is_file():
            return place / "packages" / "dbt_utils"
    raise SparkCdcError("The stand-in packages/dbt_utils is missing.", "git checkout -- packages")


def _same(one: Path, other: Path) -> bool:
    def content(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and path.name != MARKER
        }

    return content(one) == content(other)


def _is_own(target: Path) -> bool:
    """Say whether the user has put a package here: a link, or a folder that is no stand-in.

    A link to nothing is removed.
    """
    if target.is_symlink() and not target.exists():
        target.unlink()
    return (target / "dbt_project.yml").is_file() and not (target / MARKER).exists()


def _lead_to_package(root: Path) -> None:
    """Let LINK lead to the dbt package of this command line, if packages.yml names it."""
    link = root / LINK
    if any(entry.get("local") == LINK for entry in _requirements(root)):
        link.parent.mkdir(mode=0o700, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(project.package(), target_is_directory=True)


def _link(given: Path, folder: Path) -> list[str]:
    """Link a `local:` package if it is not there; return a note on that."""
    source = given.absolute()
    if not (source / "dbt_project.yml").is_file():
        raise SparkCdcError(
            f"packages.yml, local: '{given}' is not a dbt project. Accepted is the path of one."
        )
    name = yaml.safe_load((source / "dbt_project.yml").read_text())["name"]
    target = folder / name
    if (target / MARKER).exists():
        shutil.rmtree(target)
    if _is_own(target):
        return []
    if target.exists():
        raise SparkCdcError(
            f"'{target}' exists and is not a dbt package.", f"mv {target} {target}.before"
        )
    folder.mkdir(exist_ok=True)
    target.symlink_to(source, target_is_directory=True)
    return [f"{name}: linked to {source}"]


def _install_without_hub(root: Path, folder: Path) -> list[str]:
    """Install what can be had without the hub; return notes on what was done."""
    notes, missing = [], []
    for entry in _requirements(root):
        if "local" in entry:
            notes += _link(root / entry["local"], folder)
        elif entry.get("package") != "dbt-labs/dbt_utils":
            missing.append(str(entry.get("package") or entry.get("git") or entry))
    if missing:
        raise SparkCdcError(
            f"The package hub can't be reached; {', '.join(map(repr, missing))} has no stand-in."
            " Set HTTPS_PROXY or DBT_PACKAGE_HUB_URL, or use `local:` packages.",
            "spark-cdc deps",
        )
    target = folder / "dbt_utils"
    if _is_own(target):
        return notes
    source = _stand_in(root, folder)
    if not (target / MARKER).exists() or not _same(source, target):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        (target / MARKER).touch()
    notes.append(
        "dbt_utils: the package hub can't be reached, so a stand-in is installed. When the hub"
        " answers, spark-cdc deps installs the package."
    )
    return notes


def install(if_needed: bool = False) -> list[str]:
    """Install the dbt packages and return notes on what was done.

    if_needed: do nothing if every package is there, be it the stand-in (if it is up to date).

    Raises SparkCdcError if dbt deps fails for another reason than the hub's silence.
    """
    root = project.root()
    folder = project.packages_folder(root)
    present = folder / "dbt_utils"
    _lead_to_package(root)
    is_stand_in = (present / MARKER).exists()
    if if_needed and (present / "dbt_project.yml").is_file():
        if not is_stand_in or _same(_stand_in(root, folder), present):
            return []
        return _install_without_hub(root, folder)
    if hub_answers():
        if is_stand_in:
            shutil.rmtree(present)
        try:
            console.run(
                "Install dbt packages",
                project.dbt_command("deps"),
                log=project.state_dir() / "deps.log",
                cwd=root,
                env=project.dbt_environment(),
                timeout=INSTALL_SECONDS,
            )
            return []
        except SparkCdcError as error:
            if hub_answers():
                raise
            print(error.message)
    elif (present / "dbt_project.yml").is_file() and not is_stand_in:
        return ["dbt_utils: the package hub can't be reached; the installed version stays."]
    return _install_without_hub(root, folder)
