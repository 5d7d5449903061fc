"""The configuration of an entity, the business date and the plan of a load: no server needed."""

from __future__ import annotations

import copy
import datetime
import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from rendered_sql import Relation, manifest_of
from spark_cdc.jinja_bridge import MACROS, ROOT, CompilerError, Macros, load_macros

pytestmark = pytest.mark.proves("settings")

GOOD: dict[str, Any] = {
    "name": "stg_orders",
    "resource_type": "model",
    "unique_id": "model.shop.stg_orders",
    "config": {
        "meta": {"spark_cdc": {"load_type": "full", "source": {"path": "landing/{business_date}"}}}
    },
    "columns": [
        {"name": "id", "data_type": "int", "config": {"meta": {"role": "key"}}},
        {"name": "value", "data_type": "string"},
    ],
}


LEDGER = {
    "name": "orders_ledger",
    "alias": "orders_ledger",
    "schema": "cdc",
    "resource_type": "model",
    "unique_id": "model.shop.orders_ledger",
}


SECRET = Relation("spark_cdc_secret_20240101t000000_0a935ca6")


def macros(node: dict[str, Any] = GOOD, *, schema: str = "cdc", **more: Any) -> Macros:
    ledger = LEDGER | {"schema": schema}
    given = {
        "graph": Node(nodes={n["unique_id"]: Node(n) for n in (node, ledger)}),
        "model": {"package_name": "shop", "unique_id": "model.shop.orders_ledger"},
        "target": SimpleNamespace(type="spark", schema=schema),
        "selected_resources": ["model.shop.orders_ledger"],
        "flags": SimpleNamespace(WHICH="run", FULL_REFRESH=False, EMPTY=False),
        "invocation_args_dict": {},
        "invocation_id": "0",
        "local_md5": lambda text: hashlib.md5(text.encode()).hexdigest(),
        "var": {"business_date": "2024-01-02"},
        "run_query": lambda sql: SimpleNamespace(rows=[]),
        "_secret": lambda: SECRET,
        "generate_schema_name": lambda name, node: f"{schema}_{name}",
    }
    return load_macros(**(given | more))


class Node(dict):
    """A node as dbt's graph has it: a dictionary whose keys Jinja also reads as attributes."""

    __getattr__ = dict.get


def changed(**paths: Any) -> dict[str, Any]:
    """The good entity with some settings (settings__key) or its columns replaced."""
    node = copy.deepcopy(GOOD)
    settings = node["config"]["meta"]["spark_cdc"]
    for path, value in paths.items():
        if path == "columns":
            node["columns"] = value
        elif path.startswith("source__"):
            settings["source"][path.removeprefix("source__")] = value
        else:
            settings[path] = value
    return node


def column(name: str, data_type: str | None = "int", **meta: Any) -> dict[str, Any]:
    return {"name": name, "data_type": data_type, "config": {"meta": meta}}


KEY = column("id", role="key")
TOKEN = {"sensitive": True, "pseudonymize": True}
SECRET_KEY = column("id", "string", role="key", **TOKEN)


class Said:
    """dbt's exceptions, with a list of the warnings."""

    def __init__(self, warnings: list[str]) -> None:
        self.warn = warnings.append

    def raise_compiler_error(self, message: str) -> None:
        raise CompilerError(message)


def test_a_good_configuration_passes() -> None:
    assert macros().validate() == ""


def test_an_entity_is_worked_out_once_in_a_run_whatever_the_thread() -> None:
    given = macros()
    alone = copy.deepcopy(macros()._entity("orders"))
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: given._entity("orders"), range(64)))
    assert all(one == alone for one in found)
    assert given._entity("orders") is given._entity("orders")


def test_a_unit_test_may_describe_an_entity_in_another_way() -> None:
    model = {
        "unique_id": "unit_test.shop.one",
        "package_name": "shop",
        "resource_type": "unit_test",
    }
    given = macros(model=model)
    assert given._entity("orders") is not given._entity("orders")


def test_an_entity_that_is_not_selected_is_not_judged() -> None:
    node, warnings = changed(load_type="whole"), []
    given = macros(node, selected_resources=["model.shop.people_ledger"], exceptions=Said(warnings))
    assert given.validate() == ""
    assert warnings == []
    # a model whose name begins like one of ours, and vars that only loads need
    given = macros(
        node,
        selected_resources=["model.shop.orders_current_by_day", "model.shop.orders"],
        var={"spark_cdc_checkpoint": 1},
    )
    assert given.validate() == ""
    test = {
        "name": "keys_not_null",
        "resource_type": "test",
        "unique_id": "test.shop.keys_not_null.1",
        "depends_on": Node(nodes=["model.shop.orders_current"]),
    }
    nodes = {one["unique_id"]: Node(one) for one in (node, LEDGER, test)}
    for selected in ("test.shop.keys_not_null.1", "unit_test.shop.stg_orders.a_day"):
        given = macros(graph=Node(nodes=nodes), selected_resources=[selected])
        with pytest.raises(CompilerError, match="load_type is 'whole'"):
            given.validate()


@pytest.mark.parametrize(
    ("meta", "found"),
    [
        ({"spark_cd": {"load_type": "full"}}, "meta has 'spark_cd'"),
        ({"Spark-CDC": {"load_type": "full"}}, "meta has 'Spark-CDC'"),
        ({"owner": "shop"}, "meta has no spark_cdc"),
        ({"spark_cdc": "full"}, """meta has 'spark_cdc': "full\""""),
    ],
)
def test_an_entity_without_settings_is_named_with_what_stands_in_their_place(
    meta: dict[str, Any], found: str
) -> None:
    node = copy.deepcopy(GOOD)
    node["config"]["meta"] = meta
    written = {"config": {"materialized": "cdc_ledger"}}
    nodes = [Node(node), Node(LEDGER | written)]
    given = macros(graph=Node(nodes={one["unique_id"]: one for one in nodes}))
    for check in (given.validate, lambda: given._entity("orders")):
        with pytest.raises(CompilerError, match="orders: it has no settings: ") as refused:
            check()
        assert found in str(refused.value)
        assert "(in the YAML of stg_orders)" in str(refused.value)
    assert [name for name, _, _ in given._entity_nodes()] == ["orders"]
    assert given._contexts_with_timelines("state")["broken"].keys() == {"orders"}


def test_a_staging_model_of_others_is_no_entity() -> None:
    node = copy.deepcopy(GOOD)
    node["config"]["meta"] = {}
    assert macros(node)._entity_nodes() == []


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("roll", "role"),
        ("Role", "role"),
        ("nulable", "nullable"),
        ("form", "from"),
        ("formt", "format"),
        ("defualt", "default"),
        ("onCastError", "on_cast_error"),
        ("null-means", "null_means"),
        ("sensitve", "sensitive"),
        ("pseudonymise", "pseudonymize"),
        ("key", "role: key"),
        ("required", "nullable: false"),
        ("pseudonym_domain", "pseudonymize: DOMAIN"),
        ("owner", None),
        ("classification", None),
        ("pii", None),
        ("label", None),
    ],
)
def test_a_key_of_meta_that_is_almost_a_setting_is_a_warning(key: str, meant: str | None) -> None:
    warnings: list[str] = []
    columns = [KEY, column("price", **{key: "x"}), column("paid", **{key: "x"})]
    assert macros(changed(columns=columns), exceptions=Said(warnings)).validate() == ""
    assert warnings == (
        [
            f"spark_cdc: orders: meta has the key {key} of column price, paid, which has no effect."
            f" Write {meant} under meta, or give the key another name (in the YAML of stg_orders)."
        ]
        if meant
        else []
    )


VIEW: dict[str, Any] = {
    "name": "orders_current",
    "alias": "orders_current",
    "schema": "cdc",
    "resource_type": "model",
    "unique_id": "model.shop.orders_current",
}


