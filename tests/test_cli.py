"""The command line: messages, exit codes, `load`; and the parts of the demo that need no Spark."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from dbt.adapters.exceptions import FailedToConnectError

from spark_cdc import business_date, connectivity, console, dbt_runner, project, selection, state
from spark_cdc import cli as command_line
from spark_cdc.bootstrap import __main__ as install
from spark_cdc.bootstrap.environment import Environment
from spark_cdc.commands import replay
from spark_cdc.errors import SparkCdcError, UsageError, advice
from spark_cdc.synthetic import demo

pytestmark = pytest.mark.proves("command line")

ROOT = Path(__file__).resolve().parents[1]
ENTITIES = f"--select {' '.join(selection.OF_ENTITIES)}"


LOAD = (
    'spark_cdc: {"entities": [{"entity": "a", "load": {"date": "2019-06-19", "rows": 5,'
    ' "counts": "I 1, U 2, D 0, N 2, X 0"}}]}'
)


@pytest.fixture
def fake_dbt(monkeypatch, tmp_path):
    """Stand in for dbt: it notes its loads, and fails for the date in FAIL_AT.

    Two entities are selected, a and b; STATUS is what there is of them.
    """
    calls = tmp_path / "calls"
    calls.touch()

    def invoke(dbt, words, shown, watch, variables, *_):
        if words[0] == "ls":
            names = "\n".join(["stg_a", "a_ledger", "a_committed", "b_ledger", "general_ledger"])
            return dbt_runner.Done(True, names), None
        if words[0] == "run-operation":
            return dbt_runner.Done(True, f"12:00:00  spark_cdc: {os.environ['STATUS']}"), None
        with calls.open("a") as lines:
            date = variables.get(dbt_runner.DATES, "")
            lines.write(f"{dbt._environment['SPARK_CDC_PORT']}|{date}|{' '.join(words)}\n")
        if date and date == os.environ.get("FAIL_AT"):
            return dbt_runner.Done(False, ""), None
        node = SimpleNamespace(node_name="a_committed", node_status="success")
        of_node = {"node_info": node, "run_result": SimpleNamespace(execution_time=1.5)}
        for name, data in {"PrintEvent": {"msg": LOAD}, "NodeFinished": of_node}.items():
            watch(SimpleNamespace(info=SimpleNamespace(name=name), data=SimpleNamespace(**data)))
        return dbt_runner.Done(True, LOAD, models=1), None

    monkeypatch.setattr(dbt_runner.Dbt, "_invoke", invoke)
    monkeypatch.setattr(dbt_runner.connectivity, "problem", lambda *_: None)
    monkeypatch.delenv("FAIL_AT", raising=False)
    monkeypatch.setenv("SPARK_CDC_PORT", "10999")
    monkeypatch.setenv("STATUS", statuses(a=[], b=[]))
    return lambda: calls.read_text().splitlines()


def statuses(**times: list[str]) -> str:
    """What the macro state prints of entities with these business times."""
    common = {"load_type": "full", "per": "date", "has_archive": False, "rows": 0, "commit": 1}
    common["undone"] = []
    entities = [
        common | {"entity": name, "times": found, "last_load": None, "draft": None}
        for name, found in times.items()
    ]
    return json.dumps({"schema": "cdc", "entities": entities})


def test_outside_of_a_project(cli, tmp_path):
    done = cli("server", "status", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: There is no dbt_project.yml in '{tmp_path}' or above it")
    assert done.stderr.endswith("next: Change to the project's folder.\n  cd /path/to/project\n")


def test_debug_shows_the_traceback(cli, tmp_path):
    assert "Traceback" in cli("--debug", "server", "status", cwd=tmp_path).stderr


def test_unexpected_error_says_how_to_see_more(monkeypatch, capsys):
    monkeypatch.setattr(command_line, "parser", lambda _: 1 / 0)
    assert command_line.main(["server", "status"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: unexpected ZeroDivisionError")
    assert "--debug" in said


def test_project_is_found_upwards_and_by_variable(monkeypatch, tmp_path):
    monkeypatch.delenv("SPARK_CDC_PROJECT_DIR", raising=False)
    monkeypatch.chdir(ROOT / "tests")
    assert project.root() == ROOT
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARK_CDC_PROJECT_DIR", str(ROOT))
    assert project.root() == ROOT
    assert project.state_dir("x") == ROOT / "x"
    assert project.state_dir(str(tmp_path)) == tmp_path


def test_load_runs_the_dates_in_order(fake_dbt):
    words = ["load", "2019-06-20", "2019-06-19", "--select", "a", "b", "--target", "local"]
    assert command_line.main(words) == 0
    options = "--select a b tag:spark_cdc.a tag:spark_cdc.b --target local"
    assert fake_dbt() == [
        f"10999|2019-06-19|run {options}",
        f"10999|2019-06-20|run {options}",
    ]


def test_commands_run_in_a_process_of_somebody_else(fake_dbt):
    """In the place of messages there are exceptions; nothing ends the process at once."""
    ends = []

    def select(dbt, words, shown, watch, *more, invoke=dbt_runner.Dbt._invoke):
        ends.append((dbt_runner.end_process, signal.getsignal(signal.SIGINT)))
        return invoke(dbt, words, shown, watch, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dbt_runner.Dbt, "_invoke", select)
        assert command_line.run("load", "2024-03-01", "2024-03-02") == 0
        patch.setenv("FAIL_AT", "2024-03-03")
        with pytest.raises(SparkCdcError, match="The load of 2024-03-03 failed"):
            command_line.run("load", "2024-03-03")
    assert len(fake_dbt()) == 3
    assert set(ends) == {(None, signal.getsignal(signal.SIGINT))}
    with pytest.raises(SparkCdcError, match="needs dates"):
        command_line.run("load", "--bulk")


def test_load_lifts_guards(fake_dbt):
    assert (
        command_line.main(["load", "2019-06-20", "--skip-guards", "a.empty", "updated_share"]) == 0
    )
    given = '{"spark_cdc_skip_guards": ["a.empty", "updated_share"]}'
    assert fake_dbt() == [f"10999|2019-06-20|run --vars {given} {ENTITIES}"]


def test_load_stops_at_the_first_failure(fake_dbt, monkeypatch, capsys):
    monkeypatch.setenv("FAIL_AT", "2019-06-19")
    assert command_line.main(["load", "2019-06-18", "2019-06-19", "2019-06-20"]) == 1
    assert len(fake_dbt()) == 2
    said = capsys.readouterr().err
    assert "The load of 2019-06-19 failed. Not started: 2019-06-20." in said
    assert said.endswith("\n  spark-cdc load 2019-06-18 2019-06-19 2019-06-20\n")


LOADED = r"a  2019-06-19  \d+\.\d s  5 rows in, I 1, U 2, D 0, N 2, X 0\n"


@pytest.mark.parametrize(
    ("words", "count"), [(["2019-06-19"], 1), (["2019-06-18", "2019-06-19"], 2)]
)
def test_one_date_and_many_print_the_same_lines(fake_dbt, words, count, capsys):
    """And nothing else: no line of dbt's own."""
    assert command_line.main(["load", *words]) == 0
    assert re.fullmatch(LOADED * count, capsys.readouterr().out)


