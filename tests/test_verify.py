"""The data tests that verify an entity: each kind of damage is made, and found by the right one.

`test_data_tests.py` has the shortest proof that they can fail; this is all of it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from project import Project
from spark_cdc import cli
from spark_cdc.commands import maintenance
from spark_cdc.jinja_bridge import load_macros
from test_data_tests import VERIFYING
from test_maintenance import (
    COLUMNS,
    DAYS,
    ENTITIES,
    SETTINGS,
    describe,
    land,
    load_ids,
    location,
    manifest,
)
from test_maintenance import STORY as TOLD

pytestmark = pytest.mark.proves("maintenance")

# Key 9 is there for a day.
STORY = [*TOLD[:3], TOLD[3] | {9: ("i", "x")}, TOLD[4]]


@pytest.fixture(scope="module")
def shop(project: Project) -> Project:
    """The entities after five loads; the first three or, of full and moves, four were compacted."""
    describe(project)
    for day, date in enumerate(DAYS):
        for name in ENTITIES:
            land(project, name, day, STORY)
        project.load(date, *ENTITIES)
        if day >= 3:
            names = list(ENTITIES) if day == 3 else ["full", "moves"]
            arguments = {"older_than_days": 0, "histories": day == 4, "execute": True}
            done = project.operate("compact", entities=names, **arguments)
            assert done.success, done.output
    return project


@pytest.fixture
def verify(
    shop: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """`spark-cdc verify`, with its exit code and what it prints, without indents."""
    for name in ("SPARK_CDC_PROJECT_DIR", "DBT_PROFILES_DIR"):
        monkeypatch.setenv(name, str(shop.folder))

    def run(*entities: str) -> tuple[int, str]:
        capsys.readouterr()
        code = cli.main(["verify", *(["--select", *entities] if entities else [])])
        return code, re.sub(r"(?m)^ +", "", "".join(capsys.readouterr()))

    return run


def statuses(project: Project, selected: str = maintenance.TAG) -> dict[str, str]:
    """What became of the tests that verify, by entity and test."""
    outcome = project.dbt("test", "--select", selected)
    return {
        re.sub(r"spark_cdc_(\w+)_(\w+)_committed_", r"\2 \1", name): status
        for name, status in outcome.status.items()
    }


@pytest.mark.full
def test_nothing_is_wrong(shop: Project, verify: Any) -> None:
    assert statuses(shop) == {f"{name} {test}": "pass" for name in ENTITIES for test in VERIFYING}
    code, text = verify("moves")
    assert code == 0 and "verify: nothing is wrong" in text and "5 of 5" in text


@pytest.mark.full
def test_settings_end_with_their_test(shop: Project) -> None:
    """A session that reads past damaged files is that of one node: the next has its own."""
    setting = "run_query('set spark.sql.files.ignoreCorruptFiles').rows[0][1]"
    query = f"select 1 as one where '{{{{ {setting} if execute }}}}' <> 'false'"
    test = shop.folder / "tests" / "zz_setting.sql"
    test.parent.mkdir()
    test.write_text(query + " -- {{ ref('full_committed') }}\n", encoding="utf-8")
    words = ["--select", "full_committed,tag:spark_cdc_verify", "zz_setting", "--threads", "1"]
    outcome = shop.dbt("test", *words)
    test.unlink()
    assert outcome.success, outcome.output
    assert len(outcome.status) == len(VERIFYING) + 1
    assert list(outcome.status)[-1] == "zz_setting"


@pytest.mark.parametrize(("method", "statements"), [("thrift", 3), ("session", 0)])
def test_a_shared_session_is_left_alone(method: str, statements: int) -> None:
    sent: list[str] = []
    macros = load_macros(run_query=sent.append, target=SimpleNamespace(method=method))
    macros._read_despite_damage()
    assert len(sent) == statements


@pytest.mark.parametrize(
    ("per", "load", "time", "replay"),
    [
        ("date", "20240305-d-00000004", "2024-03-05", "2024-03-05"),
        ("date", "20240304-h-00000002", "2024-03-04", "2024-03-01"),  # what was compacted together
        ("date", "20240304-hc-00000003", "2024-03-04", "2024-03-01"),
        ("timestamp_ntz", "20240305T101500-d-0", "2024-03-05 10:15:00", "'2024-03-05 10:15:00'"),
        ("timestamp_ntz", "20240305-d-0", "2024-03-05 00:00:00", "'2024-03-05 00:00:00'"),
    ],
)
def test_a_replay_begins_where_it_can(
    cursor: Any, per: str, load: str, time: str, replay: str
) -> None:
    compacted = "array('20240301-d-00000001', '20240304-d-00000001')"
    nothing = "cast(array() as array<string>)"
    found = load_macros()._verified_findings({"entity": {"name": "ticks", "eff_type": per}})
    cursor.execute(
        f"with found as (select 'lost' as problem, '{load}' as load_id, 'search, or %s' as repair),"
        " records as ("
        f"select '20240304-h-00000002' as load_id, struct({compacted} as compacted) as record"
        f" union all select '20240304-hc-00000003', struct({nothing})"
        f" union all select '20240305-d-00000004', struct({nothing})) {found}"
    )
    command = f"search, or spark-cdc replay --from {replay} --select ticks"
    assert cursor.fetchall() == [("ticks", "lost", load, time, None, None, command)]


@pytest.mark.full
def test_nothing_is_there_yet(shop: Project) -> None:
    """No load, no ledger, no schema: nothing to verify, and no error."""
    shop.entity(
        "early", COLUMNS | {"op": {"data_type": "string", "role": "control"}}, **SETTINGS["delta"]
    )
    passed = {f"early {test}": "pass" for test in VERIFYING}
    assert statuses(shop, f"early_committed,{maintenance.TAG}") == passed
    shop.profile(schema="test_verify_nowhere")
    assert statuses(shop, f"early_committed,{maintenance.TAG}") == passed
    shop.profile()


@pytest.mark.full
def test_a_build_judges_no_view_that_it_is_about_to_make(shop: Project) -> None:
    shop.entity("built", COLUMNS, load_type="full")
    shop.land("built", DAYS[0], "id,name,seen", "1,a,x")
    words = [
        "--vars",
        f"{{business_date: {DAYS[0]}, spark_cdc_verify_in_build: true}}",
        "--select",
        "path:models/built",
        "cdc_loads",
    ]
    built = shop.dbt("build", *words)
    assert built.success, built.output
    shop.query("drop view {s}.built_versions")
    again = shop.dbt("build", *words)
    assert again.success, again.output
    shop.query("drop view {s}.built_versions")
    wanted = {f"built {test}": "pass" for test in VERIFYING} | {"built views_match_ledger": "fail"}
    assert statuses(shop, f"built_committed,{maintenance.TAG}") == wanted


@pytest.mark.full
def test_an_entity_without_the_tests(shop: Project, verify: Any) -> None:
    shop.entity("bare", COLUMNS, load_type="full")
    path = shop.folder / "models/bare/bare.yml"
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^ *- spark_cdc.(views_match_ledger|archive_complete)\n", "", text)
    path.write_text(text, encoding="utf-8")
    code, text = verify("bare")
    assert code == 1 and "3 of 3" in text and "4 of " not in text
    assert "- bare: not all was verified, since its YAML lacks data tests\nrepair: add to" in text
    assert "bare_committed\ndata_tests:\n- spark_cdc.views_match_ledger\n" in text
    code, text = verify("nobody")
    assert code == 1 and "There is no entity 'nobody'" in text


class Damage:
    """Writes past the project into an entity's ledger."""

    def __init__(self, project: Project, name: str) -> None:
        self.project, self.name, self.ledger = project, name, f"{{s}}.{name}_ledger"
        self.loads = {
            load.split("-", 1)[0][6:] + load.split("-")[1]: load for load in manifest(project, name)
        }
        rows = project.query(f"describe {{s}}.{name}_ledger")
        names = [row[0] for row in rows]
        self.columns = names[: names.index("operation") + 1]

    def add(self, load: str, operation: str, key: int, **changed: str) -> None:
        """Adds a row: the newest one of a key, with the load and operation given, and changes."""
        given = {"load_id": f"'{self.loads[load]}'", "operation": f"'{operation}'"}
        given["business_date"] = f"date'2024-03-{load[:2]}'"
        given |= changed
        chosen = ", ".join(f"{given.get(c, c)} as {c}" for c in self.columns)
        newest = f"select * from {self.ledger} where id = {key} order by load_id desc limit 1"
        self.project.query(
            f"create table {{s}}.extra using parquet as select {chosen} from ({newest})"
        )
        self._write("into")

    def rewrite(self, load: str, operation: str, condition: str = "true", **changed: str) -> None:
        """Writes a partition anew: the rows that fulfil a condition, with changes."""
        chosen = ", ".join(f"{changed.get(c, c)} as {c}" for c in self.columns)
        self.project.query(
            f"create table {{s}}.extra using parquet as select {chosen} from {self.ledger}"
            f" where load_id = '{self.loads[load]}' and operation = '{operation}' and {condition}"
        )
        self._write("overwrite")

    def _write(self, how: str) -> None:
        self.project.query("set spark.sql.sources.partitionOverwriteMode = dynamic")
        self.project.query(f"insert {how} table {self.ledger} select * from {{s}}.extra")
        self.project.query("drop table {s}.extra")

    def folder(self, load: str, operation: str) -> Path:
        [folder] = location(self.project, f"{self.name}_ledger").glob(
            f"business_date=*/load_id={self.loads[load]}/operation={operation}"
        )
        return folder


