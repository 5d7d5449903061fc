"""Loads add columns that nobody declared (source.on_unexpected_column: add)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from project import Project
from spark_cdc.jinja_bridge import CompilerError
from warehouse import Warehouse, described, land_lines

pytestmark = [pytest.mark.proves("schema change")]

KEY = {"data_type": "bigint", "role": "key"}


class Shop(Warehouse):
    """An entity of people; what its loads say is remembered."""

    def __init__(self, *words: Any) -> None:
        self.said: list[str] = []
        super().__init__(*words)

    def _context(self) -> dict[str, Any]:
        context = super()._context()
        del context["_fingerprint"]
        return context | {
            "log": lambda text, **more: self.said.append(str(text)) or "",
            "local_md5": self._md5,
        }

    def _md5(self, text: str) -> str:
        """As dbt has it, but that each load counts as an invocation of its own."""
        counted = f"{text}{self.attempts}" if text == "none" else text
        return hashlib.md5(counted.encode()).hexdigest()

    def rows(self, columns: str, view: str = "current") -> list[tuple[Any, ...]]:
        self._begin()
        self.cursor.execute(f"select {columns} from ({self.view_sql(view)}) order by all")
        return [tuple(row) for row in self.cursor.fetchall()]

    def manifest(self) -> dict[str, Any]:
        read: dict[str, Any] = self.macros._read_manifest(
            self.macros._context_of_model()["committed"]
        )
        return read


@pytest.fixture
def people(cursor: Any, schema: str, tmp_path: Path) -> Callable[..., Shop]:
    """Makes the entity `people` over files in `<tmp_path>/<business_date>`."""

    def make(format: str = "csv", **settings: Any) -> Shop:
        source = {"format": format, "path": f"{tmp_path}/{{business_date}}"}
        source |= {"on_unexpected_column": "add"} | settings.pop("source", {})
        columns = {"id": KEY, "name": "string"}
        return Shop(
            cursor, schema, tmp_path, described("people", columns, source=source, **settings)
        )

    return make


def land(shop: Shop, date: str, *rows: dict[str, Any]) -> None:
    """Rows as files of the entity's format; for CSV the first row says which columns there are."""
    source = shop.node["config"]["meta"]["spark_cdc"]["source"]
    folder = shop.folder / date
    if source["format"] == "json":
        land_lines(folder, *(json.dumps(row) for row in rows), file="data.json")
    elif source["format"] == "csv":
        lines = [
            ",".join("" if row[name] is None else str(row[name]) for name in rows[0])
            for row in rows
        ]
        land_lines(folder, ",".join(rows[0]), *lines)
    else:
        text = folder.with_name(f"{date}-text")
        land_lines(text, *(json.dumps(row) for row in rows), file="data.json")
        shop.cursor.execute(
            f"insert overwrite directory '{folder}' using {source['format']} "
            f"select * from json.`{text}`"
        )


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_a_new_column_is_there_from_its_load_on(people: Callable[..., Shop], format: str) -> None:
    shop = people(format)
    land(shop, "2024-03-01", {"id": 1, "name": "a"}, {"id": 2, "name": "b"})
    shop.load("2024-03-01")
    land(
        shop,
        "2024-03-02",
        {"id": 1, "name": "a", "zip": None},
        {"id": 2, "name": "b", "zip": 7},
        {"id": 3, "name": "c", "zip": 8},
    )
    shop.load("2024-03-02")
    data_type = "bigint" if format == "parquet" else "string"
    assert shop.manifest()["added"] == {"zip": data_type}
    assert any(f"zip {data_type} (new)" in text for text in shop.said)
    value = (lambda n: n) if format == "parquet" else str
    assert shop.rows("id, zip, operation") == [
        (1, None, "N"),
        (2, value(7), "U"),
        (3, value(8), "I"),
    ]
    assert shop.rows("id, zip", "versions") == [
        (1, None),
        (2, None),
        (2, value(7)),
        (3, value(8)),
    ]
    # the next load has it, too, without being told; and one that lacks it is refused
    land(shop, "2024-03-03", {"id": 1, "name": "a", "zip": 9}, {"id": 2, "name": "b", "zip": 7})
    shop.load("2024-03-03")
    assert shop.rows("id, zip, operation") == [(1, value(9), "U"), (2, value(7), "N")]
    if format == "json":
        return  # of JSON rows a column may be missing
    land(shop, "2024-03-04", {"id": 1, "name": "a"})
    with pytest.raises(CompilerError, match="missing: zip"):
        shop.load("2024-03-04")


