"""`spark-cdc branch`: a schema in which production's entities can be tried on."""

from __future__ import annotations

import json
from typing import Any

from spark_cdc import chain, console, load
from spark_cdc.errors import SparkCdcError

EXAMPLE = "spark-cdc branch create pr_7 --select orders"
MARKER = "spark_cdc branches: "


def add_parser(subparsers: Any) -> None:
    """Add `branch` to the command line."""
    parser = subparsers.add_parser(
        "branch",
        help="a schema to try things in, on production's data, which stay as they are",
        description="A branch is a schema in which entities are as they are in production now:"
        " nothing is copied. What is loaded there with --branch NAME stays there.",
    )
    parser.add_argument("action", choices=("create", "list", "drop"))
    # `branch` itself is the option by which other commands work in one
    parser.add_argument("name", nargs="?", metavar="NAME", help="of the branch and its schema")
    parser.add_argument("--output", choices=("table", "json"), default="table", help="of list")
    chain.add_arguments(parser, "select", "target")
    parser.set_defaults(run=run)


def run(arguments: Any) -> int:
    """Make, list or drop branches."""
    dbt = chain.Dbt(arguments.target)
    if arguments.action == "list":
        found = chain.parse_json(dbt.operate("branch", arguments.select), MARKER)
        chosen = [one for one in found if arguments.name in (None, one["branch"])]
        print(json.dumps(chosen, indent=2) if arguments.output == "json" else describe(chosen))
        return 0
    if arguments.name is None:
        raise SparkCdcError("NAME is missing", EXAMPLE)
    if arguments.action == "drop":
        if arguments.select:
            raise SparkCdcError(
                "a branch is dropped as a whole", f"spark-cdc branch drop {arguments.name}"
            )
        done = dbt.operate("branch", name=arguments.name, drop=True)
        said = [line for line in done.lines if line.startswith("dropped the branch ")]
    else:
        done = dbt.operate("branch", arguments.select, name=arguments.name)
        said = [line for line in done.lines if " in the branch" in line]
    print("\n".join(said), flush=True)
    return 0


def describe(branches: list[dict[str, Any]]) -> str:
    """Return a line for each entity of each branch, and how its loads come to production."""
    if not branches:
        return f"There is no branch. {EXAMPLE} makes one."
    headings = ["branch", "entity", "of", "at", "as after", "own loads", "behind"]
    rows, commands = [], []
    for one in sorted(branches, key=lambda one: (one["branch"], one["entity"])):
        dates = one["dates"]
        own = load.quoted(dates) if one["is_there"] else "(its schema is gone)"
        rows.append(
            [
                *(one["branch"], one["entity"], one["of"], one["at"], one["from_load"]),
                *(own, one["behind"] or ""),
            ]
        )
        if dates and dates[0] <= one["until"]:
            first = load.quoted(dates[:1])
            commands.append(f"  spark-cdc replay --from {first} --select {one['entity']} --publish")
        elif dates:
            commands.append(f"  spark-cdc load {own} --select {one['entity']}")
    again = ["\nThe same loads in production:", *commands] if commands else []
    return "\n".join([console.table(headings, rows, 60), *again])
