"""What guards seek is found once in an event, however many of them seek the same."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec
import pytest

from stanchion import Shield
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import GuardGate
from stanchion.kernel.events import RunInfo, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading, read
from stanchion.readings.scan import Pattern, Seek
from tests.guards.scan.scans import scans_of

KEY: Final = "AKIAQ3EGRXYZ5ABCD7WQ"
TICKET: Final = Seek([Pattern(r"\bTICKET-[0-9]{4}\b")])
RUN: Final = RunInfo("r1")


def result(*given_texts: str) -> ToolResult:
    """A result with these texts."""
    return ToolResult(id="e", at=0, run=RUN, tool="t", result=list(given_texts))


def test_what_is_sought_is_found_in_each_leaf_by_the_numbers_of_its_patterns() -> None:
    seek = Seek([Pattern("xyz[0-9]{3}"), Pattern("abc[0-9]{3}")])
    found = read(result("no", "abc123 xyz456")).of(seek)
    assert [[hit.pattern for hit in here] for here in found or ()] == [[], [1, 0]]
    assert read(result("no", "abc12")).of(seek) is None


class Tickets(msgspec.Struct, frozen=True):
    """A guard from elsewhere that refuses texts with numbers of tickets."""

    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL})
    gate: ClassVar[GuardGate] = GuardGate(works=(TICKET,))
    id: str = "tickets"
    priority: int = 3
    category: Category = Category.SAFETY
    mode: str = "enforce"

    def judge(self, reading: Reading[Any], /) -> Finding | None:
        """Refuse a call with one."""
        return (
            None
            if reading.of(TICKET) is None
            else Finding(Action.BLOCK, "test.ticket", text="a ticket")
        )


SECRETS: Final = {"use": "secrets", "without": ["twitch-*", "named-secret"]}
"""What no other test seeks: what was compiled for one is there for all."""
POLICY: Final = {
    "name": "own",
    "guards": [
        {"id": "first", **SECRETS},
        {"id": "second", **SECRETS, "action": "warn"},
        {"id": "third", **SECRETS, "priority": 70},
    ],
}


@pytest.mark.parametrize(
    ("words", "action"), [("see TICKET-1234", Action.BLOCK), ("see TICKET-12", Action.REDACT)]
)
def test_a_call_is_scanned_once_for_the_same_refused_or_not(words: str, action: Action) -> None:
    """Once for the tickets and once for three guards that seek the same, the record of a refused
    call included."""
    shield = Shield.load(POLICY, guards=[Tickets()])
    run = shield.run("ann")
    run.check("send", {"body": "hello, how are you today?"})
    text = f"{words} of ann, {KEY}"
    decisions: list[Any] = []
    scanned = scans_of(lambda: decisions.append(run.check("send", {"body": text})))
    assert decisions[0].action == action
    assert [one for one in scanned if KEY.encode() in one] == [text.encode()] * 2
