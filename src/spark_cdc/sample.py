"""Columns of a sample: those of CSV and JSON are inferred without Spark, others have types."""

from __future__ import annotations

import bz2
import gzip
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from spark_cdc import console
from spark_cdc.entity import Column, identifier, own_name, rules
from spark_cdc.errors import SparkCdcError
from spark_cdc.inference import (
    Number,
    Numbers,
    numbers_of_texts,
    quoted,
    type_of_json,
    type_of_texts,
)
from spark_cdc.synthetic.session import open_session

# Characters of a sample that are looked at: some ten seconds.
if TYPE_CHECKING:
    from pyspark.sql.types import DataType

LIMIT = 20_000_000
_SEPARATORS = ",;\t|"
_OPENERS: dict[str, Callable[..., IO[str]]] = {".gz": gzip.open, ".bz2": bz2.open}
# In the order of the source: name, type, format, how its numbers are written.
_Found = list[tuple[str, str, str | None, Numbers]]
_PLAIN = Numbers()


def read_sample(
    path: Path, file_format: str, options: Mapping[str, str], entity: str, is_events: bool
) -> tuple[list[Column], dict[str, str]]:
    """Return the columns of a sample, and the options of Spark's reader that it takes.

    Args:
        path: a file, or a folder of files.
        file_format: csv, json, parquet or orc.
        options: of Spark's reader, as they were given.
        entity: its name, which no column may have.
        is_events: whether it is one of change events, which have more names of their own.

    Raises:
        SparkCdcError: a load would not read it.
    """
    found: _Found
    more: dict[str, str] = {}
    if file_format in ("csv", "json"):
        with console.Step(f"Infer columns from {path}", console.PATIENCE):
            if file_format == "csv":
                given = {name.lower(): value for name, value in options.items()}
                found, more = _csv_columns(path, given)
            else:
                found = _json_columns(path)
    else:
        found = _typed_columns(path, file_format, options)
    if not found:
        raise _bad_sample(f"'{path}' is empty, or has no columns")
    names = [name for name, *_ in found]
    for name in names:
        if not name.strip():
            raise _bad_sample(f"'{path}' has a column without a name")
        alike = [other for other in names if other.lower() == name.lower()]
        if len(alike) > 1:
            raise _bad_sample(f"{path} has columns whose names are the same, case apart: {alike}")
    return _named(found, entity, is_events), {**options, **more}


def _typed_columns(path: Path, file_format: str, options: Mapping[str, str]) -> _Found:
    """The columns of a file that has types, which Spark in this process reads."""
    with console.Step(f"Start Spark, which reads the schema of {path}") as step:
        with open_session(None, "1g") as spark:
            step.detail = "reading"
            frame = (
                spark.read.options(**options).format(file_format).load(f"file://{path.resolve()}")
            )
            types = [(item.name, _type_text(item.dataType)) for item in frame.schema]
        step.detail = f"{len(types)} columns"
    is_text = re.compile(r"(var)?char\(|void$|null$")
    return [(name, "string" if is_text.match(one) else one, None, _PLAIN) for name, one in types]


