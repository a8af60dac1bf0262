"""Recovery: the terms of its retries and the effects of its findings, which a table does not
show."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.guards.recovery import Recovery
from stanchion.kernel.events import Failure, RunInfo
from stanchion.kernel.findings import ROLLBACK, Finding, Isolate, Retry
from stanchion.readings import read


def failure(error: str = "ConnectionError", **fields: Any) -> Failure:
    """A failure of a tool that can be repeated."""
    given = {"tool": "t", "traits": ("read",), **fields}
    return Failure(id="e", at=1, run=RunInfo("r"), error=error, **given)


def judged(guard: Recovery, event: Failure) -> Finding:
    finding = guard.judge(read(event))
    assert finding is not None
    return finding


def test_the_defaults_are_those_of_the_retry_container() -> None:
    """Three retries, one second doubling to thirty, a quarter of jitter; twenty in a run."""
    assert judged(Recovery(), failure()).terms == Retry(3, 1_000, 2.0, 30_000, 0.25, 20)


def test_a_policy_s_own_terms_are_carried() -> None:
    """All of them."""
    guard = Recovery(
        max_retries=7,
        per_run=9,
        backoff_base_s=0.25,
        backoff_max_s=2.5,
        jitter=0.5,
    )
    assert judged(guard, failure()).terms == Retry(7, 250, 2.0, 2_500, 0.5, 9)


@pytest.mark.parametrize(
    ("options", "effects"),
    [
        ({}, (ROLLBACK,)),
        ({"on_fatal": "block"}, ()),
    ],
)
def test_a_fatal_error_rolls_back_where_it_is_to(
    options: dict[str, Any], effects: tuple[str, ...]
) -> None:
    """By its reaction."""
    assert judged(Recovery(**options), failure("MemoryError")).effects == effects


def test_only_fatal_errors_roll_back_beside_another_reaction() -> None:
    """What nobody can tell is not undone, unless that is its reaction."""
    unknown = failure("Odd", fault="unknown")
    assert judged(Recovery(), unknown).effects == ()
    assert judged(Recovery(on_unknown="rollback"), unknown).effects == (ROLLBACK,)


def test_a_quarantine_has_its_terms() -> None:
    """What, and for how long; other reactions have none."""
    guard = Recovery(on_fatal="quarantine", isolate="agent")
    assert judged(guard, failure("MemoryError")).terms == Isolate("agent", 300_000)
    assert judged(Recovery(), failure("MemoryError")).terms is None


def test_what_the_runtime_knows_to_be_harmless_is_safe_to_repeat() -> None:
    """Also for what happens once."""
    assert judged(Recovery(), failure(traits=("once",))).code == "recovery.unsafe"
    assert judged(Recovery(), failure(traits=("once", "harmless"))).code == "recovery.recoverable"


def test_a_failure_that_says_nothing_of_its_fault_is_unknown() -> None:
    """A fault that nobody filled in is not an innocent one."""
    assert Recovery().severity(failure("Odd")) == "unknown"
    assert Recovery(ignore=("unknown",)).judge(read(failure("Odd"))) is None
