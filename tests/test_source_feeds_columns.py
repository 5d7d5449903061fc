"""Columns of Delta and Iceberg tables that become other fields, of which no change feed tells."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from project import Project
from shop import INTERPRETED
from spark_cdc.jinja_bridge import CompilerError
from spark_cdc.server import local as local_server
from test_source_feeds_loads import project
from warehouse import Warehouse, described, fetched

__all__ = ["project"]
pytestmark = [pytest.mark.proves("source feeds"), pytest.mark.full]
KEY = {"data_type": "bigint", "role": "key"}
FEED = "delta.enableChangeDataFeed = true"
MAPPED = f"{FEED}, delta.columnMapping.mode = 'name', delta.enableTypeWidening = true"
FORMATS = {"delta": "delta_cdf", "iceberg": "iceberg_changelog"}


class Feed(Warehouse):
    """A table of a format, and an entity that reads its feed, loaded without dbt."""

    def __init__(
        self, cursor: Any, table_format: str, name: str, folder: Path, columns: dict[str, Any]
    ) -> None:
        self.table = f"source.{name}" if table_format == "delta" else f"iceberg.source.{name}"
        settings: dict[str, Any] = {
            "load_type": "events",
            "events": {"format": FORMATS[table_format]},
            "source": {"format": "change_feed", "table": self.table},
        }
        self.settings = settings
        node = described(name, {"id": KEY} | columns, **settings)
        super().__init__(cursor, f"feeds_{table_format}", folder, node)
        self.dates = (f"{dt.date(2024, 3, 1) + dt.timedelta(n)}" for n in itertools.count())
        self.columns = ["id", *columns]

    def run(self, *sql: str) -> list[tuple[Any, ...]]:
        for one in sql:
            self.cursor.execute(one.replace("{t}", self.table))
        return fetched(self.cursor)

    def next(self, **more: Any) -> tuple[int, int, int]:
        """What the next date changes: I, U and D."""
        self.variables.pop("spark_cdc_load_type", None)
        self.variables |= more
        counts = self.load(next(self.dates))["counts"]
        return counts["I"], counts["U"], counts["D"]

    def refused(self) -> str:
        """Why the next date is refused, which leaves all as it is."""
        before = self.current()
        with pytest.raises(CompilerError) as caught:
            self.next()
        assert self.current() == before
        said = str(caught.value)
        assert f"spark_cdc_load_type: {{{self.name}: full}}" in said
        return said

    def repaired(self) -> tuple[int, int, int]:
        """What a full snapshot changes; afterwards the entity has what the table has."""
        found = self.next(spark_cdc_load_type="full")
        self.check()
        return found

    def current(self) -> list[tuple[Any, ...]]:
        names = ", ".join(self.columns)
        return sorted(self.run(f"select {names} from ({self.view_sql('current')})"), key=repr)

    def check(self) -> None:
        """What is current is what the table holds."""
        names = ", ".join(self.columns)
        assert self.current() == sorted(self.run(f"select {names} from {{t}}"), key=repr)


Make = Callable[..., Feed]


@pytest.fixture(params=["delta", "iceberg"])
def make(project: Project, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes a table whose columns can be renamed, and an entity that reads its feed."""
    connection = local_server.connect(project.port)
    cursor = connection.cursor()
    for setting, value in INTERPRETED.items():
        cursor.execute(f"set {setting} = {value}")

    def made(using: str = "", **columns: Any) -> Feed:
        name = f"{request.node.originalname[5:30]}_{request.param}"
        cursor.execute(f"create schema if not exists feeds_{request.param}")
        feed = Feed(cursor, request.param, name, tmp_path, columns)
        types = ", ".join(f"{column} {columns.get(column, 'bigint')}" for column in feed.columns)
        by = f"delta tblproperties ({using or MAPPED})" if request.param == "delta" else "iceberg"
        feed.run("drop table if exists {t}", f"create table {{t}} ({types}) using {by}")
        return feed

    yield made
    connection.close()


def test_a_column_that_is_dropped_and_added(make: Make) -> None:
    feed = make(city="string", n="int")
    feed.run("insert into {t} values (1, 'A', 1), (2, 'B', 2)")
    assert feed.next() == (2, 0, 0)
    feed.run("alter table {t} drop column city", "alter table {t} add columns (city string)")
    said = feed.refused()
    assert "the table has another field by now under the name of city: columns of" in said
    assert feed.repaired() == (0, 2, 0)
    feed.run("update {t} set city = 'C' where id = 1", "insert into {t} values (3, 3, 'D')")
    assert feed.next() == (1, 1, 0)
    feed.check()
    assert feed.next() == (0, 0, 0)


