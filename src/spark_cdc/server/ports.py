"""The local server's port; without packages, because it is looked for before any is installed."""

from __future__ import annotations

import contextlib
import socket

from spark_cdc.errors import SparkCdcError

HOST = "127.0.0.1"
DEFAULT = 10019


def choose(port: int) -> int:
    """Return `port` if it is free, or a free one for 0; raise SparkCdcError if it is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            other = port + 1 if port < 65535 else DEFAULT + 1
            raise SparkCdcError(
                f"Port {port} can't be used: {error.strerror or error}. It belongs to"
                f" {_listener(port)}.",
                f"Take another port, in SPARK_CDC_PORT for dbt too; or make demo PORT={other}.\n"
                f"spark-cdc server start --port {other}",
            ) from error
        return int(probe.getsockname()[1])


def _listener(port: int) -> str:
    """Return who listens on a port, as far as that may be seen."""
    with contextlib.suppress(Exception):
        import psutil

        for connection in psutil.net_connections("tcp"):
            is_it = connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
            if is_it and connection.pid:
                return f"process {connection.pid} ({psutil.Process(connection.pid).name()})"
    return f"a process that ss -ltnp 'sport = :{port}' may show"
