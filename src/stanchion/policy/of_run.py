"""Guards that a run brings along, whatever guards its policy has."""

from __future__ import annotations

from stanchion.kernel.events import RunInfo
from stanchion.kernel.guard import Placed
from stanchion.kernel.stages import Stage
from stanchion.policy.mandate import held_to
from stanchion.policy.risk import asking


def guards_of_run(
    stage: Stage, run: RunInfo, approval: bool, shadow: bool, me: tuple[str, ...]
) -> tuple[Placed, ...]:
    """What holds a run to its mandate, and asks a person at a risk level that wants one."""
    asks = asking(stage, run.risk, approval, shadow) if run.risk else ()
    return (*asks, *(held_to(stage, shadow, me) if run.mandate.layers else ()))
