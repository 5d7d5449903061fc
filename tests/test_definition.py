"""A definition that changes: the comparison with the one before, the layout, and the casts."""

from __future__ import annotations

import datetime
import hashlib
from typing import Any

import pytest

from rendered_sql import Relation, manifest_of
from spark_cdc.jinja_bridge import Macros, load_macros_of

pytestmark = pytest.mark.proves("schema change")

KEY = {"data_type": "int", "role": "key"}


def described(
    columns: dict[str, Any], var: dict[str, Any] | None = None, **settings: Any
) -> tuple[Macros, dict[str, Any]]:
    """The macros, and an entity; columns are from name to type or to {data_type, and meta}."""
    listed = []
    for name, what in columns.items():
        meta = dict(what) if isinstance(what, dict) else {"data_type": what}
        listed.append({"name": name, "data_type": meta.pop("data_type"), "meta": meta})
    given = {"load_type": "full", "source": {"path": "landing/{business_date}"}} | settings
    secret = Relation(f"spark_cdc_secret_{given.pop('secret', 'a')}")
    macros, node = load_macros_of(
        "goods",
        given,
        listed,
        var=var or {},
        _secret=lambda: secret,
        invocation_id="none",
        local_md5=lambda text: hashlib.md5(text.encode()).hexdigest(),
    )
    return macros, macros._described_entity("goods", node)


def difference(
    before: dict[str, Any], now: dict[str, Any], var: dict[str, Any] | None = None, **settings: Any
) -> dict[str, Any]:
    macros, entity = described(before)
    definition = macros._definition(entity)
    macros, entity = described(now, var, **settings)
    return macros._definition_diff(entity, definition)


def layout(
    *definitions: dict[str, Any], dropped_columns: list[str] | None = None
) -> dict[str, Any]:
    """The layout after several definitions, one load of each: on January 1, 2, …"""
    macros, entity = described(definitions[0])
    now: dict[str, Any] = {}
    found = {c["at"]: macros._plain_type(c["data_type"]) for c in macros._ledger_columns(entity)}
    for day, columns in enumerate(definitions[1:], start=2):
        before = macros._definition(entity)
        macros, entity = described(columns, dropped_columns=dropped_columns or [])
        diff = macros._definition_diff(entity, before)
        assert diff["problems"] == []
        now = macros._layout(diff, now, found, f"2024010{day}")
        found |= {
            c["at"].lower(): macros._plain_type(c["data_type"])
            for c in macros._ledger_columns(entity, now)
        }
    return now


def test_nothing_changes() -> None:
    before = {"id": KEY, "Amount": "decimal(10,0)", "n": "integer"}
    now = {"n": {"data_type": "int", "renamed_from": "x"}, "amount": "decimal", "id": KEY}
    diff = difference(before, now, dropped_columns=["gone"])
    assert (diff["changes"], diff["problems"], diff["key"]) == ([], [], "same")


@pytest.mark.parametrize(
    ("now", "changes", "key"),
    [
        ({"id": KEY, "n": "int", "m": "string"}, ["added m compared string"], "same"),
        (
            {"id": KEY, "n": "int", "m": {"data_type": "int", "nullable": False, "default": 0}},
            ["added m compared int default 0"],
            "same",
        ),
        ({"id": KEY, "m": {"data_type": "int", "renamed_from": "n"}}, ["renamed n to m"], "same"),
        ({"id": KEY, "N": "bigint"}, ["N int to bigint"], "same"),
        (
            {"id": KEY, "n": {"data_type": "int", "role": "untracked"}},
            ["n compared to untracked"],
            "same",
        ),
        (
            {"no": {"data_type": "bigint", "role": "key", "renamed_from": ["x", "id"]}, "n": "int"},
            ["renamed id to no", "no int to bigint"],
            "rehashed",
        ),
        ({"id": KEY}, ["dropped n"], "same"),
        ({"id": KEY, "n": {"data_type": "int", "role": "control"}}, ["dropped n"], "same"),
        ({"id": KEY, "n": KEY}, ["n compared to key"], "other"),
        ({"id": {"data_type": "string", "role": "key"}, "n": "int"}, ["id int to string"], "other"),
    ],
)
def test_changes_that_are_applied(now: dict[str, Any], changes: list[str], key: str) -> None:
    before = {"id": KEY, "n": "int"}
    diff = difference(before, now, {"spark_cdc_rekey": ["goods"]}, dropped_columns="n")
    if "n" in now:
        diff = difference(before, now, {"spark_cdc_rekey": "goods"})
    assert (diff["changes"], diff["problems"], diff["key"]) == (changes, [], key)


