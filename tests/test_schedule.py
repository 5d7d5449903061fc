"""The scheduler of loads: which step of which lane comes next, retries, failures, interrupts."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from spark_cdc import cli as command_line
from spark_cdc import console, dbt_runner, schedule
from spark_cdc.errors import SparkCdcError
from spark_cdc.schedule import Lane, Outcome

pytestmark = pytest.mark.proves("command line")

DONE = Outcome(True)
BAD = Outcome(False, "Compilation Error in model\n  1 row is bad")
LOST = Outcome(False, "Runtime Error\n  Connection refused")


class World:
    """A clock that sleeping moves, and outcomes of steps in the order of their attempts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **outcomes: list[Outcome]) -> None:
        self.now = 100.0
        self.rounds: list[tuple[float, list[str]]] = []
        self.outcomes = outcomes
        self.interrupted: Callable[[], str] = str
        self.committed: list[str] = []
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self.sleep)
        monkeypatch.setattr(schedule, "time", clock)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    @contextlib.contextmanager
    def ends_at_once(self, say: Callable[[], str]) -> Iterator[None]:
        self.interrupted = say
        yield

    def load(self, ready: Sequence[Lane], _: console.Screen) -> list[Outcome]:
        steps = [f"{lane.name}{lane.waiting[0]}" for lane in ready]
        self.rounds.append((self.now - 100, steps))
        return [self.outcomes[step].pop(0) if step in self.outcomes else DONE for step in steps]

    def work(self, lanes: list[Lane], **more: Any) -> None:
        schedule.work(self, lanes, more.pop("load", self.load), "spark-cdc load", **more)  # type: ignore[arg-type]


def lanes(**steps: str) -> list[Lane]:
    return [Lane(name, deque(found.split())) for name, found in steps.items()]


def test_lanes_go_on_side_by_side_each_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    world, found = World(monkeypatch), lanes(a="1 2 3", b="2", c="")
    world.work(found)
    assert world.rounds == [(0, ["a1", "b2"]), (0, ["a2"]), (0, ["a3"])]
    assert [(one.done, list(one.waiting)) for one in found] == [
        (["1", "2", "3"], []),
        (["2"], []),
        ([], []),
    ]


