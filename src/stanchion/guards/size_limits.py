"""Size limits: content that is too long, too deep or too wide is refused before anything else reads
it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import STOPS, Category
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import ACTIONS, Lower, PlainActionName, list_actions
from stanchion.kernel.sizes import CEILING, UNREAD
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "size.too_long": Words(
            "the content has more than {} characters", "send less: a part, a summary or a reference"
        ),
        "size.too_deep": Words("the content is nested deeper than {} levels", "send flatter data"),
        "size.too_many": Words("the content has more than {} values", "send fewer items at a time"),
    }
)

REMEDIES: Final = {
    "size.too_long": ("at most {max_chars:,} characters (`max_chars`)",),
    "size.too_deep": ("at most {max_depth:,} levels (`max_depth`)",),
    "size.too_many": ("at most {max_values:,} values (`max_values`)",),
}

DEEPEST: Final = 100
"""How many levels content may have under any policy: a limit above it would never act."""
MOST: Final = 200_000
"""How many values content may have under any policy."""


class SizeLimits(msgspec.Struct, frozen=True):
    """Refuses content over any of its limits; it looks at no more than the limits allow."""

    name: ClassVar = "size_limits"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset(
        {
            Stage.PROMPT,
            Stage.MODEL_CALL,
            Stage.MODEL_REPLY,
            Stage.TOOL_CALL,
            Stage.TOOL_RESULT,
            Stage.EGRESS,
            Stage.ERROR,
            Stage.HANDOFF,
        }
    )
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 2
    remedies: ClassVar = REMEDIES

    max_chars: Lower[Annotated[int, msgspec.Meta(ge=0, le=CEILING)]] = 1_000_000
    """The largest number of characters in the content, counting all texts and keys."""
    max_depth: Lower[Annotated[int, msgspec.Meta(ge=0, le=DEEPEST)]] = 64
    """The deepest nesting of lists and mappings."""
    max_values: Lower[Annotated[int, msgspec.Meta(ge=0, le=MOST)]] = 100_000
    """The largest number of values in the content."""
    action: PlainActionName = "block"
    """The action for content over a limit; with one milder than `block`, other guards still read
    the content."""

    def judge(self, reading: Reading[Event], /) -> Finding | None:
        """Measure the event's content, level by level, and stop at the first limit it exceeds."""
        content = reading.content
        if type(content) is str:
            return self._too_long() if len(content) > self.max_chars else None
        if (
            type(content) is dict
            and len(content) <= 8
            and self.max_depth > 1
            and self.max_values > 8
        ):
            chars = 0
            for name, value in content.items():
                if type(value) is str:
                    chars += len(name) + len(value)
                elif isinstance(value, dict | list):
                    break
                else:
                    chars += len(name)
            else:
                return self._too_long() if chars > self.max_chars else None
        return self._measure(content)

    def _measure(self, content: Any) -> Finding | None:
        level: list[Any] = [content]
        chars = values = depth = 0
        while level:
            values += len(level)
            if values > self.max_values:
                return self._over("size.too_many", self.max_values)
            below: list[Any] = []
            for value in level:
                if isinstance(value, str):
                    chars += len(value)
                elif isinstance(value, dict | list):
                    if values + len(below) + len(value) > self.max_values:
                        return self._over("size.too_many", self.max_values)
                    if isinstance(value, dict):
                        chars += sum([len(name) for name in value])
                        below += value.values()
                    else:
                        below += value
                if chars > self.max_chars:
                    return self._too_long()
            depth += 1
            if below and depth > self.max_depth:
                return self._over("size.too_deep", self.max_depth)
            level = below
        return None

    def _too_long(self) -> Finding:
        return self._over("size.too_long", self.max_chars)

    def _over(self, code: str, limit: int) -> Finding:
        """The finding about content over a limit; what is refused for it is for nobody to read."""
        action = ACTIONS[self.action]
        return Finding(action, code, (limit,), hides=(UNREAD,) if action >= STOPS else ())

    actions = list_actions