@pytest.mark.parametrize(
    ("config", "method", "said"),
    [
        ({"grants": {"select": ["bi"]}}, "thrift", "grants of orders_current: nothing is granted"),
        ({"grants": {"select": ["bi"]}}, "http", None),
        ({"persist_docs": {"columns": True}}, "thrift", "persist_docs.columns of orders_current"),
        ({"persist_docs": {"relation": True}}, "thrift", None),
        ({"grants": {}, "persist_docs": {"columns": False}}, "thrift", None),
        ({"grants": {"select": ["bi"]}, "materialized": "table"}, "thrift", None),
    ],
)
def test_a_configuration_that_the_server_can_not_carry_out_is_a_warning(
    config: dict[str, Any], method: str, said: str | None
) -> None:
    view = VIEW | {"config": {"materialized": "cdc_view"} | config}
    warnings: list[str] = []
    given = macros(
        graph=Node(nodes={one["unique_id"]: Node(one) for one in (GOOD, LEDGER, view)}),
        selected_resources=["model.shop.orders_ledger", "model.shop.orders_current"],
        target=SimpleNamespace(type="spark", schema="cdc", method=method),
        exceptions=Said(warnings),
    )
    assert given.validate() == ""
    assert [said in warning for warning in warnings if said] == [True] * bool(said)
    assert bool(warnings) == bool(said)


@pytest.mark.parametrize("config", [{"alias": "orders_now"}, {"schema": "marts"}])
@pytest.mark.parametrize("selected", ["orders_ledger", "orders_current", "stg_orders"])
def test_an_alias_or_a_schema_of_one_model_is_refused(
    config: dict[str, str], selected: str
) -> None:
    nodes = {one["unique_id"]: Node(one) for one in (GOOD, LEDGER, VIEW | config)}
    given = macros(graph=Node(nodes=nodes), selected_resources=[f"model.shop.{selected}"])
    with pytest.raises(CompilerError, match="the model orders_current is built as") as refused:
        given.validate()
    assert "Give all of them the same schema and no alias" in str(refused.value)


@pytest.mark.parametrize("before", [None, "Table Properties: [spark_cdc.docs=%s]"])
def test_descriptions_are_written_when_they_are_not_there_yet(before: str | None) -> None:
    sent: list[str] = []
    described = '["It\'s $1", {"id": "Number"}]'
    print_ = hashlib.md5(described.encode()).hexdigest()
    config = {
        "persist_docs": {"relation": True, "columns": True},
        "materialized": "cdc_ledger",
    }
    cached = SimpleNamespace(information=before % print_) if before else None
    given = macros(
        config=SimpleNamespace(get=config.get),
        model=Node(
            unique_id="model.shop.orders_ledger",
            description="It's $1",
            columns={
                "id": SimpleNamespace(description="Number"),
                "gone": SimpleNamespace(description=""),
            },
        ),
        this="cdc.orders_ledger",
        adapter=SimpleNamespace(
            get_columns_in_relation=lambda table: [SimpleNamespace(name=n) for n in ("ID", "v")]
        ),
        _send=sent.append,
        _write_target=lambda relation: relation,
        load_cached_relation=lambda relation: cached,
    )
    given._apply_config()
    assert sent == (
        []
        if before
        else [
            "alter table cdc.orders_ledger alter column `ID` comment 'Number'",
            "alter table cdc.orders_ledger set tblproperties ("
            f"'comment' = 'It\\'s \\u00241', 'spark_cdc.docs' = '{print_}')",
        ]
    )
    sent.clear()
    config["materialized"] = "cdc_committed"  # the view whose text is the commit
    given._apply_config()
    assert sent == []


def test_grants_are_those_of_dbt_where_the_server_has_them() -> None:
    granted: list[Any] = []
    for method in ("thrift", "odbc"):
        given = macros(
            config=SimpleNamespace(get={"grants": {"select": ["bi"]}}.get),
            model=Node(unique_id="model.shop.orders_current", description="", columns={}),
            this="cdc.orders_current",
            target=SimpleNamespace(type="spark", schema="cdc", method=method),
            apply_grants=lambda *grants, **more: granted.append((grants, more)),
            _write_target=lambda relation: relation,
            load_cached_relation=lambda relation: None,
        )
        given._apply_config()
    assert granted == [(("cdc.orders_current", {"select": ["bi"]}), {"should_revoke": True})]


def test_a_setting_beside_meta_is_a_warning() -> None:
    warnings: list[str] = []
    columns = [
        KEY,
        column("price") | {"role": "untracked"},
        column("paid", role="key") | {"role": "x"},
    ]
    assert macros(changed(columns=columns), exceptions=Said(warnings)).validate() == ""
    assert len(warnings) == 1
    assert "role stands beside meta of column price, which has no effect" in warnings[0]


@pytest.mark.parametrize(
    ("version", "options", "message"),
    [
        ("3.4.4 7fad", {}, "target local is Spark 3.4.4; accepted are Spark 3.5 and newer. Load"),
        ("3.5.9 7fad", {"lineSep": "|"}, "orders: the option lineSep of its source takes Spark 4"),
        ("3.5.9 7fad", {"sep": "|"}, None),
        ("3.5.9 7fad", {"multiLine": True}, None),
        ("4.0.5 7fad", {"pathGlobFilter": "*.csv"}, None),
        ("10.4.1 7fad", {"lineSep": "|"}, None),
        ("of a vendor", {"lineSep": "|"}, None),
    ],
)
def test_what_a_spark_is_too_old_for_is_said_before_anything_is_written(
    version: str, options: dict[str, str], message: str | None
) -> None:
    asked: list[str] = []

    def run_query(sql: str) -> Any:
        asked.append(sql)
        rows = [{"version": version}] if "version()" in sql else []
        return SimpleNamespace(rows=rows)

    target = SimpleNamespace(type="spark", schema="cdc", name="local")
    given = macros(changed(source__options=options), run_query=run_query, target=target)
    if message is None:
        assert given.validate() == ""
        return
    with pytest.raises(CompilerError, match=message):
        given.validate()
    assert asked == ["select current_catalog() as catalog", "select version() as version"]


def test_json_arrays_take_spark_4() -> None:
    source = {"format": "json", "path": "in/{business_date}", "options": {"MultiLine": True}}
    for version, is_refused in (("3.5.9 7fad", True), ("4.0.5 7fad", False)):
        rows = SimpleNamespace(rows=[{"version": version}])
        more = {
            "target": SimpleNamespace(type="spark", schema="cdc", name="local"),
            "selected_resources": [],
        }
        given = macros(run_query=lambda sql, rows=rows: rows, **more)
        problems = given._spark_problems([("orders", {"source": source})])
        assert len(problems) == is_refused
        assert all("the option MultiLine of its source takes Spark 4.0" in one for one in problems)


def test_the_bitemporal_view_takes_spark_4() -> None:
    more = {
        "selected_resources": ["model.shop.orders_ledger", "model.shop.orders_bitemporal"],
        "target": SimpleNamespace(type="spark", schema="cdc", name="local"),
    }
    for version, is_refused in (("3.5.9 7fad", True), ("4.0.5 7fad", False)):
        rows = SimpleNamespace(rows=[{"version": version}])
        given = macros(run_query=lambda sql, rows=rows: rows, **more)
        problems = given._spark_problems([("orders", {})])
        found = [one.startswith("orders: orders_bitemporal takes Spark 4.0") for one in problems]
        assert found == [True] * is_refused


def test_sensitive_columns_and_their_masks_are_told() -> None:
    columns = [
        column("id", role="key", sensitive=True),
        column("born", "date", sensitive=True, mask="year"),
        column("mail", "string", sensitive=True, role="untracked"),
        column("name", "string"),
    ]
    entity = macros(changed(columns=columns))._entity("orders")
    masks = {column["name"]: column["mask"] for column in entity["columns"]}
    assert masks == {"id": "none", "born": "year", "mail": "none", "name": None}
    assert [column["name"] for column in entity["sensitive"]] == ["id", "born", "mail"]


