"""The evidence guard: what was done to code, what was shown of it, and what is said about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from stanchion.guards.evidence.claims import Claim, claims
from stanchion.guards.evidence.codes import CODES
from stanchion.guards.evidence.commands import Catalogue
from stanchion.guards.evidence.outcome import NONE, PASSED
from stanchion.guards.evidence.steps import Known, Step, steps_of
from stanchion.guards.evidence.work import TOLD, Work
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event, Failure, ModelReply, ToolCall, ToolResult
from stanchion.kernel.faults import FAILED
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.names import Names, names
from stanchion.kernel.option import ACTIONS, Glob, PlainActionName
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import When, key
from stanchion.kernel.words import say
from stanchion.readings import Reading

if TYPE_CHECKING:
    pass

__all__ = ["CODES", "Evidence"]

CHECKS: Final[dict[Claim, str]] = {"tests": "test run", "lint": "lint run"}
SAID: Final[dict[Claim, str]] = {"tests": "the tests pass", "lint": "the linter finds nothing"}


class Evidence(msgspec.Struct, frozen=True, dict=True):
    """Wants changed code to be tested and linted before it is handed on, and claims about that to be true.

    It sees which calls change code and which run tests or linters, and what came of those. It runs nothing itself.
    """

    name: ClassVar[str] = "evidence"
    kind: ClassVar[Kind] = Kind.RECORD
    writes: ClassVar[Mapping[Stage, When]] = {**dict.fromkeys(Stage, When.JUDGED), Stage.TOOL_CALL: When.PROCEED}
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR, Stage.MODEL_REPLY})
    answers_at: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL, Stage.MODEL_REPLY})
    category: ClassVar[Category] = Category.QUALITY
    priority: ClassVar[int] = 52

    tests: PlainActionName | None = "escalate"
    lint: PlainActionName | None = "warn"
    claims: PlainActionName | None = "retry"
    answers: bool = True
    test_commands: tuple[Glob, ...] | None = None
    lint_commands: tuple[Glob, ...] | None = None
    commit_commands: tuple[Glob, ...] | None = None
    test_tools: tuple[str, ...] | None = None
    lint_tools: tuple[str, ...] | None = None
    commit_tools: tuple[str, ...] | None = None
    code: tuple[str, ...] | None = None
    counter: str | None = None

    def __post_init__(self) -> None:
        if self.tests is None and self.lint is None and self.claims is None:
            raise ValueError("nothing is asked for: give `tests`, `lint` or `claims` an action")
        for option in ("test_commands", "lint_commands", "commit_commands"):
            given = getattr(self, option)
            if given is not None and not all(pattern.split() for pattern in given):
                raise ValueError(f"`{option}` has an empty command: write a program and what stands behind it")

    @cached_property
    def _known(self) -> Known:
        lists = {"tests": self.test_commands, "lints": self.lint_commands, "commits": self.commit_commands}
        return Known(
            **{name: Catalogue(given) for name, given in lists.items() if given is not None},
            test_tools=_names(self.test_tools),
            lint_tools=_names(self.lint_tools),
            commit_tools=_names(self.commit_tools),
            code=_names(self.code),
        )

    def key(self, event: Event, /) -> str:
        """What is known of the work of a run and of all that belong to it: what a child has tested is tested."""
        run = event.run
        counter = "" if self.counter is None else self.counter
        return key(run.tenant, "evidence", counter, "run", run.parents[-1] if run.parents else run.id)

    def judge(self, reading: Reading[Event], value: Any, _now: int, /) -> Ruling | None:
        """Keep what a call does and what came of it, and judge the steps that hand work on."""
        event = reading.event
        match event:
            case ToolResult() if FAILED in event.traits:
                return None
            case ToolCall() | ToolResult() | Failure():
                steps = steps_of(event.tool, event.traits, event.args, self._known)
                return self._judge_steps(event, steps, Work.of(value)) if steps else None
            case ModelReply(final=True):
                finding = self._judged(Work.of(value), self.answers, (event.text,))
                return None if finding is None else Ruling(finding)
            case _:
                return None

    def _judge_steps(self, event: ToolCall | ToolResult | Failure, steps: list[Step], before: Work) -> Ruling | None:
        finding: Finding | None = None
        if isinstance(event, ToolCall):
            finding = self._worst([self._judged_step(step, work) for step, work in _seen_by(steps, before)])
            work = before.began(event.id, steps)
        elif isinstance(event, Failure):
            work = before.ended(event.call, () if "harmless" in event.traits else steps, None, failed=True)
        else:
            work = before.ended(event.call, steps, event.result, False, event.part)
        if work == before:
            return None if finding is None else Ruling(finding)
        return Ruling(finding, work.data())

    def _judged_step(self, step: Step, work: Work) -> Finding | None:
        return self._judged(work, step.what == "commit", step.texts) if step.what in ("commit", "say") else None

    def _judged(self, work: Work, hands_on: bool, texts: Sequence[str]) -> Finding | None:
        """What is wrong with a step that hands work on, or says something about it."""
        found: list[Finding | None] = []
        if hands_on and work.what:
            if self.tests is not None and work.tests != PASSED:
                args = (work.what, say(TOLD[work.tests], (CHECKS["tests"],)))
                found.append(Finding(ACTIONS[self.tests], "evidence.untested", args))
            if self.lint is not None and work.lint != PASSED:
                args = (work.what, say(TOLD[work.lint], (CHECKS["lint"],)))
                found.append(Finding(ACTIONS[self.lint], "evidence.unlinted", args))
        if self.claims is not None:
            said = frozenset[Claim]().union(*[claims(text) for text in texts])
            for claim, came in (("tests", work.tests), ("lint", work.lint)):
                if claim in said and came != PASSED:
                    args = (SAID[claim], _told(work, came, CHECKS[claim]))
                    found.append(Finding(ACTIONS[self.claims], "evidence.unfounded", args))
        return self._worst(found)

    @staticmethod
    def _worst(found: Sequence[Finding | None]) -> Finding | None:
        """The most severe, the first of equals."""
        return max([each for each in found if each is not None], key=lambda each: each.action, default=None)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        chosen = (self.tests, self.lint, self.claims)
        return tuple(dict.fromkeys([ACTIONS[name] for name in chosen if name is not None]))


def _seen_by(steps: list[Step], work: Work) -> Iterator[tuple[Step, Work]]:
    """Each step with what will have been shown when it is reached: behind `&&` only what went well goes on."""
    chain = 0
    sure = work
    for step in steps:
        if step.chain != chain:
            chain, sure = step.chain, work
        yield step, sure
        if step.what == "change":
            work = work.change(step.name)
            sure = sure.change(step.name)
        elif step.what in ("test", "lint") and step.chain:
            sure = sure.checked(step.what == "lint", PASSED)


def _told(work: Work, came: int, check: str) -> str:
    if came == NONE and not work.what:
        return f"no {check} is known"
    return say(TOLD[came], (check,))


def _names(given: tuple[str, ...] | None) -> Names | None:
    return None if given is None else names(given)
