"""Deep rules as they are asked: routes by risk, an inbox for each run, rest, kept answers, what
they cost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from stanchion import Action, Finding, Shield
from stanchion.kernel.lookups import Answered, Expired, Failed
from stanchion.runtime.answers.deep import (
    DeepRules,
    DeepTerms,
    Inbox,
    KeptAnswers,
    RuleBreaker,
    key_of,
)
from stanchion.telemetry.catalogue import RULE_QUESTIONS
from stanchion.testing import shield_for
from tests.runtime.test_pool import until

LONG_MS = 30_000
RISKS: dict[str, Any] = {risk: {"risk": risk} for risk in ("low", "medium", "high", "critical")}


class Code:
    """A deep rule's code that does what it is told: answers, raises, or waits until it is let
    go."""

    id = "rule"
    deep = True
    deadline_ms = LONG_MS

    def __init__(self, answer: Any = None, hangs: bool = False) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.go = threading.Event()
        if not hangs:
            self.go.set()

    def judge(self, event: Any) -> Any:
        self.asked.append(event.tool)
        self.go.wait(30)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def hung() -> Iterator[Code]:
    """Code that hangs until the end of a test."""
    code = Code("no", hangs=True)
    yield code
    code.go.set()


def shielded(code: Any, **deep: Any) -> Shield:
    """A shield with one deep rule and a tool of every risk."""
    return shield_for({"name": "deep", "tools": RISKS, "deep": deep}, guards=[code])


def counts(shield: Shield) -> dict[str, int]:
    """What became of the rule's questions."""
    return {outcome: number for (_, outcome), number in shield.answers.counted().items()}


def guard_of(shield: Shield, name: str) -> Any:
    """A guard of the policy in force."""
    placed = shield.policy.placed(name)
    assert placed is not None
    return placed.guard


SHORT = {"critical_wait_ms": 1, "high_wait_ms": 1, "medium_wait_ms": 1}


@pytest.mark.parametrize(
    ("risk", "action", "codes"),
    [
        ("low", Action.ALLOW, []),
        ("medium", Action.ALLOW, ["kernel.lookup_late"]),
        ("high", Action.ESCALATE, ["kernel.lookup_undecided"]),
        ("critical", Action.BLOCK, ["kernel.lookup_expired"]),
    ],
)
def test_what_a_late_rule_amounts_to_goes_by_risk(
    hung: Code, risk: str, action: Action, codes: list[str]
) -> None:
    with shielded(hung, **SHORT) as shield:
        decision = shield.run("a").check(risk, {})
        assert decision.action is action
        assert [finding.code for finding in decision.findings] == codes
        assert decision.inputs.answers == (() if risk == "low" else (("rule", Expired(1)),))


def test_the_documented_waits_are_the_usual_ones() -> None:
    with shielded(Code()) as shield:
        assert guard_of(shield, "rule").waits == {
            "low": 0,
            "medium": 100,
            "high": 200,
            "critical": 200,
        }


def test_a_rule_has_waits_of_its_own_over_those_of_the_policy() -> None:
    rule = {
        "use": "python",
        "id": "r",
        "call": "tests.guards.house_rules:no_force",
        "deep": True,
        "waits": {"high": 7},
    }
    shield = shield_for(
        {"name": "own", "deep": {"high_wait_ms": 300, "low_wait_ms": 9}, "guards": [rule]}
    )
    assert guard_of(shield, "r").waits == {"low": 9, "medium": 100, "high": 7, "critical": 200}


@pytest.mark.parametrize("given", [{"waits": {"high": 7}}, {"cache": True}], ids=str)
def test_what_only_deep_guards_have_is_refused_for_others(given: dict[str, Any]) -> None:
    rule = {"use": "python", "call": "tests.guards.house_rules:no_force", **given}
    with pytest.raises(ValueError, match="is for deep guards"):
        shield_for({"name": "own", "guards": [rule]})


def test_a_wait_for_what_is_no_risk_is_an_error() -> None:
    rule = {"use": "scope_classifier", "waits": {"hgih": 7}}
    with pytest.raises(ValueError, match="`waits` has `hgih`, which is no risk"):
        shield_for({"name": "own", "guards": [rule]})


