"""Metrics of the pack `guardian`: what its layers counted, and what that is estimated to have
saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.experience.styles import AdviceStats
from stanchion.guards.health import health_key, score
from stanchion.guards.loops import Metrics, history_key, metrics
from stanchion.kernel.actions import NAMES, PROCEEDS, Action
from stanchion.kernel.stages import Stage
from stanchion.runtime.learning.advising import adviser_of
from stanchion.runtime.learning.redacted import kept_name
from stanchion.telemetry.catalogue import DECISIONS

if TYPE_CHECKING:
    from stanchion.runtime.calling.validation_cache import ValidationStats
    from stanchion.runtime.deciding.desk import Desk

TOKENS_A_BLOCK: Final = 250
"""What a call that does not go ahead is estimated to save: its result, and the step that reads
it."""
REFUSED: Final = frozenset([NAMES[action] for action in Action if action > PROCEEDS])


class Roi(msgspec.Struct, frozen=True):
    """How many calls did not go ahead, of all runs that the shield's figures count, and the tokens
    that is estimated to have saved."""

    protection_events: int = 0
    estimated_tokens_saved: int = 0


class SessionMetrics(msgspec.Struct, frozen=True):
    """What came of the calls of a run, as experience has met them."""

    successes: int = 0
    failures: int = 0


class GuardianMetrics(msgspec.Struct, frozen=True):
    """What the layers have counted: of this run, but for `roi` and the caches, which are the
    shield's."""

    roi: Roi
    loop_detection: Metrics
    tool_health: dict[str, int]
    session: SessionMetrics
    validation_cache: ValidationStats
    advice_cache: AdviceStats


def guardian_metrics(desk: Desk) -> GuardianMetrics:
    """The metrics of a run and its shield."""
    shield: Any = desk.shield
    tenant, run = desk.info.tenant, desk.info.id
    whose = kept_name(desk.plans, tenant), kept_name(desk.plans, run)
    tools = shield.experience.tools(*whose) if shield.policy.learns else ()
    met = [shield.experience.session(*whose, tool) for tool in tools]
    health = {tool: score(desk.store.read(health_key(tenant, tool))[0]) for tool in sorted(tools)}
    return GuardianMetrics(
        roi_of(shield.telemetry.collect()),
        metrics(desk.store.read(history_key(tenant, run))[1]),
        {tool: known for tool, known in health.items() if known is not None},
        SessionMetrics(sum([one.successes for one in met]), sum([one.failures for one in met])),
        shield.validation_stats(),
        adviser_of(shield).stats(),
    )


def roi_of(figures: Any) -> Roi:
    """What calls that did not go ahead have saved, by the figures of a shield; none where nothing
    is counted."""
    events = 0
    for one in figures:
        if (
            one.metric == DECISIONS.name
            and one.labels[0] == Stage.TOOL_CALL.value
            and one.labels[2] in REFUSED
        ):
            events += int(one.values[0])
    return Roi(events, events * TOKENS_A_BLOCK)
