"""The SQL that the project sends, rendered into files without a server, to be linted and read.

    python tests/rendered_sql.py target/rendered

The examples are rendered as a first load, as a later one and as a checkpoint, with every view; so
are the data tests and the longer statements around a load. Loads of change events are rendered as
plain as they can be and with all that can occur in them. Of every format of change events, and of
an entity with a column of each type, there is what staging makes of what landed; and in `landing/`,
which is not linted, the statements around it, which hold a query as it comes.
"""

from __future__ import annotations

import datetime
import hashlib
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml

from spark_cdc.jinja_bridge import Macros, load_macros

ROOT = Path(__file__).resolve().parent.parent
ENTITIES = sorted(path.parent.name for path in ROOT.glob("models/*/stg_*.sql"))
SCHEMA = "cdc"
EVENTS = "price_changes"  # whose events are resolved here: it has columns of every role
STORIES = {
    f"{path.parent.name}{path.stem.removeprefix('story')}": path
    for path in sorted(ROOT.glob("tests/event_formats/*/story*.yml"))
}
FOUND = ["id", "name", "amount", "remark"]  # columns that a source has
TYPES = {
    "b": "boolean",
    "n": "bigint",
    "d": "decimal(20,2)",
    "f": "double",
    "s": "string",
    "x": "binary",
    "x_hex": ("binary", {"format": "hex"}),
    "day": "date",
    "day_de": ("date", {"format": "dd.MM.yyyy"}),
    "day_number": ("date", {"encoding": "days"}),
    "t": "timestamp",
    "t_de": ("timestamp", {"format": "dd.MM.yyyy HH:mm"}),
    "t_millis": ("timestamp", {"encoding": "millis"}),
    "w": "timestamp_ntz",
    "w_de": ("timestamp_ntz", {"format": "dd.MM.yyyy HH:mm"}),
    "w_nanos": ("timestamp_ntz", {"encoding": "nanos"}),
    "d_base64": ("decimal(38,4)", {"encoding": "base64"}),
    "list": "array<int>",
    "record": "struct<a: int, b: string>",
}
TYPED = {  # source of an entity with a column of each type
    "typed_csv": {"source": {"path": "landing/{business_date}"}, "timezone": "Europe/Berlin"},
    "typed_json": {"source": {"format": "json", "path": "landing/{business_date:%Y/%m}"}},
    "typed_parquet": {"source": {"format": "parquet", "path": "landing/{business_date}"}},
    "typed_table": {"source": {"format": "table", "date_column": "day_of_load"}},
}
MANIFESTS = {  # by the name of what is planned on top of them
    "first": {"loads": [], "rows": 0, "log_rows": 0},
    "later": {"loads": ["20240229-{kind}c-00000001"], "rows": 1000, "log_rows": 0},
    "checkpoint": {
        "loads": [
            "20240228-{kind}c-00000001",
            "20240229-{kind}-00000002",
            "20240301-{kind}-00000003",
        ],
        "rows": 1000,
        "log_rows": 900,
    },
}


def render(
    after: Callable[[Macros], None] = lambda macros: None, **variables: Any
) -> dict[str, str]:
    """Return the SQL by file name.

    after: gets the macros when all of it is made. variables: vars of the project.
    """
    files = {}
    with tempfile.TemporaryDirectory() as place:
        macros = _macros(Path(place), variables)
        for name in ENTITIES:
            for title, sql in _statements(macros, name).items():
                files[f"{name}/{title}.sql"] = _tidy(sql)
        for name in [*STORIES, *TYPED]:
            for title, sql in _landing_statements(macros, name).items():
                folder = "formats" if title.startswith("stg_") else "landing"
                files[f"{folder}/{title}.sql"] = _tidy(sql)
        after(macros)
    return files


def write(folder: Path) -> None:
    """Write the SQL into a folder."""
    for name, sql in render().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sql, encoding="utf-8")


