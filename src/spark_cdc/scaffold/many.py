"""`spark-cdc new --many` and `--from-database`: many entities from one list.

The list is CSV: a line per entity, whose columns are the options of `spark-cdc new`; or a line per
column, as information_schema.columns has them. Or Spark lists the columns of a database.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spark_cdc import dbt_runner, state
from spark_cdc.errors import SparkCdcError, UsageError
from spark_cdc.scaffold import source_types
from spark_cdc.scaffold.entity import ROLES, Entity, identifier, own_name

Row = dict[str, str]
# Of `spark-cdc load --file`, which may be the same file.
OTHERS = ("entity", "expected_every")
SCHEMA = ("table_name", "column_name", "data_type")
KEYS = ("is_key", "column_key", "is_primary_key", "primary_key", "constraint_type")
# Options that the list can't hold.
NO_COLUMNS = ("--help", "--many", "--dialect", "--dry-run", "--quiet", "--debug")
YES = ("pri", "primary key", "p", "yes", "true", "t", "y", "1", "x")
# Columns of other catalogs: Oracle's all_tab_columns, Db2's syscat.columns.
ALIASES = {
    **{"owner": "table_schema", "nullable": "is_nullable", "column_id": "ordinal_position"},
    **{"tabschema": "table_schema", "tabname": "table_name", "colname": "column_name"},
    **{"typename": "data_type", "colno": "ordinal_position", "nulls": "is_nullable"},
    **{"data_precision": "numeric_precision", "length": "numeric_precision"},
    **{"data_scale": "numeric_scale", "scale": "numeric_scale"},
}


@dataclass(frozen=True)
class Listed:
    """An entity of a list.

    words: its options, as words of a command line.
    notes: by column what a reader of the YAML has to know of its type.
    """

    name: str
    words: Sequence[str]
    notes: Mapping[str, str] = field(default_factory=dict)


def entities_of(
    args: argparse.Namespace, entity_of: Callable[[argparse.Namespace], Entity]
) -> list[Entity]:
    """Return the entities of the list that --many names, or of the database.

    args: the command line, whose other options count where the list says nothing; its parser
        knows the options that the list may hold.

    Raises SparkCdcError with everything that is wrong.
    """
    names, rows = in_database(args.from_database) if args.from_database else read(args.many)
    by_column = "entity" not in names and set(SCHEMA) <= {ALIASES.get(one, one) for one in names}
    if by_column:
        given = tables(rows, args, _dialect(names, rows, args))
    elif "entity" in names:
        given = options(names, rows, args.parser)
    else:
        raise UsageError(
            f"{args.many}, line 1: the columns are {', '.join(names) or '(none)'}. Accepted are"
            f" entity and options of spark-cdc new, or {', '.join(SCHEMA)}.",
            "Name the columns in the first line: entity,columns,load_type,path",
        )
    found, wrong = [], []
    for listed in given:
        name = listed.name
        try:
            row = args.parser.parse_args([name, *listed.words])
            for key, value in vars(args).items():
                if getattr(row, key, None) == args.parser.get_default(key):
                    setattr(row, key, value)
            row.name, row.many, row.from_database = name, None, None
            if by_column:  # which of its columns they name stands in --columns
                row.key, row.untracked, row.control = [], [], []
            if row.path:
                row.path = row.path.replace("{entity}", name)
            found.append(_noted(entity_of(row), listed.notes))
        except SparkCdcError as error:
            wrong.append(error.message)
    twice = sorted(name for name, count in Counter(one.name for one in given).items() if count > 1)
    wrong += [f"The entity {name!r} is listed more than once." for name in twice]
    if not given:
        wrong.append(f"{args.many or args.from_database} lists no entity.")
    if wrong:
        what = f"{args.many} or the options" if args.many else "the options"
        raise UsageError("\n".join(wrong), f"Correct {what}. Nothing was written.")
    return found


def _dialect(names: Sequence[str], rows: Sequence[Row], args: argparse.Namespace) -> str | None:
    """Return the database whose types the list has, which is printed if they tell it."""
    if args.from_database:
        return "spark"
    if args.dialect:
        return str(args.dialect)
    rows = [_in_common_names(row) for row in rows]
    types = [text for row in rows for text in (row["data_type"], row.get("column_type", ""))]
    found = source_types.tells(types, names, [row.get("table_schema", "") for row in rows])
    if found:
        label = source_types.LABELS[found]
        print(f"Types are read as those of {label}; --dialect names another database.")
    return found


def _in_common_names(row: Row) -> Row:
    """Return a line under the names of information_schema.columns."""
    return {ALIASES[name]: value for name, value in row.items() if name in ALIASES} | row


def _noted(entity: Entity, notes: Mapping[str, str]) -> Entity:
    columns = [replace(one, comment=notes.get(one.name)) for one in entity.columns]
    return replace(entity, columns=columns)


def read(path: Path) -> tuple[list[str], list[Row]]:
    """Return the names of the columns, in lower case, and the lines."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines)
            names = [name.strip().lower() for name in next(reader, [])]
            rows = [
                dict(zip(names, (value.strip() for value in line), strict=False))
                for line in reader
                if any(line)
            ]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"--many {str(path)!r} can't be read: {error}. Accepted is a CSV file in UTF-8.",
            "spark-cdc new --many tables.csv",
        ) from error
    return names, rows


