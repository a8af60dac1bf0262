"""What guardrails said, counted. A decision costs one counter, however long its chain is: decisions
in which the same guards of the same chain said the same are counted together, and taken apart when
somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final

import msgspec

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.telemetry.catalogue import (
    BLOCKS,
    GUARDRAIL_MS,
    INVOCATIONS,
    OTHER,
    TRIGGERED,
)
from stanchion.telemetry.notices.message import when
from stanchion.telemetry.registry import MOST_SERIES, Histogram, Series, number

# How long guardrails took: of the first decisions of a process, and then of some of them. Decisions
# leave their times behind, and they are added up when somebody asks.

FIRST: Final = 64
ONE_IN: Final = 7
"""Of so many decisions the times are kept, and from then on of every seventh: to keep them all
would cost each decision as much as all that is counted of it otherwise. Calls and results
alternate, so the number is odd."""
MS: Final = 1_000_000
"""Nanoseconds in the unit of these times."""

Took = tuple[tuple[str, int], ...]
"""Guards with how long each took, in nanoseconds."""


class GuardrailTimes:
    """Counts how long guardrails took, as a histogram of each."""

    def __init__(self) -> None:
        self._decisions = count(1)
        self._known: dict[str, Histogram] = {}

    def took(self, took: Took, wholes: dict[str, str] | None) -> None:
        """Keep the times of one decision. `wholes` says which guards are parts of which guardrail,
        where any are: they take their times together."""
        seen = next(self._decisions)
        if seen > FIRST and seen % ONE_IN:
            return
        joint: dict[str, int] = {}
        for guard, ns in took:
            whole = guard if wholes is None else wholes.get(guard, guard)
            joint[whole] = joint.get(whole, 0) + ns
        for whole, ns in joint.items():
            one = self._known.get(whole)
            if one is None:
                if len(self._known) >= MOST_SERIES:
                    continue
                one = self._known.setdefault(whole, Histogram(GUARDRAIL_MS, MS))
            one.observe(ns)

    def totals(self) -> dict[str, tuple[int, int]]:
        """How long each guardrail took in all, in nanoseconds, and how often that was measured."""
        return {name: one.totals() for name, one in list(self._known.items())}

    def figures(self) -> Iterator[Series]:
        """The histograms."""
        for name, one in list(self._known.items()):
            yield Series(GUARDRAIL_MS.name, (name,), one.values())


# The state of guardrails while they are in use: how often each was reached, what it said, and when
# it last spoke.


class GuardrailState(msgspec.Struct, frozen=True, omit_defaults=True):
    """One guardrail: whether the policy has it on, how often it was reached and what it said, over
    all processes.

    `avg_duration_ms` is absent where nobody has measured it (`durations: true` in the policy does),
    `last_triggered` where it has only passed: that is when it last warned, escalated or blocked, by
    ISO 8601.
    """

    guardrail_id: str
    enabled: bool
    invocation_count: int
    pass_count: int
    warn_count: int
    block_count: int
    escalate_count: int
    avg_duration_ms: float | None = None
    last_triggered: str | None = None


def states(figures: Iterable[Series], enabled: Mapping[str, bool]) -> tuple[GuardrailState, ...]:
    """The state of every guardrail that is named in `enabled`, in that order, then of those that
    only figures know: they were in a policy before."""
    said: dict[str, dict[str, int]] = {}
    took: dict[str, tuple[float, ...]] = {}
    last: dict[str, float] = {}
    for one in figures:
        match one.metric:
            case INVOCATIONS.name:
                guardrail, result = one.labels
                said.setdefault(guardrail, {})[result] = int(one.values[0])
            case GUARDRAIL_MS.name:
                took[one.labels[0]] = one.values
            case TRIGGERED.name:
                last[one.labels[0]] = one.values[0]
    names = dict.fromkeys([*enabled, *sorted(said)])
    return tuple(
        [
            _state(
                name, enabled.get(name, False), said.get(name, {}), took.get(name), last.get(name)
            )
            for name in names
            if name != OTHER or name in enabled
        ]
    )


def _state(
    name: str,
    enabled: bool,
    said: dict[str, int],
    took: tuple[float, ...] | None,
    last: float | None,
) -> GuardrailState:
    times = 0 if took is None else sum(took[1:])
    return GuardrailState(
        guardrail_id=name,
        enabled=enabled,
        invocation_count=sum(said.values()),
        pass_count=said.get("pass", 0),
        warn_count=said.get("warn", 0),
        block_count=said.get("block", 0),
        escalate_count=said.get("escalate", 0),
        avg_duration_ms=round(took[0] / times, 6) if took is not None and times else None,
        last_triggered=None if last is None else when(round(last * 1_000)),
    )


PASS: Final = "pass"
BLOCK: Final = "block"
MOST_ALIKE: Final = 4_096
"""How many kinds of decisions are told apart. What comes after them is counted guardrail by
guardrail."""
MOST_GUARDRAILS: Final = 400
"""How many guardrails that is done for; more of them are `other`."""

Said = tuple[tuple[str, str], ...]
"""Guardrails with what each said."""


class Alike:
    """Decisions in which every guardrail said the same: how many there were, and when the last
    was."""

    __slots__ = ("blocked", "count", "last_ms", "said", "wholes")

    def __init__(self, said: Said, blocked: tuple[str, ...], wholes: dict[str, str] | None) -> None:
        self.said = said
        self.blocked = blocked
        """The categories of those that blocked."""
        self.wholes = wholes
        """Which guards are parts of which guardrail; `None` where each is one of its own."""
        self.count = count()
        self.last_ms = 0


class GuardrailFigures:
    """Counts what the guardrails of decisions said, and how long they took. `category` gives that
    of a guardrail."""

    def __init__(self, category: Callable[[str], str]) -> None:
        self._category = category
        self.forked()

    def forked(self) -> None:
        """Begin anew."""
        self.times = GuardrailTimes()
        self._known: dict[Any, Alike] = {}
        self._at_hand: dict[Any, tuple[Alike, Any]] = {}

    def judged(self, event: Event, decision: Decision) -> None:
        """Count one decision. It is on the way of every one, so what is known is one look-up, by
        the chain itself and not by what is in it."""
        alike = self.alike(decision)
        if alike is None:
            self._apart(event, decision)
            return
        next(alike.count)
        if decision.findings:
            alike.last_ms = event.at
        took_ns = decision.trace.took_ns
        if took_ns is not None:
            self.times.took(took_ns, alike.wholes)

    def alike(self, decision: Decision) -> Alike | None:
        """The decisions that this one is like; `None` where too many kinds are known."""
        findings = decision.findings
        key: Any = id(decision.trace.chain)
        if findings:
            key = (
                key,
                tuple([(finding.guard, finding.action) for finding in findings]),
                len(decision.skipped),
            )
        known = self._at_hand.get(key)
        return self._alike(key, decision) if known is None else known[0]

    def _alike(self, key: Any, decision: Decision) -> Alike | None:
        """Those which this decision is like; `None` where too many kinds are known. The chain is
        kept with them: its address must not become that of another."""
        chain = decision.trace.chain
        value = (chain, key[1:] if decision.findings else ())
        alike = self._known.get(value)
        if alike is None:
            if len(self._known) >= MOST_ALIKE:
                return None
            alike = self._known.setdefault(value, self._made(_said(decision), _wholes(chain)))
        if len(self._at_hand) >= 2 * MOST_ALIKE:
            self._at_hand = {}
        self._at_hand[key] = (alike, chain)
        return alike

    def _made(self, said: Said, wholes: dict[str, str] | None = None) -> Alike:
        return Alike(
            said,
            tuple([self._category(guard) for guard, result in said if result == BLOCK]),
            wholes,
        )

    def _apart(self, event: Event, decision: Decision) -> None:
        """Count each guardrail of a decision by itself."""
        for one in _said(decision):
            if one not in self._known and len(self._known) >= MOST_ALIKE + 4 * MOST_GUARDRAILS:
                one = (OTHER, one[1])
            alike = self._known.get(one)
            if alike is None:
                alike = self._known.setdefault(one, self._made((one,)))
            next(alike.count)
            alike.last_ms = event.at
        if decision.trace.took_ns is not None:
            self.times.took(decision.trace.took_ns, _wholes(decision.trace.chain))

    def figures(self) -> Iterator[Series]:
        """What was counted so far."""
        said: Counter[tuple[str, str]] = Counter()
        blocked: Counter[str] = Counter()
        last: dict[str, int] = {}
        for alike in list(self._known.values()):
            times = number(alike.count)
            for one in alike.said:
                said[one] += times
                if one[1] != PASS:
                    last[one[0]] = max(last.get(one[0], 0), alike.last_ms)
            for category in alike.blocked:
                blocked[category] += times
        for labels, times in said.items():
            yield Series(INVOCATIONS.name, labels, (times,))
        yield from self.times.figures()
        for category, times in blocked.items():
            yield Series(BLOCKS.name, (category,), (times,))
        for guardrail, at_ms in last.items():
            yield Series(TRIGGERED.name, (guardrail,), (at_ms / 1_000,))


def _said(decision: Decision) -> Said:
    if not decision.findings:
        return tuple(
            [(whole, PASS) for whole in dict.fromkeys([whole for _, whole in decision.trace.chain])]
        )
    return tuple([(one.guardrail_id, one.result) for one in decision.chain_result().details])


def _wholes(chain: tuple[tuple[str, str], ...]) -> dict[str, str] | None:
    """Of which guardrail guards are parts, where it has several; `None` where none has."""
    members = Counter([whole for _, whole in chain])
    joint = {guard: whole for guard, whole in chain if members[whole] > 1 or guard != whole}
    return joint if joint else None
