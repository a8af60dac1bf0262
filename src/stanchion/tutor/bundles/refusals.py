"""Why a bundle is not used."""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec


class Reason(Enum):
    """What is wrong with a bundle, or with using it here."""

    UNREADABLE = "unreadable"
    """There is no such file, or it is neither JSON nor YAML: one that was cut off is neither."""
    TOO_LARGE = "too-large"
    ALIASES = "aliases"
    """It has anchors or aliases, by which few bytes become many."""
    DUPLICATE_KEY = "duplicate-key"
    UNKNOWN_KEY = "unknown-key"
    BAD_VALUE = "bad-value"
    """A key is missing, or its value is not of its type."""
    NEWER = "newer"
    NO_HASH = "no-hash"
    WRONG_HASH = "wrong-hash"
    NO_SCOPE = "no-scope"
    OUT_OF_SCOPE = "out-of-scope"
    NOT_DETERMINISTIC = "not-deterministic"


class Refusal(msgspec.Struct, frozen=True):
    """That a bundle is not used, and why; the reason is for programs, the words are for people."""

    reason: Reason
    why: str


UNSCOPED: Final = Refusal(
    Reason.NO_SCOPE, "it does not say what it is for: give it a `scope` and freeze it again"
)


class BundleRefused(ValueError):
    """Raised where a bundle that is refused stops the run."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.why)
        self.refusal = refusal
