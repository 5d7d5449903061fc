"""What files hold is what a load reads: names, line ends, quotes, encodings, numbers."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import column
from spark_cdc.jinja_bridge import CompilerError, load_macros
from test_backfill import backfill
from warehouse import GUARDS, Warehouse

pytestmark = pytest.mark.proves("input")

MACROS = load_macros()
KEY = column("id", "int", role="key")


class Files(Warehouse):
    """An entity that reads files, and what readers see of it."""

    def land(self, date: str, **files: str | bytes) -> None:
        """Writes the files of a date; `a_csv` is a.csv."""
        folder = self.folder / "in" / date
        folder.mkdir(parents=True)
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (folder / name.replace("_", ".")).write_bytes(data)

    def landed(self, date: str, columns: str) -> Any:
        """What staging reads of a date, as text; or why the load is refused."""
        time = datetime.datetime.fromisoformat(date)
        refusal = self.macros._land(self.entity, None, time, {"files": 1, "paths": []})
        if refusal:
            return refusal["guard"], refusal["message"]
        self.cursor.execute(f"select {columns} from landed_things order by all")
        return list(self.cursor.fetchall())

    def rows(self, columns: str, view: str = "current") -> list[tuple[Any, ...]]:
        self.cursor.execute(f"select {columns} from ({self.view_sql(view)}) as v order by all")
        return list(self.cursor.fetchall())


@pytest.fixture
def files(cursor: Any, schema: str, tmp_path: Path) -> Any:
    """Makes an entity of some columns and settings."""

    def make(*columns: Any, load_type: str = "full", **settings: Any) -> Files:
        source = {"format": "csv", "path": f"{tmp_path}/in/{{business_date}}"}
        source |= settings.pop("source", {})
        given = {"load_type": load_type, "source": source, "guards": dict.fromkeys(GUARDS)}
        node = {
            "name": "stg_things",
            "config": {"meta": {"spark_cdc": given | settings}},
            "columns": [KEY, *columns],
        }
        return Files(cursor, schema, tmp_path, node)

    return make


# --- JSON: names in any case ----------------------------------------------------------------------

IGNORING = {"format": "json", "on_unexpected_column": "ignore"}


@pytest.mark.parametrize(
    "source", [{"format": "json"}, pytest.param(IGNORING, marks=pytest.mark.integration)]
)
def test_json_columns_meet_in_any_case(files: Any, source: dict[str, Any]) -> None:
    things = files(
        column("value", "int"), column("unit", "string", **{"from": "Unit"}), source=source
    )
    things.land("2024-01-01", a_json='{"id":1,"value":7,"Unit":"kg"}\n{"id":2,"value":null}\n')
    things.land("2024-01-02", a_json='{"ID":1,"Value":7,"unit":"kg"}\n{"Id":2,"VALUE":3}\n')
    things.load("2024-01-01")
    things.load("2024-01-02")
    found = things.rows("id, value, unit, operation")
    assert found == [(1, 7, "kg", "N"), (2, 3, None, "U")]


def test_a_column_in_two_cases_is_a_contradiction(files: Any) -> None:
    things = files(column("value", "int"), source=IGNORING)
    things.land("2024-01-01", a_json='{"id":1,"value":7,"Value":8}\n')
    with pytest.raises(CompilerError, match="a name more than once in a JSON object"):
        things.load("2024-01-01")


def test_declared_columns_of_json_may_differ_by_case(files: Any) -> None:
    other = column("other", "int", **{"from": "Value"})
    things = files(column("value", "int"), other, source={"format": "json"})
    things.land("2024-01-01", a_json='{"ID":1,"value":7,"Value":8}\n{"id":2,"value":9}\n')
    things.load("2024-01-01")
    assert things.rows("id, value, other") == [(1, 7, 8), (2, 9, None)]


def test_undeclared_names_may_differ_by_case(files: Any) -> None:
    things = files(column("value", "int"), source=IGNORING)
    things.land("2024-01-01", a_json='{"id":1,"VALUE":7,"x":1,"X":2}\n')
    things.load("2024-01-01")
    assert things.rows("id, value") == [(1, 7)]


def test_flat_events_in_json_meet_in_any_case(files: Any) -> None:
    """A column in another case is neither absent from its event nor unexpected."""
    events = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
    control = [column("op", "string", role="control"), column("seq", "bigint", role="control")]
    things = files(
        column("value", "int"),
        *control,
        load_type="events",
        events=events,
        source={"format": "json"},
    )
    things.land("2024-01-01", a_json='{"id":1,"value":7,"op":"I","seq":1}\n')
    things.land("2024-01-02", a_json='{"ID":1,"Value":8,"OP":"U","Seq":2}\n')
    things.load("2024-01-01")
    things.load("2024-01-02")
    assert things.rows("id, value, operation") == [(1, 8, "U")]


@pytest.mark.integration
def test_nested_names_of_json_meet_in_any_case(files: Any) -> None:
    """Also where the ledger was made with the names in another case."""
    item = "array<struct<orderId:int,tags:map<string,int>>>"
    things = files(column("items", item), source={"format": "json"})
    things.land("2024-01-01", a_json='{"id":1,"items":[{"orderId":5,"tags":{"Id":1}}]}\n')
    things.land("2024-01-02", a_json='{"id":1,"Items":[{"orderid":5,"Tags":{"Id":1}}]}\n')
    things.land("2024-01-03", a_json='{"id":1,"items":[{"ORDERID":6}]}\n')
    things.load("2024-01-01")
    assert things.rows("to_json(items)") == [('[{"orderId":5,"tags":{"Id":1}}]',)]
    things.load("2024-01-02")
    assert things.rows("items[0].orderId, operation") == [(5, "N")]
    things.node["columns"][1] = column("items", item.replace("orderId", "OrderID"))
    things.load("2024-01-03")
    assert things.rows("items[0].orderid, items[0].tags is null, operation") == [(6, True, "U")]


# --- JSON: arrays, and objects over several lines -------------------------------------------------

OVER_LINES = {"format": "json", "options": {"multiLine": True}}
ITEMS = [
    '{"id":1, "long":0.12345678901234567890, "nested":{"a":[1,{"b":"]}, {"}]}, "text":"a\\"[,"}',
    '{"ID":2, "text":"\\u00e9 \\ud83d\\ude00"}',
    '{"id":3, "nested":null, "text":"x\\ny", "long":-7}',
]
SHAPES = {
    "lines": "\n".join(ITEMS) + "\n",
    "array": f"[{', '.join(ITEMS)}]\r\n",
    "array of lines": "\ufeff[\n" + ",\n".join(ITEMS) + "\n]",
    "pretty": "".join(one.replace(', "', ',\n  "').replace(":", " :\t", 1) + "\n" for one in ITEMS),
}


@pytest.mark.parametrize(
    "shapes", [["array"], pytest.param(list(SHAPES), marks=pytest.mark.integration)], ids=len
)
def test_json_over_several_lines_is_read_as_lines_are(files: Any, shapes: list[str]) -> None:
    """With every digit, whatever its values hold: after lines, nothing has changed."""
    things = files(
        column("long", "decimal(38,20)"),
        column("nested", "struct<a:array<string>>"),
        column("text", "string"),
        source={"format": "json"},
    )
    things.land("2024-01-01", a_json=SHAPES["lines"])
    things.load("2024-01-01")
    wanted = things.rows("id, long, to_json(nested), text, 'N' as operation")
    assert str(wanted[0][1]) == "0.12345678901234567890"
    things.node["config"]["meta"]["spark_cdc"]["source"]["options"] = {"multiLine": True}
    for day, shape in enumerate(shapes, 2):
        data = SHAPES[shape].encode()
        things.land(f"2024-01-{day:02}", a_json_gz=gzip.compress(data))
        assert things.load(f"2024-01-{day:02}")["rows_in"] == 3
        assert things.rows("id, long, to_json(nested), text, operation") == wanted, shape


@pytest.mark.integration
def test_files_of_a_day_with_json_of_several_shapes(files: Any) -> None:
    things = files(column("v", "int"), source=OVER_LINES)
    things.land(
        "2024-01-01",
        a_json='[{"id":1,"v":1},{"id":2,"v":2}]',
        b_json='{"id":3,\n"v":3}',
        c_json='{"id":4,"v":4}\n{"id":5,"v":5}\n',
        d_json="[ ]\n",
        e_json="\n",
    )
    things.load("2024-01-01")
    assert things.rows("id, v") == [(one, one) for one in range(1, 6)]
    things.land("2024-01-02", a_json="[]")
    things.load("2024-01-02")
    assert things.rows("id") == []
    # dates that are loaded together
    things.land("2024-01-03", a_json='[{"id":1,"v":1},{"id":2,"v":2}]')
    things.land("2024-01-04", a_json='{"id":1,\n"v":1}', b_json="[]")
    backfill(things, ["2024-01-03", "2024-01-04"], 60)
    found = things.rows("id, operation, cast(eff_start_date as string)", "history")
    assert [row for row in found if row[2] > "2024-01-02"] == [
        (1, "I", "2024-01-03"),
        (2, "D", "2024-01-04"),
        (2, "I", "2024-01-03"),
    ]


@pytest.mark.integration
def test_each_element_of_a_json_array_is_judged_as_a_line_is(files: Any) -> None:
    things = files(column("v", "double"), on_reject="quarantine", source=OVER_LINES)
    odd = ['{"id":3,"v":1,"v":2}', '{"id":4,"v":NaN}', '{"id":5,"v":"\\ud800"}', '{"id":6} {"v":1}']
    odd += [
        '{"id":7\n,}',
        "8",
        '"text"',
        "null",
        '[{"id":9}]',
        '{"id":11,"v":"x"}',
    ]
    good = ['{"id":1,"v":1}', '{"id":2,"v":2}']
    things.land("2024-01-01", a_json=f"[{','.join([good[0], *odd, good[1]])}]")
    things.variables["spark_cdc_guards"] |= {"rejected_share": None}
    assert things.load("2024-01-01")["counts"]["R"] == len(odd)
    assert things.rows("id, v") == [(1, 1.0), (2, 2.0)]
    things.cursor.execute(
        "select get_json_object(cdc__note, '$.reasons[0]') from"
        f" {things.ledger} where operation = 'R'"
    )
    reasons = [row[0] for row in things.cursor.fetchall()]
    for text in (
        'a name more than once in a JSON object: {"id":3',
        'not a JSON object: {"id":4,"v":NaN}',
        "half of a surrogate pair",
        "more than one JSON object in a message, or text behind it",
        'not a JSON object: {"id":7 ,}',
        "not a JSON object: 8",
        'not a JSON object: "text"',
        "v: 'x' is not accepted as double",
    ):
        assert any(reason.startswith(text) for reason in reasons), text


@pytest.mark.integration
@pytest.mark.parametrize(
    "data",
    [
        b'[{"id":1},{"id":2},{"id',
        b'[{"id":1},{"id":2}',
        b'[{"id":1},{"id":2},]',
        b'[{"id":1},,{"id":2}]',
        b'[{"id":1}][{"id":2}]',
        b'{"id":1},{"id":2}',
        b'{"id":1}\n{"id":2',
        b"text",
        b'[{"id":1},{"id":' + b"[" * 60 + b"]" * 60 + b"}]",
        b'[{"id":1},{"id":"\xff"}]',
    ],
)
def test_damaged_json_is_refused_whatever_is_quarantined(files: Any, data: bytes) -> None:
    """Else a file that was cut off would delete what it does not have."""
    things = files(on_reject="quarantine", source=OVER_LINES)
    things.variables["spark_cdc_guards"] |= {"rejected_share": None}
    things.land("2024-01-01", a_json=data)
    with pytest.raises(CompilerError) as error:
        things.load("2024-01-01")
    message = str(error.value)
    assert f"{things.folder}/in/2024-01-01/a.json" in message
    if b"\xff" in data:
        assert "1 file of 2024-01-01 has bytes that are not UTF-8" in message
    else:
        assert (
            "1 file of 2024-01-01 has neither one JSON array nor JSON objects one after" in message
        )
    assert "Run the same command again then" in message
    assert "to load it as Spark reads it" not in message
    things.cursor.execute(f"select guard, status from {things.schema}.cdc_loads")
    guard = "malformed_text" if b"\xff" in data else "damaged_json"
    assert [tuple(row) for row in things.cursor.fetchall()] == [(guard, "refused")]


@pytest.mark.integration
def test_messages_in_a_json_array(files: Any) -> None:
    message = '{"database":"shop","table":"things","type":"%s","ts":1714557600,"xid":%d,'
    message += '"commit":true,"position":"binlog.1:%d","data":{"id":%d,"v":"[,"}}'
    things = files(
        column("v", "string"), load_type="events", events={"format": "maxwell"}, source=OVER_LINES
    )
    texts = [message % ("insert", 1, 1, 1), message % ("insert", 2, 2, 2)]
    texts.append(message % ("delete", 3, 3, 1))
    things.land("2024-01-01", a_json="[" + ",\n".join(texts).replace('"data"', '\n"data"') + "]")
    things.load("2024-01-01")
    assert things.rows("id, v") == [(2, "[,")]


@pytest.mark.parametrize(
    "data",
    [
        '[{"id":1}]',
        pytest.param('[\n{"id":1}\n]', marks=pytest.mark.integration),
        pytest.param('{\n"id":1\n}', marks=pytest.mark.integration),
    ],
)
@pytest.mark.parametrize(
    "settings",
    [{}, {"load_type": "events", "events": {"format": "debezium"}}],
    ids=["rows", "events"],
)
def test_json_over_several_lines_without_the_option_names_it(
    files: Any, settings: dict[str, Any], data: str
) -> None:
    things = files(source={"format": "json"}, **settings)
    things.land("2024-01-01", a_json=f"{data}\n")
    with pytest.raises(CompilerError, match=r"with source\.options\.multiLine: true"):
        things.load("2024-01-01")


# --- CSV: line ends of files whose values hold line breaks ----------------------------------------

LINES = """"id","va@lue","memo"
1,a,x
2,"b@c",
3,,"q,@"
4,"d ""e"" f",y
5,,
"""
LANDED = [("1", "a", "x"), ("2", "b{0}c", None), ("3", None, "q,{0}")]
LANDED += [("4", 'd "e" f', "y"), ("5", None, None)]
MULTI_LINE = {"multiLine": True, "escape": '"'}


def written(end: str, inside: str) -> str:
    """Records that end so, with other line breaks in their values."""
    return LINES.replace("\n", end).replace("@", inside)


def test_csv_records_end_as_outside_of_quotes(files: Any) -> None:
    """Whatever line break stands in the header or in values; with each encoding, and gzip."""
    for end, inside in [
        ("\r\n", "\n"),
        ("\n", "\r\n"),
        ("\r", "\n"),
        ("\r\n", "\r\n"),
        ("\n", "\r"),
    ]:
        for encoding in ("utf-8", "utf-16") if end == "\r\n" else ("utf-8",):
            name = f"va{inside}lue".replace("\r\n", "\n")
            things = files(
                column("value", "string", **{"from": name}),
                column("memo", "string"),
                source={"options": {**MULTI_LINE, "encoding": encoding}},
            )
            date = f"2024-01-{len(list(things.folder.glob('in/*'))) + 1:02}"
            data = written(end, inside).encode(encoding)
            things.land(
                date, **({"a_csv": data} if end == "\n" else {"a_csv_gz": gzip.compress(data)})
            )
            wanted = [tuple(v and v.format(inside) for v in row) for row in LANDED]
            assert things.landed(date, f"id, `{name}`, memo") == wanted, (end, inside, encoding)


@pytest.mark.integration
def test_each_file_of_a_day_has_its_own_line_end(files: Any) -> None:
    """And rows of two days are alike, whichever line end their files have."""
    things = files(
        column("value", "string"), column("memo", "string"), source={"options": MULTI_LINE}
    )
    header = "id,value,memo"
    things.land("2024-01-01", a_csv=f'{header}\n1,"a\nb",\n2,,x\n', b_csv=f"{header}\n3,,y\n")
    crlf = f'{header}\r\n1,"a\nb",\r\n2,,x\r\n'
    things.land("2024-01-02", a_csv=crlf, b_csv=f"{header}\n3,,y\n", c_csv=f"{header}\r\n")
    things.load("2024-01-01")
    things.load("2024-01-02")
    found = things.rows("id, value, memo, operation")
    assert found == [(1, "a\nb", None, "N"), (2, None, "x", "N"), (3, None, "y", "N")]
    # dates that are loaded together, of which one has files of both kinds
    things.land("2024-01-03", a_csv=crlf)
    things.land("2024-01-04", a_csv=crlf, b_csv=f"{header}\n3,,z\n")
    backfill(things, ["2024-01-03", "2024-01-04"], 60)
    found = things.rows("id, value, memo, operation, eff_start_date", "history")
    assert [row for row in found if str(row[4]) > "2024-01-02"] == [
        (3, None, "y", "D", "2024-01-03"),
        (3, None, "z", "I", "2024-01-04"),
    ]


def test_records_of_one_file_that_end_in_two_ways_are_refused(files: Any) -> None:
    things = files(column("value", "string"), source={"options": MULTI_LINE})
    things.land("2024-01-01", a_csv='id,value\n1,"a\r\nb"\n2,x\r\n3,y\n')
    guard, message = things.landed("2024-01-01", "*")
    assert guard == "line_ends"
    assert "things: the records of a file do not all end alike in csv files of" in message
    assert "/a.csv: 1 end with CRLF, 3 with LF" in message
    # a carriage return within a value that is not quoted is a part of it
    things.land("2024-01-02", a_csv="id,value\n1,a\rb\n")
    assert things.landed("2024-01-02", "id, value") == [("1", "a\rb")]
    # whoever says how lines end is taken at their word
    things.node["config"]["meta"]["spark_cdc"]["source"]["options"] = MULTI_LINE | {"lineSep": "\n"}
    assert ("2", "x\r") in things.landed("2024-01-01", "id, value")


def last_record(things: Files, data: bytes, name: str = "a_csv") -> Any:
    """The rows of a file, or how its records end if it is refused; another date each time."""
    date = f"2024-{len(list(things.folder.glob('in/*'))) // 28 + 1:02}-"
    date += f"{len(list(things.folder.glob('in/*'))) % 28 + 1:02}"
    things.land(date, **{name: data})
    found = things.landed(date, "id, value")
    if isinstance(found, list):
        return found
    guard, message = found
    assert guard == "line_ends"
    assert things.folder.as_posix() in message
    return message.partition(f"{name.replace('_', '.')}: ")[2].partition("\n")[0]


A, B = ("1", "a"), ("2", "b")
ENDS = [
    (b"id,value\n1,a\r\n", "1 end with CRLF, 1 with LF"),
    (b"id,value\n1,a\n2,\r\n", "1 end with CRLF, 2 with LF"),
    (b'id,value\n1,a\n2,"b"\r\n', "1 end with CRLF, 2 with LF"),
    (b"id,value\n1,a\n\r\n", "1 end with CRLF, 2 with LF"),
    (b"id,value\n1,a\n2,b\r", "2 end with LF, 1 with CR"),
    (b"id,value\r\n1,a\r\n2,b\r", "2 end with CRLF, 1 with CR"),
    (b"id,value\r\n1,a\r\n\r", "2 end with CRLF, 1 with CR"),
    (b"id,value\r1,a\r\n", "1 end with CRLF, 1 with CR"),
    (b"id,value\r1,a\n", "1 end with LF, 1 with CR"),
    ("id,value\n1,a\n2,é\r\n".encode("utf-8-sig"), "1 end with CRLF, 2 with LF"),
    # as Spark reads them, nothing gets into a value
    (b"id,value\r\n1,a\r\n2,b\n", [A, B]),
    (b"id,value\r\n1,a\r\n2,b", [A, B]),
    (b"id,value\r\n1,a\r\n2,b\r\n\r\n", [A, B]),
    (b"id,value\n1,a\n2,b\n\n", [A, B]),
    (b"id,value\r1,a\r2,b\r", [A, B]),
    (b"id,value\r1,a\r2,b", [A, B]),
    (b"id,value\r\n", []),
    (b"id,value\r", []),
    # a carriage return that is part of the last value
    (b'id,value\n1,"a\r\n"\n2,"b\r"\n', [("1", "a\r\n"), ("2", "b\r")]),
    (b'id,value\n1,a\n2,"b\r\n"', [A, ("2", "b\r\n")]),
    (b'id,value\r\n1,a\r\n2,"b\n"\r\n', [A, ("2", "b\n")]),
]


@pytest.mark.parametrize(
    "cases", [ENDS[1:7:4], pytest.param(ENDS, marks=pytest.mark.integration)], ids=len
)
def test_the_last_record_ends_as_the_others_do(files: Any, cases: Any) -> None:
    """Else a carriage return would get into the last column, or a record on a line of its own."""
    things = files(column("value", "string"), source={"options": MULTI_LINE})
    for data, wanted in cases:
        assert last_record(things, data) == wanted, data


@pytest.mark.integration
@pytest.mark.parametrize(
    "data, wanted",
    [
        (b"1,a\r\n", [A]),
        (b"1,a\r", [A]),
        (b"1,a\n", [A]),
        (b"1,a", [A]),
        (b"1,a\r2,b\r", [A, B]),
        (b"1,a\r\n2,b\r\n", [A, B]),
        (b"1,a\n2,b\r\n", "1 end with CRLF, 1 with LF"),
        (b"1,a\r\n2,b\r", "1 end with CRLF, 1 with CR"),
        (b"1,a\r2,b\r\n", "1 end with CRLF, 1 with CR"),
    ],
)
def test_the_last_record_of_files_without_a_header(files: Any, data: bytes, wanted: Any) -> None:
    options = {**MULTI_LINE, "header": False}
    things = files(column("value", "string"), source={"options": options})
    assert last_record(things, data) == wanted


@pytest.mark.integration
def test_the_last_record_with_other_options(files: Any) -> None:
    """Comments, quotes, separators and encodings are those of the source."""

    def ends(data: bytes, name: str = "a_csv", **options: str) -> Any:
        things = files(column("value", "string"), source={"options": {**MULTI_LINE, **options}})
        return last_record(things, data, name)

    mixed = "1 end with CRLF, 1 with LF"
    # Spark skips a comment up to the line end of the others, and what stands behind another one
    for end in (b"\n", b""):
        assert ends(b"id,value\n1,a\n# sum: 1" + end, comment="#") == [A]
        assert ends(b"id,value\r\n1,a\r\n# sum: 1" + end, comment="#") == [A]
    assert ends(b"# today\r\nid,value\r\n1,a\r\n", comment="#") == [A]
    assert ends(b"id,value\r\n# today\n1,a\r\n", comment="#") == "2 end with CRLF, 1 with LF"
    assert ends(b"id|value\n1|a\r\n", sep="|") == mixed
    assert ends(b"id\tvalue\n1\ta\r\n", sep="\t") == mixed
    assert ends(b"id,value\n1,'a\\'\r\n'\n", quote="'", escape="\\") == [("1", "a'\r\n")]
    assert ends(b"id,value\n1,'a\\''\r\n", quote="'", escape="\\") == mixed
    assert ends("id,value\n1,a\r\n".encode("utf-16"), encoding="utf-16") == mixed
    assert ends("id,value\r\n1,a\r\n".encode("utf-16"), encoding="utf-16") == [A]
    assert ends(gzip.compress(b"id,value\n1,a\r\n"), "a_csv_gz") == mixed


@pytest.mark.integration
def test_the_last_record_of_one_file_of_several(files: Any) -> None:
    things = files(column("value", "string"), source={"options": MULTI_LINE})
    lf, crlf = b"id,value\n1,a\n", b"id,value\r\n2,b\r\n"
    things.land("2024-03-01", a_csv=lf, b_csv=crlf, c_csv=b"id,value\n3,c\r\n", d_csv=crlf)
    guard, message = things.landed("2024-03-01", "*")
    assert guard == "line_ends"
    assert "/c.csv: 1 end with CRLF, 1 with LF\nDeliver" in message
    assert "a.csv" not in message
    things.land("2024-03-02", a_csv=lf, b_csv=crlf, c_csv=b"id,value\r3,c\r")
    assert things.landed("2024-03-02", "id, value") == [A, B, ("3", "c")]


@pytest.mark.integration
def test_line_ends_are_looked_at_on_each_of_many_dates(files: Any) -> None:
    """Also without a header, where one date is as good as another for what its columns are."""
    things = files(column("value", "string"), source={"options": {**MULTI_LINE, "header": False}})
    things.land("2024-01-01", a_csv=b"1,a\n2,b\n")
    things.land("2024-01-02", a_csv=b"1,a\n2,b\r\n")
    with pytest.raises(CompilerError, match=r"a\.csv: 1 end with CRLF, 1 with LF"):
        backfill(things, ["2024-01-01", "2024-01-02"], 60)


# --- CSV: headers of several files ----------------------------------------------------------------

HEADERS = {
    "another order": ("value,id\nb,2\n", "value, id"),
    "another name": ("id,values\n2,b\n", "id, values"),
    "one more": ("id,value,more\n2,b,c\n", "id, value, more"),
    "none": ("2,b\n3,c\n", "2, b (no header?)"),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.integration] * (one != "none")) for one in HEADERS],
)
def test_files_of_a_day_with_other_headers(files: Any, name: str) -> None:
    """Refused with the headers, and a row in cdc_loads; whatever may be missing or more."""
    text, shown = HEADERS[name]
    things = files(
        column("value", "string"),
        source={"on_missing_column": "null", "on_unexpected_column": "ignore"},
    )
    things.land("2024-01-01", a_csv="id,value\n1,a\n", b_csv=text, c_csv="id,value\n4,d\n")
    with pytest.raises(CompilerError) as error:
        things.load("2024-01-01")
    message = str(error.value)
    folder = f"{things.folder}/in/2024-01-01"
    assert f"things: the csv files of {folder} have 2 different headers.\n" in message
    assert f"\n  file:{folder}/a.csv and 1 other: id, value\n" in message
    assert f"\n  file:{folder}/b.csv: {shown}\n" in message
    advice = "each file with the header" if name == "none" else "the same names in the same order"
    assert advice in message
    things.cursor.execute(f"select guard, status from {things.schema}.cdc_loads")
    assert [tuple(row) for row in things.cursor.fetchall()] == [("headers", "refused")]


@pytest.mark.integration
def test_headers_that_are_written_otherwise(files: Any) -> None:
    """Comments, quotes, case, line ends and packed files make no other header."""
    options = {"options": {"comment": "#"}}
    things = files(column("value", "string"), source=options)
    things.land(
        "2024-01-01",
        a_csv="# at 10:00\n\nid,value\n1,a\n",
        b_csv='# at 11:00\r\n"id","value"\r\n2,b\r\n',
        c_csv_gz=gzip.compress(b"ID,Value\n3,c\n"),
        d_csv="id,value\n",
    )
    things.load("2024-01-01")
    assert things.rows("id, value") == [(1, "a"), (2, "b"), (3, "c")]


# --- CSV: encodings ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["UTF-16", "utf16", "UTF-16LE", "x-UTF-32BE-BOM", "UCS-2", "IBM037"]
)
@pytest.mark.parametrize("option", ["encoding", "charset"])
def test_encodings_whose_lines_are_cut_within_characters_take_multi_line(
    name: str, option: str
) -> None:
    source = {"path": "in/{business_date}", "options": {option: name}}
    (problem,) = MACROS._source_problems(source)
    assert f"source.options.encoding is '{name}'" in problem
    assert "set source.options.multiLine: true" in problem
    assert MACROS._source_problems(source | {"options": {option: name, "multiLine": True}}) == []
    (problem,) = MACROS._source_problems(source | {"format": "json"})
    assert "JSON is read as UTF-8: convert the files" in problem


@pytest.mark.parametrize(
    "name", ["UTF-8", "ISO-8859-1", "windows-1252", "Shift_JIS", "cp850", "GBK"]
)
def test_encodings_that_extend_ascii_are_read_by_lines(name: str) -> None:
    source = {"path": "in/{business_date}", "options": {"encoding": name}}
    assert MACROS._source_problems(source) == []


# --- numbers as people write them -----------------------------------------------------------------

GERMAN = {"decimal": ",", "grouping": ".", "trailing_sign": False}
ENGLISH = {"decimal": ".", "grouping": ",", "trailing_sign": False}
SAP = {"decimal": ".", "grouping": ",", "trailing_sign": True}
FRENCH = {"decimal": ",", "grouping": " ", "trailing_sign": False}
SWISS = {"decimal": ".", "grouping": "'", "trailing_sign": False}
BARE = {"decimal": ",", "grouping": None, "trailing_sign": False}
# How numbers are written, the type, a text, its value; none where it is not accepted.
WRITTEN = [
    (GERMAN, "decimal(10,2)", "1.234,56", "1234.56"),
    (GERMAN, "decimal(10,2)", " -1.234.567,5 ", "-1234567.50"),
    (GERMAN, "decimal(10,2)", "1234,56", "1234.56"),
    (GERMAN, "decimal(10,2)", "1.234", "1234.00"),
    (GERMAN, "decimal(10,2)", ",5", "0.50"),
    (GERMAN, "decimal(10,2)", "1.5", None),  # not 15
    (GERMAN, "decimal(10,2)", "1234.56", None),
    (GERMAN, "decimal(10,2)", "1.23,45", None),
    (GERMAN, "decimal(10,2)", ".123,45", None),
    (GERMAN, "decimal(10,2)", "1,2,3", None),
    (GERMAN, "decimal(10,2)", "0,005", None),  # loses a digit
    (GERMAN, "decimal(10,2)", "0,0050e1", "0.05"),
    (GERMAN, "decimal(10,2)", "12,5-", None),
    (GERMAN, "double", "1.234,5", "1234.5"),
    (GERMAN, "double", "NaN", "NaN"),
    (GERMAN, "double", "1,5d", None),
    (GERMAN, "int", "1.234", "1234"),
    (GERMAN, "int", "12,5", None),
    (GERMAN, "int", "12,0", None),
    (GERMAN, "bigint", "12.34", None),
    (GERMAN, "tinyint", "1.000", None),
    (ENGLISH, "decimal(10,2)", "1,234.56", "1234.56"),
    (ENGLISH, "decimal(12,0)", "12,34,567", "1234567"),  # as in India
    (ENGLISH, "decimal(10,2)", "1,5", None),
    (SAP, "decimal(10,2)", "12.50-", "-12.50"),
    (SAP, "decimal(10,2)", "1,234.5 - ", "-1234.50"),
    (SAP, "decimal(10,2)", "12.50 ", "12.50"),
    (SAP, "decimal(10,2)", "-12.50", "-12.50"),
    (SAP, "decimal(10,2)", "12.50+", "12.50"),
    (SAP, "decimal(10,2)", "-12.50-", None),
    (SAP, "decimal(10,2)", "-", None),
    (SAP, "int", "7-", "-7"),
    (FRENCH, "decimal(10,2)", "1\u202f234,56", "1234.56"),
    (FRENCH, "decimal(10,2)", "1\u00a0234,56", "1234.56"),
    (FRENCH, "decimal(10,2)", "1 2", None),
    (SWISS, "decimal(10,2)", "1\u2019234.56", "1234.56"),
    (SWISS, "decimal(10,2)", "1'234.56", "1234.56"),
    (BARE, "float", "0,5", "0.5"),
    (BARE, "decimal(10,2)", "1.234,56", None),
    (None, "decimal(10,2)", "1,5", None),
]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_numbers_are_read_as_they_are_written_or_rejected(cursor: Any, ansi: str) -> None:
    cursor.execute(f"set spark.sql.ansi.enabled = {ansi}")
    selects, entity = [], {"timezone": "UTC"}
    for at, (numbers, data_type, raw, _) in enumerate(WRITTEN):
        given = {"name": "v", "data_type": data_type, "format": None, "nullable": True}
        given |= {"encoding": None, "numbers": numbers}
        value = MACROS._cast(given, "raw", True, "UTC")
        rejected = MACROS._reject_condition(given, "raw", "v", True, entity)
        selects.append(
            f"select {at} as place, if({rejected}, null, cast(v as string)) as v"
            f" from (select raw, {value} as v from values ({MACROS._literal(raw)}) as l (raw))"
        )
    cursor.execute(" union all ".join(selects) + " order by place")
    found = {WRITTEN[at][1:3]: value for at, value in cursor.fetchall()}
    assert found == {row[1:3]: row[3] for row in WRITTEN}


def test_a_number_as_people_write_it_is_named_in_the_refusal(cursor: Any) -> None:
    raws = [
        "1.234,56",
        "1,5",
        "12.50-",
        "1 234",
        "1'234",
        "1.234.567",
        "12.345",
        "x,y",
        "2024-01-01",
    ]
    plain = {"data_type": "decimal(10,2)", "numbers": None, "encoding": None}
    hint = MACROS._number_hint("raw")
    rows = ", ".join(f"({at}, {MACROS._literal(raw)})" for at, raw in enumerate(raws))
    cursor.execute(f"select {hint} from values {rows} as v (place, raw) order by place")
    found = [text for (text,) in cursor.fetchall()]
    said = "; if numbers are written so, set decimal, grouping or trailing_sign (docs/values.md)"
    assert found == [said] * 6 + [""] * 3
    assert MACROS._is_plain_number(plain)
    assert not MACROS._is_plain_number(plain | {"data_type": "string"})
    assert not MACROS._is_plain_number(plain | {"numbers": GERMAN})


def test_how_numbers_are_written_is_said_by_columns_and_sources(files: Any) -> None:
    """A column's own settings come first; full and delta sources may write otherwise."""
    things = files(
        column("price", "decimal(10,2)"),
        column("share", "double", decimal="."),
        column("debit", "decimal(10,2)", trailing_sign=True),
        column("memo", "string"),
        source={"decimal": ",", "grouping": "'", "options": {"sep": ";"}},
    )
    rows = "id;price;share;debit;memo\n1'001;1'234,56;0.5;12,50-;1'234,5\n"
    things.land("2024-01-01", a_csv=rows)
    things.load("2024-01-01")
    found = things.rows("id, cast(price as string), share, cast(debit as string), memo")
    assert found == [(1001, "1234.56", 0.5, "-12.50", "1'234,5")]
    things.land("2024-01-02", a_csv="id;price;share;debit;memo\n1;x;0.5;2;\n")
    things.node["config"]["meta"]["spark_cdc"]["source"] |= {"decimal": None, "grouping": None}
    things.node["columns"][2] = column("share", "double")
    things.land("2024-01-03", a_csv="id;price;share;debit;memo\n1;1'234,56;0.5;2;\n")
    with pytest.raises(CompilerError, match=r"decimal\(10,2\); if numbers are written so, set dec"):
        things.load("2024-01-03")


