"""Literals that patterns need, looked for together: which patterns can have begun in a text that is
not over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stanchion.readings.scan.pattern import Pattern, compiled


class Literals:
    """Says which patterns have a literal in a text that all of their matches hold."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        needs: dict[bytes, list[int]] = {}
        for number, pattern in enumerate(patterns):
            for literal in pattern.head.literals if pattern.head is not None else ():
                needs.setdefault(literal, []).append(number)
        ordered = sorted(needs, key=lambda literal: (-len(literal), literal))
        self._needed_by = {literal: _with_beginnings(literal, needs) for literal in ordered}
        self._any: Any = (
            compiled("|".join([_spelled(literal) for literal in ordered])) if ordered else None
        )

    def needed(self, flat: bytes) -> set[int]:
        """The patterns of which a literal is in a text, by their numbers."""
        found: set[int] = set()
        if self._any is not None:
            lowered = flat.lower()
            at = 0
            while (seen := self._any.search(lowered, at)) is not None:
                at = seen.start() + 1
                found.update(self._needed_by[lowered[seen.start() : seen.end()]])
        return found


def _with_beginnings(literal: bytes, needs: dict[bytes, list[int]]) -> list[int]:
    """Who needs a literal, or one that it begins with: where it stands, that stands, too."""
    short = [literal[:end] for end in range(1, len(literal) + 1)]
    return [number for one in short if one in needs for number in needs[one]]


def _spelled(literal: bytes) -> str:
    return "".join([f"\\x{byte:02x}" for byte in literal])
