"""Help, dry runs, exit codes and progress of `spark-cdc`: the same whatever the command."""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import os
import pty
import re
import shlex
import subprocess
import sys
import time
import types
import typing
from pathlib import Path

import pytest

from spark_cdc import cli, console, parsing
from spark_cdc.errors import UsageError
from spark_cdc.exit_codes import MEANINGS, ExitCode

pytestmark = pytest.mark.proves("command line")

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = dict(parsing.commands(cli.parser()))
REFERENCE = (ROOT / "docs" / "reference.md").read_text("utf-8")
# Commands that change tables or files and have no dry run, with docs/reference.md's reasons.
WITHOUT_DRY_RUN = set(
    re.findall(
        r"^\| `([\w ]+)` \|", REFERENCE.partition("## Dry runs")[2].partition("\n## ")[0], re.M
    )
)
LOOKING = {"status", "report", "diff", "files", "verify"}


def test_the_list_of_commands_has_groups_and_fits_a_terminal() -> None:
    text = cli.parser().format_help()
    named = [name for names in cli.GROUPS.values() for name in names]
    assert sorted(named) == sorted(name for name in COMMANDS if " " not in name)
    for group, names in cli.GROUPS.items():
        listed = text.partition(f"\n{group}:\n")[2].partition("\n\n")[0].splitlines()
        assert [line.split()[0] for line in listed] == list(names)
        assert all(len(line.split()) > 3 for line in listed)
    assert max(map(len, text.splitlines())) <= 90


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_an_example_that_it_takes(name: str) -> None:
    text = COMMANDS[name].format_help()
    assert text.count("example:\n") == 1
    example = text.partition("example:\n  ")[2].strip()
    assert example.startswith(f"spark-cdc {name} ") or example == f"spark-cdc {name}"
    assert cli.parser().parse_args(shlex.split(example)[1:]).run


def _sample(action: argparse.Action) -> object:
    """A value that an option gives."""
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return True
    text = "15m" if isinstance(action.type, functools.partial) else "1"
    value = action.type(text) if callable(action.type) else text
    of_many = [value] if action.nargs in ("+", "*") else value
    return [of_many] if isinstance(action, argparse._AppendAction) else of_many


def _fits(value: object, declared: object) -> bool:
    if isinstance(declared, types.UnionType):
        return any(_fits(value, one) for one in typing.get_args(declared))
    if typing.get_origin(declared) is list:
        return isinstance(value, list) and all(
            _fits(one, typing.get_args(declared)[0]) for one in value
        )
    if declared is float:
        return type(value) in (int, float)
    if declared is Path:
        return isinstance(value, Path)
    return value is None if declared is types.NoneType else type(value) is declared


@pytest.mark.parametrize("name", COMMANDS)
def test_options_have_the_types_that_their_commands_declare(name: str) -> None:
    parser = COMMANDS[name]
    run = parser.get_default("run")
    if not isinstance(run, functools.partial):
        return  # a group, or a command that takes options as they are
    kind = run.args[0]
    example = parser.epilog.removeprefix(parsing.EXAMPLE)
    options = parsing.options(kind, cli.parser().parse_args(shlex.split(example)[1:]))
    actions = {action.dest: action for action in parser._actions}
    for field, declared in typing.get_type_hints(kind).items():
        values = [getattr(options, field)]
        values += [_sample(actions[field])] if field in actions else []
        assert all(_fits(value, declared) for value in values), (field, declared, values)


def test_tag_and_branch_are_alike() -> None:
    for action in ("create", "list", "drop"):
        helps = [COMMANDS[f"{noun} {action}"].format_help() for noun in ("tag", "branch")]
        words = [
            re.sub(r"march_2024|pr_7", "X", re.sub(r"\btag\b", "branch", text)) for text in helps
        ]
        own = re.compile(
            r"\n +(--at|--branch|--select|ENTITY) .*(\n {10,}.*)*"
            r"|\[--(at|branch|select)[^]]*\]+|\[ENTITY \.\.\.\]"
        )
        first, second = (" ".join(own.sub("", text).split()) for text in words)
        assert first == second


