"""The parts beside the core, and the extras of the distribution that bring what they need.

The core (this folder and `commands`) imports none of them. Which command belongs to which part the
command line knows (cli.COMMANDS).
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from types import ModuleType

from spark_cdc.errors import UsageError

# By extra of pyproject.toml: the modules that it brings.
EXTRAS: Mapping[str, Sequence[str]] = {
    "dbt": ("dbt", "dbt_common"),
    "openlineage": ("openlineage",),
    "report": ("vl_convert",),
    "scaffold": ("pyspark",),
    "server": ("psutil", "pyspark"),
    "stream": ("pyspark",),
    "synthetic": ("pyspark",),
}


def lacking(extra: str) -> list[str]:
    """Return the modules of an extra that are not installed; none is imported."""
    return [name for name in EXTRAS[extra] if importlib.util.find_spec(name) is None]


def require(extra: str, what: str) -> None:
    """Raise UsageError unless all modules of an extra are installed.

    what: what needs it, as the message begins.
    """
    if names := lacking(extra):
        verb = "is" if len(names) == 1 else "are"
        raise missing(extra, f"{what} needs {' and '.join(names)}, which {verb} not installed.")


def missing(extra: str, message: str) -> UsageError:
    """Return the error of an extra that is not installed, with the command that installs it."""
    return UsageError(message, f"pip install 'spark-cdc[{extra}]'")


def load(module: str) -> ModuleType:
    """Return a module below this package: of a part, or of a command; imported when it is asked."""
    return importlib.import_module(f"spark_cdc.{module}")
