"""Carrying out a batch with shared lines: reserve for them, send the rest to the store, keep or
give back."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

import msgspec

from stanchion.kernel.actions import PROCEEDS, STOPS
from stanchion.kernel.state import (
    CLOCK,
    FOREVER,
    IDLE,
    Batch,
    Crowded,
    Line,
    Reply,
    StoreLost,
    When,
)
from stanchion.kernel.units import Amounts
from stanchion.stores.leasing.lease import Lease, LeaseTerms, Parted, Parting, Shared
from stanchion.stores.leasing.slices import TRIES, Flow, Lending

# A trip: a tenant's batch on its way to the store, with what was reserved for its shared lines
# beforehand.


class LeasedPart(NamedTuple):
    """What is reserved of a lease."""

    lease: Lease
    amount: int


class LeasedHold(NamedTuple):
    """What a batch reserved that is still to be settled, and when that is late."""

    parts: list[LeasedPart]
    due: int


class Take(NamedTuple):
    """What one shared line reserved; `own` is what did not come from holds that the same batch
    settles."""

    at: int
    line: Line
    lease: Lease
    amount: int
    own: int


class SettledHold(NamedTuple):
    """A hold that a batch settles, the place of that among its settles, and the actual amounts.
    `doubt` is the trip that made the hold, where it is not known whether that arrived."""

    at: int
    id: str
    actual: Amounts | None
    held: LeasedHold
    doubt: BatchTrip | None = None

    def used(self, part: LeasedPart) -> int:
        """What was really used of a part."""
        return 0 if self.actual is None else self.actual[part.lease.terms.unit]


class BatchTrip:
    """What has to be undone if the batch turns out not to have been carried out."""

    __slots__ = ("batch", "claims", "credit", "extra", "takes", "values")

    def __init__(self, batch: Batch, claims: list[SettledHold]) -> None:
        self.batch = batch
        self.claims = claims
        self.takes: list[Take] = []
        self.extra: list[LeasedPart] = []
        self.values: dict[int, int] = {}
        self.credit: dict[Lease, int] = {}
        for claim in claims:
            for part in claim.held.parts if claim.doubt is None else ():
                freed = max(0, part.amount - claim.used(part))
                self.credit[part.lease] = self.credit.get(part.lease, 0) + freed

    @property
    def until(self) -> int:
        """The store's time until which what was reserved can be spent: the end of a window's
        bucket."""
        return min([take.lease.until for take in self.takes], default=FOREVER)

    def held(self) -> list[LeasedPart]:
        """What it holds if it was carried out and nothing was refused."""
        return [LeasedPart(take.lease, take.amount) for take in self.takes if take.line.hold_ms]

    def undo(self) -> None:
        """Let go of everything: it was not carried out."""
        for take in self.takes:
            take.lease.give(take.own)
        for lease, amount in self.extra:
            lease.give(amount)

    def write_off(self) -> None:
        """Leave everything charged: nobody will ever know."""
        for take in self.takes:
            take.lease.open -= take.own
        for lease, amount in self.extra:
            lease.open -= amount
        for claim in self.claims:
            if claim.doubt is not None:
                claim.doubt.write_off()
                continue
            for lease, amount in claim.held.parts:
                lease.open -= amount


class LineOutcome(NamedTuple):
    """What a shared line came to: the value before, and the action."""

    value: int
    outcome: int


UNREACHED: Final = LineOutcome(0, 0)
"""What a line came to that an earlier one stops."""


def judge(lending: Lending, batch: Batch, parted: Parted, trip: BatchTrip) -> Flow[tuple[int, ...]]:
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
    lending: Lending, trip: BatchTrip, shared: Shared, terms: LeaseTerms, amount: int
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


MOST_HELD: Final = 65_536
"""How many batches that are still to be settled are remembered; the oldest is charged at its
estimate for good."""
MOST_KNOWN: Final = 8_192
"""How many answers are remembered, and how many batches whose answer did not come."""


class LeasedCarrying:
    """What one process knows of its batches with shared lines."""

    def __init__(self, lending: Lending) -> None:
        self._lending = lending
        self._parting = Parting()
        self._held: OrderedDict[str, LeasedHold] = OrderedDict()
        self._doubt: OrderedDict[str, BatchTrip] = OrderedDict()
        self._replies: OrderedDict[str, Reply] = OrderedDict()

    def concerns(self, batch: Batch) -> bool:
        """Whether a batch has shared lines, had some when it came first, or settles something that
        is held here."""
        if self._parting.part(batch.tenant, batch.lines).shared or batch.id in self._replies:
            return True
        return any(hold in self._held or hold in self._doubt for hold, _ in batch.settles)

    def carry(self, batch: Batch) -> Flow[Reply]:
        """Carry a batch out; one that was carried out before gets its first answer."""
        with self._lending.lock:
            known, trip = self._replies.get(batch.id), self._doubt.pop(batch.id, None)
        if known is not None:
            return known
        was_sent = trip is not None
        for _ in range(TRIES):
            if trip is None:
                trip = yield from self._prepare(batch)
            try:
                reply: Reply = yield trip.batch
            except BaseException as error:
                with self._lending.lock:
                    if isinstance(error, Crowded) and not was_sent:
                        self._undo(trip)
                        raise
                    self._doubt[batch.id] = trip
                    if len(self._doubt) > MOST_KNOWN:
                        self._doubt.popitem(last=False)[1].write_off()
                raise
            if not reply.stale and len(reply.values) == len(batch.lines):
                with self._lending.lock:
                    answer = self._finish(batch, trip, reply)
                    over = {
                        part.lease
                        for claim in trip.claims
                        for part in claim.held.parts
                        if part.lease.overflows
                    }
                for lease in over:
                    yield from self._lending.returned(lease)
                return answer
            with self._lending.lock:
                late = reply.now >= trip.until
                self._undo(trip)
                for lease in {take.lease for take in trip.takes if take.lease.until <= reply.now}:
                    self._lending.pass_on(lease)
            if not reply.stale:
                return reply
            fresh = reply.fresh[:-1] if late else reply.fresh
            if fresh or not late:
                return msgspec.structs.replace(reply, fresh=fresh)
            trip = None
        raise StoreLost(
            f"the window of a fleet-wide counter moved on {TRIES} times in the meantime: give it a "
            f"longer window"
        )

    def _prepare(self, batch: Batch) -> Flow[BatchTrip]:
        """Reserve what a batch needs, and make what is sent of it."""
        with self._lending.lock:
            trip = BatchTrip(batch, self._claims(batch))
        try:
            for claim in trip.claims:
                yield from self._exceed(trip, claim)
            parted = self._parting.part(batch.tenant, batch.lines)
            outcomes = yield from judge(self._lending, batch, parted, trip)
        except BaseException:
            with self._lending.lock:
                self._undo(trip)
            raise
        if parted.shared:
            until, expects = trip.until, batch.expects
            if until < FOREVER:
                expects = (*expects, (CLOCK, 0, until))
            lines = parted.judged(outcomes)
            rest = (batch.amounts, batch.puts, batch.ceiling)
            trip.batch = Batch(
                batch.id, batch.tenant, batch.go, expects, batch.settles, lines, *rest
            )
        return trip

    def _claims(self, batch: Batch) -> list[SettledHold]:
        """The holds of this process that a batch settles; nobody else can settle them meanwhile."""
        claims: list[SettledHold] = []
        for at, (hold, actual) in enumerate(batch.settles):
            held, doubt = self._held.pop(hold, None), self._doubt.pop(hold, None)
            if held is not None:
                claims.append(SettledHold(at, hold, actual, held))
            elif doubt is not None:
                claims.append(SettledHold(at, hold, actual, LeasedHold(doubt.held(), 0), doubt))
        return claims

    def _exceed(self, trip: BatchTrip, claim: SettledHold) -> Flow[None]:
        """Reserve what was used beyond what had been reserved: it is spent already, so nothing
        bounds it."""
        for part in claim.held.parts:
            more = claim.used(part) - part.amount
            with self._lending.lock:
                some = min(more, part.lease.free)
                if some > 0:
                    part.lease.take(some)
                    trip.extra.append(LeasedPart(part.lease, some))
            if more > some:
                left, terms = more - max(0, some), part.lease.terms.unbounded()
                lease, _, _ = yield from self._lending.reserve(terms, left, {})
                assert lease is not None
                trip.extra.append(LeasedPart(lease, left))

    def _finish(self, batch: Batch, trip: BatchTrip, reply: Reply) -> Reply:
        """Keep what the lines took, give back the rest, and give the reply as one store would."""
        said = reply.actions
        words = list(reply.settled)
        for claim in trip.claims:
            if claim.doubt is None and words[claim.at] not in ("settled", "late"):
                words[claim.at] = "settled" if reply.now < claim.held.due else "late"
            self._close(claim, words[claim.at] != "unknown")
        for lease, amount in trip.extra:
            lease.open -= amount
        refused = {
            line.shadow
            for line, action in zip(batch.lines, said, strict=False)
            if action > batch.ceiling
        }
        parts: list[LeasedPart] = []
        longest = 0
        for at, line, lease, amount, own in trip.takes:
            lease.take(amount - own)
            if not _took(
                line, said[at] if said else IDLE if line.follows else 0, reply.go, refused
            ):
                lease.give(amount)
            elif line.hold_ms:
                parts.append(LeasedPart(lease, amount))
                longest = max(longest, line.hold_ms)
            else:
                lease.open -= amount
        if parts:
            self._held[batch.id] = LeasedHold(parts, reply.now + longest)
            if len(self._held) > MOST_HELD:
                for lease, amount in self._held.popitem(last=False)[1].parts:
                    lease.open -= amount
        values = list(reply.values)
        for at, value in trip.values.items():
            if said[at] >= 0 if said else not batch.lines[at].follows:
                values[at] = value
        answer = Reply(reply.now, False, reply.go, tuple(values), said, tuple(words))
        self._replies[batch.id] = answer
        if len(self._replies) > MOST_KNOWN:
            self._replies.popitem(last=False)
        return answer

    def _close(self, claim: SettledHold, arrived: bool) -> None:
        """Settle a hold with what was used; one whose batch never arrived took nothing."""
        if claim.doubt is not None:
            self._undo(claim.doubt) if not arrived else self._assume(claim.doubt)
        if claim.doubt is None or arrived:
            for part in claim.held.parts:
                part.lease.open -= part.amount
                part.lease.free += max(0, part.amount - claim.used(part))

    def _assume(self, trip: BatchTrip) -> None:
        """A batch did arrive whose answer was lost: what it took is taken, and what it settled is
        settled."""
        for claim in trip.claims:
            self._close(claim, True)
        for take in trip.takes:
            take.lease.take(take.amount - take.own)
            if not take.line.hold_ms:
                take.lease.open -= take.amount
        for lease, amount in trip.extra:
            lease.open -= amount

    def _undo(self, trip: BatchTrip) -> None:
        """A batch was not carried out: what it reserved is free, and what it would have settled is
        held."""
        trip.undo()
        for claim in trip.claims:
            if claim.doubt is None:
                self._held[claim.id] = claim.held
            else:
                self._doubt[claim.id] = claim.doubt


def _took(line: Line, outcome: int, go: bool, refused: set[int]) -> bool:
    return outcome >= 0 and (line.when == When.JUDGED or (go and line.shadow not in refused))
