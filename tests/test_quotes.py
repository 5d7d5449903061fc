"""Lines of CSV that Spark would read otherwise than they were written: the second look."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from spark_cdc.jinja_bridge import load_macros

pytestmark = pytest.mark.proves("input")

MACROS = load_macros()
DOUBLED = {"escape": '"'}
LINES = {"multiLine": True}
# options, a line, whether it has an unescaped quote within a quoted value
CASES: list[tuple[dict[str, Any], str, bool]] = [
    *(
        ({}, line, True)
        for line in (
            '"""quoted""",x',
            '"a ""b"" c",x',
            '"a, ""b""",x',
            '"""",x',
            'x,"""a"',
            '"a""" ,x',
            'x,y,"a "" b"',
            '"a ""b\\" c",x',
            '"x" "y",z',
            '"x"y,z',
            '1,"a,","b ""c"""',
        )
    ),
    *(
        ({}, line, False)
        for line in (
            '"",x',
            '"","",""',
            'x,""',
            '"a","b" ,"c"',
            '"a \\"b\\"",x',
            '"\\"\\"",x',
            '5" pipe,6"" y',
            '1,"a,","b"',
            '1,"a,",b,""',
            "plain,'x'",
            '  "a ""b""",x',
        )
    ),
    (DOUBLED, '"""quoted""","a ""b"", c",""""', False),
    (DOUBLED, '"a "b"" c",x', True),
    (DOUBLED, '"x" "y",z', True),
    ({"sep": ";"}, '"a";"b, ""c"""', True),
    ({"sep": "|", "quote": "'"}, "x|'it''s'", True),
    ({"sep": "|", "quote": "'"}, "x|it''s", False),
    ({"quote": ""}, '"""a""",b', False),
    ({"ignoreLeadingWhiteSpace": True}, '  "a ""b""",x', True),
    # with multiLine Spark stops at all others
    (LINES, '"a""",x', True),
    (LINES, '"""",x', True),
    (LINES, '1,"a""', True),
    (LINES, 'of three lines""",x', True),
    (LINES, '"",x,"","a"', False),
    (LINES, 'a,",b,"",c', False),
    (LINES, '6"",7', False),
    (LINES, '"a \\"",x', False),
    (LINES | DOUBLED, '"a""","""",x', False),
]


# options, columns, a line, whether it is a row of blank fields that Spark skips
TAB = {"sep": "\\t"}
BLANK: list[tuple[dict[str, Any], int, str, bool]] = [
    (TAB, 2, "\t", True),
    (TAB, 2, " \t ", True),
    (TAB, 2, "", False),
    (TAB, 2, "  ", False),
    (TAB, 2, "x\t", False),
    ({"sep": "\t"}, 2, "\t", True),
    ({"sep": "\x01"}, 2, "\x01", True),
    ({"sep": " "}, 2, " ", True),
    ({"sep": "\x01\x02"}, 2, "\x01\x02", True),
    ({"sep": "|\t"}, 2, "\t", False),
    ({}, 1, "  ", True),
    ({}, 1, "", False),
    ({}, 1, '"  "', False),
    ({}, 2, "  ", False),
    ({}, 2, " , ", False),
    (TAB | LINES, 2, "\t", False),  # does not skip it
]


def csv_source(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """A source of CSV files, as an entity has it."""
    place = {"path": str(folder), "read_path": str(folder)}
    return {"format": "csv", "facts": MACROS._source_formats()["csv"], "options": options} | place


def look(cursor: Any, folder: Path, options: dict[str, Any], columns: int, line: str) -> Any:
    """What the second look tells of a file with a header and a line."""
    folder.mkdir(exist_ok=True)
    (folder / "a.csv").write_text(f"a,b\n{line}\n", newline="")
    entity = {"source": csv_source(folder, options), "eff_type": "date", "columns": [{}] * columns}
    cursor.execute(MACROS._input_lines_sql(entity, [datetime.datetime(2024, 3, 1)]))
    return json.loads(cursor.fetchall()[0][3])


def test_rows_of_blank_fields_that_spark_skips(cursor: Any, tmp_path: Path) -> None:
    for options, columns, line, is_skipped in BLANK:
        note = look(cursor, tmp_path / "blank", options, columns, line)
        assert note["blank"] == is_skipped, (options, line)
        assert [path.endswith("/a.csv") for path in note["blank_examples"]] == [True] * is_skipped
        assert note.get("records") is None or note["records"] == (bool(line.strip(" \t\x01\x02")))


def test_lines_with_a_quote_that_is_not_escaped(cursor: Any, tmp_path: Path) -> None:
    by_options: dict[str, list[tuple[str, bool]]] = {}
    for options, line, is_odd in CASES:
        by_options.setdefault(json.dumps(options), []).append((line, is_odd))
    wrong = []
    for at, (options, lines) in enumerate(by_options.items()):
        folder = tmp_path / str(at)
        folder.mkdir()
        for number, (line, _) in enumerate(lines):
            (folder / f"{number}.csv").write_text(f"a,b\n{line}\n")
        source = csv_source(folder, json.loads(options))
        entity = {"source": source, "eff_type": "date", "columns": [{}, {}]}
        cursor.execute(MACROS._input_lines_sql(entity, [datetime.datetime(2024, 3, 1)]))
        note = json.loads(cursor.fetchall()[0][3])
        found = {
            text.split("/")[-1].split(".csv: ")[0]: text for text in note["unescaped_examples"]
        }
        assert note["unescaped"] == len(found)
        for number, (line, is_odd) in enumerate(lines):
            if (str(number) in found) != is_odd:
                wrong.append((options, line))
            elif is_odd:
                assert found[str(number)].endswith(f".csv: {line}")
    assert not wrong
