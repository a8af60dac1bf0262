"""Whatever fails, an action that ran is told as done, nothing raw comes out, and each start
has its outcome."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from stanchion import Action, DeadlineExceeded, Refused, Shield, Stage, Tool, ToolFailed
from stanchion.audit.errors import AuditLost
from stanchion.audit.record import INTENT, OUTCOME
from stanchion.kernel.actions import NAMES, PROCEEDS
from stanchion.kernel.state import StoreLost
from stanchion.testing.clock import FakeClock
from stanchion.testing.shields import shield_for
from tests.runtime.failing import FailingJournal, FailingStore, Fails, from_on, only, well
from tests.runtime.guards import says

POLICY: dict[str, Any] = {
    "name": "attacked",
    "tools": {"pay": {"risk": "high"}, "pay_once": {"annotations": ["once"]}},
    "guards": [
        {"use": "step_limit", "max_steps": 1_000},
        {"use": "budget", "duration_s": 1_000, "tokens": 100_000, "api_calls": 100},
        {"use": "breaker"},
        {"use": "loops"},
    ],
}
BAD = says(Action.BLOCK, Stage.TOOL_RESULT, tools=frozenset({"bad"}))
SOAK = bool(os.environ.get("STANCHION_SOAK"))
GOES: frozenset[str] = frozenset(NAMES[: PROCEEDS + 1])


class Broken(Exception):
    """What a tool of these tests raises."""


ITS_OWN = (Refused, ToolFailed, DeadlineExceeded, Broken)
"""What may come out of a run: the public errors, and what a tool raises."""


class World:
    """A shield whose store and journal fail as they are told, and tools that know how often they
    ran."""

    def __init__(
        self, store: Fails = well, journal: Fails = well, syncs: Fails = well, applied: bool = False
    ) -> None:
        self.clock = FakeClock()
        self.store = FailingStore(self.clock, store, applied)
        self.journal = FailingJournal(journal, syncs)
        self.shield: Shield = shield_for(
            POLICY, clock=self.clock, store=self.store, journal=self.journal, guards=[BAD]
        )
        self.run = self.shield.run("ann", "bill")
        self.ran = self.undone = 0

    def pay(self, amount: int) -> dict[str, int]:
        self.ran += 1
        self.clock.advance(250)
        return {"receipt": amount}

    def breaks(self) -> None:
        self.ran += 1
        raise Broken("no")

    def unpay(self, amount: int) -> None:
        self.undone += amount

    def pages(self) -> Iterator[str]:
        self.ran += 1
        yield from ("one", "two")

    async def apages(self) -> AsyncIterator[str]:
        self.ran += 1
        yield "one"
        yield "two"

    def heals(self) -> None:
        self.store.fails = self.journal.fails = self.journal.syncs = well

    def tells_the_truth(self, error: BaseException | None, ran: bool) -> None:
        """An error that says `happened` where it has, and only there."""
        if isinstance(error, Refused):
            assert error.happened == ran, (str(error), error.decision.code)
            assert ("the call was done" in str(error)) == ran or error.ended
            assert not (ran and "try again" in str(error)), str(error)

    def is_whole(self) -> None:
        """Once everything works again every start has an outcome, and nothing stays reserved."""
        self.heals()
        self.run.close()
        self.shield.close()
        entries = [kept.read() for kept in self.journal.kept()]
        begun = [
            e
            for e in entries
            if e.kind == INTENT and e.stage in ("tool_call", "model_call") and e.action in GOES
        ]
        ended = {e.call for e in entries if e.kind == OUTCOME}
        assert [e.id for e in begun if e.id not in ended] == []
        assert list(self.store.holds()) == []


def caught(act: Callable[[], Any]) -> BaseException | None:
    """What an action raises; nothing but what may come out."""
    try:
        act()
    except ITS_OWN as error:
        return error
    return None


async def alisted(items: Any) -> list[Any]:
    return [item async for item in items]


def call(world: World) -> None:
    """A tool of high risk, whose record is waited for."""
    pay = Tool(world.pay, "pay")
    world.tells_the_truth(caught(lambda: world.run.call(pay, 5)), world.ran == 1)


def acall(world: World) -> None:
    """The same on an event loop."""
    pay = Tool(world.pay, "pay")
    world.tells_the_truth(caught(lambda: asyncio.run(world.run.acall(pay, 5))), world.ran == 1)


def once(world: World) -> None:
    """A call that happens once: asked for again it never runs again."""
    for _ in range(3):
        caught(lambda: world.run.call_once("bill-1", Tool(world.pay, "pay_once"), 5))
    assert world.ran <= 1


def broken(world: World) -> None:
    """A tool that raises: its error comes out, or a refusal that says what is true."""
    error = caught(lambda: world.run.call(Tool(world.breaks, "breaks")))
    assert isinstance(error, Broken if world.ran else Refused)


def refused_result(world: World) -> None:
    """A result that a guard refuses: the call was done, and is undone."""
    bad = Tool(world.pay, "bad", undo=world.unpay)
    error = caught(lambda: world.run.call(bad, 5))
    assert isinstance(error, Refused)
    assert error.undone == (world.undone == 5) == (world.ran == 1)
    world.tells_the_truth(error, world.ran == 1)


def generator(world: World) -> None:
    """A tool that yields."""
    error = caught(lambda: list(world.run.call(Tool(world.pages, "pages"))))
    assert not isinstance(error, Refused) or error.happened == (world.ran == 1)


def agenerator(world: World) -> None:
    """The same on an event loop, of both kinds."""
    for tool in (world.apages, world.pages):
        world.ran = 0
        error = caught(lambda tool=tool: asyncio.run(alisted(world.run.acall(tool))))  # type: ignore[misc]
        assert not isinstance(error, Refused) or error.happened == (world.ran == 1)


def model(world: World) -> None:
    """A model that answers."""
    asked: list[int] = []

    def says_hi(_messages: Any) -> str:
        asked.append(1)
        return "hi"

    error = caught(lambda: world.run.model(says_hi, [{"content": "hello"}]))
    assert not isinstance(error, Refused) or error.happened == bool(asked)


def model_stream(world: World) -> None:
    """A model that streams, and a stream of a host's own."""
    caught(
        lambda: list(world.run.model(lambda _messages: iter(["a", "b"]), [{"content": "hello"}]))
    )
    caught(lambda: list(world.run.stream(["a", "b"], tokens=5)))
    caught(lambda: asyncio.run(alisted(world.run.astream(world.apages(), tokens=5))))