def damage_full(project: Project) -> list[str]:
    """An update that is none, a row that a checkpoint lacks, a foreign row, other views."""
    damage = Damage(project, "full")
    damage.add("05f", "U", 5)
    damage.rewrite("04hc", "X", "id <> 1")
    project.query("set spark.sql.sources.partitionOverwriteMode = dynamic")
    columns = [row[0] for row in project.query("describe {s}.cdc_loads")]
    columns = columns[: columns.index("load_id")]
    project.query(
        f"insert into {{s}}.cdc_loads"
        f" select {', '.join(columns)}, '20240306-f-00000000' as load_id, status"
        f" from {{s}}.cdc_loads where load_id = '{damage.loads['05f']}' and entity = 'full'"
    )
    project.query("alter view {s}.full_history as select * from {s}.full_committed")
    project.query("drop view {s}.full_versions")
    text = project.query("show create table {s}.full_committed")[0][0]
    text = "select " + text[text.index("/* spark_cdc manifest:") :]
    project.query(f"alter view {{s}}.full_committed as {text} and true")
    hc, last = damage.loads["04hc"], damage.loads["05f"]
    return [
        rf"1 row: U \(updated\) though nothing .*\n.*began in: load {last} .*\n.*examples: id = 5\n"
        rf".*repair: spark-cdc replay --from 2024-03-05 --select full",
        rf"1 row: the key was there before the checkpoint, .*\n.*load {hc} .*\n.*: id = 1\n"
        rf".*repair: spark-cdc replay --from 2024-03-01 --select full",  # compacted together
        rf"the counts do not reconcile: .* leave 5 rows X; written are 4\n.*load {hc}",
        rf"different figures: rows_updated is 2, in the ledger 3; .*\n.*load {last}",
        r"a row of a load that does not count and that none replaced\n.*20240306-f-00000000",
        r"the text of the view \S+full_history is not .*\n.*repair: dbt run --select full_history",
        r"the view \S+full_versions is missing\n.*repair: dbt run --select full_versions",
        r"the text of the view \S+full_committed is not what its manifest makes",
        r"the view full_current shows 4 rows, the ledger gives 5",
    ]


