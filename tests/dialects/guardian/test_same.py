"""A guardian decides and records what Stanchion does by the same policy, and the same for sync and
for async code."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from hypothesis import example, given, settings, strategies as st

from stanchion import Shield
from stanchion.dialects.guardian import GuardianLayer
from stanchion.dialects.guardian.calls import said
from stanchion.testing import FakeClock
from tests.dialects.guardian.playing import guarded
from tests.sampling import SOAK

TOOLS = [
    {
        "name": "search",
        "inputSchema": {
            "type": "object",
            "properties": {"q": {"type": "integer"}},
            "required": ["q"],
        },
    },
    {"name": "fetch", "inputSchema": {"type": "object"}},
]
ERRORS = (None, "timed out", "500 Internal Server Error", "invalid argument", "Account closed")

Step = tuple[str, Any, Any]
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("call"),
            st.sampled_from(["search", "fetch", "serch"]),
            st.tuples(st.integers(0, 2), st.sampled_from(ERRORS)),
        ),
        st.tuples(st.just("again"), st.integers(1, 6), st.sampled_from(ERRORS)),
        st.tuples(st.just("wait"), st.sampled_from([1_000, 60_000, 120_000]), st.none()),
        st.tuples(st.just("session"), st.none(), st.none()),
        st.tuples(st.just("aware"), st.none(), st.none()),
    ),
    max_size=25,
)
Said = list[Any]
ALL_LAYERS: list[Step] = [
    *[("call", "search", (1, None))] * 4,
    ("call", "serch", (1, None)),
    ("again", 6, "timed out"),
    ("wait", 60_000, None),
    *[("call", "fetch", (number, None)) for number in range(10, 14)],
    ("aware", None, None),
    ("session", None, None),
    ("call", "search", (1, None)),
]
"""Steps in which every layer refuses something."""


def calls_of(steps: list[Step]) -> list[tuple[str, Any, Any]]:
    """The steps, with those that repeat a failure written out."""
    plain: list[tuple[str, Any, Any]] = []
    for kind, what, more in steps:
        if kind == "again":
            plain += [("call", "fetch", (number, more)) for number in range(what)]
        else:
            plain.append((kind, what, more))
    return plain


async def through_dialect(
    guardian: GuardianLayer, clock: FakeClock, steps: list[Step], awaited: bool
) -> Said:
    found: Said = []
    for kind, what, more in calls_of(steps):
        if kind == "wait":
            clock.advance(what)
        elif kind == "session":
            guardian.reset()
        elif kind == "aware":
            found.append(
                await guardian.get_awareness_context_async()
                if awaited
                else guardian.get_awareness_context()
            )
        else:
            number, error = more
            call = {"tool": what, "arguments": {"q": number}}
            # Else what is known of a tool depends on how far a thread has come
            guardian.shield.experience.flush()
            result = await guardian.check_async(call) if awaited else guardian.check(call)
            found.append(result)
            if result["allowed"] and awaited:
                await guardian.report_result_async(call, error is None, error)
            elif result["allowed"]:
                guardian.report_result(call, error is None, error)
    return found


def through_stanchion(
    policy: dict[str, Any], clock: FakeClock, steps: list[Step]
) -> tuple[Said, list[bytes]]:
    numbers = itertools.count(1)
    found: Said = []
    options: Any = {"store": "memory:", "journal": "memory:", "clock": clock}
    with Shield.load(policy, nonces=lambda: f"n{next(numbers)}", **options) as shield:
        run = shield.run()
        shield.ingest(TOOLS)
        for kind, what, more in calls_of(steps):
            if kind == "wait":
                clock.advance(what)
            elif kind == "session":
                run.close()
                run = shield.run()
            elif kind == "aware":
                found.append(run.awareness())
            else:
                number, error = more
                args = {"q": number}
                shield.experience.flush()
                decision = run.check(what, args)
                found.append(said(decision.guardian_result(run.advice(what, args))))
                if decision.proceeds and error is None:
                    run.result(what, args, None, call=decision.id)
                elif decision.proceeds:
                    run.error(what, "", text=error, args=args, call=decision.id)
        return found, recorded(shield)


def recorded(shield: Shield) -> list[bytes]:
    return [one.body for one in shield.journal.kept()]


@settings(max_examples=200 if SOAK else 25)
@given(STEPS)
@example(ALL_LAYERS)
def test_the_same_as_stanchion_by_the_same_policy(steps: list[Step]) -> None:
    clock = FakeClock()
    with guarded(clock) as guardian:
        guardian.ingest_tools(TOOLS)
        found = asyncio.run(through_dialect(guardian, clock, steps, awaited=False))
        direct, records = through_stanchion(guardian.policy, FakeClock(), steps)
        assert found == direct
        if steps == ALL_LAYERS:
            reasons = " ".join([one["reason"] or "" for one in found if isinstance(one, dict)])
            assert all(
                words in reasons for words in ("in a row", "did you mean `search`", "keeps failing")
            )
            assert any(one["is_probe"] for one in found if isinstance(one, dict))
        assert recorded(guardian.shield) == records


@settings(max_examples=200 if SOAK else 15)
@given(STEPS)
@example(ALL_LAYERS)
def test_fault_6_async_and_sync_decide_and_record_the_same(steps: list[Step]) -> None:
    found = []
    for awaited in (False, True):
        clock = FakeClock()
        with guarded(clock) as guardian:
            guardian.ingest_tools(TOOLS)
            results = asyncio.run(through_dialect(guardian, clock, steps, awaited))
            found.append((results, recorded(guardian.shield), guardian.get_metrics()))
    assert found[0] == found[1]
