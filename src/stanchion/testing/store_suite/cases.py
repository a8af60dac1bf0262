"""What every store must do: lines, whole batches, holds, guards in shadow mode, and windows."""

from __future__ import annotations

import asyncio

from stanchion.kernel.actions import Action
from stanchion.kernel.state import (
    CLOCK,
    FOREVER,
    IDLE,
    SKIPPED,
    Batch,
    Fresh,
    Line,
    LiveRecord,
    Put,
    Reply,
    Settle,
    When,
    key,
    text_or_value,
)
from stanchion.kernel.units import JUST_ONE, Unit
from stanchion.testing.store_suite.desk import A, B, C, Desk, R, case, same, upto


@case
def a_band_is_exceeded_above_its_limit_only(desk: Desk) -> None:
    line = Line(A, ((1, Action.WARN), (2, Action.ESCALATE), (3, Action.BLOCK)), when=When.JUDGED)
    same(
        [desk.carry(line).actions for _ in range(5)],
        [(), (Action.WARN,), (Action.ESCALATE,), (Action.BLOCK,), (Action.BLOCK,)],
    )
    same(desk.total(A), 5)


@case
def a_reply_gives_the_value_before(desk: Desk) -> None:
    same(desk.carry(Line(A), n=4), Reply(desk.clock(), go=True, values=(0,)))
    same(
        desk.carry(Line(A, upto(5)), n=2), Reply(desk.clock(), values=(4,), actions=(Action.BLOCK,))
    )


@case
def each_line_counts_its_own_unit(desk: Desk) -> None:
    lines = (Line(A, unit=Unit.TOKENS), Line(B, unit=Unit.COST_MICROUSD), Line(C))
    desk.carry(*lines, amounts=(1, 700, 0, 9, 9))
    same([desk.total(name) for name in (A, B, C)], [700, 0, 1])


@case
def a_probe_is_taken_only_if_all_else_passes(desk: Desk) -> None:
    probe = Line(A, upto(1), hold_ms=5_000, keep=False)
    same(desk.carry(probe, Line(B, upto(0))).actions, (Action.ALLOW, Action.BLOCK))
    same(desk.total(A), 0)
    same([desk.carry(probe).go for _ in range(2)], [True, False])


@case
def a_refusal_consumes_nothing_at_any_level(desk: Desk) -> None:
    window = 16_000
    levels = tuple(
        Line(name, upto(limit), window_ms=window) for name, limit in ((A, 100), (B, 100), (C, 25))
    )
    same([desk.carry(*levels, n=10).go for _ in range(4)], [True, True, False, False])
    same((desk.total(A), desk.total(B), desk.total(C)), (20, 20, 20))
    desk.clock.advance(window + 1_000)
    same(desk.carry(*levels, n=10).go, True)


@case
def an_escalation_consumes_nothing_and_stops_nothing(desk: Desk) -> None:
    reply = desk.carry(Line(A), Line(B, upto(0, Action.ESCALATE)), Line(C, upto(0, Action.BLOCK)))
    same((reply.go, reply.actions), (False, (Action.ALLOW, Action.ESCALATE, Action.BLOCK)))
    same((desk.total(A), desk.total(C)), (0, 0))


@case
def up_to_its_ceiling_a_batch_goes_ahead(desk: Desk) -> None:
    lines = (Line(A, upto(0, Action.ESCALATE)), Line(B), Line(C, upto(5), when=When.LOOK))
    reply = desk.carry(*lines, ceiling=Action.ESCALATE)
    same((reply.go, reply.actions), (True, (Action.ESCALATE, Action.ALLOW, Action.ALLOW)))
    same((desk.total(A), desk.total(B)), (1, 1))
    same(
        desk.carry(*lines, n=6, ceiling=Action.ESCALATE).actions,
        (Action.ESCALATE, Action.ALLOW, Action.BLOCK),
    )
    same((desk.total(A), desk.total(B)), (1, 1))


@case
def the_third_warning_escalates_in_its_own_batch(desk: Desk) -> None:
    lines = (
        Line(A, ((0, Action.WARN), (1_000, Action.BLOCK))),
        Line(B, upto(2, Action.ESCALATE), when=When.JUDGED, follows=1),
    )
    replies = [desk.carry(*lines) for _ in range(4)]
    same(
        [reply.actions[1] for reply in replies],
        [Action.ALLOW, Action.ALLOW, Action.ESCALATE, Action.ESCALATE],
    )
    same([reply.go for reply in replies], [True, True, False, False])
    same((desk.total(A), desk.total(B)), (2, 4))


