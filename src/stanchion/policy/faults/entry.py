"""What a policy or the shipped table says about failures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from stanchion.kernel.faults import FaultName
from stanchion.kernel.regex import regex

STATUS: Final = regex("[1-5]([0-9][0-9]|[0-9]x|xx)")


class TextEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose fault it is where the text of an error has that pattern somewhere, in small or capital
    letters."""

    pattern: str
    """A regular expression (RE2) to find anywhere in the text, ignoring case."""
    fault: FaultName
    """The kind of fault if the pattern matches."""


class FaultEntries(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose a failure is: by the name of its type or of a base class, by its status code, by
    patterns in its text."""

    types: dict[str, FaultName] = {}
    """The kind of fault by the name of the error's type, or of one of its base classes."""
    status: dict[str, FaultName] = {}
    """The kind of fault by status code (`404`, `50x`, `5xx`); used if the type is not known."""
    text: tuple[TextEntry, ...] = ()
    """The kind of fault by the error's text; used last, and the first match counts."""


def wrong_in(entries: FaultEntries) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What is wrong with a table that its schema cannot see: the path to it, and what to do."""
    for code in entries.status:
        if not STATUS.fullmatch(code):
            said = (
                f"`{code}` is not a status: write a code such as `404`, or `40x`, `4xx` for all of "
                f"them"
            )
            yield ("status", code), said
    for at, entry in enumerate(entries.text):
        from stanchion.policy.conditions.patterns import pattern_fault

        wrong = (
            pattern_fault(entry.pattern)
            if entry.pattern
            else "it matches every text: write what to find"
        )
        if wrong is not None:
            yield ("text", at, "pattern"), f"`{entry.pattern}`: {wrong}"
