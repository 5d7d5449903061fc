"""`spark-cdc generate`: bytes, counts and refusals."""

from __future__ import annotations

import hashlib
import re
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest

from spark_cdc import cli
from spark_cdc.errors import SparkCdcError
from spark_cdc.server.session import start_session
from spark_cdc.synthetic import rows as synthetic_rows
from spark_cdc.synthetic import settings
from spark_cdc.synthetic.events import EventOptions
from spark_cdc.synthetic.options import MAX_ROWS
from spark_cdc.synthetic.rows import COMPRESSIONS, Day, RowOptions, Shares, generate_rows

pytestmark = [pytest.mark.proves("harness"), pytest.mark.integration]

DAYS = ("2019-06-18", "2019-06-19", "2019-06-20", "2019-06-21")


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() or start_session()


def generated(out: Path, **options) -> list[Day]:
    return generate_rows(RowOptions(out=out, **options))


def rows_of(folder: Path, sep: str = ",") -> list[dict[str, str]]:
    """Rows of plain CSV files, which need no quotes here."""
    rows = []
    for file in sorted(folder.iterdir()):
        header, *lines = file.read_text().splitlines()
        names = header.split(sep)
        rows += [dict(zip(names, line.split(sep), strict=True)) for line in lines]
    return rows


def by_key(folder: Path, keys: int = 5) -> dict[tuple[str, ...], tuple[str, ...]]:
    result = {}
    for row in rows_of(folder):
        key = tuple(row[f"key{i}"] for i in range(1, keys + 1))
        assert key not in result
        result[key] = tuple(value for name, value in row.items() if name.startswith("value"))
    return result


def compared(before: dict, after: dict) -> tuple[int, int, int, int]:
    """Numbers of unchanged, updated, deleted and new keys."""
    both = before.keys() & after.keys()
    unchanged = sum(before[key] == after[key] for key in both)
    return unchanged, len(both) - unchanged, len(before) - len(both), len(after) - len(both)


