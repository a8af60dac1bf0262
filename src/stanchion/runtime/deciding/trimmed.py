"""Trimming: a conversation without its older messages that a model can still make sense of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

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
