"""What happens in the shop: random transactions that interleave, and a log of what each did.

Nobody decodes anything for the log: each statement writes the rows that it returns into the table
of the same name in the schema `did`, and so in the same transaction. `seq` grows while the row is
locked, so per key it is the order of what happened.

All sessions belong to one thread, which lets them take turns as the seed says. A session leaves
alone what another one has touched and not committed, so that none waits for ever.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import random
import string
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import psycopg

from e2e.tables import Column, Table

Key = tuple[Any, ...]
SENTINEL = -1  # key of the row that tells how far all has come
WORDS = (
    "Ærø",
    "Zürich",
    "東京",
    "naïve",
    "🙂👍🏽",
    "O'Neill",
    'say "x"',
    "a\\b",
    "x\ny",
    "\ttab",
    "",
    "ß",
)
EPOCH = dt.datetime(2024, 1, 1)


class Values:
    """Random values by type."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def text(self) -> str:
        letters = "".join(self.chance.choices(string.ascii_letters, k=self.chance.randint(0, 12)))
        return f"{self.chance.choice(WORDS)} {letters}"

    def large(self) -> str:
        """Return what PostgreSQL keeps out of line."""
        return "".join(self.chance.choices(string.ascii_letters + "äöü€", k=3000))

    def number(self, digits: int, scale: int) -> str:
        most = 10**digits - 1
        whole = self.chance.choice((0, 1, most, self.chance.randint(0, most)))
        return f"{self.chance.choice(('', '-'))}{whole}e-{scale}"

    def time(self) -> dt.datetime:
        seconds = self.chance.randint(-3_000_000_000, 3_000_000_000)
        return EPOCH + dt.timedelta(seconds=seconds, microseconds=self.chance.randint(0, 999_999))

    def document(self) -> str:
        return json.dumps(
            {
                "n": self.chance.randint(-5, 10**15),
                "t": self.text(),
                "l": [None, True, {"deep": self.text()}],
            },
            ensure_ascii=self.chance.random() < 0.5,
        )

    def of(self, column: Column) -> Any:
        """Return a value for a column, null now and then where it may be."""
        chance = self.chance
        if not column.required and not column.key and chance.random() < 0.12:
            return None
        if column.large:
            text = self.large()
            return text.encode() if column.type == "bytea" else text
        few, doubles = range(chance.randint(0, 4)), (0.1, -0.0, 1e300, 5e-324)
        kinds: dict[str, Callable[[], Any]] = {
            "bigint": lambda: chance.choice((0, -(2**63), 2**63 - 1, chance.randint(1, 10**6))),
            "integer": lambda: chance.randint(-(2**31), 2**31 - 1),
            "text": self.text,
            "boolean": lambda: chance.random() < 0.5,
            "uuid": lambda: uuid.UUID(int=chance.getrandbits(128)),
            "json": self.document,
            "jsonb": self.document,
            "double precision": lambda: chance.choice((*doubles, chance.gauss(0, 1e6))),
            "numeric(12,2)": lambda: self.number(12, 2),
            "numeric(24,6)": lambda: self.number(24, 6),
            "date": lambda: self.time().date(),
            "time": lambda: self.time().time(),
            "timestamp(3)": self.time,
            "timestamp": self.time,
            "timestamptz": lambda: self.time().replace(tzinfo=dt.timezone.utc),
            "bytea": lambda: chance.randbytes(chance.randint(0, 9)),
            "text[]": lambda: [chance.choice((None, self.text())) for _ in few],
            "integer[]": lambda: [chance.choice((None, 7, -(2**31))) for _ in few],
        }  # fmt: skip
        return kinds[column.type]()


class Session:
    """One of the shop's connections, within or between transactions."""

    def __init__(self, connect: Callable[[], psycopg.Connection]) -> None:
        self.connection = connect()
        self.touched: dict[str, dict[Key, bool]] = {}  # by table and key: was it there before
        self.emptied: dict[str, set[Key]] = {}  # tables that it truncated: what was there
        self.steps = 0  # left until the end of the transaction
        self.events = 0  # of the transaction


