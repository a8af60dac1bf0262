"""Rules: one kind of credential each, read from the files beside the guard."""

from __future__ import annotations

import tomllib
from functools import cache
from math import log2
from typing import Annotated, Any, Final

import msgspec

KIND: Final = r"^[a-z0-9]+(-[a-z0-9]+)*$"
"""What a kind looks like: words in lower case, with hyphens between them."""
LONGEST_KIND: Final = 60

Kind = Annotated[str, msgspec.Meta(pattern=KIND, max_length=LONGEST_KIND)]


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How credentials of one kind are found: what they look like, words that have to be there, and what tells them
    from mere likeness. A `broad` one knows them by how they are introduced, and not whose they are. `hits` and `misses`
    are texts in which it finds something, and nothing."""

    kind: Kind
    pattern: str
    title: str = ""
    keywords: tuple[str, ...] = ()
    entropy: float = 0.0
    validator: str = ""
    stop: tuple[str, ...] = ()
    multiline: bool = False
    broad: bool = False
    also: tuple[str, ...] = ()
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()

    def accepts(self, secret: str) -> bool:
        """Whether what was found is one of these credentials."""
        if self.entropy and entropy(secret) < self.entropy:
            return False
        if self.stop:
            lowered = secret.lower()
            if any(word in lowered for word in self.stop):
                return False
        return not self.validator or _validators()[self.validator](secret)


def entropy(text: str) -> float:
    """How many bits each character of a text tells, by how often its characters come."""
    size = len(text)
    return -sum([n / size * log2(n / size) for n in [text.count(char) for char in set(text)]]) if size else 0.0


def read_rule(text: str) -> Rule:
    """The rule of a file; `ValueError` says what is wrong with it."""
    try:
        rule = msgspec.convert(tomllib.loads(text), Rule)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"the rule cannot be read: {error}") from None
    if rule.validator and rule.validator not in _validators():
        raise ValueError(f"there is no validator `{rule.validator}`: take one of {', '.join(sorted(_validators()))}")
    if any(word != word.lower() for word in (*rule.keywords, *rule.stop)):
        raise ValueError(f"the words of `{rule.kind}` are not all in lower case: write them so")
    return rule


@cache
def _validators() -> Any:
    from stanchion.guards.secrets.validators import VALIDATORS

    return VALIDATORS
