"""Where a guard stands, whom it concerns, and what it answers there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

from stanchion.kernel.actions import Action
from stanchion.kernel.contract.values import Switch
from stanchion.kernel.stages import Stage


class StandsUsually(Protocol):
    """Stands at fewer stages than it can judge (`stages`), unless a policy says otherwise. Asked
    when it is placed."""

    @property
    def default_stages(self) -> frozenset[Stage]:
        """Where it stands where nobody says anything else."""


class Answers(Protocol):
    """Says what it can answer. Asked when it is placed, where an answer that makes no sense at a
    stage is refused, and by the engine, which asks only guards that may redact what has to be
    hidden. One that does not say it may answer anything, and what makes no sense becomes the next
    stricter."""

    def actions(self) -> tuple[Action, ...]:
        """Every action that a finding of it can have, wherever it stands."""


class AnswersByStage(Protocol):
    """Says what it can answer at one stage; asked instead of `actions` where a stage is known."""

    def actions_at(self, stage: Stage, /) -> tuple[Action, ...]:
        """Every action that a finding of it can have there."""


class AnswersOnlyAt(Protocol):
    """Stands at stages where it only looks: what it answers makes sense at these, and is asked for
    there alone."""

    @property
    def answers_at(self) -> frozenset[Stage]:
        """The stages where it may answer."""


class Needs(Protocol):
    """Can only speak where names have certain values, such as `action.tool_name`. Asked when it is
    placed: a chain without them does not have it."""

    @property
    def needs(self) -> Mapping[str, frozenset[Any]]:
        """The values of each name outside of which it is silent."""


class Concerns(Protocol):
    """Is about some tools alone. Asked when it is placed, where the policy names no tools for
    it."""

    @property
    def concerns(self) -> tuple[str, ...] | None:
        """The tools, by name or glob; `None` for all."""


class Switches(Protocol):
    """Is pure, and can say from which answers on it is certain to pass. Asked when a chain is
    planned: guards that ask the same are looked up by the answer together, each under the switch
    that tells most, so that ten thousand cost what ten do."""

    @property
    def switches(self) -> tuple[Switch, ...]:
        """Each a question to a reading, and the answers without which it passes; none where it
        always has to judge."""


class Tightens(Protocol):
    """Speaks before its limit, at marks. Asked where a run works in strict mode."""

    def tightened(self, by: float, /) -> Self:
        """The same guard whose marks come earlier, at that part of where they were; its limit
        stays."""


class ForSafeMode(Protocol):
    """Refuses what safe mode refuses. Asked in safe mode: a chain that has such a guard gets no
    other for it."""

    @property
    def for_safe_mode(self) -> bool:
        """Whether it does."""
