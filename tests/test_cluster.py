"""More than one machine: a standalone cluster on this one, with its metastore in PostgreSQL.

`make cluster` runs this; nothing else does (SPARK_CDC_TEST_CLUSTER=1), because it needs Debian's
packages postgresql and libpostgresql-jdbc-java. Two Thrift servers share the warehouse: what runs
commit at once meets in the metastore, and in no lock of one server's.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cluster.machines import Cluster, executors_of
from faults.cells import CELLS, DATES
from faults.lab import Lab, Run, Server
from faults.proxy import Proxy, Trap
from project import Project
from test_faults import (  # these run here too, against PostgreSQL
    HOLDS,
    holds,
    load,
    seen,
    start,
    test_a_commit_of_a_killed_run_arrives_after_a_later_one,  # noqa: F401
    test_one_stops_between_claim_and_view,  # noqa: F401
    test_readers_while_all_entities_load_side_by_side,  # noqa: F401
)

pytestmark = [pytest.mark.proves("commit and crash"), pytest.mark.cluster]

ENTITIES = int(os.environ.get("SPARK_CDC_CLUSTER_ENTITIES") or 10)
ROUNDS = int(os.environ.get("SPARK_CDC_CLUSTER_ROUNDS") or 100)
COLUMNS = {"id": {"data_type": "int", "role": "key"}, "amount": "int"}


@dataclass
class Drivers:
    """The cluster, and two Thrift servers that share it and the warehouse."""

    cluster: Cluster
    first: Server
    second: Server


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drivers]:
    folder = tmp_path_factory.mktemp("cluster")
    cluster = Cluster(folder)
    with contextlib.ExitStack() as stack:
        stack.callback(cluster.stop)
        cluster.start()
        servers = []
        for name in ("first", "second"):
            server = Server(folder / name, warehouse=cluster.warehouse, **cluster.conf)
            stack.callback(server.stop)
            server.start()
            servers.append(server)
        yield Drivers(cluster, *servers)


@pytest.fixture(scope="module")
def lab(drivers: Drivers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The lab of test_faults.py, on the cluster."""
    cells = [cell for cell in CELLS if cell.name in ("snap", "moves")]
    made = Lab(tmp_path_factory.mktemp("lab"), cells, drivers.first)
    with contextlib.closing(made):
        made.record()
        yield made


@pytest.fixture
def cursor(drivers: Drivers) -> Any:
    return drivers.first.cursor()


def test_the_metastore_lets_no_name_stand_twice(drivers: Drivers) -> None:
    """What claims rest on: a unique index over database and name."""
    drivers.first.cursor().execute("create database if not exists there")
    found = drivers.cluster.metastore.query(
        "select indexdef from pg_indexes where tablename = 'TBLS' and indexdef like '%UNIQUE%'"
    )
    assert any('("TBL_NAME", "DB_ID")' in row[0] for row in found), found


def test_the_metastore_takes_long_manifests(cursor: Any) -> None:
    """Three times what Derby takes, so that spark_cdc_manifest_limit may be raised."""
    loads = " ".join(f"20240304T{number:06d}-d-0a935ca6" for number in range(3500))
    cursor.execute("create database long")
    cursor.execute("create view long.v as select 0 as one")
    cursor.execute(f"alter view long.v as select /* {loads} */ 1 as one")
    cursor.execute("show create table long.v")
    assert loads in cursor.fetchall()[0][0]


# ---------------------------------------------------------------- loads


def test_the_demo(drivers: Drivers, cli: Callable[..., Any], say: Callable[[str], None]) -> None:
    """Two days of the examples and their tests, on a Thrift server of its own."""
    began = time.monotonic()
    variables = drivers.cluster.variables
    drivers.second.stop()  # its executors make room for the demo's
    try:
        done = cli("demo", SPARK_CDC_PORT=str(drivers.second.port), **variables)
    finally:
        cli("server", "stop", "--if-needed", **variables)
        drivers.second.start()
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert re.search(r"PASS=\d+ WARN=0 ERROR=0", done.stdout)
    say(f"the demo: {time.monotonic() - began:.0f} s")


def shop(folder: Path, port: int, schema: str, cursor: Any) -> Project:
    cursor.execute(f"create database {schema}")
    return Project(folder, port, schema, cursor)


