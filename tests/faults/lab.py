"""A Spark server that may be killed, runs of dbt that may be killed, and what readers see."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import scale
from faults.cells import DATES, SLOW, STEPS, TRUTH, Cell
from faults.proxy import Proxy, Statement, Trap
from project import INTERPRETED, Project
from quick_jvm import JVM, SPARK
from spark_cdc.server import local as local_server
from warehouse import give_secret

TESTS = Path(__file__).resolve().parents[1]
# These servers live for a minute and see a few rows: nobody waits for a compiler.
QUICK = (
    INTERPRETED
    | dict(one.split("=") for one in SPARK)
    | {
        "spark.driver.extraJavaOptions": JVM,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
    }
)
TOO_LONG = 600  # seconds; a run or a server's start that takes longer hangs, however short CPU is

# What of cdc_loads is the same in each attempt.
LOG_COLUMNS = (
    "entity, business_time, load_type, is_checkpoint, rows_in, rows_rejected, rows_inserted,"
    " rows_updated, rows_deleted, rows_unchanged, rows_not_supplied, rows_prior, rows_current,"
    " events_late, events_control, events_unexpected,"
    " regexp_replace(parent_load_id, '-[0-9a-f]{8}$', '') as parent"
)

State = dict[str, tuple[Any, ...]]  # view to its rows; a view that is not there is not in it


class Server:
    """A Spark server with a state folder of its own, on one port for good."""

    def __init__(
        self, state: Path, port: int = 0, warehouse: Path | None = None, **conf: str
    ) -> None:
        conf = {**QUICK, **conf}
        self.settings = local_server.settings(
            state,
            port=str(port),
            memory="1g",
            warehouse=str(warehouse) if warehouse else None,
            conf=[f"{key}={value}" for key, value in conf.items()],
            timeout=str(TOO_LONG),
            formats=scale.WITH,
        )
        self.port = port
        self.pid = 0
        self.boots = 0

    def start(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            status = local_server.start(self.settings)
        self.port, self.pid = status.port, status.pid
        self.settings = local_server.settings(
            self.settings.state_dir,
            port=str(self.port),
            memory="1g",
            warehouse=str(self.settings.warehouse),
            conf=[f"{key}={value}" for key, value in self.settings.conf.items()],
            timeout=str(TOO_LONG),
            formats=scale.WITH,
        )
        self.boots += 1

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def stop(self) -> None:
        local_server.stop(self.settings.state_dir, grace=5)

    def cursor(self) -> Any:
        return local_server.connect(self.port).cursor()


class Run:
    """One run of dbt in a process of its own."""

    def __init__(self, number: int, folder: Path) -> None:
        self.number, self.folder = number, folder
        self.pid: int | None = None
        self.code: int | None = None
        self.changed = threading.Condition()

    def _await(self, what: str, seconds: float) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: getattr(self, what) is not None, seconds)

    @property
    def printed(self) -> str:
        path = self.folder / "printed.txt"
        text = path.read_text(errors="replace") if path.exists() else ""
        return re.sub(r"\x1b\[[0-9;]*m", "", text)

    def kill(self) -> None:
        """SIGKILL, and wait until the process is gone."""
        self._await("pid", 30)
        assert self.pid
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def wait(self, seconds: float = TOO_LONG) -> int:
        """The exit code; an error if the run hangs."""
        if not self._await("code", seconds):
            if self.pid:
                os.kill(self.pid, signal.SIGKILL)
            raise AssertionError(f"dbt hangs:\n{self.printed[-3000:]}")
        assert self.code is not None
        return self.code


class Runner:
    """The process that forks runs of dbt."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.folder = folder
        self.runs: dict[int, Run] = {}
        self.numbers = itertools.count(1)
        self.ready = threading.Event()
        self.errors = (folder / "runner.txt").open("w")
        path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH", "")]))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "faults.runner", str(project)],
            cwd=TESTS,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.process.stdout or ():
            event = json.loads(line)
            if event.get("ready"):
                self.ready.set()
                continue
            run = self.runs[event["run"]]
            with run.changed:
                run.pid = event.get("pid", run.pid)
                run.code = event.get("code", run.code)
                run.changed.notify_all()

    def start(self, words: Sequence[str], schema: str, port: int, **env: str) -> Run:
        if not self.ready.wait(120):
            raise AssertionError((self.folder / "runner.txt").read_text()[-3000:])
        number = next(self.numbers)
        run = self.runs[number] = Run(number, self.folder / f"run_{number}")
        order = {
            "run": number,
            "words": list(words),
            "env": {"FAULTS_PORT": str(port), "FAULTS_SCHEMA": schema, **env},
            "schema": schema,
            "folder": str(run.folder),
        }
        assert self.process.stdin
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return run

    def close(self) -> None:
        for run in self.runs.values():
            if run.pid and run.code is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(run.pid, signal.SIGKILL)
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)
        self.errors.close()


