"""A run's notebook: what its processes learn, in order, in the store that they share.

The last notes stand in one record, the open page; its version is how often something was written. A page that is full
is closed: it becomes a record of its own, compressed, and is not written again. A process expects the open page as it
knows it, in the batch of every decision that asks the memory or adds to it. Where another one has written, the batch is
stale, as it is where any record has changed, and the answer brings the open page. Whoever lacks closed pages asks for
all of them at once in the next try.
"""

from __future__ import annotations

from collections.abc import Callable, Set as AbstractSet
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.kernel.findings import Finding
from stanchion.kernel.state import Expect, Fresh, Put, Reply, When, key
from stanchion.locks import Lock
from stanchion.runtime.answers.note import LARGEST, UNREADABLE, Note, notes_of, packed, page_of, unpacked

PAGE: Final = 16 * 1024
"""From how many bytes on a page is closed before the next note."""
MOST: Final = 16 * 1024 * 1024
"""How many bytes of notes a run keeps, before they are compressed."""

Take = Callable[[Note | None], None]
"""Takes a note in; nothing is one that is missing."""


class Opened(NamedTuple):
    """The open page. `closed` pages stand before it, `first` is the number of its first note, `size` counts the bytes
    of all notes; `gaps` says that some note is missing."""

    version: int = 0
    closed: int = 0
    first: int = 0
    size: int = 0
    gaps: bool = False
    notes: tuple[bytes, ...] = ()

    @property
    def end(self) -> int:
        """The number of the next note."""
        return self.first + len(self.notes)

    @property
    def value(self) -> Any:
        """As it is kept."""
        return self[1:]


class Notebook:
    """What one process knows of the notes of a run and its children. For several threads."""

    def __init__(self, tenant: str, run: str) -> None:
        self.tenant: Final = tenant
        self._run = run
        self._name = key(tenant, "notes", run)
        self._lock = Lock()
        self._known = Opened()
        self._pages, self._taken = 0, 0
        self._lacks: tuple[str, ...] = ()
        self._gap = False
        self._told_gaps = False
        self.unreadable = False
        """Whether what is in the store could not be read: then nobody can say what the run has read."""

    def page(self, number: int) -> str:
        """The key of a closed page."""
        return key(self.tenant, "notes", self._run, str(number))

    def look(self) -> tuple[Opened, list[Expect]]:
        """The open page as it is known, and what a batch expects: that this is so, and, of pages that are lacking, what
        cannot be, so that the answer brings them."""
        with self._lock:
            known = self._known
            return known, [
                (self._name, known.version, known.version + 1),
                *[(name, 0, 0) for name in self._lacks],
            ]

    def missed(self) -> None:
        """Something was learnt without the store: whoever reads on is told that something is missing."""
        self._gap = True

    def with_note(self, known: Opened, data: bytes) -> tuple[Opened, tuple[Put, ...], bool]:
        """The open page with a note more, what has to be written for it, and whether the note has room. One that has
        none leaves a gap; where that is known already, nothing is written."""
        gaps = known.gaps or self._gap
        if len(data) > LARGEST or known.size + len(data) > MOST:
            left = known._replace(version=known.version + 1, gaps=True)
            return (known, (), False) if known.gaps else (left, (self._put(left),), False)
        size = known.size + len(data)
        if sum(map(len, known.notes)) < PAGE:
            grown = Opened(known.version + 1, known.closed, known.first, size, gaps, (*known.notes, data))
            return grown, (self._put(grown),), True
        fresh = Opened(known.version + 1, known.closed + 1, known.end, size, gaps, (data,))
        closed: Put = (self.page(fresh.closed), page_of(known.first, known.notes), When.PROCEED, 0, 0)
        return fresh, (closed, self._put(fresh)), True

    def _put(self, opened: Opened) -> Put:
        return (self._name, opened.value, When.PROCEED, 0, 0)

    def wrote(self, opened: Opened, note: Note, has_room: bool, take: Take) -> None:
        """The store has taken a note of this process. Where another thread has read it there already, it is known."""
        with self._lock:
            if opened.version > self._known.version:
                self._known, self._told_gaps = opened, opened.gaps
                self._pages, self._taken = opened.closed, opened.end
                take(note)
            elif not has_room:
                take(note)
            self._gap = False

    def read(self, fresh: tuple[Fresh, ...], take: Take) -> AbstractSet[str]:
        """Take in what others have written; gives the keys of the records that are the notebook's own."""
        with self._lock:
            found = {one.key: one for one in fresh if one.key == self._name or one.key in self._lacks}
            if found:
                try:
                    self._read(found, take)
                except UNREADABLE:
                    self.unreadable, self._lacks = True, ()
            return found.keys()

    def _read(self, found: dict[str, Fresh], take: Take) -> None:
        if self._lacks and found.keys() >= set(self._lacks):
            self._read_closed([found[name].value for name in self._lacks], take)
        if self._name in found:
            self._open(found[self._name])
        if not self._lacks:
            self._take_from(self._known.first, self._known.notes, take)
            if self._known.gaps and not self._told_gaps:
                self._told_gaps = True
                take(None)

    def _open(self, fresh: Fresh) -> None:
        """Know the open page as it is now. One that was forgotten begins anew, behind what is known here: this process
        lacks nothing, and others will."""
        before = self._known
        if fresh.value is None:
            self._known, self._told_gaps = Opened(fresh.number, before.closed, self._taken, before.size, True), True
            return
        self._known = before._replace(version=fresh.number)  # also where it cannot be read
        self._known = Opened(fresh.number, *msgspec.convert(fresh.value, tuple[int, int, int, bool, tuple[bytes, ...]]))
        lacking = range(self._pages + 1, self._known.closed + 1) if self._known.first > self._taken else ()
        self._lacks = tuple([self.page(number) for number in lacking])
        if not lacking:
            self._pages = self._known.closed

    def _read_closed(self, pages: list[Any], take: Take) -> None:
        for page in pages:
            if page is None:
                take(None)
                continue
            self._take_from(*notes_of(page), take)
        self._lacks, self._pages = (), self._known.closed
        if self._taken < self._known.first:
            take(None)
            self._taken = self._known.first

    def _take_from(self, first: int, notes: tuple[bytes, ...] | list[bytes], take: Take) -> None:
        for data in notes[max(0, self._taken - first) :]:
            take(unpacked(data))
        self._taken = max(self._taken, first + len(notes))


