"""What was loaded as OpenLineage events, by the library openlineage-python, if it is installed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from spark_cdc import __version__, parts, state
from spark_cdc.errors import SparkCdcError

if TYPE_CHECKING:
    from openlineage.client import event_v2

PRODUCER = f"urn:spark-cdc:{__version__}"
NAMESPACE = "spark_cdc"  # of jobs
COUNTS = ("inserted", "updated", "deleted", "unchanged", "not_supplied", "rejected", "current")


def problem() -> str:
    """Return why no events can be sent, if so."""
    if parts.lacking("openlineage"):
        return "OpenLineage events need the library: pip install 'spark-cdc[openlineage]'"
    return ""


def emit(report: state.Report, server: str, places: Mapping[str, state.Place | None]) -> None:
    """Send the events of a report, by the settings of the library.

    Raises SparkCdcError, without what the library says, in which there may be secrets.
    """
    from openlineage.client import OpenLineageClient

    client = OpenLineageClient()
    if client.transport.kind == "console":
        raise SparkCdcError("nobody is named to send events to: set OPENLINEAGE_URL")
    told = events(report, server, places)
    try:
        for event in told:
            client.emit(event)
    except Exception as error:  # of whatever transport
        raise SparkCdcError(f"the events could not be sent: {type(error).__name__}") from None
    finally:
        client.close()


def events(
    report: state.Report, server: str, places: Mapping[str, state.Place | None]
) -> list[event_v2.RunEvent]:
    """Return the events of a report: start and end of each load, and of what failed before it.

    server: namespace of the tables.
    places: where the input of loads lies: {table}, {path} or None, by load.
    """
    told: list[event_v2.RunEvent] = []
    for one in report["entities"]:
        loads = list(one["loads"])
        if one["failed"] and not any(load["status"] == "refused" for load in loads):
            # no row of cdc_loads: Spark or dbt failed
            loads.append(
                {
                    "entity": one["entity"],
                    "load_id": report["id"],
                    "status": "failed",
                    "started_at": report["started_at"],
                    "ended_at": report["ended_at"],
                    "message": one["failed"],
                }
            )
        for load in loads:
            told += _of_load(load, report["schema"], server, places.get(load["load_id"]))
    return told


def _of_load(
    load: state.LoadRow, schema: str, server: str, place: state.Place | None
) -> list[event_v2.RunEvent]:
    """Return the two events of a load."""
    from openlineage.client import event_v2 as event
    from openlineage.client import facet_v2 as facet

    event.set_producer(PRODUCER)
    name = f"{schema}.{load['entity']}"
    is_done = load.get("status", "committed") == "committed"
    facets: dict[str, facet.RunFacet] = {}
    if time := load.get("business_time"):
        nominal = f"{time.replace(' ', 'T')}{'' if len(time) > 10 else 'T00:00:00'}Z"
        facets["nominalTime"] = facet.nominal_time_run.NominalTimeRunFacet(nominal)
    if version := load.get("spark_version"):
        facets["processing_engine"] = facet.processing_engine_run.ProcessingEngineRunFacet(
            version.split()[0], "spark", __version__
        )
    if not is_done:
        facets["errorMessage"] = facet.error_message_run.ErrorMessageRunFacet(
            load.get("message") or "failed", "SQL"
        )
    run_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"spark-cdc:{name}/{load['load_id']}"))
    kind = facet.job_type_job.JobTypeJobFacet("BATCH", "SPARK_CDC", "LOAD")
    job = event.Job(NAMESPACE, name, {"jobType": kind})
    inputs = _inputs(load, server, place)
    outputs = [_output(load, f"{name}_ledger", server)] if is_done else []
    start = load.get("started_at") or load["committed_at"]
    end = load.get("committed_at") or load.get("ended_at") or start
    names = [f"rows_{what}" for what in COUNTS]
    counted = {name: load.get(name) for name in names if name in load}
    if counted:
        counts = facet.RunFacet().with_additional_properties(load_id=load["load_id"], **counted)
        assert isinstance(counts, facet.RunFacet)
        facets["sparkCdc_load"] = counts
    result = event.RunState.COMPLETE if is_done else event.RunState.FAIL
    states = ((event.RunState.START, start), (result, end))
    return [
        event.RunEvent(
            eventTime=_zoned(time),
            producer=PRODUCER,
            run=event.Run(run_id, facets),
            job=job,
            eventType=state,
            inputs=inputs,
            outputs=outputs,
        )
        for state, time in states
    ]


def _zoned(time: str) -> str:
    return time.replace("+00:00", "Z")


def _inputs(
    load: state.LoadRow, server: str, place: state.Place | None
) -> list[event_v2.InputDataset]:
    """Return the files or the table that a load read, with their numbers."""
    from openlineage.client import event_v2 as event
    from openlineage.client import facet_v2 as facet

    if not place:
        return []
    counts = facet.input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
        rowCount=load.get("rows_in"),
        size=load.get("input_bytes"),
        fileCount=load.get("input_files"),
    )
    return [event.InputDataset(*dataset(place, server), inputFacets={"inputStatistics": counts})]


def _output(load: state.LoadRow, name: str, server: str) -> event_v2.OutputDataset:
    from openlineage.client import event_v2 as event
    from openlineage.client import facet_v2 as facet

    changed = sum(state.count(load, f"rows_{what}") or 0 for what in COUNTS[:3])
    counts = facet.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(changed)
    return event.OutputDataset(server, name, outputFacets={"outputStatistics": counts})


def dataset(place: state.Place, server: str) -> tuple[str, str]:
    """Return namespace and name of a table or a path, by OpenLineage's conventions."""
    if "table" in place:
        return server, place["table"]
    path = place["path"]
    if "://" not in path:
        return "file", path
    parts = urlsplit(path)
    scheme = {"s3a": "s3", "s3n": "s3"}.get(parts.scheme, parts.scheme)
    name = path.split("://", 1)[1].partition("/")[2]
    if scheme in ("s3", "gs"):
        return f"{scheme}://{parts.netloc}", name
    return f"{scheme}://{parts.netloc}" if parts.netloc else scheme, f"/{name}"
