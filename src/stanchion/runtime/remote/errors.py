"""What a client of a broker raises, and the decision it makes where no broker does."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.kernel.shown import Shown
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.runtime.remote.messages import BUSY, Sorry

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