def test_the_load_again_without_the_column_takes_it_back(people: Callable[..., Shop]) -> None:
    shop = people()
    land(shop, "2024-03-01", {"id": 1, "name": "a"})
    shop.load("2024-03-01")
    for rows, added in [
        (
            [{"id": 1, "name": "a", "Zip Code": 1, "city": "x"}],
            {"Zip Code": "string", "city": "string"},
        ),
        ([{"id": 1, "name": "a", "city": "x"}], {"city": "string"}),
        ([{"id": 1, "name": "b"}], {}),
        ([{"id": 1, "name": "b", "city": "y"}], {"city": "string"}),
    ]:
        land(shop, "2024-03-02", *rows)
        shop.load("2024-03-02")
        assert shop.manifest()["added"] == added
        assert len(shop.manifest()["loads"]) == 2
        listed = ", ".join(f"`{name}`" for name in ["id", "name", *added])
        assert shop.rows(listed) == [tuple(str(v) if k != "id" else v for k, v in rows[0].items())]


def test_a_declared_column_is_no_longer_an_added_one(people: Callable[..., Shop]) -> None:
    shop = people()
    land(shop, "2024-03-01", {"id": 1, "name": "a", "zip": 7, "city": "x"})
    shop.load("2024-03-01")
    assert shop.manifest()["added"] == {"city": "string", "zip": "string"}
    shop.node["columns"] += [
        {"name": "zip", "data_type": "int", "meta": {}},
        {"name": "town", "data_type": "string", "meta": {"renamed_from": "city", "from": "city"}},
    ]
    land(shop, "2024-03-02", {"id": 1, "name": "a", "zip": 7, "city": "x"})
    shop.load("2024-03-02")
    assert shop.rows("id, zip, town, operation") == [(1, 7, "x", "N")]
    assert [column["name"] for column in shop.entity["columns"]] == ["id", "name", "zip", "town"]
    # one that is dropped does not come back
    del shop.node["columns"][-1]
    shop.node["config"]["meta"]["spark_cdc"]["dropped_columns"] = ["town"]
    land(shop, "2024-03-03", {"id": 1, "name": "a", "zip": 8, "town": "x"})
    with pytest.raises(CompilerError, match=r"unexpected: town, which can't be added: .*dropped"):
        shop.load("2024-03-03")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("load_id", "a name that spark_cdc uses for a column of its own"),
        ("cdc__x", "Names that begin with cdc__ are those of spark_cdc"),
        ("a${b}", "has \\$\\{ in its name"),
    ],
)
def test_what_cannot_be_stored_is_refused(people: Callable[..., Shop], name: str, why: str) -> None:
    shop = people()
    land(shop, "2024-03-01", {"id": 1, "name": "a", name: 7})
    with pytest.raises(CompilerError, match=why):
        shop.load("2024-03-01")


def test_events_bring_columns_by_themselves(people: Callable[..., Shop]) -> None:
    shop = people("json", load_type="events", events={"format": "debezium"}, source={})

    def event(place: int, after: dict[str, Any]) -> dict[str, Any]:
        return {"op": "c" if place < 3 else "u", "after": after, "source": {"lsn": place}}

    land(shop, "2024-03-01", event(1, {"id": 1, "name": "a"}), event(2, {"id": 2, "name": "b"}))
    shop.load("2024-03-01")
    # the message in between is overtaken, and has a column of its own
    land(
        shop,
        "2024-03-02",
        event(3, {"id": 1, "name": "a", "zip": 7, "old": 1}),
        event(4, {"id": 1, "name": "a", "zip": 7}),
        event(5, {"id": 2, "name": "c", "zip": None}),
    )
    shop.load("2024-03-02")
    assert shop.manifest()["added"] == {"old": "string", "zip": "string"}
    assert shop.rows("id, name, zip, old, operation") == [
        (1, "a", "7", "1", "U"),
        (2, "c", None, None, "U"),
    ]


