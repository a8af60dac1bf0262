"""Loops: a run that does the same again and again, and gets the same for it, is told so and
stopped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

from msgspec import Meta, Struct

from stanchion.guards._outcome import error_digest, result_digest
from stanchion.guards._refusal import refusal
from stanchion.kernel.actions import PROCEEDS, Action, Category
from stanchion.kernel.declared import READ
from stanchion.kernel.events import Event, Failure, Prompt, ToolCall, ToolResult
from stanchion.kernel.faults import FAILED, may_pass
from stanchion.kernel.findings import ASK, Finding
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.option import ACTIONS, Off, Severer, Sooner
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import When, key
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading
from stanchion.readings.act import reads
from stanchion.readings.fingerprint import digest
from stanchion.readings.history import ENOUGH, LETTERS, LoopHistory
from stanchion.readings.past_call import CallMark, PastCall, begun
from stanchion.readings.repeating import is_a_look, is_the_same_again

CODES: Final = declare(
    {
        "loops.repeat": Words(
            "this is call {} in a row of `{}` with the same arguments, and {}",
            "do not repeat it: change the arguments, use another tool, or report what you have",
        ),
        "loops.cycle": Words(
            "the last calls repeat a cycle of {}: `{}` begins round {}, and {}",
            "leave the cycle: change the arguments, use another tool, or report what you have",
        ),
        "loops.excessive": Words(
            "this is call {} of `{}` with the same arguments within {} calls, and {}",
            "use what you know already, change the arguments, use another tool, or report what you "
            "have",
        ),
        "loops.errors": Words(
            "`{}` has failed {} times in the same way",
            "read the error and change what causes it, use another tool, or report the error",
        ),
        "loops.near": Words(
            "this is call {} of `{}` with almost the same arguments, and the result was the same "
            "each time",
            "other words will not change it: use what you know already, use another tool, or "
            "report what you have",
        ),
        "loops.stall": Words(
            "the last {} calls have brought nothing new",
            "step back: say what is missing, choose another way to get it, or report what you have",
        ),
        "loops.refused": Words(
            "this was refused {} times for the same reason (`{}` of guard `{}`), and nothing new "
            "came in between",
            "change what the reason names, do without it, or report what you have: other words and "
            "other tools change nothing",
        ),
    }
)

MARKS: Final = {READ: CallMark.READS, "poll": CallMark.POLLS, "idempotent": CallMark.IDEMPOTENT}
"""What is declared of a tool says of its calls."""

WAIT_S: Final = 20
"""Who looks again after so many seconds waits for something."""
POLLED_S: Final = 1_800
"""For how many seconds one may wait for it."""

Count = Annotated[int, Meta(ge=1, le=100_000)]
OrNever = Annotated[int, Meta(ge=0, le=100_000)]
LoopAction = Literal["allow", "warn", "escalate", "block", "quarantine", "halt"]


class _Found(NamedTuple):
    """A loop that was found: its kind, what it is about, and what is to be said of it."""

    kind: str
    about: str
    action: Action
    args: tuple[str | int, ...]


class Loops(Struct, frozen=True):
    """Finds calls that are repeated without gain: in a row, in circles, too often, almost, or
    failing alike.

    A call counts as repeated only while its result stays the same. What a user asks for anew is no
    loop. Calls that any guard refuses are counted by what they are refused for, and by the reason
    alone: the agent is told, then a person, and then the run ends.
    """

    name: ClassVar = "loops"
    kind: ClassVar = Kind.RECORD
    writes: ClassVar = When.JUDGED
    stages: ClassVar = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR, Stage.PROMPT})
    category: ClassVar = Category.QUALITY
    priority: ClassVar = 40
    only_marks: ClassVar = True

    max_history: Annotated[int, Meta(ge=2, le=100)] = 10
    """How many of a run's last calls are compared."""
    max_repeats: Count = 2
    """How many times in a row a call, or a cycle of calls, may give the same results; the next time
    is refused."""
    idempotent_repeats: Count = 5
    """The same limit for tools with the annotation `idempotent` or the effect `read`."""
    poll_repeats: Count = 100
    """The same limit for tools annotated as `poll`, and for cycles that contain one."""
    unreported_repeats: Count = 4
    """The same limit for calls whose outcome is unknown: parallel, refused or never reported."""
    max_errors: Count = 3
    """After this many failures of a tool in the same way the guard warns; after twice as many it
    takes `error_action`."""
    near_repeats: Count = 3
    """How many calls with almost the same arguments and the same result are accepted before
    `near_action`."""
    stall_after: Count = 4
    """How many calls in a row may bring nothing new before `stall_action`."""
    refusals_told: OrNever = 2
    """From this many refusals of the same thing on, the agent is told so; 0 means never."""
    refusals_escalated: Sooner[OrNever] = 5
    """From this many refusals of the same thing on, a person is asked to look at the run; 0 means
    never."""
    refusals_halted: Sooner[OrNever] = 10
    """At this many refusals of the same thing, the run ends; 0 means never."""
    refusals_factor: Sooner[OrNever] = 3
    """Refusals by one guard with one code, whatever they are about, have the same three limits,
    this many times as high; 0 means none."""
    action: Severer[LoopAction] = "block"
    """The action for calls repeated in a row, in cycles or too often."""
    error_action: Severer[LoopAction] = "block"
    """The action for calls of a tool that keeps failing in the same way."""
    near_action: Severer[LoopAction] = "warn"
    """The action for calls with almost the same arguments."""
    stall_action: Severer[LoopAction] = "warn"
    """The action for a call after many that brought nothing new."""
    by_reading: Off[bool] = False
    """If `true`, calls that only look also have the limit of `idempotent_repeats` if a tool's name
    or its commands say so, without a declaration."""
    others_renew: bool = True
    """If `true`, something new from another call starts the count of a call made too often anew; if
    `false`, only a change of its own result does."""

    def __post_init__(self) -> None:
        for option, needed in {
            "max_repeats": self.max_repeats,
            "max_errors": 2 * self.max_errors,
            "near_repeats": self.near_repeats,
            "stall_after": self.stall_after,
        }.items():
            if needed > self.max_history:
                said = (
                    f"`{option}: {getattr(self, option)}` is never reached: only "
                    f"{self.max_history} calls are kept"
                )
                raise ValueError(f"{said}, and it needs {needed}; let `max_history` be larger")

    def key(self, event: Event, /) -> str:
        """The history of the run."""
        return history_key(event.run.tenant, event.run.id)

    def judge(self, reading: Reading[Event], value: Any, _now: int, /) -> Ruling | None:
        """Judge a call by those before it, or keep what came of one."""
        event = reading.event
        match event:
            case ToolCall():
                return self._judge_call(reading, event, LoopHistory.of(value))
            case ToolResult() if value is not None and FAILED not in event.traits:
                return _keep_result(reading, event, LoopHistory.of(value))
            case Failure() if value is not None:
                return _keep_failure(reading, event, LoopHistory.of(value))
            case Prompt() if event.trusted:
                return _asked(event, LoopHistory.of(value))
            case _:
                return None

    def refused(self, reading: Reading[Event], value: Any, finding: Finding, /) -> Ruling | None:
        """Count a call that was refused, by whichever guard, and say how often it was for the same
        thing."""
        event = reading.event
        if not isinstance(event, ToolCall):
            return None
        history = LoopHistory.of(value)
        if not history.knows(event.id):
            history.checks += 1
        told = refusal(reading, finding)
        count, what, whatever = history.refuse(told.objects, told.reason)
        action = self._step(count)
        if self.refusals_factor:
            wider = self._step(whatever // self.refusals_factor)
            if wider > action:
                action, count, what = wider, whatever, told.reason
        if action == Action.ALLOW:
            return Ruling(None, history.entered(event.id))
        if finding.code not in CODES:  # what this guard refuses is counted as the loop that it is
            history.found = {**history.found, "refused": history.found.get("refused", 0) + 1}
        args = (count, finding.code, finding.guard)
        effects = (ASK,) if action == Action.ESCALATE else ()
        return Ruling(
            Finding(action, "loops.refused", args, effects=effects, about=what),
            history.entered(event.id),
        )

    def _step(self, count: int) -> Action:
        """What is done at so many refusals."""
        return next((action for least, action in self._steps() if 0 < least <= count), Action.ALLOW)

    def _steps(self) -> tuple[tuple[int, Action], ...]:
        """From which refusal on what is done, the severest first; 0 stands for never."""
        return (
            (self.refusals_halted, Action.HALT),
            (self.refusals_escalated, Action.ESCALATE),
            (self.refusals_told, Action.WARN),
        )

    def _judge_call(self, reading: Reading[Event], event: ToolCall, history: LoopHistory) -> Ruling:
        if event.call and history.again(event.call, event.id):
            return Ruling(None, history.entered(f"{event.id} {event.call}"))
        window, marks = self.max_history, 0
        for trait in event.traits:
            marks |= MARKS.get(trait, 0)
        if self.by_reading and is_the_same_again(reading):
            marks |= CallMark.IDEMPOTENT
        call = begun(event.id, event.tool, event.args, marks | CallMark.FIRST, event.at)
        quiet = history.quiet(call, window, self.max_errors, self.near_repeats, self.stall_after)
        runs: tuple[int, ...] = ()
        last = None if quiet else history.last(call, window)
        if last is not None:
            marks |= CallMark.WAITED if _is_poll(reading, call, last) else 0
            call, runs = call.marked(marks, since=last.since), history.proposed(call, window)
        found, finding = None if quiet else self._find(event.tool, call, runs, history), None
        if found is not None:
            history.found = {**history.found, found.kind: history.found.get(found.kind, 0) + 1}
            finding = _say(found, call, history)
            call = call.marked(call.marks | CallMark.REFUSED) if found.action > PROCEEDS else call
        return Ruling(finding, history.push(call, window, runs))

    def _find(
        self, tool: str, call: PastCall, runs: tuple[int, ...], history: LoopHistory
    ) -> _Found | None:
        """The first kind of loop that fits, the most certain first."""
        found = None
        if call.marks & CallMark.WAITED:
            return None
        if runs:
            found = self._periodic(tool, call, runs, history) or self._excessive(
                tool, call, history
            )
        if found is not None or call.marks & CallMark.POLLS:
            return found
        return (
            self._failing(tool, call, history)
            or self._nearly(tool, call, history)
            or self._stalled(history)
        )

    def _periodic(
        self, tool: str, call: PastCall, runs: tuple[int, ...], history: LoopHistory
    ) -> _Found | None:
        """The same call once more in a row, or the same calls once more in the same order. Of what
        changes nothing by being repeated the agent is told as early as others are refused."""
        told = None
        for lag, run in enumerate(runs, 1):
            if not run or 1 < lag >= run:
                continue
            period = history.calls[-lag:]
            limit = self._limit((call, *period), history.calls[-2 * lag :])
            if lag == 1 and run >= limit:
                args = (run + 1, tool, _came(history.calls[-run:]))
                return _Found("repeat", call.exact, ACTIONS[self.action], args)
            if (
                lag == 1
                and run >= self.max_repeats
                and _harmless(call)
                and not any(one.open for one in period)
            ):
                args = (run + 1, tool, _came(period))
                told = _Found("repeat", call.exact, min(ACTIONS[self.action], Action.WARN), args)
            limit = max(2, limit)
            several = not all(one.is_same(period[0]) for one in period)
            if lag > 1 and run > (limit - 1) * lag and several:
                begun = (lag, tool, run // lag + 2, _came(period))
                return _Found("cycle", "", ACTIONS[self.action], begun)
        return told

    def _excessive(self, tool: str, call: PastCall, history: LoopHistory) -> _Found | None:
        """The same call too often among the last, though nothing was gained in between."""
        same = history.same(call, self.max_history, self.others_renew)
        if len(same) < min(self.max_repeats, self.idempotent_repeats, self.poll_repeats):
            return None
        among = (call, *[one for one in history.since(same[-1]) if one.marks & CallMark.POLLS])
        settled = [one for one in same if not one.open]
        if len(settled) < self._limit(among, settled) and len(same) < self._limit(among, same):
            return None
        args = (len(same) + 1, tool, self.max_history, _came(same))
        return _Found("excessive", call.exact, ACTIONS[self.action], args)

    def _failing(self, tool: str, call: PastCall, history: LoopHistory) -> _Found | None:
        """The same failure of the same tool; first it warns, after twice as many it acts."""
        count = history.failures(call.tool, self.max_history)
        if count < self.max_errors:
            if history.told.get("errors", "").startswith(call.tool):
                history.forget("errors")
            return None
        action, level = ACTIONS[self.error_action], 2
        if count < 2 * self.max_errors:
            action, level = min(action, Action.WARN), 1
        return _Found("errors", f"{call.tool}{level}", action, (tool, count))

    def _nearly(self, tool: str, call: PastCall, history: LoopHistory) -> _Found | None:
        """Almost the same call, with the same result each time."""
        count = len(history.near(call, self.max_history, self.near_repeats))
        if count < self.near_repeats:
            if history.told.get("near") == call.tool:
                history.forget("near")
            return None
        return _Found("near", call.tool, ACTIONS[self.near_action], (count + 1, tool))

    def _stalled(self, history: LoopHistory) -> _Found | None:
        """Nothing new from anything."""
        count = history.barren(self.max_history)
        if count < self.stall_after:
            return None
        return _Found("stall", "", ACTIONS[self.stall_action], (count,))

    def _limit(self, calls: tuple[PastCall, ...], came: Sequence[PastCall]) -> int:
        """How often calls may be made: as often as the strictest of them, unless one of them polls.
        By what came of them it may be more: what passes is worth a retry, and of what is not known
        nothing is known to be the same."""
        limit = self.poll_repeats
        if not any(one.marks & CallMark.POLLS for one in calls):
            limit = min(
                [self.idempotent_repeats if _harmless(one) else self.max_repeats for one in calls]
            )
        if any(one.marks & CallMark.TRANSIENT for one in came):
            limit = max(limit, 2 * self.max_errors)
        if any(one.open for one in came):
            limit = max(limit, self.unreported_repeats)
        return limit

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        chosen = {
            ACTIONS[name]
            for name in (self.action, self.error_action, self.near_action, self.stall_action)
        }
        told = {min(ACTIONS[name], Action.WARN) for name in (self.action, self.error_action)}
        steps = {action for least, action in self._steps() if least}
        return tuple(sorted(chosen | told | steps))


class Metrics(Struct, frozen=True):
    """What was counted in a run; `detection_rate` is the percentage of calls that were found to be
    loops."""

    total_checks: int = 0
    loops_detected: int = 0
    immediate_repeats: int = 0
    short_cycles: int = 0
    detection_rate: float = 0.0
    by_kind: dict[str, int] = {}


def metrics(value: Any, kinds: Iterable[str] = LETTERS) -> Metrics:
    """The metrics that a run's record holds, of these kinds of loops; all zero where there is
    none."""
    history = LoopHistory.of(value)
    found = {kind: history.found[kind] for kind in sorted(kinds) if kind in history.found}
    loops = sum(found.values())
    rate = round(100 * loops / history.checks, 2) if history.checks else 0.0
    return Metrics(
        history.checks, loops, found.get("repeat", 0), found.get("cycle", 0), rate, found
    )


def history_key(tenant: str, run: str) -> str:
    """Under which key the history of a run is kept."""
    return key(tenant, "loops", "run", run)


def _keep_result(reading: Reading[Any], event: ToolResult, history: LoopHistory) -> Ruling | None:
    looks = reads(event.tool)
    outcome, size = result_digest(event.result, event.args.values() if looks else ())
    tells = looks or size >= ENOUGH or READ in event.traits
    known = history.came(reading, outcome, CallMark.TELLS if tells else 0, event.part > 1)
    return Ruling(None, history) if known else None


def _keep_failure(reading: Reading[Any], event: Failure, history: LoopHistory) -> Ruling | None:
    marks = CallMark.FAILED | (CallMark.TRANSIENT if may_pass(event) else 0)
    known = history.came(reading, error_digest(reading), marks)
    return Ruling(None, history) if known else None


def _asked(event: Prompt, history: LoopHistory) -> Ruling | None:
    """A user who asks for something new begins anew; the same words once more change nothing."""
    asked = digest(event.text)
    if asked == history.asked:
        return None
    history.cleared()
    history.asked = asked
    return Ruling(None, history.entered(event.id))


def _say(found: _Found, call: PastCall, history: LoopHistory) -> Finding | None:
    """What is said of a loop; what stops nothing is said once, until something new came."""
    told = history.told.get(found.kind) == found.about
    history.told = {**history.told, found.kind: found.about}
    if told and found.action <= PROCEEDS:
        return None
    about = found.about if found.about else call.exact
    return Finding(found.action, f"loops.{found.kind}", found.args, about=about)


def _is_poll(reading: Reading[Any], call: PastCall, last: PastCall) -> bool:
    """Whether a call looks again at what had not changed, after a while, and not for too long."""
    if call.at - last.at < WAIT_S or call.at - last.since > POLLED_S:
        return False
    return bool(call.marks & CallMark.READS) or is_a_look(reading)


def _harmless(call: PastCall) -> bool:
    """Whether nothing is changed by repeating a call."""
    return (
        bool(call.marks & (CallMark.READS | CallMark.IDEMPOTENT))
        and not call.marks & CallMark.POLLS
    )


def _came(calls: Sequence[PastCall]) -> str:
    ran = [call for call in calls if not call.marks & CallMark.REFUSED]
    if not ran or any(call.open for call in ran):
        return "nothing is known yet of what came of it"
    if any(call.marks & CallMark.FAILED for call in ran):
        return "it failed in the same way each time"
    return "the result was the same each time"
