"""The processes between a database and a landing: each starts, says when it is ready, is killed.

All listen on the loopback interface and on free ports, keep what they hold in the run's folder, and
write their output to `logs` there. One that was killed goes on where it was when it is started
again: same ports, same folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

import object_store
from e2e import downloads
from postgres import USER, Postgres
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import java, ports

CLUSTER_ID = "e2eShopClusterIdAAAAAA"  # 16 bytes in base64, of no meaning
# Small heaps and one compiler: the brokers of a test, on a machine that others need.
JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss512k")


def answer(url: str, seconds: float = 5) -> Any:
    """Return what a service answers in JSON, or None if it does not answer."""
    with (
        contextlib.suppress(OSError, ValueError, urllib.error.URLError),
        urllib.request.urlopen(url, timeout=seconds) as page,
    ):
        return json.load(page)
    return None


class Service:
    """A process with a folder and a log of its own."""

    name = "service"
    ready_seconds = 120.0

    def __init__(self, run: Path) -> None:
        self.folder = run / self.name
        self.folder.mkdir(mode=0o700, parents=True)
        self.log = run / "logs" / f"{self.name}.log"
        self.log.parent.mkdir(exist_ok=True)
        self.pids = run / "pids"
        self.pids.mkdir(exist_ok=True)
        self.port = ports.choose(0)
        self.process: subprocess.Popen[bytes] | None = None

    def command(self) -> Sequence[str]:
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        return os.environ

    def is_ready(self) -> bool:
        raise NotImplementedError

    def launch(self) -> None:
        """Start the process; its readiness is another matter."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                list(self.command()),
                cwd=self.folder,
                env=dict(self.environment()),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        note(self.pids / self.name, self.process.pid)

    def start(self) -> None:
        """Start it and return when it is ready."""
        self.launch()
        self.wait()

    def wait(self) -> None:
        """Return when it is ready; SparkCdcError if it ends or takes too long."""
        deadline = time.monotonic() + self.ready_seconds
        while not self.is_ready():
            if self.process is None or self.process.poll() is not None:
                raise SparkCdcError(f"{self.name} ended while it started", f"Its log: {self.log}")
            if time.monotonic() > deadline:
                raise SparkCdcError(f"{self.name} is not ready", f"Its log: {self.log}")
            time.sleep(0.2)

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """End it as a machine that fails does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it in order; after 20 s by force."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self.process is not None:
            end(self.process.pid, how)
            self.process.wait(30)
            self.process = None

    def memory(self) -> int:
        """Resident memory in bytes, with children."""
        return 0 if self.process is None else resident(self.process.pid)


def note(file: Path, pid: int) -> None:
    """Write a process down, with its start, so that a later run can end what this one left."""
    file.write_text(f"{pid} {psutil.Process(pid).create_time()}")


def end(pid: int, how: signal.Signals = signal.SIGTERM) -> None:
    """End a process and its children, after 20 s by force."""
    with contextlib.suppress(psutil.NoSuchProcess):
        here = psutil.Process(pid)
        family = [here, *here.children(recursive=True)]
        for each in family if how == signal.SIGKILL else [here]:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.send_signal(how)
        _, alive = psutil.wait_procs(family, timeout=20)
        for each in alive:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()


def end_left_overs(run: Path) -> None:
    """End what a run that was killed itself has left running."""
    for file in sorted((run / "pids").glob("*")):
        pid, created = file.read_text().split()
        with contextlib.suppress(psutil.NoSuchProcess):
            if psutil.Process(int(pid)).create_time() == float(created):
                end(int(pid), signal.SIGKILL)


def resident(pid: int) -> int:
    """Resident memory of a process and its children, in bytes."""
    found = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        here = psutil.Process(pid)
        for each in [here, *here.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                found += each.memory_info().rss
    return found


class Database(Postgres):
    """PostgreSQL as a source of changes: `wal_level` is all that it needs.

    It has the same methods as the services, though its folder is one that its own user can enter.
    """

    name = "postgresql"

    def __init__(self, run: Path) -> None:
        (run / "logs").mkdir(parents=True, exist_ok=True)
        # Room for the slots of Debezium and of the check; times as they are written.
        settings = {"wal_level": "logical", "max_connections": "60", "timezone": "UTC"}
        super().__init__(settings, run / "logs" / "postgresql.log")
        self._pid = run / "pids" / self.name

    def start(self) -> None:
        super().start()
        assert self.process is not None
        self._pid.parent.mkdir(exist_ok=True)
        note(self._pid, self.process.pid)

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def memory(self) -> int:
        return 0 if self.process is None else resident(self.process.pid)


class Store(Service):
    """An S3 server (moto), which keeps all in its memory: it is not one to kill."""

    name = "s3"

    def command(self) -> Sequence[str]:
        return [sys.executable, "-m", "moto.server", "-H", ports.HOST, "-p", str(self.port)]

    @property
    def variables(self) -> dict[str, str]:
        """What is to be in the environment of those that read and write there."""
        return object_store.environment_of(f"http://{ports.HOST}:{self.port}")

    def is_ready(self) -> bool:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((ports.HOST, self.port), timeout=2),
        ):
            return True
        return False

    def start(self) -> None:
        super().start()
        self.client = object_store.client_of(f"http://{ports.HOST}:{self.port}")
        object_store.make_bucket(self.client)

    def files(self, place: str) -> list[str]:
        """Return the paths of all objects below s3a://bucket/place."""
        return object_store.keys(self.client, place.removeprefix(f"s3a://{object_store.BUCKET}/"))


