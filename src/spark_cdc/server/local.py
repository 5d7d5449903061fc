"""A Spark Thrift server on this machine: start, stop, status, logs.

Everything that it needs and leaves behind is in one folder, the state folder:

    server.json, server.pid   the process: pid, start time (a recycled pid is recognised), port, …
    server.log, server.log.1  output of this server and of the one before
    conf/                     spark-defaults.conf, log4j2.properties, a class that Hive lacks and
                              columns of a new metastore, written at each start
    metastore_db/, warehouse/ Derby metastore and tables
    tmp/                      Spark's scratch files, emptied at each start
    java/                     a Java home, where the Java found lacks a module (see java.py)

Several servers run side by side in different state folders. Jars of table formats they share (see
table_formats.py).
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import fcntl
import os
import re
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from spark_cdc import console, project
from spark_cdc.errors import SparkCdcError, UsageError
from spark_cdc.server import jars, java, ports, s3, server_state, table_formats
from spark_cdc.server.server_state import HOST, Status, resident_memory, start_time, status
from spark_cdc.server.server_state import connect as connect

MAIN_CLASS = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
MIB = 1024 * 1024
SMALLEST_HEAP = 512 * MIB  # Spark refuses less than 450 MB
MORE_MEMORY = "spark-cdc server start --memory 1g"
TEMPLATES = Path(__file__).parent / "templates"
LOG4J = TEMPLATES / "log4j2-server.properties"
# Which columns a metastore gets, beyond Hive's own mapping: its name goes by the setting's value.
COLUMNS = TEMPLATES / "package-spark_cdc.orm"
METASTORE_URL = "spark.hadoop.javax.jdo.option.ConnectionURL"

# Settings of Spark's that hold several values: a user's come behind ours. What is between them.
LISTS = {
    "spark.driver.extraJavaOptions": " ",
    "spark.driver.extraClassPath": os.pathsep,
    "spark.sql.extensions": ",",
}

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
        "Another process has the metastore open, perhaps another server: end it first.",
    ),
    (
        r"UnsupportedClassVersionError|Unrecognized VM option",
        "This Java does not suit Spark: set JAVA_HOME to a Java 17 or 21.",
    ),
    (
        r"ClassNotFoundException|NoClassDefFoundError",
        "A class is missing: check --with, --jars and --conf.",
    ),
)


# ---------------------------------------------------------------- settings


@dataclasses.dataclass(frozen=True)
class Settings:
    """How to start a server. `port` 0: any free one. `memory` in bytes. `cores` 0: all.

    formats: table formats that Spark lacks, by their names in table_formats.BUILDS.
    ivy_settings: where their jars come from, if not from Maven Central. warehouse: a folder, or a
    place in an object store (s3a://bucket/path).
    """

    state_dir: Path
    port: int
    memory: int
    cores: int
    warehouse: Path | str
    conf: Mapping[str, str]
    jars: Sequence[Path]
    timeout: float
    formats: Sequence[str]
    ivy_settings: str


def parse_memory(text: str) -> int:
    """Return bytes for `512m`, `2g`.

    Raises SparkCdcError if the text is anything else or less than Spark can work with.
    """
    match = re.fullmatch(r"(\d+)([mMgG])[bB]?", text.strip())
    if not match:
        raise UsageError(
            f"--memory {text!r} is not a size. Accepted are sizes such as 512m and 2g.", MORE_MEMORY
        )
    size = int(match[1]) * (MIB if match[2] in "mM" else 1024 * MIB)
    if size < SMALLEST_HEAP:
        raise UsageError(
            f"--memory {text!r} is too little. Spark needs at least {SMALLEST_HEAP // MIB}m.",
            MORE_MEMORY,
        )
    return size


def parse_conf(pairs: Sequence[str], environment: str = "") -> dict[str, str]:
    """Return Spark settings from `k=v,k=v` of the environment and repeated `k=v` options."""
    inherited = re.split(r",(?=\s*[\w.\-]+=)", environment) if environment.strip() else []
    conf = {}
    for pair in [*inherited, *pairs]:
        key, equals, value = pair.strip().partition("=")
        if not equals or not re.fullmatch(r"[\w.\-]+", key):
            raise UsageError(
                f"--conf {pair!r} is not KEY=VALUE. SPARK_CDC_SPARK_CONF takes several,"
                " separated by commas.",
                "spark-cdc server start --conf spark.sql.shuffle.partitions=16",
            )
        conf[key] = value
    return conf


def _number(text: str, what: str, least: int, most: int, example: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text.strip()) or not least <= int(text) <= most:
        raise UsageError(
            f"--{what} {text!r} is not accepted. Accepted are numbers from {least} to {most}.",
            f"spark-cdc server start {example}",
        )
    return int(text)


def machine_memory() -> tuple[int, int]:
    """Return bytes of memory: all of the machine's, and what is available now.

    The limits of a container (cgroup) count too.
    """
    import psutil  # here, because help is printed without it

    memory = psutil.virtual_memory()
    total, available = memory.total, memory.available
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


def _warehouse(place: str, formats: Sequence[str]) -> Path | str:
    """Return the warehouse's folder, below the project if it is relative, or its address."""
    if "://" not in place:
        folder = Path(place)
        return folder.expanduser() if folder.is_absolute() else project.root() / folder
    if s3.holds(place) and s3.NAME not in formats:
        raise UsageError(
            f"--warehouse {place!r} is on S3, and the server would start without S3.",
            f"spark-cdc server start --with {s3.NAME} --warehouse {place}",
        )
    return place.rstrip("/")


def settings(
    state_dir: Path,
    port: str | None = None,
    memory: str | None = None,
    cores: str | None = None,
    warehouse: str | None = None,
    conf: Sequence[str] = (),
    jars: Sequence[str] = (),
    timeout: str | None = None,
    formats: Sequence[str] = (),
    ivy_settings: str | None = None,
) -> Settings:
    """Return settings from options, else from SPARK_CDC_* variables, else the defaults.

    Raises SparkCdcError for a value that makes no sense.
    """

    def choose(option: str | None, variable: str, default: str) -> str:
        return option if option is not None else os.environ.get(variable) or default

    asked = choose(memory, "SPARK_CDC_MEMORY", "")
    formats_chosen = table_formats.parse([os.environ.get("SPARK_CDC_WITH", ""), *formats])
    place = choose(warehouse, "SPARK_CDC_WAREHOUSE", str(state_dir / "warehouse"))
    files = []
    for entry in [*os.environ.get("SPARK_CDC_JARS", "").split(","), *jars]:
        for name in filter(None, (part.strip() for part in entry.split(","))):
            path = Path(name).expanduser().absolute()
            if not path.is_file():
                raise UsageError(
                    f"--jars {name!r} (SPARK_CDC_JARS): no such file. Accepted are paths of jars,"
                    " separated by commas.",
                    "spark-cdc server start --jars /path/to/driver.jar",
                )
            files.append(path)
    ivy = choose(ivy_settings, "SPARK_CDC_IVY_SETTINGS", "")
    if ivy and not Path(ivy).expanduser().is_file():
        raise UsageError(
            f"--ivy-settings {ivy!r} (SPARK_CDC_IVY_SETTINGS): no such file. Accepted is the"
            " path of an Ivy settings file.",
            "spark-cdc server start --ivy-settings /path/to/ivysettings.xml",
        )
    return Settings(
        state_dir=state_dir,
        port=_number(
            choose(port, "SPARK_CDC_PORT", str(ports.DEFAULT)),
            "port", 0, 65535, "--port 10020",
        ),
        memory=parse_memory(asked) if asked else default_memory(),
        cores=_number(
            choose(cores, "SPARK_CDC_CORES", "0"), "cores", 0, 4096, "--cores 4"
        ),
        warehouse=_warehouse(place, formats_chosen),
        conf=parse_conf(conf, os.environ.get("SPARK_CDC_SPARK_CONF", "")),
        jars=files,
        timeout=float(
            _number(
                choose(timeout, "SPARK_CDC_START_TIMEOUT", "120"),
                "timeout", 1, 3600, "--timeout 120",
            )
        ),
        formats=formats_chosen,
        ivy_settings=str(Path(ivy).expanduser().absolute()) if ivy else "",
    )  # fmt: skip


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
                        f"Another command is starting a server in '{state_dir}'. Wait for it.",
                        "spark-cdc server status",
                    ) from error
                time.sleep(0.2)
        yield


