"""An entity's definition changes: only rows whose values differ under the new one become U."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from project import Project

pytestmark = pytest.mark.proves("schema change")

DAYS = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
KEY = {"data_type": "int", "role": "key"}
IGNORED = {"data_type": "string", "role": "untracked"}
EVENTS = {"format": "flagged_rows", "order": ["seq"], "operation": "op", "archive": True}

# What each entity looks like before the change and after it, with the settings of the latter.
ENTITIES: dict[str, dict[str, Any]] = {
    # full: added with a default, added nullable, dropped, wider, ignored that is compared now
    "goods": {
        "before": {"id": KEY, "price": "decimal(6,2)", "memo": "string", "seen": IGNORED},
        "after": {
            "id": {"data_type": "bigint", "role": "key"},
            "region": {"data_type": "string", "nullable": False, "default": "EU's"},
            "price": "decimal(12,4)",
            "seen": "string",
            "remark": "string",
        },
        "settings": {"dropped_columns": ["memo"]},
    },
    # delta: a key of another name; another name and another type; compared that is ignored now
    "parts": {
        "both": {"load_type": "delta", "deleted_when": "op = 'D'"},
        "before": {
            "id": KEY,
            "amount": "string",
            "tag": "string",
            "op": {"data_type": "string", "role": "control"},
        },
        "after": {
            "part_no": {**KEY, "renamed_from": "id"},
            "qty": {"data_type": "int", "renamed_from": "amount"},
            "tag": IGNORED,
            "op": {"data_type": "string", "role": "control"},
        },
    },
    # full: another key
    "sites": {
        "before": {"id": KEY, "code": "string", "value": "string"},
        "after": {
            "code": {"data_type": "string", "role": "key"},
            "id": "int",
            "value": "string",
        },
    },
    # events: a key of another name, another type, dropped, added
    "moves": {
        "both": {"load_type": "events", "events": EVENTS},
        "before": {
            "id": KEY,
            "amount": "string",
            "extra": "string",
            "seq": {"data_type": "bigint", "role": "control"},
        },
        "after": {
            "no": {**KEY, "renamed_from": "id"},
            "amount": {"data_type": "decimal(8,2)"},
            "added": "string",
            "seq": {"data_type": "bigint", "role": "control"},
        },
        "settings": {"dropped_columns": ["extra"]},
    },
}
LANDED = {
    "goods": [
        ["id,price,memo,seen", "1,1.50,a,x", "2,2.00,b,x", "3,3,c,x"],
        ["id,price,memo,seen", "1,1.50,a,y", "2,2.50,b,x", "4,4,d,x"],
        ["id,region,price,seen,remark", "1,EU's,1.5,y,", "2,US,2.5,x,", "4,EU's,4,z,", "5,US,5,x,"],
        ["id,area,price,seen,memo", "1,EU's,1.5,y,", "2,US,2.0001,x,", "4,EU's,4,z,new"],
    ],
    "parts": [
        ["id,amount,tag,op", "1,5,a,", "2,6,a,", "3,7,a,", "5,2,a,"],
        ["id,amount,tag,op", "2, 8,a,", "3,,,D"],
        ["part_no,qty,tag,op", "1,5,b,", "2,9,a,", "3,7,a,", "4,1,a,"],
        ["part_no,qty,tag,op", "2,,,D", "4,1,c,", "5,3,a,"],
    ],
    "sites": [
        ["id,code,value", "1,A,x", "2,B,y"],
        ["id,code,value", "1,A,z"],
        ["code,id,value", "A,1,z", "C,3,z"],
        ["code,id,value", "A,7,z", "B,2,z"],
    ],
    "moves": [
        ["id,amount,extra,op,seq", "1,5,e,I,1", "2,6,e,I,2", "3,7,e,I,3", "5,1,e,I,4"],
        ["id,amount,extra,op,seq", "1,5.5,e,U,5", "3,,,D,6"],
        ["no,amount,added,op,seq", "1,5.50,,U,7", "2,6,x,U,8", "3,,,D,6", "4,1,,I,9"],
        ["no,amount,added,op,seq", "2,,,D,10", "5,2,,U,11"],
    ],
}
# A second change on top of the first: a name that was dropped comes back, a new column is renamed.
AGAIN = {"region": None, "remark": None} | {
    "area": {"data_type": "string", "renamed_from": "region"},
    "memo": "string",
}
# What no load may do; the message that says so, and how to go on.
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "goods": (
        {"seen": None, "seem": "string"},
        "column 'seen' (compared string) is gone. If it has another name now, say so under meta of "
        "that column (renamed_from: seen)",
    ),
    "sites": (
        {"code": "string", "value": {"data_type": "string", "role": "key"}},
        "new keys that would stand for several former ones in the loads so far: 1, such as "
        '{"value":"z"}',
    ),
    "moves": (
        {"added": "int"},
        "column 'added' was string and is int, but 1 stored value does not fit, such as 'x'",
    ),
}
REKEY = {"spark_cdc_rekey": ["sites"]}


def write(project: Project, name: str, when: str, **more: Any) -> None:
    """Writes the YAML of an entity as it is `before` or `after`; more columns, None for fewer."""
    entity = ENTITIES[name]
    settings = dict(entity.get("both", {}))
    if when == "after":
        settings |= entity.get("settings", {})
    if "memo" in more:
        settings["dropped_columns"] = ["remark"]
    columns = {k: v for k, v in (entity[when] | more).items() if v is not None}
    project.entity(name, columns, **settings)
    if name == "moves":
        view = project.folder / "models/moves/moves_event_versions.sql"
        view.write_text("{{ spark_cdc.event_versions() }}\n", encoding="utf-8")


def texts(project: Project, relation: str, columns: str, where: str = "true") -> list[str]:
    """Some columns of a relation as text, a row a line."""
    listed = ", ".join(f"coalesce(cast({c} as string), '-')" for c in columns.split(", "))
    sql = f"select concat_ws(' ', {listed}) from {{s}}.{relation} where {where}"
    return sorted(row[0] for row in project.query(sql))


def state(project: Project) -> dict[str, list[Any]]:
    """What all views show."""
    return {
        f"{name}_{view}": project.rows(f"{name}_{view}", "*")
        for name in ENTITIES
        for view in ("current", "history", "versions")
    }


def manifest(project: Project, name: str) -> tuple[dict[str, Any], list[str]]:
    """The figures in an entity's manifest, and its loads."""
    found = project.timeline(name)
    return found, found["loads"]


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """Two loads under the first definition, and one under the second."""
    for name, days in LANDED.items():
        write(project, name, "before")
        for date, lines in zip(DAYS, days, strict=True):
            project.land(name, date, *lines)
    project.load(DAYS[0])
    project.load(DAYS[1])
    for name in LANDED:
        write(project, name, "after")
    project.load(DAYS[2], **REKEY)
    return project


