"""The hash: the reference against the vectors, and Spark's rendered SQL against the reference."""

from __future__ import annotations

import datetime
import itertools
import json
import random
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from spark_cdc.hashing import (
    DataType,
    message,
    padded_keys,
    parse_type,
    row_hash,
    xxhash64_of_long,
)
from spark_cdc.jinja_bridge import CompilerError, load_macros

pytestmark = pytest.mark.proves("hashing")

UTC = datetime.timezone.utc
VECTORS = json.loads((Path(__file__).parent / "hash_vectors.json").read_text(encoding="utf-8"))
KEY = bytes.fromhex(VECTORS["key"])
ROWS = 2_000
MACROS = load_macros()

TYPES = {
    "a_boolean": "boolean",
    "a_tinyint": "tinyint",
    "a_smallint": "smallint",
    "an_int": "int",
    "a_bigint": "bigint",
    "a_float": "float",
    "a_double": "double",
    "a_whole": "decimal(38,0)",
    "an_amount": "decimal(10,2)",
    "a_ratio": "decimal(20,10)",
    "a_fraction": "decimal(38,38)",
    "a_long_decimal": "decimal(38,18)",
    "A Text's": "string",
    "größe": "string",
    "a_binary": "binary",
    "a_date": "date",
    "a_timestamp": "timestamp",
    "a_wall_clock": "timestamp_ntz",
    "numbers": "array<double>",
    "amounts": "array<decimal(12,3)>",
    "texts": "array<array<string>>",
    "person": "struct<Name: string, `Born on`: date, tags: array<string>, weight: float>",
    "lines": "array<struct<qty: int, price: decimal(10,4), at: timestamp_ntz, seen: timestamp>>",
    "prices": "map<string, decimal(10,2)>",
    "stock": "map<int, struct<open: boolean, raw: binary, by_size: map<double, array<string>>>>",
}


def rendered(
    columns: dict[str, str], sql: dict[str, str] | None = None, secret: str | None = None
) -> str:
    """The SQL of the hash of columns, given by name and type; of sensitive ones with a secret."""
    return MACROS.hash(
        [
            {
                "name": name,
                "data_type": data_type,
                "sql": (sql or {}).get(name, f"`{name}`"),
                "secret": secret,
            }
            for name, data_type in columns.items()
        ]
    )


# --- the vectors -------------------------------------------------------------------------------


def from_json(value: Any, data_type: DataType) -> Any:
    """A value of the vectors' file as the reference takes it."""
    if value is None:
        return None
    kind, inner = data_type.kind, data_type.inner
    if kind == "array":
        return [from_json(item, inner[0]) for item in value]
    if kind == "map":
        return [(from_json(k, inner[0]), from_json(v, inner[1])) for k, v in value]
    if kind == "struct":
        types = dict(zip(data_type.names, inner, strict=True))
        return {name: from_json(item, types[name]) for name, item in value.items()}
    read = {
        "decimal": Decimal,
        "float": float,
        "double": float,
        "binary": bytes.fromhex,
        "date": datetime.date.fromisoformat,
        "timestamp": datetime.datetime.fromisoformat,
        "timestamp_ntz": datetime.datetime.fromisoformat,
    }
    return read[kind](value) if kind in read else value


@pytest.mark.parametrize(
    "vector", VECTORS["vectors"] + VECTORS["keyed"], ids=lambda vector: vector["note"]
)
def test_reference_agrees_with_vector(vector: dict[str, Any]) -> None:
    columns = {column["name"]: column["type"] for column in vector["columns"]}
    row = {c["name"]: from_json(c["value"], parse_type(c["type"])) for c in vector["columns"]}
    assert message(columns, row).decode() == vector["message"]
    if "md5" in vector:
        assert row_hash(columns, row).hex() == vector["md5"]
    else:
        assert row_hash(columns, row, KEY).hex() == vector["hmac_md5"]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_spark_agrees_with_vectors(spark, secret: str, ansi: str) -> None:
    expressions = []
    for vector in VECTORS["vectors"] + VECTORS["keyed"]:
        columns = {column["name"]: column["type"] for column in vector["columns"]}
        sql = {c["name"]: f"cast({c['sql']} as {c['type']})" for c in vector["columns"]}
        hashed = rendered(columns, sql, None if "md5" in vector else secret)
        expressions.append(f"lower(hex({hashed}))")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    found = spark.sql("select " + ",\n".join(expressions)).first()
    wanted = [vector["md5"] for vector in VECTORS["vectors"]]
    assert list(found) == wanted + [vector["hmac_md5"] for vector in VECTORS["keyed"]]


