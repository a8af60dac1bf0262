"""Reading a trail: every record once and in order, found by what one knows of it, whatever stands
between."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stanchion.audit import notes, reader as following
from stanchion.audit.journal import Finish, Start
from stanchion.audit.options import TrailOptions
from stanchion.audit.reader import Follower, FoundRecord, TrailReader, WantedRecords
from stanchion.audit.trail import Trail
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment, RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.names import names
from stanchion.testing import FakeClock
from tests.audit.written import RUN

SMALL = TrailOptions(segment_bytes=2_000)


class Written:
    """A trail that is written to a decision at a time, each a millisecond after the one before."""

    def __init__(self, folder: Path, chains: int = 1, options: TrailOptions = SMALL) -> None:
        self.folder = folder
        self.clock = FakeClock(1_000)
        ids = (f"{number:016x}" for number in itertools.count(1))
        self.trails = [Trail(folder, options, self.clock, lambda: next(ids)) for _ in range(chains)]

    def begin(self, run: RunInfo = RUN, chain: int = 0, policy: str = "policy") -> None:
        """A run begins."""
        self.trails[chain].begin(Start(run, self.clock.advance(1), policy, "policy.yaml", "trial"))

    def end(self, run: RunInfo = RUN, chain: int = 0) -> None:
        """A run ends."""
        self.trails[chain].end(Finish(run, self.clock.advance(1), "kernel.ended", "done", {}))

    def decide(self, name: str, chain: int = 0, run: RunInfo = RUN, **fields: Any) -> None:
        """A decision is written, and is on the disk: segments grow as they would in time."""
        action = fields.pop("action", Action.ALLOW)
        event = ToolCall(id=name, at=self.clock.advance(1), run=run, **{"tool": "read", **fields})
        findings = () if action == Action.ALLOW else (Finding(action, "tool.denied", guard="g"),)
        trail = self.trails[chain]
        trail.sync(trail.write(Moment((event,)), Decision(name, action, "policy", findings), 0))

    def close(self) -> TrailReader:
        """Nothing more comes."""
        for trail in self.trails:
            trail.close()
        return TrailReader(self.folder)


def ids(found: Any) -> list[str]:
    """The decisions among records."""
    return [one.stub.id for one in found if one.is_decision]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Two chains, and segments so small that there are several of each."""
    made = Written(tmp_path / "trail", chains=2)
    for chain in (0, 1):
        made.begin(chain=chain)
    for number in range(20):
        made.decide(f"d{number}", chain=number % 2, args={"text": "x" * 300})
    return made


def test_forwards_and_backwards_are_the_same_records(written: Written) -> None:
    reader = written.close()
    assert len(list(reader.folder.rglob("*.jsonl"))) >= 4
    forwards, backwards = list(reader.forwards()), list(reader.backwards())
    assert ids(forwards) == [f"d{number}" for number in range(20)]
    assert ids(backwards) == ids(forwards)[::-1]
    places = {(found.chain, found.stub.seq) for found in forwards}
    assert len(places) == len(forwards) == len(backwards)
    assert places == {(found.chain, found.stub.seq) for found in backwards}


def test_a_record_is_what_stands_at_its_place(written: Written) -> None:
    for found in written.close().forwards():
        data = (written.folder / found.chain / f"{found.segment:08d}.jsonl").read_bytes()[
            found.offset :
        ]
        apart = b',"kept":' + found.line.kept if found.line.kept else b""
        assert data.partition(b"\n")[0].endswith(found.line.body + apart + b"}")
        assert found.line.fits


def test_progress_ends_at_the_whole(written: Written) -> None:
    reader = written.close()
    for way in (reader.forwards, reader.backwards, lambda told: reader.of_run("r1", told)):
        heard: list[tuple[int, int]] = []
        list(way(partial(_hear, heard)))
        assert heard[-1] == (reader.size(), reader.size())
        assert [done for done, _ in heard] == sorted(done for done, _ in heard)


def _hear(heard: list[tuple[int, int]], done: int, total: int) -> None:
    heard.append((done, total))


def test_a_decision_is_found_by_its_id_and_by_its_place(written: Written) -> None:
    written.decide("d3", chain=0)
    reader = written.close()
    found = reader.find("d3")
    assert found is not None
    assert found.chain == written.trails[0].name
    assert found.stub.at == max(one.stub.at for one in reader.forwards() if one.stub.id == "d3")
    again = reader.at(found.chain, found.stub.seq)
    assert again == found
    assert reader.find("d") is None
    assert reader.at(found.chain, 10_000) is None
    assert reader.at("f" * 16, 0) is None


def test_an_id_that_stands_in_content_is_not_found(tmp_path: Path) -> None:
    made = Written(tmp_path)
    made.decide("d1", args={"id": "d2", "run": {"id": "r9"}, "kind": "end"})
    reader = made.close()
    assert reader.find("d2") is None
    assert ids(reader.of_run("r9")) == []
    assert list(reader.of_kinds((notes.END,))) == []


def test_how_a_run_began_is_found_before_the_decision(tmp_path: Path) -> None:
    made = Written(tmp_path)
    made.begin(policy="old")
    for number in range(8):
        made.decide(f"a{number}", args={"text": "x" * 300})
    made.begin(policy="new")
    made.decide("b")
    reader = made.close()
    first, last = reader.find("a7"), reader.find("b")
    assert first is not None
    assert last is not None
    assert first.segment > 1
    began, went_on = reader.begun(first), reader.begun(last)
    assert began is not None
    assert went_on is not None
    assert (began.policy, began.run, began.source, began.env) == (
        "old",
        RUN,
        "policy.yaml",
        "trial",
    )
    assert went_on.policy == "new"


