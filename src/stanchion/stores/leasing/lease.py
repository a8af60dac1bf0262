"""A lease: what one process has taken of a fleet-wide counter, in slices, and what of it is not
spent yet."""

from __future__ import annotations

from typing import Final, NamedTuple

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import BUCKETS, FOREVER, IDLE_S, Batch, Line, Settle, When, key
from stanchion.kernel.units import Amounts, Unit

# How slices are named: the process that holds them, its sign of life, and the pool that bounds all
# of them.

_SLICE: Final = "lease-"

POOLS: Final = tuple([shadow + key(FLEET, "lent") for shadow in ("", "~")])
"""How the keys of pools begin."""


def slice_prefix(lender: str) -> str:
    """What the ids of the slices of a process begin with."""
    return f"{_SLICE}{lender}-"


def is_slice(hold_id: str) -> bool:
    """Whether a hold is a slice of a counter of the whole fleet."""
    return hold_id.startswith(_SLICE) and hold_id.count("-") == 2


def lender_of(hold_id: str) -> str:
    """The process that holds a slice."""
    return hold_id.split("-")[1]


def lender_key(lender: str) -> str:
    """The counter that a process touches while it holds slices: its sign of life."""
    return key(FLEET, "lender", lender)


def pool_key(counter: str) -> str:
    """The counter of what all processes together hold of a counter and have not asked for yet to
    spend it."""
    shadow, tag = ("~", counter[1:]) if counter.startswith("~") else ("", counter)
    rest = tag.removeprefix(key(FLEET))
    return f"{shadow}{key(FLEET, 'lent')}:{rest}"


# Parting a batch: which lines count for the whole fleet, and what stands in their place in the
# tenant's batch.

TAGS: Final = (key(FLEET), "~" + key(FLEET))
"""How the keys begin that all tenants share, those of guards in shadow mode included."""

MOST_KNOWN: Final = 4_096
"""How many tuples of lines, and how many outcomes of each, are remembered at the most."""

ALWAYS: Final = -FOREVER
"""A limit that every number is above."""

Bands = tuple[tuple[int, Action], ...]


class LeaseTerms(NamedTuple):
    """On which terms slices of a counter are taken: `bands` are those that refuse, `reach` is as
    far as slices may get ahead of what was asked for."""

    key: str
    unit: int
    bands: Bands
    reach: int
    window_ms: int
    idle_s: int

    def unbounded(self) -> LeaseTerms:
        """The same for what has to be counted whatever it exceeds: never more than asked for."""
        return self._replace(bands=(), reach=0)


class Shared(NamedTuple):
    """A line that counts for the whole fleet, with its place. One that only looks has the place of
    the line that takes from the same counter, if there is one, and no terms."""

    at: int
    line: Line
    terms: LeaseTerms | None
    taker: int


class Parted:
    """A batch's lines, parted once for each tuple of lines: a plan's are always the same."""

    __slots__ = ("_made", "_stand_in", "lines", "order", "shared", "tenant")

    def __init__(self, tenant: str, lines: tuple[Line, ...]) -> None:
        self.tenant = tenant
        self.lines = lines
        found = (
            [(at, line) for at, line in enumerate(lines) if _is_shared(line)]
            if tenant != FLEET
            else []
        )
        takers = {_place(line): at for at, line in reversed(found) if line.when != When.LOOK}
        self.shared = tuple([_shared(at, line, found, takers) for at, line in found])
        self.order = sorted(self.shared, key=lambda one: one.terms is None)
        self._stand_in = key(tenant, "lease")
        self._made: dict[tuple[int, ...], tuple[Line, ...]] = {}

    def judged(self, outcomes: tuple[int, ...]) -> tuple[Line, ...]:
        """The lines for the tenant's own batch: where a shared line stood, one that looks and says
        what that came to.

        So the store works out by itself what is stopped, skipped, idle and written, and every other
        line keeps its place.
        """
        made = self._made.get(outcomes)
        if made is None:
            if len(self._made) >= MOST_KNOWN:
                self._made.clear()
            lines = list(self.lines)
            for (at, line, _, _), outcome in zip(self.shared, outcomes, strict=True):
                bands = ((ALWAYS, Action(outcome)),) if outcome > 0 else ()
                lines[at] = Line(
                    self._stand_in, bands, when=When.LOOK, follows=line.follows, shadow=line.shadow
                )
            made = self._made[outcomes] = tuple(lines)
        return made


class Parting:
    """Parts batches, and remembers how."""

    def __init__(self) -> None:
        self._parted: dict[int, Parted] = {}

    def part(self, tenant: str, lines: tuple[Line, ...]) -> Parted:
        """A batch's lines as they are parted."""
        parted = self._parted.get(id(lines))
        if parted is None or parted.lines is not lines or parted.tenant != tenant:
            if len(self._parted) >= MOST_KNOWN:
                self._parted.clear()
            parted = self._parted[id(lines)] = Parted(tenant, lines)
        return parted


