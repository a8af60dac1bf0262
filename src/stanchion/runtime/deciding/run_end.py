"""The end of a run: what is under way in it is left, and its end is written down with what it had
produced."""

from __future__ import annotations

from typing import Final

from stanchion.audit.journal import Finish
from stanchion.kernel.actions import NAMES
from stanchion.kernel.gates import Ending
from stanchion.policy.veil import renamed
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.left import leave
from stanchion.runtime.deciding.taken import kept_for_run
from stanchion.runtime.deciding.under_way import LEFT

CLOSED_HERE: Final = Ending("kernel.ended", "it was closed")
"""The end of a run that was closed: it is this process's own, until somebody ends the run for
all."""


def close(desk: Desk) -> None:
    """End a run because it is closed, unless it has ended before."""
    if desk.ended is None:
        desk.ended = CLOSED_HERE
    end(desk, desk.ended.code, desk.ended.why)
    desk.shield.telemetry.run_ended(desk.info, desk.ended.code)
    if desk.shield.coverage is not None:
        desk.shield.coverage.leave(desk)
    if desk.shield.policy.learns:
        desk.shield.experience.ended(desk.info, desk.plans)


def end(desk: Desk, code: str, why: str) -> None:
    """Write down, once, that a run has ended, with what it had produced; a run that did nothing
    says nothing."""
    desk.answering.stop()
    desk.partial.complete()
    for one in desk.under_way.idle():
        leave(desk, one, how=LEFT)
    if (
        not desk.under_way.at_work()
    ):  # what somebody is still at stays locked for as long as a lock lasts
        desk.shield.unsettled.owe(kept_for_run(desk))
    if desk.told is None or desk.is_over:
        return
    desk.is_over = True
    _tell(desk, code, why)


def _tell(desk: Desk, code: str, why: str) -> None:
    """Write down that a run has ended, what this process decided in it, and what it had
    produced."""
    shield, veil = desk.shield, desk.shield.policy.veil
    decided = {
        NAMES[action]: number for action, number in enumerate(map(next, desk.decided)) if number
    }
    produced, left_out = desk.produced(), desk.partial.left_out
    if desk.veiled:
        produced, left_out = (), left_out + len(produced)
    who = renamed(desk.info, veil.of_run(desk.info))
    shield.telemetry.run_finished(code)
    finish = Finish(
        who,
        shield.clock(),
        code,
        veil.words(why),
        decided,
        produced,
        left_out,
        tuple(desk.flagged),
        dict(desk.strikes),
    )
    if not shield.unwritten.put(lambda: shield.journal.end(finish), f"the end of run `{who.id}`"):
        desk.tell(
            "the audit trail cannot be written: the end of this run is recorded as soon as it can "
            "be"
        )
