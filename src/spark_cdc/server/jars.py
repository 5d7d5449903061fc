"""Pinned jars: fetched once into the project's `.spark_cdc/jars` by Spark's own Ivy.

Ivy knows Maven Central; an Ivy settings file (SPARK_CDC_IVY_SETTINGS) names a mirror. Each jar has
to have the checksum that is written down for it, at each use.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from spark_cdc import project
from spark_cdc.console import Step
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import java

FETCH_SECONDS = 600.0


@dataclasses.dataclass(frozen=True)
class Jar:
    """A jar by its Maven coordinates, with its checksum (SHA-256)."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"

    @property
    def path(self) -> Path:
        """Return its file, whether that is there or not."""
        return folder() / self.name


def folder() -> Path:
    """Return where jars are kept: one folder for all servers of a project."""
    return project.root() / ".spark_cdc" / "jars"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ivy(
    words: Sequence[str], into: Path, executable: Path, ivy_settings: str, seconds: float
) -> str:
    """Let the Ivy among Spark's own jars work in a folder, and return what it says.

    words: what it is to do. Nothing is left elsewhere, whatever becomes of it.
    """
    command = [
        str(executable),
        f"-Divy.default.ivy.user.dir={into / 'ivy'}",
        *("-cp", f"{java.pyspark_home() / 'jars'}/*", "org.apache.ivy.Main", "-warn"),
        *(["-settings", ivy_settings] if ivy_settings else []),
        *("-cache", str(into / "cache")),
        *words,
    ]
    try:
        out = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return f"no end after {seconds:.0f} s"
    return out.stdout + out.stderr


def _fetch(jar: Jar, into: Path, executable: Path, ivy_settings: str) -> Path:
    """Fetch a jar into a folder and return its path."""
    words = ["-dependency", jar.group, jar.artifact, jar.version, "-confs", "master"]
    words += ["-notransitive", "-retrieve", str(into / "[artifact]-[revision].[ext]")]
    said = ivy(words, into, executable, ivy_settings, FETCH_SECONDS)
    found = into / jar.name
    if not found.is_file():
        told = [line.strip() for line in said.splitlines() if re.search(r"[a-z]{3}", line)][:6]
        raise SparkCdcError(
            f"The jar {jar.name!r} can't be fetched from Maven Central:"
            + "".join(f"\n  | {line[:200]}" for line in told),
            "Set a proxy (JAVA_TOOL_OPTIONS=-Dhttps.proxyHost=…), name a mirror in an Ivy settings"
            f" file, or copy the jar to {folder() / jar.name} (SHA-256 {jar.sha256}).\n"
            "export SPARK_CDC_IVY_SETTINGS=/path/to/ivysettings.xml",
        )
    return found


def ensure(jars: Iterable[Jar], executable: Path, ivy_settings: str = "") -> list[Path]:
    """Return the files of jars, each with the right checksum; fetch those that are not there.

    executable: java. ivy_settings: an Ivy settings file, for another place than Maven Central.

    Raises SparkCdcError if one can't be fetched, or is another one than was pinned.
    """
    kept = folder()
    paths = []
    for jar in jars:
        path = jar.path
        paths.append(path)
        if path.is_file() and _sha256(path) == jar.sha256:
            continue
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            Step(f"Fetch {jar.name}"),
            tempfile.TemporaryDirectory(dir=kept, prefix=".fetch-") as place,
        ):
            came = _fetch(jar, Path(place), executable, ivy_settings)
            found = _sha256(came)
            if found != jar.sha256:
                raise SparkCdcError(
                    f"The jar {jar.name!r} has the SHA-256 {found}. Expected is {jar.sha256};"
                    " the jar was not kept.",
                    "Run the same command again. If it fails again, check the mirror or proxy, or"
                    f" copy the right jar to {path}.",
                )
            came.replace(path)
    return paths
