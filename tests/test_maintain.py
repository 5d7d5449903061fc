"""Maintenance by policy: loads compact older ones and drop what that leaves, without a person."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest

from project import Project
from spark_cdc.jinja_bridge import load_macros
from warehouse import described

pytestmark = pytest.mark.proves("maintenance")

COLUMNS: dict[str, Any] = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
VIEWS = ("current", "history", "versions")


def kinds(project: Project, name: str) -> list[str]:
    """Day and kind of the loads that count."""
    return [load[6:-9] for load in project.timeline(name)["loads"]]


def location(project: Project, table: str) -> Path:
    rows = project.query(f"describe extended {{s}}.{table}")
    return Path(urlparse(next(row[1] for row in rows if row[0] == "Location")).path)


@pytest.mark.full
def test_loads_are_compacted_by_policy(project: Project) -> None:
    """Two entities with the same loads, one of which is never compacted: all views are equal."""
    project.vars = {"spark_cdc_maintain_in_run": True}
    never = {"compact_loads": None}
    often = {"compact_loads": 5, "retention_hours": None}
    days = [f"2024-03-{day:02}" for day in range(1, 18)]
    for name, maintenance in (("plain", never), ("kept", often)):
        project.entity(
            name,
            COLUMNS,
            load_type="delta",
            maintenance=maintenance,
            checkpoint={"changed_share": 9},
        )
        for at, day in enumerate(days):
            project.land(name, day, "id,name", f"1,a{at}", f"{at + 2},b")
    for day in days[:11]:
        project.load(day, "plain", "kept")
    assert kinds(project, "kept") == ["03-h", "06-h", "09-h", "09-hc", "10-d", "11-d"]
    for day in days[11:]:
        project.load(day, "plain", "kept")
    # as many histories as that are merged
    assert kinds(project, "kept") == ["15-h", "15-hc", "16-d", "17-d"]
    assert len(kinds(project, "plain")) == 17
    for view in VIEWS:
        columns = [
            row[0]
            for row in project.query(f"describe {{s}}.plain_{view}")
            if row[0] not in ("load_id", "operation")
        ]
        listed = ", ".join(columns)
        assert project.rows(f"kept_{view}", listed) == project.rows(f"plain_{view}", listed)
    told = "select count(*) from {s}.cdc_loads where entity = 'kept' and load_type = 'compact'"
    assert project.query(told) == [(10,)]


@pytest.mark.full
def test_what_is_superseded_is_vacuumed_behind_it(project: Project) -> None:
    """The policy's retention is a day at least, so that files have to be made old here."""
    project.vars = {}  # by the command, as a scheduler does it
    maintenance = {"compact_loads": 5, "retention_hours": 24}
    project.entity("swept", COLUMNS, load_type="delta", maintenance=maintenance)
    for day in range(1, 7):
        project.land("swept", f"2024-03-0{day}", "id,name", f"1,a{day}", f"{day + 1},b")
    for day in (1, 2, 3, 4):
        project.load(f"2024-03-0{day}", "swept")
    assert "swept: nothing is due, 4 loads" in project.operate("maintain", execute=True).output
    place = location(project, "swept_ledger")
    # what an attempt that was killed left: a load that was never committed, and a staging folder
    [part] = list(place.glob("business_date=2024-03-01/load_id=*/operation=I"))
    lost = place / "business_date=2024-03-01/load_id=20240301-d-0000dead/operation=I"
    shutil.copytree(part, lost)
    staged = place / ".spark-staging-1/_temporary/0/_temporary/attempt_1/load_id=x"
    shutil.copytree(part, staged)
    (place / ".spark-staging-2").mkdir()
    past = time.time() - 30 * 3600
    for file in [*lost.iterdir(), *staged.iterdir()]:
        os.utime(file, (past, past))
    outcome = project.load("2024-03-05", "swept")
    assert "compact" not in outcome.output, "a run does nothing of it unless it is told to"
    dry = project.operate("maintain", entities="swept")
    assert "swept: would compact 3 loads" in dry.output
    assert lost.exists()
    outcome = project.operate("maintain", execute=True)
    assert "swept: compacted into" in outcome.output
    assert "swept_ledger: drops 1 load" in outcome.output
    assert "drops the folders of 1 insert that broke off" in outcome.output
    assert not lost.exists()
    assert not (place / ".spark-staging-1").exists()
    assert (place / ".spark-staging-2").exists(), "it is empty: how old it is can't be told"
    assert not [
        row for row in project.query("show partitions {s}.swept_ledger") if "1970" in row[0]
    ]
    told = "select message from {s}.cdc_loads where entity = 'swept' and status = 'vacuumed'"
    [(message,)] = project.query(told)
    assert "20240301-d-0000dead" in message
    project.load("2024-03-06", "swept")
    assert project.rows("swept_current", "id") == [(day,) for day in range(1, 8)]
    tested = project.dbt("test", "--select", "path:models/swept")
    assert tested.success, tested.output


