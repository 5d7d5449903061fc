"""How much a run of the tests proves: `make test` a part of everything, `make test-all` all of it.

What is marked `full` runs in the latter only; what is marked `cluster` in `make cluster` only; what
is marked `browser` in `make browser` and `make test-all`.
"""

from __future__ import annotations

import os

ALL = bool(os.environ.get("SPARK_CDC_TEST_ALL"))
BROWSER = ALL or bool(os.environ.get("SPARK_CDC_TEST_BROWSER"))
CLUSTER = bool(os.environ.get("SPARK_CDC_TEST_CLUSTER"))

# the format of the ledgers of `make test-formats`: orc, delta or iceberg
FORMAT = os.environ.get("SPARK_CDC_TEST_FORMAT", "")
# what servers need for it
WITH = [FORMAT] if FORMAT in ("delta", "iceberg") else []

# random histories of each suite that has them, all of its runs together
HISTORIES = int(os.environ.get("SPARK_CDC_TEST_HISTORIES") or (12_000 if ALL else 2_000))
