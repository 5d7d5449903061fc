"""The streaming job as a process: `python -m spark_cdc.stream.job FILE`, or by spark-submit.

FILE is JSON that `spark-cdc stream` writes (`--job`): settings, and the entities with their
sources. Each entity is a query of its own with its own checkpoint. Credentials are not in it.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypedDict

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from spark_cdc import console
from spark_cdc.errors import SparkCdcError
from spark_cdc.stream import KAFKA, Job, Source, broker, messages
from spark_cdc.stream.batches import SparkBatch
from spark_cdc.stream.files import Files, Jvm
from spark_cdc.stream.landing import Landing, Reached, stamp
from spark_cdc.stream.registry import Registry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.listener import QueryIdleEvent
    from pyspark.sql.streaming.query import StreamingQuery

LOOK = 0.2  # seconds between two looks at what the queries have done
GRACE = 60.0  # seconds for a batch to end that has begun when the job is told to end
# Seconds until an entity whose query failed is tried again, while others go on: the first time, and
# at most; they double until a batch lands.
AGAIN, SELDOM = 10.0, 600.0
# What queries fail with, as far as it is known what to do.
REMEDIES = (
    (
        ("may have been lost", "failOnDataLoss"),
        "messages are gone from the topic that had not been taken",
        "Find out which. --accept-data-loss goes on after the gap.",
    ),
    (
        ("UnknownTopicOrPartition", "does not host this topic"),
        "the topic is not there",
        "Correct source.stream.topic, or create the topic.",
    ),
    (
        ("TimeoutException", "Connection refused", "DisconnectException", "Failed to construct"),
        "Kafka does not answer",
        "Check --kafka and whether the broker is up; then run the same command again.",
    ),
)
# A line that names a cause, in the stacks of Java and Python.
CAUSE = re.compile(
    r"(?m)^(?:Caused by: |: |\s*)((?:(?:[\w$]+\.)*[\w$]*(?:Exception|Error)\b|Reason: ).*)"
)


class Idleness(StreamingQueryListener):
    """When each query last found nothing new; progress tells of batches only.

    at: seconds since 1970 at which that trigger began, by the query's id.
    """

    def __init__(self) -> None:
        self.at: dict[str, float] = {}

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Remember the trigger."""
        self.at[str(event.id)] = _seconds(event.timestamp)

    def onQueryStarted(self, event: object) -> None:
        """Nothing."""

    onQueryProgress = onQueryTerminated = onQueryStarted


class Progress(TypedDict):
    """How far an entity is, as --status prints it."""

    entity: str
    batch: int | None
    time: str | None
    closed_before: str | None
    open: list[str]
    messages: int
    rejected: int
    lag: dict[str, int] | None


