"""Who is told what was loaded: settings, reports, a command, a URL, a file, metrics, lineage."""

from __future__ import annotations

import argparse
import enum
import json
import re
import stat
import sys
import threading
import time
import types
import typing
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import attr
import jsonschema
import pytest
from openlineage.client import event_v2, facet_v2
from openlineage.client.serde import Serde
from prometheus_client.parser import text_string_to_metric_families

from project import ROOT, Project
from spark_cdc import cli as command_line
from spark_cdc import notices
from spark_cdc.errors import SparkCdcError
from spark_cdc.notify import lineage, metrics
from spark_cdc.notify import teller as notify

pytestmark = pytest.mark.proves("report")

KEYED = {"id": {"data_type": "int", "role": "key"}, "value": "int"}
DATES = ("2024-03-01", "2024-03-02", "2024-03-03")
SECRET = "T0KEN"
LOAD = {
    "entity": "orders",
    "load_id": "20240301-fc-0a935ca6",
    "business_time": "2024-03-01",
    "load_type": "full",
    "status": "committed",
    "started_at": "2024-03-02T06:00:00.000Z",
    "committed_at": "2024-03-02T06:00:05.500Z",
    "duration_seconds": 5.5,
    "input": "csv files of /in/orders/2024-03-01",
    "input_files": 2,
    "input_bytes": 100,
    "rows_in": 10,
    "rows_rejected": 1,
    "rows_inserted": 4,
    "rows_updated": 3,
    "rows_deleted": 2,
    "rows_unchanged": 2,
    "rows_current": 9,
    "spark_version": "4.1.0 abc",
    "invocation_id": "i",
}
REFUSED = {
    **{name: LOAD[name] for name in ("entity", "load_type", "started_at", "input")},
    "load_id": "20240302-f-0a935ca6",
    "business_time": "2024-03-02",
    "status": "refused",
    "guard": "deleted_share",
    "message": "orders: 90% would be deleted",
}


def entity(**changes: Any) -> dict[str, Any]:
    """What became of an entity, as a report has it."""
    plain = {"entity": "orders", "state": "loaded", "loaded": ["2024-03-01"], "left": []}
    return {**plain, "failed": None, "waits": None, "loads": [LOAD], **changes}


def report(**changes: Any) -> dict[str, Any]:
    plain = {"id": "r", "command": "load", "schema": "cdc", "exit_code": 0, "error": None}
    times = {"started_at": "2024-03-02T06:00:00+00:00", "ended_at": "2024-03-02T06:00:09+00:00"}
    return {**plain, **times, "entities": [entity()], **changes}


