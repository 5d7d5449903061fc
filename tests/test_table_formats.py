"""Delta Lake and Iceberg: jars for the local server, and the statements of ledgers in them.

What loads and operations do on each: test_homes.py.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from project import Project
from spark_cdc.errors import SparkCdcError
from spark_cdc.jinja_bridge import CompilerError, Macros, load_macros
from spark_cdc.server import jars, java, table_formats
from spark_cdc.server import local as server
from spark_cdc.server.server_state import Status

pytestmark = [pytest.mark.proves("file formats"), pytest.mark.integration]

JAR = jars.Jar(
    "org.example", "shelf_2.13", "1.0", hashlib.sha256(b"a jar\n").hexdigest()
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own, to which the format `shelf` is known."""
    (tmp_path / "dbt_project.yml").touch()
    monkeypatch.setenv("SPARK_CDC_PROJECT_DIR", str(tmp_path))
    monkeypatch.setattr(table_formats, "BUILDS", {"shelf": {"4.1": (JAR,)}})
    monkeypatch.setattr(table_formats, "spark_version", lambda: "4.1")
    return tmp_path


@pytest.fixture
def mirror(tmp_path: Path) -> str:
    """Ivy settings of a place that has the jar."""
    at = tmp_path / "mirror" / "org" / "example" / JAR.artifact / JAR.version
    at.mkdir(parents=True)
    (at / JAR.name).write_text("a jar\n")
    (at / f"{JAR.artifact}-{JAR.version}.pom").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId>"
        f"<artifactId>{JAR.artifact}</artifactId><version>{JAR.version}</version></project>"
    )
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="mirror"/><resolvers><ibiblio name="mirror"'
        f' m2compatible="true" root="{(tmp_path / "mirror").as_uri()}/"/></resolvers></ivysettings>'
    )
    return str(settings)


def test_fetched_once_from_a_mirror(home: Path, mirror: str, capsys) -> None:
    executable = java.ensure().executable
    [path] = jars.ensure([JAR], executable, mirror)
    assert path == home / ".spark_cdc" / "jars" / JAR.name
    assert path.read_text() == "a jar\n"
    assert f"Fetch {JAR.name}" in capsys.readouterr().err
    assert [one.name for one in path.parent.iterdir()] == [JAR.name]
    assert jars.ensure([JAR], Path("/no/java"), mirror) == [path]
    assert not any(capsys.readouterr())
    path.write_text("half a j")  # is noticed, and fetched again
    jars.ensure([JAR], executable, mirror)
    assert path.read_text() == "a jar\n"


def _fake_java(place: Path, body: str) -> Path:
    place.write_text(f'#!/bin/sh\nfor last do :; done\nto=$(dirname "$last")\n{body}\n')
    place.chmod(0o755)
    return place


def test_another_jar_than_the_pinned_one_is_refused(home: Path) -> None:
    fake = _fake_java(home / "java", f'echo "another" > "$to/{JAR.name}"')
    with pytest.raises(SparkCdcError, match="the jar was not kept") as caught:
        jars.ensure([JAR], fake)
    assert JAR.sha256 in caught.value.message
    assert caught.value.next_step
    assert list((home / ".spark_cdc" / "jars").iterdir()) == []


def test_no_network(home: Path) -> None:
    fake = _fake_java(home / "java", 'echo "Host repository.example not found."; exit 1')
    with pytest.raises(SparkCdcError, match=re.escape(f"{JAR.name!r} can't be fetched")) as error:
        jars.ensure([JAR], fake)
    assert "Host repository.example not found." in error.value.message
    for word in (
        "SPARK_CDC_IVY_SETTINGS",
        JAR.sha256,
        str(home / ".spark_cdc" / "jars" / JAR.name),
    ):
        assert word in error.value.next_step


def test_formats_by_name() -> None:
    assert table_formats.parse(["iceberg,", " Delta"], "4.1") == ("delta", "iceberg")
    assert table_formats.parse([""], "9.9") == ()
    with pytest.raises(SparkCdcError, match=r"--with 'hudi' .* is unknown") as caught:
        table_formats.parse(["delta,hudi"], "4.1")
    assert "Accepted are delta, iceberg" in caught.value.message
    with pytest.raises(
        SparkCdcError, match=r"'iceberg': there is no build for Spark 4\.2"
    ) as caught:
        table_formats.parse(["delta,iceberg"], "4.2")
    assert "3.5, 4.0, 4.1" in caught.value.message


