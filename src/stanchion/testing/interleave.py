"""The interleaver: runs several decisions at once, one step at a time, in an order that a test
draws."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Final, NamedTuple

from stanchion.kernel.decision import Decision
from stanchion.kernel.lookups import Answer, Ask, Expired, Lookup
from stanchion.kernel.state import Batch, Reply, StoreLost
from stanchion.stores.protocol import Store

MAX_STEPS: Final = 10_000
"""More steps than any set of decisions needs: an engine that never finishes fails instead of
hanging."""

Deciding = Generator[Any, Any, Decision]
Choose = Callable[[int], int]
"""Picks one of that many decisions that can take a step."""


class Trip(NamedTuple):
    """One batch that went to the store: whose, what, and what came back (`None` where the store was
    lost)."""

    who: int
    batch: Batch
    reply: Reply | None


class Interleaved(NamedTuple):
    """What came of it: decisions in the order given, and every trip to the store in the order
    made."""

    decisions: tuple[Decision, ...]
    trips: tuple[Trip, ...]

    @property
    def applied(self) -> tuple[int, ...]:
        """Whose batches were carried out, in that order: the serial order which must explain every
        decision."""
        return tuple(
            trip.who for trip in self.trips if trip.reply is not None and not trip.reply.stale
        )


class _Live:
    """A decision under way: what it waits for, or what it is about to be given."""

    __slots__ = ("deciding", "given", "lost", "need")

    def __init__(self, deciding: Deciding) -> None:
        self.deciding = deciding
        self.need: Ask | Batch | None = None
        self.given: Any = None
        self.lost: StoreLost | None = None


def no_answer(who: int, lookup: Lookup) -> Answer:
    """The answer where a test has none: nobody replied in time."""
    return Expired(lookup.deadline_ms)


def nothing() -> None:
    """What happens between steps unless a test says otherwise."""


def interleave(
    decisions: Sequence[Deciding],
    store: Store,
    choose: Choose,
    answer: Callable[[int, Lookup], Answer] = no_answer,
    between: Callable[[], None] = nothing,
) -> Interleaved:
    """Step the decisions at every yield until all are made.

    A need and its fulfilment are separate steps: other batches can be carried out after a batch was
    made and before it arrives, and again before its reply does. Decisions made on one cache of
    records are those of one process; give them several caches to have several processes. `between`
    runs before every step; tests move the clock there.
    """
    made: dict[int, Decision] = {}
    trips: list[Trip] = []
    live = {who: _Live(deciding) for who, deciding in enumerate(decisions)}
    for _ in range(MAX_STEPS):
        if not live:
            return Interleaved(tuple(made[who] for who in sorted(made)), tuple(trips))
        between()
        who = sorted(live)[choose(len(live))]
        one = live[who]
        if one.need is not None:
            _fulfil(who, one, store, answer, trips)
            continue
        try:
            one.need = (
                one.deciding.throw(one.lost)
                if one.lost is not None
                else one.deciding.send(one.given)
            )
        except StopIteration as stop:
            made[who] = stop.value
            del live[who]
        one.given = one.lost = None
    raise AssertionError(
        f"decisions {sorted(live)} are not finished after {MAX_STEPS} steps: the engine does not "
        f"end"
    )


def _fulfil(
    who: int, one: _Live, store: Store, answer: Callable[[int, Lookup], Answer], trips: list[Trip]
) -> None:
    need, one.need = one.need, None
    if isinstance(need, Ask):
        one.given = tuple(answer(who, lookup) for lookup in need.lookups)
    elif isinstance(need, Batch):
        try:
            one.given = store.carry(need)
        except StoreLost as lost:
            one.lost = lost
        trips.append(Trip(who, need, one.given))
