"""Planner: code of the host says what a task may do, by the user's words alone."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import UNSAID, PolicySaid, keep_said
from stanchion.kernel.events import Prompt
from stanchion.kernel.findings import Finding, Narrow
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.mandate import Mandate, layer_of
from stanchion.kernel.names import texts_in
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "mandate.planned": Words(
            "by the user's words, this task may do: {}", "say so if the task needs anything else"
        )
    }
)

REMEDIES: Final = {
    "": ("another plan of `{call}`: nothing was refused, and no narrower mandate is in force",)
}


class PlannedTool(msgspec.Struct, frozen=True):
    """A tool as a planner sees it: its name or glob in the policy, and what is declared of it."""

    name: str
    effect: str
    sinks: tuple[str, ...]


class PlannedTask(msgspec.Struct, frozen=True):
    """What a planner is asked: what the user has said, and which tools there are. No result and
    nothing that others wrote is in it."""

    words: str
    tools: tuple[PlannedTool, ...]


class Planner(msgspec.Struct, frozen=True, dict=True):
    """Asks the code at `call` what a task may do, when the user's first words come in; its answer
    is a list as in `shield.run(may=…)`.

    The answer only narrows what the run may do. A plan that is late, that is none, or of code that
    fails, narrows nothing: the words go ahead, and are planned with the user's next ones.
    """

    name: ClassVar = "planner"
    id: ClassVar = "planner"
    paid: ClassVar = False
    kind: ClassVar = Kind.ASKING
    stages: ClassVar = frozenset({Stage.PROMPT})
    category: ClassVar = Category.SCOPE
    priority: ClassVar = 6
    deep: ClassVar = True
    fail_open: ClassVar = True
    remedies: ClassVar = REMEDIES
    does_more: ClassVar = True
    reads: ClassVar = frozenset({("tools", "effect"), ("tools", "sinks")})

    call: Any
    """The code that plans, as `module:name`: a function of a `PlannedTask`, which has the user's
    `words` and the `tools`; imported when the policy loads."""
    deadline_ms: Annotated[int, msgspec.Meta(ge=1, le=600_000)] = 10_000
    """How many milliseconds the plan may take."""

    said: ClassVar[PolicySaid] = UNSAID
    scoped = keep_said

    def ask(self, reading: Reading[Prompt], /) -> Lookup | None:
        """Ask once a run, about words that are its user's."""
        event = reading.event
        if not event.trusted or event.run.parents or event.run.mandate.planned:
            return None
        found = self.said.found
        effects, sinks = found("tools", "effect"), found("tools", "sinks")
        tools = [
            PlannedTool(name, _text(effects(name)), tuple(sinks(name)))
            for name in self.said.names("tools")
        ]
        return Lookup("", PlannedTask(event.text, tuple(tools)), self.deadline_ms)

    def judge(self, _reading: Reading[Prompt], value: Any, /) -> Finding:
        """Narrow what the run may do; an answer that is no list of effects and tools is the code's
        failure."""
        texts = texts_in("a plan", value)
        words = Mandate((layer_of("a plan", texts),)).words
        return Finding(Action.ALLOW, "mandate.planned", (words,), terms=Narrow(texts))

    def rises_with(self, _table: str, _key: str, _old: Any, /) -> bool:
        """Only its author knows."""
        return False

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer: it refuses nothing."""
        return (Action.ALLOW,)


def _text(effect: Any) -> str:
    return effect if isinstance(effect, str) else ""
