"""Alerts: an agent that is blocked too often, one that asks too often to get past guardrails, a
guardrail that is slow.

What occurs is counted, and now and then entered into windows of time: those of all processes where
they share a folder of figures, or else those of this one. An alert is told when it begins, by the
process that sees it begin, and not again while it lasts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol
from weakref import WeakSet

import msgspec

from stanchion import typed
from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, RunInfo
from stanchion.kernel.stages import Stage
from stanchion.locks import Lock
from stanchion.locks.files import attempt_within
from stanchion.telemetry.folder import replace_file
from stanchion.telemetry.guardrails import GuardrailTimes
from stanchion.telemetry.kinds import Kind, Occurrence
from stanchion.telemetry.registry import number

# Windows of time that alerts are judged by: what occurred lately, when that is too much, and when
# it is over. There is no clock here: whoever asks gives the time.

SLOTS: Final = 60
"""Into how many parts a window is divided: what is in the oldest leaves it at once."""
MOST: Final = 500
"""How many windows are kept; of more, those leave first in which nothing has occurred for
longest."""


class AlertRule(msgspec.Struct, frozen=True):
    """When an alert begins and when it is over: above one value, and down to another. Without
    `least` events in the window nothing begins: few say nothing."""

    window_ms: int
    least: int
    above: float
    until: float
    rate: bool
    """Whether the value is how much there is for each event; otherwise it is how many events there
    are."""

    @property
    def slot_ms(self) -> int:
        """How long a part of the window is."""
        return self.window_ms // SLOTS


RULES: Final[dict[Kind, AlertRule]] = {
    Kind.HIGH_BLOCK_RATE: AlertRule(600_000, least=10, above=0.3, until=0.2, rate=True),
    Kind.BYPASS_ABUSE: AlertRule(3_600_000, least=1, above=5, until=3, rate=False),
    Kind.GUARDRAIL_SLOW: AlertRule(600_000, least=10, above=500.0, until=400.0, rate=True),
}
"""The share of actions that were blocked, requests of one agent, and milliseconds of a
guardrail."""


class FreshEvents(NamedTuple):
    """What has occurred at about some time: events, and how much there is of what the alert is
    about."""

    at_ms: int
    kind: Kind
    tenant: str
    about: str
    events: int
    amount: float = 0


class AlertWindow(msgspec.Struct, frozen=True, array_like=True):
    """What is known of one agent or guardrail: the parts of its window by number, each with its
    events and their amount, and whether the alert lasts."""

    kind: Kind
    tenant: str
    about: str
    on: bool
    slots: tuple[tuple[int, int, float], ...] = ()

    @property
    def events(self) -> int:
        """How many events are in it."""
        return sum([events for _, events, _ in self.slots])

    @property
    def amount(self) -> float:
        """How much of it there is."""
        return sum([amount for _, _, amount in self.slots])

    @property
    def value(self) -> float:
        """What is compared with the rule; 0 where nothing has occurred."""
        events = self.events
        return events if not RULES[self.kind].rate else self.amount / events if events else 0.0


class AlertLook(NamedTuple):
    """The windows as they are now, and the alerts that begin."""

    windows: tuple[AlertWindow, ...]
    begun: tuple[AlertWindow, ...]


def looked(windows: Iterable[AlertWindow], fresh: Iterable[FreshEvents], now_ms: int) -> AlertLook:
    """Enter what has occurred, let go of what is too old, and see which alerts begin and which are
    over."""
    known = {(one.kind, one.tenant, one.about): one for one in windows}
    for one in fresh:
        key = (one.kind, one.tenant, one.about)
        known[key] = _entered(known.get(key, AlertWindow(*key, on=False)), one)
    begun: list[AlertWindow] = []
    kept: list[AlertWindow] = []
    for window in known.values():
        now = _now(window, now_ms)
        if now.on and not window.on:
            begun.append(now)
        if now.on or now.slots:
            kept.append(now)
    kept.sort(
        key=lambda one: (one.on, one.slots[-1][0] * RULES[one.kind].slot_ms if one.slots else 0)
    )
    return AlertLook(tuple(kept[-MOST:]), tuple(begun))


def _entered(window: AlertWindow, fresh: FreshEvents) -> AlertWindow:
    slot = fresh.at_ms // RULES[window.kind].slot_ms
    before = {number: (events, amount) for number, events, amount in window.slots}
    events, amount = before.get(slot, (0, 0))
    before[slot] = (events + fresh.events, amount + fresh.amount)
    return msgspec.structs.replace(
        window, slots=tuple([(number, *before[number]) for number in sorted(before)])
    )


def _now(window: AlertWindow, now_ms: int) -> AlertWindow:
    """A window without what is too old, or too new because a clock was set back, and whether its
    alert lasts."""
    rule = RULES[window.kind]
    last = now_ms // rule.slot_ms
    recent = tuple([one for one in window.slots if last - SLOTS <= one[0] <= last + SLOTS])
    now = msgspec.structs.replace(window, slots=recent)
    value = now.value
    on = value > rule.until if window.on else value > rule.above and now.events >= rule.least
    return msgspec.structs.replace(now, on=on)


# The windows of all processes, in one file of the folder of figures. Whoever changes it holds a
# lock; a reader never sees half of it, because it is replaced as a whole.

VERSION: Final = 1
FILE: Final = "alerts.json"
HELD: Final = "alerts.held"
PATIENCE_S: Final = 5.0
"""How long a process that ends waits for the lock."""
LARGEST: Final = 4 * 1024 * 1024


class AlertPage(msgspec.Struct, frozen=True):
    """What the file holds."""

    version: int
    windows: tuple[AlertWindow, ...]


_decode: Final = typed.reader(AlertPage).decode


def looked_together(
    folder: Path, fresh: Iterable[FreshEvents], now_ms: int, last: bool = False
) -> AlertLook | None:
    """Enter what has occurred in this process into the windows of all; `None` where another process
    is about to do the
    same: then it is to be tried again. A process that does so for the `last` time waits a while
    instead. `OSError` where the folder cannot be written."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    held = attempt_within(folder / HELD, PATIENCE_S if last else 0)
    if held is None:
        return None
    try:
        before = _read(folder)
        found = looked(before, fresh, now_ms)
        if found.windows != before:
            replace_file(folder / FILE, AlertPage(VERSION, found.windows))
        return found
    finally:
        os.close(held)


