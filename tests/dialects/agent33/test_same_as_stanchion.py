"""The dialect is Stanchion in other words: the same calls give the same decisions and records, sync
and async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import given, settings, strategies as st

from stanchion import Decision, Run
from stanchion.dialects.agent33 import Hooks
from stanchion.dialects.agent33.guardrails import policy_for
from stanchion.testing import FakeClock, shield_for
from tests.dialects.agent33.rails import WHY, only, rail, rails

SOURCE = {
    "guardrails": [
        rail("event.tool != 'deploy'", bypass={"allowed": True, "requires_approval": "reviewer"}),
        {**rail("event.tool != 'pay'", "warn", priority=20), "id": "safety-051"},
        {**rail("event.tool != 'mail'", "escalate", priority=30), "id": "safety-052"},
        {**rail("event.tool != 'pay'", "warn", "post_execution"), "id": "safety-053"},
    ],
    "safety_guardrails": only(140)[:1],
}
SETTINGS: dict[str, Any] = {
    "agents": {
        "ann": {"allowed_tools": ["deploy", "pay", "mail", "bash", "read"]},
        "rob": {"capabilities": ["review"]},
    },
    "tasks": {"fix": {"token_budget": 100, "scope": {"files": {"write": ["src/**"]}}}},
    "policy": {"tools": {"read": {"annotations": ["idempotent"]}}},
}
TOOLS = st.sampled_from(["deploy", "pay", "mail", "bash", "read", "other"])
ARGS = st.sampled_from([{}, {"command": "ls"}, {"command": "rm -rf /"}, {"path": "src/a.py"}])
ERRORS = st.sampled_from(["ConnectionError", "MemoryError", "KeyError"])


class Step(NamedTuple):
    """One call, in the words of the dialect and in Stanchion's own."""

    hook: str
    args: tuple[Any, ...]
    said: dict[str, Any]
    stanchions: str
    own: dict[str, Any]


def executing(tool: str, args: dict[str, str], tokens: int) -> Step:
    return Step(
        "pre_execution", (tool, args), {"estimated_tokens": tokens}, "check", {"tokens": tokens}
    )


def executed(tool: str, args: dict[str, str], output: str) -> Step:
    return Step("post_execution", (tool, args, output), {}, "result", {})


def handing(to: str, rationale: str | None) -> Step:
    said: dict[str, Any] = {"context": {"a": 1}, "artifacts": [], "rationale": rationale}
    return Step("pre_handoff", (to,), said, "handoff", said)


def failing(tool: str, error: str, attempt: int) -> Step:
    return Step("on_error", (tool, error), {"attempt": attempt}, "error", {"attempt": attempt})


STEPS = st.lists(
    st.one_of(
        st.builds(executing, TOOLS, ARGS, st.integers(0, 40)),
        st.builds(executed, TOOLS, ARGS, st.sampled_from(["", "words", "Error: no"])),
        st.builds(handing, st.sampled_from(["rob", "eve"]), st.sampled_from(["done", None])),
        st.builds(failing, TOOLS, ERRORS, st.integers(1, 5)),
    ),
    max_size=12,
)


def trail(shield: Any) -> list[bytes]:
    return [one.body for one in shield.journal.kept()]


def dialects(
    play: Callable[[Hooks, Step], Any], steps: list[Step]
) -> tuple[list[Any], list[bytes]]:
    made = rails(SOURCE, clock=FakeClock(), **SETTINGS)
    hooks = made.hooks("ann", "fix", id="r")
    told = [play(hooks, step) for step in steps]
    for one in told:
        assert one.final_verdict == one.decision.chain_result().final_verdict
        assert one.proceeds == one.decision.proceeds
    return [one.decision for one in told], trail(made.shield)


def stanchions(steps: list[Step]) -> tuple[list[Decision], list[bytes]]:
    shield = shield_for(policy_for(SOURCE, **SETTINGS), clock=FakeClock())
    run: Run = shield.run("ann", "fix", id="r")
    return [getattr(run, step.stanchions)(*step.args, **step.own) for step in steps], trail(shield)


def said(decisions: list[Any]) -> list[Any]:
    return [
        (one.id, one.action, one.policy, one.findings, one.skipped, one.effects)
        for one in decisions
    ]


@settings(max_examples=8, deadline=None)
@given(STEPS)
def test_drawn_calls_give_the_decisions_and_records_of_stanchion(steps: list[Step]) -> None:
    """And the same through the async hooks."""
    own, records = stanchions(steps)
    for play in (
        lambda hooks, step: getattr(hooks, step.hook)(*step.args, **step.said),
        lambda hooks, step: asyncio.run(getattr(hooks, f"a{step.hook}")(*step.args, **step.said)),
    ):
        made, kept = dialects(play, steps)
        assert said(made) == said(own)
        assert kept == records


def test_async_code_hands_over_asks_and_executes_as_sync_code_does() -> None:
    """What draws nothing of interest: the end of a handoff, requests, and whole calls."""

    async def work() -> list[Any]:
        made = rails(SOURCE, clock=FakeClock(), **SETTINGS)
        async with made.hooks("ann", "fix") as hooks:
            handed = await hooks.apre_handoff(
                "rob", context={"a": 1}, artifacts=[], rationale="done"
            )
            done = await hooks.apost_handoff("rob", after=handed)
            await hooks.apre_execution("deploy", {})
            made.approve(await hooks.arequest_bypass("safety-050", WHY), by="kim")
            passed = await hooks.apre_execution("deploy", {})

            async def read() -> str:
                return "words"

            asked = await hooks.aescalate("the customer waits for it today")
            return [
                handed.final_verdict,
                done.final_verdict,
                passed.final_verdict,
                await hooks.aexecute(read),
                made.escalation(asked).agent_id,
            ]

    def same() -> list[Any]:
        made = rails(SOURCE, clock=FakeClock(), **SETTINGS)
        with made.hooks("ann", "fix") as hooks:
            handed = hooks.pre_handoff("rob", context={"a": 1}, artifacts=[], rationale="done")
            done = hooks.post_handoff("rob", after=handed)
            hooks.pre_execution("deploy", {})
            made.approve(hooks.request_bypass("safety-050", WHY), by="kim")
            passed = hooks.pre_execution("deploy", {})

            def read() -> str:
                return "words"

            asked = hooks.escalate("the customer waits for it today")
            return [
                handed.final_verdict,
                done.final_verdict,
                passed.final_verdict,
                hooks.execute(read),
                made.escalation(asked).agent_id,
            ]

    assert asyncio.run(work()) == same() == ["pass", "pass", "pass", "words", "ann"]
