"""`spark-cdc erase`: the sensitive values of some keys are gone, from all loads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spark_cdc import console, dbt_runner, parsing


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    entity: str
    key: list[list[str]] | None
    keys: str | None
    even_if_absent: bool
    target: str | None
    dry_run: bool


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `erase` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "erase",
        "erase the sensitive values of keys from all loads",
        "They leave all loads, archived events and rejected rows of the entity, and the disk; no"
        " later load or replay brings them back. There is no way back. The same command finishes"
        " one that was interrupted.",
        "spark-cdc erase customers --keys erasure_requests.csv",
    )
    dbt_runner.add_entity(parser)
    keys = parser.add_mutually_exclusive_group(required=True)
    keys.add_argument(
        "--key",
        nargs="+",
        action="append",
        metavar="VALUE",
        help="a key: a value for each of its columns, in declared order; can be repeated. Not"
        " for sensitive keys, because logs show it",
    )
    keys.add_argument(
        "--keys",
        metavar="TABLE|FILE",
        help="the keys in a table, or in a CSV file with a header, that has the key columns",
    )
    parser.add_argument(
        "--even-if-absent",
        action="store_true",
        help="accept keys that no load has: later loads bring no values of them",
    )
    dbt_runner.add_arguments(parser, "target", "dry-run")
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Run the macro, and say what it did and what is left to do."""
    source = arguments.keys
    if source and Path(source).is_file():
        source = Path(source).resolve().as_uri()
    given: dict[str, object] = {"keys": arguments.key} if arguments.key else {"source": source}
    more = {"even_if_absent": True} if arguments.even_if_absent else {}
    more |= {"execute": False} if arguments.dry_run else {}
    dbt = dbt_runner.Dbt(arguments.target)
    done = dbt.show("erase", entity=arguments.entity, **given, **more)
    for found in dbt_runner.parts(done, "erased").values():
        if found["published"]:
            tables = " ".join(found["published"])
            print("Rewrite the tables that publish its rows:")
            print(f"  dbt run --full-refresh --select {tables}")
    if arguments.dry_run:
        console.dry_run()
    return 0
