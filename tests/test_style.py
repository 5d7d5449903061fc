"""SQLFluff, which `make lint` runs over what the project sends, finds what is not in style."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.proves("house"), pytest.mark.integration]

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.full
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
    words = ["sqlfluff", "lint", "--config", ".sqlfluff", "--disable-progress-bar", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 1
    for part in done.stdout.split("== [")[1:]:
        rule = Path(part.partition("]")[0]).stem
        assert f" {rule} |" in part, part
        del wrong[rule]
    assert not wrong
