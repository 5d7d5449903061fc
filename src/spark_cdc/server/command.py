"""`spark-cdc server`: start, stop, status, logs of the local Spark server."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass

from spark_cdc import console, parsing, parts, project
from spark_cdc.errors import UsageError
from spark_cdc.exit_codes import ExitCode
from spark_cdc.server import local, ports, server_state


@dataclass(frozen=True)
class StartOptions:
    """Options of `server start`."""

    state_dir: str | None
    port: str | None
    memory: str | None
    cores: str | None
    warehouse: str | None
    conf: list[str]
    jars: list[str]
    timeout: str | None
    formats: list[str]
    ivy_settings: str | None
    if_needed: bool


@dataclass(frozen=True)
class StopOptions:
    """Options of `server stop`."""

    state_dir: str | None
    if_needed: bool


@dataclass(frozen=True)
class StatusOptions:
    """Options of `server status`."""

    state_dir: str | None
    output: str
    value: str | None


@dataclass(frozen=True)
class LogsOptions:
    """Options of `server logs`."""

    state_dir: str | None
    lines: int
    follow: bool


def add_parser(subparsers: parsing.Subparsers) -> None:
    """Add `server` to the command line."""
    _, actions = parsing.add_group(
        subparsers,
        "server",
        "start, stop or look at the local Spark server",
        "",
        "spark-cdc server start --memory 2g",
    )
    begin = parsing.add_command(
        actions,
        "start",
        "start the server, and return when it answers",
        "",
        "spark-cdc server start --port 10020 --with delta,iceberg",
    )
    begin.add_argument("--port", help=f"SPARK_CDC_PORT; {ports.DEFAULT}; 0: any free one")
    begin.add_argument("--memory", help="heap, like 2g (SPARK_CDC_MEMORY; a quarter, 1g to 4g)")
    begin.add_argument("--cores", help="SPARK_CDC_CORES; 0: all")
    begin.add_argument(
        "--warehouse", metavar="DIR", help="folder of the tables, or s3a://… (SPARK_CDC_WAREHOUSE)"
    )
    begin.add_argument(
        "--conf", action="append", default=[], metavar="KEY=VALUE",
        help="a Spark setting; repeat it for more (SPARK_CDC_SPARK_CONF: k=v,k=v)",
    )  # fmt: skip
    begin.add_argument(
        "--jars", action="append", default=[], metavar="FILES",
        help="jars for the driver's class path, separated by commas (SPARK_CDC_JARS)",
    )  # fmt: skip
    begin.add_argument(
        "--with", dest="formats", action="append", default=[], metavar="FORMATS",
        help="what Spark lacks: delta, iceberg, s3 (SPARK_CDC_WITH); their jars are"
        " fetched once",
    )  # fmt: skip
    begin.add_argument(
        "--ivy-settings", metavar="FILE",
        help="where those jars come from, if not from Maven Central (SPARK_CDC_IVY_SETTINGS)",
    )  # fmt: skip
    begin.add_argument(
        "--timeout", help="seconds to wait for an answer (SPARK_CDC_START_TIMEOUT; 120)"
    )
    begin.add_argument("--if-needed", action="store_true", help="do nothing if it runs already")
    parsing.set_run(begin, StartOptions, _run_start)

    end = parsing.add_command(actions, "stop", "stop the server", "", "spark-cdc server stop")
    end.add_argument("--if-needed", action="store_true", help="print nothing if none runs")
    parsing.set_run(end, StopOptions, _run_stop)

    show = parsing.add_command(
        actions,
        "status",
        "print whether the server runs, and its figures",
        f"Exit codes: {ExitCode.DONE:d} it answers, {ExitCode.NOTHING:d} none runs,"
        f" {ExitCode.ATTENTION:d} it does not answer.",
        "spark-cdc server status --value port",
    )
    form = show.add_mutually_exclusive_group()
    parsing.add_output(form)
    form.add_argument("--value", metavar="NAME", help="print one value of the JSON, such as port")
    parsing.set_run(show, StatusOptions, _run_status)

    logs = parsing.add_command(
        actions, "logs", "print the end of the server's log", "", "spark-cdc server logs --follow"
    )
    logs.add_argument("-n", "--lines", type=int, default=50, help="lines to print (default: 50)")
    logs.add_argument("-f", "--follow", action="store_true", help="go on until interrupted")
    parsing.set_run(logs, LogsOptions, _run_logs)
    for parser in actions.choices.values():
        parser.add_argument(
            "--state-dir",
            metavar="DIR",
            help="folder of pid, log and data (SPARK_CDC_STATE_DIR; .spark_cdc)",
        )


def _run_start(arguments: StartOptions) -> int:
    parts.require("server", "spark-cdc server")
    chosen = local.settings(
        project.state_dir(arguments.state_dir),
        arguments.port,
        arguments.memory,
        arguments.cores,
        arguments.warehouse,
        arguments.conf,
        arguments.jars,
        arguments.timeout,
        arguments.formats,
        arguments.ivy_settings,
    )
    port = local.start(chosen, arguments.if_needed).port
    expected = os.environ.get("SPARK_CDC_PORT") or str(ports.DEFAULT)
    if str(port) != expected:
        print(f"For dbt in this shell: export SPARK_CDC_PORT={port}")
    return 0


def _run_stop(arguments: StopOptions) -> int:
    parts.require("server", "spark-cdc server")
    state_dir = project.state_dir(arguments.state_dir)
    running = bool(server_state.read(state_dir))
    said = local.stop(state_dir)
    if running or not arguments.if_needed:
        print(said)
    return 0


def _run_status(arguments: StatusOptions) -> int:
    parts.require("server", "spark-cdc server")
    state_dir = project.state_dir(arguments.state_dir)
    found = server_state.status(state_dir)
    is_json = arguments.output == "json"
    if arguments.value or is_json:
        values: dict[str, object] = {"state": found.state, **found.info}
        if found.alive:
            now, peak = server_state.resident_memory(found.pid)
            values.update(resident_bytes=now, resident_peak_bytes=peak)
        if is_json:
            console.print_json(values)
        elif arguments.value in values:
            print(values[arguments.value])
        elif not found.alive:
            print(local.describe(found, state_dir), file=sys.stderr)
        else:
            accepted = ", ".join(sorted(values))
            raise UsageError(
                f"--value {arguments.value!r} is unknown. Accepted are {accepted}.",
                "spark-cdc server status --output json",
            )
    else:
        print(local.describe(found, state_dir))
    codes = {"running": ExitCode.DONE}
    codes |= dict.fromkeys(("starting", "hung"), ExitCode.ATTENTION)
    return codes.get(found.state, ExitCode.NOTHING)


def _run_logs(arguments: LogsOptions) -> int:
    parts.require("server", "spark-cdc server")
    with contextlib.suppress(KeyboardInterrupt):
        local.show_logs(project.state_dir(arguments.state_dir), arguments.lines, arguments.follow)
    return 0
