"""Tokens of a canary, and what stays of one in a text."""

from __future__ import annotations

import base64
import hashlib
import hmac
import html
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from stanchion.kernel.regex import regex
from stanchion.readings.hostile import folded

HEAD: Final = "st7"
CHECK: Final = 7
"""How many bytes of a token are its check."""
ROOMS: Final = (8, 13, 18, 23, 28)
"""How long labels are filled up to: with the check each gives whole letters."""
SIZES: Final = tuple([(CHECK + room) * 8 // 5 for room in ROOMS])
"""How many letters follow the head."""
LASTING: Final = ""
"""The owner of a token that belongs to no run."""


class LabelError(ValueError):
    """A label that no token can carry."""


def token(key: str, tenant: str, owner: str, label: str) -> str:
    """The canary with a label of a run, or of a whole tenant (`LASTING`): always the same."""
    data = label.encode("utf-8", "replace")
    if not label.isprintable() or not 0 < len(data) <= ROOMS[-1]:
        raise LabelError(
            f"the label is `{label}`: give one to {ROOMS[-1]} plain characters on one line"
        )
    room = next(room for room in ROOMS if len(data) <= room)
    filled = data.ljust(room, b"\0")
    secret = _secret(key, tenant)
    check = _check(secret, owner, filled)
    body = base64.b32encode(check + _masked(secret, check, filled)).decode("ascii").lower()
    return f"{HEAD}-{body}"


def label_of(body: str, key: str, tenant: str, owners: Iterable[str]) -> str | None:
    """The label of the canary that letters after the head begin with, if it belongs to one of these
    owners."""
    secret = _secret(key, tenant)
    for size in SIZES:
        if len(body) < size:
            return None
        data = base64.b32decode(body[:size].upper())
        check, hidden = data[:CHECK], data[CHECK:]
        filled = _masked(secret, check, hidden)
        if any(hmac.compare_digest(check, _check(secret, owner, filled)) for owner in owners):
            return filled.rstrip(b"\0").decode("utf-8", "replace")
    return None


@lru_cache(maxsize=256)
def _secret(key: str, tenant: str) -> bytes:
    return hashlib.sha256(f"stanchion canary\0{key}\0{tenant}".encode("utf-8", "replace")).digest()


def _check(secret: bytes, owner: str, filled: bytes) -> bytes:
    said = b"check\0" + owner.encode("utf-8", "replace") + b"\0" + filled
    return hmac.digest(secret, said, "sha256")[:CHECK]


def _masked(secret: bytes, check: bytes, data: bytes) -> bytes:
    mask = hmac.digest(secret, b"mask\0" + check, "sha256")
    return bytes([one ^ other for one, other in zip(data, mask, strict=False)])


LONGEST: Final = SIZES[-1]
WORD: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
APART: Final = bytes([byte for byte in range(256) if byte not in WORD])
"""What may stand between the letters of a canary."""
BASE64: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
NOT_BASE64: Final = bytes([byte for byte in range(256) if byte not in BASE64])
URL_SAFE: Final = bytes.maketrans(b"-_", b"+/")
LETTERS: Final = regex(rb"[a-z2-7]+")
DIGITS: Final = regex(rb"(?:[0-9a-f]{2})+")
SMALL: Final = b"abcdefghijklmnopqrstuvwxyz"
TURN: Final = bytes.maketrans(SMALL, SMALL[13:] + SMALL[:13])
ESCAPES: Final = (
    regex(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))()"),
    regex(r"\\(?:[ux]\{0*([0-9a-fA-F]{1,4})\}|U0000([0-9a-fA-F]{4})|0?([0-7]{2,3}))"),
)
"""Characters by their numbers, as programming languages write them; the last group has octal
digits. The second kind is read after the first and beside it, because a backslash before plain
digits may be there for show."""

PLAIN: Final = HEAD.encode()
BACKWARDS: Final = PLAIN[::-1]
TURNED: Final = PLAIN.translate(TURN)
HEX: Final = PLAIN.hex().encode()


def _marks() -> Iterator[tuple[bytes, int, int]]:
    """How base64 shows that a canary begins, by the bytes before it in its group: what is seen,
    after how many letters, and how many bytes it is into the group."""
    for head in (HEAD, HEAD.upper()):
        for before in range(3):
            coded = base64.b64encode(b"\0" * before + f"{head}-".encode())
            first = -(-before * 8 // 6)
            yield coded[first : (before + len(head) + 1) * 8 // 6], first, before


MARKS: Final = tuple(_marks())


def bodies(text: str) -> Iterator[str]:
    """The letters after every place where a canary may begin in a text."""
    given = text.encode("utf-8", "replace")
    yield from _bodies(folded(text).encode("utf-8", "replace").translate(None, APART))
    yield from _in_base64(given)
    if "%" in text:
        yield from _bodies(unquote_to_bytes(given).lower().translate(None, APART))
    if "&#" in text or "\\" in text:
        plain = html.unescape(text)
        for escapes in ESCAPES:
            plain = escapes.sub(_character, plain)
            yield from _bodies(plain.lower().encode("utf-8", "replace").translate(None, APART))


def _character(found: Any) -> str:
    """What an escape stands for."""
    *hexadecimal, octal = found.groups()
    return chr(int(octal, 8) if octal else int(next(filter(None, hexadecimal)), 16))


def _bodies(letters: bytes) -> Iterator[str]:
    """Where canaries may begin among letters and digits that stand together."""
    if PLAIN in letters:
        yield from _after(letters, PLAIN)
    if BACKWARDS in letters:
        yield from _after(letters[::-1], PLAIN)
    if TURNED in letters:
        yield from _after(letters.translate(TURN), PLAIN)
    if HEX in letters:
        for at in _places(letters, HEX):
            digits = DIGITS.match(letters, at, at + 2 * (LONGEST * 4))
            if digits is not None:
                yield from _after(
                    bytes.fromhex(digits.group().decode()).lower().translate(None, APART), PLAIN
                )


def _in_base64(given: bytes) -> Iterator[str]:
    letters = given.translate(URL_SAFE, NOT_BASE64)
    for mark, first, before in MARKS:
        for at in _places(letters, mark):
            group = letters[at - first : at + LONGEST * 2] if at >= first else b""
            data = base64.b64decode(group[: len(group) // 4 * 4])
            tail = group[len(group) // 4 * 4 :]
            data += base64.b64decode(tail + b"=" * (4 - len(tail))) if len(tail) > 1 else b""
            yield from _after(data[before:].lower().translate(None, APART), PLAIN)


def _after(letters: bytes, head: bytes) -> Iterator[str]:
    for at in _places(letters, head):
        start = at + len(head)
        found = LETTERS.match(letters, start, start + LONGEST)
        if found is not None and len(found.group()) >= SIZES[0]:
            yield found.group().decode()


def _places(letters: bytes, mark: bytes) -> Iterator[int]:
    at = letters.find(mark)
    while at >= 0:
        yield at
        at = letters.find(mark, at + 1)
