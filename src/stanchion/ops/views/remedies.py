"""A condition part by part, and what would have made a finding not be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any, Final

from msgspec import Struct

from stanchion.audit.record import RecordedFinding
from stanchion.kernel.actions import STOPS, Action
from stanchion.kernel.contract.powers import having
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.names import Names
from stanchion.ops.views.amounts import span
from stanchion.policy.conditions import (
    ConditionError,
    EvaluationError,
    compile_condition,
    compile_expression,
)
from stanchion.policy.conditions.parser import parse
from stanchion.policy.conditions.syntax import Logic, Node
from stanchion.policy.conditions.view import STANDARD, EventView

DEEPEST: Final = 4
"""How many levels of `and` and `or` are taken apart."""


class ConditionPart(Struct, frozen=True):
    """A part of a condition: its text, whether it holds (`None` where it cannot be said), the
    values of the names it reads, its own parts where it is joined of several by `and` or `or`, and
    why it cannot be said whether it holds."""

    text: str
    holds: bool | None
    values: dict[str, Any] = {}
    joined: str = ""
    parts: tuple[ConditionPart, ...] = ()
    error: str = ""

    def leaves(self, joined: str) -> tuple[ConditionPart, ...]:
        """The parts that are joined by that word, or the part itself."""
        return self.parts if self.joined == joined else (self,)


def parts_of(source: str, view: EventView) -> ConditionPart:
    """A condition tested on an event, part by part."""
    return _part(source, parse(source), view, 0)


def _part(source: str, node: Node, view: EventView, depth: int) -> ConditionPart:
    text = source[node.start : node.end].strip()
    parts: tuple[ConditionPart, ...] = ()
    joined = ""
    if isinstance(node, Logic) and depth < DEEPEST:
        joined = "and" if node.op == "&&" else "or"
        parts = tuple(_part(source, part, view, depth + 1) for part in node.parts)
    holds, error = _tested(text, view)
    return ConditionPart(text, holds, {} if parts else _values(text, view), joined, parts, error)


def _tested(text: str, view: EventView) -> tuple[bool | None, str]:
    """Whether a part holds; where that cannot be said, why."""
    try:
        return compile_condition(text, STANDARD).test(view), ""
    except (ConditionError, EvaluationError) as error:
        return None, str(error)


def _values(text: str, view: EventView) -> dict[str, Any]:
    """What the names in a part stand for."""
    found: dict[str, Any] = {}
    try:
        names = sorted(compile_condition(text, STANDARD).reads)
    except ConditionError:
        return found
    for name in names:
        try:
            value = compile_expression(name, STANDARD).evaluate(view)
        except (ConditionError, EvaluationError):
            continue
        found[name] = sorted({*value.exact, *value.globs}) if isinstance(value, Names) else value
    return found


class CureLine(Struct, frozen=True):
    """What a policy would have to say besides what it says, as text to paste. `asks` says that a
    person would be asked; otherwise the call goes ahead. `kept` counts dangerous neighbours that
    stay stopped, `also` are other calls of the run that it lets through, `opens` says what no trial
    shows."""

    text: str
    asks: bool
    kept: int
    also: tuple[str, ...]
    opens: str = ""


class Cures(Struct, frozen=True):
    """The lines that cure a refusal, the narrowest first; where there is none, why."""

    lines: tuple[CureLine, ...] = ()
    why: str = ""


SHOWN: Final = 20
"""How many names are listed."""

LOCKDOWN: Final = (
    "a fifth or more left of every budget of the run and its task: in lockdown warnings refuse"
)
"""What else helps where a mark that only warns has refused."""

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
    "kernel.shield_closed": "the program has to make a new shield, or close it later",
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
    "mandate.outside": (
        "a person's yes, or a mandate that names the tool or its effect: `may` of the run, or of "
        "its task in the policy"
    ),
    "kernel.exhausted": "something left of every budget of the run and its task",
    "kernel.quarantined": "the end of the quarantine",
    "kernel.no_lesser": "a ladder under `degrade` with a cheaper step for this request",
    "kernel.bad_event": "data that can be read as a whole",
    "kernel.too_large": "less than that in one event",
    "kernel.too_dense": "less of that in one event, or more of it allowed (`limits.matches_a_kb`)",
    "kernel.deadline": "a later deadline, or less time taken before",
}
"""What lets an event past what the engine itself has against it, unless the guard that it is about
says more."""

CHILD: Final = {"budget.exceeded": ("a larger budget for this child when it is spawned",)}
"""What helps where no guard of the policy has spoken, but what a run was given."""


def remedies(
    said: RecordedFinding,
    guard: Any,
    event: Event | None,
    when: ConditionPart | None,
    check: ConditionPart | None,
) -> tuple[str, ...]:
    """What would have made it pass, one way a line; nothing where only the guard's own advice is
    known."""
    declared = having(guard, "remedies")
    own = (CHILD if guard is None else {}) if declared is None else declared.remedies
    if said.code not in own and said.code in KERNEL:
        return (KERNEL[said.code],)
    ways = own.get(said.code, own.get("", ()))
    finding = Finding(Action[said.action], said.code, said.args)
    filling = having(guard, "places")
    given = {} if filling is None else filling.places(finding, event)
    places = {"guard": guard, "mark": "warn", **given}
    if finding.action >= STOPS and str(places["mark"]).startswith("warn"):
        places["lockdown"] = LOCKDOWN
    lines = [_fill(way, said.args, places) for way in ways]
    return (*filter(None, lines), *_rule(when, check))


class _Filler(Formatter):
    """Fills the places of a way; `LookupError` where there is nothing to put into one."""

    def get_value(self, key: int | str, args: Sequence[Any], places: Mapping[str, Any]) -> Any:
        """What stands in a place: what is given, or else a member of the guard; nothing where an
        argument is not there any more."""
        if isinstance(key, int):
            return args[key] if key < len(args) else None
        return places[key] if key in places else getattr(places["guard"], key)

    def format_field(self, value: Any, spec: str) -> str:
        """A value in words."""
        if spec in ("if", "unless"):
            value, spec = bool(value) is (spec == "if") and "", ""
        if value is None or value is False or value == []:
            raise LookupError
        if spec == "span":
            return span(round(value * 1000))
        return _quoted(value) if spec == "names" else format(value, spec)


def filled(way: Any, args: tuple[Any, ...], places: Mapping[str, object]) -> Any:
    """A value with its places filled: one that is nothing but a number's place is that argument
    itself; empty where there is nothing to put into a place."""
    alone = isinstance(way, str) and way[:1] == "{" and way[1:-1].isdecimal() and way[-1] == "}"
    if alone and int(way[1:-1]) < len(args) and args[int(way[1:-1])] is not None:
        return args[int(way[1:-1])]
    return _fill(way, args, places) if isinstance(way, str) else way


def _fill(way: str, args: tuple[Any, ...], places: Mapping[str, object]) -> str:
    """Put a way into words; they are empty where it is none."""
    try:
        return _Filler().vformat(way, args, places)
    except (AttributeError, LookupError, TypeError):
        return ""


def _rule(when: ConditionPart | None, check: ConditionPart | None) -> tuple[str, ...]:
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


def _quoted(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"
