"""Fixtures for all suites: one Spark server per run of pytest, or per worker of it."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import capabilities
import jinja_of_v2
import parts
import scale
from quick_jvm import JVM, ONE_TASK, SEVERAL_TASKS, SPARK
from spark_cdc import cli as command_line
from spark_cdc.server import jars, java
from spark_cdc.server import local as local_server
from spark_cdc.stream import command as stream

ROOT = Path(__file__).resolve().parents[1]
# Spark's in-memory catalog takes half the CPU of Hive's. What kills servers and runs of dbt has
# servers of its own, with Hive's catalog (tests/faults), as users have.
CATALOG = "hive" if scale.ALL or scale.FORMAT == "iceberg" else "in-memory"
SERVER = (
    f"spark.driver.extraJavaOptions={JVM} -Xms1500m",
    *SPARK,
    *(SEVERAL_TASKS if scale.ALL else ONE_TASK),
    f"spark.sql.catalogImplementation={CATALOG}",
)


@dataclass(frozen=True)
class Server:
    """Address of the test server; its state folder if this run started it."""

    host: str
    port: int
    state_dir: Path | None = None


# What takes about a minute or more, so that no worker is left alone with one of them at the end.
LONG = (
    "test_faults",
    "test_input",
    "test_replay",
    "test_guards",
    "test_rules",
    "test_stream",
    "test_event_histories",
    "test_branches",
    "test_bad_input",
    "test_undo",
    "test_sensitive",
    "test_schema_change",
    "test_examples",
    "test_publish",
    "test_run",
    "test_plan",
    "test_snapshots",
    "test_maintain",
    "test_hostile",
    "test_damage",
    "test_backfill",
    "test_import_tables",
    "test_import_history",
    "test_loads",
    "test_maintenance",
    "test_bitemporal",
    "test_events_read_again",
    "test_commit",
    "test_report",
    "test_notify",
    "test_hashing",
    "test_event_stories",
    "test_adapters_loads",
    "test_histories",
    "test_server",
    "test_readers",
    "test_style",
    "test_formats",
    "test_sample",
)


# before anybody makes an environment
jinja_of_v2.guard()

# dbt makes so many objects of a manifest that Python looks for garbage most of the time.
gc.set_threshold(100_000, 50, 50)

STARTED = time.time()
RESULTS: list[tuple[str, str, int, float]] = []  # capability, outcome, cases, seconds


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long, and keep what belongs to the suite of this run."""
    for item in items:
        marker = item.get_closest_marker("proves")
        item.user_properties.append(("proves", marker.args[0] if marker else ""))
    names = [item.path.stem for item in items]
    places = {name: at for at, name in enumerate(dict.fromkeys([*LONG, *names]))}
    items.sort(key=lambda item: places[item.path.stem])
    files = {item.path.stem for item in items}
    if scale.PART:
        files = parts.files_of(scale.PART, sorted(files, key=lambda name: places[name]))
    wanted = [scale.is_wanted(markers(item)) and item.path.stem in files for item in items]
    left_out = [item for item, is_wanted in zip(items, wanted, strict=True) if not is_wanted]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item, is_wanted in zip(items, wanted, strict=True) if is_wanted]


def pytest_collection_finish() -> None:
    """Leave out of later collections what stays until the end anyway."""
    gc.collect()
    gc.freeze()


def markers(item: pytest.Item) -> set[str]:
    """The names of a test's markers."""
    return {marker.name for marker in item.iter_markers()}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what a test proved; in the process that prints, if there are workers."""
    told = dict(report.user_properties)
    cases = int(str(told.get("cases", 1))) if report.when == "call" else 0
    RESULTS.append((str(told.get("proves", "")), report.outcome, cases, report.duration))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Note that a part of a suite has passed."""
    config = session.config
    option = config.option
    is_whole = config.args_source.name != "ARGS" and not (option.keyword or option.collectonly)
    if scale.PART and is_whole and exitstatus == 0 and "PYTEST_XDIST_WORKER" not in os.environ:
        parts.record(scale.SUITE, scale.PART, time.time() - STARTED)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line per capability: a pass means all of this."""
    lines = capabilities.summary(RESULTS)
    if lines:
        terminalreporter.section("proved")
        terminalreporter.write_line("\n".join(lines))


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of the shell that runs the tests out of them."""
    for name in ("STATE_DIR", "SPARK_CONF", "JARS", "WITH", "IVY_SETTINGS"):
        monkeypatch.delenv(f"SPARK_CDC_{name}", raising=False)


