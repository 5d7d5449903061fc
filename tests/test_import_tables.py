"""Histories as other tools leave them: dbt's snapshots, versions of Delta and Iceberg tables."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import scale
from own_servers import project_in_lake
from project import Project

pytestmark = [pytest.mark.proves("import"), pytest.mark.integration]
COLUMNS: dict[str, Any] = {
    "id": {"data_type": "int", "role": "key"},
    "name": "string",
    "amount": "decimal(10,2)",
}
TYPES = "id int, name string, amount decimal(10,2)"
FULL = scale.ALL
MERGES = 100 if FULL else 6
Command = Callable[..., tuple[int, str]]
Truth = dict[int, tuple[str | None, str]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project on a server that knows both formats."""
    yield from project_in_lake(tmp_path_factory)


def merge(project: Project, table: str, chance: random.Random, truth: Truth) -> None:
    """A random MERGE: some keys are deleted, others are inserted or get other values."""
    rows = []
    for key in chance.sample(range(30), chance.randint(1, 8)):
        if key in truth and chance.random() < 0.3:
            rows.append(f"({key}, null, 0, true)")
            del truth[key]
        else:
            name, amount = chance.choice((None, "", "a", "b")), f"{chance.randint(0, 9)}.50"
            rows.append(f"({key}, {'null' if name is None else repr(name)}, {amount}, false)")
            truth[key] = (name, amount)
    project.query(
        f"merge into {table} as target using (select id, cast(name as string) as name,"
        f" cast(amount as decimal(10,2)) as amount, gone from values {', '.join(rows)}"
        " as t (id, name, amount, gone)) as source on target.id = source.id"
        " when matched and source.gone then delete"
        " when matched then update set target.name = source.name, target.amount = source.amount"
        " when not matched and not source.gone then"
        " insert (id, name, amount) values (source.id, source.name, source.amount)"
    )


def at(project: Project, entity: str, moment: str) -> Truth:
    """What the versions say that there was."""
    rows = project.query(
        f"select id, name, cast(amount as string) from {{s}}.{entity}_versions where"
        f" eff_start_date <= '{moment}' and coalesce(eff_end_date > '{moment}', true)"
    )
    found = {row[0]: tuple(row[1:]) for row in rows}
    assert len(found) == len(rows)
    return found  # type: ignore[return-value]