class Workload:
    """Does random things to the tables.

    connect: opens a connection, in which nothing is committed by itself. rate: events per second
    at most. rows: how many each table has, about.
    """

    def __init__(
        self, tables: Sequence[Table], connect: Callable[[], psycopg.Connection], seed: int,
        rate: float = 200, rows: int = 300,
    ) -> None:  # fmt: skip
        self.tables, self.connect = {table.name: table for table in tables}, connect
        self.chance = random.Random(seed)
        self.values = Values(self.chance)
        self.rate, self.rows = rate, rows
        self.live: dict[str, set[Key]] = {table.name: set() for table in tables}
        self.sessions: list[Session] = []
        self.done: dict[str, int] = {}  # statements by kind, and what they came to
        self.events = 0  # committed
        self.broken = 0  # sessions that a crash of the database ended

    def prepare(self) -> None:
        """Make the tables, with rows that are there before anybody listens."""
        with self.connect() as connection:
            connection.execute("create schema did")
            connection.execute("create sequence did.seq")
            for table in self.tables.values():
                for sql in table.statements():
                    connection.execute(sql)
                for key in dict.fromkeys(self._new_key(table) for _ in range(self.rows // 3)):
                    self._insert(connection, table, key, "read")
        self._look()

    def _look(self) -> None:
        """Read anew which keys there are; nothing may be open then."""
        with self.connect() as connection:
            for table in self.tables.values():
                names = ", ".join(column.name for column in table.keys)
                found = connection.execute(f"select {names} from {table.name}").fetchall()
                self.live[table.name] = {key for key in found if key[-1] != SENTINEL}

    # ------------------------------------------------------------ statements

    def _insert(self, connection: psycopg.Connection, table: Table, key: Key, op: str) -> None:
        values = [self.values.of(column) for column in table.values()]
        self._write(connection, table, op, list(key) + values)

    def _write(
        self, connection: psycopg.Connection, table: Table, op: str, values: Sequence[Any]
    ) -> None:
        marks = ", ".join(f"%s::{column.type}" for column in table.columns)
        names = ", ".join(table.names)
        connection.execute(
            f"with changed as (insert into {table.name} ({names}) values ({marks}) returning *)"
            f" {self._logged(table, op)}",
            values,
        )

    def _logged(self, table: Table, op: str, source: str = "changed") -> str:
        names = ", ".join(table.names)
        return f"insert into did.{table.name} (op, {names}) select '{op}', {names} from {source}"

    def _where(self, table: Table) -> str:
        return " and ".join(f"{column.name} = %s::{column.type}" for column in table.keys)

    def _update(self, connection: psycopg.Connection, table: Table, key: Key) -> None:
        """Change some columns; large ones seldom, so that mostly they are not sent."""
        chosen = [
            column
            for column in table.values()
            if self.chance.random() < (0.1 if column.large else 0.4)
        ] or [table.values()[0]]
        sets = ", ".join(f"{column.name} = %s::{column.type}" for column in chosen)
        connection.execute(
            f"with changed as (update {table.name} set {sets} where {self._where(table)}"
            f" returning *) {self._logged(table, 'update')}",
            [*(self.values.of(column) for column in chosen), *key],
        )

    def _delete(self, connection: psycopg.Connection, table: Table, key: Key) -> None:
        connection.execute(
            f"with changed as (delete from {table.name} where {self._where(table)} returning *)"
            f" {self._logged(table, 'delete')}",
            key,
        )

    def _move(self, connection: psycopg.Connection, table: Table, old: Key, new: Key) -> None:
        """Give a row another key, and now and then another value, too."""
        sets = [f"{column.name} = %s::{column.type}" for column in table.keys]
        values = list(new)
        small = [column for column in table.values() if not column.large]
        if self.chance.random() < 0.3:
            column = self.chance.choice(small)
            sets.append(f"{column.name} = %s::{column.type}")
            values.append(self.values.of(column))
        names = ", ".join(column.name for column in table.keys)
        marks = ", ".join(f"%s::{column.type}" for column in table.keys)
        connection.execute(
            f"with changed as (update {table.name} set {', '.join(sets)} where"
            f" {self._where(table)} returning *), gone as (insert into did.{table.name}"
            f" (op, {names}) values ('delete', {marks})) {self._logged(table, 'insert')}",
            [*values, *old, *old],
        )

    def _truncate(self, connection: psycopg.Connection, table: Table) -> None:
        connection.execute(f"truncate {table.name}")
        connection.execute(f"insert into did.{table.name} (op) values ('truncate')")

    # ------------------------------------------------------------ turns

    def _new_key(self, table: Table) -> Key:
        if table.name == "customers":
            return (self.chance.randint(1, self.rows * 8),)
        key: Key = (self.chance.choice(("EU", "Ümlaut", "北")), self.chance.randint(1, self.rows))
        return key if table.name == "orders" else (*key, self.chance.randint(1, 4))

    def _free(self, session: Session, table: Table, key: Key) -> bool:
        """Return whether no other session holds a row."""
        return not any(
            table.name in other.emptied or key in other.touched.get(table.name, ())
            for other in self.sessions
            if other is not session
        )

    def _pick(self, session: Session, table: Table, number: int = 1) -> list[Key]:
        """Return keys that are there and that the session may change."""
        keys = sorted(self.live[table.name], key=repr)
        self.chance.shuffle(keys)
        return [key for key in keys[:40] if self._free(session, table, key)][:number]

    def _fresh(self, session: Session, table: Table) -> Key | None:
        for _ in range(20):
            key = self._new_key(table)
            if key not in self.live[table.name] and self._free(session, table, key):
                return key
        return None

    def _note(self, session: Session, table: Table, *keys: Key) -> None:
        touched = session.touched.setdefault(table.name, {})
        there = self.live[table.name] | session.emptied.get(table.name, set())
        for key in keys:
            touched.setdefault(key, key in there)

    def _count(self, kind: str, session: Session, events: int) -> None:
        self.done[kind] = self.done.get(kind, 0) + 1
        session.events += events

    def _step(self, session: Session) -> None:
        """Do one thing in a session's transaction."""
        table = self.chance.choice(list(self.tables.values()))
        live, connection = self.live[table.name], session.connection
        few = len(live) < self.rows
        kinds = {
            "insert": 40 if few else 14, "update": 40, "delete": 6 if few else 14, "move": 8,
            "swap": 3, "many": 2, "truncate": 0.15,
        }  # fmt: skip
        kind = self.chance.choices(list(kinds), list(kinds.values()))[0]
        if kind == "insert":
            key = self._fresh(session, table)
            if key is None:
                return
            self._note(session, table, key)
            self._insert(connection, table, key, "insert")
            live.add(key)
            self._count(kind, session, 1)
        elif kind in ("update", "delete"):
            for key in self._pick(session, table):
                self._note(session, table, key)
                if kind == "update":
                    self._update(connection, table, key)
                else:
                    self._delete(connection, table, key)
                    live.discard(key)
                self._count(kind, session, 1)
        elif kind == "move":
            new = self._fresh(session, table)
            for old in self._pick(session, table) if new else []:
                self._note(session, table, old, new)
                self._move(connection, table, old, new)
                live.discard(old)
                live.add(new)
                self._count(kind, session, 2)
        elif kind == "swap":
            # two rows change places by way of a third key, as an immediate primary key asks for
            parked, pair = self._fresh(session, table), self._pick(session, table, 2)
            if parked and len(pair) == 2:
                self._note(session, table, parked, *pair)
                for old, new in ((pair[0], parked), (pair[1], pair[0]), (parked, pair[1])):
                    self._move(connection, table, old, new)
                self._count(kind, session, 6)
        elif kind == "many":
            keys = self._pick(session, table, 15)
            self._note(session, table, *keys)
            for key in keys:
                self._update(connection, table, key)
            self._count(kind, session, len(keys))
        elif not any(
            table.name in other.touched for other in self.sessions if other is not session
        ):
            self._note(session, table)
            session.emptied.setdefault(table.name, set(live))
            self._truncate(connection, table)
            live.clear()
            self._count(kind, session, 1)

    def _finish(self, session: Session, commit: bool) -> None:
        """End the transaction; what it did to the keys that are there is taken back, if it was."""
        if commit:
            session.connection.commit()
            self.events += session.events
            self.done["commit"] = self.done.get("commit", 0) + 1
        else:
            session.connection.rollback()
            for name, keys in session.touched.items():
                live = self.live[name]
                live.update(session.emptied.get(name, ()))
                live.difference_update(keys)
                live.update(key for key, was_there in keys.items() if was_there)
            self.done["rollback"] = self.done.get("rollback", 0) + 1
        session.touched, session.emptied = {}, {}
        session.steps = session.events = 0

    def run(self, seconds: float, sessions: int = 4) -> Iterator[None]:
        """Work for so long; yields after each turn. All transactions are ended then.

        When the database goes away the sessions wait for it, and go on in new connections.
        """
        deadline, began, counted = time.monotonic() + seconds, time.monotonic(), self.events
        while time.monotonic() < deadline:
            try:
                while len(self.sessions) < sessions:
                    self.sessions.append(Session(self.connect))
                self._turn(self.chance.choice(self.sessions))
            except psycopg.OperationalError:
                self._lost()
            yield
            ahead = (self.events - counted) / self.rate - (time.monotonic() - began)
            time.sleep(max(0.0, min(ahead, 0.5)))
        with contextlib.suppress(psycopg.OperationalError):
            for session in self.sessions:
                self._finish(session, commit=True)
        self.close()

    def _turn(self, session: Session) -> None:
        if session.steps == 0:
            session.steps = self.chance.choice((1, 1, 2, 3, 5, 9))
        self._step(session)
        session.steps -= 1
        if session.steps == 0:
            self._finish(session, commit=self.chance.random() > 0.07)

    def _lost(self) -> None:
        """The database is gone: wait for it, and look which keys are there now."""
        self.broken += len(self.sessions)
        self.close()
        for _ in range(600):
            with contextlib.suppress(psycopg.OperationalError):
                self._look()
                return
            time.sleep(0.2)
        raise TimeoutError("PostgreSQL is not back after two minutes")

    def close(self) -> None:
        """Close the sessions; what is open is rolled back."""
        for session in self.sessions:
            with contextlib.suppress(psycopg.Error):
                session.connection.close()
        self.sessions = []

    # ------------------------------------------------------------ standstill

    def sentinel(self, number: int) -> None:
        """Write into each table, in one transaction, a row that says that nothing is behind it."""
        with self.connect() as connection:
            for table in self.tables.values():
                key = {column.name: sentinel_of(column) for column in table.keys}
                text = next(c for c in table.values() if c.type == "text" and not c.large)
                values = [
                    key.get(c.name, f"sentinel {number}" if c is text else self.values.of(c))
                    for c in table.columns
                ]
                self._delete(connection, table, tuple(key.values()))
                self._write(connection, table, "insert", values)


def sentinel_of(column: Column) -> Any:
    """Return the value of a key column in the row that tells how far all has come."""
    return "sentinel" if column.type == "text" else SENTINEL


def change_columns(connection: psycopg.Connection, table: Table, statements: Sequence[str]) -> None:
    """Change a table's columns, and those of its log with them."""
    for sql in statements:
        for name in (table.name, f"did.{table.name}"):
            connection.execute(sql.format(name))
    connection.commit()
