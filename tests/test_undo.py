"""undo, redo, tag and diff, end to end: loads of each type are taken back, brought back, named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from project import ROOT, Project
from spark_cdc import cli as command_line
from spark_cdc.commands import diff
from spark_cdc.jinja_bridge import load_macros

pytestmark = pytest.mark.proves("undo")

ENTITIES = ("full", "delta", "moves")
COLUMNS: dict[str, Any] = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
SETTINGS: dict[str, dict[str, Any]] = {
    "full": {"load_type": "full"},
    "delta": {"load_type": "delta", "deleted_when": "op = 'D'"},
    "moves": {
        "load_type": "events",
        "events": {
            "format": "flagged_rows",
            "operation": "op",
            "order": ["seq"],
            "archive": True,
        },
    },
}
DAYS = tuple(f"2024-03-0{day}" for day in range(1, 7))
FUTURE = "2062-03-01"
STORY = [
    {1: "a", 2: "b", 3: "c"},
    {1: "a", 2: "b2", 4: "d"},
    {1: "a", 2: "b3", 3: "c3"},
    {1: "a4", 2: "b3", 5: "e"},
    {1: "a5", 5: "e5"},
    {1: "a5", 5: "e6", 6: "f"},
]
Command = Callable[..., tuple[int, str]]


def land(project: Project, name: str, day: int, story: list[dict[int, str]] = STORY) -> None:
    """Lands what a day brings, as the entity's load type has it; of events one comes late."""
    now, before = story[day], story[day - 1] if day else {}
    if name == "full":
        project.land(name, DAYS[day], "id,name", *(f"{key},{value}" for key, value in now.items()))
        return
    lines = [f"U,{key},{value}" for key, value in now.items() if before.get(key) != value]
    lines += [f"D,{key}," for key in before if key not in now]
    if name == "moves":
        lines = [f"{day + 1}{at:03d},{line}" for at, line in enumerate(lines)]
        lines += ["1000,U,1,late"] if day else []
    project.land(name, DAYS[day], ("seq," if name == "moves" else "") + "op,id,name", *lines)


def describe(project: Project, *names: str, kind: str = "") -> None:
    for name in names:
        columns = dict(COLUMNS)
        if (kind or name) != "full":
            columns["op"] = {"data_type": "string", "role": "control"}
        if (kind or name) == "moves":
            columns["seq"] = {"data_type": "bigint", "role": "control"}
        policy = {"changed_share": 100, "loads": 1}
        project.entity(name, columns, checkpoint=policy, **SETTINGS[kind or name])


def seen(project: Project, *names: str) -> dict[str, Any]:
    """All that readers see of some entities, and what the next load needs to know."""
    found: dict[str, Any] = {}
    for name in names or ENTITIES:
        for view in ("current", "history", "versions"):
            found[f"{name}_{view}"] = project.rows(f"{name}_{view}", "*")
        found[name] = project.figures(name)
    return found


def loads(project: Project, name: str) -> list[str]:
    """The loads that count."""
    found: list[str] = project.timeline(name)["loads"]
    return found


@pytest.fixture(scope="module")
def states_seen() -> list[dict[str, Any]]:
    """What was seen after each load."""
    return []


@pytest.fixture(scope="module")
def shop(project: Project, states_seen: list[dict[str, Any]]) -> Project:
    """Three entities after three loads, of which the third is a checkpoint."""
    describe(project, *ENTITIES)
    for day in range(3):
        for name in ENTITIES:
            land(project, name, day)
        project.load(DAYS[day], *ENTITIES)
        states_seen.append(seen(project))
    return project


