"""A column that came later gets the values that its input had then (`replay --fill`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from project import Project
from spark_cdc.jinja_bridge import CompilerError
from test_added_columns import KEY, Shop, land, people  # noqa: F401

pytestmark = [pytest.mark.proves("schema change")]

IGNORE = {"on_unexpected_column": "ignore"}


def declare(shop: Shop, name: str, data_type: str, **meta: Any) -> None:
    shop.node["columns"].append({"name": name, "data_type": data_type, "config": {"meta": meta}})


def fill(shop: Shop, column: str, first: str, publish: bool = True) -> str:
    """What `spark-cdc replay --fill` calls; returns what it says."""
    shop.replace("_contexts", lambda *words, **more: [context(shop)])
    shop.attempts += 1
    shop.said.clear()
    shop._look()
    shop.macros.fill_column(shop.name, column, first)
    if publish:
        shop._look()
        shop.macros.publish_replay(shop.name)
        shop._look()
    return "\n".join(shop.said)


def context(shop: Shop) -> dict[str, Any]:
    return shop.macros._context_of_model() | {"node": shop.node}


def ledger(shop: Shop, columns: str) -> list[tuple[Any, ...]]:
    """Rows of the active loads in the order of time, as the last definition has them."""
    shop.cursor.execute(
        f"select {columns} from {shop.committed} where operation <> 'L'"
        " order by load_id, id, operation"
    )
    return [tuple(row) for row in shop.cursor.fetchall()]


def rows(*values: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [dict(zip(("id", "name", "zip", "op"), row, strict=False)) for row in values]


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_full_loads(people: Callable[..., Shop], format: str) -> None:  # noqa: F811
    """Rows have the values of their dates; what only the new column had made a U is none."""
    shop = people(format, source=IGNORE)
    for date, *values in (
        ("2024-03-01", (1, "a", 10), (2, "b", 20), (3, "c", 30), (4, "d", None)),
        # 1 has another zip alone, 2 another name, 3 goes
        ("2024-03-02", (1, "a", 11), (2, "B", 21), (4, "d", None)),
        ("2024-03-03", (1, "a", 11), (2, "B", 21), (4, "d", None)),
    ):
        land(shop, date, *rows(*values))
        shop.load(date)
    before = ledger(shop, "id, name, operation, eff_start_date, hex(nonkey_hash)")
    shop.node["config"]["meta"]["spark_cdc"]["source"] |= {"on_unexpected_column": "error"}
    declare(shop, "zip", "bigint")
    land(shop, "2024-03-04", *rows((1, "a", 12), (2, "B", 21), (4, "d", 40), (5, "e", 50)))
    shop.load("2024-03-04")
    assert shop.rows("id, zip, operation") == [
        (1, 12, "U"),
        (2, 21, "U"),
        (4, 40, "U"),
        (5, 50, "I"),
    ]
    said = fill(shop, "zip", "2024-03-01")
    assert "2024-03-01  3 of 4 rows have a value" in said
    assert ledger(shop, "id, zip, operation, string(eff_start_date)")[:6] == [
        (1, 10, "I", "2024-03-01"),
        (2, 20, "I", "2024-03-01"),
        (3, 30, "I", "2024-03-01"),
        (4, None, "I", "2024-03-01"),
        (2, 21, "U", "2024-03-02"),
        (3, 30, "D", "2024-03-02"),
    ]
    kept = ledger(shop, "id, name, operation, eff_start_date, hex(nonkey_hash)")
    assert kept[: len(before)] == before  # nothing but the column has changed
    # 2 had its zip since it became B: no U; 1 and 4 have another one than in their last row
    assert shop.rows("id, zip, operation, string(eff_start_date)") == [
        (1, 12, "U", "2024-03-04"),
        (2, 21, "N", "2024-03-02"),
        (4, 40, "U", "2024-03-04"),
        (5, 50, "I", "2024-03-04"),
    ]
    assert shop.rows("id, name, zip, string(eff_start_date)", "versions")[:5] == [
        (1, "a", 10, "2024-03-01"),
        (1, "a", 12, "2024-03-04"),
        (2, "B", 21, "2024-03-02"),
        (2, "b", 20, "2024-03-01"),
        (3, "c", 30, "2024-03-01"),
    ]
    # the load that brought the column, again: it finds the values that were filled
    shop.load("2024-03-04")
    assert shop.rows("id, zip, operation, string(eff_start_date)") == [
        (1, 12, "U", "2024-03-04"),
        (2, 21, "N", "2024-03-02"),
        (4, 40, "U", "2024-03-04"),
        (5, 50, "I", "2024-03-04"),
    ]


FLAGGED = {"deleted_when": "op = 'D'", "load_type": "delta"}
SELDOM = {"checkpoint": {"loads": 100, "changed_share": 100}}


@pytest.mark.parametrize("is_compacted", [False, True])
def test_deltas(people: Callable[..., Shop], is_compacted: bool) -> None:  # noqa: F811
    """Rows that are carried over get values, too; of input that is gone nothing is known."""
    shop = people(source=IGNORE, **FLAGGED, **SELDOM)
    declare(shop, "op", "string", role="control")
    for date, *values in (
        ("2024-03-01", (1, "a", 10, "I"), (2, "b", 20, "I"), (3, "c", 30, "I"), (4, "d", 40, "I")),
        ("2024-03-02", (2, "B", 21, "U"), (3, None, None, "D")),
        ("2024-03-03", (4, "D", 41, "U")),
        ("2024-03-04", (2, "B", 22, "U")),
    ):
        land(shop, date, *rows(*values))
        shop.load(date)
    if is_compacted:
        shop.attempts += 1
        shop._look()
        assert shop.macros._compact_entity(context(shop), 0, False) == 3
    declare(shop, "zip", "int")
    land(shop, "2024-03-05", *rows((2, "B", 22, "U"), (5, "e", 50, "I")))
    shop.load("2024-03-05")
    land(shop, "2024-03-06", *rows((1, "a", 10, "U"), (4, "D", 41, "U")))
    shop.load("2024-03-06")
    assert shop.rows("id, zip, operation") == [
        (1, 10, "U"),
        (2, 22, "X"),
        (4, 41, "U"),
        (5, 50, "X"),
    ]
    (shop.folder / "2024-03-03/data.csv").unlink()
    said = fill(shop, "zip", "2024-03-01")
    assert "nothing has landed of 2024-03-03: left out" in said
    changes = [
        (1, 10, "I", "2024-03-01"),
        (2, 20, "I", "2024-03-01"),
        (3, 30, "I", "2024-03-01"),
        (4, 40, "I", "2024-03-01"),
        (2, 21, "U", "2024-03-02"),
        (3, 30, "D", "2024-03-02"),
        (4, None, "U", "2024-03-03"),
        (5, 50, "I", "2024-03-05"),
        (4, 41, "U", "2024-03-06"),
    ]
    found = "id, zip, operation, string(eff_start_date)"
    of_history = f"select {found} from ({shop.view_sql('history')}) order by 4, 1"
    shop.cursor.execute(of_history)
    assert [tuple(row) for row in shop.cursor.fetchall()] == changes
    assert ledger(shop, found)[-6:] == [
        (1, 10, "X", "2024-03-01"),
        (2, 22, "N", "2024-03-02"),
        (4, None, "X", "2024-03-03"),
        (5, 50, "I", "2024-03-05"),
        (1, 10, "N", "2024-03-01"),
        (4, 41, "U", "2024-03-06"),
    ]
    # the next load compares with what was filled
    land(shop, "2024-03-07", *rows((1, "a", 10, "U"), (2, "B", 23, "U")))
    shop.load("2024-03-07")
    assert shop.rows(found) == [
        (1, 10, "N", "2024-03-01"),
        (2, 23, "U", "2024-03-07"),
        (4, 41, "X", "2024-03-06"),
        (5, 50, "X", "2024-03-05"),
    ]


def test_a_column_of_another_type_and_name_now(people: Callable[..., Shop]) -> None:  # noqa: F811
    """It was added as text, and declared as a number with that load; dates have times of day."""
    shop = people(business_date_type="timestamp", source={"path": "unset"} | IGNORE)
    shop.node["config"]["meta"]["spark_cdc"]["source"]["path"] = (
        f"{shop.folder}/{{business_date:%Y-%m-%dT%H%M}}"
    )
    for time, *values in (
        ("2024-03-01 08:00:00", (1, "a", 1), (2, "b", "x")),
        ("2024-03-01 09:00:00", (1, "A", 2), (2, "b", 3)),
        ("2024-03-01 10:00:00", (1, "A", 2), (2, "B", 4)),
    ):
        land(shop, time[:16].replace(" ", "T").replace(":", ""), *rows(*values))
        shop.load(time)
    declare(shop, "post code", "int", **{"from": "zip"})
    shop.load("2024-03-01 10:00:00")
    assert shop.rows("id, `post code`, operation") == [(1, 2, "U"), (2, 4, "U")]
    said = fill(shop, "post code", "2024-03-01 08:00:00")
    assert "1 row of the input left out, which can't be accepted, such as post code: 'x'" in said
    assert shop.rows("id, name, `post code`, string(eff_start_date)", "versions") == [
        (1, "A", 2, "2024-03-01 09:00:00"),
        (1, "a", 1, "2024-03-01 08:00:00"),
        (2, "B", 4, "2024-03-01 10:00:00"),
        (2, "b", None, "2024-03-01 08:00:00"),
    ]
    assert shop.rows("id, operation") == [(1, "N"), (2, "U")]


@pytest.mark.parametrize(
    ("column", "first", "settings", "said"),
    [
        ("town", "2024-03-01", {}, "there is no column 'town' to fill; accepted are name, zip"),
        ("id", "2024-03-01", {}, "there is no column 'id' to fill"),
        ("zip", "soon", {}, "the first date is 'soon', which is no date"),
        ("zip", "2024-03-02", {}, "the loads from 2024-03-02 on have 'zip': accepted are earlier"),
        ("name", "2024-03-01", {}, "all loads have 'name': there is nothing to fill"),
        ("zip", "2024-03-01", {"sources": {"delta": {}}}, "of several sources"),
        ("zip", "2024-03-01", {"keyless": True}, "no key by which a value"),
        ("zip", "2024-03-01", {"landed": False}, "nothing has landed of the dates before"),
        ("city", "2024-03-01", {"is_new": True}, "no load has brought 'city', or stg_people has"),
        ("zip", "2024-03-01", {"events": 1}, "each of which is applied as a whole. Load them anew"),
        ("zip", "2024-03-01", {"default": 0}, "has a default, which rows of earlier loads show"),
        ("zip", "2024-03-01", {"later": True}, "'zip' has had another type since 2024-03-02, when"),
    ],
)
def test_what_is_refused(
    people: Callable[..., Shop],  # noqa: F811
    column: str,
    first: str,
    settings: dict[str, Any],
    said: str,
) -> None:
    shop = people(source=IGNORE, **{"keyless": True} if settings.get("keyless") else {})
    if settings.get("keyless"):
        shop.node["columns"][0]["config"]["meta"]["role"] = "compared"
    land(shop, "2024-03-01", *rows((1, "a", 1)))
    shop.load("2024-03-01")
    declare(shop, "zip", "int", **{"default": 0} if "default" in settings else {})
    land(shop, "2024-03-02", *rows((1, "a", 1)))
    shop.load("2024-03-02")
    if "later" in settings:
        shop.node["columns"][-1]["data_type"] = "string"
        land(shop, "2024-03-03", *rows((1, "a", 1)))
        shop.load("2024-03-03")
    if "is_new" in settings:
        declare(shop, "city", "string")
    if "landed" in settings:
        (shop.folder / "2024-03-01/data.csv").unlink()
    if "sources" in settings:
        shop.node["config"]["meta"]["spark_cdc"]["sources"] = settings["sources"]
    if "events" in settings:
        shop.node["config"]["meta"]["spark_cdc"] |= {
            "load_type": "events",
            "events": {"format": "debezium"},
            "source": IGNORE | {"format": "json", "path": "landing/{business_date}"},
        }
    found = f"select * from {shop.ledger} order by load_id, operation"
    shop.cursor.execute(found)
    before = shop.cursor.fetchall()
    with pytest.raises(CompilerError, match=said):
        fill(shop, column, first)
    shop.cursor.execute(found)
    assert shop.cursor.fetchall() == before


@pytest.mark.integration
def test_through_dbt(project: Project, command: Callable[..., tuple[int, str]]) -> None:
    """A draft that is compared and published; consumers, the audit, undo and verify follow."""
    columns = {"id": KEY, "name": "string", "op": {"data_type": "string", "role": "control"}}
    source = {"format": "csv", "on_unexpected_column": "ignore"}
    settings = FLAGGED | {"checkpoint": {"loads": 100, "changed_share": 100}}
    asked = "spark_cdc.changes('towns', since)"
    (project.folder / "macros").mkdir(exist_ok=True)
    (project.folder / "macros" / "feed.sql").write_text(
        "{% macro feed(since) %}{% do print('feed: ' ~ tojson(" + asked + ")) %}{% endmacro %}\n"
    )
    project.entity("towns", columns, source=source, **settings)
    for view in ("changes", "versions"):
        model = project.folder / f"models/towns/towns_{view}.sql"
        model.write_text(f"{{{{ spark_cdc.{view}() }}}}\n", encoding="utf-8")
    project.land("towns", "2024-03-01", "id,name,zip,op", "1,a,10,I", "2,b,20,I", "3,c,30,I")
    project.land("towns", "2024-03-02", "id,name,zip,op", "2,B,21,U", "3,,,D")
    project.land("towns", "2024-03-03", "id,name,zip,op", "2,B,21,U", "4,d,40,I")
    project.load("2024-03-01", "towns")
    project.load("2024-03-02", "towns")
    project.entity("towns", columns, source=source | {"on_unexpected_column": "add"}, **settings)
    project.load("2024-03-03", "towns")
    now = ("towns_current", "id, zip, operation, string(eff_start_date)")
    before = [
        (1, None, "X", "2024-03-01"),
        (2, "21", "U", "2024-03-03"),
        (4, "40", "I", "2024-03-03"),
    ]
    assert project.rows(*now) == before
    version = project.timeline("towns")["sequence"]

    words = ("replay", "towns", "--fill", "zip", "--from", "2024-03-01")
    code, said = command(*words, "--dry-run")
    assert (code, "2024-03-02  2 of 2 rows have a value" in said) == (0, True), said
    code, said = command(*words)
    assert (code, "to publish: spark-cdc replay towns --fill zip" in said) == (0, True), said
    assert "replay from 2024-03-01, from the landing (zip alone); 3 loads" in said
    assert project.rows(*now) == before
    code, said = command(*words, "--publish")
    assert (code, "filled zip" in said) == (0, False), said  # the draft is there
    after = [
        (1, "10", "X", "2024-03-01"),
        (2, "21", "N", "2024-03-02"),
        (4, "40", "I", "2024-03-03"),
    ]
    assert project.rows(*now) == after
    assert project.rows("towns_versions", "id, name, zip") == [
        (1, "a", "10"),
        (2, "B", "21"),
        (2, "b", "20"),
        (3, "c", "30"),
        (4, "d", "40"),
    ]
    # what a consumer of the change feed gets
    words_of_feed = ("run-operation", "feed", "--args", json.dumps({"since": version}))
    told = project.dbt(*words_of_feed).output
    assert "feed: " in told, told
    (text,) = re.findall(r"feed: (.*)", told)
    came = project.query(
        f"select id, zip, _change_type from (\n{json.loads(text)}\n) as feed order by 1, 3"
    )
    assert [row for row in came if row[0] != 2] == [
        (1, "10", "update_postimage"),
        (1, None, "update_preimage"),
    ]
    assert {row[1] for row in came if row[0] == 2} <= {"21"}
    log = "select business_time, message, replaced_load_ids is not null from {s}.cdc_loads where"
    assert project.query(f"{log} entity = 'towns' and status = 'committed' order by 1") == [
        (f"2024-03-0{day}", "a replay filled zip", True) for day in (1, 2, 3)
    ]
    code, said = command("verify", "towns")
    assert code == 0, said
    for word, rows in (("undo", [(1, "10"), (2, "21")]), ("redo", [row[:2] for row in after])):
        code, said = command(word, "towns")
        assert code == 0, said
        assert project.rows("towns_current", "id, zip") == rows
    code, said = command("replay", "towns", "--fill", "zip", "--from", "2024-03-03")
    assert (code, "the loads from 2024-03-03 on have 'zip'" in said) == (1, True), said
    code, said = command("replay", "--fill", "zip", "--publish")
    assert (code, "--fill needs --from" in said, "--fill takes one entity" in said) == (
        2,
        True,
        True,
    )