def test_load_says_how_far_it_is(fake_dbt, monkeypatch, capsys):
    monkeypatch.setenv("FAIL_AT", "2019-06-20")
    assert command_line.main(["load", "2019-06-18..2019-06-30"]) == 1
    said = capsys.readouterr().err
    assert (
        "The load of 2019-06-20 failed. Not started: 10 dates from 2019-06-21 to 2019-06-30."
        in said
    )
    assert said.endswith("\n  spark-cdc load 2019-06-18..2019-06-30\n")


def test_load_leaves_out_what_is_committed(fake_dbt, monkeypatch, capsys):
    """a has two dates, b only the first: the second is loaded without a's models."""
    monkeypatch.setenv("STATUS", statuses(a=["2019-06-18", "2019-06-19"], b=["2019-06-18"]))
    words = ["load", "2019-06-18..2019-06-20", "--exclude", "x"]
    assert command_line.main(words) == 0
    assert "1 date is committed and skipped (2019-06-18)" in capsys.readouterr().out
    assert fake_dbt() == [
        f"10999|2019-06-19|run {ENTITIES} --exclude x tag:spark_cdc.x stg_a a_ledger a_committed",
        f"10999|2019-06-20|run {ENTITIES} --exclude x tag:spark_cdc.x",
    ]
    assert command_line.main([*words, "--again"]) == 0
    assert len(fake_dbt()) == 5
    monkeypatch.setenv("STATUS", statuses(a=["2019-06-20"], b=["2019-06-20"]))
    assert command_line.main(["load", "2019-06-19..2019-06-20"]) == 0
    said = capsys.readouterr().out
    assert "a  2019-06-19  skipped: it has a later load. To insert the date:" in said
    assert "spark-cdc replay --from 2019-06-19 --dates 2019-06-19 --select b" in said
    assert "Nothing is left to load." in said
    assert len(fake_dbt()) == 5


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("2024-02-28", "2024-03-01"), ["2024-02-28", "2024-02-29", "2024-03-01"]),
        (("2024-01-01", "2024-01-16", "1w"), ["2024-01-01", "2024-01-08", "2024-01-15"]),
        (
            ("2024-01-01 23:30", "2024-01-02 00:00", "15m"),
            ["2024-01-01 23:30:00", "2024-01-01 23:45:00", "2024-01-02 00:00:00"],
        ),
        (("2024-01-01", "2024-01-01", "12h"), ["2024-01-01 00:00:00", "2024-01-01 12:00:00"]),
    ],
    ids=["days", "weeks", "minutes", "a whole day"],
)
def test_ranges(words, expected):
    assert business_date.expand(*words) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["2024-01-02..2024-01-01"], "ends before it begins"),
        (["2024-01-02.."], "'' is not a business date"),
        (["2024-01-01..2024-01-02..2024-01-03"], "is not a range"),
        (["2024-01-01 10:00..2024-01-02"], "has times of day, and no time between two"),
        (["2024-01-01..2024-01-02", "--step", "0m"], "'0m' is not a time between two loads"),
        (["0001-01-01..9999-12-31", "--step", "1m"], "takes up to 100000"),
        (["2024-01-01", "--step", "1d"], "--step needs a range"),
        (["2024-01-01", "--again", "--from", "2024-01-01"], "--from belongs to `spark-cdc load`,"),
        (["2024-01-01..2024-01-02", "--every", "15m"], "of a range is --step."),
        (["2024-01-01", "--retries", "0"], "--retries belongs to `spark-cdc load`, this is"),
        (["2024-01-01", "--skip-missing"], "belongs to `spark-cdc load` and `spark-cdc load FIRST"),
        (["2024-01-01", "--output", "json"], "--output json of given dates needs --dry-run"),
        (["--again"], "--again belongs to `spark-cdc load DATE …`, this is `spark-cdc load`."),
        (["--step", "1d"], "--every repeats the command."),
        (["--select", "a", "2024-01-01"], "2024-01-01 follows an option"),
        (["--bulk", "--select", "a"], "--bulk needs dates"),
        (["2024-01-01", "--bulk"], "needs entities, and none is named"),
        (["2024-01-01", "--bulk", "--select", "a", "--again"], "--again belongs to"),
        (["2024-01-01", "--bulk", "--select", "a", "--output", "json"], "--output belongs to"),
        (["2024-01-01", "--bulk", "--select", "a", "--dates-per-statement", "61"], "1 to 60"),
        (["2024-01-01", "--dates-per-statement", "2"], "this is `spark-cdc load DATE …`"),
    ],
)
def test_dates_and_options_that_are_refused(fake_dbt, words, message, capsys):
    assert command_line.main(["load", *words]) == 2
    assert message in capsys.readouterr().err
    assert fake_dbt() == []


