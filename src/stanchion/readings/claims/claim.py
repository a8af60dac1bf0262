"""Claims about work: predicates, their subjects, and the verdicts of a check."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

import msgspec

from stanchion.kernel.regex import regex


class CheckVerdict(Enum):
    """What is known of a claim."""

    PROVABLE = "provable"
    REFUTABLE = "refutable"
    UNDECIDABLE = "undecidable"
    ILL_TYPED = "ill-typed"


class Predicate(Enum):
    """What can be claimed. Each says what has to be true of the world, as whoever plays sees it."""

    EXISTS = "exists"
    """Something is at a path; links are followed."""
    FILE = "file"
    """A regular file is at a path."""
    DIRECTORY = "directory"
    """A directory is at a path."""
    NONEMPTY = "nonempty"
    """What is at a path has a size above 0."""
    READABLE = "readable"
    WRITABLE = "writable"
    EXECUTABLE = "executable"
    LINES = "lines"
    """A file has so many ends of lines, as `wc -l` counts them."""
    BYTES = "bytes"
    """So many bytes can be read from a file, as `wc -c` counts them."""
    CONTAINS = "contains"
    """A text stands in a file."""
    DIGEST = "digest"
    """The SHA-256 of a file, in hexadecimal digits."""
    SUCCEEDED = "succeeded"
    """A command ended with status 0 when it was last run."""
    VERSION = "version"
    """A program reports a version."""


COUNTS: Final = frozenset({Predicate.LINES, Predicate.BYTES})
TEXTS: Final = frozenset({Predicate.CONTAINS, Predicate.DIGEST, Predicate.VERSION})
PATHLESS: Final = frozenset({Predicate.SUCCEEDED, Predicate.VERSION})
"""Predicates that are said of no path."""
LONGEST: Final = 4_096
_DIGEST: Final = regex(r"[0-9a-f]{64}")
_SLASHES: Final = regex(r"/(?:\.?/)+")


class Claim(msgspec.Struct, frozen=True):
    """Something that is said of the world; `value` is what predicates that count or compare need,
    and `scope` names the world it is said of, where there are several."""

    predicate: Predicate
    subject: str
    value: int | str | None = None
    polarity: bool = True
    scope: str = ""

    @property
    def text(self) -> str:
        """The claim for people."""
        value = (
            ""
            if self.value is None
            else f", {self.value}"
            if isinstance(self.value, int)
            else f", `{self.value}`"
        )
        where = f" in {self.scope}" if self.scope else ""
        return (
            f"{'' if self.polarity else 'not '}{self.predicate.value}(`{self.subject}`{value})"
            f"{where}"
        )

    def denied(self) -> Claim:
        """The opposite claim."""
        return msgspec.structs.replace(self, polarity=not self.polarity)


def fault(claim: Claim) -> str:
    """Why a claim says nothing; empty where it says something."""
    kind, value = claim.predicate, claim.value
    if not claim.subject or len(claim.subject) > LONGEST or "\0" in claim.subject:
        return "it says of nothing what it says: name a path, a program or a command"
    if kind in COUNTS:
        return (
            ""
            if type(value) is int and value >= 0
            else f"`{kind.value}` needs a whole number as its value"
        )
    if kind in TEXTS:
        if not isinstance(value, str) or not value or len(value) > LONGEST:
            return f"`{kind.value}` needs a text as its value"
        if kind is Predicate.DIGEST and not _DIGEST.fullmatch(value):
            return "a digest is 64 hexadecimal digits in lower case"
        return ""
    return "" if value is None else f"`{kind.value}` has no value: leave it away"


def normal(claim: Claim) -> Claim:
    """The claim with its path as it is compared."""
    if claim.predicate in PATHLESS:
        return claim
    return msgspec.structs.replace(claim, subject=same_path(claim.subject))


def same_path(path: str) -> str:
    """A path in the one form that leads to the same place whatever links there are: steps to
    nowhere are left out, and steps back stay, for where they lead depends on links."""
    found = _SLASHES.sub("/", path)
    while found.startswith("./") and len(found) > 2:
        found = found[2:]
    return re.sub(r"/\.\Z", "/", found) if found != "/." else "/"