def test_a_token_is_the_hash_of_the_value_under_its_domain() -> None:
    renamed = column("person", "string", role="key", **TOKEN | {"pseudonymize": "customer"})
    found, masks = [], []
    for columns in ([SECRET_KEY], [renamed], [column("customer", "string", role="key", **TOKEN)]):
        project = macros(changed(columns=columns))
        (described,) = project._entity("orders")["key_columns"]
        masks.append(described["mask"])
        found.append(project._pseudonym(described, "value"))
    assert masks == ["token of id", "token of customer", "token of customer"]
    assert found[0] != found[1] == found[2]
    assert ",18:pseudonym:customer=s" in found[1]
    assert f"(select keys from {SECRET}).inner_key" in found[1]


def test_a_load_with_sensitive_columns_takes_a_secret() -> None:
    node = changed(columns=[KEY, column("born", "date", sensitive=True)])
    given = {"_secret": lambda: Relation("spark_cdc_secret_missing")}
    assert macros(node)._missing_secret_problems("orders", node) == []
    assert macros(**given)._missing_secret_problems("orders", GOOD) == []
    (problem,) = macros(node, **given)._missing_secret_problems("orders", node)
    assert "sensitive columns (born)" in problem and "spark-cdc secrets init" in problem


def checked(secrets: dict[str, str], proof: str | None, is_there: bool = True) -> dict[str, str]:
    """What the check of a load's secret finds, with the manifest's secrets and what Spark says."""
    node = changed(columns=[KEY, column("born", "date", sensitive=True)])
    project = macros(
        node,
        run_query=lambda sql: SimpleNamespace(rows=[{"proof": proof}]),
        _load_log=lambda: None,
        load_cached_relation=lambda relation: relation if is_there else None,
    )
    run = {"entity": project._entity("orders"), "manifest": {"secrets": secrets}, "load": {}}
    return project._check_secret(run)


def test_a_load_knows_its_secret_again() -> None:
    id = "20240101t000000_0a935ca6"
    assert checked({}, "aa") == checked({id: "aa", "other": "bb"}, "aa") == {id: "aa"}
    with pytest.raises(CompilerError, match=f"secret {id} .* was exchanged.*Nothing was written"):
        checked({id: "aa"}, "bb")
    with pytest.raises(CompilerError, match=r"spark_cdc_secret_20240101.* holds no key"):
        checked({}, None)
    with pytest.raises(CompilerError, match=r"spark_cdc_secret_20240101.* is gone"):
        checked({}, "aa", is_there=False)


def test_models_of_sensitive_columns_lie_apart_and_others_do_not_show_them() -> None:
    columns = [KEY, column("mail", "string", sensitive=True)]

    def problems(*kinds: str, node: Any = None, schema: str = "cdc_sensitive", **more: Any) -> Any:
        stage = node or changed(columns=columns)
        models = [{"unique_id": f"model.shop.orders_{kind}", "schema": schema} for kind in kinds]
        nodes = {n["unique_id"]: Node(n) for n in (stage, LEDGER, *models)}
        given = macros(stage, graph=Node(nodes=nodes), **more)
        return given._sensitive_model_problems("orders", "model.shop.orders")

    assert problems("committed_sensitive", "current_sensitive", "current") == []
    assert "Write the model orders_committed_sensitive with" in problems()[0]
    found = problems("committed_sensitive", "event_versions")
    assert "Rename the model to orders_event_versions_sensitive" in found[0]
    found = problems("committed_sensitive", schema="cdc")
    assert "orders_committed_sensitive is built in cdc, but sensitive columns lie in" in found[0]
    for kind in ("current_sensitive", "latest_sensitive", "quality_sensitive"):
        assert f"orders_{kind} is there, but no column is" in problems(kind, node=GOOD)[0]
    same = problems("committed_sensitive", schema="cdc", generate_schema_name=lambda *_: "cdc")
    assert "names the schema of the others, cdc" in same[0]


@pytest.mark.parametrize("null", ["null", None])
def test_a_column_that_may_be_missing_is_null_in_text_or_yaml(null: str | None) -> None:
    given = macros(changed(source__on_missing_column=null))
    assert given.validate() == ""
    assert given._entity("orders")["source"]["on_missing_column"] != "error"


def test_the_file_format_is_the_entitys_or_the_vars() -> None:
    orc = {"var": {"business_date": "2024-01-02", "spark_cdc_file_format": "orc"}}
    assert macros()._entity("orders")["file_format"] == "parquet"
    assert macros(**orc)._entity("orders")["file_format"] == "orc"
    given = macros(changed(file_format="parquet"), **orc)
    assert given._entity("orders")["file_format"] == "parquet"
    assert "using orc" in macros(**orc)._create_load_log_sql(Relation("cdc_loads"))
    wrong = {"var": {"business_date": "2024-01-02", "spark_cdc_file_format": "hudi"}}
    with pytest.raises(CompilerError, match="spark_cdc_file_format is 'hudi'; accepted are"):
        macros(**wrong).validate()


def test_a_line_separator_as_text() -> None:
    given = macros(changed(source__options={"lineSep": "\\r\\n", "sep": "\\t"}))
    assert given.validate() == ""
    lines = given._reader_options(given._entity("orders"), [datetime.datetime(2024, 1, 1)])
    assert "`lineSep` '\r\n'" in lines
    assert "`sep` '\\\\t'" in lines


def test_maps_in_typed_files_have_keys_of_any_type() -> None:
    column_of = [KEY, column("m", "map<int,int>")]
    assert macros(changed(source__format="parquet", columns=column_of)).validate() == ""


def test_years_of_two_digits_with_their_century_are_accepted() -> None:
    dates = [
        column("a", "date", format="dd.MM.yy", century=1950),
        column("b", "timestamp", format="yyMMdd", century="1900"),
        column("c", "date", format="yyyy"),
        column("d", "date", format="'yy' dd.MM.yyyy"),
    ]
    given = macros(changed(columns=[KEY, *dates]))
    assert given.validate() == ""
    assert [one["century"] for one in given._entity("orders")["columns"]] == [
        *(None, 1950, 1900, None, None),
    ]


