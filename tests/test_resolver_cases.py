"""The cases of resolver_cases.yml: many in one load, each with keys and a report of its own.

Cases are resolved by a load that knows what its events are like, and (but for the first load and
truncates) once more by one in which everything may occur.
"""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from project import INTERPRETED
from spark_cdc import server as local_server
from spark_cdc.macros import load_macros
from warehouse import query_runner

Case = dict[str, Any]
PATHS: dict[str, list[Case]] = yaml.safe_load(
    (Path(__file__).parent / "resolver_cases.yml").read_text(encoding="utf-8")
)
ENTITY = {
    "name": "stg_customers",
    "config": {
        "meta": {
            "spark_cdc": {
                "load_type": "events",
                "events": {"format": "change_arrays"},
                "source": {"format": "json", "path": "landing/{business_date}"},
            }
        }
    },
    "columns": [
        {"name": "case_name", "data_type": "string", "config": {"meta": {"role": "key"}}},
        {"name": "id", "data_type": "int", "config": {"meta": {"role": "key"}}},
        {"name": "name", "data_type": "string"},
        {"name": "city", "data_type": "string"},
    ],
}
# What the events of a load are like (macro _event_summary), by path.
WHOLE_ROWS = {
    "event_count": 9,
    "deletes": True,
    "partial": False,
    "moves": False,
    "splits": False,
    "alternates": False,
    "conflicts": False,
    "late_possible": True,
    "truncates": False,
    "truncated": None,
    "rejected": 0,
}
SUMMARIES: dict[str, dict[str, Any]] = {
    "first load": WHOLE_ROWS,
    "whole rows": WHOLE_ROWS,
    "truncated": {**WHOLE_ROWS, "truncates": True, "truncated": [1, 60]},
    "after a truncate": {**WHOLE_ROWS, "truncated": [1, 60]},
    "partial rows": {**WHOLE_ROWS, "partial": True},
    "moving keys": {**WHOLE_ROWS, "moves": True},
    "moving partial rows": {**WHOLE_ROWS, "moves": True, "partial": True},
}
EVERYTHING = "everything possible"
SUMMARIES[EVERYTHING] = WHOLE_ROWS | dict.fromkeys(
    ("partial", "moves", "splits", "conflicts"), True
)
LOADS = PATHS | {
    EVERYTHING: [
        case
        for path, cases in PATHS.items()
        if path != "first load" and not SUMMARIES[path]["truncated"]
        for case in cases
    ]
}
LINES = "array<struct<case_name: string, event: string>>"
EVENT = "op string, at bigint, tx string, id int, old int, name string, city string"
FIRST_LOAD = "20240301-ec-00000000"
COLUMNS = "case_name, id, name, city, operation, eff_start_date, note"


def key_hash(key: str) -> str:
    return f"unhex(md5(concat(case_name, '/', {key})))"


def events_sql(cases: list[Case]) -> str:
    """The events as <entity>_events has them; a truncate, which hits all cases, belongs to none."""
    lines = [
        (None if event["op"] == "truncate" else case["name"], event)
        for case in cases
        for event in case["events"]
    ]
    values = json.dumps([{"case_name": name, "event": json.dumps(event)} for name, event in lines])
    return f"""(
        select
            sent.op as event_op,
            array(if(sent.op = 'read', 0L, 1L), sent.at) as event_position,
            concat(case_name, '/', sent.tx) as event_transaction,
            cast(null as timestamp) as event_time,
            xxhash64(
                case_name, sent.op, to_json(struct(sent.id, sent.old, sent.name, sent.city)),
                absent, unavailable
            ) as event_hash,
            {key_hash("sent.id")} as key_hash,
            {key_hash("sent.old")} as old_key_hash,
            if(sent.old is not null, case_name, null) as old__case_name,
            sent.old as old__id,
            case_name,
            sent.id,
            nullif(sent.name, '?') as name,
            nullif(sent.city, '?') as city,
            if(
                size(absent) > 0 and sent.op not in ('delete', 'truncate', 'control'), absent, null
            ) as event_absent,
            if(size(unavailable) > 0, unavailable, null) as event_unavailable,
            cast(null as array<string>) as event_unexpected,
            cast(null as string) as note
        from (
            select
                *,
                from_json(event, '{EVENT}') as sent,
                array_except(array('name', 'city'), json_object_keys(event)) as absent,
                filter(
                    array('name', 'city'),
                    each -> coalesce(from_json(event, 'map<string, string>')[each] = '?', false)
                ) as unavailable
            from (
                select inline(from_json(r'{values}', '{LINES}'))
            )
        )
    )"""


