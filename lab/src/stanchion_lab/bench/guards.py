"""Guards that stand for what policies typically check, so that the whole chain has twelve that
apply."""

from __future__ import annotations

import re
from posixpath import normpath
from typing import Any, ClassVar

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Line, When, key
from stanchion.kernel.units import Unit
from stanchion.readings import Reading

CALLS = frozenset({Stage.TOOL_CALL})
KEY = re.compile(r"AKIA[0-9A-Z]{16}|ghp_[0-9A-Za-z]{36}")
DROP = re.compile(r"DROP\s+TABLE")


class WriteFile(msgspec.Struct):
    """The arguments of the tool that is measured."""

    path: str
    content: str


class Schema(msgspec.Struct, frozen=True):
    """Arguments must fit a schema."""

    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = CALLS
    category: ClassVar[Category] = Category.QUALITY
    priority: ClassVar[int] = 10
    id: str

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        event = reading.event
        try:
            msgspec.convert(event.args, WriteFile)
        except msgspec.ValidationError:
            return Finding(Action.BLOCK, "bench.schema")
        return None


class Under(msgspec.Struct, frozen=True):
    """A path must lie under a folder."""

    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = CALLS
    category: ClassVar[Category] = Category.SCOPE
    priority: ClassVar[int] = 11
    id: str
    folder: str

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        event = reading.event
        if normpath(event.args["path"]).startswith(self.folder):
            return None
        return Finding(Action.BLOCK, "bench.under")


class Without(msgspec.Struct, frozen=True):
    """A text must not contain a pattern."""

    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = CALLS
    category: ClassVar[Category] = Category.SAFETY
    priority: ClassVar[int] = 12
    id: str
    pattern: re.Pattern[str]

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        event = reading.event
        return (
            Finding(Action.BLOCK, "bench.without")
            if self.pattern.search(event.args["content"])
            else None
        )


class Role(msgspec.Struct, frozen=True):
    """The agent must have a role."""

    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = CALLS
    category: ClassVar[Category] = Category.SCOPE
    priority: ClassVar[int] = 13
    id: str
    role: str

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        event = reading.event
        return None if event.run.role == self.role else Finding(Action.BLOCK, "bench.role")


class Tokens(msgspec.Struct, frozen=True):
    """A token budget: reserved before, settled after."""

    kind: ClassVar[Kind] = Kind.METER
    stages: ClassVar[frozenset[Stage]] = CALLS
    category: ClassVar[Category] = Category.BUDGET
    priority: ClassVar[int] = 31
    id: str
    limit: int

    def lines(self, event: ToolCall, /) -> tuple[Line, ...]:
        bands = ((self.limit, Action.BLOCK),)
        return (
            Line(key(event.run.tenant, "tokens", event.run.id), bands, Unit.TOKENS, hold_ms=60_000),
        )

    def word(
        self, _event: ToolCall, action: Action, _values: tuple[int, ...], _said: tuple[int, ...], /
    ) -> Finding:
        return Finding(action, "bench.tokens")


class Rate(msgspec.Struct, frozen=True):
    """So many calls a minute."""

    kind: ClassVar[Kind] = Kind.METER
    stages: ClassVar[frozenset[Stage]] = CALLS
    category: ClassVar[Category] = Category.BUDGET
    priority: ClassVar[int] = 32
    id: str
    limit: int

    def lines(self, event: ToolCall, /) -> tuple[Line, ...]:
        bands = ((self.limit, Action.BLOCK),)
        return (Line(key(event.run.tenant, "rate", event.run.id), bands, window_ms=60_000),)

    def word(
        self, _event: ToolCall, action: Action, _values: tuple[int, ...], _said: tuple[int, ...], /
    ) -> Finding:
        return Finding(action, "bench.rate")


class Repeats(msgspec.Struct, frozen=True):
    """The same call must not come too often among the last sixteen."""

    kind: ClassVar[Kind] = Kind.RECORD
    writes: ClassVar[When] = When.JUDGED
    stages: ClassVar[frozenset[Stage]] = CALLS
    category: ClassVar[Category] = Category.SAFETY
    priority: ClassVar[int] = 33
    id: str
    most: int

    def key(self, event: ToolCall, /) -> str:
        return key(event.run.tenant, "repeats", event.run.id)

    def judge(self, reading: Reading[ToolCall], value: Any, _now: int, /) -> Ruling:
        event = reading.event
        mark = hash((event.tool, *event.args.values()))
        window = () if value is None else value
        if window.count(mark) >= self.most:
            return Ruling(Finding(Action.BLOCK, "bench.repeats"), (*window[-15:], mark))
        return Ruling(None, (*window[-15:], mark))
