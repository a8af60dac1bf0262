"""Scope classifier: an action that shares too few words with its task is told of, or waits for a
person. No model is asked."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec

from stanchion import typed
from stanchion.guards._routes import Routed, lookup
from stanchion.kernel.actions import Category
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.names import glob
from stanchion.kernel.option import (
    ACTIONS,
    AtLeastZero,
    DeadlineMs,
    Fraction,
    PlainActionName,
    list_actions,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "scope.drifts": Words(
            "this has little to do with the task: the task speaks of {} % of what it is about",
            "come back to the task, or say why the step belongs to it",
        )
    }
)

COVERED: Final = 0.12
"""An action is told of if the task covers a smaller share than this of its words."""
TASK_WORDS: Final = 6
"""A task with fewer telling words says too little to compare anything with."""
ACTION_WORDS: Final = 5
"""An action with fewer telling words says too little to be compared."""
VERSION: Final = "1"
"""The version of the measure: what another one found is not taken for what this one would."""


class ScopeQuestion(msgspec.Struct, frozen=True):
    """A question: how far is an action from what its task is about?"""

    about: str
    tool: str
    text: str


class ScopeMeasure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer: how many telling words task and action have, and how much of the action's the
    task covers."""

    task: AtLeastZero
    action: AtLeastZero
    covered: Fraction


class ScopeClassifier(Routed, frozen=True):
    """Compares the words of an action with those of its task: the run's `task`, or what `about`
    says of it."""

    name: ClassVar = "scope_classifier"
    paid: ClassVar = False
    kind: ClassVar = Kind.ASKING
    call: ClassVar = "stanchion.runtime.answers.scope_classifier:measured"
    stages: ClassVar = frozenset({Stage.TOOL_CALL, Stage.MODEL_REPLY, Stage.HANDOFF})
    default_stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SCOPE
    priority: ClassVar = 92

    about: dict[str, str] | None = None
    """What tasks are about, by the task's name or a glob. If absent, and for other tasks, the run's
    `task` itself."""
    action: PlainActionName = "warn"
    """The action for what has little to do with the task."""
    deadline_ms: DeadlineMs = 1_000
    """How many milliseconds the answer may take."""

    @property
    def rule_version(self) -> str | None:
        """The version of the measure; what it is compared with is part of the question."""
        return VERSION

    def ask(self, reading: Reading[Event], /) -> Lookup | None:
        """Ask how far an event is from its task; nothing where nobody says what the task is
        about."""
        event = reading.event
        about = self._about(event.run.task)
        if not about:
            return None
        asked = ScopeQuestion(about, event.tool, "\n".join([leaf.text for leaf in reading.leaves]))
        return lookup(asked, event.risk, self.waits, self.deadline_ms, self.required)

    def _about(self, task: str) -> str:
        """What a task is about: what the policy says of it, by name or glob, or else the task
        itself."""
        listed = {} if self.about is None else self.about
        return (
            listed[task]
            if task in listed
            else next((said for name, said in listed.items() if glob(name, task)), task)
        )

    def content(self, payload: ScopeQuestion, /) -> Any:
        """What the answer depends on: all of the question."""
        return [payload.about, payload.tool, payload.text]

    def checked(self, value: Any, /) -> Any:
        """A measure as plain data; anything else is a failure."""
        return msgspec.to_builtins(typed.convert(value, ScopeMeasure))

    def cost(self, _value: Any, /) -> tuple[int, int]:
        """Nothing."""
        return 0, 0

    def judge(self, _reading: Reading[Any], value: Any, /) -> Finding | None:
        """Tell of an action that the task hardly covers, where both say enough to be compared."""
        found = typed.convert(value, ScopeMeasure)
        if found.task < TASK_WORDS or found.action < ACTION_WORDS or found.covered >= COVERED:
            return None
        return Finding(ACTIONS[self.action], "scope.drifts", (round(100 * found.covered),))

    actions = list_actions
