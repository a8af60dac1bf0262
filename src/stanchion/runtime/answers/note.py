"""Notes: what a run learns from one event, as plain data that any process of the run can take
in."""

from __future__ import annotations

import zlib
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import typed
from stanchion.audit.redaction import masked
from stanchion.kernel.content import content_of
from stanchion.kernel.declared import READ
from stanchion.kernel.events import Event, Failure, HandoffDone, Prompt, ToolCall, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.sizes import unread
from stanchion.kernel.stages import Stage

LEARNT: Final = frozenset(
    {Stage.PROMPT, Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR, Stage.HANDOFF_DONE}
)
TELLING: Final = (READ,)
"""What other agents say is read, and never the status of something that was done."""

SAID: Final = "said"
WENT: Final = "went"
GOT: Final = "got"
TOLD: Final = "told"
"""What a note tells: the user has said something, a call went ahead, a call has brought something,
or another agent has told something."""

LARGEST: Final = 4 * 1024 * 1024
"""How many bytes a note has at the most where it is kept."""
LARGEST_PAGE: Final = 8 * 1024 * 1024
"""How many bytes of notes are taken apart at once."""


class Note(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What was learnt from an event, as it was delivered. `approved`: a person has said yes, for
    more than once."""

    kind: str
    content: Any = None
    tool: str = ""
    traits: tuple[str, ...] = ()
    args: Any = None
    approved: bool = False


class Written(NamedTuple):
    """A note as this process learns it, and as it is kept: without what guards keep out of
    records."""

    learnt: Note
    kept: Note


def note_of(
    event: Event, findings: tuple[Finding, ...], child: bool, approved: bool
) -> Written | None:
    """What is to be learnt from an event that goes ahead with these findings; nothing where it
    tells nothing.

    `child` says that it is a child run's, which is told what to do by an agent.
    """
    if event.stage not in LEARNT:
        return None
    real = tuple([finding for finding in findings if not finding.shadow])
    patches = tuple([patch for finding in real for patch in finding.patches])
    hidden = tuple([patch for finding in findings for patch in (*finding.patches, *finding.hides)])
    try:
        content: Any = (
            ""
            if unread(real)
            else apply(content_of(event), patches)
            if patches
            else content_of(event)
        )
        learnt = _note(event, content, child, approved)
        if learnt is None or hidden == patches or content == "":
            return None if learnt is None else Written(learnt, learnt)
        kept = _note(event, apply(content_of(event), hidden), child, approved)
    except PatchError:
        return None
    return None if kept is None else Written(learnt, kept)


def _note(event: Event, content: Any, child: bool, approved: bool) -> Note | None:
    match event:
        case Prompt(trusted=True):
            return None if child else Note(SAID, content)
        case Prompt():
            return Note(TOLD, content, event.source if event.source else "prompt", TELLING)
        case ToolCall():
            return Note(WENT, None, event.tool, event.traits, content, approved)
        case ToolResult() | Failure():
            return Note(GOT, content, event.tool, event.traits, event.args)
        case HandoffDone():
            return Note(TOLD, content, "handoff", TELLING)
        case _:
            return None


_encode: Final = msgspec.msgpack.Encoder(enc_hook=str).encode
_decode: Final = typed.unpacker(Note).decode
_encode_page: Final = msgspec.msgpack.Encoder().encode
_decode_page: Final = msgspec.msgpack.Decoder(tuple[int, list[bytes]]).decode

UNREADABLE: Final = (msgspec.MsgspecError, zlib.error, ValueError, TypeError)
"""What reading raises where something was not written by `packed`."""


def packed(note: Note) -> bytes:
    """A note as it is kept: secrets are masked, as in the trail. What cannot be written as it is,
    such as a number of many digits, is written as text."""
    content, args = masked(note.content), masked(note.args)
    if content is not note.content or args is not note.args:
        note = msgspec.structs.replace(note, content=content, args=args)
    try:
        return _encode(note)
    except (OverflowError, UnicodeEncodeError, TypeError, ValueError, RecursionError):
        plain = msgspec.structs.replace(note, content=_plain(content), args=_plain(args))
        return _encode(plain)


def _plain(value: Any) -> Any:
    return None if value is None else str(value).encode("utf-8", "replace").decode()


def unpacked(data: bytes) -> Note:
    """The note that was packed so."""
    return _decode(data)


def page_of(first: int, notes: tuple[bytes, ...]) -> bytes:
    """Notes that nothing is added to any more, and the number of the first."""
    return zlib.compress(_encode_page((first, notes)), 1)


def notes_of(page: bytes) -> tuple[int, list[bytes]]:
    """The notes of a page, and the number of the first."""
    return _decode_page(zlib.decompressobj().decompress(page, LARGEST_PAGE))
