"""Asking a person before a tool runs: what a policy says as `tools.<name>.ask`."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import ClassVar, Final

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import Cure
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding, Pause
from stanchion.kernel.guard import Kind, Placed
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.policy.compiled import GuardSeat, closest
from stanchion.policy.conditions import (
    Condition,
    EvaluationError,
    compile_expression,
)
from stanchion.policy.conditions.kinds import NUMBERS, article, kind_of
from stanchion.policy.errors import Fault
from stanchion.policy.rules import compile_option, view_of
from stanchion.policy.schema import AppliesTo, PolicyFile, ask_id
from stanchion.policy.seat import seat_of
from stanchion.policy.sections import AskEntry
from stanchion.readings import Reading

Where = Callable[..., str]

_WAIT: Final = "wait until a person has answered, then repeat the same action"

CODES: Final = declare(
    {
        "ask.person": Words("a person decides about every call of tool `{}`", _WAIT),
        "ask.above": Words("a person decides about tool `{}` above {}, and `{}` is {}", _WAIT),
        "ask.unclear": Words(
            "a person decides about tool `{}` above {}, and `{}` is no number in this call", _WAIT
        ),
    }
)

REMEDIES: Final = {
    "": (
        "{asks.above:unless}a person's yes",
        "a person's yes, or `{asks.of}` at most {asks.above} (`above`)",
    )
}

CURES: Final = {"ask.above": (Cure("/tools/{guard.tool}/ask/above", "{3}"),)}


class AskPerson(msgspec.Struct, frozen=True):
    """Waits for a person before a tool runs: always, or where a number is above a limit; where the
    call does not have the number, too."""

    name: ClassVar = "ask"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SAFETY
    # Before guards that may ask as well: whom this one asks is what the policy says of the tool.
    priority: ClassVar = 3
    remedies: ClassVar = REMEDIES
    cures: ClassVar = CURES

    tool: str
    asks: AskEntry
    amount: Condition
    closest: Callable[[str], str | None]
    terms: Pause | None = None

    def judge(self, reading: Reading[Event], /) -> Finding | None:
        """Ask, unless another entry is closer to the tool, or the number is small enough."""
        tool, limit = reading.event.tool, self.asks.above
        if self.closest(tool) != self.tool:
            return None
        if limit is None:
            return self._said("ask.person", tool)
        try:
            value = self.amount.evaluate(reading.of(view_of))
        except EvaluationError:
            value = None
        if kind_of(value) not in NUMBERS:
            return self._said("ask.unclear", tool, limit, self.asks.of)
        # Of what is not a number (NaN) it is not known that it is small enough.
        small = value <= limit
        return None if small else self._said("ask.above", tool, limit, self.asks.of, value)

    def _said(self, code: str, *args: str | float) -> Finding:
        return Finding(Action.ESCALATE, code, args, terms=self.terms)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.ESCALATE,)


def asking_seats(
    file: PolicyFile, where: Where, taken: Container[str]
) -> tuple[list[GuardSeat], list[Fault]]:
    """The guards that ask about tools, and what is wrong with what they go by; `taken` are the ids
    of the others."""
    seats: list[GuardSeat] = []
    faults: list[Fault] = []
    known = {name: entry.ask for name, entry in file.tools.items()}
    for tool, asked in known.items():
        asks = AskEntry() if asked is True else asked
        if not asks:
            continue
        place = where("tools", tool, "ask")
        if ask_id(tool) in taken:
            said = f"id `{ask_id(tool)}` is taken by a guard: give that one another id"
            faults.append(Fault(place, said))
            continue
        try:
            amount = _number(asks.of)
        except ValueError as error:
            faults.append(Fault(where("tools", tool, "ask", "of"), str(error)))
            continue
        terms = None
        if asks.by or asks.prompt:
            terms = Pause(asks.prompt, asks.by, round(file.escalation.timeout_s * 1_000))
        guard = AskPerson(tool, asks, amount, lambda name: closest(known, name), terms)
        placed = Placed(
            ask_id(tool), guard, guard.priority, guard.category, guard.stages,
            file.mode == "shadow",
        )  # fmt: skip
        seats.append(seat_of(placed, place, AppliesTo(tools=(tool,))))
    return seats, faults


def _number(source: str) -> Condition:
    """An expression that can be a number; `ValueError` where it never is one."""
    made = compile_option(source, "of", work=compile_expression)
    if made.type.kind not in NUMBERS | {"dyn"}:
        raise ValueError(
            f"`of` is {article(made.type)}, and `above` needs a number: name another one"
        )
    return made
