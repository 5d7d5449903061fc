"""`spark-cdc load`: what is pending is loaded, entity by entity in order of its dates."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import shutil
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any, cast

import pytest
from pyhive.exc import OperationalError

from event_warehouse import EventWarehouse, column
from project import Project
from spark_cdc import business_date, console, dbt_runner, pending, schedule
from spark_cdc import cli as command_line
from spark_cdc.errors import SparkCdcError
from spark_cdc.exit_codes import ExitCode

pytestmark = pytest.mark.proves("command line")

KEYED = {"id": {"data_type": "int", "role": "key"}, "value": "int"}
FLAGGED = {
    "id": {"data_type": "int", "role": "key"},
    "value": "int",
    "op": {"data_type": "string", "role": "control"},
    "seq": {"data_type": "bigint", "role": "control"},
}
FEED = {"format": "flagged_rows", "operation": "op", "order": ["seq"]}
DATES = ("2024-03-01", "2024-03-02", "2024-03-03")


@pytest.fixture
def call(project: Project, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Any:
    """Call `spark-cdc load` of some entities; gives the exit code and the summary."""
    project.serve_commands(monkeypatch)
    monkeypatch.setattr(schedule, "PAUSE", 0.1)

    def called(*names: str, words: tuple[str, ...] = ()) -> tuple[int, dict[str, Any], str]:
        select = ("--select", *(f"path:models/{name}" for name in names))
        code = command_line.main(["load", *select, "--output", "json", *words])
        said = capsys.readouterr()
        told = json.loads(said.out) if said.out.startswith("{") else {"entities": []}
        return code, {one["entity"]: one for one in told["entities"]}, said.err + said.out

    return called


def times(project: Project, name: str) -> list[str]:
    """The business times that are committed, from cdc_loads in order of the commits."""
    sql = f"select business_time from {{s}}.cdc_loads where entity = '{name}' and status ="
    return [row[0] for row in project.query(f"{sql} 'committed' order by committed_at")]


def test_what_goes_while_it_is_listed(cursor: Any, schema: str, tmp_path: Path) -> None:
    """As when `spark-cdc stream --retention` drops a business time: the listing goes on."""
    warehouse = EventWarehouse(cursor, schema, tmp_path, [column("id", "int", role="key")])
    for date in DATES:
        warehouse.land(date, ["{}"])
    paths = "select path from listed"
    cursor.execute(
        f"create temporary view listed using binaryFile options (path '{tmp_path}/2024-03-0[123]')"
    )
    shutil.rmtree(tmp_path / DATES[0])
    with pytest.raises(OperationalError, match="FILE_NOT_EXIST"):
        cursor.execute(paths)
    ctx = warehouse.macros._context_of_model()
    name = ctx["entity"]["name"]
    landed = warehouse.macros._landed_times([ctx], {name: None})[name]
    assert [str(time.date()) for time in landed["times"]] == list(DATES[1:])
    cursor.execute(paths)
    assert len(cursor.fetchall()) == 2


@pytest.mark.full
def test_load_types_side_by_side(project: Project, call: Any) -> None:
    """Full, delta, events, insert only and a table; the second time nothing is left."""
    project.entity("whole", KEYED)
    off = project.folder / "models/off.sql"  # which dbt's own copy of a manifest does not survive
    off.write_text("{{ config(enabled=false) }} select 1 as one", encoding="utf-8")
    project.entity("part", KEYED, load_type="delta")
    project.entity("feed", FLAGGED, load_type="events", events=FEED)
    project.entity(*("facts", FLAGGED), load_type="events", events=dict(FEED, insert_only=True))
    project.entity("rows", KEYED, source={"format": "table", "date_column": "day"})
    project.query("create table {s}.rows (id int, value int, day date)")
    project.query("insert into {s}.rows values (1, 1, date'2024-03-01'), (1, 2, date'2024-03-04')")
    for number, date in enumerate(DATES, 1):
        project.land("whole", date, "id,value", f"1,{number}", "2,2")
        if number > 1:
            project.land("part", date, "id,value", f"{number},{number}")
        project.land("feed", date, "id,value,op,seq", f"1,{number},U,{number}")
        project.land("facts", date, "id,value,op,seq", f"{number},1,I,{number}")
    names = ("whole", "part", "feed", "facts", "rows")
    code, told, said = call(*names)
    assert code == 0, said
    assert {name: told[name]["loaded"] for name in names} == {
        "whole": list(DATES),
        "part": list(DATES[1:]),
        "feed": list(DATES),
        "facts": list(DATES),
        "rows": ["2024-03-01", "2024-03-04"],
    }
    assert told["whole"]["rows"] == 6
    assert times(project, "whole") == list(DATES)
    assert project.rows("whole_current", "id, value") == [(1, 3), (2, 2)]
    assert project.rows("part_current", "id, value") == [(2, 2), (3, 3)]
    assert project.rows("feed_current", "id, value") == [(1, 3)]
    assert len(project.rows("facts_current", "id")) == 3
    assert project.rows("rows_current", "id, value") == [(1, 2)]
    code, told, said = call(*names)
    assert code == ExitCode.NOTHING, said
    assert all(one["state"] == "nothing to do" for one in told.values())


@pytest.mark.integration
def test_one_that_fails_stops_only_itself(project: Project, call: Any) -> None:
    """Bad data are tried once; with the data mended the same command goes on."""
    project.entity("good", KEYED)
    project.entity("bad", KEYED)
    for date in DATES:
        project.land("good", date, "id,value", "1,1")
        project.land("bad", date, "id,value", "x,1" if date == DATES[1] else "1,1")
    code, told, said = call("good", "bad")
    assert code == ExitCode.FAILED
    assert told["good"]["loaded"] == list(DATES)
    assert told["bad"]["loaded"] == [DATES[0]]
    assert told["bad"]["left"] == list(DATES[1:])
    assert "2024-03-02" in told["bad"]["failed"]
    assert "next attempt" not in said
    assert times(project, "bad") == [DATES[0]]
    project.land("bad", DATES[1], "id,value", "1,1")
    code, told, said = call("good", "bad")
    assert code == 0, said
    assert told["bad"]["loaded"] == list(DATES[1:])


@pytest.mark.integration
def test_a_lost_race_is_tried_again(
    project: Project, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run commits first: the first attempt is refused, the second goes on behind it."""
    project.entity("raced", KEYED)
    for date in DATES[:2]:
        project.land("raced", date, "id,value", "1,1")
    load, refused = pending.Rounds.load, []

    def lost(self: Any, ready: list[pending.Work], screen: Any) -> list[schedule.Outcome]:
        outcomes = load(self, ready, screen)
        if not refused:  # as if this run had not committed, but another one
            refused.append(ready[0].waiting[0])
            outcomes = [schedule.Outcome(False, "another one was first", is_transient=True)]
        return outcomes

    monkeypatch.setattr(pending.Rounds, "load", lost)
    code, told, said = call("raced")
    assert code == 0, said
    assert "failed, next attempt in 0 s: another one was first" in said
    assert "raced  2024-03-01  committed by another run" in said
    assert told["raced"]["loaded"] == [DATES[1]]
    assert times(project, "raced") == list(DATES[:2])