@pytest.mark.parametrize(
    ("now", "message"),
    [
        ({"id": KEY}, "column 'n' (compared int) is gone. If it has another name now"),
        ({"id": KEY, "m": {"data_type": "int", "renamed_from": "nn"}}, "dropped_columns: [n]"),
        (
            {"id": KEY, "n": "int", "m": {"data_type": "int", "nullable": False}},
            "column 'm' is new and not nullable",
        ),
        ({"id": KEY, "n": "date"}, "its type was int, of which spark_cdc can not make date"),
        ({"id": KEY, "n": KEY}, "spark_cdc_rekey: [goods]"),
        ({"id": {"data_type": "string", "role": "key"}, "n": "int"}, "the key changes"),
    ],
)
def test_changes_that_are_refused(now: dict[str, Any], message: str) -> None:
    (problem,) = difference({"id": KEY, "n": "int"}, now)["problems"]
    assert message in problem


def test_events_keep_their_order() -> None:
    events = {"format": "flagged_rows", "order": ["n"], "operation": "op"}
    _, entity = described({"id": KEY, "n": "int"}, load_type="events", events=events)
    macros, now = described(
        {"id": KEY, "n": "int"}, load_type="events", events=events | {"order": ["id"]}
    )
    (problem,) = macros._definition_diff(now, macros._definition(entity))["problems"]
    assert problem.startswith("what orders the events is flagged_rows id and was flagged_rows n")


def test_archived_events_keep_their_key() -> None:
    events = {
        "format": "flagged_rows",
        "order": ["n"],
        "operation": "op",
        "archive": True,
        "unique_keys": [["code"]],
    }
    columns = {"id": KEY, "n": "int", "code": "string"}
    macros, entity = described(columns, load_type="events", events=events)
    before = macros._definition(entity)
    renamed = {"id": KEY, "n": "int", "sign": {"data_type": "string", "renamed_from": "code"}}
    for now, unique, message in (
        (
            columns | {"code": {"data_type": "string", "role": "key"}},
            "n",
            "the key changes, but the",
        ),
        (renamed, "sign", "sign of events.unique_keys is another column now, but the archived"),
    ):
        given = events | {"unique_keys": [[unique]]}
        macros, entity = described(
            now, {"spark_cdc_rekey": "goods"}, load_type="events", events=given
        )
        (problem,) = macros._definition_diff(entity, before)["problems"]
        assert problem.startswith(message)


def test_the_hash_specification_is_part_of_the_definition() -> None:
    macros, entity = described({"id": KEY, "n": "int"})
    definition = macros._definition(entity)
    assert definition["hash specification"] == "version 1"
    diff = macros._definition_diff(entity, definition | {"hash specification": "version 0"})
    assert diff["changes"] == ["hash specification version 0 to version 1"]
    assert (diff["problems"], diff["key"]) == ([], "rehashed")


SENSITIVE = {"data_type": "date", "sensitive": True}
SECRET_KEY = KEY | {"sensitive": True}


def test_hashes_are_keyed_where_a_column_is_sensitive_and_nowhere_else() -> None:
    macros, entity = described({"id": KEY, "born": SENSITIVE, "name": "string"})
    specification = macros._definition(entity)["hash specification"]
    assert specification == "version 2 of compared with secret a"
    assert "(select keys from cdc.spark_cdc_secret_a).inner_key" in macros._hash(entity["compared"])
    assert macros._hash(entity["key_columns"]).startswith("unhex(md5(concat(\n    coalesce(")
    plain, alike = described({"id": KEY, "born": "date", "name": "string"})
    assert plain._definition(alike)["hash specification"] == "version 1"
    assert "select" not in plain._hash(alike["compared"])


