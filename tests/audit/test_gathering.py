"""A run that several processes were at is told once, with what all of them decided."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st

from stanchion.audit.journal import Finish, Start
from stanchion.audit.options import TrailOptions
from stanchion.audit.reader import TrailReader
from stanchion.audit.runs import newest_runs, run_detail
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from stanchion.kernel.actions import NAMES
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment, RunInfo, ToolCall
from stanchion.stores.open_store import open_store
from stanchion.testing.clock import FakeClock
from tests.sampling import SOAK

RUN = RunInfo("r", "ann", task="t1")
STEPS = st.lists(
    st.tuples(
        st.integers(0, 3), st.sampled_from(["ALLOW", "WARN", "BLOCK", "end"]), st.integers(0, 2)
    ),
    max_size=12,
)


class Processes:
    """Processes at one run, each with a chain of its own: the first began it, the others were
    forked from it."""

    def __init__(self, folder: Path, clock: FakeClock, era: int) -> None:
        self._clock, self._began = clock, clock()
        names = [f"{7 * number % 16:x}{era:015x}" for number in range(4)]
        quiet = TrailOptions(sync_ms=60_000, head_ms=1e12, checkpoint_s=1e9)
        self._trails = [Trail(folder, quiet, clock, lambda name=name: name) for name in names]  # type: ignore[misc]
        self._own: dict[int, Counter[str]] = {}
        self._over: set[int] = set()
        self.decided: Counter[str] = Counter()

    def step(self, who: int, what: str) -> None:
        """One of them decides something, or ends."""
        if who in self._over:
            return
        trail = self._trails[who]
        if who not in self._own:
            began = self._began if who else 0
            trail.begin(Start(RUN, self._clock(), "policy", began=began))
            self._own[who] = Counter()
        if what == "end":
            trail.end(Finish(RUN, self._clock(), "kernel.ended", "", dict(self._own[who])))
            self._over.add(who)
            return
        name = f"r.{who}.{sum(self.decided.values())}"
        about = Moment((ToolCall(id=name, at=self._clock(), run=RUN, tool="read", args={}),))
        trail.write(about, Decision(about.id, NAMES.index(what), "policy"), 0)  # type: ignore[arg-type] # its number
        self._own[who][what] += 1
        self.decided[what] += 1

    def close(self) -> None:
        """All of them are gone."""
        for trail in self._trails:
            trail.close()


@settings(max_examples=400 if SOAK else 15, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=3))
def test_all_that_was_decided_is_told_once(eras: list[list[tuple[int, str, int]]]) -> None:
    """Whoever ends first, or not at all, and however they take turns; a name that is used again is
    another run."""
    with TemporaryDirectory() as name:
        folder, clock = Path(name), FakeClock(1_000)
        expected = []
        for era, steps in enumerate(eras):
            clock.advance(1)
            at = Processes(folder, clock, era)
            at.step(0, "ALLOW")
            for who, what, later in steps:
                clock.advance(later)
                at.step(who, what)
            clock.advance(1)
            at.step(1, "end")
            at.step(0, "end")
            at.close()
            expected.append(dict(at.decided))
        reader = TrailReader(folder)
        found = list(newest_runs(reader))
        assert [(story.decided, story.state) for story in found] == [
            (one, "ended") for one in reversed(expected)
        ]
        for most in range(1, len(eras) + 1):
            assert list(newest_runs(reader, most)) == found[:most]
        detail = run_detail(reader, "r")
        assert detail is not None
        assert detail.story == found[0]


FORKING = """
import os, sys
from stanchion import Shield

how, folder = sys.argv[1:]
policy = {"name": "p", "guards": [{"use": "step_limit", "max_steps": 1000}]}
shield = Shield.load(policy, store=folder + "/state.db", journal=folder + "/trail")
run = shield.run(agent="ann", task="t1", id="par")
for number in range(5 if how != "quiet" else 0):
    run.check("ls", {"number": number})
for child in range(3):
    pid = os.fork()
    if not pid:
        for number in range(10):
            run.check("ls", {"child": child, "number": number})
        if how != "leaves":
            run.close()
        if how != "leaves" or child:
            shield.close()
        os._exit(0)
    if how != "at-once":
        os.waitpid(pid, 0)
for number in range(20 if how != "idle" else 0):
    run.check("ls", {"number": number})
while how == "at-once":
    try:
        os.wait()
    except ChildProcessError:
        break
run.close()
shield.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize(
    ("how", "count"), [("leaves", 55), ("closes", 55), ("at-once", 55), ("idle", 35), ("quiet", 50)]
)
def test_forked_processes_decide_and_count_for_themselves(
    how: str, count: int, tmp_path: Path
) -> None:
    """No two of them give one id to what they decide: a store would answer the second as it
    answered the first."""
    subprocess.run([sys.executable, "-c", FORKING, how, str(tmp_path)], check=True, timeout=120)
    reader = TrailReader(tmp_path / "trail")
    (story,) = newest_runs(reader)
    assert (story.run.id, story.state, story.decided) == ("par", "ended", {"ALLOW": count})
    detail = run_detail(reader, "par")
    assert detail is not None
    assert detail.story == story
    assert len({found.stub.id for found in reader.of_run("par") if found.is_decision}) == count
    store = open_store(str(tmp_path / "state.db"), FakeClock(0), reading=True)
    (steps,) = [cell.number for cell in store.look() if "steps" in cell.key]
    store.close()
    assert steps == count
    assert verify(tmp_path / "trail").faults == ()
