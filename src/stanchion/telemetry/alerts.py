"""Alerts: an agent that is blocked too often, one that asks too often to get past guardrails, a
guardrail that is slow.

What occurs is counted, and now and then entered into windows of time: those of all processes where
they share a folder of figures, or else those of this one. An alert is told when it begins, by the
process that sees it begin, and not again while it lasts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final, Protocol
from weakref import WeakSet

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, RunInfo
from stanchion.kernel.stages import Stage
from stanchion.locks import Lock
from stanchion.telemetry.alert_windows import RULES, Fresh, Looked, Window, looked
from stanchion.telemetry.guardrail_times import GuardrailTimes
from stanchion.telemetry.kinds import Kind, Occurrence
from stanchion.telemetry.registry import number

ASKS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.EGRESS, Stage.HANDOFF})
"""Stages at which an agent asks for something that can be blocked before it happens."""
KERNEL: Final = "kernel"
"""Who refuses where it is no guard."""
MOST_AGENTS: Final = 1_000
"""How many agents are watched at a time; those that do nothing make room."""
MOST_UNSETTLED: Final = 5_000
"""How much is kept for a folder that cannot be written; the oldest is given up."""
EVERY_MS: Final = RULES[Kind.HIGH_BLOCK_RATE].slot_ms
"""How often a process that shares no folder enters what has occurred; what can begin an alert it
enters at once."""

Key = tuple[str, str]
"""A tenant and an agent of it."""


class Orchestrator(Protocol):
    """A run that others work for."""

    def tell(self, words: str, /) -> None:
        """Keep words for its agent."""


class Alerts:
    """Watches agents and guardrails. `tell` hears of each alert that begins, `name` gives a name as
    it may be shown, `times` has how long guardrails take."""

    def __init__(
        self,
        tell: Callable[[Occurrence], None],
        clock: Callable[[], int],
        name: Callable[[str], str],
    ) -> None:
        self._tell, self._clock, self._name = tell, clock, name
        self._times: Callable[[], GuardrailTimes] | None = None
        self._above: dict[Key, WeakSet[Any]] = {}
        self.folder: Path | None = None
        """Where the windows of all processes are; without it this process has its own."""
        self.forked()

    def forked(self) -> None:
        """Begin anew: what was counted before is the parent's."""
        self._settling = Lock()
        self._agents: dict[Key, tuple[Any, ...]] = {}
        self._past: dict[Key, tuple[Any, ...]] = {}
        self._seen: dict[Any, tuple[float, float]] = {}
        self._unsettled: list[Fresh] = []
        self._windows: dict[tuple[Kind, str, str], Window] = {}
        self._on: frozenset[tuple[Kind, str, str]] = frozenset()
        self._due_ms = 0

    def figures(self) -> tuple[()]:
        """It shows no figures of its own: an alert is counted as an occurrence."""
        return ()

    def time_by(self, times: Callable[[], GuardrailTimes]) -> None:
        """Have guardrails watched whose times are there."""
        self._times = times

    def orchestrated(self, run: RunInfo, above: Orchestrator) -> None:
        """Have the run above hear of alerts about the agent of a run."""
        key = (run.tenant, run.agent)
        known = self._above.get(key)
        if known is None:
            if len(self._above) >= MOST_AGENTS:
                self._above = {agent: runs for agent, runs in self._above.items() if len(runs)}
                if len(self._above) >= MOST_AGENTS:
                    return
            known = self._above.setdefault(key, WeakSet())
        known.add(above)

    def decided(self, event: Event, decision: Decision) -> None:
        """Count what an agent asks for, and whether a guardrail blocks it. This is on the way of
        every decision. What is refused because of a halt, a deadline or a store that is away says
        nothing of the agent."""
        action = decision.action
        stops = action > PROCEEDS and action != Action.ESCALATE
        if event.stage not in ASKS or (stops and _by_kernel(decision)):
            return
        if event.at >= self._due_ms and self.folder is None:
            self.settle(event.at)
        run = event.run
        cell = self._agents.get((run.tenant, run.agent))
        if cell is None:
            if len(self._agents) >= MOST_AGENTS:
                return
            cell = self._agents.setdefault((run.tenant, run.agent), (count(), count()))
        next(cell[0])
        if stops:
            next(cell[1])
            if self.folder is None:
                self.settle(event.at, (run.tenant, run.agent))

    def asked_past(self, run: RunInfo) -> None:
        """Count that an agent asks to get past a guardrail."""
        if self.folder is None:
            self.settle()
        key = (run.tenant, run.agent)
        if key in self._past or len(self._past) < MOST_AGENTS:
            next(self._past.setdefault(key, (count(),))[0])
        if self.folder is None:
            self.settle(only=key)

    def settle(
        self, now_ms: int | None = None, only: Key | None = None, last: bool = False
    ) -> None:
        """Enter what has occurred into the windows, and tell of the alerts that begin; `only` what
        one agent has done, where it may have begun one. For the `last` time, a folder that is busy
        is waited for."""
        now = self._clock() if now_ms is None else now_ms
        with self._settling:
            # Where nothing has occurred for long, what was counted before belongs to the time
            # before.
            late = self.folder is None and 0 < self._due_ms <= now
            self._unsettled += self._fresh(self._due_ms - EVERY_MS if late else now, only)
            del self._unsettled[:-MOST_UNSETTLED]
            if only is None:
                self._due_ms = now + EVERY_MS
            if not self._unsettled and not self._on:
                return
            found = self._look(now, only is not None, last)
            if found is None:
                return
            about = {_key(one) for one in self._unsettled} if only is not None else self._on
            before, self._on = (
                self._on,
                self._on - about | {_key(one) for one in found.windows if one.on},
            )
            self._unsettled = []
        for window in found.begun:
            self._tell(_occurrence(window, now))
        for window in found.windows:
            if window.on and _key(window) not in before and window.kind is Kind.HIGH_BLOCK_RATE:
                self._tell_above(window)

    def _look(self, now_ms: int, few: bool, last: bool) -> Looked | None:
        """The windows as they are now: all of them, or the `few` that something is entered into."""
        if self.folder is not None:
            from stanchion.telemetry.alert_folder import looked_together

            return looked_together(self.folder, self._unsettled, now_ms, last)
        about = {_key(one) for one in self._unsettled} if few else [*self._windows]
        before = [window for key in about if (window := self._windows.pop(key, None)) is not None]
        found = looked(before, self._unsettled, now_ms)
        self._windows |= {_key(window): window for window in found.windows}
        return found

    def _fresh(self, at_ms: int, only: Key | None) -> Iterator[Fresh]:
        """What was counted since the last time, by names as they may be shown."""
        for key in [*self._agents] if only is None else [only]:
            yield from self._counted(at_ms, Kind.HIGH_BLOCK_RATE, self._agents, key)
        for key in [*self._past] if only is None else [only]:
            yield from self._counted(at_ms, Kind.BYPASS_ABUSE, self._past, key)
        if self._times is not None and only is None:
            for guardrail, (spent_ns, measured) in self._times().totals().items():
                events, ns = self._since((Kind.GUARDRAIL_SLOW, guardrail), measured, spent_ns)
                if events:
                    yield Fresh(at_ms, Kind.GUARDRAIL_SLOW, "", guardrail, int(events), ns / 1e6)

    def _counted(
        self, at_ms: int, kind: Kind, known: dict[Key, tuple[Any, ...]], key: Key
    ) -> Iterator[Fresh]:
        """What an agent has done of one kind; one that does nothing makes room."""
        cell = known.get(key)
        if cell is None:
            return
        events, amount = self._since((kind, key), *map(number, cell))
        if events:
            yield Fresh(at_ms, kind, *self._named(key), int(events), amount)
        elif len(known) > MOST_AGENTS // 2:
            known.pop(key)
            self._seen.pop((kind, key))

    def _named(self, key: Key) -> Key:
        return self._name(key[0]), self._name(key[1])

    def _since(self, key: Any, events: float, amount: float = 0) -> tuple[float, float]:
        before = self._seen.get(key, (0, 0))
        self._seen[key] = (events, amount)
        return events - before[0], amount - before[1]

    def _tell_above(self, window: Window) -> None:
        for (tenant, agent), runs in list(self._above.items()):
            if self._named((tenant, agent)) == (window.tenant, window.about):
                for above in list(runs):
                    above.tell(_words(window))


