"""Columns as the command line has them: --columns, --key and the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spark_cdc.scaffold.entity import (
    ROLES,
    Column,
)


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
