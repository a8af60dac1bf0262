"""Lines of a segment: a record's exact bytes, with their hash and what stands beside them."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final, NamedTuple

_LINE: Final = re.compile(
    rb'\{"hash":"([0-9a-f]{64})","took":([0-9]{1,19})(?:,"seal":"([0-9a-z:-]+)")?,"body":(\{.*\})\}'
)


class Line(NamedTuple):
    """One line: the body's hash as written beside it, how long it took, its seal if it has one, and the body."""

    hash: str
    took_ns: int
    seal: str
    body: bytes

    @property
    def fits(self) -> bool:
        """Whether the hash is that of the body."""
        return sha256(self.body).hexdigest() == self.hash


def line_of(body: bytes, digest: str, took_ns: int, seal: str = "") -> bytes:
    """A record as a line of its segment."""
    if seal:
        return b'{"hash":"%b","took":%d,"seal":"%b","body":%b}\n' % (digest.encode(), took_ns, seal.encode(), body)
    return b'{"hash":"%b","took":%d,"body":%b}\n' % (digest.encode(), took_ns, body)


def parse_line(line: bytes) -> Line | None:
    """A line without its line feed, taken apart; `None` where it is no line of a segment."""
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    digest, took, seal, body = match.groups()
    return Line(digest.decode(), int(took), "" if seal is None else seal.decode(), body)