class Receiver(HTTPServer):
    """Answers with some status codes in turn, the last one for ever; keeps what came."""

    def __init__(self, *codes: int) -> None:
        self.codes, self.got = list(codes), list[tuple[dict[str, str], Any]]()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook/{SECRET}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), json.loads(body)))  # type: ignore[attr-defined]
        codes = self.server.codes  # type: ignore[attr-defined]
        self.send_response(codes.pop(0) if len(codes) > 1 else codes[0])
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def receive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Start a receiver that answers with these codes."""
    monkeypatch.setattr(notify, "PAUSE", 0.01)
    started: list[Receiver] = []

    def start(*codes: int) -> Receiver:
        started.append(Receiver(*codes))
        threading.Thread(target=started[-1].serve_forever, daemon=True).start()
        return started[-1]

    yield start
    for one in started:
        one.shutdown()
        one.server_close()


def test_a_url_gets_json_and_the_header(receive: Any) -> None:
    receiver = receive(200)
    notify.post(receiver.url, "Bearer x", json.dumps({"text": "größer"}))
    [(headers, body)] = receiver.got
    assert body == {"text": "größer"}
    assert (headers["Authorization"], headers["Content-Type"]) == ("Bearer x", "application/json")


def test_a_url_is_tried_again_if_that_may_help(receive: Any) -> None:
    passing, broken, refusing, moved = (
        receive(*codes) for codes in ((503, 429, 204), (500,), (404,), (302,))
    )
    notify.post(passing.url, "", "{}")
    assert len(passing.got) == 3
    for receiver, message, tries in (
        (broken, "it answered 500, tried 3 times", 3),
        (refusing, "it answered 404", 1),
        (moved, "it answered 302", 1),
    ):
        with pytest.raises(SparkCdcError) as error:
            notify.post(receiver.url, "", "{}")
        assert str(error.value) == message
        assert len(receiver.got) == tries


def test_a_url_that_does_not_answer_is_named_without_its_secrets(
    receive: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = receive(200).url.replace("127.0.0.1", f"user:{SECRET}@127.0.0.1:1/")
    with pytest.raises(SparkCdcError, match="ConnectionError, tried 3 times") as error:
        notify.post(url, SECRET, "{}")
    assert SECRET not in str(error.value)
    monkeypatch.setattr(notify, "ANSWER", 0.2)
    monkeypatch.setattr(notify, "TRIES", 1)
    slow = receive(200)
    monkeypatch.setattr(Handler, "do_POST", lambda _: time.sleep(1))
    with pytest.raises(SparkCdcError, match="ReadTimeout"):
        notify.post(slow.url, "", "{}")


def test_a_command_reads_the_report(tmp_path: Path) -> None:
    notify.call(f"cat > {tmp_path}/got", '{"a": 1}')
    assert (tmp_path / "got").read_text() == '{"a": 1}'
    notify.call("exit 0", "x" * 1_000_000)  # which does not read it
    with pytest.raises(SparkCdcError, match="exit code 3: no mail here"):
        notify.call("echo trying; echo no mail here; exit 3", "{}")


def test_a_command_that_hangs_is_ended_with_what_it_started() -> None:
    began = time.monotonic()
    with pytest.raises(SparkCdcError, match="took longer than 0 s and was ended"):
        notify.call("sleep 30 & sleep 30", "{}", seconds=0.2)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SPARK_CDC_NOTIFY_ON": "never"}, "Accepted are always, loads, problems"),
        ({"SPARK_CDC_NOTIFY_URL": f"ftp://{SECRET}"}, "is not an http:// or https:// URL"),
        ({"SPARK_CDC_NOTIFY_URL": f"http://[{SECRET}"}, "is not an http:// or https:// URL"),
        ({"SPARK_CDC_METRICS_FILE": "cdc.txt"}, "node_exporter reads NAME.prom only"),
        ({"SPARK_CDC_OPENLINEAGE": "maybe"}, "Accepted are true and false"),
    ],
)
def test_settings_that_are_wrong(variables: dict[str, str], message: str) -> None:
    with pytest.raises(SparkCdcError, match=message) as error:
        notify.read(argparse.Namespace(target=None), variables)
    assert SECRET not in str(error.value)


def test_settings_come_from_options_then_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {"SPARK_CDC_NOTIFY_FILE": "a", "SPARK_CDC_NOTIFY_URL": f"http://host/{SECRET}"}
    found = notify.read(argparse.Namespace(target=None, notify_file="b"), variables)
    assert (found.file, found.on, found.openlineage) == ("b", "always", False)
    assert SECRET not in repr(found)
    assert not notify.read(argparse.Namespace(target=None), {})
    monkeypatch.setitem(sys.modules, "openlineage", None)
    with pytest.raises(SparkCdcError, match=r"pip install 'spark-cdc\[openlineage\]'"):
        notify.read(argparse.Namespace(target=None, openlineage=True), {})


@pytest.mark.parametrize(
    ("code", "loaded", "told"),
    [
        (3, [], ["always"]),
        (0, ["d"], ["always", "loads"]),
        (1, [], ["always", "loads", "problems"]),
        (4, ["d"], ["always", "loads", "problems"]),
    ],
)
def test_occasions(code: int, loaded: list[str], told: list[str]) -> None:
    one = report(exit_code=code, entities=[entity(loaded=loaded)])
    assert [on for on in notices.OCCASIONS if notify.is_occasion(one, on)] == told


def families(path: Path) -> dict[str, dict[tuple[str, ...], float]]:
    """What Prometheus' own parser reads: values by the labels beside the schema."""
    found = {}
    for family in text_string_to_metric_families(path.read_text("utf-8")):
        assert family.documentation and family.type == "gauge", family.name
        found[family.name] = {
            tuple(text for name, text in one.labels.items() if name != "schema"): one.value
            for one in family.samples
        }
    return found


