"""Compares what a query returns with the rows that it should, inside Spark."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def differing(
    cursor: Any,
    file: Path,
    query: str,
    columns: str,
    types: str,
    rows: Iterable[tuple[Any, ...]],
    most: int = 500,
) -> list[tuple[Any, ...]]:
    """Rows that a query and what it should return do not have in common, however often.

    Args:
        cursor: of the session; its view `wanted` is replaced.
        file: where the rows go as JSON lines, for Spark to read.
        query: what is compared.
        columns: of the query, as expressions, in the order of the rows.
        types: the rows' columns as `name type, …`.
        rows: what the query should return.
        most: how many rows are returned at most.

    Returns:
        The rows behind the word `found` (not wanted) or `wanted` (not found), sorted.
    """
    names = [part.split()[0] for part in types.split(",")]
    lines = (json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    cursor.execute(
        f"create or replace temporary view wanted ({types}) using json options (path '{file}')"
    )
    listed = ", ".join(names)
    cursor.execute(
        f"""
        select if(sum(side) > 0, 'found', 'wanted') as word, {listed}
        from (
            select {columns}, 1 from ({query}) as found
            union all
            select {listed}, -1 from wanted
        ) as both ({listed}, side)
        group by {listed}
        having sum(side) <> 0
        order by all
        limit {most}
        """
    )
    return cursor.fetchall()
