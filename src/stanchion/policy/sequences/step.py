"""Steps: which calls a sequence speaks of, at which point of a call it takes notice, and what
values of arguments and results are kept: short digests that are equal where the values mean the
same."""

from __future__ import annotations

from base64 import b85encode
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec

from stanchion.kernel.events import Event
from stanchion.kernel.names import Names, glob, names
from stanchion.kernel.stages import Stage
from stanchion.policy.conditions import Condition
from stanchion.policy.errors import GuardFault
from stanchion.policy.rules import compile_option, view_of
from stanchion.readings import Reading


def digest(value: Any) -> str:
    """A short name for a value: texts are compared without case and extra blanks, numbers by what
    they are worth."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = f"{value:.12g}"
    else:
        text = " ".join(str(value).split()).casefold()
    return b85encode(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]).decode()


def at(content: Any, path: str) -> list[Any]:
    """The texts and numbers under a dotted path; a list stands for all its items."""
    found = [content]
    for name in path.split("."):
        found = [inner for value in found for inner in _under(value, name)]
    return [leaf for value in found for leaf in _leaves(value)]


def fields(content: Any, wanted: str) -> list[Any]:
    """The texts and numbers of a result under names that fit a glob, at any depth; `*` stands for
    all of them."""
    if wanted == "*":
        return list(_leaves(content))
    return [
        leaf for name, value in _named(content) if glob(wanted, name) for leaf in _leaves(value)
    ]


def _under(value: Any, name: str) -> list[Any]:
    if isinstance(value, list | tuple):
        return [inner for item in value for inner in _under(item, name)]
    return [value[name]] if isinstance(value, dict) and name in value else []


def _leaves(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed(list(value.values()))
        elif isinstance(value, list | tuple):
            waiting += reversed(value)
        elif value is not None and not isinstance(value, bool):
            yield value


def _named(value: Any) -> Iterator[tuple[str, Any]]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from value.items()
            waiting += reversed(list(value.values()))
        elif isinstance(value, list | tuple):
            waiting += reversed(value)


Outcome = Literal["started", "success", "failure", "any"]
StepStage = Literal["tool_call", "model_call", "egress", "handoff", "prompt"]

ENDS: Final[dict[str, frozenset[Stage]]] = {
    "success": frozenset({Stage.TOOL_RESULT}),
    "failure": frozenset({Stage.ERROR}),
    "any": frozenset({Stage.TOOL_RESULT, Stage.ERROR}),
}
"""Where a call is seen to have come out in some way."""


class SequenceStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Calls of these tools for which a condition holds.

    `outcome` says when one has happened: as soon as it goes ahead (`started`), when its result is
    handed to the agent (`success`), when it has failed (`failure`), or either (`any`). Left out,
    what refuses goes by `started` and what has to be there goes by `success`.
    """

    tool: str | tuple[str, ...] = "*"
    """The tools of the step: a name, a glob or a list of them."""
    when: str = "true"
    """A condition on the event that must be true."""
    outcome: Outcome | None = None
    """When the step counts: as it starts, succeeds, fails or ends either way. If absent, `started`
    for steps that refuse others and `success` for steps that others need."""
    stage: StepStage = "tool_call"
    """The stage of the step; anything other than `tool_call` has no outcome."""

    @cached_property
    def tools(self) -> tuple[str, ...]:
        """The names and globs of its tools."""
        return (self.tool,) if isinstance(self.tool, str) else self.tool

    @cached_property
    def shown(self) -> str:
        """What it is called in messages."""
        return ", ".join(self.tools) if self.stage == "tool_call" else self.stage

    @cached_property
    def _names(self) -> Names:
        return names(self.tools)

    @cached_property
    def condition(self) -> Condition | None:
        """The compiled `when`; nothing where it always holds."""
        return None if self.when == "true" else compile_option(self.when, "when")

    def noticed_at(self, usual: Outcome) -> frozenset[Stage]:
        """The stages at which it happens."""
        outcome = usual if self.outcome is None else self.outcome
        if self.stage != "tool_call" or outcome == "started":
            return frozenset({Stage(self.stage)})
        return ENDS[outcome]

    def checked(self, option: str, usual: Outcome) -> None:
        """Raise where the step says something that cannot be."""
        if not self.tools:
            raise GuardFault(
                "the step names no tool: name at least one, or leave `tool` out for all",
                option,
                "tool",
            )
        if self.stage != "tool_call" and self.outcome not in (None, "started"):
            said = (
                f"a step at `{self.stage}` has no outcome: only tool calls have one; leave it out"
            )
            raise GuardFault(said, option, "outcome")
        if self.stage not in ("tool_call", "egress") and self.tool != "*":
            raise GuardFault(
                f"a step at `{self.stage}` has no tool: leave `tool` out", option, "tool"
            )
        try:
            condition = self.condition
        except GuardFault as fault:
            raise GuardFault(str(fault), option, "when") from None
        if (
            condition is not None
            and "event.result" in self.when
            and Stage.TOOL_RESULT not in self.noticed_at(usual)
        ):
            said = (
                "there is no result yet when the step starts: say `outcome: success`, or leave "
                "the result out"
            )
            raise GuardFault(said, option, "when")

    def fits(self, reading: Reading[Event]) -> bool:
        """Whether an event, at the right stage, is such a step."""
        if (
            self.stage in ("tool_call", "egress")
            and self.tool != "*"
            and reading.event.tool not in self._names
        ):
            return False
        return self.condition is None or bool(self.condition.test(reading.of(view_of)))
