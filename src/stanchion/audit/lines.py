"""Lines of a segment: a record's exact bytes, with their hash and what stands beside them."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple

_BEFORE: Final = regex(
    rb'\{"hash":"([0-9a-f]{64})"(?:,"mac":"([0-9a-f]{64})")?,"took":([0-9]{1,19})'
    rb'(?:,"seal":"([0-9a-z:-]+)")?,"body":(?=\{)'
)

KEPT: Final = b',"kept":'
_HELD: Final = regex(rb',"holds":"[0-9a-f]{64}"\}(?=,"kept":)')
"""How a body ends that something is kept apart from: it has no other field of that name, and in its
texts quotes are escaped."""

ERASED: Final = b"null"


class Line(NamedTuple):
    """One line: the body's hash as written beside it, how long it took, its seal if it has one, the
    body, its mac if it has one, and what is kept apart from it: empty where there is nothing,
    `null` with spaces behind it where it was erased."""

    hash: str
    took_ns: int
    seal: str
    body: bytes
    mac: str = ""
    kept: bytes = b""

    @property
    def fits(self) -> bool:
        """Whether the hash is that of the body, and the body holds what is kept apart, as far as
        that is there."""
        if sha256(self.body).hexdigest() != self.hash:
            return False
        if not self.kept or is_blank(self.kept):
            return True
        return self.body.endswith(b'"%b"}' % sha256(self.kept).hexdigest().encode())


def is_blank(kept: bytes) -> bool:
    """Whether what was kept apart was erased."""
    return kept.rstrip(b" ") == ERASED


def line_of(
    body: bytes, digest: str, took_ns: int, mac: str = "", seal: str = "", kept: bytes = b""
) -> bytes:
    """A record as a line of its segment; `kept` is what stands behind the body, outside its
    hash."""
    proof = b',"mac":"%b"' % mac.encode() if mac else b""
    sealed = b',"seal":"%b"' % seal.encode() if seal else b""
    apart = KEPT + kept if kept else b""
    return b'{"hash":"%b"%b,"took":%d%b,"body":%b%b}\n' % (
        digest.encode(),
        proof,
        took_ns,
        sealed,
        body,
        apart,
    )


def parse_line(line: bytes) -> Line | None:
    """A line without its line feed, taken apart; `None` where it is no line of a segment, or no
    text."""
    return taken_apart(line) if is_text(line) else None


def is_text(line: bytes) -> bool:
    """Whether these bytes are UTF-8, as all records are."""
    try:
        return line.isascii() or bool(line.decode())
    except UnicodeDecodeError:
        return False


def taken_apart(line: bytes) -> Line | None:
    """A line in its parts, whether they can be read or not; `None` where it has none."""
    before = _BEFORE.match(line)
    if before is None or not line.endswith(b"}"):
        return None
    digest, mac, took, seal = before.groups()
    held = _HELD.search(line, before.end())
    ends = len(line) - 1 if held is None else held.end()
    if line[ends - 1 : ends] != b"}":
        return None
    kept = b"" if held is None else line[ends + len(KEPT) : -1]
    return Line(
        digest.decode(), int(took), _text(seal), line[before.end() : ends], _text(mac), kept
    )


def _text(found: bytes | None) -> str:
    return "" if found is None else found.decode()
