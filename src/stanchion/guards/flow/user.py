"""The user: everything they have said in a run, what they ask for, and what they have approved."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from stanchion.guards.flow.english import OPEN, POINTER
from stanchion.guards.flow.nouns import OF_VERB, groups, stem
from stanchion.guards.flow.requests import Request, requests
from stanchion.guards.flow.values import SHAPED, URL, ZEROS, Value, within, words
from stanchion.kernel.regex import regex
from stanchion.readings.hostile import normal
from stanchion.readings.hostile.lexicon import STOPWORDS, VERBS, Verbs

QUOTED: Final = regex(r"['\"“‘`]([^'\"”’`\n]{2,80})['\"”’`]")
NAMES: Final = regex(r"\b([^\W\d_][^\W\d_]{2,})\b")
NUMBERS: Final = regex(r"\d[\d,]*(?:\.\d+)?")
PARTS: Final = regex(r"[\W_\d]+")
JOINTS: Final = regex(r"[\W_]+")
TOKENS: Final = regex(r"[\w@][\w@.+\-/:%&=?#~$']*")
SCHEME: Final = regex(r"^(?:https?://)?(?:www\.)?")
HANDED_ON: Final = regex(OPEN, re.IGNORECASE)
POINTS: Final = regex(POINTER, re.IGNORECASE)
LONGEST: Final = 65_536
"""How much of what a user says is remembered as it was said; of more, the end."""
FEW: Final = 6
"""From how many words on a text shows which language it is in."""


class User:
    """What is known of the user's words. It never changes: more words make another one."""

    def __init__(self, text: str = "", verbs: Verbs = VERBS) -> None:
        self.text = text[-LONGEST:]
        self.verbs = verbs
        self.spoke = bool(text.strip())

    def saying(self, text: str, verbs: Verbs) -> User:
        """The user who says this as well."""
        return User(f"{self.text}\n\n{text}" if self.spoke else text, verbs)

    @cached_property
    def normal(self) -> str:
        """All of it in its normal form."""
        return normal(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word, in the singular as well, and the parts of those that are joined."""
        whole = {token.strip(".,:;!?'\"()[]") for token in TOKENS.findall(self.normal)}
        found = whole | {stem(word) for word in whole} | set(words(self.normal))
        return frozenset(found | {stem(part) for word in whole for part in re.split(r"[\-/'.]", word) if len(part) > 2})

    @cached_property
    def quoted(self) -> frozenset[str]:
        """What stands in quotation marks."""
        return frozenset([normal(each) for each in QUOTED.findall(self.text)])

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that begin with a capital letter."""
        return frozenset([word.casefold() for word in NAMES.findall(self.text) if word[0].isupper()])

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers, as they compare."""
        return frozenset([ZEROS.sub("", each.replace(",", "")) for each in NUMBERS.findall(self.text)])

    @cached_property
    def requests(self) -> list[Request]:
        """What is asked for."""
        lines = re.sub(r"\n(?=\s*(?:[-*•]|\d+[.)])\s)", "\n\n", self.text)
        joined = "\n\n".join([normal(each) for each in re.split(r"\n\s*\n", lines)])
        return requests(joined, self.verbs)

    @cached_property
    def groups(self) -> int:
        """The things that are spoken of."""
        found = groups(self.words)
        for request in self.requests:
            found |= OF_VERB.get(request.verb, 0)
        return found

    @cached_property
    def hands_on(self) -> bool:
        """Whether a text is to say what is done."""
        return HANDED_ON.search(self.normal) is not None

    @cached_property
    def points(self) -> bool:
        """Whether the details of a request stand in a text."""
        return POINTS.search(self.normal) is not None

    @cached_property
    def understood(self) -> bool:
        """Whether the words are in a language whose verbs are known; a few words are given the benefit of the doubt."""
        found = words(self.normal)
        return len(found) < FEW or sum([word in STOPWORDS for word in found]) * 6 >= len(found)

    def says(self, value: Value) -> bool:
        """Whether the user said just this."""
        return within(self.normal, value.normal)

    def has(self, value: Value) -> bool:
        """Whether a value is the user's: it stands there, is equal as a number, or is made of their words."""
        said = value.normal
        if not said or within(self.normal, said):
            return True
        if "@" in said:
            return False
        if said[0].isdigit() and ZEROS.sub("", said.replace(",", "")) in self.numbers:
            return True
        if "/" in said or URL.match(said):
            place = SCHEME.sub("", said).rstrip("/")
            if place and place in self.normal:
                return True
        parts = JOINTS.split(said) if "_" in said else value.words
        if len(parts) < 2:
            return False
        known = self.words
        return all(not part or part in known or stem(part) in known for part in parts)

    def half(self, value: Value) -> bool:
        """Whether half of a value's words are the user's."""
        words = [word for word in value.words if len(word) > 2]
        return bool(words) and sum([word in self.words or stem(word) in self.words for word in words]) * 2 >= len(words)

    def named(self, value: Value) -> bool:
        """Whether the name in an address is one that the user wrote."""
        parts = [part for part in PARTS.split(value.normal.partition("@")[0]) if len(part) > 2]
        return not self.names.isdisjoint(parts)

    def quotes(self, value: Value) -> bool:
        """Whether a value was quoted, or has the form of a file, an address or a URL."""
        return value.normal in self.quoted or SHAPED.search(value.normal) is not None
