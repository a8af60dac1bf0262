"""Sinks: whoever hears of what a shield does, and the one who tells them. Whatever a sink raises
changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import msgspec

from stanchion.kernel.actions import NAMES, PROCEEDS, Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, RunInfo
from stanchion.telemetry import loggers
from stanchion.telemetry.catalogue import (
    BYPASSES,
    EVENTS,
    OCCURRENCES,
    POLICY_LOADS,
    PROCESSES,
    RUNS,
    RUNS_ENDED,
    SINK_ERRORS,
    TICKETS,
    TRAIL_FAILURES,
    UNREADABLE,
)
from stanchion.telemetry.counting import Counting
from stanchion.telemetry.registry import FigureSum, Registry, Series

if TYPE_CHECKING:
    from stanchion.telemetry.alerts import Alerts, Orchestrator
    from stanchion.telemetry.folder import Publication
    from stanchion.telemetry.kinds import Occurrence


# What telemetry is told: of a decision and of a run, with names as they may be shown and nothing of
# what was said.

BROKEN: Final = frozenset(
    {
        "kernel.store_lost",
        "kernel.store_forgot",
        "kernel.audit_lost",
        "kernel.broker_lost",
        "kernel.done_unrecorded",
        "kernel.done_unsettled",
    }
)
"""Codes that say that the store or the trail cannot be used: operators have to look at it."""

LEVELS: Final = tuple(
    [
        loggers.DEBUG
        if action is Action.ALLOW
        else loggers.INFO
        if action < Action.ESCALATE
        else loggers.WARNING
        for action in Action
    ]
)
"""On which level a decision is logged, by its action."""


class ToldDecision(msgspec.Struct, frozen=True):
    """A decision as telemetry is told of it. `call` is the call that an outcome belongs to; `codes`
    are those of all findings, in order; `error` is the class of a failure; `parent` is the run that
    it works for. There are no arguments, texts and results in it. `key` and `of` tell which
    decision and which call it is; they may have secrets in them, and are not shown.
    """

    id: str
    run: str
    stage: str
    action: Action
    took_ns: int
    call: str = ""
    agent: str = ""
    task: str = ""
    tenant: str = ""
    tool: str = ""
    model: str = ""
    code: str = ""
    guard: str = ""
    codes: tuple[str, ...] = ()
    error: str = ""
    policy: str = ""
    part: int = 0
    parent: str = ""
    key: str = ""
    of: str = ""

    @property
    def proceeds(self) -> bool:
        """Whether it goes ahead."""
        return self.action <= PROCEEDS

    @property
    def level(self) -> int:
        """On which level it is logged."""
        return loggers.ERROR if self.code in BROKEN else LEVELS[self.action]

    @property
    def fields(self) -> dict[str, object]:
        """What is logged of it."""
        return {
            "action": NAMES[self.action],
            "stage": self.stage,
            "tool": self.tool,
            "code": self.code,
            "guard": self.guard,
            "agent": self.agent,
            "task": self.task,
            "tenant": self.tenant,
            "run": self.run,
            "decision": self.id,
            "call": self.call,
            "error": self.error,
            "took_us": self.took_ns // 1000,
        }


class ToldRun(msgspec.Struct, frozen=True):
    """A run as telemetry is told of it."""

    id: str
    agent: str = ""
    task: str = ""
    tenant: str = ""
    parent: str = ""


T = TypeVar("T")
ESCALATE: Final = Action.ESCALATE
ERROR: Final = loggers.ERROR
TICKET: Final = "ticket."
REFUSED: Final = "answer.refused"
REQUESTED: Final = "requested"
"""How a request to get past a guardrail is counted when it is made."""


Tally = tuple[Iterator[int], Callable[[int], None], Iterator[int]]
"""What counts decisions, notes how long they took, and counts what their guardrails said."""


class Sink(Protocol):
    """Hears of what a shield does, in the thread that does it: it has to be quick."""

    def decided(self, told: ToldDecision) -> None:
        """A decision was made and written down."""

    def run_entered(self, run: ToldRun) -> None:
        """A `with shield.run(...)` begins here."""

    def run_ended(self, run: ToldRun, code: str) -> None:
        """A run has ended: nothing of it proceeds any more. Where its `with` ends, this is told
        there, once more."""

    def call_left(self, call: str) -> None:
        """A call has ended whose outcome nobody judges: it was interrupted, or gave its last
        item."""

    def around(self, call: str, fn: Callable[..., Any]) -> Callable[..., Any]:
        """What is called in place of the tool or model of a call: the function itself, or one that
        does the same."""


class ShownWords(Protocol):
    """Says what happens in words that may be shown: without secrets in names."""

    def name(self, name: str) -> str: ...

    def decision(self, event: Event, decision: Decision, took_ns: int) -> ToldDecision: ...

    def run(self, run: RunInfo) -> ToldRun: ...

    def category(self, guardrail: str) -> str: ...


class Telemetry:
    """Tells the log, the figures and every sink what a shield does. Nothing that it calls can
    change a decision. Without a registry nothing is counted."""

    def __init__(self, words: ShownWords, registry: Registry | None = None) -> None:
        self.registry = registry
        self.sinks: tuple[Sink, ...] = ()
        self.state: list[Callable[[], Iterable[Series]]] = []
        """What is asked for how the store stands, whenever somebody collects the figures."""
        self._words = words
        self._counting = None if registry is None else Counting(registry, words.name)
        self.alerts: Alerts | None = None
        """Who watches for what has to be looked at; nobody where nothing is counted."""
        self._publication: Publication | None = None
        self._log: Any = None
        self._said: set[str] = set()
        if registry is not None:
            from stanchion.telemetry.guardrails import GuardrailFigures

            self._guardrails = GuardrailFigures(words.category)
            registry.beside.append(self._guardrails)

    def alert(self, tell: Callable[[Occurrence], None], clock: Callable[[], int]) -> None:
        """Have somebody hear of agents that are blocked too often, and so on; `clock` gives
        milliseconds since 1970."""
        if self.registry is None:
            return
        from stanchion.telemetry.alerts import Alerts

        self.alerts = Alerts(tell, clock, self._words.name)
        self.alerts.time_by(lambda: self._guardrails.times)
        self.registry.beside.append(self.alerts)

    def add(self, sink: Sink) -> None:
        """Have a sink told from now on."""
        self.sinks = (*self.sinks, sink)

    def publish_in(self, folder: Path | None) -> None:
        """Keep the figures in a folder, where others can read them."""
        if folder is not None and self.registry is not None and self._publication is None:
            from stanchion.telemetry.folder import Publication

            self._publication = Publication(
                self.registry, folder, lambda error: self.failed("publication", error)
            )
            if self.alerts is not None:
                self.alerts.folder = folder
                self._publication.also = self.settle

    def tally(self, event: Event, decision: Decision) -> Tally | None:
        """What counts decisions in which nothing was found about events as this one; `None` where
        they are counted one by one, or not at all. It counts in this process alone."""
        if self._counting is None or (alike := self._guardrails.alike(decision)) is None:
            return None
        return (*self._counting.cell_of(event, decision), alike.count)

    def decided(
        self, event: Event, decision: Decision, took_ns: int, tally: Tally | None = None
    ) -> None:
        """A decision was made, which its `tally` counts where it has one. This is on the way of
        every one."""
        try:
            if self._counting is not None:
                if tally is None:
                    self._counting.decided(event, decision, took_ns)
                    self._guardrails.judged(event, decision)
                else:
                    next(tally[0])
                    tally[1](took_ns)
                    next(tally[2])
                if self.alerts is not None:
                    self.alerts.decided(event, decision)
            log = self._log
            if log is None:
                if "logging" not in sys.modules:
                    if not self.sinks:
                        return
                else:
                    log = self._log = loggers.logger(loggers.DECISIONS)
            action = decision.action
            if self.sinks or (
                log is not None
                and loggers.enabled(log, LEVELS[action] if action < ESCALATE else ERROR)
            ):
                self._tell(event, decision, took_ns)
        except Exception as error:  # noqa: BLE001 - telemetry may fail, a decision stands
            self.failed("decisions", error)

    def _tell(self, event: Event, decision: Decision, took_ns: int) -> None:
        if not self.sinks and not loggers.listens(
            self._log, ERROR if decision.code in BROKEN else LEVELS[decision.action]
        ):
            return
        told = self._words.decision(event, decision, took_ns)
        loggers.say(loggers.DECISIONS, told.level, "decided", **told.fields)
        self._each(lambda sink: sink.decided(told))

    def run_began(self) -> None:
        """The first record of a run was written."""
        self.count(RUNS)

    def run_finished(self, code: str) -> None:
        """The last record of a run is written, with the code of why it ended."""
        self.count(RUNS_ENDED, code)

    def run_entered(self, run: RunInfo) -> None:
        """A `with shield.run(...)` begins in this context."""
        if self.sinks:
            self._run(run, lambda sink, told: sink.run_entered(told))

    def run_ended(self, run: RunInfo, code: str) -> None:
        """A run is closed; it may be closed more than once."""
        if self.sinks:
            self._run(run, lambda sink, told: sink.run_ended(told, code))

    def call_left(self, call: str) -> None:
        """A call has ended whose outcome nobody judges."""
        if self.sinks:
            self._each(lambda sink: sink.call_left(call))

    def around(self, call: str, fn: Callable[..., T]) -> Callable[..., T]:
        """What is called in place of a tool or a model."""
        if not self.sinks:
            return fn
        for sink in self.sinks:
            try:
                fn = sink.around(call, fn)
            except Exception as error:  # noqa: BLE001 - the tool runs as it is then
                self.failed(type(sink).__name__, error)
        return fn

    def happened(self, what: str, **fields: object) -> None:
        """Something was written to the trail that is no decision, by its name there."""
        try:
            self.count(EVENTS, what)
            if what.startswith(TICKET):
                self.count(TICKETS, what.removeprefix(TICKET))
            area = loggers.OF.get(what.partition(".")[0], loggers.EVENTS)
            loggers.say(area, loggers.WARNING if what == REFUSED else loggers.INFO, what, **fields)
        except Exception as error:  # noqa: BLE001 - telemetry may fail, what happened stands
            self.failed("events", error)

    def occurred(self, kind: str) -> None:
        """Operators are told of something of that kind."""
        self.count(OCCURRENCES, kind)

    def bypass(self, guardrail: str, outcome: str, run: RunInfo) -> None:
        """Somebody has asked in a run to get past a guardrail (`REQUESTED`), or what came of it is
        known."""
        try:
            self.count(BYPASSES, self._words.name(guardrail), outcome)
            if outcome == REQUESTED and self.alerts is not None:
                self.alerts.asked_past(run)
        except Exception as error:  # noqa: BLE001 - telemetry may fail, what was asked stands
            self.failed("bypasses", error)

    def orchestrated(self, run: RunInfo, above: Orchestrator) -> None:
        """A run begins that works for another one."""
        if self.alerts is not None:
            self.alerts.orchestrated(run, above)

    def settle(self, last: bool = False) -> None:
        """See whether an alert begins by what was counted so far, perhaps for the `last` time."""
        if self.alerts is not None:
            try:
                self.alerts.settle(last=last)
            except Exception as error:  # noqa: BLE001 - telemetry may fail, what is counted goes on
                self.failed("alerts", error)

    def trail_failed(self) -> None:
        """The trail did not take a record; why is logged by whoever knows it."""
        self.count(TRAIL_FAILURES)

    @contextmanager
    def loading(self, name: str) -> Iterator[None]:
        """A policy is loaded again within: it comes into force, or is refused and the old one
        stays."""
        try:
            yield
        except Exception as error:
            self._policy_loaded(name, error)
            raise
        self._policy_loaded(name, None)

    def _policy_loaded(self, name: str, error: Exception | None) -> None:
        self.count(POLICY_LOADS, "loaded" if error is None else "refused")
        with suppress(Exception):
            if error is None:
                loggers.say(loggers.POLICY, loggers.INFO, "policy loaded", policy=name)
            else:
                what = "a policy was refused, and the previous one stays in force"
                loggers.say(loggers.POLICY, loggers.ERROR, what, policy=name, why=error)

    def count(self, metric: Any, *labels: str) -> None:
        """Count once; nothing where nothing is counted."""
        if self.registry is None:
            return
        try:
            self.registry.count(metric, *labels)
        except Exception as error:  # noqa: BLE001 - telemetry may fail, what happened stands
            self.failed("metrics", error)

    def failed(self, sink: str, error: Exception) -> None:
        """Note that telemetry itself has failed: counted each time, logged once for each kind."""
        with suppress(Exception):
            if self.registry is not None:
                self.registry.count(SINK_ERRORS, sink)
        kind = f"{sink}:{type(error).__name__}"
        if kind not in self._said and len(self._said) < 100:
            self._said.add(kind)
            with suppress(Exception):
                what = "telemetry failed, and decisions continue without it"
                loggers.say(
                    loggers.TELEMETRY,
                    loggers.WARNING,
                    what,
                    sink=sink,
                    error=type(error).__name__,
                    why=error,
                )

    def collect(self) -> tuple[Series, ...]:
        """The figures of this process as they are now, with those of all others that publish in the
        same folder."""
        from stanchion.telemetry.folder import collect

        if self.registry is None:
            return ()
        publication = self._publication
        others = None if publication is None else collect(publication.folder, publication.name)
        total = FigureSum() if others is None else others.figures
        total.add(self.registry.figures())
        for ask in self.state:
            total.add(ask())
        total.add((Series(PROCESSES.name, (), (1 if others is None else others.alive + 1,)),))
        if others is not None and others.unreadable:
            total.add((Series(UNREADABLE.name, (), (others.unreadable,)),))
        return total.figures()

    def close(self) -> None:
        """Write the figures for the last time."""
        if self._publication is not None:
            self._publication.close()

    def _run(self, run: RunInfo, tell: Callable[[Sink, ToldRun], None]) -> None:
        try:
            told = self._words.run(run)
        except Exception as error:  # noqa: BLE001 - telemetry may fail, the run goes on
            self.failed("runs", error)
            return
        self._each(lambda sink: tell(sink, told))

    def _each(self, tell: Callable[[Sink], None]) -> None:
        for sink in self.sinks:
            try:
                tell(sink)
            except Exception as error:  # noqa: BLE001 - one sink may fail, the others are told
                self.failed(type(sink).__name__, error)
