"""Entities that read the change feed of a Delta or Iceberg table: what is decided without one.

The loads themselves are in test_source_feeds_loads.py.
"""

from __future__ import annotations

import copy
import datetime as dt
import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from project import Project
from spark_cdc.jinja_bridge import CompilerError, Macros
from test_config import GOOD, KEY, LEDGER, Node, column, macros

pytestmark = pytest.mark.proves("source feeds")

DELTA = {
    "load_type": "events",
    "events": {"format": "delta_cdf"},
    "source": {"format": "change_feed", "table": "shop.orders"},
}
ICEBERG = DELTA | {"events": {"format": "iceberg_changelog"}}
TIME = dt.datetime(2024, 3, 4)
NO_ROWS = SimpleNamespace(rows=[])


def node(settings: dict[str, Any], **source: Any) -> dict[str, Any]:
    made = copy.deepcopy(GOOD)
    settings = copy.deepcopy(settings)
    settings["source"] |= source
    made["config"]["meta"]["spark_cdc"] = settings
    made["columns"] = [KEY, column("value", "string")]
    return made


@functools.cache
def plain() -> Macros:
    return macros()


def problems(settings: dict[str, Any], **source: Any) -> list[str]:
    return plain()._entity_problems("orders", Node(node(settings, **source)))


def test_what_is_accepted() -> None:
    assert problems(DELTA) == []
    assert problems(DELTA, table=None) == []  # the dbt source that stage() names
    assert problems(DELTA, table="lake.shop.orders-2") == []
    assert problems(ICEBERG) == []


@pytest.mark.parametrize(
    ("settings", "source", "message"),
    [
        (
            {"load_type": "full", "events": None},
            {},
            "change_feed, but load_type is full: set load_",
        ),
        ({"events": {"format": "debezium"}}, {}, "accepted are delta_cdf, iceberg_changelog: "),
        ({}, {"table": "orders"}, "source.table is 'orders'; accepted are a schema and a table"),
        ({}, {"table": "a.b.c.d"}, "source.table is 'a.b.c.d'"),
        ({}, {"path": "in/{business_date}"}, "source.path is given, but source.format is change_"),
        ({}, {"options": {"versionAsOf": 1}}, "source.options is given, but source.format is"),
        ({}, {"date_column": "day"}, "source.date_column is given"),
        (
            {"expected_every": "daily"},
            {},
            "expected_every is given, but source.format is change_feed",
        ),
        (
            {"events": {"format": "iceberg_changelog", "order": ["value"]}},
            {},
            "events.order is given, but source.format is change_feed",
        ),
        (
            {"sources": {"full": {"path": "in/{business_date}"}}},
            {},
            "sources is given, but source.format is change_feed",
        ),
        (
            {},
            {"format": "parquet", "path": "in/{business_date}"},
            "source.table is given, but source.format is 'parquet': set it to change_feed",
        ),
        (
            {"sources": {"full": {"format": "change_feed", "table": "shop.orders"}}},
            {"format": "parquet", "path": "in/{business_date}", "table": None},
            "sources.full.format is change_feed, which is for `source` only",
        ),
    ],
)
def test_what_is_wrong_is_said(
    settings: dict[str, Any], source: dict[str, Any], message: str
) -> None:
    found = problems(DELTA | settings, **source)
    assert any(message in one for one in found), found
    assert all(one.startswith("orders: ") for one in found)


def test_staging_of_ones_own_is_refused() -> None:
    """The ledger lands a feed, so it would not be read."""
    ledger = Node(LEDGER | {"depends_on": {"nodes": ["model.shop.orders_events"]}})
    staging = Node(node(DELTA) | {"raw_code": "select 1 as one"})
    given = macros(
        graph=Node(nodes={n["unique_id"]: n for n in (staging, ledger)}),
        entity_node=lambda name: staging,
    )
    [problem] = given._model_problems("orders", DELTA, "model.shop.orders_ledger")
    assert "Write nothing but spark_cdc.stage() into it" in problem
    staging["raw_code"] = "{{ spark_cdc.stage() }}"
    assert given._model_problems("orders", DELTA, "model.shop.orders_ledger") == []


