"""Quoting: names and words that others chose stand in advice as data, never as a sentence of
ours."""

from __future__ import annotations

import builtins
from typing import Final

from stanchion.experience.advice_context import ToolText
from stanchion.experience.bounded import cut, one_line
from stanchion.kernel.faults import FAULTS
from stanchion.kernel.regex import regex

PLAIN: Final = regex(r"[A-Za-z_][A-Za-z0-9_.:/\[\]-]{0,63}")
"""A name as tools and arguments have it: one word, without anything that ends a quotation."""
MOST_NAME: Final = 64

KNOWN: Final = frozenset(
    {
        *FAULTS,
        "timeout",
        *[
            name
            for name, made in vars(builtins).items()
            if isinstance(made, type) and issubclass(made, BaseException)
        ],
    }
)
"""Errors whose words are Python's or ours: a tool says nothing of its own with them."""


def quoted(text: str) -> str:
    """A text as data: on one line, in quotation marks, cut where it is long."""
    return one_line(cut(text, MOST_NAME))


def name(text: str) -> str:
    """A name of a tool or an argument; quoted where it could be more than a name."""
    return text if PLAIN.fullmatch(text) else quoted(text)


def marked(text: str) -> str:
    """A name in single quotation marks; in double ones where it could be more than a name."""
    return f"'{text}'" if PLAIN.fullmatch(text) else quoted(text)


def error(text: ToolText) -> str:
    """What a tool said when it failed, quoted, unless it is a known word for an error."""
    return text.text if text.text in KNOWN else str(text)
