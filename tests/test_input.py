"""Every file and every record of a load's input is read, or is why nothing is committed."""

from __future__ import annotations

import copy
import gzip
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import column
from project import Outcome, Project
from spark_cdc.macros import CompilerError
from warehouse import Warehouse, is_spark_3

KEYED = {"id": {"data_type": "int", "role": "key"}, "value": "int", "memo": "string"}
MULTI_LINE = {"source": {"options": {"multiLine": True, "escape": '"'}}}
JSON = {"source": {"format": "json"}}
PARQUET = {"source": {"format": "parquet"}}
ORC = {"source": {"format": "orc"}}
GOOD = "id,value,memo\n1,1,a\n2,2,b\n3,3,c\n"
GOOD_ROWS = [(1, 1, "a"), (2, 2, "b"), (3, 3, "c")]
GOOD_JSON = "".join(f'{{"id": {i}, "value": {i}, "memo": "{m}"}}\n' for i, m in enumerate("abc", 1))
ROWS = "select {} from values (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c') as rows (id, value, memo)"

# entity: (settings, files of the second day, guard, what the message must say). A file is bytes, or
# a query whose rows it holds.
CASES: dict[str, tuple[dict[str, Any], dict[str, bytes | str], str, list[str]]] = {
    "in_a_subfolder": (
        {},
        {"a.csv": b"id,value,memo\n1,1,a\n", "more/b.csv": b"id,value,memo\n2,2,b\n"},
        "unread_files",
        ["not all of csv files of", "/2024-01-02/more", "a file of 0 bytes or a folder"],
    ),
    "of_no_bytes": (
        {},
        {"a.csv": b"id,value,memo\n1,1,a\n", "b, c.csv": b"", "_SUCCESS": b""},
        "unread_files",
        ["left out would be file:", "/2024-01-02/b, c.csv. Each is"],
    ),
    "of_no_bytes_parquet": (
        PARQUET,
        {"a.parquet": ROWS.format("*") + " where id = 1", "b.parquet": b""},
        "unread_files",
        ["/2024-01-02/b.parquet. Each is"],
    ),
    "hidden_only": (
        JSON,
        {"_a.json": b'{"id": 1, "value": 1, "memo": "a"}\n'},
        "no_files",
        ["there is no file to read: no json files", "/2024-01-02/_a.json", "on_no_files: empty"],
    ),
    "a_folder_only": (
        PARQUET,
        {"more/a.parquet": ROWS.format("*")},
        "no_files",
        ["there is no file to read: no parquet files", ", only file:", "/2024-01-02/more"],
    ),
    "lacks_a_column": (
        PARQUET,
        {
            "a.parquet": ROWS.format("*") + " where id = 1",
            "b.parquet": ROWS.format("id, value") + " where id > 1",
        },
        "missing_columns",
        ["the columns of parquet file file:", "/b.parquet are not the declared", "missing: memo"],
    ),
    "another_name": (
        ORC,
        {
            "a.orc": ROWS.format("*") + " where id = 1",
            "b.orc": ROWS.format("id, value, memo as notes") + " where id > 1",
        },
        "missing_columns, unexpected_columns",
        ["another_name: the columns of orc file", "missing: memo", "unexpected: notes"],
    ),
    "another_type": (
        {**PARQUET, "columns": {**KEYED, "value": "bigint"}},
        {
            "a.parquet": ROWS.format("*") + " where id = 1",
            "b.parquet": ROWS.format("id, cast(value as bigint) as value, memo") + " where id > 1",
        },
        "column_types",
        [
            "value is int in parquet file file:",
            "value is bigint in parquet file file:",
            "Deliver them alike",
        ],
    ),
    "open_quote": (
        {},
        {"a.csv": b'id,value,memo\n1,1,"a, b"\n2,2,b\n3,3,"c\n'},
        "unclosed_quotes",
        ["open_quote: 1 line of 2024-01-02 has a quote that is not closed", 'a.csv: 3,3,"c'],
    ),
    "broken_value": (
        {"on_reject": "quarantine", "guards": {"rejects": None, "rejected_share": None}},
        {"a.csv": b'id,value,memo\n1,1,a\n2,2,"b\nbb"\n3,3,c\n'},
        "unclosed_quotes",
        ['a.csv: 2,2,"b', "values that go over several lines take source.options.multiLine: true"],
    ),
    "doubled_quotes": (
        {},
        {"a.csv": b'id,value,memo\n1,1,"say ""a"""\n2,2,"b"\n3,3,""\n'},
        "unescaped_quotes",
        [
            "1 line of 2024-01-02 has a quote within a quoted value that is not escaped",
            'a.csv: 1,1,"say ""a"""',
            "set source.options.escape: '\"'",
            "[doubled_quotes.unescaped_quotes]",
        ],
    ),
    "swallowed": (
        MULTI_LINE,
        {"a.csv": b'id,value,memo\n1,1,a\n2,2,"b\n3,3,c\n', "b.csv": b"id,value,memo\n"},
        "unclosed_quotes",
        ["swallowed: 1 file of 2024-01-02 has a quote that is not closed", "/2024-01-02/a.csv"],
    ),
    "latin_1": (
        {},
        {"a.csv": b"id,value,memo\n1,1,caf\xe9\n2,2,caf\xe8\n3,3,c\n"},
        "malformed_text",
        ["2 lines of 2024-01-02 have bytes that are not UTF-8", "a.csv: 1,1,caf\ufffd"],
    ),
    "gzip_by_another_name": (
        {},
        {"a.csv": gzip.compress(b"id,value,memo\n1,1,a\n2,2,b\n")},
        "missing_columns, unexpected_columns",
        ["of gzip has to end in .gz, as data.csv.gz does", "declared: id, value, memo"],
    ),
}
# Files that Spark itself must refuse to read, with an error that names them.
UNREADABLE: dict[str, tuple[dict[str, Any], dict[str, bytes | str]]] = {
    # each opening quote would close at the other: two rows became one
    "swallowed_twice": (MULTI_LINE, {"a.csv": b'id,value,memo\n1,1,"a\n2,2,"b\n3,3,c\n'}),
}
# What is taken: settings, files of the second day, rows after it.
TAKEN: dict[str, tuple[dict[str, Any], dict[str, bytes | str], list[tuple[Any, ...]]]] = {
    "hidden_beside": (
        {},
        {"a.csv": GOOD.encode(), "_SUCCESS": b"", ".a.crc": b"x"},
        GOOD_ROWS,
    ),
    "partitions": (
        {"columns": {"id": {"data_type": "int", "role": "key"}, "memo": "string"}, **ORC},
        {"memo=a/a.orc": "select 1 as id", "memo=b/b.orc": "select 2 as id"},
        [(1, None, "a"), (2, None, "b")],
    ),
    # null, empty, a quote and a line break, as PostgreSQL's COPY (format csv, header) has them
    "postgres_copy": (
        MULTI_LINE,
        {"a.csv": b'id,value,memo\n1,,\n2,2,""\n3,3,"say ""hi"", \n\\N and, more"\n'},
        [(1, None, None), (2, 2, ""), (3, 3, 'say "hi", \n\\N and, more')],
    ),
    "by_pattern": (
        {"source": {"path": "{landing}/by_pattern/{business_date}/*/d*.csv"}},
        {"x/d1.csv": b"id,value,memo\n1,5,a\n", "y/d2.csv": GOOD[:14].encode() + b"2,6,b\n"},
        [(1, 5, "a"), (2, 6, "b")],
    ),
    "one_file": (
        {"source": {"path": "{landing}/one_file/{business_date}/data.csv"}},
        {"data.csv": GOOD.replace("1,1", "1,7").encode(), "other.csv": b""},
        [(1, 7, "a"), (2, 2, "b"), (3, 3, "c")],
    ),
    "declared_encoding": (
        {"source": {"options": {"encoding": "ISO-8859-1"}}},
        {"a.csv": b"id,value,memo\n1,1,caf\xe9\n2,2,b\n3,3,c\n"},
        [(1, 1, "café"), (2, 2, "b"), (3, 3, "c")],
    ),
    "replacement_character": (
        {},
        {"a.csv": "id,value,memo\n1,1,\ufffd\n2,2,b\n3,3,c\n".encode()},
        [(1, 1, "\ufffd"), (2, 2, "b"), (3, 3, "c")],
    ),
    "quotes": (
        {"source": {"options": {"escape": '"', "comment": "#"}}},
        {
            "a.csv": b'id,value,memo\n\n  \n# "a comment\n'
            b'1,1,"a ""b"", c"\n2,2,5" pipe\n"3",3,""""\n'
        },
        [(1, 1, 'a "b", c'), (2, 2, '5" pipe'), (3, 3, '"')],
    ),
    "backslashes": (
        {},
        {"a.csv": b'id,value,memo\n1,1,"a \\"b\\", c"\n2,2,"b\\\\"\n3,3,"x" \n'},
        [(1, 1, 'a "b", c'), (2, 2, "b\\"), (3, 3, "x")],
    ),
    "no_quotes": (
        {"source": {"options": {"quote": "", "sep": "|", "header": False}}},
        {"a.csv": b'1|1|"a\n2|2|b"\n3|3|c\n'},
        [(1, 1, '"a'), (2, 2, 'b"'), (3, 3, "c")],
    ),
    "several_lines": (
        MULTI_LINE,
        {"a.csv": b'id,value,memo\n1,1,"a\n""b"", \n"\n2,2,"\n"\n3,3,"x,"\n'},
        [(1, 1, 'a\n"b", \n'), (2, 2, "\n"), (3, 3, "x,")],
    ),
    "lacks_a_column_it_may": (
        {"source": {"format": "parquet", "on_missing_column": "null"}},
        {
            "a.parquet": ROWS.format("id, value") + " where id = 1",
            "b.parquet": ROWS.format("*") + " where id > 1",
        },
        [(1, 1, None), (2, 2, "b"), (3, 3, "c")],
    ),
    "nothing_came": (
        {"load_type": "delta", "source": {"format": "parquet", "on_no_files": "empty"}},
        {"_SUCCESS": b""},
        GOOD_ROWS,
    ),
    # 1.3.2024 is no dd.MM.yyyy, but the parser of Spark 2 took it, at which Spark 3.5 stops
    "no_such_pattern": (
        {
            "columns": {**KEYED, "memo": {"data_type": "date", "format": "dd.MM.yyyy"}},
            "on_reject": "quarantine",
            "guards": {"rejects": None, "rejected_share": None},
        },
        {"a.csv": b"id,value,memo\n1,1,02.03.2024\n2,2,1.3.2024\n"},
        [(1, None, "2024-03-02"), (2, None, "2024-03-01")],
    ),
    "no_folder": (
        {"load_type": "delta", "source": {"on_no_files": "empty"}},
        {},
        GOOD_ROWS,
    ),
    "no_events": (
        {
            "load_type": "events",
            "source": {"format": "json", "on_no_files": "empty"},
            "events": {"format": "debezium"},
        },
        {},
        GOOD_ROWS,
    ),
}
FIRST = {  # what lands on the first day, where it is no CSV with a header
    "partitions": {"memo=a/a.orc": "select 1 as id"},
    "by_pattern": {"x/d.csv": GOOD.encode()},
    "one_file": {"data.csv": GOOD.encode()},
    "no_such_pattern": {"a.csv": b"id,value,memo\n1,1,01.03.2024\n2,2,01.03.2024\n"},
    "no_quotes": {"a.csv": b"1|1|a\n2|2|b\n3|3|c\n"},
    "no_events": {
        "a.json": "".join(
            f'{{"op": "c", "source": {{"lsn": {i}}}, "before": null, "after": {row}}}\n'
            for i, row in enumerate(GOOD_JSON.splitlines(), 1)
        ).encode()
    },
}


