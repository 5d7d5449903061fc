"""Write the folder of a new entity: its YAML and its models of one line each."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from spark_cdc import project
from spark_cdc.errors import SparkCdcError
from spark_cdc.synthetic.session import open_session

FORMATS = ("csv", "json", "parquet", "orc", "avro", "table")
LOAD_TYPES = ("full", "delta", "events")
BUSINESS_DATE_TYPES = ("date", "timestamp")
ROLES = ("key", "ignore", "control")
BINARY_FORMATS = ("base64", "hex", "utf8")
TIME_ENCODINGS = ("days", "seconds", "millis", "micros", "nanos")

# Names of the project's own columns; the macro technical_columns() has the same list.
RESERVED_COLUMNS = (
    "key_hash",
    "nonkey_hash",
    "ignored_hash",
    "operation",
    "eff_start_date",
    "eff_end_date",
    "is_current",
    "business_date",
    "load_id",
    "note",
    "is_deleted",
    "in_base",
    "in_log",
    "in_last_load",
    "carried_operation",
    "squashed_load_ids",
    "landing_problem",
    "is_rejected",
    "recency",
    "rejected_columns",
    "rejected_reason",
    "rejected_row",
    "repeated_key_hash",
    "repeated_rows",
)
# Those that only change-event entities have.
RESERVED_EVENT_COLUMNS = (
    "event_op",
    "event_position",
    "event_transaction",
    "event_time",
    "event_hash",
    "event_before",
    "event_after",
    "event_problem",
    "event_absent",
    "event_unavailable",
    "event_unexpected",
    "event_end_position",
    "event_end_time",
    "old_key_hash",
    "old_alternate_hash",
    "alternate_hashes",
    "landing_names",
    "final_position",
)
RESERVED_ENTITIES = ("landing", "spark_cdc", "cdc_loads", "operations", "technical_columns")
MODELS = ("ledger", "committed", "current", "history", "versions", "rejects")
EVENT_MODELS = ("events", "event_versions")

# Formats of change events: those of columns, and those of JSON documents.
COLUMN_EVENT_FORMATS = ("delta_cdf", "dms", "flagged_rows", "iceberg_changelog", "sqlserver_cdc")
MESSAGE_EVENT_FORMATS = (
    "canal",
    "change_arrays",
    "debezium",
    "debezium_flat",
    "goldengate",
    "maxwell",
    "wal2json",
)
EVENT_FORMATS = tuple(sorted(COLUMN_EVENT_FORMATS + MESSAGE_EVENT_FORMATS))

_SIMPLE_TYPES = (
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "string",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
)
_ACCEPTED_TYPES = (
    ", ".join(_SIMPLE_TYPES) + ", decimal(p,s), array<type>, struct<name:type, ...>, map<type,type>"
)
# Reader options that the macros set themselves.
_OWN_OPTIONS = (
    "path",
    "mode",
    "inferschema",
    "enforceschema",
    "columnnameofcorruptrecord",
    "recursivefilelookup",
)
_OTHER_NAMES = {
    "integer": "int",
    "long": "bigint",
    "short": "smallint",
    "byte": "tinyint",
    "text": "string",
    "varchar": "string",
    "char": "string",
    "uuid": "string",
    "real": "float",
    "float8": "double",
    "numeric": "decimal(18,2)",
    "number": "decimal(18,2)",
    "decimal": "decimal(18,2)",
    "bool": "boolean",
    "datetime": "timestamp",
    "bytes": "binary",
}
_WIDTH = 100
_MISSING_COLUMNS = ("event_absent", "event_unavailable", "event_unexpected")


@dataclass(frozen=True)
class Column:
    """A column as the YAML has it; `source` is its name in the file, `format` a pattern."""

    name: str
    data_type: str
    role: str | None = None
    required: bool = False
    source: str | None = None
    format: str | None = None
    description: str | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class Entity:
    """Everything that the YAML of an entity says; `events` are the settings of change events."""

    name: str
    columns: Sequence[Column]
    load_type: str = "full"
    deleted_when: str | None = None
    format: str = "csv"
    path: str | None = None
    date_column: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    business_date_type: str = "date"
    description: str | None = None
    events: Mapping[str, object] = field(default_factory=dict)
    event_versions: bool = False


# --- what is accepted ---------------------------------------------------------


def problems_of(entity: Entity) -> list[str]:
    """All that is wrong with an entity: what was found, what is accepted, what to do."""
    return _name_problems(entity.name) + _setting_problems(entity) + _column_problems(entity)


def _name_problems(name: str) -> list[str]:
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or len(name) > 80:
        return [
            f"the name is {name!r}; accepted are up to 80 lower-case letters, digits and single _ "
            f"between them, such as order_lines: {_rename(name)}"
        ]
    if name in RESERVED_ENTITIES:
        return [f"the name '{name}' is used by spark_cdc itself: choose another one"]
    suffixes = (*EVENT_MODELS, *MODELS)
    taken = [suffix for suffix in suffixes if name.endswith(f"_{suffix}")]
    if name.startswith("stg_") or taken:
        affix = f"_{taken[0]}" if taken else "stg_"
        return [
            f"the name '{name}' has the affix {affix}, from which spark_cdc tells the models of an "
            "entity apart: choose another one"
        ]
    return []


def _rename(name: str) -> str:
    plain = identifier(name)
    return f"call it {plain}" if plain else "choose another one"


def _choice(label: str, value: str, accepted: Sequence[str]) -> list[str]:
    if value in accepted:
        return []
    close = difflib.get_close_matches(value, accepted, 1)
    step = f"did you mean {close[0]}?" if close else "choose one of them"
    return [f"{label} is '{value}'; accepted are {', '.join(accepted)}: {step}"]


def _setting_problems(entity: Entity) -> list[str]:
    problems = _choice("load type", entity.load_type, LOAD_TYPES)
    problems += _choice("format", entity.format, FORMATS)
    problems += _choice("business date type", entity.business_date_type, BUSINESS_DATE_TYPES)
    if entity.deleted_when is not None:
        if entity.load_type == "full":
            problems.append(
                "deleted-when is given, but the load type is full, where a key that is missing "
                "counts as deleted: leave it out or give --load-type delta"
            )
        elif entity.load_type == "events":
            problems.append(
                "deleted-when is given, but the load type is events, where each event says what "
                "it does: leave it out"
            )
        words = {word.lower() for word in _words_of_sql(entity.deleted_when)}
        if not words & {column.name.lower() for column in entity.columns}:
            problems.append(
                f"deleted-when is {entity.deleted_when!r}, which names none of the columns: write "
                "a condition over them, such as \"op = 'D'\", and declare its columns "
                "(op:string:control)"
            )
    problems += _event_problems(entity)
    if entity.format == "table":
        if not entity.date_column:
            problems.append(
                "format is table, but no date column is given: name the one that holds the "
                "business date with --date-column"
            )
        if not re.fullmatch(r"[^.\s]+\.[^.\s]+", entity.path or ""):
            problems.append(
                f"path is '{entity.path or ''}'; accepted for tables are schema and table, such as "
                "staging.orders: correct --path"
            )
    else:
        if entity.date_column:
            problems.append(
                f"a date column is given, but the format is {entity.format}: leave it out"
            )
        if not re.search(r"\{business_date(:[^{}]*)?\}", path_of(entity)):
            problems.append(
                f"path is '{entity.path}', without a business date; accepted are paths such as "
                f"landing/{entity.name}/{{business_date}} or landing/{entity.name}/"
                "{business_date:%Y/%m/%d}: correct --path"
            )
    for option in entity.options:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.]*", option) or option.lower() in _OWN_OPTIONS:
            problems.append(
                f"the option '{option}' is set by spark_cdc itself or is no option of a Spark "
                "reader: leave it out"
            )
    return problems


def _event_problems(entity: Entity) -> list[str]:
    if entity.load_type != "events":
        if entity.events or entity.event_versions:
            return [
                f"options for change events are given, but the load type is {entity.load_type}: "
                "leave them out or give --load-type events"
            ]
        return []
    events, problems = entity.events, []
    event_format = str(events.get("format") or "")
    accepted = (*EVENT_FORMATS, *_own_event_formats())
    if not event_format:
        problems.append(
            f"the format of the events is missing; accepted are {', '.join(accepted)}: give "
            "--events-format"
        )
    else:
        problems += _choice("events format", event_format, accepted)
    if event_format in MESSAGE_EVENT_FORMATS and entity.format == "csv":
        problems.append(
            f"format is csv, but events of the format {event_format} are JSON documents: give "
            "--format json, or the format whose column `value` holds them"
        )
    known = {column.name.lower() for column in entity.columns}
    for setting in ("order", "tie_breaker"):
        for name in _names(events.get(setting)):
            if name.lower() not in known:
                problems.append(
                    f"{setting.replace('_', '-')} names '{name}', which is no column: declare it "
                    f"({name}:bigint:control) or correct the name"
                )
    if event_format == "flagged_rows":
        for setting in ("operation", "order"):
            if not events.get(setting):
                problems.append(
                    f"events of the format flagged_rows need --{setting}: name the "
                    + ("column of the flag" if setting == "operation" else "columns that sort them")
                )
    if event_format == "dms" and not (events.get("timestamp_column") or events.get("order")):
        problems.append(
            "events of the format dms need their order: name the column of TimestampColumnName "
            "with --event-setting timestamp_column=NAME, or give --order"
        )
    return problems


def _names(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []


def _own_event_formats() -> list[str]:
    """Formats for which the project has a macro of its own."""
    if not _in_project():
        return []
    paths = (project.root() / "macros").rglob("events_*.sql")
    names = {path.stem.removeprefix("events_") for path in paths}
    return sorted(names - set(EVENT_FORMATS))


def _words_of_sql(condition: str) -> list[str]:
    without_texts = re.sub(r"'(?:[^'\\]|\\.|'')*'", " ", condition)
    return re.findall(r"[A-Za-z_][A-Za-z0-9_]*", without_texts)


def _column_problems(entity: Entity) -> list[str]:
    problems: list[str] = []
    seen: dict[str, str] = {}
    origins: dict[str, str] = {}
    is_events = entity.load_type == "events"
    reserved = (*RESERVED_COLUMNS, *(RESERVED_EVENT_COLUMNS if is_events else ()))
    for column in entity.columns:
        label = f"column {column.name!r}"
        folded = column.name.lower()
        origin = (column.source or column.name).lower()
        if folded in reserved or (is_events and re.match("(step|old|filled|prior)__", folded)):
            problems.append(
                f"{label} has a name that spark_cdc uses for a column of its own: call it "
                f"source_{folded} and say from={column.name}"
            )
        elif not re.fullmatch(r"[a-z_][a-z0-9_]*", column.name) or len(column.name) > 128:
            plain = identifier(column.name) or "something else"
            problems.append(
                f"{label} is not up to 128 lower-case letters, digits and _: call it {plain} and "
                f"say from={column.name}"
            )
        elif "__cdc" in folded or folded == f"stg_{entity.name}":
            problems.append(f"{label} has a name that spark_cdc uses: choose another one")
        if folded in seen:
            how = "come twice" if seen[folded] == column.name else "differ only by case"
            problems.append(
                f"the columns {seen[folded]!r} and {column.name!r} {how}; Spark can't tell them "
                "apart: rename one of them"
            )
        elif origin in origins:
            problems.append(
                f"the columns {origins[origin]!r} and {column.name!r} both come from {origin!r}: "
                "correct from= of one of them"
            )
        seen.setdefault(folded, column.name)
        origins.setdefault(origin, column.name)
        problems += _type_problems(label, column, entity.format)
    needs_key = not (is_events and entity.events.get("insert_only"))
    if needs_key and entity.columns and not any(column.role == "key" for column in entity.columns):
        problems.append(
            "no column is a key: mark those that identify a row (order_id:bigint:key, or --key)"
        )
    if not entity.columns:
        problems.append("there are no columns: give --columns or --from-file")
    return problems


def _type_problems(label: str, column: Column, file_format: str) -> list[str]:
    problems = []
    found = column.data_type
    if not is_type(found):
        word = re.split(r"[(<]", found)[0].strip().lower()
        close = difflib.get_close_matches(word, _SIMPLE_TYPES, 1)
        guess = _OTHER_NAMES.get(word) or (close[0] if close else None)
        problems.append(
            f"{label} has the type '{found}'; accepted are {_ACCEPTED_TYPES}: "
            + (f"did you mean {guess}?" if guess else "choose one of them")
        )
    elif file_format == "csv" and re.match(r"(array|struct|map)\s*<", found, re.I):
        problems.append(
            f"{label} has the type {found}, which CSV can't hold: declare it string, or land the "
            "data as json, parquet, orc or avro"
        )
    if column.format is not None:
        if found == "binary":
            problems += _choice(f"{label}: format", column.format, BINARY_FORMATS)
        elif found not in ("date", "timestamp", "timestamp_ntz"):
            problems.append(
                f"{label} has a format, but the type {found}; accepted are formats of dates, "
                "timestamps and binary: leave it out"
            )
    if column.encoding is not None:
        if found.startswith("decimal"):
            problems += _choice(f"{label}: encoding", column.encoding, ("base64",))
        elif found in ("date", "timestamp", "timestamp_ntz"):
            problems += _choice(f"{label}: encoding", column.encoding, TIME_ENCODINGS)
        else:
            problems.append(
                f"{label} has an encoding, but the type {found}; accepted are encodings of dates, "
                "timestamps and decimals: leave it out"
            )
        if column.format is not None:
            problems.append(f"{label} has a format and an encoding: leave one of them out")
    return problems


def is_type(text: str) -> bool:
    """Whether a text is a data type that an entity may declare."""
    text = text.strip()
    lower = text.lower()
    if lower in _SIMPLE_TYPES:
        return True
    if match := re.fullmatch(r"decimal\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)", lower):
        precision, scale = int(match[1]), int(match[2] or 0)
        return 1 <= precision <= 38 and scale <= precision
    if match := re.fullmatch(r"(array|struct|map)\s*<(.*)>", text, re.I | re.S):
        parts = split_outside(match[2], ",")
        if match[1].lower() == "array":
            return len(parts) == 1 and is_type(parts[0])
        if match[1].lower() == "map":
            return len(parts) == 2 and all(is_type(part) for part in parts)
        members = [split_outside(part, ":", 1) for part in parts]
        return all(
            len(member) == 2
            and re.fullmatch(r"\s*([A-Za-z_]\w*|`[^`]+`)\s*", member[0]) is not None
            and is_type(member[1])
            for member in members
        )
    return False


def split_outside(text: str, separator: str, limit: int = -1) -> list[str]:
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
        elif character == separator and depth == 0 and limit != len(parts) - 1:
            parts.append("")
            continue
        parts[-1] += character
    return parts


def identifier(text: str) -> str:
    """A plain column name: 'Order No.' and 'orderNo' become order_no."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    plain = re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")
    return f"c_{plain}" if plain[:1].isdigit() else plain


