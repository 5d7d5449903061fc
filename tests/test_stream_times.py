"""Which business time a batch goes to, when one is closed, and that nothing is lost or doubled.

Without Spark: a broker of a few partitions, what Spark promises of batches, and a landing in
memory, whose process is killed at any write.
"""

from __future__ import annotations

import fnmatch
import itertools
import random
from dataclasses import dataclass, field

import pytest

from spark_cdc.errors import SparkCdcError
from spark_cdc.stream import landing, times
from spark_cdc.stream.journal import KEPT, Journal, dumped, loaded
from spark_cdc.stream.landing import Landing, Summary, stamp

pytestmark = pytest.mark.proves("streams")

ENTITY = {
    "name": "people",
    "kind": "topic",
    "from": "shop.people",
    "encoding": "json",
    "key_encoding": "json",
    "path": "landing/people/{business_date:%Y-%m-%dT%H%M%S}",
    "base": "landing",
    "interval": 10,
}


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Memory:
    """Files; after so many writes more the process is killed, in the middle of one of them."""

    files: dict[str, object] = field(default_factory=dict)
    left: float = float("inf")

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed

    def exists(self, path: str) -> bool:
        return any(name == path or name.startswith(f"{path}/") for name in self.files)

    def names(self, folder: str) -> list[str]:
        below = [name[len(folder) + 1 :] for name in self.files if name.startswith(f"{folder}/")]
        return sorted({name.split("/")[0] for name in below})

    def found(self, pattern: str) -> list[str]:
        folders = {"/".join(name.split("/")[:-1]) for name in self.files}
        return [name for name in folders if fnmatch.fnmatch(name, pattern)]

    def read(self, path: str) -> str:
        return str(self.files[path])

    def write(self, path: str, text: object, anew: bool = False) -> bool:
        if not anew and path in self.files:
            return False
        self._step()
        self.files[path] = str(text)[:5] if self.left == 0 and isinstance(text, str) else text
        self._step()
        return True

    def delete(self, path: str) -> None:
        self._step()
        for name in [one for one in self.files if one == path or one.startswith(f"{path}/")]:
            del self.files[name]


@dataclass
class Messages:
    """Those of a batch: partition, offset and timestamp (ms) of each."""

    rows: list[tuple[str, int, int]]
    files: Memory

    def summary(self) -> Summary:
        high: dict[str, int] = {}
        offsets: dict[str, int] = {}
        for name, offset, time in self.rows:
            high[name] = max(high.get(name, 0), time)
            offsets[name] = max(offsets.get(name, 0), offset + 1)
        return Summary(len(self.rows), high, offsets)

    def write(self, place: str, aside: str) -> int:
        bad = [row for row in self.rows if row[1] % 17 == 3]
        half = len(self.rows) // 2  # a folder is not written in one step
        good = [row for row in self.rows if row not in bad]
        self.files.write(f"{place}/a", good[:half])
        self.files.write(f"{place}/b", good[half:])
        if bad:
            self.files.write(f"{aside}/a", bad)
        return len(bad)


def plan(files: Memory, batch: int) -> None:
    """Spark writes down the offsets of a batch before it hands it on."""
    files.files[f"landing/_stream/people/checkpoint/offsets/{batch}"] = "…"


class Cluster:
    """A broker with partitions, and Spark's logs of batches: offsets before one, commits after."""

    def __init__(self, dice: random.Random, files: Memory) -> None:
        self.dice = dice
        self.files = files
        self.now = 1_700_000_000.0
        self.partitions: dict[str, list[int]] = {f"p-{n}": [] for n in range(dice.randint(1, 3))}
        self.taken = dict.fromkeys(self.partitions, 0)
        self.planned: dict[str, tuple[int, int]] | None = None
        self.batch = 0

    def send(self) -> None:
        """Some messages come, most of the present, some late, a few of a clock that is wrong."""
        for times_of in self.partitions.values():
            for _ in range(self.dice.choice([0, 0, 1, 3, 8])):
                late = self.dice.choice([0, 0, 1, 5, 40, 300, -5000])
                times_of.append(int((self.now - late - self.dice.random()) * 1000))

    def rows(self) -> list[tuple[str, int, int]]:
        """The messages of the batch that is planned; None is planned where nothing has come."""
        if self.planned is None:
            limit = self.dice.choice([1, 3, 100])
            ends = {
                name: min(len(all_of), self.taken[name] + limit)
                for name, all_of in self.partitions.items()
            }
            self.planned = {name: (self.taken[name], end) for name, end in ends.items()}
        plan(self.files, self.batch)
        return [
            (name, offset, self.partitions[name][offset])
            for name, (first, end) in self.planned.items()
            for offset in range(first, end)
        ]

    def commit(self) -> None:
        """Spark notes that the batch is done."""
        assert self.planned is not None
        self.taken = {name: end for name, (_, end) in self.planned.items()}
        self.planned = None
        self.batch += 1


