"""Loads of change events by the project's own steps, without dbt.

The events are JSON lines of a plain format of the tests' own (docs/examples/events_acme.sql),
which is also the worked example of docs/events.md.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spark_cdc.jinja_bridge import ROOT
from warehouse import GUARDS, Warehouse, is_spark_3

FORMAT = "acme"
EXAMPLE = ROOT / "docs" / "examples" / "events_acme.sql"


class EventWarehouse(Warehouse):
    """An entity of load type events."""

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
        settings: dict[str, Any] = {
            "load_type": "events",
            "events": {"format": FORMAT, "archive": True, **(events or {})},
            "source": {"format": "json", "path": f"{folder}/{{business_date}}", **(source or {})},
            "guards": dict.fromkeys(GUARDS),
        }
        if checkpoint is not None:
            settings["checkpoint"] = checkpoint
        node = {
            "name": f"stg_{name}",
            "config": {"meta": {"spark_cdc": settings}},
            "columns": columns,
        }
        super().__init__(cursor, schema, folder, node, EXAMPLE)
        self.general = general  # resolve as if everything occurred in each load
        self.summary: dict[str, Any] = {}
        self.replace("_event_summary", self._remember_summary)

    def land(self, date: str, messages: Iterable[Any]) -> None:
        """Writes a load's messages as JSON lines, in place of what was there."""
        folder = self.folder / date
        folder.mkdir(parents=True, exist_ok=True)
        lines = (m if isinstance(m, str) else json.dumps(m) for m in messages)
        (folder / "events.json").write_text("".join(f"{m}\n" for m in lines), encoding="utf-8")

    def record(self) -> dict[str, Any]:
        """The plan of the last load, which becomes its record."""
        plan = self.sql.split("*/")[0]
        record: dict[str, Any] = json.loads(plan[plan.index("{") : plan.rindex("}") + 1])
        return record

    def takes_bitemporal(self) -> bool:
        """Whether this Spark takes the view: on 3.5 a load with it is refused."""
        return not is_spark_3(self.cursor)

    def view_sql(self, view: str) -> str:
        """As of Warehouse; bitemporal is read of a view, whose text is analyzed apart."""
        sql = super().view_sql(view)
        if view != "bitemporal":
            return sql
        name = f"{self.committed}_bitemporal"
        self.cursor.execute(f"create or replace view {name} as {sql}")
        return f"select * from {name}"

    def rows(self, view: str, columns: str) -> Counter[tuple[Any, ...]]:
        """Some columns of a view."""
        self.cursor.execute(f"select {columns} from ({self.view_sql(view)}) as {view}")
        return Counter(self.cursor.fetchall())

    def _remember_summary(self, summarize: Any, run: dict[str, Any], events: str) -> dict[str, Any]:
        self.summary = summarize(run, events)
        if self.general:
            names = ("deletes", "partial", "moves", "splits")
            late_possible = bool(run["load"]["base"])
            self.summary |= dict.fromkeys(names, True) | {"late_possible": late_possible}
            self.summary["by_last"] = False
        return self.summary


def column(name: str, data_type: str, **meta: Any) -> dict[str, Any]:
    """A column as an entity's YAML has it."""
    return {"name": name, "data_type": data_type, "config": {"meta": meta}}
