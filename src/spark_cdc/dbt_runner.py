"""dbt commands one after the other, in this process, so that dbt is started only once."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import shlex
import signal
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from spark_cdc import compiled, connectivity, console, parsing, project, tracebacks
from spark_cdc.errors import SparkCdcError, UsageError, advice

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from dbt.contracts.graph.manifest import Manifest
    from dbt_common.events.base_types import EventMsg

LOG = f"All that dbt printed is in {tracebacks.LOG}."
DATA = "spark_cdc: "  # how a line of data begins (macro _print_data)
# What dbt prints before the message of a macro that an operation or a hook calls.
OPERATION = "Encountered an error while running operation: "
HOOK = "Compilation Error in operation "
DATES = "SPARK_CDC_BUSINESS_DATE"  # of the environment: a date for all entities, or one for each
ASKS = {"SPARK_CDC_DATA": "1"}  # macros print data in the place of sentences, and our commands
Event = Any  # a message of protobuf from dbt, whose fields only the running dbt knows
# Ends the process with a last word. The command line sets it; where it is not set, as in a notebook
# or an Airflow task, an interrupt is a KeyboardInterrupt as everywhere in Python.
end_process: Callable[[str], None] | None = None


class _Argument(TypedDict, total=False):
    nargs: str
    default: list[str]
    metavar: str
    help: str


def add_arguments(parser: argparse._ActionsContainer, *names: str) -> None:
    """Add the options of these names that several commands have, with one meaning."""
    options: dict[str, _Argument] = {
        "select": {
            "nargs": "+",
            "default": [],
            "metavar": "ENTITY",
            "help": "the same as entities by position",
        },
        "skip-guards": {
            "nargs": "+",
            "default": [],
            "metavar": "GUARD",
            "help": "override these guards, such as orders.deleted_share"
            " (docs/configuration.md#guards)",
        },
        "target": {"help": "target of profiles.yml (default: local)"},
        "branch": {"metavar": "NAME", "help": "work in this branch, not in production"},
    }
    for name in names:
        if name == "select" and not parser.get_default("takes_dates"):
            parser.add_argument(
                "entities", nargs="*", metavar="ENTITY", help="these entities (default: all)"
            )
        if name == "dry-run":
            parsing.add_dry_run(parser)
        else:
            parser.add_argument(f"--{name}", **options[name])


def add_entity(parser: argparse.ArgumentParser) -> None:
    """Add an entity by position, which the project has to have."""
    parser.add_argument("entity", metavar="ENTITY")
    parser.set_defaults(is_declared=True)


def options(arguments: object, *names: str) -> str:
    """Return some options of a command line as they were given, to follow a command."""
    given = [(name, getattr(arguments, name.replace("-", "_"))) for name in names]
    return "".join(
        f" --{name} {shlex.join(value if isinstance(value, list) else [str(value)])}"
        for name, value in given
        if value
    )


def add_selection(parser: argparse._ActionsContainer) -> None:
    """Add --select and --exclude: names of entities, or whatever dbt selects."""
    for name in ("select", "exclude"):
        parser.add_argument(
            f"--{name}",
            nargs="+",
            default=[],
            metavar="ENTITY",
            help=f"{'these' if name == 'select' else 'not these'}: names of entities, or anything"
            f" that dbt's --{name} takes",
        )


@dataclass(frozen=True)
class Node:
    """What came of a node that dbt ran: its status (success, error, skipped, …) and message."""

    name: str
    status: str
    message: str

    @property
    def has_failed(self) -> bool:
        """Whether it ran, and did not succeed."""
        return self.status not in ("success", "skipped")


@dataclass(frozen=True)
class Done:
    """What a dbt command came to: whether it succeeded, and what it printed, its stacks folded.

    models: how many it ran.
    nodes: what came of each node that it ran.
    notes: what macros logged for people.
    """

    ok: bool
    output: str
    models: int = 0
    nodes: tuple[Node, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Return the messages without dbt's clock."""
        return [
            re.sub(r"^(\x1b\[\d*m)?\d\d:\d\d:\d\d {2}", "", line)
            for line in self.output.splitlines()
        ]

    @property
    def said(self) -> str:
        """Return the output without data."""
        return "\n".join(line for line in self.output.splitlines() if not line.startswith(DATA))


def _interrupted() -> str:
    return "interrupted\nnext: run the same command again"


def _name(words: Sequence[str], dates: str) -> str:
    """Return what a dbt command is called while it runs: of a macro its name, of a run its date."""
    macro = words[1].removeprefix("spark_cdc.").lstrip("_") if words[0] == "run-operation" else ""
    of_vars = re.search(r'"business_date": "([^"]*)"', " ".join(words))
    date = of_vars[1] if of_vars else "" if dates.startswith("{") else dates
    return " ".join(part for part in ("dbt", words[0], macro, date) if part)


