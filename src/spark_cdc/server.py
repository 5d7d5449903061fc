"""A Spark Thrift server on this machine: start, stop, status, logs.

Everything that it needs and leaves behind is in one folder, the state folder:

    server.json, server.pid   the process: pid, start time (a recycled pid is recognised), port, …
    server.log, server.log.1  output of this server and of the one before
    conf/                     spark-defaults.conf and log4j2.properties, written at each start
    metastore_db/, warehouse/ Derby metastore and tables
    tmp/                      Spark's scratch files, emptied at each start
    java/                     a Java home, where the Java found lacks a module (see java.py)

Several servers run side by side in different state folders.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spark_cdc import java, project
from spark_cdc.console import Step
from spark_cdc.errors import SparkCdcError

HOST = "127.0.0.1"
NOT_RUNNING = 3  # exit code of `status`, as for init scripts
NOT_ANSWERING = 4
MAIN_CLASS = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
MIB = 1024 * 1024
SMALLEST_HEAP = 512 * MIB  # Spark refuses less than 450 MB

LOG4J = """\
# Written by spark_cdc at each start of the server: warnings and errors only.
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n%ex
# Warnings of every start that mean nothing on one machine.
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
logger.conf.name = org.apache.hadoop.hive.conf.HiveConf
logger.conf.level = error
logger.store.name = org.apache.hadoop.hive.metastore.ObjectStore
logger.store.level = error
logger.schema.name = org.apache.hadoop.hive.metastore.HiveMetaStore
logger.schema.level = error
logger.spark.name = org.apache.spark.SparkConf
logger.spark.level = error
# Warnings of every statement, which has no job to cancel when it ends.
logger.jobs.name = org.apache.spark.scheduler.DAGScheduler
logger.jobs.level = error
"""

# What the log says when a start fails: pattern, next step.
REMEDIES = (
    (
        r"Could not reserve enough space|insufficient memory|Cannot allocate memory",
        "Give it less memory: --memory 1g (or SPARK_CDC_MEMORY=1g).",
    ),
    (
        r"Address already in use|BindException",
        "Choose another port: --port 10020 (or export SPARK_CDC_PORT=10020).",
    ),
    (
        r"Another instance of Derby may have already booted",
        "Another process has the metastore open, perhaps dbt's `session` target: end it first.",
    ),
    (
        r"UnsupportedClassVersionError|Unrecognized VM option",
        "This Java does not suit Spark: set JAVA_HOME to a Java 17 or 21.",
    ),
    (
        r"ClassNotFoundException|NoClassDefFoundError",
        "A class is missing: check --jars and --conf.",
    ),
)


# ---------------------------------------------------------------- settings


@dataclasses.dataclass(frozen=True)
class Settings:
    """How to start a server. `port` 0: any free one. `memory` in bytes. `cores` 0: all."""

    state_dir: Path
    port: int
    memory: int
    cores: int
    warehouse: Path
    conf: Mapping[str, str]
    jars: Sequence[Path]
    timeout: float


def parse_memory(text: str) -> int:
    """Return bytes for `512m`, `2g`.

    Raises SparkCdcError if the text is anything else or less than Spark can work with.
    """
    match = re.fullmatch(r"(\d+)([mMgG])[bB]?", text.strip())
    if not match:
        raise SparkCdcError(f"memory {text!r} is not understood", "Write it like 512m or 2g.")
    size = int(match[1]) * (MIB if match[2] in "mM" else 1024 * MIB)
    if size < SMALLEST_HEAP:
        raise SparkCdcError(
            f"memory {text} is too little: Spark needs at least {SMALLEST_HEAP // MIB}m",
            "Give it more: --memory 1g (or SPARK_CDC_MEMORY=1g).",
        )
    return size


def parse_conf(pairs: Sequence[str], environment: str = "") -> dict[str, str]:
    """Return Spark settings from `k=v,k=v` of the environment and repeated `k=v` options."""
    inherited = re.split(r",(?=\s*[\w.\-]+=)", environment) if environment.strip() else []
    conf = {}
    for pair in [*inherited, *pairs]:
        key, equals, value = pair.strip().partition("=")
        if not equals or not re.fullmatch(r"[\w.\-]+", key):
            raise SparkCdcError(
                f"Spark setting {pair!r} is not key=value",
                "Write --conf spark.sql.shuffle.partitions=16, or several in SPARK_CDC_SPARK_CONF,"
                " separated by commas.",
            )
        conf[key] = value
    return conf


def _number(text: str, what: str, least: int, most: int, example: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text.strip()) or not least <= int(text) <= most:
        raise SparkCdcError(
            f"{what} {text!r} is not a number from {least} to {most}", f"For example: {example}"
        )
    return int(text)


def machine_memory() -> tuple[int, int]:
    """Return bytes of memory: all of the machine's, and what is available now.

    The limits of a container (cgroup) count too.
    """
    total = available = 0
    with contextlib.suppress(OSError):
        sizes = dict(re.findall(r"^(\w+):\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M))
        total = int(sizes.get("MemTotal", 0)) * 1024
        available = int(sizes.get("MemAvailable", 0)) * 1024
    if not total:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        available = total
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        with contextlib.suppress(OSError, ValueError):
            most = int(Path(limit).read_text())
            if most < total:
                total = most
                available = min(available, most - int(Path(used).read_text()))
    return total, available


def default_memory() -> int:
    """Return a quarter of the machine's memory, between 1 and 4 GiB."""
    return max(1024 * MIB, min(4096 * MIB, machine_memory()[0] // 4 // MIB * MIB))


def settings(
    state_dir: Path,
    port: str | None = None,
    memory: str | None = None,
    cores: str | None = None,
    warehouse: str | None = None,
    conf: Sequence[str] = (),
    jars: Sequence[str] = (),
    timeout: str | None = None,
) -> Settings:
    """Return settings from options, else from SPARK_CDC_* variables, else the defaults.

    Raises SparkCdcError for a value that makes no sense.
    """

    def choose(option: str | None, variable: str, default: str) -> str:
        return option if option is not None else os.environ.get(variable) or default

    asked = choose(memory, "SPARK_CDC_MEMORY", "")
    folder = Path(choose(warehouse, "SPARK_CDC_WAREHOUSE", str(state_dir / "warehouse")))
    files = []
    for entry in [*os.environ.get("SPARK_CDC_JARS", "").split(","), *jars]:
        for name in filter(None, (part.strip() for part in entry.split(","))):
            path = Path(name).expanduser().absolute()
            if not path.is_file():
                raise SparkCdcError(f"jar {name}: no such file", "Check --jars or SPARK_CDC_JARS.")
            files.append(path)
    return Settings(
        state_dir=state_dir,
        port=_number(
            choose(port, "SPARK_CDC_PORT", str(project.DEFAULT_PORT)),
            "port", 0, 65535, "--port 10020 (0: any free one)",
        ),
        memory=parse_memory(asked) if asked else default_memory(),
        cores=_number(
            choose(cores, "SPARK_CDC_CORES", "0"), "cores", 0, 4096, "--cores 4 (0: all)"
        ),
        warehouse=folder.expanduser() if folder.is_absolute() else project.root() / folder,
        conf=parse_conf(conf, os.environ.get("SPARK_CDC_SPARK_CONF", "")),
        jars=files,
        timeout=float(
            _number(
                choose(timeout, "SPARK_CDC_START_TIMEOUT", "120"),
                "timeout", 1, 3600, "--timeout 120 (seconds)",
            )
        ),
    )  # fmt: skip


# ---------------------------------------------------------------- processes


def start_time(pid: int) -> str | None:
    """Return something that tells this process from a later one of the same pid; None if gone.

    On Linux the machine's boot and the start in clock ticks, elsewhere what `ps` says.
    """
    if pid <= 0:
        return None
    if Path("/proc/self/stat").exists():
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return None
        fields = stat.rpartition(")")[2].split()  # the name in front may hold anything
        if fields[0] in "ZX":
            return None
        boot = Path("/proc/sys/kernel/random/boot_id")
        return f"{boot.read_text().strip() if boot.exists() else ''}:{fields[19]}"
    out = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True
    )
    state, _, started = out.stdout.strip().partition(" ")
    return started.strip() if out.returncode == 0 and not state.startswith("Z") else None


def resident_memory(pid: int) -> tuple[int, int]:
    """Return bytes of memory that a process has now, and had at most (0: unknown)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        now, peak = (
            re.search(rf"^{name}:\s+(\d+) kB", status, re.M) for name in ("VmRSS", "VmHWM")
        )
        return (int(now[1]) * 1024 if now else 0), (int(peak[1]) * 1024 if peak else 0)
    except OSError:
        out = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True)
        return int(out.stdout.strip() or 0) * 1024, 0


def connect(port: int, host: str = HOST, schema: str = "default") -> Any:
    """Return a PyHive connection to a Thrift server."""
    from pyhive import hive

    return hive.connect(host, port=port, username="spark_cdc", database=schema)


def _ask(port: int, timeout: float) -> str | None:
    """Return the Spark version that the server on `port` names; None if it does not answer."""
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        answer: list[str] = []

        def query() -> None:
            with contextlib.suppress(Exception):
                connection = connect(port)
                cursor = connection.cursor()
                cursor.execute("select version()")
                answer.append(str(cursor.fetchone()[0]).split()[0])
                connection.close()

        # In a thread, because the client has no time limit of its own.
        thread = threading.Thread(target=query, daemon=True)
        thread.start()
        thread.join(timeout)
        return answer[0] if answer else None
    return None


# ---------------------------------------------------------------- state


@dataclasses.dataclass(frozen=True)
class Status:
    """What is known of a state folder's server.

    state: running, starting (alive, does not answer yet), hung (alive, no longer answers),
        stopped, crashed (it ended by itself), recycled (another process has its pid now).
    info: the content of server.json, if there is one.
    """

    state: str
    info: Mapping[str, Any]

    @property
    def alive(self) -> bool:
        return self.state in ("running", "starting", "hung")

    @property
    def pid(self) -> int:
        return int(self.info["pid"])

    @property
    def port(self) -> int:
        return int(self.info["port"])


def _read(state_dir: Path) -> dict[str, Any]:
    try:
        info = json.loads((state_dir / "server.json").read_text())
    except (OSError, ValueError):
        return {}
    known = isinstance(info, dict) and {"pid", "start_time", "port"} <= info.keys()
    return info if known else {}


def _write(state_dir: Path, info: Mapping[str, Any]) -> None:
    for name, text in (
        ("server.json", json.dumps(info, indent=2) + "\n"),
        ("server.pid", f"{info['pid']}\n"),
    ):
        new = state_dir / f"{name}.new"
        new.write_text(text)
        new.chmod(0o600)
        new.replace(state_dir / name)


def _forget(state_dir: Path) -> None:
    for name in ("server.json", "server.pid"):
        (state_dir / name).unlink(missing_ok=True)


def status(state_dir: Path, timeout: float = 10) -> Status:
    """Return what is known of the server; asks it a query if its process is there."""
    info = _read(state_dir)
    if not info:
        return Status("stopped", {})
    found = start_time(info["pid"])
    if found is None:
        return Status("crashed", info)
    if found != info["start_time"]:
        return Status("recycled", info)
    if _ask(info["port"], timeout):
        return Status("running", info)
    return Status("hung" if info.get("ready") else "starting", info)


def running_port(state_dir: Path) -> int | None:
    """Return the port of the state folder's server if its process is there; asks no query."""
    info = _read(state_dir)
    if info and start_time(info["pid"]) == info["start_time"]:
        return int(info["port"])
    return None


# ---------------------------------------------------------------- start


@contextlib.contextmanager
def _locked(state_dir: Path, wait: float) -> Iterator[None]:
    """Hold the state folder's lock, so that two starts can't run at once."""
    with (state_dir / "server.lock").open("w") as file:
        deadline = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise SparkCdcError(
                        f"another start is under way in {state_dir}",
                        "Wait for it, then ask: spark-cdc server status",
                    ) from error
                time.sleep(0.2)
        yield


def _check_memory(memory: int) -> None:
    total, available = machine_memory()
    if memory > available:
        fits = available // 2 // MIB // 128 * 128
        advice = f"give the server less: --memory {fits}m (or SPARK_CDC_MEMORY={fits}m)"
        raise SparkCdcError(
            f"too little memory: the server would take {memory // MIB} MB, {available // MIB} MB"
            f" of {total // MIB} MB are available",
            "End other programs"
            + (
                f", or {advice}." if fits >= SMALLEST_HEAP // MIB else ". It needs 512 MB at least."
            ),
        )


def _choose_port(port: int) -> int:
    """Return `port` if it is free, or a free one for 0."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise SparkCdcError(
                f"port {port} can't be used: {error.strerror or error}",
                f"Choose another: --port {port + 1 if port < 65535 else 10020} (or export"
                " SPARK_CDC_PORT=…, which dbt's profile reads too; 0: any free one)."
                f" Who has it: ss -ltnp 'sport = :{port}'",
            ) from error
        return int(probe.getsockname()[1])


def _spark_home() -> Path:
    try:
        import pyspark
    except ImportError as error:
        raise SparkCdcError("pyspark is not installed", "Run: make demo") from error
    return Path(pyspark.__file__).parent


def spark_conf(chosen: Settings) -> dict[str, str]:
    """Return the Spark settings of a server: ours, overruled by the user's."""
    state = chosen.state_dir
    tmp = state / "tmp"
    cores = chosen.cores or os.cpu_count() or 1
    conf = {
        "spark.app.name": "spark_cdc",
        "spark.master": f"local[{chosen.cores or '*'}]",
        "spark.driver.memory": f"{chosen.memory // MIB}m",
        "spark.driver.bindAddress": HOST,
        "spark.driver.host": HOST,
        "spark.driver.extraJavaOptions": (
            f'"-Djava.io.tmpdir={tmp}" "-Dderby.stream.error.file={tmp / "derby.log"}"'
        ),
        "spark.local.dir": str(tmp),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "false",
        "spark.sql.warehouse.dir": str(chosen.warehouse),
        "spark.sql.parquet.compression.codec": "zstd",
        # An upper bound: adaptive execution joins small partitions.
        "spark.sql.shuffle.partitions": str(max(8, 4 * cores)),
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={state / 'metastore_db'};create=true"
        ),
        "spark.hadoop.fs.permissions.umask-mode": "077",
        # Hive's scratch folders are in /tmp otherwise, where two users get into each other's way.
        "spark.hadoop.hive.exec.scratchdir": str(tmp / "hive"),
        "spark.hadoop.hive.exec.local.scratchdir": str(tmp / "hive-local"),
        # One per session: Hive deletes the folder when a session ends, others would lose theirs.
        "spark.hadoop.hive.downloaded.resources.dir": f"{tmp}/hive-${{hive.session.id}}-resources",
        "spark.hadoop.hive.server2.logging.operation.enabled": "false",
        # By default each statement gets a new thread, until there are 100, and each reads the whole
        # configuration again for its connection to the metastore.
        "spark.hadoop.hive.server2.async.exec.threads": "16",
        "spark.hadoop.hive.server2.async.exec.keepalive.time": "3600s",
    }
    if chosen.jars:
        conf["spark.driver.extraClassPath"] = os.pathsep.join(map(str, chosen.jars))
    own = "spark.driver.extraJavaOptions"
    user = dict(chosen.conf)
    if own in user:
        user[own] = f"{conf[own]} {user[own]}"
    return {**conf, **user}


