"""`spark-cdc branch`: what is tried in one leaves production as it is, and is what it would be."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import scale
from project import Project
from test_undo import STORY

pytestmark = pytest.mark.proves("branches")

BRANCH = "shop_pr"
COLUMNS: dict[str, Any] = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
OP: dict[str, Any] = {"op": {"data_type": "string", "role": "control"}}
SEQ: dict[str, Any] = {"seq": {"data_type": "bigint", "role": "control"}}
FEED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
OFTEN, NEVER = {"changed_share": 100, "loads": 1}, {"changed_share": 100, "loads": 100}
DELTA = {"load_type": "delta", "deleted_when": "op = 'D'"}
RULES = {"known": {"condition": "name is not null", "action": "warn"}}
# some with a checkpoint every other load, some with none but the first
EVERY: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "full": (COLUMNS, {"on_reject": "quarantine", "checkpoint": OFTEN, "rules": RULES}),
    "delta": (COLUMNS | OP, DELTA | {"checkpoint": NEVER}),
    "moves": (
        COLUMNS | OP | SEQ,
        {"load_type": "events", "events": FEED | {"archive": True}, "checkpoint": NEVER},
    ),
    "steps": (COLUMNS | OP | SEQ, {"load_type": "events", "events": FEED, "checkpoint": OFTEN}),
}
CHOSEN = {"all": tuple(EVERY), "test": ("full",)}.get(scale.SUITE, ("full", "moves"))
ENTITIES = {name: EVERY[name] for name in CHOSEN}
VIEWS = (
    *("current", "latest", "history", "versions", "changes"),
    *("event_versions", "rejects", "quality"),
)
DAYS = tuple(f"2024-03-0{day}" for day in range(1, 8))
Command = Callable[..., tuple[int, str]]


def land(project: Project, name: str, day: int, more: str = "", now: Any = None) -> None:
    """Lands what a day brings, as the load type has it; more: the value of one column more."""
    now, before = now or STORY[day], STORY[day - 1] if day else {}
    head, tail = ("id,name,more", f",{more}") if more else ("id,name", "")
    if name == "full":
        lines = [f"{key},{value}{tail}" for key, value in now.items()]
        lines += [f"x,{day}"] if day in (1, 3) else []  # is set aside, and holds what is missing
        project.land(name, DAYS[day], head, *lines)
        return
    lines = [f"U,{key},{value}{tail}" for key, value in now.items() if before.get(key) != value]
    lines += [f"D,{key},{',' if more else ''}" for key in before if key not in now]
    if name != "delta":
        lines = [f"{day + 1}{at:03d},{line}" for at, line in enumerate(lines)]
        head = f"seq,op,{head}"
    else:
        head = f"op,{head}"
    project.land(name, DAYS[day], head, *lines)


def describe(project: Project, *, more: bool = False) -> None:
    for name, (columns, settings) in ENTITIES.items():
        added = {"more": "string"} if more else {}
        project.entity(name, columns | added, **settings)
        models = project.folder / "models" / name
        (models / f"{name}_changes.sql").write_text("{{ spark_cdc.changes() }}\n", "utf-8")
        if name == "moves":
            model = models / f"{name}_event_versions.sql"
            model.write_text("{{ spark_cdc.event_versions() }}\n", encoding="utf-8")
        elif name == "full":
            for view in ("quality", "latest"):
                model = models / f"{name}_{view}.sql"
                model.write_text(f"{{{{ spark_cdc.{view}() }}}}\n", encoding="utf-8")


def seen(project: Project, schema: str, *names: str) -> dict[str, Any]:
    """All that readers see of entities in a schema, and what cdc_loads has of them."""
    found: dict[str, Any] = {}
    views = {row[1] for row in project.query(f"show views in {schema}")}
    for name in names or tuple(ENTITIES):
        for view in (f"{name}_{kind}" for kind in VIEWS if f"{name}_{kind}" in views):
            project.cursor.execute(f"select * from {schema}.{view}")
            at = [column[0].split(".")[-1] for column in project.cursor.description]
            kept = [
                place
                for place, column in enumerate(at)
                if column not in ("load_id", "_commit_timestamp", "committed_at")
            ]
            rows = [tuple(row[place] for place in kept) for row in project.cursor.fetchall()]
            found[view] = ([at[place] for place in kept], sorted(rows, key=repr))
    counted = (
        "entity, load_type, business_time, is_checkpoint, rows_in, rows_inserted, rows_updated,"
        " rows_deleted, rows_unchanged, rows_not_supplied, rows_prior, rows_current, status"
    )
    log = f"select {counted} from {schema}.cdc_loads where load_type <> 'vacuum'"
    found["cdc_loads"] = sorted(project.query(log), key=repr)
    return found


def kept(project: Project) -> tuple[Any, ...]:
    """Production: its files with size and time, its relations, and what readers see."""
    files = [
        (str(path), path.stat().st_mtime_ns, path.stat().st_size)
        for path in sorted(project.folder_of(project.schema).rglob("*"))
    ]
    assert len(files) > 20
    texts = [row[3] for row in project.query("show table extended in {s} like '*'") if row[0]]
    return files, sorted(texts), seen(project, project.schema)


def loads(project: Project, schema: str, name: str) -> list[str]:
    found: list[str] = project.timeline(name, schema)["loads"]
    return found


@pytest.fixture
def well(command: Command) -> Callable[..., str]:
    """A command that must succeed; gives what it says."""

    def called(*words: str) -> str:
        code, said = command(*words)
        assert code == 0, said
        return said

    return called


@pytest.fixture(scope="module")
def shop(project: Project) -> Iterator[Project]:
    """Production after three loads, with a profile that takes its schema from the environment."""
    project.profile(schema="{{ env_var('SPARK_CDC_SCHEMA', 'shop') }}")
    describe(project)
    project.entity("fresh", COLUMNS)  # of which nothing is ever loaded
    for day in range(3):
        for name in ENTITIES:
            land(project, name, day)
        project.load(DAYS[day], *ENTITIES)
    yield project
    for schema in (BRANCH, f"{BRANCH}_commits"):
        project.query(f"drop schema if exists {schema} cascade")


REFUSED = [
    ("Pr", (), "'Pr' can't be the name of a branch"),
    ("p" * 34, (), "can't be the name of a branch"),
    ("pr_commits", (), "can't be the name of a branch"),
    ("shop", (), "shop is production's schema. Take another name"),
    ("default", (), "the schema default, or default_commits, is there and is no branch"),
    (BRANCH, ("--select", "orders"), "There is no entity 'orders'"),
    (BRANCH, ("--select", "fresh"), "nothing is committed of fresh, so a branch would be an empty"),
]


@pytest.mark.parametrize(("name", "words", "message"), REFUSED)
def test_what_can_be_no_branch_is_refused(
    shop: Project, command: Command, name: str, words: tuple[str, ...], message: str
) -> None:
    before = shop.query("show schemas")
    code, said = command("branch", "create", name, *words)
    assert code == (2 if "no entity" in message else 1)
    assert message in " ".join(said.split())
    assert shop.query("show schemas") == before


@pytest.mark.integration
def test_a_branch_that_is_not_there(shop: Project, command: Command) -> None:
    load = ("load", DAYS[3])
    codes = {load: 1, ("status",): 1, ("undo", "full"): 2, (*load, "--dry-run"): 1}
    found = {}
    for words in codes:
        found[words], said = command(*words, "--branch", "shop_rp")
        assert "--branch shop_rp: there is no such branch" in " ".join(said.split()), said
    assert found == codes
    for name in ("shop_rp", "default"):
        code, said = command("branch", "drop", name)
        assert code == 1 and "Accepted are none yet. Nothing was dropped." in said
    assert not shop.query("show schemas like 'shop_rp*'")
    code, said = command("diff", "full")
    assert code == 2 and "diff compares two states, and none is given" in said
    assert command("branch", "list")[1].startswith("There is no branch. To create one:\n")


def test_a_load_is_tried_in_a_branch(shop: Project, well: Callable[..., str]) -> None:
    """Production stays as it is, also when the branch is dropped."""
    before = kept(shop)
    well("branch", "create", BRANCH)
    land(shop, "full", 3)
    well("load", DAYS[3], "--select", "full", "--branch", BRANCH)
    assert loads(shop, BRANCH, "full")[-1] not in loads(shop, "shop", "full")
    assert seen(shop, BRANCH, "full")["full_current"] != before[2]["full_current"]
    assert kept(shop) == before
    well("branch", "drop", BRANCH)
    assert not shop.query(f"show schemas like '{BRANCH}*'")
    assert kept(shop) == before


@pytest.mark.full
def test_what_is_done_in_a_branch_stays_there(
    shop: Project, well: Callable[..., str], command: Command
) -> None:
    before = kept(shop)
    said = well("branch", "create", BRANCH)
    last = loads(shop, "shop", "full")[-1]
    assert f"full: branch {BRANCH} created, after {last}, 3 rows" in said
    assert f"fresh: branch {BRANCH} created, empty: nothing is committed" in said
    assert seen(shop, BRANCH) == before[2]
    [[plan]] = shop.query(f"explain select count(name) from {BRANCH}.full_committed")
    filters = {"iceberg": r"filters=[^=]*load_id IN \("}
    pruned = filters.get(scale.FORMAT, r"PartitionFilters: \[[^]]*load_id#\d+ IN \(")
    assert len(re.findall(pruned, plan)) == 2, plan

    for name in ENTITIES:
        land(shop, name, 3)
    well("load", DAYS[3], "--select", *ENTITIES, "--branch", BRANCH)
    tried = seen(shop, BRANCH)
    assert tried != before[2]
    assert kept(shop) == before
    difference = json.loads(well("diff", "moves", "--branch", BRANCH, "--output", "json"))
    assert difference["counts"] == {"added": 1, "removed": 1, "changed": 1}
    listed = json.loads(well("branch", "list", "--output", "json"))
    assert [(one["entity"], one["dates"], one["behind"]) for one in listed] == [
        (name, [DAYS[3]], 0) for name in sorted(ENTITIES)
    ]

    if scale.ALL:
        plan = well("load", DAYS[3], "--dry-run", "--branch", BRANCH, "--select", "full")
        assert f"replaces {loads(shop, BRANCH, 'full')[-1]}" in plan
        assert f"spark-cdc load {DAYS[3]} --select moves" in well("branch", "list")
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("SPARK_CDC_SCHEMA", BRANCH)
            tested = shop.dbt("test", "--select", *(f"path:models/{name}" for name in ENTITIES))
            assert tested.success, tested.output
    well("compact", "--older-than", "0", "--branch", BRANCH, "--select", "moves")
    well("vacuum", "--retention", "0", "--force", "--branch", BRANCH)
    again = seen(shop, BRANCH)
    assert {name: rows for name, rows in again.items() if name != "cdc_loads"} == {
        name: rows for name, rows in tried.items() if name != "cdc_loads"
    }
    well("undo", "full", "--branch", BRANCH)
    undone = seen(shop, BRANCH, "full")
    for view in ("full_current", "full_versions", "full_history", "full_rejects"):
        assert undone[view] == before[2][view]
    assert kept(shop) == before

    shop.load(DAYS[3], *ENTITIES)
    assert seen(shop, "shop") == tried


@pytest.mark.full
def test_production_keeps_what_a_branch_names(shop: Project, well: Callable[..., str]) -> None:
    """Also where it loads the date anew, or compacts it, and drops what nobody else needs."""
    said = well("diff", "full", "--branch", BRANCH)
    assert "production to the branch: 0 added, 1 removed, 1 changed" in said
    before = seen(shop, BRANCH)
    shop.load(DAYS[3], *ENTITIES)
    well("undo", "moves", "--to", DAYS[0])
    well("compact", "--older-than", "0", "--select", "full")
    for _ in range(2):
        well("vacuum", "--retention", "0", "--force")
    assert seen(shop, BRANCH) == before


@pytest.mark.full
def test_create_and_drop_can_be_repeated(
    shop: Project, well: Callable[..., str], command: Command
) -> None:
    """As if they had been killed: create with an entity half made, drop with the schema gone."""
    state = loads(shop, BRANCH, "full")
    for view in ("current", "history", "versions", "changes", "rejects", "committed"):
        shop.query(f"drop view {BRANCH}.full_{view}")
    shop.query(f"drop table {BRANCH}.full_ledger_own")
    said = well("branch", "create", BRANCH)
    assert f"moves: branch {BRANCH} exists already, after" in said
    assert loads(shop, BRANCH, "full") == state
    assert shop.query(f"select count(*) from {BRANCH}.full_versions")[0][0] > 0

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SPARK_CDC_SCHEMA", BRANCH)
        code, said = command("branch", "create", "shop_of_pr")
        assert code == 1 and f"{BRANCH} is a branch of shop itself" in said
        code, said = command("branch", "drop", BRANCH)
        assert code == 1 and f"{BRANCH} is a branch of shop" in said
    before = kept(shop)
    shop.query(f"drop schema {BRANCH} cascade")
    assert f"branch {BRANCH} dropped" in well("branch", "drop", BRANCH)
    assert kept(shop) == before
    assert not shop.query(f"show schemas like '{BRANCH}*'")
    assert not shop.query("show views in {s}_commits like '*branch*'")
    assert command("branch", "drop", BRANCH)[0] == 1


@pytest.mark.full
def test_a_whole_story(shop: Project, well: Callable[..., str]) -> None:
    """Replay, change of columns, compaction: in a branch, then the same in production."""
    well("branch", "create", BRANCH)
    before = kept(shop)
    parts: list[dict[str, Any]] = []

    def told(schema: str, *words: str) -> None:
        for name in ENTITIES:
            land(shop, name, 4)
            land(shop, name, 2)
        well("load", DAYS[4], "--select", *ENTITIES, *words)
        parts.append(seen(shop, schema))
        for name in ENTITIES:
            land(shop, name, 2, now=STORY[2] | {2: "corrected"})
        first = ("--from", DAYS[2], "--select", "delta", "moves", "steps", "--publish")
        well("replay", *first, *words)
        parts.append(seen(shop, schema))
        describe(shop, more=True)
        for name in ENTITIES:
            land(shop, name, 5, more="m")
        well("load", DAYS[5], "--select", *ENTITIES, *words)
        views = shop.query(f"show views in {schema}")
        for table in {row[1] for row in shop.query(f"show tables in {schema}")} - {
            row[1] for row in views
        }:
            shop.query(f"refresh table {schema}.{table}")  # this session has read it before
        parts.append(seen(shop, schema))
        if words:
            shown = well("diff", "delta", *words)
            assert re.search(r"\| more +\|[^|]*\| m ", shown), shown
        well("compact", "--older-than", "0", *words)
        parts.append(seen(shop, schema))

    told(BRANCH, "--branch", BRANCH)
    in_branch, parts = parts, []
    describe(shop)
    assert kept(shop) == before
    told("shop")
    for at, (tried, real) in enumerate(zip(in_branch, parts, strict=True)):
        logs = [Counter(one["cdc_loads"]) for one in (tried, real)]
        assert [logs[0] - logs[1], logs[1] - logs[0]] == [Counter(), Counter()], at
        assert tried == real, at

    folder = shop.folder_of(BRANCH)
    assert len(list(folder.rglob("*"))) > 20
    well("branch", "drop", BRANCH)
    left = [path for path in folder.rglob("*") if path.is_file()]
    assert not left, left[:5]
