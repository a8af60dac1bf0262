"""What a run may ask of people about what was refused: to let one action past one guardrail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.driving.flow import Flow

if TYPE_CHECKING:
    from stanchion.approvals.bypass import BypassRequest


class AsksForBypass:
    """The methods of a run by which its agent asks to go past a guardrail."""

    _desk: Desk

    def _request_bypass(
        self, /, guardrail: str, reason: str, urgency: str = "normal", *, call: str | None = None
    ) -> Flow[BypassRequest]:
        """Ask people to let an action past the guardrail that refused it: the last one that it refused this run, or
        that of the decision `call`. After their yes the same call goes ahead once when it is made again.

        `urgency` is `normal`, `urgent` or `emergency`. Raises `BypassRefused` where it cannot be asked for like that:
        the guardrail allows no bypass or has refused nothing, or the reason says too little.
        """
        from stanchion.runtime.deciding.bypass_request import request

        return request(self._desk, guardrail, reason, urgency, call)

    request_bypass, arequest_bypass = twins(_request_bypass)
