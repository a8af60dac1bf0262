"""Values on their way to a broker and back: read here, changed there, and put together again
here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.runtime.remote.messages import Value
from stanchion.runtime.values import Read, Unreadable


def sent(reading: Callable[[], Read]) -> tuple[Value, Read]:
    """A value as it is told to a broker, and as it was read."""
    try:
        seen = reading()
    except Unreadable as error:
        return Value(unreadable=str(error)), Read(None, None)
    return Value(seen.content, seen.unread, int(seen.seen), seen.plain), seen


def shared(content: Any, changed: Any) -> Any:
    """Changed content that shares with the first what is still the same, so that untouched parts
    stay the objects they are."""
    if type(content) is not type(changed):
        return changed
    if type(content) is dict:
        parts = {
            name: shared(content[name], part) if name in content else part
            for name, part in changed.items()
        }
        same = len(parts) == len(content) and all(
            parts[name] is content.get(name) for name in parts
        )
        return content if same and list(parts) == list(content) else parts
    if type(content) is list:
        if len(content) != len(changed):
            return changed
        items = list(map(shared, content, changed))
        return (
            content
            if all(one is other for one, other in zip(items, content, strict=True))
            else items
        )
    return content if content == changed else changed