@pytest.mark.integration
def test_what_waits_for_a_person(project: Project, call: Any) -> None:
    """An undone load is not loaded again, an expected date is told, an older one takes a replay."""
    project.entity("held", KEYED)
    project.entity("holes", KEYED, load_type="delta", expected_every="daily")
    for date in DATES[:2]:
        project.land("held", date, "id,value", "1,1")
    for date in (DATES[0], DATES[2]):
        project.land("holes", date, "id,value", "1,1")
    code, told, said = call("held", "holes", words=("--to", DATES[2]))
    assert code == ExitCode.ATTENTION, said
    assert told["held"]["loaded"] == list(DATES[:2])
    assert told["holes"]["loaded"] == [DATES[0]]
    assert "2024-03-02 missing (expected daily)" in told["holes"]["waits"]
    assert project.operate("undo", entities=["held"]).success
    project.land("held", DATES[2], "id,value", "1,1")
    project.land("held", "2024-02-01", "id,value", "1,1")
    words = ("--to", DATES[2], "--skip-missing")
    code, told, said = call("held", "holes", words=words)
    assert code == ExitCode.ATTENTION, said
    assert told["held"]["loaded"] == []
    assert "2024-03-02 undone. Restore it: spark-cdc redo held" in told["held"]["waits"]
    assert "spark-cdc replay held --from 2024-02-01 --dates 2024-02-01" in told["held"]["notes"][0]
    assert told["holes"]["loaded"] == [DATES[2]]
    assert project.operate("redo", entities=["held"]).success
    code, told, said = call("held")
    assert told["held"]["loaded"] == [DATES[2]], said


@pytest.mark.integration
def test_a_configuration_that_is_wrong_stops_its_entity_only(project: Project, call: Any) -> None:
    project.entity("fine", KEYED)
    project.entity("wrong", KEYED, on_reject="ignore")
    project.land("fine", DATES[0], "id,value", "1,1")
    project.land("wrong", DATES[0], "id,value", "1,1")
    code, told, said = call("fine", "wrong")
    assert code == ExitCode.FAILED, said
    assert told["fine"]["loaded"] == [DATES[0]]
    assert "on_reject is 'ignore'" in told["wrong"]["failed"]


