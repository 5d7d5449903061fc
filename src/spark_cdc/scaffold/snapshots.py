"""`spark-cdc new --from-snapshot`: entities of dbt snapshots, from their YAML or their SQL blocks.

What of a snapshot has no counterpart is said by its name.
"""

from __future__ import annotations

import argparse
import ast
import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jinja2
import yaml

from spark_cdc import dbt_runner, state
from spark_cdc.errors import UsageError
from spark_cdc.scaffold import many
from spark_cdc.scaffold.entity import Entity, identifier

_BLOCK = re.compile(r"\{%-?\s*snapshot\s+(\w+)\s*-?%\}(.*?)\{%-?\s*endsnapshot\s*-?%\}", re.DOTALL)
_CONFIG = re.compile(r"\{\{-?\s*config\s*\(.*?\)\s*-?\}\}", re.DOTALL)
_COMMENT = re.compile(r"\{#.*?#\}|/\*.*?\*/|--[^\n]*", re.DOTALL)
_ALL_OF = re.compile(r"select\s+\*\s+from\s+\{\{\s*(.+?)\s*\}\}\s*;?", re.DOTALL | re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_]\w*")
# Settings that have a counterpart; all others of a snapshot are named as left out.
_CARRIED = (
    *("unique_key", "strategy", "check_cols", "updated_at", "hard_deletes"),
    *("invalidate_hard_deletes", "dbt_valid_to_current", "snapshot_meta_column_names"),
)
_META = ("dbt_valid_from", "dbt_valid_to", "dbt_scd_id", "dbt_updated_at", "dbt_is_deleted")
_STRATEGIES = ("check", "timestamp")


@dataclass(frozen=True)
class Snapshot:
    """A snapshot as its files have it.

    relation: ref(…) or source(…); query: what it reads instead. columns: of its YAML.
    unread: settings whose values only dbt can tell.
    """

    name: str
    config: Mapping[str, Any] = field(default_factory=dict)
    relation: str | None = None
    query: str | None = None
    columns: Sequence[Mapping[str, Any]] = ()
    description: str | None = None
    unread: Sequence[str] = ()


def entities_of(
    args: argparse.Namespace, entity_of: Callable[[argparse.Namespace], Entity]
) -> list[tuple[Entity, list[str]]]:
    """Return the entities of the snapshots in the files of --from-snapshot.

    args: the command line; NAME chooses one of several snapshots, or names the entity of one.

    Returns each entity with what of its snapshot differs or is not carried over; lines of text.
    Raises UsageError with everything that is wrong.
    """
    if args.load_type != "full" or args.fmt not in (None, "table"):
        raise UsageError(
            "A snapshot reads all rows of a table, so --from-snapshot takes neither --load-type nor"
            " --format. Its entity has load_type full and the format table.",
            f"spark-cdc new {_given(args)}",
        )
    found = read(args.from_snapshot)
    names = {one.name: args.name or plain_name(one.name) for one in found}
    if args.name and len(found) > 1:
        found = [one for one in found if args.name in (one.name, plain_name(one.name))]
        if not found:
            raise UsageError(
                f"NAME {args.name!r} is no snapshot of the files. Accepted are"
                f" {', '.join(names)}, also without the word snapshot; without NAME all are read.",
                f"spark-cdc new {plain_name(next(iter(names)))} {_given(args)}",
            )
    if args.path and len(found) > 1:
        raise UsageError(
            f"--path {args.path} is one table, and the files have {len(found)} snapshots:"
            f" {', '.join(one.name for one in found)}. Choose one of them by NAME.",
            f"spark-cdc new {names[found[0].name]} {_given(args)} --path {args.path}",
        )
    return [_entity(one, names[one.name], args, entity_of) for one in found]


def plain_name(name: str) -> str:
    """Return the name of what a snapshot is of: orders of orders_snapshot, snap_orders."""
    return re.sub(r"^(snapshot|snap|snp)_|_(snapshot|snap|snp|scd2?)$", "", identifier(name))