def drafted(*times: str, first: str = "2024-01-02", outdated: str = "") -> state.Draft:
    return state.Draft(moment(first), "landing", [moment(t) for t in times], outdated, [])


def moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("draft", "extra", "todo"),
    [
        (None, [], ["2", "4", "5"]),
        (None, ["3"], ["2", "3", "4", "5"]),
        (drafted("2024-01-02", "2024-01-04"), [], ["5"]),
        (drafted("2024-01-02", "2024-01-03"), [], ["4", "5"]),
        (drafted("2024-01-02", "2024-01-04"), ["3"], ["3", "4", "5"]),
        (drafted("2024-01-02", "2024-01-04", "2024-01-05"), [], []),
        (drafted("2024-01-02", first="2024-01-01"), [], ["2", "4", "5"]),
        (drafted("2024-01-02", outdated="a rerun"), [], ["2", "4", "5"]),
    ],
    ids=["new", "inserted", "goes on", "keeps", "insert later", "done", "other", "outdated"],
)
def test_what_a_replay_still_has_to_load(draft, extra, todo):
    times = [moment(f"2024-01-0{day}") for day in (1, 2, 4, 5)]
    known = state.State("a", "full", times=times, draft=draft)
    found = replay.plan(known, times[1], [moment(f"2024-01-0{day}") for day in extra])
    assert [str(time.day) for time in found.todo] == todo
    assert bool(found.outdated) == bool(draft and draft.outdated)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--select", "a"], "--from is missing"),
        (["--from", "2019-02-30"], "'2019-02-30' is not a business date"),
        (["--from", "2019-06-19", "--dates", "2019-06-18"], "is before --from"),
        (["--from", "2019-06-19", "--dates", "2019-06-20"], "--dates needs entities"),
        (["--from", "2019-06-19 10:00"], "a is loaded per date, so 10:00:00 is too much"),
        (["--from", "2019-06-19", "--source", "archive", "--select", "a"], "a has no archive"),
    ],
)
def test_no_replays(fake_dbt, words, message, capsys):
    assert command_line.main(["replay", *words]) == 2
    assert message in capsys.readouterr().err
    assert fake_dbt() == []


