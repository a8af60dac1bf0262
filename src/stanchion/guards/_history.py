"""The history of a run's last calls: one short text in which repetitions are counted as they happen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.readings.fingerprint import (
    PAIRS,
    Fingerprint,
    Lately,
    alike,
    digest,
    fingerprint,
    id_digest,
    name_digest,
)

ENOUGH: Final = 64
"""A result of so many characters says something; that two calls had the same shorter one says little."""

LASTING: Final = frozenset({"errors", "near"})
"""Kinds of loops of one tool: that another brings something new does not end them."""

VERSION: Final = "4"
"""What a history begins with; one that begins otherwise is not read."""

LETTERS: Final = {
    "repeat": "r",
    "cycle": "c",
    "excessive": "x",
    "errors": "e",
    "near": "n",
    "stall": "s",
    "refused": "f",
}
"""Kinds of loops, as they are written."""

COUNTED: Final = 32
"""How many different refusals are counted, each for itself. One more takes the place of the one that came least often,
and goes on with its count: nothing is ever counted too low, and refusals that all differ end as well."""

_KINDS: Final = {sign: kind for kind, sign in LETTERS.items()}
_NUMBERS: Final = {pair: number for number, pair in enumerate(PAIRS)}
_UNKNOWN: Final = "-" * 8
"""What is written where it is not known what came of a call."""


class Mark:
    """What is known of a call besides its fingerprint, as bits; plain numbers, because an enum's are slow."""

    READS: Final = 1
    """Its tool only reads: without a new result nothing was gained."""
    POLLS: Final = 2
    """It is meant to be repeated."""
    FIRST: Final = 4
    """It was not among the calls before it."""
    FAILED: Final = 8
    TRANSIENT: Final = 16
    """It failed for a reason that passes."""
    NEWS: Final = 32
    """Its outcome was not among those before it."""
    TELLS: Final = 64
    """Its result says enough to be the same by more than chance."""
    REFUSED: Final = 128
    """It did not go ahead, because it was found to be one of a loop."""
    IDEMPOTENT: Final = 256
    """To repeat it changes nothing."""


LASTS: Final = Mark.READS | Mark.POLLS | Mark.FIRST | Mark.IDEMPOTENT
"""What is known of a call before anything came of it, and stays."""


class Seen(msgspec.Struct, frozen=True, gc=False):
    """One call: its id, tool and fingerprint, what is known of it, and what came of it, once that is known. `first` is
    the id that it is still known by, where it was asked for again. Ids and names are digests."""

    id: str
    tool: str
    exact: str
    loose: str
    sketch: str
    marks: int = 0
    outcome: str = ""
    first: str = ""

    @property
    def fresh(self) -> bool:
        """Whether something was gained: a new outcome, or a new call that went well and may have changed something."""
        if self.marks & Mark.NEWS:
            return True
        spoilt = Mark.FAILED | Mark.REFUSED | (Mark.READS if self.outcome else 0)
        return bool(self.marks & Mark.FIRST) and not self.marks & spoilt

    @property
    def open(self) -> bool:
        """Whether it is not known what came of it, and may yet be."""
        return not self.outcome and not self.marks & Mark.REFUSED

    def text(self) -> str:
        """The call as it is written: everything has its length but the sketch, and what stands behind it."""
        outcome = self.outcome if self.outcome else _UNKNOWN
        body = f"{self.id}{self.tool}{self.exact}{self.loose}{PAIRS[self.marks]}{outcome}{self.sketch}"
        return f"{body}.{self.first}" if self.first else body

    @classmethod
    def read(cls, text: str) -> Seen:
        """The call that a text says."""
        body, _, first = text.partition(".")
        outcome = body[24:32]
        if len(outcome) < len(_UNKNOWN) or len(body) % 2:
            raise ValueError("this is no call")
        known = "" if outcome == _UNKNOWN else outcome
        marks = _NUMBERS[body[22:24]]
        return cls(body[:6], body[6:10], body[10:18], body[18:22], body[32:], marks, known, first)


