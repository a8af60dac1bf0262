"""Cases about whole batches: identity, expectations, the clock, records."""

from __future__ import annotations

import asyncio

from stanchion.kernel.actions import Action
from stanchion.kernel.state import (
    CLOCK,
    FOREVER,
    Batch,
    Fresh,
    Line,
    LiveRecord,
    Reply,
    When,
    key,
    text_or_value,
)
from stanchion.kernel.units import JUST_ONE
from stanchion.testing.store_suite.desk import A, B, C, Desk, R, case, same, upto


@case
def the_same_batch_again_gives_its_first_answer(desk: Desk) -> None:
    held = Line(A, upto(7), hold_ms=1_000)
    first = desk.carry(held, n=5, name="once")
    desk.clock.advance(10)
    same(desk.carry(held, n=5, name="once"), first)
    same((desk.settle("once", 3), desk.total(A)), ("settled", 3))
    same((desk.carry(held, n=5, name="once"), desk.total(A)), (first, 3))
    refused = desk.carry(Line(B, upto(0)), n=5, name="refused")
    same((desk.carry(Line(B), name="refused"), desk.total(B)), (refused, 0))


@case
def a_stale_batch_leaves_nothing_not_even_its_id(desk: Desk) -> None:
    desk.carry(Line(B, hold_ms=1_000), n=9, name="held")
    reply = desk.carry(
        Line(A, when=When.JUDGED),
        name="x",
        expects=((R, 1, 2),),
        settles=(("held", None),),
        puts=((R, 1, When.JUDGED, 0, 0),),
    )
    same(reply, Reply(desk.clock(), True, fresh=(Fresh(R, 0),)))
    same((desk.total(A), desk.total(R), desk.total(B)), (0, 0, 9))
    same(desk.carry(Line(A), name="x").stale, False)
    same((desk.total(A), desk.settle("held", 1)), (1, "settled"))


@case
def a_stale_reply_says_how_things_stand(desk: Desk) -> None:
    value = {"state": "open", "until": 9, "deep": [1, None, True, "ü\u0000"]}
    desk.carry(Line(A), n=3, puts=((R, value, When.JUDGED, 0, 0),))
    reply = desk.carry(expects=((R, 0, 1), (A, 0, 3), (B, 0, 1)))
    same(reply, Reply(desk.clock(), True, fresh=(Fresh(R, 1, value), Fresh(A, 3))))
    same(desk.carry(expects=((R, 1, 2), (A, 3, 4), (B, 0, FOREVER))).stale, False)
    same(desk.store.read(R), (1, value))


@case
def an_expectation_is_a_range_of_a_total(desk: Desk) -> None:
    desk.carry(Line(A), n=50)
    same(
        [desk.carry(expects=((A, lo, hi),)).stale for lo, hi in ((0, 50), (50, 51), (51, 80))],
        [True, False, True],
    )


@case
def the_clock_can_be_expected(desk: Desk) -> None:
    now = desk.clock()
    spans = ((now, FOREVER), (now + 1, FOREVER), (0, now), (0, now + 1))
    replies = [desk.carry(expects=((CLOCK, lo, hi),)) for lo, hi in spans]
    same([reply.stale for reply in replies], [False, True, True, False])
    same(replies[1].fresh, (Fresh(CLOCK, now),))


@case
def the_clock_never_runs_backwards(desk: Desk) -> None:
    now = desk.carry().now
    desk.clock.advance(-5_000)
    same(desk.carry().now, now)
    desk.clock.advance(6_000)
    same(desk.carry().now, now + 1_000)


@case
def records_count_their_versions(desk: Desk) -> None:
    for version in range(3):
        reply = desk.carry(
            expects=((R, version, version + 1),), puts=((R, [version], When.PROCEED, 0, 0),)
        )
        same((reply.stale, desk.store.read(R)), (False, (version + 1, [version])))


class OwnForm(LiveRecord):
    """A value with a form of its own."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Always the same."""
        return "~0123456789abcdef"

    def body(self) -> str:
        """Always the same."""
        return "what others have"


@case
def a_value_with_a_form_of_its_own_is_a_text_to_others(desk: Desk) -> None:
    value = OwnForm()
    desk.carry(puts=((R, value, When.JUDGED, 0, 0),))
    text = "~0123456789abcdef|what others have"
    same((desk.store.read(R), [seen.value for seen in desk.store.look(R)]), ((1, text), [text]))
    (fresh,) = desk.carry(expects=((R, 0, 1),)).fresh
    same((fresh.number, text_or_value(fresh.value)), (1, text))


@case
def a_put_behind_a_stop_is_not_written(desk: Desk) -> None:
    names = [key("suite", "put", str(at)) for at in range(3)]
    puts = tuple((name, at, When.JUDGED, at, 0) for at, name in enumerate(names))
    desk.carry(Line(A), Line(B, upto(0)), Line(C), puts=puts)
    same([desk.total(name) for name in names], [1, 1, 0])
    desk.carry(
        Line(B, upto(0, Action.ESCALATE)),
        puts=((R, 1, When.JUDGED, 1, 0), (A, 1, When.PROCEED, 0, 0)),
    )
    same((desk.total(R), desk.total(A)), (1, 0))


@case
def waiting_without_blocking_gives_thesame(desk: Desk) -> None:
    batch = Batch("waited", "suite", lines=(Line(A, upto(1)),), amounts=JUST_ONE)
    reply = asyncio.run(desk.store.acarry(batch))
    same((reply, desk.store.carry(batch), desk.total(A)), (reply, reply, 1))
    same((reply.go, reply.values), (True, (0,)))
