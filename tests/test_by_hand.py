"""docs/examples/orders_by_hand.sql does a part of what docs/examples/orders.yml does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from own_servers import shop_in
from project import Project
from spark_cdc.server import local as local_server

pytestmark = [pytest.mark.proves("examples"), pytest.mark.full]

EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"
HEAD = "order_no,line_no,article,quantity,price,exported_at,op"
# A day's file; what each line stands for.
DAYS = {
    "2024-03-01": [
        "1,1,Lamp,1,24.00,2024-03-01 18:00:00,I",  # updated, then deleted
        "1,2,Bulb,4,3.75,2024-03-01 18:00:00,I",  # unchanged
        "2,1,Clock,1,31.20,2024-03-01 18:00:00,I",  # deleted, comes back, is updated
        "3,1,Pen,,2.00,2024-03-01 18:00:00,I",  # null gets a value, and a value becomes null
        "4,1,Desk,1,100.00,2024-03-01 18:00:00,I",  # never sent again
    ],
    "2024-03-02": [
        "1,1,Lamp,2,24.00,2024-03-02 18:00:00,U",
        "1,2,Bulb,4,3.75,2024-03-02 18:00:00,U",
        "2,1,,,,2024-03-02 18:00:00,D",
        "3,1,Pen,5,2.00,2024-03-02 18:00:00,U",
        "9,9,,,,2024-03-02 18:00:00,D",  # was never there
    ],
    "2024-03-03": [
        "1,1,,,,2024-03-03 18:00:00,D",
        "2,1,Clock,1,29.90,2024-03-03 18:00:00,U",  # U of a row that is not there
        "3,1,Pen,5,,2024-03-03 18:00:00,U",
        "5,1,Chair,1,40,2024-03-03 18:00:00,I",
    ],
    "2024-03-04": [
        "2,1,Clock,2,29.90,2024-03-04 18:00:00,U",
        "5,1,Chair,1,40.00,2024-03-04 18:00:00,I",  # I of a row that is there, unchanged
    ],
}
COLUMNS = "order_no, line_no, article, quantity, price, eff_start_date, eff_end_date, is_current"
TYPES = {
    "order_no": "bigint", "line_no": "int", "article": "string", "quantity": "int",
    "price": "decimal(10,2)", "eff_start_date": "date", "eff_end_date": "date",
    "is_current": "boolean",
}  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project with the entity of docs/examples/orders.yml, on a server that has Delta."""
    with shop_in("delta", tmp_path_factory.mktemp("by_hand")) as project:
        given = yaml.safe_load((EXAMPLES / "orders.yml").read_text("utf-8"))
        columns = {
            one["name"]: {"data_type": one["data_type"], **one.get("config", {}).get("meta", {})}
            for one in given["columns"]
        }
        settings = given["config"]["meta"]["spark_cdc"]
        settings["source"]["path"] = f"{project.folder}/{settings['source']['path']}"
        project.entity("orders", columns, **settings)
        declared = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
        project.query("create database by_hand")
        project.query(f"create table by_hand.orders_versions ({declared}) using delta")
        yield project


def load_by_hand(shop: Project, date: str, folder: Path) -> None:
    """Run the file's statements for a date, in a session of their own."""
    text = (EXAMPLES / "orders_by_hand.sql").read_text("utf-8").replace("2024-03-04", date)
    connection = local_server.connect(shop.port)
    cursor: Any = connection.cursor()
    cursor.execute("use by_hand")
    cursor.execute(
        f"create temporary view landed_orders using csv options (path '{folder}', header 'true')"
    )
    for statement in text.split(";\n"):
        if statement.strip():
            cursor.execute(statement)
    connection.close()


def versions(shop: Project, schema: str) -> list[tuple[Any, ...]]:
    return sorted(shop.query(f"select {COLUMNS} from {schema}.orders_versions"), key=repr)


@pytest.mark.parametrize("date", DAYS)
def test_the_merge_gives_the_same_versions(shop: Project, date: str) -> None:
    """Each case of the days: inserted, updated, unchanged, deleted, never there, back again."""
    folder = shop.land("orders", date, HEAD, *DAYS[date])
    shop.load(date, "orders")
    load_by_hand(shop, date, folder)
    found = versions(shop, "by_hand")
    assert found == versions(shop, "shop")
    if date == max(DAYS):
        assert len(found) == 11
        assert sum(row[-1] for row in found) == 5


def test_what_the_merge_takes_and_the_project_refuses(shop: Project) -> None:
    """A value that can't be cast becomes null there, and of two rows of a key the newer counts."""
    date = "2024-03-05"
    lines = ["6,1,Shelf,one,9.00,2024-03-05 18:00:00,I", "7,1,Rug,1,1.00,2024-03-05 17:00:00,I"]
    folder = shop.land("orders", date, HEAD, *lines, "7,1,Rug,2,1.00,2024-03-05 18:00:00,U")
    outcome = shop.run(date, "orders")
    assert not outcome.success
    assert "quantity: 'one' is not accepted as int" in outcome.output
    load_by_hand(shop, date, folder)
    taken = [row[:4] for row in versions(shop, "by_hand") if row[0] in (6, 7)]
    assert taken == [(6, 1, "Shelf", None), (7, 1, "Rug", 2)]