def test_what_was_undone_comes_back_as_it_was(
    shop: Project, command: Command, states_seen: list[dict[str, Any]]
) -> None:
    code, said = command("undo", *ENTITIES, "--to", DAYS[1], "--dry-run")
    assert code == 0 and "full: would take back 1 load (20240303-f" in said, said
    assert seen(shop) == states_seen[2]
    code, said = command("undo", *ENTITIES, "--to", DAYS[1])
    assert code == 0, said
    last = shop.timeline("full")["undone"][0]["entries"][0]["load_id"]
    assert f"full: took back 1 load ({last}); readers see the state after 20240302-f-" in said
    assert seen(shop) == states_seen[1]
    code, said = command("status", "--select", "delta")
    assert re.search(r"delta .* 2 .* 2024-03-02 .* 2024-03-03 ", said), said
    told = "entity, load_type, business_time, status, replaced_load_ids, rows_current"
    moves = shop.rows("cdc_loads where load_type in ('undo', 'redo')", told)
    assert [row[:4] for row in moves] == [(n, "undo", DAYS[2], "undone") for n in sorted(ENTITIES)]
    assert moves[1][4:] == (last, 3)

    code, said = command("redo", *ENTITIES, "--dry-run")
    assert code == 0 and f"full: would bring back 1 load ({last})" in said, said
    assert seen(shop) == states_seen[1]
    code, said = command("redo", *ENTITIES)
    assert code == 0, said
    assert f"full: brought back 1 load ({last}); readers see the state after {last}" in said
    assert seen(shop) == states_seen[2]
    assert loads(shop, "full")[-1] == last
    code, said = command("redo", "full")
    assert code == 1 and "full: there is nothing to bring back" in said


COUNTS = (
    "business_time, is_checkpoint, rows_in, rows_inserted, rows_updated, rows_deleted,"
    " rows_unchanged, rows_not_supplied, rows_prior, rows_current, events_late"
)


@pytest.mark.full
def test_a_load_after_an_undo_is_as_if_there_had_been_none(
    shop: Project, command: Command, states_seen: list[dict[str, Any]]
) -> None:
    code, said = command("undo", *ENTITIES, "--to", DAYS[0])
    assert code == 0, said
    assert seen(shop) == states_seen[0]
    for day in (1, 1, 2):  # one of them twice
        shop.load(DAYS[day], *ENTITIES)
        assert seen(shop) == states_seen[day]
    counts = shop.rows("cdc_loads where load_type not in ('undo', 'redo')", f"entity, {COUNTS}")
    assert len(counts) == 4 * len(ENTITIES) + 2 * len(ENTITIES) - len(ENTITIES) + 3
    assert len(set(counts)) == 3 * len(ENTITIES), "each date has the same figures each time"
    code, said = command("redo", "full", "delta")
    assert code == 1 and "delta: there is nothing to bring back" in said
    tested = shop.dbt("test")
    assert tested.success, tested.output


@pytest.mark.integration
def test_all_loads_may_go_one_by_one(
    shop: Project, command: Command, states_seen: list[dict[str, Any]]
) -> None:
    for step in (1, 0, None):
        code, said = command("undo", "moves")
        assert code == 0, said
        if step is not None:
            assert seen(shop, "moves").items() <= states_seen[step].items()
    assert shop.rows("moves_current", "*") == shop.rows("moves_history", "*") == []
    code, said = command("undo", "moves")
    assert code == 1 and "moves: nothing is committed, so there is nothing to undo" in said
    for step in (0, 1, 2):
        code, said = command("redo", "moves")
        assert code == 0, said
        assert seen(shop, "moves").items() <= states_seen[step].items()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (("full", "delta"), "spark_cdc.undo: of several entities, name the state to go back to", 1),
        (("full", "--to", "2024-02-30"), "--to '2024-02-30' is neither a date nor a load", 2),
        (
            ("full", "--to", "20240301-f-00000000"),
            "'20240301-f-00000000' is no load that counts",
            1,
        ),
        (("full", "orders"), "There is no entity 'orders'", 2),
        (("full", "--to", " "), "--to ' ' is neither a date nor a load", 2),
    ],
)
def test_what_is_asked_for_is_checked(
    shop: Project, command: Command, words: tuple[str, ...], message: str, code: int
) -> None:
    before = loads(shop, "full")
    ended, said = command("undo", *words)
    assert ended == code
    assert message in " ".join(said.split())
    assert loads(shop, "full") == before


