"""Which suite has which test: a marker beside it decides, and each capability is in `make test`."""

from __future__ import annotations

import ast
import datetime
import re
from pathlib import Path

import pytest

import capabilities
import parts
import scale

pytestmark = pytest.mark.proves("house")

ROOT = Path(__file__).resolve().parents[1]
MARKER = re.compile(r"pytest\.mark\.(\w+)")
PROVES = re.compile(r"pytest\.mark\.proves\(['\"]([^'\"]*)['\"]\)")


def declared() -> list[tuple[str, list[str], set[str]]]:
    """Name, capabilities and markers of each test function, as they stand beside it."""
    found = []
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        of_file = "".join(
            ast.unparse(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
        )
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                # a parameter's marker is that parameter's
                own = "".join(
                    f"@{ast.unparse(one)}\n"
                    for one in node.decorator_list
                    if not ast.unparse(one).startswith("pytest.mark.parametrize")
                )
                told = PROVES.findall(own) or PROVES.findall(of_file)
                markers = set(MARKER.findall(own + of_file))
                found.append((f"{path.name}::{node.name}", told, markers))
    return found


def test_every_test_names_one_capability() -> None:
    wrong = [
        f"{name} proves {told}"
        for name, told, _ in declared()
        if len(told) != 1 or told[0] not in capabilities.PROVED
    ]
    assert wrong == [], 'pytestmark = pytest.mark.proves("…"), of tests/capabilities.py'


def test_make_test_has_every_capability() -> None:
    quick = {told[0] for _, told, markers in declared() if scale.suite_of(markers) == "test"}
    # what other tests stand on is proved before a change lands, not before each commit
    assert set(capabilities.PROVED) - quick == {"harness"}


@pytest.mark.parametrize(
    ("markers", "suite"),
    [
        (set(), "test"),
        ({"proves", "parametrize"}, "test"),
        ({"integration", "proves"}, "integration"),
        ({"integration", "full"}, "full"),
        ({"browser", "full"}, "browser"),
        ({"cluster"}, "cluster"),
        ({"catalogues", "full"}, "catalogues"),
    ],
)
def test_the_suite_of_markers(markers: set[str], suite: str) -> None:
    assert scale.suite_of(markers) == suite


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        ("test", {"test"}),
        ("integration", {"test", "integration"}),
        ("all", {"test", "integration", "full", "browser"}),
    ],
)
def test_what_a_run_has(monkeypatch: pytest.MonkeyPatch, chosen: str, wanted: set[str]) -> None:
    monkeypatch.setattr(scale, "SUITE", chosen)
    monkeypatch.setattr(scale, "ALL", chosen == "all")
    monkeypatch.setattr(scale, "BROWSER", chosen == "all")
    monkeypatch.setattr(scale, "CLUSTER", False)
    monkeypatch.setattr(scale, "CATALOGUES", [])
    names = ("test", "integration", "full", "browser", "cluster", "catalogues")
    assert {name for name in names if scale.is_wanted({name} - {"test"})} == wanted


def test_the_docs_list_the_suites() -> None:
    page = (ROOT / "docs" / "testing.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    rows = re.findall(r"^\| `make ([a-z0-9-]+)` \|", page, flags=re.MULTILINE)
    suites = re.findall(r"^(\S+): SUITE = (\w+)", makefile, flags=re.MULTILINE)
    assert [target for target, _ in suites] == rows[: len(suites)]
    assert tuple(suite for _, suite in suites) == scale.SUITES
    assert all(f"\n{target}:" in makefile for target in rows)


def test_parts_hold_each_file_once() -> None:
    files = [f"test_{number}" for number in range(11)]
    for count in (1, 2, 3, 4, 12):
        found = [parts.files_of(f"{number}/{count}", files) for number in range(1, count + 1)]
        assert sorted(name for part in found for name in part) == sorted(files)
        sizes = [len(part) for part in found]
        assert max(sizes) - min(sizes) <= 1
    for wrong in ("0/4", "5/4", "2", "a/b", "2/4/4"):
        with pytest.raises(ValueError, match="such as 2/4"):
            parts.numbers(wrong)


def test_a_part_that_passed_is_noted(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Tests\n\n{parts.HEAD}\nBehind it.\n")
    parts.record("all", "2/4", 600, page)
    parts.record("all", "1/4", 1200, page)
    parts.record("all", "2/4", 660, page)
    parts.record("test", "1/2", 60, page)
    text = page.read_text()
    assert text.startswith("# Tests") and text.endswith("\n\nBehind it.\n")
    rows = [line for line in text.splitlines() if line.startswith("| `make")]
    assert [row.split(" | ")[0] for row in rows] == [
        "| `make test PART=1/2`",
        "| `make test-all PART=1/4`",
        "| `make test-all PART=2/4`",
    ]
    assert rows[2].endswith(f" | {datetime.date.today()} | 11 |")


def test_a_summary_names_what_failed() -> None:
    lines = capabilities.summary(
        [
            ("replay", "passed", 0, 2.0),
            ("replay", "passed", 3, 1.0),
            ("undo", "passed", 1, 1.0),
            ("undo", "failed", 1, 1.0),
            ("views", "skipped", 0, 1.0),
        ]
    )
    assert [line.split()[:4] for line in lines] == [
        ["replay", "3", "cases", "3"],
        ["undo", "1", "cases", "2"],
    ]
    assert "1 FAILED" in lines[1]
