"""What a client of a broker raises, and the decision it makes where no broker does."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.kernel.shown import Shown
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "kernel.broker_lost": Words(
            "the broker cannot be reached: {}; the action was not judged, so it is refused",
            "wait until the broker is back, then try again",
        ),
    }
)


class BrokerLost(Shown):
    """The broker cannot be reached, or has not answered; the text says why."""


class NotThroughBroker(Shown, AttributeError):
    """Something that a program cannot do through a broker; the text says what to do in its
    place."""


def unjudged(why: str, stage: Stage | None = None) -> Decision:
    """The refusal of something that no broker has judged; `stage` is that of an outcome, of what
    has happened."""
    code = "kernel.broker_lost" if stage is None else "kernel.done_unjudged"
    return Decision(
        "", Action.BLOCK, "", (Finding(Action.BLOCK, code, (why,), guard="kernel"),), withheld=stage
    )
