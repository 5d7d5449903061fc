"""Names and values that try to leave their quotes: they go through every table as they came."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

import scale
from project import Project
from shop import Shop, opened

pytestmark = pytest.mark.proves("values")

NAMES = [
    "o'brien",
    'double "quotes"',
    *([] if scale.FORMAT == "orc" else ["back`tick``s"]),  # which ORC does not take
    "semi; drop table students; --",
    "-- comment",
    "/* comment */",
    "*/ 1 as one, /*",
    "back\\slash",
    "per%cent %s %(x)s",
    "dollar $spark.master $1",
    "question ?",
    "k\u0435y",  # a Cyrillic letter that looks like an e
    "zero\u200bwidth",
    "ünïcödé 表",
    " blanks ",
    "tab\there",
    "comma, colon: dot.",
    "a=b<c>(d)[e]{f}",
    "{f'oo'}",
    "x" * 128,
    "1",
    "select",
    "order",
    "table",
    "from",
    "timestamp",
    "operations",
]
VALUES = [
    "'",
    "''; drop table students; --",
    '"',
    "`",
    "\\",
    "\\'",
    "${spark.master} $1 \\1",
    "{{ 1 / 0 }} {% raise %} {# x #}",
    "/* spark_cdc manifest: {} */",
    "*/",
    "-- x\nnext line\r\nand another",
    "%s %(x)s",
    "null",
    "NULL",
    "\u2028\u2029\u200b\ufeff",
    "\U0001f4a9 \u0435",
    "\t",
    " ",
    "",
    "x" * 10_000,
]


def columns() -> dict[str, object]:
    return {"id": {"data_type": "int", "role": "key"}} | {
        name: {"data_type": "string", "role": "key" if name == "o'brien" else "compared"}
        if name != "select"
        else {"data_type": "string", "role": "untracked"}
        for name in NAMES
    }


def rows() -> list[dict[str, str]]:
    """A row per value, which stands in every column."""
    return [
        {"id": str(at)} | dict.fromkeys(NAMES, value)
        for at, value in enumerate(VALUES)
    ]  # fmt: skip


DAYS = ("2024-01-01", "2024-01-02")
ENTITIES = ("full_ones", "delta_ones", "event_ones")


def prepare(project: Shop | Project) -> None:
    """A full, a delta and an events entity; the folder and the files have such names, too."""
    odd = project.folder / 'it\'s a "folder"; -- $x `y`'
    project.entity(
        "full_ones",
        columns(),
        source={
            "path": f"{odd}/{{business_date}}",
            "options": {"multiLine": True, "escape": '"', "quote": '"'},
        },
    )
    project.entity(
        "delta_ones",
        columns() | {"o p'": {"data_type": "string", "role": "control"}},
        load_type="delta",
        deleted_when="`o p'` = '\\'D\\''",
        source={"format": "json"},
    )
    project.entity(
        "event_ones",
        columns()
        | {
            "o p'": {"data_type": "string", "role": "control"},
            "seq `": {"data_type": "bigint", "role": "control"},
        },
        load_type="events",
        source={"format": "json"},
        events={
            "format": "flagged_rows",
            "operation": "o p'",
            "codes": {"it's new": "insert", "changed; --": "update", "'D'": "delete"},
            "order": ["seq `"],
        },
    )
    for day, changed in zip(DAYS, (False, True), strict=True):
        given = rows()
        if changed:
            given = [row | {"-- comment": row["-- comment"] + "'changed"} for row in given[1:]]
        text = io.StringIO()
        writer = csv.DictWriter(text, ["id", *NAMES], quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writeheader()
        writer.writerows(given)
        folder = odd / day
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "it's; -- `odd`.csv").write_text(text.getvalue(), encoding="utf-8", newline="")
        deleted = {"id": "0", "o'brien": VALUES[0]}
        lines = [json.dumps(row | {"o p'": "U"}) for row in given]
        if changed:
            lines.append(json.dumps(dict.fromkeys(NAMES) | deleted | {"o p'": "'D'"}))
        project.land("delta_ones", day, *lines, file="it's; -- {b}.json")
        code = "changed; --" if changed else "it's new"
        first = 100 if changed else 0
        events = [row | {"o p'": code, "seq `": str(first + at)} for at, row in enumerate(given)]
        if changed:
            events.append(
                dict.fromkeys(NAMES) | deleted | {"o p'": "'D'", "seq `": "200"},
            )
        project.land("event_ones", day, *map(json.dumps, events), file="it's; --.json")


@pytest.fixture(scope="module")
def hostile(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with opened(server.port, tmp_path_factory.mktemp("shop")) as shop:
        prepare(shop)
        for day in DAYS:
            shop.load(day, *ENTITIES)
        yield shop


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def come_through(hostile: Shop | Project, entity: str) -> None:
    """Both days of an entity are in current, history and versions as they came."""
    selected = ", ".join(["id", *map(quoted, NAMES)])
    first = [(int(row["id"]), *(row[name] for name in NAMES)) for row in rows()]
    second = [
        (
            at,
            *(
                value + "'changed" if name == "-- comment" else value
                for name, value in zip(NAMES, values, strict=True)
            ),
        )
        for at, *values in first[1:]
    ]
    assert hostile.rows(f"{entity}_current", selected) == sorted(second, key=repr)
    history = hostile.rows(f"{entity}_history", f"operation, business_date, {selected}")
    assert history == sorted(
        [("I", "2024-01-01", *row) for row in first]
        + [("U", "2024-01-02", *row) for row in second]
        + [("D", "2024-01-02", *first[0])],
        key=repr,
    )
    versions = hostile.rows(f"{entity}_versions", f"{selected}, eff_end_date")
    assert versions == sorted(
        [(*row, "2024-01-02") for row in first] + [(*row, None) for row in second], key=repr
    )


@pytest.mark.parametrize("entity", ENTITIES)
def test_names_and_values_come_through_as_they_are(hostile: Shop, entity: str) -> None:
    come_through(hostile, entity)


def test_the_log_of_loads_says_what_was_read(hostile: Shop) -> None:
    inputs = hostile.rows("cdc_loads", "distinct input")
    assert any('/it\'s a "folder"; -- $x `y`/2024-01-02' in row[0] for row in inputs), inputs


def test_a_reject_shows_hostile_text(hostile: Shop) -> None:
    row = rows()[1] | {"id": "'; drop table x; --"}
    hostile.land("delta_ones", "2024-01-03", json.dumps(row | {"o p'": "U"}), file="x.json")
    outcome = hostile.run("2024-01-03", "delta_ones")
    assert not outcome.success
    assert "'; drop table x; --" in outcome.output
    assert "Nothing was committed" in outcome.output


# --- with dbt -------------------------------------------------------------------------------------


@pytest.mark.integration
def test_dbt_makes_tables_and_views_of_such_names(project: Project) -> None:
    prepare(project)
    for day in DAYS:
        project.load(day, "event_ones")
    come_through(project, "event_ones")


@pytest.mark.full
def test_data_tests_and_the_log_of_loads(project: Project) -> None:
    prepare(project)
    for day in DAYS:
        project.load(day, "full_ones", "delta_ones")
    project.load(DAYS[-1], "event_ones")
    outcome = project.dbt("test", "--select", "path:models")
    assert outcome.success, outcome.output
    inputs = project.rows("cdc_loads", "distinct input")
    assert any('/it\'s a "folder"; -- $x `y`/2024-01-02' in row[0] for row in inputs), inputs
