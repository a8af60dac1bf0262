"""Where an event is caught."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Final


class Stage(StrEnum):
    """One point of an agent's work at which Stanchion judges."""

    PROMPT = "prompt"
    MODEL_CALL = "model_call"
    MODEL_CHUNK = "model_chunk"
    MODEL_REPLY = "model_reply"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    EGRESS = "egress"
    ERROR = "error"
    CHARGE = "charge"
    HANDOFF = "handoff"
    HANDOFF_DONE = "handoff_done"


CAUGHT: Final[dict[Stage, str]] = {
    Stage.PROMPT: "words of the user or of another agent enter the run",
    Stage.MODEL_CALL: "before a request goes to a model",
    Stage.MODEL_CHUNK: "each streamed piece of a reply",
    Stage.MODEL_REPLY: "a whole reply, the final answer included",
    Stage.TOOL_CALL: "before a tool runs",
    Stage.TOOL_RESULT: "after it ran, before the agent sees the result",
    Stage.EGRESS: "before an outbound HTTP request",
    Stage.ERROR: "a call raised or reported failure",
    Stage.CHARGE: "before a cost is booked, and when it is settled",
    Stage.HANDOFF: "before control passes to another agent",
    Stage.HANDOFF_DONE: "after the other agent accepted",
}

UNTALLIED: Final = frozenset({Stage.MODEL_CHUNK, Stage.HANDOFF_DONE})
"""Stages whose warnings are not counted: a chunk carries no state, a finished handoff cannot
wait."""


def check_stages(at: Iterable[str] | None, stages: Collection[Stage]) -> None:
    """Raise where the option `at` names something else than a stage of its guard."""
    for stage in () if at is None else at:
        if stage not in stages:
            known = ", ".join(sorted(stages))
            raise ValueError(
                f"`at` has `{stage}`, where nothing is looked for: choose among {known}"
            )
