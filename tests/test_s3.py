"""Landing, ledgers and archive on S3: a server of moto on loopback, Spark's s3a in front of it.

Settings are tested without a server. The rest is in `make test-all`: loads, reruns, clean-up, kills
in the middle of a write and of its move, readers meanwhile, and how often the store is asked.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from conftest import SERVER
from object_store import BUCKET, ENVIRONMENT, Store, store
from project import ROOT, Project
from spark_cdc import cli as command_line
from spark_cdc.errors import SparkCdcError
from spark_cdc.server import java, s3, table_formats
from spark_cdc.server import local as local_server
from spark_cdc.stream import command as stream
from test_homes import VERIFY
from test_maintenance import DAYS, ENTITIES, STORY, follows, land, load_four_days, manifest, views
from test_readers import Reader
from test_stream import event, from_files, put

pytestmark = pytest.mark.proves("file formats")

WAREHOUSE = f"s3a://{BUCKET}/warehouse"
KEYS = (ENVIRONMENT["AWS_ACCESS_KEY_ID"], ENVIRONMENT["AWS_SECRET_ACCESS_KEY"])


# --- settings -------------------------------------------------------------------------------------


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets variables; those of the shell that runs the tests are taken out."""
    for name in os.environ:
        if name.startswith(("AWS_", "SPARK_CDC_S3_")):
            monkeypatch.delenv(name)

    def given(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return given


def hadoop(conf: dict[str, str]) -> dict[str, str]:
    """Settings of the connector, without what stands before their names."""
    return {
        name.removeprefix("spark.hadoop.fs.s3a."): value
        for name, value in conf.items()
        if ".s3a." in name
    }


def test_the_store_is_where_the_environment_says(environment, tmp_path: Path) -> None:
    assert hadoop(s3.settings(tmp_path)) == {
        "buffer.dir": str(tmp_path / "s3a"),
        "path.style.access": "false",
    }
    environment(AWS_REGION="eu-central-1", AWS_ENDPOINT_URL="https://minio.example.org:9000")
    found = hadoop(s3.settings(tmp_path))
    assert found["endpoint"] == "https://minio.example.org:9000"
    assert found["endpoint.region"] == "eu-central-1"
    assert found["path.style.access"] == "true"
    environment(SPARK_CDC_S3_ENDPOINT="http://127.0.0.1:9", SPARK_CDC_S3_PATH_STYLE="false")
    found = hadoop(s3.settings(tmp_path))
    assert (found["endpoint"], found["path.style.access"]) == ("http://127.0.0.1:9", "false")


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"SPARK_CDC_S3_ENDPOINT": "http://key:secret@host"}, "not a plain URL"),
        ({"AWS_ENDPOINT_URL": "http://host/bucket"}, "not a plain URL"),
        ({"SPARK_CDC_S3_PATH_STYLE": "yes"}, "SPARK_CDC_S3_PATH_STYLE is 'yes'"),
    ],
)
def test_settings_that_make_no_sense(environment, tmp_path: Path, variables, said) -> None:
    environment(**variables)
    with pytest.raises(SparkCdcError, match=said) as caught:
        s3.settings(tmp_path)
    assert "secret" not in f"{caught.value.message}{caught.value.next_step}"


@pytest.mark.parametrize(
    "name", ["access.key", "secret.key", "session.token", "bucket.lake.secret.key"]
)
def test_keys_in_settings_are_refused(tmp_path: Path, name: str) -> None:
    conf = [f"spark.hadoop.fs.s3a.{name}={KEYS[1]}"]
    chosen = local_server.settings(tmp_path, conf=conf, formats=["s3"])
    with pytest.raises(SparkCdcError, match="would write a secret into files") as caught:
        local_server.spark_conf(chosen)
    assert KEYS[1] not in f"{caught.value.message}{caught.value.next_step}"


def test_keys_are_refused_by_a_stream_too() -> None:
    words = ["stream", "--conf", f"spark.hadoop.fs.s3a.secret.key={KEYS[1]}"]
    arguments = command_line.parser().parse_args(words)
    with pytest.raises(SparkCdcError, match="would write a secret into files"):
        arguments.run(arguments)


