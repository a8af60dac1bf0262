"""Cases about holds: settled once, permits given back at expiry, spend kept."""

from __future__ import annotations

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Line, Settle
from stanchion.kernel.units import Unit
from stanchion.testing.store_suite.desk import A, B, C, Desk, case, same, upto


@case
def a_permit_comes_back_at_expiry(desk: Desk) -> None:
    permit = Line(A, upto(1), hold_ms=5_000, keep=False)
    desk.carry(permit)
    desk.clock.advance(4_999)
    same(desk.carry(permit).go, False)
    desk.clock.advance(1)
    same(desk.carry(permit).go, True)


@case
def spend_stays_charged_at_expiry(desk: Desk) -> None:
    spend = Line(A, upto(10), hold_ms=1_000)
    desk.carry(spend, n=8)
    desk.clock.advance(60_000)
    same(desk.carry(spend, n=3).actions, (Action.BLOCK,))
    same(desk.total(A), 8)


@case
def a_hold_lasts_as_long_as_its_longest_line(desk: Desk) -> None:
    desk.carry(Line(A, hold_ms=1_000, keep=False), Line(B, hold_ms=3_000, keep=False))
    desk.clock.advance(2_999)
    same((desk.total(A), desk.total(B)), (1, 1))
    desk.clock.advance(1)
    same((desk.total(A), desk.total(B)), (0, 0))


@case
def a_line_that_took_nothing_does_not_prolong_a_hold(desk: Desk) -> None:
    lines = (
        Line(A, hold_ms=1_000, keep=False),
        Line(B, unit=Unit.TOKENS, hold_ms=9_000, keep=False),
    )
    desk.carry(*lines, amounts=(1, 0, 0, 0, 0))
    desk.clock.advance(1_000)
    same(desk.total(A), 0)


@case
def a_hold_is_settled_once_with_actual_amounts(desk: Desk) -> None:
    desk.carry(Line(A, hold_ms=1_000), Line(B, hold_ms=1_000, keep=False), Line(C), n=40)
    hold = desk.last
    same((desk.settle(hold, 25), desk.settle(hold, 99)), ("settled", "again"))
    same((desk.total(A), desk.total(B), desk.total(C)), (25, 0, 40))
    desk.clock.advance(2_000)
    same((desk.total(A), desk.total(B), desk.settle(hold, 1)), (25, 0, "again"))


@case
def a_hold_can_be_settled_late_and_above_its_estimate(desk: Desk) -> None:
    desk.carry(Line(A, hold_ms=1_000), Line(B, hold_ms=1_000, keep=False), n=60)
    hold = desk.last
    desk.clock.advance(1_000)
    same((desk.settle(hold, 70), desk.settle(hold, 0)), ("late", "again"))
    same((desk.total(A), desk.total(B)), (70, 0))


@case
def settling_with_nothing_gives_everything_back(desk: Desk) -> None:
    desk.carry(Line(A, hold_ms=1_000), n=60)
    same((desk.settle(desk.last, None), desk.total(A)), ("settled", 0))


@case
def a_hold_nobody_took_is_unknown(desk: Desk) -> None:
    same(desk.settle("nobody", 1), "unknown")
    desk.carry(Line(A), name="took-nothing-it-holds")
    same(desk.settle("took-nothing-it-holds", 5), "again")
    same(desk.total(A), 1)


@case
def a_hold_is_settled_before_the_lines_of_the_same_batch(desk: Desk) -> None:
    spend = Line(A, upto(10), hold_ms=1_000)
    desk.carry(spend, n=10)
    settles: tuple[Settle, ...] = ((desk.last, (4, 0, 0, 0, 0)), (desk.last, None))
    reply = desk.carry(spend, n=6, settles=settles)
    same((reply.settled, reply.values, reply.go), (("settled", "again"), (4,), True))
    same(desk.total(A), 10)


@case
def a_refused_batch_settles_all_thesame(desk: Desk) -> None:
    desk.carry(Line(A, hold_ms=1_000), n=10)
    reply = desk.carry(Line(B, upto(-1)), settles=((desk.last, (1, 0, 0, 0, 0)),))
    same((reply.go, reply.settled, desk.total(A)), (False, ("settled",), 1))