def test_a_full_snapshot_needs_neither_a_source_nor_a_position() -> None:
    given = macros(node(DELTA), var={"business_date": "2024-03-04", "spark_cdc_load_type": "full"})
    assert given._load_type_problems([("orders", DELTA)]) == []
    entity = given._entity("orders")
    feed = {"table": "shop.orders", "id": "a", "after": None, "to": 7, "offset": 5, "number": 12}
    read = given._entity_of_change_feed(entity, feed)
    assert read["events"]["snapshot"] == {"numbers": [12]}
    assert given._full_snapshot_position(read) == "12L"
    assert given._files_view_sql(read, None, [TIME]).endswith(
        " as\nselect\n    *\nfrom shop.orders version as of 7"
    )
    assert given._landing_input(read, None, TIME) == "all rows of shop.orders as of version 7"


def test_what_delta_reads() -> None:
    given = macros(node(DELTA, table="Lake.shop.order"))
    entity = given._entity("orders")
    table = given._change_feed_table(entity)
    assert table == "`Lake`.shop.`order`"
    feed = {
        "table": table,
        "id": "a",
        "after": 3,
        "to": 7,
        "at": "2024-03-04 10:00:00",
        "offset": 0,
    }
    read = given._entity_of_change_feed(entity, feed)
    sql = given._files_view_sql(read, None, [TIME])
    assert sql.endswith("table_changes('`Lake`.shop.`order`', 4, 7)")
    assert given._landing_input(read, None, TIME) == f"changes of {table} after version 3 up to 7"
    assert not given._is_change_feed_empty(read)
    first = given._entity_of_change_feed(entity, feed | {"after": None})
    sql = given._files_view_sql(first, None, [TIME])
    assert "'insert' as _change_type,\n    7L as _commit_version," in sql
    assert sql.endswith(f"from {table} version as of 7")
    nothing = given._entity_of_change_feed(entity, feed | {"to": 3})
    assert given._is_change_feed_empty(nothing)
    assert given._landing_input(nothing, None, TIME) == f"no version of {table} after 3"


@pytest.mark.parametrize(
    ("feed", "adds"), [({"offset": 0}, ""), ({"offset": 12}, " + 12L"), (None, "")]
)
@pytest.mark.parametrize(
    ("settings", "number"),
    [(DELTA, "`_commit_version`"), (ICEBERG, "cast(`_change_ordinal` as bigint)")],
)
def test_positions_rise_over_all_loads(
    feed: dict[str, Any] | None, adds: str, settings: dict[str, Any], number: str
) -> None:
    given = macros(node(settings))
    entity = given._entity_of_change_feed(given._entity("orders"), feed)
    sql = given._adapter(settings["events"]["format"])(entity, "landed")
    assert f"{number}{adds},\n" in sql


def delta_range(feed: dict[str, Any], read: Any, highest: int | None, plan: str = "") -> Any:
    given = macros(node(DELTA), _plan=lambda sql: plan, run_query=lambda sql: NO_ROWS)
    entity = given._entity("orders")
    entity["source"]["feed"] = {"table": "shop.orders"} | feed
    now = {"id": "a", "newest": feed["to"], "location": "/warehouse/orders"}
    return given._events_delta_cdf_feed_range(entity, now, read, highest)


def test_versions_of_delta_in_their_order() -> None:
    first = delta_range({"after": None, "to": 7}, None, None)
    assert first == {"problem": None, "offset": 0, "number": 7}
    # of dumps of the same feed that were loaded before
    assert delta_range({"after": None, "to": 7}, None, 5)["offset"] == 0
    # made anew: its versions begin at 0, and come behind those of the former table
    other = {"id": "b", "to": 40, "offset": 2}
    assert delta_range({"after": None, "to": 3}, other, 42) == {
        "problem": None, "offset": 40, "number": 43,
    }  # fmt: skip
    same = {"id": "a", "to": 3, "offset": 40}
    assert delta_range({"after": 3, "to": 3}, same, 43)["offset"] == 40
    assert "up to 9 has been read" in delta_range({"after": 9, "to": 3}, same, 43)["problem"]


