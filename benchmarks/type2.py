"""`python -m benchmarks.type2`: who keeps every version of a row, at what cost.

    python -m benchmarks.type2 --rows 1000000 --changes 1000 --format delta

A table of so many rows, in which so many change a day, is kept by loads of ours (a full load reads
all of it, a delta the changed rows alone), by dbt's snapshot with each of its strategies, and by
the `MERGE` of type 2 by hand, of all rows and of the changed ones. Loads and snapshots are whole
commands that parse the project anew; the `MERGE` is bare SQL. All take turns; the first two days
warm up. Then each is read: the current rows, and those that were valid on a day. CPU seconds are
those of the server. Numbers of versions are compared at the end.
"""

from __future__ import annotations

import argparse
import datetime as dt
import shutil
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml
from benchmarks import summary
from benchmarks.harness import Measure, Project, Server, measure

from spark_cdc import project
from spark_cdc.scaffold import new

FIRST = dt.date(2024, 1, 1)
COLUMNS = [
    new.Column("id", "bigint", role="key"),
    *(new.Column(f"text{i}", "string") for i in range(1, 5)),
    *(new.Column(f"value{i}", "double") for i in range(1, 9)),
    new.Column("changed_on", "date"),
]
NAMES = [column.name for column in COLUMNS]
OPTIONS = {"delta": " tblproperties ('delta.enableDeletionVectors' = true)"}
STRATEGIES = {
    "check": {"strategy": "check", "check_cols": NAMES[1:]},
    "timestamp": {"strategy": "timestamp", "updated_at": "changed_on"},
}


def state_sql(rows: int, changes: int, day: int) -> str:
    """The table on a day: a row has the day on which it changed last in its columns."""
    last = ", ".join(
        f"if(pmod(xxhash64(id, {one}), {rows // changes}) = 0, {one}, 0)"
        for one in range(1, day + 1)
    )
    texts = ", ".join(f"md5(concat(id, '-{i}')) as text{i}" for i in range(1, 5))
    values = ", ".join(f"id / {i} + last_day as value{i}" for i in range(1, 9))
    return f"""
        select id, {texts}, {values}, date_add(date'{FIRST}', last_day) as changed_on, last_day
        from (select id, {f"greatest(0, {last})" if last else 0} as last_day from range({rows}))"""


def by_hand_sql(table: str, source: str) -> str:
    """One `MERGE` that ends the version of a changed row and adds its next one.

    The way of Delta Lake's documentation, "SCD type 2": a changed row comes twice, once with its
    key to end a version, once without to be inserted. Columns are compared one by one.
    """
    differs = " or ".join(f"not (new.{name} <=> old.{name})" for name in NAMES[1:])
    return f"""
        merge into {table} as old using (
            select new.id as merge_key, new.* from {source} as new
            union all
            select null, new.* from {source} as new join {table} as old on new.id = old.id
            where old.is_current and ({differs})
        ) as new on old.id = new.merge_key
        when matched and old.is_current and ({differs})
            then update set is_current = false, valid_to = new.changed_on
        when not matched then insert ({", ".join(NAMES)}, valid_from, valid_to, is_current)
            values ({", ".join(f"new.{name}" for name in NAMES)}, new.changed_on, null, true)"""


@dataclass(frozen=True)
class Versions:
    """What to read of one of them: the current rows, all versions, and their first and last day."""

    current: str
    table: str
    valid_from: str
    valid_to: str

    def of_day(self, day: dt.date) -> str:
        """The versions that were valid on a day."""
        return (
            f"{self.table} where {self.valid_from} <= date'{day}'"
            f" and ({self.valid_to} is null or {self.valid_to} > date'{day}')"
        )


SUM = "select count(*), sum(cast(value1 as bigint)) from "


def land(on: Server, landing: Path, rows: int, changes: int, day: int) -> None:
    """Write the state of a day, and what has changed in it."""
    date = FIRST + dt.timedelta(days=day)
    on.execute(
        f"insert overwrite directory '{landing}/all/{date}' using parquet"
        f" select {', '.join(NAMES)} from ({state_sql(rows, changes, day)})"
    )
    on.execute(
        f"insert overwrite directory '{landing}/changed/{date}' using parquet"
        f" select {', '.join(NAMES)} from parquet.`{landing}/all/{date}`"
        f" where changed_on = date'{date}'"
    )
    for name, folder in {"source": "all", "changed": "changed"}.items():
        text = f"view bench_items.{name} as select * from parquet.`{landing}/{folder}/{date}`"
        on.execute(f"{'alter' if day else 'create'} {text}")


