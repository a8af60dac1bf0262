"""Clamp: results that are too long for an agent are cut on their structure, and say how much was
left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import ToolResult
from stanchion.kernel.findings import Finding, Patch, PathStep
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import Lower
from stanchion.kernel.patches import apply
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "clamp.cut": Words(
            "the result of `{}` is too long: of its {} characters, {} are left out",
            "ask for the part that you need",
        ),
        "clamp.cannot": Words(
            "the result of `{}` is too long and cannot be shortened: it has too many keys",
            "ask for the part that you need",
        ),
    }
)

TEXT_NOTE: Final = "… {:,} characters left out …"
LIST_NOTE: Final = "… {:,} items left out …"
ROOM: Final = 48
"""How long a note gets at most."""
SHARE: Final = 0.9
"""What is too long is cut to this share of its limit, so that what other guards put into it still
fits."""
OTHER: Final = 8
"""What a value that is no text counts."""

Path = tuple[PathStep, ...]
Chars = Annotated[int, msgspec.Meta(ge=200)]


class Clamp(msgspec.Struct, frozen=True):
    """Cuts texts and lists of results that are too long; the shape stays, and what is left out is
    said in its place.

    Texts are cut in the middle, behind two thirds of what fits; lists lose items in the middle.
    Names and numbers are never touched.
    """

    name: ClassVar = "clamp"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_RESULT})
    category: ClassVar = Category.QUALITY
    priority: ClassVar = 90

    max_chars: Lower[Chars] = 50_000
    """The largest number of characters in a result, names included; a number counts as eight."""
    max_field: Lower[Chars] = 10_000
    """The largest number of characters in one text of a result."""

    def judge(self, reading: Reading[ToolResult], /) -> Finding | None:
        """Measure the result, and cut what is over its limit."""
        event = reading.event
        result = event.result
        if type(result) is str:
            size = longest = len(result)
        else:
            size, longest = _measure(result)
        if size <= self.max_chars and longest <= self.max_field:
            return None
        patches = tuple(_Cutting(self).cuts(result, size))
        if not patches:
            return Finding(Action.BLOCK, "clamp.cannot", (event.tool,))
        left_out = sum([_gone(result, patch) for patch in patches])
        return Finding(Action.REDACT, "clamp.cut", (event.tool, size, left_out), patches=patches)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.REDACT, Action.BLOCK)


def _measure(content: Any) -> tuple[int, int]:
    """How many characters there are in all, and in the longest text."""
    size = longest = 0
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            size += len(value)
            longest = max(longest, len(value))
        elif isinstance(value, dict):
            size += sum([len(name) for name in value])
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        else:
            size += OTHER
    return size, longest


def _gone(content: Any, patch: Patch) -> int:
    for step in patch.path:
        content = content[step]
    if isinstance(content, str):
        return patch.end - patch.start
    return sum([_measure(item)[0] for item in content[patch.start : patch.end]])


class _Cutting:
    """Cuts one result: each part gets an allowance, and what is in it shares it."""

    def __init__(self, clamp: Clamp) -> None:
        self.clamp = clamp
        self.field = int(clamp.max_field * SHARE)
        self._known: dict[int, int] = {}

    def cuts(self, content: Any, size: int) -> Iterator[Patch]:
        """The patches that make it fit; none where it cannot."""
        clamp = self.clamp
        allowance = int(clamp.max_chars * SHARE) if size > clamp.max_chars else size
        found = list(self._within((), content, allowance))
        if self._left(content, found) <= clamp.max_chars:
            yield from found

    def _left(self, content: Any, patches: list[Patch]) -> int:
        return _measure(apply(content, patches))[0]

    def _fits(self, value: Any) -> int:
        """How long a value is when its texts are no longer than one may be."""
        if isinstance(value, str):
            return len(value) if len(value) <= self.clamp.max_field else self.field
        if not isinstance(value, dict | list):
            return OTHER
        known = self._known.get(id(value))
        if known is None:
            names = sum([len(name) for name in value]) if isinstance(value, dict) else 0
            items = value.values() if isinstance(value, dict) else value
            known = self._known[id(value)] = names + sum([self._fits(item) for item in items])
        return known

    def _within(self, path: Path, value: Any, allowance: int) -> Iterator[Patch]:
        if isinstance(value, str):
            limit = min(allowance, self.field) if len(value) > self.clamp.max_field else allowance
            if len(value) > max(limit, ROOM):
                yield self._text(path, value, max(limit, ROOM))
        elif isinstance(value, dict):
            names = sum([len(name) for name in value])
            sizes = [self._fits(item) for item in value.values()]
            for (name, item), share in zip(
                value.items(), _shares(sizes, allowance - names), strict=True
            ):
                yield from self._within((*path, name), item, share)
        elif isinstance(value, list):
            yield from self._list(path, value, allowance)

    def _text(self, path: Path, text: str, limit: int) -> Patch:
        kept = max(0, limit - ROOM)
        head = kept * 2 // 3
        end = len(text) - (kept - head)
        return Patch(path, TEXT_NOTE.format(end - head), head, end, "clamp")

    def _list(self, path: Path, items: list[Any], allowance: int) -> Iterator[Patch]:
        sizes = [self._fits(item) for item in items]
        start, end = len(items), len(items)
        if sum(sizes) > allowance and len(items) > 2:
            start, end = self._middle(sizes, allowance - ROOM)
        kept = [*range(start), *range(end, len(items))]
        room = allowance - (ROOM if end > start else 0)
        for at, share in zip(kept, _shares([sizes[at] for at in kept], room), strict=True):
            yield from self._within((*path, at), items[at], share)
        if end > start:
            yield Patch(path, LIST_NOTE.format(end - start), start, end, "clamp")

    def _middle(self, sizes: list[int], room: int) -> tuple[int, int]:
        """Which items are left out: as few as possible from behind two thirds of what fits; one is
        always kept."""
        start, used = 0, 0
        while start < len(sizes) and used + sizes[start] <= room * 2 // 3:
            used += sizes[start]
            start += 1
        end = len(sizes)
        while end > start and used + sizes[end - 1] <= room:
            end -= 1
            used += sizes[end]
        if start == 0 and end == len(sizes):
            return 1, end
        return start, end


def _shares(sizes: list[int], room: int) -> list[int]:
    """What each of several gets of the room: as much as it needs where that is little, an equal
    part of the rest."""
    if sum(sizes) <= room:
        return sizes
    shares = [0] * len(sizes)
    left, waiting = max(0, room), len(sizes)
    for at in sorted(range(len(sizes)), key=lambda at: (sizes[at], at)):
        shares[at] = min(sizes[at], left // waiting)
        left -= shares[at]
        waiting -= 1
    return shares
