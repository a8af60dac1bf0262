"""Outcomes of calls: equal where nothing new came of a call, whatever the time was and however ids
were drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from stanchion.kernel.events import Failure
from stanchion.kernel.regex import regex
from stanchion.readings import Reading
from stanchion.readings.canonical import canonical, plain
from stanchion.readings.fingerprint import digest

READ: Final = 400
"""How much of an error's text tells one error from another."""

TAIL: Final = 4_000
"""How much of a text is searched from its end for what was raised."""

ECHO: Final = 4
"""From how many characters on an argument is looked for in a result."""

DRAWN: Final = regex(
    r"""[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
    |\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?
    |\b0x[0-9a-f]{6,}\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What differs between two results that say the same: drawn ids, times of the clock, addresses in
memory."""

_HINT: Final = regex(r"-(?=(?P<id>[0-9a-fA-F]{4}-)|\d\d[Tt ]\d\d:)")
"""A sign that is in drawn ids behind eight characters, and in times behind seven. Texts are
searched for it rather than for the whole, because they are passed quickly where they do not have
it."""

_RAISED: Final = regex(r"(?:^|[\s:.])([A-Z][A-Za-z0-9_]*(?:Error|Exception|Interrupt|Exit)): ")
"""An exception by its name, before what it says."""

_QUOTED: Final = regex(r"""(?<!\w)(?:"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)""")
_NUMBER: Final = regex(
    r"\d+(?:\.\d+)*(?!\d*\s+(?:failed|failing|failures?|errors?|passed|passing|problems?)\b)"
)
"""A number that tells no failure from another; how many tests fail, or lines are wrong, tells how
far the work is."""


def result_digest(result: Any, asked: Iterable[Any] = ()) -> tuple[str, int]:
    """The digest of a result, and how much it says, in characters. What was `asked` and is only
    repeated in it says nothing."""
    text = undrawn(canonical(result))
    for said in asked:
        if type(said) is str and len(said) >= ECHO:
            text = text.replace(plain(said), "~")
    return digest("=", text), len(text)


def error_digest(reading: Reading[Failure]) -> str:
    """The signature of a failure: its kind and its words, without what they quote, and without
    numbers that do not say how much is wrong.

    Where there are no words, failures of calls with other arguments are other failures.
    """
    failure = reading.event
    words = undrawn(_raised(failure.text)[: READ * 4])
    words = " ".join(_NUMBER.sub("0", _QUOTED.sub("?", words)).casefold().split())[:READ]
    about = words if words else reading.fingerprint.exact
    return digest("!", failure.error, str(failure.status), about)


def _raised(text: str) -> str:
    """What an error says from the last exception on that it names: the way there may be another
    each time."""
    if "r: " not in text and "n: " not in text and "t: " not in text:
        return text
    tail = text[-TAIL:]
    raised = [found.start(1) for found in _RAISED.finditer(tail)]
    return tail[raised[-1] :] if raised else text


def undrawn(text: str) -> str:
    """A text with a `~` for everything that is drawn."""
    if "0x" in text or "0X" in text:
        return DRAWN.sub("~", text)
    if "-" not in text:
        return text
    kept, end = [], 0
    for hint in _HINT.finditer(text):
        start = hint.start() - (8 if hint["id"] else 7)
        drawn = DRAWN.match(text, start) if start >= end else None
        if drawn is not None:
            kept += [text[end:start], "~"]
            end = drawn.end()
    return "".join([*kept, text[end:]]) if end else text
