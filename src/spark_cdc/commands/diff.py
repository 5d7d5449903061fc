"""`spark-cdc diff`: what differs between two states of an entity."""

from __future__ import annotations

from dataclasses import dataclass

from spark_cdc import console, dbt_runner, parsing, state
from spark_cdc.errors import UsageError


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    entity: str
    before: str | None
    after: str | None
    limit: int
    output: str
    target: str | None
    branch: str | None


class Difference(state.Difference):
    """The part diff with the name of its entity."""

    entity: str


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `diff` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "diff",
        "compare two states of an entity, by row and column",
        "A state is named by a date or a load, which mean its end, by a tag, by the number of a"
        " commit, or by the word draft: that of a replay. With --branch and no states: production"
        " and the branch as of now.",
        "spark-cdc diff orders 2024-03-01 2024-03-04",
    )
    dbt_runner.add_entity(parser)
    parser.add_argument(
        "before", nargs="?", metavar="BEFORE", help="date, load, tag, commit, or draft"
    )
    parser.add_argument(
        "after", nargs="?", metavar="AFTER", help="date, load, tag, commit, or draft"
    )
    parser.add_argument("--limit", type=int, default=20, help="rows to show (default: 20)")
    parsing.add_output(parser)
    dbt_runner.add_arguments(parser, "target", "branch")
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Print what differs."""
    states = {"before": arguments.before, "after": arguments.after}
    given = {name: text for name, text in states.items() if text is not None}
    if len(given) == 1 or (not given and not arguments.branch):
        raise UsageError(
            f"diff compares two states, and {len(given) or 'none'} is given. Accepted are two"
            " dates, loads or tags, or --branch NAME without a state.",
            "List the loads, or the tags.\n"
            f"spark-cdc status {arguments.entity}\nspark-cdc tag list",
        )
    dbt = dbt_runner.Dbt(arguments.target)
    asked = {"row_limit": arguments.limit, **given}
    one = state.ask(dbt, [arguments.entity], diff=asked)["entities"][0]
    found: Difference = {"entity": one["entity"], **one["diff"]}
    if arguments.output == "json":
        console.print_json(found)
    else:
        print(describe(found))
    return 0


def describe(found: Difference) -> str:
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
        nothing = state.ColumnDifference(column_name="")
        differences = row["column_differences"] or [nothing]
        for one in differences:
            shown = [one.get("value_before", "null"), one.get("value_after", "null")]
            added, removed = row["row_difference"] == "added", row["row_difference"] == "removed"
            values = ["" if added else shown[0], "" if removed else shown[1]]
            lines.append([*start, one["column_name"], *values])
    table = console.table(["difference", *keys, "column", "before", "after"], lines, 60)
    more = sum(counts.values()) - len(found["rows"])
    rest = f"\n{more} more rows: --limit {sum(counts.values())}" if more else ""
    return f"{title}\n\n{table}{rest}"
