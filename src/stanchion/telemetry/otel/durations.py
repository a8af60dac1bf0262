"""Durations of runs, tool calls and model calls as OpenTelemetry's conventions count them."""

from __future__ import annotations

from typing import Final

from opentelemetry.metrics import Meter

from stanchion.telemetry.otel import attributes as named

WHAT: Final = {
    named.EXECUTE_TOOL: (
        "gen_ai.execute_tool.duration",
        "The duration of a tool call.",
        named.OPERATION_BOUNDS,
    ),
    named.CHAT: (
        "gen_ai.client.operation.duration",
        "The duration of a model call.",
        named.OPERATION_BOUNDS,
    ),
    named.INVOKE_AGENT: (
        "gen_ai.invoke_agent.duration",
        "The duration of a run.",
        named.AGENT_BOUNDS,
    ),
}


class Durations:
    """Counts how long each operation took; the figures are those of its spans."""

    def __init__(self, meter: Meter) -> None:
        self._kept = {
            operation: meter.create_histogram(
                name, "s", meaning, explicit_bucket_boundaries_advisory=bounds
            )
            for operation, (name, meaning, bounds) in WHAT.items()
        }

    def took(self, operation: str, seconds: float, attributes: dict[str, str]) -> None:
        """Count one."""
        without = (
            attributes
            if operation == named.CHAT
            else {k: v for k, v in attributes.items() if k != named.OPERATION}
        )
        self._kept[operation].record(seconds, without)
