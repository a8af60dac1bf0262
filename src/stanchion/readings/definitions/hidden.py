"""What a definition hides from people: characters that nobody sees, turned text, comments, text far
out of sight."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.definitions.remark import STRONG

UNSEEN: Final = regex(
    "[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0]"
)
JOINERS: Final = regex("(?<=[^\x00-\x7f])[\u200c\u200d\ufe0f](?=[^\x00-\x7f])|\\A\ufeff")
"""What belongs to the writing of some languages and to emojis, and the mark that a file begins
with."""
SPELT: Final = regex(
    "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f|"
    "([\U000e0000-\U000e007f\U000e0100-\U000e01ef])"
)
"""Letters that nobody sees, apart from those of a flag."""
TURNED: Final = regex("[\u202d\u202e]|[\u202a\u202b\u2066-\u2068]")
CONTROLS: Final = regex("[\x00-\x08\x0b\x0e-\x1f\x7f\x80-\x9f]")
ESCAPES: Final = regex(
    r"(?:\x1b\[|\x9b)[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]"
)
COMMENT: Final = regex(
    r"<!--\s{0,20}(?:\S{1,40}\s{1,20}){2}\S[^\n]{0,200}|\[//\]:\s?#\s?\([^)\n]{12,200}"
)
"""A comment of more than two words; what is shorter is a mark of some format."""
STYLED: Final = regex(
    r"(?i)<[a-z][^<>]{0,160}(?:display\s?:\s?none|visibility\s?:\s?hidden|"
    r"font-size\s?:\s?0(?!\.?[1-9])"
    r"|opacity\s?:\s?0(?!\.?[1-9]))"
)
FAR: Final = regex(r"[^\S\n]{48}|(?:\n[^\S\n]{0,80}){12}")
"""Blanks that push what follows out of sight."""
FEW: Final = 2
"""So many characters that nobody sees come with what is copied from a page."""
SHOWN: Final = 80


def bare(text: str) -> str:
    """A text without escape sequences and control characters: what a model reads."""
    return CONTROLS.sub(" ", ESCAPES.sub(" ", text))


def hidden_in(text: str) -> list[tuple[int, str]]:
    """What a text hides: the weight of each, and the words for it."""
    found: list[tuple[int, str]] = []
    if not text.isascii():
        found += _unseen(text)
    shown = text.strip()
    control = CONTROLS.search(text)
    if control is not None:
        found.append(
            (STRONG, f"control characters before: {text[control.end() :][:SHOWN].strip()}")
        )
    for pattern, what in (
        (COMMENT, "a comment"),
        (STYLED, "invisible markup"),
        (FAR, "text behind many blanks"),
    ):
        hit = pattern.search(shown)
        if hit is not None:
            words = hit.group().strip() or shown[hit.end() :].strip()
            found.append((STRONG, f"{what}: {words[:SHOWN]}"))
    return found


def _unseen(text: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    spelt = "".join([hit.group(1) for hit in SPELT.finditer(text) if hit.group(1)])
    if spelt:
        told = "".join(
            [chr(ord(char) - 0xE0000) for char in spelt if 0xE0020 <= ord(char) < 0xE007F]
        )
        found.append((STRONG, f"letters that nobody sees: {told[:SHOWN]}"))
    count = len(UNSEEN.findall(JOINERS.sub("", text)))
    if count:
        found.append((STRONG if count > FEW else 1, f"characters that nobody sees: {count}"))
    turn = TURNED.search(text)
    if turn is not None:
        found.append(
            (
                STRONG,
                f"characters that turn text round, before: {text[turn.end() :][:SHOWN].strip()}",
            )
        )
    return found
