"""Loads survive whatever fails: the Spark server, dbt, the line between them, the disk, each other.

`make test` kills dbt and the server at one point each, and one operation at its commit. `make
test-all` kills at as many points as ten minutes allow, `make test-faults` at many
(SPARK_CDC_FAULTS_EVERY: one of how many; 1 is each statement of each load in each phase;
SPARK_CDC_FAULTS_SECONDS: for at most so long per target; SPARK_CDC_FAULTS_SEED: other points;
SPARK_CDC_FAULTS_CELLS: some entities only). All of it has a server of its own.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.cells import CELLS, DATES, STEPS, TRUTH, Cell
from faults.lab import Lab, Reader, Run, Server
from faults.points import WRITES, Count, is_reached, sweep, trap_at
from faults.proxy import Proxy, Statement, Trap
from scale import ALL, SUITE
from spark_cdc.server import table_formats

pytestmark = pytest.mark.proves("commit and crash")

EVERY = int(os.environ.get("SPARK_CDC_FAULTS_EVERY") or (20 if ALL else 0))  # 0: one point
SEED = int(os.environ.get("SPARK_CDC_FAULTS_SEED", "1"))
SECONDS = float(os.environ.get("SPARK_CDC_FAULTS_SECONDS") or (600 if ALL else 1))
NAMES = [cell.name for cell in CELLS] if EVERY else ["snap_orc"]
CHOSEN = os.environ.get("SPARK_CDC_FAULTS_CELLS", ",".join(NAMES)).split(",")

full = pytest.mark.full  # runs in make test-all only: see scale.py


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server of its own, and the undisturbed loads to compare with."""
    folder = tmp_path_factory.mktemp("faults")
    server = Server(folder / "state")
    cells = [cell for cell in CELLS if cell.name in CHOSEN]
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        server.start()
        # the one point of `make test` is reached by the first loads
        made = Lab(folder, cells, server, STEPS[:2] if SUITE == "test" else STEPS)
        stack.callback(made.close)
        made.record()
        yield made


@pytest.fixture
def cursor(lab: Lab) -> Any:
    return lab.server.cursor()


def report(count: Count, target: str, began: float, say: Callable[[str], None]) -> None:
    say(
        f"{target} killed at {count.total} points, {len(count.statements)} different statements, in"
        f" {time.monotonic() - began:.0f} s; readers then saw the state before"
        f" {count.seen.get('before', 0)} times, the state after {count.seen.get('after', 0)} times"
        f" ({count.not_reached} points not reached)"
    )
    assert count.total > 10 * count.not_reached
    assert count.total >= 1


def test_dbt_is_killed(lab: Lab, say: Callable[[str], None]) -> None:
    began = time.monotonic()
    count = sweep(lab, "dbt", EVERY or 20, SEED, say if EVERY else str, until=began + SECONDS)
    report(count, "dbt", began, say)


def test_the_server_is_killed(lab: Lab, say: Callable[[str], None]) -> None:
    began = time.monotonic()
    count = sweep(lab, "server", EVERY or 20, SEED, say if EVERY else str, until=began + SECONDS)
    report(count, "server", began, say)


# ---------------------------------------------------------------- single faults

# the statement that lets readers see a commit
SHOWS = r"(alter|create or replace) view .*_committed"


def holds(pattern: str) -> Callable[[Statement], bool]:
    """A trap for the first statement whose text fits."""
    return lambda statement: re.search(pattern, statement.sql) is not None


def start(
    lab: Lab, cell: Cell, step: str, schema: str, trap: Trap, **env: str
) -> tuple[Run, Proxy]:
    """A load that comes as far as its trap."""
    lab.land(cell, step)
    proxy = lab.proxy(trap)
    run = lab.start([cell], DATES[step], schema, proxy.port, **env)
    while not trap.reached.wait(0.1):
        assert run.code is None, f"the trap was not reached:\n{run.printed[-3000:]}"
    return run, proxy


def load(lab: Lab, cell: Cell, step: str, schema: str) -> None:
    lab.land(cell, step)
    lab.load(cell, step, schema)


