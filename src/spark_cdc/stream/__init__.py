"""The job behind `spark-cdc stream`: messages into the landing, in batches of Structured Streaming.

times     which business time a batch goes to, and when one is closed
journal   what of that is remembered, beside Spark's checkpoint
messages  where messages come from, and what they are by their schemas
landing   a batch into its folder, exactly once
batches   a batch as Spark has it
files     where the landing lies
job       all of it as a process
"""

from __future__ import annotations

from typing import Literal, TypedDict

Kind = Literal["topic", "pattern", "files"]
_From = TypedDict("_From", {"from": str})


class Source(_From):
    """An entity of a job, and where its messages come from (`from`, by `kind`)."""

    name: str
    kind: str
    encoding: str
    key_encoding: str
    path: str
    base: str
    interval: int


class Retention(TypedDict):
    """What may be dropped: what is before a time, and of each entity before its last load."""

    before: int
    loaded: dict[str, int]


class Job(TypedDict, total=False):
    """What a job does; conf, log and folder are there if it runs in a process of spark-cdc."""

    kafka: dict[str, str]
    kafka_options: str | None
    registry: str
    task: str
    output: str
    once: bool
    trigger: int
    idle: int
    max_per_trigger: int | None
    starting: str
    fail_on_data_loss: bool
    rejects: int
    entities: list[Source]
    retention: Retention
    conf: dict[str, str]
    log: str
    folder: str


KAFKA: tuple[Kind, ...] = ("topic", "pattern")  # kinds of sources whose messages come from topics
SOURCES: tuple[Kind, ...] = (*KAFKA, "files")
