"""`spark-cdc new`: what it writes, how it reads samples, what it refuses."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rendered_sql import Node
from spark_cdc import cli as command_line
from spark_cdc import jinja_bridge, macro_rules
from spark_cdc.errors import SparkCdcError
from spark_cdc.jinja_bridge import load_macros
from spark_cdc.scaffold import entity as entities
from spark_cdc.scaffold import files as entity_files
from spark_cdc.scaffold import new, source_types
from spark_cdc.scaffold.columns import parse_columns
from spark_cdc.scaffold.new import Column, Entity
from spark_cdc.server.session import start_session

pytestmark = pytest.mark.proves("new entities")

REPOSITORY = Path(__file__).parents[1]
MODELS = ["ledger", "committed", "current", "history"]
EXTRA = ["latest", "versions", "changes", "rejects", "quality"]
ARCHIVE = ["event_versions", "bitemporal"]
COLUMNS = "order_no:bigint:key, line_no:int:key, price:decimal(10,2), at:timestamp:untracked"
EVENTS = ["--load-type", "events", "--events-format"]
FLAGGED = [*EVENTS, "flagged_rows", "--operation", "op", "--order", "line_no"]
VERIFYING = [
    *("files_match_manifest", "ledger_rows_consistent"),
    *("log_matches_ledger", "views_match_ledger"),
]
HOSTILE = "it's \"a\": {{ x }} {% y %} {# z #} - & * ! | > ' % @ ` \\ \t é ☃ #no"


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() or start_session()


def entity(*arguments: str) -> Entity:
    return new.entity_of(parsed(*arguments))


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    new.add_parser(parser.add_subparsers())
    return parser.parse_args(["new", *arguments])


def refused(*arguments: str) -> str:
    with pytest.raises(SparkCdcError) as error:
        entity(*arguments)
    assert "--help" in error.value.next_step
    return error.value.message


def test_writes_the_yaml_and_five_models(tmp_path, capsys):
    args = parsed("orders", "--columns", COLUMNS, "--directory", str(tmp_path))
    assert args.run(args) == 0
    files = {path.name: path.read_text() for path in (tmp_path / "orders").iterdir()}
    assert files.pop("orders.yml").startswith("models:\n  - name: stg_orders\n")
    assert files == {
        "stg_orders.sql": "{{ spark_cdc.stage() }}\n",
        "orders_ledger.sql": "{{ spark_cdc.ledger() }}\n",
        "orders_committed.sql": "{{ spark_cdc.committed() }}\n",
        "orders_current.sql": "{{ spark_cdc.current() }}\n",
        "orders_history.sql": "{{ spark_cdc.history() }}\n",
    }
    out = capsys.readouterr().out
    assert "landing/orders/{business_date}" in out
    assert "--select tag:spark_cdc.orders --vars '{business_date: 20" in out
    assert [path.name for path in tmp_path.iterdir()] == ["orders"]


def test_dry_run_prints_and_writes_nothing(tmp_path, capsys):
    args = parsed("orders", "--columns", COLUMNS, "--directory", str(tmp_path), "--dry-run")
    assert args.run(args) == 0
    assert "\n      - {name: order_no, " in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path):
    made = entity("orders", "--columns", COLUMNS)
    entity_files.write(made, tmp_path)
    with pytest.raises(SparkCdcError, match=r"orders exists already\. Nothing was written"):
        entity_files.write(made, tmp_path)
    with pytest.raises(SparkCdcError, match="exists already") as error:
        entity_files.write(replace(made, extra=["changes"]), tmp_path)
    step = f"echo '{{{{ spark_cdc.changes() }}}}' > {tmp_path}/orders/orders_changes.sql"
    assert error.value.next_step == f"Add its new models by hand:\n{step}"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "stg_items.sql").write_text("select 1")
    with pytest.raises(SparkCdcError, match=r"stg_items\.sql exists already"):
        entity_files.write(entity("items", "--columns", COLUMNS), tmp_path)
    assert not (tmp_path / "items").exists()


def test_six_columns_take_45_lines():
    columns = "order_no:bigint:key, line_no:int:key, article:string:required, price:decimal(10,2)"
    text = entity_files.render_yaml(
        entity("orders", "--columns", f"{columns}, note_1:string, day:date")
    )
    assert len(text.splitlines()) <= 45
    assert max(map(len, text.splitlines())) <= 140


def test_more_models_by_with(tmp_path):
    words = ["orders", "--columns", COLUMNS, "--with", "changes", "versions", "--with", "rejects"]
    made = entity(*words)
    assert entity_files.models_of(made) == (*MODELS, "versions", "changes", "rejects")
    files = entity_files.render(made)
    assert files["orders_changes.sql"] == "{{ spark_cdc.changes() }}\n"
    assert entity_files.models_of(entity(*words[:3], "--with", "versions,quality")) == (
        *MODELS,
        "versions",
        "quality",
    )
    sensitive = entity("x", "--columns", "a:int:key, b:string:sensitive", "--with", *EXTRA)
    apart = ["committed", "current", "history", "latest", "versions", "changes", "rejects"]
    assert entity_files.models_of(sensitive) == (
        *MODELS,
        *EXTRA,
        *(f"{kind}_sensitive" for kind in apart),
    )


@pytest.mark.parametrize("control", ["", ", op:string:control"])
def test_columns_of_the_models(control):
    text = entity_files.render_yaml(
        entity("orders", "--columns", COLUMNS + control, "--with", *EXTRA)
    )
    content = yaml.safe_load(text)
    models = {model["name"]: model for model in content["models"]}
    declared = models["stg_orders"]["columns"]
    stored = [column for column in declared if column["name"] != "op"]
    assert [column["name"] for column in stored] == ["order_no", "line_no", "price", "at"]
    assert content["sources"][0]["tables"][0]["columns"] == declared
    shown = {name: model["columns"] for name, model in models.items() if "columns" in model}
    views = ["current", "history", "versions", "changes"]
    assert shown == {"stg_orders": declared, **{f"orders_{kind}": stored for kind in views}}
    described = {one["name"]: one["description"] for one in declared}
    expected = {
        "order_no": "Order no: part of the key.",
        "line_no": "Line no: part of the key.",
        "price": "Price: as the source sends it.",
        "at": "At: stored, but a change of it alone makes no update.",
        "op": "Op: read with each load, not stored.",
    }
    assert described == {name: expected[name] for name in described}
    # A column may be called as the lists are.
    words = ["x", "--columns", "columns:int:key, stored:int" + control]
    [columns] = yaml.safe_load(entity_files.render_yaml(entity(*words)))["sources"][0]["tables"]
    assert [one["name"] for one in columns["columns"]][:2] == ["columns", "stored"]
    # Unit tests hand the entry of stg_ to the macros as it is.
    assert "doc(" not in json.dumps(models["stg_orders"])


def described_columns() -> dict[str, dict[str, str]]:
    """The columns that docs blocks describe, by kind of model, with their types."""
    text = (REPOSITORY / "models" / "technical_columns.md").read_text("utf-8")
    blocks = re.findall(r"{% docs spark_cdc_(\w+) %}(.*?){% enddocs %}", text, re.DOTALL)
    row = re.compile(r"^\| `(.+?)` \| `?(.+?)`? \|", re.MULTILINE)
    return {kind: dict(row.findall(block)) for kind, block in blocks}


def test_technical_columns_are_described_by_kind_of_model():
    """All that the macros add to the columns of the source, and nothing else."""
    columns = "seq:bigint:control, op:string:control, id:bigint:key, email:string, name:string"
    words = ["people", "--columns", columns + ", at:timestamp:untracked", *EVENTS, "flagged_rows"]
    words += ["--operation", "op", "--order", "seq", "--event-setting", "unique_keys=[[email]]"]
    words += ["--with", *EXTRA, *ARCHIVE, "--rule", "named=name is not null"]
    content = yaml.safe_load(entity_files.render_yaml(entity(*words)))
    unique_id = "model.spark_cdc.stg_people"
    node = Node(content["models"][0], unique_id=unique_id, resource_type="model")
    loaded = load_macros(
        graph=Node(nodes={unique_id: node}, sources={}),
        model={"unique_id": unique_id, "package_name": "spark_cdc"},
    )
    about = loaded._entity("people")
    documented = described_columns()
    assert list(documented) == ["events", *MODELS, *EXTRA, *ARCHIVE]
    stored = ["id", "email", "name", "at"]

    def added(sql):
        """The columns of a query that are not those of the source."""
        last = re.split(r"^select\b.*\n", sql, flags=re.MULTILINE)[-1].partition("\nfrom ")[0]
        lines = [line for line in last.splitlines() if not line.endswith("*/")]
        names = [line.rstrip(",").split()[-1].split(".")[-1] for line in lines]
        return [name for name in names if name.strip("`") not in stored]

    partition = {"business_date": "date", "load_id": "string"}
    events = {one["name"]: one["data_type"] for one in loaded._event_columns(about)} | partition
    events = {name: kind for name, kind in events.items() if name not in [*stored, "cdc__old_id"]}
    of_events = documented["events"]
    assert of_events.pop("cdc__old_<key column>") == "as the key column"
    assert of_events.pop("event_origin").startswith("struct<")  # of messages
    assert of_events == events
    ledger = {one["name"]: one["data_type"] for one in loaded._ledger_columns(about)}
    ledger = {name: kind for name, kind in ledger.items() if name not in stored}
    of_ledger = {name: kind.split(" or ")[0] for name, kind in documented["ledger"].items()}
    assert of_ledger == ledger
    manifest = loaded._empty_manifest() | {"loads": ["20240301-ec-00000001"]}
    queries = {
        "committed": loaded._committed_sql(about, "ledger", manifest),
        "current": loaded._current_sql(about, "committed"),
        "latest": loaded._latest_sql(about, "committed"),
        "history": loaded._history_sql(about, "committed"),
        "versions": loaded._versions_sql(about, "committed"),
        "changes": loaded._changes_sql(about, "committed"),
        "rejects": loaded._rejects_sql(about, "ledger", "committed"),
        "quality": loaded._quality_sql("people", "cdc_loads", "committed"),
        "event_versions": loaded._event_versions_sql(about, "events", "committed"),
        "bitemporal": loaded._bitemporal_sql(about, "events", "committed"),
    }
    for kind, sql in queries.items():
        names = [name for name in added(sql) if kind != "committed" or name not in ledger]
        assert names == list(documented[kind]), kind


def test_a_description_names_the_source_and_the_mask() -> None:
    """An owner's description stays as it is."""
    renamed = Column("groesse", "int", source="Größe", sensitive=True)
    assert entity_files.description_of(renamed, 1) == (
        "Groesse: as the source sends it. The source calls it Größe. Others than the readers of "
        "the restricted schema see a mask."
    )
    assert entity_files.description_of(Column("no", "int", "key"), 1) == "No: the key."
    assert (
        entity_files.description_of(Column("no", "int", "key", description="Number."), 1)
        == "Number."
    )


