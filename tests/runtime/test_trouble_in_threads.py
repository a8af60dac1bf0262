"""What was decided about an error stands on that error, whatever fails in other threads of the run
meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from stanchion import Run, Tool
from stanchion.kernel.state import Batch
from stanchion.runtime.deciding.faults import told_on
from stanchion.testing import FakeClock, ScriptedTool, shield_for
from tests.runtime.stepping import Stepped

THREADS = 6
CALLS = 15
POLICY = {"name": "recovering", "guards": [{"use": "recovery", "backoff_base_s": 0}]}


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    """Threads that take turns at nearly every step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_every_error_says_what_was_decided_about_it() -> None:
    run = shield_for(POLICY).run("a")
    gate = Barrier(THREADS)

    def fails(name: str) -> None:
        raise ConnectionResetError(name)

    def call(number: int) -> list[tuple[str, str]]:
        name, said = f"tool{number}", []
        tool = Tool(fails, name)
        gate.wait()
        for turn in range(CALLS):
            with pytest.raises(ConnectionResetError) as raised:
                run.call(tool, f"{name} {turn}")
            trouble = told_on(raised.value)
            assert trouble is not None
            said.append((trouble.tool, trouble.text))
        return said

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(call, range(THREADS)))
    assert found == [
        [(f"tool{n}", f"tool{n} {turn}") for turn in range(CALLS)] for n in range(THREADS)
    ]
    assert run.last_error is not None


class Between(Stepped):
    """Lets another call of the run fail while the first one asks whether it may be tried again."""

    def __init__(self, run: Run, clock: FakeClock) -> None:
        super().__init__(run, clock)
        self._own = run

    def do(self, need: Any) -> Any:
        """The same, and before retries are counted another call fails."""
        if isinstance(need, Batch) and "retry:run" in repr(need):
            with pytest.raises(ValueError, match="another"):
                self._own.call(ScriptedTool(ValueError("another"), name="other"))
        return super().do(need)


def test_a_failure_in_between_is_not_taken_for_the_call_s_own() -> None:
    tools = {"flaky": {"annotations": ["idempotent"]}}
    guard = {"use": "recovery", "backoff_base_s": 0, "max_retries": 2, "per_run": 0}
    clock = FakeClock()
    run = shield_for({"name": "none", "tools": tools, "guards": [guard]}, clock=clock).run("a")
    with pytest.raises(ConnectionResetError) as raised:
        Between(run, clock).call(ScriptedTool(ConnectionResetError("own"), name="flaky"))
    trouble = told_on(raised.value)
    assert trouble is not None
    assert (trouble.tool, trouble.text) == ("flaky", "own")
    assert trouble.ended == "not tried again: all 0 retries of the run are used"
    assert run.last_error is not None
    assert (run.last_error.tool, run.last_error.ended) == ("other", ""), (
        "the failure that came last"
    )
