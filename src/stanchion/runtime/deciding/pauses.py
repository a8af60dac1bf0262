"""Pauses: a run or its step that waits with an action until a person has answered for that."""

from __future__ import annotations

from typing import Any, Final

from stanchion.approvals.ticket import Ticket
from stanchion.kernel.compare_and_set import LEFT
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Pause
from stanchion.kernel.gates import Paused, ending_key, stop_of, with_stop
from stanchion.kernel.state import ABSENT, StoreLost
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow, TurnWait


def hold_up(desk: Desk, decision: Decision, ticket: Ticket) -> Flow[None]:
    """Have the run wait in every process for as long as a ticket is open, where the finding behind
    it says so. A run that has ended, or waits for another ticket, is left as it is."""
    terms = None if decision.determining is None else decision.determining.terms
    if not isinstance(terms, Pause) or terms.scope == "tool_call":
        return
    pause = Paused(ticket.id, terms.scope, ticket.expires_at)

    def paused(value: Any, now: int) -> Any:
        told = stop_of(value)
        stands = told is not None and not (isinstance(told, Paused) and now >= told.until)
        return LEFT if stands else with_stop(value, pause)

    yield from desk.change(_place(desk), paused, f"{decision.id}.pause")


WAITS: Final = {
    "step": (
        "the agent's step waits for the answer: until it asks its model again, no other call begins"
    ),
    "run": "the whole run waits for the answer: until then nothing else begins",
}


def held_up(decision: Decision) -> dict[str, Any]:
    """What a person is told who answers for an action with which more waits."""
    terms = None if decision.determining is None else decision.determining.terms
    said = WAITS.get(terms.scope) if isinstance(terms, Pause) else None
    return {} if said is None else {"waits": said}


def next_step(desk: Desk) -> Flow[None]:
    """The run asks its model, which begins another step: what held up the one before is over."""
    if not _waits(desk.shield.records.get(_place(desk), ABSENT)[1], "step"):
        return
    try:
        yield from desk.change(
            _place(desk),
            lambda value, _now: with_stop(value, None) if _waits(value, "step") else LEFT,
            f"{desk.new_id()}.step",
        )
    except StoreLost:
        desk.tell(
            "the store could not be reached: what held up the last step holds up this one as well"
        )


def _place(desk: Desk) -> str:
    return ending_key(desk.info.tenant, desk.info.id)


def _waits(value: Any, scope: str) -> bool:
    told = stop_of(value)
    return isinstance(told, Paused) and told.scope == scope


FIRST_S: Final = 0.05
LONGEST_S: Final = 1.0
"""How long a caller who waits lets the store rest between two looks: first, and at most."""


class AnswerPatience:
    """The time that one caller has for an answer: what the policy gives, and never more than the
    run's deadline."""

    def __init__(self, desk: Desk, waits: bool = True) -> None:
        self._desk = desk
        self._pause_s = FIRST_S
        self._left_s = desk.shield.policy.file.escalation.wait_s if waits else 0.0
        if desk.deadline_at_ms is not None:
            self._left_s = min(self._left_s, (desk.deadline_at_ms - desk.shield.clock()) / 1000)

    @property
    def is_over(self) -> bool:
        """Whether the caller waits no longer: its time is over, or its run is."""
        return self._left_s <= 0 or self._desk.ended is not None

    def pause(self, key: str) -> Flow[None]:
        """Wait until a ticket is answered in this process, by its key, or for a while, which is
        longer each time."""
        waiting = self._desk.shield.waiting
        place = waiting.join(key)
        try:
            yield TurnWait(place, min(self._pause_s, self._left_s))
        finally:
            waiting.leave(key, place)
        self._left_s -= self._pause_s
        self._pause_s = min(self._pause_s * 2, LONGEST_S)
