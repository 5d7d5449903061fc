"""The platform `unity`: loads and operations through a proxy with the rules of a SQL warehouse.

A local server with Delta is behind the proxy (tests/faults/unity.py): no statement is sent that the
documentation says is refused, and the rows are those of the same story without these rules. Nothing
here was run on Databricks (docs/platforms.md).
"""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

import rendered_sql
from conftest import SERVER
from faults.proxy import Proxy, Refused, Trap
from faults.unity import warehouse, without_texts
from own_servers import served
from project import Project
from spark_cdc import cli as command_line
from spark_cdc.jinja_bridge import Macros, load_macros, load_macros_of
from test_golden import DAYS, describe_entities, land

pytestmark = pytest.mark.proves("file formats")

NAMES = ("full", "delta", "events")
VERIFY = ("test", "--select", "tag:spark_cdc_verify")


class Shop:
    """A project, and what readers see of it after each step."""

    def __init__(self, project: Project, capsys: Any) -> None:
        self.project, self.capsys = project, capsys
        self.seen: dict[str, dict[str, list[Any]]] = {}

    def rows(self) -> dict[str, list[Any]]:
        """The rows of all views, without names of loads."""
        found = {}
        for name in NAMES:
            for view in ("current", "history", "versions"):
                more = {
                    "current": "operation",
                    "history": "operation, eff_start_date",
                    "versions": "eff_start_date, eff_end_date",
                }[view]
                try:
                    found[f"{name} {view}"] = self.project.rows(
                        f"{name}_{view}", f"id, name, {more}"
                    )
                except Exception as error:  # not there yet
                    assert "TABLE_OR_VIEW_NOT_FOUND" in str(error)
        found["log"] = sorted(
            self.project.query(
                "select entity, business_time, load_type, status, rows_in, rows_inserted,"
                " rows_updated, rows_deleted, rows_unchanged, rows_rejected, guard from"
                " {s}.cdc_loads"
            ),
            key=repr,
        )
        return found

    def run(self, date: str, *names: str, is_right: bool = True) -> None:
        outcome = self.project.run(date, *(names or NAMES))
        assert outcome.success == is_right, outcome.output
        self.seen[f"{date} {names} {is_right} {len(self.seen)}"] = self.rows()

    def operate(self, macro: str, **arguments: Any) -> None:
        outcome = self.project.operate(macro, **arguments)
        assert outcome.success, outcome.output
        self.seen[f"{macro} {len(self.seen)}"] = self.rows()

    def command(self, *words: str) -> None:
        code = command_line.main(["--quiet", *words])
        said = self.capsys.readouterr()
        assert code == 0, said.out + said.err
        self.seen[" ".join(words)] = self.rows()


def on_unity(project: Project) -> Project:
    """The project with the platform named; file_format is what the platform has."""
    path = project.folder / "dbt_project.yml"
    content = yaml.safe_load(path.read_text("utf-8"))
    content["vars"] = {"spark_cdc_platform": "unity"}
    path.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
    return project


def profile(project: Project) -> None:
    """Branches name their schema by the environment."""
    schema = f"{{{{ env_var('SPARK_CDC_SCHEMA', '{project.schema}') }}}}"
    project.profile(threads=2, schema=schema)


