"""Asking people through a broker, for a bypass or to look at a run: the broker checks it and keeps the ticket."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stanchion.runtime.calling.call_methods import AsksForBypass
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.remote.messages import AskBypass, Escalate
from stanchion.runtime.remote.replies import given

if TYPE_CHECKING:
    from stanchion.approvals.bypass import BypassRequest


class AsksBroker(AsksForBypass):
    """Asks people where a run's actions are judged by a broker."""

    _named: Callable[[], dict[str, Any]]
    _simply: Callable[[Callable[[], Any]], Flow[Any]]

    def _asked_past(self, guardrail: str, reason: str, urgency: str, call: str | None) -> Flow[BypassRequest]:
        about: dict[str, Any] = {"guardrail": guardrail, "reason": reason, "urgency": urgency, "call": call}
        reply = yield from self._simply(lambda: AskBypass(**self._named(), **about))
        import msgspec

        from stanchion.approvals.bypass import BypassRequest

        return msgspec.convert(given(reply), BypassRequest)

    def _escalate(self, /, reason: str) -> Flow[str]:
        """Ask for a person to look at this run, with what was refused last; gives the ticket's id."""
        return str(given((yield from self._simply(lambda: Escalate(**self._named(), reason=reason)))))

    escalate, aescalate = twins(_escalate)
