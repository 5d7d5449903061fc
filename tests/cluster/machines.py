"""Master and workers of a standalone cluster: processes of this machine, each with its folder."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import psutil

from cluster.metastore import Metastore
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import java, ports
from spark_cdc.server import local as server

DEPLOY = "org.apache.spark.deploy"
# Executors of 1 core; each Thrift server takes one of them on each worker, so that two fit.
WORKERS, CORES_PER_WORKER, MEMORY_PER_WORKER = 2, 2, "1600m"
EXECUTOR_MEMORY = "768m"
# Daemons and executors of a few tasks: no second compiler, little memory.
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class Machine:
    """One process of the cluster with a folder of its own, as a machine has it."""

    def __init__(self, folder: Path, words: Sequence[str], conf: dict[str, str]) -> None:
        self.folder, self.words = folder, list(words)
        for name in ("conf", "work", "tmp"):
            (folder / name).mkdir(mode=0o700, parents=True)
        defaults = folder / "conf" / "spark-defaults.conf"
        defaults.touch(mode=0o600)
        defaults.write_text(server.properties(conf))
        (folder / "conf" / "log4j2.properties").write_text(server.LOG4J.read_text())
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    def start(self) -> None:
        home = java.spark_home(java.ensure(), self.folder)
        environment = {
            **server.java_environment(self.folder / "conf", home),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": JVM,
            "SPARK_LOCAL_DIRS": str(self.folder / "tmp"),
        }
        command = server.java_command(self.words, environment)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                umask=0o077,
            )

    def kill(self) -> None:
        """SIGKILL to the process and the executors that it started, as when a machine fails."""
        if not self.process:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            here = psutil.Process(self.process.pid)
            for each in [here, *here.children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.kill()
        self.process.wait(30)
        self.process = None


class Cluster:
    """A master, workers, and the metastore; `conf` is what a Thrift server needs to use them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.metastore = Metastore()
        self.port, self.ui = ports.choose(0), ports.choose(0)
        # Else everybody with an account on the machine could send the master what to run.
        self.secret = {
            "spark.authenticate": "true",
            "spark.authenticate.secret": secrets.token_hex(16),
        }
        self.master = Machine(
            folder / "master",
            [
                *(f"{DEPLOY}.master.Master", "--host", ports.HOST),
                *("--port", str(self.port), "--webui-port", str(self.ui)),
            ],
            self.secret,
        )
        self.workers = [
            Machine(
                folder / name,
                [
                    *(f"{DEPLOY}.worker.Worker", "--host", ports.HOST, "--webui-port", "0"),
                    *("--cores", str(CORES_PER_WORKER), "--memory", MEMORY_PER_WORKER),
                    *("--work-dir", str(folder / name / "work"), self.url),
                ],
                self.secret,
            )
            for name in (f"worker_{number}" for number in range(1, WORKERS + 1))
        ]

    @property
    def url(self) -> str:
        return f"spark://{ports.HOST}:{self.port}"

    @property
    def warehouse(self) -> Path:
        """What all machines see: on real ones an object store or HDFS."""
        return self.folder / "warehouse"

    @property
    def conf(self) -> dict[str, str]:
        """Settings of a Thrift server that is the driver."""
        return {
            **self.metastore.conf,
            **self.secret,
            "spark.master": self.url,
            "spark.executor.cores": "1",
            "spark.executor.memory": EXECUTOR_MEMORY,
            "spark.executor.extraJavaOptions": JVM,
            "spark.cores.max": str(WORKERS),
            "spark.sql.shuffle.partitions": "4",
        }

    @property
    def variables(self) -> dict[str, str]:
        """The same for `spark-cdc server start` and `spark-cdc demo`."""
        conf = ",".join(f"{key}={value}" for key, value in self.conf.items())
        return {
            "SPARK_CDC_SPARK_CONF": conf,
            "SPARK_CDC_WAREHOUSE": str(self.warehouse),
            "SPARK_CDC_STATE_DIR": str(self.folder / "driver"),
            "SPARK_CDC_MEMORY": "1g",
        }

    def alive_workers(self) -> int:
        """How many workers the master counts on."""
        address = f"http://{ports.HOST}:{self.ui}/json/"
        with (
            contextlib.suppress(OSError, ValueError),
            urllib.request.urlopen(address, timeout=5) as page,
        ):
            return sum(each["state"] == "ALIVE" for each in json.load(page)["workers"])
        return 0

    def start(self) -> None:
        """Return when all workers have told the master.

        From now on this process takes SIGTERM as an interrupt, so that it ends what it started.
        """
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        self.metastore.start()
        for machine in (self.master, *self.workers):
            machine.start()
        self.wait_for_workers(len(self.workers))

    def wait_for_workers(self, number: int, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while self.alive_workers() < number:
            if time.monotonic() > deadline:
                raise SparkCdcError(
                    f"{self.alive_workers()} of {number} workers are there",
                    f"Logs: {self.folder}/*/log.txt",
                )
            time.sleep(0.3)

    def stop(self) -> None:
        for machine in (*self.workers, self.master):
            machine.kill()
        self.metastore.stop()


def executors_of(machine: Machine) -> list[int]:
    """The pids of a worker's executors."""
    if not machine.process:
        return []
    with contextlib.suppress(psutil.NoSuchProcess):
        found = psutil.Process(machine.process.pid).children(recursive=True)
        return [each.pid for each in found]
    return []


def environment(cluster: Cluster) -> dict[str, str]:
    """The environment of a command that is to run against the cluster."""
    return {**os.environ, **cluster.variables}
