"""The first page of dbt docs in a project that has none of its own.

It is a file of the project: a block of the package would take the place of the project's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from spark_cdc import project

FILE = "overview.md"
_BLOCK = "docs __overview__"
_DEFAULTS = {
    "model": "models",
    "seed": "seeds",
    "snapshot": "snapshots",
    "analysis": "analyses",
    "macro": "macros",
    "test": "tests",
}


def is_missing() -> bool:
    """Whether the project has no `__overview__`, as far as its folders are named plainly."""
    if not project.is_here():
        return False
    root = project.root()
    settings: dict[str, object] = (
        yaml.safe_load((root / "dbt_project.yml").read_text("utf-8")) or {}
    )
    named = [settings.get("docs-paths")] if "docs-paths" in settings else _folders(settings)
    folders = [one for one in named if isinstance(one, list)]
    if len(folders) < len(named):
        return False
    if (project.models_folder() / FILE).exists():
        return False
    pages = (page for paths in folders for path in paths for page in (root / path).rglob("*.md"))
    return not any(_BLOCK in page.read_text("utf-8", errors="replace") for page in pages)


def _folders(settings: Mapping[str, object]) -> list[object]:
    """Where dbt looks for docs blocks by default."""
    return [settings.get(f"{kind}-paths", [folder]) for kind, folder in _DEFAULTS.items()]


def write(text: str) -> Path:
    """Write the page beside the models, and return where it lies."""
    page = project.models_folder() / FILE
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
    return page
