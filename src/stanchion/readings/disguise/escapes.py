"""Escapes and split words: texts as they are read once their characters are put back."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import regex

Back = Callable[[int, int], tuple[int, int]]
"""Gives where characters of one text stand in another: the first of them, and the end behind the
last."""


class UnfoldedText(NamedTuple):
    """What a text says in another form. `span` tells where a part of it stands; `whole` says that
    it is the text itself, so that what stands beside something in one stands beside it in the
    other; `cuts` are the places where pieces were put together that may not belong together."""

    text: str
    span: Back
    whole: bool = False
    cuts: tuple[int, ...] = ()

    def inside(self, outer: UnfoldedText) -> UnfoldedText:
        """The same, where the text that it was made of is another form already."""
        mine, theirs = self.span, outer.span
        return UnfoldedText(
            self.text,
            lambda first, last: theirs(*mine(first, last)),
            self.whole and outer.whole,
            self.cuts,
        )

    def across(self, first: int, last: int) -> bool:
        """Whether characters reach over a place where pieces were put together."""
        at = bisect_right(self.cuts, first)
        return at < len(self.cuts) and self.cuts[at] < last


def rewritten(
    text: str, places: Iterable[tuple[int, int]], say: Callable[[str], str | None], first: int = 0
) -> UnfoldedText:
    """A text in which what stands in some places is replaced by what it says; where that is nothing
    known, it stays. `first` is added to every place."""
    pieces: list[str] = []
    here: list[int] = [0]
    there: list[int] = [first]
    kept = size = 0
    cuts: list[int] = []
    for start, end in places:
        said = say(text[start:end])
        if said is None:
            continue
        pieces += [text[kept:start], said]
        size += start - kept
        cuts.append(size)
        if len(said) != end - start:
            # Where one character stands for one, places go on as in what is kept.
            here += [size, size + len(said)]
            there += [first + start, first + end]
        size += len(said)
        kept = end
    pieces.append(text[kept:])
    return UnfoldedText("".join(pieces), _places(here, there), whole=True, cuts=tuple(cuts))


def unfolded(
    text: str, odd: re.Pattern[str], say: Callable[[str], str | None], first: int = 0
) -> UnfoldedText | None:
    """A text in which everything odd is replaced by what it says; `None` where nothing is. Where
    its parts stood is worked out when somebody asks."""

    known: dict[str, str] = {}

    def said(found: re.Match[str]) -> str:
        sign = found[0]
        made = known.get(sign)
        if made is None:
            heard = say(sign)
            made = known[sign] = sign if heard is None else heard
        return made

    made = odd.sub(said, text)
    if made == text:
        return None
    spans: list[Back] = []

    def span(one: int, two: int) -> tuple[int, int]:
        if not spans:
            places = [found.span() for found in odd.finditer(text)]
            spans.append(rewritten(text, places, say, first).span)
        return spans[0](one, two)

    return UnfoldedText(made, span, whole=True)


def _places(here: list[int], there: list[int]) -> Back:
    """Where characters stand, given where pieces begin in both texts: by turns what was kept, and
    what was replaced."""

    def span(first: int, last: int) -> tuple[int, int]:
        at = bisect_right(here, first) - 1
        start = there[at] + (0 if at % 2 else first - here[at])
        at = bisect_left(here, last) - 1
        end = there[at + 1] if at % 2 else there[at] + last - here[at]
        return start, end

    return span


_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e01ef\u0300-\u036f\u0483-\u0489\u20d0-\u20f0"
)
"""What takes no room between two letters."""
_WIDE: Final = (
    "\uff01-\uff5e\U0001d400-\U0001d7ff\u2460-\u24ff\u2070-\u209c\u1d2c-\u1d6a\u02b0-"
    "\u02b8\U0001f130-\U0001f149"
)
"""Letters and digits in another width or style."""
_ALIKE: Final = dict(
    zip(
        "аеорсухіјѕԁԛԝкмтнвАЕОРСУХІЈЅКМТНВαορνικυΑΕΟΡΙΚΥΝΤΜΗΒΖΧ",
        "aeopcyxijsdqwkmthbAEOPCYXIJSKMTHBaopvikuAEOPIKYNTMHBZX",
        strict=True,
    )
)
"""Letters of other alphabets that look like those of the Latin one."""
_NAMED: Final = {
    "lowbar": "_", "UnderBar": "_", "sol": "/", "plus": "+", "equals": "=", "period": ".",
    "colon": ":", "num": "#", "excl": "!", "quest": "?", "commat": "@", "dollar": "$",
    "percnt": "%", "ast": "*",
}  # fmt: skip
"""Characters of secrets that HTML has names for."""

ODD: Final = regex(f"[{_UNSEEN}{_WIDE}]")
"""What stands in a run of an encoded text though it is none of its letters."""
_OTHER: Final = f"[{''.join(_ALIKE)}]"
MIXED: Final = regex(
    f"(?<![0-9A-Za-z_])(?<!{_OTHER})(?:{_OTHER}*+_)*+(?={_OTHER}*+[0-9A-Za-z])"
    f"(?:[0-9A-Za-z_]*+{_OTHER}++)++"
)
"""A word that has letters of two alphabets, up to the last of the other one. It is read once, from
its beginning: whoever tries again at each letter reads a long one as often as it is long."""
ESCAPED: Final = (
    r"\\\\?u00[2-7][0-9A-Fa-f]|\\\\?x[2-7][0-9A-Fa-f]|\\u\{0{0,4}[2-7][0-9A-Fa-f]\}|"
    r"\\U000000[2-7][0-9A-Fa-f]"
    r"|\\0?(?:0[4-7][0-7]|1[0-7]{2})"
    rf"|&#0{{0,4}}(?:3[3-9]|[4-9]\d|1[01]\d|12[0-6]);|&#[xX]0{{0,4}}[2-7][0-9A-Fa-f];|&"
    rf"(?:{'|'.join(_NAMED)});"
)
"""A character that is written as its number or its name."""
QUOTED: Final = r"%[2-7][0-9A-Fa-f]"
"""The same in a URL."""
_ASCII: Final = bytes(range(128))
_RUNS: Final = f"[{_UNSEEN}]+|[{_WIDE}]+"
_EITHER: Final = regex(f"{ESCAPED}|{QUOTED}|{_RUNS}")
_WHOLE: Final = regex(f"{ESCAPED}|{_RUNS}|{MIXED.pattern}")


def odd(text: str) -> bool:
    """Whether a text has what nobody sees, or letters that look like others."""
    if text.isascii():
        return False
    special = (
        text.encode("utf-8", "surrogatepass")
        .translate(None, _ASCII)
        .decode("utf-8", "surrogatepass")
    )
    return ODD.search(special) is not None or not _ALIKE.keys().isdisjoint(special)


def unescaped(text: str) -> UnfoldedText | None:
    """A whole text with its escapes undone; `None` where it has none."""
    return unfolded(text, _WHOLE, _said)


def unescaped_run(run: str, first: int) -> UnfoldedText | None:
    """The same for a run of a text, which begins at `first`; percent signs count, too."""
    if not may_be_escaped(run) and run.isascii():
        return None
    made = unfolded(run, _EITHER, _said, first)
    return None if made is None else made._replace(whole=False)


def may_be_escaped(text: str) -> bool:
    """Whether a text has a sign that escapes begin with."""
    return "%" in text or "\\" in text or "&" in text


def _said(sign: str) -> str | None:
    if sign[0] == "&":
        return _entity(sign[1:-1])
    if sign[0] in "\\%":
        return _numbered(sign)
    if ODD.match(sign) is not None:
        return "".join(map(_seen, sign))
    return "".join([_ALIKE.get(char, char) for char in sign])


def _entity(name: str) -> str:
    if name[0] != "#":
        return _NAMED[name]
    code = name[1:]
    return chr(int(f"0{code}", 0) if code[0] in "xX" else int(code))


def _numbered(sign: str) -> str:
    if sign[0] == "%":
        return chr(int(sign[1:], 16))
    bare = sign.lstrip("\\")
    return chr(int(bare, 8) if bare[0].isdigit() else int(bare[1:].strip("{}"), 16))


@lru_cache(4_096)
def _seen(char: str) -> str:
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and plain.isascii() and plain.isprintable() else ""


SUM: Final = (
    r"""["'`][ \t]{0,4}(?:\n[ \t]{0,40})?(?:\+|\.\.?|&|<>|\|\||\+\+|~)[ \t]{0,4}\\?(?:\n[ \t]{0,40})?["'`]"""  # noqa: E501
    r"""|["'`]\)?\.(?:append|concat|add|push|plus|join)\(["'`]"""
    r"""|\\\r?\n[ \t]{0,40}"""
)
"""What stands between two terms of one value: the end of a text, a sign, the beginning of
another."""
_CODE: Final = r"(?:0x[2-7][0-9A-Fa-f]|[3-9]\d|1[01]\d|12[0-6])"
CODES: Final = rf"\b(?:{_CODE}[\s]{{0,2}}[,;\s][\s]{{0,2}}){{7,}}{_CODE}\b"
"""The numbers of characters, one after another."""
_BYTE: Final = "[2-7][0-9A-Fa-f]"
HEXED: Final = rf"\b(?:{_BYTE}[ :]){{11,}}{_BYTE}\b|\b(?:{_BYTE}{_BYTE} ){{7,}}(?:{_BYTE}){{1,2}}\b"
"""Bytes in hexadecimal with a sign between them, as tools dump them."""
_BLANKS: Final = r"\x09-\x0d\x1c-\x20"
"""What ASCII has of blanks, for a set of characters."""
_FAR_WORD: Final = regex(r"[^\x00-\x7f\W]")
_FAR_BLANK: Final = regex(r"[^\x00-\x7f\S]")
_FAR_DIGIT: Final = regex(r"[^\x00-\x7f\D]")
_NUMBER: Final = regex(r"0x[0-9A-Fa-f]{2}|\d+")
_DUMP: Final = regex(r"(?:[0-9A-Fa-f]{2}[ :]?)+")
_SPLIT: Final = regex(f"{SUM}|{HEXED}|{CODES}")