def test_the_pinned_spark_has_both() -> None:
    for name, builds in table_formats.BUILDS.items():
        assert table_formats.spark_version() in builds, name
        for build in builds.values():
            assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) for jar in build)


def test_settings_of_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / "mine.jar"
    jar.touch()

    def conf(formats: str, *more: str) -> dict[str, str]:
        chosen = server.settings(tmp_path, jars=[str(jar)], conf=more, formats=[formats])
        return server.spark_conf(chosen)

    session, own = "spark.sql.catalog.spark_catalog", "spark.sql.catalog.iceberg"
    delta, iceberg, both = conf("delta"), conf("iceberg"), conf("delta,iceberg")
    assert delta[session].endswith("DeltaCatalog")
    assert iceberg[session].endswith("SparkSessionCatalog")
    assert iceberg[f"{session}.type"] == "hive"
    assert "spark.sql.extensions" not in iceberg
    assert both[session].endswith("DeltaCatalog")
    assert both[own].endswith("SparkCatalog")
    assert both[f"{own}.type"] == "hive"
    assert len(both["spark.sql.extensions"].split(",")) == 2
    names = [Path(one).name for one in both["spark.driver.extraClassPath"].split(os.pathsep)]
    pinned = [jar.name for jar in table_formats.jars(["delta", "iceberg"])]
    assert names == [*pinned, "mine.jar"]
    # without a metastore Iceberg keeps its tables by their folders
    memory = conf("iceberg", "spark.sql.catalogImplementation=in-memory")
    assert memory[f"{session}.type"] == "hadoop"
    assert memory[f"{session}.warehouse"] == str(tmp_path / "warehouse")
    # a user's extensions and class path come on top
    more = conf("delta", "spark.sql.extensions=my.Own", "spark.driver.extraClassPath=/x.jar")
    assert more["spark.sql.extensions"].endswith("DeltaSparkSessionExtension,my.Own")
    assert more["spark.driver.extraClassPath"].endswith(f"{jar}{os.pathsep}/x.jar")
    monkeypatch.setenv("SPARK_CDC_WITH", "iceberg")
    assert server.settings(tmp_path).formats == ("iceberg",)
    assert server.settings(tmp_path, formats=["delta"]).formats == ("delta", "iceberg")


def test_a_running_server_that_lacks_a_format(tmp_path: Path) -> None:
    chosen = server.settings(tmp_path, formats=["delta,iceberg"])
    running = Status("running", {"pid": 1, "port": 1, "formats": ["iceberg"]})
    with pytest.raises(SparkCdcError, match="was started without delta") as caught:
        server._check_formats(chosen, running)
    assert "server start --with delta,iceberg" in caught.value.next_step
    server._check_formats(dataclasses.replace(chosen, formats=("iceberg",)), running)
    with pytest.raises(SparkCdcError, match="no such file"):
        server.settings(tmp_path, ivy_settings="/no/settings.xml")


# what the catalogue says of a table
CATALOGUE = {
    "parquet": "Provider: parquet\nStorage Properties: [partitionOverwriteMode=dynamic]\n",
    "delta": "Provider: delta\nStorage Properties: [path=x]\n",
    "iceberg": "Provider: hive\nTable Properties: [table_type=ICEBERG]\n",
}
PARTS = ["business_date=2024-03-01/load_id=a/operation=I", "business_date=2024-03-01/load_id=b"]


class Table(str):
    """A relation as dbt has it."""

    schema, identifier = "cdc", "x_ledger"

    def incorporate(self, **more: Any) -> Table:
        return self


