"""The history of a run's last calls, in which repetitions are counted as they happen. What is
written of it is one short text."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from operator import attrgetter
from typing import Any, Final

from stanchion.kernel.events import Failure, ToolResult
from stanchion.kernel.state import NAMED, SIGN, LiveRecord
from stanchion.readings.fingerprint import digest, id_digest, name_digest
from stanchion.readings.past_call import LASTS, READ, CallMark, PastCall, begun
from stanchion.readings.reading import Reading

ENOUGH: Final = 64
"""A result of so many characters says something; that two calls had the same shorter one says
little."""

LASTING: Final = frozenset({"errors", "near"})
"""Kinds of loops of one tool: that another brings something new does not end them."""

VERSION: Final = "6"
"""What a history begins with, behind its name; one that begins otherwise is not read."""

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

UNNAMED: Final = 64
"""How many histories in a row are kept until their names are made."""

COUNTED: Final = 32
"""How many different refusals are counted, each for itself. One more takes the place of the one
that came least often, and goes on with its count: nothing is ever counted too low, and refusals
that all differ end as well."""

BETWEEN: Final = "|"
"""What stands between the parts of a history. It is no space: what has none is no prose, in which
something could be told that no record may have."""

_outcome: Final = attrgetter("outcome")
NOTHING: Final[dict[str, Any]] = {}
ENDED: Final = CallMark.NEWS | CallMark.FAILED
_KINDS: Final = {sign: kind for kind, sign in LETTERS.items()}


class LoopHistory(LiveRecord):
    """The last calls of a run, oldest first. `runs[p - 1]` is how many calls in a row were as the
    one `p` before them, with the same outcome; empty where none was. `told` is what the agent was
    told already; `asked` what the user asked for last. `refusals` is how often each refusal came
    since anything new did, the last one at the end, and `reasons` the same for each guard and code,
    whatever they were about.

    It belongs to whoever asked for it by `of`, until it is `entered`: then nobody changes it."""

    __slots__ = (
        "_before", "_behind", "_name", "_said", "asked", "calls", "calm", "checks", "forms",
        "found", "reasons", "refusals", "runs", "told",
    )  # fmt: skip

    def __init__(
        self,
        calls: tuple[PastCall, ...] = (),
        runs: tuple[int, ...] = (),
        told: dict[str, str] = NOTHING,
        asked: str = "",
        checks: int = 0,
        found: dict[str, int] = NOTHING,
        refusals: dict[str, int] = NOTHING,
        reasons: dict[str, int] = NOTHING,
        name: str = SIGN.ljust(NAMED, "0"),
    ) -> None:
        self.calls, self.runs = calls, runs
        self.told, self.asked = told, asked
        self.checks, self.found = checks, found
        self.refusals, self.reasons = refusals, reasons
        self.forms = tuple([call.form for call in calls])
        self.calm = False
        """Whether it is known that no call failed, or brought nothing new."""
        self._name, self._said, self._behind = name, "", 0
        self._before: LoopHistory | None = None

    @property
    def name(self) -> str:
        """The digest of how it came about, made when it is first asked for: from what came last,
        and from the name before."""
        waiting: list[LoopHistory] = []
        one = self
        while one._before is not None:
            waiting.append(one)
            one = one._before
        name = one._name
        for one in reversed(waiting):
            said = f"{name}{one._said}"
            digits = sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
            name = one._name = SIGN + digits[: NAMED - 1]
            one._before, one._behind = None, 0
        return name

    @classmethod
    def of(cls, value: Any) -> LoopHistory:
        """The history a record holds, for its caller alone; an empty one, where it holds none that
        can be read."""
        if isinstance(value, LoopHistory):
            return value._copied()
        if type(value) is not str:
            return cls()
        try:
            name, version, checks, found, runs, told, asked, refusals, reasons, *texts = (
                value.split(BETWEEN)
            )
            if version != VERSION or len(name) != NAMED or name[0] != SIGN:
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
                name,
            )
        except (ValueError, KeyError):
            return cls()

    def _copied(self) -> LoopHistory:
        made = LoopHistory.__new__(LoopHistory)
        made.calls, made.runs, made.forms, made.calm = self.calls, self.runs, self.forms, self.calm
        made.told, made.asked, made.checks = self.told, self.asked, self.checks
        made.found, made.refusals, made.reasons = self.found, self.refusals, self.reasons
        made._name, made._said, made._before, made._behind = "", "", self, self._behind
        return made

    def body(self) -> str:
        """All of it as it is written."""
        texts = [call.written if call.written else call.text for call in self.calls]
        return BETWEEN.join((self._head(), *texts))

    def _head(self) -> str:
        """What stands before the calls; most often there is no repetition and no refusal."""
        if not (self.runs or self.told or self.found or self.refusals or self.reasons):
            return f"{VERSION}|{self.checks}||||{self.asked}||"
        runs = ",".join(map(str, self.runs))
        return (
            f"{VERSION}|{self.checks}|{_joined(self.found, LETTERS)}|{runs}"
            f"|{_joined(self.told, LETTERS)}|{self.asked}"
            f"|{_joined(self.refusals)}|{_joined(self.reasons)}"
        )

    def entered(self, what: str) -> LoopHistory:
        """The history with what came last, which its name is made from, and from the name that it
        had. Where that came after the same, the name is the same."""
        if self._said or self._before is None:
            before = LoopHistory(name=self.name)
            self._before, self._behind = before, 0
        self._said = f"{BETWEEN}{self.asked}{BETWEEN}{what}"
        if self.runs or self.told or self.found or self.refusals or self.reasons:
            self._said += self._head()
        self._behind += 1
        if self._behind >= UNNAMED:
            _ = self.name
        return self

    def push(self, call: PastCall, window: int, runs: tuple[int, ...]) -> LoopHistory:
        """Enter a call that is about to be made, behind those of the window: one more, so that a
        period as long as the window can be compared."""
        self.checks += 1
        self.calls, self.runs = (*self.calls[-window:], call), runs
        self.forms = (*self.forms[-window:], call.form)
        return self.entered(f"{call.id} {call.marks} {call.at} {call.form}")

    def quiet(self, new: PastCall, window: int, errors: int, near: int, stall: int) -> bool:
        """Whether a call is certainly no loop: none in the window has its tool and arguments, and
        not as many as a loop needs are of its tool and failed or brought what others did, or in a
        row and brought nothing new.
        """
        if self.told:
            return False
        if new.form in self.forms or ("" in self.forms and self.last(new, window)):
            return False
        failed = same = barren = 0
        for call in () if self.calm else self.calls[-window:]:
            marks = call.marks
            if marks & ENDED == CallMark.NEWS:
                barren = barren if marks & CallMark.POLLS else 0
            elif call.outcome:
                # Of calls with one outcome all but one brought nothing new.
                alike = call.tool == new.tool
                failed += alike and marks & CallMark.FAILED > 0
                same += alike and not marks & CallMark.FAILED
                barren += 1
        self.calm = self.calm or all(map(_is_calm, self.calls))
        return failed < errors and same < near - 1 and barren < stall

    def last(self, new: PastCall, window: int) -> PastCall | None:
        """The last call of the window with the tool and arguments of a new one."""
        return next((call for call in self.back(window) if call.is_same(new)), None)

    def proposed(self, new: PastCall, window: int) -> tuple[int, ...]:
        """What `runs` become with such a call; what came of the last call is known by now, if
        ever."""
        self.settle()
        runs = [0] * window
        for at, call in enumerate(self.calls[: -window - 1 : -1]):
            if call.is_same(new):
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
        self._replace(at, self.calls[at].renewed(new_id, call))
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
            marks |= CallMark.NEWS
            if not marks & CallMark.FAILED:
                self.refusals, self.reasons = {}, {}
            if self.told:
                self.told = {kind: about for kind, about in self.told.items() if kind in LASTING}
        marks |= call.marks & LASTS
        since = call.since
        if since < call.at:
            before = next((one for one in self.calls[:at][::-1] if one.is_same(call)), call)
            since = since if before.outcome == outcome else call.at
        self._replace(at, call.marked(marks, outcome, since))
        self.calm = self.calm and _is_calm(self.calls[at])
        if self.runs and at < len(self.calls) - 1:
            self._cut(at)
        self.entered(f"{len(self.calls) - at} {marks} {outcome}")

    def cleared(self) -> None:
        """Forget the calls and what was refused, not what was counted of loops."""
        self.calls, self.runs, self.forms = (), (), ()
        self.told, self.refusals, self.reasons = {}, {}, {}

    def forget(self, kind: str) -> None:
        """Forget that the agent was told of a loop."""
        self.told = {other: about for other, about in self.told.items() if other != kind}

    def same(self, new: PastCall, window: int, others: bool = True) -> list[PastCall]:
        """Earlier calls of the window with its tool and arguments and one outcome, newest first;
        with `others`, back to where something else brought something new. Those of which nothing is
        known are among them."""
        same: list[PastCall] = []
        outcome = ""
        for call in self.back(window):
            if call.is_same(new):
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
            if not call.marks & CallMark.FAILED or (count and call.outcome != outcome):
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
            if call.tool != new.tool or call.is_same(new) or not call.is_near(new):
                if call.marks & CallMark.NEWS:
                    break
                continue
            if call.outcome and not call.marks & CallMark.FAILED:
                if near and call.outcome != near[0].outcome:
                    break
                near.append(call)
        return near

    def barren(self, window: int) -> int:
        """How many calls have come to an end since something was gained; to fail in a new way gains
        nothing."""
        count = 0
        for call in self.back(window):
            if call.marks & (CallMark.POLLS | CallMark.WAITED) or not call.outcome:
                continue
            if call.fresh and not call.marks & CallMark.FAILED:
                break
            count += 1
        return count

    def back(self, window: int) -> tuple[PastCall, ...]:
        """The calls of the window, newest first."""
        return self.calls[: -window - 1 : -1]

    def _find(self, call: str) -> int | None:
        if not call:
            return None
        calls = self.calls
        last = len(calls) - 1
        for at in range(last, -1, -1):
            if calls[at].id == call:
                return at
        known = call, READ + id_digest(call)
        for at in range(last, -1, -1):
            if calls[at].id in known or calls[at].first in known:
                return at
        return None

    def _open(self, reading: Reading[ToolResult | Failure]) -> int | None:
        """The oldest call without an outcome that it can belong to: by its arguments, or at least
        by its tool."""
        name = name_digest(reading.event.tool)
        waiting = [at for at, call in enumerate(self.calls) if call.open and call.tool == name]
        if not waiting:
            return None
        own = begun("", reading.event.tool, reading.event.args)
        return next((at for at in waiting if self.calls[at].is_same(own)), waiting[-1])

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


def _is_calm(call: PastCall) -> bool:
    """Whether a call has not ended, or has brought something new."""
    return not call.outcome or call.marks & ENDED == CallMark.NEWS


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
