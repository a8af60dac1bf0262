"""Views of a text: what it says once encoded runs, escapes and layers of them are taken off."""

from __future__ import annotations

import zlib
from base64 import a85decode, b32decode, b64decode, b85decode
from binascii import Error
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from stanchion.kernel.regex import linear, regex
from stanchion.readings.disguise.escapes import (
    APART,
    CHAIN,
    CODES,
    ESCAPED,
    HEXED,
    LONE,
    ODD,
    QUOTED,
    SUM,
    Back,
    UnfoldedText,
    chained,
    may_be_escaped,
    odd,
    summed,
    unescaped,
    unescaped_run,
)
from stanchion.readings.joined import JoinedTexts

RUN: Final = r"[0-9A-Za-z%+/_.~=\\&#;\xad-]"
"""What encoded text is made of."""
LETTERS: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz%+/_.~=\\&#;\xad-"
SHORTEST: Final = 24
LONGEST: Final = 4_000
"""Longer runs are not decoded where a text may come in pieces."""
SHORTEST_HEX: Final = 32
UNPACKED: Final = 65_536
"""So much of what is packed is read."""

_PRINTED_BYTES: Final = bytes([9, 10, 13, *range(32, 127)])
_ESCAPE: Final = regex(f"{ESCAPED}|{QUOTED}")
_PACKED: Final = (b"\x1f\x8b", b"\x78\x9c", b"\x78\x01", b"\x78\xda")
"""How packed bytes begin, by gzip and by zlib."""
_BASE32_RUN: Final = regex(r"(?:[A-Z2-7]{32,}|[a-z2-7]{32,})={0,6}")
_HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")


@cache
def _expressions() -> tuple[Any, Any, Any]:
    """Runs, base64, and escapes."""
    long, base64 = f"{RUN}{{{SHORTEST},}}", f"[0-9A-Za-z+/_-]{{{SHORTEST},}}={{0,6}}"
    return linear(long), linear(base64), linear(_ESCAPE.pattern)


def decoded(text: str, most: int | None = None) -> Iterator[UnfoldedText]:
    """What the runs of a text say that are encoded; of no run that is longer than `most`."""
    if len(text) < SHORTEST:
        return
    long, base64, _ = _expressions()
    seen = _flat(text)
    if (most is None or len(text) <= most) and not odd(text) and not _escaped(text, seen):
        # What base64 is made of is what runs are made of: without the rest of them it stands in the
        # same places.
        yield from _decode_runs(text, base64.finditer(seen))
        return
    parts = deque(base64.finditer(seen))
    for run in long.finditer(seen):
        start, end = run.span()
        inside = []
        while parts and parts[0].start() < end:
            inside.append(parts.popleft())
        if most is not None and end - start > most:
            continue
        made = unescaped_run(text[start:end], start)
        if made is not None:
            yield made
        yield from _decode_runs(text, inside)


def _escaped(text: str, seen: bytes) -> bool:
    """Whether there are escapes in a text. Beyond ASCII there are other digits, which only one
    engine knows."""
    if not may_be_escaped(text):
        return False
    found = _expressions()[2].search(seen) if text.isascii() else _ESCAPE.search(text)
    return found is not None


def _flat(text: str) -> bytes:
    """One byte for each character; what stands in runs though it is none of their letters is the
    same one."""
    plain = ODD.sub("\xad", text) if odd(text) else text
    return plain.encode("latin-1", "replace")


def _decode_runs(text: str, parts: Iterable[Any]) -> Iterator[UnfoldedText]:
    """What parts of a text say that are encoded text."""
    for part in parts:
        first, last = part.span()
        made = _decoded(text[first:last], first, last)
        if made is not None:
            yield made


def _decoded(run: str, first: int, last: int) -> UnfoldedText | None:
    """What a run says that stands from `first` to `last`."""
    body = run.rstrip("=")
    if len(body) >= SHORTEST_HEX and len(body) % 2 == 0 and _HEX_DIGITS.issuperset(body):
        raw = bytes.fromhex(body)
        said = _printed(raw)
        if said:
            return UnfoldedText(said, lambda one, two: (first + 2 * one, first + 2 * two))
        said = _inner(raw)
        return UnfoldedText(said, lambda _one, _two: (first, last)) if said else None
    if _BASE32_RUN.fullmatch(run) is not None:
        raw = _bytes32(body)
        said = _printed(raw)
        if said:
            return UnfoldedText(said, _groups(first, last, 5, 8))
        said = _inner(raw)
        if said:
            return UnfoldedText(said, lambda _one, _two: (first, last))
    raw = _bytes64(body)
    said = _printed(raw)
    if said:
        return UnfoldedText(said, _groups(first, last, 3, 4))
    said = _inner(raw)
    return UnfoldedText(said, lambda _one, _two: (first, last)) if said else None


