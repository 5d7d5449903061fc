"""What the tests prove, capability by capability, for the summary at the end of a run.

A test names its capability beside itself: `pytestmark = pytest.mark.proves("replay")` for a file,
the same as a decorator for one test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

PROVED = {
    "load types": "full, delta and event loads, and full snapshots among them, give the right rows",
    "change events": "order, key changes, partial rows, truncates and late events are resolved",
    "event formats": "each format's messages become the right events, or are refused",
    "commit and crash": "a load is visible whole or not at all, whatever is killed or runs beside",
    "input": "every file and every record is loaded, rejected with a reason, or stops the load",
    "values": "a value keeps its meaning from source to ledger, or its row is rejected",
    "hashing": "keys and values hash by the specification, in Spark as in the reference",
    "guards": "empty, shrunken and suspicious loads are refused, and can be let through",
    "quarantine": "rejected rows are kept with reasons, and their keys stay as they were",
    "rules": "rows that break a rule are counted, quarantined, or stop the load",
    "schema change": "columns are added, dropped, renamed and change type, without false updates",
    "replay": "the past is loaded again out of sight and replaced at once",
    "backfill": "many dates in one pass leave what single loads would have left",
    "import": "a history of another tool becomes the loads that would have left it",
    "undo": "loads are taken back, brought back, tagged and compared",
    "branches": "loads are tried beside production without touching it, and planned",
    "maintenance": "compaction, vacuum and verification keep every row and find every damage",
    "sensitive": "restricted values are shown to nobody else, and can be erased",
    "views": "versions, change feeds and bitemporal views agree with the loads",
    "publish": "published tables follow their entity, whatever happens to it",
    "source feeds": "change feeds of Delta and Iceberg tables are read without gap or repeat",
    "streams": "messages reach their business time exactly once, in files that loads read",
    "file formats": "the same loads on Parquet, ORC, Delta, Iceberg and S3",
    "command line": "commands do what they say, end with their codes, and name the next step",
    "new entities": "sample files and column lists become entities that load",
    "report": "report, status and notifications show what is in the tables",
    "settings": "wrong settings are refused before anything is written, with what is accepted",
    "examples": "the examples of the README run as shown",
    "house": "layout, docs, packages and style are what contributors are told",
    "harness": "the oracles and generators that other tests trust are right",
}


def summary(reports: Iterable[tuple[str, str, int, float]]) -> list[str]:
    """Lines for people: what was proved, by how many cases, in how many seconds.

    Args:
        reports: of each test its capability, outcome (passed, failed, skipped), cases, seconds.
    """
    cases: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for capability, outcome, count, took in reports:
        seconds[capability] += took
        if outcome == "passed":
            cases[capability] += count
        elif outcome == "failed":
            bad[capability] += 1
    return [
        f"{name:<16} {cases[name]:>6} cases {seconds[name]:>6.0f} s  "
        + (f"{bad[name]} FAILED: not proved that {said}" if bad[name] else said)
        for name, said in PROVED.items()
        if cases[name] or bad[name]
    ]
