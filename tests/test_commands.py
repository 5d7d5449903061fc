"""dbt's other commands and flags: they load nothing that they should not, and do no harm."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.cli.main import dbtRunner

from project import Project
from spark_cdc import cli as command_line
from spark_cdc import selection

pytestmark = [pytest.mark.proves("command line"), pytest.mark.integration]

KEYED = {"id": {"data_type": "int", "role": "key"}, "value": "int"}


def test_commands_without_a_business_date(project: Project) -> None:
    """Lineage, compilation and listing need none."""
    for words in (["compile"], ["docs", "generate"], ["list"]):
        outcome = project.dbt(*words)
        assert outcome.success, outcome.output


def test_the_package_warns_of_nothing(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """dbt repeats at each parse what it finds amiss in a package."""
    words = ("--no-partial-parse", "--target-path", str(project.folder / "parsed"))
    places = ("--project-dir", str(project.folder), "--profiles-dir", str(project.folder))
    assert dbtRunner().invoke(["parse", *words, *places]).success
    printed = capsys.readouterr().out
    assert "Running with dbt" in printed
    assert "WARNING" not in printed


def definitions(project: Project, name: str) -> dict[str, str]:
    """The texts of an entity's relations; that of the manifest says what is committed."""
    listed = [row[1] for row in project.query(f"show tables in {{s}} like '{name}_*'")]
    return {one: project.query(f"show create table {{s}}.{one}")[0][0] for one in listed}


def loaded(project: Project, name: str) -> list[tuple[Any, ...]]:
    rows = project.query(f"select load_id from {{s}}.cdc_loads where entity = '{name}'")
    return sorted(rows)


FLAGGED = {
    "id": {"data_type": "int", "role": "key"},
    "value": "int",
    "op": {"data_type": "string", "role": "control"},
    "seq": {"data_type": "bigint", "role": "control"},
}
EVENTS = {
    "load_type": "events",
    "events": {"format": "flagged_rows", "operation": "op", "order": ["seq"]},
    "on_reject": "quarantine",
}


@pytest.mark.parametrize(
    "flag", [pytest.param("--empty", marks=pytest.mark.full), "--sample=3 days"]
)
def test_relations_are_made_and_nothing_is_loaded(project: Project, flag: str) -> None:
    rows, events = f"{flag[2:4]}_rows", f"{flag[2:4]}_events"
    project.entity(rows, KEYED, on_reject="quarantine")
    project.entity(events, FLAGGED, **EVENTS)
    report = project.folder / f"models/{rows}/report_of_{rows}.sql"
    report.write_text(f"select * from {{{{ ref('{rows}_current') }}}}\n")
    for name, sql in {
        "changes": "{{ spark_cdc.changes() }}",
        "published": f"{{{{ spark_cdc.publish('{rows}', format='parquet') }}}}",
        "published_copy": f"select * from {{{{ ref('{rows}_published') }}}}",
    }.items():
        report.with_name(f"{rows}_{name}.sql").write_text(f"{sql}\n")
    select = ("--select", f"path:models/{rows}", f"path:models/{events}", "cdc_loads")
    project.land(rows, "2024-01-01", "id,value", "1,1", "2,2", "x,3")
    project.land(rows, "2024-01-02", "id,value", "1,5")
    project.land(events, "2024-01-01", "id,value,op,seq", "1,1,I,1", "2,2,I,2")
    project.land(events, "2024-01-02", "id,value,op,seq", "1,5,U,3")
    names = (rows, events)

    made = project.dbt("build", flag, *select)
    assert made.success, made.output
    assert "nothing is loaded with --empty or --sample" in made.output
    assert not [name for name in names if project.rows(f"{name}_current", "*")]
    assert not project.rows(f"report_of_{rows}", "*")
    assert not project.rows(f"{rows}_published_copy", "*")
    assert not [name for name in names if loaded(project, name)]

    project.load("2024-01-01", *names)
    before = {name: (definitions(project, name), loaded(project, name)) for name in names}
    assert all(loads for _, loads in before.values())
    again = project.dbt("build", flag, *select, "--vars", "{business_date: 2024-01-02}")
    assert again.success, again.output
    for name in names:
        assert loaded(project, name) == before[name][1]
        for relation, text in definitions(project, name).items():
            assert text == before[name][0][relation], relation
    for name in names:
        assert project.rows(f"{name}_current", "id, value") == [(1, 1), (2, 2)]
    assert len(project.rows(f"{rows}_rejects", "*")) == 1

    project.load("2024-01-02", *names)
    for view in ("current", "published", "published_copy"):
        assert project.rows(f"{rows}_{view}", "id, value") == [(1, 5)]
    assert project.rows(f"{events}_current", "id, value") == [(1, 5), (2, 2)]