def test_change_events_have_models_of_their_own(tmp_path):
    columns = "seq:bigint:control, id:bigint:key, no:int:key, name:string, at:timestamp:untracked"
    words = ["people", "--columns", columns, *EVENTS, "flagged_rows", "--operation", "op"]
    words += ["--order", "seq", "--tie-breaker", "no", "--with", *ARCHIVE]
    words += ["--event-setting", "codes={1: delete, false: upsert, 'U, x': update, ~: read}"]
    made = entity(*words)
    files = entity_files.render(made)
    assert list(files) == [
        *("people.yml", "stg_people.sql", "people_events.sql", "people_ledger.sql"),
        *("people_committed.sql", "people_current.sql", "people_history.sql"),
        *("people_event_versions.sql", "people_bitemporal.sql"),
    ]
    assert files["people_events.sql"] == "{{ spark_cdc.events() }}\n"
    assert files["people_ledger.sql"] == "{{ spark_cdc.ledger(events=true) }}\n"
    assert files["people_event_versions.sql"] == "{{ spark_cdc.event_versions() }}\n"
    assert files["people_bitemporal.sql"] == "{{ spark_cdc.bitemporal() }}\n"
    models = {model["name"]: model for model in yaml.safe_load(files["people.yml"])["models"]}
    assert models["stg_people"]["config"]["meta"]["spark_cdc"] == {
        "load_type": "events",
        "events": {
            "format": "flagged_rows",
            "operation": "op",
            "order": ["seq"],
            "tie_breaker": ["no"],
            "codes": {"1": "delete", "false": "upsert", "U, x": "update", "": "read"},
            "archive": True,
        },
        "source": {"format": "csv", "path": "landing/people/{business_date}"},
    }


