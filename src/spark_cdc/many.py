"""`spark-cdc new --many`: many entities from one list.

The list is CSV: a line per entity, whose columns are the options of `spark-cdc new`; or a line per
column, as information_schema.columns has them.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from spark_cdc.entity import Entity
from spark_cdc.errors import SparkCdcError

Row = dict[str, str]
# Of `spark-cdc run --file`, which may be the same file.
OTHERS = ("entity", "priority", "expect")
SCHEMA = ("table_name", "column_name", "data_type")
KEYS = ("is_key", "column_key", "is_primary_key", "primary_key", "constraint_type")
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
    args: argparse.Namespace,
    parser: argparse.ArgumentParser,
    entity_of: Callable[[argparse.Namespace], Entity],
) -> list[Entity]:
    """Return the entities of the list that --many names.

    args: the command line, whose other options count where the list says nothing.
    parser: of `spark-cdc new`, for the options that the list holds.

    Raises SparkCdcError with everything that is wrong.
    """
    names, rows = read(args.many)
    if set(SCHEMA) <= set(names):
        given = tables(rows, args)
    elif "entity" in names:
        given = options(names, rows, parser)
    else:
        raise SparkCdcError(
            f"{args.many} has the columns {', '.join(names) or '(none)'}; accepted are entity and"
            f" options of spark-cdc new, or {', '.join(SCHEMA)}",
            "The first line names the columns: entity,columns,load_type,path",
        )
    found, wrong = [], []
    for name, words in given:
        try:
            row = parser.parse_args([name, *words])
            for key, value in vars(args).items():
                if getattr(row, key, None) == parser.get_default(key):
                    setattr(row, key, value)
            row.name, row.many = name, None
            if row.path:
                row.path = row.path.replace("{entity}", name)
            found.append(entity_of(row))
        except SparkCdcError as error:
            wrong.append(error.message)
    twice = sorted({name for name, _ in given if [one for one, _ in given].count(name) > 1})
    wrong += [f"{name} comes more than once" for name in twice]
    if not given:
        wrong.append(f"{args.many} names no entity")
    if wrong:
        raise SparkCdcError(
            "\n".join(wrong), f"Correct {args.many} or the options; nothing was written."
        )
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
        raise SparkCdcError(f"{path} can't be read: {error}") from error
    return names, rows


def options(
    names: Sequence[str], rows: Sequence[Row], parser: argparse.ArgumentParser
) -> list[tuple[str, list[str]]]:
    """Return of each line the entity and the options as words of a command line."""
    known: dict[str, argparse.Action] = {
        option[2:].replace("-", "_"): action
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and option not in ("--help", "--many", "--dry-run")
    }
    unknown = [name for name in names if name not in known and name not in OTHERS]
    if unknown:
        raise SparkCdcError(
            f"the list has the columns {', '.join(unknown)}, which are no options;"
            f" accepted are {', '.join([*OTHERS, *known])}",
            "spark-cdc new --help describes the options.",
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
    given = []
    for (_, table), columns in found.items():
        if all(row.get("ordinal_position", "").isdigit() for row in columns):
            columns.sort(key=lambda row: int(row["ordinal_position"]))
        texts = ", ".join(_column(row, args) for row in columns)
        given.append((_plain(table), [f"--columns={texts}"]))
    return given


def _plain(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")


def _column(row: Mapping[str, str], args: argparse.Namespace) -> str:
    name = _plain(row["column_name"])
    parts = [name, _type(row)]
    is_key = any(row.get(key, "").lower() in YES for key in KEYS)
    if is_key or row["column_name"] in args.key or name in args.key:
        parts.append("key")
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
