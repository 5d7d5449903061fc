"""Every file and every record of a load's input is read, or is why nothing is committed."""

from __future__ import annotations

import copy
import datetime
import gzip
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from event_warehouse import column
from project import Project
from shop import Outcome, Shop
from spark_cdc.jinja_bridge import CompilerError, load_macros_of
from warehouse import Warehouse, is_spark_3

pytestmark = pytest.mark.proves("input")

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
        [
            "Spark would skip a part of csv files of",
            "/2024-01-02/more",
            "a file of 0 bytes or a folder",
        ],
    ),
    "of_no_bytes": (
        {},
        {"a.csv": b"id,value,memo\n1,1,a\n", "b, c.csv": b"", "_SUCCESS": b""},
        "unread_files",
        [": file:", "/2024-01-02/b, c.csv. Each is"],
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
        ["there are no json files", "/2024-01-02/_a.json", "on_no_files: empty"],
    ),
    "a_folder_only": (
        PARQUET,
        {"more/a.parquet": ROWS.format("*")},
        "no_files",
        ["there are no parquet files", ", only file:", "/2024-01-02/more"],
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
        {"on_reject": "quarantine", "guards": {"rejected_share": None}},
        {"a.csv": b'id,value,memo\n1,1,a\n2,2,"b\nbb"\n3,3,c\n'},
        "unclosed_quotes",
        ['a.csv: 2,2,"b', "values that go over several lines take source.options.multiLine: true"],
    ),
    "doubled_quotes": (
        {},
        {"a.csv": b'id,value,memo\n1,1,"say ""a"""\n2,2,""\n3,3,"x, ""y"""\n'},
        "unescaped_quotes",
        [
            "2 lines of 2024-01-02 have a quote within a quoted value that is not escaped",
            'a.csv: 1,1,"say ""a"""',
            "set source.options.escape: '\"'",
            "[doubled_quotes.unescaped_quotes]",
        ],
    ),
    "doubled_in_several_lines": (
        {"source": {"options": {"multiLine": True}}},
        {"a.csv": b'id,value,memo\n1,1,"a\nb"""\n'},
        "unescaped_quotes",
        ["1 line of 2024-01-02 has a quote within a quoted value", 'a.csv: b"""'],
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
        {"a.csv": GOOD.encode(), "_SUCCESS": b"", ".a.crc": b"x", "_b.csv": GOOD.encode()},
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
            "guards": {"rejected_share": None},
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
FIRST: dict[str, dict[str, bytes | str]] = {  # what lands on the first day, if it is not GOOD
    "partitions": {"memo=a/a.orc": "select 1 as id"},
    "no_such_pattern": {"a.csv": b"id,value,memo\n1,1,01.03.2024\n2,2,01.03.2024\n"},
    "another_type": {"a.parquet": ROWS.format("id, cast(value as bigint) as value, memo")},
    "no_events": {
        "a.json": "".join(
            f'{{"op": "c", "source": {{"lsn": {i}}}, "before": null, "after": {row}}}\n'
            for i, row in enumerate(GOOD_JSON.splitlines(), 1)
        ).encode()
    },
}
DAYS = [f"2024-01-{day:02}" for day in range(1, 32)]
INTEGRATION = pytest.mark.integration


def is_apart(name: str) -> bool:
    """Whether a case that is taken has columns, or a load type, of its own, and so its own state.

    The others come one day after the other as one entity, each in place of what came before.
    """
    settings = TAKEN[name][0]
    return "columns" in settings or "load_type" in settings


IN_TURN = [name for name in TAKEN if not is_apart(name)]
# variations of cases that `make test` has
VARIED = {
    *("hidden_only", "a_folder_only", "of_no_bytes_parquet", "another_name", "swallowed"),
    *("doubled_in_several_lines", "gzip_by_another_name", "partitions", "by_pattern", "one_file"),
    *("declared_encoding", "replacement_character", "quotes", "backslashes", "no_quotes"),
    *("lacks_a_column_it_may", "no_such_pattern", "in_a_subfolder", "lacks_a_column"),
    *("broken_value", "postgres_copy", "several_lines"),
}
ASKED = {"hidden_beside", "no_folder", "of_no_bytes", "no_events"}  # by tests of several cases


def varied(cases: Iterable[str]) -> list[Any]:
    """The parameters of a test of cases; variations run in integration."""
    integration = pytest.mark.integration
    return [pytest.param(name, marks=[integration] * (name in VARIED)) for name in cases]


def land(project: Shop | Project, name: str, date: str, files: dict[str, bytes | str]) -> None:
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


def describe(shop: Shop, name: str, case: str, state_of: str | None = None) -> None:
    """Describes an entity with a case's settings, which reads what lands for the case."""
    (settings,) = (cases[case][0] for cases in (CASES, UNREADABLE, TAKEN) if case in cases)
    given = copy.deepcopy(settings)
    columns = given.pop("columns", KEYED)
    source = given.setdefault("source", {})
    path = source.get("path", f"{{landing}}/{case}/{{business_date}}")
    source["path"] = path.replace("{landing}", str(shop.landing))
    shop.entity(name, columns, state_of=state_of, **given)


@dataclass(frozen=True)
class Outcomes:
    """What the loads came to: that of all refused cases, and of each that is taken."""

    refused: Outcome
    status: dict[str, str]
    rows: dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def outcome(shop: Shop, request: pytest.FixtureRequest) -> Outcomes:
    """Loads the cases of the tests that run.

    What is refused builds on one load, or on what came first; what is taken comes in turn.
    """
    tests = [
        item for item in request.session.items if "outcome" in getattr(item, "fixturenames", ())
    ]
    params = [item.callspec.params if hasattr(item, "callspec") else {} for item in tests]
    asked = {one["name"] for one in params if one} | (ASKED if {} in params else set())
    unread = {name: case for name, case in UNREADABLE.items() if name in asked}
    judged = {name: case[:2] for name, case in CASES.items() if name in asked} | unread
    shop.entity("people", KEYED)
    land(shop, "people", DAYS[0], {"a.csv": GOOD.encode()})
    shop.load(DAYS[0], "people")
    describe(shop, "another_type", "another_type")
    land(shop, "another_type", DAYS[0], FIRST["another_type"])
    shop.load(DAYS[0], "another_type")
    for name, (_, files) in judged.items():
        if name not in FIRST:
            describe(shop, name, name, state_of="people")
        land(shop, name, DAYS[1], files)
    refused = shop.run(DAYS[1], *judged)
    status, rows = {}, {}
    for name in ("people", "another_type"):
        rows[name] = shop.rows(f"{name}_current", "id, value, memo")
    shop.entity("in_turn", KEYED)
    land(shop, "in_turn", DAYS[0], {"a.csv": GOOD.encode()})
    shop.load(DAYS[0], "in_turn")
    for name, (settings, files, _) in TAKEN.items():
        if name not in asked:
            continue
        entity = "in_turn" if name in IN_TURN else name
        day = DAYS[1 + IN_TURN.index(name)] if name in IN_TURN else DAYS[1]
        describe(shop, entity, name)
        if entity == name:
            format = settings.get("source", {}).get("format", "csv")
            first = {"csv": {"a.csv": GOOD.encode()}, "parquet": {"a.parquet": ROWS.format("*")}}
            land(shop, name, DAYS[0], FIRST.get(name) or first[format])
            shop.load(DAYS[0], name)
        land(shop, name, day, files)
        status[name] = shop.run(day, entity).status.get(f"{entity}_committed", "")
        value = "null" if "columns" in settings else "value"
        rows[name] = shop.rows(f"{entity}_current", f"id, {value}, memo")
    return Outcomes(refused, status, rows)


@pytest.mark.parametrize("name", varied(CASES))
def test_what_would_be_read_wrong_is_refused(shop: Shop, outcome: Outcomes, name: str) -> None:
    _, _, guard, parts = CASES[name]
    loads = f"{{s}}.cdc_loads where entity = '{name}' and business_time = '{DAYS[1]}'"
    found = shop.query(f"select status, guard, message from {loads}")
    assert [row[:2] for row in found] == [("refused", guard)], outcome.refused.output
    for part in parts:
        assert part in found[0][2]
        assert part in outcome.refused.output
    assert outcome.rows["another_type" if name in FIRST else "people"] == GOOD_ROWS


@pytest.mark.parametrize("name", varied(UNREADABLE))
def test_what_spark_can_not_read_is_an_error(shop: Shop, outcome: Outcomes, name: str) -> None:
    assert outcome.refused.status[f"{name}_ledger"] == "error"
    if not is_spark_3(shop.cursor):  # which names no file
        output = outcome.refused.output.split(f"model {name}_ledger")[-1]
        assert f"/{name}/{DAYS[1]}/a.csv" in output
    assert outcome.rows["people"] == GOOD_ROWS


@pytest.mark.parametrize("name", varied(TAKEN))
def test_what_is_read_as_it_lies_there(outcome: Outcomes, name: str) -> None:
    assert outcome.status[name] == "success"
    assert outcome.rows[name] == TAKEN[name][2]


def test_files_and_bytes_stand_in_cdc_loads(shop: Shop, outcome: Outcomes) -> None:
    loads = "select input_files, input_bytes, rows_in from {s}.cdc_loads where entity = "
    day = DAYS[1 + IN_TURN.index("hidden_beside")]
    assert shop.query(f"{loads}'in_turn' and business_time = '{day}'") == [(1, len(GOOD), 3)]
    told = "select message from {s}.cdc_loads where entity = 'in_turn'"
    message = "1 file left out, whose names begin with _: _b.csv"
    assert shop.query(f"{told} and business_time = '{day}'") == [(message,)]
    second = f" and business_time = '{DAYS[1]}'"
    assert shop.query(f"{loads}'no_folder'{second}") == [(0, 0, 0)]
    assert shop.query(f"{loads}'of_no_bytes'{second}") == [(None, None, None)]
    events = FIRST["no_events"]["a.json"]
    assert shop.query(f"{loads}'no_events' order by load_id") == [(1, len(events), 3), (0, 0, 0)]


def test_a_lift_takes_lines_as_spark_reads_them(shop: Shop, outcome: Outcomes) -> None:
    wanted: dict[str, list[tuple[Any, ...]]] = {
        "open_quote": [(1, "a, b"), (2, "b"), (3, "c")],
        "latin_1": [(1, "caf\ufffd"), (2, "caf\ufffd"), (3, "c")],
    }
    for day, (name, rows) in zip(DAYS[-2:], wanted.items(), strict=True):
        describe(shop, "in_turn", name)
        land(shop, name, day, CASES[name][1])
        guard = CASES[name][2]
        lift = f"in_turn.{guard}" if name == "open_quote" else guard
        shop.load(day, "in_turn", spark_cdc_skip_guards=[lift])
        assert shop.rows("in_turn_current", "id, memo") == rows


@pytest.mark.integration
def test_dbt_refuses_files_that_are_not_all_read(project: Project) -> None:
    _, files, guard, parts = CASES["in_a_subfolder"]
    project.entity("people", KEYED)
    land(project, "people", DAYS[0], {"a.csv": GOOD.encode()})
    project.load(DAYS[0], "people")
    land(project, "people", DAYS[1], files)
    refused = project.run(DAYS[1], "people")
    assert refused.status["people_ledger"] == "error"
    for part in parts:
        assert part in refused.output
    loads = project.query(
        f"select status, guard from {{s}}.cdc_loads where business_time = '{DAYS[1]}'"
    )
    assert loads == [("refused", guard)]
    assert project.rows("people_current", "id, value, memo") == GOOD_ROWS
    land(project, "people", DAYS[1], {"a.csv": files["a.csv"], "b.csv": files["more/b.csv"]})
    project.load(DAYS[1], "people")
    assert project.rows("people_current", "id, memo") == [(1, "a"), (2, "b")]


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


@pytest.mark.parametrize("change", ["came", "went", "grew"])
@pytest.mark.parametrize("step", ["_check_files", pytest.param("_land", marks=INTEGRATION)])
def test_files_that_change_between_the_listing_and_the_read(
    people: Warehouse, step: str, change: str
) -> None:
    """Before the views on the files are made, and after that, before they are read."""
    folder = people.folder / "2024-01-01"
    changes = [
        {"came": ("c.csv", "id,value\n3,3\n"), "grew": ("b.csv", "id,value\n2,2\n3,3\n")}.get(
            change
        )
    ]

    def change_files(macro: Any, *words: Any) -> Any:
        result = macro(*words)
        for file in changes:
            if file:
                (folder / file[0]).write_text(file[1])
            else:
                (folder / "b.csv").unlink()
        changes.clear()
        return result

    people.replace(step, change_files)
    # Spark itself stops where it reads a list of files that it has made before
    with pytest.raises(Exception, match=r"changed while they were read|FILE_NOT_EXIST"):
        people.load("2024-01-01")
    people.cursor.execute(f"show views in {people.schema} like 'people_committed'")
    assert people.cursor.fetchall() == []
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


def test_a_file_that_its_name_hides_is_named() -> None:
    """Of names that begin with _ those that are no writer's own; nothing of those with a dot."""
    names = ("a.csv", "_part2.csv", "_SUCCESS", "_committed_17", ".a.csv.crc", "_Extra")
    paths = [f"file:/in/2024-01-02/{name}" for name in names]
    said: list[str] = []
    settings = {"load_type": "full", "source": {"path": "/in/{business_date}"}}
    columns = [{"name": "id", "data_type": "int", "meta": {"role": "key"}}]
    found = {
        "is_there": True,
        "count": len(names) + 1,
        "paths": ", ".join(["file:/in/2024-01-02", *paths]),
    }
    macros, _ = load_macros_of(
        "shop",
        settings,
        columns,
        run_query=lambda sql: SimpleNamespace(rows=[]),
        _found_by_pattern=lambda entity, times: found,
        log=lambda text, info=False: said.append(text),
    )
    files = {"files": 1, "bytes": 1, "digest": "x", "paths": paths[:1]}
    entity = macros._entity("shop")
    day = datetime.datetime(2024, 1, 2)
    assert macros._check_files(entity, "csv files", day, found, files) is None
    message = "2 files left out, whose names begin with _: _part2.csv, _Extra"
    assert said == [f"shop: {message}"]
    noted = macros._input_files_noted(files)
    assert noted == {"files": 1, "bytes": 1, "digest": "x", "skipped": message}
    assert "skipped" not in macros._input_files_noted({"files": 0, "bytes": 0, "digest": None})
