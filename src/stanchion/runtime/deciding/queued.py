"""Queueing: an action that waits for capacity or time, and is then judged again."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Wait
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.terms import terms_of
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.needs import Pause

WAIT: Final = Wait()


class Patience:
    """How long one action has waited so far."""

    def __init__(self) -> None:
        self._waited_ms = 0

    def wait(self, desk: Desk, event: Event, decision: Decision) -> Flow[Event | None]:
        """Wait, and give the action once more for a new judgement; `None` where it has waited long
        enough."""
        terms = terms_of(decision, WAIT)
        if self._waited_ms + terms.pause_ms > terms.timeout_ms:
            return None
        self._waited_ms += terms.pause_ms
        yield Pause(terms.pause_ms / 1000)
        return desk.renewed(event)
