"""Compiled Jinja that is kept from one command to the next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jinja2
import pytest
from dbt_common.clients.jinja import get_environment

from spark_cdc import compiled

pytestmark = pytest.mark.proves("command line")

MACRO = "{% set number = 21 %}" + "{# what it is for #}" * 20 + "{{ number * 2 }}"
ORDINARY = jinja2.Environment.compile


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARK_CDC_STATE_DIR", str(tmp_path))
    monkeypatch.delenv("DBT_MACRO_DEBUGGING", raising=False)
    return tmp_path / compiled.FOLDER


def render(text: str = MACRO, native: bool = False) -> Any:
    return get_environment(None, native=native).from_string(text).render({})


def codes(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def no_parser(*_: object, **__: object) -> None:
    raise AssertionError("a text is parsed again")


def test_what_one_command_has_compiled_the_next_one_takes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with compiled.kept():
        assert render() == "42"
    assert jinja2.Environment.compile is ORDINARY
    assert folder.stat().st_mode & 0o777 == 0o700
    (kept,) = codes(folder)
    before = kept.stat().st_mtime_ns
    monkeypatch.setattr(jinja2.sandbox.SandboxedEnvironment, "_generate", no_parser)
    with compiled.kept():
        assert render() == "42"
    assert kept.stat().st_mtime_ns == before
    with compiled.kept(), pytest.raises(AssertionError, match="parsed again"):
        ORDINARY(get_environment(), MACRO)  # what the test looks for would be found


def test_a_text_that_changes_is_compiled_anew(folder: Path) -> None:
    with compiled.kept():
        assert [render(), render(MACRO.replace("* 2", "* 3")), render()] == ["42", "63", "42"]
    assert len(codes(folder)) == 2


def test_texts_and_values_of_one_text_have_codes_of_their_own(folder: Path) -> None:
    text = "{{ (40 + 2) | as_native }}" + "{# a comment #}" * 20
    for _ in range(2):
        with compiled.kept():
            found = [render(text), render(text, native=True)]
        assert found == ["42", 42]
    assert len(codes(folder)) == 2


def test_errors_name_the_line(folder: Path) -> None:
    text = "{# first #}\n" * 20 + "{{ nothing.of_it.is_there }}"
    for _ in range(2):
        with compiled.kept(), pytest.raises(jinja2.UndefinedError) as raised:
            render(text)
        found = [one.lineno + 1 for one in raised.traceback if "<template>" in str(one.path)]
        assert found[-1] == 21


@pytest.mark.parametrize("bytes_", [b"", b"j2", b"\x80\x04K\x01.", None])
def test_a_damaged_file_is_written_anew(
    folder: Path, bytes_: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with compiled.kept():
        render()
    (kept,) = codes(folder)
    whole = kept.read_bytes()
    for length in range(0, len(whole), 37) if bytes_ is None else [0]:
        kept.write_bytes(whole[:length] if bytes_ is None else whole[:20] + bytes_)
        with compiled.kept():
            assert render() == "42"
        assert codes(folder) == [kept]
        with monkeypatch.context() as patched, compiled.kept():
            patched.setattr(jinja2.sandbox.SandboxedEnvironment, "_generate", no_parser)
            assert render() == "42"


def test_code_that_others_could_have_written_is_not_run(folder: Path) -> None:
    folder.mkdir()
    for mode in (0o770, 0o707, 0o777):
        folder.chmod(mode)
        with compiled.kept():
            assert jinja2.Environment.compile is ORDINARY
            assert render() == "42"
        assert codes(folder) == []


def test_without_a_state_folder_nothing_is_made(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CDC_STATE_DIR", str(tmp_path / "none"))
    with compiled.kept():
        assert render() == "42"
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(folder: Path) -> None:
    folder.mkdir(mode=0o500)
    with compiled.kept():
        assert render() == "42"


def test_a_disk_that_is_full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jinja2.bccache.Bucket, "write_bytecode", full)
    with compiled.kept():
        assert render() == "42"
    assert codes(folder) == []


def test_there_are_never_too_many(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "MOST", 3)
    for number in range(5):
        with compiled.kept():
            render(MACRO + str(number))
    assert len(codes(folder)) == 1


def test_short_texts_and_nodes_are_compiled_as_ever(folder: Path) -> None:
    with compiled.kept():
        assert render("{{ 6 * 7 }}") == "42"
        environment = get_environment()
        assert environment.compile(environment.parse(MACRO))
        assert "def root" in environment.compile(MACRO, raw=True)
    assert codes(folder) == []


def test_dbt_debugs_macros_of_their_own_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_MACRO_DEBUGGING", "1")
    with compiled.kept():
        assert jinja2.Environment.compile is ORDINARY
