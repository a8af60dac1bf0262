"""Asking a broker: for people, whose tickets it checks and keeps, and for what it knows of
tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stanchion.runtime.calling.call_methods import AsksForBypass
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.remote.messages import Advise, AskBypass, Escalate, Value
from stanchion.runtime.remote.replies import given
from stanchion.runtime.remote.sharing import sent
from stanchion.runtime.values import arguments

if TYPE_CHECKING:
    from stanchion.approvals.bypass import BypassRequest


class AsksBroker(AsksForBypass):
    """Asks people where a run's actions are judged by a broker."""

    _named: Callable[[], dict[str, Any]]
    _simply: Callable[[Callable[[], Any]], Flow[Any]]

    def _asked_past(
        self, guardrail: str, reason: str, urgency: str, call: str | None
    ) -> Flow[BypassRequest]:
        about: dict[str, Any] = {
            "guardrail": guardrail,
            "reason": reason,
            "urgency": urgency,
            "call": call,
        }
        reply = yield from self._simply(lambda: AskBypass(**self._named(), **about))

        from stanchion import typed
        from stanchion.approvals.bypass import BypassRequest

        return typed.convert(given(reply), BypassRequest)

    def _escalate(self, /, reason: str) -> Flow[str]:
        """Ask for a person to look at this run, with what was refused last; gives the ticket's
        id."""
        return str(
            given((yield from self._simply(lambda: Escalate(**self._named(), reason=reason))))
        )

    def _awareness(self, /, *, tokens: int | None = None) -> Flow[str]:
        """What the agent should know of its tools, for its prompt, in no more than so many
        tokens."""
        return str(given((yield from self._simply(lambda: Advise(**self._named(), tokens=tokens)))))

    def _advice(self, /, tool: str, args: dict[str, Any] | None = None) -> Flow[str]:
        """Advice about a call: what is known of its tool, and how the arguments differ from a call
        that worked."""
        value: Value = sent(lambda: arguments({} if args is None else args, copies=False))[0]
        return str(
            given((yield from self._simply(lambda: Advise(**self._named(), tool=tool, args=value))))
        )

    escalate, aescalate = twins(_escalate)
    awareness, aawareness = twins(_awareness)
    advice, aadvice = twins(_advice)