@pytest.mark.integration
def test_one_that_can_not_be_undone_keeps_the_others(shop: Project, command: Command) -> None:
    one = loads(shop, "full")[0]
    before = seen(shop)
    code, said = command("undo", "delta", "full", "--to", one)
    assert code == 1
    assert f"delta: '{one}' is no load that counts" in said
    assert "Nothing was changed" in said
    assert seen(shop) == before


@pytest.mark.integration
def test_what_was_interrupted_is_repeated(
    shop: Project, command: Command, states_seen: list[dict[str, Any]]
) -> None:
    """As kills leave it: one of two entities is done, and one commit is claimed alone."""
    names = ("full", "delta")
    assert command("undo", "full", "--to", DAYS[1])[0] == 0
    code, said = command("undo", *names, "--to", DAYS[1])
    assert code == 0, said
    assert "full: nothing is left to undo; readers see the state after 20240302-f-" in said
    assert "delta: took back 1 load" in said
    assert seen(shop, *names).items() <= states_seen[1].items()
    assert command("redo", "full")[0] == 0
    code, said = command("redo", *names)
    assert code == 0, said
    assert "full: nothing is left to redo" in said and "delta: brought back 1 load" in said
    assert seen(shop) == states_seen[2]

    before = shop.query_of("full_committed")
    assert command("undo", "full")[0] == 0
    [move] = shop.lose_commit("full", before)
    assert seen(shop) == states_seen[2]
    code, said = command("undo", "full")  # without a state to go back to: no further than before
    assert code == 0, said
    assert "full: finishing commit" in said and "full: nothing is left to undo" in said
    assert seen(shop, "full").items() <= states_seen[1].items()
    assert (move, "undone") in shop.rows("cdc_loads", "load_id, status")
    assert len(shop.query("show views in {s}_commits like 'full_commit_*'")) == 1
    assert command("redo", "full")[0] == 0


@pytest.mark.integration
def test_the_next_load_finishes_an_undo(shop: Project, command: Command) -> None:
    before = shop.query_of("full_committed")
    assert command("undo", "full")[0] == 0
    names = "load_id, status, invocation_id, rows_prior, rows_current, message, started_at"
    row = shop.rows("cdc_loads where load_type = 'undo'", f"{names}, replaced_load_ids")
    [move] = shop.lose_commit("full", before)
    shop.load(DAYS[2], "full")
    again = shop.rows("cdc_loads where load_type = 'undo'", f"{names}, replaced_load_ids")
    assert again == row and (move, "undone") in [one[:2] for one in row]
    took = "committed_at >= started_at, duration_seconds < 60"
    assert shop.rows(f"cdc_loads where load_id = '{move}'", took) == [(True, True)]
    assert "move" not in shop.timeline("full")