def test_many_entities(
    drivers: Drivers, cursor: Any, tmp_path: Path, say: Callable[[str], None]
) -> None:
    """Several entities in one run of dbt with four threads, twice."""
    project = shop(tmp_path / "many", drivers.first.port, "many", cursor)
    names = [f"table_{number:02d}" for number in range(1, ENTITIES + 1)]
    for name in names:
        project.entity(name, COLUMNS, load_type="delta")
        project.land(name, "2024-01-01", "id,amount", *(f"{i},{i}" for i in range(2000)))
        project.land(name, "2024-01-02", "id,amount", *(f"{i},-1" for i in range(1900, 2100)))
    for date in ("2024-01-01", "2024-01-02"):
        began = time.monotonic()
        project.load(date)
        say(f"{len(names)} entities, {date}: {time.monotonic() - began:.0f} s")
    counts = "count(*), sum(case when amount = -1 then 1 else 0 end)"
    for name in names:
        assert project.query(f"select {counts} from {{s}}.{name}_current") == [(2100, 200)]
    logged = project.query("select count(*), count(distinct entity) from {s}.cdc_loads")
    assert logged == [(2 * len(names), len(names))]
    assert_verified(project, *names[:2])


def assert_verified(project: Project, *names: str) -> None:
    """What `dbt test` asks of whole ledgers holds."""
    tested = project.dbt("test", "--select", *(f"path:models/{name}" for name in names))
    assert tested.success, tested.output[-3000:]


# ---------------------------------------------------------------- a worker fails


ROWS = 5000


@pytest.mark.parametrize("which", ["one", "all"])
def test_workers_are_killed_in_mid_load(
    drivers: Drivers, cursor: Any, tmp_path: Path, which: str, say: Callable[[str], None]
) -> None:
    """SIGKILL to a worker and its executors while the ledger is written; or to both workers, and
    one comes back. The load ends right, or it fails and the next one is right."""
    cluster, schema = drivers.cluster, f"killed_{which}"
    project = shop(tmp_path / schema, drivers.first.port, schema, cursor)
    project.entity(
        "sales", COLUMNS, load_type="full", source={"format": "table", "date_column": "day"}
    )
    amounts = {"2024-01-01": "0", "2024-01-02": "if(id % 10 = 0, 1, 0)"}
    cursor.execute(f"create table {schema}.sales_base (id int, amount int, day date) using parquet")
    for day, amount in amounts.items():
        cursor.execute(
            f"insert into {schema}.sales_base select /*+ repartition(8) */ cast(id as int),"
            f" {amount}, date'{day}' from range({ROWS})"
        )
    cursor.execute(f"create view {schema}.sales as select * from {schema}.sales_base")
    project.load("2024-01-01", "sales")
    before = project.rows("sales_current", "id, amount")
    # Two milliseconds a row, on two cores: 5 s for each pass over them.
    cursor.execute(
        f"alter view {schema}.sales as select * from {schema}.sales_base"
        " where reflect('java.lang.Thread', 'sleep', 2L) is not null"
    )
    outcomes: list[Any] = []
    run = threading.Thread(target=lambda: outcomes.append(project.run("2024-01-02", "sales")))
    run.start()
    try:
        folder = cluster.warehouse / f"{schema}.db" / "sales_ledger"
        deadline = time.monotonic() + 120
        while not list(folder.glob(".spark-staging-*")):  # the write has begun
            assert run.is_alive(), outcomes
            assert time.monotonic() < deadline, "the ledger is not written"
            time.sleep(0.1)
        time.sleep(2)
        victims = cluster.workers[:1] if which == "one" else cluster.workers
        assert all(executors_of(victim) for victim in victims)
        for victim in victims:
            victim.kill()
        assert run.is_alive(), "the load was over before the kill"
        if which == "one":
            assert project.rows("sales_current", "id, amount") == before
        else:
            time.sleep(3)
            cluster.workers[0].start()
        run.join(300)
        assert not run.is_alive(), "the load hangs"
    finally:
        for worker in cluster.workers:
            if worker.process is None:
                worker.start()
        cluster.wait_for_workers(len(cluster.workers))
        cursor.execute(f"alter view {schema}.sales as select * from {schema}.sales_base")
    outcome = outcomes[0]
    say(f"{which}: the load {'ended right' if outcome.success else 'failed, and was run again'}")
    if not outcome.success:
        assert project.rows("sales_current", "id, amount") == before
        project.load("2024-01-02", "sales")
    wanted = [(i, 1 if i % 10 == 0 else 0) for i in range(ROWS)]
    assert project.rows("sales_current", "id, amount") == sorted(wanted, key=repr)
    assert_verified(project, "sales")