# --- columns from the command line and from a sample --------------------------


def parse_columns(text: str) -> tuple[list[Column], list[str]]:
    """Columns of "name:type[:role][:required][:from=...][:format=...], ...", and what is wrong.

    A word `encoding=...` is accepted, too.
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
            elif label == "from" and value:
                column = replace(column, source=_unquoted(value))
            elif label == "encoding" and value:
                column = replace(column, encoding=value)
            elif label == "format" and value:
                column = replace(column, format=_unquoted(value))
            else:
                problems.append(
                    f"column {name!r} has the unknown word {word!r}; accepted are "
                    f"{', '.join(ROLES)}, required, from=NAME, encoding=NAME and format=PATTERN: "
                    "correct it"
                )
        columns.append(column)
    return columns, problems


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def read_sample(
    path: Path, file_format: str, options: Mapping[str, str]
) -> tuple[list[Column], list[str]]:
    """Columns of a sample file with the types that Spark infers, and what is wrong with them.

    Whole numbers in text become bigint, because the next file may hold larger ones; numbers with
    leading zeros stay text.
    """
    with open_session(None, "1g") as spark:
        source = f"file://{path.resolve()}"
        if file_format == "csv":
            options = {"nullValue": "\\N", **options}  # as the macro land() reads it
        reader = spark.read.options(**options)
        names: list[str] = []
        if file_format == "csv":
            has_header = str(options.get("header", "true")).lower() == "true"
            plain = spark.read.options(**{**options, "header": "false"}).csv(source)
            first = plain.first()
            if has_header and first is not None:
                names = [value or "" for value in first]
            frame = reader.options(header=has_header, inferSchema=True).csv(source)
        elif file_format == "json":
            frame = reader.options(inferTimestamp=True).json(source)
        else:
            frame = reader.format(file_format).load(source)
        types = {item.name: item.dataType.simpleString() for item in frame.schema}
        if file_format == "csv" and names and len(set(names)) == len(names) == len(types):
            types = dict(zip(names, types.values(), strict=True))
            texts = reader.options(header=True, inferSchema=False).csv(source)
            types = _without_leading_zeros(types, texts)
    problems = []
    if not types or (file_format == "csv" and first is None):
        problems.append(f"{path} has no columns: give a sample with a header and some rows")
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.append(
            f"{path} has the column {name!r} {names.count(name)} times: give each its own name"
            if name
            else f"{path} has a column without a name: give it one"
        )
    return [_sampled(name, data_type, file_format) for name, data_type in types.items()], problems


def _without_leading_zeros(types: Mapping[str, str], texts: object) -> dict[str, str]:
    numeric = [
        (position, name)
        for position, (name, data_type) in enumerate(types.items())
        if re.match(r"(int|bigint|double|decimal)", data_type)
    ]
    if not numeric:
        return dict(types)
    named = texts.toDF(*(f"c{position}" for position in range(len(types))))  # type: ignore[attr-defined]
    padded = named.selectExpr(
        *(f"coalesce(bool_or(c{i} rlike '^ *[+-]?0[0-9]'), false) as c{i}" for i, _ in numeric)
    ).first()
    return {
        **types,
        **{name: "string" for i, name in numeric if padded is not None and padded[f"c{i}"]},
    }


def _sampled(name: str, data_type: str, file_format: str) -> Column:
    plain = identifier(name)
    if plain in RESERVED_COLUMNS:
        plain = f"source_{plain}"
    if re.match(r"(var)?char\(|void$|null$", data_type):
        data_type = "string"
    if file_format == "csv" and data_type == "int":
        data_type = "bigint"
    return Column(plain, data_type, source=name if name != plain else None)


def with_roles(
    columns: Sequence[Column], roles: Mapping[str, Sequence[str]]
) -> tuple[list[Column], list[str]]:
    """The columns with the roles that the options --key, --ignore and --control give them."""
    problems = []
    result = list(columns)
    for role, names in roles.items():
        for name in names:
            matches = [i for i, c in enumerate(result) if name in (c.name, c.source)]
            if not matches:
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


def path_of(entity: Entity) -> str:
    """Where the files of a business date lie; by default below landing/."""
    placeholder = (
        "{business_date}"
        if entity.business_date_type == "date"
        else "{business_date:%Y/%m/%d/%H%M}"
    )
    return entity.path or f"landing/{entity.name}/{placeholder}"


def render(entity: Entity) -> dict[str, str]:
    """The files of an entity: file name -> text."""
    name = entity.name
    files = {f"{name}.yml": render_yaml(entity), f"stg_{name}.sql": "{{ spark_cdc.stage() }}\n"}
    for model in models_of(entity):
        arguments = "events=true" if (model, entity.load_type) == ("ledger", "events") else ""
        files[f"{name}_{model}.sql"] = "{{ spark_cdc." + model + "(" + arguments + ") }}\n"
    return files


def models_of(entity: Entity) -> tuple[str, ...]:
    """The kinds of an entity's models, without stg_."""
    if entity.load_type != "events":
        return MODELS
    return ("events", *MODELS, *(["event_versions"] if entity.event_versions else []))


