"""Secrets on a server: none, an exchanged one, and a rotation, which is no update.

`people` has sensitive columns, `members` and `cards` sensitive keys that are shown as tokens.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pytest

from project import Project
from spark_cdc.hashing import row_hash
from test_hash_secret import forms

pytestmark = [pytest.mark.proves("sensitive"), pytest.mark.integration]

Command = Callable[..., tuple[int, str]]
TOKEN = {"data_type": "string", "role": "key", "sensitive": True, "pseudonymize": True}
ENTITIES: dict[str, dict[str, Any]] = {
    "people": {
        "id": {"data_type": "int", "role": "key"},
        "born": {"data_type": "date", "sensitive": True, "mask": "year"},
        "city": "string",
    },
    "members": {"mail": TOKEN | {"pseudonymize": "mail"}, "since": "date"},
    "cards": {"mail": TOKEN, "kind": "string"},
}
DAYS = ("2024-03-01", "2024-03-02", "2024-03-03")
LANDED: dict[str, list[list[str]]] = {
    "people": [
        ["1,1980-02-29,Bern", "2,1981-01-31,Rom", "3,1990-12-24,Oslo"],
        ["1,1980-02-29,Bern", "2,1981-01-31,Bonn", "3,1990-12-24,Oslo"],
        ["1,1980-02-29,Bern", "2,1981-01-30,Bonn", "3,1990-12-24,Oslo"],
    ],
    "members": [["a@x.example,2020-01-01", "b@x.example,2021-01-01"]] * 3,
    "cards": [["b@x.example,gold", "c@x.example,blue"]] * 3,
}


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    for name, columns in ENTITIES.items():
        project.entity(name, columns)
        for day, rows in zip(DAYS, LANDED[name], strict=True):
            project.land(name, day, ",".join(columns), *rows)
    return project


def key(project: Project) -> bytes:
    """The key of the newest secret."""
    (inner,) = project.query(f"select keys.inner_key from {newest(project)}")[0]
    return bytes(byte ^ 0x36 for byte in inner)[:32]


def newest(project: Project) -> str:
    apart = f"{project.schema}_sensitive"
    names = [row[1] for row in project.query(f"show tables in {apart} like 'spark_cdc_secret_*'")]
    return f"{apart}.{max(names)}"


def operations(project: Project, name: str, day: str) -> dict[str, int]:
    found = project.query(
        f"select operation, count(*) from {{s}}.{name}_ledger where business_date = '{day}'"
        f" and load_id in (select load_id from {{s}}.{name}_committed) and operation <> 'L'"
        " group by operation"
    )
    return dict(found)


def test_without_a_secret_nothing_is_loaded(shop: Project, command: Command) -> None:
    code, said = command("secrets", "check")
    assert (code, said.strip()) == (0, "There is no secret. To make one:\n  spark-cdc secrets init")
    code, said = command("secrets", "rotate")
    assert code != 0 and "spark-cdc secrets init" in said
    outcome = shop.run(DAYS[0])
    assert "people: the hashes of its sensitive columns (born) are keyed" in outcome.output
    assert shop.query("show tables in {s} like '*_ledger'") == []


def test_hashes_are_keyed_with_the_secret_that_spark_made(shop: Project, command: Command) -> None:
    code, said = command("secrets", "init")
    assert code == 0, said
    assert "made the secret" in said
    code, said = command("secrets", "init")
    assert code != 0 and "there is a secret" in said
    shop.load(DAYS[0], words=["--log-level-file", "debug"])
    shop.load(DAYS[1], "people")
    secret = key(shop)
    columns = {"born": "date", "city": "string"}
    born = {"born": dt.date(1980, 2, 29), "city": "Bern"}
    (row,) = shop.query("select key_hash, nonkey_hash from {s}.people_current where id = 1")
    assert row == (
        row_hash({"id": "int"}, {"id": 1}).hex(),
        row_hash(columns, born, secret).hex(),
    )
    assert operations(shop, "people", DAYS[1]) == {"U": 1}


def test_tokens_are_the_same_across_entities(shop: Project) -> None:
    joined = shop.query(
        "select members.since, cards.kind from {s}.members_current as members"
        " join {s}.cards_current as cards on members.mail = cards.mail"
    )
    assert [(str(since), kind) for since, kind in joined] == [("2021-01-01", "gold")]
    (token,) = shop.query("select mail, key_hash from {s}.cards_current where kind = 'gold'")
    value = {"pseudonym:mail": "b@x.example"}
    assert token[0] == row_hash({"pseudonym:mail": "string"}, value, key(shop)).hex() != token[1]


def test_an_exchanged_secret_is_noticed_before_anything_is_written(
    shop: Project, command: Command
) -> None:
    secret = newest(shop)
    before = shop.query("show partitions {s}.people_ledger")
    shop.query(f"alter table {secret} rename to {shop.schema}_sensitive.aside")
    for value, said in (("unhex(repeat('78', 64))", "exchanged"), ("null", "holds no key")):
        key_sql = f"cast({value} as binary)"
        keys = f"named_struct('inner_key', {key_sql}, 'outer_key', {key_sql}) as keys"
        shop.query(f"create table {secret} using orc as select {keys}")
        outcome = shop.run(DAYS[2], "people")
        assert said in outcome.output and "Nothing was written" in outcome.output
        shop.query(f"drop table {secret}")
    outcome = shop.run(DAYS[2], "people")
    assert "is gone" in outcome.output and "Nothing was written" in outcome.output
    code, said = command("secrets", "check")
    assert code != 0 and "people: its secret" in said and "is gone" in said
    shop.query(f"alter table {shop.schema}_sensitive.aside rename to {secret}")
    assert shop.query("show partitions {s}.people_ledger") == before
    code, said = command("secrets", "check")
    assert code == 0, said


@pytest.mark.full
def test_a_rotation_is_no_update(shop: Project, command: Command) -> None:
    first, old = newest(shop), key(shop)
    code, said = command("secrets", "rotate")
    assert code != 0 and "the keys of cards, members are sensitive" in said
    code, said = command("secrets", "rotate", "--force")
    assert code == 0, said
    assert newest(shop) > first and key(shop) != old
    outcome = shop.run(DAYS[2])
    assert "the key is sensitive, and its hash changes" in outcome.output
    assert operations(shop, "people", DAYS[2]) == {"U": 1, "N": 2}
    assert operations(shop, "members", DAYS[2]) == {}
    (row,) = shop.query("select nonkey_hash from {s}.people_current where id = 3")
    columns = {"born": "date", "city": "string"}
    assert (
        row[0]
        == row_hash(columns, {"born": dt.date(1990, 12, 24), "city": "Oslo"}, key(shop)).hex()
    )
    (change,) = shop.query(
        "select definition_change from {s}.cdc_loads where entity = 'people'"
        f" and business_time = '{DAYS[2]}' and status = 'committed'"
    )
    assert "hash specification version 2 of compared with secret" in change[0]
    code, said = command("secrets", "check", "--output", "json")
    used = {one["id"][-8:]: one["entities"] for one in json.loads(said)["secrets"]}
    assert used == {first[-8:]: ["cards", "members"], newest(shop)[-8:]: ["people"]}
    names = ("--select", "cards", "members")
    code, said = command("replay", "--from", DAYS[0], *names, "--publish")
    assert code == 0, said
    shop.load(DAYS[2], "cards", "members")
    test_tokens_are_the_same_across_entities(shop)
    outcome = shop.dbt("test")
    assert outcome.success, outcome.output


def test_no_log_and_no_compiled_file_has_the_secret(shop: Project) -> None:
    needles = forms(key(shop)[:12])
    assert (shop.folder / "logs" / "dbt.log").stat().st_size > 10_000
    for path in shop.folder.rglob("*"):
        if path.is_file() and "dbt_packages" not in path.parts:
            assert not any(needle in path.read_bytes() for needle in needles), path