def manifest_of(
    macros: Macros, loads: Sequence[str], *, rows: int = 0, log_rows: int = 0, **schema: Any
) -> dict[str, Any]:
    """Return a manifest with these loads, as if the last of them had written what is in the log.

    schema: definition, layout and applied of all of them.
    """
    entries = [
        {"load_id": load, "commit": at, "rows": rows, "written": 0, "definition": None}
        | {"layout": {}, "added": {}, "applied": {}}
        | schema
        for at, load in enumerate(loads, start=1)
    ]
    if entries:
        entries[-1]["written"] = log_rows
    manifest = macros._empty_manifest() | {"sequence": len(loads)}
    made: dict[str, Any] = macros._timeline(manifest, entries)
    return made


def _statements(macros: Macros, name: str) -> dict[str, str]:
    entity = macros._entity(name)
    kind = entity["load_type"][0]
    time = datetime.datetime(2024, 3, 4)
    ledger, committed, loads = (
        f"{SCHEMA}.{name}_ledger",
        f"{SCHEMA}.{name}_committed",
        f"{SCHEMA}.cdc_loads",
    )
    stage_sql = macros._stage_events_sql if entity["events"] else macros._stage_sql
    statements = {
        f"stg_{name}": stage_sql(entity, f"landed_{name}"),
        f"{name}_current": macros._current_sql(entity, committed),
        f"{name}_latest": macros._latest_sql(entity, committed),
        f"{name}_history": macros._history_sql(entity, committed),
        f"{name}_versions": macros._versions_sql(entity, committed),
        f"{name}_changes": macros._changes_sql(entity, committed),
        f"{name}_rejects": macros._rejects_sql(entity, ledger, committed),
        **_feed_statements(macros, entity, ledger),
        **_target_statements(macros, entity),
        **(_sensitive_statements(macros, entity) if entity["sensitive"] else {}),
        f"{name}_as_of": macros.as_of(f"{SCHEMA}.{name}_versions", "2024-03-02"),
        "cdc_loads": macros.load_log(),
    }
    kept = f"20240301-{kind}c-00000001"
    draft, timeline = (
        manifest_of(macros, [kept, f"20240302-{kind}-0000000{run}"]) for run in (2, 3)
    )
    replayed = {
        "entity": entity,
        "committed": committed,
        "public": ledger,
        "replay": f"{SCHEMA}.{name}_replay",
        "draft": draft | {"replay": {"from": "2024-03-02"}},
        "timeline": timeline,
    }
    statements |= {
        f"{name}_replay_history": macros._compare_draft_history_sql(replayed),
        f"{name}_replay_state": macros._compare_draft_state_sql(replayed),
    }
    lenient = {**entity, "quarantine": ["null_keys", "failed_casts", "duplicate_keys"]}
    if not entity["events"]:
        statements[f"stg_{name}_quarantine"] = stage_sql(lenient, f"landed_{name}")
    if kind == "f":
        keyless = {**entity, "keyless": True, "key_columns": []}
        statements[f"stg_{name}_keyless"] = stage_sql(keyless, f"landed_{name}")
    for title, figures in MANIFESTS.items():
        of_kind = [load.format(kind=kind) for load in figures["loads"]]
        manifest = manifest_of(macros, of_kind, rows=figures["rows"], log_rows=figures["log_rows"])
        load = macros._plan_load(entity, manifest, time)
        keep = load.pop("keep")
        run = {"entity": entity, "load": load, "prior": ledger, "broadcast": True}
        record = {
            "started_at": "2024-03-05 06:00:00.000000",
            "invocation_id": "0",
            "dbt_version": "1.11",
            "spark_cdc_version": macros._version(),
        }
        audit = {
            "counts": dict.fromkeys("IUDNXRT", 0),
            "rows_in": 0,
            "rows_prior": 0,
            "rows_current": 0,
            "record": record,
        }
        entry = manifest_of(macros, [load["load_id"]], rows=1000)["entries"][0]
        if entity["events"]:
            audit["record"] = {**record, "events": macros._any_events()}
            if name == EVENTS:
                statements |= _event_statements(macros, run, title)
        else:
            statements[f"{name}_ledger_{title}"] = macros._classify_rows_sql(run, f"stg_{name}")
            if title != "first":
                statements |= _statements_of_deletes_apart(macros, run, title)
            dates = [load, {**load, "business_time": "2024-03-05", "is_checkpoint": False}]
            statements[f"{name}_backfill_{title}"] = macros._classify_loads_sql(
                run, dates, f"stg_{name}"
            )
            if title == "checkpoint":
                statements |= {
                    f"{name}_ledger_quarantine": macros._classify_rows_sql(
                        run | {"entity": lenient}, f"stg_{name}"
                    ),
                    f"{name}_hold": macros._retained_sql(run | {"entity": lenient}, True),
                }
        if title == "later":
            statements |= _changed_statements(macros, run, ledger, manifest)
        statements |= {
            f"{name}_committed_{title}": macros._committed_sql(
                entity, ledger, macros._timeline_loaded(manifest, len(keep), entry)
            ),
            f"count_load_{title}": macros._load_counts_sql(
                ledger,
                [*([load["base"]] if load["base"] else []), *load["log"], load["load_id"]],
                [load["load_id"]],
            ),
            f"record_load_{title}": macros._log_rows_sql(
                loads, entity, [{"load": load, "audit": audit}]
            ),
        }
    statements |= _maintenance_statements(macros, entity)
    arguments: dict[str, dict[str, Any]] = {
        "accepted_operations": {"operations": ["I", "U"]},
        "follows_story": {
            "committed": committed,
            "current": f"{SCHEMA}.{name}_current",
            "history": f"{SCHEMA}.{name}_history",
            "key_columns": [column["name"] for column in entity["key_columns"]],
        },
    }
    for path in sorted((ROOT / "tests" / "generic").glob("*.sql")):
        test = macros[f"test_{path.stem}"]
        model = Relation(f"{name}_story" if path.stem == "follows_story" else f"{name}_current")
        statements[path.stem] = test(model, **arguments.get(path.stem, {}))
    return statements


