"""Escapes: characters written as their numbers, look-alikes, and what nobody sees between them."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.disguise.said import Said, unfolded

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


def unescaped(text: str) -> Said | None:
    """A whole text with its escapes undone; `None` where it has none."""
    return unfolded(text, _WHOLE, _said)


def unescaped_run(run: str, first: int) -> Said | None:
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
