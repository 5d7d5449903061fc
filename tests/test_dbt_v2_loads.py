"""dbt v2 loads what dbt v1 loads, alone and in turns with it on one ledger.

The story of test_golden is told by dbt v1 first; then dbt v2 tells it, and both in turns. After
each step all relations have the same rows. How v2 gets a Spark driver: tests/dbt_v2.py.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

import dbt_v2
from project import Project
from quick_jvm import JVM, ONE_TASK, SPARK
from spark_cdc.server import local as local_server
from test_golden import DAYS, MASKS, describe_entities, land
from warehouse import fetched

pytestmark = [pytest.mark.full, pytest.mark.proves("house")]

NAMES = ("full", "delta", "events", "people")
# Columns that differ from run to run.
OF_RUN = re.compile("^run$|dbt_version|invocation_id|_seconds|committed_at|bytes")
VERSION = (re.compile(r'"dbt_version": "[^"]*"'), '"dbt_version": "<dbt>"')
# Files hold names of loads and times, which compress differently.
SIZE = (re.compile(r"\b[\d.]+ (B|kB|MB)\b"), "<size>")
# What a load of a few rows may send, of which five are dbt's own.
MOST_STATEMENTS = 30


@dataclass(frozen=True)
class Place:
    """A server that answers to Thrift and to Spark Connect."""

    port: int
    connect_port: int


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with socket.socket() as free:
        free.bind((local_server.HOST, 0))
        connect_port = free.getsockname()[1]
    conf = (
        f"spark.driver.extraJavaOptions={JVM}",
        *SPARK,
        *ONE_TASK,
        "spark.sql.catalogImplementation=in-memory",
        "spark.plugins=org.apache.spark.sql.connect.SparkConnectPlugin",
        f"spark.connect.grpc.binding.address={local_server.HOST}",
        f"spark.connect.grpc.binding.port={connect_port}",
    )
    state = tmp_path_factory.mktemp("server_of_both")
    chosen = local_server.settings(state, port="0", memory="3g", conf=conf, timeout="600")
    try:
        yield Place(local_server.start(chosen).port, connect_port)
    finally:
        local_server.stop(state)


def flow(values: dict[str, Any]) -> str:
    """YAML on one line: dbt v2 takes no other."""
    return yaml.safe_dump(values, default_flow_style=True, width=10_000).strip()


class Story:
    """The story on a schema of its own, with the dbt that each step is given."""

    def __init__(self, folder: Path, place: Place, schema: str, cursor: Any) -> None:
        self.project = Project(folder, place.port, schema, cursor)
        schema_of_run = f"{{{{ env_var('SPARK_CDC_SCHEMA', '{schema}') }}}}"
        self.project.profile(threads=4, schema=schema_of_run)
        describe_entities(self.project)
        land(self.project)
        for name in (schema, f"{schema}_sensitive"):
            self.project.query(f"create schema if not exists {name}")
        self.v2 = dbt_v2.Dbt(folder)
        self.v2.profile(place.port, place.connect_port)

    def by_v1(self, *words: str, **variables: str) -> tuple[bool, str]:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            outcome = self.project.dbt(*words)
        return outcome.success, outcome.output

    def steps(self) -> Iterator[tuple[str, bool, tuple[str, ...], dict[str, str]]]:
        """What happens: name, whether it succeeds, words of dbt, and environment."""
        branch = {"SPARK_CDC_SCHEMA": "trial", "SPARK_CDC_BRANCH": "trial"}

        def loaded(date: str, *names: str, **more: Any) -> tuple[str, ...]:
            values = flow({"business_date": date, **more})
            selected = [f"path:models/{name}" for name in names]
            return "run", "--vars", values, "--select", *selected, "cdc_loads"

        def asked(macro: str, **arguments: Any) -> tuple[str, ...]:
            return "run-operation", f"spark_cdc.{macro}", "--args", flow(arguments)

        yield "secrets", True, asked("secrets", action="init"), {}
        yield "first loads", True, loaded(DAYS[0], *NAMES), {}
        yield "second loads", True, loaded(DAYS[1], *NAMES), {}
        yield "the same date again", True, loaded(DAYS[1], *NAMES), {}
        yield "third loads", True, loaded(DAYS[2], *NAMES), {}
        yield "a date before the last", False, loaded(DAYS[1], "full"), {}
        yield "an empty extract", False, loaded(DAYS[5], "full"), {}
        yield "tag", True, asked("tag", name="closing", entities=["full", "delta"]), {}
        yield "undo", True, asked("undo", entities="full", to=DAYS[1]), {}
        yield "redo", True, asked("redo", entities="full"), {}
        dates = f"{DAYS[3]}..{DAYS[4]}"
        yield "backfill", True, asked("backfill", entities="full", dates=dates), {}
        for date in DAYS[1:3]:
            draft = {"from": DAYS[1], "source": "landing"}
            words = loaded(date, "delta", spark_cdc_replay=draft)
            yield f"replay of {date}", True, words, {}
        yield "publish", True, asked("publish_replay", entities="delta"), {}
        yield (
            "compact",
            True,
            asked("compact", entities="full", older_than_days=0, execute=True),
            {},
        )
        yield "branch", True, asked("branch", name="trial", entities="events"), {}
        yield "load of the branch", True, loaded(DAYS[3], "events"), branch
        yield "rows of the branch", True, asked("state", entities="events"), branch
        yield "end of the branch", True, asked("branch", name="trial", drop=True), {}
        yield "erase", True, asked("erase", entity="people", keys=[9]), {}
        words = asked("vacuum", retention_hours=0, force=True, execute=True)
        yield "vacuum", True, words, {}
        yield "the last loads", True, loaded(DAYS[3], "delta", "people"), {}
        yield "data tests", True, ("test",), {}

    def tell(self, dbts: Sequence[str]) -> Iterator[tuple[str, dict[str, list[str]]]]:
        """Tell it by dbts in turns; gives after each step the rows of all relations."""
        for at, (name, is_right, words, variables) in enumerate(self.steps()):
            by = dbts[at % len(dbts)]
            run: Callable[..., tuple[bool, str]] = self.by_v1 if by == "v1" else self.v2.run
            success, printed = run(*words, **variables)
            assert success == is_right, f"{name} by {by}:\n{printed[-3000:]}"
            yield name, self.rows(("trial",) if variables else ())

    def rows(self, more: Sequence[str]) -> dict[str, list[str]]:
        """All rows of all tables and views, as texts without what differs from run to run."""
        found: dict[str, list[str]] = {}
        for schema in (self.project.schema, f"{self.project.schema}_sensitive", *more):
            for row in self.project.query(f"show tables in {schema}"):
                if not row[1].startswith("spark_cdc_secret"):
                    name = f"{schema.replace(self.project.schema, 's')}.{row[1]}"
                    found[self._plain(name)] = self._rows_of(schema, row[1])
        return found

    def _rows_of(self, schema: str, name: str) -> list[str]:
        self.project.cursor.execute(f"select * from {schema}.{name}")
        columns = [column[0].split(".")[-1] for column in self.project.cursor.description]
        rows = []
        for row in fetched(self.project.cursor):
            values = []
            for column, value in zip(columns, row, strict=True):
                text = value.hex() if isinstance(value, bytes) else str(value)
                if text.startswith("{"):  # dbt v2 writes the keys in their order
                    text = json.dumps(json.loads(text), sort_keys=True)
                # hashes are the same by both, but for those of a secret
                is_hash = "hash" in column and "people" not in name
                if not OF_RUN.search(column):
                    values.append(f"{column}={text if is_hash else self._plain(text)}")
            rows.append(", ".join(values))
        return sorted(rows)

    def _plain(self, text: str) -> str:
        text = text.replace(str(self.project.folder), "<project>")
        for pattern, word in (*MASKS, VERSION, SIZE):
            text = pattern.sub(word, text)
        return text


@pytest.fixture(scope="module")
def cursor_of_both(place: Place) -> Iterator[Any]:
    connection = local_server.connect(place.port)
    yield connection.cursor()
    connection.close()


@pytest.fixture(scope="module")
def by_v1(
    place: Place, cursor_of_both: Any, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[str, dict[str, list[str]]]]:
    """The rows of all relations after each step, as dbt v1 makes them."""
    folder = tmp_path_factory.mktemp("v1")
    return list(Story(folder, place, "s_v1", cursor_of_both).tell(["v1"]))


@pytest.mark.parametrize("dbts", [["v2"], ["v2", "v1"]], ids=["alone", "in turns"])
def test_dbt_v2_tells_the_same_story(
    by_v1: list[tuple[str, dict[str, list[str]]]],
    place: Place,
    cursor_of_both: Any,
    tmp_path: Path,
    dbts: list[str],
) -> None:
    story = Story(tmp_path, place, f"s_{len(dbts)}", cursor_of_both)
    told = story.tell(dbts)
    for (name, wanted), (_, found) in zip(by_v1, told, strict=True):
        assert sorted(found) == sorted(wanted), name
        for relation, rows in wanted.items():
            assert found[relation] == rows, f"{name}: {relation}"


def test_a_small_load_sends_no_more_than_needed(
    place: Place, cursor_of_both: Any, tmp_path: Path
) -> None:
    """dbt v2 would ask for each relation twice, if our macros asked for it."""
    if os.environ.get(dbt_v2.DRIVER_GIVEN):
        pytest.skip(f"the driver of {dbt_v2.DRIVER_GIVEN} keeps no list of statements")
    story = Story(tmp_path, place, "s_small", cursor_of_both)
    for name, is_right, words, _ in list(story.steps())[:3]:
        chosen = [word for word in words if word not in [f"path:models/{n}" for n in NAMES[1:]]]
        success, printed = story.v2.run(*chosen)
        assert success == is_right, f"{name}:\n{printed}"
    assert 0 < len(story.v2.statements) <= MOST_STATEMENTS, "\n".join(story.v2.statements)
