"""What an adapter works in: one run for each thread, session and invocation of a shield, or the run
that it was given."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from stanchion import Refused
from stanchion.hosts import Host, Hosted, Works, as_text
from stanchion.hosts.contract import works as contract
from stanchion.runtime.errors import Ungoverned
from stanchion.runtime.run import open_runs
from stanchion.runtime.shield import Shield
from stanchion.testing import shield_for

HOST = Host("loop")
MANY = 100


class Invocation:
    """Stands for what a framework makes once for an invocation."""


@pytest.fixture
def shield() -> Iterator[Shield]:
    with shield_for({"name": "bare"}) as made:
        yield made


def itself(hosted: Hosted) -> Hosted:
    return hosted


def works_of(given: Any, **said: str) -> Works[Hosted]:
    return Works(HOST, given, itself, **said)


def is_open(hosted: Hosted) -> bool:
    return hosted.run.desk.ended is None


@pytest.mark.parametrize("wrong", [None, "default", object(), {"name": "bare"}, Shield])
def test_what_judges_nothing_is_refused_when_the_agent_is_built(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"`loop` is given a .*give it the shield"):
        works_of(wrong)


def test_a_run_of_a_host_that_can_less_is_refused_when_the_agent_is_built(shield: Shield) -> None:
    with pytest.raises(ValueError, match="cannot: start it with"):
        works_of(shield.run())


def test_the_run_that_is_given_works_for_all(shield: Shield) -> None:
    hosted = HOST.run(shield)
    for works in (works_of(hosted), works_of(hosted.run)):
        with works.during() as first, works.during(key="t") as within:
            assert works.now is within
        here = Invocation()
        assert {first.run, works.at("a").run, works.tied(here).run} == {hosted.run}
        assert within.run.desk.info.parents == (hosted.run.id,)
        assert is_open(hosted)


def test_each_invocation_has_a_run_that_is_closed_at_its_end(shield: Shield) -> None:
    works = works_of(shield, agent="helper", task="tidy")
    with works.during("its-name") as first:
        assert open_runs() == (first.run,)
        assert (first.run.agent, first.run.task) == ("helper", "tidy")
    with works.during() as second:
        assert second.run is not first.run
        assert not is_open(first)
    assert open_runs() == ()
    assert works.around is None
    with pytest.raises(Ungoverned, match="nothing of `loop` is at work here"):
        works.now  # noqa: B018 - it raises


def test_an_invocation_that_fails_is_closed(shield: Shield) -> None:
    works = works_of(shield)
    with pytest.raises(ZeroDivisionError), works.during() as made:
        raise ZeroDivisionError
    assert not is_open(made)


def test_a_thread_keeps_its_run(shield: Shield) -> None:
    works = works_of(shield)
    with works.during("a", key="t1") as first:
        pass
    with works.during("a", key="t2") as other:
        pass
    assert works.at("t1") is first
    assert works.at("t2") is other is not first
    assert is_open(first)


def test_a_thread_whose_run_was_ended_stays_ended(shield: Shield) -> None:
    works = works_of(shield)
    works.at("t1").run.cancel()
    with works.during(key="t1") as made, pytest.raises(Refused, match="was cancelled"):
        made.report("prompt", text="go on")


def test_the_longest_unused_is_closed_and_never_one_at_work(
    shield: Shield, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "MOST", 2)
    works = works_of(shield)
    invocation, elsewhere = works.during(key="busy"), copy_context()
    busy = elsewhere.run(invocation.__enter__)
    first, second = works.at("first"), works.at("second")
    assert [is_open(one) for one in (busy, first, second)] == [True, False, True]
    works.at("third")
    assert [is_open(one) for one in (busy, second)] == [True, False]
    elsewhere.run(invocation.__exit__)
    assert works.at("busy") is busy
    assert works.at("first") is not first


@pytest.mark.parametrize("store", ["memory", "file"])
def test_a_thread_whose_run_was_closed_to_make_room_goes_on_where_it_was(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "MOST", 1)
    policy = {"name": "two", "guards": [{"use": "budget", "calls": 2, "per": "run"}]}
    places = (
        {"store": "memory:", "journal": "memory:"}
        if store == "memory"
        else {"store": tmp_path / "store.db", "journal": tmp_path / "trail"}
    )
    with Shield.load(policy, **places) as shield:
        works = Works(Host("loop", refused=as_text), shield, itself)

        def call(thread: str) -> bool:
            return works.at(thread).report("tool_call", tool="read", args={}).proceeds

        assert [call(thread) for thread in "ababab"] == [True] * 4 + [False] * 2
        first = works.at("c")
        first.run.cancel("by its user")
        assert works.at("d") is not first
        with pytest.raises(Refused, match="was cancelled"):
            call("c")
        assert call("e")


def test_an_object_has_its_run_until_it_goes(shield: Shield) -> None:
    works = works_of(shield)
    one, other = Invocation(), Invocation()
    first = works.tied(one, "a")
    assert works.tied(one) is first is not works.tied(other)
    del one
    gc.collect()
    works.tied(other)
    assert not is_open(first)
    assert is_open(works.tied(other))


def test_what_begins_within_is_a_child(shield: Shield) -> None:
    outer, inner = works_of(shield, agent="boss"), works_of(shield)
    elsewhere = Works(Host("other"), shield, itself)
    object_ = Invocation()
    with outer.during() as boss:
        with inner.during("worker") as worker, elsewhere.during() as stranger:
            assert inner.now is worker
            assert outer.now is outer.around is worker
            assert elsewhere.now is stranger
        assert outer.now is boss
        kept, tied = inner.at("t1"), inner.tied(object_)
    assert [one.run.desk.info.parents for one in (worker, kept, tied)] == 3 * [(boss.run.id,)]
    assert worker.run.agent == "worker"
    assert stranger.run.desk.info.parents == ()
    assert not any(is_open(one) for one in (worker, kept, tied))
    assert inner.at("t1") is not kept


def test_an_agent_built_anew_within_does_not_work_in_the_run_of_one_that_is_gone(
    shield: Shield,
) -> None:
    with works_of(shield).during():
        runs = [works_of(shield, agent=f"a{n}").at("t1").run for n in range(MANY)]
        assert [run.agent for run in runs] == [f"a{n}" for n in range(MANY)]


def test_what_its_user_says_of_an_agent_goes_before_what_the_framework_says(shield: Shield) -> None:
    outer, inner = works_of(shield, agent="boss"), works_of(shield, agent="desk")
    with outer.during("its-name") as boss, inner.during("its-name") as desk:
        assert (boss.run.agent, desk.run.agent) == ("boss", "desk")
        with inner.during("another") as other, inner.during() as the_same:
            assert (other.run.agent, the_same.run.agent) == ("another", "desk")


def test_another_shield_is_no_parent(shield: Shield) -> None:
    with (
        shield_for({"name": "other"}) as other,
        works_of(shield).during(),
        works_of(other).during() as made,
    ):
        assert made.run.desk.shield is other
        assert made.run.desk.info.parents == ()


def test_a_thread_is_at_work_while_its_tool_runs(shield: Shield) -> None:
    works = works_of(shield)
    boss = works.at("t1")
    with works.inside(boss, boss), works.during("worker") as worker:
        assert worker.run.desk.info.parents == (boss.run.id,)
        assert open_runs() == (boss.run, worker.run)


def test_a_hundred_invocations_in_threads_have_a_run_each(shield: Shield) -> None:
    works, together = works_of(shield), Barrier(MANY)

    def invoke(number: int) -> tuple[str, str, str]:
        with works.during(f"a{number}") as made:
            together.wait(30)
            assert works.now is made
            made.report("prompt", text="hello")
            return (
                made.run.id,
                made.run.agent,
                works.at(f"t{number % 10}").run.desk.info.parents[-1],
            )

    with ThreadPoolExecutor(MANY) as pool:
        came = list(pool.map(lambda n: copy_context().run(invoke, n), range(MANY)))
    assert len({run for run, _, _ in came}) == MANY
    assert [agent for _, agent, _ in came] == [f"a{number}" for number in range(MANY)]
    assert all(parent == run for run, _, parent in came)


def test_a_hundred_invocations_in_tasks_have_a_run_each(shield: Shield) -> None:
    works = works_of(shield)

    async def invoke(number: int, together: asyncio.Barrier) -> tuple[str, str]:
        async with works.during() as made, together:
            assert works.now is made
            async with works.during(key=f"t{number}") as child:
                await asyncio.sleep(0)
                assert child.run.desk.info.parents == (made.run.id,)
            return made.run.id, child.run.id

    async def all_of_them() -> list[tuple[str, str]]:
        together = asyncio.Barrier(MANY)
        return await asyncio.gather(*[invoke(number, together) for number in range(MANY)])

    came = asyncio.run(all_of_them())
    assert len({run for pair in came for run in pair}) == 2 * MANY


def test_a_thread_that_many_ask_for_at_once_has_one_run(shield: Shield) -> None:
    works, together = works_of(shield), Barrier(MANY)

    def ask(_number: int) -> str:
        together.wait(30)
        run: str = works.at("t1").run.id
        return run

    with ThreadPoolExecutor(MANY) as pool:
        assert len(set(pool.map(ask, range(MANY)))) == 1
