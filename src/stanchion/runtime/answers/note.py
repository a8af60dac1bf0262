"""Notes: what a run learns from one event, as marks that any process of the run can take in, and
how they are kept."""

from __future__ import annotations

import zlib
from typing import Final

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
from stanchion.readings.origins.marks import keyed

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
    plain = msgspec.to_builtins(msgspec.structs.replace(note, shown=masked(note.shown)))
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
