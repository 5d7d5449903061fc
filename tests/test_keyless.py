"""Tables without a key: rows are told apart by all columns and their number among equals.

Random multisets are loaded date by date, and a Counter says how often each distinct row is there.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from project import Project
from shop import Shop
from spark_cdc.hashing import numbered_hash, row_hash
from spark_cdc.jinja_bridge import Macros, load_macros, load_macros_of
from warehouse import Warehouse, described, land_lines

pytestmark = pytest.mark.proves("load types")

COLUMNS: dict[str, Any] = {"history": "int", "name": "string", "number": "int", "share": "double"}
POLICIES: dict[str, dict[str, Any]] = {
    "every load": {"loads": 0},
    "the first only": {"loads": 10**9, "changed_share": 1e9, "rows": 10**12},
}
HISTORIES = 12
DAYS = tuple(f"2024-01-{day:02d}" for day in range(1, 29))
# What the numbers of a CSV file are in the warehouse; None is a value that can't be accepted.
NUMBERS = {"": "null", "0": "0", "1": "1", "x": None}
SHARES = {"": "null", "0.0": "0.0", "-0.0": "0.0", "NaN": "NaN", "1.5": "1.5"}
NAMES = {"": "null", '""': "", "a": "a", "b": "b"}

Distinct = tuple[str, ...]
Command = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def macros() -> Macros:
    return load_macros()


@dataclass
class Extract:
    """What a date sends: lines of a file, and what is in them."""

    lines: list[str] = field(default_factory=list)
    accepted: Counter[Distinct] = field(default_factory=Counter)
    ruled_out: Counter[Distinct] = field(default_factory=Counter)
    unread: int = 0

    def add(self, history: int, name: str, number: str, share: str) -> None:
        """A row; of rows named b a rule takes no number 1."""
        self.lines.append(f"{history},{name},{number},{share}")
        if NUMBERS[number] is None:
            self.unread += 1
            return
        row = (str(history), NAMES[name], str(NUMBERS[number]), SHARES[share])
        (self.ruled_out if row[1:3] == ("b", "1") else self.accepted)[row] += 1


def random_extract(chance: random.Random, before: Extract, unread: float) -> Extract:
    """About half of the rows before, some of them several times, and new ones."""
    extract = Extract()
    kept = [line for line in before.lines if chance.random() < 0.6]
    lines = kept + chance.choices(kept, k=len(kept) // 3) if kept else []
    for history, _ in itertools.product(range(HISTORIES), range(3)):
        number = "x" if chance.random() < unread else chance.choice(list(NUMBERS)[:-1])
        values = (chance.choice(list(NAMES)), number, chance.choice(list(SHARES)))
        lines += [",".join((str(history), *values))] * chance.choice((0, 1, 1, 1, 3))
    for line in chance.sample(lines, len(lines)):
        history, name, number, share = line.split(",")
        extract.add(int(history), name, number if unread or number != "x" else "", share)
    return extract


def after(state: Counter[Distinct], extract: Extract) -> Counter[Distinct]:
    """How often each row is there: as the source says, as far as its rows can be accepted.

    A row that a rule takes out stays if it was there; if a row can't be read, nothing is deleted.
    """
    sent = extract.accepted + extract.ruled_out
    return (
        Counter(
            {
                row: max(
                    extract.accepted[row],
                    state[row] if extract.unread else min(state[row], sent[row]),
                )
                for row in {*state, *extract.accepted}
            }
        )
        + Counter()
    )


def held(shop: Shop, view: str, condition: str = "true") -> Counter[Distinct]:
    """How often each distinct row is in a view."""
    rows = shop.query(
        "select string(history), coalesce(name, 'null'), coalesce(string(number), 'null'),"
        " coalesce(string(share + 0.0D), 'null'), count(*)"
        f" from {{s}}.{view} where {condition} group by all"
    )
    return Counter({tuple(row[:-1]): row[-1] for row in rows})


def changes(state: Counter[Distinct], now: Counter[Distinct]) -> tuple[int, int, int]:
    """Inserts, updates and deletes between two states."""
    return (now - state).total(), 0, (state - now).total()


@pytest.mark.parametrize(
    ("policy", "unread", "is_large"),
    [
        ("every load", 0.03, False),
        ("the first only", 0.03, True),
        pytest.param("every load", 0.0, True, marks=pytest.mark.full),
        pytest.param("the first only", 0.0, False, marks=pytest.mark.full),
        pytest.param("the first only", 0.03, False, marks=pytest.mark.full),
    ],
)
def test_counts_per_row_are_those_of_the_source(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, policy: str, unread: float, is_large: bool
) -> None:
    """is_large: deletes are found by a statement of their own, as of a large state."""
    if is_large:

        def separately(entity: Any, load: dict[str, Any]) -> bool:
            return load["base"] is not None and not load["redefines"]

        monkeypatch.setitem(shop.macros._functions, "_deletes_separately", separately)
    chance = random.Random(f"{policy} {unread} {is_large}")
    rules = {
        "no_b": {"condition": "not (name = 'b' and number = 1)", "action": "drop", "at_most": 1}
    }
    name = f"bag_{policy.replace(' ', '_')}_{bool(unread)}_{is_large}".lower()
    shop.entity(
        name,
        COLUMNS,
        keyless=True,
        on_reject="quarantine",
        rules=rules if unread else {},
        checkpoint=POLICIES[policy],
        guards={"rejected_share": None},
    )
    extract, state, states = Extract(), Counter[Distinct](), []
    # some of the loads can read all rows, so that what was held goes
    for day, share in zip(DAYS, [0, unread, 0, unread, 0], strict=False):
        extract = random_extract(chance, extract, share)
        if not unread:
            extract.accepted += extract.ruled_out
            extract.ruled_out.clear()
        now = after(state, extract)
        shop.land(name, day, "history,name,number,share", *extract.lines)
        for again in range(2 if day == DAYS[3] else 1):  # a rerun takes the load's place
            shop.load(day, name, spark_cdc_guards=dict.fromkeys(("deleted_share", "rows_band")))
            counts = shop.audit["counts"]
            assert (counts["I"], counts["U"], counts["D"]) == changes(state, now), (day, again)
            assert counts["R"] == extract.unread + extract.ruled_out.total()
            assert shop.audit["rows_in"] == len(extract.lines)
            assert held(shop, f"{name}_current") == now, (day, again)
        states.append(now)
        state = now
    if not unread:
        assert state == extract.accepted
    assert not shop.query(f"select * from {{s}}.{name}_history where operation = 'U'")
    for day, then in zip(DAYS, states, strict=False):  # on any date
        is_valid = f"eff_start_date <= '{day}' and coalesce(eff_end_date > '{day}', true)"
        assert held(shop, f"{name}_versions", is_valid) == then, day
    # what tells rows apart is unique, and docs/hash.md says what it is
    rows = shop.query("select key_hash, nonkey_hash from {s}." + f"{name}_current order by all")
    assert len({key for key, _ in rows}) == len(rows)
    for hashed, equals in itertools.groupby(sorted(rows, key=lambda row: row[1]), lambda r: r[1]):
        keys = {key for key, _ in equals}
        numbered = {numbered_hash(bytes.fromhex(hashed), n).hex() for n in range(1, 1 + len(keys))}
        assert keys == numbered


def test_a_number_that_shrinks_deletes_and_one_that_grows_inserts(shop: Shop) -> None:
    shop.entity("steps", {"name": "string"}, keyless=True, guards={"deleted_share": None})
    for day, count in zip(DAYS, (1, 3, 1, 2), strict=False):
        shop.land("steps", day, "name", *["a"] * count, "b")
        shop.load(day, "steps", spark_cdc_guards={"min_deleted": 100})
    assert shop.query(
        "select business_date, operation, count(*) from {s}.steps_history group by all order by all"
    ) == [
        (DAYS[0], "I", 2),
        (DAYS[1], "I", 2),
        (DAYS[2], "D", 2),
        (DAYS[3], "I", 1),
    ]
    # b was never touched, and of a one row is the first one still
    since = shop.rows("steps_current", "name, eff_start_date")
    assert since == [("a", DAYS[0]), ("a", DAYS[3]), ("b", DAYS[0])]


def test_untracked_columns_tell_no_rows_apart(shop: Shop) -> None:
    columns = {"name": "string", "seen": {"data_type": "string", "role": "untracked"}}
    shop.entity("seen", columns, keyless=True, guards={"deleted_share": None})
    for day, lines in zip(
        DAYS, (("a,1", "a,2", "b,1"), ("a,3", "a,2", "b,2"), ("b,9", "a,2")), strict=False
    ):
        shop.land("seen", day, "name,seen", *lines)
        shop.load(day, "seen", spark_cdc_guards={"min_deleted": 100})
        assert shop.rows("seen_current", "concat(name, ',', seen)") == sorted((x,) for x in lines)
    assert shop.rows("seen_history", "name, operation, business_date") == [
        ("a", "D", DAYS[2]),
        ("a", "I", DAYS[0]),
        ("a", "I", DAYS[0]),
        ("b", "I", DAYS[0]),
    ]


def test_sensitive_columns_are_counted_too(cursor: Any, schema: str, tmp_path: Path) -> None:
    columns = {"name": {"data_type": "string", "sensitive": True}, "number": "int"}
    source = {"path": f"{tmp_path}/{{business_date}}"}
    apart = Warehouse(
        cursor, schema, tmp_path, described("apart", columns, keyless=True, source=source)
    )
    for day, lines in zip(
        DAYS, (("a,1", "a,1", "b,1"), ("a,1", "a,1", "a,1", "b,1")), strict=False
    ):
        land_lines(tmp_path / day, "name,number", *lines)
        apart.load(day)
    assert [apart.audit["counts"][operation] for operation in "IUD"] == [1, 0, 0]
    for sql, names in (
        (apart.view_sql("current"), "aaab"),
        (apart.plain_sql("current"), [None] * 4),
    ):
        cursor.execute(f"select name, number, key_hash from ({sql}) order by all")
        rows = cursor.fetchall()
        assert [row[:2] for row in rows] == [(name, 1) for name in names]
        assert len({row[2] for row in rows}) == 4
        # the hashes of rows are keyed, so that nobody can try values
        plain = row_hash({"name": "string", "number": "int"}, {"name": "b", "number": 1})
        assert numbered_hash(plain, 1).hex() not in {row[2] for row in rows}


@pytest.mark.parametrize(
    "format",
    ["parquet", "table", *(pytest.param(f, marks=pytest.mark.full) for f in ("json", "orc"))],
)
def test_other_sources(shop: Shop, format: str) -> None:
    """JSON and typed files, and a table without dates, whose load reads its present rows."""
    name = f"from_{format}"
    columns = {"number": "int", "parts": "array<string>", "pairs": "map<string,int>"}
    shop.entity(
        name, columns, keyless=True, source={"format": format}, guards={"deleted_share": None}
    )
    rows = ("(1, array('a', null), map('x', 1))", "(null, null, null)", "(2, array(), map())")
    if format == "table":
        del shop.nodes[name]["config"]["meta"]["spark_cdc"]["source"]["path"]
        shop.macros._functions["_landing_source"] = lambda entity: f"{shop.schema}.now"
    for day, numbers in zip(DAYS, ((3, 2, 0), (1, 2, 2), (1, 3, 2)), strict=False):
        values = ", ".join(row for row, n in zip(rows, numbers, strict=True) for _ in range(n))
        sql = f"select * from values {values} as rows (number, parts, pairs)"
        folder = shop.landing / name / day
        if format == "table":
            shop.query("drop table if exists {s}.now")
            shop.query(f"create table {{s}}.now using parquet as {sql}")
        else:
            shop.query(f"insert overwrite directory '{folder}' using {format} {sql}")
        shop.load(day, name, spark_cdc_guards={"min_deleted": 100})
        found = dict(shop.query(f"select number, count(*) from {{s}}.{name}_current group by all"))
        assert found == {n: c for n, c in zip((1, None, 2), numbers, strict=True) if c}, day
    assert not shop.query(f"select * from {{s}}.{name}_history where operation = 'U'")


def test_wide_tables(shop: Shop) -> None:
    """Spark's optimizer must not follow the hash of all columns through every name it has."""
    names = [f"c{number:02}" for number in range(60)]
    shop.entity("wide", dict.fromkeys(names, "string"), keyless=True, on_reject="quarantine")
    shop.query("set spark.sql.thriftServer.queryTimeout = 120s")
    for day, values in zip(DAYS, ("aab", "abb", "abbc"), strict=False):
        shop.land("wide", day, ",".join(names), *(",".join([value] * 60) for value in values))
        shop.load(day, "wide", spark_cdc_guards={"min_deleted": 100})
        assert shop.rows("wide_current", "c59") == [(value,) for value in values]
    assert [shop.audit["counts"][operation] for operation in "IUD"] == [1, 0, 0]