def test_full(shop: Project) -> None:
    """Added, dropped, wider, ignored before: U where region or seen differ."""
    columns = "id, region, price, seen, remark, operation"
    assert texts(shop, "goods_current", f"{columns}, eff_start_date") == [
        "1 EU's 1.5000 y - N 2024-01-01",
        "2 US 2.5000 x - U 2024-01-03",
        "4 EU's 4.0000 z - U 2024-01-03",
        "5 US 5.0000 x - I 2024-01-03",
    ]
    assert texts(shop, "goods_history", f"business_date, {columns}") == [
        "2024-01-01 1 EU's 1.5000 x - I",
        "2024-01-01 2 EU's 2.0000 x - I",
        "2024-01-01 3 EU's 3.0000 x - I",
        "2024-01-02 2 EU's 2.5000 x - U",
        "2024-01-02 3 EU's 3.0000 x - D",
        "2024-01-02 4 EU's 4.0000 x - I",
        "2024-01-03 2 US 2.5000 x - U",
        "2024-01-03 4 EU's 4.0000 z - U",
        "2024-01-03 5 US 5.0000 x - I",
    ]
    assert texts(shop, "goods_versions", "id, price, eff_start_date, eff_end_date") == [
        "1 1.5000 2024-01-01 -",
        "2 2.0000 2024-01-01 2024-01-02",
        "2 2.5000 2024-01-02 2024-01-03",
        "2 2.5000 2024-01-03 -",
        "3 3.0000 2024-01-01 2024-01-02",
        "4 4.0000 2024-01-02 2024-01-03",
        "4 4.0000 2024-01-03 -",
        "5 5.0000 2024-01-03 -",
    ]


