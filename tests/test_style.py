"""The house style: Ruff for Python, SQLFluff for the SQL that the project sends (`make lint`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import rendered_sql

ROOT = Path(__file__).resolve().parents[1]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a tool of this Python's environment in the project."""
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("words", [("check",), ("format", "--check")], ids=lambda words: words[0])
def test_python_is_ruff_clean(words: tuple[str, ...]) -> None:
    done = run("ruff", *words, ".")
    assert done.returncode == 0, done.stdout + done.stderr


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Lint a folder as `make lint` does."""
    return run("sqlfluff", "lint", "--config", ".sqlfluff", "--disable-progress-bar", str(folder))


def test_sql_is_sqlfluff_clean(tmp_path: Path) -> None:
    rendered_sql.write(tmp_path)
    assert len(list(tmp_path.rglob("*.sql"))) > 80
    done = lint(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_sqlfluff_finds_what_breaks_the_style(tmp_path: Path) -> None:
    wrong = {
        "CP01": "SELECT a from b",
        "LT02": "select\n  a,\n  c\nfrom b",
        "LT04": "select\n    a\n    , c\nfrom b",
        "AL01": "select c.a from b c",
        "PRS": "select a form b where",
    }
    for rule, sql in wrong.items():
        (tmp_path / f"{rule}.sql").write_text(sql + "\n", encoding="utf-8")
    done = lint(tmp_path)
    assert done.returncode == 1
    for part in done.stdout.split("== [")[1:]:
        rule = Path(part.partition("]")[0]).stem
        assert f" {rule} |" in part, part
        del wrong[rule]
    assert not wrong