def test_versions_of_delta_that_are_gone() -> None:
    plan = "Error occurred during query planning: \n[DELTA_X] no version 4. SQLSTATE: 1; line 1"
    found = delta_range({"after": 3, "to": 7}, {"id": "a", "to": 3, "offset": 0}, 3, plan)
    assert found["problem"] == (
        "changes of shop.orders after version 3 up to 7 can't be read: [DELTA_X] no version 4"
    )
    found = delta_range({"after": None, "to": 7}, None, None, plan)
    assert found["problem"].startswith("all rows of shop.orders as of version 7 can't be read: [")


def test_files_of_delta_that_are_gone() -> None:
    asked: list[str] = []

    def plan(sql: str) -> str:
        asked.append(sql)
        return (
            f"[PATH_NOT_FOUND] Path does not exist: {path}. SQLSTATE" if "union all" in sql else ""
        )

    path = "file:/warehouse/orders/_change_data/cdc-00.parquet"
    rows = [{"path": "_change_data/cdc-00.parquet"}, {"path": "part-01.parquet"}]
    given = macros(
        _plan=plan, run_query=lambda sql: asked.append(sql) or SimpleNamespace(rows=rows)
    )
    gone = given._events_delta_cdf_gone_file({"after": 3, "to": 5}, "file:/warehouse/orders")
    assert gone == path
    assert "_delta_log/{00000000000000000004.json,00000000000000000005.json}`" in asked[0]
    assert "binaryFile.`file:/warehouse/orders/part-01.parquet`" in asked[-1]


def iceberg_range(
    after: int | None, to: int | None, parents: dict[int, Any], highest: Any, plan: str = ""
) -> Any:
    given = macros(node(ICEBERG), _plan=lambda sql: plan)
    entity = given._entity("orders")
    entity["source"]["feed"] = {"table": "lake.shop.orders", "after": after, "to": to}
    return given._events_iceberg_changelog_feed_range(entity, {"parents": parents}, None, highest)


def test_snapshots_of_iceberg_in_their_order() -> None:
    chain = {1: None, 2: 1, 3: 2, 4: 3}
    assert iceberg_range(None, None, {}, None) == {"problem": None, "offset": 0, "number": 0}
    assert iceberg_range(None, 4, chain, 6) == {"problem": None, "offset": 7, "number": 7}
    assert iceberg_range(2, 4, chain, 6)["problem"] is None
    assert iceberg_range(4, 4, chain, 6)["problem"] is None
    # the one that was read last may be expired: what follows on it is there
    assert iceberg_range(2, 4, {3: 2, 4: 3}, 6)["problem"] is None


@pytest.mark.parametrize(
    ("after", "to", "parents", "message"),
    [
        (1, 4, {3: 2, 4: 3}, "from 1, up to which has been read, to 4 are not all there any more"),
        (3, 2, {1: None, 2: 1, 3: 2}, "snapshot 2 of lake.shop.orders does not follow on 3"),
        (3, 5, {1: None, 2: 1, 3: 2, 5: 2}, "the table was rolled back"),
        (3, 8, {7: None, 8: 7}, "or dropped and made anew"),
        (
            3,
            8,
            {1: None, 2: 1, 3: 2, 8: None},
            "replaced as a whole since snapshot 3 was",
        ),
        (3, 9, {1: None, 2: 1, 3: 2, 8: None, 9: 8}, "as dbt's table materialization runs it"),
        (None, 4, {5: 4}, "snapshot 4 of lake.shop.orders is not there any more"),
    ],
)
def test_snapshots_of_iceberg_that_do_not_follow(
    after: int | None, to: int, parents: dict[int, Any], message: str
) -> None:
    assert message in iceberg_range(after, to, parents, 0)["problem"]


def test_snapshots_of_iceberg_that_its_changelog_does_not_know() -> None:
    plan = "Error occurred during query planning: \nDelete files are not supported in changelogs"
    found = iceberg_range(1, 2, {1: None, 2: 1}, 0, plan)["problem"]
    assert found.endswith("up to 2 can't be read: Delete files are not supported in changelogs")
    assert iceberg_range(2, 2, {1: None, 2: 1}, 0, plan)["problem"] is None


