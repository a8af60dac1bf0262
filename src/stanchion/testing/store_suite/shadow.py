"""Cases about guards in shadow mode: they gate only themselves."""

from __future__ import annotations

from stanchion.kernel.actions import Action
from stanchion.kernel.state import SKIPPED, Line, Put, When
from stanchion.testing.store_suite.desk import A, B, C, Desk, R, case, same, upto


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