def _given(args: argparse.Namespace) -> str:
    return " ".join(f"--from-snapshot {path}" for path in args.from_snapshot)


# --- the files ------------------------------------------------------------------


def read(paths: Sequence[Path]) -> list[Snapshot]:
    """Return the snapshots of some files; a SQL block and the YAML of its name are one."""
    blocks: dict[str, Snapshot] = {}
    listed: dict[str, Snapshot] = {}
    for path in paths:
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(path, str(error)) from error
        if path.suffix.lower() == ".sql":
            blocks |= {one.name: one for one in _of_sql(text)}
        else:
            listed |= {one.name: one for one in _of_yaml(path, text)}
    found = []
    for name in dict.fromkeys([*blocks, *listed]):
        block, entry = blocks.get(name), listed.get(name)
        if block and entry:  # the block's own settings win, as in dbt
            entry = replace(
                entry,
                config={**entry.config, **block.config},
                **{key: getattr(block, key) for key in ("relation", "query", "unread")},
            )
        found.append(entry or block or Snapshot(name))
    lacking = [one.name for one in found if not one.relation and not one.query]
    if not found or lacking:
        what = (
            f"{', '.join(lacking)}: neither a relation nor a SQL block is there"
            if lacking
            else f"{', '.join(map(str, paths))}: there is no snapshot"
        )
        raise UsageError(
            f"--from-snapshot, {what}. Accepted are the YAML of snapshots with relation: and"
            " config:, and SQL files with {% snapshot … %}; if a snapshot has both, give both"
            " files.",
            "spark-cdc new --from-snapshot orders.sql --from-snapshot orders.yml",
        )
    return found


def _unreadable(path: Path, error: str) -> UsageError:
    return UsageError(
        f"--from-snapshot {str(path)!r} can't be read: {error}. Accepted are the YAML of snapshots,"
        " and SQL files with {% snapshot … %}.",
        "spark-cdc new --from-snapshot snapshots/orders.yml",
    )


def _of_yaml(path: Path, text: str) -> list[Snapshot]:
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _unreadable(path, " ".join(str(error).split())) from error
    entries = data.get("snapshots") if isinstance(data, Mapping) else None
    found = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise _unreadable(path, f"a snapshot has no name: {entry!r}")
        config = dict(entry.get("config") or {})
        unread = [name for name, value in config.items() if "{{" in str(value)]
        relation = str(entry.get("relation") or "").strip()
        relation = re.sub(r"^\{\{\s*|\s*\}\}$", "", relation)
        found.append(
            Snapshot(
                name=entry["name"],
                config={name: value for name, value in config.items() if name not in unread},
                relation=relation or None,
                columns=entry.get("columns") or (),
                description=entry.get("description"),
                unread=unread,
            )
        )
    return found


def _of_sql(text: str) -> list[Snapshot]:
    found = []
    for name, body in _BLOCK.findall(text):
        config: dict[str, Any] = {}
        unread: list[str] = []
        for call in _CONFIG.findall(body):
            given, more = _config(call)
            config |= given
            unread += more
        query = _CONFIG.sub("", body).strip()
        whole = _ALL_OF.fullmatch(_COMMENT.sub("", query).strip())
        relation = whole[1] if whole and _arguments(whole[1]) else None
        found.append(Snapshot(name, config, relation, None if relation else query, unread=unread))
    return found


