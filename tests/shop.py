"""Several entities of one project, loaded without dbt: what tests/project.py does, for less.

The names are those of Project, so that a test says the same of both: entity(), land(), run(),
load(), rows() and query(). What a run gives is in tables; views are queries, which stand where a
test reads them. Settings are checked before a run, as on-run-start does it.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pyhive.exc import Error as SparkError

from spark_cdc.jinja_bridge import CompilerError, Node
from spark_cdc.server import local as local_server
from warehouse import PACKAGE, Warehouse, described, fetched, land_lines

# A load of a few rows costs less if Spark compiles nothing for it. Compiled code runs in the
# examples, the tests of hashes, random histories and, of events, those of `make test-all`.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
MODELS = ("events", "ledger", "committed", "current", "history", "versions", "rejects", "quality")
VIEW = re.compile(
    r"\{s\}\.(\w+?)_(current|history|versions|event_versions|bitemporal|rejects|quality)\b"
)


@contextlib.contextmanager
def opened(port: int, folder: Path) -> Iterator[Shop]:
    """A shop in a session and a schema of its own, beside that of a module's project."""
    connection = local_server.connect(port)
    cursor, schema = connection.cursor(), "steps"
    every = [f"{schema}{more}" for more in ("", "_commits", "_sensitive")]
    for name in every:
        cursor.execute(f"drop database if exists {name} cascade")
    cursor.execute(f"create database {schema}")
    yield Shop(cursor, schema, folder)
    for name in every:
        cursor.execute(f"drop database if exists {name} cascade")
    connection.close()


@dataclass
class Outcome:
    """What a run came to, as Outcome of tests/project.py."""

    success: bool = True
    status: dict[str, str] = field(default_factory=dict)
    output: str = ""


