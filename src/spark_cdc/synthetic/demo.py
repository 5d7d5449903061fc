"""`spark-cdc demo`: the examples end to end, from generated files to tested tables.

It may be run again at any time and gives the same: it begins by dropping its schema. A schema that
was not made by the demo, or that holds anything but the examples' tables, is refused.

In a checkout it runs there. From a wheel it runs in a temporary folder of the user's: a copy of the
wheel's dbt package, with an environment of its own where this Python has no Spark or no Java.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spark_cdc import console, dbt_runner, kinds, packages, parsing, parts, project
from spark_cdc.bootstrap.environment import Environment
from spark_cdc.bootstrap.environment import variables as python_variables
from spark_cdc.errors import SparkCdcError
from spark_cdc.report import writer
from spark_cdc.server import java, local, ports, server_state

ENTITIES = ("synthetic", "orders", "customers", "price_changes", "students", "members")
PLAIN_FILES = ("members",)  # tables of Delta and Iceberg do not take sensitive columns yet
SYNTHETIC_DAYS = ("2019-06-18", "2019-06-19")
SYNTHETIC_ROWS = 10_000
SHOWN_ROWS = 5
NEEDED = ("dbt", "report", "server", "synthetic")  # extras
MARKER = "spark_cdc.demo"  # property of a schema that the demo made


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    format: str | None


def _landing(root: Path, entity: str) -> Path:
    """Return the folder with one folder per business date."""
    base = root / ".spark_cdc" if entity == "synthetic" else root / "examples"
    return base / "landing" / entity


def _days(root: Path, entity: str) -> list[str]:
    """Return the business dates that an entity has files for."""
    if entity == "synthetic":
        return list(SYNTHETIC_DAYS)
    folder = _landing(root, entity)
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return [name for name in names if re.fullmatch(r"\d{4}-\d{2}-\d{2}", name)]


def plan(root: Path, left_out: Sequence[str] = ()) -> list[tuple[str, list[str]]]:
    """Return the business dates in order, each with the example entities that have files then."""
    there = [name for name in ENTITIES if (root / "models" / name).is_dir()]
    entities = [name for name in there if name not in left_out]
    days = {name: _days(root, name) for name in entities}
    return [
        (day, [name for name in entities if day in days[name]])
        for day in sorted(set().union(*days.values()))
    ]


def _rows(cursor: server_state.Cursor, sql: str) -> tuple[list[str], list[server_state.Row]]:
    cursor.execute(sql)
    headings = [column[0].rpartition(".")[2] for column in cursor.description or []]
    return headings, cursor.fetchall() if headings else []


def _is_ours(root: Path, table: str) -> bool:
    """Say whether a table can be one of the examples'."""
    seeds = {path.stem for path in (root / "seeds").glob("**/*.csv")}
    names = "|".join(ENTITIES)
    return table in seeds | {"cdc_loads"} or bool(re.fullmatch(rf"(stg_)?({names})(_\w+)?", table))


