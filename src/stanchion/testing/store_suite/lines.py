"""Cases about lines: bands, what is written when, and what a stop skips."""

from __future__ import annotations

from stanchion.kernel.actions import Action
from stanchion.kernel.state import IDLE, SKIPPED, Line, Put, Reply, When, key
from stanchion.kernel.units import Unit
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
