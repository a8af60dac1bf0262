"""A run's notebook: what its processes learn, in order, in the store that they share.

The last notes stand in one record, the open page; its version is how often something was written. A
page that is full is closed: it becomes a record of its own, compressed, and is not written again. A
process expects the open page as it knows it, in the batch of every decision that asks the memory or
adds to it. Where another one has written, the batch is stale, as it is where any record has
changed, and the answer brings the open page. Whoever lacks closed pages asks for all of them at
once in the next try.

What was read while a decision is made is new enough to answer from: only who writes has to know the
last version. Where many write at once, a note is owed after a few tries, and goes with the next
batch of its process.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Set as AbstractSet
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import typed
from stanchion.audit.redaction import masked
from stanchion.guards.flow.memory import ProvenanceNote, note_of_call, note_of_result, note_of_words
from stanchion.guards.flow.tools import FlowTool
from stanchion.kernel.content import content_of
from stanchion.kernel.events import Event, Failure, HandoffDone, Prompt, ToolCall, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.sizes import unread
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import FOREVER, Expect, Fresh, Put, Reply, When, key
from stanchion.locks import Lock
from stanchion.readings.origins.marks import key_of, keyed, unkey

LEARNT: Final = frozenset(
    {Stage.PROMPT, Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR, Stage.HANDOFF_DONE}
)

LARGEST: Final = 4 * 1024 * 1024
"""How many bytes a note has at the most where it is kept."""
LARGEST_PAGE: Final = 8 * 1024 * 1024
"""How many bytes of notes are taken apart at once."""


def note_of(
    event: Event,
    findings: tuple[Finding, ...],
    tool: FlowTool,
    child: bool,
    has_a_yes: bool,
) -> ProvenanceNote | None:
    """What is to be learnt from an event that goes ahead with these findings, as it was delivered;
    nothing where it tells nothing.

    `child` says that it is a child run's, which is told what to do by an agent; `has_a_yes` that a
    person has said yes to it.
    """
    real = tuple([finding for finding in findings if not finding.shadow])
    patches = tuple([patch for finding in real for patch in finding.patches])
    if unread(real):
        return None
    try:
        content = apply(content_of(event), patches) if patches else content_of(event)
    except PatchError:
        return None
    match event:
        case Prompt(trusted=True):
            return None if child else note_of_words(str(content))
        case ToolCall():
            return note_of_call(tool, content, has_a_yes)
        case ToolResult():
            return note_of_result(tool, event.args, content)
        case Failure():
            return note_of_result(tool.failed, event.args, content)
        case Prompt() | HandoffDone():
            return note_of_result(tool, {}, content)
        case _:
            return None


_encode: Final = msgspec.msgpack.Encoder().encode
_decode_page: Final = msgspec.msgpack.Decoder(tuple[int, list[bytes]]).decode

UNREADABLE: Final = (msgspec.MsgspecError, zlib.error, ValueError, TypeError)
"""What reading raises where something was not written by `packed`."""


def packed(note: ProvenanceNote, key: int) -> bytes:
    """A note as it is kept: with a key, and of the user's words without secrets, as in the
    trail."""
    shown = msgspec.structs.replace(note, shown=masked(note.shown))
    plain = msgspec.to_builtins(shown, order="deterministic")
    return _encode(keyed(plain, key))


def unpacked(data: bytes, key: int = 1) -> ProvenanceNote:
    """The note that was packed so; `key` takes its key away again."""
    return typed.convert(keyed(msgspec.msgpack.decode(data), key), ProvenanceNote)


def page_of(first: int, notes: tuple[bytes, ...]) -> bytes:
    """Notes that nothing is added to any more, and the number of the first."""
    return zlib.compress(_encode((first, notes)), 1)


def notes_of(page: bytes) -> tuple[int, list[bytes]]:
    """The notes of a page, and the number of the first."""
    return _decode_page(zlib.decompressobj().decompress(page, LARGEST_PAGE))


NOTES: Final = "notes"
"""What the keys of pages begin with, behind the tenant."""
PAGE: Final = 16 * 1024
"""From how many bytes on a page is closed before the next note."""
MOST: Final = 16 * 1024 * 1024
"""How many bytes of notes a run keeps, before they are compressed."""

MOST_OWED: Final = 256
"""How many notes a process owes at the most."""

Take = Callable[[ProvenanceNote | None], None]
"""Takes a note in; nothing is one that is missing."""


class OpenPage(NamedTuple):
    """The open page. `closed` pages stand before it, `first` is the number of its first note,
    `size` counts the bytes of all notes; `gaps` says that some note is missing."""

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


Write = Callable[[tuple[Finding, ...]], ProvenanceNote | None]
"""Writes the note of an event with these findings."""


class NoteTerms(NamedTuple):
    """When a note is written, and in how many tries before it is owed; 0 for an event that nothing
    is learnt from."""

    when: When
    tries: int


class Draft(NamedTuple):
    """The open page as it is to become, what has to be written for it, the notes that were owed
    before, and whether the new one has room."""

    opened: OpenPage
    puts: tuple[tuple[str, Any], ...]
    owed: tuple[bytes, ...]
    has_room: bool


class Notebook:
    """What one process knows of the notes of a run and its children. For several threads."""

    def __init__(self, tenant: str, run: str, shown: Callable[[str], str]) -> None:
        self.tenant: Final = tenant
        self._shown = shown
        self._run = run
        self._name = key(tenant, NOTES, run)
        self._key = key_of(tenant, run)
        self._unkey = unkey(self._key)
        self._lock = Lock()
        self._known = OpenPage()
        self._pages, self._taken = 0, 0
        self._lacks: tuple[str, ...] = ()
        self._owed: list[bytes] = []
        self._gap = False
        self._told_gaps = False
        self.unreadable = False
        """Whether what is in the store could not be read: then nobody can say what the run has
        read."""

    def page(self, number: int) -> str:
        """The key of a closed page."""
        return key(self.tenant, NOTES, self._run, str(number))

    def look(self, to_write: bool) -> tuple[OpenPage, list[Expect]]:
        """The open page as it is known, and what a batch expects: that this is so, or, of a page
        that is not written, that it is no older; and, of pages that are lacking, what cannot be, so
        that the answer brings them."""
        with self._lock:
            known = self._known
            upto = known.version + 1 if to_write else FOREVER
            return known, [
                (self._name, known.version, upto),
                *[(name, 0, 0) for name in self._lacks],
            ]

    def packed(self, note: ProvenanceNote) -> bytes:
        """A note as it is kept, with the name in it as it is shown."""
        return packed(msgspec.structs.replace(note, tool=self._shown(note.tool)), self._key)

    def owe(self, data: bytes) -> None:
        """Something was learnt that is not in the store: it goes with a later note."""
        with self._lock:
            if len(self._owed) < MOST_OWED:
                self._owed.append(data)
            else:
                self._gap = True

    def draft(self, known: OpenPage, data: bytes) -> Draft:
        """The open page with a note more, behind those that are owed. One that has no room leaves a
        gap; where that is known already, nothing is written."""
        with self._lock:
            owed = tuple(self._owed)
        opened, closed = known._replace(gaps=known.gaps or self._gap), []
        for each in (*owed, data):
            if len(each) > LARGEST or opened.size + len(each) > MOST:
                opened = opened._replace(gaps=True)
                continue
            if sum(map(len, opened.notes)) >= PAGE:
                page = page_of(opened.first, opened.notes)
                opened = opened._replace(closed=opened.closed + 1, first=opened.end, notes=())
                closed.append((self.page(opened.closed), page))
            opened = opened._replace(size=opened.size + len(each), notes=(*opened.notes, each))
        if opened == known:
            return Draft(known, (), owed, False)
        opened = opened._replace(version=known.version + 1)
        return Draft(
            opened, (*closed, (self._name, opened.value)), owed, opened.notes[-1:] == (data,)
        )

    def wrote(self, draft: Draft, note: ProvenanceNote, take: Take) -> None:
        """The store has taken a note of this process. Where another thread has read it there
        already, it is known."""
        opened = draft.opened
        with self._lock:
            if opened.version > self._known.version:
                self._known, self._told_gaps = opened, opened.gaps
                self._pages, self._taken = opened.closed, opened.end
                take(note)
            elif not draft.has_room:
                take(note)
            self._owed = [data for data in self._owed if data not in draft.owed]
            self._gap = False

    def read(self, fresh: tuple[Fresh, ...], take: Take) -> AbstractSet[str]:
        """Take in what others have written; gives the keys of the records that are the notebook's
        own."""
        with self._lock:
            found = {
                one.key: one for one in fresh if one.key == self._name or one.key in self._lacks
            }
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
        """Know the open page as it is now. One that was forgotten begins anew, behind what is known
        here: this process lacks nothing, and others will."""
        before = self._known
        if fresh.value is None:
            self._known, self._told_gaps = (
                OpenPage(fresh.number, before.closed, self._taken, before.size, True),
                True,
            )
            return
        self._known = before._replace(version=fresh.number)  # also where it cannot be read
        self._known = _opened(fresh.number, fresh.value)
        lacking = (
            range(self._pages + 1, self._known.closed + 1)
            if self._known.first > self._taken
            else ()
        )
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
            if data in self._owed:
                self._owed.remove(data)  # this process wrote it, and knows it
            else:
                take(unpacked(data, self._unkey))
        self._taken = max(self._taken, first + len(notes))


class NotebookEntry:
    """What one decision reads in the notebook, and adds to it. It rides on the decision's batch."""

    __slots__ = (
        "_asks",
        "_base",
        "_data",
        "_draft",
        "_note",
        "_notebook",
        "_sent",
        "_take",
        "_terms",
        "_tries",
        "_write",
        "done",
    )

    def __init__(self, notebook: Notebook, write: Write, take: Take, terms: NoteTerms) -> None:
        self._notebook = notebook
        self._write = write
        self._take = take
        self._terms = terms
        self._tries = 0
        self._base = OpenPage()
        self._note: ProvenanceNote | None = None
        self._data = b""
        self._draft: Draft | None = None
        self._asks: list[Expect] = []
        self._sent: tuple[tuple[Finding, ...], tuple[Put, ...]] | None = None
        """What may be under way to the store: until it has answered, it stays the same."""
        self.done = False
        """Whether the store has answered: then all is learnt that is to be learnt."""

    def expects(self) -> list[Expect]:
        """The open page as it is known. The first time it has to be the last one: something may be
        new."""
        if not self._asks:
            self._tries += 1
            self._base, self._asks = self._notebook.look(
                self._tries == 1 or self._tries <= self._terms.tries
            )
        return self._asks

    def puts(self, findings: tuple[Finding, ...]) -> tuple[Put, ...]:
        """The open page with what is learnt, if the decision goes ahead."""
        if self._sent is None or self._sent[0] != findings:
            self._sent = findings, self._put(findings)
        return self._sent[1]

    def _put(self, findings: tuple[Finding, ...]) -> tuple[Put, ...]:
        written, self._draft = self._write(findings), None
        if written is not None and written != self._note:
            self._data = self._notebook.packed(written)
        self._note = written
        if written is None or self._notebook.unreadable or self._tries > self._terms.tries:
            return ()
        self._draft = self._notebook.draft(self._base, self._data)
        return tuple([(name, value, self._terms.when, 0, 0) for name, value in self._draft.puts])

    def moved(self, reply: Reply) -> AbstractSet[str]:
        """Take in what others have written."""
        self._asks, self._sent = [], None
        return self._notebook.read(reply.fresh, self._take)

    def kept(self, reply: Reply) -> None:
        """Learn what goes ahead now. What others were faster to write is owed."""
        self.done = True
        if self._note is None or not (reply.go or self._terms.when == When.JUDGED):
            return
        if self._draft is not None:
            self._notebook.wrote(self._draft, self._note, self._take)
            return
        self._take(self._note)
        self._notebook.owe(self._data)


def notes_in(page: Any) -> list[Any]:
    """The notes of an open or a closed page as plain data, for people; none where they cannot be
    read."""
    try:
        notes = notes_of(page)[1] if isinstance(page, bytes) else _opened(0, page).notes
        return [msgspec.to_builtins(unpacked(data)) for data in notes]
    except UNREADABLE:
        return []


def _opened(version: int, value: Any) -> OpenPage:
    return OpenPage(version, *msgspec.convert(value, tuple[int, int, int, bool, tuple[bytes, ...]]))
