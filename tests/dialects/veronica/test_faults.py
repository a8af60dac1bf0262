"""The faults of the public implementation once more, through the dialect; each test fails where it
has the fault."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stanchion.audit.journal import MemoryJournal
from stanchion.dialects.veronica import (
    AgentStepGuard,
    BudgetConfig,
    CircuitBreakerConfig,
    Decision,
    EgressConfig,
    RetryContainer,
    SafeModeConfig,
    SecretGuardConfig,
    ShieldConfig,
    ShieldPipeline,
    ToolCallContext,
    VeronicaIntegration,
)
from stanchion.runtime.errors import DeadlineExceeded
from stanchion.testing import Blocks, FakeClock, ScriptedTool
from tests.guards.test_step_limit import in_threads

CTX = ToolCallContext("r", tool_name="t")
SAFE = ShieldConfig(safe_mode=SafeModeConfig(enabled=True))
URL = "https://93.184.216.34/"


def dear(cost_usd: float) -> ToolCallContext:
    return ToolCallContext("r", tool_name="buy", cost_usd=cost_usd)


def test_fault_01_safe_mode_stops_tools_and_leaves_models_alone() -> None:
    vi, tool = VeronicaIntegration(shield=SAFE), ScriptedTool("done", "done")
    assert vi.execute(CTX, tool) is Decision.HALT
    assert vi.execute(ToolCallContext("r", tool_name=""), tool) is Decision.HALT
    assert asyncio.run(vi.aexecute(CTX, tool)) is Decision.HALT
    assert tool.count == 0
    assert (
        vi.execute(ToolCallContext("r", model="large"), lambda _messages: "an answer", [])
        == "an answer"
    )


@pytest.mark.parametrize(
    "feature", ["safe_mode", "budget", "circuit_breaker", "egress", "secret_guard"]
)
def test_fault_02_every_feature_that_is_switched_on_acts(feature: str) -> None:
    config = ShieldConfig.from_dict(
        {
            "safe_mode": {"enabled": feature == "safe_mode"},
            "budget": {"enabled": feature == "budget", "max_calls": 2},
            "circuit_breaker": {"enabled": feature == "circuit_breaker", "failure_threshold": 2},
            "egress": {"enabled": feature == "egress"},
            "secret_guard": {"enabled": feature == "secret_guard", "patterns": ["ours-[0-9]{1,9}"]},
        }
    )
    assert config.is_any_enabled
    vi = VeronicaIntegration(shield=config)
    pipeline = vi._shield_pipeline
    assert pipeline is not None
    answers = []
    for _ in range(3):
        answers.append(
            pipeline.before_egress(ToolCallContext("r", metadata={"x": "ours-1"}), URL, "POST")
        )
        answers.append(pipeline.before_charge(CTX, 0.0))
        answers.append(pipeline.before_llm_call(CTX))
        pipeline.on_error(CTX, ValueError("missing argument"))
    assert set(answers) - {Decision.ALLOW} == {
        Decision.QUARANTINE if feature == "secret_guard" else Decision.HALT
    }


def test_fault_03_many_hooks_stand_at_one_boundary_and_one_that_raises_does_not_escape() -> None:
    heard: list[str] = []

    class Notes:
        def before_llm_call(self, ctx: ToolCallContext) -> Decision | None:
            heard.append("asked")
            return None

    class Breaks:
        def before_llm_call(self, ctx: ToolCallContext) -> Decision | None:
            raise KeyError("own words")

    class Odd:
        def before_llm_call(self, ctx: ToolCallContext) -> Any:
            return "MAYBE"

    assert ShieldPipeline(pre_dispatch=[Notes(), Notes()]).before_llm_call(CTX) is Decision.ALLOW
    assert heard == ["asked", "asked"]
    assert ShieldPipeline(pre_dispatch=[Notes(), Breaks()]).before_llm_call(CTX) is Decision.HALT
    assert ShieldPipeline(pre_dispatch=Odd()).before_llm_call(CTX) is Decision.HALT, (
        "no decision fails closed"
    )


def test_fault_04_children_keep_the_pipeline_spend_from_their_parent_and_end_with_it() -> None:
    vi = VeronicaIntegration(
        shield=ShieldConfig(budget=BudgetConfig(enabled=True, max_cost_usd=1.0))
    )
    children = [vi.spawn() for _ in range(5)]
    came = [child.execute(dear(0.3), lambda: "bought") for child in children for _ in range(3)]
    assert came.count("bought") == 3
    halted = VeronicaIntegration(shield=SAFE).spawn()
    assert halted.execute(CTX, lambda: 1) is Decision.HALT
    vi.abort("enough")
    assert children[0].execute(CTX, lambda: 1) is Decision.HALT


def test_fault_05_threads_do_not_exceed_limits() -> None:
    config = ShieldConfig(budget=BudgetConfig(enabled=True, max_cost_usd=0.05))
    vi = VeronicaIntegration(shield=config, core=[AgentStepGuard(40)])
    ran: list[int] = []
    in_threads(30, lambda _number: vi.execute(dear(0.01), ran.append, 1))
    assert len(ran) == 5
    steps = VeronicaIntegration(core=[AgentStepGuard(5)])
    taken: list[int] = []
    in_threads(30, lambda _number: steps.execute(CTX, taken.append, 1))
    assert len(taken) == 5


def test_fault_06_a_budget_refuses_before_it_is_spent_and_failed_calls_cost() -> None:
    config = ShieldConfig(budget=BudgetConfig(enabled=True, max_cost_usd=1.0))
    vi = VeronicaIntegration(shield=config)
    ran: list[int] = []
    for _ in range(10):
        vi.execute(dear(0.3), ran.append, 1)
    assert len(ran) == 3, "nothing runs beyond it, and what ran stays on the books"
    failing = VeronicaIntegration(shield=config, core=[AgentStepGuard(2)])
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            failing.execute(dear(0.3), lambda: 1 // 0)
    assert failing.execute(dear(0.3), lambda: 1) is Decision.HALT, "a failed call uses its step"


def test_fault_07_a_refusal_by_another_hook_does_not_take_the_probe() -> None:
    clock, refuses = FakeClock(), [True]

    class Refuses:
        def before_llm_call(self, ctx: ToolCallContext) -> Decision | None:
            return Decision.HALT if refuses[0] else None

    config = ShieldConfig(circuit_breaker=CircuitBreakerConfig(enabled=True, failure_threshold=2))
    vi = VeronicaIntegration(shield=config, pre_dispatch=Refuses(), clock=clock)
    assert vi._shield_pipeline is not None
    for _ in range(2):
        vi._shield_pipeline.on_error(CTX, ConnectionError())
    clock.advance(60_000)
    for _ in range(5):
        assert vi.execute(CTX, lambda: 1) is Decision.HALT
    refuses[0] = False
    assert [vi.execute(CTX, lambda: 1) for _ in range(2)] == [1, 1]


def test_fault_08_nested_retries_do_not_multiply() -> None:
    tool = ScriptedTool(*[ConnectionError("down") for _ in range(99)])
    vi = VeronicaIntegration(core=[RetryContainer(backoff_base=0)])

    def middle() -> Any:
        return vi.execute(ToolCallContext("r", tool_name="leaf"), tool)

    with pytest.raises(ConnectionError):
        vi.execute(ToolCallContext("r", tool_name="outer"), middle)
    assert tool.count == 4


def test_fault_09_a_degraded_call_goes_ahead() -> None:
    """The whole of a budget can be used: what a guard or a hook degrades is done with less, and not
    refused."""

    class Saves:
        def before_llm_call(self, ctx: ToolCallContext) -> Decision | None:
            return Decision.DEGRADE

    lesser = {
        "guards": [{"use": "budget", "calls": 5, "degrade_at": 80}],
        "degrade": {"pause_s": 0.001},
    }
    for hook in (None, Saves()):
        vi = VeronicaIntegration(pre_dispatch=hook, policy=lesser)
        assert [vi.execute(CTX, lambda: "done") for _ in range(6)] == ["done"] * 5 + [Decision.HALT]


@pytest.mark.parametrize("path", ["/etc/passwd", "/etc/cron.d/x", "../../x"])
def test_fault_10_paths_that_leave_are_refused(path: str) -> None:
    vi = VeronicaIntegration(policy={"guards": [{"use": "files", "root": ["/srv/app"]}]})
    write = ToolCallContext("r", tool_name="write_file")
    ran: list[str] = []

    def write_file(path: str, content: str) -> None:
        ran.append(path)

    assert vi.execute(write, write_file, path=path, content="x") is Decision.HALT
    vi.execute(write, write_file, path="src/x", content="x")
    assert ran == ["src/x"]


def test_fault_11_a_deadline_is_kept() -> None:
    vi = VeronicaIntegration(policy={"tools": {"slow": {"timeout_s": 0.01}}})
    block = Blocks("too late")
    with pytest.raises(DeadlineExceeded):
        vi.execute(ToolCallContext("r", tool_name="slow"), ScriptedTool(block))
    block.entered.wait()
    block.release()


def test_fault_12_results_and_exceptions_are_the_functions_own_and_coroutines_are_awaited() -> None:
    vi, found, error = (
        VeronicaIntegration(shield=ShieldConfig()),
        ["found"],
        LookupError("not there"),
    )
    assert vi.execute(CTX, lambda: found) is found
    with pytest.raises(LookupError) as raised:
        vi.execute(CTX, ScriptedTool(error))
    assert raised.value is error

    async def fetch(url: str) -> str:
        await asyncio.sleep(0)
        return url.upper()

    assert asyncio.run(vi.aexecute(CTX, fetch, "x")) == "X"
    assert asyncio.run(VeronicaIntegration().aexecute(CTX, fetch, "x")) == "X"
    with pytest.raises(LookupError):
        asyncio.run(vi.aexecute(CTX, ScriptedTool(error).as_async()))


START = """
import json, signal
from stanchion.dialects.veronica import ShieldConfig, ToolCallContext, VeronicaIntegration

