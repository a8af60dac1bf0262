"""The evidence guard: what was done to code, what was shown of it, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, Final, Literal

import msgspec

from stanchion.guards._own import OwnPlaces
from stanchion.guards.evidence.claims import Claim, claims
from stanchion.guards.evidence.codes import CODES
from stanchion.guards.evidence.commands import Catalogue
from stanchion.guards.evidence.files import SCRATCH, Public
from stanchion.guards.evidence.outcome import FAILED as UNPASSED, NONE, PASSED
from stanchion.guards.evidence.steps import KnownSteps, StepReader, WorkStep, steps_by
from stanchion.guards.evidence.tables import USUAL
from stanchion.guards.evidence.targets import Branches, CheckedOut, judged, targets_of
from stanchion.guards.evidence.work import TOLD, WorkState, fails, verdict_in, verdict_of
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import UNSAID, Beside, PolicySaid, keep_said
from stanchion.kernel.events import (
    Event,
    Failure,
    Handoff,
    HandoffDone,
    ModelReply,
    RunInfo,
    ToolCall,
    ToolResult,
)
from stanchion.kernel.faults import FAILED
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.names import Names, names
from stanchion.kernel.option import ACTIONS, Glob, On, PlainActionName, Shorter
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import When, key
from stanchion.kernel.words import say
from stanchion.readings import Reading

__all__ = ["CODES", "Evidence"]

WATCHED: Final = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR, Stage.MODEL_REPLY})
HANDED: Final = frozenset({Stage.HANDOFF, Stage.HANDOFF_DONE})
"""Where work is seen, and where it is handed to a reviewer and back."""

Found = Callable[[str], Any]


class Evidence(msgspec.Struct, frozen=True, dict=True):
    """Wants changed code to be tested, linted, reviewed and documented before it is handed on, on a
    branch that is meant for it, and claims about that to be true.

    It sees which calls change code and which run tests or linters, and what came of those. It runs
    nothing itself.
    """

    name: ClassVar = "evidence"
    kind: ClassVar = Kind.RECORD
    writes: ClassVar = {
        **dict.fromkeys(Stage, When.JUDGED),
        **dict.fromkeys((Stage.TOOL_CALL, Stage.HANDOFF), When.PROCEED),
    }  # fmt: skip
    stages: ClassVar = WATCHED | HANDED
    answers_at: ClassVar = frozenset({Stage.TOOL_CALL, Stage.MODEL_REPLY})
    category: ClassVar = Category.QUALITY
    priority: ClassVar = 52
    reads: ClassVar = frozenset({("tasks", "branches"), ("agents", "branches"), ("agents", "role")})

    tests: PlainActionName | None = "escalate"
    """The action for handing on changed code whose tests have not passed since the change; `null`
    switches the check off."""
    lint: PlainActionName | None = "warn"
    """The action for handing on changed code that has not been linted without findings since the
    change; `null` switches the check off."""
    claims: PlainActionName | None = "retry"
    """The action for a claim that tests pass or a linter finds nothing which no run of them shows;
    `null` judges no claims at all."""
    refuted: PlainActionName | None = "block"
    """The action for such a claim where the last run failed; if absent, that of `claims`."""
    review: PlainActionName | None = None
    """The action for merging changes that no reviewer has approved as they are; if absent, reviews
    do not count."""
    branch: PlainActionName | None = None
    """The action for committing or pushing to a branch that is not meant for it, or that is not
    known; if absent, branches do not count."""
    docs: PlainActionName | None = None
    """The action for handing on a changed public interface without changed documentation; if
    absent, documentation does not count."""
    answers: On[bool] = True
    """If `true`, a final answer hands the work on."""
    test_commands: tuple[Glob, ...] | None = None
    """The only commands that count as tests: a program and the words after it, with globs. If
    absent, all known ones."""
    lint_commands: tuple[Glob, ...] | None = None
    """The only commands that count as linters; if absent, all known ones."""
    commit_commands: tuple[Glob, ...] | None = None
    """The only commands that hand work on; if absent, all known ones."""
    merge_commands: tuple[Glob, ...] | None = None
    """The only commands that merge; if absent, all known ones, and pushes to `main`, `master` or
    `trunk`."""
    test_tools: tuple[str, ...] | None = None
    """The only tools that count as tests, by name or glob; if absent, tools are recognized by their
    names."""
    lint_tools: tuple[str, ...] | None = None
    """The only tools that count as linters, by name or glob; if absent, tools are recognized by
    their names."""
    commit_tools: tuple[str, ...] | None = None
    """The only tools that hand work on, by name or glob; if absent, tools are recognized by their
    names."""
    code: tuple[str, ...] | None = None
    """The files that are code, as globs of paths or names; if absent, files are recognized by their
    extension."""
    reviewers: Shorter[tuple[str, ...]] = ("reviewer",)
    """The roles whose agents may review."""
    branches: tuple[str, ...] | None = None
    """The branches that may be changed, as globs, where neither the task nor the agent has
    `branches`; `!main` excludes one. If absent, all."""
    api_files: tuple[str, ...] | None = None
    """The files that are a public interface, as globs of paths or names; if absent, code outside of
    tests and private folders, where a change touches a public declaration."""
    docs_files: tuple[str, ...] | None = None
    """The files that are documentation, as globs of paths or names; if absent, files are recognized
    by their extension and folder."""
    per: Literal["run", "task"] = "run"
    """Whose work is one: that of a `run` with its children, or that of all runs on a `task`."""
    counter: str | None = None
    """Guards with the same counter share what they know of a run; if absent, each entry has its
    own."""

    def __post_init__(self) -> None:
        if all(one is None for one in self._chosen):
            said = (
                "nothing is asked for: give `tests`, `lint`, `claims`, `review`, `branch` or "
                "`docs` an action"
            )
            raise ValueError(said)
        for option in ("test_commands", "lint_commands", "commit_commands", "merge_commands"):
            given = getattr(self, option)
            if given is not None and not all(pattern.split() for pattern in given):
                raise ValueError(
                    f"`{option}` has an empty command: write a program and what stands behind it"
                )
        if self.review is not None and not self.reviewers:
            raise ValueError("`reviewers` is empty, so nothing could ever be merged: name a role")

    @property
    def _chosen(self) -> tuple[PlainActionName | None, ...]:
        refuted = None if self.claims is None else self.refuted
        return (self.tests, self.lint, self.claims, refuted, self.review, self.branch, self.docs)

    @property
    def default_stages(self) -> frozenset[Stage]:
        """Where it stands: reviews are handed over, and nothing else is seen there."""
        return WATCHED if self.review is None else WATCHED | HANDED

    @cached_property
    def _known(self) -> KnownSteps:
        lists = {
            "tests": self.test_commands,
            "lints": self.lint_commands,
            "commits": self.commit_commands,
        }
        return KnownSteps(
            **{name: Catalogue(given) for name, given in lists.items() if given is not None},
            test_tools=_names(self.test_tools),
            lint_tools=_names(self.lint_tools),
            commit_tools=_names(self.commit_tools),
            code=_names(self.code),
            merging=self.review is not None,
            merges=None if self.merge_commands is None else Catalogue(self.merge_commands),
            public=None
            if self.docs is None
            else Public(_names(self.api_files), _names(self.docs_files)),
            home=self.home,
        )

    @cached_property
    def _steps(self) -> StepReader:
        return steps_by(self._known)

    said: ClassVar[PolicySaid] = UNSAID
    scoped = keep_said
    home: ClassVar[str] = ""
    """The project's folder, where it is in one for scratch."""

    def told(self, own: OwnPlaces) -> Evidence:
        """The same guard that knows where the project is, if what is there would count as
        scratch."""
        if not own.here.startswith(SCRATCH):
            return self
        made = msgspec.structs.replace(self)
        made.__dict__.update(said=self.said, home=f"{own.here}/")
        return made

    @cached_property
    def _tables(self) -> tuple[Found, Found, Found]:
        found, given = self.said.found, partial(self.said.found, only_given=True)
        return given("tasks", "branches"), given("agents", "branches"), found("agents", "role")

    def beside(self, stages: frozenset[Stage], /) -> Beside | None:
        """What asks the repository for the branch that is checked out, where branches count."""
        if self.branch is None or Stage.TOOL_CALL not in stages:
            return None
        asking = CheckedOut(self.branch, self.branches_of)
        return Beside("branch", asking, frozenset({Stage.TOOL_CALL}))

    def branches_of(self, run: RunInfo) -> Branches | None:
        """The branches that a run may change: those of its task, of its agent or of this guard;
        `None` for all."""
        by_task, by_agent, _ = self._tables
        every = (by_task(run.task), by_agent(run.agent), self.branches)
        return next((Branches.of(given) for given in every if given is not None), None)

    def key(self, event: Event, /) -> str:
        """What is known of the work of a run and of all that belong to it: what a child has tested
        is tested. With `per: task`, of all runs on a task."""
        run = event.run
        counter = "" if self.counter is None else self.counter
        if self.per == "task" and run.task:
            return key(run.tenant, "evidence", counter, "task", run.task)
        return key(run.tenant, "evidence", counter, "run", run.root)

    def judge(self, reading: Reading[Event], value: Any, _now: int, /) -> Ruling | None:
        """Keep what a call does and what came of it, and judge the steps that hand work on."""
        event = reading.event
        match event:
            case ToolResult() if FAILED in event.traits:
                return None
            case ToolCall() | ToolResult() | Failure():
                return self._judge_call(event, reading, value)
            case Handoff() | HandoffDone() if self.review is not None:
                before = WorkState.of(value)
                work = self._handed(event, before)
                return None if work == before else Ruling(None, work.data())
            case ModelReply(final=True):
                finding = self._judged(WorkState.of(value), self.answers, (event.text,))
                return None if finding is None else Ruling(finding)
            case _:
                return None

    def _judge_call(
        self, event: ToolCall | ToolResult | Failure, reading: Reading[Event], value: Any
    ) -> Ruling | None:
        steps = reading.of(self._steps)
        misplaced = self._misplaced(event) if isinstance(event, ToolCall) else None
        reviews = self.review is not None and event.run.role in self.reviewers
        if not steps and not reviews:
            return None if misplaced is None else Ruling(misplaced)
        before = WorkState.of(value)
        finding, work = self._after(event, steps, before)
        if work.changes != before.changes and self.review is not None:
            work = work.with_reviews(work.reviews.written(event.run.agent))
        if reviews:
            work = _reviewed(event, work)
        finding = self._worst([misplaced, finding])
        if work == before:
            return None if finding is None else Ruling(finding)
        return Ruling(finding, work.data())

    def _misplaced(self, event: ToolCall) -> Finding | None:
        """What is wrong with the branches that a call names; the one that is checked out is asked
        for elsewhere."""
        rule = None if self.branch is None else self.branches_of(event.run)
        if rule is None or rule.all:
            return None
        named = targets_of(event.tool, event.traits, event.args)
        judge = [
            judged(self.branch, rule, one.what, [one.branch]) for one in named if one.branch != ""
        ]
        return self._worst(judge)

    def _handed(self, event: Handoff | HandoffDone, work: WorkState) -> WorkState:
        """A reviewer was handed the work, or hands on what it found."""
        run, role_of = event.run, self._tables[2]
        if isinstance(event, HandoffDone):
            reviewing = role_of(event.to) in self.reviewers
            begun = work.reviews.begins(event.to, work.changes)
            return work.with_reviews(begun) if reviewing else work
        said = verdict_in(event.payload) if run.role in self.reviewers else None
        return work if said is None else _said(work, run.agent, said)

    def _after(
        self, event: ToolCall | ToolResult | Failure, steps: list[WorkStep], before: WorkState
    ) -> tuple[Finding | None, WorkState]:
        """What is wrong with a call, and what is known once it has begun or ended."""
        if isinstance(event, ToolCall):
            found = [self._judged_step(step, work) for step, work in _seen_by(steps, before)]
            return self._worst(found), before.began(event.id, steps)
        if isinstance(event, Failure):
            done = () if "harmless" in event.traits else steps
            late = any("timeout" in name.lower() for name in (event.error, *event.bases))
            return None, before.ended(event.call, done, None, failed=True, late=late)
        return None, before.ended(event.call, steps, event.result, False, event.part)

    def _judged_step(self, step: WorkStep, work: WorkState) -> Finding | None:
        if step.what == "merge":
            return self._unreviewed(step, work)
        told = step.what in ("commit", "say")
        return self._judged(work, step.what == "commit", step.texts) if told else None

    def _unreviewed(self, step: WorkStep, work: WorkState) -> Finding | None:
        """What is wrong with a step that merges: nobody has reviewed the changes as they are
        now."""
        if self.review is None or work.reviewed:
            return None
        never = work.reviews.reviewed < 0
        why = "there has been none" if never else "code was changed after the last one"
        args = (step.name, self.reviewers[0], why)
        return Finding(ACTIONS[self.review], "evidence.unreviewed", args)

    def _judged(self, work: WorkState, hands_on: bool, texts: Sequence[str]) -> Finding | None:
        """What is wrong with a step that hands work on, or says something about it."""
        found: list[Finding | None] = []
        for asked, check, came, code in (
            (self.tests, "test run", work.tests, "evidence.untested"),
            (self.lint, "lint run", work.lint, "evidence.unlinted"),
        ):
            if hands_on and work.what and asked is not None and came != PASSED:
                told = (work.what, _told(work, came, check), self._example(work.what))
                found.append(Finding(ACTIONS[asked], code, told))
        if hands_on and self.docs is not None and work.api and not work.documented:
            docs = ACTIONS[self.docs]
            found.append(Finding(docs, "evidence.undocumented", (work.api,), about=work.api))
        if self.claims is not None:
            found += self._unfounded(work, texts)
        return self._worst(found)

    def _example(self, changed: str) -> str:
        """A command that tests what was changed: the first that counts, or what is usual there."""
        given = (*(self.test_commands or ()), *(self.test_tools or ()))
        ending = changed.rpartition(".")[2].lower()
        usual = next((one for one, ends in USUAL.items() if ending in ends), [*USUAL][-1])
        return given[0].rstrip("* ") if given else usual

    def _unfounded(self, work: WorkState, texts: Sequence[str]) -> Iterator[Finding]:
        """What is wrong with what texts say."""
        refuted, unproven = (
            None if one is None else ACTIONS[one] for one in (self.refuted, self.claims)
        )
        said = frozenset[Claim]().union(*[claims(text) for text in texts])
        checks: tuple[tuple[Claim, str, int, str], ...] = (
            ("tests", "the tests pass", work.tests, "test run"),
            ("lint", "the linter finds nothing", work.lint, "lint run"),
        )
        for claim, words, came, check in checks:
            if claim not in said or came == PASSED:
                continue
            args = (words, _told(work, came, check))
            if came == UNPASSED and refuted is not None:
                yield Finding(refuted, "evidence.refuted", args)
            elif unproven is not None:
                yield Finding(unproven, "evidence.unfounded", args)

    @staticmethod
    def _worst(found: Sequence[Finding | None]) -> Finding | None:
        """The most severe, the first of equals."""
        return max(
            [each for each in found if each is not None], key=lambda each: each.action, default=None
        )

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return tuple(dict.fromkeys([ACTIONS[name] for name in self._chosen if name is not None]))