def _sensitive_statements(macros: Macros, entity: dict[str, Any]) -> dict[str, str]:
    """What there is of sensitive columns alone."""
    name, committed = entity["name"], f"{SCHEMA}.{entity['name']}_committed"
    ctx = {
        "entity": entity,
        "ledger": f"{SCHEMA}_sensitive.{name}_ledger_sensitive",
        "public": f"{SCHEMA}.{name}_ledger",
        "write": {"public": f"{SCHEMA}.{name}_ledger"},
    }
    loads = ["20240304-f-00000001"]
    shown = {"shown": {"gone": {"at": "gone"}}}
    return {
        f"{name}_masked": macros._masked_ledger_sql(ctx, macros._ledger_columns(entity), loads),
        f"{name}_masked_differences": macros._masked_ledger_differences_sql(ctx, loads),
        f"{name}_committed_sensitive": macros._committed_sensitive_sql(
            entity, ctx["ledger"], committed, shown
        ),
        f"stg_{name}_shown": macros._masked_stage_sql(
            entity, macros._stage_sql(entity, f"landed_{name}")
        ),
        **_erased_statements(macros, ctx, loads),
    }


def _erased_statements(macros: Macros, ctx: dict[str, Any], loads: list[str]) -> dict[str, str]:
    """What erase asks and writes, of a plain key and of a sensitive one."""
    entity, name = ctx["entity"], ctx["entity"]["name"]
    columns = [*entity["stored"], {"name": "key_hash", "sql": "key_hash"}]
    columns += [{"name": one, "sql": one} for one in ("nonkey_hash", "cdc__note")]
    secret = Relation("spark_cdc_secret_20240101t000000_00000000")
    keys = [dict(key, name=f"erased:{key['name']}", secret=secret) for key in columns[:1]]
    keyed = {"secret": "20240101t000000_00000000", "sql": macros._hash(keys)}
    staged = macros._staged_rows_sql(entity, f"landed_{name}", [])
    plan = {"names": {loads[0]: "20240304-f-00000002"}, "entity_now": entity}
    wanted = {"view": f"spark_cdc_erase_{name}", "layout": {}}
    placed = macros._ledger_columns(entity)
    return {
        f"stg_{name}_erased": macros._erased_rows_sql(
            entity,
            staged,
            columns,
            "cdc__note is not null",
            [{"secret": "none", "sql": "key_hash"}],
        ),
        f"stg_{name}_erased_keyed": macros._erased_rows_sql(
            entity, staged, columns, "cdc__note is not null", [keyed, keyed]
        ),
        f"{name}_erased": macros._erased_copy_sql(
            ctx | {"events": None},
            Relation(f"{name}_ledger_sensitive"),
            placed,
            "operation = 'R'",
            macros._in_loads(loads),
            plan,
            wanted,
        ),
        f"{name}_erase_wanted": macros._erase_known_sql(ctx, {}, wanted["view"]),
    }


