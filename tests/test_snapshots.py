"""One run of another load type: full snapshots among deltas and events, deltas between them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from event_warehouse import EventWarehouse, column
from project import Project
from shop import Shop
from spark_cdc import cli as command_line

pytestmark = pytest.mark.proves("load types")

COLUMNS: dict[str, Any] = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
OP: dict[str, Any] = {"op": {"data_type": "string", "role": "control"}}
DAYS = tuple(f"2024-03-0{day}" for day in range(1, 7))
STATE = "id, name, cast(eff_start_date as string), operation"
TOLD = (
    "business_time, load_type, rows_in, rows_inserted, rows_updated, rows_deleted, rows_unchanged,"
    " rows_current, message"
)


def drifting(project: Shop | Project, name: str) -> None:
    """An entity of deltas after two of them."""
    project.entity(name, COLUMNS | OP, load_type="delta", deleted_when="op = 'D'")
    project.land(name, DAYS[0], "op,id,name", "U,1,a", "U,2,b", "U,3,c")
    project.land(name, DAYS[1], "op,id,name", "U,2,b2", "D,3,", "U,5,e")
    for day in DAYS[:2]:
        project.load(day, name)


@pytest.mark.integration
def test_a_full_snapshot_among_deltas(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drifting(project, "drift")
    # a snapshot need not have what only deltas have
    project.land("drift", DAYS[2], "id,name", "1,a", "2,b3", "4,d")
    outcome = project.load(DAYS[2], "drift", spark_cdc_load_type="full")
    differed = (
        "the snapshot differed in 3 rows from what the loads of type delta had led to:"
        " 1 were missing, 1 had other values, 1 should not have been there"
    )
    assert differed in outcome.output
    expected = [(1, "a", DAYS[0], "N"), (2, "b3", DAYS[2], "U"), (4, "d", DAYS[2], "I")]
    assert project.rows("drift_current", STATE) == expected
    told = project.rows("cdc_loads where entity = 'drift' and load_id like '20240303-f%'", TOLD)
    assert told == [(DAYS[2], "full", 3, 1, 1, 1, 1, 3, differed)]

    # the same date again needs the word again
    refused = project.run(DAYS[2], "drift")
    assert not refused.success
    assert f"{DAYS[2]} was loaded with the load type full (20240303-f" in refused.output
    assert f"{{business_date: {DAYS[2]}, spark_cdc_load_type: {{drift: full}}}}" in refused.output
    assert project.rows("drift_current", STATE) == expected
    # rows that it flags as deleted are as good as missing, as 2 and one that never was
    project.land("drift", DAYS[2], "op,id,name", "U,1,a", "D,2,", "U,4,d", "D,9,")
    project.load(DAYS[2], "drift", spark_cdc_load_type={"drift": "full"})
    expected = [(1, "a", DAYS[0], "N"), (4, "d", DAYS[2], "I")]
    assert project.rows("drift_current", STATE) == expected

    project.land("drift", DAYS[3], "op,id,name", "U,4,d2", "D,1,")
    project.load(DAYS[3], "drift")
    seen = {view: project.rows(f"drift_{view}", "*") for view in ("history", "versions")}
    assert project.rows("drift_current", STATE) == [(4, "d2", DAYS[3], "U")]
    tested = project.dbt("test", "--select", "path:models/drift")
    assert tested.success, tested.output

    # a replay takes each date as it was loaded
    project.serve_commands(monkeypatch)
    code = command_line.main(["replay", "--from", DAYS[1], "--select", "drift", "--publish"])
    assert code == 0, capsys.readouterr().out
    for view, rows in seen.items():
        assert project.rows(f"drift_{view}", "*") == rows
    told = project.rows("cdc_loads where entity = 'drift' and load_id like '20240303-f%'", "status")
    assert len(told) == 3
    assert project.rows("drift_current", STATE) == [(4, "d2", DAYS[3], "U")]

    # by command, and told by diff
    project.land("drift", DAYS[4], "id,name", "4,d2", "6,f")
    load = ["load", DAYS[4], "--select", "path:models/drift", "cdc_loads"]
    assert command_line.main([*load, "--load-type", "full"]) == 0
    capsys.readouterr()
    assert command_line.main(["diff", "drift", DAYS[3], DAYS[4]]) == 0
    assert "1 added, 0 removed, 0 changed" in capsys.readouterr().out


@pytest.mark.integration
def test_deltas_between_full_loads(project: Project) -> None:
    project.entity("between", COLUMNS)
    project.land("between", DAYS[0], "id,name", "1,a", "2,b")
    project.load(DAYS[0], "between")
    project.land("between", DAYS[1], "id,name", "2,b2", "3,c")
    project.load(DAYS[1], "between", spark_cdc_load_type="delta")
    assert project.rows("between_current", STATE) == [
        (1, "a", DAYS[0], "X"),
        (2, "b2", DAYS[1], "U"),
        (3, "c", DAYS[1], "I"),
    ]
    project.land("between", DAYS[2], "id,name", "2,b2", "3,c")
    project.load(DAYS[2], "between")
    assert project.rows("between_current", "id, operation") == [(2, "N"), (3, "N")]
    types = project.rows("cdc_loads where entity = 'between'", "load_id, load_type, message")
    assert [(one[0][:10], *one[1:]) for one in types] == [
        ("20240301-f", "full", None),
        ("20240302-d", "delta", None),
        ("20240303-f", "full", None),
    ]
    tested = project.dbt("test", "--select", "path:models/between")
    assert tested.success, tested.output


def test_guards_are_those_of_full_loads(shop: Shop) -> None:
    drifting(shop, "guarded")
    shop.land("guarded", DAYS[2], "id,name")
    refused = shop.run(DAYS[2], "guarded", spark_cdc_load_type="full")
    assert not refused.success
    assert "empty: the snapshot is empty, and all 3 rows would" in refused.output
    told = shop.rows(
        "cdc_loads where entity = 'guarded' and status = 'refused'", "load_type, guard"
    )
    assert told == [("full", "empty")]


@dataclass
class Table:
    """What events and snapshots make of a table, key by key: the contract in plain Python.

    rows: the value and the date since when it is so. places: the last position applied to a key.
    """

    rows: dict[int, tuple[str, str]] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    snapshot: int = 0  # the position of the last one: what is not above it changes nothing

    def load(self, date: str, values: dict[int, str | None], touched: set[int]) -> dict[str, int]:
        """Bring keys to their values (None: gone); return the rows per operation."""
        counts = dict.fromkeys("IUDNX", 0)
        for key in touched | set(self.rows):
            value, before = values.get(key), self.rows.get(key)
            if key not in touched:
                counts["X"] += 1
            elif value is None:
                counts["D"] += before is not None
                self.rows.pop(key, None)
            elif before is None or before[0] != value:
                counts["I" if before is None else "U"] += 1
                self.rows[key] = (value, date)
            else:
                counts["N"] += 1
        return counts

    def take_events(self, date: str, events: list[tuple[int, int, str | None]]) -> dict[str, int]:
        values: dict[int, str | None] = {}
        for place, key, value in sorted(events):
            if place > max(self.places.get(key, 0), self.snapshot):
                self.places[key], values[key] = place, value
        return self.load(date, values, set(values))

    def take_snapshot(self, date: str, place: int, rows: dict[int, str]) -> dict[str, int]:
        if place <= self.snapshot:  # an older one than the last
            return self.load(date, {}, set())
        later = {key for key, applied in self.places.items() if applied > place}
        touched = (set(rows) | set(self.rows)) - later
        self.places |= dict.fromkeys(touched, place)
        self.snapshot = place
        return self.load(date, {key: rows.get(key) for key in touched}, touched)


@pytest.mark.parametrize(
    "checkpoint",
    [
        pytest.param({"loads": 0}, marks=pytest.mark.full),
        pytest.param(
            {"loads": 10**9, "changed_share": 1e9, "rows": 10**12}, marks=pytest.mark.full
        ),
        pytest.param({}, marks=pytest.mark.integration),
    ],
)
def test_full_snapshots_among_events_are_what_the_oracle_says(
    cursor: Any, schema: str, tmp_path: Path, checkpoint: dict[str, Any]
) -> None:
    chance = random.Random(str(checkpoint))
    columns = [column("k", "int", role="key"), column("v", "string")]
    warehouse = EventWarehouse(cursor, schema, tmp_path, columns, checkpoint=checkpoint)
    settings = warehouse.node["config"]["meta"]["spark_cdc"]
    settings["sources"] = {
        "full": {"path": f"{tmp_path}/full/{{business_date}}", "columns": {"v": "VALUE"}}
    }
    table, keys = Table(), range(300)
    for day, kind in enumerate("eesesse", 1):
        date = f"2024-01-{day:02}"
        if kind == "e":
            wanted = chance.sample(keys, 200)
            # some are of before: late, or contained in the snapshot
            places = chance.sample(range(max(1, day * 1000 - 1500), day * 1000), 200)
            events = [
                (place, key, None if chance.random() < 0.25 else chance.choice("abc"))
                for place, key in zip(places, wanted, strict=True)
            ]
            warehouse.land(
                date,
                (
                    {"what": "del", "at": [place], "old": {"k": key}}
                    if value is None
                    else {"what": "put", "at": [place], "new": {"k": key, "v": value}}
                    for place, key, value in events
                ),
            )
            warehouse.variables |= {"spark_cdc_load_type": None, "spark_cdc_position": None}
            counts = table.take_events(date, events)
        else:
            place = day * 1000 - chance.choice((1, 700, 1200))
            rows = {key: chance.choice("abc") for key in keys if chance.random() < 0.6}
            folder = tmp_path / "full" / date
            folder.mkdir(parents=True)
            lines = ["k,VALUE", *(f"{key},{value}" for key, value in rows.items())]
            (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
            position = [place] if chance.random() < 0.5 else str(place)
            warehouse.variables |= {"spark_cdc_load_type": "full", "spark_cdc_position": position}
            counts = table.take_snapshot(date, place, rows)
        audit = warehouse.load(date)
        assert {name: audit["counts"][name] for name in "IUDNX"} == counts, (day, kind)
        found = warehouse.rows("current", "k, v, cast(eff_start_date as string)")
        assert set(found) == {(key, *row) for key, row in table.rows.items()}, (day, kind)


@pytest.mark.full
def test_a_full_snapshot_among_events(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full = {"format": "csv", "path": f"{project.landing}/extract/{{business_date}}"}
    project.entity(
        "moved",
        COLUMNS | OP | {"at": {"data_type": "timestamp", "role": "control"}},
        load_type="events",
        events={"format": "flagged_rows", "operation": "op", "order": ["at"], "archive": True},
        sources={"full": full},
    )
    project.land(
        "moved",
        DAYS[0],
        "op,at,id,name",
        "I,2024-03-01 08:00:00,1,a",
        "I,2024-03-01 09:00:00,2,b",
        "I,2024-03-01 10:00:00,3,c",
        "I,2024-03-02 10:00:00,4,d",
    )
    project.load(DAYS[0], "moved")
    project.land("extract", DAYS[1], "id,name", "1,a", "2,b2", "4,old", "5,e")
    given: dict[str, Any] = {"spark_cdc_load_type": "full"}
    refused = project.run(DAYS[1], "moved", **given)
    assert "moved: the var spark_cdc_position is 'None'" in refused.output
    given["spark_cdc_position"] = {"moved": "2024-03-02 00:00"}
    outcome = project.load(DAYS[1], "moved", **given)
    assert "4 rows in, I 1, U 1, D 1, N 1, X 1, 1 late" in outcome.output
    expected = [
        (1, "a", DAYS[0], "N"),
        (2, "b2", DAYS[1], "U"),
        (4, "d", DAYS[0], "X"),
        (5, "e", DAYS[1], "I"),
    ]
    assert project.rows("moved_current", STATE) == expected
    [(load_id, *told)] = project.rows(
        "cdc_loads where entity = 'moved' and load_type = 'full'", "load_id, rows_in, message"
    )
    assert load_id.startswith("20240302-s")
    assert told[0] == 4 and "the snapshot differed in 3 rows" in told[1]

    # what the snapshot contains comes late, what is newer counts
    project.land(
        "moved",
        DAYS[2],
        "op,at,id,name",
        "U,2024-03-01 23:00:00,2,no",
        "U,2024-03-03 10:00:00,5,e2",
    )
    project.load(DAYS[2], "moved")
    assert project.rows("moved_current", "id, name") == [(1, "a"), (2, "b2"), (4, "d"), (5, "e2")]
    tested = project.dbt("test", "--select", "path:models/moved")
    assert tested.success, tested.output

    project.serve_commands(monkeypatch)
    replay = ["replay", "--from", DAYS[1], "--select", "moved"]
    assert command_line.main(replay) != 0
    assert "moved has full snapshots among its events" in capsys.readouterr().err
    seen = project.rows("moved_history", "*")
    assert command_line.main([*replay, "--source", "archive", "--publish"]) == 0
    assert project.rows("moved_history", "*") == seen