def test_a_run_that_began_in_another_chain_is_found_there(tmp_path: Path) -> None:
    made = Written(tmp_path, chains=2)
    made.begin(chain=1)
    made.decide("d1", chain=0)
    made.begin(chain=1, policy="later")
    made.decide("d2", chain=0, run=RunInfo("other"))
    reader = made.close()
    found, other = reader.find("d1"), reader.find("d2")
    assert found is not None
    assert other is not None
    began = reader.begun(found)
    assert began is not None
    assert began.policy == "policy"
    assert reader.begun(other) is None


def test_a_run_is_all_its_records(written: Written) -> None:
    other = RunInfo("r2", agent="bob")
    written.begin(other)
    written.decide("e1", run=other)
    written.end(other)
    reader = written.close()
    assert [found.stub.kind for found in reader.of_run("r2")] == ["end", "intent", "run"]
    assert len(ids(reader.of_run("r1"))) == 20


def test_few_kinds_are_found_among_many(written: Written) -> None:
    written.end()
    reader = written.close()
    found = [one.stub.kind for one in reader.of_kinds((notes.RUN, notes.END))]
    assert found == ["end", "run", "run"]
    assert {one.stub.kind for one in reader.of_kinds((notes.SEGMENT,))} == {"segment"}


def test_what_cannot_be_read_is_passed_over(written: Written) -> None:
    reader = written.close()
    before = ids(reader.forwards())
    segment = reader.folder / f"{1:016x}" / "00000001.jsonl"
    lines = segment.read_bytes().split(b"\n")
    lines[3:3] = [b"", b"\xff\xfe", b"null", b'{"hash":"zz"}', lines[2][:-1], b'{"body":{}}']
    segment.write_bytes(b"\n".join(lines) + b'{"hash":"cut')
    assert ids(reader.forwards()) == before
    assert ids(reader.backwards()) == before[::-1]


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    reader = TrailReader(tmp_path / "none")
    assert list(reader.forwards()) == []
    assert reader.find("d1") is None
    assert reader.size() == 0


# Following.


def test_what_is_appended_comes_once_and_in_order(tmp_path: Path) -> None:
    made = Written(tmp_path, chains=2)
    made.decide("d1", chain=0)
    follower = Follower(tmp_path)
    assert follower.new() == []
    assert all(follower.is_behind(found) for found in TrailReader(tmp_path).forwards())
    made.decide("d2", chain=1)
    made.decide("d3", chain=0)
    made.decide("d4", chain=1)
    assert not any(
        follower.is_behind(found)
        for found in TrailReader(tmp_path).backwards()
        if found.stub.id > "d1"
    )
    assert ids(follower.new()) == ["d2", "d3", "d4"]
    assert follower.new() == []
    made.close()


def test_new_segments_and_new_chains_are_followed(tmp_path: Path) -> None:
    follower = Follower(tmp_path / "trail")
    made = Written(tmp_path / "trail")
    seen: list[FoundRecord] = []
    for number in range(12):
        made.decide(f"d{number}", args={"text": "x" * 500})
        seen += follower.new()
    reader = made.close()
    seen += follower.new()
    assert max(found.segment for found in seen) > 1
    assert [(found.segment, found.stub.seq) for found in seen] == [
        (found.segment, found.stub.seq) for found in reader.forwards()
    ]


def test_what_comes_of_a_chain_comes_as_it_stands_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though its clock goes back, and though it is more than is read at a time."""
    monkeypatch.setattr(following, "MOST", 2_000)
    follower = Follower(tmp_path)
    made = Written(tmp_path, options=TrailOptions(segment_bytes=5_000))
    for number in range(30):
        made.decide(f"d{number}")
        made.clock.advance(-10)
    made.close()
    seen: list[FoundRecord] = []
    while new := follower.new():
        seen += new
    assert max(found.segment for found in seen) > 1
    assert [found.stub.seq for found in seen] == list(range(len(seen)))


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    made = Written(tmp_path)
    made.decide("d1")
    made.close()
    (segment,) = tmp_path.rglob("*.jsonl")
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-30])
    follower = Follower(tmp_path)
    assert follower.new() == []
    segment.write_bytes(whole)
    assert [found.stub.kind for found in follower.new()] == ["checkpoint"]


# Choosing.


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (WantedRecords(), ["run", "d1", "d2", "d3", "end"]),
        (WantedRecords(run="r1"), ["run", "d1", "d2", "end"]),
        (WantedRecords(run="r"), []),
        (WantedRecords(agents=names(["ann"])), ["run", "d1", "d2", "end"]),
        (WantedRecords(agents=names(["*"])), ["run", "d1", "d2", "d3", "end"]),
        (WantedRecords(agents=names(["a"])), []),
        (WantedRecords(tools=names(["re?d"])), ["d1", "d3"]),
        (WantedRecords(stages=frozenset({"tool_call"}), actions=frozenset({"BLOCK"})), ["d2"]),
        (WantedRecords(stages=frozenset({"prompt"})), []),
        (WantedRecords(since=1_002, until=1_004), ["d1", "d2"]),
    ],
    ids=str,
)
def test_records_are_chosen(wanted: WantedRecords, expected: list[str], tmp_path: Path) -> None:
    made = Written(tmp_path)
    made.begin()
    made.decide("d1")
    made.decide("d2", tool="bash", action=Action.BLOCK)
    made.decide("d3", run=RunInfo("r2", agent="bob"))
    made.end()
    reader = made.close()
    found = [one.stub for one in reader.forwards() if wanted.has(one.stub)]
    kept = [stub.id if stub.id else stub.kind for stub in found]
    assert [name for name in kept if name not in {"segment", "open", "checkpoint"}] == expected
