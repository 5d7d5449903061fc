"""`spark-cdc files`: the files of the active loads, for engines that read files and no views."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from urllib.parse import unquote

from spark_cdc import console, dbt_runner, parsing, state

VIEWS = ("current", "history")


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    entity: str
    view: str
    output: str
    target: str | None


class Listing(state.Files):
    """The part files with the name of its entity."""

    entity: str


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `files` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "files",
        "list the files that a view reads, for other engines",
        "A path per line on stdout: the ledger's folder also holds loads that were refused or"
        " replaced, so nobody should read it whole. List the files again after each load; vacuum"
        " deletes those of replaced loads. Queries: docs/reading_elsewhere.md.",
        "spark-cdc files orders",
    )
    dbt_runner.add_entity(parser)
    parser.add_argument(
        "--view",
        choices=VIEWS,
        default="current",
        help="the files that ENTITY_current (default) or ENTITY_history reads",
    )
    parsing.add_output(parser)
    dbt_runner.add_arguments(parser, "target")
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Print the files."""
    dbt = dbt_runner.Dbt(arguments.target)
    one = state.ask(dbt, [arguments.entity], files={"view": arguments.view})["entities"][0]
    found: Listing = {"entity": one["entity"], **one["files"]}
    for file in found["files"]:
        file["path"] = path_of(file["path"])
    if arguments.output == "json":
        console.print_json(found)
        return 0
    for file in found["files"]:
        print(file["path"])
    sys.stdout.flush()
    print(describe(found), file=sys.stderr)
    return 0


def path_of(uri: str) -> str:
    """Return the path of a local file, or the URI of another one, as engines open it."""
    path = unquote(uri)  # Spark quotes what a URI can't have; the file has it in its name
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path


def describe(found: Listing) -> str:
    """Return what the list is."""
    rows, files = sum(one["rows"] for one in found["files"]), len(found["files"])
    name = f"{found['entity']}_{found['view']}"
    told = [
        f"{name} as of commit {found['commit']}: {files} {found['format']} files of"
        f" {len(found['loads'])} loads, with {rows} rows."
    ]
    if found["view"] == "current":
        told.append("The newest row of each key_hash counts, by load_id, unless operation is D.")
    moved = {name: at for name, at in found["columns"].items() if name != at}
    told += [f"The column {name} is {at} in the files." for name, at in moved.items()]
    return "\n".join([*told, "List them again after each load (docs/reading_elsewhere.md#files)."])
