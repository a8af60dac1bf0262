"""Instrumenting a shield: from then on OpenTelemetry hears of what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stanchion.telemetry.sinks import Telemetry

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

SCOPE: Final = "stanchion"


def instrument(
    shield: Any,
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
) -> None:
    """Have a shield's runs, tool calls and model calls become spans, and its figures metrics, with
    the providers that are named or else the global ones. Once for each shield; names are as they
    may be shown, and nothing said is told.

    Figures are those of this process alone: each exports its own.
    """
    try:
        from opentelemetry import metrics, trace
    except ImportError:
        raise ImportError(
            "OpenTelemetry is not installed: run `pip install 'stanchion-guard[otel]'`"
        ) from None
    from stanchion.telemetry.otel.spans import Durations, Spans, observe

    telemetry: Telemetry = shield.telemetry
    if any(isinstance(sink, Spans) for sink in telemetry.sinks):
        raise ValueError("this shield is already instrumented: do it once, where it is created")
    meter = metrics.get_meter(SCOPE, meter_provider=meter_provider)
    telemetry.add(Spans(trace.get_tracer(SCOPE, tracer_provider=tracer_provider), Durations(meter)))
    if telemetry.registry is not None:
        observe(meter, telemetry.registry.figures)