def test_a_table_keeps_its_file_format_and_the_log_says_so() -> None:
    said: list[str] = []
    table = SimpleNamespace(information="Type: MANAGED\nProvider: parquet\nLocation: x\n")
    given = macros(
        changed(file_format="orc"),
        log=lambda text, info=False: said.append(text) or "",
        load_cached_relation=lambda _: table,
        adapter=SimpleNamespace(get_columns_in_relation=lambda _: []),
        _table_format=lambda _: "",
        _cached_columns=lambda *_: [],
    )
    settled = (Relation("orders_ledger"), [], Relation("orders_ledger"))
    assert given._settled_columns(given._entity("orders"), *settled) == []
    assert len(said) == 1
    assert "stays parquet; file_format orc counts for new tables" in said[0]
    table.information = table.information.replace("parquet", "orc")
    assert given._settled_columns(given._entity("orders"), *settled) == []
    assert len(said) == 1


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (
            changed(columns=[KEY, column("day", "date", format="DD.MM.YYYY")]),
            "column 'day' has the format 'DD.MM.YYYY': 'YYYY' is no part of Spark's patterns. Acc",
        ),
        (
            changed(columns=[KEY, column("day", "date", format="dd.mm.yyyy")]),
            "there are minutes (m) without hours; a month is M",
        ),
        (
            changed(columns=[KEY, column("at", "timestamp", format="yyyy-MM-ddTHH:mm")]),
            "'T' is no part of Spark's patterns",
        ),
        (
            changed(columns=[KEY, column("at", "timestamp_ntz", format="yyyy-MM-dd hh:mm")]),
            "hours of half a day (h, K) without AM or PM (a)",
        ),
        (
            changed(columns=[KEY, column("day", "date", format="DD.MM.yyyy")]),
            "a day of the year (D) beside a month; a day of the month is d",
        ),
        (
            changed(columns=[KEY, column("day", "date", format="%d/%b")]),
            "'b' is no part of Spark's patterns",
        ),
        (
            changed(source__path="in/{business_date:yyyy/MM/dd}"),
            "'yyyy/MM/dd' stands for the same folder on all dates",
        ),
        (changed(load_type="fill"), "load_type is 'fill'; accepted are full, delta"),
        (changed(load_type=None), "load_type is 'None'; accepted are full, delta"),
        (
            changed(business_date_type="day"),
            "business_date_type is 'day'; accepted are date, timestamp",
        ),
        (changed(deleted_when="x"), "deleted_when is given, but load_type is full"),
        (changed(load_type="delta", deleted_when=["x"]), "deleted_when is not a text"),
        (changed(timezone="CET'"), "timezone is 'CET''; accepted are UTC, an offset"),
        (changed(on_rejects="fail"), "meta.spark_cdc has the unknown key 'on_rejects'"),
        (changed(source="files"), "source is not a mapping"),
        (changed(source__options=["sep"]), "source.options is not a mapping"),
        (changed(checkpoint=3), "checkpoint is not a mapping"),
        (changed(source__formt="csv"), "source has the unknown key 'formt'"),
        (changed(source__format="xls"), "source.format is 'xls'; accepted are csv, json"),
        (changed(source__format="table", load_type="delta"), "source.date_column is missing"),
        (changed(source__path="landing"), "source.path is 'landing', without a business date"),
        (changed(source__path=None), "source.path is '', without a business date"),
        (
            changed(source__on_missing_column="x"),
            "on_missing_column is 'x'; accepted are error, null",
        ),
        (
            changed(source__on_unexpected_column="x"),
            "on_unexpected_column is 'x'; accepted are error, ignore",
        ),
        (changed(source__options={"mode": "FAILFAST"}), "source.options has 'mode'"),
        (changed(source__options={"a') --": "x"}), "source.options has 'a') --'"),
        (changed(cluster_by="nothing"), "cluster_by names 'nothing', which is no column that is"),
        (changed(cluster_by={"id": 1}), "cluster_by is"),
        (changed(expected_every=15), "expected_every is '15'; accepted are daily, hourly"),
        (changed(checkpoint={"load": 1}), "checkpoint has the unknown key 'load'"),
        (changed(checkpoint={"loads": "many"}), "checkpoint.loads is 'many'; accepted are numbers"),
        (
            changed(file_format="csv"),
            "file_format is 'csv'; accepted are parquet, orc, delta, iceberg",
        ),
        (changed(source=""), "source is not a mapping: write format, path and options below it"),
        (changed(source__options=7), "source.options is not a mapping: write Spark's reader"),
        (changed(source__path=7), "source.path is '7', without a business date"),
        (changed(source__text="no"), "source.text is 'no'; accepted are true and false"),
        (changed(source__options={"ignoreCorruptFiles": True}), "has 'ignoreCorruptFiles'"),
        (changed(checkpoint={"loads": True}), "checkpoint.loads is 'True'; accepted are numbers"),
        (changed(file_format=""), "file_format is ''; accepted are parquet, orc, delta, iceberg"),
        (changed(guards=False), "guards is not a mapping: write empty, deleted_share, "),
        (changed(guards=3), "guards is not a mapping: write empty, deleted_share, "),
        (changed(guards={"delete_share": 1}), "guards has the unknown key 'delete_share'"),
        (
            changed(guards={"deleted_share": "half"}),
            "guards.deleted_share is 'half'; accepted are numbers from 0 and null (off)",
        ),
        (changed(guards={"rejected_share": True}), "guards.rejected_share is 'True'; accepted are"),
        (changed(guards={"min_rows": None}), "min_rows is 'None'; accepted are numbers from 0: "),
        (changed(guards={"empty": "fail"}), "guards.empty is 'fail'; accepted are refuse and null"),
        (changed(guards={"rows_band": [5, 1]}), "guards.rows_band is '[5, 1]'; accepted are two"),
        (changed(guards={"rows_band": 5}), "guards.rows_band is '5'; accepted are two numbers"),
        (changed(on_reject="skip"), "on_reject is 'skip'; accepted are fail, quarantine"),
        (changed(on_duplicate_key="first"), "on_duplicate_key is 'first'; accepted are fail"),
        (
            changed(sources={"full": {"path": "extract/{business_date}"}}),
            "sources.full is given, but that is the entity's own load_type",
        ),
        (
            changed(sources={"delta": {"path": "extract"}}),
            "sources.delta.path is 'extract', without a business date",
        ),
        (
            changed(sources={"delta": {"path": "{business_date}", "columns": {"x": "y"}}}),
            "sources.delta.columns names 'x', which is no column of the entity",
        ),
        (changed(sources={"weekly": {}}), "sources has the unknown key 'weekly'; accepted are"),
        (
            changed(columns=[KEY, column("n", "int", null_means="unchanged")]),
            "column 'n' says null_means: unchanged, which is for stored columns of change events",
        ),
        (
            changed(columns=[KEY, column("n", "int", null_means="nothing")]),
            "column 'n': null_means is 'nothing'; accepted are value, unchanged",
        ),
        (
            changed(load_type="events", on_duplicate_key="fail"),
            "on_duplicate_key is given, but load_type is events",
        ),
        (changed(columns=[]), "no column has the role key"),
        (changed(columns=[column("id")]), "no column has the role key"),
        (
            changed(columns=[column("id", role="keys")]),
            "role is 'keys'; accepted are key, compared",
        ),
        (
            changed(columns=[column("id", role=["key", "untracked"])]),
            "has the roles ['key', 'untracked'], but takes one",
        ),
        (changed(columns=[column("id", role="key", nullable=True)]), "is a key and nullable"),
        (
            changed(dropped_columns={"a": 1}),
            "dropped_columns is {'a': 1}; accepted are a name and a list",
        ),
        (changed(dropped_columns=[7]), "dropped_columns is [7]; accepted are a name and a list"),
        (
            changed(dropped_columns=["ID"]),
            "dropped_columns names 'ID', which is declared as a column",
        ),
        (
            changed(columns=[KEY, column("a", renamed_from=5)]),
            "renamed_from is 5; accepted are a name and a list",
        ),
        (
            changed(columns=[KEY, column("a", renamed_from="id")]),
            "was 'id', which is declared as a column",
        ),
        (
            changed(
                columns=[KEY, column("a", renamed_from="x"), column("b", renamed_from=["y", "X"])]
            ),
            "column 'b' and column 'a' both were 'X'",
        ),
        (
            changed(dropped_columns="x", columns=[KEY, column("a", renamed_from="x")]),
            "was 'x', which is named as dropped",
        ),
        (changed(columns=[KEY, column("a", default=[1])]), "default is [1]; accepted are texts"),
        (
            changed(columns=[KEY, column("a", "array<int>", default="[]")]),
            "has a default, but the type array<int>",
        ),
        (
            changed(columns=[KEY, column("a", on_cast_error="drop")]),
            "on_cast_error is 'drop'; accepted are error, null",
        ),
        (
            changed(columns=[KEY, column("a", nullable="no")]),
            "nullable is 'no'; accepted are true and false",
        ),
        (changed(columns=[KEY, column("operation")]), "'operation' has a name that spark_cdc uses"),
        (changed(columns=[KEY, column("Key_Hash")]), "'Key_Hash' has a name that spark_cdc uses"),
        (changed(columns=[KEY, column("ID")]), "differ at most by case"),
        (changed(columns=[KEY, column("Cdc__x")]), "'Cdc__x' has a name that spark_cdc uses"),
        (changed(columns=[KEY, column("x\ny")]), "has a line break"),
        (changed(columns=[KEY, column("${x}")]), "'${x}' has ${ in its name"),
        (
            changed(columns=[KEY, {"name": "b", "data_type": "int", "meta": {"from": "${y}"}}]),
            "'b' has ${ in its name here or in the source",
        ),
        (
            changed(columns=[KEY, {"name": "b", "data_type": "int", "meta": {"from": "ID"}}]),
            "both come from 'id'",
        ),
        (
            changed(columns=[KEY, column("d", "date", format="dd.MM.yy")]),
            "has a year of two digits in its format, 'dd.MM.yy', which Spark would put into 2000",
        ),
        (
            changed(columns=[KEY, column("d", "timestamp_ntz", format="yyMMdd HH:mm")]),
            "say under meta `century: 1950` if it means 1950 to 2049",
        ),
        (
            changed(columns=[KEY, column("d", "date", format="dd.MM.yy", century="19th")]),
            "century is '19th'; accepted are the first of the hundred years",
        ),
        (
            changed(columns=[KEY, column("d", "date", format="dd.MM.yyyy", century=1950)]),
            "has a century, but no year of two digits",
        ),
        (
            changed(
                columns=[KEY, column("d", "timestamp", format="dd.MM.yy HH:mmX", century=1950)]
            ),
            "has a century and a zone in its format",
        ),
        (
            changed(source__format="json", columns=[KEY, column("m", "array<map<int, int>>")]),
            "has the type array<map<int, int>>, but the names in an object of JSON are text",
        ),
        (
            changed(source__options={"lineSep": ""}),
            "source.options.lineSep is empty, for dbt drops",
        ),
        (
            changed(columns=[KEY, column("mail", "string", mask="last_4")]),
            "'mail' has a mask, but is not sensitive: say `sensitive: true`",
        ),
        (
            changed(columns=[KEY, column("mail", "string", sensitive=True, mask="first_4")]),
            "mask is 'first_4'; accepted are none, last_4, mail_domain, year",
        ),
        (
            changed(columns=[KEY, column("phone", "bigint", sensitive=True, mask="last_4")]),
            "'phone' has mask: last_4, but the type bigint; accepted with it are string",
        ),
        (
            changed(columns=[KEY, column("mail", "string", sensitive="yes")]),
            "sensitive is 'yes'; accepted are true and false",
        ),
        (
            changed(columns=[KEY, column("op", "string", sensitive=True, role="control")]),
            "'op' is sensitive and control",
        ),
        (
            changed(columns=[KEY, column("mail", "string", sensitive=True, pseudonymize=True)]),
            "'mail' says pseudonymize, which is for sensitive keys of type string",
        ),
        (
            changed(columns=[column("id", role="key", sensitive=True, pseudonymize=True)]),
            "'id' says pseudonymize, which is for sensitive keys of type string",
        ),
        (
            changed(columns=[SECRET_KEY, column("m", "string", pseudonymize="person")]),
            "'m' says pseudonymize, which is for sensitive keys of type string",
        ),
        (
            changed(
                columns=[column("id", "string", role="key", **TOKEN | {"pseudonymize": "True"})]
            ),
            "'id' has pseudonymize: 'True', a text: write it without quotes",
        ),
        (
            changed(columns=[column("id", "string", role="key", **TOKEN | {"pseudonymize": 1})]),
            "pseudonymize is '1'; accepted are true, false and the name of a domain such as",
        ),
        (
            changed(
                columns=[column("id", "string", role="key", **dict(TOKEN, mask="last_4"))],
            ),
            "'id' has mask: last_4 and says pseudonymize",
        ),
        (
            changed(columns=[KEY, column("mail", "string", sensitive=True, default="x")]),
            "'mail' is sensitive and has a default",
        ),
        (
            changed(columns=[KEY, column("born", "date", sensitive=True)], cluster_by="BORN"),
            "'born' is sensitive and in cluster_by",
        ),
        (
            changed(
                load_type="delta",
                deleted_when="mail = 'gone'",
                columns=[KEY, column("mail", "string", sensitive=True)],
            ),
            "'mail' is sensitive and in deleted_when",
        ),
        (
            changed(
                load_type="events",
                events={"format": "flagged_rows", "order": ["born"]},
                columns=[KEY, column("born", "date", sensitive=True)],
            ),
            "'born' is sensitive and gives events their order",
        ),
        (
            changed(file_format="delta", columns=[KEY, column("mail", "string", sensitive=True)]),
            "there are sensitive columns (mail), which are not supported in tables of Delta",
        ),
        (changed(columns=[KEY, column("a", None)]), "'a' has no data_type"),
        (changed(columns=[KEY, column("a", "varchar(3)")]), "varchar"),
        (changed(columns=[KEY, column("a", "integre")]), "integre"),
        (changed(columns=[KEY, column("a", "interval day")]), "interval"),
        (changed(columns=[KEY, column("a", "array<int>")]), "which CSV can't hold"),
        (changed(columns=[KEY, column("a", "int", format="x")]), "has a format, but the type int"),
        (
            changed(columns=[KEY, column("a", "binary", format="x")]),
            "format is 'x'; accepted are base64, hex, utf8",
        ),
    ],
)
def test_what_is_wrong_is_said(node: dict[str, Any], message: str) -> None:
    with pytest.raises(CompilerError) as error:
        macros(node).validate()
    assert message in str(error.value)
    assert "orders: " in str(error.value)
    assert "(in the YAML of stg_orders)" in str(error.value)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"spark_cdc_skip_guards": ["orders.delete_share"]},
            "names 'orders.delete_share', which is no",
        ),
        (
            {"spark_cdc_skip_guards": "min_rows"},
            "spark_cdc_skip_guards names 'min_rows', which is no guard",
        ),
        (
            {"spark_cdc_skip_guards": ["a.b.empty"]},
            "spark_cdc_skip_guards names 'a.b.empty', which is no guard",
        ),
        (
            {"spark_cdc_skip_guards": [7]},
            "spark_cdc_skip_guards names '7', which is no guard. Accepted are empty",
        ),
        ({"spark_cdc_skip_guards": ["items.empty"]}, "'items' is no entity of this run (orders)"),
        (
            {"spark_cdc_skip_guards": {"orders": "empty"}},
            "accepted are a guard and a list of guards",
        ),
        ({"spark_cdc_guards": {"deleted": 1}}, "the var spark_cdc_guards has the unknown key"),
        ({"spark_cdc_guards": [1]}, "the var spark_cdc_guards is not a mapping"),
        ({"spark_cdc_guards": {"empty": 1}}, "the var spark_cdc_guards.empty is '1'; accepted are"),
        ({"spark_cdc_checkpoint": 7}, "the var spark_cdc_checkpoint is not a mapping: write cha"),
        (
            {"spark_cdc_checkpoint": {"row": 7}},
            "spark_cdc_checkpoint has the unknown key 'row'",
        ),
        ({"spark_cdc_checkpoint": {"rows": "x"}}, "var spark_cdc_checkpoint.rows is 'x'; accept"),
        ({"spark_cdc_manifest_limit": "x"}, "the var spark_cdc_manifest_limit is 'x'; accepted"),
        ({"spark_cdc_reset": "items"}, "spark_cdc_reset names 'items', which is no entity of this"),
        ({"spark_cdc_reset": ["orders"]}, "spark_cdc_reset is given without --full-refresh"),
        ({"spark_cdc_rekey": ["items"]}, "spark_cdc_rekey names 'items', which is no entity of"),
    ],
)
def test_vars_are_checked(variables: dict[str, Any], message: str) -> None:
    with pytest.raises(CompilerError) as error:
        macros(var={"business_date": "2024-01-02"} | variables).validate()
    assert message in str(error.value)