def reset(cursor: server_state.Cursor, root: Path, schema: str) -> None:
    """Make the demo's schema, empty.

    Raises SparkCdcError if there is a schema of that name which is not the demo's.
    """
    if not re.fullmatch(r"\w+", schema):
        raise SparkCdcError(
            f"SPARK_CDC_SCHEMA {schema!r} is not a plain name. Accepted are letters, digits and _.",
            "export SPARK_CDC_SCHEMA=cdc_demo",
        )
    present = {row[0] for row in _rows(cursor, "show databases")[1]}
    if schema.lower() in present:
        description: dict[str, object] = dict(
            row[:2] for row in _rows(cursor, f"describe database extended {schema}")[1]
        )
        tables = sorted(row[1] for row in _rows(cursor, f"show tables in {schema}")[1])
        foreign = [table for table in tables if not _is_ours(root, table)]
        elsewhere = "Run the demo in another schema.\nSPARK_CDC_SCHEMA=cdc_demo spark-cdc demo"
        if tables and MARKER not in str(description.get("Properties", "")):
            raise SparkCdcError(
                f"Schema {schema!r} was not created by the demo, which would drop its"
                f" {len(tables)} tables.",
                elsewhere,
            )
        if foreign:
            raise SparkCdcError(
                f"Schema {schema!r} has tables that are not the demo's, which would drop them:"
                f" {', '.join(foreign)}.",
                elsewhere,
            )
        if tables:
            print(f"The demo's schema {schema} is dropped and loaded again ({len(tables)} tables).")
        views = {row[1] for row in _rows(cursor, f"show views in {schema}")[1]}
        for table in tables:
            if table not in views:  # with the schema alone Iceberg's files would stay
                cursor.execute(f"drop table {schema}.{table} purge")
        cursor.execute(f"drop database {schema} cascade")
        for other in ("commits", "sensitive"):
            cursor.execute(f"drop database if exists {schema}_{other} cascade")
    cursor.execute(f"create database {schema} with dbproperties ('{MARKER}' = 'true')")


def _dbt(name: str, dbt: dbt_runner.Dbt, arguments: Sequence[str], log: Path) -> str:
    """Run a dbt command as a step, its output folded into the log; return the output."""
    command = " ".join(f"{word!r}" if " " in word else word for word in arguments)
    with console.Step(name):
        done = dbt.run(*arguments)
        with log.open("a", encoding="utf-8") as out:
            out.write(f"$ dbt {command}\n{done.output}\n")
        if not done.ok:
            shown = "\n".join(f"  | {line}" for line in done.output.splitlines()[-30:])
            raise SparkCdcError(
                f"{name} failed\n{shown}",
                f"The whole output is in {log}, dbt's own log in logs/dbt.log. After a change:"
                f" spark-cdc demo, or only dbt {command} --profiles-dir profiles",
            )
    return done.output


def _show_loads(cursor: server_state.Cursor, schema: str, entities: Sequence[str]) -> None:
    """Print what each load did, and a few rows of each entity: what is true now, what changed."""
    headings, rows = _rows(
        cursor,
        f"""
        select
            entity, business_time, load_type,
            rows_in, rows_inserted as I, rows_updated as U, rows_deleted as D,
            rows_unchanged as N, rows_not_supplied as X, rows_current, events_late as late,
            round(duration_seconds, 1) as seconds
        from {schema}.cdc_loads
        where status = 'committed'
        order by business_time, entity
        """,
    )
    print(f"\nLoads (cdc_loads)\n{console.table(headings, rows)}")
    for entity in entities:
        _show_rows(cursor, schema, f"{entity}_current", "operation desc")
        if entity != "synthetic":
            _show_rows(cursor, schema, f"{entity}_history", "business_date desc")


def _show_rows(cursor: server_state.Cursor, schema: str, view: str, order: str) -> None:
    """Print some rows of a view, without its hashes."""
    headings, rows = _rows(
        cursor,
        f"""
        select *, count(*) over ()
        from {schema}.{view}
        order by {order}, 1
        limit {SHOWN_ROWS}
        """,
    )
    places = [i for i, name in enumerate(headings[:-1]) if not name.endswith("_hash")]
    if len(places) > 11:  # the wide example: both ends
        places = [*places[:2], *places[-4:]]
    names, shown = [headings[i] for i in places], [[row[i] for i in places] for row in rows]
    total = rows[0][-1] if rows else 0
    print(f"\n{view}: {len(rows)} of {total:,} rows\n{console.table(names, shown)}")


