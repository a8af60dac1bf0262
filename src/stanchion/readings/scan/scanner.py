"""The scanner: all matches of many patterns, by a sieve that says where to look and RE2 that looks
there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from stanchion.kernel.guard import TooDense
from stanchion.kernel.sizes import LIMITS, allowed
from stanchion.readings.joined import JoinedTexts, flat
from stanchion.readings.scan.pattern import LONGEST, Match, Pattern, compiled
from stanchion.readings.scan.window_sieve import WindowSieve


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


__all__ = ["CONTEXT", "Hit", "Hits", "Scanner"]

CONTEXT: Final = LONGEST + 1
"""How many characters before a place can matter for what is found behind it."""


class Hit(NamedTuple):
    """What was found: the pattern's number, the part of the match that counts, and the whole
    match."""

    pattern: int
    start: int
    end: int
    first: int
    last: int


Hits = list[list[Hit]]
"""What was found in each of several texts."""


class Scanner:
    """Looks for many patterns together. A sieve says only which patterns may match, and where to
    look: what is found there is for the patterns themselves to say."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.patterns = tuple(patterns)
        self.shortest = min([pattern.shortest for pattern in self.patterns], default=1)
        self._sieve = WindowSieve(self.patterns)

    def prepare(self) -> None:
        """Compile what says where to look, so that no text has to wait for it."""
        self._sieve.compile()

    @cached_property
    def _literals(self) -> Literals:
        return Literals(self.patterns)

    def scan(self, text: str) -> list[Hit]:
        """What is in a text, however much that is, by its places in it and then by the pattern's
        number; spans are in characters."""
        return self._found(flat(text), 1_024) if len(text) >= self.shortest else []

    def scan_joined(self, texts: JoinedTexts, a_kb: int = LIMITS.matches_a_kb) -> Hits | None:
        """The same for several texts in one pass; nothing reaches from one into the next. `None`
        where nothing is in any of them. Where more is found than `allowed`, it raises
        `TooDense`."""
        if len(texts.text) < self.shortest or not (hits := self._found(texts.flat, a_kb)):
            return None
        found: Hits = [[] for _ in texts.texts]
        for hit in hits:
            number = texts.which(hit.first)
            begin = texts.begins[number]
            found[number].append(Hit(hit.pattern, *[at - begin for at in hit[1:]]))
        return found

    def _found(self, text: bytes, a_kb: int) -> list[Hit]:
        regions = self._sieve.regions(text)
        if not regions:
            return []
        most = allowed(len(text), a_kb)
        found: dict[tuple[int, int, int], Hit] = {}
        for number, parts in regions.items():
            for first, last in parts:
                for match in self.patterns[number].matches(text, first, last):
                    self._keep(found, number, match)
                    if len(found) > most:
                        raise TooDense(f"{most:,}")
        return sorted(found.values(), key=place)

    @staticmethod
    def _keep(found: dict[tuple[int, int, int], Hit], number: int, match: Match) -> None:
        """Matches that begin differently and mean the same are one, as long as the longest of
        them."""
        what = (number, match.left, match.right)
        known = found.get(what)
        first, last = match.start, match.end
        if known is not None:
            first, last = min(first, known.first), max(last, known.last)
        found[what] = Hit(number, match.left, match.right, first, last)

    def open_at(self, text: str) -> int:
        """Where the first match begins that what follows the text may still make, unmake or change.
        What stands before it is found, or not found, whatever follows: apart from matches that end
        right there."""
        seen = flat(text)
        size = len(seen)
        held = _run(seen, self._narrow[0], size, self._narrow[1])
        needed = self._literals.needed(seen)
        for number in {*needed, *self._wide}:
            held = min(held, self.patterns[number].open_at(seen, number in needed))
        return held

    @cached_property
    def _narrow(self) -> tuple[bytes, int]:
        """What stands in patterns until a literal of theirs is over, and how much of it at the
        most."""
        heads = [pattern.head for pattern in self.patterns]
        narrow = [head for head in heads if head is not None and head.narrow]
        letters = 0
        for head in narrow:
            letters |= head.letters
        held = bytes([byte for byte in range(256) if letters >> byte & 1])
        return held, max([head.width for head in narrow], default=0)

    @cached_property
    def _wide(self) -> tuple[int, ...]:
        """Patterns that may begin with anything, or need no literal. Each is looked at alone: what
        says it of several has more states than it may keep, and is slower than all of them."""
        heads = enumerate([pattern.head for pattern in self.patterns])
        return tuple([number for number, head in heads if head is None or not head.narrow])


def place(hit: Hit) -> tuple[int, int, int]:
    """What hits are ordered by: no two have the same."""
    return hit.start, hit.end, hit.pattern


def _run(text: bytes, of: bytes, end: int, most: int) -> int:
    """Where the run of certain characters begins that reaches to the end; as long as `most` at the
    most."""
    first = max(0, end - most)
    return first + len(text[first:end].rstrip(of))
