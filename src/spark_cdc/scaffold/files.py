"""The files of an entity's folder: its YAML (of templates/entity.yml.jinja) and its models."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2
import yaml

from spark_cdc.errors import SparkCdcError
from spark_cdc.kinds import APART, ARCHIVE_MODELS, EXTRA_MODELS, MODELS
from spark_cdc.scaffold.entity import Column, Entity

_WIDTH = 100
_LONGEST = 140


def render(entity: Entity) -> dict[str, str]:
    """The files of an entity: file name -> text."""
    name, is_events = entity.name, entity.load_type == "events"
    reads = entity.relation or ""
    if reads.startswith("source("):  # stage() takes its arguments
        reads = reads.removeprefix("source(").removesuffix(")")
    calls = {f"stg_{name}": f"stage({reads})"}
    for model in models_of(entity):
        arguments = "events=true" if is_events and model == "ledger" else ""
        calls[f"{name}_{model}"] = f"{model.removesuffix(APART)}({arguments})"
    models = {f"{model}.sql": f"{{{{ spark_cdc.{call} }}}}\n" for model, call in calls.items()}
    if entity.query:
        view = f"{{{{ config(materialized='view') }}}}\n\n{entity.query.strip()}\n"
        models[f"{name}_input.sql"] = view
    return {f"{name}.yml": render_yaml(entity), **models}


def models_of(entity: Entity) -> tuple[str, ...]:
    """The kinds of an entity's models, without stg_; those that show sensitive columns come last.

    Models of each event have the values of sensitive columns, so there are no others of them.
    """
    is_events, apart = entity.load_type == "events", APART if entity.is_sensitive else ""
    plain = (*MODELS, *(kind for kind in EXTRA_MODELS if kind in entity.extra))
    archive = (kind + apart for kind in ARCHIVE_MODELS if is_events and kind in entity.extra)
    unmasked = (kind + apart for kind in plain if apart and kind not in ("ledger", "quality"))
    return (*(("events",) if is_events else ()), *plain, *unmasked, *archive)


def render_yaml(entity: Entity) -> str:
    """The YAML of an entity. Texts are quoted where they must be, also against Jinja."""
    keys = sum(column.role == "key" for column in entity.columns)
    kinds = models_of(entity)
    text = template("entity.yml.jinja").render(
        entity=entity,
        title=entity.name.replace("_", " "),
        kinds=[(kind.removesuffix(APART), APART * kind.endswith(APART)) for kind in kinds],
        has_control=any(column.role == "control" for column in entity.columns),
        # Unit tests hand the entry of stg_ to the macros as it is: no Jinja in it.
        described=[(column, _described(column, keys)) for column in entity.columns],
        stored=[f"*{column.name}" for column in entity.columns if column.role != "control"],
        schema=(entity.path or "").partition(".")[0] if entity.format == "table" else "",
        source=_source(entity),
        tests=_data_tests(entity, has_key=keys > 0),
    )
    return f"{text.rstrip()}\n"


def _described(column: Column, keys: int) -> dict[str, object]:
    """A column's entry; `keys`: columns of the key."""
    entry: dict[str, object] = {"name": column.name, "data_type": column.data_type}
    if column.meta:
        entry["config"] = {"meta": column.meta}
    return entry | {"description": description_of(column, keys)}


def _source(entity: Entity) -> dict[str, object]:
    """The entry of what the source sends, without its columns."""
    title = entity.name.replace("_", " ").capitalize()
    table = (entity.path or "").partition(".")[2] if entity.format == "table" else ""
    return {
        "name": entity.name,
        **({"identifier": table} if table else {}),
        "description": entity.description or f"{title} as they arrived.",
    }


def _data_tests(entity: Entity, *, has_key: bool) -> dict[str, list[str]]:
    """The data tests by kind of model, as YAML; those of values where the values are."""
    apart = APART if entity.is_sensitive else ""
    start = "business_date" if entity.business_date_type == "date" else "eff_start_date"

    unique = "dbt_utils.unique_combination_of_columns: {arguments: {combination_of_columns: [%s]}}"
    operations = "spark_cdc.accepted_operations: {arguments: {operations: [%s]}}"
    committed = ["loads_reconcile", "ledger_rows_consistent", "files_match_manifest"]
    committed += ["views_match_ledger", "log_matches_ledger"]
    committed += ["archive_complete"] if entity.events.get("archive") else []
    committed += ["masks_hold"] if apart else []
    values = ["keys_not_null", "hashes_match"] if has_key or entity.keyless else []
    tests = {
        "committed": [f"spark_cdc.{name}" for name in committed],
        "current": [unique % "key_hash", operations % "I, U, N, X"],
        "history": [unique % f"key_hash, {start}", operations % "I, U, D"],
        "latest": [unique % "key_hash"],
        "versions": ["spark_cdc.intervals_valid"],
        f"event_versions{apart}": [unique % "key_hash, event_position"],
    }
    tests.setdefault(f"current{apart}", []).extend(f"spark_cdc.{name}" for name in values)
    return tests


