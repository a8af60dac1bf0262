"""Judging claims by facts and by what is evident of a run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from stanchion.readings.claims.claim import CheckVerdict, Claim, Predicate, fault, normal
from stanchion.readings.claims.facts import Content, Fact, Ran, facts
from stanchion.readings.word_lists import Strings

OF_A_PATH: Final = frozenset({
    Predicate.FILE, Predicate.DIRECTORY, Predicate.NONEMPTY, Predicate.READABLE, Predicate.WRITABLE,
    Predicate.EXECUTABLE, Predicate.LINES, Predicate.BYTES, Predicate.CONTAINS, Predicate.DIGEST,
})  # fmt: skip
"""What holds of nothing that is not there."""
FUNCTIONS: Final = frozenset(
    {Predicate.LINES, Predicate.BYTES, Predicate.DIGEST, Predicate.VERSION}
)
"""What has one value at a time."""


class ObservedFact(NamedTuple):
    """A fact, with the observation that it follows from."""

    observation: str
    fact: Fact
    scope: str = ""


class ClaimStanding(NamedTuple):
    """What is known of a claim: the observations it follows from, or what is missing."""

    verdict: CheckVerdict
    proof: Strings = ()
    missing: str = ""
    reason: str = ""


def judge(claim: Claim, known: Iterable[ObservedFact]) -> ClaimStanding:
    """What is known of a claim. Where some facts prove it and others refute it, it is refuted."""
    wrong = fault(claim)
    if wrong:
        return ClaimStanding(CheckVerdict.ILL_TYPED, reason=wrong)
    asked = normal(claim)
    proving: list[str] = []
    refuting: list[str] = []
    for one in known:
        if one.scope != asked.scope:
            continue
        holds = follows(one.fact, asked)
        if holds is not None:
            (proving if holds is asked.polarity else refuting).append(one.observation)
    if refuting:
        return ClaimStanding(
            CheckVerdict.REFUTABLE,
            _once(refuting),
            reason=f"what was seen speaks against {asked.text}",
        )
    if proving:
        return ClaimStanding(
            CheckVerdict.PROVABLE, _once(proving), reason=f"{asked.text} follows from what was seen"
        )
    return ClaimStanding(
        CheckVerdict.UNDECIDABLE,
        missing=evidence_for(asked),
        reason="nothing that was seen decides it",
    )


def _once(ids: list[str]) -> Strings:
    return tuple(dict.fromkeys(ids))


def follows(fact: Fact, asked: Claim) -> bool | None:
    """Whether what is asked holds where a fact does, whichever way it is claimed; `None` where that
    is open."""
    if isinstance(fact, Content):
        return _from_content(fact, asked) if fact.path == asked.subject else None
    if fact.subject != asked.subject:
        return None
    if fact.predicate is asked.predicate:
        if fact.value == asked.value:
            return fact.polarity
        return False if fact.polarity and fact.predicate in FUNCTIONS else None
    return _from_claim(fact, asked)


def _from_claim(fact: Claim, asked: Claim) -> bool | None:
    """What a fact with another predicate about the same says.

    Cases, in this order: of what is not there nothing holds; what was read or measured is there; a
    file is no directory, nor the other way round; in few bytes there is no long text. Whether a
    size is above 0 is for `test -s` to say: there are files that have something to read and no
    size.
    """
    kind, want = fact.predicate, asked.predicate
    if kind is Predicate.EXISTS:
        return False if not fact.polarity and want in OF_A_PATH else None
    if not fact.polarity or kind not in OF_A_PATH:
        return None
    if want is Predicate.EXISTS:
        return True
    if {kind, want} == {Predicate.FILE, Predicate.DIRECTORY}:
        return False
    if kind is Predicate.BYTES and isinstance(fact.value, int):
        return _from_size(fact.value, asked)
    return None


def _from_size(size: int, asked: Claim) -> bool | None:
    match asked.predicate:
        case Predicate.LINES if size == 0:
            return asked.value == 0
        case Predicate.CONTAINS if size < len(str(asked.value).encode()):
            return False
        case _:
            return None


def _from_content(fact: Content, asked: Claim) -> bool | None:
    match asked.predicate:
        case Predicate.EXISTS:
            return True
        case Predicate.CONTAINS:
            found = str(asked.value) in fact.text
            return True if found else False if fact.whole else None
        case Predicate.LINES if fact.whole:
            return fact.text.count("\n") == asked.value
        case Predicate.BYTES if fact.whole:
            return len(fact.text.encode()) == asked.value
        case _:
            return None


def evidence_for(claim: Claim) -> str:
    """A command whose outcome would decide a claim."""
    path = claim.subject if not claim.subject.startswith("-") else f"./{claim.subject}"
    commands = {
        Predicate.EXISTS: f"test -e {path}",
        Predicate.FILE: f"test -f {path}",
        Predicate.DIRECTORY: f"test -d {path}",
        Predicate.NONEMPTY: f"test -s {path}",
        Predicate.READABLE: f"test -r {path}",
        Predicate.WRITABLE: f"test -w {path}",
        Predicate.EXECUTABLE: f"test -x {path}",
        Predicate.LINES: f"wc -l {path}",
        Predicate.BYTES: f"wc -c {path}",
        Predicate.CONTAINS: f"grep -F -- TEXT {path}",
        Predicate.DIGEST: f"sha256sum {path}",
        Predicate.SUCCEEDED: claim.subject,
        Predicate.VERSION: f"{claim.subject} --version",
    }
    leave = " with leave to write" if claim.predicate is Predicate.WRITABLE else ""
    return f"an observation of `{commands[claim.predicate]}`{leave}"


ABOUT_RUNS = frozenset({Predicate.SUCCEEDED})
"""What is said of a command that was run, and not of the world."""


class Evidence:
    """Facts by what they are about. What was seen of the world holds until something may have
    changed it; of a command that was run again, the last run counts."""

    def __init__(self) -> None:
        self._world: dict[str, dict[str, _About]] = {}
        self._runs: dict[tuple[str, str], ObservedFact] = {}

    def take(
        self, observation: str, ran: Ran, changes: bool, scope: str = ""
    ) -> tuple[ObservedFact, ...]:
        """Learn from a command; gives what is new. One that could change something makes what was
        seen before old."""
        if changes:
            self._world.pop(scope, None)
        came = [ObservedFact(observation, fact, scope) for fact in facts(ran)]
        return tuple([one for one in came if self._is_new(one)])

    def stopped(self, argv: Strings, scope: str = "") -> Claim:
        """Learn that a command was run and did not end: how it ended before says nothing any more.
        Gives the claim of which nothing is known now."""
        claim = Claim(Predicate.SUCCEEDED, shlex.join(argv), scope=scope)
        self._runs.pop((scope, claim.subject), None)
        return claim

    def _is_new(self, one: ObservedFact) -> bool:
        """Keep a fact; says whether it was not known before."""
        fact, subject = one.fact, subject_of(one.fact)
        if isinstance(fact, Claim) and fact.predicate in ABOUT_RUNS:
            before = self._runs.get((one.scope, subject))
            self._runs[one.scope, subject] = one
            return before is None or before.fact != fact
        return self._world.setdefault(one.scope, {}).setdefault(subject, _About()).keep(one)

    def known(self, claim: Claim) -> Iterator[ObservedFact]:
        """What still holds and can say something of a claim: how much that is does not grow with
        what else is known."""
        asked = normal(claim)
        about = self._world.get(asked.scope, {}).get(asked.subject)
        if about is not None:
            yield from about.known(asked)
        ran = self._runs.get((asked.scope, asked.subject))
        if ran is not None:
            yield ran

    def judge(self, claim: Claim) -> ClaimStanding:
        """What is known of a claim now."""
        return judge(claim, self.known(claim))


class _About:
    """What is known of one subject. There may be any number of texts that are in a file or not:
    they are found by what they say, and the last of those that are in it stands for all where only
    that counts."""

    def __init__(self) -> None:
        self._facts: dict[Fact, ObservedFact] = {}
        self._texts: dict[Fact, ObservedFact] = {}
        self._held: ObservedFact | None = None

    def keep(self, one: ObservedFact) -> bool:
        """Keep a fact, by the observation that showed it last; says whether it was not known
        before."""
        fact, into = one.fact, self._facts
        if isinstance(fact, Claim) and fact.predicate is Predicate.CONTAINS:
            into = self._texts
            self._held = one if fact.polarity else self._held
        new = fact not in into
        into[fact] = one
        return new

    def known(self, asked: Claim) -> Iterator[ObservedFact]:
        """What says something of a claim."""
        yield from self._facts.values()
        if asked.predicate is Predicate.CONTAINS:
            yield from [self._texts[one] for one in (asked, asked.denied()) if one in self._texts]
        elif self._held is not None:
            yield self._held


def subject_of(fact: Fact) -> str:
    """What a fact is about."""
    return fact.subject if isinstance(fact, Claim) else fact.path
