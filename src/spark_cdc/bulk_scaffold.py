"""`spark-cdc new --many` and `--from-database`: many entities from one list.

The list is CSV: a line per entity, whose columns are the options of `spark-cdc new`; or a line per
column, as information_schema.columns has them. Or Spark lists the columns of a database.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from spark_cdc import dbt_runner, state
from spark_cdc.entity import ROLES, Entity, own_name
from spark_cdc.errors import SparkCdcError, UsageError

Row = dict[str, str]
# Of `spark-cdc load --file`, which may be the same file.
OTHERS = ("entity", "expected_every")
SCHEMA = ("table_name", "column_name", "data_type")
KEYS = ("is_key", "column_key", "is_primary_key", "primary_key", "constraint_type")
# Options that the list can't hold.
NO_COLUMNS = ("--help", "--many", "--dry-run", "--quiet", "--debug")
YES = ("pri", "primary key", "p", "yes", "true", "t", "y", "1", "x")
# What databases call Spark's types.
TYPES = {
    **dict.fromkeys(
        ["character varying", "varchar", "nvarchar", "varchar2", "nvarchar2"], "string"
    ),
    **dict.fromkeys(["character", "char", "nchar", "bpchar", "text", "ntext", "clob"], "string"),
    **dict.fromkeys(["tinytext", "mediumtext", "longtext", "nvarchar2", "enum", "set"], "string"),
    **dict.fromkeys(["uuid", "uniqueidentifier", "json", "jsonb", "xml", "time"], "string"),
    **dict.fromkeys(["integer", "int4", "mediumint", "serial"], "int"),
    **dict.fromkeys(["int8", "bigserial"], "bigint"),
    **dict.fromkeys(["int2"], "smallint"),
    **dict.fromkeys(["double precision", "float8", "float"], "double"),
    **dict.fromkeys(["real", "float4"], "float"),
    **dict.fromkeys(["bool", "bit"], "boolean"),
    **dict.fromkeys(["timestamp without time zone", "datetime", "datetime2"], "timestamp_ntz"),
    **dict.fromkeys(["smalldatetime"], "timestamp_ntz"),
    **dict.fromkeys(["timestamp with time zone", "timestamptz", "datetimeoffset"], "timestamp"),
    **dict.fromkeys(["bytea", "blob", "mediumblob", "longblob", "varbinary", "image"], "binary"),
    "money": "decimal(19,4)",
}


def entities_of(
    args: argparse.Namespace, entity_of: Callable[[argparse.Namespace], Entity]
) -> list[Entity]:
    """Return the entities of the list that --many names, or of the database.

    args: the command line, whose other options count where the list says nothing; its parser
        knows the options that the list may hold.

    Raises SparkCdcError with everything that is wrong.
    """
    names, rows = in_database(args.from_database) if args.from_database else read(args.many)
    if set(SCHEMA) <= set(names):
        given = tables(rows, args)
    elif "entity" in names:
        given = options(names, rows, args.parser)
    else:
        raise UsageError(
            f"{args.many}, line 1: the columns are {', '.join(names) or '(none)'}. Accepted are"
            f" entity and options of spark-cdc new, or {', '.join(SCHEMA)}.",
            "Name the columns in the first line: entity,columns,load_type,path",
        )
    found, wrong = [], []
    for name, words in given:
        try:
            row = args.parser.parse_args([name, *words])
            for key, value in vars(args).items():
                if getattr(row, key, None) == args.parser.get_default(key):
                    setattr(row, key, value)
            row.name, row.many, row.from_database = name, None, None
            if set(SCHEMA) <= set(names):  # which of its columns they name stands in --columns
                row.key, row.untracked, row.control = [], [], []
            if row.path:
                row.path = row.path.replace("{entity}", name)
            found.append(entity_of(row))
        except SparkCdcError as error:
            wrong.append(error.message)
    twice = sorted({name for name, _ in given if [one for one, _ in given].count(name) > 1})
    wrong += [f"The entity {name!r} is listed more than once." for name in twice]
    if not given:
        wrong.append(f"{args.many or args.from_database} lists no entity.")
    if wrong:
        what = f"{args.many} or the options" if args.many else "the options"
        raise UsageError("\n".join(wrong), f"Correct {what}. Nothing was written.")
    return found


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
) -> list[tuple[str, list[str]]]:
    """Return of each line the entity and the options as words of a command line."""
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
        given.append((row.get("entity", ""), words))
    return given


def tables(rows: Sequence[Row], args: argparse.Namespace) -> list[tuple[str, list[str]]]:
    """Return of each table the entity and its columns as words of a command line."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.get("table_schema", ""), row["table_name"]), []).append(row)
    _check_names(found, args)
    given = []
    for (schema, table), columns in found.items():
        if all(row.get("ordinal_position", "").isdigit() for row in columns):
            columns.sort(key=lambda row: int(row["ordinal_position"]))
        texts = ", ".join(
            _column(row, args) for row in columns if row["column_name"] != args.date_column
        )
        words = [f"--columns={texts}"]
        if args.from_database:
            words += ["--format=table", f"--path={schema}.{table}"]
        given.append((_plain(table), words))
    return given


def _check_names(found: Mapping[tuple[str, str], Sequence[Row]], args: argparse.Namespace) -> None:
    """Raise if the options name columns that no table has, or a date column that one lacks."""
    names = {key: {row["column_name"] for row in rows} for key, rows in found.items()}
    known = {
        one
        for some in names.values()
        for column in some
        for one in (column, _plain(column), own_name(_plain(column), args.load_type == "events"))
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


def _plain(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")


def _column(row: Mapping[str, str], args: argparse.Namespace) -> str:
    plain = _plain(row["column_name"])
    name = own_name(plain, args.load_type == "events")
    parts = [name, _type(row)]
    is_key = any(row.get(key, "").lower() in YES for key in KEYS)
    names = {row["column_name"], plain, name}
    named = {role for role in ROLES if names & set(getattr(args, role))}
    if is_key or named:
        parts += ["key"] if is_key else sorted(named)
    elif row.get("is_nullable", "").lower() in ("no", "false", "f", "0", "n"):
        parts.append("required")
    if name != row["column_name"].lower():
        parts.append(f"from={row['column_name']}")
    return ":".join(parts)


def _type(row: Mapping[str, str]) -> str:
    """Return Spark's type; one that is not known stays as it is, for the rules to refuse."""
    given = row["data_type"].strip()
    base, _, inner = given.lower().partition("(")
    base = base.removesuffix(" unsigned").strip()
    if base in ("numeric", "decimal", "number", "dec"):
        if inner:
            digits = inner.rstrip(")").replace(" ", "")
            return f"decimal({digits if ',' in digits else f'{digits},0'})"
        precision, scale = row.get("numeric_precision", ""), row.get("numeric_scale", "")
        return f"decimal({precision or 38},{scale or (0 if precision else 18)})"
    if base.startswith("timestamp") and given.lower().endswith("time zone"):
        return TYPES["timestamp " + re.sub(r"^timestamp(\(\d+\))? ", "", given.lower())]
    if base in TYPES:
        return TYPES[base]
    return base if base in ("int", "bigint", "smallint", "tinyint", "timestamp") else given
