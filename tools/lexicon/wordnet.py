"""WordNet as its files have it: words, their senses, how often they are used, and what the senses
are related to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

NOUN: Final = "n"
VERB: Final = "v"
FILES: Final = {NOUN: "noun", VERB: "verb"}
ADJECTIVE: Final = "a"
TYPES: Final = {"1": NOUN, "2": VERB, "3": ADJECTIVE, "5": ADJECTIVE}
DERIVED: Final = "+"
BELOW: Final = "~"
ABOVE: Final = "@"
GROUPED: Final = "$"


class Pointer(NamedTuple):
    """How one sense is related to another; `source` and `target` number the words that are, 0 where
    all are."""

    symbol: str
    offset: str
    part: str
    source: int
    target: int


class Sense(NamedTuple):
    """A sense: its words and what it is related to."""

    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]


class WordNet:
    """The nouns and verbs of a folder that holds WordNet's files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def uses(self) -> Counter[tuple[str, str]]:
        """How often a word is used as a noun, a verb or an adjective in texts whose senses were
        marked."""
        found: Counter[tuple[str, str]] = Counter()
        for line in self._lines("cntlist.rev"):
            key, _, number = line.split()
            word, sense = key.split("%")
            if sense[0] in TYPES:
                found[word, TYPES[sense[0]]] += int(number)
        return found

    @cached_property
    def senses(self) -> dict[tuple[str, str], Sense]:
        """All senses, by part of speech and offset."""
        return {
            (part, offset): sense
            for part, name in FILES.items()
            for offset, sense in map(_sense, self._entries(f"data.{name}"))
        }

    @cached_property
    def words(self) -> dict[tuple[str, str], list[str]]:
        """The offsets of a word's senses, the most used first; only single words of letters."""
        found: dict[tuple[str, str], list[str]] = {}
        for part, name in FILES.items():
            for line in self._entries(f"index.{name}"):
                pieces = line.split()
                if is_word(pieces[0]):
                    found[pieces[0], part] = pieces[-int(pieces[2]) :]
        return found

    def of(self, word: str, part: str, most: int = 99) -> list[Sense]:
        """The senses of a word, the most used first."""
        return [self.senses[part, offset] for offset in self.words.get((word, part), ())[:most]]

    def related(
        self, sense: Sense, symbols: str, part: str = ""
    ) -> Iterator[tuple[Pointer, Sense]]:
        """The senses that a sense is related to in one of these ways."""
        for pointer in sense.pointers:
            if pointer.symbol in symbols and pointer.part in FILES and part in ("", pointer.part):
                yield pointer, self.senses[pointer.part, pointer.offset]

    def irregular(self) -> Iterator[tuple[str, str]]:
        """Irregular forms of verbs, with what they are forms of."""
        for line in self._lines("verb.exc"):
            form, base = line.split()[:2]
            yield form, base

    def _entries(self, name: str) -> Iterator[str]:
        return (line for line in self._lines(name) if not line.startswith(" "))

    def _lines(self, name: str) -> list[str]:
        return (self._folder / name).read_text(encoding="utf-8").splitlines()


def is_word(text: str) -> bool:
    """Whether a text is one word of plain letters."""
    return text.isascii() and text.isalpha()


def _sense(line: str) -> tuple[str, Sense]:
    pieces = line.split(" | ")[0].split()
    count = int(pieces[3], 16)
    words = tuple([pieces[4 + 2 * at].lower() for at in range(count)])
    first = 5 + 2 * count
    pointers = []
    for at in range(first, first + 4 * int(pieces[first - 1]), 4):
        symbol, offset, part, which = pieces[at : at + 4]
        pointers.append(Pointer(symbol, offset, part, *divmod(int(which, 16), 256)))
    return pieces[0], Sense(words, tuple(pointers))