def description_of(column: Column, keys: int) -> str:
    """What dbt docs show of a column until its owner writes more; `keys`: columns of the key."""
    if column.description:
        return column.description
    meaning = {
        "key": "the key" if keys == 1 else "part of the key",
        "untracked": "stored, but a change of it alone makes no update",
        "control": "read with each load, not stored",
    }.get(column.role or "", "as the source sends it")
    title = column.name.replace("_", " ").strip().capitalize()
    parts = [f"{title}: {meaning}."]
    if column.source and column.source.lower() != column.name:
        parts.append(f"The source calls it {column.source}.")
    if column.sensitive:
        parts.append("Others than the readers of the restricted schema see a mask.")
    return " ".join(parts)


@functools.cache
def template(name: str) -> jinja2.Template:
    """Return a template; what dbt renders later stays in it as it is."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("spark_cdc.scaffold"),
        undefined=jinja2.StrictUndefined,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["text"] = _text
    environment.filters["flow"] = _flow
    environment.globals |= {"entry": _entry, "setting": _setting, "list_of": _list_of}
    return environment.get_template(name)


def _list_of(label: str, names: Sequence[str], indent: int = 4) -> str:
    """`data_tests: [a, b]`, over several lines where one is too short."""
    line = f"{label} [{', '.join(names)}]"
    if indent + len(line) <= _WIDTH:
        return line
    start = " " * indent
    lines, current = [f"{label} ["], f"{start} "
    for name in names:
        if len(current) + len(name) + 2 > _WIDTH:
            lines.append(current)
            current = f"{start} "
        current += f" {name},"
    return "\n".join([*lines, current, f"{start}]"])


def _entry(
    entry: Mapping[str, object], more: str = "", anchor: str = "", *, indent: int = 8
) -> str:
    """A member of a list on one line, or with its description on a second one.

    more: a text that comes after the values, such as `columns: *columns`. indent: what stands
    around it on its line.
    """
    values = [f"{name}: {_flow(value, inner=True)}" for name, value in entry.items()]
    values += [more] if more else []
    start = f"&{anchor} {{" if anchor else "{"
    line = f"{start}{', '.join(values)}}}"
    if indent + len(line) <= _LONGEST:
        return line
    at = list(entry).index("description")
    return f"{start}{', '.join(values[:at])},\n          {', '.join(values[at:])}}}"


def _setting(name: str, value: object, indent: int = 10) -> str:
    """A setting below meta.spark_cdc: on one line where it fits, but for rules."""
    if not isinstance(value, Mapping):
        return f"{name}: {_text(value)}"
    values = {key: _flow(one, inner=True, quoted=key == "options") for key, one in value.items()}
    line = f"{name}: {{{', '.join(f'{key}: {text}' for key, text in values.items())}}}"
    if name != "rules" and indent + len(line) <= _WIDTH:
        return line
    values = {key: _flow(one, quoted=key == "options") for key, one in value.items()}
    start = "\n" + " " * (indent + 2)
    return f"{name}:" + "".join(f"{start}{key}: {text}" for key, text in values.items())


def _flow(value: object, *, inner: bool = False, quoted: bool = False) -> str:
    """A YAML value on one line: a scalar, a list or a mapping."""
    if isinstance(value, Mapping):
        # dbt reads back what it parsed before only where keys are texts
        names = [
            str(key).lower() if isinstance(key, bool) else "" if key is None else str(key)
            for key in value
        ]
        members = [
            f"{_text(name, flow=True)}: {_flow(item, inner=True, quoted=quoted)}"
            for name, item in zip(names, value.values(), strict=True)
        ]
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item, inner=True) for item in value) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return _text(value, flow=inner, quoted=quoted)


def _text(value: object, *, flow: bool = False, quoted: bool = False) -> str:
    """A YAML scalar on one line that dbt reads as this very value.

    Texts are plain where YAML and people read them alike. dbt renders Jinja in YAML: an opening
    brace of Jinja is written as an expression that gives it, and so is the last line break, which
    Jinja would drop.
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    text = re.sub(r"\{(?=[{%#])", "{{ '{' }}", str(value))
    text = re.sub(r"\n\Z", r"{{ '\\n' }}", text)
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_ .;/()<>,%=+-]*", text) and not text.endswith(" ")
    if plain and not quoted and not (flow and "," in text):
        try:
            if yaml.safe_load(f"k: {text}") == {"k": text}:
                return text
        except yaml.YAMLError:
            pass
    dumped: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=10**9)
    return dumped.rstrip("\n")


def write(entity: Entity, directory: Path) -> Path:
    """Write an entity's folder below `directory`, at once or not at all.

    Raises:
        SparkCdcError: the folder or one of its models is there already.
    """
    files = render(entity)
    target = directory / entity.name
    taken = [target] if target.exists() else []
    if directory.is_dir():
        taken += [path for path in sorted(directory.rglob("*.sql")) if path.name in files]
    if taken:
        more = [name for name in files if target.exists() and not (target / name).exists()]
        steps = [f"echo {shlex.quote(files[name].strip())} > {target / name}" for name in more]
        raise SparkCdcError(
            f"{taken[0]} exists already. Nothing was written.",
            "\n".join(["Add its new models by hand:", *steps])
            if more
            else "Take another name, or remove it first.",
        )
    temporary = directory / f".{entity.name}.{os.getpid()}"
    try:
        temporary.mkdir(parents=True)
        for file, text in files.items():
            (temporary / file).write_text(text, encoding="utf-8")
        temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target