def digest(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def classic(spark, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("classic")
    generated(out)
    return out


def test_classic_set_has_exact_shares(classic):
    first, second = by_key(classic / "2019-06-18"), by_key(classic / "2019-06-19")
    assert len(first) == len(second) == 10_000
    assert compared(first, second) == (4_000, 4_000, 2_000, 2_000)


def test_keys_are_uuids_and_values_numbers(classic):
    rows = rows_of(classic / "2019-06-18")
    assert list(rows[0]) == [f"key{i}" for i in range(1, 6)] + [f"value{i}" for i in range(1, 11)]
    uuid = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    keys = [value for row in rows for name, value in row.items() if name.startswith("key")]
    assert all(uuid.fullmatch(key) for key in keys)
    assert len(set(keys)) == len(keys)
    values = [float(row["value7"]) for row in rows]
    assert 0 <= min(values) < 1_000 and 999_000 < max(values) < 1_000_000
    assert 480_000 < sum(values) / len(values) < 520_000


def test_changes_are_spread_over_the_set(classic):
    first = list(by_key(classic / "2019-06-18"))
    second = by_key(classic / "2019-06-19")
    gone = [position for position, key in enumerate(first) if key not in second]
    per_tenth = [sum(p // 1_000 == tenth for p in gone) for tenth in range(10)]
    assert all(150 < count < 250 for count in per_tenth)


@pytest.mark.parametrize(
    ("fmt", "compression", "names"),
    [
        ("csv", None, "part-00000.csv"),
        ("csv", "gzip", "part-00000.csv.gz"),
        ("json", None, "part-00000.json"),
        ("parquet", None, "part-00000.parquet"),
        ("orc", "zstd", "part-00000.orc"),
    ],
)
def test_same_seed_same_bytes(spark, tmp_path, fmt, compression, names):
    def options(seed):
        return {"rows": 50, "seed": seed, "file_format": fmt, "compression": compression}

    generated(tmp_path / "a", **options(7))
    generated(tmp_path / "b", **options(7))
    generated(tmp_path / "c", **options(8), days=DAYS[:1])
    same = digest(tmp_path / "a")
    assert same == digest(tmp_path / "b")
    assert list(same) == [f"{day}/{names}" for day in DAYS[:2]]
    assert same[f"{DAYS[0]}/{names}"] != digest(tmp_path / "c")[f"{DAYS[0]}/{names}"]


def test_bytes_stay_those_of_this_version(classic):
    found = hashlib.sha256((classic / "2019-06-19" / "part-00000.csv").read_bytes()).hexdigest()
    assert found == "d9c48048a51449b20730665f1b3ecae9ac5ebfe5130db3f668e2fb99220d93f9"


def test_formats_hold_the_same_rows(spark, tmp_path):
    options = {"rows": 30, "days": DAYS[:1]}
    rows = {}
    for fmt in COMPRESSIONS:
        generated(tmp_path / fmt, file_format=fmt, **options)
        reader = spark.read.options(header=True, inferSchema=True) if fmt == "csv" else spark.read
        frame = reader.format(fmt).load(str(tmp_path / fmt / DAYS[0]))
        names = sorted(frame.columns)
        rows[fmt] = sorted(frame.select(*names).collect())
        assert dict(frame.dtypes)["value1"] == "double"
    assert rows["csv"] == rows["json"] == rows["parquet"] == rows["orc"]


def test_several_days_follow_from_one_another(spark, tmp_path):
    days = generated(tmp_path, rows=200, days=DAYS, keys=2, values=1)
    sets = [by_key(tmp_path / day, keys=2) for day in DAYS]
    for before, after in pairwise(sets):
        assert compared(before, after) == (80, 80, 40, 40)
    assert [day.rows for day in days] == [200] * 4
    # A key that went never returns, and later days do not change earlier ones.
    assert not (sets[0].keys() - sets[1].keys()) & sets[3].keys()
    generated(tmp_path / "short", rows=200, days=DAYS[:2], keys=2, values=1)
    assert digest(tmp_path / "short" / DAYS[1]) == digest(tmp_path / DAYS[1])


def test_since_writes_only_later_days(spark, tmp_path):
    generated(tmp_path / "all", rows=20, days=DAYS[:3])
    generated(tmp_path / "since", rows=20, days=DAYS[:3], since=DAYS[2])
    assert [path.name for path in (tmp_path / "since").iterdir()] == [DAYS[2]]
    assert digest(tmp_path / "since" / DAYS[2]) == digest(tmp_path / "all" / DAYS[2])


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_tiny_sets(spark, tmp_path, rows):
    written = generated(tmp_path, rows=rows)
    found = compared(*(by_key(tmp_path / day) for day in DAYS[:2]))
    assert found == (written[1].unchanged, written[1].updated, written[1].deleted, written[1].new)
    assert sum(found[:3]) == rows


def test_files_depend_on_rows_alone(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(synthetic_rows, "ROWS_PER_FILE", 40)
    generated(tmp_path, rows=100, days=DAYS[:1])
    assert sorted(path.name for path in (tmp_path / DAYS[0]).iterdir()) == [
        f"part-0000{i}.csv" for i in range(3)
    ]
    assert len(by_key(tmp_path / DAYS[0])) == 100


def test_a_day_is_replaced_as_a_whole(spark, tmp_path):
    generated(tmp_path, rows=5, days=DAYS[:1])
    (tmp_path / DAYS[0] / "left-over.csv").write_text("old")
    generated(tmp_path, rows=6, days=DAYS[:1])
    assert [path.name for path in tmp_path.iterdir()] == [DAYS[0]]
    assert [path.name for path in (tmp_path / DAYS[0]).iterdir()] == ["part-00000.csv"]


def test_a_failed_write_leaves_the_day_as_it_was(spark, tmp_path, monkeypatch):
    generated(tmp_path, rows=5, days=DAYS[:1])
    before = digest(tmp_path)

    def fail(folder, options):
        raise OSError("disk full")

    monkeypatch.setattr(synthetic_rows, "_name_files", fail)
    with pytest.raises(OSError, match="disk full"):
        generated(tmp_path, rows=6, days=DAYS[:1])
    assert digest(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == [DAYS[0]]


def test_a_file_in_the_way_is_named(spark, tmp_path):
    (tmp_path / DAYS[0]).write_text("a file")
    with pytest.raises(SparkCdcError, match=r"2019-06-18 is a file") as error:
        generated(tmp_path, rows=5)
    assert "--out" in error.value.next_step


def test_delta_has_the_operations_asked_for(spark, tmp_path):
    shares = Shares(unchanged=0.1, updated=0.4, deleted=0.3, new=0.2)
    generated(tmp_path, rows=500, delta=100, days=DAYS, shares=shares, values=2)
    state = by_key(tmp_path / DAYS[0])
    assert all(row["op"] == "I" for row in rows_of(tmp_path / DAYS[0]))
    for day in DAYS[1:]:
        rows = rows_of(tmp_path / day)
        changed = by_key(tmp_path / day)
        ops = {tuple(row[f"key{i}"] for i in range(1, 6)): row["op"] for row in rows}
        counts = {"I": 0, "U": 0, "same": 0, "D": 0}
        for key, values in changed.items():
            op = ops[key]
            assert (key in state) == (op != "I")
            if op == "D":
                assert state.pop(key) == values
            elif op == "U" and state[key] == values:
                op = "same"
            else:
                state[key] = values
            counts[op] += 1
        assert counts == {"I": 20, "U": 40, "same": 10, "D": 30}
        # Operations are mixed.
        assert len({row["op"] for row in rows[:20]}) > 1


def test_delta_without_deletes_has_no_op(spark, tmp_path):
    generated(tmp_path, rows=100, delta=20)
    generated(tmp_path / "full", rows=100, days=DAYS[:1])
    assert "op" not in rows_of(tmp_path / DAYS[1])[0]
    assert digest(tmp_path / DAYS[0]) == digest(tmp_path / "full" / DAYS[0])
    found = compared(by_key(tmp_path / DAYS[0]), by_key(tmp_path / DAYS[1]))
    assert found == (5, 10, 85, 5)


def test_permutations_are_bijections():
    for size in [1, 2, 3, 4, 6, 30, 97, 1_000]:
        for name in "abc":
            permutation = synthetic_rows._Permutation.of(size, name)
            image = {(permutation.factor * x + permutation.shift) % size for x in range(size)}
            assert image == set(range(size))
    largest = synthetic_rows._Permutation.of(MAX_ROWS, "large")
    assert largest.factor * MAX_ROWS + largest.shift < 2**63


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 0}, "rows is 0; accepted are whole numbers from 1"),
        ({"days": ["2019-02-30"]}, "'2019-02-30' is not a date; accepted are dates such as"),
        ({"days": ["20190618"]}, "'20190618' is not a date"),
        ({"days": []}, "days is empty"),
        ({"days": ["2019-06-19", "2019-06-18"]}, "do not ascend"),
        ({"days": ["2019-06-18", "2019-06-18"]}, "do not ascend"),
        ({"since": "2020-01-01"}, "since is 2020-01-01, after the last day"),
        ({"file_format": "xml"}, "file_format is 'xml'; accepted are csv, json, parquet, orc"),
        ({"compression": "snappy"}, "compression is 'snappy'; accepted for csv are none, gzip"),
        ({"delimiter": "1"}, "delimiter is '1'; accepted are"),
        ({"keys": 0}, "keys is 0; accepted are 1 to 500"),
        ({"values": 0}, "values is 0; accepted are 1 to 500"),
        ({"seed": 2**63}, "accepted are whole numbers of 64 bits"),
        ({"shares": Shares(0.5, 0.4, 0.2, 0.2)}, "add up to 1.1; accepted are shares that add up"),
        ({"shares": Shares(1.5, -0.5, 0.0, 0.0)}, "accepted are numbers from 0 to 1"),
        ({"shares": Shares(0.4, 0.4, 0.2, 0.3)}, "a full set keeps its size"),
    ],
)
def test_options_are_refused(tmp_path, options, message):
    with pytest.raises(SparkCdcError) as error:
        generated(tmp_path, **options)
    assert message in error.value.message
    assert "--help" in error.value.next_step
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0}, "delta is 0; accepted are whole numbers from 1"),
        ({"shares": Shares(0.4, 0.4, 0.2, 0.2)}, "which add up to 1.2"),
        ({"rows": 100, "delta": 80, "days": DAYS}, "3 deltas touch 60 rows each"),
    ],
)
def test_deltas_are_refused(tmp_path, options, message):
    with pytest.raises(SparkCdcError) as error:
        generated(tmp_path, **{"delta": 1_000, **options})
    assert message in error.value.message


