"""What is known of a server on this machine: the process that its state folder names."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from spark_cdc.local_server import Info as Info
from spark_cdc.local_server import read as read
from spark_cdc.server.ports import HOST as HOST

if TYPE_CHECKING:
    import psutil


def start_time(pid: int) -> float | None:
    """Return what tells this process from a later one of the same pid; None if it is gone.

    That is its start in seconds after the machine's, which a change of the clock does not touch.
    """
    import psutil  # here, because help is printed without it

    with contextlib.suppress(psutil.Error, ValueError, OverflowError):
        process = psutil.Process(pid)
        if process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            started: float = process.create_time() - psutil.boot_time()
            return round(started, 2)
    return None


def has_ended(process: psutil.Process, seconds: float) -> bool:
    """Wait for a process to end; one that is left as a zombie by its parent has ended, too."""
    import psutil

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(psutil.TimeoutExpired):
            process.wait(0.1)
            return True
        if start_time(process.pid) is None:
            return True
    return False


def resident_memory(pid: int) -> tuple[int, int]:
    """Return bytes of memory that a process has now, and had at most (0: unknown)."""
    import psutil

    now = peak = 0
    with contextlib.suppress(psutil.Error):
        now = psutil.Process(pid).memory_info().rss
    with contextlib.suppress(OSError):  # psutil knows no peak
        found = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M)
        peak = int(found[1]) * 1024 if found else 0
    return now, peak


Row = tuple[Any, ...]  # of a query, by its columns


class Cursor(Protocol):
    """A cursor of PyHive, as much of it as is used."""

    description: Sequence[Sequence[str]] | None

    def execute(self, operation: str) -> None: ...
    def fetchone(self) -> Row | None: ...
    def fetchall(self) -> list[Row]: ...


class Connection(Protocol):
    """A connection of PyHive."""

    def cursor(self) -> Cursor: ...
    def close(self) -> None: ...


def connect(port: int, host: str = HOST, schema: str = "default") -> Connection:
    """Return a PyHive connection to a Thrift server."""
    from pyhive import hive

    connection: Connection = hive.connect(host, port=port, username="spark_cdc", database=schema)
    return connection


def ask(port: int, timeout: float) -> str | None:
    """Return the Spark version that the server on `port` names; None if it does not answer."""
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        answer: list[str] = []

        def query() -> None:
            with contextlib.suppress(Exception):
                # not every default catalog has a schema `default`
                connection = connect(port, schema="spark_catalog")
                cursor = connection.cursor()
                cursor.execute("select version()")
                for row in cursor.fetchall():
                    answer.append(str(row[0]).split()[0])
                connection.close()

        # In a thread, because the client has no time limit of its own.
        thread = threading.Thread(target=query, daemon=True)
        thread.start()
        thread.join(timeout)
        return answer[0] if answer else None
    return None


@dataclasses.dataclass(frozen=True)
class Status:
    """What is known of a state folder's server.

    state: running, starting (alive, does not answer yet), hung (alive, no longer answers),
        stopped, crashed (it ended by itself), recycled (another process has its pid now).
    info: the content of server.json, if there is one.
    """

    state: str
    info: Info

    @property
    def alive(self) -> bool:
        return self.state in ("running", "starting", "hung")

    @property
    def pid(self) -> int:
        return int(self.info["pid"])

    @property
    def port(self) -> int:
        return int(self.info["port"])


def write(state_dir: Path, info: Info) -> None:
    """Write server.json and server.pid."""
    for name, text in (
        ("server.json", json.dumps(info, indent=2) + "\n"),
        ("server.pid", f"{info['pid']}\n"),
    ):
        new = state_dir / f"{name}.new"
        new.write_text(text)
        new.chmod(0o600)
        new.replace(state_dir / name)


def forget(state_dir: Path) -> None:
    """Remove server.json and server.pid."""
    for name in ("server.json", "server.pid"):
        (state_dir / name).unlink(missing_ok=True)


def process_status(state_dir: Path) -> Status:
    """Return what is known of the server without a query: `running` if its process is there."""
    info = read(state_dir)
    if not info:
        return Status("stopped", {})
    found = start_time(info["pid"])
    if found is None:
        return Status("crashed", info)
    return Status("running" if found == info["start_time"] else "recycled", info)


def status(state_dir: Path, timeout: float = 10) -> Status:
    """Return what is known of the server; asks it a query if its process is there."""
    found = process_status(state_dir)
    if not found.alive or ask(found.port, timeout):
        return found
    return Status("hung" if found.info.get("ready") else "starting", found.info)
