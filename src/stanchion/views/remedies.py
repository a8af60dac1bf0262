"""Remedies: what would have made a finding not be there, told from the guard, the event and the
finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.audit.record import Said
from stanchion.guards._marks import MARKS
from stanchion.guards.budget import MEASURES, Budget, phrase
from stanchion.guards.error_rate import ErrorRate
from stanchion.guards.python import PythonGuard
from stanchion.guards.queue import Queue
from stanchion.guards.safe_mode import SafeMode
from stanchion.guards.size_limits import SizeLimits
from stanchion.guards.step_limit import StepLimit
from stanchion.guards.time_limit import TimeLimit
from stanchion.guards.tool_allowlist import ToolAllowlist
from stanchion.guards.tool_denylist import ToolDenylist
from stanchion.kernel.actions import STOPS, Action
from stanchion.kernel.autonomy import TIGHTER
from stanchion.kernel.events import Event
from stanchion.kernel.names import glob, is_glob
from stanchion.policy.asking import AskPerson
from stanchion.policy.rules import Rule
from stanchion.views.conditions import Part
from stanchion.views.times import span

SHOWN: Final = 20
"""How many names are listed."""

KERNEL: Final = {
    "kernel.guard_error": (
        "the guard has to work on this event: fix the guard, or set `fail_open` for it"
    ),
    "kernel.lookup_failed": (
        "the guard's code has to give an answer: fix it, or set `fail_open` for the guard"
    ),
    "kernel.lookup_expired": (
        "the guard's code has to answer in time: make it faster, or raise its `deadline_ms`"
    ),
    "kernel.lookup_undecided": "a person's yes, or an answer in time: make the guard's code "
    "faster, or raise its "
    "`waits`",
    "kernel.store_lost": "the store has to be reachable",
    "kernel.crowded": "fewer actions at once, or a store that answers faster",
    "kernel.audit_lost": "the audit trail has to be writable",
    "kernel.broker_lost": "the broker has to be reachable",
    "kernel.done_unrecorded": "the audit trail has to be writable",
    "kernel.done_unsettled": "the store has to be reachable",
    "kernel.done_unjudged": "the broker has to be reachable",
    "kernel.contention": "fewer decisions at once on the same state",
    "kernel.patch_failed": "the redaction has to fit the content: fix the guard that made it",
    "kernel.third_warning": (
        "fewer warnings of this guard in the task, or a higher `limits.warnings`"
    ),
    "kernel.cancelled": "a run that is not cancelled",
    "kernel.ended": "a run that has not ended",
    "kernel.paused": "an answer to the ticket that the run waits for, or the end of its time",
    "strikes.reached": "a person's yes, or the time after which the strikes are forgotten",
    "kernel.halted": "an operator who resumes",
    "kernel.approval": (
        "a person's yes to this very action, or a lower risk level of the run and its task"
    ),
    "kernel.exhausted": "something left of every budget of the run and its task",
    "kernel.quarantined": "the end of the quarantine",
    "kernel.no_lesser": "a ladder under `degrade` with a cheaper step for this request",
    "kernel.bad_event": "data that can be read as a whole",
    "kernel.too_large": "less than that in one event",
    "kernel.too_dense": "less of that in one event, or more of it allowed (`limits.matches_a_kb`)",
    "kernel.deadline": "a later deadline, or less time taken before",
}
"""What lets an event past what the engine itself has against it."""


def remedies(
    said: Said, guard: Any, event: Event | None, when: Part | None, check: Part | None
) -> tuple[str, ...]:
    """What would have made it pass, one way a line; nothing where only the guard's own advice is
    known."""
    if isinstance(guard, PythonGuard) and said.code in _BROKEN:
        return _BROKEN[said.code](guard, said)
    if said.code in KERNEL:
        return (KERNEL[said.code],)
    match guard:
        case Rule():
            return _rule(when, check)
        case ToolAllowlist() if event is not None:
            return _allowlist(guard, event, said)
        case ToolDenylist():
            return _denylist(guard, said)
        case AskPerson():
            small = f", or `{guard.asks.of}` at most {guard.asks.above} (`above`)"
            return (f"a person's yes{'' if guard.asks.above is None else small}",)
        case StepLimit():
            return _steps(guard, said)
        case Budget():
            return _budget(guard, said)
        case TimeLimit():
            return _time(guard, said)
        case None if said.code == "budget.exceeded":
            return ("a larger budget for this child when it is spawned",)
        case SizeLimits():
            return _MEASURES[said.code](guard) if said.code in _MEASURES else ()
        case SafeMode():
            return ("safe mode switched off",)
        case Queue():
            return _queue(guard, said)
        case ErrorRate():
            return _errors(guard, said)
        case PythonGuard():
            return (f"another answer of `{guard.call}`: None lets it pass",)
    return ()


_MEASURES: Final[dict[str, Callable[[SizeLimits], tuple[str, ...]]]] = {
    "size.too_long": lambda guard: (f"at most {guard.max_chars:,} characters (`max_chars`)",),
    "size.too_deep": lambda guard: (f"at most {guard.max_depth:,} levels (`max_depth`)",),
    "size.too_many": lambda guard: (f"at most {guard.max_values:,} values (`max_values`)",),
}


def _misanswered(guard: PythonGuard, _said: Said) -> tuple[str, ...]:
    return (
        (
            f"`{guard.call}` gave something that is not an answer: have it return None, a text or "
            f"a Finding"
        ),
        "or set `fail_open` for the guard",
    )


def _raised(guard: PythonGuard, said: Said) -> tuple[str, ...]:
    """What was raised is told by its type; its words were never kept."""
    error = f"`{said.args[1]}`" if len(said.args) > 1 else "an error"
    return (
        (
            f"`{guard.call}` raised {error}: fix it (the error's text is not kept, because it may "
            f"hold secrets)"
        ),
        "or set `fail_open` for the guard",
    )


_BROKEN: Final[dict[str, Callable[[PythonGuard, Said], tuple[str, ...]]]] = {
    "kernel.guard_error": _misanswered,
    "kernel.lookup_failed": _raised,
}
"""Ways for a guard whose code is a user's own. What that code raises is `lookup_failed`: the guard
itself fails only on an answer that is none."""


def _steps(guard: StepLimit, said: Said) -> tuple[str, ...]:
    per = f"per {guard.per}"
    if said.code == "steps.nearly":
        return (
            f"no more than {guard.warn_after:,} steps {per} (`warn_after`)",
            *_lockdown(said, "warn_after"),
        )
    return (
        f"no more than {guard.max_steps:,} steps {per} (`max_steps`)",
        f"another {guard.per}: its steps are counted apart",
    )


def _budget(guard: Budget, said: Said) -> tuple[str, ...]:
    """Which measure it was is told by the words of its limit."""
    nearly = said.code == "budget.nearly"
    limit = said.args[1 if nearly else 0] if len(said.args) > 1 else ""
    option = next(
        (
            MEASURES[unit]
            for unit, number in guard.limits().items()
            if phrase(unit, number) == limit
        ),
        "",
    )
    if not option and guard.of_task is not None:
        return (f"a larger budget of the task (`tasks.<name>.budget.{guard.of_task}`)",)
    if not option:
        return ()
    where = f"{limit} per {guard.per}" + (
        f" in any {span(round(guard.window_s * 1000))}" if guard.window_s else ""
    )
    if nearly:
        by = _mark(guard, said.args[0])
        return (
            f"less than {said.args[0]} % of {where} (`{by}` of `{option}`)",
            *_lockdown(said, by),
        )
    later = (
        "the same call later, when earlier spending has left the window" if guard.window_s else ""
    )
    apart = (
        f"another {guard.per}: its spending is counted apart"
        if guard.per in ("run", "task", "agent")
        else ""
    )
    fits = f"no more than {where}, used and reserved together (`{option}`)"
    return (fits, *[way for way in (later, apart) if way])


def _time(guard: TimeLimit, said: Said) -> tuple[str, ...]:
    if guard.max_s is None:
        return (
            "more time for the task (`tasks.<name>.budget.time_s`)",
            "another task: its time is counted apart",
        )
    since = f"{span(round(guard.max_s * 1000))} after the first action of the {guard.per}"
    estimate = ("a smaller `estimate_s`",) if guard.estimate_s else ()
    if said.code == "time.nearly" and len(said.args) < 2:
        return estimate  # which mark it was is erased
    if said.code == "time.nearly":
        by = _mark(guard, said.args[1])
        within = f"before {said.args[1]} % of {since} (`{by}`)"
        return (within, *estimate, *_lockdown(said, by))
    within = f"within {since} (`max_s`)"
    return (within, *estimate, f"another {guard.per}: its time is counted apart")


def _queue(guard: Queue, said: Said) -> tuple[str, ...]:
    room = f"fewer than {guard.max_running:,} running at a time per {guard.per} (`max_running`)"
    if said.code == "queue.full":
        return (room, f"a longer line than {guard.max_waiting:,} (`max_waiting`)")
    return (room, f"more than {span(round(guard.timeout_s * 1000))} to wait for that (`timeout_s`)")


def _errors(guard: ErrorRate, said: Said) -> tuple[str, ...]:
    if said.code == "errors.repeated":
        return (f"fewer than {guard.repeats} failures in a row (`repeats`)",)
    if said.code == "errors.worsened":
        return (
            f"fewer failures than {guard.halt_at:g} % of the last {guard.calls} calls (`halt_at`)",
        )
    return (f"fewer failures than {guard.warn_at:g} % of the last {guard.calls} calls (`warn_at`)",)


def _mark(guard: Any, share: Any) -> str:
    """The option of the mark at that share of the limit, as it is or as strict mode tightens it."""
    marks = {name: at for name in MARKS if (at := getattr(guard, name, None)) is not None}
    return next(
        (name for by in (1, TIGHTER) for name, at in marks.items() if f"{at * by:g}" == share),
        "warn_at",
    )


def _lockdown(said: Said, by: str) -> tuple[str, ...]:
    """What else helps where a mark that only warns has refused."""
    refused = by.startswith("warn") and Action[said.action] >= STOPS
    return (
        "a fifth or more left of every budget of the run and its task: in lockdown warnings refuse",
    ) * refused


def _rule(when: Part | None, check: Part | None) -> tuple[str, ...]:
    ways = []
    if check is not None:
        wanted = [part.text for part in check.leaves("and") if part.holds is not True]
        ways.append(
            f"{_quoted(wanted)} would have to hold" if wanted else "the check would have to hold"
        )
    if when is not None:
        met = [part.text for part in when.leaves("and") if part.holds is not False]
        one = "one of these" if len(met) > 1 else "this"
        ways.append(f"{'or ' if ways else ''}{one} would have to be false: {_quoted(met)}")
    return tuple(ways)


def _allowlist(guard: ToolAllowlist, event: Event, said: Said) -> tuple[str, ...]:
    run = event.run
    agent = run.agent if run.agent else "the agent"
    if said.code == "tool.undeclared_agent":
        return (f"a list of tools for `{agent}` under `agents`", "`undeclared: allow`")
    listed = [*run.additional_tools.exact, *run.additional_tools.globs]
    listed += (
        [] if run.allowed_tools is None else [*run.allowed_tools.exact, *run.allowed_tools.globs]
    )
    listed += [] if guard.tools is None else guard.tools
    ways = (
        [f"one of these tools: {_quoted(sorted(set(listed)))}"]
        if listed
        else ["no tool at all: the list is empty"]
    )
    return (
        *ways,
        f"`{event.tool}` in `allowed_tools` of `{agent}`, or in `additional_tools` of its task",
    )


def _denylist(guard: ToolDenylist, said: Said) -> tuple[str, ...]:
    tool = str(said.args[0]) if said.args else ""
    by = [name for name in guard.tools if name == tool or (is_glob(name) and glob(name, tool))]
    return (f"a tool that is not on the list; this one is there as {_quoted(by)}",) if by else ()


def _quoted(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"