def _is_shared(line: Line) -> bool:
    """Whether a line is reached by lease. A permit is not, because it has to come back by itself
    when its time is over; nor is a register, of which there are no parts."""
    return line.key.startswith(TAGS) and (line.keep or not line.hold_ms) and not line.bits


def _place(line: Line) -> tuple[str, int, int]:
    return line.key, line.unit, line.shadow


def _shared(
    at: int, line: Line, found: list[tuple[int, Line]], takers: dict[tuple[str, int, int], int]
) -> Shared:
    if line.when == When.LOOK:
        return Shared(at, line, None, takers.get(_place(line), -1))
    beside = [other for _, other in found if _place(other) == _place(line) and not other.follows]
    bands = [*line.bands, *[band for other in beside for band in other.bands]]
    refusing = tuple(sorted({(limit, action) for limit, action in bands if action > PROCEEDS}))
    reach = min(
        [limit for limit, _ in refusing], default=max([limit for limit, _ in bands], default=0)
    )
    return Shared(
        at, line, LeaseTerms(line.key, line.unit, refusing, reach, line.window_ms, line.idle_s), at
    )


SHARE: Final = 8
"""A slice is at most this part of what is left of a counter, so that slices shrink near its end."""

POOL: Final = 100
"""All slices of a counter together hold at most this part of its limit beyond what is asked for at
once: so much is held back at the most when every process that has one is killed."""

PART: Final = 4
"""A slice takes at most this part of what is left in the pool."""

LEASE_MS: Final = 30_000
"""How long a slice can be spent, by the store's clock, after the last one that its process took."""

HOLD_MS: Final = 3_600_000
"""How long a slice is held; after that it stays charged until it is settled."""


class Back(NamedTuple):
    """A batch that gives back what is `free`, and what was `pooled`; `again` is what it takes anew,
    for reservations that are still open."""

    batch: Batch
    again: int
    free: int
    pooled: int