def test_quarantine_needs_a_model_that_shows_the_rejects() -> None:
    node = changed(on_reject="quarantine")
    with pytest.raises(CompilerError, match=r"Write the model orders_rejects with spark_cdc\.rej"):
        macros(node).validate()
    given = macros(node)
    view = {"name": "orders_rejects", "alias": "orders_rejects", "schema": "cdc"}
    view["unique_id"] = "model.shop.orders_rejects"
    names = ("stg_orders", "orders_ledger", "orders_rejects")
    nodes = [Node(node), Node(LEDGER), Node(view)]
    graph = Node(nodes={f"model.shop.{n}": v for n, v in zip(names, nodes, strict=True)})
    given = macros(node, graph=graph)
    assert given.validate() == ""


def test_guards_of_an_entity_come_first_and_lifts_last() -> None:
    node = changed(guards={"deleted_share": 0.1, "empty": None})
    shared = {"deleted_share": 0.2, "updated_share": 0.3}
    guards = macros(node, var={"spark_cdc_guards": shared})._entity("orders")["guards"]
    found = [guards[name] for name in ("deleted_share", "updated_share", "empty", "rejected_share")]
    assert found == [0.1, 0.3, None, 0.1]
    lift = {
        "spark_cdc_skip_guards": ["orders.deleted_share", "rejected_share", "items.updated_share"]
    }
    guards = macros(node, var={"spark_cdc_guards": shared} | lift)._entity("orders")["guards"]
    assert (guards["deleted_share"], guards["updated_share"], guards["rejected_share"]) == (
        None,
        0.3,
        None,
    )


