"""A guard that asks about values as one does that knows where they come from: here each value says
it itself."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import AskedValues
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.stages import Stage

READ = "read:"
"""How a value begins that stands in a text alone."""


class Origins(msgspec.Struct, frozen=True):
    """Asks about every argument whose value was only read, and about the tool `wipe` as such."""

    id: ClassVar[str] = "origins"
    kind: ClassVar[Kind] = Kind.ASKING
    deep: ClassVar[bool] = False
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL})
    category: ClassVar[Category] = Category.SAFETY
    priority: ClassVar[int] = 30

    def ask(self, reading: Any, /) -> Lookup:
        """Ask about what a call is given."""
        return Lookup("", (reading.event.tool, reading.event.args), 5_000)

    def call(self, asked: tuple[str, dict[str, Any]]) -> Any:
        """What of it the user did not say."""
        tool, args = asked
        sinks = [
            {"parameter": name, "value": value, "origin": "content"}
            for name, value in args.items()
            if str(value).startswith(READ)
        ]
        if not sinks and tool != "wipe":
            return None
        return {"sinks": sinks, "tool": "read_bill", "result": 3, "asked": ["pay the bill"]}

    def judge(self, _reading: Any, value: Any, /) -> Finding | None:
        """Ask a person about what the user did not say."""
        if value is None:
            return None
        return Finding(
            Action.ESCALATE,
            "test.sink",
            text="a value was only read",
            guidance="use what the user gave",
        )

    def shown(self, value: Any) -> dict[str, str]:
        """Where it stands, and what the user said."""
        where = f"only in result {value['result']} of {value['tool']}, field body"
        return {"it stands": where, "the user asked for": "; ".join(value["asked"])}

    def asked_about(self, _finding: Finding, value: Any, /) -> AskedValues:
        """The values of one call."""
        pairs = tuple([(sink["parameter"], sink["value"]) for sink in value["sinks"]])
        return AskedValues(pairs, tuple(value["asked"]), (("to", "known@a"), ("to", "other@a")))


class PlainOrigins(msgspec.Struct, frozen=True):
    """The same without a question to anybody: its finding says what it is about."""

    id: ClassVar[str] = "plain-origins"
    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL})

    def judge(self, reading: Any, /) -> Finding | None:
        """Ask a person about what the user did not say."""
        args = reading.event.args
        found = [[name, value] for name, value in args.items() if str(value).startswith(READ)]
        about = msgspec.json.encode(found).decode()
        return Finding(Action.ESCALATE, "test.sink", about=about) if found else None

    def asked_about(self, finding: Finding, _value: Any, /) -> AskedValues:
        """The values of one call."""
        return AskedValues(msgspec.json.decode(finding.about, type=tuple[tuple[str, str], ...]))
