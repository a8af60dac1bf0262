"""What is known of a moment before anything is counted: gates, late answers, guards in chain order,
patches."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import msgspec

from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.autonomy import refusing
from stanchion.kernel.chain import Policy
from stanchion.kernel.content import content_of, with_content
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.gates import Ending, GateStanding, called, ending_key, standing_key
from stanchion.kernel.guard import Kind, Placed, Ruling, failure_of
from stanchion.kernel.lookups import Answer, Answered, Expired, Failed, Over
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.stages import UNTALLIED
from stanchion.kernel.state import Line, When
from stanchion.kernel.table import carried
from stanchion.readings import read

BEGINS = {"step": ("tool_call", "handoff"), "run": ("tool_call", "handoff", "model_call")}
"""What does not begin while a step or a run waits for a person."""

cells = lru_cache(carried)
"""The action × stage table as a host carries it out."""

Found = list[tuple[int, Finding]]
"""Findings with their places in the chain; -1 stands before it."""


class View(Protocol):
    """Where records are read: a store's history, or what one process remembers of it."""

    def record(self, key: str) -> tuple[int, Any]: ...

    def number(self, key: str) -> int: ...


class Wish(NamedTuple):
    """A record that a guard wants written."""

    pos: int
    key: str
    value: Any
    when: When


