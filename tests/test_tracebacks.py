"""What is printed of dbt's messages: the cause first, and no stacks."""

from __future__ import annotations

import io

import pytest

from spark_cdc import tracebacks

pytestmark = pytest.mark.proves("command line")

READ = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///in/b.csv. "
SERVER = f"""\
10:00:01    Runtime Error in model orders_ledger (models/orders/orders_ledger.sql)
  Database Error
    org.apache.hive.HiveSQLException: Error running query: org.apache.spark.SparkException: {READ}
    \tat org.apache.spark.sql.Errors$.runningQueryError(Errors.scala:43)
    \tat java.base/java.lang.Thread.run(Thread.java:840)
    Caused by: org.apache.spark.SparkException: {READ}
    \tat scala.collection.Iterator$$anon$9.hasNext(Iterator.scala:593)
    \t... 21 more
    \tSuppressed: org.apache.spark.util.Utils$OriginalTryStackTraceException: Full stacktrace of …
    \t\tat org.apache.spark.sql.Errors$.cannotReadFilesError(Errors.scala:904)
    Caused by: org.apache.spark.SparkIllegalArgumentException: CSV header does not conform.
     Header: id, w
    CSV file: file:///in/b.csv
    \tat org.apache.spark.sql.catalyst.csv.CSVHeaderChecker.check(CSVHeaderChecker.scala:115)
    \t... 3 more
"""
AROUND = "10:00:00  1 of 5 START\n", "10:00:02  Done. PASS=1\nand at noon (or so)\n"


def test_the_cause_stands_first_and_the_stack_is_folded():
    folded = f"""\
10:00:01    Runtime Error in model orders_ledger (models/orders/orders_ledger.sql)
  Database Error
    org.apache.spark.SparkIllegalArgumentException: CSV header does not conform.
     Header: id, w
    CSV file: file:///in/b.csv
    which led to: org.apache.hive.HiveSQLException: Error running query: \
org.apache.spark.SparkException: {READ.rstrip()}
    The CSV files of one load have different headers. Deliver them alike, then run the same command\
 again.
    (9 more lines, the stack of the server: logs/dbt.log)
"""
    assert tracebacks.fold(SERVER) == folded
    assert tracebacks.fold(AROUND[0] + SERVER + AROUND[1]) == AROUND[0] + folded + AROUND[1]
    shown = io.StringIO()
    output = tracebacks.Output(shown)
    assert output.write(SERVER) == len(SERVER)
    assert output.getvalue() == shown.getvalue() == folded


def test_causes_that_lead_nowhere_get_advice():
    conform = "org.apache.spark.SparkIllegalArgumentException: CSV header does not conform."
    for cause, advice in (
        ("java.io.EOFException: Unexpected end of input stream", "A compressed file is cut off."),
        ("java.io.IOException: No space left on device", "A disk of the server is full."),
        ("org.apache.avro.AvroRuntimeException: java.io.EOFException", "An Avro file is cut off"),
        ("org.apache.avro.InvalidAvroMagicException: Not an Avro data file", "An Avro file is"),
    ):
        folded = tracebacks.fold(SERVER.replace(conform, cause))
        assert f"    {advice}" in folded
        assert folded.index(cause) < folded.index(advice)
        assert "different headers" not in folded
    assert not any(
        advice in tracebacks.fold("No space left on device")
        for advice in tracebacks.ADVICE.values()
    )


@pytest.mark.parametrize(
    ("cause", "around"),
    [
        ("java.lang.NullPointerException: null", READ.replace("b.csv", "b.avro")),
        ("java.io.EOFException: null", "Could not read file: file:/in/b.avro"),
    ],
)
def test_a_file_of_avro_that_is_cut_off_gets_advice(cause: str, around: str) -> None:
    conform = "org.apache.spark.SparkIllegalArgumentException: CSV header does not conform."
    folded = tracebacks.fold(SERVER.replace(conform, cause).replace(READ, around))
    assert folded.count("An Avro file is cut off, or is none. Deliver it again") == 1
    assert "An Avro" not in tracebacks.fold(SERVER.replace(conform, cause))


def test_a_traceback_is_folded():
    text = (
        "10:00:00  Encountered an error:\nboom\n10:00:01  Traceback (most recent call last):\n"
        '  File "a.py", line 1, in f\n    g()\n\n  File "b.py", line 2\nValueError: boom\n'
    )
    assert tracebacks.fold(text) == (
        "10:00:00  Encountered an error:\nboom\n10:00:01  (the stack is in logs/dbt.log)\n"
        "ValueError: boom\n"
    )


def test_what_has_no_stack_stays():
    text = (
        "10:00:00  Compilation Error in model x\n  orders: look at it (as ever)\n\n"
        "  > in macro _refuse_load (macros/ledger/refuse.sql)\n"
        "    'Project [*]\n    +- 'UnresolvedRelation [t], [], false\n"
    )
    assert tracebacks.fold(text) == text
    assert tracebacks.fold("") == ""


def test_bytes_that_are_no_text_are_not_printed():
    assert tracebacks.fold("in \x1f\ufffd\x08\x00caf\ufffd, \x1b[31mred\x1b[0m\tä\n") == (
        "in \ufffdcaf\ufffd, \x1b[31mred\x1b[0m\tä\n"
    )
