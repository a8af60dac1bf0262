"""What a program can have kept elsewhere: experience, what was found about calls, and texts of
advice."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from stanchion.experience.incident import Incident
from stanchion.runtime.calling.validation_cache import ValidationCache
from stanchion.runtime.learning.advising import adviser_of
from stanchion.runtime.learning.keeper import ProcessTier
from stanchion.stores.experience.memory import MemoryShelf
from stanchion.testing import FakeClock, shield_for

LEARNS: dict[str, Any] = {"name": "x", "experience": {"tier": "persistent"}}


def test_experience_on_a_shelf_of_ones_own() -> None:
    class Own(MemoryShelf):
        closed = False

        def close(self) -> None:
            self.closed = True

    shelf = Own()
    shield = shield_for(LEARNS)
    shield.run("a").result("pay", {"n": 0}, "ok")
    shield.experience.keep_on(shelf)
    assert shelf.count() == 0, "what was known before stays where it is"
    shield.run("a").result("pay", {"n": 1}, "ok")
    assert shield.experience.shelf() is shelf
    assert [one.call_data for one in shelf.newest("default", "pay", 5)] == ['{"n":1}']
    assert shield.reliability("pay").successes == 1
    shield.close()
    assert shelf.closed


def test_what_an_outcome_was_meant_for() -> None:
    shield = shield_for(LEARNS)
    run = shield.run("a", "the task")
    call = run.check("pay", {"n": 1})
    shield.experience.meant(run.id, call.id, "a refund, key AKIAWW7JOSQESZEK5VDL")
    shield.experience.meant(run.id, "fetch", "a page")
    run.result("pay", {"n": 1}, "ok", call=call.id)
    run.error("fetch", "timeout")
    run.error("fetch", "timeout")
    hints = [one.context_hint for one in shield.experience.shelf().newest("default", "", 5)]
    assert sorted([hint for hint in hints if "refund" not in hint]) == ["a page", "the task"]
    assert "AKIA" not in "".join(hints)
    assert [hint for hint in hints if hint.startswith("a refund, key [aws-access-token")]
    shield.close()


def test_an_open_call_is_found_by_its_arguments_or_is_the_last_of_its_tool() -> None:
    run = shield_for({"name": "x"}).run("a")
    first, second, _ = (
        run.check("pay", {"n": 1}),
        run.check("pay", {"n": 2}),
        run.check("fetch", {}),
    )
    assert run.desk.open_call("pay", {"n": 1}) == first.id
    assert run.desk.open_call("pay", {"n": "***"}) == second.id
    assert run.desk.open_call("other", {}) == ""


def test_what_was_found_is_remembered_for_as_long_as_it_is_said() -> None:
    clock = FakeClock()
    shield = shield_for({"name": "x", "guards": [{"use": "schema"}]}, clock=clock)
    shield.ingest([{"name": "pay", "inputSchema": {"type": "object"}}])
    shield.remember_with(ValidationCache(ttl_s=1))
    run = shield.run("a")
    for wait in (0, 999, 1):
        clock.advance(wait)
        run.check("pay", {})
    assert (shield.validation_stats().cache_hits, shield.validation_stats().cache_misses) == (1, 2)


def test_texts_of_advice_are_kept_elsewhere() -> None:
    class Texts(dict[str, str]):
        def put(self, key: str, text: str) -> None:
            self[key] = text

    shield, texts = shield_for(LEARNS), Texts()
    adviser_of(shield).texts = texts
    run = shield.run("a")
    run.error("pay", "timeout")
    words = run.awareness()
    assert [*texts.values()] == [words]
    texts.update(dict.fromkeys(texts, "other words"))
    assert run.awareness() == "other words"
    texts.update(dict.fromkeys(texts, "too long" * 1_000))
    assert run.awareness() == words
    stats = shield.advice_stats()
    assert (stats.cache_hits, stats.cache_misses) == (1, 2)
    shield.close()


def test_a_resolver_may_use_coloured_signs_and_hides_nothing() -> None:
    shield = shield_for(LEARNS)
    run = shield.run("a")
    run.error("pay", "timeout")
    shield.advise_with(lambda _: "⚠️ careful\ufe0f\ufe0e")
    assert run.awareness() == "⚠️ careful\\ufe0f\\ufe0e"
    shield.close()


def test_an_outcome_that_is_half_counted_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread was cut off between counting it in the run and in the process; who asked then was
    told half of it."""
    between, asked = threading.Event(), threading.Event()
    add = ProcessTier.add

    def waits(process: ProcessTier, place: str, one: Incident) -> None:
        between.set()
        assert asked.wait(60)
        add(process, place, one)

    class Door:
        """A lock that says when the one who asks comes to it."""

        def __init__(self) -> None:
            self._lock = threading.Lock()

        def __enter__(self) -> None:
            if threading.current_thread() is asks:
                asked.set()
            self._lock.acquire()

        def __exit__(self, *_: object) -> None:
            self._lock.release()

    def ask() -> None:
        told.append(shield.reliability("pay").failures)
        asked.set()

    told: list[int] = []
    shield = shield_for({"name": "x", "experience": {"tier": "process"}})
    works, asks = threading.Thread(target=shield.experience.flush), threading.Thread(target=ask)
    monkeypatch.setattr(ProcessTier, "add", waits)
    monkeypatch.setattr(shield.experience, "_wake", lambda at_once: None)
    monkeypatch.setattr(shield.experience, "_digesting", Door())
    shield.run("a").error("pay", "timeout")
    works.start()
    assert between.wait(60)
    asks.start()
    asks.join()
    works.join()
    assert told == [1]
    shield.close()
