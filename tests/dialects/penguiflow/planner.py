"""A planner's side of the gateway: rules that say what a test wants, events, and gateways that have
time enough."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from stanchion.dialects.penguiflow import (
    GatewayConfig,
    GuardrailDecision,
    GuardrailEvent,
    GuardrailGateway,
    RedactionSpec,
    RuleCost,
    RuleRegistry,
)
from stanchion.dialects.penguiflow.events import EVENT_TYPES
from stanchion.testing import FakeClock

Driver = Literal["sync", "async"]
DRIVERS: tuple[Driver, ...] = ("sync", "async")
PATIENT = GatewayConfig(sync_timeout_ms=30_000, sync_fail_open=False)
decides: Any = GuardrailDecision
"""A decision by the words of its action and its severity, which it takes as well as their
members."""


class Rule:
    """A rule that answers with what a function of the event and the snapshot gives."""

    def __init__(
        self,
        name: str,
        answer: Callable[..., Any] | GuardrailDecision | None = None,
        cost: RuleCost = RuleCost.FAST,
        events: tuple[str, ...] = EVENT_TYPES,
    ) -> None:
        self.rule_id, self.cost, self.supports_event_types, self.enabled = (
            name,
            cost,
            frozenset(events),
            True,
        )
        self.threshold = 0.5
        self._answer = answer
        self.seen: list[tuple[Any, Any]] = []

    def evaluate(self, event: Any, context_snapshot: Any) -> Any:
        self.seen.append((event, context_snapshot))
        return self._answer(event, context_snapshot) if callable(self._answer) else self._answer


class AsyncRule(Rule):
    """The same as a coroutine."""

    async def evaluate(self, event: Any, context_snapshot: Any) -> Any:
        return super().evaluate(event, context_snapshot)


def gateway_of(*rules: Any, config: Any = PATIENT, **options: Any) -> GuardrailGateway:
    """A gateway with these rules, whose time stands still."""
    registry = RuleRegistry()
    for rule in rules:
        registry.register(rule)
    return GuardrailGateway(registry, config=config, **{"clock": FakeClock(), **options})


def call(tool: str = "look", run_id: str = "r", **args: Any) -> GuardrailEvent:
    """A tool is about to be called."""
    return GuardrailEvent("tool_call_start", run_id, tool_name=tool, tool_args=args)


def result(text: str, run_id: str = "r", **payload: Any) -> GuardrailEvent:
    """A tool has given this."""
    return GuardrailEvent("tool_call_result", run_id, text, "look", {}, payload)


def asks(text: str, run_id: str = "r", **payload: Any) -> GuardrailEvent:
    """A model is about to be asked with these words of the user."""
    return GuardrailEvent("llm_before", run_id, text, payload=payload)


def judged(
    gateway: GuardrailGateway, event: GuardrailEvent, driver: Driver = "sync"
) -> GuardrailDecision:
    """What a gateway says of an event."""
    return (
        gateway.evaluate_sync(event) if driver == "sync" else asyncio.run(gateway.evaluate(event))
    )


def takes_out(word: str, mark: str = "***") -> Callable[[Any, Any], GuardrailDecision | None]:
    """A rule's answer that takes a word out of texts, wherever it is."""

    def answer(event: Any, _snapshot: Any) -> GuardrailDecision | None:
        text = "" if event.text_content is None else event.text_content
        starts = [at for at in range(len(text)) if text.startswith(word, at)]
        specs = tuple([RedactionSpec("text", mark, "word", at, at + len(word)) for at in starts])
        made: GuardrailDecision | None = None
        if specs:
            made = decides("REDACT", reason="a word is taken out", redactions=specs)
        return made

    return answer
