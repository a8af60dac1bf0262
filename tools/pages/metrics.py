"""Every metric and every logger, as the code has them."""

from __future__ import annotations

from typing import Final

from stanchion.telemetry.catalogue import METRICS, Metric
from stanchion.telemetry.counting import MOST_TOOLS
from stanchion.telemetry.loggers import AREAS, ROOT
from stanchion.telemetry.registry import MOST_SERIES

PATH = "docs/reference/metrics.md"

INTRODUCTION: Final = f"""\
# Metrics and loggers

What a shield counts and logs. [Watch a fleet](../how-to/watch-a-fleet.md) says how to get at it.

## Metrics

Names and labels are those of `stanchion metrics` and of whatever serves a shield's figures to Prometheus.
OpenTelemetry gets counters and gauges without `_total` and with a dot in place of the first underscore; of a histogram
it gets `.count` and `.sum`. Names that do not begin with `stanchion` are those of the AGENT-33 specification.

Labels that come from outside are bounded: {MOST_TOOLS} tools are told apart, and a metric has at most {MOST_SERIES:,}
series. What comes after them has the label `other`. Secrets in names are hidden as they are in the trail.
"""


def render() -> str:
    """The page."""
    parts = [INTRODUCTION, "| metric | kind | labels | meaning |\n|---|---|---|---|"]
    parts += [_row(metric) for metric in METRICS]
    parts.append("\nHistograms have these upper bounds:\n\n| metric | in | bounds |\n|---|---|---|")
    parts += [_bounds(metric) for metric in METRICS if metric.bounds]
    parts.append("\n## Loggers\n\n| logger | what it tells |\n|---|---|")
    parts += [f"| `{ROOT}.{area}` | {words} |" for area, words in AREAS.items()]
    return "\n".join(parts) + "\n"


def _row(metric: Metric) -> str:
    labels = ", ".join([f"`{name}`" for name in metric.labels])
    return f"| `{metric.name}` | {metric.kind} | {labels} | {metric.meaning} |"


def _bounds(metric: Metric) -> str:
    return (
        f"| `{metric.name}` | {metric.unit} | {', '.join(f'{bound:g}' for bound in metric.bounds)} "
        f"|"
    )
