"""What the stream of an entity remembers beside Spark's checkpoint: states, one file each.

A state is written under a new number and never again, so that no file system has to replace a file
in one step: one that was not written whole is as good as not written. Two processes that write the
journal of one entity meet at a number, and the second one stops.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Protocol

from spark_cdc.errors import SparkCdcError
from spark_cdc.stream.times import State

KEPT = 20  # states; the last one counts, the others are for whoever looks for what went wrong


class Storage(Protocol):
    """Files, as stream.files has them."""

    def exists(self, path: str) -> bool: ...
    def names(self, folder: str) -> list[str]: ...
    def found(self, pattern: str) -> list[str]: ...
    def read(self, path: str) -> str: ...
    def write(self, path: str, text: str, anew: bool = False) -> bool: ...
    def delete(self, path: str) -> None: ...


def dumped(state: State) -> str:
    """Return a state as JSON."""
    return json.dumps(dataclasses.asdict(state), sort_keys=True)


def loaded(text: str) -> State | None:
    """Return the state in a text; None if it was not written whole."""
    try:
        found: dict[str, Any] = json.loads(text)
    except json.JSONDecodeError:
        return None
    return State(**found | {"open": {int(time): count for time, count in found["open"].items()}})


class Journal:
    """The states of an entity in a folder; `state` is the last one."""

    def __init__(self, files: Storage, folder: str) -> None:
        self._files = files
        self._folder = folder
        self._numbers = sorted(int(name.split(".")[0]) for name in files.names(folder))
        states = (loaded(files.read(self._file(number))) for number in reversed(self._numbers))
        found = next((state for state in states if state), None)
        self.state = found or State()

    def _file(self, number: int) -> str:
        return f"{self._folder}/{number:010d}.json"

    def write(self, state: State) -> None:
        """Remember a state.

        Raises SparkCdcError if another process has gone on with this journal.
        """
        number = self._numbers[-1] + 1 if self._numbers else 0
        if not self._files.write(self._file(number), dumped(state)):
            raise SparkCdcError(
                f"another process writes {self._folder}: two streams of one entity",
                "End one of them; the other goes on where both were.",
            )
        self._numbers.append(number)
        self.state = state
        while len(self._numbers) > KEPT:
            self._files.delete(self._file(self._numbers.pop(0)))