def land(project: Project, name: str, date: str, files: dict[str, bytes | str]) -> None:
    """Puts files where an entity's data of a date lands."""
    folder = project.landing / name / date
    shutil.rmtree(folder, ignore_errors=True)
    for file, content in files.items():
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
            continue
        written = project.folder / "written"
        project.query(
            f"insert overwrite directory '{written}' using {target.suffix[1:]}"
            f" select /*+ coalesce(1) */ * from ({content})"
        )
        (part,) = written.glob("part-*")
        shutil.move(part, target)


def first(name: str, settings: dict[str, Any]) -> dict[str, bytes | str]:
    format = settings.get("source", {}).get("format", "csv")
    plain: dict[str, bytes | str] = {
        "csv": GOOD.encode(),
        "json": GOOD_JSON.encode(),
        "parquet": ROWS.format("*"),
        "orc": ROWS.format("*"),
    }
    return FIRST.get(name) or {f"a.{format}": plain[format]}


@pytest.fixture(scope="module")
def outcome(project: Project) -> Outcome:
    """A good day and a bad day, or another one: two runs of dbt."""
    cases = {name: case[:2] for name, case in CASES.items()}
    cases |= {name: case[:2] for name, case in TAKEN.items()} | UNREADABLE
    for name, (settings, files) in cases.items():
        given = copy.deepcopy(settings)
        columns = given.pop("columns", KEYED)
        if "path" in given.get("source", {}):
            path = given["source"]["path"].replace("{landing}", str(project.landing))
            given["source"]["path"] = path
        project.entity(name, columns, **given)
        land(project, name, "2024-01-01", first(name, settings))
        land(project, name, "2024-01-02", files)
    project.load("2024-01-01")
    return project.run("2024-01-02")