def in_database(text: str) -> tuple[list[str], list[Row]]:
    """Return the same of the tables of a database, DATABASE or DATABASE.TABLES; one dbt command."""
    database, _, pattern = text.partition(".")
    asked = {"database": database, "pattern": pattern or "*"}
    return [*SCHEMA, "table_schema"], state.ask(dbt_runner.Dbt(), columns=asked)["columns"]


def options(
    names: Sequence[str], rows: Sequence[Row], parser: argparse.ArgumentParser
) -> list[Listed]:
    """Return the entity of each line."""
    known: dict[str, argparse.Action] = {
        option[2:].replace("-", "_"): action
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and option not in NO_COLUMNS
    }
    unknown = [name for name in names if name not in known and name not in OTHERS]
    if unknown:
        raise UsageError(
            f"The list has the columns {', '.join(unknown)}, which are not options. Accepted are"
            f" {', '.join([*OTHERS, *known])}.",
            "spark-cdc new --help",
        )
    given = []
    for row in rows:
        words = []
        for name, value in row.items():
            if name in OTHERS or not value:
                continue
            flag = known[name].nargs == 0
            option = f"--{name.replace('_', '-')}"
            if not flag:
                words.append(f"{option}={value}")
            elif value.lower() in YES:
                words.append(option)
        given.append(Listed(row.get("entity", ""), words))
    return given


def tables(rows: Sequence[Row], args: argparse.Namespace, dialect: str | None) -> list[Listed]:
    """Return the entity of each table.

    dialect: whose types they are, see source_types.spark_type().
    """
    found: dict[tuple[str, str], list[Row]] = {}
    for row in map(_in_common_names, rows):
        found.setdefault((row.get("table_schema", ""), row["table_name"]), []).append(row)
    _check_names(found, args)
    given = []
    for (schema, table), columns in found.items():
        if all(row.get("ordinal_position", "").isdigit() for row in columns):
            columns.sort(key=lambda row: int(row["ordinal_position"]))
        texts: list[str] = []
        notes: dict[str, str] = {}
        for place, row in enumerate(columns, 1):
            if row["column_name"] != args.date_column:
                name = _name(row["column_name"], place, args)
                kind = source_types.spark_type(row, dialect)
                texts.append(_column(row, name, kind.data_type, args))
                notes |= {name: kind.note} if kind.note else {}
        words = [f"--columns={', '.join(texts)}"]
        if args.from_database:
            words += ["--format=table", f"--path={schema}.{table}"]
        given.append(Listed(identifier(table), words, notes))
    return given


def _check_names(found: Mapping[tuple[str, str], Sequence[Row]], args: argparse.Namespace) -> None:
    """Raise if the options name columns that no table has, or a date column that one lacks."""
    names = {key: {row["column_name"] for row in rows} for key, rows in found.items()}
    known = {
        one
        for some in names.values()
        for column in some
        for one in (column, identifier(column), _name(column, 1, args))
    }
    wrong = [
        f"--{role} names {name!r}, which no table has."
        for role in ROLES
        for name in getattr(args, role)
        if found and name not in known
    ]
    if args.from_database and args.date_column:
        lacking = [table for (_, table), some in names.items() if args.date_column not in some]
        wrong += [
            f"--date-column {args.date_column!r} is not a column of {table}." for table in lacking
        ]
    if wrong:
        raise UsageError(
            "\n".join(wrong),
            "Correct the options, or name tables that have the column, such as shop.ord*. Nothing"
            " was written.",
        )


def _name(source: str, place: int, args: argparse.Namespace) -> str:
    """Return a column's name here; place: in its table, from 1."""
    return own_name(identifier(source) or f"column_{place}", args.load_type == "events")


def _column(row: Row, name: str, data_type: str, args: argparse.Namespace) -> str:
    """Return a column as --columns takes it."""
    source = row["column_name"]
    parts = [name, data_type]
    is_key = any(row.get(key, "").lower() in YES for key in KEYS)
    is_key = is_key or row.get("keyseq", "").isdigit()  # of Db2: its place in the key
    names = {source, identifier(source), name}
    named = {role for role in ROLES if names & set(getattr(args, role))}
    if is_key or named:
        parts += ["key"] if is_key else sorted(named)
    elif row.get("is_nullable", "").lower() in ("no", "false", "f", "0", "n"):
        parts.append("required")
    if name != source.lower():
        quote = "" if re.fullmatch(r"\w+", source) else '"' if "'" in source else "'"
        parts.append(f"from={quote}{source}{quote}")
    return ":".join(parts)
