"""Bring everything up, work, load, compare, kill, compare, and end everything: `make e2e`.

    python -m e2e [--encoding json|avro] [--s3] [--kills] [--soak MINUTES] [--seed N] [--rate N]

The way of a run: rows are there before Debezium listens. Ten times the shop works for a while, with
loads every five seconds meanwhile; then it stands still, a row is written that says so, and when
that has come all the way, both sides are compared. Between two turns columns change, in the middle
of others a snapshot is taken again, or a process is killed. A soak goes on, and does from time to
time what an operator has a cron job for: what is not needed any more goes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from e2e import check, downloads, loading, services, tables, workload
from e2e.shop import SCHEMA, Shop
from object_store import BUCKET
from postgres import DATABASE, USER
from spark_cdc import console
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import ports

PHASES = 10
ARRIVES = 400.0  # seconds that the sentinel may take at most
UPKEEP = {"compact_loads": 5, "retention_hours": None}  # of a soak
TIDIED = 3  # standstills from one call to drop what is not needed to the next, in a soak
BOUNDED = ("landing", "ledgers")  # of the files: what is kept for good, and 100 batches, are not
STEADY = 25  # minutes of a soak: in its second quarter files go as they come
KEPT = 120  # seconds of superseded loads and of the landing that such a call keeps
TARGET = 15.0  # seconds from a commit in PostgreSQL to one in the ledger
VICTIMS = ("connect", "broker", "registry", "stream", "spark_server", "loads", "postgresql")
EXAMPLES = downloads.ROOT / "docs" / "examples"  # what docs/postgresql.md tells to do
SLOT = "select confirmed_flush_lsn is not null from pg_replication_slots"


@dataclass
class Phase:
    """What happened between two standstills, and what came of the comparison."""

    what: list[str] = field(default_factory=list)
    events: int = 0
    seconds: float = 0
    arrived: float = 0
    rows: int = 0
    versions: int = 0
    memory: dict[str, int] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)


class Run:
    """All processes of a run, and what is done with them."""

    def __init__(self, folder: Path, options: Any) -> None:
        self.folder, self.options = folder, options
        self.tables = tables.shop()
        self.changes = tables.changes(self.tables, tells_null=options.encoding == "json")
        self.database = services.Database(folder)
        self.broker = services.Broker(folder)
        self.registry = services.Registry(folder, self.database)
        self.store = services.Store(folder) if options.s3 else None
        self.disk = self.store or services.Disk()
        home = f"s3a://{BUCKET}" if self.store else str(folder)
        self.places = {name: f"{home}/{name}" for name in ("landing", "warehouse")}
        self.shop = Shop(
            folder / "project", options.encoding, self.places["landing"],
            UPKEEP if options.soak else None,
        )  # fmt: skip
        os.environ.update(self.shop.environment(0))
        os.environ.update(self.store.variables if self.store else {})
        self.server = loading.SparkServer(folder, self.shop, self.places["warehouse"])
        avro = self.registry if options.encoding == "avro" else None
        connector = services.read_properties(EXAMPLES / "postgresql_connector.properties")
        connector["database.port"] = str(self.database.port)
        self.connect = services.Connect(
            folder, self.broker, connector, self.database.password, avro
        )
        self.stream = loading.Stream(folder, self.shop, self.broker, avro, options.interval)
        self.loader = loading.Loader(folder, self.shop, self.server.port, self.disk)
        self.watch = loading.Watch(self.connect, self.stream, self.loader)
        self.workload = workload.Workload(self.tables, self.open, options.seed, options.rate)
        self.phases: list[Phase] = []
        self.wrong: list[str] = []
        self.last_error = ""  # of the last look whether all has arrived

    def open(self) -> psycopg.Connection[Any]:
        """Return a connection to the database."""
        return psycopg.connect(
            host=ports.HOST, port=self.database.port, user=USER, dbname=DATABASE,
            password=self.database.password, connect_timeout=5,
        )  # fmt: skip

    # ------------------------------------------------------------ start and end

    def start(self) -> None:
        """Bring everything up, in the order in which it needs each other."""
        with console.Step("Start PostgreSQL, broker, registry"):
            self.broker.launch()
            self.database.start()
            if self.store:
                self.store.start()
            self.database.query("create database registry")
            self.registry.launch()
            self.workload.prepare()
            self._prepare_capture()
            for table in self.tables:
                self.shop.write(table)
            self.broker.wait()
            self.registry.wait()
        with console.Step("Start Connect"):
            self.connect.start()
            # Only what happens behind the slot's begin is sent: before it the rows are read.
            loading.wait_for(lambda: self.database.query(SLOT) == [["t"]], 60)
        self.server.start()
        with console.Step("Start the stream"):
            self.stream.start()
        self.loader.start()
        self.watch.start()

    def _prepare_capture(self) -> None:
        """Do what the tutorial tells the owner of a database to do."""
        sql = (EXAMPLES / "postgresql_capture.sql").read_text("utf-8")
        self.database.query(sql.replace("change me", self.database.password))

    def stop(self) -> None:
        """End everything, in the other order; each whatever became of the others."""
        self.workload.close()
        for one in (
            self.watch, self.loader, self.stream, self.server, self.connect, self.registry,
            self.broker, self.database, self.store,
        ):  # fmt: skip
            if one is None:
                continue
            try:
                one.stop()
            except Exception as error:
                print(f"{one.name} could not be ended: {error}", flush=True)

    # ------------------------------------------------------------ work

    def work(self) -> None:
        """Do all phases; stop at the first comparison that fails."""
        planned = plan(self.options)
        deadline = time.monotonic() + 60 * self.options.soak
        number = 0
        while number < len(planned) or time.monotonic() < deadline:
            phase = planned[number] if number < len(planned) else Phase()
            self.phases.append(phase)
            self._change_columns(phase)
            self._busy(phase)
            number += 1
            self._standstill(phase, number)
            print(self.line(number, phase), flush=True)
            if self.wrong:
                return
            if self.options.soak and number % TIDIED == 0:
                self._tidy()
        if self.options.soak:
            self.wrong += grown([phase.memory for phase in self.phases], " MB")
        if self.options.soak >= STEADY:
            bounded = [{n: f for n, f in p.files.items() if n in BOUNDED} for p in self.phases]
            self.wrong += grown(bounded, " files")
        elif self.options.soak:
            print(f"Whether files grow is judged of {STEADY} minutes and more.")

    def _tidy(self) -> None:
        """Drop what was superseded, and what of the landing is loaded; all else runs on."""
        calls = (
            ("vacuum", "--retention", f"{KEPT / 3600:.4f}", "--force"),
            ("stream", "--kafka", self.broker.address, "--retention", f"{KEPT}s"),
        )
        for words in calls:
            done = self.shop.command(*words, port=self.server.port)
            if done.returncode:
                self.wrong.append(f"{words[0]}: {done.stdout[-500:]}{done.stderr[-500:]}")

    def _change_columns(self, phase: Phase) -> None:
        """Change columns where all has arrived: PostgreSQL first, then the YAML."""
        if "columns" not in phase.what:
            return
        change = self.changes.pop(0)
        table = self.workload.tables[change.table]
        with self.open() as connection:
            workload.change_columns(connection, table, change.sql)
        tables.apply(table, change)
        self.watch.spared.add(self.loader.name)
        with self.loader.held():
            self.shop.write(table)
        self.watch.spared.discard(self.loader.name)
        phase.what[phase.what.index("columns")] = change.words

    def _busy(self, phase: Phase) -> None:
        """Let the shop work; in the middle of it do what the phase is for."""
        began, before = time.monotonic(), self.workload.events
        middle = threading.Timer(self.options.seconds * 0.3, self._middle, [phase])
        middle.start()
        for _ in self.workload.run(self.options.seconds):
            pass
        middle.join()
        phase.seconds = time.monotonic() - began
        phase.events = self.workload.events - before

    def _middle(self, phase: Phase) -> None:
        """Do what a phase is for; in a thread of its own, while the shop works."""
        for what in phase.what:
            try:
                if what.startswith("kill "):
                    self._kill(what.removeprefix("kill "))
                elif what == "snapshot again":
                    self._snapshot("incremental")
            except Exception as error:
                self.wrong.append(f"{what}: {error}")

    def _kill(self, name: str) -> None:
        victims = (
            self.connect, self.broker, self.registry, self.stream, self.server, self.loader,
            self.database,
        )  # fmt: skip
        victim: Any = next(each for each in victims if each.name == name)
        self.watch.spared.add(name)
        victim.kill()
        time.sleep(1)
        victim.start()
        self.watch.spared.discard(name)

    def _snapshot(self, kind: str) -> None:
        """Ask Debezium for all rows once more, in mid-stream."""
        collections = [f"public.{table.name}" for table in self.tables]
        data = json.dumps({"data-collections": collections, "type": kind})
        with self.open() as connection:
            connection.execute(
                "insert into signals values (gen_random_uuid(), 'execute-snapshot', %s)", [data]
            )

    # ------------------------------------------------------------ standstill

    def _standstill(self, phase: Phase, number: int) -> None:
        """Wait until all has arrived, and compare."""
        self.workload.sentinel(number)
        took = loading.wait_for(lambda: self._has_arrived(number), ARRIVES, pause=4)
        if took is None:
            self.wrong.append(
                f"sentinel {number} has not arrived after {ARRIVES:.0f} s: {self.last_error}"
            )
            return
        phase.arrived = took
        with self.open() as database, self.server.session() as cursor:
            database.execute("set time zone 'UTC'")
            for table in self.tables:
                rows = check.current(table, database, cursor, SCHEMA)
                versions = check.versions(table, database, cursor, SCHEMA)
                phase.rows += rows.equal
                phase.versions += versions.equal
                self.wrong += rows.wrong + versions.wrong
        watched = (
            self.database, self.broker, self.registry, self.connect, self.stream, self.server
        )  # fmt: skip
        phase.memory = {one.name: one.memory() >> 20 for one in watched}
        phase.files = self._files()

    def _files(self) -> dict[str, int]:
        """Count files of the landing, its checkpoints, ledgers, and of what is never compacted."""
        names = [path.split("/") for path in self.disk.files(self.places["warehouse"])]
        kept = {f"{table.name}_events" for table in self.tables} | {"cdc_loads"}
        archived = sum(not kept.isdisjoint(parts) for parts in names)
        landed = self.disk.files(self.places["landing"])
        stored = sum("/checkpoint/" in path for path in landed)
        return {
            "landing": len(landed) - stored,
            "checkpoint": stored,
            "ledgers": len(names) - archived,
            "archive, log": archived,
        }

    def _has_arrived(self, number: int) -> bool:
        """Return whether `current` of each table shows the sentinel."""
        each = []
        for table in self.tables:
            key = table.keys[-1].name
            text = next(c.name for c in table.values() if c.type == "text" and not c.large)
            each.append(
                f"select 1 from {SCHEMA}.{table.name}_current"
                f" where `{key}` = {workload.SENTINEL} and `{text}` = 'sentinel {number}'"
            )
        try:
            with self.server.session() as cursor:
                found = len(check.asked(cursor, " union all ".join(each)))
        except Exception as error:  # there is no view, or no server, yet
            if isinstance(error.__context__, KeyboardInterrupt):  # amid an answer of the server
                raise KeyboardInterrupt from error
            self.last_error = str(error)[:500]
            return False
        self.last_error = f"{found} of {len(each)} tables have it"
        return found == len(each)

    # ------------------------------------------------------------ what is told

    def line(self, number: int, phase: Phase) -> str:
        said = "; ".join(phase.what) or "work"
        result = "WRONG" if self.wrong else "equal"
        return (
            f"{number:3}  {said}: {phase.events} events in {phase.seconds:.0f} s, arrived after"
            f" {phase.arrived:.1f} s; {result}: {phase.rows} rows, {phase.versions} versions"
        )

    def report(self) -> None:
        """Print what was measured, as tables."""
        headings = ["standstill", "before", "events", "events/s", "arrived s", "rows", "versions"]
        rows = [
            [n, "; ".join(p.what) or "work", p.events, round(p.events / (p.seconds or 1), 1),
             round(p.arrived, 1), p.rows, p.versions]
            for n, p in enumerate(self.phases, 1)
        ]  # fmt: skip
        print("\n" + console.table(headings, rows, width=60))
        kinds = sorted(self.workload.done.items())
        print("\nDone: " + ", ".join(f"{count} {kind}" for kind, count in kinds))
        print(f"Ended by themselves and started again: {self.watch.restarted or 'none'}")
        names = list(self.phases[-1].memory) + list(self.phases[-1].files)
        if names:
            figures = [
                [number, *phase.memory.values(), *phase.files.values()]
                for number, phase in enumerate(self.phases, 1)
                if phase.memory
            ]
            print("\nMB of memory, and files:\n" + console.table(["standstill", *names], figures))
        with contextlib.suppress(Exception):  # no load, no server
            self._latency()

    def _latency(self) -> None:
        with self.server.session() as cursor:
            [loads] = check.asked(
                cursor,
                "select count(*), count_if(status = 'refused'), median(duration_seconds)"
                f" from {SCHEMA}.cdc_loads where load_type not in ('compact', 'vacuum')",
            )
            seconds = sorted(
                one for table in self.tables for one in check.latencies(table, cursor, SCHEMA)
            )
        print(f"Loads: {loads[0]}, {loads[1]} of them refused; median {loads[2]:.1f} s")
        if seconds:
            median, high = (seconds[int(len(seconds) * share)] for share in (0.5, 0.95))
            print(
                f"\nFrom commit in PostgreSQL to current, {len(seconds)} events:"
                f" median {median:.1f} s, 95%: {high:.1f} s (target {TARGET:.0f} s)"
            )


def grown(figures: list[dict[str, int]], unit: str) -> list[str]:
    """Return what of the figures per standstill is more in the last quarter than in the second.

    unit: follows a number in the texts.
    """
    quarter = len(figures) // 4
    found = []
    for name in figures[0] if quarter else []:
        early = max(each[name] for each in figures[quarter : 2 * quarter])
        late = max(each[name] for each in figures[-quarter:])
        if late > 1.25 * early + 64:
            found.append(f"{name} has grown from {early} to {late}{unit}")
    return found


def plan(options: Any) -> list[Phase]:
    """Return what the phases are for."""
    phases = [Phase() for _ in range(PHASES)]
    for number in (2, 4, 6, 8):
        phases[number].what.append("columns")
    for number in (1, 5):
        phases[number].what.append("snapshot again")
    if options.kills:
        for number, victim in enumerate(VICTIMS, 1):
            phases[number].what.append(f"kill {victim}")
    return phases[: options.phases]


def options_of(words: list[str]) -> Any:
    parser = argparse.ArgumentParser(prog="python -m e2e", description=__doc__.splitlines()[0])
    parser.add_argument("--encoding", choices=("json", "avro"), default="json")
    parser.add_argument("--s3", action="store_true", help="land and load on an S3 server")
    parser.add_argument("--kills", action="store_true", help="kill each process once")
    parser.add_argument("--soak", type=float, default=0, metavar="MINUTES")
    parser.add_argument("--phases", type=int, default=PHASES, help=f"of the {PHASES} (all)")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--rate", type=float, default=50, help="events per second at most (50)")
    parser.add_argument("--seconds", type=float, default=20, help="of work between standstills")
    parser.add_argument("--interval", type=int, default=15, metavar="SECONDS", help="of the stream")
    parser.add_argument("--folder", type=Path, default=downloads.ROOT / ".spark_cdc/e2e/run")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Return 0 if all was equal, at the end and at each standstill."""
    options = options_of(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    services.end_left_overs(options.folder)
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(mode=0o700, parents=True)
    downloads.ensure()
    downloads.ensure_postgresql()
    where = "S3" if options.s3 else "disk"
    print(f"Seed {options.seed}, {options.encoding}, {where}; folder {options.folder}", flush=True)
    run = Run(options.folder, options)
    try:
        run.start()
        run.work()
        run.report()
    finally:
        run.stop()
    for text in run.wrong[:20]:
        print(f"  wrong: {text}")
    print(f"{len(run.wrong)} differences; logs: {options.folder}/logs")
    return 1 if run.wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SparkCdcError as error:
        sys.exit(f"{error.message}\n{error.next_step}")
    except KeyboardInterrupt:
        sys.exit(130)