KEY = {"data_type": "int", "role": "key"}
PLAIN: dict[str, Any] = {"name": "string"}
NAME = {"name": "name", "data_type": "string"}


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        (PLAIN, {}, "; a table without a key takes keyless: true (--keyless)"),
        (PLAIN | {"id": KEY}, {"keyless": True}, "but a column has the role key: remove one of"),
        (PLAIN, {"keyless": True, "load_type": "delta"}, "keyless is true, but load_type is delta"),
        (
            PLAIN | {"op": {"data_type": "string", "role": "control"}, "at": "int"},
            {
                "keyless": True,
                "load_type": "events",
                "events": {"format": "flagged_rows", "operation": "op", "order": ["at"]},
            },
            "of rows that are only ever inserted, events.insert_only: true",
        ),
        (
            {"name": {"data_type": "string", "role": "untracked"}},
            {"keyless": True},
            "no column is compared, so that nothing tells rows apart",
        ),
        (PLAIN, {"keyless": True, "on_duplicate_key": "quarantine"}, "no key comes twice"),
        (
            PLAIN,
            {"keyless": True, "sources": {"delta": {"path": "d/{business_date}"}}},
            "sources.delta",
        ),
        (PLAIN, {"keyless": "yes"}, "keyless is 'yes'; accepted are true and false"),
    ],
)
def test_what_is_refused(
    macros: Macros, columns: dict[str, Any], settings: dict[str, Any], message: str
) -> None:
    node = described("bag", columns, **{"source": {"path": "bag/{business_date}"}} | settings)
    problems = "\n".join(macros._entity_problems("bag", node))
    assert message in problems
    assert message in "\n".join(macros._needed_problems("bag", node)) or "sources" in message


