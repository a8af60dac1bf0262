"""The history of a run's last calls, in which repetitions are counted as they happen. What is
written of it is one short text."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

import msgspec

from stanchion.kernel.events import Failure, ToolResult
from stanchion.readings.fingerprint import PAIRS, Fingerprint, alike, digest, id_digest, name_digest
from stanchion.readings.reading import Reading

ENOUGH: Final = 64
"""A result of so many characters says something; that two calls had the same shorter one says
little."""

LASTING: Final = frozenset({"errors", "near"})
"""Kinds of loops of one tool: that another brings something new does not end them."""

VERSION: Final = "5"
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

REMEMBERED: Final = 1_000
"""How many histories are not read again, at the most; where there are more, all are."""

UNKNOWN: Final = "-" * 8
"""What is written where it is not known what came of a call."""

SHORTEST: Final = 32
"""Where the sketch begins. It may be empty; behind it, after a point, stands the id that a call had
first."""

BETWEEN: Final = "|"
"""What stands between the parts of a history. It is no space: what has none is no prose, in which
something could be told that no record may have."""

NUMBERS: Final = {pair: number for number, pair in enumerate(PAIRS)}
"""The numbers that pairs of characters stand for."""

WRITTEN: Final[dict[str, LoopHistory]] = {}
"""Histories that this process has written, by what it wrote. The first to ask for one takes it away
and may change it; who asks for it once more reads what was written, as other processes do."""

_text: Final = attrgetter("text")
_outcome: Final = attrgetter("outcome")
_KINDS: Final = {sign: kind for kind, sign in LETTERS.items()}


class Mark:
    """What is known of a call besides its fingerprint, as bits; plain numbers, because an enum's
    are slow."""

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


class PastCall(msgspec.Struct, frozen=True, gc=False):
    """One call: its text, and those parts of it that are asked of every call: tool and fingerprint,
    what is known of it, and what came of it, once that is known. Ids and names are digests."""

    text: str
    tool: str
    exact: str
    marks: int
    outcome: str

    @classmethod
    def read(cls, text: str) -> PastCall:
        """The call that a text says; raises `ValueError` or `KeyError` where it says none."""
        size = len(text)
        if size < SHORTEST or (size % 2 and text[-7] != "."):
            raise ValueError("no call is written so")
        outcome = text[24:32]
        return cls(
            text,
            text[6:10],
            text[10:18],
            NUMBERS[text[22:24]],
            "" if outcome == UNKNOWN else outcome,
        )

    @classmethod
    def begun(cls, call: str, tool: str, print_: Fingerprint, marks: int) -> PastCall:
        """A call of which nothing came yet."""
        exact = print_.exact
        text = f"{call}{tool}{exact}{print_.loose}{PAIRS[marks]}{UNKNOWN}{print_.sketch}"
        return cls(text, tool, exact, marks, "")

    def marked(self, marks: int, outcome: str = "") -> PastCall:
        """The call with other marks, and with what came of it, if anything did."""
        came = outcome if outcome else UNKNOWN
        text = f"{self.text[:22]}{PAIRS[marks]}{came}{self.text[SHORTEST:]}"
        return PastCall(text, self.tool, self.exact, marks, outcome)

    def renewed(self, new: str, old: str) -> PastCall:
        """The call, asked for again under another id; nothing came of it yet."""
        marks = self.marks & LASTS
        text = f"{new}{self.text[6:22]}{PAIRS[marks]}{UNKNOWN}{self.sketch}.{old}"
        return PastCall(text, self.tool, self.exact, marks, "")

    @property
    def sketch(self) -> str:
        """Some of its words."""
        return self.text[SHORTEST:].partition(".")[0]

    @property
    def fresh(self) -> bool:
        """Whether something was gained: a new outcome, or a new call that went well and may have
        changed something."""
        if self.marks & Mark.NEWS:
            return True
        spoilt = Mark.FAILED | Mark.REFUSED | (Mark.READS if self.outcome else 0)
        return bool(self.marks & Mark.FIRST) and not self.marks & spoilt

    @property
    def open(self) -> bool:
        """Whether it is not known what came of it, and may yet be."""
        return not self.outcome and not self.marks & Mark.REFUSED

    def is_near(self, new: PastCall) -> bool:
        """Whether its arguments were almost those of a new call."""
        return self.text[18:22] == new.text[18:22] or (
            bool(self.marks & Mark.TELLS) and alike(self.sketch, new.sketch)
        )


class LoopHistory(msgspec.Struct):
    """The last calls of a run, oldest first. `runs[p - 1]` is how many calls in a row were as the
    one `p` before them, with the same outcome; empty where none was. `told` is what the agent was
    told already; `asked` what the user asked for last. `refusals` is how often each refusal came
    since anything new did, the last one at the end, and `reasons` the same for each guard and code,
    whatever they were about.

    It belongs to whoever asked for it, until it is written."""

    calls: tuple[PastCall, ...] = ()
    runs: tuple[int, ...] = ()
    told: dict[str, str] = {}
    asked: str = ""
    checks: int = 0
    found: dict[str, int] = {}
    refusals: dict[str, int] = {}
    reasons: dict[str, int] = {}

    @classmethod
    def of(cls, value: Any) -> LoopHistory:
        """The history a record holds; an empty one, where it holds none that can be read."""
        if type(value) is not str:
            return cls()
        known = WRITTEN.pop(value, None)
        if known is not None:
            return known
        try:
            version, checks, found, runs, told, asked, refusals, reasons, *texts = value.split(
                BETWEEN
            )
            if version != VERSION:
                return cls()
            return cls(
                tuple([PastCall.read(text) for text in texts]),
                tuple([int(run) for run in runs.split(",")]) if runs else (),
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
        """The history as a record, by which this process finds it again: it is not changed any
        more."""
        found = _joined(self.found, LETTERS) if self.found else ""
        runs = ",".join(map(str, self.runs)) if self.runs else ""
        told = _joined(self.told, LETTERS) if self.told else ""
        refusals = _joined(self.refusals) if self.refusals else ""
        reasons = _joined(self.reasons) if self.reasons else ""
        head = (VERSION, str(self.checks), found, runs, told, self.asked, refusals, reasons)
        text = BETWEEN.join([*head, *map(_text, self.calls)])
        if len(WRITTEN) >= REMEMBERED:
            WRITTEN.clear()
        WRITTEN[text] = self
        return text

    def quiet(self, exact: str, tool: str, window: int, errors: int, near: int, stall: int) -> bool:
        """Whether a call with these arguments is certainly no loop: it is a new one, and in the
        window are not as many calls as a loop needs, of its tool that failed or brought what others
        did, or in a row that brought nothing new.
        """
        if self.told:
            return False
        failed = same = barren = 0
        for call in self.calls[-window:]:
            if call.exact == exact:
                return False
            marks = call.marks
            if marks & Mark.FAILED:
                failed += call.tool == tool
                barren += 1
            elif marks & Mark.NEWS:
                barren = barren if marks & Mark.POLLS else 0
            elif call.outcome:
                # Of calls with one outcome all but one brought nothing new.
                same += call.tool == tool
                barren += 1
        return failed < errors and same < near - 1 and barren < stall

    def met(self, exact: str, window: int) -> bool:
        """Whether a call with these arguments is among those of the window."""
        return exact in [call.exact for call in self.calls[-window:]]

    def proposed(self, exact: str, window: int) -> tuple[int, ...]:
        """What `runs` become with such a call; what came of the last call is known by now, if
        ever."""
        self.settle()
        runs = [0] * window
        for at, call in enumerate(self.calls[: -window - 1 : -1]):
            if call.exact == exact:
                runs[at] = 1 + (self.runs[at] if at < len(self.runs) else 0)
        return tuple(runs)

    def settle(self) -> None:
        """End the repetitions that the last call does not go on with, by what came of it."""
        self._cut(len(self.calls) - 1)

    def again(self, call: str, new_id: str) -> bool:
        """A call is asked for once more by the runtime itself: it stays one call, whose outcome is
        open again."""
        at = self._find(call)
        if at is None:
            return False
        self._replace(at, self.calls[at].renewed(id_digest(new_id), id_digest(call)))
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
        call = self.calls[at]
        was = call.outcome
        if more and was:
            outcome = digest("=", was, outcome)
        if [*map(_outcome, self.calls)].count(outcome) == (was == outcome):
            marks |= Mark.NEWS
            if not marks & Mark.FAILED:
                self.refusals, self.reasons = {}, {}
            if self.told:
                self.told = {kind: about for kind, about in self.told.items() if kind in LASTING}
        self._replace(at, call.marked(marks | call.marks & LASTS, outcome))
        if self.runs and at < len(self.calls) - 1:
            self._cut(at)

    def cleared(self) -> None:
        """Forget the calls and what was refused, not what was counted of loops."""
        self.calls, self.runs = (), ()
        self.told, self.refusals, self.reasons = {}, {}, {}

    def forget(self, kind: str) -> None:
        """Forget that the agent was told of a loop."""
        self.told = {other: about for other, about in self.told.items() if other != kind}

    def same(self, exact: str, window: int, others: bool = True) -> list[PastCall]:
        """Earlier calls of the window with these arguments and one outcome, newest first; with
        `others`, back to where something else brought something new. Those of which nothing is
        known are among them."""
        same: list[PastCall] = []
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

    def since(self, oldest: PastCall) -> tuple[PastCall, ...]:
        """The calls from that one on."""
        return self.calls[self.calls.index(oldest) :]

    def failures(self, tool: str, window: int) -> int:
        """How many of the last calls of a tool failed in one way, one after the other."""
        count, outcome = 0, ""
        for call in self.back(window):
            if call.tool != tool or not call.outcome:
                continue
            if not call.marks & Mark.FAILED or (count and call.outcome != outcome):
                break
            count, outcome = count + 1, call.outcome
        return count

    def near(self, new: PastCall, window: int, least: int) -> list[PastCall]:
        """Earlier calls of its tool with almost its arguments that went well with one result,
        newest first; none, where so few have one result that there cannot be as many as `least`."""
        near: list[PastCall] = []
        outcomes = [call.outcome for call in self.calls[-window:]]
        if len(outcomes) - len(set(outcomes)) < least - 1:
            return near
        for call in self.back(window):
            if call.tool != new.tool or call.exact == new.exact or not call.is_near(new):
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

    def back(self, window: int) -> tuple[PastCall, ...]:
        """The calls of the window, newest first."""
        return self.calls[: -window - 1 : -1]

    def _find(self, call: str) -> int | None:
        if call:
            known = id_digest(call)
            for at in range(len(self.calls) - 1, -1, -1):
                text = self.calls[at].text
                if text.startswith(known) or text.endswith("." + known):
                    return at
        return None

    def _open(self, reading: Reading[ToolResult | Failure]) -> int | None:
        """The oldest call without an outcome that it can belong to: by its arguments, or at least
        by its tool."""
        name = name_digest(reading.event.tool)
        waiting = [at for at, call in enumerate(self.calls) if call.open and call.tool == name]
        if not waiting:
            return None
        exact = reading.fingerprint.exact
        return next((at for at in waiting if self.calls[at].exact == exact), waiting[-1])

    def _replace(self, at: int, call: PastCall) -> None:
        self.calls = (*self.calls[:at], call, *self.calls[at + 1 :])

    def _cut(self, at: int) -> None:
        """Where a call's outcome is another than that of the call `lag` before it, the repetition
        began behind it."""
        outcomes = [*map(_outcome, self.calls)] if self.runs else []
        if not outcomes or not outcomes[at]:
            return
        same = ("", outcomes[at])
        behind = len(outcomes) - 1 - at
        runs = list(self.runs)
        for lag, run in enumerate(self.runs, 1):
            if run and lag <= at and outcomes[at - lag] not in same:
                runs[lag - 1] = min(run, behind)
            if run and at + lag < len(outcomes) and outcomes[at + lag] not in same:
                runs[lag - 1] = min(runs[lag - 1], behind - lag)
        self.runs = tuple(runs)


def _one_more(counts: dict[str, int], what: str) -> dict[str, int]:
    """The counts with one more of something, at their end."""
    known = dict(counts)
    count = known.pop(what, 0)
    if not count and len(known) >= COUNTED:
        count = known.pop(min(known, key=known.__getitem__))
    return {**known, what: count + 1}


def _joined(known: Mapping[str, str | int], names: Mapping[str, str] = {}) -> str:
    return ",".join([f"{names.get(what, what)}{said}" for what, said in known.items()])


def _counts(text: str) -> dict[str, int]:
    return {one[:8]: int(one[8:]) for one in text.split(",")}