@pytest.mark.parametrize(
    ("settings", "lift", "kinds"),
    [
        ({}, [], []),
        ({"on_reject": "quarantine"}, [], ["null_keys", "failed_casts"]),
        ({"on_duplicate_key": "quarantine"}, [], ["duplicate_keys"]),
        ({}, ["failed_casts", "orders.duplicate_keys"], ["failed_casts", "duplicate_keys"]),
        ({"load_type": "events"}, ["duplicate_keys"], []),
    ],
)
def test_what_is_quarantined(settings: dict[str, Any], lift: list[str], kinds: list[str]) -> None:
    given = macros(var={"spark_cdc_skip_guards": lift})
    assert given._quarantine("orders", settings) == kinds


def test_what_an_entity_does_not_say_of_checkpoints_the_var_says() -> None:
    node = changed(checkpoint={"loads": 3})
    for var, wanted in (({}, (0.2, 3, 10**6)), ({"rows": 7, "loads": 9}, (0.2, 3, 7))):
        found = macros(node, var={"spark_cdc_checkpoint": var})._entity("orders")["checkpoint"]
        assert (found["changed_share"], found["loads"], found["rows"]) == wanted


def test_the_vars_of_the_project_are_declared_with_the_defaults_of_the_table() -> None:
    declared = yaml.safe_load((ROOT / "dbt_project.yml").read_text())["vars"]
    used = re.compile(r"\b_?(?:var|listed)\('(\w+)'")
    texts = "\n".join(path.read_text() for path in MACROS.rglob("*.sql"))
    known = macros()._known_settings()["vars"]
    assert set(used.findall(texts)) | set(known) == set(declared)
    for name, rule in known.items():
        defaults = rule.get("settings", {}).items()
        default = {key: item["default"] for key, item in defaults} or rule["default"]
        assert declared[name] in (default, {}), name


def test_unexpected_columns_are_ignored_once_lifted() -> None:
    for lift, what in (("orders.unexpected_columns", "ignore"), ("items.unexpected_columns", None)):
        source = macros(var={"spark_cdc_skip_guards": lift})._entity("orders")["source"]
        assert source["on_unexpected_column"] == (what or "error")


def test_all_problems_come_in_one_message() -> None:
    node = changed(load_type="fill", columns=[column("operation", "integre", role="untracked")])
    with pytest.raises(CompilerError) as error:
        macros(node, schema="lake.cdc", var={"business_date": "today"}).validate()
    text = str(error.value)
    for part in (
        "load_type",
        "'operation'",
        "integre",
        "role key",
        "dot in its name",
        "not a business date",
    ):
        assert part in text
    assert "before anything was written" in text


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "'', which is not a business date"),
        ("yesterday", "'yesterday', which is not a business date"),
        ("2024-02-30", "'2024-02-30', which is not a business date"),
        ("2023-02-29", "not a business date"),
        ("2024-13-01", "not a business date"),
        ("2024-1-1", "not a business date"),
        (20240101, "not a business date"),
        ("2024-01-01 24:00", "not a business date"),
        ("2024-01-01'; drop", "not a business date"),
        ("2024-01-01 10:00", "but this entity is loaded by date"),
    ],
)
def test_the_business_date_is_checked(value: Any, message: str) -> None:
    with pytest.raises(CompilerError) as error:
        macros(var={"business_date": value}).validate()
    assert message in str(error.value)
    assert "--vars '{business_date: 2019-06-19}'" in str(error.value)


def macros_with(date: str, **var: Any) -> Macros:
    """The macros where the environment variable holds this."""

    def env_var(name: str, default: str) -> str:
        return date if name == "SPARK_CDC_BUSINESS_DATE" else default

    return macros(var=var, env_var=env_var)


@pytest.mark.parametrize(
    ("text", "var", "expected"),
    [
        ("2024-01-02", {}, "2024-01-02"),
        ("2024-01-02", {"business_date": "2024-01-03"}, "2024-01-03"),
        ('{"orders": "2024-01-04", "sites": "2024-01-05"}', {}, "2024-01-04"),
        ('{"sites": "2024-01-05"}', {}, None),
        ("", {}, None),
    ],
)
def test_the_business_date_by_environment_variable(
    text: str, var: dict[str, str], expected: str | None
) -> None:
    assert macros_with(text, **var)._business_date("orders") == expected


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({}, "delta", ""),
        ({"load_type": "delta"}, "full", ""),
        ({"load_type": "delta"}, {"orders": "full"}, ""),
        ({}, "whole", "the var spark_cdc_load_type is 'whole'. Accepted for one run are full and"),
        ({}, "events", "the var spark_cdc_load_type is 'events'. Accepted for one run are full"),
        ({}, {"sites": "full"}, "names 'sites', which is no entity of this run (orders)"),
    ],
)
def test_the_load_type_of_a_run_is_checked(
    settings: dict[str, Any], given: Any, message: str
) -> None:
    made = macros(
        changed(**settings), var={"business_date": "2024-01-02", "spark_cdc_load_type": given}
    )
    if message:
        with pytest.raises(CompilerError, match=re.escape(message)):
            made.validate()
    else:
        assert made.validate() == ""
        entity = made._entity("orders")
        expected = given["orders"] if isinstance(given, dict) else given
        assert (entity["load_type"], entity["declared_load_type"]) == (
            expected,
            settings.get("load_type", "full"),
        )


def test_a_second_source_is_that_of_its_load_type() -> None:
    full = {"path": "extract/{business_date}", "columns": {"id": "ORDER_ID"}}
    node = changed(load_type="delta", sources={"full": full})
    name = macros(node)._entity("orders")["columns"][0]["name"]
    node = changed(load_type="delta", sources={"full": full | {"columns": {name: "ORDER_ID"}}})
    for load_type, path, origin in [
        (None, "landing/{business_date}", name),
        ("full", "extract/{business_date}", "ORDER_ID"),
    ]:
        given = {"business_date": "2024-01-02", "spark_cdc_load_type": load_type}
        entity = macros(node, var=given)._entity("orders")
        assert (entity["source"]["path"], entity["columns"][0]["from"]) == (path, origin)


@pytest.mark.parametrize(
    ("position", "kind", "expected"),
    [
        (815, "bigint", {"numbers": ["815"]}),
        ([815, 3], "bigint", {"numbers": ["815", "3"]}),
        ("815, 3", None, {"numbers": ["815", "3"]}),
        ({"orders": 7}, None, {"numbers": ["7"]}),
        ({"sites": 7}, None, None),
        (None, "bigint", None),
        ("2024-03-10", "bigint", None),
        ("soon", "timestamp", None),
        ("1; drop", "bigint", None),
    ],
)
def test_the_position_of_a_snapshot(position: Any, kind: str | None, expected: Any) -> None:
    given = macros(var={"business_date": "2024-01-02", "spark_cdc_position": position})
    order = [{"data_type": kind}] if kind else []
    assert given._snapshot_position("orders", order) == expected


def test_the_position_of_a_snapshot_may_be_a_time() -> None:
    given = macros(var={"business_date": "2024-01-02", "spark_cdc_position": "2024-03-10 02:00"})
    found = given._snapshot_position("orders", [{"data_type": "timestamp"}])
    assert str(found["time"]) == "2024-03-10 02:00:00"


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({}, {"spark_cdc_load_type": "delta"}, "Accepted for one run is full"),
        ({}, {"spark_cdc_load_type": "full"}, "a full snapshot has a source of its own"),
        (
            {"sources": {"full": {"path": "extract/{business_date}"}}},
            {"spark_cdc_load_type": "full"},
            "the var spark_cdc_position is 'None'",
        ),
    ],
)
def test_what_a_snapshot_among_events_needs(
    settings: dict[str, Any], given: dict[str, Any], message: str
) -> None:
    events = {"format": "delta_cdf"}
    node = changed(load_type="events", events=events, source__format="parquet", **settings)
    made = macros(node, var={"business_date": "2024-01-02"} | given)
    with pytest.raises(CompilerError, match=re.escape(message)):
        made.validate()


