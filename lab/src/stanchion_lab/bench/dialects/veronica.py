"""VERONICA's pipeline and integration beside Stanchion's own calls: the same policy, in CPU of the
process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from time import process_time_ns
from typing import Final

from stanchion.dialects.veronica import (
    BudgetConfig,
    CircuitBreakerConfig,
    EgressConfig,
    ShieldConfig,
    ToolCallContext,
    VeronicaIntegration,
)
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.run import Run
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Row, Section

ARGS: Final = {"path": "src/app/login.py", "content": "x = 1\n"}
CTX: Final = ToolCallContext(
    "r", tool_name="write_file", tokens_in=10, cost_usd=0.000001, metadata=ARGS
)
URL: Final = "https://93.184.216.34/login"
Call = Callable[[], object]


def veronica(effort: Effort) -> Section:
    """Each boundary, and a whole call: through Stanchion, and through the dialect."""
    rows = []
    with ExitStack() as ends:
        for what, calls in _pairs(ends).items():
            costs = compare(calls, effort.rounds, effort.calls, clock=process_time_ns)
            own, other = costs["Stanchion"], costs["dialect"]
            ratio = round(other.p50_us / own.p50_us, 2)
            rows += [Row(f"{what}: Stanchion", own), Row(f"{what}: dialect", other, ratio)]
    note = "budget window, breaker and egress list, state in memory, in CPU of the process"
    return Section("dialect veronica", note, rows)


def _integration(ends: ExitStack) -> VeronicaIntegration:
    config = ShieldConfig(
        budget=BudgetConfig(enabled=True, max_tokens=10**9, max_calls=10**9, max_cost_usd=10**6),
        circuit_breaker=CircuitBreakerConfig(enabled=True),
        egress=EgressConfig(enabled=True, allowed_hosts=["93.184.216.34"]),
    )
    return ends.enter_context(VeronicaIntegration(shield=config))


def _pairs(ends: ExitStack) -> dict[str, dict[str, Call]]:
    """Each decision twice, on shields of their own that have the same policy."""
    ours, theirs = _integration(ends), _integration(ends)
    pipeline, own = theirs._shield_pipeline, ours._shield_pipeline
    if pipeline is None or own is None:
        raise AssertionError("a shield has a pipeline")
    judged: Run = own.run

    def write(path: str, content: str) -> str:
        return path

    tool = Tool(write, "write_file", usage={"tokens": 10, "cost_usd": 0.000001, "api_calls": 1})
    return {
        "before_llm_call": {
            "Stanchion": lambda: (
                judged.check("write_file", ARGS, tokens=0, cost_usd=0.0, api_calls=0).proceeds
            ),
            "dialect": lambda: pipeline.before_llm_call(CTX),
        },
        "before_egress": {
            "Stanchion": lambda: (
                judged.egress(URL, "GET", payload=ARGS, tool="write_file").proceeds
            ),
            "dialect": lambda: pipeline.before_egress(CTX, URL, "GET"),
        },
        "before_charge": {
            "Stanchion": lambda: (
                judged.charge(10, 0.000001, api_calls=1, tool="write_file").proceeds
            ),
            "dialect": lambda: pipeline.before_charge(CTX, 0.000001),
        },
        "execute": {
            "Stanchion": lambda: ours.run.call(tool, **ARGS),
            "dialect": lambda: theirs.execute(CTX, write, **ARGS),
        },
    }