_PART: Final = r"[0-9A-Za-z_+/=.~-]"
_GAP: Final = r"""(?:["'`]?[ \t]{0,4},?[ \t]{0,4}=?\r?\n[ \t>|*#+"'`]{0,40}|["'`][ \t]{0,4},?[ \t]{0,4}["'`])"""  # noqa: E501
"""What may stand between two pieces of one value: the end of a line, or that of an item."""
SHORTEST: Final = 20
MOST: Final = 64
"""How many chains of pieces are read in one text."""
LONGEST: Final = 8_192

_MIXED: Final = f"(?:[0-9]{_PART}*[A-Za-z]|[A-Za-z]{_PART}*[0-9])"
"""A digit and a letter in one piece."""
CHAIN: Final = f"{_MIXED}{_PART}*{_GAP}{_PART}{{2}}|{_PART}{{2}}{_GAP}{_PART}*{_MIXED}"
"""What stands in every chain of pieces that may be one value."""
APART: Final = rf"[0-9]{_PART}*\x1f{_PART}{{2}}|{_PART}{{2}}\x1f{_PART}*[0-9]"
"""What stands where two texts of an event may be pieces of one value."""
_MARK: Final = "[0-9A-Za-z_+/=~-]"
LONE: Final = rf"(?:{_MARK}(?: |\.|\||\*)){{15}}"
"""Letters with a sign behind each."""
_GAPS: Final = regex(_GAP)
_PARTS: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_+/=.~-"


