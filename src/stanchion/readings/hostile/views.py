"""Views of a text in which orders are sought, and the sieve that says which signs it may have."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from stanchion.kernel.regex import regex
from stanchion.readings.disguise.escapes import Back, rewritten
from stanchion.readings.hostile.languages import elsewhere
from stanchion.readings.hostile.languages.english_signs import SIGNS, Phrases
from stanchion.readings.hostile.normal import folded, mapped
from stanchion.readings.word_lists import in_order, listed

MEMORY: Final = 1 << 25
"""How many bytes an automaton may have."""
COUNTED: Final = regex(r"\{([01]),\d{2,3}\}")
"""How far apart words may stand. An automaton of many patterns that counts has too many states: it
does not count, and finds a little more."""
WANTING: Final = listed("order request reply carrier dictation")
"""Kinds that have an automaton of their own: one for all has too many states where a text is full
of their words."""
HALVES: Final = regex("[\ud800-\udfff]")
"""Halves of characters: no bytes can be made of them."""

LEET_OF: Final = {
    "i": "[i1!|]",
    "g": "[g9]",
    "o": "[o0]",
    "e": "[e3]",
    "a": "[a4@]",
    "s": "[s5$]",
    "t": "[t7+]",
    "l": "[l1|]",
}
CORE: Final = in_order("ignore disregard instructions previous prompt")
"""Words that are looked for in every spelling."""


def _leet(word: str) -> str:
    return "".join([LEET_OF.get(letter, letter) for letter in word])


def _turned(word: str) -> str:
    return word.translate(ROT13)


_SMALL: Final = "abcdefghijklmnopqrstuvwxyz"
ROT13: Final = str.maketrans(_SMALL, _SMALL[13:] + _SMALL[:13])

DISGUISES: Final[dict[str, str]] = {
    "escaped": (
        r"%[0-9a-f]{2}|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});|\\(?:u[0-9a-f]{4}|"
        r"x[0-9a-f]{2})"
    ),
    "marked": r"[a-z](?:\*{1,3}|__|`|~~|</?[a-z][^<>\n]{0,200}>|<!--[^<>\n]{0,200}-->)[a-z]",
    "leet": r"(?:^|[^a-z0-9])(?:" + "|".join([_leet(word) for word in CORE]) + r")",
    "spaced": r"(?:^|[^a-z])(?:[a-z][ ._*\r-]{1,2}){6}[a-z](?:[^a-z]|$)",
    "turned": r"\b(?:" + "|".join([_turned(word) for word in CORE]) + r")\b",
    "reversed": r"\b(?:" + "|".join([word[::-1] for word in CORE]) + r")\b",
    "coded": r"[a-z0-9+/_-]{32}|(?:[0-9a-f]{2}[ :,]){15}",
    "hidden": r"<!--|\[//\]:|(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|"
    r"opacity\s?:\s?0"
    r"|color\s?:\s?(?:white\b|#fff))",
}
"""How a text may hide what it says."""


class SieveEntry(NamedTuple):
    """What the sieve looks for: a kind of sign with its weight, or a disguise (weight 0)."""

    kind: str
    weight: int
    pattern: str

    def is_in(self, text: str) -> bool:
        """Whether it is anywhere in a text in its normal form."""
        return compiled(self.pattern).search(text) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it is in a text in its normal form."""
        for found in compiled(self.pattern).finditer(text):
            yield found.span()


class Sieve(NamedTuple):
    """Some of what is looked for, as one automaton."""

    together: Any
    entries: tuple[SieveEntry, ...]


def _phrases() -> Iterator[tuple[str, int, Phrases]]:
    for kind, weights in SIGNS.items():
        for weight, phrases in weights.items():
            yield kind, weight, phrases
    yield "override", 2, elsewhere.OVERRIDES
    yield "secrecy", 1, elsewhere.SECRECIES


def _options() -> Any:
    import re2  # type: ignore[import-untyped]  # it ships no stubs

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MEMORY
    return options


@cache
def compiled(pattern: str) -> Any:
    """One pattern of this package, in linear time."""
    import re2

    return re2.compile(pattern, _options())


def together(*patterns: str) -> Any:
    """Patterns of this package as one automaton, which says by their numbers which of them a text
    has."""
    import re2

    made = re2.Set.SearchSet(_options())
    for pattern in patterns:
        made.Add(pattern)
    made.Compile()
    return made


def _uncounted(found: re.Match[str]) -> str:
    return "*" if found.group(1) == "0" else "+"


@cache
def sieves() -> tuple[Sieve, ...]:
    """All that is looked for; made when it is first needed."""
    entries = [
        SieveEntry(kind, weight, f"(?mU:{'|'.join(phrases)})")
        for kind, weight, phrases in _phrases()
    ]
    entries += [SieveEntry(kind, 0, f"(?m:{pattern})") for kind, pattern in DISGUISES.items()]
    groups: tuple[list[SieveEntry], ...] = ([], [], [])
    for entry in entries:
        groups[2 if not entry.weight else entry.kind in WANTING].append(entry)
    return tuple([_sieve(group) for group in groups])


def _sieve(entries: list[SieveEntry]) -> Sieve:
    return Sieve(
        together(*[COUNTED.sub(_uncounted, entry.pattern) for entry in entries]), tuple(entries)
    )