Decide = Callable[..., dict[str, Any]]


@pytest.fixture
def decide() -> Decide:
    """What a load reads, by what was applied, what it replaces, and what the table is now."""

    def decided(
        *,
        applied: dict[str, Any] | None = None,
        parent: str | None = "20240303-e-00000001",
        replaced: dict[str, Any] | None = None,
        compacted: bool = False,
        now: dict[str, Any] | None = None,
        load_type: str = "events",
        replay: bool = False,
        schemas: Sequence[Any] = (),
        noted: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        name = "20240304-s-00000002" if load_type == "full" else "20240304-e-00000002"
        records = {name: {"feed": replaced}} if replaced and not compacted else {}
        if compacted:
            records["20240304-h-00000009"] = {"feeds": {name: replaced}}
        if noted and parent:
            records[parent] = noted
        given: Macros = macros(
            node(DELTA),
            var={"business_date": "2024-03-04", "spark_cdc_load_type": load_type},
            _events_delta_cdf_feed_now=lambda table: now or {"id": "a", "newest": 9, "at": "then"},
            _events_delta_cdf_feed_range=lambda *words: {"problem": None, "offset": 0, "number": 9},
            _events_delta_cdf_feed_schemas=lambda *words: {"problem": None, "schemas": schemas},
            _load_records=lambda ledger, loads: {k: v for k, v in records.items() if k in loads},
            _current_timeline=lambda run, is_planned: {"loads": ["20240304-h-00000009"]},
            _refuse_load=refuse,
        )
        load = {
            "applied": applied or {},
            "parent": parent,
            "replaced": [name] if replaced else [],
            "business_time": "2024-03-04",
            "load_type": load_type,
        }
        manifest = {"loads": [], **({"timeline_loads": [name], "replay": {}} if replay else {})}
        run = {"entity": given._entity("orders"), "load": load, "manifest": manifest}
        return given._change_feed_of_load(run | {"ledger": "ledger", "time": TIME})

    def refuse(entity: Any, guard: str, message: str, *more: Any) -> None:
        assert guard == "change_feed"
        raise CompilerError(message)

    return decided


READ = {"highest": [1, 4, 1], "feed": {"id": "a", "to": 4, "offset": 0}}


def test_a_load_reads_on_up_to_the_newest(decide: Decide) -> None:
    found = decide(applied=READ)
    assert (found["after"], found["to"]) == (4, 9)
    first = decide(parent=None)
    assert (first["after"], first["to"], first["at"]) == (None, 9, "then")
    full = decide(applied=READ, load_type="full")
    assert (full["after"], full["to"]) == (None, 9)


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("replay", [False, True])
def test_a_rerun_and_a_replay_read_the_same(decide: Decide, compacted: bool, replay: bool) -> None:
    before = {"id": "a", "after": 4, "to": 6, "at": "before"}
    found = decide(applied=READ, replaced=before, compacted=compacted, replay=replay)
    assert (found["after"], found["to"], found["at"]) == (4, 6, "before")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"applied": {"highest": [1, 4, 1]}}, "20240303-e-00000001, did not read the change feed"),
        ({"applied": READ, "now": {"id": "b", "newest": 1}}, "it was dropped and made anew, or"),
        ({"applied": READ, "now": {"id": "b", "newest": 1}}, "which is no feed: docs/source_feeds"),
        (
            {"applied": READ, "replaced": {"id": "b", "to": 1, "at": None}},
            "is not the table that was read before",
        ),
        ({"applied": READ, "replay": True}, "it is not known up to where 2024-03-04 read"),
    ],
)
def test_gaps_are_refused(decide: Decide, given: dict[str, Any], message: str) -> None:
    with pytest.raises(CompilerError, match=message) as caught:
        decide(**given)
    text = str(caught.value)
    assert text.startswith("orders: ")
    assert "Nothing was written, and readers see what they saw before." in text
    if given.get("replay"):
        assert "Replay from a later date" in text
    else:
        assert text.endswith("spark_cdc_load_type: {orders: full}}'")