def test_a_load_of_nothing_is_no_success(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.serve_commands(monkeypatch)
    assert command_line.main(["load", "2024-01-01", "--select", "no_such_entity"]) == 2
    assert "There is no entity 'no_such_entity'. Accepted are" in capsys.readouterr().err
    assert command_line.main(["load", "2024-01-01", "--select", "tag:none"]) == 2
    assert "No entity is selected by --select tag:none" in capsys.readouterr().err


@pytest.mark.integration
def test_a_load_without_select_runs_the_models_of_entities_only(project: Project) -> None:
    project.entity("bare", FLAGGED, **EVENTS)
    report = project.folder / "models/bare/report_of_bare.sql"
    report.write_text("select * from {{ ref('bare_current') }}\n")
    try:
        listed = project.dbt("ls", "--resource-type", "model", "--output", "name")
        chosen = project.dbt(
            *(
                "ls",
                "--resource-type",
                "model",
                "--output",
                "name",
                "--select",
                *selection.OF_ENTITIES,
            )
        )
    finally:
        report.unlink()
    assert "report_of_bare" in listed.output.split()
    found = {name for name in chosen.output.split() if "bare" in name}
    assert found == {
        f"bare_{kind}"
        for kind in ("events", "ledger", "committed", "current", "history", "versions", "rejects")
    }


def test_the_first_command_of_all_is_a_range_of_dates(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No schema is there, and cdc_loads, which is not selected, has one of its own."""
    project.entity("earliest", KEYED)
    for date in ("2024-01-01", "2024-01-02"):
        project.land("earliest", date, "id,value", f"1,{date[-1]}")
    settings = project.folder / "dbt_project.yml"
    before = settings.read_text()
    settings.write_text(before + "models: {spark_cdc: {+schema: ops}}\n")
    project.profile(schema="brand_new")
    project.serve_commands(monkeypatch)
    words = ("load", "2024-01-01..2024-01-02", "--select", "path:models/earliest")
    code = command_line.main(words)
    settings.write_text(before)
    project.profile()
    assert code == 0, capsys.readouterr().out
    assert project.query("select id, value from brand_new.earliest_current") == [(1, 2)]
    assert len(project.query("select * from brand_new_ops.cdc_loads")) == 2


@pytest.mark.full
def test_defer_clone_and_show_do_no_harm(project: Project) -> None:
    """A developer's schema beside that of production, whose manifest is the state."""
    project.entity("shown", KEYED)
    report = project.folder / "models/shown/report_of_shown.sql"
    report.write_text("select * from {{ ref('shown_current') }}\n")
    project.land("shown", "2024-01-01", "id,value", "1,1", "2,2")
    project.land("shown", "2024-01-02", "id,value", "1,5", "2,2")
    project.load("2024-01-01", "shown")
    first, second = [(1, 1), (2, 2)], [(1, 5), (2, 2)]
    date = ("--vars", "{business_date: 2024-01-02}")

    for words in (["--select", "shown_current"], ["--select", "shown_ledger", *date]):
        shown = project.dbt("show", *words)
        assert shown.success, shown.output
    assert project.dbt("docs", "generate").success
    assert project.dbt("source", "freshness").success
    (project.folder / "target").rename(project.folder / "state")
    deferred = ("--defer", "--state", "state", *date)

    project.profile(schema="nothing_there")
    try:
        cloned = project.dbt("clone", "--state", "state", "--select", "shown_ledger+")
        assert "shallow clone requires file_format" in cloned.output
        assert not project.query("show schemas like 'nothing_there'") or not project.query(
            "show tables in nothing_there"
        )
    finally:
        project.profile()

    project.profile(schema="developer")
    try:
        report_only = project.dbt("run", "--select", "report_of_shown", *deferred)
        assert report_only.success, report_only.output
        rows = "select id, value from developer.report_of_shown order by id"
        assert project.query(rows) == first
        commit_only = project.dbt("run", "--select", "shown_committed", *deferred)
        assert not commit_only.success
        assert "shown_ledger is not part of this run" in commit_only.output
        own = project.dbt("build", "--select", "shown_ledger+", *deferred)
        assert own.success, own.output
        assert project.query(rows) == second
        cloned = project.dbt(
            "clone", "--state", "state", "--full-refresh", "--select", "shown_ledger+"
        )
        assert "shallow clone requires file_format" in cloned.output  # of dbt-spark, for views too
        assert project.query(rows) == second
        undated = project.dbt("build", "--select", "path:models/shown")
        assert undated.success, undated.output
        assert "no business date is given, so that nothing is loaded (shown)" in undated.output
        assert project.query(rows) == second
    finally:
        project.profile()
    assert project.rows("shown_current", "id, value") == first
    assert [row[0][:8] for row in loaded(project, "shown")] == ["20240101"]

    above = project.dbt("build", "--select", "+report_of_shown+", "--threads", "16", *date)
    assert above.success, above.output
    assert project.rows("report_of_shown", "id, value") == second


def test_a_first_build_needs_no_cdc_loads(project: Project) -> None:
    """It is made by the load, and the data tests of the same run find it."""
    project.entity("fresh", KEYED)
    project.land("fresh", "2024-01-01", "id,value", "1,1")
    project.profile(schema="fresh_schema")
    words = ("build", "--select", "path:models/fresh", "--vars", "{business_date: 2024-01-01}")
    outcome = project.dbt(*words)
    project.profile()
    assert outcome.success, outcome.output


def test_a_project_of_its_own_names_and_folders(project: Project) -> None:
    """Schemas by the project's own rule, models in folders, a schema and a tag for each."""
    project.entity("housed", KEYED)
    macro = project.folder / "macros" / "generate_schema_name.sql"
    macro.parent.mkdir(exist_ok=True)
    macro.write_text(
        "{% macro generate_schema_name(custom, node) -%}\n"
        "{{ 'house_' ~ (custom or 'main') }}\n{%- endmacro %}\n"
    )
    settings = project.folder / "dbt_project.yml"
    before = settings.read_text()
    housed = f"{{{project.name}: {{housed: {{+schema: rooms, +tags: [nightly]}}}}}}"
    settings.write_text(f"{before}models: {housed}\n")
    for date in ("2024-01-01", "2024-01-02"):
        project.land("housed", date, "id,value", f"1,{date[-1]}")
    try:
        for date in ("2024-01-01", "2024-01-02"):
            words = ("--select", "tag:nightly", "--vars", f"{{business_date: {date}}}")
            outcome = project.dbt("build", *words)
            assert outcome.success, outcome.output
    finally:
        settings.write_text(before)
        macro.unlink()
    assert project.query("select id, value from house_rooms.housed_current") == [(1, 2)]
    loads = "select entity from house_main.cdc_loads where entity = 'housed'"
    assert len(project.query(loads)) == 2
