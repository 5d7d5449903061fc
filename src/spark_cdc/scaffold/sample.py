"""Columns of a sample: those of CSV and JSON are inferred without Spark, others have types."""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from spark_cdc import console, parts
from spark_cdc.errors import SparkCdcError
from spark_cdc.macro_rules import rules
from spark_cdc.scaffold.entity import Column, identifier, own_name
from spark_cdc.scaffold.inference import (
    Number,
    Numbers,
    numbers_of_texts,
    quoted,
    type_of_json,
    type_of_texts,
)
from spark_cdc.server.session import open_session

# Characters of a sample that are looked at: some ten seconds.
if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

LIMIT = 20_000_000
_LOOKED_AT = 1_000_000  # bytes of a file that is no text in its encoding
_NANOS_AS_LONG = "spark.sql.legacy.parquet.nanosAsLong"
# Of Parquet as pandas writes it: times in nanoseconds, and columns without a value.
_ANNOTATED = {
    "TIMESTAMP(NANOS,true)": "timestamp",
    "TIMESTAMP(NANOS,false)": "timestamp_ntz",
    "UNKNOWN": "string",
}
_WESTERN = "windows-1252"  # what has Latin-1 and more
_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_PACKED = {
    **{b"PK\x03\x04": "a ZIP archive or an Excel file", b"\x1f\x8b": "packed by gzip (.gz)"},
    **{b"BZh": "packed by bzip2 (.bz2)", b"\x28\xb5\x2f\xfd": "packed by zstd (.zst)"},
    **{b"\xfd7zXZ": "packed by xz", b"7z\xbc\xaf": "a 7-Zip archive", b"PAR1": "Parquet"},
    **{b"ORC": "ORC", b"Obj\x01": "Avro", b"%PDF": "a PDF", b"\xd0\xcf\x11\xe0": "an Excel file"},
}
_SEPARATORS = ",;\t|"
_OPENERS: dict[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".bz2": bz2.open}
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
    encodings: dict[str, str] = {}
    _check_files(path)
    if file_format in ("csv", "json"):
        with console.Step(f"Infer columns from {path}", console.PATIENCE):
            given = {name.lower(): value for name, value in options.items()}
            found, more = (_csv_columns if file_format == "csv" else _json_columns)(path, given)
    else:
        found, encodings = _typed_columns(path, file_format, options)
    if not found:
        nothing = {"csv": "no line but blank ones", "json": "no object with a name"}
        raise _bad_sample(f"'{path}' has {nothing.get(file_format, 'no columns')}")
    names = [name for name, *_ in found]
    for place, name in enumerate(names, 1):
        if not name.strip():
            hint = ", as pandas writes its index: take to_csv(…, index=False)" if place == 1 else ""
            raise _bad_sample(f"'{path}' has a column without a name, number {place}{hint}")
        alike = [other for other in names if other.lower() == name.lower()]
        if len(alike) > 1:
            raise _bad_sample(f"{path} has columns whose names are the same, case apart: {alike}")
    columns = [
        replace(column, encoding=encodings.get(column.source or column.name))
        for column in _named(found, entity, is_events)
    ]
    return columns, {**options, **more}


def _check_files(path: Path) -> None:
    """Raise if a file is empty, or a folder has none: a load would read nothing of it."""
    files = _files(path)
    if not files:
        raise _bad_sample(f"'{path}' has no files; names that begin with _ or . do not count")
    for file in files:
        if not file.stat().st_size:
            raise _bad_sample(f"'{file}' has 0 bytes")


def _files(path: Path) -> list[Path]:
    """The files of a sample that a load would read."""
    if not path.is_dir():
        return [path]
    return [
        file
        for file in sorted(path.iterdir())
        if not file.is_dir() and not file.name.startswith(("_", "."))
    ]


