"""Frames: a stream that a proxy passes on as it is written, in bytes, read as events and written
again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Final

from stanchion.hosts.clients.events import NAME, line_of

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
