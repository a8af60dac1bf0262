"""What a policy's guards seek is found in one scan, and each gets what it would have found
alone."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from stanchion import Shield
from stanchion.guards.secrets import Secrets
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import RunInfo, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.readings import Reader, Reading, read
from stanchion.readings.joined import Joined
from stanchion.readings.scan import Pattern, Seek
from tests.guards.scan.drawn_patterns import patterns, texts
from tests.guards.scan.scans import scans_of
from tests.guards.scan.test_engines import made

KEY: Final = "AKIAQ3EGRXYZ5ABCD7WQ"
TICKET: Final = Seek([Pattern(r"\bTICKET-[0-9]{4}\b")])
RUN: Final = RunInfo("r1")


def result(*given_texts: str) -> ToolResult:
    """A result with these texts."""
    return ToolResult(id="e", at=0, run=RUN, tool="t", result=list(given_texts))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(patterns(), min_size=1, max_size=3), min_size=1, max_size=3),
    st.lists(texts(), max_size=3),
)
def test_together_each_finds_what_it_finds_alone(
    drawn: list[list[str]], given_texts: list[str]
) -> None:
    seeks = [Seek([made(one) for one in some]) for some in drawn]
    reading = Reader(seeks).read(result(*given_texts))
    for seek in seeks:
        assert reading.of(seek) == read(result(*given_texts)).of(seek)
        assert reading.of(seek) == seek.scanner.scan_joined(
            Joined([leaf.text for leaf in reading.leaves])
        )


def test_two_who_seek_the_same_pattern_each_get_it_by_their_own_number() -> None:
    one, two = (
        Seek([Pattern("abc[0-9]{3}")]),
        Seek([Pattern("xyz[0-9]{3}"), Pattern("abc[0-9]{3}")]),
    )
    reading = Reader([one, two]).read(result("no", "abc123 xyz456"))
    assert [[hit.pattern for hit in here] for here in reading.of(one) or ()] == [[], [0]]
    assert [[hit.pattern for hit in here] for here in reading.of(two) or ()] == [[], [1, 0]]


def test_a_pattern_that_may_match_anywhere_costs_those_nothing_who_do_not_ask() -> None:
    wide, narrow, other = (
        Seek([Pattern("[a-z]{4}")]),
        Seek([Pattern("abc[0-9]{3}")]),
        Seek([Pattern("xyz[0-9]{3}")]),
    )
    reading = Reader([wide, narrow, other]).read(result("word abc123"))
    assert len(scans_of(lambda: (reading.of(narrow), reading.of(other)))) == 1
    assert [hit.start for hit in (reading.of(wide) or [[]])[0]] == [0]


class Tickets(msgspec.Struct, frozen=True):
    """A guard from elsewhere that refuses texts with numbers of tickets."""

    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL})
    seeks: ClassVar[tuple[Seek, ...]] = (TICKET,)
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


POLICY: Final = {
    "name": "own",
    "guards": [
        {"id": "first", "use": "secrets"},
        {"id": "second", "use": "secrets", "without": ["aws-access-token"], "action": "warn"},
        {"id": "third", "use": "secrets", "priority": 70},
    ],
}


@pytest.mark.parametrize(
    ("words", "action"), [("see TICKET-1234", Action.BLOCK), ("see TICKET-12", Action.REDACT)]
)
def test_a_call_is_scanned_once_refused_or_not(words: str, action: Action) -> None:
    """Three guards of one kind and a foreign one, the record of a refused call included."""
    shield = Shield.load(POLICY, guards=[Tickets()])
    run = shield.run("ann")
    run.check("send", {"body": "hello, how are you today?"})
    text = f"{words} of ann, {KEY}"
    decisions: list[Any] = []
    scanned = scans_of(lambda: decisions.append(run.check("send", {"body": text})))
    assert decisions[0].action == action
    assert [one for one in scanned if KEY.encode() in one] == [text.encode()]


def test_a_guard_works_in_a_reading_that_does_not_know_it() -> None:
    guard = Secrets()
    for reading in (
        read(result(f"key {KEY}")),
        Reader([TICKET, *guard.seeks]).read(result(f"key {KEY}")),
    ):
        finding = guard.judge(reading)
        assert finding is not None
        assert finding.action == Action.REDACT