def test_merge_finds_rows_by_their_hash() -> None:
    macros, _ = load_macros_of("bag", {"source": {"path": "p"}, "keyless": True}, [NAME])
    entity = macros._entity("bag")
    columns = macros._target_columns(entity)
    assert [column["name"] for column in columns] == ["name", "key_hash", "eff_start_date"]
    target = {"entity": entity, "columns": columns, "relation": "t"}
    sql = macros._merge_target_sql(target, "select 1", None)
    assert "published.key_hash = came.key_hash" in sql
    assert "published.key_hash <=> came.key_hash" not in sql


def test_a_key_is_needed_where_none_can_be_missing(macros: Macros) -> None:
    """Deltas are not told of keyless, which is not for them."""
    node = described("bag", PLAIN, load_type="delta", source={"path": "bag/{business_date}"})
    problems = "\n".join(macros._entity_problems("bag", node))
    assert "no column has the role key" in problems
    assert "keyless" not in problems


def test_a_run_with_deltas_is_refused(shop: Shop) -> None:
    shop.entity("never", PLAIN, keyless=True)
    shop.land("never", DAYS[0], "name", "a")
    refused = shop.run(DAYS[0], "never", spark_cdc_load_type="delta")
    assert (
        "never: the var spark_cdc_load_type is delta, but the entity is keyless" in refused.output
    )