def _config(call: str) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of config(…), and the names of those that only dbt can tell."""
    config: dict[str, Any] = {}
    unread = []
    try:
        tree = jinja2.Environment().parse(call)
    except jinja2.TemplateError:
        return {}, ["config"]
    for node in tree.find_all(jinja2.nodes.Call):
        if getattr(node.node, "name", "") == "config":
            for given in node.kwargs:
                try:
                    config[given.key] = given.value.as_const()
                except jinja2.nodes.Impossible:
                    unread.append(given.key)
    return config, unread


def _arguments(relation: str) -> tuple[str, list[str]] | None:
    """Return the function of a relation and its arguments: ref, ["orders"]; None for others."""
    try:
        call = ast.parse(relation, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        return None
    texts = [one.value for one in call.args if isinstance(one, ast.Constant)]
    words = [text for text in texts if isinstance(text, str)]
    counts = {"ref": (1, 2), "source": (2,)}.get(call.func.id, ())
    is_whole = len(words) == len(call.args) and len(words) in counts
    return (call.func.id, words) if is_whole else None


# --- the entity -----------------------------------------------------------------


def _entity(
    one: Snapshot,
    name: str,
    args: argparse.Namespace,
    entity_of: Callable[[argparse.Namespace], Entity],
) -> tuple[Entity, list[str]]:
    config, problems = one.config, []
    meta = _meta(config)
    row = copy.copy(args)
    row.name, row.from_snapshot, row.load_type, row.fmt = name, None, "full", "table"
    row.description = args.description or one.description
    row.key = args.key or _key_columns(config.get("unique_key"))
    if not row.key:
        problems.append(
            f"unique_key is {config.get('unique_key')!r}; accepted are names of columns, a list of"
            " them, or names that || puts together. Give the columns: --key id"
        )
    if config.get("strategy") not in _STRATEGIES:
        problems.append(
            f"strategy is {config.get('strategy')!r}; accepted are {', '.join(_STRATEGIES)}. If"
            " dbt_project.yml or Jinja says it, write it into the snapshot's config"
        )
    row.relation = f"ref('{name}_input')" if one.query else one.relation
    if _arguments(str(row.relation)) is None:
        problems.append(
            f"relation is {row.relation!r}; accepted are ref('model') and source('name', 'table')"
        )
    columns = [] if problems else _columns(one, name, args, set(meta.values()))
    names = [column["column_name"] for column in columns]
    compared = _names(config.get("check_cols"))
    if compared and config.get("strategy") == "check" and compared != ["all"]:
        known = {name.lower() for name in names}
        unknown = [name for name in compared if name.lower() not in known]
        if unknown and not problems:
            problems.append(f"check_cols names {', '.join(unknown)}, which is no column of it")
        tracked = {name.lower() for name in [*compared, *row.key]}
        row.untracked = [*args.untracked, *(name for name in names if name.lower() not in tracked)]
    if problems:
        raise UsageError(
            "\n".join(
                [f"The snapshot {one.name!r} was not read:", *(f"  - {p}" for p in problems)]
            ),
            f"spark-cdc new {name} {_given(args)} --key id",
        )
    row.key = [_spelled(key, names) for key in row.key]
    [listed] = many.tables(columns, row, "spark")
    words = args.parser.parse_args([name, *listed.words])
    row.columns, row.key, row.untracked, row.control = words.columns, [], [], []
    row.extra = [
        *row.extra,
        ["versions"],
        *([["latest"]] if _deletes(config) != "invalidate" else []),
    ]
    row.validity = {"start": meta["dbt_valid_from"].lower(), "end": meta["dbt_valid_to"].lower()}
    open_end = _open_end(config)
    row.validity |= {"open_end": open_end} if open_end else {}
    entity = replace(entity_of(row), query=one.query)
    said = {str(c["name"]).lower(): c.get("description") for c in one.columns if c.get("name")}
    described = [
        replace(
            c, description=said.get((c.source or c.name).lower()), comment=listed.notes.get(c.name)
        )
        for c in entity.columns
    ]
    return replace(entity, columns=described), _told(one, name)


def _names(value: object) -> list[str]:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, list) else []


def _spelled(name: str, names: Sequence[str]) -> str:
    """Return a column's name as the table has it."""
    return next((one for one in names if one.lower() == name.lower()), name)


def _key_columns(value: object) -> list[str]:
    """Return the columns of a unique_key: names, or an expression that puts names together."""
    found = []
    for text in _names(value):
        parts = [part.strip() for part in text.split("||")]
        names = [part for part in parts if not re.fullmatch(r"'[^']*'", part)]
        if not all(_NAME.fullmatch(name) for name in names):
            return []
        found += names
    return found


