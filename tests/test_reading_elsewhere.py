"""Other engines read what Spark's views show, by the queries of docs/reading_elsewhere.md.

The schema lies in a folder whose name Spark's URIs have to quote.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyspark
import pytest

from conftest import Server
from own_servers import shop_on_delta
from project import ROOT, Project
from spark_cdc import cli as command_line
from spark_cdc.commands import files
from spark_cdc.jinja_bridge import CompilerError, load_macros
from spark_cdc.server import java
from spark_cdc.server import local as local_server

pytestmark = pytest.mark.proves("views")

PAGE = (ROOT / "docs" / "reading_elsewhere.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
COLUMNS: dict[str, Any] = {
    "order_no": {"data_type": "bigint", "role": "key"},
    "line_no": {"data_type": "int", "role": "key"},
    "customer": "string",
    "article": "string",
    "quantity": "int",
    "price": "decimal(10,2)",
    "delivery_date": "date",
    "remark": "string",
    "exported_at": {"data_type": "timestamp", "role": "untracked"},
    "op": {"data_type": "string", "role": "control"},
}
HEAD = ",".join(COLUMNS)
NAMES = [name for name in COLUMNS if name != "op"]
HASHED = [*NAMES, "key_hash", "nonkey_hash"]
# key, quantity, operation; each key has lived through another story
DAYS: dict[str, list[tuple[int, object, str]]] = {
    "2024-03-01": [(key, 1, "I") for key in range(1, 9)],
    "2024-03-02": [(1, 2, "U"), (2, 0, "D"), (9, 1, "I")],
    "2024-03-03": [(3, 3, "U"), (4, 0, "D"), (2, 5, "I"), (10, "many", "I")],
    "2024-03-04": [(3, 4, "U"), (5, 0, "D"), (9, 0, "D"), (4, 7, "I")],
}


def line(key: int, quantity: object, operation: str, exported: str = "08:00:00") -> str:
    """A line of the source; every other one has no date, and all have what CSV has to quote."""
    date = "2024-04-01" if key % 2 else ""
    text = f'"{key}, ""ä"" '
    return (
        f'{key},1,customer {key},{text}a",{quantity},{key}.50,{date},{text}b",'
        f"2024-03-01 {exported}.123456,{operation}"
    )


def land(project: Project, day: str, rows: list[tuple[int, object, str]]) -> None:
    project.land("orders", day, HEAD, *(line(*row) for row in rows))


@pytest.fixture(scope="module")
def schema(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An empty schema in a folder whose name has a space, a percent sign and a letter."""
    connection = local_server.connect(server.port)
    cursor = connection.cursor()
    drops = [f"drop database if exists shop{more} cascade" for more in ("", "_commits")]
    for drop in drops:
        cursor.execute(drop)
    place = tmp_path_factory.mktemp("place") / "own data%41 ä"
    cursor.execute(f"create database shop location '{place}'")
    yield "shop"
    for drop in drops:
        cursor.execute(drop)
    connection.close()


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """Four deltas, of which the second is repeated and the third a checkpoint; then one refused."""
    project.entity(
        "orders",
        COLUMNS,
        load_type="delta",
        deleted_when="op = 'D'",
        on_reject="quarantine",
        source={"options": {"escape": '"'}},
        checkpoint={"loads": 1, "changed_share": 100},
    )
    for day, rows in DAYS.items():
        land(project, day, rows)
        project.load(day, "orders")
        if day == "2024-03-02":  # in its place comes another one
            land(project, day, [*rows[:2], (9, 2, "I"), (8, 8, "U")])
            project.load(day, "orders")
    land(project, "2024-03-05", [(1, 9, "U"), (1, 10, "U")])
    assert not project.run("2024-03-05", "orders").success
    return project


@pytest.fixture
def listed(
    shop: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., SimpleNamespace]:
    """`spark-cdc` on the project, as subprocess.run gives it."""
    shop.serve_commands(monkeypatch)

    def run(words: list[str], **_: Any) -> SimpleNamespace:
        code = command_line.main(["--quiet", *words[1:]])
        said = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)

    return run


def block(variable: str, replaced: dict[str, str] | None = None) -> list[tuple[Any, ...]]:
    """Run the page's block that fills a variable; return its rows."""
    code = next(one for one in BLOCKS if f"\n{variable} = " in one)
    for old, new in (replaced or {}).items():
        assert old in code
        code = code.replace(old, new)
    names: dict[str, Any] = {}
    exec(compile(code, f"reading_elsewhere.md: {variable}", "exec"), names)
    return plain(getattr(names[variable], "values", names[variable]))


