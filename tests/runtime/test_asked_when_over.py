"""Questions under way when their run ends: what was asked is refused because the run is over, and
no guard was late."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stanchion import Action, Finding, Refused, Run, Shield
from stanchion.kernel.lookups import Over
from stanchion.testing import FakeClock, shield_for
from tests.runtime.test_pool import until

LONG_MS = 30_000
RISKS: dict[str, Any] = {risk: {"risk": risk} for risk in ("low", "medium", "high")}


class Code:
    """Code that may fail open: it ends a run that calls `end`, and thinks about everything else
    until it is let go."""

    id = "asked"
    fail_open = True
    deadline_ms = LONG_MS

    def __init__(self, deep: bool) -> None:
        self.deep = deep
        self.thinks, self.go = threading.Event(), threading.Event()

    def judge(self, event: Any) -> Any:
        if event.tool == "end":
            return Finding(Action.HALT, "asked.enough", text="enough")
        self.thinks.set()
        self.go.wait(30)
        return None


class Awaited(Code):
    """The same as a coroutine, which can be cancelled."""

    async def judge(self, event: Any) -> Any:
        if event.tool == "end":
            return Finding(Action.HALT, "asked.enough", text="enough")
        self.thinks.set()
        while not self.go.is_set():
            await asyncio.sleep(0.001)
        return None


class Scene:
    """A run under a parent, with one guard that thinks."""

    def __init__(self, code: Code) -> None:
        self.code, self.clock = code, FakeClock()
        waits = {"high_wait_ms": LONG_MS, "medium_wait_ms": LONG_MS}
        policy = {"name": "over", "tools": RISKS, "deep": waits}
        self.shield: Shield = shield_for(policy, guards=[code], clock=self.clock)
        self.parent: Run = self.shield.run("ann", deadline_s=60)
        self.run: Run = self.parent.spawn("bob")
        self.ran: list[str] = []

    def tool(self, name: str) -> Callable[[], None]:
        """A tool of that name, which notes that it ran."""

        def ran() -> None:
            self.ran.append(name)

        ran.__name__ = name
        return ran

    def end_by_a_rule(self) -> None:
        with pytest.raises(Refused, match="enough"):
            self.run.call(self.tool("end"))

    def let_go(self, do: Callable[[], Any]) -> None:
        """What happens while the code thinks, and does not cancel it: it finds nothing to object
        to."""
        do()
        self.code.go.set()


ENDS: dict[str, tuple[Callable[[Scene], Any], str]] = {
    "a rule": (Scene.end_by_a_rule, "kernel.ended"),
    "cancelled": (lambda scene: scene.run.cancel("no more"), "kernel.cancelled"),
    "closed": (lambda scene: scene.run.close(), "kernel.ended"),
    "parent": (
        lambda scene: scene.let_go(lambda: scene.parent.cancel("no more")),
        "kernel.cancelled",
    ),
    "halted": (lambda scene: scene.let_go(lambda: scene.shield.halt("drill")), "kernel.halted"),
    "agent": (
        lambda scene: scene.let_go(lambda: scene.shield.quarantine("agent:bob")),
        "kernel.quarantined",
    ),
    "deadline": (
        lambda scene: scene.let_go(lambda: scene.clock.advance(60_000)),
        "kernel.deadline",
    ),
    "shield": (lambda scene: scene.shield.close(), "kernel.ended"),
}


@pytest.fixture(
    params=[(False, "low"), (True, "medium"), (True, "high")], ids=lambda one: f"{one[0]}-{one[1]}"
)
def scene(request: pytest.FixtureRequest) -> Iterator[tuple[Scene, str]]:
    deep, risk = request.param
    made = Scene(Code(deep))
    yield made, risk
    made.code.go.set()
    made.shield.close()


@pytest.mark.parametrize("end", ENDS)
def test_what_is_asked_when_its_run_ends_is_refused_for_that_however_its_guard_fails(
    scene: tuple[Scene, str], end: str
) -> None:
    one, risk = scene
    ends, code = ENDS[end]
    with ThreadPoolExecutor(1) as pool:
        called = pool.submit(lambda: one.run.call(one.tool(risk)))
        until(one.code.thinks.is_set)
        ends(one)
        if end == "shield":  # what it was asked for is over; nothing is written down any more
            with pytest.raises(Exception, match=r"."):
                called.result(30)
        else:
            with pytest.raises(Refused) as refused:
                called.result(30)
            assert refused.value.decision.code == code
    assert one.ran == []


@pytest.mark.parametrize("risk", ["low", "high"])
@pytest.mark.parametrize("end", ["a rule", "cancelled", "closed"])
def test_async_code_that_is_cancelled_with_its_run_has_not_failed(risk: str, end: str) -> None:
    one = Scene(Awaited(deep=risk == "high"))

    async def go() -> str:
        call = asyncio.ensure_future(one.run.acall(one.tool(risk)))
        while not one.code.thinks.is_set():
            await asyncio.sleep(0)
        await asyncio.to_thread(ENDS[end][0], one)
        with pytest.raises(Refused) as refused:
            await call
        return refused.value.decision.code

    assert (asyncio.run(go()), one.ran) == (ENDS[end][1], [])
    one.shield.close()


def test_a_run_ends_for_one_reason() -> None:
    one = Scene(Code(deep=False))
    one.end_by_a_rule()
    one.run.cancel("afterwards")
    decision = one.run.check("low", {})
    assert (decision.code, decision.determining and decision.determining.args) == (
        "kernel.ended",
        ("enough",),
    )
    one.shield.close()


def test_a_run_that_was_closed_here_is_ended_for_all_in_the_words_of_whoever_does_that() -> None:
    one = Scene(Code(deep=False))
    child = one.run.spawn("eve")
    one.run.close()
    one.run.cancel("for all")
    decision = child.check("low", {})
    assert (decision.code, decision.determining and decision.determining.args) == (
        "kernel.cancelled",
        ("for all",),
    )
    one.shield.close()


def test_what_was_over_is_recorded_as_the_answer(scene: tuple[Scene, str]) -> None:
    one, risk = scene
    with ThreadPoolExecutor(1) as pool:
        judged = pool.submit(one.run.check, risk, {})
        until(one.code.thinks.is_set)
        ENDS["deadline"][0](one)
        decision = judged.result(30)
    over = Over(Action.BLOCK, "kernel.deadline")
    assert (decision.action, decision.inputs.answers) == (Action.BLOCK, (("asked", over),))