def damage_delta(project: Project) -> list[str]:
    """Rows that contradict the state, hashes, records, cdc_loads."""
    damage = Damage(project, "delta")
    hc, before, last = damage.loads["03hc"], damage.loads["04d"], damage.loads["05d"]
    other = "(select max(nonkey_hash) from {s}.delta_ledger where name = 'a')"
    damage.add("04d", "I", 5)
    damage.add("05d", "N", 5, name="'a'", nonkey_hash=other)
    damage.add("05d", "N", 2)
    damage.rewrite("04d", "I", "id <> 9")
    damage.rewrite("05d", "U", key_hash="if(id = 4, unhex(md5('x')), key_hash)")
    damage.rewrite("03hc", "X", name="if(id = 1, 'z', name)", seen="if(id = 2, 'z', seen)")
    damage.rewrite("05d", "L", cdc__note=f"replace(cdc__note, '{before}', '20240101-d-00000000')")
    one = "partition (entity = 'delta', load_id = '{}', status = 'committed')"
    row = f"select * from {{s}}.cdc_loads where load_id = '{hc}'"
    project.query(f"create table {{s}}.extra using parquet as {row}")
    project.query("insert into {s}.cdc_loads select * from {s}.extra")
    project.query("drop table {s}.extra")
    project.query(f"alter table {{s}}.cdc_loads drop {one.format(before)}")
    text = project.query("show create table {s}.delta_current")[0][0]
    text = text[text.index("with\n/* spark_cdc view") :]
    project.query(f"alter view {{s}}.delta_current as {text} limit 1")
    return [
        rf"D, N or X with other values than the row before\n.*load {last} ",
        rf"1 row: the key comes more than once in the load\n.*load {last} .*\n.*: id = 2\n",
        rf"1 row: I \(inserted\) for a key that was there .*\n.*load {before} .*\n.*: id = 5\n",
        rf"1 row: U, D, N or X for a key that was not there\n.*load {last} .*\n.*: id = 9\n",
        rf"1 row: key_hash is not the hash of the key columns\n.*load {last} .*\n.*: id = 4\n",
        rf"1 row: nonkey_hash is not the hash of the stored .*\n.*load {hc} .*\n.*: id = 1\n",
        rf"1 row: untracked_hash is not the hash of the stored .*\n.*load {hc} .*\n.*: id = 2\n",
        rf"the load builds on 20240101-d-00000000, but .* before it is {before}\n.*load {last}",
        rf"cdc_loads has 2 rows of the load instead of one\n.*load {hc} .*\n.*repair: alter table",
        rf"cdc_loads has 0 rows of the load instead of one\n.*load {before} .*\n"
        r".*repair: dbt run --select delta_committed",
        r"the text of the view \S+delta_current is not .*\n.*repair: drop view \S+; then dbt run",
    ]


