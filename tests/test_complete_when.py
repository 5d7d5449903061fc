"""A date with source.complete_when is pending, and loaded, when its marker is there."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spark_cdc import pending as pending_dates
from spark_cdc import state
from spark_cdc.jinja_bridge import CompilerError, load_macros
from test_config import changed, macros
from test_unfinished_files import COLUMNS, DAYS, land
from warehouse import Warehouse, described

pytestmark = pytest.mark.proves("input")

CSV = b"id,v\n1,a\n"


def things_of(
    cursor: Any, schema: str, folder: Path, marker: str, path: str = "{business_date}", **more: Any
) -> Warehouse:
    source = {"path": f"{folder}/in/{path}", "complete_when": marker} | more
    return Warehouse(cursor, schema, folder, described("things", COLUMNS, source=source))


def pending(things: Warehouse) -> tuple[list[dt.datetime], list[str]]:
    """The dates that are pending, and those that are not complete."""
    things._begin()
    ctx = {"entity": things.entity, "timeline": things.macros._empty_manifest()}
    found = things.macros._landed_times([ctx], {"things": None})["things"]
    assert (found["problem"], found["absent"]) == (None, None)
    return found["times"], found["incomplete"]


@pytest.mark.parametrize(
    ("marker", "path", "files", "lacking", "more"),
    [
        ("_SUCCESS", "{business_date}", {"a.csv": CSV}, "_SUCCESS", b""),
        ("_SUCCESS", "{business_date}/*.csv", {"a, b.csv": CSV}, "_SUCCESS", b""),
        ("ok_{business_date:%d}", "{business_date}", {"a.csv": CSV}, "ok_0{}", b""),
        ("{file}.done", "{business_date}", {"a.csv": CSV, "b.csv": b"id,v\n"}, "b.csv.done", b""),
        ("{file}.done", "{business_date}/*.csv", {"a.csv": CSV}, "a.csv.done", b"1 row\n"),
    ],
)  # fmt: skip
def test_a_date_is_pending_and_loaded_with_its_marker(
    cursor: Any,
    schema: str,
    tmp_path: Path,
    marker: str,
    path: str,
    files: dict[str, bytes],
    lacking: str,
    more: bytes,
) -> None:
    things = things_of(cursor, schema, tmp_path, marker, path, on_unexpected_column="ignore")
    for day in DAYS[:2]:
        folder = tmp_path / "in" / f"{day:%Y-%m-%d}"
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        for name in files if marker.startswith("{file}") else ():
            if f"{name}.done" != lacking:
                (folder / f"{name}.done").write_bytes(more)
    assert pending(things) == ([], ["2024-01-01", "2024-01-02"])
    place = f"2024-01-01/{lacking.format(1)}"
    with pytest.raises(CompilerError) as refused:
        things.load("2024-01-01")
    said = str(refused.value)
    assert "2024-01-01" in said and "are not complete: 1 marker of" in said
    assert f"(source.complete_when is {marker}): file:" in said and f"{place}." in said
    assert "Load the date when the source has set it" in said
    assert "spark_cdc_skip_guards: [things.complete_when]" in said
    (tmp_path / "in" / place).write_bytes(more)
    assert pending(things) == ([DAYS[0]], ["2024-01-02"])
    things.load("2024-01-01")
    assert things.audit["counts"]["I"] == 1
    with pytest.raises(CompilerError, match="1 date of 2 is not complete, since the marker"):
        things.macros._backfill_landed(things.entity, DAYS[:2], False)
    assert things.macros._backfill_landed(things.entity, DAYS[:2], True) == [DAYS[0]]
    things.variables["spark_cdc_skip_guards"] = ["things.complete_when"]
    things.load("2024-01-02")


def test_a_marker_stands_above_folders_of_columns(cursor: Any, schema: str, tmp_path: Path) -> None:
    things = things_of(
        cursor, schema, tmp_path, "_SUCCESS", "dt={business_date}", on_unexpected_column="ignore"
    )
    folder = tmp_path / "in" / "dt=2024-01-01"
    (folder / "x=1").mkdir(parents=True)
    (folder / "x=1" / "a.csv").write_bytes(CSV)
    for place in (folder / "x=1", folder.parent):
        (place / "_SUCCESS").write_bytes(b"")
    with pytest.raises(CompilerError, match=r"in/dt=2024-01-01/_SUCCESS. Load the date when"):
        things.load("2024-01-01")
    (folder / "_SUCCESS").write_bytes(b"")
    things.load("2024-01-01")
    assert things.audit["counts"]["I"] == 1


def test_markers_that_say_nothing_are_refused(cursor: Any, schema: str, tmp_path: Path) -> None:
    things = things_of(cursor, schema, tmp_path, "{file}.done")
    land(things, DAYS[0], {"a.csv": CSV, "a.csv.done": b"1 row\n"})
    with pytest.raises(CompilerError, match=r"a.csv.done' .* is not empty, so that Spark would"):
        things.load("2024-01-01")
    things = things_of(cursor, schema, tmp_path, "_SUCCESS", "things_{business_date}.csv")
    (tmp_path / "in" / "things_2024-01-01.csv").write_bytes(CSV)
    (tmp_path / "in" / "_SUCCESS").write_bytes(b"")
    with pytest.raises(CompilerError, match="would be the same on all dates"):
        things.load("2024-01-01")
    things = things_of(
        cursor, schema, tmp_path, "things_{business_date}.done", "things_{business_date}.csv"
    )
    with pytest.raises(CompilerError, match=r"in/things_2024-01-01.done. Load the date when"):
        things.load("2024-01-01")
    (tmp_path / "in" / "things_2024-01-01.done").write_bytes(b"")
    things.load("2024-01-01")


def test_no_file_at_all(cursor: Any, schema: str, tmp_path: Path) -> None:
    """With on_no_files: empty a marker alone says that there are no rows."""
    things = things_of(cursor, schema, tmp_path, "_SUCCESS", on_no_files="empty")
    folder = land(things, DAYS[0], {})
    with pytest.raises(CompilerError, match=r"2024-01-01/_SUCCESS. Load the date when the source"):
        things.load("2024-01-01")
    (folder / "_SUCCESS").write_bytes(b"")
    things.load("2024-01-01")
    things.node["config"]["meta"]["spark_cdc"]["source"]["on_no_files"] = "error"
    with pytest.raises(CompilerError, match="there are no csv files"):
        things.load("2024-01-02")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({"complete_when": "flags/_SUCCESS"}, "is 'flags/_SUCCESS'; accepted is the name of a"),
        ({"complete_when": "*.done"}, "is '*.done'; accepted is the name of a marker"),
        ({"complete_when": "{file}"}, "is '{file}'; accepted is the name of a marker"),
        ({"complete_when": "{day}.done"}, "is '{day}.done'; accepted is the name of a marker"),
        ({"complete_when": "_OK", "format": "table"}, "is given, but source.format is table"),
        ({"complete_when": "_OK", "stream": {"topic": "t"}}, "spark-cdc stream closes business"),
    ],
)
def test_settings_that_are_wrong(source: dict[str, Any], problem: str) -> None:
    path = {"path": "/in/{business_date}", "date_column": "day"}
    [said] = [text for text in load_macros()._source_problems(path | source) if "complete" in text]
    assert problem in said


def test_settings_that_are_right() -> None:
    for marker in ("_SUCCESS", "{file}.done", "{file}_{business_date:%Y%m%d}.ctl", None):
        node = changed(source__complete_when=marker)
        assert macros(node)._entity_problems("orders", node) == []
    node = changed(source__complete_when=5)
    [said] = macros(node)._entity_problems("orders", node)
    assert "write the name of a marker beside the files" in said


@pytest.mark.parametrize(
    ("load_type", "skip_missing", "waiting"),
    [
        ("delta", False, ["2024-01-01"]),
        ("events", False, ["2024-01-01"]),
        ("full", False, ["2024-01-01", "2024-01-03"]),
        ("delta", True, ["2024-01-01", "2024-01-03"]),
    ],
)
def test_deltas_wait_for_a_date_that_is_not_complete(
    load_type: str, skip_missing: bool, waiting: list[str]
) -> None:
    found: Any = {"dates": ["2024-01-01", "2024-01-03"], "incomplete": ["2024-01-02"]}
    one = state.State("things", load_type=load_type, parts={"pending": found})
    arguments: Any = SimpleNamespace(
        first=None, last=None, expected_every=None, skip_missing=skip_missing
    )
    work = pending_dates.plan(one, [], arguments, {})
    assert (list(work.waiting), work.blocked, work.failed) == (waiting, "", "")
    said = "2024-01-02 not complete: the marker of source.complete_when is not there yet"
    behind = ["2024-01-03 waits for it (or --skip-missing)"] if len(waiting) == 1 else []
    assert work.notes == [said, *behind]