def next_steps(root: Path, schema: str, port: int) -> str:
    """Return what the user can do now."""
    default_port = str(port) == str(ports.DEFAULT)
    lines = ["", f"The server runs on 127.0.0.1:{port}, the tables are in schema {schema}."]
    lines += ["What to do next:"]
    lines += [] if root == Path.cwd() else [f"  cd {root}"]
    activate = ". .venv/bin/activate && " if (root / ".venv").is_dir() else ""
    lines += [
        f"  {activate}export DBT_PROFILES_DIR=profiles"
        + ("" if default_port else f" SPARK_CDC_PORT={port}"),
        "  dbt show --inline \"select * from {{ ref('orders_versions') }}\" --limit 20",
        "  dbt docs serve                     lineage and every column, in the browser",
    ]
    if (root / "Makefile").is_file():
        lines += ["  spark-cdc new NAME --help          an entity of your own"]
        lines += ["  make test                          prove it all"]
    else:
        lines += ["  spark-cdc init ~/my_project        a project of your own"]
    return "\n".join([*lines, "  spark-cdc server stop              end the server"])


def _folder() -> Path:
    """Return the demo's folder below the machine's temporary one, which is this user's alone."""
    folder = Path(tempfile.gettempdir()) / f"spark_cdc_demo_{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if folder.is_symlink() or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise SparkCdcError(
            f"'{folder}' belongs to another user, or others may write to it. Take another folder.",
            "TMPDIR=$HOME spark-cdc demo",
        )
    return folder


def _origin() -> tuple[str, str]:
    """Return what pip takes to install this spark_cdc again, and a digest of its files."""
    found = importlib.metadata.distribution("spark-cdc")
    origin = json.loads(found.read_text("direct_url.json") or "{}")  # PEP 610; none: the registry
    vcs, url = origin.get("vcs_info"), origin.get("url")
    if vcs:
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    files = [f"{one}{one.hash}" for one in found.files or [] if one.parts[0] == "spark_cdc"]
    digest = hashlib.sha256("".join(file for file in files if ".pyc" not in file).encode())
    where = f" @ {url}" if url else f"=={found.version}"
    return f"spark-cdc[{','.join(NEEDED)}]{where}", digest.hexdigest()


def _python(folder: Path) -> Path:
    """Return a Python with all extras and Java: this one, or one of the folder's own."""
    if not any(map(parts.lacking, NEEDED)) and java.search()[0]:
        return Path(sys.executable)
    own = Environment(folder / ".venv", folder / ".spark_cdc" / "install.log")
    stamp = own.folder / "demo.stamp"
    origin, digest = _origin()
    if not (own.works() and stamp.is_file() and stamp.read_text() == digest):
        shutil.rmtree(own.folder, ignore_errors=True)
        own.prepare()
        pins = folder / "requirements" / "constraints.txt"
        own.pip(
            f"Install Spark and dbt in {folder} (some 500 MB, minutes)", [origin, "-c", f"{pins}"]
        )
        own.java()
        stamp.write_text(digest)
    return own.python


def _run_elsewhere(arguments: Options) -> int:
    """Run the demo of a wheel in its own folder."""
    folder = _folder()
    print(f"The demo runs in {folder}", flush=True)
    for part in project.package().iterdir():
        target = folder / part.name
        shutil.rmtree(target, ignore_errors=True)
        (shutil.copytree if part.is_dir() else shutil.copyfile)(part, target)
    words = ["--format", arguments.format] if arguments.format else []
    command = [str(_python(folder)), "-m", "spark_cdc.cli", "demo", *words]
    places = {"SPARK_CDC_PROJECT_DIR": str(folder), "DBT_PROFILES_DIR": "profiles"}
    return subprocess.run(command, env=python_variables() | places).returncode


def _is_here() -> bool:
    """Say whether the project here is spark_cdc itself, a copy or a checkout."""
    if not project.is_here():
        return False
    text = (project.root() / "dbt_project.yml").read_text(encoding="utf-8")
    return bool(re.search(r"^name: spark_cdc$", text, re.MULTILINE))


