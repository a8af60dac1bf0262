"""Lines of a segment: a record's exact bytes, with their hash and what stands beside them."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final, NamedTuple

_LINE: Final = re.compile(
    rb'\{"hash":"([0-9a-f]{64})"(?:,"mac":"([0-9a-f]{64})")?,"took":([0-9]{1,19})'
    rb'(?:,"seal":"([0-9a-z:-]+)")?,"body":(\{.*\})\}'
)


class Line(NamedTuple):
    """One line: the body's hash as written beside it, how long it took, its seal if it has one, the body, and its mac
    if it has one."""

    hash: str
    took_ns: int
    seal: str
    body: bytes
    mac: str = ""

    @property
    def fits(self) -> bool:
        """Whether the hash is that of the body."""
        return sha256(self.body).hexdigest() == self.hash


def line_of(body: bytes, digest: str, took_ns: int, mac: str = "", seal: str = "", kept: bytes = b"") -> bytes:
    """A record as a line of its segment; `kept` is what stands behind the body, outside its hash."""
    proof = b',"mac":"%b"' % mac.encode() if mac else b""
    sealed = b',"seal":"%b"' % seal.encode() if seal else b""
    behind = b',"kept":%b' % kept if kept else b""
    return b'{"hash":"%b"%b,"took":%d%b,"body":%b%b}\n' % (digest.encode(), proof, took_ns, sealed, body, behind)


def parse_line(line: bytes) -> Line | None:
    """A line without its line feed, taken apart; `None` where it is no line of a segment."""
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    digest, mac, took, seal, body = match.groups()
    return Line(digest.decode(), int(took), _text(seal), body, _text(mac))


def _text(found: bytes | None) -> str:
    return "" if found is None else found.decode()
