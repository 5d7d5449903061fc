"""The commit: one of several processes gets it, and one that dies in the middle loses nothing."""

from __future__ import annotations

import re

import pytest

from project import Project

pytestmark = pytest.mark.proves("commit and crash")

COLUMNS = {"id": {"data_type": "int", "role": "key"}, "name": "string"}


@pytest.fixture(scope="module")
def stock(project: Project) -> Project:
    """An entity with two loads; views of other entities and people lie beside it."""
    project.entity("stock", COLUMNS)
    for day in (1, 2, 3, 4, 5):
        project.land("stock", f"2024-01-0{day}", "id,name", "1,a", f"2,b{day}", f"{day + 2},c")
    project.load("2024-01-01", "stock")
    project.query("create view {s}_commits.stock_commit_notes as select 1 as one")
    project.query("create view {s}_commits.stock_commit_12 as select 1 as one")
    project.load("2024-01-02", "stock")
    return project


def query_of(project: Project, view: str, schema: str = "{s}") -> str:
    """The query of a manifest's view."""
    text = project.query(f"show create table {schema}.{view}")[0][0]
    return "select " + text[text.index("/* spark_cdc manifest:") :]


def claims(project: Project) -> list[str]:
    return sorted(
        row[1]
        for row in project.query("show views in {s}_commits")
        if re.fullmatch(r"stock_commit_\d{6}", row[1])
    )


def statements(output: str) -> list[str]:
    """What models sent, told by what `dbt --debug` prints."""
    sent = re.split(r"\n\d\d:\d\d:\d\d +", output)
    texts = [re.sub(r"/\* \{.*?\} \*/", "", one, flags=re.S) for one in sent]
    found = [re.match(r"On model\.[\w.]+: (.*)", text, flags=re.S) for text in texts]
    words = [match[1].strip() for match in found if match]
    return [text for text in words if text not in ("Close", "ROLLBACK")]


def dates(project: Project) -> list[str]:
    return [row[0] for row in project.rows("stock_history", "distinct business_date")]


def test_the_last_claim_stays(stock: Project) -> None:
    assert claims(stock) == ["stock_commit_000002"]
    claimed = query_of(stock, "stock_commit_000002", "{s}_commits")
    assert query_of(stock, "stock_committed") == claimed
    assert '"sequence": 2' in claimed


def test_a_commit_whose_process_died_is_finished(stock: Project) -> None:
    before = query_of(stock, "stock_committed")
    stock.load("2024-01-03", "stock")
    stock.query(f"alter view {{s}}.stock_committed as {before}")
    assert dates(stock) == ["2024-01-01", "2024-01-02"]

    looked = stock.dbt("compile", "--vars", "business_date: 2024-01-04", "--select", "stock_ledger")
    assert looked.success, looked.output
    assert dates(stock) == ["2024-01-01", "2024-01-02"], "only loads write"

    outcome = stock.load("2024-01-04", "stock")
    assert "stock: finishing commit 3" in outcome.output
    assert dates(stock) == ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
    assert stock.rows("cdc_loads", "entity, business_time") == [
        ("stock", f"2024-01-0{day}") for day in (1, 2, 3, 4)
    ]
    assert claims(stock) == ["stock_commit_000004"]


@pytest.mark.integration
def test_a_view_that_was_dropped_comes_back(stock: Project) -> None:
    """The claim of the last commit holds all that the view held."""
    before = stock.rows("stock_current", "*")
    stock.query("drop view {s}.stock_committed")
    outcome = stock.load("2024-01-04", "stock")
    assert "stock: finishing commit 4" in outcome.output
    assert [row[:2] for row in stock.rows("stock_current", "*")] == [row[:2] for row in before]
    assert dates(stock) == ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]


@pytest.mark.integration
@pytest.mark.parametrize("late", [False, True], ids=["at the same time", "late by a commit"])
def test_a_commit_that_comes_second_is_refused(stock: Project, late: bool) -> None:
    """Another run commits between the look at the head and the claim (a pre-hook does it here)."""
    before = query_of(stock, "stock_committed")
    sequence = int(re.search(r'"sequence": (\d+)', before).group(1))  # type: ignore[union-attr]
    newest = sequence + (2 if late else 1)
    other = before.replace(f'"sequence": {sequence}', f'"sequence": {newest}')
    other = re.sub(r'"commit": "\w+"', '"commit": "0ther000"', other)
    claim = f"{stock.schema}_commits.stock_commit_"
    steps = [f"create view {claim}{newest:06d} as {other}"]
    if late:  # the claim between the two is gone by now
        steps.append(f"alter view {stock.schema}.stock_committed as {other}")
        steps.append(f"drop view {claim}{sequence:06d}")
    model = stock.folder / "models/stock/stock_committed.sql"
    text = model.read_text()
    try:
        hooks = ", ".join(repr(step) for step in steps)
        model.write_text(f"{{{{ config(pre_hook=[{hooks}]) }}}}\n{text}")
        outcome = stock.run("2024-01-05", "stock")
    finally:
        model.write_text(text)
    assert not outcome.success
    assert re.search(
        rf"stock: another run committed first, .* \(commit {newest}, whose last load is\s+"
        rf"{dates(stock)[-1].replace('-', '')}-\w+-\w+\), while load"
        r" 20240105-\w+-\w+ was on\s+its way",
        outcome.output,
    ), outcome.output
    assert "Nothing of it was committed" in outcome.output
    assert "2024-01-05" not in dates(stock)
    if late:
        assert claims(stock) == [f"stock_commit_{newest:06d}"]
        assert query_of(stock, "stock_committed") == query_of(
            stock, f"stock_commit_{newest:06d}", "{s}_commits"
        )

    stock.load("2024-01-04", "stock")
    assert dates(stock)[-1] == "2024-01-04"


