"""Degrading: the lesser request that takes an action's place, as the policy's ladder has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, ModelCall
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.patches import apply
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow, TimePause

if TYPE_CHECKING:
    from stanchion.policy.sections import Degrade

INSTRUCTIONS: Final = frozenset({"system", "developer"})
"""Whose messages are never left out."""

MODELS: Final = frozenset({"assistant", "model", "ai"})
"""How a model's own messages are marked: none of them begins a conversation."""

TOOLS: Final = frozenset({"tool", "function"})
RESULTS: Final = frozenset(
    {"tool_result", "function_call_output", "custom_tool_call_output", "computer_call_output"}
)
NESTED: Final = ("function_response", "functionResponse", "toolResult")
"""How a message, or a block of one, says that it is the result of a tool: its role, its type, or
what it holds."""

ANSWERED: Final = ("tool_call_id", "tool_use_id", "call_id")
"""Where a result names the call that asked for it."""

SPEECH: Final = frozenset({"", "message", "human", "user", "text"})
"""Types of items without a role that somebody said, as opposed to calls and thoughts of a model."""


def trimmed(messages: list[Any], keep: int) -> list[Any]:
    """The newest messages, at most `keep` of them, and all instructions.

    What is kept begins with what somebody asked: where that is further back it stays, and the
    newest messages with it. A result is never parted from the call that asked for it: with the
    result the call stays, too.
    """
    others = [
        at for at, message in enumerate(messages) if _word(message, "role") not in INSTRUCTIONS
    ]
    if len(others) <= keep:
        return messages
    origins = {at: _origin(messages, others, at) for at in others if _is_result(messages[at])}
    newest = others[-keep:]
    start = next((at for at in newest if _begins(messages[at]) and _reach(origins, at) == at), None)
    chosen: set[int] = set()
    if start is None:
        start = _reach(origins, newest[0])
        chosen.update([at for at in others if at <= start and _begins(messages[at])][-1:])
    chosen.update([at for at in others if at >= start])
    return [
        message
        for at, message in enumerate(messages)
        if at in chosen or _word(message, "role") in INSTRUCTIONS
    ]


def _reach(origins: dict[int, int], start: int) -> int:
    """How far back one has to go so that every result from there on has its call."""
    while True:
        further = min([origin for at, origin in origins.items() if at >= start], default=start)
        if further >= start:
            return start
        start = further


def _origin(messages: list[Any], others: list[int], at: int) -> int:
    """Where the call of a result stands: found by its name, otherwise right before the results."""
    wanted = {
        name for part in _parts(messages[at]) for key in ANSWERED if (name := _word(part, key))
    }
    earlier = [before for before in others if before < at and not _is_result(messages[before])]
    named = [
        before
        for before in earlier
        for part in _parts(messages[before])
        if not wanted.isdisjoint((_word(part, "id"), _word(part, "call_id")))
    ]
    return min(named, default=earlier[-1] if earlier else at)


def _begins(message: Any) -> bool:
    """Whether a conversation can begin with it: somebody other than the model said it, and it is no
    result."""
    role = _word(message, "role")
    speaks = role not in MODELS if role else _word(message, "type") in SPEECH
    return speaks and not _is_result(message)


def _is_result(message: Any) -> bool:
    return any(
        _word(part, "role") in TOOLS
        or _word(part, "type") in RESULTS
        or any(name in part for name in (*ANSWERED[:2], *NESTED))
        for part in _parts(message)
    )


def _parts(message: Any) -> Iterator[dict[str, Any]]:
    """The message and the blocks it is made of."""
    if isinstance(message, dict):
        yield message
        for name in ("content", "parts", "tool_calls"):
            blocks = message.get(name)
            yield from (
                [block for block in blocks if isinstance(block, dict)]
                if isinstance(blocks, list)
                else ()
            )


def _word(part: Any, name: str) -> str:
    word = part.get(name) if isinstance(part, dict) else None
    return word if isinstance(word, str) else ""


LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""How requests say how long a reply may get."""

NO_LESSER: Final = Finding(Action.BLOCK, "kernel.no_lesser", guard="kernel")
"""What stands against a request that is to be lesser where nothing makes it so."""


def lesser(desk: Desk, event: Event, decision: Decision, before: Any) -> Flow[Event | None]:
    """The same action as a lesser one, for a new judgement, after a pause where the policy slows
    down; `None` where nothing makes it lesser: neither the policy's ladder nor a patch of the guard
    that asked for it.

    `event` has what guards have patched already, `before` is its content as it was.
    """
    policy = desk.shield.policy
    ladder = policy.file.degrade
    less = event
    if isinstance(event, ModelCall):
        less = cheaper(event, ladder, policy.cheaper(asked_of(event)))
    if ladder.pause_s is not None:
        yield TimePause(ladder.pause_s)
    elif content_of(less) == content_of(event) and not _patched(decision, before):
        return None
    return desk.renewed(less)


def _patched(decision: Decision, before: Any) -> bool:
    """Whether a guard that asked for something lesser has made it so itself; what others hide makes
    nothing lesser, and neither does a patch that changes nothing or lets a reply get longer."""
    asking = [finding for finding in decision.findings if finding.action == Action.DEGRADE]
    after = apply(before, [patch for finding in asking for patch in finding.patches])
    return bool(after != before) and not _longer(before, after)


def _longer(before: Any, after: Any) -> bool:
    if not (isinstance(before, dict) and isinstance(after, dict) and "params" in before):
        return False
    was, now = before["params"], after.get("params", {})
    return any(
        type(now.get(name)) is int and now[name] > was.get(name, now[name])
        for name in LIMITS
        if name in now
    )


def cheaper(event: ModelCall, ladder: Degrade, model: str) -> ModelCall:
    """A model request that asks for less: of a cheaper model, with fewer messages, for a shorter
    reply."""
    params = event.params if ladder.max_tokens is None else shorter(event.params, ladder.max_tokens)
    messages = (
        event.messages
        if ladder.keep_messages is None
        else trimmed(event.messages, ladder.keep_messages)
    )
    if model != asked_of(event) and isinstance(params.get("model"), str):
        params = {**params, "model": model}
    named = model if event.model else ""
    return msgspec.structs.replace(event, model=named, messages=messages, params=params)


def asked_of(event: ModelCall) -> str:
    """The model that a request names, beside its parameters or among them."""
    named = event.model if event.model else event.params.get("model")
    return named if isinstance(named, str) else ""


def shorter(params: dict[str, Any], limit: int) -> dict[str, Any]:
    """Parameters that limit a reply to so many tokens; a limit that is lower already stays."""
    said = [name for name in LIMITS if name in params]
    return {
        **params,
        **{name: _lower(params.get(name), limit) for name in (said if said else LIMITS[:1])},
    }


def _lower(said: Any, limit: int) -> int:
    """The lower of two limits; what is no number of tokens (nothing, -1, a text) limits nothing."""
    return int(min(said, limit)) if type(said) in (int, float) and said >= 1 else limit


def joined(degraded: Decision, decision: Decision, event: Event) -> Decision:
    """The decision about a lesser request, as one that a host can carry out: degraded, with the
    whole new content."""
    if not decision.proceeds:
        return decision
    return msgspec.structs.replace(
        decision,
        action=Action.DEGRADE,
        findings=degraded.findings + decision.findings,
        patches=(Patch((), content_of(event)),),
        effects=tuple(dict.fromkeys(degraded.effects + decision.effects)),
    )
