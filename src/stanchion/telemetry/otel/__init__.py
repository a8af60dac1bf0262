"""OpenTelemetry: runs, tool calls and model calls as spans, and figures as metrics. Needs
`stanchion-guard[otel]`."""

from stanchion.telemetry.otel.instrument import instrument

__all__ = ["instrument"]
