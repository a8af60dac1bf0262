"""Judging shared lines: what they come to, and what is reserved for them."""

from __future__ import annotations

from typing import Final, NamedTuple

from stanchion.kernel.actions import PROCEEDS, STOPS
from stanchion.kernel.state import Batch, Line, When
from stanchion.stores.leasing.parts import Parted, Shared, Terms
from stanchion.stores.leasing.slices import Flow, Lending
from stanchion.stores.leasing.trip import Take, Trip


class LineOutcome(NamedTuple):
    """What a shared line came to: the value before, and the action."""

    value: int
    outcome: int


UNREACHED: Final = LineOutcome(0, 0)
"""What a line came to that an earlier one stops."""


def judge(lending: Lending, batch: Batch, parted: Parted, trip: Trip) -> Flow[tuple[int, ...]]:
    """Judge the shared lines as if no other line said anything: takers first, because those that
    only look at the same counter go by what the taker found."""
    judged: dict[int, LineOutcome] = {}
    passed: set[int] = set()
    stopped, going = False, batch.go
    for shared in parted.order:
        at, line, terms, taker = shared
        amount = batch.amounts[line.unit]
        if terms is not None and stopped:
            continue
        if terms is not None and amount and (line.when == When.JUDGED or going):
            judged[at], within = yield from _take(lending, trip, shared, terms, amount)
            if within:
                passed.add(at)
        else:
            value = (
                judged[taker].value
                if taker in judged
                else (yield from lending.known(line, trip.credit))
            )
            judged[at] = LineOutcome(value, _outcome(line, value + amount, taker in passed))
        if judged[at].outcome > batch.ceiling and not line.shadow and not line.follows:
            going, stopped = False, stopped or judged[at].outcome >= STOPS
    trip.values = {at: found.value for at, found in judged.items()}
    return tuple([judged.get(shared.at, UNREACHED).outcome for shared in parted.shared])


def _take(
    lending: Lending, trip: Trip, shared: Shared, terms: Terms, amount: int
) -> Flow[tuple[LineOutcome, bool]]:
    """Reserve for one line; also says whether that was within all limits. What is written all the
    same is counted whatever it exceeds."""
    line = shared.line
    lease, value, drawn = yield from lending.reserve(terms, amount, trip.credit)
    within = lease is not None
    outcome = _outcome(line, value + amount, within)
    if lease is None and (line.when == When.JUDGED or outcome <= trip.batch.ceiling):
        lease, _, drawn = yield from lending.reserve(terms.unbounded(), amount, {})
    if lease is not None:
        trip.takes.append(Take(shared.at, line, lease, amount, amount - drawn))
    return LineOutcome(value, outcome), within


def _outcome(line: Line, after: int, passed: bool) -> int:
    """The action of the highest band that is exceeded. Where enough was reserved, those that refuse
    are not."""
    outcome = 0
    for limit, action in line.bands:
        if after > limit and action > outcome and not (passed and action > PROCEEDS):
            outcome = int(action)
    return outcome
