"""`spark-cdc stream`: messages of Kafka, or lines of files as they come, into landing folders.

This module reads what the entities' YAML says, fetches the jars and becomes the job, a process with
Spark in it (stream.job); on a cluster spark-submit runs the same job.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spark_cdc import business_date, dbt_runner, parsing, parts, project, state
from spark_cdc.errors import SparkCdcError, UsageError
from spark_cdc.server import jars, java, local, s3, table_formats
from spark_cdc.server.jars import Jar
from spark_cdc.stream import KAFKA, SOURCES, Job, Retention, Source

DAY = 86400
JOB = Path(__file__).with_name("job.py")
LOG = "spark.log"  # in .spark_cdc/stream
_KAFKA_CLIENT = (
    Jar(
        "org.apache.kafka",
        "kafka-clients",
        "3.9.1",
        "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9",
    ),
    Jar(
        "org.apache.commons",
        "commons-pool2",
        "2.12.1",
        "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef",
    ),
)
# By Spark's minor version: its Kafka source with what that needs, Avro, S3. None is part of it.
JARS: Mapping[str, Mapping[str, tuple[Jar, ...]]] = {
    "kafka": {
        "4.1": (
            Jar(
                "org.apache.spark",
                "spark-sql-kafka-0-10_2.13",
                "4.1.3",
                "cb31ffd9c8f5527dba061db8af671d295562092e4f3f5ff42fc249fab8a8fde6",
            ),
            Jar(
                "org.apache.spark",
                "spark-token-provider-kafka-0-10_2.13",
                "4.1.1",
                "e510adc37b03d01d0a190d0dab472b5538e05eaa77454f7e9477156d7a6820ae",
            ),
            *_KAFKA_CLIENT,
        ),
    },
    "avro": {
        "4.1": (
            Jar(
                "org.apache.spark",
                "spark-avro_2.13",
                "4.1.1",
                "6a19d90bc3b6e88d8db0fa36a19273aa10fea2dbd7a62bb60e4cedd73051b32d",
            ),
        ),
    },
    s3.NAME: {spark: (*found, s3.CHECKPOINTS[spark]) for spark, found in s3.BUILDS.items()},
}


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    select: list[str]
    target: str | None
    kafka: str | None
    kafka_options: str | None
    registry: str | None
    topic: str | None
    once: bool
    interval: int
    idle: int
    max_per_trigger: int | None
    starting: str
    accept_data_loss: bool
    rejects: int
    memory: str
    cores: str
    conf: list[str]
    ivy_settings: str | None
    job: str | None
    status: bool
    retention: int | None
    output: str


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `stream` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "stream",
        "land messages of Kafka, or files as they arrive",
        "Writes the entities' source.stream into their landing folders, batch by batch, each"
        " exactly once, and closes business times that are over; spark-cdc load loads them beside"
        " it. A restart goes on at its checkpoint (docs/stream.md).",
        "spark-cdc stream orders --kafka broker:9092 --once",
    )
    dbt_runner.add_arguments(parser, "select", "target")
    parser.add_argument(
        "--kafka", metavar="HOST:PORT,…", help="bootstrap servers (SPARK_CDC_KAFKA)"
    )
    parser.add_argument(
        "--kafka-options",
        metavar="FILE",
        help="properties of the Kafka client, also credentials (SPARK_CDC_KAFKA_OPTIONS)",
    )
    parser.add_argument(
        "--registry",
        metavar="URL",
        help="schema registry; of Apicurio …/apis/ccompat/v7 (SPARK_CDC_REGISTRY)",
    )
    parser.add_argument(
        "--topic",
        metavar="TEMPLATE",
        help="topic of entities that name none, such as 'shop.public.{entity}'",
    )
    parser.add_argument("--once", action="store_true", help="land all that is there now, and end")
    parser.add_argument(
        "--interval",
        type=functools.partial(business_date.parse_time, "--interval", least=1),
        default="1m",
        metavar="TIME",
        help="time between two batches, and between two business times of entities with times of"
        " day: 5s, 15m, 1h (default: 1m)",
    )
    parser.add_argument(
        "--idle",
        type=functools.partial(business_date.parse_time, "--idle"),
        default="0s",
        metavar="TIME",
        help="close a business time this long after its end if no newer message came (default: 0s)",
    )
    parser.add_argument(
        "--max-per-trigger", type=int, metavar="N", help="most messages, or files, of a batch"
    )
    parser.add_argument(
        "--starting",
        choices=("earliest", "latest"),
        default="earliest",
        help="offset at which the first start of an entity begins (default: earliest)",
    )
    parser.add_argument(
        "--accept-data-loss",
        action="store_true",
        help="go on if messages left a topic before they were read",
    )
    parser.add_argument(
        "--rejects",
        type=int,
        default=1000,
        metavar="N",
        help="most rejected messages of a batch (default: 1000); with more the stream ends",
    )
    parser.add_argument("--memory", default="1g", help="memory of the local job (default: 1g)")
    parser.add_argument("--cores", default="*", help="cores of the local job (default: all)")
    parser.add_argument(
        "--conf",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="Spark setting of the local job; can be repeated",
    )
    parser.add_argument("--ivy-settings", metavar="FILE", help="as for spark-cdc server start")
    parser.add_argument(
        "--job", metavar="FILE", help="only write the job's settings, for spark-submit"
    )
    parser.add_argument(
        "--status", action="store_true", help="only print the progress of each entity"
    )
    parser.add_argument(
        "--retention",
        type=functools.partial(business_date.parse_time, "--retention"),
        metavar="TIME",
        help="only drop loaded business times of the landing that are older, such as 30d",
    )
    parsing.add_output(parser, "with --status: ")
    parsing.set_run(parser, Options, run)


def run(arguments: Options) -> int:
    """Become the job, or write what it needs."""
    parts.require("stream", "spark-cdc stream")
    s3.check(local.parse_conf(arguments.conf))
    job = plan(arguments, _found(arguments))
    if arguments.retention is not None:
        job |= {
            "task": "retention",
            "retention": _retention(arguments.target, arguments.retention, job),
        }
    if arguments.job:
        job |= {"entities": [_anchored(one) for one in job["entities"]]}
        Path(arguments.job).write_text(json.dumps(job, indent=2) + "\n", encoding="utf-8")
        # a cluster that works on S3 has what reads and writes there
        needed = [f"{j.group}:{j.artifact}:{j.version}" for j in _jars(job, but=s3.NAME)]
        print(f"{arguments.job} is written. To run it:")
        packages = f"--packages {','.join(needed)} " if needed else ""
        print(f"  spark-submit {packages}{JOB} {arguments.job}")
        return 0
    state = project.state_dir() / "stream"
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = java.ensure()
    settings = arguments.ivy_settings or os.environ.get("SPARK_CDC_IVY_SETTINGS", "")
    paths = jars.ensure(_jars(job), found.executable, settings)
    job |= {"conf": _conf(arguments, job, paths, state), "log": str(state / LOG)}
    job |= {"folder": str(project.root())}
    file = state / f"job-{os.getpid()}.json"
    file.write_text(json.dumps(job), encoding="utf-8")
    environment = os.environ | java.environment(project.state_dir())
    sys.stdout.flush()
    words = [sys.executable, "-m", "spark_cdc.stream.job", str(file)]
    return os.execve(sys.executable, words, environment)


def _found(arguments: Options) -> dict[str, state.StreamData]:
    """Return what the project says of its entities, by their names; no server is asked."""
    found = state.ask(dbt_runner.Dbt(arguments.target), stream={"names": arguments.select})[
        "entities"
    ]
    return {one["entity"]: one["stream"] for one in found}


def _retention(target: str | None, seconds: int, job: Job) -> Retention:
    """Return what may be dropped: what lies before a time, and before the last load."""
    names = [entity["name"] for entity in job["entities"]]
    found = state.read(dbt_runner.Dbt(target), names)
    last = {one.entity: one.times[-1] for one in found if one.times}
    return {
        "before": int(time.time()) - seconds,
        "loaded": {n: int(t.replace(tzinfo=dt.timezone.utc).timestamp()) for n, t in last.items()},
    }


def plan(arguments: Options, found: Mapping[str, state.StreamData]) -> Job:
    """Return the job: settings, and entities with their sources.

    found: of all entities, the part stream of the macro state.

    Raises SparkCdcError with all that is wrong.
    """
    problems = [
        f"--select {name!r} is not an entity" for name in arguments.select if name not in found
    ]
    entities: list[Source] = []
    for name, one in found.items():
        if name not in arguments.select if arguments.select else not one["stream"]:
            continue
        problems += one["problems"]
        if not one["problems"]:
            wrong, entity = _entity(name, one, arguments)
            problems += [f"{name}: {text}" for text in wrong]
            entities += [entity] if entity else []
    kafka = arguments.kafka or os.environ.get("SPARK_CDC_KAFKA", "")
    registry = arguments.registry or os.environ.get("SPARK_CDC_REGISTRY", "")
    if not kafka and any(one["kind"] in KAFKA for one in entities):
        problems.append("--kafka is missing; entities read topics: --kafka HOST:PORT")
    if not registry and any("avro" in (one["encoding"], one["key_encoding"]) for one in entities):
        problems.append("--registry is missing; messages are Avro: --registry URL")
    options = arguments.kafka_options or os.environ.get("SPARK_CDC_KAFKA_OPTIONS")
    if options and not arguments.job and not Path(options).is_file():
        problems.append(f"--kafka-options {options!r}: no such file")
    if problems:
        known = ", ".join(found)
        raise UsageError(
            "Nothing was started:\n" + "\n".join(f"  - {text}" for text in problems),
            f"Correct the settings (docs/stream.md). The project has the entities {known}.",
        )
    if not entities:
        raise UsageError(
            "No entity has source.stream in its YAML. It names the topic or the files.",
            "Add it (docs/stream.md): stream: {topic: shop.public.orders}",
        )
    return {
        "kafka": {"kafka.bootstrap.servers": kafka} if kafka else {},
        "kafka_options": options and str(Path(options).absolute()),
        "registry": registry,
        "task": "status" if arguments.status else "stream",
        "output": arguments.output,
        "once": arguments.once,
        "trigger": arguments.interval,
        "idle": arguments.idle,
        "max_per_trigger": arguments.max_per_trigger,
        "starting": arguments.starting,
        "fail_on_data_loss": not arguments.accept_data_loss,
        "rejects": arguments.rejects,
        "entities": entities,
    }


def _entity(
    name: str, one: state.StreamData, arguments: Options
) -> tuple[list[str], Source | None]:
    """Return what is wrong with an entity, and what the job has to know of it."""
    if one["load_type"] != "events":
        return [
            f"its load type is {one['load_type']}, and only change events (events) are streamed"
        ], None
    if one["stream"] is None:
        return ["its YAML has no source.stream, which says where messages come from"], None
    stream = one["stream"]
    path = one["path"].replace("%F", "%Y-%m-%d").replace("%T", "%H:%M:%S")
    kind = next((name for name in SOURCES if stream[name]), None)
    source: str | list[str] | None = stream[kind] if kind else None
    problems = []
    if kind is None and arguments.topic:
        kind, source = "topic", arguments.topic.replace("{entity}", name)
    elif kind is None:
        problems.append(
            f"source.stream names no source; accepted are {', '.join(SOURCES)}, or --topic for all"
        )
    letters = re.findall(r"%([A-Za-z])", path)
    interval = DAY if one["per"] == "date" else arguments.interval
    lacks = None
    if interval % 60 and "S" not in letters:
        lacks = "seconds"
    elif interval % 3600 and "M" not in letters:
        lacks = "minutes"
    if lacks:
        problems.append(
            f"business times every {interval} s would share folders: its path, {path}, has"
            f" no {lacks}"
        )
    encoding = stream["encoding"]
    return problems, {
        "name": name,
        "kind": kind or "",
        "from": source if isinstance(source, str) else ",".join(source or ()),
        "encoding": encoding,
        "key_encoding": stream["key_encoding"] or encoding,
        "path": path.rstrip("/"),
        "base": _base(path),
        "interval": interval,
    }


def _base(path: str) -> str:
    """Return the folder for checkpoints and for what is set aside: beside that of the entity."""
    own = path.split("{business_date")[0].rpartition("/")[0]
    above = own.rpartition("/")[0]
    return above if above and not above.endswith(":/") else own


def _anchored(one: Source) -> Source:
    """Return an entity whose paths are absolute: relative ones start in the project's folder."""
    found = one.copy()
    found["path"], found["base"] = _anchor(one["path"]), _anchor(one["base"])
    if one["kind"] == "files":
        found["from"] = _anchor(one["from"])
    return found


