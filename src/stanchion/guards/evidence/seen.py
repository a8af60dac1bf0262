"""What a run has seen: files that it changed, what it was told, and what it says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import join
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion.readings.claims.claim import (
    PATHLESS,
    CheckVerdict,
    Claim,
    Predicate,
    fault,
    same_path,
)
from stanchion.readings.claims.evidence import ClaimStanding, ObservedFact, evidence_for, judge
from stanchion.readings.claims.facts import Content, Fact
from stanchion.readings.claims.forms import stem
from stanchion.readings.claims.gist import Gist, gist_of
from stanchion.readings.claims.sentences import said_in
from stanchion.readings.fingerprint import digest
from stanchion.readings.shell.parse import single
from stanchion.readings.shortened import shorten

SUBJECTS: Final = 48
GISTS: Final = 8
TOLD: Final = 12
RUNS: Final = 24
VERSIONS: Final = 16
UNDER_WAY: Final = 16
"""How many of each are remembered: the last ones."""
MOST_WORDS: Final = 4
"""How many words of a command name what it does."""

Kept = tuple[str, ...]


class Changes(NamedTuple):
    """What a call may change: these paths, or anything (`all`)."""

    all: bool = False
    paths: Kept = ()

    @property
    def any(self) -> bool:
        """Whether it may change something."""
        return self.all or bool(self.paths)


class Learnt(NamedTuple):
    """What follows from a call: facts, and the paths that it has made or taken away itself."""

    facts: tuple[Fact, ...] = ()
    own: frozenset[str] = frozenset()


class SeenFact(Struct, frozen=True, array_like=True):
    """A fact about a path; a text that is in a file or not stands as its digest."""

    predicate: Predicate
    value: int | str | None
    holds: bool


class About(Struct, frozen=True, array_like=True):
    """What is known of a path. `own`: the run has made it or taken it away itself. `ends`: its last
    line ends, as far as is known; where it does not, people count it and `wc` does not, and both
    are right."""

    told: tuple[SeenFact, ...] = ()
    gist: Gist | None = None
    own: bool = False
    ends: bool = True

    def with_fact(self, fact: Fact, own: bool) -> About:
        """The same with what was seen last."""
        if isinstance(fact, Content):
            return self._with_content(fact, own)
        hidden = fact.predicate is Predicate.CONTAINS
        value = digest("text", str(fact.value)) if hidden else fact.value
        return self._with(
            (SeenFact(fact.predicate, value, fact.polarity),), self.gist, own, self.ends
        )

    def _with_content(self, fact: Content, own: bool) -> About:
        """What a file holds. What was printed without a last end of line may have lost more than
        that."""
        ends = fact.text.endswith("\n") or (own and not fact.text)
        told = [SeenFact(Predicate.EXISTS, None, True)]
        if fact.whole and (ends or own):
            size = len(fact.text.encode("utf-8", "surrogatepass"))
            told.append(SeenFact(Predicate.LINES, fact.text.count("\n"), True))
            told.append(SeenFact(Predicate.BYTES, size, True))
        return self._with(tuple(told), gist_of(fact.text, fact.whole), own, ends or not own)

    def _with(self, new: tuple[SeenFact, ...], gist: Gist | None, own: bool, ends: bool) -> About:
        keys = {_key(one) for one in new}
        told = (*[one for one in self.told if _key(one) not in keys], *new)
        return About(told[-TOLD:], gist, self.own or own, ends)

    def facts(self, asked: Claim) -> Iterator[Claim]:
        """What is known, as facts about what is asked."""
        text = digest("text", str(asked.value)) if asked.predicate is Predicate.CONTAINS else None
        for one in self.told:
            value = one.value
            short = one.predicate is Predicate.LINES and not self.ends and asked.polarity
            if short and value == _less(asked.value):
                value = asked.value
            if one.predicate is Predicate.CONTAINS and value == text:
                value = asked.value
            yield Claim(one.predicate, asked.subject, value, one.holds)
        if asked.predicate is Predicate.CONTAINS and self.gist is not None:
            has = self.gist.has(str(asked.value))
            if has is not None:
                yield Claim(Predicate.CONTAINS, asked.subject, asked.value, has)


def _key(one: SeenFact) -> tuple[Predicate, int | str | None]:
    return one.predicate, one.value if one.predicate is Predicate.CONTAINS else None


def _less(value: int | str | None) -> int | None:
    return value - 1 if isinstance(value, int) else None


class CheckRun(Struct, frozen=True, array_like=True):
    """A command that was run, as a digest; how it ended, and the stems of what it is called by."""

    text: str
    well: bool
    stems: Kept


class SeenState(Struct, frozen=True, array_like=True):
    """`about` is what is known of paths, the last at the end, `runs` how commands ended, `versions`
    what programs say. `writing` are calls under way that may change something; `looking` those that
    may show something, each with the `epoch` in which it began: a new one begins with each
    change."""

    epoch: int = 0
    writing: Kept = ()
    looking: Kept = ()
    about: dict[str, About] = {}
    runs: tuple[CheckRun, ...] = ()
    versions: dict[str, str] = {}

    def began(self, call: str, changes: Changes, shows: bool, commands: Iterable[str]) -> SeenState:
        """A call goes ahead. What it may change is not known any more, nor how its commands end."""
        seen = self._changed(changes) if changes.any else self
        again = {_digest(text) for text in commands} if seen.runs else set()
        if any(one.text in again for one in seen.runs):
            runs = tuple([one for one in seen.runs if one.text not in again])
            seen = replace(seen, runs=runs)
        if call and changes.any:
            seen = replace(seen, writing=(*seen.writing, call)[-UNDER_WAY:])
        if call and (changes.any or shows):
            looking = (*seen.looking, f"{seen.epoch} {call}")
            seen = replace(seen, looking=looking[-UNDER_WAY:])
        return seen

    def ended(self, call: str, changes: Changes, learnt: Learnt) -> SeenState:
        """A call has ended. What it shows counts where nothing else can have changed it since the
        call began."""
        others = tuple([one for one in self.writing if one != call])
        sound = not others and (not call or f"{self.epoch} {call}" in self.looking)
        seen = self
        if call and (
            others != self.writing or any(one.endswith(f" {call}") for one in self.looking)
        ):
            looking = tuple([one for one in self.looking if not one.endswith(f" {call}")])
            seen = replace(self, writing=others, looking=looking)
        seen = seen._changed(changes) if changes.any else seen
        return seen._learnt(learnt) if sound and learnt.facts else seen

    def _changed(self, changes: Changes) -> SeenState:
        """Something may have been changed."""
        if changes.all:
            return replace(self, epoch=self.epoch + 1, about={}, versions={})
        kept = {
            name: one
            for name, one in self.about.items()
            if not any(_touches(p, name) for p in changes.paths)
        }
        return replace(self, epoch=self.epoch + 1, about=kept)

    def _learnt(self, learnt: Learnt) -> SeenState:
        about, runs, versions = dict(self.about), list(self.runs), dict(self.versions)
        for fact in learnt.facts:
            if isinstance(fact, Content) or fact.predicate not in PATHLESS:
                name = fact.path if isinstance(fact, Content) else fact.subject
                about[name] = about.pop(name, About()).with_fact(fact, name in learnt.own)
            elif fact.predicate is Predicate.VERSION:
                versions.pop(_program(fact.subject), None)
                versions[_program(fact.subject)] = str(fact.value)
            else:
                run = CheckRun(_digest(fact.subject), fact.polarity, _stems(fact.subject))
                runs = [*[one for one in runs if one.text != run.text], run]
        return replace(
            self,
            about=_bounded(about),
            runs=tuple(runs[-RUNS:]),
            versions=dict(list(versions.items())[-VERSIONS:]),
        )

    def knows(self, name: str) -> bool:
        """Whether something is known of a path of that name."""
        return any(_match(name, other) is not None for other in self.about)

    def judge(self, claim: Claim) -> ClaimStanding:
        """What is known of a claim."""
        if fault(claim):
            return judge(claim, ())
        match claim.predicate:
            case Predicate.SUCCEEDED:
                return judge(claim, self._ended(claim))
            case Predicate.VERSION:
                return judge(claim, self._reported(claim))
            case _:
                return _together(claim, list(self._standings(claim)))

    def _ended(self, claim: Claim) -> list[ObservedFact]:
        """How a command ended: that very one, or all that are called by the noun."""
        texts = _spelt(claim.subject)
        ran = [one for one in self.runs if one.text in texts]
        if not ran and claim.subject.isalpha():
            ran = [one for one in self.runs if stem(claim.subject.lower()) in one.stems]
        ends = {one.well for one in ran}
        if len(ends) != 1:
            return []
        return [ObservedFact("seen", Claim(Predicate.SUCCEEDED, claim.subject, None, ends.pop()))]

    def _reported(self, claim: Claim) -> list[ObservedFact]:
        """What a program says of itself; a version that is named in part is that version."""
        version = self.versions.get(_program(claim.subject))
        if version is None:
            return []
        value = claim.value if version.startswith(f"{claim.value}.") else version
        return [ObservedFact("seen", Claim(Predicate.VERSION, claim.subject, value))]

    def _standings(self, claim: Claim) -> Iterator[ClaimStanding]:
        for name, one in self.about.items():
            match = _match(claim.subject, name)
            if match is None:
                continue
            facts = list(one.facts(claim))
            there = Predicate.EXISTS
            if match < 0 and not one.own:
                facts = [each for each in facts if each.predicate is not there or each.polarity]
            found = judge(claim, [ObservedFact("seen", each) for each in facts])
            # A longer name may be another file: that speaks for it, and not against it.
            other = match > 0 and found.verdict is CheckVerdict.REFUTABLE
            yield judge(claim, ()) if other else found


def _together(claim: Claim, found: list[ClaimStanding]) -> ClaimStanding:
    """What is known of a claim whose name may be that of several files: refuted where it is of each
    of them."""
    verdicts = {one.verdict for one in found}
    if CheckVerdict.PROVABLE in verdicts and CheckVerdict.REFUTABLE not in verdicts:
        return next(one for one in found if one.verdict is CheckVerdict.PROVABLE)
    if verdicts == {CheckVerdict.REFUTABLE}:
        return found[0]
    return judge(claim, ())


def _match(name: str, known: str) -> int | None:
    """Whether a name that somebody says can be a known path: 0 where it is the same, -1 where it is
    the end of it, 1 where it is a whole path of which that is the end."""
    said = same_path(name)
    if said.rstrip("/") == known.rstrip("/"):
        return 0
    if known.endswith(f"/{said}"):
        return -1
    return 1 if said.startswith("/") and said.endswith(f"/{known}") else None


def _touches(changed: str, known: str) -> bool:
    """Whether a change of a path may change a known one: the same, what is in it, or what is called
    alike."""
    one, other = (f"/{same_path(path).strip('/')}/" for path in (changed, known))
    return one in other or one.endswith(other)


def _bounded(about: dict[str, About]) -> dict[str, About]:
    last = list(about.items())[-SUBJECTS:]
    full = [name for name, one in last if one.gist is not None][:-GISTS]
    return {name: replace(one, gist=None) if name in full else one for name, one in last}


def _digest(command: str) -> str:
    return digest("ran", " ".join(command.split()))


def _spelt(command: str) -> set[str]:
    """A command as somebody says it, and as its words are written one by one."""
    argv = single(command)
    return {_digest(command), *([] if argv is None else [_digest(join(argv))])}


def _stems(command: str) -> Kept:
    words = [word.rpartition("/")[2].lower() for word in command.split() if word[0] != "-"]
    parts = (
        " ".join(words[:MOST_WORDS]).replace("_", " ").replace(":", " ").replace("-", " ").split()
    )
    return tuple(
        dict.fromkeys([stem(each) for each in parts if each.isalpha() and len(each) <= 20])
    )


def _program(name: str) -> str:
    return name.lower().rstrip("0123456789.")


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
    seen: SeenState,
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