def test_columns_that_change(shop: Shop) -> None:
    """New ones are no change of a row; others are ordered, and each row is deleted and inserted."""
    shop.entity("wider", {"name": "string", "number": "int"}, keyless=True)
    shop.land("wider", DAYS[0], "name,number", "a,1", "a,1", "a,2", "b,")
    shop.load(DAYS[0], "wider")
    guards = {"spark_cdc_guards": {"min_deleted": 100}}

    added = {"name": "string", "number": "bigint", "more": "string"}
    shop.entity("wider", added, keyless=True)
    shop.land("wider", DAYS[1], "name,number,more", "a,1,", "a,1,x", "a,2,", "b,,")
    shop.load(DAYS[1], "wider", **guards)
    counts = shop.audit["counts"]
    assert (counts["N"], counts["I"], counts["U"], counts["D"]) == (3, 1, 0, 1)

    shop.entity(
        "wider", {"name": "string", "more": "string"}, keyless=True, dropped_columns="number"
    )
    shop.land("wider", DAYS[2], "name,more", "a,", "a,", "a,x", "b,")
    refused = shop.run(DAYS[2], "wider", **guards)
    assert "what tells its rows apart changes" in refused.output
    assert "spark_cdc_rekey: [wider]" in refused.output
    shop.load(DAYS[2], "wider", spark_cdc_rekey=["wider"], **guards)
    counts = shop.audit["counts"]  # b had no number, so that it is the row that it was
    assert (counts["N"], counts["I"], counts["U"], counts["D"]) == (1, 3, 0, 3)
    shop.load(DAYS[2], "wider", spark_cdc_rekey=["wider"], **guards)
    expected = [
        ("a", "x", DAYS[2]),
        ("a", None, DAYS[2]),
        ("a", None, DAYS[2]),
        ("b", None, DAYS[0]),
    ]
    found = shop.rows("wider_current", "name, more, eff_start_date")
    assert found == sorted(expected, key=repr)
    open_versions = "select name, more from {s}.wider_versions where is_current"
    assert sorted(shop.query(open_versions), key=repr) == sorted(
        (r[:2] for r in expected), key=repr
    )
    shop.land("wider", DAYS[3], "name,more", "a,", "a,", "a,x", "b,")
    shop.load(DAYS[3], "wider")
    assert [shop.audit["counts"][operation] for operation in "IUD"] == [0, 0, 0]

    shop.entity(
        "wider",
        {"name": "string", "more": {"data_type": "string", "role": "key"}},
        dropped_columns="number",
    )
    refused = shop.run(DAYS[4], "wider", spark_cdc_rekey=["wider"])
    assert (
        "rows were told apart by all columns in the loads so far, and are by a key"
        in refused.output
    )


