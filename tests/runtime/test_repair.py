"""`run.repair`: replies are compared, the best is handed on, and every call is judged, charged and
on the trail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion import Action, Finding, Refused, Shield, Stage
from stanchion.audit.journal import MemoryJournal
from stanchion.stores.memory import MemoryStore
from stanchion.tutor.envelope.repair import Checked, seed_of

MESSAGES = [{"role": "user", "content": "Will it rain?"}]


class OneWord:
    """Has replies of several words asked for again."""

    id = "one-word"
    deadline_ms = 60_000
    stages = (Stage.MODEL_REPLY,)

    def judge(self, event: Any) -> Finding | None:
        """Ask again."""
        if " " in event.text:
            return Finding(
                Action.RETRY, "mine.wordy", text="too many words", guidance="answer with one word"
            )
        return None


class Script:
    """A model that says one thing after the other, and remembers what it was asked."""

    def __init__(self, *replies: Any) -> None:
        self._replies = iter(replies)
        self.asked: list[tuple[list[Any], dict[str, Any]]] = []

    def __call__(self, messages: list[Any], **params: Any) -> Any:
        """The next reply."""
        self.asked.append((messages, params))
        reply = next(self._replies)
        if isinstance(reply, Exception):
            raise reply
        return reply


def wants(word: str) -> Callable[[Any], Checked]:
    """Takes a word, and of others the shortest."""
    return lambda reply: Checked(
        0 if reply == word else len(reply), reply != word, f"`{reply}` is wrong"
    )


def shield(calls: int | None = None, action: str = "block", guards: tuple[Any, ...] = ()) -> Shield:
    """A shield, with a budget where that is said."""
    budget = [] if calls is None else [{"use": "budget", "calls": calls, "action": action}]
    return Shield.load({"name": "mine", "guards": budget}, guards=guards)


def test_a_reply_that_is_good_is_handed_on_at_once() -> None:
    model = Script("yes")
    with shield().run() as run:
        found = run.repair(model, wants("yes"), 3, messages=MESSAGES)
    assert (found.reply, found.index, found.calls, found.checked.again) == ("yes", 0, 1, False)
    assert model.asked == [(MESSAGES, {})]


def test_the_best_is_handed_on_and_reasons_are_told() -> None:
    model = Script("certainly", "no", "so", "never")
    with shield().run() as run:
        found = run.repair(model, wants("yes"), 3, messages=MESSAGES)
    assert (found.reply, found.index, found.calls, found.checked.again) == ("no", 1, 4, True)
    told = [one["content"] for one in model.asked[-1][0][1:]]
    assert told == ["`certainly` is wrong", "`no` is wrong", "`so` is wrong"]


def test_every_call_has_a_seed_of_its_own() -> None:
    model = Script("a", "b", "c")
    with shield().run() as run:
        run.repair(model, wants("yes"), 2, params={"temperature": 0.0}, seed=5)
    assert [params for _, params in model.asked] == [
        {"temperature": 0.0, "seed": seed_of(5, 0, at)} for at in range(3)
    ]


def test_a_reply_that_a_guard_withholds_is_the_worst_and_its_advice_is_told() -> None:
    model = Script("I think so", "no")
    with shield(guards=(OneWord(),)).run() as run:
        found = run.repair(model, wants("yes"), 1, messages=MESSAGES)
    assert (found.reply, found.calls) == ("no", 2)
    assert model.asked[1][0][-1] == {"role": "system", "content": "answer with one word"}


def test_where_every_reply_is_withheld_that_is_raised() -> None:
    model = Script("I think so", "so do I")
    with shield(guards=(OneWord(),)).run() as run, pytest.raises(Refused) as refused:
        run.repair(model, wants("yes"), 1)
    assert (refused.value.decision.code, len(model.asked)) == ("mine.wordy", 2)


def test_a_budget_ends_it_with_the_best_so_far() -> None:
    model = Script("maybe", "no", "yes")
    with shield(2).run() as run:
        found = run.repair(model, wants("yes"), 5)
        assert (found.reply, found.calls, len(model.asked)) == ("no", 2, 2)
        with pytest.raises(Refused, match="2 calls"):
            run.repair(model, wants("yes"), 5)


def test_what_ends_the_run_is_raised() -> None:
    model = Script("maybe", "no", "yes")
    with shield(1, "halt").run() as run, pytest.raises(Refused) as refused:
        run.repair(model, wants("yes"), 5)
    assert (refused.value.ended, len(model.asked)) == (True, 1)


def test_a_failure_is_raised_and_nobody_tries_again() -> None:
    model = Script(ConnectionError("gone"), "yes")
    policy = {"name": "mine", "guards": [{"use": "recovery"}]}
    with Shield.load(policy).run() as run, pytest.raises(ConnectionError):
        run.repair(model, wants("yes"), 3)
    assert len(model.asked) == 1


@pytest.mark.parametrize("budget", [-1, True, 1.0, "2", 101])
def test_a_budget_is_a_number(budget: Any) -> None:
    with shield().run() as run, pytest.raises(ValueError, match="`budget`"):
        run.repair(Script("yes"), wants("yes"), budget)


def test_misuse_is_told() -> None:
    def streams(messages: list[Any]) -> Iterator[str]:
        yield "yes"

    with shield().run() as run:
        with pytest.raises(TypeError, match="does not stream"):
            run.repair(streams, wants("yes"), 0)
        with pytest.raises(TypeError, match="`precheck`"):
            run.repair(Script("yes"), lambda _: True, 0)  # type: ignore[arg-type,return-value]
        with pytest.raises(TypeError, match=r"Run\.repair\(\).*`messages`"):
            run.repair(Script("yes"), wants("yes"), 0, mesages=[])  # type: ignore[call-arg]


def test_async_code_has_it_too() -> None:
    model = Script("no", "yes")

    async def ask(messages: list[Any], **params: Any) -> Any:
        return model(messages, **params)

    async def main() -> Any:
        async with shield().run() as run:
            return await run.arepair(ask, wants("yes"), 3)

    found = asyncio.run(main())
    assert (found.reply, found.calls) == ("yes", 2)


def journalled(limit: int, *guards: Any, action: str = "block") -> Shield:
    """A shield whose trail and store are at hand."""
    policy = {"name": "mine", "guards": [{"use": "budget", "calls": limit, "action": action}]}
    return Shield.load(policy, guards=list(guards), journal=MemoryJournal(), store=MemoryStore())


def recorded(made: Shield) -> int:
    """How many calls of a model the trail has that went ahead; each says what came of it."""
    trail: Any = made.journal
    entries = [kept.read() for kept in trail.kept()]
    went = [
        one for one in entries if one.kind == "intent" and one.stage == "model_call" and one.went
    ]
    assert len(went) == len([one for one in entries if one.kind == "outcome"])
    return len(went)


def charged(made: Shield) -> int:
    """How many calls were taken from the budget."""
    store: Any = made.store
    return sum(cell.number for cell in store.look() if "budget:one" in cell.key)


REPLIES = st.lists(st.sampled_from(["yes", "no", "I think so", "never"]), min_size=12, max_size=12)


@given(REPLIES, st.integers(0, 5), st.integers(1, 6))
def test_calls_trail_and_budget_agree(replies: list[str], budget: int, limit: int) -> None:
    model, made = Script(*replies), journalled(limit, OneWord())
    with made.run() as run:
        try:
            calls = run.repair(model, wants("yes"), budget).calls
        except Refused:
            calls = len(model.asked)
    assert 1 <= calls == len(model.asked) <= min(1 + budget, limit)
    assert recorded(made) == charged(made) == calls
