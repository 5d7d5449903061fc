"""What the hash costs, against other encodings: the figures of docs/hash.md.

    python benchmarks/hash_encodings.py --rows 1000000 --rounds 5

One core, warm, the encodings in turn within each round. What counts is the JVM's CPU time, so that
other work on the machine disturbs less than it would a clock. It includes the scan of a Parquet
table of 5 uuid keys, 10 doubles, a bigint and a decimal. ANSI mode is off, since one of the
encodings that lost needs that. The temporary table is removed afterwards.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from spark_cdc.hashing import padded_keys
from spark_cdc.jinja_bridge import load_macros

KEYS = [f"key{number}" for number in range(1, 6)]
VALUES = [f"value{number}" for number in range(1, 11)]
MACROS = load_macros()
SECRET = "secret"


def md5(separator: str, pieces: list[str]) -> str:
    return f"unhex(md5(concat_ws('{separator}', {', '.join(pieces)})))"


def named(names: list[str], image: str, piece: str = "coalesce({}, '')") -> list[str]:
    """Records with name and length in front, as the specification has them."""
    return [piece.format(f"concat(',{len(n)}:{n}=', {image.format(n)})", name=n) for n in names]


def rendered(columns: dict[str, str], secret: str | None = None) -> str:
    return MACROS.hash(
        [{"name": n, "data_type": t, "sql": n, "secret": secret} for n, t in columns.items()]
    )


def encodings() -> dict[str, str]:
    """The expressions to compare, by what they are called in the table."""
    texts = named(KEYS, "'s', octet_length({0}), ':', {0}")
    typed = dict.fromkeys(KEYS, "string") | dict.fromkeys(VALUES, "double")
    cast = [f"cast({name} as string)" for name in VALUES]
    asking = "nvl2({name}, {0}, '')"
    return {
        "text, `concat_ws` with a separator (collides, depends on the JVM)": md5("|", KEYS + cast),
        "**version 1**: `hex(xxhash64(x))`": rendered(typed),
        "**version 2**: the same, keyed with a secret": rendered(typed, SECRET),
        "version 1 of one text": rendered({"key1": "string"}),
        "version 2 of one text": rendered({"key1": "string"}, SECRET),
        "version 1, but `nvl2` for text too": "unhex(md5(concat({})))".format(
            ", ".join(
                named(KEYS, "'s', octet_length({0}), ':', {0}", asking)
                + named(VALUES, "'f', hex(xxhash64({0}))", asking)
            )
        ),
        "records in `concat_ws`": md5(
            "",
            named(KEYS, "'s', octet_length({0}), ':', {0}", "{0}")
            + named(VALUES, "'f', hex(xxhash64({0}))", "nvl2({name}, {0}, null)"),
        ),
        "`cast(xxhash64(x) as string)`": "unhex(md5(concat({})))".format(
            ", ".join(texts + named(VALUES, "'f', cast(xxhash64({0}) as string)", asking))
        ),
        "8 bytes, `cast(xxhash64(x) as binary)` (ANSI off only)": "unhex(md5(concat({})))".format(
            ", ".join(
                [f"cast({text} as binary)" for text in texts]
                + [
                    f"nvl2({n}, concat(binary(',{len(n)}:{n}=f'), binary(xxhash64({n}))), x'')"
                    for n in VALUES
                ]
            )
        ),
        "version 1, without `md5`": rendered(typed).replace("unhex(md5(", "octet_length((", 1),
        "the scan alone (one `xxhash64` of all)": f"xxhash64({', '.join(KEYS + VALUES)})",
        "version 1, 10 decimals": "unhex(md5(concat({})))".format(
            ", ".join(
                f"coalesce(concat(',2:m{n}=n', trim(trailing '.' from trim(trailing '0' from "
                f"try_cast(cast(amount + {n} as decimal(10,2)) as string)))), '')"
                for n in range(10)
            )
        ),
        "version 1, 10 bigints": "unhex(md5(concat({})))".format(
            ", ".join(
                f"coalesce(concat(',2:b{n}=n', cast(number + {n} as string)), '')"
                for n in range(10)
            )
        ),
    }


def cpu_seconds(spark: SparkSession) -> float:
    """CPU time that the JVM has used so far, all threads (Linux)."""
    pid = spark.sparkContext._gateway.proc.pid
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def seconds(table: DataFrame, expression: str) -> float:
    start = cpu_seconds(table.sparkSession)
    table.selectExpr(f"{expression} as hash").write.format("noop").mode("overwrite").save()
    return cpu_seconds(table.sparkSession) - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.ansi.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        columns = [f"uuid() as {name}" for name in KEYS]
        columns += [f"rand({seed}) * 1000 as {name}" for seed, name in enumerate(VALUES)]
        columns += ["cast(rand(11) * 1e12 as bigint) as number"]
        columns += ["cast(rand(12) * 1e6 as decimal(10,2)) as amount"]
        spark.range(0, arguments.rows, 1, 1).selectExpr(*columns).write.parquet(f"{folder}/rows")
        table = spark.read.parquet(f"{folder}/rows")
        secret = spark.createDataFrame(
            [(padded_keys(bytes(32)),)], "keys struct<inner_key: binary, outer_key: binary>"
        )
        secret.write.parquet(f"{folder}/secret")
        spark.read.parquet(f"{folder}/secret").createOrReplaceTempView(SECRET)
        compared = encodings()
        times: dict[str, list[float]] = {name: [] for name in compared}
        for number in range(arguments.rounds + 1):  # the first round warms up
            for name, expression in compared.items():
                taken = seconds(table, expression)
                if number:
                    times[name].append(taken)
        base = statistics.median(next(iter(times.values())))
        print(
            f"Spark {spark.version}, {arguments.rows} rows, median of {arguments.rounds} (range)\n"
        )
        print("| encoding | CPU s | ratio |\n|---|---:|---:|")
        for name, taken in times.items():
            median = statistics.median(taken)
            spread = f"{min(taken):.2f} to {max(taken):.2f}"
            print(f"| {name} | {median:.2f} ({spread}) | {median / base:.2f} |")
        print("\n| columns of type double | CPU µs per row and column |\n|---|---:|")
        for width in (15, 60, 99, 120, 200):
            names = {f"c{number:03}": "double" for number in range(width)}
            source = [
                f"value{number % 10 + 1} + {number} as c{number:03}" for number in range(width)
            ]
            wide = table.limit(arguments.rows // 10).selectExpr(*source)
            hashed = min(seconds(wide, rendered(names)) for _ in range(5))
            scanned = min(seconds(wide, "c000") for _ in range(5))
            print(f"| {width} | {(hashed - scanned) / (arguments.rows // 10) / width * 1e6:.2f} |")
    spark.stop()


if __name__ == "__main__":
    main()
