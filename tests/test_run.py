"""`spark-cdc run`: what is outstanding is loaded, entity by entity in order of its dates."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from project import Project
from spark_cdc import cli as command_line
from spark_cdc import outstanding, run
from spark_cdc.errors import SparkCdcError
from spark_cdc.outstanding import Outstanding

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
    """Call `spark-cdc run` of some entities; gives the exit code and the summary."""
    project.serve_commands(monkeypatch)
    monkeypatch.setattr(run, "PAUSE", 0.1)

    def called(*names: str, words: tuple[str, ...] = ()) -> tuple[int, dict[str, Any], str]:
        select = ("--select", *(f"path:models/{name}" for name in names))
        code = command_line.main(["run", *select, "--output", "json", *words])
        said = capsys.readouterr()
        told = json.loads(said.out) if said.out.startswith("{") else {"entities": []}
        return code, {one["entity"]: one for one in told["entities"]}, said.err + said.out

    return called


def times(project: Project, name: str) -> list[str]:
    """The business times that are committed, from cdc_loads in order of the commits."""
    sql = f"select business_time from {{s}}.cdc_loads where entity = '{name}' and status ="
    return [row[0] for row in project.query(f"{sql} 'committed' order by committed_at")]


def test_load_types_side_by_side(project: Project, call: Any) -> None:
    """Full, delta, events, insert only and a table; the second time nothing is left."""
    project.entity("whole", KEYED)
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
    assert code == run.NOTHING, said
    assert all(one["state"] == "nothing to do" for one in told.values())


def test_one_that_fails_stops_only_itself(project: Project, call: Any) -> None:
    """Bad data are tried once; with the data mended the same command goes on."""
    project.entity("good", KEYED)
    project.entity("bad", KEYED)
    for date in DATES:
        project.land("good", date, "id,value", "1,1")
        project.land("bad", date, "id,value", "x,1" if date == DATES[1] else "1,1")
    code, told, said = call("good", "bad")
    assert code == run.FAILED
    assert told["good"]["loaded"] == list(DATES)
    assert told["bad"]["loaded"] == [DATES[0]]
    assert told["bad"]["left"] == list(DATES[1:])
    assert "2024-03-02" in told["bad"]["failed"]
    assert "tried in vain" not in said
    assert times(project, "bad") == [DATES[0]]
    project.land("bad", DATES[1], "id,value", "1,1")
    code, told, said = call("good", "bad")
    assert code == 0, said
    assert told["bad"]["loaded"] == list(DATES[1:])
