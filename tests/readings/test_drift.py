"""Drift: how much of what an action says its task covers."""

from __future__ import annotations

import pytest

from stanchion.readings.task_overlap import Drift, drift

TASK = "book a flight to Berlin and reserve a hotel room for the conference in March"


@pytest.mark.parametrize(
    ("tool", "text", "least"),
    [
        ("book_flight", "flight to Berlin, March", 0.9),
        ("HotelReservations", "a hotel room near the conference", 0.6),
        ("search_flights", "Berlin", 0.5),
    ],
)
def test_what_the_task_speaks_of_is_covered(tool: str, text: str, least: float) -> None:
    assert drift(TASK, tool, text).covered >= least


def test_what_it_does_not_speak_of_is_not() -> None:
    found = drift(
        TASK, "AugustSmartLockGrantGuestAccess", "permanent access for Amy on the smart lock"
    )
    assert found.covered < 0.12
    assert found.task >= 6


def test_an_action_without_words_is_covered_and_a_long_one_is_read_in_part() -> None:
    assert drift(TASK, "", "") == Drift(drift(TASK, "", "").task, 0, 1.0)
    assert drift(TASK, "x", "flight " * 100_000).covered > 0