@case
def a_tally_counts_only_if_the_most_severe_line_warned(desk: Desk) -> None:
    tally = Line(C, when=When.JUDGED, follows=2)
    warns, degrades = Line(A, upto(0, Action.WARN)), Line(B, upto(0, Action.DEGRADE))
    same(desk.carry(warns, degrades, tally).actions, (Action.WARN, Action.DEGRADE, IDLE))
    same(
        desk.carry(Line(B), Line(B, when=When.LOOK), tally),
        Reply(desk.clock(), go=True, values=(1, 1, 0)),
    )
    same(desk.carry(warns, Line(B), tally).actions, (Action.WARN, Action.ALLOW, Action.ALLOW))
    same(desk.total(C), 1)


@case
def lines_behind_a_stop_are_skipped(desk: Desk) -> None:
    tally = Line(C, when=When.JUDGED)
    reply = desk.carry(Line(A, upto(0), when=When.JUDGED), Line(B, upto(-1, Action.HALT)), tally)
    same((reply.values, reply.actions), ((0, 0, 0), (Action.BLOCK, SKIPPED, SKIPPED)))
    same((desk.total(A), desk.total(B), desk.total(C)), (1, 0, 0))


@case
def with_a_refusal_known_only_judged_parts_write(desk: Desk) -> None:
    puts: tuple[Put, ...] = (
        (R, "judged", When.JUDGED, 0, 0),
        (key("suite", "other"), "proceed", When.PROCEED, 0, 0),
    )
    reply = desk.carry(
        Line(A, when=When.JUDGED), Line(B), Line(C, hold_ms=1_000), go=False, puts=puts
    )
    same((reply.go, reply.values), (False, (0, 0, 0)))
    same((desk.total(A), desk.total(B), desk.total(C)), (1, 0, 0))
    same((desk.total(R), desk.total(key("suite", "other"))), (1, 0))


@case
def looking_never_writes(desk: Desk) -> None:
    desk.carry(Line(A, when=When.LOOK, hold_ms=1_000), n=5)
    same(desk.total(A), 0)


@case
def one_line_takes_and_another_looks(desk: Desk) -> None:
    lines = (Line(A, upto(15, Action.WARN)), Line(A, upto(15), when=When.LOOK))
    same(
        [desk.carry(*lines, n=10).actions for _ in range(3)],
        [(), (Action.WARN, Action.BLOCK), (Action.WARN, Action.BLOCK)],
    )
    same(desk.total(A), 10)


@case
def nothing_is_taken_or_held_of_an_amount_of_zero(desk: Desk) -> None:
    same(
        desk.carry(Line(A, upto(0), hold_ms=1_000), n=0), Reply(desk.clock(), go=True, values=(0,))
    )
    hold = desk.last
    same((desk.settle(hold, 5), desk.total(A)), ("again", 0))


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


@case
def a_stop_in_shadow_skips_only_its_own_guard(desk: Desk) -> None:
    first, second, real = Line("~" + A, upto(0), shadow=1), Line("~" + B, shadow=2), Line(C)
    reply = desk.carry(first, Line("~" + R, when=When.JUDGED, shadow=1), second, real)
    same((reply.go, reply.actions), (True, (Action.BLOCK, SKIPPED, Action.ALLOW, Action.ALLOW)))
    same([desk.total(name) for name in ("~" + A, "~" + R, "~" + B, C)], [0, 0, 1, 1])


@case
def a_refusal_in_shadow_takes_nothing_of_its_own_guard(desk: Desk) -> None:
    lines = (
        Line("~" + A, shadow=1),
        Line("~" + B, upto(0, Action.ESCALATE), shadow=1),
        Line(C, shadow=0),
    )
    same(desk.carry(*lines).go, True)
    same([desk.total(name) for name in ("~" + A, "~" + B, C)], [0, 0, 1])
    same(desk.carry(Line("~" + A, shadow=1), go=False).go, False)
    same(desk.total("~" + A), 0)


@case
def a_refusal_in_shadow_withholds_its_own_record(desk: Desk) -> None:
    puts: tuple[Put, ...] = (("~" + R, 1, When.PROCEED, 0, 1), (R, 1, When.PROCEED, 0, 0))
    same(desk.carry(Line("~" + A, upto(0, Action.ESCALATE), shadow=1), puts=puts).go, True)
    same((desk.total("~" + R), desk.total(R)), (0, 1))


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
