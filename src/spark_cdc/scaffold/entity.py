"""An entity as its YAML describes it, and what of that is accepted.

The rules are those of the project's macros, which check them again at the start of each run.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jinja2

from spark_cdc import declared, jinja_bridge
from spark_cdc.errors import SparkCdcError
from spark_cdc.kinds import ARCHIVE_MODELS, ENDINGS, EXTRA_MODELS
from spark_cdc.macro_rules import rules

ROLES = ("key", "untracked", "control")
RESERVED_ENTITIES = ("landing", "spark_cdc", "cdc_loads", "operations", "technical_columns")
# Of the types of Spark: to guess what was meant.
TYPES = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary"),
    *("date", "timestamp", "timestamp_ntz"),
)
_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "oe"})


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
    sensitive: bool = False
    mask: str | None = None
    decimal: str | None = None
    grouping: str | None = None
    trailing_sign: bool = False
    comment: str | None = None  # above it in the YAML

    @property
    def meta(self) -> dict[str, object]:
        """What stands under `meta`."""
        given = {
            "role": self.role,
            "nullable": False if self.required and self.role != "key" else None,
            "from": self.source if self.source != self.name else None,
            "format": self.format,
            "encoding": self.encoding,
            "decimal": self.decimal,
            "grouping": self.grouping,
            "trailing_sign": self.trailing_sign or None,
            "sensitive": self.sensitive or None,
            "mask": self.mask,
        }
        return {name: value for name, value in given.items() if value not in (None, "")}


@dataclass(frozen=True)
class Entity:
    """Everything that the YAML of an entity says; `events` are the settings of change events."""

    name: str
    columns: Sequence[Column]
    load_type: str = "full"
    deleted_when: str | None = None
    keyless: bool = False
    format: str = "csv"
    path: str | None = None
    date_column: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    business_date_type: str = "date"
    description: str | None = None
    events: Mapping[str, object] = field(default_factory=dict)
    rules: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    guards: Mapping[str, object] = field(default_factory=dict)
    extra: Sequence[str] = ()  # kinds of models beyond those of each entity
    validity: Mapping[str, str] = field(default_factory=dict)
    relation: str | None = None  # ref(…) or source(…) that stg_ reads, in place of a table landed
    query: str | None = None  # of a model <name>_input that it reads

    @property
    def is_sensitive(self) -> bool:
        """Say whether any column lies apart."""
        return any(column.sensitive for column in self.columns)

    @property
    def settings(self) -> dict[str, object]:
        """What stands under `meta.spark_cdc`."""
        given: dict[str, object] = {"load_type": self.load_type}
        if self.deleted_when is not None:
            given["deleted_when"] = self.deleted_when
        if self.keyless:
            given["keyless"] = True
        if self.business_date_type != "date":
            given["business_date_type"] = self.business_date_type
        if self.events:
            given["events"] = dict(self.events)
        if self.rules:
            given["rules"] = dict(self.rules)
        if self.guards:
            given["guards"] = dict(self.guards)
        if self.validity:
            given["validity"] = dict(self.validity)
        source: dict[str, object] = {"format": self.format}
        if self.format == "change_feed":
            source["table"] = self.path
        elif self.format != "table":
            source["path"] = path_of(self)
        elif self.date_column:
            source["date_column"] = self.date_column
        if self.options:
            source["options"] = dict(self.options)
        return {**given, "source": source}


def path_of(entity: Entity) -> str:
    """Where the files of a business date lie; by default below landing/."""
    is_daily = entity.business_date_type == "date"
    placeholder = "{business_date}" if is_daily else "{business_date:%Y/%m/%d/%H%M}"
    return entity.path or f"landing/{entity.name}/{placeholder}"


# --- what is accepted ---------------------------------------------------------


def problems_of(entity: Entity) -> list[str]:
    """All that is wrong with an entity: what was found, what is accepted, what to do."""
    problems = _name_problems(entity.name)
    name = "entity" if problems else entity.name
    problems += _option_problems(entity) + _column_problems(entity)
    columns = entity.columns or [Column("no_column", "int", "key")]
    node = {
        "name": f"stg_{name}",
        "meta": {jinja_bridge.PACKAGE: entity.settings},
        "columns": [{"name": c.name, "data_type": c.data_type, "meta": c.meta} for c in columns],
    }
    try:
        described: list[str] = rules()[0]._description_problems(name, node)
        return problems + described
    except (
        jinja2.TemplateError,
        jinja_bridge.CompilerError,
    ) as error:  # in a format of the project's own
        raise SparkCdcError(
            f"a macro could not judge the entity: {error}", "Correct the format's macros."
        ) from error


def _name_problems(name: str) -> list[str]:
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or len(name) > 80:
        plain = identifier(name)
        return [
            f"the name is {name!r}; accepted are up to 80 lower-case letters, digits and single _ "
            "between them, such as order_lines: "
            + (f"call it {plain}" if plain else "choose another one")
        ]
    if name in RESERVED_ENTITIES:
        return [f"the name '{name}' is used by spark_cdc itself: choose another one"]
    # price_changes may be an entity: its models can't be taken for those of price
    taken = [one for one in ENDINGS if one != "changes" and name.endswith(f"_{one}")]
    if name.startswith("stg_") or taken:
        affix = f"_{taken[0]}" if taken else "stg_"
        return [
            f"the name '{name}' has the affix {affix}, by which spark_cdc recognizes models: "
            "choose another one"
        ]
    return []


def _option_problems(entity: Entity) -> list[str]:
    """What only the options can get wrong."""
    accepted = (*EXTRA_MODELS, *ARCHIVE_MODELS)
    problems = [
        f"--with names {kind!r}; accepted are {', '.join(accepted)}: correct it"
        for kind in entity.extra
        if kind not in accepted
    ]
    words = {word.lower() for word in words_of_sql(entity.deleted_when or "")}
    if entity.deleted_when is not None and not words & {c.name.lower() for c in entity.columns}:
        problems.append(
            f"deleted-when is {entity.deleted_when!r}, which names none of the columns: write "
            "a condition over them, such as \"op = 'D'\", and declare its columns "
            "(op:string:control)"
        )
    parts = {"table": r"[^.\s]+\.[^.\s]+", "change_feed": r"[^.\s]+(\.[^.\s]+){1,2}"}
    if not entity.relation and not re.fullmatch(parts.get(entity.format, ".*"), entity.path or ""):
        problems.append(
            f"path is '{entity.path or ''}'; accepted for tables are schema and table, such as "
            "staging.orders: correct --path"
        )
    if entity.format != "table" and entity.date_column:
        problems.append(f"a date column is given, but the format is {entity.format}: leave it out")
    return problems


def _column_problems(entity: Entity) -> list[str]:
    """Names that can't be written into this YAML, where columns may have anchors."""
    problems = []
    for column in entity.columns:
        label = f"column {column.name!r}"
        if not re.fullmatch(r"[a-z_][a-z0-9_]*", column.name) or len(column.name) > 128:
            plain = identifier(column.name) or "something else"
            problems.append(
                f"{label} is not up to 128 lower-case letters, digits and _: call it {plain} and "
                f"say from={column.name}"
            )
    return problems


