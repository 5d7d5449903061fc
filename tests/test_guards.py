"""Guards and quarantine: what trips, what it leaves behind, what lifts it; rejected rows that are
set aside, the keys that they leave as they were, and a corrected rerun."""

from __future__ import annotations

import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from project import Project
from rendered_sql import manifest_of
from shop import Outcome, Shop
from spark_cdc.jinja_bridge import CompilerError, Macros
from test_config import macros, plan

pytestmark = pytest.mark.proves("guards")

KEYED = {"id": {"data_type": "int", "role": "key"}, "value": "int"}
DELTA = KEYED | {"op": {"data_type": "string", "role": "control"}}
EVENTS = DELTA | {"seq": {"data_type": "bigint", "role": "control"}}
EVERY_OTHER = {"loads": 1, "changed_share": 1000, "rows": 1000}  # loads that are a checkpoint
QUARANTINE = {"on_reject": "quarantine", "checkpoint": EVERY_OTHER}
ENTITIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "q_full": (KEYED, QUARANTINE),
    "q_delta": (DELTA, QUARANTINE | {"load_type": "delta", "deleted_when": "op = 'D'"}),
    "q_events": (
        EVENTS,
        QUARANTINE
        | {
            "load_type": "events",
            "events": {"format": "flagged_rows", "operation": "op", "order": ["seq"]},
        },
    ),
    "q_twice": (KEYED, {"on_duplicate_key": "quarantine", "checkpoint": EVERY_OTHER}),
    "g_shares": (KEYED, {"guards": {"updated_share": 0.3, "inserted_share": 0.5}}),
    "g_band": (KEYED, {"guards": {"deleted_share": None}}),
    "g_empty": (KEYED, {}),
    "g_rejects": (
        KEYED,
        {"on_reject": "quarantine", "guards": {"rejected_share": 0.5, "min_rows": 4}},
    ),
}
FULL, FLAGS, STREAM = "id,value", "id,value,op", "id,value,op,seq"
HUNDRED = [f"{n},0" for n in range(1, 101)]
SHARES = [f"{n},1" for n in range(1, 41)] + [f"{n},0" for n in range(201, 252)]
LANDED: dict[str, dict[str, list[str]]] = {
    "2024-01-01": {
        "q_full": [FULL, "1,1", "2,2", "3,3", "4,4"],
        "q_delta": [FLAGS, "1,1,I", "2,2,I", "3,3,I", "4,4,I"],
        "q_events": [STREAM, "1,1,I,1", "2,2,I,2", "3,3,I,3", "4,4,I,4"],
        "q_twice": [FULL, "1,1", "2,2", "3,3", "4,4"],
        "g_shares": [FULL, *HUNDRED],
        "g_band": [FULL, *HUNDRED],
        "g_empty": [FULL, "1,1", "2,2"],
        "g_rejects": [FULL, "1,1", "2,2", "3,3", "4,4"],
    },
    # a bad value beside good ones, and one of a key that never was
    "2024-01-02": {
        "q_full": [FULL, "1,1", "2,x", "3,30", "5,5", "9,x"],
        "q_delta": [FLAGS, "2,x,U", "3,30,U", "4,,D", "5,5,I", "9,x,I"],
        "q_events": [STREAM, "2,x,U,5", "2,20,U,6", "3,x,U,7", "4,,D,8", "5,5,I,9", "9,x,I,10"],
        "q_twice": [FULL, "1,1", "2,2", "2,2", "3,30", "3,31", "5,5", "6,6", "6,7"],
        "g_shares": [FULL, *SHARES],
        "g_band": [FULL, *HUNDRED[:15]],
        "g_empty": [FULL],
        "g_rejects": [FULL, "1,1", "2,2", "3,x", "4,4.5", ",5"],
    },
    # at a checkpoint, also with keys that can't be read: no key of a full load is missing for sure
    "2024-01-03": {
        "q_full": [FULL, "1,1", "x,7", "3,y"],
        "q_delta": [FLAGS, "1,1,U", "x,7,U", "3,y,U", "2,,D,9"],
        "q_events": [STREAM, "1,10,U,11", "x,7,U,12", "3,y,U,13"],
        "q_twice": [FULL, "1,1", "1,1", "5,5"],
        "g_shares": [FULL, *SHARES],
        "g_band": [FULL, *HUNDRED[:15]],
        "g_empty": [FULL],
        "g_rejects": [FULL, "1,1", "2,2", "3,x", "4,4.5", ",5"],
    },
    "2024-01-04": {
        "q_full": [FULL, "1,1", "2,7", "3,y"],
        "q_delta": [FLAGS, "2,7,U", "3,y,U"],
        "q_events": [STREAM, "2,7,U,14", "3,y,U,15"],
        "q_twice": [FULL, "1,1", "2,2", "3,30", "5,5", "5,5"],
    },
}
CORRECTED = {
    "q_full": [FULL, "1,1", "2,7", "3,31"],
    "q_delta": [FLAGS, "2,7,U", "3,31,U"],
    "q_events": [STREAM, "2,7,U,14", "3,31,U,15"],
    "q_twice": [FULL, "1,1", "2,2", "3,30", "5,5"],
}
LIFT = [
    *("g_shares.deleted_share", "g_shares.updated_share", "g_shares.inserted_share"),
    *("g_band.rows_band", "empty", "g_rejects.rejected_share"),
]
QUARANTINED = [name for name in ENTITIES if name.startswith("q_")]
GUARDED = [name for name in ENTITIES if name.startswith("g_")]
Day = dict[str, dict[str, Any]]