NUMBER_PROBLEMS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"data_type": "decimal(5,2)", "decimal": ";"}, {}, "decimal is ';'; accepted are '.' and ','"),
    ({"data_type": "string", "decimal": ","}, {}, "has decimal, but the type string"),
    ({"data_type": "date", "encoding": "days", "grouping": ","}, {}, "has grouping, but the type"),
    (
        {"data_type": "int", "grouping": "."},
        {},
        "'.' both as decimal and as grouping: set decimal: ','",
    ),
    (
        {"data_type": "int", "decimal": ","},
        {"grouping": ","},
        "',' both as decimal and as grouping",
    ),
    (
        {"data_type": "int"},
        {"format": "parquet", "decimal": ","},
        "columns of parquet arrive typed",
    ),
    (
        {"data_type": "double", "decimal": ",", "grouping": "."},
        {"format": "json"},
        "in JSON the number 1.234 would be taken for 1234",
    ),
    ({"data_type": "double", "decimal": ",", "grouping": ".", "trailing_sign": True}, {}, ""),
    ({"data_type": "double"}, {"decimal": ",", "grouping": "."}, ""),
    ({"data_type": "double", "decimal": ","}, {"format": "json"}, ""),
    ({"data_type": "double"}, {"format": "parquet", "text": True, "decimal": ","}, ""),
]


@pytest.mark.parametrize(("meta", "source", "part"), NUMBER_PROBLEMS)
def test_what_is_wrong_with_how_numbers_are_written(
    meta: dict[str, Any], source: dict[str, Any], part: str
) -> None:
    given = dict(meta)
    settings = {"load_type": "full", "source": {"path": "in/{business_date}", **source}}
    node = {"name": "stg_things", "config": {"meta": {"spark_cdc": settings}}}
    node["columns"] = [KEY, column("value", given.pop("data_type"), **given)]
    problems = MACROS._description_problems("things", node)
    assert len(problems) == (1 if part else 0), problems
    assert part in "".join(problems)
