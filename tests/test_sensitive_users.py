"""Sensitive columns and two users of a machine: the one without rights finds no value in any file.

The loader's server makes the warehouse so that others may read it, but for the folder of the schema
apart. Another user's server, whose metastore has the plain tables by their files and the plain
views by their texts, shows what those show. Then that user searches everything that can be read.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import session_on
from project import Project
from spark_cdc.server import local as local_server
from test_sensitive import DAYS, SETTINGS, STORY, describe, land, masked

OTHER = {"user": "nobody", "group": "nogroup", "extra_groups": ()}
CONF = (
    "spark.hadoop.fs.permissions.umask-mode=022",  # as docs/security.md has it
    "spark.sql.parquet.compression.codec=uncompressed",  # so that grep can find texts in files
    "spark.eventLog.enabled=true",
    "spark.sql.shuffle.partitions=2",
)
VALUES = r"hush|\+41 79"  # how the texts of all persons begin
MARK = "begun"

pytestmark = [
    pytest.mark.proves("sensitive"),
    pytest.mark.full,
    pytest.mark.skipif(
        os.geteuid() != 0, reason="takes root, which alone can run programs as another user"
    ),
]


def as_other(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, cwd="/", **OTHER)  # type: ignore[call-overload,no-any-return]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that both can reach; pytest's own are for their user alone."""
    folder = Path(tempfile.mkdtemp(prefix="spark_cdc_users_"))
    folder.chmod(0o755)
    (folder / MARK).touch()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def shop(place: Path) -> Iterator[Project]:
    """What the loader has made, with logs, compiled SQL and an event log beside it."""
    warehouse, events = place / "warehouse", place / "eventlog"
    (warehouse / "shop_sensitive.db").mkdir(parents=True)
    (warehouse / "shop_sensitive.db").chmod(0o700)
    events.mkdir()
    state = place / "loader"
    conf = (*CONF, f"spark.eventLog.dir={events}")
    chosen = local_server.settings(
        state, warehouse=str(warehouse), port="0", memory="1g", conf=conf, timeout="600"
    )
    try:
        started = local_server.start(chosen)
        connection = local_server.connect(started.port)
        cursor = connection.cursor()
        cursor.execute("create database shop")
        project = Project(place / "project", started.port, "shop", cursor)
        project.landing.mkdir()
        project.landing.chmod(0o700)
        for name in SETTINGS:
            describe(project, name)
        project.operate("secrets", action="init")
        for day in range(3):
            for name in SETTINGS:
                land(project, name, day)
            project.load(DAYS[day], *SETTINGS, words=["--log-level-file", "debug"])
        project.land("visits", DAYS[3], "op,id,mail,phone,born,remark,city", "U,1,hush.zz,,0-0,,x")
        refused = project.run(DAYS[3], "visits", words=["--log-level-file", "debug"])
        assert "can't be accepted" in refused.output and "born" in refused.output
        project.dbt("show", "--select", "stg_visits", "--vars", f"{{business_date: {DAYS[3]}}}")
        yield project
        connection.close()
    finally:
        local_server.stop(state)


@pytest.fixture
def reader(shop: Project, place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cursor on a server that the other user runs."""
    state = place / "reader"
    popen = subprocess.Popen

    def as_reader(command: list[str], **more: Any) -> Any:
        if command[0].endswith("java") and "cwd" in more:
            subprocess.run(["chown", "-R", "nobody:nogroup", str(state)], check=True)
            more |= OTHER
        return popen(command, **more)

    monkeypatch.setattr(local_server.subprocess, "Popen", as_reader)
    monkeypatch.setenv("HOME", str(state))
    chosen = local_server.settings(
        state, port="0", memory="1g", conf=("spark.sql.shuffle.partitions=2",), timeout="600"
    )
    with session_on(chosen) as cursor:
        yield cursor


def test_the_other_user_reads_all_plain_views_and_no_sensitive_file(
    shop: Project, reader: Any, place: Path
) -> None:
    warehouse = place / "warehouse"
    reader.execute("create database shop")
    tables = [row[1] for row in shop.query("show tables in {s}")]
    views = {row[1] for row in shop.query("show views in {s}")}
    for name in sorted(set(tables) - views):
        reader.execute(
            f"create table shop.{name} using parquet location '{warehouse}/shop.db/{name}'"
        )
        reader.execute(f"msck repair table shop.{name}")
    for name in sorted(views, key=lambda view: (not view.endswith("_committed"), view)):
        text = shop.query(f"show create table {{s}}.{name}")[0][0]
        query = re.split(r"\)\s*(?:WITH SCHEMA \w+\s*)?AS\s", text, maxsplit=1)[1]
        reader.execute(f"create view shop.{name} as {query}")
    for name in SETTINGS:
        reader.execute(
            f"select id, mail, phone, cast(born as string), remark from shop.{name}_current"
        )
        wanted = [(key, *masked(marker)) for key, (marker, _) in STORY[2].items()]
        assert sorted(reader.fetchall()) == sorted(wanted)
        for view in ("history", "versions"):
            reader.execute(f"select count(*) from shop.{name}_{view}")
            assert reader.fetchall()[0][0] > 0
    apart = f"{warehouse}/shop_sensitive.db/people_ledger_sensitive"
    with pytest.raises(Exception, match=r"(?i)permission|denied|not exist"):
        reader.execute(f"select count(*) from parquet.`{apart}`")


def test_the_other_user_finds_no_value_in_any_file(shop: Project, place: Path) -> None:
    there = subprocess.run(["grep", "-rlaE", VALUES, str(place)], capture_output=True, text=True)
    found = there.stdout.split()
    assert any("people_ledger_sensitive" in path for path in found)  # grep would find them
    assert any("moves_events_sensitive" in path for path in found)
    # the event log too, which Spark lets nobody else read; what it shuffles lies in the loader's
    # folder until it is collected
    theirs = "/shop_sensitive.db/|/landing/|/loader/tmp/blockmgr-"
    assert [path for path in found if not re.search(theirs, path)] == []
    assert list((place / "eventlog").glob("*"))
    readable = as_other("find", str(place), "-type", "f", "-readable").stdout
    for kind in ("shop.db/people_ledger/", "shop.db/cdc_loads/", "target/", "dbt.log"):
        assert kind in readable, kind
    everything = ("find", str(place), "/tmp", "/var/tmp", "-type", "f", "-newer", str(place / MARK))
    searched = as_other(*everything, "-exec", "grep", "-laE", VALUES, "{}", "+")
    assert searched.stdout == ""