class Disk:
    """Folders of this machine, in place of a store."""

    def files(self, place: str) -> list[str]:
        """Return the paths of all files below a folder."""
        return [f"{at}/{name}" for at, _, names in os.walk(place) for name in names]


class JavaService(Service):
    """A process of a class from the downloads."""

    heap = "256m"
    main = ""

    def options(self) -> Sequence[str]:
        return ()

    def arguments(self) -> Sequence[str]:
        return ()

    def command(self) -> Sequence[str]:
        return [
            *(str(java.ensure().executable), *JVM, f"-Xmx{self.heap}", *self.options()),
            *self.place(),
            *self.arguments(),
        ]

    def place(self) -> Sequence[str]:
        return ["-cp", f"{downloads.folder() / 'kafka'}/*", self.main]


class Broker(JavaService):
    """Kafka, broker and controller in one process (KRaft), with one copy of everything."""

    name = "broker"
    main = "kafka.Kafka"

    def __init__(self, run: Path) -> None:
        super().__init__(run)
        controller = ports.choose(0)
        self.file = self.folder / "server.properties"
        write_properties(
            self.file,
            {
                "process.roles": "broker,controller",
                "node.id": "1",
                "controller.quorum.voters": f"1@{ports.HOST}:{controller}",
                "controller.listener.names": "CONTROLLER",
                "listeners": f"PLAINTEXT://{ports.HOST}:{self.port},"
                f"CONTROLLER://{ports.HOST}:{controller}",
                "log.dirs": str(self.folder / "data"),
                "auto.create.topics.enable": "false",
                "offsets.topic.replication.factor": "1",
                "offsets.topic.num.partitions": "1",
                "transaction.state.log.replication.factor": "1",
                "transaction.state.log.min.isr": "1",
                "share.coordinator.state.topic.replication.factor": "1",
                "share.coordinator.state.topic.min.isr": "1",
                "group.initial.rebalance.delay.ms": "0",
            },
        )

    @property
    def address(self) -> str:
        return f"{ports.HOST}:{self.port}"

    def launch(self) -> None:
        if not (self.folder / "data").exists():
            words = ["format", "--cluster-id", CLUSTER_ID, "--config", str(self.file)]
            place = ["-cp", f"{downloads.folder() / 'kafka'}/*", "kafka.tools.StorageTool"]
            with self.log.open("ab") as log:
                subprocess.run(
                    [str(java.ensure().executable), *JVM, *place, *words],
                    check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                )  # fmt: skip
        super().launch()

    def arguments(self) -> Sequence[str]:
        return [str(self.file)]

    def is_ready(self) -> bool:
        """Ask which versions it speaks: ApiVersions, the first question of each client."""
        request = struct.pack(">hhih", 18, 0, 1, -1)
        with (
            contextlib.suppress(OSError),
            socket.create_connection((ports.HOST, self.port), timeout=2) as line,
        ):
            line.sendall(struct.pack(">i", len(request)) + request)
            head = line.recv(10)
            return len(head) == 10 and struct.unpack(">iih", head)[1:] == (1, 0)
        return False


