"""Faults 6 and 11 of GuardianLayer, as cases that must not come back: its async path, and its HTTP
server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stanchion.telemetry.exposition import answer
from stanchion.testing import FakeClock, shield_for

Said = list[tuple[str, str, str]]


async def played(run: Any, awaited: bool) -> Said:
    """Calls that are allowed, repeated, refused and fail, and what is advised after each."""
    said = []
    for number in range(14):
        tool, args = ("search", {"q": "same"}) if number < 5 else ("fetch", {"n": number})
        decision = await run.acheck(tool, args) if awaited else run.check(tool, args)
        if decision.proceeds and tool == "search":
            told = {"call": decision.id}
            after = (
                await run.aresult(tool, args, "x", **told)
                if awaited
                else run.result(tool, args, "x", **told)
            )
        elif decision.proceeds:
            failed = ConnectionError("down")
            after = (
                await run.aerror(tool, failed, args=args)
                if awaited
                else run.error(tool, failed, args=args)
            )
        else:
            after = decision
        advice = await run.aadvice(tool, args) if awaited else run.advice(tool, args)
        said.append((str(decision.guardian_result()), after.code, advice))
    said.append(("", "", await run.aawareness() if awaited else run.awareness()))
    return said


def test_fault_6_async_and_sync_decide_advise_and_keep_the_same() -> None:
    """Verdicts differed there, and so did what was recorded."""
    found = []
    for awaited in (False, True):
        shield = shield_for("guardian", clock=FakeClock())
        said = asyncio.run(played(shield.run("a", id="r"), awaited))
        known = shield.reliability("fetch")
        health = shield.health("search"), shield.health("fetch")
        found.append(
            (said, known.successes, known.failures, shield.reliability("search").successes, health)
        )
        shield.close()
    assert found[0] == found[1]
    said = found[0][0]
    assert any("keeps failing" in words for words, _, _ in said), "the breaker has spoken"
    assert any("in a row" in words for words, _, _ in said), "and so have loops"
    assert "failed 5x" in said[-1][2]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_fault_11_what_answers_by_http_changes_nothing(method: str) -> None:
    """Anybody could reset tools there. Here only figures are given by HTTP, and nothing is read for
    other methods."""

    def never() -> list[Any]:
        raise AssertionError("the figures were read")

    made = answer(never, method, "*/*")
    assert made.status == 405


def test_fault_11_no_other_site_may_read_an_answer() -> None:
    made = answer(list, "GET", "*/*")
    assert made.status == 200
    assert not [name for name, _ in made.headers if name.lower().startswith("access-control-")]
