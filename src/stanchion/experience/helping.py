"""What helps: how a call that failed differs from the nearest one that worked, in words for an
agent."""

from __future__ import annotations

from typing import Final

from stanchion.experience.quoting import marked
from stanchion.experience.similarity import Difference, Similar

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
