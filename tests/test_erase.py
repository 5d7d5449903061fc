"""Keys that are erased: no value of theirs is left on disk, and all else is as it was."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyhive import hive

from project import Project
from test_sensitive import DAYS, SETTINGS, STORY, land, load_story, values

pytestmark = pytest.mark.proves("sensitive")

Command = Callable[..., tuple[int, str]]
HEADER = "id,mail,phone,born,remark,city"
# Key 2 is erased: what came in of it, and what masks show of that.
GONE = [text for marker in ("bb", "bx") for text in values(marker)]
MASKS = ["mailb.example"]
RELATIONS = ("current", "history", "versions")


def files(project: Project) -> dict[Path, str]:
    """What each file of the warehouse and the project holds, but those that landed, as text.

    Tables are read by Spark from their folders, whatever the metastore knows of them.
    """
    found = {}
    places = [project.folder / name for name in ("logs", "target", "models")]
    for schema in ("", "_sensitive", "_commits"):
        described = project.query(f"describe database {project.schema}{schema}")
        location = next(row[1] for row in described if row[0] == "Location")
        places.append(Path(location.removeprefix("file:")))
    for place in places:
        for path in place.rglob("*"):
            if path.is_file() and path.suffix != ".msgpack":
                content = path.read_bytes()
                content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
                found[path] = content.decode("utf-8", errors="replace")
        for table in place.iterdir() if place.exists() else ():
            for kind in ("parquet", "orc"):
                if table.is_dir() and list(table.rglob(f"*.{kind}")):
                    rows = project.query(f"select to_json(struct(*)) from {kind}.`{table}`")
                    for (row,) in rows:
                        operation = json.loads(row).get("operation")
                        part = table / f"operation={operation}" / kind
                        found[part] = f"{found.get(part, '')}{row}\n"
    assert not [path for path in found if ".spark-staging" in str(path)]
    return found


def holders(project: Project, wanted: list[str], *others: str) -> list[str]:
    """The files and tables with one of some texts, but those of other entities."""
    return [
        f"{path}: {one}"
        for path, text in files(project).items()
        if not any(f"/{other}_" in str(path) for other in others)
        for one in wanted
        if one in text
    ]


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


def assert_erased(
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


def verify(project: Project, *names: str) -> None:
    verified = project.dbt("test", "--select", *(f"path:models/{name}" for name in names))
    assert verified.success, verified.output


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """The three load types after three loads."""
    list(load_story(project))
    return project


@pytest.mark.full
def test_a_key_is_gone_from_all_files_and_stays_so(shop: Project, command: Command) -> None:
    rejected = "2,{0[0]},{0[1]},1985-02-31,{0[3]},Rom".format(values("bx"))
    shifted = "hush,2,{0[0]},{0[1]},1985-02-03,{0[3]}".format(values("bb"))
    good = "1,{0[0]},{0[1]},{0[2]},{0[3]},Bonn".format(values("ay"))
    shop.land("people", DAYS[3], HEADER, good, rejected, shifted)
    shop.load(DAYS[3], "people", spark_cdc_skip_guards=["rejected_share"])
    before = {name: shown(shop, name) for name in SETTINGS}
    assert holders(shop, GONE)
    for name in SETTINGS:
        code, said = command("erase", name, "--key", "2", "--dry-run")
        assert code == 0, said
        told = re.search(rf"{name}: would erase 1 key: (\d+) rows have .*; (\d+) load", said)
        assert told and len(re.findall(r"\d{8}-\w+-[0-9a-f]{8}", said)) >= int(told[2]) > 0, said
        assert shown(shop, name) == before[name]
        assert shop.query(f"show tables in {{s}}_sensitive like '{name}_erased'") == []
        code, said = command("erase", name, "--key", "2")
        assert code == 0, said
        assert f"{name}: erased 1 key: {told[1]} rows had" in said
        assert f"{told[2]} load" in said
        assert_erased(shop, before[name], name)
    assert holders(shop, [*GONE, *MASKS]) == []
    verify(shop, *SETTINGS)
    logged = shop.query("select status, message from {s}.cdc_loads where load_type = 'erase'")
    assert [row[0] for row in logged] == ["erased"] * 3

    # the same again has nothing to do
    code, said = command("erase", "people", "--key", "2")
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
    verify(shop, *SETTINGS)


@pytest.mark.full
def test_a_replay_from_the_landing_brings_nothing_back(shop: Project, command: Command) -> None:
    for name in SETTINGS:
        assert command("erase", name, "--key", "2")[0] == 0
        before = shown(shop, name)
        code, said = command("replay", "--from", DAYS[0], "--select", name, "--publish")
        assert code == 0, said
        assert without(shown(shop, name)["current_sensitive"]) == without(
            before["current_sensitive"]
        )
    # a rejected row whose key can't be read is not recognised (docs/sensitive.md)
    left = holders(shop, [*GONE, *MASKS])
    assert all("/operation=R/" in found for found in left), left
    assert command("erase", "people", "--key", "2")[0] == 0
    assert holders(shop, [*GONE, *MASKS]) == []
    verify(shop, *SETTINGS)


@contextmanager
def killed(monkeypatch: pytest.MonkeyPatch, where: str) -> Iterator[list[str]]:
    """Send nothing more from a statement on, as if dbt had been killed before it."""
    execute, reached = hive.Cursor.execute, []

    def send(cursor: Any, sql: str, *more: Any, **options: Any) -> Any:
        if reached or re.search(where, sql):
            reached.append(sql)
            raise RuntimeError("killed")
        return execute(cursor, sql, *more, **options)

    with monkeypatch.context() as patched:
        patched.setattr(hive.Cursor, "execute", send)
        yield reached


@pytest.mark.integration
@pytest.mark.parametrize(
    "name", ["moves", *(pytest.param(one, marks=pytest.mark.full) for one in ("people", "visits"))]
)
def test_what_was_interrupted_is_finished(
    shop: Project, command: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Before its writes, its commit, its record and its drops: key 3."""
    before = shown(shop, name)
    for where in (
        r"insert overwrite table \S+_ledger_sensitive",
        rf"alter view \S+\.{name}_committed",
        r"insert overwrite table \S+cdc_loads",
        rf"alter table \S+\.{name}_ledger drop",
        rf"alter table \S+\.{name}_ledger_sensitive drop",
    ):
        with killed(monkeypatch, where) as reached:
            code, said = command("erase", name, "--key", "3")
        assert code != 0 and reached, (where, said)
        if "insert" in where and "ledger" in where:
            assert shown(shop, name) == before
    code, said = command("erase", name, "--key", "3")
    assert code == 0, said
    assert_erased(shop, before, name, (3,))
    gone = [text for marker in ("cc", "cz") for text in values(marker)]
    assert holders(shop, gone, *(one for one in SETTINGS if one != name)) == []
    verify(shop, name)


