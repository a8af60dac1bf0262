"""What is known at a time: facts that still hold, each with the observation that it follows
from."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from stanchion.readings.claims.claim import Claim, Predicate, normal
from stanchion.readings.claims.facts import Fact, Ran, facts
from stanchion.readings.claims.judging import Known, Standing, judge

ABOUT_RUNS = frozenset({Predicate.SUCCEEDED})
"""What is said of a command that was run, and not of the world."""


class Evidence:
    """Facts by what they are about. What was seen of the world holds until something may have
    changed it; of a command that was run again, the last run counts."""

    def __init__(self) -> None:
        self._world: dict[str, dict[str, _About]] = {}
        self._runs: dict[tuple[str, str], Known] = {}

    def take(self, observation: str, ran: Ran, changes: bool, scope: str = "") -> tuple[Known, ...]:
        """Learn from a command; gives what is new. One that could change something makes what was
        seen before old."""
        if changes:
            self._world.pop(scope, None)
        came = [Known(observation, fact, scope) for fact in facts(ran)]
        return tuple([one for one in came if self._is_new(one)])

    def stopped(self, argv: tuple[str, ...], scope: str = "") -> Claim:
        """Learn that a command was run and did not end: how it ended before says nothing any more.
        Gives the claim of which nothing is known now."""
        claim = Claim(Predicate.SUCCEEDED, shlex.join(argv), scope=scope)
        self._runs.pop((scope, claim.subject), None)
        return claim

    def _is_new(self, one: Known) -> bool:
        """Keep a fact; says whether it was not known before."""
        fact, subject = one.fact, subject_of(one.fact)
        if isinstance(fact, Claim) and fact.predicate in ABOUT_RUNS:
            before = self._runs.get((one.scope, subject))
            self._runs[one.scope, subject] = one
            return before is None or before.fact != fact
        return self._world.setdefault(one.scope, {}).setdefault(subject, _About()).keep(one)

    def known(self, claim: Claim) -> Iterator[Known]:
        """What still holds and can say something of a claim: how much that is does not grow with
        what else is known."""
        asked = normal(claim)
        about = self._world.get(asked.scope, {}).get(asked.subject)
        if about is not None:
            yield from about.known(asked)
        ran = self._runs.get((asked.scope, asked.subject))
        if ran is not None:
            yield ran

    def judge(self, claim: Claim) -> Standing:
        """What is known of a claim now."""
        return judge(claim, self.known(claim))


class _About:
    """What is known of one subject. There may be any number of texts that are in a file or not:
    they are found by what they say, and the last of those that are in it stands for all where only
    that counts."""

    def __init__(self) -> None:
        self._facts: dict[Fact, Known] = {}
        self._texts: dict[Fact, Known] = {}
        self._held: Known | None = None

    def keep(self, one: Known) -> bool:
        """Keep a fact, by the observation that showed it last; says whether it was not known
        before."""
        fact, into = one.fact, self._facts
        if isinstance(fact, Claim) and fact.predicate is Predicate.CONTAINS:
            into = self._texts
            self._held = one if fact.polarity else self._held
        new = fact not in into
        into[fact] = one
        return new

    def known(self, asked: Claim) -> Iterator[Known]:
        """What says something of a claim."""
        yield from self._facts.values()
        if asked.predicate is Predicate.CONTAINS:
            yield from [self._texts[one] for one in (asked, asked.denied()) if one in self._texts]
        elif self._held is not None:
            yield self._held


def subject_of(fact: Fact) -> str:
    """What a fact is about."""
    return fact.subject if isinstance(fact, Claim) else fact.path
