"""Change feeds: what consumers get after loads, reruns, undo, redo, replay, compact, vacuum."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from project import Project
from spark_cdc.jinja_bridge import CompilerError, Node, load_macros

pytestmark = pytest.mark.proves("views")

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("insert", "update_preimage", "update_postimage", "delete")
EXAMPLE = ROOT / "docs" / "examples" / "order_amounts.sql"
ENTITY = "orders"
COLUMNS: dict[str, Any] = {
    "id": {"data_type": "int", "role": "key"},
    "customer": "string",
    "quantity": "int",
    "price": "decimal(10,2)",
}
DAYS = tuple(f"2024-03-{day:02d}" for day in range(1, 10))
# What lands on each day, as full snapshots: id to customer, quantity and price.
Rows = dict[int, tuple[str, int, str]]
STORY: list[Rows] = [
    {1: ("ann", 1, "10.00"), 2: ("bob", 2, "5.00"), 3: ("cid", 1, "1.00")},
    {1: ("ann", 2, "10.00"), 2: ("bob", 2, "5.00"), 4: ("dan", 1, "7.00")},
    {1: ("ann", 3, "10.00"), 3: ("cid", 4, "1.00"), 4: ("dan", 1, "7.00")},
    {1: ("bob", 3, "10.00"), 2: ("bob", 9, "5.00"), 4: ("dan", 2, "7.00"), 5: ("eve", 1, "2.00")},
    {1: ("bob", 3, "10.00"), 5: ("eve", 2, "2.00"), 6: ("fay", 1, "3.00")},
]
IMAGE = "id, customer, quantity, price, eff_start_date"
Command = Callable[..., tuple[int, str]]

# Prints the queries of several ranges: dbt need not start for each.
ASK = """
{% macro ask(ranges) %}
    {%- for range in ranges %}
        {%- do print('feed: ' ~ tojson(spark_cdc.changes('orders', range[0], range[1]))) -%}
    {%- endfor -%}
{% endmacro %}
"""


class Consumer:
    """Keeps a copy of the current rows from nothing but changes."""

    def __init__(self, rows: Iterable[tuple[Any, ...]] = ()) -> None:
        self.rows = {row[0]: row for row in rows}
        self.pending: set[int] = set()

    def take(self, changes: Iterable[tuple[Any, ...]], after: int, until: int) -> None:
        """Applies changes: a pre-image, and a deleted row, must be what is there."""
        gone = ("delete", "update_preimage")
        for version, _load, is_new, kind, *image in sorted(
            (version, load, kind not in gone, kind, *image)
            for version, load, kind, *image in changes
        ):
            assert after < version <= until
            if is_new:
                assert (kind == "update_postimage") == (image[0] in self.pending)
                self.pending.discard(image[0])
                assert image[0] not in self.rows
                self.rows[image[0]] = tuple(image)
                continue
            old = self.rows.pop(image[0])
            assert old[:4] == tuple(image[:4])
            if kind == "update_preimage":
                assert old == tuple(image)
                self.pending.add(image[0])
        assert not self.pending


def land(project: Project, day: int, rows: Rows) -> None:
    lines = [f"{key},{','.join(map(str, row))}" for key, row in rows.items()]
    project.land(ENTITY, DAYS[day], ",".join(COLUMNS), *lines)


def head(project: Project) -> int:
    return int(project.timeline(ENTITY)["sequence"])


def current(project: Project) -> list[tuple[Any, ...]]:
    return project.rows(f"{ENTITY}_current", IMAGE)


def asked(project: Project, *ranges: tuple[Any, Any]) -> list[list[tuple[Any, ...]]]:
    """The rows of some ranges of versions: version, load, what changed, the row."""
    words = ("run-operation", "ask", "--args", json.dumps({"ranges": ranges}))
    outcome = project.dbt(*words)
    assert outcome.success, outcome.output
    queries = [json.loads(text) for text in re.findall(r"feed: (.*)", outcome.output)]
    assert len(queries) == len(ranges)
    what = f"_commit_version, load_id, _change_type, {IMAGE}"
    return [project.query(f"select {what} from (\n{sql}\n) as changes") for sql in queries]


def check(project: Project, states: dict[int, list[tuple[Any, ...]]], *last: int) -> None:
    """Any consumer, whatever it has taken, comes to what is there; others to what was there."""
    versions = sorted(states)
    pairs = [(old, versions[-1]) for old in versions if old not in last[:-1]]
    pairs += [(old, new) for old, new in itertools.pairwise(last)]
    for (old, new), changes in zip(pairs, asked(project, *pairs), strict=True):
        consumer = Consumer(states[old])
        consumer.take(changes, old, new)
        assert sorted(consumer.rows.values()) == states[new], (old, new, changes)


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    project.entity(ENTITY, COLUMNS, checkpoint={"changed_share": 100, "loads": 3})
    models = project.folder / "models"
    (models / ENTITY / f"{ENTITY}_changes.sql").write_text("{{ spark_cdc.changes() }}\n", "utf-8")
    (models / "sales").mkdir()
    (models / "sales" / EXAMPLE.name).write_text(EXAMPLE.read_text("utf-8"), "utf-8")
    (project.folder / "macros").mkdir()
    (project.folder / "macros" / "ask.sql").write_text(ASK, "utf-8")
    return project


@pytest.fixture(scope="module")
def states() -> dict[int, list[tuple[Any, ...]]]:
    """What was there at each version."""
    return {0: []}


def few(states: dict[int, list[tuple[Any, ...]]]) -> dict[int, list[tuple[Any, ...]]]:
    """Some of the versions, and the newest."""
    versions = sorted(states)
    return {version: states[version] for version in (*versions[::4], versions[-1])}


def wanted_sums(project: Project) -> list[tuple[Any, ...]]:
    what = "customer, cast(sum(quantity * price) as decimal(38,2)) as amount"
    return [row for row in project.rows(f"{ENTITY}_current group by customer", what) if row[1]]


def sums(project: Project) -> list[tuple[Any, ...]]:
    """What the example came to."""
    sql = "select customer, cast(sum(amount) as decimal(38,2)) from {s}.order_amounts group by 1"
    return sorted(row for row in project.query(sql) if row[1])


@pytest.mark.full
def test_consumers_come_to_what_is_there(
    shop: Project, command: Command, states: dict[int, list[tuple[Any, ...]]]
) -> None:
    def step(*words: str) -> None:
        code, said = command(*words)
        assert code == 0, said
        seen()

    def load(day: int, rows: Rows | None = None) -> None:
        land(shop, day, STORY[day] if rows is None else rows)
        shop.load(DAYS[day], ENTITY, "sales")
        seen()

    def seen() -> None:
        states[head(shop)] = current(shop)

    for day in range(3):
        load(day)
    plain = f"select _commit_version, load_id, _change_type, {IMAGE} from {{s}}.{ENTITY}_changes"
    before = sorted(shop.query(plain))
    assert before == sorted(asked(shop, (0, None))[0])
    assert {row[0] for row in before} == set(states) - {0}
    # what is asked of one version reads its load's partitions alone, but for pre-images
    asked_of = f"{plain} where _commit_version > 2 and _change_type <> 'update_preimage'"
    plan = shop.query(f"explain {asked_of}")[0][0]
    assert re.search("Subquery(Adaptive)?Broadcast dynamicpruning", plan)

    load(2, {1: ("ann", 1, "10.00"), 7: ("gus", 1, "4.00")})  # the last load again
    load(2)
    step("undo", ENTITY)
    step("redo", ENTITY)
    step("undo", ENTITY, "--to", DAYS[0])
    for day in (1, 2, 3):
        load(day)
    land(shop, 1, {1: ("ann", 8, "10.00"), 3: ("cid", 1, "1.00")})
    step("replay", "--from", DAYS[1], "--select", ENTITY, "--publish")
    load(4)
    check(shop, states, *sorted(states)[-5:])
    start = asked(shop, (None, None))[0]
    assert {row[:1] + row[2:3] for row in start} == {(head(shop), "insert")}
    assert sorted(row[3:] for row in start) == current(shop)
    assert sums(shop) == wanted_sums(shop)

    # compact changes nothing of what is there
    before = sorted(shop.query(plain))
    times = "select distinct _commit_version, _commit_timestamp, load_id from {s}.orders_changes"
    told = sorted(shop.query(times), key=repr)
    assert None not in {row[1] for row in told}
    step("compact", "--older-than", "0")
    assert sorted(shop.query(plain)) == before
    assert sorted(shop.query(times), key=repr) == told
    load(5, STORY[0])
    check(shop, few(states))
    assert sums(shop) == wanted_sums(shop)


@pytest.mark.full
def test_vacuum_takes_the_past_of_what_was_rewritten_alone(
    shop: Project, command: Command, states: dict[int, list[tuple[Any, ...]]]
) -> None:
    kept = [row[1] for row in shop.query(f"show views in {{s}}_commits like '{ENTITY}_version_*'")]
    assert len(kept) == 5  # before two reruns, two undos and the replay
    code, said = command("vacuum", "--retention", "24")
    assert code == 0, said
    assert shop.query(f"show views in {{s}}_commits like '{ENTITY}_version_*'")
    check(shop, few(states))

    code, said = command("vacuum", "--retention", "0", "--force")
    assert code == 0, said
    assert not shop.query(f"show views in {{s}}_commits like '{ENTITY}_version_*'")
    rewritten = max(int(name[-6:]) for name in kept) + 1
    check(shop, {version: rows for version, rows in states.items() if version >= rewritten})
    outcome = shop.dbt("run-operation", "ask", "--args", json.dumps({"ranges": [[1, None]]}))
    assert not outcome.success
    told = " ".join(outcome.output.split())
    assert f"what changed since version 1 can't be told any more: commit {rewritten} took" in told
    assert f"Accepted are from_version {rewritten} to {head(shop)}" in told
    outcome = shop.dbt("test")
    assert outcome.success, outcome.output


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ((5, 4), "from_version 5 is greater than to_version 4"),
        ((10, None), "from_version 10 is newer than the last commit, 9"),
        ((0, 12), "to_version 12 is newer than the last commit, 9"),
        ((-1, None), "from_version is '-1'; accepted are whole numbers from 0, or none"),
        (("x", 2.5), "from_version is 'x'; accepted are whole numbers from 0, or none; to_version"),
    ],
)
def test_versions_that_are_refused(versions: tuple[Any, Any], message: str) -> None:
    macros = load_macros()
    with pytest.raises(Exception, match=re.escape(message)):
        macros._check_feed_versions({"name": ENTITY}, {"sequence": 9}, *versions)
    macros._check_feed_versions({"name": ENTITY}, {"sequence": 9}, None, 9)
    macros._check_feed_versions({"name": ENTITY}, {"sequence": 9}, Decimal(9), None)


def test_a_state_is_named_by_its_commit() -> None:
    """Also one in the midst of what compact has merged, of which a part counts."""
    macros = load_macros(run_query=lambda sql: SimpleNamespace(rows=[]))
    history, checkpoint = "20240303-h-0000000c", "20240303-hc-0000000c"
    loads = [history, checkpoint, "20240304-d-00000004"]
    commits = [
        {"load_id": f"2024030{day}-d-0000000{day}", "written_as": load, "version": day}
        for day, load in ((1, history), (2, history), (3, history), (4, loads[-1]))
    ]
    told = [macros._state_at_version({"loads": loads}, commits, version) for version in range(5)]
    ends = [None if one["until"] is None else one["until"].day for one in told]
    assert ends == [None, 1, 2, None, None]
    assert [one["loads"] for one in told] == [[], [history], [history], loads[:2], loads]
    assert [(one["base"], one["log"]) for one in told[2:]] == [
        (None, [history]),
        (checkpoint, []),
        (checkpoint, loads[2:]),
    ]
    ctx = {"entity": {"name": ENTITY}, "public": "s.orders_ledger", "schema": "s"}
    head = {"sequence": 9, "rewritten": 0, "loads": [], "entries": [], "times": {}}
    assert macros._named_state(ctx, head, "4")["loads"] == []
    with pytest.raises(CompilerError, match="the state at commit 10 can't be told"):
        macros._named_state(ctx, head, 10)


@pytest.mark.integration
def test_an_entity_that_is_not_there(shop: Project) -> None:
    outcome = shop.dbt("show", "--inline", "{{ spark_cdc.changes('order', 1) }}")
    assert not outcome.success
    assert "depends on a node named 'order_changes' which was not found" in outcome.output


@pytest.mark.full
def test_the_same_changes_as_those_of_delta(project: Project, tmp_path: Path) -> None:
    """The same loads by MERGE into a Delta table: its feed has the same rows, by version."""
    from benchmarks import harness

    project.entity("merged", COLUMNS)
    model = project.folder / "models" / "merged" / "merged_changes.sql"
    model.write_text("{{ spark_cdc.changes() }}\n", "utf-8")
    delta = harness.Server(tmp_path / "delta", "2g", ["delta"])
    try:
        types = "id int, customer string, quantity int, price decimal(10,2)"
        delta.execute(
            f"create table merged ({types}) using delta"
            " tblproperties (delta.enableChangeDataFeed = true)"
        )
        # a key comes back, and another load brings nothing new
        for day, rows in enumerate([*STORY, STORY[0], STORY[0]]):
            lines = [f"{key},{','.join(map(str, row))}" for key, row in rows.items()]
            project.land("merged", DAYS[day], ",".join(COLUMNS), *lines)
            project.load(DAYS[day], "merged")
            values = ", ".join(f"({key}, '{c}', {q}, {p})" for key, (c, q, p) in rows.items())
            delta.execute(
                f"merge into merged using (values {values} as came({', '.join(COLUMNS)})) as came"
                " on merged.id = came.id"
                " when matched and not (merged.customer <=> came.customer"
                " and merged.quantity <=> came.quantity and merged.price <=> came.price)"
                " then update set * when not matched then insert *"
                " when not matched by source then delete"
            )
        what = f"select _commit_version, _change_type, {', '.join(COLUMNS)} from"
        wanted = sorted(delta.execute(f"{what} table_changes('merged', 1)"))
        assert sorted(project.query(f"{what} {{s}}.merged_changes")) == wanted
        sql = project.dbt("compile", "--inline", "{{ spark_cdc.changes('merged', 0) }}", "-q")
        assert sorted(project.query(f"{what} (\n{sql.output.strip()}\n) as changes")) == wanted
        assert {row[1] for row in wanted} == set(KINDS)
    finally:
        delta.stop()


def test_columns_of_the_same_names_are_refused() -> None:
    def node(name: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "schema": "s", "alias": name, **more}

    columns = {
        "id": {"name": "id"},
        "_Change_Type": {"name": "_Change_Type"},
        "_commit_version": {"name": "_commit_version", "meta": {"role": "control"}},
    }
    models = ("orders_ledger", "orders_committed", "orders_changes")
    nodes = {f"model.shop.{name}": node(name) for name in models}
    nodes["model.shop.stg_orders"] = node("stg_orders", columns=columns)
    macros = load_macros(graph=Node(nodes=nodes, sources={}))
    ask = ("orders", {"load_type": "full"}, "model.shop.orders_ledger")
    [problem] = macros._model_problems(*ask)
    assert problem.startswith("orders: the columns _Change_Type would come twice in orders_changes")
    del nodes["model.shop.orders_changes"]
    assert macros._model_problems(*ask) == []
