"""A batch of framed Avro into a folder, in a Spark of its own with the pinned jar.

Its arguments: address of a registry, a JSON file of messages (key and value as hex, or null), the
folder, and that for what is set aside. Prints how many were set aside.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from spark_cdc.server import jars, java
from spark_cdc.stream import command as stream


def as_bytes(sent: str | None) -> bytes | None:
    """Return a key or a value; without bytes is something else than null."""
    return None if sent is None else bytes.fromhex(sent)


def main(address: str, file: str, place: str, aside: str) -> None:
    found = java.ensure()
    [avro] = jars.ensure(stream.JARS["avro"]["4.1"], found.executable)
    os.environ.update(java.environment(Path(place).parent))
    from pyspark.sql import SparkSession

    from spark_cdc.stream.batches import SparkBatch
    from spark_cdc.stream.messages import HEADERS
    from spark_cdc.stream.registry import Registry

    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.extraClassPath", str(avro))
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    sent = json.loads(Path(file).read_text())
    rows = [
        ("shop.people", 0, offset, None, *(as_bytes(one) for one in pair), None)
        for offset, pair in enumerate(sent)
    ]
    types = "topic string, partition int, offset bigint, timestamp timestamp, key binary"
    frame = spark.createDataFrame(rows, f"{types}, value binary, headers {HEADERS}")
    entity = {"name": "people", "kind": "topic", "encoding": "avro", "key_encoding": "avro"}
    print("set aside:", SparkBatch(frame, entity, Registry(address), 100).write(place, aside))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