def test_what_was_dropped_can_be_read(shop: Project) -> None:
    old = "business_date < '2024-01-03' and operation <> 'L'"
    assert texts(shop, "goods_committed", "id, memo", old) == [
        "1 a",
        "1 a",
        "2 b",
        "2 b",
        "3 c",
        "3 c",
        "4 d",
    ]
    assert texts(shop, "goods_ledger", "id, memo", old) == texts(
        shop, "goods_committed", "id, memo", old
    )
    named = [row[0] for row in shop.query("describe {s}.goods_current")]
    assert named[:5] == ["id", "region", "price", "seen", "remark"]
    assert "memo" not in named


def test_delta(shop: Project) -> None:
    """Renamed, text that became a number, ignored now; one row not supplied."""
    columns = "part_no, qty, tag, operation, eff_start_date"
    assert texts(shop, "parts_current", columns) == [
        "1 5 b N 2024-01-01",
        "2 9 a U 2024-01-03",
        "3 7 a I 2024-01-03",
        "4 1 a I 2024-01-03",
        "5 2 a X 2024-01-01",
    ]
    assert texts(shop, "parts_versions", "part_no, qty, eff_start_date, eff_end_date") == [
        "1 5 2024-01-01 -",
        "2 6 2024-01-01 2024-01-02",
        "2 8 2024-01-02 2024-01-03",
        "2 9 2024-01-03 -",
        "3 7 2024-01-01 2024-01-02",
        "3 7 2024-01-03 -",
        "4 1 2024-01-03 -",
        "5 2 2024-01-01 -",
    ]
    assert texts(
        shop, "parts_committed", "id, amount", "business_date = '2024-01-02' and operation <> 'L'"
    ) == [
        "2 8",
        "3 7",
    ]


def test_another_key(shop: Project) -> None:
    assert texts(shop, "sites_current", "code, id, value, operation") == ["A 1 z N", "C 3 z I"]
    assert texts(shop, "sites_versions", "code, value, eff_start_date, eff_end_date") == [
        "A x 2024-01-01 2024-01-02",
        "A z 2024-01-02 -",
        "B y 2024-01-01 2024-01-02",
        "C z 2024-01-03 -",
    ]


@pytest.mark.integration
def test_events(shop: Project) -> None:
    """A repeated delete is known as such under the new key; what no event named is kept."""
    assert texts(shop, "moves_current", "no, amount, added, operation, eff_start_date") == [
        "1 5.50 - N 2024-01-02",
        "2 6.00 x U 2024-01-03",
        "4 1.00 - I 2024-01-03",
        "5 1.00 - X 2024-01-01",
    ]
    assert texts(shop, "moves_versions", "no, amount, eff_start_date, eff_end_date") == [
        "1 5.00 2024-01-01 2024-01-02",
        "1 5.50 2024-01-02 -",
        "2 6.00 2024-01-01 2024-01-03",
        "2 6.00 2024-01-03 -",
        "3 7.00 2024-01-01 2024-01-02",
        "4 1.00 2024-01-03 -",
        "5 1.00 2024-01-01 -",
    ]
    ends = "no, amount, added, element_at(event_position, -1), element_at(event_end_position, -1)"
    assert [
        f"{row[0]} {row[1]} {row[2]} {row[3]} {row[4]}"
        for row in sorted(
            shop.query(f"select {ends} from {{s}}.moves_event_versions"), key=lambda r: r[3]
        )
    ] == [
        "1 5.00 None 1 5",
        "2 6.00 None 2 8",
        "3 7.00 None 3 6",
        "5 1.00 None 4 None",
        "1 5.50 None 5 7",
        "1 5.50 None 7 None",
        "2 6.00 x 8 None",
        "4 1.00 None 9 None",
    ]
    late = "business_time like '2024-01-03%' and entity = 'moves'"
    assert texts(shop, "cdc_loads", "events_late", late) == ["1"]


