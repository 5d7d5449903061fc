"""Commands that messages print: each selects the entities that it is about, in one way."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from project import Project
from spark_cdc import business_date, cli, dbt_runner, selection
from spark_cdc.commands import replay
from spark_cdc.jinja_bridge import CompilerError, load_macros
from test_config import GOOD, macros

pytestmark = pytest.mark.proves("command line")

ROOT = Path(__file__).resolve().parents[1]
DBT = re.compile(r"(\S*)\bdbt (run|build|test|seed|snapshot)\b(?!-operation)")
# Commands of `spark-cdc` that take --select; undo, redo, erase, diff and new name entities first.
OURS = re.compile(r"spark-cdc (load|replay|compact|vacuum|verify|plan)\b")
# Entities by position: expressions of texts, and words that stand for a name.
ENTITIES = (
    r"\{(\{ )?(name|(one|ctx|verified|self|arguments|run)?\.?entity(\.name)?)"
    r"|ENTITY| orders\b|' ~ (entity\.)?name"
)
# What may stand behind --select: the entity's tag, or a model that is named and meant alone.
SELECTED = {
    "{{ spark_cdc._selector(name) }}": "a load of the entity",
    "' ~ name ~ '_committed'": "the view that a repair makes anew",
    "' ~ node.name": "the same",
    "' ~ (model.name": "the consumer of a change feed that begins anew",
    "{dbt_runner.selector(entity.name)}": "a load of the entity",
    "{' '.join(views)}": "dbt_runner.views_of()",
    "{tables}": "published tables, by name",
    "tag:spark_cdc_verify)": "help of verify",
    "tag:spark_cdc_verify,": "tests of whole ledgers, which a build leaves out",
}


def texts_of_macros() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "macros").rglob("*.sql")):
        text = re.sub(r"\{#.*?#\}", "", path.read_text("utf-8"), flags=re.DOTALL)
        yield path.name, re.sub(r"\s*\n\s*", " ", text)


def texts_of_python() -> Iterator[tuple[str, str]]:
    """All texts of the package, f-strings with their expressions, without docstrings."""
    for path in sorted((ROOT / "src" / "spark_cdc").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        inner = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in ast.walk(node)
            if part is not node
        }
        inner |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if id(node) in inner:
                continue
            if isinstance(node, ast.JoinedStr):
                yield (
                    path.name,
                    "".join(
                        part.value
                        if isinstance(part, ast.Constant)
                        else f"{{{ast.unparse(part.value)}}}"
                        for part in node.values
                    ),
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.name, node.value


TEXTS = [*texts_of_macros(), *texts_of_python()]


def test_each_dbt_command_selects_in_one_way() -> None:
    selected, wrong = set(), []
    for name, text in TEXTS:
        for match in DBT.finditer(text):
            rest = text[match.end() :]
            rest = re.sub(r"^ (\{\{ '--full-refresh ' .*? \}\}|--full-refresh )", " ", rest)
            if rest.startswith(" --select "):
                rest = rest.removeprefix(" --select ")
                found = [one for one in SELECTED if rest.startswith(one)]
                selected.update(found)
                wrong += [] if found else [f"{name}: {match[0]} --select {rest[:40]}"]
            elif match[1].endswith("=") or rest.startswith(" -") or "=" in match[1]:
                wrong.append(f"{name}: {match[0]}{rest[:40]}")
    assert wrong == []
    assert selected == set(SELECTED), "what no message says any more"


def test_each_command_of_ours_names_entities() -> None:
    count, wrong = 0, []
    for name, text in TEXTS:
        for match in OURS.finditer(text):
            rest = re.split(r"\. |;|\), |\)\.|, which|, then|, or |`", text[match.end() :])[0]
            has_arguments = re.match(r" (-|\d|'|\"|\{|DATE)", rest)
            if not has_arguments or re.match(
                r" (--(help|dry-run|file|expect|every)|DATE …$|\{option)", rest
            ):
                continue
            count += 1
            is_built = "dbt_runner.options(" in rest or "_names(" in rest
            if not is_built and not re.search(r"--select|" + ENTITIES, rest):
                wrong.append(f"{name}: {match[0]}{rest[:60]}")
    assert wrong == []
    assert count >= 20


# --- what they come to


OF_COMMAND_LINE = {"SPARK_CDC_DATA": "1", "SPARK_CDC_OPTIONS": " --target cluster"}
ENTITY = {"name": "orders", "events": None}


def vars_of(command: str) -> dict[str, Any]:
    """The vars of a printed command, as dbt reads them behind a shell."""
    words = shlex.split(command)
    found = yaml.safe_load(words[words.index("--vars") + 1])
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, {}),
        ({"spark_cdc_load_type": "full"}, {"spark_cdc_load_type": {"orders": "full"}}),
        (
            {"spark_cdc_load_type": {"orders": "full", "sites": "delta"}},
            {"spark_cdc_load_type": {"orders": "full"}},
        ),
        ({"spark_cdc_load_type": {"sites": "delta"}}, {}),
        ({"spark_cdc_position": [815, 3]}, {"spark_cdc_position": {"orders": [815, 3]}}),
        (
            {"spark_cdc_position": {"orders": "2024-03-04 10:15:00", "sites": 1}},
            {"spark_cdc_position": {"orders": "2024-03-04 10:15:00"}},
        ),
        ({"spark_cdc_rekey": ["orders", "sites"]}, {"spark_cdc_rekey": ["orders"]}),
        ({"spark_cdc_rekey": "sites"}, {}),
        (
            {"spark_cdc_skip_guards": ["sites.empty", "failed_casts", "orders.rows_band"]},
            {"spark_cdc_skip_guards": ["failed_casts", "orders.rows_band"]},
        ),
    ],
)
@pytest.mark.parametrize("time", ["2024-03-04", "2024-03-04 10:15:00"])
def test_a_load_keeps_what_its_run_was_told(
    given: dict[str, Any], kept: dict[str, Any], time: str
) -> None:
    """A full snapshot that a guard refused is not loaded as a delta when the guard is lifted."""
    made = load_macros(var=given)
    command = made._load_command(ENTITY, time).strip()
    assert command.startswith("dbt run --select tag:spark_cdc.orders --vars ")
    found = vars_of(command)
    assert str(made._business_time(found.pop("business_date"))).startswith(time)
    assert found == kept
    lifted = vars_of(made._skip_command(ENTITY, {"business_time": time}, ["empty"]))
    before = kept.get("spark_cdc_skip_guards", [])
    assert lifted.pop("spark_cdc_skip_guards") == [*before, "orders.empty"]
    assert lifted.keys() - {"business_date"} == kept.keys() - {"spark_cdc_skip_guards"}


@pytest.mark.parametrize(
    ("given", "time", "more", "command"),
    [
        ({}, "2024-03-04", {}, "load 2024-03-04 orders"),
        ({}, "2024-03-04 10:15:00", {}, "load '2024-03-04 10:15:00' orders"),
        ({}, None, {}, "load DATE orders"),
        (
            {"spark_cdc_load_type": {"orders": "full"}, "spark_cdc_position": 815},
            "2024-03-04",
            {"skip": ["deleted_share"]},
            "load 2024-03-04 orders --load-type full --position 815"
            " --skip-guards orders.deleted_share",
        ),
        (
            {"spark_cdc_skip_guards": ["sites.empty", "failed_casts"]},
            "2024-03-04",
            {"skip": ["empty"]},
            "load 2024-03-04 orders --skip-guards failed_casts orders.empty",
        ),
        (
            {"spark_cdc_replay": {"from": "2024-03-02", "source": "archive"}},
            "2024-03-04",
            {},
            "replay orders --from 2024-03-02 --dates 2024-03-04 --source archive",
        ),
        ({}, None, {"replay": {"from": "DATE"}}, "replay orders --from DATE"),
    ],
)
def test_who_types_spark_cdc_is_told_its_commands(
    given: dict[str, Any], time: str | None, more: dict[str, Any], command: str
) -> None:
    made = load_macros(var=given, env_var=OF_COMMAND_LINE.get)
    assert made._load_command(ENTITY, time, **more) == f"spark-cdc {command} --target cluster"
    words = shlex.split(command.replace("DATE", "2024-03-04"))
    assert cli.parser().parse_args(words).select == ["orders"]


def test_what_takes_dbt_is_a_command_of_dbt() -> None:
    made = load_macros(var={"spark_cdc_rekey": "orders"}, env_var=OF_COMMAND_LINE.get)
    anew = made._load_command({"name": "sites"}, "2024-03-04", reset=True)
    assert anew.startswith("dbt run --full-refresh --select tag:spark_cdc.sites")
    rekeyed = made._load_command(ENTITY, "2024-03-04")
    assert vars_of(rekeyed)["spark_cdc_rekey"] == ["orders"]


def test_a_ledger_that_starts_anew_selects_its_entity() -> None:
    macros_of_run = macros()
    entity = macros_of_run._entity("orders")
    with pytest.raises(CompilerError) as error:
        macros_of_run._refuse_definition(entity, ["it changed"], {"business_time": "2024-01-02"})
    command = re.search(r"dbt run .*'", str(error.value))
    assert command and " --full-refresh --select tag:spark_cdc.orders --vars" in command[0]
    assert vars_of(command[0])["spark_cdc_reset"] == ["orders"]


def test_dates_are_asked_for_without_a_command_for_all() -> None:
    for given in (
        {"spark_cdc_require_business_date": True},
        {"business_date": "2024-02-30"},
    ):
        with pytest.raises(CompilerError) as error:
            macros(GOOD, var=given).validate()
        assert "--vars '{business_date: 2019-06-19}'" in str(error.value)
        assert "dbt run" not in str(error.value)


def test_a_replay_goes_on_with_its_entities() -> None:
    date, other = "2024-03-02 00:00:00", "2024-03-03 00:00:00"
    shared = {"load_type": "full", "per": "date", "has_archive": False, "rows": 1}
    plans = [
        replay.plan(one, business_date.parse("2024-03-02")[0])
        for one in (
            SimpleNamespace(
                entity=name,
                times=[business_date.parse(text)[0] for text in (date, other)],
                draft=None,
                text=lambda time: time.strftime("%Y-%m-%d"),
                **shared,
            )
            for name in ("orders", "sites")
        )
    ]
    assert replay.command(plans) == "spark-cdc replay orders sites --from 2024-03-02"


@pytest.mark.parametrize(
    ("words", "selected"),
    [
        (["orders"], ["--select", "orders", "tag:spark_cdc.orders"]),
        (["tag:nightly", "stg_a+"], ["--select", "tag:nightly", "stg_a+"]),
        ([], []),
    ],
)
def test_the_name_of_an_entity_selects_its_models(words: list[str], selected: list[str]) -> None:
    assert selection.options("select", words) == selected


COLUMNS = {"id": {"data_type": "int", "role": "key"}, "value": "int"}


@pytest.mark.integration
def test_a_printed_command_runs_nothing_else(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It rebuilds no model of the user's own, of which only new rows can be made again."""
    project.entity("wiped", COLUMNS)
    project.land("wiped", "2024-01-01", "id,value", "1,10")
    project.land("wiped", "2024-01-02", "id,value", "1,10")
    project.query("create table {s}.feed as select 1 as n")
    folder = project.folder / "models" / "own"
    folder.mkdir()
    kept = "{{ config(materialized='incremental', incremental_strategy='append') }}"
    for name, read in (("own", f"{project.schema}.feed"), ("below", "{{ ref('wiped_current') }}")):
        query = f"{kept}\nselect count(*) as n from {read}\n"
        (folder / f"{name}.sql").write_text(query, encoding="utf-8")
    variables = yaml.safe_dump({"business_date": "2024-01-01"})
    for _ in range(2):
        assert project.dbt("run", "--vars", variables).success
    assert len(project.rows("own", "n")) == len(project.rows("below", "n")) == 2

    project.entity("wiped", COLUMNS | {"value": "date"})
    refused = project.run("2024-01-02", "wiped")
    assert not refused.success
    [command] = set(re.findall(r"dbt run --full-refresh .*?'\{.*?\}'", refused.output))
    project.land("wiped", "2024-01-02", "id,value", "1,2024-01-01")
    pasted = project.dbt(*shlex.split(command)[1:])
    assert pasted.success, pasted.output
    assert str(project.rows("wiped_current", "value")[0][0]) == "2024-01-01"
    assert len(project.rows("own", "n")) == len(project.rows("below", "n")) == 2
    models = {f"wiped_{kind}" for kind in ("ledger", "committed", "current", "history", "versions")}
    assert set(pasted.status) == models

    project.serve_commands(monkeypatch)
    project.land("wiped", "2024-01-03", "id,value", "1,2024-01-01")
    assert cli.main(["load", "2024-01-03", "--select", "wiped"]) == 0, capsys.readouterr().out
    assert cli.main(["load", "2024-01-04", "--select", "nobody"]) == 2
    assert dbt_runner.selector("wiped") in command
    assert len(project.rows("own", "n")) == 2
