"""Loads of one entity by the project's own steps, without dbt: its macros, and what dbt tells them.

A load is what the models and materializations make of it: planned, landed, written, audited and
committed by the same macros, statement by statement, on the test server.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytz

import scale
from spark_cdc.hashing import padded_keys
from spark_cdc.jinja_bridge import MACROS, MODULES, PACKAGE, Macros, Node, load_macros

# What random loads may do, and what would stop them elsewhere.
GUARDS = ("empty", "deleted_share", "updated_share", "inserted_share", "rows_band", "late_share")


def described(name: str, columns: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """The YAML of an entity's model; columns from name to type or to {data_type, and meta}."""
    listed = []
    for column, what in columns.items():
        meta = dict(what) if isinstance(what, dict) else {"data_type": what}
        data_type = meta.pop("data_type")
        listed.append({"name": column, "data_type": data_type, "config": {"meta": meta}})
    config = {"meta": {"spark_cdc": {"load_type": "full"} | settings}}
    return {"name": f"stg_{name}", "config": config, "columns": listed}


def land_lines(folder: Path, *lines: str, file: str = "data.csv") -> Path:
    """Puts a text file into a folder, in place of the files that were there.

    A lone surrogate, U+DC80 to U+DCFF, stands for a byte that is no UTF-8.
    """
    if folder.exists():
        for old in folder.iterdir():
            old.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines)
    (folder / file).write_bytes(text.encode("utf-8", errors="surrogateescape"))
    return folder


def fetched(cursor: Any) -> list[tuple[Any, ...]]:
    """The rows of a statement; none where it gives none, which Spark calls a column `Result`."""
    names = [column[0] for column in cursor.description or []]
    return cursor.fetchall() if names and names != ["Result"] else []


def is_spark_3(cursor: Any) -> bool:
    """Whether the server is a Spark before 4.0: docs/spark.md says what differs."""
    cursor.execute("select version() like '3.%'")
    return bool(cursor.fetchall()[0][0])


def query_runner(cursor: Any) -> Callable[[str], Any]:
    """Return dbt's run_query(): what it returns has rows, each a mapping from column to value."""

    def run_query(sql: str) -> Any:
        cursor.execute(sql)
        rows = fetched(cursor)
        names = [column[0].split(".")[-1] for column in cursor.description or []]
        return SimpleNamespace(rows=[dict(zip(names, row, strict=True)) for row in rows])

    return run_query


def give_secret(cursor: Any, schema: str) -> None:
    """Makes the same secret in each schema of sensitive columns, so that their hashes are alike."""
    keys = (f"unhex('{key.hex()}')" for key in padded_keys(bytes(32)))
    secret = f"{schema}.spark_cdc_secret_20240101t000000_00000000"
    for sql in (
        f"create schema if not exists {schema}",
        f"create table if not exists {secret} using orc as select"
        f" named_struct('inner_key', {next(keys)}, 'outer_key', {next(keys)}) as keys",
        f"create view if not exists {schema}.spark_cdc_secret as select keys from {secret}",
    ):
        cursor.execute(sql)


def with_staging(query: str, name: str, staging: str) -> str:
    """A query with an ephemeral model as a common table expression, where dbt puts it."""
    plan, end, rest = query.partition("*/")
    rest = rest.strip()
    rest = f",\n{rest[5:]}" if rest.startswith("with ") else f"\n{rest}"
    return f"{plan}{end}\nwith {name} as (\n{staging}\n){rest}"


