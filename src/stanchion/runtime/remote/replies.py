"""What a client makes of an answer that is not the one it hoped for."""

from __future__ import annotations

from typing import Any, Final

from stanchion.approvals.errors import BypassRefused, TicketError
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.errors import Refused, StateError
from stanchion.runtime.remote.errors import turned_away, unjudged
from stanchion.runtime.remote.messages import ENDED, Done, Misused, Refusal, Sorry

MISUSES: Final[dict[str, type[Exception]]] = {
    "BadEvent": BadEvent,
    "BypassRefused": BypassRefused,
    "StateError": StateError,
    "TicketError": TicketError,
    "TypeError": TypeError,
    "ValueError": ValueError,
}
"""The errors that a broker can name: they say that it was asked for something that makes no
sense."""


def misfit(reply: Any) -> Exception:
    """The error for an answer that does not give what was asked for."""
    if isinstance(reply, Refusal):
        return Refused(
            reply.decision, reply.approvers, reply.partial, reply.ticket, reply.undone, reply.beside
        )
    if isinstance(reply, Misused):
        return MISUSES.get(reply.kind, ValueError)(reply.text)
    return Refused(refused(reply))


def given(reply: Any) -> Any:
    """What a broker gives where it has done what it was asked for; raises what it says
    otherwise."""
    if not isinstance(reply, Done):
        raise misfit(reply)
    return reply.value


def refused(reply: Any) -> Decision:
    """The decision that it does not go ahead, for an answer that is none."""
    if isinstance(reply, Sorry) and reply.code == ENDED:
        ended = Finding(Action.HALT, "kernel.ended", (reply.text,), guard="kernel")
        return Decision("", Action.HALT, "", (ended,))
    return unjudged(
        turned_away(reply) if isinstance(reply, Sorry) else "its answer does not fit what was asked"
    )
