"""Put the dbt package into the wheel as `spark_cdc/dbt_package`; all else is in pyproject.toml."""

from __future__ import annotations

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


setup(cmdclass={"build_py": BuildWithPackage})
