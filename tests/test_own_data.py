"""The commands of docs/own_data.md, taken from the page, do what it shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import SERVER
from spark_cdc.server import local as local_server

pytestmark = [pytest.mark.proves("examples"), pytest.mark.integration]

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "own_data.md").read_text("utf-8")
# What gets the project, its packages and the server, which the test has already.
GIVEN = {
    "Clone and start a server": [
        "git clone <URL of this repository> spark_cdc",
        "cd spark_cdc",
        "make server",
    ],
    "The same in a dbt project of your own": [
        "python3 -m venv .venv && . .venv/bin/activate",
        "pip install -e '../spark_cdc[dbt]'",
    ],
}
LEFT_OUT = (".git", ".venv", ".spark_cdc", "dbt_packages", "target", "logs", "docs", "tests")


def block(section: str, language: str) -> str:
    """The block of code of a section."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return str(found)


def commands(section: str) -> str:
    """The commands of a section, without those that are given."""
    lines = block(section, "sh").splitlines()
    given = GIVEN.get(section, [])
    assert [line for line in lines if line in given] == given
    return "\n".join(line for line in lines if line not in given)


def pattern(shown: str) -> str:
    """A shown line as a regular expression; an ellipsis stands for anything."""
    return ".*".join(re.escape(part) for part in shown.split("…"))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int]]:
    """A clone without docs and tests, and the port of a server that works in its folder."""
    place = tmp_path_factory.mktemp("own_data") / "spark_cdc"
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*LEFT_OUT, "__pycache__"))
    shutil.copytree(ROOT / "packages" / "dbt_utils", place / "dbt_packages" / "dbt_utils")
    (place / ".venv").symlink_to(sys.prefix)
    state = place / ".spark_cdc"
    with pytest.MonkeyPatch.context() as environment:
        environment.chdir(place)
        chosen = local_server.settings(state, port="0", memory="2g", conf=SERVER, timeout="600")
        try:
            yield place, local_server.start(chosen).port
        finally:
            local_server.stop(state)


def type_in(section: str, folder: Path, port: int) -> str:
    """Run the commands of a section in a shell, and return what they print."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("SPARK_CDC_")}
    environment = {"SPARK_CDC_PORT": str(port), "DBT_PROFILES_DIR": "profiles", "NO_COLOR": "1"}
    path = f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", commands(section)],
        cwd=folder,
        env={**kept, **environment, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


@pytest.mark.full
def test_the_page_prints_what_its_commands_print(clone: tuple[Path, int]) -> None:
    """In the page's order, for each section goes on from the one before."""
    assert commands("Clone and start a server") == ""
    for section in re.findall(r"^## (.+)$", PAGE, flags=re.MULTILINE)[1:-1]:
        printed = type_in(section, *clone)
        for shown in block(section, "text").splitlines():
            assert re.search(f"^{pattern(shown)}$", printed, flags=re.MULTILINE), (shown, printed)


def test_the_readme_has_the_same_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    part = readme.partition("## Your own data in four commands")[2].partition("## Install")[0]
    typed = [re.sub(r" +#.*", "", line).strip() for line in part.splitlines() if line[:4] == "    "]
    assert len(typed) == 5
    assert [line for line in block("Load a file", "sh").splitlines() if line in typed] == typed
    install = readme.partition("## Install it as a dbt package")[2]
    for line in block("The same in a dbt project of your own", "sh").splitlines():
        if line.startswith(("pip", "spark-cdc deps", "spark-cdc new")):
            assert line in install
