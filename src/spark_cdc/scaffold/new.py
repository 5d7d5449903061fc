"""`spark-cdc new`: the folder of a new entity, of many, or what an entity of a sample lacks."""

from __future__ import annotations

import argparse
import datetime
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from spark_cdc import console, dbt_runner, parsing, project
from spark_cdc.errors import UsageError
from spark_cdc.kinds import (
    ARCHIVE_MODELS,
    EVENT_FORMATS,
    SAMPLE_FORMATS,
    SOURCE_FORMATS,
)
from spark_cdc.macro_rules import rules
from spark_cdc.scaffold import (
    files,
    many,
    overview,
    snapshots,
    source_types,
    update,
)
from spark_cdc.scaffold.columns import parse_columns, with_roles
from spark_cdc.scaffold.entity import (
    ROLES,
    Column,
    Entity,
    guesses,
    own_name,
    path_of,
    problems_of,
    renamed,
    with_own_names,
    words_of_sql,
)
from spark_cdc.scaffold.sample import has_open_end, read_sample

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
        help="full loads of a table without a key: all columns identify a row",
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
        for entity, notes in snapshots.entities_of(args, entity_of):
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
        return update.run(args.name, dry_run=args.dry_run)
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
        for file, text in files.render(entity).items():
            print(f"# --- {entity.name}/{file}\n{text}")
        return
    target = files.write(entity, args.directory or project.models_folder())
    names = ", ".join(sorted(path.name for path in target.iterdir()))
    print("\n".join([f"Wrote {target}: {names}", *told]))
    _write_overview()
    print("\n".join(_next_steps(entity, args.from_file)))


def _write_overview() -> None:
    """Give dbt docs a first page, unless the project has one."""
    if overview.is_missing():
        root = project.root()
        page = (project.models_folder() / overview.FILE).relative_to(root)
        text = files.template("overview.md.jinja").render(project=root.name, file=page.as_posix())
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
    entities = many.entities_of(args, entity_of)
    directory = args.directory or project.models_folder()
    fresh = [entity for entity in entities if not (directory / entity.name).exists()]
    for entity in fresh:
        if args.dry_run:
            print(f"# --- {entity.name}\n{files.render_yaml(entity)}")
        else:
            files.write(entity, directory)
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