def test_metrics(tmp_path: Path) -> None:
    """What the last load did, what was refused since; another run's entities stay as they were."""
    path = tmp_path / "cdc.prom"
    last = {"orders": "2024-03-01 00:00:00", 'q"\\': None, "other": None}
    found = {"schema": "cdc", "last": last, "loads": [LOAD, REFUSED, dict(REFUSED)]}
    other = entity(entity="other", state="failed", left=["x", "y"], loads=[])
    metrics.write(path, report(exit_code=1, entities=[entity(), other]), found)
    told = families(path)
    names = list(metrics.OF_LOADS | metrics.OF_COMMANDS)
    assert list(told) == names
    assert told["spark_cdc_last_load_timestamp_seconds"] == {("orders",): 1709359205.5}
    assert told["spark_cdc_last_load_business_timestamp_seconds"] == {("orders",): 1709251200}
    assert told["spark_cdc_last_load_duration_seconds"] == {("orders",): 5.5}
    assert told["spark_cdc_last_load_input_rows"] == {("orders",): 10}
    assert told["spark_cdc_last_load_rejected_rows"] == {("orders",): 1}
    assert told["spark_cdc_last_load_rows"] == {
        ("orders", "inserted"): 4,
        ("orders", "updated"): 3,
        ("orders", "deleted"): 2,
        ("orders", "unchanged"): 2,
    }
    assert told["spark_cdc_current_rows"] == {("orders",): 9}
    assert told["spark_cdc_refused_loads"] == {("orders",): 1, ('q"\\',): 0, ("other",): 0}
    assert told["spark_cdc_entity_failed"] == {("orders",): 0, ("other",): 1}
    assert told["spark_cdc_entity_outstanding_loads"] == {("orders",): 0, ("other",): 2}
    assert told["spark_cdc_command_exit_code"] == {("load",): 1}
    # the server is gone: what was known of loads stays; another command, with one entity
    waits = entity(state="waits", waits="2024-03-03 expected", left=None)
    metrics.write(path, report(command="replay", entities=[waits]), None)
    again = families(path)
    assert {name: again[name] for name in metrics.OF_LOADS} == {
        name: told[name] for name in metrics.OF_LOADS
    }
    assert again["spark_cdc_entity_failed"] == told["spark_cdc_entity_failed"]
    assert again["spark_cdc_entity_waiting"] == {("orders",): 1, ("other",): 0}
    assert again["spark_cdc_entity_outstanding_loads"] == told["spark_cdc_entity_outstanding_loads"]
    assert again["spark_cdc_command_exit_code"] == {("load",): 1, ("replay",): 0}
    # an entity that is gone
    last.pop("other")
    metrics.write(path, report(), found)
    assert families(path)["spark_cdc_entity_failed"] == {("orders",): 0}
    # nothing is left beside it, and node_exporter's user may read it
    assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) & 0o044


def test_alerts_and_docs_name_metrics_that_are_there() -> None:
    names = metrics.OF_LOADS.keys() | metrics.OF_COMMANDS.keys()
    rules = (ROOT / "docs/examples/alerts.yml").read_text("utf-8")
    asked = set(re.findall(r"spark_cdc_\w+", rules))
    assert asked and asked <= names
    told = set(re.findall(r"`(spark_cdc_\w+)`", (ROOT / "docs/notify.md").read_text("utf-8")))
    short = {name for name in names if name.startswith("spark_cdc_last_load_")}
    assert names - short <= told <= names


