"""What guardrails said, counted. A decision costs one counter, however long its chain is: decisions
in which the same guards of the same chain said the same are counted together, and taken apart when
somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.telemetry.catalogue import BLOCKS, INVOCATIONS, OTHER, TRIGGERED
from stanchion.telemetry.figures import Series
from stanchion.telemetry.guardrail_times import GuardrailTimes
from stanchion.telemetry.registry import number

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


class Guardrails:
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