CLIENT: dict[str, Any] = {
    "mail": {"data_type": "string", "role": "key", "sensitive": True, "pseudonymize": True},
    "born": {"data_type": "date", "sensitive": True, "mask": "year"},
    "city": "string",
}
KEYED: dict[str, dict[str, Any]] = {
    "clients": {"load_type": "full"},
    "letters": SETTINGS["moves"],
}


def land_clients(project: Project, day: int, state: dict[str, str]) -> None:
    """By marker, where a client lives."""
    lines = [f"{values(one)[0]},{values(one)[2]},{city}" for one, city in state.items()]
    project.land("clients", DAYS[day], "mail,born,city", *lines)
    lines = [f"U,{day}{at},{line}" for at, line in enumerate(lines)]
    project.land("letters", DAYS[day], "op,seq,mail,born,city", *lines)


def clients(project: Project, name: str) -> list[tuple[Any, ...]]:
    columns = "mail, cast(born as string), city, operation, cast(eff_start_date as string)"
    return sorted(
        project.query(f"select {columns} from {{s}}_sensitive.{name}_history_sensitive"), key=repr
    )


@pytest.mark.full
def test_a_sensitive_key_is_gone_with_its_hash(
    shop: Project, command: Command, tmp_path: Path
) -> None:
    for name, settings in KEYED.items():
        control = {"op": {"data_type": "string", "role": "control"}}
        control["seq"] = {"data_type": "bigint", "role": "control"}
        shop.entity(name, CLIENT | (control if name == "letters" else {}), **settings)
    for day in range(2):
        land_clients(shop, day, {"aa": "Bern", "bb": f"Rom {day}", "cc": "Oslo"})
        shop.load(DAYS[day], *KEYED)
    key, born = values("bb")[0], values("bb")[2]
    ledgers = [f"{{s}}.{name}_ledger" for name in KEYED]
    ledgers += [f"{{s}}_sensitive.{name}_ledger_sensitive" for name in KEYED]
    hashes = [
        shop.query(
            "select hex(key_hash) from {s}_sensitive."
            f"{name}_ledger_sensitive where mail = '{key}' limit 1"
        )[0][0]
        for name in KEYED
    ]
    code, said = command("erase", "clients", "--key", key)
    assert code != 0 and "its key is sensitive (mail)" in said, said

    shop.query(f"create table {{s}}.requests using parquet as select '{key}' as mail")
    file = tmp_path / "keys.csv"
    file.write_text(f"mail\n{key}\n", encoding="utf-8")
    for name, source in (("clients", f"{shop.schema}.requests"), ("letters", str(file))):
        before = clients(shop, name)
        code, said = command("erase", name, "--keys", source)
        assert code == 0, said
        wanted = [(None, None, *row[2:]) if row[0] == key else row for row in before]
        assert clients(shop, name) == sorted(wanted, key=repr)
        kept = shop.query(
            f"select count(distinct key_hash), count(*) from {{s}}.{name}_history"
            " where city like 'Rom%'"
        )
        assert kept == [(1, 2)]
    shop.query("drop table {s}.requests")
    for ledger in ledgers:
        for one in hashes:
            found = shop.query(f"select count(*) from {ledger} where hex(key_hash) = '{one}'")
            assert found == [(0,)]
    assert holders(shop, [key, born], *SETTINGS) == []
    verify(shop, *KEYED)

    # it comes again, unchanged and changed
    for day, city in ((2, "Rom 1"), (3, "Roma")):
        land_clients(shop, day, {"aa": "Bern", "bb": city, "cc": "Oslo"})
        shop.load(DAYS[day], *KEYED)
    for name in KEYED:
        came = [row for row in clients(shop, name) if row[4] >= DAYS[2]]
        assert came == [(None, None, "Roma", "U", DAYS[3])], name
    verify(shop, *KEYED)


