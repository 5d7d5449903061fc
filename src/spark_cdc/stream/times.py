"""Which business time a batch goes to, and when a business time is closed.

Times are whole seconds since 1970-01-01 UTC, timestamps of messages milliseconds. A batch goes as a
whole to the business time of its newest message, and to the first one that is not closed if that
one is. A business time is closed when every partition has passed it: then nothing more goes there.
Partitions pass a time with their messages, and, where all that a partition had was taken, with the
clock. The clock closes, it names no business time: what a batch was given is remembered, so that
its repetition goes to the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class State:
    """What is known of an entity's landing.

    source: where the messages come from, in what form, and where they go to.
    batch: the last one that began; -1 where none did. time: its business time.
    done: whether it has landed as a whole.
    floor: the first business time that is not closed.
    open: business times that have messages and no marker yet, with the number of messages.
    last: the last one that got a marker.
    high: highest timestamp by partition. offsets: the next offset by partition.
    messages, rejected: how many have landed and how many were rejected.
    """

    source: Mapping[str, str] = field(default_factory=dict)
    batch: int = -1
    time: int = 0
    done: bool = True
    floor: int = 0
    open: Mapping[int, int] = field(default_factory=dict)
    last: int | None = None
    high: Mapping[str, int] = field(default_factory=dict)
    offsets: Mapping[str, int] = field(default_factory=dict)
    messages: int = 0
    rejected: int = 0


@dataclass(frozen=True)
class Marker:
    """Closes a business time; `previous` is the one with messages before it, None for the first."""

    time: int
    previous: int | None


def start_of(seconds: float, interval: int) -> int:
    """Return where the interval begins that a time lies in."""
    return int(seconds // interval) * interval


def begin(state: State, batch: int, timestamps: Iterable[int], now: float, interval: int) -> State:
    """Return the state with a batch that begins; one that is repeated keeps its business time.

    timestamps: the highest of each partition. One in the future counts as the present: else a
    single clock that is wrong would hold all later loads.
    """
    if batch == state.batch:
        return state
    newest = min(max(timestamps, default=now * 1000) / 1000, now)
    time = max(start_of(newest, interval), state.floor)
    return replace(state, batch=batch, time=time, done=False)


def finish(
    state: State,
    messages: int,
    rejected: int,
    high: Mapping[str, int],
    offsets: Mapping[str, int],
    now: float,
) -> State:
    """Return the state with the batch landed: its messages, timestamps, offsets by partition."""
    passed = {
        name: max(min(time, int(now * 1000)), state.high.get(name, 0))
        for name, time in high.items()
    }
    there = state.open.get(state.time, 0) + messages
    return replace(
        state,
        done=True,
        open={**state.open, **({state.time: there} if messages else {})},
        high={**state.high, **passed},
        offsets={**state.offsets, **offsets},
        messages=state.messages + messages,
        rejected=state.rejected + rejected,
    )


def close(state: State, taken: Mapping[str, float] | float, interval: int) -> State:
    """Return the state with the floor behind the last messages that all partitions have passed.

    taken: up to which time of the clock (seconds) all that a partition had was taken, by partition
    where that is known; or for all of them. A partition that never had a message has no say.
    """
    if not state.high:
        return state
    passed = min(
        max(high / 1000, taken.get(name, 0) if isinstance(taken, Mapping) else taken)
        for name, high in state.high.items()
    )
    # a batch that has begun lands where it began to, also when it is repeated later
    limit = start_of(passed if state.done else min(passed, state.time), interval)
    over = max((time for time in state.open if time < limit), default=None)
    if over is None:
        return state
    return replace(state, floor=max(state.floor, start_of(over, interval) + interval))


def due(state: State) -> list[Marker]:
    """Return the markers of what is closed and lacks one, oldest first."""
    times = sorted(time for time in state.open if time < state.floor)
    return [
        Marker(time, previous) for time, previous in zip(times, [state.last, *times], strict=False)
    ]


def marked(state: State, markers: Iterable[Marker]) -> State:
    """Return the state with these markers set."""
    times = [marker.time for marker in markers]
    left = {time: count for time, count in state.open.items() if time not in times}
    return replace(state, open=left, last=max(times, default=state.last))