@pytest.mark.integration
def test_both_dates_are_there_in_the_end(stock: Project) -> None:
    stock.load("2024-01-05", "stock")
    assert dates(stock) == [f"2024-01-0{day}" for day in (1, 2, 3, 4, 5)]
    assert stock.rows("stock_current", "id, name") == [(1, "a"), (2, "b5"), (7, "c")]


@pytest.mark.integration
def test_a_commit_between_the_events_and_the_ledger_is_noticed(project: Project) -> None:
    """What the load was planned on is what it is compared with; its commit number is taken."""
    project.entity(
        "feed",
        COLUMNS | {"seq": {"data_type": "int", "role": "control"}},
        load_type="events",
        events={"format": "flagged_rows", "operation": "op", "order": ["seq"]},
        checkpoint={"changed_share": 1, "loads": 50, "rows": 100},
    )
    for day in (1, 2):
        project.land("feed", f"2024-01-0{day}", "op,seq,id,name", f"I,{day},{day},a")
    project.load("2024-01-01", "feed")
    before = query_of(project, "feed_committed")
    other = before.replace('"sequence": 1', '"sequence": 2')
    other = re.sub(r'"commit": "\w+"', '"commit": "0ther000"', other)
    hooks = [
        f"create view {project.schema}_commits.feed_commit_000002 as {other}",
        f"alter view {project.schema}.feed_committed as {other}",
    ]
    model = project.folder / "models/feed/feed_events.sql"
    text = model.read_text()
    try:
        model.write_text(f"{{{{ config(post_hook={hooks!r}) }}}}\n{text}")
        outcome = project.run("2024-01-02", "feed")
    finally:
        model.write_text(text)
    assert not outcome.success
    assert "feed: another run committed first" in outcome.output
    assert project.rows("feed_current", "id, name") == [(1, "a")]
    project.load("2024-01-02", "feed")
    assert project.rows("feed_current", "id, name") == [(1, "a"), (2, "a")]


@pytest.mark.integration
def test_a_commit_that_is_finished_has_its_row(project: Project) -> None:
    """A run that dies when it has claimed its commit, the first of all or a later one."""
    project.entity("lost", COLUMNS, load_type="delta")
    before = ""
    for day in (1, 2, 3, 4):
        project.land("lost", f"2024-01-0{day}", "id,name", f"{day},a")
    for day in (1, 3):
        project.load(f"2024-01-0{day}", "lost")
        [load_id] = project.lose_commit("lost", before)
        outcome = project.load(f"2024-01-0{day + 1}", "lost")
        assert f"lost: finishing commit {day}" in outcome.output
        assert f"lost: adding load {load_id} to cdc_loads" in outcome.output
        assert project.rows("lost_history", "id") == [(one,) for one in range(1, day + 2)]
        rows = project.query("select load_id from {s}.cdc_loads where entity = 'lost'")
        assert len(rows) == day + 1
        before = project.query_of("lost_committed")


@pytest.mark.parametrize(
    "load_type", ["delta", pytest.param("full", marks=pytest.mark.integration)]
)
def test_a_small_load_takes_fifteen_statements(project: Project, load_type: str) -> None:
    """The budget of docs/architecture.md: dbt's own look at the catalogue answers the rest."""
    name = f"small_{load_type}"
    project.entity(name, COLUMNS, load_type=load_type, checkpoint={"changed_share": 1})
    for day in (1, 2, 3):
        project.land(name, f"2024-01-0{day}", "id,name", "1,a", f"2,b{day}", f"{day + 2},c")
        outcome = project.load(f"2024-01-0{day}", name, words=["--debug"])
    sent = statements(outcome.output)
    assert sum(text.startswith("insert overwrite") for text in sent) == 2, sent
    codeless = [text for text in sent if text.startswith("set spark.sql.codegen.")]
    assert len(codeless) == 4, sent  # before the write and before the audit
    assert len(sent) == 15 + 4, "\n".join(sent)


@pytest.mark.integration
def test_claims_of_a_ledger_that_was_dropped_count_for_nothing(stock: Project) -> None:
    before = claims(stock)
    assert before
    for view in ("stock_committed", "stock_current", "stock_history", "stock_versions"):
        stock.query(f"drop view {{s}}.{view}")
    stock.query("drop table {s}.stock_ledger")
    stock.load("2024-01-05", "stock")
    assert claims(stock) == ["stock_commit_000001"]
    assert dates(stock) == ["2024-01-05"]