def seen(lab: Lab, cell: Cell, schema: str, cursor: Any) -> str:
    """The step whose state readers see."""
    state = lab.look(cell, schema, cursor)
    states = lab.references[cell.name].states
    return next(step for step, wanted in states.items() if wanted == state)


@full
@pytest.mark.parametrize("retries", [0, 2])
def test_the_line_is_lost_while_a_statement_runs(lab: Lab, cursor: Any, retries: int) -> None:
    """The server works on; dbt gives up, or sends the statement again on a new line."""
    cell, schema = lab.cells[0], lab.schema()
    load(lab, cell, "first", schema)
    trap = Trap(holds("insert overwrite table .*_ledger"), "during")
    env = {"FAULTS_QUERY_RETRIES": str(retries), "FAULTS_CONNECT_RETRIES": str(retries)}
    run, proxy = start(lab, cell, "later", schema, trap, **env)
    proxy.cut_once(keep_server=True)
    code = run.wait()
    assert code in (0, 1)
    assert seen(lab, cell, schema, cursor) == ("later" if code == 0 else "first")
    if code:
        assert re.search("Connection lost|TSocket|Broken pipe|Connection reset", run.printed)
    load(lab, cell, "later", schema)
    lab.check(cell, "later", schema, cursor)


def full_ledger(cursor: Any, schema: str, name: str) -> set[str]:
    """Loads that the ledger holds whole, whether they count or not."""
    cursor.execute(f"select distinct load_id from {schema}.{name}_ledger where operation = 'L'")
    return {row[0] for row in cursor.fetchall()}


@full
def test_a_statement_of_a_killed_run_ends_after_the_next_commit(lab: Lab, cursor: Any) -> None:
    """The input is a view that sleeps for the first run only."""
    cell, schema = lab.slow, lab.schema()
    name = cell.name
    cursor.execute(f"create database {schema}")
    cursor.execute(
        f"create table {schema}.{name}_base (id int, name string, day date) using parquet"
    )
    cursor.execute(
        f"insert into {schema}.{name}_base values (1, 'a', date'2024-03-01'),"
        " (2, 'b', date'2024-03-01'), (1, 'c', date'2024-03-02'), (3, 'd', date'2024-03-02')"
    )
    cursor.execute(f"create view {schema}.{name} as select * from {schema}.{name}_base")
    began = time.monotonic()
    lab.load(cell, "first", schema)
    long = int(3000 * (time.monotonic() - began)) + 2000  # milliseconds: longer than the second run
    before = lab.look(cell, schema, cursor)
    cursor.execute(
        f"alter view {schema}.{name} as select * from {schema}.{name}_base where id <> 3"
        f" or reflect('java.lang.Thread', 'sleep', cast({long} as bigint)) is not null"
    )
    trap = Trap(holds("insert overwrite table .*_ledger"), "during")
    proxy = lab.proxy(trap)
    run = lab.start([cell], DATES["later"], schema, proxy.port)
    assert trap.reached.wait(60), run.printed
    time.sleep(1)
    proxy.keeps_server = True
    run.kill()
    proxy.cut(keep_server=True)
    assert lab.look(cell, schema, cursor) == before
    cursor.execute(f"alter view {schema}.{name} as select * from {schema}.{name}_base")
    lab.load(cell, "later", schema)
    loads = full_ledger(cursor, schema, name)
    after = lab.look(cell, schema, cursor)
    assert len(loads) == 2, "the first run's statement was to end after the second run"
    deadline = time.monotonic() + 5 * long / 1000
    while len(full_ledger(cursor, schema, name)) < 3:
        assert time.monotonic() < deadline, "the statement of the killed run does not end"
        time.sleep(0.5)
    assert lab.look(cell, schema, cursor) == after
    current = [row for row in after[f"{name}_current"] if '"name":"c"' in row or '"d"' in row]
    assert len(current) == len(after[f"{name}_current"]) == 2
    lab.load(cell, "later", schema)
    assert lab.look(cell, schema, cursor) == after


