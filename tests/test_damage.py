"""Damage to a ledger is seen by the next load, not built upon; what `verify` advises mends it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from project import Project
from spark_cdc import cli
from test_maintenance import location, manifest

pytestmark = [pytest.mark.proves("maintenance"), pytest.mark.integration]

COLUMNS = {"id": {"data_type": "int", "role": "key"}, "name": "string"}
DAYS = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
LANDED = {
    DAYS[0]: [f"{key},a" for key in range(1, 31)],
    DAYS[1]: ["1,b", "2,b", "31,b"],
    DAYS[2]: ["2,c", "32,c"],
    DAYS[3]: ["3,d"],
}
NAMES = dict.fromkeys(range(1, 31), "a") | {1: "b", 2: "c", 3: "d", 31: "b", 32: "c"}
ROWS = sorted(NAMES.items())


def folder(project: Project, name: str, day: int, operation: str) -> Path:
    """A partition of the ledger."""
    load = manifest(project, name)[day]
    [found] = location(project, f"{name}_ledger").glob(f"*/load_id={load}/operation={operation}")
    return found


def copy_a_file(project: Project, name: str) -> None:
    [file] = folder(project, name, 0, "I").glob("part-*")
    shutil.copy(file, file.with_name(f"copy-{file.name}"))


def lose_a_file(project: Project, name: str) -> None:
    [file] = folder(project, name, 1, "U").glob("part-*")
    file.unlink()


def drop_a_partition(project: Project, name: str) -> None:
    load = manifest(project, name)[1]
    day = f"business_date = '{DAYS[1]}', load_id = '{load}', operation = 'U'"
    project.query(f"alter table {{s}}.{name}_ledger drop partition ({day})")


def truncate_a_file(project: Project, name: str) -> None:
    [file] = folder(project, name, 0, "I").glob("part-*")
    file.write_bytes(file.read_bytes()[:-50])
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def corrupt_a_file(project: Project, name: str) -> None:
    """Bytes in the middle, as a store without checksums may lose them: the pages have their own."""
    [file] = folder(project, name, 0, "I").glob("part-*")
    content = bytearray(file.read_bytes())
    place = content.index(b"PAR1") + 200
    content[place : place + 8] = bytes(byte ^ 0x5A for byte in content[place : place + 8])
    file.write_bytes(content)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def lose_the_folder(project: Project, name: str) -> None:
    shutil.rmtree(location(project, f"{name}_ledger"))


def leave_a_load_out(project: Project, name: str) -> None:
    load = manifest(project, name)[1]
    text = project.query(f"show create table {{s}}.{name}_committed")[0][0]
    text = "select " + text[text.index("/* spark_cdc manifest:") :]
    text = re.sub(rf"'{load}',\s*", "", text)
    project.query(f"alter view {{s}}.{name}_committed as {text}")


# What is done to the ledger; what verify finds, and what it advises.
DAMAGE: dict[str, tuple[Callable[[Project, str], None], str, str]] = {
    "copied": (copy_a_file, "30 rows: the key comes more than once in the load", "replay"),
    "lost": (lose_a_file, "the partition .* has no files any more", "replay"),
    "dropped": (
        drop_a_partition,
        "5 rows were written since the checkpoint, the ledger holds",
        "replay",
    ),
    "truncated": (truncate_a_file, "can't be read", "replay"),
    "corrupt": (corrupt_a_file, "a file's content is damaged", "replay"),
    "vanished": (lose_the_folder, "has no files any more", "replay"),
    "left_out": (leave_a_load_out, "names other loads than its last commit", "committed"),
}
SHORT = ("dropped",)  # the others in make test-all


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """Entities of deltas with three loads, and a fourth that has landed."""
    for name in DAMAGE:
        project.entity(name, COLUMNS, load_type="delta", checkpoint={"changed_share": 5})
        for date, lines in LANDED.items():
            project.land(name, date, "id,name", *lines)
    for date in DAYS[:3]:
        project.load(date, *DAMAGE)
    return project


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    [name if name in SHORT else pytest.param(name, marks=pytest.mark.full) for name in DAMAGE],
)
def test_a_load_does_not_build_on_damage(
    shop: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    do_damage, finding, advice = DAMAGE[name]
    do_damage(shop, name)
    shop.query(f"refresh table {{s}}.{name}_ledger")
    outcome = shop.run(DAYS[3], name)
    assert not outcome.success
    if name in ("truncated", "corrupt"):  # Spark's own error, which names the file
        assert re.search(r"FAILED_READ_FILE.*load_id=", outcome.output), outcome.output
    else:
        assert f"{name}: the ledger differs from what the load" in outcome.output, outcome.output
        assert f"spark-cdc verify {name}" in outcome.output
        loads = f"{{s}}.cdc_loads where entity = '{name}' and status = 'refused'"
        assert shop.query(f"select guard from {loads}") == [("damaged_ledger",)]

    for variable in ("SPARK_CDC_PROJECT_DIR", "DBT_PROFILES_DIR"):
        monkeypatch.setenv(variable, str(shop.folder))
    assert cli.main(["verify", "--select", name]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert re.search(finding, printed), printed

    if advice == "replay":
        found = re.search(rf"spark-cdc (replay --from \S+ --select {name})", printed)
        assert found, printed
        assert cli.main(found[1].split()) == 0
        published = re.search(r"to publish: spark-cdc (.*)", capsys.readouterr().out)
        assert published and cli.main(published[1].split()) == 0
    else:
        assert "alter table" not in printed, "cdc_loads has the evidence"
        drop = f"drop view {shop.schema}.{name}_committed"
        assert f"repair: {drop}; then dbt run --select {name}_committed" in printed
        shop.query(drop)
        mended = shop.dbt("run", "--select", f"{name}_committed")
        assert mended.success, mended.output
    shop.load(DAYS[3], name)
    assert shop.rows(f"{name}_current", "id, name") == sorted(ROWS, key=repr)
    capsys.readouterr()
    assert cli.main(["verify", "--select", name]) == 0, capsys.readouterr().out


def test_cdc_loads_is_made_anew(project: Project) -> None:
    """It is for people: no load needs it, and the ledger has what it says."""
    project.entity("logged", COLUMNS, load_type="delta")
    for date, lines in list(LANDED.items())[:3]:
        project.land("logged", date, "id,name", *lines)
    for date in DAYS[:2]:
        project.load(date, "logged")
    columns = "business_time, status, rows_in, input_files, rows_inserted, rows_updated"
    loads = f"select {columns} from {{s}}.cdc_loads where entity = 'logged' order by load_id"
    before = project.query(loads)
    project.query("drop table {s}.cdc_loads purge")
    project.load(DAYS[2], "logged")
    assert project.query(loads) == [*before, (DAYS[2], "committed", 2, 1, 1, 1)]