@pytest.mark.parametrize("name", CASES)
def test_what_would_be_read_wrong_is_refused(project: Project, outcome: Outcome, name: str) -> None:
    _, _, guard, parts = CASES[name]
    loads = f"{{s}}.cdc_loads where entity = '{name}' and business_time = '2024-01-02'"
    found = project.query(f"select status, guard, message from {loads}")
    assert [row[:2] for row in found] == [("refused", guard)], outcome.output
    for part in parts:
        assert part in found[0][2]
        assert part in outcome.output
    assert project.rows(f"{name}_current", "id, value, memo") == GOOD_ROWS


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_spark_can_not_read_is_an_error(project: Project, outcome: Outcome, name: str) -> None:
    assert outcome.status[f"{name}_ledger"] == "error"
    if not is_spark_3(project.cursor):  # which names no file
        assert f"/{name}/2024-01-02/a.csv" in outcome.output.split(f"model {name}_ledger")[-1]
    assert project.rows(f"{name}_current", "id, value, memo") == GOOD_ROWS


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_read_as_it_lies_there(project: Project, outcome: Outcome, name: str) -> None:
    value = "null" if "columns" in TAKEN[name][0] else "value"
    assert outcome.status[f"{name}_committed"] == "success", outcome.output
    assert project.rows(f"{name}_current", f"id, {value}, memo") == TAKEN[name][2]