@pytest.mark.integration
def test_tags_and_what_differs(
    shop: Project, command: Command, states_seen: list[dict[str, Any]]
) -> None:
    code, said = command("tag", "create", "second", "--at", DAYS[1])
    assert code == 0, said
    code, said = command("tag", "create", "third", "--select", "full", "moves")
    assert code == 0 and re.search(r"full: tag third created, after 20240303-fc-\w+, 3", said)
    code, said = command("tag", "create", "third", "--select", "full", "delta", "--at", DAYS[0])
    assert code == 1 and "full: third names the state after 20240303-fc-" in said
    assert "No entity got the tag third" in said
    code, said = command("tag", "create", "third", "--select", "full", "delta")
    assert code == 0 and "full: tag third exists already, after" in said
    assert "delta: tag third created" in said
    code, said = command("tag", "create", "Third")
    assert code == 1 and "'Third' can't be the name of a tag" in said

    code, said = command("tag", "list")
    assert len(re.findall(r"third +\| (?:full|delta|moves) ", said)) == 3

    code, said = command("diff", "moves", "second", "third")
    assert code == 0, said
    lines = [line.replace("|", " ").split() for line in said.splitlines()]
    assert "moves from second to third: 1 added, 1 removed, 1 changed" in said
    for line in ("changed 2 name b2 b3", "added 3 name c3", "removed 4 name d"):
        assert line.split() in lines, said
    for pair in ((DAYS[2], DAYS[1]), (DAYS[2], "second"), ("third", DAYS[1])):
        code, said = command("diff", "delta", *pair, "--output", "json", "--limit", "1")
        found = json.loads(said)
        assert found["counts"] == {"added": 1, "removed": 1, "changed": 1}
        assert found["rows"] == [
            {
                "row_difference": "changed",
                "keys": {"id": 2},
                "column_differences": [
                    {"column_name": "name", "value_before": "b3", "value_after": "b2"}
                ],
            }
        ]
    code, said = command("diff", "full", DAYS[2], "nothing")
    assert code == 1 and "full: there is no tag 'nothing'. Accepted are second, third" in said
    code, said = command("diff", "full", "2024-03-01", "2024-03-0x")
    assert code == 1 and "is no load and no date that exists" in said
    code, said = command("diff", "full", "third", DAYS[2])
    assert said.strip() == "full from third to 2024-03-03: 0 added, 0 removed, 0 changed"


AS_OF = "select * from ({{{{ spark_cdc.as_of(ref('{0}_{1}'), {2}) }}}}) as old"


@pytest.mark.full
def test_states_stay_readable_through_loads_compact_and_vacuum(
    shop: Project, command: Command, states_seen: list[dict[str, Any]]
) -> None:
    """Readers of a tag, by the macro in models of their own."""
    for name in ENTITIES:
        for view in ("current", "history", "versions"):
            model = shop.folder / f"models/reports/{name}_{view}_second.sql"
            model.parent.mkdir(exist_ok=True)
            model.write_text(AS_OF.format(name, view, "tag='second'"))
    (shop.folder / "models/reports/changes.sql").write_text(
        "{{ spark_cdc.diff(ref('delta_current'), 'second', '2024-03-04') }}"
    )
    (shop.folder / "models/reports/first.sql").write_text(
        AS_OF.format("full", "versions", f"'{DAYS[0]}', tag='second'")
    )
    for day in (3, 4):
        for name in ENTITIES:
            land(shop, name, day)
        shop.load(DAYS[day], *ENTITIES)
    after = [seen(shop)]
    assert command("undo", *ENTITIES, "--to", DAYS[3])[0] == 0
    done = shop.operate("compact", older_than_days=0, execute=True)
    assert done.success, done.output
    code, said = command("redo", *ENTITIES)
    assert code == 0, said
    now = seen(shop)
    assert [now[f"{name}_history"] for name in ENTITIES] == [
        after[0][f"{name}_history"] for name in ENTITIES
    ]
    assert [now[f"{name}_current"] for name in ENTITIES] == [
        after[0][f"{name}_current"] for name in ENTITIES
    ]
    assert command("undo", *ENTITIES, "--to", DAYS[3])[0] == 0

    dry = shop.operate("vacuum", retention_hours=0, force=True)
    assert dry.success and "undone by" in dry.output, dry.output
    kept = shop.operate("vacuum", entities="full", execute=True)
    assert kept.success and "dropped 0 loads" in kept.output, kept.output
    code, said = command("redo", "full")
    assert code == 0, said
    assert command("undo", "full")[0] == 0
    done = shop.operate("vacuum", retention_hours=0, force=True, execute=True)
    assert done.success, done.output
    assert "moves: redo can no longer bring back 1 load (20240305-e" in done.output
    assert (DAYS[4], "committed") not in statuses(shop, "moves")
    assert (DAYS[4], "replaced") in statuses(shop, "moves")
    code, said = command("redo", "full")
    assert code == 1 and "full: there is nothing to bring back" in said

    ran = shop.dbt("run", "--select", "path:models/reports")
    assert ran.success, ran.output
    for name in ENTITIES:
        for view in ("current", "history", "versions"):
            found = shop.rows(f"{name}_{view}_second", "*")
            assert found == states_seen[1][f"{name}_{view}"], (name, view)
    assert shop.rows("first", "id, name") == [(1, "a"), (2, "b"), (3, "c")]
    assert shop.rows("changes", "row_difference, id, column_differences[0].value_after") == [
        ("added", 5, "e"),
        ("changed", 1, "a4"),
        ("changed", 2, "b3"),
        ("removed", 4, None),
    ]
    for day in (4, 5):
        for name in ENTITIES:
            land(shop, name, day)
        shop.load(DAYS[day], *ENTITIES)
    current = [(key, value) for key, value in STORY[5].items()]
    assert [shop.rows(f"{name}_current", "id, name") for name in ENTITIES] == [current] * 3
    tested = shop.dbt("test")
    assert tested.success, tested.output


