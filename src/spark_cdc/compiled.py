"""Compiled Jinja, kept from one command to the next.

dbt compiles each macro that a command calls, and these are hundreds. Their code is the same until
their text changes, so jinja2's own cache of bytecode keeps it in the state folder. dbt's
templates have no file, and jinja2 asks its cache for files alone; hence the change here.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import stat
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from jinja2.utils import internalcode

from spark_cdc import project
from spark_cdc.errors import SparkCdcError

FOLDER = "jinja"
SHORT = 100  # characters; what is shorter is compiled as fast as it is read
MOST = 5_000  # files, some five times as many as dbt and the package have macros that are longer
# what a damaged file can raise, beyond what jinja2 looks for
DAMAGED = (
    OSError,
    EOFError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ImportError,
    pickle.UnpicklingError,
)


class _Cache(jinja2.FileSystemBytecodeCache):
    """A cache that does without a file that can't be read or written."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except DAMAGED:
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError):
            super().dump_bytecode(bucket)


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Take the code of templates from the state folder while this holds, and put new code there.

    Without a state folder, or if others may write in it (the code is run), templates are compiled
    as ever; so they are while dbt's macros are debugged.
    """
    place = _place()
    if place is None or os.environ.get("DBT_MACRO_DEBUGGING"):
        yield
        return
    cache = _Cache(str(place), "%s.code")
    if sum(1 for _ in os.scandir(place)) > MOST:
        cache.clear()
    ordinary: Any = jinja2.Environment.compile

    def compiled(
        environment: jinja2.Environment,
        source: Any,
        name: str | None = None,
        filename: str | None = None,
        *more: Any,
        **options: Any,
    ) -> Any:
        if more or options or not isinstance(source, str) or len(source) < SHORT:
            return ordinary(environment, source, name, filename, *more, **options)
        # what code depends on beside its text is Jinja's language, as dbt and versions have it
        kind = type(environment)
        language = (kind.__module__, kind.__qualname__, *sorted(environment.extensions))
        key = "\0".join((*_versions(), *language, str(name), str(filename), source))
        bucket = cache.get_bucket(environment, key, None, source)
        if bucket.code is None:
            bucket.code = ordinary(environment, source, name, filename)
            cache.set_bucket(bucket)
        return bucket.code

    changed: Any = jinja2.Environment
    changed.compile = internalcode(compiled)
    try:
        yield
    finally:
        changed.compile = ordinary


def _place() -> Path | None:
    """Return the folder in the state folder, made if need be; None if it can't be used."""
    with contextlib.suppress(SparkCdcError, OSError):
        state = project.state_dir()
        if state.is_dir():
            place = state / FOLDER
            place.mkdir(mode=stat.S_IRWXU, exist_ok=True)
            found = place.stat()
            others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            return place if found.st_uid == os.getuid() and not others else None
    return None


@functools.cache
def _versions() -> tuple[str, ...]:
    return tuple(version(name) for name in ("jinja2", "dbt-common"))