class Stream:
    """An entity's query and landing."""

    def __init__(
        self,
        spark: SparkSession,
        entity: Source,
        job: Job,
        idleness: Idleness,
    ) -> None:
        self._idleness = idleness
        self._registry = Registry(job["registry"]) if job["registry"] else None
        self.name: str = entity["name"]
        self._entity = entity
        self._job = job
        self._spark = spark
        self._is_kafka = entity["kind"] in KAFKA
        self._pause = AGAIN
        self.failed: SparkCdcError | None = None  # why the query is not running
        self.query: StreamingQuery
        self._open()

    def _open(self) -> None:
        """Read what the landing says; SparkCdcError if it does not fit."""
        self.landing = Landing(self._entity, storage(self._spark, self._entity))
        self._problem: SparkCdcError | None = None
        self._told = -1

    def start(self) -> None:
        """Start the query."""
        self.started = time.time()
        writer = (
            messages.read(self._spark, self._entity, self._job)
            .writeStream.queryName(self.name)
            .option("checkpointLocation", self.landing.checkpoint)
            .foreachBatch(self._land)
        )
        if self._job["once"]:
            self.query = writer.trigger(availableNow=True).start()
        else:
            self.query = writer.trigger(processingTime=f"{self._job['trigger']} seconds").start()

    def _land(self, batch: DataFrame, number: int) -> None:
        batch = batch.persist()
        try:
            taken = SparkBatch(batch, self._entity, self._registry, self._job["rejects"])
            self.landing.land(taken, number)
        except SparkCdcError as error:
            self._problem = error
            raise
        finally:
            batch.unpersist()

    def look(self) -> None:
        """Say what has landed since the last look, and close what is over."""
        try:
            self._look()
        except SparkCdcError as error:
            self._problem = error
        except Py4JJavaError as error:
            self._problem = explained(self.name, error, self._log)

    def _look(self) -> None:
        landing, told = self.landing, self.query.lastProgress
        # of its own offsets Python makes texts of dictionaries
        progress = json.loads(told.json) if told else None
        if not landing.lock.acquire(blocking=False):
            return
        try:
            lag = self.lag(progress)
            reached = landing.reached.batch if landing.reached else -1
            is_known = progress is not None and progress["batchId"] >= reached
            if reached > self._told and (is_known or not self.query.isActive):
                self._told, self._pause = reached, AGAIN
                if landing.reached:
                    self._say(landing.reached, lag if is_known else {})
            if self.failed:
                return
            if at := self._idleness.at.get(str(self.query.id)):
                landing.close(at - self._job["idle"])
            if progress is not None:
                at = _seconds(progress["timestamp"]) - self._job["idle"]
                landing.close({name: at for name, behind in lag.items() if behind <= 0})
        finally:
            landing.lock.release()

    def lag(self, progress: Mapping[str, Any] | None) -> dict[str, int]:
        """Return by partition how many messages of the topic have not been taken."""
        if not self._is_kafka or progress is None:
            return {}
        [source] = progress["sources"]
        end, latest = source.get("endOffset") or {}, source.get("latestOffset") or {}
        return {
            f"{topic}-{partition}": offset - end.get(topic, {}).get(partition, 0)
            for topic, offsets in latest.items()
            for partition, offset in offsets.items()
        }

    def _say(self, reached: Reached, lag: Mapping[str, int]) -> None:
        behind = {name: count for name, count in lag.items() if count > 0}
        each = ", ".join(f"{name}: {count}" for name, count in sorted(behind.items())[:8])
        aside = f", {reached.rejected} rejected" if reached.rejected else ""
        print(
            f"{self.name}  batch {reached.batch}  {stamp(reached.time)}  "
            f"{reached.messages} messages{aside}  {reached.seconds:.1f} s"
            + (f"  lag {sum(behind.values())} ({each})" if behind else "  lag 0" if lag else ""),
            flush=True,
        )

    def end(self) -> None:
        """Let the batch that has begun end, and stop the query."""
        if self.landing.lock.acquire(timeout=GRACE):
            self.landing.is_ending = True
            self.landing.lock.release()
        self.query.stop()

    def has_failed(self) -> bool:
        """Return whether it has failed since the last question; `failed` says why."""
        if self.failed or self.landing.is_ending:
            return False
        error = self.query.exception()
        if error is None and self._problem is None:
            return False
        self.query.stop()
        self._fail(self._problem or explained(self.name, error, self._log))
        return True

    @property
    def _log(self) -> str:
        log = self._job.get("log")
        return f"All that Spark says is in {log}." if log else ""

    def _fail(self, problem: SparkCdcError) -> None:
        self.failed = problem
        self._due = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, SELDOM)

    def try_again(self) -> None:
        """Go on where the landing is, if it has failed and it is time to."""
        if self.failed is None or time.monotonic() < self._due:
            return
        print(f"{self.name}  is tried again", flush=True)
        try:
            self._open()
            self.start()
            self.failed = None
        except SparkCdcError as error:
            self._fail(error)


def _seconds(text: str) -> float:
    """Return the seconds since 1970 of a time as progress has it."""
    return dt.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def explained(name: str, error: Exception | None, log: str) -> SparkCdcError:
    """Return what a query failed with, and what to do; log: where all of it is."""
    text = str(error)
    causes = [
        line
        for line in re.findall(CAUSE, text)
        if "py4j" not in line and "ForeachBatchUserFunc" not in line
    ]
    first = text.strip().splitlines()[0]
    shown = "".join(f"\n  | {line[:300]}" for line in list(dict.fromkeys(causes))[-4:] or [first])
    for words, what, step in REMEDIES:
        if any(word in text for word in words):
            return SparkCdcError(f"{name}: {what}{shown}", f"{step} {log}".strip())
    return SparkCdcError(
        f"{name}: the stream failed{shown}", f"Run the same command again. {log}".strip()
    )


def session(job: Job) -> SparkSession:
    """Return Spark; what is set for it elsewhere, by spark-submit, counts."""
    builder = SparkSession.builder.appName("spark-cdc stream")
    fixed = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.noDataProgressEventInterval": "1000",
        "spark.sql.streaming.numRecentProgressUpdates": "5",
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
        **job.get("conf", {}),
    }
    for key, value in fixed.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def from_kafka(job: Job) -> list[Source]:
    """Return the entities that take topics."""
    return [entity for entity in job["entities"] if entity["kind"] in KAFKA]


def storage(spark: SparkSession, entity: Source) -> Files:
    """Return the files where an entity lands."""
    return Files(spark._jvm, spark._jsc.hadoopConfiguration(), entity["base"])