# ---------------------------------------------------------------- two at once


def test_one_of_many_gets_a_claim(drivers: Drivers, say: Callable[[str], None]) -> None:
    """`create view if not exists` from two servers, three sessions each, at the same moment: all
    read the same text back, that of one of them, and nobody gets an error."""
    servers = [drivers.first, drivers.second] * 3
    drivers.first.cursor().execute("create database claims")
    barrier = threading.Barrier(len(servers))
    read: dict[tuple[int, int], str] = {}
    errors: list[str] = []

    def claim(number: int, server: Server) -> None:
        cursor = server.cursor()
        for turn in range(ROUNDS):
            view = f"claims.sales_commit_{turn:06d}"
            barrier.wait(120)
            try:
                cursor.execute(f"create view if not exists {view} as select 'by {number}' as who")
                cursor.execute(f"show create table {view}")
                read[turn, number] = re.search(r"by \d", cursor.fetchall()[0][0])[0]  # type: ignore[index]
            except Exception as error:
                errors.append(f"{turn} {number}: {str(error)[:1000]}")

    threads = [threading.Thread(target=claim, args=each) for each in enumerate(servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [{read.get((turn, number)) for number in range(len(servers))} - {None}
               for turn in range(ROUNDS)]  # fmt: skip
    tally = {f"by {n}": sum({f"by {n}"} == w for w in winners) for n in range(len(servers))}
    say(f"{ROUNDS} claims by {len(servers)} sessions, won: {tally}; {len(errors)} errors")
    assert all(len(names) == 1 for names in winners)
    assert not errors, errors[:3]


def test_readers_meet_no_gap_while_a_view_is_altered(
    drivers: Drivers, say: Callable[[str], None]
) -> None:
    """Readers on both servers see each text or the next, never none and never an older one."""
    writer = drivers.first.cursor()
    writer.execute("create database altered")
    writer.execute("create view altered.v as select 0 as number")
    done = threading.Event()
    seen_by: list[list[int]] = []
    errors: list[str] = []

    def look(server: Server) -> None:
        cursor, numbers = server.cursor(), []
        seen_by.append(numbers)
        while not done.is_set():
            try:
                cursor.execute("select number from altered.v")
                numbers.append(cursor.fetchall()[0][0])
            except Exception as error:
                errors.append(str(error)[:1000])

    threads = [
        threading.Thread(target=look, args=(server,)) for server in (drivers.first, drivers.second)
    ]
    for thread in threads:
        thread.start()
    for number in range(1, ROUNDS + 1):
        writer.execute(f"alter view altered.v as select {number} as number")
    done.set()
    for thread in threads:
        thread.join()
    say(f"{ROUNDS} times altered under {sum(map(len, seen_by))} queries, {len(errors)} errors")
    assert not errors, errors[:3]
    for numbers in seen_by:
        assert numbers == sorted(numbers)
        assert len(set(numbers)) > ROUNDS / 20


def held_on(lab: Lab, server: Server, step: str, schema: str, trap: Trap) -> tuple[Run, Proxy]:
    """A load of the first cell on one of the servers that comes as far as its trap."""
    cell = lab.cells[0]
    lab.land(cell, step)
    proxy = Proxy(server.port, [trap])
    lab.proxies.append(proxy)
    run = lab.start([cell], DATES[step], schema, proxy.port)
    while not trap.reached.wait(0.1):
        assert run.code is None, f"the trap was not reached:\n{run.printed[-3000:]}"
    return run, proxy


def test_two_servers_commit_at_the_same_moment(drivers: Drivers, lab: Lab) -> None:
    """Two loads on two servers are about to claim the next commit: one gets it."""
    cell = lab.cells[0]
    cursors = [drivers.first.cursor(), drivers.second.cursor()]
    for _ in range(3):
        schema = lab.schema()
        load(lab, cell, "first", schema)
        pairs = [
            held_on(lab, server, "later", schema, Trap(holds(HOLDS["audited"][0]), "before"))
            for server in (drivers.first, drivers.second)
        ]
        for _, proxy in pairs:
            proxy.traps[0].go.set()
        codes = sorted(run.wait() for run, _ in pairs)
        assert codes == [0, 1], [run.printed[-2000:] for run, _ in pairs]
        assert any("another run committed" in run.printed for run, _ in pairs)
        for cursor in cursors:
            lab.check(cell, "later", schema, cursor)
        load(lab, cell, "checkpoint", schema)
        for cursor in cursors:
            lab.check(cell, "checkpoint", schema, cursor)


def test_the_other_server_sees_longer_rows(drivers: Drivers, cursor: Any, tmp_path: Path) -> None:
    """One server has read the tables; another loads on, and adds a column; the one loads on."""
    project = shop(tmp_path / "longer", drivers.first.port, "longer", cursor)
    project.entity("sales", COLUMNS, load_type="delta")
    project.land("sales", "2024-01-01", "id,amount", "1,1", "2,2")
    project.load("2024-01-01", "sales")
    other = drivers.second.cursor()
    views = ("sales_current", "sales_history", "cdc_loads")
    for view in views:
        other.execute(f"select count(*) from longer.{view}")
        other.fetchall()
    project.entity("sales", {**COLUMNS, "name": "string"}, load_type="delta")
    project.land("sales", "2024-01-02", "id,amount,name", "2,2,two", "3,3,three")
    project.load("2024-01-02", "sales")
    wanted = [(1, None), (2, "two"), (3, "three")]
    shown = "select id, name from longer.sales_current order by id"
    for reader in (cursor, drivers.second.cursor()):
        reader.execute(shown)
        assert reader.fetchall() == wanted
    # Spark keeps a table's columns for each session: one that has read it asks for the new ones.
    other.execute("refresh table longer.sales_ledger")
    other.execute(shown)
    assert other.fetchall() == wanted
    project.port = drivers.second.port
    project.profile()
    project.land("sales", "2024-01-03", "id,amount,name", "1,1,one")
    project.load("2024-01-03", "sales")
    for reader in (cursor, other):
        reader.execute(shown)
        assert reader.fetchall() == [(1, "one"), *wanted[1:]]
        reader.execute("select count(*) from longer.cdc_loads")
        assert reader.fetchall() == [(3,)]


# ---------------------------------------------------------------- servers fail


CLAIM, VIEW = "create view if not exists .*_commit_", "alter view .*_committed"


@pytest.mark.parametrize(
    ("statement", "phase"),
    [(CLAIM, "during"), (CLAIM, "after"), (VIEW, "before"), (VIEW, "during")],
    ids=["claim during", "claim after", "view before", "view during"],
)
def test_the_server_is_killed_at_the_commit(
    drivers: Drivers, lab: Lab, statement: str, phase: str
) -> None:
    """The driver is killed around the claim and around the view: one state, then healed.

    The second server finishes what the first one's run left.
    """
    cell, schema = lab.cells[0], lab.schema()
    load(lab, cell, "first", schema)
    run, proxy = start(lab, cell, "later", schema, Trap(holds(statement), phase))
    drivers.first.kill()
    proxy.cut()
    assert run.wait() != 0
    try:
        assert seen(lab, cell, schema, drivers.second.cursor()) in ("first", "later")
        again = lab.start([cell], DATES["later"], schema, drivers.second.port)
        assert again.wait() == 0, again.printed[-3000:]
        lab.check(cell, "later", schema, drivers.second.cursor())
    finally:
        drivers.first.start()
    lab.check(cell, "later", schema, drivers.first.cursor())


@pytest.mark.parametrize("statement", [CLAIM, VIEW], ids=["claim", "view"])
def test_the_metastore_crashes_at_the_commit(
    drivers: Drivers, lab: Lab, statement: str, say: Callable[[str], None]
) -> None:
    """PostgreSQL ends at once and starts again: the Thrift server goes on, and so do loads."""
    cell, schema = lab.cells[0], lab.schema()
    load(lab, cell, "first", schema)
    trap = Trap(holds(statement), "before")
    run, proxy = start(lab, cell, "later", schema, trap)
    drivers.cluster.metastore.kill()
    trap.go.set()
    time.sleep(2)
    drivers.cluster.metastore.start()
    code = run.wait()
    proxy.close()
    say(f"the load whose metastore crashed ended with {code}")
    assert seen(lab, cell, schema, drivers.first.cursor()) == ("first" if code else "later")
    load(lab, cell, "later", schema)
    for server in (drivers.first, drivers.second):
        lab.check(cell, "later", schema, server.cursor())
