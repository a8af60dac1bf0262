"""Rules for secrets as they ship: what each seeks, and the index of all."""

from __future__ import annotations

from functools import cache
from pkgutil import get_data
from typing import Annotated, Any, Final

import msgspec

from stanchion import typed
from stanchion.guards.secrets.likeness import entropy
from stanchion.readings.scan import Facts, Head, Pattern, Window
from stanchion.readings.word_lists import Pairs, Strings

KIND: Final = r"^[a-z0-9]+(-[a-z0-9]+)*$"
"""What a kind looks like: words in lower case, with hyphens between them."""
LONGEST_KIND: Final = 60
WEIGHED: Final = "weighed"
"""The second look that asks for what stands before a value, too."""

Kind = Annotated[str, msgspec.Meta(pattern=KIND, max_length=LONGEST_KIND)]


class SecretRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How credentials of one kind are found: what they look like, words that have to be there, and
    what tells them from mere likeness. A `broad` one knows them by how they are introduced, and not
    whose they are. `unless` are words that say, shortly before, that it is something else. `hits`
    and `misses` are texts in which it finds something, and nothing."""

    kind: Kind
    pattern: str
    title: str = ""
    keywords: Strings = ()
    entropy: float = 0.0
    validator: str = ""
    stop: Strings = ()
    unless: Strings = ()
    multiline: bool = False
    broad: bool = False
    also: Strings = ()
    hits: Strings = ()
    misses: Strings = ()

    def accepts(self, secret: str, before: str = "") -> bool:
        """Whether what was found is one of these credentials, given what introduces it."""
        if self.entropy and entropy(secret) < self.entropy:
            return False
        if self.stop:
            lowered = secret.lower()
            if any(word in lowered for word in self.stop):
                return False
        if self.unless:
            lowered = before.lower()
            if any(word in lowered for word in self.unless):
                return False
        return self._convinces(secret, before) and not self._public(secret, before)

    def _public(self, secret: str, before: str) -> bool:
        """Whether everybody may know it. A maker's format says more than how a value goes on."""
        told = _published()
        if told.repeated(before, secret):
            return True
        weighed = self.broad and (self.entropy > 0 or self.validator == WEIGHED)
        return bool(told.everybodys(secret) if weighed else told.sampled(secret))

    def _convinces(self, secret: str, before: str) -> bool:
        """Whether a second look takes it for one."""
        if self.validator == WEIGHED:
            return bool(_weighing().weighed(before, secret))
        if self.entropy and (
            (self.broad and _weighing().denied(before)) or _weighing().phrase(secret)
        ):
            return False
        return not self.validator or _validators()[self.validator](secret)


@cache
def _validators() -> Any:
    from stanchion.guards.secrets.validators import VALIDATORS

    return VALIDATORS


@cache
def _published() -> Any:
    from stanchion.guards.secrets import published

    return published


@cache
def _weighing() -> Any:
    from stanchion.guards.secrets import weighing

    return weighing


FILE: Final = "index.jsonl"
"""The file of the index, one line a rule."""


class RuleLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule without its examples, and what is known of its pattern."""

    rule: SecretRule
    shortest: int
    reach: int
    literals: Strings = ()
    width: int = 0
    letters: str = ""
    narrow: bool = False
    windows: Pairs = ()

    @property
    def facts(self) -> Facts:
        """What is known of the pattern."""
        windows = tuple(
            [Window(literal.encode("latin-1"), follow) for literal, follow in self.windows]
        )
        if not self.literals:
            return Facts(self.shortest, self.reach, None, windows)
        literals = frozenset([literal.encode("latin-1") for literal in self.literals])
        return Facts(
            self.shortest,
            self.reach,
            Head(literals, self.width, int(self.letters, 16), self.narrow),
            windows,
        )


READER: Final = typed.reader(RuleLine)
"""Reads a line."""


@cache
def indexed() -> tuple[tuple[SecretRule, Pattern], ...]:
    """Every shipped rule and what it looks for."""
    body = get_data(__package__, FILE)
    assert body is not None
    lines = [READER.decode(line) for line in body.splitlines()]
    return tuple([(line.rule, _pattern(line)) for line in lines])


def _pattern(line: RuleLine) -> Pattern:
    rule = line.rule
    return Pattern(rule.pattern, rule.keywords, rule.multiline, line.facts)
