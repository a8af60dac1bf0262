"""Judging a claim: proven or refuted by what follows from a fact, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from stanchion.readings.claims.claim import Claim, Predicate, fault, normal
from stanchion.readings.claims.facts import Content, Fact
from stanchion.readings.claims.verdict import CheckVerdict

OF_A_PATH: Final = frozenset({
    Predicate.FILE, Predicate.DIRECTORY, Predicate.NONEMPTY, Predicate.READABLE, Predicate.WRITABLE,
    Predicate.EXECUTABLE, Predicate.LINES, Predicate.BYTES, Predicate.CONTAINS, Predicate.DIGEST,
})  # fmt: skip
"""What holds of nothing that is not there."""
FUNCTIONS: Final = frozenset(
    {Predicate.LINES, Predicate.BYTES, Predicate.DIGEST, Predicate.VERSION}
)
"""What has one value at a time."""


class Known(NamedTuple):
    """A fact, with the observation that it follows from."""

    observation: str
    fact: Fact
    scope: str = ""


class Standing(NamedTuple):
    """What is known of a claim: the observations it follows from, or what is missing."""

    verdict: CheckVerdict
    proof: tuple[str, ...] = ()
    missing: str = ""
    reason: str = ""


def judge(claim: Claim, known: Iterable[Known]) -> Standing:
    """What is known of a claim. Where some facts prove it and others refute it, it is refuted."""
    wrong = fault(claim)
    if wrong:
        return Standing(CheckVerdict.ILL_TYPED, reason=wrong)
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
        return Standing(
            CheckVerdict.REFUTABLE,
            _once(refuting),
            reason=f"what was seen speaks against {asked.text}",
        )
    if proving:
        return Standing(
            CheckVerdict.PROVABLE, _once(proving), reason=f"{asked.text} follows from what was seen"
        )
    return Standing(
        CheckVerdict.UNDECIDABLE,
        missing=evidence_for(asked),
        reason="nothing that was seen decides it",
    )


def _once(ids: list[str]) -> tuple[str, ...]:
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
