"""A shell text that is one command of literal words and nothing else: what it runs is known without
a shell."""

from __future__ import annotations

from typing import Final

from stanchion.readings.shell.limits import Meter, TooMuch
from stanchion.readings.shell.parse import Reader
from stanchion.readings.shell.tree import Simple, Text, Word

OPEN: Final = frozenset("*?[]{}~")
"""Characters from which a shell may make other words, where they are not quoted."""
LONGEST: Final = 65_536


def single(text: str) -> tuple[str, ...] | None:
    """The words of the command that a text is; `None` where a shell would do more than run it as it
    stands: run several, expand something, redirect, set a variable, go on in the background."""
    if not text.strip() or len(text) > LONGEST or "\0" in text:
        return None
    reader = Reader(text, Meter(len(text)))
    try:
        script = reader.read()
    except TooMuch:
        return None
    if reader.broken or len(script) != 1 or script[0].after:
        return None
    node = script[0].node
    if not isinstance(node, Simple) or node.assigns or node.redirects or not node.words:
        return None
    words = [_literal(word) for word in node.words]
    known = [word for word in words if word is not None]
    return tuple(known) if len(known) == len(words) else None


def _literal(word: Word) -> str | None:
    parts = [Text(word)] if isinstance(word, str) else word
    texts = [part for part in parts if isinstance(part, Text)]
    said = "".join(part.text for part in texts)
    if len(texts) < len(parts):
        return None
    # Alone a bracket is the test of that name, and no pattern.
    plain = said in ("[", "]") or all(part.quoted or not OPEN & set(part.text) for part in texts)
    return said if plain else None
