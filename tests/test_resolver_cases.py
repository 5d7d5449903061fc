"""The cases of resolver_cases.yml: many in one load, each with keys and a report of its own.

Cases are resolved by a load that knows what its events are like, and (but for the first load and
truncates) once more by one in which everything may occur.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from project import INTERPRETED
from rendered_sql import manifest_of
from spark_cdc.jinja_bridge import Macros, load_macros
from spark_cdc.server import local as local_server
from warehouse import query_runner

pytestmark = pytest.mark.proves("change events")

Case = dict[str, Any]
PATHS: dict[str, list[Case]] = yaml.safe_load(
    (Path(__file__).parent / "resolver_cases.yml").read_text(encoding="utf-8")
)
FIRST_LOAD, SECOND_LOAD = "20240301-ec-00000000", "20240302-e-00000000"
PEOPLE = [
    "1, 'Alice', 'Aachen', 10L, date'2024-03-01', '20240301-ec-00000000', 'I'",
    "2, 'Bob', 'Bonn', 20L, date'2024-03-01', '20240301-ec-00000000', 'I'",
    "3, 'Carol', cast(null as string), 30L, date'2024-03-01', '20240301-ec-00000000', 'I'",
    "4, 'Dora', 'Dresden', 40L, date'2024-03-01', '20240301-ec-00000000', 'T'",
]
# What the events of a load are like (macro _event_summary).
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
TRUNCATED = {"truncates": True, "truncated": [1, 60]}


@dataclass(frozen=True)
class Load:
    """What the loads of a path have in common.

    summary: what differs from whole rows; key: columns beside case_name, or the position; events:
    settings; since: rows of a second load, and of one that was never committed.
    """

    summary: dict[str, Any] = field(default_factory=dict)
    date: datetime.datetime = datetime.datetime(2024, 3, 2)
    is_checkpoint: bool = False
    key: tuple[str, ...] = ("id",)
    events: dict[str, Any] = field(default_factory=dict)
    since: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether only the summary tells it from others, so that a load of everything may hold it.

        Where keys may move, a conflict is of the key's end, and no later event stands beside it.
        """
        differs = dataclasses.replace(self, summary={}) != Load()
        return not (differs or self.summary.get("truncated") or self.summary.get("conflicts"))

    @property
    def node(self) -> dict[str, Any]:
        """The YAML of the entity."""
        keys = self.key if self.key == ("at",) else ("case_name", *self.key)
        types = {"case_name": "string", "id": "int", "name": "string", "city": "string"}
        if "case_name" not in keys:
            del types["id"]
        settings = {
            "load_type": "events",
            "events": {"format": "change_arrays", **self.events},
            "source": {"format": "json", "path": "landing/{business_date}"},
        }
        columns = [
            {
                "name": name,
                "data_type": data_type,
                "config": {"meta": {"role": "key"} if name in keys else {}},
            }
            for name, data_type in types.items()
        ]
        return {
            "name": "stg_customers",
            "config": {"meta": {"spark_cdc": settings}},
            "columns": columns,
        }


FIRST = datetime.datetime(2024, 3, 1)
EVERY_KIND = {"partial": True, "moves": True, "splits": True, "rejected": 1}
EVERYTHING = "everything possible"
LOADS = {
    "first load": Load(date=FIRST),
    "whole rows": Load(),
    "rejected events": Load({"rejected": 1}),
    "different events at one position": Load({"conflicts": True}),
    "after a load since the checkpoint": Load(
        date=datetime.datetime(2024, 3, 3),
        since=(
            f"1, 'Alice', 'Aachen', 60L, date'2024-03-02', '{SECOND_LOAD}', 'D'",
            "5, 'Eve', 'Essen', 70L, date'2024-03-02', '20240302-e-deadbeef', 'I'",
        ),
    ),
    "checkpoint": Load(is_checkpoint=True),
    "checkpoint a month later": Load(is_checkpoint=True, date=datetime.datetime(2024, 4, 1)),
    "truncated": Load(TRUNCATED),
    "truncated checkpoint": Load(TRUNCATED, is_checkpoint=True),
    "truncated partial rows": Load({**TRUNCATED, "partial": True}),
    "after a truncate": Load({"truncated": [1, 60]}),
    "partial rows": Load({"partial": True}),
    "moving keys": Load({"moves": True}),
    "moving partial rows": Load({"moves": True, "partial": True}),
    "partial rows that move as deletes and inserts": Load({"splits": True, "partial": True}),
    "moving parts of keys": Load({"moves": True, "partial": True}, key=("id", "name")),
    "everything at a checkpoint": Load(EVERY_KIND, is_checkpoint=True),
    "named by another unique key": Load(
        {"alternates": True}, events={"unique_keys": [["case_name", "name"]]}
    ),
    "named by another unique key, partial rows": Load(
        {"alternates": True, "partial": True}, events={"unique_keys": [["case_name", "name"]]}
    ),
    "insert only": Load({"deletes": False}, key=("at",), events={"insert_only": True}),
    EVERYTHING: Load({**EVERY_KIND, "conflicts": True}),
}
CASES = PATHS | {
    EVERYTHING: [case for path, cases in PATHS.items() if LOADS[path].is_plain for case in cases]
}
LINES = "array<struct<case_name: string, event: string>>"
EVENT = (
    "op string, at bigint, tx string, id int, old int, old_name string, name string, city string,"
    " problem string"
)
SHOWN = "case_name, {id} as id, name, city, operation, eff_start_date, cdc__note, event_position"
HASHED = "lower(hex(nonkey_hash)) as nonkey_hash"