def own_name(name: str, is_events: bool) -> str:
    """Return a column's plain name, with a prefix where spark_cdc uses it for a column of its own.

    is_events: whether it is one of change events, which have more names of their own.
    """
    return f"source_{name}" if rules()[0]._reserved([name], is_events) else name


def renamed(columns: Sequence[Column]) -> dict[str, str]:
    """Return the names in the source, in lower case, of columns that have another name here."""
    names = {column.name for column in columns}
    found = {(one.source or one.name).lower(): one.name for one in columns}
    return {source: name for source, name in found.items() if source not in names}


def with_own_names(condition: str, names: Mapping[str, str]) -> str:
    """Return a condition in which columns have their names here, not those in the source.

    names: of `renamed`.
    """

    def own(match: re.Match[str]) -> str:
        word = match[1] or match[2] or ""
        return names.get(word.replace("``", "`").lower(), match[0])

    texts = r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\""
    # a name between ``, and a word that is neither a field of another nor a function
    part = texts + r"|`((?:[^`]|``)+)`|(?<![\w.])([^\W\d]\w*)(?!\w|\s*\()"
    return re.sub(part, own, condition)


def words_of_sql(condition: str) -> list[str]:
    without_texts = re.sub(r"'(?:[^'\\]|\\.|'')*'", " ", condition)
    return re.findall(r"[A-Za-z_][A-Za-z0-9_]*", without_texts)


def guesses(entity: Entity, types: Mapping[str, str]) -> list[str]:
    """What may be meant by the words that are not accepted.

    types: Spark's, by what databases call them.
    """
    package, event_formats = rules()
    known = package._known_settings()
    settings, of_columns = known["entity"], known["column"]
    words: list[tuple[str | None, Any]] = [
        (entity.load_type, settings["load_type"]["accepted"]),
        (entity.format, settings["source"]["settings"]["format"]["accepted"]),
        (entity.business_date_type, settings["business_date_type"]["accepted"]),
        (str(entity.events.get("format") or ""), event_formats),
    ]
    words += [(kind, [*EXTRA_MODELS, *ARCHIVE_MODELS]) for kind in entity.extra]
    renamed = []
    for column in entity.columns:
        plain_type = re.split(r"[(<]", column.data_type)[0].strip().lower()
        words.append((column.format, of_columns["format"]["by_type"].get(plain_type)))
        words.append((column.encoding, of_columns["encoding"]["by_type"].get(plain_type)))
        if package._hash_type(column.data_type)["problem"]:
            words.append((plain_type, [*TYPES, *types]))
        if package._reserved([column.name.lower()], entity.load_type == "events"):
            folded = column.name.lower()
            renamed.append(f"{column.name!r}: call it source_{folded} and say from={column.name}")
    found = []
    for word, accepted in words:
        is_known = not word or not accepted or (word in accepted and word not in types)
        if not is_known and (close := declared.close(word or "", accepted)):
            found.append(f"{word!r}: did you mean {types.get(close, close)}?")
    return found + renamed


def identifier(text: str) -> str:
    """A plain column name: 'Order No.' and 'orderNo' become order_no, 'Größe' groesse."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    spelled = spaced.lower().translate(_LETTERS)
    letters = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", spelled))
    plain = re.sub(r"[^a-z0-9]+", "_", letters).strip("_")
    return f"c_{plain}" if plain[:1].isdigit() else plain
