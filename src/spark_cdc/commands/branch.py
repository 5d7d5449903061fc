"""`spark-cdc branch`: schemas in which production's entities can be tried on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spark_cdc import business_date, named, parsing


def _own_loads(one: dict[str, Any]) -> str:
    return business_date.quoted(one["dates"]) if one["is_there"] else "(its schema is gone)"


def repeat(branches: Sequence[dict[str, Any]]) -> list[str]:
    """Return the commands that repeat the loads of branches in production."""
    commands = []
    for one in branches:
        dates = one["dates"]
        if dates and dates[0] <= one["until"]:
            first = business_date.quoted(dates[:1])
            commands.append(f"  spark-cdc replay --from {first} --select {one['entity']} --publish")
        elif dates:
            commands.append(
                f"  spark-cdc load {business_date.quoted(dates)} --select {one['entity']}"
            )
    return ["\nThe same loads in production:", *commands] if commands else []


KIND = named.Kind(
    "branch",
    "pr_7",
    "branches",
    {
        "last load": lambda one: one["from_load"],
        "of": lambda one: one["of"],
        "own loads": _own_loads,
        "behind": lambda one: one["behind"] or "",
    },
    repeat,
)


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `branch` to the command line."""
    named.add_parser(
        subparsers,
        KIND,
        "try changes on production's data, in a schema of its own",
        "A branch is a schema with the entities as they are in production now; nothing is copied."
        " What --branch NAME loads there stays there.",
    )
