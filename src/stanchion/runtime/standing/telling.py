"""Telling telemetry: what a shield tells of decisions and runs, in names as they may be shown, and
how it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

import msgspec

from stanchion.audit.anchors import is_moored
from stanchion.audit.open_trail import backlog_of
from stanchion.audit.trail import Trail
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, RunInfo
from stanchion.policy.veil import renamed
from stanchion.runtime.errors import NoTenant
from stanchion.runtime.standing.veil import hidden_by
from stanchion.telemetry.catalogue import (
    RULE_QUESTIONS,
    TRAIL_RECORDS,
    TRAIL_WAITING,
    UNSETTLED,
    UNWRITTEN,
)
from stanchion.telemetry.registry import Registry, Series
from stanchion.telemetry.sinks import Telemetry, Told, ToldRun

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

METRICS: Final = "STANCHION_METRICS"
KERNEL: Final = "kernel"
SWITCH: Final = {"": True, "on": True, "off": False}

_told_of: WeakSet[Any] = WeakSet()
"""Journals whose state somebody reports: shields of one process may share one."""


def telemetry_of(shield: Shield, metrics: bool | None, environ: Mapping[str, str]) -> Telemetry:
    """The telemetry of a shield; it counts unless `metrics` says that it does not, or
    `STANCHION_METRICS` does."""
    counts = switched(environ) if metrics is None else metrics
    registry = Registry() if counts else None
    if registry is not None:
        registry.gauges.append(lambda: _waiting(shield))
        if is_moored(shield.journal) and shield.journal not in _told_of:
            _told_of.add(shield.journal)
            registry.gauges.append(lambda: _trail(shield.journal))
    telemetry = Telemetry(ShownTelling(shield), registry)
    telemetry.state.append(lambda: _state(shield))
    telemetry.alert(shield.occurrences.tell, lambda: shield.clock())
    last = partial(telemetry.settle, last=True)
    shield.occurrences.subscribe(lambda one: telemetry.occurred(str(one.kind)), each=True, end=last)
    return telemetry


def _state(shield: Shield) -> Iterable[Series]:
    from stanchion.runtime.standing.state_figures import state_figures

    for one in _tenants(shield) if shield.policy.file.bypass.safety_responses else ():
        shield.tell_missed(one)
    return state_figures(shield.store, shield.policy, _tenants(shield))


def _tenants(shield: Shield) -> tuple[str, ...]:
    try:
        return (shield.tenant,)
    except NoTenant:
        return ()


def switched(environ: Mapping[str, str]) -> bool:
    """Whether processes count; `ValueError` where `STANCHION_METRICS` says neither."""
    said = environ.get(METRICS, "").strip().lower()
    if said not in SWITCH:
        raise ValueError(f"{METRICS} is `{said}`: set it to `on` or `off`, or not at all")
    return SWITCH[said]


class ShownTelling:
    """Words decisions and runs of a shield as they may be shown."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield

    def name(self, name: str) -> str:
        """A name without the secrets in it."""
        return self._shield.policy.veil.name(name)

    def category(self, guardrail: str) -> str:
        """The category of a guardrail of the policy in force; `kernel` for whatever else has
        blocked."""
        for seat in self._shield.policy.seats:
            if guardrail in (seat.placed.whole, seat.placed.id):
                return seat.placed.category.name.lower()
        return KERNEL

    def decision(self, event: Event, decision: Decision, took_ns: int) -> Told:
        """A decision, of which nothing that anybody said is told."""
        run, determining = event.run, decision.determining
        told = Told(
            id=decision.id,
            run=run.id,
            stage=str(event.stage),
            action=decision.action,
            took_ns=took_ns,
            call=event.call,
            agent=run.agent,
            task=run.task,
            tenant=run.tenant,
            tool=event.tool,
            model=getattr(event, "model", ""),
            code="" if determining is None else determining.code,
            guard="" if determining is None else determining.guard,
            codes=tuple([finding.code for finding in decision.findings]),
            error=getattr(event, "error", ""),
            policy=decision.policy,
            part=getattr(event, "part", 0),
            parent=run.parents[0] if run.parents else "",
        )
        shown = renamed(told, hidden_by(self._shield.policy.veil, event, decision))
        return msgspec.structs.replace(shown, key=decision.id, of=event.call)

    def run(self, run: RunInfo) -> ToldRun:
        """A run."""
        told = ToldRun(
            run.id, run.agent, run.task, run.tenant, run.parents[0] if run.parents else ""
        )
        return renamed(told, self._shield.policy.veil.of_run(run))


def _waiting(shield: Shield) -> Iterable[Series]:
    yield Series(UNWRITTEN.name, (), (len(shield.unwritten.waiting),))
    yield Series(UNSETTLED.name, (), (len(shield.unsettled.waiting),))
    for labels, number in shield.answers.counted().items():
        yield Series(RULE_QUESTIONS.name, labels, (number,))


def _trail(journal: Any) -> Iterable[Series]:
    if isinstance(journal, Trail):
        known = backlog_of(journal)
        yield Series(TRAIL_RECORDS.name, (), (known.written,))
        yield Series(TRAIL_WAITING.name, (), (known.waiting_bytes,))
