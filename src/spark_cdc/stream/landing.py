"""A batch into its folder, exactly once, and the markers of business times that are closed.

Spark hands a batch on again if it does not know that it has landed. Its business time is remembered
before it is written, and then it is written as a whole to a folder of its number: a repetition
finds the folder and begins anew, or finds that all is done.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import re
import threading
import time as clock
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from spark_cdc.errors import SparkCdcError
from spark_cdc.stream import Source, times
from spark_cdc.stream.journal import Journal, Storage


@dataclass(frozen=True)
class Summary:
    """What a batch has: messages; highest timestamp (ms) and next offset by partition."""

    messages: int
    high: Mapping[str, int]
    offsets: Mapping[str, int]


@dataclass(frozen=True)
class Reached:
    """The last batch that landed: its number, business time, and figures."""

    batch: int
    time: int
    messages: int
    rejected: int
    seconds: float


class Batch(Protocol):
    """Messages that Spark hands on, as stream.batches has them."""

    def summary(self) -> Summary: ...

    def write(self, place: str, aside: str) -> int:
        """Write the messages to a folder, and to another those that are not what they should be.

        Neither is there. Returns how many were rejected.
        """
        ...


def stamp(time: int) -> str:
    """Return a business time as names of loads have it."""
    return dt.datetime.fromtimestamp(time, dt.timezone.utc).strftime("%Y%m%dT%H%M%S")


class Landing:
    """The landing of an entity.

    is_read_only: whether only what is there is looked at, beside the stream that writes it.
    reached: what the last batch that landed says of itself, for lines of progress.
    """

    def __init__(self, entity: Source, files: Storage, is_read_only: bool = False) -> None:
        self.name: str = entity["name"]
        self.lock = threading.Lock()
        self.is_ending = False
        self.reached: Reached | None = None
        self._entity = entity
        self._interval: int = entity["interval"]
        self._files = files
        self._place = f"{entity['base']}/_stream/{self.name}"
        self.checkpoint = f"{self._place}/checkpoint"
        self.journal = Journal(files, f"{self._place}/journal")
        if not is_read_only:
            self._check()
            self._mark()

    def _check(self) -> None:
        """Refuse a checkpoint of another source, and a landing that has lost its checkpoint."""
        theirs = self.journal.state.source
        mine = {
            "kind": self._entity["kind"],
            "from": self._entity["from"],
            "encoding": self._entity["encoding"],
            "key_encoding": self._entity["key_encoding"],
            "path": self._entity["path"],
        }
        other = [name for name in mine if theirs and mine[name] != theirs.get(name)]
        if other:
            found = "; ".join(f"{n} was {theirs.get(n)!r}, is {mine[n]!r}" for n in other)
            raise SparkCdcError(
                f"{self.name}: the checkpoint in {self._place} is of another source: {found}",
                "Restore the source. Or start again with the other one: load the closed times, then"
                f" move {self._place} and the landing's folders away.",
            )
        batch = self.journal.state.batch
        if batch >= 0 and not self._files.exists(f"{self.checkpoint}/offsets/{batch}"):
            raise self._misfit(f"batch {batch} of the journal is not in {self.checkpoint}")
        if theirs:
            return
        there = self._files.found(f"{self._pattern}/batch=*")
        if there:
            raise SparkCdcError(
                f"{self.name}: {there[0]} is of another stream, of which there is no checkpoint in"
                f" {self._place}",
                "Bring the checkpoint back; or, to take all messages once more, move the landing's"
                " folders away.",
            )
        self.journal.write(replace(self.journal.state, source=mine))

    def _misfit(self, found: str) -> SparkCdcError:
        return SparkCdcError(
            f"{self.name}: checkpoint and journal in {self._place} do not fit together: {found}."
            " Going on could lose messages, or take them twice",
            "Bring both back as they were together; or, to take all messages once more, move them"
            " and the landing's folders away.",
        )

    @property
    def _path(self) -> str:
        return str(self._entity["path"])

    @property
    def _form(self) -> str:
        """What the folder of a business time looks like, with the letters of strftime."""
        return re.sub(r"\{business_date:([^{}]*)\}", r"\1", self._path)

    @property
    def _pattern(self) -> str:
        """What finds the folders of all business times."""
        return re.sub("%.", "*", self._form)

    def drop(self, before: int) -> list[int]:
        """Drop what is closed and of a business time before another; return these times."""
        # the folders that say the time; before them a file system writes the path in its own way
        form = re.sub("^[^%]*/", "", self._form)
        parts = form.count("/") + 1
        dropped = []
        for marker in self._files.found(f"{self._pattern}/_closed"):
            folder = marker.rpartition("/")[0]
            tail = "/".join(folder.split("/")[-parts:])
            with contextlib.suppress(ValueError):  # it is not of this entity
                moment = dt.datetime.strptime(tail, form).replace(tzinfo=dt.timezone.utc)
                if moment.timestamp() < before:
                    self._files.delete(folder)
                    dropped.append(int(moment.timestamp()))
        return sorted(dropped)

    def folder(self, time: int) -> str:
        """Return where a business time lies."""
        moment = dt.datetime.fromtimestamp(time, dt.timezone.utc)
        return re.sub(
            r"\{business_date:([^{}]*)\}", lambda match: moment.strftime(match[1]), self._path
        )

    def land(self, batch: Batch, number: int) -> None:
        """Land a batch, unless it has landed already and only Spark does not know."""
        with self.lock:
            if self.is_ending:
                raise InterruptedError("the stream ends; the next start takes this batch")
            state = self.journal.state
            if number == state.batch and state.done:
                return
            if number != (state.batch + 1 if state.done else state.batch):
                raise self._misfit(f"Spark hands on batch {number} after {state.batch}")
            started = clock.monotonic()
            summary = batch.summary()
            now = clock.time()
            state = times.begin(state, number, summary.high.values(), now, self._interval)
            self.journal.write(state)
            place = f"{self.folder(state.time)}/batch={number}"
            aside = f"{self._entity['base']}/_rejected/{self.name}/batch={number}"
            for folder in (place, aside):
                self._files.delete(folder)
            rejected = batch.write(place, aside) if summary.messages else 0
            landed = summary.messages - rejected
            self.journal.write(
                times.finish(state, landed, rejected, summary.high, summary.offsets, now)
            )
            seconds = clock.monotonic() - started
            self.reached = Reached(number, state.time, summary.messages, rejected, seconds)

    def close(self, taken: Mapping[str, float] | float) -> None:
        """Close what all partitions have passed: remember it, then set the markers.

        taken: as for times.close(). To be called with the lock.
        """
        state = times.close(self.journal.state, taken, self._interval)
        if times.due(state):
            self.journal.write(state)
            self._mark()

    def _mark(self) -> None:
        """Set the markers that are due, oldest first; the next state that is written says so."""
        markers = times.due(self.journal.state)
        for marker in markers:
            before = "first" if marker.previous is None else f"after-{stamp(marker.previous)}"
            text = json.dumps({"messages": self.journal.state.open[marker.time]})
            self._files.write(f"{self.folder(marker.time)}/_closed/{before}", text, anew=True)
        if markers:
            self.journal.state = times.marked(self.journal.state, markers)