def _meta(config: Mapping[str, Any]) -> dict[str, str]:
    given = config.get("snapshot_meta_column_names")
    return dict(zip(_META, _META, strict=True)) | dict(given if isinstance(given, Mapping) else {})


def _deletes(config: Mapping[str, Any]) -> str:
    legacy = "invalidate" if config.get("invalidate_hard_deletes") is True else "ignore"
    return str(config.get("hard_deletes") or legacy)


def _open_end(config: Mapping[str, Any]) -> str | None:
    """Return the date of an expression such as to_date('9999-12-31')."""
    text = str(config.get("dbt_valid_to_current") or "")
    found = re.fullmatch(r"\D*(\d{4}-\d\d-\d\d)(?:[ T]00:00:00(?:\.0+)?)?\D*", text)
    return found[1] if found else None


def _columns(
    one: Snapshot, name: str, args: argparse.Namespace, own: set[str]
) -> list[dict[str, str]]:
    """Return the columns as information_schema.columns has them, of the YAML or of Spark.

    own: names of the columns that the snapshot adds.
    """
    if args.path:
        database, _, table = args.path.partition(".")
        asked = {"database": database, "pattern": table}
        rows = state.ask(dbt_runner.Dbt(), columns=asked)["columns"]
        if not rows:
            raise UsageError(
                f"--path {args.path}: there is no such table. Accepted is one that Spark knows.",
                f"spark-cdc new {name} {_given(args)} --path {database or 'shop'}.{name}",
            )
        return [{**row, "table_name": name} for row in rows]
    listed = [column for column in one.columns if column.get("name") not in own]
    untyped = [str(column.get("name")) for column in listed if not column.get("data_type")]
    if not listed or untyped:
        what = f"{', '.join(untyped)} without data_type" if untyped else "no columns"
        raise UsageError(
            f"The snapshot {one.name!r}: its YAML has {what}, so the types are unknown. Accepted"
            " are columns with data_type there, or the table that it reads, which Spark describes:"
            " --path SCHEMA.TABLE.",
            f"spark-cdc new {name} {_given(args)} --path SCHEMA.TABLE",
        )
    return [
        {"table_name": name, "column_name": str(c["name"]), "data_type": str(c["data_type"])}
        for c in listed
    ]


def _told(one: Snapshot, name: str) -> list[str]:
    """Return what differs, and what is not carried over."""
    config, told = one.config, []
    if config.get("strategy") == "timestamp":
        told.append(
            f"strategy timestamp: all columns are compared, also {config.get('updated_at')}. A row"
            " that changes while that stays makes a version, too."
        )
    elif config.get("updated_at"):
        told.append("updated_at is not carried over: a version begins with its business date.")
    deletes = _deletes(config)
    if deletes == "ignore":
        told.append(
            "hard_deletes ignore is not carried over: a load ends the versions of keys that are"
            f" missing, and {name}_latest has their last rows. The guards empty and deleted_share"
            " refuse loads that lack many rows."
        )
    elif deletes == "new_record":
        told.append(
            f"hard_deletes new_record: {name}_latest shows deleted keys, with is_deleted and"
            " deleted_at; they have no rows of their own among the versions."
        )
    if config.get("dbt_valid_to_current") and not _open_end(config):
        told.append(
            f"dbt_valid_to_current {config['dbt_valid_to_current']!r} is not carried over: it names"
            " no date. Set validity.open_end in the YAML."
        )
    given = config.get("snapshot_meta_column_names") or {}
    left = [f"snapshot_meta_column_names.{key}" for key in given if key not in _META[:2]]
    left += [key for key in config if key not in _CARRIED] + list(one.unread)
    if left:
        told.append(f"Not carried over: {', '.join(left)}.")
    if one.query:
        told.append(f"The query of the snapshot is the model {name}_input, a view.")
    return told