def test_operations_end_to_end(project: Project, command: Command) -> None:
    """Loads by dbt, in bulk, a rerun, undo, redo, replay, compact, diff, change feed, verify."""
    project.entity("bag", {"name": "string", "number": "int"}, keyless=True, guards=None)
    for kind, call in (("changes", "changes()"), ("published", "publish('bag', format='parquet')")):
        path = project.folder / f"models/bag/bag_{kind}.sql"
        path.write_text(f"{{{{ spark_cdc.{call} }}}}\n", encoding="utf-8")
    sent = [
        ["a,1"] * 3 + ["b,2"],
        ["a,1"] * 1 + ["b,2"] * 2 + ["c,"],
        ["a,1"] * 2 + ["c,"] * 2,
        ["a,1"] * 4 + ["b,2", "c,"],
    ]
    off = {"spark_cdc_guards": {"deleted_share": None, "min_rows": 10**6}}

    def state() -> list[tuple[Any, ...]]:
        return project.rows("bag_current", "concat(name, ',', coalesce(string(number), ''))")

    def wanted(day: int) -> list[tuple[Any, ...]]:
        return sorted((line,) for line in sent[day])

    for day, lines in enumerate(sent):
        project.land("bag", DAYS[day], "name,number", *lines)
    project.load(DAYS[0], "bag", **off)
    assert state() == wanted(0)
    code, said = command("load", DAYS[1], DAYS[2], "--bulk", "--select", "bag")
    assert code == 0, said
    assert state() == wanted(2)
    figures = project.query(
        "select rows_in, rows_inserted, rows_updated, rows_deleted from {s}.cdc_loads"
        " where entity = 'bag' and status = 'committed' order by business_time"
    )
    assert figures == [(4, 4, 0, 0), (4, 2, 0, 2), (4, 2, 0, 2)]
    project.load(DAYS[3], "bag", **off)
    project.load(DAYS[3], "bag", **off)
    assert state() == wanted(3)
    before = project.rows("bag_history", "key_hash, operation, business_date")
    code, said = command("undo", "bag", "--to", DAYS[1])
    assert code == 0, said
    assert state() == wanted(1)
    code, said = command("redo", "bag")
    assert code == 0, said
    assert state() == wanted(3)
    code, said = command("diff", "bag", DAYS[1], DAYS[2])
    assert code == 0, said
    assert "2 added" in said and "2 removed" in said, said
    sent[1] = ["a,1", "d,"]
    project.land("bag", DAYS[1], "name,number", *sent[1])
    code, said = command("replay", "--from", DAYS[1], "--select", "bag", "--publish")
    assert code == 0, said
    assert state() == wanted(3)
    again = project.rows("bag_history", "key_hash, operation, business_date")
    assert [row for row in again if row[2] == DAYS[0]] == [r for r in before if r[2] == DAYS[0]]
    compacted = project.operate("compact", entities=["bag"], older_than_days=0, execute=True)
    assert compacted.success, compacted.output
    assert state() == wanted(3)
    project.land("bag", DAYS[4], "name,number", *sent[0])
    sent.append(sent[0])
    project.load(DAYS[4], "bag", **off)
    assert state() == wanted(4)
    kinds = dict(project.query("select _change_type, count(*) from {s}.bag_changes group by all"))
    assert set(kinds) == {"insert", "delete"}
    assert kinds["insert"] - kinds["delete"] == len(sent[4])
    code, said = command("load", DAYS[4], "--dry-run", "--select", "bag")
    assert code == 0 and "bag" in said, said
    erased = project.operate("erase", entity="bag", keys=[["a"]])
    assert "it has no key, by which rows could be told" in erased.output
    built = project.dbt("run", "--select", "bag_published")
    assert built.success, built.output
    assert len(set(project.rows("bag_published", "name, number, key_hash"))) == len(sent[4])
    tested = project.dbt("test", "--select", "bag_committed", "bag_current", "bag_versions")
    assert tested.success, tested.output