def test_a_table_that_is_made_anew_is_taken_as_a_whole(decide: Decide) -> None:
    now = {"id": "b", "newest": 2, "at": "now"}
    found = decide(applied=READ, now=now, load_type="full")
    assert (found["id"], found["after"], found["to"]) == ("b", None, 2)
    before = {"id": "a", "to": 6, "at": "before"}
    again = decide(applied=READ, now=now, load_type="full", replaced=before)
    assert (again["id"], again["to"]) == ("b", 2)


def field(name: str, mark: Any, type_: Any = "string") -> dict[str, Any]:
    """A field of a schema: as Delta has it, or of Iceberg's where it has a number."""
    if isinstance(mark, int):
        return {"id": mark, "name": name, "type": type_}
    metadata = {"delta.columnMapping.physicalName": mark} if mark else {}
    return {"name": name, "type": type_, "metadata": metadata}


def schema(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields)}


def test_the_fields_of_nested_columns() -> None:
    given = plain()
    delta = field("S", "p", {"type": "array", "elementType": schema(field("A", "q"))})
    assert given._field_ids(delta) == {"": "p", "element": "element", "element.a": "q"}
    listed = {"type": "list", "element-id": 5, "element": schema(field("a", 6))}
    assert given._field_ids(field("s", 4, listed)) == {"": 4, "element": 5, "element.a": 6}
    mapped = {"type": "map", "key-id": 5, "key": "string", "value-id": 6, "value": "int"}
    assert given._field_ids(field("m", 4, mapped)) == {"": 4, "key": 5, "value": 6}
    assert given._field_ids(field("Plain", None)) == {"": "plain"}


NOTED = {"fields": {"id": {"": 1}, "value": {"": 2}}}
AS_IT_WAS = schema(field("ID", 1), field("VALUE", 2), field("more", 3))


@pytest.mark.parametrize(
    ("schemas", "wanted"),
    [
        ([], NOTED["fields"]),
        ([AS_IT_WAS], NOTED["fields"]),
        # what is gone is remembered, in case that the name comes back
        ([schema(field("id", 1))], NOTED["fields"]),
        # another field, at any time in between
        ([schema(field("id", 1)), schema(field("id", 1), field("value", 9))], "name of value: col"),
        ([schema(field("id", 1), field("value", 9)), AS_IT_WAS], "name of value: columns"),
        ([schema(field("id", 2), field("value", 1))], "id (its former field is value now), value"),
        ([schema(field("id", 1), field("v", 2), field("value", 4))], "its former field is v now"),
    ],
)
@pytest.mark.parametrize("noted", [{"feed": NOTED}, {"last_feed": NOTED}])
def test_fields_that_changed_without_a_row(
    decide: Decide, schemas: list[Any], wanted: Any, noted: dict[str, Any]
) -> None:
    if isinstance(wanted, dict):
        assert decide(applied=READ, schemas=schemas, noted=noted)["fields"] == wanted
        return
    with pytest.raises(CompilerError) as caught:
        decide(applied=READ, schemas=schemas, noted=noted)
    assert wanted in str(caught.value)
    assert "--vars '{business_date: 2024-03-04, spark_cdc_load_type: {orders: full}}'" in str(
        caught.value
    )
    # a full snapshot takes the table as it is, and so does a load of a ledger that noted nothing
    full = decide(applied=READ, schemas=schemas[-1:], noted=noted, load_type="full")
    assert full["fields"].keys() == {"id", "value"}
    decide(applied=READ, schemas=schemas, noted={"feed": {}})
    decide(applied=READ, schemas=schemas)


def test_names_that_the_yaml_follows() -> None:
    settings = node(ICEBERG)
    settings["columns"][1]["config"] = {"meta": {"from": "town", "renamed_from": "city"}}
    given = macros(settings, _events_iceberg_changelog_feed_schemas=lambda *words: found)
    entity, feed = given._entity("orders"), {"table": "shop.orders"}
    known = {"fields": {"id": {"": 1}, "city": {"": 2}}}
    found = {"problem": None, "schemas": [schema(field("id", 1), field("town", 2))]}
    now = {"log": [{"file": "a"}, {"file": "b"}]}
    fields = {"id": {"": 1}, "value": {"": 2}}
    assert given._change_feed_fields(entity, feed, now, known) == {
        "problem": None, "fields": fields, "log": "b",
    }  # fmt: skip
    found = {"problem": None, "schemas": [schema(field("id", 1), field("town", 3))]}
    assert "name of value: " in given._change_feed_fields(entity, feed, now, known)["problem"]


