"""Shields for tests of telemetry: one guard that refuses a tool, state where the test wants it."""

from __future__ import annotations

from typing import Any

from stanchion import Shield

POLICY: dict[str, Any] = {
    "name": "watched",
    "guards": [{"id": "no-rm", "use": "tool_denylist", "tools": ["rm"]}],
}


def watched(**options: Any) -> Shield:
    """A shield in memory, unless told otherwise."""
    return Shield.load(POLICY, **{"store": "memory:", "journal": "memory:", **options})


def values(shield: Shield, metric: str) -> dict[tuple[str, ...], float]:
    """The first number of every series of a metric: a count, or the sum of a histogram."""
    return {one.labels: one.values[0] for one in shield.telemetry.collect() if one.metric == metric}