def _anchor(place: str) -> str:
    is_relative = not re.match(r"/|[A-Za-z][A-Za-z0-9+.-]*:", place)
    return str(project.root() / place) if is_relative else place


def _on_s3(job: Job) -> set[str]:
    """Return what of the job is on S3: base (checkpoints, and landing), from (files)."""
    return {
        name
        for entity in job["entities"]
        for name, place in (("base", entity["base"]), ("from", entity["from"]))
        if s3.holds(place)
    }


def _jars(job: Job, but: str = "") -> list[Jar]:
    """Return the jars that the job needs, for the Spark that is installed.

    but: what is there already.
    """
    entities = job["entities"]
    needed = []
    if any(one["kind"] in KAFKA for one in entities):
        needed.append("kafka")
    if any("avro" in (one["encoding"], one["key_encoding"]) for one in entities):
        needed.append("avro")
    if _on_s3(job) and but != s3.NAME:
        needed.append(s3.NAME)
    version = table_formats.spark_version()
    for name in needed:
        if version not in JARS[name]:
            raise SparkCdcError(
                f"the jars of {name} for Spark {version} are not pinned",
                f"Install a PySpark of {', '.join(JARS[name])}, or write the job with --job and run"
                " it by spark-submit with jars of your own.",
            )
    return [jar for name in needed for jar in JARS[name][version]]