def test_another_secret_changes_hashes_and_not_the_key() -> None:
    macros, entity = described({"id": KEY, "born": SENSITIVE})
    definition = macros._definition(entity)
    macros, entity = described({"id": KEY, "born": SENSITIVE}, secret="b")
    diff = macros._definition_diff(entity, definition)
    assert diff["changes"] == [
        "hash specification version 2 of compared with secret a"
        " to version 2 of compared with secret b"
    ]
    assert (diff["key"], diff["problems"]) == ("same", [])
    assert "rekeyed" not in macros._layout(diff, {}, {}, "20240102")
    before, now = macros._fingerprint(definition), macros._fingerprint(macros._definition(entity))
    assert (before[32:], now[32:]) == (" a", " b")
    assert macros._has_columns_of(entity, before)  # so that undo, tag, compact and so on go on
    assert not macros._has_columns_of(described({"id": KEY})[1], before)


def test_the_hash_of_a_sensitive_key_changes_only_with_a_replay() -> None:
    macros, entity = described({"id": SECRET_KEY, "name": "string"})
    definition = macros._definition(entity)
    macros, entity = described({"id": SECRET_KEY, "name": "string"}, secret="b")
    (problem,) = macros._definition_diff(entity, definition)["problems"]
    assert "the key is sensitive, and its hash changes" in problem
    assert "spark-cdc replay --from DATE --select goods" in problem


def test_columns_under_their_own_name_need_no_layout() -> None:
    first = {"id": KEY, "n": "int"}
    assert layout(first, {"more": "string", "n": "int", "id": KEY}) == {}


def test_a_type_that_changes_twice() -> None:
    now = layout({"id": KEY, "n": "string"}, {"id": KEY, "n": "int"}, {"id": KEY, "n": "bigint"})
    assert now["retired"] == ["n", "n__2"]
    macros, _ = described({"id": KEY, "n": "int"})
    assert macros._place_sql(now["columns"]["n"]) == (
        "coalesce(n__3, try_cast(coalesce(n__2, try_cast(n as int)) as bigint))"
    )


def test_a_column_that_comes_back_is_a_new_one() -> None:
    with_n, without_n = {"id": KEY, "n": "int"}, {"id": KEY}
    gone = layout(with_n, without_n, dropped_columns=["n"])
    assert gone == {"shown": {"n": {"at": "n"}}, "retired": ["n"]}
    back = layout(with_n, without_n, with_n, dropped_columns=["n"])
    assert back == {"columns": {"n": {"at": "n__2"}}, "retired": ["n"]}


def test_a_name_that_a_renamed_column_gave_up_is_free_but_its_place_is_not() -> None:
    renamed = {"id": KEY, "m": {"data_type": "int", "renamed_from": "n"}}
    now = layout({"id": KEY, "n": "int"}, renamed, renamed | {"n": "int"})
    assert now["columns"] == {"m": {"at": "n"}, "n": {"at": "n__2"}}
    assert "shown" not in now


def test_a_default_holds_for_loads_before_only() -> None:
    column = {"data_type": "boolean", "default": True}
    now = layout(
        {"id": KEY}, {"id": KEY, "b": column}, {"id": KEY, "c": column | {"renamed_from": "b"}}
    )
    macros, _ = described({"id": KEY})
    place = "if(business_date < date'2024-01-02', try_cast('true' as boolean), b)"
    assert macros._place_sql(now["columns"]["c"]) == place
    place = "if(load_id < '20240102', try_cast('true' as boolean), b)"
    assert macros._place_sql(now["columns"]["c"], True) == place


def test_a_key_of_another_name_is_hashed_anew_in_loads_before() -> None:
    second = {"no": KEY | {"renamed_from": "id"}, "n": "int"}
    now = layout({"id": KEY, "n": "int"}, second, second | {"m": "int"})
    assert now["rekeyed"] == "20240102"
    macros, entity = described(second)
    manifest = manifest_of(macros, ["20240102-fc-00000000"], layout=now)
    text = macros._committed_sql(entity, "cdc.goods_ledger", manifest)
    assert "id as no," in text
    assert "if(business_date < date'2024-01-02', unhex(md5(" in text
    assert ",2:no=n" in text


