"""The figures of a registry as OpenTelemetry metrics: asked for when they are exported, and free
before."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opentelemetry.metrics import CallbackOptions, Meter, Observation

from stanchion.telemetry.catalogue import BY_NAME, METRICS, Metric
from stanchion.telemetry.figures import Series

Ask = Callable[[], Iterable[Series]]


def observe(meter: Meter, ask: Ask) -> None:
    """Make an instrument of every counter and gauge; a histogram is one of its count and one of its
    sum."""
    for metric in METRICS:
        if metric.kind == "histogram":
            name = _name(metric)
            meter.create_observable_counter(
                f"{name}.count", [_asked(ask, metric, _count)], "1", metric.meaning
            )
            meter.create_observable_counter(
                f"{name}.sum", [_asked(ask, metric, _first)], metric.unit, metric.meaning
            )
        elif metric.kind == "counter":
            meter.create_observable_counter(
                _name(metric), [_asked(ask, metric, _first)], "1", metric.meaning
            )
        else:
            meter.create_observable_gauge(
                _name(metric), [_asked(ask, metric, _first)], "1", metric.meaning
            )


def _asked(
    ask: Ask, metric: Metric, value: Callable[[Series], float]
) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def observed(_options: CallbackOptions) -> Iterable[Observation]:
        labels = BY_NAME[metric.name].labels
        return [
            Observation(value(one), dict(zip(labels, one.labels, strict=True)))
            for one in ask()
            if one.metric == metric.name
        ]

    return observed


def _name(metric: Metric) -> str:
    """`stanchion_decisions_total` is `stanchion.decisions` there."""
    return metric.name.removesuffix("_total").replace("_", ".", 1)


def _first(one: Series) -> float:
    return one.values[0]


def _count(one: Series) -> float:
    return sum(one.values[1:])
