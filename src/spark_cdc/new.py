"""Write the folder of a new entity: its YAML (of templates/entity.yml.jinja) and its models."""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import yaml

from spark_cdc import (
    bulk_scaffold,
    console,
    dbt_runner,
    new_update,
    overview,
    parsing,
    project,
    snapshot_scaffold,
    source_types,
)
from spark_cdc.entity import (
    ROLES,
    Column,
    Entity,
    guesses,
    own_name,
    path_of,
    problems_of,
    renamed,
    rules,
    with_own_names,
    words_of_sql,
)
from spark_cdc.errors import SparkCdcError, UsageError
from spark_cdc.kinds import (
    APART,
    ARCHIVE_MODELS,
    EVENT_FORMATS,
    EXTRA_MODELS,
    MODELS,
    SAMPLE_FORMATS,
    SOURCE_FORMATS,
)
from spark_cdc.sample import has_open_end, read_sample

_WIDTH = 100
_LONGEST = 140
_DATE = r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"
# Settings of change events in rows whose values are names of columns.
NAMING_COLUMNS = (
    *("operation", "order", "tie_breaker", "unique_keys", "old_key", "transaction"),
    *("time", "timestamp_column"),
)
PERSONAL = re.compile(
    r"(^|_)(e_?mail|mail|mail_address|phone|telephone|mobile|iban|ssn|passport|birthday|birthdate"
    r"|date_of_birth|birth_date|dob|salary|password|first_name|last_name|surname|credit_card"
    r"|card_number|tax_id|street|strasse)(_|$)"
)
PANDAS_INDEX = re.compile("__index_level_[0-9]+__")


# --- columns from the command line ---------------------------------------------


