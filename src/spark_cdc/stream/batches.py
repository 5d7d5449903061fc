"""A batch of Structured Streaming, as the landing takes it."""

from __future__ import annotations

import functools
from typing import Literal, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from spark_cdc.errors import SparkCdcError
from spark_cdc.stream import KAFKA, Source, messages
from spark_cdc.stream.landing import Summary
from spark_cdc.stream.registry import Registry

ROWS_OF_A_FILE = 500_000
ENCODINGS: dict[str, Literal["key_encoding", "encoding"]] = {
    "key": "key_encoding",
    "value": "encoding",
}
RAW = (*messages.PLACE, "key", "value", "headers")


class Part(NamedTuple):
    """Messages of one pair of schemas, each with a reason if it is none; what is written of them.

    folder: where below that of the batch.
    """

    messages: DataFrame
    columns: list[str | Column]
    folder: str


class SparkBatch:
    """The messages of a batch; rejects is how many of them may be rejected."""

    def __init__(
        self,
        batch: DataFrame,
        entity: Source,
        registry: Registry | None,
        rejects: int,
    ) -> None:
        self._batch = batch
        self._entity = entity
        self._registry = registry
        self._rejects = rejects

    def summary(self) -> Summary:
        """Return what there is, by one pass."""
        is_kafka = self._entity["kind"] in KAFKA
        partition = sf.concat_ws("-", "topic", "partition") if is_kafka else sf.lit("all")
        found = (
            self._batch.groupBy(partition.alias("name"))
            .agg(
                sf.count(sf.lit(1)).alias("messages"),
                sf.max("offset").alias("offset"),
                sf.max(sf.unix_millis("timestamp")).alias("high"),
            )
            .collect()
        )
        return Summary(
            sum(row.messages for row in found),
            {row.name: row.high for row in found if row.high is not None and row.high >= 0},
            {row.name: row.offset + 1 for row in found if row.offset is not None},
        )

    def write(self, place: str, aside: str) -> int:
        """Write what is as its schema says, and set the rest aside; return how many these were.

        Raises SparkCdcError before anything is written if they are so many that it is rather the
        schemas that are wrong.
        """
        parts = self._parts()
        judged = [
            part.messages.select(sf.lit(at).alias("part"), sf.isnotnull("reason").alias("bad"))
            for at, part in enumerate(parts)
        ]
        counts: dict[tuple[int, bool], int] = {
            (row.part, row.bad): row.messages
            for row in functools.reduce(DataFrame.unionAll, judged)
            .groupBy("part", "bad")
            .agg(sf.count(sf.lit(1)).alias("messages"))
            .collect()
        }
        rejected = sum(count for (_, bad), count in counts.items() if bad)
        bad = functools.reduce(
            DataFrame.unionAll,
            [part.messages.where("reason is not null").select(*RAW, "reason") for part in parts],
        )
        if rejected > self._rejects:
            raise self._too_many(rejected, bad)
        for at, part in enumerate(parts):
            if count := counts.get((at, False)):
                good = part.messages.where("reason is null").select(*part.columns)
                _save(good, place + part.folder, count)
        if rejected:
            _save(bad, aside, rejected)
        return rejected

    def _too_many(self, rejected: int, bad: DataFrame) -> SparkCdcError:
        one = bad.first()
        assert one is not None
        return SparkCdcError(
            f"{self._entity['name']}: {rejected} messages of a batch are not what their schemas"
            f" say, {self._rejects} are accepted; such as topic {one.topic}, partition"
            f" {one.partition}, offset {one.offset}: {one.reason}. Nothing of the batch has landed",
            "See whether --registry and source.stream.encoding are right; --rejects N takes more.",
        )

    def _parts(self) -> list[Part]:
        """Return the messages by the schemas of their keys and values."""
        ids = {name: messages.schema_id(name) for name in ENCODINGS if self._is_avro(name)}
        batch, pairs = self._batch, [(0, 0)]
        if ids:
            numbers = {f"{name}_schema": ids.get(name, sf.lit(0)) for name in ENCODINGS}
            batch = batch.withColumns(numbers)
            found = batch.select(*numbers).distinct().collect()
            pairs = sorted((key, value) for key, value in found)
        parts = []
        for pair in pairs:
            part, reasons = batch, []
            columns: list[str | Column] = [*messages.PLACE, "headers"]
            for name, number in zip(ENCODINGS, pair, strict=True):
                if ids:
                    part = part.where(sf.col(f"{name}_schema") == number)
                if name in ids:
                    assert self._registry is not None
                    column, reason = messages.decoded(batch, name, number, self._registry)
                else:
                    column, reason = messages.as_text(name)
                reasons.append(reason)
                if column is not None:
                    columns.append(column.alias(name))
            part = part.withColumn("reason", sf.coalesce(*reasons))
            parts.append(Part(part, columns, f"/schema={pair[0]}-{pair[1]}" if ids else ""))
        return parts

    def _is_avro(self, name: str) -> bool:
        return self._entity[ENCODINGS[name]] == "avro"


def _save(found: DataFrame, folder: str, count: int) -> None:
    files = -(-count // ROWS_OF_A_FILE)
    found.coalesce(files).write.mode("overwrite").parquet(folder)
