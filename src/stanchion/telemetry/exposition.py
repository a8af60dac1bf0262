"""Exposition: figures as Prometheus reads them, in its text format 0.0.4 or as OpenMetrics 1.0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Final

from stanchion.telemetry.catalogue import BY_NAME, Metric
from stanchion.telemetry.figures import Series

TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TOTAL: Final = "_total"


def wants_openmetrics(accept: str) -> bool:
    """Whether a client that accepts that is given OpenMetrics."""
    return "application/openmetrics-text" in accept.lower()


def exposed(figures: Iterable[Series], openmetrics: bool = False) -> str:
    """Figures as text."""
    lines: list[str] = []
    shown = ""
    for one in figures:
        metric = BY_NAME[one.metric]
        if metric.name != shown:
            shown = metric.name
            family = (
                shown.removesuffix(TOTAL) if openmetrics and metric.kind == "counter" else shown
            )
            lines.append(f"# HELP {family} {_help(metric.meaning)}")
            lines.append(f"# TYPE {family} {metric.kind}")
        lines.extend(_samples(metric, one))
    if openmetrics:
        lines.append("# EOF")
    return "".join([f"{line}\n" for line in lines])


def _samples(metric: Metric, one: Series) -> Iterator[str]:
    labels = list(zip(metric.labels, one.labels, strict=True))
    if metric.kind != "histogram":
        yield f"{metric.name}{_labels(labels)} {_number(one.values[0])}"
        return
    total, *buckets = one.values
    bounds = [*[_bound(bound) for bound in metric.bounds], "+Inf"]
    every = list(accumulate(buckets))
    for bound, number in zip(bounds, every, strict=True):
        yield f"{metric.name}_bucket{_labels([*labels, ('le', bound)])} {_number(number)}"
    yield f"{metric.name}_sum{_labels(labels)} {_number(total)}"
    yield f"{metric.name}_count{_labels(labels)} {_number(every[-1])}"


def _labels(labels: list[tuple[str, str]]) -> str:
    return (
        "{" + ",".join([f'{name}="{_value(value)}"' for name, value in labels]) + "}"
        if labels
        else ""
    )


def _value(text: str) -> str:
    clean = text.encode("utf-8", "replace").decode()
    return clean.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _help(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _bound(bound: float) -> str:
    return f"{bound:.6f}".rstrip("0").rstrip(".") if bound % 1 else f"{bound:.1f}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
