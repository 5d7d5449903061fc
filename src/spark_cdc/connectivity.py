"""Whether the server answers that dbt's profile names, and what to do if it does not."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

from spark_cdc import local_server, project, tracebacks
from spark_cdc.errors import UnreachableError

SECONDS = 3
LOCAL = ("127.0.0.1", "localhost", "::1")


def problem(target: str | None, error: BaseException | None) -> UnreachableError | None:
    """Return why dbt could not reach a server, if that is why a command of it failed.

    error: what dbt ended with; None where it is the statements of a run that failed. To be called
    when dbt has run in this process, because dbt then knows where its profile is.
    """
    found = _address(target)
    if found is None:
        return None
    host, port, place = found
    met = error
    while met is not None and type(met).__name__ != "FailedToConnectError":
        met = met.__cause__ or met.__context__
    answers = _answers(host, port)
    if met is None and (error or answers):
        return None
    what = "accepts dbt's connection" if answers else "answers"
    return UnreachableError(
        f"No Spark server {what} on {host}:{port}. Host and port are in {place};"
        f" dbt's messages are in {tracebacks.LOG}.",
        _next_step(host, port),
    )


def _address(target: str | None) -> tuple[str, int, Path] | None:
    """Return host and port of the target, and the file that names them; None without an address."""
    from dbt.adapters.spark.connections import SparkCredentials
    from dbt.config.runtime import load_profile
    from dbt.flags import get_flags

    with contextlib.suppress(Exception):  # a profile that can't be read is not this error
        credentials = load_profile(str(project.root()), {}, None, target).credentials
        if not isinstance(credentials, SparkCredentials):
            return None
        if credentials.method != "session" and credentials.host:
            place = Path(get_flags().PROFILES_DIR) / "profiles.yml"
            return credentials.host, int(credentials.port), place
    return None


def _answers(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), SECONDS):
        return True
    return False


def _next_step(host: str, port: int) -> str:
    if host not in LOCAL:
        return "Check that the server runs and that this machine can reach it."
    running = local_server.port(project.state_dir())
    if running is None:
        return "Start the local server, then run the same command again.\nspark-cdc server start"
    if running == port:
        return "The local server has this port but does not answer.\nspark-cdc server status"
    here = f"The local server of this project has port {running}."
    if os.environ.get("SPARK_CDC_PORT") == str(port):
        return f"{here}\nexport SPARK_CDC_PORT={running}"
    return here
