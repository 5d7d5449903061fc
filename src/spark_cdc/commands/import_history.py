"""`spark-cdc import`: a history that another tool has kept becomes loads in the past."""

from __future__ import annotations

import json
from dataclasses import dataclass

from spark_cdc import console, dbt_runner, parsing, project
from spark_cdc.errors import UsageError

FORMATS = ("dbt_snapshot", "scd2", "satellite", "time_travel")


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    entity: str
    source: str
    format: str
    valid_from: str | None
    valid_to: str | None
    is_current: str | None
    deleted_when: str | None
    open_end: str | None
    inclusive_end: bool
    ignore: list[str]
    skip_guards: list[str]
    dry_run: bool
    target: str | None
    branch: str | None
    line: str


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `import` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "import",
        "take over a history: dbt snapshots, SCD type 2, satellites, table versions",
        "Intervals become inserts, updates and deletes at their business dates, and each version"
        " that a Delta or Iceberg table still keeps becomes a full load, in one pass and one"
        " commit. The entity must have no loads yet; the next load builds on the history"
        " (docs/import.md).",
        "spark-cdc import orders --from snapshots.orders_snapshot --format dbt_snapshot",
    )
    dbt_runner.add_entity(parser)
    parser.add_argument(
        "--from", dest="source", required=True, metavar="TABLE", help="the table or view to read"
    )
    parser.add_argument(
        "--format",
        required=True,
        choices=FORMATS,
        help="a dbt snapshot, another table of intervals, a Data Vault satellite, or the versions"
        " of a Delta or Iceberg table",
    )
    group = parser.add_argument_group("intervals", "(not with time_travel)")
    group.add_argument(
        "--valid-from",
        metavar="COLUMN",
        help="when an interval begins (default: dbt_valid_from, valid_from, load_datetime)",
    )
    group.add_argument(
        "--valid-to",
        metavar="COLUMN",
        help="when it ends (default: dbt_valid_to, valid_to; of a satellite when the next begins)",
    )
    group.add_argument(
        "--is-current", metavar="COLUMN", help="boolean column that marks open intervals"
    )
    group.add_argument(
        "--deleted-when",
        metavar="CONDITION",
        help="rows that stand for a delete: a boolean column, or SQL such as \"op = 'D'\""
        " (default of a dbt snapshot: dbt_is_deleted)",
    )
    group.add_argument(
        "--open-end", metavar="DATE", help="a date that means an open end, beside null: 9999-12-31"
    )
    group.add_argument(
        "--inclusive-end",
        action="store_true",
        help="the end is the last date or second of the interval, not the first after it",
    )
    parser.add_argument(
        "--ignore",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="columns of the table that are not columns of the entity",
    )
    dbt_runner.add_arguments(parser, "skip-guards", "target", "branch", "dry-run")
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Import the history, then create the entity's views; or print what it would come to."""
    options = {
        "valid_from": arguments.valid_from,
        "valid_to": arguments.valid_to,
        "is_current": arguments.is_current,
        "deleted_when": arguments.deleted_when,
        "open_end": arguments.open_end,
        "inclusive_end": arguments.inclusive_end or None,
        "ignore": arguments.ignore or None,
    }
    given = {name: value for name, value in options.items() if value is not None}
    values = json.dumps(
        {
            "entity": arguments.entity,
            "source": arguments.source,
            "format": arguments.format,
            "execute": not arguments.dry_run,
            **given,
        }
    )
    skipped = {"spark_cdc_skip_guards": arguments.skip_guards} if arguments.skip_guards else {}
    dbt = dbt_runner.Dbt(arguments.target)
    done = dbt.run(
        *("run-operation", "spark_cdc.import_history", "--args", values),
        *("--vars", project.variables(skipped)),
        heard=console.printer(),
    )
    if not done.ok:
        if problems := dbt_runner.wrong_settings(done):
            raise UsageError(problems, f"Correct them, then import again.\n{arguments.line}")
        error = dbt_runner.failed(f"dbt could not import {arguments.source}.", done)
        error.next_step = error.next_step or f"When the cause is gone:\n{arguments.line}"
        raise error
    if arguments.dry_run:
        console.dry_run()
        return 0
    what = f"The import of {arguments.entity} is committed, but its views are not updated."
    dbt_runner.update_views(dbt, dbt_runner.views_of([arguments.entity]), what)
    return 0