def reported(world: World) -> None:
    """A host that runs the tool itself: what it reports is never `not done`."""
    before = world.run.check("pay", {"amount": 5}, tokens=10)
    assert not before.happened
    if before.proceeds:
        after = world.run.result("pay", {"amount": 5}, {"receipt": 5}, call=before.id, tokens=7)
        assert after.happened != after.proceeds
        assert after.proceeds or "the call was done" in after.message


def stages(world: World) -> None:
    """Everything else that a host reports."""
    run = world.run
    run.prompt("hello")
    asked = run.model_call([{"content": "hi"}], tokens=5)
    if asked.proceeds:
        said = run.model_reply("hi", call=asked.id, tokens=3)
        assert said.happened != said.proceeds
    passed = run.handoff("bob", {"what": "it"}, tokens=5)
    if passed.proceeds:
        run.handoff_done("bob", tokens=2)
    cost = run.charge(tokens=5, settled=True)
    assert cost.happened != cost.proceeds
    run.error("pay", "it failed")
    run.notices()


def child(world: World) -> None:
    """A child with a budget of its own, and what is undone at the end."""
    caught(lambda: world.run.call(Tool(world.pay, "pay", undo=world.unpay), 5))
    world.run.rollback()
    world.run.cancel("enough")


FACES = [
    call, acall, once, broken, refused_result, generator, agenerator, model, model_stream, reported,
    stages, child,
]  # fmt: skip
RAW = sqlite3.OperationalError("disk I/O error")
FAULTS: dict[str, Callable[[int], World]] = {
    "a batch is lost": lambda k: World(store=only(k, StoreLost("gone"))),
    "the answer to a batch is lost": lambda k: World(
        store=only(k, StoreLost("gone")), applied=True
    ),
    "the store goes": lambda k: World(store=from_on(k, StoreLost("gone"))),
    "the store raises": lambda k: World(store=from_on(k, RAW)),
    "a record is lost": lambda k: World(journal=only(k, AuditLost("the disk is full"))),
    "the trail goes": lambda k: World(journal=from_on(k, AuditLost("the disk is full"))),
    "the trail raises": lambda k: World(journal=from_on(k, OSError("no space"))),
    "the disk does not answer": lambda k: World(
        syncs=only(k, AuditLost("the disk did not answer"))
    ),
    "the disk raises": lambda k: World(syncs=only(k, RAW)),
    "all of it goes": lambda k: World(from_on(k, RAW), from_on(k, AuditLost("the disk is full"))),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("face", FACES)
def test_whatever_fails_at_whichever_step(face: Callable[[World], None], fault: str) -> None:
    """Every step of every face, every way to fail there."""
    calm = World()
    face(calm)
    calm.is_whole()
    # Each fault comes at some of the steps, and each step has some of the faults; a soak has all of
    # them.
    apart, first = (1, 1) if SOAK else (4, 1 + list(FAULTS).index(fault) % 4)
    for step in range(first, max(calm.store.count, calm.journal.count) + 1, apart):
        world = FAULTS[fault](step)
        face(world)
        world.is_whole()
