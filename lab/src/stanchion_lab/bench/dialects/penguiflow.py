"""PenguiFlow's words: its events through a gateway, beside the same through a run under the same
policy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import ExitStack, closing
from time import process_time_ns
from typing import Any, Final

from stanchion.dialects.penguiflow import (
    GatewayConfig,
    GuardrailEvent,
    GuardrailGateway,
    InjectionPatternRule,
    RuleCost,
    RuleRegistry,
    SecretRedactionRule,
    ToolAllowlistRule,
)
from stanchion.dialects.penguiflow.findings import CAN
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Row, Section, rows_of

TITLE: Final = "dialect penguiflow"
RUN: Final = "r1"
TOOL: Final = "search"
TEXT: Final = "The order was shipped on Monday and is expected within the week. " * 4
PATIENT: Final = GatewayConfig(sync_timeout_ms=30_000)

Call = Callable[[], object]


def penguiflow(effort: Effort) -> Section:
    """Each event with PenguiFlow's own rules, and a call with a rule of one's own."""
    rows: list[Row] = []
    for what, made in EVENTS.items():
        with ExitStack() as ends:
            gateway, run = _made(ends, own=what == OWN)
            direct, spoken = f"{what}: Shield", f"{what}: GuardrailGateway"
            costs = compare(
                dict(zip((direct, spoken), made(gateway, run), strict=True)),
                effort.rounds,
                effort.calls,
                clock=process_time_ns,
            )
        rows += rows_of(costs, direct)
    return Section(
        TITLE,
        "processor time of the process; ratios are to the same through a run, same policy",
        rows,
    )


class Passes:
    """A rule of one's own that has nothing against anything."""

    rule_id = id = "passes"
    cost = RuleCost.FAST
    enabled = True
    supports_event_types = frozenset({"tool_call_start"})
    deadline_ms = 30_000

    def evaluate(self, _event: Any, _snapshot: Any, /) -> None:
        """Pass, as a rule."""

    def judge(self, _event: Any, context: Any) -> None:
        """Pass, as a guard that is told the same."""


def built_in() -> tuple[Any, ...]:
    """PenguiFlow's rules."""
    return (
        ToolAllowlistRule(denied_tools=frozenset({"rm"})),
        SecretRedactionRule(),
        InjectionPatternRule(),
    )


def _gateway(ends: ExitStack, *more: Any) -> GuardrailGateway:
    """A gateway with PenguiFlow's rules and others."""
    registry = RuleRegistry()
    for rule in (*built_in(), *more):
        registry.register(rule)
    return ends.enter_context(closing(GuardrailGateway(registry, config=PATIENT)))


def _made(ends: ExitStack, own: bool) -> tuple[GuardrailGateway, Run]:
    """A gateway, and a run under the same policy; each has its own store."""
    more = (Passes(),) if own else ()
    gateway = _gateway(ends, *more)
    shield = ends.enter_context(
        Shield.load(gateway.policy(), store=MEMORY, journal=MEMORY, guards=more)
    )
    return gateway, shield.run(id=RUN, can=CAN)


def _given() -> Callable[[], dict[str, Any]]:
    numbers = itertools.count()
    return lambda: {"q": f"words {next(numbers)}", "limit": 5}


def _calls(gateway: GuardrailGateway, run: Run) -> tuple[Call, Call]:
    one, other = _given(), _given()
    return (
        lambda: run.check(TOOL, one()),
        lambda: gateway.evaluate_sync(GuardrailEvent("tool_call_start", RUN, None, TOOL, other())),
    )


def _results(gateway: GuardrailGateway, run: Run) -> tuple[Call, Call]:
    one, other = _given(), _given()
    return (
        lambda: run.result(TOOL, one(), TEXT),
        lambda: gateway.evaluate_sync(GuardrailEvent("tool_call_result", RUN, TEXT, TOOL, other())),
    )


def _requests(gateway: GuardrailGateway, run: Run) -> tuple[Call, Call]:
    def direct() -> None:
        run.prompt(TEXT)
        run.model_call([{"role": "user", "content": TEXT}])

    return direct, lambda: gateway.evaluate_sync(GuardrailEvent("llm_before", RUN, TEXT))


def _chunks(gateway: GuardrailGateway, run: Run) -> tuple[Call, Call]:
    return (
        lambda: run.model_chunk(TEXT),
        lambda: gateway.evaluate_sync(GuardrailEvent("llm_stream_chunk", RUN, TEXT)),
    )


OWN: Final = "tool_call_start, a rule of one's own"
EVENTS: Final[dict[str, Callable[[GuardrailGateway, Run], tuple[Call, Call]]]] = {
    "tool_call_start": _calls,
    "tool_call_result": _results,
    "llm_before": _requests,
    "llm_stream_chunk": _chunks,
    OWN: _calls,
}
