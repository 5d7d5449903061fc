"""Readers never notice a load: they query while loads, reruns, a replay and clean-up go on."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from project import Project
from spark_cdc.server import local as local_server

pytestmark = pytest.mark.proves("commit and crash")

COLUMNS = {"id": {"data_type": "int", "role": "key"}, "load": "int"}
ROWS = 50

# All views in one query: the newest load that each shows, the oldest row that is current, and how
# many rows there are. Each load changes every row, so any mixture of two states shows.
QUERY = """
select
    (select max(load) from {s}.seen_current) as current_max,
    (select min(load) from {s}.seen_current) as current_min,
    (select count(*) from {s}.seen_current) as current_rows,
    (select max(load) from {s}.seen_history) as history_max,
    (select count(*) from {s}.seen_history) as history_rows,
    (select max(load) from {s}.seen_versions where is_current) as versions_max,
    (select count(*) from {s}.seen_versions where is_current) as versions_rows
"""


@dataclass
class Reader(threading.Thread):
    """Runs the query again and again in a session of its own; counts what it sees."""

    port: int
    sql: str
    stop: threading.Event
    states: list[tuple[Any, ...]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        connection = local_server.connect(self.port)
        cursor = connection.cursor()
        while not self.stop.wait(0.2):  # the loads are to have some of the machine
            try:
                cursor.execute(self.sql)
                self.states.append(cursor.fetchall()[0])
            except Exception as error:
                self.errors.append(str(error)[:500])
        connection.close()


def land(project: Project, day: int, load: int) -> None:
    project.land("seen", f"2024-01-0{day}", "id,load", *(f"{i},{load}" for i in range(ROWS)))


@pytest.mark.full
def test_readers_see_each_state_whole_and_no_error(project: Project) -> None:
    project.entity("seen", COLUMNS, checkpoint={"loads": 2, "changed_share": 1000})
    land(project, 1, 1)
    project.load("2024-01-01", "seen")
    stop = threading.Event()
    readers = [Reader(project.port, QUERY.replace("{s}", project.schema), stop) for _ in range(2)]
    for reader in readers:
        reader.start()
    # loads, a rerun with other data, a checkpoint, and a refused load
    for load, day in enumerate((2, 2, 3, 4), start=2):
        land(project, day, load)
        project.load(f"2024-01-0{day}", "seen")
    project.land("seen", "2024-01-05", "id,load", "1,9", "1,9")
    assert not project.run("2024-01-05", "seen").success
    # a replay of two days with other data, which shows as one change
    for day, load in ((3, 6), (4, 7)):
        land(project, day, load)
        project.load(f"2024-01-0{day}", "seen", spark_cdc_replay={"from": "2024-01-03"})
    published = project.operate("publish_replay", entities="seen")
    assert published.success, published.output
    # clean-up: what queries that still run may read is younger than the retention time
    compacted = project.operate("compact", entities="seen", older_than_days=0, execute=True)
    assert compacted.success, compacted.output
    assert "compacted 3 loads" in compacted.output
    time.sleep(8)
    hours = 7 / 3600
    dropped = project.operate(
        "vacuum", entities="seen", retention_hours=hours, force=True, execute=True
    )
    assert dropped.success, dropped.output
    assert "vacuum: dropped 7 loads" in dropped.output
    stop.set()
    for reader in readers:
        reader.join(timeout=60)

    assert not [error for reader in readers for error in reader.errors]
    states = [state for reader in readers for state in reader.states]
    assert len(states) >= 10
    # load 3 is the rerun of day 2: it replaces load 2, so history does not grow; 6, 7 replace 4, 5
    history = {1: 1, 2: 2, 3: 2, 4: 3, 5: 4, 7: 4}
    for state in states:
        load = state[0]
        assert state == (load, load, ROWS, load, ROWS * history[load], load, ROWS), state
    for reader in readers:
        order = [state[0] for state in reader.states]
        assert order == sorted(order)
    assert {state[0] for state in states} >= {1, 5, 7}
