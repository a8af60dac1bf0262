"""The hooks of AGENT-33 beside Stanchion's own calls: the same events under the same policy, in CPU
of the process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from time import process_time_ns
from typing import Any, Final

from stanchion.dialects.agent33 import Agent, Guardrails, Hooks, Task
from stanchion.runtime.run import Run
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Row, Section

ARGS: Final = {"path": "src/app/login.py", "content": "x = 1\n"}
AGENTS: Final = {"bench": Agent(allowed_tools=("write_file",))}
TASKS: Final = {"work": Task(token_budget=1_000_000_000)}
RAILS: Final[dict[str, Any]] = {
    "custom_guardrail": {
        "id": "custom-scope-001",
        "name": "keys",
        "type": "pre_execution",
        "priority": 110,
        "category": "scope",
        "validation": {
            "check": "action.target_file does not match '**/keys/**'",
            "action_on_fail": "block",
        },
    }
}
Call = Callable[[], object]


def agent33(effort: Effort) -> Section:
    """A call and its result: through Stanchion, through the hooks, and through the hooks with every
    detail read."""
    rows = []
    with ExitStack() as ends:
        for what, calls in (("call", _calls(ends)), ("result", _results(ends))):
            costs = compare(calls, effort.rounds, effort.calls, clock=process_time_ns)
            own = costs["Stanchion"]
            rows.append(Row(f"{what}: Stanchion", own))
            rows += [
                Row(f"{what}: {name}", cost, round(cost.p50_us / own.p50_us, 2))
                for name, cost in costs.items()
                if cost is not own
            ]
    note = (
        "the four guardrails that are built in and one of its own, state in memory, in CPU of "
        "the process"
    )
    return Section("dialect agent33", note, rows)


def _hooks(ends: ExitStack) -> Hooks:
    made = Guardrails.load(
        RAILS, agents=AGENTS, tasks=TASKS, autonomy=False, store=MEMORY, journal=MEMORY
    )
    ends.callback(made.close)
    return made.hooks("bench", "work")


def _calls(ends: ExitStack) -> dict[str, Call]:
    run: Run = _hooks(ends).run
    hooks, whole = _hooks(ends), _hooks(ends)
    return {
        "Stanchion": lambda: run.check("write_file", ARGS, tokens=10).proceeds,
        "hook": lambda: hooks.pre_execution("write_file", ARGS, estimated_tokens=10).final_verdict,
        "hook, with its details": lambda: (
            whole.pre_execution("write_file", ARGS, estimated_tokens=10).details
        ),
    }


def _results(ends: ExitStack) -> dict[str, Call]:
    run: Run = _hooks(ends).run
    hooks = _hooks(ends)
    return {
        "Stanchion": lambda: run.result("write_file", ARGS, "written").proceeds,
        "hook": lambda: hooks.post_execution("write_file", ARGS, "written").final_verdict,
    }
