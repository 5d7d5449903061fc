"""A day's load in Airflow (2.4 or later): one at a time, in order, stopped by a day that fails."""

from __future__ import annotations

import datetime as dt

from airflow import DAG
from airflow.operators.bash import BashOperator

with DAG(
    dag_id="spark_cdc_load",
    schedule="15 6 * * *",
    start_date=dt.datetime(2024, 3, 1, tzinfo=dt.timezone.utc),
    catchup=True,
    max_active_runs=1,
    default_args={
        "depends_on_past": True,
        "retries": 1,
        "retry_delay": dt.timedelta(minutes=10),
        "execution_timeout": dt.timedelta(hours=2),
    },
):
    # {{ ds }} is the day that the run is about: at 06:15 the day before.
    load = BashOperator(
        task_id="load",
        bash_command="cd /srv/warehouse && exec .venv/bin/spark-cdc load {{ ds }}",
    )
    verify = BashOperator(
        task_id="test",
        bash_command="cd /srv/warehouse && exec .venv/bin/dbt test --exclude test_type:unit",
    )
    load >> verify