def _properties(values: Mapping[str, str]) -> str:
    """Return a Java properties file."""

    def escape(text: str) -> str:
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")

    lines = [f"{key}={escape(value)}" for key, value in sorted(values.items())]
    return "# Written by spark_cdc at each start of the server.\n" + "\n".join(lines) + "\n"


def _environment(chosen: Settings, java_home: Path) -> dict[str, str]:
    """Return the server's environment: nothing of another Spark's or Hadoop's settings."""
    foreign = re.compile(r"(SPARK_(?!CDC_)|PYSPARK_|HADOOP_|HIVE_|YARN_)")
    kept = {key: value for key, value in os.environ.items() if not foreign.match(key)}
    return {
        **kept,
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(_spark_home()),
        "SPARK_CONF_DIR": str(chosen.state_dir / "conf"),
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_LOCAL_IP": HOST,
    }


def _command(port: int, environment: Mapping[str, str]) -> list[str]:
    """Return the server's command line, as Spark's own launcher builds it.

    This is what bin/spark-submit does, without the need for bash and without a second process.
    """
    executable = Path(environment["JAVA_HOME"]) / "bin" / "java"
    jars = Path(environment["SPARK_HOME"]) / "jars"
    launcher = [str(executable), "-Xmx128m", "-cp", f"{jars}/*", "org.apache.spark.launcher.Main"]
    submit = ["org.apache.spark.deploy.SparkSubmit", "--class", MAIN_CLASS]
    hive = [
        *("--hiveconf", f"hive.server2.thrift.port={port}"),
        *("--hiveconf", f"hive.server2.thrift.bind.host={HOST}"),
    ]
    out = subprocess.run(
        [*launcher, *submit, *hive],
        env=dict(environment),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    # What comes before the first NUL is messages, then one argument before each NUL.
    words = out.stdout.split("\0")[1:-1]
    if out.returncode or not words:
        raise SparkCdcError(
            f"Spark's launcher failed: {(out.stderr or out.stdout).strip()[-2000:]}",
            f"Check --conf, and the Java with: {executable} -version",
        )
    return [words[0].lstrip("\n"), *words[1:]]


def _prepare(chosen: Settings) -> None:
    """Make the folders, readable by the user only."""
    state = chosen.state_dir
    is_default = state.name == ".spark_cdc"
    if not state.exists() or is_default:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.chmod(0o700)
    if not chosen.warehouse.exists():
        chosen.warehouse.mkdir(mode=0o700, parents=True)
    shutil.rmtree(state / "tmp", ignore_errors=True)
    for name in ("conf", "tmp", "tmp/hive-local"):
        (state / name).mkdir(mode=0o700, exist_ok=True)
    for name, text in (
        ("spark-defaults.conf", _properties(spark_conf(chosen))),
        ("log4j2.properties", LOG4J),
    ):
        path = state / "conf" / name
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_text(text)
    log = state / "server.log"
    if log.exists():
        log.replace(state / "server.log.1")
    log.touch(mode=0o600)


def _why(log: Path, code: int | None) -> SparkCdcError:
    """Return the error for a server that ended while it started, from its log."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    telling = re.compile(r"ERROR|FATAL|Exception|Error:|Caused by|^Error|error occurred")
    shown = [line for line in lines if telling.search(line)][:12] or lines[-12:]
    text = "".join(f"\n  | {line[:300]}" for line in shown)
    remedy = next((step for pattern, step in REMEDIES if re.search(pattern, "\n".join(lines))), "")
    if code == -signal.SIGKILL:
        remedy = "Something killed it, perhaps for lack of memory: try --memory 1g."
    how = "" if code is None else f" (exit code {code})"
    return SparkCdcError(
        f"the server ended while it started{how}.{text}",
        f"{remedy} The whole log is in {log}".strip(),
    )


def start(chosen: Settings, if_needed: bool = False) -> Status:
    """Start a server and return when it answers a query.

    if_needed: a server that runs already is all right.

    Raises SparkCdcError when one runs already, when the port is taken, when memory or Java are
    missing, when the server ends or does not answer in time (it is ended then).
    """
    state = chosen.state_dir
    if not state.exists():
        state.mkdir(mode=0o700, parents=True)
    with _locked(state, chosen.timeout if if_needed else 0):
        before = status(state)
        if before.alive:
            if before.state == "running" and if_needed:
                print(f"Server runs already: pid {before.pid}, port {before.port}")
                return before
            what = "runs already" if before.state == "running" else "is there but does not answer"
            raise SparkCdcError(
                f"a server {what}: pid {before.pid}, port {before.port}, folder {state}",
                "Use it, or end it with: spark-cdc server stop."
                " One more beside it: --state-dir and --port.",
            )
        if before.info:
            print(f"{_story(before)}; cleaning up")
            _forget(state)
        _check_memory(chosen.memory)
        port = _choose_port(chosen.port)
        found = java.ensure()
        _prepare(chosen)
        environment = _environment(chosen, java.spark_home(found, state))
        return _launch(chosen, port, _command(port, environment), environment, found)


def _launch(
    chosen: Settings,
    port: int,
    command: list[str],
    environment: Mapping[str, str],
    found: java.Java,
) -> Status:
    state, log = chosen.state_dir, chosen.state_dir / "server.log"
    with Step("Start the Spark server") as step:
        with log.open("ab") as out:
            process = subprocess.Popen(
                command,
                cwd=project.root(),
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                umask=0o077,
            )
        try:
            info: dict[str, Any] = {
                "pid": process.pid,
                "start_time": start_time(process.pid),
                "host": HOST,
                "port": port,
                "started_at": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
                "ready": False,
                "warehouse": str(chosen.warehouse),
                "memory": f"{chosen.memory // MIB}m",
                "cores": chosen.cores or "all",
                "java": f"{found.version} ({found.home})",
                "spark": "",
                "log": str(log),
                "command": command,
            }
            _write(state, info)
            deadline = time.monotonic() + chosen.timeout
            while True:
                version = _ask(port, max(1.0, deadline - time.monotonic()))
                if process.poll() is not None:
                    raise _why(log, process.returncode)
                if version:
                    break
                if time.monotonic() > deadline:
                    raise SparkCdcError(
                        f"the server did not answer within {chosen.timeout:.0f} s",
                        f"Allow more time: --timeout 300. Its log is in {log}",
                    )
                time.sleep(0.2)
            info = {**info, "ready": True, "spark": version}
            _write(state, info)
            step.detail = f"pid {process.pid}, port {port}, Spark {version}"
        except BaseException:
            process.kill()
            process.wait()
            _forget(state)
            raise
    # The process outlives this one: no warning about that when the object is collected.
    process.returncode = 0
    return Status("running", info)


# ---------------------------------------------------------------- stop, status, logs


def stop(state_dir: Path, grace: float = 20) -> str:
    """End the state folder's server and return what was done.

    It gets SIGTERM, and SIGKILL after `grace` seconds. No process but the one that was started
    here is touched.
    """
    info = _read(state_dir)
    if not info:
        return "No server runs."
    pid, token = int(info["pid"]), info["start_time"]

    def there() -> bool:
        with contextlib.suppress(ChildProcessError, OSError):
            os.waitpid(pid, os.WNOHANG)  # only if this very process started it
        return start_time(pid) == token

    if not there():
        story = _story(Status("crashed" if start_time(pid) is None else "recycled", info))
        _forget(state_dir)
        return f"No server runs: {story}."
    for sign, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, 10.0)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)
        deadline = time.monotonic() + seconds
        while there():
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        else:
            _forget(state_dir)
            forced = ", by force" if sign == signal.SIGKILL else ""
            return f"Server stopped{forced}: pid {pid}, port {info['port']}."
    raise SparkCdcError(f"process {pid} does not end", f"Look at it: ps -fp {pid}")


def _story(found: Status) -> str:
    if found.state == "crashed":
        return f"the server (pid {found.pid}) ended without being stopped"
    return f"the server is gone, and its pid {found.pid} belongs to another process now"


def describe(found: Status, state_dir: Path) -> str:
    """Return the status as text."""
    log = state_dir / "server.log"
    if found.state == "stopped":
        return "No server runs."
    if not found.alive:
        return f"No server runs: {_story(found)}. Its log: {log}"
    info = found.info
    started = dt.datetime.fromisoformat(info["started_at"])
    seconds = int((dt.datetime.now(dt.timezone.utc) - started).total_seconds())
    now, peak = resident_memory(found.pid)
    words = {
        "running": "running",
        "starting": "starting, does not answer yet",
        "hung": "its process is there but does not answer",
    }
    rows = {
        "server": words[found.state],
        "pid": info["pid"],
        "address": f"{info['host']}:{info['port']}",
        "uptime": str(dt.timedelta(seconds=seconds)),
        "memory": f"{now // MIB} MB now, {peak // MIB} MB at most, heap up to {info['memory']}",
        "cores": info["cores"],
        "Spark": info["spark"] or "not known yet",
        "Java": info["java"],
        "warehouse": info["warehouse"],
        "log": info["log"],
    }
    return "\n".join(f"{name:<10} {value}" for name, value in rows.items())


def show_logs(state_dir: Path, lines: int, follow: bool) -> None:
    """Print the end of the log; with `follow` go on until interrupted."""
    log = state_dir / "server.log"
    if not log.exists():
        raise SparkCdcError(f"no log at {log}", "Start a server: spark-cdc server start")
    file = log.open(errors="replace")
    for line in deque(file, maxlen=lines):
        print(line, end="", flush=follow)
    while follow:
        line = file.readline()
        if line:
            print(line, end="", flush=True)
            continue
        time.sleep(0.3)
        with contextlib.suppress(OSError):
            if log.stat().st_ino != os.fstat(file.fileno()).st_ino:  # a new server's log
                file.close()
                file = log.open(errors="replace")


# ---------------------------------------------------------------- command line


def add_parser(subparsers: Any) -> None:
    """Add `server` to the command line."""
    import argparse

    parser = subparsers.add_parser("server", help="the local Spark server: start, stop, …")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--state-dir",
        metavar="DIR",
        help="folder of pid, log and data (SPARK_CDC_STATE_DIR; .spark_cdc)",
    )

    begin = actions.add_parser("start", parents=[common], help="start it; return when it answers")
    begin.add_argument("--port", help=f"SPARK_CDC_PORT; {project.DEFAULT_PORT}; 0: any free one")
    begin.add_argument("--memory", help="heap, like 2g (SPARK_CDC_MEMORY; a quarter, 1g to 4g)")
    begin.add_argument("--cores", help="SPARK_CDC_CORES; 0: all")
    begin.add_argument(
        "--warehouse", metavar="DIR", help="folder of the tables (SPARK_CDC_WAREHOUSE)"
    )
    begin.add_argument(
        "--conf", action="append", default=[], metavar="KEY=VALUE",
        help="a Spark setting; repeat it for more (SPARK_CDC_SPARK_CONF: k=v,k=v)",
    )  # fmt: skip
    begin.add_argument(
        "--jars", action="append", default=[], metavar="FILES",
        help="jars for the driver's class path, separated by commas (SPARK_CDC_JARS)",
    )  # fmt: skip
    begin.add_argument(
        "--timeout", help="seconds to wait for an answer (SPARK_CDC_START_TIMEOUT; 120)"
    )
    begin.add_argument("--if-needed", action="store_true", help="be content if it runs already")
    begin.set_defaults(run=_run_start)

    end = actions.add_parser("stop", parents=[common], help="end it")
    end.add_argument("--quiet", action="store_true", help="say nothing if none runs")
    end.set_defaults(run=_run_stop)

    show = actions.add_parser(
        "status", parents=[common],
        help=f"exit code 0: runs, {NOT_RUNNING}: does not, {NOT_ANSWERING}: does not answer",
    )  # fmt: skip
    form = show.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs")
    form.add_argument("--value", metavar="NAME", help="one value of --json only, such as port")
    show.set_defaults(run=_run_status)

    logs = actions.add_parser("logs", parents=[common], help="show its log")
    logs.add_argument("-n", "--lines", type=int, default=50)
    logs.add_argument("-f", "--follow", action="store_true")
    logs.set_defaults(run=_run_logs)


def _run_start(arguments: Any) -> int:
    chosen = settings(
        project.state_dir(arguments.state_dir),
        arguments.port,
        arguments.memory,
        arguments.cores,
        arguments.warehouse,
        arguments.conf,
        arguments.jars,
        arguments.timeout,
    )
    port = start(chosen, arguments.if_needed).port
    expected = os.environ.get("SPARK_CDC_PORT") or str(project.DEFAULT_PORT)
    if str(port) != expected:
        print(f"For dbt in this shell: export SPARK_CDC_PORT={port}")
    return 0


def _run_stop(arguments: Any) -> int:
    state_dir = project.state_dir(arguments.state_dir)
    running = bool(_read(state_dir))
    said = stop(state_dir)
    if running or not arguments.quiet:
        print(said)
    return 0


def _run_status(arguments: Any) -> int:
    state_dir = project.state_dir(arguments.state_dir)
    found = status(state_dir)
    if arguments.value or arguments.json:
        values = {"state": found.state, **found.info}
        if found.alive:
            now, peak = resident_memory(found.pid)
            values.update(resident_bytes=now, resident_peak_bytes=peak)
        if arguments.json:
            print(json.dumps(values, indent=2))
        elif arguments.value in values:
            print(values[arguments.value])
        else:
            print(f"no value {arguments.value!r}; there are {sorted(values)}", file=sys.stderr)
            return 1
    else:
        print(describe(found, state_dir))
    codes = {"running": 0, "starting": NOT_ANSWERING, "hung": NOT_ANSWERING}
    return codes.get(found.state, NOT_RUNNING)


def _run_logs(arguments: Any) -> int:
    with contextlib.suppress(KeyboardInterrupt):
        show_logs(project.state_dir(arguments.state_dir), arguments.lines, arguments.follow)
    return 0
