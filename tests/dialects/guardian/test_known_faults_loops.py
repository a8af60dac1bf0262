"""Faults of an earlier loop detector, by number; each test fails where Stanchion has the fault."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.runtime.run import Run
from stanchion.testing import shield_for

LOOPS: dict[str, Any] = {
    "name": "loops",
    "tools": {"status": {"annotations": ["poll"]}, "ping": {"annotations": ["idempotent"]}},
    "guards": [{"use": "loops"}],
}


def started() -> Run:
    """A run under the guard's defaults."""
    return shield_for(LOOPS).run("a")


def called(run: Run, tool: str, args: dict[str, Any], result: Any) -> str:
    """Call a tool as a host does, and report its result; the code of a refusal, or nothing."""
    decision = run.check(tool, args)
    if decision.proceeds:
        run.result(tool, args, result, call=decision.id)
    return decision.code


def test_fault_01_a_second_identical_call_goes_ahead() -> None:
    """`max_repeats` applies to calls in a row: two are allowed, the third is one too many."""
    run = started()
    assert [called(run, "read", {"path": "a"}, "text") for _ in range(3)] == [
        "",
        "",
        "loops.repeat",
    ]


def test_fault_01_polling_is_possible() -> None:
    """An identical call whose result changed is progress; one that is annotated has a limit of its
    own."""
    run = started()
    assert [called(run, "job", {}, f"{percent} %") for percent in range(0, 100, 5)] == [""] * 20
    assert [called(run, "status", {}, "running") for _ in range(50)] == [""] * 50
    assert [called(run, "ping", {}, "pong") for _ in range(6)] == ["", "", "loops.repeat"] * 2
    assert [run.check("ping", {}).proceeds for _ in range(2)] == [False] * 2, (
        "told from the third on, refused at last"
    )


def test_fault_01_retrying_is_possible() -> None:
    """A failure that passes may be tried again, and success ends the count."""
    run = started()
    for _ in range(3):
        decision = run.check("fetch", {})
        assert decision.proceeds
        run.error(
            "fetch", "ConnectionError", text="reset", fault="system", args={}, call=decision.id
        )
    assert called(run, "fetch", {}, "page") == "loops.errors", "a warning, and it goes ahead"
    assert called(run, "fetch", {}, "another page") == ""


def test_fault_01_runs_do_not_count_for_each_other() -> None:
    """History is per run, not per process."""
    shield = shield_for(LOOPS)
    codes = [called(shield.run("a"), "read", {"path": "a"}, "text") for _ in range(5)]
    assert codes == [""] * 5


def test_fault_01_a_true_circle_is_found_whatever_its_length() -> None:
    """Not only by counting: three calls that go round and round."""
    run = started()
    codes = [called(run, tool, {}, tool) for tool in "abcabcabc"]
    assert codes[:7] == [""] * 6 + ["loops.cycle"]


@pytest.mark.parametrize("key", ["arguments", "params", "input", "payload", "", "kwargs"])
def test_fault_04_arguments_under_any_key_tell_calls_apart(key: str) -> None:
    run = started()
    assert [
        called(run, "send", {key: {"to": name}}, "sent") for name in ("ada", "bob", "cay", "dan")
    ] == [""] * 4


def test_fault_04_an_added_space_evades_nothing() -> None:
    run = started()
    codes = [
        called(run, "find", {"q": words}, "none") for words in ("a house", "a house ", "a  house")
    ]
    assert codes == ["", "", "loops.repeat"]


def test_fault_04_arguments_that_are_no_json_raise_nothing() -> None:
    class Thing:
        """An object that no encoder knows."""

    run = started()
    for odd in (float("nan"), {1, 2}, Thing(), b"\xff", 10**5_000, {1: 2}):
        decision = run.check("keep", {"it": odd})
        assert decision.code in ("", "kernel.unread")
        assert not decision.errors
