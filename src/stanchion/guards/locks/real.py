"""Real names: whether a path leads through a link, asked of the disk that the tools work on."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from stanchion.guards._real import Asked, led_to
from stanchion.guards.locks.wanted import Seen
from stanchion.kernel.actions import Category
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.option import ACTIONS, PlainActionName, list_actions
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading
from stanchion.readings.paths.place import joined, place_of


class RealNames(msgspec.Struct, frozen=True):
    """Refuses calls that name a file through a link: it could be locked under one name and changed
    under another."""

    name: ClassVar = "locks_real"
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = False
    call: ClassVar = "stanchion.runtime.answers.real_paths:real_paths"
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.COMPLIANCE
    priority: ClassVar = 20
    deadline_ms: ClassVar = 1_000

    root: str
    seen: Seen
    action: PlainActionName

    def ask(self, reading: Reading[ToolCall], /) -> Lookup | None:
        """Ask where the paths really lead that a call would lock; nothing where it has none."""
        asked = self._asked(reading)
        return Lookup("", asked, self.deadline_ms) if asked.paths else None

    def _asked(self, reading: Reading[ToolCall]) -> Asked:
        named = dict.fromkeys([(one.text, one.base) for one in self.seen.targets(reading)])
        return Asked((self.root,), tuple(named))

    def judge(self, reading: Reading[ToolCall], value: Any, /) -> Finding | None:
        """Compare what the disk says with what is written; an answer of any other shape is a
        failure, which refuses."""
        asked = self._asked(reading)
        (root,), reals = led_to(asked, value)
        for (text, start), real in zip(asked.paths, reals, strict=True):
            place = place_of(text, lenient=text[1:2] == ":")
            if start and not place.root:
                place = joined(place_of(start), place)
            there = joined(place_of(root), place)
            if there != place_of(real) and there.root == "/":
                return Finding(ACTIONS[self.action], "locks.linked", (text, real), about=text)
        return None

    actions = list_actions