def handlers():
    return [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())]

before = handlers()
vi = VeronicaIntegration(shield=ShieldConfig())
result = vi.execute(ToolCallContext("r", tool_name="t"), len, "four")
print(json.dumps({"same": handlers() == before, "result": result, "state": vi.state}))
"""


def test_fault_13_starting_leaves_no_files_no_signal_handlers_and_no_latch(tmp_path: Path) -> None:
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", START], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == {"same": True, "result": 4, "state": "NORMAL"}
        assert list(tmp_path.rglob("*")) == []


def test_fault_14_the_newest_records_are_kept() -> None:
    journal = MemoryJournal(capacity=3)
    pipeline = ShieldPipeline(journal=journal)
    for number in range(9):
        pipeline.before_llm_call(ToolCallContext("r", tool_name=f"t{number}"))
    assert [kept.read().tool for kept in journal.kept()] == ["t6", "t7", "t8"]
    assert (journal.written, journal.dropped) == (9, 6)


def test_the_same_malformed_call_again_and_again_is_halted() -> None:
    """The loop that the document begins with: wrong arguments, the same error, the same
    arguments."""
    vi = VeronicaIntegration(
        shield=ShieldConfig(circuit_breaker=CircuitBreakerConfig(enabled=True))
    )
    ran: list[int] = []

    def search(query: str) -> None:
        ran.append(1)

    wrong: Any = search
    for _ in range(5):
        with pytest.raises(TypeError):
            vi.execute(ToolCallContext("r", tool_name="search"), wrong)
    assert vi.execute(ToolCallContext("r", tool_name="search"), wrong) is Decision.HALT
    assert vi.execute(CTX, lambda: "other tools go on") == "other tools go on"
    assert ran == []


def test_urls_and_secrets_of_a_call_are_judged_where_nobody_asks_the_egress_boundary() -> None:
    vi = VeronicaIntegration(
        shield=ShieldConfig(
            egress=EgressConfig(enabled=True), secret_guard=SecretGuardConfig(enabled=True)
        )
    )
    fetched: list[str] = []
    assert vi.execute(ToolCallContext("r", tool_name="fetch"), fetched.append, URL) is Decision.HALT
    assert fetched == []