DRIVER = """
import sys, time
import dbt.cli.main
from spark_cdc import cli, selection, state
from spark_cdc.commands import load

class Runner:
    loads = 0
    def __init__(self, **_): pass
    def invoke(self, words):
        Runner.loads += words[0] == "run"
        if words[0] == "run" and (Runner.loads > 1 or ".." not in sys.argv[2]):
            print('spark_cdc: {"entities": [{"entity": "a", "load": {"date": "2024-01-02"}}]}')
            print("ready", file=sys.stderr, flush=True)
            time.sleep(60)
        return dbt.cli.main.dbtRunnerResult(success=True)

dbt.cli.main.dbtRunner = Runner
selection.models = lambda *_: {"a": ["a_ledger"]}
load.state.read = lambda _: [state.State("a", "full")]
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["2024-01-01..2024-01-03"],
            "interrupted: 1 of 3 loads are done. Of those under way, a has reported a commit. A"
            " load is atomic; spark-cdc status lists the committed ones.\n"
            "next: spark-cdc load 2024-01-01..2024-01-03\n",
        ),
        (["2024-01-02"], "\nnext: spark-cdc load 2024-01-02\n"),
    ],
    ids=["between dates", "one date"],
)
def test_an_interrupted_load_says_how_to_go_on(words, said, number):
    """Without a traceback, and without waiting for what dbt tidies up."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, "load", *words],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while process.stderr.readline() not in ("ready\n", ""):
            pass
        process.send_signal(number)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert said in rest
    assert "Traceback" not in rest


