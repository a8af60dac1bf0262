"""What happened: an agent and its host are told the truth about a call whose outcome could not be
seen to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stanchion import Action, Finding, Refused, Stage, Tool
from stanchion.audit.errors import AuditLost
from stanchion.kernel.actions import PROCEEDS
from stanchion.kernel.decision import Decision
from stanchion.kernel.happened import WITHHELD
from stanchion.kernel.state import StoreLost
from stanchion.runtime.deciding.record import LATE, MOST, Unwritten
from stanchion.runtime.run import Run
from stanchion.testing.clock import FakeClock
from stanchion.testing.shields import shield_for
from tests.runtime.failing import FailingJournal, FailingStore, from_on, well
from tests.runtime.guards import says

FULL = AuditLost("the disk is full")
BUDGET: dict[str, Any] = {"name": "x", "guards": [{"use": "budget", "duration_s": 100}]}


class World:
    """A run whose store and journal can be made to fail while a tool works."""

    def __init__(self, policy: dict[str, Any] | None = None, **options: Any) -> None:
        self.clock = FakeClock()
        self.store, self.journal = FailingStore(self.clock), FailingJournal()
        given = {"name": "bare"} if policy is None else policy
        self.shield = shield_for(
            given, clock=self.clock, store=self.store, journal=self.journal, **options
        )
        self.run: Run = self.shield.run("ann")
        self.paid: list[int] = []

    def loses_the_trail(self, amount: int) -> str:
        self.paid.append(amount)
        self.journal.fails = from_on(0, FULL)
        return "paid"

    def loses_the_store(self, amount: int) -> str:
        self.paid.append(amount)
        self.clock.advance(2_000)
        self.store.fails = from_on(0, StoreLost("db.internal does not answer"))
        return "paid"

    def outcomes(self) -> list[tuple[Any, tuple[str, ...]]]:
        entries = [kept.read() for kept in self.journal.kept()]
        return [(entry.content, entry.notes) for entry in entries if entry.kind == "outcome"]


def test_a_trail_that_is_lost_while_a_tool_runs_does_not_make_the_agent_try_again() -> None:
    """It reads that it was done; the record follows with the next decision, in its place before
    it."""
    world = World()
    with pytest.raises(Refused) as refused:
        world.run.call(world.loses_the_trail, 5)
    told = refused.value
    assert (told.happened, told.undone, told.decision.code) == (
        True,
        False,
        "kernel.done_unrecorded",
    )
    assert str(told) == (
        "the call was done, and only its result is withheld: the audit trail cannot be written, so "
        "its record is not safe yet; do not repeat the call; go on with something else: its record "
        "is written as soon as the trail can be"
    )
    assert not world.run.check("next", {}).proceeds
    assert world.outcomes() == []
    world.journal.fails = well
    assert world.run.check("next", {}).proceeds
    assert world.outcomes() == [("paid", (LATE,))]
    kinds = [kept.read().kind for kept in world.journal.kept()]
    assert kinds == ["intent", "outcome", "intent"]


def test_a_store_that_is_lost_while_a_tool_runs_settles_when_it_is_back() -> None:
    """Nothing raw comes out, the outcome is recorded, and what was used counts once the store can
    be told."""
    world = World(BUDGET)
    with pytest.raises(Refused) as refused:
        world.run.call(Tool(world.loses_the_store, "pay", timeout_s=30), 5)
    told = refused.value
    assert (told.happened, told.decision.code) == (True, "kernel.done_unsettled")
    assert "the call was done" in str(told)
    assert "db.internal" not in str(told)
    assert "try again" not in str(told)
    assert len(world.outcomes()) == 1
    world.store.fails = well
    assert world.run.call(str, 1) == "1"
    (used_ms,) = [cell.number for cell in world.store.look() if "budget" in cell.key]
    assert (used_ms, list(world.store.holds())) == (2_000, [])


def test_a_policy_that_only_watches_hands_the_result_on() -> None:
    """And the record follows all the same."""
    world = World({"name": "x", "mode": "shadow"})
    assert world.run.call(world.loses_the_trail, 5) == "paid"
    world.journal.fails = well
    world.run.close()
    assert world.outcomes() == [("paid", (LATE,))]


@pytest.mark.parametrize("action", [Action.BLOCK, Action.QUARANTINE])
def test_a_result_that_a_guard_refuses_is_told_as_done(action: Action) -> None:
    """By the error, and to a host that reports; a retry keeps its guidance alone, for it asks for
    the step again."""
    world = World(guards=[says(action, Stage.TOOL_RESULT, guidance="use another page")])
    with pytest.raises(Refused) as refused:
        world.run.call(str, 1)
    decision = refused.value.decision
    assert (
        decision.message
        == f"the call was done, and only its result is withheld: says says {action.name}"
    )
    assert decision.advice == "do not repeat the call; use another page"
    reported = World(guards=[says(action, Stage.TOOL_RESULT)]).run.result("str", {"n": 1}, "1")
    assert (reported.happened, reported.message) == (True, decision.message)
    again = World(guards=[says(Action.RETRY, Stage.TOOL_RESULT, guidance="use another page")])
    assert again.run.result("str", {"n": 1}, "1").advice == "use another page"


ENDS: dict[str, tuple[Callable[[World], object], str]] = {
    "close": (lambda world: world.run.close(), "the run has ended: it was closed"),
    "cancel": (lambda world: world.run.cancel("ann left"), "the run was cancelled: ann left"),
    "halt": (lambda world: world.shield.halt("incident"), "all work here is halted: incident"),
    "halt of the agent": (
        lambda world: world.shield.halt("incident", scope="agent:ann"),
        "this agent is halted: incident",
    ),
    "halt of the run": (
        lambda world: world.shield.halt("incident", scope=f"run:{world.run.id}"),
        "this run is halted: incident",
    ),
}
"""How a run ends while something of it is under way, and what is said of it."""


def called(world: World, end: Callable[[], object]) -> Any:
    return world.run.call(Tool(lambda: end(), "pay"))


def called_once(world: World, end: Callable[[], object]) -> Any:
    return world.run.call_once("k", Tool(lambda: end(), "pay"))


def awaited(world: World, end: Callable[[], object]) -> Any:
    async def pay() -> None:
        end()

    return asyncio.run(world.run.acall(pay))


def itemised(world: World, end: Callable[[], object]) -> Any:
    def pay() -> Iterator[int]:
        end()
        yield 1

    return list(world.run.call(pay))


def streamed(world: World, end: Callable[[], object]) -> Any:
    def words() -> Iterator[str]:
        end()
        yield "so many words "

    return list(world.run.stream(words()))


def reported(world: World, end: Callable[[], object]) -> Any:
    decision = world.run.check("pay", {})
    end()
    raise Refused(world.run.result("pay", {}, "paid", call=decision.id))


def failing(world: World, end: Callable[[], object]) -> Any:
    def pay() -> None:
        end()
        raise ValueError

    return world.run.call(pay)


DONE = "the call was done, and only its result is withheld"
WAYS = [
    (called, DONE),
    (called_once, DONE),
    (awaited, DONE),
    (itemised, DONE),
    (reported, DONE),
    (streamed, "the model has answered, and the rest of its reply is withheld"),
    (failing, "the call was begun, and has failed"),
]


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize(("way", "words"), WAYS)
def test_what_was_done_while_its_run_ended_is_told_as_done(
    way: Callable[[World, Callable[[], object]], Any], words: str, ends: str
) -> None:
    """Whoever ended it: an agent that reads only that its run is over would do it again in the next
    one."""
    world = World()
    end, why = ENDS[ends]
    with pytest.raises(Refused) as refused:
        way(world, lambda: end(world))
    told = refused.value
    assert (told.happened, told.ended) == (True, True)
    assert str(told).startswith(f"{words}: {why}")
    assert ("do not repeat the call" in str(told)) is (words == DONE)


HAPPENED = [stage for stage in Stage if stage in WITHHELD]


@pytest.mark.parametrize("stage", HAPPENED)
@pytest.mark.parametrize("action", [action for action in Action if action > PROCEEDS])
def test_every_refusal_of_what_has_happened_says_so(stage: Stage, action: Action) -> None:
    """And never to repeat it, unless the step itself is what is asked for again."""
    finding = Finding(action, "kernel.lookup_failed", ("g", "E"), guard="g")
    decision = Decision("d", action, "", (finding,), withheld=stage)
    words, advice = WITHHELD[stage]
    assert decision.message == f"{words}: {finding.message}"
    assert decision.advice == (finding.advice if action == Action.RETRY else advice)


def test_what_ends_a_run_by_a_result_is_why_it_ended() -> None:
    """Later calls read why, not what was done when it ended."""
    world = World(guards=[says(Action.HALT, Stage.TOOL_RESULT)])
    with pytest.raises(
        Refused, match="the call was done, and only its result is withheld: says says HALT"
    ):
        world.run.call(str, 1)
    assert world.run.check("next", {}).message == "the run has ended: says says HALT"


def test_a_call_that_is_refused_before_it_runs_has_not_happened() -> None:
    """A host can tell the two apart."""
    world = World(guards=[says(Action.BLOCK, Stage.TOOL_CALL)])
    with pytest.raises(Refused) as refused:
        world.run.call(world.paid.append, 1)
    assert (refused.value.happened, world.paid) == (False, [])
    assert str(refused.value) == "says says BLOCK"


def test_a_call_that_was_undone_says_so() -> None:
    """The agent reads that nothing of it is left."""
    world = World(guards=[says(Action.BLOCK, Stage.TOOL_RESULT)])
    with pytest.raises(Refused, match="it was undone again") as refused:
        world.run.call(Tool(world.paid.append, "pay", undo=world.paid.remove), 5)
    assert (refused.value.happened, refused.value.undone, world.paid) == (True, True, [])


def test_what_can_never_be_written_is_told_to_operators(caplog: pytest.LogCaptureFixture) -> None:
    """At the end of the shield, and where more waits than may."""
    world = World()
    with pytest.raises(Refused):
        world.run.call(world.loses_the_trail, 5)
    with caplog.at_level(logging.WARNING, "stanchion.runtime"):
        world.run.close()
        world.shield.close()
    told = [record.getMessage() for record in caplog.records]
    assert [words for words in told if "there is no record of the outcome of" in words]
    assert [words for words in told if "there is no record of the end of run" in words]
    caplog.clear()
    unwritten = Unwritten(lambda _lost: None)
    for number in range(MOST + 1):
        unwritten.keep(lambda: None, f"record {number}", FULL)
    assert [record.getMessage() for record in caplog.records] == [
        f"there is no record of record {MOST}: the disk is full"
    ]
    unwritten.flush()
    assert not unwritten.waiting


def test_a_record_that_the_journal_stumbles_over_does_not_hold_up_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is given up after some tries, and told."""
    unwritten, taken = Unwritten(lambda _lost: None), []

    def stumbles() -> None:
        raise TypeError("no such thing")

    unwritten.keep(stumbles, "the first", FULL)
    unwritten.keep(lambda: taken.append(2), "the second", FULL)
    for _ in range(2):
        with pytest.raises(AuditLost, match="TypeError"):
            unwritten.flush()
    unwritten.flush()
    assert (taken, len(unwritten.waiting)) == ([2], 0)
    assert "there is no record of the first" in caplog.text