def test_change_events_without_a_key_and_with_other_unique_keys():
    words = ["--columns", "a:int, email:string", *EVENTS, "maxwell", "--insert-only"]
    made = entity("x", *words)
    assert made.format == "json"
    assert made.events == {"format": "maxwell", "insert_only": True}
    text = entity_files.render_yaml(made)
    assert "keys_not_null" not in text
    words = ["--columns", "a:int:key, email:string", *EVENTS, "wal2json"]
    text = entity_files.render_yaml(entity("x", *words, "--event-setting", "unique_keys=[[email]]"))
    assert "unique_keys: [[email]]" in text


def test_formats_of_the_users_own_project(tmp_path, monkeypatch):
    (tmp_path / "dbt_project.yml").write_text("name: shop\n")
    (tmp_path / "macros" / "events").mkdir(parents=True)
    macro = "{% macro events_acme(entity, landed) %}select 1{% endmacro %}"
    (tmp_path / "macros" / "events" / "events_acme.sql").write_text(macro)
    monkeypatch.chdir(tmp_path)
    words = ["x", "--columns", "a:int:key", *EVENTS]
    made = entity(*words, "acme")
    assert (made.events, made.format) == ({"format": "acme"}, "json")
    assert "accepted are canal, " in refused(*words, "acm")
    assert "did you mean acme?" in refused(*words, "acm")
    about = "{'shape': 'rows', 'problems': true, 'settings': {'unit': ['s', 'ms']}}"
    about = "{% macro events_acme_format() %}{{ return(" + about + ") }}{% endmacro %}"
    (tmp_path / "macros" / "more.sql").write_text(about)
    message = refused(*words, "acme", "--event-setting", "unit=min")
    assert "events.unit is 'min'; accepted are s, ms: choose one of them" in message
    assert entity(*words, "acme").format == "csv"
    problems = "{% macro events_acme_problems(entity) %}{{ return(unheard_of) }}{% endmacro %}"
    (tmp_path / "macros" / "more.sql").write_text(about + problems)
    with pytest.raises(SparkCdcError, match="could not judge the entity: 'unheard_of' is undef"):
        entity(*words, "acme")
    (tmp_path / "macros" / "more.sql").write_text(about + "{% macro events_acme_x(")
    with pytest.raises(
        SparkCdcError, match="The project's own macros of change events can't be read"
    ):
        entity(*words, "acme")


def test_the_rules_are_those_that_the_project_runs_with(tmp_path, monkeypatch):
    """spark_cdc as its dbt package comes before the macros beside this code."""
    (tmp_path / "dbt_project.yml").write_text("name: shop\npackages-install-path: packages\n")
    package = tmp_path / "packages" / "spark_cdc" / "macros"
    shutil.copytree(REPOSITORY / "macros", package)
    table = package / "context" / "settings.sql"
    table.write_text(table.read_text().replace("['full', 'delta'", "['weekly', 'full', 'delta'"))
    monkeypatch.chdir(tmp_path)
    words = ["x", "--columns", "a:int:key", "--load-type"]
    assert entity(*words, "weekly").load_type == "weekly"
    assert "accepted are weekly, full, delta, events" in refused(*words, "ful")
    shutil.rmtree(package)
    assert "accepted are full, delta, events" in refused(*words, "weekly")
    monkeypatch.setattr(jinja_bridge, "ROOT", tmp_path)
    with pytest.raises(SparkCdcError, match="The dbt package spark_cdc is not installed"):
        entity(*words, "full")


def test_timestamp_entities():
    text = entity_files.render_yaml(
        entity("orders", "--columns", COLUMNS, "--business-date-type", "timestamp")
    )
    assert "combination_of_columns: [key_hash, eff_start_date]" in text
    assert 'path: "landing/orders/{business_date:%Y/%m/%d/%H%M}"' in text