def test_no_server_answers(monkeypatch, tmp_path):
    """What to do depends on what is known of a server on this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]  # and nobody listens
    place = tmp_path / "profiles.yml"
    address = ["127.0.0.1", free, place]
    running = [None]
    monkeypatch.setenv("SPARK_CDC_PORT", str(free))
    monkeypatch.setattr(connectivity, "_address", lambda _: tuple(address))
    monkeypatch.setattr(connectivity.local_server, "port", lambda _: running[0])

    def said(error: BaseException | None = None) -> str:
        found = connectivity.problem(None, error)
        return f"{found.message} {found.next_step}" if found else ""

    assert f"No Spark server answers on 127.0.0.1:{free}. Host and port are in {place};" in said()
    assert said().endswith("\nspark-cdc server start")
    running[0] = 10020
    assert said().endswith("has port 10020.\nexport SPARK_CDC_PORT=10020")
    monkeypatch.delenv("SPARK_CDC_PORT")
    assert said().endswith("The local server of this project has port 10020.")
    running[0] = free
    assert said().endswith("has this port but does not answer.\nspark-cdc server status")
    assert said(ValueError("the project is broken")) == ""
    address[0] = "nowhere.invalid"
    assert "Check that the server runs and that this machine can reach it." in said()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address[:2] = "127.0.0.1", other.getsockname()[1]
        assert said() == ""
        refused = FailedToConnectError("refused")
        assert "No Spark server accepts dbt's connection on" in said(refused)


MACRO = "> in macro tag (macros/tag.sql)"
WRAPPED = "Runtime Error\n  Compilation Error in macro tag (macros/tag.sql)\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (f"{WRAPPED}    it is wrong\n      - a\n    \n    {MACRO}\n", "it is wrong\n  - a"),
        (f"Compilation Error\n  it is wrong\n\n  {MACRO}\n", "it is wrong"),
        ("Runtime Error\n  Database Error\n    the server says so\n", ""),
    ],
)
def test_what_a_macro_raised(error, said):
    output = f"10:00:01  Encountered an error while running operation: {error}"
    assert dbt_runner.macro_message(dbt_runner.Done(False, f"10:00:00  Running\n{output}")) == said


def test_what_a_hook_raised():
    output = (
        "10:00:00  Running\n10:00:01  Encountered an error:\n"
        "Compilation Error in operation spark_cdc-on-run-start-0 (./dbt_project.yml)\n"
        f"  there is 1 problem:\n    - it is wrong\n  \n  {MACRO}\n"
    )
    said = "there is 1 problem:\n  - it is wrong"
    assert dbt_runner.failure(dbt_runner.Done(False, output)) == said
    other = "Encountered an error:\nCompilation Error in model a\n  it is wrong"
    assert dbt_runner.failure(dbt_runner.Done(False, other)) == other


def test_load_checks_all_dates_first(fake_dbt, capsys):
    assert command_line.main(["load", "2019-06-18", "2019-02-30", "1 March"]) == 2
    assert fake_dbt() == []
    said = capsys.readouterr().err
    assert "'2019-02-30' is not a business date" in said
    assert "'1 March' is not a business date" in said
    assert said.endswith("\n  spark-cdc load --dry-run\n  spark-cdc status\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2019-06-19", "2019-06-19"),
        ("2019-06-19T10:15", "2019-06-19 10:15:00"),
        ("2019-06-19 10:15:30", "2019-06-19 10:15:30"),
    ],
)
def test_business_dates(text, expected):
    assert business_date.parse(text)[1] == expected


@pytest.mark.parametrize("text", ["20190619", "2019-6-19", "2019-06-19 25:00", "", "2019-06-19 "])
def test_no_business_dates(text):
    with pytest.raises(SparkCdcError, match="is not a business date"):
        business_date.parse(text)


@pytest.mark.parametrize(
    "words",
    [
        ["load", "2024-02-30"],
        ["load", "1 March", "--dry-run"],
        ["load", "--from", "2024-13-01"],
        ["load", "--expected-every", "often"],
        ["load", "--every", "0s"],
        ["load", "2024-01-01..2024-02-30", "--bulk", "--select", "a"],
        ["replay", "--from", "1.2.2024"],
        ["report", "--to", "2024-02-30"],
        ["report", "--from", "2024-02-02", "--to", "2024-02-01"],
    ],
)
def test_a_wrong_date_ends_with_2_whatever_the_command(fake_dbt, words):
    assert command_line.main(words) == 2
    assert fake_dbt() == []


def test_a_failing_step_shows_the_end_of_its_output_and_its_log(tmp_path, capsys):
    log = tmp_path / "log"
    code = "print('one'); print('two'); raise SystemExit(3)"
    with pytest.raises(SparkCdcError) as caught:
        console.run("Step", [sys.executable, "-c", code], log=log, next_step="Think.")
    assert "Step: exit code 3\n  | one\n  | two" in caught.value.message
    assert caught.value.next_step == f"Think.\nThe whole output is in {log}."
    assert "Step failed after" in capsys.readouterr().err
    assert "two" in log.read_text()


def test_a_step_with_a_time_limit(tmp_path):
    with pytest.raises(SparkCdcError, match="took longer than 1 s"):
        console.run(
            "Step",
            [sys.executable, "-c", "import time; time.sleep(60)"],
            log=tmp_path / "log",
            timeout=1,
        )


def test_table():
    assert console.table(["name", "n"], [["a", 1], [None, 200], ["x" * 30, 3]], width=5) == (
        "| name  |   n |\n| ----- | --- |\n| a     |   1 |\n| null  | 200 |\n| xx... |   3 |"
    )
    assert console.table(["id", "remark"], [[20190618, ""], [None, "n/a"]]) == (
        "|       id | remark |\n| -------- | ------ |\n| 20190618 |        |\n|     null | n/a    |"
    )


# ---------------------------------------------------------------- demo


def test_demo_loads_each_date_once_in_order(tmp_path):
    for name in ("models/synthetic", "models/orders", "examples/landing/orders/2019-06-19"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "examples/landing/orders/2024-03-01").mkdir()
    (tmp_path / "examples/landing/orders/not a date").mkdir()
    assert demo.plan(tmp_path) == [
        ("2019-06-18", ["synthetic"]),
        ("2019-06-19", ["synthetic", "orders"]),
        ("2024-03-01", ["orders"]),
    ]


@pytest.mark.parametrize("wanted", ["taken", "free", "70000"])
def test_an_install_needs_no_free_port(wanted, tmp_path, monkeypatch, capsys):
    """It only says early what the demo will say; here nothing is left to install."""
    monkeypatch.setattr(install, "VENV", Environment(tmp_path, tmp_path / "log"))
    monkeypatch.setattr(Environment, "works", lambda _: True)
    monkeypatch.setattr(sys, "argv", ["bootstrap", "--demo"])
    monkeypatch.setenv("SPARK_CDC_STATE_DIR", str(tmp_path))
    (tmp_path / "run.stamp").write_text(install._fingerprint(False))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = str(other.getsockname()[1])
        if wanted == "taken":
            other.listen()
        else:
            other.close()
        monkeypatch.setenv("SPARK_CDC_PORT", wanted if wanted.isdigit() else port)
        assert install.main() == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert {
        "taken": f"note: Port {port} can't be used" in said.err and "make demo PORT=" in said.err,
        "free": said.err == "",
        "70000": "note: Port '70000' is not accepted. Accepted are numbers up to 65535."
        in said.err,
    }[wanted]


def test_demo_knows_all_examples():
    folders = {path.parent.name for path in (ROOT / "models").glob("*/stg_*.sql")}
    assert folders <= set(demo.ENTITIES)
    assert {"synthetic", "orders", "price_changes", "students"} <= folders


class TestReset:
    """What the demo drops, and what it refuses to drop."""

    schema = "demo_reset_test"

    @pytest.fixture(autouse=True)
    def _drop(self, cursor):
        cursor.execute(f"drop database if exists {self.schema} cascade")
        cursor.execute(f"drop database if exists {self.schema}_commits cascade")
        yield
        cursor.execute(f"drop database if exists {self.schema} cascade")
        cursor.execute(f"drop database if exists {self.schema}_commits cascade")

    def tables(self, cursor):
        cursor.execute(f"show tables in {self.schema}")
        return [row[1] for row in cursor.fetchall()]

    def test_makes_the_schema_and_drops_its_own(self, cursor, capsys):
        demo.reset(cursor, ROOT, self.schema)
        cursor.execute(f"create view {self.schema}.orders_current as select 1 as a")
        demo.reset(cursor, ROOT, self.schema)
        assert self.tables(cursor) == []
        assert f"The demo's schema {self.schema} is dropped" in capsys.readouterr().out

    def test_refuses_a_schema_that_it_did_not_make(self, cursor):
        cursor.execute(f"create database {self.schema}")
        cursor.execute(f"create view {self.schema}.orders_current as select 1 as a")
        with pytest.raises(SparkCdcError, match="was not created by the demo"):
            demo.reset(cursor, ROOT, self.schema)
        assert self.tables(cursor) == ["orders_current"]

    def test_refuses_a_schema_with_tables_of_the_users(self, cursor):
        demo.reset(cursor, ROOT, self.schema)
        cursor.execute(f"create view {self.schema}.invoices_current as select 1 as a")
        with pytest.raises(SparkCdcError, match=r"tables that are not the demo's.*invoices_"):
            demo.reset(cursor, ROOT, self.schema)
        assert self.tables(cursor) == ["invoices_current"]


# ---------------------------------------------------------------- find_python.sh


def _find_python(tmp_path, programs, **variables):
    for name, version in programs.items():
        program = tmp_path / name
        too_old = 1 if version.startswith(("2.", "3.6", "3.9")) else 0
        program.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && echo "Python {version}" && exit\nexit {too_old}\n'
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return subprocess.run(
        ["/bin/sh", str(ROOT / "src/spark_cdc/bootstrap/find_python.sh")],
        env={"PATH": f"{tmp_path}:{tmp_path / 'bin'}", **variables},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def tools(tmp_path):
    (tmp_path / "bin").mkdir()
    head = next(Path(p) / "head" for p in os.defpath.split(":") if (Path(p) / "head").exists())
    (tmp_path / "bin" / "head").symlink_to(head)
    return tmp_path


def test_first_python_that_fits(tools):
    done = _find_python(tools, {"python3": "3.9.1", "python3.12": "3.12.1"})
    assert (done.returncode, done.stdout) == (0, f"{tools}/python3.12\n")


def test_python_too_old(tools):
    done = _find_python(tools, {"python3": "3.9.1"})
    assert done.returncode == 1
    assert f"{tools}/python3: Python 3.9.1" in done.stderr
    assert "make demo PYTHON=" in done.stderr


def test_python_of_choice(tools):
    programs = {"python3": "3.12.1", "mine": "3.6.0"}
    assert "mine: Python 3.6.0" in _find_python(tools, programs, PYTHON="mine").stderr
    assert "PYTHON=absent is not a program" in _find_python(tools, {}, PYTHON="absent").stderr


def test_dbt_runs_as_a_library(monkeypatch, tmp_path):
    """Folder, environment and signals of the process stay as they are; variables reach dbt."""
    root, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for folder in (root / "models", elsewhere):
        folder.mkdir(parents=True)
    (root / "dbt_project.yml").write_text("name: small\nprofile: small\n")
    output = {"type": "spark", "method": "thrift", "host": "h", "schema": "s"}
    port = "{{ env_var('SPARK_CDC_PORT') | as_number }}"
    outputs = {"local": output | {"port": port}}
    profiles = {"small": {"target": "local", "outputs": outputs}}
    (root / "profiles.yml").write_text(json.dumps(profiles))
    (root / "models" / "one.sql").write_text("select '{{ env_var('PROBE') }}' as one")
    monkeypatch.setenv("SPARK_CDC_PROJECT_DIR", str(root))
    monkeypatch.setenv("DBT_LOG_PATH", "here")
    monkeypatch.delenv("SPARK_CDC_PORT", raising=False)
    monkeypatch.setattr(dbt_runner.project.local_server, "port", lambda _: 10999)
    monkeypatch.setattr(dbt_runner.connectivity, "problem", lambda *_: None)
    monkeypatch.chdir(elsewhere)
    before, handler = dict(os.environ), signal.getsignal(signal.SIGINT)
    dbt = dbt_runner.Dbt()
    done = dbt.run("parse", variables={"PROBE": "x"})
    assert done.ok, done.output
    assert not dbt.run("parse").ok  # PROBE was for one command
    assert (
        dbt_runner.Dbt(variables={"PROBE": "x"}, parses_once=True).run("ls").lines[-1]
        == "small.one"
    )
    assert (dict(os.environ), Path.cwd()) == (before, elsewhere)
    assert signal.getsignal(signal.SIGINT) is handler
    assert (root / "here" / "dbt.log").is_file()
    with dbt.ends_at_once(lambda: "no"):
        assert signal.getsignal(signal.SIGINT) is handler


@pytest.fixture
def small_project(fake_dbt, monkeypatch, tmp_path):
    """A project with the entities a and invoices, of which dbt is not asked."""
    folder = tmp_path / "small"
    models = folder / "models" / "shop"
    models.mkdir(parents=True)
    (folder / "dbt_project.yml").write_text("name: small\n", "utf-8")
    package = folder / "dbt_packages" / "spark_cdc"
    (package / "models" / "cdc_loads").mkdir(parents=True)
    (package / "models" / "cdc_loads" / "cdc_loads.sql").touch()
    (package / "dbt_project.yml").write_text("name: p\nmodel-paths: '{{ x }}'\n", "utf-8")
    for name in ("a", "invoices"):
        (models / f"{name}_ledger.sql").touch()
        (models / f"stg_{name}.sql").touch()
    monkeypatch.setenv("SPARK_CDC_PROJECT_DIR", str(folder))
    return models


SHARE = "load --skip-guards invoices.deleted_share"


@pytest.mark.parametrize(
    ("words", "said", "step"),
    [
        ("load 2024-03-05 --select invoce", "entity 'invoce'", "load 2024-03-05 --select invoices"),
        ("load 2024-03-05 invoce", "no entity 'invoce'", "load 2024-03-05 invoices"),
        ("compact invocies", "no entity 'invocies'", "compact invoices"),
        ("undo invocies", "no entity 'invocies'", "undo invoices"),
        ("erase invocies --key 1", "no entity 'invocies'", "erase invoices --key 1"),
        ("load 2024-3-5", "is not a business date", "load 2024-03-05"),
        ("load 20240305 a", "is not a business date", "load 2024-03-05 a"),
        ("load 2024-03-05..2024-03-01", "ends before it", "load 2024-03-01..2024-03-05"),
        ("load --skip-guards invoices.deleted_shre", "no guard 'deleted_shre'", SHARE),
        ("load --skip-guards invoces.deleted_share", "no entity 'invoces'", SHARE),
    ],
)
def test_what_was_meant_is_said_before_dbt_is_started(small_project, words, said, step, capsys):
    """The next command is the same with what was meant."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dbt_runner.Dbt, "_invoke", lambda *_: pytest.fail("dbt was started"))
        assert command_line.main(words.split()) == 2
    text = capsys.readouterr().err
    assert said in text and text.endswith(f"\nnext: spark-cdc {step}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("status zzz", "There is no entity 'zzz'. Accepted are a, invoices.\nnext: List"),
        ("load --skip-guards a", "Entities come before options.\nnext: spark-cdc load --help"),
    ],
)
def test_what_is_unknown_is_said_before_dbt_is_started(small_project, words, said, capsys):
    assert command_line.main(words.split()) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("what", ["shop", "small", "a+", "path:models cdc_loads"])