def _by_kernel(decision: Decision) -> bool:
    by = decision.determining
    return by is not None and by.guard == KERNEL


def _key(window: Window | Fresh) -> tuple[Kind, str, str]:
    return window.kind, window.tenant, window.about


def _occurrence(window: Window, now_ms: int) -> Occurrence:
    is_agent = window.kind is not Kind.GUARDRAIL_SLOW
    return Occurrence(
        kind=window.kind,
        at=now_ms,
        text=_words(window),
        about=f"{'agent' if is_agent else 'guard'}:{window.about}",
        tenant=window.tenant,
        agent=window.about if is_agent else "",
    )


def _words(window: Window) -> str:
    agent = f"agent `{window.about}`" if window.about else "an agent without a name"
    match window.kind:
        case Kind.HIGH_BLOCK_RATE:
            share = f"{int(window.amount)} of {window.events} actions ({window.value:.0%})"
            return (
                f"{share} of {agent} in the last 10 minutes were blocked: see why before it goes on"
            )
        case Kind.BYPASS_ABUSE:
            often = f"{window.events} times in the last hour"
            return f"{agent} has asked {often} to get past a guardrail: look at what it does"
    measured = f"{window.value:,.0f} ms on average ({window.events} times in the last 10 minutes)"
    return (
        f"guardrail `{window.about}` takes {measured}: make it quicker, or let it wait for nothing"
    )