def _conf(arguments: Options, job: Job, paths: Sequence[Path], state: Path) -> dict[str, str]:
    """Return the settings of Spark in the job's own process."""
    log = (Path(__file__).parent / "templates" / "log4j2-stream.properties").as_uri()
    options = [
        "-Duser.timezone=UTC",
        f"-Dlog4j2.configurationFile={log}",
        f"-Dspark_cdc.log={state / LOG}",
        # when a query ends Spark looks through what Python said, by a pattern that goes deep
        "-Xss4m",
        # a message that claims to be larger is none; without a limit it takes the memory it claims
        "-Dorg.apache.avro.limits.bytes.maxLength=134217728",
        "-Dorg.apache.avro.limits.string.maxLength=134217728",
    ]
    conf = {
        "spark.master": f"local[{arguments.cores}]",
        "spark.driver.memory": arguments.memory,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, paths)),
        "spark.driver.extraJavaOptions": " ".join(options),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # what is shuffled is a count or two of each batch
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.warehouse.dir": str(state / "warehouse"),
    }
    if _on_s3(job):
        conf |= s3.settings(state)
    if all(s3.holds(entity["base"]) for entity in job["entities"]):  # it can't write on disks
        conf |= s3.CHECKPOINT_SETTINGS
    return local.joined(conf, local.parse_conf(arguments.conf))