class Dbt:
    """dbt for the project at hand and a target of its profiles.

    parses_once: for all commands, without their vars, which count only where something runs.
    variables: of the environment, for all commands.
    invocations: dbt's ids of the commands that ran nodes or macros.
    failed: messages of nodes that failed in the last command that ran them, by name.
    """

    def __init__(
        self,
        target: str | None = None,
        parses_once: bool = False,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.target = target
        self._variables = dict(variables or {})
        self._environment = project.dbt_environment(target=target) | self._variables
        self._parses_once = parses_once
        self._parsed: bytes | None = None
        self._printed = tracebacks.Output()
        self._say: Callable[[], str] | None = None
        self.invocations: list[str] = []
        self.failed: dict[str, str] = {}

    def again(self) -> Dbt:
        """Return another one for the project as this one has parsed it, without its commands."""
        other = Dbt(self.target, self._parses_once, self._variables)
        other._parsed = self._parsed
        return other

    def run(
        self,
        *words: str,
        shown: bool = False,
        watch: Callable[[Event], None] | None = None,
        variables: Mapping[str, str] | None = None,
        heard: Callable[[str], None] | None = None,
        alone: bool = False,
    ) -> Done:
        """Run a dbt command. What it prints goes to the terminal if shown, and into the result.

        watch: gets dbt's events, in dbt's threads.
        variables: of the environment, for this command.
        heard: gets what macros log, as they do.
        alone: whether it is the only command, so that dbt itself parses what has changed.

        Raises SparkCdcError if it fails because no server answers.
        """
        words = (*words, *(["--target", self.target] if self.target else []))
        given = dict(variables or {})
        name = _name(words, given.get(DATES, ""))
        waits = contextlib.nullcontext() if shown else console.Step(name, console.PATIENCE)
        with self.ends_at_once(), waits:
            asks = {} if shown else ASKS | {"SPARK_CDC_OPTIONS": self._options()}
            done, error = self._invoke(words, shown, watch, given | asks, heard, alone)
        unreachable = None if done.ok else connectivity.problem(self.target, error)
        if unreachable:
            raise unreachable
        return done

    def _options(self) -> str:
        """Return the options that commands of messages need, too."""
        given = {"target": self.target, "branch": self._environment.get("SPARK_CDC_BRANCH")}
        return "".join(f" --{name} {shlex.quote(value)}" for name, value in given.items() if value)

    @property
    def committed(self) -> list[str]:
        """Return the entities of which the command that runs has said that a load is committed."""
        return list(parts(Done(True, self._printed.getvalue()), "load"))

    @contextlib.contextmanager
    def ends_at_once(self, say: Callable[[], str] | None = None) -> Iterator[None]:
        """On Ctrl-C or SIGTERM meanwhile, end a command line with what `say` returns.

        Without `say`, with what a block around it says, else with what any command may say.

        dbt tidies up before it ends: it prints a traceback, and cancels statements over connections
        that its threads wait on, from which it may never come back. Without that nothing is lost.
        The server ends what it runs for a connection that is gone, within seconds, and a load
        counts only when all of it is written.
        """
        act, around = end_process, self._say
        is_main = threading.current_thread() is threading.main_thread()
        if act is None or not is_main or (around and not say):
            yield
            return
        self._say = say or _interrupted

        def end(*_: object) -> None:
            act((say or _interrupted)())

        before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            self._say = around
            for number, handler in before.items():
                signal.signal(number, handler)

    def operate(
        self,
        macro: str,
        entities: Sequence[str] = (),
        heard: Callable[[str], None] | None = None,
        /,
        **more: object,
    ) -> Done:
        """Run a macro of the package that takes `entities`, and more; raise if it fails.

        heard: gets what it logs.

        Raises SparkCdcError with the macro's own message.
        """
        values = json.dumps(({"entities": entities} if entities else {}) | more)
        done = self.run("run-operation", f"spark_cdc.{macro}", "--args", values, heard=heard)
        if not done.ok:
            error = failed(f"dbt could not run {macro}.", done)
            if not error.next_step:
                names = "".join(f" {name}" for name in entities)
                error.next_step = f"List what is committed.\nspark-cdc status{names}"
            raise error
        return done

    def show(self, macro: str, entities: Sequence[str] = (), /, **more: object) -> Done:
        """Run a macro as `operate` does, and print what it logs."""
        return self.operate(macro, entities, console.printer(), **more)

    def _invoke(
        self,
        words: Sequence[str],
        shown: bool,
        watch: Callable[[Event], None] | None,
        variables: Mapping[str, str],
        heard: Callable[[str], None] | None,
        alone: bool,
    ) -> tuple[Done, BaseException | None]:
        from dbt_common.invocation import get_invocation_id

        self._printed = tracebacks.Output(sys.stdout if shown else None)
        notes: list[str] = []

        def note(event: Event) -> None:
            if event.info.name == "JinjaLogInfo":
                notes.append(tracebacks.fold(event.data.msg))
                if heard:
                    heard(notes[-1])

        with contextlib.redirect_stdout(self._printed):
            environment = {**self._environment, **variables}
            is_parsed = self._parses_once and not (alone and self._parsed is None)
            manifest = self._manifest(environment) if is_parsed else None
            callbacks = [note, *([watch] if watch else [])]
            result = _run(words, environment, callbacks, manifest)
        if isinstance(result.exception, KeyboardInterrupt):
            raise result.exception
        output = re.sub(r"\x1b\[[0-9;]*m", "", self._printed.getvalue())
        self._printed = tracebacks.Output()
        error = str(result.exception or "").strip()
        if error and shown and type(result.exception).__name__ == "DbtUsageException":
            print(error, flush=True)  # the one kind of error that dbt leaves to its caller
        elif error and error not in output:
            output += f"\n{tracebacks.fold(error)}"
        results = list(getattr(result.result, "results", None) or [])
        ran = [getattr(one, "node", None) for one in results]
        nodes = tuple(
            Node(one.node.name, str(one.status), _told(str(one.message or "")))
            for one, node in zip(results, ran, strict=True)
            if node is not None
        )
        if words[0] in ("run", "run-operation"):
            self.invocations.append(get_invocation_id())
        for node in nodes:
            self.failed.pop(node.name, None)
            if node.has_failed:
                self.failed[node.name] = node.message
        models = sum(getattr(node, "resource_type", None) == "model" for node in ran)
        done = Done(bool(result.success), output, models, nodes, tuple(notes))
        return done, result.exception

    def _manifest(self, environment: Mapping[str, str]) -> Manifest | None:
        """Return the project as it was parsed, for one command."""
        from dbt.contracts.graph.manifest import Manifest

        if self._parsed is None:
            parsed = _run(["parse"], environment).result
            if not isinstance(parsed, Manifest):
                return None  # the command says why
            self._parsed = packed(parsed)
        return unpacked(self._parsed)


def _run(
    words: Sequence[str],
    environment: Mapping[str, str],
    callbacks: Sequence[Callable[[EventMsg], None]] = (),
    manifest: Manifest | None = None,
) -> dbtRunnerResult:
    """Run dbt with an environment of its own; that of the process stays as it is."""
    from dbt.cli.main import dbtRunner
    from dbt_common.context import get_invocation_context

    is_given = False

    def give(event: EventMsg) -> None:
        nonlocal is_given
        if not is_given:  # with dbt's first event its context is there, and nothing has read it
            is_given = True
            context = get_invocation_context()
            context._env = {**context.env, **environment}

    silent = environment.get("DBT_SEND_ANONYMOUS_USAGE_STATS", "").lower() == "false"
    options = ["--no-send-anonymous-usage-stats"] if silent else []
    if words[0] == "run-operation":  # else a question to macros would write the project's manifest
        options.append("--no-write-json")  # anew, and leave dbt retry its own results
    arguments = project.dbt_arguments(*words, *options)
    with compiled.kept():
        return dbtRunner(manifest=manifest, callbacks=[give, *callbacks]).invoke(arguments)


def selector(entity: str) -> str:
    """Return what selects the models of an entity, and no others, in dbt's commands."""
    return f"tag:spark_cdc.{entity}"


def views_of(entities: Sequence[str]) -> list[str]:
    """Return what dbt selects as the views of entities, those of sensitive columns among them."""
    return [f"{selector(entity)},config.materialized:cdc_view" for entity in entities]


def update_views(dbt: Dbt, views: Sequence[str], what: str) -> None:
    """Create or alter views. Raises SparkCdcError if it fails; what: what is left then."""
    done = dbt.run("run", "--select", *views)
    if not done.ok:
        step = f"When the cause is gone:\ndbt run --select {' '.join(views)}"
        raise SparkCdcError(f"{what}\n{failure(done)}", step)


def packed(manifest: Manifest) -> bytes:
    """Return a manifest of dbt's as bytes; its own deepcopy() fails where a node is disabled."""
    from dbt.parser.manifest import extended_mashumaro_encoder

    return bytes(manifest.to_msgpack(extended_mashumaro_encoder))


def unpacked(packed: bytes) -> Manifest:
    """Return a copy of a manifest, for one command: what it compiles stays in it."""
    from dbt.contracts.graph.manifest import Manifest
    from dbt.parser.manifest import extended_mashumuro_decoder

    copied = Manifest.from_msgpack(packed, decoder=extended_mashumuro_decoder)
    copied.build_flat_graph()
    return copied


def failure(done: Done) -> str:
    """Return why a dbt command failed: messages of its nodes or hooks, else all that it printed."""
    errors = [node for node in done.nodes if node.has_failed]
    return messages(errors) or of_hook(done) or done.said


def failed(what: str, done: Done) -> SparkCdcError:
    """Return the error of a dbt command that failed: why, and what its message leads on to.

    what: what could not be done, where dbt did not fail in a macro of ours; then all that it
    printed follows.
    """
    if problems := wrong_settings(done):
        return UsageError(problems, "Correct them, then run the same command again.")
    if said := macro_message(done):
        return SparkCdcError(*advice(said))
    return SparkCdcError("\n".join((what, done.said.strip())).strip(), LOG)


def wrong_settings(done: Done) -> str:
    """Return what is wrong with settings, names or vars, if a command ended before it began."""
    found = [str(one["problems"]) for line in done.lines if "problems" in (one := _read(line))]
    return found[0] if found else ""


def messages(errors: Sequence[Node]) -> str:
    """Return the messages of nodes, each with its name unless it begins with that of its entity."""
    return "\n".join(
        node.message
        if node.name.removeprefix("stg_").startswith(node.message.partition(": ")[0])
        else f"{node.name}: {node.message}"
        for node in errors
    )


def of_hook(done: Done) -> str:
    """Return what a macro raised at the begin or end of a run."""
    said = "\n".join(done.lines).partition(HOOK)[2].partition("\n")[2]
    return _raised(said)


def macro_message(done: Done) -> str:
    """Return what the macro of a run-operation raised; nothing if dbt failed for another reason."""
    said = "\n".join(done.lines).partition(OPERATION)[2]
    return _raised(said) if "Compilation Error" in said else ""


def _told(message: str) -> str:
    return tracebacks.raised(tracebacks.fold(message))


def _raised(said: str) -> str:
    """Return what a macro raised, of what dbt printed, without dbt's frames."""
    if tracebacks.shows_whole():
        return said.strip()
    frames = re.compile(r"\s*(> (in|called by) macro |(Runtime|Compilation) Error\b)")
    lines = [line for line in said.splitlines() if line.strip() and not frames.match(line)]
    return textwrap.dedent("\n".join(lines)).strip()


@dataclass(frozen=True)
class Load:
    """A load that a dbt command has committed."""

    entity: str
    date: str
    rows: int
    counts: str
    seconds: float

    def __str__(self) -> str:
        """Return the line that every command prints of it."""
        return (
            f"{self.entity}  {self.date}  {self.seconds:.1f} s  {self.rows} rows in, {self.counts}"
        )


class _Committed(TypedDict):
    """The part load of what the ledger's macros print."""

    date: str
    rows: int
    counts: str


class Watch:
    """Prints loads as dbt ends them, and what macros note; its methods run in dbt's threads.

    ended: gets each load, too.
    """

    def __init__(self, screen: console.Screen, ended: Callable[[Load], None] | None = None) -> None:
        self._screen = screen
        self._ended = ended
        self._spent: dict[str, float] = {}
        self._told: dict[str, _Committed] = {}

    def __call__(self, event: Event) -> None:
        """Take an event of dbt's."""
        name = event.info.name
        if name == "PrintEvent":
            self._told |= _parts(event.data.msg, "load")
        elif name == "JinjaLogInfo":
            self._screen.line(f"  {tracebacks.fold(event.data.msg)}")
        elif name == "NodeFinished":
            self._finished(event.data.node_info, event.data.run_result.execution_time)

    def _finished(self, node: Event, seconds: float) -> None:
        entity = re.sub(r"^stg_|_(events|ledger|committed)$", "", node.node_name)
        self._spent[entity] = self._spent.get(entity, 0) + seconds
        one = self._told.get(entity)
        if one and node.node_name == f"{entity}_committed" and node.node_status == "success":
            load = Load(entity, **one, seconds=self._spent[entity])
            self._screen.line(str(load))
            if self._ended:
                self._ended(load)


def data(done: Done) -> Any:
    """Return what a macro printed: a dictionary with `entities`, see the macro _print_data.

    It is JSON: who asks for it knows the type (state.Answer).
    """
    for line in done.lines:
        if found := _read(line):
            return found
    raise SparkCdcError(f"dbt printed no data:\n{done.output}", LOG)


def parts(done: Done, name: str) -> dict[str, Any]:
    """Return a part of what macros printed of entities, by their names."""
    return {entity: part for line in done.lines for entity, part in _parts(line, name).items()}


def _read(line: str) -> dict[str, Any]:
    return dict(json.loads(line.removeprefix(DATA))) if line.startswith(DATA) else {}


def _parts(line: str, name: str) -> dict[str, Any]:
    entities = _read(line).get("entities", ())
    return {one["entity"]: one[name] for one in entities if name in one}
