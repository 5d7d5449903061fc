"""How long the metastore takes where many relations are: run it against a cluster.

    make cluster CLUSTER_RUN="python -m cluster.catalogue 500 2000"

Makes views up to each number in a schema, with texts as long as a manifest of 20 loads, and times
what a load and dbt ask: medians of five, in milliseconds.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

from spark_cdc.server import local as server

SCHEMA = "catalogue"
ASKED = (
    f"show table extended in {SCHEMA} like '*'",  # dbt's look at the schema of the models
    f"show views in {SCHEMA} like 'table_00007_commit_*'",  # a load's look at its claims
    f"show create table {SCHEMA}.table_00007_commit_000001",
    f"alter view {SCHEMA}.table_00007_commit_000001 as select {{turn}} as turn",
)


def main(sizes: list[int]) -> None:
    cursor = server.connect(int(os.environ["SPARK_CDC_PORT"])).cursor()
    cursor.execute(f"create database {SCHEMA}")
    text = "/* " + "20240304-d-0a935ca6 " * 20 + "*/ 1 as one"
    made = 0
    for size in sizes:
        began = time.monotonic()
        for number in range(made, size):
            cursor.execute(
                f"create view {SCHEMA}.table_{number:05d}_commit_000001 as select {text}"
            )
        each = 1000 * (time.monotonic() - began) / max(1, size - made)
        made = size
        print(f"{size} views; to create one: {each:.0f} ms", flush=True)
        for sql in ASKED:
            seconds = []
            for turn in range(5):
                began = time.monotonic()
                cursor.execute(sql.format(turn=turn))
                if cursor.description:
                    cursor.fetchall()
                seconds.append(time.monotonic() - began)
            print(f"  {1000 * statistics.median(seconds):8.0f} ms  {sql[:70]}", flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [500, 2000])