@pytest.mark.integration
def test_paths_of_every_kind(project: Project, call: Any) -> None:
    """The date within a file's name, in several parts, at a time of day; days that do not exist."""
    place = project.landing
    named = {"path": f"{place}/named/{{business_date:%Y/%m}}/x_{{business_date:%Y%m%d}}.*"}
    project.entity("named", KEYED, source=named)
    project.entity("timed", KEYED, business_date_type="timestamp")
    project.entity("fixed", KEYED, source={"path": f"{place}/fixed/{{business_date:%Y}}"})
    for day in ("20240229", "20240230"):
        file = place / f"named/2024/02/x_{day}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("id,value\n1,1\n")
    for time in ("2024-03-01T101500", "2024-03-01T103000", "2024-03-01"):
        project.land("timed", time, "id,value", "1,1")
    code, told, said = call("named", "timed", "fixed")
    assert code == ExitCode.ATTENTION, said
    assert told["named"]["loaded"] == ["2024-02-29"]
    assert told["timed"]["loaded"] == ["2024-03-01 10:15:00", "2024-03-01 10:30:00"]
    assert "does not tell the day" in told["fixed"]["waits"]


def test_a_kill_in_the_middle(project: Project, call: Any) -> None:
    """A process that is killed between its loads; the same command loads what is left."""
    names = ("killed_a", "killed_b")
    for name in names:
        project.entity(name, KEYED)
        for number, date in enumerate(DATES, 1):
            project.land(name, date, "id,value", f"1,{number}", f"{number + 1},2")
    environment = {
        **os.environ,
        "SPARK_CDC_PROJECT_DIR": str(project.folder),
        "DBT_PROFILES_DIR": str(project.folder),
        "SPARK_CDC_PORT": str(project.port),
    }
    select = [f"path:models/{name}" for name in names]
    with subprocess.Popen(
        [sys.executable, "-m", "spark_cdc.cli", "load", "--select", *select],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "killed_" in line and "rows in" in line:
                break
        process.kill()
    assert "rows in" in lines[-1], lines
    code, _, said = call(*names)
    assert code == 0, said
    for name in names:
        assert project.rows(f"{name}_current", "id, value") == [(1, 3), (4, 2)]
        committed = project.query(f"show create table {{s}}.{name}_committed")[0][0]
        assert [date for date in DATES if f"'{date.replace('-', '')}-" in committed] == list(DATES)


@pytest.mark.integration
def test_the_entities_of_a_file(project: Project, call: Any, tmp_path: Path) -> None:
    project.entity("early", KEYED)
    project.entity("late", KEYED)
    for date in DATES[:2]:
        project.land("early", date, "id,value", "1,1")
        project.land("late", date, "id,value", "1,1")
    listed = tmp_path / "list.csv"
    listed.write_text("entity,expected_every\nearly,\n")
    code, _, said = call("early", "late", words=("--file", str(listed), "--parallel", "1"))
    assert code == 0, said
    assert [word for word in said.split() if word in ("early", "late")] == ["early"] * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("table,expected_every\n", "entity is missing"),
        (
            "entity,expected_every\na,often\n",
            "--expected-every 'often' is not a time between two loads",
        ),
    ],
)
def test_lists_that_are_wrong(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text)
    with pytest.raises(SparkCdcError, match=message):
        pending.read_list(path)


def test_what_is_missing() -> None:
    """A date is due when the next one begins."""
    now = dt.datetime(2024, 3, 5, 6)
    daily = business_date.parse_expectation("daily")
    assert business_date.missing(["2024-03-01", "2024-03-03"], "date", daily, now) == [
        "2024-03-02",
        "2024-03-04",
    ]
    quarters = business_date.parse_expectation("15m")
    found = business_date.missing(["2024-03-05 05:15:00"], "timestamp", quarters, now)
    assert found == ["2024-03-05 05:30:00", "2024-03-05 05:45:00"]
    assert business_date.missing([], "date", daily, now) == []


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ([{}], ExitCode.NOTHING),
        ([{"done": ["d"]}, {}], 0),
        ([{"done": ["d"]}, {"blocked": "x"}], ExitCode.ATTENTION),
        ([{"done": ["d"]}, {"blocked": "x"}, {"failed": "x"}], ExitCode.FAILED),
    ],
)
def test_exit_codes(states: list[dict[str, Any]], code: int) -> None:
    assert pending.code_of([pending.Work("a", **state) for state in states]) == code


PROBLEMS = (
    "spark_cdc found 2 problems before anything was written:"
    "\n  - b: the hashes of its sensitive columns are keyed with a secret, and there is none"
    "\n  - b: meta.spark_cdc.x is no setting"
)


