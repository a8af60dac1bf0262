"""Step limit: a run, task or agent takes so many steps and no more, however many threads take
them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final, Literal

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import Point, Standing
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import ACTIONS, AtLeastZero, Lower, PlainActionName
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Line, key
from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "steps.exceeded": Words(
            "all {} steps of this {} are used",
            "stop and report what is done so far, or ask for more steps",
        ),
        "steps.nearly": Words(
            "this is step {} of {} of this {}", "finish soon; do the most important step next"
        ),
    }
)

REMEDIES: Final = {
    "steps.nearly": ("no more than {warn_after:,} steps per {per} (`warn_after`)", "{lockdown}"),
    "": (
        "no more than {max_steps:,} steps per {per} (`max_steps`)",
        "another {per}: its steps are counted apart",
    ),
}


class StepLimit(msgspec.Struct, frozen=True):
    """Counts actions that go ahead and refuses the one after `max_steps`; a refused action uses no
    step.

    Limits of one `counter` count together; a policy gives each entry a counter of its own unless it
    names one.
    """

    name: ClassVar = "step_limit"
    kind: ClassVar = Kind.METER
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.BUDGET
    priority: ClassVar = 30
    remedies: ClassVar = REMEDIES

    max_steps: Lower[AtLeastZero] = 25
    """The number of steps allowed; the next one is refused, and 0 refuses the first."""
    per: Literal["run", "task", "agent"] = "run"
    """Whose steps are counted together: those of a run, a task or an agent."""
    warn_after: Lower[AtLeastZero | None] = None
    """Every step after this many warns, until the limit; if absent, none warns."""
    action: PlainActionName = "block"
    """The action for a step over the limit."""
    counter: str | None = None
    """Step limits with the same counter count together; if absent, each entry counts separately."""

    def __post_init__(self) -> None:
        if self.warn_after is not None and self.warn_after >= self.max_steps:
            raise ValueError(
                f"`warn_after: {self.warn_after}` never warns: let it be less than `max_steps`"
            )

    def lines(self, event: Event, /) -> tuple[Line, ...]:
        """One counter of the run, task or agent."""
        run = event.run
        whose = {"run": run.id, "task": run.task, "agent": run.agent}[self.per]
        bands = [(self.max_steps, ACTIONS[self.action])]
        if self.warn_after is not None:
            bands.append((self.warn_after, Action.WARN))
        counter = "" if self.counter is None else self.counter
        return (Line(key(run.tenant, "steps", counter, self.per, whose), tuple(sorted(bands))),)

    def word(
        self, _event: Event, action: Action, values: tuple[int, ...], _said: tuple[int, ...], /
    ) -> Finding:
        """Say which step this is, or that all are used."""
        if values[0] + 1 > self.max_steps:
            return Finding(ACTIONS[self.action], "steps.exceeded", (self.max_steps, self.per))
        return Finding(action, "steps.nearly", (values[0] + 1, self.max_steps, self.per))

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (ACTIONS[self.action], *([Action.WARN] if self.warn_after is not None else []))

    @property
    def says_worst(self) -> bool:
        """Whether no mark is severer than the limit behind it."""
        return self.action != "allow"

    def points(self, standing: Standing, /) -> Iterator[Point]:
        """Warnings that leave no step between the first and the one that waits for a person."""
        last, after = standing.last, self.warn_after
        if last and after is not None and self.action != "warn" and self.max_steps - after >= last:
            said = f"step {after + last} already waits for a person: each step after"
            said += (
                f" `warn_after: {after}` warns, and warning {last} of a guard in a task escalates"
            )
            advice = (
                f"let `warn_after` be {max(self.max_steps - last + 1, 0)} or more, or raise "
                f"`limits.warnings`"
            )
            yield Point("always_warns", "certain", said, advice, ("warn_after",))
