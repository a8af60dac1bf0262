"""The late end of a call: it was left when its time was up, and its end is written down when it
comes."""

from __future__ import annotations

from stanchion.audit.journal import Fact
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.left_work import Ended
from stanchion.runtime.standing.veil import tell


def ends_late(desk: Desk, event: Event, decision: Decision) -> Ended:
    """What writes down the end of a call that was left when its time was up."""

    def ended(how: str) -> None:
        info = desk.info
        why = f"`{event.tool}` was still running when its time was up: {how}"
        tell(
            desk.shield,
            Fact(
                desk.shield.clock(), "call.ended_late", decision.id, info.tenant, info.id, why=why
            ),
        )

    return ended
