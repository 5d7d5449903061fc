"""The examples of this project end to end: seeds, loads, and all dbt tests, unit tests included."""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.cli.main import dbtRunner

from project import INTERPRETED_SESSIONS, ROOT, Parsed
from spark_cdc.server import local as local_server
from spark_cdc.synthetic import demo
from warehouse import give_secret

pytestmark = pytest.mark.proves("examples")

SCHEMA = "test_examples"
Dbt = Callable[..., Counter[tuple[str, str]]]


@pytest.fixture(scope="module")
def dbt(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dbt]:
    """Run dbt in this project, in a schema of its own: counts per type of node and status."""
    target = tmp_path_factory.mktemp("target")
    options = ["--project-dir", str(ROOT), "--profiles-dir", str(ROOT / "profiles")]
    options += ["--target-path", str(target), "--log-path", str(target / "logs")]
    project = Parsed(*options)
    connection = local_server.connect(server.port)
    cursor = connection.cursor()
    for other in ("", "_commits", "_sensitive"):
        cursor.execute(f"drop database if exists {SCHEMA}{other} cascade")
    cursor.execute(f"create database {SCHEMA}")
    give_secret(cursor, f"{SCHEMA}_sensitive")

    def run(*words: str, profiles: Path | None = None) -> Counter[tuple[str, str]]:
        words = (*words, *options, *(["--profiles-dir", str(profiles)] if profiles else []))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            done = dbtRunner(manifest=project.manifest()).invoke([*words])
        assert done.success, printed.getvalue()[-5000:]
        return Counter((str(r.node.resource_type), str(r.status)) for r in done.result.results)

    with pytest.MonkeyPatch.context() as environment:
        environment.chdir(ROOT)
        environment.setenv("SPARK_CDC_PORT", str(server.port))
        environment.setenv("SPARK_CDC_SCHEMA", SCHEMA)
        yield run
    for other in ("", "_commits", "_sensitive"):
        cursor.execute(f"drop database if exists {SCHEMA}{other} cascade")
    connection.close()


@pytest.mark.integration
def test_unit_tests(dbt: Dbt, tmp_path: Path) -> None:
    """One of each load type: queries over a few rows, for which Spark compiles nothing."""
    profiles = yaml.safe_load((ROOT / "profiles/profiles.yml").read_text())
    local = profiles["spark_cdc"]["outputs"]["local"]
    local["server_side_parameters"] = INTERPRETED_SESSIONS
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profiles))
    outcome = dbt("test", "--select", "test_type:unit", profiles=tmp_path)
    assert set(outcome) == {("operation", "success"), ("unit_test", "pass")}
    assert outcome["unit_test", "pass"] == 3


@pytest.fixture(scope="module")
def seeded(dbt: Dbt) -> Dbt:
    """dbt, with the seeds of all examples loaded."""
    dbt("seed")
    return dbt


@pytest.mark.parametrize(
    ("names", "count"),
    [
        pytest.param(["customers"], 10, id="full"),
        pytest.param(["orders"], 9, id="delta", marks=pytest.mark.integration),
        pytest.param(
            *(["members", "price_changes", "students"], 27), id="others", marks=pytest.mark.full
        ),
    ],
)
def test_examples_follow_their_stories(seeded: Dbt, names: list[str], count: int) -> None:
    """All but the synthetic one, which test_generate and `make demo` load."""
    for day, entities in demo.plan(ROOT):
        selected = [f"path:models/{name}" for name in entities if name in names]
        if selected:
            variables = f"{{business_date: {day}}}"
            seeded("run", "--select", "cdc_loads", *selected, "--vars", variables)
    excluded = ["test_type:unit", "tag:spark_cdc_verify"]
    chosen = [f"path:models/{name}" for name in names]
    outcome = seeded("test", "--select", *chosen, "--exclude", *excluded)
    assert set(outcome) == {("operation", "success"), ("test", "pass")}
    assert outcome["test", "pass"] >= count


@pytest.mark.integration
def test_examples_verified(dbt: Dbt) -> None:
    """Of some nothing is loaded, which passes too."""
    outcome = dbt("test", "--select", "tag:spark_cdc_verify")
    assert outcome == {("operation", "success"): 2, ("test", "pass"): 27}
