"""A relative path starts in the folder of the project that loads, whoever started the server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from project import Project
from spark_cdc.jinja_bridge import load_macros
from test_config import changed, macros
from warehouse import land_lines

pytestmark = pytest.mark.proves("input")

KEYED = {"id": {"data_type": "int", "role": "key"}, "value": "int"}
LANDING = "landing/things/{business_date}"


def problems(path: str, host: str = "127.0.0.1", project_dir: str = "/home/me/shop") -> list[str]:
    """What is wrong with a path, where dbt runs a project with a server."""
    given = {"project_dir": Path(project_dir)}
    rules = load_macros(target={"host": host}, invocation_args_dict=given)
    found: list[str] = rules._source_problems({"path": path})
    return found


def test_where_a_path_starts() -> None:
    rules = load_macros(invocation_args_dict={"project_dir": Path("/home/me/shop")})
    for path, read in {
        LANDING: f"/home/me/shop/{LANDING}",
        "./in/{business_date:%Y}": "/home/me/shop/in/{business_date:%Y}",
        "{business_date}": "/home/me/shop/{business_date}",
        "a/b:c/{business_date}": "/home/me/shop/a/b:c/{business_date}",
        "/data/{business_date}": "/data/{business_date}",
        "s3a://lake/in/{business_date}": "s3a://lake/in/{business_date}",
        "file:/data/{business_date}": "file:/data/{business_date}",
        "": "",
    }.items():
        assert rules._path_as_read(path) == read
    # outside of dbt, as for `spark-cdc new`, nobody reads
    assert load_macros(invocation_args_dict={})._path_as_read(LANDING) == LANDING
    assert load_macros()._path_as_read(LANDING) == LANDING


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "NA", ""])
def test_the_server_is_here(host: str) -> None:
    assert problems(LANDING, host) == []


def test_the_server_is_on_another_machine() -> None:
    [said] = problems(LANDING, "spark-thrift.example")
    assert f"source.path is '{LANDING}', a relative path" in said
    assert "/home/me/shop, but the Spark server is on another machine, spark-thrift.example" in said
    assert "write an absolute path of that machine" in said
    assert problems("/data/{business_date}", "spark-thrift.example") == []
    assert problems("s3a://lake/{business_date}", "spark-thrift.example") == []


def test_the_projects_folder_is_not_known() -> None:
    [said] = problems(LANDING, project_dir="shop")
    assert "dbt was given that folder as 'shop': run dbt in the folder" in said
    assert problems("/data/{business_date}", project_dir="shop") == []
    [said] = problems(LANDING, project_dir="/home/me/shop[1]")
    assert "/home/me/shop[1], whose name has [ ], a pattern to Spark" in said


def test_the_source_of_full_snapshots_has_the_same_rule() -> None:
    node = changed(source__path="/data/{business_date}")
    node["config"]["meta"]["spark_cdc"]["sources"] = {"full": {"path": "extract/{business_date}"}}
    given = {"project_dir": "/home/me/shop"}
    found = macros(node, target={"host": "other"}, invocation_args_dict=given)
    problems = found._entity_problems("orders", node)
    assert any("sources.full.path is 'extract/" in text for text in problems)


def test_a_load_reads_the_projects_files(
    project: Project, command: Callable[..., tuple[int, str]]
) -> None:
    """The server's working directory is another one, in which examples/landing lies."""
    project.entity("things", KEYED, source={"path": LANDING})
    project.entity("orders", KEYED, source={"path": "examples/landing/orders/{business_date}"})
    for date, value in (("2024-01-01", 1), ("2024-01-02", 2)):
        land_lines(project.folder / f"landing/things/{date}", "id,value", f"1,{value}")
    project.load("2024-01-01", "things")
    assert project.rows("things_current", "id, value") == [(1, 1)]

    code, said = command("load", "2024-01-02", "--dry-run", "--select", "things")
    assert code == 0
    assert "would load" in said
    code, said = command("load", "--select", "things")
    assert code == 0
    assert project.rows("things_current", "id, value") == [(1, 2)]

    outcome = project.run("2024-03-01", "orders")
    assert not outcome.success
    assert "does not exist on the Spark server; a relative path starts in the" in outcome.output
    assert f"the project's folder, {project.folder}" in outcome.output
    code, said = command("load", "--select", "orders")
    assert "does not exist on the Spark server" in said
    assert f"the project's folder, {project.folder}" in said
