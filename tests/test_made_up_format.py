"""A source format that is nothing but a row of the table: it is read, and refused with reasons.

Spark 4 reads XML itself, and no other file under macros/ knows of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shop import Shop, opened
from warehouse import is_spark_3

pytestmark = pytest.mark.proves("house")

COLUMNS = {
    "id": {"data_type": "bigint", "role": "key"},
    "name": "string",
    "price": "double",
    "places": "array<struct<city:string>>",
}
DAYS = ("2024-01-01", "2024-01-02")


def order(number: int, name: str, price: object, *cities: str) -> str:
    places = "".join(f"<places><city>{city}</city></places>" for city in cities)
    return f"<order><id>{number}</id><name>{name}</name><price>{price}</price>{places}</order>"


@pytest.fixture
def shop(server: Any, tmp_path: Any) -> Iterator[Shop]:
    with opened(server.port, tmp_path) as made:
        if is_spark_3(made.cursor):
            pytest.skip("Spark 3 has no reader of XML")
        row = made.macros._source_row() | {"reader": "xml", "options": {"rowTag": "order"}}
        made.replace("_source_formats", lambda macro: macro() | {"xml": row})
        yield made


def test_a_format_is_a_row_of_the_table(shop: Shop) -> None:
    shop.entity("orders", COLUMNS, source={"format": "xml"})
    one, two = order(1, "a", 1.5, "Bern", "Thun"), order(2, "b", 2.5, "Biel")
    for day, orders in zip(DAYS, (one + two, order(1, "é", 1.5, "Bern", "Chur")), strict=True):
        shop.land("orders", day, f"<orders>{orders}</orders>", file="orders.xml")
        shop.load(day)
    shop.cursor.execute(
        f"select id, name, price, to_json(places) from ({shop.view_sql('current')})"
    )
    assert shop.cursor.fetchall() == [(1, "é", 1.5, '[{"city":"Bern"},{"city":"Chur"}]')]
    shop.cursor.execute(f"select id, name, operation from ({shop.view_sql('history')})")
    changes = [(1, "a", "I"), (1, "é", "U"), (2, "b", "D"), (2, "b", "I")]
    assert sorted(shop.cursor.fetchall()) == changes


def test_what_it_does_not_hold_is_refused(shop: Shop) -> None:
    shop.entity("orders", COLUMNS, source={"format": "xml"})
    for text, said in (
        (order(1, "a", "dear", "Bern", "Thun"), ["xml files of", "price", "string", "double"]),
        ("<order><id>1</id></order>", ["xml files of", "name", "on_missing_column"]),
    ):
        shop.land("orders", DAYS[0], f"<orders>{text}</orders>", file="orders.xml")
        outcome = shop.run(DAYS[0])
        assert not outcome.success
        assert [word for word in said if word not in outcome.output] == [], outcome.output
    shop.entity("orders", COLUMNS, source={"format": "xml", "decimal": ","})
    outcome = shop.run(DAYS[0])
    assert "columns of xml arrive typed" in outcome.output
    shop.entity("orders", COLUMNS, source={"format": "xslt"})
    outcome = shop.run(DAYS[0])
    assert "'xslt'" in outcome.output
    assert "avro, table, change_feed, xml" in outcome.output
