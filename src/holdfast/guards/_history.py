"""The history of a run's last calls: a small record in which repetitions are counted as they happen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from holdfast.guards._fingerprint import Fingerprint, alike, digest, exact_of

ENOUGH: Final = 64
"""A result of so many characters says something; that two calls had the same shorter one says little."""


LASTING: Final = frozenset({"errors", "near"})
"""Kinds of loops of one tool: that another brings something new does not end them."""


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


class Seen(msgspec.Struct, array_like=True, frozen=True):
    """One call: its id and fingerprint, how often it may be repeated, and what came of it, once that is known. `first`
    is the id that it is still known by, where it was asked for again."""

    id: str
    tool: str
    exact: str
    loose: str
    sketch: str
    limit: int
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


class History(msgspec.Struct):
    """The last calls of a run, oldest first. `runs[p - 1]` is how many calls in a row were as the one `p` before them,
    with the same outcome. `told` is what the agent was told already; `asked` what the user asked for last."""

    calls: list[Seen] = []
    runs: list[int] = []
    told: dict[str, str] = {}
    asked: str = ""
    checks: int = 0
    found: dict[str, int] = {}

    @classmethod
    def of(cls, value: Any) -> History:
        """The history a record holds."""
        return cls() if value is None else msgspec.convert(value, cls)

    def plain(self) -> dict[str, Any]:
        """The history as a record."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    def proposed(self, print_: Fingerprint, window: int) -> list[int]:
        """What `runs` become with a call of that fingerprint; what came of the last call is known by now, if ever."""
        if self.calls:
            self._cut(len(self.calls) - 1)
        known = self.runs + [0] * (window - len(self.runs))
        return [
            known[lag - 1] + 1 if lag <= len(self.calls) and self.calls[-lag].exact == print_.exact else 0
            for lag in range(1, window + 1)
        ]

    def push(self, call: Seen, runs: list[int], window: int) -> None:
        """Add a call; one more than the window is kept, so that a period as long as the window can be compared."""
        self.runs = runs
        self.calls = [*self.calls, call][-(window + 1) :]

    def again(self, call: str, new_id: str) -> bool:
        """A call is asked for once more by the runtime itself: it stays one call, whose outcome is open again."""
        at = self._find(call)
        if at is None:
            return False
        one = self.calls[at]
        marks = one.marks & (Mark.READS | Mark.POLLS | Mark.FIRST)
        self._replace(at, msgspec.structs.replace(one, id=new_id, first=call, outcome="", marks=marks))
        return True

    def came(self, call: str, tool: str, args: Any, outcome: str, marks: int, more: bool = False) -> bool:
        """Enter what came of a call; says whether the call is known. `more`: it is a further part of a result."""
        at = self._find(call)
        if at is None:
            at = self._open(tool, args)
        if at is None:
            return False
        one = self.calls[at]
        if more and one.outcome:
            outcome = "=" + digest(one.outcome, outcome)
        if all(other.outcome != outcome for place, other in enumerate(self.calls) if place != at):
            marks |= Mark.NEWS
            self.told = {kind: about for kind, about in self.told.items() if kind in LASTING}
        kept = one.marks & (Mark.READS | Mark.POLLS | Mark.FIRST)
        self._replace(at, msgspec.structs.replace(one, outcome=outcome, marks=kept | marks))
        if at < len(self.calls) - 1:
            self._cut(at)
        return True

    def cleared(self) -> None:
        """Forget the calls, not what was counted."""
        self.calls, self.runs, self.told = [], [], {}

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

    def near(self, tool: str, print_: Fingerprint, window: int) -> list[Seen]:
        """Earlier calls of a tool with almost the same arguments that went well with one result, newest first."""
        near: list[Seen] = []
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
        places = range(len(self.calls) - 1, -1, -1)
        return next((at for at in places if call and call in (self.calls[at].id, self.calls[at].first)), None)

    def _open(self, tool: str, args: Any) -> int | None:
        """The oldest call without an outcome that it can belong to: by its arguments, or at least by its tool."""
        kind, exact = tool_digest(tool), exact_of(tool, args)
        waiting = [at for at, call in enumerate(self.calls) if call.open and call.tool == kind]
        return next((at for at in waiting if self.calls[at].exact == exact), waiting[-1] if waiting else None)

    def _replace(self, at: int, call: Seen) -> None:
        self.calls = [*self.calls[:at], call, *self.calls[at + 1 :]]

    def _cut(self, at: int) -> None:
        """Where a call's outcome is another than that of the call `lag` before it, the repetition began behind it."""
        behind = len(self.calls) - 1 - at
        outcome = self.calls[at].outcome
        if not outcome:
            return
        for lag in range(1, len(self.runs) + 1):
            before = self.calls[at - lag].outcome if lag <= at else ""
            if before and before != outcome:
                self.runs[lag - 1] = min(self.runs[lag - 1], behind)
            after = self.calls[at + lag].outcome if at + lag < len(self.calls) else ""
            if after and after != outcome:
                self.runs[lag - 1] = min(self.runs[lag - 1], behind - lag)


def tool_digest(tool: str) -> str:
    """What stands for a tool's name, however long it is."""
    return digest(tool)[:12]


def _near(call: Seen, print_: Fingerprint) -> bool:
    return call.loose == print_.loose or (bool(call.marks & Mark.TELLS) and alike(call.sketch, print_.sketch))
