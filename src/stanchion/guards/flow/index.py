"""The index: in which sources a word occurs, for as many as ever are read, at the same cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

EACH: Final = 48
"""How many sources of one word are remembered: half of them the oldest, half the newest."""
MOST: Final = 250_000
"""How many words are remembered; of words that come later it is not known where they came from."""


class Index:
    """Words and the numbers of the sources that have them."""

    __slots__ = ("_found", "full")

    def __init__(self) -> None:
        self._found: dict[str, int | list[int]] = {}
        self.full = False

    def add(self, words: Iterable[str], number: int) -> None:
        """A source has these words."""
        found = self._found
        for word in words:
            known = found.get(word)
            if known is None:
                found[word] = number
            elif isinstance(known, int):
                found[word] = [known, number]
            else:
                if len(known) >= EACH:
                    del known[EACH // 2]
                known.append(number)
        if len(found) > MOST:
            self._drop()

    def _drop(self) -> None:
        self.full = True
        for word in [*self._found][MOST:]:
            del self._found[word]

    def has(self, word: str) -> bool:
        """Whether a word was ever read."""
        return word in self._found

    def rarest(self, words: Iterable[str]) -> tuple[int, ...]:
        """The sources of the word that the fewest have; none where a word was never read."""
        known_of = self._found.get
        best: list[int] | None = None
        for word in words:
            known = known_of(word)
            if known is None:
                return ()
            if isinstance(known, int):
                return (known,)
            if best is None or len(known) < len(best):
                best = known
        return () if best is None else tuple(best)
