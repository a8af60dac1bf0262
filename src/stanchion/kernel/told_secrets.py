"""Secrets that are told in prose: "my password is …" names a value as plainly as a key before it
does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from stanchion.kernel.regex import linear, regex

SHORTEST: Final = 4
"""A shorter value is a word of the sentence, not what it is about."""
BEFORE: Final = 60
"""How far before its name it may stand whose a secret is, or what it is the key of."""

LONG: Final = 512
"""From what length on a text is first looked through for all names at once."""

HINTS: Final = (
    "pass",
    "pwd ",
    "pin ",
    "pin-",
    "token ",
    "secret ",
    "key ",
    "kennwort ",
    "mot de ",
    "contrase",
    "senha ",
)
"""How the names begin; most texts have none of them."""

_TELLS: Final = regex(
    r"""
    (?: pass(?:word|phrase|code|wd|wort) | pwd | kennwort | contrase(?:ñ|n)a | mot\ de\ passe | senha
      | (?P<pin>pin) (?:[ -](?:code|number))?
      | (?P<counted> (?P<key>key) | token | secret)
    )
    (?: \s+(?:for|to|of|on|at)\s+(?:[^\s.,;:!?]+\s+){1,4}? | \s+)
    (?:is|was|are|will\s+be|ist|war|lautet|es|est|é|è) (?:\s+(?:now|still|just|only|jetzt))? \s*:?\s+
    (?P<quote>["'`«“‘„]?) (?P<value>[^\s"'`»”’<>]+)
    """,  # noqa: E501
    re.VERBOSE,
)
_OWNED: Final = regex(
    r"\b(?:my|our|your|his|her|their|mein|unser|dein|mi|mon|minha)\s+(?:[^\W\d_]+[\s-]+){0,3}\Z"
)
_KEY_OF: Final = regex(r"\b(?:api|access|secret|private|signing|encryption|license)[\s_-]+\Z")
_STATES: Final = regex(
    r".*(?:ed|ing|en|able|ible|ect|alid|less)|weak|strong|safe|secure|lost|wrong|short|long|same|"
    r"here|there|below|above"
    r"|empty|blank|null|none|fine|okay|unique|public|secret|private|unknown|different|something|"
    r"nothing|stale|ready",
    re.IGNORECASE,
)
"""What a sentence says of a password where it does not tell it: how it is, or what was done to
it."""
_INSIDE: Final = str.maketrans("", "", "-'’./")
"""Signs that stand in words, too."""
_LAST: Final = regex(r"[.!?)]*\s*(?:$|\n)|[.!?]\s")


def without_told(text: str, word: str) -> str:
    """A text with another word in the place of secrets that it tells; the text itself where it
    tells none."""
    if " " not in text or (len(text) >= LONG and not _hinted(text)):
        return text
    low = text.lower()
    low = low if len(low) == len(text) else text
    for hint in HINTS:
        if hint in low:
            break
    else:
        return text
    spans = sorted([span for hint in HINTS if hint in low for span in _told(text, low, hint)])
    if not spans:
        return text
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        if start >= at:
            pieces += [text[at:start], word]
            at = end
    return "".join([*pieces, text[at:]])


@cache
def _hints() -> Any:
    """All hints as one expression; a long text is not gone through once for each."""
    return linear("|".join(HINTS))


def _hinted(text: str) -> bool:
    """Whether a text has the beginning of a name in it, in whatever case."""
    low = text.encode().lower() if text.isascii() else text.lower().encode("utf-8", "surrogatepass")
    return _hints().search(low) is not None


def _told(text: str, low: str, hint: str) -> Iterator[tuple[int, int]]:
    """Where the secrets stand that are told by a name that begins so; `low` is the text in lower
    case."""
    at = low.find(hint)
    while at >= 0:
        told = _TELLS.match(low, at)
        if told is not None and not low[max(0, at - 1) : at].isalnum():
            start = told.start("value")
            end = start + len(told["value"].rstrip(".,:;!?)"))
            if end - start >= SHORTEST and _is_one(told, text[start:end]):
                yield start, end
        at = low.find(hint, at + len(hint))


def _is_one(told: re.Match[str], value: str) -> bool:
    """Whether a word behind the sentence's verb is a secret and not just a word of the sentence.

    1. Keys open doors, too: only one to be used by programs is meant.
    2. One that stands in quotes was set apart from the sentence.
    3. A number is a PIN or a password, but says how many where the sentence is about keys or
       tokens.
    4. Digits, signs or capitals inside it: no word is written so.
    5. A plain word is one where it is somebody's own, ends the sentence, and says nothing of how
       the password is.
    """
    low, first = told.string, max(0, told.start() - BEFORE)
    if value.startswith(("[", "<", "$", "{", "http")):
        return False
    if told["key"] is not None and _KEY_OF.search(low, first, told.start()) is None:
        return False
    if told["quote"]:
        return True
    if value.isdigit():
        return told["counted"] is None
    if told["pin"] is not None:
        return False
    if any(map(str.isupper, value[1:])) and any(map(str.islower, value)):
        return True
    if any(map(str.isalpha, value)) and not value.translate(_INSIDE).isalpha():
        return True
    if not value.isalpha() or len(value) < SHORTEST + 2 or _STATES.fullmatch(value) is not None:
        return False
    ends = _LAST.match(low, told.start("value") + len(value)) is not None
    return ends and _OWNED.search(low, first, told.start()) is not None