def render_yaml(entity: Entity) -> str:
    """The YAML of an entity. Texts are quoted where they must be, also against Jinja."""
    name = entity.name
    title = name.replace("_", " ")
    declared = [column.name for column in entity.columns]
    stored = [column.name for column in entity.columns if column.role != "control"]
    ignored = ["ignored_hash-binary"] if any(c.role == "ignore" for c in entity.columns) else []
    hashes = ["key_hash-binary", "nonkey_hash-binary", *ignored]
    state = ["key_hash", "nonkey_hash", "operation", "eff_start_date"]
    partition = ["business_date", "load_id", "operation"]
    flags = ["in_base", "in_log", "in_last_load", "carried_operation", "squashed_load_ids"]
    arrived = entity.description or f"{title.capitalize()} as they arrived."
    staged = f"What came in for {title} on a business date, typed and hashed."
    position = ["event_position"] if entity.load_type == "events" else []
    keys = [column.name for column in entity.columns if column.role == "key"]
    history_key = "business_date" if entity.business_date_type == "date" else "eff_start_date"

    lines = [
        "version: 2",
        "",
        "# Every column is described once, here; sources and models name it.",
        "anchors:",
    ]
    for column in entity.columns:
        lines += _column_lines(column)
    lines += ["", "  # Columns that spark_cdc adds"]
    lines += _technical_lines(entity, bool(ignored))
    lines += [
        "",
        "sources:",
        "  - name: landing",
        "    description: What the source systems sent, as it arrived.",
        *_source_lines(entity),
        "    tables:",
        f"      - name: {_text(name)}",
        *(
            [f"        identifier: {_text((entity.path or '').split('.')[-1])}"]
            if entity.format == "table"
            else []
        ),
        f"        description: {_text(arrived)}",
        *_column_list(declared, 8),
        "",
        "models:",
        f"  - &stg_{name}",
        f"    name: stg_{name}",
        f"    description: {_text(staged)}",
        "    config:",
        "      meta:",
        "        spark_cdc:",
        *_setting_lines(entity),
        *_column_list(declared, 4),
    ]

    def model(kind: str, description: str, columns: list[str], tests: list[str]) -> None:
        lines.extend(
            ["", f"  - name: {name}_{kind}", f"    description: {_text(description)}"]
            + _column_list(columns, 4)
            + (["    data_tests:", *(f"      {line}" for line in tests)] if tests else [])
        )

    def unique(columns: str) -> list[str]:
        return [
            "- dbt_utils.unique_combination_of_columns:",
            f"    arguments: {{combination_of_columns: [{columns}]}}",
        ]

    def accepted(codes: str) -> list[str]:
        return ["- spark_cdc.accepted_operations:", f"    arguments: {{operations: {codes}}}"]

    if entity.load_type == "events":
        model(
            "events",
            f"The change events of {title}, load by load: typed, judged, not yet resolved.",
            _event_columns(entity, keys, stored),
            [],
        )
    model(
        "ledger",
        f"All loads of {title}, committed or not; read the views instead.",
        [*stored, *hashes, "eff_start_date", *position, "note", *partition],
        [],
    )
    model(
        "committed",
        f"The rows of {title} that count. Its text names the loads: altering it commits one.",
        [*stored, *hashes, "eff_start_date", *position, *partition, *flags],
        ["- spark_cdc.loads_reconcile"],
    )
    model(
        "current",
        f"{title.capitalize()} now: one row per key.",
        [*stored, *state],
        [
            *unique("key_hash"),
            *accepted("[I, U, N, X]"),
            *(["- spark_cdc.keys_not_null", "- spark_cdc.hashes_match"] if keys else []),
        ],
    )
    model(
        "history",
        f"Every change of {title}: inserted, updated and deleted rows, load by load.",
        [*stored, *state, "business_date"],
        [*unique(f"key_hash, {history_key}"), *accepted("[I, U, D]")],
    )
    model(
        "versions",
        f"Every version of {title} with the time for which it held (slowly changing, type 2).",
        [*stored, *state, "eff_end_date", "is_current"],
        ["- spark_cdc.intervals_valid"],
    )
    rejected = ["rejected_columns", "rejected_reason", "rejected_row"]
    model(
        "rejects",
        f"Rows of {title} that could not be accepted, of the loads that count.",
        [*keys, "key_hash", *rejected, "business_date", "load_id"],
        [],
    )
    if entity.event_versions:
        model(
            "event_versions",
            f"Every version of {title}, event by event, in the order and time of the source.",
            [
                *(*stored, "key_hash", "event_op", "event_position", "event_end_position"),
                *("event_time", "event_end_time", "is_current", "event_transaction"),
                *("business_date", "load_id"),
            ],
            unique("key_hash, event_position"),
        )
    return "\n".join(lines) + "\n"


