"""Who is told what a command loaded: a command, a URL, a file, Prometheus, OpenLineage.

A report is put together from what `cdc_loads` says of the loads of this command, when it is done.
Telling never changes the exit code: what could not be told is said in the command's summary.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from spark_cdc import __version__, dbt_runner, kinds, notices, project, state
from spark_cdc.errors import SparkCdcError, UsageError
from spark_cdc.exit_codes import ExitCode
from spark_cdc.notify import lineage, metrics

PROBLEMS = (ExitCode.FAILED, ExitCode.USAGE, ExitCode.ATTENTION)
TRIES, PAUSE = 3, 1.0  # of a URL; seconds before the second, then twice as long
CONNECT, ANSWER = 5.0, 10.0  # seconds that a URL gets
COMMAND_SECONDS = 60.0
OF_ENTITY = re.compile(rf"^stg_|_({'|'.join(kinds.ENDINGS)})({kinds.APART})?$")
AUTHORIZATION = "SPARK_CDC_NOTIFY_AUTHORIZATION"


@dataclass(frozen=True)
class Settings:
    """Who is told. An option counts before the variable."""

    command: str = ""
    url: str = field(default="", repr=False)
    authorization: str = field(default="", repr=False)
    file: str = ""
    on: str = "always"
    metrics_file: str = ""
    openlineage: bool = False

    def __bool__(self) -> bool:
        return any((self.command, self.url, self.file, self.metrics_file, self.openlineage))


def read(arguments: notices.Options, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return who is told.

    Raises SparkCdcError with all that is wrong; values of secrets are not shown.
    """

    def given(name: str) -> str:
        option: str | None = getattr(arguments, name, None)
        return environment.get(f"SPARK_CDC_{name.upper()}", "") if option is None else option

    wrong: list[str] = []
    on, url, file = (
        given("notify_on") or "always",
        environment.get(notices.URL, ""),
        given("metrics_file"),
    )
    if on not in notices.OCCASIONS:
        wrong.append(f"SPARK_CDC_NOTIFY_ON is {on!r}. Accepted are {', '.join(notices.OCCASIONS)}.")
    if url and not (re.match(r"https?://", url) and _host(url)):
        wrong.append(f"{notices.URL} is not an http:// or https:// URL. Its value is not shown.")
    if file and not file.endswith(".prom"):
        wrong.append(f"The metrics file is {file!r}. node_exporter reads NAME.prom only.")
    option: bool | None = getattr(arguments, "openlineage", None)
    openlineage = "true" if option else environment.get("SPARK_CDC_OPENLINEAGE", "")
    switch = {"true": True, "1": True, "": False, "false": False, "0": False}
    if openlineage not in switch:
        wrong.append(f"SPARK_CDC_OPENLINEAGE is {openlineage!r}. Accepted are true and false.")
    elif switch[openlineage] and (problem := lineage.problem()):
        wrong.append(problem)
    settings = Settings(
        command=given("notify_command"),
        url=url,
        authorization=environment.get(AUTHORIZATION, ""),
        file=given("notify_file"),
        on=on,
        metrics_file=file,
        openlineage=switch.get(openlineage, False),
    )
    if wrong:
        raise UsageError("\n".join(wrong), "Correct the settings; docs/notify.md lists them.")
    return settings


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class Teller(notices.Teller):
    """Tells what one command has loaded, when it is done."""

    def __init__(self, name: str, arguments: notices.Options) -> None:
        self.settings = read(arguments)
        self._name = name
        self._started = _now()

    def tell(
        self,
        dbt: dbt_runner.Dbt,
        exit_code: int,
        entities: Sequence[state.EntityReport] | None = None,
        error: str = "",
    ) -> list[str]:
        if not self.settings:
            return []
        lacking: list[str] = []
        found: state.Loads | None = None
        try:
            found = read_loads(dbt)
        except Exception as cause:
            lacking.append(f"cdc_loads could not be read, reports are without it: {_cause(cause)}")
        report = self._report(dbt, exit_code, entities, error, found)
        for what, act in self._acts(report, found):
            try:
                act()
            except Exception as cause:  # whatever it is, what is loaded is loaded
                lacking.append(f"{what}: {_cause(cause)}")
        return lacking

    def _report(
        self,
        dbt: dbt_runner.Dbt,
        exit_code: int,
        entities: Sequence[state.EntityReport] | None,
        error: str,
        found: state.Loads | None,
    ) -> state.Report:
        loads = of_runs(found, dbt.invocations) if found else []
        others = [text for name, text in dbt.failed.items() if "-on-run-" in name]
        if entities is None:
            entities = _entities(loads, dbt.failed)
        told: list[state.ToldEntity] = [
            {**one, "loads": [load for load in loads if load["entity"] == one["entity"]]}
            for one in entities
        ]
        report: state.Untold = {
            "id": str(uuid.uuid4()),
            "command": self._name,
            "schema": found["schema"] if found else project.schema(),
            "exit_code": exit_code,
            "error": "\n".join(text for text in (error, *others) if text) or None,
            "started_at": self._started,
            "ended_at": _now(),
            "spark_cdc_version": __version__,
            "entities": told,
        }
        return {"summary": summary(report), **report}

    def _acts(
        self, report: state.Report, found: state.Loads | None
    ) -> list[tuple[str, Callable[[], None]]]:
        """Return what is to be done: what it is called, and a function."""
        settings = self.settings
        acts: list[tuple[str, Callable[[], None]]] = []
        text = json.dumps(report, ensure_ascii=False)
        if settings.file:
            acts.append((settings.file, functools.partial(append, Path(settings.file), text)))
        if settings.metrics_file:
            path = Path(settings.metrics_file)
            acts.append((str(path), functools.partial(metrics.write, path, report, found)))
        if settings.openlineage:
            server = found["server"] if found else "spark"
            places = found["places"] if found else {}
            acts.append(("OpenLineage", functools.partial(lineage.emit, report, server, places)))
        if not is_occasion(report, settings.on):
            return acts
        if settings.command:
            acts.append(("the notify command", functools.partial(call, settings.command, text)))
        if settings.url:
            post_it = functools.partial(post, settings.url, settings.authorization, text)
            acts.append((f"the URL at {_host(settings.url)}", post_it))
        return acts


