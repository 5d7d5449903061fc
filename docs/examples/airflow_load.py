"""A day's load in Airflow 3: one at a time, in order, stopped by a day that fails.

In Airflow 2 import DAG from `airflow`; the operator's package is apache-airflow-providers-standard.
"""

from __future__ import annotations

import datetime as dt

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG
from airflow.timetables.interval import CronDataIntervalTimetable

with DAG(
    dag_id="spark_cdc_load",
    # As text, "15 6 * * *" would mean from Airflow 3 on that {{ ds }} is the day of the run itself.
    schedule=CronDataIntervalTimetable("15 6 * * *", timezone="UTC"),
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
    # {{ ds }} is the day where the interval begins that has ended: at 06:15 the day before.
    load = BashOperator(
        task_id="load",
        bash_command="cd /srv/warehouse && exec .venv/bin/spark-cdc load {{ ds }}",
    )
    verify = BashOperator(
        task_id="test",
        bash_command="cd /srv/warehouse && exec .venv/bin/dbt test --exclude test_type:unit",
    )
    load >> verify
