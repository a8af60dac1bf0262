"""What only looks like a secret: placeholders of documentation, references to where one is kept,
redactions."""

from __future__ import annotations

from math import log2
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

REDACTED: Final = regex(r"\[(?:redacted:[a-z0-9-]{1,60}|[a-z0-9-]{1,60}:[0-9a-f]{6})\]")
"""What stands in the place of something that was taken out."""
HALF: Final = regex(r"\[[a-z0-9:-]{0,70}\Z")
"""The beginning of that, at the end of a text."""

STAND_INS: Final = listed(
    "changeme change_me change-me example none null password placeholder redacted required "
    "secret string token undefined unknown optional"
)  # fmt: skip
_REFERENCE: Final = regex(
    r"\$\{.*\}|\$\(.*\)|\$[A-Za-z_]\w*|\{\{.*\}\}|%[({]?\w+[)}]?s?%?|<[^<>]*>|\[[^\[\]]*\]|"
    r"\{[^{}]*\}"
    r"|(?:os\.environ|os\.getenv|process\.env|env|secrets?|vault|var|config|settings)[.:\[(].*"
)
_ONE_CHAR: Final = regex(r"(.)\1*")
_SAMPLE: Final = regex(
    r"(?i)your|my[_-]|example|sample|dummy|placeholder|changeme|x{4,}|\*{3,}|\.{3,}|…"
)


def stands_in(value: str) -> bool:
    """Whether a value under the name of a secret is none: it stands for one, or says where to find
    it."""
    bare = value.strip()
    return (
        bare.lower() in STAND_INS
        or _ONE_CHAR.fullmatch(bare) is not None
        or _REFERENCE.fullmatch(bare) is not None
        or _SAMPLE.search(bare) is not None
    )


def redactions(text: str) -> list[tuple[int, int]]:
    """Where something was taken out of a text already."""
    return [match.span() for match in REDACTED.finditer(text)] if "[" in text else []


def half_redaction(text: str) -> int:
    """Where what may become such a place begins, at the end of a text; its length where nothing
    does."""
    found = HALF.search(text, max(0, len(text) - 71))
    return len(text) if found is None else found.start()


def entropy(text: str) -> float:
    """How many bits each character of a text tells, by how often its characters come."""
    size = len(text)
    return (
        -sum([n / size * log2(n / size) for n in [text.count(char) for char in set(text)]])
        if size
        else 0.0
    )
