"""What every store must do as the memory store does: lines, whole batches, holds, guards in shadow
mode, windows, epochs, and what people see."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Final

from stanchion.kernel.actions import Action
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.epoch import IDS, Epoch, expectation
from stanchion.kernel.epoch_change import begin, learn, mark
from stanchion.kernel.state import (
    CLOCK,
    EPOCH,
    FOREVER,
    IDLE_S,
    Batch,
    Line,
    LiveRecord,
    Put,
    Records,
    When,
    key,
)
from stanchion.kernel.units import LARGEST, Unit
from stanchion.testing.store_suite.desk import Case, Desk, Script, case, entered, same

A, B, C, R = (key("suite", name) for name in ("a", "b", "c", "record"))
LATER, SECOND = 60_000, 1_000
NOW: Final = 1_000_000
"""When every case begins."""


def carry(*lines: Line, n: int = 1, name: str = "", **rest: Any) -> Batch:
    """A batch with `n` of unit ONE, unless `amounts` are given."""
    amounts = rest.pop("amounts", (n, 0, 0, 0, 0))
    return Batch(name, "suite", lines=lines, amounts=amounts, **rest)


def settle(hold: str, actual: int | None) -> Batch:
    """Close one hold with an actual amount of unit ONE."""
    return carry(settles=((hold, None if actual is None else (actual, 0, 0, 0, 0)),))


def put(name: str, value: Any, when: When = When.JUDGED, before: int = 0, shadow: int = 0) -> Put:
    """A record, written before so many lines."""
    return name, value, when, before, shadow


def upto(limit: int, action: Action = Action.BLOCK) -> tuple[tuple[int, Action], ...]:
    """The bands of a counter that is refused above a limit."""
    return ((limit, action),)


class OwnForm(LiveRecord):
    """A value with a form of its own, which is a text to others."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Always the same."""
        return "~0123456789abcdef"

    def body(self) -> str:
        """Always the same."""
        return "what others have"


LADDER: Final = ((1, Action.WARN), (2, Action.ESCALATE), (3, Action.BLOCK))
LEVELS: Final = (
    Line(A, upto(100), window_ms=16_000),
    Line(B, upto(100), window_ms=16_000),
    Line(C, upto(25), window_ms=16_000),
)
CEILED: Final = (Line(A, upto(0, Action.ESCALATE)), Line(B), Line(C, upto(5), when=When.LOOK))
TALLIED: Final = (
    Line(A, ((0, Action.WARN), (1_000, Action.BLOCK))),
    Line(B, upto(2, Action.ESCALATE), when=When.JUDGED, follows=1),
)
TALLY: Final = Line(C, when=When.JUDGED, follows=2)
WARNS: Final = Line(A, upto(0, Action.WARN))
PAIR: Final = (Line(A, upto(15, Action.WARN)), Line(A, upto(15), when=When.LOOK))
ONCE: Final = Line(A, upto(7), hold_ms=SECOND)
PERMIT: Final = Line(A, upto(1), hold_ms=5_000, keep=False)
SPEND: Final = Line(A, upto(10), hold_ms=SECOND)
HELD: Final = Line(B, upto(10), hold_ms=3_600_000, idle_s=1)
SLIDES: Final = Line(A, window_ms=16_000)
CORRECTED: Final = Line(A, window_ms=16_000, hold_ms=LATER)
LOOKS: Final = Line(A, window_ms=16_000, hold_ms=LATER, when=When.LOOK)
IDLES: Final = Line(A, upto(2), window_ms=16_000, idle_s=17)
BOTH: Final = (Line(A, hold_ms=SECOND), Line(B, hold_ms=SECOND, keep=False))
VALUE: Final = {"state": "open", "until": 9, "deep": [1, None, True, "ü\u0000"]}
LETTERS: Final = ("Tool", "tool", "tool ", "tool%", "tool_", "t*", "tö", "to\u0308", "日本", "😀")

