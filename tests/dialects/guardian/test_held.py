"""What the document promises of loops and circuits where calls of several kinds come together."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.dialects.guardian import CircuitState
from stanchion.testing import FakeClock
from tests.dialects.guardian.playing import call, guarded

WORDS = (
    "amber",
    "birch",
    "cedar",
    "dunes",
    "ember",
    "fjord",
    "grove",
    "heath",
    "inlet",
    "jetty",
    "knoll",
    "lagoon",
)
OTHERS = [call("other", city=word) for word in WORDS]


@pytest.mark.parametrize("outcome", [None, {}, {"result": "same"}])
def test_a_call_is_repeated_too_often_though_others_stand_between(
    outcome: dict[str, Any] | None,
) -> None:
    with guarded() as guardian:
        went: list[bool] = []
        for other in OTHERS:
            for one in (other, call("t", a=1)):
                allowed = guardian.check(one)["allowed"]
                if allowed and outcome is not None:
                    guardian.report_result(one, True, **outcome)
                went.append(allowed)
        assert went[::2] == [True] * len(OTHERS), "each of the others is made once"
        assert went[1::2] == [True, True] + [False] * (len(OTHERS) - 2)
        assert guardian.loop_detector.get_metrics()["by_kind"]["excessive"] >= 1


def test_a_call_whose_own_result_changes_is_not_repeated_too_often() -> None:
    with guarded() as guardian:
        for number, other in enumerate(OTHERS):
            assert guardian.check(other)["allowed"]
            assert guardian.check(call("status"))["allowed"]
            guardian.report_result(call("status"), True, result=f"{number} %")


def test_a_call_is_forgotten_once_the_window_has_passed() -> None:
    with guarded(max_history=4) as guardian:
        assert [guardian.check(call("t"))["allowed"] for _ in range(3)] == [True, True, False]
        assert [guardian.check(other)["allowed"] for other in OTHERS[:4]] == [True] * 4
        assert guardian.check(call("t"))["allowed"]


def test_only_the_circuit_refuses_a_tool_that_fails_in_the_same_way() -> None:
    clock = FakeClock()
    with guarded(clock) as guardian:
        for number, word in enumerate(WORDS):
            result = guardian.check(call("t", word=word))
            assert (result["allowed"], result["is_probe"]) == (True, number >= 5)
            guardian.report_result(call("t", word=word), False, "timeout")
            clock.advance(3_600_000)
        assert guardian.loop_detector.get_metrics()["loops_detected"] == 0


@pytest.mark.parametrize(
    ("error", "opens"), [("timeout", True), ("invalid input: not found", False)]
)
def test_the_threshold_is_reached_and_a_users_errors_never_reach_it(
    error: str, opens: bool
) -> None:
    with guarded(failure_threshold=10) as guardian:
        for word in WORDS[:10]:
            assert guardian.check(call("t", word=word))["allowed"]
            guardian.report_result(call("t", word=word), False, error)
        state = guardian.health_monitor.get_health("t").state
        assert state is (CircuitState.OPEN if opens else CircuitState.CLOSED)
        assert guardian.check(call("t", word="last"))["allowed"] is not opens
