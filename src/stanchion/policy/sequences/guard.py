"""The sequence guard: what may follow what, and how often, at a cost that does not grow."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, NamedTuple

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.option import (
    ACTIONS,
    ForPeople,
    Lower,
    PlainActionName,
    list_actions,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import FOREVER, When, key
from stanchion.kernel.words import Words, declare
from stanchion.policy.errors import GuardFault
from stanchion.policy.sequences.step import Outcome, Step
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "sequence.after": Words(
            "`{}` may not follow `{}`{}", "go on without it, or ask a person to do it"
        ),
        "sequence.need": Words("`{}` needs `{}` first{}", "do that, and then ask for this again"),
        "sequence.count": Words(
            "`{}` may happen {} times{}, and already has", "use what you have, or ask for more"
        ),
    }
)


class Form(NamedTuple):
    """One of the ways in which a rule is written: what stands beside the option that it begins
    with, which option names the step that is judged, which one the step that is kept in mind, and
    when that has happened, where it does not say so itself."""

    beside: str
    judged: str
    marking: str
    usual: Outcome
    code: str


FORMS: Final = {
    "after": Form("refuse", "refuse", "after", "started", "sequence.after"),
    "before": Form("need", "before", "need", "success", "sequence.need"),
    "count": Form("at_most", "count", "count", "started", "sequence.count"),
}
"""The three forms, each by the option it begins with. What refuses counts early, what has to be
there late."""

SLACK_MS: Final = 1_000
"""How long after a judgement its time may be written down as the time something happened."""


class Sequence(msgspec.Struct, frozen=True, dict=True):
    """Refuses a step by the steps before it in the same run.

    One of three forms: `refuse` one step `after` another; `before` a step `need` another; `count` a
    step `at_most` so often.
    """

    name: ClassVar = "sequence"
    kind: ClassVar = Kind.RECORD
    writes: ClassVar = {
        **dict.fromkeys(Stage, When.PROCEED),
        Stage.ERROR: When.JUDGED,
    }
    stages: ClassVar = frozenset(
        {
            Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR, Stage.MODEL_CALL, Stage.EGRESS,
            Stage.HANDOFF, Stage.PROMPT,
        }
    )  # fmt: skip
    category: ClassVar = Category.SCOPE
    priority: ClassVar = 45

    after: Step | None = None
    """A step; once it has happened, the step in `refuse` is refused."""
    refuse: Step | None = None
    """The step that is refused after the step in `after`."""
    before: Step | None = None
    """A step that needs another step before it."""
    need: Step | None = None
    """The step that must have happened before the step in `before`."""
    count: Step | None = None
    """A step that may happen a limited number of times."""
    at_most: Lower[Annotated[int, msgspec.Meta(ge=0, le=1_000)] | None] = None
    """How many times the step in `count` may happen."""
    within_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """How many seconds a step stays valid, by the store's clock; if absent, there is no limit."""
    action: PlainActionName = "block"
    """The action for the step that is not allowed; `allow` only records it."""
    message: ForPeople[str | None] = None
    """The reason, for the agent to read; if absent, the text of the code."""
    advice: ForPeople[str | None] = None
    """What to do instead, for the agent to read; if absent, the text of the code."""

    counter: str | None = None
    """Sequences with the same counter share what they remember; if absent, each entry has its own.
    """

    def __post_init__(self) -> None:
        form = self._form
        if getattr(self, form.beside) is None:
            raise GuardFault(f"`{self._begins}` needs `{form.beside}` beside it")
        for other in FORMS.values():
            if other is not form and getattr(self, other.beside) is not None:
                raise GuardFault(
                    f"`{other.beside}` does not go with `{self._begins}`: leave it out",
                    other.beside,
                )
        for option, step in self.steps.items():
            step.checked(option, form.usual if option == form.marking else "started")
        if self._begins != "count" and self.judged.outcome not in (None, "started"):
            said = f"what is refused has not happened yet: leave `outcome` out of `{form.judged}`"
            raise GuardFault(said, form.judged, "outcome")

    @cached_property
    def _begins(self) -> str:
        """The option by which it is one of the three forms."""
        given = [begins for begins in FORMS if getattr(self, begins) is not None]
        if len(given) != 1:
            said = (
                f"`{given[0]}` and `{given[1]}` do not go together"
                if given
                else "the sequence says nothing"
            )
            raise GuardFault(f"{said}: begin with one of {', '.join(f'`{one}`' for one in FORMS)}")
        return given[0]

    @cached_property
    def _form(self) -> Form:
        return FORMS[self._begins]

    @cached_property
    def steps(self) -> dict[str, Step]:
        """Its steps, by option."""
        given = {
            name: getattr(self, name)
            for form in FORMS.items()
            for name in (form[0], form[1].beside)
        }
        return {name: step for name, step in given.items() if isinstance(step, Step)}

    @cached_property
    def judged(self) -> Step:
        """The step that may be refused."""
        return self.steps[self._form.judged]

    @cached_property
    def _marking(self) -> Step:
        return self.steps[self._form.marking]

    @cached_property
    def _marked_at(self) -> frozenset[Stage]:
        return self._marking.noticed_at(self._form.usual)

    @cached_property
    def default_stages(self) -> frozenset[Stage]:
        """Where it has anything to do."""
        return self.answers_at | self._marked_at

    @property
    def answers_at(self) -> frozenset[Stage]:
        """Where it can refuse; elsewhere it takes notice only."""
        return frozenset({Stage(self.judged.stage)})

    @cached_property
    def concerns(self) -> tuple[str, ...] | None:
        """The tools whose calls it has anything to do with; nothing where it has to see every
        step."""
        steps = self.steps.values()
        if any(step.stage != "tool_call" or step.tool == "*" for step in steps):
            return None
        return tuple(dict.fromkeys([tool for step in steps for tool in step.tools]))

    def key(self, event: Event, /) -> str:
        """What is kept of the run."""
        run = event.run
        return key(run.tenant, "sequence", "" if self.counter is None else self.counter, run.id)

    def judge(self, reading: Reading[Event], value: Any, now: int, /) -> Ruling | None:
        """Judge a step by those before it, and keep the time of one that counts in mind."""
        times: list[int] = [] if value is None else value
        stage = reading.event.stage
        finding: Finding | None = None
        since, until = 0, FOREVER
        if stage == self.judged.stage and self.judged.fits(reading):
            refused, since, until = self._refused(times, now)
            if refused:
                finding = self._said(reading.event)
                if finding.action > Action.DEGRADE:
                    return Ruling(finding, None, since, until)
        if stage not in self._marked_at or not self._marking.fits(reading):
            return (
                None
                if finding is None and until == FOREVER
                else Ruling(finding, None, since, until)
            )
        if self.within_s is None:
            return Ruling(finding, [*times, 0][-self._kept :], since, until)
        until = min(until, now + SLACK_MS)
        return Ruling(finding, [*times, now][-self._kept :], since, until)

    @property
    def _kept(self) -> int:
        """How many times are kept: the last ones decide."""
        return self.at_most if self.at_most else 1

    def _refused(self, times: list[int], now: int) -> tuple[bool, int, int]:
        """Whether the judged step is refused, and between which times of the store that is so."""
        if self.at_most == 0:
            return True, 0, FOREVER
        wrong = self._begins != "before"
        if len(times) < self._kept:
            return not wrong, 0, FOREVER
        if self.within_s is None:
            return wrong, 0, FOREVER
        ends = times[-self._kept] + round(self.within_s * 1_000) + 1
        return (wrong, 0, ends) if now < ends else (not wrong, ends, FOREVER)

    def _said(self, event: Event) -> Finding:
        judged = event.tool if event.tool else self.judged.shown
        within = "" if self.within_s is None else f" within {self.within_s:g} seconds"
        other = self.at_most if self._begins == "count" else self._marking.shown
        said = "" if self.message is None else self.message
        advice = "" if self.advice is None else self.advice
        return Finding(ACTIONS[self.action], self._form.code, (judged, other, within), said, advice)

    actions = list_actions