def parse_columns(text: str) -> tuple[list[Column], list[str]]:
    """Columns of "name:type[:role][:required][:from=...][:format=...], ...", and what is wrong.

    Words `sensitive`, `mask=...`, `encoding=...`, `decimal=...`, `grouping=...` and
    `trailing_sign` are accepted, too.
    """
    columns, problems = [], []
    for item in split_outside(text, ","):
        if not item.strip():
            continue
        name, *rest = (part.strip() for part in split_outside(item, ":"))
        if not rest or not rest[0]:
            problems.append(
                f"column {name!r} has no type; accepted are columns such as "
                "order_id:bigint:key: add one"
            )
            continue
        column = Column(name, rest[0].lower() if "<" not in rest[0] else rest[0])
        # A format may hold colons (HH:mm): what follows it belongs to it.
        words = list(rest[1:])
        for index, word in enumerate(words):
            if word.startswith("format="):
                words[index:] = [":".join(words[index:])]
                break
        for word in words:
            label, _, value = word.partition("=")
            if word in ROLES and column.role in (None, word):
                column = replace(column, role=word)
            elif word in ROLES:
                problems.append(
                    f"column {name!r} is both {column.role} and {word}; a column has one role: "
                    "choose one of them"
                )
            elif word == "required":
                column = replace(column, required=True)
            elif word == "sensitive":
                column = replace(column, sensitive=True)
            elif word == "trailing_sign":
                column = replace(column, trailing_sign=True)
            elif label == "decimal" and value:
                column = replace(column, decimal=_unquoted(value))
            elif label == "grouping" and value:
                column = replace(column, grouping=_unquoted(value))
            elif label == "mask" and value:
                column = replace(column, mask=value)
            elif label == "from" and value:
                column = replace(column, source=_unquoted(value))
            elif label == "encoding" and value:
                column = replace(column, encoding=value)
            elif label == "format" and value:
                column = replace(column, format=_unquoted(value))
            else:
                problems.append(
                    f"column {name!r} has the unknown word {word!r}; accepted are "
                    f"{', '.join(ROLES)}, required, sensitive, mask=NAME, from=NAME, "
                    "encoding=NAME, decimal=',', grouping='.', trailing_sign and "
                    "format=PATTERN: correct it"
                )
        columns.append(column)
    return columns, problems


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def split_outside(text: str, separator: str) -> list[str]:
    """Split at a character that stands outside of (), <> and quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        elif character in "(<":
            depth += 1
        elif character in ")>":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append("")
            continue
        parts[-1] += character
    return parts


def with_roles(
    columns: Sequence[Column], roles: Mapping[str, Sequence[str]]
) -> tuple[list[Column], list[str]]:
    """The columns with the roles that the options --key, --untracked and --control give them."""
    problems = []
    result = list(columns)
    for role, names in roles.items():
        for name in names:
            matches = [i for i, c in enumerate(result) if name in (c.name, c.source)]
            if not matches and columns:
                known = ", ".join(column.name for column in columns)
                problems.append(f"--{role} names {name!r}; the columns are {known}: correct it")
            for i in matches:
                if result[i].role not in (None, role):
                    problems.append(
                        f"column {name!r} is both {result[i].role} and {role}; a column has one "
                        "role: choose one of them"
                    )
                result[i] = replace(result[i], role=role)
    return result, problems


# --- what is written ----------------------------------------------------------


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
        loader=jinja2.PackageLoader("spark_cdc"),
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


# --- command ------------------------------------------------------------------


def add_parser(subparsers: parsing.Subparsers) -> None:
    parser = parsing.add_command(
        subparsers,
        "new",
        "write the YAML and the models of a new entity",
        "Writes models/NAME, of a sample file or of columns that you list.",
        "spark-cdc new orders --from-file landing/orders/2024-03-01/orders.csv --key order_id",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="lower-case, such as order_lines")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--columns",
        metavar="LIST",
        help="name:type[:key|untracked|control][:required][:from=NAME][:encoding=NAME]"
        "[:decimal=','][:grouping='.'][:trailing_sign][:format=PATTERN], ...",
    )
    what.add_argument(
        "--from-file", type=Path, metavar="FILE", help="a sample, for columns and their types"
    )
    what.add_argument(
        "--many",
        type=Path,
        metavar="CSV",
        help="many entities: a line per entity with the options as columns, or a line per column as"
        " in information_schema.columns",
    )
    what.add_argument(
        "--from-database",
        metavar="DATABASE[.TABLES]",
        help="many entities: of the tables of a database that Spark knows, all or those whose names"
        " are like shop.ord*; with --date-column, --key",
    )
    what.add_argument(
        "--update",
        action="store_true",
        help="declare the columns that loads have added automatically (on_unexpected_column: add)"
        " in the YAML of NAME",
    )
    what.add_argument(
        "--from-snapshot",
        type=Path,
        action="append",
        metavar="FILE",
        help="a dbt snapshot: its YAML or its SQL block (repeatable: both); types come from the"
        " YAML's columns, or with --path SCHEMA.TABLE from Spark (docs/coming_from.md)",
    )
    parser.add_argument(
        "--dialect",
        choices=list(source_types.DIALECTS),
        help="--many: the database whose types the list has (default: the one that its types show)",
    )
    for role, meaning in (
        ("key", "columns that identify a row"),
        ("untracked", "columns whose change makes no update"),
        ("control", "columns that are read but not stored, such as a delete flag"),
    ):
        parser.add_argument(f"--{role}", type=_names, default=[], metavar="A,B", help=meaning)
    parser.add_argument(
        "--keyless",
        action="store_true",
        help="full loads of a table without a key: rows are told apart by all columns",
    )
    parser.add_argument("--load-type", default="full", help="full (default), delta or events")
    parser.add_argument("--deleted-when", metavar="SQL", help="delta: when a row is a delete")
    parser.add_argument(
        "--rule",
        action="append",
        default=[],
        metavar="NAME=SQL",
        help='a condition that rows are counted by, such as "paid=amount >= 0" (repeatable); what'
        " else a rule may do: docs/rules.md",
    )
    parser.add_argument(
        "--with",
        dest="extra",
        type=_names,
        action="extend",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="more models: latest, versions (SCD type 2), changes (change feed), rejects, quality;"
        " with change events event_versions and bitemporal, which imply --archive",
    )
    _add_event_options(parser.add_argument_group("change events (--load-type events)"))
    parser.add_argument(
        "--format", dest="fmt", help=f"{', '.join(SOURCE_FORMATS)} (default csv, or the sample's)"
    )
    parser.add_argument("--path", help="with {business_date}; for tables schema.table")
    parser.add_argument("--date-column", help="tables: the column that holds the business date")
    parser.add_argument("--delimiter", help="of CSV; \\t is a tab (default ,)")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="option of Spark's reader, such as multiLine=true (repeatable)",
    )
    parser.add_argument("--business-date-type", default="date", help="date (default) or timestamp")
    parser.add_argument("--description", help="of the entity, in one sentence")
    parser.add_argument("--directory", type=Path, help="default: that of the project's models")
    parsing.add_dry_run(parser)
    parser.set_defaults(run=run, parser=parser, relation=None, validity={})


def _add_event_options(group: argparse._ArgumentGroup) -> None:
    names: dict[str, Any] = {"type": _names, "default": [], "metavar": "A,B"}
    group.add_argument(
        "--events-format", metavar="FORMAT", help=f"{', '.join(EVENT_FORMATS)}, or one of your own"
    )
    group.add_argument("--operation", metavar="COLUMN", help="column that says what happened")
    group.add_argument("--order", **names, help="columns that sort the events")
    group.add_argument("--tie-breaker", **names, help="columns that sort events of one place")
    group.add_argument("--insert-only", action="store_true", help="no updates, no key needed")
    group.add_argument("--archive", action="store_true", help="keep the events of all loads")
    group.add_argument(
        "--event-setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another setting below events, in YAML, such as 'old_key={id: old_id}' (repeatable)",
    )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _flat(lists: Sequence[Sequence[str]]) -> list[str]:
    """The words of --with, between which are spaces, or commas as in a list of --many."""
    return [word for names in lists for name in names for word in name.split()]


def run(args: argparse.Namespace) -> int:
    if args.many or args.from_database:
        return _run_many(args)
    if args.from_snapshot:
        for entity, notes in snapshot_scaffold.entities_of(args, entity_of):
            _put(args, entity, [*_noted_types(entity), *notes, *_personal(entity)])
        if args.dry_run:
            console.dry_run()
        return 0
    if args.dialect:
        raise UsageError(
            f"--dialect {args.dialect} belongs to --many.",
            f"spark-cdc new --many columns.csv --dialect {args.dialect}",
        )
    if not args.name:
        raise UsageError(
            "NAME is missing. It is the name of the entity, in lower case.",
            'spark-cdc new orders --columns "order_id:bigint:key, status:string"',
        )
    if args.update:
        return new_update.run(args.name, dry_run=args.dry_run)
    entity = entity_of(args)
    told = [*_renamed_text(args, entity.columns), *_personal(entity)]
    if "unfinished_file" in entity.guards:
        told.append(
            f"{args.from_file} ends without a line end, so the guard unfinished_file is off: a load"
            " does not notice a file that is still being written. If the source can set a marker,"
            " name it in source.complete_when (docs/configuration.md)."
        )
    _put(args, entity, told)
    if args.dry_run:
        console.dry_run()
        return 0
    for column in entity.columns:
        words = words_of_sql(entity.deleted_when or "")
        if column.role is None and column.name in words:
            print(
                f"Note: --deleted-when uses {column.name}, which is compared too. If it only flags "
                f"the operation, give it the role control."
            )
    return 0


def _put(args: argparse.Namespace, entity: Entity, told: Sequence[str]) -> None:
    """Write an entity, or print it in a dry run; told: what its owner has to know."""
    if args.dry_run:
        for line in told:
            print(f"# {line}")
        for file, text in render(entity).items():
            print(f"# --- {entity.name}/{file}\n{text}")
        return
    target = write(entity, args.directory or project.models_folder())
    files = ", ".join(sorted(path.name for path in target.iterdir()))
    print("\n".join([f"Wrote {target}: {files}", *told]))
    _write_overview()
    print("\n".join(_next_steps(entity, args.from_file)))


def _write_overview() -> None:
    """Give dbt docs a first page, unless the project has one."""
    if overview.is_missing():
        root = project.root()
        page = (project.models_folder() / overview.FILE).relative_to(root)
        text = template("overview.md.jinja").render(project=root.name, file=page.as_posix())
        print(f"Wrote {overview.write(text)}: the first page of dbt docs, for you to edit.")


def _next_steps(entity: Entity, sample: Path | None) -> list[str]:
    """What a user does next: check, land a business date, load it; each a command to copy."""
    path = None if entity.format in ("table", "change_feed") else path_of(entity)
    landed = None  # the date of a sample that lies where the loads will look for it
    if sample and path == _path_beside(sample):
        landed = re.search(_DATE, str(sample.resolve()))
    date = landed[0] if landed else datetime.date.today().isoformat()
    steps = ["Check types and keys in the YAML, and say there what the columns mean."]
    steps.append(f"Then load a business date, here {date}:")
    is_relative = path is not None and not re.match("/|[A-Za-z0-9]+:", path)
    if path is not None and not landed:
        steps.append(f"  {_landing_step(path, date, sample)}")
    if entity.is_sensitive:
        steps.append("  spark-cdc secrets init (once, for all entities with sensitive columns)")
    steps.append(f"  spark-cdc load {date} --select {entity.name}")
    steps.append("With dbt alone, the last command is:")
    steps.append(
        f"  dbt run --select {dbt_runner.selector(entity.name)} --vars '{{business_date: {date}}}'"
    )
    if is_relative:
        steps.append(
            f"The path {path} starts in the project's folder. For a server on another machine give"
            " --path an absolute path or a URI."
        )
    return steps


def _landing_step(path: str, date: str, sample: Path | None) -> str:
    """How the files of a business date get to `path`: a command, where one file is at hand."""
    is_plain = path.count("{") == 1 and "{business_date}" in path and "://" not in path
    if not is_plain or sample is None or not sample.is_file():
        return f"files of a business date go to {path}"
    target = f"{path.replace('{business_date}', date)}/{sample.name}"
    return f"install -D {shlex.quote(str(sample))} {shlex.quote(target)}"


def _run_many(args: argparse.Namespace) -> int:
    """Write the entities of a list or a database, but for those that are there already."""
    if args.name:
        given = "--many" if args.many else "--from-database"
        raise UsageError(
            f"NAME {args.name!r} and {given} both name entities. Give one of them.",
            "spark-cdc new --many tables.csv",
        )
    entities = bulk_scaffold.entities_of(args, entity_of)
    directory = args.directory or project.models_folder()
    fresh = [entity for entity in entities if not (directory / entity.name).exists()]
    for entity in fresh:
        if args.dry_run:
            print(f"# --- {entity.name}\n{render_yaml(entity)}")
        else:
            write(entity, directory)
        for line in [
            *_renamed_text(args, entity.columns),
            *_noted_types(entity),
            *_personal(entity),
        ]:
            print(f"{'# ' if args.dry_run else ''}{entity.name}: {line}")
    there = [entity.name for entity in entities if entity not in fresh]
    if there:
        print(f"There already and left alone: {', '.join(there)}")
    if args.dry_run:
        console.dry_run()
    else:
        print(f"Wrote {len(fresh)} entities below {directory}.")
        _write_overview()
        print("Read the YAML: are types and keys right? Then, when something has landed:")
        print("  spark-cdc load --dry-run")
    return 0


def entity_of(args: argparse.Namespace) -> Entity:
    """The entity that the options describe.

    Raises:
        SparkCdcError: with everything that is wrong.
    """
    options, problems = _options(args)
    fmt = args.fmt or (_format_of(args.from_file) if args.from_file else _default_format(args))
    events, more = _events(args)
    problems += more
    path = args.path.replace("{entity}", args.name) if args.path else None
    columns: list[Column] = []
    guards: dict[str, object] = {}
    if args.columns is not None:
        columns, more = parse_columns(args.columns)
        problems += more
    elif not args.from_file.exists():
        problems.append(f"--from-file {str(args.from_file)!r}: no such file or folder")
    elif fmt in SOURCE_FORMATS and fmt not in SAMPLE_FORMATS:
        problems.append(
            f"--from-file {str(args.from_file)!r} is {fmt}, of which no sample is read; accepted"
            " are csv, json, parquet and orc. Give the columns instead, with their types:"
            f" --columns 'id:bigint, name:string' --format {fmt}"
        )
    elif fmt not in SAMPLE_FORMATS:
        problems.append(
            f"the format of {args.from_file} is {fmt or 'unknown'!r}; accepted are csv, json, "
            "parquet and orc: give --format"
        )
        fmt = "csv"  # so that the rules of entities do not name other formats
    else:
        is_events = args.load_type == "events"
        columns, options = read_sample(args.from_file, fmt, options, args.name, is_events)
        path = path or _path_beside(args.from_file)
        is_document = "multiline" in map(str.lower, options) and fmt == "json"
        if fmt in ("csv", "json") and not is_document and has_open_end(args.from_file, options):
            guards = {"unfinished_file": None}
    rules_given, wrong = _rules(args.rule)
    problems += wrong
    columns, more = with_roles(columns, {role: getattr(args, role) for role in ROLES})
    problems += more
    columns = _with_untracked_index(columns)
    names = renamed(columns)
    for rule in rules_given.values():
        rule["condition"] = with_own_names(str(rule["condition"]), names)
    if args.events_format and not rules()[0]._is_message_format(args.events_format):
        events |= {
            name: _with_own_names(value, names)
            for name, value in events.items()
            if name in NAMING_COLUMNS
        }
    entity = Entity(
        name=args.name,
        columns=columns,
        load_type=args.load_type,
        deleted_when=with_own_names(args.deleted_when, names) if args.deleted_when else None,
        keyless=args.keyless,
        format=fmt,
        path=path,
        date_column=args.date_column,
        options=options,
        business_date_type=args.business_date_type,
        description=args.description,
        events=events,
        rules=rules_given,
        guards=guards,
        extra=_flat(args.extra),
        validity=args.validity,
        relation=args.relation,
    )
    if not columns and not problems:
        problems.append("there are no columns: give --columns or --from-file")
    problems += problems_of(entity)
    if problems:
        lines = [f"  - {problem}" for problem in dict.fromkeys(problems)]
        lines += [f"  {told}" for told in _renamed_text(args, columns)]
        lines += [f"  {guess}" for guess in dict.fromkeys(guesses(entity, source_types.names()))]
        raise UsageError(
            "\n".join([f"The entity {args.name!r} was not written:", *lines]),
            "Correct the options.\nspark-cdc new --help",
        )
    return entity


def _with_untracked_index(columns: Sequence[Column]) -> list[Column]:
    """Return columns in which pandas' index makes no updates, unless it has another role."""
    made = []
    for column in columns:
        if column.role is None and PANDAS_INDEX.fullmatch(column.source or column.name):
            print(
                f"{column.source or column.name} is pandas' index, which follows the row's"
                " position: it is untracked. to_parquet(…, index=False) leaves it out.",
                file=sys.stderr,
            )
            column = replace(column, role="untracked")
        made.append(column)
    return made


