"""Acting: an adapter that carries an action out by itself has it judged first, and can still call
it off.

Most adapters have no need of this: `Hosted` does it for them. It is for those that know more than
guards do, such as a transport that finds that a request cannot be sent as it was decided.
"""

from __future__ import annotations

from typing import Any, NoReturn

import msgspec

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.units import JUST_ONE, Amounts
from stanchion.runtime.calling.at_work import Paid, paid
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.judging import admit, assess, lapsed
from stanchion.runtime.deciding.record import give_back
from stanchion.runtime.deciding.spend import reserving, unbook
from stanchion.runtime.driving.flow import Flow


class Going(msgspec.Struct, frozen=True):
    """An action that goes ahead: what was decided, the event as it goes ahead, what it has
    reserved, and the call at work that has paid for it before."""

    decision: Decision
    event: Any
    reserved: Amounts
    payer: Paid | None


def go_ahead(desk: Desk, event: Event, against: tuple[Finding, ...] = ()) -> Flow[Going]:
    """Judge an action that is about to be carried out; raises `Refused` where it is not. `against`
    is what the adapter itself has against it. What the call at work has paid for is not paid
    again."""
    payer = paid()
    payer = payer if payer is not None and payer.take() else None
    reserved = JUST_ONE if payer is not None else reserving(desk, event, JUST_ONE)
    try:
        decision, now = yield from admit(desk, event, reserved, against)
        if desk.allowed.lapsed(decision):
            yield from unbook(desk, now, reserved)
            raise desk.refusal((yield from lapsed(desk, decision, now, reserved)))
    except BaseException:
        if payer is not None:
            payer.give_back()
        raise
    return Going(decision, now, reserved, payer)


def call_off(desk: Desk, going: Going, against: Finding) -> Flow[NoReturn]:
    """Refuse an action that was judged and has not begun: what it took is given back, and the
    refusal is a decision of its own. Raises `Refused`."""
    if going.payer is not None:
        going.payer.give_back()
    yield from unbook(desk, going.event, going.reserved)
    yield from give_back(desk, going.event, going.decision)
    refused, _ = yield from assess(desk, desk.renewed(going.event), going.reserved, (against,))
    raise desk.refusal(refused)
