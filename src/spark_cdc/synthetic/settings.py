"""Settings of `spark-cdc generate`: presets, and a file that changes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from spark_cdc import declared
from spark_cdc.errors import UsageError
from spark_cdc.synthetic.delivery import EventShares
from spark_cdc.synthetic.events import EventOptions
from spark_cdc.synthetic.options import refuse
from spark_cdc.synthetic.rows import DELTA_SHARES, FULL_SHARES, RowOptions, Shares

Options = RowOptions | EventOptions
ROW_DAYS = tuple(RowOptions.days)
EVENT_DAYS = ("2019-06-18", "2019-06-19", "2019-06-20", "2019-06-21")
# Of the command line, so that no file names them.
OF_COMMAND_LINE = ("out", "days")


@dataclass(frozen=True)
class Preset:
    """What to generate, for `--help` in a line; its settings, and the dates without `--days`."""

    text: str
    kind: type[RowOptions] | type[EventOptions]
    days: Sequence[str]
    settings: Mapping[str, object]


PRESETS: Mapping[str, Preset] = {
    "full": Preset("all rows on each date", RowOptions, ROW_DAYS, {}),
    "deltas": Preset(
        "all rows on the first date, then changed ones", RowOptions, ROW_DAYS, {"delta": 100}
    ),
    "events": Preset(
        "change events in rows, with the true state after each load", EventOptions, EVENT_DAYS, {}
    ),
    "debezium": Preset(
        "the same as Debezium's messages",
        EventOptions,
        EVENT_DAYS,
        {"events_format": "debezium"},
    ),
}


def read(path: Path | None) -> Mapping[str, object]:
    """Return the settings of a file; none without one.

    Raises UsageError for a file that can't be read, or is no mapping.
    """
    if path is None:
        return {}
    try:
        found = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        why = " ".join(str(error).split())
        raise UsageError(f"--settings {path}: it can't be read: {why}", "Correct it.") from error
    if not isinstance(found, dict):
        raise UsageError(
            f"--settings {path} holds no settings. Accepted are lines such as delta: 50.",
            "Correct it.",
        )
    return {str(name): value for name, value in found.items()}


def options(name: str, settings: Mapping[str, object], **given: object) -> Options:
    """Return the options of a preset, with the settings of a file and what the command line gives.

    Raises SparkCdcError with all that is wrong with the file's settings.
    """
    preset = PRESETS[name]
    of_shares = EventShares if preset.kind is EventOptions else Shares
    shares = settings.get("shares", {})
    problems = _problems(preset.kind, settings, "")
    if isinstance(shares, dict):
        problems += _problems(of_shares, shares, "shares.")
    refuse(problems)
    values: dict[str, Any] = {"days": preset.days, **preset.settings, **settings, **given}
    if "shares" in settings:
        values["shares"] = _shares(preset.kind, values)
    if "delimiter" in values:
        values["delimiter"] = values["delimiter"].replace("\\t", "\t")
    return preset.kind(**values)


def _shares(kind: type[Options], values: Mapping[str, Any]) -> Shares | EventShares:
    given: dict[str, float] = values["shares"]
    if kind is EventOptions:
        return EventShares(**given)
    if values.get("delta") is not None:
        return replace(DELTA_SHARES, **given)
    new = given.get("deleted", FULL_SHARES.deleted)  # a full set keeps its size
    return replace(FULL_SHARES, **({"new": new} | given))


def _problems(kind: type, given: Mapping[str, object], above: str) -> list[str]:
    """Return what is wrong with the names and types of settings."""
    types = get_type_hints(kind)
    known = [one.name for one in fields(kind) if one.name not in OF_COMMAND_LINE]
    problems = []
    for name, value in given.items():
        if name not in known:
            close = declared.close(name, known)
            hint = f"did you mean {close}?" if close else f"accepted are {', '.join(known)}"
            problems.append(f"the setting {above}{name} is unknown: {hint}")
        elif not _fits(value, str(types[name])):
            problems.append(f"{above}{name} is {value!r}; accepted is {_accepted(types[name])}")
    return problems


def _fits(value: object, hint: str) -> bool:
    if isinstance(value, bool):
        return False
    if "Shares" in hint:
        return isinstance(value, dict)
    if "Sequence" in hint:
        return isinstance(value, list) and all(type(one) is int for one in value)
    if "float" in hint:
        return isinstance(value, int | float)
    return isinstance(value, int if "int" in hint else str)


def _accepted(hint: object) -> str:
    texts = {
        "Shares": "names and shares, such as {deleted: 0.1}",
        "Sequence": "a list of whole numbers, such as [3, 5]",
        "float": "a share, such as 0.1",
        "int": "a whole number",
    }
    return next((text for name, text in texts.items() if name in str(hint)), "a text")
