"""Records that are no decisions: runs that begin and end, and what a chain says of itself."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec

from stanchion import typed
from stanchion.audit.apart import NO_SALT, RecordParts, bound, is_erased
from stanchion.audit.record import LONGEST, VERSION, Redact, plain, spelled_out
from stanchion.audit.redaction import masked
from stanchion.kernel.events import RunInfo
from stanchion.kernel.shown import json_safe

RUN, END, SEGMENT, OPEN, CHECKPOINT, RETIRED, ERASED, BYPASS, FACT = (
    "run",
    "end",
    "segment",
    "open",
    "checkpoint",
    "retired",
    "erased",
    "bypass",
    "fact",
)


class TrailNote(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """What every record that is no decision begins with, in the order of the format."""

    prev: str
    seq: int
    chain: str
    kind: str
    at: int


N = TypeVar("N", bound=TrailNote)


class RunBegun(TrailNote, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A run begins, or goes on under another policy: who is at work, and under which policy."""

    run: RunInfo
    policy: str
    source: str = ""
    env: str | None = None
    deadline_ms: int | None = None
    began: int = 0
    """When the run began, where this is not its beginning."""
    tools: str = ""
    """The digest of the tools' definitions, where the policy's hash is that of its file and of
    these."""


class RunEnded(TrailNote, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A run ends: why, how often what was decided, what it had produced so far, and what guards had
    marked."""

    run: str
    tenant: str = "default"
    agent: str = ""
    task: str = ""
    code: str
    why: str = ""
    decided: dict[str, int] = {}
    produced: tuple[Any, ...] = ()
    left_out: int = 0
    flagged: tuple[str, ...] = ()
    strikes: dict[str, int] = {}


class FactNote(TrailNote, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """Something that is no decision about an event: a state that changed, a ticket that was
    answered, an undo."""

    what: str
    about: str = ""
    tenant: str = "default"
    run: str = ""
    by: str = ""
    why: str = ""
    data: dict[str, Any] = {}


class ChainOpened(TrailNote, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A process goes on with a chain: what of it it does not vouch for, and what it wrote itself
    and finds no more."""

    cut: int
    unfit: tuple[str, ...]
    pid: int
    epoch: str = ""
    found: tuple[int, int, str] | None = None
    """The first and last record behind the head that it could not check, and the hash of the
    last."""
    lost: tuple[tuple[str, int, str, str], ...] = ()
    """Chains that it wrote and that were taken from under it: chain, last record, its hash, what
    was seen."""


class SegmentBegun(TrailNote, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A segment begins."""

    number: int
    epoch: str = ""


class Checkpoint(TrailNote, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """The heads of all other chains as they were sealed."""

    heads: dict[str, tuple[int, str]]


class SegmentsRetired(TrailNote, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """Segments that retention removes: number, first and last record, hash before the first and of
    the last."""

    segments: tuple[tuple[int, int, int, str, str], ...]
    why: str = ""


class Erased(TrailNote, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """What was said in some records is erased: their numbers by chain, from the first to the last
    of each row."""

    records: dict[str, tuple[tuple[int, int], ...]]
    why: str = ""
    by: str = ""


APART: Final = ("why", "data", "produced")
"""The fields that stand apart of a run's end and of a fact."""

GONE: Final = "(erased)"
"""The reason where it was erased."""

PRODUCED_BYTES: Final = LONGEST // 2
"""How much of what a run produced its end keeps."""

_encode = msgspec.json.Encoder(order="deterministic", enc_hook=plain).encode


def encode_note(note: TrailNote, salt: str = NO_SALT) -> RecordParts:
    """The canonical bytes of a record that is no decision."""
    try:
        return _parts(note, salt)
    except (UnicodeEncodeError, TypeError):
        return _parts(
            typed.convert(spelled_out(msgspec.to_builtins(note, enc_hook=plain)), type(note)), salt
        )


def _parts(note: TrailNote, salt: str) -> RecordParts:
    if not isinstance(note, RunEnded | FactNote):
        return RecordParts(_bytes(note))
    apart = {name: value for name in APART if (value := getattr(note, name, None))}
    usual: dict[str, Any] = {"data": {}} if isinstance(note, FactNote) else {"produced": ()}
    kept = b'{"salt":"%b",%b' % (salt.encode(), json_safe(_encode(apart))[1:]) if apart else b""
    return bound(_bytes(msgspec.structs.replace(note, why="", **usual)), kept, salt)


def _bytes(note: TrailNote) -> bytes:
    return b'{"v":%d,%b' % (VERSION, json_safe(_encode(note))[1:])


def note_from(body: bytes, kept: bytes, kind: type[N]) -> N:
    """A record that is no decision, joined again; what was erased of it says so."""
    note = typed.decode(body, kind)
    if not kept or is_erased(body, kept):
        gone = is_erased(body, kept) and isinstance(note, RunEnded | FactNote)
        return msgspec.structs.replace(note, why=GONE) if gone else note
    apart = msgspec.json.decode(kept)
    produced = {"produced": tuple(apart["produced"])} if "produced" in apart else {}
    return msgspec.structs.replace(
        note, **{name: apart[name] for name in APART if name in apart} | produced
    )


def fitting(produced: tuple[Any, ...], redact: Redact = masked) -> tuple[tuple[Any, ...], int]:
    """The newest of what a run produced, redacted, as much as an end keeps, and how many are left
    out."""
    kept: list[Any] = []
    size = 0
    for one in reversed(produced):
        shown = redact(one)
        try:
            size += len(_encode(shown))
        except UnicodeEncodeError:
            shown = spelled_out(shown)
            size += len(_encode(shown))
        if size > PRODUCED_BYTES:
            break
        kept.append(shown)
    kept.reverse()
    return tuple(kept), len(produced) - len(kept)
