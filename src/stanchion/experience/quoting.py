"""Quoting: names and words that others chose stand in advice as data, never as a sentence of
ours."""

from __future__ import annotations

import builtins
from typing import Final

from stanchion.experience.advice_context import ToolText
from stanchion.experience.bounded import cut, one_line
from stanchion.experience.similarity import Difference, Similar
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


# What helps: how a call that failed differs from the nearest one that worked, in words for an
# agent.

MOST: Final = 5
"""How many differences an agent is told."""
LONGEST: Final = 80
"""A value that is longer is not repeated."""


def what_differs(similar: Similar | None) -> str:
    """What differs from a call that worked, in one line; empty where nothing is known or nothing
    differs."""
    if similar is None or not similar.differences:
        return ""
    own = similar.args is not None
    said = [_said(one, own) for one in similar.differences[:MOST]]
    return ", ".join(said) + (" and more" if len(similar.differences) > MOST else "")


def _said(one: Difference, own: bool) -> str:
    """One difference. Values are told where the run itself gave them, else the kinds alone."""
    argument = marked(one.name)
    told = one.worked if own and len(one.worked) <= LONGEST else ""
    match one.how:
        case "missing":
            return f"{argument} is missing" + (
                f" ({told if own else one.worked})" if told or not own else ""
            )
        case "type" if own:
            return f"{argument} is of another kind" + (f" than {told}" if told else "")
        case "type":
            return f"{argument} is {one.given}, and {one.worked} worked"
        case "value":
            return f"{argument} has another value" + (f" than {told}" if told else "")
        case "extra":
            return f"{argument} was not there"
