"""`python -m tools.lexicon WORDNET`: write the lexicon of the prose readings from a folder with
WordNet's files."""

from __future__ import annotations

import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import yaml

from stanchion.readings.prose.lexicon import FILE, Mark, stem
from tools.lexicon.wordnet import (
    ABOVE,
    ADJECTIVE,
    BELOW,
    DERIVED,
    GROUPED,
    NOUN,
    VERB,
    WordNet,
    is_word,
)

SEEDS: Final = Path(__file__).with_name("seeds.yaml")
TARGET: Final = Path(__file__).resolve().parents[2] / "src/stanchion/readings/prose" / FILE
SENSES: Final = 3
"""How many senses of a word count for what it is related to, the most used ones."""
MOST: Final = 24
"""How many related words are kept of one."""


class Lexicon:
    """The lexicon as it is built: marks of words and words that are related, all by stems."""

    def __init__(self, wordnet: WordNet, seeds: dict[str, Any]) -> None:
        self._net = wordnet
        self._seeds = seeds
        self._modern = frozenset(seeds["modern"].split())
        self._weak = frozenset(seeds["weak"].split())
        self._texts = frozenset(" ".join(seeds["texts"]).split())
        self.marks: dict[str, set[str]] = defaultdict(set)
        self.near: dict[str, set[str]] = defaultdict(set)
        self.wide: dict[str, set[str]] = defaultdict(set)

    def build(self) -> list[str]:
        """The lines of the lexicon: a stem, its marks, near and wide relations."""
        self._mark_verbs()
        self._relate()
        self._mark_seeds()
        known = sorted({*self.marks, *self.near, *self.wide})
        return [
            self._line(word)
            for word in known
            if self.marks[word] or self.near[word] or self.wide[word]
        ]

    def _line(self, word: str) -> str:
        near = sorted(self.near[word] - {word})
        wide = sorted(self.wide[word] - {word} - self.near[word])
        return "\t".join((word, " ".join(sorted(self.marks[word])), " ".join(near), " ".join(wide)))

    def _is_verb(self, word: str) -> bool:
        if word in self._modern:
            return True
        uses = self._net.uses
        verb, other = uses[word, VERB], uses[word, NOUN] + uses[word, ADJECTIVE]
        return verb * 4 >= other if verb else not other and (word, NOUN) not in self._net.words

    def _mark_verbs(self) -> None:
        uses = self._net.uses
        verbs = {
            word for word, part in self._net.words if part == VERB and self._is_verb(word)
        } | self._modern
        for word in verbs:
            self._mark(word, Mark.VERB)
            self.marks[word].add(Mark.BASE)
            only = (word, NOUN) not in self._net.words
            if (
                only or uses[word, VERB] > 3 * uses[word, NOUN]
            ) and word not in self._weak | self._texts:
                self._mark(word, Mark.ONLY_VERB)
        for form, base in self._net.irregular():
            if is_word(form) and len(form) > 3 and base in verbs and not form.endswith("ing"):
                self.marks[form].add(Mark.PAST)

    def _mark_seeds(self) -> None:
        for mark, name in (
            (Mark.READS, "reads"),
            (Mark.PREPARES, "prepares"),
            (Mark.MAKES, "makes"),
            (Mark.SAYS, "says"),
        ):
            for word in self._seeds[name].split():
                self._mark(word, mark)
        for pair in self._seeds["near"]:
            for word, other in (pair, pair[::-1]):
                self._add(self.near, word, [other])
        for word in self._seeds["generic"].split():
            self.marks[word].add(Mark.GENERIC)
            self._mark(word, Mark.GENERIC)
        for word in self._weak:
            self._mark(word, Mark.WEAK)
        for name, listed in self._seeds["lists"].items():
            for word in listed.split():
                self.marks[word].add(Mark.LIST + name)
        for at, group in enumerate(self._seeds["texts"]):
            for word in group.split():
                self._mark(word, f"{Mark.TEXT}{at}")
        for at, (said, meant) in enumerate(self._seeds["frames"]):
            for word in said.split():
                self._mark(word, f"{Mark.SAID}{at}")
            for word in meant.split():
                self._mark(word, f"{Mark.MEANT}{at}")

    def _mark(self, word: str, mark: str) -> None:
        self.marks[stem(word)].add(str(mark))

    def _relate(self) -> None:
        for (word, part), offsets in self._net.words.items():
            if word in self._weak:
                continue
            if self._net.uses[word, part] < 1 and not (part == VERB and self._is_verb(word)):
                continue
            for at, offset in enumerate(offsets[:SENSES]):
                sense = self._net.senses[part, offset]
                self._add(self.wide, word, sense.words)
                if at < (2 if part == VERB else 1):
                    self._add(self.near, word, sense.words)
                symbols = ABOVE + BELOW + DERIVED + GROUPED if part == VERB else DERIVED + GROUPED
                for pointer, other in self._net.related(sense, symbols):
                    if pointer.symbol in (DERIVED, GROUPED) or pointer.part == part:
                        self._add(self.wide, word, self._used(other.words[:3]))
                if part == VERB:
                    self._nouns_of(word)

    def _nouns_of(self, word: str) -> None:
        """The nouns that are made of a verb are near it: payment and pay."""
        for sense in self._net.of(word, VERB, SENSES):
            for pointer, other in self._net.related(sense, DERIVED, NOUN):
                if (
                    not (pointer.source and pointer.target)
                    or sense.words[pointer.source - 1] != word
                ):
                    continue
                noun = other.words[pointer.target - 1]
                if noun[:4] == word[:4]:
                    self._add(self.near, word, [noun])
                    self._add(self.near, noun, [word])

    def _used(self, words: Iterable[str]) -> list[str]:
        uses = self._net.uses
        return [word for word in words if uses[word, NOUN] + uses[word, VERB] > 2]

    def _add(self, table: dict[str, set[str]], word: str, others: Iterable[str]) -> None:
        known = table[stem(word)]
        for other in others:
            if is_word(other) and other not in self._weak and len(known) < MOST:
                known.add(stem(other))


def main() -> None:
    """Write the lexicon."""
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    lines = Lexicon(
        WordNet(Path(sys.argv[1])), yaml.safe_load(SEEDS.read_text(encoding="utf-8"))
    ).build()
    TARGET.write_bytes(zlib.compress("\n".join(lines).encode(), 9))
    print(f"{len(lines):,} words, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
