"""What the measurements need: servers, dbt projects, clocks, memory."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml

from spark_cdc import project
from spark_cdc.errors import SparkCdcError
from spark_cdc.scaffold import files, new
from spark_cdc.server import local as server

# What a dbt project of one entity shares with this one: as symbolic links, which dbt follows at
# the top of its paths only, and as copies.
LINKED = ("dbt_project.yml", "packages.yml", "dbt_packages", "macros", "seeds", "tests", "docs")
COPIED = ("models/cdc_loads/cdc_loads.sql", "models/technical_columns.md")


@dataclass(frozen=True)
class Statement:
    """One statement that dbt sent: the model it belongs to, its text, seconds on the server."""

    node: str
    sql: str
    seconds: float


@dataclass(frozen=True)
class Run:
    """One dbt command."""

    seconds: float
    statements: Sequence[Statement]

    def of(self, pattern: str) -> float:
        """Return the seconds of the statements that begin with a regular expression."""
        return sum(s.seconds for s in self.statements if re.match(pattern, s.sql))

    @property
    def all(self) -> float:
        return sum(s.seconds for s in self.statements)

    @property
    def ledger(self) -> float:
        return self.of(r"insert overwrite table \S+_ledger ")

    @property
    def events(self) -> float:
        """The write of the typed events."""
        return self.of(r"insert overwrite table \S+_events ")

    @property
    def summary(self) -> float:
        """What the ledger asks of the events before it is written."""
        return sum(
            s.seconds
            for s in self.statements
            if s.node.endswith("_ledger") and s.sql.startswith("select")
        )

    @property
    def rest(self) -> float:
        """Plan, catalogue, views and the log of loads."""
        return self.all - self.events - self.summary - self.ledger - self.audit - self.commit

    @property
    def commit(self) -> float:
        return self.of(r"(create|alter) view \S+_committed as")

    @property
    def audit(self) -> float:
        """The guards' statements: those of <entity>_committed that only ask."""
        return sum(
            s.seconds
            for s in self.statements
            if s.node.endswith("_committed")
            and re.match(r"select|create or replace temporary view", s.sql)
        )


@dataclass
class Measure:
    """Several measurements of one thing.

    seconds; cpu, CPU seconds of the server; started, CPU seconds of the processes that were started
    and have ended, such as dbt; memory, the server's highest.
    """

    name: str
    seconds: list[float] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    started: list[float] = field(default_factory=list)
    memory: int = 0

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def part(self, name: str) -> float:
        """Return the median over the dbt runs of one of Run's figures."""
        return statistics.median(getattr(run, name) for run in self.runs)

    @property
    def spread(self) -> str:
        return f"{min(self.seconds):.1f} to {max(self.seconds):.1f}"


class Server:
    """A Spark Thrift server of the benchmark's own, and a session on it."""

    def __init__(
        self, state: Path, memory: str, formats: Sequence[str] = (), conf: Sequence[str] = ()
    ) -> None:
        self.state = state
        server.stop(state)
        shutil.rmtree(state, ignore_errors=True)
        chosen = server.settings(state, port="0", memory=memory, formats=formats, conf=conf)
        self.status = server.start(chosen)
        self.warehouse = chosen.warehouse
        self._connection = server.connect(self.status.port)
        self._cursor = self._connection.cursor()

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        self._cursor.execute(sql)
        return self._cursor.fetchall() if self._cursor.description else []

    def timed(self, *statements: str) -> float:
        """Run statements one after the other and return their seconds."""
        begun = time.monotonic()
        for sql in statements:
            self.execute(sql)
        return time.monotonic() - begun

    def parse(self) -> float:
        """CPU seconds of `from_json` of a million messages: by it machines can be compared.

        The lowest of three rounds.
        """
        message = (
            'concat(\'{"id":\', id, \',"name":"customer \', id % 1000, \'","amount":"\','
            ' id / 100, \'","is_open":true,"changed_at":"2024-01-01 10:00:00"}\')'
        )
        columns = (
            "id bigint, name string, amount decimal(18,6), is_open boolean, changed_at timestamp"
        )
        sql = f"select bit_xor(xxhash64(from_json({message}, '{columns}'))) from range(1000000)"
        took = Measure("from_json")
        for _ in range(3):
            measure(took, self, self.timed, sql)
        return min(took.cpu)

    def reset_peak(self) -> None:
        """Forget the process's highest memory so far (Linux)."""
        Path(f"/proc/{self.status.pid}/clear_refs").write_text("5")

    @property
    def cpu(self) -> float:
        """CPU seconds of the process so far, user's and system's."""
        used = psutil.Process(self.status.pid).cpu_times()
        return float(used.user + used.system)

    @property
    def peak(self) -> int:
        return server.resident_memory(self.status.pid)[1]

    def stop(self) -> None:
        server.stop(self.state)


def _ended() -> float:
    """CPU seconds of the processes that this one has started and that have ended."""
    used = psutil.Process().cpu_times()
    return float(used.children_user + used.children_system)