@cache
def _chains() -> tuple[Any, Any, Any]:
    import re2  # type: ignore[import-untyped]  # it ships no stubs

    chain = f"{_PART}{{2,}}(?:{_GAP}{_PART}{{2,}})+"
    lone = rf"(?:^|[^0-9A-Za-z])((?:{_MARK}(?: |\.|\||\*)){{15,}}{_MARK})(?:$|[^0-9A-Za-z])"
    return re2.compile(CHAIN.encode()), re2.compile(chain.encode()), re2.compile(lone.encode())


def summed(text: str) -> UnfoldedText | None:
    """A whole text in which the terms of values are put together; `None` where there are none."""
    plain = _in_ascii(text)
    found = _SPLIT.finditer(text) if plain is None else _whole().finditer(plain)
    made = rewritten(text, [one.span() for one in found], _put_together)
    return UnfoldedText(made.text, made.span, whole=True) if made.cuts else None


def _in_ascii(text: str) -> bytes | None:
    """A text with something of ASCII for every other character that means the same to `_WHOLE`;
    `None` where there is nothing like that."""
    if not text.isascii():
        if _FAR_DIGIT.search(text) is not None:
            return None
        text = _FAR_BLANK.sub("\x1c", _FAR_WORD.sub("_", text))
    return text.encode("ascii", "replace")


@cache
def _whole() -> Any:
    """What finds the same as `_WHOLE` in ASCII, in one pass whatever the text: there both engines
    mean the same by the edge of a word, and blanks, by which they do not, are spelled out."""
    import re2

    return re2.compile(_SPLIT.pattern.replace(r"\s]", f"{_BLANKS}]").encode())


def _put_together(term: str) -> str | None:
    if not term[0].isalnum():
        return ""
    if _DUMP.fullmatch(term) is not None:
        said = bytes.fromhex(term.replace(":", ""))
        return (
            said.decode("ascii") if said.isascii() and said.decode("ascii").isprintable() else None
        )
    return "".join([chr(int(one, 0)) for one in _NUMBER.findall(term)])


def chained(text: str) -> Iterator[UnfoldedText]:
    """What pieces say that stand one after the other in a text, and may or may not be one value."""
    seen = text.encode("latin-1", "replace")
    near, chains, lone = _chains()
    made: list[UnfoldedText] = []
    last = 0
    for found in near.finditer(seen):
        start = found.start()
        if start < last:
            continue
        before = max(last, start - LONGEST)
        start = before + len(seen[before:start].rstrip(_PARTS))
        chain = chains.match(seen, start)
        last = last if chain is None else chain.end()
        if chain is not None and last - start >= SHORTEST:
            made.append(_chain(text, start, min(last, start + LONGEST)))
            if len(made) >= MOST:
                break
    yield from made
    for found in lone.finditer(seen):
        yield _letters(text, *found.span(1))


def _chain(text: str, start: int, end: int) -> UnfoldedText:
    piece = text[start:end]
    made = rewritten(piece, [found.span() for found in _GAPS.finditer(piece)], lambda _: "", start)
    return UnfoldedText(made.text, made.span, cuts=made.cuts)


def _letters(text: str, start: int, end: int) -> UnfoldedText:
    """Letters with one sign between any two."""
    said = text[start:end:2]
    cuts = tuple(range(1, len(said)))
    return UnfoldedText(
        said, lambda first, last: (start + 2 * first, start + 2 * last - 1), cuts=cuts
    )