def _statements_of_deletes_apart(macros: Macros, run: dict[str, Any], title: str) -> dict[str, str]:
    """Both writes of a full load onto many rows."""
    name = run["entity"]["name"]
    load = {**run["load"], "load_type": "full", "deletes_separately": True}
    apart = run | {"load": load}
    return {
        f"{name}_ledger_{title}_apart": macros._classify_rows_sql(apart, f"stg_{name}"),
        f"{name}_deleted_{title}": macros._deleted_sql(apart, 10, 1),
        f"{name}_deleted_{title}_many": macros._deleted_sql(apart, 10**9, 10**9),
    }


def _landing_statements(macros: Macros, name: str) -> dict[str, str]:
    """What makes a source readable, staging, and the writes of an entity of STORIES or TYPED."""
    entity = macros._entity(name)
    time = datetime.datetime(2024, 3, 4, 10, 15)
    found = [{"col_name": column, "data_type": "string"} for column in FOUND]
    is_message = entity["events"] and entity["events"]["is_message"]
    stage_sql = macros._stage_events_sql if entity["events"] else macros._stage_sql
    statements = {
        f"stg_{name}": stage_sql(entity, f"landed_{name}"),
        f"{name}_files": macros._files_view_sql(entity, f"{SCHEMA}.{name}", [time]),
        f"{name}_landed": macros._landed_messages_sql(
            entity, [{"relation": f"landed_{name}_files", "columns": found}]
        )
        if is_message
        else macros._landed_view_sql(entity, [time], found),
        f"{name}_no_rows": macros._no_rows_view_sql(entity),
    }
    if entity["source"]["format"] != "table":
        statements[f"{name}_input"] = macros._input_sql(entity, [time])
    columns = macros._ledger_columns(entity)
    load = {"load_id": "20240304-e-00000000", "business_time": "2024-03-04"}
    ledger, events = Relation(f"{name}_ledger"), Relation(f"{name}_events")
    statements |= {
        f"{name}_create_ledger": macros._create_table_sql(
            ledger,
            columns,
            entity["file_format"],
            ["business_date", "load_id", "operation"],
            ["key_hash", "nonkey_hash"],
        ),
        f"{name}_write_ledger": macros._write_loads_sql(
            ledger, columns, [load], "select * from tagged", "true"
        ),
        f"{name}_write_by_columns": macros._write_loads_sql(
            ledger,
            columns,
            [load],
            "select * from tagged",
            "true",
            macros._cluster_rank_sql(columns[0], ["1", "2"], 0, {"stride": 2, "place": 1}),
        ),
        f"{name}_repeats": macros._repeats_sql(
            {"entity": entity, "ledger": ledger}, [load["load_id"]]
        ),
    }
    if entity["events"]:
        columns = macros._event_columns(entity)
        statements |= {
            f"{name}_create_events": macros._create_table_sql(
                events,
                columns,
                entity["file_format"],
                ["business_date", "load_id"],
                ["key_hash", "event_hash"],
                entity["events"]["archive"],
            ),
            f"{name}_write_events": macros._write_rows_sql(
                events,
                columns,
                "select * from staged",
                "true",
                "events_of_load",
            ),
        }
    return statements