@full
def test_a_commit_of_a_killed_run_arrives_after_a_later_one(lab: Lab, cursor: Any) -> None:
    """`alter view` of a run that was killed comes when the next commit is there: the next run of
    the entity puts it right."""
    cell, schema = lab.cells[0], lab.schema()
    load(lab, cell, "first", schema)
    trap = Trap(holds(SHOWS), "before")
    run, proxy = start(lab, cell, "later", schema, trap)
    assert trap.statement
    late = trap.statement.sql
    run.kill()
    proxy.cut()
    assert seen(lab, cell, schema, cursor) == "first"
    load(lab, cell, "checkpoint", schema)
    lab.check(cell, "checkpoint", schema, cursor)
    cursor.execute(late)
    assert seen(lab, cell, schema, cursor) == "later"
    load(lab, cell, "again", schema)
    lab.check(cell, "again", schema, cursor)


@full
def test_a_leftover_folder_does_not_stop_a_first_load(lab: Lab, cursor: Any) -> None:
    """Folders of tables that a crash left without the tables."""
    cell, schema = lab.cells[0], lab.schema()
    cursor.execute(f"create database {schema}")
    warehouse = Path(lab.server.settings.warehouse)
    for table in (f"{cell.name}_ledger", "cdc_loads"):
        (warehouse / f"{schema}.db" / table).mkdir(parents=True)
    load(lab, cell, "first", schema)
    lab.check(cell, "first", schema, cursor)


# ---------------------------------------------------------------- two at once

HOLDS = {
    "planned": (r"show views in \S+_commits", "after"),
    "written": (r"insert overwrite table .*_ledger", "after"),
    "audited": (r"create view if not exists .*_commit_", "before"),
}


@full
@pytest.mark.parametrize(
    ("held", "dates"),
    [
        ("audited", "different"),
        *(
            pytest.param(held, dates, marks=full)
            for held in HOLDS
            for dates in ("same", "different")
            if (held, dates) != ("audited", "different")
        ),
    ],
)
def test_two_loads_of_one_entity(lab: Lab, cursor: Any, held: str, dates: str) -> None:
    """Both come as far as the same statement; one commits, then the other goes on."""
    cell, schema = lab.cells[0], lab.schema()
    load(lab, cell, "first", schema)
    other = "later" if dates == "same" else "checkpoint"
    one, one_proxy = start(lab, cell, "later", schema, Trap(holds(HOLDS[held][0]), HOLDS[held][1]))
    two, two_proxy = start(lab, cell, other, schema, Trap(holds(HOLDS[held][0]), HOLDS[held][1]))
    one_proxy.traps[0].go.set()
    assert one.wait() == 0, one.printed[-3000:]
    lab.check(cell, "later", schema, cursor)
    two_proxy.traps[0].go.set()
    code = two.wait()
    if code:
        assert re.search(r"another run committed", two.printed), two.printed[-3000:]
        assert seen(lab, cell, schema, cursor) == "later"
    else:  # of one date the second may take the place of the first, if it looked afterwards
        assert dates == "same"
        assert held != "audited"
    lab.check(cell, "later", schema, cursor)
    for proxy in (one_proxy, two_proxy):
        proxy.close()
    load(lab, cell, other, schema)
    lab.check(cell, other, schema, cursor)


@full
def test_events_that_another_run_has_yet_to_read_stay(lab: Lab, cursor: Any) -> None:
    """Events that are not archived go when their load is done, not when another begins."""
    cell, schema = next(cell for cell in lab.cells if cell.name == "moves"), lab.schema()
    load(lab, cell, "first", schema)
    one, proxy = start(
        lab, cell, "later", schema, Trap(holds("insert overwrite table .*_events"), "after")
    )
    load(lab, cell, "later", schema)
    proxy.traps[0].go.set()
    one.wait()
    proxy.close()
    lab.check(cell, "later", schema, cursor)