def prepare(where: Shop | Project, names: list[str]) -> None:
    """Describes some entities, and lands their data of all days."""
    for name in names:
        columns, settings = ENTITIES[name]
        where.entity(name, columns, rejects=name.startswith("g_"), **settings)
        for date, landed in LANDED.items():
            if name in landed:
                where.land(name, date, *landed[name])


def look(shop: Shop, names: list[str]) -> Day:
    """What readers see of some entities."""
    figures = (
        "business_time, rows_in, rows_rejected, rows_inserted, rows_updated, rows_deleted,"
        " rows_unchanged, rows_not_supplied, rows_prior, rows_current"
    )
    return {
        name: {
            "current": shop.rows(f"{name}_current", "id, value, operation, eff_start_date"),
            "rejects": shop.rows(
                f"{name}_rejects",
                "business_date, id, rejected_columns, rejected_reason, rejected_row",
            ),
            "figures": shop.query(
                f"select {figures} from {{s}}.cdc_loads where entity = '{name}'"
                " and status = 'committed' order by started_at desc limit 1"
            )[0],
        }
        for name in names
    }


@pytest.fixture(scope="module")
def days(shop: Shop) -> dict[str, Any]:
    """Five days, and what the views showed after each."""
    prepare(shop, list(ENTITIES))
    seen: dict[str, Any] = {}
    shop.load("2024-01-01", *ENTITIES)
    seen["stopped"] = shop.run("2024-01-02", *ENTITIES)
    seen["2"] = look(shop, list(ENTITIES))
    seen["lifted"] = shop.load("2024-01-03", *ENTITIES, spark_cdc_skip_guards=LIFT)
    seen["3"] = look(shop, list(ENTITIES))
    seen["4"] = (shop.load("2024-01-04", *QUARANTINED), look(shop, QUARANTINED))[1]
    for name, lines in CORRECTED.items():
        shop.land(name, "2024-01-04", *lines)
    shop.load("2024-01-04", *QUARANTINED)
    seen["5"] = look(shop, QUARANTINED)
    return seen


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "guard", "parts"),
    [
        (
            "g_shares",
            "deleted_share, updated_share, inserted_share",
            [
                "g_shares: guards stop the load of 2024-01-02.",
                "deleted_share: 60 of 100 rows would be deleted: a share of 0.6; accepted is at"
                " most 0.25; for instance id = ",
                "updated_share: 40 of 100 rows would be updated: a share of 0.4; accepted is at"
                " most 0.3; for instance id = ",
                "inserted_share: 51 of 100 rows would be inserted: a share of 0.51;"
                " accepted is at most 0.5; for instance id = ",
                "spark_cdc_skip_guards: [g_shares.deleted_share, g_shares.updated_share,"
                " g_shares.inserted_share]}'",
            ],
        ),
        (
            "g_band",
            "rows_band",
            [
                "g_band: a guard stops the load of 2024-01-02.",
                "rows_band: 15 rows came in, 0.15 times the 100 of the last 1 load (median);"
                " accepted are 0.2 to 5 times",
                "dbt run --select tag:spark_cdc.g_band --vars '{business_date: 2024-01-02,"
                " spark_cdc_skip_guards: [g_band.rows_band]}'",
            ],
        ),
        (
            "g_empty",
            "empty",
            ["empty: the snapshot is empty, and all 2 rows would be deleted"],
        ),
        (
            "g_rejects",
            "rejected_share",
            [
                "rejected_share: 3 of 5 rows are rejected: a share of 0.6; accepted is at most 0.5",
                "value: '4.5' is not accepted as int",
            ],
        ),
    ],
)
def test_a_guard_trips_and_leaves_a_refused_load(
    shop: Shop, days: dict[str, Any], name: str, guard: str, parts: list[str]
) -> None:
    stopped: Outcome = days["stopped"]
    assert stopped.status[f"{name}_committed"] == "error"
    message = shop.query(
        "select guard, message, committed_at, duration_seconds, load_id like '20240102-f%',"
        " business_time, started_at is not null, invocation_id is not null"
        f" from {{s}}.cdc_loads where entity = '{name}' and status = 'refused'"
    )
    assert len(message) == 1
    assert message[0][0] == guard
    assert message[0][2:] == (None, None, True, "2024-01-02", True, True)
    for part in [*parts, "Nothing was committed."]:
        assert part in message[0][1]
        assert part in stopped.output
    assert {row[2] for row in days["2"][name]["current"]} == {"I"}
    assert days["2"][name]["rejects"] == []
    assert days["2"][name]["figures"][0] == "2024-01-01"