def read_loads(dbt: dbt_runner.Dbt) -> state.Loads:
    """Return the loads of the commands of this process, and the last ones of all entities.

    schema, server: of the target.
    last: the business time of the last load that counts, by entity; None where there is none.
    loads: rows of cdc_loads.
    places: where the input of each load lies.
    """
    found = state.ask(dbt, runs={"runs": list(dbt.invocations)})
    runs = {one["entity"]: one["runs"] for one in found["entities"] if "runs" in one}
    return {
        "schema": found["schema"],
        "server": found["server"],
        "last": {name: one["last"] for name, one in runs.items() if "last" in one},
        "loads": [json.loads(row) for one in runs.values() for row in one["rows"]],
        "places": {load: place for one in runs.values() for load, place in one["places"].items()},
    }


def of_runs(found: state.Loads, invocations: Sequence[str]) -> list[state.LoadRow]:
    """Return what some runs of dbt loaded or were refused, without what maintenance wrote."""
    return [
        load
        for load in sorted(found["loads"], key=lambda load: load.get("started_at") or "")
        if load.get("invocation_id") in invocations
        and load["load_type"] in ("full", "delta", "events")
    ]


def _entities(
    loads: Sequence[state.LoadRow], failed: Mapping[str, str]
) -> list[state.EntityReport]:
    """Return what became of entities of which only the loads and dbt's errors are known."""
    errors: dict[str, list[str]] = {}
    for name, text in failed.items():
        if "-on-run-" not in name:
            errors.setdefault(OF_ENTITY.sub("", name), []).append(f"{name}: {text.strip()}")
    told: list[state.EntityReport] = []
    for entity in sorted({load["entity"] for load in loads} | set(errors)):
        done = [load for load in loads if load["entity"] == entity and load["status"] != "refused"]
        failure = "\n".join(errors.get(entity, ()))
        told.append(
            {
                "entity": entity,
                "state": "failed" if failure else "loaded",
                "loaded": [load["business_time"] for load in done],
                "left": None,
                "rows": sum(load.get("rows_in") or 0 for load in done),
                "seconds": round(sum(load.get("duration_seconds") or 0 for load in done), 3),
                "failed": failure or None,
                "waits": None,
                "notes": [],
            }
        )
    return told


def summary(report: state.Untold) -> str:
    """Return a report in a line for people."""
    told = report["entities"]
    parts = []
    loads = sum(len(one["loaded"]) for one in told)
    if loads:
        parts.append(f"{loads} {'load' if loads == 1 else 'loads'}")
    for word in ("failed", "waits"):
        if names := [one["entity"] for one in told if one["state"] == word]:
            parts.append(f"{word}: {', '.join(names)}")
    if report["error"]:
        parts.append(report["error"].splitlines()[0])
    return f"spark-cdc {report['command']}: {'; '.join(parts) or 'nothing was to be done'}"


def is_occasion(report: state.Report, on: str) -> bool:
    """Say whether command and URL are told of it."""
    is_problem = report["exit_code"] in PROBLEMS
    is_load = any(one["loaded"] for one in report["entities"])
    return {"always": True, "loads": is_problem or is_load, "problems": is_problem}[on]


def append(path: Path, text: str) -> None:
    """Add a line to a file, which is made if need be."""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def call(command: str, text: str, seconds: float = COMMAND_SECONDS) -> None:
    """Run a command with a text on its input.

    Raises SparkCdcError if it fails, or takes longer; then it and what it started are ended.
    """
    with subprocess.Popen(
        ["sh", "-c", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(text, timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise SparkCdcError(f"took longer than {seconds:.0f} s and was ended") from None
    if process.returncode:
        last = [line for line in said.splitlines() if line.strip()][-1:]
        raise SparkCdcError(": ".join([f"exit code {process.returncode}", *last]))


def post(url: str, authorization: str, text: str) -> None:
    """Send a text to a URL, again if what failed may pass.

    Raises SparkCdcError without the URL or what it answered: there may be secrets in them.
    """
    import requests  # here, because the command line starts without it

    headers = {"Content-Type": "application/json", "User-Agent": f"spark-cdc/{__version__}"}
    headers |= {"Authorization": authorization} if authorization else {}
    for at in range(TRIES):
        time.sleep(PAUSE * 2 ** (at - 1) if at else 0)
        try:
            answer = requests.post(
                url,
                data=text.encode(),
                headers=headers,
                timeout=(CONNECT, ANSWER),
                allow_redirects=False,  # they would make a GET of it
                auth=lambda request: (
                    request
                ),  # a password of ~/.netrc would take the header's place
            )
        except requests.RequestException as error:
            problem, passes = type(error).__name__, True
        else:
            if answer.status_code < 300:
                return
            problem = f"it answered {answer.status_code}"
            passes = answer.status_code in (408, 429) or answer.status_code >= 500
        if not passes:
            raise SparkCdcError(problem)
    raise SparkCdcError(f"{problem}, tried {TRIES} times")


def _cause(error: Exception) -> str:
    """Return what went wrong; of errors of libraries not what they say: it may hold secrets."""
    return str(error) if isinstance(error, SparkCdcError | OSError) else type(error).__name__


def _now() -> str:
    return dt.datetime.now(dt.timezone.utc).isoformat(timespec="milliseconds")
