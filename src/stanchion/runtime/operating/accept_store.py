"""Going on with a store that has lost what it held, because an operator says so."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.answerers import By
from stanchion.approvals.request import Request
from stanchion.audit.errors import AuditLost
from stanchion.kernel.scopes import FLEET
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.errors import StateError
from stanchion.runtime.people.authority import tell_answered

if TYPE_CHECKING:
    from stanchion.runtime.operating.grounds import Operated
    from stanchion.runtime.standing.epoch_memory import Memory


def accept_store(
    shield: Operated, why: str, *, restored: bool = False, by: By = "an operator"
) -> int:
    """Let everybody go on with the store as it is, although it has lost what it held
    (`kernel.store_forgot`).

    `restored` says that it is a backup: then approvals in it that are not used yet are taken back
    first, because they may have been used since it was made. Says how many those are. What the
    store holds stays held: spend is charged until it is settled, and permits come back when their
    time is over. `AnswerRefused` where `by` is no operator.
    """
    _lasting(shield)
    request = Request(
        purpose=Purpose.STORE,
        tenant=FLEET,
        subject="store",
        said={"restored": restored, "why": why},
    )
    return int(shield.act(request, by))


def accepted(shield: Operated, request: Request, answer: Answer) -> int:
    """Accept the store, as an operator has said."""
    memory, restored = _lasting(shield), bool(request.said["restored"])
    how, by = "restored" if restored else "accepted", answer.act.operator
    why = answer.act.comment
    unused = [one for one in shield.tickets(FLEET, "approved") if restored]
    for ticket in unused:
        shield.deny(
            ticket.id,
            by=by,
            comment=f"the store was restored from a backup: {why}",
            tenant=ticket.tenant,
        )
    for tenant, grant in shield.grants() if restored else []:
        shield.revoke(grant.id, by=by, why="the store was restored from a backup", tenant=tenant)
    epoch = drive(memory.begin(how, by, why), shield)
    with contextlib.suppress(AuditLost):
        data: dict[str, Any] = {"epoch_at": epoch.at, "approvals_taken_back": len(unused)}
        tell_answered(shield, f"store.{how}", "store", FLEET, answer, **data)
    return len(unused)


def _lasting(shield: Operated) -> Memory:
    """What is known of the store's epoch; `StateError` where it ends with the process."""
    if shield.memory is None:
        raise StateError("this store lives in memory only: there is nothing to accept")
    return shield.memory