def test_what_a_low_risk_call_did_not_wait_for_enters_the_next_event() -> None:
    code = Code("that was bad", hangs=True)
    with shielded(code) as shield:
        run = shield.run("a")
        assert run.check("low", {}).findings == ()
        code.go.set()
        until(lambda: len(run.desk._late) == 1)
        following = run.model_reply("hello")
        assert (following.action, following.code) == (Action.ESCALATE, "kernel.late_answer")


def test_a_run_has_so_many_open_questions_and_no_more(hung: Code) -> None:
    with shielded(hung, questions_for_a_run=3, **SHORT) as shield:
        run, other = shield.run("a"), shield.run("b")
        for _ in range(10):
            assert run.check("low", {}).proceeds
        assert run.check("critical", {}).code == "kernel.lookup_expired"
        assert counts(shield) == {"asked": 3, "full": 8}
        assert other.check("low", {}).proceeds
        assert counts(shield)["asked"] == 4


def has_answered(shield: Shield, number: int) -> bool:
    """Whether the rule has answered so often."""
    return counts(shield)["answered"] == number


def test_what_became_of_questions_is_a_metric(hung: Code) -> None:
    with shielded(hung, questions_for_a_run=1) as shield:
        run = shield.run("a")
        for _ in range(3):
            run.check("low", {})
        told = {
            one.labels: one.values
            for one in shield.telemetry.collect()
            if one.metric == RULE_QUESTIONS.name
        }
        assert told == {("rule", "asked"): (1,), ("rule", "full"): (2,)}


def test_a_place_in_the_inbox_is_free_again_after_the_answer() -> None:
    with shielded(Code(), questions_for_a_run=1) as shield:
        run = shield.run("a")
        for number in range(1, 6):
            assert run.check("critical", {}).proceeds
            until(partial(has_answered, shield, number))
        assert "full" not in counts(shield)