def measure(
    into: Measure, on: Server, action: Callable[..., float | Run], *arguments: object
) -> Any:
    """Do something once, add what it took to a measurement, and return that."""
    on.reset_peak()
    before, started = on.cpu, _ended()
    result = action(*arguments)
    into.cpu.append(on.cpu - before)
    into.started.append(_ended() - started)
    into.memory = max(into.memory, on.peak)
    if isinstance(result, Run):
        into.runs.append(result)
        into.seconds.append(result.seconds)
    else:
        into.seconds.append(result)
    return result


class Project:
    """A dbt project of one entity, and of others that commands load with it, whose macros are this
    project's."""

    def __init__(
        self, folder: Path, entity: new.Entity, on: Server, schema: str, *others: new.Entity
    ) -> None:
        self.folder, self.entity, self.on, self.schema = folder, entity, on, schema
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "models").mkdir(parents=True)
        for name in LINKED:
            if (project.root() / name).exists():
                (folder / name).symlink_to(project.root() / name)
        for name in COPIED:
            shutil.copy(project.root() / name, folder / "models")
        self.describe(entity)
        for other in others:
            files.write(other, folder / "models")

    def describe(self, entity: new.Entity) -> None:
        """Write the entity's models, in place of those that were there."""
        self.entity = entity
        shutil.rmtree(self.folder / "models" / entity.name, ignore_errors=True)
        files.write(entity, self.folder / "models")

    @property
    def environment(self) -> dict[str, str]:
        """What dbt and spark-cdc read, so that they take this project and server."""
        return {
            **os.environ,
            "SPARK_CDC_PORT": str(self.on.status.port),
            "SPARK_CDC_SCHEMA": self.schema,
            "SPARK_CDC_PROJECT_DIR": str(self.folder),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "DBT_PROFILES_DIR": str(project.root() / "profiles"),
        }

    def table(self, kind: str) -> str:
        return f"{self.schema}.{self.entity.name}_{kind}"

    def load(self, day: str) -> Run:
        """Run the plain command for a business date."""
        return self.dbt("run", "--vars", project.variables({"business_date": day}))

    def dbt(self, *words: str) -> Run:
        """Run a dbt command, and read from dbt's log what took how long.

        dbt parses anew, as it does whenever the date in --vars is another than at the last run.
        """
        (self.folder / "target" / "partial_parse.msgpack").unlink(missing_ok=True)
        logs = self.folder / "logs"
        shutil.rmtree(logs, ignore_errors=True)
        command = project.dbt_command(*words)
        command[command.index("--project-dir") + 1] = str(self.folder)
        command += ["--log-format-file", "json", "--log-path", str(logs)]
        begun = time.monotonic()
        out = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        seconds = time.monotonic() - begun
        if out.returncode:
            raise SparkCdcError(
                f"dbt {' '.join(words)} of {self.entity.name} failed:\n{out.stdout[-3000:]}",
                f"Its log is in {logs}",
            )
        return Run(seconds, read_log(logs / "dbt.log"))

    def set(self, **settings: object) -> None:
        """Add settings to the entity's YAML."""
        file = self.folder / "models" / self.entity.name / f"{self.entity.name}.yml"
        described = yaml.safe_load(file.read_text())
        stage = next(one for one in described["models"] if one["name"].startswith("stg_"))
        stage["config"]["meta"]["spark_cdc"] |= settings
        file.write_text(yaml.safe_dump(described))

    def command(self, *words: str, is_shown: bool = False) -> str:
        """Run a command of spark-cdc and return what it printed, unless the terminal gets it."""
        done = subprocess.run(
            [sys.executable, "-m", "spark_cdc.cli", *words],
            env=self.environment, capture_output=not is_shown, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode:
            told = "" if is_shown else f":\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
            raise SparkCdcError(f"spark-cdc {' '.join(words)} failed{told}")
        return done.stdout or ""

    def timed(self, *words: str, is_shown: bool = False) -> float:
        """Run a command of spark-cdc and return its seconds."""
        begun = time.monotonic()
        self.command(*words, is_shown=is_shown)
        return time.monotonic() - begun

    def compiled(self, model: str) -> str:
        folder = self.folder / "target" / "compiled" / "spark_cdc" / "models" / self.entity.name
        return (folder / f"{model}.sql").read_text()


def read_log(log: Path) -> list[Statement]:
    """Return the statements in dbt's log (JSON lines), each with its seconds."""
    statements: list[Statement] = []
    open_ones: dict[tuple[str, str], tuple[str, str]] = {}
    for line in log.read_text().splitlines():
        event = json.loads(line)
        kind, data = event["info"]["name"], event["data"]
        if kind not in ("SQLQuery", "SQLQueryStatus"):
            continue
        node = data.get("node_info", {}).get("node_name", "")
        thread = (event["info"]["thread"], node)
        if kind == "SQLQuery":
            sql = re.sub(r"^\s*(/\*.*?\*/\s*)+", "", data["sql"], flags=re.S)
            open_ones[thread] = (node, sql)
        elif thread in open_ones:
            statements.append(Statement(*open_ones.pop(thread), seconds=data["elapsed"]))
    return statements


def machine() -> Mapping[str, str]:
    """Return what the results depend on."""
    cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    total, _ = server.machine_memory()
    return {
        "cores": str(os.cpu_count()),
        "processor": cpu[1].strip() if cpu else "unknown",
        "memory": f"{total / 2**30:.0f} GiB",
    }
