"""What it costs to judge values, by type: texts that are cast, and cast and judged as staging does.

    python -m benchmarks.values --rows 2000000 --rounds 3

All cores, warm, in turn within each round; the best round by the clock. The rejects include those
that Spark itself makes null of. The texts are as Spark writes the type's values.
"""

from __future__ import annotations

import argparse
import os
import time

from pyspark.sql import SparkSession

from spark_cdc.jinja_bridge import load_macros

MACROS = load_macros()
TEXTS = {  # of a number `id`
    "bigint": "id",
    "decimal(18,2)": "cast(id * 0.37 as decimal(18,2))",
    "double": "id * 0.37",
    "date": "date_from_unix_date(id % 20000)",
    "timestamp": "timestamp_seconds(id * 977)",
    "timestamp_ntz": "timestamp_seconds(id * 977)",
}
CASES = [*((data_type, "UTC") for data_type in TEXTS), ("timestamp", "Europe/Berlin")]


def queries(data_type: str, zone: str) -> tuple[str, str]:
    """A query that casts and one that judges, too."""
    column = {"data_type": data_type, "format": None, "encoding": None, "nullable": True}
    entity = {"timezone": zone, "source": {"on_unexpected_column": "error", "text": True}}
    value = MACROS._cast(column, "raw", True, zone)
    condition = MACROS._reject_condition(column, "raw", "value", True, entity)
    cast = f"select raw, {value} as value from `{data_type}`"
    return (
        f"select count_if(value is null) as bad, bit_xor(xxhash64(value)) as hash from ({cast})",
        f"select count_if({condition}) as bad, bit_xor(xxhash64(value)) as hash from ({cast})",
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    spark = (
        SparkSession.builder.master(f"local[{os.cpu_count()}]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.codegen.hugeMethodLimit", "8000")
        .config("spark.driver.memory", "3g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    for data_type, text in TEXTS.items():
        texts = spark.range(args.rows).selectExpr(f"cast({text} as string) as raw").cache()
        texts.count()
        texts.createOrReplaceTempView(f"`{data_type}`")
    best: dict[tuple[str, str, int], float] = {}
    for _ in range(args.rounds + 1):  # the first one warms up
        for data_type, zone in CASES:
            for which, query in enumerate(queries(data_type, zone)):
                started = time.monotonic()
                found = spark.sql(query).first()
                seconds = time.monotonic() - started
                assert found and found.bad == 0, (data_type, found)
                key = (data_type, zone, which)
                best[key] = min(best.get(key, seconds), seconds)
    print("| Type | Cast, s | Cast and judged, s | Ratio |\n|---|---:|---:|---:|")
    for data_type, zone in CASES:
        cast, judged = (best[data_type, zone, which] for which in (0, 1))
        name = f"`{data_type}`" + (f", {zone}" if zone != "UTC" else "")
        print(f"| {name} | {cast:.2f} | {judged:.2f} | {judged / cast:.2f} |")


if __name__ == "__main__":
    main()