@pytest.mark.full
def test_a_compacted_load_goes_with_the_others(shop: Project, command: Command) -> None:
    done = shop.operate(
        "compact", entities="delta", older_than_days=0, histories=True, execute=True
    )
    assert done.success, done.output
    before = seen(shop, "delta")
    assert command("undo", "delta")[0] == 0
    assert [load.split("-")[1] for load in loads(shop, "delta")] == ["h", "hc"]
    code, said = command("undo", "delta")
    assert code == 1 and "there is no state before the last of them" in " ".join(said.split())
    code, said = command("undo", "delta", "--to", DAYS[2])
    assert code == 1 and "there is no state at 2024-03-03" in " ".join(said.split())
    outcome = shop.run(DAYS[4], "delta")
    assert not outcome.success
    assert "2024-03-05 is the last of the loads that compact has merged" in outcome.output
    code, said = command("redo", "delta")
    assert code == 0, said
    assert seen(shop, "delta") == before


@pytest.mark.full
def test_other_columns_are_asked_for(shop: Project, command: Command) -> None:
    """Back across a schema change with the YAML of then, and forth with that of now."""
    before = seen(shop, "full")
    settings = {"checkpoint": {"changed_share": 100, "loads": 1}, **SETTINGS["full"]}
    shop.entity("full", COLUMNS | {"size": "int"}, **settings)
    (shop.folder / "models/reports/now.sql").write_text(
        AS_OF.format("full", "current", "tag='now'")
    )
    code, said = command("tag", "create", "now", "--select", "full", "--at", DAYS[5])
    assert code == 1 and "the columns of stg_full are not those of 20240306" in said
    describe(shop, "full")
    assert command("tag", "create", "now", "--select", "full")[0] == 0
    shop.entity("full", COLUMNS | {"size": "int"}, **settings)
    shop.land("full", "2024-03-07", "id,name,size", "1,a5,1", "5,e6,", "6,f,")
    shop.load("2024-03-07", "full")
    shop.query("refresh table {s}.full_ledger")  # this session has read it before
    after = seen(shop, "full")
    shop.entity("full", COLUMNS | {"other": "int"}, **settings)
    code, said = command("undo", "full")
    assert code == 1 and "the columns were other ones than stg_full has now" in said
    assert '\n      - {name: "name", data_type: "string"}' in said
    shop.entity("full", COLUMNS | {"size": "int"}, **settings)
    ran = shop.dbt("run", "--select", "now")
    assert ran.success, ran.output
    assert shop.rows("now", "*") == before["full_current"]
    code, said = command("diff", "full", "now", "2024-03-07")
    assert code == 1 and "the columns of the tag now are not those of today" in said

    describe(shop, "full")
    code, said = command("undo", "full")
    assert code == 0, said
    assert seen(shop, "full") == before
    code, said = command("tag", "drop", "now")
    assert code == 0 and "full: tag now dropped" in said
    shop.entity("full", COLUMNS | {"size": "int"}, **settings)
    code, said = command("redo", "full")
    assert code == 0, said
    assert seen(shop, "full") == after
    shop.load("2024-03-07", "full")
    assert seen(shop, "full") == after