def test_xxhash64_of_published_values() -> None:
    # Seed 42, as Spark's documentation of xxhash64 uses it; values of Spark 3.5 and 4.1.
    assert f"{xxhash64_of_long(0):X}" == "B71B47EBDA15746C"
    assert f"{xxhash64_of_long(0x7FF8000000000000):X}" == "D4974F72D7833F32"


# --- Spark against the reference ----------------------------------------------------------------

TEXTS = [
    *("", " ", "a", "A", "null", "~", ",", "0", "1:a", "s1:a", ",1:a=s0:", "]", "}", ")", ">~"),
    *("\0", "a\0", "\n", "\r\n", "\\", "'", '"', "|", "é", "e\u0301", "\ufeff", "ß", "İ", "\u2028"),
    *("\U0001f600", "\U00010000\uffff", "日本語", "x" * 63, "x" * 1000),
]
# One NaN of another payload and one with the sign bit set; powers of two around the exact integers.
DOUBLES = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 1e22, 2.0**53 + 2]
DOUBLES += [float("inf"), float("-inf"), float("nan"), 123456789.123456789, 1e-7, 100.0]
DOUBLES += struct.unpack(">2d", bytes.fromhex("fff80000000000007ff8000000000123"))
FLOATS = [0.0, -0.0, 0.1, 3.4028234663852886e38, 1e-45, float("inf"), float("-inf"), float("nan")]
CLOCKS = [
    datetime.datetime(*parts)
    for parts in (
        (1970, 1, 1),
        (1969, 12, 31, 23, 59, 59, 999999),
        (1, 1, 1),
        (9999, 12, 31, 23, 59, 59, 999999),
        (1582, 10, 10, 12),
        (1883, 11, 18, 12, 0, 1),
        (2024, 3, 10, 2, 30),  # in the gap of New York
        (2024, 11, 3, 1, 30),  # twice in New York
        (1986, 1, 1, 0, 7),  # in the gap of Kathmandu
    )
]