def test_typed_messages_say_the_type(people: Callable[..., Shop]) -> None:
    """As a schema registry's land: one folder has files of the schema before and of the next."""
    shop = people("parquet", load_type="events", events={"format": "debezium"}, source={})

    def send(date: str, place: int, after: str) -> None:
        made = shop.folder / f"made-{place}"
        shop.cursor.execute(
            f"insert overwrite directory '{made}' using parquet select named_struct('op', 'c',"
            f" 'after', {after}, 'source', named_struct('lsn', {place}L)) as value"
        )
        (shop.folder / date).mkdir(exist_ok=True)
        for number, file in enumerate(sorted(made.glob("*.parquet"))):
            file.rename(shop.folder / date / f"{place}-{number}.parquet")

    send("2024-03-01", 1, "named_struct('id', 1L, 'name', 'a')")
    shop.load("2024-03-01")
    send("2024-03-02", 2, "named_struct('id', 2L, 'name', 'b')")
    send(
        "2024-03-02",
        3,
        "named_struct('id', 3L, 'name', 'c', 'amount', 1.25BD, 'born', date'2000-02-29',"
        " 'seen', timestamp'2024-03-01 12:00:00 UTC', 'count', 7, 'tags', array('x'),"
        " 'raw', X'00ff')",
    )
    shop.load("2024-03-02")
    assert shop.manifest()["added"] == {
        "amount": "decimal(3,2)",
        "born": "date",
        "count": "int",
        "raw": "string",
        "seen": "timestamp",
        "tags": "string",
    }
    shop.cursor.execute("set time zone 'UTC'")
    assert shop.rows("id, name, string(amount), string(born), string(seen), count, raw, tags") == [
        (1, "a", None, None, None, None, None, None),
        (2, "b", None, None, None, None, None, None),
        (3, "c", "1.25", "2000-02-29", "2024-03-01 12:00:00", 7, "AP8=", '["x"]'),
    ]


@pytest.mark.integration
def test_through_dbt(project: Project, command: Callable[..., tuple[int, str]]) -> None:
    """All views have the column; undo, redo and replay go over it; the YAML gets it."""
    source = {"format": "csv", "on_unexpected_column": "add"}
    project.entity("towns", {"id": KEY, "name": "string"}, source=source)
    for view in ("changes", "latest"):
        model = project.folder / f"models/towns/towns_{view}.sql"
        model.write_text(f"{{{{ spark_cdc.{view}() }}}}\n", encoding="utf-8")
    project.land("towns", "2024-03-01", "id,name", "1,a", "2,b")
    project.land("towns", "2024-03-02", "id,name,zip", "1,a,", "2,b,7")
    project.land("towns", "2024-03-03", "id,name,zip", "1,a,9", "2,b,7")
    assert command("load", "2024-03-01", "towns")[0] == 0
    code, said = command("load", "2024-03-02", "towns", "--dry-run")
    assert (code, "added zip compared string" in said) == (0, True), said
    assert "zip" not in columns(project, "towns_current")
    code, said = command("load", "2024-03-02", "2024-03-03", "towns")
    assert (code, "zip string (new)" in said) == (0, True), said
    for view in ("committed", "current", "history", "versions", "changes", "latest"):
        assert "zip" in columns(project, f"towns_{view}")
    now = "select id, zip from {s}.towns_current order by id"
    assert project.query(now) == [(1, "9"), (2, "7")]
    change = "select definition_change from {s}.cdc_loads where entity = 'towns' order by load_id"
    assert project.query(change)[1] == ("added zip compared string",)

    for word, zips in (("undo", (None, "7")), ("undo", (None, None)), ("redo", (None, "7"))):
        code, said = command(word, "towns")
        assert code == 0, said
        assert [row[1] for row in project.query(now)] == list(zips)
    # the past gets the values that it had, where its input has them
    project.land("towns", "2024-03-01", "id,name,zip", "1,a,", "2,b,6")
    code, said = command("replay", "towns", "--from", "2024-03-01", "--publish")
    assert code == 0, said
    assert project.query(now) == [(1, None), (2, "7")]
    versions = "select id, zip from {s}.towns_versions order by id, eff_start_date"
    assert project.query(versions) == [(1, None), (2, "6"), (2, "7")]
    code, said = command("load", "2024-03-03", "towns")
    assert (code, "zip string. To declare" in said) == (0, True), said

    # a run that loads nothing, and data tests, know the column
    outcome = project.dbt("build", "--select", "tag:spark_cdc.towns")
    assert outcome.success, outcome.output
    assert project.query(now) == [(1, "9"), (2, "7")]
    for said in ("added zip to", "the YAML has all columns"):
        code, text = command("new", "towns", "--update")
        assert (code, said in text) == (0, True), text
    code, said = command("load", "2024-03-03", "towns")
    assert (code, "automatically added" in said) == (0, False), said
    assert project.query(now) == [(1, "9"), (2, "7")]


def columns(project: Project, relation: str) -> list[str]:
    return [row[0] for row in project.query(f"describe {{s}}.{relation}")]
