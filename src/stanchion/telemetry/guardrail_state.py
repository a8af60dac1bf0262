"""The state of guardrails while they are in use: how often each was reached, what it said, and when
it last spoke."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from stanchion.telemetry.catalogue import GUARDRAIL_MS, INVOCATIONS, OTHER, TRIGGERED
from stanchion.telemetry.figures import Series
from stanchion.telemetry.notices.log import when


class GuardrailState(msgspec.Struct, frozen=True, omit_defaults=True):
    """One guardrail: whether the policy has it on, how often it was reached and what it said, over
    all processes.

    `avg_duration_ms` is absent where nobody has measured it (`durations: true` in the policy does),
    `last_triggered` where it has only passed: that is when it last warned, escalated or blocked, by
    ISO 8601.
    """

    guardrail_id: str
    enabled: bool
    invocation_count: int
    pass_count: int
    warn_count: int
    block_count: int
    escalate_count: int
    avg_duration_ms: float | None = None
    last_triggered: str | None = None


def states(figures: Iterable[Series], enabled: Mapping[str, bool]) -> tuple[GuardrailState, ...]:
    """The state of every guardrail that is named in `enabled`, in that order, then of those that
    only figures know: they were in a policy before."""
    said: dict[str, dict[str, int]] = {}
    took: dict[str, tuple[float, ...]] = {}
    last: dict[str, float] = {}
    for one in figures:
        match one.metric:
            case INVOCATIONS.name:
                guardrail, result = one.labels
                said.setdefault(guardrail, {})[result] = int(one.values[0])
            case GUARDRAIL_MS.name:
                took[one.labels[0]] = one.values
            case TRIGGERED.name:
                last[one.labels[0]] = one.values[0]
    names = dict.fromkeys([*enabled, *sorted(said)])
    return tuple(
        [
            _state(
                name, enabled.get(name, False), said.get(name, {}), took.get(name), last.get(name)
            )
            for name in names
            if name != OTHER or name in enabled
        ]
    )


def _state(
    name: str,
    enabled: bool,
    said: dict[str, int],
    took: tuple[float, ...] | None,
    last: float | None,
) -> GuardrailState:
    times = 0 if took is None else sum(took[1:])
    return GuardrailState(
        guardrail_id=name,
        enabled=enabled,
        invocation_count=sum(said.values()),
        pass_count=said.get("pass", 0),
        warn_count=said.get("warn", 0),
        block_count=said.get("block", 0),
        escalate_count=said.get("escalate", 0),
        avg_duration_ms=round(took[0] / times, 6) if took is not None and times else None,
        last_triggered=None if last is None else when(round(last * 1_000)),
    )
