"""What is known at a time: facts that still hold, each with the observation that it follows from."""

from __future__ import annotations

from collections.abc import Iterator

from stanchion.readings.claims.claim import Claim, Predicate
from stanchion.readings.claims.facts import Ran, facts
from stanchion.readings.claims.judging import Known, Standing, judge

ABOUT_RUNS = frozenset({Predicate.SUCCEEDED})
"""What is said of a command that was run, and not of the world."""


class Evidence:
    """Facts by what they are about. What was seen of the world holds until something may have changed it; of a command
    that was run again, the last run counts."""

    def __init__(self) -> None:
        self._world: list[Known] = []
        self._runs: dict[tuple[str, str], Known] = {}

    def take(self, observation: str, ran: Ran, changes: bool, scope: str = "") -> tuple[Known, ...]:
        """Learn from a command; gives what is new. One that could change something makes what was seen before old."""
        if changes:
            self._world = [one for one in self._world if one.scope != scope]
        came = tuple(Known(observation, fact, scope) for fact in facts(ran))
        new = tuple(one for one in came if not self._has(one))
        for one in came:
            if isinstance(one.fact, Claim) and one.fact.predicate in ABOUT_RUNS:
                self._runs[scope, one.fact.subject] = one
            else:
                self._world.append(one)
        return new

    def _has(self, one: Known) -> bool:
        return any(other.fact == one.fact and other.scope == one.scope for other in self.known())

    def known(self) -> Iterator[Known]:
        """Everything that still holds, oldest first."""
        yield from self._world
        yield from self._runs.values()

    def judge(self, claim: Claim) -> Standing:
        """What is known of a claim now."""
        return judge(claim, self.known())
