"""A dbt project of somebody else's that has spark_cdc installed as a package, for tests.

dbt runs inside the test's process (dbtRunner) and reads the project's files again only if they have
changed; those of the packages it reads once in a process. So a run costs what the run costs.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.cli.main import dbtRunner
from dbt.contracts.graph.manifest import Manifest
from dbt.node_types import NodeType

import scale
from shop import INTERPRETED
from spark_cdc import dbt_runner
from spark_cdc.jinja_bridge import MACROS, Macros, load_macros
from warehouse import described, fetched, land_lines

ROOT = Path(__file__).resolve().parents[1]
# What is interpreted, in a profile; names without the prefix would be ignored.
INTERPRETED_SESSIONS = {f"set:hiveconf:{name}": value for name, value in INTERPRETED.items()}
# Files that no test reads.
FLAGS = {"send_anonymous_usage_stats": False, "write_json": False, "log_level_file": "none"}
PARTIAL_PARSE = "target/partial_parse.msgpack"
MODELS = {
    "stg_{}": "stage",
    "{}_ledger": "ledger",
    "{}_committed": "committed",
    "{}_current": "current",
    "{}_history": "history",
    "{}_versions": "versions",
}
REJECTS_MODEL = {"{}_rejects": "rejects()"}
EVENT_MODELS = {"{}_events": "events()", "{}_ledger": "ledger(events=true)"}
DATA_TESTS = {
    "{}_committed": [
        "spark_cdc.loads_reconcile",
        "spark_cdc.ledger_rows_consistent",
        "spark_cdc.files_match_manifest",
        "spark_cdc.views_match_ledger",
        "spark_cdc.log_matches_ledger",
        "spark_cdc.archive_complete",
    ],
    "{}_current": [
        {
            "dbt_utils.unique_combination_of_columns": {
                "arguments": {"combination_of_columns": ["key_hash"]}
            }
        },
        {"spark_cdc.accepted_operations": {"arguments": {"operations": ["I", "U", "N", "X"]}}},
        "spark_cdc.keys_not_null",
        "spark_cdc.hashes_match",
    ],
    "{}_history": [
        {
            "dbt_utils.unique_combination_of_columns": {
                "arguments": {"combination_of_columns": ["key_hash", "eff_start_date"]}
            }
        },
        {"spark_cdc.accepted_operations": {"arguments": {"operations": ["I", "U", "D"]}}},
    ],
    "{}_versions": ["spark_cdc.intervals_valid"],
}


class Parsed:
    """A project that dbt parses once, whatever the commands that it then runs.

    Vars have no part in it: nothing that is parsed reads them.
    """

    def __init__(self, *places: str) -> None:
        self.places = places
        self._packed: dict[str | None, tuple[Any, bytes]] = {}  # by the schema of the environment

    def manifest(self, key: Any = None) -> Manifest | None:
        """A copy of its own for each command, for a run changes it; nothing if it can't be parsed.

        key: what the project is parsed anew for, if it is another one than the last time.
        """
        schema = os.environ.get("SPARK_CDC_SCHEMA")
        if schema not in self._packed or self._packed[schema][0] != key:
            parsed = dbtRunner().invoke(["parse", *self.places])
            if not parsed.success:
                return None
            self._packed[schema] = key, dbt_runner.packed(parsed.result)
        copied: Manifest = dbt_runner.unpacked(self._packed[schema][1])
        return copied


@functools.cache
def _timeline_macros() -> Macros:
    return load_macros(MACROS / "timeline")


def link_packages(folder: Path) -> None:
    """Give a project this package and the stand-in for dbt_utils, as `dbt deps` would."""
    packages = {"spark_cdc": ROOT, "dbt_utils": ROOT / "packages" / "dbt_utils"}
    (folder / "dbt_packages").mkdir(parents=True)
    for name, place in packages.items():
        (folder / "dbt_packages" / name).symlink_to(place)
    # dbt 1.12 compares their number with what is installed
    given = {"packages": [{"local": f"dbt_packages/{name}"} for name in packages]}
    (folder / "packages.yml").write_text(yaml.safe_dump(given), "utf-8")


@dataclass(frozen=True)
class Outcome:
    """What a dbt command came to: its status by node (hooks are none), and all that it printed."""

    success: bool
    status: dict[str, str]
    output: str


@dataclass
class Project:
    """A project folder, the server and schema that it uses, and the folder where data lands."""

    folder: Path
    port: int
    schema: str
    cursor: Any
    name: str = "shop"
    vars: dict[str, Any] = field(default_factory=dict)
    file_format: str = scale.FORMAT  # of its ledgers; parquet, if it is empty
    _parsed: Parsed = field(init=False)

    def __post_init__(self) -> None:
        places = ("--project-dir", str(self.folder), "--profiles-dir", str(self.folder))
        self._parsed = Parsed(*places)
        link_packages(self.folder)
        self._write(
            "dbt_project.yml",
            {
                "name": self.name,
                "version": "1.0.0",
                "profile": self.name,
                "model-paths": ["models"],
                "flags": FLAGS,
                "vars": {"spark_cdc_file_format": self.file_format or None},
            },
        )
        self.profile()

    @property
    def landing(self) -> Path:
        return self.folder / "landing"

    def _write(self, path: str, content: Any) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")

    def profile(self, **changes: Any) -> None:
        """Writes the profile; changes replace its fields."""
        target = {
            "type": "spark",
            "method": "thrift",
            "host": "127.0.0.1",
            "port": self.port,
            "schema": self.schema,
            "threads": 4,
            "poll_interval": 0,
            "query_retries": 0,
            "server_side_parameters": INTERPRETED_SESSIONS,
        }
        self._write(
            "profiles.yml", {self.name: {"target": "t", "outputs": {"t": target | changes}}}
        )

    def entity(
        self, name: str, columns: dict[str, Any], *, rejects: bool = False, **settings: Any
    ) -> None:
        """Writes an entity: columns from name to type or to {data_type, and meta}.

        The view of its rejects comes with quarantine, or where it is asked for; those that show
        sensitive columns where there are any.
        """
        settings.setdefault("load_type", "full")
        source = settings.setdefault("source", {})
        if source.get("format") != "table":
            source.setdefault("path", f"{self.landing}/{name}/{{business_date}}")
        models: list[dict[str, Any]] = [described(name, columns, **settings)]
        meta = [column["config"]["meta"] for column in models[0]["columns"]]
        is_sensitive = any(each.get("sensitive") for each in meta)
        for model, tests in DATA_TESTS.items():
            more = ["spark_cdc.masks_hold"] if is_sensitive and "committed" in model else []
            models.append({"name": model.format(name), "data_tests": [*tests, *more]})
        landing = {"name": "landing", "schema": self.schema, "tables": [{"name": name}]}
        self._write(f"models/{name}/{name}.yml", {"sources": [landing], "models": models})
        calls = {model: f"{macro}()" for model, macro in MODELS.items()}
        if settings["load_type"] == "events":
            calls |= EVENT_MODELS
        if rejects or "quarantine" in (settings.get("on_reject"), settings.get("on_duplicate_key")):
            calls |= REJECTS_MODEL
        if is_sensitive:
            shown = ("committed", "current", "history", "versions", "rejects")
            calls |= {f"{m}_sensitive": c for m, c in calls.items() if m.split("_")[-1] in shown}
        for model, call in calls.items():
            path = self.folder / f"models/{name}/{model.format(name)}.sql"
            path.write_text(f"{{{{ spark_cdc.{call} }}}}\n", encoding="utf-8")

    def land(self, name: str, date: str, *lines: str, file: str = "data.csv") -> Path:
        """Puts a text file where the entity's data of a date lands, in place of what was there."""
        return land_lines(self.landing / name / date, *lines, file=file)

    def dbt(self, *words: str) -> Outcome:
        """Runs a dbt command in the project."""
        printed = io.StringIO()
        here = Path.cwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(printed):
                result = dbtRunner(manifest=self.manifest()).invoke([*words, *self._parsed.places])
        finally:
            os.chdir(here)
        results = getattr(result.result, "results", None) or []
        text = re.sub(r"\x1b\[[0-9;]*m", "", printed.getvalue())
        return Outcome(
            success=bool(result.success),
            status={
                r.node.name: str(r.status)
                for r in results
                if getattr(r, "node", None) and r.node.resource_type != NodeType.Operation
            },
            output=f"{text}\n{result.exception or ''}",
        )

    def manifest(self) -> Manifest | None:
        """The project as it is now, parsed."""
        saved = self.folder / PARTIAL_PARSE
        if not saved.exists():
            saved.parent.mkdir(exist_ok=True)
            saved.write_bytes(parsed_packages(self.name, self.port, self.schema))
        files = (
            path
            for place in ("*.yml", "models/**/*.*", "macros/**/*.*", "tests/**/*.*", "seeds/**/*.*")
            for path in sorted(self.folder.glob(place))
            if path.is_file()
        )
        return self._parsed.manifest([(path, path.read_bytes()) for path in files])

    def serve_commands(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Lets `spark-cdc`, called in this process, work on the project as it is parsed."""
        monkeypatch.setenv("SPARK_CDC_PROJECT_DIR", str(self.folder))
        monkeypatch.setenv("SPARK_CDC_PORT", str(self.port))

        def runner(manifest: Manifest | None = None, **more: Any) -> dbtRunner:
            return dbtRunner(manifest=manifest or self.manifest(), **more)

        monkeypatch.setattr("dbt.cli.main.dbtRunner", runner)

    def run(self, date: str | None, *names: str, words: Iterable[str] = (), **more: Any) -> Outcome:
        """`dbt run` of some entities for a business date."""
        variables = self.vars | ({"business_date": date} if date else {}) | more
        selected = [part for name in names for part in (f"path:models/{name}",)]
        if names:
            selected.append("cdc_loads")
        select = ["--select", *selected] if selected else []
        return self.dbt("run", "--vars", yaml.safe_dump(variables), *select, *words)

    def load(self, date: str, *names: str, **more: Any) -> Outcome:
        """A run that must succeed."""
        outcome = self.run(date, *names, **more)
        assert outcome.success, outcome.output
        return outcome

    def query_of(self, view: str) -> str:
        """The query of a manifest's view."""
        text: str = self.query(f"show create table {{s}}.{view}")[0][0]
        return "select " + text[text.index("/* spark_cdc manifest:") :]

    def timeline(self, entity: str, schema: str = "{s}") -> dict[str, Any]:
        """The manifest that readers see, as the macros read it."""
        text = self.query(f"show create table {schema}.{entity}_committed")[0][0]
        found: dict[str, Any] = _timeline_macros()._parse_manifest(text, entity)
        return found

    def figures(self, entity: str) -> list[tuple[Any, ...]]:
        """What the manifest says of each load, but for its name and commit."""
        names = ("rows", "written", "definition", "layout", "applied")
        return [tuple(entry[name] for name in names) for entry in self.timeline(entity)["entries"]]

    def lose_commit(self, entity: str, before: str = "") -> list[str]:
        """Leave the last commit as a process does that dies when it has claimed it.

        before: what readers saw before (of query_of()), if there was anything. Returns the rows of
        cdc_loads that the process did not come to.
        """
        after = self.query_of(f"{entity}_committed")
        name = r"\d{8}(?:T\d{6})?-[a-z]+-[0-9a-f]{8}"
        new = set(re.findall(name, after)) - set(re.findall(name, before))
        if before:
            number = int(re.search(r'"sequence": (\d+)', before)[1])  # type: ignore[index]
            claim = f"{{s}}_commits.{entity}_commit_{number:06d}"
            self.query(f"create view if not exists {claim} as {before}")
            self.query(f"alter view {{s}}.{entity}_committed as {before}")
        else:
            self.query(f"drop view {{s}}.{entity}_committed")
        rows = self.query(f"select load_id, status from {{s}}.cdc_loads where entity = '{entity}'")
        lost = sorted(row for row in rows if row[0] in new)
        for load_id, status in lost:
            partition = f"entity = '{entity}', load_id = '{load_id}', status = '{status}'"
            self.query(f"alter table {{s}}.cdc_loads drop partition ({partition})")
        return [load_id for load_id, _ in lost]

    def operate(self, macro: str, **arguments: Any) -> Outcome:
        """`dbt run-operation` of one of the package's macros."""
        words = ("run-operation", f"spark_cdc.{macro}", "--args", yaml.safe_dump(arguments))
        return self.dbt(*words)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a query; `{s}` stands for the schema."""
        self.cursor.execute(sql.replace("{s}", self.schema))
        return fetched(self.cursor)

    def folder_of(self, schema: str) -> Path:
        """Where the tables of a schema lie."""
        rows = self.query(f"describe schema {schema}")
        [place] = [row[1] for row in rows if row[0] == "Location"]
        return Path(place.removeprefix("file:"))

    def rows(self, relation: str, columns: str) -> list[tuple[Any, ...]]:
        """Some columns of a relation, in their own order."""
        return sorted(self.query(f"select {columns} from {{s}}.{relation}"), key=repr)


@functools.cache
def parsed_packages(name: str, port: int, schema: str) -> bytes:
    """What dbt keeps of a project without models, so that others need not parse the packages.

    dbt takes it if the project's name, the server and the schema are the same.
    """
    with tempfile.TemporaryDirectory() as folder:
        empty = Project(Path(folder), port, schema, None, name=name)
        assert empty._parsed.manifest()
        return (empty.folder / PARTIAL_PARSE).read_bytes()
