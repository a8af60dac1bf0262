"""Settings: how firmly texts that others wrote are held against a call, and the thresholds behind
that."""

from __future__ import annotations

from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta, Struct

Setting = Literal["lenient", "balanced", "firm", "strict"]


class Thresholds(Struct, frozen=True):
    """How well words have to explain a call, from 0 to 1; each with the values among which it is
    fitted."""

    floor: Annotated[float, Meta(extra={"grid": (0.26, 0.34, 0.42, 0.5)})] = 0.34
    """How well a text has to explain what a tool does, so that the call is the text's."""
    margin: Annotated[float, Meta(extra={"grid": (0.04, 0.12, 0.2, 0.3)})] = 0.12
    """How much better than the user."""
    hostile: Annotated[float, Meta(extra={"grid": (0.1, 0.15, 0.22, 0.3)})] = 0.15
    """How well a text that speaks to a machine, where the call has no value of its own."""
    phrase: Annotated[float, Meta(extra={"grid": (0.1, 0.2, 0.3)})] = 0.2
    """How well a text, so that a phrase which it shares with the call is from there."""
    commanded: Annotated[float, Meta(extra={"grid": (0.2, 0.3, 0.4)})] = 0.3
    """How well a sentence, so that what stands beside it belongs to what it commands."""
    aligned: Annotated[float, Meta(extra={"grid": (0.15, 0.25, 0.35)})] = 0.25
    """How well a text that uses the user's verb, so that the user asked for what it asks for."""
    topic: Annotated[float, Meta(extra={"grid": (1.0, 1.5, 2.0)})] = 1.5
    """How surely the user has to point at a text whose links are on the user's topic."""


STOPS: Final = ("values", "derived", "objects", "actions", "commanded", "unknown", "carried")
"""Rules by which a text explains a call."""
LICENCES: Final = ("handed", "asked", "follows", "statuses", "prepares")
"""Rules by which the user lets a text explain one."""
RULES: Final = STOPS + LICENCES

SETTINGS: Final[dict[Setting, frozenset[str]]] = {
    "lenient": frozenset(RULES) - {"actions", "commanded", "unknown"},
    "balanced": frozenset(RULES) - {"commanded", "unknown"},
    "firm": frozenset(RULES),
    "strict": frozenset(RULES) - {"handed", "follows"},
}
"""The rules of each setting."""


class How(NamedTuple):
    """What is in force."""

    rules: frozenset[str] = SETTINGS["firm"]
    thresholds: Thresholds = Thresholds()
