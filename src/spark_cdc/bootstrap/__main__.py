"""Create `.venv` and install the pinned requirements: `python -m spark_cdc.bootstrap [--dev]`.

`--demo`: say first if the port is taken that the demo's server needs.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path

from spark_cdc.bootstrap.environment import Environment
from spark_cdc.errors import SparkCdcError
from spark_cdc.exit_codes import ExitCode
from spark_cdc.server import ports

ROOT = Path(__file__).resolve().parents[3]
VENV = Environment(ROOT / ".venv", ROOT / ".spark_cdc" / "bootstrap.log")
INPUTS = ("build.txt", "run.txt", "constraints.txt")


def _fingerprint(dev: bool) -> str:
    """Return a digest of everything that the installation depends on."""
    digest = hashlib.sha256(f"{VENV.folder} {sys.version_info[:2]}".encode())
    names = [*INPUTS, "dev.txt", "docs.txt", "openlineage.txt"] if dev else INPUTS
    for path in [*(ROOT / "requirements" / name for name in names), ROOT / "pyproject.toml"]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


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
    stamps = [VENV.folder / name for name in (["dev.stamp"] * dev + ["run.stamp"])]
    try:
        if arguments.demo:
            try:
                _check_port()
            except SparkCdcError as error:  # the install needs none, and the demo looks again
                print(error.text.replace("error:", "note:", 1), file=sys.stderr)
        if stamps[0].exists() and stamps[0].read_text() == _fingerprint(dev) and VENV.works():
            for stamp in stamps:
                stamp.touch()
            return 0
        VENV.prepare()
        requirements = ROOT / "requirements"
        files = ["build.txt", "run.txt", *(["dev.txt"] if dev else [])]
        VENV.pip(
            "Install the pinned packages (first time: some 500 MB, minutes)",
            [
                *(word for name in files for word in ("-r", str(requirements / name))),
                *("-c", str(requirements / "constraints.txt")),
            ],
        )
        VENV.pip("Install spark_cdc itself", ["--no-deps", "--no-build-isolation", "-e", str(ROOT)])
        VENV.java()
        (VENV.folder / "run.stamp").write_text(_fingerprint(False))
        if dev:
            (VENV.folder / "dev.stamp").write_text(_fingerprint(True))
    except SparkCdcError as error:
        print(error.text, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        return ExitCode.INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