def test_column_words():
    columns, problems = parse_columns(
        "id:bigint:key:from=Order No, day:date:required:format=dd.MM.yyyy, "
        "at:timestamp:untracked:from='a,b:c':format=dd.MM.yyyy HH:mm, "
        "s:struct<a:int,b:array<decimal(3,1)>>,"
        "n:decimal(9,2):decimal=',':grouping='.':trailing_sign"
    )
    assert not problems
    assert columns == [
        Column("id", "bigint", "key", source="Order No"),
        Column("day", "date", required=True, format="dd.MM.yyyy"),
        Column("at", "timestamp", "untracked", source="a,b:c", format="dd.MM.yyyy HH:mm"),
        Column("s", "struct<a:int,b:array<decimal(3,1)>>"),
        Column("n", "decimal(9,2)", decimal=",", grouping=".", trailing_sign=True),
    ]


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("decimal(38,0)", True),
        ("decimal(10)", True),
        ("map<string,array<struct<a:int,`b c`:date>>>", True),
        ("DATE", True),
        ("decimal(39,0)", False),
        ("decimal(3,4)", False),
        ("array<>", False),
        ("array<int,int>", False),
        ("struct<int>", False),
        ("map<int>", False),
        ("interval", False),
    ],
)
def test_types(text, accepted):
    made = Entity("x", [Column("a", "int", "key"), Column("b", text)], format="json")
    problems = new.problems_of(made)
    assert (not problems) is accepted
    assert accepted or problems[0].startswith("column 'b': ")


def test_a_table_without_a_key():
    made = entity("x", "--columns", "a:int, seen:date:untracked", "--keyless")
    assert made.settings["keyless"] is True
    text = entity_files.render_yaml(made)
    assert "keyless: true" in text
    assert "spark_cdc.hashes_match" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Orders", "--columns", COLUMNS], "the name is 'Orders'; accepted are up to 80"),
        (["a__b", "--columns", COLUMNS], "call it a_b"),
        (["../x", "--columns", COLUMNS], "the name is '../x'"),
        (["cdc_loads", "--columns", COLUMNS], "'cdc_loads' is used by spark_cdc itself"),
        (["x_current", "--columns", COLUMNS], "'x_current' has the affix _current"),
        (["stg_x", "--columns", COLUMNS], "'stg_x' has the affix stg_"),
        (["x", "--columns", ""], "there are no columns: give --columns or --from-file"),
        (["x", "--columns", "a:int"], "no column has the role key: give `role: key`"),
        (["x", "--columns", "a:int"], "a table without a key takes keyless: true (--keyless)"),
        (["x", "--columns", "a:int:key", "--keyless"], "keyless is true, which is for tables"),
        (["x", "--columns", "a"], "column 'a' has no type"),
        (["x", "--columns", "a:text:key"], "type text can't be hashed; accepted are boolean"),
        (["x", "--columns", "a:text:key"], "did you mean string?"),
        (["x", "--columns", "a:smallmoney:key"], "'smallmoney': did you mean decimal(10,4)?"),
        (["x", "--columns", "a:number:key"], "'number': did you mean decimal(18,2)?"),
        (["x", "--columns", "a:raw:key"], "'raw': did you mean binary?"),
        (["x", "--columns", "a:int:kee"], "the unknown word 'kee'; accepted are key, untracked"),
        (["x", "--columns", "a:int:key:untracked"], "column 'a' is both key and untracked"),
        (["x", "--columns", "a:int:key", "--untracked", "a"], "'a' is both key and untracked"),
        (
            ["x", "--columns", "a:int:key,A:int"],
            "'A' and column 'a' have names that differ at most",
        ),
        (
            ["x", "--columns", "a:int:key,a:int"],
            "'a' and column 'a' have names that differ at most",
        ),
        (["x", "--columns", "a:int:key,b:int:from=a"], "both come from 'a'"),
        (["x", "--columns", "a:int:key,load_id:int"], "call it source_load_id"),
        (["x", "--columns", "a:int:key,cdc__a:int"], "has a name that spark_cdc uses"),
        (["x", "--columns", "a:int:key,Order No:int"], "call it order_no and say from=Order No"),
        (["x", "--columns", "a:int:key,b:array<int>"], "which CSV can't hold"),
        (["x", "--columns", "a:int:key:format=yyyy"], "has a format, but the type int"),
        (["x", "--columns", "a:binary:key:format=b64"], "did you mean base64?"),
        (["x", "--columns", "a:int:key:encoding=days"], "has an encoding, but the type int"),
        (["x", "--columns", "a:date:key:encoding=day"], "did you mean days?"),
        (["x", "--columns", "a:decimal(9,2):key:encoding=hex"], "encoding is 'hex'; accepted are"),
        (["x", "--columns", "a:date:key:encoding=days:format=yyyy"], "a format and an encoding"),
        (["x", "--columns", "a:int:key", "--key", "b"], "--key names 'b'; the columns are a"),
        (["x", "--columns", "a:int:key", "--load-type", "ful"], "did you mean full?"),
        (["x", "--columns", "a:int:key", "--format", "xml"], "format is 'xml'; accepted are csv"),
        (["x", "--columns", "a:int:key", "--business-date-type", "day"], "business_date_type is"),
        (["x", "--columns", "a:int:key", "--path", "here"], "source.path is 'here', without a"),
        (["x", "--columns", "a:int:key", "--option", "sep"], "accepted is NAME=VALUE"),
        (
            ["x", "--columns", "a:int:key", "--option", "mode=x"],
            "options has 'mode', which spark_cdc",
        ),
        (["x", "--columns", "a:int:key", "--date-column", "d"], "the format is csv: leave it out"),
        (
            ["x", "--columns", "a:int:key", "--format", "table", "--load-type", "delta"],
            "name the column that holds the",
        ),
        (["x", "--columns", "a:int:key", "--format", "table"], "such as staging.orders"),
        (["x", "--columns", "a:int:key", "--format", "change_feed"], "such as staging.orders"),
        (["x", "--columns", "a:int:key", "--deleted-when", "a = 1"], "but load_type is full"),
        (
            ["x", "--columns", "a:int:key", "--load-type", "delta", "--deleted-when", "op = 'a'"],
            "names none of the columns",
        ),
        (["x", "--columns", "a:int:key", "--order", "a"], "but load_type is full: remove it, or"),
        (["x", "--columns", "a:int:key", "--with", "event_versions"], "or set load_type: events"),
        (["x", "--columns", "a:int:key", "--with", "version"], "did you mean versions?"),
        (["x", "--columns", "a:int:key", *EVENTS[:2]], "events.format is missing: name the"),
        (["x", "--columns", "a:int:key", *EVENTS, "debezum"], "did you mean debezium?"),
        (
            ["x", "--columns", "a:int:key", *EVENTS, "maxwell", "--format", "csv"],
            "events of the format maxwell are JSON documents: set it to json",
        ),
        (
            ["x", "--columns", "a:int:key", *EVENTS, "flagged_rows"],
            "events.operation is missing: name",
        ),
        (
            ["x", "--columns", "a:int:key", *EVENTS, "flagged_rows"],
            "events.order is missing or names",
        ),
        (["x", "--columns", "a:int:key", *FLAGGED], "events.order names 'line_no', which"),
        (["x", "--columns", "a:int:key", *EVENTS, "dms"], "events.timestamp_column is missing"),
        (["x", "--columns", "a:int:key", "--event-setting", "a"], "accepted is NAME=VALUE"),
        (["x", "--columns", "a:int:key", "--event-setting", "a=[b"], "with a value in YAML"),
        (["x", "--columns", "a:int:key,event_op:int", *EVENTS, "dms"], "call it source_event_op"),
        (["x", "--columns", "a:int:key,cdc__a:int", *EVENTS, "dms"], "call it source_cdc__a"),
        (
            ["x", "--columns", "a:int:key", *EVENTS, "dms", "--deleted-when", "a = 1"],
            "but load_type is events, where each event says",
        ),
        (["x_events", "--columns", "a:int:key"], "'x_events' has the affix _events"),
        (["x_event_versions", "--columns", "a:int:key"], "has the affix _event_versions"),
        (["x", "--from-file", "missing.csv"], "'missing.csv': no such file or folder"),
        (["x", "--from-file", __file__], "the format of"),
        (["x", "--from-file", "x.avro"], "'x.avro': no such file or folder"),
    ],
)
def test_refusals(arguments, message):
    assert message in refused(*arguments)


