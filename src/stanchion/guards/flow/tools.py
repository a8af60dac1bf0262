"""Tools: what a tool is called, what it does, and how well words explain a call of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from stanchion.guards.flow.user import Words, kinds_of
from stanchion.kernel.declared import READ, effect_of
from stanchion.kernel.regex import regex
from stanchion.readings import names
from stanchion.readings.prose.lexicon import NONE, Mark, is_listed, known, stem, telling, words
from stanchion.readings.prose.values import values

FIRST: Final = regex(r"(?<=[.!?])\s|\n")
OF_NAME: Final = 2.0
OF_TEXT: Final = 1.0
MOST_WORDS: Final = 24
"""How many words of a description tell what a tool does."""
KEPT: Final = 8_192
"""How many words are remembered with what they open or select."""
LONGEST_VERB: Final = 40
MOST_CALLS: Final = 64
"""How long an argument may be that says what is done, and how many of them are remembered for a
tool."""
NEAR: Final = 0.8
WIDE: Final = 0.6
NO_VERB: Final = 0.5
"""What words are worth that are related only, and words without the verb."""


class Tool:
    """One tool as it is understood. It never changes.

    `verbs` are those of its name, as stems; `weights` the words of its name and of what is said of
    it, with how much each tells; `things` the words of the name that are no verbs; `own` all words
    and values of its definition.
    """

    __slots__ = (
        "_all_near",
        "_anything",
        "_calls",
        "_does",
        "_makes",
        "_near",
        "_verbs_near",
        "_wide",
        "choices",
        "frames",
        "kinds",
        "name",
        "own",
        "prepares",
        "reads",
        "selectors",
        "things",
        "total",
        "verbs",
        "weights",
    )

    def __init__(
        self, name: str, about: Any = "", schema: Any = None, traits: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        named = names.words(name)
        said = words(_first_sentence(about))[:MOST_WORDS]
        self.verbs = _verbs(named) if _verbs(named) else _verbs(said[:1])
        self.reads = _reads(named, traits)
        self.prepares = not self.reads and _all(self.verbs[:1], Mark.PREPARES)
        counted: Counter[str] = Counter()
        for word in named:
            if telling(word) or stem(word) in self.verbs:
                counted[stem(word)] += int(OF_NAME)
        for word in said:
            if telling(word):
                counted[telling(word)] += int(OF_TEXT)
        self.weights: dict[str, float] = dict(counted)
        self.total = sum(self.weights.values()) or 1.0
        self.things = tuple(
            [word for word in map(stem, named) if word in self.weights and word not in self.verbs]
        )
        self.frames = frozenset(
            [
                mark[1:]
                for word in named
                for mark in known(stem(word)).marks
                if mark[0] == Mark.MEANT
            ]
        )
        named_kinds = kinds_of(frozenset(map(stem, named)))
        self.kinds = named_kinds if named_kinds else kinds_of(frozenset(self.weights))
        self.own, self.choices, self.selectors = _definition(about, schema)
        self._calls: dict[str, Tool] = {}
        self._anything = any(is_listed(word, "anything") for word in named)
        self.relate()

    @property
    def acts(self) -> bool:
        """Whether it may change something: whatever is not known to read does."""
        return not self.reads

    def weighed(self, idf: Mapping[str, float]) -> Tool:
        """The same tool among others: a word that many of them have tells little."""
        made = self._copy()
        made.weights = {word: weight * idf.get(word, 1.0) for word, weight in self.weights.items()}
        made.total = sum(made.weights.values()) or 1.0
        return made

    def called(self, args: Any) -> Tool:
        """The tool as a call uses it: where an argument says what is done, that is its verb."""
        if not isinstance(args, dict):
            return self
        for name, value in args.items():
            if (
                type(value) is str
                and (name in self.selectors or _is_selector(name))
                and len(value) <= LONGEST_VERB
            ):
                known_as = self._calls.get(value)
                if known_as is None and len(self._calls) < MOST_CALLS:
                    known_as = self._calls[value] = self._doing(names.words(value))
                if known_as is not None:
                    return known_as
        return self

    def _doing(self, said: Sequence[str]) -> Tool:
        made = self._copy()
        made._anything = False
        made.verbs = _verbs(said) or tuple(map(stem, said[:1]))
        made.reads = _reads(said, ())
        made.prepares = not made.reads and _all(made.verbs[:1], Mark.PREPARES)
        made.weights = {
            **self.weights,
            **dict.fromkeys(made.verbs, max(self.weights.values(), default=OF_NAME)),
        }
        made.total = sum(made.weights.values()) or 1.0
        made.relate()
        return made

    def _copy(self) -> Tool:
        made: Tool = object.__new__(Tool)
        for slot in Tool.__slots__:
            setattr(made, slot, getattr(self, slot))
        made._calls = {}
        return made

    def relate(self) -> None:
        """Look up what its words are related to."""
        self._near = {word: known(word).near for word in self.weights}
        self._all_near = frozenset(self.weights).union(*self._near.values())
        self._wide = {word: known(word).wide for word in self.weights}
        self._verbs_near = frozenset(self.verbs).union(*[known(verb).near for verb in self.verbs])
        self._makes = any(
            mark == Mark.MAKES or mark[0] == Mark.MEANT
            for verb in self.verbs
            for mark in known(verb).marks
        )
        self._does = frozenset(self.verbs).union(*[known(verb).wide for verb in self.verbs])

    def explained(self, stems: frozenset[str]) -> float:
        """How well a user's words explain a call: how much of the tool's words they cover, with all
        that is related."""
        got = 0.0
        for word, weight in self.weights.items():
            if word in stems:
                got += weight
            elif not self._wide[word].isdisjoint(stems):
                got += WIDE * weight
        return got / self.total

    def dictated(self, stems: frozenset[str]) -> float:
        """How well words that others wrote explain a call: only near relations count, and half
        without the verb."""
        got, verb = 0.0, False
        for word, weight in self.weights.items() if not self._all_near.isdisjoint(stems) else ():
            if word in stems:
                got += weight
            elif not self._near[word].isdisjoint(stems):
                got += NEAR * weight
            else:
                continue
            verb = verb or word in self.verbs
        if not verb and self._makes and self.framed(stems):
            got, verb = (
                got + NEAR * max([self.weights.get(each, 0.0) for each in self.verbs], default=0.0),
                True,
            )
        return got / self.total * (1.0 if verb else NO_VERB)

    def shares(self, stems: frozenset[str]) -> bool:
        """Whether words have one of the tool's, or one that is near."""
        return not self._all_near.isdisjoint(stems)

    def beside(self, stems: frozenset[str]) -> frozenset[str]:
        """The words, but for numbers, that are not the tool's own, nor near to them."""
        return frozenset([word for word in stems - self._all_near if word.isalpha()])

    def asked_by(self, said: Words) -> bool:
        """Whether a user's words want what this tool does: its verb, and one of the things that its
        name speaks of."""
        frames = self.framed(said.verbs) if self._makes else NONE
        if not self.does(said.verbs) and not frames:
            return False
        return not self.things or any(self._has(thing, said.stems, frames) for thing in self.things)

    def framed(self, verbs: frozenset[str]) -> frozenset[str]:
        """The frames of everyday requests that verbs open and that mean this tool."""
        if not self.frames:
            return NONE
        return self.frames.intersection(chain.from_iterable(map(_opens, verbs)))

    def _has(self, thing: str, stems: frozenset[str], frames: frozenset[str]) -> bool:
        """Whether words speak of a thing, or a frame means it without naming it."""
        if thing in stems or not self._wide[thing].isdisjoint(stems):
            return True
        return any(mark[0] == Mark.MEANT and mark[1:] in frames for mark in known(thing).marks)

    def named_by(self, stems: frozenset[str]) -> bool:
        """Whether words have the tool's very verb, one that is near, or one of everyday requests
        that means it."""
        if not self._verbs_near.isdisjoint(stems):
            return True
        if self._anything and not stems.isdisjoint(self.things):
            return True
        return self._makes and bool(self.framed(stems))

    def does(self, stems: frozenset[str]) -> bool:
        """Whether words have the tool's verb or one that is related."""
        return not self._does.isdisjoint(stems)

    def chosen(self, text: str) -> bool:
        """Whether a value, in its one spelling, is one of those that the definition itself has."""
        return text in self.choices