@full
@pytest.mark.parametrize("held", HOLDS)
def test_the_later_date_commits_first(lab: Lab, cursor: Any, held: str) -> None:
    """The earlier date is refused: nothing of the later one is lost."""
    cell, schema = lab.cells[0], lab.schema()
    load(lab, cell, "first", schema)
    one, one_proxy = start(lab, cell, "later", schema, Trap(holds(HOLDS[held][0]), HOLDS[held][1]))
    load(lab, cell, "checkpoint", schema)
    cursor.execute(f"select id, name, cast(amount as string) from {schema}.{cell.name}_current")
    rows = {row[0]: (row[1], row[2]) for row in cursor.fetchall()}
    assert rows == TRUTH["checkpoint"]
    state = lab.look(cell, schema, cursor)
    one_proxy.traps[0].go.set()
    assert one.wait() == 1
    assert re.search("another run committed|is before the last load", one.printed)
    one_proxy.close()
    assert lab.look(cell, schema, cursor) == state
    again = lab.start([cell], DATES["later"], schema)
    assert again.wait() == 1
    assert "is before the last load" in again.printed
    assert lab.look(cell, schema, cursor) == state


@full
@pytest.mark.parametrize("phase", ["before", "after"])
def test_one_stops_between_claim_and_view(lab: Lab, cursor: Any, phase: str) -> None:
    """Another run finishes its commit and adds its own; the first wakes up: nothing is lost."""
    cell, schema = lab.cells[0], lab.schema()
    load(lab, cell, "first", schema)
    trap = Trap(holds(SHOWS), "before")
    if phase == "after":
        trap = Trap(holds(r"create view if not exists .*_commit_"), "after")
    one, proxy = start(lab, cell, "later", schema, trap)
    load(lab, cell, "checkpoint", schema)
    lab.check(cell, "checkpoint", schema, cursor)
    trap.go.set()
    one.wait()
    proxy.close()
    assert seen(lab, cell, schema, cursor) == "checkpoint"
    load(lab, cell, "again", schema)
    lab.check(cell, "again", schema, cursor)


@full
@pytest.mark.parametrize("statement", ["claim", "write"])
def test_two_go_on_at_the_same_moment(lab: Lab, cursor: Any, statement: str) -> None:
    """Both are about to claim the next commit: one gets it, the other is told so.

    Or they write the ledger: a format that has one of the writes refused, or loses it, as Iceberg
    may without locks, has that run refused, and nothing that counts is lost.
    """
    cell, held = lab.cells[0], HOLDS["audited" if statement == "claim" else "written"][0]
    for _ in range(3):
        schema = lab.schema()
        load(lab, cell, "first", schema)
        pairs = [start(lab, cell, "later", schema, Trap(holds(held), "before")) for _ in range(2)]
        for _, proxy in pairs:
            proxy.traps[0].go.set()
        codes = sorted(run.wait() for run, _ in pairs)
        printed = [run.printed[-2000:] for run, _ in pairs]
        assert codes == [0, 1] or (statement == "write" and codes == [0, 0]), printed
        lab.check(cell, "later", schema, cursor)
        load(lab, cell, "checkpoint", schema)
        lab.check(cell, "checkpoint", schema, cursor)


@full
def test_a_write_that_is_lost_is_refused(lab: Lab, cursor: Any) -> None:
    """As another writer may take it away where Iceberg has no locks: the audit looks for it."""
    cell, schema = lab.cells[0], lab.schema()
    load(lab, cell, "first", schema)
    run, proxy = start(lab, cell, "later", schema, Trap(holds(HOLDS["written"][0]), "after"))
    where = f"business_date = date'{DATES['later']}'"
    how = f"alter table {{}} drop partition ({where})"
    if cell.file_format in table_formats.BUILDS:
        how = f"delete from {{}} where {where}"
    cursor.execute(how.format(f"{schema}.{cell.name}_ledger"))
    proxy.traps[0].go.set()
    assert run.wait() == 1
    assert "the ledger holds no whole load" in run.printed
    assert seen(lab, cell, schema, cursor) == "first"
    proxy.close()
    load(lab, cell, "later", schema)
    lab.check(cell, "later", schema, cursor)


@full
def test_readers_while_all_entities_load_side_by_side(lab: Lab, say: Callable[[str], None]) -> None:
    schema = lab.schema()
    readers = [Reader(lab, schema) for _ in range(2)]
    lab.server.cursor().execute(f"create database {schema}")
    for reader in readers:
        reader.start()
    lab.side_by_side(schema)
    for reader in readers:
        reader.stop.set()
    for reader in readers:
        reader.join(60)
    assert not [text for reader in readers for text in reader.wrong]
    say(f"{sum(r.queries for r in readers)} queries while {len(lab.cells)} entities loaded at once")
    for reader in readers:
        assert any(states for states in reader.seen.values())


