"""Boot canaries: an adapter has to refuse a call before anybody relies on it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pytest

from stanchion import Shield, Ungoverned, hosts
from stanchion.hosts import EVERYTHING, Host, canaries
from stanchion.hosts.canaries import CANARIES, WITHOUT, CanaryEntry, driven
from stanchion.hosts.contract.canary import TOOL, drive_canary
from tests.runtime.coverage.doing import facts, watching

LOOP = Host("loop", can=EVERYTHING)


def guarded(shield: Shield, body: Callable[[], str]) -> None:
    """An adapter that asks first."""
    with LOOP.run(shield) as hosted:
        hosted.call(TOOL, {}, lambda _: body())


def guarded_on_a_loop(shield: Shield, body: Callable[[], str]) -> None:
    """The same on an event loop of its own."""

    async def work() -> None:
        async with LOOP.run(shield) as hosted:
            await hosted.acall(TOOL, {}, lambda _: body())

    asyncio.run(work())


def swallowing(shield: Shield, body: Callable[[], str]) -> None:
    """A framework that asks, takes the refusal for any error, and goes on."""
    try:
        guarded(shield, body)
    except Exception:  # noqa: BLE001 - that is what it does
        body()


def unguarded(_shield: Shield, body: Callable[[], str]) -> None:
    """An adapter whose seam has moved."""
    body()


def silent(_shield: Shield, _body: Callable[[], str]) -> None:
    """A framework that calls nothing at all."""


def failing(_shield: Shield, _body: Callable[[], str]) -> None:
    """One that breaks before anything is asked."""
    raise KeyError("tools")


@pytest.mark.parametrize("canary", [guarded, guarded_on_a_loop])
def test_a_call_that_is_refused_is_caught(canary: Any) -> None:
    assert drive_canary(canary).caught


@pytest.mark.parametrize(
    ("canary", "why"),
    [
        (unguarded, "the tool has run"),
        (swallowing, "the tool has run"),
        (silent, "no decision was asked for"),
        (failing, "no decision was asked for; it raised `KeyError: 'tools'`"),
    ],
)
def test_anything_else_is_not(canary: Any, why: str) -> None:
    came = drive_canary(canary)
    assert (came.caught, came.why) == (False, why)


def test_one_that_does_not_end_is_not() -> None:
    from threading import Event

    waits = Event()
    came = drive_canary(lambda shield, body: waits.wait(30), within_s=0.01)
    waits.set()
    assert came.why == "it did not end in time"


def test_every_adapter_has_a_canary_or_says_why_not() -> None:
    there = {one.name for one in iter_modules(hosts.__path__)} - {
        "canaries",
        "contract",
        "versions",
    }
    proven = {one.home.split(".")[2] for one in CANARIES.values()}
    assert there == proven | set(WITHOUT), (
        "add a canary for it to `stanchion/hosts/canaries.py`, or say why not"
    )
    assert proven.isdisjoint(WITHOUT)


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A framework is loaded whose adapter does not hold."""
    monkeypatch.setitem(sys.modules, "a_moved_framework", ModuleType("a_moved_framework"))
    monkeypatch.setattr(
        canaries,
        "CANARIES",
        {"moved": CanaryEntry("a_moved_framework", "moved", __name__, "unguarded")},
    )


@pytest.mark.usefixtures("moved")
def test_a_shield_that_refuses_does_not_start_ungoverned() -> None:
    with pytest.raises(Ungoverned, match=r"`moved` \(the tool has run\) does not catch its canary"):
        watching("refuse")


@pytest.mark.usefixtures("moved")
def test_a_shield_that_observes_writes_it_down() -> None:
    _, journal = watching()
    (fact,) = facts(journal, "coverage.canary_missed")
    assert (fact.about, fact.why) == ("adapter:moved", "the tool has run")


def test_a_framework_that_is_loaded_later_is_tried_when_the_next_run_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        canaries, "CANARIES", {"late": CanaryEntry("a_late_framework", "late", __name__, "guarded")}
    )
    shield, journal = watching("refuse")
    assert facts(journal, "coverage.canary") == []
    monkeypatch.setitem(sys.modules, "a_late_framework", ModuleType("a_late_framework"))
    for _ in range(2):
        with shield.run() as run:
            run.call(lambda: None)
    assert [fact.about for fact in facts(journal, "coverage.canary")] == ["adapter:late"]


def test_an_adapter_that_cannot_be_loaded_is_not_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        canaries, "CANARIES", {"broken": CanaryEntry("broken", "broken", "stanchion.hosts.nowhere")}
    )
    assert driven("broken").why.startswith("its adapter cannot be loaded: `ModuleNotFoundError")
