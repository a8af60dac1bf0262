"""Retention: records leave the trail only where the environment asks for it and, once there are operators, one of them
has said so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.errors import TicketError
from stanchion.approvals.operators import RECORD, Operator
from stanchion.approvals.proving import doubt, rostered
from stanchion.approvals.request import Request
from stanchion.approvals.rules import Asked
from stanchion.audit.retention import Keep
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import StoreLost, key
from stanchion.runtime.remarks import LOGGER

RETENTION: Final = key(FLEET, "retention")
"""Where it is kept how much of the trail may leave, with the answer that says so."""

CRITICAL: Final = Asked(critical=True)
SUBJECT: Final = "trail"


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator lets leave the trail: what is older than so many days, or more than so many megabytes."""

    days: float | None = None
    megabytes: float | None = None
    why: str = ""
    answer: Answer | None = None

    @property
    def said(self) -> dict[str, Any]:
        """It as it was asked for."""
        return {"days": self.days, "megabytes": self.megabytes, "why": self.why}


def permitted(asked: Keep, store: Any, pinned: Iterable[Operator]) -> Keep:
    """What retention leaves: what the environment asks for, but no less than an operator has said where there are
    operators; everything, where none has."""
    if not asked:
        return asked
    try:
        roster = rostered(pinned, store.read(RECORD)[1])
        if not roster.enrolled:
            return asked
        value = store.read(RETENTION)[1]
        said = None if value is None else msgspec.convert(value, Retention)
        if said is None or not _is_signed(said) or said.answer is None or doubt(roster, said.answer, CRITICAL):
            _remark("no operator has said what may leave the trail: nothing does")
            return Keep()
    except (StoreLost, TicketError, msgspec.ValidationError) as error:
        _remark(f"it is not known what may leave the trail, so nothing does: {error}")
        return Keep()
    size = None if said.megabytes is None else int(said.megabytes * 1024 * 1024)
    return Keep(_longer(asked.days, said.days), _longer(asked.size, size))


def _is_signed(said: Retention) -> bool:
    answer = said.answer
    if answer is None or not answer.act.yes or answer.act.purpose is not Purpose.RETENTION:
        return False
    asked = Request(purpose=Purpose.RETENTION, tenant=FLEET, subject=SUBJECT, said=said.said)
    return answer.act.digest == asked.digest


def _longer(asked: Any, said: Any) -> Any:
    """The milder of two bounds; without a word of the operator for one, it does not count."""
    return None if asked is None or said is None else max(asked, said)


def _remark(words: str) -> None:
    import logging

    logging.getLogger(LOGGER).warning(words)
