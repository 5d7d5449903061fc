"""What `make e2e` compares with, without the programs: would it notice?"""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from e2e import __main__ as main
from e2e import check, downloads, tables, workload
from e2e.tables import Column, Table

pytestmark = [pytest.mark.proves("harness"), pytest.mark.integration]

TABLE = Table("things", [Column("id", "bigint", key=True), Column("weight", "double precision")])


class Fake:
    """A connection and a cursor that answer with given rows."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self.rows = rows

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        return self.rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.rows


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        ([("1", "0.5"), ("2", None)], None),
        ([("1", "5.0E-1"), ("2", None)], None),
        ([("1", "0.6"), ("2", None)], "weight is '0.6', not '0.5'"),
        ([("1", "0.5"), ("2", "0.0")], "weight is '0.0', not 'None'"),
        ([("1", "0.5")], "lacks ('2',)"),
        ([("1", "0.5"), ("2", None), ("2", None)], "('2',) twice"),
        ([("1", "0.5"), ("2", None), ("3", None)], "has ('3',), things has not"),
    ],
)
def test_rows(shown: list[tuple[Any, ...]], wrong: str | None) -> None:
    there = Fake([("1", "0.5"), ("2", None)])
    found = check.current(TABLE, there, Fake(shown), "shop")  # type: ignore[arg-type]
    assert len(found.wrong) == (wrong is not None), found.wrong
    assert wrong is None or wrong in found.wrong[0]


# what the database did: op, transaction, key, value
DID = [
    ("read", "1", "1", "0.5"),
    ("update", "2", "1", "0.7"),
    ("insert", "2", "2", "1.0"),
    ("delete", "3", "1", None),
    ("insert", "4", "1", "0.1"),
]
# what is shown of it: op, transaction, is_current, key, value
SHOWN = [
    ("read", "9", False, "1", "0.5"),
    ("update", "2", False, "1", "0.7"),
    ("insert", "2", True, "2", "1.0"),
    ("insert", "4", True, "1", "0.1"),
]
AGAIN = ("upsert", None, False, "1", "0.7")  # a snapshot's row between the second and the third


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        (SHOWN, None),
        ([*SHOWN[:2], AGAIN, *SHOWN[2:]], None),
        ([*SHOWN[:2], (*AGAIN[:4], "0.8"), *SHOWN[2:]], "4 versions, not 3"),
        ([AGAIN, *SHOWN], "4 versions, not 3"),
        (SHOWN[1:], "2 versions, not 3"),
        ([SHOWN[1], SHOWN[0], *SHOWN[2:]], "weight is '0.7', not '0.5'"),
        ([SHOWN[0], ("update", "3", *SHOWN[1][2:]), *SHOWN[2:]], "update of 3, not update of 2"),
        ([*SHOWN[:2], ("insert", "2", False, *SHOWN[2][3:]), SHOWN[3]], "open are [] of 1"),
    ],
)
def test_versions(shown: list[tuple[Any, ...]], wrong: str | None) -> None:
    found = check.versions(TABLE, Fake(DID), Fake(shown), "shop")  # type: ignore[arg-type]
    assert bool(found.wrong) == (wrong is not None), found.wrong
    assert wrong is None or any(wrong in text for text in found.wrong), found.wrong


def test_a_truncate_ends_all_rows() -> None:
    did = [*DID, ("truncate", "5", None, None)]
    ended = [(*row[:2], False, *row[3:]) for row in SHOWN]
    assert not check.versions(TABLE, Fake(did), Fake(ended), "shop").wrong  # type: ignore[arg-type]
    wrong = check.versions(TABLE, Fake(did), Fake(SHOWN), "shop").wrong  # type: ignore[arg-type]
    assert len(wrong) == 2 and all("open are" in text for text in wrong)


def test_downloads_are_pinned() -> None:
    found = downloads.pinned()
    assert {one.part for one in found} == {"kafka", "converter", "connector", "registry"}
    assert all(re.fullmatch("[0-9a-f]{64}", one.sha256) for one in found)
    assert len({(one.part, one.name) for one in found}) == len(found)


@pytest.mark.parametrize("tells_null", [True, False], ids=["json", "avro"])
def test_each_type_of_the_shop_has_values(tells_null: bool) -> None:
    shop = tables.shop()
    values = workload.Values(random.Random(1))
    for change in tables.changes(shop, tells_null):
        tables.apply(next(table for table in shop if table.name == change.table), change)
    for table in shop:
        for column in table.columns:
            assert {values.of(column) is None for _ in range(200)} == (
                {False} if column.key or column.required else {True, False}
            ), column


def test_figures_that_grow_are_said() -> None:
    assert main.grown([{"stream": 500}] * 12, " MB") == []
    assert main.grown([{"landing": 100 * (number % 3)} for number in range(12)], " files") == []
    assert main.grown([{"stream": 500 + 50 * number} for number in range(12)], " MB") == [
        "stream has grown from 750 to 1050 MB"
    ]