@pytest.mark.parametrize("text", ["delta", '{"orders": "delta"}'])
def test_the_load_type_by_environment_variable(text: str) -> None:
    def env_var(name: str, default: str) -> str:
        return text if name == "SPARK_CDC_LOAD_TYPE" else default

    assert macros(env_var=env_var)._entity("orders")["load_type"] == "delta"


def test_the_environment_is_not_read_while_dbt_parses() -> None:
    def env_var(name: str, default: str) -> str:
        raise AssertionError(name)

    assert macros(var={}, execute=False, env_var=env_var)._business_date("orders") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" ", "the environment variable SPARK_CDC_BUSINESS_DATE is empty. Give a business date"),
        ('{"sites": "2024-01-05"}', "is given for 'sites', which is no entity (orders)"),
        ("2024-13-01", "SPARK_CDC_BUSINESS_DATE is '2024-13-01', which is not a business date"),
        ("{2024-01-01", "SPARK_CDC_BUSINESS_DATE is '{2024-01-01', which is not a business"),
        ("2024-01-01 10:00", "SPARK_CDC_BUSINESS_DATE is '2024-01-01 10:00', but this entity"),
    ],
)
def test_the_business_date_of_the_environment_is_checked(text: str, message: str) -> None:
    with pytest.raises(CompilerError, match=re.escape(message)):
        macros_with(text).validate()


def test_without_a_business_date_nothing_is_loaded_and_one_line_says_so() -> None:
    said: list[str] = []
    given = macros(var={}, log=lambda text, info=False: said.append(text) or "")
    assert given.validate() == ""
    assert (given._mode(), given._is_loading("orders")) == ("load", False)
    [line] = said
    assert line.startswith("spark_cdc: no business date is given, so that nothing is loaded (orde")
    assert (
        "To load: spark-cdc load, or the same command with --vars '{business_date: DATE}'" in line
    )
    assert macros()._is_loading("orders")
    with pytest.raises(
        CompilerError, match="the business date is missing, and the var spark_cdc_r"
    ):
        macros(var={"spark_cdc_require_business_date": True}).validate()
    with pytest.raises(CompilerError, match="spark_cdc_require_business_date is 'daily'"):
        macros(var={"spark_cdc_require_business_date": "daily"}).validate()


def test_an_entity_that_is_wrong_stops_its_own_models_without_a_date() -> None:
    warnings: list[str] = []
    graph = {one["unique_id"]: Node(one) for one in (changed(load_type="daily"), LEDGER)}
    given = macros(var={}, exceptions=Said(warnings), graph=Node(nodes=graph))
    assert given.validate() == ""
    assert "orders can't be loaded as it is declared" in warnings[0]
    with pytest.raises(CompilerError, match="orders can't be built as it is declared:"):
        given._entity("orders")


def test_what_dbt_retry_repeats_without_a_date_is_refused() -> None:
    """A process of its own names nothing that is selected."""
    given = {"var": {}, "selected_resources": []}
    with pytest.raises(CompilerError, match="orders: dbt retry has no business date"):
        macros(**given)._check_dated("orders")
    macros(selected_resources=[])._check_dated("orders")
    macros(var={})._check_dated("orders")


@pytest.mark.parametrize("version", ["2.0.0rc196", "2.1.4"])
def test_dbt_2_does_what_is_tested_and_refuses_all_else(version: str) -> None:
    wrong = {
        "file_format delta": {"file_format": "delta"},
        "source.format json": {"source": {"format": "json", "path": "/in/{business_date}"}},
        "events.format maxwell": {"load_type": "events", "events": {"format": "maxwell"}},
    }
    for what, settings in wrong.items():
        given = macros(changed(**settings), dbt_version=version)
        told = given._dbt_problems(given._asked_of_dbt(given._entity("orders")))
        assert told == [
            f"orders: {what} is not tested with dbt {version}: run this with dbt 1.11 or 1.12"
            " (docs/dbt_versions.md)."
        ]
        assert macros(changed(**settings))._dbt_problems([(what, False)]) == []
    given = macros(dbt_version=version)
    assert given.validate() == "" and given._mode() == "load"
    given._check_arguments("undo", {"execute": True})
    with pytest.raises(CompilerError, match="the operation maintain is not tested with dbt 2"):
        given._check_arguments("maintain", {"execute": True})


def test_dbt_2_refuses_before_anything_is_written() -> None:
    shared = {
        "name": "orders_shared",
        "unique_id": "model.shop.orders_shared",
        "config": Node(materialized="cdc_published"),
    }
    nodes = {one["unique_id"]: Node(one) for one in (changed(file_format="orc"), LEDGER, shared)}
    given = macros(
        dbt_version="2.0.0",
        graph=Node(nodes=nodes),
        selected_resources=["model.shop.orders_ledger", "model.shop.orders_shared"],
    )
    with pytest.raises(CompilerError, match="found 2 problems before anything") as error:
        given.validate()
    assert "orders: file_format orc is not tested with dbt 2" in str(error.value)
    assert "the published table orders_shared is not tested with dbt 2" in str(error.value)


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2024-02-29", datetime.datetime(2024, 2, 29)),
        (datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29)),
        ("2024-01-01 10:15", datetime.datetime(2024, 1, 1, 10, 15)),
        ("2024-01-01T10:15:59", datetime.datetime(2024, 1, 1, 10, 15, 59)),
        (datetime.datetime(2024, 1, 1, 10, 15), datetime.datetime(2024, 1, 1, 10, 15)),
    ],
)
def test_business_dates_are_read_as_yaml_gives_them(value: Any, time: datetime.datetime) -> None:
    assert macros()._business_time(value) == time


def plan(loads: list[str], day: int, **figures: Any) -> dict[str, Any]:
    given = macros()
    manifest = manifest_of(given, loads, **{"rows": 100, **figures})
    return given._plan_load(given._entity("orders"), manifest, datetime.datetime(2024, 1, day))


FIRST, SECOND, THIRD = "20240101-fc-00000000", "20240102-f-00000000", "20240103-f-00000000"


def test_plan_of_a_first_load() -> None:
    load = plan([], 1)
    assert (load["parent"], load["base"], load["log"], load["is_checkpoint"]) == (
        None,
        None,
        [],
        True,
    )
    assert load["load_id"].startswith("20240101-fc-")


def test_plan_of_a_next_load_and_of_a_rerun() -> None:
    load = plan([FIRST, SECOND], 3)
    assert (load["parent"], load["base"], load["log"]) == (SECOND, FIRST, [SECOND])
    assert (load["replaced"], load["keep"], load["is_checkpoint"]) == ([], [FIRST, SECOND], False)
    again = plan([FIRST, SECOND, THIRD], 3)
    assert (again["parent"], again["replaced"], again["keep"]) == (SECOND, [THIRD], [FIRST, SECOND])
    first_again = plan([FIRST], 1)
    assert (first_again["parent"], first_again["base"], first_again["replaced"]) == (
        None,
        None,
        [FIRST],
    )


def test_a_rerun_of_a_checkpoint_builds_on_the_one_before() -> None:
    load = plan([FIRST, SECOND, "20240103-fc-00000000"], 3)
    assert (load["base"], load["log"], load["parent"]) == (FIRST, [SECOND], SECOND)


@pytest.mark.parametrize(
    ("figures", "due"),
    [
        ({"log_rows": 19}, False),
        ({"log_rows": 20}, True),
        ({"log_rows": 1_000_000, "rows": 10**9}, True),
        ({"log_rows": 999_999, "rows": 10**9}, False),
    ],
)
def test_when_a_checkpoint_is_due(figures: dict[str, int], due: bool) -> None:
    assert plan([FIRST, SECOND], 3, **figures)["is_checkpoint"] is due


