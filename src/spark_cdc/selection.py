"""Which entities and models dbt selects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spark_cdc import dbt_runner, declared, kinds, macro_rules
from spark_cdc.errors import TypoError, UsageError

# What dbt selects as the models of all entities, without models that build on them.
OF_ENTITIES = tuple(
    f"config.materialized:cdc_{kind}" for kind in ("events", "ledger", "committed", "view")
)
MOST = 20  # entities whose settings are read before dbt is started
_MODELS = tuple(f"{{}}_{kind}" for kind in kinds.ENDINGS)
AFFIXES = ("stg_{}", *_MODELS, *(f"{model}{kinds.APART}" for model in _MODELS))
NO_ENTITY = "List the entities.\nspark-cdc status"


def check(arguments: object) -> None:
    """Raise UsageError if a command line names entities or guards that there are not.

    Only what the project's files tell is asked, so that dbt need not be started. Options that take
    whatever dbt selects may name models, folders and projects, too.
    """
    entities = declared.entities()
    if not entities:
        return  # other files than those that `spark-cdc new` writes: dbt knows
    exact: list[str] = [*getattr(arguments, "entities", ())]
    if getattr(arguments, "is_declared", False):
        exact.append(getattr(arguments, "entity", ""))
    select: list[str] = [*getattr(arguments, "select", ()), *getattr(arguments, "exclude", ())]
    selects = hasattr(arguments, "exclude")
    exact += [] if selects else select
    wrong = [name for name in exact if _is_plain(name) and name not in entities]
    unknown = [name for name in select if _is_plain(name) and name not in entities]
    if selects and unknown and not wrong:
        words = declared.words()
        wrong = [name for name in unknown if name not in words]
    for name in wrong:
        close = declared.close(name, entities)
        said = f"There is no entity {name!r}."
        if close:
            raise TypoError(said, name, close)
        listed = ", ".join(entities[:20]) + (", …" if len(entities) > 20 else "")
        raise UsageError(f"{said} Accepted are {listed}.", NO_ENTITY)
    if not hasattr(arguments, "skip_guards"):
        return  # it loads nothing
    for given in getattr(arguments, "skip_guards", ()):
        _check_guard(given, entities)
    chosen = [name for name in entities if name in select] if select else entities
    for name in chosen if len(chosen) <= MOST else ():
        _check_settings(name)


def _check_guard(given: str, entities: Sequence[str]) -> None:
    entity, _, guard = given.rpartition(".")
    said = f"--skip-guards {given}: there is no"
    if entity and entity not in entities and (close := declared.close(entity, entities)):
        raise TypoError(f"{said} entity {entity!r}.", given, f"{close}.{guard}")
    known = _rules()._known_guards()
    if guard not in known and (close := declared.close(guard, known)):
        raise TypoError(f"{said} guard {guard!r}.", given, f"{entity}.{close}".lstrip("."))
    if guard not in known and guard in entities:
        raise UsageError(
            f"{said} guard {guard!r}. Entities come before options.", "spark-cdc load --help"
        )


def _check_settings(entity: str) -> None:
    """Raise UsageError for a setting of an entity's YAML that is unknown, and close to a known one.

    All else that may be wrong with settings is seen by dbt, which knows what they inherit.
    """
    for path, settings in declared.settings(entity):
        for name, known in _slips(settings, _rules()._known_settings()["entity"], ""):
            last = name.rpartition(".")[2]
            if close := declared.close(last, known):
                raise UsageError(
                    f"{path}: stg_{entity} has the unknown setting {name!r} below meta.spark_cdc."
                    f" Did you mean {close!r}?",
                    "Correct it, then run the same command again.",
                )


def _slips(
    given: Mapping[str, Any], rules: Mapping[str, Any], above: str
) -> Iterator[tuple[str, list[str]]]:
    """Give settings that are unknown, each with those that are known in its place."""
    for name, value in given.items():
        rule = rules.get(name)
        if rule is None:
            yield f"{above}{name}", [*rules]
        elif isinstance(value, dict) and rule.get("settings"):
            yield from _slips(value, rule["settings"], f"{above}{name}.")


def _rules() -> Any:
    return macro_rules.rules()[0]


def _is_plain(word: str) -> bool:
    return bool(re.fullmatch("[a-z][a-z0-9_]*", word))


def options(name: str, words: Sequence[str], models: Sequence[str] = ()) -> list[str]:
    """Return an option with what dbt selects: of a plain name what dbt finds, and the entity."""
    named = [dbt_runner.selector(word) for word in words if _is_plain(word)]
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
        raise dbt_runner.failed("dbt could not list the selected models.", done)
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
    said = f"No entity is selected by {given}. Nothing was loaded."
    known = declared.anywhere()
    for word in filter(_is_plain, getattr(arguments, "select", ())):
        name = declared.close(word, known)
        if name and name != word:
            return TypoError(said, word, name)
    return UsageError(said, NO_ENTITY)