SCRIPTS: Final[dict[str, Script]] = {
    "a_band_is_exceeded_above_its_limit_only": (carry(Line(A, LADDER, when=When.JUDGED)),) * 5,
    "a_reply_gives_the_value_before": (carry(Line(A), n=4), carry(Line(A, upto(5)), n=2)),
    "each_line_counts_its_own_unit": (
        carry(
            Line(A, unit=Unit.TOKENS),
            Line(B, unit=Unit.COST_MICROUSD),
            Line(C),
            amounts=(1, 700, 0, 9, 9),
        ),
    ),
    "a_probe_is_taken_only_if_all_else_passes": (
        carry(PERMIT, Line(B, upto(0))),
        carry(PERMIT),
        carry(PERMIT),
    ),
    "a_refusal_consumes_nothing_at_any_level": (
        *(carry(*LEVELS, n=10),) * 4,
        17_000,
        carry(*LEVELS, n=10),
    ),
    "an_escalation_consumes_nothing_and_stops_nothing": (
        carry(Line(A), Line(B, upto(0, Action.ESCALATE)), Line(C, upto(0))),
    ),
    "up_to_its_ceiling_a_batch_goes_ahead": (
        carry(*CEILED, ceiling=Action.ESCALATE),
        carry(*CEILED, n=6, ceiling=Action.ESCALATE),
    ),
    "the_third_warning_escalates_in_its_own_batch": (carry(*TALLIED),) * 4,
    "a_tally_counts_only_if_the_most_severe_line_warned": (
        carry(WARNS, Line(B, upto(0, Action.DEGRADE)), TALLY),
        carry(Line(B), Line(B, when=When.LOOK), TALLY),
        carry(WARNS, Line(B), TALLY),
    ),
    "lines_behind_a_stop_are_skipped": (
        carry(
            Line(A, upto(0), when=When.JUDGED),
            Line(B, upto(-1, Action.HALT)),
            Line(C, when=When.JUDGED),
        ),
    ),
    "with_a_refusal_known_only_judged_parts_write": (
        carry(
            Line(A, when=When.JUDGED),
            Line(B),
            Line(C, hold_ms=SECOND),
            go=False,
            puts=(put(R, "judged"), put(key("suite", "other"), "proceed", When.PROCEED)),
        ),
    ),
    "looking_never_writes": (carry(Line(A, when=When.LOOK, hold_ms=SECOND), n=5),),
    "one_line_takes_and_another_looks": (carry(*PAIR, n=10),) * 3,
    "nothing_is_taken_or_held_of_an_amount_of_zero": (
        carry(Line(A, upto(0), hold_ms=SECOND), n=0, name="none"),
        settle("none", 5),
    ),
    "the_same_batch_again_gives_its_first_answer": (
        carry(ONCE, n=5, name="once"),
        10,
        carry(ONCE, n=5, name="once"),
        settle("once", 3),
        carry(ONCE, n=5, name="once"),
        carry(Line(B, upto(0)), n=5, name="refused"),
        carry(Line(B), name="refused"),
    ),
    "a_stale_batch_leaves_nothing_not_even_its_id": (
        carry(Line(B, hold_ms=SECOND), n=9, name="held"),
        carry(
            Line(A, when=When.JUDGED),
            name="x",
            expects=((R, 1, 2),),
            settles=(("held", None),),
            puts=(put(R, 1),),
        ),
        carry(Line(A), name="x"),
        settle("held", 1),
    ),
    "a_stale_reply_says_how_things_stand": (
        carry(Line(A), n=3, puts=(put(R, VALUE),)),
        carry(expects=((R, 0, 1), (A, 0, 3), (B, 0, 1))),
        carry(expects=((R, 1, 2), (A, 3, 4), (B, 0, FOREVER))),
    ),
    "an_expectation_is_a_range_of_a_total": (
        carry(Line(A), n=50),
        carry(expects=((A, 0, 50),)),
        carry(expects=((A, 50, 51),)),
        carry(expects=((A, 51, 80),)),
    ),
    "the_clock_can_be_expected": (
        carry(expects=((CLOCK, NOW, FOREVER),)),
        carry(expects=((CLOCK, NOW + 1, FOREVER),)),
        carry(expects=((CLOCK, 0, NOW),)),
        carry(expects=((CLOCK, 0, NOW + 1),)),
    ),
    "the_clock_never_runs_backwards": (carry(), -5_000, carry(), 6_000, carry()),
    "records_count_their_versions": (
        carry(expects=((R, 0, 1),), puts=(put(R, [0], When.PROCEED),)),
        carry(expects=((R, 1, 2),), puts=(put(R, [1], When.PROCEED),)),
        carry(expects=((R, 2, 3),), puts=(put(R, [2], When.PROCEED),)),
    ),
    "a_value_with_a_form_of_its_own_is_a_text_to_others": (
        carry(puts=(put(R, OwnForm()),)),
        carry(expects=((R, 0, 1),)),
    ),
    "a_put_behind_a_stop_is_not_written": (
        carry(
            Line(A),
            Line(B, upto(0)),
            Line(C),
            puts=(put(R + "0", 0), put(R + "1", 1, before=1), put(R + "2", 2, before=2)),
        ),
        carry(
            Line(B, upto(0, Action.ESCALATE)),
            puts=(put(R, 1, before=1), put(A, 1, When.PROCEED)),
        ),
    ),
    "a_permit_comes_back_at_expiry": (carry(PERMIT), 4_999, carry(PERMIT), 1, carry(PERMIT)),
    "spend_stays_charged_at_expiry": (carry(SPEND, n=8), LATER, carry(SPEND, n=3)),
    "a_hold_lasts_as_long_as_its_longest_line": (
        carry(Line(A, hold_ms=SECOND, keep=False), Line(B, hold_ms=3_000, keep=False)),
        2_999,
        carry(),
        1,
    ),
    "a_line_that_took_nothing_does_not_prolong_a_hold": (
        carry(
            Line(A, hold_ms=SECOND, keep=False),
            Line(B, unit=Unit.TOKENS, hold_ms=9_000, keep=False),
        ),
        SECOND,
    ),
    "a_hold_is_settled_once_with_actual_amounts": (
        carry(*BOTH, Line(C), n=40, name="held"),
        settle("held", 25),
        settle("held", 99),
        2_000,
        settle("held", 1),
    ),
    "a_hold_can_be_settled_late_and_above_its_estimate": (
        carry(*BOTH, n=60, name="held"),
        SECOND,
        settle("held", 70),
        settle("held", 0),
    ),
    "settling_with_nothing_gives_everything_back": (
        carry(BOTH[0], n=60, name="held"),
        settle("held", None),
    ),
    "a_hold_nobody_took_is_unknown": (
        settle("nobody", 1),
        carry(Line(A), name="took-nothing-it-holds"),
        settle("took-nothing-it-holds", 5),
    ),
    "a_hold_is_settled_before_the_lines_of_the_same_batch": (
        carry(SPEND, n=10, name="held"),
        carry(SPEND, n=6, settles=(("held", (4, 0, 0, 0, 0)), ("held", None))),
    ),
    "a_refused_batch_settles_all_the_same": (
        carry(BOTH[0], n=10, name="held"),
        carry(Line(B, upto(-1)), settles=(("held", (1, 0, 0, 0, 0)),)),
    ),
    "a_stop_in_shadow_skips_only_its_own_guard": (
        carry(
            Line("~" + A, upto(0), shadow=1),
            Line("~" + R, when=When.JUDGED, shadow=1),
            Line("~" + B, shadow=2),
            Line(C),
        ),
    ),
    "a_refusal_in_shadow_takes_nothing_of_its_own_guard": (
        carry(
            Line("~" + A, shadow=1),
            Line("~" + B, upto(0, Action.ESCALATE), shadow=1),
            Line(C, shadow=0),
        ),
        carry(Line("~" + A, shadow=1), go=False),
    ),
    "a_refusal_in_shadow_withholds_its_own_record": (
        carry(
            Line("~" + A, upto(0, Action.ESCALATE), shadow=1),
            puts=(put("~" + R, 1, When.PROCEED, shadow=1), put(R, 1, When.PROCEED)),
        ),
    ),
    "a_window_slides_by_buckets": (
        8_999,
        carry(SLIDES),
        1,
        carry(SLIDES),
        14_999,
        carry(SLIDES),
        1,
        carry(SLIDES),
        carry(SLIDES),
        999,
        carry(SLIDES),
        1,
        carry(SLIDES),
        8_000,
        8_000,
    ),
    "a_correction_falls_into_the_bucket_it_was_taken_in": (
        carry(CORRECTED, n=10, name="first"),
        8_000,
        carry(CORRECTED, n=5, name="second"),
        settle("first", 4),
        carry(LOOKS),
        8_000,
        carry(LOOKS),
        settle("second", 50),
        carry(LOOKS),
        8_000,
        carry(LOOKS),
    ),
    "a_counter_in_use_is_not_forgotten": (carry(Line(A, idle_s=10)), 8_000) * 4,
    "forgetting_what_is_idle_changes_no_outcome": (
        *(carry(IDLES),) * 3,
        20_000,
        *(carry(IDLES),) * 3,
        carry(HELD, n=8, name="held"),
        LATER,
        carry(HELD, n=3),
        settle("held", 5),
        carry(Line(B, when=When.LOOK)),
    ),
    "a_hold_is_seen_until_it_is_settled": (
        carry(
            Line(A, hold_ms=5_000),
            Line(B, unit=Unit.TOKENS, hold_ms=2_000, keep=False),
            amounts=(1, 7, 0, 0, 0),
            name="first",
        ),
        carry(BOTH[0], name="second"),
        SECOND,
        carry(),
        settle("first", 1),
        settle("second", 1),
    ),
    "large_sums_are_exact": (
        *(carry(BOTH[0], n=LARGEST - 1),) * 8,
        carry(BOTH[0], n=LARGEST - 1, name="held"),
        settle("held", 1),
    ),
}
entered.extend([Case(name, partial(Desk.play, script=each)) for name, each in SCRIPTS.items()])