def _with_own_names(value: Any, names: Mapping[str, str]) -> Any:
    """Return a setting of events that names columns, with their names here."""
    if isinstance(value, Mapping):
        return {
            names.get(str(one).lower(), one): _with_own_names(value[one], names) for one in value
        }
    if isinstance(value, list):
        return [_with_own_names(one, names) for one in value]
    return names.get(value.lower(), value) if isinstance(value, str) else value


def _renamed_text(args: argparse.Namespace, columns: Sequence[Column]) -> list[str]:
    """Return which columns of a sample or a list have another name here, and why; lines of text."""
    given = {} if args.columns is not None else {c.name: c.source or c.name for c in columns}
    given = {name: source for name, source in given.items() if source.lower() != name}
    if not given:
        return []
    pairs = ", ".join(f"{source!r} is {name}" for name, source in given.items())
    told = [f"Columns with another name here: {pairs}; options take either name."]
    plain = [name.removeprefix("source_") for name in given]
    is_events = args.load_type == "events"
    if taken := [name for name in plain if own_name(name, is_events) in set(given) - {name}]:
        told.append(f"spark_cdc has columns of its own called {', '.join(taken)}.")
    return told


def _personal(entity: Entity) -> list[str]:
    """Return that columns look personal and are open to every reader of the views."""
    names = [
        column.name
        for column in entity.columns
        if PERSONAL.search(column.name) and not column.sensitive and column.role != "control"
    ]
    if not names:
        return []
    looks = "looks" if len(names) == 1 else "look"
    return [
        f"{', '.join(names)} {looks} personal. To show a mask to all but its readers, set"
        " sensitive: true in its meta before the first load (docs/sensitive.md)."
    ]


