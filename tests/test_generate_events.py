"""`spark-cdc generate --preset events`: bytes, shares, cases, and the truth against the oracle.

The oracle applies the messages of the files; it knows nothing of the table that the truth is of.
"""

from __future__ import annotations

import csv
import itertools
import json
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from event_oracle import Event, State
from spark_cdc import cli
from spark_cdc.errors import SparkCdcError
from spark_cdc.server.session import start_session
from spark_cdc.synthetic import files
from spark_cdc.synthetic.delivery import LATE, EventShares
from spark_cdc.synthetic.events import EventOptions, generate_events
from spark_cdc.synthetic.formats import FORMATS
from spark_cdc.synthetic.values import UNAVAILABLE as MARK
from test_generate import digest

pytestmark = [pytest.mark.proves("harness"), pytest.mark.integration]

DAYS = ("2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02")
NAMES = ("text1", "amount2", "number3", "day4", "flag5")
OPTIONS = EventOptions(
    events=3_000,
    keys=200,
    days=DAYS,
    truncates=(3,),
    shares=EventShares(
        insert=0.2, delete=0.18, key_change=0.1, swap=0.04, late=0.1, duplicate=0.05, repeat=0.05
    ),
)
# --- reading ------------------------------------------------------------------


def csv_lines(folder: Path) -> list[dict[str, str | None]]:
    """Rows of CSV; null (nothing between the separators) differs from a quoted empty text."""
    rows = []
    for file in sorted(folder.iterdir()):
        text = file.read_text(encoding="utf-8").replace(',""', ',"<empty>"')
        for row in csv.DictReader(text.splitlines(), strict=True):
            rows.append(
                {
                    name: None if value == "" else "" if value == "<empty>" else value
                    for name, value in row.items()
                }
            )
    return rows


def event(op: str, position: tuple[int, ...], transaction: Any, old: Any, key: Any, row: dict):
    """An event as the oracle takes it; `row` has the columns that are there."""
    return Event(
        op,
        position,
        str(transaction),
        None if old is None else (int(old),),
        None if key is None else (int(key),),
        tuple((name, text_of(row[name])) for name in NAMES if row.get(name, MARK) != MARK),
        tuple(name for name in NAMES if row.get(name) == MARK),
    )


def flagged_event(row: dict[str, str | None]) -> Event:
    ops = {"I": "insert", "U": "update", "D": "delete", "T": "truncate", "R": "read"}
    op, position = ops[row["op"]], (int(row["commit_seq"]), int(row["event_seq"]))
    if op in ("delete", "truncate"):
        return event(op, position, row["tx"], row["id"], None, {})
    return event(op, position, row["tx"], row["old_id"], row["id"], row)


def debezium_event(line: str) -> Event:
    message = json.loads(line, parse_float=str)
    codes = {"c": "insert", "u": "update", "d": "delete", "t": "truncate", "r": "read"}
    op = codes.get(message["op"], "control")
    sequence = json.loads(message["source"]["sequence"])
    old = message["before"]["id"] if op == "delete" else None
    row = message["after"] or {}
    if row.get("day4") is not None:
        row["day4"] = str(date(1970, 1, 1) + timedelta(days=row["day4"]))
    position = tuple(int(number or 0) for number in sequence)
    return event(op, position, message["source"]["txId"], old, row.get("id"), row)


def arrays_event(line: str) -> Event:
    message = json.loads(line, parse_float=str)
    row = dict(zip(message.get("columnNames", ()), message.get("columnValues", ()), strict=True))
    old = message.get("oldKeyValues", [None])[0]
    position = (message["commit"], message["sequence"])
    return event(message["changeType"], position, message["xid"], old, row.get("id"), row)