@pytest.mark.full
def test_back_across_a_change_of_columns(project: Project, command: Command) -> None:
    """The YAML stays: what it declares is shown of the loads before, as until the undo."""
    key = {"id": COLUMNS["id"]}
    then = key | {"qty": "int", "memo": "string", "name": "string"}
    now = key | {"qty": "bigint", "title": {"data_type": "string", "renamed_from": "name"}}
    now |= {"size": {"data_type": "string", "default": "M"}}
    names = "id, qty, title, size"
    project.entity("wares", then)
    for day, value in ((0, "a"), (1, "b")):
        project.land("wares", DAYS[day], "id,qty,memo,name", f"1,1,x,{value}", "2,2,y,c")
        project.load(DAYS[day], "wares")
    project.entity("wares", now, dropped_columns=["memo"])
    land_wares = ("wares", DAYS[2], "id,qty,title,size", "1,5000000000,b,M", "2,2,c,M", "3,3,d,L")
    project.land(*land_wares)
    project.load(DAYS[2], "wares")
    project.query("refresh table {s}.wares_ledger")
    after = [project.rows(f"wares_{view}", names) for view in ("current", "versions")]
    before = [(1, 1, "b", "M"), (2, 2, "c", "M")]
    for _ in range(2):
        code, said = command("undo", "wares")
        assert code == 0, said
        assert project.rows("wares_current", names) == before
        versions = [(1, 1, "a", "M"), (1, 1, "b", "M"), (2, 2, "c", "M")]
        assert project.rows("wares_versions", names) == versions
        tested = project.dbt("test", "--select", "path:models/wares")
        assert tested.success, tested.output
        if not _:
            assert command("redo", "wares")[0] == 0
            found = [project.rows(f"wares_{view}", names) for view in ("current", "versions")]
            assert found == after
    # one load further, under the columns of now as well
    code, said = command("undo", "wares")
    assert code == 0, said
    assert project.rows("wares_current", names) == [(1, 1, "a", "M"), (2, 2, "c", "M")]
    assert command("redo", "wares")[0] == 0
    assert project.rows("wares_current", names) == before
    code, said = command("tag", "create", "back", "--select", "wares")
    assert code == 0, said
    assert project.dbt("run", "--select", "path:models/wares").success
    assert project.rows("wares_current", names) == before
    code, said = command("diff", "wares", DAYS[0], "back")
    assert code == 0 and "0 added, 0 removed, 1 changed" in said
    # the next load brings the change again
    project.land("wares", DAYS[3], "id,qty,title,size", "1,1,b,M", "2,2,c,S")
    project.load(DAYS[3], "wares")
    project.query("refresh table {s}.wares_ledger")
    assert project.rows("wares_current", names) == [(1, 1, "b", "M"), (2, 2, "c", "S")]
    assert project.query(
        "select rows_inserted, rows_updated, rows_deleted, definition_change is not null from"
        f" {{s}}.cdc_loads where entity = 'wares' and business_time = '{DAYS[3]}'"
    ) == [(0, 1, 0, True)]
    code, said = command("replay", "--from", DAYS[3], "--select", "wares", "--publish")
    assert code == 0, said
    assert project.rows("wares_current", names) == [(1, 1, "b", "M"), (2, 2, "c", "S")]
    tested = project.dbt("test", "--select", "path:models/wares")
    assert tested.success, tested.output


