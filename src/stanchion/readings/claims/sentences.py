"""Sentences: what a text says, as typed claims.

A sentence is read clause by clause: words with marks where paths, code and numbers stand. Each form
below is a way to say one kind of thing, with its verb in the indicative. A clause that hopes,
plans, asks, supposes or reports says nothing, and neither does what is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.claims import forms
from stanchion.readings.claims.claim import Claim, Predicate, normal
from stanchion.readings.claims.clauses import (
    CONDITION,
    Clause,
    Knows,
    Tagged,
    clauses,
    is_stated,
    kind_of,
    leans,
    tagged,
)
from stanchion.readings.claims.forms import number_of
from stanchion.readings.shell.parse import single

MOST: Final = 200
"""How many claims of one text are read."""
_UNSURE: Final = regex(
    r"\b(?:not|never|cannot|unable|unclear|unsure|unknown|asks|wants|claims|claimed|told|reported|"
    r"instead of"
    r"|rather than|can|maybe|perhaps|plan|about to|going "
    r"to|instructions?|requirements?|unlike|imagine|suppose)\b|n't\b"
)
"""Words before a claim with which it is not the speaker who says that it is so."""
_LATER: Final = regex(
    r"^[^.;]{0,12}\b(?:or|and) (?:newer|later|higher|above|up|older|earlier)\b|^ ?\+"
)
_JOINED: Final = regex(
    rf",? and (?=(?:the (?:file|folder|directory) )?{forms.PATH} (?:{forms.VERBS})\b|there "
    rf"(?:is|are)\b)"
)
"""Where a second statement with a subject of its own begins."""
_GOES_ON: Final = regex(
    r",? and (?=(?:now |also |still )?(?:does|has|is|contains|includes|mentions|exists|was)\b)"
)
"""Where a second statement about the same begins."""


_About = tuple[Predicate, str, int | str | None]


class SpokenClaim(NamedTuple):
    """Something that a text says. Without `firm` it may be about something else: it counts only
    where something is known of it."""

    claim: Claim
    firm: bool = True


def said_in(text: str, knows: Knows = lambda _name: False) -> tuple[SpokenClaim, ...]:
    """What a text says as something that is so. `knows` tells which words are names of files that
    were seen."""
    read = tagged(text, knows)
    found: dict[_About, SpokenClaim] = {}
    for clause in _clauses(read.text):
        for one in _in_clause(clause, read):
            about = _about(one.claim)
            before = found.pop(about, one)
            found[about] = SpokenClaim(
                one.claim, one.firm or (before.claim == one.claim and before.firm)
            )
            if len(found) >= MOST:
                return tuple(found.values())
    return tuple(found.values())


def _about(claim: Claim) -> _About:
    """What a claim is about: of two that say different things of it, the last counts."""
    value = claim.value if claim.predicate is Predicate.CONTAINS else None
    return claim.predicate, normal(claim).subject, value


def _clauses(text: str) -> Iterator[Clause]:
    """The clauses of a text; what has no subject gets the one before."""
    for clause in clauses(forms.APPOSED.sub(r"\1 \2 ", text)):
        whole, start = clause.text, 0
        if forms.GATE.search(whole) is None:
            continue
        for turn in [*_JOINED.finditer(whole), None]:
            end = len(whole) if turn is None else turn.start()
            before = (
                whole[:start]
                if leans(whole[:start]) or CONDITION.search(whole[:start]) is not None
                else ""
            )
            for each in _with_subject(whole[start:end]):
                yield Clause(f"{before}{each}", f"{whole[end:]}{clause.follows}")
            start = end if turn is None else turn.end()


def _with_subject(part: str) -> Iterator[str]:
    first, *others = _GOES_ON.split(part)
    yield first
    subject = forms.SUBJECT.search(first)
    for other in others:
        yield f"{subject[0]} {other}" if subject is not None else other


def _in_clause(clause: Clause, read: Tagged) -> Iterator[SpokenClaim]:
    for form, claims in _FORMS:
        for match in form.finditer(clause.text):
            before, after = clause.text[: match.start()], clause.text[match.end() :]
            if (
                is_stated(before, match[0], after, clause.follows)
                and not _UNSURE.search(before)
                and not _LATER.search(after)
            ):
                yield from claims(match, read)


def _counts(match: re.Match[str], read: Tagged) -> Iterator[SpokenClaim]:
    for number, unit in (("n", "unit"), ("n2", "unit2")):
        groups = match.groupdict()
        if groups.get(number) is not None:
            kind = Predicate.LINES if groups[unit].startswith("line") else Predicate.BYTES
            yield SpokenClaim(
                Claim(kind, read.piece(match["p"]), number_of(read.piece(groups[number])))
            )


def _empty(match: re.Match[str], read: Tagged) -> Iterator[SpokenClaim]:
    """A file without a byte; of a folder nothing is known that speaks against it."""
    yield SpokenClaim(Claim(Predicate.BYTES, read.piece(match["p"]), 0), firm=False)


def _exists(match: re.Match[str], read: Tagged) -> Iterator[SpokenClaim]:
    yield SpokenClaim(
        Claim(Predicate.EXISTS, read.piece(match["p"]), polarity=not match.groupdict().get("no"))
    )


def _made(match: re.Match[str], read: Tagged) -> Iterator[SpokenClaim]:
    """Files that somebody says to have made or taken away."""
    groups = match.groupdict()
    if groups.get("between") and forms.ELSEWHERE.search(groups["between"]) is not None:
        return
    for mark in forms.MARKED.findall(match["p"]):
        yield SpokenClaim(
            Claim(Predicate.EXISTS, read.piece(mark), polarity=groups.get("gone") is None)
        )


def _moved(match: re.Match[str], read: Tagged) -> Iterator[SpokenClaim]:
    if match["copied"] is None:
        yield SpokenClaim(Claim(Predicate.EXISTS, read.piece(match["p"]), polarity=False))
    yield SpokenClaim(Claim(Predicate.EXISTS, read.piece(match["to"])))


def _contains(match: re.Match[str], read: Tagged) -> Iterator[SpokenClaim]:
    value = read.piece(match["t"])
    yield SpokenClaim(
        Claim(Predicate.CONTAINS, read.piece(match["p"]), value, not match.groupdict().get("no"))
    )


def _digest(match: re.Match[str], read: Tagged) -> Iterator[SpokenClaim]:
    yield SpokenClaim(
        Claim(Predicate.DIGEST, read.piece(match["p"]), read.piece(match["h"]).lower())
    )


def _ended(match: re.Match[str], read: Tagged) -> Iterator[SpokenClaim]:
    """A command that is given as it was run."""
    code = read.piece(match["c"])
    argv = single(code)
    if argv is None or "(" in code:
        return
    firm = len(argv) > 1 and kind_of(match["c"]) == "c"
    yield SpokenClaim(Claim(Predicate.SUCCEEDED, code, polarity=_went_well(match, read)), firm)


def _went_well(match: re.Match[str], read: Tagged) -> bool:
    """Whether a command is said to have gone well, by a word or by its status."""
    status = match.groupdict().get("rc")
    return match["bad"] is None and (status is None or number_of(read.piece(status)) == 0)


def _went(match: re.Match[str], read: Tagged) -> Iterator[SpokenClaim]:
    """What a command does, as a noun."""
    noun = match["noun"]
    if noun not in forms.CHECKS:
        yield SpokenClaim(
            Claim(Predicate.SUCCEEDED, noun, polarity=_went_well(match, read)),
            forms.stem(noun) in forms.DEEDS,
        )


def _version(match: re.Match[str], read: Tagged) -> Iterator[SpokenClaim]:
    program, value = (
        read.piece(match["prog"]).lower().removesuffix(" --version"),
        read.piece(match["v"]),
    )
    if program in forms.NO_PROGRAMS or " " in program:
        return
    firm = match.groupdict().get("loose") is None or value.count(".") > 1
    yield SpokenClaim(Claim(Predicate.VERSION, program, value.removeprefix("v")), firm)


_FORMS: Final = (
    *[(form, _counts) for form in forms.COUNTS],
    (forms.EMPTY, _empty),
    *[(form, _exists) for form in forms.EXISTS],
    *[(form, _made) for form in forms.MADE],
    (forms.MOVED, _moved),
    *[(form, _contains) for form in forms.CONTAINS],
    *[(form, _digest) for form in forms.DIGESTS],
    *[(form, _ended) for form in forms.ENDED],
    (forms.WENT, _went),
    *[(form, _version) for form in forms.VERSIONS],
)