def delta_schemas(feed: dict[str, Any], between: Any, is_known: bool, history: Any = ()) -> Any:
    given = macros(
        node(DELTA),
        _events_delta_cdf_schemas_between=lambda *words: between,
        _events_delta_cdf_schema_of=lambda location, version: [f"of {version}"],
        run_query=lambda sql: SimpleNamespace(rows=history),
    )
    now = {"location": "/warehouse/orders", "newest": feed["to"]}
    return given._events_delta_cdf_feed_schemas({"table": "shop.orders"} | feed, now, {}, is_known)


def test_schemas_of_delta() -> None:
    read = {"after": 3, "to": 7}
    assert delta_schemas({"after": None, "to": 7}, None, False)["schemas"] == ["of 7"]
    assert delta_schemas(read, [], True)["schemas"] == []
    assert delta_schemas(read, [], False)["schemas"] == ["of 7"]
    assert delta_schemas(read, ["one", "two"], True)["schemas"] == ["one", "two"]
    assert delta_schemas({"after": 7, "to": 7}, None, True) == {"problem": None, "schemas": []}
    # a catalog that keeps the log to itself
    row = {"version": 5, "operation": "ADD COLUMNS"}
    assert delta_schemas(read, None, True, [row])["problem"] is None
    row["operation"] = "RENAME COLUMN"
    found = delta_schemas(read, None, True, [row, {"version": 8, "operation": "RESTORE"}])
    assert "it was changed by RENAME COLUMN in version 5, and its log can't be" in found["problem"]


def iceberg_schemas(known: dict[str, Any], log: list[dict[str, Any]]) -> Any:
    refused = "Error occurred during query planning: \nNo FileSystem for scheme s3"
    given = macros(node(ICEBERG), _plan=lambda sql: refused)
    feed = {"table": "shop.orders", "after": 3, "to": 4, "is_now": False}
    return given._events_iceberg_changelog_feed_schemas(feed, {"log": log}, known, True)["problem"]


def test_schemas_of_iceberg_that_can_not_be_read() -> None:
    log = [
        {"file": name, "snapshot": snapshot}
        for name, snapshot in zip("abcd", (2, 3, 4, 4), strict=True)
    ]
    assert "it was changed without a snapshot (d), and Spark can't read d" in iceberg_schemas(
        {"fields": {}, "log": "b"}, log
    )
    assert iceberg_schemas({"fields": {}, "log": "b"}, log[:3]) is None
    assert iceberg_schemas({"fields": {}, "log": "d"}, log) is None
    assert "more commits since the last load than" in iceberg_schemas({"log": "z"}, log)
    assert iceberg_schemas({}, log) is None


def test_rows_of_a_snapshot_under_the_columns_of_now(decide: Decide) -> None:
    """A snapshot has the columns of its own time, so the table is read as it is."""
    log = [{"file": "a", "snapshot": 9}, {"file": "b", "snapshot": 9}]
    now = {"id": None, "newest": 9, "log": log}
    read = {"highest": [1, 4, 1], "feed": {"id": None, "to": 4, "offset": 0}}
    assert decide(applied=read, now=now, load_type="full")["is_now"]
    assert not decide(applied=read, now=now)["is_now"]
    assert not decide(applied=read, now=now | {"log": log[:1]}, load_type="full")["is_now"]
    before = {"id": None, "to": 6, "at": None, "is_now": True}  # can't be read again
    assert decide(applied=read, now=now, load_type="full", replaced=before)["to"] == 9
    given = macros(node(ICEBERG))
    feed = {"table": "lake.orders", "after": None, "to": 9, "is_now": True}
    sql = given._events_iceberg_changelog_feed_sql(None, feed, True)
    assert "from lake.orders\nwhere if(" in sql
    assert "(select snapshot_id from lake.orders.refs where name = 'main') = 9" in sql
    sql = given._events_iceberg_changelog_feed_sql(None, feed | {"is_now": False}, True)
    assert sql.endswith("from lake.orders version as of 9")