def test_names_that_are_swapped(make: Make) -> None:
    """With an update before it; also of what is nested."""
    feed = make(x="string", y="string", s="struct<a: string, b: string>")
    feed.run("insert into {t} values (1, 'x', 'y', named_struct('a', 'a', 'b', 'b'))")
    assert feed.next() == (1, 0, 0)
    feed.run(
        "update {t} set x = 'z' where id = 1",
        "alter table {t} rename column x to other",
        "alter table {t} rename column y to x",
        "alter table {t} rename column other to y",
    )
    said = feed.refused()
    if "[DELTA_" not in said:  # which says so itself where rows were written before
        assert "x (its former field is y now), y (its former field is x now): columns" in said
    assert feed.repaired() == (0, 1, 0)
    feed.run("alter table {t} drop column s.a", "alter table {t} add columns (s.a string first)")
    assert "under the name of s.a: columns of" in feed.refused()
    assert feed.repaired() == (0, 1, 0)


def test_a_column_that_comes_back_after_a_load(make: Make) -> None:
    """The load between was told to take a missing column for null."""
    feed = make(city="string", n="int")
    feed.settings["source"]["on_missing_column"] = "null"
    feed.node["config"]["meta"]["spark_cdc"] = feed.settings
    feed.run("insert into {t} values (1, 'A', 1)")
    assert feed.next() == (1, 0, 0)
    feed.run("alter table {t} drop column city", "insert into {t} values (2, 2)")
    if "iceberg" in feed.table:
        assert feed.next() == (1, 0, 0)
    else:  # Delta's feed
        feed.run("alter table {t} set tblproperties (delta.checkpointInterval = '1')")
    feed.run("alter table {t} add columns (city string)", "insert into {t} values (3, 3, 'C')")
    assert "under the name of city" in feed.refused()
    feed.repaired()


def test_what_keeps_the_fields(make: Make) -> None:
    """A wider type, a column that comes, a name that `from` follows."""
    feed = make(city="string", n="int")
    feed.node["columns"][2]["data_type"] = "bigint"
    feed.run("insert into {t} values (1, 'A', 1)")
    assert feed.next() == (1, 0, 0)
    feed.run("alter table {t} alter column n type bigint", "alter table {t} add columns (more int)")
    feed.settings["source"]["on_unexpected_column"] = "ignore"
    feed.node["config"]["meta"]["spark_cdc"] = feed.settings
    feed.run("insert into {t} values (2, 'B', 5000000000, 1)")
    assert feed.next() == (1, 0, 0)
    feed.check()
    feed.run("alter table {t} rename column city to town")
    feed.node["columns"][1]["config"]["meta"]["from"] = "town"
    feed.run("update {t} set town = 'C' where id = 2")
    assert feed.next() == (0, 1, 0)
    feed.run("alter table {t} rename column town to city")
    del feed.node["columns"][1]["config"]["meta"]["from"]
    assert feed.next() == (0, 0, 0)
    feed.check()


@pytest.mark.parametrize("make", ["delta"], indirect=True)
def test_delta_without_column_mapping_and_with(make: Make) -> None:
    feed = make(using=f"{FEED}, delta.checkpointInterval = 1", city="string")
    feed.run("insert into {t} values (1, 'A')", "insert into {t} values (2, 'B')")
    assert feed.next() == (2, 0, 0)
    feed.run("insert into {t} values (3, 'C')")
    feed.run("alter table {t} set tblproperties (delta.columnMapping.mode = 'name')")
    assert feed.next() == (1, 0, 0)
    feed.check()
    feed.run("alter table {t} drop column city", "alter table {t} add columns (city string)")
    assert "under the name of city" in feed.refused()
    assert feed.repaired() == (0, 3, 0)


@pytest.mark.parametrize("make", ["iceberg"], indirect=True)
def test_iceberg_whose_metadata_can_not_be_read(make: Make) -> None:
    feed = make(city="string")
    feed.run("alter table {t} set tblproperties ('write.metadata.compression-codec' = 'gzip')")
    feed.run("insert into {t} values (1, 'A')")
    assert feed.next() == (1, 0, 0)
    feed.run("insert into {t} values (2, 'B')")
    assert feed.next() == (1, 0, 0)
    feed.run("alter table {t} drop column city", "alter table {t} add columns (city string)")
    said = feed.refused()
    assert "it was changed without a snapshot (file:" in said
    assert "as text, which would tell" in said
    assert feed.repaired() == (0, 2, 0)
    feed.run("insert into {t} values (3, 'C')")
    assert feed.next() == (1, 0, 0)
    feed.check()


@pytest.mark.parametrize("make", ["iceberg"], indirect=True)
def test_iceberg_with_a_map_and_a_table_that_is_replaced(make: Make) -> None:
    feed = make(tags="map<string, int>", city="string")
    feed.columns = ["id", "city"]  # what can be compared
    feed.run("insert into {t} values (1, map('a', 1), 'A'), (2, map('b', 2), 'B')")
    assert feed.next() == (2, 0, 0)
    feed.run("update {t} set tags = map('a', 3) where id = 1", "delete from {t} where id = 2")
    feed.run("insert into {t} values (3, map('c', 3, 'd', 4), 'C')")
    assert feed.next() == (1, 1, 1)
    assert feed.run(f"select tags['a'] from ({feed.view_sql('current')}) where id = 1") == [(3,)]
    feed.check()
    feed.run("create or replace table {t} using iceberg as select * from {t} where id = 3")
    assert "was replaced as a whole since snapshot" in feed.refused()
    assert feed.repaired() == (0, 0, 1)
