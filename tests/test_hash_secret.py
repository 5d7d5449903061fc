"""The secret of sensitive columns' hashes: made by Spark, and in no plan, log or event log."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytz import utc

from rendered_sql import Relation
from spark_cdc.hashing import padded_keys, row_hash
from spark_cdc.jinja_bridge import MODULES, Macros, load_macros

pytestmark = [pytest.mark.proves("hashing"), pytest.mark.full]

MODES = ("", "extended", "codegen", "cost", "formatted")
# Runs statements in a Spark of its own, whose logs say all that they can, and explains queries.
RUN = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession

folder, given = Path(sys.argv[1]), json.loads(sys.stdin.read())
builder = SparkSession.builder.master("local[1]")
for name, value in {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.warehouse.dir": str(folder / "warehouse"),
    "spark.sql.shuffle.partitions": "1",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.dir": f"file://{folder / 'events'}",
}.items():
    builder = builder.config(name, value)
(folder / "events").mkdir()
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("DEBUG")
for sql in given["statements"]:
    spark.sql(sql).collect()
found = {}
for name, sql in given["queries"].items():
    query = spark.sql(sql)
    found[name] = [
        [bytes(value).hex() if isinstance(value, (bytes, bytearray)) else value for value in row]
        for row in query.collect()
    ]
    for mode in given["modes"]:
        text = spark.sql(f"explain {mode} {sql}").first()[0]
        (folder / f"plan_{name}_{mode}").write_text(text)
    (folder / f"plan_{name}_executed").write_text(query._jdf.queryExecution().toString())
spark.sparkContext.setLogLevel("OFF")
row = spark.sql(f"select keys.* from {given['secret']}").first()
(folder / "found").write_text(json.dumps([found, [bytes(value).hex() for value in row]]))
spark.stop()
"""


@pytest.fixture(scope="module")
def made() -> tuple[Macros, str, list[str]]:
    """The macros, the table of a secret, and the statements that make it."""
    sent: list[str] = []
    macros = load_macros(
        run_query=lambda sql: SimpleNamespace(rows=[]),
        _send=lambda sql: sent.append(sql) or "",
        _sensitive_schema=lambda: "apart",
        _view_text=lambda view: sent[-1],
        _relation_in=lambda schema, name: Relation(name),
        invocation_id="0",
        flags=SimpleNamespace(WHICH="run-operation"),
        local_md5=lambda text: hashlib.md5(text.encode()).hexdigest(),
        modules=MODULES | {"pytz": SimpleNamespace(utc=utc)},
    )
    return macros, macros._create_secret(is_there=False), sent


@pytest.fixture(scope="module")
def ran(made: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, bytes]:
    """The folder with all that Spark wrote, what the queries found, and the key."""
    macros, secret, sent = made
    folder = tmp_path_factory.mktemp("secret")
    born = {"name": "born", "data_type": "date", "sql": "born", "secret": secret}
    number = {"name": "id", "data_type": "bigint", "sql": "id", "secret": secret}
    rows = "select id, date_from_unix_date(int(id)) as born from range(1000)"
    hashes = f"{macros._hash([number])} as key_hash, {macros._hash([born])} as nonkey_hash"
    staged = f"select *, {hashes} from people"
    whole, alternates = macros._hash([number, born]), macros._alternate_hash([born])
    queries = {
        "hashes": f"select {whole}, array_compact(array({alternates}))[0] from people where id < 3",
        "compared": """select count(*) from staged as incoming left join prior
            on incoming.key_hash = prior.key_hash and incoming.nonkey_hash = prior.nonkey_hash
            where prior.key_hash is not null""",
        "grouped": """select count(*) from (
            select key_hash from staged group by key_hash having count(*) = 1) as grouped""",
        # the join goes below what hashes
        "left_out": """select count(*) from (
            select key_hash, count(*) from staged
            where key_hash not in (select key_hash from prior) group by key_hash) as grouped""",
        "sought": f"""select count(*) from prior where key_hash = {
            macros._hash([dict(number, sql="18L")])
        }""",
    }
    given = {
        "statements": [
            f"create database {secret.split('.')[0]}",
            *sent,
            f"create table people using parquet as {rows}",
            f"create temporary view staged as {staged}",
            "create table prior using parquet as select * from staged where id % 2 = 0",
        ],
        "queries": queries,
        "modes": MODES,
        "secret": secret,
    }
    with (folder / "log").open("wb") as log:
        subprocess.run(
            [sys.executable, "-c", RUN, str(folder)],
            input=json.dumps(given).encode(),
            stdout=log,
            stderr=log,
            check=True,
            timeout=300,
        )
    found, keys = json.loads((folder / "found").read_text())
    (folder / "found").unlink()
    inner, outer = (bytes.fromhex(key) for key in keys)
    key = bytes(byte ^ 0x36 for byte in inner)[:32]
    assert (inner, outer) == padded_keys(key)
    return folder, found, key


def test_spark_makes_a_secret_and_hashes_with_it(ran: Any) -> None:
    _, found, key = ran
    assert len(set(key)) > 10
    types = {"id": "bigint", "born": "date"}
    for number, (row, alternate) in enumerate(found["hashes"]):
        assert row == row_hash(types, {"id": number, "born": number}, key).hex()
        assert alternate == row_hash({"born": "date"}, {"born": number}, key).hex()
    counts = {"compared": 500, "grouped": 1000, "left_out": 500, "sought": 1}
    assert {name: found[name][0][0] for name in counts} == counts


def test_the_secret_is_in_no_plan_and_no_log(ran: Any) -> None:
    folder, _, key = ran
    keys = [key, *(padded[:32] for padded in padded_keys(key))]
    needles = [form for one in keys for form in forms(one[:12])]
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert [path for path in written if path.name.startswith("plan_")]
    seen = [path for path in written if any(needle in path.read_bytes() for needle in needles)]
    assert [path.relative_to(folder).parts[:2] for path in seen] == [
        ("warehouse", "cdc.db"),  # where it lies
    ]
    assert b"scalar-subquery" in (folder / "plan_hashes_extended").read_bytes()
    assert (folder / "log").stat().st_size > 10**6
    told = b"".join(path.read_bytes() for path in written if folder / "events" in path.parents)
    assert b"spark_cdc_secret_" in told  # the event log names the table


def forms(key: bytes) -> list[bytes]:
    """How bytes may be written."""
    signed = [str(byte - 256 if byte > 127 else byte) for byte in key]
    return [
        key,
        *(case(key.hex(*sep)).encode() for sep in ("", " ") for case in (str.upper, str.lower)),
        base64.b64encode(key)[:12],
        ",".join(signed).encode(),
        ", ".join(signed).encode(),
    ]