def test_rows_of_a_key_have_one_hash(shop: Project) -> None:
    for name, key in {"goods": "id", "parts": "part_no", "sites": "code", "moves": "no"}.items():
        rows = shop.query(
            f"select {key} from {{s}}.{name}_committed where operation <> 'L' "
            f"group by {key} having count(distinct key_hash) > 1"
        )
        assert rows == [], name


def test_the_change_is_in_the_audit(shop: Project) -> None:
    changes = texts(shop, "cdc_loads", "entity, definition_change", "definition_change is not null")
    assert changes == [
        "goods id int to bigint; added region compared string default EU's; price decimal(6,2) to "
        "decimal(12,4); seen untracked to compared; added remark compared string; dropped memo",
        "moves renamed id to no; amount string to decimal(8,2); added added compared string; "
        "dropped extra",
        "parts renamed id to part_no; renamed amount to qty; qty string to int; "
        "tag compared to untracked",
        "sites code compared to key; id key to compared",
    ]
    counted = (
        "entity, rows_inserted, rows_updated, rows_unchanged, rows_not_supplied, is_checkpoint"
    )
    assert texts(shop, "cdc_loads", counted, "business_time = '2024-01-03'") == [
        "goods 1 2 1 0 true",
        "moves 1 1 1 1 true",
        "parts 2 1 1 1 true",
        "sites 1 0 1 0 true",
    ]
    note = shop.query(
        "select cdc__note from {s}.parts_ledger"
        " where operation = 'L' and business_date = '2024-01-03'"
    )
    assert json.loads(note[0][0])["definition"] == {
        "hash specification": "version 1",
        "part_no": "key int",
        "qty": "compared int",
        "tag": "untracked string",
    }


def test_what_is_refused(shop: Project) -> None:
    seen = state(shop)
    for name, (columns, _) in REFUSED.items():
        write(shop, name, "after", **columns)
    shop.land("parts", DAYS[3], "part_no,qty,tag,op", "4,1,c,", "4,2,c,")
    outcome = shop.run(DAYS[3], **REKEY)
    shop.land("parts", DAYS[3], *LANDED["parts"][3])
    assert not outcome.success
    assert "parts: 1 key comes more than once" in outcome.output
    assert "part_no = 4 (2 rows)" in outcome.output
    for name, (_, message) in REFUSED.items():
        assert f"{name}: the columns have changed since the last load" in outcome.output
        assert message in re.sub(r"\s+", " ", outcome.output), name
    assert state(shop) == seen
    refused = texts(shop, "cdc_loads", "entity, guard", "status = 'refused'")
    assert refused[0] == "goods definition"
    assert refused[-1] == "sites definition"


@pytest.mark.integration
def test_the_load_is_repeated(shop: Project) -> None:
    """It begins again from the loads before the change."""
    for name in LANDED:
        write(shop, name, "after")
    seen, (figures, loads) = state(shop), manifest(shop, "moves")
    shop.load(DAYS[2], "moves")
    assert state(shop) == seen
    assert manifest(shop, "moves")[0]["layout"] == figures["layout"]
    assert len(manifest(shop, "moves")[1]) == len(loads) == 3


@pytest.mark.full
def test_loads_go_on(shop: Project) -> None:
    """Three as always; goods with another change on top."""
    write(shop, "goods", "after", **AGAIN)
    outcome = shop.load(DAYS[3])
    assert "goods_ledger gets the columns memo__2 string. Sessions that have" in outcome.output
    shop.query("refresh table {s}.goods_ledger")  # as the message says
    columns = "id, area, price, seen, memo, operation, eff_start_date"
    assert texts(shop, "goods_current", columns) == [
        "1 EU's 1.5000 y - N 2024-01-01",
        "2 US 2.0001 x - U 2024-01-04",
        "4 EU's 4.0000 z new U 2024-01-04",
    ]
    history = texts(shop, "goods_history", "business_date, id, area, memo", "operation = 'U'")
    assert history == [
        "2024-01-02 2 EU's -",
        "2024-01-03 2 US -",
        "2024-01-03 4 EU's -",
        "2024-01-04 2 US -",
        "2024-01-04 4 EU's new",
    ]
    assert texts(shop, "parts_current", "part_no, qty, tag, operation, eff_start_date") == [
        "1 5 b X 2024-01-01",
        "3 7 a X 2024-01-03",
        "4 1 c N 2024-01-03",
        "5 3 a U 2024-01-04",
    ]
    assert texts(shop, "sites_current", "code, id, value, operation") == ["A 7 z U", "B 2 z I"]
    assert texts(shop, "moves_current", "no, amount, added, operation") == [
        "1 5.50 - X",
        "4 1.00 - X",
        "5 2.00 - U",
    ]
    checkpoints = texts(shop, "cdc_loads", "entity, is_checkpoint", "business_time = '2024-01-04'")
    assert checkpoints[0] == "goods true"