@pytest.mark.parametrize(
    ("bases", "is_s3", "is_rename_free"),
    [
        (["landing"], False, False),
        (["s3a://lake/landing"], True, True),
        (["s3a://lake/landing", "landing"], True, False),
    ],
)
def test_a_stream_gets_what_its_paths_need(
    environment, tmp_path: Path, bases: list[str], is_s3: bool, is_rename_free: bool
) -> None:
    environment(AWS_REGION="eu-central-1")
    kinds = {"kind": "files", "from": "incoming", "encoding": "json", "key_encoding": "json"}
    job = {"entities": [{**kinds, "base": base} for base in bases]}
    arguments = command_line.parser().parse_args(["stream"])
    jars = {jar.artifact for jar in stream._jars(job)}
    assert ({"hadoop-aws", "spark-hadoop-cloud_2.13"} <= jars) == is_s3
    conf = stream._conf(arguments, job, [], tmp_path)
    assert ("spark.hadoop.fs.s3a.endpoint.region" in conf) == is_s3
    assert ("spark.sql.streaming.checkpointFileManagerClass" in conf) == is_rename_free


def test_a_warehouse_on_s3_needs_what_reads_it(tmp_path: Path) -> None:
    with pytest.raises(SparkCdcError, match="would start without S3") as caught:
        local_server.settings(tmp_path, warehouse=WAREHOUSE)
    assert "--with s3" in caught.value.next_step
    chosen = local_server.settings(tmp_path, warehouse=f"{WAREHOUSE}/", formats=["s3", "delta"])
    conf = local_server.spark_conf(chosen)
    assert conf["spark.sql.warehouse.dir"] == WAREHOUSE
    assert "hadoop-aws-" in conf["spark.driver.extraClassPath"]


def test_the_connector_is_of_sparks_own_hadoop() -> None:
    jars = {path.name for path in (java.pyspark_home() / "jars").iterdir()}
    for pinned in table_formats.jars(["s3"]):
        if pinned.artifact == "hadoop-aws":
            assert f"hadoop-client-api-{pinned.version}.jar" in jars
        # what Spark has is not brought along a second time
        assert not [name for name in jars if re.match(rf"{re.escape(pinned.artifact)}-\d", name)]


# --- on a server ----------------------------------------------------------------------------------


class Lake(Project):
    """A project whose data lands on S3."""

    store: Store

    @property
    def landing(self) -> Any:
        return f"s3a://{BUCKET}/landing"

    def land(self, name: str, date: str, *lines: str, file: str = "data.csv") -> Path:
        key = f"landing/{name}/{date}/{file}"
        self.store.put(key, "".join(f"{line}\n" for line in lines).encode())
        return Path(key)