def macros(format: str, columns: str = "", **answers: str) -> tuple[Macros, list[str]]:
    """The macros on a ledger of a format, and the statements that they send.

    columns: its columns. answers: what `set` tells of settings, by the last word of their names.
    """
    sent: list[str] = []

    def run_query(sql: str) -> Any:
        sent.append(sql)
        value = answers.get(sql.strip("`").split(".")[-1].replace("-", "_"), "<undefined>")
        return SimpleNamespace(rows=[{"key": sql, "value": value}] if sql[:4] == "set " else [])

    found = [SimpleNamespace(name=name, dtype="int") for name in columns.split()]
    given = load_macros(
        run_query=run_query,
        load_cached_relation=lambda table: SimpleNamespace(information=CATALOGUE[format]),
        adapter=SimpleNamespace(get_columns_in_relation=lambda table: found),
    )
    return given, sent


def test_spark_compiles_large_loads_and_interprets_small_ones() -> None:
    """A session that had a small load may have a large one behind it, as in a replay."""
    sent: list[str] = []
    given = load_macros(
        graph={},
        invocation_id="x",
        _send=sent.append,
        _has_option=lambda *_: True,
        _set_overwrite=lambda table: "",
    )

    def told(bytes: int | None, prior_rows: int) -> list[str]:
        sent.clear()
        files = None if bytes is None else {"bytes": bytes}
        is_small = given._is_small_load({"prior_rows": prior_rows}, files)
        given._set_session(Table("cdc.x_ledger"), is_small)
        return [sql for sql in sent if "codegen.wholeStage" in sql or "factoryMode" in sql]

    few = [
        "set spark.sql.codegen.wholeStage = false",
        "set spark.sql.codegen.factoryMode = NO_CODEGEN",
    ]
    assert told(2**20, 0) == []
    assert told(2**20 - 1, 10**5 - 1) == few
    for many in ((2**20, 0), (0, 10**5), (None, 0)):
        assert told(*many) == [f"reset {sql.split()[1]}" for sql in few]


def test_partitions_are_dropped_as_the_format_has_it() -> None:
    plain = macros("parquet")[0]._drop_partitions_sql(Table("cdc.x_ledger"), PARTS)
    assert plain.startswith("alter table cdc.x_ledger drop if exists\n    partition (business")
    for format in ("delta", "iceberg"):
        sql = macros(format)[0]._drop_partitions_sql(Table("cdc.x_ledger"), PARTS)
        assert " ".join(sql.split()) == (
            "delete from cdc.x_ledger where business_date = '2024-03-01' and load_id = 'a' and"
            " operation = 'I' or business_date = '2024-03-01' and load_id = 'b'"
        )


def test_only_what_is_written_is_overwritten() -> None:
    """Else an overwrite would take the whole table of Delta or Iceberg."""
    for format, wanted in (("parquet", 0), ("delta", 1), ("iceberg", 1)):
        given, sent = macros(format)
        given._set_overwrite(Table("cdc.x_ledger"))
        assert sent.count("set spark.sql.sources.partitionOverwriteMode = dynamic") == wanted


def test_new_columns_come_before_the_partitions_of_files_and_behind_those_of_tables() -> None:
    wanted = [
        {"name": name, "at": name, "at_sql": name, "sql": name, "data_type": "int"}
        for name in ("id", "more", "load_id")
    ]
    for format, order in (("parquet", "id more load_id"), ("delta", "id load_id more")):
        given, sent = macros(format, "id load_id")
        table = Table("t_ledger")
        settled = given._settled_columns(
            {"name": "x", "file_format": format, "stored": []}, table, wanted, table
        )
        assert [column["name"] for column in settled] == order.split()
        assert "alter table t_ledger add columns (more int)" in sent


ICEBERG = "org.apache.iceberg.spark.SparkSessionCatalog"
DELTA = "org.apache.spark.sql.delta.catalog.DeltaCatalog"


