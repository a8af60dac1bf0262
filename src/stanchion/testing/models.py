"""Scripted models: they give listed replies in order and remember what they were asked."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from typing import Any


class ScriptEnded(AssertionError):
    """A scripted model was asked more often than its script has replies."""


class ScriptedModel:
    """A model that gives its replies in order, for `run.model(fn, messages)`.

    A reply is a text, a mapping such as `{"text": ..., "usage": {...}}`, an exception to raise, or
    a list of texts, which is one reply in chunks. `asked` has the messages of every call and
    `params` its parameters, both as they were at that time. Asking once more than there are replies
    raises `ScriptEnded`, so that a loop ends.
    """

    def __init__(self, *replies: Any, name: str = "model") -> None:
        self.__name__ = name
        self._replies = list(replies)
        self.asked: list[list[Any]] = []
        self.params: list[dict[str, Any]] = []

    @property
    def count(self) -> int:
        """How often it was asked."""
        return len(self.asked)

    def __call__(self, messages: Iterable[Any], **params: Any) -> Any:
        reply = self._next(messages, params)
        return "".join(reply) if isinstance(reply, list) else reply

    def as_async(self) -> Callable[..., Coroutine[Any, Any, Any]]:
        """The model as a coroutine function, for `run.amodel`."""

        async def asked(messages: Iterable[Any], **params: Any) -> Any:
            return self(messages, **params)

        asked.__name__ = asked.__qualname__ = self.__name__
        return asked

    def stream(self, messages: Iterable[Any], **params: Any) -> Iterator[str]:
        """The next reply chunk by chunk, for `run.stream`; an exception among the chunks is raised
        at its place."""
        yield from _chunks(self._next(messages, params))

    async def astream(self, messages: Iterable[Any], **params: Any) -> AsyncIterator[str]:
        """The same for `run.astream`."""
        for chunk in _chunks(self._next(messages, params)):
            yield chunk

    def _next(self, messages: Iterable[Any], params: dict[str, Any]) -> Any:
        self.asked.append(copy.deepcopy(list(messages)))
        self.params.append(copy.deepcopy(params))
        if self.count > len(self._replies):
            raise ScriptEnded(
                f"`{self.__name__}` was asked {self.count} times and has {len(self._replies)} "
                f"replies"
            )
        reply = self._replies[self.count - 1]
        if isinstance(reply, BaseException):
            raise reply
        return reply


def _chunks(reply: Any) -> Iterator[str]:
    for chunk in reply if isinstance(reply, list) else [reply]:
        if isinstance(chunk, BaseException):
            raise chunk
        yield chunk