def test_dry_runs_are_alike() -> None:
    helps = {name: one.format_help() for name, one in COMMANDS.items()}
    has = {name for name, text in helps.items() if "--dry-run" in text}
    for name in has:
        assert re.search(r"--dry-run +print what would be done; change nothing\n", helps[name]), (
            name
        )
        assert "--execute" not in helps[name]
    leaves = {name for name in COMMANDS if not any(n.startswith(f"{name} ") for n in COMMANDS)}
    lists = {name for name in leaves if name.endswith((" list", " status", " logs", " check"))}
    assert leaves - has - LOOKING - lists == WITHOUT_DRY_RUN


def test_exit_codes_are_in_the_help_and_in_the_reference() -> None:
    table = REFERENCE.partition("## Exit codes")[2].partition("\n## ")[0]
    rows = [(int(code), text) for code, text in re.findall(r"^\| (\d+) \| (.*) \|$", table, re.M)]
    assert rows == [(int(code), meaning) for code, meaning in MEANINGS.items()]
    assert list(MEANINGS) == list(ExitCode)
    text = cli.parser().format_help()
    for code, meaning in MEANINGS.items():
        assert f"\n  {code:<4d} {meaning}\n" in text


def test_exit_codes_have_one_place() -> None:
    """No command returns another number than 0, which is plain."""
    wrong = []
    for path in sorted((ROOT / "src" / "spark_cdc").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and re.match(r"_?(run|main)\b|_?run_", node.name):
                for found in ast.walk(node):
                    if isinstance(found, ast.Return) and isinstance(found.value, ast.Constant):
                        wrong += [f"{path.name}:{found.lineno}"] if found.value.value else []
    assert wrong == []


NAMED = {"branch drop", "undo", "redo", "erase", "diff", "files", "new", "acknowledge", "load"}
NAMED |= {"import"}
OF_NO_ENTITY = ("server", "secrets", "demo", "init", "generate", "deps")


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_take_entities_by_position(name: str) -> None:
    """And by --select, as dbt has it."""
    parser = COMMANDS[name]
    if name in NAMED or name.startswith(OF_NO_ENTITY) or parser._subparsers:
        return
    name_of_state = ["march"] if name.startswith(("tag ", "branch ")) else []
    words = [*name.split(), *name_of_state]
    for given in (["a", "b"], ["--select", "a", "b"], ["a", "--select", "b"]):
        assert cli.parser().parse_args([*words, *given]).select == ["a", "b"]
    assert cli.parser().parse_args([*words, "a", "--target", "x", "b"]).select == ["a", "b"]


def test_dates_and_entities_in_any_order() -> None:
    for words in (["2024-03-01", "a"], ["a", "2024-03-01"], ["a", "--again", "2024-03-01"]):
        parsed = cli.parser().parse_args(["load", *words])
        assert (parsed.dates, parsed.select) == (["2024-03-01"], ["a"])
    with pytest.raises(UsageError, match="The date is missing"):
        cli.parser().parse_args(["acknowledge", "a"])


@pytest.mark.parametrize(
    ("words", "said", "step"),
    [
        ("laod", "'laod' is no command", "spark-cdc load"),
        ("tag lst", "'lst' is no command of spark-cdc tag", "spark-cdc tag list"),
        (
            "compact a --odler-than=3",
            "--odler-than is no option of spark-cdc compact. Did you mean '--older-than'?",
            "spark-cdc compact a --older-than=3",
        ),
        ("status --output jsn", "'jsn' is no value of --output", "spark-cdc status --output json"),
        ("load --zzz", "--zzz is no option", "spark-cdc load --help"),
        ("load --dry", "--dry is no option", "spark-cdc load --dry-run"),
        ("undo", "required: ENTITY", "spark-cdc undo --help"),
        ("load --parallel x", "invalid int value", "spark-cdc load --help"),
        ("diff a b c d", "'d' is one word too many", "spark-cdc diff --help"),
    ],
)
def test_a_mistake_prints_the_usage_of_its_command(
    words: str, said: str, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words.split()) == ExitCode.USAGE
    text = capsys.readouterr().err
    assert text.startswith("error: ") and said in text
    command = "" if words == "laod" else f" {words.split()[0]}"
    assert f"\nusage: spark-cdc{command} [" in text
    assert text.endswith(f"\nnext: {step}\n")


PROGRESS = """
import sys, time
from spark_cdc import console
console.PATIENCE = 0.3
console.MINUTE = 0.2
with console.progress("--quiet" not in sys.argv):
    with console.Step("short", console.PATIENCE):
        pass
    with console.Step("long", console.PATIENCE):
        time.sleep(0.8)
    with console.Step("step"):
        with console.Step("inner", console.PATIENCE):
            time.sleep(0.5)
    screen = console.Screen(2, "date")
    screen.line("result", 1)
    screen.close()
"""


def progress(*words: str, terminal: bool = False) -> tuple[str, str]:
    """Run PROGRESS, with stderr on a terminal if so; give stdout and stderr."""
    reader, writer = pty.openpty() if terminal else os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRESS, *words], stdout=subprocess.PIPE, stderr=writer
    ) as process:
        os.close(writer)
        assert process.stdout is not None
        said = b""
        with contextlib.suppress(OSError):  # a terminal ends so
            while part := os.read(reader, 4096):
                said += part
        out = process.stdout.read().decode()
    os.close(reader)
    assert process.returncode == 0
    return out, said.decode()


