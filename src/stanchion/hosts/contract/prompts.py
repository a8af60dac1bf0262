"""Prompts in the messages of a request, for hosts that show nothing but requests: those that are
new are judged once.

Messages are mappings with a `role` and a `content`, which is a text or a list of parts, some with a
`text`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stanchion.hosts.contract.host import Hosted


class Prompts:
    """What users have said in a conversation, and what the model reads in its place."""

    def __init__(self) -> None:
        self._decided: dict[str, str] = {}

    async def judged(self, hosted: Hosted, messages: Sequence[Any]) -> list[Any]:
        """The messages with prompts as they were decided; one that is refused is said in the host's
        words."""
        for text in _new(messages):
            if text not in self._decided:
                self._decided[text] = (await hosted.areport("prompt", text=text)).content
        return [_with(message, self._decided) for message in messages]


def _new(messages: Sequence[Any]) -> list[str]:
    """What a user has said since anybody else did."""
    new: list[str] = []
    for message in reversed(messages):
        if not isinstance(message, dict) or message.get("role") != "user":
            break
        new += reversed([text for text in _texts(message.get("content")) if text])
    return new[::-1]


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [
        part["text"]
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]


def _with(message: Any, decided: dict[str, str]) -> Any:
    """A message with prompts as they were decided; the same one where nothing was changed."""
    if not isinstance(message, dict) or message.get("role") != "user":
        return message
    content = message.get("content")
    if all(decided.get(text, text) == text for text in _texts(content)):
        return message
    if isinstance(content, str):
        return {**message, "content": decided[content]}
    parts = content if isinstance(content, list) else []
    return {**message, "content": [_part(part, decided) for part in parts]}


def _part(part: Any, decided: dict[str, str]) -> Any:
    text = part.get("text") if isinstance(part, dict) else None
    return {**part, "text": decided.get(text, text)} if isinstance(text, str) else part
