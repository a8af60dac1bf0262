"""A trail that is written to while it is verified is whole, whatever its writers do at that
moment."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stanchion.audit.verify import Deed, verify
from tests.audit.forging import KEY, ONE, TWO, Draft, Drafts, line_of


class Writers:
    """Two processes that write to one trail; each step is one thing that one of them does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.one = Draft(ONE, KEY).begin().work(3).mark()
        self.two = Draft(TWO, KEY).begin().work(3).checkpoint(self.one).mark()
        Drafts({ONE: self.one, TWO: self.two}).write(folder)
        self.retired: dict[str, list[list[object]]] = {ONE: [], TWO: []}
        self.begun = 0

    def save(self, draft: Draft) -> None:
        """Bring the files to where the draft is: lines first, then the head, then what is retired
        goes."""
        path = self.folder / draft.id
        path.mkdir(exist_ok=True)
        for number, lines in draft.segments.items():
            file = path / f"{number:08d}.jsonl"
            there = file.stat().st_size if file.exists() else 0
            with file.open("ab") as out:
                out.write(b"".join(lines)[there:])
        (path / "new head").write_bytes(draft.head or b"")
        os.replace(path / "new head", path / "head")

    def work(self) -> None:
        """Both write on, and name one another."""
        self.save(self.one.work(2).mark())
        self.save(self.two.checkpoint(self.one).work(1).mark())
        self.save(self.one.checkpoint(self.two).mark())

    def rotate(self) -> None:
        """Both begin a new segment."""
        for own, other in ((self.one, self.two), (self.two, self.one)):
            self.save(own.checkpoint(other).begin().work(1).mark())

    def retire(self) -> None:
        """Both begin a new segment and remove the older ones."""
        self.rotate()
        for draft in (self.one, self.two):
            gone = [number for number in draft.segments if number < max(draft.segments)]
            self.retired[draft.id] += [draft.facts(number) for number in gone]
            self.save(draft.add("retired", segments=self.retired[draft.id]).mark())
            for number in gone:
                (self.folder / draft.id / f"{number:08d}.jsonl").unlink()
            draft.forget(*gone)

    def reopen(self) -> None:
        """One ends, and goes on."""
        self.save(self.one.close(self.two))
        self.save(self.one.mark(closed=False))
        self.save(self.one.add("open", cut=0, unfit=[]).mark())

    def begin(self) -> None:
        """A third one begins, and the others name it."""
        self.begun += 1
        new = Draft(f"{self.begun:016x}", KEY).begin().work(2).mark()
        self.save(new)
        self.save(self.one.checkpoint(new, self.two).mark())
        self.save(self.two.checkpoint(new, self.one).mark())

    def tear(self) -> None:
        """One is in the middle of writing a line."""
        file = self.folder / ONE / f"{max(self.one.segments):08d}.jsonl"
        with file.open("ab") as out:
            out.write(line_of(b'{"v":3}')[:20])


@pytest.mark.parametrize("step", ["work", "rotate", "retire", "reopen", "begin"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_what_happens_meanwhile_is_no_fault(step: str, times: int, tmp_path: Path) -> None:
    writers = Writers(tmp_path)
    do: Callable[[], None] = getattr(writers, step)
    left = [do] * times

    def meanwhile(done: int, total: int) -> None:
        assert 0 <= done <= total
        if left:
            left.pop()()

    assert verify(tmp_path, KEY, progress=meanwhile).faults == ()
    assert len(left) < times
    assert verify(tmp_path, KEY).faults == ()


def test_a_line_that_is_being_written_is_no_fault(tmp_path: Path) -> None:
    writers = Writers(tmp_path)
    writers.tear()
    report = verify(tmp_path, KEY)
    assert report.faults == ()
    assert [chain.records for chain in report.chains] == [4, 5]


def test_a_fault_stays_one_however_much_is_written(tmp_path: Path) -> None:
    writers = Writers(tmp_path)
    file = tmp_path / ONE / "00000001.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"at":17', b'"at":18', 1))
    report = verify(tmp_path, KEY, progress=lambda done, total: writers.work())
    assert [(fault.chain, fault.seq, fault.deed) for fault in report.faults] == [
        (ONE, 0, Deed.EDITED)
    ]


def test_progress_comes_to_its_end(tmp_path: Path) -> None:
    Writers(tmp_path)
    seen: list[tuple[int, int]] = []
    verify(tmp_path, KEY, progress=lambda done, total: seen.append((done, total)))
    size = sum(path.stat().st_size for path in tmp_path.rglob("*.jsonl"))
    assert seen[-1] == (size, size)
    assert seen == sorted(seen)
