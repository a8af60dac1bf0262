"""Dialogs: a host that asks the person before it hands their answer on. The ticket alone decides
whether it counts."""

from __future__ import annotations

from typing import Any

from stanchion.approvals.answerers import Dialog
from stanchion.approvals.errors import TicketError
from stanchion.hosts.contract.refusal import Refusal
from stanchion.hosts.contract.work import Work
from stanchion.runtime.run import Run


def said(hosted: Work, refusal: Refusal, yes: bool, comment: str) -> bool:
    """Hand an answer on; gives whether it counts. Through a broker none does: it judges in a
    process of its own."""
    if refusal.ticket is None or not isinstance(hosted.run, Run):
        return False
    shield: Any = hosted.run.desk.shield
    by = Dialog(hosted.host.name)
    try:
        if yes:
            shield.approve(refusal.ticket, by=by, comment=comment)
        else:
            shield.deny(
                refusal.ticket, by=by, comment=comment if comment else f"no, says {by.name}"
            )
    except TicketError:
        return False
    return True