@pytest.mark.full
def test_a_rotation_erases_nothing(shop: Project, command: Command) -> None:
    """The keys of the test before, loaded anew with another secret."""
    key, born = values("bb")[0], values("bb")[2]
    code, said = command("secrets", "rotate", "--force")
    assert code == 0, said
    for name in KEYED:
        code, said = command("replay", "--from", DAYS[0], "--select", name, "--publish")
        assert code == 0, said
        rows = [row for row in clients(shop, name) if row[0] in (None, key)]
        assert {row[:2] for row in rows} == {(None, None)}
    code, said = command("secrets", "check")
    assert code == 0 and "clients (erased keys)" in said, said
    code, said = command(*("vacuum", "--select", *KEYED, "--retention", "0", "--force"))
    assert code == 0, said
    assert holders(shop, [key, born], *SETTINGS) == []
    verify(shop, *KEYED)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("people", "--key", "99"), "1 of 1 keys are in no load"),
        (("people", "--key", "x"), "of the keys 1 are none: a value is missing or not of its type"),
        (("people", "--key", "1", "2"), "a key has 2 values; the key has 1: id"),
        (("nobody", "--key", "1"), "There is no entity 'nobody'"),
        (("people", "--keys", "{s}.cdc_loads"), "lacks id; it has business_time"),
        (("plain", "--key", "1"), "it has no sensitive columns"),
    ],
)
def test_what_is_asked_for_is_checked(
    shop: Project, command: Command, words: tuple[str, ...], message: str
) -> None:
    if words[0] == "plain":
        shop.entity("plain", {"id": {"data_type": "int", "role": "key"}, "city": "string"})
    before = shop.query("show tables in {s}_sensitive like '*_erased'")
    code, said = command("erase", *(word.format(s=shop.schema) for word in words))
    assert code != 0 and message in said, said
    assert "Nothing was written" in said or words[0] == "nobody"
    assert shop.query("show tables in {s}_sensitive like '*_erased'") == before


@pytest.mark.integration
def test_a_key_that_no_load_has_is_known_when_it_comes(shop: Project, command: Command) -> None:
    code, said = command("erase", "visits", "--key", "77", "--even-if-absent")
    assert code == 0, said
    land(shop, "visits", 5, [{}, {}, {}, {}, {}, {77: ("ff", "Genf")}])
    shop.load(DAYS[5], "visits")
    found = shop.query(
        "select id, mail, remark, city from {s}_sensitive.visits_current_sensitive where id = 77"
    )
    assert found == [(77, None, None, "Genf")]
    assert holders(shop, list(values("ff"))) == []


GUEST: dict[str, Any] = {
    "id": {"data_type": "int", "role": "key"},
    "mail": {"data_type": "string", "sensitive": True, "mask": "mail_domain"},
    "vat": {"data_type": "string", "sensitive": True},
    "city": "string",
}


