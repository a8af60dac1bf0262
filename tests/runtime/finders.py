"""Content guards for tests: each finds a few made-up things in texts and can say what is
settled."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

import msgspec

from stanchion import Action, Finding, Stage
from stanchion.kernel.actions import Category
from stanchion.kernel.content import content_of
from stanchion.kernel.findings import Terms
from stanchion.kernel.guard import Kind
from stanchion.readings.texts import TextLeaf, TextSpan, hiding, leaves

KEY: Final = "sk-0a1b2c3d4e"
PIN: Final = "908070"
CARD: Final = "4000 1234 5678"
BLOCK: Final = "<<key\nabc def\nkey>>"

_WORD: Final = r"[A-Za-z0-9-]"
_KEYS: Final = re.compile(
    rf"(?<![A-Za-z0-9\]-])sk-[a-z0-9]{{8,20}}(?!{_WORD})"
    rf"|(?<=pin )(?<![A-Za-z0-9\]-]pin )[0-9]{{4,8}}(?!{_WORD})"
    r"|<<key[a-z\n ]{0,200}key>>"
)
_LAST_WORD: Final = re.compile(rf"{_WORD}*\Z")
_OPEN: Final = re.compile(r"<(?:<(?:k(?:e(?:y[a-z\n ]{0,200}(?:k?e?y?>?)?)?)?)?)?\Z")
_CARDS: Final = re.compile(r"(?<![0-9])(?<![0-9] )[0-9]{4}(?: [0-9]{4}){2}(?! ?[0-9])")
_LAST_DIGITS: Final = re.compile(r"[0-9](?: ?[0-9])* ?\Z")


def word(kind: str, _text: str) -> str:
    """What stands in the place of something."""
    return f"[redacted:{kind}]"


class _Finder(msgspec.Struct, frozen=True):
    """What both guards do: find spans in all texts of an event and patch them."""

    kind: ClassVar[Kind] = Kind.PURE
    action: Action = Action.REDACT
    id: str = "finder"
    stages: frozenset[Stage] = frozenset(Stage) - {Stage.CHARGE, Stage.HANDOFF_DONE}
    priority: int = 20
    category: Category = Category.SAFETY
    mode: str = "enforce"
    fail_open: bool = False
    terms: Terms | None = None

    def find(self, text: str, at: int = 0) -> list[TextSpan]:
        """What begins at that place of a text or behind it."""
        raise NotImplementedError

    def redacted(self, text: str) -> str:
        """A whole text as it may be shown."""
        for span in reversed(self.find(text)):
            text = text[: span.start] + word(span.kind, "") + text[span.end :]
        return text

    def judge(self, reading: Any, /) -> Finding | None:
        event = reading.event
        content = content_of(event)
        found = leaves(content)
        spans = [self.find(leaf.text) for leaf in found]
        before = len(getattr(event, "before", ""))
        if before:
            inside = self.find(event.before + event.text, before)
            found = [TextLeaf((), event.text)]
            spans = [
                [TextSpan(span.start - before, span.end - before, span.kind) for span in inside]
            ]
        if not any(spans):
            return None
        patches = hiding(found, spans, word)
        return Finding(
            self.action, "test.found", text="something is in it", patches=patches, terms=self.terms
        )


class Keys(_Finder, frozen=True):
    """Finds keys, pins after the word `pin`, and blocks."""

    CONTEXT: ClassVar[int] = 5
    id: str = "keys"

    def find(self, text: str, at: int = 0) -> list[TextSpan]:
        return [
            TextSpan(m.start(), m.end(), "block" if m[0][0] == "<" else "key")
            for m in _KEYS.finditer(text, at)
        ]

    def settled(self, text: str) -> int:
        """Up to the last word, or the block that is open; a word that is too long to be a key is
        none."""
        opened = _OPEN.search(text)
        if opened is not None:
            return opened.start()
        start = _LAST_WORD.search(text).start()  # type: ignore[union-attr]  # it matches every text
        return start if len(text) - start <= 24 else len(text)


class Cards(_Finder, frozen=True):
    """Finds numbers of three groups of four digits."""

    CONTEXT: ClassVar[int] = 2
    id: str = "cards"
    priority: int = 30

    def find(self, text: str, at: int = 0) -> list[TextSpan]:
        return [TextSpan(match.start(), match.end(), "card") for match in _CARDS.finditer(text, at)]

    def settled(self, text: str) -> int:
        """Up to the digits at the end, with their spaces; so many that they are no card are
        settled."""
        last = _LAST_DIGITS.search(text[-20:])
        held = 0 if last is None else len(last[0])
        return len(text) - held if held <= 16 else len(text)