def _read(folder: Path) -> tuple[AlertWindow, ...]:
    """The windows so far; from a file that is broken, or of another version, none."""
    try:
        with open(folder / FILE, "rb") as file:
            text = file.read(LARGEST + 1)
        kept = _decode(text)
    except (FileNotFoundError, msgspec.MsgspecError):
        return ()
    return kept.windows if kept.version == VERSION else ()


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
        self._unsettled: list[FreshEvents] = []
        self._windows: dict[tuple[Kind, str, str], AlertWindow] = {}
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

    def _look(self, now_ms: int, few: bool, last: bool) -> AlertLook | None:
        """The windows as they are now: all of them, or the `few` that something is entered into."""
        if self.folder is not None:
            return looked_together(self.folder, self._unsettled, now_ms, last)
        about = {_key(one) for one in self._unsettled} if few else [*self._windows]
        before = [window for key in about if (window := self._windows.pop(key, None)) is not None]
        found = looked(before, self._unsettled, now_ms)
        self._windows |= {_key(window): window for window in found.windows}
        return found

    def _fresh(self, at_ms: int, only: Key | None) -> Iterator[FreshEvents]:
        """What was counted since the last time, by names as they may be shown."""
        for key in [*self._agents] if only is None else [only]:
            yield from self._counted(at_ms, Kind.HIGH_BLOCK_RATE, self._agents, key)
        for key in [*self._past] if only is None else [only]:
            yield from self._counted(at_ms, Kind.BYPASS_ABUSE, self._past, key)
        if self._times is not None and only is None:
            for guardrail, (spent_ns, measured) in self._times().totals().items():
                events, ns = self._since((Kind.GUARDRAIL_SLOW, guardrail), measured, spent_ns)
                if events:
                    yield FreshEvents(
                        at_ms, Kind.GUARDRAIL_SLOW, "", guardrail, int(events), ns / 1e6
                    )

    def _counted(
        self, at_ms: int, kind: Kind, known: dict[Key, tuple[Any, ...]], key: Key
    ) -> Iterator[FreshEvents]:
        """What an agent has done of one kind; one that does nothing makes room."""
        cell = known.get(key)
        if cell is None:
            return
        events, amount = self._since((kind, key), *map(number, cell))
        if events:
            yield FreshEvents(at_ms, kind, *self._named(key), int(events), amount)
        elif len(known) > MOST_AGENTS // 2:
            known.pop(key)
            self._seen.pop((kind, key))

    def _named(self, key: Key) -> Key:
        return self._name(key[0]), self._name(key[1])

    def _since(self, key: Any, events: float, amount: float = 0) -> tuple[float, float]:
        before = self._seen.get(key, (0, 0))
        self._seen[key] = (events, amount)
        return events - before[0], amount - before[1]

    def _tell_above(self, window: AlertWindow) -> None:
        for (tenant, agent), runs in list(self._above.items()):
            if self._named((tenant, agent)) == (window.tenant, window.about):
                for above in list(runs):
                    above.tell(_words(window))


def _by_kernel(decision: Decision) -> bool:
    by = decision.determining
    return by is not None and by.guard == KERNEL


def _key(window: AlertWindow | FreshEvents) -> tuple[Kind, str, str]:
    return window.kind, window.tenant, window.about


def _occurrence(window: AlertWindow, now_ms: int) -> Occurrence:
    is_agent = window.kind is not Kind.GUARDRAIL_SLOW
    return Occurrence(
        kind=window.kind,
        at=now_ms,
        text=_words(window),
        about=f"{'agent' if is_agent else 'guard'}:{window.about}",
        tenant=window.tenant,
        agent=window.about if is_agent else "",
    )


def _words(window: AlertWindow) -> str:
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