def _typed_columns(
    path: Path, file_format: str, options: Mapping[str, str]
) -> tuple[_Found, dict[str, str]]:
    """The columns of a file that has types, which Spark in this process reads; their encodings."""
    parts.require("scaffold", f"A sample in {file_format.upper()}")
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    with console.Step(f"Start Spark, which reads the schema of {path}") as step:
        with open_session(None, "1g") as spark:
            step.detail = "reading"
            spark.conf.set(_NANOS_AS_LONG, "true")  # as a load does
            try:
                frame = (
                    spark.read.options(**options)
                    .format(file_format)
                    .load(f"file://{path.resolve()}")
                )
                types = {item.name: _type_text(item.dataType) for item in frame.schema}
                said = _annotations(spark, path) if file_format == "parquet" else {}
            except (PySparkException, Py4JJavaError) as error:
                why = " ".join(str(error).partition("\n")[0].split())
                raise _bad_sample(f"Spark can't read '{path}' as {file_format}: {why}") from error
            finally:
                spark.conf.unset(_NANOS_AS_LONG)
        step.detail = f"{len(types)} columns"
    is_text = re.compile(r"(var)?char\(|void$|null$")
    found: _Found = []
    for name, one in types.items():
        kind = _ANNOTATED.get(said.get(name, ""), one)
        found.append((name, "string" if is_text.match(kind) else kind, None, _PLAIN))
    return found, {name: "nanos" for name in types if "NANOS" in said.get(name, "")}


def _annotations(spark: SparkSession, path: Path) -> dict[str, str]:
    """What Parquet says of columns that Spark reads as numbers, such as TIMESTAMP(NANOS,true).

    spark: in this process, whose JVM reads the footer of the first file.
    """
    jvm: Any = spark._jvm
    parquet = jvm.org.apache.parquet.hadoop
    place = jvm.org.apache.hadoop.fs.Path(f"file://{_files(path)[0].resolve()}")
    file = parquet.util.HadoopInputFile.fromPath(place, jvm.org.apache.hadoop.conf.Configuration())
    reader = parquet.ParquetFileReader.open(file)
    try:
        fields = list(reader.getFooter().getFileMetaData().getSchema().getFields())
    finally:
        reader.close()
    found = {field.getName(): str(field.getLogicalTypeAnnotation()) for field in fields}
    return {name: one for name, one in found.items() if one in _ANNOTATED}


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
    for file in _files(path):
        try:
            # Spark, too, skips the mark of UTF-8 at the start.
            codec = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
            opener = _OPENERS.get(file.suffix, open)
            with opener(file, "rt", encoding=codec, newline="") as stream:
                text = stream.read(rest + 1)
        except (UnicodeError, LookupError) as error:
            raise _no_text(file, encoding) from error
        is_cut = len(text) > rest
        if is_cut:
            print(f"Of {path} the first {LIMIT:,} characters are looked at.", file=sys.stderr)
            text = text[: text.rfind("\n", 0, rest) + 1 or rest]
        yield file, text, is_cut
        rest -= len(text)
        if is_cut:
            return


def _no_text(file: Path, encoding: str) -> SparkCdcError:
    """What a file is that is no text in an encoding, and the command that reads it."""
    with suppress(LookupError):
        codecs.lookup(encoding)
        with file.open("rb") as stream:
            data = stream.read(_LOOKED_AT)
        for start, kind in _PACKED.items():
            if data.startswith(start):
                return _bad_sample(f"'{file}' is {kind}, no text")
        found = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
        if found:
            return _other_encoding(file, f"begins with the mark of {found}", found)
        if b"\0" in data:
            return _bad_sample(f"'{file}' has bytes that are 0, so it is no text in {encoding}")
        text = data.decode(encoding, errors="surrogateescape")
        odd = re.search("[\udc80-\udcff]", text)
        if odd and encoding.lower().replace("-", "") == "utf8":
            byte = ord(odd[0]) - 0xDC00
            line = text.count("\n", 0, odd.start()) + 1
            sign = bytes([byte]).decode(_WESTERN, errors="replace")
            what = f"is not UTF-8: line {line} has the byte 0x{byte:02X}, {sign!r} in {_WESTERN}"
            return _other_encoding(file, what, _WESTERN)
        return _bad_sample(f"'{file}' is no text in {encoding}")
    return _bad_sample(f"'{file}': the encoding {encoding!r} is unknown")


def _other_encoding(file: Path, what: str, encoding: str) -> SparkCdcError:
    """A file in another encoding: CSV is read in it, JSON has to become UTF-8."""
    place = shlex.quote(str(file))
    if any(suffix in (".json", ".jsonl", ".ndjson") for suffix in file.suffixes):
        other = shlex.quote(str(file.with_name(f"utf8_{file.name}")))
        return SparkCdcError(
            f"'{file}' {what}. JSON is read in UTF-8.",
            f"Write it in UTF-8:\niconv -f {encoding} -t UTF-8 {place} > {other}",
        )
    return SparkCdcError(
        f"'{file}' {what}. Without another option a load reads UTF-8.",
        f"Give the encoding:\nspark-cdc new NAME --from-file {place} --option encoding={encoding}",
    )


