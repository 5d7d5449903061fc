"""Before the first load counts: what a refused one left behind binds nobody."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from project import Project
from spark_cdc import cli
from spark_cdc.exit_codes import ExitCode
from spark_cdc.jinja_bridge import load_macros

pytestmark = pytest.mark.proves("load types")

KEY = {"data_type": "int", "role": "key"}
FLAGGED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
# By entity: settings, columns and file of the first attempt, and columns with which it succeeds.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str], dict[str, Any]]] = {
    # another type, and a column that is declared no more
    "full": (
        {"load_type": "full"},
        {"id": KEY, "price": "decimal(10,2)", "memo": "string"},
        ["id,price,memo", "1,12.505,x"],
        {"id": KEY, "price": "decimal(12,3)"},
    ),
    # the key's type, and a name
    "delta": (
        {"load_type": "delta", "deleted_when": "op = 'D'"},
        {"id": KEY, "price": "int", "op": {"data_type": "string", "role": "control"}},
        ["id,price,op", "a1,12.505,I"],
        {
            "id": {"data_type": "string", "role": "key"},
            "cost": {"data_type": "double", "from": "price"},
            "op": {"data_type": "string", "role": "control"},
        },
    ),
    "moves": (
        {"load_type": "events", "events": {**FLAGGED, "archive": True}},
        {
            "id": KEY,
            "price": "int",
            "op": {"data_type": "string", "role": "control"},
            "seq": {"data_type": "bigint", "role": "control"},
        },
        ["id,price,op,seq", "1,12.505,I,1"],
        {
            "id": KEY,
            "price": "decimal(12,3)",
            "op": {"data_type": "string", "role": "control"},
            "seq": {"data_type": "bigint", "role": "control"},
        },
    ),
    # the masked ledger follows, too
    "people": (
        {"load_type": "full"},
        {"id": KEY, "price": {"data_type": "int", "sensitive": True}},
        ["id,price", "1,12.505"],
        {"id": KEY, "price": {"data_type": "decimal(12,3)", "sensitive": True}},
    ),
}
DATE = "2024-01-01"


@pytest.mark.full
def test_the_ledger_follows_the_yaml_while_no_load_counts(project: Project) -> None:
    assert project.operate("secrets", action="init").success
    for name, (settings, columns, lines, _) in CASES.items():
        project.entity(name, columns, **settings, source={"on_unexpected_column": "ignore"})
        project.land(name, DATE, *lines)
    refused = project.run(DATE, *CASES)
    assert {name for name, status in refused.status.items() if status == "error"} == {
        f"{name}_committed" for name in CASES
    }, refused.output
    for name, (settings, _, _, columns) in CASES.items():
        more = {"file_format": "orc"} if name == "full" else {}
        project.entity(name, columns, **settings, **more, source={"on_unexpected_column": "ignore"})
    loaded = project.run(DATE, *CASES)
    assert loaded.success, loaded.output
    for table in ("full_ledger", "delta_ledger", "moves_ledger", "moves_events", "people_ledger"):
        assert f"{table} was made for other columns, no load of it counts," in loaded.output
    for name, (*_, columns) in CASES.items():
        view = f"{name}_current" if name != "people" else "people_ledger_sensitive"
        schema = "_sensitive" if name == "people" else ""
        sql = f"select distinct cast({list(columns)[1]} as string) from {{s}}{schema}.{view}"
        if name == "people":
            sql += " where operation = 'I'"
        assert project.query(sql) == [("12.505",)], name
    assert "memo" not in [row[0] for row in project.query("describe {s}.full_ledger")]
    described = project.query("describe extended {s}.full_ledger")
    assert {row[0]: row[1] for row in described}["Provider"].lower() == "orc"

    # once a load counts, or could by redo, its columns bind
    project.entity("full", {"id": KEY, "price": "date"}, source={"on_unexpected_column": "ignore"})
    project.land("full", "2024-01-02", "id,price", "1,2024-01-01")
    for count in (0, 1):
        refused = project.run("2024-01-02", "full")
        assert not refused.success
        assert "the columns have changed since the last load" in refused.output, count
        undone = project.operate("undo", entities=["full"])
        assert undone.success == (count == 0)


@pytest.mark.integration
def test_a_landing_that_is_not_there_is_no_idleness(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = {"id": KEY, "value": "int"}
    paths = {
        "wrong": "no/such/place/{business_date}",
        "early": f"{project.landing}/early/{{business_date}}",
        "hidden": f"{project.landing}/hidden/{{business_date:%Y/%m/%d}}/*.csv",
        "idle": f"{project.landing}/idle/{{business_date}}",
    }
    for name, path in paths.items():
        project.entity(name, columns, source={"path": path})
        if name != "wrong":
            (project.landing / name).mkdir(parents=True)
    project.land("hidden", "2024/01/01", "id,value", "1,1", file="_hidden.csv")
    project.entity("rows", columns, source={"format": "table", "date_column": "day"})
    project.query("create table {s}.rows (id int, value int, day date)")
    project.land("idle", DATE, "id,value", "1,1")
    project.serve_commands(monkeypatch)

    def told(*words: str) -> tuple[int, dict[str, str | None]]:
        capsys.readouterr()
        code = cli.main(["load", "--output", "json", *words])
        found = json.loads(capsys.readouterr().out)
        return code, {one["entity"]: one["waits"] for one in found["entities"]}

    here = Path(project.query("set spark.sql.warehouse.dir")[0][1].removeprefix("file:"))
    for words in ((), ("--dry-run",)):
        code, waits = told(*words)
        assert code == ExitCode.ATTENTION
        assert waits["idle"] is None
        wrong = waits["wrong"] or ""
        place = re.search(r"the folder 'file:(/\S*)/no/such/place' does not exist on the", wrong)
        assert place and (here.is_relative_to(place[1]) or Path(place[1]).is_dir())
        assert "source.path is no/such/place/{business_date}; a relative path starts in" in wrong
        for name in ("early", "hidden"):
            assert f"no business date has landed in file:{project.landing}/{name} (" in (
                waits[name] or ""
            )
        assert "no load is committed, and the table" in (waits["rows"] or "")
        assert "has no business date in its column day" in (waits["rows"] or "")
    # what was loaded is idle when its files are gone, but not when its folder is
    assert told("--select", "idle") == (ExitCode.NOTHING, {"idle": None})
    shutil.rmtree(project.landing / "idle" / DATE)
    assert told("--select", "idle") == (ExitCode.NOTHING, {"idle": None})
    shutil.rmtree(project.landing / "idle")
    code, waits = told("--select", "idle")
    assert code == ExitCode.ATTENTION and f"file:{project.landing}/idle' does not exist" in (
        waits["idle"] or ""
    )
    # a load says where it looked, too
    refused = project.run(DATE, "wrong")
    assert re.search(rf"'file:/\S*/no/such/place/{DATE}' does not exist", refused.output)


@pytest.mark.parametrize(
    ("path", "last", "asked", "found"),
    [
        ("in/x/{business_date}", None, ["in/x"], "the folder 'file:/s/in/x' does not exist"),
        ("in/x/{business_date}", DATE, ["in/x"], "the folder 'file:/s/in/x' does not exist"),
        ("in/*/x/{business_date}", DATE, ["in"], "the folder 'file:/s/in' does not exist"),
        ("in/x{business_date:%Y%m%d}.csv", DATE, ["in"], "the folder 'file:/s/in' does not exist"),
        (
            "file:///in/x/{business_date}",
            DATE,
            ["file:///in/x"],
            "the folder 'file:/s/file:///in/x'",
        ),
        # an object store has no folders: a prefix without objects is not there
        (
            "s3a://in/x/{business_date}",
            None,
            ["s3a://in/x"],
            "the folder 'file:/s/s3a://in/x' does",
        ),
        ("s3a://in/x/{business_date}", DATE, [], None),
        ("s3a://in/{business_date}", None, [], "has landed in s3a://in ("),
        ("{business_date}/x", None, [], "has landed in {business_date}/x ("),
        ("{business_date}/x", DATE, [], None),
    ],
)
def test_what_of_a_path_has_to_be_there(
    path: str, last: str | None, asked: list[str], found: str | None
) -> None:
    sent: list[str] = []

    def run_query(sql: str) -> Any:
        sent.append(sql.partition("`")[2].rstrip("`"))
        plan = f"[PATH_NOT_FOUND] Path does not exist: file:/s/{sent[-1]}. SQLSTATE: 42K03"
        return SimpleNamespace(rows=[{"plan": plan}])

    source: dict[str, Any] = {"format": "csv", "path": path, "read_path": path}
    macros = load_macros(run_query=run_query)
    source["facts"] = macros._source_facts(source)
    made = macros._landed_nowhere({"source": source}, last)
    assert sent == asked
    assert made is None if found is None else found in made
    assert found is None or ("a relative path" in made) == (path[:2] == "in" or path[0] == "{")