class Registry(JavaService):
    """Apicurio: the registry of Avro schemas, which it keeps in a database of the PostgreSQL."""

    name = "registry"

    def __init__(self, run: Path, database: Database) -> None:
        super().__init__(run)
        self.database = database

    def place(self) -> Sequence[str]:
        found = sorted((downloads.folder() / "registry").glob("*-runner.jar"))
        return ["-jar", str(found[0])]

    def environment(self) -> Mapping[str, str]:
        return {
            **os.environ,
            "QUARKUS_HTTP_HOST": ports.HOST,
            "QUARKUS_HTTP_PORT": str(self.port),
            "APICURIO_STORAGE_KIND": "sql",
            "APICURIO_STORAGE_SQL_KIND": "postgresql",
            "APICURIO_DATASOURCE_URL": f"jdbc:postgresql://{ports.HOST}:{self.database.port}/registry",
            "APICURIO_DATASOURCE_USERNAME": USER,
            "APICURIO_DATASOURCE_PASSWORD": self.database.password,
        }

    @property
    def url(self) -> str:
        return f"http://{ports.HOST}:{self.port}/apis"

    @property
    def confluent_url(self) -> str:
        """Where it speaks as Confluent's registry does."""
        return f"{self.url}/ccompat/v7"

    def is_ready(self) -> bool:
        return answer(f"{self.confluent_url}/subjects") is not None


class Connect(JavaService):
    """Kafka Connect with one Debezium connector, in one process.

    connector: settings of the connector. password: of its user in the database. registry: given for
    messages in Avro, else they are JSON.
    """

    name = "connect"
    main = "org.apache.kafka.connect.cli.ConnectStandalone"

    def __init__(
        self, run: Path, broker: Broker, connector: Mapping[str, str], password: str,
        registry: Registry | None,
    ) -> None:  # fmt: skip
        super().__init__(run)
        self.connector, self._password = connector, password
        plugins = self.folder / "plugins"
        plugins.mkdir()
        kept = downloads.folder()
        (plugins / "debezium").symlink_to(kept / "connector" / "debezium-connector-postgres")
        (plugins / "converter").symlink_to(kept / "converter")
        converters = {
            "key.converter": "org.apache.kafka.connect.json.JsonConverter",
            "key.converter.schemas.enable": "false",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
            "value.converter.replace.null.with.default": "false",
        }
        if registry:
            converters = {
                f"{part}.converter{name}": value
                for part in ("key", "value")
                for name, value in {
                    "": "io.apicurio.registry.utils.converter.AvroConverter",
                    ".apicurio.registry.url": f"{registry.url}/registry/v2",
                    ".apicurio.registry.auto-register": "true",
                    ".apicurio.registry.as-confluent": "true",
                    ".apicurio.registry.headers.enabled": "false",
                    ".apicurio.registry.use-id": "contentId",
                }.items()
            }
        write_properties(
            self.folder / "worker.properties",
            {
                "bootstrap.servers": broker.address,
                "plugin.path": str(plugins),
                "plugin.discovery": "service_load" if not registry else "hybrid_warn",
                "listeners": f"http://{ports.HOST}:{self.port}",
                "offset.storage.file.filename": str(self.folder / "offsets"),
                "offset.flush.interval.ms": "1000",
                "config.providers": "env",
                "config.providers.env.class": "org.apache.kafka.common.config.provider"
                ".EnvVarConfigProvider",
                **converters,
            },
        )
        write_properties(self.folder / "connector.properties", connector)

    def arguments(self) -> Sequence[str]:
        return ["worker.properties", "connector.properties"]

    def environment(self) -> Mapping[str, str]:
        return {**os.environ, "DEBEZIUM_PASSWORD": self._password}

    def status(self) -> str:
        """Return the state of connector and task, such as RUNNING, FAILED, or nothing."""
        told = answer(f"http://{ports.HOST}:{self.port}/connectors/{self.connector['name']}/status")
        if not told:
            return ""
        states = {told["connector"]["state"], *(task["state"] for task in told["tasks"])}
        return states.pop() if len(states) == 1 and told["tasks"] else " ".join(sorted(states))

    def is_ready(self) -> bool:
        return self.status() == "RUNNING"

    def restart_if_failed(self) -> bool:
        """Ask for a new task where the old one has given up; return whether that was so.

        In a cluster that is the part of whoever watches Connect.
        """
        if "FAILED" not in self.status():
            return False
        place = f"http://{ports.HOST}:{self.port}/connectors/{self.connector['name']}"
        request = urllib.request.Request(
            f"{place}/restart?includeTasks=true&onlyFailed=true", method="POST"
        )
        with contextlib.suppress(OSError), urllib.request.urlopen(request, timeout=10):
            pass
        return True


def read_properties(file: Path) -> dict[str, str]:
    """Return the settings of a file of Java properties."""
    lines = (line.partition("=") for line in file.read_text("utf-8").splitlines())
    return {key: value for key, sign, value in lines if sign and not key.startswith("#")}


def write_properties(file: Path, settings: Mapping[str, str]) -> None:
    """Write a file of Java properties that only its owner can read."""
    file.touch(mode=0o600)
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
