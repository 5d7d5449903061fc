"""Which entities and models dbt selects."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spark_cdc import dbt_runner
from spark_cdc.errors import SparkCdcError, UsageError

READ = (
    "{}_committed",
    "{}_current",
    "{}_history",
    "{}_versions",
    "{}_changes",
    "{}_event_versions",
    "{}_bitemporal",
    "{}_rejects",
    "{}_quality",
)
# What dbt selects as the models of all entities, without models that build on them.
OF_ENTITIES = tuple(
    f"config.materialized:cdc_{kind}" for kind in ("events", "ledger", "committed", "view")
)
AFFIXES = ("stg_{}", "{}_events", "{}_ledger", *READ, *(f"{affix}_sensitive" for affix in READ))
NO_ENTITY = "List the entities, whose names --select takes.\nspark-cdc status"


def options(name: str, words: Sequence[str], models: Sequence[str] = ()) -> list[str]:
    """Return an option with what dbt selects: of a plain name what dbt finds, and the entity."""
    named = [dbt_runner.selector(word) for word in words if re.fullmatch("[a-z][a-z0-9_]*", word)]
    given = [*words, *named, *models]
    return [f"--{name}", *given] if given else []


def models(
    dbt: dbt_runner.Dbt, select: Sequence[str] = (), exclude: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the models of what may be entities: names whose ledger is selected, as for dbt ls."""
    done = dbt.run(
        *("ls", "--resource-type", "model", "--output", "name", "--quiet"),
        *options("select", select),
        *options("exclude", exclude),
    )
    if not done.ok:
        print(done.output, flush=True)
        raise SparkCdcError("dbt could not list the selected models.", dbt_runner.LOG)
    names = {line.strip() for line in done.lines}
    entities = [name.removesuffix("_ledger") for name in sorted(names) if name.endswith("_ledger")]
    return {
        entity: [model for affix in AFFIXES if (model := affix.format(entity)) in names]
        for entity in entities
    }


def nothing(arguments: object, *names: str) -> UsageError:
    """Return the error of a selection that has no entity; names: of its options."""
    given = (
        dbt_runner.options(arguments, *(names or ("select", "exclude"))).strip() or "the project"
    )
    return UsageError(f"No entity is selected by {given}. Nothing was loaded.", NO_ENTITY)
