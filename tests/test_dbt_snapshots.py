"""dbt's own snapshots of the orders example: where they show what orders_versions shows."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import dbtRunner

from conftest import SERVER
from project import ROOT, Parsed
from spark_cdc.server import local as local_server

pytestmark = [pytest.mark.proves("publish"), pytest.mark.integration]

SCHEMA = "snapped"
DAYS = ("2024-03-01", "2024-03-02", "2024-03-03", "2024-03-04")
MISSED = "2024-03-03"  # no snapshot is taken between this load and the next
KEY = "order_no, line_no"


@pytest.mark.full
@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_snapshots_and_versions(
    table_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "server"
    chosen = local_server.settings(
        state, port="0", memory="1500m", formats=[table_format], conf=SERVER[:2]
    )
    try:
        port = local_server.start(chosen).port
        monkeypatch.chdir(ROOT)
        monkeypatch.setenv("SPARK_CDC_PORT", str(port))
        monkeypatch.setenv("SPARK_CDC_SCHEMA", SCHEMA)
        monkeypatch.setenv("SPARK_CDC_SNAPSHOTS", table_format)
        connection = local_server.connect(port)
        cursor = connection.cursor()
        cursor.execute(f"create database {SCHEMA}")
        options = ["--project-dir", str(ROOT), "--profiles-dir", str(ROOT / "profiles")]
        options += ["--target-path", str(tmp_path / "target"), "--log-path", str(tmp_path / "logs")]
        parsed = Parsed(*options)

        def dbt(*words: str) -> None:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                done = dbtRunner(manifest=parsed.manifest()).invoke([*words, *options])
            assert done.success, printed.getvalue()[-5000:]

        for day in DAYS:
            load = f"{{business_date: {day}}}"
            dbt("run", "--select", "path:models/orders", "cdc_loads", "--vars", load)
            if day != MISSED:
                dbt("snapshot")
        compare(cursor)
    finally:
        local_server.stop(state)


def rows(cursor: Any, columns: str, relation: str) -> list[tuple[Any, ...]]:
    cursor.execute(f"select {columns} from {SCHEMA}.{relation}")
    return sorted(cursor.fetchall(), key=repr)


def compare(cursor: Any) -> None:
    versions = rows(
        cursor, f"{KEY}, string(eff_start_date), string(eff_end_date)", "orders_versions"
    )
    seen = [
        one
        for one in versions
        if any(one[2] <= day and (not one[3] or one[3] > day) for day in DAYS if day != MISSED)
    ]
    lost = [one for one in versions if one not in seen]
    assert lost
    assert {(start, end) for *_, start, end in lost} == {(MISSED, DAYS[-1])}

    # by business date: the versions that were current when a snapshot ran
    dates = f"{KEY}, string(date(dbt_valid_from)), string(date(dbt_valid_to))"
    taken = rows(cursor, dates, "orders_snapshot_timestamp")
    assert [one[:3] for one in taken] == [one[:3] for one in seen]
    # they end with the next one, unless that was missed, and a delete ends them when it was seen
    ends = {one[:3]: one[3] for one in versions}
    shown = {one[:3] for one in seen}
    for *key, start, end in taken:
        true_end = ends[(*key, start)]
        if true_end is None or (*key, true_end) in shown:
            assert end == true_end
        else:
            assert end not in (None, true_end)

    # by comparison: as many, from when the snapshot ran
    check = rows(cursor, f"{KEY}, string(eff_start_date)", "orders_snapshot_check")
    assert check == [one[:3] for one in seen]
    cursor.execute(f"select min(dbt_valid_from) > '2024-12-31' from {SCHEMA}.orders_snapshot_check")
    assert cursor.fetchall() == [(True,)]