@pytest.mark.parametrize(
    ("type_", "wanted"), [("map<string,int>", True), ("array<int>", False), ("variant", True)]
)
def test_columns_without_an_order(type_: str, wanted: bool) -> None:
    """Iceberg would sort all columns of a table to tell changes from copies."""
    rows = [{"col_name": "m", "data_type": type_}]
    given = macros(node(ICEBERG), _described=lambda sql: rows)
    feed = {"table": "lake.shop.orders", "after": 3, "to": 4}
    entity = given._entity("orders")
    sql = given._events_iceberg_changelog_call_sql(entity, feed)
    assert ("identifier_columns => array('id')," in sql) == wanted
    entity |= {"key_columns": [], "source": entity["source"] | {"feed": feed | {"after": None}}}
    problem = given._events_iceberg_changelog_feed_range(entity, {"parents": {}}, None, 0)[
        "problem"
    ]
    assert ("without a key, since values of m have no order" in problem) == wanted


@pytest.mark.parametrize(
    ("plan", "is_other", "message"),
    [
        ("[TABLE_OR_VIEW_NOT_FOUND] The table shop.orders", False, "is not there ([TABLE_OR_VIEW_"),
        ("[UNRESOLVABLE_TABLE_VALUED_FUNCTION] Could not", True, "or the server lacks Delta ([UNR"),
        (
            "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: delta",
            True,
            "server lacks Delta",
        ),
        ("[DELTA_MISSING_CHANGE_DATA] at 0", False, None),
    ],
)
def test_tables_that_have_no_feed(plan: str, is_other: bool, message: str | None) -> None:
    plan = f"Error occurred during query planning: \n{plan}"
    found = plain()._change_feed_table_problem("shop.orders", plan, "Delta", is_other)
    assert found is None if message is None else message in found


def test_when_a_date_is_due() -> None:
    given = macros(node(DELTA), _time_now=lambda pattern: "2024-03-04")
    entity = given._entity("orders")
    now = {"id": "a", "newest": 9}
    head = {"applied": READ}
    assert given._change_feed_due(entity, now, {}, None) == [TIME]
    assert given._change_feed_due(entity, now, head, TIME - dt.timedelta(1)) == [TIME]
    assert given._change_feed_due(entity, now, head, TIME) == []  # no more than one a day
    assert given._change_feed_due(entity, now | {"newest": 4}, head, None) == []
    assert given._change_feed_due(entity, now | {"id": "b", "newest": 4}, head, None) == [TIME]
    # Iceberg: a commit without a snapshot, which may have changed columns
    head = {"applied": {"feed": {"id": None, "to": 4, "log": "00002-0a1b2c3d"}}}
    now = {
        "id": None,
        "newest": 4,
        "log": [{"file": "s3://lake/a/00002-0a1b2c3d-4e.metadata.json"}],
    }
    assert given._change_feed_due(entity, now, head, None) == []
    now["log"].append({"file": "s3://lake/a/00003-0a1b2c3d-4e.metadata.json"})
    assert given._change_feed_due(entity, now, head, None) == [TIME]


@pytest.mark.integration
@pytest.mark.parametrize("settings", [DELTA, ICEBERG], ids=["delta", "iceberg"])
def test_a_server_that_lacks_the_format(project: Project, settings: dict[str, Any]) -> None:
    project.query("create table if not exists {s}.plain_source (id int, value string)")
    table = f"{project.schema}.plain_source"
    source = {"format": "change_feed", "table": table, "path": None}
    columns = {"id": {"data_type": "int", "role": "key"}, "value": "string"}
    name = settings["events"]["format"]
    project.entity(name, columns, **(settings | {"source": source}))
    outcome = project.run("2024-03-04", name)
    assert not outcome.success
    assert f"{name}: {table} can not be read as a table of" in outcome.output
    assert "Nothing was written" in outcome.output
    asked = ("show", "--select", f"stg_{name}", "--vars", "{business_date: 2024-03-04}")
    assert "can not be read as a table of" in project.dbt(*asked).output