# ---------------------------------------------------------------- operations


def shown(lab: Lab, cell: Cell, schema: str, cursor: Any) -> dict[str, Any]:
    """What readers see of an entity, whatever its loads are called."""
    state = lab.look(cell, schema, cursor)
    return {
        view: [re.sub(r'"load_id":"[^"]*"', "", row) for row in rows]
        for view, rows in state.items()
        if not re.search("_committed(_sensitive)?$", view)
    }


AFTERWARDS = "2024-03-05"


def four_loads(lab: Lab, cell: Cell) -> str:
    """A schema with so many loads that three of them can be compacted."""
    schema = lab.schema()
    for step in ("first", "later", "checkpoint"):
        load(lab, cell, step, schema)
    lab.project.land(cell.name, "2024-03-04", *cell.lines("again"))
    lab.load_date(cell, "2024-03-04", schema)
    return schema


def a_draft(lab: Lab, cell: Cell) -> str:
    """A schema with three loads, and the last two of them anew as a draft, one from other data."""
    schema = lab.schema()
    for step in ("first", "later", "checkpoint"):
        load(lab, cell, step, schema)
    lines = cell.lines("later")
    lab.project.land(cell.name, DATES["later"], *lines[:2], *lines[3:])
    for step in ("later", "checkpoint"):
        draft = {"spark_cdc_replay": {"from": DATES["later"]}}
        lab.load_date(cell, DATES[step], schema, variables=draft)
    return schema


def undone(lab: Lab, cell: Cell) -> str:
    """A schema with four loads, the last of which is taken back."""
    schema = four_loads(lab, cell)
    run = lab.operate("undo", schema, entities=[cell.name])
    assert run.wait() == 0, run.printed[-3000:]
    return schema


def landed(lab: Lab, cell: Cell) -> str:
    """A schema with one load, and three dates that have landed."""
    schema = lab.schema()
    load(lab, cell, "first", schema)
    for step in ("later", "checkpoint"):
        lab.land(cell, step)
    lab.project.land(cell.name, "2024-03-04", *cell.lines("again"))
    return schema


