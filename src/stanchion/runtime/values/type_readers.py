"""Forms: how values of one type become content, and how changed content becomes a value of that
type again."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from stanchion.kernel.tuples import NamedTuple


class Seen(IntEnum):
    """How much of something that could not be read is in the content."""

    WHOLE = 0
    """All of it: it was read."""
    SPELLED = 1
    """All of it, but not as what it means: an image in base64, bytes that are no text."""
    DIGEST = 2
    """Its length and its hash."""
    NOTHING = 3
    """Its type alone, so that two values with the same content need not be the same."""


class ValueLeaf(NamedTuple):
    """A value that is one piece of content. `handed` is what goes on in its place, itself where
    that can be trusted; `unread` says what could not be read, and `seen` how much of it is in the
    content."""

    content: Any
    handed: Any
    unread: str = ""
    seen: Seen = Seen.WHOLE


class ValueParts(NamedTuple):
    """A value made of others: their names in the content (`None` for a list) and the values
    themselves, in order; a `Leaf` among them stands for itself.

    `quiet` are those that are no content where they cannot be read.
    """

    names: list[str] | None
    items: list[Any]
    quiet: frozenset[str] = frozenset()


class Form(NamedTuple):
    """How a type is read. A form has either `leaf` or `parts`.

    `made` gives a value of the same type from the value and its new parts, or its new content;
    `copy` one that is the same, for a leaf that can change; `mutable` says that somebody else could
    change the value while it is judged, `ordered` that its parts come in an order of their own.
    """

    leaf: Callable[[Any], ValueLeaf] | None = None
    parts: Callable[[Any], ValueParts] | None = None
    made: Callable[[Any, Any], Any] | None = None
    copy: Callable[[Any], Any] | None = None
    mutable: bool = True
    ordered: bool = True


class Unreadable(ValueError):
    """A value is too deep, too large or too confused to be judged: it is refused as a whole."""
