"""The text of figures, read by the parsers of the real Prometheus client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given, strategies as st
from prometheus_client.openmetrics import parser as openmetrics_parser
from prometheus_client.parser import text_string_to_metric_families as plain

from stanchion.telemetry.catalogue import METRICS, Metric
from stanchion.telemetry.exposition import exposed, wants_openmetrics
from stanchion.telemetry.registry import FigureSum, Series

openmetrics: Any = openmetrics_parser.text_string_to_metric_families
COUNTS = st.integers(0, 2**40)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


@st.composite
def series(draw: st.DrawFn) -> Series:
    """One series of any metric, with labels of any text."""
    metric = draw(st.sampled_from(METRICS))
    labels = tuple([draw(TEXTS) for _ in metric.labels])
    numbers = [draw(COUNTS) for _ in range(metric.width)]
    return Series(metric.name, labels, tuple(numbers))


def parsed(families: Iterable[Any]) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample that a parser has found, by its name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def expected(metric: Metric, one: Series) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    labels = list(zip(metric.labels, one.labels, strict=True))
    if metric.kind != "histogram":
        return {(metric.name, tuple(sorted(labels))): one.values[0]}
    total, *buckets = one.values
    key = tuple(sorted(labels))
    inf = tuple(sorted([*labels, ("le", "+Inf")]))
    return {
        (f"{metric.name}_sum", key): total,
        (f"{metric.name}_count", key): float(sum(buckets)),
        (f"{metric.name}_bucket", inf): float(sum(buckets)),
    }


@given(st.lists(series(), max_size=8))
def test_both_formats_say_what_was_counted(drawn: list[Series]) -> None:
    total = FigureSum()
    total.add(drawn)
    figures = total.figures()
    by_name = {metric.name: metric for metric in METRICS}
    for found in (
        parsed(plain(exposed(figures))),
        parsed(openmetrics(exposed(figures, openmetrics=True))),
    ):
        for one in figures:
            for sample, value in expected(by_name[one.metric], one).items():
                assert found[sample] == value


def test_buckets_are_cumulative_and_bounds_are_read_as_numbers() -> None:
    (metric,) = [one for one in METRICS if one.name == "stanchion_store_seconds"]
    one = Series(metric.name, ("sqlite",), (1.5, *range(metric.width - 1)))
    (family,) = plain(exposed([one]))
    found = [
        (sample.labels["le"], sample.value)
        for sample in family.samples
        if sample.name.endswith("_bucket")
    ]
    assert [float(bound) for bound, _ in found] == [*metric.bounds, float("inf")]
    assert [value for _, value in found] == [
        sum(range(last + 1)) for last in range(metric.width - 1)
    ]


AGENT_33 = frozenset(
    {
        "bypass_requests_total",
        "guardrail_blocks_total",
        "guardrail_duration_ms",
        "guardrail_invocations_total",
    }
)
"""Metrics whose names the AGENT-33 specification gives."""


def test_names_follow_the_conventions_of_prometheus() -> None:
    for metric in METRICS:
        assert metric.name.startswith("stanchion_") or metric.name in AGENT_33
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert (
            metric.kind != "histogram"
            or metric.name.endswith("_seconds")
            or metric.name in AGENT_33
        )
        assert metric.meaning.endswith(".")


def test_who_asks_for_openmetrics_gets_it() -> None:
    assert wants_openmetrics("application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert not wants_openmetrics("text/plain;version=0.0.4")
    assert not wants_openmetrics("")
