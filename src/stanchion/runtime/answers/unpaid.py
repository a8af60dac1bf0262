"""What budgets have refused lately: whoever shares one that is used up pays for no answer of a deep
rule."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from stanchion.kernel.counter_scopes import scope_key
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.tuples import NamedTuple
from stanchion.locks import Lock

UNPAID_MS: Final = 10_000
"""So long after a budget has refused something, nobody who shares it pays for answers; then one run
tries again."""
EXCEEDED: Final = "budget.exceeded"
MOST: Final = 4_096
"""How many budgets are remembered; the one that refused longest ago is forgotten first."""


class UnpaidRefusal(NamedTuple):
    """When a guard has last refused something, and which run tries since then whether anything is
    left."""

    guard: str
    at: int
    tries: str = ""


class Unpaid:
    """The budgets that have refused something in this process, each with those who share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._refused: OrderedDict[str, UnpaidRefusal] = OrderedDict()

    def refused(self, policy: Any, run: RunInfo, decision: Decision, now: int) -> None:
        """A budget has refused a run something; where it does not say which one, it is the run's
        own."""
        with self._lock:
            for finding in decision.findings:
                if finding is decision.determining or finding.code == EXCEEDED:
                    place = _place(run, finding.guard, _shared_by(policy, finding))
                    self._refused[place] = UnpaidRefusal(finding.guard, now)
                    self._refused.move_to_end(place)
            while len(self._refused) > MOST:
                self._refused.popitem(last=False)

    def pays(self, policy: Any, run: RunInfo, now: int) -> bool:
        """Whether a run may have anything left to pay with. Of those who share a budget one run
        tries first, and the others ten seconds later, unless it was refused meanwhile."""
        if not self._refused:
            return True
        with self._lock:
            known = [
                (place, one)
                for place, one in self._refused.items()
                if _concerns(policy, run, place, one)
            ]
            if any(now - one.at < UNPAID_MS and one.tries != run.id for _, one in known):
                return False
            for place, one in known:
                if one.tries == "":
                    self._refused[place] = one._replace(at=now, tries=run.id)
                elif now - one.at >= UNPAID_MS:
                    del self._refused[place]
            return True


def _shared_by(policy: Any, finding: Finding) -> Any:
    placed = policy.placed(finding.guard)
    return "run" if placed is None else getattr(placed.guard, "per", "run")


def _place(run: RunInfo, guard: str, per: Any) -> str:
    return scope_key(run, per, "unpaid", guard)


def _concerns(policy: Any, run: RunInfo, place: str, one: UnpaidRefusal) -> bool:
    """Whether a run shares the budget that has refused something: it is of its scope, and the guard
    is for it."""
    seat = policy.seat(one.guard)
    if seat is None:
        return place == _place(run, one.guard, "run")
    return place == _place(
        run, one.guard, getattr(seat.placed.guard, "per", "run")
    ) and seat.concerns_run(run)
