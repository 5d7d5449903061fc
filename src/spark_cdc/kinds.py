"""Kinds of models and formats, each list once: those of the macros, for commands without dbt.

tests/test_kinds.py holds them equal to what the macros accept.
"""

from __future__ import annotations

MODELS = ("ledger", "committed", "current", "history")  # of each entity, beside stg_
EXTRA_MODELS = ("latest", "versions", "changes", "rejects", "quality")  # if asked for
ARCHIVE_MODELS = ("event_versions", "bitemporal")  # the same, of events that are kept
# What models of an entity end with, the longer before one that it ends with.
ENDINGS = ("events", *ARCHIVE_MODELS, *MODELS, *EXTRA_MODELS)
APART = "_sensitive"  # of models that show sensitive columns

SOURCE_FORMATS = ("csv", "json", "parquet", "orc", "avro", "table", "change_feed")
SAMPLE_FORMATS = ("csv", "json", "parquet", "orc")  # from which an entity is inferred
TABLE_FORMATS = ("delta", "iceberg")
FILE_FORMATS = ("parquet", "orc", *TABLE_FORMATS)  # of ledgers
EVENT_FORMATS = (
    *("canal", "change_arrays", "debezium", "debezium_flat", "delta_cdf", "dms", "dms_stream"),
    *("flagged_rows", "goldengate", "iceberg_changelog", "maxwell", "sqlserver_cdc", "wal2json"),
)
