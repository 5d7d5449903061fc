"""Put the dbt package into the wheel as `spark_cdc/dbt_package`, and write its description.

All else is in pyproject.toml.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

# What a project, the demo and coding agents need of the repository.
PARTS = (
    *("dbt_project.yml", "packages.yml", "LICENSE", "README.md", "SKILL.md", "llms.txt"),
    *("macros", "models", "seeds", "snapshots", "tests/generic", "profiles", "packages"),
    *("examples", "site/dbt", "docs", "requirements/constraints.txt"),
)


def description() -> str:
    """Return the README for a registry's page, which has none of the files that it names.

    Pictures become their captions, links to files the text of the link; the pages are in the wheel.
    """
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r"!\[([^]]+)\]\((?!https?:)[^)]+\)", r"*(Picture: \1.)*", text)
    text = re.sub(r"(?<!!)\[([^]]+)\]\((?!https?:|#)[^)]+\)", r"\1", text)
    where = "python -c 'from spark_cdc import project; print(project.package())'"
    return f"{text}\nThe package holds the pages that this text names.\n\n    {where}\n"


class BuildWithPackage(build_py):
    """Copies the parts beside the modules, and names them for source distributions."""

    def _parts(self) -> list[str]:
        files = [
            path
            for part in PARTS
            for path in ([Path(part)] if Path(part).is_file() else sorted(Path(part).rglob("*")))
        ]
        return [str(path) for path in files if path.is_file()]

    def get_source_files(self) -> list[str]:
        return [*super().get_source_files(), *self._parts()]

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for part in self._parts():
            target = Path(self.build_lib, "spark_cdc", "dbt_package", part)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(part, target)


setup(
    cmdclass={"build_py": BuildWithPackage},
    long_description=description(),
    long_description_content_type="text/markdown",
)
