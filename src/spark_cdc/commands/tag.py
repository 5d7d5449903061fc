"""`spark-cdc tag`: names for states, such as a month's end."""

from __future__ import annotations

from spark_cdc import dbt_runner, named, parsing

KIND = named.Kind(
    "tag",
    "march_2024",
    "tags",
    {
        "last load": lambda one: one["last_load"],
        "rows": lambda one: one["rows"],
        "view": lambda one: one["view"],
    },
)


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `tag` to the command line."""
    parsers = named.add_parser(
        subparsers,
        KIND,
        "name states of entities, such as a month's end",
        "Models read a tag by as_of(…, tag=…), diff compares it, and vacuum keeps its loads.",
    )
    parsers["create"].add_argument(
        "--at", metavar="DATE|LOAD", help="the state at its end (default: the present state)"
    )
    dbt_runner.add_arguments(parsers["drop"], "select")
    for parser in parsers.values():
        dbt_runner.add_arguments(parser, "branch")
