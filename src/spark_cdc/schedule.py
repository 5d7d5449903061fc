"""What is loaded next, and the one loop that loads it.

A lane is a queue of steps, one after the other: the dates of an entity, dates that several entities
load at once, or entities that are loaded one by one. Lanes go on side by side, a step of each per
round. A lane that fails stops its own later steps.
"""

from __future__ import annotations

import re
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TextIO, TypeVar

from spark_cdc import business_date, console, dbt_runner
from spark_cdc.errors import SparkCdcError, advice

PAUSE = 5.0  # seconds before the first retry; then twice as long
# Words of Spark, Thrift and metastores for what may be gone by the next attempt, as is a commit of
# another run, and a server that does not answer. All else is in the data, the settings or the code.
TRANSIENT = re.compile(
    r"FailedToConnect|TTransportException|Connection (?:refused|reset)|Broken pipe|timed out"
    r"|Invalid SessionHandle|EOFError|TSocket read 0 bytes|Could not connect|Lock wait|deadlock"
    r"|lock could not be obtained",
    re.IGNORECASE,
)


@dataclass
class Lane:
    """Steps that are done one after the other.

    waiting: what is to be done, in order; done: what is committed.
    failed: why a step failed, behind its name; nothing later was begun. problem: the same alone.
    attempts: how often the first of the steps that wait has failed.
    not_before: when it is tried again.
    """

    name: str
    waiting: deque[str] = field(default_factory=deque)
    done: list[str] = field(default_factory=list)
    failed: str = ""
    problem: str = ""
    attempts: int = 0
    not_before: float = 0


@dataclass(frozen=True)
class Outcome:
    """What came of a step.

    is_committed: whether it is loaded. failure: what failed, be it after the commit.
    is_transient: whether it is known that the next attempt may succeed.
    """

    is_committed: bool
    failure: str = ""
    is_transient: bool = False


AnyLane = TypeVar("AnyLane", bound=Lane)


def due(lanes: Sequence[AnyLane], now: float) -> tuple[list[AnyLane], float]:
    """Return the lanes whose first step comes next, and the seconds until then."""
    live = [lane for lane in lanes if lane.waiting and not lane.failed]
    wait = max(0.0, min((lane.not_before for lane in live), default=now) - now)
    return [lane for lane in live if lane.not_before <= now + wait], wait


def settle(lane: Lane, outcome: Outcome, now: float, retries: int) -> str:
    """Note what came of the first step of a lane; return what to print of it, if anything."""
    step = lane.waiting[0]
    title = "  ".join(part for part in (lane.name, step) if part)
    if outcome.is_committed:
        lane.done.append(lane.waiting.popleft())
        lane.attempts = 0
        if outcome.failure:
            lane.problem = outcome.failure
            lane.failed = f"{step} is committed, but {outcome.failure}"
        return ""
    is_transient = outcome.is_transient or TRANSIENT.search(outcome.failure)
    if is_transient and lane.attempts < retries:
        pause = PAUSE * 2**lane.attempts
        lane.attempts += 1
        lane.not_before = now + pause
        return f"{title}  failed, next attempt in {pause:.0f} s: {brief(outcome.failure)}"
    lane.problem, lane.failed = outcome.failure, f"{step}: {outcome.failure}"
    return f"{title}  failed"  # the summary, or the error, says why


def brief(message: str) -> str:
    """Return what tells most of a message in one line: not dbt's own first one."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    told = [
        line for line in lines if not re.match(r"(\w+: )?(Runtime|Compilation|Database) Err", line)
    ]
    return (told or lines or [""])[0][:200]


def error(what: str, lane: Lane, again: str, later: str = "") -> SparkCdcError:
    """Return the error of a lane that failed: its message, and the commands that lead on.

    again: the command to repeat, where the message has none. later: where it has one, what to do
    after it.
    """
    told, step = advice(lane.problem)
    if not step:
        return SparkCdcError(f"{what}\n{told}", f"When the cause is gone:\n{again}")
    return SparkCdcError(f"{what}\n{told}", "\n".join(part for part in (step, later) if part))


def work(
    dbt: dbt_runner.Dbt,
    lanes: list[AnyLane],
    load: Callable[[list[AnyLane], console.Screen], Sequence[Outcome]],
    again: str,
    retries: int = 0,
    refresh: Callable[[list[AnyLane], console.Screen], None] | None = None,
    out: TextIO | None = None,
) -> None:
    """Load what waits until nothing is left that can be loaded.

    load: loads the first step of some lanes, and returns what came of each.
    again: the command that goes on after an interrupt.
    refresh: takes from lanes whose step has failed what another run has committed since.
    out: where lines go, if not to stdout.
    """
    screen = console.Screen(sum(len(lane.waiting) for lane in lanes), "load", out or sys.stdout)

    def interrupted() -> str:
        done = sum(len(lane.done) for lane in lanes)
        left = sum(len(lane.waiting) for lane in lanes)
        said = ", ".join(dbt.committed) or "no entity"
        return (
            f"interrupted: {done} of {done + left} loads are done. Of those under way, {said} has"
            " reported a commit. A load is atomic; spark-cdc status lists the committed ones.\n"
            f"next: {again}"
        )

    try:
        with dbt.ends_at_once(interrupted):
            while True:
                ready, wait = due(lanes, time.monotonic())
                if not ready:
                    return
                time.sleep(wait)
                if refresh and any(lane.attempts for lane in ready):
                    refresh(ready, screen)
                    ready = [lane for lane in ready if lane.waiting]
                if not ready:
                    continue
                name = business_date.few(sorted({lane.waiting[0] for lane in ready}))
                screen.advance(name)
                for lane, outcome in zip(ready, load(ready, screen), strict=True):
                    before = len(lane.waiting)
                    said = settle(lane, outcome, time.monotonic(), retries)
                    count = before if lane.failed else before - len(lane.waiting)
                    if said:
                        screen.line(said)
                    screen.advance(name, count)
    finally:
        screen.close()
