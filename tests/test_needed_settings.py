"""Operations need names and columns of an entity: other wrong settings stop loads alone."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest

from spark_cdc.jinja_bridge import CompilerError, Macros, load_macros
from test_config import GOOD, LEDGER, Node, changed, macros

pytestmark = pytest.mark.proves("settings")

LOADING = ["backfill", "fill_column", "import_history", "plan"]
OTHERS = ["undo", "redo", "tag", "diff", "branch", "erase", "publish_replay", "discard_replay"]
OTHERS += ["verify"]
EACH = ["vacuum", "compact", "maintain"]
# Settings that only a load reads, wrong in their type, their value, or as a whole.
WRONG: list[dict[str, Any]] = [
    {"guards": {"deleted_share": "abc"}},
    {"guards": "abc"},
    {"gards": {}},
    {"checkpoint": 7},
    {"checkpoint": {"rows": "many"}},
    {"maintenance": [1]},
    {"maintenance": {"compact_loads": "x"}},
    {"source": "landing"},
    {"source": {"path": "landing"}},
    {"source": {"path": "landing/{business_date}", "format": "xlsx"}},
    {"rules": [1]},
    {"rules": {"a": {"condition": 1}}},
    {"timezone": "Mars"},
    {"cluster_by": ["nothing"]},
    {"expected_every": "often"},
    {"priority": 5},
    {"on_reject": "shrug"},
    {"deleted_when": ["op"]},
]
COLUMN: list[dict[str, Any]] = [
    {"encoding": "nanos"},
    {"format": "yyyy"},
    {"nullable": "maybe"},
    {"on_cast_error": "drop"},
    {"renamed_from": 7},
    {"null_means": "x"},
    {"nulable": True},
]


def ctx(entity: Any, schema: str) -> dict[str, Any]:
    return {"entity": entity}


def of(operation: str, node: dict[str, Any], names: Any = "orders", **more: Any) -> Any:
    given = {"_context": ctx, "_writing": lambda made: made, **more}
    return macros(node, **given)._contexts(operation, names)


def of_run(node: dict[str, Any], *selected: str, **more: Any) -> Macros:
    ids = [f"model.shop.orders_{kind}" for kind in selected]
    return macros(node, selected_resources=ids, _mode=lambda: "operate", **more)


def with_column(meta: dict[str, Any]) -> dict[str, Any]:
    node = copy.deepcopy(GOOD)
    node["columns"][1]["config"] = {"meta": meta}
    return node


def described(ctx: Any) -> Any:
    keys = ["name", "load_type", "eff_type", "stored", "key_columns", "file_format", "sensitive"]
    return {key: ctx["entity"][key] for key in keys}


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_operations_need_no_setting_of_loads(wrong: dict[str, Any]) -> None:
    node = changed(**wrong)
    right = described(of("undo", GOOD)[0])
    for operation in OTHERS + EACH:
        assert described(of(operation, node)[0]) == right, operation
    for operation in LOADING:
        with pytest.raises(CompilerError, match="before anything was done"):
            of(operation, node)
    with pytest.raises(CompilerError, match="before anything was written"):
        of_run(node, "ledger").validate()


@pytest.mark.parametrize("wrong", COLUMN, ids=str)
def test_operations_need_nothing_else_of_columns(wrong: dict[str, Any]) -> None:
    right = described(of("undo", GOOD)[0])
    names = ["name", "data_type", "role", "sensitive"]
    found = described(of("undo", with_column(wrong))[0])
    for given in (right, found):
        given["stored"] = [{name: column[name] for name in names} for column in given["stored"]]
        given["key_columns"] = len(given["key_columns"])
    assert found == right


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (changed(load_type="daily"), "load_type is 'daily'"),
        (changed(business_date_type="day"), "business_date_type is 'day'"),
        (changed(dropped_columns={"a": 1}), "dropped_columns is {'a': 1}"),
        (changed(file_format="csv"), "file_format is 'csv'"),
        (changed(load_type="events"), "events.format is missing"),
        (changed(columns=[{"name": "id", "data_type": "int"}]), "no column has the role key"),
        (with_column({"role": "klee"}), "role is 'klee'"),
        (with_column({"sensitive": "yes"}), "sensitive is 'yes'"),
        (changed(columns=[{"name": "id", "data_type": "in", "meta": {"role": "key"}}]), "id"),
    ],
)
def test_what_they_do_need_is_refused(node: dict[str, Any], message: str) -> None:
    for operation in OTHERS + EACH:
        with pytest.raises(CompilerError) as error:
            of(operation, node)
        assert message in str(error.value)


def two(node: dict[str, Any]) -> Macros:
    """A project with a good entity, sites, and orders as given."""
    more = copy.deepcopy(GOOD) | {"name": "stg_sites", "unique_id": "model.shop.stg_sites"}
    ledger = LEDGER | {"name": "sites_ledger", "unique_id": "model.shop.sites_ledger"}
    nodes = [node, LEDGER, more, ledger]
    warned: list[str] = []
    made = macros(
        _context=ctx,
        _writing=lambda made: made,
        graph=Node(nodes={one["unique_id"]: Node(one) for one in nodes}),
        exceptions=SimpleNamespace(warn=warned.append, raise_compiler_error=_refused),
    )
    made.warned = warned  # type: ignore[attr-defined]
    return made


def _refused(message: str) -> None:
    raise CompilerError(message)


@pytest.mark.parametrize("operation", EACH)
def test_one_wrong_entity_stops_no_other(operation: str) -> None:
    made = two(changed(load_type="daily"))
    assert [one["entity"]["name"] for one in made._contexts(operation)] == ["sites"]
    assert "left out orders" in made.warned[0]  # type: ignore[attr-defined]
    with pytest.raises(CompilerError, match="load_type is 'daily'"):
        made._contexts(operation, ["orders", "sites"])


def test_all_or_none_stays_so() -> None:
    with pytest.raises(CompilerError, match="load_type is 'daily'"):
        two(changed(load_type="daily"))._contexts("tag")


@pytest.mark.parametrize(
    "given",
    [
        {"spark_cdc_guards": "abc"},
        {"spark_cdc_checkpoint": 7},
        {"spark_cdc_maintenance": [1]},
        {"spark_cdc_manifest_limit": "long"},
    ],
)
def test_vars_of_loads_stop_loads_alone(given: dict[str, Any]) -> None:
    of("undo", GOOD, var=given)
    assert of_run(GOOD, "current", var=given).validate() == ""
    dated = macros(var=given | {"business_date": "2024-01-02"})
    for act in (lambda: of("backfill", GOOD, var=given), dated.validate):
        with pytest.raises(CompilerError, match=next(iter(given))):
            act()
    with pytest.raises(CompilerError, match="spark_cdc_sensitive_schema"):
        of("undo", GOOD, var={"spark_cdc_sensitive_schema": "a.b"})


def test_views_are_made_despite_a_setting_of_loads() -> None:
    """As after an undo; a run of the ledger, or of what commits it, is refused."""
    node = changed(guards={"deleted_share": "abc"})
    assert of_run(node, "current", "history").validate() == ""
    for kind in ("ledger", "committed", "events"):
        with pytest.raises(CompilerError, match="deleted_share is 'abc'"):
            of_run(node, kind).validate()
    with pytest.raises(CompilerError, match="load_type is 'daily'"):
        of_run(changed(load_type="daily"), "current").validate()


@pytest.mark.parametrize(
    ("materialized", "asked"), [("cdc_published", 1), ("cdc_view", 1), ("view", 0), (None, 0)]
)
def test_a_run_of_any_model_of_ours_asks_which_platform_it_is(
    materialized: str | None, asked: int
) -> None:
    """Iceberg's catalogs list no views among tables; a published table alone was refused there."""
    seen: list[bool] = []
    unique_id = "model.shop.orders_table"
    node = {"config": {"materialized": materialized} if materialized else None}
    made = load_macros(
        graph=SimpleNamespace(nodes={unique_id: node}, sources={}),
        selected_resources=[unique_id],
        _entity_nodes=lambda: [],
        _other_platform=lambda: seen.append(True),
    )
    assert made.validate() == ""
    assert len(seen) == asked


def test_a_run_of_staging_alone_asks_which_platform_it_is() -> None:
    """dbt's own materializations make no difference: entities are read for it."""
    seen: list[bool] = []
    made = macros(
        GOOD,
        selected_resources=[GOOD["unique_id"]],
        _mode=lambda: "operate",
        _other_platform=lambda: seen.append(True),
    )
    assert made.validate() == ""
    assert seen