def test_a_column_that_a_crash_left_is_taken_if_its_type_fits() -> None:
    macros, entity = described({"id": KEY, "n": "bigint"})
    column = entity["stored"][1]
    assert macros._free_name(column, ["n"], {"n": "int", "n__2": "bigint"}) == "n__2"
    assert macros._free_name(column, ["n"], {"n": "int", "n__2": "string"}) == "n__3"
    assert macros._free_name(column, ["n", "n__2"], {"n__2": "bigint"}) == "n__3"


def test_a_rerun_of_the_load_that_brought_the_change_starts_from_the_layout_before() -> None:
    macros, entity = described({"id": KEY, "n": "int"})
    fingerprint = macros._fingerprint(macros._definition(entity))
    first = manifest_of(macros, ["20240101-fc-00000000"], rows=3, definition="other")
    second = manifest_of(
        macros, ["20240102-fc-00000000"], definition=fingerprint, layout={"retired": ["m"]}
    )
    manifest = macros._timeline_loaded(first, 1, second["entries"][0])
    again = macros._plan_load(entity, manifest, datetime.datetime(2024, 1, 2))
    assert (again["redefines"], again["is_checkpoint"], again["layout"]) == (True, True, {})
    assert again["prior_rows"] == 3
    later = macros._plan_load(entity, manifest, datetime.datetime(2024, 1, 3))
    assert (later["redefines"], later["is_checkpoint"]) == (False, False)
    assert later["layout"] == {"retired": ["m"]}
    wiped = macros._plan_load(entity, manifest, datetime.datetime(2024, 1, 3), True)
    assert (wiped["redefines"], wiped["layout"]) == (False, {})


STORED = "timestamp'2024-06-30 22:00:00.123456 UTC'"
CONVERSIONS: list[tuple[str, str, str, str | None, dict[str, Any]]] = [
    # former type, type, value, what it becomes (None: it does not fit), meta of the column
    ("string", "int", "'7'", "7", {}),
    ("string", "int", "'7.5'", None, {}),
    ("string", "decimal(6,2)", "'1.50'", "1.50", {}),
    ("string", "decimal(6,2)", "'1.509'", None, {}),
    ("string", "date", "'04.03.2024'", "2024-03-04", {"format": "dd.MM.yyyy"}),
    ("string", "date", "'19000'", "2022-01-08", {"encoding": "days"}),
    ("string", "timestamp", "'2024-07-01 10:00:00'", "2024-07-01 08:00:00", {}),
    ("string", "array<int>", "'[1,2]'", "[1, 2]", {}),
    ("string", "array<int>", "'[1,\"x\"]'", None, {}),
    ("int", "bigint", "3", "3", {}),
    ("bigint", "int", "3000000000L", None, {}),
    ("decimal(6,2)", "decimal(5,1)", "1.50BD", "1.5", {}),
    ("decimal(6,2)", "decimal(5,1)", "1.55BD", None, {}),
    ("float", "double", "float('NaN')", "NaN", {}),
    ("double", "float", "0.1D", None, {}),
    ("bigint", "double", "9007199254740993L", None, {}),
    ("int", "boolean", "1", "true", {}),
    ("int", "boolean", "2", None, {}),
    ("date", "string", "date'2024-01-01'", "2024-01-01", {}),
    ("timestamp", "date", "timestamp'2024-06-30 22:00:00 UTC'", "2024-07-01", {}),
    ("timestamp", "date", STORED, None, {}),
    ("timestamp", "timestamp_ntz", STORED, "2024-07-01 00:00:00.123456", {}),
    ("timestamp_ntz", "timestamp", "timestamp_ntz'2024-07-01'", "2024-06-30 22:00:00", {}),
    ("date", "timestamp", "date'2024-07-01'", "2024-06-30 22:00:00", {}),
    ("date", "timestamp_ntz", "date'2024-07-01'", "2024-07-01 00:00:00", {}),
    ("array<int>", "array<bigint>", "array(1, null)", "[1, null]", {}),
    ("array<string>", "array<int>", "array('x')", None, {}),
    ("map<string,int>", "map<string,decimal(12,2)>", "map('k', 1)", "{k -> 1.00}", {}),
    ("struct<a:int>", "struct<b:string,a:bigint>", "named_struct('a', 1)", "{null, 1}", {}),
    ("struct<aB:int>", "struct<b:string,Ab:bigint>", "named_struct('aB', 1)", "{null, 1}", {}),
    ("struct<a:int,b:int>", "struct<a:int>", "named_struct('a', 1, 'b', 2)", None, {}),
    (
        "struct<t:timestamp>",
        "struct<t:timestamp,u:int>",
        f"named_struct('t', {STORED})",
        "{2024-06-30 22:00:00.123456, null}",
        {},
    ),
]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_values_take_on_another_type(cursor: Any, ansi: str) -> None:
    """Each becomes the same value, or is found not to fit; a null always fits."""
    queries = []
    for number, (former, now, value, _, meta) in enumerate(CONVERSIONS):
        column = {"data_type": now, **meta}
        macros, entity = described({"id": KEY, "c": column}, timezone="Europe/Berlin")
        conversion = macros._conversion(entity, entity["columns"][1], former)
        sql, misfit = (
            conversion[part].replace("cdc__raw_value", "{}") for part in ("sql", "misfit")
        )
        asked = [sql.replace("{}", "v"), misfit.replace("{}", "v"), misfit.replace("{}", "n")]
        queries.append(
            f"select {number} as number, cast({asked[0]} as string), {asked[1]}, {asked[2]} "
            f"from (select cast({value} as {former}) as v, cast(null as {former}) as n)"
        )
    cursor.execute(f"set spark.sql.ansi.enabled = {ansi}")
    cursor.execute(" union all ".join(queries))
    for number, text, misfit, null_misfit in cursor.fetchall():
        former, now, value, expected, _ = CONVERSIONS[number]
        found = None if misfit else text
        assert (found, null_misfit) == (expected, False), f"{value}: {former} to {now}"


