"""The state of guardrails, for people and as JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Final

from stanchion.cli.table import table
from stanchion.cli.terminal import Terminal, put
from stanchion.policy.compiled import CompiledPolicy
from stanchion.runtime.standing.how_it_stands import switched_on
from stanchion.telemetry.figures import Series
from stanchion.telemetry.guardrail_state import GuardrailState, states
from stanchion.views.encode import json_line

NUMBERS: Final = ("reached", "pass", "warn", "escalate", "block", "avg ms")
COLUMNS: Final = ("guardrail", "on", *NUMBERS, "last triggered")


def show_guardrails(figures: Iterable[Series], policy: CompiledPolicy, as_json: bool) -> None:
    """Print the state of each guardrail of a policy, and of those that were counted under another
    one."""
    found = states(figures, switched_on(policy))
    if as_json:
        sys.stdout.buffer.write(b"".join(json_line(one) for one in found))
        return
    for line in table(
        COLUMNS, [_row(one) for one in found], NUMBERS, Terminal.of(sys.stdout, os.environ)
    ):
        put(sys.stdout, line)


def _row(one: GuardrailState) -> tuple[str, ...]:
    counts = (
        one.invocation_count,
        one.pass_count,
        one.warn_count,
        one.escalate_count,
        one.block_count,
    )
    average = "" if one.avg_duration_ms is None else f"{one.avg_duration_ms:.3f}"
    last = "" if one.last_triggered is None else one.last_triggered
    return (
        one.guardrail_id,
        "yes" if one.enabled else "no",
        *[f"{each:,}" for each in counts],
        average,
        last,
    )