def status(spark: SparkSession, job: Job) -> int:
    """Print how far each entity is."""
    ends: dict[str, dict[str, int]] = {}
    if job["kafka"] and from_kafka(job):
        with broker.opened(spark._jvm, job["kafka"]) as asked:
            ends = {entity["name"]: asked.ends(entity) for entity in from_kafka(job)}
    told: list[Progress] = []
    for entity in job["entities"]:
        state = Landing(entity, storage(spark, entity), is_read_only=True).journal.state
        lag = {
            name: end - state.offsets.get(name, 0)
            for name, end in sorted(ends.get(entity["name"], {}).items())
        }
        told.append(
            {
                "entity": entity["name"],
                "batch": None if state.batch < 0 else state.batch,
                "time": stamp(state.time) if state.time else None,
                "closed_before": stamp(state.floor) if state.floor else None,
                "open": [stamp(time) for time in sorted(state.open) if time >= state.floor],
                "messages": state.messages,
                "rejected": state.rejected,
                "lag": lag or None,
            }
        )
    if job["output"] == "json":
        console.print_json(told)
        return 0
    rows = [
        [
            *(one["entity"], one["batch"], one["time"], one["closed_before"]),
            ", ".join(one["open"]),
            *(one["messages"], one["rejected"]),
            sum(one["lag"].values()) if one["lag"] else "",
        ]
        for one in told
    ]
    headings = ["entity", "batch", "business time", "closed before", "open", "messages"]
    print(console.table([*headings, "rejected", "lag"], rows, 60))
    return 0


def retain(spark: SparkSession, job: Job) -> int:
    """Drop business times of the landing that are loaded and older than is to be kept."""
    for entity in job["entities"]:
        landing = Landing(entity, storage(spark, entity), is_read_only=True)
        loaded = job["retention"]["loaded"].get(entity["name"]) or 0
        dropped = landing.drop(min(job["retention"]["before"], loaded))
        span = f", {stamp(dropped[0])} to {stamp(dropped[-1])}" if dropped else ""
        print(f"{entity['name']}  {len(dropped)} business times dropped{span}", flush=True)
    return 0


def work(job: Job) -> int:
    """Do what the job says; stream until all is taken (once), or until told to end."""
    ending = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ending.set()

    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # what fails is told once, by us
    spark = session(job)
    try:
        if job["task"] != "stream":
            return {"status": status, "retention": retain}[job["task"]](spark, job)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        if "conf" in job:  # started here: who signals a group, or all of a service, means this one
            java: Jvm = spark._jvm
            term = java.sun.misc.Signal("TERM")
            java.sun.misc.Signal.handle(term, java.sun.misc.SignalHandler.SIG_IGN)
        if from_kafka(job):
            with broker.opened(spark._jvm, job["kafka"]) as asked:
                asked.check(from_kafka(job))
        if job["registry"]:
            Registry(job["registry"]).check()
        idleness = Idleness()
        spark.streams.addListener(idleness)
        streams = [Stream(spark, entity, job, idleness) for entity in job["entities"]]
        try:
            for stream in streams:
                stream.start()
            print(f"Streaming {', '.join(stream.name for stream in streams)}", flush=True)
            return watch(streams, job, ending)
        finally:
            for query in spark.streams.active:
                query.stop()
    finally:
        spark.stop()


def watch(streams: list[Stream], job: Job, ending: threading.Event) -> int:
    """Look after queries until they have ended; return the exit code.

    One that fails holds up no other: it is told, and tried again, unless all is to be taken once.

    Raises SparkCdcError if all have failed, or at the end if some have.
    """
    while not ending.is_set():
        ending.wait(LOOK)
        for stream in streams:
            stream.look()
        is_over = not any(stream.query.isActive for stream in streams)
        told = [stream.failed for stream in streams if stream.has_failed() and stream.failed]
        if is_over or all(stream.failed for stream in streams):
            break
        for problem in told:
            tell(problem)
        for stream in streams if not job["once"] else ():
            stream.try_again()
    for stream in streams:
        stream.end()
        stream.look()
        if job["once"] and not stream.failed and not ending.is_set():
            stream.landing.close(stream.started - job["idle"])
    for stream in streams:
        state = stream.landing.journal.state
        closed = f"closed before {stamp(state.floor)}" if state.floor else "nothing is closed yet"
        landed = f"{state.messages} messages landed, {state.rejected} rejected"
        print(f"{stream.name}  {landed}, {closed}", flush=True)
    if problems := [stream.failed for stream in streams if stream.failed]:
        raise SparkCdcError(
            "\n".join(one.message for one in problems),
            " ".join(dict.fromkeys(one.next_step for one in problems)),
        )
    return 0  # also after a signal: nothing is lost, the next start goes on


def tell(error: SparkCdcError) -> None:
    """Say what is wrong."""
    sys.stdout.flush()
    print(error.text, file=sys.stderr, flush=True)


def main(argv: list[str]) -> int:
    """Run the job of a file."""
    job: Job = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    if "conf" in job:  # written for this process
        Path(argv[0]).unlink()
        os.chdir(job["folder"])
    if options := job.get("kafka_options"):
        job["kafka"] |= read_options(Path(options))
    try:
        return work(job)
    except SparkCdcError as error:
        tell(error)
        return error.exit_code


def read_options(path: Path) -> dict[str, str]:
    """Return the settings of a Kafka client, of a properties file, as Spark names them."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, sign, value = line.partition("=")
        if sign and not name.lstrip().startswith("#"):
            found[f"kafka.{name.strip()}"] = value.strip()
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