class Entry:
    """What one decision reads in the notebook, and adds to it. It rides on the decision's batch."""

    __slots__ = ("_base", "_data", "_note", "_notebook", "_take", "_then", "_when", "_write", "done")

    def __init__(
        self, notebook: Notebook, write: Callable[[tuple[Finding, ...]], Note | None], take: Take, when: When
    ) -> None:
        self._notebook = notebook
        self._write = write
        self._take = take
        self._when = when
        self._base = Opened()
        self._note: Note | None = None
        self._then: tuple[Opened, bool] | None = None
        self._data: tuple[Note, bytes] | None = None
        self.done = False
        """Whether the store has answered: then all is learnt that is to be learnt."""

    def expects(self) -> list[Expect]:
        """The open page as it is known."""
        self._base, expects = self._notebook.look()
        return expects

    def puts(self, findings: tuple[Finding, ...]) -> tuple[Put, ...]:
        """The open page with what is learnt, if the decision goes ahead."""
        self._note, self._then = self._write(findings), None
        if self._note is None or self._notebook.unreadable:
            return ()
        if self._data is None or self._data[0] != self._note:
            self._data = self._note, packed(self._note)
        opened, puts, has_room = self._notebook.with_note(self._base, self._data[1])
        self._then = opened, has_room
        return puts if self._when == When.PROCEED else tuple([(*put[:2], self._when, *put[3:]) for put in puts])

    def moved(self, reply: Reply) -> AbstractSet[str]:
        """Take in what others have written."""
        return self._notebook.read(reply.fresh, self._take)

    def kept(self, reply: Reply) -> None:
        """Learn what is written now."""
        self.done = True
        if self._note is not None and self._then is not None and (reply.go or self._when == When.JUDGED):
            self._notebook.wrote(self._then[0], self._note, self._then[1], self._take)
