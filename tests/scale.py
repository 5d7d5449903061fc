"""Which tests a run has, and how much they prove.

A test belongs to the suite of the markers beside it: `integration`, `full` (only in `make
test-all`), `browser`, `cluster` and `catalogues` (need other programs); a test with none of them is
in `make test`. Each suite holds the one before it, so that a server and a project are set up once.
`docs/testing.md` says what each suite costs; tests/test_suites.py holds both together.
"""

from __future__ import annotations

import os

SUITES = ("test", "integration", "all")
# what is run; when pytest is called by hand: integration
SUITE = os.environ.get("SPARK_CDC_TEST_SUITE") or "integration"
if SUITE not in SUITES:
    raise SystemExit(f"SPARK_CDC_TEST_SUITE={SUITE!r}: one of {', '.join(SUITES)}")
ALL = SUITE == "all"
BROWSER = ALL or bool(os.environ.get("SPARK_CDC_TEST_BROWSER"))
CLUSTER = bool(os.environ.get("SPARK_CDC_TEST_CLUSTER"))
# kinds of Iceberg's catalogues, such as "jdbc rest"
CATALOGUES = os.environ.get("SPARK_CDC_TEST_CATALOGUES", "").split()

# which part of the suite, such as 2/4; empty for all of it
PART = os.environ.get("SPARK_CDC_TEST_PART", "")

# the format of the ledgers of `make test-formats`: orc, delta or iceberg
FORMAT = os.environ.get("SPARK_CDC_TEST_FORMAT", "")
# what servers need for it
WITH = [FORMAT] if FORMAT in ("delta", "iceberg") else []

# random histories of each suite that has them, all of its runs together
OF_SUITE = {"test": 150, "integration": 400, "all": 12_000}
HISTORIES = int(os.environ.get("SPARK_CDC_TEST_HISTORIES") or OF_SUITE[SUITE])


def suite_of(markers: set[str]) -> str:
    """The suite that the names of a test's markers put it into."""
    for name in ("cluster", "catalogues", "browser", "full", "integration"):
        if name in markers:
            return name
    return "test"


def is_wanted(markers: set[str]) -> bool:
    """Say whether this run has a test with markers of these names."""
    suite = suite_of(markers)
    if suite == "cluster":
        return CLUSTER
    if suite == "catalogues":
        return bool(CATALOGUES)
    if suite == "browser":
        return BROWSER
    if ALL or CLUSTER or CATALOGUES:
        return True
    return suite in ("test", SUITE)
