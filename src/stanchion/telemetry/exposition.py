"""Exposition: figures as Prometheus reads them, in its text format 0.0.4 or as OpenMetrics 1.0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from stanchion.telemetry import loggers
from stanchion.telemetry.catalogue import BY_NAME, Metric
from stanchion.telemetry.registry import Series

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


# The answer to a scrape: a status, headers and the figures, for whatever server asks.

Collect = Callable[[], Iterable[Series]]
"""Gives the figures as they are now: `shield.telemetry.collect` does."""

PLAIN: Final = "text/plain; charset=utf-8"


class ScrapeAnswer(NamedTuple):
    """What is sent back."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes


def answer(collect: Collect, method: str, accept: str) -> ScrapeAnswer:
    """Answer a request: the figures in the format that its `Accept` asks for. What went wrong is
    logged, not sent."""
    if method not in ("GET", "HEAD"):
        return _made(
            405, "Method Not Allowed", PLAIN, "ask with GET\n", method, ("Allow", "GET, HEAD")
        )
    try:
        openmetrics = wants_openmetrics(accept)
        text = exposed(collect(), openmetrics)
    except Exception as error:  # noqa: BLE001 - a scrape may fail, its server goes on
        loggers.say(
            loggers.TELEMETRY,
            loggers.ERROR,
            "metrics cannot be read",
            error=type(error).__name__,
            why=error,
        )
        return _made(
            503, "Service Unavailable", PLAIN, "metrics cannot be read: look at the log\n", method
        )
    return _made(200, "OK", OPENMETRICS if openmetrics else TEXT, text, method)


def _made(
    status: int, reason: str, kind: str, text: str, method: str, *more: tuple[str, str]
) -> ScrapeAnswer:
    body = text.encode()
    headers = [
        ("Content-Type", kind),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        *more,
    ]
    return ScrapeAnswer(status, reason, headers, b"" if method == "HEAD" else body)