def test_files_and_bytes_stand_in_cdc_loads(project: Project, outcome: Outcome) -> None:
    loads = "select input_files, input_bytes, rows_in from {s}.cdc_loads where entity = "
    second = " and business_time = '2024-01-02'"
    assert project.query(f"{loads}'hidden_beside'{second}") == [(1, len(GOOD), 3)]
    assert project.query(f"{loads}'no_folder'{second}") == [(0, 0, 0)]
    assert project.query(f"{loads}'of_no_bytes'{second}") == [(None, None, None)]
    events = FIRST["no_events"]["a.json"]
    assert project.query(f"{loads}'no_events' order by load_id") == [(1, len(events), 3), (0, 0, 0)]


def test_a_lift_takes_lines_as_spark_reads_them(project: Project, outcome: Outcome) -> None:
    lifts = ["open_quote.unclosed_quotes", "malformed_text"]
    project.load("2024-01-02", "open_quote", "latin_1", spark_cdc_lift=lifts)
    assert project.rows("open_quote_current", "id, memo") == [(1, "a, b"), (2, "b"), (3, "c")]
    assert project.rows("latin_1_current", "id, memo")[0] == (1, "caf\ufffd")


# --- what changes or is lost meanwhile ------------------------------------------------------------


@pytest.fixture
def people(cursor: Any, schema: str, tmp_path: Path) -> Warehouse:
    settings = {
        "load_type": "delta",
        "source": {"format": "csv", "path": f"{tmp_path}/{{business_date}}"},
    }
    columns: Iterable[Any] = (column("id", "int", role="key"), column("value", "int"))
    node = {
        "name": "stg_people",
        "config": {"meta": {"spark_cdc": settings}},
        "columns": list(columns),
    }
    people = Warehouse(cursor, schema, tmp_path, node)
    (tmp_path / "2024-01-01").mkdir()
    (tmp_path / "2024-01-01" / "a.csv").write_text("id,value\n1,1\n")
    (tmp_path / "2024-01-01" / "b.csv").write_text("id,value\n2,2\n")
    return people


@pytest.mark.parametrize("change", ["came", "went", "grew", "touched"])
def test_files_that_change_meanwhile_stop_a_load(people: Warehouse, change: str) -> None:
    folder = people.folder / "2024-01-01"

    def change_files(commit_load: Any, run: dict[str, Any]) -> Any:
        if change == "came":
            (folder / "c.csv").write_text("id,value\n3,3\n")
        elif change == "went":
            (folder / "b.csv").unlink()
        elif change == "grew":
            (folder / "b.csv").write_text("id,value\n2,2\n3,3\n")
        elif change == "touched":
            (folder / "b.csv").write_text("id,value\n2,3\n")
        return commit_load(run)

    people.replace("_commit_load", change_files)
    with pytest.raises(CompilerError, match="changed while they were read: 2 files with 26 bytes"):
        people.load("2024-01-01")
    change = ""
    people.load("2024-01-01")
    assert people.audit["files"]["files"] == len(list(folder.iterdir()))


def test_records_are_counted_by_another_reader(people: Warehouse) -> None:
    """What the reader or staging leaves out is not a delta without it."""
    people.replace(
        "_stage_sql", lambda stage, *words: f"select * from ({stage(*words)}) where id = 1"
    )
    message = "do not reconcile: 1 rows in, 2 records in the files"
    with pytest.raises(CompilerError, match=message):
        people.load("2024-01-01")