def _check_memory(memory: int) -> None:
    total, available = machine_memory()
    if memory > available:
        fits = available // 2 // MIB // 128 * 128
        is_enough = fits >= SMALLEST_HEAP // MIB
        advice = f"spark-cdc server start --memory {fits}m" if is_enough else ""
        raise SparkCdcError(
            f"The server would take {memory // MIB} MB of memory, and {available // MIB} MB of"
            f" {total // MIB} MB are available. End other programs"
            + (", or give it less." if advice else "; it needs at least 512 MB."),
            advice,
        )


def check_port(chosen: Settings) -> None:
    """Raise SparkCdcError if a server would have to be started and its port is taken."""
    if not server_state.process_status(chosen.state_dir).alive:
        ports.choose(chosen.port)


def _check_formats(chosen: Settings, running: Status) -> None:
    """Raise SparkCdcError if the server that runs lacks a table format that is asked for."""
    lacking = [name for name in chosen.formats if name not in running.info.get("formats", [])]
    if lacking:
        asked = ",".join(chosen.formats)
        raise SparkCdcError(
            f"The running server (pid {running.pid}) was started without {', '.join(lacking)}."
            " Restart it.",
            f"spark-cdc server stop && spark-cdc server start --with {asked}",
        )


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
        "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
        # An upper bound: adaptive execution joins small partitions.
        "spark.sql.shuffle.partitions": str(max(8, 4 * cores)),
        METASTORE_URL: f"jdbc:derby:;databaseName={state / 'metastore_db'};create=true",
        "spark.hadoop.fs.permissions.umask-mode": "077",
        # Hive's scratch folders are in /tmp otherwise, where two users get into each other's way.
        "spark.hadoop.hive.exec.scratchdir": str(tmp / "hive"),
        "spark.hadoop.hive.exec.local.scratchdir": str(tmp / "hive-local"),
        # One per session: Hive deletes the folder when a session ends, others would lose theirs.
        "spark.hadoop.hive.downloaded.resources.dir": f"{tmp}/hive-${{hive.session.id}}-resources",
        "spark.hadoop.hive.server2.logging.operation.enabled": "false",
        # Else each session is a user of its own to Hive, which opens the metastore anew whenever
        # another session's statement comes: a third of the time that short statements take.
        "spark.hadoop.hive.server2.enable.doAs": "false",
        # Else a session's settings are not the shared connection's (Hive sets a filter hook of its
        # own): each session that ends closes that connection under others and opens another one.
        "spark.hadoop.hive.internal.ss.authz.settings.applied.marker": "true",
        # By default each statement gets a new thread, until there are 100, and each reads the whole
        # configuration again for its connection to the metastore.
        "spark.hadoop.hive.server2.async.exec.threads": "16",
        "spark.hadoop.hive.server2.async.exec.keepalive.time": "3600s",
        # A run that is killed while its statement opens a connection to the metastore leaves a
        # thread in which Hive can't filter partitions by date: what it ran would fail from then on.
        "spark.sql.hive.metastorePartitionPruningFallbackOnException": "true",
    }
    user = dict(chosen.conf)
    if METASTORE_URL not in user:
        conf["spark.hadoop.javax.jdo.option.Mapping"] = "spark_cdc"
    s3.check(user)
    catalog = user.get("spark.sql.catalogImplementation", "hive")
    conf |= table_formats.settings(chosen.formats, catalog, chosen.warehouse)
    if s3.NAME in chosen.formats:
        conf |= s3.settings(tmp)
    # On the class path of the driver: Spark's own settings for jars serve a Thrift server's first
    # session only.
    jars = [*table_formats.paths(chosen.formats), *chosen.jars]
    if jars:
        conf["spark.driver.extraClassPath"] = os.pathsep.join(map(str, jars))
    return joined(conf, user)


