"""How much a run of the tests proves: `make test` a part of everything, `make test-all` all of it.

What is marked `full` runs in the latter only; what is marked `cluster` in `make cluster` only.
"""

from __future__ import annotations

import os

ALL = bool(os.environ.get("SPARK_CDC_TEST_ALL"))
CLUSTER = bool(os.environ.get("SPARK_CDC_TEST_CLUSTER"))

# random histories of each suite that has them, all of its runs together
HISTORIES = int(os.environ.get("SPARK_CDC_TEST_HISTORIES") or (12_000 if ALL else 2_000))