@pytest.mark.parametrize("more", [(), ("--format", "avro")])
def test_a_sample_of_avro_is_refused_in_one_sentence(tmp_path, more):
    sample = tmp_path / "x.avro"
    sample.write_bytes(b"Obj\x01")
    message = refused("x", "--from-file", str(sample), *more)
    assert "--columns 'id:bigint, name:string' --format avro" in message
    assert message.count("\n  - ") == 1
    # a format that is none at all has one list of those that are accepted, too
    message = refused("x", "--from-file", str(sample), "--format", "xml")
    assert message.count("accepted are") == 1


def test_all_problems_come_at_once():
    message = refused("X", "--columns", "a:text, A:int, load_id:int", "--load-type", "none")
    assert message.count("\n  - ") == 7


def test_what_a_run_would_refuse_is_refused_at_once():
    """Rules that only the macros know."""
    columns = ["x", "--columns", "a:int:key, s:string:control, n:bigint:control"]
    flagged = [*columns, *EVENTS, "flagged_rows", "--operation", "s"]
    assert "names the column 's', which is string; accepted are" in refused(
        *flagged, "--order", "s"
    )
    setting = [*flagged, "--order", "n", "--event-setting"]
    assert "events.tombstone_days is '-1'; accepted are" in refused(*setting, "tombstone_days=-1")
    assert "events.time names 'when', which is no column" in refused(*setting, "time=when")
    assert "unknown key 'colour'; accepted are format, order," in refused(*setting, "colour=red")
    assert "has an order of its own" in refused(*columns, *EVENTS, "debezium", "--order", "n")


def test_types_are_those_that_the_macros_accept():
    package, _ = macro_rules.rules()
    types = {package._hash_type(name).get("kind") for name in entities.TYPES}
    assert types <= {*entities.TYPES, "integer"}
    assert all(package._hash_type(name)["problem"] for name in source_types.names())
    assert not any(package._hash_type(one)["problem"] for one in source_types.names().values())


def test_hint_for_a_compared_flag(tmp_path, capsys):
    columns = "a:int:key, op:string"
    arguments = ["--load-type", "delta", "--deleted-when", "op = 'D'", "--directory", str(tmp_path)]
    args = parsed("x", "--columns", columns, *arguments)
    args.run(args)
    assert "Note: --deleted-when uses op, which is compared too" in capsys.readouterr().out


