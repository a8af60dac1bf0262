"""Forms: how values of one type become content, and how changed content becomes a value of that
type again."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final

import msgspec

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


class UnreadPart(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A piece of a value that could not be read: where it is in the content, what it is in words,
    how much of it is there, and its media type where its own bytes say one."""

    path: tuple[str | int, ...]
    what: str
    seen: int
    kind: str = ""

    @property
    def words(self) -> str:
        """What it is, and where."""
        where = ".".join(["*" if step == UNORDERED else str(step) for step in self.path])
        return f"`{where}`, {self.what}" if where else self.what


UNORDERED: Final = -1
"""The place of what stands among others that have no order: nobody finds it there again."""


class ValueLeaf(NamedTuple):
    """A value that is one piece of content. `handed` is what goes on in its place, itself where
    that can be trusted; `unread` says what could not be read, `seen` how much of it is in the
    content, and `kind` which media type its bytes have."""

    content: Any
    handed: Any
    unread: str = ""
    seen: Seen = Seen.WHOLE
    kind: str = ""


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