def test_a_failure_stops_its_own_lane(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is in the data is tried once; the steps that were not begun still wait."""
    world, found = World(monkeypatch, a1=[BAD]), lanes(a="1 2", b="1 2")
    world.work(found, retries=2)
    assert world.rounds == [(0, ["a1", "b1"]), (0, ["b2"])]
    assert (found[0].done, list(found[0].waiting)) == ([], ["1", "2"])
    assert found[0].failed == f"1: {BAD.failure}"
    assert capsys.readouterr().out == "a  1  failed\n"


def test_what_fails_after_its_commit_is_done_and_stops_its_lane(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, found = World(monkeypatch, a1=[Outcome(True, "the view is wrong")]), lanes(a="1 2")
    world.work(found)
    assert (found[0].done, list(found[0].waiting)) == (["1"], ["2"])
    assert found[0].failed == "1 is committed, but the view is wrong"


@pytest.mark.parametrize("lost", [LOST, Outcome(False, "another one was first", is_transient=True)])
def test_what_may_pass_is_tried_again_later(
    lost: Outcome, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After 5 and 10 seconds; meanwhile the others go on. A step that is done begins anew."""
    world = World(monkeypatch, a1=[lost, lost, DONE], a2=[lost, DONE])
    found = lanes(a="1 2", b="1 2")
    world.work(found, retries=2)
    assert world.rounds == [
        *((0, ["a1", "b1"]), (0, ["b2"]), (5, ["a1"]), (15, ["a1"]), (15, ["a2"]), (20, ["a2"])),
    ]
    assert found[0].done == ["1", "2"]
    said = capsys.readouterr().out.splitlines()
    assert said[1].startswith("a  1  failed, next attempt in 10 s: ")


@pytest.mark.parametrize(("retries", "attempts"), [(0, 1), (2, 3)])
def test_retries_end(retries: int, attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    world, found = World(monkeypatch, a1=[LOST] * 9), lanes(a="1 2")
    world.work(found, retries=retries)
    assert len(world.rounds) == attempts
    assert found[0].failed.startswith("1: ") and list(found[0].waiting) == ["1", "2"]


def test_what_another_run_has_committed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    world, found = World(monkeypatch, a1=[LOST], b1=[LOST]), lanes(a="1", b="1 2")
    asked = []

    def refresh(ready: Sequence[Lane], _: console.Screen) -> None:
        asked.append([lane.name for lane in ready])
        for lane in ready:
            lane.waiting.popleft()
            lane.attempts = 0

    world.work(found, retries=1, refresh=refresh)
    assert asked == [["a", "b"]]
    assert world.rounds == [(0, ["a1", "b1"]), (5, ["b2"])]


def test_an_interrupt_counts_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    world, found, said = World(monkeypatch), lanes(a="1 2", b="1"), list[str]()

    def load(ready: Sequence[Lane], screen: console.Screen) -> list[Outcome]:
        world.committed = [lane.name for lane in ready[1:]]
        said.append(world.interrupted())
        return world.load(ready, screen)

    world.work(found, load=load)
    status = "A load is atomic; spark-cdc status lists the committed ones.\nnext: spark-cdc load"
    assert said == [
        "interrupted: 0 of 3 loads are done. Of those under way, b has reported a commit."
        f" {status}",
        "interrupted: 2 of 3 loads are done. Of those under way, no entity has reported a commit."
        f" {status}",
    ]


def test_an_error_of_a_load_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: object) -> list[Outcome]:
        raise SparkCdcError("no entity is selected")

    found = lanes(a="1", b="1")
    with pytest.raises(SparkCdcError, match="no entity"):
        World(monkeypatch).work(found, load=load)
    assert [list(one.waiting) for one in found] == [["1"], ["1"]]


@pytest.mark.parametrize(
    ("waiting", "now", "ready", "wait"),
    [
        ({"a": 0, "b": 0}, 10, ["a", "b"], 0),
        ({"a": 15, "b": 0}, 10, ["b"], 0),
        ({"a": 15, "b": 12}, 10, ["b"], 2),
        ({}, 10, [], 0),
    ],
)
def test_what_is_due(waiting: dict[str, float], now: float, ready: list[str], wait: float) -> None:
    found = [Lane(name, deque(["1"]), not_before=at) for name, at in waiting.items()]
    stopped = [Lane("failed", deque(["1"]), failed="x"), Lane("done")]
    lanes, seconds = schedule.due([*stopped, *found], now)
    assert ([one.name for one in lanes], seconds) == (ready, wait)


DAYS = ("2024-03-01", "2024-03-02", "2024-03-03")
Call = tuple[str, dict[str, str]]


class FakeDbt:
    """dbt with two entities, a and b; it fails where a command has a text of `fails`, once each."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.fails: list[str] = []
        self.entities: dict[str, dict[str, Any]] = {}

    def invoke(
        self,
        _: dbt_runner.Dbt,
        words: tuple[str, ...],
        shown: bool,
        watch: Any,
        given: Any,
        *more: Any,
    ) -> tuple[dbt_runner.Done, None]:
        if words[0] == "ls":
            names = [f"{entity}_{kind}" for entity in "ab" for kind in ("ledger", "committed")]
            return dbt_runner.Done(True, "\n".join(names)), None
        if "spark_cdc.state" in words:
            found = [one | {"entity": name} for name, one in self.entities.items()]
            return dbt_runner.Done(True, f"spark_cdc: {json.dumps({'entities': found})}"), None
        dates = given.get("SPARK_CDC_BUSINESS_DATE", "")
        line = " ".join(words)
        self.calls.append((line, json.loads(dates) if dates.startswith("{") else {}))
        failing = [text for text in self.fails if text in f"{line} {dates}"]
        for text in failing:
            self.fails.remove(text)
        nodes = tuple(
            dbt_runner.Node(name, "error" if failing else "success", "Connection refused")
            for name in words
            if name.endswith(("_ledger", "_committed"))
        )
        return dbt_runner.Done(not failing, "it is wrong", models=1, nodes=nodes), None


@pytest.fixture
def dbt(monkeypatch: pytest.MonkeyPatch) -> FakeDbt:
    fake = FakeDbt()
    monkeypatch.setattr(dbt_runner.Dbt, "_invoke", lambda *given: fake.invoke(*given))
    monkeypatch.setattr(dbt_runner.connectivity, "problem", lambda *_: None)
    monkeypatch.setattr(schedule, "PAUSE", 0.01)
    monkeypatch.setenv("SPARK_CDC_PORT", "10999")
    return fake


def test_pending_dates_are_loaded_in_rounds(
    dbt: FakeDbt, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lost connection of the second round is tried again, by itself."""
    dbt.entities = {
        "a": {"pending": {"dates": list(DAYS)}, "times": []},
        "b": {"pending": {"dates": [DAYS[0]]}, "times": []},
    }
    dbt.fails = [f'"a": "{DAYS[1]}"']
    assert command_line.main(["load", "--output", "json", "--parallel", "3"]) == 0
    said = capsys.readouterr()
    assert [dates for _, dates in dbt.calls] == [
        {"a": DAYS[0], "b": DAYS[0]},
        {"a": DAYS[1]},
        {"a": DAYS[1]},
        {"a": DAYS[2]},
    ]
    models = "a_ledger a_committed"
    assert [line for line, _ in dbt.calls] == [
        f"run --select {models} b_ledger b_committed --threads 3",
        *[f"run --select {models} --threads 3"] * 3,
    ]
    assert "a  2024-03-02  failed, next attempt in 0 s: a_ledger: Connection refused" in said.err
    told = {one["entity"]: one for one in json.loads(said.out)["entities"]}
    assert told["a"]["loaded"] == list(DAYS) and told["b"]["loaded"] == [DAYS[0]]
    dbt.entities = {"a": {"pending": {"dates": []}, "times": [DAYS[0]]}}
    assert command_line.main(["load"]) == 3


def test_pending_dates_that_fail_leave_the_others_alone(
    dbt: FakeDbt, capsys: pytest.CaptureFixture[str]
) -> None:
    dbt.entities = {"a": {"pending": {"dates": list(DAYS)}}, "b": {"pending": {"absent": "no"}}}
    dbt.fails = [f'"a": "{DAYS[1]}"']
    assert command_line.main(["load", "--retries", "0", "--to", DAYS[1]]) == 1
    said = capsys.readouterr()
    assert "1 of 2 entities failed. 1 of their dates are not loaded." in said.err
    assert said.err.endswith(f"\n  spark-cdc load --retries 0 --to {DAYS[1]}\n")
    assert "b: no" in said.out
    assert len(dbt.calls) == 2


BULK = ("load", f"{DAYS[0]}..{DAYS[2]}", "--bulk", "--select", "a", "b")


def test_bulk_loads_take_one_entity_after_the_other(
    dbt: FakeDbt, capsys: pytest.CaptureFixture[str]
) -> None:
    dbt.entities = {"a": {"times": [DAYS[0]]}, "b": {"times": []}}
    assert command_line.main([*BULK, "--dry-run"]) == 0
    assert [line.partition(" --args ")[0] for line, _ in dbt.calls] == [
        "run-operation spark_cdc.backfill"
    ] * 2
    assert all('"execute": false' in line for line, _ in dbt.calls)
    dbt.calls.clear()
    words = (*BULK, "--skip-missing", "--dates-per-statement", "2", "--skip-guards", "a.empty")
    assert command_line.main(words) == 0
    arguments = {
        "dates": list(DAYS),
        "skip_missing": True,
        "dates_per_statement": 2,
        "execute": True,
    }
    guards = json.dumps({"spark_cdc_skip_guards": ["a.empty"]})
    expected = []
    for entity in "ab":
        given = json.dumps({"entities": [entity], **arguments})
        expected += [
            f"run-operation spark_cdc.backfill --args {given} --vars {guards}",
            f"run --select tag:spark_cdc.{entity},config.materialized:cdc_view",
        ]
    assert [line for line, _ in dbt.calls] == expected


@pytest.mark.parametrize(
    ("fails", "message", "count"),
    [
        (
            '"entities": ["a"]',
            "The bulk load of a failed, and nothing of it is committed. Not started: b.\n"
            "it is wrong",
            1,
        ),
        ("tag:spark_cdc.a,", "The bulk load of a is committed, but its views are not updated", 2),
    ],
)
def test_a_bulk_load_that_fails_stops(
    fails: str, message: str, count: int, dbt: FakeDbt, capsys: pytest.CaptureFixture[str]
) -> None:
    dbt.fails = [fails]
    assert command_line.main(BULK) == 1
    assert message in capsys.readouterr().err
    assert len(dbt.calls) == count


def test_a_replay_loads_dates_in_order_and_stops(
    dbt: FakeDbt, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each date into the drafts that lack it; what was not loaded with the own type keeps it."""
    loaded = {"load_type": "delta", "times": list(DAYS), "load_types": ["full", "delta", "delta"]}
    dbt.entities = {"a": loaded, "b": {**loaded, "times": [DAYS[1]], "load_types": ["delta"]}}
    dbt.fails = [f'"business_date": "{DAYS[1]}"']
    assert command_line.main(["replay", "--from", DAYS[0], "--skip-guards", "a.empty"]) == 1
    lines = [line for line, _ in dbt.calls]
    assert [line.partition(" --select ")[2] for line in lines] == [
        "a_ledger a_committed",
        "a_ledger a_committed b_ledger b_committed",
    ]
    given = [json.loads(line.split(" --vars ")[1].partition(" --select ")[0]) for line in lines]
    draft = {"from": DAYS[0], "source": "landing"}
    common = {"spark_cdc_replay": draft, "spark_cdc_skip_guards": ["a.empty"]}
    first = {"business_date": DAYS[0], "spark_cdc_load_type": {"a": "full"}}
    assert given == [common | first, common | {"business_date": DAYS[1]}]
    said = capsys.readouterr().err
    assert f"The replay failed at {DAYS[1]}. Readers see the state from before it." in said
    assert f"\n  spark-cdc replay a b --from {DAYS[0]} --skip-guards a.empty\n" in said