# --- samples ------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize("fmt", ["parquet", "orc"])
def test_typed_samples(spark, tmp_path, fmt):
    query = "select 1L as id, named_struct('a', 1L, 'b', array('x')) as item, 1.5d as amount"
    spark.sql(query).coalesce(1).write.format(fmt).save(str(tmp_path / "out"))
    sample = tmp_path / f"sample.{fmt}"
    shutil.copy(next((tmp_path / "out").glob("part-*")), sample)
    made = entity("x", "--from-file", str(sample), "--key", "id")
    assert made.format == fmt
    assert {column.name: (column.data_type, column.role) for column in made.columns} == {
        "id": ("bigint", "key"),
        "item": ("struct<a:bigint,b:array<string>>", None),
        "amount": ("double", None),
    }


# --- what dbt makes of it -----------------------------------------------------


def hostile_entity() -> Entity:
    return Entity(
        name="hostile",
        description=HOSTILE,
        columns=[
            Column("no", "bigint", "key", source=HOSTILE, description=HOSTILE),
            Column("null", "string", "untracked", source="- x: [y]"),
            Column("yes", "timestamp", format="yyyy-MM-dd'T'HH:mm, ss"),
            Column("order", "struct<a:int,b:map<string,int>>", source="{{{{1}}"),
            Column("op", "string", "control", required=True),
        ],
        load_type="delta",
        deleted_when="op in ('{{ D }}', \"x\") -- {% if %}",
        format="json",
        path="landing/{business_date:%Y/%m/%d} it's: #1",
        options={"lineSep": "\n", "encoding": "{{ x }}"},
    )


@pytest.fixture(scope="module")
def manifest(tmp_path_factory) -> dict:
    """dbt's manifest of a project with two entities, its macros reduced to their names."""
    project = tmp_path_factory.mktemp("project")
    shutil.copytree(
        REPOSITORY / "packages" / "dbt_utils",
        project / "dbt_packages" / "dbt_utils",
        ignore=shutil.ignore_patterns("target", "logs"),
    )
    macros = ["{% macro stage() %}select 1{% endmacro %}"]
    kinds = [*MODELS, *EXTRA, "events", *ARCHIVE]
    arguments = {"ledger": "events=false"}
    macros += [
        "{% macro " + kind + "(" + arguments.get(kind, "") + ") %}select 1{% endmacro %}"
        for kind in kinds
    ]
    for test in ["accepted_operations(model, operations)", "keys_not_null(model)"]:
        macros.append("{% test " + test + " %}select 1{% endtest %}")
    for test in ["hashes_match", "intervals_valid", "loads_reconcile", *VERIFYING]:
        macros.append("{% test " + test + "(model) %}select 1{% endtest %}")
    (project / "macros").mkdir()
    (project / "macros" / "all.sql").write_text("\n".join(macros))
    (project / "dbt_project.yml").write_text(
        "name: spark_cdc\nversion: 1.0.0\nconfig-version: 2\nprofile: p\n"
        "flags: {send_anonymous_usage_stats: false}\n"
    )
    (project / "profiles.yml").write_text(
        "p: {target: t, outputs: {t: {type: spark, method: thrift, host: h, schema: s}}}\n"
    )
    models = project / "models"
    entity_files.write(hostile_entity(), models)
    entity_files.write(entity("orders", "--columns", COLUMNS, "--with", *EXTRA), models)
    table = ["--format", "table", "--path", "raw.t_items", "--date-column", "d"]
    entity_files.write(entity("items", "--columns", COLUMNS, *table), models)
    feed = ["--load-type", "events", "--events-format", "delta_cdf", "--format", "change_feed"]
    entity_files.write(
        entity("parcels", "--columns", COLUMNS, *feed, "--path", "raw.parcels"), models
    )
    people = ["--event-setting", "codes={1: insert}", "--event-setting", "unique_keys=[[price]]"]
    people += ["--with", *ARCHIVE]
    entity_files.write(entity("people", "--columns", COLUMNS, *FLAGGED, *people), models)
    shutil.copy(REPOSITORY / "models" / "technical_columns.md", models)
    done = subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", "parse", "--profiles-dir", "."],
        cwd=project,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stdout.lower(), done.stdout
    return json.loads((project / "target" / "manifest.json").read_text())


@pytest.mark.integration
def test_dbt_reads_hostile_texts_as_they_are(manifest):
    wanted = hostile_entity()
    node = manifest["nodes"]["model.spark_cdc.stg_hostile"]
    settings = node["config"]["meta"]["spark_cdc"]
    assert settings == {
        "load_type": "delta",
        "deleted_when": wanted.deleted_when,
        "source": {"format": "json", "path": wanted.path, "options": dict(wanted.options)},
    }
    columns = list(node["columns"].values())
    assert [column["name"] for column in columns] == [column.name for column in wanted.columns]
    assert [column["data_type"] for column in columns] == [c.data_type for c in wanted.columns]
    assert [column["config"]["meta"] for column in columns] == [
        {"role": "key", "from": HOSTILE},
        {"role": "untracked", "from": "- x: [y]"},
        {"format": "yyyy-MM-dd'T'HH:mm, ss"},
        {"from": "{{{{1}}"},
        {"role": "control", "nullable": False},
    ]
    assert columns[0]["description"] == HOSTILE
    assert manifest["sources"]["source.spark_cdc.landing.hostile"]["description"] == HOSTILE


