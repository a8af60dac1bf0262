"""The history of a run's last calls: one short text in which repetitions are counted as they
happen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.events import Failure, ToolResult
from stanchion.readings.fingerprint import PAIRS, Fingerprint, alike, digest, id_digest, name_digest
from stanchion.readings.reading import Reading
from stanchion.readings.seen import (
    EXACT,
    ID,
    LASTS,
    MARKS,
    NUMBERS,
    OUTCOME,
    SHORTEST,
    TOOL,
    UNKNOWN,
    Mark,
    Seen,
    ended,
    renewed,
)

ENOUGH: Final = 64
"""A result of so many characters says something; that two calls had the same shorter one says
little."""

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
"""How many different refusals are counted, each for itself. One more takes the place of the one
that came least often, and goes on with its count: nothing is ever counted too low, and refusals
that all differ end as well."""

_KINDS: Final = {sign: kind for kind, sign in LETTERS.items()}


class History(msgspec.Struct):
    """The last calls of a run, oldest first, as texts. `runs[p - 1]` is how many calls in a row
    were as the one `p` before them, with the same outcome; empty where none was. `told` is what the
    agent was told already; `asked` what the user asked for last. `refusals` is how often each
    refusal came since anything new did, the last one at the end, and `reasons` the same for each
    guard and code, whatever they were about.

    Most calls are new and most outcomes too: what is asked of every call is asked of the texts,
    which are neither taken apart for it nor written anew."""

    texts: list[str] = []
    runs: list[int] = []
    told: dict[str, str] = {}
    asked: str = ""
    checks: int = 0
    found: dict[str, int] = {}
    refusals: dict[str, int] = {}
    reasons: dict[str, int] = {}
    taken_apart: list[Seen] = []

    @classmethod
    def of(cls, value: Any) -> History:
        """The history a record holds; an empty one, where it holds none that can be read."""
        if type(value) is not str:
            return cls()
        try:
            version, checks, found, runs, told, asked, refusals, reasons, *texts = value.split(" ")
            if version != VERSION:
                return cls()
            for text in texts:
                size = len(text)
                if size < SHORTEST or text[22:24] not in NUMBERS or (size % 2 and text[-7] != "."):
                    return cls()
            return cls(
                texts,
                [int(run) for run in runs.split(",")] if runs else [],
                {_KINDS[one[0]]: one[1:] for one in told.split(",")} if told else {},
                asked,
                int(checks),
                {_KINDS[one[0]]: int(one[1:]) for one in found.split(",")} if found else {},
                _counts(refusals) if refusals else {},
                _counts(reasons) if reasons else {},
            )
        except (ValueError, KeyError):
            return cls()

    def text(self) -> str:
        """The history as a record."""
        found = (
            ",".join([f"{LETTERS[kind]}{count}" for kind, count in self.found.items()])
            if self.found
            else ""
        )
        told = (
            ",".join([LETTERS[kind] + about for kind, about in self.told.items()])
            if self.told
            else ""
        )
        runs = ",".join(map(str, self.runs)) if self.runs else ""
        refusals = _written(self.refusals) if self.refusals else ""
        reasons = _written(self.reasons) if self.reasons else ""
        return " ".join(
            [
                VERSION,
                str(self.checks),
                found,
                runs,
                told,
                self.asked,
                refusals,
                reasons,
                *self.texts,
            ]
        )

    @property
    def calls(self) -> list[Seen]:
        """The calls, taken apart."""
        if len(self.taken_apart) != len(self.texts):
            self.taken_apart = [Seen.read(text) for text in self.texts]
        return self.taken_apart

    def quiet(self, exact: str, tool: str, window: int, errors: int, near: int, stall: int) -> bool:
        """Whether a call with these arguments is certainly no loop: it is a new one, and in the
        window are not as many calls as a loop needs, of its tool that failed or brought what others
        did, or in a row that brought nothing new.
        """
        if self.told:
            return False
        failed = same = barren = 0
        for text in self.texts[-window:]:
            if text[10:18] == exact:
                return False
            marks = NUMBERS[text[22:24]]
            if marks & Mark.FAILED:
                failed += text[6:10] == tool
                barren += 1
            elif marks & Mark.NEWS:
                barren = barren if marks & Mark.POLLS else 0
            elif text[24:32] != UNKNOWN:
                # Of calls with one outcome all but one brought nothing new.
                same += text[6:10] == tool
                barren += 1
        return failed < errors and same < near - 1 and barren < stall

    def met(self, exact: str, window: int) -> bool:
        """Whether a call with these arguments is among those of the window."""
        return exact in [text[EXACT] for text in self.texts[-window:]]

    def proposed(self, exact: str, window: int) -> list[int]:
        """What `runs` become with such a call; what came of the last call is known by now, if
        ever."""
        self.settle()
        runs = [0] * window
        for at, text in enumerate(self.texts[: -window - 1 : -1]):
            if text[EXACT] == exact:
                runs[at] = 1 + (self.runs[at] if at < len(self.runs) else 0)
        return runs

    def settle(self) -> None:
        """End the repetitions that the last call does not go on with, by what came of it."""
        self._cut(len(self.texts) - 1)

    def push(
        self, call: str, tool: str, print_: Fingerprint, marks: int, runs: list[int], window: int
    ) -> None:
        """Add a call of which nothing came yet; the tool is a digest. One more than the window is
        kept, so that a period as long as the window can be compared."""
        text = (
            f"{id_digest(call)}{tool}{print_.exact}{print_.loose}{PAIRS[marks]}{UNKNOWN}"
            f"{print_.sketch}"
        )
        self.runs = runs
        del self.texts[:-window]
        self.texts.append(text)
        self.taken_apart = []

    def again(self, call: str, new_id: str) -> bool:
        """A call is asked for once more by the runtime itself: it stays one call, whose outcome is
        open again."""
        at = self._find(call)
        if at is None:
            return False
        self._replace(at, renewed(self.texts[at], id_digest(new_id), id_digest(call)))
        return True

    def knows(self, call: str) -> bool:
        """Whether a call has been entered."""
        return self._find(call) is not None

    def refuse(self, objects: tuple[str, ...], reason: str) -> tuple[int, str, int]:
        """Count a refusal; says how often the object that came most often did with nothing new in
        between, which one it is, and how often its reason came."""
        for what in objects:
            self.refusals = _one_more(self.refusals, what)
        self.reasons = _one_more(self.reasons, reason)
        most = max(objects, key=self.refusals.__getitem__)
        return self.refusals[most], most, self.reasons[reason]

    def came(
        self, reading: Reading[ToolResult | Failure], outcome: str, marks: int, more: bool = False
    ) -> bool:
        """Enter what came of a call; says whether the call is known. `more`: it is a further part
        of a result."""
        at = self._find(reading.event.call)
        if at is None:
            at = self._open(reading)
        if at is None:
            return False
        self.end(at, outcome, marks, more)
        return True

    def end(self, at: int, outcome: str, marks: int, more: bool = False) -> None:
        """Enter what came of the call at a place."""
        text = self.texts[at]
        was = text[OUTCOME]
        if more and was != UNKNOWN:
            outcome = digest("=", was, outcome)
        if [other[24:32] for other in self.texts].count(outcome) == (was == outcome):
            marks |= Mark.NEWS
            if not marks & Mark.FAILED:
                self.refusals, self.reasons = {}, {}
            if self.told:
                self.told = {kind: about for kind, about in self.told.items() if kind in LASTING}
        self._replace(at, ended(text, outcome, marks | NUMBERS[text[MARKS]] & LASTS))
        if self.runs and at < len(self.texts) - 1:
            self._cut(at)

    def cleared(self) -> None:
        """Forget the calls and what was refused, not what was counted of loops."""
        self.texts, self.taken_apart = [], []
        self.runs, self.told, self.refusals, self.reasons = [], {}, {}, {}

    def forget(self, kind: str) -> None:
        """Forget that the agent was told of a loop."""
        self.told = {other: about for other, about in self.told.items() if other != kind}

    def same(self, exact: str, window: int, others: bool = True) -> list[Seen]:
        """Earlier calls of the window with these arguments and one outcome, newest first; with
        `others`, back to where something else brought something new. Those of which nothing is
        known are among them."""
        same: list[Seen] = []
        outcome = ""
        for call in self.back(window):
            if call.exact == exact:
                if call.outcome and outcome and call.outcome != outcome:
                    break
                outcome = call.outcome if call.outcome else outcome
                same.append(call)
            elif others and call.fresh:
                break
        return same

    def since(self, oldest: Seen) -> list[Seen]:
        """The calls from that one on."""
        return self.calls[self.calls.index(oldest) :]

    def failures(self, tool: str, window: int) -> int:
        """How many of the last calls of a tool failed in one way, one after the other."""
        count, outcome = 0, ""
        for text in self.texts[: -window - 1 : -1]:
            came = text[24:32]
            if text[6:10] != tool or came == UNKNOWN:
                continue
            if not NUMBERS[text[22:24]] & Mark.FAILED or (count and came != outcome):
                break
            count, outcome = count + 1, came
        return count

    def near(self, tool: str, print_: Fingerprint, window: int, least: int) -> list[Seen]:
        """Earlier calls of a tool with almost the same arguments that went well with one result,
        newest first; none, where so few have one result that there cannot be as many as `least`."""
        near: list[Seen] = []
        outcomes = [text[24:32] for text in self.texts[-window:]]
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
        """How many calls have come to an end since something was gained; to fail in a new way gains
        nothing."""
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
            for at in range(len(self.texts) - 1, -1, -1):
                text = self.texts[at]
                if text[ID] == known or text.endswith("." + known):
                    return at
        return None

    def _open(self, reading: Reading[ToolResult | Failure]) -> int | None:
        """The oldest call without an outcome that it can belong to: by its arguments, or at least
        by its tool."""
        name = name_digest(reading.event.tool)
        unknown = [
            at
            for at, text in enumerate(self.texts)
            if text[OUTCOME] == UNKNOWN and text[TOOL] == name
        ]
        waiting = [at for at in unknown if not NUMBERS[self.texts[at][MARKS]] & Mark.REFUSED]
        if not waiting:
            return None
        exact = reading.fingerprint.exact
        return next((at for at in waiting if self.texts[at][EXACT] == exact), waiting[-1])

    def _replace(self, at: int, text: str) -> None:
        self.texts[at] = text
        self.taken_apart = []

    def _cut(self, at: int) -> None:
        """Where a call's outcome is another than that of the call `lag` before it, the repetition
        began behind it."""
        outcomes = [text[OUTCOME] for text in self.texts] if self.runs else []
        if not outcomes or outcomes[at] == UNKNOWN:
            return
        same = (UNKNOWN, outcomes[at])
        behind = len(outcomes) - 1 - at
        for lag, run in enumerate(self.runs, 1):
            if run and lag <= at and outcomes[at - lag] not in same:
                self.runs[lag - 1] = min(run, behind)
            if run and at + lag < len(outcomes) and outcomes[at + lag] not in same:
                self.runs[lag - 1] = min(self.runs[lag - 1], behind - lag)


def _one_more(counts: dict[str, int], what: str) -> dict[str, int]:
    """The counts with one more of something, at their end."""
    known = dict(counts)
    count = known.pop(what, 0)
    if not count and len(known) >= COUNTED:
        count = known.pop(min(known, key=known.__getitem__))
    return {**known, what: count + 1}


def _written(counts: dict[str, int]) -> str:
    return ",".join([f"{what}{count}" for what, count in counts.items()])


def _counts(text: str) -> dict[str, int]:
    return {one[:8]: int(one[8:]) for one in text.split(",")}


def _near(call: Seen, print_: Fingerprint) -> bool:
    return call.loose == print_.loose or (
        bool(call.marks & Mark.TELLS) and alike(call.sketch, print_.sketch)
    )
