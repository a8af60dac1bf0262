"""Streamed replies on their way through guards: in the order of their events, and whole again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Final


class InOrder:
    """Gives the pieces of a stream in the order in which their events came, by the numbers of those
    events from 0.

    Each event has at least one piece. A further one of an event whose turn has been goes on at
    once.
    """

    def __init__(self) -> None:
        self._next = 0
        self._early: dict[int, list[Any]] = {}

    def ready(self, number: int, piece: Any) -> list[Any]:
        """Take a piece of an event; gives the pieces whose turn it is now."""
        if number < self._next:
            return [piece]
        self._early.setdefault(number, []).append(piece)
        out: list[Any] = []
        while self._next in self._early:
            out += self._early.pop(self._next)
            self._next += 1
        return out


SPOKEN: Final = frozenset({"text", "arguments", "refusal"})
"""Where events that repeat a whole reply have its words."""

BESIDE: Final = frozenset({"tools", "instructions", "metadata", "usage"})
"""What of a response is no reply."""

PLACES: Final = ("output_index", "content_index", "summary_index")
"""What tells the parts of a response from each other."""

ALONE: Final = "response.output_text.alone"
APART: Final = 1_000_000
"""Where the words are that came as a whole alone: in no part that comes in pieces."""


class ResponseEvents:
    """A streamed reply: its events as guards read them, and as they go on with what was let
    through."""

    def __init__(self) -> None:
        self._events: list[Any] = []
        self._said: dict[str, str] = {}
        self._passed: dict[str, str] = {}

    async def pieces_of(self, events: AsyncIterator[Any]) -> AsyncIterator[dict[str, Any]]:
        """Each piece of text with its place, and every other event without words, after those it
        has for itself."""
        async for event in events:
            self._events.append(event)
            number = len(self._events) - 1
            if isinstance(getattr(event, "delta", None), str):
                yield self._piece(_place(event), number, event.delta)
                continue
            whole = event.model_dump()
            for text in dict.fromkeys(_texts(whole)):
                if text not in self._said.values():
                    yield self._piece(
                        {"type": ALONE, "summary_index": APART + len(self._said)}, -1, text
                    )
            yield {"event": number, **_called(whole), **_used(whole)}

    def _piece(self, place: dict[str, Any], number: int, text: str) -> dict[str, Any]:
        channel = ".".join([str(part) for part in place.values()])
        self._said[channel] = self._said.get(channel, "") + text
        return {**place, "event": number, "channel": channel, "delta": text}

    def passed_on(self, piece: dict[str, Any]) -> Iterator[Any]:
        """The event of a piece as it goes on."""
        event: Any = self._events[piece["event"]] if piece["event"] >= 0 else None
        if "channel" in piece:
            self._passed[piece["channel"]] = self._passed.get(piece["channel"], "") + piece["delta"]
            if event is not None and piece["delta"]:
                yield event.model_copy(update={"delta": piece["delta"]})
            return
        hidden = {
            said: self._passed.get(name, "")
            for name, said in self._said.items()
            if self._passed.get(name) != said
        }
        yield type(event).model_validate(_with(event.model_dump(), hidden)) if hidden else event


def _place(event: Any) -> dict[str, Any]:
    """What kind of words an event brings, and of which part of the response."""
    found = {name: getattr(event, name, None) for name in PLACES}
    return {
        "type": event.type,
        **{name: number for name, number in found.items() if isinstance(number, int)},
    }


def _texts(whole: Any) -> Iterator[str]:
    """The words in an event that repeats a reply, or a part of it."""
    for name, item in whole.items() if isinstance(whole, dict) else enumerate(whole):
        if isinstance(item, str) and name in SPOKEN and item:
            yield item
        elif isinstance(item, dict | list) and name not in BESIDE:
            yield from _texts(item)


def _with(whole: Any, hidden: dict[str, str]) -> Any:
    """An event with its words as they were let through."""
    if isinstance(whole, dict):
        return {
            name: hidden.get(item, item)
            if isinstance(item, str) and name in SPOKEN
            else _with(item, hidden)
            for name, item in whole.items()
        }
    return [_with(item, hidden) for item in whole] if isinstance(whole, list) else whole


def _called(whole: dict[str, Any]) -> dict[str, Any]:
    """That a tool is called, where it is."""
    item = whole.get("item")
    return (
        {"type": "function_call"}
        if isinstance(item, dict) and item.get("type") == "function_call"
        else {}
    )


def _used(whole: dict[str, Any]) -> dict[str, Any]:
    response = whole.get("response")
    usage = response.get("usage") if isinstance(response, dict) else None
    return {"usage": usage} if isinstance(usage, dict) else {}