@pytest.mark.full
def test_verify_finds_nothing(shop: Project) -> None:
    """It follows keys and values across both changes."""
    outcome = shop.dbt("test", "--select", "tag:spark_cdc_verify")
    assert outcome.success, outcome.output
    assert "ledger_rows_consistent_goods" in outcome.output


@pytest.mark.integration
def test_a_wider_type_alone_reaches_the_views(shop: Project) -> None:
    """No name changes, so no view has another text: its columns have another type all the same."""
    big = 3_000_000_000  # more than an int holds
    shop.entity("wide", {"id": KEY, "amount": "int"})
    shop.land("wide", DAYS[0], "id,amount", "1,1", "2,2")
    shop.land("wide", DAYS[1], "id,amount", "1,1", f"2,{big}", f"{big},3")
    shop.load(DAYS[0], "wide")
    shop.entity("wide", {"id": {"data_type": "bigint", "role": "key"}, "amount": "bigint"})
    shop.load(DAYS[1], "wide")
    changed = [(2, big, "U"), (big, 3, "I")]
    assert shop.rows("wide_current", "id, amount, operation") == [(1, 1, "N"), *changed]
    for view in ("history", "versions"):
        assert shop.rows(f"wide_{view}", "id, amount, operation") == [
            (1, 1, "I"),
            (2, 2, "I"),
            *changed,
        ]


@pytest.mark.full
def test_a_replay_goes_back_behind_the_change(shop: Project) -> None:
    """The past is loaded anew under today's definition: as if that had come with its first date."""
    before, after = {"id": KEY, "name": "string"}, {"id": KEY, "name": "string", "extra": "string"}
    seldom = {"checkpoint": {"loads": 2, "changed_share": 1000}}
    both, asked = ("corrected", "correct"), {"spark_cdc_replay": {"from": DAYS[1]}}
    for name in both:
        shop.entity(name, before, **seldom)
        shop.land(name, DAYS[0], "id,name", "1,a", "2,b", "3,c")
    shop.land("corrected", DAYS[1], "id,name", "1,a", "2,WRONG", "3,c")
    shop.load(DAYS[0], *both)
    shop.load(DAYS[1], "corrected")
    for name in both:
        shop.entity(name, after, **seldom)
        shop.land(name, DAYS[2], "id,name,extra", "1,a,x", "2,bb,", "4,d,z")
    shop.load(DAYS[2], "corrected")
    for name in both:
        shop.land(name, DAYS[1], "id,name,extra", "1,a,", "2,bb,", "3,c,")

    def shown(name: str) -> list[list[tuple[Any, ...]]]:
        row = "id, name, extra, operation"
        return [
            shop.rows(f"{name}_current", f"{row}, eff_start_date"),
            shop.rows(f"{name}_history", f"{row}, business_date"),
            shop.rows(f"{name}_versions", f"{row}, eff_start_date, eff_end_date"),
        ]

    wrong = shown("corrected")
    for day in DAYS[1:3]:
        shop.load(day, "correct")
        shop.load(day, "corrected", **asked)
        assert shown("corrected") == wrong
    published = shop.operate("publish_replay")
    assert published.success, published.output
    assert shown("corrected") == shown("correct") != wrong
    verified = shop.dbt("test", "--select", "corrected_committed,tag:spark_cdc_verify")
    assert verified.success, verified.output
