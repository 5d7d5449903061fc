"""Tables without a date column: a full snapshot is what the table has when the load runs."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from project import Project
from spark_cdc.jinja_bridge import CompilerError, Node, load_macros
from warehouse import Telling, Warehouse, described

pytestmark = [pytest.mark.proves("load types")]

COLUMNS = {"id": {"data_type": "int", "role": "key"}, "value": "string"}


@pytest.fixture
def shop(cursor: Any, schema: str, tmp_path: Any) -> Callable[..., Telling]:
    """Makes the entity `rows` over the table `<schema>.orders_now`, whose rows `fill` replaces."""

    def make(**settings: Any) -> Telling:
        node = described("rows", COLUMNS, **{"source": {"format": "table"}, **settings})
        warehouse = Telling(cursor, schema, tmp_path, node)
        warehouse.replace("_landing_source", lambda macro, entity: f"{schema}.orders_now")
        return warehouse

    return make


def fill(warehouse: Warehouse, *rows: tuple[int, str]) -> None:
    name = f"{warehouse.schema}.orders_now"
    warehouse.cursor.execute(f"drop table if exists {name}")
    values = ", ".join(f"({key}, '{value}')" for key, value in rows) or "(0, '')"
    warehouse.cursor.execute(
        f"create table {name} using parquet as select * from values {values} as t (id, value)"
        f"{' where false' if not rows else ''}"
    )


def state(warehouse: Warehouse, view: str, columns: str) -> list[tuple[Any, ...]]:
    warehouse.cursor.execute(f"select {columns} from ({warehouse.view_sql(view)}) order by all")
    return [tuple(row) for row in warehouse.cursor.fetchall()]


def test_what_changed_between_two_loads_is_told(shop: Callable[..., Telling]) -> None:
    """What dbt snapshot tells with hard deletes: what is new, other, and gone."""
    warehouse = shop()
    fill(warehouse, (1, "a"), (2, "b"), (3, "c"))
    assert warehouse.load("2024-03-01")["counts"]["I"] == 3
    fill(warehouse, (1, "a"), (2, "B"), (4, "d"))
    counts = warehouse.load("2024-03-05")["counts"]
    assert (counts["I"], counts["U"], counts["D"]) == (1, 1, 1)
    assert state(warehouse, "current", "id, value") == [(1, "a"), (2, "B"), (4, "d")]
    day, since = "2024-03-01", "2024-03-05"
    assert state(warehouse, "latest", "id, value, eff_start_date, is_deleted, deleted_at") == [
        (1, "a", day, False, None),
        (2, "B", since, False, None),
        (3, "c", since, True, since),
        (4, "d", since, False, None),
    ]
    assert state(warehouse, "versions", "id, value, eff_start_date, eff_end_date") == [
        (1, "a", day, None),
        (2, "B", since, None),
        (2, "b", day, since),
        (3, "c", day, since),
        (4, "d", since, None),
    ]


def test_a_row_that_stays_deleted_is_deleted_once(shop: Callable[..., Telling]) -> None:
    """As dbt's own tests have it (simple_snapshot/new_record_dbt_valid_to_current.py)."""
    warehouse = shop(validity={"start": "valid_from", "end": "valid_to", "open_end": "9999-12-31"})
    fill(warehouse, (1, "Judith"), (2, "Arthur"))
    warehouse.load("2024-03-01")
    fill(warehouse, (2, "Arthur"))
    for date in ("2024-03-02", "2024-03-03"):
        warehouse.load(date)
    assert state(warehouse, "versions", "id, value, valid_from, valid_to") == [
        (1, "Judith", "2024-03-01", "2024-03-02"),
        (2, "Arthur", "2024-03-01", "9999-12-31"),
    ]
    assert state(warehouse, "history", "id, operation, eff_start_date") == [
        (1, "D", "2024-03-02"),
        (1, "I", "2024-03-01"),
        (2, "I", "2024-03-01"),
    ]
    assert state(warehouse, "latest", "id, value, is_deleted") == [
        (1, "Judith", True),  # where dbt's record of the delete has nulls
        (2, "Arthur", False),
    ]


def test_a_new_column_changes_no_row(shop: Callable[..., Telling]) -> None:
    """Where dbt snapshot has six records (test_ephemeral_snapshot_hard_deletes.py), one goes."""
    warehouse = shop(source={"format": "table", "on_unexpected_column": "ignore"})
    fill(warehouse, (1, "John"), (2, "Jane"), (3, "Bob"))
    warehouse.load("2024-03-01")
    table = f"{warehouse.schema}.orders_now"
    fill(warehouse, (1, "John"), (2, "Jane"))
    warehouse.cursor.execute(f"alter table {table} add columns (dummy_column string)")
    counts = warehouse.load("2024-03-02")["counts"]
    assert (counts["I"], counts["U"], counts["D"]) == (0, 0, 1)


def test_the_table_is_read_once(shop: Callable[..., Telling]) -> None:
    """Whoever writes to the table while a load runs is part of it wholly or not at all."""
    warehouse = shop()
    fill(warehouse, (1, "a"), (2, "b"), (3, "c"))
    warehouse.load("2024-03-01")
    fill(warehouse, (1, "a"), (2, "B"), (3, "c"))
    write = warehouse.macros["_write_deleted"]

    def changed_meanwhile(ctx: Any, load: Any, columns: Any) -> Any:
        fill(warehouse, (9, "z"))
        return write(ctx, load, columns)

    warehouse.replace("_write_deleted", lambda macro, *words: changed_meanwhile(*words))
    counts = warehouse.load("2024-03-02")["counts"]
    assert (counts["I"], counts["U"], counts["D"]) == (0, 1, 0)
    assert state(warehouse, "current", "id, value") == [(1, "a"), (2, "B"), (3, "c")]