class Sitting:
    """One moment, one view of the world, one time: every guard that needs no counter is asked, in
    chain order."""

    def __init__(
        self,
        policy: Policy,
        moment: Moment,
        view: View,
        now: int,
        answers: Mapping[str, Answer],
        can: tuple[Action, ...],
    ) -> None:
        self.policy = policy
        self.moment = moment
        self.events = moment.events
        self.first = moment.events[0]
        self.view = view
        self.now = now
        self.answers = answers
        self.can = can
        self.wishes: list[Wish] = []
        self.recorded = False
        self.gated = False
        self.mode = ""
        self.found: Found = self._gates()
        self.chain = chain_of(policy, moment, self.mode)
        if not self.found:
            self.found = self._late() + self._judge_all()
            self._settle_patches()

    @property
    def cut(self) -> int:
        """The place of the first real stop among what is known; the chain's length where there is
        none."""
        return min(
            [pos for pos, finding in self.found if self.ends(pos, finding)], default=len(self.chain)
        )

    def ends(self, pos: int, finding: Finding) -> bool:
        """Whether a finding skips everything behind it. What the store counts always does."""
        counted = finding.code == "kernel.third_warning"
        return stops(finding) and (counted or pos < 0 or self.chain[pos][0].ends)

    @property
    def ceiling(self) -> Action:
        """The most severe action under which this attempt is written: a first one that is degraded
        takes nothing."""
        return Action.REDACT if self.moment.attempt == 1 else Action.DEGRADE

    def proceeds(self) -> bool:
        """Whether nothing known refuses."""
        return all(finding.shadow or finding.action <= Action.DEGRADE for _, finding in self.found)

    def tallied(self, pos: int) -> bool:
        """Whether warnings of the guard at that place are counted: an action's once, when it is
        judged first."""
        if pos < 0:
            return self.first.stage not in UNTALLIED
        quiet = (
            getattr(self.chain[pos][0].guard, "only_marks", False) and not self.policy.count_marks
        )
        return self.event_at(pos).stage not in UNTALLIED and not self.moment.again and not quiet

    def warns_at_limit(self, pos: int) -> bool:
        """Whether a line of the meter at that place warns where it ends, rather than at a mark
        below a severer band."""
        ends = [
            max(
                [(limit, self.carried(pos, action)) for limit, action in line.bands],
                default=(0, Action.ALLOW),
            )
            for line in self.own_lines(pos)
        ]
        return any(action == Action.WARN for _, action in ends)

    def event_at(self, pos: int) -> Event:
        """The event that the guard at that place judges."""
        return self.chain[pos][1] if pos >= 0 else self.first

    def carried(self, pos: int, action: Action) -> Action:
        """What an action becomes where the guard at that place says it; little budget turns
        warnings into refusals."""
        if action == Action.WARN and self.mode in ("lockdown", "exhausted"):
            action = Action.BLOCK
        return cells(self.event_at(pos).stage, self.can)[action]

    def own_lines(self, pos: int) -> tuple[Line, ...]:
        """The lines of the meter at that place."""
        placed, event = self.chain[pos]
        lines: tuple[Line, ...] = placed.guard.lines(event)
        if any(line.hold_ms and line.when == When.JUDGED for line in lines):
            raise ValueError("a line that is written when judged cannot hold")
        return lines

    def taken_before(self, pos: int) -> set[str]:
        """The counters that meters before that place have lines on: the first one takes, later ones
        look."""
        taken: set[str] = set()
        for place, (placed, _) in enumerate(self.chain[:pos]):
            if placed.kind == Kind.METER:
                try:
                    taken |= {self.counter(place, line) for line in self.own_lines(place)}
                except Exception:  # noqa: BLE001 - a meter without lines takes nothing
                    continue
        return taken

    def counter(self, pos: int, line: Line) -> str:
        """The counter of a line as the store knows it."""
        shadow = "~" if self.chain[pos][0].shadow else ""
        return shadow + line.key + (f"/{line.window_ms}" if line.window_ms else "")

    def entered(self, pos: int, finding: Any) -> Finding:
        """A guard's finding as it stands in a decision."""
        if not isinstance(finding, Finding):
            raise TypeError("not a finding")
        placed = self.chain[pos][0]
        redacts = finding.action == self.carried(pos, Action.REDACT) == Action.REDACT
        if redacts and not finding.patches and placed.kind != Kind.METER:
            finding = Finding(Action.BLOCK, "kernel.patch_failed", (placed.id,))
        finding = self.staying(pos, finding)
        action = self.carried(pos, finding.action)
        if finding.patches and Action.REDACT not in self.can and placed.kind != Kind.METER:
            action = max(action, self.carried(pos, Action.REDACT))
        said = finding.action if action != finding.action else None
        worded = self.worded(pos, finding, action)
        given = [effect for effect in placed.effects if not finding.code.startswith("kernel.")]
        effects = tuple(dict.fromkeys([*finding.effects, *given]))
        return msgspec.structs.replace(
            worded, action=action, guard=placed.id, shadow=placed.shadow, said=said, effects=effects
        )

    def staying(self, pos: int, finding: Finding) -> Finding:
        """A redaction whose guard says that what it found may stay, where nothing may be taken out
        of what a call is given."""
        stays = getattr(self.chain[pos][0].guard, "stays", {})
        instead = read(self.event_at(pos)).redaction
        if finding.action != Action.REDACT or finding.code not in stays or not finding.patches:
            return finding
        if instead == Action.REDACT:
            return finding
        return msgspec.structs.replace(
            finding,
            action=instead,
            code=stays[finding.code],
            patches=(),
            hides=finding.hides + finding.patches,
            effects=(*finding.effects, "tell"),
        )

    def worded(self, pos: int, finding: Finding, action: Action) -> Finding:
        """A finding in words that are true: a warning that refuses says so, and why."""
        if finding.action != Action.WARN or action < Action.BLOCK:
            return finding
        return refusing(finding, tuple(self.carried(pos, action) for action in Action))

    def _gates(self) -> Found:
        run = self.first.run
        waits = []
        for run_id in (run.id, *run.parents):
            _, value = self.view.record(ending_key(run.tenant, run_id))
            if value is not None and "ticket" in value:
                waits.append(value)
            elif value is not None:
                self.gated = True
                ending = msgspec.convert(value, Ending)
                return [(-1, Finding(Action.HALT, ending.code, (ending.why,), guard="kernel"))]
        states = self._states()
        self.gated = bool(waits) or any(
            state in ("safe", "quarantine", "halt") or ends for _, state, _, ends in states
        )
        if any(state == "safe" for _, state, _, _ in states):
            self.mode = "safe"
        refusals = [
            Finding(Action.BLOCK, "kernel.paused", (pause["ticket"],), guard="kernel")
            for pause in waits
            if self.now < pause["until"] and self.first.stage in BEGINS[pause["scope"]]
        ]
        for name, state, why, _ in states:
            if state == "halt":
                self.mode = "halt" if not name.startswith("tool:") else self.mode
                action = Action.BLOCK if name.startswith("tool:") else Action.HALT
                refusals.append(
                    Finding(action, "kernel.halted", (name, why, called(name)), guard="kernel")
                )
            elif state == "quarantine":
                refusals.append(
                    Finding(
                        Action.BLOCK, "kernel.quarantined", (name, called(name)), guard="kernel"
                    )
                )
        if refusals:
            return [(-1, max(refusals, key=lambda refusal: refusal.action))]
        return self._left() if not self.mode else []

    def _states(self) -> list[tuple[str, str, str, int]]:
        """What concerns the event, widest first: its name, its state now, why, and when that ends
        by itself."""
        run = self.first.run
        found = []
        for whose, tenant in (("fleet", "*"), (f"tenant:{run.tenant}", run.tenant)):
            _, value = self.view.record(standing_key(tenant))
            if value is None:
                continue
            standing = msgspec.convert(value, GateStanding)
            named = [(whose, standing.own)]
            names = [
                f"agent:{run.agent}",
                *[f"run:{r}" for r in (run.id, *run.parents)],
                f"tool:{self.first.tool}",
            ]
            named += [(name, standing.marks[name]) for name in names if name in standing.marks]
            for name, mark in named:
                state = mark.state
                if mark.until and self.now >= mark.until:
                    again = mark.state == "quarantine" and self.now < mark.until + mark.after_ms
                    state = "warning" if again else ""
                found.append((name, state, mark.why, mark.until))
        return found

    def _left(self) -> Found:
        """What is left of the run's budgets: more than half, a fifth at least, less, nothing."""
        shares = self.policy.shares(self.first.run)
        left = [
            Fraction(limit - self.view.number(key), limit) if limit else Fraction(0)
            for key, limit in shares
        ]
        least = min(left, default=Fraction(1))
        if least > 0:
            self.mode = (
                ""
                if least > Fraction(1, 2)
                else "strict"
                if least >= Fraction(1, 5)
                else "lockdown"
            )
        else:
            self.mode = "exhausted"
        begins = self.first.stage.value in (
            "tool_call",
            "model_call",
            "egress",
            "handoff",
            "charge",
        )
        if self.mode != "exhausted" or not begins:
            return []
        self.gated = True
        return [(-1, Finding(Action.BLOCK, "kernel.exhausted", guard="kernel"))]

    def _late(self) -> Found:
        return self._before_the_chain(self.moment.late)

    def _before_the_chain(self, findings: tuple[Finding, ...]) -> Found:
        late: Found = []
        for finding in findings:
            action = self.carried(-1, finding.action)
            said = finding.action if action != finding.action else finding.said
            late.append(
                (
                    -1,
                    msgspec.structs.replace(
                        self.worded(-1, finding, action), action=action, said=said
                    ),
                )
            )
        return late

    def _judge_all(self) -> Found:
        if any(stops(finding) for _, finding in self._late()):
            return []
        found: Found = []
        for pos in range(len(self.chain)):
            over = self._over(pos)
            if over is not None:
                return self._before_the_chain(
                    (Finding(over.action, over.code, over.args, over.text, guard="kernel"),)
                )
            finding = self._judge(pos)
            if finding is not None:
                found.append((pos, finding))
                if self.ends(pos, finding):
                    break
        return found

    def _over(self, pos: int) -> Over | None:
        """That the run was over when the guard at that place was asked: whatever others say, it is
        refused for that."""
        placed, event = self.chain[pos]
        answer = self.answers.get(placed.id if event is self.first else f"{placed.id}#1")
        asks = (
            placed.kind is Kind.ASKING
            and isinstance(answer, Over)
            and placed.guard.ask(read(event)) is not None
        )
        return answer if asks and isinstance(answer, Over) else None

    def _judge(self, pos: int) -> Finding | None:
        placed, event = self.chain[pos]
        finding: Any = None
        try:
            match placed.kind:
                case Kind.PURE:
                    finding = placed.guard.judge(read(event))
                case Kind.ASKING:
                    return self._ask(pos)
                case Kind.RECORD:
                    finding = self._consult(pos)
                case Kind.METER:
                    self.own_lines(pos)
            return None if finding is None else self.entered(pos, finding)
        except Exception as error:  # noqa: BLE001 - a guard may raise anything
            return self._broken(pos, "kernel.guard_error", failure_of(error))

    def _broken(self, pos: int, code: str, *args: str) -> Finding:
        placed, event = self.chain[pos]
        open_ = placed.fail_open and event.risk != Risk.CRITICAL
        return self.entered(
            pos, Finding(Action.ALLOW if open_ else Action.BLOCK, code, (placed.id, *args))
        )

    def _ask(self, pos: int) -> Finding | None:
        placed, event = self.chain[pos]
        answer: Answer
        try:
            if placed.guard.ask(read(event)) is None:
                return None
            answer = self.answers[placed.id if event is self.first else f"{placed.id}#1"]
        except Exception as error:  # noqa: BLE001 - a guard may raise anything
            answer = Failed(type(error).__name__)
        match answer:
            case Answered(value):
                finding = placed.guard.judge(read(event), value)
                return None if finding is None else self.entered(pos, finding)
            case Failed(error_name):
                return self._broken(pos, "kernel.lookup_failed", error_name)
            case Expired():
                if placed.guard.deep and event.risk in (Risk.LOW, Risk.MEDIUM):
                    return self.entered(
                        pos, Finding(Action.ALLOW, "kernel.lookup_late", (placed.id,))
                    )
                if placed.guard.deep and event.risk is Risk.HIGH and not placed.fail_open:
                    return self.entered(
                        pos, Finding(Action.ESCALATE, "kernel.lookup_undecided", (placed.id,))
                    )
                return self._broken(pos, "kernel.lookup_expired")
            case Over():
                raise AssertionError("a run that is over is looked at before its guards")

    def _consult(self, pos: int) -> Finding | None:
        placed, event = self.chain[pos]
        name = ("~" if placed.shadow else "") + placed.guard.key(event)
        self.recorded = True
        ruling: Ruling | None = placed.guard.judge(read(event), self.view.record(name)[1], self.now)
        if ruling is None:
            return None
        if ruling.put is not None:
            when = placed.guard.writes if ruling.when is None else ruling.when
            self.wishes.append(Wish(pos, name, ruling.put, when))
        return ruling.finding

    def _settle_patches(self) -> None:
        """Where all goes ahead with patches: pure guards judge the patched content once, and must
        be content."""
        patching = [(pos, f) for pos, f in self.found if f.patches and not f.shadow]
        if not patching or not self.proceeds():
            return
        try:
            content = apply(
                content_of(self.first), [patch for _, f in patching for patch in f.patches]
            )
            patched = with_content(self.first, content)
        except (PatchError, ValueError, TypeError):
            self._refuse_patches(patching[0][0])
            if self.proceeds():  # where a refusal only warns, what does not fit falls away
                self.found = [
                    (pos, msgspec.structs.replace(finding, patches=()))
                    for pos, finding in self.found
                ]
            return
        known = list(self.found)
        for pos, (placed, event) in enumerate(self.chain):
            if placed.kind != Kind.PURE:
                continue
            try:
                finding = placed.guard.judge(read(patched if event is self.first else event))
                again = None if finding is None else self.entered(pos, finding)
            except Exception as error:  # noqa: BLE001 - a guard may raise anything
                again = self._broken(pos, "kernel.guard_error", failure_of(error))
            if again is None:
                continue
            if (
                again.patches
                and not again.shadow
                and not stops(again)
                and _changes(content, again.patches)
            ):
                self._refuse_patches(pos)
            elif not any(
                f.guard == again.guard and f.code == again.code and f.action >= again.action
                for _, f in known
            ):
                self.found.append((pos, again))
            if pos >= self.cut:  # a refusal that only warns skips nothing
                break
        self.found = sorted(
            [entry for entry in self.found if entry[0] <= self.cut], key=lambda entry: entry[0]
        )

    def _refuse_patches(self, pos: int) -> None:
        refusal = Finding(Action.BLOCK, "kernel.patch_failed", (self.chain[pos][0].id,))
        self.found.append((pos, self.entered(pos, refusal)))
        self.found = sorted(
            [entry for entry in self.found if entry[0] <= self.cut], key=lambda entry: entry[0]
        )


def chain_of(policy: Policy, moment: Moment, mode: str) -> list[tuple[Placed, Event]]:
    """The guards of a moment in chain order, each with the event it judges; one that counts does so
    once."""
    chain: list[tuple[Placed, Event]] = []
    for event in moment.events:
        guards = list(policy.guards(event.stage, event.tool, event.run, mode))
        guards.sort(key=lambda placed: (placed.priority, placed.category, placed.id))
        earlier = [placed.id for placed, _ in chain if placed.kind in (Kind.METER, Kind.RECORD)]
        chain += [(placed, event) for placed in guards if placed.id not in earlier]
    return chain


def _changes(content: Any, patches: tuple[Patch, ...]) -> bool:
    """Whether content that was patched would have to be patched again."""
    try:
        return bool(apply(content, patches) != content)
    except PatchError:
        return True


def stops(finding: Finding) -> bool:
    """Whether a finding refuses."""
    return finding.action >= Action.BLOCK and not finding.shadow