def _type_text(data_type: DataType) -> str:
    """A type of Spark's as a YAML declares it: simpleString() does not quote names of fields."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(data_type, StructType):
        parts = [f"{quoted(one.name)}:{_type_text(one.dataType)}" for one in data_type.fields]
        return f"struct<{','.join(parts)}>"
    if isinstance(data_type, ArrayType):
        return f"array<{_type_text(data_type.elementType)}>"
    if isinstance(data_type, MapType):
        return f"map<{_type_text(data_type.keyType)},{_type_text(data_type.valueType)}>"
    text: str = data_type.simpleString()  # pyspark declares no type
    return text


def _bad_sample(message: str) -> SparkCdcError:
    return SparkCdcError(
        f"{message}. A load would refuse it.",
        "Correct the sample, or give options that read it.\nspark-cdc new --help",
    )


def _named(found: _Found, entity: str, is_events: bool) -> list[Column]:
    """The columns under names of their own, which a YAML and Spark take as they are."""
    columns: list[Column] = []
    taken = {f"stg_{entity}"}
    for position, (name, data_type, pattern, numbers) in enumerate(found, 1):
        plain = own_name(identifier(name)[:100].strip("_") or f"column_{position}", is_events)
        if plain in taken:
            plain = f"source_{plain}"
        plain = f"{plain}_{position}" if plain in taken else plain
        taken.add(plain)
        source = name if name != plain else None
        columns.append(Column(plain, data_type, source=source, format=pattern, **numbers._asdict()))
    return columns


def _texts(path: Path, encoding: str) -> Iterator[tuple[Path, str, bool]]:
    """The files with their texts, up to the limit, and whether a text was cut off there."""
    rest = LIMIT
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    for file in files:
        if file.is_dir() or (path.is_dir() and file.name.startswith(("_", "."))):
            continue
        try:
            # Spark, too, skips the mark of UTF-8 at the start.
            codec = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
            opener = _OPENERS.get(file.suffix, open)
            with opener(file, "rt", encoding=codec, newline="") as stream:
                text = stream.read(rest + 1)
        except (UnicodeError, LookupError) as error:
            raise _bad_sample(f"{file} is no text in {encoding} (is it packed?)") from error
        is_cut = len(text) > rest
        if is_cut:
            print(f"Of {path} the first {LIMIT:,} characters are looked at.", file=sys.stderr)
            text = text[: text.rfind("\n", 0, rest) + 1]
        yield file, text, is_cut
        rest -= len(text)
        if is_cut:
            return


# --- CSV ----------------------------------------------------------------------


def _csv_columns(path: Path, options: Mapping[str, str]) -> tuple[_Found, dict[str, str]]:
    """The columns of CSV, and the options that were not given and that it takes."""
    encoding = options.get("encoding", options.get("charset", "UTF-8"))
    files = list(_texts(path, encoding))
    # Most programs double the quotes within a value (RFC 4180), which Spark does not read by
    # itself; those that escape them with a backslash write what is not well-formed otherwise.
    escapes = _escapes(options)
    for escape in escapes:
        found = {"escape": escape} if escape != options.get("escape", "\\") else {}
        if "multiline" not in options and rules()[0]._is_wide_encoding(encoding):
            found["multiLine"] = "true"
        given = {**options, "escape": escape}
        if "sep" not in options and "delimiter" not in options:
            sep = max(_SEPARATORS, key=lambda one: _width(files, {**given, "sep": one}))
            found |= {"sep": sep} if sep != "," else {}
        try:
            names, rows = _csv_rows(files, {**given, **found})
            break
        except SparkCdcError:
            if escape == escapes[-1]:
                raise
    columns = [set(values) for values in zip(*rows, strict=True)] or [set[str]() for _ in names]
    if "multiline" not in options and any(
        re.search("[\r\n]", text) for texts in [names, *columns] for text in texts
    ):
        found["multiLine"] = "true"
    nothing = {"", options.get("nullvalue", "\\N")}
    return _typed(names, [values - nothing for values in columns]), found


def _typed(names: Sequence[str], columns: Sequence[set[str]]) -> _Found:
    """The columns with their types. What is read otherwise than it looks is printed.

    A file has one decimal sign: where `1,234` or `1.234` leaves two readings, other columns decide.
    """
    plain = [type_of_texts(values) for values in columns]
    readings = [numbers_of_texts(values) for values in columns]
    signs = set()
    for (data_type, _), possible, values in zip(plain, readings, columns, strict=True):
        if data_type == "string" and len(possible) == 1:
            signs.add(possible[0][1].decimal)
        elif data_type != "string" and not possible and any("." in value for value in values):
            signs |= {None} if data_type.startswith(("double", "decimal")) else set()
    found: _Found = []
    for name, one, possible, values in zip(names, plain, readings, columns, strict=True):
        fitting = [reading for reading in possible if signs == {reading[1].decimal}]
        if one[0] == "string" and len(possible) == 1:
            fitting = possible
        if len(fitting) == 1:
            found.append((name, fitting[0][0], None, fitting[0][1]))
            _say_how_read(name, min(values, key=str.isdigit), fitting[0][1])
            continue
        found.append((name, *one, _PLAIN))
        if possible and one[0] == "string":
            print(
                f"{name}: {min(values)!r} may be read in two ways and stays a string; for a number"
                " declare a numeric type, and decimal or grouping.",
                file=sys.stderr,
            )
    return found


def _say_how_read(name: str, example: str, numbers: Numbers) -> None:
    settings = [f"{key}: {value!r}" for key, value in numbers._asdict().items() if value]
    print(f"{name}: {example!r} is read with {', '.join(settings)}.", file=sys.stderr)


def _width(files: Sequence[tuple[Path, str, bool]], options: Mapping[str, str]) -> int:
    """The number of fields in the first line, 0 if it can't be read so."""
    for escape in _escapes(options):
        with suppress(SparkCdcError):
            rows = (row for file in files for row in _records(*file, {**options, "escape": escape}))
            return next((len(row) for row in rows), 0)
    return 0


