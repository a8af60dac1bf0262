"""Timing: pure guards judged with a clock beside them, which the host hands in. Nothing is decided
by it."""

from __future__ import annotations

from collections.abc import Callable

from stanchion.kernel.chain import Plan
from stanchion.kernel.guard import Reading
from stanchion.kernel.judgement import Found, judge_carefully, note

Clock = Callable[[], int]
"""Gives nanoseconds; only differences count."""
Took = dict[int, int]
"""How long guards took, by their places in the chain, in nanoseconds."""


def judge_timed(
    plan: Plan, readings: tuple[Reading, ...], clock: Clock, took: Took
) -> tuple[Found, int]:
    """As `judge_pure`, and notes how long each guard took. What guards share is worked out by the
    first that asks."""
    found: Found = []
    cut = plan.end
    begun = clock()
    try:
        for pos, judge, index in plan.hearing.pure:
            finding = judge(readings[index])
            ended = clock()
            took[pos] = ended - begun
            begun = ended
            if finding is not None:
                cut = note(plan, pos, finding, found, cut, readings[index])
                if cut == pos:
                    break
        return found, _switched(plan, readings, clock, took, found, cut) if plan.switches else cut
    except Exception:  # noqa: BLE001 - a guard may raise anything, and fails closed
        return judge_carefully(plan, readings)


def _switched(
    plan: Plan, readings: tuple[Reading, ...], clock: Clock, took: Took, found: Found, cut: int
) -> int:
    for asked, index, table in plan.switches:
        begun = clock()
        for pos, judge in table.get(asked(readings[index]), ()):
            if pos > cut:
                break
            finding = judge(readings[index])
            ended = clock()
            took[pos] = ended - begun
            begun = ended
            if finding is not None:
                cut = note(plan, pos, finding, found, cut, readings[index])
    return cut