@dataclass
class Reference:
    """A cell's undisturbed loads: what dbt sent, what readers saw, what cdc_loads said."""

    scripts: dict[str, list[Statement]]
    states: dict[str, State]
    logs: dict[str, dict[str, Any]]


class Lab:
    """The project with all cells, a server, a runner."""

    def __init__(
        self, folder: Path, cells: Iterable[Cell], server: Server, steps: tuple[str, ...] = STEPS
    ) -> None:
        self.cells, self.slow, self.steps = tuple(cells), SLOW, steps
        self.server = server
        self.project = Project(folder / "project", 0, "unused", None, name="faults")
        fields = {
            "port": "{{ env_var('FAULTS_PORT') | as_number }}",
            "schema": "{{ env_var('FAULTS_SCHEMA') }}",
            "threads": "{{ env_var('FAULTS_THREADS', '1') | as_number }}",
            "query_retries": "{{ env_var('FAULTS_QUERY_RETRIES', '0') | as_number }}",
            "connect_retries": "{{ env_var('FAULTS_CONNECT_RETRIES', '0') | as_number }}",
            "connect_timeout": 1,
        }
        self.project.profile(**fields)
        for cell in self.cells:
            self.project.entity(cell.name, dict(cell.columns), **cell.settings)
            for model in cell.of_archive:
                path = self.project.folder / f"models/{cell.name}/{cell.name}_{model}.sql"
                path.write_text("{{ spark_cdc.event_versions() }}\n")
        columns = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
        self.project.entity(SLOW.name, columns, **SLOW.settings)
        self.runner = Runner(self.project.folder, folder)
        self.numbers = itertools.count(1)
        self.references: dict[str, Reference] = {}
        self.proxies: list[Proxy] = []

    def close(self) -> None:
        for proxy in self.proxies:
            proxy.close()
        self.runner.close()

    # ------------------------------------------------------------ runs

    def schema(self) -> str:
        """The name of a schema that is not there."""
        return f"faults_{next(self.numbers)}"

    def land(self, cell: Cell, step: str) -> None:
        """Lands the data of a load; what lies there already stays: another may be reading it."""
        lines = cell.lines(step)
        file = self.project.landing / cell.name / DATES[step] / "data.csv"
        if not file.exists() or file.read_text("utf-8").splitlines() != lines:
            self.project.land(cell.name, DATES[step], *lines)

    def proxy(self, *traps: Trap) -> Proxy:
        proxy = Proxy(self.server.port, list(traps))
        self.proxies.append(proxy)
        return proxy

    def start(
        self,
        cells: Iterable[Cell],
        date: str,
        schema: str,
        port: int = 0,
        variables: Mapping[str, Any] | None = None,
        **env: str,
    ) -> Run:
        """`dbt run` of some entities for a date, by a proxy's port or directly, with more vars."""
        cells = list(cells)
        if any(cell.sensitive for cell in cells):
            give_secret(self.server.cursor(), f"{schema}_sensitive")
        names = [f"path:models/{cell.name}" for cell in cells]
        given = json.dumps({"business_date": date, **(variables or {})})
        words = ["run", "--select", "cdc_loads", *names, "--vars", given]
        return self.runner.start(words, schema, port or self.server.port, **env)

    def load(self, cell: Cell, step: str, schema: str, **env: str) -> Run:
        """A load that must succeed."""
        return self.load_date(cell, DATES[step], schema, **env)

    def load_date(self, cell: Cell, date: str, schema: str, **more: Any) -> Run:
        """The same of any date."""
        run = self.start([cell], date, schema, **more)
        assert run.wait() == 0, run.printed[-3000:]
        return run

    def operate(self, macro: str, schema: str, port: int = 0, **arguments: Any) -> Run:
        """`dbt run-operation` of one of the package's macros."""
        words = ["run-operation", f"spark_cdc.{macro}", "--args", json.dumps(arguments)]
        return self.runner.start(words, schema, port or self.server.port)

    # ------------------------------------------------------------ readers

    def look(self, cell: Cell, schema: str, cursor: Any) -> State:
        """What readers see of an entity: all rows of the views that are there."""
        cursor.execute(f"show databases like '{schema}'")
        if not cursor.fetchall():  # a first load that was killed before it did anything
            return {}
        there = set()
        cursor.execute(f"show databases like '{schema}|{schema}_sensitive'")
        for database in [row[0] for row in cursor.fetchall()]:
            for kind in ("tables", "views"):  # a table may be a view in Hive's list alone
                cursor.execute(f"show {kind} in {database} like '{cell.name}_*'")
                there |= {row[1] for row in cursor.fetchall()}
        views = [view for view in cell.views if view in there]
        if not views:
            return {}
        cursor.execute(
            " union all ".join(
                f"select '{view}' as view_name, to_json(struct(*)) as content from"
                f" {schema}{'_sensitive' if view.endswith('_sensitive') else ''}.{view}"
                for view in views
            )
        )
        rows: dict[str, list[str]] = {view: [] for view in views}
        for view, content in cursor.fetchall():
            # which attempt it was, and when
            named = re.sub(r',"load_record":"(?:[^"\\]|\\.)*"', "", content)
            rows[view].append(re.sub(r"(-[fde]c?)-[0-9a-f]{8}", r"\1", named))
        return {view: tuple(sorted(found)) for view, found in rows.items()}

    def committed(self, cell: Cell, schema: str, cursor: Any) -> set[str]:
        """The loads that count."""
        cursor.execute(f"select distinct load_id from {schema}.{cell.name}_committed")
        return {row[0] for row in cursor.fetchall()}

    def log_of(self, cell: Cell, schema: str, cursor: Any) -> dict[str, Any]:
        """Rows of cdc_loads by load, of the loads that count.

        Each has to be there once; others only if they were refused or undone, or a rerun took their
        place.
        """
        committed = self.committed(cell, schema, cursor)
        cursor.execute(
            f"select load_id, replaced_load_ids, load_type, {LOG_COLUMNS} from {schema}.cdc_loads"
            f" where entity = '{cell.name}' and status <> 'refused'"
        )
        rows = cursor.fetchall()
        names = [row[0] for row in rows if row[2] not in ("undo", "redo", "erase")]
        assert len(names) == len(set(names)), f"cdc_loads has a load twice: {names}"
        assert committed <= set(names), f"cdc_loads lacks {committed - set(names)}"
        replaced = {name for row in rows for name in (row[1] or "").split(", ")}
        assert set(names) - committed <= replaced, f"{names} are not all of {committed}"
        return {row[0][:-9]: tuple(row[3:]) for row in rows if row[0] in committed}

    def check(self, cell: Cell, step: str, schema: str, cursor: Any) -> None:
        """After a step all is as it is without a fault."""
        reference = self.references[cell.name]
        state = self.look(cell, schema, cursor)
        assert state == reference.states[step], differences(state, reference.states[step])
        assert self.log_of(cell, schema, cursor) == reference.logs[step]

    def side_by_side(self, schema: str) -> None:
        """Loads all cells at the same time into one schema; all must be as when they are alone."""
        cursor = self.server.cursor()
        for step in STEPS:
            for cell in self.cells:
                self.land(cell, step)
            runs = [(cell, self.start([cell], DATES[step], schema)) for cell in self.cells]
            for cell, run in runs:
                assert run.wait() == 0, f"{cell.name} {step}: {run.printed[-3000:]}"
            for cell in self.cells:
                self.check(cell, step, schema, cursor)

    def record(self) -> None:
        """Loads all cells without a fault, each in its schema, and notes what is to be seen."""
        schemas = {cell.name: self.schema() for cell in self.cells}
        cursor = self.server.cursor()
        for cell in self.cells:
            self.references[cell.name] = Reference({}, {}, {})
        for step in self.steps:
            runs = []
            for cell in self.cells:
                self.land(cell, step)
                proxy = self.proxy()
                run = self.start([cell], DATES[step], schemas[cell.name], proxy.port)
                runs.append((cell, proxy, run))
            for cell, proxy, run in runs:
                assert run.wait() == 0, run.printed[-3000:]
                proxy.close()
                reference, schema = self.references[cell.name], schemas[cell.name]
                reference.scripts[step] = proxy.statements
                reference.states[step] = self.look(cell, schema, cursor)
                reference.logs[step] = self.log_of(cell, schema, cursor)
                warehouse = Path(self.server.settings.warehouse)
                # Hive's schemas have another folder than their name
                of_schema = next(warehouse.glob(f"{schema}.db"), warehouse / schema)
                folder = of_schema / f"{cell.name}_ledger"
                suffix = ".orc" if cell.file_format == "orc" else ".parquet"
                files = [*folder.rglob("business_date=*/**/*.*")]
                assert {file.suffix for file in files if file.suffix != ".crc"} == {suffix}
                assert set(reference.states[step]) == set(cell.views)
                current = reference.states[step][cell.whole]
                rows = {row["id"]: row for row in map(json.loads, current)}
                assert len(rows) == len(current)
                seen = {i: (row["name"], f"{row['amount']:.2f}") for i, row in rows.items()}
                assert seen == TRUTH[step], f"{cell.name} after {step}"