def closed_times(files: Memory) -> dict[str, str]:
    """What is closed, with the name of the marker."""
    paths = [name.split("/") for name in files.files if "/_closed/" in name]
    return {parts[2]: parts[4] for parts in paths}


def content(files: Memory, time: str) -> list[object]:
    """What a load of a business time reads."""
    found = [
        rows
        for name, rows in files.files.items()
        if name.startswith(f"landing/people/{time}/batch=")
    ]
    return sorted(itertools.chain.from_iterable(found))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(200))
def test_nothing_is_lost_or_doubled_whatever_is_killed(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is closed never changes, closes in order, and in the end every message lies once."""
    dice = random.Random(seed)
    files = Memory()
    cluster = Cluster(dice, files)
    monkeypatch.setattr(landing.clock, "time", lambda: cluster.now)
    seen: dict[str, list[object]] = {}

    def work(steps: int, sending: bool) -> None:
        files.left = dice.choice([2, 7, 15, 40, 90]) if sending else float("inf")
        here = Landing(ENTITY, files)
        if dice.random() < 0.5:
            here.close(cluster.now)  # before Spark repeats the batch that had begun
        for _ in range(steps):
            cluster.now += dice.choice([0.5, 2, 9, 30])
            if sending:
                cluster.send()
            if rows := cluster.rows():
                here.land(Messages(rows, files), cluster.batch)
                if sending and dice.random() < 0.1:
                    raise Killed  # before Spark has noted the batch
                cluster.commit()
            else:
                cluster.planned = None
            behind = {name for name, all_of in cluster.partitions.items()
                      if len(all_of) > cluster.taken[name]}  # fmt: skip
            caught_up = {name: cluster.now for name in cluster.partitions if name not in behind}
            here.close(caught_up)
            look()

    def look() -> None:
        closed = closed_times(files)
        for time, rows in seen.items():
            assert content(files, time) == rows, f"{time} changed after it was closed"
        for time in closed:
            seen.setdefault(time, content(files, time))
        row = sorted(closed)
        names = ["first", *(f"after-{time.replace('-', '')}" for time in row)]
        assert [closed[time] for time in row] == names[: len(row)]

    for _ in range(8):
        try:
            work(dice.randint(1, 12), sending=True)
        except Killed:
            look()
    work(60, sending=False)
    cluster.now += 1000
    last = Landing(ENTITY, files)
    last.close(cluster.now)
    look()
    landed = [row for time in closed_times(files) for row in content(files, time)]
    aside = [row for name, rows in files.files.items() if "/_rejected/" in name for row in rows]  # type: ignore[attr-defined]
    sent = sorted(
        (name, offset, time)
        for name, all_of in cluster.partitions.items()
        for offset, time in enumerate(all_of)
    )
    assert sorted([*landed, *aside]) == sent  # type: ignore[type-var]
    state = last.journal.state
    assert (state.messages, state.rejected) == (len(landed), len(aside))
    assert not state.open
    assert state.offsets == {name: len(rows) for name, rows in cluster.partitions.items() if rows}


T = 1_709_547_300  # 2024-03-04 10:15:00


def at(seconds: float) -> int:
    return int((T + seconds) * 1000)


def test_a_batch_goes_to_the_time_of_its_newest_message() -> None:
    state = times.begin(times.State(), 0, [at(3), at(17)], T + 1000, 10)
    assert (state.time, state.done) == (T + 10, False)
    assert times.begin(state, 0, [at(999)], T + 5000, 10) == state  # a repetition, much later


def test_a_closed_time_takes_nothing_more() -> None:
    state = times.State(floor=T + 20, high={"p-0": at(25)})
    assert times.begin(state, 0, [at(3)], T + 30, 10).time == T + 20


def test_a_clock_that_is_ahead_holds_nothing_up() -> None:
    state = times.begin(times.State(), 0, [at(10_000_000)], T + 5, 10)
    assert state.time == T
    state = times.finish(state, 1, 0, {"p-0": at(10_000_000)}, {}, T + 5)
    assert times.due(times.close(state, {}, 10)) == []
    assert times.close(state, {"p-0": T + 10}, 10).floor == T + 10


def test_a_time_is_closed_when_all_partitions_have_passed_it() -> None:
    state = times.State(open={T: 5}, high={"p-0": at(31), "p-1": at(9)})
    assert times.due(times.close(state, {}, 10)) == []
    assert times.due(times.close(state, {"p-1": T + 9.9}, 10)) == []
    assert times.due(times.close(state, {"p-1": T + 10}, 10)) == [times.Marker(T, None)]


def test_a_batch_that_has_begun_holds_its_time_open() -> None:
    state = times.State(batch=4, time=T, done=False, open={T - 10: 1, T: 5}, high={"p-0": at(50)})
    closed = times.close(state, T + 1000, 10)
    assert times.due(closed) == [times.Marker(T - 10, None)]


def test_markers_name_the_one_before() -> None:
    state = times.State(floor=T + 30, open={T: 1, T + 20: 2, T + 30: 3}, last=T - 50)
    markers = times.due(state)
    assert markers == [times.Marker(T, T - 50), times.Marker(T + 20, T)]
    assert times.marked(state, markers).open == {T + 30: 3}
    assert times.marked(state, markers).last == T + 20
    assert stamp(T) == "20240304T101500"


def test_a_state_that_was_not_written_whole_does_not_count() -> None:
    files = Memory()
    journal = Journal(files, "j")
    for batch in range(KEPT + 5):
        journal.write(times.State(batch=batch, open={T: batch}, high={"p-0": 7}))
    assert len(files.files) == KEPT
    files.files[f"j/{KEPT + 5:010d}.json"] = dumped(times.State(batch=99))[:20]
    again = Journal(files, "j")
    assert again.state.batch == KEPT + 4
    assert again.state.open == {T: KEPT + 4}
    again.write(again.state)
    assert loaded(files.read(f"j/{KEPT + 6:010d}.json")) == again.state


def test_two_streams_of_one_entity_are_noticed() -> None:
    files = Memory()
    one, other = Landing(ENTITY, files), Landing(ENTITY, files)
    one.land(Messages([("p-0", 0, at(1))], files), 0)
    with pytest.raises(SparkCdcError, match="two streams of one entity"):
        other.land(Messages([("p-0", 0, at(1))], files), 0)


def test_another_source_than_that_of_the_checkpoint_is_refused() -> None:
    files = Memory()
    Landing(ENTITY, files)
    with pytest.raises(SparkCdcError, match=r"from was 'shop\.people', is 'shop\.persons'"):
        Landing(ENTITY | {"from": "shop.persons"}, files)


def test_a_landing_without_its_checkpoint_is_refused() -> None:
    """Be it Spark's, or all of it; and one of Spark's that begins anew, or is ahead."""
    files = Memory()
    here = Landing(ENTITY, files)
    here.land(Messages([("p-0", 0, at(1))], files), 0)
    here.land(Messages([("p-0", 1, at(2))], files), 1)
    for batch in (0, 3):
        with pytest.raises(SparkCdcError, match=f"Spark hands on batch {batch} after 1"):
            here.land(Messages([("p-0", 2, at(3))], files), batch)
    with pytest.raises(SparkCdcError, match="batch 1 of the journal is not in landing/_stream"):
        Landing(ENTITY, files)
    plan(files, 1)
    assert Landing(ENTITY, files).journal.state.batch == 1
    files.delete("landing/_stream")
    with pytest.raises(SparkCdcError, match="of which there is no checkpoint"):
        Landing(ENTITY, files)


class Hadoop(Memory):
    """A file system that names what it finds with its scheme, as Hadoop's do."""

    def found(self, pattern: str) -> list[str]:
        plain = super().found(pattern)
        return [f"file:{name}" if name.startswith("/") else name for name in plain]

    def delete(self, path: str) -> None:
        super().delete(path.removeprefix("file:"))


@pytest.mark.parametrize("base", ["landing", "/srv/landing", "s3a://lake/landing"])
@pytest.mark.parametrize("form", ["%Y-%m-%dT%H%M%S", "at=%Y%m%d/%H/%M%S"])
def test_retention_drops_what_is_closed_and_older(base: str, form: str) -> None:
    files = Hadoop()
    entity = {**ENTITY, "base": base, "path": f"{base}/people/{{business_date:{form}}}"}
    kept = Landing(entity, files, is_read_only=True)
    first, second, third = (1_709_547_300 + 10 * number for number in range(3))
    for time in (first, second):
        files.files[f"{kept.folder(time)}/_closed/first"] = "{}"
    files.files[f"{kept.folder(first)}/batch=0/a"] = "…"
    files.files[f"{kept.folder(third)}/batch=1/a"] = "…"  # not closed
    assert kept.drop(second) == [first]
    assert not files.exists(kept.folder(first))
    assert kept.drop(third + 10) == [second]
    assert files.exists(kept.folder(third))