class Values:
    """Random values by type, every fourth or so from the list of awkward ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, data_type: DataType, text: str, nullable: bool = True) -> Any:
        if nullable and self.random.random() < 0.15:
            return None
        return getattr(self, data_type.kind)(data_type, text)

    def one_of(self, awkward: list[Any], other: Any) -> Any:
        return self.random.choice(awkward) if self.random.random() < 0.4 else other

    def boolean(self, *_: Any) -> bool:
        return self.random.random() < 0.5

    def integer(self, _: DataType, text: str) -> int:
        bits = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}[text]
        low, high = -(2**bits), 2**bits - 1
        return self.one_of([low, high, 0, -1, 1, 100], self.random.randint(low, high))

    def decimal(self, _: DataType, text: str) -> Decimal:
        precision, scale = (int(part) for part in text[8:-1].split(","))
        top = 10**precision - 1
        awkward = [0, 1, -1, top, -top, 10 ** (precision - 1), -5 * 10 ** min(scale, precision - 1)]
        unscaled = self.one_of(awkward, self.random.randint(-top, top))
        if self.random.random() < 0.3:
            unscaled = unscaled // 10 ** (precision // 2) * 10 ** (precision // 3)
        sign, digits = (unscaled < 0), tuple(int(digit) for digit in str(abs(unscaled)))
        return Decimal((int(sign), digits, -scale))

    def float(self, *_: Any) -> float:
        return self.one_of(
            FLOATS, struct.unpack("<f", struct.pack("<f", self.random.gauss(0, 9)))[0]
        )

    def double(self, *_: Any) -> float:
        return self.one_of(DOUBLES, struct.unpack("<d", self.random.randbytes(8))[0])

    def string(self, *_: Any) -> str:
        alphabet = "ab0:,=s~[]{}()> \0é日\U0001f600"
        return self.one_of(
            TEXTS, "".join(self.random.choices(alphabet, k=self.random.randint(0, 9)))
        )

    def binary(self, *_: Any) -> bytes:
        return self.one_of(
            [b"", b"\0", b"\xff\xfe"], self.random.randbytes(self.random.randint(0, 20))
        )

    def date(self, *_: Any) -> datetime.date:
        return self.timestamp_ntz().date()

    def timestamp(self, *_: Any) -> datetime.datetime:
        return self.timestamp_ntz().replace(tzinfo=UTC)

    def timestamp_ntz(self, *_: Any) -> datetime.datetime:
        seconds = self.random.randint(-10_000_000_000, 10_000_000_000)
        micros = self.random.choice([0, 1, 500_000, 999_999])
        other = datetime.datetime(1970, 1, 1) + datetime.timedelta(
            seconds=seconds, microseconds=micros
        )
        return self.one_of(CLOCKS, other)

    def array(self, data_type: DataType, text: str) -> list[Any]:
        inner = text[text.index("<") + 1 : -1]
        size = self.random.choice([0, 1, 1, 2, 3])
        return [self.of(data_type.inner[0], inner) for _ in range(size)]

    def map(self, data_type: DataType, text: str) -> dict[Any, Any]:
        key, value = (part.strip() for part in text[text.index("<") + 1 : -1].split(",", 1))
        keys = [
            self.of(data_type.inner[0], key, nullable=False)
            for _ in range(self.random.randint(0, 4))
        ]
        keys = [k for k in keys if k == k and k != 0]  # Spark takes -0.0 and 0.0 for one key
        return {k: self.of(data_type.inner[1], value) for k in keys}

    def struct(self, data_type: DataType, text: str) -> tuple[Any, ...]:
        texts = {"weight": "float", "qty": "int", "price": "decimal(10,4)", "tags": "array<string>"}
        texts |= {"by_size": "map<double, array<string>>"}
        return tuple(
            self.of(inner, texts.get(name, ""))
            for name, inner in zip(data_type.names, data_type.inner, strict=True)
        )


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session = session.newSession()
    # What Spark 4 does by default with dates before 1582 and Spark 3.5 refuses.
    session.conf.set("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED")
    session.conf.set("spark.sql.parquet.int96RebaseModeInWrite", "CORRECTED")
    return session


@pytest.fixture
def secret(spark, tmp_path) -> str:
    """The table of the vectors' secret, as a view over a Parquet file."""
    path = str(tmp_path / "secret")
    schema = "keys struct<inner_key: binary, outer_key: binary>"
    spark.createDataFrame([(padded_keys(KEY),)], schema).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("secret")
    return "secret"