def differences(found: State, wanted: State) -> str:
    """What two states differ in, in short."""
    lines = []
    for view in sorted(found.keys() | wanted.keys()):
        have, want = found.get(view), wanted.get(view)
        if have != want:
            extra = [row for row in have or () if row not in (want or ())]
            lacking = [row for row in want or () if row not in (have or ())]
            lines.append(f"{view}: {len(have or ())} rows, wanted {len(want or ())}")
            lines += [f"  not expected: {row}" for row in extra[:3]]
            lines += [f"  missing: {row}" for row in lacking[:3]]
    return "\n".join(lines)


class Reader(threading.Thread):
    """Looks at all views of a cell after the other, in a session of its own, and counts.

    Each look has to find one of the cell's states, whole, and never an older one than before.
    """

    def __init__(self, lab: Lab, schema: str) -> None:
        super().__init__(daemon=True)
        self.lab, self.schema = lab, schema
        self.stop = threading.Event()
        self.queries = 0
        self.seen: dict[str, list[str]] = {cell.name: [] for cell in lab.cells}
        self.wrong: list[str] = []

    def run(self) -> None:
        cursor = self.lab.server.cursor()
        while not self.stop.wait(0.2):  # the loads are to have some of the machine
            for cell in self.lab.cells:
                try:
                    self._judge(cell, self.lab.look(cell, self.schema, cursor))
                except Exception as error:
                    self.wrong.append(f"{cell.name}: {error}"[:2000])
                self.queries += 1

    def _judge(self, cell: Cell, state: State) -> None:
        seen = self.seen[cell.name]
        if not any(state.values()):
            if seen:
                self.wrong.append(f"{cell.name}: nothing is there after {seen[-1]}")
            return
        states = self.lab.references[cell.name].states
        for step in STEPS[STEPS.index(seen[-1]) if seen else 0 :]:
            wanted = states[step]
            # the views of a first load appear one by one
            if all(rows == wanted[view] for view, rows in state.items()):
                seen.append(step)
                if step != "first" and set(state) != set(wanted):
                    self.wrong.append(f"{cell.name}: {step} lacks {set(wanted) - set(state)}")
                return
        self.wrong.append(
            f"{cell.name}: no state after {seen[-1:]}: {differences(state, states[STEPS[0]])}"
        )
