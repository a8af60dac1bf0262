"""The user's own words: a password that a person gives for a login has to get there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from stanchion.kernel.events import Event, ModelCall, Prompt
from stanchion.readings.texts import Leaf, Span

Spans = list[list[Span]]


def parted(event: Event, leaves: Sequence[Leaf], spans: Spans, told: Collection[str]) -> tuple[Spans, Spans]:
    """What was found, without what the user says for a login, and that. Only kinds count that are `told`, known by how
    they are introduced alone: a token of a known maker is one, whoever says it."""
    rest: Spans = []
    own: Spans = []
    for leaf, here in zip(leaves, spans, strict=True):
        theirs = [span for span in here if span.kind in told] if here and _theirs(event, leaf) else []
        rest.append([span for span in here if span not in theirs] if theirs else here)
        own.append(theirs)
    return rest, own


def _theirs(event: Event, leaf: Leaf) -> bool:
    """Whether a text is the user's own words: those of a prompt, or in a request to a model."""
    match event:
        case Prompt(trusted=trusted):
            return trusted
        case ModelCall(messages=messages):
            return _role(messages, leaf) == "user"
        case _:
            return False


def _role(messages: Sequence[Any], leaf: Leaf) -> str:
    """Whose message a text of a request is in."""
    place = next((step for step in leaf.path if isinstance(step, int)), None)
    message = messages[place] if place is not None and place < len(messages) else None
    return str(message.get("role", "")) if isinstance(message, dict) else ""