def _noted_types(entity: Entity) -> list[str]:
    """Return what a reader has to know of the types of a list; columns with one note together."""
    notes: dict[tuple[str, str], list[str]] = {}
    for column in entity.columns:
        if column.comment:
            notes.setdefault((column.data_type, column.comment), []).append(column.name)
    return [f"{', '.join(names)} as {kind}: {text}." for (kind, text), names in notes.items()]


def _default_format(args: argparse.Namespace) -> str:
    """JSON for events that are JSON documents or were flattened from them, else CSV."""
    name = args.events_format
    if not name or rules()[0]._adapter(name) is None:
        return "csv"
    return "json" if name == "debezium_flat" or rules()[0]._is_message_format(name) else "csv"


def _rules(given: Sequence[str]) -> tuple[dict[str, dict[str, object]], list[str]]:
    """Return the rules of the command line, and what is wrong with them."""
    made: dict[str, dict[str, object]] = {}
    problems = []
    for text in given:
        name, equals, condition = text.partition("=")
        if not equals or name.strip() in made:
            what = "is not NAME=SQL" if not equals else "comes twice"
            problems.append(f"--rule {text!r} {what}: write it like paid='amount >= 0'")
        made[name.strip()] = {"condition": condition.strip()}
    return made, problems


def _options(args: argparse.Namespace) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    problems = []
    if args.delimiter is not None:
        options["sep"] = args.delimiter.replace("\\t", "\t")
    for text in args.option:
        name, equals, value = text.partition("=")
        if not equals:
            problems.append(f"--option is {text!r}; accepted is NAME=VALUE: correct it")
        else:
            options[name.strip()] = value
    return options, problems