@pytest.fixture(scope="module")
def delta(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A server with Delta, and the place of its tables."""
    state = tmp_path_factory.mktemp("delta")
    settings = {"memory": "2g", "formats": ["delta"], "conf": SERVER[:2], "timeout": "600"}
    with served(state, **settings) as (port, connection):
        cursor = connection.cursor()
        cursor.execute("describe schema default")
        places = [row[1] for row in cursor.fetchall() if row[0] == "Location"]
        yield SimpleNamespace(
            port=port, connection=connection, place=places[0].removeprefix("file:")
        )


def schemas(connection: Any, name: str) -> Any:
    cursor = connection.cursor()
    cursor.execute(f"create database {name}")
    return cursor


def tell(shop: Shop) -> None:
    """Loads of all kinds, a rerun, a refusal, and all operations."""
    shop.run(DAYS[0])
    shop.run(DAYS[1])
    shop.run(DAYS[1])
    shop.run(DAYS[2])
    shop.run(DAYS[5], "full", is_right=False)
    shop.operate("tag", name="closing", entities=["full", "delta"])
    shop.operate("undo", entities="full", to=DAYS[1])
    shop.operate("redo", entities="full")
    shop.command("load", DAYS[3], "--select", "full", "--dry-run")
    shop.command("load", f"{DAYS[3]}..{DAYS[4]}", "--bulk", "--select", "full")
    shop.command("replay", "--from", DAYS[1], "--select", "delta", "--publish")
    shop.operate("compact", entities="full", older_than_days=0)
    shop.operate("compact", entities="full", older_than_days=0, execute=True)
    shop.command("branch", "create", "trial", "--select", "events")
    shop.command("load", DAYS[3], "--select", "events", "--branch", "trial")
    shop.command("branch", "drop", "trial")
    shop.operate("vacuum", retention_hours=0, force=True, execute=True)
    shop.command("status")
    tested = shop.project.dbt(*VERIFY)
    assert tested.success, tested.output


def macros_on(type: str, schema: str = "cdc", **variables: Any) -> tuple[Macros, list[str]]:
    """The macros on a target of a type, and the statements that they send."""
    sent: list[str] = []

    def run_query(sql: str) -> Any:
        sent.append(sql)
        return SimpleNamespace(rows=[])

    target = SimpleNamespace(type=type, schema=schema, name="prod", database="main")
    return load_macros(var=variables, run_query=run_query, target=target), sent


def test_the_platform_of_a_run() -> None:
    for type, variables, name in (
        ("spark", {}, "hive"),
        ("databricks", {}, "unity"),
        ("spark", {"spark_cdc_platform": "unity"}, "unity"),
        ("databricks", {"spark_cdc_platform": "hive"}, "hive"),
    ):
        macros, sent = macros_on(type, **variables)
        assert macros._platform()["name"] == name
        assert macros._other_platform() is None
        assert sent == (
            ["select version() as version, current_catalog() as catalog"]
            if not variables and type == "spark"
            else []
        )
        assert macros._database() == ("main" if type == "databricks" else None)
    macros, _ = macros_on("spark", spark_cdc_platform="glue")
    assert macros._var_problems() == [
        "the var spark_cdc_platform is 'glue'; accepted are hive, iceberg, unity: choose one of"
        " them."
    ]


def test_settings_outside_of_the_list_are_left_out() -> None:
    macros, sent = macros_on("databricks")
    macros._set("spark.sql.codegen.wholeStage", "false")
    macros._set("spark.sql.legacy.timeParserPolicy", "corrected")
    macros._set("spark.sql.files.maxPartitionBytes", None)
    assert sent == ["set LEGACY_TIME_PARSER_POLICY = corrected", "reset MAX_FILE_PARTITION_BYTES"]


@pytest.mark.parametrize(("given", "found"), [(None, "delta"), ("delta", "delta"), ("orc", None)])
def test_tables_are_delta(given: str | None, found: str | None) -> None:
    source = {"path": "landing/{business_date}"}
    settings = {"load_type": "full", "source": source} | ({"file_format": given} if given else {})
    columns = [{"name": "id", "data_type": "int", "meta": {"role": "key"}}]
    macros, node = load_macros_of(
        "orders", settings, columns, target=SimpleNamespace(type="databricks")
    )
    problems = macros._table_format_problems(macros._columns_of(node), settings)
    if found:
        assert problems == []
        assert macros._entity("orders")["file_format"] == found
        assert macros._load_log_format() == found
    else:
        assert problems == [
            "file_format is 'orc', but tables on the platform unity are delta: leave file_format"
            " and the var spark_cdc_file_format out, or write file_format: delta"
            " (docs/platforms.md)"
        ]


def test_no_rendered_statement_is_refused() -> None:
    """All that is rendered without a server, held against the rules of a warehouse."""
    rule, refused = warehouse("/no/warehouse"), {}
    rendered = rendered_sql.render(spark_cdc_platform="unity")
    for name, sql in rendered.items():
        try:
            rule(sql)
        except Refused as error:
            refused[name] = str(error)
    assert refused == {}
    writes = [name for name, sql in rendered.items() if "\nreplace where " in sql]
    assert len(writes) > 40


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("set spark.sql.codegen.wholeStage = false", "CONFIG_NOT_AVAILABLE"),
        ("set `spark.sql.catalog.spark_catalog`", "CONFIG_NOT_AVAILABLE"),
        ("insert overwrite table a.b partition (business_date, load_id)\nselect 1", "partition"),
        ("create table if not exists a (\n  b int\n)\nusing parquet", "Managed tables must use"),
        ("create table a using orc as select 1", "Managed tables must use"),
        ("alter table a.b drop if exists\n    partition (c = '1')", "UC_COMMAND_NOT_SUPPORTED"),
        ("alter table a.b recover partitions", "UC_COMMAND_NOT_SUPPORTED"),
        ("show partitions a.b", "UC_COMMAND_NOT_SUPPORTED"),
        ("select\n  input_file_name() as uri\nfrom a", "UNRESOLVED_ROUTINE"),
        ("create or replace view a.b as select 1", "privileges"),
        ("drop table if exists a.b purge", "PARSE_SYNTAX_ERROR"),
        ("select 1 from text.`/w/shop.db/a`", "LOCATION_OVERLAP"),
    ],
)
def test_what_a_warehouse_refuses(sql: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        warehouse("/w")(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "insert into a.b\nreplace where load_id = 'x'\nselect 'input_file_name()'",
        "insert overwrite table a.b select 1",
        "create table a (b int) using delta tblproperties ('c' 'using parquet')",
        "create or replace temporary view a using csv options (path '/landing')",
        "create view if not exists a.b as select /* set x = 1 */ 1",
        "alter view a.b as select 1",
    ],
)
def test_what_a_warehouse_takes(sql: str) -> None:
    assert warehouse("/w")(sql) == sql


@pytest.mark.full
def test_the_golden_story_on_unity_and_on_hive(
    delta: SimpleNamespace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shops, proxy = {}, Proxy(delta.port, rule=warehouse(delta.place))
    for platform, port in (("unity", proxy.port), ("hive", delta.port)):
        cursor = schemas(delta.connection, f"shop_{platform}")
        project = Project(
            tmp_path / platform, port, f"shop_{platform}", cursor, file_format="delta"
        )
        if platform == "unity":
            on_unity(project)
        profile(project)
        describe_entities(project)
        shutil.rmtree(project.folder / "models" / "people")  # sensitive columns take Parquet
        land(project)
        project.serve_commands(monkeypatch)
        shops[platform] = Shop(project, capsys)
        tell(shops[platform])
    assert list(shops["unity"].seen) == list(shops["hive"].seen)
    for step, rows in shops["hive"].seen.items():
        assert shops["unity"].seen[step] == rows, step
    sent = [without_texts(statement.sql) for statement in proxy.statements]
    assert len(sent) > 500
    assert not [sql for sql in sent if sql.startswith("insert overwrite")]
    assert [sql for sql in sent if sql.startswith("insert into") and " replace where " in sql]
    proxy.close()


# where a run is cut off: the statement, and what readers may see then
MOMENTS = {
    "the write": re.compile(r"insert into \S+full_ledger`? replace where"),
    "the claim": re.compile(r"create view if not exists \S+full_commit_"),
    "the row of cdc_loads": re.compile(r"insert into \S+cdc_loads`? replace where"),
    "the commit": re.compile(r"alter view \S+full_committed"),
}


@pytest.fixture(scope="module")
def shop(
    delta: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Project, Proxy]]:
    """A project on Unity with one entity, of which one load is committed."""
    proxy = Proxy(delta.port, rule=warehouse(delta.place))
    cursor = schemas(delta.connection, "shop_cut")
    folder = tmp_path_factory.mktemp("cut")
    project = on_unity(Project(folder, proxy.port, "shop_cut", cursor))
    project.profile(threads=1)
    project.entity("full", {"id": {"data_type": "int", "role": "key"}, "name": "string"})
    project.land("full", date_of(0), "id,name", "1,a", "2,b")
    project.load(date_of(0), "full")
    yield project, proxy
    proxy.close()


def date_of(day: int) -> str:
    return str(datetime.date(2024, 4, 1) + datetime.timedelta(days=day))


def current(project: Project) -> list[Any]:
    project.query("refresh table {s}.full_ledger")
    return project.rows("full_current", "id, name")


@pytest.mark.full
@pytest.mark.parametrize("phase", ["before", "during", "after"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_line_that_is_cut(shop: tuple[Project, Proxy], moment: str, phase: str) -> None:
    """Readers see the state before or after, and the same command comes right."""
    project, proxy = shop
    day = 1 + list(MOMENTS).index(moment) * 3 + ["before", "during", "after"].index(phase)
    project.land("full", date_of(day), "id,name", "1,a", f"2,b{day}", f"{day + 2},c")
    before, after = current(project), sorted([(1, "a"), (2, f"b{day}"), (day + 2, "c")], key=repr)
    trap = Trap(
        lambda statement: MOMENTS[moment].match(without_texts(statement.sql)) is not None, phase
    )
    proxy.traps.append(trap)
    cutter = threading.Thread(target=lambda: trap.reached.wait(300) and proxy.cut_once(True))
    cutter.start()
    outcome = project.run(date_of(day), "full")
    cutter.join()
    assert trap.reached.is_set() and not outcome.success, outcome.output
    assert current(project) in (before, after)
    project.load(date_of(day), "full")
    assert current(project) == after
    status = project.query(
        f"select status from {{s}}.cdc_loads where business_time like '{date_of(day)}%'"
    )
    assert ("committed",) in status
    tested = project.dbt(*VERIFY)
    assert tested.success, tested.output


@pytest.mark.full
def test_two_runs_of_one_entity(shop: tuple[Project, Proxy]) -> None:
    """The one that comes second to the claim is refused, and loses nothing."""
    project, proxy = shop
    project.land("full", date_of(20), "id,name", "1,a", "2,first")
    project.land("full", date_of(21), "id,name", "1,a", "2,second")
    trap = Trap(
        lambda statement: MOMENTS["the claim"].match(without_texts(statement.sql)) is not None,
        "before",
    )
    proxy.traps.append(trap)
    words = ["run", "--vars", f"business_date: {date_of(20)}", "--select", "path:models/full"]
    places = ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    first = subprocess.Popen(
        [sys.executable, "-m", "dbt.cli.main", *words, *places, "--target-path", "target_of_first"],
        cwd=project.folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert trap.reached.wait(300)
    project.load(date_of(21), "full")
    trap.go.set()
    said, _ = first.communicate(timeout=300)
    assert first.returncode != 0 and "another run" in said, said
    assert current(project) == [(1, "a"), (2, "second")]
    tested = project.dbt(*VERIFY)
    assert tested.success, tested.output