@lru_cache(KEPT)
def _opens(verb: str) -> frozenset[str]:
    """The frames that a verb opens."""
    return frozenset([mark[1:] for mark in known(verb).marks if mark[0] == Mark.SAID])


@lru_cache(KEPT)
def _is_selector(name: str) -> bool:
    named = names.words(name)
    return bool(named) and is_listed(named[-1], "selectors")


def _verbs(named: Sequence[str]) -> tuple[str, ...]:
    """The verbs of a name."""
    sure = [stem(word) for word in named if _is_sure(word)]
    return tuple(sure if sure else [stem(word) for word in named if Mark.BASE in known(word).marks])


def _is_sure(word: str) -> bool:
    marks = known(stem(word)).marks
    if any(mark[0] == Mark.TEXT for mark in marks):
        return False
    return Mark.READS in marks or (Mark.ONLY_VERB in marks and Mark.BASE in known(word).marks)


def _reads(named: Sequence[str], traits: tuple[str, ...]) -> bool:
    effect = effect_of(traits)
    if effect:
        return effect == READ
    found = _verbs(named)
    return _all(found if any(is_listed(word, "joins") for word in named) else found[:1], Mark.READS)


def _all(verbs: Iterable[str], mark: Mark) -> bool:
    found = list(verbs)
    return bool(found) and all(mark in known(verb).marks for verb in found)