def _events(args: argparse.Namespace) -> tuple[dict[str, object], list[str]]:
    """The settings below `events`, and what is wrong with the options."""
    given: dict[str, object] = {"format": args.events_format, "operation": args.operation}
    given |= {"order": args.order, "tie_breaker": args.tie_breaker}
    problems = []
    for text in args.event_setting:
        name, equals, value = text.partition("=")
        try:
            given[name.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            equals = ""
        if not equals or given.get(name.strip()) is None:
            problems.append(
                f"--event-setting is {text!r}; accepted is NAME=VALUE, with a value in YAML: "
                "correct it"
            )
    given["insert_only"] = args.insert_only or given.get("insert_only")
    keeps_all = args.archive or any(kind in ARCHIVE_MODELS for kind in _flat(args.extra))
    given["archive"] = keeps_all or given.get("archive")
    return {
        name: value for name, value in given.items() if value not in (None, [], False)
    }, problems


def _format_of(path: Path) -> str:
    """What the endings of a file's name say (x.csv.gz is CSV), or an empty text."""
    formats = {name: name for name in (*SAMPLE_FORMATS, "avro")}
    formats |= {"tsv": "csv", "jsonl": "json", "ndjson": "json"}
    endings = [suffix[1:].lower() for suffix in reversed(path.suffixes)]
    return next((formats[ending] for ending in endings if ending in formats), "")


def _path_beside(sample: Path) -> str | None:
    """The sample's folder with the date in it replaced, relative to the project if it is inside."""
    folder = sample.resolve() if sample.is_dir() else sample.resolve().parent
    root = project.root() if project.is_here() else Path.cwd()
    text = str(folder.relative_to(root) if folder.is_relative_to(root) else folder)
    found = re.sub(_DATE, "{business_date}", text)
    return found if found != text else None