def damage_moves(project: Project) -> list[str]:
    """Dates, tombstones, files, partitions, the archive."""
    damage = Damage(project, "moves")
    history, hc, last = damage.loads["04h"], damage.loads["04hc"], damage.loads["05e"]
    damage.rewrite("05e", "U", eff_start_date="date'2024-03-04'")
    damage.rewrite("05e", "N", eff_start_date="date'2024-03-05'")
    damage.add("05e", "T", 5)
    project.query(f"alter table {{s}}.moves_events drop partition (load_id = '{last}')")
    project.query(
        f"alter table {{s}}.moves_ledger drop partition (load_id = '{hc}', operation = 'L')"
    )
    for file in damage.folder("04hc", "X").iterdir():
        file.unlink()
    ledger = location(project, "moves_ledger")
    [*_, inserted] = sorted(ledger.glob(f"*/load_id={history}/operation=I"))
    [updated, *_] = sorted(ledger.glob(f"*/load_id={history}/operation=U"))
    [deleted, *_] = sorted(ledger.glob(f"*/load_id={history}/operation=D"))
    for folder in (updated, deleted):
        for file in folder.glob(".*.crc"):
            file.unlink()
        for file in folder.glob("*.parquet"):
            content = file.read_bytes()
            broken = b"\0" * len(content) if folder == updated else b"PAR1" + b"\xff" * 60
            file.write_bytes(broken + content[len(broken) :])
    aside = project.folder / "aside"
    shutil.copytree(inserted, aside)
    day = inserted.parent.parent.name.partition("=")[2]
    project.query(
        f"alter table {{s}}.moves_ledger drop partition (business_date = '{day}',"
        f" load_id = '{history}', operation = 'I')"
    )
    shutil.copytree(aside, inserted, dirs_exist_ok=True)
    return [
        rf"2 rows: eff_start_date is not the business date of the change\n.*load {last} ",
        rf"1 row: N or X with another eff_start_date than the row before\n.*load {last} ",
        rf"1 row: T \(tombstone\) for a key that was there\n.*load {last} .*\n.*: id = 5\n",
        rf"moves_events has 0 events of the load instead of \d+\n.*load {last} ",
        rf"the load has 0 records \(rows with operation L\) instead of one\n.*load {hc} ",
        rf"the partition business_date=\S+{hc}/operation=X has no files any more\n",
        rf"1 file of the partition business_date=\S+{history}/operation=U can't be read\n",
        rf"of \d+ rows D \d+ can be read: a file's content is damaged\n.*load {history} ",
        rf"the partition business_date={day}/\S+/operation=I is not registered.*\n.*{history}.*\n"
        r".*examples: business_date.*parquet\n.*repair: alter table \S+ recover partitions",
        r"the manifest says that 5 rows exist, the counts of the loads give \d+\n",
    ]


