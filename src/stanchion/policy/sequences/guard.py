"""The sequence guard: what may follow what, how often, and with which values, at a cost that does
not grow."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

import msgspec

from stanchion import typed
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event, ToolCall
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
from stanchion.policy.conditions import Condition, compile_expression
from stanchion.policy.errors import GuardFault
from stanchion.policy.rules import compile_option, view_of
from stanchion.policy.sequences.step import Outcome, SequenceStep, at, digest, fields
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
        "sequence.value": Words(
            "`{}` of `{}` is not a value that `{}` returned",
            "use a value exactly as you read it there",
        ),
    }
)

FORMS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "after": (("refuse",), ("unless", "within_steps", "within_s")),
    "before": (("need",), ("since", "within_steps", "within_s")),
    "count": (("at_most",), ("within_steps", "within_s", "distinct")),
    "only": (("argument", "seen_in"), ("field", "keep")),
}
"""The four forms, each by the option it begins with: what it needs, and what else it may say."""

USUAL: Final[dict[str, Outcome]] = {
    "after": "started",
    "unless": "success",
    "need": "success",
    "since": "started",
    "count": "started",
    "seen_in": "success",
}
"""When a step has happened, where it does not say so itself: what refuses counts early, what has to
be there late."""

SLACK_MS: Final = 1_000
"""How long after a judgement its time may be written down as the time something happened."""


class PastSteps(msgspec.Struct, array_like=True, omit_defaults=True):
    """What is kept of a scope: the steps so far, when what counts happened (time and step), and
    digests of values."""

    steps: int = 0
    marks: list[tuple[int, int]] = []
    values: list[str] = []


class _Span(NamedTuple):
    """The store's time between which a judgement is true."""

    since: int = 0
    until: int = FOREVER