def _maintenance_statements(macros: Macros, entity: dict[str, Any]) -> dict[str, str]:
    """The queries of vacuum, compact and report."""
    name, kind = entity["name"], entity["load_type"][0]
    ledger = Relation(f"{name}_ledger")
    ctx = {
        "entity": entity,
        "ledger": ledger,
        "rows": ledger,
        "load_log": f"{SCHEMA}.cdc_loads",
        "write": {"load_log": f"{SCHEMA}.cdc_loads"},
        "catalog": {ledger.identifier: {"location": "file:/ledger"}},
    }
    loads = [f"2024030{day}-{kind}{'c' if day == 1 else ''}-0000000{day}" for day in range(1, 6)]
    plan = macros._plan_compaction(loads, 0, False)
    record = {"load_id": plan["checkpoint"], "business_time": "2024-03-04"}
    columns = macros._ledger_columns(entity)
    return {
        "vacuum_ages": macros._load_ages_sql(ctx, ledger),
        "compact": macros._compacted_rows_sql(entity, ledger, plan, columns, record, record),
        "report_loads": macros._logged_loads_sql(
            ctx["load_log"], list(macros._load_log_columns()), [name], "2024", "2025", 400
        ),
        "report_changes": macros._changed_rows_sql(
            entity, macros._diff_sql(entity, ledger, loads[:-1], loads), 5
        ),
        "cluster_steps": macros._cluster_steps_sql(columns[:2], ledger, loads[:1], 10**6, 128),
    }


def _changed_statements(
    macros: Macros, run: dict[str, Any], ledger: str, manifest: Any
) -> dict[str, str]:
    """The statements of a load that brings a new definition, and of one after it."""
    entity, load = run["entity"], run["load"]
    name = entity["name"]
    before = macros._definition(entity) | {
        "gone": "compared int",
        "hash specification": "version 0",
    }
    before[entity["compared"][0]["name"]] = "compared string"
    del before[entity["compared"][-1]["name"]]
    diff = macros._definition_diff({**entity, "dropped_columns": ["gone"]}, before)
    layout = macros._layout(diff, {}, {}, load["load_id"].split("-")[0])
    restated = macros._restated_ledger(entity, ledger, {}, diff)
    statements = {
        f"{name}_committed_changed": macros._committed_sql(
            entity, ledger, manifest_of(macros, manifest["loads"], layout=layout)
        )
    }
    if not entity["events"]:
        changed = run | {"prior": restated}
        after = run | {"prior": macros._laid_out(entity, ledger, layout)}
        statements[f"{name}_ledger_changed"] = macros._classify_rows_sql(changed, f"stg_{name}")
        statements[f"{name}_ledger_after_change"] = macros._classify_rows_sql(after, f"stg_{name}")
        statements[f"{name}_deleted_after_change"] = macros._deleted_sql(after, 10, 1)
    elif name == EVENTS:
        statements[f"{name}_ledger_changed"] = macros._classify_events_sql(
            run | {"prior": restated}, f"{SCHEMA}.{name}_events", macros._any_events()
        )
        statements[f"{name}_event_versions_changed"] = macros._event_versions_sql(
            entity, f"{SCHEMA}.{name}_events", f"{SCHEMA}.{name}_committed", layout
        )
    return statements


def _feed_statements(macros: Macros, entity: dict[str, Any], ledger: str) -> dict[str, str]:
    """What consumers of changes ask: the rows of loads, and what a commit took away."""
    loads = ["20240301-dc-00000000", "20240302-d-00000000", "20240303-d-00000000"]
    at = "2024-04-01 10:00:00.000000"
    commits = [
        {"load_id": load, "written_as": load, "version": version, "at": at}
        for version, load in enumerate(loads, start=1)
    ]
    rewritten = {"rewritten": 4, "times": {"rewritten": at}}
    old = {"manifest": manifest_of(macros, loads) | rewritten, "commits": commits}
    new = {"manifest": manifest_of(macros, loads[:2]) | rewritten, "commits": commits[:2]}
    name = entity["name"]
    return {
        f"{name}_feed_loads": macros._feed_loads_sql(entity, ledger, old, 1, 3),
        f"{name}_feed_all_loads": macros._feed_loads_sql(entity, ledger, old, 0, 3),
        f"{name}_feed_difference": macros._feed_difference_sql(entity, ledger, old, new),
        f"{name}_feed_state": macros._feed_state_sql(entity, ledger, old, 3),
    }


def _target_statements(macros: Macros, entity: dict[str, Any]) -> dict[str, str]:
    """A published table: all its rows, and those that changed."""
    name = entity["name"]
    changes = f"select *\nfrom {SCHEMA}.{name}_changes"
    columns = {"columns": macros._target_columns(entity)}
    return {
        f"{name}_table": macros._target_query({"entity": name}, f"{SCHEMA}.{name}_current"),
        f"{name}_table_changes": macros._target_changes_sql(columns, changes),
    }


