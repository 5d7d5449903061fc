"""What is loaded as metrics, in a file for the textfile collector of Prometheus' node_exporter."""

from __future__ import annotations

import datetime as dt
import os
import re
from pathlib import Path

from spark_cdc import state

# name to help; all are gauges. Those of loads are read from cdc_loads each time, of all entities.
OF_LOADS = {
    "spark_cdc_last_load_timestamp_seconds": "When the last active load was committed.",
    "spark_cdc_last_load_business_timestamp_seconds": "Its business date or time, in UTC.",
    "spark_cdc_last_load_duration_seconds": "How long it took, without the start of dbt.",
    "spark_cdc_last_load_input_rows": "Rows or events that came in with it.",
    "spark_cdc_last_load_input_bytes": "Bytes of the files that it read.",
    "spark_cdc_last_load_rejected_rows": "Rows that it rejected.",
    "spark_cdc_last_load_rows": "Rows by what it did with them.",
    "spark_cdc_current_rows": "Rows that exist after it.",
    "spark_cdc_refused_loads": "Loads that were refused, and not loaded since.",
}
# Of other entities and commands these stay as the file has them.
OF_COMMANDS = {
    "spark_cdc_entity_failed": "Whether it failed in the last command that loaded it.",
    "spark_cdc_entity_waiting": "Whether something of it waits for a person.",
    "spark_cdc_entity_outstanding_loads": "Dates that the last load of pending dates left.",
    "spark_cdc_command_timestamp_seconds": "When the command last ended.",
    "spark_cdc_command_exit_code": "With which exit code.",
}
OF_ENTITIES = {name for name in OF_COMMANDS if name.startswith("spark_cdc_entity_")}
OPERATIONS = ("inserted", "updated", "deleted", "unchanged", "not_supplied")
LINE = re.compile(r"^(?P<name>\w+)\{(?P<labels>.*)\} (?P<value>\S+)$")

# labels as they are written, to the value, by name
Samples = dict[str, dict[str, float]]


def write(path: Path, report: state.Report, found: state.Loads | None) -> None:
    """Write the file whole beside itself, and rename it: who reads it gets the one or the other.

    found: of notify.read_loads; None where it could not be read: then what was known of loads
    stays.
    """
    samples = read(path)
    if found is not None:
        samples |= of_loads(found)
        known = {labels(schema=found["schema"], entity=entity) for entity in found["last"]}
        for name in OF_ENTITIES & samples.keys():  # without those that are no entity any more
            samples[name] = {by: value for by, value in samples[name].items() if by in known}
    for name, values in of_command(report).items():
        samples[name] = samples.get(name, {}) | values
    beside = path.with_name(f".{path.name}.{os.getpid()}")  # no .prom: the collector passes it over
    try:
        beside.write_text(render(samples), encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read(path: Path) -> Samples:
    """Return what a file of ours holds; nothing if it is not there."""
    samples: Samples = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := LINE.match(line):
                samples.setdefault(match["name"], {})[match["labels"]] = float(match["value"])
    return samples


def render(samples: Samples) -> str:
    """Return the text format of Prometheus."""
    lines = []
    for name, text in (OF_LOADS | OF_COMMANDS).items():
        if values := samples.get(name):
            lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
            lines += [f"{name}{{{labels}}} {value!r}" for labels, value in sorted(values.items())]
    return "".join(f"{line}\n" for line in lines)


def labels(**values: str) -> str:
    """Return labels as they are written."""

    def escaped(text: str) -> str:
        return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")

    return ",".join(f'{name}="{escaped(text)}"' for name, text in values.items())


def of_loads(found: state.Loads) -> Samples:
    """Return the metrics of the last loads of all entities."""
    samples: Samples = {name: {} for name in OF_LOADS}
    for entity, business_time in found["last"].items():
        loads = [load for load in found["loads"] if load["entity"] == entity]
        of_entity = labels(schema=found["schema"], entity=entity)
        refused = _refused(loads, business_time)
        samples["spark_cdc_refused_loads"][of_entity] = float(refused)
        last = _last(loads, business_time)
        values = {
            "spark_cdc_last_load_timestamp_seconds": seconds(last.get("committed_at")),
            "spark_cdc_last_load_business_timestamp_seconds": seconds(business_time),
            "spark_cdc_last_load_duration_seconds": last.get("duration_seconds"),
            "spark_cdc_last_load_input_rows": last.get("rows_in"),
            "spark_cdc_last_load_input_bytes": last.get("input_bytes"),
            "spark_cdc_last_load_rejected_rows": last.get("rows_rejected"),
            "spark_cdc_current_rows": last.get("rows_current"),
        }
        for name, value in values.items():
            if value is not None:
                samples[name][of_entity] = float(value)
        for operation in OPERATIONS:
            if (count := state.count(last, f"rows_{operation}")) is not None:
                by = labels(schema=found["schema"], entity=entity, operation=operation)
                samples["spark_cdc_last_load_rows"][by] = float(count)
    return samples


def _last(loads: list[state.LoadRow], business_time: str | None) -> state.LoadRow:
    """Return the load of a business time that counts: the one that was committed last."""
    of_time = [
        load
        for load in loads
        if seconds(load["business_time"]) == seconds(business_time)
        and load.get("status", "committed") == "committed"
        and load["load_type"] != "compact"
    ]
    return max(of_time, key=_when, default=state.LoadRow())


def _refused(loads: list[state.LoadRow], business_time: str | None) -> int:
    """Return how many business times were refused, and not loaded since."""
    since = _when(_last(loads, business_time))
    return len(
        {
            load["business_time"]
            for load in loads
            if load.get("status") == "refused"
            and (_is_later(load, business_time) or _when(load) > since)
        }
    )


def _is_later(load: state.LoadRow, business_time: str | None) -> bool:
    return (seconds(load["business_time"]) or 0.0) > (seconds(business_time) or 0.0)


def _when(load: state.LoadRow) -> str:
    return load.get("committed_at") or load.get("started_at") or ""


def seconds(text: str | None) -> float | None:
    """Return a time as Prometheus has it; without a zone it is UTC."""
    if not text:
        return None
    time = dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (time if time.tzinfo else time.replace(tzinfo=dt.timezone.utc)).timestamp()


def of_command(report: state.Report) -> Samples:
    """Return the metrics of the command that has just ended."""
    by = labels(schema=report["schema"], command=report["command"])
    samples: Samples = {
        "spark_cdc_command_timestamp_seconds": {by: seconds(report["ended_at"]) or 0.0},
        "spark_cdc_command_exit_code": {by: float(report["exit_code"])},
    }
    for one in report["entities"]:
        of_entity = labels(schema=report["schema"], entity=one["entity"])
        values: dict[str, float] = {
            "spark_cdc_entity_failed": one["state"] == "failed",
            "spark_cdc_entity_waiting": bool(one["waits"]),
        }
        if one["left"] is not None:
            values["spark_cdc_entity_outstanding_loads"] = len(one["left"])
        for name, value in values.items():
            samples.setdefault(name, {})[of_entity] = float(value)
    return samples
