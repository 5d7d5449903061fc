"""A ledger that a release has written goes on with the working tree."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from project import ROOT, Project

pytestmark = [pytest.mark.proves("house"), pytest.mark.full]

KEY = {"data_type": "int", "role": "key"}
DBT = Path(sys.executable).with_name("dbt")
VIEWS = ("current", "history", "versions", "changes")


@dataclass(frozen=True)
class Release:
    """What was published under a tag, or the last commit while nothing is."""

    name: str
    folder: Path


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def newest_release() -> str:
    """The newest tag of a release, by its version; nothing if there is none."""
    tags = git("tag", "--list", "v[0-9]*", "--sort=-version:refname").splitlines()
    return next((tag for tag in tags if "-" not in tag), "")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    name = newest_release() or "HEAD"
    folder = tmp_path_factory.mktemp("release")
    packed = subprocess.run(
        ["git", "archive", name], cwd=ROOT, capture_output=True, check=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
    return Release(name, folder)


def test_a_release_is_the_newest_tag_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    git("init", "--quiet")
    git(*who, "commit", "--quiet", "--allow-empty", "-m", "x")
    assert newest_release() == ""
    for tag in ("v1.9.0", "v1.10.0", "v2.0.0-rc1", "venerable"):
        git("tag", tag)
    assert newest_release() == "v1.10.0"


def test_a_ledger_of_a_release_goes_on(
    release: Release, project: Project, say: Callable[[str], None]
) -> None:
    """Its package loads in a process of its own; this one reads, loads, undoes and compacts."""
    say(f"upgrade: loads are written by {release.name}, and go on with the working tree\n")
    project.entity("bills", {"id": KEY, "name": "string", "paid": "decimal(10,2)"})
    project.entity("moves", {"id": KEY, "name": "string"}, load_type="delta")
    for name in ("bills", "moves"):
        model = project.folder / "models" / name / f"{name}_changes.sql"
        model.write_text("{{ spark_cdc.changes() }}", "utf-8")
    rows = {
        "2024-01-01": ("1,a,1.00", "2,b,2.00", "3,c,3.00"),
        "2024-01-02": ("1,a,1.00", "2,b,2.50", "4,d,4.00"),
        "2024-01-03": ("1,x,1.00", "4,d,4.00"),
        "2024-01-04": ("1,x,1.00", "2,again,2.00", "4,d,4.00"),
    }
    for date, lines in rows.items():
        project.land("bills", date, "id,name,paid", *lines)
        project.land("moves", date, "id,name", f"1,{date}", f"{date[-1]}0,new")

    def by_release(*words: str) -> str:
        """Runs dbt with the release as the package."""
        link = project.folder / "dbt_packages" / "spark_cdc"
        link.unlink()
        link.symlink_to(release.folder)
        try:
            done = subprocess.run(
                [DBT, *words, "--target-path", "target_release", "--profiles-dir", "."],
                cwd=project.folder,
                env={**os.environ, "PYTHONPATH": str(release.folder / "src")},
                capture_output=True,
                text=True,
                timeout=900,
            )
        finally:
            link.unlink()
            link.symlink_to(ROOT)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def shown() -> dict[str, list[tuple[Any, ...]]]:
        """All rows of all views, without the columns that tell when they were written."""
        return {
            f"{name}_{view}": project.rows(f"{name}_{view}", columns(project, f"{name}_{view}"))
            for name in ("bills", "moves")
            for view in VIEWS
        }

    dates = list(rows)
    for date in dates[:3]:
        by_release("run", "--vars", yaml.safe_dump({"business_date": date}))
    written = shown()
    loads = project.timeline("bills")["loads"]
    assert len(loads) == 3

    # read: the views of the working tree show what those of the release did
    views_alone = ["--select", *(f"{name}_{view}" for name in ("bills", "moves") for view in VIEWS)]
    assert project.dbt("run", *views_alone).success
    assert shown() == written
    assert project.timeline("bills")["loads"] == loads
    # the same date again takes the place of the release's load and changes nothing
    project.load(dates[2], "bills", "moves")
    assert shown() == written
    # load
    project.load(dates[3], "bills", "moves")
    assert [row[0] for row in project.rows("bills_current", "id")] == [1, 2, 4]
    tested = project.dbt("test", "--select", "path:models")
    assert tested.success, tested.output
    loaded = shown()
    # undo, back into what the release has written, and forth again
    undone = project.operate("undo", entities=["bills", "moves"], to=dates[1])
    assert undone.success, undone.output
    assert [row[0] for row in project.rows("bills_current", "id")] == [1, 2, 4]
    assert project.rows("bills_current", "name") == [("a",), ("b",), ("d",)]
    redone = project.operate("redo", entities=["bills", "moves"])
    assert redone.success, redone.output
    # compact
    compacted = project.operate("compact", older_than_days=0, execute=True)
    assert compacted.success, compacted.output
    assert len(project.timeline("bills")["loads"]) == 3
    assert {k: v for k, v in shown().items() if "changes" not in k} == {
        k: v for k, v in loaded.items() if "changes" not in k
    }
    tested = project.dbt("test", "--select", "path:models")
    assert tested.success, tested.output


def columns(project: Project, view: str) -> str:
    """The columns of a view that say nothing of when it was written."""
    names = [row[0] for row in project.query(f"describe {{s}}.{view}")]
    left_out = ("load_id", "_commit_version", "_commit_timestamp", "operation")
    return ", ".join(name for name in names if name not in left_out)
