"""What a SQL warehouse of Databricks with Unity Catalog refuses, as its documentation has it.

A rule of Proxy: a local server with Delta behind it takes no statement that a warehouse would
refuse. Nothing here was seen on Databricks; docs/platforms.md names the pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from faults.proxy import Refused

# Configuration parameters that a session may set, and what Spark calls them.
PARAMETERS = {
    "ansi_mode": "spark.sql.ansi.enabled",
    "legacy_time_parser_policy": "spark.sql.legacy.timeParserPolicy",
    "max_file_partition_bytes": "spark.sql.files.maxPartitionBytes",
    "statement_timeout": None,
    "timezone": "spark.sql.session.timeZone",
    "use_cached_result": None,
}
NOT_IN_UNITY = (
    "[UC_COMMAND_NOT_SUPPORTED.WITHOUT_RECOMMENDATION] The command(s): {} are not supported in"
    " Unity Catalog. SQLSTATE: 0AKUC"
)
NO_ROUTINE = (
    "[UNRESOLVED_ROUTINE] Cannot resolve routine `{}` on search path [`system`.`builtin`,"
    " `system`.`session`]. SQLSTATE: 42883"
)
SYNTAX = "[PARSE_SYNTAX_ERROR] Syntax error at or near '{}'. SQLSTATE: 42601"
FORMATS = "Managed tables must use the delta or iceberg table format: {}"
# pattern of the bare statement, the error (with what the first group holds), its SQLSTATE
RULES = (
    (r"alter table \S+ (recover partitions)", NOT_IN_UNITY, "0AKUC"),
    (r"alter table \S+ (?:add|drop)(?: if (?:not )?exists)? (partition)\b", NOT_IN_UNITY, "0AKUC"),
    (r"(show partitions)\b", NOT_IN_UNITY, "0AKUC"),
    (r"(create or replace view)\b", "privileges on the view would be lost: {}", "42501"),
    (r"create (?:or replace )?(global temporary view)\b", NOT_IN_UNITY, "0AKUC"),
    (r"drop table .* (purge)$", SYNTAX, "42601"),
    (r"create table (?!.* location ).*?\busing (?!delta|iceberg)(\w+)", FORMATS, "0AKUC"),
    (r"create table .*? (options) \(", SYNTAX, "42601"),
    (r"insert overwrite (?:table )?\S+ (partition \((?!\w+ ?=)[^)]*\))", NOT_IN_UNITY, "0AKUC"),
    (r".*\b(input_file_name|input_file_block_\w+|java_method|reflect)\(", NO_ROUTINE, "42883"),
    (r"(explain|describe query) .*\b(input_file_name|java_method)\(", NO_ROUTINE, "42883"),
)


def warehouse(place: str, *, owner: bool = True) -> Callable[[str], str]:
    """The rule of a session.

    place: the folder of managed tables, which no statement may read by its path. owner: whether
        the session's user owns the views; others see no text of them and can't alter them.
    """

    def rule(sql: str) -> str:
        bare = without_texts(sql)
        _refuse_settings(bare)
        for pattern, message, state in RULES:
            found = re.match(pattern, bare)
            if found:
                raise Refused(message.format(found[1]), state)
        if place in sql and not bare.startswith(("describe", "show")):
            raise Refused(
                "[LOCATION_OVERLAP] Input path url overlaps with managed storage", "22KD1"
            )
        if not owner and re.match(r"alter view|show create table", bare):
            raise Refused("[INSUFFICIENT_PERMISSIONS] User is not an owner of the view", "42501")
        return _as_spark_has_it(sql, bare)

    return rule


def without_texts(sql: str) -> str:
    """A statement without texts and comments, in lower case, with single blanks."""
    texts = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
    bare = re.sub(rf"({texts})|/\*.*?\*/|--[^\n]*", lambda m: "''" if m[1] else "", sql, flags=re.S)
    return " ".join(bare.split()).lower()


def _refuse_settings(bare: str) -> None:
    found = re.match(r"(?:re)?set ([^ =]+)", bare)
    if found and found[1].strip("`") not in PARAMETERS and found[1] not in ("time", "-v"):
        raise Refused(
            f"[CONFIG_NOT_AVAILABLE] Configuration {found[1]} is not available. SQLSTATE: 42K0I",
            "42K0I",
        )


def _as_spark_has_it(sql: str, bare: str) -> str:
    """The same statement in Spark's words."""
    found = re.match(r"(re)?set (\w+)", bare)
    name = PARAMETERS.get(found[2]) if found else None
    return re.sub(rf"(?i)\b{found[2]}\b", name, sql, count=1) if found and name else sql
