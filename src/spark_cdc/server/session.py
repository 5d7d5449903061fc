"""Spark in this process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spark_cdc import project
from spark_cdc.errors import UsageError
from spark_cdc.server import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Parquet lists encodings in the order of a hash set of objects that have no hash of their own,
# which differs from run to run; with one hash for all, the set keeps the order of insertion.
_SAME_ORDER = "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockExperimentalVMOptions -XX:hashCode=2"


@contextmanager
def open_session(spark: SparkSession | None, memory: str) -> Iterator[SparkSession]:
    """`spark`, the active session, or a new one that ends with the block."""
    java.pyspark_home()
    from pyspark.sql import SparkSession

    existing = spark or SparkSession.getActiveSession()
    if existing is not None:
        yield existing
        return
    session = start_session(memory)
    try:
        yield session
    finally:
        session.stop()


def start_session(memory: str = "1g") -> SparkSession:
    """Start a quiet Spark in this process, on the loopback interface only; its clock is UTC."""
    if not re.fullmatch(r"[1-9][0-9]*[mgMG]", memory):
        raise UsageError(
            f"memory is '{memory}'. Accepted are megabytes or gigabytes, such as 2g.", "Correct it."
        )
    os.environ.update(java.environment(project.root_or_here() / ".spark_cdc"))
    from pyspark.sql import SparkSession

    log_settings = (
        Path(__file__).with_name("templates").joinpath("log4j2-quiet.properties").as_uri()
    )
    session = (
        SparkSession.builder.appName("spark-cdc")
        .master("local[*]")
        .config("spark.driver.memory", memory)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        .config(
            "spark.driver.extraJavaOptions",
            f"-Duser.timezone=UTC -Dlog4j2.configurationFile={log_settings} {_SAME_ORDER}",
        )
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session
