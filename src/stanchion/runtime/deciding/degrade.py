"""Degrading: the lesser request that takes an action's place, as the policy's ladder has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, ModelCall
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.patches import apply
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.trimmed import trimmed
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.needs import Pause

if TYPE_CHECKING:
    from stanchion.policy.sections import Degrade

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
        yield Pause(ladder.pause_s)
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
