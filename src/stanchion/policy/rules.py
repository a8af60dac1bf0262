"""Rules: a guard that a policy's author writes as conditions, compiled when the policy loads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import Category
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding, Pause, PauseScope
from stanchion.kernel.guard import Kind, Switch
from stanchion.kernel.option import (
    ACTIONS,
    ForPeople,
    PlainActionName,
    list_actions,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.policy.conditions import (
    Condition,
    ConditionError,
    Vocabulary,
    compile_condition,
    compile_expression,
)
from stanchion.policy.conditions.view import ARGUMENTS, STANDARD, EventView
from stanchion.policy.errors import GuardFault
from stanchion.policy.static import STATIC
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "rule.broken": Words(
            "a rule of the policy forbids this: {}",
            "choose another way",
            asked="wait until a person has answered, then repeat the same action",
        )
    }
)

LITERALS: Final = frozenset({str, int, float, bool, type(None)})
NO_LITERAL: Final = object()
"""What stands for a value that no literal can be equal to."""


class Pausing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person is asked where a rule waits for one."""

    prompt: str = ""
    """The question, in words for the person; if absent, the rule's message."""
    roles: tuple[str, ...] = ()
    """The roles that are asked, in this order; if absent, those of `escalation`."""
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=10**8)] = 300.0
    """The action is refused after this many seconds without an answer."""
    scope: PauseScope = "tool_call"
    """What waits meanwhile: `tool_call` is the action alone, `step` everything that the agent would
    begin before it asks its model again, `run` everything that the run would begin."""


class Rule(msgspec.Struct, frozen=True, dict=True):
    """Refuses where `when` holds and `check` does not; without a `check`, wherever `when` holds.

    Conditions are expressions over the event, its agent, action and task. One that cannot be
    evaluated fails as a guard that raises: closed, unless the rule may fail open.
    """

    name: ClassVar = "rule"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset(Stage)
    default_stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 100

    when: str = "true"
    """The condition under which the rule applies, such as `agent.role == 'writer'`."""
    check: str | None = None
    """The condition that must be true then; if absent, the rule acts whenever `when` is true."""
    action: PlainActionName = "block"
    """The action when the rule is broken; `allow` only records it."""
    message: ForPeople[str] = ""
    """The reason, for the agent to read; if absent, the condition."""
    advice: ForPeople[str] = ""
    """What to do instead, for the agent to read; if absent, to choose another way."""
    pause: Pausing | None = None
    """What a person is asked if the action is `escalate`; if absent, as the policy's `escalation`
    says."""

    def __post_init__(self) -> None:
        if self.when == "true" and self.check is None:
            raise GuardFault("the rule says nothing: give it a `when`, a `check`, or both")
        if self.pause is not None and self.action != "escalate":
            raise GuardFault(
                "`pause` asks a person, and only `action: escalate` waits for one: write that",
                "pause",
            )
        self.when_condition  # noqa: B018 - compiled now, so that a mistake is found at load
        self.check_condition  # noqa: B018

    @cached_property
    def when_condition(self) -> Condition:
        """The compiled `when`."""
        return compile_option(self.when, "when", "when")

    @cached_property
    def check_condition(self) -> Condition | None:
        """The compiled `check`."""
        return None if self.check is None else compile_option(self.check, "check", "check")

    @cached_property
    def needs(self) -> dict[str, frozenset[Any]]:
        """Names with the only values at which the rule can have anything to say."""
        return dict(self.when_condition.needs)

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """What of an event switches the rule on, where that is a plain comparison. So does an
        argument that is not there: it cannot be compared, and the rule fails closed."""
        return tuple(
            (value_of(name), values | {None} if name.startswith(f"{ARGUMENTS}.") else values)
            for name, values in sorted(self.needs.items())
            if name not in STATIC
        )

    @cached_property
    def _finding(self) -> Finding:
        said = self.message
        about = self.check if self.check is not None else self.when
        return Finding(
            ACTIONS[self.action], "rule.broken", (about,), said, self.advice, terms=self._terms
        )

    @property
    def _terms(self) -> Pause | None:
        asked = self.pause
        return (
            None
            if asked is None
            else Pause(asked.prompt, asked.roles, round(asked.timeout_s * 1_000), asked.scope)
        )

    def judge(self, reading: Reading[Event], /) -> Finding | None:
        """Test the conditions on what they can see of the event."""
        view = reading.of(view_of)
        if not self.when_condition.test(view):
            return None
        check = self.check_condition
        if check is not None and check.test(view):
            return None
        return self._finding

    actions = list_actions


def compile_option(
    source: str,
    option: str,
    *path: str,
    work: Callable[[str, Vocabulary], Condition] = compile_condition,
) -> Condition:
    """The condition that an option says, or with `work` another expression; `GuardFault`, at that
    path, says what is wrong with it."""
    try:
        return work(source, STANDARD)
    except ConditionError as error:
        said = f"{error} (at character {error.start + 1} of `{option}`)"
        raise GuardFault(said, *path) from None


def view_of(reading: Reading[Event]) -> EventView:
    """What conditions see of an event; all rules share it."""
    return EventView(reading.event)


@cache
def value_of(name: str) -> Callable[[Reading[Event]], Any]:
    """How the value of a name is found: one function for each name, so that rules are looked up
    together."""
    evaluate = compile_expression(name, STANDARD).evaluate

    def asked(reading: Reading[Event]) -> Any:
        value = evaluate(reading.of(view_of))
        return value if type(value) in LITERALS else NO_LITERAL

    return asked