@pytest.mark.integration
def test_dbt_finds_columns_descriptions_and_tests(manifest):
    extra = {"orders": EXTRA, "people": ["events", *ARCHIVE]}
    for name in ["hostile", "orders", "items", "people"]:
        for kind in [*MODELS, *extra.get(name, [])]:
            model = manifest["nodes"][f"model.spark_cdc.{name}_{kind}"]
            assert "| Column | Type |" in model["description"]
            columns = model["columns"].values()
            assert all(column["data_type"] for column in columns)
            assert [column["name"] for column in columns if not column["description"]] == []
    tests = sorted(
        (node["attached_node"].split(".")[-1], node["test_metadata"]["name"])
        for node in manifest["nodes"].values()
        if node["resource_type"] == "test" and node["attached_node"].split(".")[-1][:6] == "orders"
    )
    assert tests == [
        *sorted(("orders_committed", test) for test in ["loads_reconcile", *VERIFYING]),
        ("orders_current", "accepted_operations"),
        ("orders_current", "hashes_match"),
        ("orders_current", "keys_not_null"),
        ("orders_current", "unique_combination_of_columns"),
        ("orders_history", "accepted_operations"),
        ("orders_history", "unique_combination_of_columns"),
        ("orders_latest", "unique_combination_of_columns"),
        ("orders_versions", "intervals_valid"),
    ]
    table = manifest["sources"]["source.spark_cdc.landing.items"]
    assert (table["schema"], table["identifier"]) == ("raw", "t_items")
    parcels = manifest["nodes"]["model.spark_cdc.stg_parcels"]["config"]["meta"]["spark_cdc"]
    assert parcels["source"] == {"format": "change_feed", "table": "raw.parcels"}


@pytest.mark.integration
def test_dbt_reads_the_settings_of_change_events(manifest):
    node = manifest["nodes"]["model.spark_cdc.stg_people"]
    assert node["config"]["meta"]["spark_cdc"]["events"] == {
        "format": "flagged_rows",
        "operation": "op",
        "order": ["line_no"],
        "codes": {"1": "insert"},
        "unique_keys": [["price"]],
        "archive": True,
    }


# --- the examples -------------------------------------------------------------


@pytest.mark.integration
def test_orders_files_tell_null_from_empty_and_keep_quotes(spark):
    settings = yaml.safe_load((REPOSITORY / "models" / "orders" / "orders.yml").read_text())
    source = settings["models"][0]["config"]["meta"]["spark_cdc"]["source"]
    path = REPOSITORY / source["path"].replace("{business_date}", "*")
    # header and nullValue as land() sets them
    options = {"header": True, "nullValue": "\\N", **source["options"]}
    frame = spark.read.options(**options).csv(str(path))
    declared = [column["name"] for column in settings["models"][0]["columns"]]
    assert frame.columns == declared
    rows = {(row.exported_at[:10], row.order_no, row.line_no): row for row in frame.collect()}
    assert len(rows) == 8 + 5 + 5 + 4
    assert rows["2024-03-01", "1001", "1"].remark is None
    assert rows["2024-03-01", "1001", "2"].remark == ""
    assert rows["2024-03-01", "1001", "2"].article == "Tea; green, loose"
    assert rows["2024-03-04", "1007", "1"].remark == 'Say "TeX"; not "Tex"'


def test_sensitive_columns_from_the_command_line():
    columns, problems = parse_columns("id:int:key, mail:string:sensitive:mask=mail_domain")
    assert problems == []
    assert columns[1].meta == {"sensitive": True, "mask": "mail_domain"}
    entity = Entity("people", columns, path="in/{business_date}")
    assert new.problems_of(entity) == []
    files = entity_files.render(entity)
    assert files["people_current_sensitive.sql"] == "{{ spark_cdc.current() }}\n"
    assert files["people_committed_sensitive.sql"] == "{{ spark_cdc.committed() }}\n"
    events = replace(entity, load_type="events", format="json", events={"format": "debezium"})
    assert new.problems_of(events) == []
    wrong = replace(columns[1], data_type="bigint")
    assert "mask: mail_domain, but the type bigint" in str(
        new.problems_of(replace(entity, columns=[columns[0], wrong]))
    )


