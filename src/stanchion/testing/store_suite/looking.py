"""Cases about looking: what people see of cells and holds."""

from __future__ import annotations

from stanchion.kernel.state import Line, When, key
from stanchion.kernel.units import LARGEST, Unit
from stanchion.stores.seen import Hold, Seen, Took
from stanchion.testing.store_suite.desk import A, B, Desk, R, case, same, upto


@case
def cells_are_seen_in_the_order_of_their_keys(desk: Desk) -> None:
    desk.carry(Line(B), Line(A, upto(9)), n=3, puts=((R, {"state": "open"}, When.PROCEED, 0, 0),))
    desk.carry(Line(key("suite", "only-looked-at"), when=When.LOOK))
    now = desk.clock()
    expected = [
        Seen(A, 3, touched_ms=now),
        Seen(B, 3, touched_ms=now),
        Seen(R, 1, {"state": "open"}, touched_ms=now),
    ]
    same(list(desk.store.look()), expected)


@case
def a_prefix_chooses_what_is_seen(desk: Desk) -> None:
    names = [
        key(tenant, part)
        for tenant, part in (("a", "x"), ("a", "xy"), ("a", "y"), ("ab", "x"), ("b", "x"))
    ]
    desk.carry(*[Line(name) for name in names])
    same([cell.key for cell in desk.store.look(key("a", "x"))], [key("a", "x"), key("a", "xy")])
    same([cell.key for cell in desk.store.look("{a}")], names[:3])
    same(list(desk.store.look("{c}")), [])


@case
def a_window_is_seen_as_it_stands_now(desk: Desk) -> None:
    desk.clock.advance(-desk.clock() % 1_000)
    desk.carry(Line(A, window_ms=16_000), n=5)
    first = desk.clock()
    desk.clock.advance(8_000)
    desk.carry(Line(A, window_ms=16_000), n=2)
    same(list(desk.store.look()), [Seen(A, 7, None, 7, first + 8_000)])
    desk.clock.advance(8_000)
    same(list(desk.store.look()), [Seen(A, 7, None, 2, first + 8_000)])
    desk.clock.advance(8_000)
    same(list(desk.store.look()), [Seen(A, 7, None, 0, first + 8_000)])


@case
def a_hold_is_seen_until_it_is_settled(desk: Desk) -> None:
    begun = desk.clock()
    desk.carry(
        Line(A, hold_ms=5_000),
        Line(B, unit=Unit.TOKENS, hold_ms=2_000, keep=False),
        amounts=(1, 7, 0, 0, 0),
    )
    first = desk.last
    desk.carry(Line(A, hold_ms=1_000))
    second = desk.last
    took = (Took(A, 1, Unit.ONE, True), Took(B, 7, Unit.TOKENS, False))
    later = Hold(first, begun + 5_000, False, took, begun)
    same(list(desk.store.holds()), [Hold(second, begun + 1_000, False, took[:1], begun), later])
    desk.clock.advance(1_000)
    same(list(desk.store.holds()), [Hold(second, begun + 1_000, True, took[:1], begun), later])
    desk.carry()
    same(list(desk.store.holds()), [later, Hold(second, begun + 1_000, True, took[:1], begun)])
    same(desk.store.held("suite", first), later)
    desk.settle(first, 1)
    desk.settle(second, 1)
    same(list(desk.store.holds()), [])
    same([desk.store.held("suite", name) for name in (first, "never")], [None, None])


@case
def many_cells_and_holds_are_all_seen(desk: Desk) -> None:
    names = [key("suite", "many", f"{number:03}") for number in range(600)]
    for name in names:
        desk.carry(Line(name, hold_ms=1_000))
    same([cell.key for cell in desk.store.look()], names)
    same([hold.took[0].key for hold in desk.store.holds()], names)


@case
def keys_are_told_apart_to_the_letter(desk: Desk) -> None:
    names = [
        key("suite", name)
        for name in (
            "Tool",
            "tool",
            "tool ",
            "tool%",
            "tool_",
            "t*",
            "tö",
            "to\u0308",
            "日本",
            "😀",
        )
    ]
    desk.carry(*[Line(name) for name in names])
    for count, name in enumerate(names, start=2):
        desk.carry(Line(name), n=count)
    same([desk.store.read(name)[0] for name in names], list(range(3, 3 + len(names))))
    same([cell.key for cell in desk.store.look()], sorted(names))


@case
def large_sums_are_exact(desk: Desk) -> None:
    for _ in range(9):
        desk.carry(Line(A, hold_ms=1_000), n=LARGEST - 1)
    desk.settle(desk.last, 1)
    same(desk.total(A), 8 * (LARGEST - 1) + 1)