@pytest.mark.parametrize(
    ("format", "answers", "message"),
    [
        ("delta", {"spark_catalog": DELTA}, None),
        (
            "delta",
            {},
            "is <undefined>.* server start --with delta. x_ledger",
        ),
        ("iceberg", {}, "server start --with iceberg. x_ledger was not made"),
        ("iceberg", {"spark_catalog": DELTA}, "--with iceberg alone"),
        ("iceberg", {"spark_catalog": ICEBERG}, "cache-enabled=false"),
        ("iceberg", {"spark_catalog": ICEBERG, "cache_enabled": "false"}, None),
        (
            "iceberg",
            {"spark_catalog": ICEBERG, "extensions": "org.apache.iceberg.spark.X"},
            "views of Iceberg's own",
        ),
    ],
)
def test_a_format_that_the_server_lacks(
    format: str, answers: dict[str, str], message: str | None
) -> None:
    given, sent = macros("parquet", **answers)
    entity = {"name": "x", "file_format": format}
    if message is None:
        given._check_table_format(entity, "x_ledger")
        assert all(sql.startswith("set ") for sql in sent)
        return
    with pytest.raises(CompilerError, match=message):
        given._check_table_format(entity, "x_ledger")


NO_VIEWS = "Error occurred during query planning: \nCatalog `lake` does not support views."


NO_PATH = "Error occurred during query planning: \n[PATH_NOT_FOUND] Path does not exist: file:/x."
NO_SLASH = "Error occurred during query planning: \nMalformed request: Ambiguous URI path separator"
JDBC = {"type": "jdbc", "jdbc.schema-version": "V1", "cache-enabled": "false"}
REST = {"catalog-impl": "org.apache.iceberg.rest.RESTCatalog", "cache-enabled": "false"}
GLUE = {"catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog", "cache-enabled": "false"}
SQL = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
LAKE = "org.apache.iceberg.spark.SparkCatalog"


def platform(catalog: str, kind: str, plan: str = "", **more: Any) -> Macros:
    """The macros on a server with a default catalog of a class; more: its settings."""
    settings = {"": kind, "extensions": SQL} | more

    def run_query(sql: str) -> Any:
        name = sql.strip("`").rpartition("spark.sql.")[2].removeprefix(f"catalog.{catalog}")
        name = name.removeprefix(".")
        answers = {
            "select": {"catalog": catalog},
            "set": {"value": settings.get(name, "<undefined>")},
            "explain": {"plan": settings.get("path", "") if "text.`" in sql else plan},
        }
        return SimpleNamespace(rows=[answers[sql.split()[0]]])

    target = SimpleNamespace(type="spark", schema="cdc", name="local")
    return load_macros(run_query=run_query, target=target, graph={}, invocation_id="x")


@pytest.mark.parametrize(
    ("catalog", "kind", "plan", "settings", "message"),
    [
        ("spark_catalog", ICEBERG, "", {}, None),
        ("main", "<undefined>", "", {}, None),
        ("lake", LAKE, "", JDBC, None),
        ("lake", LAKE, "", REST, None),
        ("lake", LAKE, NO_VIEWS, JDBC, None),  # Iceberg's are not planned with others'
        ("lake", LAKE, "", JDBC | {"extensions": "<undefined>"}, "no views without Iceberg's ext"),
        ("lake", "com.example.Catalog", NO_VIEWS, {}, "lake .com.example.Catalog., which has no"),
        ("lake", LAKE, "", GLUE, "whose type is org.apache.iceberg.aws.glue.GlueCatalog: commits"),
        ("lake", LAKE, "", {"type": "hadoop"}, "whose type is hadoop: commits replace views"),
        ("lake", LAKE, "", JDBC | {"jdbc.schema-version": "V0"}, "lake.jdbc.schema-version=V1"),
        ("lake", LAKE, "", REST | {"cache-enabled": "true"}, "spark.sql.catalog.lake.cache-enab"),
        ("lake", LAKE, "", REST | {"path": NO_PATH}, None),
        ("lake", LAKE, "", REST | {"path": NO_SLASH}, "names with a slash, .*Malformed request"),
        ("lake", "org.apache.iceberg.Other", "", {}, "whose views are Iceberg's own"),
    ],
)
def test_a_default_catalog_in_which_loads_can_not_commit(
    catalog: str, kind: str, plan: str, settings: dict[str, str], message: str | None
) -> None:
    macros = platform(catalog, kind, plan, **settings)
    problems = macros._catalog_problems()
    assert len(problems) == (message is not None)
    if message:
        assert re.search(message, problems[0])
        assert "leave spark.sql.defaultCatalog out of the profile" in problems[0]
    is_lake = catalog == "lake" and message is None
    assert macros._platform()["name"] == ("iceberg" if is_lake else "hive")
    assert macros._file_format_of_vars() == ("iceberg" if is_lake else "parquet")


