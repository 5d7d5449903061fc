"""The local server: its life, from start to stop, and everything that gets in the way."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import postgres
from cluster import metastore
from spark_cdc import local_server
from spark_cdc.errors import SparkCdcError
from spark_cdc.exit_codes import ExitCode
from spark_cdc.server import local as server

pytestmark = pytest.mark.proves("command line")

ROOT = Path(__file__).resolve().parents[1]
# What a thread of Hive's comes to where Derby closes the connection that it opens, since the
# statement is cancelled: "Database initialization failed; direct SQL is disabled", for good.
CRIPPLED = "spark.hadoop.hive.metastore.try.direct.sql=false"


def _wait(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert condition()


def _info(state):
    return json.loads((state / "server.json").read_text())


@pytest.fixture(scope="module")
def state(tmp_path_factory, cli):
    """The state folder (with a blank in its path) of a server started from a shell that ends."""
    folder = tmp_path_factory.mktemp("server life") / "state"
    line = f"'{sys.executable}' -m spark_cdc.cli server start --port 0 --memory 512m --cores 1"
    line += f" --state-dir '{folder}' --conf spark.sql.shuffle.partitions=3 --conf {CRIPPLED}"
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=ROOT,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Start the Spark server" in done.stderr
    yield folder
    cli("server", "stop", "--if-needed", "--state-dir", str(folder))


@pytest.mark.integration
def test_survives_the_shell_in_a_session_of_its_own(state):
    pid = _info(state)["pid"]
    assert os.getsid(pid) == pid
    assert Path(f"/proc/{pid}/cwd").resolve() == ROOT


@pytest.mark.integration
def test_answers_with_the_given_settings(state):
    connection = server.connect(_info(state)["port"])
    cursor = connection.cursor()
    cursor.execute("set spark.sql.shuffle.partitions")
    assert cursor.fetchone()[1] == "3"
    cursor.execute("set spark.sql.warehouse.dir")
    assert str(state / "warehouse") in cursor.fetchone()[1].replace("%20", " ")
    cursor.execute("create table life using parquet as select 1 as a")
    cursor.execute("select a from life")
    assert cursor.fetchall() == [(1,)]
    assert (state / "warehouse" / "life").is_dir()
    connection.close()


@pytest.mark.integration
def test_a_run_that_was_killed_leaves_a_metastore_that_finds_partitions_by_date(state):
    with contextlib.closing(server.connect(_info(state)["port"])) as connection:
        cursor = connection.cursor()
        cursor.execute("create table days (id int, day date) using parquet partitioned by (day)")
        cursor.execute("insert into days values (1, date'2024-03-01'), (2, date'2024-03-02')")
        cursor.execute("select id from days where day > date'2024-03-01'")
        assert cursor.fetchall() == [(2,)]


LONG = "x" * 200_000


@pytest.mark.integration
def test_the_metastore_holds_long_views(state):
    """Hive's own mapping makes Derby hold 32,700 characters of one."""
    with contextlib.closing(server.connect(_info(state)["port"])) as connection:
        cursor = connection.cursor()
        cursor.execute("create view long as select 1 as characters")
        cursor.execute(f"alter view long as select length('{LONG}') as characters")
        cursor.execute("select characters from long")
        assert cursor.fetchall() == [(len(LONG),)]


@pytest.mark.integration
def test_listens_on_loopback_only(state):
    connections = psutil.Process(_info(state)["pid"]).net_connections("tcp")
    found = {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}
    assert found
    assert found <= {"127.0.0.1", "::ffff:127.0.0.1"}


@pytest.mark.integration
def test_folder_is_the_users_only(state):
    for path in [state, *state.iterdir()]:
        if path.name != "server.lock":
            assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.integration
@pytest.mark.full
def test_sessions_come_and_go_side_by_side(state):
    """Neither the files nor the metastore connection of one goes with another that ends.

    What each does, and that they do it at the same moment, made Hive's clean-up fail and then hang.
    """
    port = _info(state)["port"]

    def visit(number):
        connection = server.connect(port)
        cursor = connection.cursor()
        cursor.execute(f"create table if not exists visited{number % 8} (a int) using parquet")
        cursor.execute(f"select * from visited{number % 8}")
        rows = cursor.fetchall()
        connection.close()
        return rows

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        try:
            assert all(rows == [] for rows in pool.map(visit, range(600), timeout=400))
        except TimeoutError:
            server.stop(state)  # ends the waiting threads too
            raise
    assert "Exception in thread" not in (state / "server.log").read_text()


@pytest.mark.integration
def test_second_start_is_refused(state, cli):
    done = cli("server", "start", "--state-dir", str(state))
    assert done.returncode == 1
    info = _info(state)
    assert f"runs already: pid {info['pid']}, port {info['port']}" in done.stderr
    assert "next: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.integration
