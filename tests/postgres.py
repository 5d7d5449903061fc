"""PostgreSQL for tests: a database server of its own, in a temporary folder, on a free port."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spark_cdc.errors import SparkCdcError
from spark_cdc.server import ports

USER, DATABASE = "spark_cdc", "postgres"


def binary(name: str) -> Path:
    """PostgreSQL's own program of that name, the newest; SparkCdcError if there is none."""
    places = [*sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), shutil.which(name)]
    for place in reversed([Path(place) for place in places if place]):
        if place.exists():
            return place
    raise SparkCdcError(
        f"PostgreSQL is needed: there is no {name}",
        "Install it, in Debian and Ubuntu with: apt-get install postgresql",
    )


class Postgres:
    """PostgreSQL, from `start` to `stop`; what it holds goes with it.

    settings: of postgresql.conf, beyond those that keep it on this machine.
    """

    def __init__(self, settings: Mapping[str, str], log: Path | None = None) -> None:
        self.initdb, self.postgres, self.psql = map(binary, ("initdb", "postgres", "psql"))
        self.settings = {
            "listen_addresses": ports.HOST,
            "unix_socket_directories": "",
            **settings,
        }
        self.password = secrets.token_hex(16)
        self.folder = Path(tempfile.mkdtemp(prefix="spark_cdc_postgres_"))
        self.log = log or self.folder / "postgres.log"
        self.port = ports.choose(0)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and return when it answers; the first time with an empty database."""
        data = self.folder / "data"
        # PostgreSQL refuses to run as root; Debian's package brings a user for it.
        who: dict[str, Any] = {"user": "postgres"} if os.geteuid() == 0 else {}
        if who:
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        if not data.exists():
            secret = self.folder / "password"
            secret.touch(mode=0o600)
            secret.write_text(self.password)
            if who:
                os.chown(secret, account.pw_uid, account.pw_gid)
            words = ["-D", data, "-U", USER, "--auth=scram-sha-256", f"--pwfile={secret}", "-N"]
            words += ["--encoding=UTF8", "--locale=C"]
            subprocess.run(
                [self.initdb, *words], cwd=self.folder, check=True, stdout=subprocess.DEVNULL, **who
            )
        words = [part for key, value in self.settings.items() for part in ("-c", f"{key}={value}")]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.postgres, "-D", data, "-p", str(self.port), *words],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **who,
            )
        deadline = time.monotonic() + 60
        while self._ask("select 1").returncode:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SparkCdcError("PostgreSQL does not start", f"Its log: {self.log}")
            time.sleep(0.2)

    def _ask(self, sql: str) -> subprocess.CompletedProcess[str]:
        words = ["-h", ports.HOST, "-p", str(self.port), "-U", USER, "-d", DATABASE, "-XAtc", sql]
        return subprocess.run(
            [self.psql, *words],
            env={**os.environ, "PGPASSWORD": self.password},
            capture_output=True,
            text=True,
        )

    def query(self, sql: str) -> list[list[str]]:
        """Rows of a query in PostgreSQL, as text."""
        done = self._ask(sql)
        assert done.returncode == 0, done.stderr
        return [line.split("|") for line in done.stdout.splitlines()]

    def kill(self) -> None:
        """End it at once, connections and all, as if its machine had crashed."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)  # PostgreSQL's immediate shutdown
            self.process.wait(30)

    def stop(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
