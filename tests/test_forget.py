"""Keys that are forgotten: no value of theirs is left on disk, and all else is as it was."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

from project import Project
from test_sensitive import DAYS, SETTINGS, STORY, describe, land, values

Command = Callable[..., tuple[int, str]]
HEADER = "id,mail,phone,born,remark,city"
# Key 2 is forgotten: what came in of it, and what masks show of that.
GONE = [text for marker in ("bb", "bx") for text in values(marker)]
MASKS = ["mailb.example"]
RELATIONS = ("current", "history", "versions")


def texts(path: Path) -> str:
    """What a file holds, decoded where it is Parquet or ORC or zipped."""
    content = path.read_bytes()
    if content[:4] == b"PAR1":
        return repr(pa.parquet.read_table(pa.BufferReader(content)).to_pylist())
    if content[:3] == b"ORC":
        return repr(pa.orc.ORCFile(pa.BufferReader(content)).read().to_pylist())
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return content.decode("utf-8", errors="replace")


def holders(project: Project, wanted: list[str]) -> list[str]:
    """The files of the warehouse and the project, but those that landed, with one of some texts."""
    places = [project.folder / name for name in ("logs", "target", "models")]
    for schema in ("", "_sensitive", "_commits"):
        found = project.query(f"describe database {project.schema}{schema}")
        location = next(row[1] for row in found if row[0] == "Location")
        places.append(Path(location.removeprefix("file:")))
    found = []
    for place in places:
        for path in place.rglob("*"):
            if path.is_file() and not path.name.endswith(".msgpack"):
                text = texts(path)
                found += [f"{path}: {one}" for one in wanted if one in text or dated(one) in text]
    return found


def dated(text: str) -> str:
    """A date as Python shows it."""
    year, _, rest = text.partition("-")
    if not year.isdigit() or len(text) != 10:
        return text
    month, day = rest.split("-")
    return f"datetime.date({year}, {int(month)}, {int(day)})"


def shown(project: Project, name: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of the views on both sides."""
    found = {}
    for view in RELATIONS:
        columns = "id, mail, phone, cast(born as string), remark, city, key_hash, nonkey_hash"
        more = "operation, cast(eff_start_date as string)"
        for schema, suffix in (("{s}", ""), ("{s}_sensitive", "_sensitive")):
            rows = project.query(f"select {columns}, {more} from {schema}.{name}_{view}{suffix}")
            found[f"{view}{suffix}"] = sorted(rows, key=repr)
    return found


def without(rows: list[tuple[Any, ...]], *, key: int = 2) -> list[tuple[Any, ...]]:
    return [row for row in rows if row[0] != key]


def assert_forgotten(
    project: Project, before: dict[str, Any], name: str, keys: tuple[int, ...] = (2,)
) -> None:
    """The views are as before but for the values of the keys."""
    after = shown(project, name)
    for view, rows in after.items():
        assert [row for row in rows if row[0] not in keys] == [
            row for row in before[view] if row[0] not in keys
        ], view
        plain = [(row[0], row[5], *row[8:]) for row in rows if row[0] in keys]
        assert plain == [(row[0], row[5], *row[8:]) for row in before[view] if row[0] in keys], view
        gone = [row[1:5] for row in rows if row[0] in keys]
        assert gone and set(gone) == {(None,) * 4}, view


def verify(project: Project) -> None:
    verified = project.dbt("test", "--select", "path:models")
    assert verified.success, verified.output


@pytest.fixture(scope="module")
def shop(project: Project) -> Iterator[Project]:
    """The three load types after three loads, the last with a rejected row of the key."""
    for name in SETTINGS:
        describe(project, name)
    outcome = project.operate("secrets", action="init")
    assert outcome.success, outcome.output
    for day in range(3):
        for name in SETTINGS:
            land(project, name, day)
        project.load(DAYS[day], *SETTINGS)
    yield project


def test_a_key_is_gone_from_all_files_and_stays_so(shop: Project, command: Command) -> None:
    rejected = "2,{0[0]},{0[1]},1985-02-31,{0[3]},Rom".format(values("bx"))
    shifted = "hush,2,{0[0]},{0[1]},1985-02-03,{0[3]}".format(values("bb"))
    good = "1,{0[0]},{0[1]},{0[2]},{0[3]},Bonn".format(values("ay"))
    shop.land("people", DAYS[3], HEADER, good, rejected, shifted)
    shop.load(DAYS[3], "people", spark_cdc_lift=["rejected_share"])
    before = {name: shown(shop, name) for name in SETTINGS}
    assert holders(shop, GONE)
    for name in SETTINGS:
        code, said = command("forget", name, "--key", "2")
        assert code == 0, said
        assert f"{name}: forgot 1 key: " in said
        assert_forgotten(shop, before[name], name)
    assert holders(shop, [*GONE, *MASKS]) == []
    verify(shop)
    logged = shop.query("select status, message from {s}.cdc_loads where load_type = 'forget'")
    assert [row[0] for row in logged] == ["forgotten"] * 3

    # the same again has nothing to do
    code, said = command("forget", "people", "--key", "2")
    assert code == 0 and "0 rows had values of them; 0 loads written anew" in said, said

    # a later load brings the key again
    for name in SETTINGS:
        state = STORY[2] if name == "people" else {}
        land(shop, name, 4, [{}, {}, {}, {}, state | {2: ("bx", "Rom")}])
    shop.load(DAYS[4], *SETTINGS)
    for name in SETTINGS:
        assert not [
            row
            for row in shop.rows(f"{name}_history", "id, business_date, operation")
            if row[0] == 2 and str(row[1]) == DAYS[4]
        ], name
    assert holders(shop, [*GONE, *MASKS]) == []
    verify(shop)


@pytest.mark.full
def test_a_replay_from_the_landing_brings_nothing_back(shop: Project, command: Command) -> None:
    for name in SETTINGS:
        before = shown(shop, name)
        code, said = command("replay", "--from", DAYS[0], "--select", name, "--publish")
        assert code == 0, said
        assert without(shown(shop, name)["current_sensitive"]) == without(
            before["current_sensitive"]
        )
    assert holders(shop, [*GONE, *MASKS]) == []
    verify(shop)