def test_second_start_if_needed_is_all_right(state, cli):
    before = _info(state)
    done = cli("server", "start", "--if-needed", "--state-dir", str(state))
    assert done.returncode == 0, done.stderr
    assert _info(state) == before


@pytest.mark.integration
def test_port_taken(state, cli, tmp_path):
    port = str(_info(state)["port"])
    done = cli("server", "start", "--port", port, "--state-dir", str(tmp_path / "other"))
    assert done.returncode == 1
    assert f"Port {port} can't be used" in done.stderr
    assert "--port" in done.stderr.split("next:")[1]
    assert not (tmp_path / "other" / "server.json").exists()


@pytest.mark.integration
def test_status_of_a_running_server(state, cli):
    done = cli("server", "status", "--state-dir", str(state))
    assert done.returncode == 0
    for word in ("running", str(_info(state)["pid"]), "MB now", "4.", "server.log", "warehouse"):
        assert word in done.stdout
    value = cli("server", "status", "--value", "port", "--state-dir", str(state))
    assert value.stdout.strip() == str(_info(state)["port"])


@pytest.mark.integration
def test_log_is_readable(state, cli):
    done = cli("server", "logs", "-n", "1000", "--state-dir", str(state))
    assert done.returncode == 0
    lines = [line for line in done.stdout.splitlines() if line[:4].isdigit()]
    assert len(lines) < 20, done.stdout


@pytest.mark.integration
@pytest.mark.full
def test_crashed_server_is_recognised_and_stop_ends_the_next_one(state, cli):
    """Last of the tests that share the server: it kills it, and starts another.

    That one reads the metastore, which is not new any more, by Hive's own mapping.
    """
    first = _info(state)["pid"]
    os.kill(first, signal.SIGKILL)
    _wait(lambda: server.start_time(first) is None)
    done = cli("server", "status", "--state-dir", str(state))
    assert done.returncode == ExitCode.NOTHING
    assert "ended without being stopped" in done.stdout
    done = cli(
        *("server", "start", "--port", "0", "--memory", "512m", "--cores", "1"),
        *("--state-dir", str(state)),
    )
    assert done.returncode == 0, done.stderr
    assert "cleaning up" in done.stdout
    second = _info(state)["pid"]
    with contextlib.closing(server.connect(_info(state)["port"])) as connection:
        cursor = connection.cursor()
        cursor.execute(f"alter view long as select 1 + length('{LONG}') as characters")
        cursor.execute("select characters from long")
        assert cursor.fetchall() == [(len(LONG) + 1,)]
    done = cli("server", "stop", "--state-dir", str(state))
    assert done.returncode == 0
    assert f"pid {second}" in done.stdout
    assert server.start_time(second) is None
    assert not (state / "server.json").exists()
    assert not (state / "server.pid").exists()


# What follows needs no server.


def test_nothing_runs(tmp_path, cli):
    done = cli("server", "status", "--state-dir", str(tmp_path))
    assert (done.returncode, done.stdout.strip()) == (ExitCode.NOTHING, "No server runs.")
    done = cli("server", "stop", "--state-dir", str(tmp_path))
    assert (done.returncode, done.stdout.strip()) == (0, "No server runs.")
    done = cli("server", "logs", "--state-dir", str(tmp_path))
    assert done.returncode == 1
    assert "There is no log" in done.stderr