def test_what_dbt_selects_by_is_no_mistake(small_project, what):
    selection.check(command_line.parser().parse_args(["load", "--select", *what.split()]))


def test_a_mistyped_entity_is_told_also_where_dbt_selected_nothing(monkeypatch):
    """As in a clone, where Jinja says in which folders the models lie."""
    monkeypatch.chdir(ROOT)
    given = SimpleNamespace(select=["ordrs"], exclude=[])
    error = selection.nothing(given)
    assert str(error).endswith("Nothing was loaded. Did you mean 'orders'?")
    given = SimpleNamespace(select=["tag:ordrs", "nothing_like_it"], exclude=[])
    assert "Did you mean" not in str(selection.nothing(given))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("source: {fromat: csv}", "'source.fromat' below meta.spark_cdc. Did you mean 'format'?"),
        ("load_typ: full", "'load_typ' below meta.spark_cdc. Did you mean 'load_type'?"),
        ("guards: {delete_share: 1}", "'guards.delete_share'"),
        ("load_type: full", ""),
        ("what_nobody_knows: 1", ""),
        ("load_type: {{ x }}", ""),
    ],
)
def test_a_setting_that_is_meant_is_said_before_dbt_is_started(small_project, written, said):
    page = "models:\n  - name: stg_a\n    config:\n      meta:\n        spark_cdc:\n"
    (small_project / "a.yml").write_text(f"{page}          {written}\n", "utf-8")
    arguments = command_line.parser().parse_args(["load", "a"])
    if said:
        with pytest.raises(UsageError, match=re.escape(said)) as error:
            selection.check(arguments)
        assert "models/shop/a.yml" in error.value.message
    else:
        selection.check(arguments)
    selection.check(command_line.parser().parse_args(["status"]))


