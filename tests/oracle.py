"""What the views of an entity must show, in plain Python: the contract, applied key by key.

Written from the contract table alone. It knows no hashes, partitions, checkpoints or manifests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Row:
    """One row of a load: its key, the values that are compared, and those that are ignored."""

    key: Key
    compared: tuple[Any, ...]
    ignored: tuple[Any, ...] = ()
    deleted: bool = False


@dataclass(frozen=True)
class Load:
    """The arrival of data for one business date."""

    date: str
    load_type: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class CurrentRow:
    compared: tuple[Any, ...]
    ignored: tuple[Any, ...]
    operation: str
    eff_start_date: str


@dataclass
class Tables:
    """The views after some loads.

    current: by key. history: (business_date, key, compared, ignored, operation).
    versions: (key, compared, ignored, operation, eff_start_date, eff_end_date or None).
    counts: per load, rows per operation as `cdc_loads` counts them.
    """

    current: dict[Key, CurrentRow] = field(default_factory=dict)
    history: list[tuple[Any, ...]] = field(default_factory=list)
    versions: list[tuple[Any, ...]] = field(default_factory=list)
    counts: list[dict[str, int]] = field(default_factory=list)


def expected(loads: list[Load]) -> Tables:
    """The views after the loads; a load of the same date as the last one takes its place."""
    kept: list[Load] = []
    for load in loads:
        if kept and kept[-1].date == load.date:
            kept.pop()
        kept.append(load)
    tables = Tables()
    open_versions: dict[Key, tuple[Any, ...]] = {}
    for load in kept:
        before, after = tables.current, {}
        counts = dict.fromkeys("IUDNX", 0)

        def change(key: Key, operation: str, row: Row | CurrentRow, load: Load = load) -> None:
            tables.history.append((load.date, key, row.compared, row.ignored, operation))
            if operation != "I":
                tables.versions.append((*open_versions.pop(key), load.date))
            if operation != "D":
                open_versions[key] = (key, row.compared, row.ignored, operation, load.date)

        # a row that a snapshot flags as deleted is as good as missing
        rows = [row for row in load.rows if load.load_type != "full" or not row.deleted]
        for row in rows:
            prior = before.get(row.key)
            if row.deleted:
                if prior is None:
                    continue
                operation = "D"
                change(row.key, "D", prior)
            elif prior is None or prior.compared != row.compared:
                operation = "I" if prior is None else "U"
                change(row.key, operation, row)
                after[row.key] = CurrentRow(row.compared, row.ignored, operation, load.date)
            else:
                operation = "N"
                after[row.key] = CurrentRow(row.compared, row.ignored, "N", prior.eff_start_date)
            counts[operation] += 1
        supplied = {row.key for row in rows}
        for key, prior in before.items():
            if key in supplied:
                continue
            if load.load_type == "full":
                counts["D"] += 1
                change(key, "D", prior)
            else:
                counts["X"] += 1
                after[key] = CurrentRow(prior.compared, prior.ignored, "X", prior.eff_start_date)
        tables.current = after
        tables.counts.append(counts)
    tables.versions.extend((*version, None) for version in open_versions.values())
    return tables