def _first_sentence(about: Any) -> str:
    if isinstance(about, dict):
        about = about.get("description", "")
    return (
        next((piece for piece in FIRST.split(about.strip()) if piece), "")
        if isinstance(about, str)
        else ""
    )


def _definition(about: Any, schema: Any) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The words of a definition, the values that it offers, and the parameters that say what is
    done."""
    own: set[str] = set()
    choices: set[str] = set()
    waiting: list[tuple[Any, str]] = [(schema, ""), (about, "")]
    seen = 0
    while waiting and seen < 4_096:
        value, key = waiting.pop()
        seen += 1
        if isinstance(value, dict):
            for name, each in value.items():
                own.update(words(str(name).replace("_", " ")))
                waiting.append((each, str(name)))
        elif isinstance(value, list | tuple):
            waiting += [(each, key) for each in value]
        elif isinstance(value, str):
            own.update(words(value.replace("_", " ")))
            if key in ("enum", "default", "const", "examples", "example"):
                choices.update([each.text for each in values(value)])
                choices.add(" ".join(words(value)))
    return frozenset(own), frozenset(choices), frozenset(_selectors(schema))


def _selectors(schema: Any) -> Iterator[str]:
    """The parameters whose choices are verbs."""
    offered = schema.get("properties") if isinstance(schema, dict) else None
    for name, each in offered.items() if isinstance(offered, dict) else ():
        listed = each.get("enum") if isinstance(each, dict) else None
        if isinstance(listed, list):
            said = [value for value in listed if isinstance(value, str) and _is_verb(value)]
            if len(said) > 1 and 2 * len(said) >= len(listed):
                yield name


def _is_verb(text: str) -> bool:
    said = names.words(text)
    return bool(said) and Mark.BASE in known(said[0]).marks


def rarities(tools: Iterable[Tool]) -> dict[str, float]:
    """How much a word tells among these tools."""
    known_tools = list(tools)
    counts = Counter([word for tool in known_tools for word in tool.weights])
    return {word: math.log(1 + len(known_tools) / count) for word, count in counts.items()}
