"""Ledgers as tables of ORC, Delta and Iceberg: loads of all kinds, and what is done to ledgers.

`make test-formats` runs the suites of replays, readers and histories on each, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from own_servers import shop_in
from project import Project
from test_maintenance import (
    DAYS,
    ENTITIES,
    STORY,
    follows,
    load_four_days,
    location,
    manifest,
    views,
)

pytestmark = pytest.mark.proves("file formats")

VERIFY = ("test", "--select", "tag:spark_cdc_verify")


@pytest.fixture(scope="module", params=["orc", "delta", "iceberg"])
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """The entities of the maintenance tests after four loads, on a server that has the format."""
    with shop_in(request.param, tmp_path_factory.mktemp(request.param)) as project:
        load_four_days(project)
        yield project


@pytest.mark.full
def test_loads_and_their_views(shop: Project) -> None:
    follows(shop, STORY[:4])
    for name in ENTITIES:
        rows = shop.query(f"describe extended {{s}}.{name}_ledger")
        assert {row[0]: row[1] for row in rows}["Provider"] == shop.file_format
        log = "".join(
            path.read_text("utf-8")
            for path in location(shop, f"{name}_ledger").glob("_delta_log/*.json")
        )
        assert ("numRecords" in log) == (shop.file_format == "delta")
        assert "minValues" not in log
    tested = shop.dbt("test")
    assert tested.success, tested.output


@pytest.mark.full
def test_reruns_undo_and_replay(shop: Project) -> None:
    before = {name: views(shop, name) for name in ENTITIES}
    shop.load(DAYS[3], *ENTITIES)
    undone = shop.operate("undo", entities=list(ENTITIES), to=DAYS[2])
    assert undone.success, undone.output
    follows(shop, STORY[:3])
    redone = shop.operate("redo", entities=list(ENTITIES))
    assert redone.success, redone.output
    follows(shop, STORY[:4])
    for date in DAYS[1:4]:
        shop.load(date, *ENTITIES, spark_cdc_replay={"from": DAYS[1]})
    published = shop.operate("publish_replay", entities=list(ENTITIES))
    assert published.success, published.output
    follows(shop, STORY[:4])
    assert {name: len(rows["current"]) for name, rows in before.items()} == {
        name: len(views(shop, name)["current"]) for name in ENTITIES
    }


@pytest.mark.full
def test_compact_vacuum_verify(shop: Project) -> None:
    before = {name: views(shop, name) for name in ENTITIES}
    done = shop.operate("compact", entities=list(ENTITIES), older_than_days=0, execute=True)
    assert done.success, done.output
    assert {name: views(shop, name) for name in ENTITIES} == before
    dry = shop.operate("vacuum", retention_hours=0, force=True)
    assert dry.success and "would drop" in dry.output, dry.output
    done = shop.operate("vacuum", retention_hours=0, force=True, execute=True)
    assert done.success, done.output
    assert ("the snapshots of" in done.output) == (shop.file_format != "orc")
    for name in ENTITIES:
        found = shop.query(
            f"select distinct load_id from {{s}}.{name}_ledger where operation <> 'R'"
        )
        assert {row[0] for row in found} == set(manifest(shop, name))
    again = shop.operate("vacuum", retention_hours=0, force=True, execute=True)
    assert "vacuum: dropped 0 loads" in again.output, again.output
    assert {name: views(shop, name) for name in ENTITIES} == before
    tested = shop.dbt(*VERIFY)
    assert tested.success, tested.output


@pytest.mark.full
def test_columns_come_and_go(shop: Project) -> None:
    """A new column, and later one that the table has and nobody declares."""
    name, more = "full", {"id": {"data_type": "int", "role": "key"}, "name": "string"}
    shop.entity(name, more | {"size": {"data_type": "int", "default": 7}}, dropped_columns=["seen"])
    shop.land(name, DAYS[4], "id,name,size", "1,a,1", "2,b5,")
    shop.load(DAYS[4], name)
    shop.query("refresh table {s}.full_ledger")  # as the load says to open sessions
    assert shop.rows("full_current", "id, name, size") == [(1, "a", 1), (2, "b5", None)]
    shop.entity(name, more, dropped_columns=["seen", "size"])
    shop.land(name, "2024-03-06", "id,name", "1,a", "2,b6")
    shop.load("2024-03-06", name)
    assert shop.rows("full_current", "id, name") == [(1, "a"), (2, "b6")]
    tested = shop.dbt(*VERIFY)
    assert tested.success, tested.output


@pytest.mark.full
def test_columns_that_nobody_declared(shop: Project) -> None:
    """Loads add one, undo and redo go over it, and its past is filled."""
    columns = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
    source = {"format": "csv", "on_unexpected_column": "ignore"}
    shop.entity("towns", columns, source=source)
    for day, zips in enumerate(("1", "2", "2")):
        shop.land("towns", DAYS[day], "id,name,zip", f"1,a{day},{zips}", f"2,b,{day}")
    shop.load(DAYS[0], "towns")
    shop.load(DAYS[1], "towns")
    shop.entity("towns", columns, source=source | {"on_unexpected_column": "add"})
    shop.load(DAYS[2], "towns")
    shop.query("refresh table {s}.towns_ledger")  # as the load says to open sessions
    now = ("towns_current", "id, name, zip, operation")
    assert shop.rows(*now) == [(1, "a2", "2", "U"), (2, "b", "2", "U")]
    for command, zips in (("undo", [None, None]), ("redo", ["2", "2"])):
        done = shop.operate(command, entities=["towns"])
        assert done.success, done.output
        assert [row[2] for row in shop.rows(*now)] == zips
    filled = shop.operate("fill_column", entity="towns", column="zip", first=DAYS[0])
    assert filled.success, filled.output
    published = shop.operate("publish_replay", entities=["towns"])
    assert published.success, published.output
    shop.query("refresh table {s}.towns_ledger")
    assert shop.rows(*now) == [(1, "a2", "2", "U"), (2, "b", "2", "U")]
    history = "id, zip, operation, string(eff_start_date)"
    assert shop.rows("towns_history", history) == [
        (1, "1", "I", DAYS[0]),
        (1, "2", "U", DAYS[1]),
        (1, "2", "U", DAYS[2]),
        (2, "0", "I", DAYS[0]),
        (2, "2", "U", DAYS[2]),
    ]
    tested = shop.dbt(*VERIFY)
    assert tested.success, tested.output


@pytest.mark.full
def test_a_file_that_is_gone_is_found(shop: Project) -> None:
    last = manifest(shop, "delta")[-1]
    folder = location(shop, "delta_ledger")
    gone = next(folder.rglob(f"load_id={last}/operation=U/[!.]*"))  # not its checksum's
    kept = folder.parent / gone.name
    gone.rename(kept)
    tested = shop.dbt(*VERIFY)
    assert tested.status["spark_cdc_files_match_manifest_delta_committed_"] == "fail", tested.output
    kept.rename(gone)


@pytest.mark.full
@pytest.mark.parametrize("shop", ["delta"], indirect=True)
def test_a_delta_table_that_was_begun_is_made(shop: Project) -> None:
    """A log without a version, as a full disk leaves it, goes; anything else beside it stays."""
    name = "begun"
    shop.entity(name, {"id": {"data_type": "int", "role": "key"}})
    shop.land(name, DAYS[0], "id", "1")
    folder = location(shop, "delta_ledger").with_name(f"{name}_ledger")
    log, others = folder / "_delta_log", folder / "somebody.parquet"
    log.mkdir(parents=True)
    (log / ".00000000000000000000.json.0a1b.tmp").touch()

    others.touch()
    refused = shop.run(DAYS[0], name)
    assert "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION" in refused.output, refused.output
    assert str(folder) in refused.output and log.exists() and others.exists()

    others.unlink()
    said = shop.load(DAYS[0], name).output
    assert f"begun: drops file:{folder}, in which a statement that broke off has left" in said
    assert shop.rows("begun_current", "id") == [(1,)]
    assert not (log / ".00000000000000000000.json.0a1b.tmp").exists()
    assert "begun: drops" not in shop.load(DAYS[0], name).output
    assert not shop.query("show partitions {s}.cdc_loads partition (load_id = 'spark-staging')")
