"""What the project sends to Spark, by statement, is what it sent when golden/ was written.

A change that means to leave SQL alone is proved by this file; one that changes SQL says so by the
lines of tests/golden that change with it. The texts themselves are in target/golden, so that those
of two commits can be compared; `SPARK_CDC_WRITE_GOLDEN=1 pytest tests/test_golden.py` writes
tests/golden anew.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from pyhive import hive

import rendered_sql
from project import Project
from spark_cdc.jinja_bridge import Macros

pytestmark = pytest.mark.proves("house")

ROOT = Path(__file__).resolve().parents[1]
GOLDEN, TEXTS = ROOT / "tests" / "golden", ROOT / "target" / "golden"
IS_WRITTEN = bool(os.environ.get("SPARK_CDC_WRITE_GOLDEN"))
DAYS = tuple(f"2024-03-0{day}" for day in range(1, 8))
KEY = {"id": {"data_type": "int", "role": "key"}}
OP = {"op": {"data_type": "string", "role": "control"}}
SEQ = {"seq": {"data_type": "bigint", "role": "control"}}
SECRET = {"data_type": "string", "sensitive": True}
# what dbt itself asks, schema by schema in any order
OF_DBT = re.compile(r"USE |show databases|show table extended in \w+ like '\*'")
# what differs between two runs of the same story
MASKS = (
    (re.compile(r"/\* \{.*?\} \*/\s*", re.DOTALL), ""),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])"), "<hash>"),
    (re.compile(r"\b(\d{8}(?:t\d{6})?-[a-z]{1,3}-)[0-9a-f]{8}\b"), r"\1<run>"),
    (re.compile(r"(?<!\d)20(?:2[5-9]|[3-9]\d)-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?"), "<time>"),
    (re.compile(r"(?<!\d)20(?:2[5-9]|[3-9]\d)\d{4}t\d{6}(?:_[0-9a-f]{8})?"), "<time>"),
    (re.compile(r"_[0-9a-f]{8}\b"), "_<run>"),
    (re.compile(r"(['\"])[0-9a-f]{8}\1"), "<run>"),
    (re.compile(r"file:[^\s'`]*/warehouse/"), "file:<warehouse>/"),
    (re.compile(r"\b1[6-9]\d{8}(?:\d{3,6})?\b"), "<epoch>"),
    (re.compile(r'"seconds": [0-9.]+'), '"seconds": <n>'),
    (re.compile(re.escape(version("dbt-core"))), "<dbt>"),
)


def compare(name: str, lines: list[str]) -> None:
    """Hold lines against those of tests/golden, or write them there."""
    path = GOLDEN / f"{name}.txt"
    text = "".join(f"{line}\n" for line in lines)
    if IS_WRITTEN:
        path.write_text(text, "utf-8")
    told = f"{TEXTS.relative_to(ROOT)}/{name} has the texts"
    assert path.read_text("utf-8").splitlines() == lines, told


def digest(text: str) -> str:
    """Eight hexadecimal digits that stand for a text."""
    return hashlib.md5(text.encode()).hexdigest()[:8]


def test_rendered_sql_is_unchanged() -> None:
    files = rendered_sql.render()
    for name, sql in files.items():
        path = TEXTS / "rendered" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sql, "utf-8")
    compare("rendered", [f"{digest(sql)} {len(sql):6} {name}" for name, sql in files.items()])


def test_what_a_run_keeps_is_never_changed() -> None:
    """Macros hand dictionaries on; one that changed a kept one would change what comes after."""
    compared: dict[str, bool] = {}

    def look(macros: Macros) -> None:
        names = {one.removesuffix(" as declared") for one in macros._memo() if "model." in one}
        nodes = {one: macros.entity_node(one.rpartition(".stg_")[2]) for one in names}
        for node in nodes.values():
            macros._entity_problems(node["name"].removeprefix("stg_"), node)
        for kept, value in list(macros._memo().items()):
            # whose values these are, what it does, and what the server is
            if kept in ("run", "mode", "server", "platform", "other platform"):
                continue
            compared[kept] = value == _worked_out(macros, kept, nodes)

    rendered_sql.render(look)
    assert len(compared) > 30
    assert [kept for kept, is_same in compared.items() if not is_same] == []


def _worked_out(macros: Macros, kept: str, nodes: dict[str, Any]) -> Any:
    """What is kept under a name, made again."""
    if kept == "settings":
        return macros._known_settings_table()
    if kept.startswith("format "):
        del macros._memo()[kept]
        return macros._adapter_format(kept.removeprefix("format "))
    node = nodes[kept.removesuffix(" as declared")]
    name = node["name"].removeprefix("stg_")
    return macros._completed_entity(name, macros._needed_node(node), kept.endswith("declared"))


class Log:
    """The statements of a story, under the step that sent them."""

    def __init__(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        self.statements: list[tuple[str, str]] = []
        self.step = ""
        self.places = ((str(project.folder), "<project>"), (str(ROOT), "<package>"))
        execute = hive.Cursor.execute

        def remembered(cursor: Any, operation: str, *words: Any, **more: Any) -> Any:
            self._remember(operation)
            return execute(cursor, operation, *words, **more)

        monkeypatch.setattr(hive.Cursor, "execute", remembered)

    def _remember(self, sql: str) -> None:
        if not self.step:
            return
        for place, word in self.places:
            sql = sql.replace(place, word)
        for pattern, word in MASKS:
            sql = pattern.sub(word, sql)
        if not OF_DBT.match(sql):
            self.statements.append((self.step, sql.strip()))

    def lines(self) -> list[str]:
        """A line per statement: its digest, its length and how it begins."""
        found, last = [], ""
        for step, sql in self.statements:
            if step != last:
                found.append(f"# {step}")
                last = step
            found.append(f"{digest(sql)} {len(sql):6} {' '.join(sql.split())[:70]}".rstrip())
        return found

    def write(self, folder: Path) -> None:
        """Write each statement into a file, in a folder for its step."""
        for at, (step, sql) in enumerate(self.statements):
            path = folder / re.sub(r"\W+", "_", step) / f"{at:04d}.sql"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{sql}\n", "utf-8")


def describe_entities(project: Project) -> None:
    """A full snapshot, deltas, change events, and an entity with a sensitive column."""
    checkpoint = {"changed_share": 100, "loads": 3}
    project.entity("full", KEY | {"name": "string"}, on_reject="quarantine", checkpoint=checkpoint)
    project.entity(
        "delta", KEY | {"name": "string"} | OP, load_type="delta", deleted_when="op = 'D'"
    )
    feed = {"format": "flagged_rows", "operation": "op", "order": ["seq"], "archive": True}
    project.entity("events", KEY | {"name": "string"} | OP | SEQ, load_type="events", events=feed)
    project.entity("people", KEY | {"mail": SECRET, "city": "string"})


def land(project: Project) -> None:
    """Five days of each; a key that is deleted, a row that is rejected, an empty file."""
    for at, date in enumerate(DAYS[:5], start=1):
        bad = ["x,7"] if at == 2 else []
        project.land("full", date, "id,name", f"{at},a", f"{at + 1},b{at}", "9,c", *bad)
        gone = [f"D,{at - 1},"] if at > 1 else []
        project.land("delta", date, "op,id,name", f"U,{at},a", f"U,9,n{at}", *gone)
        order = [f"{at}0{n},{line}" for n, line in enumerate([f"U,{at},a", f"U,9,n{at}", *gone])]
        project.land("events", date, "seq,op,id,name", *order)
        project.land("people", date, "id,mail,city", f"{at},m{at}@x.example,a", "9,n@x.example,b")
    project.land("full", DAYS[5], "id,name")


@pytest.mark.full
def test_statements_of_a_story_are_unchanged(
    project: Project,
    command: Callable[..., tuple[int, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = f"{{{{ env_var('SPARK_CDC_SCHEMA', '{project.schema}') }}}}"
    project.profile(threads=1, schema=schema)
    describe_entities(project)
    land(project)
    names = ("full", "delta", "events", "people")
    project.query("create schema if not exists {s}_sensitive")
    log = Log(project, monkeypatch)

    def told(step: str, *words: str, code: int = 0) -> None:
        log.step = step
        found, output = command(*words)
        log.step = ""
        assert found == code, output

    def ran(step: str, date: str, *names: str, is_right: bool = True, **more: Any) -> None:
        log.step = step
        outcome = project.run(date, *names, **more)
        log.step = ""
        assert outcome.success == is_right, outcome.output

    def operated(macro: str, **arguments: Any) -> None:
        log.step = macro
        outcome = project.operate(macro, **arguments)
        log.step = ""
        assert outcome.success, outcome.output

    told("secrets", "secrets", "init")
    ran("first loads", DAYS[0], *names)
    ran("second loads", DAYS[1], *names)
    ran("the same date again", DAYS[1], *names)
    ran("third loads", DAYS[2], *names)
    ran("refused", DAYS[5], "full", is_right=False)
    operated("tag", name="closing", entities=["full", "delta"])
    operated("undo", entities="full", to=DAYS[1])
    operated("redo", entities="full")
    told("dry run", "load", DAYS[3], "--select", "full", "--dry-run")
    told("backfill", "load", f"{DAYS[3]}..{DAYS[4]}", "--bulk", "--select", "full")
    told("replay", "replay", "--from", DAYS[1], "--select", "delta", "--publish")
    operated("compact", entities="full", older_than_days=0)
    told("branch create", "branch", "create", "trial", "--select", "events")
    told("branch load", "load", DAYS[3], "--select", "events", "--branch", "trial")
    told("branch drop", "branch", "drop", "trial")
    told("erase", "erase", "people", "--key", "9")
    operated("vacuum", retention_hours=0, force=True)
    told("status", "status")
    log.write(TEXTS / "statements")
    compare("statements", log.lines())