class Shop(Warehouse):
    """Entities that share macros, a session and a schema."""

    def __init__(self, cursor: Any, schema: str, folder: Path) -> None:
        self.nodes: dict[str, Any] = {}
        self.model = Node(resource_type="model", schema=schema, package_name="shop")
        self.selected: list[str] = []
        self.lent: dict[str, str] = {}  # entity: the one whose relations it has
        self.said: list[str] = []
        self.vars: dict[str, Any] = {}
        for name, value in INTERPRETED.items():
            cursor.execute(f"set {name} = {value}")
        super().__init__(cursor, schema, folder, described("none", {}))
        self.graph.nodes.clear()
        self.graph.nodes[f"model.{PACKAGE}.cdc_loads"] = self._node("cdc_loads", PACKAGE)
        self.replace("_context", self._with_what_is_lent)

    def _context(self) -> dict[str, Any]:
        context = super()._context() | {
            "model": self.model,
            "target": SimpleNamespace(name="t", type="spark", schema=self.schema, database=None),
            "selected_resources": self.selected,
            "local_md5": self._md5,
            "log": lambda text, **more: self.said.append(str(text)) or "",
        }
        for name in ("entity_node", "_fingerprint", "_landing_source"):
            del context[name]
        return context

    def _md5(self, text: str) -> str:
        """As dbt has it, but that each load counts as an invocation of its own."""
        counted = f"{text}{self.attempts}" if text == "none" else text
        return hashlib.md5(counted.encode()).hexdigest()

    def _node(self, name: str, package: str = "shop", **more: Any) -> Node:
        return Node(
            name=name,
            alias=name,
            schema=self.schema,
            resource_type="model",
            package_name=package,
            unique_id=f"model.{package}.{name}",
            config={},
            **more,
        )

    @property
    def landing(self) -> Path:
        return self.folder / "landing"

    def entity(  # type: ignore[override]
        self,
        name: str,
        columns: dict[str, Any],
        *,
        rejects: bool = False,
        state_of: str | None = None,
        **settings: Any,
    ) -> None:
        """Describes an entity, as Project.entity() does.

        state_of: another entity of such columns, whose relations it has and so builds on. One load
        of that stands for the first loads of many that will be refused.
        """
        source = {"path": f"{self.landing}/{name}/{{business_date}}"} | settings.get("source", {})
        node = described(name, columns, **settings | {"source": source})
        self.nodes[name] = node
        ids = {kind: f"model.shop.{name}_{kind}" for kind in MODELS}
        is_event, quarantines = (
            settings.get("load_type") == "events",
            "quarantine"
            in (
                settings.get("on_reject"),
                settings.get("on_duplicate_key"),
            ),
        )
        left_out = {
            "events": not is_event,
            "rejects": not (rejects or quarantines),
            "quality": not settings.get("rules"),
        }
        for kind, unique_id in ids.items():
            read = {"depends_on": {"nodes": [ids["events"]]}} if is_event else {}
            if left_out.get(kind):
                self.graph.nodes.pop(unique_id, None)
            else:
                self.graph.nodes[unique_id] = self._node(f"{name}_{kind}", **read)
        stage = self._node(f"stg_{name}")
        self.graph.nodes[stage.unique_id] = Node({**stage, **node})
        self.lent.pop(name, None)
        if state_of:
            self.lent[name] = state_of

    def land(self, name: str, date: str, *lines: str, file: str = "data.csv") -> Path:
        """Puts a text file where the entity's data of a date lands, in place of what was there."""
        return land_lines(self.landing / name / date, *lines, file=file)

    def run(self, date: str, *names: str, **more: Any) -> Outcome:
        """Loads some entities for a date, one by one; those that are refused do not stop others."""
        names = names or tuple(self.nodes)
        kept = dict(self.variables)
        self.variables.pop("spark_cdc_guards", None)
        self.variables.update({"business_date": date} | self.vars | more)
        self.selected[:] = [
            f"model.shop.{name}_{kind}" for name in names for kind in ("events", "ledger")
        ]
        outcome = Outcome()
        self.said.clear()
        self._look()
        try:
            self.macros.validate()
        except CompilerError as error:
            outcome.success = False
            self.said.append(str(error))
        else:
            for name in names:
                self._take(name)
                self.attempts += 1  # entities may share a ledger: a name of its own for each load
                self._load_into(outcome, name)
        outcome.output = "\n".join(self.said)
        self.variables.clear()
        self.variables.update(kept)
        return outcome

    def load(self, date: str, *names: str, **more: Any) -> Outcome:  # type: ignore[override]
        """A run that must succeed."""
        outcome = self.run(date, *names, **more)
        assert outcome.success, outcome.output
        return outcome

    def _load_into(self, outcome: Outcome, name: str) -> None:
        step = "ledger"
        try:
            for step in self._steps():
                outcome.status[f"{name}_{step}"] = "success"
        except (CompilerError, SparkError) as error:
            outcome.success = False
            outcome.status[f"{name}_{step}"] = "error"
            self.said.append(f"model {name}_{step}: {error}")

    def _has_sensitive_columns(self) -> bool:
        meta = [c["config"]["meta"] for node in self.nodes.values() for c in node["columns"]]
        return any(each.get("sensitive") for each in meta)

    def _take(self, name: str) -> None:
        """Makes an entity the one at hand."""
        self.node = self.nodes[name]
        self.name = name
        ledger = self._node(f"{name}_ledger")
        self.model.update(ledger)
        holder = self.lent.get(name, name)
        self.ledger, self.committed, self.events = (
            f"{self.schema}.{holder}_{table}" for table in ("ledger", "committed", "events")
        )

    def _with_what_is_lent(self, macro: Any, entity: dict[str, Any], schema: str) -> dict[str, Any]:
        ctx: dict[str, Any] = macro(entity, schema)
        if entity["name"] in self.lent:
            of_holder = macro({**entity, "name": self.lent[entity["name"]]}, schema)
            ctx = {**of_holder, "entity": entity}
        return ctx

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a query; `{s}` stands for the schema, and views for their queries."""
        text = VIEW.sub(self._as_query, sql)
        self.cursor.execute(text.replace("{s}", self.schema))
        return fetched(self.cursor)

    def _as_query(self, found: re.Match[str]) -> str:
        name, kind = found.groups()
        self._take(name)
        return f"({self.view_sql(kind)}) as {name}_{kind}"

    def view_sql(self, view: str) -> str:
        """As of Warehouse; of rejects and quality too."""
        if view == "rejects":
            at_hand = self._entity_at_hand()
            return str(self.macros._rejects_sql(at_hand, self.ledger, self.committed))
        if view == "quality":
            log = f"{self.schema}.cdc_loads"
            return str(self.macros._quality_sql(self.name, log, self.committed))
        return super().view_sql(view)

    def rows(self, relation: str, columns: str) -> list[tuple[Any, ...]]:
        """Some columns of a relation, in their own order."""
        return sorted(self.query(f"select {columns} from {{s}}.{relation}"), key=repr)
