"""What macros ask Iceberg's catalogues, whose lists have no views.

On servers: test_catalogues.py.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from spark_cdc.jinja_bridge import Macros, load_macros

pytestmark = pytest.mark.proves("file formats")

TABLE = (
    "Catalog: lake\nNamespace: cdc\nTable: x_ledger\nType: MANAGED\nLocation: file:/w/cdc/x_ledger"
    f"\nProvider: iceberg\nTable Properties: [{', '.join('[format=iceberg,spark_cdc.docs=a b]')}]"
    "\nSchema: root\n |-- id: integer (nullable = true)\n"
)
TEXT = 'select\n    /* spark_cdc manifest: {"sequence": 7} */\n    load_id\nfrom cdc.x_ledger'
VIEW = (
    "CREATE VIEW lake.cdc.x_committed (\n  load_id)\nTBLPROPERTIES (\n  'spark_cdc.docs' = 'ab')"
    f"\nAS\n{TEXT}\n"
)


class Relation(str):
    """A relation as dbt has it."""

    @property
    def schema(self) -> str:
        return self.split(".")[0]

    @property
    def identifier(self) -> str:
        return self.split(".")[1]

    def incorporate(self, **more: Any) -> Relation:
        return self


def catalogue() -> tuple[Macros, list[str]]:
    """The macros on a catalogue with a table and a view, and the statements that they send."""
    sent: list[str] = []

    def named(key: str, *names: str) -> list[dict[str, Any]]:
        return [{key: name, "isTemporary": name == "temporary"} for name in names]

    answers: dict[str, list[dict[str, Any]]] = {
        r"select version\(\)": [{"catalog": "lake"}],
        r"set spark.sql.catalog.lake$": [{"value": "org.apache.iceberg.spark.SparkCatalog"}],
        r"set .*lake.type": [{"value": "rest"}],
        r"set spark.sql.extensions": [{"value": "org.apache.iceberg.spark.extensions.X"}],
        r"set .*lake.cache-enabled": [{"value": "false"}],
        r"set ": [{"value": "<undefined>"}],
        r"explain": [{"plan": "== Physical Plan =="}],
        r"show schemas like 'cdc'": [{"namespace": "cdc"}],
        r"show tables in cdc like '(\*|x_ledger)'": named("tableName", "x_ledger"),
        r"show views in cdc like '(\*|x_c.*)'": named("viewName", "x_committed", "temporary"),
        r"show table extended in cdc like '(\*|x_ledger)'": [
            {"tableName": "x_ledger", "information": TABLE}
        ],
        r"show create table cdc\.x_committed": [{"createtab_stmt": VIEW}],
    }

    def run_query(sql: str) -> Any:
        sent.append(sql)
        found = next(
            (rows for text, rows in answers.items() if re.match(text, sql.replace("`", ""))), []
        )
        return SimpleNamespace(rows=found)

    made = load_macros(
        run_query=run_query,
        target=SimpleNamespace(type="spark", schema="cdc", name="lake"),
        graph={},
        invocation_id="x",
        execute=True,
        flags=SimpleNamespace(WHICH="run", EMPTY=False),
        _send=sent.append,
        _relation_in=lambda schema, name: Relation(f"{schema}.{name}"),
        adapter=SimpleNamespace(cache_dropped=lambda _: None, cache_added=lambda _: None),
        load_cached_relation=lambda _: pytest.fail("dbt's cache has no views"),
    )
    assert made._other_platform() is None
    sent.clear()
    return made, sent


def test_a_view_is_known_with_its_text() -> None:
    macros, sent = catalogue()
    known = macros._known(Relation("cdc.x_committed"))
    assert macros._is_view_in(known["information"])
    assert macros._view_text_in(known["information"]) == TEXT
    assert "spark_cdc.docs=ab" in known["information"]
    count = len(sent)
    assert macros._known(Relation("cdc.x_committed")) == known
    assert macros._known(Relation("cdc.nothing")) is None
    assert len(sent) == count, "asked once"


def test_a_table_is_known_with_its_format() -> None:
    macros, _ = catalogue()
    known = macros._known(Relation("cdc.x_ledger"))
    assert not macros._is_view_in(known["information"])
    assert "spark_cdc.docs=a b" in known["information"] and " |-- id: int" in known["information"]
    assert macros._provider_of(SimpleNamespace(**known)) == "iceberg"
    assert macros._location_in(known["information"]) == "file:/w/cdc/x_ledger"
    assert macros._known(Relation("other.x_ledger")) is None


def test_lists_have_views_and_nothing_temporary() -> None:
    macros, _ = catalogue()
    assert macros._tables_in("cdc") == ["x_ledger", "x_committed"]
    assert macros._is_there(Relation("cdc.x_committed"))
    assert not macros._is_there(Relation("cdc.nothing"))
    assert [row["tableName"] for row in macros._shown_in("cdc")] == ["x_ledger", "x_committed"]


def test_what_is_sent_in_place_of_hives_statements() -> None:
    macros, sent = catalogue()
    view = Relation("cdc.x_committed")
    assert macros._replace_view_sql(view, TEXT, True).startswith(
        f"create or replace view {view} as"
    )
    assert macros._replace_view_sql(view, TEXT, False).startswith("create view if not exists cdc")
    assert macros._file_format_of_vars() == "iceberg"
    macros._drop_schema("cdc")
    assert [sql for sql in sent if sql.startswith("drop ")] == [
        "drop table if exists cdc.x_ledger purge",
        "drop view if exists cdc.x_committed",
        "drop schema if exists cdc cascade",
    ]