def test_the_last_date_again_takes_the_rows_of_now(shop: Callable[..., Telling]) -> None:
    warehouse = shop()
    fill(warehouse, (1, "a"), (2, "b"))
    warehouse.load("2024-03-01")
    assert not any("may have changed" in text for text in warehouse.said)
    fill(warehouse, (1, "A"), (2, "b"))
    warehouse.load("2024-03-01")
    assert any("2024-03-01 was loaded before" in text for text in warehouse.said)
    assert state(warehouse, "versions", "id, value") == [(1, "A"), (2, "b")]


def test_an_export_that_is_empty_deletes_nothing(shop: Callable[..., Telling]) -> None:
    warehouse = shop()
    fill(warehouse, (1, "a"), (2, "b"))
    warehouse.load("2024-03-01")
    fill(warehouse)
    warehouse.variables["spark_cdc_guards"] = {}
    with pytest.raises(CompilerError, match="the snapshot is empty"):
        warehouse.load("2024-03-02")
    fill(warehouse, (1, "a"), (1, "b"))
    with pytest.raises(CompilerError, match="keys come more than once"):
        warehouse.load("2024-03-02")
    assert state(warehouse, "current", "id, value") == [(1, "a"), (2, "b")]


def test_what_is_pending_is_the_present_date(shop: Callable[..., Telling]) -> None:
    warehouse = shop()
    fill(warehouse, (1, "a"))
    macros, ctx = warehouse.macros, warehouse.macros._context_of_model()
    ctx = dict(ctx, timeline=macros._empty_manifest())
    today = datetime.datetime.combine(datetime.datetime.now(datetime.timezone.utc), datetime.time())
    day = datetime.timedelta(days=1)
    for since, times in ((None, [today]), (today - day, [today]), (today, []), (today + day, [])):
        told = macros._landed_times([ctx], {"rows": since})["rows"]
        assert (told["times"], told["problem"], told["absent"]) == (times, None, None)
    warehouse.cursor.execute(f"drop table {warehouse.schema}.orders_now")
    told = macros._landed_times([ctx], {"rows": None})["rows"]
    assert told["times"] == [] and "is not there" in told["problem"]


def test_many_dates_are_not_there(shop: Callable[..., Telling]) -> None:
    warehouse = shop()
    fill(warehouse, (1, "a"))
    days = [datetime.datetime(2024, 3, day) for day in (1, 2)]
    with pytest.raises(CompilerError, match=r"not those of 2 dates(.|\n)*rows --vars"):
        warehouse.macros._backfill_landed(warehouse.entity, days, False)


def problems(load_type: str, source: dict[str, Any], **more: Any) -> list[str]:
    macros = load_macros(var={}, graph=Node(nodes=more, sources={}))
    node = described("rows", COLUMNS, load_type=load_type, source=source)
    node["depends_on"] = {"nodes": list(more)}
    found: list[str] = macros._entity_problems("rows", node)
    return found


def test_what_reads_no_whole_table_needs_a_date_column() -> None:
    assert problems("full", {"format": "table"}) == []
    (found,) = problems("delta", {"format": "table"})
    assert "source.date_column is missing" in found
    assert "load_type: full, not delta" in found


def test_a_model_that_is_read_is_there() -> None:
    for kind, count in (("ephemeral", 1), ("view", 0), ("table", 0)):
        model = {"name": "orders", "config": {"materialized": kind}}
        found = problems("full", {"format": "table"}, **{"model.shop.orders": model})
        assert len(found) == count
        assert all("orders, which is ephemeral: materialize it as a view" in text for text in found)


def test_no_replay_of_what_is_gone() -> None:
    macros = load_macros(var={"business_date": "2024-01-02"})
    loads = [("rows", {"load_type": "full", "source": {"format": "table"}})]
    (found,) = macros._replay_problems({"from": "2024-01-01"}, loads)
    assert "rows: its source is a table without source.date_column" in found
    dated = [("rows", {"load_type": "full", "source": {"format": "table", "date_column": "day"}})]
    assert macros._replay_problems({"from": "2024-01-01"}, dated) == []


@pytest.mark.integration
def test_a_model_of_the_project_is_read(
    project: Project, command: Callable[..., tuple[int, str]]
) -> None:
    """It is built first, and the present date is what is pending."""
    project.entity("orders_kept", COLUMNS, source={"format": "table"})
    folder = project.folder / "models"
    (folder / "orders_kept/stg_orders_kept.sql").write_text(
        "{{ spark_cdc.stage(ref('orders')) }}\n", "utf-8"
    )

    def order(*rows: str) -> None:
        sql = " union all ".join(f"select {row}" for row in rows)
        (folder / "orders.sql").write_text(f"select id, value from ({sql}) as t (id, value)\n")

    order("1, 'a'", "2, 'b'")
    outcome = project.dbt("build", "--vars", "{business_date: 2024-03-01}")
    assert outcome.success, outcome.output
    order("1, 'A'", "3, 'c'")
    outcome = project.dbt("run", "--select", "orders")
    assert outcome.success, outcome.output
    code, said = command("load", "orders_kept", "--dry-run")
    assert code == 0, said
    code, said = command("load", "orders_kept")
    assert code == 0, said
    current = "select id, value from {s}.orders_kept_current order by id"
    assert project.query(current) == [(1, "A"), (3, "c")]
    code, said = command("load", "orders_kept")
    assert (code, "nothing to load" in said) == (3, True), said
    code, said = command("replay", "orders_kept", "--from", "2024-03-01")
    assert code == 2, said
    assert "its table has no rows of past dates to replay" in said.replace("\n", " ")