@pytest.fixture(scope="module")
def random_rows(spark, tmp_path_factory) -> tuple[str, list[dict[str, bytes]]]:
    """A view of random rows, and what the reference says of each: all columns, and one by one."""
    types = {name: parse_type(text) for name, text in TYPES.items()}
    values = Values(seed=20190619)
    rows = [
        {name: values.of(data_type, TYPES[name]) for name, data_type in types.items()}
        for _ in range(ROWS)
    ]
    rows[0] = dict.fromkeys(TYPES)
    rows[1] |= {"person": (None, None, None, None)}
    expected = [
        {"all": row_hash(types, row)}
        | {name: row_hash({name: data_type}, row) for name, data_type in types.items()}
        for row in rows
    ]
    path = str(tmp_path_factory.mktemp("hash") / "rows")
    schema = "id int, " + ", ".join(f"`{name}` {text}" for name, text in TYPES.items())
    data = [(number, *row.values()) for number, row in enumerate(rows)]
    spark.createDataFrame(data, schema, verifySchema=False).coalesce(2).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("random_rows")
    return "random_rows", expected


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kathmandu"])
def test_spark_agrees_with_reference(spark, random_rows, zone: str, ansi: str) -> None:
    view, expected = random_rows
    spark.conf.set("spark.sql.session.timeZone", zone)
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    backwards = dict(reversed(TYPES.items()))
    wanted = {"all": rendered(backwards)} | {n: rendered({n: text}) for n, text in TYPES.items()}
    select = ",\n".join(f"{sql} as `{name}`" for name, sql in wanted.items())
    found = spark.sql(f"select id, {select} from {view}").collect()
    assert len(found) == ROWS
    differing = [
        (name, row["id"])
        for row in found
        for name in wanted
        if bytes(row[name]) != expected[row["id"]][name]
    ]
    assert not differing


def test_wider_types_and_other_writings_hash_alike(spark) -> None:
    alike = [
        [
            ("tinyint", "7"),
            ("int", "7"),
            ("bigint", "7"),
            ("decimal(38,0)", "7"),
            ("decimal(9,4)", "7"),
        ],
        [("decimal(10,2)", "1.50"), ("decimal(12,4)", "1.5"), ("decimal(38,20)", "1.5")],
        [("float", "0.1"), ("double", "cast(0.1 as float)")],
        [("double", "0"), ("double", "cast('-0.0' as double)"), ("float", "cast('-0.0' as float)")],
        [
            ("double", "double('NaN')"),
            ("double", "-double('NaN')"),
            ("double", "double('Infinity') - double('Infinity')"),
            ("float", "-float('NaN')"),
        ],
        [("map<string,int>", "map('a', 1, 'b', 2)"), ("map<string,int>", "map('b', 2, 'a', 1)")],
        [
            ("struct<a: int, b: string>", "named_struct('a', 1, 'b', 'x')"),
            ("struct<B: string, A: bigint, c: date>", "named_struct('B', 'x', 'A', 1, 'c', null)"),
        ],
    ]
    expressions = [
        rendered({"x": text}, {"x": f"cast({sql} as {text})"})
        for group in alike
        for text, sql in group
    ]
    found = iter(spark.sql("select " + ", ".join(expressions)).first())
    hashes = [{bytes(next(found)) for _ in group} for group in alike]
    assert [len(group) for group in hashes] == [1] * len(alike)
    assert len(set.union(*hashes)) == len(alike)


def test_text_that_is_not_utf8_counts_by_its_bytes(spark) -> None:
    data = b"\xff\xfea"
    sql = rendered({"x": "string"}, {"x": "cast(unhex('FFFE61') as string)"})
    assert bytes(spark.sql(f"select {sql}").first()[0]) == row_hash({"x": "string"}, {"x": data})


def test_two_hundred_columns(spark) -> None:
    kinds = ["string", "double", "decimal(10,2)", "timestamp"]
    columns = {f"column_{number:03}": kinds[number % 4] for number in range(200)}
    literals = {
        "string": "'x'",
        "double": "0.5D",
        "decimal(10,2)": "1.50",
        "timestamp": "timestamp_micros(id)",
    }
    select = ", ".join(
        f"cast({literals[text]} as {text}) as {name}" for name, text in columns.items()
    )
    found = spark.sql(
        f"select id, {rendered(columns)} as h from (select id, {select} from range(3))"
    )
    values = {"string": "x", "double": 0.5, "decimal(10,2)": Decimal("1.5")}
    for number, value in found.collect():
        row = {name: values.get(text, number) for name, text in columns.items()}
        assert bytes(value) == row_hash(columns, row)


# --- the encoding and the macro -----------------------------------------------------------------