@case
def waiting_without_blocking_gives_the_same(desk: Desk) -> None:
    batch = carry(Line(A, upto(1)), name="waited")
    reply = asyncio.run(desk.store.acarry(batch))
    same((reply.go, desk.store.carry(batch)), (True, desk.memory.carry(batch)))
    desk.compare()


@case
def a_prefix_chooses_what_is_seen(desk: Desk) -> None:
    names = [key(*name.split()) for name in ("a x", "a xy", "a y", "ab x", "b x")]
    desk.carry(carry(*map(Line, names)))
    for prefix in (key("a", "x"), "{a}", "{c}"):
        desk.compare(prefix)


@case
def many_cells_and_holds_are_all_seen(desk: Desk) -> None:
    for number in range(600):
        batch = carry(Line(key("suite", "many", f"{number:03}"), hold_ms=SECOND), name=str(number))
        same(desk.store.carry(batch), desk.memory.carry(batch))
    desk.compare()


@case
def keys_are_told_apart_to_the_letter(desk: Desk) -> None:
    names = [key("suite", name) for name in LETTERS]
    desk.play(
        (carry(*map(Line, names)), *[carry(Line(name), n=at) for at, name in enumerate(names, 2)])
    )


@case
def an_epoch_is_never_garbage_and_ends_by_an_operator(desk: Desk) -> None:
    known: Records = {}
    desk.drive(learn(known, "one", IDS - 1))
    desk.drive(learn({}, "other", 1))
    number = known[EPOCH][0]
    desk.clock.advance(60 * IDLE_S * 1000)
    expects = Batch("", FLEET, expects=(expectation(number),), lines=(Line(key(FLEET, "suite")),))
    same((desk.carry(expects).stale, desk.drive(mark(known, "mark"))), (False, True))
    desk.play((expects, Batch("", FLEET, expects=(expectation(number + 2),))))
    desk.drive(begin({}, "two", 1, Epoch(0, "restored", "ann", "drill")))
    desk.drive(mark(known, "late"))
    same(desk.carry(expects).stale, True)
