"""Rules: one kind of credential each."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Final

import msgspec

from stanchion.guards.secrets.entropy import entropy

KIND: Final = r"^[a-z0-9]+(-[a-z0-9]+)*$"
"""What a kind looks like: words in lower case, with hyphens between them."""
LONGEST_KIND: Final = 60
WEIGHED: Final = "weighed"
"""The second look that asks for what stands before a value, too."""

Kind = Annotated[str, msgspec.Meta(pattern=KIND, max_length=LONGEST_KIND)]


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How credentials of one kind are found: what they look like, words that have to be there, and
    what tells them from mere likeness. A `broad` one knows them by how they are introduced, and not
    whose they are. `unless` are words that say, shortly before, that it is something else. `hits`
    and `misses` are texts in which it finds something, and nothing."""

    kind: Kind
    pattern: str
    title: str = ""
    keywords: tuple[str, ...] = ()
    entropy: float = 0.0
    validator: str = ""
    stop: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    multiline: bool = False
    broad: bool = False
    also: tuple[str, ...] = ()
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()

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
