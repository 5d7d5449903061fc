"""Secrets stay out of what dbt writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner

from project import ROOT

pytestmark = [pytest.mark.proves("sensitive"), pytest.mark.integration]

SECRET = "do-not-tell-5d41402a"


def test_a_password_is_in_no_log_and_no_compiled_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The target `cluster` with LDAP, against a port on which nobody listens."""
    for name, value in {
        "DBT_ENV_SECRET_SPARK_CDC_PASSWORD": SECRET,
        "SPARK_CDC_AUTH": "LDAP",
        "SPARK_CDC_HOST": "127.0.0.1",
        "SPARK_CDC_PORT": "9",
    }.items():
        monkeypatch.setenv(name, value)
    profiles = (ROOT / "profiles/profiles.yml").read_text()
    (tmp_path / "profiles.yml").write_text(
        profiles.replace("connect_retries: 3", "connect_retries: 0")
    )
    places = ["--project-dir", str(ROOT), "--profiles-dir", str(tmp_path)]
    places += ["--target-path", str(tmp_path / "target"), "--log-path", str(tmp_path / "logs")]
    monkeypatch.chdir(ROOT)
    for command in (["debug", "--connection"], ["ls"], ["run", "--select", "stg_orders"]):
        dbtRunner().invoke([*command, "--target", "cluster", "--log-level-file", "debug", *places])
    printed = capfd.readouterr()
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "dbt.log" for path in written)
    assert any(path.name == "manifest.json" for path in written)
    for path in written:
        assert SECRET.encode() not in path.read_bytes(), path
    assert SECRET not in printed.out + printed.err
    assert "Could not connect to any of" in (tmp_path / "logs/dbt.log").read_text()
