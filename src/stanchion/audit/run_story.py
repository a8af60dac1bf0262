"""Gathering a run from records that are read backwards: one process was at it, or several at the
same time."""

from __future__ import annotations

from typing import Final

from stanchion.audit import notes
from stanchion.audit.heads import read_head
from stanchion.audit.reader import Found, Reader
from stanchion.audit.writers import is_written

OPEN, ENDED, HALTED, CANCELLED, LOST = "open", "ended", "halted", "cancelled", "lost"
"""How a run stands. It is lost where its end was never written and nobody writes its chain any
more."""

_CANCELLED: Final = "kernel.cancelled"


class Gathering:
    """A run as far as it is read: how processes ended it, and how it began or went on in each,
    newest first.

    A forked process goes on with its parent's run in a chain of its own, and says there when the
    run began. Each process tells at its end what it decided itself.
    """

    def __init__(self, later: Gathering | None = None) -> None:
        self._later: dict[str, Found] = {} if later is None else later.first_in()
        self.ends: list[tuple[Found, notes.Ended]] = []
        self.begun: list[tuple[Found, notes.Begun]] = []

    def takes(self, found: Found, note: notes.Begun | notes.Ended) -> bool:
        """Whether the next record is of this run, and not of an earlier one of that name."""
        if isinstance(note, notes.Begun):
            # A process that goes on with a run says when that began. One that says nothing may be
            # going on, too.
            return not self.begun or not note.began or not self.reached or note.began >= self.since
        if not self.begun or found.stub.at == self.since:
            return found.chain not in {one.chain for one, _ in (*self.ends, *self.begun)}
        return found.stub.at > self.since

    def add(self, found: Found, note: notes.Begun | notes.Ended) -> None:
        """Take what a record says of how it began, went on or ended."""
        if isinstance(note, notes.Ended):
            self.ends.append((found, note))
        else:
            self.begun.append((found, note))

    def first_in(self) -> dict[str, Found]:
        """Where this run, or a later one of its name, begins in each chain: what stands before is
        of earlier ones."""
        return {**self._later, **{found.chain: found for found, _ in self.begun}}

    def has(self, found: Found) -> bool:
        """Whether a record of its name stands before those of a later run of that name."""
        later = self._later.get(found.chain)
        return later is None or (found.segment, found.offset) < (later.segment, later.offset)

    def reaches(self, found: Found) -> bool:
        """Whether a record does not stand before the run begins in its chain."""
        first = self.first_in().get(found.chain)
        return first is None or (found.segment, found.offset) >= (first.segment, first.offset)

    @property
    def since(self) -> int:
        """When the run began, as far as it is read: a process that goes on with it says so."""
        return min(note.began if note.began else found.stub.at for found, note in self.begun)

    @property
    def reached(self) -> bool:
        """Whether its beginning is among what was read."""
        return min(found.stub.at for found, _ in self.begun) <= self.since

    def untold(self, reader: Reader) -> dict[str, Found]:
        """The chains whose process has not told at its end what it decided, and where the run
        begins in each."""
        oldest = {found.chain: found for found, _ in self.begun}
        told = {found.chain for found, _ in self.ends}
        if oldest.keys() <= told:
            return {}
        for found, _ in self.ends:
            if found.chain not in oldest:
                # Its process went on there, because the chain in which it began was taken away.
                told |= {
                    lost[0]
                    for opened in reader.opened(found)
                    for lost in opened.data().get("lost", ())
                }
        return {chain: found for chain, found in oldest.items() if chain not in told}

    def decided(self) -> dict[str, int]:
        """What processes have told at their ends that they decided."""
        total: dict[str, int] = {}
        for _, end in self.ends:
            for action, count in end.decided.items():
                total[action] = total.get(action, 0) + count
        return total

    def end(self) -> notes.Ended | None:
        """How it ended: as it was cancelled, or else as the last of its processes says."""
        ends = [end for _, end in self.ends]
        return next((end for end in ends if end.code == _CANCELLED), ends[0] if ends else None)

    def state(self, reader: Reader, decided: dict[str, int], untold: dict[str, Found]) -> str:
        """How it stands, with what was decided in all of it."""
        if any(is_alive(reader, found) for found in untold.values()):
            return OPEN
        end = self.end()
        if end is None:
            return LOST
        return CANCELLED if end.code == _CANCELLED else HALTED if decided.get("HALT") else ENDED


def is_alive(reader: Reader, begun: Found) -> bool:
    """Whether the process that began a run may still be at it: nobody else has taken its chain, and
    it is locked."""
    folder = reader.folder / begun.chain
    head = read_head(folder)
    if head is not None and head.closed:
        return False
    pids = [opened.data().get("pid") for opened in reader.opened(begun)]
    return len(set(pids)) <= 1 and is_written(folder)