@pytest.mark.parametrize(
    ("published", "wanted"),
    [
        ({"sequence": 6, "commit": "0ther000"}, False),
        ({"sequence": 6, "commit": "00000001"}, True),
        ({"sequence": 7, "commit": "0ther000"}, False),
        ({"sequence": 7, "commit": "0ther000", "move": {"load_id": "20240302-u-00000001"}}, True),
    ],
)
def test_an_undo_is_not_taken_for_done_since_its_loads_are_there(
    published: dict[str, Any], wanted: bool
) -> None:
    manifest = {
        "sequence": 6,
        "commit": "00000001",
        "loads": ["20240301-fc-00000007"],
        "move": {"load_id": "20240302-u-00000001"},
    }
    seen_now = {"loads": manifest["loads"]} | published
    assert load_macros()._is_committed(manifest, seen_now) is wanted


def test_a_compaction_is_not_taken_for_done_since_the_last_load_is_there() -> None:
    compacted = ["20240301-h-00000001", "20240301-hc-00000001", "20240302-f-00000007"]
    manifest = {"sequence": 6, "commit": "00000001", "loads": compacted}
    published = {"sequence": 7, "commit": "0ther000", "loads": compacted[2:]}
    assert not load_macros()._is_committed(manifest, published)
    assert load_macros()._is_committed(manifest, published | {"loads": compacted})


def test_what_differs_is_shown_with_a_rest() -> None:
    row = {"row_difference": "added", "keys": {"id": 1}, "column_differences": []}
    counts = {"added": 3, "removed": 0, "changed": 0}
    found = {"entity": "a", "before": "x", "after": "y", "counts": counts, "rows": [row]}
    said = diff.describe(found)
    assert said.startswith("a from x to y: 3 added, 0 removed, 0 changed\n\n")
    assert said.endswith("2 more rows: --limit 3")


def statuses(project: Project, name: str) -> list[tuple[str, str]]:
    """Business time and status of an entity's loads, in the order in which they began."""
    sql = f"select business_time, status from {{s}}.cdc_loads where entity = '{name}'"
    kinds = "load_type in ('full', 'delta', 'events')"
    return [tuple(row) for row in project.query(f"{sql} and {kinds} order by started_at, load_id")]


@pytest.mark.full
def test_cdc_loads_says_what_became_of_loads(project: Project) -> None:
    """Replaced by a rerun, after an undo, by a start anew; not compacted, nor taken back."""
    project.entity("fates", COLUMNS)
    for day, value in ((0, "a"), (1, "b"), (1, "c")):
        project.land("fates", DAYS[day], "id,name", f"1,{value}", "2,b")
        project.load(DAYS[day], "fates")
    first, last, replaced = (DAYS[0], "committed"), (DAYS[1], "committed"), (DAYS[1], "replaced")
    assert statuses(project, "fates") == [first, replaced, last]
    for operation in ("undo", "redo", "undo"):
        assert project.operate(operation, entities=["fates"]).success
        assert statuses(project, "fates") == [first, replaced, last]
    project.load(DAYS[1], "fates")
    assert statuses(project, "fates") == [first, replaced, replaced, last]
    assert project.operate("compact", entities=["fates"], older_than_days=0, execute=True).success
    assert statuses(project, "fates") == [first, replaced, replaced, last]
    tested = project.dbt("test", "--select", "path:models/fates", "cdc_loads")
    assert tested.success, tested.output

    project.land("fates", DAYS[2], "id,name", "7,g")
    wipe = f"{{business_date: {DAYS[2]}, spark_cdc_reset: [fates]}}"
    done = project.dbt("run", "--select", "path:models/fates", "--full-refresh", "--vars", wipe)
    assert done.success, done.output
    found = statuses(project, "fates")
    assert found[-1] == (DAYS[2], "committed")
    assert last not in found

    # a crash between the two statements of a change
    log = f"{project.schema}.cdc_loads"
    names = project.query(f"select * from {log} limit 0") or project.cursor.description
    columns = [one[0].split(".")[-1] for one in names]
    kept = ", ".join(name for name in columns if name != "status")
    project.query("set spark.sql.sources.partitionOverwriteMode = dynamic")
    project.query(
        f"insert overwrite table {log} by name select {kept}, 'committed' as status from {log}"
        f" where entity = 'fates' and business_time = '{DAYS[1]}' and status = 'replaced'"
    )
    assert last in statuses(project, "fates")
    assert project.dbt("run", "--select", "fates_committed").success
    assert statuses(project, "fates") == found