def test_metrics_of_a_load_that_was_repeated() -> None:
    """The one that was committed last counts; what was refused before it does not."""
    again = dict(LOAD, committed_at="2024-03-03T06:00:00.000Z", rows_current=5)
    before = dict(REFUSED, business_time="2024-03-01", started_at="2024-03-02T12:00:00.000Z")
    after = dict(before, started_at="2024-03-03T12:00:00.000Z")
    found = {"schema": "cdc", "last": {"orders": "2024-03-01 00:00:00"}}
    told = metrics.of_loads(dict(found, loads=[again, LOAD, before]))
    labels = metrics.labels(schema="cdc", entity="orders")
    assert told["spark_cdc_current_rows"] == {labels: 5}
    assert told["spark_cdc_refused_loads"] == {labels: 0}
    told = metrics.of_loads(dict(found, loads=[again, LOAD, before, after]))
    assert told["spark_cdc_refused_loads"] == {labels: 1}


ANY_FACET = (
    *(facet_v2.DatasetFacet, facet_v2.JobFacet, facet_v2.RunFacet),
    *(facet_v2.InputDatasetFacet, facet_v2.OutputDatasetFacet),
)


def schema_of(kind: Any) -> dict[str, Any]:
    """JSON Schema of a type that OpenLineage's library generated from its specification.

    The library does not ship the specification itself (2-0-2 in the release that is pinned); these
    classes have its names, types, and what is required.
    """
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        [plain] = [one for one in typing.get_args(kind) if one is not type(None)]
        return schema_of(plain)
    if typing.get_origin(kind) is list:
        return {"type": "array", "items": schema_of(typing.get_args(kind)[0])}
    if typing.get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": schema_of(typing.get_args(kind)[1])}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [one.value for one in kind]}
    if not attr.has(kind):
        return {"type": {str: "string", int: "integer", float: "number", bool: "boolean"}[kind]}
    hints = typing.get_type_hints(kind)
    fields = attr.fields(kind)
    required = [one.name for one in fields if type(None) not in typing.get_args(hints[one.name])]
    properties = {one.name: schema_of(hints[one.name]) for one in fields}
    for name in properties:
        if name.endswith("Time"):
            properties[name] = {"type": "string", "format": "date-time", "pattern": "T.*Z$"}
    if "runId" in properties:
        properties["runId"] = {"type": "string", "format": "uuid"}
    for name in {"schemaURL", "_schemaURL"} & properties.keys():
        properties[name] = (
            {"type": "string"} if kind in ANY_FACET else {"const": kind._get_schema()}
        )
    is_open = issubclass(kind, facet_v2.BaseFacet)
    more = {} if is_open else {"additionalProperties": False}
    return {"type": "object", "properties": properties, "required": required, **more}


FACETS = {
    "nominalTime": facet_v2.nominal_time_run.NominalTimeRunFacet,
    "processing_engine": facet_v2.processing_engine_run.ProcessingEngineRunFacet,
    "errorMessage": facet_v2.error_message_run.ErrorMessageRunFacet,
    "sparkCdc_load": facet_v2.RunFacet,
    "jobType": facet_v2.job_type_job.JobTypeJobFacet,
    "tags": facet_v2.tags_run.TagsRunFacet,  # which the client adds: its own version
    "inputStatistics": facet_v2.input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
    "outputStatistics": (
        facet_v2.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
    ),
}


def check_event(event: dict[str, Any]) -> None:
    """Hold an event and each of its facets against the schema."""
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.validate(event, schema_of(event_v2.RunEvent), format_checker=checker)
    datasets = [*event.get("inputs", ()), *event.get("outputs", ())]
    parts = [event["run"].get("facets", {}), event["job"].get("facets", {})]
    parts += [one.get(kind, {}) for one in datasets for kind in ("inputFacets", "outputFacets")]
    facets = [pair for part in parts for pair in part.items()]
    assert facets
    for name, facet in facets:
        jsonschema.validate(facet, schema_of(FACETS[name]), format_checker=checker)


def sent(one: dict[str, Any]) -> list[dict[str, Any]]:
    places = {LOAD["load_id"]: {"path": "/in/orders/2024-03-01"}}
    events = lineage.events(one, "spark://host:10000", places)
    return [json.loads(Serde.to_json(event)) for event in events]