def _escapes(options: Mapping[str, str]) -> list[str]:
    """What may escape a quote: another one, as nearly all programs write it, or a backslash."""
    if "escape" in options:
        return [options["escape"]]
    return [quote, "\\"] if (quote := options.get("quote", '"')) else ["\\"]


def _csv_rows(
    files: Sequence[tuple[Path, str, bool]], options: Mapping[str, str]
) -> tuple[list[str], list[list[str]]]:
    """The names of the header, and the rows of all files."""
    names: list[str] = []
    rows: list[list[str]] = []
    for file, text, is_cut in files:
        for number, row in enumerate(_records(file, text, is_cut, options)):
            is_header = number == 0 and options.get("header", "true").lower() == "true"
            if not names:
                names = row if is_header else [f"column_{at}" for at, _ in enumerate(row, 1)]
            elif is_header and row != names:
                raise _bad_sample(f"{file} has another header than the files before it")
            if len(row) != len(names):
                where = f"record {number + 1} of {file}"
                raise _bad_sample(f"{where} has {len(row)} fields, the first one {len(names)}")
            if not is_header:
                rows.append(row)
    return names, rows


def _records(
    file: Path, text: str, is_cut: bool, options: Mapping[str, str]
) -> Iterator[list[str]]:
    """The records of CSV as Spark reads them; Python's reader does not tell how values are quoted.

    Raises:
        SparkCdcError: a quote is not closed, or something follows it.
    """
    comment, escape = options.get("comment"), options["escape"]
    if comment:
        text = re.sub(rf"(?m)^{re.escape(comment)}.*\r?\n?", "", text)
    quote = options.get("quote", '"') or "\0"
    separator = options.get("sep", options.get("delimiter", ",")).replace("\\t", "\t")
    leading, trailing = (
        options.get(f"ignore{side}whitespace", "false").lower() == "true"
        for side in ("leading", "trailing")
    )
    q, e, s = re.escape(quote), re.escape(escape), re.escape(separator)
    inner = f"[^{q}]*(?:{q}{q}[^{q}]*)*" if escape == quote else f"(?:[^{q}{e}]|{e}.)*"
    start, end = "[ \t]*" if leading else "", f"({s}|\r\n|[\r\n]|\\Z)"
    field = re.compile(
        f"{start}(?:{q}({inner}){q}[ \t]*|(?!{q})((?:(?!{s})[^\r\n])*)){end}", re.DOTALL
    )
    unclosed = re.compile(f"{start}{q}{inner}\\Z", re.DOTALL)
    fields: list[str] = []
    position = 0
    while position < len(text) or fields:
        match = field.match(text, position)
        if not match:
            if is_cut and unclosed.match(text, position):
                return
            line = len(re.findall("\r\n|\r|\n", text[:position])) + 1
            raise _bad_sample(
                f"line {line} of {file} has a quote that is not closed, or within a quoted value"
            )
        quoted, plain, ending = match.groups()
        position = match.end()
        if quoted is not None:
            fields.append(quoted.replace(escape + quote, quote))
        else:
            fields.append(plain.rstrip(" \t") if trailing else plain)
        if ending != separator:
            if quoted is not None or len(fields) > 1 or plain.strip():  # Spark skips blank lines
                yield fields
            fields = []


# --- JSON ---------------------------------------------------------------------


def _json_columns(path: Path) -> _Found:
    """The columns of JSON lines."""
    columns: dict[str, tuple[str, list[object]]] = {}  # names meet in any case
    for file, text, _ in _texts(path, "UTF-8"):
        for number, line in enumerate(re.split("\r\n|\r|\n", text), 1):
            if not line.strip(" "):
                continue
            try:
                row = json.loads(
                    line,
                    parse_int=Number,
                    parse_float=Number,
                    parse_constant=str,
                    object_pairs_hook=_object,
                )
                if not isinstance(row, dict):
                    raise ValueError("it is a list or a single value")
            except ValueError as error:
                where = f"line {number} of {file}"
                raise _bad_sample(f"{where} is not one JSON object: {error}") from error
            if len({name.lower() for name in row}) < len(row):
                where = f"line {number} of {file}"
                raise _bad_sample(f"{where} has names that are the same, case apart: {list(row)}")
            for name, value in row.items():
                columns.setdefault(name.lower(), (name, []))[1].append(value)
    return [(name, *type_of_json(values), _PLAIN) for name, values in columns.values()]


def _object(members: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("it has a name twice")
    return found
