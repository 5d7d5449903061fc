"""Kills the Spark server or dbt at the statements of a load, and loads again.

A point is a target (`server` or `dbt`), a cell, a load, a statement and a phase: before it, while
it runs, or when it has ended and dbt does not know yet. At each point:

1. a load runs to the point and is held there, and the target gets SIGKILL;
2. what readers see then is the state before the load or the state after it, in all views;
3. the same command succeeds, and all is as it is without a fault, cdc_loads included.

One point each of several cells, all in schemas of their own, share a kill of the server. Loads go
on from healed states: a cell's four loads in a row, then a new schema.
"""

from __future__ import annotations

import random
import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from faults.cells import DATES, Cell
from faults.lab import Lab, Run, State, differences
from faults.proxy import Proxy, Statement, Trap

PHASES = ("before", "during", "after")
# Statements that change what is stored; dbt puts a comment in front.
WRITES = re.compile(
    r"(?s)\s*(/\*.*?\*/\s*)?(insert|create (?!or replace temp)|alter (table|view)|drop)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Point:
    """A statement of a load and the phase in which the target is killed.

    delay: seconds that the statement has run by then, if the phase is `during`.
    keeps_line: the server does not learn that dbt is gone, so that the statement goes on while
        the load is repeated.
    """

    target: str
    cell: Cell
    step: str
    place: int
    phase: str
    delay: float = 0.0
    keeps_line: bool = False

    def __str__(self) -> str:
        line = ", line kept" if self.keeps_line else ""
        after = f" {self.delay:.2f} s" if self.phase == "during" else ""
        return (
            f"{self.target} killed {self.phase}{after}{line} statement {self.place} of the load"
            f" '{self.step}' of {self.cell.name}"
        )


@dataclass
class Count:
    """Points that were tried."""

    by_target: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    not_reached: int = 0
    statements: set[tuple[str, str, int]] = field(default_factory=set)

    def add(self, point: Point, seen: str) -> None:
        self.by_target[point.target] = self.by_target.get(point.target, 0) + 1
        self.seen[seen] = self.seen.get(seen, 0) + 1
        self.statements.add((point.cell.name, point.step, point.place))

    @property
    def total(self) -> int:
        return sum(self.by_target.values())


def points(lab: Lab, target: str, every: int, seed: int) -> dict[str, dict[str, deque[Point]]]:
    """One of `every` points of a target, by cell and load, in random order.

    `every` 1 gives each statement of each load in each phase. Those that change something come
    first.
    """
    chosen: dict[str, dict[str, deque[Point]]] = {}
    for cell in lab.cells:
        chosen[cell.name] = {}
        for step in lab.steps:
            chance = random.Random(f"{seed} {target} {cell.name} {step}")
            script = lab.references[cell.name].scripts[step]
            found = [
                Point(
                    target,
                    cell,
                    step,
                    statement.place,
                    phase,
                    chance.uniform(0, 1.2) * statement.seconds if phase == "during" else 0.0,
                    target == "dbt" and phase == "during" and chance.random() < 0.5,
                )
                for statement in script
                for phase in PHASES
            ]
            chance.shuffle(found)
            changing = [p for p in found if WRITES.match(script[p.place].sql)]
            others = [p for p in found if not WRITES.match(script[p.place].sql)]
            wanted = changing[: -(-len(changing) // every)] + others[: len(others) // every]
            chosen[cell.name][step] = deque(wanted)
    return chosen


@dataclass
class Chain:
    """A cell's schema and how far its loads are."""

    cell: Cell
    schema: str
    states: dict[str, State] = field(default_factory=dict)


@dataclass
class Attempt:
    """A load that is on its way to its point."""

    point: Point
    chain: Chain
    trap: Trap
    proxy: Proxy
    run: Run


def sweep(
    lab: Lab,
    target: str,
    every: int,
    seed: int,
    say: Callable[[str], None] = print,
    until: float = float("inf"),
    side_by_side: int = 6,
) -> Count:
    """Tries points of a target until there are none left, or until a time (time.monotonic())."""
    waiting = points(lab, target, every, seed)
    count = Count()
    while any(queue for steps in waiting.values() for queue in steps.values()):
        left = [c for c in lab.cells if any(waiting[c.name].values())]
        for group in _groups(left, side_by_side):
            chains = [Chain(cell, lab.schema()) for cell in group]
            for step in lab.steps:
                if time.monotonic() > until:
                    return count
                _round(lab, target, step, chains, waiting, count, say)
                if not any(waiting[c.name][s] for c in group for s in lab.steps):
                    break
    return count


def _groups(cells: list[Cell], size: int) -> Iterable[list[Cell]]:
    return [cells[i : i + size] for i in range(0, len(cells), size)]


def _round(
    lab: Lab,
    target: str,
    step: str,
    chains: list[Chain],
    waiting: dict[str, dict[str, deque[Point]]],
    count: Count,
    say: Callable[[str], None],
) -> None:
    """One load of each chain: interrupted where a point is left, then repeated."""
    attempts = []
    for chain in chains:
        lab.land(chain.cell, step)
        queue = waiting[chain.cell.name][step]
        if queue:
            attempts.append(_begin(lab, queue.popleft(), chain))
    reached = [a for a in attempts if is_reached(a.trap, a.run)]
    for attempt in attempts:
        if attempt not in reached:
            say(f"not reached: {attempt.point}")
            count.not_reached += 1
            attempt.proxy.close()
    _kill(lab, target, reached)
    cursor = lab.server.cursor()
    for attempt in reached:
        seen = _look_after(lab, attempt, cursor)
        count.add(attempt.point, seen)
        say(f"{seen:>6} seen: {attempt.point}")
    again = [(c, lab.start([c.cell], DATES[step], c.schema)) for c in chains]
    for chain, run in again:
        point = next((a.point for a in attempts if a.chain is chain), "no point")
        assert run.wait() == 0, f"{point}\nnot healed:\n{run.printed[-3000:]}"
    for attempt in attempts:
        attempt.proxy.close()
    for chain, _ in again:
        point = next((a.point for a in attempts if a.chain is chain), "no point")
        try:
            lab.check(chain.cell, step, chain.schema, cursor)
        except AssertionError as error:
            raise AssertionError(f"{point}\nafter the repeated load: {error}") from error


def trap_at(place: int, phase: str) -> Trap:
    """A trap for the statement at a place of a run."""
    return Trap(lambda statement: statement.place == place, phase)


def _begin(lab: Lab, point: Point, chain: Chain) -> Attempt:
    trap = trap_at(point.place, point.phase)
    proxy = lab.proxy(trap)
    run = lab.start([point.cell], DATES[point.step], chain.schema, proxy.port)
    return Attempt(point, chain, trap, proxy, run)


def is_reached(trap: Trap, run: Run) -> bool:
    """Waits until a trap holds its statement, or its run has ended without it."""
    while not trap.reached.wait(0.05):
        if run.code is not None:
            return trap.reached.is_set()
    return True


def _kill(lab: Lab, target: str, attempts: list[Attempt]) -> None:
    """Kills what is to be killed, after the longest of the delays."""
    if not attempts:
        return
    if target == "server":
        time.sleep(max(a.point.delay for a in attempts))
        lab.server.kill()
        for attempt in attempts:
            attempt.proxy.cut()
        for attempt in attempts:
            code = attempt.run.wait()
            assert code == 1, f"{attempt.point}: dbt ended with {code}\n{attempt.run.printed}"
        lab.server.start()
        return
    for attempt in sorted(attempts, key=lambda a: a.point.delay):
        passed = time.monotonic() - (attempt.trap.statement or _never()).began
        time.sleep(max(0.0, attempt.point.delay - passed))
        attempt.proxy.keeps_server = attempt.point.keeps_line
        attempt.run.kill()
        attempt.proxy.cut(attempt.point.keeps_line)


def _never() -> Statement:
    raise AssertionError("a trap without a statement")


def _look_after(lab: Lab, attempt: Attempt, cursor: object) -> str:
    """Which state readers see: `before` or `after`, or an error if it is neither."""
    cell, step = attempt.point.cell, attempt.point.step
    states = lab.references[cell.name].states
    before = {"first": None, "later": "first", "checkpoint": "later", "again": "later"}[step]
    # the last load is repeated with other data: the state before is what it was with the old ones
    before = "checkpoint" if step == "again" else before
    try:
        state = lab.look(cell, attempt.chain.schema, cursor)
    except Exception as error:
        raise AssertionError(f"{attempt.point}\nreaders get an error: {error}") from error
    after = states[step]
    if before is None:  # views appear one by one: those that are there are whole
        if not state or not any(state.values()):
            return "before"
        assert all(rows == after[view] for view, rows in state.items()), (
            f"{attempt.point}\n{differences(state, after)}"
        )
        return "after"
    if state == states[before]:
        return "before"
    assert state == after, (
        f"{attempt.point}\nreaders see neither the state before:\n"
        f"{differences(state, states[before])}\nnor the state after:\n{differences(state, after)}"
    )
    return "after"