def test_a_checkpoint_is_due_after_so_many_loads() -> None:
    loads = [FIRST] + [f"202401{day:02}-f-00000000" for day in range(2, 32)]
    loads += [f"202402{day:02}-f-00000000" for day in range(1, 22)]
    given = macros()
    late, entity = datetime.datetime(2024, 3, 1), given._entity("orders")
    for count, is_due in ((51, True), (50, False)):
        manifest = manifest_of(given, loads[:count], rows=10**6)
        assert given._plan_load(entity, manifest, late)["is_checkpoint"] is is_due


def test_a_past_date_is_refused_with_what_would_be_loaded_again() -> None:
    with pytest.raises(CompilerError) as error:
        plan([FIRST, SECOND, THIRD], 2)
    assert "2 loads from 2024-01-02 to 2024-01-03 would have to be loaded again" in str(error.value)


def test_a_manifest_is_read_back_from_the_views_text() -> None:
    given = macros(var={})
    manifest = manifest_of(given, [FIRST, SECOND], rows=5, log_rows=1, definition="*/ evil /*")
    manifest |= {"rewritten": 1, "times": {"rewritten": "2024-01-02 10:00:00.000000"}}
    text = given._committed_sql(given._entity("orders"), "cdc.orders_ledger", manifest)
    assert text.count("*/") == text.count("/*") == 1
    assert given._parse_manifest(f"CREATE VIEW x AS {text}\n", "x") == manifest | {"existed": True}


def test_what_a_run_keeps_is_gone_with_the_run() -> None:
    """A program may call dbt twice with one manifest, and so with one graph."""
    graph = Node(nodes={}, sources={})
    run = {"flags": SimpleNamespace(WHICH="run", EMPTY=False), "invocation_args_dict": {}}
    first, again, later = (
        load_macros(graph=graph, invocation_id=name, execute=True, **run) for name in "aab"
    )
    first._memo().update({"mode": "plan"})
    assert [one._mode() for one in (first, again, later)] == ["plan", "plan", "load"]


def test_a_view_that_is_no_manifest_is_not_overwritten() -> None:
    with pytest.raises(CompilerError, match="exists but is no manifest of spark_cdc"):
        macros()._parse_manifest("CREATE VIEW x AS select 1", "cdc.orders_committed")


def audited(given: Macros, load: dict[str, Any], day: int) -> dict[str, Any]:
    """A run as the audit gets it."""
    time = datetime.datetime(2024, 1, day)
    return {"entity": given._entity("orders"), "ledger": "l", "load": load, "time": time}


def test_a_load_whose_parent_was_replaced_is_refused() -> None:
    load = plan([FIRST, SECOND], 3)
    counts = [
        {
            "load_id": load["load_id"],
            "operation": "L",
            "row_count": 1,
            "note": '{"parent": "other"}',
        }
    ]
    given = macros(run_query=lambda sql: SimpleNamespace(rows=counts))
    with pytest.raises(CompilerError) as error:
        given._audit_load(audited(given, load, 3))
    assert "another run committed a load during this one, which builds on other" in str(error.value)
    assert "Nothing was committed" in str(error.value)


def test_counts_that_do_not_reconcile_are_refused() -> None:
    """The input changed while it was read: no key came twice, and yet a row is missing."""
    load = plan([FIRST], 2, rows=5)
    counts = [
        {"load_id": FIRST, "operation": "I", "row_count": 5, "note": None},
        {"load_id": load["load_id"], "operation": "U", "row_count": 1, "note": None},
        {
            "load_id": load["load_id"],
            "operation": "L",
            "row_count": 1,
            "note": f'{{"parent": "{FIRST}"}}',
        },
        {"load_id": None, "operation": "repeated", "row_count": 0, "note": "0"},
    ]

    def run_query(sql: str) -> Any:
        if "count(*) as row_count,\n    cast(null" in sql:
            return SimpleNamespace(rows=counts)
        if sql.startswith("select count(*)"):
            return SimpleNamespace(rows=[{"row_count": 7}])
        return SimpleNamespace(rows=[])

    given = macros(
        run_query=run_query,
        _landing_source=lambda entity: None,
        _land_load=lambda *words: None,
    )
    with pytest.raises(CompilerError) as error:
        given._audit_load(audited(given, load, 2))
    text = str(error.value)
    assert "the counts of 2024-01-02 do not reconcile: 7 rows in, 5 rows before" in text
    assert "leaves 6 unchanged rows in the load but 4 in the state before" in text
    assert "The input changed while it was read" in text


def test_a_model_without_an_entity_is_named() -> None:
    with pytest.raises(CompilerError, match="'orders_state' calls a macro of spark_cdc"):
        macros()._strip_entity_affix("orders_state")
    with pytest.raises(CompilerError, match="the entity 'none' has no model stg_none"):
        macros()._entity("none")


def test_as_of_needs_a_date() -> None:
    with pytest.raises(CompilerError, match="'2024-02-30' is no date that exists"):
        macros().as_of("orders_versions", "2024-02-30")


def test_a_manifest_that_grows_too_long_is_refused() -> None:
    text = "id load_id in ('a')"
    given = macros(var={"spark_cdc_manifest_limit": 10}, _committed_sql=lambda *_: text)
    with pytest.raises(
        CompilerError, match="the manifest would have 19 characters; accepted are 10"
    ):
        given._manifest_text({"entity": given._entity("orders"), "ledger": "ledger"}, {})
    assert "compact --select orders" in given._manifest_text_excess(given._entity("orders"), text)
    wide = "x" * 11 + text  # there is nothing to compact
    problem = given._manifest_text_excess(given._entity("orders"), wide)
    assert "columns alone take too many" in problem
    assert "compact" not in problem


def test_models_of_an_entity_lie_in_one_schema() -> None:
    committed = {
        "name": "orders_committed",
        "alias": "orders_committed",
        "schema": "other",
        "resource_type": "model",
        "unique_id": "model.shop.orders_committed",
    }
    given = macros()
    ledger = Node(
        committed
        | {
            "name": "orders_ledger",
            "alias": "l",
            "schema": "cdc",
            "unique_id": "model.shop.orders_ledger",
        }
    )
    nodes = {
        "model.shop.orders_ledger": ledger,
        "model.shop.orders_committed": Node(committed),
    }
    given = macros(graph=Node(nodes=nodes))
    problems = given._placement_problems("orders", "model.shop.orders_ledger")
    assert [p for p in problems if "orders_ledger is built as cdc.l" in p]
    assert [p for p in problems if "orders_committed is built as other.orders_committed" in p]


@pytest.mark.parametrize(
    ("pattern", "kind", "path"),
    [
        ("in/{business_date}", "date", "in/2024-01-02"),
        ("in/{business_date}", "timestamp", "in/2024-01-02T101500"),
        ("in/{business_date:%Y/%m/%d}/x", "date", "in/2024/01/02/x"),
        ("in/{business_date:%Y}/{business_date:d=%d}", "date", "in/2024/d=02"),
    ],
)
def test_where_a_business_date_lands(pattern: str, kind: str, path: str) -> None:
    given = macros(changed(source__path=pattern, business_date_type=kind))
    time = datetime.datetime(2024, 1, 2, 10, 15)
    assert given._landing_path(given._entity("orders"), [time]) == path


def test_hostile_texts_stay_inside_their_quotes() -> None:
    node = changed(
        source__options={"sep": "'; drop table x; --"},
        columns=[KEY, {"name": "a`b'--", "data_type": "string", "meta": {"from": "c`d'/*"}}],
    )
    given = macros(node)
    assert given.validate() == ""
    entity = given._entity("orders")
    options = given._reader_options(entity, [datetime.datetime(2024, 1, 2)])
    assert r"`sep` '\'; drop table x; --'" in options
    sql = given._stage_sql(entity, "landed")
    assert "`c``d'/*` as `cdc__raw_a``b'--`" in sql
    assert r"'c`d\'/*'" in sql
