"""Reading one line of a trail, as strictly as its format is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from hashlib import sha256
from typing import Any, Final, NamedTuple

from .files import OVERLONG, TooDeep, is_chain, is_count, is_hash, parsed

GENESIS: Final = "0" * 64
"""What stands for the hash before the first record of a chain."""

VERSION: Final = 3

LISTING: Final = frozenset({"segment", "open", "checkpoint", "retired", "erased"})
"""The kinds of records that have more fields that verifying needs."""

_LINE: Final = re.compile(
    rb'\{"hash":"([0-9a-f]{64})"(?:,"mac":"([0-9a-f]{64})")?,"took":(?:0|-?[1-9][0-9]{0,18})'
    rb'(?:,"seal":"([ !#-\[\]-~]*)")?,"body":(\{.*\})\}',
    re.DOTALL,
)
HOLDS: Final = re.compile(rb',"holds":"([0-9a-f]{64})"\}(?=,"kept":|\}$)').search
"""How a body ends that holds something: it has no other field of that name, and in its texts quotes
are escaped."""
_LEADING: Final = re.compile(
    rb'\{"v":3,"prev":"([0-9a-f]{64})","seq":(0|[1-9][0-9]{0,17}),"chain":"([0-9a-f]{16})",'
    rb'"kind":"([a-z_]{1,32})","at":(0|-?[1-9][0-9]{0,17})(?=[,}])'
)
_TOKEN: Final = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")[ \t\r\n]*(:)?|[{}\[\]]', re.DOTALL)
_DECIDING: Final = ("v", "prev", "seq", "chain", "kind", "at")

OTHER_HASH: Final = "its bytes do not match the hash written beside them"


class RetiredSegment(NamedTuple):
    """A segment that a `retired` record names."""

    number: int
    first: int
    last: int
    prev: str
    hash: str


class Lost(NamedTuple):
    """A chain that an `open` record calls taken away: its last record, the hash of that, and what
    its writer saw."""

    chain: str
    seq: int
    hash: str
    why: str


class ContentState(Enum):
    """How what was said stands beside a record that holds it by its hash."""

    NOTHING = auto()
    """The record holds nothing, and nothing is there."""
    FITS = auto()
    GONE = auto()
    """The record holds something, and it is there no more."""
    WRONG = auto()
    """Something else is there than the record holds."""


class Body(NamedTuple):
    """The fields of a body that verifying needs."""

    prev: str
    seq: int
    chain: str
    kind: str
    at: int
    number: int = 0
    heads: tuple[tuple[str, int, str], ...] = ()
    retired: tuple[RetiredSegment, ...] = ()
    epoch: str | None = None
    """What it says of the epoch of the key that begins with it."""
    found: tuple[int, int] | None = None
    """The records that stood behind the head when it was written, and that its writer could not
    check."""
    lost: tuple[Lost, ...] = ()
    erased: tuple[tuple[str, int, int], ...] = ()
    """The chain, the first and the last number of records in which nothing is said any more."""


class Record(NamedTuple):
    """A line whose hash fits its body."""

    hash: str
    seal: str | None
    prev: str
    seq: int
    chain: str
    body: Body
    mac: str | None = None
    apart: ContentState = ContentState.NOTHING


class Unsound(NamedTuple):
    """A line that is no record, and why; `hash` is what its body has, where only the hash beside it
    does not fit."""

    why: str
    hash: str = ""


class _Unreadable(Exception):
    """A body is not what the format says."""


def read(line: bytes) -> Record | Unsound:
    """Read a line, given without its line feed."""
    holds = HOLDS(line)
    ends = len(line) - 1 if holds is None else holds.end()
    match = _LINE.fullmatch(line[:ends] + line[-1:])
    if match is None:
        return Unsound(_why(line))
    stated, mac, seal, body = match.groups()
    found = sha256(body).hexdigest()
    if found != stated.decode():
        return Unsound(OTHER_HASH, found)
    try:
        fields = _body(body)
    except _Unreadable as problem:
        return Unsound(str(problem))
    apart = (
        ContentState.NOTHING
        if holds is None
        else _apart(holds[1], line[ends + len(',"kept":') : -1])
    )
    place = fields.prev, fields.seq, fields.chain
    return Record(found, _text(seal), *place, fields, _text(mac), apart)


def _text(found: bytes | None) -> str | None:
    return None if found is None else found.decode()


def _apart(holds: bytes, kept: bytes) -> ContentState:
    """Whether what stands behind a body is what the body holds."""
    if kept.rstrip(b" ") in (b"", b"null"):
        return ContentState.GONE
    return ContentState.FITS if sha256(kept).hexdigest().encode() == holds else ContentState.WRONG


def _why(line: bytes) -> str:
    if not line.strip(b" \t\r"):
        return "it is blank"
    if line.startswith(OVERLONG):
        return "it is longer than 64 MiB"
    if b"\0" in line:
        return "it holds zero bytes"
    if line.startswith(b"\xef\xbb\xbf"):
        return "it begins with a byte order mark"
    if line.endswith(b"\r"):
        return "it ends with a carriage return"
    return "it does not have the form of a record"


def mended(line: bytes) -> bytes:
    """A line without what editors put around lines."""
    return line.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r")


def _body(body: bytes) -> Body:
    leading = _LEADING.match(body)
    if leading is not None and (kind := leading[4].decode()) not in LISTING:
        plain = Body(
            leading[1].decode(), int(leading[2]), leading[3].decode(), kind, int(leading[5])
        )
        if not once(body, leading.end()):
            raise _Unreadable("an essential field appears in it twice")
        return plain
    return _parsed(body)


def once(body: bytes, behind: int) -> bool:
    """Whether no field that decides stands in a body again behind its leading fields."""
    if not _suspect(body, behind):
        return True
    try:
        if None not in parsed(body):
            return True
    except ValueError:
        pass
    depth, found = 0, []
    for token in _TOKEN.finditer(body):
        if token[1] is None:
            depth += 1 if token[0] in b"{[" else -1
        elif depth == 1 and token[2]:
            found += [name for name in _DECIDING if _reads_as(token[1], name)]
    return len(found) == len(set(found))


def _suspect(line: bytes, behind: int) -> bool:
    """Whether a field that decides may stand in a line again, plain or with its letters as
    escapes."""
    return (
        line.find(b'"seq"', behind) >= 0
        or line.find(b'"prev"', behind) >= 0
        or line.find(b'"chain"', behind) >= 0
        or line.find(b'"kind"', behind) >= 0
        or (line.find(b"\\", behind) >= 0 and (b"\\u006" in line or b"\\u007" in line))
    )


def _reads_as(text: bytes, name: str) -> bool:
    try:
        return bool(parsed(text) == name)
    except ValueError:
        return False


def _parsed(body: bytes) -> Body:
    try:
        fields = parsed(body)
    except TooDeep:
        raise _Unreadable("it is nested too deeply") from None
    except ValueError:
        raise _Unreadable("its body is not JSON") from None
    if fields.get("v") != VERSION or type(fields["v"]) is not int:
        raise _Unreadable(f"it is not in version {VERSION} of the format")
    if None in fields:
        raise _Unreadable("a field appears in it twice")
    prev, seq, chain, kind, at = (fields.get(name) for name in _DECIDING[1:])
    if not (
        is_hash(prev)
        and is_count(seq)
        and is_chain(chain)
        and isinstance(kind, str)
        and type(at) is int
    ):
        raise _Unreadable("it lacks a field that every record has")
    plain = Body(prev, seq, chain, kind, at)
    if kind == "segment" and is_count(number := fields.get("number")):
        return plain._replace(number=number, epoch=_epoch(fields))
    if kind == "open":
        return plain._replace(epoch=_epoch(fields), found=_found(fields), lost=_lost(fields))
    if kind == "checkpoint" and isinstance(heads := fields.get("heads"), dict):
        return plain._replace(heads=tuple(_head(*item) for item in heads.items()))
    if kind == "retired" and isinstance(segments := fields.get("segments"), list):
        return plain._replace(retired=tuple(map(_retired, segments)))
    if kind == "erased" and isinstance(records := fields.get("records"), dict):
        return plain._replace(
            erased=tuple(row for item in records.items() for row in _erased(*item))
        )
    if kind in LISTING:
        raise _Unreadable(f"it lacks a field that a {kind} record needs")
    return plain


def _epoch(fields: dict[Any, Any]) -> str | None:
    epoch = fields.get("epoch")
    if isinstance(epoch, str | None):
        return epoch
    raise _Unreadable("it names an invalid epoch")


def _found(fields: dict[Any, Any]) -> tuple[int, int] | None:
    match fields.get("found"):
        case None:
            return None
        case [first, last, digest] if (
            is_count(first) and is_count(last) and is_hash(digest) and first <= last
        ):
            return first, last
    raise _Unreadable("it names invalid found records")


def _lost(fields: dict[Any, Any]) -> tuple[Lost, ...]:
    said = fields.get("lost", [])
    if not isinstance(said, list):
        raise _Unreadable("it names invalid lost chains")
    found = []
    for one in said:
        match one:
            case [chain, seq, digest, str(why)] if (
                is_chain(chain) and is_count(seq) and is_hash(digest)
            ):
                found.append(Lost(chain, seq, digest, why))
            case _:
                raise _Unreadable("it names invalid lost chains")
    return tuple(found)


def _head(chain: Any, named: Any) -> tuple[str, int, str]:
    if (
        is_chain(chain)
        and isinstance(named, list)
        and len(named) == 2
        and is_count(named[0])
        and is_hash(named[1])
    ):
        return chain, named[0], named[1]
    raise _Unreadable("it names an invalid head")


def _erased(chain: Any, rows: Any) -> Iterator[tuple[str, int, int]]:
    for row in rows if is_chain(chain) and isinstance(rows, list) else [None]:
        if not (
            isinstance(row, list) and len(row) == 2 and all(map(is_count, row)) and row[0] <= row[1]
        ):
            raise _Unreadable("it names invalid erased records")
        yield chain, row[0], row[1]


def _retired(segment: Any) -> RetiredSegment:
    if isinstance(segment, list) and len(segment) == 5 and all(map(is_count, segment[:3])):
        entry = RetiredSegment(*segment)
        if is_hash(entry.prev) and is_hash(entry.hash) and entry.first <= entry.last:
            return entry
    raise _Unreadable("it names an invalid retired segment")
