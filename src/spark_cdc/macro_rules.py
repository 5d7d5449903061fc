"""What the macros accept: they are read without dbt, for checks before it is started."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

from spark_cdc import compiled, jinja_bridge, project
from spark_cdc.errors import SparkCdcError

# Folders of the macros that know what is accepted.
RULES = ("utils", "hash", "context", "formats")


def rules() -> tuple[jinja_bridge.Macros, list[str]]:
    """Return the macros that know what is accepted, and the formats of change events they read.

    Formats for which the project has a macro of its own are among them.
    """
    place = jinja_bridge.folder()
    return _loaded(place, tuple(_own_formats(place)))


@functools.cache
def _loaded(
    place: Path, own_files: tuple[tuple[Path, str], ...]
) -> tuple[jinja_bridge.Macros, list[str]]:
    context: dict[str, Any] = {}
    folders = [place / name for name in RULES]
    # a load asks the server for the secret of sensitive columns
    with compiled.kept():
        package = jinja_bridge.load_macros(folders, context=context, _secret=lambda: None)
        try:
            own = jinja_bridge.load_macros([path for path, _ in own_files], spark_cdc=package)
        except (jinja2.TemplateError, ValueError) as error:
            raise SparkCdcError(
                f"The project's own macros of change events can't be read: {error}",
                "Correct them.",
            ) from error
    context |= {jinja_bridge.PACKAGE: package, **{name: own[name] for name in own}}
    formats = [name.removeprefix("events_") for name in own if name.startswith("events_")]
    parts = re.compile(r".*_(columns|format|settings|problems)")
    return package, package._event_formats() + sorted(n for n in formats if not parts.fullmatch(n))


def _own_formats(place: Path) -> Iterator[tuple[Path, str]]:
    """The files of the project with macros of formats of its own, and what stands in them."""
    if not project.is_here() or place.is_relative_to(project.root() / "macros"):
        return
    for path in sorted((project.root() / "macros").rglob("*.sql")):
        text = path.read_text(encoding="utf-8")
        if re.search(r"macro\s+events_\w+\s*\(", text):
            yield path, text
