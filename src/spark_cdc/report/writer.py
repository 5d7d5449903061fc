"""What a report holds, as the macros tell it, and its file."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spark_cdc import console, dbt_runner, project, state
from spark_cdc.errors import SparkCdcError, UnreachableError, UsageError
from spark_cdc.report import figures, page

MANY = 20  # entities: beyond it their ledgers are read only if that is asked for


@dataclass(frozen=True)
class Scope:
    """The contents of a report.

    first, last: the first and last business date; None for all.
    loads: loads of each entity at most.
    details: whether ledgers are read; None to leave that to the number of entities.
    rows: changed rows to show of each kind; 0 for no values of rows at all.
    """

    entities: Sequence[str] = ()
    first: dt.datetime | None = None
    last: dt.datetime | None = None
    loads: int = 400
    details: bool | None = None
    rows: int = 5


def write(dbt: dbt_runner.Dbt, scope: Scope, out: str | None = None, options: str = "") -> Path:
    """Write a report and return its path.

    options: options of the command line that the commands in the report need, too.
    """
    path = Path(out).expanduser().resolve() if out else project.root() / "target" / "report.html"
    if path.is_dir():
        raise UsageError(
            f"--out {path} is a folder: nothing was written",
            f"spark-cdc report --out {path / 'report.html'}",
        )
    now = dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
    with console.Step("Report") as step:
        answer, notes = _answer(dbt, scope)
        schema, found = answer["schema"], answer["entities"]
        step.detail = f"{len(found)} entities"
        until = min(now, scope.last + dt.timedelta(days=1)) if scope.last else now
        made = [
            figures.entity(figures_of(one), until, one.get("details"), options) for one in found
        ]
        title = f"Loads in {schema}" if found else "Loads"
        text = page.render(title, made, now, notes)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(mode=0o600)  # it holds values of rows
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
    return path


def _answer(dbt: dbt_runner.Dbt, scope: Scope) -> tuple[state.Answer, list[str]]:
    """Return what the macro state tells of each entity, and notes on details that are missing.

    Everything is one dbt command. If it fails, a ledger can't be read: they are asked on their own.
    """
    before = scope.last + dt.timedelta(days=1) if scope.last else None
    parts: dict[str, Mapping[str, object]] = {
        "settings": {},
        "log": {
            "since": scope.first.strftime("%Y%m%d") if scope.first else None,
            "before": before.strftime("%Y%m%d") if before else None,
            "row_limit": scope.loads,
        },
    }
    of_ledgers: Mapping[str, object] = {
        "row_limit": scope.rows,
        "most": MANY if scope.details is None else None,
    }
    more = {"details": of_ledgers} if scope.details is not False else {}
    try:
        answer = state.ask(dbt, scope.entities, **parts, **more)
    except SparkCdcError as error:
        if not more or isinstance(error, (UsageError, UnreachableError)):
            raise
        answer = state.ask(dbt, scope.entities, **parts)
        return answer, _add_details(dbt, answer, of_ledgers)
    if any("details" not in one for one in _loaded(answer)):
        return answer, [
            "Changes of the last load, rejected rows and files are left out. To include them:"
            " spark-cdc report --details --select ENTITY …"
        ]
    return answer, []


def _loaded(answer: state.Answer) -> list[state.EntityData]:
    return [one for one in answer["entities"] if one.get("log", {}).get("loads")]


def figures_of(found: state.EntityData) -> figures.Row:
    """Return an entity of the macro state, with its parts settings and log, in one dictionary.

    broken: what is wrong with it, or None. log: rows of cdc_loads as a text of JSON, or None.
    """
    settings, log = dict(found.get("settings", {})), dict(found.get("log", {}))
    problems = found.get("broken") or settings.pop("problems", [])
    rows = {"log": log.pop("rows", None), "broken": "; ".join(problems) or None}
    names = ("load_type", "per", "rows")
    of_entity = {name: value for name, value in found.items() if name in names}
    return {"entity": found["entity"], **of_entity, **settings, **log, **rows}


def _add_details(
    dbt: dbt_runner.Dbt, answer: state.Answer, of_ledgers: Mapping[str, object]
) -> list[str]:
    """Add the details of the entities whose ledgers can be read; return notes on the others."""
    by_name = {one["entity"]: one for one in _loaded(answer)}
    notes = []
    asked = [list(by_name)] if by_name else []
    for names in asked:
        words = json.dumps({"entities": names, "parts": {"details": of_ledgers}})
        done = dbt.run("run-operation", "spark_cdc.state", "--args", words)
        if done.ok:
            for name, details in dbt_runner.parts(done, "details").items():
                by_name[name]["details"] = details
        elif len(names) > 1:  # one of them fails: each half is asked on its own
            middle = len(names) // 2
            asked += [names[:middle], names[middle:]]
        else:
            said = " ".join(" ".join(done.lines[-6:]).split())
            notes.append(f"{names[0]}: no details, because its ledger could not be read: {said}")
    return notes