EXAMPLES = sorted(
    path.name
    for path in (REPOSITORY / "models").iterdir()
    if (path / f"stg_{path.name}.sql").exists()
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_what_new_writes(name):
    """But for the descriptions, which people wrote."""
    written = (REPOSITORY / "models" / name / f"{name}.yml").read_text()
    content = yaml.safe_load(written)
    settings = content["models"][0]["config"]["meta"]["spark_cdc"]
    columns = []
    for column in content["models"][0]["columns"]:
        meta = column.get("config", {}).get("meta", {})
        columns.append(
            Column(
                column["name"],
                column["data_type"],
                meta.get("role"),
                required=meta.get("nullable") is False,
                description=column["description"],
                sensitive=meta.get("sensitive", False),
                mask=meta.get("mask"),
            )
        )
    made = Entity(
        name,
        columns,
        settings["load_type"],
        settings.get("deleted_when"),
        format=settings["source"]["format"],
        path=settings["source"]["path"],
        options=settings["source"].get("options", {}),
        description=content["sources"][0]["tables"][0]["description"],
        events=settings.get("events", {}),
        rules=settings.get("rules", {}),
        extra=[
            kind
            for kind in (*EXTRA, *ARCHIVE)
            if any(model["name"].startswith(f"{name}_{kind}") for model in content["models"])
        ],
    )
    assert not new.problems_of(made)
    files = entity_files.render(made)
    assert written.startswith(files.pop(f"{name}.yml").rstrip("\n"))
    for file, text in files.items():
        assert (REPOSITORY / "models" / name / file).read_text() == text


def test_many_entities_of_a_list(tmp_path, capsys):
    """Options stand in columns; those of the command line count where the list is silent."""
    listed, models = tmp_path / "tables.csv", tmp_path / "models"
    listed.write_text(
        "entity,columns,load_type,deleted_when,expected_every,with\n"
        'bills,"id:bigint:key, state:string",delta,"state = \'gone\'",1h,versions changes\n'
        'places,"id:int:key, name:string",,,,\n'
    )
    words = ["--directory", str(models), "--path", "in/{entity}/{business_date}"]
    assert command_line.main(["new", "--many", str(listed), *words]) == 0
    bills, places = ((models / name / f"{name}.yml").read_text() for name in ("bills", "places"))
    assert "load_type: delta" in bills and "in/bills/{business_date}" in bills
    assert "load_type: full" in places and "in/places/{business_date}" in places
    assert (models / "bills" / "bills_changes.sql").exists()
    assert not (models / "places" / "places_changes.sql").exists()
    listed.write_text(listed.read_text() + 'more,"id:int:key",,,,\n')
    assert command_line.main(["new", "--many", str(listed), *words]) == 0
    said = capsys.readouterr().out
    assert "There already and left alone: bills, places" in said
    assert "Wrote 1 entities below" in said


def test_many_entities_of_an_information_schema(tmp_path):
    listed, models = tmp_path / "columns.csv", tmp_path / "models"
    listed.write_text(
        "TABLE_NAME,COLUMN_NAME,ORDINAL_POSITION,IS_NULLABLE,DATA_TYPE,NUMERIC_PRECISION,"
        "NUMERIC_SCALE,COLUMN_KEY\n"
        "PartList,Label,2,YES,character varying,,,\n"
        "PartList,PartID,1,NO,integer,32,0,PRI\n"
        "PartList,price,3,NO,numeric,12,2,\n"
        "PartList,since,4,YES,timestamp(6) without time zone,,,\n"
    )
    assert command_line.main(["new", "--many", str(listed), "--directory", str(models)]) == 0
    written = yaml.safe_load((models / "part_list" / "part_list.yml").read_text())
    columns = {one["name"]: one for one in written["models"][0]["columns"]}
    assert list(columns) == ["part_id", "label", "price", "since"]
    types = [one["data_type"] for one in columns.values()]
    assert types == ["int", "string", "decimal(12,2)", "timestamp_ntz"]
    assert columns["part_id"]["config"]["meta"] == {"role": "key", "from": "PartID"}
    assert columns["price"]["config"]["meta"] == {"nullable": False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("table,columns\n", "Accepted are entity and options"),
        ("entity,colums\nbills,id:int:key\n", "colums, which are not options"),
        ("entity,columns\nbills,id:integre:key\n", "integre"),
        (
            "entity,columns\nbills,id:int:key\nbills,id:int:key\n",
            "'bills' is listed more than once",
        ),
        ("entity,columns\n", "lists no entity"),
    ],
)
def test_lists_that_are_wrong(text, message, tmp_path, capsys):
    listed = tmp_path / "tables.csv"
    listed.write_text(text)
    words = ["new", "--many", str(listed), "--directory", str(tmp_path / "models")]
    assert command_line.main(words) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "models").exists()


def test_many_entities_of_a_database(project, command):
    """Its tables, or those of a pattern; the entities load as they are written."""
    for table, columns in (
        ("sale_lines", "OrderNo bigint, line int, tags array<string>, day date"),
        ("sale_heads", "OrderNo bigint, state string, seen timestamp, day date"),
        ("other", "id int"),
    ):
        layout = "partitioned by (day)" if "day" in columns else ""
        project.query(f"create table {{s}}.{table} ({columns}) using parquet {layout}")
    words = ["new", "--from-database", f"{project.schema}.sale_*", "--date-column", "day"]
    roles = ["--key", "OrderNo,line", "--untracked", "seen"]
    models = str(project.folder / "models")
    code, said = command(*words, *roles, "--directory", models)
    assert code == 0, said
    assert "Wrote 2 entities" in said
    heads = yaml.safe_load((project.folder / "models/sale_heads/sale_heads.yml").read_text())
    columns = {one["name"]: one for one in heads["models"][0]["columns"]}
    assert [(name, one["data_type"]) for name, one in columns.items()] == [
        ("order_no", "bigint"), ("state", "string"), ("seen", "timestamp"),
    ]  # fmt: skip
    assert columns["order_no"]["config"]["meta"] == {"role": "key", "from": "OrderNo"}
    assert columns["seen"]["config"]["meta"] == {"role": "untracked"}
    project.query("insert into {s}.sale_heads values (1, 'open', null, date'2024-03-01')")
    project.load("2024-03-01", "sale_heads")
    assert project.rows("sale_heads_current", "order_no, state") == [(1, "open")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{s}.sale_*", "--key", "nothing"], "--key names 'nothing', which no table has"),
        (["{s}", "--date-column", "day"], "--date-column 'day' is not a column of other"),
        (["no_such"], "There is no database no_such"),
        (["{s}.none_*"], "{s}.none_* lists no entity"),
    ],
)
def test_databases_that_are_wrong(words, message, project, command, tmp_path):
    words = [word.format(s=project.schema) for word in words]
    project.query("create table if not exists {s}.other (id int) using parquet")
    code, said = command("new", "--from-database", *words, "--directory", str(tmp_path / "models"))
    assert code != 0
    assert message.format(s=project.schema) in said
    assert not (tmp_path / "models").exists()