def test_all_problems_come_at_once(tmp_path):
    with pytest.raises(SparkCdcError) as error:
        generated(tmp_path, rows=0, file_format="xml", days=["x"])
    assert error.value.message.count("\n  - ") == 3


def test_memory_is_checked():
    with pytest.raises(SparkCdcError, match="memory is 'lots'"):
        start_session("lots")


def command(*arguments: str) -> int:
    return cli.main(["generate", *arguments])


def test_command_line(spark, tmp_path, capsys):
    file = tmp_path / "settings.yml"
    file.write_text('{delimiter: "\\t", shares: {deleted: 0, updated: 0.6}}')
    days = ["--days", "2024-02-28..2024-03-01", "2024-03-05", "--rows", "10"]
    assert command("--out", str(tmp_path / "out"), *days, "--settings", str(file)) == 0
    expected = ["2024-02-28", "2024-02-29", "2024-03-01", "2024-03-05"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == expected
    assert len(rows_of(tmp_path / "out" / "2024-03-05", sep="\t")) == 10
    assert "10 rows (4 unchanged, 6 updated)" in capsys.readouterr().err


def test_command_line_delta(spark, tmp_path):
    file = tmp_path / "settings.yml"
    file.write_text("delta: 10\nshares: {deleted: 0.25, new: 0}")
    words = ["--preset", "deltas", "--settings", str(file), "--rows", "100"]
    assert command("--out", str(tmp_path / "out"), *words) == 0
    assert {row["op"] for row in rows_of(tmp_path / "out" / "2019-06-19")} == {"U", "D"}


@pytest.mark.parametrize("name", settings.PRESETS)
def test_presets_write_what_they_say(name, spark, tmp_path):
    assert command("--preset", name, "--out", str(tmp_path), "--rows", "1000") == 0
    preset = settings.PRESETS[name]
    folder = tmp_path / "stream" if preset.kind is EventOptions else tmp_path
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == [*preset.days]
    [of_last] = (folder / preset.days[-1]).iterdir()
    lines = of_last.read_text().splitlines()
    if name in ("full", "deltas"):
        assert len(lines) - 1 == {"full": 1000, "deltas": 100}[name]
    else:
        assert lines[0].startswith({"events": "op,", "debezium": "{"}[name])


@pytest.mark.parametrize(
    ("preset", "text", "messages"),
    [
        ("full", "[1]", ["holds no settings. Accepted are lines such as delta: 50."]),
        ("full", "rows: [", ["it can't be read"]),
        ("full", "row: 5", ["the setting row is unknown: did you mean rows?"]),
        ("full", "days: [2024-01-01]", ["the setting days is unknown"]),
        ("deltas", "events: 5", ["the setting events is unknown: accepted are rows, delta"]),
        ("events", "delta: 5", ["the setting delta is unknown"]),
        (
            "events",
            "{keys: true, truncates: 3, late: 1, shares: {late: much, lat: 0}}",
            [
                "keys is True; accepted is a whole number",
                "truncates is 3; accepted is a list of whole numbers",
                "late is 1; accepted is a text",
                "shares.late is 'much'; accepted is a share",
                "the setting shares.lat is unknown: did you mean late?",
            ],
        ),
        ("full", "shares: 0.5", ["shares is 0.5; accepted is names and shares"]),
    ],
)
def test_wrong_settings_are_named(preset, text, messages, tmp_path, capsys):
    file = tmp_path / "settings.yml"
    file.write_text(text)
    words = ["--preset", preset, "--settings", str(file), "--out", str(tmp_path / "out")]
    assert command(*words) in (1, 2)
    said = capsys.readouterr().err
    assert [message for message in messages if message not in said] == []
    assert not (tmp_path / "out").exists()


def test_settings_of_the_page_are_those_that_are_accepted():
    page = (Path(__file__).parents[1] / "docs" / "generate_events.md").read_text("utf-8")
    for kind, heading in ((RowOptions, "## Rows"), (EventOptions, "## Change events")):
        text = page.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
        cells = re.findall(r"^\| (`[a-z_`, ]+) \|", text, re.M)
        named = {name for cell in cells for name in re.findall(r"`([a-z_]+)`", cell)}
        named |= {"shares"} if "`shares`" in text else set()
        known = {one.name for one in fields(kind)} - set(settings.OF_COMMAND_LINE)
        assert named >= known
