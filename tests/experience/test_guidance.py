"""Whether to try again, and when; every code that speaks of it is known."""

from __future__ import annotations

import pytest

from stanchion.experience.guidance import (
    LATER,
    NOW,
    OVER,
    PEOPLE,
    CallBeside,
    again_of,
    at_ms_of,
    guidance_of,
)
from stanchion.experience.similarity import Difference, Similar
from stanchion.guards import SHIPPED
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision, Inputs
from stanchion.kernel.findings import Finding, Isolate
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import declared

BESIDE = CallBeside(
    ("find",), Similar("pay", "f", 1, 0, 0.5, (Difference("currency", "missing", "a text"),))
)


def refusing(code: str, action: Action = Action.BLOCK, *args: object, **more: object) -> Decision:
    terms = more.pop("terms", None)
    found = Finding(action, code, args, terms=terms)  # type: ignore[arg-type] # drawn
    return Decision("d", action, "p", (found,), inputs=Inputs(now=1_000), **more)  # type: ignore[arg-type] # drawn


@pytest.mark.parametrize(
    ("decision", "again"),
    [
        (refusing("tool.denied"), "changed"),
        (refusing("schema.missing", Action.RETRY), "changed"),
        (refusing("breaker.open"), "later"),
        (refusing("x.y", Action.QUEUE), "later"),
        (refusing("x.y", Action.QUARANTINE), "later"),
        (refusing("x.y", Action.ESCALATE), "approved"),
        (refusing("x.y", Action.HALT), "no"),
        (refusing("kernel.store_lost", Action.HALT), "no"),
        (refusing("steps.exceeded"), "no"),
        (refusing("kernel.lapsed"), "now"),
        (refusing("kernel.lapsed", withheld=Stage.TOOL_RESULT), "no"),
        (refusing("x.y", Action.RETRY, withheld=Stage.MODEL_REPLY), "changed"),
    ],
)
def test_whether_to_try_again(decision: Decision, again: str) -> None:
    assert again_of(decision) == again


def test_every_code_that_says_to_wait_or_to_repeat_is_later_now_or_a_person() -> None:
    """Advice and `again` must not contradict each other."""
    list(SHIPPED.values())
    import stanchion.approvals.words
    import stanchion.runtime.deciding.desk  # noqa: F401 - their codes are declared when they are loaded

    for code, words in declared().items():
        advice = words.advice.replace("do not repeat", "")
        if any(said in advice for said in ("try again", "wait a moment", "repeat the call to")):
            assert code in LATER | NOW | PEOPLE, code


def test_codes_that_are_named_are_declared() -> None:
    list(SHIPPED.values())
    import stanchion.approvals.words
    import stanchion.hosts.http.leaving
    import stanchion.runtime.calling.ledger
    import stanchion.runtime.remote.errors  # noqa: F401 - their codes are declared when they are loaded

    assert (LATER | NOW | OVER | PEOPLE) - {*declared()} == set()


def test_when_to_try_again_is_said_where_it_is_known() -> None:
    opened = refusing("breaker.open", Action.BLOCK, "pay", "60 seconds", "1970-01-01 00:01:00Z")
    assert at_ms_of(opened) == 60_000
    assert at_ms_of(refusing("breaker.open", Action.BLOCK, "pay", "60 seconds", "[erased]")) is None
    assert at_ms_of(refusing("x.y", Action.QUARANTINE, terms=Isolate(for_ms=500))) == 1_500
    assert at_ms_of(refusing("x.y")) is None
    assert at_ms_of(Decision("d", Action.ALLOW, "p")) is None


def test_alternatives_are_named_where_another_call_can_help() -> None:
    said = guidance_of(refusing("tool.denied", Action.BLOCK, "pay"), BESIDE)
    assert said.beside == BESIDE
    assert said.text.endswith(
        "the policy names an alternative: 'find'; beside a call that worked: 'currency' is missing "
        "(a text)"
    )
    for decision in (
        refusing("x.y", Action.HALT),
        refusing("x.y", Action.ESCALATE),
        refusing("kernel.lapsed"),
    ):
        assert not guidance_of(decision, BESIDE).beside