def test_progress_is_plain_lines_where_there_is_no_terminal() -> None:
    out, said = progress()
    assert out == "result\n"
    assert "short" not in said and "inner" not in said and "\r" not in said
    assert len(re.findall(r"^  long … \d s$", said, re.M)) >= 2
    assert re.search(r"^step 0\.\d s$", said, re.M)


def test_progress_is_a_line_a_minute_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the number of steps: cron mails what a load prints."""
    monkeypatch.setitem(console._lines, "last", time.monotonic())
    for _ in range(3):
        with console.Step("Load", 0.01):
            time.sleep(0.05)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(console._lines, "last", time.monotonic() - console.MINUTE)
    for _ in range(3):
        with console.Step("Load", 0.01):
            time.sleep(0.05)
    assert capsys.readouterr().err == "  Load … 0 s\n"


def test_progress_is_a_live_line_on_a_terminal() -> None:
    out, said = progress(terminal=True)
    assert out == "result\n"
    assert "\r\x1b[Klong … " in said and "short" not in said
    assert re.search(r"\r\x1b\[Kstep 0\.\d s\r\n", said)
    assert "long" not in said.rpartition("\r\x1b[K")[2]


@pytest.mark.parametrize("terminal", [False, True])
def test_quiet_leaves_progress_out(terminal: bool) -> None:
    assert progress("--quiet", terminal=terminal) == ("result\n", "")


@pytest.mark.parametrize("words", [("--quiet", "status"), ("status", "--quiet")])
def test_quiet_may_stand_before_and_after_a_command(words: tuple[str, ...]) -> None:
    assert cli.parser().parse_args(words).quiet
    assert not cli.parser().parse_args(["status"]).quiet


def test_a_wait_shows_its_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "MINUTE", 0.1)
    with console.Step("Read", 0.05) as step:
        time.sleep(0.2)
    assert step.seconds > 0.1
    assert capsys.readouterr().err.startswith("  Read … 0 s")


def test_quiet_ends_with_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    """A program that calls one command with --quiet sees the progress of the next."""
    cli.main(["--quiet", "new", "orders", "--from-file", "no.csv"])
    capsys.readouterr()
    with console.Step("after it"):
        pass
    assert "after it" in capsys.readouterr().err
