"""The scheduler of loads: which step of which lane comes next, retries, failures, interrupts."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from spark_cdc import console, schedule
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
    assert capsys.readouterr().out == "a  1  failed: 1 row is bad\n"


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
