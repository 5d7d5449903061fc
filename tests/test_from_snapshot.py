"""`spark-cdc new --from-snapshot`: an entity of a dbt snapshot, whose open versions are the same.

The twin runs (`make test-all`) hold both against each other, with what dbt's own tests of snapshots
do to their input: rows change, go, and come back; keys of two columns; columns that do not count.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from own_servers import shop_on_delta
from project import Project
from spark_cdc import cli as command_line
from spark_cdc.errors import UsageError
from spark_cdc.scaffold import snapshots

pytestmark = pytest.mark.proves("new entities")

TYPES = {"id": "int", "part": "int", "name": "string", "mail": "string", "updated_at": "timestamp"}
COLUMNS = [{"name": name, "data_type": kind} for name, kind in TYPES.items()]
CHECK = {"unique_key": "id", "strategy": "check", "check_cols": "all", "hard_deletes": "invalidate"}
Entry = dict[str, Any]


def entry(name: str = "people_snapshot", /, **more: Any) -> Entry:
    """A snapshot in YAML; more: settings of its config."""
    config = {name: value for name, value in {**CHECK, **more}.items() if value is not None}
    return {"name": name, "relation": "ref('people')", "columns": COLUMNS, "config": config}


def new(folder: Path, *words: str, **files: str | Entry) -> Path:
    """Run the command on files of snapshots; return the models' folder."""
    given = []
    for name, content in files.items():
        ending = "sql" if isinstance(content, str) else "yml"
        path = folder / f"{name}.{ending}"
        text = content if isinstance(content, str) else yaml.safe_dump({"snapshots": [content]})
        path.write_text(text, "utf-8")
        given += ["--from-snapshot", str(path)]
    models = folder / "models"
    command_line.run("new", *words, *given, "--directory", str(models))
    return models


def settings(models: Path, name: str = "people") -> dict[str, Any]:
    """The settings of an entity that was written, and the roles of its columns."""
    [stage] = [
        one
        for one in yaml.safe_load((models / name / f"{name}.yml").read_text("utf-8"))["models"]
        if one["name"] == f"stg_{name}"
    ]
    meta = {c["name"]: (c.get("config") or {}).get("meta", {}) for c in stage["columns"]}
    roles = {name: given["role"] for name, given in meta.items() if "role" in given}
    found: dict[str, Any] = stage["config"]["meta"]["spark_cdc"]
    return found | {"roles": roles}