def test_a_policy_that_makes_no_sense_is_refused() -> None:
    def problems(**maintenance: Any) -> list[str]:
        source = {"path": "landing/{business_date}"}
        node = described("odd", COLUMNS, load_type="delta", source=source, maintenance=maintenance)
        found: list[str] = load_macros()._entity_problems("odd", node)
        return found

    assert problems(compact_loads=5, retention_hours=24) == []
    found = " ".join(problems(compact_loads=4, retention_hours=2))
    assert "maintenance.compact_loads is 4; accepted are numbers from 5 and null (off)" in found
    assert "maintenance.retention_hours is 2; accepted are numbers from 24" in found
    [found] = problems(loads=3)
    assert "maintenance has the unknown key 'loads'" in found


@pytest.mark.full
def test_a_load_in_flight_is_safe_however_old_its_files_are(project: Project) -> None:
    """It is refused, whether it finds its rows gone or the number of its commit taken."""
    project.entity("slow", COLUMNS, load_type="delta")
    for day in (1, 2):
        project.land("slow", f"2024-03-0{day}", "id,name", f"{day},a")
    project.load("2024-03-01", "slow")
    model = project.folder / "models/slow/slow_committed.sql"
    text = model.read_text()
    wait = "select java_method('java.lang.Thread', 'sleep', 25000L)"
    model.write_text(f'{{{{ config(pre_hook="{wait}") }}}}\n{text}')
    dbt = Path(sys.executable).with_name("dbt")
    words = ["run", "--vars", "business_date: 2024-03-02", "--select", "path:models/slow"]
    places = ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    running = subprocess.Popen([dbt, *words, *places], stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 120
        while not [p for p in project.query("show partitions {s}.slow_ledger") if "-02/" in p[0]]:
            assert time.monotonic() < deadline
            time.sleep(0.5)
        arguments = {"entities": ["slow"], "retention_hours": 0, "execute": True, "force": True}
        vacuumed = project.operate("vacuum", **arguments)
        assert vacuumed.success, vacuumed.output
        assert "slow_ledger: drops 1 load" in vacuumed.output
        taken = project.query("show create table {s}.slow_committed")[0][0]
        assert '"sequence": 2' in taken, "the number that a commit behind the audit would take"
        output, _ = running.communicate(timeout=120)
    finally:
        running.kill()
        model.write_text(text)
    assert running.returncode == 1
    assert "slow: the ledger holds no whole load" in output, output
    assert project.rows("slow_current", "id") == [(1,)]
    project.load("2024-03-02", "slow")
    assert project.rows("slow_current", "id") == [(1,), (2,)]


@pytest.mark.full
def test_rows_are_laid_out_by_columns(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several columns by a Z-order: in each file a part of the range of each of them."""
    columns: dict[str, Any] = {
        "id": {"data_type": "int", "role": "key"},
        "day": "date",
        "amount": "decimal(9,2)",
        "name": "string",
    }
    project.entity("wide", columns, load_type="delta", cluster_by=["day", "amount"])
    parsed = project.manifest

    def with_small_files() -> Any:
        made = parsed()
        assert made
        macro = made.macros["macro.spark_cdc._set_file_size"]
        assert "'128m'" in macro.macro_sql
        macro.macro_sql = macro.macro_sql.replace("'128m'", "'1m'")
        return made

    monkeypatch.setattr(project, "manifest", with_small_files)
    lines = [
        f"{at},2024-{at * 7 % 12 + 1:02}-{at * 11 % 28 + 1:02},{at * 37 % 1000}.50,"
        f"{random.randbytes(600).hex()}"
        for at in range(6000)
    ]
    project.land("wide", "2024-03-01", "id,day,amount,name", *lines)
    for day in (2, 3, 4):
        project.land("wide", f"2024-03-0{day}", "id,day,amount,name", f"{day},,1,x")
    for day in (1, 2, 3, 4):
        project.load(f"2024-03-0{day}", "wide")
    before = project.rows("wide_current", "id, day, amount, name")
    compacted = project.operate("compact", entities=["wide"], older_than_days=0, execute=True)
    assert compacted.success, compacted.output
    assert project.rows("wide_current", "id, day, amount, name") == before
    ranges = project.query(
        "select _metadata.file_path, min(day), max(day), min(amount), max(amount), count(*)"
        " from {s}.wide_ledger where operation = 'X' and load_id like '%-hc-%' group by all"
    )
    assert len(ranges) >= 3
    narrow = [
        row for row in ranges if row[1] > "2024-02" or row[2] < "2024-11" or row[4] - row[3] < 600
    ]
    assert len(narrow) == len(ranges), ranges