def sifted(text: str) -> list[SieveEntry]:
    """Which signs and disguises may be in a text in its normal form."""
    raw = text.encode()
    return [one.entries[at] for one in sieves() for at in sorted(one.together.Match(raw) or ())]


def whole(text: str) -> str:
    """A text with another character in the place of halves of one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return HALVES.sub("?", text)
    return text


class TextView(NamedTuple):
    """A text as it can be read; `odd` where nobody honest writes like that."""

    text: str
    back: Back
    odd: bool = False


ESCAPED: Final = regex(
    r"(?:%[0-9a-f]{2})+|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});|\\(?:u[0-9a-f]{4}|x[0-9a-f]{2})",
    re.IGNORECASE,
)
MARKED: Final = regex(r"\*{1,3}|__|`|~~|</?[a-z][^<>\n]{0,200}>|<!--[^<>\n]{0,200}-->")
SPACED: Final = regex(r"(?<![a-z])[a-z](?:[ ._*\r-]{1,3}[a-z](?![a-z])){6,}")
GAPS: Final = regex(r"[ ._*\r-]+")
CODED: Final = r"[A-Za-z0-9+/_-]{32,}={0,2}"
HEX: Final = r"(?:[0-9a-fA-F]{2}[ :,]?){15,}[0-9a-fA-F]{2}"
LEET: Final = str.maketrans("01!|34579@$+", "oiiieastgast")
WORDS: Final = regex(r"[a-z0-9!|@$+]+")
LETTER: Final = regex(r"[a-z]")
FEW: Final = 20
"""Bytes are a text if at most one character in so many is none."""


def lines(text: str) -> str:
    """A text in its normal form whose lines end with a carriage return, as patterns read it."""
    return folded(whole(text)).replace("\n", "\r")


def first_view(text: str) -> TextView:
    """A text in its normal form."""
    text = whole(text)
    if text.isascii():
        return TextView(text.lower().replace("\n", "\r"), _same)
    seen, places = mapped(text)
    return TextView(seen.replace("\n", "\r"), _by_place(places))


def further_views(text: str, first: TextView, disguises: frozenset[str]) -> Iterator[TextView]:
    """What a text says under disguises that it may have on."""
    if "escaped" in disguises:
        yield _cut(first, ESCAPED, _unescaped, False)
    if "marked" in disguises:
        yield _cut(first, MARKED, lambda _: "", False)
    if "leet" in disguises:
        yield TextView(WORDS.sub(_plain, first.text), first.back, True)
    if "spaced" in disguises:
        yield _cut(first, SPACED, _joined, True)
    if "turned" in disguises:
        yield TextView(first.text.translate(ROT13), first.back, True)
    if "reversed" in disguises:
        size = len(first.text)
        yield TextView(
            first.text[::-1], lambda start, end: first.back(size - end, size - start), True
        )
    if "coded" in disguises:
        yield from _coded(text)


def _same(start: int, end: int) -> tuple[int, int]:
    return start, end


def _by_place(places: list[int]) -> Back:
    return lambda start, end: (places[start], places[end])


def _cut(
    first: TextView, pattern: re.Pattern[str], other: Callable[[str], str], odd: bool
) -> TextView:
    """A view in which other pieces stand in the place of what a pattern finds."""
    places = [found.span() for found in pattern.finditer(first.text)]
    made = rewritten(first.text, places, other)
    return TextView(made.text, lambda start, end: first.back(*made.span(start, end)), odd)


def _unescaped(found: str) -> str:
    if found[0] == "%":
        return lines(unquote(found, errors="replace"))
    return lines(html.unescape(found) if found[0] == "&" else chr(int(found.lstrip("\\ux"), 16)))


def _plain(found: re.Match[str]) -> str:
    word = found.group()
    return word if word.isalpha() or LETTER.search(word) is None else word.translate(LEET)


def _joined(found: str) -> str:
    """Letters that stand apart as words: what parts them most often is nothing, what is wider parts
    words."""
    gaps = GAPS.findall(found)
    narrow = min([len(gap) for gap in gaps])
    return GAPS.sub(lambda gap: "" if len(gap.group()) == narrow else " ", found)


def _coded(text: str) -> Iterator[TextView]:
    """What stands in a text as base64 or as hexadecimal digits: each is read by itself, and stands
    where it stands."""
    text = whole(text)
    for found in compiled(HEX).finditer(text):
        yield from _read(bytes.fromhex(re.sub(r"[ :,]", "", found.group())), found.span())
    for found in compiled(CODED).finditer(text):
        word = found.group().replace("-", "+").replace("_", "/").rstrip("=")
        word = word[: len(word) - (len(word) % 4 == 1)]
        yield from _read(base64.b64decode(word + "=" * (-len(word) % 4)), found.span())


def _read(data: bytes, span: tuple[int, int]) -> Iterator[TextView]:
    text = data.decode("utf-8", "replace")
    if text.count("\ufffd") * FEW <= len(text) and sum(map(_is_shown, text)) * FEW >= len(text) * (
        FEW - 1
    ):
        yield TextView(lines(text), lambda _start, _end: span, True)


def _is_shown(char: str) -> bool:
    return char.isprintable() or char.isspace()
