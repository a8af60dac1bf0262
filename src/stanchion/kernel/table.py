"""The action × stage table: what each action does at each stage, or that it makes no sense
there."""

from __future__ import annotations

from functools import cache
from typing import Final

from stanchion.kernel.actions import Action
from stanchion.kernel.stages import Stage

A = Action
S = Stage

TABLE: Final[dict[Stage, dict[Action, str]]] = {
    S.PROMPT: {
        A.ALLOW: "the words enter the run",
        A.WARN: "the words enter the run; the agent is told",
        A.REDACT: "the patched words enter the run",
        A.ESCALATE: "the words wait for a person",
        A.BLOCK: "the words do not enter the run",
        A.QUARANTINE: "the words do not enter the run; the agent is isolated",
        A.HALT: "the run ends",
    },
    S.MODEL_CALL: {
        A.ALLOW: "the request is sent",
        A.WARN: "the request is sent; the agent is told",
        A.REDACT: "the patched request is sent",
        A.DEGRADE: "a lesser request is judged once more and sent",
        A.RETRY: "guidance is added to the messages and the request is judged again",
        A.QUEUE: "the request waits and is judged again",
        A.ESCALATE: "the request waits for a person",
        A.BLOCK: "the request is not sent",
        A.QUARANTINE: "the request is not sent; the agent is isolated",
        A.HALT: "the run ends; its safe message is the answer",
    },
    S.MODEL_CHUNK: {
        A.ALLOW: "the chunk is delivered",
        A.WARN: "the chunk is delivered; the agent is told",
        A.REDACT: "the patched chunk is delivered",
        A.BLOCK: "the chunk is not delivered and the stream ends",
        A.QUARANTINE: "the stream ends; the agent is isolated",
        A.HALT: "the stream and the run end",
    },
    S.MODEL_REPLY: {
        A.ALLOW: "the reply is handed on",
        A.WARN: "the reply is handed on; the agent is told",
        A.REDACT: "the patched reply is handed on",
        A.RETRY: "the reply is thrown away and asked for again with guidance",
        A.ESCALATE: "the reply waits for a person",
        A.BLOCK: "the reply is withheld",
        A.QUARANTINE: "the reply is withheld; the agent is isolated",
        A.HALT: "the run ends; its safe message is the answer",
    },
    S.TOOL_CALL: {
        A.ALLOW: "the tool runs",
        A.WARN: "the tool runs; the agent is told",
        A.REDACT: "the tool runs with patched arguments",
        A.DEGRADE: "a lesser call is judged once more and runs",
        A.RETRY: "the tool does not run; the agent is asked to call again, with guidance",
        A.QUEUE: "the call waits and is judged again",
        A.ESCALATE: "the call waits for a person",
        A.BLOCK: "the tool does not run",
        A.QUARANTINE: "the tool does not run and is isolated",
        A.HALT: "the tool does not run; the run ends",
    },
    S.TOOL_RESULT: {
        A.ALLOW: "the agent gets the result",
        A.WARN: "the agent gets the result, annotated",
        A.REDACT: "the agent gets the patched result",
        A.RETRY: "the result is withheld; the agent is asked to do the step again, with guidance",
        A.ESCALATE: "the result waits for a person",
        A.BLOCK: "the result is thrown away and the action undone where an undo is known",
        A.QUARANTINE: "the result is thrown away and undone; the tool is isolated",
        A.HALT: "the result is thrown away and undone; the run ends",
    },
    S.EGRESS: {
        A.ALLOW: "the request leaves",
        A.WARN: "the request leaves; the agent is told",
        A.REDACT: "the patched request leaves",
        A.RETRY: "the request does not leave; the agent is asked to send another, with guidance",
        A.QUEUE: "the request waits and is judged again",
        A.ESCALATE: "the request waits for a person",
        A.BLOCK: "the request does not leave",
        A.QUARANTINE: "the request does not leave; the tool that sent it is isolated",
        A.HALT: "the request does not leave; the run ends",
    },
    S.ERROR: {
        A.ALLOW: "the error is handed on as it is",
        A.WARN: "the error is handed on; the agent is told",
        A.REDACT: "the error is handed on with its text patched",
        A.RETRY: "the failed action is tried again",
        A.ESCALATE: "the error goes to a supervisor; nothing is retried",
        A.BLOCK: "nothing is retried; the error is handed on",
        A.QUARANTINE: "nothing is retried; the failing tool is isolated",
        A.HALT: "nothing is retried; the run ends",
    },
    S.CHARGE: {
        A.ALLOW: "the cost is booked",
        A.WARN: "the cost is booked; the agent is told",
        A.DEGRADE: "a lesser request is judged once more and booked",
        A.QUEUE: "the action waits and is judged again",
        A.ESCALATE: "the action waits for a person",
        A.BLOCK: "nothing is booked; the action does not start",
        A.QUARANTINE: "nothing is booked; the tool or agent is isolated",
        A.HALT: "nothing is booked; the run ends",
    },
    S.HANDOFF: {
        A.ALLOW: "control passes",
        A.WARN: "control passes; the warning is in the trail",
        A.REDACT: "control passes with a patched payload",
        A.RETRY: "control stays; the agent is asked to complete the handoff, with guidance",
        A.QUEUE: "the handoff waits and is judged again",
        A.ESCALATE: "the handoff waits for a person",
        A.BLOCK: "control stays with the agent",
        A.QUARANTINE: "control stays; the agent is isolated",
        A.HALT: "control stays; the run ends",
    },
    S.HANDOFF_DONE: {
        A.ALLOW: "nothing more is done",
        A.WARN: "a notice for the orchestrator is in the trail",
        A.ESCALATE: "the same as a warning: the handoff was made, and nobody waits",
        A.BLOCK: "the same as a warning: the handoff was made, and nobody waits",
        A.QUARANTINE: "the agent that handed over is isolated",
        A.HALT: "the run ends",
    },
}
"""A cell that is missing makes no sense at its stage: a policy that asks for it is refused at
load."""


ONLY_WARNS: Final = frozenset({S.HANDOFF_DONE})
"""Stages at which what would stop something, short of an agent or a run, is only a warning."""


def sensible(stage: Stage, action: Action) -> bool:
    """Whether a policy may ask for that action at that stage."""
    return action in TABLE[stage]


@cache
def carried(stage: Stage, can: tuple[Action, ...] = tuple(Action)) -> tuple[Action, ...]:
    """For each action what really happens at a stage: itself, or the next stricter that makes sense
    there and that the host can carry out; where a stage only warns, a warning. HALT always can be,
    so that unhandled never means allow."""
    able = {int(action) for action in can} | {int(A.HALT)}
    row = {int(action) for action in TABLE[stage]}
    if stage in ONLY_WARNS and int(A.WARN) in able:
        row -= {int(A.ESCALATE), int(A.BLOCK)}
        return tuple(
            A.WARN
            if A.WARN < action <= A.BLOCK
            else next(x for x in Action if x >= action and int(x) in able & row)
            for action in Action
        )
    return tuple(
        next(x for x in Action if x >= action and int(x) in able & row) for action in Action
    )