LATE = "a: it is late. Accepted are later dates. Nothing was written."
GUARD = "a: a guard.\n    - x\nNothing was committed."


@pytest.mark.parametrize(
    ("message", "told", "step"),
    [
        (
            f"{LATE} To replay (docs/x.md):\n  spark-cdc replay a --from 2024-03-01",
            LATE,
            "To replay (docs/x.md):\nspark-cdc replay a --from 2024-03-01",
        ),
        (
            f"{GUARD} If it is right (always: guards. Or so):\n  dbt run --select x",
            GUARD,
            "If it is right (always: guards. Or so):\ndbt run --select x",
        ),
        (
            "a: wrong. Load it:\n  spark-cdc load\nNothing was changed.",
            "a: wrong.\nNothing was changed.",
            "Load it:\nspark-cdc load",
        ),
        ("a: it is wrong\n  - one", "a: it is wrong\n  - one", ""),
        ("Find out:\n  spark-cdc verify a", "", "Find out:\nspark-cdc verify a"),
    ],
)
def test_commands_of_a_message_are_the_next_step(message, told, step):
    assert advice(message) == (told, step)


REFUSED = """Compilation Error in model a_ledger (models/a/a_ledger.sql)
  a: 2024-03-01 is before the last load. Nothing was written. To replay the past:
    spark-cdc replay a --from 2024-03-01

  > in macro _plan_load (macros/timeline/plan.sql)
  > called by model a_ledger (models/a/a_ledger.sql)"""


