"""What brings the topics into tables: the Spark server, the streaming job, and load after load."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from e2e import services
from e2e.shop import Shop
from project import INTERPRETED
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import local as server
from spark_cdc.server import ports, s3

EVERY = 5.0  # seconds from the start of one load to that of the next
MEMORY = "2g"


class SparkServer:
    """The Thrift server that loads and readers use."""

    name = "spark_server"

    def __init__(self, run: Path, shop: Shop, warehouse: str) -> None:
        self.state = shop.folder / ".spark_cdc"
        self.warehouse = warehouse
        self.port = ports.choose(0)
        self._pid = run / "pids" / self.name

    def start(self) -> None:
        chosen = server.settings(
            self.state,
            port=str(self.port),
            memory=MEMORY,
            warehouse=self.warehouse,
            timeout="180",
            formats=[s3.NAME] if s3.holds(self.warehouse) else [],
        )
        services.note(self._pid, server.start(chosen).pid)

    @property
    def pid(self) -> int | None:
        status = server.status(self.state)
        return status.pid if status.alive else None

    def is_alive(self) -> bool:
        return self.pid is not None

    def kill(self) -> None:
        if pid := self.pid:
            services.end(pid, signal.SIGKILL)

    def stop(self) -> None:
        server.stop(self.state)

    def memory(self) -> int:
        return services.resident(self.pid or 0)

    @contextlib.contextmanager
    def session(self) -> Iterator[Any]:
        """Give a cursor in the time zone UTC; few rows are not worth code that Spark compiles."""
        with contextlib.closing(server.connect(self.port)) as connection:
            cursor = connection.cursor()
            cursor.execute("set time zone 'UTC'")
            for name, value in INTERPRETED.items():
                cursor.execute(f"set {name} = {value}")
            yield cursor


class Stream(services.Service):
    """`spark-cdc stream`, from the topics to the landing."""

    name = "stream"

    def __init__(
        self, run: Path, shop: Shop, broker: services.Broker,
        registry: services.Registry | None, interval: int,
    ) -> None:  # fmt: skip
        super().__init__(run)
        self.shop, self.broker, self.registry = shop, broker, registry
        self.interval = interval  # seconds between two batches, also of business times
        self._begin = 0  # where in the log the last start begins

    def command(self) -> Sequence[str]:
        words = ["--kafka", self.broker.address, "--memory", "512m"]
        words += ["--interval", f"{self.interval}s"]
        words += ["--registry", self.registry.confluent_url] if self.registry else []
        return [sys.executable, "-m", "spark_cdc.cli", "stream", *words]

    def environment(self) -> Mapping[str, str]:
        return self.shop.environment(0)

    def launch(self) -> None:
        self._begin = self.log.stat().st_size if self.log.exists() else 0
        super().launch()

    def is_ready(self) -> bool:
        return b"Streaming " in self.log.read_bytes()[self._begin :]


class Watch(threading.Thread):
    """Starts again what ended by itself, as whoever watches services does.

    restarted: how often, by name.
    """

    def __init__(self, connect: services.Connect, *others: services.Service) -> None:
        super().__init__(daemon=True)
        self._connect, self._others = connect, others
        self._ended = threading.Event()
        self.spared: set[str] = set()  # those that somebody else is about to start
        self.restarted: dict[str, int] = {}

    def run(self) -> None:
        while not self._ended.wait(2):
            if self._connect.name not in self.spared and self._connect.restart_if_failed():
                self._count(self._connect.name)
            for one in self._others:
                if one.name not in self.spared and not one.is_alive():
                    self._count(one.name)
                    with contextlib.suppress(SparkCdcError):  # as long as the broker is away
                        one.start()

    def _count(self, name: str) -> None:
        self.restarted[name] = self.restarted.get(name, 0) + 1

    def stop(self) -> None:
        self._ended.set()
        if self.is_alive():
            self.join(120)


class Loader(services.Service):
    """`spark-cdc load --every 5s`: load after load."""

    name = "loads"

    def __init__(self, run: Path, shop: Shop, port: int, disk: services.Store | services.Disk):
        super().__init__(run)
        self._shop, self._server_port, self._disk = shop, port, disk

    def command(self) -> Sequence[str]:
        every = f"{EVERY:.0f}s"
        return [sys.executable, "-m", "spark_cdc.cli", "load", "--retries", "0", "--every", every]

    def environment(self) -> Mapping[str, str]:
        return self._shop.environment(self._server_port)

    def is_ready(self) -> bool:
        return True

    def kill(self) -> None:
        """End it in the middle of a load: soon after there is something to load."""
        known = self._closed()
        wait_for(lambda: self._closed() > known, 30)
        time.sleep(4)
        super().kill()

    def _closed(self) -> int:
        """Return how many business times are closed."""
        return sum("/_closed/" in path for path in self._disk.files(self._shop.landing))

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Let it load nothing meanwhile: files of the project are written."""
        self.stop()
        yield
        self.start()


def wait_for(what: Callable[[], bool], seconds: float, pause: float = 0.3) -> float | None:
    """Return after how many seconds something was so; None if it was not within `seconds`."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if what():
            return time.monotonic() - began
        time.sleep(pause)
    return None