def test_yaml_becomes_an_entity(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = entry(
        unique_key=["ID", "part"],
        check_cols=["name"],
        hard_deletes="new_record",
        dbt_valid_to_current="to_date('9999-12-31')",
        snapshot_meta_column_names={"dbt_valid_to": "UNTIL", "dbt_scd_id": "scd"},
        file_format="delta",
        schema="{{ target.schema }}_s",
    )
    added = {"name": "UNTIL", "data_type": "timestamp"}
    given["columns"] = [
        *COLUMNS[:2],
        {**COLUMNS[2], "description": "First and last."},
        *COLUMNS[3:],
        added,
    ]
    models = new(tmp_path, snapshots=given)
    assert settings(models) == {
        "load_type": "full",
        "validity": {"start": "dbt_valid_from", "end": "until", "open_end": "9999-12-31"},
        "source": {"format": "table"},
        "roles": {"id": "key", "part": "key", "mail": "untracked", "updated_at": "untracked"},
    }
    assert "First and last." in (models / "people" / "people.yml").read_text("utf-8")
    written = {path.stem: path.read_text("utf-8") for path in (models / "people").glob("*.sql")}
    assert written["stg_people"] == "{{ spark_cdc.stage(ref('people')) }}\n"
    assert {"people_versions", "people_latest"} <= set(written)
    said = capsys.readouterr().out
    left = "snapshot_meta_column_names.dbt_scd_id, file_format, schema"
    assert f"Not carried over: {left}." in said
    assert "people_latest shows deleted keys" in said
    assert "sources:" not in (models / "people" / "people.yml").read_text("utf-8")


def test_a_sql_block_becomes_an_entity(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the YAML of its name, which says the types."""
    block = """
    {% snapshot snap_people %}
        {{ config(
            unique_key='id || ' ~ "'-'" ~ ' || part', strategy='timestamp', updated_at='updated_at',
            invalidate_hard_deletes=true, target_schema=target.schema) }}
        /* all of it */ select * from {{ source('crm', 'people') }}
    {% endsnapshot %}
    """
    properties = {"name": "snap_people", "columns": COLUMNS}
    models = new(tmp_path, block=block, properties=properties)
    assert settings(models)["roles"] == {"id": "key", "part": "key"}
    stage = (models / "people" / "stg_people.sql").read_text("utf-8")
    assert stage == "{{ spark_cdc.stage('crm', 'people') }}\n"
    said = capsys.readouterr().out
    assert "Not carried over: target_schema." in said and "hard_deletes" not in said
    assert "all columns are compared, also updated_at" in said


def test_a_query_becomes_a_view(tmp_path: Path) -> None:
    query = "select id, name from {{ ref('people') }} where part = 1"
    config = "config(unique_key='id', strategy='check', check_cols=['name'])"
    block = "{% snapshot s %}{{ CONFIG }}\nQUERY\n{% endsnapshot %}"
    block = block.replace("CONFIG", config).replace("QUERY", query)
    models = new(
        tmp_path,
        "folks",
        block=block,
        properties={"name": "s", "columns": COLUMNS[:1] + COLUMNS[2:3]},
    )
    stage = (models / "folks" / "stg_folks.sql").read_text("utf-8")
    assert stage == "{{ spark_cdc.stage(ref('folks_input')) }}\n"
    view = (models / "folks" / "folks_input.sql").read_text("utf-8")
    assert view == f"{{{{ config(materialized='view') }}}}\n\n{query}\n"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"unique_key": None}, "unique_key is None"),
        ({"unique_key": "md5(id)"}, "unique_key is 'md5(id)'"),
        ({"unique_key": "number"}, "number"),
        ({"strategy": "mine"}, "strategy is 'mine'; accepted are check, timestamp"),
        ({"check_cols": ["nam"]}, "check_cols names nam"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, changes: Entry, reason: str) -> None:
    with pytest.raises(UsageError) as error:
        new(tmp_path, snapshots=entry(**changes))
    assert reason in error.value.text
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"columns": []}, "no columns"),
        ({"columns": [{"name": "id"}]}, "id without data_type"),
        ({"relation": "people"}, "relation is 'people'"),
        ({"relation": None}, "neither a relation nor a SQL block"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, change: Entry, reason: str) -> None:
    with pytest.raises(UsageError) as error:
        new(tmp_path, snapshots={**entry(), **change})
    assert reason in error.value.text
    assert "spark-cdc new" in error.value.text and not (tmp_path / "models").exists()


@pytest.mark.parametrize(
    ("deletes", "said"),
    [
        ({"hard_deletes": "ignore"}, "hard_deletes ignore is not carried over"),
        ({"hard_deletes": None}, "hard_deletes ignore is not carried over"),
        ({"hard_deletes": None, "invalidate_hard_deletes": True}, ""),
        ({"dbt_valid_to_current": "current_date + 9"}, "names no date"),
        ({"updated_at": "updated_at"}, "updated_at is not carried over"),
    ],
)
def test_what_differs_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], deletes: Entry, said: str
) -> None:
    new(tmp_path, "--dry-run", snapshots=entry(**deletes))
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("# ")]
    notes = [
        line for line in notes if not line.startswith("# ---") and "looks personal" not in line
    ]
    assert (said in notes[0] if said else notes == []) and not (tmp_path / "models").exists()


def test_several_snapshots_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "all.yml"
    both = [entry("people_snapshot"), entry("snap_staff")]
    path.write_text(yaml.safe_dump({"snapshots": both}), "utf-8")
    words = ["--from-snapshot", str(path), "--directory", str(tmp_path / "models")]
    assert command_line.run("new", "staff", *words) == 0
    assert [one.name for one in (tmp_path / "models").iterdir()] == ["staff"]
    words_of_others = (["teams"], ["--path", "crm.people"], ["staff", "--load-type", "delta"])
    for wrong in ([*some, *words] for some in words_of_others):
        with pytest.raises(UsageError):
            command_line.run("new", *wrong)


def test_names_of_what_snapshots_are_of() -> None:
    given = ("orders_snapshot", "snap_orders", "snapshot_orders", "orders_scd", "Orders")
    assert {snapshots.plain_name(name) for name in given} == {"orders"}


def test_the_entity_shows_the_versions_of_the_snapshot(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What dbt snapshot shows of these rows is written here; the twin runs ask it."""
    project.serve_commands(monkeypatch)
    models = project.folder / "models"
    models.mkdir(exist_ok=True)
    (models / "people.sql").write_text("select * from {{ target.schema }}.people_now", "utf-8")
    given = entry(
        check_cols=["name"],
        hard_deletes="new_record",
        dbt_valid_to_current="date('9999-12-31')",
        snapshot_meta_column_names={"dbt_valid_from": "since", "dbt_valid_to": "UNTIL"},
    )
    given["columns"] = [COLUMNS[0], *COLUMNS[2:4]]
    (project.folder / "snapshots.yml").write_text(yaml.safe_dump({"snapshots": [given]}), "utf-8")
    words = ["--from-snapshot", str(project.folder / "snapshots.yml"), "--directory", str(models)]
    assert command_line.run("new", *words) == 0
    first = "(1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'x')"
    project.query("create table {s}.people_now (id int, name string, mail string) using parquet")
    for day, rows in enumerate((first, "(1, 'a', 'y'), (2, 'B', 'x'), (4, 'd', 'x')"), 1):
        project.query(f"insert overwrite {{s}}.people_now values {rows}")
        project.load(f"2024-03-0{day}")
    days = ("2024-03-01", "2024-03-02", "9999-12-31")
    assert project.rows("people_versions", "id, name, string(since), string(until)") == [
        (1, "a", days[0], days[2]),
        (2, "B", days[1], days[2]),
        (2, "b", days[0], days[1]),
        (3, "c", days[0], days[1]),
        (4, "d", days[1], days[2]),
    ]
    gone = "select id, name from {s}.people_latest where is_deleted"
    assert project.query(gone) == [(3, "c")]


# --- twin runs --------------------------------------------------------------------

# What is done to the table before each run, as dbt's tests of snapshots do it.
FIRST = """
insert into {t}
select id, id * 100, concat('n', id), if(id = 20, null, concat('m', id)), timestamp'2024-01-01'
from range(1, 21) as t (id)
"""
CHANGED = """
update {t}
set mail = concat('new ', coalesce(mail, '')), updated_at = timestamp'2024-01-02'
where id >= 10
"""
OTHER = """
update {t} set name = concat(name, '!'), updated_at = timestamp'2024-01-03' where id < 3
"""
GONE = "delete from {t} where id in (4, 12)"
BACK = "insert into {t} values (12, 1200, 'n12', 'back', timestamp'2024-01-04')"
ROUNDS = [[FIRST], [CHANGED, GONE, OTHER], [BACK]]
MORE = ["alter table {t} add columns (nick string)", "update {t} set nick = concat('nick ', id)"]
WITH_MORE = "insert into {t} values (12, 1200, 'n12', 'back', timestamp'2024-01-04', null)"
CASES: dict[str, dict[str, Any]] = {
    "checked": {},
    "some": {"check_cols": ["name"]},
    "stamped": {"strategy": "timestamp", "updated_at": "updated_at", "check_cols": None},
    "paired": {
        "strategy": "timestamp",
        "updated_at": "updated_at",
        "check_cols": None,
        # of a list dbt-spark 1.11 refuses the second run: dbt_unique_key_1 is ambiguous
        "unique_key": "id || '-' || part",
        "snapshot_meta_column_names": {"dbt_valid_to": "until", "dbt_valid_from": "since"},
    },
    "dated": {"dbt_valid_to_current": "timestamp'9999-12-31'"},
    "dated_renewed": {
        "dbt_valid_to_current": "timestamp'9999-12-31'",
        "hard_deletes": "new_record",
    },
    "some_renewed": {"check_cols": ["name", "mail"], "hard_deletes": "new_record"},
    "stamped_renewed": {
        "strategy": "timestamp",
        "updated_at": "updated_at",
        "check_cols": None,
        "hard_deletes": "new_record",
    },
    "grown": {"hard_deletes": "new_record"},  # gets a column in the round in which rows go
}


@pytest.mark.full
def test_open_versions_are_those_of_dbt_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shop_on_delta(tmp_path) as project:
        project.serve_commands(monkeypatch)
        describe(project)
        for day, statements in enumerate(ROUNDS, 1):
            for name in CASES:
                change(project, name, day, statements)
            views = project.dbt("run", "--select", *CASES)  # which get the new column
            assert views.success, views.output
            taken = project.dbt("snapshot")
            assert taken.success, taken.output
            project.load(f"2024-03-0{day}")
            for name, changes in CASES.items():
                # this session has read the ledger before it got a column
                project.query(f"refresh table {{s}}.{name}_ledger")
                ours, theirs = open_of_ours(project, name), open_of_dbt(project, name, changes)
                assert ours and ours == theirs, (name, day)


def describe(project: Project) -> None:
    """Write a table, a model on it, a snapshot of that, and the entity of the snapshot, each."""
    folder = project.folder / "snapshots"
    folder.mkdir()
    (project.folder / "models").mkdir()
    for name, changes in CASES.items():
        columns = ", ".join(f"{column} {kind}" for column, kind in TYPES.items())
        project.cursor.execute(f"create table shop.{name}_table ({columns}) using delta")
        model = project.folder / "models" / f"{name}.sql"
        model.write_text(f"select * from {{{{ target.schema }}}}.{name}_table", "utf-8")
        given = entry(f"{name}_snapshot", **changes, file_format="delta")
        asks_spark = name == "checked"
        given |= {"relation": f"ref('{name}')", "columns": [] if asks_spark else COLUMNS}
        path = folder / f"{name}.yml"
        path.write_text(yaml.safe_dump({"snapshots": [given]}), "utf-8")
        words = ["new", "--from-snapshot", str(path)]
        words += ["--path", f"shop.{name}_table"] if asks_spark else []
        assert command_line.run(*words, "--directory", str(project.folder / "models")) == 0


def change(project: Project, name: str, day: int, statements: list[str]) -> None:
    """Do to a table what a round does to it; one of them gets a column, in the YAML, too."""
    if name == "grown" and day == 2:
        statements = [*statements, *MORE]
        path = project.folder / "models" / name / f"{name}.yml"
        column = "columns: &columns\n      - {name: nick, data_type: string, description: Nick.}"
        path.write_text(path.read_text("utf-8").replace("columns: &columns", column), "utf-8")
    if name == "grown" and day == 3:
        statements = [WITH_MORE]
    for statement in statements:
        project.query(statement.format(t=f"shop.{name}_table"))


def columns_of(project: Project, name: str) -> str:
    """The columns of which an open version has the present values, in the table's order."""
    rows = project.query(f"describe {{s}}.{name}_table")
    names = [row[0] for row in rows]
    return ", ".join(one for one in names if one not in untracked(CASES[name]))


def open_of_dbt(project: Project, name: str, changes: dict[str, Any]) -> list[tuple[Any, ...]]:
    meta = changes.get("snapshot_meta_column_names", {})
    end = meta.get("dbt_valid_to", "dbt_valid_to")
    is_open = f"{end} is null" if "dbt_valid_to_current" not in changes else f"year({end}) = 9999"
    is_open += (
        " and dbt_is_deleted = 'False'" if changes.get("hard_deletes") == "new_record" else ""
    )
    shown = columns_of(project, name)
    return project.query(f"select {shown} from {{s}}.{name}_snapshot where {is_open} order by all")


def open_of_ours(project: Project, name: str) -> list[tuple[Any, ...]]:
    shown = columns_of(project, name)
    return project.query(f"select {shown} from {{s}}.{name}_versions where is_current order by all")


def untracked(changes: dict[str, Any]) -> list[str]:
    """Columns whose changes make no version, so that an open one has older values of them."""
    checked = changes.get("check_cols")
    return (
        [name for name in TYPES if name not in ("id", *checked)]
        if isinstance(checked, list)
        else []
    )
