"""The sieve: which kinds of signs a text may have, in one pass over it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.hostile.languages import elsewhere
from stanchion.readings.hostile.languages.english_signs import SIGNS, Phrases

MEMORY: Final = 1 << 25
"""How many bytes an automaton may have."""
COUNTED: Final = regex(r"\{([01]),\d{2,3}\}")
"""How far apart words may stand. An automaton of many patterns that counts has too many states: it
does not count, and finds a little more."""
WANTING: Final = frozenset({"order", "request", "reply", "carrier", "dictation"})
"""Kinds that have an automaton of their own: one for all has too many states where a text is full
of their words."""
HALVES: Final = regex("[\ud800-\udfff]")
"""Halves of characters: no bytes can be made of them."""

LEET: Final = {
    "i": "[i1!|]",
    "g": "[g9]",
    "o": "[o0]",
    "e": "[e3]",
    "a": "[a4@]",
    "s": "[s5$]",
    "t": "[t7+]",
    "l": "[l1|]",
}
CORE: Final = ("ignore", "disregard", "instructions", "previous", "prompt")
"""Words that are looked for in every spelling."""


def _leet(word: str) -> str:
    return "".join([LEET.get(letter, letter) for letter in word])


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


class Entry(NamedTuple):
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
    entries: tuple[Entry, ...]


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
        Entry(kind, weight, f"(?mU:{'|'.join(phrases)})") for kind, weight, phrases in _phrases()
    ]
    entries += [Entry(kind, 0, f"(?m:{pattern})") for kind, pattern in DISGUISES.items()]
    groups: tuple[list[Entry], ...] = ([], [], [])
    for entry in entries:
        groups[2 if not entry.weight else entry.kind in WANTING].append(entry)
    return tuple([_sieve(group) for group in groups])


def _sieve(entries: list[Entry]) -> Sieve:
    return Sieve(
        together(*[COUNTED.sub(_uncounted, entry.pattern) for entry in entries]), tuple(entries)
    )


def sifted(text: str) -> list[Entry]:
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
