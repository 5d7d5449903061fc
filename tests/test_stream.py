"""`spark-cdc stream`: what it refuses, and from files, Kafka and a registry into the landing."""

from __future__ import annotations

import datetime as dt
import decimal
import http.server
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import fastavro
import pytest

from project import ROOT, Project
from spark_cdc import cli as command_line
from spark_cdc import macro_rules
from spark_cdc.errors import SparkCdcError
from spark_cdc.jinja_bridge import load_macros
from spark_cdc.server import java
from spark_cdc.stream import command as stream
from spark_cdc.stream.job import explained, watch
from spark_cdc.stream.registry import Registry
from spark_cdc.stream.times import State

pytestmark = pytest.mark.proves("streams")

PEOPLE = {"id": {"data_type": "bigint", "role": "key"}, "name": "string"}
STAMPS = "%Y-%m-%dT%H%M%S"
T = 1_709_547_300  # 2024-03-04 10:15:00


def event(number: int, name: str, lsn: int) -> str:
    """A message of Debezium, as a line."""
    source = {"connector": "postgresql", "lsn": lsn, "sequence": f'["{lsn}","{lsn}"]', "ts_us": 1}
    row = {"id": number, "name": name}
    return json.dumps({"before": None, "after": row, "source": source, "op": "c", "ts_ms": 1})


def from_files(project: Project, name: str = "people", folder: str = "incoming") -> None:
    """Write an entity whose messages come as files into a folder."""
    (project.folder / folder).mkdir(exist_ok=True)
    path = f"{project.landing}/{name}/{{business_date}}"
    stream_of = {"files": f"{project.folder}/{folder}"}
    project.entity(
        name,
        PEOPLE,
        load_type="events",
        business_date_type="timestamp",
        events={"format": "debezium"},
        source={"format": "parquet", "path": path, "stream": stream_of},
    )


def put(project: Project, name: str, seconds: int, *lines: str | bytes) -> None:
    """A file comes into the folder that is streamed; seconds: of its time, from T on."""
    folder = project.folder / "incoming"
    new = folder / f".{name}"
    new.write_bytes(b"".join((x.encode() if isinstance(x, str) else x) + b"\n" for x in lines))
    os.utime(new, (T + seconds, T + seconds))
    new.rename(folder / name)


def landed(project: Project) -> dict[str, list[str]]:
    """What lies in the landing: by business time its batches and its marker."""
    places = (project.folder / "landing" / "people").iterdir()
    return {
        place.name: sorted(
            f"_closed/{next(one.iterdir()).name}" if one.name == "_closed" else one.name
            for one in place.iterdir()
        )
        for place in places
    }


@pytest.fixture
def people(project: Project) -> Project:
    """A project with an entity whose messages come as files."""
    from_files(project)
    return project


WORDS = ["stream", "--once", "--interval", "10s", "--max-per-trigger", "1", "--cores", "1"]


