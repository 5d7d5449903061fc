"""Is what Spark shows what PostgreSQL holds, and what it did?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import psycopg

from e2e.tables import Column, Table

Row = tuple[str | None, ...]
EXAMPLES = 3


@dataclasses.dataclass
class Found:
    """What a comparison came to: how many were equal, and what was wrong, in words."""

    equal: int = 0
    wrong: list[str] = dataclasses.field(default_factory=list)

    def add(self, text: str) -> None:
        self.wrong.append(text)


def same(columns: Sequence[Column], row: Sequence[Any]) -> Row:
    """Return a row's values as texts that are equal where the values are."""
    return tuple(
        None if value is None else column.kind.same(str(value))
        for column, value in zip(columns, row, strict=True)
    )


def in_postgres(columns: Sequence[Column]) -> str:
    return ", ".join(column.kind.in_postgres.format(column.name) for column in columns)


def in_spark(columns: Sequence[Column]) -> str:
    return ", ".join(column.kind.in_spark.format(f"`{column.name}`") for column in columns)


def asked(cursor: Any, sql: str) -> list[Any]:
    cursor.execute(sql)
    return list(cursor.fetchall())


def current(table: Table, database: psycopg.Connection, cursor: Any, schema: str) -> Found:
    """Compare `<entity>_current` with the table, row by row and column by column."""
    found = Found()
    width = len(table.keys)
    columns = [*table.keys, *table.values()]
    there = {
        row[:width]: row
        for each in database.execute(f"select {in_postgres(columns)} from {table.name}")
        for row in [same(columns, each)]
    }
    seen: set[Row] = set()
    for each in asked(cursor, f"select {in_spark(columns)} from {schema}.{table.name}_current"):
        row = same(columns, each)
        key = row[:width]
        if key in seen:
            found.add(f"{table.name}_current has {key} twice")
        elif key not in there:
            found.add(f"{table.name}_current has {key}, {table.name} has not")
        elif row != there[key]:
            found.add(f"{table.name}_current {key}: {differences(columns, row, there[key])}")
        else:
            found.equal += 1
        seen.add(key)
    for key in there.keys() - seen:
        found.add(f"{table.name}_current lacks {key}")
    return found


def differences(columns: Sequence[Column], row: Row, expected: Row) -> str:
    """Say which columns differ, and how."""
    return ", ".join(
        f"{column.name} is {str(value)[:60]!r}, not {str(other)[:60]!r}"
        for column, value, other in zip(columns, row, expected, strict=True)
        if value != other
    )


@dataclasses.dataclass(frozen=True)
class Version:
    """A row as it was from one event on: what happened, in which transaction, the values after."""

    op: str
    transaction: str | None
    values: Row


def log(table: Table, database: psycopg.Connection) -> dict[Row, list[Version | None]]:
    """Return what happened to each key, in order; None is the end of a row."""
    width = len(table.keys)
    columns = [*table.keys, *table.values()]
    history: dict[Row, list[Version | None]] = {}
    for op, xid, *each in database.execute(
        f"select op, xid::text, {in_postgres(columns)} from did.{table.name} order by seq"
    ):
        row = same(columns, each)
        if op == "truncate":
            for versions in history.values():
                versions.append(None)
        elif op == "delete":
            history.setdefault(row[:width], []).append(None)
        else:
            version = Version(op, None if op == "read" else xid, row)
            history.setdefault(row[:width], []).append(version)
    return history


def versions(table: Table, database: psycopg.Connection, cursor: Any, schema: str) -> Found:
    """Compare `<entity>_event_versions` with what the database wrote down that it did.

    A row of a snapshot that was taken again makes a version more; it has to say what was so anyway.
    """
    found = Found()
    width = len(table.keys)
    columns = [*table.keys, *table.values()]
    shown: dict[Row, list[tuple[Version, bool]]] = {}
    for op, transaction, is_current, *each in asked(
        cursor,
        f"select event_op, event_transaction, is_current, {in_spark(columns)}"
        f" from {schema}.{table.name}_event_versions order by event_position",
    ):
        row = same(columns, each)
        before = shown.setdefault(row[:width], [])
        version = Version(op, None if op == "read" else transaction, row)
        if op == "upsert" and before and before[-1][0].values == row:
            before[-1] = (before[-1][0], is_current)
        else:
            before.append((version, is_current))
    expected = log(table, database)
    for key in expected.keys() | shown.keys():
        happened = expected.get(key, [])
        told, wanted = shown.get(key, []), [each for each in happened if each]
        ends_alive = bool(happened) and happened[-1] is not None
        open_ones = [number for number, (_, is_current) in enumerate(told, 1) if is_current]
        if len(told) != len(wanted):
            found.add(
                f"{table.name}_event_versions {key}: {len(told)} versions, not {len(wanted)}:"
                f" {[each.op for each, _ in told]}, not {[each.op for each in wanted]}"
            )
            continue
        for number, ((version, _), other) in enumerate(zip(told, wanted, strict=True), 1):
            if version.values != other.values:
                said = differences(columns, version.values, other.values)
                found.add(f"{table.name}_event_versions {key}, version {number}: {said}")
            elif (version.op, version.transaction) != (other.op, other.transaction):
                found.add(
                    f"{table.name}_event_versions {key}, version {number}: {version.op} of"
                    f" {version.transaction}, not {other.op} of {other.transaction}"
                )
            else:
                found.equal += 1
        if open_ones != ([len(wanted)] if ends_alive else []):
            found.add(f"{table.name}_event_versions {key}: open are {open_ones} of {len(wanted)}")
    return found


def latencies(table: Table, cursor: Any, schema: str) -> list[float]:
    """Return the seconds from each commit in PostgreSQL to that of its events in the ledger."""
    rows = asked(
        cursor,
        f"""
        select unix_micros(loads.committed_at) - unix_micros(events.event_time)
        from {schema}.{table.name}_events as events
        inner join {schema}.cdc_loads as loads
            on loads.load_id = events.load_id and loads.entity = '{table.name}'
        where
            loads.status = 'committed'
            and events.event_op in ('insert', 'update', 'delete')
        """,
    )
    return [row[0] / 1e6 for row in rows]
