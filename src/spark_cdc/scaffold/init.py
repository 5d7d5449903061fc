"""`spark-cdc init`: a dbt project with a profile, one entity and two days of sample files."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from spark_cdc import console, parsing
from spark_cdc.errors import UsageError
from spark_cdc.scaffold import files as entity_files
from spark_cdc.scaffold.columns import parse_columns
from spark_cdc.scaffold.entity import Entity

EXAMPLE = "spark-cdc init my_project"
TEMPLATES = Path(__file__).with_name("templates") / "project"
ENTITY = "invoices"
COLUMNS = (
    "invoice_no:string:key, customer:string, issued:date, due:date, amount:decimal(12,2),"
    " status:string"
)


@dataclass(frozen=True)
class Options:
    """Options of the command."""

    folder: str


def files(name: str) -> dict[str, str]:
    """Return the files of a project: path below its folder -> text."""
    columns, _ = parse_columns(COLUMNS)
    entity = entity_files.render(Entity(ENTITY, columns, extra=["versions"]))
    paths = sorted(path for path in TEMPLATES.rglob("*") if path.is_file())
    names = [path.relative_to(TEMPLATES).as_posix() for path in paths]
    made = {one: entity_files.template(f"project/{one}").render(name=name) for one in names}
    made[".gitignore"] = made.pop("gitignore")
    return made | {f"models/{ENTITY}/{file}": text for file, text in entity.items()}


def write(folder: Path) -> list[str]:
    """Write a project into a new folder, and return the names of its files.

    Raises UsageError if its name is none for dbt, or if there is something in the folder.
    """
    name = folder.absolute().name
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name) or name in ("dbt", "dbt_utils", "spark_cdc"):
        raise UsageError(
            f"{name!r} is not accepted as the name of a project. Accepted are lower-case letters,"
            " digits and _, and other names than those of the packages.",
            EXAMPLE,
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"'{folder}' exists and is not an empty folder. Nothing was written. Name a new folder,"
            " or add an entity to the project that is there.",
            "spark-cdc new --help",
        )
    made = files(name)
    for file, text in made.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(made)


def run(arguments: Options) -> int:
    """Write the project, install its packages, and print what comes next."""
    folder = Path(arguments.folder)
    written = write(folder)
    environment = {**os.environ, "SPARK_CDC_PROJECT_DIR": str(folder.absolute())}
    notes = console.run(
        "Install the dbt packages",
        [sys.executable, "-m", "spark_cdc.cli", "--quiet", "deps"],
        log=folder / ".spark_cdc" / "deps.log",
        env=environment,
    )
    dates = sorted(path.name for path in (folder / "landing" / ENTITY).iterdir())
    print(
        "\n".join(
            [
                *notes.splitlines(),
                f"Wrote {len(written)} files into {folder}: the project, the entity {ENTITY} and"
                f" its files of {' and '.join(dates)}.",
                "Next:",
                f"  cd {folder}",
                "  spark-cdc server start",
                *(f"  spark-cdc load {date} --select {ENTITY}" for date in dates),
                f"  dbt show --inline \"select * from {{{{ ref('{ENTITY}_versions') }}}}\"",
                "Then an entity of your own file:",
                "  spark-cdc new NAME --from-file FILE --key COLUMN",
            ]
        )
    )
    return 0


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `init` to the command line."""
    parser = parsing.add_command(
        subparsers,
        "init",
        "write a dbt project with one entity and sample files",
        "Also installs the dbt packages. The folder's name is that of project, profile and schema.",
        EXAMPLE,
    )
    parser.add_argument("folder", metavar="PROJECT", help="a new folder")
    parsing.set_run(parser, Options, run)
