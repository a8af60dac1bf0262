"""Shields that nobody has closed, and nobody has any more: they are collected, and their threads
end."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from stanchion import Shield
from stanchion.dialects.guardian import GuardianLayer, StorageProvider
from stanchion.dialects.veronica import ToolCallContext, VeronicaIntegration
from stanchion.runtime.answers import pool as pools
from stanchion.runtime.answers.question import LaneQuestion
from tests.new_threads import NewThreads
from tests.runtime.test_pool import until

CTX = ToolCallContext("r", tool_name="t")


class Own:
    """A guard of a program's own; `knows` is whatever the program lets it know."""

    id = "own"
    knows: Any = None

    def judge(self, _event: Any) -> None:
        """No opinion."""


class Deep(Own):
    """The same as a deep rule, which has a time box."""

    deep = True


class Hook:
    """A hook of VERONICA's, which knows its integration."""

    knows: Any = None

    def before_llm_call(self, _ctx: Any) -> None:
        """No opinion."""


class Storage(StorageProvider):
    """Keeps nothing, and knows nothing."""

    def log_incident(self, incident_data: dict[str, Any]) -> None:
        """Forget it."""

    def get_best_practice(self, tool_name: str) -> dict[str, Any] | None:
        """None."""


def guarded() -> Any:
    shield = Shield.load({"name": "bare"}, guards=[Own()], store="memory:", journal="memory:")
    assert shield.run("a").check("t", {}).proceeds
    return shield


def known_to_its_guard() -> Any:
    guard = Own()
    guard.knows = shield = Shield.load(
        {"name": "bare"}, guards=[guard], store="memory:", journal="memory:"
    )
    assert shield.run("a").check("t", {}).proceeds
    return shield


def deep() -> Any:
    shield = Shield.load({"name": "bare"}, guards=[Deep()], store="memory:", journal="memory:")
    assert shield.run("a").check("t", {}).proceeds
    return shield


def integrated() -> Any:
    hook = Hook()
    hook.knows = vi = VeronicaIntegration(pre_dispatch=hook)
    assert vi.execute(CTX, len, "ab") == 2
    return vi


def stored() -> Any:
    layer = GuardianLayer(storage_provider=Storage())
    layer.check({"tool": "pay", "arguments": {}})
    return layer


@pytest.mark.parametrize(
    ("make", "threads"),
    [
        (guarded, ["stanchion-own"]),
        (known_to_its_guard, ["stanchion-own"]),
        (deep, ["stanchion-own", "stanchion-time-boxes"]),
        (integrated, ["stanchion-pre_dispatch-Hook-1"]),
        (stored, ["guardian-storage"]),
    ],
)
def test_nothing_is_left_of_what_nobody_has_closed(
    make: Callable[[], Any], threads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pools, "IDLE_S", 3_600.0
    )  # no thread ends because it has waited long enough
    new = NewThreads()
    made = make()
    at_work: list[threading.Thread] = [one for name in threads for one in new.named(name)]
    assert sorted({one.name for one in at_work}) == threads
    gone = weakref.ref(made)
    del made
    # Some of it is found only when other parts of it have gone.
    until(lambda: gc.collect() >= 0 and not [one for one in at_work if one.is_alive()])
    assert gone() is None


def test_a_thread_at_work_finishes_it_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "IDLE_S", 3_600.0)
    new, begun, go, done = NewThreads(), threading.Event(), threading.Event(), threading.Event()

    def slow(_event: Any) -> None:
        begun.set()
        go.wait(60)
        done.set()

    pool = pools.LanePool()
    pool.lane("slow").enter(_question(slow))
    assert begun.wait(60)
    (thread,) = new.named("stanchion-slow")
    del pool
    gc.collect()
    assert thread.is_alive()
    go.set()
    thread.join(60)
    assert done.is_set()
    assert not thread.is_alive()


def _question(code: Callable[[Any], None]) -> LaneQuestion:
    return LaneQuestion(code, None, float("inf"), True, None, lambda _: None, lambda _: None)
