"""`spark-cdc deps`: install the packages of packages.yml."""

from __future__ import annotations

from dataclasses import dataclass

from spark_cdc import packages, parsing


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    if_needed: bool


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `deps` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "deps",
        "install the dbt packages",
        "Runs dbt deps, with a stand-in for dbt_utils where the package hub can't be reached.",
        "spark-cdc deps --if-needed",
    )
    parser.add_argument(
        "--if-needed", action="store_true", help="do nothing if the packages are there"
    )
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Install the packages and print the notes."""
    for note in packages.install(arguments.if_needed):
        print(note)
    return 0