def test_a_value_that_may_be_lost_reads_as_null(cursor: Any) -> None:
    macros, entity = described({"id": KEY, "c": {"data_type": "int", "on_cast_error": "null"}})
    sql = macros._conversion(entity, entity["columns"][1], "decimal(4,1)")["sql"]
    cursor.execute(f"select {sql} from values (1.0BD), (1.5BD), (null) as stored(cdc__raw_value)")
    assert [row[0] for row in cursor.fetchall()] == [1, None, None]


@pytest.mark.parametrize("since", ["20240304", "20240304T101500"])
def test_rows_before_a_change_are_known_by_their_own_time(cursor: Any, since: str) -> None:
    """Also where compacting has gathered them under the name of a later load."""
    macros, _ = described({"id": KEY})
    before, at = ("2024-03-03 23:00:00", "2024-03-04 00:00:00")
    if "T" in since:
        before, at = ("2024-03-04 10:00:00", "2024-03-04 10:15:00")
    cursor.execute(
        f"select number, {macros._written_before(since)} from ("
        "select *, cast(eff_start_date as date) as business_date from values"
        f" (1, 'I', timestamp_ntz'{before}', '20240305-h-00000000'),"
        f" (2, 'U', timestamp_ntz'{at}', '20240305-h-00000000'),"
        f" (3, 'D', timestamp_ntz'{before}', '20240304T100000-d-00000000'),"
        f" (4, 'D', timestamp_ntz'{at}', '{since}-d-00000000')"
        " as ledger(number, operation, eff_start_date, load_id))"
    )
    assert sorted(cursor.fetchall()) == [(1, True), (2, False), (3, True), (4, False)]
    if "T" in since:
        cursor.execute(
            f"select {macros._written_before(since)} from values"
            f" ('X', timestamp_ntz'{before}', '{since}-dc-00000000'),"
            f" ('N', timestamp_ntz'{before}', '20240304T100000-d-00000000')"
            " as ledger(operation, eff_start_date, load_id)"
        )
        assert [row[0] for row in cursor.fetchall()] == [False, True]