def query(variable: str) -> str:
    """The query of DuckDB in that block."""
    code = next(one for one in BLOCKS if f"\n{variable} = " in one)
    return code.split('"""')[1]


def shown(shop: Project, view: str, *columns: str) -> list[tuple[Any, ...]]:
    """What Spark's view shows."""
    return plain(shop.query(f"select {', '.join(columns)} from {{s}}.orders_{view}"))


def plain(rows: Any) -> list[tuple[Any, ...]]:
    """Rows in order, with times in UTC; dates are texts, as PyHive has them."""
    return sorted((tuple(map(_plain, row)) for row in rows), key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime) and value.tzinfo:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value.isoformat() if isinstance(value, datetime.date) else value


def test_the_files_of_the_active_loads_show_current(
    shop: Project, listed: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", listed)
    expected = shown(shop, "current", *HASHED, "eff_start_date")
    assert [row[0] for row in expected] == [1, 2, 3, 4, 6, 7, 8]
    assert block("current") == expected
    # a file that is not listed would change them
    said = listed(["spark-cdc", "files", "orders"])
    paths = said.stdout.splitlines()
    ledger = Path(paths[0]).parents[3]
    every = [str(path) for path in ledger.rglob("*.parquet")]
    assert set(paths) < set(every) and "orders_current as of commit 5" in said.stderr
    assert plain(duckdb.execute(query("current"), {"files": every}).fetchall()) != expected


def test_the_files_of_all_active_loads_show_history(
    shop: Project, listed: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", listed)
    names = [*HASHED, "operation", "eff_start_date", "business_date"]
    expected = shown(shop, "history", *names)
    assert {row[-3] for row in expected} == {"I", "U", "D"}
    assert block("history") == expected


def test_a_program_gets_the_list_as_json(
    shop: Project, listed: Callable[..., SimpleNamespace]
) -> None:
    said = listed(["spark-cdc", "files", "orders", "--output", "json"])
    found = json.loads(said.stdout)
    assert (found["entity"], found["view"], found["format"]) == ("orders", "current", "parquet")
    timeline = shop.timeline("orders")
    assert found["commit"] == timeline["sequence"] and found["loads"] == timeline["loads"][-2:]
    assert found["columns"] == dict(zip(NAMES, NAMES, strict=True))
    for file in found["files"]:
        place = f"/load_id={file['load_id']}/operation={file['operation']}/"
        assert place in file["path"] and Path(file["path"]).stat().st_size == file["bytes"]
    assert {file["operation"] for file in found["files"]} == {"I", "U", "D", "X"}
    assert sum(file["rows"] for file in found["files"]) > 7


def test_pandas_reads_the_views_by_pyhive(shop: Project) -> None:
    replaced = {"port=10019": f"port={shop.port}", '"cdc"': '"shop"', "1003": "3"}
    expected = [row[:5] for row in shown(shop, "current", *NAMES) if row[0] == 3]
    assert [row[:5] for row in block("orders", replaced)] == expected


@pytest.mark.full
def test_beeline_reads_the_views_by_jdbc(shop: Project) -> None:
    [line] = re.findall(r"^    beeline (.*)$", PAGE, re.MULTILINE)
    line = line.replace("10019/cdc", f"{shop.port}/shop").replace("1003", "3")
    program = Path(pyspark.__file__).parent / "bin" / "beeline"
    home = Path(java.ensure().executable).resolve().parents[1]
    done = subprocess.run(
        f"{program} {line}",
        env={**os.environ, "JAVA_HOME": str(home)},
        shell=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert re.search(r'\| 1 +\| 3, "ä" a +\|', done.stdout), done.stdout


@pytest.mark.full
def test_columns_that_moved_are_named(
    shop: Project, listed: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The load that brings the change writes all rows under the names that it gives."""
    columns = dict(COLUMNS)
    columns["quantity"] = "bigint"
    columns["note"] = {
        "data_type": columns.pop("remark"),
        "renamed_from": "remark",
        "from": "remark",
    }
    settings = {"load_type": "delta", "deleted_when": "op = 'D'"}
    source = {"options": {"escape": '"'}}
    shop.entity("orders", columns, source=source, **settings)
    before = listed(["spark-cdc", "files", "orders"])
    assert before.returncode == 1 and before.stdout == ""
    assert "the columns of stg_orders are not those of the last load" in before.stderr
    land(shop, "2024-03-05", [(1, 9, "U")])
    shop.load("2024-03-05", "orders")
    land(shop, "2024-03-06", [(3, 10, "U"), (6, 0, "D")])
    shop.load("2024-03-06", "orders")
    shop.query("refresh table {s}.orders_ledger")
    said = listed(["spark-cdc", "files", "orders"])
    assert "The column quantity is quantity__2 in the files." in said.stderr
    assert "The column note is remark in the files." in said.stderr
    sql = query("current").replace(" quantity,", " quantity__2 as quantity,")
    sql = sql.replace("remark,", "remark as note,")
    names = [{"remark": "note"}.get(name, name) for name in [*HASHED, "eff_start_date"]]
    expected = shown(shop, "current", *names)
    assert {row[0]: row[4] for row in expected}[3] == 10
    assert plain(duckdb.execute(sql, {"files": said.stdout.splitlines()}).fetchall()) == expected
    refused = listed(["spark-cdc", "files", "orders", "--view", "history"])
    assert refused.returncode == 1 and "orders_history" in refused.stderr


@pytest.mark.full
def test_duckdb_reads_a_published_delta_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the files of a ledger of Delta are not listed."""
    with shop_on_delta(tmp_path, file_format="delta") as shop:
        shop.entity("orders", COLUMNS, load_type="delta", source={"options": {"escape": '"'}})
        table = f"""{{{{ config(location_root='{tmp_path}/published') }}}}
        {{{{ spark_cdc.publish('orders', format='delta') }}}}"""
        for name, text in (("changes", "{{ spark_cdc.changes() }}"), ("table", table)):
            (shop.folder / "models" / "orders" / f"orders_{name}.sql").write_text(text, "utf-8")
        for day in list(DAYS)[:2]:
            land(shop, day, DAYS[day])
            shop.load(day, "orders")
        read = block("amounts", {"/data/published": f"{tmp_path}/published"})
        assert read == plain(
            shop.query(
                "select customer, sum(quantity * price) from {s}.orders_current group by customer"
            )
        )
        shop.serve_commands(monkeypatch)
        assert command_line.main(["--quiet", "files", "orders"]) == 1
        said = capsys.readouterr()
        assert said.out == "" and "is a table of delta" in said.err


TIMELINE = {"loads": ["20240301-fc-0000000a"], "layout": {}, "definition": None}
CASES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("current", {"loads": []}, {}, "no load is committed"),
    ("current", {}, {"_table_format": lambda table: "delta"}, "deletion vectors"),
    ("current", {}, {"_table_format": lambda table: "iceberg"}, "format='iceberg'"),
    ("current", {}, {"_write_target": lambda table: f"{table}_own"}, "this is a branch"),
    ("current", {}, {"_behind_columns": lambda entity, fingerprint: "x"}, "not those of the last"),
    ("history", {"layout": {"columns": {"a": {"at": "b"}}}}, {}, "orders_history"),
]


@pytest.mark.parametrize(("view", "timeline", "replaced", "reason"), CASES)
def test_what_files_alone_do_not_say_is_refused(
    view: str, timeline: dict[str, Any], replaced: dict[str, Any], reason: str
) -> None:
    plain_table = {
        "_table_format": lambda table: None,
        "_write_target": lambda table: table,
        "_behind_columns": lambda entity, fingerprint: None,
        "_load_command": lambda entity, time: "spark-cdc load DATE --select orders",
    }
    macros = load_macros(**{**plain_table, **replaced})
    ctx = {
        "entity": {"name": "orders"},
        "public": "s.orders_ledger",
        "timeline": TIMELINE | timeline,
    }
    with pytest.raises(CompilerError, match=re.escape(reason)) as error:
        macros._state_files(ctx, view)
    assert str(error.value).startswith("spark_cdc.files: orders: ")
    assert "No file was listed." in str(error.value)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///data/a%20b/load_id=1/part-0.parquet", "/data/a b/load_id=1/part-0.parquet"),
        ("file:/data/own%2541/part-0.parquet", "/data/own%41/part-0.parquet"),
        ("s3a://lake/cdc/a%20b.parquet", "s3a://lake/cdc/a b.parquet"),
    ],
)
def test_paths_are_those_that_engines_open(uri: str, path: str) -> None:
    assert files.path_of(uri) == path
