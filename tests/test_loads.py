"""Loads end to end: dbt, the macros and a Spark server, as in a project of somebody's own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from project import ROOT, Project
from shop import Shop

pytestmark = pytest.mark.proves("load types")

KEYED = {"id": {"data_type": "int", "role": "key"}, "value": "string"}
DELTA = KEYED | {"op": {"data_type": "string", "role": "control"}}


def state(project: Shop | Project, name: str) -> dict[str, list[Any]]:
    return {
        "current": project.rows(f"{name}_current", "id, value, operation, eff_start_date"),
        "history": project.rows(f"{name}_history", "id, value, operation, business_date"),
        "versions": project.rows(
            f"{name}_versions", "id, value, operation, eff_start_date, eff_end_date"
        ),
    }


def test_a_rerun_replaces_the_load(project: Project) -> None:
    project.entity("rerun", KEYED)
    project.land("rerun", "2024-01-01", "id,value", "1,a", "2,b", "3,c")
    project.land("rerun", "2024-01-02", "id,value", "1,x", "2,b", "4,d")
    project.load("2024-01-01", "rerun")
    project.load("2024-01-02", "rerun")
    before = state(project, "rerun")
    assert {row[2] for row in before["history"] if row[3] == "2024-01-02"} == {"I", "U", "D"}
    project.load("2024-01-02", "rerun")
    assert state(project, "rerun") == before

    # the input changed meanwhile, and brings neither an insert nor a delete any more
    project.land("rerun", "2024-01-02", "id,value", "1,a", "2,y", "3,c")
    project.load("2024-01-02", "rerun")
    assert state(project, "rerun") == {
        "current": [
            (1, "a", "N", "2024-01-01"),
            (2, "y", "U", "2024-01-02"),
            (3, "c", "N", "2024-01-01"),
        ],
        "history": [
            (1, "a", "I", "2024-01-01"),
            (2, "b", "I", "2024-01-01"),
            (2, "y", "U", "2024-01-02"),
            (3, "c", "I", "2024-01-01"),
        ],
        "versions": [
            (1, "a", "I", "2024-01-01", None),
            (2, "b", "I", "2024-01-01", "2024-01-02"),
            (2, "y", "U", "2024-01-02", None),
            (3, "c", "I", "2024-01-01", None),
        ],
    }


def test_a_date_before_the_last_load_is_refused(shop: Shop) -> None:
    shop.entity("past", KEYED)
    for date in ("2024-01-01", "2024-01-02", "2024-01-03"):
        shop.land("past", date, "id,value", f"1,{date}")
    shop.load("2024-01-01", "past")
    shop.load("2024-01-03", "past")
    before = state(shop, "past")
    outcome = shop.run("2024-01-02", "past")
    assert not outcome.success
    assert "past: 2024-01-02 is before the last load, 2024-01-03" in outcome.output
    assert "1 load from 2024-01-03 to 2024-01-03 would have to be loaded again" in outcome.output
    message = " ".join(outcome.output.split())
    assert "spark-cdc replay past --from 2024-01-02 --dates 2024-01-02" in message
    assert state(shop, "past") == before


@pytest.mark.full
def test_loads_of_nothing_and_of_everything(project: Project) -> None:
    project.entity("odd_full", KEYED)
    project.entity("odd_delta", DELTA, load_type="delta", deleted_when="op = 'D'")
    full = [
        ["id,value"],
        ["id,value", "1,a", "2,b"],
        ["id,value", "1,a", "2,b"],
        ["id,value", "1,x", "2,y"],
        ["id,value"],
    ]
    delta = [
        ["id,value,op"],
        ["id,value,op", "1,a,I", "2,b,I"],
        ["id,value,op"],
        ["id,value,op", "1,x,U", "2,y,U"],
        ["id,value,op", "1,,D", "2,,D", "3,,D"],
    ]
    for day, (full_lines, delta_lines) in enumerate(zip(full, delta, strict=True), start=1):
        project.land("odd_full", f"2024-01-0{day}", *full_lines)
        project.land("odd_delta", f"2024-01-0{day}", *delta_lines)
        project.load(
            f"2024-01-0{day}", "odd_full", "odd_delta", spark_cdc_skip_guards="odd_full.empty"
        )
    counts = (
        "business_time, rows_in, rows_inserted, rows_updated, rows_deleted, rows_unchanged,"
        " rows_not_supplied, rows_prior, rows_current"
    )
    assert project.rows("cdc_loads where entity = 'odd_full'", counts) == [
        ("2024-01-01", 0, 0, 0, 0, 0, 0, 0, 0),
        ("2024-01-02", 2, 2, 0, 0, 0, 0, 0, 2),
        ("2024-01-03", 2, 0, 0, 0, 2, 0, 2, 2),
        ("2024-01-04", 2, 0, 2, 0, 0, 0, 2, 2),
        ("2024-01-05", 0, 0, 0, 2, 0, 0, 2, 0),
    ]
    assert project.rows("cdc_loads where entity = 'odd_delta'", counts) == [
        ("2024-01-01", 0, 0, 0, 0, 0, 0, 0, 0),
        ("2024-01-02", 2, 2, 0, 0, 0, 0, 0, 2),
        ("2024-01-03", 0, 0, 0, 0, 0, 2, 2, 2),
        ("2024-01-04", 2, 0, 2, 0, 0, 0, 2, 2),
        ("2024-01-05", 3, 0, 0, 2, 0, 0, 2, 0),
    ]
    complete = project.query(
        "select count(*) from {s}.cdc_loads where entity like 'odd%' and duration_seconds > 0"
        " and input is not null and invocation_id is not null and dbt_version is not null"
        " and spark_version is not null and committed_at is not null"
        " and (parent_load_id is not null) = (business_time > '2024-01-01')"
    )
    assert complete == [(10,)]
    outcome = project.dbt("test", "--select", "path:models/odd_full", "path:models/odd_delta")
    assert outcome.success, outcome.output


@pytest.mark.integration
def test_loads_every_15_minutes(project: Project) -> None:
    project.entity(
        "quarter", DELTA, load_type="delta", deleted_when="op = 'D'", business_date_type="timestamp"
    )
    for stamp, line in (("T000000", "1,a,I"), ("T001500", "1,b,U"), ("T003000", "1,,D")):
        project.land("quarter", f"2024-01-01{stamp}", "id,value,op", line)
    project.load("2024-01-01", "quarter")
    project.load("2024-01-01 00:15", "quarter")
    project.load("2024-01-01 00:15:00", "quarter")
    project.load("2024-01-01T00:30:00", "quarter")
    assert project.rows(
        "quarter_versions", "value, cast(eff_start_date as string), cast(eff_end_date as string)"
    ) == [
        ("a", "2024-01-01 00:00:00", "2024-01-01 00:15:00"),
        ("b", "2024-01-01 00:15:00", "2024-01-01 00:30:00"),
    ]
    assert {row[0] for row in project.rows("quarter_history", "business_date")} == {"2024-01-01"}
    outcome = project.run("2024-01-01 00:15", "quarter")
    assert "2024-01-01 00:15:00 is before the last load, 2024-01-01 00:30:00" in outcome.output
    for date, found in (("2024-01-01", 0), ("2024-01-01 00:20", 1), ("2024-01-02", 0)):
        sql = f"select * from ({{{{ spark_cdc.as_of(ref('quarter_versions'), '{date}') }}}})"
        shown = project.dbt("show", "--inline", sql, "--output", "json")
        assert shown.success, shown.output
        assert shown.output.count('"eff_start_date"') == (1 if date == "2024-01-01" else found)


@pytest.mark.integration
def test_full_refresh_keeps_the_ledger_unless_told(project: Project) -> None:
    project.entity("kept", KEYED)
    project.land("kept", "2024-01-01", "id,value", "1,a")
    project.land("kept", "2024-01-02", "id,value", "1,b")
    project.load("2024-01-01", "kept")
    project.load("2024-01-02", "kept", words=["--full-refresh"])
    before = state(project, "kept")
    assert len(before["history"]) == 2

    outcome = project.run("2024-01-02", "kept", spark_cdc_reset=["kept"])
    assert not outcome.success
    assert "spark_cdc_reset is given without --full-refresh" in outcome.output
    outcome = project.run("2024-01-02", "kept", words=["--full-refresh"], spark_cdc_reset=["typo"])
    assert not outcome.success
    assert "spark_cdc_reset names 'typo', which is no entity of this run (kept)" in outcome.output
    assert state(project, "kept") == before

    # a type that the values don't fit: refused; taken up once the ledger is reset, and kept aside
    project.entity("kept", KEYED | {"value": "int"})
    project.land("kept", "2024-01-03", "id,value", "1,2")
    outcome = project.run("2024-01-03", "kept")
    assert not outcome.success
    assert "kept: the columns have changed since the last load" in outcome.output
    assert "column 'value' was string and is int, but 2 stored values do not fit" in outcome.output
    assert state(project, "kept") == before
    outcome = project.load("2024-01-03", "kept", words=["--full-refresh"], spark_cdc_reset="kept")
    assert "was made for other columns and is kept as" in outcome.output
    project.query("refresh table {s}.kept_ledger")  # as the message says
    assert project.rows("kept_current", "id, value, operation") == [(1, 2, "I")]
    aside = [row[1] for row in project.query("show tables in {s} like 'kept_ledger_before_*'")]
    assert len(aside) == 1
    # the same columns: nothing is dropped, the past is only no longer named
    project.land("kept", "2024-01-01", "id,value", "1,3")
    project.load("2024-01-01", "kept", words=["--full-refresh"], spark_cdc_reset=["kept"])
    assert state(project, "kept")["history"] == [(1, 3, "I", "2024-01-01")]
    held = project.query("select count(distinct load_id) from {s}.kept_ledger")
    assert held == [(2,)]


@pytest.mark.full
def test_what_cdc_loads_lacks_is_added(project: Project) -> None:
    project.entity("audited", KEYED)
    for day, lines in enumerate((["1,a", "2,b", "3,c"], ["1,a", "2,x", "4,d"], ["1,a"]), start=1):
        project.land("audited", f"2024-01-0{day}", "id,value", *lines)
    project.load("2024-01-01", "audited")
    project.load("2024-01-02", "audited")
    columns = (
        "load_id, business_time, load_type, is_checkpoint, parent_load_id, input, rows_in,"
        " rows_rejected, rows_inserted, rows_updated, rows_deleted, rows_unchanged,"
        " rows_not_supplied, rows_prior, rows_current, started_at, invocation_id"
    )
    recorded = project.rows("cdc_loads where entity = 'audited'", columns)
    project.query("alter table {s}.cdc_loads drop partition (entity = 'audited')")
    failed = project.dbt("test", "--select", "path:models/audited")
    assert failed.status["spark_cdc_loads_reconcile_audited_committed_"] == "fail"
    outcome = project.dbt("run", "--select", "audited_committed")
    assert outcome.output.count("to cdc_loads, which lacks it") == 2
    assert project.rows("cdc_loads where entity = 'audited'", columns) == recorded

    # also where the same command takes the place of the load whose row is missing
    before = project.query_of("audited_committed")
    project.load("2024-01-03", "audited")
    last = project.rows("cdc_loads where entity = 'audited'", columns)
    [lost] = project.lose_commit("audited", before)
    outcome = project.load("2024-01-03", "audited")
    assert f"adding load {lost} to cdc_loads" in outcome.output
    rows = project.rows("cdc_loads where entity = 'audited'", columns)
    assert len(rows) == 4
    assert set(last) <= set(rows)


@pytest.mark.integration
def test_dbt_show_looks_at_what_came_in(project: Project) -> None:
    project.entity("shown", KEYED)
    project.land("shown", "2024-01-01", "id,value", "7,seven")
    outcome = project.dbt("show", "--select", "stg_shown", "--vars", "{business_date: 2024-01-01}")
    assert outcome.success, outcome.output
    assert "seven" in outcome.output


@pytest.mark.integration
def test_a_new_entity_runs_at_once(project: Project) -> None:
    """What `spark-cdc new` writes needs nothing added to be loaded and tested."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "spark_cdc.cli",
            "new",
            "fresh",
            "--columns",
            "id:int:key, select:string, day:date, order:decimal(5,1):untracked",
            "--path",
            f"{project.landing}/fresh/{{business_date}}",
            "--directory",
            str(project.folder / "models"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    project.land("fresh", "2024-01-01", "id,select,day,order", "1,from,2024-02-29,1.5")
    project.query("drop table if exists {s}.cdc_loads purge")
    words = ["run", "--select", "fresh", "--vars", "{business_date: 2024-01-01}"]
    outcome = project.dbt(*words)  # as `spark-cdc new` recommends it, without cdc_loads
    assert outcome.success, outcome.output
    assert project.rows("fresh_current", "id, `select`, day, operation") == [
        (1, "from", "2024-02-29", "I")
    ]
    outcome = project.dbt("test", "--select", "path:models/fresh")
    assert outcome.success, outcome.output


def scaffold(project: Project, name: str, *words: str) -> None:
    """`spark-cdc new` for the project of the test."""
    command = [sys.executable, "-m", "spark_cdc.cli", "new", name, *words]
    command += ["--path", f"{project.landing}/{name}/{{business_date}}"]
    command += ["--directory", str(project.folder / "models")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.full
def test_a_new_entity_of_flagged_rows_runs_at_once(project: Project) -> None:
    columns = "id:bigint:key, name:string, seq:bigint:control"
    words = ["--events-format", "flagged_rows", "--operation", "op", "--order", "seq"]
    scaffold(project, "flagged", "--load-type", "events", *words, "--columns", columns)
    lines = ["op,seq,id,name", "I,9,1,Ada", "D,11,2,", "U,10,1,Ada Lovelace", "I,8,2,Bob"]
    project.land("flagged", "2024-01-01", *lines)
    # a cdc_loads of an older version, in a run without that model: it gets what it lacks
    kept = [row[0] for row in project.query("describe {s}.cdc_loads")]
    kept = kept[: kept.index("# Partition Information")]
    removed = ("status", "guard", "message")  # added at the end, after what stood behind them
    columns = ", ".join(name for name in kept if name not in removed)
    project.query("alter table {s}.cdc_loads rename to {s}.cdc_loads_before")
    project.query(
        "create table {s}.cdc_loads using parquet partitioned by (entity, load_id) as"
        f" select {columns} from {{s}}.cdc_loads_before"
    )
    words = ["run", "--select", "flagged", "--vars", "{business_date: 2024-01-01}"]
    outcome = project.dbt(*words)
    assert outcome.success, outcome.output
    wanted = [(1, "Ada Lovelace", "I")]
    assert project.rows("flagged_current", "id, name, operation") == wanted
    statuses = project.rows("cdc_loads", "entity, status")
    assert ("flagged", "committed") in statuses
    assert {status for entity, status in statuses if entity != "flagged"} == {None}
    outcome = project.dbt("test", "--select", "path:models/flagged")
    assert outcome.success, outcome.output


@pytest.mark.integration
def test_a_new_entity_of_debezium_messages_runs_at_once(project: Project) -> None:
    columns = "id:bigint:key, amount:decimal(10,2):encoding=base64, born:date:encoding=days"
    is_old = project.query("select version() like '3.%'")[0][0]  # where the view is refused
    words = ["--events-format", "debezium", "--columns", columns, "--with", "event_versions"]
    words += [] if is_old else ["bitemporal"]
    scaffold(project, "topic", "--load-type", "events", *words)

    def line(lsn: int, op: str, key: int, **image: object) -> str:
        source = f'{{"connector":"postgresql","ts_ms":{lsn},"lsn":{lsn}}}'
        row = json.dumps({"id": key, **image})
        before, after = (row, "null") if op == "d" else ("null", row)
        images = f'"before":{before},"after":{after}'
        return f'{{"key":{{"id":{key}}},"value":{{"op":"{op}",{images},"source":{source}}}}}'

    project.land(
        "topic",
        "2024-01-01",
        line(7, "u", 1, amount="/Ss=", born=0),
        line(5, "c", 1, amount="A+g=", born=19724),
        line(6, "c", 2, amount=None, born=None),
        line(8, "d", 2),
        '{"key":{"id":2},"value":null}',
        file="topic.json",
    )
    words = ["run", "--select", "topic", "--vars", "{business_date: 2024-01-01}"]
    outcome = project.dbt(*words)
    assert outcome.success, outcome.output
    wanted = [(1, "-7.25", "1970-01-01", "I")]
    columns = "id, cast(amount as string), cast(born as string), operation"
    assert project.rows("topic_current", columns) == wanted
    versions = project.rows(
        "topic_event_versions", "event_op, id, cast(amount as string), is_current"
    )
    assert versions == [
        ("insert", 1, "10.00", False),
        ("insert", 2, None, False),
        ("update", 1, "-7.25", True),
    ]
    if is_old:
        return
    beliefs = project.rows(
        "topic_bitemporal", "event_op, id, string(known_from), string(known_to), is_current"
    )
    assert beliefs == [
        ("insert", 1, "2024-01-01", None, False),
        ("insert", 2, "2024-01-01", None, False),
        ("update", 1, "2024-01-01", None, True),
    ]