def test_lineage_of_loads() -> None:
    """Two events of one run per load: its files, what it wrote, or why it was refused."""
    loads = [LOAD, REFUSED]
    events = sent(report(entities=[entity(loads=loads, failed="deleted_share")]))
    for event in events:
        check_event(event)
    assert [event["eventType"] for event in events] == ["START", "COMPLETE", "START", "FAIL"]
    start, done, _, refused = events
    assert start["run"]["runId"] == done["run"]["runId"] != refused["run"]["runId"]
    assert done["eventTime"] == "2024-03-02T06:00:05.500Z"
    assert done["job"]["name"] == "cdc.orders"
    [read], [written] = done["inputs"], done["outputs"]
    assert (read["namespace"], read["name"]) == ("file", "/in/orders/2024-03-01")
    assert (
        read["inputFacets"]["inputStatistics"].items()
        >= {
            "rowCount": 10,
            "fileCount": 2,
            "size": 100,
        }.items()
    )
    assert (written["namespace"], written["name"]) == ("spark://host:10000", "cdc.orders_ledger")
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == 9
    assert done["run"]["facets"]["nominalTime"]["nominalStartTime"] == "2024-03-01T00:00:00Z"
    assert done["run"]["facets"]["sparkCdc_load"]["rows_deleted"] == 2
    assert refused["run"]["facets"]["errorMessage"]["message"] == REFUSED["message"]
    assert refused.get("outputs", []) == []
    assert sent(report()) == sent(report())  # sent twice it is the same run


def test_lineage_of_a_failure_that_no_row_tells_of() -> None:
    one = entity(state="failed", loaded=[], loads=[], failed="orders_ledger: Spark is gone")
    start, failed = sent(report(entities=[one], exit_code=1))
    check_event(failed)
    assert (start["eventType"], failed["eventType"]) == ("START", "FAIL")
    assert "Spark is gone" in failed["run"]["facets"]["errorMessage"]["message"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"eventType": "DONE"}, "eventType"),
        ({"eventTime": "2024-03-01"}, "eventTime"),
        ({"job": {"name": "x"}}, "namespace"),
        ({"inputs": [{"namespace": "file", "name": "x", "rows": 1}]}, "rows"),
    ],
)
def test_the_check_of_events_finds_what_is_wrong(change: dict[str, Any], where: str) -> None:
    with pytest.raises(jsonschema.ValidationError, match=where):
        check_event(sent(report())[1] | change)


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ({"path": "s3a://bucket/in/2024"}, ("s3://bucket", "in/2024")),
        ({"path": "hdfs://name:8020/in/x"}, ("hdfs://name:8020", "/in/x")),
        ({"table": "raw.orders"}, ("spark://h", "raw.orders")),
        ({"path": "in/orders"}, ("file", "in/orders")),
    ],
)
def test_names_of_inputs(read: dict[str, str], told: Any) -> None:
    assert lineage.dataset(read, "spark://h") == told