@pytest.mark.integration
def test_figures_of_a_refused_load(shop: Shop, days: dict[str, Any]) -> None:
    figures = "rows_in, rows_rejected, rows_inserted, rows_updated, rows_deleted, rows_prior"
    where = "cdc_loads where status = 'refused' and entity = "
    assert shop.rows(f"{where}'g_shares'", figures) == [(91, 0, 51, 40, 60, 100)]
    assert shop.rows(f"{where}'g_rejects'", figures) == [(5, 3, 0, 0, 0, 4)]


@pytest.mark.integration
def test_a_lift_lets_the_load_pass(days: dict[str, Any]) -> None:
    lifted = {name: days["3"][name]["figures"] for name in GUARDED}
    assert lifted == {
        "g_shares": ("2024-01-03", 91, 0, 51, 40, 60, 0, 0, 100, 91),
        "g_band": ("2024-01-03", 15, 0, 0, 0, 85, 15, 0, 100, 15),
        "g_empty": ("2024-01-03", 0, 0, 0, 0, 2, 0, 0, 2, 0),
        "g_rejects": ("2024-01-03", 5, 3, 0, 0, 0, 2, 2, 4, 4),
    }


@pytest.mark.integration
def test_a_rejected_row_leaves_its_key_as_it_was(days: dict[str, Any]) -> None:
    day, later = "2024-01-02", "2024-01-01"
    assert days["2"]["q_full"]["current"] == [
        (1, 1, "N", later),
        (2, 2, "X", later),
        (3, 30, "U", day),
        (5, 5, "I", day),
    ]
    assert days["2"]["q_full"]["figures"] == (day, 5, 2, 1, 1, 1, 1, 1, 4, 4)
    assert days["2"]["q_delta"]["current"] == [
        (1, 1, "X", later),
        (2, 2, "X", later),
        (3, 30, "U", day),
        (5, 5, "I", day),
    ]
    assert days["2"]["q_delta"]["figures"] == (day, 5, 2, 1, 1, 1, 0, 2, 4, 4)
    # a later event of the key applies
    assert days["2"]["q_events"]["current"] == [
        (1, 1, "X", later),
        (2, 20, "U", day),
        (3, 3, "X", later),
        (5, 5, "I", day),
    ]
    assert days["2"]["q_events"]["figures"] == (day, 6, 3, 1, 1, 1, 0, 2, 4, 4)