class Lease:
    """Slices of one counter on the same terms, in one bucket of its window if it has one.

    `holds` are the slices with their sizes, the oldest first. `free` is what nobody has reserved,
    `open` what is reserved and may yet come back; what the holds have beyond that is spent. Whoever
    uses it has a lock.
    """

    __slots__ = (
        "_again", "_asks", "_exactly", "_lender", "_pooled", "_size", "asked", "at", "back", "free",
        "holds", "limit", "lost", "open", "pool", "stuck", "terms", "until",
    )  # fmt: skip

    def __init__(self, terms: LeaseTerms, lender: str, size: int = 0) -> None:
        self.terms = terms
        self._lender = lender
        self.pool = terms.reach // POOL
        self.limit = min([limit for limit, _ in terms.bands], default=FOREVER)
        line = Line(
            terms.key,
            terms.bands,
            terms.unit,
            hold_ms=HOLD_MS,
            window_ms=terms.window_ms,
            idle_s=terms.idle_s,
        )
        beat = beating(lender, terms.unit)
        looks = Line(
            pool_key(terms.key),
            unit=_beside(terms.unit),
            when=When.LOOK,
            # It slides with its counter, and forgets after a week what nobody settles or releases.
            window_ms=terms.window_ms if terms.window_ms else IDLE_S * 1000 // BUCKETS * BUCKETS,
        )
        takes = looks._replace(
            bands=((self.pool, Action.BLOCK),), when=When.PROCEED, hold_ms=HOLD_MS
        )
        self._asks = (line, takes, beat)
        self._exactly = (line, looks, beat)
        self._again = (line._replace(bands=()), beat)
        self._size = size
        self.free = 0
        self.open = 0
        self.holds: dict[str, int] = {}
        self._pooled: dict[str, int] = {}
        self.lost: set[str] = set()
        self.until = FOREVER
        self.at = 0.0
        self.back: Back | None = None
        self.stuck = False
        self.asked = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to give back and nothing to wait for."""
        return (
            not (self.free or self.open or self.holds or self.lost or self.asked)
            and self.back is None
        )

    @property
    def idle(self) -> bool:
        """Whether something is charged that nobody has reserved."""
        return self.free > 0 or bool(self.lost) or self.stuck

    @property
    def overflows(self) -> bool:
        """Whether more is free than it has of the pool: what calls did not use of their estimates
        came on top."""
        return self.free > sum(self._pooled.values())

    def crowds(self, lent: int) -> bool:
        """Whether slices that are reserved, and so cannot be closed, take more of the pool than is
        left in it: they are better taken anew, as no more than what is reserved."""
        if self.terms.window_ms or self.back is not None or self.free > self.open:
            return False
        return sum(self._pooled.values()) > self.pool - lent

    def take(self, amount: int) -> None:
        """Reserve what is free."""
        self.free -= amount
        self.open += amount

    def give(self, amount: int) -> None:
        """Let go of what was reserved."""
        self.open -= amount
        self.free += amount

    def asking(
        self, batch_id: str, need: int, total: int | None, lent: int, exactly: bool
    ) -> Batch:
        """The batch that takes another slice: twice as much as the last time if there is enough of
        it, and of what all processes may hold together, of which `lent` was taken when last seen.

        It also closes slices that are spent, and those of which it is not known whether they were
        taken.
        """
        room = 0 if total is None or exactly else (self.terms.reach - total) // SHARE
        settles: list[Settle] = [(hold, None) for hold in self.lost]
        spent = 0 if self.back is not None else sum(self.holds.values()) - self.free - self.open
        for hold, size in self.holds.items():
            if size > spent:
                break
            spent -= size
            settles.append((hold, self._vector(size)))
        more = max(0, min(min(self._size, room) - need, (self.pool - lent) // PART))
        self.asked += 1
        lines, amounts = self._asks if more else self._exactly, self._vector(need + more, more)
        return Batch(batch_id, FLEET, settles=tuple(settles), lines=lines, amounts=amounts)

    def answered(self, batch: Batch) -> None:
        """Enter that there was an answer: slices were closed, whether or not there was another
        one."""
        self.asked -= 1
        for hold, _ in batch.settles:
            self.holds.pop(hold, None)
            self._pooled.pop(hold, None)
            self.lost.discard(hold)

    def unanswered(self, batch: Batch, sent: bool) -> None:
        """Enter that it is not known whether a slice was taken; what was not even sent has taken
        none."""
        self.asked -= 1
        if sent:
            self.lost.add(batch.id)

    def enter(self, batch: Batch, now: int, at: float) -> None:
        """Enter another slice."""
        amount = batch.amounts[self.terms.unit]
        self.holds[batch.id] = amount
        self._pooled[batch.id] = batch.amounts[_beside(self.terms.unit)]
        self.free += amount
        self._size = 2 * amount
        self.at = at
        self.until = now + LEASE_MS
        if self.terms.window_ms:
            width = self.terms.window_ms // BUCKETS
            self.until = min(self.until, (now // width + 1) * width)

    def giving_back(self, batch_id: str, last: bool) -> Batch | None:
        """The batch that gives back what is free; `None` where there is nothing, or it is under
        way. One whose answer did not come is sent again as it was: it may have been carried out.

        `last`: what is reserved will not be settled here any more. A slice of a window cannot be
        taken anew for what is reserved, so it is kept until that is settled.
        """
        if self.back is not None and self.stuck:
            self.stuck = False
            return self.back.batch
        again = 0 if last else self.open
        if self.back is not None or (again and (self.terms.window_ms or not self.free)):
            return None
        if not self.holds and not self.lost:
            return None
        spent = sum(self.holds.values()) - self.free - again
        settles: list[Settle] = [(hold, None) for hold in self.lost]
        for hold, size in self.holds.items():
            settles.append((hold, self._vector(min(size, spent))))
            spent -= min(size, spent)
        lines = self._again if again else ()
        batch = Batch(
            batch_id, FLEET, settles=tuple(settles), lines=lines, amounts=self._vector(again)
        )
        self.back = Back(batch, again, self.free, sum(self._pooled.values()))
        self.free = 0
        self.holds, self._pooled = {}, {}
        self._size //= 2
        return batch

    def gave_back(self) -> None:
        """Enter that it was given back."""
        if self.back is not None:
            self.lost.difference_update([hold for hold, _ in self.back.batch.settles])
            if self.back.again:
                self.holds = {self.back.batch.id: self.back.again, **self.holds}
            self.back = None

    def next(self) -> Lease:
        """A lease for what comes after: the next bucket of the window, or the same without what may
        be gone."""
        return Lease(self.terms, self._lender, self._size)

    def _vector(self, amount: int, more: int = 0) -> Amounts:
        amounts = [0, 0, 0, 0, 0]
        amounts[self.terms.unit], amounts[_beside(self.terms.unit)] = amount, more
        one, tokens, cost, api_calls, working = amounts
        return (one, tokens, cost, api_calls, working)


def beating(lender: str, unit: int = Unit.ONE) -> Line:
    """The sign of life that a process gives with everything it asks for."""
    return Line(lender_key(lender), unit=unit, when=When.JUDGED)


def _beside(unit: int) -> Unit:
    """The place in a vector of amounts where a slice says what of it counts on the pool."""
    return Unit.TOKENS if unit == Unit.ONE else Unit.ONE
