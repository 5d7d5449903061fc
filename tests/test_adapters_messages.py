"""Adapters of change-event formats that come as JSON messages: what becomes of each message.

Each file of messages in event_formats/<format> goes through its adapter on a server; the format's
expected.yml has the events, and the settings where a file needs some.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from spark_cdc.jinja_bridge import MACROS, ROOT, Macros, Node, load_macros, load_macros_of

pytestmark = pytest.mark.proves("event formats")

FIXTURES = Path(__file__).parent / "event_formats"
FORMATS = ["canal", "change_arrays", "dms_stream", "goldengate", "maxwell", "wal2json"]
EVENT = ["op", "position", "transaction", "time", "problem", "before", "after"]
ROW = "named_struct('message', message) as landed_row"
# what parts two messages in one
BETWEEN = ("", " ", " x ", " , ", ",", ",\n", "\n", "\t", "\r\n  ", "x", ',"x",')
COLUMNS = [
    {"name": "id", "data_type": "bigint", "meta": {"role": "key"}},
    {"name": "name", "data_type": "string"},
]


def described(
    settings: dict[str, Any], columns: list[dict[str, Any]]
) -> tuple[Macros, dict[str, Any]]:
    """The macros, and the entity `people` as they see it; its settings have to be accepted."""
    macros, node = load_macros_of("people", settings, columns)
    assert macros._event_problems(node, settings) == []
    return macros, macros._entity("people")


def events(
    cursor: Any, settings: dict[str, Any], columns: list[dict[str, Any]], messages: list[str]
) -> list[dict[str, Any]]:
    """What the adapter makes of messages: for each event the columns that are not null."""
    macros, entity = described(settings, columns)
    rows = ", ".join(f"({macros._literal(message)}, cast(null as string))" for message in messages)
    landed = f"(select *, {ROW} from values {rows} as landed (message, message_key))"
    query = macros["_events_" + settings["events"]["format"]](entity, landed)
    cursor.execute(
        "select event_op, cast(event_position as string), event_transaction,"
        " cast(timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0,"
        " unix_micros(event_time) / cast(1000000 as decimal(7, 0))) as string), event_problem,"
        " to_json(event_before, map('ignoreNullFields', 'false')),"
        f" to_json(event_after, map('ignoreNullFields', 'false')) from ({query})"
    )
    found = []
    for row in cursor.fetchall():
        event = {name: value for name, value in zip(EVENT, row, strict=True) if value is not None}
        if "position" in event:
            event["position"] = ast.literal_eval(event["position"])
        for image in ("before", "after"):
            if image in event:
                event[image] = json.loads(event[image])
        found.append(event)
    return found


def expected(name: str) -> dict[str, Any]:
    """The cases of a format."""
    return yaml.safe_load((FIXTURES / name / "expected.yml").read_text(encoding="utf-8"))


CASES = [(name, case) for name in FORMATS for case in expected(name)]


@pytest.mark.parametrize(("name", "case"), CASES, ids=["-".join(case) for case in CASES])
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_messages_become_events(cursor: Any, name: str, case: str, ansi: str) -> None:
    wanted = expected(name)[case]
    messages = (FIXTURES / name / f"{case}.json").read_text(encoding="utf-8").split("\n")[:-1]
    settings = {
        "load_type": "events",
        "events": {"format": name, **wanted.get("events", {})},
        "source": {"format": "json"},
        "timezone": wanted.get("timezone", "UTC"),
    }
    cursor.execute(f"set spark.sql.ansi.enabled = {ansi}")
    cursor.execute("set spark.sql.session.timeZone = Asia/Kolkata")
    assert events(cursor, settings, wanted.get("columns", COLUMNS), messages) == wanted["expected"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_file_has_a_case(name: str) -> None:
    assert {path.stem for path in (FIXTURES / name).glob("*.json")} == set(expected(name))


def update_of(name: str, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """An update as a format has it: of Canal the second row of its message."""
    about = {"operation": "update", "record-type": "data"}
    return {
        "canal": {"type": "UPDATE", "id": 1, "data": [{"id": "0"}, new], "old": [{"id": "0"}, old]},
        "debezium": {"op": "u", "before": old, "after": new, "source": {"lsn": 1}},
        "dms_stream": {"data": new, "before-image": old, "metadata": about, "offset": 1},
        "maxwell": {"type": "update", "position": "bin.1:1", "data": new, "old": old},
    }[name]


NULLS_SENT = {"order_fields": ["offset"], "nulls": "sent"}
NULLS_OMITTED = NULLS_SENT | {"nulls": "omitted"}


@pytest.mark.parametrize(
    ("name", "more", "labels"),
    [
        ("canal", {}, ("old", "data")),
        ("debezium", {}, ("before", "after")),
        ("dms_stream", NULLS_SENT, ("before-image", "data")),
        ("dms_stream", NULLS_OMITTED, None),
        ("maxwell", {}, ("old", "data")),
    ],
    ids=["canal", "debezium", "dms, nulls sent", "dms, nulls omitted", "maxwell"],
)
def test_an_image_that_contradicts_itself_is_refused(
    cursor: Any, name: str, more: dict[str, Any], labels: tuple[str, str] | None
) -> None:
    """The old one has columns that the new one lacks: did they change?"""
    settings = {"load_type": "events", "source": {"format": "json"}}
    settings["events"] = {"format": name, **more}
    messages = [
        update_of(name, {"name": "x", "remark": "x"}, {"id": "1", "age": "7"}),
        update_of(name, {"id": "2", "name": "x"}, {"id": "1", "name": None}),
        update_of(name, {}, {"id": "1", "name": "a"}),
    ]
    found = events(cursor, settings, COLUMNS, [json.dumps(message) for message in messages])
    if name == "canal":
        found = found[1::2]
    problems = [event.get("problem", "").partition(";")[0] for event in found]
    wanted = "" if labels is None else "in {}, but not in {}: name, remark".format(*labels)
    assert problems == [wanted, "", ""]


def test_a_reader_that_filters_parses_once(cursor: Any) -> None:
    for name in FORMATS:
        macros, entity = described(
            {"load_type": "events", "events": {"format": name}, "source": {"format": "json"}},
            COLUMNS,
        )
        landed = (
            f"(select *, {ROW} from (select cast(id as string) as message, null as message_key"
            " from range(9))) as landed"
        )
        query = macros[f"_events_{name}"](entity, landed.removesuffix(" as landed"))
        cursor.execute(
            f"explain select * from ({query}) where event_op <> 'control' and event_problem is null"
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
        assert plan.count("unparsable,StringType") == 1, plan


@pytest.mark.parametrize("name", [*FORMATS, "debezium"])
def test_nothing_behind_a_message_is_dropped_unseen(cursor: Any, name: str) -> None:
    told = yaml.safe_load((FIXTURES / name / "story.yml").read_text(encoding="utf-8"))
    path = FIXTURES / name / "story" / "2024-05-01" / "story.json"
    lines = path.read_text(encoding="utf-8").splitlines()
    good = [*lines[:4], f"{lines[0]}  ", f"{lines[0]}\t"]
    bad = [lines[0] + between + lines[1] for between in BETWEEN]
    bad += [f"{lines[0]} and more", f"{lines[0]},", f"{lines[0]} []", f"{lines[0]} 1"]
    other = [lines[0][:-9], f"[{lines[0]}]", f"[{lines[0]},{lines[1]}]"]
    found = events(cursor, told["settings"], told["columns"], [*good, *bad, *other])
    assert not [event for event in found[: len(good)] if "problem" in event]
    assert [event["problem"] for event in found[len(good) : -len(other)]] == [
        "more than one JSON object in a message, or text behind it; accepted is one object a line"
    ] * len(bad)
    for event in found[-len(other) :]:
        assert event["problem"].startswith("not a JSON object")


def test_names_beyond_the_columns_are_seen_beside_what_lies_beside_the_message(cursor: Any) -> None:
    order = {"name": "seq", "data_type": "bigint", "meta": {"role": "control"}}
    settings = {
        "load_type": "events",
        "events": {"format": "debezium", "tie_breaker": ["seq"]},
        "source": {"format": "json"},
    }
    macros, entity = described(settings, [*COLUMNS, order])
    twice, other = "a name more than once in a JSON object", "unexpected columns: other"
    images = {  # whether the row is new or old, and what is wrong with it
        '{"id":1,"name":"x"}': ("after", None),
        '{"id":1,"name":"x","seq":5}': ("after", None),
        '{"id":1}': ("after", None),
        '{"id":1,"name":"x","other":2}': ("after", other),
        '{"id":1,"name":"x","seq":5,"other":2}': ("after", other),
        '{"id":1,"other":2}': ("after", other),
        '{"id":1,"name":"x","name":"x"}': ("after", twice),
        '{"id":1,"id":1}': ("after", twice),
        '{"id":1,"name":null,"name":null,"seq":5}': ("after", twice),
        '{"name":"x","id":1,"id":1}': ("before", twice),
        '{"id":1,"name":"x","other":2}  ': ("before", None),
    }
    source = '"source":{"connector":"postgresql","lsn":5}'
    rows = []
    for image, (which, _) in images.items():
        op = {"after": "c", "before": "d"}[which]
        message = f'{{"op":"{op}","{which}":{image},{source}}}'
        rows.append(f"({macros._literal(message)}, cast(null as string), '7')")
    landed = f"(select * from values {', '.join(rows)} as landed (message, message_key, seq))"
    cursor.execute(
        "select array_join(from_json(cdc__note, 'reasons array<string>').reasons, '; ')"
        f" from ({macros._stage_events_sql(entity, landed)})"
    )
    assert [row[0] for row in cursor.fetchall()] == [problem for _, problem in images.values()]


@pytest.mark.parametrize("is_kept", [True, False])
def test_events_that_are_read_once_are_written_without_dictionaries(is_kept: bool) -> None:
    columns = [{"at_sql": "key_hash", "data_type": "binary"}]
    sql = load_macros()._create_table_sql("t", columns, "parquet", ["d"], ["key_hash"], is_kept)
    assert "`parquet.enable.dictionary#key_hash` 'false'" in sql
    assert ("`parquet.enable.dictionary` 'false'" in sql) != is_kept


def test_fields_that_a_message_does_not_have_are_refused() -> None:
    settings = {
        "load_type": "events",
        "events": {"format": "change_arrays", "fields": {"names": "cols"}},
        "source": {"format": "json"},
    }
    with pytest.raises(AssertionError, match=r"events\.fields.*names.*column_names"):
        described(settings, COLUMNS)


OWN = """
{%- macro events_own(entity, landed) -%}
select 'insert' as event_op, landed_row from {{ landed }}
{%- endmacro -%}
"""


@pytest.mark.parametrize("declared", [True, False])
def test_a_format_of_ones_own_says_what_it_hands_on(tmp_path: Path, declared: bool) -> None:
    about = "{'landed_row': true, 'has_order': true, 'unavailable': '?', 'settings': {'a': none}}"
    macro = "{%- macro events_own_format() -%}{{ return(" + about + ") }}{%- endmacro -%}"
    (tmp_path / "events_own.sql").write_text(OWN + (macro if declared else ""), encoding="utf-8")
    settings = {
        "load_type": "events",
        "events": {"format": "own", "a": 1, "order": ["id"]},
        "source": {"format": "json"},
    }
    node = Node(name="stg_people", meta={"spark_cdc": settings}, columns=COLUMNS)
    macros = load_macros([MACROS, tmp_path], entity_node=lambda name: node)
    problems = "\n".join(macros._event_problems(node, settings))
    assert ("the format own has an order of its own" in problems) == declared
    assert ("'a'" in problems) != declared  # a setting that is not known
    sql = macros._stage_events_sql(macros._entity("people"), "landed_people")
    assert ("landed_row.message as landing_message" in sql) == declared
    assert ("'?'" in sql) == declared


EXAMPLES = dict(
    zip(
        ("shop", "audit"),
        re.findall(r"```sql\n(\{#.*?)```", (ROOT / "docs" / "events.md").read_text("utf-8"), re.S),
        strict=True,
    )
)


def own(folder: Path, name: str, columns: list[dict[str, Any]]) -> tuple[Macros, dict[str, Any]]:
    """The macros with an example of docs/events.md, and an entity of its format."""
    assert len(EXAMPLES[name].splitlines()) <= 30
    (folder / f"events_{name}.sql").write_text(EXAMPLES[name], encoding="utf-8")
    source = {"format": "json" if name == "shop" else "parquet"}
    settings = {"load_type": "events", "events": {"format": name}, "source": source}
    node = Node(name="stg_people", meta={"spark_cdc": settings}, columns=columns)
    macros = load_macros([MACROS, folder], entity_node=lambda name: node)
    assert macros._event_problems(node, settings) == []
    return macros, macros._entity("people")


def test_the_formats_of_the_docs_are_whole(tmp_path: Path) -> None:
    macros, entity = own(tmp_path, "shop", COLUMNS)
    sql = macros._stage_events_sql(entity, "landed_people")
    assert "landed_row.message as landing_message" in sql
    assert "when did in ('upd') then 'update'" in sql
    assert "'source_table', nullif(tab, '')" in sql
    macros, entity = own(tmp_path, "audit", COLUMNS)
    technical = {c["name"]: c["optional"] for c in entity["events"]["technical"]}
    assert technical == {"audit_action": False, "audit_number": False, "audit_time": True}
    sql = macros.events_audit(entity, "typed")
    assert "when 'U' then 'update'" in sql
    assert "audit_time as event_time" in sql


def test_messages_of_the_format_of_the_docs_become_events(cursor: Any, tmp_path: Path) -> None:
    macros, entity = own(tmp_path, "shop", COLUMNS)
    at = {"tab": "people", "tx": "t1", "at": "2024-05-01T10:00:00Z"}
    told = [
        {"did": "upd", "seq": 7, "was": {"id": 1}, "is": {"id": 2, "name": "x"}, **at},
        {"did": "del", "seq": 8, "was": {"id": 2}, **at},
        {"did": "all", "seq": 9, **at},
        {"did": "ping"},
        {"did": "ins", "seq": 10, **at},
        {"did": "ins", "is": {"id": 3}, **at},
        {"did": "sold", "seq": 11, **at},
    ]
    rows = ", ".join(f"({macros._literal(json.dumps(one))})" for one in told)
    landed = f"(select *, {ROW} from values {rows} as landed (message))"
    cursor.execute(
        "select event_op, to_json(event_position), to_json(event_before), to_json(event_after),"
        f" event_problem from ({macros.events_shop(entity, landed)})"
    )
    assert cursor.fetchall() == [
        ("update", "[7]", '{"id":"1"}', '{"id":"2","name":"x"}', None),
        ("delete", "[8]", '{"id":"2"}', None, None),
        ("truncate", "[9]", None, None, None),
        ("control", None, None, None, None),
        ("insert", "[10]", None, None, "no new row; accepted is an object under is"),
        (
            *("insert", None, None, '{"id":"3"}'),
            "no order: seq is missing; accepted is a whole number",
        ),
        (
            *(None, "[11]", None, None),
            "unknown did 'sold'; accepted are ins, upd, del, all, img, ping",
        ),
    ]