def damage_others(project: Project) -> dict[str, list[str]]:
    """Entities whose manifest or table is gone, or not what it was; they never were loaded."""
    others = ("forged", "replaced", "lost", "gone", "never")
    for name in others:
        columns = COLUMNS | {"op": {"data_type": "string", "role": "control"}}
        project.entity(name, columns, **SETTINGS["delta"])
        if name not in ("gone", "never"):
            project.query(f"create table {{s}}.{name}_ledger like {{s}}.delta_ledger")
    text = project.query("show create table {s}.delta_committed")[0][0]
    text = "select " + text[text.index("/* spark_cdc manifest:") :].replace("delta_", "forged_")
    loads = manifest(project, "delta")
    project.query(f"create view {{s}}_commits.forged_commit_{sequence(text):06d} as {text}")
    shorter = re.sub(rf"\s+'{loads[2]}',", "", text)
    project.query(f"create view {{s}}.forged_committed as {shorter}")
    for name in ("replaced", "gone"):
        project.query(f"create view {{s}}.{name}_committed as select 1 as one")
    project.query("set spark.sql.sources.partitionOverwriteMode = dynamic")
    project.query("insert into {s}.lost_ledger select * from {s}.delta_ledger")
    return {
        "forged": [rf"names other loads than its last commit: .* {loads[2]} missing"],
        "replaced": [r"replaced_committed is no manifest: .*\n.*repair: drop view"],
        "lost": [r"the view \S+lost_committed is missing, so that no load counts\n"],
        "gone": [r"the table \S+gone_ledger is missing, which \S+gone_committed reads\n"],
        "never": [],
    }


def sequence(text: str) -> int:
    return int(re.search(r'"sequence": (\d+)', text)[1])  # type: ignore[index]


def follow(project: Project, verify: Any, name: str) -> None:
    """Carries out what verify advises for an entity, until it finds nothing."""
    text = ""
    for _ in range(4):
        code, text = verify(name)
        if code == 0:
            return
        steps = [
            step
            for repair in re.findall(r"(?m)^repair: (.*)", text)
            for step in re.split("; then |; else |: ", repair)
        ]
        for statement in sorted({s for s in steps if re.match("(alter|drop) ", s)}):
            project.query(statement)
        replays = [s for s in steps if s.startswith("spark-cdc replay --from ")]
        if replays:  # from the earliest date; dates sort as texts
            assert cli.main([*min(replays).split()[1:], "--publish"]) == 0
        for words in sorted({s for s in steps if s.startswith("dbt run ")}):
            done = project.dbt(*words.split()[1:])
            assert done.success, done.output
    raise AssertionError(text)


@pytest.mark.full
def test_each_damage_is_found(shop: Project, verify: Any) -> None:
    whole = {name: shop.rows(f"{name}_versions", "*") for name in ("full", "delta", "moves")}
    wanted = damage_others(shop)
    wanted["full"] = damage_full(shop)
    wanted["delta"] = damage_delta(shop)
    wanted["moves"] = damage_moves(shop)
    # Where nobody knows which loads count, nothing is dropped.
    blind = shop.operate("vacuum", entities=["lost"], retention_hours=0, force=True, execute=True)
    assert not blind.success and "there is no manifest" in blind.output
    assert load_ids(shop, "lost_ledger")

    code, text = verify()
    assert code == 1
    lacking = [
        (name, pattern)
        for name, patterns in wanted.items()
        for pattern in patterns
        if not re.search(rf"(?m)^- {name}: .*?{pattern}", text)
    ]
    assert not lacking, f"{lacking}\n{text}"
    assert text.count("\nrepair: ") == len(re.findall(r"(?m)^- \w+: ", text))
    assert "\n- never: " not in text

    # A ledger that is damaged is not compacted; what was written until then nobody sees.
    before = manifest(shop, "delta"), shop.rows("delta_history", "*")
    refused = shop.operate(
        "compact", entities="delta", older_than_days=0, histories=True, execute=True
    )
    assert not refused.success and "has 4 rows X instead of 5" in refused.output
    assert (manifest(shop, "delta"), shop.rows("delta_history", "*")) == before
    assert any("-hc-" in load for load in load_ids(shop, "delta_ledger") - set(before[0]))

    # Views and manifest are put right by the commands that the findings name.
    words = ["--select", "full_committed", "full_history", "full_versions"]
    assert shop.dbt("run", *words).success
    code, text = verify("full")
    assert code == 1 and "counts do not reconcile" in text and "full_current shows" in text
    for view in ("full_history", "full_versions", "full_committed"):
        assert not re.search(rf"the view \S+{view}", text)

    # What it advises brings the data back.
    for name, rows in whole.items():
        follow(shop, verify, name)
        assert shop.rows(f"{name}_versions", "*") == rows, name
