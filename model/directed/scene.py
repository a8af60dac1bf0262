"""A scene: a policy of a few guards, a store, a clock, and one process that judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.drawn.guards import Rule, Watcher
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.autonomy import Share
from stanchion.kernel.chain import EVERY_ACTION, Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import decide
from stanchion.kernel.events import Event, Moment, RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Placed
from stanchion.kernel.lineup import Lineups
from stanchion.kernel.lookups import Answer, Ask
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Batch, Reply, StoreLost, When
from stanchion.kernel.units import Amounts
from stanchion.readings import Reading, read
from stanchion.stores.memory import MemoryStore
from stanchion.testing.clock import FakeClock

RUN = RunInfo("r1", agent="ann", task="t1")


class Scene:
    """A policy that applies to everything, and one process under it."""

    def __init__(
        self,
        *guards: Placed,
        can: tuple[Action, ...] = EVERY_ACTION,
        shadow: bool = False,
        max_age_ms: int = 1_000,
        count_marks: bool = False,
        store: MemoryStore | None = None,
        clock: FakeClock | None = None,
    ) -> None:
        self.hash = "scene"
        self.shadow = shadow
        self.warnings = 3
        self.count_marks = count_marks
        self.lineups = Lineups()
        self.modes: dict[str, tuple[Placed, ...]] = {"": guards}
        self.clock = clock if clock is not None else FakeClock()
        self.store = store if store is not None else MemoryStore(self.clock)
        self.records: dict[str, tuple[int, Any]] = {}
        self.plans = Plans(self, RUN, can, max_age_ms)
        self.asked: list[str] = []
        self.batches: list[Batch] = []
        self.replies: list[Reply] = []
        self._made = 0

    budgets: tuple[Share, ...] = ()

    def guards(self, stage: Stage, tool: str, run: RunInfo, mode: str) -> tuple[Placed, ...]:
        """All guards of a mode."""
        return self.modes.get(mode, self.modes[""])

    def shares(self, run: RunInfo) -> tuple[Share, ...]:
        """The budgets by which the mode goes."""
        return self.budgets

    def read(self, event: Any, /) -> Reading[Any]:
        """What an event says."""
        return read(event)

    def beside(self) -> Scene:
        """Another process under the same policy, on the same store."""
        other = Scene(*self.modes[""], can=self.plans.can, store=self.store, clock=self.clock)
        other.modes = self.modes
        other._made = self._made + 1_000
        return other

    def call(
        self, mark: int = 0, text: str = "plain", tool: str = "a", risk: Risk = Risk.MEDIUM
    ) -> ToolCall:
        """A new tool call of the run, at the time the clock shows."""
        self._made += 1
        return ToolCall(
            id=f"e{self._made}",
            at=self.clock(),
            run=RUN,
            call=str(mark),
            tool=tool,
            risk=risk,
            args={"text": text},
        )

    def judge(
        self,
        event: Event | None = None,
        *,
        late: tuple[Finding, ...] = (),
        settles: tuple[tuple[str, Amounts | None], ...] = (),
        answers: Mapping[str, Answer] | None = None,
        lost: bool = False,
    ) -> Decision:
        """Judge one event and keep what went to the store and came back."""
        moment = Moment((self.call() if event is None else event,), settles=settles, late=late)
        return self.judge_moment(moment, {} if answers is None else answers, lost)

    def judge_moment(
        self, moment: Moment, answers: Mapping[str, Answer], lost: bool = False
    ) -> Decision:
        """The same for a whole moment."""
        deciding = decide(self.plans, moment, self.records)
        given: Any = None
        try:
            for _ in range(20):
                need = deciding.send(given)
                if isinstance(need, Ask):
                    self.asked += [lookup.name for lookup in need.lookups]
                    given = tuple(answers[lookup.name] for lookup in need.lookups)
                elif lost:
                    deciding.throw(StoreLost())
                elif isinstance(need, Batch):
                    self.batches.append(need)
                    given = self.carry(need)
                    self.replies.append(given)
        except StopIteration as stop:
            made: Decision = stop.value
            return made
        raise AssertionError("no decision after 20 trips")

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out; a scene may do otherwise."""
        return self.store.carry(batch)

    def put(self, name: str, value: Any) -> None:
        """Write a record past all decisions, as an operator does."""
        self._made += 1
        self.store.carry(Batch(f"operator-{self._made}", puts=((name, value, When.JUDGED, 0, 0),)))

    def total(self, name: str) -> int:
        """A counter's total or a record's version."""
        return self.store.read(name)[0]


def watcher(
    name: str, action: Action, code: str = "scene.says", word: str = "", edit: str = "", **more: Any
) -> Placed:
    """A pure guard that says one thing of every text with that word."""
    effects = more.pop("effects", ())
    rule = Rule(-1, word, Finding(action, code, effects=effects), edit)
    return Placed(name, Watcher((rule,)), **more)


def broken(name: str, **more: Any) -> Placed:
    """A pure guard that always raises."""
    return Placed(name, Watcher((Rule(-1, raises=True),)), **more)


def same(got: object, want: object) -> None:
    """Complain, with both values, where they differ."""
    if got != want:
        raise AssertionError(f"it is\n  {got!r}\nand should be\n  {want!r}")


def said(decision: Decision) -> list[tuple[str, str, Action]]:
    """Who said what, in order."""
    return [(finding.guard, finding.code, finding.action) for finding in decision.findings]
