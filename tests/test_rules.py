"""Rules: what rows must be like, by entity; rows that break one are counted, set aside, or stop it.

Random loads of all types against a plain oracle, then what a user sees of one case each.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from project import Project
from shop import Shop
from spark_cdc.jinja_bridge import CompilerError, Node, load_macros
from test_backfill import backfill
from warehouse import Relation, Warehouse

pytestmark = pytest.mark.proves("rules")

RULES = {
    "not_small": {"condition": "value >= 2"},
    "even": {"condition": "amount % 2 = 0", "action": "drop", "at_most": None},
    "known": {"condition": "value is not null and amount is not null", "at_most": 1},
}
ALWAYS, NEVER = {"loads": 1, "changed_share": 0}, {"loads": 999, "changed_share": 1e9}
EVERY_OTHER = {"loads": 2, "changed_share": 1e9}
TYPES = {"id": "int", "value": "int", "amount": "int", "seen": "int"}
ROLES = {"id": "key", "seen": "untracked", "op": "control", "seq": "control"}
EVENTS = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}


@dataclass(frozen=True)
class Row:
    id: int
    value: int | None
    amount: int | None
    seen: int
    op: str = "U"

    @property
    def broken(self) -> set[str]:
        """The rules that it breaks; null is nothing that a comparison finds wrong."""
        found = {"known"} if None in (self.value, self.amount) else set()
        found |= {"not_small"} if self.value is not None and self.value < 2 else set()
        return found | ({"even"} if self.amount is not None and self.amount % 2 else set())


@dataclass
class Oracle:
    """The state, and what the last load did."""

    rows: dict[int, tuple[Row, str, str]] = field(default_factory=dict)  # with operation and date
    counts: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    judged: int = 0
    rejects: set[tuple[int, str]] = field(default_factory=set)

    def load(self, kind: str, date: str, rows: list[Row]) -> None:
        self.counts, self.broken, self.judged, self.rejects = Counter(), Counter(), 0, set()
        missing = "D" if kind == "full" else "X"
        after = {}
        for row in rows:
            before = self.rows.get(row.id)
            if row.op == "D":
                self.counts["D" if before else "T"] += 1
                continue
            self.judged += 1
            self.broken.update(row.broken)
            if "even" in row.broken:
                self.counts["R"] += 1
                self.rejects.add((row.id, ", ".join(name for name in RULES if name in row.broken)))
                if before:
                    after[row.id] = (*before[:1], "X", before[2])
            elif before is None:
                after[row.id] = (row, "I", date)
            elif (row.value, row.amount) != (before[0].value, before[0].amount):
                after[row.id] = (row, "U", date)
            else:
                after[row.id] = (row, "N", before[2])
        came = {row.id for row in rows}
        for key, before in self.rows.items():
            if key not in came and missing == "X":
                after[key] = (before[0], "X", before[2])
            elif key not in came:
                self.counts["D"] += 1
        self.counts.update(operation for _, operation, _ in after.values())
        self.rows = after

    @property
    def current(self) -> list[tuple[Any, ...]]:
        return sorted(
            ((key, row.value, row.amount, operation, date) for key, (row, operation, date)
             in self.rows.items()),
            key=str,
        )  # fmt: skip


def warehouse(cursor: Any, schema: str, folder: Path, kind: str, **settings: Any) -> Warehouse:
    """An entity with rules, of which loads of a kind are made."""
    names = [*TYPES, *{"full": [], "delta": ["op"]}.get(kind.split()[0], ["op", "seq"])]
    source = {"format": "csv", "path": f"{folder}/{{business_date}}"}
    if kind == "events, typed":
        source["format"] = "parquet"
    settings = {
        "load_type": kind.split()[0].rstrip(","),
        "source": source,
        "rules": RULES,
    } | settings
    settings |= {"deleted_when": "op = 'D'"} if kind == "delta" else {}
    settings |= {"events": EVENTS} if "events" in kind else {}
    types = TYPES | {"op": "string", "seq": "bigint"}
    columns = [
        {
            "name": name,
            "data_type": types[name],
            "config": {"meta": {"role": ROLES[name]} if name in ROLES else {}},
        }
        for name in names
    ]
    node = {
        "name": "stg_ruled",
        "config": {"meta": {"spark_cdc": settings}},
        "columns": columns,
        "raw_code": "{{ spark_cdc.stage() }}",
    }
    made = Warehouse(cursor, schema, folder, node)
    made.replace("_is_short_stream", lambda macro, count: False)
    if "apart" in kind:
        made.replace("_deletes_separately", lambda macro, *words: words[1].get("base") is not None)
    return made


def random_rows(chance: random.Random, kind: str, dropping: bool = True) -> list[Row]:
    rows = []
    for key in range(40):
        if chance.random() < 0.7:
            amount = chance.choice([2, 4, 4, 4, None, 3 if dropping else 2])
            op = "D" if kind != "full" and chance.random() < 0.2 else "U"
            rows.append(Row(key, chance.choice([1, 2, 3, None]), amount, chance.randrange(2), op))
    return chance.sample(rows, len(rows))


def land(made: Warehouse, date: str, rows: list[Row], chance: random.Random, first: int) -> None:
    """Write the rows; of change events some that others overtake before them."""
    names = [column["name"] for column in made.node["columns"]]
    events = [Row(row.id, 1, 3, 0) for row in rows if "seq" in names and chance.random() < 0.3]
    lines = []
    for number, row in enumerate([*events, *rows]):
        values = {**vars(row), "seq": first + number}
        lines.append(",".join("" if values[n] is None else str(values[n]) for n in names))
    folder = made.folder / date
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / "rows.csv"
    text.write_text("\n".join([",".join(names), *lines]) + "\n")
    if made.entity["source"]["format"] == "parquet":
        types = ", ".join(f"{c['name']} {c['data_type']}" for c in made.node["columns"])
        made.cursor.execute(
            f"create or replace temporary view typed ({types}) using csv"
            f" options (path '{text}', header true)"
        )
        made.cursor.execute("cache table typed")
        made.cursor.execute(
            f"insert overwrite directory '{folder}' using parquet select * from typed"
        )
        made.cursor.execute("uncache table typed")


def logged(made: Warehouse) -> list[dict[str, Any]]:
    """What cdc_loads says of the rules, of the loads in order."""
    made.cursor.execute(
        "select to_json(rules) from"
        f" {made.schema}.cdc_loads where status = 'committed' order by business_time"
    )
    return [
        {one["rule"]: (one["judged"], one["broken"]) for one in json.loads(row[0])}
        for row in made.cursor.fetchall()
    ]


def query(made: Warehouse, sql: str) -> list[tuple[Any, ...]]:
    made.cursor.execute(sql)
    return made.cursor.fetchall()


@pytest.mark.parametrize(
    ("kind", "checkpoint"),
    [
        pytest.param("full", NEVER, marks=pytest.mark.full),
        pytest.param("full", ALWAYS, marks=pytest.mark.full),
        pytest.param("full apart", EVERY_OTHER, marks=pytest.mark.full),
        pytest.param("delta", EVERY_OTHER, marks=pytest.mark.full),
        pytest.param("events", EVERY_OTHER, marks=pytest.mark.full),
        pytest.param("events, typed", EVERY_OTHER, marks=pytest.mark.full),
    ],
)
def test_random_loads(
    cursor: Any, schema: str, tmp_path: Path, kind: str, checkpoint: dict[str, Any]
) -> None:
    made = warehouse(cursor, schema, tmp_path, kind, checkpoint=checkpoint)
    chance, oracle, load_type = random.Random(kind), Oracle(), kind.split()[0].rstrip(",")
    seen: Counter[str] = Counter()
    results = []
    for day in range(1, 7):
        date = f"2024-06-0{day}"
        rows = random_rows(chance, load_type)
        land(made, date, rows, chance, 1000 * day)
        audit = made.load(date)
        oracle.load(load_type, date, rows)
        found = query(
            made,
            "select id, value, amount, operation, string(eff_start_date)"
            f" from ({made.view_sql('current')})",
        )
        assert sorted(found, key=str) == oracle.current, f"current after {date}"
        for operation in "IUDNXR":
            assert audit["counts"][operation] == oracle.counts[operation], (date, operation)
        results.append({name: (oracle.judged, oracle.broken[name]) for name in RULES})
        assert logged(made) == results, date
        rejects = made.macros._rejects_sql(made.entity, made.ledger, made.committed)
        sql = f"select id, rejected_rules from ({rejects}) where business_date = '{date}'"
        assert set(query(made, sql)) == oracle.rejects
        seen += oracle.counts
    assert set(seen) >= set("IUDNXR")
    if load_type == "full" and checkpoint != ALWAYS:
        marks = f"select count(*), count(value) from {made.ledger} where operation = 'W'"
        assert query(made, marks)[0][0] > 0 and query(made, marks)[0][1] == 0
    quality = made.macros._quality_sql("ruled", f"{schema}.cdc_loads", made.committed)
    rates = query(
        made, f"select rule, action, rows_judged, rows_broken, pass_rate from ({quality})"
    )
    assert len(rates) == 6 * len(RULES)
    assert all(rate == pytest.approx(1 - bad / judged) for _, _, judged, bad, rate in rates)
    assert {row[:2] for row in rates} == {
        (name, rule.get("action", "warn")) for name, rule in RULES.items()
    }
    # as the last load is while another one takes its place, which nobody sees yet
    log = made.macros._context_of_model()["write"]["load_log"]
    loads = [row[0] for row in query(made, f"select max(load_id) from {schema}.cdc_loads")]
    made.macros._set_load_status(log, "committed", "replaced", "ruled", loads)
    assert len(query(made, f"select * from ({quality})")) == len(rates)
    columns = ", ".join(name for name in made.macros._load_log_columns() if name != "status")
    cursor.execute(
        f"insert into {schema}.cdc_loads by name select {columns}, 'committed' as status"
        f" from {schema}.cdc_loads where status = 'replaced'"
    )
    assert len(query(made, f"select * from ({quality})")) == len(rates)


@pytest.mark.integration
@pytest.mark.parametrize("load_type", ["full", "delta"])
def test_a_backfill_counts_as_loads_one_by_one(
    cursor: Any, schema: str, tmp_path: Path, load_type: str
) -> None:
    rules = {"not_small": RULES["not_small"], "known": RULES["known"]}
    made = warehouse(cursor, schema, tmp_path, load_type, checkpoint=NEVER, rules=rules)
    chance, oracle = random.Random(load_type), Oracle()
    results, dates = [], [f"2024-06-0{day}" for day in range(1, 8)]
    for date in dates:
        # rows that stay as they are for some days
        rows = random_rows(random.Random(int(date[-1]) // 3), load_type, dropping=False)
        land(made, date, rows, chance, 0)
        oracle.load(load_type, date, rows)
        results.append({name: (oracle.judged, oracle.broken[name]) for name in rules})
    made.load(dates[0])
    backfill(made, dates[1:], 3)
    assert logged(made) == results
    current = f"select id, value, amount, string(eff_start_date) from ({made.view_sql('current')})"
    wanted = [(*row[:3], row[4]) for row in oracle.current]
    assert sorted(query(made, current), key=str) == sorted(wanted, key=str)


def test_a_backfill_drops_no_rows(cursor: Any, schema: str, tmp_path: Path) -> None:
    made = warehouse(cursor, schema, tmp_path, "full")
    for day in (1, 2, 3):
        land(made, f"2024-06-0{day}", [Row(1, 2, day, 0)], random.Random(1), 0)
    with pytest.raises(CompilerError, match="1 row of 2024-06-01 would be set aside"):
        backfill(made, [f"2024-06-0{day}" for day in (1, 2, 3)], 60)


def test_what_a_crash_left_out_of_cdc_loads_has_its_rules(
    cursor: Any, schema: str, tmp_path: Path
) -> None:
    made = warehouse(cursor, schema, tmp_path, "full")
    for day in (1, 2):
        land(made, f"2024-06-0{day}", [Row(1, 1, 2, 0), Row(2, 2, 2, 0)], random.Random(1), 0)
        made.load(f"2024-06-0{day}")
    before = logged(made)
    query(made, f"drop table {schema}.cdc_loads purge")
    query(made, made.macros._create_load_log_sql(Relation.create(None, schema, "cdc_loads")))
    ctx = made.macros._context_of_model()
    manifest = made.macros._read_manifest(ctx["committed"])
    rows = made.macros._missing_rows(ctx, manifest)
    made.macros._write_log(ctx["write"]["load_log"], ctx["entity"], rows)
    assert logged(made) == before == [{"not_small": (2, 1), "even": (2, 0), "known": (2, 0)}] * 2


# --- what a user sees ---------------------------------------------------------------------------

COLUMNS = {"id": {"data_type": "int", "role": "key"}, "value": "int"}


def test_a_rule_that_fails_stops_the_load(shop: Shop) -> None:
    rules = {"positive": {"condition": "value > 0", "action": "fail"}}
    shop.entity("strict", COLUMNS, rejects=True, rules=rules)
    shop.land("strict", "2024-06-01", "id,value", "1,1", "2,0", "3,")
    refused = shop.run("2024-06-01", "strict")
    assert refused.status["strict_committed"] == "error"
    for part in (
        "strict: 1 row of 2024-06-01 can't be accepted as declared in stg_strict; 1 of them:",
        "the rule positive is broken: value > 0",
        'in {"id": "2", "value": "0"}',
        "To reject them this once (always: action: drop of the rule):",
        "spark_cdc_skip_guards: [strict.failed_rules]}'",
        "Nothing was committed.",
    ):
        assert part in refused.output
    shop.load("2024-06-01", "strict", spark_cdc_skip_guards=["strict.failed_rules"])
    assert shop.rows("strict_current", "id, value") == [(1, 1), (3, None)]
    rejects = shop.rows("strict_rejects", "id, rejected_rules, rejected_reason")
    assert rejects == [(2, "positive", "the rule positive is broken: value > 0")]


def test_more_than_a_rule_accepts_stops_the_load(shop: Shop) -> None:
    rules = {
        "positive": {"condition": "value > 0", "at_most": 0.2},
        "small": {"condition": "value < 9", "action": "drop"},
    }
    guards = {"min_rows": 4}
    shop.entity("limited", COLUMNS, rejects=True, rules=rules, guards=guards)
    shop.land("limited", "2024-06-01", "id,value", "1,1", "2,0", "3,0", "4,9")
    refused = shop.run("2024-06-01", "limited")
    assert refused.status.get("limited_committed") == "error", refused.output
    for part in (
        "rules: 2 of 4 rows break positive (value > 0): a share of 0.5, accepted are 0.2;"
        " 1 of 4 rows break small (value < 9): a share of 0.25, accepted are 0.1",
        "spark_cdc_skip_guards: [limited.rules]}'",
    ):
        assert part in refused.output
    shop.load("2024-06-01", "limited", spark_cdc_skip_guards=["limited.rules"])
    assert shop.rows("limited_current", "id") == [(1,), (2,), (3,)]
    shown = "rule, action, rows_judged, rows_broken, pass_rate, business_time"
    assert shop.rows("limited_quality", shown) == [
        ("positive", "warn", 4, 2, 0.5, "2024-06-01"),
        ("small", "drop", 4, 1, 0.75, "2024-06-01"),
    ]
    # too few rows for shares
    shop.land("limited", "2024-06-02", "id,value", "1,0", "2,9")
    shop.load("2024-06-02", "limited")
    assert shop.rows("limited_current", "id, value, operation") == [(1, 0, "U"), (2, 0, "X")]


def test_dbt_stops_at_a_rule_and_shows_what_rules_found(project: Project) -> None:
    rules = {"positive": {"condition": "value > 0", "action": "fail"}}
    project.entity("shown", COLUMNS, rejects=True, rules=rules)
    model = project.folder / "models" / "shown" / "shown_quality.sql"
    model.write_text("{{ spark_cdc.quality() }}\n", "utf-8")
    project.land("shown", "2024-06-01", "id,value", "1,1", "2,0", "3,")
    refused = project.run("2024-06-01", "shown")
    assert refused.status["shown_committed"] == "error"
    assert "the rule positive is broken: value > 0" in refused.output
    assert "(always: action: drop of the rule):" in refused.output
    project.load("2024-06-01", "shown", spark_cdc_skip_guards=["shown.failed_rules"])
    assert project.rows("shown_current", "id, value") == [(1, 1), (3, None)]
    assert project.rows("shown_rejects", "id, rejected_rules") == [(2, "positive")]
    quality = project.rows("shown_quality", "rule, action, rows_judged, rows_broken")
    assert quality == [("positive", "fail", 3, 1)]


def test_dropped_rows_have_to_be_shown() -> None:
    models = ("orders_ledger", "orders_committed")
    nodes = {f"model.shop.{name}": {"name": name, "schema": "s", "alias": name} for name in models}
    macros = load_macros(graph=Node(nodes=nodes, sources={}))
    for action, found in (("drop", 1), ("warn", 0)):
        rules = {"even": {"condition": "true", "action": action}}
        settings = {"load_type": "full", "rules": rules}
        problems = macros._model_problems("orders", settings, "model.shop.orders_ledger")
        assert len(problems) == found
        assert all("Write the model orders_rejects" in text for text in problems)


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        (["value > 0"], "rules is not a mapping: write names of rules below it"),
        ({"a": "value > 0"}, "rules.a is not a mapping: write condition, action, at_most below it"),
        ({"a": {}}, "rules.a.condition is not a text: write a SQL condition over the columns"),
        ({"a": {"condition": " "}}, "rules.a.condition is empty"),
        (
            {"a": {"condition": "true", "on_break": "drop"}},
            "rules.a has the unknown key 'on_break'; accepted are condition, action, at_most",
        ),
        (
            {"a": {"condition": "true", "action": "stop"}},
            "rules.a.action is 'stop'; accepted are warn, drop, fail",
        ),
        ({"a": {"condition": "true", "at_most": 5}}, "rules.a.at_most is 5; accepted are shares"),
        (
            {"a": {"condition": "true", "action": "fail", "at_most": 0.1}},
            "rules.a.at_most is given, but with action: fail no row may break the rule",
        ),
        ({"No": {"condition": "true"}}, "rules has a rule called 'No'; accepted are lower-case"),
        (
            {f"r{number}": {"condition": "true"} for number in range(63)},
            "rules has 63 rules; accepted are at most 62",
        ),
    ],
)
def test_what_is_wrong_is_said(rules: Any, problem: str) -> None:
    columns = {
        name: {"name": name, "data_type": "int", "config": {"meta": {"role": role}}}
        for name, role in {"id": "key", "value": "compared"}.items()
    }
    source = {"path": "landing/x/{business_date}"}
    settings = {"load_type": "full", "rules": rules, "source": source}
    node = {"config": {"meta": {"spark_cdc": settings}}, "columns": columns}
    problems = load_macros()._entity_problems("x", node)
    assert any(text.startswith(f"x: {problem}") for text in problems), problems
