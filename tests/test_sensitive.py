"""Sensitive columns: who may not read their schema finds no value of theirs anywhere.

Each entity is loaded, corrected, compacted and changed as any other; after each step everything
that is not in the schema apart is searched for the values that came in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import scale
from project import Project
from spark_cdc.jinja_bridge import load_macros

pytestmark = pytest.mark.proves("sensitive")

Command = Callable[..., tuple[int, str]]
PERSON: dict[str, Any] = {
    "id": {"data_type": "int", "role": "key"},
    "mail": {"data_type": "string", "sensitive": True, "mask": "mail_domain"},
    "phone": {"data_type": "string", "sensitive": True, "mask": "last_4"},
    "born": {"data_type": "date", "sensitive": True, "mask": "year"},
    "remark": {"data_type": "string", "sensitive": True, "role": "untracked"},
    "city": "string",
}
NAMES = ["mail", "phone", "born", "remark"]
POLICY = {"changed_share": 100, "loads": 2}
SETTINGS: dict[str, dict[str, Any]] = {
    "people": {"load_type": "full", "on_reject": "quarantine"},
    "visits": {"load_type": "delta", "deleted_when": "op = 'D'"},
    "moves": {
        "load_type": "events",
        "events": {"format": "flagged_rows", "operation": "op", "order": ["seq"], "archive": True},
    },
}
DAYS = tuple(f"2024-03-0{day}" for day in range(1, 8))
# By key: how the values of a person begin (each is told by its marker), and the city.
STORY = [
    {1: ("aa", "Bern"), 2: ("bb", "Rom"), 3: ("cc", "Oslo")},
    {1: ("aa", "Bonn"), 2: ("bx", "Rom"), 4: ("dd", "Wien")},
    {1: ("ay", "Bonn"), 2: ("bx", "Rom"), 3: ("cz", "Oslo"), 4: ("dd", "Wien")},
]
SECRET = re.compile(r"hush|19[0-9]{2}-0[2-9]-|\+41 79")


def values(marker: str) -> tuple[str, str, str, str]:
    """What came in of a person: mail, phone, day of birth, remark."""
    number = int.from_bytes(marker.encode()) % 10000
    return (
        f"hush.{marker}@mail{marker[0]}.example",
        f"+41 79 111 {number:04d}",
        f"19{number % 90 + 10}-0{number % 7 + 2}-17",
        f"hush {marker}",
    )


def masked(marker: str) -> tuple[str, str, str, None]:
    mail, phone, born, _ = values(marker)
    return mail.split("@")[1], phone[-4:], f"{born[:4]}-01-01", None


def land(
    project: Project, name: str, day: int, story: list[dict[int, Any]] = STORY, like: str = ""
) -> None:
    """Land a day of a story, as an entity of SETTINGS gets it."""
    now, before = story[day], story[day - 1] if day else {}
    header, line = "id,mail,phone,born,remark,city", "{0},{1[0]},{1[1]},{1[2]},{1[3]},{2}"
    rows = {key: line.format(key, values(what[0]), what[1]) for key, what in now.items()}
    if (like or name) == "people":
        project.land(name, DAYS[day], header, *rows.values())
        return
    lines = [f"U,{row}" for key, row in rows.items() if before.get(key) != now[key]]
    lines += [f"D,{key},,,,," for key in before if key not in now]
    if name == "moves":
        lines = [f"{day + 1}{at:03d},{line}" for at, line in enumerate(lines)]
    project.land(name, DAYS[day], f"{'seq,' if name == 'moves' else ''}op,{header}", *lines)


def describe(
    project: Project, name: str, columns: dict[str, Any] = PERSON, like: str = "", **more: Any
) -> None:
    control: dict[str, Any] = {}
    if (like or name) != "people":
        control["op"] = {"data_type": "string", "role": "control"}
    if name == "moves":
        control["seq"] = {"data_type": "bigint", "role": "control"}
    project.entity(name, columns | control, checkpoint=POLICY, **(SETTINGS[like or name] | more))
    if name == "moves":
        path = project.folder / f"models/{name}/{name}_event_versions_sensitive.sql"
        path.write_text("{{ spark_cdc.event_versions() }}\n", encoding="utf-8")


def told(project: Project) -> list[str]:
    """What everybody may read, as text: tables and views with their rows and their own texts."""
    found = []
    for schema in (project.schema, f"{project.schema}_commits"):
        for row in project.query(f"show tables in {schema}"):
            name = f"{schema}.{row[1]}"
            found += [f"{name} {one}" for one in project.query(f"select * from {name}")]
            found += [f"{name} {project.query(f'show create table {name}')}"]
    return found


def assert_nothing_is_told(project: Project, *outputs: str) -> None:
    leaks = [text for text in [*told(project), *outputs] if SECRET.search(text)]
    assert leaks == []
    log = project.folder / "logs" / "dbt.log"
    assert not log.exists() or not SECRET.search(log.read_text())
    for path in (project.folder / "target").rglob("*.sql"):
        assert not SECRET.search(path.read_text()), path


def assert_shown(project: Project, name: str, state: dict[int, Any], *also: str) -> None:
    """Both sides show a state, each in its own way."""
    columns = "id, cast(mail as string), phone, cast(born as string), remark, city"
    wanted = [(key, *values(marker), city) for key, (marker, city) in state.items()]
    apart = f"{project.schema}_sensitive.{name}_current_sensitive"
    assert sorted(project.query(f"select {columns} from {apart}")) == sorted(wanted)
    wanted = [(key, *masked(marker), city) for key, (marker, city) in state.items()]
    assert sorted(project.query(f"select {columns} from {{s}}.{name}_current")) == sorted(wanted)
    for view in ("history", "versions", *also):
        hashes = "key_hash, nonkey_hash, operation, eff_start_date"
        shown = project.rows(f"{name}_{view}", hashes)
        rows = f"select {hashes} from {project.schema}_sensitive.{name}_{view}_sensitive"
        assert sorted(project.query(rows), key=repr) == shown


def load_story(project: Project) -> Iterator[str]:
    """Load three days of the three load types; after each, what dbt said."""
    for name in SETTINGS:
        describe(project, name)
    outcome = project.operate("secrets", action="init")
    assert outcome.success, outcome.output
    for day in range(3):
        for name in SETTINGS:
            land(project, name, day)
        yield project.load(DAYS[day], *SETTINGS).output


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """The three load types after three loads."""
    said = []
    for output in load_story(project):
        said.append(output)
        if scale.ALL:
            assert_nothing_is_told(project)
    assert_nothing_is_told(project, *said)
    return project


MASKS = [
    ("last_4", "string", "'12345678'", "'5678'"),
    ("last_4", "string", "'1234567'", "null"),
    ("mail_domain", "string", "'a.b@c.example'", "'c.example'"),
    ("mail_domain", "string", "'no address'", "null"),
    ("mail_domain", "string", "'a@b@c'", "null"),
    ("year", "date", "date'1999-12-31'", "date'1999-01-01'"),
    (
        "year",
        "timestamp",
        "timestamp'1999-12-31 23:30:00-02:00'",
        "timestamp'2000-01-01 00:00:00Z'",
    ),
    ("year", "timestamp", "timestamp'1950-06-01 00:00:00Z'", "timestamp'1950-01-01 00:00:00Z'"),
    ("year", "timestamp_ntz", "timestamp_ntz'1999-12-31 23:59:59'", "timestamp_ntz'1999-01-01'"),
    ("none", "array<int>", "array(1)", "null"),
]


def test_masks(cursor: Any) -> None:
    macros = load_macros()
    judged = [
        f"{macros._masked_sql({'mask': mask, 'data_type': kind}, value)} <=> {wanted}"
        f" and typeof({macros._masked_sql({'mask': mask, 'data_type': kind}, value)}) = '{kind}'"
        for mask, kind, value, wanted in MASKS
    ]
    cursor.execute("set spark.sql.session.timeZone = Asia/Kathmandu")
    cursor.execute(f"select {', '.join(judged)}")
    assert cursor.fetchall() == [(True,) * len(MASKS)]


def test_both_sides_show_the_same_rows(shop: Project) -> None:
    for name in SETTINGS:
        assert_shown(shop, name, STORY[2])
    # the loads that <entity>_committed names are known while the join with it is planned
    plan = shop.query("explain select mail from {s}_sensitive.people_current_sensitive")[0][0]
    scans = re.findall(r"people_ledger_sensitive\[.*?PartitionFilters: \[(.*?), Pushed", plan)
    assert scans and all(re.search(r"load_id#\d+ (=|IN|INSET) ", scan) for scan in scans), plan
    count = shop.query(
        f"select count(*) from {shop.schema}_sensitive.moves_event_versions_sensitive"
    )
    assert count[0][0] >= 6
    assert [row for row in shop.query("show tables in {s}") if row[1] == "moves_events"] == []


@pytest.mark.full
def test_what_people_look_at_tells_no_value(shop: Project, command: Command) -> None:
    """dbt show of staging, plan, diff and the report."""
    outcome = shop.dbt("show", "--select", "stg_people", "--vars", f"{{business_date: {DAYS[2]}}}")
    assert outcome.success and "mailc.example" in outcome.output, outcome.output
    land(shop, "people", 3, [{}, *STORY])
    code, planned = command("load", DAYS[3], "--dry-run", "--select", "people")
    assert code == 0, planned
    code, differing = command("diff", "people", DAYS[0], DAYS[2])
    assert code == 0 and "maild.example" in differing, differing
    code, listed = command("files", "people")
    assert code == 0 and "/people_ledger/" in listed and "sensitive" not in listed, listed
    report = shop.folder / "report.html"
    code, said = command("report", "--details", "--out", str(report))
    assert code == 0, said
    assert_nothing_is_told(shop, outcome.output, planned, differing, said, report.read_text())


@pytest.mark.integration
def test_rejected_rows_and_refused_loads_tell_no_value(shop: Project) -> None:
    header = "id,mail,phone,born,remark,city"
    good = "1,{0[0]},{0[1]},{0[2]},{0[3]},Bonn".format(values("ay"))
    shifted = "hush shifted,2,{0[0]},{0[1]},{0[2]},{0[3]}".format(values("bx"))
    wrong = "4,{0[0]},{0[1]},1985-02-31,{0[3]},Wien".format(values("dd"))
    shop.land("people", DAYS[3], header, good, shifted, wrong)
    outcome = shop.load(DAYS[3], "people", spark_cdc_skip_guards=["rejected_share"])
    assert_nothing_is_told(shop, outcome.output)
    shown = shop.rows("people_rejects", "rejected_columns, rejected_row")
    assert shown == [("born", None), ("id, born", None)]
    apart = f"{shop.schema}_sensitive.people_rejects_sensitive"
    whole = shop.query(f"select rejected_reason, rejected_row from {apart} order by 1")
    assert "'1985-02-31' is not accepted as date" in whole[0][0] and "hush.dd" in whole[0][1]

    shop.land("visits", DAYS[3], f"op,{header}", "U,hush,,,,,", f"U,{good}", f"U,{good}")
    refused = shop.run(DAYS[3], "visits")
    assert not refused.success
    assert "not accepted: id; values are not shown" in refused.output
    assert (
        f"The rejected rows are in {shop.schema}_sensitive.visits_ledger_sensitive"
        in refused.output
    )
    message = shop.query("select message from {s}.cdc_loads where status = 'refused'")
    assert "values are not shown" in message[0][0]
    assert_nothing_is_told(shop, refused.output)


@pytest.mark.full
def test_loads_are_taken_back_compacted_and_rebuilt_as_one(shop: Project, command: Command) -> None:
    code, said = command("undo", "people")
    assert code == 0, said
    assert_shown(shop, "people", STORY[2])
    outcome = shop.operate("compact", older_than_days=0, execute=True)
    assert outcome.success, outcome.output
    for name in SETTINGS:
        assert_shown(shop, name, STORY[2])
    outcome = shop.operate("vacuum", retention_hours=0, force=True, execute=True)
    assert outcome.success, outcome.output
    for name in SETTINGS:
        kept = [
            shop.query(f"show partitions {table}")
            for table in (
                f"{{s}}.{name}_ledger",
                f"{shop.schema}_sensitive.{name}_ledger_sensitive",
            )
        ]
        assert kept[0] == kept[1]
        assert len({row[0].split("/")[1] for row in kept[0]}) <= 3
    land(shop, "visits", 1, [STORY[0], STORY[1] | {9: ("ee", "Lyon")}])
    code, said = command("replay", "--from", DAYS[0], "--select", "visits", "--publish")
    assert code == 0, said
    assert_shown(shop, "visits", STORY[2] | {9: ("ee", "Lyon")})
    assert_nothing_is_told(shop, outcome.output, said)
    verified = shop.dbt("test", "--select", "tag:spark_cdc_verify")
    assert verified.success, verified.output


@pytest.mark.full
def test_a_backfill_writes_both_sides(shop: Project, command: Command) -> None:
    """Three dates in two statements and one commit; then a load on top of them."""
    names = {"guests": "people", "trips": "visits"}
    for name, like in names.items():
        describe(shop, name, like=like)
        for day in range(3):
            land(shop, name, day, like=like)
    words = (
        "load",
        f"{DAYS[0]}..{DAYS[2]}",
        "--bulk",
        "--select",
        *names,
        "--dates-per-statement",
        "2",
    )
    code, said = command(*words)
    assert code == 0, said
    for name in names:
        assert_shown(shop, name, STORY[2])
    gone = [*STORY, {2: ("bx", "Rom")}]
    for name, like in names.items():
        land(shop, name, 3, gone, like=like)
    outcome = shop.load(DAYS[3], *names)
    for name in names:
        assert_shown(shop, name, gone[3])
    assert_nothing_is_told(shop, said, outcome.output)
    verified = shop.dbt("test", "--select", *(f"path:models/{name}" for name in names))
    assert verified.success, verified.output


@pytest.mark.full
def test_a_change_of_columns_reaches_both_sides(shop: Project) -> None:
    renamed = dict(PERSON) | {
        "post": PERSON["mail"] | {"renamed_from": "mail"},
        "vat": PERSON["remark"],
    }
    renamed.pop("mail")
    renamed.pop("city")
    describe(shop, "people", renamed, dropped_columns=["city"])
    lines = ["id,post,phone,born,remark,vat"]
    lines += [
        "{0},{1[0]},{1[1]},{1[2]},{1[3]},hush vat".format(k, values(m))
        for k, (m, _) in STORY[2].items()
    ]
    shop.land("people", DAYS[4], *lines)
    outcome = shop.load(DAYS[4], "people")
    assert "0 updated" in outcome.output or " U 0" in outcome.output, outcome.output
    for table in ("{s}.people_ledger", "{s}_sensitive.people_ledger_sensitive"):
        shop.query(f"refresh table {table}")  # this session has read it with other columns
    apart = f"{shop.schema}_sensitive.people_current_sensitive"
    wanted = [(key, values(marker)[0], "hush vat") for key, (marker, _) in STORY[2].items()]
    assert sorted(shop.query(f"select id, post, vat from {apart}")) == sorted(wanted)
    wanted = [(key, masked(marker)[0], None) for key, (marker, _) in STORY[2].items()]
    assert sorted(shop.query("select id, post, vat from {s}.people_current")) == sorted(wanted)
    assert_nothing_is_told(shop, outcome.output)
    verified = shop.dbt("test", "--select", "path:models/people")
    assert verified.success, verified.output


@pytest.mark.full
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mail": PERSON["mail"] | {"mask": "last_4"}}, "was sensitive with mask: mail_domain in"),
        ({"mail": "string"}, "it is not sensitive, and was sensitive with mask: mail_domain"),
        ({"city": {"data_type": "string", "sensitive": True}}, "with mask: none, and was not"),
        (
            {"born": PERSON["born"] | {"data_type": "timestamp"}},
            "is sensitive and has another type",
        ),
    ],
)
def test_what_everybody_has_read_is_not_made_sensitive_by_a_load(
    shop: Project, change: dict[str, Any], message: str
) -> None:
    describe(shop, "moves", PERSON | change)
    land(shop, "moves", 3, [{}, *STORY])
    outcome = shop.run(DAYS[4], "moves")
    assert not outcome.success and message in outcome.output, outcome.output
    describe(shop, "moves")


@pytest.mark.full
def test_an_entity_that_has_loads_becomes_sensitive_by_a_replay(
    shop: Project, command: Command
) -> None:
    columns = {"id": PERSON["id"], "mail": "string", "city": "string"}
    shop.entity("early", columns, checkpoint=POLICY)
    for day in range(2):
        shop.land("early", DAYS[day], "id,mail,city", f"1,hush.{day}@a.example,Bern")
        shop.load(DAYS[day], "early")
    shop.entity("early", columns | {"mail": PERSON["mail"]}, checkpoint=POLICY)
    refused = shop.run(DAYS[1], "early")
    assert not refused.success
    assert "spark-cdc replay --from DATE --select early --publish" in refused.output
    code, said = command("replay", "--from", DAYS[0], "--select", "early", "--publish")
    assert code == 0, said
    assert shop.rows("early_current", "mail") == [("a.example",)]
    left = shop.dbt("test", "--select", "early_committed,test_name:masks_hold")
    assert "fail" in left.status.values()
    code, said = command(*("vacuum", "--select", "early", "--retention", "0", "--force"))
    assert code == 0, said
    whole = shop.dbt("test", "--select", "early_committed,tag:spark_cdc_verify")
    assert whole.success, whole.output
    assert_nothing_is_told(shop, said)


@pytest.mark.full
def test_the_data_tests_find_a_value_that_is_shown(shop: Project) -> None:
    """Somebody writes a load's rows unmasked into the plain ledger."""
    shop.query("set spark.sql.sources.partitionOverwriteMode = dynamic")
    apart = f"{shop.schema}_sensitive.visits_ledger_sensitive"
    shop.query(
        "insert overwrite table {s}.visits_ledger partition (business_date, load_id, operation)"
        f" select * from {apart} where operation = 'I'"
    )
    outcome = shop.dbt("test", "--select", "visits_committed,tag:spark_cdc_verify")
    failed = [name for name, status in outcome.status.items() if status == "fail"]
    assert "spark_cdc_masks_hold_visits_committed_" in failed, outcome.output