def test_versions_of_a_delta_table_outlive_its_vacuum(project: Project, command: Command) -> None:
    chance, truth, states = random.Random(7), {}, []
    folder = project.folder / "delta_table"
    project.query(f"create table source.merged ({TYPES}) using delta location '{folder}'")
    states.append(dict(truth))
    for number in range(MERGES):
        if number == MERGES // 2:
            project.query("alter table source.merged add columns (note string)")
            states.append(dict(truth))
        merge(project, "source.merged", chance, truth)
        states.append(dict(truth))
    days = age(folder, len(states), chance)
    project.entity("merged", COLUMNS | {"note": "string"}, guards={"deleted_share": None})
    words = ("import", "merged", "--from", "source.merged", "--format", "time_travel")
    code, said = command(*words, "--dry-run")
    assert code == 0, said
    assert f"{len(states) - 1} before version {len(states) - 1} can not be read any more" in said
    assert "since they are older than delta.deletedFileRetentionDuration" in said
    days.append(days[-1])  # a version that only sets a property
    states.append(states[-1])
    names = ("logRetentionDuration", "deletedFileRetentionDuration")
    retention = ", ".join(f"'delta.{name}' = 'interval 3650 days'" for name in names)
    project.query(f"alter table source.merged set tblproperties ({retention})")
    moment = (folder / "_delta_log" / f"{len(states) - 2:020d}.json").stat().st_mtime + 60
    os.utime(folder / "_delta_log" / f"{len(states) - 1:020d}.json", (moment, moment))

    assert project.query("show tables in {s} like 'merged_*'") == []
    code, said = command(*words)
    assert code == 0, said
    last = dict(zip(days, states, strict=True))
    assert f"{len(states)} versions of source.merged" in said
    assert f"of {len(states) - len(last)} a later one has the same date" in said
    loads = project.query(
        "select business_time, rows_current from {s}.cdc_loads where entity = 'merged'"
        " and status = 'committed' order by business_time"
    )
    assert loads == [(day, len(state)) for day, state in last.items()]

    project.query("vacuum source.merged retain 0 hours")
    for day, state in last.items():
        assert at(project, "merged", day) == state, day
    # what came after it, undone, tagged, compared, and loaded on top
    final = list(last)[-1]
    code, said = command("tag", "create", "imported", "--at", final, "merged")
    assert code == 0, said
    project.land("merged", "2024-09-01", "id,name,amount,note", "1,new,1.00,", "99,x,2.00,y")
    code, said = command("load", "2024-09-01", "merged")
    assert code == 0, said
    assert at(project, "merged", "2024-09-01") == {1: ("new", "1.00"), 99: ("x", "2.00")}
    assert at(project, "merged", final) == last[final]
    first = next(iter(last))  # which holds rows if the empty version is of the same date
    code, said = command("diff", "merged", first, final)
    added, removed = (len(last[a].keys() - last[b]) for a, b in ((final, first), (first, final)))
    assert code == 0 and f"{added} added, {removed} removed" in said, said
    code, said = command("undo", "merged", "--to", list(last)[2], "--yes")
    assert code == 0, said
    assert at(project, "merged", "2024-12-31") == last[list(last)[2]]
    code, said = command("redo", "merged")
    assert code == 0, said
    project.land("merged", "2024-09-01", "id,name,amount,note", "1,other,1.00,")
    code, said = command("replay", "merged", "--from", "2024-09-01", "--publish")
    assert code == 0, said
    assert at(project, "merged", "2024-09-01") == {1: ("other", "1.00")}
    assert at(project, "merged", list(last)[1]) == last[list(last)[1]]
    tests = project.dbt("test", "--select", "path:models/merged")
    assert tests.success, tests.output


def age(folder: Path, count: int, chance: random.Random) -> list[str]:
    """Let the versions of a Delta table be of other days, some of the same one."""
    days, day = [], 1
    for version in range(count):
        log = folder / "_delta_log" / f"{version:020d}.json"
        moment = 1_704_067_200 + day * 86_400 + version * 60
        os.utime(log, (moment, moment))
        days.append(time.strftime("%Y-%m-%d", time.gmtime(moment)))
        day += chance.choice((0, 1, 1, 3))
    return days


@pytest.mark.full
def test_vacuumed_versions_are_left_out_and_counted(project: Project, command: Command) -> None:
    chance, truth = random.Random(8), {}
    folder = project.folder / "vacuumed_table"
    project.query(f"create table source.vacuumed ({TYPES}) using delta location '{folder}'")
    for _ in range(4):
        merge(project, "source.vacuumed", chance, truth)
    project.query("vacuum source.vacuumed retain 0 hours")
    versions = project.query("describe history source.vacuumed")
    merge(project, "source.vacuumed", chance, truth)
    project.entity("vacuumed", COLUMNS, business_date_type="timestamp")
    words = ("import", "vacuumed", "--from", "source.vacuumed", "--format", "time_travel")
    code, said = command(*words)
    assert code == 0, said
    assert "before version 4 can not be read any more" in said, said
    assert "4 before version 4" in said
    assert len(versions) >= 5
    assert at(project, "vacuumed", "2999-01-01") == truth


