"""A refusal, for a host that has to say it in words and types of its own."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.stages import Stage
from stanchion.runtime.errors import Refused


class Refusal(msgspec.Struct, frozen=True):
    """Something does not go ahead, or what came of it is withheld. Its text is what the agent
    should read.

    `error` is the exception for hosts that raise one. `about` is whatever the host handed in with
    the event: its own request, message or call, to make the answer from.
    """

    error: Refused
    stage: Stage
    tool: str = ""
    about: Any = None

    def __str__(self) -> str:
        return str(self.error)

    @property
    def decision(self) -> Decision:
        """What was decided, and why."""
        return self.error.decision

    @property
    def happened(self) -> bool:
        """Whether the action was done, and only what came of it is withheld: it must not be
        repeated."""
        return self.error.happened

    @property
    def again(self) -> bool:
        """Whether the agent is to try again, as the text says."""
        return self.decision.action == Action.RETRY

    @property
    def waits(self) -> bool:
        """Whether a person's approval is missing; `ticket` is what they were asked."""
        return self.error.waits

    @property
    def ticket(self) -> str | None:
        """The id of what a person was asked, for the host and not for the agent."""
        return self.error.ticket

    @property
    def ended(self) -> bool:
        """Whether the whole run is over."""
        return self.error.ended
