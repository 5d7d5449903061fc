"""Where messages come from, and what they are by their schemas.

Whatever the source, they have the columns topic, partition, offset, timestamp, key and value (as
bytes) and headers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as sf

from spark_cdc.stream import Job, Source
from spark_cdc.stream.registry import Registry

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

PLACE = ("topic", "partition", "offset", "timestamp")
HEADERS = "array<struct<key: string, value: binary>>"
# Behind a message before it is decoded. What is not read up to it is not of its schema: Avro itself
# takes any bytes that are left over, and a message of another schema often has some.
END = b"\xc3\x5d\xcd\x0c\x1e\x9d\x51\x7a"
# A folder's files are those that Spark has not seen. By default it forgets those of seven days.
NO_AGE = "36500d"


def read(spark: SparkSession, entity: Source, job: Job) -> DataFrame:
    """Return the messages of an entity's source, as a stream."""
    kind, source, limit = entity["kind"], entity["from"], job["max_per_trigger"]
    if kind == "files":
        reader = spark.readStream.format("text").option("maxFileAge", NO_AGE)
        lines = reader.options(**({"maxFilesPerTrigger": limit} if limit else {})).load(source)
        lines = lines.select("value", "_metadata.*").where("trim(value) <> ''")
        return lines.select(
            sf.col("file_path").alias("topic"),
            sf.lit(0).alias("partition"),
            sf.lit(None).cast("bigint").alias("offset"),
            sf.col("file_modification_time").alias("timestamp"),
            sf.lit(None).cast("binary").alias("key"),
            sf.col("value").cast("binary").alias("value"),
            sf.lit(None).cast(HEADERS).alias("headers"),
        )
    reader = (
        spark.readStream.format("kafka")
        .options(**job["kafka"])
        .option("subscribePattern" if kind == "pattern" else "subscribe", source)
        .option("startingOffsets", job["starting"])
        .option("failOnDataLoss", job["fail_on_data_loss"])
        .option("includeHeaders", True)
    )
    reader = reader.options(**({"maxOffsetsPerTrigger": limit} if limit else {}))
    return reader.load().select(*PLACE, "key", "value", "headers")


def schema_id(name: str) -> Column:
    """Return the schema id in the frame of a column; 0 where it is null, -1 without a frame."""
    number = sf.conv(sf.hex(sf.substring(name, 2, 4)), 16, 10).cast("bigint")
    is_framed = (sf.substring(name, 1, 1) == sf.lit(b"\x00")) & (sf.octet_length(name) >= 5)
    return sf.when(sf.col(name).isNull(), 0).when(is_framed, number).otherwise(-1)


def as_text(name: str) -> tuple[Column, Column]:
    """Return a column as text, and why it can't be; bytes that are not UTF-8 are no text."""
    text = sf.col(name).cast("string")
    bad = sf.when(
        sf.col(name).isNotNull() & ~sf.is_valid_utf8(text), f"{name}: bytes that are not UTF-8"
    )
    return text, bad


def decoded(
    messages: DataFrame, name: str, number: int, registry: Registry
) -> tuple[Column | None, Column]:
    """Return a column by its schema, and why it can't be read by it.

    number: of schema_id(). The column is None where it is not to be written.
    """
    nothing = sf.lit(None).cast("string")
    if number == 0:
        return None, nothing
    if number < 0:
        return None, sf.lit(f"{name}: no Avro with the id of a schema before it")
    schema = registry.schema(number)
    if schema is None:
        return None, sf.lit(f"{name}: {registry.problems[number]}")
    try:
        found = _from_avro(name, schema)
        messages.select(found)  # what Spark can't read, such as a schema within itself, it says now
    except (PySparkException, Py4JJavaError) as error:
        said = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else error
        reason = " ".join(str(said).split())[:300]
        return None, sf.lit(f"{name}: Spark can't read schema {number}: {reason}")
    bad = sf.when(~found["end"].eqNullSafe(sf.lit(END)), f"{name}: not what schema {number} says")
    return found["body"], bad


def _from_avro(name: str, schema: str) -> Column:
    """Return body and end of a message; both null if it is not what its schema says.

    Avro writes the fields of a record one after the other, so a record around the message's own,
    with a field behind it, reads the same bytes.
    """
    from pyspark.sql.avro.functions import from_avro

    end = {"type": "fixed", "name": "spark_cdc_end", "size": len(END)}
    fields = [{"name": "body", "type": json.loads(schema)}, {"name": "end", "type": end}]
    framed = {"type": "record", "name": "spark_cdc_framed", "fields": fields}
    body = sf.expr(f"substring({name}, 6)")
    return from_avro(sf.concat(body, sf.lit(END)), json.dumps(framed), {"mode": "PERMISSIVE"})