@pytest.mark.integration
def test_rejects_are_shown_with_their_row_and_reason(days: dict[str, Any]) -> None:
    reason = "value: 'x' is not accepted as int"
    assert days["2"]["q_full"]["rejects"] == [
        ("2024-01-02", 2, "value", reason, '{"id":"2","value":"x"}'),
        ("2024-01-02", 9, "value", reason, '{"id":"9","value":"x"}'),
    ]
    assert days["2"]["q_delta"]["rejects"][0][4] == '{"id":"2","value":"x","op":"U"}'
    assert [row[:4] for row in days["2"]["q_events"]["rejects"]] == [
        ("2024-01-02", key, "value", reason) for key in (2, 3, 9)
    ]
    assert days["3"]["q_full"]["rejects"][2:] == [
        ("2024-01-03", 3, "value", "value: 'y' is not accepted as int", '{"id":"3","value":"y"}'),
        (
            "2024-01-03",
            None,
            "id",
            "id: 'x' is not accepted as int not null",
            '{"id":"x","value":"7"}',
        ),
    ]


@pytest.mark.integration
def test_an_unreadable_key_keeps_all_missing_keys_of_a_full_load(
    shop: Shop, days: dict[str, Any]
) -> None:
    assert days["3"]["q_full"]["current"] == [
        (1, 1, "N", "2024-01-01"),
        (2, 2, "X", "2024-01-01"),
        (3, 30, "X", "2024-01-02"),
        (5, 5, "X", "2024-01-02"),
    ]
    assert days["3"]["q_full"]["figures"] == ("2024-01-03", 3, 2, 0, 0, 0, 1, 3, 4, 4)
    partitions = shop.query(
        "select operation, count(*) from {s}.q_full_ledger where business_date = '2024-01-03'"
        " group by operation order by operation"
    )
    assert partitions == [("L", 1), ("N", 1), ("R", 2), ("X", 3)]


@pytest.mark.integration
def test_checkpoints_of_deltas_and_events_carry_rejected_keys_over(days: dict[str, Any]) -> None:
    # 2 came with a field too many: its delete can't be accepted
    assert days["3"]["q_delta"]["current"] == [
        (1, 1, "N", "2024-01-01"),
        (2, 2, "X", "2024-01-01"),
        (3, 30, "X", "2024-01-02"),
        (5, 5, "X", "2024-01-02"),
    ]
    assert days["3"]["q_delta"]["figures"] == ("2024-01-03", 4, 3, 0, 0, 0, 1, 3, 4, 4)
    [delete] = [row for row in days["3"]["q_delta"]["rejects"] if row[1] == 2 and row[0][-1] == "3"]
    assert delete[2:] == (
        "",
        "the fields of the row do not match the header: 2,,D,9",
        "2,,D,9",
    )
    assert days["3"]["q_events"]["current"] == [
        (1, 10, "U", "2024-01-03"),
        (2, 20, "X", "2024-01-02"),
        (3, 3, "X", "2024-01-01"),
        (5, 5, "X", "2024-01-02"),
    ]


@pytest.mark.integration
def test_keys_that_come_twice_are_set_aside_with_all_their_rows(days: dict[str, Any]) -> None:
    assert days["2"]["q_twice"]["current"] == [
        (1, 1, "N", "2024-01-01"),
        (2, 2, "X", "2024-01-01"),
        (3, 3, "X", "2024-01-01"),
        (5, 5, "I", "2024-01-02"),
    ]
    assert days["2"]["q_twice"]["figures"] == ("2024-01-02", 8, 6, 1, 0, 1, 1, 2, 4, 4)
    reason = "the key comes more than once in the load (2 rows)"
    assert days["2"]["q_twice"]["rejects"][:3] == [
        ("2024-01-02", 2, "", reason, '{"id":"2","value":"2"}'),
        ("2024-01-02", 2, "", reason, '{"id":"2","value":"2"}'),
        ("2024-01-02", 3, "", reason, '{"id":"3","value":"30"}'),
    ]
    assert days["3"]["q_twice"]["current"] == [
        (1, 1, "X", "2024-01-01"),
        (5, 5, "N", "2024-01-02"),
    ]
    assert days["3"]["q_twice"]["figures"] == ("2024-01-03", 3, 2, 0, 0, 2, 1, 1, 4, 2)


