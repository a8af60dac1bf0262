"""A record that leaves to others what it was judged on is judged again all the same, to the
byte."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion import Refused, Shield
from stanchion.audit.options import TrailOptions
from stanchion.audit.reader import FoundRecord, TrailReader
from stanchion.audit.rebuilt import GoneRecord, Rebuilding, args_of, inputs_of, moment_of
from stanchion.audit.repeated import AT_MOST
from stanchion.audit.trail import Trail
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import RunInfo
from stanchion.kernel.replay import replay
from stanchion.kernel.state import LiveRecord, as_text
from stanchion.readings.past_call import PastCall
from stanchion.testing.clock import FakeClock

SEEDS = range(200) if os.environ.get("STANCHION_SOAK") else range(3)


class Watched(Trail):
    """A trail that remembers every decision it was given."""

    def __init__(self, folder: Path, options: TrailOptions, clock: FakeClock) -> None:
        super().__init__(folder, options, clock)
        self.given: dict[str, Decision] = {}

    def write(self, moment: Any, decision: Decision, *rest: Any, **more: Any) -> int:
        self.given[decision.id] = decision
        return super().write(moment, decision, *rest, **more)


def work(
    folder: Path, seed: int, options: TrailOptions | None = None
) -> tuple[Shield, dict[str, Decision]]:
    """Some runs of agents that repeat themselves, fail, are refused, and tell secrets now and
    then."""
    drawn, clock = random.Random(seed), FakeClock()
    trail = Watched(
        folder, TrailOptions(segment_bytes=20_000) if options is None else options, clock
    )
    shield = Shield.load("default", journal=trail, store="memory:", clock=clock)

    def read(path: str) -> str:
        if drawn.random() < 0.1:
            raise OSError("it is gone")
        return f"{path} says {drawn.choice(['yes', 'no', 'x' * 200, 'ghp_' + 'a1B2c3D4e5' * 4])}"

    runs = [shield.run("ann", "t1"), shield.run("bob", "t2")]
    for _ in range(drawn.choice([5, 90, 180])):
        clock.advance(drawn.choice((1, 900, 70_000)))
        run = drawn.choice(runs)
        with suppress(Refused, OSError):
            if drawn.random() < 0.1:
                run.check(
                    "bash",
                    {"command": drawn.choice(["rm -rf /", "ls", "echo my password is hunter22"])},
                )
            else:
                run.call(read, path=f"{drawn.randrange(6)}.txt")
    for run in runs:
        with suppress(Refused):
            run.close()
    shield.close()
    return shield, trail.given


def comparable(decision: Decision) -> bytes:
    """A decision's bytes; a record that was not there is as good as one that is not named."""
    there = tuple(known for known in decision.inputs.records if known[1])
    inputs = msgspec.structs.replace(decision.inputs, records=there)
    return msgspec.json.encode(
        msgspec.structs.replace(decision, inputs=inputs), enc_hook=as_text, order="deterministic"
    )


def again(
    reader: TrailReader, shield: Shield, run: RunInfo, found: FoundRecord, rebuilding: Rebuilding
) -> Decision:
    """The decision of a record, made again from the trail alone."""
    entry = rebuilding.entry(found)
    return replay(
        shield.policy, run, moment_of(entry, run, args_of(reader, entry)), inputs_of(entry)
    )


def is_redacted(reader: TrailReader, found: FoundRecord, given: dict[str, Decision]) -> bool:
    """Whether a record, or that of its call, has other content than was judged."""
    if found.stub.call in given and is_redacted(reader, reader.find(found.stub.call) or found, {}):
        return True
    return b"[redacted" in found.line.kept or b"withheld" in found.line.kept


@pytest.mark.parametrize("seed", SEEDS)
def test_every_decision_of_a_run_is_made_again_to_the_byte(tmp_path: Path, seed: int) -> None:
    """Over segments, refusals, failures, loops and redacted content."""
    shield, given = work(tmp_path, seed)
    reader = TrailReader(tmp_path)
    decisions = [found for found in reader.backwards() if found.is_decision]
    assert len(decisions) == len(given)
    runs = {
        found.stub.run_id: begun.run
        for found in decisions
        if (begun := reader.begun(found)) is not None
    }
    rebuilding = {name: Rebuilding(reader, shield.policy, run) for name, run in runs.items()}
    for found in decisions:
        if not is_redacted(reader, found, given):
            name = found.stub.run_id
            made = again(reader, shield, runs[name], found, rebuilding[name])
            assert comparable(made) == comparable(given[found.stub.id])


def test_most_records_leave_their_history_to_others(tmp_path: Path) -> None:
    """Whole ones come at the beginning of a segment, and after so many decisions."""
    work(tmp_path, 3, TrailOptions())
    entries = [found.entry() for found in TrailReader(tmp_path).forwards() if found.is_decision]
    longest = since = 0
    for entry in (one for one in entries if one.agent == "ann"):
        since = since + 1 if entry.left else 0
        longest = max(longest, since)
    assert sum(bool(entry.left) for entry in entries) > len(entries) // 2
    assert longest < AT_MOST


def test_what_others_said_that_is_gone_is_not_made_up(tmp_path: Path) -> None:
    """A decision whose history cannot be rebuilt is not judged on less."""
    shield, _ = work(tmp_path, 3, TrailOptions())
    reader = TrailReader(tmp_path)
    begun = next(note for found in reader.forwards() if (note := reader.begun(found)) is not None)
    decisions = [
        one for one in reader.forwards() if one.stub.run_id == begun.run.id and one.is_decision
    ]
    (segment,) = tmp_path.rglob("*.jsonl")
    text = segment.read_bytes()
    gone = decisions[0]
    behind = next(one for one in decisions if one.stub.seq > gone.stub.seq and one.entry().left)
    segment.write_bytes(text.replace(gone.line.kept, b"null".ljust(len(gone.line.kept))))
    with pytest.raises(
        GoneRecord,
        match=rf"it builds on record {gone.stub.seq} of its chain, whose content was erased",
    ):
        Rebuilding(reader, shield.policy, begun.run).entry(behind)
    erased = reader.at(gone.chain, gone.stub.seq)
    assert erased is not None
    with pytest.raises(GoneRecord, match="the content of its record was erased"):
        Rebuilding(reader, shield.policy, begun.run).entry(erased)


def test_a_state_that_is_not_found_again_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a history comes to another state than the records name, it is said so."""
    shield, _ = work(tmp_path, 3, TrailOptions())
    reader = TrailReader(tmp_path)
    behind = [one for one in reader.forwards() if one.is_decision and one.entry().left][-1]
    begun = reader.begun(behind)
    assert begun is not None
    assert Rebuilding(reader, shield.policy, begun.run).entry(behind).records
    monkeypatch.setattr(PastCall, "marked", lambda call, *_rest: call)
    with pytest.raises(GoneRecord, match="the earlier records of the run do not lead to the state"):
        Rebuilding(reader, shield.policy, begun.run).entry(behind)


def test_a_journal_in_memory_names_the_history_of_a_run() -> None:
    """It has no text of it; the name is that of the history that was judged on."""
    shield = Shield.load("default", journal="memory:", store="memory:")
    with shield.run("ann", "t1") as run:
        made = [run.check("read", {"path": f"{number}.txt"}) for number in range(3)]
        entries = [kept.read() for kept in shield.journal.kept()]
        named = [one for one in made[2].inputs.records if isinstance(one[2], LiveRecord)]
        assert [one[2].name for one in named] == [entries[2].left]
        assert named[0][0] not in [name for name, _, _ in entries[2].records]
        assert entries[0].left == ""
        assert entries[1].left != entries[2].left
