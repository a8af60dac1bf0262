"""Heads: how far a chain had come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

from .files import is_chain, is_count, is_hash, open_plain, parsed

LONGEST: Final = 1 << 16
_FIELDS: Final = frozenset({"chain", "segment", "offset", "seq", "hash", "closed"})


class VerifiedHead(NamedTuple):
    """How far a chain had come: its last sealed record, where that ends, and whether the writer
    ended there."""

    chain: str
    segment: int
    offset: int
    seq: int
    hash: str
    closed: bool
    seal: str | None = None
    since: int | None = None
    """With which record the epoch began in which its record was written."""

    @property
    def sealed(self) -> str:
        """The text that its seal is made for."""
        place = f"{self.segment}:{self.offset}:{self.seq}"
        since = "" if self.since is None else f":{self.since}"
        return f"head:{self.chain}:{place}:{self.hash}:{int(self.closed)}{since}"


class HeadFile(NamedTuple):
    """What the file of a head holds: its bytes, None where there is none, and what they say or why
    they say nothing."""

    raw: bytes | None
    head: VerifiedHead | None = None
    why: str = ""


def head_file(folder: Path) -> HeadFile:
    """Read the head in a chain's folder."""
    try:
        with open_plain(folder / "head") as file:
            raw = file.read(LONGEST)
    except FileNotFoundError:
        return HeadFile(None)
    except OSError as error:
        return HeadFile(b"", None, error.strerror or str(error))
    try:
        return HeadFile(raw, head_of(raw.removesuffix(b"\n")))
    except ValueError as error:
        return HeadFile(raw, None, str(error))


def head_of(raw: bytes) -> VerifiedHead:
    """A head from its JSON, which is written without a byte too many; raises `ValueError`."""
    try:
        said = parsed(raw)
    except ValueError:
        raise ValueError("it is not JSON") from None
    if not isinstance(said, dict) or set(said) - {"seal", "since"} != _FIELDS:
        raise ValueError("it does not have the fields of a head")
    if json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode() != raw:
        raise ValueError("it is not in the form of a head")
    head = VerifiedHead(**said)
    counts = is_count(head.segment) and is_count(head.offset) and is_count(head.seq)
    named = is_chain(head.chain) and is_hash(head.hash)
    begun = head.since is None or is_count(head.since)
    if not (
        counts
        and named
        and begun
        and type(head.closed) is bool
        and isinstance(head.seal, str | None)
    ):
        raise ValueError("one of its fields has an invalid value")
    return head
