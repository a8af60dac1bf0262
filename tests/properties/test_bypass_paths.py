"""Whatever is asked, answered and waited for: only the very call that a yes was for goes past its
guardrail, once."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings, strategies as st

from stanchion import Refused
from stanchion.approvals import BypassRefused, TicketError
from stanchion.testing import FakeClock, shield_for
from tests.approvals.bypassing import WHY, Deeds, allowing, denies, policy

GUARDRAILS = ("first", "second")
AMOUNTS = (1, 2)

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("call"), st.sampled_from(AMOUNTS)),
        st.tuples(st.just("ask"), st.sampled_from(GUARDRAILS)),
        st.tuples(st.just("approve"), st.integers(0, 5)),
        st.tuples(st.just("deny"), st.integers(0, 5)),
        st.tuples(st.just("wait"), st.sampled_from((1, 899, 900))),
    ),
    max_size=24,
)


TO_BOTH: list[tuple[str, Any]] = [
    ("call", 1), ("ask", "first"), ("approve", 0), ("call", 1), ("ask", "second"), ("approve", 1),
]  # fmt: skip
"""The way to a yes for both guardrails."""


@settings(max_examples=150, deadline=None)
@given(STEPS)
@example([*TO_BOTH, ("call", 1), ("call", 1)])
@example([*TO_BOTH, ("call", 2), ("wait", 899), ("call", 1)])
@example([*TO_BOTH, ("wait", 900), ("call", 1)])
@example([*TO_BOTH, ("deny", 0), ("call", 1)])
def test_there_is_no_way_past_a_guardrail_but_a_yes_to_this_call_that_is_still_good(
    steps: list[tuple[str, Any]],
) -> None:
    clock, deeds = FakeClock(), Deeds()
    shield = shield_for(policy(denies("second", "pay", priority=90, **allowing())), clock=clock)
    run = shield.run("bot")
    asked: list[tuple[str, int, str]] = []
    good: dict[tuple[str, int], int] = {}
    last: dict[str, int] = {}
    now = 0
    for what, which in steps:
        match what:
            case "wait":
                clock.advance(which * 1_000)
                now += which
            case "ask" if str(which) in last:
                try:
                    made = run.request_bypass(str(which), WHY)
                    asked.append((str(which), last[str(which)], made.ticket))
                except BypassRefused:
                    pass
            case "approve" | "deny" if asked:
                guardrail, amount, ticket = asked[which % len(asked)]
                try:
                    if what == "approve":
                        shield.approve(ticket, by="kim")
                        good[guardrail, amount] = now + 900
                    else:
                        shield.deny(ticket, by="kim", comment="not this one")
                        good.pop((guardrail, amount), None)
                except TicketError:
                    pass
            case "call":
                before = len(deeds.done)
                may = all(now < good.get((one, which), -1) for one in GUARDRAILS)
                try:
                    run.call(deeds.pay, which)
                except Refused as error:
                    last[error.decision.findings[-1].guard] = which
                assert len(deeds.done) - before == may, (what, which, good, now)
                if may:
                    for one in GUARDRAILS:
                        del good[one, which]