@pytest.fixture(scope="session")
def cli() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`spark-cdc` as a user runs it: cli("server", "status") gives code, stdout and stderr."""

    def run(*words: str, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SPARK_CDC_")}
        return subprocess.run(
            [sys.executable, "-m", "spark_cdc.cli", *words],
            cwd=cwd,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=900,
        )

    return run


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Spark server: the one on SPARK_CDC_TEST_PORT, else one of this run and worker.

    Its state is in SPARK_CDC_TEST_STATE, for `make test` to end it if this process is killed.
    """
    given = os.environ.get("SPARK_CDC_TEST_PORT")
    if given:
        yield Server(local_server.HOST, int(given))
        return
    place = os.environ.get("SPARK_CDC_TEST_STATE") or tmp_path_factory.mktemp("server")
    state = Path(place) / os.environ.get("PYTEST_XDIST_WORKER", "state")
    chosen = local_server.settings(
        state, port="0", memory="3g", conf=SERVER, timeout="600", formats=scale.WITH
    )
    try:
        started = local_server.start(chosen)
        yield Server(local_server.HOST, started.port, state)
    finally:
        local_server.stop(state)


@pytest.fixture(scope="module")
def shop(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Entities of a module that are loaded without dbt: a Shop of shop.py."""
    from shop import opened  # makes an environment of Jinja, so that it comes behind the guard

    with opened(server.port, tmp_path_factory.mktemp("shop")) as made:
        yield made


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Prints in spite of pytest, for what runs for long."""

    def print_now(text: str) -> None:
        with capsys.disabled():
            print(f"\n{text}", end="", flush=True)

    return print_now


@pytest.fixture
def cursor(server: Server) -> Iterator[Any]:
    """A PyHive cursor in a session of its own."""
    connection = local_server.connect(server.port)
    yield connection.cursor()
    connection.close()


@contextlib.contextmanager
def session_on(chosen: local_server.Settings) -> Iterator[Any]:
    """A cursor on a server with settings of its own, which ends with it."""
    try:
        connection = local_server.connect(local_server.start(chosen).port)
        yield connection.cursor()
        connection.close()
    finally:
        local_server.stop(chosen.state_dir)


# what reads Avro in Spark; `spark-cdc stream` brings it along
@pytest.fixture(scope="module")
def avro_cursor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cursor on a server of its own that reads Avro and knows from_avro."""
    [jar] = jars.ensure(stream.JARS["avro"]["4.1"], java.ensure().executable)
    state = tmp_path_factory.mktemp("avro")
    chosen = local_server.settings(state, port="0", memory="1g", jars=[str(jar)])
    with session_on(chosen) as cursor:
        yield cursor


@pytest.fixture(scope="module")
def schema(server: Server) -> Iterator[str]:
    """The name of an empty schema: the same for all modules, for dbt parses packages by schema."""
    name = "shop"
    connection = local_server.connect(server.port)
    cursor = connection.cursor()
    for other in ("", "_commits", "_sensitive"):
        cursor.execute(f"drop database if exists {name}{other} cascade")
    cursor.execute(f"create database {name}")
    yield name
    for other in ("", "_commits", "_sensitive"):
        cursor.execute(f"drop database if exists {name}{other} cascade")
    connection.close()


@pytest.fixture(scope="module")
def project(server: Server, schema: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Somebody's dbt project with spark_cdc as a package, and a schema of its own."""
    from project import Project

    connection = local_server.connect(server.port)
    yield Project(tmp_path_factory.mktemp(schema), server.port, schema, connection.cursor())
    connection.close()


@pytest.fixture
def command(
    project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """`spark-cdc` on the project, in this process: its exit code, and all that it says.

    Progress is left out, which comes after seconds, and so on slow machines alone.
    """
    project.serve_commands(monkeypatch)

    def run(*words: str) -> tuple[int, str]:
        code = command_line.main(["--quiet", *words])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run