@pytest.mark.integration
def test_a_corrected_rerun_takes_its_rejects_away(shop: Shop, days: dict[str, Any]) -> None:
    wanted = {
        "q_full": [(1, 1, "N"), (2, 7, "U"), (3, 31, "U")],
        "q_delta": [(1, 1, "X"), (2, 7, "U"), (3, 31, "U"), (5, 5, "X")],
        "q_events": [(1, 10, "X"), (2, 7, "U"), (3, 31, "U"), (5, 5, "X")],
    }
    for name, rows in wanted.items():
        held = {row[0]: row for row in days["4"][name]["current"]}
        assert held[3][2] == "X", name
        assert [row[:3] for row in days["5"][name]["current"]] == rows
        assert "2024-01-04" in {row[0] for row in days["4"][name]["rejects"]}
        dates = {row[0] for row in days["5"][name]["rejects"]}
        assert dates == {"2024-01-02", "2024-01-03"}, name
        assert days["5"][name]["figures"][2] == 0
    assert [row[:3] for row in days["5"]["q_twice"]["current"]] == [
        (1, 1, "N"),
        (2, 2, "I"),
        (3, 30, "I"),
        (5, 5, "N"),
    ]
    # what was held is no change: versions and history know nothing of it
    assert shop.rows("q_full_versions", "id, value, eff_start_date, eff_end_date") == [
        (1, 1, "2024-01-01", None),
        (2, 2, "2024-01-01", "2024-01-04"),
        (2, 7, "2024-01-04", None),
        (3, 3, "2024-01-01", "2024-01-02"),
        (3, 30, "2024-01-02", "2024-01-04"),
        (3, 31, "2024-01-04", None),
        (4, 4, "2024-01-01", "2024-01-02"),
        (5, 5, "2024-01-02", "2024-01-04"),
    ]


def test_a_manifest_that_grows_too_long_is_a_refused_load(shop: Shop) -> None:
    shop.entity("long", KEYED)
    shop.land("long", "2024-01-01", "id,value", "1,1")
    outcome = shop.run("2024-01-01", "long", spark_cdc_manifest_limit=100)
    assert not outcome.success
    assert "the view long_committed would have" in outcome.output
    refused = shop.query("select status, guard from {s}.cdc_loads where entity = 'long'")
    assert refused == [("refused", "manifest_limit")]


# --- with dbt -----------------------------------------------------------------


def test_dbt_says_what_a_guard_stops_and_shows_what_is_set_aside(project: Project) -> None:
    names = {"held": "q_full", "emptied": "g_empty"}
    for name, like in names.items():
        columns, settings = ENTITIES[like]
        project.entity(name, columns, **settings)
        for date in ("2024-01-01", "2024-01-02"):
            project.land(name, date, *LANDED[date][like])
    project.load("2024-01-01", *names)
    stopped = project.run("2024-01-02", *names)
    assert stopped.status["emptied_committed"] == "error"
    for part in (
        "emptied: a guard stops the load of 2024-01-02.",
        "empty: the snapshot is empty, and all 2 rows would be deleted",
        "spark_cdc_skip_guards: [emptied.empty]}'",
        "Nothing was committed.",
    ):
        assert part in stopped.output
    assert project.rows("emptied_current", "id, operation") == [(1, "I"), (2, "I")]
    refused = "select guard, business_time from {s}.cdc_loads where status = 'refused'"
    assert project.query(refused) == [("empty", "2024-01-02")]
    assert project.rows("held_current", "id, value, operation") == [
        (1, 1, "N"),
        (2, 2, "X"),
        (3, 30, "U"),
        (5, 5, "I"),
    ]
    reason = "value: 'x' is not accepted as int"
    assert project.rows("held_rejects", "id, rejected_reason") == [(2, reason), (9, reason)]
    project.load("2024-01-02", "emptied", spark_cdc_skip_guards=["empty"])
    assert project.rows("emptied_current", "id") == []


@pytest.mark.full
def test_the_data_tests_hold_where_rows_are_set_aside(project: Project) -> None:
    prepare(project, QUARANTINED)
    for date in LANDED:
        project.load(date, *QUARANTINED)
    for name, lines in CORRECTED.items():
        project.land(name, "2024-01-04", *lines)
    project.load("2024-01-04", *QUARANTINED)
    tested = project.dbt("test", "--select", *(f"path:models/{name}" for name in QUARANTINED))
    assert tested.success, tested.output