@pytest.mark.parametrize(
    ("macro", "arguments", "prepare"),
    [
        pytest.param("compact", {"older_than_days": 0, "execute": True}, four_loads, marks=full),
        pytest.param("publish_replay", {}, a_draft, marks=full),
        pytest.param("undo", {}, four_loads, marks=pytest.mark.full),
        pytest.param("redo", {}, undone, marks=full),
        pytest.param(
            "backfill",
            {"dates": "2024-03-02..2024-03-04", "dates_per_statement": 1},
            landed,
            marks=full,
        ),
        pytest.param("erase", {"keys": [["1"]]}, four_loads, marks=full),
    ],
)
@pytest.mark.parametrize(
    "which", [pytest.param(0, id="first cell"), pytest.param(-1, id="last cell", marks=full)]
)
def test_dbt_is_killed_in_an_operation(
    lab: Lab,
    cursor: Any,
    say: Callable[[str], None],
    macro: str,
    arguments: dict[str, Any],
    prepare: Callable[[Lab, Cell], str],
    which: int,
) -> None:
    """Before and after each statement that writes; a schema serves until the operation commits.

    `make test` has the statement that commits alone.
    """
    cells = [one for one in lab.cells if macro != "backfill" or one.load_type != "events"]
    if macro == "erase":
        cells = [one for one in lab.cells if one.sensitive]
    if not cells:
        pytest.skip("no cell has sensitive columns in this format")
    cell = cells[which]
    named = {"entity": cell.name} if macro == "erase" else {"entities": [cell.name]}
    arguments = {**arguments, **named}

    schema = prepare(lab, cell)
    before = shown(lab, cell, schema, cursor)
    proxy = lab.proxy()
    run = lab.operate(macro, schema, proxy.port, **arguments)
    assert run.wait() == 0, run.printed[-3000:]
    proxy.close()
    script, after = proxy.statements, shown(lab, cell, schema, cursor)
    assert (before == after) == (macro == "compact")
    assert any(re.search(r"alter view \S+_committed", each.sql) for each in script)

    schema, tried, committed = prepare(lab, cell), 0, 0
    old_loads = lab.committed(cell, schema, cursor)
    commits = re.compile(r"(?s).*alter view \S+_committed")
    written = WRITES if EVERY else commits
    places = [each.place for each in script if written.match(each.sql)]
    for place in places:
        for phase in ("before", "after"):
            trap = trap_at(place, phase)
            proxy = lab.proxy(trap)
            run = lab.operate(macro, schema, proxy.port, **arguments)
            is_killed = is_reached(trap, run)
            if is_killed:
                run.kill()
            proxy.cut()
            proxy.close()
            tried += is_killed
            state = shown(lab, cell, schema, cursor)
            if lab.committed(cell, schema, cursor) == old_loads:
                assert is_killed, f"{phase} {place}: not reached\n{run.printed[-3000:]}"
                assert state == before, f"{phase} statement {place}"
                continue
            # not killed: it finished the commit that the one before had claimed, and was done
            assert is_killed or run.code == 0, run.printed[-3000:]
            assert state == after, f"{phase} statement {place}"
            committed += 1
            is_through = not is_killed or (place, phase) == (places[-1], "after")
            if macro != "undo" or not is_through:  # a second undo would take back one more load
                again = lab.operate(macro, schema, **arguments)
                nothing = ("there is no draft", "there is nothing to bring back")
                done = again.wait() == 0 or any(text in again.printed for text in nothing)
                assert done, again.printed[-3000:]
            assert shown(lab, cell, schema, cursor) == after
            lab.project.land(cell.name, AFTERWARDS, *cell.lines("again"))
            lab.load_date(cell, AFTERWARDS, schema)
            lab.log_of(cell, schema, cursor)  # each load that counts once
            schema = prepare(lab, cell)
            old_loads = lab.committed(cell, schema, cursor)
    say(f"{macro} of {cell.name} killed at {tried} points, {committed} of them after its commit")
    assert committed


def behind_the_load(number: int) -> Callable[[Statement], bool]:
    """Tells the statement that writes and comes so many such statements after a load's commit."""
    places: list[int] = []

    def is_it(statement: Statement) -> bool:
        is_commit = re.search(r"alter view \S+_committed", statement.sql)
        if statement.place not in places and (
            is_commit or (places and WRITES.match(statement.sql))
        ):
            places.append(statement.place)
        return statement.place in places and places.index(statement.place) == number

    return is_it


@full
@pytest.mark.parametrize("which", [0, -1], ids=["first cell", "last cell"])
def test_dbt_is_killed_in_maintenance_by_policy(
    lab: Lab, cursor: Any, say: Callable[[str], None], which: int
) -> None:
    """At the end of a load, with which there are enough; a schema serves until they are compacted.

    The load is committed by then, and the same load again brings the maintenance to its end.
    """
    cell, date = lab.cells[which], AFTERWARDS
    policy = {
        "spark_cdc_maintain_in_run": True,
        "spark_cdc_maintenance": {"compact_loads": 5, "retention_hours": 24},
    }

    def begin(schema: str, port: int = 0) -> Run:
        return lab.start([cell], date, schema, port, variables=policy)

    def prepare() -> str:
        schema = landed(lab, cell)
        for step in ("later", "checkpoint"):
            load(lab, cell, step, schema)
        lab.load_date(cell, "2024-03-04", schema)
        lab.project.land(cell.name, AFTERWARDS, *cell.lines("again"))
        return schema

    def is_compacted(schema: str) -> bool:
        return len(lab.committed(cell, schema, cursor)) < 5

    schema = prepare()
    proxy = lab.proxy()
    assert begin(schema, proxy.port).wait() == 0
    proxy.close()
    after = shown(lab, cell, schema, cursor)
    assert is_compacted(schema)
    writes = [each for each in proxy.statements if WRITES.match(each.sql)]
    shows = re.compile(r"alter view \S+_committed")
    commit = next(at for at, each in enumerate(writes) if shows.search(each.sql))
    points = len(writes) - commit - 1

    schema, tried, compacted = prepare(), 0, 0
    for number in range(1, points + 1):
        for phase in ("before", "after"):
            trap = Trap(behind_the_load(number), phase)
            proxy = lab.proxy(trap)
            run = begin(schema, proxy.port)
            is_killed = is_reached(trap, run)
            if is_killed:
                run.kill()
            proxy.cut()
            proxy.close()
            tried += is_killed
            assert shown(lab, cell, schema, cursor) == after, f"{phase} write {number}"
            if not is_compacted(schema):
                assert is_killed, run.printed[-3000:]
                continue
            compacted += 1
            again = begin(schema)
            assert again.wait() == 0, again.printed[-3000:]
            assert shown(lab, cell, schema, cursor) == after
            lab.project.land(cell.name, "2024-03-06", *cell.lines("again"))
            lab.load_date(cell, "2024-03-06", schema)
            lab.log_of(cell, schema, cursor)
            schema = prepare()
    say(
        f"maintenance of {cell.name} killed at {tried} points,"
        f" {compacted} of them when all was compacted"
    )
    assert tried and compacted


