"""Pieces of a stream go on in the order of their events, however long some are held back."""

from __future__ import annotations

from stanchion.hosts.contract.streams import InOrder


def test_what_overtakes_waits_and_what_is_late_goes_on() -> None:
    order = InOrder()
    assert order.ready(0, "a") == ["a"]
    assert order.ready(3, "d") == []
    assert order.ready(3, "d again") == []
    assert order.ready(0, "rest of a") == ["rest of a"]
    assert order.ready(1, "b") == ["b"]
    assert order.ready(2, "c") == ["c", "d", "d again"]
    assert order.ready(4, "e") == ["e"]