class Sequence(msgspec.Struct, frozen=True, dict=True):
    """Refuses a step by the steps before it in the same run, task or agent's work.

    One of four forms: `refuse` one step `after` another; `before` a step `need` another; `count` a
    step `at_most` so often; `only` with an `argument` that was `seen_in` the result of another.
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

    after: SequenceStep | None = None
    """A step; once it has happened, the step in `refuse` is refused."""
    refuse: SequenceStep | None = None
    """The step that is refused after the step in `after`."""
    unless: SequenceStep | None = None
    """A step that lifts the refusal again."""
    before: SequenceStep | None = None
    """A step that needs another step before it."""
    need: SequenceStep | None = None
    """The step that must have happened before the step in `before`."""
    since: SequenceStep | None = None
    """A step after which the step in `need` must happen again."""
    count: SequenceStep | None = None
    """A step that may happen a limited number of times."""
    at_most: Lower[Annotated[int, msgspec.Meta(ge=0, le=1_000)] | None] = None
    """How many times the step in `count` may happen."""
    distinct: str | None = None
    """An expression; its different values are counted instead of calls."""
    only: SequenceStep | None = None
    """A step that goes ahead only with a value from another step's result."""
    argument: str | None = None
    """The argument of the step in `only` that holds the value, or a list of values, all of which
    must be known; `a.b` for one inside another. Without the argument the step is refused."""
    seen_in: SequenceStep | None = None
    """The step whose results provide the values."""
    field: str | None = None
    """The names of the result's fields that hold the values, as a glob; if absent, any field."""
    keep: Annotated[int, msgspec.Meta(ge=1, le=4_096)] | None = None
    """How many values are kept, newest first; if absent, 1,024."""
    within_steps: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """How many tool calls a step stays valid; if absent, there is no limit."""
    within_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """How many seconds a step stays valid, by the store's clock; if absent, there is no limit."""
    scope: Literal["run", "task", "agent"] = "run"
    """Whose steps count together: those of a run, a task or an agent."""
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
        needed, allowed = FORMS[self.form]
        for option in needed:
            if getattr(self, option) is None:
                raise GuardFault(f"`{self.form}` needs `{option}` beside it")
        every = {name for form, (must, may) in FORMS.items() for name in (form, *must, *may)}
        for option in sorted(every - {self.form, *needed, *allowed}):
            if getattr(self, option) is not None:
                raise GuardFault(f"`{option}` does not go with `{self.form}`: leave it out", option)
        if self.within_steps is not None and self.within_s is not None:
            raise GuardFault(
                "`within_steps` and `within_s` cannot both hold: leave one out", "within_steps"
            )
        for option, step in self.steps.items():
            step.checked(option, USUAL.get(option, "started"))
        if self.judged.outcome not in (None, "started"):
            said = (
                f"what is refused has not happened yet: leave `outcome` out of "
                f"`{self._judged_option}`"
            )
            if self.form != "count":
                raise GuardFault(said, self._judged_option, "outcome")
        if self.seen_in is not None and self.seen_in.noticed_at("success") != {Stage.TOOL_RESULT}:
            raise GuardFault(
                "values come from results: leave `outcome` out of `seen_in`", "seen_in", "outcome"
            )
        self._distinct  # noqa: B018 - compiled now, so that a mistake is found at load

    @cached_property
    def form(self) -> str:
        """Which of the four forms it is."""
        given = [form for form in FORMS if getattr(self, form) is not None]
        if len(given) != 1:
            said = (
                "the sequence says nothing"
                if not given
                else f"`{given[0]}` and `{given[1]}` do not go together"
            )
            raise GuardFault(
                f"{said}: begin with one of {', '.join(f'`{form}`' for form in FORMS)}"
            )
        return given[0]

    @cached_property
    def steps(self) -> dict[str, SequenceStep]:
        """Its steps, by option."""
        names = ("after", "refuse", "unless", "before", "need", "since", "count", "only", "seen_in")
        return {name: step for name in names if (step := getattr(self, name)) is not None}

    @cached_property
    def _judged_option(self) -> str:
        return {"after": "refuse"}.get(self.form, self.form)

    @cached_property
    def judged(self) -> SequenceStep:
        """The step that may be refused."""
        return self.steps[self._judged_option]

    @cached_property
    def _marking(self) -> SequenceStep:
        """The step that is kept in mind."""
        return self.steps[{"before": "need", "only": "seen_in"}.get(self.form, self.form)]

    @cached_property
    def _lifting(self) -> SequenceStep | None:
        return self.unless if self.unless is not None else self.since

    def _stages_of(self, option: str) -> frozenset[Stage]:
        return self.steps[option].noticed_at(USUAL[option])

    @cached_property
    def _marked_at(self) -> frozenset[Stage]:
        return self._stages_of({"before": "need", "only": "seen_in"}.get(self.form, self.form))

    @cached_property
    def _lifted_at(self) -> frozenset[Stage]:
        lifting = (
            "unless" if self.unless is not None else "since" if self.since is not None else None
        )
        return frozenset() if lifting is None else self._stages_of(lifting)

    @cached_property
    def default_stages(self) -> frozenset[Stage]:
        """Where it has anything to do."""
        counting = frozenset({Stage.TOOL_CALL}) if self.within_steps is not None else frozenset()
        return frozenset({Stage(self.judged.stage)}) | self._marked_at | self._lifted_at | counting

    @cached_property
    def concerns(self) -> tuple[str, ...] | None:
        """The tools whose calls it has anything to do with; nothing where it has to see every
        step."""
        steps = self.steps.values()
        if self.within_steps is not None or any(
            step.stage != "tool_call" or step.tool == "*" for step in steps
        ):
            return None
        return tuple(dict.fromkeys([tool for step in steps for tool in step.tools]))

    @cached_property
    def _distinct(self) -> Condition | None:
        if self.distinct is None:
            return None
        return compile_option(self.distinct, "distinct", "distinct", work=compile_expression)

    def key(self, event: Event, /) -> str:
        """What is kept of the run, the task or the agent."""
        run = event.run
        whose = {"run": run.id, "task": run.task, "agent": run.agent}[self.scope]
        return key(
            run.tenant, "sequence", "" if self.counter is None else self.counter, self.scope, whose
        )

    def judge(self, reading: Reading[Event], value: Any, now: int, /) -> Ruling | None:
        """Judge a step by those before it, and keep it in mind where it counts."""
        past = PastSteps() if value is None else typed.convert(value, PastSteps)
        stage = reading.event.stage
        finding: Finding | None = None
        span = _Span()
        if stage == self.judged.stage and self.judged.fits(reading):
            finding, span = self._judged_by(reading, past, now)
            if finding is not None and ACTIONS[self.action] > Action.DEGRADE:
                return Ruling(finding, None, *span)
        put = self._kept(reading, past, now)
        if put is None:
            return None if finding is None and span == _Span() else Ruling(finding, None, *span)
        if self.within_s is not None:
            span = _Span(span.since, min(span.until, now + SLACK_MS))
        return Ruling(finding, msgspec.to_builtins(put), *span)

    def _judged_by(
        self, reading: Reading[Event], past: PastSteps, now: int
    ) -> tuple[Finding | None, _Span]:
        match self.form:
            case "after":
                last, span = self._in_force(past, now, 1)
                return (
                    None if last is None else self._said(self._words("after", reading.event)),
                    span,
                )
            case "before":
                last, span = self._in_force(past, now, 1)
                return (
                    self._said(self._words("need", reading.event)) if last is None else None,
                    span,
                )
            case "count":
                return self._counted(reading, past, now)
            case _:
                return self._valued(reading, past), _Span()

    def _in_force(
        self, past: PastSteps, now: int, wanted: int
    ) -> tuple[tuple[int, int] | None, _Span]:
        """The mark that is so many from the end, where it is recent enough, and how long that stays
        so."""
        if wanted == 0 or len(past.marks) < wanted:
            return None, _Span()
        mark = past.marks[-wanted]
        if self.within_s is not None:
            ends = mark[0] + round(self.within_s * 1_000) + 1
            return (mark, _Span(0, ends)) if now < ends else (None, _Span(ends))
        if self.within_steps is not None and past.steps + 1 - mark[1] > self.within_steps:
            return None, _Span()
        return mark, _Span()

    def _counted(
        self, reading: Reading[Event], past: PastSteps, now: int
    ) -> tuple[Finding | None, _Span]:
        limit = 0 if self.at_most is None else self.at_most
        words = self._words("count", reading.event)
        if limit == 0:
            return self._said(words), _Span()
        if self._distinct is not None:
            mark = digest(self._distinct.evaluate(reading.of(view_of)))
            if mark in past.values:
                known, span = self._in_force(past, now, len(past.values) - past.values.index(mark))
                if known is not None:
                    return None, span
        last, span = self._in_force(past, now, limit)
        return (None if last is None else self._said(words), span)

    def _valued(self, reading: Reading[Event], past: PastSteps) -> Finding | None:
        argument = "" if self.argument is None else self.argument
        event = reading.event
        given = at(event.args, argument) if isinstance(event, ToolCall) else []
        if given and all(digest(value) in past.values for value in given):
            return None
        return self._said(("sequence.value", (argument, event.tool, self._marking.shown)))

    def _kept(self, reading: Reading[Event], past: PastSteps, now: int) -> PastSteps | None:
        """What is kept from now on; nothing where the event changes nothing."""
        stage = reading.event.stage
        counts = self.within_steps is not None and stage is Stage.TOOL_CALL
        marks = stage in self._marked_at and self._marking.fits(reading)
        lifting = self._lifting
        lifts = lifting is not None and stage in self._lifted_at and lifting.fits(reading)
        if not (counts or marks or lifts):
            return None
        new = PastSteps(past.steps + counts, list(past.marks), list(past.values))
        if lifts and self.form == "after":
            new.marks = []
        if marks:
            self._mark(reading, new, now)
        if lifts and self.form == "before":
            new.marks = []
        return new

    def _mark(self, reading: Reading[Event], new: PastSteps, now: int) -> None:
        if self.form == "only":
            found = fields(
                getattr(reading.event, "result", None), "*" if self.field is None else self.field
            )
            kept = 1_024 if self.keep is None else self.keep
            new.values = list(
                dict.fromkeys([*new.values, *[digest(value) for value in found]][::-1])
            )[:kept][::-1]
            return
        mark = (now if self.within_s is not None else 0, new.steps)
        if self._distinct is not None:
            name = digest(self._distinct.evaluate(reading.of(view_of)))
            if name in new.values:
                place = new.values.index(name)
                del new.values[place], new.marks[place]
            new.values = [*new.values, name][-max(1, self.at_most or 1) :]
        limit = max(1, self.at_most or 1) if self.form == "count" else 1
        new.marks = [*new.marks, mark][-limit:]

    def _words(self, kind: str, event: Event) -> tuple[str, tuple[Any, ...]]:
        judged = event.tool if event.tool else self.judged.shown
        steps, seconds = self.within_steps, self.within_s
        within = "" if steps is None else f" within {steps} steps"
        within = within if seconds is None else f" within {seconds:g} seconds"
        if kind == "count":
            return "sequence.count", (judged, self.at_most, within)
        if kind == "need" and self.since is not None:
            within = f", and again after every `{self.since.shown}`{within}"
        return f"sequence.{kind}", (judged, self._marking.shown, within)

    def _said(self, words: tuple[str, tuple[Any, ...]]) -> Finding:
        code, args = words
        said = "" if self.message is None else self.message
        return Finding(
            ACTIONS[self.action], code, args, said, "" if self.advice is None else self.advice
        )

    actions = list_actions

    @property
    def answers_at(self) -> frozenset[Stage]:
        """Where it can refuse; elsewhere it takes notice only."""
        return frozenset({Stage(self.judged.stage)})