class Server:
    """A server with a warehouse on S3, which may be killed."""

    def __init__(self, state: Path, at: Store) -> None:
        self.state, self.store = state, at
        self.port = 0

    def start(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.store.environment.items():
                patch.setenv(name, value)
            chosen = local_server.settings(
                self.state,
                port=str(self.port),
                memory="2g",
                warehouse=WAREHOUSE,
                conf=[*SERVER[:2], "spark.sql.catalogImplementation=hive"],
                timeout="600",
                formats=["s3"],
            )
            started = local_server.start(chosen)
        self.port, self.pid = started.port, started.pid

    def cursor(self) -> Any:
        return local_server.connect(self.port).cursor()

    def lake(self, folder: Path, schema: str) -> Lake:
        """A project whose tables lie in a database of its own."""
        cursor = self.cursor()
        cursor.execute(f"create database {schema}")
        project = Lake(folder, self.port, schema, cursor)
        project.store = self.store
        return project


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with store() as at:
        running = Server(tmp_path_factory.mktemp("s3") / "state", at)
        running.start()
        yield running
        local_server.stop(running.state)


@pytest.fixture(scope="module")
def lake(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """The entities of the maintenance tests after four loads."""
    project = server.lake(tmp_path_factory.mktemp("lake") / "shop", "shop")
    load_four_days(project)
    return project


@pytest.mark.full
def test_loads_and_reruns(lake: Lake) -> None:
    follows(lake, STORY[:4])
    assert {
        row[1] for row in lake.query("describe extended {s}.full_ledger") if row[0] == "Location"
    } == {f"{WAREHOUSE}/shop.db/full_ledger"}
    before = {name: views(lake, name) for name in ENTITIES}
    lake.load(DAYS[3], *ENTITIES)
    after = {name: views(lake, name) for name in ENTITIES}
    assert {name: found["current"] for name, found in after.items()} == {
        name: found["current"] for name, found in before.items()
    }
    tested = lake.dbt(*VERIFY)
    assert tested.success, tested.output


@pytest.mark.full
def test_what_lies_beside_the_files_is_noticed(lake: Lake) -> None:
    lake.store.put(f"landing/full/{DAYS[3]}/empty.csv", b"")
    refused = lake.run(DAYS[3], "full")
    assert not refused.success
    assert "empty.csv. Each is a file of 0 bytes or a folder" in refused.output
    lake.store.client.delete_object(Bucket=BUCKET, Key=f"landing/full/{DAYS[3]}/empty.csv")
    refused = lake.run("2024-03-09", "full")
    assert not refused.success
    assert "there are no " in refused.output


@pytest.mark.full
@pytest.mark.parametrize("kind", ["put", "copy"])
def test_a_kill_in_the_middle_of_a_write(lake: Lake, server: Server, kind: str) -> None:
    """While files are written, and while they are moved from where tasks wrote them."""
    before = views(lake, "delta")["current"]
    seen = []

    def kill(now: str, path: str) -> bool:
        if now == kind and "/delta_ledger/" in path and path.endswith(".parquet") and not seen:
            seen.append(path)
            os.kill(server.pid, signal.SIGKILL)
        return False

    lake.store.refuse = kill
    outcome = lake.run(DAYS[3], "delta")
    lake.store.refuse = lambda *_: False
    assert seen and not outcome.success
    local_server.stop(server.state)
    server.start()
    lake.cursor = server.cursor()
    assert views(lake, "delta")["current"] == before
    assert lake.store.keys("warehouse/shop.db/delta_ledger/.spark-staging")
    lake.load(DAYS[3], "delta")
    follows(lake, STORY[:4])


@pytest.mark.full
def test_a_store_that_is_busy_now_and_then(lake: Lake) -> None:
    count = iter(range(10**9))
    lake.store.refuse = lambda kind, path: next(count) % 11 == 0
    try:
        lake.load(DAYS[3], "delta")
    finally:
        lake.store.refuse = lambda *_: False
    follows(lake, STORY[:4])


@pytest.mark.full
def test_readers_see_each_state_whole(lake: Lake) -> None:
    """Queries go on while loads, compact and vacuum do."""
    stop = threading.Event()
    readers = [
        Reader(lake.port, f"select count(*), sum(id) from shop.{name}_current", stop)
        for name in ("full", "moves")
    ]
    for reader in readers:
        reader.start()
    try:
        for name in ENTITIES:
            land(lake, name, 4, STORY)
        lake.load(DAYS[4], *ENTITIES)
        done = lake.operate("compact", entities=list(ENTITIES), older_than_days=0, execute=True)
        assert done.success, done.output
        done = lake.operate("vacuum", execute=True)
        assert done.success, done.output
    finally:
        stop.set()
        for reader in readers:
            reader.join(60)
    assert [reader.errors for reader in readers] == [[], []]
    wanted = {(len(state), sum(state)) for state in STORY[3:5]}
    for reader in readers:
        assert set(reader.states) <= wanted and len(reader.states) > 3
    follows(lake, STORY)


@pytest.mark.full
def test_vacuum_leaves_only_what_counts(lake: Lake) -> None:
    before = {name: views(lake, name) for name in ENTITIES}
    objects = lake.store.keys("warehouse/")
    done = lake.operate("vacuum", retention_hours=0, force=True, execute=True)
    assert done.success, done.output
    assert len(lake.store.keys("warehouse/")) < len(objects)
    left = [key for key in lake.store.keys("warehouse/") if ".spark-staging" in key]
    assert all(
        key.endswith("/") for key in left
    )  # a folder without a file stays: docs/maintenance.md
    for name in ENTITIES:
        loads = {
            match[1]
            for key in lake.store.keys(f"warehouse/shop.db/{name}_ledger/")
            if (match := re.search(r"load_id=([^/]+)/.*parquet$", key))
        }
        assert set(manifest(lake, name)) <= loads
    assert {name: views(lake, name) for name in ENTITIES} == before
    tested = lake.dbt(*VERIFY)
    assert tested.success, tested.output


# --- a stream -------------------------------------------------------------------------------------

STREAM = ("stream", "--interval", "1s", "--max-per-trigger", "1", "--cores", "1")
# At which request the stream is killed, and whether the store still carries it out.
MOMENTS = (
    ("put", r"/landing/people/.*/batch=\d+/part[^/]*parquet$", True),
    ("put", r"/landing/people/.*/batch=\d+/.*[.]pendingset$", False),
    ("delete", r"/landing/people/.*/batch=\d+/__magic", True),
    ("put", r"/_stream/people/checkpoint/offsets/\d+$", True),
    ("put", r"/_stream/people/checkpoint/offsets/\d+$", False),
    ("put", r"/_stream/people/checkpoint/commits/\d+$", False),
    ("put", r"/_stream/people/journal/", False),
    ("put", r"/landing/people/.*/_closed/", False),
)


@pytest.fixture(scope="module")
def people(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """An entity whose messages come as files and land on S3."""
    project = server.lake(tmp_path_factory.mktemp("streams") / "shop", "streams")
    (project.folder / ".spark_cdc").mkdir()
    (project.folder / ".spark_cdc" / "jars").symlink_to(ROOT / ".spark_cdc" / "jars")
    from_files(project)
    return project


def streaming(lake: Lake, *words: str) -> subprocess.Popen[str]:
    """Start `spark-cdc stream --once` with keys in its environment."""
    return subprocess.Popen(
        [sys.executable, "-m", "spark_cdc.cli", *STREAM, "--once", *words],
        env={**os.environ, **lake.store.environment, "SPARK_CDC_PROJECT_DIR": str(lake.folder)},
        cwd=lake.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def streamed(lake: Lake, *words: str) -> tuple[int, str]:
    """What a stream said that ran to its end."""
    process = streaming(lake, *words)
    said = process.communicate(timeout=600)[0]
    return process.returncode, said


def killed(lake: Lake, kind: str, path: str, is_done: bool) -> bool:
    """Kill a stream, whole, at a request; return whether it came to that."""
    process: list[subprocess.Popen[str]] = []
    seen = []

    def kill(now: str, where: str) -> bool:
        if seen or now != kind or not re.search(path, where):
            return bool(seen)  # what it sent before it was dead
        seen.append(where)
        python = psutil.Process(process[0].pid)
        for each in [*python.children(recursive=True), python]:
            each.kill()
        return not is_done

    lake.store.refuse = kill
    try:
        process.append(streaming(lake))
        process[0].communicate(timeout=600)
    finally:
        lake.store.refuse = lambda *_: False
    return bool(seen)


@pytest.mark.full
def test_a_stream_that_is_killed_loses_and_doubles_nothing(
    people: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From files to the landing, its checkpoint and its markers on S3, and on to `current`."""
    sent = 0
    for moment in MOMENTS:
        for _ in range(2):
            put(
                people,
                f"{sent}.json",
                10 * sent,
                event(sent, "x", sent),
                event(1000, f"{sent}", 500 + sent),
            )
            sent += 1
        assert killed(people, *moment), moment
    for _ in range(2):
        code, said = streamed(people)
        assert code == 0, said
    landed = people.store.keys("landing/people/")
    batches = [key for key in landed if "/batch=" in key and not key.endswith("/")]
    closed = {key.split("/_closed/")[0] for key in landed if "/_closed/" in key}
    assert all(key.split("/batch=")[0] in closed and key.endswith(".parquet") for key in batches)
    found = people.query(
        f"select value from parquet.`s3a://{BUCKET}/landing/people/*/batch=*/*.parquet`"
    )
    ids = [json.loads(row[0])["after"]["id"] for row in found]
    assert sorted(ids) == sorted([*range(sent), *[1000] * sent])

    people.serve_commands(monkeypatch)
    monkeypatch.chdir(people.folder)
    code = command_line.main(["load", "--select", "path:models/people", "--output", "json"])
    told = json.loads(capsys.readouterr().out)
    assert code == 0, told
    assert len(told["entities"][0]["loaded"]) == len(closed)
    rows = [*((number, "x") for number in range(sent)), (1000, f"{sent - 1}")]
    assert people.rows("people_current", "id, name") == sorted(rows, key=repr)


@pytest.mark.full
def test_two_streams_meet_at_the_store(people: Lake) -> None:
    """The other one writes the journal between this one's look and its write."""
    put(people, "two.json", 5000, event(2, "y", 9000))
    there = people.store.keys("landing/_stream/people/journal/")
    [number] = [int(there[-1].split("/")[-1].split(".")[0]) + 1]
    key = f"landing/_stream/people/journal/{number:010d}.json"
    seen = []

    def meet(kind: str, path: str) -> bool:
        if kind == "put" and path.endswith(key) and not seen:
            seen.append(path)
            people.store.put(key, b'{"of the other": "not ')
        return False

    people.store.refuse = meet
    try:
        code, said = streamed(people)
    finally:
        people.store.refuse = lambda *_: False
    assert (code, seen) == (1, [f"/{BUCKET}/{key}"]), said
    assert "another process writes" in said
    code, said = streamed(people)
    assert code == 0, said
    assert people.store.keys("landing/people/")[-1].endswith(".parquet")


@pytest.mark.full
def test_how_often_a_stream_asks(people: Lake, say: Callable[[str], None]) -> None:
    """What docs/s3.md says of it: what each batch beyond the first of a start asks."""
    told = []
    for count in (1, 3):
        for number in range(count):
            put(
                people,
                f"asked{count}{number}.json",
                6000 + 10 * count + number,
                event(3, "z", 9000 + count + number),
            )
        people.store.counted()
        code, said = streamed(people)
        assert code == 0, said
        told.append(people.store.counted())
        say(f"{count} batches: {dict(sorted(told[-1].items()))}")
    assert (told[1].total() - told[0].total()) / 2 < 150


@pytest.mark.full
def test_how_often_the_store_is_asked(lake: Lake, say: Callable[[str], None]) -> None:
    """What docs/s3.md says of it; a load of a few rows may not cost more without a reason."""
    told = {}
    for what, act in {
        "load": lambda: lake.load(DAYS[4], "delta"),
        "read": lambda: lake.query("select count(*), max(name) from {s}.delta_current"),
        "vacuum": lambda: lake.operate("vacuum", entities="delta", execute=True),
    }.items():
        lake.store.counted()
        act()
        told[what] = lake.store.counted()
        say(f"{what}: {dict(sorted(told[what].items()))}")
    assert told["load"].total() < 600


@pytest.mark.full
def test_keys_are_in_no_file_and_in_no_statement(lake: Lake, people: Lake, server: Server) -> None:
    told = "\n".join(str(row) for sql in ("set", "set -v") for row in lake.query(sql))
    told += str(lake.query("describe extended {s}.full_ledger"))
    for key in KEYS:
        assert key not in told
    for folder in (server.state, lake.folder, people.folder):
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                content = path.read_bytes()
                assert not [key for key in KEYS if key.encode() in content], path