def joined(conf: Mapping[str, str], user: Mapping[str, str]) -> dict[str, str]:
    """Return settings with those of a user, which take their place or, where lists, are added."""
    lists = {
        name: f"{conf[name]}{between}{user[name]}"
        for name, between in LISTS.items()
        if name in conf and name in user
    }
    return {**conf, **user, **lists}


def properties(values: Mapping[str, str]) -> str:
    """Return a Java properties file."""

    def escape(text: str) -> str:
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")

    lines = [f"{key}={escape(value)}" for key, value in sorted(values.items())]
    return "# Written by spark_cdc at each start of the server.\n" + "\n".join(lines) + "\n"


def java_environment(conf: Path, java_home: Path) -> dict[str, str]:
    """Return the environment of a process of Spark's, without another Spark's or Hadoop's settings.

    conf: the folder of spark-defaults.conf and log4j2.properties.
    """
    foreign = re.compile(r"(SPARK_(?!CDC_)|PYSPARK_|HADOOP_|HIVE_|YARN_)")
    kept = {key: value for key, value in os.environ.items() if not foreign.match(key)}
    return {
        **kept,
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(java.pyspark_home()),
        "SPARK_CONF_DIR": str(conf),
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_LOCAL_IP": HOST,
    }


def java_command(words: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the command line of a class of Spark's, as Spark's own launcher builds it.

    This is what bin/spark-submit and bin/spark-class do, without the need for bash and without a
    second process. words: the class and its arguments.
    """
    executable = Path(environment["JAVA_HOME"]) / "bin" / "java"
    jars = Path(environment["SPARK_HOME"]) / "jars"
    launcher = [str(executable), "-Xmx128m", "-cp", f"{jars}/*", "org.apache.spark.launcher.Main"]
    out = subprocess.run(
        [*launcher, *words],
        env=dict(environment),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    # What comes before the first NUL is messages, then one argument before each NUL.
    said = out.stdout.split("\0")[1:-1]
    if out.returncode or not said:
        raise SparkCdcError(
            f"Spark's launcher failed: {(out.stderr or out.stdout).strip()[-2000:]}",
            f"Check --conf, and the Java.\n{executable} -version",
        )
    return [said[0].lstrip("\n"), *said[1:]]


def _command(port: int, environment: Mapping[str, str]) -> list[str]:
    """Return the server's command line."""
    submit = ["org.apache.spark.deploy.SparkSubmit", "--class", MAIN_CLASS]
    hive = [
        *("--hiveconf", f"hive.server2.thrift.port={port}"),
        *("--hiveconf", f"hive.server2.thrift.bind.host={HOST}"),
    ]
    return java_command([*submit, *hive], environment)


def _prepare(chosen: Settings) -> None:
    """Make the folders, readable by the user only."""
    state = chosen.state_dir
    is_default = state.name == ".spark_cdc"
    if not state.exists() or is_default:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.chmod(0o700)
    if isinstance(chosen.warehouse, Path) and not chosen.warehouse.exists():
        chosen.warehouse.mkdir(mode=0o700, parents=True)
    shutil.rmtree(state / "tmp", ignore_errors=True)
    for name in ("conf", "tmp", "tmp/hive-local"):
        (state / name).mkdir(mode=0o700, exist_ok=True)
    # A metastore that is there keeps its columns, and is read by Hive's mapping whatever they are.
    is_new = not (state / "metastore_db").exists()
    for name, text in (
        ("spark-defaults.conf", properties(spark_conf(chosen))),
        ("log4j2.properties", LOG4J.read_text()),
        (COLUMNS.name, COLUMNS.read_text() if is_new else None),
    ):
        path = state / "conf" / name
        path.unlink(missing_ok=True)
        if text is not None:
            path.touch(mode=0o600)
            path.write_text(text)
    lacking = state / "conf" / f"{java.HIVE_LACKS}.class"
    lacking.parent.mkdir(parents=True, exist_ok=True)
    lacking.write_bytes(java.empty_interface(java.HIVE_LACKS))
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
        f"The server ended while it started{how}.{text}",
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
                _check_formats(chosen, before)
                print(f"Server runs already: pid {before.pid}, port {before.port}")
                return before
            what = "runs already" if before.state == "running" else "exists and does not answer"
            raise SparkCdcError(
                f"A server {what}: pid {before.pid}, port {before.port}, folder '{state}'. Use it,"
                " stop it, or start another one with --state-dir and --port.",
                "spark-cdc server stop",
            )
        if before.info:
            print(f"{_story(before)}; cleaning up")
            server_state.forget(state)
        _check_memory(chosen.memory)
        port = ports.choose(chosen.port)
        found = java.ensure()
        jars.ensure(table_formats.jars(chosen.formats), found.executable, chosen.ivy_settings)
        _prepare(chosen)
        environment = java_environment(state / "conf", java.spark_home(found, state))
        return _launch(chosen, port, _command(port, environment), environment, found)


def _launch(
    chosen: Settings,
    port: int,
    command: list[str],
    environment: Mapping[str, str],
    found: java.Java,
) -> Status:
    state, log = chosen.state_dir, chosen.state_dir / "server.log"
    with console.Step("Start the Spark server") as step:
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
            info: server_state.Info = {
                "pid": process.pid,
                "start_time": start_time(process.pid),
                "host": HOST,
                "port": port,
                "started_at": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
                "ready": False,
                "warehouse": str(chosen.warehouse),
                "memory": f"{chosen.memory // MIB}m",
                "cores": chosen.cores or "all",
                "formats": list(chosen.formats),
                "java": f"{found.version} ({found.home})",
                "spark": "",
                "log": str(log),
                "command": command,
            }
            server_state.write(state, info)
            deadline = time.monotonic() + chosen.timeout
            while True:
                version = server_state.ask(port, max(1.0, deadline - time.monotonic()))
                if process.poll() is not None:
                    raise _why(log, process.returncode)
                if version:
                    break
                if time.monotonic() > deadline:
                    raise SparkCdcError(
                        f"The server did not answer within {chosen.timeout:.0f} s. Its log is"
                        f" {log}.",
                        "Allow more time.\nspark-cdc server start --timeout 300",
                    )
                time.sleep(0.2)
            info |= {"ready": True, "spark": version}
            server_state.write(state, info)
            step.detail = f"pid {process.pid}, port {port}, Spark {version}"
        except BaseException:
            process.kill()
            process.wait()
            server_state.forget(state)
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
    import psutil

    found = server_state.process_status(state_dir)
    if not found.info:
        return "No server runs."
    if not found.alive:
        server_state.forget(state_dir)
        return f"No server runs: {_story(found)}."
    how = ""
    with contextlib.suppress(psutil.NoSuchProcess):
        server = psutil.Process(found.pid)
        server.terminate()
        if not server_state.has_ended(server, grace):
            how = ", by force"
            server.kill()
            if not server_state.has_ended(server, 10):
                raise SparkCdcError(
                    f"The server's process {found.pid} does not end.", f"ps -fp {found.pid}"
                )
    server_state.forget(state_dir)
    return f"Server stopped{how}: pid {found.pid}, port {found.port}."


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
        "Spark": ", ".join([info["spark"] or "not known yet", *info.get("formats", [])]),
        "Java": info["java"],
        "warehouse": info["warehouse"],
        "log": info["log"],
    }
    return "\n".join(f"{name:<10} {value}" for name, value in rows.items())


def show_logs(state_dir: Path, lines: int, follow: bool) -> None:
    """Print the end of the log; with `follow` go on until interrupted."""
    log = state_dir / "server.log"
    if not log.exists():
        raise SparkCdcError(
            f"There is no log '{log}': no server was started.", "spark-cdc server start"
        )
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
