"""All other forms of texts, twice deep: what is encoded, escaped or in pieces, and what that is
again."""

from __future__ import annotations

from base64 import a85decode, b85decode
from collections.abc import Iterator
from functools import cache
from typing import Final

from stanchion.kernel.regex import linear, regex
from stanchion.readings.disguise.escapes import ESCAPED, QUOTED, may_be_escaped, odd, unescaped
from stanchion.readings.disguise.pieces import (
    APART,
    CHAIN,
    CODES,
    HEXED,
    LONE,
    SUM,
    chained,
    summed,
)
from stanchion.readings.disguise.runs import SHORTEST, decoded
from stanchion.readings.disguise.said import Said
from stanchion.readings.joined import Joined

MOST: Final = 16

BASE85: Final = r"(?i:\b[abz]85|ascii[_-]?85|base[_-]?85)"
"""What names the encoding."""

_TEXT: Final = regex(r"""(["'`])((?:<~)?[!-~]{20,4096}?)\1""")


def unpacked(text: str) -> Iterator[Said]:
    """What quoted texts of a text say that names base 85."""
    for count, found in enumerate(_TEXT.finditer(text)):
        if count >= MOST:
            return
        said = _said(found[2])
        if said:
            yield _at(said, *found.span(2))


def _at(said: str, start: int, end: int) -> Said:
    return Said(said, lambda _first, _last: (start, end))


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


def views_of(texts: Joined, whole: bool, most: int | None = None) -> list[tuple[int, Said]]:
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


def views(text: str, whole: bool, most: int | None = None) -> Iterator[Said]:
    """The same for one text."""
    left = DEEP
    for view in forms(text, whole, most):
        yield view
        left -= len(view.text)
        if left < 0:
            continue
        for deeper in forms(view.text, whole, most):
            yield deeper.inside(view)


def forms(text: str, whole: bool = True, most: int | None = None) -> Iterator[Said]:
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
