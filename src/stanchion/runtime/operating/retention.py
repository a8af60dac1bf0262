"""Retention: how much of the trail is kept, and what leaves it. Once there are operators, nothing
does before one of them has said so."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion import typed
from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.digest import Request
from stanchion.approvals.errors import TicketError
from stanchion.approvals.operators import RECORD, Operator
from stanchion.approvals.proof import doubt, rostered
from stanchion.approvals.rules import Asked
from stanchion.audit.retention import Keep
from stanchion.audit.trail import Trail
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import StoreLost, key
from stanchion.runtime.errors import StateError
from stanchion.runtime.people.authority import tell_answered
from stanchion.telemetry.loggers import TRAIL, WARNING, say

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

RETENTION: Final = key(FLEET, "retention")
"""Where it is kept how much of the trail may leave, with the answer that says so."""

USUAL: Final = Keep(90, 1 << 30)
"""What is kept where nobody says anything: the last 90 days, and a gigabyte at the most. Records of
an agent at work take some megabytes a day, so that a disk does not notice; and who looks into
something does so within months."""

CRITICAL: Final = Asked(critical=True)
SUBJECT: Final = "trail"


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator lets leave the trail: what is older than so many days, or more than so many
    megabytes."""

    days: float | None = None
    megabytes: float | None = None
    why: str = ""
    answer: Answer | None = None

    @property
    def said(self) -> dict[str, Any]:
        """It as it was asked for."""
        return {"days": self.days, "megabytes": self.megabytes, "why": self.why}


def permitted(asked: Keep, store: Any, pinned: Iterable[Operator]) -> Keep:
    """What retention leaves: what the environment asks for, or what is usual; but no less than an
    operator has said where there are operators, and everything, where none has."""
    if not asked:
        return asked
    try:
        roster = rostered(pinned, store.read(RECORD)[1])
        if not roster.enrolled:
            return asked
        value = store.read(RETENTION)[1]
        said = None if value is None else typed.convert(value, Retention)
        if (
            said is None
            or not _is_signed(said)
            or said.answer is None
            or doubt(roster, said.answer, CRITICAL)
        ):
            if asked != USUAL:
                _remark("no operator has said what may be removed from the trail, so nothing is")
            return Keep()
    except (StoreLost, TicketError, msgspec.ValidationError) as error:
        if asked != USUAL:
            _remark(f"it is not known what may be removed from the trail, so nothing is: {error}")
        return Keep()
    size = None if said.megabytes is None else int(said.megabytes * 1024 * 1024)
    return Keep(_longer(asked.days, said.days), _longer(asked.size, size))


def said_of(keep: Keep) -> str:
    """How much is kept, in words."""
    days = "everything" if keep.days is None else f"the last {keep.days:g} days"
    if keep.size is None:
        return days
    megabytes = keep.size / (1 << 20)
    size = f"{megabytes:,.0f} MB" if megabytes >= 10 else f"{megabytes:.2g} MB"
    return f"the newest {size}" if keep.days is None else f"{days}, {size} at the most"


def tell_first(folder: Path | None, keep: Keep) -> None:
    """Tell whoever begins a trail at a terminal how much of it is kept, where they have not said so
    themselves."""
    if (
        keep == USUAL
        and folder is not None
        and not folder.exists()
        and sys.stderr is not None
        and sys.stderr.isatty()
    ):
        said = (
            f"stanchion: the trail in {folder} keeps {said_of(keep)}; STANCHION_AUDIT_KEEP_DAYS and"
        )
        sys.stderr.write(f"{said} STANCHION_AUDIT_KEEP_MB change that (`all` keeps everything)\n")


def erased(shield: Shield, request: Request, answer: Answer) -> int:
    """Erase what was said in the records that somebody was asked about, in the shield's trail and
    in those beside it; gives in how many. `StateError` where the shield keeps no trail."""
    from stanchion.audit.erasure import Rows, count_of, erase

    journal = shield.journal
    if not isinstance(journal, Trail):
        raise StateError(
            "this shield keeps its records only in memory: set STANCHION_AUDIT to the trail"
        )
    rows = typed.convert(request.said["records"], Rows)
    beside = typed.convert(request.said.get("beside", {}), dict[str, Rows])
    act = answer.act
    done = erase(journal, rows, act.comment, act.operator)
    for folder, others in beside.items():
        other = Trail(Path(folder))
        try:
            done += erase(other, others, act.comment, act.operator)
        finally:
            other.close()
    count = sum(map(count_of, (rows, *beside.values())))
    tell_answered(shield, "trail.erased", SUBJECT, FLEET, answer, records=count)
    return done


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
    say(TRAIL, WARNING, words)