def test_a_platform_that_nobody_has_seen_load() -> None:
    target = SimpleNamespace(type="trino", schema="cdc", name="prod")
    assert load_macros(target=target)._catalog_problems() == [
        "the type of the target prod is trino, with which no load has been tested yet. "
        "Accepted are type: spark, whose catalog has views as Hive's metastore has them, and "
        "type: databricks (docs/platforms.md)."
    ]


def table_format_problems(columns: list[dict[str, Any]], settings: dict[str, Any]) -> list[str]:
    macros = load_macros()
    return macros._table_format_problems(macros._columns_of({"columns": columns}), settings)


def test_columns_that_a_format_can_not_hold() -> None:
    columns = [
        {"name": "a b", "data_type": "int"},
        {"name": "c", "data_type": "struct<d: smallint>"},
        {"name": "e", "data_type": "array<int>"},
    ]
    problems = {
        format: table_format_problems(columns, {"file_format": format})
        for format in ("parquet", "orc", "delta", "iceberg")
    }
    assert {format: len(found) for format, found in problems.items()} == {
        "parquet": 0, "orc": 0, "delta": 1, "iceberg": 1,
    }  # fmt: skip
    assert "`from: a b`" in problems["delta"][0]
    assert "has the type struct<d: smallint>" in problems["iceberg"][0]


def test_names_that_spark_does_not_find_in_orc() -> None:
    columns = [
        {"name": "a`b", "data_type": "int"},
        {"name": "c", "data_type": "struct<`d``e`:int>"},
        {"name": "f", "data_type": "struct<`g h`:int>"},
        {"name": "i`", "data_type": "int", "meta": {"role": "control"}},
        {"name": "k", "data_type": "int", "meta": {"from": "k`"}},
    ]

    def problems(**settings: Any) -> list[str]:
        found = table_format_problems(columns, settings)
        return [text.split("'")[1] for text in found]

    assert problems(file_format="parquet") == []
    assert problems(file_format="orc") == ["a`b", "c"]
    assert problems(file_format="parquet", source={"format": "orc"}) == ["a`b", "c", "i`", "k"]
    sources = {"full": {"format": "orc"}}
    assert problems(file_format="parquet", sources=sources) == ["a`b", "c", "i`", "k"]


TYPES = "id int, name string"


@pytest.mark.full
def test_both_on_one_server(tmp_path: Path) -> None:
    """Real jars: tables of both formats, from two sessions, one after the other."""
    chosen = server.settings(tmp_path, port="0", memory="1g", formats=["delta,iceberg"])
    try:
        port = server.start(chosen).port
        for day in ("one", "two"):
            connection = server.connect(port)
            cursor = connection.cursor()
            for table, name in (("d", "delta"), ("iceberg.default.i", "iceberg")):
                cursor.execute(f"create table if not exists {table} ({TYPES}) using {name}")
                cursor.execute(f"insert into {table} values (1, '{day}')")
            connection.close()
        connection = server.connect(port)
        cursor = connection.cursor()
        for table in ("d", "iceberg.default.i"):
            cursor.execute(f"select name from {table} order by name")
            assert cursor.fetchall() == [("one",), ("two",)]
        # a profile whose default catalog is the one that has no views of Spark's
        shop = Project(tmp_path / "shop", port, "shop", cursor, file_format="iceberg")
        shop.profile(server_side_parameters={"set:hiveconf:spark.sql.defaultCatalog": "iceberg"})
        shop.entity("goods", {"id": {"data_type": "int", "role": "key"}, "name": "string"})
        shop.land("goods", "2024-01-01", "id,name", "1,a")
        outcome = shop.run("2024-01-01", "goods")
        assert not outcome.success
        assert "the default catalog of the target t is iceberg" in outcome.output
        cursor.execute("show tables in iceberg.shop")
        assert cursor.fetchall() == []
        connection.close()
    finally:
        server.stop(tmp_path)