def _event_columns(entity: Entity, keys: Sequence[str], stored: Sequence[str]) -> list[str]:
    """The columns of <entity>_events in order, as the macro _event_columns() has them."""
    names = ["event_op", "event_position", "event_transaction", "event_time", "event_hash"]
    names.append("key_hash-binary")
    if keys:
        names.append("old_key_hash")
    if entity.events.get("unique_keys"):
        names += ["old_alternate_hash", "alternate_hashes"]
    names += [f"old__{key}" for key in keys] + list(stored)
    return [*names, *_MISSING_COLUMNS, "note", "business_date", "load_id"]


def _column_lines(column: Column) -> list[str]:
    meta: dict[str, object] = {}
    if column.role:
        meta["role"] = column.role
    if column.required and column.role != "key":
        meta["nullable"] = False
    if column.source and column.source != column.name:
        meta["from"] = column.source
    if column.format:
        meta["format"] = column.format
    if column.encoding:
        meta["encoding"] = column.encoding
    lines = [
        f"  - &{column.name}",
        f"    name: {_text(column.name)}",
        f"    data_type: {_text(column.data_type)}",
        f"    description: {_text(column.description or describe(column))}",
    ]
    if meta:
        members = ", ".join(f"{key}: {_text(value, flow=True)}" for key, value in meta.items())
        lines.append(f"    config: {{meta: {{{members}}}}}")
    return lines


