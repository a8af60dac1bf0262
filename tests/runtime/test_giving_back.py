"""What a call has taken is given back, whatever cuts it off: its place in a line, a probe, what it
reserved."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

import pytest

from stanchion import Refused, Run, Shield
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import MemoryJournal
from stanchion.audit.record import INTENT, OUTCOME
from stanchion.guards.breaker import ToolCircuit, circuit_of
from stanchion.kernel.actions import NAMES, PROCEEDS
from stanchion.kernel.events import ToolResult
from stanchion.kernel.state import Batch, Reply, StoreLost
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock
from tests.interrupts import SOAK, cut_off, files, soon

KEEP_S: Final = 100_000
STAGES: Final = ["tool_call", "tool_result", "model_call", "model_reply", "error"]
QUEUE: Final = {
    "use": "queue",
    "max_running": 1,
    "max_waiting": 1,
    "per": "tenant",
    "keep_s": KEEP_S,
    "timeout_s": 0.2,
    "pause_s": 0.1,
    "stages": STAGES,
}
BUDGET: Final = {
    "use": "budget",
    "id": "b",
    "tokens": 10**6,
    "reserve_tokens": 10,
    "duration_s": 10**5,
}
POLICY: Final[dict[str, Any]] = {
    "name": "places",
    "tools": {"high": {"risk": "high"}},
    "guards": [QUEUE, {**BUDGET, "reserve_duration_s": 10}],
}
LINE: Final = "{default}queue:queue:tenant"
GOES: Final = frozenset(NAMES[: PROCEEDS + 1])


class Strikes:
    """Raises at one step of many, before it is done or after."""

    def __init__(self) -> None:
        self.count, self.at, self.error, self.after = 0, 0, KeyboardInterrupt, False
        self.often = 1

    def arm(self, at: int, error: Any, after: bool, often: int = 1) -> None:
        """Strike at the n-th step from now on, that many times in a row."""
        self.count, self.at, self.error, self.after, self.often = 0, at, error, after, often

    def stop(self) -> None:
        """Strike no more."""
        self.often = 0

    def step(self, after: bool) -> None:
        self.count += not after
        if self.at <= self.count < self.at + self.often and after == self.after:
            raise self.error("struck")


class StruckStore:
    """A store that is struck; where it is awaited, others run before and after a batch is carried
    out."""

    place = ""

    def __init__(self, inner: Any) -> None:
        self.inner, self.strikes = inner, Strikes()

    def carry(self, batch: Batch) -> Reply:
        self.strikes.step(after=False)
        reply: Reply = self.inner.carry(batch)
        self.strikes.step(after=True)
        return reply

    async def acarry(self, batch: Batch) -> Reply:
        await asyncio.sleep(0)
        reply = self.carry(batch)
        await asyncio.sleep(0)
        return reply

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class StruckJournal(MemoryJournal):
    """A journal that is struck."""

    def __init__(self) -> None:
        super().__init__()
        self.strikes = Strikes()

    def write(self, *what: Any, **more: Any) -> int:
        self.strikes.step(after=False)
        mark = super().write(*what, **more)
        self.strikes.step(after=True)
        return mark


class House:
    """A shield whose line has one place, and what is seen of it."""

    def __init__(self, policy: dict[str, Any] = POLICY, **more: Any) -> None:
        self.store, self.journal = StruckStore(MemoryStore()), StruckJournal()
        self.shield = Shield.load(policy, store=self.store, journal=self.journal, **more)
        self.run = self.shield.run("ann", "t1")
        self.run.call(fine)

    def line(self) -> tuple[int, int]:
        """How many are at work, and how many wait."""
        value = self.store.inner.read(LINE)[1]
        return len(value["running"]), len(value["waiting"])

    def free(self) -> None:
        """Somebody else gets the place at once, and nothing is held."""
        assert self.shield.run("bob").call(fine) == "fine"
        assert self.line() == (0, 0)
        assert not list(self.store.inner.holds())

    def well(self, matched: bool = True) -> None:
        """The same, and every call has its outcome when all is closed."""
        self.free()
        self.run.close()
        self.shield.close()
        assert not matched or not self.unmatched()

    def unmatched(self) -> list[str]:
        """The calls that went ahead and have no outcome."""
        entries = [kept.read() for kept in self.journal.kept()]
        ended = {entry.call for entry in entries if entry.kind == OUTCOME}
        return [
            e.id for e in entries if e.kind == INTENT and e.action in GOES and e.id not in ended
        ]


def fine() -> str:
    return "fine"


def high() -> str:
    return "fine"


def bad() -> str:
    raise ValueError("it is bad")


def model(_messages: Any) -> dict[str, Any]:
    return {"content": "hello", "usage": {"total_tokens": 5}}


def two() -> Iterator[int]:
    yield 1
    yield 2


def none() -> Iterator[int]:
    yield from ()


async def atwo() -> AsyncIterator[int]:
    yield 1
    yield 2


async def afine() -> str:
    await asyncio.sleep(0)
    return "fine"


async def listed(items: Any) -> list[Any]:
    return [item async for item in items]


NUMBERS: Final = itertools.count()
WORK: Final[dict[str, Callable[[Run], Any]]] = {
    "call": lambda run: run.call(fine),
    "high": lambda run: run.call(high),
    "bad": lambda run: run.call(bad),
    "once": lambda run: run.call_once(f"k{next(NUMBERS)}", fine),
    "acall": lambda run: asyncio.run(run.acall(afine)),
    "items": lambda run: list(run.call(two)),
    "no items": lambda run: list(run.call(none)),
    "async items": lambda run: asyncio.run(listed(run.acall(atwo))),
    "model": lambda run: run.model(model, [{"role": "user", "content": "hi"}], final=False),
}
TROUBLE: Final = [("store", StoreLost), ("store", KeyboardInterrupt), ("journal", AuditLost)]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("where", "error"), [*TROUBLE, ("journal", KeyboardInterrupt)])
@pytest.mark.parametrize("work", WORK)
def test_the_store_or_the_trail_fails_once_at_any_step(
    work: str, where: str, error: Any, after: bool
) -> None:
    for at in range(1, 20):
        house = House()
        strikes = house.store.strikes if where == "store" else house.journal.strikes
        strikes.arm(at, error, after)
        with suppress(Refused, ValueError, KeyboardInterrupt):
            WORK[work](house.run)
        hit = strikes.count >= at
        strikes.stop()
        house.well(
            matched=error is not AuditLost or not after
        )  # what is not written, says the journal, is not
        if not hit:
            assert at > 2
            return
    raise AssertionError("unreachable: no work has so many steps")


@pytest.mark.parametrize("work", ["call", "once", "items", "high"])
def test_a_task_that_is_cancelled_at_any_step(work: str) -> None:
    asked: dict[str, Callable[[Run], Any]] = {
        "call": lambda run: run.acall(afine),
        "once": lambda run: run.acall_once("k", afine),
        "items": lambda run: listed(run.acall(atwo)),
        "high": lambda run: run.acall(high),
    }

    async def cancelled(turns: int) -> bool:
        house = House()
        task = asyncio.ensure_future(asked[work](house.run))
        for _ in range(turns):
            await asyncio.sleep(0)
        hit: bool = task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert house.line() == (0, 0)
        await asyncio.to_thread(house.well)
        return hit

    for turns in range(200):
        if not asyncio.run(cancelled(turns)):
            assert turns > 3
            return
    raise AssertionError("unreachable: no work has so many steps")


def test_a_task_that_is_cancelled_in_the_line_leaves_it() -> None:
    async def waiting() -> None:
        house = House()
        let = asyncio.Event()

        async def slow() -> str:
            await let.wait()
            return "slow"

        first = asyncio.ensure_future(house.run.acall(slow))
        while house.line() != (1, 0):
            await asyncio.sleep(0)
        second = asyncio.ensure_future(house.run.acall(afine))
        while house.line() != (1, 1):
            await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        assert house.line() == (1, 0)
        let.set()
        assert await first == "slow"
        await asyncio.to_thread(house.well)

    asyncio.run(waiting())


def test_who_has_waited_long_enough_leaves_the_line() -> None:
    house = House()

    def nested() -> str:
        with pytest.raises(Refused, match="places are taken"):
            house.run.call(fine)
        assert house.line() == (1, 0)
        return "nested"

    assert house.run.call(nested) == "nested"
    house.well()


def test_a_refused_result_gives_back_the_place_at_a_guard_that_was_not_asked() -> None:
    def refuses(event: ToolResult) -> str | None:
        return "no" if event.result == "secret" else None

    refuses.stages = ["tool_result"]  # type: ignore[attr-defined]  # how a guard says where it stands
    policy = {**POLICY, "guards": [{**QUEUE, "priority": 900}]}
    house = House(policy, guards=[refuses])
    with pytest.raises(Refused, match="withheld"):
        house.run.call(lambda: "secret")
    house.well()


def test_a_lost_store_is_told_when_it_is_back() -> None:
    house = House()

    def breaks() -> str:
        house.store.strikes.arm(1, StoreLost, False, often=10**6)
        return "done"

    with pytest.raises(Refused) as refused:
        house.run.call(breaks)
    assert refused.value.decision.code == "kernel.done_unsettled"
    with pytest.raises(Refused, match="store"):
        house.run.call(fine)
    house.store.strikes.stop()
    house.well()


@pytest.mark.parametrize("error", [StoreLost, AuditLost, KeyboardInterrupt])
@pytest.mark.parametrize("after", [False, True])
def test_a_probe_is_given_back(error: Any, after: bool) -> None:
    clock = FakeClock()
    store, journal = StruckStore(MemoryStore(clock)), StruckJournal()
    guards = [{"use": "breaker", "failure_threshold": 1, "cooldown_s": 1, "successes": 1}]
    run = Shield.load(
        {"name": "p", "guards": guards}, store=store, journal=journal, clock=clock
    ).run("ann")
    down = [True]

    def tool() -> str:
        if down[0]:
            raise ConnectionError("down")
        return "up"

    for at in (1, 2):
        down[0] = True
        with pytest.raises(ConnectionError):
            run.call(tool)
        down[0] = False
        clock.advance(2_000)
        strikes = journal.strikes if error is AuditLost else store.strikes
        strikes.arm(at, error, after)
        with pytest.raises((Refused, KeyboardInterrupt)):
            run.call(tool)
        strikes.stop()
        assert run.call(tool) == "up"
        assert circuit_of(store.inner.read("{default}breaker:tool:breaker")[1]) == ToolCircuit()


def test_who_is_struck_twice_at_the_trail_leaves_the_outcome_to_the_next() -> None:
    for at in range(1, 5):
        house = House()
        house.journal.strikes.arm(at, KeyboardInterrupt, False, often=2)
        while house.journal.strikes.count <= at:
            with suppress(KeyboardInterrupt):
                house.run.call(fine)
        house.journal.strikes.stop()
        assert house.run.call(fine) == "fine"
        assert not house.unmatched()
        house.well()


def test_who_is_struck_twice_at_the_trail_leaves_the_outcome_to_the_end() -> None:
    house = House()
    house.journal.strikes.arm(2, KeyboardInterrupt, False, often=2)
    with pytest.raises(KeyboardInterrupt):
        house.run.call(fine)
    with pytest.raises(KeyboardInterrupt):
        house.run.call(fine)
    house.journal.strikes.stop()
    house.shield.close()
    assert not house.unmatched()
    assert not list(house.store.inner.holds())


def test_a_good_call_makes_two_trips() -> None:
    house = House()
    house.store.strikes.count = 0
    assert house.run.call(fine) == "fine"
    assert house.store.strikes.count == 2


WITHIN: Final = files(
    "runtime/deciding/judging.py",
    "runtime/deciding/judging.py",
    "runtime/deciding/judging.py",
    "runtime/deciding/left.py",
    "runtime/calling/call.py",
    "runtime/driving/sync.py",
    "runtime/deciding/under_way.py",
    "runtime/deciding/record.py",
    "runtime/deciding/aftermath.py",
    "runtime/deciding/unsettled.py",
    "runtime/deciding/unsettled.py",
)


PATIENCE_S: Final = 3_000.0
"""Each has a thread of its own, because what a thread handles when it is struck may stay with it;
this ends one that is stuck."""


def struck(work: str, house: House, at: int, error: type[BaseException]) -> str:
    """Where a piece of work was struck at its n-th step."""

    def done() -> None:
        with suppress(ValueError):
            WORK[work](house.run)

    return cut_off(done, at, WITHIN, error)


@pytest.mark.parametrize("work", ["call", "high", "once", "bad", "acall", "model"])
def test_one_interrupt_anywhere_leaves_nothing_taken(work: str) -> None:
    """At each step of what starts a call and sees to its end: nothing is held, and each intent has
    its outcome."""
    soon(partial(struck_anywhere, work), PATIENCE_S)


def struck_anywhere(work: str) -> None:
    every = 1 if SOAK else 7 if work == "call" else 23
    at = random.Random(work).randint(1, every)
    while True:
        house = House()
        for _ in range(40):
            place = struck(work, house, at, KeyboardInterrupt)
            if not place:
                assert at > 500
                return
            try:
                house.free()
                assert not house.unmatched()
            except BaseException as trouble:
                raise AssertionError(f"after an interrupt at {place}: {trouble!r}") from trouble
            at += every
        house.well()


def test_what_is_to_happen_once_can_begin_where_it_was_cut_off_before() -> None:
    soon(begun_again, PATIENCE_S)


def begun_again() -> None:
    at, every = (1, 1) if SOAK else (3, 17)
    house, ran, again = House(), list[int](), 0

    def pay(number: int) -> str:
        ran.append(number)
        return "paid"

    while place := cut_off(
        partial(house.run.call_once, f"k{at}", pay, at), at, WITHIN, KeyboardInterrupt
    ):
        try:
            before = ran.count(at)
            code = ""
            try:
                assert house.run.call_once(f"k{at}", pay, at) == "paid"
                again += not before
            except Refused as refused:
                code = refused.decision.code
            assert code in {"", "ledger.outcome_unknown", "ledger.result_not_kept"}
            assert ran.count(at) <= 1
        except BaseException as trouble:
            raise AssertionError(f"after an interrupt at {place}: {trouble!r}") from trouble
        at += every
    assert again * every > 500


@pytest.mark.parametrize(
    ("error", "after"), [(StoreLost, True), (AuditLost, False), (KeyboardInterrupt, True)]
)
def test_what_is_to_happen_once_can_begin_where_its_start_was_lost(error: Any, after: bool) -> None:
    house, ran = House(), list[int]()

    def pay() -> str:
        ran.append(1)
        return "paid"

    strikes = house.journal.strikes if error is AuditLost else house.store.strikes
    strikes.arm(1 if error is AuditLost else 2, error, after)  # the first trip looks at the page
    with pytest.raises((Refused, KeyboardInterrupt)):
        house.run.call_once("k", pay)
    strikes.stop()
    assert not ran
    assert house.run.call_once("k", pay) == "paid"
    assert ran == [1]
    house.well()


@pytest.mark.parametrize("work", ["items", "async items"])
def test_one_interrupt_anywhere_in_the_items_of_a_call(work: str) -> None:
    """What was handed to a host is over with its run."""
    soon(partial(struck_in_items, work), PATIENCE_S)


def struck_in_items(work: str) -> None:
    at, every = (1, 1) if SOAK else (random.Random(work).randint(1, 61), 61)
    while True:
        house = House()
        place = struck(work, house, at, KeyboardInterrupt)
        if not place:
            assert at > 500
            return
        house.run.close()
        try:
            house.well()
        except BaseException as trouble:
            raise AssertionError(f"after an interrupt at {place}: {trouble!r}") from trouble
        at += every