def snapshots(folder: Path, table_format: str) -> None:
    """Write dbt's snapshots of the table, one per strategy."""
    common = {"file_format": table_format, "unique_key": "id", "hard_deletes": "ignore"}
    source = {"name": "bench_items", "tables": [{"name": "source"}]}
    described = [
        {
            "name": f"items_{name}",
            "relation": "source('bench_items', 'source')",
            "config": common | more,
        }
        for name, more in STRATEGIES.items()
    ]
    (folder / "snapshots").mkdir(exist_ok=True)
    (folder / "snapshots" / "items.yml").write_text(yaml.safe_dump({"snapshots": described}))
    (folder / "models" / "source.yml").write_text(yaml.safe_dump({"sources": [source]}))


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.type2")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--changes", type=int, default=1_000)
    parser.add_argument("--format", default="delta", choices=["delta", "iceberg"])
    parser.add_argument("--days", type=int, default=3, help="that count, after the first two")
    parser.add_argument("--memory", default="4g")
    parser.add_argument("--summary", action="store_true", help="also into docs/benchmarks.md")
    args = parser.parse_args()
    bench = project.root() / ".spark_cdc" / "bench_type2"
    landing = bench / "landing"
    on = Server(bench / "server", args.memory, [args.format])
    shutil.rmtree(landing, ignore_errors=True)
    took: dict[str, Measure] = {}
    reads: dict[tuple[str, int], Measure] = {}
    try:
        parse = on.parse()
        on.execute("create database bench_items")
        ours = {}
        for name, load_type, folder in (
            ("delta", "delta", "changed"), ("full", "full", "all"),
        ):  # fmt: skip
            entity = new.Entity(
                f"items_{name}", COLUMNS, path=f"{landing}/{folder}/{{business_date}}",
                load_type=load_type, format="parquet", extra=["versions"],
            )  # fmt: skip
            ours[name] = Project(bench / name, entity, on, f"bench_{name}")
        snapshots(ours["delta"].folder, args.format)
        hand = {"all rows": "source", "changed rows": "changed"}
        merged = {name: f"bench_items.by_hand_{number}" for number, name in enumerate(hand)}
        for table in merged.values():
            columns = ", ".join(f"{one.name} {one.data_type}" for one in COLUMNS)
            on.execute(
                f"create table {table} ({columns}, valid_from date, valid_to date,"
                f" is_current boolean) using {args.format}{OPTIONS.get(args.format, '')}"
            )
        for day in range(args.days + 2):
            date = str(FIRST + dt.timedelta(days=day))
            land(on, landing, args.rows, args.changes, day)
            variables = ("--vars", project.variables({"business_date": date}))
            actions = {f"load, {name}": (one.dbt, "run", *variables) for name, one in ours.items()}
            for name in STRATEGIES:
                words = ("snapshot", "--select", f"items_{name}")
                actions[f"dbt snapshot, {name}"] = (ours["delta"].dbt, *words)
            for name, source in hand.items():
                sql = by_hand_sql(merged[name], f"bench_items.{source}")
                actions[f"MERGE by hand, {name}"] = (on.timed, sql)
            for name, (action, *words) in actions.items():
                into = took.setdefault(name, Measure(name))
                measure(into if day > 1 else Measure(name), on, action, *words)
            print(f"{date} of {FIRST + dt.timedelta(days=args.days + 1)}", flush=True)
        versions = {
            f"load, {name}": Versions(
                one.table("current"), one.table("versions"), "eff_start_date", "eff_end_date"
            )
            for name, one in ours.items()
        }
        for name in STRATEGIES:
            table = f"bench_delta.items_{name}"
            dates = [f"cast(dbt_valid_{one} as date)" for one in ("from", "to")]
            versions[f"dbt snapshot, {name}"] = Versions(
                f"{table} where dbt_valid_to is null", table, *dates
            )
        for name, table in merged.items():
            current = f"{table} where is_current"
            versions[f"MERGE by hand, {name}"] = Versions(current, table, "valid_from", "valid_to")
        middle = FIRST + dt.timedelta(days=(args.days + 2) // 2)
        found: dict[int, set[str]] = {}
        for name, one in versions.items():
            sqls = [SUM + one.current, SUM + one.of_day(middle)]
            # the versions of strategy `check` begin when dbt ran, not when a row changed
            for number, sql in enumerate(sqls[:1] if "check" in name else sqls):
                found.setdefault(number, set()).add(str(on.execute(sql)))
                into = reads.setdefault((name, number), Measure(name))
                for _ in range(3):
                    measure(into, on, on.timed, sql)
        counts = {
            name: on.execute(f"select count(*) from {one.table}")[0]
            for name, one in versions.items()
        }
        if len(set(counts.values())) > 1:
            raise SystemExit(f"they have other versions: {counts}")
        if any(len(rows) > 1 for rows in found.values()):
            raise SystemExit(f"they show other rows: {found}")
    finally:
        on.stop()
        shutil.rmtree(bench, ignore_errors=True)
    command = f"python -m benchmarks.type2 --rows {args.rows} --changes {args.changes}"
    rows, changes = summary.named(args.rows), summary.named(args.changes)
    lines = []
    for mine, what, theirs in (
        ("full", f"Full snapshot, {rows} rows, {changes} changed", "all rows"),
        ("delta", f"Delta of {changes} rows into {rows}", "changed rows"),
    ):
        ours = statistics.median(took[f"load, {mine}"].cpu)
        for rival in (
            *(f"dbt snapshot, {name}" for name in STRATEGIES),
            f"MERGE by hand, {theirs}",
        ):
            cost = statistics.median(took[rival].cpu)
            by = f"type 2: {rival}"
            lines.append(summary.line(what, by, ours, cost, "CPU s", command, parse))
    if args.summary:
        summary.update(project.root(), *lines)
    print("| | s | CPU s | current: s | CPU s | of a day: s | CPU s |")
    print("| --- |" + " ---: |" * 6)
    for name, into in took.items():
        cells = [
            f"{one.median:.1f} | {statistics.median(one.cpu):.1f}" if one else " | "
            for one in (into, reads[name, 0], reads.get((name, 1)))
        ]
        print(f"| {name} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