def describe(column: Column) -> str:
    """A neutral description made of the name and the role."""
    words = {
        "id": "ID",
        "op": "operation",
        "no": "number",
        "nr": "number",
        "qty": "quantity",
        "ts": "time",
    }
    text = " ".join(words.get(word, word) for word in column.name.split("_") if word)
    text = text[:1].upper() + text[1:]
    notes = {
        "key": "part of the key",
        "ignore": "travels along, a change of it makes no update",
        "control": "read from the source, not stored",
    }
    return f"{text}; {notes[column.role]}." if column.role else f"{text}."


def _technical_lines(entity: Entity, has_ignored: bool) -> list[str]:
    eff_type = "date" if entity.business_date_type == "date" else "timestamp_ntz"
    columns = [
        ("key_hash", "string"),
        ("nonkey_hash", "string"),
        ("operation", "string"),
        ("eff_start_date", eff_type),
        ("eff_end_date", eff_type),
        ("is_current", "boolean"),
        ("key_hash-binary", "binary"),
        ("nonkey_hash-binary", "binary"),
        *([("ignored_hash-binary", "binary")] if has_ignored else []),
        ("note", "string"),
        ("business_date", "date"),
        ("load_id", "string"),
        ("in_base", "boolean"),
        ("in_log", "boolean"),
        ("in_last_load", "boolean"),
        ("carried_operation", "string"),
        ("rejected_columns", "string"),
        ("rejected_reason", "string"),
        ("rejected_row", "string"),
        ("squashed_load_ids", "array<string>"),
        *(_event_technical_columns(entity) if entity.load_type == "events" else []),
    ]
    lines = []
    for anchor, data_type in columns:
        name = anchor.removesuffix("-binary")
        described = f"\"{{{{ doc('spark_cdc_{name}') }}}}\""
        lines.append(
            f"  - &{anchor} {{name: {name}, data_type: {data_type}, description: {described}}}"
        )
    if entity.load_type == "events":
        for column in entity.columns:
            if column.role == "key":
                name = f"old__{column.name}"
                lines += [
                    f"  - &{name}",
                    f"    name: {name}",
                    f"    data_type: {_text(column.data_type)}",
                    f"    description: {column.name} before the event, where the event says it.",
                ]
    return lines


