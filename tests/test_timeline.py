"""The list of loads: random sequences of all that can happen to it, against a model in Python.

The model keeps what each load wrote and each state as a plain list of names, and works out
everything anew from the first load on: no figure of it is carried from one state to the next.
"""

from __future__ import annotations

import datetime
import json
import random
from dataclasses import dataclass, field
from typing import Any

import pytest

import scale
from spark_cdc.jinja_bridge import MACROS, load_macros

pytestmark = pytest.mark.proves("commit and crash")

FIRST = datetime.date(2024, 1, 1)
STEPS = {"test": 1_500, "all": 100_000}.get(scale.SUITE, 6_000)
TIMELINE = load_macros([MACROS / "timeline" / "timeline.sql"])
DERIVED = ("rows", "log_rows", "definition", "layout", "added", "applied")


@dataclass
class Written:
    """What a load wrote, and under which columns; of what compact wrote also what it stands for."""

    change: int  # rows inserted less rows deleted
    rows: int  # I, U, D, N and X
    schema: dict[str, Any]
    applied: dict[str, Any]
    version: int  # the commit that it was written for
    compacted: list[str] = field(default_factory=list)


class Model:
    """An entity as a list of states. Everything is worked out anew whenever it is asked for."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.written: dict[str, Written] = {}
        self.loads: list[str] = []
        self.undone: list[list[str]] = []
        self.sequence = self.rewritten = 0
        self.runs: dict[int, str] = {}  # by number of the commit
        self.came: dict[str, int] = {}  # loads as they were written, to the commit they came by
        self.manifest = TIMELINE._empty_manifest()
        self.tags: list[tuple[list[str], dict[str, Any], Any]] = []
        self.has_events = self.rng.random() < 0.5
        self.schema: dict[str, Any] = {"definition": "d0", "layout": {}, "added": {}}
        self.seen: dict[str, Any] = {}  # of a load that is gone, until the next one

    def run_id(self) -> str:
        return f"{self.rng.getrandbits(32):08x}"

    def day(self, load: str) -> int:
        return (datetime.datetime.strptime(load[:8], "%Y%m%d").date() - FIRST).days

    def write(self, day: int, run: str, before: list[str]) -> str:
        """Write a load on top of some; the first is a checkpoint, as dbt run has it."""
        is_checkpoint = not before or self.rng.random() < 0.2
        if before and self.rng.random() < 0.1:
            is_checkpoint, number = True, self.rng.randint(0, 3)
            layout = {"columns": {"a": f"a_{number}"}} if number else {}
            added = {f"c{number}": "int"} if self.rng.random() < 0.5 else {}
            self.schema = {"definition": f"d{number}", "layout": layout, "added": added}
        kind = ("e" if self.has_events else "d") + ("c" if is_checkpoint else "")
        load = f"{FIRST + datetime.timedelta(day):%Y%m%d}-{kind}-{run}"
        change = self.rng.randint(0 if not before else -self.rows(before), 9)
        applied: dict[str, Any] = {}
        if self.has_events:
            applied = {"highest": self.rng.choice([None, [day, 4]]), "truncated": None}
            if self.rng.random() < 0.7:
                applied["origin"] = {"log": self.rng.choice("ab")}
            if self.rng.random() < 0.3:
                applied["feed"] = {"id": "t", "to": day}
        written = abs(change) + self.rng.randint(0, 5)
        if is_checkpoint:
            written += self.rows(before)
        self.written[load] = Written(change, written, self.schema, applied, self.sequence + 1)
        return load

    def rows(self, loads: list[str]) -> int:
        return sum(self.written[load].change for load in loads)

    def entry(self, load: str, before: list[str]) -> dict[str, Any]:
        one = self.written[load]
        rows = self.rows([*before, load])
        return dict(one.schema, load_id=load, rows=rows, written=one.rows, applied=one.applied)

    def commit(self, manifest: Any, run: str, *, before: Any = None) -> None:
        """Commit a manifest and read it back from the text that it would have."""
        at = f"at {self.sequence + 1}"
        done = TIMELINE._timeline_committed(manifest, before, run, at)
        stored = json.loads(json.dumps(TIMELINE._timeline_stored(done), sort_keys=True))
        self.manifest = TIMELINE._timeline_of(stored, done["loads"])
        assert self.manifest == done | {"existed": True}
        self.sequence += 1
        self.runs[self.sequence] = run

    def change(self, loads: list[str], *, is_rewritten: bool | None = None) -> None:
        """Take over a list of loads as the state of the commit that has just been made."""
        same = loads[: len(self.loads)] == self.loads
        if not same if is_rewritten is None else is_rewritten:
            self.rewritten = self.sequence
        common = len([1 for old, new in zip(self.loads, loads, strict=False) if old == new])
        for load in loads[common if is_rewritten is None else len(loads) :]:
            self.came[load] = self.sequence
            self.came.update(dict.fromkeys(self.written[load].compacted, self.sequence))
        self.loads = loads

    # what can happen, each a step

    def load(self) -> None:
        """A later date, the last one again, or all anew."""
        kept = self.rng.choice([self.loads, self.loads, self.loads[:-1], []])
        if kept == self.loads[:-1] and "-h" in "".join(self.loads[-1:]):
            kept = self.loads  # compact's loads are not loaded again by themselves
        run = self.run_id()
        day = self.day(kept[-1]) + self.rng.randint(1, 3) if kept else 0
        load = self.write(day, run, kept)
        entry = self.entry(load, kept)
        loaded = TIMELINE._timeline_loaded(self.manifest, len(kept), entry)
        self.commit(loaded, run, before=self.manifest)
        self.undone, self.seen = [], {}
        self.change([*kept, load])

    def backfill(self) -> None:
        run, loads, loaded = self.run_id(), self.loads, self.manifest
        for _ in range(self.rng.randint(2, 4)):
            load = self.write(self.day(loads[-1]) + 1 if loads else 0, run, loads)
            loaded = TIMELINE._timeline_loaded(loaded, len(loads), self.entry(load, loads))
            loads = [*loads, load]
        self.commit(loaded, run, before=self.manifest)
        self.undone, self.seen = [], {}
        self.change(loads)

    def cut(self) -> int:
        """A number of first loads after which there is a state."""
        count = self.rng.randint(0, len(self.loads))
        return count - 1 if self.loads[count - 1 : count] and self.splits(count) else count

    def splits(self, count: int) -> bool:
        return "-h-" in self.loads[count - 1] and "-hc-" in "".join(self.loads[count : count + 1])

    def undo(self) -> None:
        count = self.cut()
        if count == len(self.loads):
            return
        gone = self.loads[count:]
        move = {"load_id": "", "at": f"now {self.sequence}", "loads": gone, "rows_prior": 0}
        undone = TIMELINE._timeline_undone(self.manifest, count, move)
        undone = self.see(undone, gone)
        self.commit(undone, self.run_id(), before=self.manifest)
        self.undone.insert(0, gone)
        self.change(self.loads[:count])

    def see(self, manifest: Any, gone: list[str]) -> Any:
        """Now and then with the columns of a load that is gone, as its readers saw them."""
        self.seen = self.written[self.rng.choice(gone)].schema if self.rng.random() < 0.5 else {}
        return TIMELINE._timeline_seen(manifest, self.seen) if self.seen else manifest

    def redo(self) -> None:
        if not self.undone:
            return
        move = {"load_id": "", "at": "now", "loads": self.undone[0], "rows_prior": 0}
        redone = TIMELINE._timeline_redone(self.manifest, move)
        self.seen = {}
        self.commit(redone, self.run_id(), before=self.manifest)
        self.change(self.loads + self.undone.pop(0))

    def compact(self) -> None:
        """Never the last load, more than two, and earlier histories alone if they come first."""
        if len(self.loads) < 4:
            return
        end = self.rng.randint(3, len(self.loads) - 1)
        end = end + 1 if self.splits(end) else end
        first = 1 if "-h-" in self.loads[0] and self.rng.random() < 0.5 and end > 3 else 0
        if end >= len(self.loads) or end - first < 3:
            return
        run, gone = self.run_id(), self.loads[first:end]
        last = self.written[gone[-1]]
        history, checkpoint = (f"{gone[-1][:8]}-{kind}-{run}" for kind in ("h", "hc"))
        compacted = [name for load in gone for name in self.written[load].compacted or [load]]
        compacted = [name for name in compacted if "-hc-" not in name]
        change, rows = self.rows(gone), self.rows(self.loads[:end])
        common = (last.schema, last.applied, 0)
        self.written[history] = Written(change, abs(change), *common, compacted)
        self.written[checkpoint] = Written(0, rows, *common)
        written = [
            {"load_id": load, "written": self.written[load].rows} for load in (history, checkpoint)
        ]
        compacted = TIMELINE._timeline_compacted(self.manifest, first, end, *written)
        # the record of a history says by which commits the loads came that it stands for
        self.records[history] = [one for one in self.told() if one["load_id"] in compacted]
        self.commit(compacted, run)
        self.change(
            [*self.loads[:first], history, checkpoint, *self.loads[end:]], is_rewritten=False
        )

    def replay(self) -> None:
        """A draft from some date on, with other runs' loads, while others may load or vacuum."""
        if not self.loads:
            return
        count = self.cut()
        draft, loads = TIMELINE._timeline_cut(self.manifest, count), self.loads[:count]
        for _ in range(self.rng.randint(1, 4)):
            load = self.write(self.day(loads[-1]) + 1 if loads else 0, self.run_id(), loads)
            draft = TIMELINE._timeline_loaded(draft, len(loads), self.entry(load, loads))
            draft |= {"replay": {"from": "2024-01-01"}}
            stored = json.loads(json.dumps(TIMELINE._timeline_stored(draft)))
            draft = TIMELINE._timeline_of(stored, draft["loads"])
            loads = [*loads, load]
        if self.rng.random() < 0.3:
            self.vacuum()
        published = TIMELINE._timeline_replayed(self.manifest, draft)
        assert "replay" not in published
        self.commit(published, self.run_id(), before=self.manifest)
        self.undone, self.seen = [], {}
        self.change(loads)

    def erase(self) -> None:
        """Some loads under other names, also those that redo can bring back."""
        every = self.loads + [load for step in self.undone for load in step]
        names = {load: load[:-8] + self.run_id() for load in every if self.rng.random() < 0.4}
        self.commit(TIMELINE._timeline_renamed(self.manifest, names), self.run_id())
        for old, new in names.items():
            self.written[new] = self.written[old]
            self.came[new] = self.came.get(old, 0)
            self.records[new] = self.records.get(old, [])
        self.undone = [[names.get(load, load) for load in step] for step in self.undone]
        self.change([names.get(load, load) for load in self.loads], is_rewritten=False)

    def vacuum(self) -> None:
        """Expires the oldest undo, as a commit that changes nothing else; or fences a dead run."""
        self.undone = self.undone[: self.rng.randint(0, len(self.undone))]
        kept = self.manifest["undone"][: len(self.undone)]
        self.commit(self.manifest | {"undone": kept}, self.run_id())
        self.change(self.loads, is_rewritten=False)

    def tag(self) -> None:
        """A copy of a state, which stays what it is whatever happens later."""
        count = self.cut()
        if count:
            tag = TIMELINE._timeline_cut(self.manifest, count, is_seen=True)
            stored = json.loads(json.dumps(TIMELINE._timeline_stored(tag | {"tag": {"name": "t"}})))
            self.tags = [*self.tags, (self.loads[:count], self.seen, stored)][-5:]

    # what has to be true after each

    records: dict[str, list[dict[str, Any]]]

    def told(self) -> list[dict[str, Any]]:
        """The versions of loads, as a change feed has them."""
        records = {}
        for load in self.manifest["loads"]:
            records[load] = {"version": self.written[load].version, "started_at": "own"}
            if "-h" in load:
                records[load] = {"commits": self.records.get(load, [])}
        told: list[dict[str, Any]] = TIMELINE._commits(self.manifest, records)
        return [
            {name: one[name] for name in ("load_id", "version", "at")} | {"in": one["written_as"]}
            for one in told
        ]

    def figures(self, loads: list[str]) -> dict[str, Any]:
        """From nothing but what each load wrote."""
        since = loads
        for at, load in enumerate(loads):
            if load.split("-")[1].endswith("c"):
                since = loads[at + 1 :]
        last = self.written[loads[-1]] if loads else Written(0, 0, {}, {}, 0)
        return {
            "rows": self.rows(loads),
            "log_rows": sum(self.written[load].rows for load in since),
            "definition": last.schema.get("definition"),
            "layout": last.schema.get("layout", {}),
            "added": last.schema.get("added", {}),
            "applied": last.applied,
        }

    def check(self) -> None:
        manifest = self.manifest
        assert manifest["loads"] == self.loads
        seen = self.seen if self.loads else {}
        assert {name: manifest[name] for name in DERIVED} == self.figures(self.loads) | seen
        assert (manifest["sequence"], manifest["rewritten"]) == (self.sequence, self.rewritten)
        undone = [[entry["load_id"] for entry in step["entries"]] for step in manifest["undone"]]
        assert undone == self.undone
        assert TIMELINE._undone_loads(manifest) == [load for step in undone for load in step]
        for count in (self.rng.randint(0, len(self.loads)),):  # any state before
            cut = TIMELINE._timeline_cut(manifest, count)
            assert {name: cut[name] for name in DERIVED} == self.figures(self.loads[:count])
        for loads, seen, stored in self.tags:
            tag = TIMELINE._timeline_of(stored, loads)
            assert {name: tag[name] for name in DERIVED} == self.figures(loads) | seen
        again = {entry["version"] for entry in TIMELINE._timeline_recommitted(manifest)}
        assert again == {int(name) for name in manifest["times"].keys() - {"rewritten"}}
        names = [entry["load_id"] for entry in manifest["entries"] if entry["commit"] in again]
        assert not {self.runs.get(name) for name in again} & {name[-8:] for name in names}
        told = self.told()
        for one in told:
            assert one["version"] == self.came[one["load_id"]], one
            # the view of the feed works it out of the records and this list, by SQL
            own = next(
                (o for o in self.records.get(one["in"], []) if o["load_id"] == one["load_id"]), None
            )
            own_version = own["version"] if own else self.written[one["in"]].version
            entries = TIMELINE._timeline_recommitted(manifest)
            again = [e["version"] for e in entries if e["after"] < one["load_id"]]
            assert max(own_version, *again[-1:], 0) == one["version"]


@pytest.mark.parametrize("seed", range(5))
def test_every_state_is_what_its_loads_make_it(seed: int) -> None:
    """Random sequences: figures, names, versions and what redo brings back, after each step."""
    steps = STEPS // 5
    model = Model(seed)
    rng = random.Random(seed)
    weights = {
        "load": 8, "backfill": 1, "undo": 3, "redo": 3, "compact": 2,
        "replay": 1, "erase": 1, "vacuum": 1, "tag": 1,
    }  # fmt: skip
    for step in range(steps):
        if step % 100 == 0:  # an entity begins
            model = Model(rng.getrandbits(32))
            model.records = {}
        what = rng.choices(list(weights), list(weights.values()))[0]
        getattr(model, what)()
        try:
            model.check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, step {step}: {what}: {error}") from error