@pytest.mark.full
def test_loads_of_earlier_definitions_hold_nothing_either(shop: Project, command: Command) -> None:
    """Columns that were renamed and dropped since, and a key that has another name by now."""
    renamed = {
        "no": GUEST["id"] | {"renamed_from": "id"},
        "post": GUEST["mail"] | {"renamed_from": "mail"},
        "city": "string",
    }
    shop.entity("guests", GUEST)
    for day in range(2):
        lines = [f"{n},hush.{n}.{day}@a.example,hush vat {n},Bern {day}" for n in (1, 2)]
        shop.land("guests", DAYS[day], "id,mail,vat,city", *lines)
        shop.load(DAYS[day], "guests")
    shop.entity("guests", renamed, dropped_columns=["vat"])
    shop.land(
        "guests", DAYS[2], "no,post,city", "1,hush.1.1@a.example,Bern 1", "2,hush.2.2@a.example,Rom"
    )
    shop.load(DAYS[2], "guests")
    for table in ("{s}.guests_ledger", "{s}_sensitive.guests_ledger_sensitive"):
        shop.query(f"refresh table {table}")
    columns = "no, post, city, operation, key_hash, cast(eff_start_date as string)"
    view = "{s}_sensitive.guests_history_sensitive"
    before = sorted(shop.query(f"select {columns} from {view}"), key=repr)
    gone = ["hush.2", "hush vat 2"]
    assert holders(shop, gone)
    code, said = command("erase", "guests", "--key", "2")
    assert code == 0 and "3 loads written anew" in said, said
    wanted = [(row[0], None, *row[2:]) if row[0] == 2 else row for row in before]
    after = sorted(shop.query(f"select {columns} from {view}"), key=repr)
    assert after == sorted(wanted, key=repr)
    assert holders(shop, gone) == []
    verify(shop, "guests")

    rekeyed = {"number": GUEST["id"] | {"renamed_from": "no"}, **renamed}
    rekeyed.pop("no")
    shop.entity("guests", rekeyed, dropped_columns=["vat"])
    shop.land("guests", DAYS[3], "number,post,city", "1,hush.1.1@a.example,Bern 1")
    outcome = shop.run(DAYS[3], "guests", spark_cdc_skip_guards=["deleted_share"])
    assert not outcome.success and "put the former key back" in outcome.output, outcome.output


@pytest.mark.full
def test_compacted_undone_and_tagged_loads_hold_nothing_either(
    shop: Project, command: Command
) -> None:
    settings = SETTINGS["people"] | {"checkpoint": {"changed_share": 100, "loads": 2}}
    for name in ("staff", "trips"):
        columns = dict(GUEST)
        if name == "trips":
            columns["op"] = {"data_type": "string", "role": "control"}
            columns["seq"] = {"data_type": "bigint", "role": "control"}
        shop.entity(name, columns, **(settings if name == "staff" else SETTINGS["moves"]))
        header = "id,mail,vat,city" if name == "staff" else "op,seq,id,mail,vat,city"
        for day in range(5):
            lines = [f"{n},hush.{n}.{day}@a.example,hush vat {n},Bern {day}" for n in (1, 2)]
            if name == "trips":
                lines = [f"U,{day}{at},{line}" for at, line in enumerate(lines)]
            elif day == 1:
                lines.append("x,hush.2.x@a.example,hush vat 2,2")  # a key that can't be read
            shop.land(name, DAYS[day], header, *lines)
            shop.load(DAYS[day], name, spark_cdc_skip_guards=["rejected_share"])
        assert command("tag", "create", "early", "--at", DAYS[1], "--select", name)[0] == 0
        outcome = shop.operate("compact", entities=[name], older_than_days=2, execute=True)
        assert outcome.success, outcome.output
        assert command("undo", name)[0] == 0
        before = [
            sorted(
                row[1:]
                for row in shop.query(f"select id, city, operation from {{s}}.{name}_{view}")
            )
            for view in RELATIONS
        ]
        code, said = command("erase", name, "--key", "2")
        assert code == 0, said
        assert [
            sorted(
                row[1:]
                for row in shop.query(f"select id, city, operation from {{s}}.{name}_{view}")
            )
            for view in RELATIONS
        ] == before
        assert holders(shop, ["hush.2", "hush vat 2"]) == []
        tagged = shop.query(
            f"select id, city, mail from {{s}}_commits.{name}_tag_early"
            " where in_checkpoint or since_checkpoint"
        )
        assert len(tagged) >= 2
        code, said = command("redo", name)
        assert code == 0, said
        assert holders(shop, ["hush.2", "hush vat 2"]) == []
    rejected = shop.query("select rejected_row from {s}_sensitive.staff_rejects_sensitive")
    assert rejected == [(None,)]
    verify(shop, "staff", "trips")