class History(msgspec.Struct):
    """The last calls of a run, oldest first, and their texts. `runs[p - 1]` is how many calls in a row were as the one
    `p` before them, with the same outcome; empty where none was. `told` is what the agent was told already; `asked`
    what the user asked for last. `refusals` is how often each refusal came since anything new did, the last one at
    the end, and `reasons` the same for each guard and code, whatever they were about. What a field holds is replaced,
    never changed: histories share it."""

    calls: list[Seen] = []
    texts: list[str] = []
    runs: list[int] = []
    told: dict[str, str] = {}
    asked: str = ""
    checks: int = 0
    found: dict[str, int] = {}
    refusals: dict[str, int] = {}
    reasons: dict[str, int] = {}

    @classmethod
    def of(cls, value: Any) -> History:
        """The history a record holds; an empty one, where it holds none that can be read."""
        if type(value) is not str:
            return cls()
        known = LATELY.get(value)
        if known is None:
            try:
                known = cls.read(value)
            except (ValueError, KeyError):
                return cls()
            LATELY.keep(value, known)
        return cls(
            known.calls,
            known.texts,
            known.runs,
            known.told,
            known.asked,
            known.checks,
            known.found,
            known.refusals,
            known.reasons,
        )

    @classmethod
    def read(cls, text: str) -> History:
        """The history that a text says."""
        version, checks, found, runs, told, asked, refusals, reasons, *texts = text.split(" ")
        if version != VERSION:
            raise ValueError("this is no history")
        return cls(
            [Seen.read(one) for one in texts],
            texts,
            [int(run) for run in runs.split(",")] if runs else [],
            {_KINDS[one[0]]: one[1:] for one in told.split(",")} if told else {},
            asked,
            int(checks),
            {_KINDS[one[0]]: int(one[1:]) for one in found.split(",")} if found else {},
            _counts(refusals),
            _counts(reasons),
        )

    def text(self) -> str:
        """The history as a record. It is remembered by it: it must not be changed any more."""
        found = ",".join([f"{LETTERS[kind]}{count}" for kind, count in self.found.items()]) if self.found else ""
        told = ",".join([LETTERS[kind] + about for kind, about in self.told.items()]) if self.told else ""
        runs = ",".join(map(str, self.runs)) if self.runs else ""
        refused = [_written(self.refusals), _written(self.reasons)]
        text = " ".join([VERSION, str(self.checks), found, runs, told, self.asked, *refused, *self.texts])
        LATELY.keep(text, self)
        return text

    def met(self, exact: str, window: int) -> bool:
        """Whether a call with these arguments is among those of the window."""
        return exact in [call.exact for call in self.calls[-window:]]

    def proposed(self, exact: str, window: int) -> list[int]:
        """What `runs` become with such a call; what came of the last call is known by now, if ever."""
        self._cut(len(self.calls) - 1)
        runs = [0] * window
        for at, call in enumerate(self.back(window)):
            if call.exact == exact:
                runs[at] = 1 + (self.runs[at] if at < len(self.runs) else 0)
        return runs

    def push(self, call: Seen, runs: list[int], window: int) -> None:
        """Add a call; one more than the window is kept, so that a period as long as the window can be compared."""
        self.runs = runs
        self.calls = [*self.calls[-window:], call]
        self.texts = [*self.texts[-window:], call.text()]

    def again(self, call: str, new_id: str) -> bool:
        """A call is asked for once more by the runtime itself: it stays one call, whose outcome is open again."""
        at = self._find(call)
        if at is None:
            return False
        one = self.calls[at]
        new, old = id_digest(new_id), id_digest(call)
        self._replace(at, Seen(new, one.tool, one.exact, one.loose, one.sketch, one.marks & LASTS, "", old))
        return True

    def knows(self, call: str) -> bool:
        """Whether a call has been entered."""
        return self._find(call) is not None

    def refuse(self, objects: tuple[str, ...], reason: str) -> tuple[int, str, int]:
        """Count a refusal; says how often the object that came most often did with nothing new in between, which one
        it is, and how often its reason came."""
        for what in objects:
            self.refusals = _one_more(self.refusals, what)
        self.reasons = _one_more(self.reasons, reason)
        most = max(objects, key=self.refusals.__getitem__)
        return self.refusals[most], most, self.reasons[reason]

    def came(self, call: str, tool: str, args: Any, outcome: str, marks: int, more: bool = False) -> bool:
        """Enter what came of a call; says whether the call is known. `more`: it is a further part of a result."""
        at = self._find(call)
        if at is None:
            at = self._open(tool, args)
        if at is None:
            return False
        one = self.calls[at]
        if more and one.outcome:
            outcome = digest("=", one.outcome, outcome)
        if outcome not in [other.outcome for other in self.calls if other is not one]:
            marks |= Mark.NEWS
            if not marks & Mark.FAILED:
                self.refusals, self.reasons = {}, {}
            if self.told:
                self.told = {kind: about for kind, about in self.told.items() if kind in LASTING}
        marks |= one.marks & LASTS
        self._replace(at, Seen(one.id, one.tool, one.exact, one.loose, one.sketch, marks, outcome, one.first))
        if at < len(self.calls) - 1:
            self._cut(at)
        return True

    def cleared(self) -> None:
        """Forget the calls and what was refused, not what was counted of loops."""
        self.calls, self.texts, self.runs, self.told, self.refusals, self.reasons = [], [], [], {}, {}, {}

    def forget(self, kind: str) -> None:
        """Forget that the agent was told of a loop."""
        self.told = {other: about for other, about in self.told.items() if other != kind}

    def same(self, exact: str, window: int) -> list[Seen]:
        """Earlier calls of the window with these arguments and one outcome, newest first, back to where something else
        brought something new; those of which nothing is known are among them."""
        same: list[Seen] = []
        outcome = ""
        for call in self.back(window):
            if call.exact == exact:
                if call.outcome and outcome and call.outcome != outcome:
                    break
                outcome = call.outcome if call.outcome else outcome
                same.append(call)
            elif call.fresh:
                break
        return same

    def since(self, oldest: Seen) -> list[Seen]:
        """The calls from that one on."""
        return self.calls[self.calls.index(oldest) :]

    def failures(self, tool: str, window: int) -> list[Seen]:
        """The last calls of a tool that failed in one way, one after the other, newest first."""
        failed: list[Seen] = []
        for call in self.back(window):
            if call.tool != tool or not call.outcome:
                continue
            if not call.marks & Mark.FAILED or (failed and call.outcome != failed[0].outcome):
                break
            failed.append(call)
        return failed

    def near(self, tool: str, print_: Fingerprint, window: int, least: int) -> list[Seen]:
        """Earlier calls of a tool with almost the same arguments that went well with one result, newest first; none,
        where so few have one result that there cannot be as many as `least`."""
        near: list[Seen] = []
        outcomes = [call.outcome for call in self.calls[-window:]]
        if len(outcomes) - len(set(outcomes)) < least - 1:
            return near
        for call in self.back(window):
            if call.tool != tool or call.exact == print_.exact or not _near(call, print_):
                if call.marks & Mark.NEWS:
                    break
                continue
            if call.outcome and not call.marks & Mark.FAILED:
                if near and call.outcome != near[0].outcome:
                    break
                near.append(call)
        return near

    def barren(self, window: int) -> int:
        """How many calls have come to an end since something was gained; to fail in a new way gains nothing."""
        count = 0
        for call in self.back(window):
            if call.marks & Mark.POLLS or not call.outcome:
                continue
            if call.fresh and not call.marks & Mark.FAILED:
                break
            count += 1
        return count

    def back(self, window: int) -> Iterator[Seen]:
        """The calls of the window, newest first."""
        return iter(self.calls[: -window - 1 : -1])

    def _find(self, call: str) -> int | None:
        if call:
            known = id_digest(call)
            for at in range(len(self.calls) - 1, -1, -1):
                one = self.calls[at]
                if one.id == known or one.first == known:
                    return at
        return None

    def _open(self, tool: str, args: Any) -> int | None:
        """The oldest call without an outcome that it can belong to: by its arguments, or at least by its tool."""
        name = name_digest(tool)
        waiting = [at for at, call in enumerate(self.calls) if call.open and call.tool == name]
        if not waiting:
            return None
        exact = fingerprint(tool, args).exact
        return next((at for at in waiting if self.calls[at].exact == exact), waiting[-1])

    def _replace(self, at: int, call: Seen) -> None:
        self.calls, self.texts = self.calls.copy(), self.texts.copy()
        self.calls[at], self.texts[at] = call, call.text()

    def _cut(self, at: int) -> None:
        """Where a call's outcome is another than that of the call `lag` before it, the repetition began behind it."""
        if not self.runs:
            return
        outcome = self.calls[at].outcome
        if not outcome:
            return
        behind = len(self.calls) - 1 - at
        runs = self.runs.copy()
        for lag, run in enumerate(self.runs, 1):
            if not run:
                continue
            before = self.calls[at - lag].outcome if lag <= at else ""
            if before and before != outcome:
                runs[lag - 1] = min(run, behind)
            after = self.calls[at + lag].outcome if at + lag < len(self.calls) else ""
            if after and after != outcome:
                runs[lag - 1] = min(runs[lag - 1], behind - lag)
        self.runs = runs


LATELY: Final[Lately[str, History]] = Lately()
"""Histories by their texts, so that what was written a moment ago is not read again."""


def _one_more(counts: dict[str, int], what: str) -> dict[str, int]:
    """The counts with one more of something, at their end."""
    known = dict(counts)
    count = known.pop(what, 0)
    if not count and len(known) >= COUNTED:
        count = known.pop(min(known, key=known.__getitem__))
    return {**known, what: count + 1}


def _written(counts: dict[str, int]) -> str:
    return ",".join([f"{what}{count}" for what, count in counts.items()]) if counts else ""


def _counts(text: str) -> dict[str, int]:
    return {one[:8]: int(one[8:]) for one in text.split(",")} if text else {}


def _near(call: Seen, print_: Fingerprint) -> bool:
    return call.loose == print_.loose or (bool(call.marks & Mark.TELLS) and alike(call.sketch, print_.sketch))
