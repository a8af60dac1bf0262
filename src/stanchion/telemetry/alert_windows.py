"""Windows of time that alerts are judged by: what occurred lately, when that is too much, and when
it is over. There is no clock here: whoever asks gives the time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from stanchion.telemetry.kinds import Kind

SLOTS: Final = 60
"""Into how many parts a window is divided: what is in the oldest leaves it at once."""
MOST: Final = 500
"""How many windows are kept; of more, those leave first in which nothing has occurred for
longest."""


class Rule(msgspec.Struct, frozen=True):
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


RULES: Final[dict[Kind, Rule]] = {
    Kind.HIGH_BLOCK_RATE: Rule(600_000, least=10, above=0.3, until=0.2, rate=True),
    Kind.BYPASS_ABUSE: Rule(3_600_000, least=1, above=5, until=3, rate=False),
    Kind.GUARDRAIL_SLOW: Rule(600_000, least=10, above=500.0, until=400.0, rate=True),
}
"""The share of actions that were blocked, requests of one agent, and milliseconds of a
guardrail."""


class Fresh(NamedTuple):
    """What has occurred at about some time: events, and how much there is of what the alert is
    about."""

    at_ms: int
    kind: Kind
    tenant: str
    about: str
    events: int
    amount: float = 0


class Window(msgspec.Struct, frozen=True, array_like=True):
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


class Looked(NamedTuple):
    """The windows as they are now, and the alerts that begin."""

    windows: tuple[Window, ...]
    begun: tuple[Window, ...]


def looked(windows: Iterable[Window], fresh: Iterable[Fresh], now_ms: int) -> Looked:
    """Enter what has occurred, let go of what is too old, and see which alerts begin and which are
    over."""
    known = {(one.kind, one.tenant, one.about): one for one in windows}
    for one in fresh:
        key = (one.kind, one.tenant, one.about)
        known[key] = _entered(known.get(key, Window(*key, on=False)), one)
    begun: list[Window] = []
    kept: list[Window] = []
    for window in known.values():
        now = _now(window, now_ms)
        if now.on and not window.on:
            begun.append(now)
        if now.on or now.slots:
            kept.append(now)
    kept.sort(
        key=lambda one: (one.on, one.slots[-1][0] * RULES[one.kind].slot_ms if one.slots else 0)
    )
    return Looked(tuple(kept[-MOST:]), tuple(begun))


def _entered(window: Window, fresh: Fresh) -> Window:
    slot = fresh.at_ms // RULES[window.kind].slot_ms
    before = {number: (events, amount) for number, events, amount in window.slots}
    events, amount = before.get(slot, (0, 0))
    before[slot] = (events + fresh.events, amount + fresh.amount)
    return msgspec.structs.replace(
        window, slots=tuple([(number, *before[number]) for number in sorted(before)])
    )


def _now(window: Window, now_ms: int) -> Window:
    """A window without what is too old, or too new because a clock was set back, and whether its
    alert lasts."""
    rule = RULES[window.kind]
    last = now_ms // rule.slot_ms
    recent = tuple([one for one in window.slots if last - SLOTS <= one[0] <= last + SLOTS])
    now = msgspec.structs.replace(window, slots=recent)
    value = now.value
    on = value > rule.until if window.on else value > rule.above and now.events >= rule.least
    return msgspec.structs.replace(now, on=on)