def _event_statements(macros: Macros, run: dict[str, Any], title: str) -> dict[str, str]:
    """The statements of a load of change events: its plainest form, and with all that can occur."""
    entity = run["entity"]
    name = entity["name"]
    events, committed = f"{SCHEMA}.{name}_events", f"{SCHEMA}.{name}_committed"
    anything = macros._any_events()
    truncated = {**anything, "truncates": True, "truncated": [1, 7]}
    plain = {key: False if value is True else value for key, value in anything.items()}
    statements = {
        f"{name}_ledger_{title}_{kind}": macros._classify_events_sql(run, events, summary)
        for kind, summary in (
            ("plain", {**plain, "rejected": 0}),
            ("last", {**plain, "rejected": 0, "by_last": True}),
            ("partial", {**plain, "rejected": 0, "deletes": True, "partial": True}),
            ("anything", truncated),
        )
    }
    if title == "later":
        applied = {"highest": [1, 9], "truncated": [1, 7]}
        late = run | {"load": run["load"] | {"applied": applied}}
        statements |= {
            f"{name}_event_versions": macros._event_versions_sql(entity, events, committed),
            f"{name}_bitemporal": macros._bitemporal_sql(entity, events, committed),
            f"{name}_event_summary": macros._event_summary_sql(entity, events),
            f"{name}_event_summary_by_place": macros._event_summary_sql(entity, events, True),
            f"{name}_shared_places": macros._shared_places_sql(entity, events),
            f"{name}_missing_columns": macros._missing_columns_sql(events),
            f"{name}_reused_keys": macros._reused_keys_sql(events),
            f"{name}_late_events": macros._late_events_sql(late, events, 10),
            f"{name}_late_events_apart": macros._late_events_separately_sql(
                late, events, 10, [1, 7]
            ),
            f"{name}_unfilled": macros._unfilled_sql(
                late, events, macros._any_events() | {"truncated": [1, 7]}
            ),
            f"{name}_doubtful_reads": macros._doubtful_reads_sql(late, events, truncated),
            f"{name}_origin_names": macros._origin_names_sql(events, "table"),
        }
    return statements


