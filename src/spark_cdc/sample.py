"""Columns of a sample file, with the types that Spark infers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from spark_cdc.entity import Column, identifier, rules
from spark_cdc.synthetic.session import open_session


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
    if rules()[0]._is_reserved(plain, False):
        plain = f"source_{plain}"
    if re.match(r"(var)?char\(|void$|null$", data_type):
        data_type = "string"
    if file_format == "csv" and data_type == "int":
        data_type = "bigint"
    return Column(plain, data_type, source=name if name != plain else None)