# ---------------------------------------------------------------- no room
# last, since a server of its own takes the place of the lab's


@full
@pytest.mark.parametrize("free", [0, 64], ids=lambda size: f"{size} KB free")
@pytest.mark.parametrize(
    "statement",
    [
        "create table if not exists .*_ledger",
        "insert overwrite table .*_ledger",
        "create view if not exists .*_commit_",
        "insert overwrite table .*cdc_loads",
    ],
)
def test_the_disk_is_full(small_disk: Lab, statement: str, free: int) -> None:
    """A full disk in the middle of a first load and of a later one; then there is room again."""
    lab, cell, schema = small_disk, small_disk.cells[0], small_disk.schema()
    cursor = lab.server.cursor()
    steps = (("first", None), ("later", "first"))
    # a later load finds the table and does not send the statement that makes it
    for step, before in steps[:1] if statement.startswith("create table") else steps:
        trap = Trap(holds(statement), "before")
        run, proxy = start(lab, cell, step, schema, trap)
        with lab.filled_disk(free):
            trap.go.set()
            code = run.wait()
        proxy.close()
        state = lab.look(cell, schema, cursor)
        states = lab.references[cell.name].states
        whole = state and all(rows == states[step][view] for view, rows in state.items())
        assert whole or not any(state.values()) or state == states[before or step]
        assert whole or code == 1
        load(lab, cell, step, schema)
        lab.check(cell, step, schema, cursor)


@pytest.fixture(scope="module")
def small_disk(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server whose warehouse is a small disk: a tmpfs.

    Who may not mount one gets a folder that can't be written to while it is "full".
    """
    folder = tmp_path_factory.mktemp("small")
    disk = folder / "disk"
    disk.mkdir()
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m,mode=0700", "tmpfs", str(disk)],
        capture_output=True,
    ).returncode

    if not mounted and os.geteuid() == 0:
        pytest.skip("may not mount, and no folder is closed to root")

    @contextlib.contextmanager
    def filled_disk(free: int) -> Iterator[None]:
        if not mounted:
            paths = [disk, *(path for path in disk.rglob("*") if path.is_dir())]
            for path in paths:
                path.chmod(0o500)
            yield
            for path in paths:
                path.chmod(0o700)
            return
        ballast = disk / "ballast"
        usage = os.statvfs(disk)
        size = usage.f_bavail * usage.f_frsize - free * 1024
        with ballast.open("wb") as file, contextlib.suppress(OSError):
            for _ in range(size // 4096):
                file.write(bytes(4096))
        yield
        ballast.unlink()

    server = Server(folder / "state", warehouse=disk)
    with contextlib.ExitStack() as stack:
        if mounted:
            stack.callback(subprocess.run, ["umount", "-l", str(disk)], check=True)
        lab.server.stop()  # one at a time
        stack.callback(server.stop)
        server.start()
        own, lab.server = lab.server, server
        stack.callback(setattr, lab, "server", own)
        lab.filled_disk = filled_disk  # type: ignore[attr-defined]
        yield lab
