"""Input that can't be accepted: every message is provoked, and nothing becomes visible."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import Any

import pytest

from project import Project
from shop import Outcome, Shop

pytestmark = pytest.mark.proves("input")

KEYED = {"id": {"data_type": "int", "role": "key"}, "value": "int"}
DELTA = KEYED | {"op": {"data_type": "string", "role": "control"}}
EVENTS = DELTA | {"seq": {"data_type": "bigint", "role": "control"}}
FLAGGED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
TYPES = {
    "id": {"data_type": "int", "role": "key"},
    "an_int": "int",
    "a_decimal": "decimal(4,1)",
    "a_double": "double",
    "a_date": "date",
    "a_local": "timestamp_ntz",
    "an_instant": "timestamp",
    "a_flag": "boolean",
    "some_bytes": {"data_type": "binary", "format": "hex"},
    "needed": {"data_type": "string", "nullable": False},
}

# entity: (columns, settings, lines of the second day, what the message must say)
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str], list[str]]] = {
    "bad_cast": (
        KEYED,
        {},
        ["id,value", "1,one", "2,2", "x,3", "4,4.5"],
        [
            "bad_cast: 3 rows of 2024-01-02 can't be accepted as declared in stg_bad_cast",
            "value: 'one' is not accepted as int",
            "id: 'x' is not accepted as int not null",
            "value: '4.5' is not accepted as int",
            'in {"id": "1", "value": "one"}',
            "Nothing was committed",
            "run the same command again",
        ],
    ),
    "null_key": (
        KEYED,
        {},
        ["id,value", ",1", "2,2"],
        ["1 row of 2024-01-02 can't be accepted", "id: null is not accepted as int not null"],
    ),
    "new_twice": (
        KEYED,
        {},
        ["id,value", "1,1", "7,1", "7,2", "8,1", "8,1"],
        [
            "new_twice: 2 keys come more than once in 2024-01-02",
            "a full load takes one row per key (key: id)",
            "id = 7 (2 rows)",
            "id = 8 (2 rows)",
        ],
    ),
    "same_twice": (
        KEYED,
        {},
        ["id,value", "1,1", "1,1", "2,2"],
        ["same_twice: keys come more than once in 2024-01-02", "id = 1 (2 rows)"],
    ),
    "same_and_changed": (
        KEYED,
        {},
        ["id,value", "1,1", "1,9", "2,2"],
        ["same_and_changed: keys come more than once in 2024-01-02", "id = 1 (2 rows)"],
    ),
    "delta_twice": (
        DELTA,
        {"load_type": "delta", "deleted_when": "op = 'D'"},
        ["id,value,op", "1,5,U", "1,,D", "2,,D", "2,,D", "9,,D", "9,1,I"],
        [
            "delta_twice: 3 keys come more than once in 2024-01-02",
            "a delta load takes one row per key",
            "id = 1 (2 rows)",
            "id = 2 (2 rows)",
            "id = 9 (2 rows)",
        ],
    ),
    "other_columns": (
        KEYED,
        {},
        ["id,valeu,more", "1,1,1"],
        [
            "other_columns: the columns of csv files of",
            "missing: value",
            "unexpected: valeu, more",
            "found: id, valeu, more",
            "declared: id, value",
            "set source.on_missing_column: null or source.on_unexpected_column: ignore",
        ],
    ),
    "no_header": (
        KEYED,
        {"source": {"on_missing_column": "null"}},
        [""],
        ["missing: id, value (there is no header: the input is empty)", "Deliver the input again"],
    ),
    "odd_rows": (
        KEYED,
        {},
        ["id,value", "1,1,1", "2"],
        [
            "odd_rows: 2 rows",
            "the fields of the row do not match the header: 1,1,1",
            "the fields of the row do not match the header: 2",
        ],
    ),
    "odd_json": (
        KEYED,
        {"source": {"format": "json"}},
        ['{"id": 1, "value": 1', '{"id": 2, "value": [2]}', "[]"],
        [
            "odd_json: 3 rows",
            "not a JSON object: ",
            "value: '[2]' is not accepted as int",
        ],
    ),
    "json_lines": (
        KEYED,
        {"source": {"format": "json"}},
        [  # five of them are shown
            '{"id": 6, "id": 7, "value": 1}',
            '{"id": 8, "value": "\udce9"}',
            '{"id": 1, "value": 1}{"id": 2, "value": 1}',
            '{"id": 3, "value": 1} garbage',
            '{"id": 4, "value": 1},',
            '{"id": 5, "value": 1}]',
        ],
        [
            "json_lines: 6 rows",
            "more than one JSON object in a message, or text behind it; accepted is one object",
            "a name more than once in a JSON object: ",
            "bytes that are not UTF-8: ",
        ],
    ),
    "json_column": (
        KEYED,
        {"source": {"format": "json"}},
        ['{"id": 1, "value": 1, "extra": 1}'],
        ["json_column: the columns of json files of", "unexpected: extra"],
    ),
    "json_late": (
        KEYED,
        {"source": {"format": "json"}},
        [*['{"id": 1, "value": 1}'] * 1000, '{"id": 2, "value": 1, "extra": 1}'],
        ["json_late: 1 row", "unexpected columns: extra"],
    ),
    "json_parts": (
        {"id": {"data_type": "int", "role": "key"}, "value": "array<struct<a:int>>"},
        {"source": {"format": "json"}},
        ['{"id": 1, "value": [{"a": 1}, {"a": "x"}]}'],
        ['value: \'[{"a":1},{"a":"x"}]\' is not accepted as array<struct<a:int>>'],
    ),
    "many_types": (
        TYPES,
        {},
        [
            "id,an_int,a_decimal,a_double,a_date,a_local,an_instant,a_flag,some_bytes,needed",
            "1,2147483648,12.34,1.2.3,2023-02-29,2024-01-01T00:00:00Z,yesterday,maybe,XX,",
            "2,1,1234.5,1,2024-01-01 12:00:00,x,2024-13-01,2,ABC,y",
        ],
        [
            "an_int: '2147483648' is not accepted as int",
            "a_decimal: '12.34' is not accepted as decimal(4,1)",
            "a_decimal: '1234.5' is not accepted as decimal(4,1)",
            "a_double: '1.2.3' is not accepted as double",
            "a_date: '2023-02-29' is not accepted as date",
            "a_date: '2024-01-01 12:00:00' is not accepted as date",
            "a_local: '2024-01-01T00:00:00Z' is not accepted as timestamp_ntz",
            "a_local: 'x' is not accepted as timestamp_ntz",
            "an_instant: 'yesterday' is not accepted as timestamp",
            "an_instant: '2024-13-01' is not accepted as timestamp",
            "a_flag: 'maybe' is not accepted as boolean",
            "some_bytes: 'XX' is not accepted as binary",
            "needed: null is not accepted as string not null",
        ],
    ),
    "events_tied": (
        EVENTS,
        {"load_type": "events", "events": FLAGGED},
        ["id,value,op,seq", "1,5,U,3", "1,6,U,3", "1,6,U,3", "2,7,U,3", "2,7,U,3", "1,8,U,4"],
        [
            "events_tied: 1 row of 2024-01-02 can't be accepted",
            "different events of one key have the position [1, 3]: name a tie_breaker",
            '{"operation":"update","id":1,"value":5}',
            '{"operation":"update","id":1,"value":6}',
        ],
    ),
    "events_refused": (
        EVENTS,
        {"load_type": "events", "events": FLAGGED | {"insert_only": True}},
        ["id,value,op,seq", "1,5,U,3", "2,5,I,", "3,x,I,4", ",5,I,5", "4,5,Q,6", "5,5,I,7"],
        [
            "events_refused: 5 rows of 2024-01-02 can't be accepted",
            "update in an entity that is insert_only",
            "the position in the order of events is missing",
            "value: 'x' is not accepted as int",
            "id: null is not accepted as int not null",
            "unknown operation 'Q' in op; accepted are",
        ],
    ),
    "nowhere": (
        KEYED,
        {},
        ["-"],
        [
            "nowhere: there are no csv files of",
            "' does not exist on the Spark server",
        ],
    ),
}
GUARDS = {  # as cdc_loads names them; other cases are failed_casts
    **dict.fromkeys(("bad_cast", "odd_json", "events_refused"), "null_keys, failed_casts"),
    **dict.fromkeys(
        ("new_twice", "same_twice", "same_and_changed", "delta_twice"), "duplicate_keys"
    ),
    "null_key": "null_keys",
    "other_columns": "missing_columns, unexpected_columns",
    "no_header": "missing_columns",
    "json_column": "unexpected_columns",
    "events_tied": "tied_events",
    "nowhere": "no_files",
}
LIFTED = ("json_column", "odd_rows", "odd_json", "same_twice", "same_and_changed", "delta_twice")
# What is there before, on which the cases build: most of them on one load of `rows`.
HOLDERS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "rows": (KEYED, {}, ["id,value", "1,1", "2,2"]),
    "changes": (
        DELTA,
        {"load_type": "delta", "deleted_when": "op = 'D'"},
        ["id,value,op", "1,1,I", "2,2,I"],
    ),
    "stream": (
        EVENTS,
        {"load_type": "events", "events": FLAGGED},
        ["id,value,op,seq", "1,1,I,1", "2,2,I,2"],
    ),
    "json_parts": (
        *CASES["json_parts"][:2],
        ['{"id": 1, "value": [{"a": 1}]}', '{"id": 2, "value": null}'],
    ),
    "many_types": (
        TYPES,
        {},
        [
            "id,an_int,a_decimal,a_double,a_date,a_local,an_instant,a_flag,some_bytes,needed",
            "1,2147483647,123.40,1e3,2024-02-29 00:00:00,2024-01-01 10:00:00.5,"
            '2024-01-01T10:00:00+05:30,true,00ff,""',
            "2,,,,,,,,,x",
        ],
    ),
}


def holder(name: str) -> str:
    """What a case builds on."""
    if name in HOLDERS:
        return name
    return {"delta": "changes", "events": "stream"}.get(CASES[name][1].get("load_type", ""), "rows")


@dataclass(frozen=True)
class Refused:
    """What the bad day came to: what readers see after it, and what cdc_loads says of each case."""

    outcome: Outcome
    visible: dict[str, list[tuple[Any, ...]]]
    loads: list[tuple[Any, ...]]


# variations of cases that `make test` has
VARIED = {
    *("same_and_changed", "delta_twice", "no_header", "odd_json", "json_lines", "json_late"),
    "events_tied",
}


@pytest.fixture(scope="module")
def refused(shop: Shop, request: pytest.FixtureRequest) -> Refused:
    """One good day of what cases build on, and one bad day of the cases of the tests that run."""
    params = (getattr(item, "callspec", None) for item in request.session.items)
    asked = {one.params.get("name") for one in params if one} | HOLDERS.keys()
    cases = {name: case for name, case in CASES.items() if name in asked}
    for name, (columns, settings, lines) in HOLDERS.items():
        shop.entity(name, columns, **settings)
        shop.land(name, "2024-01-01", *lines)
    shop.load("2024-01-01", *HOLDERS)
    for name, (columns, settings, lines, _) in cases.items():
        if name not in HOLDERS:
            shop.entity(name, columns, state_of=holder(name), **settings)
        if name != "nowhere":
            shop.land(name, "2024-01-02", *lines)
    outcome = shop.run("2024-01-02", *cases)
    shown = "id, operation, eff_start_date"
    visible = {name: shop.rows(f"{name}_current", shown) for name in HOLDERS}
    loads = "select entity, status, business_time, guard, message from {s}.cdc_loads"
    return Refused(outcome, visible, shop.query(loads))


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.integration] * (n in VARIED)) for n in CASES],
)
def test_bad_input_is_named_and_nothing_becomes_visible(refused: Refused, name: str) -> None:
    status = refused.outcome.status
    assert "error" in {status[f"{name}_ledger"], status.get(f"{name}_committed")}
    for part in CASES[name][3]:
        assert part in refused.outcome.output
    assert refused.visible[holder(name)] == [(1, "I", "2024-01-01"), (2, "I", "2024-01-01")]
    loads = [load[1:] for load in refused.loads if load[0] == name and load[2] == "2024-01-02"]
    guard = GUARDS.get(name, "failed_casts")
    assert [load[:3] for load in loads] == [("refused", "2024-01-02", guard)]
    message = loads[0][3]
    for part in CASES[name][3]:
        assert part in message
    if guard in ("failed_casts", "null_keys", "duplicate_keys", "unexpected_columns"):
        assert f"spark_cdc_skip_guards: [{name}.{guard}]}}'" in message


def test_the_types_of_a_good_row(shop: Shop, refused: Refused) -> None:
    shop.query("set time zone 'UTC'")
    shown = (
        "an_int, a_decimal, a_double, a_date, cast(a_local as string),"
        " cast(an_instant as string), a_flag, hex(some_bytes), needed"
    )
    found = shop.query(f"select {shown} from {{s}}.many_types_current where id = 1")
    assert [str(value) for value in found[0]] == [
        "2147483647",
        "123.4",
        "1000.0",
        "2024-02-29",
        "2024-01-01 10:00:00.5",
        "2024-01-01 04:30:00",
        "True",
        "00FF",
        "",
    ]


@pytest.mark.parametrize(
    "name", ["bad_cast", pytest.param("new_twice", marks=pytest.mark.integration)]
)
def test_the_same_command_heals_it(shop: Shop, name: str) -> None:
    """After the data is put right; what the refused load left in the ledger is seen by nobody."""
    columns, settings, lines, _ = CASES[name]
    shop.entity(name, columns, **settings)
    shop.land(name, "2024-01-01", *HOLDERS["rows"][2])
    shop.land(name, "2024-01-02", *lines)
    shop.load("2024-01-01", name)
    assert not shop.run("2024-01-02", name).success
    shop.land(name, "2024-01-02", "id,value", "1,1", "2,9", "3,3")
    shop.load("2024-01-02", name)
    assert shop.rows(f"{name}_current", "id, value, operation") == [
        (1, 1, "N"),
        (2, 9, "U"),
        (3, 3, "I"),
    ]
    loads = shop.query(
        f"select count(distinct load_id) from {{s}}.{name}_ledger"
        " where business_date = '2024-01-02'"
    )
    assert loads == [(2,)]


@pytest.mark.full
def test_what_a_lift_makes_of_refused_loads(shop: Shop) -> None:
    """Rejected rows are set aside with their text, unexpected columns ignored."""
    for name in LIFTED:
        columns, settings, lines, _ = CASES[name]
        good = HOLDERS[holder(name)][2]
        if "json" in name:
            good = ['{"id": 1, "value": 1}', '{"id": 2, "value": 2}']
        shop.entity(name, columns, rejects=True, **settings)
        shop.land(name, "2024-01-01", *good)
        shop.land(name, "2024-01-02", *lines)
    shop.load("2024-01-01", *LIFTED)
    lifts = ["unexpected_columns", "null_keys", "delta_twice.duplicate_keys"]
    lifts += [f"{name}.duplicate_keys" for name in ("same_twice", "same_and_changed")]
    lifts += [f"{name}.failed_casts" for name in ("odd_rows", "odd_json")]
    shop.load("2024-01-02", *LIFTED, spark_cdc_skip_guards=lifts)
    first = "2024-01-01"
    found = {
        name: shop.rows(f"{name}_current", "id, value, operation, eff_start_date")
        for name in LIFTED
    }
    held = [(1, 1, "X", first), (2, 2, "X", first)]
    assert found == {
        "json_column": [(1, 1, "N", first)],
        "odd_rows": held,
        "odd_json": held,
        "same_twice": [(1, 1, "X", first), (2, 2, "N", first)],
        "same_and_changed": [(1, 1, "X", first), (2, 2, "N", first)],
        "delta_twice": held,
    }
    rejected = "rejected_reason, rejected_row"
    assert shop.rows("odd_rows_rejects", f"id, {rejected}") == [
        (1, "the fields of the row do not match the header: 1,1,1", "1,1,1"),
        (2, "the fields of the row do not match the header: 2", "2"),
    ]
    broken = '{"id": 1, "value": 1'
    assert set(shop.rows("odd_json_rejects", rejected)) == {
        ("not a JSON object: []; id: null is not accepted as int not null", "[]"),
        (f"not a JSON object: {broken}; id: null is not accepted as int not null", broken),
        ("value: '[2]' is not accepted as int", '{"id":"2","value":"[2]"}'),
    }
    assert shop.query("select count(*) from {s}.delta_twice_rejects") == [(6,)]


def test_a_damaged_file_stops_the_load_whatever_the_cluster_says(shop: Shop) -> None:
    """Spark would leave out what it can't read, and its rows would count as deleted."""
    shop.entity("damaged", KEYED)
    shop.land("damaged", "2024-01-01", "id,value", "1,1", "2,2")
    shop.load("2024-01-01", "damaged")
    folder = shop.land("damaged", "2024-01-02", "id,value", "1,1")
    text = "id,value\n" + "".join(f"{number},{number * 7919}\n" for number in range(2, 500))
    whole = gzip.compress(text.encode())
    (folder / "more.csv.gz").write_bytes(whole[: len(whole) // 2])
    skips = ("ignoreCorruptFiles", "ignoreMissingFiles")
    for skip in skips:
        shop.query(f"set spark.sql.files.{skip} = true")
    outcome = shop.run("2024-01-02", "damaged")
    for skip in skips:
        shop.query(f"reset spark.sql.files.{skip}")
    assert not outcome.success
    assert "more.csv.gz" in outcome.output
    assert shop.rows("damaged_current", "id, value") == [(1, 1), (2, 2)]
    (folder / "more.csv.gz").write_bytes(whole)
    shop.load("2024-01-02", "damaged", spark_cdc_skip_guards=["inserted_share", "rows_band"])
    assert len(shop.rows("damaged_current", "id, value")) == 499


@pytest.mark.integration
def test_a_retry_of_a_refused_load_is_no_success(project: Project) -> None:
    """With dbt: the message, what readers see, and what `dbt retry` makes of it."""
    project.entity("null_key", KEYED)
    project.land("null_key", "2024-01-01", "id,value", "1,1", "2,2")
    project.load("2024-01-01", "null_key")
    project.land("null_key", "2024-01-02", "id,value", ",1", "2,2")
    refused = project.run("2024-01-02", "null_key", words=["--write-json"])
    assert refused.status["null_key_committed"] == "error"
    for part in CASES["null_key"][3]:
        assert part in refused.output
    found = project.query("select guard from {s}.cdc_loads where status = 'refused'")
    assert found == [("null_keys",)]
    retried = project.dbt("retry")
    assert not retried.success
    assert "null_key: loading 2024-01-02 again" in retried.output, retried.output
    assert "1 row of 2024-01-02 can't be accepted" in retried.output
    assert "dbt run --select tag:spark_cdc.null_key --vars" in retried.output
    assert project.rows("null_key_current", "id, operation") == [(1, "I"), (2, "I")]
    project.land("null_key", "2024-01-02", "id,value", "1,1", "2,9")
    project.load("2024-01-02", "null_key")
    assert project.rows("null_key_current", "id, value, operation") == [(1, 1, "N"), (2, 9, "U")]


def test_columns_may_be_missing_or_more_where_the_entity_says_so(shop: Shop) -> None:
    lenient = {"on_missing_column": "null", "on_unexpected_column": "ignore"}
    for name, format, lines in (
        ("lenient_csv", "csv", ["more,id", "x,1"]),
        ("lenient_json", "json", ['{"more": "x", "id": 1}']),
    ):
        shop.entity(name, KEYED, source={"format": format, **lenient})
        shop.land(name, "2024-01-01", *lines)
    shop.load("2024-01-01", "lenient_csv", "lenient_json")
    for name in ("lenient_csv", "lenient_json"):
        assert shop.rows(f"{name}_current", "id, value") == [(1, None)]


def test_typed_files_are_read_only_without_a_loss(shop: Shop) -> None:
    columns = {"id": {"data_type": "int", "role": "key"}, "value": "decimal(5,1)", "more": "string"}
    shop.entity("typed", columns, source={"format": "parquet"})
    folder = f"{shop.landing}/typed/2024-01-01"
    shop.query(
        f"insert overwrite directory '{folder}' using parquet"
        " select 1L as id, 1.5D as value, 'x' as more"
    )
    outcome = shop.run("2024-01-01", "typed")
    assert not outcome.success
    assert "types in parquet files of" in outcome.output
    assert "id is bigint, declared int" in outcome.output
    assert "value is double, declared decimal(5,1)" in outcome.output
    assert "more is" not in outcome.output
    shop.query(
        f"insert overwrite directory '{folder}' using parquet"
        " select cast(1 as smallint) as id, cast(1.5 as decimal(3, 1)) as value, 'x' as more"
    )
    shop.load("2024-01-01", "typed")
    assert [str(v) for v in shop.rows("typed_current", "id, value, more")[0]] == [
        "1",
        "1.5",
        "x",
    ]


def test_files_of_text_columns(shop: Shop) -> None:
    shop.entity("texts", KEYED, source={"format": "parquet", "text": True})
    folder = f"{shop.landing}/texts/2024-01-01"
    write = f"insert overwrite directory '{folder}' using parquet select "
    shop.query(write + "'1' as id, 7 as value")
    outcome = shop.run("2024-01-01", "texts")
    assert "value is int, declared int" in outcome.output
    assert "leave out source.text, which takes text columns only" in outcome.output
    shop.query(write + "'1' as id, '7' as value")
    shop.load("2024-01-01", "texts")
    assert shop.rows("texts_current", "id, value") == [(1, 7)]
