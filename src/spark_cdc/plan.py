"""`spark-cdc load DATE --dry-run`: what the load would do, without writing anything."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TypedDict

from spark_cdc import console, dbt_runner, project

SETTINGS = "settings"  # what refuses a load whose settings are wrong


class Refusal(TypedDict):
    """Why a load would be refused."""

    guard: str | None
    message: str


class _Known(TypedDict):
    entity: str
    business_time: str
    refused: Refusal | None


class Plan(_Known, total=False):
    """What a load would do: the part plan of the macro state."""

    load_type: str
    is_checkpoint: bool
    rows_in: int | None
    rows_current: int | None
    counts: dict[str, int] | None
    events: dict[str, int] | None
    statements: list[str] | None
    replaces: list[str] | None
    definition_change: str | None


def plan(dbt: dbt_runner.Dbt, entity: str, variables: Mapping[str, object]) -> Plan:
    """Return what the load of an entity would do: the part plan of the macro state.

    refused: why it would be (guard, message), or None. Where nothing but that is known, the rest
    is not there.
    """
    asked = json.dumps({"entities": [entity], "parts": ["plan"]})
    words = ("--args", asked, "--vars", project.variables(variables))
    done = dbt.run("run-operation", "spark_cdc.state", *words)
    found: Plan | None = dbt_runner.parts(done, "plan").get(entity)
    if found:
        return found
    broken = "\n".join(dbt_runner.parts(done, "broken").get(entity, ()))
    broken = broken or dbt_runner.wrong_settings(done)
    message = broken or dbt_runner.macro_message(done) or done.output.strip()
    return {
        "entity": entity,
        "business_time": str(variables["business_date"]),
        "refused": {"guard": SETTINGS if broken else None, "message": message},
    }


def without_files(plans: Sequence[Plan], named: Sequence[str]) -> set[str]:
    """Return the entities that were not asked for: of which no file of the date has landed.

    named: what the command line selects; each entity of a selection was asked for, and so is all
        if nothing has landed at all.
    """
    found = {
        one["entity"] for one in plans if one["refused"] and one["refused"]["guard"] == "no_files"
    }
    return set() if named or len(found) == len(plans) else found


def summary(plans: Sequence[Plan], apart: Collection[str] = ()) -> str:
    """Return in a sentence how a dry run ends; apart: of without_files()."""
    refused = [one["entity"] for one in plans if one["refused"] and one["entity"] not in apart]
    fine = len(plans) - len(refused) - len(apart)
    parts = [f"{fine} would load"] if fine else []
    parts += [f"{len(refused)} would be refused: {', '.join(refused)}"] if refused else []
    parts += [f"nothing of the date has landed for {', '.join(sorted(apart))}"] if apart else []
    return "; ".join(parts) + "."


def describe(plans: Sequence[Plan], apart: Collection[str] = ()) -> str:
    """Return plans as a table, and below it what is to be told of each.

    apart: of without_files(), of which the table tells enough.
    """
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
                "nothing landed" if one["entity"] in apart else _result(one),
            ]
        )
        if replaced := one.get("replaces"):
            said.append(f"{one['entity']}: replaces {', '.join(replaced)}")
        if one.get("definition_change"):
            said.append(f"{one['entity']}: definition changes: {one['definition_change']}")
        if events := {name: n for name, n in (one.get("events") or {}).items() if n}:
            told = ", ".join(f"{count} {name}" for name, count in events.items())
            said.append(f"{one['entity']}: of the events {told}")
        if one["refused"] and one["entity"] not in apart:
            said.append(one["refused"]["message"])
    return "\n\n".join([console.table(headings, rows, 60), *said])


def _result(one: Plan) -> str:
    return (one["refused"]["guard"] or "refused") if one["refused"] else "would load"


def _shown(value: int | None) -> int | str:
    return "" if value is None else value