def test_a_refusal_is_said_once_and_without_the_stack_of_macros(fake_dbt, monkeypatch, capsys):
    def run(dbt, *words, **_):
        node = dbt_runner.Node("a_ledger", "error", dbt_runner._told(REFUSED))
        return dbt_runner.Done(False, "", nodes=(node,))

    monkeypatch.setattr(dbt_runner.Dbt, "run", run)
    assert command_line.main(["load", "2024-03-01", "--select", "a"]) == 1
    said = capsys.readouterr()
    assert said.out == "2024-03-01  failed\n"
    assert said.err == (
        "error: The load of 2024-03-01 failed.\n"
        "a: 2024-03-01 is before the last load. Nothing was written.\n"
        "next: To replay the past:\n  spark-cdc replay a --from 2024-03-01\n"
    )
    with pytest.raises(SparkCdcError, match="> in macro _plan_load"):
        command_line.run("--debug", "load", "2024-03-01", "--select", "a")


def test_what_a_model_of_the_users_raises_keeps_its_name():
    other = REFUSED.replace("macros/timeline/plan.sql", "macros/own.sql")
    assert dbt_runner._told(other).startswith("Compilation Error in model a_ledger (models/a")
    assert "> in macro" not in dbt_runner._told(other)


def test_wrong_settings_end_with_2(fake_dbt, monkeypatch, capsys):
    data = {"problems": "spark_cdc found 1 problem:\n  - it is wrong", "entities": []}
    line = f"spark_cdc: {json.dumps(data)}"
    done = dbt_runner.Done(False, f"{line}\nEncountered an error:\nCompilation Error")
    monkeypatch.setattr(dbt_runner.Dbt, "run", lambda *_, **__: done)
    assert command_line.main(["load", "2024-03-01"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: spark_cdc found 1 problem:\n  - it is wrong\nnext: Correct them")
    assert command_line.main(["compact"]) == 2


def test_json_keeps_letters(capsys):
    console.print_json({"name": "Jürgen Müller ✓"})
    assert '"Jürgen Müller ✓"' in capsys.readouterr().out


def test_json_where_stdout_takes_no_letters():
    code = "from spark_cdc import console; console.print_json({'name': 'ü'})"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    said = subprocess.check_output([sys.executable, "-c", code], text=True, env=environment)
    assert json.loads(said) == {"name": "ü"} and "\\u00fc" in said


@pytest.mark.parametrize(("count", "words", "code"), [(10, [], 0), (11, [], 2), (11, ["--yes"], 0)])
def test_an_undo_of_many_loads_is_asked_about(fake_dbt, monkeypatch, capsys, count, words, code):
    days = [f"2024-01-{day:02}" for day in range(1, count + 2)]
    monkeypatch.setenv("STATUS", statuses(a=days))
    assert command_line.main(["undo", "a", "--to", "2024-01-01", *words]) == code
    said = capsys.readouterr().err
    if code:
        assert "a: 11 loads, 2024-01-02 to 2024-01-12, would be taken back." in said
        assert said.endswith("say so:\n  spark-cdc undo a --to 2024-01-01 --yes\n")


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("", 2)])
def test_a_terminal_is_asked_before_an_undo(fake_dbt, monkeypatch, answer, code):
    days = [f"2024-01-{day:02}" for day in range(1, 20)]
    monkeypatch.setenv("STATUS", statuses(a=days))
    terminal = SimpleNamespace(isatty=lambda: True, readline=lambda: f"{answer}\n")
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert command_line.main(["undo", "a", "--to", "2024-01-01"]) == code
