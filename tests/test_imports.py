"""Modules of the command line depend on each other in one direction, and the core on no part."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from spark_cdc import cli, parts

pytestmark = pytest.mark.proves("house")

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (SOURCE / "spark_cdc").rglob("*.py")
}
# The parts beside the core, each with the parts that it may use.
PARTS: dict[str, set[str]] = {
    "bootstrap": {"server"},
    "notify": set(),
    "report": set(),
    "scaffold": {"server"},
    "server": set(),
    "stream": {"server"},
    "synthetic": {"bootstrap", "report", "server"},
}
CORE = [name for name, module in cli.COMMANDS.items() if module.startswith("commands.")]


def imported(node: ast.AST) -> set[str]:
    """The project's own modules that a statement imports."""
    names: set[str] = set()
    if isinstance(node, ast.Import):
        names = {alias.name for alias in node.names}
    elif isinstance(node, ast.ImportFrom):
        names = {f"{node.module}.{alias.name}" for alias in node.names}
        names |= {str(node.module)} if not names <= MODULES.keys() else set()
    return names & MODULES.keys()


TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
GRAPH = {
    name: set().union(*(imported(node) for node in ast.walk(tree))) for name, tree in TREES.items()
}


def part_of(module: str) -> str:
    """The folder of a module below spark_cdc: a part, commands, or nothing."""
    words = module.split(".")
    is_folder = len(words) > 2 or MODULES[module].name == "__init__.py"
    return words[1] if is_folder and len(words) > 1 else ""


def test_no_module_imports_itself_by_way_of_others() -> None:
    TopologicalSorter(GRAPH).prepare()  # names the cycle if there is one


def test_no_import_hides_in_a_function() -> None:
    """An import of one's own at the top is either possible, or would close a circle."""
    hidden = [
        f"{name}:{node.lineno}"
        for name, tree in TREES.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if imported(node)
    ]
    assert hidden == []


# ---------------------------------------------------------------- the core and the parts


def test_each_folder_is_a_part_or_the_commands_of_the_core() -> None:
    assert {part_of(name) for name in MODULES} == {*PARTS, "commands", ""}


def test_the_core_imports_no_part_and_parts_only_those_that_they_need() -> None:
    wrong = [
        f"{name} imports {other}"
        for name, others in GRAPH.items()
        for other in sorted(others)
        if part_of(other) in PARTS.keys() - {part_of(name)} - PARTS.get(part_of(name), set())
    ]
    assert wrong == []
    used = {
        part: {part_of(other) for name in GRAPH if part_of(name) == part for other in GRAPH[name]}
        for part in PARTS
    }
    assert {part: used[part] & PARTS.keys() - {part} for part in PARTS} == PARTS


def test_no_command_imports_another() -> None:
    """What two commands share lies below both; parts need no command of the core."""
    commands = {f"spark_cdc.{module}" for module in cli.COMMANDS.values()}
    assert commands >= {name for name in MODULES if name.startswith("spark_cdc.commands.")}
    assert {name: others & commands for name, others in GRAPH.items() if others & commands} == {}


def test_commands_are_found_in_the_modules_that_add_them() -> None:
    """The table of commands names one module each, and no module has one more."""
    for module in {*cli.COMMANDS.values()}:
        found = cli.parser([next(name for name, at in cli.COMMANDS.items() if at == module)])
        [added] = [one for one in found._actions if getattr(one, "choices", None)]
        assert {*added.choices} == {name for name, at in cli.COMMANDS.items() if at == module}


BLOCKED = """
import json, sys
sys.path.insert(0, {source!r})
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {libraries!r} or name in {parts!r}:
            raise ModuleNotFoundError(f"{{name}} is blocked", name=name)
sys.meta_path.insert(0, Blocked())
import socket
def ask(*_):
    raise AssertionError("a port is asked")
socket.socket.connect = socket.socket.connect_ex = socket.socket.bind = ask
from spark_cdc import cli, project
for words in {lines!r}:
    cli.parser(words).parse_args(words)
project.dbt_environment()
print(json.dumps([name for name in sys.modules if name.startswith("spark_cdc")]))
"""


def test_the_core_starts_without_parts_and_what_they_need(tmp_path: Path) -> None:
    """As a scheduler starts it: no psutil, no PySpark, no part, and no port is asked."""
    needed = {name for extra in parts.EXTRAS for name in parts.EXTRAS[extra]}
    lines = [
        *(["load"], ["load", "2024-03-01", "orders", "--notify-on", "loads"], ["status"]),
        *(["undo", "orders"], ["redo", "orders"], ["replay", "--from", "2024-03-01", "orders"]),
        *(["diff", "orders"], ["files", "orders"], ["verify"], ["vacuum"], ["compact"], ["deps"]),
        *(["maintain"], ["tag", "list"], ["branch", "list"], ["secrets", "init"]),
    ]
    assert {line[0] for line in lines} == {*CORE} - {"acknowledge", "erase", "import"}
    (tmp_path / "dbt_project.yml").write_text("name: mine\n")
    state = tmp_path / ".spark_cdc"
    state.mkdir()
    server = {"pid": os.getpid(), "start_time": None, "port": 10999}
    (state / "server.json").write_text(json.dumps(server))
    code = BLOCKED.format(
        source=str(SOURCE),
        libraries=sorted(needed),
        parts=[f"spark_cdc.{part}" for part in PARTS],
        lines=lines,
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if not k.startswith("SPARK_CDC")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert {part_of(name) for name in json.loads(done.stdout)} == {"", "commands"}


@pytest.mark.parametrize(
    ("words", "extra", "module"),
    [
        (["server", "start"], "server", "psutil"),
        (["server", "start"], "server", "pyspark"),
        (["server", "stop"], "server", "psutil"),
        (["server", "status"], "server", "psutil"),
        (["server", "logs"], "server", "psutil"),
        (["stream", "--once"], "stream", "pyspark"),
        (["report"], "report", "vl_convert"),
        (["generate", "--rows", "1"], "synthetic", "pyspark"),
        (["new", "x", "--from-file", "x.parquet"], "scaffold", "pyspark"),
        (["demo"], "server", "psutil"),
        (["demo"], "report", "vl_convert"),
        (["load", "--openlineage"], "openlineage", "openlineage"),
    ],
)
def test_a_command_names_the_extra_that_it_lacks(
    words: list[str],
    extra: str,
    module: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the exit code of a wrong set-up, before anything is begun."""
    (tmp_path / "dbt_project.yml").write_text("name: mine\n")
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPARK_CDC_STATE_DIR", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert f"pip install 'spark-cdc[{extra}]'\n" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dbt_project.yml", "x.parquet"]


def test_extras_are_those_of_the_distribution() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    table = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    assert {*re.findall(r"^(\w+) = \[", table, re.M)} == {*parts.EXTRAS}
    for extra, modules in parts.EXTRAS.items():
        for module in modules:
            assert importlib.util.find_spec(module), (extra, module)
