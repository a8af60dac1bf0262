"""Degrading: the lesser request that takes an action's place, as the policy's ladder has it."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from holdfast.kernel.events import Event, ModelCall
from holdfast.policy.schema import Degrade
from holdfast.runtime.desk import Desk
from holdfast.runtime.drivers import Flow
from holdfast.runtime.effects import Pause

LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""How requests say how long a reply may get."""

INSTRUCTIONS: Final = frozenset({"system", "developer"})
"""Whose messages are never left out."""


def lesser(desk: Desk, event: Event) -> Flow[Event]:
    """The same action as a lesser one, for a new judgement, after a pause where the policy slows down.

    `event` has what guards have patched already. Where the policy names nothing lesser the request stays as it is.
    """
    ladder = desk.shield.policy.file.degrade
    if ladder.pause_s is not None:
        yield Pause(ladder.pause_s)
    return desk.renewed(
        cheaper(event, ladder, desk.shield.policy.cheaper(event.model)) if isinstance(event, ModelCall) else event
    )


def cheaper(event: ModelCall, ladder: Degrade, model: str) -> ModelCall:
    """A model request that asks for less: of a cheaper model, with fewer messages, for a shorter reply."""
    params = event.params
    if ladder.max_tokens is not None:
        params = shorter(params, ladder.max_tokens)
    if model != event.model and isinstance(params.get("model"), str):
        params = {**params, "model": model}
    messages = event.messages if ladder.keep_messages is None else trimmed(event.messages, ladder.keep_messages)
    return msgspec.structs.replace(event, model=model, messages=messages, params=params)


def shorter(params: dict[str, Any], limit: int) -> dict[str, Any]:
    """Parameters that limit a reply to so many tokens; a limit that is lower already stays."""
    said = [name for name in LIMITS if type(params.get(name)) is int]
    if not said:
        return {**params, LIMITS[0]: limit}
    return {**params, **{name: min(params[name], limit) for name in said}}


def trimmed(messages: list[Any], keep: int) -> list[Any]:
    """The newest messages and all instructions. A result is never parted from the call that asked for it: what stands
    before the first message of somebody else is left out with it."""
    others = [at for at, message in enumerate(messages) if _role(message) not in INSTRUCTIONS]
    kept = others[-keep:]
    while kept and _role(messages[kept[0]]) == "tool":
        kept = kept[1:]
    if len(others) > keep and not kept:
        return messages
    chosen = set(kept)
    return [message for at, message in enumerate(messages) if at in chosen or _role(message) in INSTRUCTIONS]


def _role(message: Any) -> str:
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else ""