def loaded(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The business times that `spark-cdc load` loads."""
    code = command_line.main(["load", "--select", "path:models/people", "--output", "json"])
    told = json.loads(capsys.readouterr().out)
    assert code == 0, told
    return list(told["entities"][0]["loaded"])


def test_from_files_to_current(
    people: Project,
    cli: Callable[..., subprocess.CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Batches land once, are closed and loaded; what is no message is rejected."""
    put(people, "a.json", 3, event(1, "Ann", 1), "", b'{"op": "\xff"}')
    put(people, "b.json", 17, event(2, "Bob", 2), event(1, "Anna", 3))
    done = cli(*WORDS, SPARK_CDC_PROJECT_DIR=str(people.folder))
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    assert "people  batch 0  20240304T101500  2 messages, 1 rejected" in said
    assert "people  3 messages landed, 1 rejected, closed before" in said
    assert landed(people) == {
        "2024-03-04T101500": ["_closed/first", "batch=0"],
        "2024-03-04T101510": ["_closed/after-20240304T101500", "batch=1"],
    }
    aside = people.folder / "landing/_rejected/people/batch=0"
    [rejected] = people.query(f"select topic, reason from parquet.`{aside}`")
    assert rejected[0].endswith("a.json")
    assert rejected[1] == "value: bytes that are not UTF-8"
    people.serve_commands(monkeypatch)
    monkeypatch.chdir(people.folder)
    assert loaded(capsys) == ["2024-03-04 10:15:00", "2024-03-04 10:15:10"]
    assert people.rows("people_current", "id, name") == [(1, "Anna"), (2, "Bob")]


@pytest.mark.full
def test_late_files_a_batch_twice_and_a_job_of_its_own(
    people: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job that spark-submit runs continues where a killed one stopped."""
    # as if it had been killed before Spark knew that the last batch has landed
    state = people.folder / "landing/_stream/people"
    for file in (state / "checkpoint/commits").glob("*1*"):
        file.unlink()
    (state / "journal" / "9999999999.json").write_text('{"batch": 1, "do')
    put(people, "c.json", 5, event(3, "Cy", 4))  # late: its time is closed
    people.serve_commands(monkeypatch)
    monkeypatch.chdir(people.folder)
    assert command_line.main([*WORDS, "--job", "job.json"]) == 0
    assert "spark-submit" in capsys.readouterr().out
    submitted = {**os.environ, "PYSPARK_SUBMIT_ARGS": "--master local[1] pyspark-shell"}
    submitted |= java.environment(people.folder / ".spark_cdc")
    again = [sys.executable, str(stream.JOB), "job.json"]
    done = subprocess.run(again, env=submitted, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert landed(people)["2024-03-04T101510"] == ["_closed/after-20240304T101500", "batch=1"]
    assert landed(people)["2024-03-04T101520"] == ["_closed/after-20240304T101510", "batch=2"]

    still_open = people.folder / "landing/people/2024-03-04T101530/batch=3"
    shutil.copytree(people.folder / "landing/people/2024-03-04T101520/batch=2", still_open)
    assert loaded(capsys) == ["2024-03-04 10:15:20"]
    assert people.rows("people_current", "id, name") == [(1, "Anna"), (2, "Bob"), (3, "Cy")]
    refused = people.run("2024-03-04 10:15:30", "people")
    assert "is not closed; spark-cdc stream may still add messages" in refused.output
    shutil.rmtree(still_open.parent)


def found(**more: Any) -> dict[str, Any]:
    """The part stream of the macro state, of a streamed entity and another one."""
    one = {
        "problems": [],
        "load_type": "events",
        "per": "timestamp",
        "path": "landing/people/{business_date:%Y-%m-%dT%H%M%S}",
        "stream": {
            **dict.fromkeys(stream.SOURCES),
            **{"topic": "shop.people", "encoding": "json", "key_encoding": None},
        },
    }
    more["stream"] = one["stream"] | more["stream"] if more.get("stream") else one["stream"]
    return {"people": one | more, "orders": {"problems": [], "stream": None}}


def planned(told: dict[str, Any], *words: str) -> dict[str, Any]:
    """The job that `spark-cdc stream` would start."""
    arguments = command_line.parser().parse_args(["stream", *words])
    return stream.plan(arguments, told)


def test_a_job() -> None:
    told = found(stream={"topic": ["a.b", "a.c"], "encoding": "avro"})
    words = ("--kafka", "k:9092", "--registry", "http://r", "--interval", "5s", "--idle", "2m")
    job = planned(told, *words)
    assert job["kafka"] == {"kafka.bootstrap.servers": "k:9092"}
    assert (job["trigger"], job["idle"], job["fail_on_data_loss"]) == (5, 120, True)
    [entity] = job["entities"]
    assert (entity["kind"], entity["from"], entity["interval"]) == ("topic", "a.b,a.c", 5)
    assert (entity["encoding"], entity["key_encoding"], entity["base"]) == (
        "avro",
        "avro",
        "landing",
    )
    needed = [jar.artifact for jar in stream._jars(job)]
    assert "spark-sql-kafka-0-10_2.13" in needed
    assert "spark-avro_2.13" in needed
    told = found(
        per="date", path="s3a://bucket/{business_date:%Y/%m/%d}/people", stream={"topic": None}
    )
    [entity] = planned(told, "--kafka", "k:1", "--topic", "shop.{entity}")["entities"]
    assert (entity["from"], entity["interval"]) == ("shop.people", stream.DAY)
    assert entity["base"] == "s3a://bucket"


@pytest.mark.parametrize(
    ("told", "words", "message"),
    [
        (found(), ("--select", "nobody"), "--select 'nobody' is not an entity"),
        (found(load_type="full"), (), "people: its load type is full, and only change events"),
        (found(problems=["people: it is wrong."]), (), "people: it is wrong."),
        (found(), (), "--kafka is missing; entities read topics"),
        (found(stream={"encoding": "avro"}), (), "--registry is missing; messages are Avro"),
        (found(stream={"topic": None}), (), "people: source.stream names no source; accepted are"),
        (
            found(path="landing/people/{business_date:%Y/%m/%d/%H%M}"),
            ("--interval", "30s"),
            "people: business times every 30 s would share folders: its path, landing/people/",
        ),
        (
            found(path="landing/people/{business_date:%Y/%m/%d/%H}"),
            ("--interval", "15m"),
            "has no minutes",
        ),
    ],
)
def test_what_is_refused(told: dict[str, Any], words: tuple[str, ...], message: str) -> None:
    with pytest.raises(SparkCdcError) as caught:
        planned(told, *words)
    assert message in caught.value.message
    assert "The project has the entities people, orders" in caught.value.next_step


def test_no_entity_is_streamed() -> None:
    with pytest.raises(SparkCdcError, match=r"No entity has source\.stream"):
        planned({"orders": found()["orders"]})
    nothing = found()
    nothing["people"]["stream"] = None
    with pytest.raises(SparkCdcError, match=r"people: its YAML has no source\.stream"):
        planned(nothing, "--select", "people")


@pytest.mark.parametrize("text", ["5", "0s", "m5", "1.5h", "1w"])
def test_times(text: str) -> None:
    with pytest.raises(SparkCdcError, match=f"--interval '{text}' is not a time"):
        planned(found(), "--interval", text)


def test_what_the_yaml_may_say() -> None:
    def problems(load_type: str = "events", **more: Any) -> list[str]:
        given = {"format": "parquet", "path": "landing/people/{business_date}"} | more
        settings = {"load_type": load_type, "source": given}
        if load_type == "events":
            settings["events"] = {"format": "debezium"}
        return macro_rules.rules()[0]._description_problems(
            "people",
            {
                "name": "stg_people",
                "meta": {"spark_cdc": settings},
                "columns": [{"name": "id", "data_type": "bigint", "meta": {"role": "key"}}],
            },
        )

    assert problems(stream={"topic": "shop.people"}) == []
    assert problems(stream={"pattern": "shop[.].*", "encoding": "avro"}) == []
    [wrong] = problems(stream={"topic": "a", "files": "b"})
    assert wrong == "source.stream has topic, files; accepted is one of them: remove the others"
    [wrong] = problems(stream={"topic": "a", "encoding": "xml"})
    assert "source.stream.encoding is 'xml'; accepted are json, avro" in wrong
    [wrong] = problems(stream={"topics": "a"})
    assert "source.stream has the unknown key 'topics'" in wrong
    [wrong] = problems(stream={"topic": "a"}, format="json")
    assert "source.format is 'json': what is streamed lands as parquet" in wrong
    [wrong] = problems(stream={"topic": "a"}, path="in/*/people/{business_date}")
    assert "accepted is one folder of each business date" in wrong
    [wrong] = problems("delta", stream={"topic": "a"})
    assert "load_type is delta: messages are change events" in wrong


def test_what_a_query_failed_with() -> None:
    """The causes, not the ways that the error took through Python and Java."""
    said = """An exception was raised by the Python Proxy. Return Message: Traceback (most recent):
  File "x.py", line 1, in land
py4j.protocol.Py4JJavaError: An error occurred while calling o199.collectToPython.
: org.apache.spark.sql.kafka010.KafkaIllegalStateException: may have been lost;
Reason: Could not read records in offset [204, 1608) of shop.people-0
\tat org.apache.spark.X(X.scala:1)
Caused by: org.apache.kafka.OffsetOutOfRangeException: out of range
"""
    told = explained("people", Exception(said), "All is in a.log.")
    assert told.message.splitlines() == [
        "people: messages are gone from the topic that had not been taken",
        "  | org.apache.spark.sql.kafka010.KafkaIllegalStateException: may have been lost;",
        "  | Reason: Could not read records in offset [204, 1608) of shop.people-0",
        "  | org.apache.kafka.OffsetOutOfRangeException: out of range",
    ]
    assert told.next_step.endswith("--accept-data-loss goes on after the gap. All is in a.log.")
    told = explained("people", Exception("OSError: no room"), "")
    assert told.message == "people: the stream failed\n  | OSError: no room"


class Query:
    """An entity's query, as far as its job looks at it: it fails, or ends, at the third look."""

    def __init__(self, name: str, fails: bool) -> None:
        self.name, self.fails, self.looks = name, fails, 0
        self.failed: SparkCdcError | None = None
        self.isActive = True
        self.query = self.landing = self.journal = self
        self.state, self.started, self.closed = State(), 0.0, False

    def look(self) -> None:
        self.looks += 1
        self.isActive = self.looks < (3 if self.fails else 6)

    def has_failed(self) -> bool:
        if self.isActive or not self.fails or self.failed:
            return False
        self.failed = SparkCdcError(f"{self.name}: wrong", "Correct it.")
        return True

    def try_again(self) -> None:
        if self.failed:
            self.looks, self.isActive, self.fails, self.failed = 0, True, False, None

    def close(self, taken: float) -> None:
        self.closed = True

    def end(self) -> None:
        """Nothing."""


@pytest.mark.parametrize("once", [True, False])
def test_a_query_that_fails(once: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """The other one takes all; what failed is tried again where the job goes on."""
    bad, good = Query("bad", True), Query("good", False)
    job = {"once": once, "idle": 0}
    if once:
        with pytest.raises(SparkCdcError, match="bad: wrong"):
            watch([bad, good], job, threading.Event())  # type: ignore[list-item]
    else:
        assert watch([bad, good], job, threading.Event()) == 0  # type: ignore[list-item]
    assert (bad.closed, good.closed) == (False, once)
    assert bad.failed is None or once
    assert good.looks > 5
    assert "error: bad: wrong\nnext: Correct it." in capsys.readouterr().err


def test_all_queries_fail() -> None:
    streams = [Query("a", True), Query("b", True)]
    with pytest.raises(SparkCdcError, match="a: wrong\nb: wrong"):
        watch(streams, {"once": False, "idle": 0}, threading.Event())  # type: ignore[arg-type]


def test_a_listing_amid_closing_leaves_nothing_out() -> None:
    """A marker whose predecessor was not seen yet waits; one that is really missing is told."""
    in_a_row = load_macros()._landed_times_in_a_row
    first, second, third = (dt.datetime(2024, 3, 4, 10, minute) for minute in (0, 15, 30))
    markers = {
        "20240304T100000": "first",
        "20240304T101500": "after-20240304T100000",
        "20240304T103000": "after-20240304T101500",
    }

    def outstanding(*times: dt.datetime, since: dt.datetime | None = None) -> tuple[Any, bool]:
        told = in_a_row(list(times), markers, since)
        return told["times"], bool(told["problem"])

    assert outstanding(first, second, third) == ([first, second, third], False)
    assert outstanding(first, third) == ([first], False)
    assert outstanding(third, since=second) == ([third], False)  # the others are dropped
    assert outstanding(first, third, since=first) == ([first], True)
    assert outstanding(second, third) == ([], True)
    assert "2024-03-04 10:00:00" in in_a_row([second], markers, None)["problem"]


class Schemas(http.server.BaseHTTPRequestHandler):
    """A registry, as far as it is asked: Confluent's API at the top."""

    known: ClassVar[dict[int, dict[str, Any]]] = {}

    def do_GET(self) -> None:
        number = self.path.rpartition("/")[2]
        answer: Any = [] if self.path == "/subjects" else None
        if self.path.startswith("/schemas/ids/"):
            answer = self.known.get(int(number))
        self.send_response(200 if answer is not None else 404)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *words: Any) -> None:
        """Say nothing."""


@pytest.fixture
def registry() -> Iterator[str]:
    """The address of a registry that knows Schemas.known."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Schemas)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_registry(registry: str) -> None:
    Schemas.known = {7: {"schema": '"string"'}, 8: {"schema": "x", "schemaType": "PROTOBUF"}}
    asked = Registry(f"{registry}/")
    asked.check()
    assert asked.schema(7) == '"string"'
    assert asked.schema(8) is None
    assert asked.schema(9) is None
    assert asked.problems == {
        8: "schema 8 is one of the type PROTOBUF, which is not read",
        9: "the registry has no schema 9",
    }
    with pytest.raises(SparkCdcError, match="does not answer as one: it knows no /subjects"):
        Registry(f"{registry}/elsewhere").check()
    with pytest.raises(SparkCdcError, match=r"does not answer as one: .*refused"):
        Registry("http://127.0.0.1:9").check()


FIELDS = [
    {"name": "id", "type": "long"},
    {"name": "name", "type": ["null", "string"], "default": None},
]
AMOUNT = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}


def envelope(*fields: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value, as Debezium registers one."""
    row = {"type": "record", "name": "Value", "fields": list(fields)}
    images = [
        {"name": "before", "type": ["null", row], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
    ]
    whole = [*images, {"name": "op", "type": "string"}]
    return {"type": "record", "name": "Envelope", "namespace": "shop", "fields": whole}


SCHEMAS: dict[int, Any] = {
    1: {"type": "record", "name": "Key", "fields": FIELDS[:1]},
    2: envelope(*FIELDS),
    3: envelope(*FIELDS, {"name": "amount", "type": ["null", AMOUNT], "default": None}),
    4: {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]},
}


def frame(number: int, value: Any) -> bytes:
    """A message in the wire format: a zero byte, the schema's id, Avro."""
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(SCHEMAS[number]), value)
    return b"\0" + number.to_bytes(4, "big") + body.getvalue()


@pytest.mark.full
def test_avro_by_the_schema_that_wrote_it(project: Project, registry: str, tmp_path: Path) -> None:
    """Two versions of a schema in one batch, tombstones, and what is not what its schema says."""
    Schemas.known = {number: {"schema": json.dumps(one)} for number, one in SCHEMAS.items()}
    key = frame(1, {"id": 3})
    plain = frame(2, {"before": None, "after": {"id": 1, "name": "Ann"}, "op": "c"})
    priced = frame(
        3,
        {
            "before": None,
            "after": {"id": 2, "name": None, "amount": decimal.Decimal("1.25")},
            "op": "c",
        },
    )
    wrong = {
        "value: not what schema 2 says": [
            plain + b"x",
            plain[:-2],
            plain[:4] + b"\x02" + priced[5:],
            plain[:5] + b"\x02\x06\xfe\xff\xff\xff\x0f",  # a text of 2 GB
        ],
        "value: no Avro with the id of a schema before it": [b"{}", b""],
        "value: the registry has no schema 9": [b"\0\0\0\0\x09x"],
        "value: Spark can't read schema 4": [b"\0\0\0\0\x04\0"],
    }
    truncate = frame(2, {"before": None, "after": None, "op": "t"})
    good = [(key, plain), (key, priced), (key, None), (None, truncate)]
    bad = [(key, value) for values in wrong.values() for value in values]
    sent = tmp_path / "sent.json"
    sent.write_text(
        json.dumps([[one if one is None else one.hex() for one in pair] for pair in good + bad])
    )
    place, aside = tmp_path / "batch", tmp_path / "aside"
    script = Path(__file__).with_name("avro_batch.py")
    done = subprocess.run(
        [sys.executable, str(script), registry, str(sent), str(place), str(aside)],
        env={**os.environ, "SPARK_CDC_PROJECT_DIR": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert f"set aside: {len(bad)}" in done.stdout, done.stdout + done.stderr
    assert sorted(one.name for one in place.iterdir()) == [
        "schema=0-2",
        "schema=1-0",
        "schema=1-2",
        "schema=1-3",
    ]

    def rows(schema: str, columns: str) -> list[tuple[Any, ...]]:
        return project.query(f"select {columns} from parquet.`{place}/schema={schema}`")

    assert rows("1-2", "key.id, value.after.name, value.op, offset") == [(3, "Ann", "c", 0)]
    assert rows("1-3", "value.after.id, value.after.amount") == [(2, decimal.Decimal("1.25"))]
    assert rows("0-2", "value.op, value.after") == [("t", None)]
    tombstones = project.query(f"describe select * from parquet.`{place}/schema=1-0`")
    names = [row[0] for row in tombstones]
    assert "key" in names
    assert "value" not in names
    told = dict(project.query(f"select offset, reason from parquet.`{aside}`"))
    expected = [reason for reason, values in wrong.items() for _ in values]
    for offset, reason in enumerate(expected, len(good)):
        assert told[offset].startswith(reason), (offset, told[offset])
    kept = project.query(f"select hex(value) from parquet.`{aside}` where offset = {len(good)}")
    assert bytes.fromhex(kept[0][0]) == plain + b"x"


@pytest.mark.full
def test_one_that_fails_holds_up_no_other(
    people: Project, cli: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """It is told and tried again; with --once the others take all that is there."""
    places = people.folder / "landing"
    others = people.folder / "others"
    from_files(people, "others", "others")
    put(people, "bad.json", 2000, b"\xff", b"\xff")
    (others / "a.json").write_text(event(1, "Ann", 1))
    words = ["stream", "--interval", "1s", "--cores", "1", "--rejects", "1"]
    home = {"SPARK_CDC_PROJECT_DIR": str(people.folder)}
    done = cli(*words, "--once", **home)
    assert done.returncode == 1
    assert "error: people: 2 messages of a batch are not what their schemas say" in done.stderr
    assert "others  1 messages landed" in done.stdout

    process = subprocess.Popen(
        [sys.executable, "-m", "spark_cdc.cli", *words],
        env={**os.environ, **home},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        bufsize=1,
    )
    said: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        if "error: people" in line:
            (others / "b.json").write_text(event(2, "Bob", 2))
            # whoever looked after it has healed it: what Spark has planned is empty now
            (people.folder / "incoming/bad.json").write_bytes(b"\n")
        if line.startswith("people  batch"):
            process.terminate()
    assert process.wait(60) == 0, said
    text = "".join(said)
    assert "people  is tried again" in text
    assert text.index("others  batch 1") < text.index("people  is tried again")
    shutil.rmtree(places / "_stream/others")
    shutil.rmtree(places / "others")
    shutil.rmtree(people.folder / "models/others")


@pytest.mark.full
def test_retention(
    people: Project,
    cli: Callable[..., subprocess.CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Only what is loaded goes; loads go on behind it."""
    words = ["stream", "--once", "--interval", "10s", "--cores", "1"]
    home = {"SPARK_CDC_PROJECT_DIR": str(people.folder)}
    places = people.folder / "landing" / "people"

    def take() -> None:
        done = cli(*words, **home)
        assert done.returncode == 0, done.stdout + done.stderr

    def drop(age: str) -> str:
        done = cli("stream", "--retention", age, **home)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def load() -> list[str]:
        code = command_line.main(["load", "--select", "path:models/people", "--output", "json"])
        told = json.loads(capsys.readouterr().out)
        assert code == 0, told
        return told["entities"][0]["loaded"]

    people.serve_commands(monkeypatch)
    monkeypatch.chdir(people.folder)
    for number in range(2):
        put(people, f"old{number}.json", 3000 + 10 * number, event(50 + number, "x", 100 + number))
        take()
    drop("1d")
    there = sorted(one.name for one in places.iterdir())
    assert there[-2:] == ["2024-03-04T110500", "2024-03-04T110510"]  # they are not loaded yet
    assert load()[-2:] == ["2024-03-04 11:05:00", "2024-03-04 11:05:10"]
    put(people, "new.json", 3020, event(52, "x", 102))
    take()
    assert "people  0 business times dropped" in drop("3650d")
    assert "20240304T110500" in drop("1d")
    left = sorted(one.name for one in places.iterdir())
    assert left == ["2024-03-04T110510", "2024-03-04T110520"]  # the last one loaded, and the next
    assert load() == ["2024-03-04 11:05:20"]
    assert {(50, "x"), (51, "x"), (52, "x")} <= set(people.rows("people_current", "id, name"))


@pytest.mark.full
def test_killed_at_any_moment(
    people: Project, cli: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """SIGKILL of the stream, again and again; in the end each line lies once in what is closed."""
    dice = random.Random(21)
    words = [sys.executable, "-m", "spark_cdc.cli", "stream", "--interval", "1s"]
    words += ["--max-per-trigger", "1", "--cores", "1"]
    environment = {**os.environ, "SPARK_CDC_PROJECT_DIR": str(people.folder)}
    journal = people.folder / "landing/_stream/people/journal"
    files, kills = 0, 0
    for _ in range(7):
        for _ in range(6):
            lines = [event(files * 10 + line, "x", files * 10 + line) for line in range(10)]
            put(people, f"k{files}.json", 1000 + files, *lines)
            files += 1
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
        known = len(list(journal.glob("*.json"))) and max(map(str, journal.glob("*.json")))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:  # it has begun to work
            newest = max(map(str, journal.glob("*.json")), default="")
            if newest and newest != known:
                break
            time.sleep(0.02)
        time.sleep(dice.choice([0, 0.05, 0.1, 0.2, 0.4, 1.3]))
        process.kill()
        kills += process.wait() == -signal.SIGKILL
    assert kills == 7
    for _ in range(2):
        options = ("--once", "--interval", "1s", "--cores", "1")
        done = cli("stream", *options, SPARK_CDC_PROJECT_DIR=str(people.folder))
        assert done.returncode == 0, done.stdout + done.stderr
    places = people.folder / "landing" / "people"
    assert all((place / "_closed").is_dir() for place in places.iterdir())
    paths = f"{places}/*/batch=*/*.parquet"
    ids = [
        json.loads(row[0])["after"]["id"]
        for row in people.query(f"select value from parquet.`{paths}` where topic like '%/k%'")
    ]
    assert sorted(ids) == list(range(files * 10))