def _macros(folder: Path, variables: dict[str, Any]) -> Macros:
    """Load the macros and the generic tests, with the examples as dbt's graph."""
    for path in [*ROOT.glob("macros/**/*.sql"), *ROOT.glob("tests/generic/*.sql")]:
        source = path.read_text(encoding="utf-8")
        source = re.sub(r"(\{%-?\s*)test (\w+)", r"\1macro test_\2", source)
        target = folder / f"{path.parent.name}_{path.name}"
        target.write_text(re.sub(r"(\{%-?\s*)endtest", r"\1endmacro", source), encoding="utf-8")
    nodes: dict[str, Any] = {}
    for name in ENTITIES:
        content = yaml.safe_load((ROOT / "models" / name / f"{name}.yml").read_text("utf-8"))
        staging = next(model for model in content["models"] if model["name"] == f"stg_{name}")
        unique_id = f"model.spark_cdc.stg_{name}"
        nodes[unique_id] = Node(staging, unique_id=unique_id, resource_type="model")
    for name, path in STORIES.items():
        content = yaml.safe_load(path.read_text("utf-8"))
        settings = content["settings"]
        settings["source"].setdefault("path", f"landing/{name}/{{business_date}}")
        unique_id = f"model.spark_cdc.stg_{name}"
        nodes[unique_id] = Node(
            name=f"stg_{name}",
            meta={"spark_cdc": settings},
            columns=content["columns"],
            unique_id=unique_id,
            resource_type="model",
        )
    for name, settings in TYPED.items():
        columns: list[dict[str, Any]] = [
            {"name": "id", "data_type": "int", "meta": {"role": "key"}},
            {"name": "op", "data_type": "string", "meta": {"role": "control"}},
        ]
        for column, what in TYPES.items():
            data_type, meta = what if isinstance(what, tuple) else (what, {})
            columns.append({"name": column, "data_type": data_type, "meta": meta})
        unique_id = f"model.spark_cdc.stg_{name}"
        nodes[unique_id] = Node(
            name=f"stg_{name}",
            meta={"spark_cdc": {"load_type": "delta", "deleted_when": "op = 'D'", **settings}},
            columns=columns,
            unique_id=unique_id,
            resource_type="model",
        )
    macros = load_macros(
        folder,
        var=variables,
        run_query=lambda sql: SimpleNamespace(rows=[]),
        model={"unique_id": "test.spark_cdc.rendered", "package_name": "spark_cdc"},
        graph=Node(nodes=nodes, sources={}),
        invocation_id="rendered",
        local_md5=lambda text: hashlib.md5(text.encode()).hexdigest(),
        config=lambda **_: "",
        ref=lambda *words: f"{SCHEMA}.{words[-1]}",
        _unsampled=lambda relation: relation,
        target=SimpleNamespace(profile_name="spark_cdc"),
        _landing_source=lambda entity: None,
        _list_files=lambda location, *_: f"{SCHEMA}.files",
        load_relation=lambda relation: relation if isinstance(relation, Relation) else None,
        _known=lambda relation: None,
        _read_manifest=lambda committed: {"loads": ["20240301-fc-00000001"]},
        _verified=lambda model: _verified(macros, model),
        _read_despite_damage=lambda on=True: None,
        _verified_files=lambda verified: {
            "listed": f"{SCHEMA}.files",
            "findings": [],
            "opened": f"{SCHEMA}.opened",
            "records": f"{SCHEMA}.opened",
            "table": f"{SCHEMA}.ledger",
            "partitions": ["business_date=2024-03-01/load_id=20240301-fc-00000001/operation=I"],
        },
        _mode=lambda: "load",
        _columns_in_order=lambda table: list(macros._load_log_columns()),
        _verified_leftovers=lambda verified: [],
        _erased_list=lambda entity: Relation(f"{entity['name']}_erased"),
        _is_there=lambda relation: True,
        _secret=lambda: Relation("spark_cdc_secret_20240101t000000_00000000"),
        _verified_manifest=lambda verified: [{"problem": "it's not there", "repair": "make it"}],
        _verified_views=lambda verified: {
            "findings": [],
            "compared": {
                view: f"{SCHEMA}.{verified['entity']['name']}_{view}"
                for view in ("current", "history", "versions")
            },
        },
    )
    return macros


def _verified(macros: Macros, model: Relation) -> dict[str, Any]:
    """What the data tests that verify an entity find of it: five loads, one after a change."""
    name = macros._strip_entity_affix(model.identifier)
    entity = macros._entity(name)
    kind = entity["load_type"][0]
    ledger = Relation(f"{name}_ledger")
    return {
        "entity": entity,
        "ledger": ledger,
        "committed": Relation(f"{name}_committed"),
        "public": ledger,
        "rows": ledger,
        "rows_shown": ledger,
        "layout": {},
        "events": Relation(f"{name}_events"),
        "catalog": {f"{name}_events": {}, f"{name}_erased": {}},
        "manifest": {"rows": 1000, "log_rows": 10},
        "loads": [
            f"2024030{day}-{kind}{'c' if day == 1 else ''}-0000000{day}" for day in range(1, 6)
        ],
    }


class Relation(str):
    """A relation as a test sees it: its name in SQL, and its identifier."""

    def __new__(cls, identifier: str) -> Relation:
        """Make the relation of that name in the schema."""
        relation = super().__new__(cls, f"{SCHEMA}.{identifier}")
        relation.identifier = identifier
        return relation

    identifier: str


class Node(dict):  # type: ignore[type-arg]
    """A node of dbt's graph, whose entries Jinja reads as attributes too."""

    def __init__(self, *content: Any, **more: Any) -> None:
        super().__init__(*content, **more)
        self.depends_on = SimpleNamespace(nodes=[])

    def __getattr__(self, name: str) -> Any:
        return self[name]


def _tidy(sql: str) -> str:
    """Return it without what Jinja leaves at both ends, and types with the blanks of the linter."""
    sql = re.sub(r"decimal\((\d+),(\d+)\)", r"decimal(\1, \2)", sql)
    return re.sub(r"\bas map<", "as map <", sql).strip() + "\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]))
