"""What a client of a broker raises, and the decision it makes where no broker does."""

from __future__ import annotations

from typing import Any, Final

from stanchion.approvals.errors import BypassRefused, TicketError
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.kernel.shown import Shown
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.errors import Refused, StateError
from stanchion.runtime.remote.messages import BUSY, ENDED, Done, Misused, Refusal, Sorry

CODES: Final = declare(
    {
        "kernel.broker_lost": Words(
            "the broker cannot be reached: {}; the action was not judged, so it is refused",
            "wait until the broker is back, then try again",
        ),
        "kernel.broker_busy": Words(
            "the broker takes in nothing more of this user: {}; the action was not judged, so it "
            "is refused",
            "wait until what is under way has ended, then try again",
        ),
    }
)


class BrokerLost(Shown):
    """The broker cannot be reached, or has not answered; the text says why."""


class BrokerBusy(BrokerLost):
    """So much of this user is under way that the broker takes in nothing more; the text says
    what."""


class NotThroughBroker(Shown, AttributeError):
    """Something that a program cannot do through a broker; the text says what to do in its
    place."""


def turned_away(sorry: Sorry) -> BrokerLost:
    """The error for a broker that cannot answer."""
    return (BrokerBusy if sorry.code == BUSY else BrokerLost)(sorry.text)


def unjudged(why: Exception | str, stage: Stage | None = None) -> Decision:
    """The refusal of something that no broker has judged; `stage` is that of an outcome, of what
    has happened."""
    lost = "kernel.broker_busy" if isinstance(why, BrokerBusy) else "kernel.broker_lost"
    code = lost if stage is None else "kernel.done_unjudged"
    found = Finding(Action.BLOCK, code, (str(why),), guard="kernel")
    return Decision("", Action.BLOCK, "", (found,), withheld=stage)


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


def value_of(reply: Any) -> Any:
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