def _event_technical_columns(entity: Entity) -> list[tuple[str, str]]:
    has_key = any(column.role == "key" for column in entity.columns)
    columns = [
        ("event_op", "string"),
        ("event_position", "array<bigint>"),
        ("event_transaction", "string"),
        ("event_time", "timestamp"),
        ("event_hash", "bigint"),
        *([("old_key_hash", "binary")] if has_key else []),
    ]
    if entity.events.get("unique_keys"):
        columns += [("old_alternate_hash", "binary"), ("alternate_hashes", "array<binary>")]
    columns += [(name, "array<string>") for name in _MISSING_COLUMNS]
    if entity.event_versions:
        columns += [("event_end_position", "array<bigint>"), ("event_end_time", "timestamp")]
    return columns


def _source_lines(entity: Entity) -> list[str]:
    if entity.format != "table":
        return []
    return [f"    schema: {_text((entity.path or '').split('.')[0])}"]


def _setting_lines(entity: Entity) -> list[str]:
    lines = [f"load_type: {entity.load_type}"]
    if entity.deleted_when is not None:
        lines.append(f"deleted_when: {_text(entity.deleted_when)}")
    if entity.business_date_type != "date":
        lines.append(f"business_date_type: {entity.business_date_type}")
    if entity.events:
        lines.append("events:")
        lines += [f"  {key}: {_flow(value)}" for key, value in entity.events.items()]
    lines += ["source:", f"  format: {entity.format}"]
    if entity.format == "table":
        lines.append(f"  date_column: {_text(entity.date_column)}")
    else:
        lines.append(f"  path: {_text(path_of(entity), quoted=True)}")
    if entity.options:
        members = ", ".join(
            f"{key}: {_text(value, quoted=True)}" for key, value in entity.options.items()
        )
        lines.append(f"  options: {{{members}}}")
    return [f"          {line}" for line in lines]


