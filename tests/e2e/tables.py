"""The tables of the shop: as PostgreSQL has them, as dbt reads them, and how values compare."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence


@dataclasses.dataclass(frozen=True)
class Kind:
    """A type of PostgreSQL: as Spark has it, its `encoding` in JSON messages, and how it compares.

    in_postgres, in_spark: queries' expressions of a value as text, {} is the column. same: what
    makes one text of equal values whose texts differ.
    """

    data_type: str
    encoding: str = ""
    in_postgres: str = "{}::text"
    in_spark: str = "cast({} as string)"
    same: Callable[[str], str] = str


KINDS = {
    "bigint": Kind("bigint"),
    "integer": Kind("int"),
    "text": Kind("string"),
    "boolean": Kind("boolean"),
    "uuid": Kind("string"),
    "json": Kind("string"),
    "jsonb": Kind("string"),
    # the shortest digits that tell a number from others, but laid out in two ways
    "double precision": Kind("double", same=lambda text: repr(float(text))),
    "numeric(12,2)": Kind("decimal(12,2)", "base64"),
    "numeric(24,6)": Kind("decimal(24,6)", "base64"),
    "date": Kind("date", "days"),
    # a time of day arrives as its microseconds
    "time": Kind("bigint", in_postgres="(extract(epoch from {}) * 1000000)::bigint::text"),
    "timestamp(3)": Kind("timestamp_ntz", "millis"),
    "timestamp": Kind("timestamp_ntz", "micros"),
    # the session of the check has the time zone UTC on both sides
    "timestamptz": Kind("timestamp", in_postgres="{}::timestamp::text"),
    "bytea": Kind("binary", in_postgres="encode({}, 'hex')", in_spark="lower(hex({}))"),
    "text[]": Kind("array<string>", "", "to_json({})::text", "to_json({})"),
    "integer[]": Kind("array<int>", "", "to_json({})::text", "to_json({})"),
}


@dataclasses.dataclass(frozen=True)
class Column:
    """A column by its name and its type in PostgreSQL.

    large: kept out of line there (TOAST), so that updates of others do not send it.
    """

    name: str
    type: str
    key: bool = False
    required: bool = False
    large: bool = False
    default: str = ""
    was: str = ""

    @property
    def kind(self) -> Kind:
        return KINDS[self.type]


@dataclasses.dataclass
class Table:
    """A table; its columns change while the shop is open."""

    name: str
    columns: list[Column]
    dropped: list[str] = dataclasses.field(default_factory=list)

    @property
    def keys(self) -> list[Column]:
        return [column for column in self.columns if column.key]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def values(self) -> list[Column]:
        return [column for column in self.columns if not column.key]

    def statements(self) -> list[str]:
        """Return what makes the table, and its part of the log of what was done to it.

        `did` in the schema `did` is written by who changes the table, in the same transaction.
        """
        columns = [
            f"{column.name} {column.type}{' not null' if column.key or column.required else ''}"
            for column in self.columns
        ]
        keys = ", ".join(column.name for column in self.keys)
        logged = ", ".join(f"{column.name} {column.type}" for column in self.columns)
        external = [
            f"alter table {self.name} alter {column.name} set storage external"
            for column in self.columns
            if column.large
        ]
        return [
            f"create table {self.name} ({', '.join(columns)}, primary key ({keys}))",
            *external,
            f"create table did.{self.name} (seq bigint default nextval('did.seq'), xid bigint"
            f" default pg_current_xact_id()::text::bigint, op text, {logged})",
        ]


def shop() -> list[Table]:
    """Return the tables as they are when the shop opens."""
    return [
        Table(
            "customers",
            [
                Column("customer_id", "bigint", key=True),
                Column("name", "text", required=True),
                Column("email", "text"),
                Column("tags", "text[]"),
                Column("scores", "integer[]"),
                Column("profile", "jsonb"),
                Column("credit", "numeric(12,2)"),
                Column("born", "date"),
                Column("active", "boolean"),
                Column("since", "timestamptz", required=True),
                Column("seen", "timestamp"),
                Column("reference", "uuid"),
                Column("biography", "text", large=True),
                Column("photo", "bytea", large=True),
            ],
        ),
        Table(
            "orders",
            [
                Column("region", "text", key=True),
                Column("order_no", "integer", key=True),
                Column("customer_id", "bigint", required=True),
                Column("ordered_at", "timestamp(3)", required=True),
                Column("shipped_at", "timestamptz"),
                Column("due", "time"),
                Column("total", "numeric(24,6)"),
                Column("status", "text"),
                Column("details", "json"),
                Column("document", "text", large=True),
            ],
        ),
        Table(
            "order_lines",
            [
                Column("region", "text", key=True),
                Column("order_no", "integer", key=True),
                Column("line_no", "integer", key=True),
                Column("sku", "text"),
                Column("quantity", "numeric(12,2)"),
                Column("price", "numeric(12,2)"),
                Column("weight", "double precision"),
                Column("discount", "numeric(12,2)"),
                Column("attributes", "jsonb"),
                Column("comment", "text", large=True),
            ],
        ),
    ]


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of a table's columns: what PostgreSQL is told, and what the table is then."""

    table: str
    words: str
    sql: Sequence[str]
    columns: Sequence[Column]
    dropped: str = ""


def changes(tables: Sequence[Table], tells_null: bool) -> list[Change]:
    """Return the changes that the shop sees, in their order.

    tells_null: whether null arrives where a column has a default. Apicurio's converter puts the
    default in its place and has no setting for that: such a column is never null then.
    """
    customers, orders, lines = (list(table.columns) for table in tables)
    phone = Column("phone", "text")
    grade = Column("grade", "text", default="new", required=not tells_null)
    state = Column("state", "text", was="status")
    return [
        Change(
            "customers",
            "column phone added",
            ["alter table {} add phone text"],
            [*customers, phone],
        ),
        Change(
            "orders",
            "column status renamed to state",
            ["alter table {} rename status to state"],
            [state if column.name == "status" else column for column in orders],
        ),
        Change(
            "order_lines",
            "column discount dropped",
            ["alter table {} drop discount"],
            [column for column in lines if column.name != "discount"],
            dropped_columns="discount",
        ),
        Change(
            "customers",
            "column grade added with a default",
            [f"alter table {{}} add grade text {'' if tells_null else 'not null '}default 'new'"],
            [*customers, phone, grade],
        ),
    ]


def apply(table: Table, change: Change) -> None:
    """Let a table be what a change makes of it."""
    table.columns = list(change.columns)
    table.dropped += [change.dropped] if change.dropped else []