def test_the_inbox_holds_under_many_threads(hung: Code) -> None:
    with shielded(hung, questions_for_a_run=5) as shield:
        run = shield.run("a")
        threads = [threading.Thread(target=run.check, args=("low", {})) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counts(shield) == {"asked": 5, "full": 35}


def test_questions_that_have_not_begun_never_do_once_the_run_is_over(hung: Code) -> None:
    with shield_for({"name": "d", "tools": RISKS}, guards=[hung], answer_threads=1) as shield:
        run = shield.run("a")
        for _ in range(5):
            run.check("low", {})
        until(lambda: len(hung.asked) == 1)
        run.close()
        assert counts(shield) == {"asked": 5, "dropped": 4}
        hung.go.set()
        until(lambda: counts(shield).get("answered") == 1)
        assert len(hung.asked) == 1


@pytest.mark.parametrize("answer", [RuntimeError("x"), 7], ids=["raises", "rubbish"])
def test_a_rule_that_fails_in_a_row_is_left_alone_and_counts_as_late(answer: Any) -> None:
    code = Code(answer)
    with shielded(code, rest_after=3, rest_s=1_000) as shield:
        run = shield.run("a")
        said = [run.check("critical", {}).code for _ in range(6)]
        assert said == ["kernel.lookup_failed"] * 3 + ["kernel.lookup_expired"] * 3
        assert len(code.asked) == 3
        assert run.check("medium", {}).proceeds
        assert counts(shield) == {"asked": 3, "failed": 3, "resting": 4}


def test_late_answers_in_a_row_have_it_rest_too(hung: Code) -> None:
    with shielded(hung, rest_after=2, rest_s=1_000, **SHORT) as shield:
        run = shield.run("a")
        for _ in range(5):
            assert run.check("critical", {}).action is Action.BLOCK
        assert counts(shield) == {"asked": 2, "late": 2, "resting": 3}


def test_an_answer_in_time_begins_the_count_anew() -> None:
    code = Code(RuntimeError())
    with shielded(code, rest_after=2, rest_s=1_000) as shield:
        run = shield.run("a")
        for answer in (RuntimeError(), None, RuntimeError(), None):
            code.answer = answer
            assert run.check("critical", {}).proceeds is (answer is None)
        assert "resting" not in counts(shield)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_after_its_rest_one_question_tries_a_rule() -> None:
    clock = Clock()
    breaker = RuleBreaker(2, 30, clock)
    breaker.failed()
    assert breaker.lets()
    breaker.failed()
    assert not breaker.lets()
    clock.now = 30
    assert [breaker.lets(), breaker.lets()] == [True, False]
    breaker.failed()
    clock.now = 59
    assert not breaker.lets()
    clock.now = 60
    assert breaker.lets()
    breaker.passed()
    assert breaker.lets()
    breaker.failed()
    assert breaker.lets()


class Plain:
    """A deep rule by its contract alone."""

    paid = False

    def __init__(self, version: str = "1") -> None:
        self.rule_version = version

    def content(self, payload: Any) -> Any:
        return payload

    def checked(self, value: Any) -> Any:
        if value == "rubbish":
            raise ValueError
        return value

    def cost(self, _value: Any) -> tuple[int, int]:
        return 5, 7


class Told:
    """A question that can be told to stop."""

    def __init__(self) -> None:
        self.stopped = 0

    def abandon(self) -> None:
        self.stopped += 1


def test_a_question_is_told_to_stop_at_the_end_of_its_time_box() -> None:
    clock = Clock()
    rules = DeepRules(clock)
    rules.enter(
        "p", [("r", Plain())], DeepTerms(questions_for_a_run=1, time_box_s=10, rest_after=2)
    )
    rule, inbox, told = rules.of("p", "r"), Inbox(), Told()
    assert rule is not None
    first: Any = rule.enter("t", 1, inbox, lambda *_: None)
    first.one = told
    assert rule.enter("t", 2, inbox, lambda *_: None) is None
    assert told.stopped == 0
    clock.now = 10
    second: Any = rule.enter("t", 2, inbox, lambda *_: None)
    assert told.stopped == 1
    first.answered(Answered("too late to count"))
    assert rules.counted() == {
        ("r", "asked"): 2,
        ("r", "full"): 1,
        ("r", "late"): 1,
        ("r", "dropped"): 1,
    }
    second.answered(Failed("OSError"))
    assert rule.enter("t", 3, inbox, lambda *_: None) is None


def test_answers_are_kept_by_tenant_rule_version_and_content() -> None:
    rules = DeepRules(Clock())
    paid: list[tuple[int, int]] = []
    rules.enter("p", [("r", Plain()), ("other", Plain())], DeepTerms())
    rules.enter("q", [("r", Plain("2"))], DeepTerms())
    inbox = Inbox()

    def ask(policy: str, rule: str, tenant: str, content: Any) -> Any:
        found = rules.of(policy, rule)
        assert found is not None
        return found.enter(tenant, content, inbox, lambda *cost: paid.append(cost))

    answer = Answered({"verdict": "refuse"})
    ask("p", "r", "t", ["x"]).answered(answer)
    assert paid == [(5, 7)]
    assert ask("p", "r", "t", ["x"]) is answer
    assert paid == [(5, 7)]
    asked_anew = [
        ("p", "r", "t", ["y"]),
        ("p", "r", "u", ["x"]),
        ("p", "other", "t", ["x"]),
        ("q", "r", "t", ["x"]),
    ]
    assert not [one for one in asked_anew if isinstance(ask(*one), Answered)]


class Broken(Plain):
    """A rule that cannot even say what its answers depend on, or what they cost."""

    def content(self, payload: Any) -> Any:
        raise RuntimeError

    def cost(self, value: Any) -> tuple[int, int]:
        raise RuntimeError


def test_a_rule_that_breaks_the_contract_keeps_nobody_waiting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rules, inbox = DeepRules(Clock()), Inbox()
    rules.enter("p", [("r", Broken())], DeepTerms(questions_for_a_run=1))
    rule = rules.of("p", "r")
    assert rule is not None
    for _ in range(2):
        entry: Any = rule.enter("t", 1, inbox, lambda *_: None)
        entry.answered(Answered(1))
    assert rules.counted() == {("r", "asked"): 2, ("r", "answered"): 2}
    assert "could not be charged" in caplog.text


def test_kept_answers_are_bounded_and_the_least_used_makes_way() -> None:
    kept = KeptAnswers(2)
    keys = [key for number in range(3) if (key := key_of("t", "r", "1", number)) is not None]
    for key in keys[:2]:
        kept.put(key, Answered(1))
    kept.get(keys[0])
    kept.put(keys[2], Answered(1))
    assert [kept.get(key) is not None for key in keys] == [True, False, True]
    kept.put(keys[1], Answered("x" * 100_000))
    assert kept.get(keys[1]) is None
    assert key_of("t", "r", "1", object()) is None


CALLS: list[str] = []


def counted(event: Any) -> str | None:
    """A rule that counts how often it is asked."""
    CALLS.append(event.tool)
    return "no" if event.args.get("bad") else None


def test_a_kept_answer_is_recorded_as_the_answer_it_was_and_used_at_low_risk() -> None:
    CALLS.clear()
    rule = {"use": "python", "id": "r", "call": f"{__name__}:counted", "deep": True, "cache": True}
    rule |= {"waits": {"critical": LONG_MS}, "deadline_ms": LONG_MS}
    policy = {"name": "cached", "tools": {**RISKS, "t": {"risk": "critical"}}, "guards": [rule]}
    with shield_for(policy) as shield:
        first = shield.run("a").check("t", {"bad": True})
        again = shield.run("a").check("t", {"bad": True})
        assert (first.code, again.code, CALLS) == ("python.refused", "python.refused", ["t"])
        assert first.inputs.answers == again.inputs.answers == (("r", Answered("no")),)
        assert shield.run("a").check("t", {}).proceeds
        assert shield.run("b").check("t", {"bad": True}).code == "python.refused"
        assert CALLS == ["t", "t", "t"]


def test_async_code_of_a_low_risk_call_is_asked_beside_it() -> None:
    async def story() -> tuple[Any, Any]:
        go = asyncio.Event()

        class Waits:
            id = "rule"
            deep = True

            async def judge(self, _event: Any) -> str:
                await go.wait()
                return "no"

        shield = shielded(Waits())
        async with shield.run("a") as run:
            first = await run.acheck("low", {})
            go.set()
            while not run.desk._late:
                await asyncio.sleep(0)
            return first, await run.ajudge("model_reply", text="hello")

    first, following = asyncio.run(story())
    assert (first.findings, first.inputs.answers) == ((), ())
    assert following.code == "kernel.late_answer"


class Meets:
    """Code that waits until as many questions are worked on as it is told; one of them alone never
    ends."""

    id, deep, deadline_ms = "rule", True, LONG_MS

    def __init__(self, many: int) -> None:
        self._all = threading.Barrier(many)
        self.done = 0

    def judge(self, _event: Any) -> None:
        self._all.wait(30)
        self.done += 1


def test_questions_beside_calls_are_worked_on_side_by_side_though_each_call_wakes_nobody() -> None:
    """Who was called takes what waits, and calls the next before it begins."""
    code = Meets(8)
    with shielded(code) as shield:
        run = shield.run("a")
        for number in range(8):
            run.check("low", {"n": number})
        until(lambda: code.done == 8)
        until(lambda: counts(shield).get("answered") == 8)


def test_threads_that_ask_at_once_never_have_more_questions_open_than_a_run_may(hung: Code) -> None:
    with shielded(hung, questions_for_a_run=3) as shield:
        run = shield.run("a")
        threads = [
            threading.Thread(target=run.check, args=("low", {"n": number})) for number in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        told = counts(shield)
        assert told["asked"] <= 3
        assert told["asked"] + told["full"] == 12


LONG = "x" * 100_000


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (LONG, "answered"),
        (Finding(Action.WARN, "rule.noted", (LONG, *["x"] * 100_000)), "answered"),
        (Finding(Action.WARN, "rule.noted", text=LONG, guidance=LONG), "answered"),
        (Finding(Action.WARN, "rule.noted", effects=("flag_trajectory",) * 1_000), "failed"),
        ([LONG] * 1_000, "failed"),
    ],
    ids=["text", "arguments", "words", "effects", "rubbish"],
)
def test_a_flood_of_words_is_cut_before_it_enters_the_next_event(answer: Any, outcome: str) -> None:
    with shielded(Code(answer)) as shield:
        run = shield.run("a")
        run.check("low", {})
        until(lambda: counts(shield).get(outcome) == 1)
        found = run.check("low", {}).findings
        assert len(found) == (outcome == "answered")
        assert all(len(finding.message) + len(str(finding.args)) < 10_000 for finding in found)


def test_what_a_rule_breaks_on_after_its_call_is_in_the_log_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    code = Code(KeyError("row"))
    with shielded(code, low_wait_ms=0) as shield:
        run = shield.run()
        for number in range(3):
            run.check("low", {"number": number})
            until(partial(lambda so_many: counts(shield).get("failed", 0) > so_many, number))
        assert caplog.text.count("the deep rule `rule` failed with `KeyError`") == 1