def text_of(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def events_of(folder: Path, events_format: str) -> list[Event]:
    if events_format == "flagged_rows":
        return [flagged_event(row) for row in csv_lines(folder)]
    parse = debezium_event if events_format == "debezium" else arrays_event
    return [
        parse(line)
        for file in sorted(folder.iterdir())
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def truth_of(folder: Path) -> dict[int, dict[str, str | None]]:
    rows = {}
    for row in csv_lines(folder):
        key = int(row.pop("id"))
        assert key not in rows
        rows[key] = row
    return rows


# --- what is generated --------------------------------------------------------


@pytest.fixture(scope="module", params=FORMATS)
def generated(request, tmp_path_factory) -> tuple[EventOptions, list]:
    out = tmp_path_factory.mktemp(request.param)
    options = replace(OPTIONS, out=out, events_format=request.param)
    return options, generate_events(options)


@pytest.mark.parametrize("events_format", FORMATS)
@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_truth_is_what_the_oracle_makes_of_the_events(tmp_path, events_format, late, seed):
    options = replace(
        OPTIONS, out=tmp_path, events_format=events_format, late=late, seed=seed, events=1_500
    )
    counts = generate_events(options)
    state = State(NAMES)
    before: dict[int, dict] = {}
    for day, count in zip(DAYS, counts, strict=True):
        result = state.apply_load(events_of(tmp_path / "stream" / day, events_format), day)
        truth = truth_of(tmp_path / "stream_truth" / day)
        assert {key[0]: row.values for key, row in state.rows.items()} == truth
        for row in csv_lines(tmp_path / "stream_net" / day):
            key, op = int(row.pop("id")), row.pop("op")
            assert (op in "UD") == (key in before)
            assert row == (before.pop(key) if op == "D" else truth[key])
            if op != "D":
                before[key] = row
        assert before == truth
        assert result.counts["I"] == count.net_inserts
        assert result.counts["U"] + result.counts["N"] == count.net_updates
        assert result.counts["D"] == count.net_deletes
        assert result.counts["events"] == count.messages
        assert result.counts["control"] >= count.controls  # some are sent twice


@pytest.mark.parametrize("op", ["insert", "update", "delete"])
def test_an_event_that_is_lost_is_noticed(generated, op):
    """The check above can fail: the truth does not follow from the events."""
    options, _ = generated
    loads = [events_of(options.out / "stream" / day, options.events_format) for day in DAYS[:2]]
    truth = truth_of(options.out / "stream_truth" / DAYS[1])
    newest = {}
    for one in sorted(loads[1], key=lambda one: one.position):
        newest.update((key, one) for key in (one.old_key, one.key) if key is not None)
    lost = next(one for one in newest.values() if one.op == op and one not in loads[0])
    state = State(NAMES)
    for day, events in zip(DAYS, loads, strict=False):
        state.apply_load([one for one in events if one != lost], day)
    assert {key[0]: row.values for key, row in state.rows.items()} != truth


def test_late_events_of_any_kind_show_in_the_truth(tmp_path):
    """With late=any the state after a load lacks what comes with the next one."""
    for late in LATE:
        generate_events(replace(OPTIONS, out=tmp_path / late, late=late))
    easy, hard = (digest(tmp_path / late / "stream_truth") for late in LATE)
    assert easy["2024-02-28/part-00000.csv"] == hard["2024-02-28/part-00000.csv"]
    assert easy["2024-03-01/part-00000.csv"] != hard["2024-03-01/part-00000.csv"]


def test_same_seed_same_bytes(generated, tmp_path):
    options, counts = generated
    again = replace(options, out=tmp_path)
    assert generate_events(again) == counts
    assert without_paths(tmp_path) == without_paths(options.out)
    generate_events(replace(again, seed=43))
    assert without_paths(tmp_path) != without_paths(options.out)


def without_paths(folder: Path) -> dict[str, str]:
    return {name: text for name, text in digest(folder).items() if not name.endswith(".yml")}


def test_truth_does_not_depend_on_format_or_delivery(tmp_path):
    quiet = replace(OPTIONS.shares, late=0, duplicate=0, repeat=0, snapshot=0, partial=0)
    reference = replace(OPTIONS, out=tmp_path / "a", shares=quiet)
    generate_events(reference)
    loud = replace(quiet, late=0.3, duplicate=0.3, repeat=0.3, snapshot=0.1)
    for number, events_format in enumerate(FORMATS):
        other = replace(
            reference, out=tmp_path / str(number), shares=loud, events_format=events_format
        )
        generate_events(other)
        assert digest(other.out / "stream_truth") == digest(reference.out / "stream_truth")


def test_shares_are_met(generated):
    options, counts = generated
    shares = options.shares
    for load in counts[1:]:
        assert load.inserts == pytest.approx(shares.insert * options.events, rel=0.45)
        assert load.updates == pytest.approx(shares.update * options.events, rel=0.2)
        assert load.deletes == pytest.approx(shares.delete * options.events, rel=0.45)
        assert load.key_changes == pytest.approx(shares.key_change * options.events, rel=0.4)
        assert load.duplicates == pytest.approx(shares.duplicate * load.messages, rel=0.4)
        assert load.swaps > 5
        changes = load.updates + load.key_changes + 2 * load.swaps
        assert load.partial == pytest.approx(shares.partial * changes, rel=0.5)
    for load in counts[2:]:
        assert load.repeated == pytest.approx(shares.repeat * load.messages, rel=0.4)
        assert 0.15 * shares.late < load.late / load.messages < shares.late


def test_every_case_occurs(generated):
    options, counts = generated
    assert sum(load.shifts for load in counts) > 5
    assert [load.truncates for load in counts] == [0, 0, 1, 0]
    loads = [events_of(options.out / "stream" / day, options.events_format) for day in DAYS]
    seen: set[Event] = set(loads[0])
    applied: dict[Any, tuple[int, ...]] = {}
    found: Counter[str] = Counter()
    for load in loads[1:]:
        found["duplicate"] += len(load) - len(set(load))
        found["repeated"] += len(seen & set(load))
        newest = dict(applied)
        for event in set(load) - seen:
            for key in {event.key, event.old_key} - {None}:
                if event.op != "read":
                    found["late"] += event.position < applied.get(key, ())
                    newest[key] = max(newest.get(key, ()), event.position)
            moves = event.op == "update" and event.old_key not in (None, event.key)
            is_partial = len(event.values) < len(NAMES)
            found[event.op] += 1
            found["partial"] += event.op == "update" and is_partial
            found["partial key change"] += (event.op == "insert" or moves) and is_partial
            found["null"] += (NAMES[0], None) in event.values
            found["empty"] += (NAMES[0], "") in event.values
        assert load != sorted(load, key=lambda event: event.position)
        seen |= set(load)
        applied = newest
    wanted = {"insert", "update", "delete", "truncate", "duplicate", "repeated", "late", "partial"}
    wanted |= {"partial key change", "null", "empty", "read"}
    if options.events_format == "debezium":
        wanted.add("control")
    assert wanted <= {name for name, count in found.items() if count}


def test_events_of_a_transaction_are_contiguous(generated):
    options, _ = generated
    events = {
        event
        for day in DAYS
        for event in events_of(options.out / "stream" / day, options.events_format)
        if event.op != "read"
    }
    ordered = [event.transaction for event in sorted(events, key=lambda event: event.position)]
    changes = sum(one != other for one, other in itertools.pairwise(ordered))
    assert changes + 1 == len(set(ordered))


def test_many_files_hold_the_same_events(tmp_path, monkeypatch):
    options = replace(OPTIONS, days=DAYS[:2], truncates=())
    generate_events(replace(options, out=tmp_path / "one"))
    monkeypatch.setattr(files, "LINES_PER_FILE", 400)
    monkeypatch.setattr(files, "BUFFERED_LINES", 150)
    generate_events(replace(options, out=tmp_path / "many"))
    for folder in ("stream", "stream_truth", "stream_net"):
        one, many = (csv_lines(tmp_path / name / folder / DAYS[1]) for name in ("one", "many"))
        assert Counter(map(str, one)) == Counter(map(str, many))
    names = sorted(file.name for file in (tmp_path / "many/stream" / DAYS[1]).iterdir())
    assert names == [f"part-{number:05}.csv" for number in range(8)]


def test_rows_beyond_the_keys_stay_until_a_truncate(tmp_path):
    options = replace(OPTIONS, out=tmp_path, rows=1_000, events=300)
    counts = generate_events(options)
    truths = [truth_of(tmp_path / "stream_truth" / day) for day in DAYS]
    assert [load.rows for load in counts] == [len(truth) for truth in truths]
    beyond = range(200, 1_000)
    assert all(truths[0][key] == truths[1][key] for key in beyond)
    assert not truths[2].keys() & set(beyond)
    deleted = {int(row["id"]) for row in csv_lines(tmp_path / "stream_net" / DAYS[2])}
    assert set(beyond) <= deleted
    for number, day in enumerate(DAYS):
        ops = Counter(row["op"] for row in csv_lines(tmp_path / "stream_net" / day))
        load = counts[number]
        assert ops["I"] == load.net_inserts
        assert ops["U"] == load.net_updates
        assert ops["D"] == load.net_deletes


@pytest.mark.full
def test_parquet_holds_the_rows_of_csv(tmp_path):
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession() or start_session()
    options = replace(OPTIONS, events=300, days=DAYS[:2], truncates=())
    generate_events(replace(options, out=tmp_path / "csv"))
    parquet = replace(options, out=tmp_path / "parquet", file_format="parquet")
    generate_events(parquet, spark)
    frame = spark.read.parquet(str(tmp_path / "parquet/stream" / DAYS[1]))
    types = dict(frame.dtypes)
    assert (types["commit_seq"], types["changed_at"], types["amount2"], types["day4"]) == (
        "bigint",
        "timestamp",
        "decimal(12,2)",
        "date",
    )
    rows = Counter(
        tuple(row)
        for row in frame.selectExpr(
            *(f"cast({n} as string)" for n in ("op", "id", *NAMES))
        ).collect()
    )
    expected = csv_lines(tmp_path / "csv/stream" / DAYS[1])
    assert rows == Counter(tuple(row[name] for name in ("op", "id", *NAMES)) for row in expected)
    assert [file.name for file in (tmp_path / "parquet/stream").iterdir()].count(DAYS[1]) == 1


def test_truth_can_be_left_out(tmp_path):
    generate_events(replace(OPTIONS, out=tmp_path, truth="none"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "stream",
        "stream_entities.yml",
        "stream_loads.json",
    ]


def test_yaml_describes_the_entities(generated):
    options, _ = generated
    models = yaml.safe_load((options.out / "stream_entities.yml").read_text())["models"]
    assert [model["name"] for model in models] == [
        "stg_stream",
        "stg_stream_truth",
        "stg_stream_net",
    ]
    settings = models[0]["config"]["meta"]["spark_cdc"]
    assert settings["load_type"] == "events"
    assert settings["events"]["format"] == options.events_format
    assert settings["source"]["path"] == f"{options.out}/stream/{{business_date}}"
    header = csv_lines(options.out / "stream_net" / DAYS[0])[0]
    assert [column["name"] for column in models[2]["columns"]] == list(header)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"events": 0}, "events is 0; accepted are 1 to"),
        ({"keys": 0}, "keys is 0"),
        ({"rows": 5}, "rows is 5; accepted are 200 to"),
        ({"columns": 0}, "columns is 0"),
        ({"days": ()}, "days is empty"),
        ({"entity": "My Table"}, "entity is 'My Table'; accepted are lower-case names"),
        ({"events_format": "xml"}, "events_format is 'xml'; accepted are flagged_rows, debezium"),
        ({"events_format": "debezium", "file_format": "parquet"}, "written as JSON lines"),
        ({"late": "never"}, "late is 'never'; accepted are superseded, any"),
        ({"truncates": (1,)}, "truncates in the loads 1 are not possible; accepted are 2 to 4"),
        ({"shares": EventShares(late=1.5)}, "the shares late 1.5 are not accepted"),
        ({"shares": EventShares(insert=0.6, delete=0.6)}, "add up to 1.26"),
    ],
)
def test_options_are_refused(tmp_path, options, message):
    with pytest.raises(SparkCdcError) as error:
        generate_events(replace(OPTIONS, out=tmp_path, **options))
    assert message in error.value.message
    assert not list(tmp_path.iterdir())


def test_command_line(tmp_path, capsys):
    file = tmp_path / "settings.yml"
    given = {"events": 200, "keys": 50, "columns": 7, "truncates": [2], "entity": "things"}
    file.write_text(json.dumps({**given, "shares": {"swap": 0.1}}))
    words = ["--preset", "events", "--settings", str(file), "--out", str(tmp_path)]
    assert cli.main(["generate", *words, "--days", "2024-02-28..2024-02-29"]) == 0
    assert "2024-02-29: " in capsys.readouterr().out
    rows = csv_lines(tmp_path / "things_net" / "2024-02-28")
    assert len(rows) == 50
    assert list(rows[0]) == ["op", "id", *NAMES, "text6", "amount7"]
    load = json.loads((tmp_path / "things_loads.json").read_text().splitlines()[1])
    assert (load["business_date"], load["truncates"]) == ("2024-02-29", 1)
