"""What Maven has for the run: jars and two archives, each with the checksum that is written down.

They are kept in `.spark_cdc/e2e` and fetched by the Ivy that is among Spark's own jars, in one go.
Each line of downloads.txt is what it is for, its Maven coordinates and its checksum (SHA-256).
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import quoteattr

import postgres
from spark_cdc import console
from spark_cdc.console import Step
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import jars, java

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("downloads.txt")
FETCH_SECONDS = 900.0
# No descriptions of dependencies: the list is complete, and one of them is not served.
SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
"""
MODULE = """<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="spark_cdc" module="e2e"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>{}</dependencies>
  <conflicts><manager name="all"/></conflicts>
</ivy-module>
"""


@dataclasses.dataclass(frozen=True)
class Download:
    """A file by its Maven coordinates: `part` is what it is for."""

    part: str
    group: str
    artifact: str
    version: str
    classifier: str
    extension: str
    sha256: str

    @property
    def name(self) -> str:
        ending = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{ending}.{self.extension}"

    @property
    def element(self) -> str:
        """Return the element of Ivy's module that names the file."""
        kind = f" m:classifier={quoteattr(self.classifier)}" if self.classifier else ""
        return (
            f"<artifact name={quoteattr(self.artifact)} type={quoteattr(self.extension)}"
            f" ext={quoteattr(self.extension)}{kind}/>"
        )


def _dependencies(wanted: Iterable[Download]) -> str:
    """Return the elements of Ivy's module that ask for files: one for each module that has them."""
    modules: dict[tuple[str, str, str], str] = {}
    for one in wanted:
        name = (one.group, one.artifact, one.version)
        modules[name] = modules.get(name, "") + one.element
    return "".join(
        f"<dependency org={quoteattr(group)} name={quoteattr(artifact)} rev={quoteattr(version)}"
        f' transitive="false" conf="default">{files}</dependency>'
        for (group, artifact, version), files in modules.items()
    )


def pinned(listed: Path = LIST) -> list[Download]:
    """Return what a list such as downloads.txt has."""
    found = []
    for line in listed.read_text("utf-8").splitlines():
        part, coordinates, sha256 = line.split()
        group, artifact, version, *rest = coordinates.split(":")
        classifier, extension = rest or ("", "jar")
        found.append(Download(part, group, artifact, version, classifier, extension, sha256))
    return found


def folder() -> Path:
    """Return where downloads are kept, by part."""
    return ROOT / ".spark_cdc" / "e2e" / "downloads"


def ensure_postgresql() -> None:
    """Install Debian's PostgreSQL where there is none and this user may; else leave it be."""
    with contextlib.suppress(SparkCdcError):
        postgres.binary("initdb")
        return
    apt = shutil.which("apt-get")
    if apt and os.geteuid() == 0:
        console.run(
            "Install PostgreSQL",
            [apt, "install", "--yes", "--no-install-recommends", "postgresql"],
            log=folder().parent / "apt.log",
            next_step="Where lists of packages are old: apt-get update",
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        )


def _is_there(one: Download) -> bool:
    path = folder() / one.part / one.name
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == one.sha256


def ensure(listed: Path = LIST) -> Path:
    """Return the folder of all downloads, each with the right checksum; fetch what is not there.

    listed: which, such as downloads.txt.

    The archives lie unpacked beside themselves. SPARK_CDC_IVY_SETTINGS names a mirror, as for
    `spark-cdc server start`; its resolver needs usepoms="false".

    Raises SparkCdcError if something can't be fetched, or is not what was pinned.
    """
    wanted = pinned(listed)
    lacking = [one for one in wanted if not _is_there(one)]
    if lacking:
        with Step(f"Fetch {len(lacking)} files of {len(wanted)} from Maven"):
            _fetch(lacking)
    return folder()


def _fetch(lacking: list[Download]) -> None:
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder(), prefix=".fetch-") as name:
        place = Path(name)
        (place / "ivy.xml").write_text(MODULE.format(_dependencies(lacking)))
        (place / "ivysettings.xml").write_text(SETTINGS)
        settings = os.environ.get("SPARK_CDC_IVY_SETTINGS") or str(place / "ivysettings.xml")
        words = ["-ivy", str(place / "ivy.xml")]
        words += ["-retrieve", str(place / "[artifact]-[revision](-[classifier]).[ext]")]
        executable = java.ensure().executable
        said = jars.ivy(words, place, executable, settings, FETCH_SECONDS).strip()
        for one in lacking:
            came = place / one.name
            found = hashlib.sha256(came.read_bytes()).hexdigest() if came.is_file() else "none"
            if found != one.sha256:
                raise SparkCdcError(
                    f"{one.name} could not be fetched: SHA-256 {found}, expected {one.sha256}"
                    + "".join(f"\n  | {line[:200]}" for line in said.splitlines()[:8]),
                    "Make Maven Central reachable, or name a mirror: SPARK_CDC_IVY_SETTINGS=FILE."
                    f" Or copy the file to {folder() / one.part}.",
                )
            (folder() / one.part).mkdir(exist_ok=True)
            came.replace(folder() / one.part / one.name)
            if one.extension == "tar.gz":
                with tarfile.open(folder() / one.part / one.name) as archive:
                    archive.extractall(folder() / one.part, filter="data")
