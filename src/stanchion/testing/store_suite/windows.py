"""Cases about windows, and about forgetting what nobody needs any more."""

from __future__ import annotations

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Line, When
from stanchion.testing.store_suite.desk import A, B, Desk, case, same, upto


@case
def a_window_slides_by_buckets(desk: Desk) -> None:
    line = Line(A, window_ms=16_000)
    desk.clock.advance(-desk.clock() % 16_000 + 999)
    values: list[int] = []
    for step in (0, 1, 14_999, 1, 0, 999, 1):
        desk.clock.advance(step)
        values += desk.carry(line).values
    same(values, [0, 1, 2, 2, 3, 4, 4])


@case
def a_correction_falls_into_the_bucket_it_was_taken_in(desk: Desk) -> None:
    line = Line(A, window_ms=16_000, hold_ms=60_000)
    desk.clock.advance(-desk.clock() % 1_000)
    desk.carry(line, n=10)
    first = desk.last
    desk.clock.advance(8_000)
    desk.carry(line, n=5)
    second = desk.last
    desk.settle(first, 4)
    look = line._replace(when=When.LOOK)
    same(desk.carry(look).values, (9,))
    desk.clock.advance(8_000)
    same(desk.carry(look).values, (5,))
    desk.settle(second, 50)
    same(desk.carry(look).values, (50,))
    desk.clock.advance(8_000)
    same((desk.carry(look).values, desk.store.read(A)), ((0,), (54, None)))


@case
def a_counter_in_use_is_not_forgotten(desk: Desk) -> None:
    line = Line(A, idle_s=10)
    values: list[int] = []
    for _ in range(4):
        values += desk.carry(line).values
        desk.clock.advance(8_000)
    same(values, [0, 1, 2, 3])


@case
def forgetting_what_is_idle_changes_no_outcome(desk: Desk) -> None:
    window = Line(A, upto(2), window_ms=16_000, idle_s=17)
    same([desk.carry(window).go for _ in range(3)], [True, True, False])
    desk.clock.advance(20_000)
    same([desk.carry(window).values for _ in range(3)], [(0,), (1,), (2,)])
    held = Line(B, upto(10), hold_ms=3_600_000, idle_s=1)
    desk.carry(held, n=8)
    hold = desk.last
    desk.clock.advance(60_000)
    same(desk.carry(held, n=3).actions, (Action.BLOCK,))
    same((desk.settle(hold, 5), desk.carry(Line(B, when=When.LOOK)).values), ("settled", (5,)))
