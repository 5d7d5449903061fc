"""Three routes to the same truth: events, full snapshots and net deltas of one table.

The generator changes a table and writes the events, the table after each load and the net changes;
the truth comes from the table, never from the events.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from spark_cdc.synthetic.delivery import EventShares
from spark_cdc.synthetic.events import EventOptions, entities_yaml, generate_events

pytestmark = pytest.mark.proves("load types")

DAYS = ("2024-02-28", "2024-02-29", "2024-03-01")
OPTIONS = EventOptions(
    events=3_000,
    keys=400,
    rows=1_000,
    days=DAYS,
    truncates=(3,),
    late="any",
    shares=EventShares(
        insert=0.2, delete=0.18, key_change=0.1, swap=0.04, late=0.05, duplicate=0.05, repeat=0.05
    ),
)
ROUTES = (("stream", "stream_truth"), ("stream", "stream_net"), ("debezium", "debezium_truth"))
VALUES = "id, text1, amount2, number3, day4, flag5"


@pytest.fixture(scope="module")
def loaded(project: Any) -> Any:
    """The table by all routes, three loads each."""
    stream = replace(OPTIONS, out=project.landing, entity="stream")
    told = (stream, replace(stream, entity="debezium", events_format="debezium", truth="full"))
    for options in told:
        generate_events(options)
        for model in yaml.safe_load(entities_yaml(options))["models"]:
            name = model["name"].removeprefix("stg_")
            columns = {
                column["name"]: {"data_type": column["data_type"], **meta(column)}
                for column in model["columns"]
            }
            if any(name in pair for pair in ROUTES):
                project.entity(name, columns, **meta(model)["spark_cdc"])
    for date in DAYS:
        project.load(date, spark_cdc_skip_guards=["deleted_share", "updated_share", "rows_band"])
    return project


def meta(what: dict[str, Any]) -> dict[str, Any]:
    return what.get("config", {}).get("meta", {})


@pytest.mark.full
@pytest.mark.parametrize(("route", "other"), ROUTES)
@pytest.mark.parametrize(
    ("view", "columns"),
    [
        ("current", f"{VALUES}, eff_start_date"),
        ("history", f"{VALUES}, operation, business_date"),
        ("versions", f"{VALUES}, operation, eff_start_date, eff_end_date"),
    ],
)
def test_routes_end_in_the_same_tables(
    loaded: Any, route: str, other: str, view: str, columns: str
) -> None:
    differing = loaded.query(
        f"""
        select {columns}, sum(side)
        from (
            select {columns}, 1 as side from {{s}}.{route}_{view}
            union all
            select {columns}, -1 from {{s}}.{other}_{view}
        )
        group by all
        having sum(side) <> 0
        order by all
        limit 10
        """
    )
    assert loaded.query(f"select count(*) from {{s}}.{route}_{view}")[0][0] > 100
    assert differing == []


@pytest.mark.full
def test_routes_count_the_same(loaded: Any) -> None:
    counts = {
        (entity, str(date)): tuple(numbers)
        for entity, date, *numbers in loaded.query(
            """
            select entity, business_time, rows_inserted, rows_updated, rows_deleted, rows_current
            from {s}.cdc_loads
            """
        )
    }
    assert len(counts) == len(DAYS) * 5
    for route, other in ROUTES:
        for date in DAYS:
            assert counts[route, date] == counts[other, date], (route, other, date)


@pytest.mark.full
def test_the_streams_were_not_plain(loaded: Any) -> None:
    found = loaded.query("select sum(events_late), max(events_control) from {s}.cdc_loads")
    assert found[0][0] > 50
    assert found[0][1] > 0
