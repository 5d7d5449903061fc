"""The entities of a project as its files name them: known before dbt is started."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from spark_cdc import project
from spark_cdc.errors import SparkCdcError

LEDGER = "_ledger"


def close(word: str, known: Collection[str]) -> str | None:
    """Return the known word that a mistyped one is closest to, if one is close."""
    found = difflib.get_close_matches(word, known, 1, 0.65)
    return found[0] if found else None


def entities() -> list[str]:
    """Return the entities that the project and its packages declare.

    None outside of a project, and where Jinja says in which folders the models lie.
    """
    return _entities_below(_model_folders())


def anywhere() -> list[str]:
    """Return the entities below the project's models/, also where Jinja names its folders."""
    with contextlib.suppress(SparkCdcError, OSError):
        return _entities_below([project.root() / "models"])
    return []


def settings(entity: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give files in which the YAML of an entity has settings, with these as they are written."""
    for folder in _model_folders():
        for path in [*folder.rglob("*.yml"), *folder.rglob("*.yaml")]:
            text = path.read_text("utf-8", errors="replace")
            if f"stg_{entity}" not in text:
                continue
            with contextlib.suppress(yaml.YAMLError, AttributeError, TypeError, KeyError):
                models: list[dict[str, Any]] = yaml.safe_load(text)["models"]
                for model in models:
                    config: dict[str, Any] = model.get("config") or {}
                    found = (model.get("meta") or config.get("meta") or {}).get("spark_cdc")
                    if model.get("name") == f"stg_{entity}" and isinstance(found, dict):
                        yield path.relative_to(folder.parent), found


def words() -> set[str]:
    """Return the plain words that dbt selects by: models, folders and projects."""
    paths = [path for folder in _model_folders() for path in folder.rglob("*")]
    with contextlib.suppress(SparkCdcError, OSError):  # Jinja may name the folders of a package
        paths += project.packages_folder(project.root()).glob("*/models/**/*")
    found = {path.name if path.is_dir() else path.stem for path in paths}
    return found | {name for _, name, _ in _projects()}


def example() -> str:
    """Return the name of an entity for an example."""
    found = entities()
    return found[0] if found else "orders"


def _entities_below(folders: Iterable[Path]) -> list[str]:
    found = {path.stem for folder in folders for path in folder.rglob(f"*{LEDGER}.sql")}
    return sorted(name.removesuffix(LEDGER) for name in found)


def _model_folders() -> Iterator[Path]:
    for root, _, paths in _projects():
        for path in paths:
            folder = (root / path).resolve()
            if folder.is_dir() and folder.is_relative_to(root.resolve()):
                yield folder


def _projects() -> Iterator[tuple[Path, str, list[str]]]:
    """Give the project and its packages: folder, name, and the paths of its models."""
    with contextlib.suppress(SparkCdcError, OSError, yaml.YAMLError):
        root = project.root()
        packages = project.packages_folder(root)
        folders = sorted(packages.iterdir()) if packages.is_dir() else []
        for folder in [root, *folders]:
            file = folder / "dbt_project.yml"
            found = yaml.safe_load(file.read_text("utf-8")) if file.is_file() else None
            settings: dict[str, Any] = found if isinstance(found, dict) else {}
            paths = settings.get("model-paths", ["models"]) if settings else None
            if isinstance(paths, list):
                yield folder, str(settings.get("name", "")), [str(path) for path in paths]
            elif folder == root:
                return  # Jinja says where its models lie
