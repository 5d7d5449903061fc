"""The entities that are loaded while something fails, and their data.

Each is loaded four times: for the first time, then without and with a checkpoint, then the last
date again with other data. What is true after each load is known from the data itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import scale

STEPS = ("first", "later", "checkpoint", "again")
DATES = {
    "first": "2024-03-01",
    "later": "2024-03-02",
    "checkpoint": "2024-03-03",
    "again": "2024-03-03",
}
# A checkpoint is due with the first load, and then with every other one.
CHECKPOINT = {"loads": 1, "changed_share": 1000, "rows": 1_000_000}

Rows = dict[int, tuple[str, str]]


def _truth() -> dict[str, Rows]:
    """Rows by id after each load; `again` takes the place of `checkpoint`."""
    first = {i: (f"name {i}", f"{i}.50") for i in range(1, 25)}
    later = {i: row for i, row in first.items() if i > 3}
    later |= {i: (f"name {i}", f"{i}.75") for i in (5, 6, 7)}
    later |= {i: (f"new {i}", "0.10") for i in (31, 32, 33)}
    third = {i: row for i, row in later.items() if i not in (31, 9)}
    third |= {1: ("back", "1.00"), 5: ("name 5", "5.50"), 10: ("ten", "10.50")}
    again = {i: row for i, row in later.items() if i not in (32, 11)}
    again |= {2: ("back", "2.00"), 12: ("twelve", "12.50"), 34: ("new 34", "0.20")}
    return {"first": first, "later": later, "checkpoint": third, "again": again}


TRUTH = _truth()
BEFORE: dict[str, Rows] = {
    "first": {},
    "later": TRUTH["first"],
    "checkpoint": TRUTH["later"],
    "again": TRUTH["later"],
}


@dataclass(frozen=True)
class Cell:
    """An entity: name, settings, columns."""

    name: str
    load_type: str
    file_format: str
    more: dict[str, Any] = field(default_factory=dict)
    sensitive: bool = False  # whether names lie apart

    @property
    def settings(self) -> dict[str, Any]:
        settings = {
            "load_type": self.load_type,
            "file_format": self.file_format,
            "checkpoint": CHECKPOINT,
            **self.more,
        }
        if self.load_type == "delta":
            settings["deleted_when"] = "op = 'D'"
        if self.load_type == "events":
            flags = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
            settings["events"] = flags | settings.get("events", {})
        return settings

    @property
    def columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "id": {"data_type": "int", "role": "key"},
            "name": {"data_type": "string", "sensitive": True} if self.sensitive else "string",
            "amount": "decimal(10,2)",
        }
        if self.load_type == "delta":
            columns["op"] = {"data_type": "string", "role": "control"}
        if self.load_type == "events":
            columns["seq"] = {"data_type": "bigint", "role": "control"}
        return columns

    @property
    def views(self) -> tuple[str, ...]:
        names = ["committed", "current", "history", "versions"]
        if self.sensitive:
            names += [f"{name}_sensitive" for name in names]
        return tuple(f"{self.name}_{name}" for name in (*names, *self.of_archive))

    @property
    def of_archive(self) -> tuple[str, ...]:
        """The model that shows archived events; it has all their values, so it may lie apart."""
        if not self.settings.get("events", {}).get("archive"):
            return ()
        return (f"event_versions{'_sensitive' if self.sensitive else ''}",)

    @property
    def whole(self) -> str:
        """The view of the current rows with all their values."""
        return f"{self.name}_current{'_sensitive' if self.sensitive else ''}"

    def lines(self, step: str) -> list[str]:
        """The CSV file that lands for a load."""
        before, after = BEFORE[step], TRUTH[step]
        if self.load_type == "full":
            return ["id,name,amount", *(f"{i},{n},{a}" for i, (n, a) in after.items())]
        changed = {i: row for i, row in after.items() if before.get(i) != row}
        gone = [i for i in before if i not in after]
        same = [i for i in after if before.get(i) == after[i]][:4]
        if self.load_type == "delta":
            rows = [f"{i},{n},{a},U" for i, (n, a) in changed.items()]
            rows += [f"{i},{after[i][0]},{after[i][1]},U" for i in same]
            return ["id,name,amount,op", *rows, *(f"{i},,,D" for i in gone)]
        rows = []
        for i, (name, amount) in changed.items():
            if i in before:
                rows.append(("U", i, "passing", "0.00"))
            rows.append(("U" if i in before else "I", i, name, amount))
        rows += [("D", i, "", "") for i in gone]
        start = STEPS.index(step) * 1000
        return [
            "op,seq,id,name,amount",
            *(
                f"{op},{start + n},{i},{name},{amount}"
                for n, (op, i, name, amount) in enumerate(rows)
            ),
        ]


FORMAT = scale.FORMAT or "parquet"

APART = (
    Cell("apart", "delta", FORMAT, sensitive=True),
    Cell("apart_snap", "full", FORMAT, sensitive=True),
    Cell("apart_moves", "events", FORMAT, {"events": {"archive": True}}, sensitive=True),
)
CELLS = (
    Cell("snap", "full", FORMAT),
    Cell("snap_orc", "full", "orc"),
    Cell("diff", "delta", FORMAT),
    Cell("diff_orc", "delta", "orc"),
    *([] if scale.WITH else APART),
    Cell("moves", "events", FORMAT),
    Cell("moves_orc", "events", "orc", {"events": {"archive": True}}),
)

# Its input is a table: a view that a test lets sleep.
SLOW = Cell("slow", "full", FORMAT, {"source": {"format": "table", "date_column": "day"}})
