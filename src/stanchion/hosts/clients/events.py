"""Events of a streamed reply: read from bytes by the client's own decoder, and written as bytes for
it again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

NAME: Final = "$event"
"""Where an event's name is kept that its data does not have, while it is judged."""
DONE: Final = "[DONE]"
"""What some providers send last, and which says nothing."""
LAST: Final = frozenset(
    {"message_stop", "response.completed", "response.incomplete", "response.failed"}
)
"""Events after which nothing more is read: they go on when the whole reply is judged."""


class Unread(TypeError):
    """A stream has a form that cannot be judged."""


class Events:
    """The events of one response, and how they are written."""

    def __init__(self, client: Any, response: Any) -> None:
        self._decoder = (
            client._make_sse_decoder()
        )  # so that the SDK reads what was judged, and in no other way
        self._response = response
        self._done = False
        if type(self._decoder).__name__ != "SSEDecoder":
            raise Unread(
                f"streams of `{type(client).__name__}` cannot be judged: ask for the reply as a "
                f"whole"
            )

    def read(self) -> Iterator[Any]:
        """The data of each event; a text where it is no JSON."""
        try:
            for event in self._decoder.iter_bytes(self._response.iter_bytes()):
                if self._ends(event):
                    break
                yield from _data(event)
        finally:
            self._response.close()

    async def aread(self) -> AsyncIterator[Any]:
        """The same for async clients."""
        try:
            async for event in self._decoder.aiter_bytes(self._response.aiter_bytes()):
                if self._ends(event):
                    break
                for data in _data(event):
                    yield data
        finally:
            await self._response.aclose()

    def written(self, judged: Iterator[Any]) -> Iterator[bytes]:
        """Events that were judged, as bytes."""
        last: list[bytes] = []
        for data in judged:
            if is_last(data):
                last.append(line_of(data))
            else:
                yield line_of(data)
        yield from self._end(last)

    async def awritten(self, judged: AsyncIterator[Any]) -> AsyncIterator[bytes]:
        """The same for async clients."""
        last: list[bytes] = []
        async for data in judged:
            if is_last(data):
                last.append(line_of(data))
            else:
                yield line_of(data)
        for line in self._end(last):
            yield line

    def _ends(self, event: Any) -> bool:
        self._done = self._done or event.data.startswith(DONE)
        return self._done

    def _end(self, last: list[bytes]) -> list[bytes]:
        return [*last, *([f"data: {DONE}\n\n".encode()] if self._done else [])]


def is_last(data: Any) -> bool:
    """Whether nothing of a reply comes after this event."""
    return isinstance(data, dict) and data.get("type") in LAST


def _data(event: Any) -> Iterator[Any]:
    if not event.data:
        return
    try:
        data = json.loads(event.data)
    except ValueError:
        data = event.data
    if isinstance(data, dict) and event.event and event.event != data.get("type"):
        data = {**data, NAME: event.event}
    yield data if isinstance(data, dict) else event.data


def line_of(data: Any) -> bytes:
    """An event as it is written."""
    if not isinstance(data, dict):
        return "".join([f"data: {line}\n" for line in str(data).split("\n")]).encode() + b"\n"
    name = data.get(NAME, data.get("type"))
    said = json.dumps(
        {key: value for key, value in data.items() if key != NAME}, ensure_ascii=False
    )
    head = f"event: {name}\n" if isinstance(name, str) else ""
    return f"{head}data: {said}\n\n".encode("utf-8", "surrogatepass")


END: Final = b"\n\n"


class Frames:
    """Reads the items of a stream: bytes as the events that are in them, anything else as it is."""

    def __init__(self) -> None:
        self._raw = False

    async def read(self, source: Any) -> AsyncIterator[Any]:
        """The items of a source."""
        rest = b""
        async for item in source:
            if not isinstance(item, str | bytes):
                yield item
                continue
            self._raw = True
            rest += (item.encode() if isinstance(item, str) else item).replace(b"\r\n", b"\n")
            *whole, rest = rest.split(END)
            for frame in whole:
                for event in _event(frame):
                    yield event
        for event in _event(rest):
            yield event

    def written(self, item: Any) -> Any:
        """An item that was judged, in the form in which items came."""
        return line_of(item) if self._raw and isinstance(item, dict | str) else item


def _event(frame: bytes) -> list[Any]:
    """The event of a frame; none where it is a comment."""
    lines = [line.partition(":") for line in frame.decode("utf-8", "replace").split("\n")]
    data = "\n".join([value.removeprefix(" ") for name, _, value in lines if name == "data"])
    name = next((value.strip() for field, _, value in lines if field == "event"), "")
    if not data:
        return []
    try:
        found = json.loads(data)
    except ValueError:
        return [data]
    if not isinstance(found, dict):
        return [data]
    return [{**found, NAME: name} if name and name != found.get("type") else found]
