"""Loads of change events through the project's own SQL, statement by statement, without dbt.

The events are JSON lines of a plain format of the tests' own (docs/examples/events_acme.sql),
which is also the worked example of docs/events.md.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from comparing import differing
from macro_renderer import MACROS, ROOT, load_macros, query_runner

FORMAT = "acme"
EXAMPLE = ROOT / "docs" / "examples" / "events_acme.sql"


class EventWarehouse:
    """An entity of load type events: lands, resolves, audits and commits as the models do."""

    def __init__(
        self,
        cursor: Any,
        schema: str,
        folder: Path,
        columns: list[dict[str, Any]],
        *,
        events: dict[str, Any] | None = None,
        source: dict[str, Any] | None = None,
        checkpoint: dict[str, Any] | None = None,
        general: bool = False,
        name: str = "moves",
    ) -> None:
        self.cursor, self.schema, self.folder, self.name = cursor, schema, folder, name
        self.ledger, self.committed = f"{schema}.{name}_ledger", f"{schema}.{name}_committed"
        self.general = general  # resolve as if everything occurred in each load
        self.events = f"{schema}.{name}_events"
        settings: dict[str, Any] = {
            "load_type": "events",
            "events": {"format": FORMAT, "archive": True, **(events or {})},
            "source": {"format": "json", "path": f"{folder}/{{business_date}}", **(source or {})},
        }
        limits = ("empty", "deleted_share", "updated_share", "inserted_share", "rows_band")
        settings["guards"] = dict.fromkeys(limits)  # random loads may do anything
        if checkpoint is not None:
            settings["checkpoint"] = checkpoint
        self.node = {
            "name": f"stg_{name}",
            "config": {"meta": {"spark_cdc": settings}},
            "columns": columns,
        }
        self.attempts = 0
        self.run_query = query_runner(cursor)
        self.macros = load_macros(
            [MACROS, EXAMPLE.parent],
            entity_node=lambda name: self.node,
            run_query=self.run_query,
            invocation_id="none",
            local_md5=lambda text: hashlib.md5(f"{text}{self.attempts}".encode()).hexdigest(),
            model={"resource_type": "model"},
            _landing_source=lambda entity: None,
        )
        self.manifest: dict[str, Any] = self.macros._empty_manifest()
        self.summary: dict[str, Any] = {}
        self.sql = ""
        for relation in ("view", "committed"), ("table", "ledger"), ("table", "events"):
            cursor.execute(f"drop {relation[0]} if exists {schema}.{name}_{relation[1]}")

    @property
    def entity(self) -> dict[str, Any]:
        return self.macros._entity(self.name)

    def land(self, date: str, messages: Iterable[Any]) -> None:
        """Writes a load's messages as JSON lines, in place of what was there."""
        folder = self.folder / date
        folder.mkdir(parents=True, exist_ok=True)
        lines = (m if isinstance(m, str) else json.dumps(m) for m in messages)
        (folder / "events.json").write_text("".join(f"{m}\n" for m in lines), encoding="utf-8")

    def load(self, date: str) -> dict[str, Any]:
        """Loads what has landed for a date; returns what the audit found."""
        macros, entity = self.macros, self.entity
        time = datetime.datetime.fromisoformat(date)
        self.attempts += 1
        plan = macros._plan_load(entity, self.manifest, time)
        macros._land(entity, None, time)
        columns = macros._ledger_columns(entity)
        event_columns = [
            *macros._event_columns(entity),
            *(
                {"name": name, "sql": name, "at_sql": name, "data_type": data_type}
                for name, data_type in (("business_date", "date"), ("load_id", "string"))
            ),
        ]
        if not self.manifest["existed"]:
            self.run_query(macros._create_ledger_sql(self.ledger, columns, "parquet"))
            self.run_query(macros._create_events_sql(self.events, event_columns, "parquet"))
        macros._set_session()
        staged = macros._stage_events_sql(entity, f"landed_{self.name}")
        names = ", ".join(column["sql"] for column in macros._event_columns(entity))
        self.run_query(
            macros._write_events_sql(
                self.events,
                event_columns,
                f"select {names}, {macros._partition(plan)} from ({staged}) as staged",
            )
        )
        of_load = f"(select * from {self.events} where load_id = '{plan['load_id']}')"
        self.summary = macros._event_summary(entity, of_load, plan["applied"], self.ledger, plan)
        if self.general:
            names = ("deletes", "partial", "moves", "splits")
            self.summary |= dict.fromkeys(names, True) | {"late_possible": bool(plan["base"])}
        record = {
            **plan,
            "started_at": "2024-01-01 00:00:00",
            "definition": {},
            "events": self.summary,
        }
        broadcast = macros._is_log_small(entity, self.manifest)
        self.sql = macros._tag_events_sql(
            entity, plan, of_load, self.ledger, self.summary, broadcast
        )
        self.run_query(macros._write_load_sql(self.ledger, columns, record, self.sql))
        audit = macros._audit_load(entity, self.ledger, plan, time)
        self.manifest |= {
            "loads": [*plan["keep"], plan["load_id"]],
            "rows": audit["rows_current"],
            "log_rows": audit["log_rows"],
            "previous": {**audit["previous"], "applied": plan["applied"]},
            "applied": {name: self.summary[name] for name in ("truncated", "highest")},
        }
        text = macros._committed_sql(entity, self.ledger, self.manifest)
        self.run_query(macros._replace_view_sql(self.committed, text, self.manifest["existed"]))
        self.manifest["existed"] = True
        return audit

    def rows(self, view: str, columns: str) -> Counter[tuple[Any, ...]]:
        """Some columns of a view."""
        self.cursor.execute(f"select {columns} from ({self.view_sql(view)}) as {view}")
        return Counter(self.cursor.fetchall())

    def differing(
        self, view: str, columns: str, types: str, rows: Iterable[tuple[Any, ...]], most: int = 500
    ) -> list[tuple[Any, ...]]:
        """What a view and the rows that it should hold do not have in common, compared by Spark.

        types: the rows' columns as `name type, …`. Returns rows behind the word `found` (not
        wanted) or `wanted` (not found), at most as many as said.
        """
        file = self.folder / f"wanted_{view}.json"
        return differing(self.cursor, file, self.view_sql(view), columns, types, rows, most)

    def view_sql(self, view: str) -> str:
        """The query of current, history, versions or event_versions."""
        relations = [self.events, self.committed] if view == "event_versions" else [self.committed]
        return self.macros[f"_{view}_sql"](self.entity, *relations)


def column(name: str, data_type: str, **meta: Any) -> dict[str, Any]:
    """A column as an entity's YAML has it."""
    return {"name": name, "data_type": data_type, "config": {"meta": meta}}
