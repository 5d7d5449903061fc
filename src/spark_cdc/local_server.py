"""The local server as its state folder names it, for what needs its port alone.

The part `server` starts and ends it. Nothing is asked here: neither the server nor its port.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TypedDict


class Info(TypedDict, total=False):
    """The content of server.json."""

    pid: int
    start_time: float | None
    host: str
    port: int
    started_at: str
    ready: bool
    warehouse: str
    memory: str
    cores: int | str
    formats: list[str]
    java: str
    spark: str
    log: str
    command: list[str]


def read(state_dir: Path) -> Info:
    """Return the content of server.json; nothing if there is none that can be used."""
    try:
        info: Info = json.loads((state_dir / "server.json").read_text())
    except (OSError, ValueError):
        return {}
    known = isinstance(info, dict) and {"pid", "start_time", "port"} <= info.keys()
    return info if known else {}


def port(state_dir: Path) -> int | None:
    """Return the port of the state folder's server, if this user has that process.

    A later process of its pid, as after a restart of the machine, is told apart where /proc is.
    """
    info = read(state_dir)
    try:
        os.kill(info["pid"], 0)
        stat = Path(f"/proc/{info['pid']}/stat")
        if info["start_time"] is not None and stat.exists():
            # the 22nd field: its start, in ticks after the machine's
            ticks = int(stat.read_text().rpartition(")")[2].split()[19])
            if abs(ticks / os.sysconf("SC_CLK_TCK") - info["start_time"]) > 0.1:
                return None
    except (KeyError, TypeError, OSError, OverflowError, ValueError):
        return None
    return info["port"]
