"""Modules of the command line depend on each other in one direction."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.proves("house")

SOURCE = Path(__file__).parents[1] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (SOURCE / "spark_cdc").rglob("*.py")
}


def imported(node: ast.AST) -> set[str]:
    """The project's own modules that a statement imports."""
    names: set[str] = set()
    if isinstance(node, ast.Import):
        names = {alias.name for alias in node.names}
    elif isinstance(node, ast.ImportFrom):
        names = {f"{node.module}.{alias.name}" for alias in node.names}
        names |= {str(node.module)} if not names <= MODULES.keys() else set()
    return names & MODULES.keys()


def test_no_module_imports_itself_by_way_of_others() -> None:
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
    graph = {
        name: set().union(*(imported(node) for node in ast.walk(tree)))
        for name, tree in trees.items()
    }
    TopologicalSorter(graph).prepare()  # names the cycle if there is one


def test_no_import_hides_in_a_function() -> None:
    """An import of one's own at the top is either possible, or would close a circle."""
    hidden = [
        f"{name}:{node.lineno}"
        for name, path in MODULES.items()
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if imported(node)
    ]
    assert hidden == []