def key_hash(*parts: str) -> str:
    return f"unhex(md5(concat_ws('/', case_name, {', '.join(parts)})))"


def key_hash_or_null(*parts: str) -> str:
    return f"if({parts[0]} is null, null, {key_hash(*parts)})"


def name_hash(macros: Macros, name: str) -> str:
    """The hash of the unique key (case_name, name)."""
    named = {"case_name": "case_name", "name": name}
    columns = [{"name": n, "data_type": "string", "sql": sql} for n, sql in named.items()]
    return str(macros._alternate_hash(columns))


def events_sql(macros: Macros, load: Load, cases: list[Case]) -> str:
    """The events as <entity>_events has them; a truncate, which hits all cases, belongs to none."""
    lines = [
        (None if event["op"] == "truncate" else case["name"], event)
        for case in cases
        for event in case["events"]
    ]
    values = json.dumps([{"case_name": name, "event": json.dumps(event)} for name, event in lines])
    olds = {"id": "sent.old", "name": "sent.old_name", "at": "cast(null as bigint)"}
    by_name = "unique_keys" in load.events
    return f"""(
        select
            sent.op as event_op,
            array(if(sent.op = 'read', 0L, 1L), sent.at) as event_position,
            concat(case_name, '/', sent.tx) as event_transaction,
            cast(null as timestamp) as event_time,
            xxhash64(
                case_name, sent.op,
                to_json(struct(sent.id, sent.old, sent.old_name, sent.name, sent.city)),
                absent, unavailable
            ) as event_hash,
            {key_hash_or_null(*(f"sent.{part}" for part in load.key))} as key_hash,
            {key_hash_or_null(*(olds[part] for part in load.key))} as old_key_hash,
            {name_hash(macros, "sent.old_name") if by_name else "null"} as old_alternate_hash,
            array_compact(array({name_hash(macros, "sent.name") if by_name else "null"}))
                as alternate_hashes,
            if(sent.old is not null, case_name, null) as cdc__old_case_name,
            sent.old as cdc__old_id,
            if(sent.old is not null, sent.old_name, null) as cdc__old_name,
            case_name,
            sent.id,
            nullif(sent.name, '?') as name,
            nullif(sent.city, '?') as city,
            if(
                size(absent) > 0 and sent.op not in ('delete', 'truncate', 'control'), absent, null
            ) as event_absent,
            if(size(unavailable) > 0, unavailable, null) as event_unavailable,
            cast(null as array<string>) as event_unexpected,
            sent.problem as cdc__note
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


def prior_sql(load: Load, cases: list[Case]) -> str:
    """The ledger before the load: for each case Alice, Bob and Carol, and the deleted Dora."""
    names = ", ".join(f"'{case['name']}'" for case in cases)
    return f"""(
        select
            case_name,
            id,
            name,
            city,
            {key_hash(*load.key)} as key_hash,
            unhex(md5(concat(
                coalesce(concat(',4:city=s', length(city), ':', city), ''),
                ',4:name=s', length(name), ':', name
            ))) as nonkey_hash,
            business_date as eff_start_date,
            array(1L, at) as event_position,
            cast(null as string) as cdc__note,
            business_date,
            load_id,
            operation
        from (select explode(array({names})) as case_name)
        cross join (
            values {", ".join(f"({row})" for row in (*PEOPLE, *load.since))}
            as people(id, name, city, at, business_date, load_id, operation)
        )
    )"""


@pytest.fixture(scope="module")
def resolved(server: Any) -> Any:
    """What a load writes for the cases of a path: a list of rows for each of them."""
    connection = local_server.connect(server.port)
    cursor = connection.cursor()
    for name, value in INTERPRETED.items():
        cursor.execute(f"set {name} = {value}")
    node: dict[str, Any] = {}
    macros = load_macros(entity_node=lambda name: node, invocation_id="none", local_md5=str)

    @functools.cache
    def rows(path: str) -> dict[str, list[Case]]:
        cases, load = CASES[path], LOADS[path]
        node.clear()
        node.update(load.node)
        entity = macros._entity("customers")
        manifest = macros._empty_manifest()
        if load.date != FIRST:
            loads = [FIRST_LOAD, *([SECOND_LOAD] if load.since else [])]
            manifest = manifest_of(macros, loads, rows=3 * len(cases))
        if load.is_checkpoint:
            entity = entity | {"checkpoint": entity["checkpoint"] | {"loads": 0}}
        planned = macros._plan_load(entity, manifest, load.date)
        assert planned["is_checkpoint"] is (load.is_checkpoint or load.date == FIRST)
        run = {
            "entity": entity,
            "load": planned,
            "prior": prior_sql(load, cases),
            "broadcast": True,
        }
        sql = macros._classify_events_sql(
            run, events_sql(macros, load, cases), {**WHOLE_ROWS, **load.summary}
        )
        shown = SHOWN.format(id="id" if "at" not in load.key else "null")
        of_case: dict[str, list[Case]] = {case["name"]: [] for case in cases}
        for row in query_runner(cursor)(f"select {shown}, {HASHED} from ({sql}) as written").rows:
            of_case[row.pop("case_name")].append(row)
        return of_case

    yield rows
    connection.close()


@pytest.mark.parametrize(
    ("load", "case"),
    [
        pytest.param(load, case, id=f"{case['name']} ({load})")
        for load, cases in CASES.items()
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
    assert len(names) == len(set(names)) == 88
    assert set(CASES) == set(LOADS)
