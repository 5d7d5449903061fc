"""The data tests that every entity has can fail: each kind of damage is made and found."""

from __future__ import annotations

import pytest

from project import Project

pytestmark = pytest.mark.proves("maintenance")

COLUMNS = {"id": {"data_type": "int", "role": "key"}, "value": "string"}
VERIFYING = (
    "archive_complete",
    "files_match_manifest",
    "ledger_rows_consistent",
    "log_matches_ledger",
    "views_match_ledger",
)
FINDING = ("entity", "problem", "load_id", "business_time", "row_count", "examples", "repair")
STORY = """
seeds:
  - name: told_story
    config:
      file_format: parquet
      column_types: {business_date: date, id: int, operation: string}
    data_tests:
      - spark_cdc.follows_story:
          arguments:
            committed: ref('told_committed')
            current: ref('told_current')
            history: ref('told_history')
            key_columns: [id]
"""


@pytest.mark.integration
def test_damage_is_found(project: Project) -> None:
    project.entity("damaged", COLUMNS)
    project.land("damaged", "2024-01-01", "id,value", "1,a", "2,b", "3,c")
    project.land("damaged", "2024-01-02", "id,value", "1,x", "2,b", "3,c")
    project.load("2024-01-01", "damaged")
    project.load("2024-01-02", "damaged")
    whole = project.dbt("test", "--select", "path:models/damaged")
    assert whole.success, whole.output

    load_id = project.query("select max(load_id) from {s}.cdc_loads")[0][0]
    project.query("set spark.sql.sources.partitionOverwriteMode = dynamic")

    def add(row: str, operation: str) -> None:
        project.query(
            "insert into {s}.damaged_ledger partition (business_date, load_id, operation)"
            f" select {row}, cast(null as string), date'2024-01-02', '{load_id}', '{operation}'"
        )

    project.query(  # a key twice
        "insert into {s}.damaged_ledger partition (business_date, load_id, operation)"
        " select id, value, key_hash, nonkey_hash, eff_start_date, cdc__note, business_date,"
        f" load_id, operation from {{s}}.damaged_ledger where load_id = '{load_id}' and id = 1"
    )
    add("null, 'y', unhex('00'), unhex('00'), date'2024-01-02'", "I")  # a null key, false hashes
    add("9, 'z', unhex('09'), unhex('00'), date'2023-01-01'", "N")  # an operation out of place

    outcome = project.dbt("test", "--select", "path:models/damaged")
    failed = {name for name, status in outcome.status.items() if status == "fail"}
    assert {name.split("_damaged")[0] for name in failed} >= {
        "spark_cdc_ledger_rows_consistent",
        "spark_cdc_log_matches_ledger",
        "dbt_utils_unique_combination_of_columns",
        "spark_cdc_keys_not_null",
        "spark_cdc_hashes_match",
        "spark_cdc_intervals_valid",
        "spark_cdc_loads_reconcile",
    }
    stored = project.dbt("test", "--store-failures", "--select", "tag:spark_cdc_verify")
    assert stored.status == {
        name: status
        for name, status in outcome.status.items()
        if name.removeprefix("spark_cdc_").removesuffix("_damaged_committed_") in VERIFYING
    }
    tables = [row[1] for row in project.query("show tables in {s}_dbt_test__audit")]
    assert len(tables) == len(VERIFYING)
    found = []
    for table in tables:
        rows = project.query(f"select * from {{s}}_dbt_test__audit.{table}")
        described = project.query(f"describe {{s}}_dbt_test__audit.{table}")
        assert [row[:2] for row in described] == [
            (name, "bigint" if name == "row_count" else "string") for name in FINDING
        ]
        found += [dict(zip(FINDING, row, strict=True)) for row in rows]
    project.query("drop database {s}_dbt_test__audit cascade")
    assert {
        "entity": "damaged",
        "problem": "the key comes more than once in the load",
        "load_id": load_id,
        "business_time": "2024-01-02",
        "row_count": 1,
        "examples": "id = 1",
        "repair": "spark-cdc replay --from 2024-01-02 --select damaged",
    } in found

    # an operation that history can't have: only a view that is not ours can show it
    project.query(
        "create or replace view {s}.damaged_history as"
        " select *, 'Q' as operation, current_date() as eff_start_date from values (1) as t(id)"
    )
    outcome = project.dbt("test", "--select", "damaged_history,test_name:accepted_operations")
    assert list(outcome.status.values()).count("fail") == 1


@pytest.mark.full
def test_another_story_is_found(project: Project) -> None:
    project.entity("told", COLUMNS)
    project.land("told", "2024-01-01", "id,value", "1,a", "2,b")
    project.land("told", "2024-01-02", "id,value", "1,x")
    project.load("2024-01-01", "told")
    project.load("2024-01-02", "told")
    (project.folder / "seeds").mkdir()
    (project.folder / "seeds" / "seeds.yml").write_text(STORY, encoding="utf-8")
    text = "business_date,id,operation\n2024-01-01,1,I\n"
    (project.folder / "seeds" / "told_story.csv").write_text(text, encoding="utf-8")
    assert project.dbt("seed").success

    def outcome(story: str) -> list[str]:
        rows = ", ".join(
            f"(date'2024-01-0{row[0]}', {row[1]}, '{row[2]}')" for row in story.split()
        )
        project.query(f"insert overwrite {{s}}.told_story values {rows}")
        return list(project.dbt("test", "--select", "told_story").status.values())

    assert outcome("11I 12I") == ["pass"]  # a day that the story does not have is not compared
    assert outcome("11I 12I 21U 22D") == ["pass"]
    assert outcome("11I 12I 21N 22D") == ["fail"]  # history and current say U
    assert outcome("11I 12I 21U") == ["fail"]  # history has a delete
    assert outcome("11I 12I 21U 22D 23X") == ["fail"]  # current lacks it