def test_different_rows_have_different_messages() -> None:
    columns = {"a": "string", "b": "string", "c": "array<string>"}
    texts = [None, *(text for text in TEXTS if len(text) < 9)]
    lists = [None, [], [None], [""], ["~"], [None, None], ["a", "b"], ["a,s1:b"], ["]"], ["", ""]]
    rows = [dict(zip(columns, row, strict=True)) for row in itertools.product(texts, texts, lists)]
    assert len({message(columns, row) for row in rows}) == len(rows)
    typed = {
        message({"a": text}, {"a": value})
        for text, value in [
            ("string", "1"),
            ("int", 1),
            ("date", 1),
            ("timestamp", 1),
            ("timestamp_ntz", 1),
            ("double", 1.0),
            ("binary", b"1"),
            ("boolean", True),
            ("array<int>", [1]),
            ("struct<a: int>", [1]),
            ("map<int,int>", {1: 1}),
            ("struct<a: int>", [None]),
            ("array<int>", []),
            ("map<int,int>", {}),
            ("array<array<int>>", [[]]),
        ]
    }
    assert len(typed) == 15


def test_order_and_null_columns_do_not_count() -> None:
    row = {"a": 1, "B": "x"}
    assert row_hash({"a": "int", "B": "string"}, row) == row_hash(
        {"b": "string", "new": "date", "A": "int"}, {"A": 1, "b": "x"}
    )
    assert rendered({"a": "int", "b": "int"}) == rendered({"b": "int", "a": "int"})
    assert rendered({}) == "unhex(md5(''))"


def test_rendered_sql_reads_well() -> None:
    sql = rendered({"qty": "INT", "order": "string", "amount": "decimal(10,2)"}, {"qty": "qty"})
    assert sql == (
        "unhex(md5(concat(\n"
        "    coalesce(concat(',6:amount=n', trim(trailing '.' from "
        "trim(trailing '0' from try_cast(`amount` as string)))), ''),\n"
        "    coalesce(concat(',5:order=s', octet_length(`order`), ':', `order`), ''),\n"
        "    coalesce(concat(',3:qty=n', cast(qty as string)), '')\n"
        ")))"
    )


@pytest.mark.parametrize(
    "data_type",
    [
        *("interval day", "interval year to month", "variant", "void", "char(3)", "varchar(10)"),
        *("string collate utf8_lcase", "time", "array<>", "array<int", "array<int>>", "map<int>"),
        *("struct<>", "struct<a>", "struct<a: int, A: int>", "array<map<string, variant>>"),
        *(
            "decimal(39,0)",
            "decimal(5,6)",
            "decimal(0,0)",
            "geometry",
            "int, int",
            "array<int, int>",
        ),
    ],
)
def test_types_that_can_not_be_hashed_are_named(data_type: str) -> None:
    problem = MACROS._hash_type(data_type)["problem"]
    assert data_type in problem
    assert "accepted are" in problem
    with pytest.raises(ValueError, match="hash"):
        parse_type(data_type)


@pytest.mark.parametrize(
    "data_type",
    [
        *TYPES.values(),
        *(" BIGINT ", "Decimal", "DEC(5)", "numeric ( 5 , 2 )", "timestamp_ltz", "Array < Int >"),
        "STRUCT<a INT NOT NULL COMMENT 'x, <y>', `b``, c`: Map<string,Array<Decimal(3,1)>>>",
    ],
)
def test_types_that_can_be_hashed(data_type: str) -> None:
    assert MACROS._hash_type(data_type)["problem"] is None
    assert parse_type(data_type).kind == MACROS._hash_type(data_type)["kind"]


def test_all_problems_of_a_call_are_raised_at_once() -> None:
    with pytest.raises(CompilerError) as error:
        rendered({"a": "variant", "b": "int", "B": "int", "c": "char(2)"})
    for text in ("column 'a': the type variant", "column 'B' is given more", "column 'c'"):
        assert text in str(error.value)