def has_open_end(path: Path, options: Mapping[str, str]) -> bool:
    """Return whether the last line of a text file, or of one of a folder, has no line end."""
    given = {name.lower(): value for name, value in options.items()}
    own = given.get("linesep", "").replace("\\r", "\r").replace("\\n", "\n").encode()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if file.is_dir() or (path.is_dir() and file.name.startswith(("_", "."))):
            continue
        end = b""
        with _OPENERS.get(file.suffix, open)(file, "rb") as stream:
            while chunk := stream.read(1 << 20):
                end = (end + chunk)[-16:]
        # in UTF-16 and UTF-32 there are zeros behind the last byte, or before it
        if end and not end.rstrip(b"\0").endswith((own,) if own else (b"\n", b"\r")):
            return True
    return False


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


_BLANKS = " \t\r\n"
_ARRAY_BEGIN = re.compile(r"\[[ \t\r\n]*(\][ \t\r\n]*)?")
_ELEMENT_END = re.compile(r"[ \t\r\n]*([,\]])[ \t\r\n]*")
_OBJECT_END = re.compile(r"[ \t\r\n]*")


def _object(members: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("it has a name twice")
    return found


_DECODER = json.JSONDecoder(
    parse_int=Number, parse_float=Number, parse_constant=str, object_pairs_hook=_object
)


def _json_columns(path: Path, options: Mapping[str, str]) -> tuple[_Found, dict[str, str]]:
    """The columns of JSON, and the options that were not given and that it takes.

    Lines take none; arrays, and objects over several lines, take multiLine.
    """
    files = list(_texts(path, "UTF-8"))
    if "multiline" in options:
        is_whole = options["multiline"].lower() == "true"
    else:
        is_whole = any(_is_over_lines(text) for _, text, _ in files)
    columns: dict[str, tuple[str, list[object]]] = {}  # names meet in any case
    for file, text, is_cut in files:
        for where, row in (
            _json_elements(file, text, is_cut) if is_whole else _json_lines(file, text)
        ):
            if len({name.lower() for name in row}) < len(row):
                raise _bad_sample(f"{where} has names that are the same, case apart: {list(row)}")
            for name, value in row.items():
                columns.setdefault(name.lower(), (name, []))[1].append(value)
    found = [(name, *type_of_json(values), _PLAIN) for name, values in columns.values()]
    return found, {"multiLine": "true"} if is_whole and "multiline" not in options else {}


def _is_over_lines(text: str) -> bool:
    """Whether a text begins with an array, or with an object over several lines."""
    begin = text.lstrip(_BLANKS)
    with suppress(ValueError):
        _, end = _DECODER.raw_decode(begin)
        return begin.startswith("[") or not {"\r", "\n"}.isdisjoint(begin[:end])
    return begin.startswith("[")


def _json_lines(file: Path, text: str) -> Iterator[tuple[str, dict[str, object]]]:
    """The objects of lines, with where they are."""
    for number, line in enumerate(re.split("\r\n|\r|\n", text), 1):
        if line.strip(" "):
            where = f"line {number} of {file}"
            try:
                yield where, _row(_DECODER.decode(line))
            except ValueError as error:
                hint = ". Arrays take --option multiLine=true" if line.lstrip()[:1] == "[" else ""
                raise _bad_sample(f"{where} is not one JSON object: {error}{hint}") from error


def _json_elements(file: Path, text: str, is_cut: bool) -> Iterator[tuple[str, dict[str, object]]]:
    """The objects of an array, or objects one after the other, with where they are."""
    at = len(text) - len(text.lstrip(_BLANKS))
    begin = _ARRAY_BEGIN.match(text, at)
    at = begin.end() if begin else at
    is_open, number = not (begin and begin[1]), 0
    while is_open and (at < len(text) or begin):
        number += 1
        where = f"element {number} of {file}"
        try:
            row, at = _DECODER.raw_decode(text, at)
            end = (_ELEMENT_END if begin else _OBJECT_END).match(text, at)
            if not end:
                raise ValueError("neither a comma nor the end of the array follows it")
            yield where, _row(row)
        except ValueError as error:
            if is_cut:
                return
            raise _bad_sample(f"{where} is not one JSON object: {error}") from error
        at, is_open = end.end(), not begin or end[1] == ","
    if at < len(text):
        raise _bad_sample(f"{file} has text behind its array")


def _row(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError("it is a list or a single value")
    return value