def _seen_by(steps: list[WorkStep], work: WorkState) -> Iterator[tuple[WorkStep, WorkState]]:
    """Each step with what will have been shown when it is reached: behind `&&` only what went well
    goes on."""
    chain = 0
    sure = work
    for step in steps:
        if step.chain != chain:
            chain, sure = step.chain, work
        yield step, sure
        if step.what == "change":
            work = work.change(step.name)
            sure = sure.change(step.name)
        elif step.what in ("api", "doc"):
            work, sure = work.told(step), sure.told(step)
        elif step.what in ("test", "lint") and step.chain:
            sure = sure.checked(step.what == "lint", PASSED)


def _reviewed(event: ToolCall | ToolResult | Failure, work: WorkState) -> WorkState:
    """What is known once a reviewer has made a call: it looks at the work, or says what it thinks
    of it."""
    agent = event.run.agent
    if isinstance(event, ToolCall):
        return work.with_reviews(work.reviews.begins(agent, work.changes))
    if isinstance(event, Failure) or event.part > 1 or fails(event.result):
        return work
    said = verdict_of(event.tool, event.traits, event.args)
    return work if said is None else _said(work, agent, said)


def _said(work: WorkState, agent: str, good: bool) -> WorkState:
    return work.with_reviews(work.reviews.says(agent, good, work.changes, not work.pending))


def _told(work: WorkState, came: int, check: str) -> str:
    if came == NONE and not work.what:
        return f"no {check} is known"
    return say(TOLD[came], (check,))


def _names(given: tuple[str, ...] | None) -> Names | None:
    return None if given is None else names(given)
