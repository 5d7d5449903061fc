"""`spark-cdc tag` and `diff`: names for states, and what differs between two of them."""

from __future__ import annotations

import json
from typing import Any

from spark_cdc import chain, console
from spark_cdc.errors import SparkCdcError


def add_parser(subparsers: Any) -> None:
    """Add both commands to the command line."""
    tag = subparsers.add_parser(
        "tag",
        help="name the state of several entities, such as a month's end",
        description="Gives the present state of all entities, or of some, a name. Models read it"
        " with as_of(…, tag=…), diff compares it, vacuum keeps its loads.",
    )
    tag.add_argument("name", nargs="?", metavar="NAME", help="lower case letters, digits, _")
    tag.add_argument("--at", metavar="DATE|LOAD", help="the state at its end, not the present one")
    choice = tag.add_mutually_exclusive_group()
    choice.add_argument("--drop", action="store_true", help="take the name away")
    choice.add_argument("--list", action="store_true", help="show the tags")
    chain.add_arguments(tag, "select", "target", "branch")
    tag.set_defaults(run=run_tag)

    diff = subparsers.add_parser(
        "diff",
        help="rows and columns that differ between two states of an entity",
        description="Compares two states of an entity: at the end of a date, after a load, or of a"
        " tag. With --branch and no states: production and the branch, as they are now.",
    )
    diff.add_argument("entity", metavar="ENTITY")
    diff.add_argument("before", nargs="?", metavar="BEFORE", help="date, load or tag")
    diff.add_argument("after", nargs="?", metavar="AFTER", help="date, load or tag")
    diff.add_argument("--limit", type=int, default=20, help="rows that are shown (20)")
    diff.add_argument("--output", choices=("table", "json"), default="table")
    chain.add_arguments(diff, "target", "branch")
    diff.set_defaults(run=run_diff)


def run_tag(arguments: Any) -> int:
    """Make, drop or list tags."""
    dbt = chain.Dbt(arguments.target)
    if arguments.list:
        tags = chain.parse_json(dbt.operate("tag", arguments.select), "spark_cdc tags: ")
        headings = ["tag", "entity", "last_load", "rows", "at", "view"]
        chosen = [one for one in tags if arguments.name in (None, one["tag"])]
        rows = [[one[heading] for heading in headings] for one in chosen]
        print(console.table(headings, sorted(rows), 60))
        return 0
    if arguments.name is None:
        raise SparkCdcError("NAME is missing", "spark-cdc tag march_2024")
    values = {"name": arguments.name, "drop": arguments.drop}
    more = {} if arguments.at is None else {"at": arguments.at}
    done = dbt.operate("tag", arguments.select, **values, **more)
    print("\n".join(line for line in done.lines if arguments.name in line), flush=True)
    return 0


def run_diff(arguments: Any) -> int:
    """Print what differs."""
    states = {"before": arguments.before, "after": arguments.after}
    given = {name: state for name, state in states.items() if state is not None}
    if len(given) == 1 or (not given and not arguments.branch):
        raise SparkCdcError(
            "two states have to be given, BEFORE and AFTER",
            "spark-cdc diff orders 2024-03-01 2024-03-04; or, for what a branch has changed:"
            " spark-cdc diff orders --branch NAME",
        )
    dbt = chain.Dbt(arguments.target)
    done = dbt.operate("_diff_rows", entity=arguments.entity, row_limit=arguments.limit, **given)
    found = chain.parse_json(done, "spark_cdc diff: ")
    print(json.dumps(found, indent=2) if arguments.output == "json" else describe(found))
    return 0


def describe(found: dict[str, Any]) -> str:
    """Return what differs as a table: a line for each value that is another one."""
    counts = found["counts"]
    said = ", ".join(f"{counts[name]} {name}" for name in ("added", "removed", "changed"))
    title = f"{found['entity']} from {found['before']} to {found['after']}: {said}"
    if not found["rows"]:
        return title
    keys = list(dict.fromkeys(name for row in found["rows"] for name in row.get("keys", {})))
    lines = []
    for row in found["rows"]:
        start = [row["row_difference"], *(row.get("keys", {}).get(name, "") for name in keys)]
        differences = row["column_differences"] or [{"column_name": ""}]
        for one in differences:
            shown = [one.get("value_before", "null"), one.get("value_after", "null")]
            added, removed = row["row_difference"] == "added", row["row_difference"] == "removed"
            values = ["" if added else shown[0], "" if removed else shown[1]]
            lines.append([*start, one["column_name"], *values])
    table = console.table(["difference", *keys, "column", "before", "after"], lines, 60)
    more = sum(counts.values()) - len(found["rows"])
    rest = f"\n{more} more rows: --limit {sum(counts.values())}" if more else ""
    return f"{title}\n\n{table}{rest}"