def _has_desktop() -> bool:
    """Say whether a browser opens a window, not a text browser in this terminal."""
    names = ("DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform == "darwin" or any(os.environ.get(name) for name in names)


def run(arguments: Options) -> int:
    """Run the whole demo."""
    if project.package() == project.WHEEL and not _is_here():
        return _run_elsewhere(arguments)
    for extra in NEEDED:
        parts.require(extra, "spark-cdc demo")
    begun = time.monotonic()
    root, state = project.root(), project.state_dir()
    schema = project.schema()
    log = state / "demo.log"
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log.write_text("")
    table_format = arguments.format if arguments.format in kinds.TABLE_FORMATS else None
    chosen = local.settings(state, formats=[table_format] if table_format else [])
    local.check_port(chosen)
    for note in packages.install(if_needed=True):
        print(note)
    found = local.start(chosen, if_needed=True)
    # dbt's snapshots need one, and are enabled when dbt parses
    variables = {"SPARK_CDC_SNAPSHOTS": table_format} if table_format else {}
    dbt = dbt_runner.Dbt(parses_once=True, variables=variables)
    days = plan(root, PLAIN_FILES if table_format else ())
    shown = [name for name in ENTITIES if any(name in e for _, e in days)]
    in_format = {"spark_cdc_file_format": arguments.format} if arguments.format else {}
    with contextlib.closing(local.connect(found.port)) as connection:
        cursor = connection.cursor()
        reset(cursor, root, schema)
        console.run(
            f"Generate {len(SYNTHETIC_DAYS)} days of {SYNTHETIC_ROWS:,} rows",
            [
                *(sys.executable, "-m", "spark_cdc.cli", "generate"),
                *("--rows", str(SYNTHETIC_ROWS), "--days", ",".join(SYNTHETIC_DAYS)),
                *("--out", str(_landing(root, "synthetic"))),
            ],
            log=log,
            cwd=root,
            env=os.environ,
        )
        if any((root / "seeds").glob("**/*.csv")):
            _dbt("dbt seed", dbt, ["seed", "--full-refresh"], log)
        if set(PLAIN_FILES) & set(shown):  # what has sensitive columns takes a secret
            words = ["run-operation", "spark_cdc.secrets", "--args", "{action: init}"]
            _dbt("spark-cdc secrets init", dbt, words, log)
        for day, entities in days:
            absent = [f"path:models/{name}" for name in ENTITIES if name not in entities]
            _dbt(
                f"dbt run  {day}  {', '.join(entities)}",
                dbt,
                [
                    *("run", "--vars", project.variables({"business_date": day, **in_format})),
                    *(["--exclude", *absent] if absent else []),
                ],
                log,
            )
            if table_format and "orders" in entities:
                _dbt("dbt snapshot", dbt, ["snapshot"], log)
        left_out = ["test_type:unit", "tag:spark_cdc_verify"]
        left_out += [f"path:models/{name}" for name in ENTITIES if name not in shown]
        tested = _dbt("dbt test", dbt, ["test", "--exclude", *left_out], log)
        summary = [line for line in tested.splitlines() if "Done. PASS" in line]
        if summary:
            print(f"  {re.sub(r'^[0-9:.]+ +', '', summary[-1])}")
        _dbt("dbt docs generate", dbt, ["docs", "generate"], log)
        _show_loads(cursor, schema, shown)
        page = writer.write(dbt, writer.Scope(shown))
    print(next_steps(root, schema, found.port))
    print(f"\nThe report, for the browser: {page}")
    if sys.stdout.isatty() and _has_desktop():
        webbrowser.open(page.as_uri())
    print(f"\nDone in {time.monotonic() - begun:.0f} s; all output is in {log}")
    return 0


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `demo` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "demo",
        "run the examples end to end, on the local server",
        "Starts the server if none runs, and leaves it running. Drops and loads its own schema.",
        "spark-cdc demo --format delta",
    )
    parser.add_argument(
        "--format",
        choices=kinds.FILE_FORMATS,
        help="of the ledgers' tables (spark_cdc_file_format); delta and iceberg are fetched once",
    )
    parsing.set_run(parser, Options, run)
