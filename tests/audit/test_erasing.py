"""Erasing: what was said goes, that it was said stays, and nothing goes without a word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stanchion.audit import notes
from stanchion.audit.erasure import Meant, blank, count_of, erase, meant_in, undone
from stanchion.audit.journal import Fact, Finish
from stanchion.audit.layout import segment_file
from stanchion.audit.options import TrailOptions
from stanchion.audit.reader import TrailReader
from stanchion.audit.retention import DAY_MS, Keep
from stanchion.audit.trail import Trail
from stanchion.audit.verify import Deed, Report, verify
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.names import names
from stanchion.testing.clock import FakeClock
from tests.audit.written import AT, allowed, moment, outcome

ANN, BOB = RunInfo("r1", "ann", task="t1"), RunInfo("r2", "bob", task="t2", tenant="acme")
ADDRESS = "ann@example.org"


def fill(trail: Trail) -> None:
    """Records of every kind that say something."""
    for run, text in ((ANN, ADDRESS), (BOB, "nothing")):
        about = moment(f"{run.id}.1", {"to": text, "quoted": 'a "b"'}, run=run)
        said = Finding(Action.BLOCK, "x.y", (text, 3), f"about {text}", guard="g")
        trail.write(
            about,
            Decision(about.id, Action.BLOCK, "p", (said,), shadow=(said,)),
            5,
            (f"noted {text}",),
        )
        trail.tell(
            Fact(AT, "undone", "tool", run.tenant, run.id, "bob", f"for {text}", {"sent": text})
        )
        trail.end(Finish(run, AT, "kernel.ended", f"why {text}", {"BLOCK": 1}, (f"made {text}",)))
    about = outcome("r1.2", "r1.1", ADDRESS)
    trail.write(about, allowed(about), 5)


def files(trail: Path) -> bytes:
    """All that is on the disk."""
    return b"".join(path.read_bytes() for path in sorted(trail.rglob("*")) if path.is_file())


def whole(trail: Path) -> Report:
    """What the verifier says of a trail that it finds nothing wrong with."""
    report = verify(trail)
    assert report.faults == ()
    return report


def test_what_a_run_said_is_gone_and_the_rest_is_as_it_was(tmp_path: Path) -> None:
    trail = Trail(tmp_path, clock=lambda: AT)
    fill(trail)
    trail.close()
    before = list(TrailReader(tmp_path).forwards())
    sizes = {path: path.stat().st_size for path in tmp_path.rglob("*.jsonl")}
    trail = Trail(tmp_path, clock=lambda: AT)
    rows = meant_in(TrailReader(tmp_path), Meant(run=names(["r1"]))).rows
    assert erase(trail, rows, "she asked", "bob") == count_of(rows) == 4
    assert ADDRESS.encode() not in files(tmp_path)
    whole(tmp_path)
    fill(trail)
    trail.close()
    report = whole(tmp_path)
    assert any("the content of 4 records was erased" in one.sentence for one in report.remarks)
    assert all(path.stat().st_size > size for path, size in sizes.items())
    after = {found.stub.seq: found for found in TrailReader(tmp_path).forwards()}
    for found in before:
        same = after[found.stub.seq]
        assert (same.offset, same.line.body, same.line.hash) == (
            found.offset,
            found.line.body,
            found.line.hash,
        )
        if found.stub.run_id != "r1" or not found.line.kept:
            assert same.line.kept == found.line.kept
        elif found.is_decision:
            entry = same.entry()
            assert entry.content == {"$withheld": "it was erased"}
            assert [(said.guard, said.code, said.args) for said in entry.findings] in (
                [],
                [("g", "x.y", ())],
            )
        else:
            assert same.data().get("why", "") == ""
    (said,) = [found.note(notes.Erased) for found in after.values() if found.stub.kind == "erased"]
    assert (said.records, said.why, said.by) == ({trail.name: rows[trail.name]}, "she asked", "bob")


MEANT = {
    "run": (Meant(run=names(["r1"])), 4),
    "agent, with the facts of its runs": (Meant(agent=names(["bob"])), 3),
    "agents": (Meant(agent=names(["bob", "ann"])), 7),
    "agents by a pattern": (Meant(agent=names(["?n*"])), 4),
    "runs by a pattern": (Meant(run=names(["r*"])), 7),
    "task": (Meant(task=names(["t2"])), 3),
    "tenant": (Meant(tenant=names(["acme"])), 3),
    "text": (Meant(containing=ADDRESS), 4),
    "text with quotes": (Meant(containing='a "b"'), 2),
    "both": (Meant(containing=ADDRESS, task=names(["t1"])), 4),
    "another's fact": (Meant(agent=names(["bob"]), containing=ADDRESS), 0),
    "nobody": (Meant(agent=names(["nobody"])), 0),
    "nobody by a pattern": (Meant(agent=names(["b?"])), 0),
}


@pytest.mark.parametrize("case", MEANT)
def test_what_is_meant(tmp_path: Path, case: str) -> None:
    trail = Trail(tmp_path, clock=lambda: AT)
    fill(trail)
    trail.close()
    meant, count = MEANT[case]
    assert count_of(meant_in(TrailReader(tmp_path), meant).rows) == count


def test_other_processes_chains_are_erased_too_while_they_write(tmp_path: Path) -> None:
    """Also in the segment that is being written, and in closed ones; the writer goes on as
    before."""
    writing = Trail(
        tmp_path, TrailOptions(segment_bytes=1_500, head_ms=0, sync_ms=0.1), names=lambda: "b" * 16
    )
    for _ in range(4):
        fill(writing)
    eraser = Trail(tmp_path, names=lambda: "a" * 16)
    assert eraser.name != writing.name
    rows = meant_in(TrailReader(tmp_path), Meant(containing=ADDRESS)).rows
    assert erase(eraser, rows, "", "bob") == 16
    assert ADDRESS.encode() not in files(tmp_path)
    fill(writing)
    eraser.close()
    writing.close()
    whole(tmp_path)
    assert files(tmp_path).count(b"ann@") > 0


def test_what_an_interruption_left_is_done_by_the_next(tmp_path: Path) -> None:
    """Killed right behind the record that says so, or in the middle of a page: the trail verifies
    all the time."""
    trail = Trail(tmp_path, clock=lambda: AT)
    fill(trail)
    rows = meant_in(TrailReader(tmp_path), Meant(run=names(["r1"]))).rows
    trail.declare(notes.Erased, notes.ERASED, records=rows, why="", by="bob")
    trail.close()
    whole(tmp_path)
    assert ADDRESS.encode() in files(tmp_path)
    found = next(one for one in TrailReader(tmp_path).forwards() if one.stub.id == "r1.1")
    segment = segment_file(tmp_path / found.chain, found.segment)
    torn = b"null".ljust(40) + found.line.kept[40:]
    segment.write_bytes(segment.read_bytes().replace(found.line.kept, torn))
    whole(tmp_path)
    assert blank(tmp_path, undone(tmp_path)) == 4
    assert blank(tmp_path, undone(tmp_path)) == 0
    assert ADDRESS.encode() not in files(tmp_path)
    whole(tmp_path)


@pytest.mark.parametrize(
    ("new", "deed", "words"),
    [
        (b"null", Deed.DELETED, "is gone, and no record says that it was erased"),
        (b"", Deed.DELETED, "is gone, and no record says that it was erased"),
        (b'{"salt":"x"}', Deed.EDITED, "was changed: it does not match the hash"),
    ],
)
def test_content_that_goes_without_a_word_is_a_fault(
    tmp_path: Path, new: bytes, deed: Deed, words: str
) -> None:
    trail = Trail(tmp_path, clock=lambda: AT)
    fill(trail)
    trail.close()
    found = next(one for one in TrailReader(tmp_path).forwards() if one.stub.id == "r1.1")
    segment = segment_file(tmp_path / found.chain, found.segment)
    old = b',"kept":' + found.line.kept
    put = b',"kept":' + new.ljust(len(found.line.kept)) if new else b""
    segment.write_bytes(segment.read_bytes().replace(old, put))
    (fault,) = verify(tmp_path).faults
    assert (fault.deed, fault.seq) == (deed, found.stub.seq)
    assert words in fault.sentence


def test_an_erased_record_behind_the_head_erases_nothing(tmp_path: Path) -> None:
    """Whoever can append to a file could write it."""
    trail = Trail(tmp_path, clock=lambda: AT)
    fill(trail)
    rows = meant_in(TrailReader(tmp_path), Meant(run=names(["r1"]))).rows
    trail.sync(0)
    chain = tmp_path / trail.name
    trail.close()
    head = (chain / "head").read_bytes()
    trail = Trail(tmp_path, clock=lambda: AT)
    erase(trail, rows, "", "bob")
    trail.close()
    whole(tmp_path)
    (chain / "head").write_bytes(
        json.dumps({**json.loads(head), "closed": False}, separators=(",", ":")).encode()
    )
    assert [fault.deed for fault in verify(tmp_path).faults] == [Deed.DELETED]


def test_what_erases_is_said_again_when_it_leaves_itself(tmp_path: Path) -> None:
    """What it erased may be in a segment that stays: one with a bypass."""
    clock = FakeClock(AT)
    trail = Trail(tmp_path, TrailOptions(keep=Keep(days=5)), clock)
    fill(trail)
    chain = trail._chain
    assert chain is not None
    chain.note(notes.TrailNote, notes.BYPASS)
    clock.advance(DAY_MS)
    trail.close()
    trail = Trail(tmp_path, TrailOptions(keep=Keep(days=5)), clock)
    erase(trail, meant_in(TrailReader(tmp_path), Meant(run=names(["r1"]))).rows, "", "bob")
    trail.close()
    for _ in range(4):
        clock.advance(4 * DAY_MS)
        trail = Trail(tmp_path, TrailOptions(keep=Keep(days=5)), clock)
        fill(trail)
        trail.close()
        whole(tmp_path)
    numbers = sorted(int(path.stem) for path in tmp_path.rglob("*.jsonl"))
    assert numbers[0] == 1
    assert 2 not in numbers
