"""`spark-cdc plan`: what the load of a date would do, without writing anything."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from spark_cdc import chain, console, load, project
from spark_cdc.errors import SparkCdcError

EXAMPLE = "spark-cdc plan 2019-06-19 --select orders"
MARKER = "spark_cdc plan: "
REFUSED = 1  # exit code


def add_parser(subparsers: Any) -> None:
    """Add `plan` to the command line."""
    parser = subparsers.add_parser(
        "plan",
        help="what the load of a date would do: counts, guards, changes of columns; writes nothing",
        description="Reads what has landed of a date, compares it with what is committed and audits"
        " it, as a load does, behind temporary views: nothing is written. Exit codes: 0 the loads"
        " would succeed, 1 one of them would be refused.",
    )
    parser.add_argument("date", metavar="DATE", help=f"a date, or a date and time; {EXAMPLE}")
    parser.add_argument(
        "--load-type", choices=("full", "delta"), help="as of spark-cdc load (docs/snapshots.md)"
    )
    parser.add_argument("--position", help="of a full snapshot among events, as of spark-cdc load")
    parser.add_argument("--output", choices=("table", "json"), default="table")
    chain.add_arguments(parser, "select", "lift", "target", "branch")
    parser.set_defaults(run=run)


def run(arguments: Any) -> int:
    """Print a line for each entity, and why loads would be refused."""
    _, date = load.parse_business_date(arguments.date)
    dbt = chain.Dbt(arguments.target, parses_once=True)
    known = load.selected_models(dbt)
    if unknown := sorted(set(arguments.select) - set(known)):
        raise SparkCdcError(f"there is no entity {', '.join(unknown)}", load.NO_ENTITY)
    values = {
        "business_date": date,
        "spark_cdc_load_type": arguments.load_type,
        "spark_cdc_position": arguments.position,
    }
    plans = []
    for entity in arguments.select or known:
        lifts = [one for one in arguments.lift if one.rpartition(".")[0] in ("", entity)]
        given = values | {"spark_cdc_lift": lifts}
        plans.append(plan(dbt, entity, {name: value for name, value in given.items() if value}))
    if arguments.output == "json":
        print(json.dumps(plans, indent=2))
    else:
        print(describe(plans))
    return REFUSED if any(one["refused"] for one in plans) else 0


def plan(dbt: chain.Dbt, entity: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the load of an entity would do: all that the macro prints of it.

    refused: why it would be (guard, message), or None. Where nothing but that is known, the rest
    is not there.
    """
    values = ("--args", json.dumps({"entity": entity}), "--vars", project.variables(variables))
    done = dbt.run("run-operation", "spark_cdc._print_plan", *values)
    if done.ok or MARKER in done.output:
        return dict(chain.parse_json(done, MARKER))
    message = "\n".join(done.lines).partition("Encountered an error")[2].strip()
    lines = [line.strip() for line in message.splitlines()[1:] if line.strip()]
    shown = [
        line for line in lines if not re.match(r"(Compilation Error|> (in|called by) macro)", line)
    ]
    return {
        "entity": entity,
        "business_time": variables["business_date"],
        "refused": {"guard": None, "message": "\n".join(shown) or done.output.strip()},
    }


def describe(plans: list[dict[str, Any]]) -> str:
    """Return plans as a table, and below it what is to be told of each."""
    headings = [
        "entity",
        "load",
        "type",
        "rows in",
        *"IUDNX",
        "rejected",
        "rows then",
        "statements",
        "result",
    ]
    rows, said = [], []
    for one in plans:
        counts = one.get("counts") or {}
        kind = " ".join(
            (one.get("load_type", ""), *(["checkpoint"] if one.get("is_checkpoint") else []))
        )
        rows.append(
            [
                *(one["entity"], one["business_time"], kind, _shown(one.get("rows_in"))),
                *(_shown(counts.get(operation)) for operation in "IUDNXR"),
                _shown(one.get("rows_current")),
                len(one.get("statements") or ()) or "",
                (one["refused"]["guard"] or "refused") if one["refused"] else "would load",
            ]
        )
        if one.get("replaces"):
            said.append(f"{one['entity']}: takes the place of {', '.join(one['replaces'])}")
        if one.get("definition_change"):
            said.append(f"{one['entity']}: definition changes: {one['definition_change']}")
        if events := {name: n for name, n in (one.get("events") or {}).items() if n}:
            told = ", ".join(f"{count} {name}" for name, count in events.items())
            said.append(f"{one['entity']}: of the events {told}")
        if one["refused"]:
            said.append(one["refused"]["message"])
    return "\n\n".join([console.table(headings, rows, 60), *said, "Nothing was written."])


def _shown(value: int | None) -> int | str:
    return "" if value is None else value