@pytest.mark.parametrize("problems", [PROBLEMS, "spark_cdc found 1 problem:\n  - var x is y"])
def test_one_that_is_misdeclared_stops_no_other(problems: str) -> None:
    runs: list[str] = []

    class Dbt:
        def run(self, *words: str, **_: Any) -> dbt_runner.Done:
            runs.append(" ".join(words))
            if "b_committed" in words or problems != PROBLEMS:
                told = json.dumps({"entities": [], "problems": problems})
                return dbt_runner.Done(False, f"{dbt_runner.DATA}{told}")
            nodes = [dbt_runner.Node(f"{name}_committed", "success", "OK") for name in "ac"]
            return dbt_runner.Done(True, "", 2, tuple(nodes))

    works = [pending.Work(name, models=[f"{name}_committed"]) for name in "abc"]
    for work in works:
        work.waiting.append("2024-03-01")
    arguments = command_line.parser().parse_args(["load"])
    rounds = pending.Rounds(cast(dbt_runner.Dbt, Dbt()), works, arguments)
    outcomes = rounds.load(works, console.Screen(3, "dates", io.StringIO()))
    if problems == PROBLEMS:
        assert [one.is_committed for one in outcomes] == [True, False, True]
        assert [work.is_misdeclared for work in works] == [False, True, False]
        assert outcomes[1].failure.splitlines() == [
            "b: the hashes of its sensitive columns are keyed with a secret, and there is none",
            "b: meta.spark_cdc.x is no setting",
        ]
        assert runs[1:] == ["run --select a_committed c_committed"]
    else:
        assert {one.failure for one in outcomes} == {problems}
        assert all(work.is_misdeclared for work in works)
        assert len(runs) == 1


def test_a_dry_run_names_the_dates(capsys: Any) -> None:
    arguments = command_line.parser().parse_args(["load", "--dry-run"])
    days = [f"2024-03-{day:02}" for day in range(1, 32)]
    few = pending.Work("few", waiting=deque(days[:3]))
    many = pending.Work("many", waiting=deque([*days, "2024-04-01", "2024-04-02"]))
    works = [few, many, pending.Work("idle")]
    assert pending._finish(works, arguments, pending.code_of(works, dry_run=True), []) == 0
    said = capsys.readouterr().out
    assert "few: would load 2024-03-01, 2024-03-02, 2024-03-03\n" in said
    assert "2024-03-31, … and 2 more up to 2024-04-02\n" in said
    [line] = [line for line in said.splitlines() if line.startswith("| few")]
    assert "2024-03-01 to 2024-03-03" in line
    assert "1 entity has nothing to load." in said


@pytest.mark.integration
def test_status_as_json(project: Project, call: Any, capsys: Any) -> None:
    project.entity("known", KEYED)
    project.land("known", DATES[0], "id,value", "1,1", "2,2")
    assert call("known")[0] == 0
    assert command_line.main(["status", "--select", "known", "--output", "json"]) == 0
    [told] = json.loads(capsys.readouterr().out)
    assert (told["entity"], told["times"], told["rows"]) == ("known", [DATES[0]], 2)


@pytest.mark.integration
def test_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--every goes on after what fails, and parses anew only where files have changed."""
    model = tmp_path / "models" / "one.sql"
    model.parent.mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: shop\n", encoding="utf-8")
    model.write_text("select 1", encoding="utf-8")
    monkeypatch.setenv("SPARK_CDC_PROJECT_DIR", str(tmp_path))
    parsed: list[Any] = []

    def once(arguments: Any, dbt: dbt_runner.Dbt) -> int:
        parsed.append(dbt._parsed)
        dbt._parsed = dbt._parsed or object()
        if len(parsed) == 2:
            raise SparkCdcError("no server answers", "Start it")
        if len(parsed) == 3:
            model.write_text("select 2", encoding="utf-8")
            os.utime(model, (1, 1))
        if len(parsed) == 5:
            raise KeyboardInterrupt
        return ExitCode.NOTHING

    monkeypatch.setattr(pending, "_once", once)
    monkeypatch.setattr(pending.time, "sleep", lambda seconds: None)
    arguments = command_line.parser().parse_args(["load", "--every", "5s"])
    with pytest.raises(KeyboardInterrupt):
        pending.run(arguments)
    first, second, third, changed, last = parsed
    assert first is None and second is third is not None
    assert changed is None and last is not None
    assert "error: no server answers\nnext: Start it" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--dry-run"], ["--output", "json"]])
def test_every_is_for_loads(words: list[str]) -> None:
    arguments = command_line.parser().parse_args(["load", "--every", "5s", *words])
    with pytest.raises(SparkCdcError, match="neither --dry-run nor --output json"):
        pending.run(arguments)