def told_to(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.integration
def test_all_are_told_of_runs(
    project: Project,
    receive: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """By run, load and backfill; a URL that fails changes nothing but the summary."""
    project.serve_commands(monkeypatch)
    project.entity("told", KEYED)
    project.entity("bad", KEYED)
    for number, date in enumerate(DATES[:2], 1):
        project.land("told", date, "id,value", *(f"{at},1" for at in range(number)))
        project.land("bad", date, "id,value", f"1,{'1' if number == 1 else 'x'}")
    receiver = receive(500)
    file, prom = tmp_path / "report.jsonl", tmp_path / "cdc.prom"
    variables = {
        "SPARK_CDC_NOTIFY_URL": receiver.url,
        "SPARK_CDC_NOTIFY_AUTHORIZATION": SECRET,
        "SPARK_CDC_NOTIFY_FILE": str(file),
        "SPARK_CDC_METRICS_FILE": str(prom),
        "SPARK_CDC_OPENLINEAGE": "true",
        "OPENLINEAGE__TRANSPORT__TYPE": "file",
        "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": str(tmp_path / "lineage.json"),
        "OPENLINEAGE__TRANSPORT__APPEND": "true",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    def call(*words: str) -> tuple[int, str]:
        code = command_line.main(words)
        said = capsys.readouterr()
        assert SECRET not in said.out + said.err
        return code, said.out + said.err

    select = ("--select", "path:models/told", "path:models/bad")
    code, said = call("load", *select, "--notify-command", f"cat > {tmp_path}/command.json")
    assert code == 1, said
    assert "not notified: the URL at 127.0.0.1: it answered 500, tried 3 times" in said
    [one] = told_to(file)
    assert json.loads((tmp_path / "command.json").read_text()) == one
    assert [body for _, body in receiver.got] == [one] * 3
    assert receiver.got[0][0]["Authorization"] == SECRET
    assert (one["command"], one["exit_code"], one["schema"]) == ("load", 1, project.schema), said
    assert one["summary"] == "spark-cdc load: 3 loads; failed: bad"
    bad, told = sorted(one["entities"], key=lambda entity: entity["entity"])
    assert (told["state"], told["loaded"]) == ("loaded", list(DATES[:2]))
    assert [load["rows_inserted"] for load in told["loads"]] == [1, 1]
    assert [load["rows_in"] for load in told["loads"]] == [1, 2]
    assert (bad["state"], bad["loaded"], bad["left"]) == ("failed", [DATES[0]], [DATES[1]])
    assert [(load["status"], load.get("guard")) for load in bad["loads"]] == [
        ("committed", None),
        ("refused", "failed_casts"),
    ]
    shown = families(prom)
    assert shown["spark_cdc_last_load_business_timestamp_seconds"] == {
        ("bad",): 1709251200,
        ("told",): 1709337600,
    }
    assert shown["spark_cdc_refused_loads"] == {("bad",): 1, ("told",): 0}
    assert shown["spark_cdc_current_rows"] == {("bad",): 1, ("told",): 2}
    assert shown["spark_cdc_entity_failed"] == {("bad",): 1, ("told",): 0}
    assert abs(shown["spark_cdc_last_load_timestamp_seconds"][("told",)] - time.time()) < 300

    # a single date, with dbt's own messages; what was wrong is mended
    project.land("bad", DATES[1], "id,value", "1,2")
    code, said = call("load", DATES[1], "--select", "path:models/bad", "--notify-on", "problems")
    assert code == 0, said
    assert "not notified" not in said
    [again] = told_to(file)[1:]
    assert (again["command"], again["exit_code"]) == ("load", 0)
    [bad] = again["entities"]
    assert (bad["state"], bad["loaded"], bad["rows"]) == ("loaded", [DATES[1]], 1)
    assert families(prom)["spark_cdc_refused_loads"] == {("bad",): 0, ("told",): 0}
    project.land("told", DATES[2], "id,value", "1,1")
    code, said = call("load", DATES[2], "--bulk", "--select", "told", "--notify-on", "problems")
    assert code == 0, said
    [filled] = told_to(file)[2:]
    assert [one["loaded"] for one in filled["entities"]] == [[DATES[2]]]
    code, said = call("load", DATES[0], "--select", "path:models/told", "--notify-on", "problems")
    assert code == 1, said
    [failed] = told_to(file)[3:]
    assert failed["error"].startswith("The load of 2024-03-01 failed")

    events = told_to(tmp_path / "lineage.json")
    for event in events:
        check_event(event)
    ends = [event["eventType"] for event in events if event["job"]["name"].endswith(".bad")]
    assert ends == ["START", "COMPLETE", "START", "FAIL", "START", "COMPLETE"]
    read = {one["name"] for event in events for one in event.get("inputs", ())}
    assert f"{project.landing}/told/{DATES[0]}" in read


def test_a_server_that_is_gone_is_told(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    project.serve_commands(monkeypatch)
    project.entity("lone", KEYED)
    project.profile(port=1, connect_retries=0)
    file = tmp_path / "report.jsonl"
    words = ("load", "--select", "path:models/lone", "--retries", "0", "--notify-file", str(file))
    try:
        assert command_line.main(words) == 1
    finally:
        project.profile()
    said = capsys.readouterr()
    [one] = told_to(file)
    assert one["exit_code"] == 1
    assert "No Spark server answers on 127.0.0.1:1" in one["error"]
    assert "not notified: cdc_loads could not be read" in said.err
