"""The shield's states: thirteen edges, no more, and what lasts for a time ends by the store's
clock."""

from __future__ import annotations

import pytest

from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.gates import CLEAR, pass_gates
from stanchion.kernel.states import (
    EDGES,
    HALTED,
    NORMAL,
    QUARANTINE,
    SAFE,
    STATES,
    WARNING,
    Mark,
    Signal,
    StateEdge,
    Terms,
    follows,
    moved,
    phase,
)

DIAGRAM = {
    (NORMAL, WARNING), (NORMAL, SAFE), (NORMAL, HALTED),
    (WARNING, NORMAL), (WARNING, QUARANTINE), (WARNING, SAFE), (WARNING, HALTED),
    (QUARANTINE, WARNING), (QUARANTINE, SAFE), (QUARANTINE, HALTED),
    (SAFE, NORMAL), (SAFE, HALTED),
    (HALTED, NORMAL),
}  # fmt: skip
TERMS = Terms(recover_ms=100, quarantine_ms=1_000, halt_after=3)


def test_the_table_is_the_diagram() -> None:
    assert len(EDGES) == 13
    assert {(edge.start, edge.end) for edge in EDGES} == DIAGRAM


@pytest.mark.parametrize(
    "edge", EDGES, ids=lambda edge: f"{edge.start or 'normal'}-{edge.end or 'normal'}"
)
def test_every_edge_is_taken_on_each_of_its_signals(edge: StateEdge) -> None:
    for signal in edge.on:
        after = moved(Mark(edge.start), signal, 50, "why", TERMS)
        assert after is not None
        assert after.state == edge.end
        assert edge.end == NORMAL or after.why == "why"


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("signal", list(Signal))
def test_no_other_signal_moves_anything(state: str, signal: Signal) -> None:
    allowed = any(edge.start == state and signal in edge.on for edge in EDGES)
    after = moved(Mark(state), signal, 50, "why", TERMS)
    if allowed:
        assert follows(state, signal) is not None
    else:
        assert after is None or after.state == state, (
            "what goes on lasts longer, and is what it was"
        )


def test_a_halt_leaves_only_by_restart() -> None:
    assert [signal for signal in Signal if follows(HALTED, signal) is not None] == [Signal.RESTART]


def test_a_warning_ends_by_itself_and_lasts_while_its_cause_does() -> None:
    mark = moved(Mark(), Signal.FAILING, 1_000, "why", TERMS)
    assert mark is not None
    assert [phase(mark, now).state for now in (1_000, 1_099, 1_100)] == [WARNING, WARNING, NORMAL]
    assert moved(mark, Signal.FAILING, 1_040, "why", TERMS) is None, "it lasts long enough"
    longer = moved(mark, Signal.FAILING, 1_060, "why", TERMS)
    assert longer is not None
    assert longer.until == 1_160


def test_a_quarantine_is_a_warning_afterwards_and_the_third_is_a_halt() -> None:
    mark = Mark()
    for times in (1, 2):
        for signal in (Signal.FAILING, Signal.REPEATED):
            new = moved(mark, signal, 5_000 * times, "why", TERMS)
            assert new is not None
            mark = new
        begun = 5_000 * times
        states = [phase(mark, begun + after).state for after in (0, 999, 1_000, 1_099, 1_100)]
        assert states == [QUARANTINE, QUARANTINE, WARNING, WARNING, NORMAL]
        assert mark.times == times
    again = moved(mark, Signal.FAILING, 20_000, "why", TERMS)
    assert again is not None
    third = moved(again, Signal.REPEATED, 20_001, "why", TERMS)
    assert third is not None
    assert (third.state, third.until) == (HALTED, 0)


def event(
    tool: str = "pay", agent: str = "ann", run: str = "r", parents: tuple[str, ...] = ()
) -> ToolCall:
    return ToolCall(id="e", at=0, run=RunInfo(run, agent, parents=parents), tool=tool)


@pytest.mark.parametrize(
    ("name", "concerned", "spared"),
    [
        ("tool:pay", event(), event(tool="read")),
        ("agent:ann", event(), event(agent="bob")),
        ("run:r", event(), event(run="other")),
        ("run:r", event(run="child", parents=("r",)), event(run="child", parents=("q",))),
    ],
)
@pytest.mark.parametrize("fleet", [False, True])
def test_a_state_concerns_what_it_is_of(
    name: str, concerned: ToolCall, spared: ToolCall, fleet: bool
) -> None:
    value = {"marks": {name: {"state": QUARANTINE, "until": 100}}}
    values = [value, None] if fleet else [None, value]
    gate = pass_gates([*values, None], concerned, 99)
    assert gate.finding is not None
    assert (gate.finding.action, gate.finding.code, gate.until) == (
        Action.BLOCK,
        "kernel.quarantined",
        100,
    )
    assert pass_gates([*values, None], concerned, 100).finding is None
    assert pass_gates([*values, None], spared, 99) == CLEAR


def test_the_severest_state_wins() -> None:
    tenant = {"own": {"state": SAFE}, "marks": {"tool:pay": {"state": QUARANTINE, "until": 100}}}
    both = pass_gates([None, tenant], event(), 0)
    assert (both.mode, both.finding is not None and both.finding.code) == (
        SAFE,
        "kernel.quarantined",
    )
    halted = pass_gates([{"own": {"state": HALTED, "why": "drill"}}, tenant], event(), 0)
    assert halted.finding is not None
    assert (halted.mode, halted.finding.action, halted.finding.args) == (
        HALTED,
        Action.HALT,
        ("fleet", "drill", "everything"),
    )
    tool = pass_gates(
        [None, {"marks": {"tool:pay": {"state": HALTED, "why": "drill"}}}], event(), 0
    )
    assert tool.finding is not None
    assert tool.finding.action == Action.BLOCK, (
        "a halted tool does not end the run that asks for it"
    )