def test_recycled_pid_is_left_alone(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as other:
        info = {"pid": other.pid, "start_time": "long ago", "port": 1, "log": "x"}
        (tmp_path / "server.json").write_text(json.dumps(info))
        assert server.status(tmp_path).state == "recycled"
        assert local_server.port(tmp_path) is None
        (tmp_path / "server.json").write_text(json.dumps(info | {"start_time": 1.5}))
        assert local_server.port(tmp_path) is None
        assert "belongs to another process" in server.stop(tmp_path)
        assert other.poll() is None
        other.kill()
    assert server.status(tmp_path).state == "stopped"


def test_stale_pid_file(tmp_path):
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    info = {"pid": gone.pid, "start_time": "long ago", "port": 1, "log": "x"}
    (tmp_path / "server.json").write_text(json.dumps(info))
    assert server.status(tmp_path).state == "crashed"
    assert "No server runs" in server.stop(tmp_path)


def test_damaged_state_file_counts_as_none(tmp_path):
    (tmp_path / "server.json").write_text("{")
    assert server.status(tmp_path).state == "stopped"


def test_stop_takes_force_if_it_must(tmp_path):
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"  # noqa: E501
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as stubborn:
        stubborn.stdout.readline()
        info = {"pid": stubborn.pid, "start_time": server.start_time(stubborn.pid), "port": 1}
        (tmp_path / "server.json").write_text(json.dumps(info))
        assert local_server.port(tmp_path) == 1
        assert "by force" in server.stop(tmp_path, grace=0.5)


def test_a_server_that_dies_is_reported_with_its_log(tmp_path):
    chosen = server.settings(
        tmp_path / "s", port="0", memory="512m", conf=["spark.master=nonsense"], timeout="60"
    )
    with pytest.raises(SparkCdcError) as caught:
        server.start(chosen)
    assert "ended while it started" in caught.value.message
    assert "Master must" in caught.value.message
    assert str(tmp_path / "s" / "server.log") in caught.value.next_step
    assert server.status(tmp_path / "s").state == "stopped"


def test_a_server_that_is_too_slow_is_ended(tmp_path):
    chosen = server.settings(tmp_path / "s", port="0", memory="512m", timeout="1")
    with pytest.raises(SparkCdcError, match="did not answer within 1 s"):
        server.start(chosen)
    assert server.status(tmp_path / "s").state == "stopped"


def test_two_starts_at_once(tmp_path):
    (tmp_path / "s").mkdir()
    chosen = server.settings(tmp_path / "s", port="0")
    with (
        server._locked(tmp_path / "s", 0),
        pytest.raises(SparkCdcError, match="Another command is starting a server"),
    ):
        server.start(chosen)


def test_too_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "machine_memory", lambda: (2048 * server.MIB, 1300 * server.MIB))
    assert server.default_memory() == 1024 * server.MIB
    with pytest.raises(SparkCdcError, match="would take 4096 MB of memory") as caught:
        server.start(server.settings(tmp_path / "s", port="0", memory="4g"))
    assert "--memory 640m" in caught.value.next_step


@pytest.mark.parametrize(
    ("size", "expected"), [(2 * 1024, 1024), (8 * 1024, 2048), (64 * 1024, 4096)]
)
def test_default_memory_is_a_quarter_within_bounds(monkeypatch, size, expected):
    monkeypatch.setattr(server, "machine_memory", lambda: (size * server.MIB, 0))
    assert server.default_memory() == expected * server.MIB


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": "lots"}, "--memory 'lots' is not a size"),
        ({"memory": "100m"}, "too little"),
        ({"port": "http"}, "--port 'http' is not accepted"),
        ({"port": "70000"}, "from 0 to 65535"),
        ({"cores": "-1"}, "--cores '-1'"),
        ({"conf": ["spark.x"]}, "not KEY=VALUE"),
        ({"jars": ["/no/such.jar"]}, "no such file"),
        ({"timeout": "soon"}, "--timeout 'soon'"),
    ],
)
def test_wrong_options(tmp_path, options, message):
    with pytest.raises(SparkCdcError, match=re.escape(message)) as caught:
        server.settings(tmp_path, **options)
    assert caught.value.next_step


def test_settings_from_the_environment(tmp_path, monkeypatch):
    for name, value in {
        "PORT": "10111",
        "MEMORY": "3g",
        "CORES": "2",
        "WAREHOUSE": str(tmp_path / "w"),
        "SPARK_CONF": "spark.a=1,2,spark.b=x=y",
    }.items():
        monkeypatch.setenv(f"SPARK_CDC_{name}", value)
    chosen = server.settings(tmp_path, conf=["spark.a=3"])
    assert (chosen.port, chosen.memory, chosen.cores) == (10111, 3072 * server.MIB, 2)
    assert chosen.warehouse == tmp_path / "w"
    assert chosen.conf == {"spark.a": "3", "spark.b": "x=y"}
    assert server.settings(tmp_path, port="10112").port == 10112


def test_jars_are_on_the_drivers_class_path(tmp_path):
    jar = tmp_path / "a.jar"
    jar.touch()
    conf = server.spark_conf(server.settings(tmp_path, jars=[str(jar)]))
    assert conf["spark.driver.extraClassPath"] == str(jar)


def test_port_taken_by_another_program(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SparkCdcError, match=f"Port {port} can't be used") as caught:
            server.start(server.settings(tmp_path / "s", port=str(port), memory="512m"))
        assert f"It belongs to process {os.getpid()} (" in caught.value.message


def test_a_zombie_has_ended(tmp_path):
    """Where nobody asks for a server's exit code, as in a container without an init process."""
    with subprocess.Popen(["sleep", "60"]) as child:
        assert server.start_time(child.pid) > 0
        child.kill()
        _wait(lambda: server.start_time(child.pid) is None)


def test_what_a_cluster_lacks_is_named(monkeypatch):
    """`make cluster` says what to install, where it does not run."""
    monkeypatch.setenv("SPARK_CDC_CLUSTER_JDBC", "/no/such.jar")
    with pytest.raises(SparkCdcError, match=r"no /no/such\.jar.* libpostgresql-jdbc-java"):
        metastore.driver()
    with pytest.raises(SparkCdcError, match=r"no no_such_program"):
        postgres.binary("no_such_program")