# --- without a server ---------------------------------------------------------


def guarded(load: dict[str, Any], given: Macros | None = None, **figures: Any) -> str:
    """The message with which guards stop a load of orders that has these figures."""
    given = given or macros()
    counts = dict.fromkeys("IUDNXRT", 0) | {k: v for k, v in figures.items() if len(k) == 1}
    rows_in, prior = figures["rows_in"], figures["prior"]
    audit = {
        "counts": counts,
        "rows_in": rows_in,
        "rows_prior": prior,
        "recent": {},
        "ruled_out": 0,
    }
    given_load = load | {"load_type": figures.get("load_type", "full")}
    try:
        given._check_guards(given._entity("orders"), "l", given_load, audit)
    except CompilerError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("figures", "trips"),
    [
        ({"rows_in": 0, "prior": 1, "D": 1}, "empty"),
        ({"rows_in": 0, "prior": 0}, ""),
        ({"rows_in": 0, "prior": 100, "D": 100, "load_type": "events"}, "deleted_share"),
        ({"rows_in": 75, "prior": 100, "D": 25}, ""),
        ({"rows_in": 74, "prior": 100, "D": 26}, "deleted_share"),
        # a small table: from ten deleted rows on
        ({"rows_in": 1, "prior": 10, "D": 9}, ""),
        ({"rows_in": 1, "prior": 11, "D": 10}, "deleted_share"),
        ({"rows_in": 30, "prior": 40, "D": 10}, ""),
        ({"rows_in": 29, "prior": 40, "D": 11}, "deleted_share"),
        ({"rows_in": 99, "prior": 99, "U": 99}, ""),
        ({"rows_in": 100, "prior": 100, "U": 95}, ""),
        ({"rows_in": 100, "prior": 100, "U": 96}, "updated_share"),
        ({"rows_in": 1000, "prior": 100, "I": 1000, "load_type": "delta"}, ""),
        ({"rows_in": 1001, "prior": 100, "I": 1001, "load_type": "delta"}, "inserted_share"),
        ({"rows_in": 100, "prior": 0, "R": 10}, ""),
        ({"rows_in": 100, "prior": 0, "R": 11}, "rejected_share"),
        ({"rows_in": 99, "prior": 0, "R": 99}, ""),
    ],
)
def test_where_a_guard_trips(figures: dict[str, Any], trips: str) -> None:
    load = plan([], 2)
    nothing = macros(run_query=lambda sql: SimpleNamespace(rows=[]))
    found = guarded(load, nothing, **figures)
    assert (trips == "") is (found == "")
    assert trips == "" or f"- {trips}: " in found
    lifted = macros(
        run_query=lambda sql: SimpleNamespace(rows=[]),
        var={"spark_cdc_skip_guards": f"orders.{trips}"},
    )
    assert guarded(load, lifted, **figures) == ""


@pytest.mark.parametrize(
    ("before", "rows_in", "trips"),
    [
        ([100], 19, True),
        ([100], 20, False),
        ([100], 501, True),
        ([1, 100, 100, 100, 1], 20, False),
        ([100, 300], 39, True),
        ([], 1, False),
    ],
)
def test_the_band_is_of_the_median(before: list[int], rows_in: int, trips: bool) -> None:
    asked = []

    def run_query(sql: str) -> Any:
        asked.append(sql)
        return SimpleNamespace(rows=[{"rows_in": rows} for rows in before])

    given = macros(run_query=run_query, _load_log=lambda: "cdc_loads")
    loads = [f"202401{day:02}-f-00000000" for day in range(1, 8)]
    load = given._plan_load(
        given._entity("orders"),
        manifest_of(given, loads, rows=100),
        datetime.datetime(2024, 1, 9),
    )
    given = macros(run_query=run_query, _load_log=lambda: "cdc_loads", _refuse_load=refuse)
    found = guarded(load, given, rows_in=rows_in, prior=100)
    assert ("rows_band" in found) is trips
    assert asked[0].count("-f-") == 5
    assert loads[2] in asked[0]


def refuse(entity: Any, guard: str, message: str, *_: Any) -> None:
    raise CompilerError(message)