def _column_list(names: Sequence[str], indent: int) -> list[str]:
    """`columns: [*a, *b]`, over several lines where one is too short."""
    start = " " * indent
    line = f"{start}columns: [{', '.join(f'*{name}' for name in names)}]"
    if len(line) <= _WIDTH:
        return [line]
    lines, current = [f"{start}columns: ["], f"{start} "
    for name in names:
        if len(current) + len(name) + 3 > _WIDTH:
            lines.append(current)
            current = f"{start} "
        current += f" *{name},"
    return [*lines, current, f"{start}]"]


def _flow(value: object, *, inner: bool = False) -> str:
    """A YAML value on one line: a scalar, a list or a mapping."""
    if isinstance(value, Mapping):
        # dbt reads back what it parsed before only where keys are texts
        names = [
            str(key).lower() if isinstance(key, bool) else "" if key is None else str(key)
            for key in value
        ]
        pairs = zip(names, value.values(), strict=True)
        members = [f"{_text(name, flow=True)}: {_flow(item, inner=True)}" for name, item in pairs]
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item, inner=True) for item in value) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return _text(value, flow=inner)


def _text(value: object, *, flow: bool = False, quoted: bool = False) -> str:
    """A YAML scalar on one line that dbt reads as this very value.

    Texts are plain where YAML and people read them alike. dbt renders Jinja in YAML: an opening
    brace of Jinja is written as an expression that gives it, and so is the last line break, which
    Jinja would drop.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    text = re.sub(r"\{(?=[{%#])", "{{ '{' }}", str(value))
    text = re.sub(r"\n\Z", r"{{ '\\n' }}", text)
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_ .;/()<>,%=+-]*", text) and not text.endswith(" ")
    if plain and not quoted and not (flow and "," in text):
        try:
            if yaml.safe_load(f"k: {text}") == {"k": text}:
                return text
        except yaml.YAMLError:
            pass
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=10**9).rstrip("\n")


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
        raise SparkCdcError(
            f"{taken[0]} is there already; nothing was written.",
            "Choose another name, or remove what is there first.",
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


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "new",
        help="write the models of a new entity",
        description="Write models/NAME: its YAML and its models.",
        epilog="Example: spark-cdc new orders --load-type delta --deleted-when \"op = 'D'\" "
        '--columns "order_id:bigint:key, line:int:key, status:string, exported_at:timestamp:ignore,'
        ' op:string:control"',
    )
    parser.add_argument("name", metavar="NAME", help="lower-case, such as order_lines")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--columns",
        metavar="LIST",
        help="name:type[:key|ignore|control][:required][:from=NAME][:encoding=NAME]"
        "[:format=PATTERN], ...",
    )
    what.add_argument(
        "--from-file", type=Path, metavar="FILE", help="a sample whose columns and types are read"
    )
    for role, meaning in (
        ("key", "columns that identify a row"),
        ("ignore", "columns whose change makes no update"),
        ("control", "columns that are read but not stored, such as a delete flag"),
    ):
        parser.add_argument(f"--{role}", default="", metavar="A,B", help=meaning)
    parser.add_argument("--load-type", default="full", help="full (default), delta or events")
    parser.add_argument("--deleted-when", metavar="SQL", help="delta: when a row is a delete")
    _add_event_options(parser.add_argument_group("change events (--load-type events)"))
    parser.add_argument(
        "--format", dest="fmt", help=f"{', '.join(FORMATS)} (default csv, or the sample's)"
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
    parser.add_argument("--directory", type=Path, help="default: models in the project")
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    parser.set_defaults(run=run)


def _add_event_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--events-format", metavar="FORMAT", help=", ".join(EVENT_FORMATS))
    group.add_argument("--operation", metavar="COLUMN", help="column that says what happened")
    group.add_argument("--order", default="", metavar="A,B", help="columns that sort the events")
    group.add_argument(
        "--tie-breaker", default="", metavar="A,B", help="columns that sort events of one place"
    )
    group.add_argument("--insert-only", action="store_true", help="no updates, no key needed")
    group.add_argument("--archive", action="store_true", help="keep the events of all loads")
    group.add_argument(
        "--event-versions",
        action="store_true",
        help="also a model of one interval per event (implies --archive)",
    )
    group.add_argument(
        "--event-setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another setting below events, in YAML, such as 'old_key={id: old_id}' (repeatable)",
    )


def run(args: argparse.Namespace) -> int:
    entity = entity_of(args)
    if args.dry_run:
        for file, text in render(entity).items():
            print(f"# --- {entity.name}/{file}\n{text}")
        return 0
    target = write(entity, args.directory or project.root() / "models")
    files = ", ".join(sorted(path.name for path in target.iterdir()))
    print(f"Wrote {target}: {files}")
    print("Read the YAML: are types, keys and descriptions right? Then land a day and load it:")
    if entity.format != "table":
        print(f"  files of a business date go to {path_of(entity)}")
    print(f"  dbt run --select {entity.name} --vars '{{business_date: 2019-06-19}}'")
    for column in entity.columns:
        words = _words_of_sql(entity.deleted_when or "")
        if column.role is None and column.name in words:
            print(
                f"Note: {column.name} stands in deleted-when and is compared too. If it only flags "
                f"the operation, give it the role control."
            )
    return 0


def entity_of(args: argparse.Namespace) -> Entity:
    """The entity that the options describe.

    Raises:
        SparkCdcError: with everything that is wrong.
    """
    options, problems = _options(args)
    default = "json" if args.events_format in MESSAGE_EVENT_FORMATS else "csv"
    fmt = args.fmt or (_format_of(args.from_file) if args.from_file else default)
    events, more = _events(args)
    problems += more
    path = args.path
    columns: list[Column] = []
    if args.columns is not None:
        columns, more = parse_columns(args.columns)
        problems += more
    elif not args.from_file.exists():
        problems.append(f"{args.from_file} is not there: correct --from-file")
    elif fmt not in ("csv", "json", "parquet", "orc"):
        problems.append(
            f"the format of {args.from_file} is '{fmt or 'unknown'}'; accepted are csv, json, "
            "parquet and orc: give --format"
        )
    else:
        columns, more = read_sample(args.from_file, fmt, options)
        problems += more
        path = path or _path_beside(args.from_file)
    roles = {
        role: [name.strip() for name in getattr(args, role).split(",") if name.strip()]
        for role in ROLES
    }
    columns, more = with_roles(columns, roles)
    problems += more
    entity = Entity(
        name=args.name,
        columns=columns,
        load_type=args.load_type,
        deleted_when=args.deleted_when,
        format=fmt,
        path=path,
        date_column=args.date_column,
        options=options,
        business_date_type=args.business_date_type,
        description=args.description,
        events=events,
        event_versions=args.event_versions,
    )
    problems += problems_of(entity)
    if problems and not columns:
        problems = [
            problem for problem in problems if "there are no columns" not in problem
        ] or problems
    if problems:
        raise SparkCdcError(
            f"The entity {args.name!r} was not written:\n"
            + "\n".join(f"  - {problem}" for problem in dict.fromkeys(problems)),
            "Correct the options; `spark-cdc new --help` lists them.",
        )
    return entity


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
    for setting in ("order", "tie_breaker"):
        names = [name.strip() for name in getattr(args, setting).split(",")]
        given[setting] = [name for name in names if name]
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
    given["archive"] = args.archive or args.event_versions or given.get("archive")
    return {
        name: value for name, value in given.items() if value not in (None, [], False)
    }, problems


def _format_of(path: Path) -> str:
    endings = {"csv": "csv", "tsv": "csv", "json": "json", "jsonl": "json", "ndjson": "json"}
    endings |= {"parquet": "parquet", "orc": "orc"}
    for suffix in reversed(path.suffixes):
        if suffix[1:].lower() in endings:
            return endings[suffix[1:].lower()]
    return ""


def _path_beside(sample: Path) -> str | None:
    """The sample's folder with the date in it replaced, relative to the project if it is inside."""
    folder = sample.resolve() if sample.is_dir() else sample.resolve().parent
    root = project.root() if _in_project() else Path.cwd()
    text = str(folder.relative_to(root) if folder.is_relative_to(root) else folder)
    found = re.sub(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])", "{business_date}", text)
    return found if found != text else None


def _in_project() -> bool:
    try:
        project.root()
    except SparkCdcError:
        return False
    return True