def prior_sql(cases: list[Case]) -> str:
    """The ledger before the load: for each case Alice, Bob and Carol, and the deleted Dora."""
    names = ", ".join(f"'{case['name']}'" for case in cases)
    return f"""(
        select
            case_name,
            id,
            name,
            city,
            {key_hash("id")} as key_hash,
            unhex(md5(concat(
                coalesce(concat(',4:city=s', length(city), ':', city), ''),
                ',4:name=s', length(name), ':', name
            ))) as nonkey_hash,
            date'2024-03-01' as eff_start_date,
            array(1L, at) as event_position,
            cast(null as string) as note,
            date'2024-03-01' as business_date,
            '{FIRST_LOAD}' as load_id,
            operation
        from (select explode(array({names})) as case_name)
        cross join (
            values
                (1, 'Alice', 'Aachen', 10L, 'I'),
                (2, 'Bob', 'Bonn', 20L, 'I'),
                (3, 'Carol', cast(null as string), 30L, 'I'),
                (4, 'Dora', 'Dresden', 40L, 'T')
            as people(id, name, city, at, operation)
        )
    )"""


@pytest.fixture(scope="module")
def resolved(server: Any) -> Any:
    """What a load writes for the cases of a path: a list of rows for each of them."""
    connection = local_server.connect(server.port)
    cursor = connection.cursor()
    for name, value in INTERPRETED.items():
        cursor.execute(f"set {name} = {value}")
    macros = load_macros(entity_node=lambda name: ENTITY, invocation_id="none", local_md5=str)

    @functools.cache
    def rows(load: str) -> dict[str, list[Case]]:
        cases = LOADS[load]
        entity = macros._entity("customers")
        first = load == "first load"
        before = {"loads": [FIRST_LOAD], "rows": 3 * len(cases), "log_rows": 0}
        manifest = macros._empty_manifest() | ({} if first else before)
        run = {
            "entity": entity,
            "load": macros._plan_load(
                entity, manifest, datetime.datetime(2024, 3, 1 if first else 2)
            ),
            "prior": prior_sql(cases),
            "broadcast": True,
        }
        sql = macros._tag_events_sql(run, events_sql(cases), SUMMARIES[load])
        of_case: dict[str, list[Case]] = {case["name"]: [] for case in cases}
        for row in query_runner(cursor)(f"select {COLUMNS} from ({sql}) as written").rows:
            of_case[row.pop("case_name")].append(row)
        return of_case

    yield rows
    connection.close()


@pytest.mark.parametrize(
    ("load", "case"),
    [
        pytest.param(load, case, id=f"{case['name']} ({load})")
        for load, cases in LOADS.items()
        for case in cases
    ],
)
def test_the_ledger_gets(
    resolved: Callable[[str], dict[str, list[Case]]], load: str, case: Case
) -> None:
    def texts(rows: list[Case]) -> list[tuple[str, ...]]:
        named = case["rows"][0] if case["rows"] else {}
        return sorted(tuple(str(row[name]) for name in named) for row in rows)

    assert texts(resolved(load)[case["name"]]) == texts(case["rows"])


def test_names_are_their_own() -> None:
    names = [case["name"] for cases in PATHS.values() for case in cases]
    assert len(names) == len(set(names)) == 63
    assert set(LOADS) == set(SUMMARIES)