@pytest.mark.full
def test_snapshots_of_an_iceberg_table(project: Project, command: Command) -> None:
    chance, truth, states = random.Random(9), {}, []
    project.query(f"create table iceberg.source.snapped ({TYPES}) using iceberg")
    for _ in range(4):
        merge(project, "iceberg.source.snapped", chance, truth)
        states.append(dict(truth))
        time.sleep(1.1)
    project.entity("snapped", COLUMNS, business_date_type="timestamp")
    words = ("import", "snapped", "--from", "iceberg.source.snapped", "--format", "time_travel")
    code, said = command(*words)
    assert code == 0, said
    moments = project.query(
        "select date_format(made_current_at, 'yyyy-MM-dd HH:mm:ss')"
        " from iceberg.source.snapped.history order by made_current_at"
    )
    assert len(moments) == len(states)
    project.query("drop table iceberg.source.snapped")
    for (moment,), state in zip(moments, states, strict=True):
        assert at(project, "snapped", moment) == state


STRATEGIES = {
    "check": "strategy='check', check_cols=['name', 'amount']",
    "timestamp": "strategy='timestamp', updated_at='changed_at'",
}
SNAPSHOT = """{{% snapshot {name} %}}
{{{{ config(target_schema='source', unique_key='id', file_format='delta', {strategy},
    hard_deletes='{deletes}') }}}}
select * from source.stock
{{% endsnapshot %}}
"""
STOCK = [  # what the source holds when each snapshot is taken
    "(1, 'a', 1.00, 1), (2, 'b', 2.00, 1), (3, 'c', 3.00, 1)",
    "(1, 'a', 1.00, 1), (2, 'x', 2.00, 2)",
    "(1, 'z', 1.00, 3), (2, 'x', 2.00, 2), (4, null, 4.00, 3)",
    "(1, 'z', 1.00, 3), (3, 'c', 3.00, 4), (4, 'd', 4.00, 4)",
]


def test_snapshots_of_dbt(project: Project, command: Command) -> None:
    cases = {
        f"{strategy}_{deletes}": (strategy, deletes)
        for strategy in STRATEGIES
        for deletes in ("ignore", "invalidate", "new_record")
        if FULL or (strategy, deletes) == ("check", "new_record")
    }
    folder = project.folder / "snapshots"
    folder.mkdir()
    for name, (strategy, deletes) in cases.items():
        text = SNAPSHOT.format(name=f"snap_{name}", strategy=STRATEGIES[strategy], deletes=deletes)
        (folder / f"snap_{name}.sql").write_text(text, "utf-8")
        columns = COLUMNS | {"changed_at": "timestamp"}
        source = {"on_unexpected_column": "ignore"}
        project.entity(name, columns, business_date_type="timestamp", source=source)
    for rows in STOCK:
        project.query(
            "create or replace table source.stock using delta as select cast(id as int) as id,"
            " cast(name as string) as name, cast(amount as decimal(10,2)) as amount,"
            # a row that comes back is newer than its delete
            " if(day = 4, current_timestamp(), timestamp'2024-01-01' + make_dt_interval(day))"
            " as changed_at"
            f" from values {rows} as t (id, name, amount, day)"
        )
        time.sleep(1.1)
        taken = project.dbt("snapshot")
        assert taken.success, taken.output
    for name, (_, deletes) in cases.items():
        table = f"source.snap_{name}"
        code, said = command("import", name, "--from", table, "--format", "dbt_snapshot")
        assert code == 0, said
        kept = "where dbt_is_deleted = 'False'" if deletes == "new_record" else ""
        seconds = "date_format({}, 'yyyy-MM-dd HH:mm:ss')"
        start, end = seconds.format("dbt_valid_from"), seconds.format("dbt_valid_to")
        wanted = project.query(f"select id, name, amount, {start}, {end} from {table} {kept}")
        start, end = seconds.format("eff_start_date"), seconds.format("eff_end_date")
        columns = f"id, name, amount, {start}, {end}"
        found = project.query(f"select {columns} from {{s}}.{name}_versions")
        assert sorted(found, key=repr) == sorted(wanted, key=repr), name