class Warehouse:
    """An entity and its relations in a schema; node is its YAML, which may change between loads."""

    def __init__(
        self, cursor: Any, schema: str, folder: Path, node: dict[str, Any], *more: Path
    ) -> None:
        self.cursor, self.schema, self.folder, self.node = cursor, schema, folder, node
        self.name = node["name"].removeprefix("stg_")
        self.ledger, self.committed, self.events = (
            f"{schema}.{self.name}_{table}" for table in ("ledger", "committed", "events")
        )
        self.attempts = 0
        log = Node(name="cdc_loads", schema=schema, alias="cdc_loads")
        self.graph = Node(nodes={"model.spark_cdc.cdc_loads": log}, sources={})
        self.audit: dict[str, Any] = {}
        self.sql = ""  # of the last load's rows
        self.cache: dict[str, Any] = {}  # what dbt's look at the catalogue has found
        self.variables: dict[str, Any] = {
            "spark_cdc_guards": dict.fromkeys(GUARDS),
            "spark_cdc_file_format": scale.FORMAT or None,
        }
        self.run_query = query_runner(cursor)
        self.macros: Macros = load_macros([MACROS, *more], **self._context())
        self.replace("_audit_load", self._remember_audit)
        relations = [("view", "committed"), ("table", "ledger"), ("table", "events")]
        for kind, table in relations:
            cursor.execute(f"drop {kind} if exists {schema}.{self.name}_{table}")
        self.apart = f"{schema}_sensitive"  # where sensitive columns lie
        for other in (f"{schema}_commits", self.apart):
            cursor.execute(f"drop schema if exists {other} cascade")
        cursor.execute(f"create schema {self.apart}")
        self.has_secret = False
        cursor.execute(f"drop table if exists {schema}.cdc_loads purge")
        self.run_query(self.macros._create_load_log_sql(Relation.create(None, schema, "cdc_loads")))
        cursor.execute(f"create schema if not exists {schema}_commits")

    @property
    def entity(self) -> dict[str, Any]:
        return self._entity_at_hand()

    def _entity_at_hand(self) -> dict[str, Any]:
        self._begin()
        entity: dict[str, Any] = self.macros._entity(self.name)
        return entity

    def load(self, date: str) -> dict[str, Any]:
        """Loads what has landed for a date; returns what the audit found."""
        self.attempts += 1
        self.variables["business_date"] = date
        self._look()
        for _ in self._steps():
            pass
        return self.audit

    def _steps(self) -> Iterator[str]:
        """The models of a load, each run when the next one is asked for."""
        macros = self.macros
        entity = macros._context_of_model()["entity"]
        landed = macros._landed_view(entity)
        if entity["events"]:
            yield "events"
            planned = macros._planned_run(macros._context_of_model())
            incoming = f"({macros._stage_events_sql(planned['entity'], landed)}) as staged"
            query = macros._events_query(planned, incoming)
            macros._load_events(macros._context_of_model(), query)
            incoming = planned["events"]
        else:
            incoming = f"__dbt__cte__stg_{self.name}"
        yield "ledger"
        planned = macros._planned_run(macros._context_of_model(), is_planned=bool(entity["events"]))
        self.sql = macros._ledger_query(planned, incoming)
        if not entity["events"]:
            staging = macros._stage_sql(planned["entity"], landed)
            self.sql = with_staging(self.sql, incoming, staging)
        macros._load_ledger(macros._context_of_model(), self.sql)
        yield "committed"
        macros._commit_load(macros._planned_run(macros._context_of_model(), is_planned=True))

    def told(self, name: str, types: str, rows: Iterable[tuple[Any, ...]]) -> list[str]:
        """Makes a temporary view of some rows; returns its columns (types: `name type, …`)."""
        file = self.folder / f"{name}.json"
        names = [part.split()[0] for part in types.split(",")]
        lines = (json.dumps(dict(zip(names, row, strict=True))) for row in rows)
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        self.cursor.execute(
            f"create or replace temporary view {name} ({types}) using json options (path '{file}')"
        )
        return names

    def differing(
        self,
        view: str,
        columns: str,
        types: str,
        rows: Iterable[tuple[Any, ...]],
        joined: str = "",
        most: int = 500,
    ) -> list[tuple[Any, ...]]:
        """What a view and the rows that it should hold do not have in common, compared by Spark.

        types: the rows' columns as `name type, …`; joined: what the view (`found`) is joined with.
        Returns rows behind the word `found` (not wanted) or `wanted` (not found), at most as many
        as said.
        """
        listed = ", ".join(self.told("wanted", types, rows))
        self.cursor.execute(
            f"""
            select if(sum(side) > 0, 'found', 'wanted') as word, {listed}
            from (
                select {columns}, 1 from ({self.view_sql(view)}) as found {joined}
                union all
                select {listed}, -1 from wanted
            ) as both ({listed}, side)
            group by {listed}
            having sum(side) <> 0
            order by all
            limit {most}
            """
        )
        return self.cursor.fetchall()

    def view_sql(self, view: str) -> str:
        """The query of current, history, versions, event_versions or bitemporal.

        It shows sensitive columns, too; plain_sql() is what everybody may read of it.
        """
        ctx = self.macros._context_of_model()
        if view in ("event_versions", "bitemporal"):
            return self._view_sql(view, ctx["events"], self.committed)
        if not self._entity_at_hand()["sensitive"]:
            return self.plain_sql(view)
        committed = f"{self.apart}.{self.name}_committed_sensitive"
        text = self.macros._committed_sensitive_sql(
            self._entity_at_hand(), ctx["ledger"], self.committed
        )
        self.cursor.execute(f"create or replace view {committed} as {text}")
        return self._view_sql(view, committed)

    def plain_sql(self, view: str) -> str:
        """The query of current, history or versions, with sensitive columns masked."""
        return self._view_sql(view, self.committed)

    def _view_sql(self, view: str, *relations: str) -> str:
        sql: str = self.macros[f"_{view}_sql"](self._entity_at_hand(), *relations)
        return sql

    def replace(self, name: str, wrapper: Any) -> None:
        """Puts a function in a macro's place, which gets the macro and its arguments."""
        macro = self.macros[name]
        self.macros._functions[name] = lambda *words, **more: wrapper(macro, *words, **more)

    def _remember_audit(self, audit_load: Any, run: dict[str, Any]) -> dict[str, Any]:
        self.audit = audit_load(run)
        return self.audit

    def _context(self) -> dict[str, Any]:
        """What dbt gives to macros."""
        node = f"model.{PACKAGE}.{self.name}_ledger"
        return {
            "var": self.variables,
            "entity_node": lambda name: self.node,
            "run_query": self.run_query,
            "model": Node(
                unique_id=node, schema=self.schema, resource_type="model", package_name="shop"
            ),
            "graph": self.graph,
            "selected_resources": [node, node.replace("_ledger", "_events")],
            "flags": SimpleNamespace(WHICH="run", FULL_REFRESH=False, EMPTY=False),
            "invocation_args_dict": {},
            "invocation_id": "none",
            "local_md5": lambda text: hashlib.md5(f"{text}{self.attempts}".encode()).hexdigest(),
            "dbt_version": "1.11",
            "target": SimpleNamespace(type="spark", database=None),
            "api": SimpleNamespace(Relation=SimpleNamespace(create=Relation.create)),
            "load_relation": self._found,
            "load_cached_relation": lambda relation: self.cache.get(relation.identifier),
            "adapter": SimpleNamespace(
                check_schema_exists=lambda database, schema: True,
                get_columns_in_relation=self._columns,
                cache_dropped=lambda relation: self.cache.pop(relation.identifier, None) and "",
                cache_added=lambda relation: self.cache.update({relation.identifier: relation}),
            ),
            "modules": MODULES | {"pytz": pytz},
            "store_raw_result": lambda name, **more: "",
            "_fingerprint": lambda definition: "",  # the load type changes between loads
            "_landing_source": lambda entity: None,
            "generate_schema_name": lambda name, node: f"{self.schema}_{name}",
        }

    def _has_sensitive_columns(self) -> bool:
        return bool(self._entity_at_hand()["sensitive"])

    def _begin(self) -> None:
        """As a run of dbt begins: nothing of the one before is kept, and the YAML is read anew."""
        self.graph.pop(PACKAGE, None)
        if self.macros._adds_columns(self.node):  # as validate() finds them
            committed = self.macros._context_of_model()["committed"]
            added = self.macros._read_manifest(committed)["added"]
            self.macros._entity_with(self.name, self.node, added)
            self.graph[PACKAGE].pop(f"ctx {self.schema}.{self.name}")

    def _look(self) -> None:
        self._begin()
        if not self.has_secret and self._has_sensitive_columns():
            give_secret(self.cursor, self.apart)
            self.has_secret = True
            self._begin()  # what was read before knows of no secret
        self.cache = {}
        for schema in (self.schema, self.apart):
            self.cursor.execute(f"show table extended in {schema} like '*'")
            self.cache |= {
                row[1]: Relation.create(None, schema, row[1]).incorporate("", row[3])
                for row in self.cursor.fetchall()
            }

    def _found(self, relation: Relation) -> SimpleNamespace | None:
        self.cursor.execute(f"show tables in {relation.schema} like '{relation.identifier}'")
        return SimpleNamespace(information="") if self.cursor.fetchall() else None

    def _columns(self, relation: Relation) -> list[SimpleNamespace]:
        self.cursor.execute(f"describe {relation}")
        rows = self.cursor.fetchall()
        until = next((i for i, row in enumerate(rows) if re.match("#|$", row[0])), len(rows))
        return [SimpleNamespace(name=row[0], dtype=row[1]) for row in rows[:until]]


class Telling(Warehouse):
    """Remembers what its loads say."""

    def __init__(self, *words: Any) -> None:
        self.said: list[str] = []
        super().__init__(*words)

    def _context(self) -> dict[str, Any]:
        said = {"log": lambda text, **more: self.said.append(str(text)) or ""}
        return super()._context() | said


class Relation(str):
    """A relation as dbt has it."""

    schema: str
    identifier: str
    information: str

    @classmethod
    def create(cls, database: None, schema: str, identifier: str) -> Relation:
        relation = cls(f"{schema}.{identifier}")
        relation.schema, relation.identifier, relation.information = schema, identifier, ""
        return relation

    def incorporate(self, type: str, information: str) -> Relation:
        relation = Relation.create(None, self.schema, self.identifier)
        relation.information = information
        return relation

    def without_identifier(self) -> str:
        return self.schema