def _groups(first: int, last: int, size: int, letters: int) -> Back:
    """Where bytes stand of which so many are written as so many letters."""
    return lambda one, two: (
        first + one // size * letters,
        min(last, first + -(-two // size) * letters),
    )


def _bytes64(body: str) -> bytes:
    """What base64 says; nothing where it is none."""
    body = body[:-1] if len(body) % 4 == 1 else body
    other = b"-_" if "-" in body or "_" in body else None
    try:
        return b64decode(body + "=" * (-len(body) % 4), other, validate=True)
    except (Error, ValueError):
        return b""


def _bytes32(body: str) -> bytes:
    """What base32 says; nothing where it is none."""
    try:
        return b32decode(body + "=" * (-len(body) % 8), casefold=True)
    except (Error, ValueError):
        return b""


def _printed(said: bytes) -> str:
    """What bytes say that are text."""
    return (
        said.decode("ascii") if said.isascii() and not said.translate(None, _PRINTED_BYTES) else ""
    )


def _inner(said: bytes) -> str:
    """What bytes say that are text of two bytes a letter, or packed; empty where they are not."""
    if said[1:2] == b"\0" and len(said) % 2 == 0 and not any(said[1::2]):
        return _printed(said[::2])
    if said[:2] in _PACKED:
        try:
            return _printed(zlib.decompressobj(47).decompress(said, UNPACKED))
        except zlib.error:
            return ""
    return ""


def runs(text: str) -> list[tuple[int, int]]:
    """Where runs stand that may be decoded."""
    return [run.span() for run in _expressions()[0].finditer(_flat(text))]


def last_run(text: str) -> int:
    """Where the run at the end of a text begins."""
    return len(_flat(text).rstrip(LETTERS))


MOST: Final = 16

BASE85: Final = r"(?i:\b[abz]85|ascii[_-]?85|base[_-]?85)"
"""What names the encoding."""

_TEXT: Final = regex(r"""(["'`])((?:<~)?[!-~]{20,4096}?)\1""")


def unpacked(text: str) -> Iterator[UnfoldedText]:
    """What quoted texts of a text say that names base 85."""
    for count, found in enumerate(_TEXT.finditer(text)):
        if count >= MOST:
            return
        said = _said(found[2])
        if said:
            yield _at(said, *found.span(2))


def _at(said: str, start: int, end: int) -> UnfoldedText:
    return UnfoldedText(said, lambda _first, _last: (start, end))


def _said(body: str) -> str:
    for decode in (a85decode, b85decode):
        try:
            said = decode(body.removeprefix("<~").removesuffix("~>").encode("ascii"))
        except ValueError:
            continue
        if said.isascii() and said.decode("ascii").isprintable():
            return said.decode("ascii")
    return ""


DEEP: Final = 100_000
"""How many characters are read a second time, in all."""

_ANY: Final = "[0-9A-Za-z+/_-]"
_THREE: Final = f"[CDI-Za-f][AC-HQS-Xgi-nwyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589]{_ANY}"
"""Three bytes of text that can be printed: each has its highest bit off, and none is below nine."""
_WIDE: Final = f"[CDI-Za-f][AQgw][AB]{_ANY}A[AC-H][0-9A-Za-z]A"
"""Three characters of two bytes each."""
_BASE64: Final = f"(?:{_THREE}){{6}}|(?:{_WIDE}){{3}}|(?:H4s|eA[E-H]|eJ[w-z]|eN[o-r]){_ANY}{{21}}"
_BASE32: Final = "[BDE-P][A-Z2-7]{31}|[bde-p][a-z2-7]{31}"
_PRINTED: Final = "(?:0[9ADad]|[2-7][0-9A-Fa-f])"
_HEX: Final = (
    f"{_PRINTED}{{16}}|(?:{_PRINTED}00){{8}}"
    "|(?:1[Ff]8[Bb]|78(?:01|9[Cc]|[Dd][Aa]))[0-9A-Fa-f]{28}"
)
"""How runs begin that say ASCII, or what is packed. Most paths and digests do not."""

_SOME: Final = regex(r"\{0,\d+\}")


def _loosely(pattern: str) -> str:
    """A pattern that finds all that another one does: counting costs more than it tells."""
    return _SOME.sub("*", pattern)


_RUNS: Final = f"(?:^|[^0-9A-Za-z+/_-])(?:{_BASE64}|{_BASE32}|{_HEX})|{QUOTED}|{ESCAPED}"
_OTHERS: Final = tuple(
    [_loosely(part) for part in (ESCAPED, f"{SUM}|{HEXED}|{CODES}", f"{CHAIN}|{LONE}", BASE85)]
)
FORMS: Final = "|".join([_RUNS, *_OTHERS, APART])
"""What stands in every text that has another form, or pieces of one value with the next text."""


def views_of(
    texts: JoinedTexts, whole: bool, most: int | None = None
) -> list[tuple[int, UnfoldedText]]:
    """What several texts say in other forms, each with the number of its text; of no run that is
    longer than `most`. Where they are not `whole`, only what stands in one run is read."""
    text = texts.text
    if len(text) < SHORTEST or not (_has(texts.raw, FORMS if whole else _RUNS) or odd(text)):
        return []
    return [(at, view) for at, text in enumerate(texts.texts) for view in views(text, whole, most)]


def _has(raw: bytes, part: str) -> bool:
    """Whether a text has what says where to look closely, and no more."""
    return _searching(part).search(raw) is not None


_searching: Final = cache(linear)
"""What finds a part; it ends at the first, and most texts that are asked about here have one."""


def views(text: str, whole: bool, most: int | None = None) -> Iterator[UnfoldedText]:
    """The same for one text."""
    left = DEEP
    for view in forms(text, whole, most):
        yield view
        left -= len(view.text)
        if left < 0:
            continue
        for deeper in forms(view.text, whole, most):
            yield deeper.inside(view)


def forms(text: str, whole: bool = True, most: int | None = None) -> Iterator[UnfoldedText]:
    """What a text says in other forms, once."""
    if len(text) < SHORTEST:
        return
    escapes, sums, chains, base85 = _OTHERS
    raw = text.encode("latin-1", "replace")
    strange = odd(text)
    if strange or _has(raw, _RUNS):
        yield from decoded(text, most)
    if not whole or not (strange or _has(raw, "|".join(_OTHERS))):
        return
    if strange or (may_be_escaped(text) and _has(raw, escapes)):
        made = unescaped(text)
        if made is not None:
            yield made
    if _has(raw, sums):
        made = summed(text)
        if made is not None:
            yield made
    if _has(raw, chains):
        yield from chained(text)
    if "85" in text and _has(raw, base85):
        yield from unpacked(text)


LAYERS: Final = 3
TURNED: Final = 100_000
"""Longer texts are not read backwards, or without their blanks."""

_CODED: Final = regex(r"[0-9A-Za-z+/_=-]+")
_ENCODED: Final = regex(rf"[0-9A-Za-z+/_=-]{{{SHORTEST}}}|(?:[0-9A-Fa-f]{{2}}%){{8}}")
"""What a text has that may say something backwards."""


def layers(text: str) -> Iterator[str]:
    """All that a text says in other forms, each once, as far as the work for it is bounded."""
    seen = {text}
    waiting = [text]
    left = DEEP
    for _ in range(LAYERS):
        found: list[str] = []
        for one in waiting:
            for turned in _turned(one):
                if turned is not one and turned not in seen:
                    seen.add(turned)
                    yield turned
                for view in forms(turned):
                    if left > 0 and view.text not in seen:
                        left -= len(view.text)
                        seen.add(view.text)
                        found.append(view.text)
                        yield view.text
        waiting = found


def _turned(text: str) -> Iterator[str]:
    """A text, without its blanks, and both backwards, where that may say something else."""
    yield text
    if not SHORTEST <= len(text) <= TURNED:
        return
    tight = "".join(text.split())
    apart = len(tight) < len(text) and _CODED.fullmatch(tight) is not None
    if apart:
        yield tight
    if _ENCODED.search(tight if apart else text) is not None:
        yield (tight if apart else text)[::-1]
