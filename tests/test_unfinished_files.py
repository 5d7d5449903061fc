"""A text file whose last line has no line end is still being written, or was cut."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from spark_cdc.jinja_bridge import CompilerError
from warehouse import Warehouse, described, is_spark_3

pytestmark = pytest.mark.proves("input")

DAYS = [dt.datetime(2024, 1, day) for day in range(1, 4)]
COLUMNS = {"id": {"data_type": "int", "role": "key"}, "v": "string"}
WHOLE = {
    "lf": b"id,v\n1,a\n",
    "crlf": b"id,v\r\n1,a\r\n",
    "mixed": b"id,v\r\n1,a\n2,b\r\n",
    "cr": b"id,v\r1,a\r",
    "cut_in_crlf": b"id,v\r\n1,a\r",
    "utf8_mark": b"\xef\xbb\xbfid,v\n1,a\n",
    "utf8_mark_alone": b"\xef\xbb\xbf\n",
    "header": b"id,v\n",
    "blank_lines": b"id,v\n1,a\n\n\n",
    "one_break": b"\n",
    "no_utf8": b"id,v\n1,\xe9\xff\n",
}
OPEN = {
    "lf": b"id,v\n1,a",
    "crlf": b"id,v\r\n1,a",
    "one_crlf": b"id,v\r\n1,a\n2,b",
    "one_lf": b"id,v\n1,a\r\n2,b\r\n3,c",
    "cr": b"id,v\r1,a\r2",
    "utf8_mark": b"\xef\xbb\xbfid,v\n1,a",
    "header": b"id,v",
    "empty_field": b"id,v\n1,a\n,",
    "blanks": b"id,v\n1,a\n ",
    "no_utf8": b"id,v\n1,\xe9",
}


def entity_of(cursor: Any, schema: str, folder: Path, **settings: Any) -> Warehouse:
    source = {"path": f"{folder}/in/{{business_date}}"} | settings.pop("source", {})
    return Warehouse(
        cursor, schema, folder, described("things", COLUMNS, source=source, **settings)
    )


def land(things: Warehouse, day: dt.datetime, files: dict[str, bytes]) -> Path:
    folder = things.folder / "in" / f"{day:%Y-%m-%d}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def unfinished(things: Warehouse, *days: dt.datetime) -> list[set[str]]:
    """The files that the query finds, by date."""
    entity = things.entity
    things.macros._input_files(entity, list(days))
    found = things.run_query(things.macros._input_ends_sql(entity, list(days))).rows
    notes = [(int(row["load_id"] or 0), json.loads(row["note"])) for row in found]
    for _, note in notes:
        assert note["unfinished"] == len(note["unfinished_examples"])
    return [
        {Path(path).name for path in note["unfinished_examples"]}
        for _, note in sorted(notes, key=lambda one: one[0])
    ]


@pytest.mark.parametrize(
    "packing", ["", ".gz", pytest.param(".bz2", marks=pytest.mark.integration)]
)
def test_every_kind_of_line_end(cursor: Any, schema: str, tmp_path: Path, packing: str) -> None:
    things = entity_of(cursor, schema, tmp_path)
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[packing]
    files = {f"whole_{name}.csv{packing}": pack(text) for name, text in WHOLE.items()}
    files |= {f"open_{name}.csv{packing}": pack(text) for name, text in OPEN.items()}
    land(things, DAYS[0], files)
    found = unfinished(things, DAYS[0])
    assert found == [{name for name in files if name.startswith("open_")}]


def test_dates_of_one_query(cursor: Any, schema: str, tmp_path: Path) -> None:
    things = entity_of(cursor, schema, tmp_path)
    for day, name in zip(DAYS, ("a", "b, 'c", "d"), strict=True):
        land(things, day, {f"{name}.csv": WHOLE["lf"], "e.csv": OPEN["lf"], "f.csv.gz": b""})
    land(things, DAYS[1], {"a.csv": WHOLE["lf"], "b.csv.gz": gzip.compress(WHOLE["lf"])})
    assert unfinished(things, *DAYS) == [{"e.csv"}, set(), {"e.csv"}]


@pytest.mark.parametrize("encoding", ["UTF-16LE", "UTF-16BE", "UTF-16", "UTF-32", "UTF-32LE"])
def test_two_bytes_a_character(cursor: Any, schema: str, tmp_path: Path, encoding: str) -> None:
    options = {"encoding": encoding, "multiLine": True}
    things = entity_of(cursor, schema, tmp_path, source={"options": options})
    texts = {"whole": "id,v\n1,\u0a0a\n", "crlf": "id,v\r\n1,a\r\n", "blank": "id,v\n\n"}
    texts |= {"open": "id,v\n1,\u0a0a", "open_crlf": "id,v\r\n1,a", "open_plain": "id,v\n1"}
    files = {f"{name}.csv": text.encode(encoding) for name, text in texts.items()}
    land(things, DAYS[0], files)
    assert unfinished(things, DAYS[0]) == [{"open.csv", "open_crlf.csv", "open_plain.csv"}]


@pytest.mark.parametrize("separator", ["|", "\\r\\n", "|~|"])
def test_line_ends_of_ones_own(cursor: Any, schema: str, tmp_path: Path, separator: str) -> None:
    if is_spark_3(cursor):
        pytest.skip("the option lineSep takes Spark 4")
    things = entity_of(cursor, schema, tmp_path, source={"options": {"lineSep": separator}})
    end = separator.replace("\\r", "\r").replace("\\n", "\n").encode()
    whole, rest = b"id,v" + end + b"1,a" + end, b"id,v" + end + b"1,a"
    files = {"whole.csv": whole, "open.csv": rest, "breaks.csv": rest + b"\n"}
    files |= {f"{name}.gz": gzip.compress(text) for name, text in files.items()}
    land(things, DAYS[0], files)
    opened = {"open.csv", "breaks.csv", "open.csv.gz", "breaks.csv.gz"}
    assert unfinished(things, DAYS[0]) == [opened]


def test_a_load_is_refused(cursor: Any, schema: str, tmp_path: Path) -> None:
    """The cut row was an update with a part of its text, and the rows behind it were deleted."""
    things = entity_of(cursor, schema, tmp_path)
    lines = [b"id,v\n", *(b"%d,value %d\n" % (number, number) for number in range(1000))]
    text = b"".join(lines)
    land(things, DAYS[0], {"a.csv": text})
    things.load("2024-01-01")
    folder = land(things, DAYS[1], {"a.csv": text[: text.index(b"600\n") + 2]})
    with pytest.raises(CompilerError) as refused:
        things.load("2024-01-02")
    said = str(refused.value)
    assert "things: 1 file of 2024-01-02 has a last line without a line end, as if" in said
    assert f"{folder}/a.csv" in said
    assert "guards.unfinished_file: null" in said
    assert "name the marker in source.complete_when" in said
    assert "spark_cdc_skip_guards: [things.unfinished_file]" in said
    things.variables["spark_cdc_skip_guards"] = ["things.unfinished_file"]
    things.load("2024-01-02")
    counts = things.audit["counts"]
    assert (counts["U"], counts["D"]) == (1, 399)  # the cut text, and all behind it
    del things.variables["spark_cdc_skip_guards"]
    land(things, DAYS[1], {"a.csv": text})
    things.load("2024-01-02")
    assert things.audit["counts"]["U"] == 0


def test_it_can_be_switched_off(cursor: Any, schema: str, tmp_path: Path) -> None:
    things = entity_of(cursor, schema, tmp_path, guards={"unfinished_file": None})
    land(things, DAYS[0], {"a.csv": OPEN["lf"]})
    things.load("2024-01-01")
    assert things.audit["counts"]["I"] == 1


@pytest.mark.parametrize("kind", ["rows", "events"])
def test_json_lines(cursor: Any, schema: str, tmp_path: Path, kind: str) -> None:
    settings: dict[str, Any] = {"source": {"format": "json"}}
    lines = [b'{"id": 1, "v": "a"}\n', b'{"id": 2, "v": "b"}']
    if kind == "events":
        settings |= {"load_type": "events", "events": {"format": "debezium"}}
        head = '{"op": "c", "source": {"lsn": %d}, "before": null, "after": '
        lines = [
            (head % at).encode() + line.strip() + end
            for at, line, end in zip((1, 2), lines, (b"}\n", b"}"), strict=True)
        ]
    things = entity_of(cursor, schema, tmp_path, **settings)
    land(things, DAYS[0], {"a.json": b"".join(lines)})
    with pytest.raises(CompilerError, match="1 file of 2024-01-01 has a last line without a line"):
        things.load("2024-01-01")
    land(things, DAYS[0], {"a.json": b"".join(lines) + b"\n"})
    things.load("2024-01-01")
    assert things.audit["counts"]["I"] == 2