@pytest.mark.integration
def test_a_replay_leaves_nothing_to_bring_back(project: Project) -> None:
    """What was undone is replaced by it, and so does not count as committed any more."""
    project.entity("sagas", COLUMNS)
    for day in (0, 1):
        project.land("sagas", DAYS[day], "id,name", f"1,{day}", "2,b")
        project.load(DAYS[day], "sagas")
    assert project.operate("undo", entities=["sagas"]).success
    assert reached(project, "sagas") == DAYS[0]
    project.load(DAYS[0], "sagas", spark_cdc_replay={"from": DAYS[0]})
    done = project.operate("publish_replay", entities=["sagas"])
    assert "1 load up to" in done.output and "redo has nothing left to bring back" in done.output
    replaced, committed = (DAYS[0], "replaced"), (DAYS[0], "committed")
    assert statuses(project, "sagas") == [replaced, (DAYS[1], "replaced"), committed]
    assert reached(project, "sagas") == DAYS[0]
    project.load(DAYS[1], "sagas")
    assert reached(project, "sagas") == DAYS[1]
    assert project.operate("undo", entities=["sagas"]).success
    assert project.operate("redo", entities=["sagas"]).success
    assert reached(project, "sagas") == DAYS[1]


def reached(project: Project, entity: str) -> str:
    """The last business time that readers see, by the query of docs/run.md."""
    page = (ROOT / "docs" / "run.md").read_text("utf-8")
    sql = page.partition("-- how old is what readers see\n")[2].partition(";")[0]
    sql = sql.replace("cdc_loads", f"{project.schema}.cdc_loads")
    return {row[0]: str(row[1]) for row in project.query(sql)}[entity][:10]


@pytest.mark.integration
def test_a_refused_load_is_acknowledged(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of a mistyped date; what is refused again is reported again."""
    project.entity("typos", COLUMNS)
    project.land("typos", DAYS[0], "id,name", "1,a")
    project.load(DAYS[0], "typos")
    for date in (FUTURE, FUTURE, "2063-01-01"):
        assert not project.dbt(
            *("run", "--select", "path:models/typos", "--vars", f"{{business_date: {date}}}")
        ).success
    project.serve_commands(monkeypatch)
    assert command_line.main(["acknowledge", DAYS[1], "--select", "typos"]) == 1
    told = "".join(capsys.readouterr())
    assert f"no load of '{DAYS[1]}' was refused" in told
    assert f"typos {FUTURE}, typos 2063-01-01. Nothing was changed" in told
    assert command_line.main(["acknowledge", FUTURE, "--select", "typos"]) == 0
    assert f"typos: acknowledged 2 refused loads of {FUTURE};" in capsys.readouterr().out
    seen = (FUTURE, "acknowledged")
    assert statuses(project, "typos") == [
        (DAYS[0], "committed"), seen, seen, ("2063-01-01", "refused"),
    ]  # fmt: skip
    assert command_line.main(["acknowledge", "2024-02-30"]) == 2
    assert not project.dbt(
        *("run", "--select", "path:models/typos", "--vars", f"{{business_date: {FUTURE}}}")
    ).success
    assert (FUTURE, "refused") in statuses(project, "typos")
    assert project.rows("typos_current", "id, name") == [(1, "a")]
