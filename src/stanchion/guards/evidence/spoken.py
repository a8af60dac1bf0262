"""What is wrong with what a text says of files, commands and versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from stanchion.guards.evidence.seen import Seen
from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion.readings.claims.claim import Claim, Predicate
from stanchion.readings.claims.judging import evidence_for
from stanchion.readings.claims.sentences import said_in
from stanchion.readings.claims.verdict import CheckVerdict
from stanchion.readings.shortened import shorten

Kind = Literal["tests", "lint", "files", "contents", "commands", "versions"]

KINDS: Final[dict[Predicate, Kind]] = {
    Predicate.LINES: "contents",
    Predicate.BYTES: "contents",
    Predicate.CONTAINS: "contents",
    Predicate.DIGEST: "contents",
    Predicate.SUCCEEDED: "commands",
    Predicate.VERSION: "versions",
}
"""Which kind of claim a predicate is; the others are about files."""
SHOWN: Final = 60
WORDS: Final = 3
"""How much of a command is shown: what stands behind may be anybody's business."""


def wrong_in(
    texts: Iterable[str],
    seen: Seen,
    refuted: Action | None,
    unproven: Action | None,
    proven: Iterable[Kind],
) -> Iterator[Finding]:
    """What is wrong with what some texts say: what was seen speaks against it, it cannot be so, or,
    for the kinds that have to be `proven`, nothing that was seen shows it."""
    for text in texts:
        for claim, firm in said_in(text, seen.knows):
            found = seen.judge(claim)
            if found.verdict is CheckVerdict.REFUTABLE and refuted is not None:
                yield Finding(
                    refuted,
                    "evidence.refuted",
                    (worded(claim), "what was observed speaks against it"),
                )
            elif found.verdict is CheckVerdict.ILL_TYPED and refuted is not None:
                yield Finding(refuted, "evidence.ill_typed", (worded(claim), found.reason))
            elif (
                found.verdict is CheckVerdict.UNDECIDABLE
                and unproven is not None
                and _needs(claim, firm, proven)
            ):
                yield Finding(unproven, "evidence.unproven", (worded(claim), _missing(claim)))


def _needs(claim: Claim, firm: bool, proven: Iterable[Kind]) -> bool:
    return firm and KINDS.get(claim.predicate, "files") in proven


def worded(claim: Claim) -> str:
    """A claim for who made it. What a file is said to hold is not repeated: it may be a secret."""
    name = f"`{_short(claim.subject)}`"
    match claim.predicate:
        case Predicate.LINES | Predicate.BYTES:
            return f"{name} has {claim.value} {claim.predicate.value}"
        case Predicate.CONTAINS:
            return f"{name} {'contains' if claim.polarity else 'does not contain'} a text"
        case Predicate.DIGEST:
            return f"{name} has a certain SHA-256"
        case Predicate.SUCCEEDED:
            return f"`{_begin(claim)}` {'succeeded' if claim.polarity else 'failed'}"
        case Predicate.VERSION:
            return f"{name} is version {claim.value}"
        case _:
            return f"{name} {'exists' if claim.polarity else 'does not exist'}"


def _missing(claim: Claim) -> str:
    """What would show it."""
    if claim.predicate is Predicate.SUCCEEDED:
        return f"the status of `{_begin(claim)}`"
    return evidence_for(claim)


def _begin(claim: Claim) -> str:
    return _short(" ".join(claim.subject.split()[:WORDS]))


def _short(text: str) -> str:
    return shorten(text, SHOWN)
